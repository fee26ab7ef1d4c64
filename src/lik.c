/* lik.c: the catalogue of likelihoods, quadrature where a type has no closed form, one-vs-rest
 * classes, and what tilts of classes have in common (lik.h).
 *
 * Quadrature serves C = w = 1 (quad.h, smooth.h). With E over the tilted distribution p(y|f) N(f;
 * mu, s2) / Z and l = log p(y|f),
 *   d1 = E (f - mu) / s2 = E l',   d2 = (Var f / s2 - 1) / s2 = E l'' + Var l',
 *   dlogZ/dtheta = E dl/dtheta;
 * the first forms are for wide marginals and the second for narrow ones. */
#include <math.h>
#include <string.h>
#include "lik.h"
#include "quad.h"
#include "smooth.h"

#define SG_LIK(id) extern const sg_lik_type sg_lik_##id;
#include "lik_list.h"
#undef SG_LIK

#define SG_LIK(id) &sg_lik_##id,
static const sg_lik_type *const TYPES[] = {
#include "lik_list.h"
    0
};
#undef SG_LIK
/* Returns type i of lik_list.h, whose order is that of the catalogue; NULL past the end. */
const sg_lik_type *sg_lik_type_at(int i)
{
    const int count = (int) (sizeof TYPES / sizeof *TYPES) - 1;
    return i < count ? TYPES[i] : 0;
}

/* Compares names, the only place where that is done. */
const sg_lik_type *sg_lik_type_find(const char *name)
{
    const sg_lik_type *type;
    for (int i = 0; (type = sg_lik_type_at(i)) != 0; i++) {
        if (strcmp(type->name, name) == 0) return type;
    }
    return 0;
}

/* A data row with its likelihood: a context of integrands. */
typedef struct {
    const sg_lik *lik;
    const double *y;
    double step;  /* of finite differences in f */
    double about; /* squares of the mean are taken about this */
    int from, to; /* hyperparameters of which derivatives are wanted */
} row;

static double row_logp(double f, const row *r)
{
    return r->lik->type->logp(r->lik, r->y, &f);
}

/* Computes log p(y|f) as quad.h asks for it. */
static void row_logps(int n, const double *f, const void *ctx, double *out)
{
    const row *r = ctx;
    sg_lik_logps(r->lik, r->y, n, f, out);
}

/* First and second derivative of log p in f by central differences of order 6. The step is a
 * fiftieth of the likelihood's own width: errors near 1e-10 of either derivative's scale. */
static void row_differences(double f, const void *ctx, double *out)
{
    const row *r = ctx;
    const double h = r->step, at = row_logp(f, r);
    double odd[3], even[3];
    for (int k = 0; k < 3; k++) {
        const double up = row_logp(f + (k + 1) * h, r), down = row_logp(f - (k + 1) * h, r);
        odd[k] = up - down;
        even[k] = up - 2 * at + down;
    }
    out[0] = (45 * odd[0] - 9 * odd[1] + odd[2]) / (60 * h);
    out[1] = (270 * even[0] - 27 * even[1] + 2 * even[2]) / (180 * h * h);
}

/* Writes l', l'' and l'^2, three values whose expectations make d1 and d2. */
static void row_slopes(double f, const void *ctx, double *out)
{
    const row *r = ctx;
    if (r->lik->type->slopes) r->lik->type->slopes(r->lik, r->y, f, out);
    else row_differences(f, ctx, out);
    out[2] = out[0] * out[0];
}

/* Sets up the quadrature for a row at N(mu, s2): `r` is its context. */
static sg_quad_problem problem_of(const sg_lik *self, const double *y, double mu, double s2,
                                  row *r)
{
    sg_quad_problem problem = {.mu = mu, .s2 = s2, .width = 1, .logf = row_logps, .ctx = r};
    self->type->locate(self, y, &problem.centre, &problem.width);
    r->lik = self, r->y = y, r->step = 0.02 * problem.width;
    return problem;
}

