/* par.c: chunks of rows on several threads (par.h). The only file that uses OpenMP and threads.
 *
 * OpenMP says how many threads there may be, but does not make them: its own wait for work, and
 * for each other, by spinning, some milliseconds each time, unless a variable has said otherwise
 * before R was started. On a machine that has other things to do that is slower than one thread
 * alone. Threads that are begun and joined wait asleep. They cost 0.05 ms, and leave nothing
 * behind in the process, so it may be forked. Without OpenMP, and on Windows, whose threads are
 * others, there is one thread. */
#if defined(_OPENMP) && !defined(_WIN32)
#define SG_PAR_THREADS
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#endif
#include "par.h"

/* A loop under way. */
typedef struct {
    int n, grain, chunks;
    int products; /* are the bodies mostly BLAS? */
    sg_par_body body;
    void *ctx;
    sg_par_memo *memo;
    int next;    /* the first chunk not taken yet */
    int *status; /* chunks: how each ended */
} loop;

static int run_chunk(const loop *l, int chunk, int slot, const sg_ws *ws)
{
    const int from = chunk * l->grain;
    const int to = l->n - from < l->grain ? l->n : from + l->grain;
    return l->body(l->ctx, from, to, slot, ws);
}

/* On the calling thread, with the memory that its workspace has. */
static void run_here(const loop *l, int chunk, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    l->status[chunk] = run_chunk(l, chunk, 0, ws);
    sg_release(ws, mark);
}

/* Chunks from .. on the calling thread. */
static void run_rest(const loop *l, int from, const sg_ws *ws)
{
    for (int chunk = from; chunk < l->chunks; chunk++) {
        run_here(l, chunk, ws);
        sg_tick(ws);
    }
}

static sg_status first_failure(const loop *l)
{
    for (int chunk = 0; chunk < l->chunks; chunk++) {
        if (l->status[chunk] != SG_OK) return (sg_status) l->status[chunk];
    }
    return SG_OK;
}

#ifdef SG_PAR_THREADS

enum { AGAIN = 1 };  /* in place of a status: the chunk did not get the memory it wanted */
enum { LINE = 8 };   /* doubles in a cache line: no two threads write to the same */
enum { FEW = 2 };    /* threads that are used unless the host gives a number */

static const double WORTH_THREADS = 3e-4; /* seconds of work for which it pays to begin threads */
static const double WAVE = 0.05;  /* seconds after which the calling thread ticks again */

/* May several threads call the BLAS at a time? An OpenBLAS that was built without threads (its
 * openblas_get_parallel() returns 0; Debian's libopenblas0-serial) hands the same buffer to all who
 * call it, and then returns wrong numbers. Other libraries do not have that symbol, which is
 * therefore weak: its address is NULL with them. */
#if defined(__GNUC__) && defined(__ELF__)
extern int openblas_get_parallel(void) __attribute__((weak));
static int blas_bears_threads(void)
{
    return !openblas_get_parallel || openblas_get_parallel() != 0;
}
#else
static int blas_bears_threads(void)
{
    return 1;
}
#endif

int sg_par_threads(int wanted)
{
    if (!blas_bears_threads()) return 1; /* bodies may call it */
    const int most = omp_get_thread_limit(), usual = omp_get_max_threads();
    const int threads = wanted > 0 ? wanted : usual < FEW ? usual : FEW;
    return threads < most ? threads : most;
}

/* ---- A workspace that measures: the caller's, and the most doubles in use at once ---- */

static size_t whole_lines(size_t n)
{
    return (n / LINE + 1) * LINE;
}

typedef struct {
    const sg_ws *host;
    size_t used, peak;
} meter;

/* A mark of the meter, kept in the host's memory, behind the host's own mark */
typedef struct {
    void *host;
    size_t used;
} meter_mark;

static double *meter_doubles(void *self, size_t n)
{
    meter *m = self;
    m->used += whole_lines(n);
    if (m->used > m->peak) m->peak = m->used;
    return sg_doubles(m->host, n);
}

