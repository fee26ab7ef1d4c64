/* quad.c: adaptive Gauss-Kronrod quadrature against a Gaussian (quad.h), in t = (u - mu) / sd: a
 * mesh around the places where the integrand can be anything, then bisection of the worst
 * interval. /
 *
 * With t0 the peak and g(t) = logf(mu + sd t) - t^2 / 2 the integrals are of exp(g(t) - ref) times
 * 1, (t - t0), (t - t0)^2 and the k values, all on the same nodes, so ratios of them share their
 * errors:
 *   log Z = ref + log I_0 - log(2 pi) / 2,   E t = t0 + I_1 / I_0,   Var t = I_2 / I_0 - (I_1 /
 * I_0)^2. */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include <R_ext/Utils.h>
#include "quad.h"
#include "types.h"

enum { MAX_BREAKS = 520, BISECTIONS = 200, MAX_PANELS = MAX_BREAKS + BISECTIONS };
static const double TOL = 1e-10;  /* relative; the true error is far below it */
static const double REACH = 40;   /* standard deviations beyond which a Gaussian is nothing */
static const double NEGLECT = 60; /* an interval this far below the peak in log is left out; */
static const double GROWTH = 700; /* for values alone, which may grow as exp(u): this far */

/* Gauss-Kronrod 7-15: abscissae from the outside in, Kronrod and Gauss weights. */
static const double XK[8] = {0.991455371120812639, 0.949107912342758524,
                             0.864864423359769072, 0.741531185599394439,
                             0.586087235467691130, 0.405845151377397166,
                             0.207784955007898467, 0};
static const double WK[8] = {0.022935322010529224, 0.063092092629978553,
                             0.104790010322250183, 0.140653259715525918,
                             0.169004726639267902, 0.190350578064785409,
                             0.204432940075298892, 0.209482141084727828};
static const double WG[8] = {0, 0.129484966168869693,
                             0, 0.279705391489276667,
                             0, 0.381830050505118944,
                             0, 0.417959183673469387};

double sg_kronrod_node(int i, double *kronrod, double *gauss)
{
    const int node = i < 8 ? i : 14 - i;
    *kronrod = WK[node], *gauss = WG[node];
    return i < 8 ? -XK[node] : XK[node];
}

/* Component 0 is the weight itself, 1 and 2 are (t - t0) and (t - t0)^2, then the k values. */
enum { NFIXED = 3, NCOMP = NFIXED + SG_QUAD_MAX };

/* An interval with its Gauss-Kronrod integrals, and its error: the largest difference between the
 * two rules, relative to the whole integral of the component's absolute value. */
typedef struct {
    double a, b, error, integral[NCOMP];
} panel;

typedef struct {
    const sg_quad_problem *problem;
    double sd, ref, t0;
    int ncomp, npanel;
    double size[NCOMP]; /* integrals of the absolute values so far */
    panel panels[MAX_PANELS];
} quad_state;

/* Computes g at n places, at most MAX_BREAKS. */
static void log_integrands(const quad_state *q, int n, const double *t, double *out)
{
    const sg_quad_problem *p = q->problem;
    double u[MAX_BREAKS];
    for (int i = 0; i < n; i++) u[i] = p->mu + q->sd * t[i], out[i] = 0;
    if (p->logf) p->logf(n, u, p->ctx, out);
    for (int i = 0; i < n; i++) out[i] -= 0.5 * t[i] * t[i];
}

/* Returns g(t). */
static double log_integrand(const quad_state *q, double t)
{
    double out;
    log_integrands(q, 1, &t, &out);
    return out;
}

/* Computes the ncomp integrands at t, relative to exp(ref), from g there. */
static void components(const quad_state *q, double t, double g, double *out)
{
    const sg_quad_problem *p = q->problem;
    const double weight = exp(g - q->ref);
    out[0] = 1;
    out[1] = t - q->t0;
    out[2] = out[1] * out[1];
    if (p->k > 0) p->values(p->mu + q->sd * t, p->ctx, out + NFIXED);
    /* a value may overflow where the weight has vanished: that is 0, not NaN */
    for (int c = 0; c < q->ncomp; c++) out[c] = weight == 0 ? 0 : out[c] * weight;
}

