/* power.c: tilts by powers of likelihoods (power.h).
 *
 * A power p in (0, 1) is a likelihood type of its own, whose log p is that of the whole times p,
 * and which has no closed form: the quadratures of lik.c do the rest. The limit p = 0 is a mean
 * under the marginal itself,
 *   L = E l,   d1 = E l t / sd,   d2 = E l (t^2 - 1) / s2,   l = log p(y|f),  t = (f - mu) / sd,
 * by parts E l' and E l'', which narrow marginals have more digits of. 15 evaluations of log p for
 * each of some 20 intervals. */
#include <math.h>
#include <Rmath.h>
#include "power.h"
#include "quad.h"

/* ---- Powers ---- */

/* Returns the likelihood that is raised to a power. */
static sg_lik whole_of(const sg_lik *self)
{
    sg_lik whole = *self;
    whole.type = self->whole;
    return whole;
}

/* Returns p log p(y|f). */
static double power_logp(const sg_lik *self, const double *y, const double *f)
{
    const sg_lik whole = whole_of(self);
    return self->power * whole.type->logp(&whole, y, f);
}

static void power_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    const sg_lik whole = whole_of(self);
    sg_lik_logps(&whole, y, n, f, out);
    for (int i = 0; i < n; i++) out[i] *= self->power;
}

/* Writes the two derivatives of log p in f, from a closed tilt where the type has no slopes. */
static void whole_slopes(const sg_lik *whole, const double *y, double f, double *out)
{
    if (whole->type->slopes) whole->type->slopes(whole, y, f, out);
    else sg_lik_slopes_of_tilt(whole, y, f, out);
}

static void power_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const sg_lik whole = whole_of(self);
    whole_slopes(&whole, y, f, out);
    for (int k = 0; k < 2; k++) out[k] *= self->power;
}

/* Keeps the whole's place. A power is wider, by its root, where it is log-concave; a kink is not.
 * */
static void power_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const sg_lik whole = whole_of(self);
    whole.type->locate(&whole, y, centre, width);
}

/* Has the type slopes that the trapezoid rule (smooth.h) may rely on? A mixture has several modes,
 * and its tilt is no help to look for them; tilts of other packages need not have s2 = 0. */
static int has_slopes(const sg_lik_type *type)
{
    return type->slopes != NULL || (type->tilt != NULL && type->width == 1 && !type->family);
}

/* Returns the power of a likelihood with C = w = 1 as a likelihood of `type`, which is filled in.
 * */
static sg_lik power_of(const sg_lik *self, sg_lik_type *type)
{
    sg_lik out = *self;
    *type = *self->type;
    type->logp = power_logp, type->logps = power_logps, type->locate = power_locate;
    type->slopes = has_slopes(self->type) ? power_slopes : NULL;
    type->tilt = NULL, type->tilt_dpar = NULL, type->predict = NULL, type->site = NULL;
    out.type = type, out.whole = self->type;
    return out;
}

/* ---- The limit ---- */

/* A data row with its likelihood, and what moments are taken in units of. */
typedef struct {
    const sg_lik *lik;
    const double *y;
    double mu, sd;
    int from, to; /* hyperparameters of which derivatives are wanted */
} row;

/* Writes l, l t and l (t^2 - 1). */
static void moments_of_log(double f, const void *ctx, double *out)
{
    const row *r = ctx;
    const double t = (f - r->mu) / r->sd, l = r->lik->type->logp(r->lik, r->y, &f);
    out[0] = l, out[1] = l * t, out[2] = l * (t * t - 1);
}

/* Writes l, l' and l''. */
static void slopes_of_log(double f, const void *ctx, double *out)
{
    const row *r = ctx;
    out[0] = r->lik->type->logp(r->lik, r->y, &f);
    whole_slopes(r->lik, r->y, f, out + 1);
}

/* Sets up a mean under N(mu, s2) of k values, to 1e-10 of 1. */
static sg_quad_problem mean_under(const row *r, const double *y, int k,
                                  void (*values)(double, const void *, double *))
{
    sg_quad_problem problem = {.mu = r->mu, .s2 = r->sd * r->sd, .width = 1, .k = k,
                               .values = values, .ctx = r};
    r->lik->type->locate(r->lik, y, &problem.centre, &problem.width);
    sg_fill(SG_QUAD_MAX, 1, problem.size);
    return problem;
}

/* Is the marginal so narrow that slopes have more digits than differences of l? Not while it sees a
 * corner. A type without slopes has none to offer. */
static int is_narrow(const sg_lik *lik, const sg_quad_problem *problem)
{
    const double NARROW = 0.01, CLEAR = 40, sd = sqrt(problem->s2);
    if (!has_slopes(lik->type)) return 0;
    if (lik->type->kinked && fabs(problem->mu - problem->centre) < CLEAR * sd) return 0;
    return sd < NARROW * problem->width;
}

