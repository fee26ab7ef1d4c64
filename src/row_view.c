/* row_view.c: a basis looks at rows, many at once (row_view.h). */
#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "row_view.h"

/* Allocates `rows` rows as a basis of cap points sees them. */
sg_view sg_view_new(int rows, int w, const sg_process *gp, const sg_ws *ws)
{
    const size_t points = (size_t) rows * w, size = points * gp->basis.cap;
    const sg_view view = {.w = w, .x = sg_doubles(ws, points * gp->p),
                          .K = sg_doubles(ws, points * w), .V = sg_doubles(ws, size),
                          .q = sg_doubles(ws, size), .gamma = sg_doubles(ws, points * w)};
    return view;
}

/* Returns the points as the kernel takes them, d x p: they are kept as p x cap, so a point can
 * join and leave without moving the others. */
static const double *points_by_column(const sg_process *gp, const sg_ws *ws)
{
    const int d = gp->basis.d, p = gp->p;
    double *out = sg_doubles(ws, (size_t) d * p);
    for (int i = 0; i < d; i++) {
        for (int k = 0; k < p; k++) out[i + (size_t) d * k] = gp->points[k + (size_t) p * i];
    }
    return out;
}

/* gamma = K - V'V in blocks, off the diagonal once for both halves. A variance below 0 is rounding
 * and becomes 0; NaN stays. */
void sg_residuals(const sg_process *gp, int w, int m, const double *K, const double *V, int ldv,
                  double *gamma)
{
    const int d = gp->basis.d, ww = w * w;
    for (int i = 0; i < m; i++, K += ww, gamma += ww, V += (size_t) ldv * w) {
        for (int b = 0; b < w; b++) {
            const double *v = V + (size_t) ldv * b;
            for (int a = 0; a < b; a++) {
                const double known = sg_dot(d, V + (size_t) ldv * a, v);
                gamma[a + w * b] = gamma[b + w * a] = K[a + w * b] - known;
            }
            gamma[b * (w + 1)] = fmax2(K[b * (w + 1)] - sg_dot(d, v, v), 0);
        }
    }
}

/* Inverts R and prepares the points. Both stay in the workspace. */
sg_status sg_view_freeze(const sg_kernel *kernel, const sg_process *gp, sg_view *view,
                         const sg_ws *ws)
{
    const int d = gp->basis.d;
    view->Rinv = sg_doubles(ws, (size_t) d * d);
    view->points = sg_kernel_prepare(kernel, d, points_by_column(gp, ws), NULL, ws);
    return sg_inverse_upper(d, gp->basis.R, gp->basis.cap, view->Rinv);
}

/* Fills V with R^{-T} K_Bm: one call of the kernel, and one product or triangular solve for all m
 * points. */
static void see_points(const sg_kernel *kernel, const sg_process *gp, int m, sg_view *view,
                       const sg_ws *ws)
{
    const int d = gp->basis.d;
    if (d == 0) return;
    void *mark = sg_mark(ws);
    if (view->Rinv) {
        const sg_points own = sg_kernel_prepare(kernel, m, view->x, &view->points, ws);
        sg_kernel_between(kernel, &view->points, &own, view->V, ws);
        sg_trmm('L', 'T', d, m, view->Rinv, view->V);
    } else {
        sg_kernel_cross(kernel, d, points_by_column(gp, ws), m, view->x, view->V, ws);
        sg_basis_whiten(&gp->basis, m, view->V);
    }
    sg_release(ws, mark);
}

/* Fills the view by level 3 products: V, and q = R^{-1} V by another triangular solve, which only a
 * basis that may change asks for. Row by row the same would be level 2, and several times
 * slower. */
void sg_view_look(const sg_kernel *kernel, const sg_process *gp, int frozen, sg_view *view,
                  const sg_ws *ws)
{
    /* m points in all, w of each row */
    const int d = gp->basis.d, m = view->m * view->w;
    if (view->w == 1) sg_kernel_diag(kernel, m, view->x, view->K, ws);
    else sg_kernel_blocks(kernel, view->w, view->m, gp->p, view->x, view->K, ws);
    see_points(kernel, gp, m, view, ws);
    sg_residuals(gp, view->w, view->m, view->K, view->V, d, view->gamma);
    /* A frozen basis neither scores its points nor takes in others. */
    if (frozen) return;
    sg_copy((size_t) d * m, view->V, view->q);
    sg_basis_to_weights(&gp->basis, m, view->q);
}
