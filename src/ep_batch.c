#include <math.h>
#include <Rmath.h>
#include "chol.h"
#include "ep_batch.h"

/* Is every pivot well above rounding? A singular matrix may pass the factorisation by luck, with
 * pivots that are noise. */
static int pivots_matter(int d, const double *KB, const double *R)
{
    const double ROUNDING = 1e-14;
    for (int j = 0; j < d; j++) {
        const size_t jj = j + (size_t) d * j;
        if (!(R[jj] * R[jj] > ROUNDING * KB[jj])) return 0;
    }
    return 1;
}

/* R with R'R = KB + jitter diag(KB), for the smallest jitter of the ladder that has one. */
static sg_status factor_basis(int d, const double *KB, double *R, double *jitter)
{
    const double LADDER[] = {0, 1e-12, 1e-10, 1e-8, 1e-6};
    const size_t size = (size_t) d * d;
    for (size_t step = 0; step < sizeof LADDER / sizeof *LADDER; step++) {
        for (size_t i = 0; i < size; i++) R[i] = KB[i];
        for (int j = 0; j < d; j++) R[j + (size_t) d * j] *= 1 + LADDER[step];
        *jitter = LADDER[step];
        if (sg_potrf(d, R, d) == SG_OK && pivots_matter(d, KB, R)) return SG_OK;
    }
    return SG_NOT_PD;
}

enum { ROW_BLOCK = 1024 };

int sg_next_rows(int n, sg_row_block *block)
{
    block->from += block->m;
    const int left = n - block->from;
    block->m = left < ROW_BLOCK ? left : ROW_BLOCK;
    return left > 0;
}

double *sg_block_room(int n, int width, const sg_ws *ws)
{
    return sg_doubles(ws, (size_t) (n < ROW_BLOCK ? n : ROW_BLOCK) * width);
}

void sg_basis_kernel_block(const sg_basis_rows *b, const sg_row_block *block, double *x_block,
                           double *out, const sg_ws *ws)
{
    sg_copy_rows(b->n, b->D, b->x, block->from, block->m, x_block);
    sg_kernel_cross(b->kernel, block->m, x_block, b->d, b->basis, out, ws);
}

static void look(const sg_basis_rows *b, const sg_row_block *block, double *out, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    sg_basis_kernel_block(b, block, sg_doubles(ws, (size_t) block->m * b->D), out, ws);
    sg_trmm('R', 'N', block->m, b->d, b->Rinv, out);
    sg_release(ws, mark);
    sg_tick(ws);
}

const double *sg_basis_block(const sg_basis_rows *b, const sg_row_block *block, double *room,
                             const sg_ws *ws)
{
    if (b->V) return b->V + (size_t) block->from * b->d;
    look(b, block, room, ws);
    return room;
}

/* gamma of all rows, and V where it is held */
static void look_at_all(sg_basis_rows *b, const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    double *prior = sg_doubles(ws, b->n), *room = b->V ? NULL : sg_block_room(b->n, b->d, ws);
    sg_row_block block = {0, 0};
    sg_kernel_diag(b->kernel, b->n, b->x, prior, ws);
    while (sg_next_rows(b->n, &block)) {
        double *V = b->V ? b->V + (size_t) block.from * b->d : room;
        double *gamma = b->gamma + block.from;
        look(b, &block, V, ws);
        sg_row_squares(block.m, b->d, V, gamma);
        for (int i = 0; i < block.m; i++) gamma[i] = fmax2(prior[block.from + i] - gamma[i], 0);
    }
    sg_release(ws, mark);
}

sg_status sg_basis_rows_new(const sg_kernel *kernel, int n, int D, const double *x, int d,
                            const double *basis, double pool, double *gamma, sg_basis_rows *b,
                            const sg_ws *ws)
{
    const size_t nd = (size_t) n * d, dd = (size_t) d * d;
    const sg_basis_rows rows = {kernel, n, D, d, x, basis, sg_doubles(ws, dd), sg_doubles(ws, dd), gamma,
                                (double) nd <= pool ? sg_doubles(ws, nd) : NULL, 0};
    *b = rows;
    sg_kernel_cross(kernel, d, basis, d, basis, b->KB, ws);
    sg_status status = factor_basis(d, b->KB, b->Rinv, &b->jitter);
    if (status != SG_OK) return status;
    status = sg_trtri(d, b->Rinv);
    if (status != SG_OK) return status;
    look_at_all(b, ws);
    return SG_OK;
}

