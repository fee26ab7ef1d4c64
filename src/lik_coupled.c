/* lik_coupled.c: several classes whose latent values are not independent in the posterior: mprobit
 * and softmax as one site of C x C sees them (w = C, one process). y: class number 1..C. theta:
 * bias, one per class.
 *
 * Both are races: with v the winner's value, f_y plus noise, and z_c = f_c + bias_c - v
 *   P(y | f) = integral of prod_c t_c(z_c) dv,
 *   mprobit: t_y = N(z; 0, 1),        t_c = Phi(-z)
 *   softmax: t_y = exp(z - exp(z)),   t_c = exp(-exp(z))
 * all log-concave. The integral over v is taken by nodes (concave.h), and at each
 *   Z(v) = E prod_c t_c(z_c),  f ~ N(mu, S),
 * by expectation propagation inside the tilt, a site exp(-tau_c z^2 / 2 + nu_c z) for each factor
 * (Riihimaki, Jylanki and Vehtari 2013, who have v under the inner EP, too, which loses some
 * hundredths of a nat a row). With M = (S + T^{-1})^{-1}, m = mu + bias - v and b = nu - tau m,
 *   d log Z(v) / dmu = b - M S b = g(v),   d2 = -M,
 *   d1 = E g,   d2 = Cov g - E M
 * over the weights Z(v). log Z of EP is stationary in its sites, so these are the derivatives of
 * log Z that the outer EP and its evidence are made of: d1 in mu, (d2 + d1 d1') / 2 in S. Exact
 * where S is a multiple of I but for what all classes have in common, so for C = 2; else log Z is
 * good to some thousandths of a nat at variances near 1, and to some hundredths at large ones. */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "concave.h"
#include "gumbel_term.h"
#include "lik.h"
#include "normal.h"

extern const sg_lik_type sg_lik_mprobit, sg_lik_softmax;

/* The logarithm of E t(z), z ~ N(m, var), and its first and second derivative in m. */
typedef struct {
    double log, slope, curve;
} factor;

typedef factor (*factor_fn)(double m, double var, int own);

/* A race: C classes, and where the inner EP stands at the last v. */
typedef struct {
    int C, y;
    factor_fn factor_at;
    double S[SG_BLOCK_SIZE]; /* with_common() */
    double m[SG_BLOCK_MAX];  /* mu + bias */
    double v0, log0;
    double tau[SG_BLOCK_MAX], nu[SG_BLOCK_MAX];
    double logz, g[SG_BLOCK_MAX], M[SG_BLOCK_SIZE];
} race;

/* Computes E N(z; 0, 1) or E Phi(-z). */
static factor probit_factor(double m, double var, int own)
{
    const double sd = sqrt(1 + var);
    factor at = {sg_log_normal(m, 1 + var), -m / (1 + var), -1 / (1 + var)};
    if (own) return at;
    double h, curve;
    at.log = sg_log_Phi_slopes(-m / sd, &h, &curve);
    at.slope = -h / sd;
    at.curve = -curve / (1 + var);
    return at;
}

/* Computes E exp(z - exp z) or E exp(-exp z). */
static factor gumbel_factor(double m, double var, int own)
{
    const sg_gumbel_term at = sg_gumbel_term_at(m, var, own);
    const factor out = {at.log, at.slope, at.curve};
    return out;
}

/* ---- The inner EP ---- */

/* Holds what a sweep has of all factors. */
typedef struct {
    double mean[SG_BLOCK_MAX], var[SG_BLOCK_MAX]; /* posterior of z - m, under the sites */
    double left[SG_BLOCK_MAX];                    /* 1 - tau var, what is left without the site */
    double log_det;                               /* of (I + T^1/2 S T^1/2)^1/2 */
} marginals;

/* Computes M = T^1/2 B^{-1} T^1/2, B = I + T^1/2 S T^1/2, g, and the marginals: S - S M S, or where
 * the site has most of it, which cancels there, T^-1/2 (I - B^{-1}) T^-1/2. O(C^3). Returns 0 where
 * something is no number. */
