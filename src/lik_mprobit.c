/* lik_mprobit.c: several classes, P(y | f) = P(v_y = max v), v = f + bias + noise, noise N(0, 1) in
 * every class (IVM paper, eq. 8). y: class number 1..C. theta: bias, one per class.
 *
 * With f ~ N(mu, s2) all v_c are normal, with mean m_c = mu_c + bias_c and variance 1 + s2_c =
 * sd_c^2. Given v_y = m_y + sd_y t the other classes are independent (appendix D): with
 * rho_j = sd_y / sd_j and z_j = (m_y - m_j) / sd_j + rho_j t,
 *   Z = integral exp(G(t)) dt,   G = log N(t) + sum_{j != y} log Phi(z_j).
 * With E and Cov over the normalised integrand, h = phi / Phi and L = sum_j rho_j h(z_j), Stein's
 * identity gives the derivatives in forms that neither cancel nor change sign, for s2 = 0, too:
 *   d1_j = -E h_j / sd_j                                  d1_y = -sum_j d1_j
 *   d2_j = Cov(h_j, t - L + rho_j h_j) / (sd_y sd_j)      d2_y = Cov(t, L) / sd_y^2
 * (the covariance of a rising and a falling function is negative under any positive weights).
 * The classes share v_y: given v_y the derivatives are -h_j / sd_j and
 * t / sd_y, whose covariances cross has, and -h_j (h_j + z_j) / sd_j^2 and -1 / sd_y^2, whose means
 * are own. */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "concave.h"
#include "lik.h"

/* A factor Phi(z): h = phi(z) / Phi(z), excess = h + z, and Phi(z) = mant exp(-power). */
typedef struct {
    double h, excess, mant, power;
} factor;

/* h(-x) - x for x >= 0, relative error 2e-15: a polynomial in (x - 4) / (x + 4), interpolating
 * (x + 1.5) (h(-x) - x) at Chebyshev points of 60-digit values. */
static inline double tail_excess(double x)
{
    static const double p[28] = {
        1.24083929469209009e+00, -2.48747733570825302e-01, -9.30936728577313882e-02,
        1.72030045386169644e-01, -7.39299854305459220e-02, -2.00238820689314298e-02,
        3.22962591129389368e-02, -4.40764760782572183e-03, -9.58605124545091475e-03,
        4.07078685587661943e-03, 2.23112630910582551e-03,  -1.82573385507671902e-03,
        -3.67960599586422308e-04, 6.43444518921072956e-04, 9.41999003275296048e-06,
        -1.93819569236975667e-04, 2.44306178364631545e-05, 5.04932214716419622e-05,
        -1.28000831709418314e-05, -1.10607609242718486e-05, 4.14435040618333558e-06,
        1.89287947480758725e-06, -8.77153763766842149e-07, -2.17933062252571391e-07,
        9.28999887604568900e-08, 1.19018198141445851e-08, 0, 0};
    const double inverse = 1 / ((x + 4) * (x + 1.5)); /* one division for two quotients */
    const double y = (x - 4) * (x + 1.5) * inverse, y2 = y * y, y4 = y2 * y2;
    double a = p[24], b = p[25], c = p[26], d = p[27];
    for (int k = 20; k >= 0; k -= 4) { /* four chains at once */
        a = a * y4 + p[k], b = b * y4 + p[k + 1];
        c = c * y4 + p[k + 2], d = d * y4 + p[k + 3];
    }
    return (a + b * y + y2 * (c + d * y)) * (x + 4) * inverse;
}

/* Computes Phi(z) and its hazard from one exponential at most. */
static inline factor factor_at(double z)
{
    factor at;
    if (z < 0) {
        at.excess = tail_excess(-z);
        at.h = at.excess - z;
        at.mant = M_1_SQRT_2PI / at.h;
        at.power = 0.5 * z * z;
    } else {
        const double density = z < 38 ? M_1_SQRT_2PI * exp(-0.5 * z * z) : 0;
        at.mant = z < 9 ? 1 - density / (z + tail_excess(z)) : 1;
        at.h = density / at.mant;
        at.excess = at.h + z;
        at.power = 0;
    }
    return at;
}

/* The classes other than y; the line's origin is a place t0 near the peak of G. */
typedef struct {
    int n;
    double sd_y;
    double t0, slope0, log0; /* t0, G'(t0), G(t0) */
    double z[SG_LIK_MAX_CLASSES], rho[SG_LIK_MAX_CLASSES];
    double dh[SG_LIK_MAX_CLASSES], bend[SG_LIK_MAX_CLASSES]; /* of h from t0, and rho^2 h (h + z) */
    factor base[SG_LIK_MAX_CLASSES];
} race;

