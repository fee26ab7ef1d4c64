/* sites.h: Gaussian sites, cavities and tilts, one row at a time; what every EP shares.
 *
 * A row has C latent values, independent in the posterior (C = 1 but for classes). Arrays over
 * latent values have n x C entries, all rows of the first class first. A latent value's site is
 * exp(-tau u^2 / 2 + nu u). Offsets (known prior means) are added to a marginal's
 * mean just before the likelihood sees it, so that everything here is about a process of mean 0. */
#ifndef SG_SITES_H
#define SG_SITES_H

#include "anderson.h"
#include "lik.h"
#include "types.h"

/* The rows as a likelihood sees them. */
typedef struct {
    int n;
    const sg_lik *lik;
    const double *y;      /* q x n */
    const double *offset; /* n */
    const double *gamma;  /* n x C: variance of u that the marginals leave out; NULL for none */
} sg_rows;

static inline int sg_latents(const sg_rows *rows) { return rows->n * rows->lik->C; }

/* Do the latent values of a row have a likelihood in common? */
static inline int sg_is_coupled(const sg_rows *rows)
{
    return rows->lik->type->classes && rows->lik->C > 1;
}

static inline double sg_extra_var(const sg_rows *rows, int at)
{
    return rows->gamma ? rows->gamma[at] : 0;
}

typedef struct {
    int n; /* latent values */
    double *tau, *nu;
    int narrow; /* may no precision be negative? */
} sg_sites;

/* The part of d2, at a cavity of variance s2, that a site can have: where sites are to narrow, a
 * likelihood that widens the marginal is taken for one that shifts it and no more; and so it is
 * where it widens it by no more than the rounding of a quadrature. */
static inline double sg_site_bend(const sg_sites *sites, double s2, double d2)
{
    const double ROUNDING = 1e-12;
    return d2 > 0 && (sites->narrow || s2 * d2 < ROUNDING) ? 0 : d2;
}

/* All that EP knows at the rows under given sites; every array but logz is over latent values. */
typedef struct {
    int n, rows;                /* latent values; rows */
    double *mean, *var;         /* posterior marginals */
    double *g;                  /* 1 - tau var, > 0: the cavity is a distribution */
    double *alpha;              /* nu - tau mean = K^{-1} mean */
    double *cav_mean, *cav_var; /* marginals without the row's own site */
    double *logz;               /* rows: log Z of the tilts at the cavities, */
    double *d1, *d2;            /* and its derivatives */
} sg_marginals;

sg_marginals sg_marginals_new(int rows, int C, const sg_ws *ws);

/* Class c alone, as of one latent value a row; logz stays that of all. */
sg_sites sg_sites_of_class(const sg_sites *sites, int rows, int c);
sg_marginals sg_marginals_of_class(const sg_marginals *marg, int c);

/* mu[C], s2[C]: the cavities of row i as its likelihood sees them, with offset and gamma. */
void sg_cavities_of_row(const sg_rows *rows, const sg_marginals *marg, int i, double *mu,
                        double *s2);

/* Site of a tilt at the marginal (mu, s2): D = 1 + s2 d2, tau = -d2/D, nu = (d1 - mu d2)/D
 * (formulas 81-83 in natural parameters). d2 = 0 is legal, and where the likelihood is not
 * log-concave d2 > 0, of which tau < 0 is the image: the row widens the posterior. Returns 0 when D
 * <= 0 or a number is not finite: there is no such site, and tau, nu are left alone. */
int sg_site_from_tilt(double mu, double s2, double d1, double d2, double *tau, double *nu);

/* Both KL divergences of a step along a marginal of variance s2 (thesis 3.16): kl[0] new against
 * old, kl[1] old against new. */
void sg_step_kl(double d1, double d2, double s2, double kl[2]);

/* cav_var = var / g, cav_mean = mean - cav_var alpha: formulas 78-79 with nothing that cancels when
 * a site is nearly all the row's precision. */
void sg_cavities(sg_marginals *marg);

/* Tilts of all rows at their cavities, gamma added to the variance. SG_NOT_FINITE when a number is
 * not. */
sg_status sg_tilt_rows(const sg_rows *rows, sg_marginals *marg, const sg_ws *ws);

/* How far the sites are from a fixed point, free of units: the largest of
 * |d1 - alpha| sqrt(cav_var) and |-d2 - tau g| cav_var. At a fixed point alpha = d1 and
 * tau g = -d2, which is what the evidence's gradient is made of. */
double sg_sites_residual(const sg_sites *sites, const sg_marginals *marg);

/* The iteration that batch sweeps run: x = (tau v, nu sqrt(v)), v a fixed scale per row (the
 * prior variance), so that all numbers are free of units. */
typedef struct {
    sg_anderson mixing;
    const double *scale;   /* n: prior variances of the latent values */
    double *x, *f, *next;  /* 2n */
} sg_stepper;

sg_stepper sg_stepper_new(int n, const double *scale, const sg_ws *ws);

/* The tilts' sites into tau, nu [n]; where a tilt has none the old one stays. Returns how many. */
int sg_sites_of_tilts(const sg_sites *sites, const sg_marginals *marg, double *tau, double *nu);

/* Moves all sites towards the targets tau, nu: a share beta of the plain step, mixed with the past.
 * Where mixing would make a precision negative, more so than it was and is to be, the site takes
 * the plain step. */
void sg_sites_step(sg_stepper *stepper, sg_sites *sites, const double *tau, const double *nu,
                   double beta);

/* log evidence from cavities and tilts (formulas 87-88; at any sites, stationary at a fixed point):
 *   sum logz_i - sum (log(g)/2 + cav_mean alpha / 2) - log|A|
 * over rows and over latent values, which equals sum (logZ - logZ~) - log|A| + m'nu / 2, but adds
 * no large terms of opposite sign when the sites are sharp. log_det_A: log of the determinant of
 * the factor A, of all classes' factors together. */
double sg_log_evidence(const sg_marginals *marg, double log_det_A);

#endif
