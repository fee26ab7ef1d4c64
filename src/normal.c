/* normal.c: log Phi and its slopes from rational approximations by Cody (1969, Rational Chebyshev
 * approximations for the error function, Mathematics of Computation 23), in the form of his ANORM
 * (SPECFUN). Each leaves exp(-z^2/2) out, which logarithms and slopes need not have put in.
 *
 * Three intervals, each with its own ratio of polynomials: |z| <= 0.67449, up to sqrt 32, and
 * beyond. Relative errors are about 1e-16 throughout; a call costs one exponential and one
 * logarithm. */
#include <math.h>
#include <Rmath.h>
#include "normal.h"

static const double CENTRE_END = 0.67448975, FAR = 5.656854249492380195;

/* Phi(z) - 1/2 = z P(z^2) / Q(z^2) for |z| <= CENTRE_END */
static const double CENTRE_P[] = {
    0.065682337918207449113, 2.2352520354606839287, 161.02823106855587881, 1067.6894854603709582,
    18154.981253343561249
};
static const double CENTRE_Q[] = {
    1, 47.20258190468824187, 976.09855173777669322, 10260.932208618978205, 45507.789335026729956
};
/* Phi(-x) exp(x^2 / 2) = P(x) / Q(x) for CENTRE_END < x < FAR */
static const double TAIL_P[] = {
    1.0765576773720192317e-8, 0.39894151208813466764, 8.8831497943883759412,
    93.506656132177855979, 597.27027639480026226, 2494.5375852903726711, 6848.1904505362823326,
    11602.651437647350124, 9842.7148383839780218
};
static const double TAIL_Q[] = {
    1, 22.266688044328115691, 235.38790178262499861, 1519.377599407554805, 6485.558298266760755,
    18615.571640885098091, 34900.952721145977266, 38912.003286093271411, 19685.429676859990727
};
/* t x^2 phi(0) = P(s) / Q(s), s = 1 / x^2, for x >= FAR (far_share()) */
static const double FAR_P[] = {
    0.02307344176494017303, 0.21589853405795699, 0.1274011611602473639, 0.022235277870649807,
    0.001421619193227893466, 2.9112874951168792e-5
};
static const double FAR_Q[] = {
    1, 1.28426009614491121, 0.468238212480865118, 0.0659881378689285515, 0.00378239633202758244,
    7.29751555083966205e-5
};

enum { CENTRE_DEGREE = 4, TAIL_DEGREE = 8, FAR_DEGREE = 5 };

/* Evaluates P(x) / Q(x) by Horner's rule, highest powers first. */
static inline double ratio(int degree, const double *P, const double *Q, double x)
{
    double p = P[0], q = Q[0];
    for (int k = 1; k <= degree; k++) p = p * x + P[k], q = q * x + Q[k];
    return p / q;
}

/* Returns exp(-z^2/2) to the last digit: z^2 itself would round z^2/2 eps away. high^2 is exact. */
static double bell(double z)
{
    if (fabs(z) > 39) return 0; /* less than any double */
    const double high = (float) z, t = 0.5 * (z - high) * (z + high);
    return exp(-0.5 * high * high) * (1 - t * (1 - t / 2 * (1 - t / 3)));
}

/* Returns t in Phi(-x) = phi(x) (1 - t) / x, x >= FAR: the asymptotic series's remainder. */
static double far_share(double x)
{
    const double s = 1 / (x * x);
    return s * ratio(FAR_DEGREE, FAR_P, FAR_Q, s) / M_1_SQRT_2PI;
}

/* Returns Phi(-x) / exp(-x^2/2), x > CENTRE_END. */
static double tail(double x)
{
    if (x < FAR) return ratio(TAIL_DEGREE, TAIL_P, TAIL_Q, x);
    return M_1_SQRT_2PI * (1 - far_share(x)) / x;
}

/* Returns h(-x) - x, factor = tail(x): h (h + z) needs it to the last digit, and far out a
 * difference of h and x has no digits left. */
static double hazard_excess(double x, double factor)
{
    if (x < FAR) return M_1_SQRT_2PI / factor - x;
    const double t = far_share(x);
    return x > 1e8 ? 1 / x : x * t / (1 - t);
}

/* Returns log Phi(z), with h = phi(z) / Phi(z) and curv = h (h + z), minus its second derivative.
 * For z < 0 nothing underflows: exp(-z^2 / 2) cancels in h, and the logarithm adds it back. */
double sg_log_Phi_slopes(double z, double *h, double *curv)
{
    double Phi, logs;
    if (z < -CENTRE_END) {
        const double factor = tail(-z), excess = hazard_excess(-z, factor);
        *h = excess - z;
        *curv = *h * excess;
        return log(factor) - 0.5 * z * z;
    }
    const double phi = bell(z);
    if (z > CENTRE_END) {
        const double above = phi * tail(z);
        Phi = 1 - above;
        logs = log1p(-above);
    } else {
        Phi = 0.5 + z * ratio(CENTRE_DEGREE, CENTRE_P, CENTRE_Q, z * z);
        logs = log(Phi);
    }
    *h = M_1_SQRT_2PI * phi / Phi;
    *curv = *h * (*h + z);
    return logs;
}

/* Returns log Phi(z) alone. */
double sg_log_Phi(double z)
{
    double h, curv;
    return sg_log_Phi_slopes(z, &h, &curv);
}

/* Returns Phi(z), and in *density phi(z): one exponential for both. */
double sg_Phi(double z, double *density)
{
    const double phi = bell(z), x = fabs(z);
    *density = M_1_SQRT_2PI * phi;
    if (x <= CENTRE_END) return 0.5 + z * ratio(CENTRE_DEGREE, CENTRE_P, CENTRE_Q, z * z);
    const double beyond = phi * tail(x);
    return z > 0 ? 1 - beyond : beyond;
}

/* Returns log N(off; 0, var); off is divided before it is squared, which could overflow. */
double sg_log_normal(double off, double var)
{
    return -M_LN_SQRT_2PI - 0.5 * (log(var) + off / var * off);
}