/* Computes z_j and rho_j of the other classes at t = 0; s2 NULL: all 0. */
static void line_up(const sg_lik *self, int y, const double *mu, const double *s2, race *r)
{
    const double m_y = sg_class_mean(mu[y] + self->theta[y]);
    r->sd_y = s2 ? sqrt(1 + sg_class_var(s2[y])) : 1;
    r->n = 0;
    for (int j = 0; j < self->C; j++) {
        if (j == y) continue;
        const double sd = s2 ? sqrt(1 + sg_class_var(s2[j])) : 1;
        r->rho[r->n] = r->sd_y / sd;
        r->z[r->n++] = (m_y - sg_class_mean(mu[j] + self->theta[j])) / sd;
    }
}

/* Newton from t = 0, where G' >= 0; G' is convex, so it comes from the left and does not jump
 * over. Close is close enough: until the peak is no more than 0.01 above (as -G'' >= 1 everywhere;
 * where we stand it may be much more, on a narrow step whose top is far from the peak), or
 * rounding stops it. O(C) a step. base[j] is left at t0. */
static void climb(race *r)
{
    enum { MOST = 100 };
    r->t0 = 0;
    for (int step = 0; step < MOST; step++) {
        double pull = 0, bend = 1;
        for (int j = 0; j < r->n; j++) {
            r->base[j] = factor_at(r->z[j] + r->rho[j] * r->t0);
            pull += r->rho[j] * r->base[j].h;
            bend += r->rho[j] * r->rho[j] * r->base[j].h * r->base[j].excess;
        }
        r->slope0 = pull - r->t0;
        const double next = r->t0 + r->slope0 / bend;
        if (fabs(r->slope0) <= 8 * DBL_EPSILON * pull) r->slope0 = 0;
        if (r->slope0 * r->slope0 < 0.02 || !(next > r->t0)) return;
        r->t0 = next;
    }
}

/* Moves the origin to t0 and computes G(t0). Products of the factors' mantissas save logarithms. */
static void settle(race *r)
{
    double power = 0, product = 1, logs = 0;
    for (int j = 0; j < r->n; j++) {
        r->z[j] += r->rho[j] * r->t0;
        power += r->base[j].power;
        product *= r->base[j].mant;
        if (product < 1e-200) logs += log(product), product = 1;
    }
    r->log0 = logs + log(product) - power - 0.5 * r->t0 * r->t0 - M_LN_SQRT_2PI;
}

/* G(t0 + x) - G(t0) and derivatives, by differences from t0: what is large has cancelled there.
 * O(C). dh and bend of the classes are left behind for the sums over nodes. */
static void race_at(double x, void *ctx, sg_concave_point *at)
{
    race *r = ctx;
    double change = r->slope0 * x - 0.5 * x * x, product = 1, slope = 0, bend = 1;
    for (int j = 0; j < r->n; j++) {
        const double rho = r->rho[j], z0 = r->z[j], dz = rho * x;
        const factor *base = &r->base[j], now = factor_at(z0 + dz);
        if (now.power > 0 && base->power > 0) {
            change -= dz * (0.5 * dz + base->excess);
            r->dh[j] = (now.excess - base->excess) - dz;
        } else {
            change -= (now.power - base->power) + base->h * dz;
            r->dh[j] = now.h - base->h;
        }
        slope += rho * r->dh[j];
        bend += r->bend[j] = rho * rho * now.h * now.excess;
        product *= now.mant / base->mant;
        if (!(product > 1e-200 && product < 1e200)) change += log(product), product = 1;
    }
    at->value = change + log(product);
    at->slope = r->slope0 - x + slope;
    at->bend = bend;
}

/* Lines the classes up and moves the origin near the peak. */
static void start_race(const sg_lik *self, int y, const double *mu, const double *s2, race *r)
{
    line_up(self, y, mu, s2, r);
    climb(r);
    settle(r);
}

/* Returns log Z of class y, O(C) at each node; with s2 the null pointer, log p. */
static double log_z(const sg_lik *self, int y, const double *mu, const double *s2)
{
    race r;
    sg_concave_point at;
    double total = 0, weight;
    start_race(self, y, mu, s2, &r);
    const sg_concave_rule rule = sg_concave_lay(race_at, &r);
    for (int k = 0; k < rule.count; k++) {
        race_at(sg_concave_node(&rule, k, &weight), &r, &at);
        total += weight * exp(at.value);
    }
    return fmin2(r.log0 + log(total), 0);
}

/* d1[j], d2[j] collect sums of w dh_j and w dh_j (-G' + rho_j dh_j) before they become
 * derivatives; -G' = t - L up to a constant. O(C). */
static void add_node(const race *r, double w, double slope, double *d1, double *d2)
{
    for (int j = 0; j < r->n; j++) {
        const double wdh = w * r->dh[j];
        d1[j] += wdh;
        d2[j] += wdh * (r->rho[j] * r->dh[j] - slope);
    }
}