/* Applies one Gauss-Kronrod rule to [a, b], 15 evaluations. is_new: the interval is not part of a
 * panel that q->size has already seen. A component's error is measured against the largest of its
 * integrals so far and the size that the caller has given. */
static panel kronrod(quad_state *q, double a, double b, int is_new)
{
    double gauss[NCOMP] = {0}, absolute[NCOMP] = {0}, f[NCOMP];
    const double mid = 0.5 * (a + b), half = 0.5 * (b - a);
    panel p = {a, b, 0, {0}};
    double at[15], g[15];
    for (int i = 0; i < 15; i++) at[i] = mid + (i < 8 ? -half * XK[i] : half * XK[14 - i]);
    log_integrands(q, 15, at, g);
    for (int i = 0; i < 15; i++) {
        const int node = i < 8 ? i : 14 - i;
        components(q, at[i], g[i], f);
        for (int c = 0; c < q->ncomp; c++) {
            p.integral[c] += half * WK[node] * f[c];
            absolute[c] += half * WK[node] * fabs(f[c]);
            gauss[c] += half * WG[node] * f[c];
        }
    }
    for (int c = 0; c < q->ncomp; c++) {
        if (is_new) q->size[c] += absolute[c];
        else q->size[c] = fmax2(q->size[c], absolute[c]);
        const double given = c < NFIXED ? 0 : q->problem->size[c - NFIXED] * q->size[0];
        const double scale = fmax2(q->size[c], given);
        if (scale > 0) p.error = fmax2(p.error, fabs(p.integral[c] - gauss[c]) / scale);
    }
    return p;
}

/* Adds [a, b] to the panels, unless it is empty. */
static void add_panel(quad_state *q, double a, double b)
{
    if (a < b && q->npanel < MAX_PANELS) q->panels[q->npanel++] = kronrod(q, a, b, 1);
}

/* Bisects the worst panel until the errors' sum is within the tolerance, or no panels are left: an
 * integrand that is itself only known to rounding is then as good as it gets. O(panels) for each
 * bisection, 30 evaluations. */
static void refine(quad_state *q)
{
    const double tol = fmax2(TOL, 64 * DBL_EPSILON * fabs(q->ref));
    for (int left = BISECTIONS; left > 0; left--) {
        int worst = 0;
        double sum = 0;
        for (int i = 0; i < q->npanel; i++) {
            sum += q->panels[i].error;
            if (q->panels[i].error > q->panels[worst].error) worst = i;
        }
        const double a = q->panels[worst].a, b = q->panels[worst].b, mid = 0.5 * (a + b);
        if (!(sum > tol) || !(a < mid && mid < b)) return;
        q->panels[worst] = kronrod(q, a, mid, 0);
        q->panels[q->npanel++] = kronrod(q, mid, b, 0);
    }
}

/* Lays breakpoints at centre -+ step, twice that, four times that, ..., up to `reach`; returns how
 * many there are. Geometric steps reach far in few points: a likelihood 1e6 widths away is 20 of
 * them. */
static int push_around(double *breaks, int n, double centre, double step, double reach)
{
    breaks[n++] = centre;
    for (int k = 0; k < 60 && step < reach && n < MAX_BREAKS - 3; k++, step *= 2) {
        breaks[n++] = centre - step;
        breaks[n++] = centre + step;
    }
    return n;
}

/* Lays the mesh around mu, the likelihood's centre and its further peak, each in steps of a
 * quarter of its own width, and sorts it; returns the number of breakpoints. */
