/* exchange.h: what one row does to a basis: which of its points join, and who leaves for them.
 *
 * A row is judged first, at the cost of its marginals and of the scores, and applied afterwards, so
 * that a row which would join the basis only to leave it again is projected at once.
 *
 * Of a row's w points those join that are novel: of which the basis, together with those of the
 * row's points before it that join, leaves more than `novelty` of the prior variance. So where the
 * components of a vector determine each other the basis is not filled with copies. Gamma's Cholesky
 * factor over the points that join has their residual variances on its diagonal; what it leaves of
 * Gamma is 0 but for points that do not join, and the row is projected onto the basis with them by
 * that. Where all join nothing is left, and the step is the whole one (thesis 2.46).
 *
 * Points that join together are a location: they are scored as a block and leave together, as the
 * thesis has it for wind vectors (5.42, 5.43). With w = 1 a location is a point. */
#ifndef SG_EXCHANGE_H
#define SG_EXCHANGE_H

#include "row_step.h"

typedef struct {
    int size;       /* most basis points; cap is at least size + w */
    int frozen;     /* the basis neither grows nor changes */
    sg_projection projection;
    int narrow;     /* does no site widen the posterior? a row that would only shifts it */
    double novelty; /* a point joins only if more than this share of its variance is left */
    sg_score score;
} sg_row_rules;

typedef enum {
    SG_ROW_PROJECTED, /* not novel */
    SG_ROW_DECLINED,  /* novel, but the least of the locations it would have stood among */
    SG_ROW_ADDED,
    SG_ROW_EXCHANGED, /* added, and others removed: of least score, or redundant beside it */
    SG_ROW_SKIPPED,   /* its tilt has no site */
    SG_ROW_FATES
} sg_row_fate;

/* Points at .. at + count - 1, which are to leave; count 0: nobody. */
typedef struct {
    int at, count;
} sg_leaver;

/* A predefined basis (thesis 3.6.1) for an empty process: the points of x[n x p], those not novel
 * left out. ids count from 1. O(d^3). */
void sg_process_predefine(const sg_kernel *kernel, int n, const double *x, double novelty,
                          sg_process *gp, const sg_ws *ws);

/* The locations of a basis whose points have ids: those of one row that stand together. */
void sg_process_locate(sg_process *gp);

/* Decides what becomes of the row and fills in the tilt's step and site; nothing changes yet.
 * *leaver: who is to leave first in an exchange. After sg_row_marginals() for the same row. The
 * scores of all locations take O(C w^2 d). */
sg_row_fate sg_row_judge(sg_process *gp, const sg_seen *seen, const sg_row_rules *rules,
                         sg_row_tilt *tilt, sg_leaver *leaver);

/* Moves the posteriors by the steps; the row's sites are not yet in S and t. For SG_ROW_PROJECTED
 * and SG_ROW_DECLINED. O(C w d^2). */
void sg_row_project(sg_process *gp, const sg_seen *seen, const sg_row_rules *rules,
                    const sg_row_tilt *tilt);

/* The row's novel points join, all posteriors move and absorb its sites. Every other row's sites
 * must be in S and t by now. id: of the row's first point. Leaves the row as the new basis sees it
 * in gp->V. O(C w d^2). */
void sg_row_include(sg_process *gp, const sg_seen *seen, double id, const sg_row_tilt *tilt);

/* The leaver leaves; then points that have become redundant beside those that joined later; then
 * locations of least score until the basis is no larger than its size. A location's points leave
 * one after the other (thesis 3.19-3.22), which comes to the same as all at once. The columns of
 * X[cap x m], rows outside, turn along. O(C d^2 + m d) a point. */
void sg_row_exchange(sg_process *gp, const sg_row_rules *rules, sg_leaver leaver, int m,
                     double *X);

#endif
