/* weights.h: a posterior on a basis that changes one row or one basis point at a time.
 *
 * K_B = R'R. A row x is seen as v(x) = R^{-T} k(x), and of the latent function the basis carries
 * v'z (thesis: w = R^{-1} z):
 *   prior      z ~ N(0, I)
 *   posterior  z ~ N(a, M),  M = (I + S)^{-1},  a = M t,
 *   S = sum tau v v',  t = sum nu v  over the sites (tau, nu) of all rows seen,
 *   residual   gamma(x) = K(x,x) - |v|^2,
 *   marginal   mean(x) = v'a,  var(x) = gamma + v'M v.
 * In these coordinates every matrix of a posterior lies between 0 and I, whatever the condition
 * of K_B; the thesis's parameters are alpha = R^{-1} a, E = C + Q = R^{-1} M R^{-T},
 * Q = R^{-1} R^{-T}.
 *
 * S and t are sums and never lose digits; M and a follow row by row in O(d^2) and are rebuilt from
 * S and t by sg_weights_refresh() every now and then. Several posteriors (one per class) may share
 * a basis. Matrices have room for `cap` points and leading dimension cap.
 *
 * A row of w values is w scalar steps here: along the columns of M V U, and with sites on those of
 * V U, where U has the eigenvectors of the block in question (row_step.h). What is w wide are the
 * bands of E, Q and R^{-1} S R^{-T}: points that joined together leave together, and the score of
 * such a group takes its whole block. Bands take 2 d w operations where diagonals take 2 d, beside
 * the d^2 of the row. */
#ifndef SG_WEIGHTS_H
#define SG_WEIGHTS_H

#include "band.h"
#include "la.h"

/* The geometry of a basis, which no response changes. */
typedef struct {
    int cap, d;
    double *R; /* upper triangular */
    double *K; /* d: diagonal of K_B */
    sg_band Q; /* of K_B^{-1}; 1 / Q_jj is what the other points leave of K_jj */
} sg_basis;

typedef enum { SG_SCORE_MEAN, SG_SCORE_KL, SG_SCORE_ERROR } sg_score;

/* Weights and bands that scores of points are made of */
typedef struct {
    double *alpha; /* d: weights */
    sg_band E, P;  /* P = R^{-1} S R^{-T} (thesis: of the projected sites) */
} sg_parts;

typedef struct {
    double *M; /* lower triangle; both after a refresh */
    double *a;
    double *S, *t; /* both triangles of S */
    sg_parts parts;
    double *work;  /* cap */
} sg_weights;

/* Room for cap points, not used yet; bands of this width. */
sg_basis sg_basis_new(int cap, int width, const sg_ws *ws);
sg_weights sg_weights_new(int cap, int width, const sg_ws *ws);
sg_parts sg_parts_new(int cap, int width, const sg_ws *ws);

/* X[d x m] = R^{-T} X (kernel columns to v), X = R^{-1} X (to weights). O(d^2 m / 2). */
void sg_basis_whiten(const sg_basis *b, int m, double *X);
void sg_basis_to_weights(const sg_basis *b, int m, double *X);

/* A point that is to join, as the basis sees it. */
typedef struct {
    const double *v; /* d */
    const double *q; /* d: Q k = R^{-1} v */
    double gamma;    /* > 0 */
} sg_point;

/* How a tilt moves one posterior along g = M v: a += mean g, M += var g g'. */
typedef struct {
    double mean, var;
} sg_step;

/* g[d] = M v; returns v'M v, the variance that the basis carries. */
double sg_weights_gain(const sg_weights *w, const sg_basis *b, const double *v, double *g);

/* Moves M and a by a step (thesis 2.46, 3.29); g = M v. S and t are left to sg_weights_absorb().
 * O(d^2). */
void sg_weights_move(sg_weights *w, const sg_basis *b, const double *g, const sg_step *step);