/* The sums over the weights' total, packed without y, become derivatives at their classes' places;
 * from the last class down, so nothing is overwritten before it is read. mean_q: E(-G'). */
static void unpack(const race *r, int y, double total, double mean_q, double *d1, double *d2)
{
    double sum = 0;
    for (int j = r->n - 1; j >= 0; j--) {
        const int c = j < y ? j : j + 1;
        const double rho = r->rho[j], mean = d1[j] / total;
        const double cov = d2[j] / total - mean * (mean_q + rho * mean);
        d1[c] = -(r->base[j].h + mean) * rho / r->sd_y;
        d2[c] = cov * rho / (r->sd_y * r->sd_y);
        sum += d1[c];
    }
    d1[y] = -sum;
}

/* Holds what is wanted of how classes depend on each other, summed over the nodes. */
typedef struct {
    int y;
    double mean[SG_LIK_MAX_CLASSES];
    sg_tilt *out;
} ties;

/* Clears the sums of what depends on several classes. */
static void begin_ties(int C, int y, sg_tilt *out, ties *t)
{
    t->y = y, t->out = out;
    for (int c = 0; out->own && c < C; c++) out->own[c] = t->mean[c] = 0;
    if (out->cross) sg_zero((size_t) C * C, out->cross);
}

/* Node x: second derivatives -bend_j / sd_y^2, and the first up to a constant, -h_j / sd_j, and
 * t / sd_y of class y. */
static void add_ties(const race *r, double w, double x, ties *t)
{
    double a[SG_LIK_MAX_CLASSES];
    if (!t->out->own) return;
    for (int j = 0; j < r->n; j++) {
        const int c = j < t->y ? j : j + 1;
        t->out->own[c] -= w * r->bend[j];
        a[c] = -r->rho[j] * r->dh[j] / r->sd_y;
    }
    t->out->own[t->y] -= w;
    a[t->y] = x / r->sd_y;
    if (t->out->cross) sg_lik_cross_add(r->n + 1, w, a, t->mean, t->out->cross);
}

/* Divides by the weights' total, and turns the sums of products into covariances. */
static void end_ties(const race *r, double total, ties *t)
{
    const int C = r->n + 1;
    const sg_tilt *out = t->out;
    for (int c = 0; out->own && c < C; c++) out->own[c] /= total * r->sd_y * r->sd_y;
    if (out->cross) sg_lik_cross_end(C, total, out->d2, t->mean, out->cross);
}

/* One pass over the nodes: O(C) for each of 25 to 60, or O(C^2) with cross. */
static void mprobit_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         sg_tilt *out)
{
    race r;
    sg_concave_point at;
    const int own = (int) y[0] - 1;
    double *d1 = out->d1, *d2 = out->d2;
    double total = 0, t = 0, pull = 0, t_pull = 0, q = 0, weight;
    ties tied;
    begin_ties(self->C, own, out, &tied);
    start_race(self, own, mu, s2, &r);
    for (int c = 0; c < self->C; c++) d1[c] = d2[c] = 0;
    const sg_concave_rule rule = sg_concave_lay(race_at, &r);
    for (int k = 0; k < rule.count; k++) {
        const double x = sg_concave_node(&rule, k, &weight);
        race_at(x, &r, &at);
        const double w = weight * exp(at.value), L = at.slope - r.slope0 + x;
        add_node(&r, w, at.slope, d1, d2);
        add_ties(&r, w, x, &tied);
        total += w, t += w * x, pull += w * L, t_pull += w * x * L, q -= w * at.slope;
    }
    out->logz = fmin2(r.log0 + log(total), 0);
    unpack(&r, own, total, q / total, d1, d2);
    d2[own] = (t_pull / total - t / total * (pull / total)) / (r.sd_y * r.sd_y);
    end_ties(&r, total, &tied);
}

/* Returns log P(y|f), the integral at s2 = 0. */
static double mprobit_logp(const sg_lik *self, const double *y, const double *f)
{
    return log_z(self, (int) y[0] - 1, f, 0);
}

/* A log Z for every class, O(C^2) for each node: a class's probability keeps its relative accuracy
 * where it is 1e-100, as a score in logarithms wants. */
static void mprobit_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    double sum = 0;
    for (int c = 0; c < self->C; c++) sum += mean[c] = exp(log_z(self, c, mu, s2));
    for (int c = 0; c < self->C; c++) {
        mean[c] /= sum;
        var[c] = mean[c] * (1 - mean[c]);
    }
}

static void mprobit_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    mprobit_predict(self, f, 0, mean, var);
}

const sg_lik_type sg_lik_mprobit = {
    .name = "mprobit", .q = 1, .npar = 1, .width = 1, .classes = 1,
    .par = {"bias"},
    .logp = mprobit_logp, .moments = mprobit_moments, .tilt = mprobit_tilt,
    .tilt_dpar = sg_lik_bias_of_tilt, .predict = mprobit_predict
};
