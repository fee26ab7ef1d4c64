/* lik_ordinal.c: ordered categories y = 1..K, P(y <= k | f) = Phi(cut_k - f). theta: the first of
 * the K - 1 cut points, then the logarithms of the gaps between neighbours.
 *
 * With sd^2 = 1 + s2 and (x - mu) / sd for x, Z is the mass of N(0, 1) between a and b, the bounds
 * of the category, and moments of z over that mass give the rest:
 *   d1 = E z / sd,  d2 = (Var z - 1) / sd^2,  dlogZ/dcut = phi(b) / (sd Z) above, -phi(a) / (sd Z)
 * below. A category whose middle is above mu is reflected, so nothing is the difference of two
 * numbers near 1; a narrow one is integrated, so nothing is that of two neighbours. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "normal.h"

/* Has a cut point. */
static int ordinal_valid(const sg_lik *self)
{
    return self->npar > 0;
}

/* Counts the categories: one more than cut points. */
static int categories(const sg_lik *self)
{
    return self->npar + 1;
}

/* Category k from 1: its lower bound, or without one its upper, and the gap between the two. */
typedef struct {
    double bound, gap;
    int k, has_lower, has_upper;
} category;

/* Returns category 1, below the first cut point. */
static category first_of(const sg_lik *self)
{
    const category out = {self->theta[0], HUGE_VAL, 1, 0, 1};
    return out;
}

/* Returns the category above, whose lower bound is the upper one of `y`. */
static category next_to(const sg_lik *self, category y)
{
    if (y.has_lower) y.bound += y.gap;
    y.has_lower = 1;
    y.has_upper = ++y.k < categories(self);
    y.gap = y.has_upper ? exp(self->theta[y.k - 1]) : HUGE_VAL;
    return y;
}

/* Returns category k = 1, 2, ..., a double as rows hold it. NaN gives the first. */
static category category_of(const sg_lik *self, double k)
{
    category y = first_of(self);
    while (y.k < k && y.has_upper) y = next_to(self, y);
    return y;
}

/* log mass, and under it: mean of z and Var z - 1; phi over the mass at either bound */
typedef struct {
    double log_mass, mean, excess, at_low, at_high;
} slice;

/* Computes the moments of z < b: E z = -h, Var z - 1 = -h (h + b), h = phi(b) / Phi(b). */
static slice lower_tail(double b)
{
    double h, curv;
    const double log_mass = sg_log_Phi_slopes(b, &h, &curv);
    const slice out = {log_mass, -h, -curv, 0, h};
    return out;
}

/* Reflects a slice: its moments for -z. */
static slice turned(slice s)
{
    const slice out = {s.log_mass, -s.mean, s.excess, s.at_high, s.at_low};
    return out;
}

/* 10-point Gauss-Legendre rule on [-1, 1], of which the right half */
static const double NODE[] = {
    0.14887433898163121, 0.43339539412924719, 0.67940956829902441, 0.86506336668898451,
    0.97390652851717172
};
static const double WEIGHT[] = {
    0.29552422471475287, 0.26926671930999636, 0.21908636251598204, 0.14945134915058059,
    0.066671344308688138
};

/* c - g/2 < z < c + g/2 for g and c g of 2 at most: phi(c + t) / phi(c) = exp(-c t - t^2 / 2) is
 * integrated to rounding. No tail is subtracted from another. at_low and at_high are phi over the
 * mass at the two bounds. */
static slice narrow(double c, double g)
{
    double sums[3] = {0};
    for (int j = 0; j < 10; j++) {
        const double t = 0.5 * g * (j % 2 ? NODE[j / 2] : -NODE[j / 2]);
        const double w = 0.5 * WEIGHT[j / 2] * exp(-t * (c + 0.5 * t));
        sums[0] += w, sums[1] += w * t, sums[2] += w * t * t;
    }
    const double t = sums[1] / sums[0], edge = exp(-0.125 * g * g) / (g * sums[0]);
    const slice out = {
        log(g * sums[0]) - M_LN_SQRT_2PI - 0.5 * c * c, c + t, sums[2] / sums[0] - t * t - 1,
        edge * exp(0.5 * c * g), edge * exp(-0.5 * c * g)
    };
    return out;
}

