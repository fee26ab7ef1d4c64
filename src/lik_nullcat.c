/* lik_nullcat.c: two classes with a null category between them, and rows without a label (Lawrence
 * and Jordan 2005; IVM paper section 5). With m = f + bias
 *   P(first) = Phi(-m - width / 2),  P(second) = Phi(m - width / 2),  P(null) = what is left,
 * and a label is missing with probability e1 in the first class and e2 in the second; rows of the
 * null category are never met. y = -1, 1, or 0 without a label:
 *   p(y = 1) = (1 - e2) P(second),  p(y = 0) = e1 P(first) + e2 P(second)
 * theta: bias, log width, and log(e / (1 - e)) of e1 and e2. The first of a new row's two classes
 * has P(first) / (P(first) + P(second)).
 *
 * Not log-concave: a row without a label is pushed away from the null category, to either side. */
#include <math.h>
#include <Rmath.h>
#include "lik.h"
#include "logs.h"
#include "normal.h"

static double half_width(const sg_lik *self)
{
    return 0.5 * exp(sg_log_within(self->theta[1]));
}

/* A class at side -1 or 1: the logarithm of Phi(z), z = (side m - width / 2) / sd, with its hazard
 * and curvature, and its share of Z. */
typedef struct {
    double log_Phi, h, curv, share;
} class_part;

static class_part part_of(const sg_lik *self, double side, double mu, double sd)
{
    class_part out = {0};
    const double z = (side * (mu + self->theta[0]) - half_width(self)) / sd;
    out.log_Phi = sg_log_Phi_slopes(z, &out.h, &out.curv);
    return out;
}

/* The two parts' shares, and log Z. missing: of a label? */
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

static void nullcat_moments(const sg_lik *self, const double *f, double *mean, double *var)
{
    const class_part first = part_of(self, -1, *f, 1), second = part_of(self, 1, *f, 1);
    const double odds = second.log_Phi - first.log_Phi, log_p = sg_log_sigmoid(odds);
    *mean = exp(log_p);
    *var = exp(log_p + sg_log_sigmoid(-odds));
}

static void nullcat_locate(const sg_lik *self, const double *y, double *centre, double *width)
{
    *centre = (y ? y[0] * half_width(self) : 0) - self->theta[0];
    *width = 1;
}

const sg_lik_type sg_lik_nullcat = {
    .name = "nullcat", .q = 1, .npar = 4, .width = 1,
    .par = {"bias", "width", "missing1", "missing2"},
    .logp = nullcat_logp, .moments = nullcat_moments, .locate = nullcat_locate,
    .slopes = sg_lik_slopes_of_tilt, .tilt = nullcat_tilt, .tilt_dpar = nullcat_tilt_dpar
};
