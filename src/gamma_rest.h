/* gamma_rest.h: how the logarithm of the gamma function and its derivatives differ from the first
 * terms of their expansions, without a difference of large numbers, and without the warnings that
 * a library's gamma functions may give: they are called on threads. */
#ifndef SG_GAMMA_REST_H
#define SG_GAMMA_REST_H

/* Each takes x > 0 and, where its limit needs it, its logarithm, which may be finite where x
 * itself is 0 by underflow: then results are those of the limit. Absolute accuracy 1e-14, relative
 * where they are large.
 *
 * sg_gamma_rest      log Gamma(x) - (x - 1/2) log x + x - log sqrt(2 pi); tends to 0 as x grows
 * sg_digamma_rest    x (psi(x) - log x), from -1 at 0 to -1/2
 * sg_trigamma_rest   x^2 psi'(x), 1 at 0, and x + 1/2 for large x */
double sg_gamma_rest(double x, double log_x);
double sg_digamma_rest(double x, double log_x);
double sg_trigamma_rest(double x);

#endif
