/* glue_supernodes.c: EP of a process by nearest neighbours, whose factors R makes (package Matrix),
 * and what predictions take of such a factor. */
#include <limits.h>
#include <math.h>
#include "ep_neighbours.h"
#include "full_trend.h"
#include "glue_fit.h"
#include "vecchia.h"

/* Numbers from 0 as R counts them, from 1; 0 where `least` is 0 and there is none. */
static const int *numbers_from_zero(SEXP x, size_t count, int least, int n, const char *what)
{
    if (count > INT_MAX) sg_stop_damaged("its `%s` has too many numbers", what);
    const int *given = sg_whole_of(x, (int) count, least, n, what);
    int *out = sg_ints(count, &sg_r_workspace);
    for (size_t k = 0; k < count; k++) out[k] = given[k] - 1;
    return out;
}

/* Stops unless starts[count + 1] are in order from 0 to `end`. */
static void check_starts(const int *starts, int count, int end, const char *what)
{
    for (int j = 0; j < count; j++) {
        if (starts[j] > starts[j + 1]) sg_stop_damaged("its `%s` is not in order", what);
    }
    if (starts[0] != 0 || starts[count] != end) sg_stop_damaged("its `%s` has gaps", what);
}

/* Stops unless the rows of each supernode are its columns and then others, in order. */
static void check_supernodes(const sg_supernodes *L)
{
    for (int j = 0; j < L->count; j++) {
        const size_t columns = L->super[j + 1] - L->super[j], own = L->pi[j + 1] - L->pi[j];
        if (own < columns || columns * own != (size_t) (L->px[j + 1] - L->px[j])) {
            sg_stop_damaged("its factor has other numbers than its rows and columns say");
        }
        for (size_t k = 0; k < own; k++) {
            const int row = L->s[L->pi[j] + k];
            const int wrong = k < columns ? row != L->super[j] + (int) k
                                          : row <= L->s[L->pi[j] + k - 1];
            if (wrong) sg_stop_damaged("its factor has rows that are not in order");
        }
    }
}

/* A factor as Matrix has it: list(super, pi, px, s, perm), and how many numbers it has. */
static sg_supernodes supernodes_of(SEXP factor, size_t *numbers)
{
    SEXP super = sg_field(factor, "super"), s = sg_field(factor, "s");
    const int count = Rf_length(super) - 1, n = Rf_length(sg_field(factor, "perm"));
    if (count < 1) sg_stop_damaged("its factor has no columns");
    const int rows = Rf_length(s);
    sg_supernodes L = {
        .n = n, .count = count, .super = sg_whole_of(super, count + 1, 0, n, "super"),
        .pi = sg_whole_of(sg_field(factor, "pi"), count + 1, 0, rows, "pi"),
        .px = sg_whole_of(sg_field(factor, "px"), count + 1, 0, INT_MAX, "px"),
        .s = sg_whole_of(s, rows, 0, n - 1, "s"),
        .perm = sg_whole_of(sg_field(factor, "perm"), n, 0, n - 1, "perm")
    };
    check_starts(L.super, count, n, "super");
    check_starts(L.pi, count, rows, "pi");
    check_starts(L.px, count, L.px[count], "px");
    check_supernodes(&L);
    *numbers = L.px[count];
    return L;
}

/* The function of R that factors, and a list that keeps its last answer. */
typedef struct {
    SEXP call, kept;
    int n;
    size_t numbers;
} r_factor;

/* Calls factor(tau), which returns the numbers of the factor, or NULL. */
static const double *factor_by_r(void *self, const double *tau)
{
    const r_factor *own = self;
    SEXP at = PROTECT(Rf_allocVector(REALSXP, own->n));
    sg_copy(own->n, tau, REAL(at));
    SEXP call = PROTECT(Rf_lang2(own->call, at));
    SEXP answer = PROTECT(Rf_eval(call, R_GlobalEnv));
    SET_VECTOR_ELT(own->kept, 0, answer);
    UNPROTECT(3);
    return Rf_isNull(answer) ? NULL : sg_doubles_of(answer, own->numbers, "factor");
}

/* The gradient in the kernel's and the likelihood's hyperparameters, of the nodes' prior. */
static sg_status gradient_of(SEXP out, const sg_problem *p, const sg_neighbour_process *process,
                             sg_matrix nodes, SEXP near, const sg_marginals *marg)
{
    const sg_ws *ws = &sg_r_workspace;
    const int n = process->n, k = Rf_length(near) / n;
    const size_t all = (size_t) k + 1;
    const int *given = numbers_from_zero(near, (size_t) k * n, 0, n, "near");
    const sg_vecchia prior = {sg_only_kernel(p), n, nodes.ncol, nodes.values, NULL};
    const sg_span rows = {0, p->layout.n};
    double *gradient = sg_gradient_in(out, p), *M = sg_doubles(ws, all * all * n);
    sg_neighbour_moments(process, k, given, M);
    const sg_status status = sg_vecchia_prior_gradient(&prior, k, given, M, process->least,
                                                       gradient, ws);
    sg_tilt_rows_dpar(&p->rows, marg, rows, gradient + p->nk, ws);
    return status;
}

/* Coefficients, J and L^{-1} of the mean. */
static void mean_in(SEXP out, SEXP stored, const sg_neighbour_process *process)
{
    const size_t q = process->q;
    sg_copy(q, process->coef, sg_new_matrix(stored, 0, q, 1));
    sg_copy(q * q, process->root, sg_new_matrix(stored, 2, q, q));
    SET_VECTOR_ELT(out, OUT_TREND, stored);
}

