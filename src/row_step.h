/* row_step.h: what one row does to the posteriors on a basis, and to the basis (thesis 3.6, 4.6).
 *
 * A row is judged first, at the cost of its marginals and of the scores, and applied afterwards, so
 * that a row which would join the basis only to leave it again is projected at once. */
#ifndef SG_ROW_STEP_H
#define SG_ROW_STEP_H

#include "kernel.h"
#include "sites.h"
#include "weights.h"

/* A sparse process: a basis, its points, and a posterior per latent function. */
typedef struct {
    sg_basis basis;
    int C;                /* latent functions (classes against the rest; else 1) */
    sg_weights *w;        /* C */
    int p;
    double *points;       /* p x cap: basis points, a column each */
    double *id;           /* cap: the number of the row each came from */
    sg_removal removal;   /* of the last exchange */
    double *v, *g, *s;    /* cap; cap x C: of the row at hand v, M v and R^{-1} M v */
    int knows_s;
    double *score, *worst; /* cap each */
    double *var;          /* C: room for a variance each */
} sg_process;

/* Where M v of the row at hand is kept for class c. */
static inline double *sg_process_gain(const sg_process *gp, int c)
{
    return gp->g + (size_t) gp->basis.cap * c;
}

/* Room for cap points of p inputs; rules of one more than their size. */
sg_process sg_process_new(int cap, int p, int C, const sg_ws *ws);

/* Rows at hand, all seen through the basis of the moment: one matrix product and one triangular
 * solve for many rows. What it knows goes stale when the basis changes. */
typedef struct {
    int m;            /* rows */
    double *x;        /* m x p, to be filled by the caller */
    double *prior;    /* m: K(x,x) */
    double *V, *q;    /* d x m; q only when wanted */
    double *gamma;    /* m */
} sg_view;

sg_view sg_view_new(int rows, const sg_process *gp, const sg_ws *ws);

/* prior, V, gamma of the m rows of view->x, and q unless the basis is frozen. O(m d (d + p)). */
void sg_view_look(const sg_kernel *kernel, const sg_process *gp, int frozen, sg_view *view,
                  const sg_ws *ws);

static inline sg_seen sg_view_row(const sg_view *view, int d, int i)
{
    const size_t at = (size_t) d * i;
    const sg_seen seen = {view->V + at, view->q + at, view->gamma[i]};
    return seen;
}

typedef struct {
    int size;         /* most basis points; cap is at least size + 1 */
    int frozen;       /* the basis neither grows nor changes */
    int kl;           /* KL-optimal projection (thesis 3.29); else moments are matched */
    int narrow;       /* no site has a negative precision: a row that would widen the posterior only
                       * shifts it */
    double novelty;   /* a row joins only if gamma > novelty K(x,x) */
    sg_score score;
} sg_row_rules;

typedef enum {
    SG_ROW_PROJECTED, /* not novel */
    SG_ROW_DECLINED,  /* novel, but the least of the points it would have stood among */
    SG_ROW_ADDED,
    SG_ROW_EXCHANGED, /* added, and another removed: of least score, or redundant beside it */
    SG_ROW_SKIPPED,   /* its tilt has no site */
    SG_ROW_FATES
} sg_row_fate;

/* One latent function at the row: its marginal N(mean, carried + gamma), tilt and step. */
typedef struct {
    double mean, carried, d1, d2;
    sg_step step;
} sg_row_tilt;

/* tilt[C] and *logz at the row's marginals. Returns 0 when a number is not finite. O(C d^2). */
int sg_row_marginals(sg_process *gp, const sg_rows *rows, int i, const sg_seen *seen,
                     sg_row_tilt *tilt, double *logz);

/* A predefined basis (thesis 3.6.1) for an empty process: the points of x[n x p], those not novel
 * left out. ids count from 1. O(d^3). */
void sg_process_predefine(const sg_kernel *kernel, int n, const double *x, double novelty,
                          sg_process *gp, const sg_ws *ws);

/* Decides what becomes of the row and fills tilt[c].step; nothing changes yet. *leaver: the point
 * to be removed in an exchange. prior_var = K(x,x). After sg_row_marginals() for the same row. */
sg_row_fate sg_row_judge(sg_process *gp, const sg_seen *seen, double prior_var,
                         const sg_row_rules *rules, sg_row_tilt *tilt, int *leaver);

/* Moves the posteriors by the steps; the row's sites are not yet in S and t. For SG_ROW_PROJECTED
 * and SG_ROW_DECLINED. O(C d^2). */
void sg_row_project(sg_process *gp, const sg_seen *seen, const sg_row_rules *rules,
                    const sg_row_tilt *tilt);

/* Row i of the view joins as a point, all posteriors move and absorb its sites. Every other row's
 * sites must be in S and t by now. gp->v[d] is the row in the new basis. O(C d^2). */
void sg_row_include(sg_process *gp, const sg_view *view, int i, double id,
                    const sg_row_tilt *tilt);

/* Removes a point from all; gp->removal says how v of rows outside turn. O(C d^2). After an
 * exchange sg_basis_redundant() may name further points. */
void sg_row_remove(sg_process *gp, int j);

/* Both directions of thesis 3.16, summed over the latent functions. */
void sg_row_kl(const sg_process *gp, double gamma, const sg_row_tilt *tilt, double kl[2]);

/* sg_weights_refresh() of all posteriors. */
sg_status sg_process_refresh(sg_process *gp, const sg_ws *ws);

#endif
