/* lgamma_ratio.c: how a rising factorial (Pochhammer symbol) exceeds a power, from Stirling's
 * series. With
 * R(x) = log Gamma(x) - (x - 1/2) log x + x - log sqrt(2 pi),
 *   log(Gamma(x + a) / (Gamma(x) x^a)) = (x + a - 1/2) log(1 + a / x) - a + R(x + a) - R(x),
 * and Gamma(x + 1) = x Gamma(x) takes a small x to where R's series is exact. */
#include <math.h>
#include "lgamma_ratio.h"

/* R(x): error below 1e-17 from x = 16 on */
static double stirling_rest(double x)
{
    const double s = 1 / (x * x);
    return (1 / 12. - s * (1 / 360. - s * (1 / 1260. - s * (1 / 1680. - s / 1188)))) / x;
}

static const double ENOUGH = 16;

static double far_out(double x, double a)
{
    return (x + a - 0.5) * log1p(a / x) - a + (stirling_rest(x + a) - stirling_rest(x));
}

/* With n steps to the right the result loses a log(x / (x + n)) and the factors (x + a + k) / (x +
 * k), whose products save logarithms. */
double sg_lgamma_ratio(double x, double a)
{
    const double LARGE = 1e150; /* its square is a number */
    double logs = 0, product = 1, at = x;
    for (; at < ENOUGH; at += 1) {
        product *= at == x ? 1 : (at + a) / at;
        if (product > LARGE) logs += log(product), product = 1;
    }
    if (at == x) return far_out(x, a);
    const double first = log(x + a) - log(x); /* the quotient itself may be no number */
    return far_out(at, a) + a * (log(at) - log(x)) - first - logs - log(product);
}
