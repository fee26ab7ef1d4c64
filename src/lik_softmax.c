/* lik_softmax.c: several classes, P(y | f) = exp(f_y + bias_y) / sum_c exp(f_c + bias_c). y: class
 * number 1..C. theta: bias, one per class.
 *
 * With q_c = exp(f_c + bias_c - v), P(y | f) = integral of q_y exp(-q_y) prod_{j != y} exp(-q_j)
 * dv over the line (v is the largest of f_c + bias_c + Gumbel noise). Given v the classes are
 * independent, so for f ~ N(mu, s2) and any C
 *   Z = integral exp(G(v)) dv,  G = log E(q_y exp(-q_y)) + sum_{j != y} log E exp(-q_j),
 * an outer integral of C inner ones, each of a log-concave function of one variable. With l_c the
 * derivative in mu_c of class c's term (falling in mu_c, so rising in v), G' = -sum_c l_c, and E
 * and Cov over the normalised outer integrand,
 *   d1_c = E l_c,  d2_c = E l'_c + Var l_c = Cov(l_c, G' + l_c) <= 0
 * by parts, and the second derivatives across classes are Cov(l_b, l_c) >= 0. On a grid that all
 * classes share this takes some 150 C exponentials (gumbel.h); where they lie too far apart for
 * one, integral by integral, some 40 x 40 C.
 *
 * Two classes alone are the logistic of their difference, P(y | f) = 1 / (1 + exp(-g)), of which
 * one integral gives all. */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "concave.h"
#include "gumbel.h"
#include "gumbel_term.h"
#include "lik.h"

extern const sg_lik_type sg_lik_logit;

/* All classes; the line's origin is v0, near the peak of G. */
typedef struct {
    int C, y;
    const double *s2;
    double v0, log0, q; /* q: sum of E q, 1 at the peak */
    double m[SG_LIK_MAX_CLASSES], slope0[SG_LIK_MAX_CLASSES], dslope[SG_LIK_MAX_CLASSES];
    double curve[SG_LIK_MAX_CLASSES];
} crowd;

/* Computes G(v0 + x) - G(v0), G' and -G'', and of each class the change of its slope from v0 and
 * its l'. O(C) inner integrals. */
static void crowd_at(double x, void *ctx, sg_concave_point *at)
{
    crowd *all = ctx;
    double value = 0, slope = 0, bend = 0;
    all->q = 0;
    for (int c = 0; c < all->C; c++) {
        const sg_gumbel_term t = sg_gumbel_term_at(all->m[c] - all->v0 - x,
                                                   sg_class_var(all->s2[c]), c == all->y);
        value += t.log, slope -= t.slope, bend -= t.curve;
        all->curve[c] = t.curve;
        all->dslope[c] = t.slope - all->slope0[c], all->q += t.q;
    }
    at->value = value - all->log0;
    at->slope = slope;
    at->bend = bend;
}

/* Returns log sum_c exp(m_c), relative to the largest, which cannot overflow. */
static double log_sum_exp(int C, const double *m)
{
    double top = m[0], sum = 0;
    for (int c = 1; c < C; c++) top = fmax2(top, m[c]);
    for (int c = 0; c < C; c++) sum += exp(m[c] - top);
    return top + log(sum);
}

/* Newton for sum_c E q_c = 1, where G' = 0: the sum is convex in v, so from the left it does not
 * jump over, and its logarithm is nearly concave, so from the right that one hardly does. Bisection
 * where this leaves what is known to hold the peak, or is slow. Close is close enough. */
