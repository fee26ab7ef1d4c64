/* mixed_normal.c: quantiles of mixtures of normal distributions (mixed_normal.h). */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "mixed_normal.h"
#include "normal.h"

/* Holds what a quantile is sought of: for p above 1/2 that of 1 - p of the mixture turned round 0,
 * so that probabilities are those of a tail, and small ones keep their digits. */
typedef struct {
    const sg_mixed_normal *of;
    double sign, p;
} problem;

static double mean_of(const problem *at, int k)
{
    return at->sign * at->of->mean[at->of->stride * k];
}

static double sd_of(const problem *at, int k) { return at->of->sd[at->of->stride * k]; }

static double weight_of(const problem *at, int k)
{
    return at->of->weight[at->of->weight_stride * k];
}

/* The distribution function at a place, and its first and second derivative. */
typedef struct {
    double below, density, slope;
} values;

/* Evaluates the mixture at q: O(K), an exponential for each member. */
static values at_place(const problem *at, double q)
{
    values sum = {0, 0, 0};
    for (int k = 0; k < at->of->K; k++) {
        const double sd = sd_of(at, k), off = q - mean_of(at, k), w = weight_of(at, k);
        if (sd > 0) {
            double phi;
            sum.below += w * sg_Phi(off / sd, &phi);
            sum.density += w * phi / sd;
            sum.slope -= w * phi * (off / sd) / sd / sd;
        } else if (off >= 0) sum.below += w;
    }
    return sum;
}

/* Returns Halley's step to the root of log P(Y <= q) - log p, which converges cubically, where that
 * is between half and twice Newton's, and else Newton's; not a number where there is no density. */
static double step_from(const values *at, double p)
{
    const double newton = at->below * log(at->below / p) / at->density;
    const double bend = 1 - newton * (at->slope / at->density - at->density / at->below) / 2;
    return bend > 0.5 && bend < 2 ? newton / bend : newton;
}

/* Lays the bracket between the members' quantiles, z standard deviations from their means, and
 * finds the smallest of these. Returns 0 if they are no numbers. */
static int lay_bracket(const problem *at, double z, double *low, double *high, double *least)
{
    *low = INFINITY, *high = -INFINITY, *least = INFINITY;
    for (int k = 0; k < at->of->K; k++) {
        const double sd = sd_of(at, k), own = mean_of(at, k) + z * sd;
        if (!isfinite(own) || !isfinite(weight_of(at, k))) return 0;
        *low = fmin2(*low, own), *high = fmax2(*high, own), *least = fmin2(*least, sd);
    }
    return 1;
}

/* Returns the start: the quantile of a normal distribution with the mixture's moments. */
static double by_moments(const problem *at, double z)
{
    double mean = 0, var = 0;
    for (int k = 0; k < at->of->K; k++) mean += weight_of(at, k) * mean_of(at, k);
    for (int k = 0; k < at->of->K; k++) {
        const double off = mean_of(at, k) - mean, sd = sd_of(at, k);
        var += weight_of(at, k) * (sd * sd + off * off);
    }
    return mean + z * sqrt(var);
}

/* Ends where a step is so short beside the narrowest member that the next, of its third power,
 * would be rounding. */
double sg_mixed_normal_quantile(const sg_mixed_normal *mixture, double p)
{
    enum { MOST = 200 };
    const double SHORT = 1e-6;
    const problem at = {.of = mixture, .sign = p > 0.5 ? -1 : 1, .p = p > 0.5 ? 1 - p : p};
    const double z = qnorm5(at.p, 0, 1, 1, 0);
    double low, high, least;
    if (!lay_bracket(&at, z, &low, &high, &least)) return NAN;
    double q = by_moments(&at, z);
    for (int step = 0; step < MOST; step++) {
        if (!(q >= low && q <= high)) q = low + (high - low) / 2;
        const values here = at_place(&at, q);
        const double before = q;
        if (here.below < at.p) low = q;
        else high = q;
        if (here.below == at.p) break;
        q -= step_from(&here, at.p);
        const double size = DBL_EPSILON * fmax2(fabs(low), fabs(high));
        if (fabs(q - before) <= fmax2(2 * size, SHORT * least) || high - low <= 2 * size) break;
    }
    return at.sign * fmin2(fmax2(q, low), high);
}
