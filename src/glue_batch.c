/* glue_batch.c: EP on frozen bases: all rows at once, or one part of a sweep for rows that are kept
 * elsewhere; and posteriors from the state that such fits leave. */
#include <Rmath.h>
#include "chol.h"
#include "ep_batch.h"
#include "evidence.h"
#include "glue_fit.h"
#include "state.h"

/* ---- Bases and their states ---- */

/* basis: a matrix, or a list of one for each process. */
static sg_matrix basis_of(const sg_problem *p, SEXP basis, int g)
{
    const int own = TYPEOF(basis) == VECSXP;
    SEXP points = own ? VECTOR_ELT(sg_list_of(basis, p->layout.C, "basis"), g) : basis;
    return sg_points_of(points, p->kernel[0], p->x.ncol, 0, "basis");
}

/* The functions of a linear mean at all values, N x q, see full_trend.h; NULL: it is known. */
static sg_basis_mean mean_of(SEXP options, size_t values)
{
    SEXP phi = sg_field(options, "trend");
    if (Rf_isNull(phi)) return (sg_basis_mean) {0, NULL};
    const sg_matrix given = sg_matrix_of(phi, "trend");
    if ((size_t) given.nrow != values || given.ncol < 1 || given.ncol > SG_TREND_MAX) {
        sg_stop_damaged("it has a mean of %d functions", given.ncol);
    }
    return (sg_basis_mean) {given.ncol, given.values};
}

/* One basis for all, or with kernels or points of their own one for each process; gamma and prior
 * into p->rows. */
static sg_status bases_of(sg_problem *p, SEXP basis, SEXP options, double pool, sg_bases *bases,
                          const sg_ws *ws)
{
    const int own = p->kernels > 1 || TYPEOF(basis) == VECSXP, w = p->layout.w;
    const size_t values = (size_t) p->layout.n * w;
    bases->C = p->layout.C, bases->count = own ? p->layout.C : 1, bases->kernels = p->kernels;
    bases->each = (sg_basis_rows *) R_alloc(bases->count, sizeof(sg_basis_rows));
    double *gamma = sg_doubles(ws, values * w * bases->count);
    double *prior = sg_doubles(ws, values * bases->count);
    const sg_basis_mean mean = mean_of(options, values);
    p->rows.gamma = gamma, p->rows.prior = prior, p->rows.shared = !own;
    sg_status status = SG_OK;
    for (int g = 0; g < bases->count && status == SG_OK; g++) {
        const sg_matrix points = basis_of(p, basis, g);
        status = sg_basis_rows_new(p->kernel[p->kernels == 1 ? 0 : g], p->layout, p->x.ncol,
                                   p->x.values, points.nrow, points.values, mean,
                                   pool / bases->count, gamma + values * w * g,
                                   prior + values * g, bases->each + g, ws);
    }
    return status;
}

static double largest_jitter(const sg_bases *bases)
{
    double jitter = 0;
    for (int g = 0; g < bases->count; g++) jitter = fmax2(jitter, bases->each[g].jitter);
    return jitter;
}

static const char *const STATE_FIELDS[] = {"R", "S", "t", ""};

/* One basis's state: R of its points, S (d x (d C), both triangles) and t (d x C) of its
 * processes, d the points and the coefficients of a mean. */
static SEXP state_of(const sg_bases *bases, int g, double *sums)
{
    const sg_basis_rows *b = bases->each + g;
    const int d = b->d, first = sg_first_process(bases, g), C = sg_last_process(bases, g) - first;
    const size_t dd = (size_t) d * d;
    SEXP state = PROTECT(Rf_mkNamed(VECSXP, (const char **) STATE_FIELDS));
    const int points = sg_basis_points(b);
    double *R = sg_new_matrix(state, 0, points, points);
    double *S = sg_new_matrix(state, 1, d, (size_t) d * C), *t = sg_new_matrix(state, 2, d, C);
    sg_basis_factor(b, S, R);
    for (int c = 0; c < C; c++) {
        const double *own = sg_batch_sums_of(bases, first + c, sums);
        Memcpy(S + dd * c, own, dd);
        sg_mirror('L', d, S + dd * c, d);
        Memcpy(t + (size_t) d * c, own + dd, d);
    }
    UNPROTECT(1);
    return state;
}

