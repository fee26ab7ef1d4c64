/* expect.c: distribution functions and quantiles of new responses (expect.h).
 *
 * With weights w_k = exp(log density) at equidistant nodes both tails are means over the same
 * nodes, P(Y <= y) = sum w_k P(Y <= y | x_k) / sum w_k: the normalising constant of the density is
 * never needed. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <Rmath.h>
#include "expect.h"

/* ---- Means ---- */

typedef struct {
    double total, below, above;
} sums;

/* Adds the node at x; returns whether it matters to one of the sums. Nodes that underflow or are
 * no numbers do not count. */
static int add_node(sg_tails_at at, const void *ctx, double x, double top, sums *sum)
{
    const double LEAST = 1e-300;
    double log_density, tails[2];
    at(x, ctx, &log_density, tails);
    const double weight = exp(log_density - top);
    const double below = weight * tails[0], above = weight * tails[1];
    sum->total += weight, sum->below += below, sum->above += above;
    if (weight < LEAST || isnan(sum->below + sum->above)) return 0;
    return weight > DBL_EPSILON * sum->total || below >= DBL_EPSILON * sum->below ||
        above >= DBL_EPSILON * sum->above;
}

/* Walks outwards from the centre in both directions, each until nodes stop mattering. tails[2]:
 * below and above. */
void sg_mean_tails(sg_tails_at at, const void *ctx, double centre, double step, double *tails)
{
    enum { MOST = 100000 }; /* nodes to either side */
    double top;
    sums sum = {0, 0, 0};
    at(centre, ctx, &top, tails);
    if (!(step > 0) || isnan(top + tails[0] + tails[1])) return;
    for (int k = 0; k < MOST; k++) {
        if (!add_node(at, ctx, centre - step * k, top, &sum)) break;
    }
    for (int k = 1; k < MOST; k++) {
        if (!add_node(at, ctx, centre + step * k, top, &sum)) break;
    }
    tails[0] = sum.below / sum.total;
    tails[1] = sum.above / sum.total;
}

/* ---- Counts ---- */

/* A count with the marginal of f: centre is the place of `more`, unit the divisor of large counts
 * (sg_rate_tails()). */
typedef struct {
    const sg_lik *lik;
    const double *y, *more;
    sg_count_cdf cdf;
    double mu, sd, centre, log_unit;
} count;

/* Gives the integrand over f ~ N(mu, sd^2); the smaller tail is computed, and the other is its
 * complement. */
static void given_f(double f, const void *ctx, double *log_density, double *tails)
{
    const count *c = ctx;
    const double t = c->sd > 0 ? (f - c->mu) / c->sd : 0;
    const int upper = f < c->centre + c->log_unit;
    *log_density = -0.5 * t * t;
    tails[upper] = c->cdf(c->lik, c->y, f, upper);
    tails[!upper] = 1 - tails[upper];
}

/* Gives the integrand over the place f at which P(Y <= y | f) falls: by parts, E P(Y <= y | f) =
 * int Phi((f - mu) / sd) (-dP(Y <= y | f)/df) df. */
static void given_place(double place, const void *ctx, double *log_density, double *tails)
{
    const count *c = ctx;
    *log_density = c->lik->type->logp(c->lik, c->more, &place);
    pnorm_both((place + c->log_unit - c->mu) / c->sd, tails, tails + 1, 2, 0);
}

/* Chooses the narrower of the two densities and a step that resolves both factors. more: the data
 * row of one success more, in units, as far as the rate in it goes. */
static void count_tails(const sg_lik *self, const double *y, const double *more, double unit,
                        sg_count_cdf cdf, double mu, double s2, double *tails)
{
    const double STEP = 0.6, FINEST = 0.25, sd = sg_is_point(s2) ? 0 : sqrt(s2);
    double width;
    count c = {self, y, more, cdf, mu, sd, 0, log(unit)};
    tails[0] = 0, tails[1] = 1;
    if (y[0] < 0) return;
    self->type->locate(self, more, &c.centre, &width);
    if (sd > 0.5 * width / sqrt(unit)) {
        const double step = STEP * width / hypot(1, width / sd);
        sg_mean_tails(given_place, &c, c.centre, fmin2(step, FINEST), tails);
    } else {
        const double step = sd > 0 ? STEP * sd / hypot(1, sd / width * sqrt(unit)) : 0;
        sg_mean_tails(given_f, &c, mu, step, tails);
    }
}

/* Leaves counts in units of 1. */
void sg_count_tails(const sg_lik *self, const double *y, const double *more, sg_count_cdf cdf,
                    double mu, double s2, double *tails)
{
    count_tails(self, y, more, 1, cdf, mu, s2, tails);
}

