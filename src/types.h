/* types.h: what every layer of the core shares.
 *
 * House rules of the core (everything but glue_*.c and init.c):
 *   - plain C99 on double *, column-major and contiguous; sizes are int, offsets size_t
 *     (write i + (size_t) n * j);
 *   - no R objects, no printing, no error(): a function that can fail returns an sg_status;
 *   - memory comes from the workspace, is never freed by hand, and is gone when the call ends;
 *   - no statics that change, no randomness.
 *
 * Notation, one table for the whole package (paper letters inside, words outside):
 *   mu, s2           mean and variance of a Gaussian marginal of the latent function
 *   logz, d1, d2     tilt: log Z = log E_N(mu,s2) p(y|u) and its two derivatives in mu
 *                    (thesis q, r; IVM paper alpha, -nu; formulas alpha, -beta)
 *   tau, nu          site: precision and shift of the factor exp(-tau u^2 / 2 + nu u); for w latent
 *                    values at once T, a w x w block, and nu: exp(-u'T u / 2 + nu'u)
 *   cavity           a marginal without its own site: cav_mean, cav_var
 *   K, Kbar          Gram matrix; Kbar is the weight of its adjoint, d/dK of a scalar
 *   B, d             basis and its size (thesis: BV set; IVM paper: active set)
 *   alpha            weights of the posterior mean, mean(x) = k(x)' alpha
 *   A, Ainv          upper Cholesky factor of I + T^1/2 K T^1/2, T = diag(tau) (full_factor.h has
 *                    tau < 0), or of I + S on a basis; its inverse
 *   z ~ N(a, M)      what a basis carries of the posterior: v(x)'z, v = R^{-T} k(x), z ~ N(0, I)
 *                    a priori; M = (I + S)^{-1}, a = M t (weights.h)
 *   S, t             sums of tau v v' and nu v over rows
 *   E, Q             R^{-1} M R^{-T} (thesis: C + Q), K_B^{-1}
 *   R                upper Cholesky factor of the basis's kernel matrix, K_B = R'R
 *   V, gamma         rows seen through the basis: V = K_nB R^{-1}, gamma = K_ii - |V_i|^2
 *   G, H             stored factors: var(x) = K(x,x) - |G'k|^2 + |H'k|^2
 *   theta            hyperparameters on the unconstrained scale (logarithms; a bias itself)
 * / */
#ifndef SG_TYPES_H
#define SG_TYPES_H

#include <stddef.h>
#include <string.h>

typedef enum {
    SG_OK = 0,
    SG_NOT_PD = -1,    /* a Cholesky factorisation met a pivot that is not positive */
    SG_NOT_FINITE = -2, /* a marginal or log Z became NaN or infinite */
    SG_NO_SITE = -3     /* a row that has to have a site has no site at its tilt */
} sg_status;

/* How latent values lie in arrays. A model has C independent processes (one for each class, or
 * one), and w latent values of a process that a site sees at once (w > 1: a vector's components).
 * Value a of row i of process c stands at a + w (i + n c); a process's w x w block of row i begins
 * at w w (i + n c). Passed by the host, never inferred. */
typedef struct {
    int n, C, w;
} sg_layout;

/* sites, one for each row and process; latent values; numbers in their w x w blocks */
static inline size_t sg_sites_of(sg_layout l) { return (size_t) l.n * l.C; }
static inline size_t sg_values_of(sg_layout l) { return sg_sites_of(l) * l.w; }
static inline size_t sg_blocks_of(sg_layout l) { return sg_values_of(l) * l.w; }

/* Services that the host lends to the core: memory, threads, a place to be interrupted; self is its
 * own. doubles(n) never returns NULL (the host jumps instead, which is safe because nothing is
 * owned here). release(mark()) gives back what was taken in between: use it around blocks. tick()
 * is called once per sweep, block or some hundred rows; it may jump as well, and so may threads():
 * how many threads a loop may use (products: one that is mostly BLAS), 0 when the host leaves that
 * open (par.h). */
typedef struct {
    void *self;
    double *(*doubles)(void *self, size_t n);
    void *(*mark)(void *self);
    void (*release)(void *self, void *mark);
    void (*tick)(void *self);
    int (*threads)(void *self, int products);
} sg_ws;

static inline double *sg_doubles(const sg_ws *ws, size_t n) { return ws->doubles(ws->self, n); }
static inline void *sg_mark(const sg_ws *ws) { return ws->mark(ws->self); }
static inline void sg_release(const sg_ws *ws, void *mark) { ws->release(ws->self, mark); }
static inline void sg_tick(const sg_ws *ws) { ws->tick(ws->self); }
static inline int sg_threads(const sg_ws *ws, int products)
{
    return ws->threads(ws->self, products);
}

/* Memory is lent in doubles: n ints of it, or n structs of `size` bytes, which are aligned no more
 * strictly as long as they hold numbers and pointers. */
static inline int *sg_ints(size_t n, const sg_ws *ws) { return (int *) sg_doubles(ws, n / 2 + 1); }
static inline void *sg_structs(size_t n, size_t size, const sg_ws *ws)
{
    return sg_doubles(ws, n * (size / sizeof(double) + 1));
}

/* to[n] = from[n], which may overlap; x[n] = value. */
static inline void sg_copy(size_t n, const double *from, double *to)
{
    if (n > 0) memmove(to, from, n * sizeof(double));
}
static inline void sg_fill(size_t n, double value, double *x)
{
    for (size_t k = 0; k < n; k++) x[k] = value;
}
static inline void sg_zero(size_t n, double *x) { sg_fill(n, 0, x); }

/* n zeros, lent. */
static inline double *sg_zeros(size_t n, const sg_ws *ws)
{
    double *x = sg_doubles(ws, n);
    sg_zero(n, x);
    return x;
}

/* to[nrow x ncol] = from[nrow x ncol], of leading dimensions ldto and ldfrom. */
static inline void sg_copy_columns(size_t nrow, int ncol, const double *from, size_t ldfrom,
                                   double *to, size_t ldto)
{
    for (int j = 0; j < ncol; j++) sg_copy(nrow, from + ldfrom * j, to + ldto * j);
}

enum { SG_BETWEEN_TICKS = 1000 }; /* rows a loop over likelihoods does without a tick */

#endif
