/* exps.h: exponentials of many numbers, which are a good part of a kernel. */
#ifndef SG_EXPS_H
#define SG_EXPS_H

/* out[n] = exp(scale x[n]), to 1 unit in the last place; out may be x. A number's exponential does
 * not depend on where it stands. O(n). */
void sg_exp_all(int n, double scale, const double *x, double *out);

#endif
