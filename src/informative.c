/* informative.c: a pivoted Cholesky factor of the candidates' covariance matrix, a column for each
 * row that is chosen, with the covariances of candidates and point given those. */
#include <math.h>
#include "informative.h"
#include "par.h"
#include "tolerances.h"

enum { GRAIN = 32 }; /* points of a chunk */

typedef struct {
    const sg_vecchia *rows;
    const sg_vecchia_points *points;
    int k, *chosen;
} choice_job;

/* Memory of one point: its `p` candidates and, given those that are chosen, their variances and
 * their covariances with the value (and the derivative) of the point. */
typedef struct {
    int p, *row;
    double *x, *zeros; /* p x D */
    double *own;       /* 4: the point with itself, as a jet */
    double *jet;       /* 4 p */
    double *prior;     /* p: variances with noise */
    double *left;      /* p */
    double *with;      /* p x w */
    double *L;         /* p x k */
    double open[2], least[2];
} choice_room;

static choice_room room_of_choice(const choice_job *job, const sg_ws *ws)
{
    const size_t r = job->points->r, D = job->rows->D, w = job->points->v ? 2 : 1;
    choice_room room = {0, sg_ints(r, ws), sg_doubles(ws, r * D), sg_zeros(r * D, ws),
                        sg_doubles(ws, 4), sg_doubles(ws, 4 * r), sg_doubles(ws, r),
                        sg_doubles(ws, r), sg_doubles(ws, w * r), sg_doubles(ws, r * job->k),
                        {0, 0}, {0, 0}};
    return room;
}

static void gather_candidates(const choice_job *job, int at, choice_room *room)
{
    const sg_vecchia *rows = job->rows;
    const int r = job->points->r, *given = job->points->rows + (size_t) r * at;
    int p = 0;
    for (int j = 0; j < r; j++) {
        if (given[j] >= 0) room->row[p++] = given[j];
    }
    room->p = p;
    for (int j = 0; j < p; j++) {
        sg_take_point(rows->D, rows->x, rows->n, room->row[j], room->x, p, j);
    }
}

/* Computes variances and covariances before any row is chosen. point[D], v[D] or NULL. */
static void begin_choice(const choice_job *job, choice_room *room, const double *point,
                         const double *v, const sg_ws *ws)
{
    const sg_kernel *kernel = job->rows->kernel;
    const int p = room->p;
    double *own = room->own, *jet = room->jet;
    sg_kernel_diag(kernel, p, room->x, room->prior, ws);
    for (int j = 0; job->rows->noise && j < p; j++) {
        room->prior[j] += job->rows->noise[room->row[j]];
    }
    sg_copy(p, room->prior, room->left);
    if (v) {
        const sg_jet of = {own, own + 1, own + 2, own + 3};
        const sg_jet with = {room->with, jet, room->with + p, jet + p};
        sg_kernel_jet(kernel, 1, point, v, 1, point, v, &of, ws);
        sg_kernel_jet(kernel, p, room->x, room->zeros, 1, point, v, &with, ws);
        own[1] = own[3];
    } else {
        sg_kernel_diag(kernel, 1, point, own, ws);
        sg_kernel_cross(kernel, p, room->x, 1, point, room->with, ws);
    }
    for (int a = 0; a < (v ? 2 : 1); a++) {
        room->open[a] = own[a];
        room->least[a] = SG_KNOWN_SHARE * own[a];
    }
}

/* Returns the candidate that takes the largest proportion off what is open, -1: none does. */
static int best_candidate(const choice_room *room, int w)
{
    int best = -1;
    double most = 0;
    for (int j = 0; j < room->p; j++) {
        double gain = 0;
        if (!(room->left[j] > SG_VECCHIA_JITTER / 2 * room->prior[j])) continue;
        for (int a = 0; a < w; a++) {
            const double c = room->with[j + (size_t) room->p * a];
            const double open = room->open[a] < room->least[a] ? room->least[a] : room->open[a];
            if (open > 0) gain += c * c / (room->left[j] * open);
        }
        if (gain > most) {
            most = gain;
            best = j;
        }
    }
    return best;
}

/* Conditions all on candidate b, the q-th that is chosen. */
static void condition_on(const choice_job *job, choice_room *room, const sg_points *points, int q,
                         int b, const sg_ws *ws)
{
    const int p = room->p, w = job->points->v ? 2 : 1;
    const double root = sqrt(room->left[b]);
    double *l = room->L + (size_t) p * q;
    sg_kernel_columns(job->rows->kernel, points, 1, &b, l, ws);
    for (int t = 0; t < q; t++) {
        const double *before = room->L + (size_t) p * t, share = before[b];
        for (int j = 0; j < p; j++) l[j] -= share * before[j];
    }
    for (int j = 0; j < p; j++) {
        l[j] /= root;
        room->left[j] -= l[j] * l[j];
    }
    room->left[b] = 0;
    l[b] = root;
    for (int a = 0; a < w; a++) {
        double *with = room->with + (size_t) p * a;
        const double share = with[b] / root;
        for (int j = 0; j < p; j++) with[j] -= share * l[j];
        room->open[a] -= share * share;
    }
}

/* Chooses the rows of one point; returns how many. point[D], v[D] or NULL. */
static int choose_rows(const choice_job *job, choice_room *room, const double *point,
                       const double *v, int *chosen, const sg_ws *ws)
{
    int q = 0;
    if (room->p <= job->k) {
        for (; q < room->p; q++) chosen[q] = room->row[q];
        return q;
    }
    const sg_points own = sg_kernel_prepare(job->rows->kernel, room->p, room->x, NULL, ws);
    begin_choice(job, room, point, v, ws);
    for (int b; q < job->k && (b = best_candidate(room, v ? 2 : 1)) >= 0; q++) {
        condition_on(job, room, &own, q, b, ws);
        chosen[q] = room->row[b];
    }
    return q;
}

static sg_status choose_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const choice_job *job = ctx;
    const sg_vecchia_points *points = job->points;
    const int D = job->rows->D;
    choice_room room = room_of_choice(job, ws);
    double *point = sg_doubles(ws, D), *v = points->v ? sg_doubles(ws, D) : NULL;
    (void) slot;
    for (int at = from; at < to; at++) {
        int *chosen = job->chosen + (size_t) job->k * at;
        void *mark = sg_mark(ws);
        sg_take_point(D, points->x, points->m, at, point, 1, 0);
        if (v) sg_take_point(D, points->v, points->m, at, v, 1, 0);
        gather_candidates(job, at, &room);
        for (int q = choose_rows(job, &room, point, v, chosen, ws); q < job->k; q++) chosen[q] = -1;
        sg_release(ws, mark);
    }
    return SG_OK;
}

sg_status sg_informative_rows(const sg_vecchia *rows, const sg_vecchia_points *points, int k,
                              int *chosen, const sg_ws *ws)
{
    choice_job job = {rows, points, k, chosen};
    const sg_ws own = sg_kernel_workspace(rows->kernel, ws);
    return sg_par_rows(points->m, GRAIN, choose_some, &job, &own);
}
