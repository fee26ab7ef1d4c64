/* lik_mixture.c: a term that is a sum of Gaussian factors of the w latent values z of a row, which
 * may each be divided by another: ambiguous measurements, contaminated ones, and the scaled
 * likelihoods of mixture density networks (thesis 5.32, 5.33). No hyperparameters. The data row
 * has, part after part, c, h[w] and the lower triangle of P (w (w + 1) / 2, column by column) of
 *
 *   p = sum_j exp(c_j - z'P_j z / 2 + h_j'z),
 *
 * P_j of any sign; a part that is not there has c = -Inf. At N(mu, S), with G_j = I + S P_j and
 * b = h_j - P_j mu (thesis F.2-F.9 without an inverse of S or P),
 *
 *   log s_j = c_j - log|G_j| / 2 - mu'P_j mu / 2 + h_j'mu + b'G_j^{-1}S b / 2,
 *   log Z = log sum s_j,  r_j = s_j / Z,  q_j = G_j^{-T} b,  R_j = -G_j^{-T} P_j,
 *   d1 = sum r_j q_j,  d2 = sum r_j R_j + sum r_j (q_j - d1)(q_j - d1)'.
 *
 * If a G_j has an eigenvalue that is not positive there is no integral: the part widens more
 * than the marginal can bear, and log Z is no number. A new response is the vector itself. */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "lik.h"

/* Counts the numbers of a part: c, h[w] and a triangle of P. */
static int part_size(int w)
{
    return 1 + w + w * (w + 1) / 2;
}

/* Has whole parts; none where there are no data rows. */
static int mixture_valid(const sg_lik *self)
{
    return self->q % part_size(self->w) == 0;
}

/* Counts the parts of a data row. */
static int parts_of(const sg_lik *self)
{
    return self->q / part_size(self->w);
}

/* Fills the symmetric P[w x w] from its lower triangle in a part. */
static void unpack(int w, const double *part, double *P)
{
    const double *packed = part + 1 + w;
    for (int j = 0; j < w; j++) {
        for (int i = j; i < w; i++) P[i + w * j] = P[j + w * i] = *packed++;
    }
}

/* Returns log(exp(a) + exp(b)); -Inf is the logarithm of an empty sum. */
static double log_add(double a, double b)
{
    const double most = fmax2(a, b);
    return most == -HUGE_VAL ? most : most + log1p(exp(-fabs(a - b)));
}

/* Returns c - z'P z / 2 + h'z of a part. */
static double log_part(int w, const double *part, const double *z)
{
    double P[SG_BLOCK_SIZE], Pz[SG_LIK_MAX_WIDTH], out = *part;
    unpack(w, part, P);
    sg_block_mv(w, P, z, Pz);
    for (int a = 0; a < w; a++) out += (part[1 + a] - 0.5 * Pz[a]) * z[a];
    return out;
}

/* Returns log p(z): the sum over the parts that have a weight. */
static double mixture_logp(const sg_lik *self, const double *y, const double *f)
{
    const int w = self->w, parts = parts_of(self);
    double out = -HUGE_VAL;
    for (int j = 0; j < parts; j++) {
        const double *part = y + part_size(w) * j;
        if (*part > -HUGE_VAL) out = log_add(out, log_part(w, part, f));
    }
    return out;
}

/* Returns log s, and q[w] and R[w x w] of a part; NaN where G has an eigenvalue that is not
 * positive. G^{-1} S and log|G| are a cavity's for a site of precision -P (block.h). O(w^3). */
static double tilt_part(int w, const double *part, const double *mu, const double *S, double *q,
                        double *R)
{
    double P[SG_BLOCK_SIZE], minus_P[SG_BLOCK_SIZE], cov[SG_BLOCK_SIZE];
    double minus_h[SG_LIK_MAX_WIDTH], mean[SG_LIK_MAX_WIDTH], b[SG_LIK_MAX_WIDTH], log_det;
    unpack(w, part, P);
    for (int k = 0; k < w * w; k++) minus_P[k] = -P[k];
    for (int a = 0; a < w; a++) minus_h[a] = -part[1 + a];
    if (!sg_block_cavity(w, mu, S, minus_P, minus_h, mean, cov, &log_det)) return NAN;
    sg_block_mv(w, P, mu, b);
    double out = log_part(w, part, mu) - 0.5 * log_det;
    for (int a = 0; a < w; a++) {
        b[a] = q[a] = part[1 + a] - b[a];
        out += 0.5 * b[a] * (mean[a] - mu[a]);
    }
    sg_copy(w * w, P, R);
    const double none[SG_LIK_MAX_WIDTH] = {0};
    sg_block_soften(w, none, S, R, q);
    for (int k = 0; k < w * w; k++) R[k] = -R[k];
    return out;
}

/* Sums over parts as they come, each of weight exp(log s - most). */
typedef struct {
    double most, weight, q[SG_LIK_MAX_WIDTH], R[SG_BLOCK_SIZE], qq[SG_BLOCK_SIZE];
} sums;

/* Adds a part to running means of q and R and to the running covariance of q. Weights are relative
 * to the largest log s so far. */
static void add_part(int w, double log_s, const double *q, const double *R, sums *at)
{
    const double before = at->most > log_s ? 1 : at->weight > 0 ? exp(at->most - log_s) : 0;
    const double own = at->most > log_s ? exp(log_s - at->most) : 1;
    at->most = fmax2(at->most, log_s);
    at->weight = before * at->weight + own;
    const double share = own / at->weight; /* running means, so nothing large cancels */
    double away[SG_LIK_MAX_WIDTH];
    for (int a = 0; a < w; a++) {
        away[a] = q[a] - at->q[a];
        at->q[a] += share * away[a];
    }
    for (int j = 0; j < w; j++) {
        for (int i = 0; i < w; i++) {
            const int k = i + w * j;
            at->R[k] += share * (R[k] - at->R[k]);
            at->qq[k] += share * ((1 - share) * away[i] * away[j] - at->qq[k]);
        }
    }
}

/* Computes log Z, d1 = mean q and d2 = mean R + Cov q over the parts; NaN if one has no
 * integral. */
static void mixture_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                         sg_tilt *out)
{
    const int w = self->w, parts = parts_of(self);
    double q[SG_LIK_MAX_WIDTH], R[SG_BLOCK_SIZE];
    sums at = {.most = -HUGE_VAL};
    int valid = 1;
    for (int j = 0; j < parts && valid; j++) {
        const double *part = y + part_size(w) * j;
        if (*part == -HUGE_VAL) continue;
        const double log_s = tilt_part(w, part, mu, S, q, R);
        valid = isfinite(log_s);
        if (valid) add_part(w, log_s, q, R, &at);
    }
    out->logz = valid ? at.most + log(at.weight) : NAN;
    sg_copy(w, at.q, out->d1);
    for (int k = 0; k < w * w; k++) out->d2[k] = at.R[k] + at.qq[k];
}

/* Copies the moments of the vector, which is the new response. */
static void mixture_predict(const sg_lik *self, const double *mu, const double *S, double *mean,
                            double *var)
{
    sg_copy(self->w, mu, mean);
    sg_copy(self->w * self->w, S, var);
}

static void mixture_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double none[SG_BLOCK_SIZE] = {0};
    mixture_predict(self, f, none, mean, var);
}

const sg_lik_type sg_lik_mixture = {
    .name = "mixture", .q = -1, .valid = mixture_valid,
    .logp = mixture_logp, .moments = mixture_moments,
    .tilt = mixture_tilt, .predict = mixture_predict
};