static void states_in(SEXP out, const sg_bases *bases, double *sums)
{
    SEXP states = PROTECT(Rf_allocVector(VECSXP, bases->count));
    for (int g = 0; g < bases->count; g++) SET_VECTOR_ELT(states, g, state_of(bases, g, sums));
    SET_VECTOR_ELT(out, OUT_STATE, states);
    UNPROTECT(1);
}

/* The sums of a list of states, one for each basis, as the model has them. */
static void read_sums(SEXP states, const sg_bases *bases, double *sums)
{
    sg_list_of(states, bases->count, "state");
    for (int c = 0; c < bases->C; c++) {
        const int g = bases->count == 1 ? 0 : c, k = bases->count == 1 ? c : 0;
        const size_t d = bases->each[g].d;
        const size_t C = sg_last_process(bases, g) - sg_first_process(bases, g);
        SEXP state = VECTOR_ELT(states, g);
        double *own = sg_batch_sums_of(bases, c, sums);
        Memcpy(own, sg_doubles_of(sg_field(state, "S"), d * d * C, "S") + d * d * k, d * d);
        Memcpy(own + d * d, sg_doubles_of(sg_field(state, "t"), d * C, "t") + d * k, d);
    }
}

/* The sums of rows of other chunks; NULL: there are no such rows. */
static const double *base_of(SEXP options, const sg_bases *bases)
{
    SEXP states = sg_field(options, "base");
    if (Rf_isNull(states)) return NULL;
    double *base = sg_doubles(&sg_r_workspace, sg_batch_sums(bases));
    read_sums(states, bases, base);
    return base;
}

/* ---- Entries ---- */

/* A window's part of the gradient: the kernels', and after it the likelihood's. */
static void add_gradient(const sg_problem *p, const sg_basis_adjoint *adjoint,
                         const sg_sites *sites, const sg_marginals *marg, sg_span window)
{
    sg_basis_adjoint_window(adjoint, sites, marg, window);
    sg_tilt_rows_dpar(&p->rows, marg, window, adjoint->dkernel + p->nk, adjoint->ws);
}

/* Zeros for the gradients in the points: a matrix as each basis. */
static double **points_in(SEXP out, const sg_bases *bases)
{
    SEXP all = PROTECT(Rf_allocVector(VECSXP, bases->count));
    double **dbasis = sg_structs(bases->count, sizeof(double *), &sg_r_workspace);
    for (int g = 0; g < bases->count; g++) {
        const int points = sg_basis_points(bases->each + g), D = bases->each[g].D;
        dbasis[g] = sg_new_matrix(all, g, points, D);
        sg_zero((size_t) points * D, dbasis[g]);
    }
    SET_VECTOR_ELT(out, OUT_POINTS, all);
    UNPROTECT(1);
    return dbasis;
}

/* Computes the gradient over all rows at once. dbasis: NULL, or gradients in the points. */
static void gradient_of_all(const sg_problem *p, const sg_bases *bases,
                            const sg_batch_factor *factor, const sg_sites *sites,
                            const sg_marginals *marg, double *gradient, double **dbasis,
                            const sg_ws *ws)
{
    sg_basis_adjoint adjoint = sg_basis_adjoint_new(bases, factor, 1, gradient, ws);
    adjoint.dbasis = dbasis;
    sg_span window = {0, 0};
    while (sg_next_span(p->rows.n, sg_window_of(bases), &window)) {
        add_gradient(p, &adjoint, sites, marg, window);
    }
    sg_basis_adjoint_end(&adjoint, 1);
}

/* As sg_r_ep_full, on a basis; options also: pool; base, NULL or the states of other chunks' rows,
 * whose sites stand; points: with the gradient, is that in the points wanted, too? state: a list of
 * one for each basis, with the base's sums. Memory: V,
 * n w d doubles for each kernel if pool allows; windows of 2048 rows of the basis; some d^2
 * for each process. */