static int inner_marginals(race *r, double v, marginals *now)
{
    const int C = r->C;
    double A[SG_BLOCK_SIZE], L[SG_BLOCK_SIZE], SM[SG_BLOCK_SIZE], b[SG_BLOCK_MAX], Sb[SG_BLOCK_MAX];
    for (int k = 0; k < C * C; k++) {
        A[k] = sqrt(r->tau[k % C] * r->tau[k / C]) * r->S[k] + (k % (C + 1) == 0);
    }
    if (!sg_block_cholesky(C, A, L)) return 0;
    sg_block_inverse(C, L, A);
    for (int k = 0; k < C * C; k++) r->M[k] = sqrt(r->tau[k % C] * r->tau[k / C]) * A[k];
    for (int c = 0; c < C; c++) b[c] = r->nu[c] - r->tau[c] * (r->m[c] - v);
    sg_block_mv(C, r->S, b, Sb);
    sg_block_mv(C, r->M, Sb, r->g);
    for (int c = 0; c < C; c++) r->g[c] = b[c] - r->g[c];
    sg_block_mv(C, r->S, r->g, now->mean);
    sg_block_multiply(C, r->S, r->M, SM);
    now->log_det = 0;
    for (int c = 0; c < C; c++) {
        now->left[c] = A[c * (C + 1)];
        now->var[c] = r->S[c + C * c];
        for (int k = 0; k < C; k++) now->var[c] -= SM[c + C * k] * r->S[k + C * c];
        if (now->left[c] < 0.5) now->var[c] = (1 - now->left[c]) / r->tau[c];
        now->log_det += log(L[c + C * c]);
    }
    return 1;
}

/* Sets each factor's site by its tilt at the cavity, `share` of the way. Returns how far the sites
 * were from a fixed point (as sg_sites_residual() has it), and in *logz log Z(v) under the old. */
static double inner_update(race *r, double v, const marginals *now, double share, double *logz)
{
    double change = 0;
    *logz = -now->log_det;
    for (int c = 0; c < r->C; c++) {
        const double left = now->left[c], var = fmax2(now->var[c], 0) / left;
        const double off = now->mean[c] - var * r->g[c], mean = r->m[c] - v + off;
        const factor t = r->factor_at(mean, var, c == r->y);
        const double D = 1 + var * t.curve;
        *logz += t.log - 0.5 * (log(left) + off * r->g[c]);
        change = fmax2(change, fabs(t.slope - r->g[c]) * sqrt(var));
        change = fmax2(change, fabs(t.curve + r->tau[c] * left) * var);
        if (!(D > 0)) continue;
        r->tau[c] += share * (fmax2(-t.curve / D, 0) - r->tau[c]);
        r->nu[c] += share * ((t.slope - mean * t.curve) / D - r->nu[c]);
    }
    return change;
}

/* Brings the inner EP to rest at v, from the sites of the last. At most MOST sweeps of O(C^3): the
 * first EAGER at once, then by halves. */
static void run_inner(race *r, double v)
{
    enum { MOST = 60, EAGER = 12 };
    const double REST = 1e-7; /* log Z moves by its square */
    marginals now;
    for (int sweep = 0; sweep < MOST; sweep++) {
        if (!inner_marginals(r, v, &now)) {
            r->logz = NAN;
            return;
        }
        const double change = inner_update(r, v, &now, sweep < EAGER ? 1 : 0.5, &r->logz);
        if (!(change > REST)) return;
    }
}

/* ---- The integral over v ---- */

/* Gives log Z(v0 + x) - log Z(v0), its slope and bend, as concave.h asks for them. */
static void race_at(double x, void *ctx, sg_concave_point *at)
{
    race *r = ctx;
    run_inner(r, r->v0 + x);
    at->value = r->logz - r->log0;
    at->slope = at->bend = 0;
    for (int c = 0; c < r->C; c++) at->slope -= r->g[c];
    for (int k = 0; k < r->C * r->C; k++) at->bend += r->M[k];
}

/* Newton from the largest mean to near the peak, where slope^2 is small beside bend; steps do not
 * leave what is known to bracket it, nor are they longer than `reach`. */
static void climb(race *r)
{
    enum { MOST = 100 };
    double left = -HUGE_VAL, right = HUGE_VAL, widest = 1;
    sg_concave_point at;
    r->v0 = r->m[0], r->log0 = 0;
    for (int c = 0; c < r->C; c++) {
        r->v0 = fmax2(r->v0, r->m[c]);
        widest = fmax2(widest, r->S[c * (r->C + 1)]);
        r->tau[c] = c == r->y, r->nu[c] = 0;
    }
    const double reach = 4 * sqrt(widest) + 1;
    for (int i = 0; i < MOST; i++) {
        race_at(0, r, &at);
        r->log0 = r->logz;
        if (!(at.slope * at.slope > 0.02 * at.bend)) return;
        if (at.slope > 0) left = r->v0;
        else right = r->v0;
        double next = r->v0 + fmax2(fmin2(at.slope / at.bend, reach), -reach);
        if (!(next > left && next < right)) next = 0.5 * (left + right);
        if (next == r->v0) return;
        r->v0 = next;
        r->log0 = 0;
    }
}

