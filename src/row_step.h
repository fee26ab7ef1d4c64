/* row_step.h: what one row does to the posteriors on a basis (thesis 3.6, 4.6); exchange.h has what
 * it does to the basis.
 *
 * A row is w points, consecutive rows of x, whose latent values u its likelihood sees at once
 * (types.h: sg_layout). The basis carries V'z of u, V[d x w], and leaves Gamma = K - V'V. With
 * G = M V a row's marginal is N(V'a, V'G + Gamma), and a tilt (d1, d2) there moves
 *   a += G shift,  M += G bend G',   shift = eta d1,  bend = eta d2,
 * eta = (I + d2 Gamma)^{-1} for the KL-optimal projection (thesis 3.29), I to match moments. Its
 * site (T, nu) is that of the tilt at the marginal, or to match moments at N(V'a, V'G); S gains
 * V T V', t gains V nu. Blocks lie as sg_layout has them.
 *
 * Weights take scalar steps only (weights.h): bend = U diag(var) U' makes w of them, along the
 * columns of G U with means U'shift, and T is turned in the same way. With w = 1 nothing is
 * turned. */
#ifndef SG_ROW_STEP_H
#define SG_ROW_STEP_H

#include "sites.h"
#include "weights.h"

/* The points of the present row that are to join, in turn (exchange.h). */
typedef struct {
    int count;
    int which[SG_BLOCK_MAX];    /* their numbers among the row's */
    double gamma[SG_BLOCK_MAX]; /* what is left of each as it joins */
    double L[SG_BLOCK_SIZE];    /* w x count: the coordinates of the row's points that they add */
    double left[SG_BLOCK_SIZE]; /* w x w: what is left of Gamma once they have joined */
    double *q, *s;              /* cap x w: R^{-1} V and R^{-1} M V in the basis with them */
    double *before;             /* cap x w: q of each as it joins (sg_point) */
    sg_parts parts;             /* of a process as it would be with the row; */
    sg_band Q;                  /* Q of the basis with it */
} sg_joining;

/* A sparse process: a basis, its points, and a posterior for each of C processes. */
typedef struct {
    sg_basis basis;
    int C, w;              /* processes; latent values of one that a row sees */
    sg_weights *each;      /* C */
    int p;
    double *points;        /* p x cap: basis points, a column each */
    double *id;            /* cap: the number of the row of x each came from, from 1 */
    int *first;            /* cap: is it the first of its location? */
    sg_removal removal;    /* of the last one to leave */
    double *V;             /* cap x w: of the present row, its points in the basis */
    double *G, *s;         /* cap x C w: of the present row M V and R^{-1} M V */
    int knows_s;
    sg_joining joining;
    double *score, *worst; /* cap each */
    double *column, *work; /* cap; sg_absorb_scratch() of one row */
} sg_process;

/* Room for cap points of p inputs: rules of w more than their size. */
sg_process sg_process_new(int cap, int p, int C, int w, const sg_ws *ws);

/* M V and R^{-1} M V of the present row and process c */
static inline double *sg_gains(const sg_process *gp, int c)
{
    return gp->G + (size_t) gp->basis.cap * gp->w * c;
}
static inline double *sg_gains_in_weights(const sg_process *gp, int c)
{
    return gp->s + (size_t) gp->basis.cap * gp->w * c;
}

/* A row as the basis of the moment sees it: one of a view (row_view.h). */
typedef struct {
    int w, ldx;
    const double *x;         /* w x p, leading dimension ldx */
    const double *K, *gamma; /* w x w */
    const double *V, *q;     /* d x w */
} sg_seen;

typedef enum { SG_MOMENT, SG_KL } sg_projection;

/* Marginals, tilt, step and site of a row, for all processes. */
typedef struct {
    double *mean, *d1, *shift, *nu;             /* C w */
    double *carried, *whole, *d2, *bend, *tau;  /* C blocks; whole = carried + Gamma */
    double logz;
} sg_row_tilt;

sg_row_tilt sg_row_tilt_new(const sg_process *gp, const sg_ws *ws);

/* The tilt of row i at N(mean + offset, carried + gamma), with mean and carried of all processes
 * filled in; nonnegative: d2 less what would widen the marginal. Returns 0 when a number is not
 * finite. */
int sg_row_tilt_there(const sg_process *gp, const sg_rows *rows, int i, int nonnegative,
                      const double *gamma, sg_row_tilt *tilt);

/* Marginals of row i, and the tilt there. O(C w d^2). */
int sg_row_marginals(sg_process *gp, const sg_rows *rows, int i, int nonnegative,
                     const sg_seen *seen, sg_row_tilt *tilt);

/* Step and site on a basis that leaves left[w x w] of Gamma. Returns 0 when a process has none. */
int sg_row_steps(const sg_process *gp, const double *gamma, const double *left,
                 sg_projection projection, sg_row_tilt *tilt);

/* Both directions of thesis 3.16, summed over the processes. */
void sg_row_kl(const sg_process *gp, const sg_row_tilt *tilt, double kl[2]);

/* Site (T, nu) of the tilt (d1, d2) at N(mu, S): sg_block_site(), or with w = 1
 * sg_site_from_tilt(). */
int sg_row_site(int w, const double *mu, const double *S, const double *d1, const double *d2,
                double *T, double *nu);

/* Gains of process c: G = M V, mean[w] = V'a, carried[w x w] = V'G, of V[ldv x w]. O(w d^2). */
void sg_row_gains(sg_process *gp, int c, const double *V, int ldv, double *mean, double *carried);

/* R^{-1} G of all processes, once after their gains. O(C w d^2 / 2). */
void sg_row_gains_in_weights(sg_process *gp);

/* Moves process c along its gains by the tilt's shift and bend. S and t are left to
 * sg_process_absorb(). O(w d^2). */
void sg_row_move(sg_process *gp, int c, const sg_row_tilt *tilt);

/* The same step for what scores on d points are made of, along s[cap x w] = R^{-1} G; and P, by
 * q tau q' for q[ldq x w], unless that is NULL. O(w^2 d). */
void sg_row_move_parts(sg_process *gp, int c, const sg_row_tilt *tilt, int d, sg_parts *parts,
                       const double *s, const double *q, int ldq);

/* Takes the sites of m rows, seen as V[ldv x m w], into S and t of process c; sign -1: out of them.
 * tau[m blocks], nu[m w], work[sg_absorb_scratch(gp, m)]. O(m w d^2). */
void sg_process_absorb(sg_process *gp, int c, int m, const double *V, int ldv, const double *tau,
                       const double *nu, double sign, double *work);
size_t sg_absorb_scratch(const sg_process *gp, int m);

/* sg_weights_refresh() of all posteriors. */
sg_status sg_process_refresh(sg_process *gp, const sg_ws *ws);

#endif
