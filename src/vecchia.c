/* vecchia.c: conditional distributions of points given few neighbours. Each is a Cholesky factor
 * U'U of the covariance matrix of the neighbours and then the point, whose last column has it all:
 * with w = U^{-T} z, e / sqrt(v) is the last number of w, and sqrt(v) the last pivot. */
#include <math.h>
#include "chol.h"
#include "par.h"
#include "tolerances.h"
#include "vecchia.h"

enum { GRAIN = 32, TRIES = 5 }; /* points of a chunk; jitters, each a hundred times the last */

/* K[p x p] of points x[p x D]; with directions v[p x D] values and derivatives of points from
 * `plain` on, two after each other, p + (p - plain) in all. */
static void covariances(const sg_kernel *kernel, int p, int plain, const double *x, const double *v,
                        double *K, const sg_ws *ws)
{
    if (!v) {
        sg_kernel_cross(kernel, p, x, p, NULL, K, ws);
        return;
    }
    void *mark = sg_mark(ws);
    const int size = 2 * p - plain;
    double *own = sg_doubles(ws, (size_t) p * p * 4);
    const sg_jet jet = {own, own + (size_t) p * p, own + (size_t) 2 * p * p,
                        own + (size_t) 3 * p * p};
    sg_kernel_jet(kernel, p, x, v, p, x, v, &jet, ws);
    for (int j = 0; j < size; j++) {
        const int b = j < plain ? j : plain + (j - plain) / 2, db = j > b && (j - plain) % 2;
        for (int i = 0; i < size; i++) {
            const int a = i < plain ? i : plain + (i - plain) / 2, da = i > a && (i - plain) % 2;
            const double *from = da ? (db ? jet.dxdz : jet.dx) : db ? jet.dz : jet.K;
            K[i + (size_t) size * j] = from[a + (size_t) p * b];
        }
    }
    sg_release(ws, mark);
}

/* Factors A, a copy of K of leading dimension `size`, whose first `noisy` diagonal elements have
 * noise: others get jitter, and all of them more if there is no factor. */
static sg_status factor(int size, int noisy, const double *K, double *A)
{
    double jitter = SG_VECCHIA_JITTER;
    for (int tries = 0; tries < TRIES; tries++, jitter *= 100) {
        sg_copy((size_t) size * size, K, A);
        for (int i = tries ? 0 : noisy; i < size; i++) A[i + (size_t) size * i] *= 1 + jitter;
        if (sg_potrf(size, A, size) == SG_OK) return SG_OK;
    }
    return SG_NOT_PD;
}

void sg_take_point(int D, const double *x, int n, int i, double *out, int p, int k)
{
    for (int d = 0; d < D; d++) out[k + (size_t) p * d] = x[i + (size_t) n * d];
}

/* ---- Weights ---- */

typedef struct {
    const sg_vecchia *rows;
    const sg_vecchia_points *points;
    double *weights, *root;
} weights_job;

/* Memory of one point, and the slots of the neighbours that it has. */
typedef struct {
    int *slot;
    double *x, *v, *K, *A;
} weights_room;

static weights_room room_for(const weights_job *job, const sg_ws *ws)
{
    const sg_vecchia_points *points = job->points;
    const size_t p = points->r + points->s + 1, w = points->v ? 2 : 1;
    const size_t size = points->r + w * (points->s + 1), D = job->rows->D;
    weights_room room = {sg_ints(p, ws), sg_doubles(ws, p * D),
                         points->v ? sg_doubles(ws, p * D) : NULL,
                         sg_doubles(ws, size * size), sg_doubles(ws, size * size)};
    return room;
}

/* Gathers the neighbours of a point and the point itself; returns how many are rows, and sets
 * *count to the number of all. */