static void climb(crowd *all)
{
    enum { MOST = 60 };
    double left = -HUGE_VAL, right = HUGE_VAL, reach = 1;
    sg_concave_point at;
    all->v0 = log_sum_exp(all->C, all->m), all->log0 = 0;
    sg_zero(all->C, all->slope0);
    for (int i = 0; i < MOST; i++) {
        crowd_at(0, all, &at);
        if (at.slope * at.slope < 0.02 * at.bend) break;
        if (at.slope > 0) left = all->v0;
        else right = all->v0;
        const double step = at.slope > 0 ? at.slope : all->q * log(all->q);
        double next = all->v0 + step / at.bend;
        if (!(next > left && next < right) || i % 8 == 7) {
            next = right - left < HUGE_VAL ? 0.5 * (left + right)
                                           : all->v0 + (at.slope > 0 ? reach : -reach);
            reach *= 2;
        }
        if (next == all->v0) break;
        all->v0 = next;
    }
    all->log0 = at.value;
    sg_copy(all->C, all->dslope, all->slope0);
}

/* Takes the classes' means and variances and places the line's origin near the peak. */
static void gather_crowd(const sg_lik *self, int y, const double *mu, const double *s2, crowd *all)
{
    all->C = self->C, all->y = y, all->s2 = s2;
    for (int c = 0; c < self->C; c++) all->m[c] = sg_class_mean(mu[c] + self->theta[c]);
    climb(all);
}

/* Returns log P(y|f) = f_y + bias_y - log sum_c exp(f_c + bias_c). */
static double softmax_logp(const sg_lik *self, const double *y, const double *f)
{
    double m[SG_LIK_MAX_CLASSES];
    for (int c = 0; c < self->C; c++) m[c] = f[c] + self->theta[c];
    return fmin2(m[(int) y[0] - 1] - log_sum_exp(self->C, m), 0);
}

/* Two classes: log Z, d1, d2 of the logistic of own class less the other one. Returns 0 where their
 * variances are of no one size, and ratios of them no numbers to work with. */
static int tilt_of_difference(const sg_lik *self, int own, const double *mu, const double *s2,
                              double *logz, double *d1, double *d2)
{
    const double APART = 1e6, WIN = 1, none = 0;
    const sg_lik logistic = {.type = &sg_lik_logit, .theta = &none, .C = 1, .w = 1, .npar = 1,
                             .q = 1};
    sg_tilt at = {0, d1, d2, 0, 0};
    if (self->C != 2 || !(s2[0] <= APART * s2[1] && s2[1] <= APART * s2[0])) return 0;
    const double gap = mu[own] + self->theta[own] - mu[1 - own] - self->theta[1 - own];
    const double mean = sg_class_mean(gap), var = sg_class_var(s2[0] + s2[1]);
    sg_lik_tilt(&logistic, &WIN, &mean, &var, &at);
    *logz = fmin2(at.logz, 0), *d2 = fmin2(*d2, 0); /* but for rounding */
    return 1;
}

/* Returns log Z of class y by one outer integral, O(C) inner ones at each of its nodes. */
static double log_z(const sg_lik *self, int y, const double *mu, const double *s2)
{
    crowd all;
    sg_concave_point at;
    double total = 0, weight, log_two, d1, d2;
    if (tilt_of_difference(self, y, mu, s2, &log_two, &d1, &d2)) return log_two;
    gather_crowd(self, y, mu, s2, &all);
    const sg_concave_rule rule = sg_concave_lay(crowd_at, &all);
    for (int k = 0; k < rule.count; k++) {
        crowd_at(sg_concave_node(&rule, k, &weight), &all, &at);
        total += weight * exp(at.value);
    }
    return fmin2(all.log0 + log(total), 0);
}

/* Holds what a tilt adds up over v: weights, and with a_c = l_c less its value where the integral
 * has its origin, d1 of w a, d2 of w a (G' + a), own of w l'. */
typedef struct {
    double total, slope;
    double common[SG_LIK_MAX_CLASSES];
} sums;

/* Clears what is summed over the nodes. */
static void begin_sums(const sg_lik *self, sums *s, sg_tilt *out)
{
    const int C = self->C;
    s->total = s->slope = 0;
    for (int c = 0; c < C; c++) out->d1[c] = out->d2[c] = s->common[c] = 0;
    if (out->own) sg_zero(C, out->own);
    if (out->cross) sg_zero((size_t) C * C, out->cross);
}