/* Divides counts beyond 1e10 by a unit, in which log p keeps its digits. */
void sg_rate_tails(const sg_lik *self, const double *y, sg_count_cdf cdf, double mu, double s2,
                   double *tails)
{
    const double VAST = 1e10, unit = fmax2(y[0] / VAST, 1), more[] = {y[0] / unit + 1, 0};
    count_tails(self, y, more, unit, cdf, mu, s2, tails);
}

/* ---- Any response given f ---- */

/* A data row with the marginal of f, and the place and scale on which its tails move. */
typedef struct {
    const sg_lik *lik;
    const double *y;
    sg_tails_given given;
    double mu, sd, centre, width;
} given_row;

/* Gives the integrand over f itself. */
static void along_f(double f, const void *ctx, double *log_density, double *tails)
{
    const given_row *g = ctx;
    const double t = g->sd > 0 ? (f - g->mu) / g->sd : 0;
    *log_density = -0.5 * t * t;
    g->given(g->lik, g->y, f, tails);
}

/* Gives the integrand over s, f = centre + width sinh(s): its steps are short where tails move, and
 * grow with the distance from there. The density has the factor cosh(s). */
static void along_stretched(double s, const void *ctx, double *log_density, double *tails)
{
    const given_row *g = ctx;
    const double f = g->centre + g->width * sinh(s), t = (f - g->mu) / g->sd;
    *log_density = -0.5 * t * t + fabs(s) + log1p(exp(-2 * fabs(s)));
    g->given(g->lik, g->y, f, tails);
}

/* Chooses between the two: over f where its marginal is narrower than the scale of the tails. */
void sg_given_tails(const sg_lik *self, const double *y, sg_tails_given given, double mu,
                    double s2, double *tails)
{
    const double STEP = 0.5, STRETCHED = 0.15, sd = sg_is_point(s2) ? 0 : sqrt(s2);
    given_row g = {self, y, given, mu, sd, 0, 1};
    self->type->locate(self, y, &g.centre, &g.width);
    if (sd > g.width) {
        const double away = (mu - g.centre) / g.width, scale = sd / g.width;
        const double step = STRETCHED / hypot(1, hypot(1, away) / scale);
        sg_mean_tails(along_stretched, &g, asinh(away), step, tails);
    } else {
        sg_mean_tails(along_f, &g, mu, STEP * sd / hypot(1, sd / g.width), tails);
    }
}

/* ---- Quantiles ---- */

/* A quantile that was asked for: logit p, and a data row of which y[0] is replaced. */
typedef struct {
    const sg_lik *lik;
    const double *row, *mu, *S;
    double logit;
    int support;
} asked;

static const double MOST_COUNTED = 1e15; /* beyond it all doubles are whole: no search there */

/* A response, and how far the log odds that no response lies above it exceed those asked for. */
typedef struct {
    double y, excess;
} point;

/* Evaluates the excess of log odds, log P(Y <= y) - log P(Y > y) - logit p, at y: it rises with y.
 * One call of tails(). */
static point at_response(const asked *a, double y)
{
    const double ROUNDING = a->support == SG_WHOLE ? 64 * DBL_EPSILON : 0;
    double row[SG_LIK_MAX_ORDERED], tails[2];
    for (int k = 0; k < sg_lik_q(a->lik); k++) row[k] = a->row[k];
    row[0] = y;
    a->lik->type->tails(a->lik, row, a->mu, a->S, tails);
    return (point) {y, log(tails[0]) - log(tails[1]) - a->logit + ROUNDING};
}

static const double LEAST_LOG = -744, MOST_LOG = 709; /* of a number that is not 0 or Inf */
static const double MOST_ODDS = 37;                   /* log odds of a proportion that is 1 */

/* Maps a response to the scale of the search: the logarithm of what is positive, the log odds of a
 * proportion, and the logarithm of counts plus 2, of which the least is 0; -1 is below all. */
static double to_place(const asked *a, double y)
{
    if (a->support == SG_REAL) return y;
    if (a->support == SG_WHOLE) return log(y + 2);
    if (a->support == SG_UNIT && !(y < 1)) return MOST_ODDS;
    return y > 0 ? log(y) - (a->support == SG_UNIT ? log1p(-y) : 0) : LEAST_LOG - 2;
}

/* Inverts to_place(); whole responses are rounded down. */
static double to_response(const asked *a, double place)
{
    if (a->support == SG_REAL) return place;
    if (a->support == SG_WHOLE) return fmin2(fmax2(floor(exp(place) - 2), -1), MOST_COUNTED);
    if (a->support == SG_UNIT) {
        const double least = exp(-fabs(place));
        return place < LEAST_LOG - 1 ? 0 : (place < 0 ? least : 1) / (1 + least);
    }
    return exp(fmin2(fmax2(place, LEAST_LOG), MOST_LOG));
}

