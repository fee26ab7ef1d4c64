/* rising.h: log(Gamma(x + a) / (Gamma(x) x^a)), without a difference of large numbers, and without
 * the warnings and the state that a library's gamma functions may have: it is asked on threads. */
#ifndef SG_RISING_H
#define SG_RISING_H

/* x > 0, a >= 0. Tends to 0 as x grows, as a (a - 1) / (2 x). Absolute accuracy 1e-15 of the terms
 * of the result, a log(1 + a / x) and the like. */
double sg_log_rising(double x, double a);

#endif