/* The mode of p(y|f) N(f; mu, s2) between mu and the likelihood's own mode, by Newton steps that
 * may not leave a bracket. slopes: of log p there; *bend: minus the second derivative of the whole
 * logarithm. Returns 0 if the two ends do not bracket a peak. */
static int find_mode(const sg_lik *self, const double *y, const sg_quad_problem *problem,
                     double *mode, double *slopes, double *bend)
{
    enum { TRIES = 100 };
    double low = fmin2(problem->mu, problem->centre), high = fmax2(problem->mu, problem->centre);
    double f = problem->centre;
    for (int i = 0; i < TRIES; i++) {
        self->type->slopes(self, y, f, slopes);
        const double g = slopes[0] - (f - problem->mu) / problem->s2;
        *bend = 1 / problem->s2 - slopes[1];
        *mode = f;
        if (g > 0) low = f;
        else high = f;
        const double newton = f + g / *bend;
        if (*bend > 0 && fabs(newton - f) <= 1e-3 / sqrt(*bend)) break;
        /* down an exponential Newton's steps have length 1: every third halves the bracket */
        f = newton > low && newton < high && i % 3 < 2 ? newton : 0.5 * (low + high);
        if (!(low < f && f < high)) break;
    }
    return *bend > 0 && problem->mu != problem->centre;
}

/* The Laplace approximation: log Z and its derivatives from the mode of the integrand; `away`:
 * from mu, in standard deviations; 0 where the mode was not sought. */
typedef struct {
    double mode, away, logz, d1, d2;
} far_peak;

/* Far from mu and from where the likelihood works the mesh would not see the peak of their
 * product: a count of 3 where exp(40) is expected. It is laid around the peak, too, then. Returns
 * 1 where the logarithms are so large that no integral can be had: what is in `peak` has to do.
 *   log Z = log p(y|m) - (m - mu)^2 / (2 s2) - log(s2 bend) / 2,   m the mode. */
static int look_far(const sg_lik *self, const double *y, sg_quad_problem *problem, far_peak *peak)
{
    const double FAR = 4, LOST = 1e8, s2 = problem->s2, sd = sqrt(s2);
    double mode, bend, slopes[2];
    peak->away = 0;
    if (!self->type->slopes || self->type->kinked) return 0;
    if (fabs(problem->centre - problem->mu) < FAR * (sd + problem->width)) return 0;
    if (!find_mode(self, y, problem, &mode, slopes, &bend)) return 0;
    const double t = (mode - problem->mu) / sd, ref = row_logp(mode, problem->ctx) - 0.5 * t * t;
    if (fabs(t) > FAR && fabs(mode - problem->centre) > FAR * problem->width) {
        problem->peak = mode, problem->peak_width = 1 / sqrt(bend);
    }
    *peak = (far_peak) {mode, t, ref - 0.5 * (log(s2) + log(bend)), slopes[0],
                        slopes[1] / s2 / bend};
    return fabs(ref) > LOST;
}

/* Is the marginal so narrow that l' and l'' hardly change over it? Not while it sees a corner, nor
 * where it is pulled off its place. */
static int is_narrow(const sg_lik *self, const sg_quad_problem *problem, double curvature,
                     const far_peak *peak)
{
    const double NARROW = 1e-4, CLEAR = 40, PULLED = 4, s2 = problem->s2, width = problem->width;
    const double away = fabs(problem->mu - problem->centre);
    if (fabs(peak->away) > PULLED) return 0;
    if (self->type->kinked && away < CLEAR * sqrt(s2)) return 0;
    return s2 * fabs(curvature) < NARROW && s2 < width * width;
}

/* For wide marginals from the moments of t = (u - mu)/sd: d1 = E t / sd, d2 = (Var t - 1) / s2.
 * For s2 |l''| < 1e-4 these cancel: there d1 = E l', d2 = E l'' + Var l' (l = log p), which is the
 * same by Stein's identity. curvature: l'' at mu. Returns 0 where no integral can be had, as mu's
 * last digit is worth more than the likelihood is wide. */
