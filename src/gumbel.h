/* gumbel.h: the softmax likelihood's integrals for independent normal latent values, all classes on
 * one grid.
 *
 * P(y | f) = integral of q_y prod_j exp(-q_j) dv, q_c = exp(f_c - v): v is the largest of f_c plus
 * Gumbel noise. For f_c ~ N(m_c, s2_c) each class has a mean of its own at each v, over f_c. With
 * equidistant v, and f_c by a step that divides that of v, the values of exp(-exp(u)) that all
 * these means are of are those of one table: a class costs one exponential for each node and some
 * tens of products, where nested integrals cost some tens of exponentials. */
#ifndef SG_GUMBEL_H
#define SG_GUMBEL_H

enum { SG_GUMBEL_NODES = 400, SG_GUMBEL_CELLS = 6400 };

/* At node k: weight[k], the integrand over its largest value; of class c at c * count + k: slope
 * and curve, first and second derivative of the logarithm of its mean in m_c. */
typedef struct {
    int C, count;
    double log_scale; /* log Z is this + log(sum of the weights) */
    double weight[SG_GUMBEL_NODES];
    double slope[SG_GUMBEL_CELLS], curve[SG_GUMBEL_CELLS];
} sg_gumbel;

/* y: the class that q stands for, or -1 if there is no such, so the integrand is prod_j exp(-q_j)
 * alone, on nodes for every class: times -slope_c it is that of class c. Returns 0 where the grid
 * cannot do it to 1e-10: variances above 25, classes so many or far apart that there are not nodes
 * enough. */
int sg_gumbel_lay(int C, int y, const double *m, const double *s2, sg_gumbel *grid);

#endif
