/* sites.h: Gaussian sites, cavities and tilts of blocks of rows; what every EP shares.
 *
 * A row has C latent processes, independent in the posterior (C = 1 but for classes), and of each
 * process w latent values that its site sees at once (w = 1 but for vectors). A site is exp(-u'T u
 * / 2 + nu'u), T a symmetric w x w block, which may be indefinite. Arrays lie as sg_layout says:
 * tau (the blocks T), var, cav_var and d2 are blocks of w x w, nu, mean, alpha, cav_mean and d1
 * are values. With w = 1 both are plain numbers, and the code that treats them is scalar.
 *
 * Offsets (known prior means) are added to a marginal's mean just before the likelihood sees it,
 * so everything here is about a process of mean 0. */
#ifndef SG_SITES_H
#define SG_SITES_H

#include "lik.h"
#include "tolerances.h"
#include "types.h"

/* The rows as a likelihood sees them. */
typedef struct {
    int n;
    const sg_lik *lik;
    const double *y;      /* q x n */
    const double *offset; /* w x n */
    const double *gamma;  /* blocks: variance of u that the marginals leave out; NULL: absent */
    const double *prior;  /* values: prior variances of what the sites are on, or NULL */
    int shared;           /* have all processes gamma and prior in common, those of the first? */
} sg_rows;

static inline sg_layout sg_layout_of(const sg_rows *rows)
{
    const sg_layout layout = {rows->n, rows->lik->C, rows->lik->w};
    return layout;
}

/* Do the latent values of a row have a likelihood in common? */
static inline int sg_is_coupled(const sg_rows *rows)
{
    return rows->lik->type->classes && rows->lik->C > 1;
}

/* Returns the place of gamma and prior of row i and process c, in blocks and in groups of w. */
static inline size_t sg_prior_place(const sg_rows *rows, int i, int c)
{
    return i + (rows->shared ? 0 : (size_t) rows->n * c);
}

/* gamma of row i and process c: a block, or NULL */
static inline const double *sg_gamma_of(const sg_rows *rows, int i, int c)
{
    const size_t ww = (size_t) rows->lik->w * rows->lik->w;
    return rows->gamma ? rows->gamma + ww * sg_prior_place(rows, i, c) : NULL;
}

/* prior of row i and process c: w numbers, or NULL */
static inline const double *sg_prior_of(const sg_rows *rows, int i, int c)
{
    return rows->prior ? rows->prior + rows->lik->w * sg_prior_place(rows, i, c) : NULL;
}

/* The same for w = 1: a number. */
static inline double sg_extra_var(const sg_rows *rows, int i, int c)
{
    const double *gamma = sg_gamma_of(rows, i, c);
    return gamma ? *gamma : 0;
}

/* Rows from .. from + m - 1. */
typedef struct {
    int from, m;
} sg_span;

/* The spans of n rows in order, `size` rows each but for the last: call with *span zeroed until it
 * returns 0. */
static inline int sg_next_span(int n, int size, sg_span *span)
{
    span->from += span->m;
    span->m = n - span->from < size ? n - span->from : size;
    return span->m > 0;
}

typedef struct {
    sg_layout layout;
    double *tau, *nu;
    int nonnegative; /* may no site have a negative precision, and widen the posterior? */
} sg_sites;

/* The state of EP at the rows under given sites. */
typedef struct {
    sg_layout layout;
    double *mean, *var;         /* posterior marginals */
    double *g;                  /* one for each site: |I - var tau|, > 0: there is a cavity */
    double *alpha;              /* nu - tau mean = K^{-1} mean */
    double *cav_mean, *cav_var; /* marginals without the row's own site */
    double *logz;               /* rows: log Z of the tilts at the cavities, */
    double *d1, *d2;            /* and its derivatives */
    double *W;                  /* of coupled classes, weights of rows (coupled.h); NULL: absent */
    double power;               /* of the sites that cavities are without, see sg_cavities() */
} sg_marginals;

sg_marginals sg_marginals_new(sg_layout layout, const sg_ws *ws);

/* Site of a tilt at the marginal (mu, s2), w = 1: D = 1 + s2 d2, tau = -d2/D, nu = (d1 - mu d2)/D
 * (formulas 81-83 in natural parameters). d2 = 0 is valid, and where the likelihood is not
 * log-concave d2 > 0, of which tau < 0 is the image: the row widens the posterior. Returns 0 when D
 * <= 0 or a number is not finite: there is no such site, and tau, nu are left alone. */
int sg_site_from_tilt(double mu, double s2, double d1, double d2, double *tau, double *nu);

/* The same in power EP (Minka 2004): the cavity (mu, s2) is without the power p of the site, and d1
 * and d2 are of the tilt by p(y|f)^p, each divided by p: D = 1 + p s2 d2. p = 1: the site above;
 * p = 0: tau = -d2, nu = d1 - mu d2, of variational inference. */
int sg_site_of_power(double p, double mu, double s2, double d1, double d2, double *tau,
                     double *nu);

/* Returns the part of d2, at a cavity of variance s2, that a site can have: if negative site
 * precisions are not allowed d2 > 0 becomes 0, as it always does within the rounding of a
 * quadrature. w = 1. */
