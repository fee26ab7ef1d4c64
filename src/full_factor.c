/* full_factor.c: algebra of the factor A'SA of full EP.
 *
 * With S = diag(1 .. 1, -1 .. -1), the signs of the sites in the factor's order,
 *   A'SA = S + |T|^1/2 K |T|^1/2,   W = (K + T^{-1})^{-1} = |T|^1/2 A^{-1} S A^{-T} |T|^1/2
 * (the second where no tau is 0; W itself needs no inverse). Sigma = K - K W K is never formed.
 * Products cost O(N^2) a vector, N = n w values of a process.
 * */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "chol.h"
#include "full_trend.h"
#include "tolerances.h"

/* Returns the part of process c: pointers, no copies. */
sg_full_factor sg_full_factor_of(const sg_full_factor *factor, sg_layout layout, int c)
{
    const size_t N = (size_t) layout.n * layout.w, at = N * c;
    const sg_full_factor own = {factor->Ainv + N * at, factor->rt + at, factor->order + at,
                                factor->plain + c,
                                factor->turn ? factor->turn + layout.w * at : NULL,
                                factor->trend ? factor->trend + c : NULL};
    return own;
}

/* Lends all but A. The eigenvectors of the sites are needed for blocks only. */
sg_full_factor sg_full_factor_new(sg_layout layout, double *A, sg_full_trend *trend,
                                  const sg_ws *ws)
{
    const size_t size = sg_values_of(layout);
    const sg_full_factor factor = {
        A, sg_doubles(ws, size), sg_ints(size, ws), sg_ints(layout.C, ws),
        layout.w > 1 ? sg_doubles(ws, sg_blocks_of(layout)) : NULL, trend
    };
    return factor;
}

/* ---- Products ---- */

/* Applies W = |T|^1/2 A^{-1} S A^{-T} |T|^1/2 from the right: two triangular products and a change
 * of sign for the sites of negative precision. O(N^2); out may be x. */
void sg_full_apply_W(int n, const sg_full_factor *f, const double *x, double *out, double *work)
{
    for (int i = 0; i < n; i++) work[i] = f->rt[i] * x[f->order[i]];
    sg_trmv('T', n, f->Ainv, work);
    for (int i = *f->plain; i < n; i++) work[i] *= -1;
    sg_trmv('N', n, f->Ainv, work);
    for (int i = 0; i < n; i++) out[f->order[i]] = f->rt[i] * work[i];
}

/* Computes V = A^{-T} |T|^1/2 K of the columns listed: K W K = V'S V. O(N^2) a column. */
void sg_full_columns(int n, const double *K, const sg_full_factor *f, int width,
                             const int *rows, double *V)
{
    for (int c = 0; c < width; c++) {
        const double *k = K + (size_t) n * rows[c];
        double *v = V + (size_t) n * c;
        for (int i = 0; i < n; i++) v[i] = f->rt[i] * k[f->order[i]];
    }
    sg_trmm('L', 'T', n, width, f->Ainv, V);
}

/* g = diag(S B^{-1}) = diag(S A^{-1} S A^{-T}): signed squares of the rows of A^{-1}, and the sign
 * of the row itself. 1 - g is tau times the posterior variance. O(N^2 / 2). */
void sg_full_shares(int n, const sg_full_factor *f, double *g, double *work)
{
    sg_zero(n, work);
    for (int j = 0; j < n; j++) {
        const double *a = f->Ainv + (size_t) n * j, sign = j < *f->plain ? 1 : -1;
        for (int i = 0; i <= j; i++) work[i] += sign * a[i] * a[i];
    }
    for (int i = 0; i < n; i++) g[f->order[i]] = i < *f->plain ? work[i] : -work[i];
}

/* ---- Order and turns ---- */

/* Sorts the sites of no negative precision first, each group in the order of rows. */
void sg_full_arrange(int n, const double *tau, sg_full_factor *f)
{
    int plain = 0, at = 0;
    for (int i = 0; i < n; i++) plain += !(tau[i] < 0);
    for (int i = 0, last = plain; i < n; i++) f->order[tau[i] < 0 ? last++ : at++] = i;
    for (int k = 0; k < n; k++) f->rt[k] = sqrt(fabs(tau[f->order[k]]));
    *f->plain = plain;
}

