/* weights.c: a posterior in the whitened coordinates of a basis (weights.h): rows, points that
 * join, points that leave, what leaving costs, and everything from scratch.
 *
 * z ~ N(0, I) a priori, z ~ N(a, M) now, with M = (I + S)^{-1} and a = M t. Rows are rank-one steps
 * of M and a, O(d^2); points are bordered onto R, M, S and the bands or rotated out of them,
 * O(d^2); and sg_weights_refresh() rebuilds M and a from the sums S and t, which lose no digits. Of
 * M the lower triangle counts, of S both. */
#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "chol.h"
#include "state.h"
#include "weights.h"

/* Lends a basis of no points. */
sg_basis sg_basis_new(int cap, int width, const sg_ws *ws)
{
    const sg_basis b = {.cap = cap, .R = sg_zeros((size_t) cap * cap, ws), .K = sg_zeros(cap, ws),
                        .Q = sg_band_new(cap, width, ws)};
    return b;
}

/* Lends alpha and the bands of E and P, which scores are made of. */
sg_parts sg_parts_new(int cap, int width, const sg_ws *ws)
{
    const sg_parts parts = {.alpha = sg_zeros(cap, ws), .E = sg_band_new(cap, width, ws),
                            .P = sg_band_new(cap, width, ws)};
    return parts;
}

/* Lends a posterior on no points; zeros, as sums begin with them. */
sg_weights sg_weights_new(int cap, int width, const sg_ws *ws)
{
    const size_t size = (size_t) cap * cap;
    const sg_weights w = {.M = sg_zeros(size, ws), .a = sg_zeros(cap, ws), .S = sg_zeros(size, ws),
                          .t = sg_zeros(cap, ws), .parts = sg_parts_new(cap, width, ws),
                          .work = sg_zeros(cap, ws)};
    return w;
}

/* Lends what the removal of one point takes. */
sg_removal sg_removal_new(int cap, const sg_ws *ws)
{
    const sg_removal rem = {.r = sg_zeros(cap, ws), .q = sg_zeros(cap, ws),
                            .cos = sg_zeros(cap, ws), .sin = sg_zeros(cap, ws),
                            .R = sg_zeros((size_t) cap * cap, ws)};
    return rem;
}

/* Kernel columns to coordinates: v = R^{-T} k, |v|^2 = k'K_B^{-1} k. */
void sg_basis_whiten(const sg_basis *b, int m, double *X)
{
    sg_trsm('T', b->d, m, b->R, b->cap, X, b->d);
}

/* Coordinates to weights of the points: alpha = R^{-1} a, as v'a = k'R^{-1} a. */
void sg_basis_to_weights(const sg_basis *b, int m, double *X)
{
    sg_trsm('N', b->d, m, b->R, b->cap, X, b->d);
}

/* ---- One row ---- */

/* Multiplies by M, lower triangle: O(d^2), most of what a row costs. */
double sg_weights_gain(const sg_weights *w, const sg_basis *b, const double *v, double *g)
{
    sg_symv(b->d, w->M, b->cap, v, g);
    return sg_dot(b->d, v, g);
}

/* A rank-one step (thesis 2.46, 3.29):
 *   M += var g g',   a += mean g. */
void sg_weights_move(sg_weights *w, const sg_basis *b, const double *g, const sg_step *step)
{
    sg_syr(b->d, step->var, g, w->M, b->cap);
    for (int i = 0; i < b->d; i++) w->a[i] += step->mean * g[i];
}

/* The same step seen from the weights, alpha = R^{-1} a and E = R^{-1} M R^{-T}: along s = R^{-1}
 * g, and of E the band alone, O(d w). */
void sg_parts_move(sg_parts *parts, int d, const double *s, const sg_step *step)
{
    for (int i = 0; i < d; i++) parts->alpha[i] += step->mean * s[i];
    sg_band_add(parts->E, d, step->var, s);
}

/* Scales the columns of V whose sites have this sign by sqrt|tau|, one after the other into out;
 * returns how many. */