/* slope: G' at the node; a[C], curve[C]: the classes' */
static void add_to_sums(const sg_lik *self, sums *s, double w, double slope, const double *a,
                        const double *curve, sg_tilt *out)
{
    for (int c = 0; c < self->C; c++) {
        out->d1[c] += w * a[c];
        out->d2[c] += w * a[c] * (slope + a[c]);
    }
    for (int c = 0; out->own && c < self->C; c++) out->own[c] += w * curve[c];
    if (out->cross) sg_lik_cross_add(self->C, w, a, s->common, out->cross);
    s->total += w, s->slope += w * slope;
}

/* origin[C]: what was taken off the classes' slopes */
static void end_sums(const sg_lik *self, int own, sums *s, const double *origin, double log_scale,
                     sg_tilt *out)
{
    double sum = 0;
    out->logz = fmin2(log_scale + log(s->total), 0);
    for (int c = 0; c < self->C; c++) {
        const double mean = out->d1[c] / s->total;
        out->d1[c] = origin[c] + mean;
        /* but for rounding */
        out->d2[c] = fmin2(out->d2[c] / s->total - mean * (s->slope / s->total + mean), 0);
        if (c != own) sum += out->d1[c];
    }
    out->d1[own] = -sum;
    for (int c = 0; out->own && c < self->C; c++) out->own[c] /= s->total;
    if (out->cross) sg_lik_cross_end(self->C, s->total, out->d2, s->common, out->cross);
}

/* Tilts by nested integrals, some 40 x 40 C exponentials, wherever the classes lie. */
static void tilt_by_integrals(const sg_lik *self, int own, const double *mu, const double *s2,
                              sg_tilt *out)
{
    crowd all;
    sg_concave_point at;
    sums s;
    double weight;
    gather_crowd(self, own, mu, s2, &all);
    begin_sums(self, &s, out);
    const sg_concave_rule rule = sg_concave_lay(crowd_at, &all);
    for (int k = 0; k < rule.count; k++) {
        crowd_at(sg_concave_node(&rule, k, &weight), &all, &at);
        add_to_sums(self, &s, weight * exp(at.value), at.slope, all.dslope, all.curve, out);
    }
    end_sums(self, own, &s, all.slope0, all.log0, out);
}

/* Means and variances of the classes as the integrals take them */
static void shifted(const sg_lik *self, const double *mu, const double *s2, double *m, double *var)
{
    for (int c = 0; c < self->C; c++) {
        m[c] = sg_class_mean(mu[c] + self->theta[c]);
        var[c] = sg_class_var(s2[c]);
    }
}

/* Tilts on a grid common to all classes (gumbel.h), some 150 C exponentials; returns 0 where there
 * is none. Slopes are taken relative to those at the largest weight, so covariances do not
 * cancel. */
static int tilt_by_grid(const sg_lik *self, int own, const double *mu, const double *s2,
                        sg_tilt *out)
{
    const int C = self->C;
    double m[SG_LIK_MAX_CLASSES], var[SG_LIK_MAX_CLASSES], origin[SG_LIK_MAX_CLASSES];
    double a[SG_LIK_MAX_CLASSES], curve[SG_LIK_MAX_CLASSES];
    sg_gumbel grid;
    sums s;
    shifted(self, mu, s2, m, var);
    if (!sg_gumbel_lay(C, own, m, var, &grid)) return 0;
    int top = 0;
    for (int k = 1; k < grid.count; k++) if (grid.weight[k] > grid.weight[top]) top = k;
    for (int c = 0; c < C; c++) origin[c] = grid.slope[(size_t) c * grid.count + top];
    begin_sums(self, &s, out);
    for (int k = 0; k < grid.count; k++) {
        double slope = 0;
        for (int c = 0; c < C; c++) {
            const size_t at = (size_t) c * grid.count + k;
            slope -= grid.slope[at];
            a[c] = grid.slope[at] - origin[c], curve[c] = grid.curve[at];
        }
        add_to_sums(self, &s, grid.weight[k], slope, a, curve, out);
    }
    end_sums(self, own, &s, origin, grid.log_scale, out);
    return 1;
}

