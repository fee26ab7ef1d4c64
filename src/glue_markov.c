/* glue_markov.c: EP of a process of one input that is Markov, and prediction from its sites. */
#include <float.h>
#include <limits.h>
#include "ep_markov.h"
#include "evidence.h"
#include "full_trend.h"
#include "glue_fit.h"
#include "markov_predict.h"

/* The forms of all kernels, which R has looked at before. */
static sg_markov_form *forms_of(int count, const sg_kernel *const *kernels)
{
    sg_markov_form *forms = sg_structs(count, sizeof(sg_markov_form), &sg_r_workspace);
    for (int k = 0; k < count; k++) {
        const sg_status status = sg_markov_form_of(kernels[k], forms + k);
        if (status == SG_NO_SITE) Rf_error("internal error: a kernel that is not Markov");
        if (status != SG_OK) return NULL;
    }
    return forms;
}

/* Rows in the order of time, from 0; R counts from 1. */
static const int *order_of(SEXP order, const double *x, int n)
{
    int *out = sg_ints(n, &sg_r_workspace);
    const int *given = sg_whole_of(order, n, 1, n, "order");
    for (int k = 0; k < n; k++) out[k] = given[k] - 1;
    for (int k = 1; k < n; k++) {
        if (!(x[out[k - 1]] <= x[out[k]])) sg_stop_damaged("its `order` is not that of time");
    }
    return out;
}

/* Returns the state that a process begins with, from list(t, m, P), no later than its rows, or
 * NULL. A state of another size is that of other hyperparameters. */
static const sg_markov_start *start_of(SEXP from, const sg_markov_form *form,
                                       const sg_markov_path *path)
{
    if (Rf_isNull(from)) return NULL;
    const int m = form->m;
    sg_markov_start *out = sg_structs(1, sizeof(sg_markov_start), &sg_r_workspace);
    out->t = sg_field_double(from, "t", -DBL_MAX, DBL_MAX);
    out->m = sg_doubles_of(sg_field(from, "m"), m, "m");
    out->P = sg_matrix_with(sg_field(from, "P"), m, m, "P").values;
    if (path->n > 0 && out->t > path->t[0]) sg_stop_damaged("its `from` is later than its rows");
    return out;
}

/* The functions of a linear mean at the rows, and how many there are. */
static const double *functions_of(SEXP phi, int n, int *q)
{
    *q = 0;
    if (Rf_isNull(phi)) return NULL;
    const sg_matrix functions = sg_matrix_with(phi, n, -1, "phi");
    *q = functions.ncol;
    if (*q > SG_TREND_MAX) sg_stop_damaged("its mean has %d functions", *q);
    return functions.values;
}

/* Coefficients, J and L^{-1} of all processes, as full EP has them (glue_fit.c). */
static void trend_in(SEXP out, SEXP stored, int C, const sg_markov_process *processes)
{
    const size_t q = processes->trend.q;
    double *coef = sg_new_matrix(stored, 0, q, C), *root = sg_new_matrix(stored, 2, q, q * C);
    for (int c = 0; c < C; c++) {
        sg_copy(q, processes[c].trend.coef, coef + q * c);
        sg_copy(q * q, processes[c].trend.root, root + q * q * c);
    }
    SET_VECTOR_ELT(out, OUT_TREND, stored);
}

/* ktheta and options as of ep_full, and order: the rows in the order of time; from: of each process
 * what it begins with, or NULL; then there is neither a mean nor a gradient. x: the one column
 * that the kernel reads. Memory: (m + 6) numbers a row and process for m states; the gradient takes
 * m^2 more for some rows. */
