#include <math.h>
#include "concave.h"

static const double FALL = 30;  /* exp(-30) = 1e-13 is left out on either side */
static const double STEP = 0.2; /* in s: the map makes normal densities on all scales alike */
static const double SPREAD = 2; /* width of the map in units of 1 / sqrt(bend) */
enum { TRIES = 12, MOST_NODES = 200 };

/* An end: a place beyond which g is less than g(0) - FALL, and not much farther out than needed.
 * sign: -1 to the left, 1 to the right. */
static double find_end(sg_concave_fn g, void *ctx, double sign, double start, double *bend)
{
    double inner = 0, outer = HUGE_VAL, x = start;
    sg_concave_point at;
    for (int i = 0; i < TRIES; i++) {
        g(sign * x, ctx, &at);
        const double fall = -at.value;
        *bend = at.bend;
        if (fall >= FALL && fall <= 1.5 * FALL) return sign * x;
        if (fall > FALL) {
            outer = x;
            x = fmax(x * fmax(sqrt(FALL / fall), 0.01), inner + 0.25 * (x - inner));
        } else {
            /* g lies below its tangent: this reaches the end in any case */
            const double away = -sign * at.slope;
            inner = x;
            x += away > 0 ? (1.02 * FALL - fall) / away : x;
            if (x >= outer) x = 0.5 * (inner + outer);
        }
    }
    return sign * (outer < HUGE_VAL ? outer : x);
}

/* The map's centre stands where g bends most, as many standard deviations (of a normal density that
 * bends so) inside the end as the fall takes. A peak of the wider part that lies `away` of its own
 * standard deviations from there is on a slope of the map, and wants shorter steps: the factor is
 * from the growth of exp(g) off the real line, which is what limits the trapezoid rule. */
sg_concave_rule sg_concave_lay(sg_concave_fn g, void *ctx)
{
    const double sds = sqrt(2 * FALL);
    sg_concave_point at;
    sg_concave_rule rule;
    double bend_low, bend_high;
    g(0, ctx, &at);
    const double low = find_end(g, ctx, -1, sds / sqrt(at.bend), &bend_low);
    const double high = find_end(g, ctx, 1, sds / sqrt(at.bend), &bend_high);
    const double scale = 1 / sqrt(fmax(fmax(bend_low, bend_high), at.bend));
    rule.centre = bend_low >= bend_high ? fmin(low + sds * scale, 0) : fmax(high - sds * scale, 0);
    rule.width = SPREAD * scale;
    rule.from = asinh((low - rule.centre) / rule.width);
    const double length = asinh((high - rule.centre) / rule.width) - rule.from;
    const double away = fabs(rule.centre) * sqrt(at.bend);
    rule.count = (int) fmin(ceil(length * (1 + 0.17 * away) / STEP), MOST_NODES) + 1;
    rule.step = length / (rule.count - 1);
    return rule;
}

double sg_concave_node(const sg_concave_rule *rule, int k, double *weight)
{
    const double grow = exp(rule->from + k * rule->step), shrink = 1 / grow;
    *weight = 0.5 * rule->width * (grow + shrink) * rule->step;
    return rule->centre + 0.5 * rule->width * (grow - shrink);
}
