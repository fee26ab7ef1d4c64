/* lik_zero.c: counts with more zeros than a Poisson or a negative binomial distribution has, or
 * fewer. y and theta are those of that distribution, the part that counts (lik_poisson.c,
 * lik_negbin.c), and theta has log(zero / (1 - zero)) in addition, at its end.
 *
 * zip, zinb: with probability `zero` a count is an excess zero, else it is from the part,
 *   p(0) = zero + (1 - zero) p0(f),   p(y) = (1 - zero) p_part(y|f),
 * p0 the part's probability of 0. As sums go into integrals, log Z follows from the part's own.
 * hurdle_poisson, hurdle_negbin: a count is 0 with probability `zero`, else it is one of the part's
 * that are not 0,
 *   p(0) = zero,   p(y) = (1 - zero) p_part(y|f) / (1 - p0(f)),
 * so zeros are no evidence on f. A zero of zip and zinb is not log-concave; the hurdle of counts is
 * not where they vary more than a rate alone. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "logs.h"

extern const sg_lik_type sg_lik_poisson, sg_lik_negbin;

/* Returns the part that counts: its theta comes first. */
static sg_lik part_of(const sg_lik *self)
{
    sg_lik part = *self;
    part.type = self->npar == sg_lik_poisson.npar + 1 ? &sg_lik_poisson : &sg_lik_negbin;
    part.npar = part.type->npar;
    return part;
}

/* Returns log zero, or where `less` log(1 - zero). */
static double log_zero(const sg_lik *self, int less)
{
    const double odds = sg_log_within(self->theta[self->npar - 1]);
    return sg_log_sigmoid(less ? -odds : odds);
}

/* Returns log(exp(a) + exp(b)) of finite numbers. */
static double log_add(double a, double b)
{
    return fmax2(a, b) + log1p(exp(-fabs(a - b)));
}

static const double NO_COUNT[] = {0, 0}; /* the data row of a 0 */

/* ---- Excess zeros ---- */

/* Computes log p at n values of f from the part's. */
static void excess_logps(const sg_lik *self, const double *y, int n, const double *f, double *out)
{
    const sg_lik part = part_of(self);
    const double log_excess = log_zero(self, 0), log_rest = log_zero(self, 1);
    sg_lik_logps(&part, y, n, f, out);
    for (int i = 0; i < n; i++) {
        out[i] += log_rest;
        if (y[0] == 0) out[i] = log_add(log_excess, out[i]);
    }
}

/* Returns log p at one f, by the same lines. */
static double excess_logp(const sg_lik *self, const double *y, const double *f)
{
    double out;
    excess_logps(self, y, 1, f, &out);
    return out;
}

/* Turns log Z and its derivatives of the part into those of the whole. Where y = 0, Z = zero +
 * (1 - zero) Z_part: with r the second term's proportion of the whole, d1 = r d1_part and d2 =
 * r d2_part + r (1 - r) d1_part^2. Returns r. */
static double with_excess(const sg_lik *self, const double *y, double *logz, double *d1,
                          double *d2)
{
    const double log_part = *logz + log_zero(self, 1);
    *logz = y[0] == 0 ? log_add(log_zero(self, 0), log_part) : log_part;
    const double r = y[0] == 0 ? exp(log_part - *logz) : 1;
    *d2 = r * *d2 + (y[0] == 0 ? r * exp(log_zero(self, 0) - *logz) * *d1 * *d1 : 0);
    *d1 *= r;
    return r;
}

static void excess_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const sg_lik part = part_of(self);
    double logp = part.type->logp(&part, y, &f);
    part.type->slopes(&part, y, f, out);
    with_excess(self, y, &logp, out, out + 1);
}

static void excess_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        sg_tilt *out)
{
    const sg_lik part = part_of(self);
    sg_lik_tilt(&part, y, mu, s2, out);
    with_excess(self, y, &out->logz, out->d1, out->d2);
}

/* Adds the part's dlogZ/dtheta times r, and in the log odds of `zero` that proportion of Z which
 * is excess less `zero` itself. */