/* The same step for what the scores are made of: alpha += mean s, E += var s s', s = R^{-1} g
 * (thesis: Ck + Qk). P is the site's: it gains tau q q', q = R^{-1} v. Of no use on a basis that
 * stays. O(d). */
void sg_parts_move(sg_parts *parts, int d, const double *s, const sg_step *step);

/* S += sign sum_i tau_i v_i v_i', t += sign sum_i nu_i v_i for the columns of V[d x m], leading
 * dimension ldv. work[d x m]. */
void sg_weights_absorb(sg_weights *w, const sg_basis *b, int m, const double *V, int ldv,
                       const double *tau, const double *nu, double sign, double *work);

/* The point joins the basis (thesis 3.5): first every posterior, then the basis. Its weight begins
 * at its prior. With e = (q; -1):  E += e e' / gamma,  Q += e e' / gamma. O(d). */
void sg_weights_grow(sg_weights *w, const sg_basis *b, const sg_point *point);
void sg_basis_grow(sg_basis *b, const sg_point *point);

/* The same for parts of d points, into `grown`, which may be parts; P only if kind asks for it. */
void sg_parts_grow(const sg_parts *parts, int d, const sg_point *point, sg_score kind,
                   sg_parts *grown);

/* Returns the point, of d, of which the others leave least, as a proportion of its prior variance
 * (K: the diagonal of K_B), if that is less than `novelty`; else -1. Each point was novel when it
 * joined, but those that joined later may have made it redundant, and K_B singular. O(d). */
int sg_basis_redundant(int d, const double *K, sg_band Q, double novelty);

/* The removal of point j: what it takes, and what rows outside must do to their v. */
typedef struct {
    int j, d;          /* d: size before */
    double *r, *q;     /* R^{-T} e_j; column j of Q */
    double *cos, *sin; /* rotations of coordinates (k, k + 1), k = j .. d - 2 */
    double *R;         /* cap x cap: columns j .. d - 2 of the next R */
} sg_removal;

sg_removal sg_removal_new(int cap, const sg_ws *ws);

/* Removes point j, KL-optimally (thesis 3.19-3.22): each posterior is conditioned on w_j = 0. Call
 * begin, then remove for every posterior, then end. O(d^2). */
void sg_removal_begin(sg_removal *rem, const sg_basis *b, int j);
void sg_weights_remove(sg_weights *w, const sg_basis *b, const sg_removal *rem);
void sg_removal_end(const sg_removal *rem, sg_basis *b);

/* X[ldx x m]: the v of m rows in the coordinates after the removal; coordinate d becomes 0. */
void sg_removal_rotate(const sg_removal *rem, int m, double *X, int ldx);

/* Scores each group o of the d points by the cost of its KL-optimal removal (thesis 3.26, 3.24 in
 * blocks, 5.43; 3.6 for "error"):
 *   mean   alpha_o' E_oo^{-1} alpha_o
 *   kl     the same + log|E_oo| - log|Q_oo| + tr(Q_oo^{-1} P_oo), twice KL(without || with)
 *   error  |Q_oo^{-1} alpha_o|, how far the mean at the group is from what the others make of it
 * A group begins where first[i] is not 0, and so does the next; it is no larger than the bands are
 * wide. score[i] is written at the first point of each. O(d width^2). */
void sg_parts_scores(const sg_parts *parts, sg_band Q, int d, const int *first, sg_score kind,
                     double *score);

/* points of the group that begins with point i, of d */
static inline int sg_group_size(int d, const int *first, int i)
{
    int m = 1;
    while (i + m < d && !first[i + m]) m++;
    return m;
}

/* log|A|, A'A = I + S. O(d^3). */
sg_status sg_weights_log_det(const sg_weights *w, const sg_basis *b, double *log_det,
                             const sg_ws *ws);

/* M, a and parts of w and Q of b anew from R, S, t. O(d^3). On SG_NOT_PD nothing has changed. */
sg_status sg_weights_refresh(sg_weights *w, sg_basis *b, const sg_ws *ws);

#endif
