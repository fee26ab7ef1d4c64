#include <float.h>
#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "state.h"
#include "weights.h"

static double *zeros(size_t n, const sg_ws *ws)
{
    double *x = sg_doubles(ws, n);
    for (size_t i = 0; i < n; i++) x[i] = 0;
    return x;
}

sg_basis sg_basis_new(int cap, const sg_ws *ws)
{
    sg_basis b = {cap, 0, zeros((size_t) cap * cap, ws), zeros(cap, ws), zeros(cap, ws)};
    return b;
}

sg_weights sg_weights_new(int cap, const sg_ws *ws)
{
    const size_t size = (size_t) cap * cap;
    sg_weights w = {zeros(size, ws), zeros(cap, ws), zeros(size, ws), zeros(cap, ws),
                    zeros(cap, ws), zeros(cap, ws), zeros(cap, ws), zeros(cap, ws)};
    return w;
}

sg_removal sg_removal_new(int cap, const sg_ws *ws)
{
    sg_removal rem = {0, 0, zeros(cap, ws), zeros(cap, ws), zeros(cap, ws), zeros(cap, ws),
                      zeros((size_t) cap * cap, ws)};
    return rem;
}

void sg_basis_whiten(const sg_basis *b, int m, double *X)
{
    sg_trsm('T', b->d, m, b->R, b->cap, X, b->d);
}

void sg_basis_to_weights(const sg_basis *b, int m, double *X)
{
    sg_trsm('N', b->d, m, b->R, b->cap, X, b->d);
}

/* ---- One row ---- */

double sg_weights_gain(const sg_weights *w, const sg_basis *b, const double *v, double *g)
{
    sg_symv(b->d, w->M, b->cap, v, g);
    return sg_dot(b->d, v, g);
}

void sg_weights_move(sg_weights *w, const sg_basis *b, const double *g, const sg_step *step)
{
    sg_syr(b->d, step->var, g, w->M, b->cap);
    for (int i = 0; i < b->d; i++) w->a[i] += step->mean * g[i];
}

void sg_weights_move_scores(sg_weights *w, int d, const double *s, const double *q,
                            const sg_step *step)
{
    for (int i = 0; i < d; i++) {
        w->alpha[i] += step->mean * s[i];
        w->E[i] += step->var * s[i] * s[i];
        if (q) w->P[i] += step->tau * q[i] * q[i];
    }
}

void sg_weights_absorb(sg_weights *w, const sg_basis *b, int m, const double *V, int ldv,
                       const double *tau, const double *nu, double sign, double *work)
{
    const int d = b->d;
    for (int i = 0; i < m; i++) {
        const double *v = V + (size_t) ldv * i;
        double *scaled = work + (size_t) d * i;
        for (int k = 0; k < d; k++) {
            scaled[k] = sign * tau[i] * v[k];
            w->t[k] += sign * nu[i] * v[k];
        }
    }
    sg_gemm('N', 'T', d, d, m, 1, work, d, V, ldv, 1, w->S, b->cap);
}

/* ---- A point more: its coordinate of z is a priori N(0, 1), independent of the others ---- */

void sg_weights_grow(sg_weights *w, const sg_basis *b, const sg_seen *seen)
{
    const int d = b->d, cap = b->cap;
    for (int i = 0; i < d; i++) {
        w->M[d + (size_t) cap * i] = 0;
        w->S[d + (size_t) cap * i] = w->S[i + (size_t) cap * d] = 0;
        w->E[i] += seen->q[i] * seen->q[i] / seen->gamma;
    }
    w->M[d + (size_t) cap * d] = 1;
    w->S[d + (size_t) cap * d] = 0;
    w->a[d] = w->t[d] = w->alpha[d] = w->P[d] = 0;
    w->E[d] = 1 / seen->gamma;
}

void sg_basis_grow(sg_basis *b, const sg_seen *seen)
{
    const int d = b->d;
    double *column = b->R + (size_t) b->cap * d;
    for (int i = 0; i < d; i++) {
        column[i] = seen->v[i];
        b->Q[i] += seen->q[i] * seen->q[i] / seen->gamma;
    }
    column[d] = sqrt(seen->gamma);
    b->Q[d] = 1 / seen->gamma;
    b->K[d] = sg_dot(d + 1, column, column);
    b->d++;
}

