/* row_view.h: rows as the basis of a process sees them, many at once (row_step.h). */
#ifndef SG_ROW_VIEW_H
#define SG_ROW_VIEW_H

#include "kernel.h"
#include "row_step.h"

/* Rows of the block, all seen through the basis of the moment: one matrix product and one
 * triangular solve for many rows. It is outdated once the basis changes. */
typedef struct {
    int m, w;      /* rows, points of each */
    double *x;     /* m w x p, to be filled by the caller */
    double *K;     /* m blocks: the kernel among a row's points */
    double *V, *q; /* d x m w: V and R^{-1} V = Q k; q only when wanted */
    double *gamma; /* m blocks */
    double *Rinv;  /* d x d: R^{-1} of a basis that stays, and its points; else NULL */
    sg_points points;
} sg_view;

sg_view sg_view_new(int rows, int w, const sg_process *gp, const sg_ws *ws);

/* The basis stays from now on: products with R^{-1} take the place of triangular solves, which cost
 * twice as much and more, and the points are prepared once. SG_NOT_PD: R cannot be inverted.
 * O(d^3). */
sg_status sg_view_freeze(const sg_kernel *kernel, const sg_process *gp, sg_view *view,
                         const sg_ws *ws);

/* K, V, gamma of the m rows of view->x, and q unless the basis is frozen. O(m w d (d + p)). */
void sg_view_look(const sg_kernel *kernel, const sg_process *gp, int frozen, sg_view *view,
                  const sg_ws *ws);

/* gamma[m blocks] = K - V'V of rows with V[ldv x m w]. O(m w^2 d). */
void sg_residuals(const sg_process *gp, int w, int m, const double *K, const double *V, int ldv,
                  double *gamma);

static inline sg_seen sg_view_row(const sg_view *view, int d, int i)
{
    const size_t at = (size_t) view->w * i;
    const sg_seen seen = {.w = view->w, .ldx = view->m * view->w, .x = view->x + at,
                          .K = view->K + view->w * at, .gamma = view->gamma + view->w * at,
                          .V = view->V + d * at, .q = view->q + d * at};
    return seen;
}

#endif
