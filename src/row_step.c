/* row_step.c: a row's marginals, tilt and step, and what they do to posteriors on a basis
 * (row_step.h).
 *
 * A row's block of w values is turned into w scalar steps here, by the eigenvectors of the block in
 * question, because posteriors on a basis (weights.c) take rank-one steps only:
 *   B = U diag(b) U'   gives   G B G' = sum_k b_k (G u_k)(G u_k)'.
 * U belongs to one block: bend and T of a row are turned each by its own. With w = 1 a column stays
 * itself and nothing is copied.
 *
 * Order of calls for a row: sg_view_look() for many of them (row_view.h), sg_row_marginals(),
 * sg_row_steps(), and after the decision what becomes of the row sg_row_move(),
 * sg_row_move_parts() and sg_process_absorb(). */
#include <math.h>
#include <Rmath.h>
#include "row_step.h"

/* Lends what a row's novel points need on their way into the basis (exchange.c). */
static sg_joining joining_new(int cap, int w, const sg_ws *ws)
{
    const size_t size = (size_t) cap * w;
    const sg_joining joining = {.q = sg_doubles(ws, size), .s = sg_doubles(ws, size),
                                .before = sg_doubles(ws, size), .parts = sg_parts_new(cap, w, ws),
                                .Q = sg_band_new(cap, w, ws)};
    return joining;
}

/* Allocates cap points: 2 (C + 1) cap^2 doubles and bands of width w. */
sg_process sg_process_new(int cap, int p, int C, int w, const sg_ws *ws)
{
    const size_t row = (size_t) cap * w;
    sg_process gp = {.basis = sg_basis_new(cap, w, ws), .C = C, .w = w, .p = p,
                     .each = sg_structs(C, sizeof(sg_weights), ws),
                     .points = sg_doubles(ws, (size_t) p * cap), .id = sg_doubles(ws, cap),
                     .first = sg_ints(cap, ws), .removal = sg_removal_new(cap, ws),
                     .V = sg_doubles(ws, row), .G = sg_doubles(ws, row * C),
                     .s = sg_doubles(ws, row * C), .joining = joining_new(cap, w, ws),
                     .score = sg_doubles(ws, cap), .worst = sg_doubles(ws, cap),
                     .column = sg_doubles(ws, cap)};
    for (int c = 0; c < C; c++) gp.each[c] = sg_weights_new(cap, w, ws);
    gp.work = sg_doubles(ws, sg_absorb_scratch(&gp, 1));
    return gp;
}

/* ---- Marginals and tilt ---- */

/* Allocates one row's tilt: C w values and C blocks. */
sg_row_tilt sg_row_tilt_new(const sg_process *gp, const sg_ws *ws)
{
    const size_t values = (size_t) gp->C * gp->w, blocks = values * gp->w;
    const sg_row_tilt tilt = {
        .mean = sg_doubles(ws, values), .d1 = sg_doubles(ws, values),
        .shift = sg_doubles(ws, values), .nu = sg_doubles(ws, values),
        .carried = sg_doubles(ws, blocks), .whole = sg_doubles(ws, blocks),
        .d2 = sg_doubles(ws, blocks), .bend = sg_doubles(ws, blocks),
        .tau = sg_doubles(ws, blocks)
    };
    return tilt;
}

/* Computes for each column v of V
 *   g = M v,   mean = v'a,   v'g (variance that the basis carries), and v_a'g_b between columns.
 * M is positive definite, so v'g below 0 is rounding. */
void sg_row_gains(sg_process *gp, int c, const double *V, int ldv, double *mean, double *carried)
{
    const int d = gp->basis.d, cap = gp->basis.cap, w = gp->w;
    double *G = sg_gains(gp, c);
    /* R^{-1} G belongs to another row from here on. */
    gp->knows_s = 0;
    for (int b = 0; b < w; b++) {
        const double *v = V + (size_t) ldv * b;
        double *g = G + (size_t) cap * b;
        mean[b] = sg_dot(d, v, gp->each[c].a);
        carried[b * (w + 1)] = fmax2(sg_weights_gain(gp->each + c, &gp->basis, v, g), 0);
        for (int a = 0; a < b; a++) {
            carried[a + w * b] = carried[b + w * a] = sg_dot(d, V + (size_t) ldv * a, g);
        }
    }
}

