#include "anderson.h"
#include "la.h"

sg_anderson sg_anderson_new(int n, int depth, const sg_ws *ws)
{
    sg_anderson a = {n, depth, 0, 0, 0, sg_doubles(ws, n), sg_doubles(ws, n),
                     sg_doubles(ws, (size_t) n * depth), sg_doubles(ws, (size_t) n * depth),
                     sg_doubles(ws, (size_t) depth * depth), sg_doubles(ws, depth)};
    return a;
}

void sg_anderson_reset(sg_anderson *a)
{
    a->count = a->at = a->have_last = 0;
}

static void remember(sg_anderson *a, const double *x, const double *f)
{
    if (a->have_last) {
        double *dx = a->dx + (size_t) a->n * a->at, *df = a->df + (size_t) a->n * a->at;
        for (int i = 0; i < a->n; i++) {
            dx[i] = x[i] - a->last_x[i];
            df[i] = f[i] - a->last_f[i];
        }
        a->at = (a->at + 1) % a->depth;
        if (a->count < a->depth) a->count++;
    }
    for (int i = 0; i < a->n; i++) a->last_x[i] = x[i], a->last_f[i] = f[i];
    a->have_last = 1;
}

/* gamma from the normal equations. A ridge at rounding level stands in for a rank decision: the
 * residuals of a converging iteration are nearly dependent. Returns 0 when there is none. */
static int least_squares(sg_anderson *a, const double *f)
{
    const double RIDGE = 1e-12;
    const int m = a->count;
    double trace = 0;
    for (int j = 0; j < m; j++) {
        const double *dj = a->df + (size_t) a->n * j;
        for (int i = 0; i <= j; i++) {
            a->gram[i + m * j] = sg_dot(a->n, a->df + (size_t) a->n * i, dj);
        }
        a->gamma[j] = sg_dot(a->n, dj, f);
        trace += a->gram[j + m * j];
    }
    for (int j = 0; j < m; j++) a->gram[j + m * j] += RIDGE * trace;
    if (m == 0 || sg_potrf(m, a->gram, m) != SG_OK) return 0;
    sg_trsv('T', m, a->gram, m, a->gamma);
    sg_trsv('N', m, a->gram, m, a->gamma);
    return 1;
}

void sg_anderson_step(sg_anderson *a, const double *x, const double *f, double beta,
                      double *next)
{
    remember(a, x, f);
    for (int i = 0; i < a->n; i++) next[i] = x[i] + beta * f[i];
    if (!least_squares(a, f)) return;
    for (int j = 0; j < a->count; j++) {
        const double *dx = a->dx + (size_t) a->n * j, *df = a->df + (size_t) a->n * j;
        for (int i = 0; i < a->n; i++) next[i] -= a->gamma[j] * (dx[i] + beta * df[i]);
    }
}
