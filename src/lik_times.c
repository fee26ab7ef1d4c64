/* lik_times.c: times to an event, y = f + scale e, where y is the logarithm of a time and f that of
 * the time's scale: accelerated failure times. The error e is of the minimum extreme value
 * distribution (weibull), logistic (loglogistic) or normal (lognormal). theta: log scale. The data
 * row has two numbers, a kind and a third number: the event at the first (1), after it (0), before
 * it (2), or between both (3); and the entry, before which no event would have been seen (left
 * truncation), NO_ENTRY where there is none.
 *
 * With a and b the bounds of the error, at a distance w, and S(e) = P(error > e), log p is
 *   event                     log -S'(a) - log scale
 *   in (a, b]                 log(S(a) - S(b)), where a may be -Inf and b Inf,
 * and with the entry at c, log S(c) less; what is before b is then in (c, b].
 * All are concave in f, but with an entry those of the minimum extreme value alone. For this one
 * S(e) = exp(-exp(e)); for the logistic S(e) = 1 / (1 + exp(e)). Normal errors without an entry
 * have closed forms: under N(mu, s2) log Z is log p at mu with scale^2 + s2 in place of scale^2
 * (Tobin 1958). Densities are of y, not of the time. */
#include <math.h>
#include <Rmath.h>
#include "expect.h"
#include "logs.h"
#include "normal.h"

enum { AFTER = 0, EVENT = 1, BEFORE = 2, BETWEEN = 3 };

static const double LARGEST = 300; /* exp() of it, and that times a square, is finite */
static const double NO_ENTRY = -1e300; /* the logarithm of 0, where numbers are finite */

/* log p in units of the error, and its first and second derivative in the error's bounds, which
 * move together. */
typedef struct {
    double value, slope, bend;
} error_term;

/* Bounds of the error of a data row; an event has a alone. Without an entry c is -Inf. */
typedef struct {
    double a, b, w;
    int event;
    double c;
} bounds;

static double scale_of(const sg_lik *self)
{
    return exp(sg_log_within(self->theta[0]));
}

/* Is there a time before which no event would have been seen? */
static int has_entry(const double *y)
{
    return y[3] > NO_ENTRY;
}

/* Returns the bounds of the error at f, in units of `scale`. */
static bounds bounds_of(const double *y, double f, double scale)
{
    bounds at = {-HUGE_VAL, HUGE_VAL, HUGE_VAL, y[2] == EVENT, -HUGE_VAL};
    if (has_entry(y)) at.c = (y[3] - f) / scale;
    if (y[2] != BEFORE) at.a = (y[0] - f) / scale;
    if (y[2] == BEFORE) {
        at.a = at.c, at.b = (y[0] - f) / scale;
        if (has_entry(y)) at.w = (y[0] - y[3]) / scale;
    }
    if (y[2] == BETWEEN) {
        at.b = (y[1] - f) / scale;
        at.w = (y[1] - y[0]) / scale;
    }
    return at;
}

/* Returns log(1 - exp(-x)), x > 0. */
static double log1m_exp(double x)
{
    return x < M_LN2 ? log(-expm1(-x)) : log1p(-exp(-x));
}

/* ---- Minimum extreme value ---- */

/* With A = exp(a) - exp(c) and D = exp(b) - exp(a): an event has a - A; otherwise log p is -A +
 * log(1 - exp(-D)), whose second term has the slope q = D / (exp(D) - 1) and the bend
 * q (1 - D - q), as A and D grow by their own size. */
static error_term extreme_term(bounds at)
{
    const double since = at.c > -HUGE_VAL ? log1m_exp(at.a - at.c) : 0;
    const double A = exp(fmin2(at.a + since, LARGEST));
    if (at.event) return (error_term) {at.a - A, 1 - A, -A};
    error_term out = {-A, -A, -A};
    if (at.b == HUGE_VAL) return out;
    const double SMALL = 1e-10, log_D = fmin2(at.b + log1m_exp(at.w), LARGEST), D = exp(log_D);
    const double q = D < SMALL ? 1 - D / 2 : D / expm1(D);
    out.value += D < SMALL ? log_D - D / 2 : log1m_exp(D);
    out.slope += q;
    out.bend += D < SMALL ? -D / 2 : q * (1 - D - q);
    return out;
}

/* ---- Logistic ---- */

/* log(S(a) - S(b)) = log F(b) + log S(a) + log(1 - exp(-w)), F = 1 - S; an event has log F(a) S(a).
 * log F has the slope S and the bend -F S, log S the slope -F and that bend. */
