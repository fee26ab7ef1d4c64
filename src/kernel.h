/* kernel.h: the kernel contract.
 *
 * A kernel type is a constant struct of slots; a kernel node is the `self` they receive: its
 * slice of theta, the input columns it sees, its children. A kernel knows nothing of y, of noise
 * or of jitter (noise belongs to the likelihood), so cross() never has to know whether points of a
 * and b are the same ones. Where a caller wants the matrix of points with themselves it says so, by
 * NULL for the other points.
 *
 *   valid(self)                           are its children, inputs and degrees such that the other
 *                                         slots stay within them? NULL: without children it is
 *   components(self)                      how many components its first input numbers, from 1;
 *                                         NULL: its inputs are numbers
 *   ntheta(self)                          number of hyperparameters, on the scale of the search:
 *                                         logarithms, but for what may be negative (correlations of
 *                                         coregion) and what a host says of its own
 *   prepare(self, n, x, like, ws)         the points x as this kernel sees them (points.h), to be
 *                                         paired with each other and, if not NULL, with `like`;
 *                                         holds for this theta, stays in ws, copies what it needs
 *   cross(self, a, b, symmetric, K, ws)   K[a->n x b->n] overwritten, from prepared points;
 *                                         symmetric: b is a, and half of K may be copied
 *   diag(self, n, x, k, ws)               k[n] overwritten: the diagonal of x with itself
 *   adjoint(self, n, x, m, z, K, Kbar, dtheta, ws)
 *       adds sum_ij Kbar_ij dK_ij/dtheta_t to dtheta[t] for every t in one pass;
 *       K[n x m] is what sg_kernel_cross() gave. z NULL, m = n: of x with itself; Kbar need not be
 *       symmetric.
 *   adjoint_diag(self, n, x, kbar, dtheta, ws)
 *       adds sum_i kbar_i dK_ii/dtheta_t
 *   jet(self, n, x, v, m, z, w, out, ws)
 *       K[n x m] and its derivatives along directions v[n x D] of x and w[m x D] of z, sg_jet.
 *       NULL: the kernel depends on no direction that it will be given, as R refuses others, and
 *       all derivatives are 0
 *   adjoint_inputs(self, n, x, m, z, Kbar, dz, ws)
 *       adds sum_i Kbar_ij dk(x_i, z_j)/dz_j to row j of dz[m x D]. NULL: jet() gives it, input by
 *       input
 *   terms(self, harmonics, term)
 *       of a kernel of one input that is that of a Markov process: writes its terms
 *       (sg_markov_term) and returns how many, at most SG_MARKOV_TERMS; 0: it is none. A
 *       kernel of infinitely many terms, as a periodic one, writes the first `harmonics`. NULL: it
 *       never is one
 *   terms_adjoint(self, harmonics, slope, dtheta)
 *       adds the gradient in theta of a function whose derivatives in the terms are slope[]
 *
 * x is n x D, z is m x D, column-major, contiguous, finite. Slots allocate from ws only and give
 * it back, but for what prepare() returns. Cost promise: prepare O(n p), cross and adjoint
 * O(n m p), distances and inner products by one dgemm.
 *
 * To add a stationary kernel: functions in kern_radial.c, a row in kern_stationary.c, a constructor
 * in R/kernel-values.R, a formula in helper-reference.R. The catalogue, ARD, gradients and contract
 * tests follow. */
#ifndef SG_KERNEL_H
#define SG_KERNEL_H

#include "points.h"

typedef struct sg_kernel sg_kernel;

/* A kernel matrix and its derivatives along directions v_i of x and w_j of z, each n x m. */
typedef struct {
    double *K;
    double *dx;   /* v_i' dk/dx */
    double *dz;   /* w_j' dk/dz; NULL: not wanted, nor is dxdz, and there is no w */
    double *dxdz; /* v_i' d2k/dxdz' w_j */
} sg_jet;

/* A kernel k(x, z) that the host evaluates, for kern_custom.c: functions that jump where they fail,
 * on the thread of the call alone. u[p x n], v[p x m]: points, the numbers of a point together;
 * theta[ntheta]: the host's hyperparameters as they are searched.
 *   cross         K[n x m] = k(u_i, v_j)
 *   diag          k[n] = k(u_i, u_i)
 *   adjoint       slope[ntheta] = sum_ij Kbar_ij dk_ij/dtheta_t
 *   adjoint_diag  slope[ntheta] = sum_i kbar_i dk_ii/dtheta_t */
