/* coupled.c: the Newton step of all classes (coupled.h), by conjugate gradients in the coordinates
 * of a carrier.
 *
 * W of a row, -(I + H S)^{-1} H for the second derivatives H of its log Z, is kept as D N - Y Y' of
 * a low rank (coupled.h): products cost O(C rank) a row instead of O(C^2). */
#include <float.h>
#include <math.h>
#include "block.h"
#include "coupled.h"
#include "la.h"
#include "tolerances.h"

/* Allocates a step: rows x C values and `coordinates` numbers of each vector of the
 * solver. */
sg_coupling sg_coupling_new(int rows, int C, int coordinates, const sg_ws *ws)
{
    const sg_coupling c = {
        .x = sg_doubles(ws, (size_t) rows * C), .a = sg_doubles(ws, coordinates),
        .r = sg_doubles(ws, coordinates), .p = sg_doubles(ws, coordinates),
        .z = sg_doubles(ws, coordinates), .Ap = sg_doubles(ws, coordinates)
    };
    return c;
}

/* ---- W of a row ---- */

/* Factors the covariance V that cross has off its diagonal, F[rank x C]: first V 1 / sqrt(1'V 1),
 * where V 1 = D as H 1 = 0, then columns of what that leaves of V, each by the class of most
 * variance left, in units of its cavity. D[C]; left[C]: work space. */
static void common_factor(int C, int rank, const double *s, const sg_tilt *tilt, const double *D,
                          double sum, double *left, double *F)
{
    for (int c = 0; c < C; c++) {
        F[rank * c] = D[c] / sqrt(sum);
        left[c] = tilt->d2[c] - tilt->own[c] - F[rank * c] * F[rank * c];
        sg_zero(rank - 1, F + 1 + rank * c);
    }
    for (int k = 1; k < rank; k++) {
        int p = 0;
        for (int c = 1; c < C; c++) p = s[c] * left[c] > s[p] * left[p] ? c : p;
        if (!(left[p] > SG_NO_CLASS_VARIANCE * (tilt->d2[p] - tilt->own[p]))) return;
        const double root = sqrt(left[p]), *column = tilt->cross + (size_t) C * p;
        for (int c = 0; c < C; c++) {
            double rest = column[c];
            for (int j = 0; j < k; j++) rest -= F[j + rank * c] * F[j + rank * p];
            F[k + rank * c] = c == p ? root : rest / root;
            left[c] -= F[k + rank * c] * F[k + rank * c];
        }
    }
}

/* Adds share f f' to G[rank x rank]. */
static void add_square(int rank, double share, const double *f, double *G)
{
    for (int j = 0; j < rank; j++) {
        for (int i = 0; i < rank; i++) G[i + rank * j] += share * f[i] * f[j];
    }
}

/* Computes W of a row from its tilt: first D = -own and the factor of what is left of H, then the
 * inverse by Woodbury's identity, of rank x rank. O(C rank^2). */
void sg_coupled_row(int C, const double *s, const sg_tilt *tilt, double *W)
{
    const int rank = sg_coupled_rank(C);
    double D[SG_LIK_MAX_CLASSES], N[SG_LIK_MAX_CLASSES], left[SG_LIK_MAX_CLASSES];
    double G[SG_COUPLED_RANK * SG_COUPLED_RANK] = {0}, L[SG_COUPLED_RANK * SG_COUPLED_RANK];
    double *Y = W + C, sum = 0;
    for (int c = 0; c < C; c++) sum += D[c] = -tilt->own[c];
    if (sum < DBL_MIN / DBL_EPSILON) { /* the row does not distinguish classes */
        sg_zero(sg_coupled_size(C), W);
        return;
    }
    common_factor(C, rank, s, tilt, D, sum, left, Y);
    for (int k = 0; k < rank; k++) G[k * (rank + 1)] = 1;
    for (int c = 0; c < C; c++) {
        const double rest = 1 - D[c] * s[c];
        N[c] = 1 / (rest < SG_LEAST_SHRINKAGE ? SG_LEAST_SHRINKAGE : rest);
        add_square(rank, s[c] * N[c], Y + rank * c, G);
        W[c] = D[c] * N[c];
    }
    sg_block_cholesky(rank, G, L); /* G is I and what is semidefinite */
    for (int c = 0; c < C; c++) {
        for (int k = 0; k < rank; k++) Y[k + rank * c] *= N[c];
        sg_block_forward(rank, L, Y + rank * c);
    }
}

/* Returns entry (c, e) of W: O(rank). */
double sg_coupled_weight(int C, const double *W, int c, int e)
{
    const int rank = sg_coupled_rank(C);
    const double *Y = W + C;
    double weight = c == e ? W[c] : 0;
    for (int k = 0; k < rank; k++) weight -= Y[k + rank * c] * Y[k + rank * e];
    return weight;
}

/* Replaces x[C] by W x: O(C rank). */
void sg_coupled_weigh(int C, const double *W, double *x)
{
    const int rank = sg_coupled_rank(C);
    const double *Y = W + C;
    double shift[SG_COUPLED_RANK] = {0};
    for (int c = 0; c < C; c++) {
        for (int k = 0; k < rank; k++) shift[k] += Y[k + rank * c] * x[c];
    }
    for (int c = 0; c < C; c++) {
        x[c] *= W[c];
        for (int k = 0; k < rank; k++) x[c] -= Y[k + rank * c] * shift[k];
    }
}

