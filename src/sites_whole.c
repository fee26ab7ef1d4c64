/* sites_whole.c: sites that are the likelihood itself, and cavities without the whole of a site
 * where power EP left out a power of it (sites.h). A site costs O(w^3). */
#include <math.h>
#include "block.h"
#include "sites.h"

/* ---- Likelihoods that are sites themselves ---- */

/* Writes T = (I + P gamma)^{-1} P for a likelihood's exact precision P, and nu with it: what the
 * marginal leaves out is noise between it and the likelihood, of which a power counts as much. With
 * w = 1
 *   tau = p / (1 + gamma p),   nu = (h - p offset) / (1 + gamma p). */
static void exact_site(const sg_rows *rows, int i, int c, double *tau, double *nu)
{
    const int w = rows->lik->w;
    const double *offset = rows->offset + (size_t) w * i;
    sg_lik_site(rows->lik, sg_lik_row(rows->lik, rows->y, i), c, tau, nu);
    if (w == 1) {
        const double shrink = 1 + rows->lik->power * sg_extra_var(rows, i, c) * *tau;
        *nu = (*nu - *tau * *offset) / shrink;
        *tau /= shrink;
    } else {
        sg_block_soften(w, offset, sg_gamma_of(rows, i, c), tau, nu);
    }
}

/* Writes the sites of a span whose likelihood is Gaussian in f: no iteration changes them. */
void sg_exact_sites(const sg_rows *rows, sg_span span, sg_sites *sites)
{
    const size_t w = rows->lik->w, n = rows->n;
    for (int c = 0; c < rows->lik->C; c++) {
        for (int i = span.from; i < span.from + span.m; i++) {
            exact_site(rows, i, c, sites->tau + w * w * (i + n * c), sites->nu + w * (i + n * c));
        }
    }
}

/* ---- Cavities without whole sites ---- */

/* Divides each marginal by its site; NaN where what is left is no distribution. */
static void whole_cavities(sg_marginals *marg)
{
    const size_t count = sg_sites_of(marg->layout);
    for (size_t at = 0; at < count; at++) {
        const double var = marg->var[at] / marg->g[at], off = var * marg->alpha[at];
        const int valid = marg->g[at] > 0;
        marg->cav_var[at] = valid ? var : NAN;
        marg->cav_mean[at] = valid ? marg->mean[at] - off : NAN;
    }
}

/* Computes the cavities of whole sites again, and tilts at them by the likelihood itself, not by
 * its power. A row that has no cavity has no density. O(n C) and the tilts. */
sg_status sg_leave_out(const sg_rows *rows, const sg_sites *sites, sg_marginals *marg,
                       const sg_ws *ws)
{
    const sg_span all = {0, rows->n};
    sg_lik whole = *rows->lik;
    sg_rows plain = *rows;
    if (rows->lik->power == 1) return SG_OK;
    whole.power = 1, plain.lik = &whole;
    sg_shares(sites, marg, all);
    whole_cavities(marg);
    const sg_status status = sg_tilt_rows(&plain, marg, all, ws);
    return status == SG_NOT_FINITE ? SG_OK : status;
}