typedef struct {
    void *self;
    int ntheta;
    void (*cross)(void *self, const double *theta, int p, int n, const double *u, int m,
                  const double *v, double *K);
    void (*diag)(void *self, const double *theta, int p, int n, const double *u, double *k);
    void (*adjoint)(void *self, const double *theta, int p, int n, const double *u, int m,
                    const double *v, const double *Kbar, double *slope);
    void (*adjoint_diag)(void *self, const double *theta, int p, int n, const double *u,
                         const double *kbar, double *slope);
} sg_kernel_host;

/* A term of a kernel of one input: variance matern(|s - t|) cos(omega (s - t)) (s t)^power, the
 * Matern function of smoothness order - 1/2 (order 1, 2, 3) with r = lambda |s - t|, such as
 * exp(-r) and (1 + r) exp(-r); order 0: 1, and lambda 0. */
enum { SG_MARKOV_TERMS = 64 };

typedef struct {
    int order, power;
    double variance, lambda, omega;
} sg_markov_term;

/* Derivatives in log variance, in lambda and in omega of a term. */
typedef struct {
    double variance, lambda, omega;
} sg_markov_slope;

typedef struct {
    const char *name;
    int (*valid)(const sg_kernel *self);
    int (*components)(const sg_kernel *self);
    int (*ntheta)(const sg_kernel *self);
    sg_points (*prepare)(const sg_kernel *self, int n, const double *x, const sg_points *like,
                         const sg_ws *ws);
    void (*cross)(const sg_kernel *self, const sg_points *a, const sg_points *b, int symmetric,
                  double *K, const sg_ws *ws);
    void (*diag)(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws);
    void (*adjoint)(const sg_kernel *self, int n, const double *x, int m, const double *z,
                    const double *K, const double *Kbar, double *dtheta, const sg_ws *ws);
    void (*adjoint_diag)(const sg_kernel *self, int n, const double *x, const double *kbar,
                         double *dtheta, const sg_ws *ws);
    void (*jet)(const sg_kernel *self, int n, const double *x, const double *v, int m,
                const double *z, const double *w, const sg_jet *out, const sg_ws *ws);
    void (*adjoint_inputs)(const sg_kernel *self, int n, const double *x, int m, const double *z,
                           const double *Kbar, double *dz, const sg_ws *ws);
    int (*terms)(const sg_kernel *self, int harmonics, sg_markov_term *term);
    void (*terms_adjoint)(const sg_kernel *self, int harmonics, const sg_markov_slope *slope,
                          double *dtheta);
    const void *family; /* what the family file keeps per member */
} sg_kernel_type;

struct sg_kernel {
    const sg_kernel_type *type;
    const double *theta;           /* this node's slice; a composite's covers its children */
    int p;                         /* number of input columns it sees */
    const int *vars;               /* their indices in x, from 0 */
    const double *levels;          /* p: of an input that is a factor, whose numbers are those of
                                      levels, the squared distance of two levels; 0: numbers */
    int ard;                       /* one lengthscale (or variance) per input */
    int ndegree;
    const int *degree;             /* ndegree: poly; k0 of trig; components and rank of coregion */
    int nchild;                    /* composites, and kernels made of another one, only */
    const sg_kernel *const *child;
    const sg_kernel_host *host;    /* custom only */
};

/* Fields that are derived from a vector have numbers from -SG_DERIVED to -1 (kern_vector.c). */
enum { SG_DERIVED = 4 };

int sg_kernel_is_valid(const sg_kernel *self);
int sg_kernel_components(const sg_kernel *self); /* 0: it reads none */
int sg_kernel_ntheta(const sg_kernel *self);
int sg_kernel_is_factor(const sg_kernel *self, int k); /* is its input k one? */
int sg_kernel_nfactors(const sg_kernel *self);
int sg_kernel_has_degree(const sg_kernel *self); /* one of 0 or more, and no parts */
/* The workspace for loops over bodies that evaluate the kernel: ws, of one thread if the host has
 * a part in it. */
sg_ws sg_kernel_workspace(const sg_kernel *self, const sg_ws *ws);
sg_points sg_kernel_prepare(const sg_kernel *self, int n, const double *x, const sg_points *like,
                            const sg_ws *ws);
/* K[a->n x b->n]; b NULL: of a with itself */
void sg_kernel_between(const sg_kernel *self, const sg_points *a, const sg_points *b, double *K,
                       const sg_ws *ws);