/* Returns a response of the latent mean, and the scale of responses about it, as places are. It
 * begins the bracket, so a rough answer will do. */
static double typical(const asked *a, double *scale)
{
    double mean[SG_LIK_MAX_BLOCKS], var[SG_LIK_MAX_BLOCKS], centre, width;
    const sg_lik_type *type = a->lik->type;
    type->moments(a->lik, a->mu, mean, var);
    if (a->support == SG_POSITIVE) {
        *scale = 1;
        return mean[0] + a->S[0];
    }
    if (a->support == SG_WHOLE) {
        *scale = hypot(sqrt(a->S[0]), 1 / sqrt(1 + mean[0]));
        return fmin2(floor(mean[0]), MOST_COUNTED);
    }
    if (a->support == SG_UNIT) {
        *scale = hypot(sqrt(a->S[0]), 1);
        return mean[0];
    }
    width = sqrt(var[0]);
    if (type->locate) type->locate(a->lik, a->row, &centre, &width);
    *scale = hypot(sqrt(a->S[0]), width);
    return mean[0];
}

/* Two responses about the quantile, low->excess < 0 <= high->excess, by steps that double. Returns
 * 0 where there is no bracket. Some two or three evaluations, as a rule. */
static int bracket(const asked *a, point *low, point *high)
{
    enum { TRIES = 1100 }; /* over all doubles */
    const double LONGEST = 4;
    double scale;
    point at = at_response(a, typical(a, &scale));
    const int up = at.excess < 0;
    double place = to_place(a, at.y);
    double step = scale * fmin2(0.3 + 0.6 * fabs(at.excess), LONGEST);
    for (int i = 0; i < TRIES && !isnan(at.excess); i++, step *= 2) {
        place += up ? step : -step;
        const point next = at_response(a, to_response(a, place));
        const int last = a->support == SG_WHOLE && next.y == MOST_COUNTED;
        if (last && up && next.excess < 0) {
            *low = *high = next;
            return 1;
        }
        if ((next.excess < 0) != up) {
            *low = up ? at : next, *high = up ? next : at;
            return 1;
        }
        at = next;
    }
    return 0;
}

/* Returns a response between two: where a straight line through their excesses crosses 0, or
 * `halfway`. */
static double between(const asked *a, point low, point high, int halfway)
{
    const double from = to_place(a, low.y), to = to_place(a, high.y);
    const double rise = high.excess - low.excess;
    const double share = halfway || !(rise > 0 && isfinite(rise)) ? 0.5 : -low.excess / rise;
    const double y = to_response(a, from + share * (to - from));
    return a->support == SG_WHOLE ? fmin2(fmax2(y, low.y + 1), high.y - 1) : y;
}

/* Narrows a bracket by regula falsi after Illinois: an end that stays counts half, and at its
 * third stay it is cut off halfway. Of whole responses the upper end is the quantile once they are
 * neighbours. */
static double narrowed(const asked *a, point low, point high)
{
    enum { TRIES = 500, STAYS = 3 };
    const double CLOSE = 1e-12; /* in log odds: of the scale of responses */
    const int whole = a->support == SG_WHOLE;
    for (int i = 0, stays = 0; i < TRIES && !(whole && high.y - low.y <= 1); i++) {
        const int halfway = abs(stays) == STAYS;
        const point at = at_response(a, between(a, low, high, halfway));
        if (isnan(at.excess)) break;
        const int inside = at.y > low.y && at.y < high.y;
        if (!inside) return whole ? high.y : at.y; /* an end, to rounding */
        if (!whole && fabs(at.excess) < CLOSE * (1 + fabs(a->logit))) return at.y;
        if (at.excess < 0) {
            low = at, stays = halfway || stays < 0 ? 1 : stays + 1;
            if (stays > 1) high.excess *= 0.5;
        } else {
            high = at, stays = halfway || stays > 0 ? -1 : stays - 1;
            if (stays < -1) low.excess *= 0.5;
        }
    }
    return high.y;
}

/* Brackets the root and narrows it: some eight calls of tails(). */
double sg_quantile(const sg_lik *self, const double *y, const double *mu, const double *S,
                   double p)
{
    const asked a = {self, y, mu, S, log(p) - log1p(-p), self->type->support};
    point low, high;
    return bracket(&a, &low, &high) ? narrowed(&a, low, high) : NAN;
}