static int tilt_by_moments(const sg_lik *self, sg_quad_problem *problem, double curvature,
                           const far_peak *peak, sg_tilt *out)
{
    sg_quad_result result;
    const int narrow = is_narrow(self, problem, curvature, peak);
    if (narrow) {
        problem->k = 3, problem->values = row_slopes;
        problem->size[0] = 1 / problem->width;
        problem->size[1] = problem->size[2] = 1 / (problem->width * problem->width);
    }
    sg_quad(problem, &result);
    out->logz = result.logz;
    *out->d1 = narrow ? result.expect[0] : result.mean / sqrt(problem->s2);
    *out->d2 = narrow ? result.expect[1] + result.expect[2] - result.expect[0] * result.expect[0]
                      : (result.var - 1) / problem->s2;
    return isfinite(out->logz);
}

/* Tries in turn: the mode's own expansion where logarithms are too large, quadrature, and for a
 * point (s2 = 0) the values of l, l' and l'' at mu. NaN goes through. */
void sg_lik_tilt_quad(const sg_lik *self, const double *y, const double *mu, const double *s2,
                      sg_tilt *out)
{
    row r;
    double at_mu[3];
    sg_quad_problem problem = problem_of(self, y, *mu, *s2, &r);
    far_peak peak;
    if (isnan(*mu) || isnan(*s2)) {
        out->logz = *out->d1 = *out->d2 = NAN;
        return;
    }
    row_slopes(*mu, &r, at_mu);
    if (!sg_is_point(*s2)) {
        if (look_far(self, y, &problem, &peak)) {
            out->logz = peak.logz, *out->d1 = peak.d1, *out->d2 = peak.d2;
            return;
        }
        if (tilt_by_moments(self, &problem, at_mu[1], &peak, out)) return;
    }
    out->logz = row_logp(*mu, &r), *out->d1 = at_mu[0], *out->d2 = at_mu[1];
}

/* dlogp/dtheta for the parameters wanted, by central differences of order 4 */
static void row_dpar(double f, const void *ctx, double *out)
{
    const row *r = ctx;
    const double h = 1e-3;
    double theta[SG_LIK_MAX_PAR], at[2];
    sg_lik moved = *r->lik;
    moved.theta = theta;
    sg_copy(moved.npar, r->lik->theta, theta);
    for (int k = r->from; k < r->to; k++) {
        for (int twice = 0; twice < 2; twice++) {
            theta[k] = r->lik->theta[k] + (1 + twice) * h;
            at[twice] = moved.type->logp(&moved, r->y, &f);
            theta[k] = r->lik->theta[k] - (1 + twice) * h;
            at[twice] -= moved.type->logp(&moved, r->y, &f);
        }
        theta[k] = r->lik->theta[k];
        out[k - r->from] = (8 * at[0] - at[1]) / (12 * h);
    }
}

/* dlogZ/dtheta = E dlogp/dtheta under the tilted distribution, as many at a time as a quadrature
 * takes. */
void sg_lik_tilt_dpar_quad(const sg_lik *self, const double *y, const double *mu,
                           const double *s2, double *dpar)
{
    row r;
    sg_quad_problem problem = problem_of(self, y, *mu, *s2, &r);
    sg_quad_result result;
    far_peak peak;
    double place = *mu;
    problem.values = row_dpar;
    sg_fill(SG_QUAD_MAX, 1, problem.size);
    const int point = sg_is_point(*s2), lost = !point && look_far(self, y, &problem, &peak);
    if (lost) place = peak.mode;
    if (isnan(*s2)) place = NAN;
    for (r.from = 0; r.from < self->npar; r.from = r.to) {
        r.to = r.from + SG_QUAD_MAX < self->npar ? r.from + SG_QUAD_MAX : self->npar;
        problem.k = r.to - r.from;
        result.logz = -HUGE_VAL;
        if (!point && !lost) sg_quad(&problem, &result);
        if (!isfinite(result.logz)) row_dpar(place, &r, result.expect);
        for (int k = 0; k < problem.k; k++) dpar[r.from + k] += result.expect[k];
    }
}