static inline double sg_site_bend(const sg_sites *sites, double s2, double d2)
{
    return d2 > 0 && (sites->nonnegative || s2 * d2 < SG_NO_BEND) ? 0 : d2;
}

/* Both KL divergences of a step along a marginal of variance s2 (thesis 3.16): kl[0] new against
 * old, kl[1] old against new. */
void sg_step_kl(double d1, double d2, double s2, double kl[2]);

/* alpha = nu - tau mean and, with w = 1, g = 1 - tau var of a span, from mean and var. A model that
 * has them with more digits fills them in itself. */
void sg_shares(const sg_sites *sites, sg_marginals *marg, sg_span span);

/* Cavities of a span: cov = G^{-1} var, mean = mean - cov alpha, G = I - var tau (formulas 78-79
 * with nothing that cancels when a site is nearly all the row's precision). In power EP the cavity
 * is without that power of the site, and g = 1 - p var tau from then on. Returns 0 where a cavity
 * is no distribution, or far wider than the prior + gamma (tolerances.h). */
int sg_cavities(const sg_rows *rows, const sg_sites *sites, sg_marginals *marg, sg_span span);

/* Adds a block: x += y; y NULL: nothing. */
static inline void sg_add_block(int ww, const double *y, double *x)
{
    for (int k = 0; y && k < ww; k++) x[k] += y[k];
}

/* Collects the cavities of row i, mu[C w] and S[C blocks], as its likelihood sees them: with the
 * offset, and with the variance gamma that marginals leave out. O(C w^2). */
static inline void sg_cavities_of_row(const sg_rows *rows, const sg_marginals *marg, int i,
                                      double *mu, double *S)
{
    const int w = rows->lik->w, ww = w * w;
    for (int c = 0; c < rows->lik->C; c++) {
        const size_t at = i + (size_t) rows->n * c;
        for (int a = 0; a < w; a++) {
            mu[a + w * c] = marg->cav_mean[a + w * at] + rows->offset[a + (size_t) w * i];
        }
        sg_copy(ww, marg->cav_var + ww * at, S + ww * c);
        sg_add_block(ww, sg_gamma_of(rows, i, c), S + ww * c);
    }
}

/* Tilts of a span at its cavities, gamma added to the variance; with a power p those by p(y|f)^p,
 * log Z, d1 and d2 divided by p (power.h). SG_NOT_FINITE when a number is not. */
sg_status sg_tilt_rows(const sg_rows *rows, sg_marginals *marg, sg_span span, const sg_ws *ws);

/* Adds dlogZ/dtheta of a span, at its cavities, to dlik (formulas as in lik.h). */
void sg_tilt_rows_dpar(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *dlik,
                       const sg_ws *ws);

/* How far a span's sites are from a fixed point, free of units: the largest of
 * |d1 - alpha| sqrt(cav_var) and |-d2 - tau G| cav_var (w > 1: the Frobenius norm in coordinates
 * in which the cavity has variance 1). At a fixed point alpha = d1 and tau G = -d2, which is what
 * the evidence's gradient is made of. */
double sg_sites_residual(const sg_sites *sites, const sg_marginals *marg, sg_span span);

/* The sites of process c that a span's tilts ask for, into tau[m blocks], nu[m values]; where a
 * tilt has none, or nothing is there to be moved (cav_var = 0), the old one stays. Returns how
 * many tilts had no site. */
int sg_sites_of_tilts(const sg_sites *sites, const sg_marginals *marg, int c, sg_span span,
                      double *tau, double *nu);

/* The same for all rows and processes, tau and nu laid out as those of `sites`. */
int sg_sites_of_all_tilts(const sg_sites *sites, const sg_marginals *marg, double *tau, double *nu);

/* A span's part of the log evidence (formulas 87-88; at any sites, stationary at a fixed point),
 *   sum logz_i - sum (log|G| / p + cav_mean'alpha) / 2
 * over rows and over sites, p the power (1: EP; 0: in the limit tau var stands for -log|G| / p, and
 * the whole is the variational lower bound; sites NULL: p = 1). Less log|A|, with A'A = I + V'TV or
 * its like, of all processes together, it is sum (logZ - logZ~) - log|A| + m'nu / 2, but adds no
 * large terms of opposite sign when the sites are sharp. */
double sg_log_evidence(const sg_sites *sites, const sg_marginals *marg, sg_span span);

/* Replaces cavities and their log Z by those without the whole of each site, which are a row's
 * leave-one-out moments and density, where a power was left out. A site that has no such cavity has
 * NaN. w = 1. */
sg_status sg_leave_out(const sg_rows *rows, const sg_sites *sites, sg_marginals *marg,
                       const sg_ws *ws);

/* How many of a span's likelihood terms would widen the posterior. */
int sg_n_clipped(const sg_marginals *marg, sg_span span);

/* Takes the negative precisions off all sites; returns 0 when there were no such. */
int sg_sites_clip(sg_sites *sites);

/* Sets the sites of a span to those of a likelihood whose sites are exact; rows->gamma is that of
 * the span by now. */
void sg_exact_sites(const sg_rows *rows, sg_span span, sg_sites *sites);

#endif
