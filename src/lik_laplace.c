/* lik_laplace.c: p(y|f) = exp(-|y - f| / scale) / (2 scale). theta: log scale.
 *
 * The tilt is the sum of two truncated normals, A below y and B above it. With m = mu - y,
 * s = sqrt(s2), zA = -m/s - s/scale, zB = m/s - s/scale:
 *   2 scale Z = A + B,  log A = m/scale + s2/(2 scale^2) + log Phi(zA), B the same with -m and zB.
 * As phi(zA)/Phi(zA) A = phi(zB)/Phi(zB) B what is left of the derivatives is short. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "logs.h"
#include "normal.h"

static double scale_of(const sg_lik *self)
{
    return exp(sg_log_within(self->theta[0]));
}

static double laplace_logp(const sg_lik *self, const double *y, const double *f)
{
    return -M_LN2 - sg_log_within(self->theta[0]) - fabs(y[0] - *f) / scale_of(self);
}

static void laplace_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    *mean = *f;
    *var = 2 * scale_of(self) * scale_of(self);
}

static void laplace_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = y ? y[0] : 0;
    *width = y ? scale_of(self) : 1;
}

static void laplace_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    out[0] = sign(y[0] - f) / scale_of(self);
    out[1] = 0;
}

/* One of the two: its logarithm; `own`, that without -(m/s)^2/2, which both have; and what a
 * truncated normal's mean lies beyond its bound, z + phi(z)/Phi(z). */
typedef struct {
    double log, own, beyond;
} half;

/* `away`: m or -m. Where z < 0 terms of s2/scale^2 cancel and are left out. */
static half half_line(double away, double s, double b)
{
    const double z = -away / s - s / b, m = away / s;
    double h, curv;
    const double log_Phi = sg_log_Phi_slopes(z, &h, &curv);
    const double own = z < 0 ? -M_LN_SQRT_2PI - log(h) : 0.5 * z * z + log_Phi;
    const double whole = z < 0 ? own - 0.5 * m * m : away / b + 0.5 * (s / b) * (s / b) + log_Phi;
    return (half) {whole, own, h > 0 ? curv / h : z};
}

/* log Z, log A - log B, and what lies beyond either; sums: A's and B's shares */
typedef struct {
    double logz, odds, beyond_A, beyond_B, share_A, share_B;
} halves;

static halves split(const sg_lik *self, const double *y, double mu, double s)
{
    const double b = scale_of(self), m = mu - y[0];
    const half A = half_line(m, s, b), B = half_line(-m, s, b);
    const double odds = A.own - B.own, top = fmax2(A.log, B.log);
    const double logz = top + log1p(exp(-fabs(odds))) - M_LN2 - sg_log_within(self->theta[0]);
    return (halves) {logz, odds, A.beyond, B.beyond, 1 / (1 + exp(-odds)), 1 / (1 + exp(odds))};
}

static void laplace_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         sg_tilt *out)
{
    const double b = scale_of(self), s = sqrt(*s2);
    if (sg_is_point(*s2)) {
        out->logz = laplace_logp(self, y, mu);
        *out->d1 = sign(y[0] - *mu) / b;
        *out->d2 = 0;
        return;
    }
    const halves h = split(self, y, *mu, s);
    out->logz = h.logz;
    *out->d1 = tanh(0.5 * h.odds) / b;
    *out->d2 = -2 * h.share_A * h.share_B * (h.beyond_A + h.beyond_B) / (b * s);
}

static void laplace_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                              const double *s2, double *dpar)
{
    const double b = scale_of(self), s = sqrt(*s2);
    if (sg_is_point(*s2)) {
        dpar[0] += fabs(y[0] - *mu) / b - 1;
        return;
    }
    const halves h = split(self, y, *mu, s);
    dpar[0] += s / b * (h.share_A * h.beyond_A + h.share_B * h.beyond_B) - 1;
}

static void laplace_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    laplace_moments(self, mu, mean, var);
    *var += *s2;
}

/* The distribution function of normal plus Laplace: Phi(r/s) and halves of A and B at r from mu. */
static void laplace_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          double *out)
{
    const double b = scale_of(self), s = fmax2(sqrt(*s2), 1e-9 * b), r = y[0] - *mu;
    const double half = 0.5 * (exp(half_line(r, s, b).log) - exp(half_line(-r, s, b).log));
    pnorm_both(r / s, out, out + 1, 2, 0);
    out[0] = fmax2(out[0] + half, 0);
    out[1] = fmax2(out[1] - half, 0);
}

const sg_lik_type sg_lik_laplace = {
    .name = "laplace", .q = 1, .npar = 1, .width = 1, .kinked = 1,
    .par = {"scale"},
    .logp = laplace_logp, .moments = laplace_moments, .locate = laplace_locate,
    .slopes = laplace_slopes, .tilt = laplace_tilt, .tilt_dpar = laplace_tilt_dpar,
    .predict = laplace_predict, .tails = laplace_tails
};
