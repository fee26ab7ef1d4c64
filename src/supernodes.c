/* supernodes.c: solutions and the selected inverse from a sparse factor in supernodes. */
#include <math.h>
#include "chol.h"
#include "par.h"
#include "supernodes.h"

/* A supernode: `columns` of `rows` rows, which are at[rows]. */
typedef struct {
    int first, columns, rows;
    const int *at;
    size_t from;
} supernode;

static supernode supernode_of(const sg_supernodes *L, int j)
{
    const supernode own = {L->super[j], L->super[j + 1] - L->super[j], L->pi[j + 1] - L->pi[j],
                           L->s + L->pi[j], L->px[j]};
    return own;
}

void sg_supernodes_look(sg_supernodes *L, const sg_ws *ws)
{
    L->place = sg_ints(L->n, ws);
    L->node = sg_ints(L->n, ws);
    L->most = 0;
    for (int p = 0; p < L->n; p++) L->place[L->perm[p]] = p;
    for (int j = 0; j < L->count; j++) {
        const supernode own = supernode_of(L, j);
        for (int c = 0; c < own.columns; c++) L->node[own.first + c] = j;
        if (own.rows > L->most) L->most = own.rows;
    }
}

double sg_supernodes_log_det(const sg_supernodes *L)
{
    double sum = 0;
    for (int j = 0; j < L->count; j++) {
        const supernode own = supernode_of(L, j);
        const double *pivot = L->x + own.from;
        for (int c = 0; c < own.columns; c++) sum += log(pivot[c + (size_t) own.rows * c]);
    }
    return sum;
}

/* Takes a supernode's columns out of the right-hand side y = L^{-1} b. */
static void go_forward(const sg_supernodes *L, const supernode *own, double *y)
{
    for (int c = 0; c < own->columns; c++) {
        const double *column = L->x + own->from + (size_t) own->rows * c;
        const double value = y[own->first + c] /= column[c];
        for (int k = c + 1; k < own->rows; k++) y[own->at[k]] -= value * column[k];
    }
}

void sg_supernodes_solve(const sg_supernodes *L, const double *b, double *x, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    double *y = sg_doubles(ws, L->n);
    for (int p = 0; p < L->n; p++) y[p] = b[L->perm[p]];
    for (int j = 0; j < L->count; j++) {
        const supernode own = supernode_of(L, j);
        go_forward(L, &own, y);
    }
    for (int j = L->count - 1; j >= 0; j--) {
        const supernode own = supernode_of(L, j);
        for (int c = own.columns - 1; c >= 0; c--) {
            const double *column = L->x + own.from + (size_t) own.rows * c;
            double sum = y[own.first + c];
            for (int k = c + 1; k < own.rows; k++) sum -= column[k] * y[own.at[k]];
            y[own.first + c] = sum / column[c];
        }
    }
    for (int p = 0; p < L->n; p++) x[L->perm[p]] = y[p];
    sg_release(ws, mark);
}

/* ---- The selected inverse ---- */

/* Gathers the inverse between rows at[below], which are in supernodes further on: out[below x
 * below], both triangles. */
static void gather_inverse(const sg_supernodes *L, const double *Z, int below, const int *at,
                           int *where, double *out)
{
    for (int b = 0; b < below;) {
        const int j = L->node[at[b]];
        const supernode own = supernode_of(L, j);
        int end = b;
        for (int k = 0, a = b; a < below; a++) { /* rows of both are in increasing order */
            while (own.at[k] < at[a]) k++;
            where[a] = k;
        }
        while (end < below && L->node[at[end]] == j) end++;
        for (; b < end; b++) {
            const double *column = Z + own.from + (size_t) own.rows * (at[b] - own.first);
            for (int a = b; a < below; a++) out[a + (size_t) below * b] = column[where[a]];
        }
    }
    sg_mirror('L', below, out, below);
}

/* With Y = L_R L_J^{-1} of a supernode's rows R below its columns J: Z_RJ = -Z_RR Y and
 * Z_JJ = (L_J L_J')^{-1} - Y'Z_RJ. */
