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

/* R knows the user's option, and whether process and BLAS allow it (util-threads.R). */
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