static void *meter_get_mark(void *self)
{
    const meter *m = self;
    void *host = sg_mark(m->host);
    meter_mark *mark = sg_structs(1, sizeof(meter_mark), m->host);
    mark->host = host;
    mark->used = m->used;
    return mark;
}

static void meter_release(void *self, void *at)
{
    meter *m = self;
    const meter_mark *mark = at;
    m->used = mark->used;
    sg_release(m->host, mark->host);
}

static void no_tick(void *self)
{
    (void) self;
}

static int no_threads(void *self, int products)
{
    (void) self, (void) products;
    return 1;
}

/* Chunk 0 on the calling thread: how long it takes, and the doubles it has in use at most. */
static void measure_chunk(const loop *l, const sg_ws *ws)
{
    meter m = {ws, 0, 0};
    const sg_ws metered = {.self = &m, .doubles = meter_doubles, .mark = meter_get_mark,
                           .release = meter_release, .tick = no_tick, .threads = no_threads};
    const double start = omp_get_wtime();
    run_here(l, 0, &metered);
    l->memo->seconds = omp_get_wtime() - start;
    l->memo->size = m.peak + LINE;
}

/* ---- A thread's own memory: a part of a slab that the calling thread took ----
 *
 * A chunk that wants more is left by a jump within its thread, to be done again on the calling
 * thread: no other jump is made in the core, and this one crosses nothing but the body, which owns
 * nothing. */

typedef struct {
    int slot;
    double *slab;
    size_t size, used;
    jmp_buf too_small;
} arena;

static double *arena_doubles(void *self, size_t n)
{
    arena *a = self;
    if (whole_lines(n) > a->size - a->used) longjmp(a->too_small, 1);
    double *out = a->slab + a->used;
    a->used += whole_lines(n);
    return out;
}

static void *arena_mark(void *self)
{
    const arena *a = self;
    return a->slab + a->used;
}

static void arena_release(void *self, void *mark)
{
    arena *a = self;
    a->used = (size_t) ((double *) mark - a->slab);
}

static int run_in_arena(const loop *l, int chunk, arena *a)
{
    const sg_ws ws = {.self = a, .doubles = arena_doubles, .mark = arena_mark,
                      .release = arena_release, .tick = no_tick, .threads = no_threads};
    a->used = 0;
    if (setjmp(a->too_small)) return AGAIN;
    return run_chunk(l, chunk, a->slot, &ws);
}

/* ---- Waves ---- */

/* A thread: its arguments, and what it has done */
typedef struct {
    loop *l;
    int slot;
    double *slab; /* its own */
    size_t size;
    double end;   /* by the clock, of the wave */
    pthread_t id;
    int done;     /* chunks, in all waves, */
    double took;  /* and the seconds they took */
} worker;

/* Takes chunks until no chunk is left or the wave has lasted long enough. */
static void *lend(void *self)
{
    worker *me = self;
    loop *l = me->l;
    arena own = {.slot = me->slot, .slab = me->slab, .size = me->size};
    for (double begun = omp_get_wtime(), now; begun < me->end; begun = now) {
        int chunk;
#pragma omp atomic capture
        chunk = l->next++;
        if (chunk >= l->chunks) break;
        l->status[chunk] = run_in_arena(l, chunk, &own);
        now = omp_get_wtime();
        me->took += now - begun;
        me->done++;
    }
    return NULL;
}

/* Tables of a tilt take 210 KB of the stack (lik_softmax.c), and some C libraries give a thread 128
 * unless they are asked. */
static void ask_for_stack(pthread_attr_t *attr)
{
    const size_t ENOUGH = 2 << 20;
    size_t given = 0;
    if (!pthread_attr_getstacksize(attr, &given) && given < ENOUGH) {
        pthread_attr_setstacksize(attr, ENOUGH);
    }
}

