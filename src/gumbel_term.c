/* gumbel_term.c: one class's part of the softmax given the winner's value (gumbel_term.h), by the
 * trapezoid rule of concave.h. */
#include <math.h>
#include <Rmath.h>
#include "concave.h"
#include "gumbel_term.h"
#include "lik.h"

/* The inner integrand over n, f = x + sd n, about its peak n0, where q = q0: up to its value there
 * exp(-d^2 / 2 - q0 (exp(sd d) - 1 - sd d)), d = n - n0. The logarithm of q0 is kept, as q0 may
 * underflow where the wall exp(-exp f) is a thousand away. */
typedef struct {
    double sd, q0, log_q0;
} inner;

/* q - q0 at n0 + d */
static double gain_at(const inner *in, double d)
{
    const double z = in->sd * d;
    return fabs(z) < 1 ? in->q0 * expm1(z) : exp(z + in->log_q0) - in->q0;
}

/* Returns the logarithm of the inner integrand at n0 + d, relative to its peak. For a small z = sd
 * d, exp(z) - 1 - z is computed from its series: a difference would have lost its digits. */
static double inner_log(const inner *in, double d, double gain)
{
    const double z = in->sd * d;
    double rest = gain - in->q0 * z;
    if (fabs(z) < 0.01) rest = in->q0 * z * z / 2 * (1 + z / 3 * (1 + z / 4 * (1 + z / 5)));
    return -0.5 * d * d - rest;
}

/* Gives that logarithm with its slope and bend, as concave.h asks for them. */
static void inner_at(double d, void *ctx, sg_concave_point *at)
{
    const inner *in = ctx;
    const double gain = gain_at(in, d);
    at->value = inner_log(in, d, gain);
    at->slope = -d - in->sd * gain;
    at->bend = 1 + in->sd * in->sd * (in->q0 + gain);
}

/* Solves u + log u = y for log u by Newton's method, from the right after the first step. */
static double log_balance(double y)
{
    double r = y > 1 ? log(y) : y - log1p(exp(y));
    for (int i = 0; i < 50; i++) {
        const double u = exp(r), step = (u + r - y) / (1 + u);
        r -= step;
        if (fabs(step) <= 1e-14 * (1 + fabs(r))) break;
    }
    return r;
}

/* E exp(own f - exp f) for f ~ N(x, s2). The peak balances n0 = sd (own - q0), log q0 = x + sd n0.
 * With E, Cov over the normalised inner integrand: slope = own - E q, curve = Var q - E q =
 * -Cov(q, n) / sd by parts. For sd > 1 slope = E n / sd keeps what 1 - E q would cancel. */
sg_gumbel_term sg_gumbel_term_at(double x, double s2, int own)
{
    if (sg_is_point(s2)) {
        const double q = exp(x);
        return (sg_gumbel_term) {own * x - q, own - q, -q, q};
    }
    const double sd = sqrt(s2), log_u = log_balance(x + own * s2 + log(s2));
    inner in = {sd, exp(log_u) / s2, log_u - log(s2)};
    const double n0 = sd * (own - in.q0);
    const sg_concave_rule rule = sg_concave_lay(inner_at, &in);
    double total = 0, d_mean = 0, gain_mean = 0, both = 0, weight;
    for (int k = 0; k < rule.count; k++) {
        const double d = sg_concave_node(&rule, k, &weight), gain = gain_at(&in, d);
        const double w = weight * exp(inner_log(&in, d, gain));
        total += w, d_mean += w * d, gain_mean += w * gain, both += w * d * gain;
    }
    d_mean /= total, gain_mean /= total;
    const double log0 = own * (x + sd * n0) - 0.5 * n0 * n0 - in.q0 - M_LN_SQRT_2PI;
    const double q = in.q0 + gain_mean;
    return (sg_gumbel_term) {log0 + log(total), own && sd > 1 ? (n0 + d_mean) / sd : own - q,
                   -(both / total - d_mean * gain_mean) / sd, q};
}
