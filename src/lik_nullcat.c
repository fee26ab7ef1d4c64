/* lik_nullcat.c: two classes with a null category between them, and rows without a label (Lawrence
 * and Jordan 2005; IVM paper section 5); and the same where every row has a label, as a margin.
 * nullcat: with m = f + bias
 *   P(first) = Phi(-m - width / 2),  P(second) = Phi(m - width / 2),  P(null) = what is left,
 * and a label is missing with probability e1 in the first class and e2 in the second; rows of the
 * null category are never met. y = -1, 1, or 0 without a label:
 *   p(y = 1) = (1 - e2) P(second),  p(y = 0) = e1 P(first) + e2 P(second)
 * theta: bias, log width, and log(e / (1 - e)) of e1 and e2. The first of a new row's two classes
 * has P(first) / (P(first) + P(second)).
 *
 * Not log-concave: a row without a label is pushed away from the null category, to either side.
 *
 * margin: p(y) = Phi(y m - width / 2), y = -1 or 1; theta: bias, log width. Log-concave. New rows
 * as above. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "logs.h"
#include "normal.h"

/* Returns half the width of the null category. */
static double half_width(const sg_lik *self)
{
    return 0.5 * exp(sg_log_within(self->theta[1]));
}

/* A class at side -1 or 1: the logarithm of Phi(z), z = (side m - width / 2) / sd, with its hazard
 * and curvature, and its share of Z. */
typedef struct {
    double log_Phi, h, curv, share;
} class_part;

/* Computes log Phi(z) of the class at `side` and its slopes, for m ~ N(mu + bias, sd^2 - 1). */
static class_part part_of(const sg_lik *self, double side, double mu, double sd)
{
    class_part out = {0};
    const double z = (side * (mu + self->theta[0]) - half_width(self)) / sd;
    out.log_Phi = sg_log_Phi_slopes(z, &out.h, &out.curv);
    return out;
}

/* Returns log Z, and writes the two parts' proportions of it. missing: is there no label? */
static double share_out(const sg_lik *self, double y, class_part *first, class_part *second)
{
    const double missing = y == 0 ? 1 : -1; /* turns the logit of e into that of 1 - e */
    const double one = first->log_Phi + sg_log_sigmoid(missing * self->theta[2]);
    const double two = second->log_Phi + sg_log_sigmoid(missing * self->theta[3]);
    first->share = y < 0, second->share = y > 0;
    if (y != 0) return y < 0 ? one : two;
    first->share = exp(sg_log_sigmoid(one - two)), second->share = exp(sg_log_sigmoid(two - one));
    return fmax2(one, two) + log1p(exp(-fabs(one - two)));
}

/* In m / sd the parts' logarithms have slopes -h and h: that of log Z is their mean, and its
 * curvature theirs and the variance of the slopes. */
static void nullcat_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         sg_tilt *out)
{
    const double sd = sqrt(1 + *s2);
    class_part first = part_of(self, -1, *mu, sd), second = part_of(self, 1, *mu, sd);
    out->logz = share_out(self, y[0], &first, &second);
    const double apart = sqrt(first.share * second.share) * (first.h + second.h);
    *out->d1 = (second.share * second.h - first.share * first.h) / sd;
    *out->d2 = (apart * apart - first.share * first.curv - second.share * second.curv) / (sd * sd);
}

/* Adds the derivatives of log Z in bias, log width and the two logits of e. A part's proportion
 * times its own derivative is its contribution; those of the logits are the other outcome's
 * probability. */
static void nullcat_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                              const double *s2, double *dpar)
{
    const double sd = sqrt(1 + *s2), missing = y[0] == 0 ? 1 : -1;
    class_part first = part_of(self, -1, *mu, sd), second = part_of(self, 1, *mu, sd);
    share_out(self, y[0], &first, &second);
    const double one = first.share * first.h, two = second.share * second.h;
    dpar[0] += (two - one) / sd;
    dpar[1] -= half_width(self) * (one + two) / sd;
    dpar[2] += missing * first.share * exp(sg_log_sigmoid(-missing * self->theta[2]));
    dpar[3] += missing * second.share * exp(sg_log_sigmoid(-missing * self->theta[3]));
}

static double nullcat_logp(const sg_lik *self, const double *y, const double *f)
{
    class_part first = part_of(self, -1, *f, 1), second = part_of(self, 1, *f, 1);
    return share_out(self, y[0], &first, &second);
}

