/* glue_lik.c: likelihoods one at a time, at rows and marginals that R gives: what predictions and
 * residuals are made of, and how tests see a tilt. */
#include "coupled.h"
#include "glue.h"
#include "hosted_tilts.h"
#include "par.h"

/* Latent values lie as sg_layout says, and a likelihood sees a row at a time: `size` numbers of
 * each process, w values or the w x w of their block. */
static void gather(const double *from, const sg_lik *lik, int n, int i, int size, double *row)
{
    for (int c = 0; c < lik->C; c++) {
        const double *at = from + size * (i + (size_t) n * c);
        sg_copy(size, at, row + size * c);
    }
}

static void scatter(const double *row, const sg_lik *lik, int n, int i, int size, double *to)
{
    for (int c = 0; c < lik->C; c++) {
        double *at = to + size * (i + (size_t) n * c);
        sg_copy(size, row + size * c, at);
    }
}

static int rows_for(const sg_lik *lik, SEXP values)
{
    const int each = lik->C * lik->w;
    if (Rf_length(values) % each != 0) sg_stop_damaged("its rows do not have %d values each", each);
    return Rf_length(values) / each;
}

/* Room for `size` numbers of each row and process: as sg_new_latents(), or with wider sites a
 * column for each. */
static double *new_numbers(SEXP out, int at, const sg_lik *lik, int n, int size)
{
    if (lik->w == 1) return sg_new_latents(out, at, n, lik->C);
    return sg_new_matrix(out, at, size, (size_t) n * lik->C);
}

static int can_quadrature(const sg_lik *lik)
{
    return lik->C == 1 && lik->w == 1 && !lik->type->classes;
}

/* Is quadrature asked for, and possible? */
static int by_quadrature(const sg_lik *lik, SEXP quadrature)
{
    return sg_int_of(quadrature, 0, 1, "quadrature") && can_quadrature(lik);
}

/* ---- Entries: their rows go to several threads (par.h), so bodies call nothing of R ---- */

enum { GRAIN = 16 }; /* rows a thread takes at once */

/* Holds what an entry is given and gives, numbers of n rows; NULL is what it has no use for. */
typedef struct {
    const sg_lik *lik;
    int n, quad;
    const double *y, *at, *S;           /* data rows; means or values of latent values; variances */
    double *logz, *d1, *d2, *dpar;      /* of tilts */
    double *logp, *mean, *var, *spread; /* of responses */
} job;

static sg_status tilt_rows(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const job *j = ctx;
    const sg_lik *lik = j->lik;
    const int w = lik->w, n = j->n;
    const size_t npar = sg_lik_npar(lik);
    double mu[SG_LIK_MAX_BLOCKS], S[SG_LIK_MAX_BLOCKS];
    double d1[SG_LIK_MAX_BLOCKS], d2[SG_LIK_MAX_BLOCKS];
    sg_tilt tilt = {.d1 = d1, .d2 = d2};
    for (int i = from; i < to; i++) {
        const double *y = sg_lik_row(lik, j->y, i);
        double *dpar = j->dpar + npar * i;
        gather(j->at, lik, n, i, w, mu), gather(j->S, lik, n, i, w * w, S);
        sg_zero(npar, dpar);
        (j->quad ? sg_lik_tilt_quad : sg_lik_tilt)(lik, y, mu, S, &tilt);
        (j->quad ? sg_lik_tilt_dpar_quad : sg_lik_tilt_dpar)(lik, y, mu, S, dpar);
        j->logz[i] = tilt.logz;
        scatter(d1, lik, n, i, w, j->d1), scatter(d2, lik, n, i, w * w, j->d2);
    }
    return SG_OK;
}