/* Writes E(Y|f) less `about`, Var(Y|f), and the square of the first. */
static void row_moments(double f, const void *ctx, double *out)
{
    const row *r = ctx;
    r->lik->type->moments(r->lik, &f, out, out + 1);
    out[0] -= r->about;
    out[2] = out[0] * out[0];
}

/* Computes E Y = E E(Y|f) and Var Y = E Var(Y|f) + Var E(Y|f) under N(mu, s2). Squares are taken
 * about E(Y|mu), where they cancel least. */
void sg_lik_predict_quad(const sg_lik *self, const double *mu, const double *s2, double *mean,
                         double *var, double *spread)
{
    double var_at_mu;
    row r = {.lik = self};
    sg_quad_problem problem = {.mu = *mu, .s2 = *s2, .width = 1, .k = 3, .values = row_moments,
                               .ctx = &r};
    self->type->locate(self, 0, &problem.centre, &problem.width);
    sg_quad_result result;
    if (sg_is_point(*s2)) {
        self->type->moments(self, mu, mean, var);
        if (spread) *spread = 0;
        return;
    }
    self->type->moments(self, mu, &r.about, &var_at_mu);
    sg_quad(&problem, &result);
    const double about_f = fmax2(result.expect[2] - result.expect[0] * result.expect[0], 0);
    *mean = r.about + result.expect[0];
    *var = result.expect[1] + about_f;
    if (spread) *spread = about_f;
}

/* ---- One-vs-rest ---- */

int sg_lik_is_against_rest(const sg_lik *self)
{
    return self->C > 1 && !self->type->classes;
}

/* Class c alone, and *y what it sees of the class number in the data row. */
sg_lik sg_lik_against_rest(const sg_lik *self, int c, const double *row, double *y)
{
    const sg_lik own = {.type = self->type, .theta = self->theta + self->npar * c, .C = 1,
                        .w = self->w, .npar = self->npar, .power = self->power};
    if (row) *y = *row == c + 1 ? 1 : -1;
    return own;
}

/* Tilts every class by itself; the log Z of independent labels add up. O(C). */
static void tilt_against_rest(const sg_lik *self, const double *row, const double *mu,
                              const double *s2, sg_tilt *out)
{
    out->logz = 0;
    for (int c = 0; c < self->C; c++) {
        double y;
        const sg_lik own = sg_lik_against_rest(self, c, row, &y);
        sg_tilt tilt = {.d1 = out->d1 + c, .d2 = out->d2 + c};
        sg_lik_tilt(&own, &y, mu + c, s2 + c, &tilt);
        out->logz += tilt.logz;
    }
}

/* Adds each class's dlogZ/dtheta to its own npar numbers. */
static void dpar_against_rest(const sg_lik *self, const double *row, const double *mu,
                              const double *s2, double *dpar)
{
    for (int c = 0; c < self->C; c++) {
        double y;
        const sg_lik own = sg_lik_against_rest(self, c, row, &y);
        sg_lik_tilt_dpar(&own, &y, mu + c, s2 + c, dpar + self->npar * c);
    }
}

/* Predicts every class by itself: probabilities that need not add up to 1. */
static void predict_against_rest(const sg_lik *self, const double *mu, const double *s2,
                                 double *mean, double *var)
{
    for (int c = 0; c < self->C; c++) {
        const sg_lik own = sg_lik_against_rest(self, c, 0, 0);
        sg_lik_predict(&own, mu + c, s2 + c, mean + c, var + c);
    }
}

/* Writes the exact site of process c, from the label as that class sees it. */
void sg_lik_site(const sg_lik *self, const double *y, int c, double *tau, double *nu)
{
    double label;
    if (!sg_lik_is_against_rest(self)) {
        self->type->site(self, y, tau, nu);
        return;
    }
    const sg_lik own = sg_lik_against_rest(self, c, y, &label);
    own.type->site(&own, &label, tau, nu);
}

/* Independent processes: the blocks of d2 on the diagonal. */
static void cross_of_blocks(const sg_lik *self, sg_tilt *out)
{
    const int w = self->w, ww = w * w, size = self->C * w;
    sg_zero((size_t) size * size, out->cross);
    for (int c = 0; c < self->C; c++) {
        double *block = out->cross + (size_t) w * c * (size + 1);
        for (int k = 0; k < ww; k++) block[k % w + (size_t) size * (k / w)] = out->d2[k + ww * c];
    }
}