SEXP sg_r_markov(SEXP kernel, SEXP ktheta, SEXP x, SEXP lik, SEXP ltheta, SEXP y, SEXP offset,
                 SEXP sites, SEXP options)
{
    const char *fields[] = {"coef", "J", "root", ""};
    sg_room room;
    const sg_ws own = sg_room_open(&room, sg_optional_field(options, "room")), *ws = &own;
    sg_problem p;
    sg_read_problem(kernel, ktheta, x, lik, ltheta, y, offset, &p);
    const int n = p.layout.n, C = p.layout.C;
    if (sg_is_coupled(&p.rows)) sg_stop_damaged("its classes are coupled");
    int q;
    const double *phi = functions_of(sg_field(options, "trend"), n, &q);
    const double *times = sg_matrix_with(x, n, 1, "x").values;
    const sg_ep_options opt = sg_ep_options_of(options);
    SEXP out = PROTECT(sg_new_run()), stored = PROTECT(Rf_mkNamed(VECSXP, fields));
    sg_sites start = sg_sites_in(out, sites, p.layout);
    sg_marginals marg = sg_marginals_in(out, p.layout);
    sg_ep_report report = sg_new_report();
    const sg_markov_path path = sg_markov_path_new(
        n, times, order_of(sg_field(options, "order"), times, n), ws
    );
    const sg_markov_form *forms = forms_of(p.kernels, p.kernel);
    sg_status status = forms ? SG_OK : SG_NOT_FINITE;
    if (status == SG_OK) {
        marg.alpha = sg_new_latents(out, OUT_ALPHA, n, C);
        sg_markov_process *all = sg_markov_processes(&path, C, p.kernels, forms, q, phi, ws);
        SEXP from = sg_field(options, "from");
        if (!Rf_isNull(from)) sg_list_of(from, C, "from");
        for (int c = 0; c < C && !Rf_isNull(from); c++) {
            all[c].start = start_of(VECTOR_ELT(from, c), all[c].form, &path);
        }
        double *J = q > 0 ? sg_new_matrix(stored, 1, n, (size_t) q * C) : NULL;
        status = sg_ep_markov_run(&p.rows, &path, all, p.kernels, &opt, &start, &marg, J, &report,
                                  ws);
        if (status == SG_OK && sg_field_flag(options, "gradient")) {
            double *gradient = sg_gradient_in(out, &p);
            const sg_span rows = {0, n};
            sg_evidence_gradient_markov(&path, all, C, p.kernels, p.kernel, gradient, ws);
            sg_tilt_rows_dpar(&p.rows, &marg, rows, gradient + p.nk, ws);
        }
        if (status == SG_OK) sg_leave_out(&p.rows, &start, &marg, ws);
        if (status == SG_OK && q > 0) trend_in(out, stored, C, all);
    }
    SET_VECTOR_ELT(out, OUT_JITTER, Rf_ScalarReal(0));
    sg_report_in(out, status, &report);
    sg_room_close(&room);
    UNPROTECT(2);
    return out;
}

/* Returns list(states, harmonics, left_out): of the kernel at theta how many states it has (0: it
 * is not Markov), of periodic parts the harmonics, and the proportion of the variance at `at` that
 * they leave out. */
SEXP sg_r_markov_states(SEXP kernel, SEXP ktheta, SEXP at)
{
    const char *fields[] = {"states", "harmonics", "left_out", ""};
    const int looks = !Rf_isNull(at);
    const sg_kernel *const self = sg_kernel_of(kernel, ktheta, looks ? 1 : INT_MAX);
    sg_markov_form form;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    const sg_status status = sg_markov_form_of(self, &form);
    int states = form.m;
    double left = 0, has = 0, all = 0;
    if (status == SG_NO_SITE) states = sg_markov_count(self, 1);
    if (status == SG_OK && looks) {
        const double *point = sg_doubles_of(at, 1, "at");
        sg_kernel_diag(self, 1, point, &all, &sg_r_workspace);
        for (int c = 0; c < form.cells; c++) {
            const sg_markov_term *term = form.term + form.cell[c].term;
            double h[SG_MARKOV_STATES];
            sg_markov_observe(&form, point[0], h);
            has += term->variance * h[form.cell[c].at] * h[form.cell[c].at];
        }
        left = all > 0 ? 1 - has / all : 0;
    }
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(states));
    SET_VECTOR_ELT(out, 1, Rf_ScalarInteger(form.harmonics));
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal(left));
    UNPROTECT(1);
    return out;
}

/* The terms of the form that come from the chosen parts of a sum: parts[] says how many terms each
 * part has, chosen[] whether it counts. */
static const int *terms_of(SEXP chosen, const sg_kernel *kernel, const sg_markov_form *form)
{
    if (Rf_isNull(chosen)) return NULL;
    int *out = sg_ints(form->terms, &sg_r_workspace), from = 0;
    const int parts = Rf_length(chosen);
    const int *counts = sg_whole_of(chosen, parts, 0, 1, "parts");
    sg_markov_term own[SG_MARKOV_TERMS];
    if (parts > 1 && parts != kernel->nchild) sg_stop_damaged("its sum has not %d parts", parts);
    for (int part = 0; part < parts; part++) {
        const sg_kernel *child = parts == 1 ? kernel : kernel->child[part];
        const int to = from + child->type->terms(child, form->harmonics, own);
        for (int j = 0; j < form->terms; j++) {
            if (form->origin[j] >= from && form->origin[j] < to) out[j] = counts[part];
        }
        from = to;
    }
    return out;
}

/* A linear mean as a posterior has it, at all rows and points. */
static sg_markov_trend trend_of(SEXP stored, const sg_markov_path *path, int q, const double *phi)
{
    sg_markov_trend trend = sg_markov_trend_new(path, q, phi, &sg_r_workspace);
    if (q == 0) return trend;
    sg_copy(q, sg_doubles_of(sg_field(stored, "coef"), q, "coef"), trend.coef);
    sg_copy((size_t) q * q, sg_doubles_of(sg_field(stored, "root"), (size_t) q * q, "root"),
            trend.root);
    return trend;
}

