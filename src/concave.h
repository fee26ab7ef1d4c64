/* concave.h: the trapezoid rule for a log-concave integrand exp(g(x)) on the line.
 *
 * The line ends where g has fallen FALL below its peak. Between, nodes are equidistant in s,
 * x = centre + width sinh(s): dense where g bends most, on a scale that grows with the distance
 * from there. For analytic g with a bend that changes monotonically (a normal density times steps
 * of any width) the error falls exponentially with the number of nodes: 1e-11 with 25 to 60, and
 * up to 100 where a step is 1e4 times narrower than the density.
 * g is given relative to a place near its peak, x = 0, where slope^2 is less than bend. */
#ifndef SG_CONCAVE_H
#define SG_CONCAVE_H

/* g(x) - g(0), g'(x), -g''(x) */
typedef struct {
    double value, slope, bend;
} sg_concave_point;

typedef void (*sg_concave_fn)(double x, void *ctx, sg_concave_point *at);

typedef struct {
    double centre, width; /* of the map */
    double from, step;    /* s of the first node, and from node to node */
    int count;
} sg_concave_rule;

/* Lays the nodes; 3 to 10 calls of g. */
sg_concave_rule sg_concave_lay(sg_concave_fn g, void *ctx);

/* Node k, 0 <= k < count: x and its weight. */
double sg_concave_node(const sg_concave_rule *rule, int k, double *weight);

#endif