/* Returns the share of class 0 in the variance of the difference. A class without a variance is
 * taken to have a millionth of it; where neither has one, each has half. */
static double share_of_variance(const double *s2)
{
    const double LEAST = 1e-6, sum = s2[0] + s2[1];
    return sum > 0 ? fmin2(fmax2(s2[0] / sum, LEAST), 1 - LEAST) : 0.5;
}

/* The second derivatives are d2 (1, -1; -1, 1). As diag(own) and a covariance (sg_tilt) they are
 * many things: own = d2 (s2_0 + s2_1) / s2_c makes that one of rank one, and 1 + own s2 the same
 * positive number for both, the difference's tilted variance over that before. */
static int tilt_of_two(const sg_lik *self, int own, const double *mu, const double *s2,
                       sg_tilt *out)
{
    double d1, d2;
    if (!tilt_of_difference(self, own, mu, s2, &out->logz, &d1, &d2)) return 0;
    const double first = share_of_variance(s2);
    for (int c = 0; c < 2; c++) {
        out->d1[c] = c == own ? d1 : -d1;
        out->d2[c] = d2;
        if (out->own) out->own[c] = d2 / (c == 0 ? first : 1 - first);
        if (out->cross) out->cross[3 * c] = d2, out->cross[1 + c] = -d2;
    }
    return 1;
}

/* Tries the closed form of two classes, the grid, and the nested integrals, in that order. */
static void softmax_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         sg_tilt *out)
{
    const int own = (int) y[0] - 1;
    if (tilt_of_two(self, own, mu, s2, out)) return;
    if (!tilt_by_grid(self, own, mu, s2, out)) tilt_by_integrals(self, own, mu, s2, out);
}

/* Divides the C probabilities by their sum and writes their variances p (1 - p). */
static void normalise(int C, double *mean, double *var)
{
    double sum = 0;
    for (int c = 0; c < C; c++) sum += mean[c];
    for (int c = 0; c < C; c++) {
        mean[c] /= sum;
        var[c] = mean[c] * (1 - mean[c]);
    }
}

/* Computes all C probabilities from one grid without an own class: P(c) = -int exp(G) l_c dv.
 * Returns 0 where there is no grid. */
static int predict_by_grid(const sg_lik *self, const double *mu, const double *s2, double *mean)
{
    double m[SG_LIK_MAX_CLASSES], s2_class[SG_LIK_MAX_CLASSES];
    sg_gumbel grid;
    shifted(self, mu, s2, m, s2_class);
    if (!sg_gumbel_lay(self->C, -1, m, s2_class, &grid)) return 0;
    for (int c = 0; c < self->C; c++) {
        mean[c] = 0;
        for (int k = 0; k < grid.count; k++) {
            mean[c] -= grid.weight[k] * grid.slope[(size_t) c * grid.count + k];
        }
    }
    return 1;
}

/* On a grid for all classes, or a log Z for every one: both keep the relative accuracy of small
 * probabilities. */
static void softmax_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    if (self->C == 2 || !predict_by_grid(self, mu, s2, mean)) {
        for (int c = 0; c < self->C; c++) mean[c] = exp(log_z(self, c, mu, s2));
    }
    normalise(self->C, mean, var);
}

/* Computes the C probabilities given f. */
static void softmax_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    for (int c = 0; c < self->C; c++) {
        const double y = c + 1;
        mean[c] = exp(softmax_logp(self, &y, f));
    }
    normalise(self->C, mean, var);
}

const sg_lik_type sg_lik_softmax = {
    .name = "softmax", .q = 1, .npar = 1, .width = 1, .classes = 1,
    .par = {"bias"},
    .logp = softmax_logp, .moments = softmax_moments, .tilt = softmax_tilt,
    .tilt_dpar = sg_lik_bias_of_tilt, .predict = softmax_predict
};
