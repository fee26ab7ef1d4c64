/* gamma_rest.c: Stirling's series and its derivatives (gamma_rest.h). Gamma(x + 1) = x Gamma(x)
 * takes a small x to where the series are exact to rounding. */
#include <math.h>
#include <Rmath.h>
#include "gamma_rest.h"

static const double ENOUGH = 16; /* from here on the terms left out are below 1e-16 */

/* Returns the series of log Gamma: 1/(12 x) - 1/(360 x^3) + ... */
static double series(double x)
{
    const double s = 1 / (x * x);
    return (1 / 12. - s * (1 / 360. - s * (1 / 1260. - s * (1 / 1680. - s / 1188)))) / x;
}

/* Returns the series of psi(x) - log x + 1 / (2 x). */
static double digamma_series(double x)
{
    const double s = 1 / (x * x);
    return -s * (1 / 12. - s * (1 / 120. - s * (1 / 252. - s * (1 / 240. - s / 132))));
}

/* Returns the series of psi'(x) - 1 / x - 1 / (2 x^2). */
static double trigamma_series(double x)
{
    const double s = 1 / (x * x);
    return s / x * (1 / 6. - s * (1 / 30. - s * (1 / 42. - s * (1 / 30. - s * (5 / 66.)))));
}

/* With X = x + n the factors x, x + 1, .., X - 1 are divided out, the first by its logarithm, as x
 * may be 0 by underflow. */
double sg_gamma_rest(double x, double log_x)
{
    double at = x + 1, product = 1;
    if (x >= ENOUGH) return series(x);
    for (; at < ENOUGH; at += 1) product *= at;
    return series(at) + (at - 0.5) * log(at) - log(product) - (at - x) - (x + 0.5) * log_x;
}

/* psi(x) = psi(X) - 1/x - 1/(x + 1) - ..; the first of these makes the limit of -1. */
double sg_digamma_rest(double x, double log_x)
{
    double at = x + 1, sum = 0;
    if (x >= ENOUGH) return x * digamma_series(x) - 0.5;
    for (; at < ENOUGH; at += 1) sum += 1 / at;
    return x * (log(at) - 0.5 / at + digamma_series(at) - sum - log_x) - 1;
}

/* psi'(x) = psi'(X) + 1/x^2 + 1/(x + 1)^2 + .. */
double sg_trigamma_rest(double x)
{
    double at = x + 1, sum = 0;
    if (x >= ENOUGH) return x + 0.5 + x * x * trigamma_series(x);
    for (; at < ENOUGH; at += 1) sum += 1 / (at * at);
    return 1 + x * x * (1 / at + 0.5 / (at * at) + trigamma_series(at) + sum);
}
