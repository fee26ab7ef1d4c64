/* ivm_criterion.c: log q of the rows J~ under the posterior of the active set (IVM paper, eq. 11)
 * and its gradient (eq. 14), in the notation of the header.
 *
 * A block of rows has m <= BLOCK rows; arrays over it are m x d. The whole costs O(d^3) for the
 * active set and O(m d^2) a block (paper, after 14). */
#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "ivm_criterion.h"
#include "tolerances.h"

enum { BLOCK = 512 };

/* Copies rows[count] of x[n x p], in that order. out: count x p. */
static void gather(int n, int p, const double *x, int count, const int *rows, double *out)
{
    for (int k = 0; k < p; k++) {
        const double *from = x + (size_t) n * k;
        double *to = out + (size_t) count * k;
        for (int i = 0; i < count; i++) to[i] = from[rows[i]];
    }
}

/* Computes inputs X[d x p] and kernel matrix K[d x d] of the active rows. */
static void active_kernel(const sg_kernel *kernel, int n, int p, const double *x,
                          const sg_ivm_set *set, double *X, double *K, const sg_ws *ws)
{
    gather(n, p, x, set->d, set->active, X);
    sg_kernel_cross(kernel, set->d, X, set->d, NULL, K, ws);
}

/* ---- Sites in the order of inclusion ---- */

/* Finds the site of active row k at the marginal N(mu, s2); 0: it has no site that could be
 * included. A proportion of variance below SG_NO_SITE_SHARE has no site, as its root is a
 * divisor. */
static int set_site(const sg_rows *rows, sg_ivm_set *set, int k, double mu, double s2)
{
    const int i = set->active[k];
    const double at = mu + rows->offset[i];
    double d1, d2;
    sg_tilt tilt = {.d1 = &d1, .d2 = &d2};
    sg_lik_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), &at, &s2, &tilt);
    if (!sg_site_from_tilt(mu, s2, d1, d2, set->tau + k, set->nu + k)) return 0;
    return set->tau[k] * s2 > SG_NO_SITE_SHARE;
}

/* Includes the rows again, in their order: with the stub m of row k under those before it
 * (appendix C.1),
 *   mean = m'beta,   var = K_kk - |m|^2,   column k of U: tau^1/2 m and the pivot (1 + tau
 * var)^1/2. O(d^3 / 3). The site of row k depends on those before it alone (paper, Algorithm 1). */
sg_status sg_ivm_sites(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                       sg_ivm_set *set, const sg_ws *ws)
{
    const int d = set->d;
    void *mark = sg_mark(ws);
    double *X = sg_doubles(ws, (size_t) d * p), *K = sg_doubles(ws, (size_t) d * d);
    double *U = sg_doubles(ws, (size_t) d * d), *beta = sg_doubles(ws, d);
    double *root = sg_doubles(ws, d);
    sg_status status = SG_OK;
    active_kernel(kernel, rows->n, p, x, set, X, K, ws);
    for (int k = 0; k < d && status == SG_OK; k++) {
        const double *column = K + (size_t) d * k;
        double *stub = U + (size_t) d * k;
        for (int j = 0; j < k; j++) stub[j] = root[j] * column[j];
        sg_trsv('T', k, U, d, stub);
        const double mu = sg_dot(k, stub, beta);
        const double s2 = fmax2(column[k] - sg_dot(k, stub, stub), 0);
        if (!set_site(rows, set, k, mu, s2)) status = SG_NO_SITE;
        root[k] = sqrt(set->tau[k]);
        const double pivot = sqrt(1 + set->tau[k] * s2);
        for (int j = 0; j < k; j++) stub[j] *= root[k];
        stub[k] = pivot;
        beta[k] = (set->nu[k] - set->tau[k] * mu) / (root[k] * pivot);
        if (k % 64 == 0) sg_tick(ws);
    }
    sg_release(ws, mark);
    return status;
}

/* ---- The posterior of I, as the rows see it ---- */

/* The posterior under the active set's sites, factored by U'U = B. */
typedef struct {
    int d;
    double *X;   /* d x p */
    double *K;   /* d x d: K_I */
    double *G;   /* d x d upper: Pi^1/2 U^{-1}; a row's stub is G'k */
    double *v;   /* d: K_I^{-1} h_I, so mean = k'v */
    double *g;   /* d: 1 - tau a = diag(B^{-1}) */
    int *place;  /* n: where in I a row is, or -1 */
    double log_det_U;
} posterior;

/* Factors B = I + Pi^1/2 K_I Pi^1/2 and inverts U: G = Pi^1/2 U^{-1}, v = G U^{-T} Pi^{-1/2} nu =
 * K_I^{-1} h_I, and g = diag(B^{-1}) as row norms of U^{-1}. O(d^3). */
