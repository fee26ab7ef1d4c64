/* active.h: the representation of the informative vector machine (IVM paper, appendix C.1): an
 * active set with its sites, and the posterior moments of all candidates.
 *
 * With Pi = diag(tau) over the d active rows and U'U = I + Pi^1/2 K_I Pi^1/2 (paper: U = L'), a
 * row x is seen as m = U^{-T} Pi^1/2 k(x), its stub, and
 *   mean(x) = m'beta,   var(x) = K(x,x) - |m|^2.
 *
 * Several latent functions (section 4) have an active set each, and as many sg_candidates of the
 * same rows. */
#ifndef SG_ACTIVE_H
#define SG_ACTIVE_H

#include "kernel.h"
#include "par.h"
#include "sites.h"

typedef struct {
    int size, d;       /* room, rows in use */
    int *row;          /* size: row numbers in order of inclusion, from 0 */
    double *tau, *nu;  /* size: sites */
    double *U;         /* size x size upper */
    double *beta;      /* size */
    double *gain;      /* size: what each inclusion gained */
    double *logz;      /* size: log evidence after each inclusion, up to candidates given up */
} sg_active;

sg_active sg_active_new(int size, const sg_ws *ws);

/* The candidates of one latent function, row numbers increasing; every array has an entry for each
 * of the m. */
typedef struct sg_candidates sg_candidates;

struct sg_candidates {
    int m;
    int *row, *taken;    /* row number; in the active set already? */
    double *mean, *var;  /* posterior marginals (paper: h, a) */
    double *seen_mean, *seen_var; /* those the row was scored at */
    double *logz;        /* tilts at the marginals of all latent functions: the first one's */
    double *tau, *nu;    /* the sites they would have */
    double *gain;        /* what their inclusion would gain; -infinity: cannot be included */
    sg_points points;    /* their inputs as the kernel sees them */
    const sg_candidates *like; /* whose points these are, of the same kernel; NULL: its own */
    double *M;           /* m x d: stubs; behind them columns to lend */
    double room;         /* doubles that M has room for */
    sg_par_memo inclusions; /* of the loops that take a row in */
};

/* How many columns of the m candidates M has room for. */
double sg_candidates_columns(const sg_candidates *c);

/* Column s of M, [m], s >= d: lent for kernel columns to wait in (columns.h), until an inclusion's
 * stub takes it (the next one takes column d) or sg_candidates_keep() is called. The function that
 * lends it keeps count of what is there. */
double *sg_candidates_spare(const sg_candidates *c, int s);

/* All n rows of x, nothing included; room for `stubs` doubles in M. */
sg_candidates sg_candidates_new(const sg_kernel *kernel, int n, const double *x,
                                const sg_candidates *like, double stubs, const sg_ws *ws);

/* Only the candidates with kept[j] not 0 stay, d stubs each; `like` goes first. O(m (p + d)). */
void sg_candidates_keep(sg_candidates *c, int d, const int *kept);

typedef enum {
    SG_SELECT_INFORMATION, /* KL divergence of the posterior after from that before (paper eq. 5) */
    SG_SELECT_ENTROPY,     /* fall of the entropy of the row's own marginal */
    SG_SELECT_RANDOM       /* by tie_break[] alone, the smallest first */
} sg_select;

/* Tilts, sites and gains of all candidates of the C latent functions c[C] as they stand; where
 * there are several, only of rows whose marginals have moved (SG_STILL) since they were scored
 * (winners by sg_candidates_score_row()). A row whose site would have no precision, or that has
 * none, cannot be included, nor one that would widen the posterior (tau < 0): what it has to teach
 * is not in a stub. O(m) tilts. */
void sg_candidates_score(const sg_rows *rows, sg_select select, const double *tie_break, int C,
                         sg_candidates *c, const sg_ws *ws);

/* The same for candidate j alone. */
void sg_candidates_score_row(const sg_rows *rows, sg_select select, const double *tie_break, int C,
                             sg_candidates *c, int j);

/* Candidate j joins the active set and its stub takes column d of M; kernel_column[m]: the kernel
 * between it and all candidates, which may lie in any spare column, that one, too. After
 * sg_candidates_score(). O(m d). */
void sg_active_include(sg_active *active, sg_candidates *c, int j, const double *kernel_column,
                       const sg_ws *ws);

/* The same with a site of its own: tau > 0. */
void sg_active_include_site(sg_active *active, sg_candidates *c, int j, double tau, double nu,
                            const double *kernel_column, const sg_ws *ws);

/* Position k of the active set leaves: marginals become those without its site (notes eqs 8, 9).
 * O(m d) rotations of the stubs. */
void sg_active_remove(sg_active *active, sg_candidates *c, int k, const sg_ws *ws);

/* Returns the entropy that each position takes off the posterior, out[k] = -log[(U'U)^{-1}]_kk / 2:
 * the fall of log|U| without it. O(d^3). */
sg_status sg_active_worth(const sg_active *active, double *out, const sg_ws *ws);

/* The stored form (posterior.h): alpha = Pi^1/2 U^{-1} beta and G = Pi^1/2 U^{-1}, d and d x d,
 * zero below the diagonal. */
sg_status sg_active_stored(const sg_active *active, double *alpha, double *G);

#endif