static int lay_breaks(const quad_state *q, double *breaks)
{
    const sg_quad_problem *p = q->problem;
    const double centre = (p->centre - p->mu) / q->sd, width = p->width / q->sd;
    int n = push_around(breaks, 0, 0, 0.25, 2 * REACH);
    if (isfinite(centre)) {
        n = push_around(breaks, n, centre, 0.25 * width, fabs(centre) + REACH + 64 * width);
    }
    if (p->peak_width > 0) {
        n = push_around(breaks, n, (p->peak - p->mu) / q->sd, 0.25 * p->peak_width / q->sd, REACH);
    }
    R_rsort(breaks, n);
    return n;
}

/* Golden-section search for the peak in [a, b]; a rough answer is enough. 24 evaluations. */
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

/* Sums the panels and turns the integrals into moments. */
static void result_of(const quad_state *q, sg_quad_result *result)
{
    double total[NCOMP] = {0};
    for (int i = 0; i < q->npanel; i++) {
        for (int c = 0; c < q->ncomp; c++) total[c] += q->panels[i].integral[c];
    }
    const double shift = total[1] / total[0];
    result->logz = q->ref + log(total[0]) - M_LN_SQRT_2PI;
    result->mean = q->t0 + shift;
    result->var = total[2] / total[0] - shift * shift;
    for (int c = 0; c < q->problem->k; c++) result->expect[c] = total[NFIXED + c] / total[0];
}

/* Evaluates g at the breakpoints, into logs[n]; returns where it is largest. */
static int highest(const quad_state *q, int n, const double *breaks, double *logs)
{
    int top = 0;
    log_integrands(q, n, breaks, logs);
    for (int i = 1; i < n; i++) {
        if (logs[i] > logs[top]) top = i;
    }
    return top;
}

/* Begins a problem: t = (u - mu) / sd and no panels. */
static quad_state *start_state(quad_state *q, const sg_quad_problem *problem)
{
    q->problem = problem;
    q->sd = sqrt(problem->s2);
    q->ref = q->t0 = 0;
    q->ncomp = NFIXED + problem->k;
    q->npanel = 0;
    sg_zero(NCOMP, q->size);
    return q;
}

/* Breakpoints with the peak among them; where it is far from both mu and the centre and the mesh
 * is coarse, a mesh around it, too. Returns their number; q->t0 is the peak. breaks and logs:
 * MAX_BREAKS each. */
static int mesh(quad_state *q, double *breaks, double *logs)
{
    int n = lay_breaks(q, breaks);
    const int top = highest(q, n, breaks, logs);
    const double left = breaks[top > 0 ? top - 1 : 0];
    const double right = breaks[top < n - 1 ? top + 1 : n - 1];
    const double narrow = fmin2(1, q->problem->width / q->sd);
    q->t0 = find_peak(q, left, right);
    if (right - left > 4 * narrow) n = push_around(breaks, n, q->t0, 0.25 * narrow, REACH);
    else breaks[n++] = q->t0;
    R_rsort(breaks, n);
    return n;
}

/* Lays the mesh, integrates what is not negligible, and refines. */
void sg_quad(const sg_quad_problem *problem, sg_quad_result *result)
{
    quad_state state, *q = start_state(&state, problem);
    double breaks[MAX_BREAKS], logs[MAX_BREAKS];
    const int n = mesh(q, breaks, logs), top = highest(q, n, breaks, logs);
    const double neglect = problem->logf ? NEGLECT : GROWTH;
    q->ref = logs[top];
    /* outwards from the peak, so size[] is large before the tails are reached */
    for (int i = top; i < n - 1; i++) {
        if (fmax2(logs[i], logs[i + 1]) > q->ref - neglect) add_panel(q, breaks[i], breaks[i + 1]);
    }
    for (int i = top - 1; i >= 0; i--) {
        if (fmax2(logs[i], logs[i + 1]) > q->ref - neglect) add_panel(q, breaks[i], breaks[i + 1]);
    }
    refine(q);
    result_of(q, result);
}