static error_term logistic_term(bounds at)
{
    error_term out = {0, 0, 0};
    if (at.event) at.b = at.a;
    else if (at.w != HUGE_VAL) out.value = log1m_exp(at.w);
    if (at.a != -HUGE_VAL) {
        const double log_F = sg_log_sigmoid(at.a), log_S = sg_log_sigmoid(-at.a);
        out.value += log_S, out.slope -= exp(log_F), out.bend -= exp(log_F + log_S);
    }
    if (at.b != HUGE_VAL) {
        const double log_F = sg_log_sigmoid(at.b), log_S = sg_log_sigmoid(-at.b);
        out.value += log_F, out.slope += exp(log_S), out.bend -= exp(log_F + log_S);
    }
    return out;
}

/* ---- Normal ---- */

/* Fills the term of an interval so narrow that the density hardly bends: with m its middle, log p =
 * log phi(m) + log w + w^2 (m^2 - 1) / 24, to w^4. */
static error_term narrow_term(bounds at)
{
    const double m = at.a + at.w / 2, w2 = at.w * at.w;
    return (error_term) {-0.5 * m * m - M_LN_SQRT_2PI + log(at.w) + w2 * (m * m - 1) / 24,
                         -m + w2 * m / 12, -1 + w2 / 12};
}

/* Fills the term of a proper interval above the mean, 0 <= a + b. With Q(e) = P(error > e) and x =
 * log Q(a) - log Q(b), p = Q(a) (1 - exp(-x)); of x far out only the difference of the squares has
 * digits. The densities at the bounds, relative to p, are from -log Q's slopes. */
static error_term upper_interval(bounds at)
{
    const double FAR = 1e5;
    double h_a, h_b, curv;
    const double log_a = sg_log_Phi_slopes(-at.a, &h_a, &curv);
    const double log_b = sg_log_Phi_slopes(-at.b, &h_b, &curv);
    const double x = at.a < FAR ? log_a - log_b
                                : at.w * (at.a + at.w / 2) + log1p(at.w / at.a);
    const double from_a = h_a / -expm1(-x), from_b = x < LARGEST ? h_b / expm1(x) : 0;
    const double slope = from_b - from_a;
    const double bend = at.a * from_a - (from_b > 0 ? at.b * from_b : 0) - slope * slope;
    return (error_term) {log_a + log1m_exp(x), slope, fmin2(fmax2(bend, -1), 0)};
}

/* Computes the term of a proper interval, from the side on which both tails are small. */
static error_term normal_interval(bounds at)
{
    const double NARROW = 3e-3;
    if (at.w * fmax2(1, fabs(at.a + at.w / 2)) < NARROW) return narrow_term(at);
    if (at.a + at.b >= 0) return upper_interval(at);
    error_term out = upper_interval((bounds) {-at.b, -at.a, at.w, 0, at.c});
    out.slope = -out.slope;
    return out;
}

static error_term normal_term(bounds at)
{
    double h, curv;
    if (at.event) return (error_term) {-0.5 * at.a * at.a - M_LN_SQRT_2PI, -at.a, -1};
    if (at.w < HUGE_VAL) return normal_interval(at);
    const int after = at.b == HUGE_VAL;
    const double value = sg_log_Phi_slopes(after ? -at.a : at.b, &h, &curv);
    return (error_term) {value, after ? -h : h, -curv};
}

/* ---- All three ---- */

/* Returns the term of a row given that the error is above c. */
static error_term given_entry(error_term (*law)(bounds), bounds at)
{
    error_term out = law(at);
    if (at.c == -HUGE_VAL) return out;
    const error_term above = law((bounds) {at.c, HUGE_VAL, HUGE_VAL, 0, -HUGE_VAL});
    out.value -= above.value, out.slope -= above.slope, out.bend -= above.bend;
    return out;
}

static error_term logistic_given_entry(bounds at) { return given_entry(logistic_term, at); }

static error_term normal_given_entry(bounds at) { return given_entry(normal_term, at); }

/* Fills log p and its derivatives in f for errors of `scale`: d/df = -1 / scale d/de. */
static error_term term_at(error_term (*law)(bounds), const double *y, double f, double scale)
{
    error_term out = law(bounds_of(y, f, scale));
    if (y[2] == EVENT) out.value -= log(scale);
    out.slope /= -scale;
    out.bend /= scale * scale;
    return out;
}