static sg_status posterior_of(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                              const sg_ivm_set *set, posterior *post, const sg_ws *ws)
{
    const int d = set->d, n = rows->n;
    double *root = sg_doubles(ws, d);
    *post = (posterior) {.d = d, .place = sg_ints(n, ws)};
    post->X = sg_doubles(ws, (size_t) d * p), post->K = sg_doubles(ws, (size_t) d * d);
    post->G = sg_doubles(ws, (size_t) d * d);
    post->v = sg_doubles(ws, d), post->g = sg_doubles(ws, d);
    for (int i = 0; i < n; i++) post->place[i] = -1;
    for (int k = 0; k < d; k++) post->place[set->active[k]] = k, root[k] = sqrt(set->tau[k]);
    active_kernel(kernel, n, p, x, set, post->X, post->K, ws);
    sg_status status = sg_chol_sites(d, d, NULL, post->K, root, post->G);
    if (status != SG_OK) return status;
    post->log_det_U = sg_log_diag(d, post->G);
    status = sg_trtri(d, post->G);
    sg_row_norms(d, post->G, post->g);
    for (int k = 0; k < d; k++) post->v[k] = set->nu[k] / root[k];
    sg_trmv('T', d, post->G, post->v);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i <= j; i++) post->G[i + (size_t) d * j] *= root[i];
    }
    sg_trmv('N', d, post->G, post->v);
    return status;
}

/* ---- A block of rows ---- */

/* Rows of a block with their marginals; K, M and E are the paper's K_{J~,I}, M_{J~} and E^(1). */
typedef struct {
    sg_rows rows;       /* of the block */
    double *x;          /* block x p */
    double *y, *offset;
    double *K, *M, *E;  /* block x d: kernel to I; stubs, then K_{J~,I} W; weights */
    double *tau;        /* block: 0 outside I */
    double *rho, *t;    /* block */
    sg_marginals marg;
} block;

/* Allocates a block of rows. */
static block block_new(const sg_rows *rows, int p, int d, const sg_ws *ws)
{
    const size_t size = (size_t) BLOCK * d;
    block b = {.rows = *rows, .marg = sg_marginals_new((sg_layout) {BLOCK, 1, 1}, ws)};
    b.x = sg_doubles(ws, (size_t) BLOCK * p);
    b.y = sg_doubles(ws, (size_t) BLOCK * sg_lik_q(rows->lik)), b.offset = sg_doubles(ws, BLOCK);
    b.K = sg_doubles(ws, size), b.M = sg_doubles(ws, size), b.E = sg_doubles(ws, size);
    b.tau = sg_doubles(ws, BLOCK), b.rho = sg_doubles(ws, BLOCK), b.t = sg_doubles(ws, BLOCK);
    return b;
}

/* Copies the block's inputs, responses and offsets. */
static void block_read(const sg_rows *rows, int p, const double *x, int m, const int *which,
                       block *b)
{
    const int q = sg_lik_q(rows->lik);
    gather(rows->n, p, x, m, which, b->x);
    for (int i = 0; i < m; i++) {
        sg_copy(q, rows->y + (size_t) q * which[i], b->y + q * i);
        b->offset[i] = rows->offset[which[i]];
    }
    b->rows.n = b->marg.layout.n = m;
    b->rows.y = b->y;
    b->rows.offset = b->offset;
}

/* Computes the marginals of the block's rows, mean = K v and var = K_ii - |G'k|^2. Those of active
 * rows come from g, which keeps its digits however sharp their sites are (SG_WEAK_SITE, as in
 * ep_full.c). O(m d^2). */
static void block_marginals(const sg_kernel *kernel, const posterior *post, const sg_ivm_set *set,
                            const int *which, block *b, const sg_ws *ws)
{
    const int m = b->rows.n, d = post->d;
    const size_t size = (size_t) m * d;
    sg_marginals *marg = &b->marg;
    sg_kernel_cross(kernel, m, b->x, d, post->X, b->K, ws);
    sg_kernel_diag(kernel, m, b->x, marg->var, ws);
    sg_gemv('N', m, d, 1, b->K, m, post->v, 0, marg->mean);
    sg_copy(size, b->K, b->M);
    sg_trmm('R', 'N', m, d, post->G, b->M);
    sg_row_squares(m, d, b->M, b->t);
    for (int i = 0; i < m; i++) {
        const int k = post->place[which[i]];
        marg->var[i] = fmax2(marg->var[i] - b->t[i], 0);
        b->tau[i] = k < 0 ? 0 : set->tau[k];
        marg->g[i] = k < 0 ? 1 : post->g[k];
        marg->alpha[i] = k < 0 ? 0 : post->v[k];
        if (1 - marg->g[i] > SG_WEAK_SITE) marg->var[i] = (1 - marg->g[i]) / b->tau[i];
    }
}