static int gather(const weights_job *job, int at, weights_room *room, int *count)
{
    const sg_vecchia *rows = job->rows;
    const sg_vecchia_points *points = job->points;
    const int *row = points->rows + (size_t) points->r * at;
    const int *point = points->points + (size_t) points->s * at;
    int p = 1, plain = 0, k = 0;
    for (int j = 0; j < points->r; j++) plain += row[j] >= 0;
    for (int j = 0; j < points->s; j++) p += point[j] >= 0;
    *count = p += plain;
    for (int j = 0; room->v && j < p * rows->D; j++) room->v[j] = 0;
    for (int j = 0; j < points->r; j++) {
        if (row[j] < 0) continue;
        sg_take_point(rows->D, rows->x, rows->n, row[j], room->x, p, k);
        room->slot[k++] = j;
    }
    for (int j = 0; j <= points->s; j++) {
        const int i = j < points->s ? point[j] : at;
        if (i < 0) continue;
        sg_take_point(rows->D, points->x, points->m, i, room->x, p, k);
        if (room->v) sg_take_point(rows->D, points->v, points->m, i, room->v, p, k);
        room->slot[k++] = points->r + (room->v ? 2 : 1) * j;
    }
    return plain;
}

/* Writes weights and root of a point from the factor of all: U_oo b = U_o. */
static void read_factor(const weights_job *job, int at, int plain, int size, const int *slot,
                        double *A)
{
    const sg_vecchia_points *points = job->points;
    const int w = points->v ? 2 : 1, others = size - w;
    const size_t all = points->r + (size_t) w * points->s;
    double *weights = job->weights + all * w * at, *root = job->root + (size_t) w * w * at;
    double *last = A + (size_t) size * others;
    for (int b = 0; b < w; b++) {
        for (int a = 0; a < w; a++) {
            root[a + w * b] = a <= b ? last[others + a + (size_t) size * b] : 0;
        }
    }
    sg_zero(all * w, weights);
    if (others > 0) sg_trsm('N', others, w, A, size, last, size);
    for (int b = 0; b < w; b++) {
        for (int i = 0; i < others; i++) {
            const int k = i < plain ? i : plain + (i - plain) / w;
            const int shift = i < plain ? 0 : (i - plain) % w;
            weights[slot[k] + shift + all * b] = last[i + (size_t) size * b];
        }
    }
}

static sg_status weigh_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const weights_job *job = ctx;
    const sg_vecchia *rows = job->rows;
    weights_room room = room_for(job, ws);
    (void) slot;
    for (int at = from; at < to; at++) {
        int p;
        const int plain = gather(job, at, &room, &p), size = room.v ? 2 * p - plain : p;
        const int *row = job->points->rows + (size_t) job->points->r * at;
        covariances(rows->kernel, p, plain, room.x, room.v, room.K, ws);
        for (int k = 0; rows->noise && k < plain; k++) {
            double *own = room.K + k + (size_t) size * k;
            const double noise = rows->noise[row[room.slot[k]]], least = SG_VECCHIA_JITTER * *own;
            *own += noise < least ? least : noise;
        }
        const sg_status status = factor(size, rows->noise ? plain : 0, room.K, room.A);
        if (status != SG_OK) return status;
        read_factor(job, at, plain, size, room.slot, room.A);
    }
    return SG_OK;
}

sg_status sg_vecchia_weights(const sg_vecchia *rows, const sg_vecchia_points *points,
                             double *weights, double *root, const sg_ws *ws)
{
    weights_job job = {rows, points, weights, root};
    const sg_ws own = sg_kernel_workspace(rows->kernel, ws);
    return sg_par_rows(points->m, GRAIN, weigh_some, &job, &own);
}

/* ---- Rows given others ---- */

/* Memory of one row: its neighbours and itself, p points at most. */
typedef struct {
    int p, *at;
    double *x, *K, *A, *Kbar, *w, *b, *g;
} row_room;

static row_room room_of_row(int D, int k, int columns, const sg_ws *ws)
{
    const size_t p = (size_t) k + 1;
    row_room room = {0, sg_ints(p, ws), sg_doubles(ws, p * D), sg_doubles(ws, p * p),
                     sg_doubles(ws, p * p), sg_doubles(ws, p * p), sg_doubles(ws, p * columns),
                     sg_doubles(ws, p), sg_doubles(ws, p)};
    return room;
}

/* Gathers a row's neighbours and itself, and factors their covariance matrix. room->K stays that of
 * the kernel. */