/* Applies diag(U_i) or its transpose row by row; `row` makes it possible in place. */
void sg_full_turn(const sg_full_factor *factor, sg_layout layout, int trans, const double *x,
                  double *out)
{
    const int w = layout.w;
    double row[SG_BLOCK_MAX];
    for (int i = 0; i < layout.n; i++) {
        const double *U = factor->turn + (size_t) w * w * i, *from = x + (size_t) w * i;
        for (int a = 0; a < w; a++) {
            row[a] = 0;
            for (int k = 0; k < w; k++) row[a] += (trans ? U[k + w * a] : U[a + w * k]) * from[k];
        }
        sg_copy(w, row, out + (size_t) w * i);
    }
}

/* Turns columns, transposes, and turns columns again: U'K U. O(N^2 w). */
void sg_full_turn_gram(const sg_full_factor *f, sg_layout layout, double *K)
{
    const int N = layout.n * layout.w;
    for (int side = 0; side < 2; side++) {
        for (int j = 0; j < N; j++) {
            sg_full_turn(f, layout, 1, K + (size_t) N * j, K + (size_t) N * j);
        }
        sg_mirror('T', N, K, N);
    }
}

/* Holds what covariances of turned values are made of: sites' precisions tau and shares g, and the
 * place of each value in the factor. */
typedef struct {
    int N, w;
    const sg_full_factor *f;
    const double *K, *tau, *g;
    const int *place;
} turned;

/* Does a value's site say too little for its variance to follow from its share? */
static int is_weak(const turned *t, int value) { return fabs(1 - t->g[value]) <= SG_WEAK_SITE; }

/* Has a row such a value? */
static int has_weak(const turned *t, int row)
{
    for (int a = 0; a < t->w; a++) if (is_weak(t, t->w * row + a)) return 1;
    return 0;
}

/* Returns the covariance of two turned values:
 *   -W_ab / (tau_a tau_b), and (1 - g_a) / tau_a of a value itself, where both sites matter, else
 *   K_ab - (K W K)_ab, from columns Va and Vb of sg_full_columns().
 * Off the diagonal of T^{-1} both are the same, as Sigma = T^{-1} - T^{-1} W T^{-1}; they keep
 * different digits (SG_WEAK_SITE). O(N). */
static double turned_covariance(const turned *t, int a, int b, const double *Va, const double *Vb)
{
    const sg_full_factor *f = t->f;
    const size_t N = t->N;
    const int n = t->N, plain = *f->plain, first = t->place[a], second = t->place[b];
    if (is_weak(t, a) || is_weak(t, b)) {
        const double known = sg_dot(plain, Va, Vb) - sg_dot(n - plain, Va + plain, Vb + plain);
        const double left = t->K[a + N * b] - known;
        return a == b ? fmax2(left, 0) : left;
    }
    if (a == b) return (1 - t->g[a]) / t->tau[a];
    double inverse = 0; /* of B, at both */
    for (int j = first > second ? first : second; j < n; j++) {
        const double both = f->Ainv[first + N * j] * f->Ainv[second + N * j];
        inverse += j < plain ? both : -both;
    }
    return -f->rt[first] * f->rt[second] * inverse / (t->tau[a] * t->tau[b]);
}

/* Computes V of all values of the rows from .. to - 1 that have a weak one, w columns a row, by one
 * product: O(N^2) a column. values[w (to - from)]. */
static void weak_columns(const turned *t, int from, int to, int *values, double *V)
{
    int width = 0;
    for (int i = from; i < to; i++) {
        for (int a = 0; a < t->w && has_weak(t, i); a++) values[width++] = t->w * i + a;
    }
    if (width) sg_full_columns(t->N, t->K, t->f, width, values, V);
}

/* Fills the turned covariance block of a row; V: its columns, if it has a weak value. */
static void turned_block(const turned *t, int row, const double *V, double *S)
{
    const int w = t->w;
    const size_t N = t->N;
    for (int b = 0; b < w; b++) {
        for (int a = 0; a <= b; a++) {
            S[a + w * b] = S[b + w * a] = turned_covariance(t, w * row + a, w * row + b, V + N * a,
                                                            V + N * b);
        }
    }
}