/* Returns the log odds of the second class of the two at m, for half the width between them. */
static double log_odds(double half, double m)
{
    return sg_log_Phi(m - half) - sg_log_Phi(-m - half);
}

static void nullcat_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const double odds = log_odds(half_width(self), *f + self->theta[0]);
    *mean = exp(sg_log_sigmoid(odds));
    *var = *mean * exp(sg_log_sigmoid(-odds));
}

/* Mean of the share S(m) under m ~ N(at, s^2), with s no more than S is wide: over the normal
 * density. */
static double mean_of_narrow(double half, double at, double s)
{
    const double STEP = 0.5, END = 8.5;
    double sum = 0, total = 0;
    for (double t = -END; t <= END; t += STEP) {
        const double weight = exp(-t * t / 2);
        sum += weight * exp(sg_log_sigmoid(log_odds(half, at + s * t)));
        total += weight;
    }
    return sum / total;
}

/* The same, with s more than that, by parts: the mean of Phi((at - m) / s) over the density S'(m),
 * which falls at least as a logistic one of slope `steep` does. S' = S (1 - S) times the slope of
 * the log odds. */
static double mean_of_wide(double half, double at, double s, double steep)
{
    const double STEP = 0.65 / steep, END = fmin2(38 / steep, 8.7);
    double sum = 0, total = 0;
    for (double m = STEP / 2 - END; m < END; m += STEP) {
        double first, second, curv;
        const double two = sg_log_Phi_slopes(m - half, &second, &curv);
        const double odds = two - sg_log_Phi_slopes(-m - half, &first, &curv);
        const double weight = exp(sg_log_sigmoid(odds) + sg_log_sigmoid(-odds)) * (first + second);
        sum += weight * pnorm5((at - m) / s, 0, 1, 1, 0);
        total += weight;
    }
    return sum / total;
}

/* Both are trapezoid rules of analytic functions that vanish at the ends: errors fall as exp(-1 /
 * STEP), here to some 1e-12. */
static void nullcat_predict(const sg_lik *self, const double *mu, const double *s2, double *mean,
                            double *var)
{
    double hazard, curv;
    const double at = *mu + self->theta[0], s = sqrt(*s2), half = half_width(self);
    sg_log_Phi_slopes(-half, &hazard, &curv);
    const double steep = 2 * hazard;
    const double share = s * steep <= 1 ? mean_of_narrow(half, at, s)
                                        : mean_of_wide(half, at, s, steep);
    *mean = fmin2(share, 1); /* not by rounding */
    *var = *mean * (1 - *mean);
}

/* Places a labelled class at the edge of the null category, and a row without a label at its
 * middle. */
static void nullcat_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = (y ? y[0] * half_width(self) : 0) - self->theta[0];
    *width = 1;
}

const sg_lik_type sg_lik_nullcat = {
    .name = "nullcat", .q = 1, .npar = 4, .width = 1,
    .par = {"bias", "width", "missing1", "missing2"},
    .logp = nullcat_logp, .moments = nullcat_moments, .locate = nullcat_locate,
    .slopes = sg_lik_slopes_of_tilt, .tilt = nullcat_tilt, .tilt_dpar = nullcat_tilt_dpar,
    .predict = nullcat_predict
};

/* ---- Every row with a label ---- */

static double margin_logp(const sg_lik *self, const double *y, const double *f)
{
    return part_of(self, y[0], *f, 1).log_Phi;
}

static void margin_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                        sg_tilt *out)
{
    const double sd = sqrt(1 + *s2);
    const class_part own = part_of(self, y[0], *mu, sd);
    out->logz = own.log_Phi;
    *out->d1 = y[0] * own.h / sd;
    *out->d2 = -own.curv / (sd * sd);
}

static void margin_tilt_dpar(const sg_lik *self, const double *y, const double *mu,
                             const double *s2, double *dpar)
{
    const double sd = sqrt(1 + *s2), slope = part_of(self, y[0], *mu, sd).h / sd;
    dpar[0] += y[0] * slope;
    dpar[1] -= half_width(self) * slope;
}

const sg_lik_type sg_lik_margin = {
    .name = "margin", .q = 1, .npar = 2, .width = 1,
    .par = {"bias", "width"},
    .logp = margin_logp, .moments = nullcat_moments, .locate = nullcat_locate,
    .slopes = sg_lik_slopes_of_tilt, .tilt = margin_tilt, .tilt_dpar = margin_tilt_dpar,
    .predict = nullcat_predict
};