/* Solves R s = g for the gains of all processes, once for a row: scores move along s = R^{-1} M V
 * (thesis: Ck + Qk). It costs half of the gains themselves, and a row that is judged and then
 * projected would pay twice: knows_s remembers. */
void sg_row_gains_in_weights(sg_process *gp)
{
    const int d = gp->basis.d, columns = gp->knows_s ? 0 : gp->C * gp->w;
    for (int k = 0; k < columns; k++) {
        const double *g = gp->G + (size_t) gp->basis.cap * k;
        double *s = gp->s + (size_t) gp->basis.cap * k;
        sg_copy(d, g, s);
        sg_basis_to_weights(&gp->basis, 1, s);
    }
    gp->knows_s = 1;
}

/* Takes from d2 of every process what would widen its marginal, so its site has no negative
 * precision and only shifts (with w > 1 along the eigenvectors in question). */
static void clip_tilt(const sg_process *gp, sg_row_tilt *tilt)
{
    const int w = gp->w, ww = w * w;
    for (int c = 0; c < gp->C; c++) {
        double *d2 = tilt->d2 + ww * c;
        if (w == 1) *d2 = fmin2(*d2, 0);
        else sg_block_clip_tilt(w, tilt->whole + ww * c, d2);
    }
}

/* Tilts at the marginals N(mean + offset, carried + Gamma): one call of the likelihood. The sum of
 * all derivatives is finite exactly if each of them is. */
int sg_row_tilt_there(const sg_process *gp, const sg_rows *rows, int i, int nonnegative,
                      const double *gamma, sg_row_tilt *tilt)
{
    const int C = gp->C, w = gp->w, ww = w * w;
    double mu[SG_LIK_MAX_BLOCKS];
    sg_tilt out = {.d1 = tilt->d1, .d2 = tilt->d2};
    for (int c = 0; c < C; c++) {
        const double *mean = tilt->mean + w * c, *carried = tilt->carried + ww * c;
        for (int a = 0; a < w; a++) mu[a + w * c] = mean[a] + rows->offset[a + (size_t) w * i];
        for (int k = 0; k < ww; k++) tilt->whole[k + ww * c] = carried[k] + gamma[k];
    }
    sg_lik_tilt(rows->lik, sg_lik_row(rows->lik, rows->y, i), mu, tilt->whole, &out);
    /* Inf - Inf is NaN, and NaN stays: one test for all numbers. */
    double sum = tilt->logz = out.logz;
    for (int k = 0; k < C * w; k++) sum += tilt->d1[k];
    for (int k = 0; k < C * ww; k++) sum += tilt->d2[k];
    if (nonnegative) clip_tilt(gp, tilt);
    return isfinite(sum);
}

/* Computes the marginals of all processes and the tilt there, O(C w d^2) for the gains. */
int sg_row_marginals(sg_process *gp, const sg_rows *rows, int i, int nonnegative,
                     const sg_seen *seen, sg_row_tilt *tilt)
{
    const int w = gp->w;
    for (int c = 0; c < gp->C; c++) {
        sg_row_gains(gp, c, seen->V, gp->basis.d, tilt->mean + w * c, tilt->carried + w * w * c);
    }
    return sg_row_tilt_there(gp, rows, i, nonnegative, seen->gamma, tilt);
}