SEXP sg_r_ep_batch(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                   SEXP sites, SEXP options, SEXP basis)
{
    sg_room room;
    const sg_ws own = sg_room_open(&room, sg_optional_field(options, "room")), *ws = &own;
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const sg_ep_options opt = sg_ep_options_of(options);
    SEXP out = PROTECT(sg_new_run());
    sg_sites start = sg_sites_in(out, sites, p.layout);
    sg_marginals marg = sg_marginals_in(out, p.layout);
    sg_ep_report report = sg_new_report();
    sg_bases bases;
    sg_status status = bases_of(&p, basis, options,
                                sg_field_double(options, "pool", 0, HUGE_VAL), &bases, ws);
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(largest_jitter(&bases)));
    if (status == SG_OK) {
        double *sums = sg_doubles(ws, sg_batch_sums(&bases));
        void *mark = sg_mark(ws);
        sg_batch_factor *factor = sg_batch_factors_new(&bases, ws);
        sg_ep_model model = sg_batch_model(&p.rows, p.rows.n, &bases, factor, ws);
        model.base = base_of(options, &bases);
        status = sg_ep_loop(&p.rows, &model, &opt, &start, sums, &marg, &report, ws);
        if (status == SG_OK && sg_field_flag(options, "gradient")) {
            double **dbasis = sg_field_flag(options, "points") ? points_in(out, &bases) : NULL;
            gradient_of_all(&p, &bases, factor, &start, &marg, sg_gradient_in(out, &p), dbasis,
                            ws);
        }
        sg_release(ws, mark);
        if (status == SG_OK && sg_field_flag(options, "posterior")) states_in(out, &bases, sums);
        if (status == SG_OK) sg_leave_out(&p.rows, &start, &marg, ws);
        if (status == SG_OK) sg_add_gamma(&p.rows, &marg);
    }
    sg_report_in(out, status, &report);
    sg_room_close(&room);
    UNPROTECT(1);
    return out;
}

/* Numbers of gamma: of the rows on each basis, one basis after the other. */
static size_t gamma_size(const sg_bases *bases, sg_layout layout)
{
    return (size_t) layout.n * layout.w * layout.w * bases->count;
}

/* Gamma as an earlier pass over the same rows has left it; R's NULL: there was no such pass. */
static void know_gamma(const sg_bases *bases, sg_layout layout, SEXP gamma)
{
    if (Rf_isNull(gamma)) return;
    const double *own = sg_doubles_of(gamma, gamma_size(bases, layout), "gamma");
    for (int g = 0; g < bases->count; g++) {
        sg_basis_know(bases->each + g, own, &sg_r_workspace);
        own += gamma_size(bases, layout) / bases->count;
    }
}

/* gamma and prior */
static void prior_in(SEXP out, const sg_problem *p, const sg_bases *bases)
{
    const size_t size = gamma_size(bases, p->layout), values = size / p->layout.w;
    Memcpy(sg_new_vector(out, OUT_GAMMA, size), p->rows.gamma, size);
    Memcpy(sg_new_vector(out, OUT_PRIOR, values), p->rows.prior, values);
}

/* Holds what one part of a sweep works with. */
typedef struct {
    sg_problem p;
    sg_bases bases;
    sg_sites at, asked;      /* of the rows of the part; where they are to go */
    sg_marginals marg;
    double *sums, *next;     /* of all rows' sites; of those that the present tilts ask for */
    double *gradient;        /* of all hyperparameters; NULL: not wanted */
    sg_batch_factor *factor;
    sg_basis_adjoint adjoint;
    double rows_in_all, logz, residual;
    int skipped;
} part;

/* The first window comes after the factor. */
static void gradient_of_window(void *ctx, sg_span window)
{
    part *q = ctx;
    if (window.from == 0) {
        q->adjoint = sg_basis_adjoint_new(&q->bases, q->factor, 0, q->gradient,
                                          &sg_r_workspace);
    }
    add_gradient(&q->p, &q->adjoint, &q->at, &q->marg, window);
}

/* The sums of the sites, and log Z of rows whose sites are exact where the latent function is its
 * prior mean: from these and the sums there is the log evidence (state.h). */
static sg_status collect_part(part *q, const sg_ep_model *model, double *parts)
{
    const sg_span all = {0, q->p.rows.n};
    if (q->at.nonnegative) sg_sites_clip(&q->at);
    sg_ep_read_sums(&q->p.rows, model, &q->at, parts, q->next, &sg_r_workspace);
    Memcpy(q->asked.tau, q->at.tau, sg_blocks_of(q->p.layout));
    Memcpy(q->asked.nu, q->at.nu, sg_values_of(q->p.layout));
    if (!q->p.rows.lik->type->site) return SG_OK;
    Memzero(q->marg.cav_mean, sg_values_of(q->p.layout));
    Memzero(q->marg.cav_var, sg_blocks_of(q->p.layout));
    const sg_status status = sg_tilt_rows(&q->p.rows, &q->marg, all, &sg_r_workspace);
    for (int i = 0; i < all.m; i++) q->logz += q->marg.logz[i];
    return status;
}

