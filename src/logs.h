/* logs.h: what logarithms of odds and of rates are turned into, without overflow. */
#ifndef SG_LOGS_H
#define SG_LOGS_H

#include <math.h>
#include <Rmath.h>

/* From this count on log p is added up from differences from the mode, and where the logarithm of
 * the mean's distance from it is no larger than this: terms of size y log y lose 1e-12 of a smaller
 * count, and farther out log p itself is of that size. */
static const double SG_LARGE_COUNT = 1e3, SG_NEAR_COUNT = 1;

/* Returns by how much the constant that a data row gives differs from the one that it stands for,
 * 0 where that is rounding of terms of this size: expect.h has rows without their constants. */
static inline double sg_other_constant(double given, double exact, double size)
{
    return fabs(given - exact) <= 1e-12 * size ? 0 : given - exact;
}

/* log(1 / (1 + exp(-z))) */
static inline double sg_log_sigmoid(double z)
{
    return z > 0 ? -log1p(exp(-z)) : z - log1p(exp(z));
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