/* Adds up the processes' divergences: they are independent, before the row and after it. */
void sg_row_kl(const sg_process *gp, const sg_row_tilt *tilt, double kl[2])
{
    const int w = gp->w, ww = w * w;
    kl[0] = kl[1] = 0;
    for (int c = 0; c < gp->C; c++) {
        const double *d1 = tilt->d1 + w * c, *d2 = tilt->d2 + ww * c, *S = tilt->whole + ww * c;
        double one[2];
        /* thesis 3.16, or the same in the eigenvectors of L'd2 L */
        if (w == 1) sg_step_kl(*d1, *d2, *S, one);
        else sg_block_step_kl(w, S, d1, d2, one);
        kl[0] += one[0];
        kl[1] += one[1];
    }
}

/* ---- Steps ---- */

/* Chooses the scalar formula for w = 1, the inner loop of a stream: tau = -d2 / (1 + s2 d2), nu =
 * (d1 - mu d2) / (1 + s2 d2). */
int sg_row_site(int w, const double *mu, const double *S, const double *d1, const double *d2,
                double *T, double *nu)
{
    return w == 1 ? sg_site_from_tilt(*mu, *S, *d1, *d2, T, nu)
                  : sg_block_site(w, mu, S, d1, d2, T, nu);
}

/* Computes bend = (I + d2 left)^{-1} d2 and shift = (I + d2 left)^{-1} d1, which are -T and nu of
 * the tilt's site at N(0, left). The row's own site is at N(mean, carried + Gamma); to match
 * moments at what the basis has of that, carried + Gamma - left, and the step is d2 and d1
 * themselves (eta = I). */
int sg_row_steps(const sg_process *gp, const double *gamma, const double *left,
                 sg_projection projection, sg_row_tilt *tilt)
{
    const double zero[SG_BLOCK_MAX] = {0};
    const int w = gp->w, ww = w * w;
    double S[SG_BLOCK_SIZE];
    int valid = 1;
    for (int c = 0; c < gp->C; c++) {
        const double *d1 = tilt->d1 + w * c, *d2 = tilt->d2 + ww * c;
        double *shift = tilt->shift + w * c, *bend = tilt->bend + ww * c;
        for (int k = 0; k < ww; k++) {
            /* gamma - left first: where nothing joins it is 0 without rounding. */
            S[k] = tilt->carried[k + ww * c] + (gamma[k] - (projection == SG_KL ? 0 : left[k]));
        }
        valid = sg_row_site(w, tilt->mean + w * c, S, d1, d2, tilt->tau + ww * c,
                            tilt->nu + w * c) && valid;
        if (projection == SG_KL) {
            /* The site at N(0, left) is (-bend, shift). */
            valid = sg_row_site(w, zero, left, d1, d2, bend, shift) && valid;
            for (int k = 0; k < ww; k++) bend[k] = -bend[k];
        } else {
            sg_copy(ww, d2, bend);
            sg_copy(w, d1, shift);
        }
    }
    return valid;
}

/* ---- A block as scalar steps ---- */

/* Holds B = U diag(value) U' and along[w] = U'x. With w = 1 U is not used. */
typedef struct {
    double U[SG_BLOCK_SIZE], value[SG_BLOCK_MAX], along[SG_BLOCK_MAX];
} directions;

/* Computes B = U diag(value) U' and along = U'x, in which B and x are w scalar steps; with w = 1 U
 * is not used. */
static void find_directions(int w, const double *B, const double *x, directions *out)
{
    if (w == 1) {
        out->value[0] = *B;
        out->along[0] = *x;
        return;
    }
    sg_block_eigen(w, B, out->U, out->value);
    for (int k = 0; k < w; k++) {
        out->along[k] = 0;
        for (int a = 0; a < w; a++) out->along[k] += out->U[a + w * k] * x[a];
    }
}

/* Returns column k of X U, X[ldx x w]: in column[d], or with w = 1 X itself. */
static const double *turn(int w, int d, const double *X, int ldx, const directions *in, int k,
                          double *column)
{
    if (w == 1) return X;
    for (int i = 0; i < d; i++) column[i] = in->U[w * k] * X[i];
    for (int a = 1; a < w; a++) {
        const double *x = X + (size_t) ldx * a, share = in->U[a + w * k];
        for (int i = 0; i < d; i++) column[i] += share * x[i];
    }
    return column;
}

