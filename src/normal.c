#include <math.h>
#include <Rmath.h>
#include "normal.h"

double sg_log_Phi(double z)
{
    return Rf_pnorm5(z, 0, 1, 1, 1);
}

/* h + z for z < 0 by the continued fraction of Mills' ratio, x = -z:
 *   h - x = 1/(x + 2/(x + 3/(x + ...)))
 * Nothing cancels, so h (h + z) keeps all its digits where h itself is close to x.
 * 60 terms reach rounding level for x >= 5. Beyond 1e8 the first term is exact. */
static double hazard_excess(double x)
{
    enum { TERMS = 60 };
    if (x > 1e8) return 1 / x;
    double t = x;
    for (int k = TERMS; k >= 2; k--) t = x + k / t;
    return 1 / t;
}

double sg_hazard(double z, double *curv)
{
    if (z < -5) {
        const double excess = hazard_excess(-z), h = excess - z;
        *curv = h * excess;
        return h;
    }
    const double h = exp(-0.5 * z * z - M_LN_SQRT_2PI - sg_log_Phi(z));
    *curv = h * (h + z);
    return h;
}