/* ---- What all classes have in common ---- */

/* Computes P A P, P = I - 1 1' / C: what A is of differences of classes. O(C^2). */
static void contrasts(int C, const double *A, double *out)
{
    double all = 0, row[SG_BLOCK_MAX] = {0};
    for (int k = 0; k < C * C; k++) row[k % C] += A[k] / C, all += A[k] / (C * C);
    for (int k = 0; k < C * C; k++) out[k] = A[k] - row[k % C] - row[k / C] + all;
}

/* A shift of all classes alike has no effect: Z is of P S P. What stands for the rest is left to
 * choose, and chosen as the mean of P S P's C - 1 eigenvalues, by which independent classes of one
 * variance stay so, and the inner EP is exact. */
static void with_common(int C, const double *S, double *out)
{
    double size = 0;
    contrasts(C, S, out);
    for (int c = 0; c < C; c++) size += out[c * (C + 1)];
    for (int k = 0; k < C * C; k++) out[k] += size / (C * (C - 1.0));
}

/* Turns the second derivatives for that covariance into those for S, by the chain rule: P d2 P +
 * 1'd2 1 P / (C (C - 1)). As little as LEAST of them is given to the shift of all classes, lest
 * rounding should make it a site that widens the posterior. */
static void of_contrasts(int C, double *d2)
{
    const double LEAST = 1e-9;
    double all = 0, size = 0, own[SG_BLOCK_SIZE];
    for (int k = 0; k < C * C; k++) all += d2[k] / (C * (C - 1.0)), own[k] = d2[k];
    contrasts(C, own, d2);
    for (int c = 0; c < C; c++) size -= d2[c * (C + 1)];
    for (int k = 0; k < C * C; k++) {
        d2[k] += all * ((k % (C + 1) == 0) - 1.0 / C) - LEAST * size;
    }
}

/* Lines the classes up at N(mu, S) and goes to the peak. */
static void start_race(const sg_lik *self, factor_fn factor_at, int y, const double *mu,
                       const double *S, race *r)
{
    r->C = self->w, r->y = y, r->factor_at = factor_at;
    with_common(r->C, S, r->S);
    for (int c = 0; c < r->C; c++) r->m[c] = sg_class_mean(mu[c] + self->theta[c]);
    climb(r);
}

/* Lays every other node of concave.h's rule, which leaves log Z six digits. */
static sg_concave_rule lay_nodes(race *r)
{
    sg_concave_rule rule = sg_concave_lay(race_at, r);
    const double length = rule.step * (rule.count - 1);
    if (rule.count < 3) return rule;
    rule.count = rule.count / 2 + 1;
    rule.step = length / (rule.count - 1);
    return rule;
}

/* Returns log Z of class y. */
static double log_z(const sg_lik *self, factor_fn factor_at, int y, const double *mu,
                    const double *S)
{
    race r;
    sg_concave_point at;
    double total = 0, weight;
    start_race(self, factor_at, y, mu, S, &r);
    const sg_concave_rule rule = lay_nodes(&r);
    for (int k = 0; k < rule.count; k++) {
        race_at(sg_concave_node(&rule, k, &weight), &r, &at);
        total += weight * exp(at.value);
    }
    return fmin2(r.log0 + log(total), 0);
}

/* Adds w a, and w (a a' - M) to d2, a = g less its value at the peak. O(C^2). */
static void add_node(const race *r, double w, const double *origin, double *d1, double *d2)
{
    const int C = r->C;
    double a[SG_BLOCK_MAX];
    for (int c = 0; c < C; c++) a[c] = r->g[c] - origin[c], d1[c] += w * a[c];
    for (int j = 0; j < C; j++) {
        for (int i = 0; i < C; i++) d2[i + C * j] += w * (a[i] * a[j] - r->M[i + C * j]);
    }
}

