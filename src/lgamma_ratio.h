/* lgamma_ratio.h: log(Gamma(x + a) / (Gamma(x) x^a)), the logarithm of the Pochhammer symbol (x)_a
 * less a log x, without a difference of large numbers, and without the warnings and the state that
 * a library's gamma functions may have: it is called on threads. */
#ifndef SG_LGAMMA_RATIO_H
#define SG_LGAMMA_RATIO_H

/* x > 0, a >= 0. Tends to 0 as x grows, as a (a - 1) / (2 x). Absolute accuracy 1e-15 of the terms
 * of the result, a log(1 + a / x) and the like. */
double sg_lgamma_ratio(double x, double a);

#endif