/* a < z < b with a + b <= 0, by Phi(b) and the share e = Phi(a) / Phi(b) it loses: with h and
 * curv = h (h + z) of the two bounds every term keeps its digits. */
static slice wide(double c, double g)
{
    double ha, hb, curv_a, curv_b;
    const double log_b = sg_log_Phi_slopes(c + 0.5 * g, &hb, &curv_b);
    sg_log_Phi_slopes(c - 0.5 * g, &ha, &curv_a);
    const double e = exp(g * c) * hb / ha, rest = 1 / (1 - e), apart = rest * (ha - hb);
    const slice out = {
        log_b + log1p(-e), rest * (e * ha - hb),
        -rest * (curv_b - e * curv_a) - e * apart * apart, rest * e * ha, rest * hb
    };
    return out;
}

/* Chooses the form for c - g/2 < z < c + g/2: reflected for c > 0, integrated when narrow, and
 * else a difference of two tails. */
static slice between(double c, double g)
{
    if (c > 0) return turned(between(-c, g));
    return g <= 2 && -c * g <= 2 ? narrow(c, g) : wide(c, g);
}

/* The category as N(mu, sd^2 - 1) sees it. */
static slice seen(const category *y, double mu, double sd)
{
    const double from = y->bound - mu;
    if (!y->has_lower) return lower_tail(from / sd);
    if (!y->has_upper) return turned(lower_tail(-from / sd));
    return between((from + 0.5 * y->gap) / sd, y->gap / sd);
}

/* Computes log Z = log mass, d1 = E z / sd and d2 = (Var z - 1) / sd^2. */
static void ordinal_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         sg_tilt *out)
{
    const double sd = sqrt(1 + *s2);
    const category own = category_of(self, y[0]);
    const slice s = seen(&own, *mu, sd);
    out->logz = s.log_mass;
    *out->d1 = s.mean / sd;
    *out->d2 = s.excess / (sd * sd);
}

/* The first cut point moves them all, against mu; a gap below the category both its bounds, its own
 * gap the upper one. */
static void ordinal_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                              const double *s2, double *dpar)
{
    const double sd = sqrt(1 + *s2);
    const category own = category_of(self, y[0]);
    const slice s = seen(&own, *mu, sd);
    dpar[0] -= s.mean / sd;
    for (int j = 1; j < own.k - 1; j++) dpar[j] -= exp(self->theta[j]) * s.mean / sd;
    if (own.has_lower && own.has_upper) dpar[own.k - 1] += own.gap * s.at_high / sd;
}

/* Returns log P(y | f), the mass at s2 = 0. */
static double ordinal_logp(const sg_lik *self, const double *y, const double *f)
{
    const category own = category_of(self, y[0]);
    return seen(&own, *f, 1).log_mass;
}

/* The number of a category: its mean, and a variance that adds up nothing negative. */
static void ordinal_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    const double sd = sqrt(1 + *s2);
    const int K = categories(self);
    *mean = *var = 0;
    for (category y = first_of(self); y.k <= K; y = next_to(self, y)) {
        *mean += y.k * exp(seen(&y, *mu, sd).log_mass);
    }
    for (category y = first_of(self); y.k <= K; y = next_to(self, y)) {
        const double away = y.k - *mean;
        *var += exp(seen(&y, *mu, sd).log_mass) * away * away;
    }
}

static void ordinal_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double none = 0;
    ordinal_predict(self, f, &none, mean, var);
}

/* The bound of an outer category, the middle of an inner one; of all, the middle cut point. */
static void ordinal_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const category own = category_of(self, y ? y[0] : 1 + categories(self) / 2);
    const int inner = own.has_lower && own.has_upper;
    *centre = own.bound + (inner && y ? 0.5 * own.gap : 0);
    *width = 1;
}

const sg_lik_type sg_lik_ordinal = {
    .name = "ordinal", .q = 1, .width = 1, .valid = ordinal_valid,
    .par = {"cut", "gap"},
    .logp = ordinal_logp, .moments = ordinal_moments, .locate = ordinal_locate,
    .slopes = sg_lik_slopes_of_tilt, .tilt = ordinal_tilt, .tilt_dpar = ordinal_tilt_dpar,
    .predict = ordinal_predict
};