static int scale_columns(int d, int m, const double *V, int ldv, const double *tau, int negative,
                         double *out)
{
    int count = 0;
    for (int i = 0; i < m; i++) {
        if ((tau[i] < 0) != negative) continue;
        const double *v = V + (size_t) ldv * i, root = sqrt(fabs(tau[i]));
        double *scaled = out + (size_t) d * count++;
        for (int k = 0; k < d; k++) scaled[k] = root * v[k];
    }
    return count;
}

/* Adds the rows' sites by symmetric products of those that narrow and those that widen,
 *   S += sum |tau| v v' - sum |tau| v v',   t += V (sign nu),
 * which is half of a general product; one row alone by an outer product, which needs no mirror. */
void sg_weights_absorb(sg_weights *w, const sg_basis *b, int m, const double *V, int ldv,
                       const double *tau, const double *nu, double sign, double *work)
{
    const int d = b->d, cap = b->cap;
    sg_gemv('N', d, m, sign, V, ldv, nu, 1, w->t);
    if (m == 1) {
        for (int k = 0; k < d; k++) work[k] = sign * *tau * V[k];
        sg_gemm('N', 'T', d, d, 1, 1, work, d, V, ldv, 1, w->S, cap);
        return;
    }
    for (int negative = 0; negative < 2; negative++) {
        const int count = scale_columns(d, m, V, ldv, tau, negative, work);
        sg_syrk('N', d, count, negative ? -sign : sign, work, d, w->S, cap);
    }
    sg_mirror('L', d, w->S, cap);
}

/* ---- A point more: its coordinate of z is a priori N(0, 1), independent of the others ---- */

/* Borders alpha and the bands by the point. A new point's weight is 0 on average, and with e = (q;
 * -1)
 *   E += e e' / gamma
 * (thesis 3.5: the posterior of the new coordinate is its prior, N(0, 1)). P gets zeros: no site
 * has seen the point. */
void sg_parts_grow(const sg_parts *parts, int d, const sg_point *point, sg_score kind,
                   sg_parts *grown)
{
    sg_copy(d, parts->alpha, grown->alpha);
    grown->alpha[d] = 0;
    sg_band_grow(parts->E, d, 1 / point->gamma, point->q, grown->E);
    if (kind == SG_SCORE_KL) sg_band_border(parts->P, d, grown->P);
}

/* Borders the posterior: M by (0, 1), the prior of the new coordinate, a by 0, and the sums S and t
 * by zeros, as no site has seen it. */
void sg_weights_grow(sg_weights *w, const sg_basis *b, const sg_point *point)
{
    const int d = b->d, cap = b->cap;
    for (int i = 0; i < d; i++) {
        w->M[d + (size_t) cap * i] = 0;
        w->S[d + (size_t) cap * i] = w->S[i + (size_t) cap * d] = 0;
    }
    w->M[d + (size_t) cap * d] = 1;
    w->S[d + (size_t) cap * d] = 0;
    w->a[d] = w->t[d] = 0;
    sg_parts_grow(&w->parts, d, point, SG_SCORE_KL, &w->parts);
}

/* Appends column (v; gamma^1/2) to R, so R'R gains the point's column of K_B, and borders the band
 * of Q = K_B^{-1} by e e' / gamma, e = (q; -1). */
void sg_basis_grow(sg_basis *b, const sg_point *point)
{
    const int d = b->d;
    double *column = b->R + (size_t) b->cap * d;
    sg_copy(d, point->v, column);
    column[d] = sqrt(point->gamma);
    sg_band_grow(b->Q, d, 1 / point->gamma, point->q, b->Q);
    b->K[d] = sg_dot(d + 1, column, column);
    b->d++;
}

/* Returns the point of which the others leave least, relatively: 1 / Q_jj is the variance of point
 * j given the others, so 1 / (Q_jj K_jj) is the proportion that is left of its own. */
int sg_basis_redundant(int d, const double *K, sg_band Q, double novelty)
{
    int least = -1;
    double share = novelty;
    for (int j = 0; j < d; j++) {
        const double sharpness = Q.at[j] * K[j];
        /* The least proportion so far is replaced by a smaller one. */
        if (share * sharpness > 1) share = 1 / sharpness, least = j;
    }
    return least;
}

