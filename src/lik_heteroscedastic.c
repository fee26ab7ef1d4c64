/* lik_heteroscedastic.c: a number whose mean u and whose spread exp(g) are both unknown, y ~ N(u,
 * noise exp(2 g)); a site sees f = (u, g). theta: the log noise variance.
 *
 * Given g the integral over u is closed: with b = S_12 / S_22 and left = S_11 - b S_12
 *   y | g ~ N(mu_1 + b (g - mu_2), v),  v = left + E,  E = noise exp(2 g),
 * and that over g is had by quadrature. With e = y - mu_1 - b (g - mu_2), rho = E / v, z = e^2 / v
 * its logarithm l has the derivatives in mu, g - mu_2 held,
 *   p = e / v,  s = rho (z - 1),  l_11 = -1 / v,  l_12 = -2 p rho,
 *   l_22 = 2 rho (z - 1) + 2 rho^2 (1 - 2 z),
 * so d1 = E (p, s) and d2 = E [(p, s)(p, s)' + l''] - d1 d1' over the tilted g: nothing is divided
 * by S. dlogZ/dtheta = E s / 2. Not log-concave. The "new response" has g beside it. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "normal.h"
#include "quad.h"

typedef struct {
    double away; /* y - mu_1 */
    double mu, b, left, theta;
} row;

/* Returns E = noise exp(2 g), bounded to what doubles hold. */
static double spread_at(double theta, double g)
{
    const double LARGEST = 600;
    return exp(fmax2(fmin2(theta + 2 * g, LARGEST), -LARGEST));
}

/* Returns log p(y | g) = log N(e; 0, v), the integrand over g. */
static double log_density(double g, const row *r)
{
    const double v = r->left + spread_at(r->theta, g), e = r->away - r->b * (g - r->mu);
    return sg_log_normal(e, v);
}

static void log_densities(int n, const double *g, const void *ctx, double *out)
{
    for (int i = 0; i < n; i++) out[i] = log_density(g[i], ctx);
}

enum { P, S, PP, PS, SS, VALUES };

/* Computes the values whose expectations make d1 and d2: p, s, p^2 + l_11, p s + l_12 and s^2 +
 * l_22, of VALUES numbers. */
static void derivatives(double g, const void *ctx, double *out)
{
    const row *r = ctx;
    const double E = spread_at(r->theta, g), v = r->left + E;
    const double e = r->away - r->b * (g - r->mu), rho = E / v, z = e / v * e;
    out[P] = e / v;
    out[S] = rho * (z - 1);
    out[PP] = out[P] * out[P] - 1 / v;
    out[PS] = out[P] * out[S] - 2 * out[P] * rho;
    out[SS] = out[S] * out[S] + 2 * out[S] + 2 * rho * rho * (1 - 2 * z);
}

/* Regresses u on g: b = S_12 / S_22 and left = S_11 - b S_12. Where g has no variance u keeps all
 * of its own. */
static row row_of(const sg_lik *self, const double *y, const double *mu, const double *cov)
{
    row r = {.away = *y - mu[0], .mu = mu[1], .theta = *self->theta, .left = cov[0]};
    if (sg_is_point(cov[3])) return r;
    r.b = cov[1] / cov[3], r.left = fmax2(cov[0] - r.b * cov[1], 0);
    return r;
}

/* Returns log Z, and in expect[VALUES] the expectations of derivatives() over the tilted g, by one
 * quadrature (quad.h). Where S_22 is 0 both are values at mu_2. */
static double integrate(const sg_lik *self, const double *y, const double *mu, const double *cov,
                        double *expect)
{
    const row r = row_of(self, y, mu, cov);
    const int point = sg_is_point(cov[3]);
    derivatives(mu[1], &r, expect);
    if (point || isnan(mu[0] + mu[1] + cov[0] + cov[1] + cov[3])) return log_density(mu[1], &r);
    /* where E is what is left of the distance, or begins to matter beside `left` */
    const double works = fmax2(fmax2(r.away * r.away - r.left, r.left), 1e-200);
    const double scale = 1 / fmax2(r.left + spread_at(r.theta, mu[1]), 1e-200);
    sg_quad_problem problem = {.mu = mu[1], .s2 = cov[3], .logf = log_densities, .k = VALUES,
                               .values = derivatives, .ctx = &r, .width = 0.5,
                               .centre = 0.5 * (log(works) - r.theta),
                               .size = {sqrt(scale), 1, scale, sqrt(scale), 1}};
    sg_quad_result result;
    sg_quad(&problem, &result);
    sg_copy(VALUES, result.expect, expect);
    return result.logz;
}

