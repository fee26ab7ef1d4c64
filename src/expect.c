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

/* A quantile that was asked for: logit p, and a data row of which y[0] is replaced. Responses that
 * may be any number have their places about `centre`, in units of `scale`. */
typedef struct {
    const sg_lik *lik;
    const double *row, *mu, *S;
    double logit, centre, scale;
    int support;
    sg_odds *known;
} asked;

static const double MOST_COUNTED = 1e15; /* beyond it all doubles are whole: no search there */
static const double LEAST_LOG = -744, MOST_LOG = 709; /* of a number that is not 0 or Inf */
static const double MOST_ODDS = 37;                   /* log odds of a proportion that is 1 */

/* Maps a response to the scale of the search, on which log odds have few bends: asinh of any
 * number, for heavy tails, the logarithm of what is positive, the log odds of a proportion, and
 * the logarithm of counts plus 2, of which the least is 0; -1 is below all. */
static double to_place(const asked *a, double y)
{
    if (a->support == SG_REAL) return asinh((y - a->centre) / a->scale);
    if (a->support == SG_WHOLE) return log(y + 2);
    if (a->support == SG_UNIT && !(y < 1)) return MOST_ODDS;
    return y > 0 ? log(y) - (a->support == SG_UNIT ? log1p(-y) : 0) : LEAST_LOG - 2;
}

/* Inverts to_place(); whole responses are rounded down. */
static double to_response(const asked *a, double place)
{
    if (a->support == SG_REAL) return a->centre + a->scale * sinh(place);
    if (a->support == SG_WHOLE) return fmin2(fmax2(floor(exp(place) - 2), -1), MOST_COUNTED);
    if (a->support == SG_UNIT) {
        const double least = exp(-fabs(place));
        return place < LEAST_LOG - 1 ? 0 : (place < 0 ? least : 1) / (1 + least);
    }
    return exp(fmin2(fmax2(place, LEAST_LOG), MOST_LOG));
}

/* Returns a response of the latent mean, and the scale of responses about it, as places are but of
 * any number. It begins the search, so a rough answer will do. */