/* Returns U S U'. */
static void turn_block(int w, const double *U, const double *S, double *out)
{
    double US[SG_BLOCK_SIZE];
    sg_block_multiply(w, U, S, US);
    for (int b = 0; b < w; b++) {
        for (int a = 0; a < w; a++) {
            double sum = 0;
            for (int k = 0; k < w; k++) sum += US[a + w * k] * U[b + w * k];
            out[a + w * b] = sum;
        }
    }
}

/* Fills each row's block and turns it back. O(N w^2) a row where sites are strong, and O(N^2 w)
 * more where one is weak. */
void sg_full_blocks(const sg_full_factor *f, sg_layout layout, const double *K, const double *tau,
                    const double *g, double *out, const sg_ws *ws)
{
    enum { COLUMNS = 64 }; /* of V at a time */
    const int w = layout.w, n = layout.n, N = n * w, step = w < COLUMNS ? COLUMNS / w : 1;
    const size_t of_row = (size_t) N * w;
    void *mark = sg_mark(ws);
    double *V = sg_doubles(ws, of_row * (step + 1)), S[SG_BLOCK_SIZE]; /* one that none has */
    int *place = sg_ints(N, ws), *values = sg_ints(w * step, ws);
    const turned t = {N, w, f, K, tau, g, place};
    for (int k = 0; k < N; k++) place[f->order[k]] = k;
    for (int from = 0; from < n; from += step) {
        const int to = n - from < step ? n : from + step;
        const double *own = V;
        weak_columns(&t, from, to, values, V);
        for (int i = from; i < to; i++) {
            turned_block(&t, i, own, S);
            if (has_weak(&t, i)) own += of_row;
            turn_block(w, f->turn + (size_t) w * w * i, S, out + (size_t) w * w * i);
        }
    }
    sg_release(ws, mark);
}

/* ---- The stored form ---- */

/* Writes X = |T|^1/2 A^{-1} in the rows' own order and coordinates, columns from .. to - 1, the
 * others 0: X X' is their part of W. O(N^2 w). */
static void rooted_columns(sg_layout layout, const sg_full_factor *f, int from, int to, double *X)
{
    const int N = layout.n * layout.w;
    for (int j = 0; j < N; j++) {
        double *column = X + (size_t) N * j;
        sg_zero(N, column);
        if (j < from || j >= to) continue;
        for (int i = 0; i <= j; i++) {
            column[f->order[i]] = f->rt[i] * f->Ainv[i + (size_t) N * j];
        }
        sg_full_turn(f, layout, 0, column, column);
    }
}

/* Stores for w > 1: in the rows' own order and coordinates X is not triangular, but X = G Q with G
 * upper and Q orthogonal has G G' = X X'. O(N^3). */
static void stored_blocks(sg_layout layout, sg_full_factor *f, double *H, const sg_ws *ws)
{
    const int N = layout.n * layout.w;
    const size_t size = (size_t) N * N;
    void *mark = sg_mark(ws);
    double *X = sg_doubles(ws, size);
    if (H) {
        rooted_columns(layout, f, *f->plain, N, H);
        sg_rq(N, H, sg_doubles(ws, SG_RQ_COLUMNS * (size_t) N));
    }
    rooted_columns(layout, f, 0, *f->plain, X);
    sg_rq(N, X, sg_doubles(ws, SG_RQ_COLUMNS * (size_t) N));
    sg_copy(size, X, f->Ainv);
    for (int i = 0; i < N; i++) f->order[i] = i;
    sg_release(ws, mark);
}

/* Scales the rows of A^{-1} by |T|^1/2: var = K - |G'k|^2 + |H'k|^2 with G of the plain columns
 * and H of those of negative precision. */
void sg_full_stored(sg_layout layout, sg_full_factor *f, double *H, const sg_ws *ws)
{
    const int N = layout.n * layout.w;
    const size_t plain = (size_t) N * *f->plain, size = (size_t) N * N;
    if (layout.w > 1) {
        stored_blocks(layout, f, H, ws);
        return;
    }
    sg_clear_below(N, f->Ainv);
    for (int j = 0; j < N; j++) {
        for (int i = 0; i <= j; i++) f->Ainv[i + (size_t) N * j] *= f->rt[i];
    }
    for (size_t k = 0; H && k < size; k++) H[k] = k < plain ? 0 : f->Ainv[k];
    if (H) sg_zero(size - plain, f->Ainv + plain);
}