/* K[n x m] of x[n x D] and z[m x D]: both prepared, z by itself and x like it, then cross(). z
 * NULL, m = n: of x with itself. */
void sg_kernel_cross(const sg_kernel *self, int n, const double *x, int m, const double *z,
                     double *K, const sg_ws *ws);
/* K[n x m]: the columns row[0..m-1] of the matrix of prepared points with themselves. O(n m p) */
void sg_kernel_columns(const sg_kernel *self, const sg_points *points, int m, const int *row,
                       double *K, const sg_ws *ws);
void sg_kernel_diag(const sg_kernel *self, int n, const double *x, double *k, const sg_ws *ws);
void sg_kernel_adjoint(const sg_kernel *self, int n, const double *x, int m, const double *z,
                       const double *K, const double *Kbar, double *dtheta, const sg_ws *ws);
void sg_kernel_adjoint_diag(const sg_kernel *self, int n, const double *x, const double *kbar,
                            double *dtheta, const sg_ws *ws);

/* The matrix of x[n x D] with z[m x D] and its derivatives along v[n x D] and w[m x D]; w NULL:
 * along v alone. O(n m p). */
void sg_kernel_jet(const sg_kernel *self, int n, const double *x, const double *v, int m,
                   const double *z, const double *w, const sg_jet *out, const sg_ws *ws);

/* dz[m x D] += the gradient in z of any scalar f(K) with df / dK = Kbar[n x m], x held. Inputs that
 * are factors, or that the kernel does not read, add nothing. O(n m p) in one pass; p times that
 * for kernels that have a jet alone, which are of one input. */
void sg_kernel_adjoint_inputs(const sg_kernel *self, int n, const double *x, int m,
                              const double *z, const double *Kbar, double *dz, const sg_ws *ws);

/* out: n blocks of w x w, the kernel among the w points of each row of x[n w x D]; and the adjoint:
 * adds sum Kbar_k d out_k / dtheta, Kbar in blocks as well. O(n w^2 p). */
void sg_kernel_blocks(const sg_kernel *self, int w, int n, int D, const double *x, double *out,
                      const sg_ws *ws);
void sg_kernel_adjoint_blocks(const sg_kernel *self, int w, int n, int D, const double *x,
                              const double *Kbar, double *dtheta, const sg_ws *ws);

/* The catalogue: the i-th type, or NULL past the end; lookup by name, NULL when unknown. */
const sg_kernel_type *sg_kernel_type_at(int i);
const sg_kernel_type *sg_kernel_type_find(const char *name);

/* A stationary kernel's own part (kern_stationary.c): functions of n squared distances in length
 * scales, and of a shape, which most ignore. Results may overwrite r2. */
typedef struct {
    void (*value)(int n, const double *r2, double shape, double *out); /* k(r2), with k(0) = 1 */
    void (*slope)(int n, const double *r2, double shape, double *out); /* dk / dr2; where it is
                                infinite at 0, return 0: it only ever meets r2 */
    void (*curve)(int n, const double *r2, double shape, double *out); /* d2k / dr2^2; where it is
                                infinite at 0, return 0: it only ever meets |r|^2; NULL: the
                                function has no derivative */
    void (*dshape)(int n, const double *r2, double shape, double *out); /* dk / dlog(shape), or
                                NULL when the member has no shape */
    int order; /* of a Matern function of smoothness order - 1/2, up to 3; 0: another one */
    double ratio; /* slope / value where that is a constant, which spares a slope; 0: it is none */
} sg_radial;

/* The radial functions of the built-in members (kern_radial.c) */
extern const sg_radial sg_radial_rbf, sg_radial_matern12, sg_radial_matern32, sg_radial_matern52,
    sg_radial_rq;

/* The type that has this part; `radial` has to outlive it. */
sg_kernel_type sg_stationary_type(const sg_radial *radial);

/* Family tables, each ended by a row whose name is NULL. */
extern const sg_kernel_type sg_kernels_stationary[];
extern const sg_kernel_type sg_kernels_periodic[];
extern const sg_kernel_type sg_kernels_dot[];
extern const sg_kernel_type sg_kernels_vector[];
extern const sg_kernel_type sg_kernels_coregion[];
extern const sg_kernel_type sg_kernels_combine[];
extern const sg_kernel_type sg_kernels_factor[];
extern const sg_kernel_type sg_kernels_custom[];

#endif
