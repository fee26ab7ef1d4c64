/* smooth.c: tilts by the trapezoid rule (smooth.h). With g(f) = log p(y|f) - (f - mu)^2 / (2 s2)
 * and nodes f_k = mu + d_k, d_k = d0 + h k, about a place d0 near the peak of g,
 *   Z = h sum exp(g(f_k)) / sqrt(2 pi s2),  and means under the tilted distribution are those of
 * the nodes under weights exp(g(f_k)).
 *
 * Its error falls as exp(-2 pi c / h) where the integrand is analytic within c of the real line:
 * nodes twice as dense square it, which is what the comparison with every second node checks.
 *   d1 = E (f - mu) / s2,   d2 = (Var f / s2 - 1) / s2. */
#include <math.h>
#include <Rmath.h>
#include "smooth.h"

enum { MOST = 192, CHUNK = 6 }; /* nodes at most; how many more at a time */
/* Step, in standard deviations of the peak: were that normal, half the nodes would give the
 * variance to 1e-7, and all to 1e-30. */
static const double STEP = 0.5;
/* Step at most, in widths of the likelihood: where that is a small part of the integral half the
 * nodes may agree by accident. */
static const double FINE = 0.35;
static const double NEGLECT = 33; /* exp(-33) = 5e-15 is left out on either side */
static const double AGREE = 3e-7; /* of the rule with half the nodes; its square is the error */

/* The nodes of a row at N(mu, s2), and what they were laid by. */
typedef struct {
    const sg_lik *lik;
    const double *y;
    double mu, s2, centre, width; /* of the marginal; of the likelihood, from locate() */
    double d0, bend, curvature;   /* about the peak, less mu: -g'' and (log p)'' */
    double h, top;                /* step; largest g at a node */
    int from, count;              /* k of the first node */
    double f[MOST], weight[MOST]; /* weight: exp(g - top); g itself while nodes are laid */
} rule;

/* Finds the peak of g by Newton's method, from where a normal density of the likelihood's centre
 * and width would have it; returns 0 where g is not concave. Near enough is a tenth of a standard
 * deviation. */
static int find_peak(rule *r)
{
    const double NEAR = 0.01, share = r->s2 / (r->s2 + r->width * r->width);
    enum { TRIES = 15 };
    double d = share * (r->centre - r->mu), slopes[2];
    for (int i = 0; i < TRIES; i++) {
        r->lik->type->slopes(r->lik, r->y, r->mu + d, slopes);
        const double g = slopes[0] - d / r->s2;
        r->d0 = d, r->bend = 1 / r->s2 - slopes[1], r->curvature = slopes[1];
        if (!(r->bend > 0)) return 0;
        if (g * g < NEAR * r->bend) return 1;
        d += g / r->bend;
    }
    return 0;
}

/* Evaluates g at the nodes k = from .. from + n - 1, into place `at` of the arrays. */
static void evaluate(rule *r, int from, int at, int n)
{
    for (int i = at; i < at + n; i++) r->f[i] = r->mu + (r->d0 + r->h * (from + i - at));
    sg_lik_logps(r->lik, r->y, n, r->f + at, r->weight + at);
    for (int i = at; i < at + n; i++) {
        const double d = r->d0 + r->h * (from + i - at); /* f - mu has lost digits */
        r->weight[i] -= 0.5 * d * d / r->s2;
        if (r->weight[i] > r->top) r->top = r->weight[i];
    }
}

/* Is g negligible from node i on? Outside of what lies between mu and the likelihood's centre it
 * falls monotonically, once past its peak; inside there may be a second one. */
static int is_end(const rule *r, int i)
{
    const double low = fmin2(r->mu, r->centre), high = fmax2(r->mu, r->centre);
    const int beyond = i == 0 ? r->f[i] <= low : r->f[i] >= high;
    const int fell = r->weight[i] < r->top - NEGLECT;
    return fell && (beyond || sg_lik_is_concave(r->lik, r->y));
}

/* Lays nodes of step h as far out as they count, CHUNK at a time to either side. Returns 0 when
 * MOST do not suffice. */
static int lay_nodes(rule *r)
{
    enum { FIRST = 16 };
    r->from = -FIRST, r->count = 2 * FIRST + 1, r->top = -HUGE_VAL;
    evaluate(r, r->from, 0, r->count);
    while (!is_end(r, r->count - 1)) {
        if (r->count + CHUNK > MOST) return 0;
        evaluate(r, r->from + r->count, r->count, CHUNK);
        r->count += CHUNK;
    }
    while (!is_end(r, 0)) {
        if (r->count + CHUNK > MOST) return 0;
        for (int i = r->count - 1; i >= 0; i--) {
            r->f[i + CHUNK] = r->f[i], r->weight[i + CHUNK] = r->weight[i];
        }
        r->from -= CHUNK, r->count += CHUNK;
        evaluate(r, r->from, 0, CHUNK);
    }
    for (int i = 0; i < r->count; i++) r->weight[i] = exp(r->weight[i] - r->top);
    return 1;
}

/* Sum of the weights of every `stride`-th node, and mean and variance of d - d0 under them. */
typedef struct {
    double total, mean, var;
} moments;