static int is_smooth(const sg_lik *self) { return self->type->slopes && !self->type->kinked; }

/* Integrates by some 30 nodes (smooth.h) where they serve, else by adaptive quadrature. */
void sg_lik_tilt_integral(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          sg_tilt *out)
{
    if (!is_smooth(self) || !sg_smooth_tilt(self, y, *mu, *s2, out))
        sg_lik_tilt_quad(self, y, mu, s2, out);
}

void sg_lik_dpar_integral(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          double *dpar)
{
    if (!is_smooth(self) || !sg_smooth_dpar(self, y, *mu, *s2, dpar))
        sg_lik_tilt_dpar_quad(self, y, mu, s2, dpar);
}

/* Chooses, in this order: one-vs-rest, the type's closed form, the integral. */
void sg_lik_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                 sg_tilt *out)
{
    if (sg_lik_is_against_rest(self)) tilt_against_rest(self, y, mu, S, out);
    else if (self->type->tilt) self->type->tilt(self, y, mu, S, out);
    else sg_lik_tilt_integral(self, y, mu, S, out);
    if (out->cross && !self->type->classes) cross_of_blocks(self, out);
}

void sg_lik_tilt_dpar(const sg_lik *self, const double *y, const double *mu, const double *S,
                      double *dpar)
{
    if (self->npar == 0) return;
    if (sg_lik_is_against_rest(self)) dpar_against_rest(self, y, mu, S, dpar);
    else if (self->type->tilt_dpar) self->type->tilt_dpar(self, y, mu, S, dpar);
    else sg_lik_dpar_integral(self, y, mu, S, dpar);
}

/* Chooses as sg_lik_tilt() does, but for smooth.h. */
void sg_lik_predict(const sg_lik *self, const double *mu, const double *S, double *mean,
                    double *var)
{
    if (sg_lik_is_against_rest(self)) predict_against_rest(self, mu, S, mean, var);
    else if (self->type->predict) self->type->predict(self, mu, S, mean, var);
    else sg_lik_predict_quad(self, mu, S, mean, var, 0);
}

/* Adds a node to the sums of w a a', above the diagonal, and of w a. O(C^2). */
void sg_lik_cross_add(int C, double w, const double *a, double *mean, double *cross)
{
    for (int c = 0; c < C; c++) {
        double *column = cross + (size_t) C * c;
        const double wa = w * a[c];
        mean[c] += wa;
        for (int b = 0; b < c; b++) column[b] += wa * a[b];
    }
}

/* Turns the sums into Cov(a_b, a_c) = E a_b a_c - E a_b E a_c off the diagonal, and writes d2 on
 * it. */
void sg_lik_cross_end(int C, double total, const double *d2, double *mean, double *cross)
{
    for (int c = 0; c < C; c++) {
        double *column = cross + (size_t) C * c;
        mean[c] /= total;
        for (int b = 0; b < c; b++) {
            column[b] = column[b] / total - mean[b] * mean[c];
            cross[c + (size_t) C * b] = column[b];
        }
        column[c] = d2[c];
    }
}

/* Adds d1 to dpar[C]: log p depends on f + bias alone. */
void sg_lik_bias_of_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         double *dpar)
{
    double d1[SG_LIK_MAX_BLOCKS], d2[SG_LIK_MAX_BLOCKS];
    sg_tilt tilt = {.d1 = d1, .d2 = d2};
    self->type->tilt(self, y, mu, s2, &tilt);
    for (int c = 0; c < self->C; c++) dpar[c] += d1[c];
}

/* Tilts at s2 = 0, where d1 and d2 are the derivatives of log p. */
void sg_lik_slopes_of_tilt(const sg_lik *self, const double *y, double f, double *out)
{
    const double none = 0;
    sg_tilt tilt = {.d1 = out, .d2 = out + 1};
    self->type->tilt(self, y, &f, &none, &tilt);
}