static sg_ep_model model_of(part *q)
{
    q->factor = sg_batch_factors_new(&q->bases, &sg_r_workspace);
    return sg_batch_model(&q->p.rows, q->rows_in_all, &q->bases, q->factor, &sg_r_workspace);
}

/* own: with what no row adds. next: the sums of the sites that the tilts ask for; NULL: not wanted.
 * Where the likelihood's sites are exact it is at these that the part is seen, and no others are
 * asked for. */
static sg_status sweep_part(part *q, const sg_ep_model *model, int own, double *parts,
                            double *next)
{
    const sg_ws *ws = &sg_r_workspace;
    sg_tally tally;
    const sg_status status = sg_ep_sweep(&q->p.rows, model, &q->at, q->sums, &q->marg, &tally,
                                         parts, next, q->gradient ? gradient_of_window : NULL, q,
                                         ws);
    if (status != SG_OK) return status;
    q->logz = tally.logz - (own ? tally.log_det : 0);
    q->residual = tally.residual;
    if (q->gradient) sg_basis_adjoint_end(&q->adjoint, own);
    q->skipped = sg_sites_of_all_tilts(&q->at, &q->marg, q->asked.tau, q->asked.nu);
    return SG_OK;
}

/* A sweep where the shifts of classes are from one step for all (coupled.h). It takes two: the
 * first, without a solution, adds up the system of all rows into the run, and the second has their
 * targets. */
static sg_status couple_part(part *q, SEXP out, const sg_ep_model *model, int own, SEXP solution,
                             double *parts)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_layout l = q->p.layout;
    const int size = model->carrier.size;
    q->marg.W = sg_doubles(ws, l.n * sg_coupled_size(l.C));
    sg_coupling coupling = sg_coupling_new(l.n, l.C, size, ws);
    const sg_status status = sweep_part(q, model, own, parts, NULL);
    if (status != SG_OK) return status;
    if (!Rf_isNull(solution)) {
        sg_coupled_targets(&q->marg, &model->carrier, model->self,
                           sg_doubles_of(solution, size, "solution"), q->asked.tau, q->asked.nu,
                           &coupling);
        sg_ep_read_sums(&q->p.rows, model, &q->asked, parts, q->next, ws);
        return SG_OK;
    }
    double *M = sg_new_matrix(out, OUT_WEIGHTS, size, size);
    double *side = sg_new_vector(out, OUT_SIDE, size);
    Memzero(M, (size_t) size * size);
    Memzero(side, size);
    sg_coupled_system(&q->marg, &model->carrier, model->self, &coupling, M, side);
    sg_mirror('L', size, M, size);
    sg_ep_no_sums(model, parts, q->next);
    return SG_OK;
}

/* The sites of the run, copied to working memory: the run's own are to be overwritten. */
static sg_sites sites_at_hand(const sg_sites *in, int narrow)
{
    const size_t blocks = sg_blocks_of(in->layout), values = sg_values_of(in->layout);
    const sg_sites at = {.layout = in->layout, .tau = sg_doubles(&sg_r_workspace, blocks),
                         .nu = sg_doubles(&sg_r_workspace, values), .nonnegative = narrow};
    Memcpy(at.tau, in->tau, blocks);
    Memcpy(at.nu, in->nu, values);
    return at;
}

/* Sets to zero what R is given of the rows: a pass that only collects does not write it. */
static void clear_answers(sg_marginals *marg)
{
    const size_t values = sg_values_of(marg->layout), blocks = sg_blocks_of(marg->layout);
    sg_zero(values, marg->mean);
    sg_zero(blocks, marg->var);
    sg_zero(values, marg->cav_mean);
    sg_zero(blocks, marg->cav_var);
    sg_zero(marg->layout.n, marg->logz);
}

/* A part of a sweep: some rows, whose sites are tau and nu, under the posterior of states (the sums
 * of all rows' sites). Out: tau and nu that the tilts ask for, state, their sums over these rows;
 * logz and gradient, what these rows add (options own: and what no row does, once a sweep); change,
 * their residual; mean, var, cav_mean, cav_var, lpd; gamma and prior of the rows. So a sweep over
 * rows in any number of parts adds up to one over all rows.
 * options collect: the sites themselves, state, gamma and prior alone; logz where sites are exact,
 * see collect_part(). options coupled: instead of state weights and side, the system of all
 * classes, or with a solution of it what this asks for. options also: gradient; narrow, no negative
 * precisions: of sites that are collected, or asked for; rows, that states are of, in all; gamma,
 * NULL or as a pass at these hyperparameters has left it, which spares a product of n w d^2 for
 * each basis. Memory as sg_r_ep_batch without V. */
