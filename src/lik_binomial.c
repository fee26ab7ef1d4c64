/* lik_binomial.c: y[0] successes of y[1] trials, each with probability 1 / (1 + exp(-f - bias));
 * y[2]: the logarithm of the number of ways that they can lie. theta: bias. No closed form. A new
 * response is that of one trial. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "logs.h"

static double binomial_logp(const sg_lik *self, const double *y, const double *f)
{
    const double z = *f + self->theta[0];
    return y[2] + y[0] * sg_log_sigmoid(z) + (y[1] - y[0]) * sg_log_sigmoid(-z);
}

static void binomial_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double z = *f + self->theta[0], log_p = sg_log_sigmoid(z);
    *mean = exp(log_p);
    *var = exp(log_p + sg_log_sigmoid(-z));
}

/* half a success and half a failure more, so that there is a mode */
static void binomial_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const double won = y ? y[0] + 0.5 : 1, lost = y ? y[1] - y[0] + 0.5 : 1;
    *centre = log(won / lost) - self->theta[0];
    *width = fmin2(sqrt((won + lost) / (won * lost)), 1);
}

static void binomial_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const double z = f + self->theta[0], log_p = sg_log_sigmoid(z), log_q = sg_log_sigmoid(-z);
    out[0] = y[0] * exp(log_q) - (y[1] - y[0]) * exp(log_p);
    out[1] = -y[1] * exp(log_p + log_q);
}

static double binomial_cdf(const sg_lik *self, const double *y, double f, int upper)
{
    return pbinom(y[0], y[1], exp(sg_log_sigmoid(f + self->theta[0])), !upper, 0);
}

/* Successes of y[1] trials. All of them are no more than there are. */
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