/* What the loop hands back to refresh(). */
typedef struct {
    const sg_bases *bases;
    sg_batch_factor *factor; /* C */
    double *room, *work;     /* a block of the widest basis each */
    const sg_ws *ws;
} batch_model;

/* Adds V' diag(tau) V over the rows whose tau has this sign to A, lower triangle. */
static void add_precisions(int m, int d, const double *V, const double *tau, int sign,
                           double *work, double *A)
{
    int count = 0;
    for (int i = 0; i < m; i++) count += sign * tau[i] > 0;
    for (int j = 0; j < d && count > 0; j++) {
        const double *v = V + (size_t) m * j;
        double *w = work + (size_t) count * j;
        for (int i = 0; i < m; i++) {
            if (sign * tau[i] > 0) *w++ = sqrt(sign * tau[i]) * v[i];
        }
    }
    sg_syrk('T', d, count, sign, work, count, A);
}

/* Adds what a block's sites say: V' diag(tau) V to A (lower triangle) and V'nu to m. */
static void add_sites(int m, int d, const double *V, const double *tau, const double *nu,
                      double *work, sg_batch_factor *f)
{
    sg_gemv('T', m, d, 1, V, nu, 1, f->m);
    add_precisions(m, d, V, tau, 1, work, f->A);
    add_precisions(m, d, V, tau, -1, work, f->A);
}

static void add_all_sites(const batch_model *batch, const sg_sites *sites, int g)
{
    const sg_basis_rows *b = batch->bases->each + g;
    const int first = sg_first_class(batch->bases, g), last = sg_last_class(batch->bases, g);
    const size_t dd = (size_t) b->d * b->d;
    for (int c = first; c < last; c++) {
        for (size_t k = 0; k < dd; k++) batch->factor[c].A[k] = 0;
        for (int j = 0; j < b->d; j++) batch->factor[c].m[j] = 0;
    }
    sg_row_block block = {0, 0};
    while (sg_next_rows(b->n, &block)) {
        const double *V = sg_basis_block(b, &block, batch->room, batch->ws);
        for (int c = first; c < last; c++) {
            const sg_sites own = sg_sites_of_class(sites, b->n, c);
            add_sites(block.m, b->d, V, own.tau + block.from, own.nu + block.from, batch->work,
                      batch->factor + c);
        }
        sg_tick(batch->ws);
    }
}

/* A and m from the sums: inverse factor of I + V'TV, added log|A|, posterior mean. */
static sg_status factor_sums(int d, sg_batch_factor *f, double *log_det)
{
    for (int j = 0; j < d; j++) f->A[j + (size_t) d * j] += 1;
    sg_mirror('L', d, f->A, d);
    sg_status status = sg_potrf(d, f->A, d);
    if (status != SG_OK) return status;
    *log_det += sg_log_diag(d, f->A);
    status = sg_trtri(d, f->A);
    if (status != SG_OK) return status;
    sg_trmv('T', d, f->A, f->m);
    sg_trmv('N', d, f->A, f->m);
    return SG_OK;
}

/* mean = V m, var = |V A^{-1}|^2 by rows */
static void carried_moments(int m, int d, const double *V, const sg_batch_factor *f, double *work,
                            double *mean, double *var)
{
    const size_t size = (size_t) m * d;
    for (size_t i = 0; i < size; i++) work[i] = V[i];
    sg_trmm('R', 'N', m, d, f->A, work);
    sg_row_squares(m, d, work, var);
    sg_gemv('N', m, d, 1, V, f->m, 0, mean);
}

static void marginals_of_basis(const batch_model *batch, int g, sg_marginals *marg)
{
    const sg_basis_rows *b = batch->bases->each + g;
    sg_row_block block = {0, 0};
    while (sg_next_rows(b->n, &block)) {
        const double *V = sg_basis_block(b, &block, batch->room, batch->ws);
        for (int c = sg_first_class(batch->bases, g); c < sg_last_class(batch->bases, g); c++) {
            const sg_marginals own = sg_marginals_of_class(marg, c);
            carried_moments(block.m, b->d, V, batch->factor + c, batch->work,
                            own.mean + block.from, own.var + block.from);
        }
        sg_tick(batch->ws);
    }
}

