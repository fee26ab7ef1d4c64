/* par-probe.c: par.c by itself, under a host that counts. test-par.R compiles it. */
#include <R.h>
#include <Rinternals.h>
#include <pthread.h>
#include <time.h>
#include "par.c"

/* What the host sees: threads to lend, ticks so far, the tick at which it jumps (0: never), and
 * whether its BLAS has threads. */
typedef struct {
    int threads, ticks, jump, blas;
} host;

static double *host_doubles(void *self, size_t n)
{
    (void) self;
    return (double *) R_alloc(n > 0 ? n : 1, sizeof(double));
}

static void *host_mark(void *self)
{
    (void) self;
    return vmaxget();
}

static void host_release(void *self, void *mark)
{
    (void) self;
    vmaxset(mark);
}

static void host_tick(void *self)
{
    host *h = self;
    if (++h->ticks == h->jump) Rf_error("jumped at tick %d", h->ticks);
}

static int host_threads(void *self, int products)
{
    const host *h = self;
    return products && h->blas ? 1 : h->threads;
}

/* Rows: out[i] = i^2, by way of memory of `want` doubles, more by `more` from row `from_row` on; bad
 * rows fail by what they say; `busy` microseconds a row; `inner` rows of a loop within. */
typedef struct {
    int want, more, from_row, busy, inner;
    const int *bad;
    double *out, *calls;
    pthread_t *who;
} job;

static void wait_busily(int microseconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1e6 + (now.tv_nsec - begin.tv_nsec) / 1e3 <
             microseconds);
}

static sg_status count_row(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    double *sum = ctx;
    void *mark = sg_mark(ws);
    sg_doubles(ws, 3)[0] = from;
    sg_release(ws, mark);
    for (int i = from; i < to; i++) sum[i] = i;
    return SG_OK;
}

static double square_by_memory(int i, size_t want, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    double *a = sg_doubles(ws, want), *b = sg_doubles(ws, want);
    for (size_t k = 0; k < want; k++) a[k] = i, b[k] = i;
    const double square = a[0] * b[want - 1];
    sg_release(ws, mark);
    return square;
}

static sg_status some_rows(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const job *j = ctx;
    sg_status status = SG_OK;
    for (int i = from; i < to; i++) {
        const size_t want = j->want + (i >= j->from_row ? j->more : 0);
        j->out[i] = square_by_memory(i, want, ws);
        if (j->inner > 0) {
            double *sum = sg_doubles(ws, j->inner);
            sg_par_rows(j->inner, 2, count_row, sum, ws);
            j->out[i] += sum[j->inner - 1] - (j->inner - 1);
        }
        j->who[i] = pthread_self();
        j->calls[i]++;
        if (j->bad[i]) status = (sg_status) -j->bad[i];
        wait_busily(j->busy);
    }
    return status;
}

/* How many rows a thread other than this one did. */
static int rows_elsewhere(int n, const pthread_t *who)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += !pthread_equal(who[i], pthread_self());
    return count;
}

/* options: threads, jump, grain, want, more, from_row, busy, inner, products, again: loops after the
 * first one, which know what it was like, and later: what `busy` is in those. Returns out, calls,
 * and status, ticks, rows done elsewhere in the last loop. */
SEXP probe(SEXP bad, SEXP options)
{
    const int n = Rf_length(bad), *o = INTEGER(options);
    host h = {o[0], 0, o[1], o[9] == 0};
    const sg_ws ws = {&h, host_doubles, host_mark, host_release, host_tick, host_threads};
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 3));
    for (int k = 0; k < 3; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, k < 2 ? n : 3));
    job j = {o[3], o[4], o[5], o[6], o[7], INTEGER(bad), REAL(VECTOR_ELT(out, 0)),
             REAL(VECTOR_ELT(out, 1)), (pthread_t *) R_alloc(n, sizeof(pthread_t))};
    for (int i = 0; i < n; i++) j.calls[i] = 0;
    double *said = REAL(VECTOR_ELT(out, 2));
    sg_par_memo memo = {0};
    for (int k = 0; k <= o[9]; k++) {
        if (k > 0) j.busy = o[10];
        said[0] = o[8] ? sg_par_products(n, o[2], some_rows, &j, &memo, &ws)
                       : sg_par_rows(n, o[2], some_rows, &j, &ws);
    }
    said[1] = h.ticks;
    said[2] = rows_elsewhere(n, j.who);
    UNPROTECT(1);
    return out;
}

SEXP threads_for(SEXP wanted)
{
    return Rf_ScalarInteger(sg_par_threads(Rf_asInteger(wanted)));
}