/* ---- A point less. Without its column, R is upper Hessenberg; rotations of neighbouring rows
 * make it triangular again and turn the coordinates z with it. w_j = 0 puts the last one to 0. */

/* Prepares the removal: r = R^{-T} e_j, the point's coordinates in the dual basis, of which w_j =
 * r'z; column q = R^{-1} r of Q; and the rotations that make R triangular without its column j. */
void sg_removal_begin(sg_removal *rem, const sg_basis *b, int j)
{
    const int d = b->d;
    rem->j = j;
    rem->d = d;
    for (int i = 0; i < d; i++) rem->r[i] = i == j;
    sg_trsv('T', d, b->R, b->cap, rem->r);
    sg_copy(d, rem->r, rem->q);
    sg_trsv('N', d, b->R, b->cap, rem->q);
    sg_chol_drop(d, j, b->R, b->cap, rem->R, rem->cos, rem->sin);
}

/* Moves the entries after j one place up. */
static void drop_entry(int d, int j, double *x)
{
    sg_copy(d - 1 - j, x + j + 1, x + j);
}

/* Takes the point out of the basis itself. Q loses row and column j by a Schur complement,
 *   Q -= q q' / Q_jj,
 * and R takes the columns that sg_removal_begin() has made. */
void sg_removal_end(const sg_removal *rem, sg_basis *b)
{
    const int j = rem->j, d = rem->d, cap = b->cap;
    const double Qjj = rem->q[j];
    sg_band_add(b->Q, d, -1 / Qjj, rem->q);
    sg_band_drop(b->Q, d, j);
    drop_entry(d, j, b->K);
    for (int c = j; c < d - 1; c++) {
        sg_copy(c + 1, rem->R + (size_t) cap * c, b->R + (size_t) cap * c);
    }
    b->d--;
}

/* Applies the rotations of coordinates (k, k + 1), k = j .. d - 2, to `count` columns, at most 8.
 * After a rotation the rest of coordinate k + 1 is the first operand of the next one, so it is
 * carried in a register; the last coordinate, which the removal has made 0, is written as 0. */
static inline void rotate_columns(const sg_removal *rem, int count, double *x, int ldx)
{
    double carried[8];
    for (int c = 0; c < count; c++) carried[c] = x[rem->j + (size_t) ldx * c];
    for (int k = rem->j; k < rem->d - 1; k++) {
        const double cos = rem->cos[k], sin = rem->sin[k];
        for (int c = 0; c < count; c++) {
            double *pair = x + k + (size_t) ldx * c;
            const double next = pair[1];
            pair[0] = cos * carried[c] + sin * next;
            carried[c] = cos * next - sin * carried[c];
        }
    }
    for (int c = 0; c < count; c++) x[rem->d - 1 + (size_t) ldx * c] = 0;
}

/* Rotates ABREAST columns at once, and the rest one by one: the same numbers either way. */
void sg_removal_rotate(const sg_removal *rem, int m, double *X, int ldx)
{
    enum { ABREAST = 8 }; /* columns at a time: one alone would wait for its own results */
    int i = 0;
    for (; i + ABREAST <= m; i += ABREAST) {
        rotate_columns(rem, ABREAST, X + (size_t) ldx * i, ldx);
    }
    for (; i < m; i++) rotate_columns(rem, 1, X + (size_t) ldx * i, ldx);
}

/* A = G A G' for a symmetric A, both triangles in and out: G A, transposed, and G again. */
static void rotate_both(const sg_removal *rem, double *A, int lda)
{
    sg_removal_rotate(rem, rem->d, A, lda);
    sg_mirror('T', rem->d, A, lda);
    sg_removal_rotate(rem, rem->d, A, lda);
}

/* Removes point j from P: D'P D with D = I - e_j c', c = q / Q_jj, which is
 *   P + P_jj c c' - P_j c' - c P_j'.
 * Column P_j = R^{-1} S r, as P = R^{-1} S R^{-T}. work[cap]: P_j. */