/* ---- Rows on their way from coordinates to coordinates ---- */

typedef struct {
    const sg_marginals *marg;
    double *x; /* n x C, of keep and replace */
} passage;

/* Replaces the values of each row by W x. */
static void weigh(void *ctx, int from, int m, double *x)
{
    const passage *job = ctx;
    const int C = job->marg->layout.C;
    const size_t size = sg_coupled_size(C);
    double row[SG_LIK_MAX_CLASSES];
    for (int i = 0; i < m; i++) {
        sg_copy_columns(1, C, x + i, m, row, 1);
        sg_coupled_weigh(C, job->marg->W + size * (from + i), row);
        sg_copy_columns(1, C, row, 1, x + i, m);
    }
}

/* Keeps the values of the rows. */
static void keep(void *ctx, int from, int m, double *x)
{
    const passage *job = ctx;
    const sg_layout l = job->marg->layout;
    sg_copy_columns(m, l.C, x, m, job->x + from, l.n);
}

/* Replaces the values by those kept. */
static void replace(void *ctx, int from, int m, double *x)
{
    const passage *job = ctx;
    const sg_layout l = job->marg->layout;
    sg_copy_columns(m, l.C, job->x + from, l.n, x, m);
}

/* ---- The Newton step ---- */

/* Computes b = r + W S r, r = d1 - alpha the residual of the first derivatives. */
static void right_hand_side(const sg_marginals *marg, double *x, double *b)
{
    const size_t values = sg_values_of(marg->layout);
    passage all = {.marg = marg};
    for (size_t k = 0; k < values; k++) {
        b[k] = marg->d1[k] - marg->alpha[k];
        x[k] = marg->cav_var[k] * b[k];
    }
    weigh(&all, 0, marg->layout.n, x);
    for (size_t k = 0; k < values; k++) b[k] += x[k];
}

/* Solves for c->a against the right hand side V'b by conjugate gradients, preconditioned by the
 * posterior covariance under the present sites. */
static void solve(const sg_marginals *marg, const sg_carrier *carrier, void *self, double *b,
                  sg_coupling *c, const sg_ws *ws)
{
    enum { MOST = 50 };
    const int n = carrier->size;
    double before = 1, first = 0;
    passage rows = {marg, b};
    carrier->through(self, NULL, replace, &rows, c->r);
    sg_zero(n, c->a);
    sg_zero(n, c->p);
    for (int step = 0; step < MOST; step++) {
        sg_copy(n, c->r, c->z);
        carrier->smooth(self, c->z);
        const double length = sg_dot(n, c->r, c->z);
        if (step == 0) first = length;
        if (!(length > SG_NEWTON_RESIDUAL * SG_NEWTON_RESIDUAL * first)) return;
        for (int j = 0; j < n; j++) c->p[j] = c->z[j] + length / before * c->p[j];
        carrier->through(self, c->p, weigh, &rows, c->Ap);
        for (int j = 0; j < n; j++) c->Ap[j] += c->p[j];
        const double move = length / sg_dot(n, c->p, c->Ap);
        for (int j = 0; j < n; j++) {
            c->a[j] += move * c->p[j];
            c->r[j] -= move * c->Ap[j];
        }
        before = length;
        sg_tick(ws);
    }
}

/* With dmean = V a and b = r + W S r: dalpha = b - W dmean, nu = alpha + dalpha + tau (mean +
 * dmean). */
void sg_coupled_targets(const sg_marginals *marg, const sg_carrier *carrier, void *self,
                        const double *a, const double *tau, double *nu, sg_coupling *c)
{
    const size_t values = sg_values_of(marg->layout);
    passage rows = {marg, c->x};
    right_hand_side(marg, c->x, nu);
    carrier->through(self, a, keep, &rows, NULL);
    for (size_t k = 0; k < values; k++) {
        nu[k] += marg->alpha[k] + tau[k] * (marg->mean[k] + c->x[k]);
    }
    weigh(&rows, 0, marg->layout.n, c->x);
    for (size_t k = 0; k < values; k++) nu[k] -= c->x[k];
}

/* Computes the shifts nu that the Newton step of all classes asks for: a solve, then the
 * targets. */
void sg_coupled_shifts(const sg_marginals *marg, const sg_carrier *carrier, void *self,
                       const double *tau, double *nu, sg_coupling *c, const sg_ws *ws)
{
    right_hand_side(marg, c->x, nu);
    solve(marg, carrier, self, nu, c, ws);
    sg_coupled_targets(marg, carrier, self, c->a, tau, nu, c);
}

/* Adds the step's normal equations to M[size x size] and side[size] instead of solving them:
 * sources sum these up over chunks. */
void sg_coupled_system(const sg_marginals *marg, const sg_carrier *carrier, void *self,
                       sg_coupling *c, double *M, double *side)
{
    const size_t values = sg_values_of(marg->layout);
    passage rows = {marg, c->x};
    carrier->weigh(self, marg->W, M);
    for (size_t k = 0; k < values; k++) c->x[k] = marg->cav_var[k] * (marg->d1[k] - marg->alpha[k]);
    weigh(&rows, 0, marg->layout.n, c->x);
    for (size_t k = 0; k < values; k++) c->x[k] += marg->d1[k] - marg->alpha[k];
    carrier->through(self, NULL, replace, &rows, c->a);
    for (int j = 0; j < carrier->size; j++) side[j] += c->a[j];
}
