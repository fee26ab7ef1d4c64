/* basis_rows.h: rows seen through a frozen basis, a window of them at a time, in spans that threads
 * take.
 *
 * The latent function is split into the part a basis B of d points carries and a residual:
 *   u = v'z + residual,  v = R^{-T} k(x),  z ~ N(0, I) a priori,  K_B = R'R,
 *   residual variance gamma = K(x,x) - |v|^2.
 * Where the coefficients c ~ N(0, I) of a linear mean are integrated out (full_trend.h), they are
 * carried, too: z has them last, v ends with phi(x), and R with an identity.
 * A site is on the carried part v'z. With w latent values to a row, a row of V is w rows, those of
 * x[n w x D], and gamma is w x w blocks.
 *
 * If V is not held, a window of it costs K_nB and a product with R^{-1}. V A^{-1}, the rows as a
 * posterior N(., (A'A)^{-1}) of z sees them, costs the same, a product with R^{-1} A^{-1}, once
 * gamma is known. */
#ifndef SG_BASIS_ROWS_H
#define SG_BASIS_ROWS_H

#include "kernel.h"
#include "par.h"
#include "sites.h"

/* Rows of a span: products of so many cost as little a row as those of more, and 2000 rows are
 * spans enough for a few threads. Rows of a window. */
enum { SG_SPAN = 128, SG_WINDOW = 16 * SG_SPAN };

typedef struct {
    const sg_kernel *kernel;
    int n, w, D, d;          /* rows, values of a row, inputs, numbers of z */
    int q;                   /* coefficients of a mean; d - q is the number of points */
    const double *x, *basis; /* n w x D, (d - q) x D */
    const double *phi;       /* n w x q: the mean's functions at the rows */
    sg_points points;        /* the basis as the kernel sees it */
    double *Rinv;            /* d x d: R'R = K_B + jitter diag(K_B), upper and inverted; */
    double *variance;        /* K_B is kept below Rinv's diagonal, and its own here */
    double jitter;           /* relative to K_B's diagonal; 0 unless K_B could not be factored */
    double rounding;         /* what a number of V may be off by */
    double *gamma;           /* n blocks */
    double *prior;           /* n w: variances of what the basis carries, |v|^2 */
    double *V;               /* spans one after the other, m w x d each; NULL: seen at every look */
    /* where V is not held: */
    double *scratch;           /* a window, span after span as V */
    int first;               /* its first row */
    sg_par_memo looks;       /* of the loops that see them */
    int known;               /* so many of the first rows have had their first look */
    const double *Ainv;      /* of sg_basis_set_posterior(), the caller's; NULL: absent */
    double *RAinv;           /* d x d upper: R^{-1} A^{-1} */
} sg_basis_rows;

/* A linear mean of q functions, phi[n w x q] at the rows; q = 0: there is none. */
typedef struct {
    int q;
    const double *phi;
} sg_basis_mean;

/* Factor of basis[points x D], d = points + q; V is held if n w d <= pool. gamma[n blocks] and
 * prior[n w] are the caller's; they are filled where V is held, and else with a row's first look.
 * O(d^3), and where V is held O(n w d (d + D)). SG_NOT_PD when even a jitter of 1e-6 does not help.
 * */
sg_status sg_basis_rows_new(const sg_kernel *kernel, sg_layout layout, int D, const double *x,
                            int points, const double *basis, sg_basis_mean mean, double pool,
                            double *gamma, double *prior, sg_basis_rows *b, const sg_ws *ws);

/* The number of points */
static inline int sg_basis_points(const sg_basis_rows *b) { return b->d - b->q; }

/* K_B of the points alone, into out[points x points]. */
void sg_basis_gram(const sg_basis_rows *b, double *out);

/* R of the points, zero below its diagonal, into out[points x points]. R is not kept, as fits alone
 * want it and no evaluation does. all[d x d]: scratch. O(d^3) */
void sg_basis_factor(const sg_basis_rows *b, double *all, double *out);

/* Looks at a window: any rows where V is held, else SG_WINDOW at most. It begins with a span, and
 * so does what follows it. With it come gamma and prior of its rows. On threads. */
void sg_basis_look(sg_basis_rows *b, sg_span window, const sg_ws *ws);

/* V, or V A^{-1}, of a span of the window last looked at: m w x d. */
static inline const double *sg_basis_seen(const sg_basis_rows *b, sg_span span)
{
    const size_t width = (size_t) b->w * b->d;
    return b->V ? b->V + width * span.from : b->scratch + width * (span.from - b->first);
}

/* A^{-1}, upper triangular and not copied, for looks to come by sg_basis_look_posterior(), where V
 * is not held. NULL: these look at V. O(d^3) */
void sg_basis_set_posterior(sg_basis_rows *b, const double *Ainv);

/* Takes gamma of all rows, as looks at them have left it at another time, for that of their first
 * look, and prior with it. K(x,x) of the kernel that it was found with. V is not held. */
void sg_basis_know(sg_basis_rows *b, const double *gamma, const sg_ws *ws);

/* A look at V A^{-1}; all else as sg_basis_look(). Windows have their first look in order. */
void sg_basis_look_posterior(sg_basis_rows *b, sg_span window, const sg_ws *ws);

/* K_nB of a span into out[m w x d], and after it phi; x_span[m w x D], its inputs, is filled on the
 * way. */
void sg_basis_kernel(const sg_basis_rows *b, sg_span span, double *x_span, double *out,
                     const sg_ws *ws);

/* Bases of C processes: one they share (count 1), or one each (count C). */
typedef struct {
    int count, C;
    int kernels;         /* 1, or one for each basis */
    sg_basis_rows *each;
} sg_bases;

/* The processes on basis g are first .. last - 1. */
static inline int sg_first_process(const sg_bases *b, int g) { return b->count == 1 ? 0 : g; }
static inline int sg_last_process(const sg_bases *b, int g) { return b->count == 1 ? b->C : g + 1; }

/* the basis of process c */
static inline sg_basis_rows *sg_basis_of(const sg_bases *b, int c)
{
    return b->each + (b->count == 1 ? 0 : c);
}

/* Rows of a window: all, if every V is held. */
int sg_window_of(const sg_bases *b);

/* How many parts, each with sums of its own, the rows are divided into: d x d numbers for each of
 * so many processes. As few as keep some threads busy, and together no more numbers than half of V,
 * or of a window of it where it is not held. */
int sg_basis_parts(const sg_bases *b, int processes);

/* out[m w x d] = diag(blocks) X, the w x w blocks of a span times its rows of X[m w x d] */
void sg_apply_blocks(int w, int m, int d, const double *blocks, const double *X, double *out);

#endif
