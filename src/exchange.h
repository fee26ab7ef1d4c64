/* exchange.h: what one row does to a basis: which of its points join, and who leaves for them.
 *
 * A row is judged first, at the cost of its marginals and of the scores, and applied afterwards,
 * so a row which would join the basis only to leave it again is projected at once.
 *
 * A row's novel points join, of its w: points of which the basis, together with those of the row's
 * points before it that join, leaves more than `novelty` of the prior variance. So the basis is
 * not filled with copies if the components of a vector determine each other. Gamma's Cholesky
 * factor over the points that join has their residual variances on its diagonal; what it leaves of
 * Gamma is 0 but for points that do not join, and the row is projected onto the basis with them by
 * that. If all join nothing is left, and the step is the whole one (thesis 2.46).
 *
 * Points that join together are a location: they are scored as a block and leave together, as the
 * thesis has it for wind vectors (5.42, 5.43). With w = 1 a location is a point. */
#ifndef SG_EXCHANGE_H
#define SG_EXCHANGE_H

#include "row_view.h"

typedef struct {
    int size;       /* most basis points; cap is at least size + w */
    int frozen;     /* the basis neither grows nor changes */
    sg_projection projection;
    int nonnegative; /* has no site a negative precision? a row that would widen only shifts */
    double novelty; /* a point joins only if more than this share of its variance is left */
    sg_score score;
} sg_row_rules;

typedef enum {
    SG_ROW_PROJECTED, /* not novel */
    SG_ROW_REJECTED,  /* novel, but the least of the locations it would have stood among */
    SG_ROW_ADDED,
    SG_ROW_EXCHANGED, /* added, and others removed: of least score, or redundant beside it */
    SG_ROW_SKIPPED,   /* its tilt has no site */
    SG_ROW_OUTCOMES
} sg_row_outcome;

/* A predefined basis (thesis 3.6.1) for an empty process: the points of x[n x p], those not novel
 * left out. ids count from 1. O(d^3). */
void sg_process_predefine(const sg_kernel *kernel, int n, const double *x, double novelty,
                          sg_process *gp, const sg_ws *ws);

/* The locations of a basis whose points have ids: those of one row that stand together. */
void sg_process_locate(sg_process *gp);

/* The memory that an algorithm has of the rows it has taken. A stream keeps nothing but sites on
 * their way into S and t; sweeps keep every row's sites, and divide by them before the row comes
 * again. */
typedef struct {
    void *self;
    /* divides the posteriors by row i's old sites (sign 1) or multiplies with them (-1). Returns 0,
     * and changes nothing, where no distribution is left. NULL: rows come once */
    int (*divide)(void *self, int i, int sign);
    /* the basis is about to change: all sites into S and t. NULL: they are there */
    void (*complete)(void *self);
    /* keeps row i and its new sites. Joined: the row is in the basis, as which it stands in gp->V,
     * and its sites are in S and t; else they are not, and the row stands in seen->V */
    void (*keep)(void *self, int i, const sg_seen *seen, int joined);
    /* row i is skipped, and keeps its old sites. NULL: nothing is kept of it */
    void (*skip)(void *self, int i, const sg_seen *seen);
    int m; /* rows outside the basis, X[cap x m], which turn with it */
    double *X;
} sg_row_memory;

/* Takes row i: divides by its old sites, tilts at the marginals, and projects the row or lets it
 * join the basis; where its tilt has no site the old ones are put back. id: of its first point; on
 * return tilt has its new sites. O(C w d^2), O(C w^2 d) for scores, and O(C d^2 + m d) for every
 * point that leaves. */
sg_row_outcome sg_row_take(sg_process *gp, const sg_rows *rows, const sg_row_rules *rules, int i,
                        double id, const sg_seen *seen, const sg_row_memory *memory,
                        sg_row_tilt *tilt);

/* Has the row changed the basis, so that views of it are outdated? */
static inline int sg_changes_basis(sg_row_outcome outcome)
{
    return outcome == SG_ROW_ADDED || outcome == SG_ROW_EXCHANGED;
}

#endif