static sg_status factor_row(const sg_vecchia *rows, int row, int k, const int *near,
                            row_room *room, const sg_ws *ws)
{
    int p = 0;
    for (int j = 0; j < k; j++) {
        if (near[j] >= 0) room->at[p++] = near[j];
    }
    room->at[p++] = row;
    room->p = p;
    for (int j = 0; j < p; j++) {
        sg_take_point(rows->D, rows->x, rows->n, room->at[j], room->x, p, j);
    }
    sg_kernel_cross(rows->kernel, p, room->x, p, NULL, room->K, ws);
    if (!rows->noise) return factor(p, 0, room->K, room->A);
    sg_copy((size_t) p * p, room->K, room->Kbar);
    for (int j = 0; j < p; j++) room->Kbar[j + (size_t) p * j] += rows->noise[room->at[j]];
    return factor(p, p, room->Kbar, room->A);
}

/* A loop over rows whose sums are kept chunk by chunk. */
typedef struct {
    const sg_vecchia *rows;
    const sg_vecchia_responses *given;
    double *logv, *scaled, *gradient; /* gradient: size x chunks */
    int size;
    int k;              /* of the prior's gradient: */
    double least;
    const int *near;
    const double *M;
} rows_job;

/* Kbar = ((sum_j w_j^2 - 1) g g' + h g' + g h') / 2 with g = (-b, 1) / sqrt(v), and h the sum of
 * C^{-1} z_j w_j of the neighbours: adds its part to the gradient. w: U^{-T} z, p x columns. */
static void add_density(const rows_job *job, row_room *room, double *gradient, const sg_ws *ws)
{
    const sg_vecchia *rows = job->rows;
    const int p = room->p, last = p - 1;
    double square = -1, *h = room->b, *g = room->g, *Kbar = room->Kbar;
    sg_zero(p, h);
    sg_zero(last, g);
    g[last] = 1;
    sg_trsv('N', p, room->A, p, g);
    for (int j = 0; j < job->given->columns; j++) {
        const double *w = room->w + (size_t) p * j;
        square += w[last] * w[last];
        for (int i = 0; i < last; i++) h[i] += w[i] * w[last];
    }
    if (last > 0) sg_trsv('N', last, room->A, p, h);
    for (int b = 0; b < p; b++) {
        for (int a = 0; a < p; a++) {
            Kbar[a + (size_t) p * b] = (square * g[a] * g[b] + h[a] * g[b] + g[a] * h[b]) / 2;
        }
        gradient[job->size - 1] += Kbar[b + (size_t) p * b] * rows->noise[room->at[b]];
    }
    sg_kernel_adjoint(rows->kernel, p, room->x, p, NULL, room->K, Kbar, gradient, ws);
}

static sg_status densities_of_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const rows_job *job = ctx;
    const sg_vecchia_responses *given = job->given;
    const int columns = given->columns;
    row_room room = room_of_row(job->rows->D, given->k, columns, ws);
    (void) slot;
    double *own = job->gradient ? job->gradient + (size_t) job->size * (from / GRAIN) : NULL;
    if (own) sg_zero(job->size, own);
    for (int i = from; i < to; i++) {
        const sg_status status = factor_row(job->rows, given->row[i], given->k,
                                            given->near + (size_t) given->k * i, &room, ws);
        if (status != SG_OK) return status;
        const int p = room.p;
        job->logv[i] = 2 * log(room.A[p - 1 + (size_t) p * (p - 1)]);
        for (int j = 0; j < columns; j++) {
            double *w = room.w + (size_t) p * j;
            for (int a = 0; a < p; a++) w[a] = given->z[room.at[a] + (size_t) job->rows->n * j];
            sg_trsv('T', p, room.A, p, w);
            job->scaled[j + (size_t) columns * i] = w[p - 1];
        }
        if (own) add_density(job, &room, own, ws);
    }
    return SG_OK;
}

/* Adds up the sums of chunks. */
static void add_chunks(int size, int chunks, const double *sums, double *out)
{
    for (int c = 0; c < chunks; c++) {
        for (int t = 0; t < size; t++) out[t] += sums[t + (size_t) size * c];
    }
}