static sg_status invert_supernode(const sg_supernodes *L, int j, double *Z, const sg_ws *ws)
{
    const supernode own = supernode_of(L, j);
    const int c = own.columns, below = own.rows - c;
    const double *from = L->x + own.from;
    double *to = Z + own.from;
    double *U = sg_doubles(ws, (size_t) c * c), *Y = sg_doubles(ws, (size_t) below * c);
    double *inner = sg_doubles(ws, (size_t) below * below);
    for (int b = 0; b < c; b++) {
        for (int a = 0; a < c; a++) {
            U[a + (size_t) c * b] = a <= b ? from[b + (size_t) own.rows * a] : 0;
        }
    }
    const sg_status status = sg_trtri(c, U);
    if (status != SG_OK) return status;
    if (below > 0) {
        sg_copy_columns(below, c, from + c, own.rows, Y, below);
        sg_trmm('R', 'T', below, c, U, Y);
        gather_inverse(L, Z, below, own.at + c, sg_ints(below, ws), inner);
        sg_gemm('N', 'N', below, c, below, -1, inner, below, Y, below, 0, to + c, own.rows);
    }
    sg_lauum(c, U);
    sg_mirror('U', c, U, c);
    if (below > 0) sg_gemm('T', 'N', c, c, below, -1, Y, below, to + c, own.rows, 1, U, c);
    sg_copy_columns(c, c, U, c, to, own.rows);
    return SG_OK;
}

sg_status sg_supernodes_inverse(const sg_supernodes *L, double *Z, const sg_ws *ws)
{
    for (int j = L->count - 1; j >= 0; j--) {
        void *mark = sg_mark(ws);
        const sg_status status = invert_supernode(L, j, Z, ws);
        sg_release(ws, mark);
        if (status != SG_OK) return status;
        if (j % 64 == 0) sg_tick(ws);
    }
    return SG_OK;
}

double sg_supernodes_element(const sg_supernodes *L, const double *Z, int i, int j)
{
    const int p = L->place[i], q = L->place[j], row = p > q ? p : q, column = p > q ? q : p;
    const supernode own = supernode_of(L, L->node[column]);
    int lo = 0, hi = own.rows - 1;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (own.at[mid] < row) lo = mid + 1;
        else hi = mid;
    }
    return own.at[lo] == row ? Z[own.from + lo + (size_t) own.rows * (column - own.first)] : NAN;
}

/* ---- Squares of sparse columns ---- */

typedef struct {
    const sg_supernodes *L;
    int r, w;
    const int *row;
    const double *weights;
    double *out;
} squares_job;

/* Marks the supernodes on the way from a row to the root. */
static void mark_way(const sg_supernodes *L, int row, int *marked, int stamp)
{
    for (int j = L->node[row]; marked[j] != stamp;) {
        const supernode own = supernode_of(L, j);
        marked[j] = stamp;
        if (own.rows == own.columns) break;
        j = L->node[own.at[own.columns]];
    }
}

/* y[n x w], zeros before and after. */
static void square_point(const squares_job *job, int k, int *marked, double *y)
{
    const sg_supernodes *L = job->L;
    const int w = job->w, *row = job->row + (size_t) job->r * k;
    double *out = job->out + (size_t) w * w * k;
    int least = L->count;
    for (int a = 0; a < job->r; a++) {
        if (row[a] < 0) continue;
        const int p = L->place[row[a]];
        mark_way(L, p, marked, k + 1);
        if (L->node[p] < least) least = L->node[p];
        for (int b = 0; b < w; b++) {
            y[p + (size_t) L->n * b] += job->weights[a + (size_t) job->r * (b + (size_t) w * k)];
        }
    }
    sg_zero((size_t) w * w, out);
    for (int j = least; j < L->count; j++) {
        if (marked[j] != k + 1) continue;
        const supernode own = supernode_of(L, j);
        for (int b = 0; b < w; b++) go_forward(L, &own, y + (size_t) L->n * b);
        for (int c = own.first; c < own.first + own.columns; c++) {
            for (int b = 0; b < w; b++) {
                for (int a = 0; a < w; a++) {
                    out[a + w * b] += y[c + (size_t) L->n * a] * y[c + (size_t) L->n * b];
                }
            }
            for (int b = 0; b < w; b++) y[c + (size_t) L->n * b] = 0;
        }
    }
}

static sg_status square_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const squares_job *job = ctx;
    const sg_supernodes *L = job->L;
    double *y = sg_zeros((size_t) L->n * job->w, ws);
    int *marked = sg_ints(L->count, ws);
    (void) slot;
    for (int j = 0; j < L->count; j++) marked[j] = 0;
    for (int k = from; k < to; k++) square_point(job, k, marked, y);
    return SG_OK;
}

sg_status sg_supernodes_squares(const sg_supernodes *L, int m, int r, int w, const int *row,
                                const double *weights, double *out, const sg_ws *ws)
{
    enum { GRAIN = 64 };
    squares_job job = {L, r, w, row, weights, out};
    return sg_par_rows(m, GRAIN, square_some, &job, ws);
}