static double typical(const asked *a, double *scale)
{
    double mean[SG_LIK_MAX_BLOCKS], var[SG_LIK_MAX_BLOCKS], centre, width;
    const sg_lik_type *type = a->lik->type;
    type->moments(a->lik, a->mu, mean, var);
    if (a->support == SG_POSITIVE) {
        *scale = 1;
        return fmin2(mean[0] + a->S[0], exp(MOST_LOG));
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

/* Evaluates the log odds that no response lies above y, which rise with y, and adds them to what
 * is known; of the points at the ends the farther one makes room. Returns its number, or -1 if they
 * are no number. */
static int add_response(const asked *a, double y)
{
    const double ROUNDING = a->support == SG_WHOLE ? 64 * DBL_EPSILON : 0;
    double row[SG_LIK_MAX_ORDERED], tails[2];
    sg_odds *known = a->known;
    for (int k = 0; k < sg_lik_q(a->lik); k++) row[k] = a->row[k];
    row[0] = y;
    a->lik->type->tails(a->lik, row, a->mu, a->S, tails);
    const double odds = log(tails[0]) - log(tails[1]) + ROUNDING;
    if (isnan(odds)) return -1;
    if (known->n == SG_ODDS_KEPT) {
        const int lowest = a->logit - known->odds[0] > known->odds[known->n - 1] - a->logit;
        known->n--;
        if (lowest) {
            sg_copy((size_t) known->n, known->y + 1, known->y);
            sg_copy((size_t) known->n, known->odds + 1, known->odds);
        }
    }
    int at = known->n++;
    for (; at > 0 && known->y[at - 1] > y; at--) {
        known->y[at] = known->y[at - 1], known->odds[at] = known->odds[at - 1];
    }
    known->y[at] = y, known->odds[at] = odds;
    return at;
}

/* Counts the points that lie below the quantile. */
static int count_below(const asked *a)
{
    int below = 0;
    while (below < a->known->n && a->known->odds[below] < a->logit) below++;
    return below;
}

/* Chooses points about the quantile, the neighbours and then the nearest first, of which none is so
 * near to another that rounding would matter in their difference. Returns how many. */
static int nearest(const asked *a, int below, int most, double *place, double *odds)
{
    const double APART = 0.05; /* of the distance from the quantile */
    const sg_odds *known = a->known;
    int count = 0, low = below - 1, high = below;
    while (count < most && (low >= 0 || high < known->n)) {
        const int up = low < 0 || (high < known->n && (high == below ||
            (low < below - 1 && known->odds[high] - a->logit < a->logit - known->odds[low])));
        const int at = up ? high++ : low--;
        const double apart = at == below || at == below - 1 ? 0
                                                            : fabs(known->odds[at] - a->logit);
        int use = isfinite(known->odds[at]);
        for (int k = 0; k < count; k++) {
            use = use && fabs(known->odds[at] - odds[k]) > APART * apart;
        }
        if (!use) continue;
        place[count] = to_place(a, known->y[at]), odds[count++] = known->odds[at];
    }
    return count;
}

/* Returns the place of the quantile on the polynomial through points, few of them beyond the
 * outermost, by Neville's scheme; NaN of fewer than two. *error: in log odds, what the last of the
 * points has changed, which does not mean much unless *apart, the product of all distances from the
 * quantile, is small. */
static double interpolated(const asked *a, int below, double *error, double *apart)
{
    enum { MOST = 6, BEYOND = 3 };
    double place[MOST], odds[MOST];
    const int inside = below > 0 && below < a->known->n;
    const int count = nearest(a, below, inside ? MOST : BEYOND, place, odds);
    *error = INFINITY, *apart = 1;
    for (int k = 0; k < count; k++) *apart *= fabs(odds[k] - a->logit);
    if (count < 2) return NAN;
    const double slope = fabs((place[1] - place[0]) / (odds[1] - odds[0]));
    double before = place[0];
    for (int k = 1; k < count; k++) {
        before = place[0];
        for (int j = k - 1; j >= 0; j--) {
            place[j] = place[j + 1] +
                (a->logit - odds[k]) * (place[j] - place[j + 1]) / (odds[j] - odds[k]);
        }
    }
    if (count > 2) *error = fabs(place[0] - before) / slope;
    return place[0];
}

/* Returns the response to look at next: on the curve through known points; halfway between two
 * where that leaves their interval, or `halfway`; and beyond the outermost point by a step. *done:
 * the curve is known well enough. */
static double next_response(const asked *a, int below, int halfway, double step, int *done)
{
    const double SURE = 1e-11; /* error of the last but one polynomial, beside the logit + 1, */
    const double NEAR = 1e-9;  /* and the product of distances */
    const sg_odds *known = a->known;
    const int whole = a->support == SG_WHOLE, inside = below > 0 && below < known->n;
    double error, apart, place = interpolated(a, below, &error, &apart);
    if (inside) {
        const double low = to_place(a, known->y[below - 1]), high = to_place(a, known->y[below]);
        if (halfway || !(place >= low && place <= high)) place = low + 0.5 * (high - low);
        else *done = !whole && apart < NEAR && error < SURE * (1 + fabs(a->logit));
        const double y = to_response(a, place);
        return whole ? fmin2(fmax2(y, known->y[below - 1] + 1), known->y[below] - 1) : y;
    }
    const int up = below > 0;
    const double end = known->y[up ? below - 1 : 0], from = to_place(a, end);
    const double way = up ? place - from : from - place;
    if (!(way > 0 && way < step)) place = up ? from + step : from - step;
    const double y = to_response(a, place);
    return !whole ? y : up ? fmin2(fmax2(y, end + 1), MOST_COUNTED) : fmax2(fmin2(y, end - 1), -1);
}

/* Looks at responses until one is the quantile, or of whole ones the neighbour above. A point that
 * does not halve the distance in log odds is followed by one halfway, or by a longer step. */
static double found(const asked *a, double scale)
{
    enum { TRIES = 1600 }; /* over all doubles */
    const double CLOSE = 1e-12; /* in log odds: of the scale of responses */
    const sg_odds *known = a->known;
    const int whole = a->support == SG_WHOLE;
    double last = INFINITY, step = scale;
    int halfway = 0, done = 0;
    for (int i = 0; i < TRIES; i++) {
        const int below = count_below(a), inside = below > 0 && below < known->n;
        if (whole && inside && known->y[below] - known->y[below - 1] <= 1) return known->y[below];
        const double y = next_response(a, below, halfway, step, &done);
        const double ends[] = {known->y[below > 0 ? below - 1 : 0],
                               known->y[below < known->n ? below : known->n - 1]};
        if (done || !isfinite(y)) return y;
        if (inside && !(y > ends[0] && y < ends[1])) return whole ? ends[1] : y; /* to rounding */
        if (y == ends[0]) return whole && y < MOST_COUNTED ? NAN : y;
        const int at = add_response(a, y);
        if (at < 0) return inside ? ends[1] : NAN;
        const double away = fabs(known->odds[at] - a->logit);
        if (!whole && away < CLOSE * (1 + fabs(a->logit))) return y;
        halfway = inside && !halfway && away > 0.5 * last;
        if (!inside) step *= 2;
        last = away;
    }
    return NAN;
}

/* Begins with a typical response where nothing is known of the row. */
double sg_quantile(const sg_lik *self, const double *y, const double *mu, const double *S,
                   double p, sg_odds *known)
{
    const double LONGEST = 4;
    asked a = {.lik = self, .row = y, .mu = mu, .S = S, .logit = log(p) - log1p(-p),
               .support = self->type->support, .known = known};
    double scale;
    a.centre = typical(&a, &scale);
    a.scale = scale > 0 ? scale : 1;
    if (known->n == 0 && add_response(&a, a.centre) < 0) return NAN;
    if (a.support == SG_REAL) scale = 1;
    return found(&a, scale * fmin2(0.3 + 0.6 * fabs(known->odds[0] - a.logit), LONGEST));
}
