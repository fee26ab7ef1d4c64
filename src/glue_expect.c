/* glue_expect.c: distribution functions and quantiles of new responses, at data rows and marginals
 * that R gives. One process, and R's own thread (expect.h). */
#include "expect.h"
#include "glue.h"
#include "mixed_normal.h"

/* n rows: y[q x n], mu[w x n], S[w w x n] */
typedef struct {
    sg_lik lik;
    int n;
    const double *y, *mu, *S;
} responses;

static responses responses_of(SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S)
{
    responses r = {.lik = sg_lik_of(spec, theta)};
    const int w = r.lik.w;
    if (!r.lik.type->tails || r.lik.C > 1) sg_stop_damaged("its responses have no order");
    r.n = Rf_length(mu) / w;
    r.y = sg_data_rows_of(&r.lik, y, r.n);
    r.mu = sg_doubles_of(mu, (size_t) r.n * w, "mean");
    r.S = sg_doubles_of(S, (size_t) r.n * w * w, "var");
    return r;
}

static void tick_at(int i)
{
    enum { OFTEN = 64 };
    if (i % OFTEN == 0) sg_tick(&sg_r_workspace);
}

/* P(Y < y) and P(Y > y) of new responses Y like the data rows y. */
SEXP sg_r_lik_tails(SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S)
{
    const char *fields[] = {"below", "above", ""};
    const responses r = responses_of(spec, theta, y, mu, S);
    const int w = r.lik.w, q = sg_lik_q(&r.lik);
    SEXP out = PROTECT(Rf_mkNamed(VECSXP, fields));
    double *below = sg_new_vector(out, 0, r.n), *above = sg_new_vector(out, 1, r.n);
    double less[SG_LIK_MAX_ORDERED], tails[2];
    for (int i = 0; i < r.n; i++) {
        const double *row = sg_lik_row(&r.lik, r.y, i);
        const double *mu_i = r.mu + (size_t) w * i, *S_i = r.S + (size_t) w * w * i;
        tick_at(i);
        r.lik.type->tails(&r.lik, row, mu_i, S_i, tails);
        above[i] = tails[1];
        if (r.lik.type->support == SG_WHOLE) {
            for (int k = 0; k < q; k++) less[k] = row[k];
            less[0] = row[0] - 1;
            r.lik.type->tails(&r.lik, less, mu_i, S_i, tails);
        }
        below[i] = tails[0];
    }
    UNPROTECT(1);
    return out;
}

/* Returns probabilities, one or one for each of n rows. */
static const double *probabilities_of(SEXP p, int n)
{
    const int length = Rf_length(p);
    const double *at = sg_doubles_of(p, length == 1 ? 1 : (size_t) n, "p");
    for (int i = 0; i < length; i++) {
        if (at[i] < 0 || at[i] > 1) sg_stop_damaged("its `p` is no number from 0 to 1");
    }
    return at;
}

/* Is a row, with its marginal, the one before? */
static int is_repeated(const responses *r, int i)
{
    const int w = r->lik.w, q = sg_lik_q(&r->lik);
    const double *mu = r->mu + (size_t) w * i, *S = r->S + (size_t) w * w * i;
    const double *y = sg_lik_row(&r->lik, r->y, i);
    return i > 0 && !memcmp(mu, mu - w, w * sizeof *mu) && !memcmp(y, y - q, q * sizeof *y) &&
        !memcmp(S, S - w * w, w * w * sizeof *S);
}

/* Quantiles of probability p, one or one for each row, of new responses like the data rows y. Rows
 * that repeat the one before use what is known of it. */
SEXP sg_r_lik_quantile(SEXP spec, SEXP theta, SEXP y, SEXP mu, SEXP S, SEXP p)
{
    const responses r = responses_of(spec, theta, y, mu, S);
    const int w = r.lik.w, each = Rf_length(p) > 1;
    const double *at = probabilities_of(p, r.n);
    sg_odds known;
    SEXP out = PROTECT(Rf_allocVector(REALSXP, r.n));
    for (int i = 0; i < r.n; i++) {
        tick_at(i);
        if (!is_repeated(&r, i)) known.n = 0;
        REAL(out)[i] = sg_quantile(&r.lik, sg_lik_row(&r.lik, r.y, i), r.mu + (size_t) w * i,
                                   r.S + (size_t) w * w * i, at[each ? i : 0], &known);
    }
    UNPROTECT(1);
    return out;
}

/* Quantiles of p, one or one for each row, of mixtures of normals: a row each, its members in
 * columns. shares: a column of weights for each member, one row or as many. */
SEXP sg_r_mixed_quantile(SEXP mean, SEXP sd, SEXP shares, SEXP p)
{
    const sg_matrix means = sg_matrix_of(mean, "mean");
    const sg_matrix sds = sg_matrix_with(sd, means.nrow, means.ncol, "sd");
    const sg_matrix weights = sg_matrix_with(shares, -1, means.ncol, "shares");
    const double *at = probabilities_of(p, means.nrow);
    const int one = weights.nrow == 1, each = Rf_length(p) > 1;
    if (!one && weights.nrow != means.nrow) sg_stop_damaged("its weights are of other rows");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, means.nrow));
    for (int i = 0; i < means.nrow; i++) {
        const sg_mixed_normal mixture = {
            .K = means.ncol, .mean = means.values + i, .sd = sds.values + i,
            .weight = weights.values + (one ? 0 : i), .stride = (size_t) means.nrow,
            .weight_stride = (size_t) weights.nrow,
        };
        tick_at(i);
        REAL(out)[i] = sg_mixed_normal_quantile(&mixture, at[each ? i : 0]);
    }
    UNPROTECT(1);
    return out;
}