sg_status sg_vecchia_densities(const sg_vecchia *rows, const sg_vecchia_responses *given,
                               double *logv, double *scaled, double *gradient, const sg_ws *ws)
{
    const sg_ws own = sg_kernel_workspace(rows->kernel, ws);
    const int size = sg_kernel_ntheta(rows->kernel) + 1, chunks = sg_par_chunks(given->m, GRAIN);
    void *mark = sg_mark(ws);
    double *sums = gradient ? sg_doubles(ws, (size_t) size * chunks) : NULL;
    rows_job job = {.rows = rows, .given = given, .logv = logv, .scaled = scaled, .gradient = sums,
                    .size = size};
    const sg_status status = sg_par_rows(given->m, GRAIN, densities_of_some, &job, &own);
    if (status == SG_OK && gradient) add_chunks(size, chunks, sums, gradient);
    sg_release(ws, mark);
    return status;
}

/* ---- The gradient of the prior ---- */

/* With c = (-b, 1) and h = C^{-1} (M c)_N, 0 for the row itself,
 * Kbar = (c'M c / d - 1) c c' / (2 d) + (h c' + c h') / (2 d); where d is a share of the row's own
 * variance, that share of e e' stands for the first c c'. */
static void add_prior(const rows_job *job, int i, row_room *room, double *gradient,
                      const sg_ws *ws)
{
    const int p = room->p, last = p - 1, all = job->k + 1;
    const double root = room->A[last + (size_t) p * last];
    const double least = job->least * room->K[last + (size_t) p * last];
    const int bounded = root * root < least;
    const double d = bounded ? least : root * root;
    const int *near = job->near + (size_t) job->k * i;
    const double *M = job->M + (size_t) all * all * i;
    double *c = room->g, *h = room->b, square = 0;
    int *slot = room->at; /* which is not read any more */
    for (int j = 0, a = 0; j < all; j++) {
        if (j == job->k || near[j] >= 0) slot[a++] = j;
    }
    sg_zero(last, c);
    c[last] = root;
    sg_trsv('N', p, room->A, p, c);
    for (int a = 0; a < p; a++) {
        h[a] = 0;
        for (int b = 0; b < p; b++) h[a] += M[slot[a] + (size_t) all * slot[b]] * c[b];
        square += c[a] * h[a];
    }
    h[last] = 0;
    if (last > 0) {
        sg_trsv('T', last, room->A, p, h);
        sg_trsv('N', last, room->A, p, h);
    }
    const double of_d = square / d - 1;
    for (int b = 0; b < p; b++) {
        for (int a = 0; a < p; a++) {
            room->Kbar[a + (size_t) p * b] =
                ((bounded ? 0 : of_d * c[a] * c[b]) + h[a] * c[b] + c[a] * h[b]) / (2 * d);
        }
    }
    if (bounded) room->Kbar[last + (size_t) p * last] += of_d * job->least / (2 * d);
    sg_kernel_adjoint(job->rows->kernel, p, room->x, p, NULL, room->K, room->Kbar, gradient, ws);
}

static sg_status prior_of_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const rows_job *job = ctx;
    row_room room = room_of_row(job->rows->D, job->k, 1, ws);
    double *own = job->gradient + (size_t) job->size * (from / GRAIN);
    (void) slot;
    sg_zero(job->size, own);
    for (int i = from; i < to; i++) {
        const sg_status status = factor_row(job->rows, i, job->k,
                                            job->near + (size_t) job->k * i, &room, ws);
        if (status != SG_OK) return status;
        add_prior(job, i, &room, own, ws);
    }
    return SG_OK;
}

sg_status sg_vecchia_prior_gradient(const sg_vecchia *rows, int k, const int *near, const double *M,
                                    double least, double *gradient, const sg_ws *ws)
{
    const sg_ws own = sg_kernel_workspace(rows->kernel, ws);
    const int size = sg_kernel_ntheta(rows->kernel), chunks = sg_par_chunks(rows->n, GRAIN);
    void *mark = sg_mark(ws);
    double *sums = sg_doubles(ws, (size_t) size * chunks);
    rows_job job = {.rows = rows, .gradient = sums, .size = size, .k = k, .least = least,
                    .near = near, .M = M};
    const sg_status status = sg_par_rows(rows->n, GRAIN, prior_of_some, &job, &own);
    if (status == SG_OK) add_chunks(size, chunks, sums, gradient);
    sg_release(ws, mark);
    return status;
}