static void remove_from_P(sg_weights *w, const sg_basis *b, const sg_removal *rem, double *work)
{
    const int d = rem->d, j = rem->j;
    sg_symv(d, w->S, b->cap, rem->r, work);
    const double Pjj = sg_dot(d, rem->r, work);
    sg_trsv('N', d, b->R, b->cap, work);
    const double Qjj = rem->q[j];
    sg_band_add(w->parts.P, d, Pjj / (Qjj * Qjj), rem->q);
    sg_band_add_pair(w->parts.P, d, -1 / Qjj, rem->q, work);
    sg_band_drop(w->parts.P, d, j);
}

/* Conditions the posterior on w_j = r'z = 0 (thesis 3.19-3.22): with g = M r, E_jj = r'g and
 * alpha_j = r'a that is a step
 *   a -= (alpha_j / E_jj) g,   M -= g g' / E_jj.
 * Then z is rotated so the last coordinate is 0 for certain, and dropped. S and t are rotated and
 * cut, as the other points carry the sites from now on. */
void sg_weights_remove(sg_weights *w, const sg_basis *b, const sg_removal *rem)
{
    const int d = rem->d, j = rem->j;
    double *g = w->work;
    const double Ejj = sg_weights_gain(w, b, rem->r, g), alpha = sg_dot(d, rem->r, w->a);
    const sg_step step = {.mean = -alpha / Ejj, .var = -1 / Ejj};
    sg_weights_move(w, b, g, &step);
    sg_basis_to_weights(b, 1, g);
    sg_parts_move(&w->parts, d, g, &step);
    drop_entry(d, j, w->parts.alpha);
    sg_band_drop(w->parts.E, d, j);
    remove_from_P(w, b, rem, g);
    sg_mirror('L', d, w->M, b->cap);
    rotate_both(rem, w->M, b->cap);
    rotate_both(rem, w->S, b->cap);
    sg_removal_rotate(rem, 1, w->a, b->cap);
    sg_removal_rotate(rem, 1, w->t, b->cap);
}

/* ---- Scores ---- */

/* Scores point i alone:
 *   mean   alpha^2 / E_ii
 *   kl     the same + log(E_ii / Q_ii) + P_ii / Q_ii
 *   error  |alpha| / Q_ii
 * E > 0; where rounding has left nothing of it, the point is too well known to be removed. */
static inline double scalar_score(const sg_parts *parts, sg_band Q, int i, sg_score kind)
{
    const double alpha = parts->alpha[i];
    if (kind == SG_SCORE_ERROR) return fabs(alpha) / Q.at[i];
    const double E = parts->E.at[i] < DBL_MIN ? DBL_MIN : parts->E.at[i];
    const double mean = alpha * alpha / E;
    return kind == SG_SCORE_MEAN ? mean : mean + log(E / Q.at[i]) + parts->P.at[i] / Q.at[i];
}

/* Factors A = LL' and solves x := L^{-1} x; returns |x|^2 = x'A^{-1} x, or infinity where A cannot
 * be factored: such a group is too well known to be removed. NaN stays. */
static double solved_square(int m, const double *A, double *L, double *x)
{
    double sum = 0;
    if (!sg_block_cholesky(m, A, L)) return isnan(A[0] + A[m * m - 1]) ? NAN : HUGE_VAL;
    sg_block_forward(m, L, x);
    for (int k = 0; k < m; k++) sum += x[k] * x[k];
    return sum;
}

/* Returns log|E| - log|Q| + tr(Q^{-1} P), LE and LQ the factors of E and Q: with mean' E^{-1} mean
 * it is twice the KL divergence (thesis 3.26). */
static double block_widening(int m, const double *LE, const double *LQ, const double *P)
{
    double inverse[SG_BLOCK_SIZE], sum = 0;
    sg_block_inverse(m, LQ, inverse);
    for (int k = 0; k < m * m; k++) sum += inverse[k] * P[k];
    for (int k = 0; k < m; k++) sum += 2 * log(LE[k * (m + 1)] / LQ[k * (m + 1)]);
    return sum;
}

