/* mixed_normal.c: quantiles of mixtures of normal distributions (mixed_normal.h). */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "mixed_normal.h"

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

/* Returns P(Y <= q), and in *density the derivative of that. */
static double below(const problem *at, double q, double *density)
{
    double sum = 0, slope = 0;
    for (int k = 0; k < at->of->K; k++) {
        const double sd = sd_of(at, k), off = q - mean_of(at, k), w = weight_of(at, k);
        if (sd > 0) {
            sum += w * pnorm5(off / sd, 0, 1, 1, 0);
            slope += w * dnorm4(off / sd, 0, 1, 0) / sd;
        } else if (off >= 0) sum += w;
    }
    *density = slope;
    return sum;
}

/* Lays the bracket between the members' quantiles. Returns 0 if they are no numbers. */
static int lay_bracket(const problem *at, double *low, double *high)
{
    const double z = qnorm5(at->p, 0, 1, 1, 0);
    *low = INFINITY, *high = -INFINITY;
    for (int k = 0; k < at->of->K; k++) {
        const double own = mean_of(at, k) + z * sd_of(at, k);
        if (!isfinite(own) || !isfinite(weight_of(at, k))) return 0;
        *low = fmin2(*low, own), *high = fmax2(*high, own);
    }
    return 1;
}

/* Returns the start: the quantile of a normal distribution with the mixture's moments. */
static double by_moments(const problem *at)
{
    double mean = 0, var = 0;
    for (int k = 0; k < at->of->K; k++) mean += weight_of(at, k) * mean_of(at, k);
    for (int k = 0; k < at->of->K; k++) {
        const double off = mean_of(at, k) - mean, sd = sd_of(at, k);
        var += weight_of(at, k) * (sd * sd + off * off);
    }
    return mean + qnorm5(at->p, 0, 1, 1, 0) * sqrt(var);
}

double sg_mixed_normal_quantile(const sg_mixed_normal *mixture, double p)
{
    enum { MOST = 200 };
    const problem at = {.of = mixture, .sign = p > 0.5 ? -1 : 1, .p = p > 0.5 ? 1 - p : p};
    double low, high, density;
    if (!lay_bracket(&at, &low, &high)) return NAN;
    double q = by_moments(&at);
    for (int step = 0; step < MOST; step++) {
        if (!(q >= low && q <= high)) q = low + (high - low) / 2;
        const double sum = below(&at, q, &density), before = q;
        if (sum < at.p) low = q;
        else high = q;
        if (sum == at.p) break;
        q -= sum * log(sum / at.p) / density; /* not a number where there is no density: halved */
        const double size = DBL_EPSILON * fmax2(fabs(low), fabs(high));
        if (fabs(q - before) <= 2 * size || high - low <= 2 * size) break;
    }
    return at.sign * fmin2(fmax2(q, low), high);
}
