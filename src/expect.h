/* expect.h: the distribution function of a new response, and its quantiles.
 *
 * With f ~ N(mu, S) the distribution function is the mean P(Y <= y) = E P(Y <= y | f), and P(Y >
 * y) is had beside it, so either tail has all its digits. A type gives both in its slot tails()
 * (lik.h): in closed form, or as a mean over one variable by the trapezoid rule, for which this is
 * the one place. The rule is exact to rounding, as its integrands are analytic and vanish at both
 * ends, once the step resolves them.
 *
 * A quantile is where the log odds logit P(Y <= y), which have few bends, are logit p: polynomials
 * through all points that are known of a row's curve, within a bracket, by which all quantiles of
 * the row are found. Some six calls of tails() for the first, and two for one near others.
 * Accuracy: rounding of P(Y <= y) where responses are numbers; whole responses are exact.
 *
 * Distribution functions of counts given f are Rmath's, which may warn: these functions are for
 * R's own thread. */
#ifndef SG_EXPECT_H
#define SG_EXPECT_H

#include "lik.h"

/* At place x: the logarithm of a density, up to a constant; probabilities below and above. */
typedef void (*sg_tails_at)(double x, const void *ctx, double *log_density, double *tails);

/* tails[2]: means under that density, by nodes of this distance around `centre`, which is near its
 * mode; step 0: the values at `centre`. Nodes as far out as they add to either tail. */
void sg_mean_tails(sg_tails_at at, const void *ctx, double centre, double step, double *tails);

/* tails() of counts Y whose distribution function falls with f (C = w = 1): -dP(Y <= y | f)/df is
 * a density in f, p(row | f) up to a constant, of a data row that has one success more. The mean
 * is over f ~ N(mu, s2) of `cdf`, or over that density of the normal distribution function: over
 * the narrower of the two. cdf: P(Y <= y | f), or where `upper` P(Y > y | f). */
typedef double (*sg_count_cdf)(const sg_lik *self, const double *y, double f, int upper);
void sg_count_tails(const sg_lik *self, const double *y, const double *more, sg_count_cdf cdf,
                    double mu, double s2, double *tails);

/* tails() of responses with distribution functions of any form in f (C = w = 1), which move where
 * locate() places the data row y, on its scale. given: P(Y <= y | f) and P(Y > y | f). The mean is
 * over f ~ N(mu, s2). */
typedef void (*sg_tails_given)(const sg_lik *self, const double *y, double f, double *tails);
void sg_given_tails(const sg_lik *self, const double *y, sg_tails_given given, double mu,
                    double s2, double *tails);

/* sg_count_tails() where f is the logarithm of a rate, and the data row the count and a constant.
 * For counts beyond 1e10 log p has too few digits: they vary, relative to their rate, as that one
 * does. */
void sg_rate_tails(const sg_lik *self, const double *y, sg_count_cdf cdf, double mu, double s2,
                   double *tails);

/* Points of a row's log odds, in the order of the responses y. */
enum { SG_ODDS_KEPT = 64 };
typedef struct {
    int n;
    double y[SG_ODDS_KEPT], odds[SG_ODDS_KEPT];
} sg_odds;

/* The quantile of probability p in (0, 1) of a new response like that of the data row y (trials
 * and weights as there), of a type that has tails(). known: of this row and marginal, n = 0 at
 * first; points are added. NaN where there is no quantile. */
double sg_quantile(const sg_lik *self, const double *y, const double *mu, const double *S,
                   double p, sg_odds *known);

#endif