/* Scores a group of m points by its blocks of E, Q and P (thesis 5.43), each factored in O(m^3). */
static double block_score(const sg_parts *parts, sg_band Q, int i, int m, sg_score kind)
{
    double block[SG_BLOCK_SIZE], LE[SG_BLOCK_SIZE], LQ[SG_BLOCK_SIZE], x[SG_BLOCK_MAX], sum = 0;
    sg_copy(m, parts->alpha + i, x);
    sg_band_block(kind == SG_SCORE_ERROR ? Q : parts->E, i, m, block);
    const double mean = solved_square(m, block, LE, x);
    if (kind == SG_SCORE_MEAN || !isfinite(mean)) return mean;
    if (kind == SG_SCORE_ERROR) {
        sg_block_backward(m, LE, x);
        for (int k = 0; k < m; k++) sum += x[k] * x[k];
        return sqrt(sum);
    }
    sg_band_block(Q, i, m, block);
    if (!sg_block_cholesky(m, block, LQ)) return HUGE_VAL;
    sg_band_block(parts->P, i, m, block);
    return mean + block_widening(m, LE, LQ, block);
}

/* Goes from group to group, writing the score at the first point of each. Most are single points,
 * whose scores take no factor. */
void sg_parts_scores(const sg_parts *parts, sg_band Q, int d, const int *first, sg_score kind,
                     double *score)
{
    for (int i = 0, m; i < d; i += m) {
        m = sg_group_size(d, first, i);
        score[i] = m == 1 ? scalar_score(parts, Q, i, kind) : block_score(parts, Q, i, m, kind);
    }
}

/* ---- From scratch ---- */

/* Factors I + S anew, since M does not give its determinant to many digits. */
sg_status sg_weights_log_det(const sg_weights *w, const sg_basis *b, double *log_det,
                             const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    double *A = sg_doubles(ws, (size_t) b->d * b->d), *m = sg_doubles(ws, b->d);
    *log_det = 0;
    const sg_status status = sg_state_factor(b->d, w->S, b->cap, w->t, A, m, log_det);
    sg_release(ws, mark);
    return status;
}

/* P = (R^{-1} S) R^{-T}, of which the band alone is multiplied out; work[d x d]. */
static void refresh_P(sg_weights *w, const sg_basis *b, const double *Rinv, double *work)
{
    const int d = b->d;
    sg_copy_columns(d, d, w->S, b->cap, work, d);
    sg_trmm('L', 'N', d, d, Rinv, work);
    sg_band_product(w->parts.P, d, work, Rinv);
}

/* Computes alpha = R^{-1} a, E = HH' with H = R^{-1} A^{-1}, P, and Q = R^{-1} R^{-T}; H[d x d] is
 * work, used for P before. Of all of them the bands only: O(d^2 w) beside two products of
 * O(d^3). */
static void refresh_parts(sg_weights *w, sg_basis *b, const double *Rinv, const double *Ainv,
                          double *H)
{
    const int d = b->d;
    const size_t size = (size_t) d * d;
    sg_copy(d, w->a, w->parts.alpha);
    sg_trmv('N', d, Rinv, w->parts.alpha);
    sg_band_product(b->Q, d, Rinv, Rinv);
    refresh_P(w, b, Rinv, H);
    sg_copy(size, Ainv, H);
    sg_trmm('L', 'N', d, d, Rinv, H);
    sg_band_product(w->parts.E, d, H, H);
}

/* Rebuilds M = A^{-1} A^{-T} and a = M t. All that can fail comes first, so a failure leaves the
 * posterior as it was. */
sg_status sg_weights_refresh(sg_weights *w, sg_basis *b, const sg_ws *ws)
{
    const int d = b->d;
    const size_t size = (size_t) d * d;
    void *mark = sg_mark(ws);
    double *Rinv = sg_doubles(ws, size), *Ainv = sg_doubles(ws, size), *H = sg_doubles(ws, size);
    double log_det = 0, *mean = sg_doubles(ws, d);
    sg_status status = sg_state_factor(d, w->S, b->cap, w->t, Ainv, mean, &log_det);
    if (status == SG_OK) status = sg_inverse_upper(d, b->R, b->cap, Rinv);
    if (status == SG_OK) {
        sg_copy(d, mean, w->a);
        refresh_parts(w, b, Rinv, Ainv, H);
        sg_lauum(d, Ainv);
        sg_copy_columns(d, d, Ainv, d, w->M, b->cap);
        sg_mirror('U', d, w->M, b->cap);
    }
    sg_release(ws, mark);
    return status;
}