/* The calling thread is slot 0. A thread that the system does not give is one less. */
static void wave(worker *workers, int threads)
{
    const double end = omp_get_wtime() + WAVE;
    int begun = 1;
    pthread_attr_t attr;
    for (int slot = 0; slot < threads; slot++) workers[slot].end = end;
    if (!pthread_attr_init(&attr)) {
        ask_for_stack(&attr);
        for (; begun < threads; begun++) {
            if (pthread_create(&workers[begun].id, &attr, lend, workers + begun)) break;
        }
        pthread_attr_destroy(&attr);
    }
    lend(workers);
    for (int slot = 1; slot < begun; slot++) pthread_join(workers[slot].id, NULL);
}

/* Chunks from .. on all threads. With one of them, too: its memory is taken once for all chunks,
 * not anew for each, which a host may have to clear away. What a chunk takes is known anew from
 * those of the calling thread: of a loop that is done again the work may be another. */
static void run_in_waves(loop *l, int from, int threads, const sg_ws *ws)
{
    const size_t size = l->memo->size;
    double *slab = sg_doubles(ws, size * threads);
    worker *workers = sg_structs(threads, sizeof(worker), ws);
    for (int slot = 0; slot < threads; slot++) {
        workers[slot] = (worker) {.l = l, .slot = slot, .slab = slab + size * slot, .size = size};
    }
    for (l->next = from; l->next < l->chunks;) {
        wave(workers, threads);
        sg_tick(ws);
    }
    if (workers->done > 0) l->memo->seconds = workers->took / workers->done;
    for (int chunk = from; chunk < l->chunks; chunk++) {
        if (l->status[chunk] == AGAIN) run_here(l, chunk, ws);
    }
}

/* On a machine that has other things to do a thread may come too late for a short loop, which waits
 * for it all the same. Then the next loops are done without, twice as many each time. alone: what
 * the calling thread would have taken for all, by those chunks that it did. */
static void judge_threads(sg_par_memo *memo, double took, double alone)
{
    enum { LONGEST = 64 };
    memo->regions = took < alone ? 0 : memo->regions < LONGEST ? 2 * memo->regions + 1 : LONGEST;
    memo->serial = memo->regions;
}

/* Measures with the first chunk how much memory a chunk needs, and whether other threads are worth
 * it. */
static void run_all(loop *l, const sg_ws *ws)
{
    sg_par_memo *memo = l->memo;
    int from = 0;
    if (l->chunks > 1 && memo->seconds == 0) measure_chunk(l, ws), from = 1;
    const int left = l->chunks - from;
    const double start = omp_get_wtime();
    const int wanted = l->chunks > 1 && memo->seconds * left > WORTH_THREADS && memo->serial == 0;
    const int threads = wanted ? sg_par_slots(l->products, ws) : 1;
    if (memo->serial > 0) memo->serial--;
    if (l->chunks < 2) run_rest(l, 0, ws);
    else run_in_waves(l, from, threads, ws);
    if (threads > 1) judge_threads(memo, omp_get_wtime() - start, memo->seconds * left);
}

#else

int sg_par_threads(int wanted)
{
    (void) wanted;
    return 1;
}

static void run_all(loop *l, const sg_ws *ws)
{
    run_rest(l, 0, ws);
}

#endif

static sg_status run_loop(loop l, const sg_ws *ws)
{
    sg_par_memo own = {0};
    void *mark = sg_mark(ws);
    if (!l.memo) l.memo = &own;
    l.chunks = sg_par_chunks(l.n, l.grain);
    l.status = sg_ints(l.chunks, ws);
    run_all(&l, ws);
    const sg_status status = first_failure(&l);
    sg_release(ws, mark);
    return status;
}

int sg_par_slots(int products, const sg_ws *ws)
{
    return sg_par_threads(sg_threads(ws, products));
}

sg_status sg_par_rows(int n, int grain, sg_par_body body, void *ctx, const sg_ws *ws)
{
    const loop l = {.n = n, .grain = grain, .body = body, .ctx = ctx};
    return run_loop(l, ws);
}

sg_status sg_par_products(int n, int grain, sg_par_body body, void *ctx, sg_par_memo *memo,
                          const sg_ws *ws)
{
    const loop l = {.n = n, .grain = grain, .products = 1, .body = body, .ctx = ctx, .memo = memo};
    return run_loop(l, ws);
}