/* Computes L, d1 and d2 of the limit for C = w = 1; of a point l, l' and l''. */
static void limit_tilt(const sg_lik *self, const double *y, double mu, double s2, sg_tilt *out)
{
    const row r = {self, y, mu, sqrt(s2), 0, 0};
    sg_quad_result result;
    double at[3] = {NAN, NAN, NAN};
    if (isnan(mu) || isnan(s2)) {
        sg_copy(3, at, result.expect);
    } else if (sg_is_point(s2)) {
        slopes_of_log(mu, &r, result.expect);
    } else if (self->type->limit) {
        self->type->limit(self, y, mu, s2, out);
        return;
    } else {
        sg_quad_problem problem = mean_under(&r, y, 3, moments_of_log);
        const int narrow = is_narrow(self, &problem);
        if (narrow) problem.values = slopes_of_log;
        sg_quad(&problem, &result);
        if (!narrow) result.expect[1] /= r.sd, result.expect[2] /= s2;
    }
    out->logz = result.expect[0], *out->d1 = result.expect[1], *out->d2 = result.expect[2];
}

/* Writes dl/dtheta of the hyperparameters wanted, by central differences of order 4. */
static void dpar_of_log(double f, const void *ctx, double *out)
{
    const double h = 1e-3, weight[5] = {1, -8, 0, 8, -1};
    const row *r = ctx;
    double theta[SG_LIK_MAX_PAR];
    sg_lik moved = *r->lik;
    moved.theta = theta;
    sg_copy(moved.npar, r->lik->theta, theta);
    for (int k = r->from; k < r->to; k++) {
        double sum = 0;
        for (int j = 0; j < 5; j++) {
            if (j == 2) continue;
            theta[k] = r->lik->theta[k] + (j - 2) * h;
            sum += weight[j] * moved.type->logp(&moved, r->y, &f);
        }
        theta[k] = r->lik->theta[k];
        out[k - r->from] = sum / (12 * h);
    }
}

/* Adds E dl/dtheta, as many at a time as a quadrature takes. */
static void limit_dpar(const sg_lik *self, const double *y, double mu, double s2, double *dpar)
{
    row r = {self, y, mu, sqrt(s2), 0, 0};
    sg_quad_result result;
    for (r.from = 0; r.from < self->npar; r.from = r.to) {
        r.to = imin2(r.from + SG_QUAD_MAX, self->npar);
        if (sg_is_point(s2)) {
            dpar_of_log(mu, &r, result.expect);
        } else {
            sg_quad_problem problem = mean_under(&r, y, r.to - r.from, dpar_of_log);
            sg_quad(&problem, &result);
        }
        for (int k = r.from; k < r.to; k++) dpar[k] += result.expect[k - r.from];
    }
}

/* ---- Any power ---- */

/* Tilts one process. */
static void tilt_one(const sg_lik *self, const double *y, double mu, double s2, sg_tilt *out)
{
    sg_lik_type type;
    if (self->power == 0) {
        limit_tilt(self, y, mu, s2, out);
        return;
    }
    const sg_lik power = power_of(self, &type);
    sg_lik_tilt(&power, y, &mu, &s2, out);
    out->logz /= self->power, *out->d1 /= self->power, *out->d2 /= self->power;
}

/* Adds the derivatives in the hyperparameters of one process. */
static void dpar_one(const sg_lik *self, const double *y, double mu, double s2, double *dpar)
{
    double own[SG_LIK_MAX_PAR];
    sg_lik_type type;
    if (self->power == 0) {
        limit_dpar(self, y, mu, s2, dpar);
        return;
    }
    const sg_lik power = power_of(self, &type);
    sg_zero(self->npar, own);
    sg_lik_tilt_dpar(&power, y, &mu, &s2, own);
    for (int k = 0; k < self->npar; k++) dpar[k] += own[k] / self->power;
}

/* Goes through the classes, each against the rest, whose log Z add up; O(C) tilts. */
void sg_lik_power_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                       sg_tilt *out)
{
    if (self->power == 1 || self->host) {
        sg_lik_tilt(self, y, mu, S, out);
        return;
    }
    if (!sg_lik_is_against_rest(self)) {
        tilt_one(self, y, *mu, *S, out);
        return;
    }
    out->logz = 0;
    for (int c = 0; c < self->C; c++) {
        double label;
        const sg_lik own = sg_lik_against_rest(self, c, y, &label);
        sg_tilt tilt = {.d1 = out->d1 + c, .d2 = out->d2 + c};
        tilt_one(&own, &label, mu[c], S[c], &tilt);
        out->logz += tilt.logz;
    }
}

/* Goes through the classes as the tilt does; each has npar numbers of its own. */
void sg_lik_power_dpar(const sg_lik *self, const double *y, const double *mu, const double *S,
                       double *dpar)
{
    if (self->power == 1 || self->host) {
        sg_lik_tilt_dpar(self, y, mu, S, dpar);
        return;
    }
    for (int c = 0; c < self->C; c++) {
        double label;
        const int apart = sg_lik_is_against_rest(self);
        const sg_lik own = apart ? sg_lik_against_rest(self, c, y, &label) : *self;
        dpar_one(&own, apart ? &label : y, mu[c], S[c], dpar + self->npar * c);
    }
}
