/* lik.h: the likelihood contract.
 *
 * A likelihood type is a constant struct; a likelihood is type + parameters. It knows one row at a
 * time and nothing of x, of kernels or of sites. A data row y is q doubles (the response, then
 * trials, exposure or weight where the type has them). A row sees w latent values of each of C
 * processes (sg_layout: C = 1 but for classes, w = 1 but for a vector's components). The marginals
 * of different processes are independent; that of process c is N(mu_c, S_c), mu[C w], S[C blocks
 * of w x w], and with w = 1 S is a variance for each process, which slots call s2 then. theta is
 * unconstrained: logarithms of positive parameters, a bias itself; with C processes npar
 * parameters for each of them. A type's npar of 0 leaves their number to the likelihood, which has
 * one process then; its q of 0 means as many numbers as the sites are wide, and -1 as many as the
 * likelihood brings.
 *
 *   valid(self)                          do w, npar and q go together, where the type leaves them
 *                                        open? NULL: any do
 *   logp(self, y, f)                     log p(y|f). Required. Finite for valid y and finite f.
 *   moments(self, f, mean, var)          E and Var of a new response given f. Required.
 *   locate(self, y, centre, width)       where in f the likelihood does its work (mode, kink or
 *                                        transition) and on what scale; with y NULL, where
 *                                        moments() does. Required.
 *   tilt(self, y, mu, S, out)            log Z = log E p(y|f) under N(mu, S) and its derivatives
 *                                        in mu (sg_tilt). NULL: quadrature of logp (C = w = 1), by
 *                                        some 30 nodes where there are slopes (smooth.h)
 *   tilt_dpar(self, y, mu, S, dpar)      adds dlogZ/dtheta to dpar[npar]. NULL: quadrature
 *   predict(self, mu, S, mean, var)      moments of a new response under N(mu, S), mean[C w] and
 *                                        var[C blocks of w x w]. NULL: quadrature of moments
 *   site(self, y, tau, nu)               the exact site when log p is quadratic in f, else NULL:
 *                                        tau[w x w], nu[w]
 *   limit(self, y, mu, s2, out)          E log p(y|f) under N(mu, s2), s2 > 0, and its derivatives
 *                                        in mu (power.h). NULL: quadrature of logp
 *   slopes(self, y, f, out)              log p's first and second derivative in f into out[2].
 *                                        NULL: differences of logp, unless it is kinked
 *   logps(self, y, n, f, out)            log p(y|f) at n values of f. NULL: logp, one by one. Worth
 *                                        having where parts of log p do not depend on f
 *   tails(self, y, mu, S, out)           P(Y <= y[0]) and P(Y > y[0]) of a new response Y under
 *                                        N(mu, S), of the weight or trials in y, into out[2]. On
 *                                        R's own thread (expect.h). NULL: there is no order, or
 *                                        of categories R has them from the probabilities
 *   support                              which numbers Y may be: sg_support
 *
 * A type of classes has one latent value per class and y[0] = 1..C; its moments() and predict()
 * give every class's probability p and p (1 - p), mean[C] and var[C]. There is no quadrature in C
 * dimensions, so tilt, tilt_dpar and predict are required, and locate is not.
 *
 * A positive d2 is not clipped: it makes a site of negative precision (sites.h).
 *
 * To add a likelihood: one lik_<name>.c with the three required slots, its line in lik_list.h, its
 * twin R/lik-<name>.R with the constructor and what R has to know, a formula in
 * helper-reference.R. */
#ifndef SG_LIK_H
#define SG_LIK_H

#include <math.h>
#include <Rmath.h>
#include <stddef.h>
#include "block.h"
#include "tolerances.h"
#include "types.h"

typedef struct sg_lik sg_lik;

enum { SG_LIK_PAR_NAMES = 4 }; /* the most that a type has names for */

/* SG_WHOLE: 0, 1, 2, ...; SG_UNIT: between 0 and 1 */
typedef enum { SG_REAL, SG_POSITIVE, SG_WHOLE, SG_UNIT } sg_support;

/* The tilt of a row at its marginals: log Z, and the first and second derivatives of log Z in the
 * means. d2 has the block of each process alone, cross all of them. Classes have one variable in
 * common (the noisy winner's value, say) and are independent given it: cross is diag(own) and a
 * covariance, of what that variable makes of their first derivatives, and own <= 0 the mean of the
 * second derivatives where it is known. */
