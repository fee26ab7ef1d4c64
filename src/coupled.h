/* coupled.h: site shifts of several classes from one Newton step for all of them.
 *
 * Likelihoods of classes do not notice when the latent functions of all classes move by the same
 * amount, but a site sees one latent value and takes the others for fixed: sweeps follow such a
 * move without resisting it, and need hundreds. Here the sites' shifts come from the means of the
 * Newton step that includes the coupling. With K the prior covariance of all latent values, alpha =
 * K^{-1} mean, r = d1 - alpha, S the cavities' variances and H a row's second derivatives of log Z
 * (sg_tilt: cross),
 *   (I + W K) dalpha = r + W S r,   dmean = K dalpha,   W = -(I + H S)^{-1} H.
 *
 * H = F F' - D, with D = -diag(own) and F F' the covariance of what the classes' first derivatives
 * have in common: functions of one variable, nearly all of which a few columns F carry. So W is
 * had without an inverse of C x C, and is kept as a diagonal and as many columns. With N = (I - D
 * S)^-1 (positive: 1 - D S is a tilted variance over the cavity's where that variable is known),
 *   W = D N - Y Y',   Y = N F L^{-T},   L L' = I + F'S N F.
 * H 1 = 0 holds with any number of columns, as the first is F F' 1 to scale: sweeps are not to
 * resist what the likelihood does not. Fixed points do not depend on W at all. */
#ifndef SG_COUPLED_H
#define SG_COUPLED_H

#include "sites.h"

/* Columns of F: W is exact for up to so many classes; beyond, three leave an error of 1e-4 of its
 * norm, two of 1e-3, and one of a tenth. */
enum { SG_COUPLED_RANK = 3 };

/* The first column needs `own` alone. With more classes than this it is all there is of F: cross,
 * C^2 sums over nodes, makes tilts of 100 classes half as long again, and of many classes sweeps
 * are as many without it. */
enum { SG_COUPLED_CROSS = 16 };

static inline int sg_coupled_rank(int C)
{
    return C > SG_COUPLED_CROSS ? 1 : C < SG_COUPLED_RANK ? C : SG_COUPLED_RANK;
}

/* Numbers that W of a row takes: the diagonal D N, and Y[rank x C]. */
static inline size_t sg_coupled_size(int C) { return (size_t) C * (1 + sg_coupled_rank(C)); }

/* W of a row from its tilt, with own, and cross if the rank is above 1, at cavities of variance
 * s[C]. O(C rank^2). */
void sg_coupled_row(int C, const double *s, const sg_tilt *tilt, double *W);

/* W of a row for classes c and e. */
double sg_coupled_weight(int C, const double *W, int c, int e);

/* x := W x, x over the latent values of a row. */
void sg_coupled_weigh(int C, const double *W, double *x);

/* x[m x C], the latent values of the rows from .. from + m - 1 on their way: to be changed, kept or
 * replaced, on whichever thread. */
typedef void (*sg_between)(void *ctx, int from, int m, double *x);

/* The latent values as coordinates carry them, K = V V': how the step sees a posterior. Arrays over
 * coordinates are of all latent functions. */
typedef struct {
    int size; /* coordinates */
    /* out = V'f(V a), f = between on spans of rows, each once; a NULL: x is passed on unchanged,
     * out NULL: f is all that is wanted. Rows are read once. */
    void (*through)(void *self, const double *a, sg_between between, void *ctx, double *out);
    void (*smooth)(void *self, double *a); /* a = (I + V'TV)^{-1} a at the sites of the moment */
    /* M[size x size], lower triangle, += V'WV for the rows' weights W; NULL: not asked for */
    void (*weigh)(void *self, const double *W, double *M);
} sg_carrier;

typedef struct {
    double *x;                  /* n x C */
    double *a, *r, *p, *z, *Ap; /* over coordinates: conjugate gradients */
} sg_coupling;

sg_coupling sg_coupling_new(int rows, int C, int coordinates, const sg_ws *ws);

/* The system (I + V'WV) a = V'(r + W S r) of rows that are a part of all: adds theirs to the lower
 * triangle of M[size x size] and to side[size]. */
void sg_coupled_system(const sg_marginals *marg, const sg_carrier *carrier, void *self,
                       sg_coupling *c, double *M, double *side);

/* The targets nu[n x C] of the shifts at the means of a solution a. */
void sg_coupled_targets(const sg_marginals *marg, const sg_carrier *carrier, void *self,
                        const double *a, const double *tau, double *nu, sg_coupling *c);

/* The targets nu[n x C] of the shifts at the Newton step's means, for targets tau[n x C] of the
 * precisions; marg->W from the tilts. Conjugate gradients on (I + V'WV) a = V'(r + W S r), at most
 * 50 steps of one through and smooth each. */
void sg_coupled_shifts(const sg_marginals *marg, const sg_carrier *carrier, void *self,
                       const double *tau, double *nu, sg_coupling *c, const sg_ws *ws);

#endif
