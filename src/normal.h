/* normal.h: the standard normal to full precision in both tails. */
#ifndef SG_NORMAL_H
#define SG_NORMAL_H

/* log Phi(z) */
double sg_log_Phi(double z);
/* h(z) = phi(z)/Phi(z), the slope of log Phi; *curv = h (h + z) = -(log Phi)'' in (0, 1) */
double sg_hazard(double z, double *curv);

#endif
