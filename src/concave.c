/* concave.c: where the nodes of the trapezoid rule for a log-concave integrand lie (concave.h). */
#include <math.h>
#include <Rmath.h>
#include "concave.h"

static const double FALL = 30;  /* exp(-30) = 1e-13 is left out on either side */
static const double STEP = 0.18; /* in s: the map makes normal densities on all scales alike */
static const double SPREAD = 2; /* width of the map in units of 1 / sqrt(bend) */
enum { TRIES = 100, MOST_NODES = 200 };

/* Returns the next try at an end from x, where g has fallen too far: exact where the fall is
 * quadratic or exponential in the distance. */
static double step_back(double x, double fall, double steepness)
{
    if (!(fall < HUGE_VAL)) return 0.5 * x;
    const double ratio = 1.2 * FALL / fall;
    return fmax2(x * sqrt(ratio), x + fall / steepness * log(ratio));
}

/* Returns an end: a place where g is less than g(0) - FALL, but not by half as much again. sign:
 * -1 to the left, 1 to the right. */
static double find_end(sg_concave_fn g, void *ctx, double sign, double x, double *bend)
{
    double inner = 0, outer = HUGE_VAL, next;
    sg_concave_point at;
    for (int i = 0; i < TRIES; i++) {
        g(sign * x, ctx, &at);
        const double fall = -at.value, steepness = -sign * at.slope;
        *bend = at.bend;
        if (fall >= FALL && fall <= 1.5 * FALL) break;
        if (fall > FALL) {
            outer = x;
            next = step_back(x, fall, steepness);
        } else {
            inner = x;
            /* g lies below its tangent: this is far enough in any case */
            next = steepness > 0 ? x + (1.1 * FALL - fall) / steepness : 2 * x;
        }
        /* the two guesses may send each other back and forth: every fourth halves what is known */
        const int good = next > inner && next < outer && i % 4 < 3;
        x = good ? next : 0.5 * (inner + fmin2(outer, 4 * x));
    }
    return sign * x;
}

/* The map's centre stands where g bends most, as many standard deviations (of a normal density
 * that bends so) inside the end as the fall takes. A peak of the wider part that lies `away` of
 * its own standard deviations from there is on a slope of the map, and wants shorter steps: the
 * factor is from the growth of exp(g) off the real line, which is what limits the trapezoid rule.
 * Some ten evaluations of g for the two ends. Nodes are t = centre + width sinh(s) at equidistant
 * s. */
sg_concave_rule sg_concave_lay(sg_concave_fn g, void *ctx)
{
    const double sds = sqrt(2 * FALL);
    sg_concave_point at;
    sg_concave_rule rule;
    double bend_low, bend_high;
    g(0, ctx, &at);
    if (isnan(at.value) || isnan(at.bend)) { /* one node, at no place */
        rule = (sg_concave_rule) {NAN, NAN, NAN, NAN, 1};
        return rule;
    }
    const double low = find_end(g, ctx, -1, sds / sqrt(at.bend), &bend_low);
    const double high = find_end(g, ctx, 1, sds / sqrt(at.bend), &bend_high);
    const double scale = 1 / sqrt(fmax2(fmax2(bend_low, bend_high), at.bend));
    rule.centre = bend_low >= bend_high ? fmin2(low + sds * scale, 0)
                                        : fmax2(high - sds * scale, 0);
    rule.width = SPREAD * scale;
    rule.from = asinh((low - rule.centre) / rule.width);
    const double length = asinh((high - rule.centre) / rule.width) - rule.from;
    const double away = fabs(rule.centre) * sqrt(at.bend);
    const double steps = ceil(length * (1 + 0.17 * away) / STEP);
    rule.count = (steps < MOST_NODES ? (int) steps : MOST_NODES) + 1; /* of NaN, too */
    rule.step = length / (rule.count - 1);
    return rule;
}

/* Returns node k, x = centre + width sinh(s), and its weight dx/ds times the step. */
double sg_concave_node(const sg_concave_rule *rule, int k, double *weight)
{
    const double grow = exp(rule->from + k * rule->step), shrink = 1 / grow;
    *weight = 0.5 * rule->width * (grow + shrink) * rule->step;
    return rule->centre + 0.5 * rule->width * (grow - shrink);
}
