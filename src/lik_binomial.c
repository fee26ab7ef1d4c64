/* lik_binomial.c: y[0] successes of y[1] trials, each with probability 1 / (1 + exp(-f - bias));
 * y[2]: the logarithm of the number of ways that they can lie. theta: bias. No closed form. A new
 * response is that of one trial.
 *
 * With p = sigma(f + bias): log p(y|f) = log choose(n, y) + y log p + (n - y) log(1 - p), whose
 * slopes are y (1 - p) - (n - y) p and -n p (1 - p): concave in f. Of many trials these terms
 * cancel. With k = y, l = n - y, d = f + bias - log(k / l) and Stirling's rest R,
 *   log p = -k log(k/n + l/n e^-d) - l log(l/n + k/n e^d)
 *           + (log n - log k - log l - log 2 pi) / 2 + R(n) - R(k) - R(l),  k, l > 0. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "gamma_rest.h"
#include "logs.h"

/* Computes log p at n values of f. Where all trials or none succeed nothing cancels, and log p and
 * log(1 - p) are computed apart, each with all its digits. */
static void binomial_logps(const sg_lik *self, const double *y, int n, const double *f,
                           double *out)
{
    const double all = y[1], k = y[0], l = all - k, log_n = log(all), log_k = log(k),
                 log_l = log(l);
    if (!(k > 0 && l > 0)) {
        for (int i = 0; i < n; i++) {
            const double z = f[i] + self->theta[0];
            out[i] = y[2] + (k > 0 ? k * sg_log_sigmoid(z) : l * sg_log_sigmoid(-z));
        }
        return;
    }
    const double at_mode = 0.5 * (log_n - log_k - log_l) - M_LN_SQRT_2PI +
        sg_gamma_rest(all, log_n) - sg_gamma_rest(k, log_k) - sg_gamma_rest(l, log_l);
    for (int i = 0; i < n; i++) {
        const double d = f[i] + self->theta[0] - (log_k - log_l);
        out[i] = at_mode - k * sg_log_moved(l / all, k / all, -d) -
            l * sg_log_moved(k / all, l / all, d);
    }
}

/* Returns log p at one f, by the same lines. */
static double binomial_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    binomial_logps(self, y, 1, f, &out);
    return out;
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
    .slopes = binomial_slopes, .logps = binomial_logps, .tails = binomial_tails, .support = SG_WHOLE
};
