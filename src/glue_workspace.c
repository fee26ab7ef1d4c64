/* glue_workspace.c: the workspace of the core in R: its memory, which R gives back at the end of
 * the call, the user's interrupts and the threads that R allows. */
#include <R_ext/Utils.h>
#include "glue.h"

#ifndef SG_POISON

static double *r_doubles(void *self, size_t n)
{
    return (double *) R_alloc(n > 0 ? n : 1, sizeof(double));
}

#else /* tools/memcheck builds this one: R's memory has no borders that a sanitizer would see */

#include <sanitizer/asan_interface.h>

/* NaN, between two borders that are poisoned. A block of this size is of malloc(), for itself, and
 * goes back through free(): the poison is gone before anybody else has that memory. */
static double *r_doubles(void *self, size_t n)
{
    enum { BORDER = 64 };
    double *all = (double *) R_alloc(n + 2 * BORDER, sizeof(double)), *out = all + BORDER;
    sg_fill(n, R_NaN, out);
    __asan_poison_memory_region(all, BORDER * sizeof(double));
    __asan_poison_memory_region(out + n, BORDER * sizeof(double));
    return out;
}

#endif

static void *r_mark(void *self)
{
    return vmaxget();
}

static void r_release(void *self, void *mark)
{
    vmaxset(mark);
}

static void r_tick(void *self)
{
    R_CheckUserInterrupt();
}

/* R has the user's option, and checks whether process and BLAS allow it (util-threads.R). */
static int r_threads(void *self, int products)
{
    SEXP name = PROTECT(Rf_mkString("sparsegp")), home = PROTECT(R_FindNamespace(name));
    SEXP kind = PROTECT(Rf_ScalarLogical(products));
    SEXP call = PROTECT(Rf_lang2(Rf_install("threads_wanted"), kind));
    const int threads = Rf_asInteger(Rf_eval(call, home));
    UNPROTECT(4);
    return threads;
}

const sg_ws sg_r_workspace = {.doubles = r_doubles, .mark = r_mark, .release = r_release,
                              .tick = r_tick, .threads = r_threads};

/* ---- Memory that is used again ---- */

/* Numbers that are kept at most: 160 MB. Calls that take more spend their time in products. */
static const size_t MOST_KEPT = 20000000;

static double *room_doubles(void *self, size_t n)
{
    sg_room *room = self;
    const size_t size = (n / 8 + 1) * 8; /* whole lines of the cache */
    room->taken += size;
    if (room->taken > room->most) room->most = room->taken;
    if ((size_t) (room->end - room->next) < size) return r_doubles(NULL, n);
    double *out = room->next;
    room->next += size;
    return out;
}

/* A mark. It is in the room, too, so that its release gives it back. */
typedef struct {
    void *vmax;
    double *next;
    size_t taken;
} room_mark;

static void *mark_room(void *self)
{
    const sg_room *room = self;
    const room_mark now = {vmaxget(), room->next, room->taken};
    room_mark *mark = (room_mark *) room_doubles(self, sizeof(room_mark) / sizeof(double) + 1);
    *mark = now;
    return mark;
}

static void release_room(void *self, void *mark)
{
    sg_room *room = self;
    const room_mark then = *(const room_mark *) mark;
    vmaxset(then.vmax);
    room->next = then.next;
    room->taken = then.taken;
}

sg_ws sg_room_open(sg_room *room, SEXP home)
{
    const sg_room none = {.home = home};
    *room = none;
    if (home == R_NilValue) return sg_r_workspace;
    if (TYPEOF(home) != ENVSXP) sg_stop_damaged("its `room` is no environment");
#ifndef SG_POISON /* memory of R's alone has borders */
    SEXP kept = Rf_findVarInFrame(home, Rf_install("numbers"));
    if (TYPEOF(kept) == REALSXP && XLENGTH(kept) == 1) {
        const double size = REAL(kept)[0];
        if (size <= (double) MOST_KEPT) {
            kept = Rf_allocVector(REALSXP, (R_xlen_t) size + 8);
            Rf_defineVar(Rf_install("numbers"), kept, home);
        }
    }
    if (TYPEOF(kept) == REALSXP && XLENGTH(kept) > 1) {
        room->next = REAL(kept);
        room->end = room->next + XLENGTH(kept);
    }
    room->size = (size_t) (room->end - room->next);
#endif
    const sg_ws ws = {.self = room, .doubles = room_doubles, .mark = mark_room,
                      .release = release_room, .tick = r_tick, .threads = r_threads};
    return ws;
}

void sg_room_close(const sg_room *room)
{
    if (room->home == R_NilValue || room->most <= room->size) return;
    SEXP most = PROTECT(Rf_ScalarReal((double) room->most));
    Rf_defineVar(Rf_install("numbers"), most, room->home);
    UNPROTECT(1);
}