/* E = diag(t) M, [m x d] */
static void scale_rows(int m, int d, const double *t, const double *M, double *E)
{
    for (int j = 0; j < d; j++) {
        const double *from = M + (size_t) m * j;
        double *to = E + (size_t) m * j;
        for (int i = 0; i < m; i++) to[i] = t[i] * from[i];
    }
}

/* The block's part of the gradient, by the weights in the header: rho = (d1 - v) / g, t = (rho^2 +
 * (d2 + tau g) / g^2) / 2, that of K_{J~,I} is rho v' - 2 diag(t) E. For that of K_I, N[d x d] +=
 * E'diag(t)E and q[d] += E'rho. O(m d^2), and an adjoint of m x d. */
static void block_gradient(const sg_kernel *kernel, const posterior *post, block *b, double *N,
                           double *q, double *dkernel, double *dlik, const sg_ws *ws)
{
    const int m = b->rows.n, d = post->d;
    const sg_marginals *marg = &b->marg;
    for (int i = 0; i < m; i++) {
        const double g = marg->g[i], rho = (marg->d1[i] - marg->alpha[i]) / g;
        b->rho[i] = rho;
        b->t[i] = (rho * rho + (marg->d2[i] + b->tau[i] * g) / (g * g)) / 2;
    }
    sg_trmm('R', 'T', m, d, post->G, b->M);
    scale_rows(m, d, b->t, b->M, b->E);
    sg_gemm('T', 'N', d, d, m, 1, b->M, m, b->E, m, 1, N, d);
    sg_gemv('T', m, d, 1, b->M, m, b->rho, 1, q);
    for (int j = 0; j < d; j++) {
        double *e = b->E + (size_t) m * j;
        for (int i = 0; i < m; i++) e[i] = b->rho[i] * post->v[j] - 2 * e[i];
    }
    sg_kernel_adjoint(kernel, m, b->x, d, post->X, b->K, b->E, dkernel, ws);
    sg_kernel_adjoint_diag(kernel, m, b->x, b->t, dkernel, ws);
    const sg_span all = {0, m};
    sg_tilt_rows_dpar(&b->rows, marg, all, dlik, ws);
}

/* Completes N for K_I, from N and q summed over all blocks, and makes it symmetric. N[d x d] is
 * overwritten with the weights of K_I:
 *   (v v' - G G' - q v' - v q') / 2 + N. */
static void active_gradient(const sg_kernel *kernel, const posterior *post, double *N,
                            const double *q, double *dkernel, const sg_ws *ws)
{
    const int d = post->d;
    const double *v = post->v;
    double *W = post->G; /* G G', the factor's last use */
    sg_lauum(d, W);
    sg_mirror('U', d, W, d);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) {
            N[i + (size_t) d * j] += (v[i] * v[j] - W[i + (size_t) d * j] - q[i] * v[j] -
                                      v[i] * q[j]) / 2;
        }
    }
    sg_kernel_adjoint(kernel, d, post->X, d, NULL, post->K, N, dkernel, ws);
}

/* Adds up log q block by block; the gradient's part of K_I needs the sums over all of them. log q
 * = -log|U| + sum log Z_i - sum (log g + cav_mean'alpha) / 2, which is -phi of the paper (eq. 11).
 * dkernel NULL: the value alone. */
sg_status sg_ivm_criterion(const sg_kernel *kernel, const sg_rows *rows, int p, const double *x,
                           const sg_ivm_set *set, double *logq, double *dkernel, double *dlik,
                           const sg_ws *ws)
{
    const int d = set->d;
    void *mark = sg_mark(ws);
    posterior post;
    sg_status status = posterior_of(kernel, rows, p, x, set, &post, ws);
    block b = block_new(rows, p, d, ws);
    double *N = sg_zeros((size_t) d * d, ws), *q = sg_zeros(d, ws);
    *logq = status == SG_OK ? -post.log_det_U : 0;
    for (int from = 0; from < set->m && status == SG_OK; from += BLOCK) {
        const int m = set->m - from < BLOCK ? set->m - from : BLOCK;
        const int *which = set->at_hand + from;
        block_read(rows, p, x, m, which, &b);
        block_marginals(kernel, &post, set, which, &b, ws);
        const sg_span all = {0, m};
        if (!sg_cavities(&b.rows, NULL, &b.marg, all)) status = SG_NOT_PD;
        else status = sg_tilt_rows(&b.rows, &b.marg, all, ws);
        *logq += sg_log_evidence(NULL, &b.marg, all);
        if (status == SG_OK && dkernel) {
            block_gradient(kernel, &post, &b, N, q, dkernel, dlik, ws);
        }
        sg_tick(ws);
    }
    if (status == SG_OK && dkernel) active_gradient(kernel, &post, N, q, dkernel, ws);
    if (status == SG_OK && !isfinite(*logq)) status = SG_NOT_FINITE;
    sg_release(ws, mark);
    return status;
}