/* Computes d1 = (E p, E s) and d2[2 x 2] from the expectations. */
static void heteroscedastic_tilt(const sg_lik *self, const double *y, const double *mu,
                                 const double *cov, sg_tilt *out)
{
    double expect[VALUES];
    out->logz = integrate(self, y, mu, cov, expect);
    out->d1[0] = expect[P];
    out->d1[1] = expect[S];
    out->d2[0] = expect[PP] - expect[P] * expect[P];
    out->d2[1] = out->d2[2] = expect[PS] - expect[P] * expect[S];
    out->d2[3] = expect[SS] - expect[S] * expect[S];
}

/* Adds dlogZ/dlog noise = E s / 2: theta moves E as 2 g does. */
static void heteroscedastic_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                                      const double *cov, double *dpar)
{
    double expect[VALUES];
    integrate(self, y, mu, cov, expect);
    *dpar += 0.5 * expect[S];
}

/* Returns log p(y | u, g): the integrand at S = 0. */
static double heteroscedastic_logp(const sg_lik *self, const double *y, const double *f)
{
    const row r = {.away = *y - f[0], .mu = f[1], .theta = *self->theta};
    return log_density(f[1], &r);
}

/* Adds the mean noise, E exp(2 g) = exp(2 mu_2 + 2 S_22), to the variance of u. */
static void heteroscedastic_predict(const sg_lik *self, const double *mu, const double *cov,
                                    double *mean, double *var)
{
    sg_copy(2, mu, mean);
    sg_copy(4, cov, var);
    var[0] += spread_at(*self->theta, mu[1] + cov[3]);
}

static void heteroscedastic_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double none[4] = {0};
    heteroscedastic_predict(self, f, none, mean, var);
}

/* Given g, t standard deviations off its mean. */
typedef struct {
    row r;
    double sd;
} spread_mixture;

static void given_spread(double t, const void *ctx, double *log_density, double *tails)
{
    const spread_mixture *m = ctx;
    const double off = m->sd * t, total = m->r.left + spread_at(m->r.theta, m->r.mu + off);
    *log_density = -0.5 * t * t;
    pnorm_both((m->r.away - m->r.b * off) / sqrt(total), tails, tails + 1, 2, 0);
}

/* Computes P(Y <= y) and P(Y > y) as means over g of normal tails. Steps are as short as the bends
 * of exp(g) need, and the slope of the mean on the way to y. */
static void heteroscedastic_tails(const sg_lik *self, const double *y, const double *mu,
                                  const double *cov, double *out)
{
    const spread_mixture m = {row_of(self, y, mu, cov), sg_is_point(cov[3]) ? 0 : sqrt(cov[3])};
    const double REACH = 8.5, slope = m.r.b * m.sd;
    const double passed = slope == 0 ? 0 : fmax2(fmin2(m.r.away / slope, REACH), -REACH);
    const double total = m.r.left + spread_at(m.r.theta, m.r.mu + fmin2(m.sd * passed, 0));
    const double step = fmin2(0.6 / hypot(1, slope / sqrt(total)), 0.15 / m.sd);
    sg_mean_tails(given_spread, &m, 0, m.sd > 0 ? step : 0, out);
}

const sg_lik_type sg_lik_heteroscedastic = {
    .name = "heteroscedastic", .q = 1, .npar = 1, .width = 2, .par = {"noise"},
    .logp = heteroscedastic_logp, .moments = heteroscedastic_moments,
    .tilt = heteroscedastic_tilt, .tilt_dpar = heteroscedastic_tilt_dpar,
    .predict = heteroscedastic_predict, .tails = heteroscedastic_tails
};
