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

/* U[c x c] = L_J', zeros below, of a supernode's c columns. */
static void upper_of(const sg_supernodes *L, const supernode *own, double *U)
{
    const int c = own->columns;
    const double *from = L->x + own->from;
    for (int b = 0; b < c; b++) {
        for (int a = 0; a < c; a++) {
            U[a + (size_t) c * b] = a <= b ? from[b + (size_t) own->rows * a] : 0;
        }
    }
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
    upper_of(L, &own, U);
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

/* Collects the supernodes on the ways from rows of A, -1: none, to the root, each once; returns how
 * many they are. */
static int ways_of(const sg_supernodes *L, int r, const int *row, int *marked, int stamp, int *way)
{
    int found = 0;
    for (int a = 0; a < r; a++) {
        for (int j = row[a] < 0 ? -1 : L->node[L->place[row[a]]]; j >= 0 && marked[j] != stamp;) {
            const supernode own = supernode_of(L, j);
            marked[j] = stamp;
            way[found++] = j;
            j = own.rows > own.columns ? L->node[own.at[own.columns]] : -1;
        }
    }
    return found;
}

/* y[n x w], zeros before and after. */
static void square_point(const squares_job *job, int k, int *marked, int *way, double *y)
{
    const sg_supernodes *L = job->L;
    const int w = job->w, *row = job->row + (size_t) job->r * k;
    double *out = job->out + (size_t) w * w * k;
    int least = L->count;
    for (int q = ways_of(L, job->r, row, marked, k + 1, way); q-- > 0;) {
        if (way[q] < least) least = way[q];
    }
    for (int a = 0; a < job->r; a++) {
        if (row[a] < 0) continue;
        const int p = L->place[row[a]];
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

static int *unmarked(const sg_supernodes *L, const sg_ws *ws)
{
    int *marked = sg_ints(L->count, ws);
    for (int j = 0; j < L->count; j++) marked[j] = 0;
    return marked;
}

static sg_status square_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const squares_job *job = ctx;
    const sg_supernodes *L = job->L;
    double *y = sg_zeros((size_t) L->n * job->w, ws);
    int *marked = unmarked(L, ws), *way = sg_ints(L->count, ws);
    (void) slot;
    for (int k = from; k < to; k++) square_point(job, k, marked, way, y);
    return SG_OK;
}

sg_status sg_supernodes_squares(const sg_supernodes *L, int m, int r, int w, const int *row,
                                const double *weights, double *out, const sg_ws *ws)
{
    enum { GRAIN = 64 };
    squares_job job = {L, r, w, row, weights, out};
    return sg_par_rows(m, GRAIN, square_some, &job, ws);
}

/* ---- Products of sparse columns ---- */

void sg_supernodes_follow(const sg_supernodes *L, sg_sparse_columns *B, const sg_ws *ws)
{
    int *marked = unmarked(L, ws), *way = sg_ints(L->count, ws);
    B->start = sg_structs((size_t) L->count + 1, sizeof(size_t), ws);
    B->from = sg_structs((size_t) L->count + 1, sizeof(size_t), ws);
    for (int j = 0; j <= L->count; j++) B->start[j] = B->from[j] = 0;
    for (int k = 0; k < B->m; k++) {
        int q = ways_of(L, B->r, B->row + (size_t) B->r * k, marked, 2 * k + 1, way);
        while (q-- > 0) B->start[way[q] + 1]++;
    }
    for (int j = 0; j < L->count; j++) {
        B->from[j + 1] = B->from[j] + B->start[j + 1] * (size_t) supernode_of(L, j).columns;
        B->start[j + 1] += B->start[j];
    }
    B->which = sg_ints(B->start[L->count], ws);
    for (int k = 0; k < B->m; k++) {
        int q = ways_of(L, B->r, B->row + (size_t) B->r * k, marked, 2 * k + 2, way);
        while (q-- > 0) B->which[B->start[way[q]]++] = k;
    }
    for (int j = L->count; j > 0; j--) B->start[j] = B->start[j - 1];
    B->start[0] = 0;
}

static int columns_at(const sg_sparse_columns *B, int j)
{
    return (int) (B->start[j + 1] - B->start[j]);
}

/* Finds where the columns that pass supernode j, in order, are among those that pass another one
 * further on its way. */
static void find_columns(const sg_sparse_columns *B, int j, int further, int *where)
{
    const int *which = B->which + B->start[j], *all = B->which + B->start[further];
    for (int a = 0, k = 0; a < columns_at(B, j); a++) {
        while (all[k] < which[a]) k++;
        where[a] = k;
    }
}

/* Writes the numbers of P B to those of the supernodes: X[columns of j x those that pass it]. */
static void place_columns(const sg_supernodes *L, const sg_sparse_columns *B, double *X,
                          const sg_ws *ws)
{
    int *last = sg_ints(L->count, ws); /* the place of the last column that was written */
    for (int j = 0; j < L->count; j++) last[j] = 0;
    for (int k = 0; k < B->m; k++) {
        for (int a = 0; a < B->r; a++) {
            const size_t at = a + (size_t) B->r * k;
            if (B->row[at] < 0) continue;
            const int p = L->place[B->row[at]], j = L->node[p];
            const supernode own = supernode_of(L, j);
            while (B->which[B->start[j] + last[j]] < k) last[j]++;
            X[B->from[j] + p - own.first + (size_t) own.columns * last[j]] += B->weights[at];
        }
    }
}

/* Takes the solution X_j of a supernode out of the rows below it. */
static void take_below(const sg_supernodes *L, const sg_sparse_columns *B, int j, double *X,
                       const sg_ws *ws)
{
    const supernode own = supernode_of(L, j);
    const int m = columns_at(B, j), c = own.columns, below = own.rows - c, *at = own.at + c;
    int *where = sg_ints(m, ws);
    double *product = sg_doubles(ws, (size_t) below * m);
    sg_gemm('N', 'N', below, m, c, 1, L->x + own.from + c, own.rows, X + B->from[j], c, 0, product,
            below);
    for (int b = 0; b < below;) {
        const int further = L->node[at[b]];
        const supernode to = supernode_of(L, further);
        find_columns(B, j, further, where);
        for (; b < below && L->node[at[b]] == further; b++) {
            double *row = X + B->from[further] + at[b] - to.first;
            for (int a = 0; a < m; a++) {
                row[(size_t) to.columns * where[a]] -= product[b + (size_t) below * a];
            }
        }
    }
}

/* Adds X_j'X_j of m columns to the lower triangle of out. */
static void add_products(const sg_sparse_columns *B, int j, int c, const double *X, double *out,
                         const sg_ws *ws)
{
    const int m = columns_at(B, j), *which = B->which + B->start[j];
    double *own = sg_zeros((size_t) m * m, ws);
    sg_syrk('T', m, c, 1, X, c, own, m);
    for (int b = 0; b < m; b++) {
        double *column = out + (size_t) B->m * which[b];
        for (int a = b; a < m; a++) column[which[a]] += own[a + (size_t) m * b];
    }
}

void sg_supernodes_products(const sg_supernodes *L, const sg_sparse_columns *B, double *out,
                            const sg_ws *ws)
{
    double *X = sg_zeros(B->from[L->count], ws);
    sg_zero((size_t) B->m * B->m, out);
    place_columns(L, B, X, ws);
    for (int j = 0; j < L->count; j++) {
        const supernode own = supernode_of(L, j);
        const int m = columns_at(B, j), c = own.columns;
        void *mark = sg_mark(ws);
        if (j % 64 == 0) sg_tick(ws);
        if (m > 0) {
            double *U = sg_doubles(ws, (size_t) c * c);
            upper_of(L, &own, U);
            sg_trsm('T', c, m, U, c, X + B->from[j], c);
            if (own.rows > c) take_below(L, B, j, X, ws);
            add_products(B, j, c, X + B->from[j], out, ws);
        }
        sg_release(ws, mark);
    }
    sg_mirror('L', B->m, out, B->m);
}
