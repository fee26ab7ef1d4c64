/* points.c: features of points, copied and thinned out (points.h).
 *
 * The IVM reads the kernel between a few candidates and all others time and again, and gives
 * candidates up as it goes: features are prepared once, and copied or moved from then on. */
#include "la.h"
#include "points.h"

/* Lends features for n points. A kernel's prepare() fills them in, and adds norms if its matrix is
 * one of distances. */
sg_points sg_points_new(int n, int q, const sg_ws *ws)
{
    const sg_points points = {.n = n, .q = q, .u = sg_doubles(ws, (size_t) n * q)};
    return points;
}

/* Copies columns of x into features, point by point. */
sg_points sg_points_of_inputs(int n, const double *x, int q, const int *vars, const sg_ws *ws)
{
    const sg_points out = sg_points_new(n, q, ws);
    for (int k = 0; k < q; k++) {
        const double *col = x + (size_t) n * vars[k];
        for (int i = 0; i < n; i++) out.u[k + (size_t) q * i] = col[i];
    }
    return out;
}

/* The weights are shared by all copies of the points, as the centre is. */
double *sg_points_factors(sg_points *points, int nlevel, const sg_ws *ws)
{
    double *weight = sg_doubles(ws, nlevel);
    points->nlevel = nlevel;
    points->ld = points->n;
    points->level = sg_doubles(ws, (size_t) nlevel * points->n);
    points->weight = weight;
    return weight;
}

/* Numbers are compared as they are: levels are whole, and neither moved nor scaled. */
void sg_points_levels(sg_points *points, int f, const double *x)
{
    sg_copy(points->n, x, points->level + (size_t) points->ld * f);
}

/* Returns the levels of factor k, from point i on. */
static const double *levels_of(const sg_points *points, int k, int i)
{
    return points->level + (size_t) points->ld * k + i;
}

enum { LANES = 8 }; /* loops of this length become vector instructions */

/* out[i] += level[i] == own ? agree : differ */
static void add_where(int n, const double *restrict level, double own, double agree, double differ,
                      double *restrict out)
{
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int t = 0; t < LANES; t++) out[i + t] += level[i + t] == own ? agree : differ;
    }
    for (; i < n; i++) out[i] += level[i] == own ? agree : differ;
}

/* Returns the sum of w[i] (level[i] == own ? agree : differ), in LANES sums. */
static double sum_where(int n, const double *restrict level, double own, double agree,
                        double differ, const double *restrict w)
{
    double part[LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int t = 0; t < LANES; t++) {
            part[t] += w[i + t] * (level[i + t] == own ? agree : differ);
        }
    }
    for (; i < n; i++) sum += w[i] * (level[i] == own ? agree : differ);
    for (int t = 0; t < LANES; t++) sum += part[t];
    return sum;
}

/* Goes factor by factor. */
void sg_add_differing(const sg_points *a, int from, int to, const sg_points *b, int j, double *out)
{
    for (int k = 0; k < a->nlevel; k++) {
        add_where(to - from, levels_of(a, k, from), *levels_of(b, k, j), 0, a->weight[k], out);
    }
}

/* The same where levels agree. */
void sg_add_agreeing(const sg_points *a, int from, int to, const sg_points *b, int j, double *out)
{
    for (int k = 0; k < a->nlevel; k++) {
        add_where(to - from, levels_of(a, k, from), *levels_of(b, k, j), a->weight[k] / 2, 0, out);
    }
}

/* The adjoint of the first. */
double sg_sum_differing(const sg_points *a, int k, int from, int to, const sg_points *b, int j,
                        const double *w)
{
    return sum_where(to - from, levels_of(a, k, from), *levels_of(b, k, j), 0, a->weight[k], w);
}

/* The adjoint of the second. */
double sg_sum_agreeing(const sg_points *a, int k, const sg_points *b, int j, const double *w)
{
    return sum_where(a->n, levels_of(a, k, 0), *levels_of(b, k, j), a->weight[k] / 2, 0, w);
}

/* Lends the array alone; sg_kernel_prepare() of each child fills one of them. */
sg_points *sg_points_array(int count, const sg_ws *ws)
{
    return sg_structs(count, sizeof(sg_points), ws);
}

/* Computes |u_i|^2. Distances come from them by one matrix product (dist.c):
 *   |u_i - v_j|^2 = |u_i|^2 + |v_j|^2 - 2 u_i'v_j */
void sg_points_norms(sg_points *points, const sg_ws *ws)
{
    points->norm = sg_doubles(ws, points->n);
    for (int i = 0; i < points->n; i++) {
        const double *u = points->u + (size_t) points->q * i;
        points->norm[i] = sg_dot(points->q, u, u);
    }
}

/* Copies the features of point i to place j of `to`, which may be the same set with j <= i. */
static void copy_point(const sg_points *from, int i, sg_points *to, int j)
{
    const size_t q = from->q;
    sg_copy(q, from->u + q * i, to->u + q * j);
    if (from->norm) to->norm[j] = from->norm[i];
    for (int k = 0; k < from->nlevel; k++) {
        to->level[j + (size_t) to->ld * k] = from->level[i + (size_t) from->ld * k];
    }
}

/* Copies the parts of a composite in the same way: every child sees the same points. The centre is
 * shared, not copied, as weights are; they outlive both in the workspace. */
sg_points sg_points_rows(const sg_points *points, int m, const int *row, const sg_ws *ws)
{
    sg_points out = sg_points_new(m, points->q, ws);
    if (points->norm) out.norm = sg_doubles(ws, m);
    sg_points_factors(&out, points->nlevel, ws);
    out.weight = points->weight;
    for (int j = 0; j < m; j++) copy_point(points, row[j], &out, j);
    out.centre = points->centre;
    out.nparts = points->nparts;
    out.part = sg_points_array(points->nparts, ws);
    for (int c = 0; c < points->nparts; c++) {
        out.part[c] = sg_points_rows(points->part + c, m, row, ws);
    }
    return out;
}

/* Moves the points to be kept to the front, in order. Place `at` is never behind i, so nothing is
 * overwritten that is still to be read. */
void sg_points_keep(sg_points *points, const int *kept)
{
    int at = 0;
    for (int i = 0; i < points->n; i++) {
        if (kept[i]) copy_point(points, i, points, at++);
    }
    points->n = at;
    for (int c = 0; c < points->nparts; c++) sg_points_keep(points->part + c, kept);
}
