/* columns.h: kernel columns of the rows likely to be included next. Sixteen at a time take far less
 * than sixteen one by one, as the points are read once for all, and on digits more than half of
 * them are used. Those not used at once wait in the columns of M that no stub has taken yet, which
 * the candidates lend (active.h): a store of their own would be as large as M. */
#ifndef SG_COLUMNS_H
#define SG_COLUMNS_H

#include "active.h"

enum { SG_AHEAD = 16 }; /* computed together */

typedef struct {
    const sg_kernel *kernel;
    int size;        /* most inclusions */
    int slots;       /* columns that the candidates have now, at most size */
    int *holds;      /* size: the candidate whose kernel column waits in column s, or -1 */
    int *slot;       /* m: where candidate j's column waits; -1: nowhere */
    double *K;       /* m x SG_AHEAD: those just computed */
} sg_columns;

/* For up to `size` inclusions. About 17 m. */
sg_columns sg_columns_new(const sg_kernel *kernel, const sg_candidates *c, int size,
                          const sg_ws *ws);

/* Forgets all: the candidates have changed. */
void sg_columns_reset(sg_columns *store, const sg_candidates *c);

/* The kernel between candidate j and all candidates, as sg_active_include() takes it when d are
 * included: its stub takes column d, where nothing waits any more. Valid until the next call.
 * O(m p), or O(1) when it waited. */
const double *sg_columns_get(sg_columns *store, sg_candidates *c, int d, int j, const sg_ws *ws);

#endif
