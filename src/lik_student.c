/* lik_student.c: (y - f) / scale is Student-t with df = 2 + exp(theta[1]) degrees of freedom, so
 * that the noise has a variance, scale^2 df / (df - 2). theta: log scale, log(df - 2).
 *   log p(y|f) = log Gamma((df + 1) / 2) - log Gamma(df / 2) - log(pi df scale^2) / 2
 *                - (df + 1) / 2 log(1 + (y - f)^2 / (df scale^2))
 *
 * Not log-concave: beyond scale sqrt(df) from y the second derivative is positive, and with a
 * marginal far from y there may be two modes, one at either. The quadrature has breakpoints around
 * both. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "logs.h"
#include "lgamma_ratio.h"

static double scale_of(const sg_lik *self)
{
    return exp(sg_log_within(self->theta[0]));
}

static double df_of(const sg_lik *self)
{
    return 2 + exp(sg_log_within(self->theta[1]));
}

/* of the density: Gamma((df + 1) / 2) / (Gamma(df / 2) sqrt(pi df) scale) */
static double log_constant(const sg_lik *self)
{
    const double df = df_of(self);
    return sg_lgamma_ratio(0.5 * df, 0.5) - M_LN_SQRT_2PI - sg_log_within(self->theta[0]);
}

/* log(1 + q^2) */
static double log1p_square(double q)
{
    return fabs(q) > 1e8 ? 2 * log(fabs(q)) : log1p(q * q);
}

static void student_logps(const sg_lik *self, const double *y, int n, const double *f,
                          double *out)
{
    const double df = df_of(self), unit = scale_of(self) * sqrt(df), at_0 = log_constant(self);
    for (int i = 0; i < n; i++) {
        out[i] = at_0 - 0.5 * (df + 1) * log1p_square((y[0] - f[i]) / unit);
    }
}

static double student_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    student_logps(self, y, 1, f, &out);
    return out;
}

static void student_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double scale = scale_of(self);
    *mean = *f;
    *var = scale * scale * df_of(self) * exp(-sg_log_within(self->theta[1]));
}

static void student_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = y ? y[0] : 0;
    *width = y ? scale_of(self) : 1;
}

/* With q = r / (scale sqrt(df)), r = y - f: l' = (df + 1) q / (1 + q^2) / (scale sqrt(df)) */
static void student_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const double df = df_of(self), unit = scale_of(self) * sqrt(df), q = (y[0] - f) / unit;
    const double share = 1 / (1 + q * q); /* 0 where q^2 overflows */
    out[0] = (df + 1) / unit * (fabs(q) < 1e8 ? q * share : 1 / q);
    out[1] = -(df + 1) / unit / unit * share * (2 * share - 1);
}

static void student_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    student_moments(self, mu, mean, var);
    *var += *s2;
}

/* The noise is normal, of variance scale^2 / v, df v of a chi-squared distribution: at log v. */
typedef struct {
    double away, s2, scale2, half_df;
} scale_mixture;

static void given_precision(double log_v, const void *ctx, double *log_density, double *tails)
{
    const scale_mixture *m = ctx;
    *log_density = m->half_df * (log_v - expm1(log_v));
    pnorm_both(m->away / sqrt(m->s2 + m->scale2 * exp(-log_v)), tails, tails + 1, 2, 0);
}

static void student_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          double *out)
{
    const double NORMAL = 1e12, scale = scale_of(self); /* a df from which on it is */
    const scale_mixture m = {y[0] - *mu, *s2, scale * scale, 0.5 * fmin2(df_of(self), NORMAL)};
    sg_mean_tails(given_precision, &m, 0, fmin2(0.6 / sqrt(m.half_df), 0.25), out);
}

const sg_lik_type sg_lik_student = {
    .name = "student", .q = 1, .npar = 2, .width = 1,
    .par = {"scale", "df"},
    .logp = student_logp, .moments = student_moments, .locate = student_locate,
    .slopes = student_slopes, .logps = student_logps, .predict = student_predict,
    .tails = student_tails
};