/* to[rows + points] = the sites of rows, and 0 at points. */
static const double *with_points(SEXP list, const char *name, int rows, int points)
{
    double *out = sg_zeros((size_t) rows + points, &sg_r_workspace);
    sg_copy_field(list, name, rows, out);
    return out;
}

/* Moments at points after the rows of x, of one process with a kernel of its own.
 * posterior: list(tau, nu, from, trend), from as start_of() takes it, trend list(coef, root, phi)
 *   with phi at rows and points, or NULL
 * query: list(order, of rows and points; points, how many; along: NULL or of each point what its
 *   derivative is multiplied by; phi_slope: points x q; parts: NULL or which parts of a sum; joint)
 * Returns list(status, mean, var): of each point, or with `along` 2 and 4 numbers, or jointly. */
SEXP sg_r_markov_predict(SEXP kernel, SEXP ktheta, SEXP x, SEXP posterior, SEXP query)
{
    const char *fields[] = {"status", "mean", "var", ""};
    const sg_ws *ws = &sg_r_workspace;
    const sg_kernel *self = sg_kernel_of(kernel, ktheta, 1);
    const sg_matrix times = sg_matrix_with(x, -1, 1, "x");
    const int all = times.nrow, points = sg_field_int(query, "points", 0, all);
    const int rows = all - points, joint = sg_field_flag(query, "joint");
    SEXP along = sg_field(query, "along"), stored = sg_field(posterior, "trend");
    const sg_markov_form *form = forms_of(1, &self);
    if (!form) sg_stop_damaged("its kernel is not that of a Markov process");
    const sg_markov_path path = sg_markov_path_new(
        all, times.values, order_of(sg_field(query, "order"), times.values, all), ws
    );
    int q;
    const double *phi = functions_of(Rf_isNull(stored) ? R_NilValue : sg_field(stored, "phi"), all,
                                     &q);
    const sg_markov_trend trend = trend_of(stored, &path, q, phi);
    const int slopes = !Rf_isNull(along), each = slopes ? 2 : 1;
    const sg_markov_query asked = {
        form, &path, &trend, with_points(posterior, "tau", rows, points),
        with_points(posterior, "nu", rows, points),
        start_of(sg_field(posterior, "from"), form, &path), rows, points, slopes,
        slopes ? sg_doubles_of(along, points, "along") : NULL,
        slopes && q > 0 ? sg_doubles_of(sg_field(query, "phi_slope"), (size_t) points * q, "phi")
                        : NULL,
        terms_of(sg_field(query, "parts"), self, form)
    };
    const size_t F = (size_t) points * each;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *mean = sg_new_vector(out, 1, F);
    double *var = joint ? sg_new_matrix(out, 2, F, F) : sg_new_vector(out, 2, F * each);
    const sg_status status = joint ? sg_markov_joint(&asked, mean, var, ws)
                                   : sg_markov_moments(&asked, mean, var, ws);
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(status));
    UNPROTECT(1);
    return out;
}

/* The state behind all rows of x, which have sites tau and nu: list(status, t, m, P), t the last
 * time. posterior: list(tau, nu, from). order: the rows in the order of time. */
SEXP sg_r_markov_end(SEXP kernel, SEXP ktheta, SEXP x, SEXP posterior, SEXP order)
{
    const char *fields[] = {"status", "t", "m", "P", ""};
    const sg_ws *ws = &sg_r_workspace;
    const sg_kernel *self = sg_kernel_of(kernel, ktheta, 1);
    const sg_matrix times = sg_matrix_with(x, -1, 1, "x");
    const int rows = times.nrow;
    const sg_markov_form *form = forms_of(1, &self);
    if (!form || rows == 0) sg_stop_damaged("it has no state of a Markov process");
    const sg_markov_path path = sg_markov_path_new(
        rows, times.values, order_of(order, times.values, rows), ws
    );
    const sg_markov_trend trend = trend_of(R_NilValue, &path, 0, NULL);
    const sg_markov_query asked = {
        .form = form, .path = &path, .trend = &trend,
        .tau = with_points(posterior, "tau", rows, 0), .nu = with_points(posterior, "nu", rows, 0),
        .start = start_of(sg_field(posterior, "from"), form, &path), .rows = rows
    };
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *m = sg_new_vector(out, 2, form->m), *P = sg_new_matrix(out, 3, form->m, form->m);
    const sg_status status = sg_markov_end(&asked, m, P, ws);
    SET_VECTOR_ELT(out, 0, Rf_ScalarInteger(status));
    SET_VECTOR_ELT(out, 1, Rf_ScalarReal(path.t[path.n - 1]));
    UNPROTECT(1);
    return out;
}