static void excess_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                             const double *s2, double *dpar)
{
    const sg_lik part = part_of(self);
    double own[SG_LIK_PAR_NAMES] = {0}, d1, d2;
    sg_tilt tilt = {.d1 = &d1, .d2 = &d2};
    sg_lik_tilt(&part, y, mu, s2, &tilt);
    sg_lik_tilt_dpar(&part, y, mu, s2, own);
    const double r = with_excess(self, y, &tilt.logz, &d1, &d2);
    const double excess = y[0] == 0 ? exp(log_zero(self, 0) - tilt.logz) : 0;
    for (int k = 0; k < part.npar; k++) dpar[k] += r * own[k];
    dpar[part.npar] += excess - exp(log_zero(self, 0));
}

/* Turns the part's moments M and V into (1 - zero) M and (1 - zero) (V + zero M^2). */
static void thin(const sg_lik *self, double *mean, double *var)
{
    const double rest = exp(log_zero(self, 1));
    *var = rest * (*var + exp(log_zero(self, 0)) * *mean * *mean);
    *mean *= rest;
}

static void excess_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const sg_lik part = part_of(self);
    part.type->moments(&part, f, mean, var);
    thin(self, mean, var);
}

static void excess_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                           double *var)
{
    const sg_lik part = part_of(self);
    sg_lik_predict(&part, mu, s2, mean, var);
    thin(self, mean, var);
}

/* Places a count where the part does, and a 0 about where p0(f) falls below `zero`: from there on
 * f makes no difference. */
static void excess_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const double FAR = 10;
    const sg_lik part = part_of(self);
    part.type->locate(&part, y, centre, width);
    if (!y || y[0] > 0) return;
    *centre = fmax2(log(-log_zero(self, 0)), -FAR) - self->theta[0];
    *width = 1;
}

static void excess_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         double *out)
{
    const sg_lik part = part_of(self);
    const double rest = exp(log_zero(self, 1));
    part.type->tails(&part, y, mu, s2, out);
    out[0] = y[0] < 0 ? 0 : exp(log_zero(self, 0)) + rest * out[0];
    out[1] = y[0] < 0 ? 1 : rest * out[1];
}

#define SG_EXCESS                                                                               \
    .logp = excess_logp, .moments = excess_moments, .locate = excess_locate,                    \
    .slopes = excess_slopes, .logps = excess_logps, .tilt = excess_tilt,                        \
    .tilt_dpar = excess_tilt_dpar, .predict = excess_predict, .tails = excess_tails,            \
    .support = SG_WHOLE

const sg_lik_type sg_lik_zip = {.name = "zip", .q = 2, .npar = 2, .width = 1,
                                .par = {"bias", "zero"}, SG_EXCESS};
const sg_lik_type sg_lik_zinb = {.name = "zinb", .q = 2, .npar = 3, .width = 1,
                                 .par = {"bias", "size", "zero"}, SG_EXCESS};

/* ---- A hurdle ---- */

/* Is the rate so small that 1 - p0 is the rate itself, to all digits? */
static int is_vanishing(const sg_lik *part, double f)
{
    const double LEAST = -200; /* far below the logarithm of any `size` that is met */
    return f + part->theta[0] < LEAST;
}

/* Returns log(1 - p0), p0 the part's probability of 0. */
static double log_positive(const sg_lik *part, double f)
{
    if (is_vanishing(part, f)) return f + part->theta[0];
    const double log_p0 = part->type->logp(part, NO_COUNT, &f);
    return log_p0 > -M_LN2 ? log(-expm1(log_p0)) : log1p(-exp(log_p0));
}

/* Returns the logarithm of P(Y <= y | f) of the part, or of P(Y > y | f) where `upper`. */
static double log_part_cdf(const sg_lik *part, const double *y, double f, int upper)
{
    const double rate = sg_rate_of(f + part->theta[0]);
    if (part->npar == 1) return ppois(y[0], rate, !upper, 1);
    return pnbinom_mu(y[0], exp(sg_log_within(part->theta[1])), rate, !upper, 1);
}