/* quadrature: of log p in any case, where that can be */
SEXP sg_r_lik_tilt(SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S, SEXP quadrature)
{
    const char *fields[] = {"logz", "d1", "d2", "dpar", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int n = rows_for(&lik, mu), w = lik.w;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    job j = {.lik = &lik, .n = n, .quad = by_quadrature(&lik, quadrature),
             .y = sg_data_rows_of(&lik, y, n), .at = sg_numbers_of(mu, "mean"),
             .S = sg_doubles_of(S, (size_t) n * lik.C * w * w, "var")};
    j.logz = sg_new_vector(out, 0, n), j.d1 = new_numbers(out, 1, &lik, n, w);
    j.d2 = new_numbers(out, 2, &lik, n, w * w);
    j.dpar = sg_new_matrix(out, 3, sg_lik_npar(&lik), n);
    if (lik.host) {
        sg_hosted_tilts(&lik, n, j.y, j.at, j.S, j.logz, j.d1, j.d2, j.dpar);
    } else {
        sg_par_rows(n, GRAIN, tilt_rows, &j, &sg_r_workspace);
    }
    UNPROTECT(1);
    return out;
}

static sg_status predict_rows(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const job *j = ctx;
    const sg_lik *lik = j->lik;
    const int w = lik->w, n = j->n;
    double mu[SG_LIK_MAX_BLOCKS], S[SG_LIK_MAX_BLOCKS];
    double mean[SG_LIK_MAX_BLOCKS], var[SG_LIK_MAX_BLOCKS];
    for (int i = from; i < to; i++) {
        gather(j->at, lik, n, i, w, mu), gather(j->S, lik, n, i, w * w, S);
        if (j->quad) sg_lik_predict_quad(lik, mu, S, mean, var, j->spread + i);
        else sg_lik_predict(lik, mu, S, mean, var);
        scatter(mean, lik, n, i, w, j->mean), scatter(var, lik, n, i, w * w, j->var);
    }
    return SG_OK;
}

/* quadrature: by quadrature in any case, where that can be, and then with the spread of E(y|f) */
SEXP sg_r_lik_predict(SEXP spec, SEXP theta, SEXP mu, SEXP S, SEXP quadrature)
{
    const char *fields[] = {"mean", "var", "spread", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int n = rows_for(&lik, mu), w = lik.w;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    job j = {.lik = &lik, .n = n, .quad = by_quadrature(&lik, quadrature),
             .at = sg_numbers_of(mu, "mean"),
             .S = sg_doubles_of(S, (size_t) n * lik.C * w * w, "var")};
    j.mean = new_numbers(out, 0, &lik, n, w), j.var = new_numbers(out, 1, &lik, n, w * w);
    j.spread = sg_new_vector(out, 2, j.quad ? n : 0);
    sg_par_rows(n, GRAIN, predict_rows, &j, &sg_r_workspace);
    UNPROTECT(1);
    return out;
}

static sg_status eval_rows(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    (void) slot, (void) ws;
    const job *j = ctx;
    const sg_lik *lik = j->lik;
    const int w = lik->w, n = j->n;
    double f[SG_LIK_MAX_BLOCKS], mean[SG_LIK_MAX_BLOCKS], var[SG_LIK_MAX_BLOCKS];
    for (int i = from; i < to; i++) {
        gather(j->at, lik, n, i, w, f);
        if (j->y) j->logp[i] = lik->type->logp(lik, sg_lik_row(lik, j->y, i), f);
        lik->type->moments(lik, f, mean, var);
        scatter(mean, lik, n, i, w, j->mean), scatter(var, lik, n, i, w * w, j->var);
    }
    return SG_OK;
}

/* log p(y|f), and mean and variance of a new response given f; y may be NULL for the latter
 * alone */
SEXP sg_r_lik_eval(SEXP spec, SEXP theta, SEXP y, SEXP f)
{
    const char *fields[] = {"logp", "mean", "var", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int n = rows_for(&lik, f), w = lik.w, with_y = !Rf_isNull(y);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    job j = {.lik = &lik, .n = n, .at = sg_numbers_of(f, "latent"),
             .y = with_y ? sg_data_rows_of(&lik, y, n) : NULL};
    j.logp = sg_new_vector(out, 0, with_y ? n : 0);
    j.mean = new_numbers(out, 1, &lik, n, w), j.var = new_numbers(out, 2, &lik, n, w * w);
    sg_par_rows(n, GRAIN, eval_rows, &j, &sg_r_workspace);
    UNPROTECT(1);
    return out;
}

/* The exact sites of rows y[q x n]: tau and nu; empty for a type without an exact site. EP asks
 * for them itself. */
SEXP sg_r_lik_site(SEXP spec, SEXP theta, SEXP y)
{
    const char *fields[] = {"tau", "nu", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int q = sg_lik_q(&lik), w = lik.w;
    const int n = lik.type->site && lik.C == 1 ? Rf_length(y) / q : 0;
    const double *rows = n > 0 ? sg_doubles_of(y, (size_t) n * q, "data_rows") : NULL;
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *tau = sg_new_matrix(out, 0, w * w, n), *nu = sg_new_matrix(out, 1, w, n);
    for (int i = 0; i < n; i++) {
        lik.type->site(&lik, sg_lik_row(&lik, rows, i), tau + (size_t) w * w * i,
                       nu + (size_t) w * i);
    }
    UNPROTECT(1);
    return out;
}

/* W of a row (coupled.h) as a matrix: its columns are those of I, weighed. */
static void whole_weights(int C, const double *s, const sg_tilt *tilt, double *out)
{
    double W[SG_LIK_MAX_CLASSES * (1 + SG_COUPLED_RANK)];
    sg_coupled_row(C, s, tilt, W);
    for (int c = 0; c < C; c++) {
        double *column = out + (size_t) C * c;
        for (int b = 0; b < C; b++) column[b] = b == c;
        sg_coupled_weigh(C, W, column);
    }
}

/* All second derivatives of log Z, a column of (C w)^2 for each row, and of classes what the
 * diagonal has of its own and the weights W. For tests: EP has them where it makes them. */
SEXP sg_r_lik_cross(SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S)
{
    const char *fields[] = {"cross", "own", "W", ""};
    const sg_lik lik = sg_lik_of(spec, theta);
    const int n = rows_for(&lik, mu), w = lik.w, C = lik.C, size = C * w;
    const int of_classes = lik.type->classes;
    const double *rows = sg_data_rows_of(&lik, y, n);
    const double *means = sg_numbers_of(mu, "mean");
    const double *all_S = sg_doubles_of(S, (size_t) n * C * w * w, "var");
    double mi[SG_LIK_MAX_BLOCKS], Si[SG_LIK_MAX_BLOCKS];
    double d1[SG_LIK_MAX_BLOCKS], d2[SG_LIK_MAX_BLOCKS];
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *cross = sg_new_matrix(out, 0, size * size, n);
    double *own = sg_new_matrix(out, 1, of_classes ? C : 0, n);
    double *W = sg_new_matrix(out, 2, of_classes ? C * C : 0, n);
    for (int i = 0; i < n; i++) {
        sg_tilt tilt = {.d1 = d1, .d2 = d2, .cross = cross + (size_t) size * size * i,
                        .own = of_classes ? own + (size_t) C * i : NULL};
        gather(means, &lik, n, i, w, mi), gather(all_S, &lik, n, i, w * w, Si);
        sg_lik_tilt(&lik, sg_lik_row(&lik, rows, i), mi, Si, &tilt);
        if (of_classes) whole_weights(C, Si, &tilt, W + (size_t) C * C * i);
    }
    UNPROTECT(1);
    return out;
}