SEXP sg_r_ep_pass(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                  SEXP states, SEXP sites, SEXP options, SEXP basis)
{
    const sg_ws *ws = &sg_r_workspace;
    const int own = sg_field_flag(options, "own"), collect = sg_field_flag(options, "collect");
    part q = {.rows_in_all = sg_field_double(options, "rows", 0, HUGE_VAL)};
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &q.p);
    SEXP out = PROTECT(sg_new_run());
    q.asked = sg_sites_in(out, sites, q.p.layout);
    q.at = sites_at_hand(&q.asked, sg_field_flag(options, "narrow"));
    q.marg = sg_marginals_in(out, q.p.layout);
    if (collect) clear_answers(&q.marg);
    if (sg_field_flag(options, "gradient")) q.gradient = sg_gradient_in(out, &q.p);
    sg_ep_report report = sg_new_report();
    sg_status status = bases_of(&q.p, basis, options, 0, &q.bases, ws);
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(largest_jitter(&q.bases)));
    if (status == SG_OK) {
        const sg_ep_model model = model_of(&q);
        double *parts = sg_doubles(ws, sg_ep_parts(&model));
        q.sums = sg_doubles(ws, model.sums);
        q.next = sg_doubles(ws, model.sums);
        read_sums(states, &q.bases, q.sums);
        know_gamma(&q.bases, q.p.layout, sg_field(options, "gamma"));
        if (collect) {
            status = collect_part(&q, &model, parts);
        } else if (sg_field_flag(options, "coupled")) {
            status = couple_part(&q, out, &model, own, sg_field(options, "solution"), parts);
        } else {
            status = sweep_part(&q, &model, own, parts, q.next);
        }
    }
    if (status == SG_OK) {
        if (!collect) sg_leave_out(&q.p.rows, &q.at, &q.marg, ws);
        if (!collect) sg_add_gamma(&q.p.rows, &q.marg);
        prior_in(out, &q.p, &q.bases);
        states_in(out, &q.bases, q.next);
    }
    report.logz = q.logz, report.change = q.residual, report.skipped = q.skipped;
    sg_report_in(out, status, &report);
    UNPROTECT(1);
    return out;
}

/* Coefficients of a mean, J and the root of their covariance (posterior.h), as the state has them;
 * R's NULL without a mean. */
static void mean_in(SEXP out, int at, int d, int q, int C, sg_state_mean *mean)
{
    const char *fields[] = {"coef", "J", "root", ""};
    if (q == 0) return;
    SEXP stored = PROTECT(Rf_mkNamed(VECSXP, fields));
    mean->coef = sg_new_matrix(stored, 0, q, C);
    mean->J = sg_new_matrix(stored, 1, d, (size_t) q * C);
    mean->root = sg_new_matrix(stored, 2, q, (size_t) q * C);
    SET_VECTOR_ELT(out, at, stored);
    UNPROTECT(1);
}

/* alpha, G, H and trend (posterior.h) of a state: R, S and t of C processes on one basis; a status.
 * S and t have the coefficients of a mean after the points. */
SEXP sg_r_posterior(SEXP state)
{
    const char *fields[] = {"status", "alpha", "G", "H", "trend", ""};
    const sg_matrix R = sg_matrix_of(sg_field(state, "R"), "R");
    const sg_matrix t = sg_matrix_of(sg_field(state, "t"), "t");
    const int d = R.nrow, C = t.ncol, D = t.nrow;
    if (R.ncol != d || D < d || D > d + SG_TREND_MAX) sg_stop_damaged("its `R` and `t` differ");
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *alpha = sg_new_latents(out, 1, d, C), *G = sg_new_matrix(out, 2, d, d);
    double *H = sg_new_matrix(out, 3, d, (size_t) d * C);
    sg_state_mean mean = {.q = D - d};
    mean_in(out, 4, d, mean.q, C, &mean);
    const sg_status status = sg_state_stored(
        d, C, R.values, sg_doubles_of(sg_field(state, "S"), (size_t) D * D * C, "S"), t.values,
        alpha, G, H, &mean, &sg_r_workspace);
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}