/* Returns log p(y|f), which for a 0 does not depend on f; NaN stays NaN. */
static double hurdle_logp(const sg_lik *self, const double *y, const double *f)
{
    const sg_lik part = part_of(self);
    if (y[0] == 0) return log_zero(self, 0) + 0 * *f;
    return log_zero(self, 1) + part.type->logp(&part, y, f) - log_positive(&part, *f);
}

/* Computes both derivatives of log p. With L = log p0 and q = p0 / (1 - p0),
 *   -log(1 - p0)' = q L',   -log(1 - p0)'' = (q L')^2 + q L'^2 + q L'',
 * of which the limits for small rates are -1 and 0. */
static void hurdle_slopes(const sg_lik *self, const double *y, double f, double *out)
{
    const sg_lik part = part_of(self);
    double at_0[2], log_p0;
    out[0] = out[1] = 0 * f;
    if (y[0] == 0) return;
    part.type->slopes(&part, y, f, out);
    if (is_vanishing(&part, f)) {
        out[0] -= 1;
        return;
    }
    log_p0 = part.type->logp(&part, NO_COUNT, &f);
    part.type->slopes(&part, NO_COUNT, f, at_0);
    const double q = exp(log_p0) / -expm1(log_p0), first = q * at_0[0];
    out[0] += first;
    out[1] += first * first + first * at_0[0] + q * at_0[1];
}

/* Computes the moments of a new response given f. Those that are not 0 have the mean R = m /
 * (1 - p0) and the variance v R / m - p0 R^2, with m and v the part's moments. */
static void hurdle_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double MOST = 1e150; /* its square is a number */
    const sg_lik part = part_of(self);
    const double rest = exp(log_zero(self, 1)), zero = exp(log_zero(self, 0));
    double m, v, one = 1, spread = 0;
    if (!is_vanishing(&part, *f)) {
        part.type->moments(&part, f, &m, &v);
        const double p0 = exp(part.type->logp(&part, NO_COUNT, f));
        one = fmin2(exp(log(m) - log_positive(&part, *f)), MOST);
        spread = fmin2(one * fmax2(v / m - p0 * one, 0), MOST * MOST);
    }
    *mean = rest * one + 0 * *f;
    *var = rest * (spread + zero * one * one) + 0 * *f;
}

/* Places a count where the part does; a 0 has no place. */
static void hurdle_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    const sg_lik part = part_of(self);
    part.type->locate(&part, y, centre, width);
}

/* Computes P(Y <= y | f) and P(Y > y | f) of counts that are not 0; the smaller one has the digits.
 */
static void positive_given(const sg_lik *self, const double *y, double f, double *tails)
{
    const sg_lik part = part_of(self);
    const double log_all = log_positive(&part, f);
    tails[1] = fmin2(exp(log_part_cdf(&part, y, f, 1) - log_all), 1);
    tails[0] = 1 - tails[1];
    if (tails[1] < 0.5) return;
    const double below = exp(log_part_cdf(&part, y, f, 0));
    tails[0] = (below - exp(part.type->logp(&part, NO_COUNT, &f))) * exp(-log_all);
}

static void hurdle_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         double *out)
{
    const double zero = exp(log_zero(self, 0)), rest = exp(log_zero(self, 1));
    out[0] = 0, out[1] = 1;
    if (y[0] > 0) sg_given_tails(self, y, positive_given, *mu, *s2, out);
    out[0] = y[0] < 0 ? 0 : zero + rest * out[0];
    out[1] = y[0] < 0 ? 1 : rest * out[1];
}

#define SG_HURDLE                                                                               \
    .logp = hurdle_logp, .moments = hurdle_moments, .locate = hurdle_locate,                    \
    .slopes = hurdle_slopes, .tails = hurdle_tails, .support = SG_WHOLE

const sg_lik_type sg_lik_hurdle_poisson = {.name = "hurdle_poisson", .q = 2, .npar = 2,
                                           .width = 1, .concave = 1, .par = {"bias", "zero"},
                                           SG_HURDLE};
const sg_lik_type sg_lik_hurdle_negbin = {.name = "hurdle_negbin", .q = 2, .npar = 3, .width = 1,
                                          .par = {"bias", "size", "zero"}, SG_HURDLE};