int sg_basis_redundant(const sg_basis *b, const sg_seen *seen, double novelty)
{
    int least = -1;
    double share = novelty;
    for (int j = 0; j < b->d; j++) {
        const double Q = b->Q[j] + (seen ? seen->q[j] * seen->q[j] / seen->gamma : 0);
        if (1 / (Q * b->K[j]) < share) share = 1 / (Q * b->K[j]), least = j;
    }
    return least;
}

/* ---- A point less. Without its column, R is upper Hessenberg; rotations of neighbouring rows
 * make it triangular again and turn the coordinates z with it. w_j = 0 puts the last one to 0. */

void sg_removal_begin(sg_removal *rem, const sg_basis *b, int j)
{
    const int d = b->d;
    rem->j = j;
    rem->d = d;
    for (int i = 0; i < d; i++) rem->r[i] = i == j;
    sg_trsv('T', d, b->R, b->cap, rem->r);
    for (int i = 0; i < d; i++) rem->q[i] = rem->r[i];
    sg_trsv('N', d, b->R, b->cap, rem->q);
    sg_chol_drop(d, j, b->R, b->cap, rem->R, rem->cos, rem->sin);
}

static void drop_entry(int d, int j, double *x)
{
    for (int i = j; i < d - 1; i++) x[i] = x[i + 1];
}

void sg_removal_end(const sg_removal *rem, sg_basis *b)
{
    const int j = rem->j, d = rem->d, cap = b->cap;
    const double Qjj = rem->q[j];
    for (int i = 0; i < d; i++) b->Q[i] -= rem->q[i] * rem->q[i] / Qjj;
    drop_entry(d, j, b->Q);
    drop_entry(d, j, b->K);
    for (int c = j; c < d - 1; c++) {
        for (int i = 0; i <= c; i++) b->R[i + (size_t) cap * c] = rem->R[i + (size_t) cap * c];
    }
    b->d--;
}

/* The rotations of `count` columns; what one leaves behind is the next one's first operand. */
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

void sg_removal_rotate(const sg_removal *rem, int m, double *X, int ldx)
{
    enum { ABREAST = 8 }; /* columns at a time: one alone would wait for its own results */
    int i = 0;
    for (; i + ABREAST <= m; i += ABREAST) {
        rotate_columns(rem, ABREAST, X + (size_t) ldx * i, ldx);
    }
    for (; i < m; i++) rotate_columns(rem, 1, X + (size_t) ldx * i, ldx);
}

/* A = G A G' for a symmetric A, both triangles in and out */
static void rotate_both(const sg_removal *rem, double *A, int lda)
{
    sg_removal_rotate(rem, rem->d, A, lda);
    sg_mirror('T', rem->d, A, lda);
    sg_removal_rotate(rem, rem->d, A, lda);
}

/* The part of P's diagonal (thesis: of the projected sites): P_new = D'P D, D = I - e_j q'/q_j */
static void remove_from_P(sg_weights *w, const sg_basis *b, const sg_removal *rem, double *work)
{
    const int d = rem->d, j = rem->j;
    sg_symv(d, w->S, b->cap, rem->r, work);
    const double Pjj = sg_dot(d, rem->r, work);
    sg_trsv('N', d, b->R, b->cap, work);
    for (int i = 0; i < d; i++) {
        const double share = rem->q[i] / rem->q[j];
        w->P[i] += share * (share * Pjj - 2 * work[i]);
    }
    drop_entry(d, j, w->P);
}

void sg_weights_remove(sg_weights *w, const sg_basis *b, const sg_removal *rem)
{
    const int d = rem->d, j = rem->j;
    double *g = w->work;
    const double Ejj = sg_weights_gain(w, b, rem->r, g), alpha = sg_dot(d, rem->r, w->a);
    const sg_step step = {-alpha / Ejj, -1 / Ejj, 0, 0};
    sg_weights_move(w, b, g, &step);
    sg_basis_to_weights(b, 1, g);
    sg_weights_move_scores(w, d, g, NULL, &step);
    drop_entry(d, j, w->alpha);
    drop_entry(d, j, w->E);
    remove_from_P(w, b, rem, g);
    sg_mirror('L', d, w->M, b->cap);
    rotate_both(rem, w->M, b->cap);
    rotate_both(rem, w->S, b->cap);
    sg_removal_rotate(rem, 1, w->a, b->cap);
    sg_removal_rotate(rem, 1, w->t, b->cap);
}