static sg_status refresh(void *self, const sg_sites *sites, sg_marginals *marg, double *log_det)
{
    const batch_model *batch = self;
    const sg_bases *bases = batch->bases;
    *log_det = 0;
    for (int g = 0; g < bases->count; g++) {
        add_all_sites(batch, sites, g);
        for (int c = sg_first_class(bases, g); c < sg_last_class(bases, g); c++) {
            const sg_status status = factor_sums(bases->each[g].d, batch->factor + c, log_det);
            if (status != SG_OK) return status;
        }
        marginals_of_basis(batch, g, marg);
    }
    for (int k = 0; k < marg->n; k++) {
        marg->g[k] = 1 - sites->tau[k] * marg->var[k];
        marg->alpha[k] = sites->nu[k] - sites->tau[k] * marg->mean[k];
    }
    return SG_OK;
}

/* Coordinates of all classes: each has as many as its basis has points. */
static int coordinates(const sg_bases *bases)
{
    int sum = 0;
    for (int g = 0; g < bases->count; g++) {
        sum += bases->each[g].d * (sg_last_class(bases, g) - sg_first_class(bases, g));
    }
    return sum;
}

/* One block's part of a product with V of the classes first .. first + count - 1, whose coordinates
 * begin at `at`. */
typedef void (*block_product)(const sg_basis_rows *b, const sg_row_block *block, const double *V,
                              int first, int count, int at, const double *from, double *to);

static void forward_block(const sg_basis_rows *b, const sg_row_block *block, const double *V,
                          int first, int count, int at, const double *a, double *x)
{
    sg_gemm('N', 'N', block->m, count, b->d, 1, V, block->m, a + at, b->d, 0,
            x + (size_t) b->n * first + block->from, b->n);
}

static void backward_block(const sg_basis_rows *b, const sg_row_block *block, const double *V,
                           int first, int count, int at, const double *x, double *a)
{
    sg_gemm('T', 'N', b->d, count, block->m, 1, V, block->m,
            x + (size_t) b->n * first + block->from, b->n, block->from > 0, a + at, b->d);
}

static void multiply_blocks(const batch_model *batch, block_product product, const double *from,
                            double *to)
{
    int at = 0;
    for (int g = 0; g < batch->bases->count; g++) {
        const sg_basis_rows *b = batch->bases->each + g;
        const int first = sg_first_class(batch->bases, g);
        const int count = sg_last_class(batch->bases, g) - first;
        sg_row_block block = {0, 0};
        while (sg_next_rows(b->n, &block)) {
            const double *V = sg_basis_block(b, &block, batch->room, batch->ws);
            product(b, &block, V, first, count, at, from, to);
        }
        at += b->d * count;
    }
}

static void forward(void *self, const double *a, double *x)
{
    multiply_blocks(self, forward_block, a, x);
}

static void backward(void *self, const double *x, double *a)
{
    multiply_blocks(self, backward_block, x, a);
}

static void smooth(void *self, double *a)
{
    const batch_model *batch = self;
    for (int g = 0; g < batch->bases->count; g++) {
        const int d = batch->bases->each[g].d;
        for (int c = sg_first_class(batch->bases, g); c < sg_last_class(batch->bases, g); c++) {
            sg_trmv('T', d, batch->factor[c].A, a);
            sg_trmv('N', d, batch->factor[c].A, a);
            a += d;
        }
    }
}

/* prior variances of what the bases carry, K(x,x) - gamma */
static double *carried_prior(const sg_rows *rows, const sg_bases *bases, const sg_ws *ws)
{
    double *out = sg_doubles(ws, sg_latents(rows));
    for (int g = 0; g < bases->count; g++) {
        for (int c = sg_first_class(bases, g); c < sg_last_class(bases, g); c++) {
            double *own = out + (size_t) rows->n * c;
            sg_kernel_diag(bases->each[g].kernel, rows->n, bases->each[g].x, own, ws);
            for (int i = 0; i < rows->n; i++) {
                own[i] = fmax2(own[i] - sg_extra_var(rows, i + rows->n * c), 0);
            }
        }
    }
    return out;
}

sg_status sg_ep_batch_run(const sg_rows *rows, const sg_bases *bases,
                          const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                          sg_batch_factor *factor, sg_ep_report *report, const sg_ws *ws)
{
    int widest = 0;
    for (int g = 0; g < bases->count; g++) widest = imax2(widest, bases->each[g].d);
    batch_model batch = {bases, factor, sg_block_room(rows->n, widest, ws),
                         sg_block_room(rows->n, widest, ws), ws};
    const sg_carrier carrier = {coordinates(bases), forward, backward, smooth};
    const sg_ep_model model = {&batch, refresh, NULL, carrier};
    return sg_ep_loop(rows, &model, options, carried_prior(rows, bases, ws), sites, marg, report,
                      ws);
}
