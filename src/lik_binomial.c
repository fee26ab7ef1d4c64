/* lik_binomial.c: y[0] successes of y[1] trials, each with probability 1 / (1 + exp(-f - bias));
 * y[2]: the logarithm of the number of ways that they can lie. theta: bias. No closed form. A new
 * response is that of one trial.
 *
 * With p = sigma(f + bias): log p(y|f) = log choose(n, y) + y log p + (n - y) log(1 - p), whose
 * slopes are y (1 - p) - (n - y) p and -n p (1 - p): concave in f. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "logs.h"

/* Returns log p(y|f) of many trials, at log odds t beyond those of y / n, from Stirling's formula
 * of n, y and n - y, R its rest (gamma_rest.h; Loader 2000):
 *   log p = R(n) - R(y) - R(n - y) + log(n / (2 pi y (n - y))) / 2 - y D(e) - (n - y) D(g),
 *   D(x) = x - log(1 + x),  e = n p / y - 1,  g = n (1 - p) / (n - y) - 1,
 * whose terms are of the size of log p's distance from the mode. */
static double near_mode(const double *row, double t)
{
    const double y = row[0], n = row[1], lost = n - y;
    const double log_y = log(y), log_lost = log(lost), log_n = log(n);
    const double excess = expm1(t), all = n + y * excess;
    const double e = lost * excess / all, g = -y * excess / all;
    const double rests = sg_gamma_rest(n, log_n) - sg_gamma_rest(y, log_y) -
        sg_gamma_rest(lost, log_lost);
    const double rest = rests + 0.5 * (log_n - log_y - log_lost) - M_LN_SQRT_2PI;
    const double ways = rest + y * (log_n - log_y) + lost * (log_n - log_lost);
    return rest + sg_other_constant(row[2], ways, n * log_n) - y * (e - log1p(e)) -
        lost * (g - log1p(g));
}

/* Returns log p(y|f); log p and log(1 - p) are computed apart, each with all its digits. Of many
 * trials they are terms of size n, whose digits near the mode would be those of log p. */
static double binomial_logp(const sg_lik *self, const double *y, const double *f)
{
    const double z = *f + self->theta[0];
    if (y[1] >= SG_LARGE_COUNT && y[0] > 0 && y[0] < y[1]) {
        const double t = z - log(y[0] / (y[1] - y[0]));
        if (fabs(t) < SG_NEAR_COUNT) return near_mode(y, t);
    }
    return y[2] + y[0] * sg_log_sigmoid(z) + (y[1] - y[0]) * sg_log_sigmoid(-z);
}

/* Computes the mean p and the variance p (1 - p) of one trial. */
static void binomial_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0], log_p = sg_log_sigmoid(z);
    *mean = exp(log_p);
    *var = exp(log_p + sg_log_sigmoid(-z));
}

/* Places the mode at the log odds, of width (n p (1 - p))^-1/2 and at most 1. Half a success and
 * half a failure are added, as the log odds of 0 of n are infinite. */
static void binomial_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const double won = y ? y[0] + 0.5 : 1, lost = y ? y[1] - y[0] + 0.5 : 1;
    *centre = log(won / lost) - self->theta[0];
    *width = fmin2(sqrt((won + lost) / (won * lost)), 1);
}

/* Computes the first and the second derivative of log p in f. */
static void binomial_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const double z = f + self->theta[0], log_p = sg_log_sigmoid(z), log_q = sg_log_sigmoid(-z);
    out[0] = y[0] * exp(log_q) - (y[1] - y[0]) * exp(log_p);
    out[1] = -y[1] * exp(log_p + log_q);
}

/* Returns P(Y <= y | f) of n trials, or P(Y > y | f) where `upper`. */
static double binomial_cdf(const sg_lik *self, const double *y, double f, int upper)
{
    return pbinom(y[0], y[1], exp(sg_log_sigmoid(f + self->theta[0])), !upper, 0);
}

/* Computes P(Y <= y) and P(Y > y) for Y of y[1] trials. With y[0] = y[1] the first is 1, and there
 * is no data row of one success more to take the mean over (expect.h). */
static void binomial_tails(const sg_lik *self, const double *y, const double *mu,
                           const double *s2, double *out)
{
    const double more[] = {y[0] + 1, y[1] + 1, 0};
    out[0] = 1, out[1] = 0;
    if (y[0] < y[1]) sg_count_tails(self, y, more, binomial_cdf, *mu, *s2, out);
}

const sg_lik_type sg_lik_binomial = {
    .name = "binomial", .q = 3, .npar = 1, .width = 1, .concave = 1,
    .par = {"bias"},
    .logp = binomial_logp, .moments = binomial_moments, .locate = binomial_locate,
    .slopes = binomial_slopes, .tails = binomial_tails, .support = SG_WHOLE
};
