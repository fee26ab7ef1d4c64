/* normal.h: normal densities, and the standard normal to full precision in both tails. */
#ifndef SG_NORMAL_H
#define SG_NORMAL_H

/* log density of a normal distribution at `off` from its mean */
double sg_log_normal(double off, double var);
/* Phi(z), and *density its derivative */
double sg_Phi(double z, double *density);
/* log Phi(z) */
double sg_log_Phi(double z);
/* log Phi(z), its slope h(z) = phi(z)/Phi(z), and *curv = h (h + z) = -(log Phi)'' in (0, 1); one
 * rational function, at most one exponential and one logarithm for all three. */
double sg_log_Phi_slopes(double z, double *h, double *curv);

#endif