/* Reads a process of nodes off the options. */
static sg_neighbour_process process_of(SEXP options, const sg_problem *p, sg_matrix nodes,
                                       size_t *numbers)
{
    const int n = nodes.nrow;
    sg_neighbour_process process = {.n = n};
    process.L = supernodes_of(sg_field(options, "factor"), numbers);
    if (p->layout.C != 1 || p->layout.w != 1 || process.L.n != n) {
        sg_stop_damaged("it is not of one latent function with a factor of its nodes");
    }
    process.node = numbers_from_zero(sg_field(options, "node"), p->layout.n, 1, n, "node");
    process.log_d = sg_field_double(options, "log_d", -HUGE_VAL, HUGE_VAL);
    process.least = sg_field_double(options, "least", 0, 1);
    SEXP trend = sg_field(options, "trend");
    if (!Rf_isNull(trend)) {
        const sg_matrix phi = sg_matrix_with(trend, n, -1, "trend");
        if (phi.ncol > SG_TREND_MAX) sg_stop_damaged("its mean has %d functions", phi.ncol);
        process.q = phi.ncol;
        process.phi = phi.values;
    }
    double *diag = sg_doubles(&sg_r_workspace, n);
    sg_kernel_diag(sg_only_kernel(p), n, nodes.values, diag, &sg_r_workspace);
    process.diag = diag;
    sg_neighbour_process_new(&process, *numbers, &sg_r_workspace);
    return process;
}

/* options: as of ep_full, and nodes (their inputs), node (of each row), near (k x nodes), factor
 * (list(super, pi, px, s, perm)), by (the function that factors), log_d, least (share of a node's
 * variance that d is at least), trend (functions of a mean at nodes, or NULL). Memory: two times
 * the numbers of the factor, and with the gradient (k + 1)^2 a node. */
SEXP sg_r_ep_neighbours(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y,
                        SEXP offset, SEXP sites, SEXP options)
{
    const char *fields[] = {"coef", "J", "root", ""};
    const sg_ws *ws = &sg_r_workspace;
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const sg_matrix nodes = sg_points_of(sg_field(options, "nodes"), sg_only_kernel(&p), p.x.ncol,
                                         0, "nodes");
    const int rows = p.layout.n;
    size_t numbers;
    sg_neighbour_process process = process_of(options, &p, nodes, &numbers);
    SEXP out = PROTECT(sg_new_run()), stored = PROTECT(Rf_mkNamed(VECSXP, fields));
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, 1));
    r_factor by = {sg_field(options, "by"), kept, process.n, numbers};
    process.host = (sg_factor_host) {&by, factor_by_r};
    const sg_ep_options opt = sg_ep_options_of(options);
    sg_sites start = sg_sites_in(out, sites, p.layout);
    sg_marginals marg = sg_marginals_in(out, p.layout);
    marg.alpha = sg_new_latents(out, OUT_ALPHA, rows, 1);
    sg_ep_report report = sg_new_report();
    double *J = process.q > 0 ? sg_new_matrix(stored, 1, rows, process.q) : NULL;
    sg_status status = sg_ep_neighbours_run(&p.rows, &process, &opt, &start, &marg, J, &report, ws);
    if (status == SG_OK && sg_field_flag(options, "gradient")) {
        status = gradient_of(out, &p, &process, nodes, sg_field(options, "near"), &marg);
    }
    if (status == SG_OK && process.q > 0) mean_in(out, stored, &process);
    if (status == SG_OK) sg_leave_out(&p.rows, &start, &marg, ws);
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(0));
    sg_report_in(out, status, &report);
    UNPROTECT(3);
    return out;
}

/* The same with the factor's numbers: list(super, pi, px, s, perm, x). */
static sg_supernodes factor_of(SEXP factor)
{
    size_t numbers;
    sg_supernodes L = supernodes_of(factor, &numbers);
    L.x = sg_doubles_of(sg_field(factor, "x"), numbers, "x");
    sg_supernodes_look(&L, &sg_r_workspace);
    return L;
}

/* row[r x m], from 1, 0 where there is none; weights[r x width m]. Returns B'A^{-1}B of each
 * point's weights, width^2 x m. */
SEXP sg_r_factor_squares(SEXP factor, SEXP row, SEXP weights, SEXP width)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_supernodes L = factor_of(factor);
    const int w = sg_int_of(width, 1, 2, "width");
    const sg_matrix given = sg_matrix_of(weights, "weights");
    const int r = given.nrow, m = given.ncol / w;
    if (m * w != given.ncol) sg_stop_damaged("its `weights` are not of whole points");
    const int *rows = numbers_from_zero(row, (size_t) r * m, 0, L.n, "row");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, w * w, m));
    sg_supernodes_squares(&L, m, r, w, rows, given.values, REAL(out), ws);
    UNPROTECT(1);
    return out;
}

/* columns: list(row, weights, most), row and weights[r x m] as above. Returns B'A^{-1}B of all
 * columns, m x m, or how many numbers that would take besides, if these are more than `most`. */
SEXP sg_r_factor_products(SEXP factor, SEXP columns)
{
    const sg_ws *ws = &sg_r_workspace;
    const sg_supernodes L = factor_of(factor);
    const sg_matrix given = sg_matrix_of(sg_field(columns, "weights"), "weights");
    const int r = given.nrow, m = given.ncol;
    const int *rows = numbers_from_zero(sg_field(columns, "row"), (size_t) r * m, 0, L.n, "row");
    sg_sparse_columns B = {.m = m, .r = r, .row = rows, .weights = given.values};
    sg_supernodes_follow(&L, &B, ws);
    const double numbers = (double) B.from[L.count];
    if (numbers > sg_field_double(columns, "most", 0, HUGE_VAL)) return Rf_ScalarReal(numbers);
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, m, m));
    sg_supernodes_products(&L, &B, REAL(out), ws);
    UNPROTECT(1);
    return out;
}