/* Sums the weights of every `stride`-th node, and computes mean and variance of d - d0 under
 * them. */
static moments moments_of(const rule *r, int stride)
{
    moments m = {0, 0, 0};
    double square = 0;
    for (int i = 0; i < r->count; i += stride) {
        const double x = r->h * (r->from + i), w = r->weight[i];
        m.total += w, m.mean += w * x, square += w * x * x;
    }
    m.mean /= m.total;
    m.var = square / m.total - m.mean * m.mean;
    return m;
}

/* Halves the step until every second node gives the same moments; returns 0 when that takes too
 * many, and quadrature has to do. */
static int lay_rule(rule *r, const sg_lik *self, const double *y, double mu, double s2,
                    moments *all)
{
    enum { HALVINGS = 3 };
    const double LARGE = 1e6, DIGITS = 1e-12; /* logarithms and places with too few digits left */
    r->lik = self, r->y = y, r->mu = mu, r->s2 = s2;
    r->lik->type->locate(r->lik, r->y, &r->centre, &r->width);
    if (sg_is_point(r->s2) || !find_peak(r)) return 0;
    r->h = fmin2(STEP / sqrt(r->bend), FINE * r->width);
    for (int i = 0; i < HALVINGS; i++, r->h *= 0.5) {
        if (!(r->h > DIGITS * fabs(r->mu + r->d0)) || !lay_nodes(r)) return 0;
        if (!(fabs(r->top) < LARGE)) return 0;
        *all = moments_of(r, 1);
        const moments half = moments_of(r, 2);
        const int agree = fabs(2 * half.total - all->total) < AGREE * all->total &&
            fabs(half.mean - all->mean) < AGREE * sqrt(all->var) &&
            fabs(half.var - all->var) < AGREE * all->var;
        if (agree) return 1;
    }
    return 0;
}

/* Computes d1 = E l' and d2 = E l'' + Var l' with l = log p, which is the same by Stein's
 * identity, for a marginal so narrow that moments would cancel. total: the sum of the weights. */
static void narrow_derivatives(const rule *r, double total, sg_tilt *out)
{
    double first = 0, second = 0, square = 0, slopes[2];
    for (int i = 0; i < r->count; i++) {
        const double w = r->weight[i] / total;
        r->lik->type->slopes(r->lik, r->y, r->f[i], slopes);
        first += w * slopes[0], second += w * slopes[1], square += w * slopes[0] * slopes[0];
    }
    *out->d1 = first;
    *out->d2 = second + square - first * first;
}

/* Tilts by the nodes; returns 0 and writes nothing where the rule does not serve. Some 30 values
 * of log p. */
int sg_smooth_tilt(const sg_lik *self, const double *y, double mu, double s2, sg_tilt *out)
{
    const double NARROW = 1e-4;
    rule r;
    moments m;
    if (!lay_rule(&r, self, y, mu, s2, &m)) return 0;
    out->logz = r.top + log(r.h * m.total) - 0.5 * log(s2) - M_LN_SQRT_2PI;
    if (s2 * fabs(r.curvature) < NARROW) {
        narrow_derivatives(&r, m.total, out);
        return 1;
    }
    *out->d1 = (r.d0 + m.mean) / s2;
    *out->d2 = (m.var / s2 - 1) / s2;
    return 1;
}

/* Adds to the log p's in sum[] those at theta moved by `step` in parameter k, `times` times.
 * O(count) values of log p. */
static void add_moved(const rule *r, int k, double step, double times, double *sum)
{
    double theta[SG_LIK_MAX_PAR], at[MOST];
    sg_lik moved = *r->lik;
    sg_copy(moved.npar, r->lik->theta, theta);
    theta[k] += step;
    moved.theta = theta;
    sg_lik_logps(&moved, r->y, r->count, r->f, at);
    for (int i = 0; i < r->count; i++) sum[i] += times * at[i];
}

/* dlogZ/dtheta_k = E dlogp/dtheta_k, by central differences of order 4 The node weights serve all
 * parameters; each costs four moved likelihoods. Returns 0, and adds nothing, where half the nodes
 * disagree. */
int sg_smooth_dpar(const sg_lik *self, const double *y, double mu, double s2, double *dpar)
{
    const double h = 1e-3;
    double found[SG_LIK_MAX_PAR];
    rule r;
    moments m;
    if (!lay_rule(&r, self, y, mu, s2, &m)) return 0;
    for (int k = 0; k < self->npar; k++) {
        double slope[MOST] = {0}, half = 0;
        found[k] = 0;
        for (int twice = 1; twice <= 2; twice++) {
            const double times = twice == 1 ? 8 : -1;
            add_moved(&r, k, twice * h, times, slope);
            add_moved(&r, k, -twice * h, -times, slope);
        }
        for (int i = 0; i < r.count; i++) {
            const double part = r.weight[i] * slope[i] / (12 * h * m.total);
            found[k] += part;
            if (i % 2 == 0) half += 2 * part;
        }
        if (!(fabs(half - found[k]) < 10 * AGREE * fmax2(1, fabs(found[k])))) return 0;
    }
    for (int k = 0; k < self->npar; k++) dpar[k] += found[k];
    return 1;
}