/* ---- Scores ---- */

/* E > 0; where rounding has eaten it, the point is too well known to be removed. */
static double score_of(sg_score kind, double alpha, double E, double Q, double P)
{
    const double mean = alpha * alpha / fmax2(E, DBL_MIN);
    if (kind == SG_SCORE_MEAN) return mean;
    if (kind == SG_SCORE_ERROR) return fabs(alpha) / Q;
    return mean + log(fmax2(E, DBL_MIN) / Q) + P / Q;
}

void sg_weights_scores(const sg_weights *w, const sg_basis *b, const sg_seen *seen,
                       const double *s, const sg_step *step, sg_score kind, double *score)
{
    const int d = b->d;
    for (int i = 0; i < d; i++) {
        const double q = seen->q[i], e = s[i] - q, joined = q * q / seen->gamma;
        score[i] = score_of(kind, w->alpha[i] + step->mean * e,
                            w->E[i] + joined + step->var * e * e, b->Q[i] + joined, w->P[i]);
    }
    const double Q = 1 / seen->gamma;
    score[d] = score_of(kind, step->mean, Q + step->var, Q, step->tau);
}

/* ---- From scratch ---- */

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

/* R^{-1}: d x d upper, contiguous, zero below */
static sg_status inverse_of_basis(const sg_basis *b, double *Rinv)
{
    const int d = b->d;
    for (int j = 0; j < d; j++) {
        for (int i = 0; i <= j; i++) Rinv[i + (size_t) d * j] = b->R[i + (size_t) b->cap * j];
    }
    sg_clear_below(d, Rinv);
    return sg_trtri(d, Rinv);
}

/* P's diagonal: rows of R^{-1} S times rows of R^{-1}; work[d x d] */
static void refresh_P(sg_weights *w, const sg_basis *b, const double *Rinv, double *work)
{
    const int d = b->d;
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) work[i + (size_t) d * j] = w->S[i + (size_t) b->cap * j];
    }
    sg_trmm('L', 'N', d, d, Rinv, work);
    for (int i = 0; i < d; i++) w->P[i] = 0;
    for (int j = 0; j < d; j++) {
        for (int i = 0; i <= j; i++) {
            w->P[i] += work[i + (size_t) d * j] * Rinv[i + (size_t) d * j];
        }
    }
}

sg_status sg_weights_refresh(sg_weights *w, sg_basis *b, const sg_ws *ws)
{
    const int d = b->d;
    const size_t size = (size_t) d * d;
    void *mark = sg_mark(ws);
    double *Rinv = sg_doubles(ws, size), *Ainv = sg_doubles(ws, size), *H = sg_doubles(ws, size);
    double log_det = 0, *mean = sg_doubles(ws, d);
    sg_status status = sg_state_factor(d, w->S, b->cap, w->t, Ainv, mean, &log_det);
    if (status == SG_OK) status = inverse_of_basis(b, Rinv);
    if (status == SG_OK) {
        for (int i = 0; i < d; i++) w->a[i] = mean[i];
        for (int i = 0; i < d; i++) w->alpha[i] = w->a[i];
        sg_trmv('N', d, Rinv, w->alpha);
        sg_row_norms(d, Rinv, b->Q);
        refresh_P(w, b, Rinv, H);
        for (size_t i = 0; i < size; i++) H[i] = Ainv[i];
        sg_trmm('L', 'N', d, d, Rinv, H);
        sg_row_norms(d, H, w->E);
        sg_lauum(d, Ainv);
        for (int j = 0; j < d; j++) {
            for (int i = j; i < d; i++) w->M[i + (size_t) b->cap * j] = Ainv[j + (size_t) d * i];
        }
    }
    sg_release(ws, mark);
    return status;
}