/* Moves a += G shift and M += G bend G' as w rank-one steps: with bend = U diag(value) U' they go
 * along the columns of G U, by U'shift and value. */
void sg_row_move(sg_process *gp, int c, const sg_row_tilt *tilt)
{
    const int w = gp->w, cap = gp->basis.cap;
    directions in;
    find_directions(w, tilt->bend + w * w * c, tilt->shift + w * c, &in);
    for (int k = 0; k < w; k++) {
        const sg_step step = {.mean = in.along[k], .var = in.value[k]};
        const double *g = turn(w, gp->basis.d, sg_gains(gp, c), cap, &in, k, gp->column);
        sg_weights_move(gp->each + c, &gp->basis, g, &step);
    }
}

/* Takes the same steps for alpha and E, along the columns of s U, s = R^{-1} G, and adds the row's
 * site to P = R^{-1} S R^{-T} along its own eigenvectors: q U with T = U diag(value) U', q = R^{-1}
 * V. */
void sg_row_move_parts(sg_process *gp, int c, const sg_row_tilt *tilt, int d, sg_parts *parts,
                       const double *s, const double *q, int ldq)
{
    const int w = gp->w, cap = gp->basis.cap;
    directions in;
    find_directions(w, tilt->bend + w * w * c, tilt->shift + w * c, &in);
    for (int k = 0; k < w; k++) {
        const sg_step step = {.mean = in.along[k], .var = in.value[k]};
        sg_parts_move(parts, d, turn(w, d, s, cap, &in, k, gp->column), &step);
    }
    if (!q) return;
    /* The site has other eigenvectors than the bend. */
    find_directions(w, tilt->tau + w * w * c, tilt->nu + w * c, &in);
    for (int k = 0; k < w; k++) {
        sg_band_add(parts->P, d, in.value[k], turn(w, d, q, ldq, &in, k, gp->column));
    }
}

/* ---- Sites into S and t ---- */

/* Counts doubles: the scaled rows, and with w > 1 the turned rows and their sites. */
size_t sg_absorb_scratch(const sg_process *gp, int m)
{
    const size_t points = (size_t) m * gp->w, cap = gp->basis.cap;
    return gp->w == 1 ? points * cap : points * (2 * cap + 2);
}

/* Adds sum V T V' to S and sum V nu to t (sign -1: takes off). With T = U diag(tau) U' the columns
 * of V U are w scalar rows of sites (tau, U'nu), so all rows together are one matrix product. */
void sg_process_absorb(sg_process *gp, int c, int m, const double *V, int ldv, const double *tau,
                       const double *nu, double sign, double *work)
{
    const int w = gp->w, d = gp->basis.d;
    sg_weights *weights = gp->each + c;
    if (w == 1) {
        sg_weights_absorb(weights, &gp->basis, m, V, ldv, tau, nu, sign, work);
        return;
    }
    const size_t points = (size_t) m * w;
    /* After the scaled rows, which sg_weights_absorb() writes, come turned ones. */
    double *turned = work + d * points, *tau_k = turned + d * points, *nu_k = tau_k + points;
    directions in;
    for (size_t i = 0; i < (size_t) m; i++) {
        find_directions(w, tau + w * w * i, nu + w * i, &in);
        for (int k = 0; k < w; k++) {
            turn(w, d, V + w * ldv * i, ldv, &in, k, turned + d * (k + w * i));
            tau_k[k + w * i] = in.value[k];
            nu_k[k + w * i] = in.along[k];
        }
    }
    sg_weights_absorb(weights, &gp->basis, m * w, turned, d, tau_k, nu_k, sign, work);
}

/* Stops at the first sums without a posterior; those before it have been refreshed. */
sg_status sg_process_refresh(sg_process *gp, const sg_ws *ws)
{
    sg_status status = SG_OK;
    for (int c = 0; c < gp->C && status == SG_OK; c++) {
        status = sg_weights_refresh(gp->each + c, &gp->basis, ws);
    }
    return status;
}