/* Places the centre in the middle of what is known of the time, and the width at the error's
 * scale. */
static void times_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = !y ? 0 : y[2] == BETWEEN ? 0.5 * (y[0] + y[1]) : y[0];
    *width = y ? scale_of(self) : 1;
}

/* Defines logp() and slopes() of a likelihood by the term of its error. */
#define TIMES_SLOTS(name, law)                                                                    \
    static double name##_logp(const sg_lik *self, const double *y, const double *f)               \
    {                                                                                             \
        return term_at(law, y, *f, scale_of(self)).value;                                         \
    }                                                                                             \
    static void name##_slopes(const sg_lik *self, const double *y, double f, double *out)         \
    {                                                                                             \
        const error_term at = term_at(law, y, f, scale_of(self));                                 \
        out[0] = at.slope, out[1] = at.bend;                                                      \
    }
TIMES_SLOTS(weibull, extreme_term)
TIMES_SLOTS(loglogistic, logistic_given_entry)
TIMES_SLOTS(lognormal, normal_given_entry)

/* Computes the moments of y under N(mu, s2), from those of the error. */
static void with_error(const sg_lik *self, double mu, double s2, double error_mean,
                       double error_var, double *mean, double *var)
{
    const double scale = scale_of(self);
    *mean = mu + scale * error_mean;
    *var = s2 + scale * scale * error_var;
}

/* Defines moments() and predict() of a likelihood by mean and variance of its error. */
#define TIMES_MOMENTS(name, error_mean, error_var)                                                \
    static void name##_predict(const sg_lik *self, const double *mu, const double *s2,            \
                               double *mean, double *var)                                         \
    {                                                                                             \
        with_error(self, *mu, *s2, error_mean, error_var, mean, var);                             \
    }                                                                                             \
    static void name##_moments(const sg_lik *self, const double *f, double *mean, double *var)    \
    {                                                                                             \
        with_error(self, *f, 0, error_mean, error_var, mean, var);                                \
    }
static const double EULER = 0.577215664901532860606512090082402431;
TIMES_MOMENTS(weibull, -EULER, M_PI * M_PI / 6)
TIMES_MOMENTS(loglogistic, 0, M_PI * M_PI / 3)
TIMES_MOMENTS(lognormal, 0, 1)

/* ---- Distribution functions given f and an entry ---- */

/* Computes P(Y <= y | f, Y > entry) and P(Y > y | f, Y > entry): 0 and 1 before the entry. */
static void tails_given(error_term (*law)(bounds), const sg_lik *self, const double *y, double f,
                        double *tails)
{
    const double row[4] = {fmax2(y[0], y[3]), 0, AFTER, y[3]};
    const double log_above = fmin2(term_at(law, row, f, scale_of(self)).value, 0);
    tails[0] = -expm1(log_above), tails[1] = exp(log_above);
}

static void extreme_tails_given(const sg_lik *self, const double *y, double f, double *tails)
{
    tails_given(extreme_term, self, y, f, tails);
}

static void logistic_tails_given(const sg_lik *self, const double *y, double f, double *tails)
{
    tails_given(logistic_given_entry, self, y, f, tails);
}

static void normal_tails_given(const sg_lik *self, const double *y, double f, double *tails)
{
    tails_given(normal_given_entry, self, y, f, tails);
}

/* ---- Closed forms of normal errors ---- */

/* Computes log p and its derivatives at mu, with the variance of f added to that of the error; of a
 * row that has an entry by quadrature. */
static void lognormal_tilt(const sg_lik *self, const double *y, const double *mu,
                           const double *s2, sg_tilt *out)
{
    if (has_entry(y)) {
        sg_lik_tilt_integral(self, y, mu, s2, out);
        return;
    }
    const double total = hypot(scale_of(self), sqrt(*s2));
    const error_term at = term_at(normal_term, y, *mu, total);
    out->logz = at.value, *out->d1 = at.slope, *out->d2 = at.bend;
}

/* log Z depends on scale^2 + s2 alone, and dlog Z/ds2 = (d1^2 + d2) / 2 for any likelihood, so that
 * dlog Z/dlog scale = scale^2 (d1^2 + d2). */
