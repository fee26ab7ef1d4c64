/* logs.h: what logarithms of odds and of rates are turned into, without overflow. */
#ifndef SG_LOGS_H
#define SG_LOGS_H

#include <math.h>
#include <Rmath.h>

/* log(1 / (1 + exp(-z))) */
static inline double sg_log_sigmoid(double z)
{
    return z > 0 ? -log1p(exp(-z)) : z - log1p(exp(z));
}

/* log(q + p exp(d)) of proportions p + q = 1, which is 0 at d = 0 and keeps its digits there */
static inline double sg_log_moved(double p, double q, double d)
{
    if (p < 0.5 && d < 700) return log1p(p * expm1(d)); /* nothing cancels, however small p is */
    if (d > 1) return d + log(p + q * exp(-d));
    return d < -1 ? log(q + p * exp(d)) : log1p(p * expm1(d));
}

/* A rate, and its powers that moments take, stay finite: exp(300) stands for all larger ones. */
static inline double sg_rate_of(double log_rate)
{
    return exp(fmin2(log_rate, 300));
}

/* A logarithm of a positive parameter: neither e^200 nor e^-200 is distinguished from what lies
 * beyond, and their powers and products are finite. */
static inline double sg_log_within(double log_value)
{
    return fmin2(fmax2(log_value, -200), 200);
}

/* Variance of a lognormal rate with logarithm of variance s2 and a mean with logarithm log_mean:
 * mean^2 (exp(s2) - 1), and no Inf * 0. */
static inline double sg_rate_var(double log_mean, double s2)
{
    const double mean = sg_rate_of(log_mean);
    if (s2 < 1) return mean * mean * expm1(s2);
    return sg_rate_of(2 * log_mean + s2 + log1p(-exp(-s2)));
}

#endif
