/* par.h: loops that may run on several threads. par.c is the only file with threads; where
 * there is no OpenMP, and on Windows, every loop runs on the calling thread.
 *
 * The rows 0 .. n - 1 (or processes, or columns) go to the body in chunks of `grain`, whatever the
 * number of threads, and no sum crosses chunks: so the numbers are the same, bit for bit, for any
 * number of threads. To sum over rows, keep one partial sum for each chunk (its number is from /
 * grain), and add them up in order afterwards.
 *
 * Matrix products are the BLAS's, which may have threads of its own. Loops over bodies that are
 * mostly BLAS (sg_par_products) run on our threads only where it has none. Measured on two cores,
 * triangular products of 512 rows and 50 to 400 columns, OpenBLAS: with one thread of its own ours
 * halve the time; with two of its own, ours on top of them cost a twentieth to a half more than it
 * takes alone. So one of the two has the cores, never both. A loop of our own arithmetic
 * (sg_par_rows: tilts, scores, the elementwise part of a kernel's matrix) has them in any case. */
#ifndef SG_PAR_H
#define SG_PAR_H

#include "types.h"

/* Does rows from .. to - 1. slot: 0 <= slot < sg_par_slots(), of no two bodies that run at the same
 * time the same, for scratch memory that the caller keeps for longer than a chunk. A body
 *   - writes only what belongs to its rows and its slot, and reads nothing that another writes;
 *   - takes memory from `ws` alone, which need not be the caller's; all of it is given back after
 *     the chunk. A chunk that wants more than the first one took may be left where it asks, to be
 *     done again from its start: so a body overwrites, or takes its memory before it adds;
 *   - calls nothing of R that can warn, jump, allocate or ask for interrupts. */
typedef sg_status (*sg_par_body)(void *ctx, int from, int to, int slot, const sg_ws *ws);

/* Does all rows. Returns what the first chunk said, in the order of rows, that was not SG_OK; the
 * others are done all the same. Ticks on the calling thread, outside of anything parallel, at least
 * ten times a second if a chunk takes no longer; chunks of about a millisecond share the work well.
 * Loops that are done within a third of a millisecond stay on the calling thread, and so do loops
 * within the body of another. */
sg_status sg_par_rows(int n, int grain, sg_par_body body, void *ctx, const sg_ws *ws);

/* The record of a loop that runs time and again, its first chunk always taking the same memory:
 * zeros at first. It changes where chunks are done, never their results. */
typedef struct {
    size_t size;    /* doubles that a chunk takes */
    double seconds; /* that a chunk took the last time; 0: nothing is known */
    int serial;     /* regions (runs of the loop) to come on one thread, as others were no help, */
    int regions;    /* of so many in a row */
} sg_par_memo;

/* The same for bodies that are mostly BLAS. memo may be NULL; without one the first chunk of every
 * loop is waited for before threads are begun. */
sg_status sg_par_products(int n, int grain, sg_par_body body, void *ctx, sg_par_memo *memo,
                          const sg_ws *ws);

/* The number of chunks of n rows. */
static inline int sg_par_chunks(int n, int grain) { return n / grain + (n % grain > 0); }

/* The grain of a loop over columns of `rows` elements each that cost some nanoseconds. */
static inline int sg_par_columns(int rows)
{
    enum { ELEMENTS = 4096 };
    return rows > 0 && rows < ELEMENTS ? ELEMENTS / rows : 1;
}

/* The grain of a loop over n rows, a multiple of `unit`, for `most` chunks at most. */
static inline int sg_par_grain(int n, int unit, int most)
{
    const int units = sg_par_chunks(n, unit);
    return units > 0 ? unit * sg_par_chunks(units, most) : unit;
}

/* No loop has more slots than this until the host's call ends. products: loops by
 * sg_par_products(). */
int sg_par_slots(int products, const sg_ws *ws);

/* How many threads a loop gets when the host says `wanted` (sg_ws, types.h). */
int sg_par_threads(int wanted);

#endif