/* Some 25 nodes, at each of which EP is brought to rest by 2 to 5 sweeps of O(C^3). */
static void tilt(const sg_lik *self, factor_fn factor_at, const double *y, const double *mu,
                 const double *S, sg_tilt *out)
{
    const int C = self->w;
    race r;
    sg_concave_point at;
    double total = 0, weight, origin[SG_BLOCK_MAX];
    start_race(self, factor_at, (int) y[0] - 1, mu, S, &r);
    sg_copy(C, r.g, origin);
    sg_zero(C, out->d1), sg_zero(C * C, out->d2);
    const sg_concave_rule rule = lay_nodes(&r);
    for (int k = 0; k < rule.count; k++) {
        race_at(sg_concave_node(&rule, k, &weight), &r, &at);
        weight *= exp(at.value);
        total += weight;
        add_node(&r, weight, origin, out->d1, out->d2);
    }
    out->logz = fmin2(r.log0 + log(total), 0);
    for (int c = 0; c < C; c++) out->d1[c] /= total;
    for (int k = 0; k < C * C; k++) {
        out->d2[k] = out->d2[k] / total - out->d1[k % C] * out->d1[k / C];
    }
    for (int c = 0; c < C; c++) out->d1[c] += origin[c];
    of_contrasts(C, out->d2);
}

/* A bias moves log Z as its class's mean does. */
static void bias_of_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                         double *dpar)
{
    double d1[SG_BLOCK_MAX], d2[SG_BLOCK_SIZE];
    sg_tilt at = {.d1 = d1, .d2 = d2};
    self->type->tilt(self, y, mu, S, &at);
    for (int c = 0; c < self->w; c++) dpar[c] += d1[c];
}

/* ---- Responses ---- */

/* Makes the covariance of the indicators of all classes, diag(p) - p p', of p that sum to 1. */
static void indicator_covariance(int C, const double *p, double *var)
{
    for (int k = 0; k < C * C; k++) var[k] = (k % (C + 1) == 0) * p[k % C] - p[k % C] * p[k / C];
}

/* A log Z for every class, divided by their sum. */
static void predict(const sg_lik *self, factor_fn factor_at, const double *mu, const double *S,
                    double *mean, double *var)
{
    double sum = 0;
    for (int c = 0; c < self->w; c++) sum += mean[c] = exp(log_z(self, factor_at, c, mu, S));
    for (int c = 0; c < self->w; c++) mean[c] /= sum;
    indicator_covariance(self->w, mean, var);
}

/* Has a bias for each of its classes. */
static int coupled_valid(const sg_lik *self)
{
    return self->npar == self->w;
}

/* Returns the same likelihood as independent latent values have it: at f both are one. */
static sg_lik apart(const sg_lik *self, const sg_lik_type *type)
{
    const sg_lik lik = {.type = type, .theta = self->theta, .C = self->w, .w = 1, .npar = 1,
                        .q = 1};
    return lik;
}

/* Computes the C probabilities given f. */
static void moments(const sg_lik *self, const sg_lik_type *type, const double *f, double *mean,
                    double *var)
{
    const sg_lik lik = apart(self, type);
    double own[SG_BLOCK_MAX];
    type->moments(&lik, f, mean, own);
    indicator_covariance(self->w, mean, var);
}

/* The slots of one likelihood: its factors, and what it is where latent values are known. */
#define COUPLED(id, factor_at)                                                                    \
    static void id##_tilt(const sg_lik *self, const double *y, const double *mu, const double *S, \
                          sg_tilt *out)                                                           \
    {                                                                                             \
        tilt(self, factor_at, y, mu, S, out);                                                     \
    }                                                                                             \
    static void id##_predict(const sg_lik *self, const double *mu, const double *S, double *mean, \
                             double *var)                                                         \
    {                                                                                             \
        predict(self, factor_at, mu, S, mean, var);                                               \
    }                                                                                             \
    static double id##_logp(const sg_lik *self, const double *y, const double *f)                 \
    {                                                                                             \
        const sg_lik lik = apart(self, &sg_lik_##id);                                             \
        return sg_lik_##id.logp(&lik, y, f);                                                      \
    }                                                                                             \
    static void id##_moments(const sg_lik *self, const double *f, double *mean, double *var)      \
    {                                                                                             \
        moments(self, &sg_lik_##id, f, mean, var);                                                \
    }                                                                                             \
    const sg_lik_type sg_lik_coupled_##id = {                                                     \
        .name = "coupled_" #id, .q = 1, .npar = 0, .width = 0, .concave = 1, .par = {"bias"},     \
        .labels = 1, .valid = coupled_valid,                                                      \
        .logp = id##_logp, .moments = id##_moments, .tilt = id##_tilt,                            \
        .tilt_dpar = bias_of_tilt, .predict = id##_predict                                        \
    };

COUPLED(mprobit, probit_factor)
COUPLED(softmax, gumbel_factor)
