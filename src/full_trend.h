/* full_trend.h: a linear mean of the latent function whose coefficients are integrated out, in full
 * EP.
 *
 * The latent values of a process are f = g + phi c, g of the kernel matrix K and c ~ N(0, I): phi
 * [N x q] holds the mean's functions (a constant is one of them) times the prior standard
 * deviations of their coefficients. The kernel matrix of f is K + phi phi', but vague priors would
 * leave no digits of K in that sum. With W of K alone (full_factor.h) and
 *   P = I + phi'W phi = L'L,   J = W phi L^{-1},   U = (phi - K W phi) L^{-1}
 * the posterior keeps the digits of K (Rasmussen and Williams 2006, eqs 2.41 and 2.42; O'Hagan
 * 1978):
 *   c ~ N(P^{-1} phi'b, P^{-1}),  b = (I + T K)^{-1} nu,   alpha = b - W phi E c,
 *   mean = K alpha + phi E c,   Sigma = K - K W K + U U',
 *   log|I + T (K + phi phi')| = log|I + T K| + log|P|,   (K + phi phi' + T^{-1})^{-1} = W - J J'.
 * With w > 1 all of it is in the turned coordinates of the factor. */
#ifndef SG_FULL_TREND_H
#define SG_FULL_TREND_H

#include "full_factor.h"

/* The trend of one process */
struct sg_full_trend {
    int q;
    const double *given; /* N x q: phi in the rows' own coordinates */
    double *phi;         /* N x q: in those of the factor; with w = 1 they are the same */
    double *J, *U;       /* N x q */
    double *L;           /* q x q, upper */
    double *coef;        /* q: E c */
};

/* Lends what every process needs, C of them; phi[N x q] is the caller's. */
sg_full_trend *sg_full_trend_new(sg_layout layout, int q, double *phi, const sg_ws *ws);

/* Computes J, U and L of a process that has just been factored, phi turned like its sites, and adds
 * log|L| to *log_det. tau[N], K[N x N]; work[N]. O(N^2 q). */
sg_status sg_full_trend_factor(sg_layout layout, const double *K, const double *tau,
                               const sg_full_factor *f, double *log_det, double *work);

/* The same without sites: the posterior is the prior. */
void sg_full_trend_prior(sg_layout layout, const sg_full_factor *f);

/* Turns b into alpha = b - W phi E c and adds E c to coef. O(N q). */
void sg_full_trend_filter(int N, sg_full_trend *trend, double *b);

/* mean += phi coef. O(N q) */
void sg_full_trend_add_mean(int N, const sg_full_trend *trend, double *mean);

/* prior += diag phi phi', in the rows' own coordinates. O(N q) */
void sg_full_trend_add_prior(int N, const sg_full_trend *trend, double *prior);

/* var += diag U U' and g -= tau diag U U', with w = 1; var in blocks of w x w, and U turned back
 * to the rows' coordinates first, with w > 1, where g stays. O(N q w). */
void sg_full_trend_add_vars(sg_layout layout, const sg_full_factor *f, const double *tau,
                            double *g, double *var, const sg_ws *ws);

/* Writes J in the rows' own coordinates and L^{-1}. O(N q w + q^3) */
void sg_full_trend_stored(sg_layout layout, const sg_full_factor *f, double *J, double *root);

#endif
