/* state.h: what is kept of everything that lives on a basis, by whichever method: the factor of the
 * basis and the sums of the sites, K_B = R'R, S = sum T v v', t = sum nu v (weights.h). Sums of
 * rows seen apart add up; a fit can go on from them; and everything else is derived:
 *   M = (I + S)^{-1},  a = M t,  alpha = R^{-1} a,  G = R^{-1},  H = R^{-1} A^{-1},  A'A = I + S
 * With the coefficients of a mean z ends with them (basis_rows.h), and these are the parts of z
 * that belong to points. */
#ifndef SG_STATE_H
#define SG_STATE_H

#include "la.h"

/* The posterior of z: A = A^{-1} with A'A = I + S, upper with zeros below, and m = M t; adds
 * log|A|. S[d x d], leading dimension lds, lower triangle read. SG_NOT_PD: there is no posterior.
 * O(d^3) */
sg_status sg_state_factor(int d, const double *S, int lds, const double *t, double *Ainv, double *m,
                          double *log_det);

/* Points to where the q coefficients of a mean go: coef[q x C], J[C times d x q], root[C times q x
 * q] */
typedef struct {
    int q;
    double *coef, *J, *root;
} sg_state_mean;

/* The stored form (posterior.h) of C processes on one basis: alpha[d x C], G[d x d], H[C times
 * d x d], from R[d x d], S[C times D x D] and t[D x C], D = d + q; G and H are zero below their
 * diagonals. O(C D^3). */
sg_status sg_state_stored(int d, int C, const double *R, const double *S, const double *t,
                          double *alpha, double *G, double *H, const sg_state_mean *mean,
                          const sg_ws *ws);

#endif