typedef struct {
    double logz;
    double *d1;    /* C w */
    double *d2;    /* C blocks of w x w */
    double *cross; /* (C w) x (C w); NULL: not wanted */
    double *own;   /* C, of classes alone; NULL: not wanted, nor is cross */
} sg_tilt;

typedef struct {
    const char *name;
    const char *par[SG_LIK_PAR_NAMES + 1]; /* names of a process's parameters, in theta's order,
                                            * the last of as many as there are where npar is 0 */
    int q, npar;
    int width;   /* latent values of a process that it sees at once; 0: any number */
    int classes; /* a process for each of C classes; 0: one */
    int labels;  /* does y[0] number one of the w latent values? */
    int (*valid)(const sg_lik *self);
    int kinked;  /* log p has a corner or a jump at locate()'s centre; slopes() is required */
    int concave; /* log p is a concave function of f */
    int (*bulges)(const double *y); /* but not of this data row; NULL: of any */
    double (*logp)(const sg_lik *self, const double *y, const double *f);
    void (*moments)(const sg_lik *self, const double *f, double *mean, double *var);
    void (*locate)(const sg_lik *self, const double *y, double *centre, double *width);
    void (*tilt)(const sg_lik *self, const double *y, const double *mu, const double *S,
                 sg_tilt *out);
    void (*tilt_dpar)(const sg_lik *self, const double *y, const double *mu, const double *S,
                      double *dpar);
    void (*predict)(const sg_lik *self, const double *mu, const double *S, double *mean,
                    double *var);
    void (*site)(const sg_lik *self, const double *y, double *tau, double *nu);
    void (*limit)(const sg_lik *self, const double *y, double mu, double s2, sg_tilt *out);
    void (*slopes)(const sg_lik *self, const double *y, double f, double *out);
    void (*logps)(const sg_lik *self, const double *y, int n, const double *f, double *out);
    void (*tails)(const sg_lik *self, const double *y, const double *mu, const double *S,
                  double *out);
    sg_support support;
    const void *family; /* what a type keeps that is made for a call; NULL for those of the list */
} sg_lik_type;

/* Slots have no workspace: bounds of their small arrays. */
enum {
    SG_LIK_MAX_PAR = 256,
    SG_LIK_MAX_CLASSES = 256,
    SG_LIK_MAX_WIDTH = SG_BLOCK_MAX,
    SG_LIK_MAX_ORDERED = 4, /* numbers in a data row of types that have tails() */
    SG_LIK_MAX_BLOCKS = 256 /* numbers in the blocks of a row, C w w; and so of C w */
};

/* A likelihood whose log p the host has, as R has that of a user's function (hosted_tilts.h).
 * logps() writes log p of m points, each with its data row y[q x m] and its latent values f[m x w],
 * w <= SG_HOST_WIDTH, and slopes() the derivatives in theta, out[npar x m]; C = 1. lost() says that
 * an integral has a large error. They may jump, and are for the host's own thread alone, as ws is.
 */
enum { SG_HOST_WIDTH = 2 };
typedef struct {
    void *self;
    const sg_ws *ws;
    void (*logps)(void *self, const sg_lik *lik, int m, const double *y, const double *f,
                  double *out);
    void (*slopes)(void *self, const sg_lik *lik, int m, const double *y, const double *f,
                   double *out);
    void (*lost)(void *self, double error);
} sg_lik_host;

struct sg_lik {
    const sg_lik_type *type;
    const double *theta; /* npar for each latent function */
    int C;               /* latent functions: sg_layout's processes */
    int w;               /* latent values of one that it sees at once */
    int npar;            /* hyperparameters of each: its type's, or as many as it brings */
    int q;               /* numbers in a data row, where its type leaves them to it */
    const sg_lik_host *host;  /* NULL: log p is C's */
    double power;             /* to which EP raises it, in [0, 1]; 0: the limit (power.h) */
    const sg_lik_type *whole; /* of a type that is a power: the type that is raised to it */
};

/* Is a variance so small that the square of its root may vanish? NaN is not. */
static inline int sg_is_point(double s2) { return s2 <= SG_NO_VARIANCE; }

/* Integrals over several independent classes are had for means and variances up to these. What lies
 * beyond is taken for them: it has won or lost as surely. A coupled tilt (lik_coupled.c) bounds
 * means alone. */
static inline double sg_class_mean(double m) { return fmin2(fmax2(m, -1e9), 1e9); }
static inline double sg_class_var(double s2) { return fmin2(s2, 1e14); }

