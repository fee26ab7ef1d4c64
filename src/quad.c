#include <math.h>
#include <Rmath.h>
#include <R_ext/Arith.h>
#include <R_ext/Utils.h>
#include "quad.h"

enum { MAX_BREAKS = 256, MAX_DEPTH = 40, MAX_RULES = 1000 };
static const double TOL = 1e-10;  /* relative, per interval; the true error is far below it */
static const double REACH = 40;   /* standard deviations beyond which a Gaussian is nothing */
static const double NEGLECT = 60; /* an interval this far below the peak in log is left out */

/* Gauss-Kronrod 7-15: abscissae from the outside in, Kronrod and Gauss weights. */
static const double XK[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                             0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                             0.586087235467691130294144238258730, 0.405845151377397166906606412076961,
                             0.207784955007898467600689403773245, 0};
static const double WK[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                             0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                             0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                             0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
static const double WG[8] = {0, 0.129484966168869693270611432679082,
                             0, 0.279705391489276667901467771423780,
                             0, 0.381830050505118944950369775488975,
                             0, 0.417959183673469387755102040816327};

/* Component 0 is the weight itself, 1 and 2 are (t - t0) and (t - t0)^2, then the k values. */
enum { NFIXED = 3, NCOMP = NFIXED + SG_QUAD_MAX };

typedef struct {
    const sg_quad_problem *problem;
    double sd, ref, t0;
    int ncomp;
    int rules; /* applied so far */
} quad_state;

static double log_integrand(const quad_state *q, double t)
{
    const sg_quad_problem *p = q->problem;
    return (p->logf ? p->logf(p->mu + q->sd * t, p->ctx) : 0) - 0.5 * t * t;
}

static void components(const quad_state *q, double t, double *out)
{
    const sg_quad_problem *p = q->problem;
    const double weight = exp(log_integrand(q, t) - q->ref);
    out[0] = 1;
    out[1] = t - q->t0;
    out[2] = out[1] * out[1];
    if (p->k > 0) p->values(p->mu + q->sd * t, p->ctx, out + NFIXED);
    /* a value may overflow where the weight has vanished: that is 0, not NaN */
    for (int c = 0; c < q->ncomp; c++) out[c] = weight > 0 ? out[c] * weight : 0;
}

/* One Gauss-Kronrod rule between a and b: integrals and integrals of the absolute values; returns the
 * largest difference between the two rules relative to the latter or to floor[]. */
static double kronrod(const quad_state *q, double a, double b, const double *floor,
                      double *integral, double *absolute)
{
    double gauss[NCOMP] = {0}, f[NCOMP];
    const double mid = 0.5 * (a + b), half = 0.5 * fabs(b - a);
    for (int c = 0; c < q->ncomp; c++) integral[c] = absolute[c] = 0;
    for (int i = 0; i < 15; i++) {
        const int node = i < 8 ? i : 14 - i;
        components(q, mid + (i < 8 ? -half : half) * XK[node], f);
        for (int c = 0; c < q->ncomp; c++) {
            integral[c] += half * WK[node] * f[c];
            absolute[c] += half * WK[node] * fabs(f[c]);
            gauss[c] += half * WG[node] * f[c];
        }
    }
    double worst = 0;
    for (int c = 0; c < q->ncomp; c++) {
        const double size = c < NFIXED ? 0 : q->problem->size[c - NFIXED];
        const double scale = fmax2(fmax2(absolute[c], floor[c]), size * fmax2(absolute[0], floor[0]));
        if (scale > 0) worst = fmax2(worst, fabs(integral[c] - gauss[c]) / scale);
    }
    return worst;
}

/* Adds the integral between `near` and `far`, bisecting where the two rules disagree. `near` is the
 * end nearer to the peak, and its half comes first: floor[], the size the whole integral is known
 * to have, is then large before the tails are reached, and they are not refined for nothing. */
static void integrate(quad_state *q, double near, double far, int depth, double *floor,
                      double *total)
{
    double integral[NCOMP], absolute[NCOMP];
    const double error = kronrod(q, near, far, floor, integral, absolute);
    const double mid = 0.5 * (near + far);
    if (error > TOL && depth < MAX_DEPTH && q->rules++ < MAX_RULES && mid != near && mid != far) {
        integrate(q, near, mid, depth + 1, floor, total);
        integrate(q, mid, far, depth + 1, floor, total);
        return;
    }
    for (int c = 0; c < q->ncomp; c++) {
        total[c] += integral[c];
        floor[c] = fmax2(floor[c], absolute[c]);
    }
}

static int push_around(double *breaks, int n, double centre, double step, double reach)
{
    breaks[n++] = centre;
    for (int k = 0; k < 60 && step < reach && n < MAX_BREAKS - 3; k++, step *= 2) {
        breaks[n++] = centre - step;
        breaks[n++] = centre + step;
    }
    return n;
}

static int lay_breaks(const quad_state *q, double *breaks)
{
    const sg_quad_problem *p = q->problem;
    const double centre = (p->centre - p->mu) / q->sd, width = p->width / q->sd;
    int n = push_around(breaks, 0, 0, 0.25, 2 * REACH);
    if (R_FINITE(centre)) {
        n = push_around(breaks, n, centre, 0.25 * width, fabs(centre) + REACH + 64 * width);
    }
    R_rsort(breaks, n);
    return n;
}

/* Golden-section search for the peak in [a, b]; a rough answer is enough. */
static double find_peak(const quad_state *q, double a, double b)
{
    const double GOLD = 0.3819660112501051;
    double u = a + GOLD * (b - a), v = b - GOLD * (b - a);
    double fu = log_integrand(q, u), fv = log_integrand(q, v);
    for (int i = 0; i < 24; i++) {
        if (fu > fv) {
            b = v, v = u, fv = fu;
            u = a + GOLD * (b - a), fu = log_integrand(q, u);
        } else {
            a = u, u = v, fu = fv;
            v = b - GOLD * (b - a), fv = log_integrand(q, v);
        }
    }
    return 0.5 * (a + b);
}

/* From the peak to the next breakpoint: first a piece as long as the peak is wide, then pieces twice
 * as long each, so that a peak far narrower than the interval cannot fall between the nodes. */
static void integrate_from_peak(quad_state *q, double far, double *floor, double *total)
{
    const double DROP = 2;
    double step = far - q->t0, near = q->t0;
    for (int k = 0; k < 60 && log_integrand(q, q->t0 + step) < q->ref - DROP; k++) step /= 2;
    while (near != far) {
        double next = near + step;
        if (!(fabs(next - q->t0) < fabs(far - q->t0)) || next == near) next = far;
        integrate(q, near, next, 0, floor, total);
        near = next;
        step *= 2;
    }
}

static void result_of(const quad_state *q, const double *total, sg_quad_result *result)
{
    const double shift = total[1] / total[0];
    result->logz = q->ref + log(total[0]) - M_LN_SQRT_2PI;
    result->mean = q->t0 + shift;
    result->var = total[2] / total[0] - shift * shift;
    for (int c = 0; c < q->problem->k; c++) result->expect[c] = total[NFIXED + c] / total[0];
}

void sg_quad(const sg_quad_problem *problem, sg_quad_result *result)
{
    quad_state q = {problem, sqrt(problem->s2), 0, 0, NFIXED + problem->k, 0};
    double breaks[MAX_BREAKS], logs[MAX_BREAKS], floor[NCOMP] = {0}, total[NCOMP] = {0};
    const int n = lay_breaks(&q, breaks);
    int top = 0;
    for (int i = 0; i < n; i++) {
        logs[i] = log_integrand(&q, breaks[i]);
        if (logs[i] > logs[top]) top = i;
    }
    q.t0 = find_peak(&q, breaks[top > 0 ? top - 1 : 0], breaks[top < n - 1 ? top + 1 : n - 1]);
    q.ref = fmax2(logs[top], log_integrand(&q, q.t0));
    /* outwards from the peak, so that floor[] is large before the tails are reached */
    const int from = breaks[top] > q.t0 ? top - 1 : top; /* the peak lies in (from, from + 1) */
    if (from >= 0) integrate_from_peak(&q, breaks[from], floor, total);
    if (from < n - 1) integrate_from_peak(&q, breaks[from + 1], floor, total);
    for (int i = from + 1; i < n - 1; i++) {
        if (fmax2(logs[i], logs[i + 1]) > q.ref - NEGLECT) {
            integrate(&q, breaks[i], breaks[i + 1], 0, floor, total);
        }
    }
    for (int i = from - 1; i >= 0; i--) {
        if (fmax2(logs[i], logs[i + 1]) > q.ref - NEGLECT) {
            integrate(&q, breaks[i + 1], breaks[i], 0, floor, total);
        }
    }
    result_of(&q, total, result);
}