static void lognormal_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                                const double *s2, double *dpar)
{
    double d1, d2;
    sg_tilt at = {.d1 = &d1, .d2 = &d2};
    if (has_entry(y)) {
        sg_lik_dpar_integral(self, y, mu, s2, dpar);
        return;
    }
    lognormal_tilt(self, y, mu, s2, &at);
    dpar[0] += scale_of(self) * scale_of(self) * (d1 * d1 + d2);
}

static void lognormal_tails(const sg_lik *self, const double *y, const double *mu,
                            const double *s2, double *out)
{
    if (has_entry(y)) sg_given_tails(self, y, normal_tails_given, *mu, *s2, out);
    else pnorm_both((y[0] - *mu) / hypot(scale_of(self), sqrt(*s2)), out, out + 1, 2, 0);
}

/* ---- Distribution functions of the other two ---- */

/* y - mu, and standard deviation of f, in units of the scale. */
typedef struct {
    double away, sd;
    int extreme;
} mixed_error;

/* Computes P(error <= e) and P(error > e). */
static void error_tails(int extreme, double e, double *tails)
{
    if (extreme) {
        const double A = exp(fmin2(e, LARGEST));
        tails[0] = -expm1(-A), tails[1] = exp(-A);
    } else {
        tails[0] = exp(sg_log_sigmoid(e)), tails[1] = exp(sg_log_sigmoid(-e));
    }
}

/* Gives the integrand over f, at a number of its standard deviations. */
static void given_f(double t, const void *ctx, double *log_density, double *tails)
{
    const mixed_error *m = ctx;
    *log_density = -0.5 * t * t;
    error_tails(m->extreme, m->away - m->sd * t, tails);
}

/* Gives the integrand over the error, of which f is below or above what remains. */
static void given_error(double e, const void *ctx, double *log_density, double *tails)
{
    const mixed_error *m = ctx;
    const bounds event = {e, HUGE_VAL, HUGE_VAL, 1, -HUGE_VAL};
    *log_density = (m->extreme ? extreme_term(event) : logistic_term(event)).value;
    pnorm_both((m->away - e) / m->sd, tails, tails + 1, 2, 0);
}

/* Computes P(Y <= y) and P(Y > y) as a mean over the narrower of f and the error. Steps: a normal
 * density is summed to rounding by steps of 0.5, both errors' (analytic within pi / 2 and pi of the
 * line) by 0.25. */
static void mixed_tails(const sg_lik *self, const double *y, double mu, double s2, int extreme,
                        double *out)
{
    const double STEP = 0.25, scale = scale_of(self);
    if (has_entry(y)) {
        sg_given_tails(self, y, extreme ? extreme_tails_given : logistic_tails_given, mu, s2, out);
        return;
    }
    const mixed_error m = {(y[0] - mu) / scale, sg_is_point(s2) ? 0 : sqrt(s2) / scale, extreme};
    if (m.sd > 1) sg_mean_tails(given_error, &m, 0, STEP, out);
    else sg_mean_tails(given_f, &m, 0, s2 == s2 && m.sd == 0 ? 0 : STEP, out);
}

static void weibull_tails(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          double *out)
{
    mixed_tails(self, y, *mu, *s2, 1, out);
}

static void loglogistic_tails(const sg_lik *self, const double *y, const double *mu,
                              const double *s2, double *out)
{
    mixed_tails(self, y, *mu, *s2, 0, out);
}

const sg_lik_type sg_lik_weibull = {
    .name = "weibull", .q = 4, .npar = 1, .width = 1, .concave = 1,
    .par = {"scale"},
    .logp = weibull_logp, .moments = weibull_moments, .locate = times_locate,
    .slopes = weibull_slopes, .predict = weibull_predict, .tails = weibull_tails
};

const sg_lik_type sg_lik_loglogistic = {
    .name = "loglogistic", .q = 4, .npar = 1, .width = 1, .concave = 1, .bulges = has_entry,
    .par = {"scale"},
    .logp = loglogistic_logp, .moments = loglogistic_moments, .locate = times_locate,
    .slopes = loglogistic_slopes, .predict = loglogistic_predict, .tails = loglogistic_tails
};

const sg_lik_type sg_lik_lognormal = {
    .name = "lognormal", .q = 4, .npar = 1, .width = 1, .concave = 1, .bulges = has_entry,
    .par = {"scale"},
    .logp = lognormal_logp, .moments = lognormal_moments, .locate = times_locate,
    .slopes = lognormal_slopes, .tilt = lognormal_tilt, .tilt_dpar = lognormal_tilt_dpar,
    .predict = lognormal_predict, .tails = lognormal_tails
};