/* hyperparameters of all latent functions together */
static inline int sg_lik_npar(const sg_lik *self) { return self->npar * self->C; }

/* numbers in a data row, and the data row number i of y[q x n] */
static inline int sg_lik_q(const sg_lik *self)
{
    const int q = self->type->q;
    return q > 0 ? q : q == 0 ? self->w : self->q;
}
/* Returns how many classes a row's y[0] numbers, from 1; 0: it is a number. */
static inline int sg_lik_labels(const sg_lik *self)
{
    return self->type->classes ? self->C : self->type->labels ? self->w : 0;
}
static inline const double *sg_lik_row(const sg_lik *self, const double *y, int i)
{
    return y + (size_t) sg_lik_q(self) * i;
}

/* The slots, or quadrature where a slot is NULL. A likelihood of two classes, y = -1 or 1, with
 * C > 1 sets each class against the rest: y is a class number from 1, class c sees 1 where y is c
 * and else -1, and their log Z add up. */
void sg_lik_tilt(const sg_lik *self, const double *y, const double *mu, const double *S,
                 sg_tilt *out);
void sg_lik_tilt_dpar(const sg_lik *self, const double *y, const double *mu, const double *S,
                      double *dpar);
void sg_lik_predict(const sg_lik *self, const double *mu, const double *S, double *mean,
                    double *var);

/* Returns the weight of a data row of counts, whose second number is minus that; 1 where it is not
 * negative, as in rows of new responses, which have no weight. */
static inline double sg_count_weight(const double *y) { return y[1] < 0 ? -y[1] : 1; }

/* Is each class set against the rest? Then class c alone, as a likelihood with C = 1, and into *y
 * what it sees of the class number in the data row; row NULL: *y is left alone. */
int sg_lik_is_against_rest(const sg_lik *self);
sg_lik sg_lik_against_rest(const sg_lik *self, int c, const double *row, double *y);

/* Is log p of a data row a concave function of f? */
static inline int sg_lik_is_concave(const sg_lik *self, const double *y)
{
    return self->type->concave && !(self->type->bulges && self->type->bulges(y));
}

/* The exact site of process c, of types that have one. */
void sg_lik_site(const sg_lik *self, const double *y, int c, double *tau, double *nu);

/* log p at n values of f (C = w = 1). */
static inline void sg_lik_logps(const sg_lik *self, const double *y, int n, const double *f,
                                double *out)
{
    if (self->type->logps) self->type->logps(self, y, n, f, out);
    else for (int i = 0; i < n; i++) out[i] = self->type->logp(self, y, f + i);
}

/* For tilts of classes: cross from sums, begun at 0, over the nodes of the integral over what the
 * classes have in common. w: a node's weight; a[C]: the classes' first derivatives there, up to a
 * constant each; mean[C]: work space. At the end d2 must be final. O(C^2). */
void sg_lik_cross_add(int C, double w, const double *a, double *mean, double *cross);
void sg_lik_cross_end(int C, double total, const double *d2, double *mean, double *cross);

/* For slots of types that have a tilt: tilt_dpar where theta is a bias for each latent function,
 * which moves log Z as its mu does, and slopes, as the tilt has them at s2 = 0. */
void sg_lik_bias_of_tilt(const sg_lik *self, const double *y, const double *mu, const double *s2,
                         double *dpar);
void sg_lik_slopes_of_tilt(const sg_lik *self, const double *y, double f, double *out);

/* The integrals over log p (C = w = 1), for slots of types that have closed forms of most rows. */
void sg_lik_tilt_integral(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          sg_tilt *out);
void sg_lik_dpar_integral(const sg_lik *self, const double *y, const double *mu, const double *s2,
                          double *dpar);

/* The first three by quadrature in any case (C = w = 1): what a closed form is tested against. */
void sg_lik_tilt_quad(const sg_lik *self, const double *y, const double *mu, const double *s2,
                      sg_tilt *out);
void sg_lik_tilt_dpar_quad(const sg_lik *self, const double *y, const double *mu,
                           const double *s2, double *dpar);
/* spread (may be NULL): variance of E(y|f) under N(mu, s2), the part of var that is about f. */
void sg_lik_predict_quad(const sg_lik *self, const double *mu, const double *s2, double *mean,
                         double *var, double *spread);

/* The type of likelihoods that have a host; in no list, as they are made by users. */
extern const sg_lik_type sg_lik_custom;

const sg_lik_type *sg_lik_type_at(int i);
const sg_lik_type *sg_lik_type_find(const char *name);

#endif
