/* mixed_normal.h: quantiles of mixtures of normal distributions. */
#ifndef SG_MIXED_NORMAL_H
#define SG_MIXED_NORMAL_H

#include "types.h"

/* The mixture of K normals at a row: means and standard deviations (0 or more) stand `stride`
 * numbers apart, weights, which add up to one, `weight_stride`. */
typedef struct {
    int K;
    const double *mean, *sd, *weight;
    size_t stride, weight_stride;
} sg_mixed_normal;

/* The quantile of p in (0, 1), to rounding: Halley's steps on the logarithm of the distribution
 * function, within a bracket that the members' own quantiles begin. O(K) a step, some three steps.
 * NAN if a number is not finite. */
double sg_mixed_normal_quantile(const sg_mixed_normal *mixture, double p);

#endif
