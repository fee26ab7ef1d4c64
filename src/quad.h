/* quad.h: adaptive one-dimensional quadrature against a Gaussian.
 *
 * The integrand is exp(logf(u)) N(u; mu, s2). Breakpoints are laid geometrically around mu and
 * around the place where logf does its work (a kink, a mode, a transition), the peak is found and
 * made a breakpoint too, and the worst interval is bisected until Gauss-Kronrod 7-15 agrees with
 * itself. So neither a likelihood far from mu, nor one much narrower or wider than the Gaussian,
 * nor a second mode is missed. Relative accuracy about 1e-10 in Z and in every expectation. Cost:
 * 15 evaluations for each of 10 to 40 intervals, and at most 200 bisections, so no input, however
 * strange, takes long: then the best so far is the answer. */
#ifndef SG_QUAD_H
#define SG_QUAD_H

enum { SG_QUAD_MAX = 8 }; /* most expectations of one call */

typedef struct {
    double mu, s2;                                       /* the Gaussian, s2 > 0 */
    double centre, width;                                /* where logf works, and on what scale */
    void (*logf)(int n, const double *u, const void *ctx, double *); /* at n places; NULL: 0 */
    int k;                                               /* number of further expectations */
    void (*values)(double u, const void *ctx, double *); /* writes k values; NULL when k = 0 */
    double size[SG_QUAD_MAX];                            /* expectations need be no better than
                                                            1e-10 of this: rounding in a value
                                                            must not be chased */
    const void *ctx;
    double peak, peak_width; /* a further place and scale to look at; width 0: no such place */
} sg_quad_problem;

/* log Z, and under the normalised integrand: mean and variance of t = (u - mu) / sqrt(s2), and
 * the expectations of the k values. */
typedef struct {
    double logz, mean, var, expect[SG_QUAD_MAX];
} sg_quad_result;

void sg_quad(const sg_quad_problem *problem, sg_quad_result *result);

/* Returns node i of the 15 of Gauss-Kronrod 7-15 on [-1, 1], with its weights in both rules. */
double sg_kronrod_node(int i, double *kronrod, double *gauss);

#endif
