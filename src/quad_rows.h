/* quad_rows.h: one-dimensional integrals of many rows at once, each against its own Gaussian, of
 * integrands that are evaluated for many points in one call, as R does with a function that a user
 * wrote. quad.h and smooth.h ask for one point after the other, of a likelihood whose place and
 * width are known; here nothing is known of it but values, and each round asks for all points that
 * the open rows want.
 *
 * t is in standard deviations of the Gaussian. Looks come first, equidistant nodes (the trapezoid
 * rule), whose error is squared when the step is halved: 33 of them, and 65 where the integrand
 * counts, suffice for smooth integrands. Other rows are searched for places where the integrand
 * jumps to 0, and for its peak, and the stretches between those are bisected until Gauss-Kronrod
 * 7-15 agrees with itself. Errors are about `tolerance` of the integral and of its moments; rows
 * whose panels do not suffice, as of an integrand with many jumps between values other than 0, are
 * reported where the error is larger than is documented. */
#ifndef SG_QUAD_ROWS_H
#define SG_QUAD_ROWS_H

#include "types.h"

/* The integrand of row i is exp(log) times the standard normal density. */
typedef struct {
    void *ctx;
    /* Writes log, and nextra further numbers, of m points: point k belongs to row[k]. -Inf is 0. */
    void (*logs)(void *ctx, int m, const int *row, const double *t, double *log, double *extra);
    int nextra;
    double tolerance;
    const double *around; /* of each row a t near which it may be looked for; NULL: there is none */
    const double *unit;   /* with `around`, a distance from it */
    /* Called where the panels of a row leave an error above LOST of an integral; may jump. */
    void (*lost)(void *of, double error);
    void *of;
} sg_row_integrands;

/* Nodes of all rows; the weights of a row add up to 1. */
typedef struct {
    int count;
    int *row;
    double *t, *weight, *extra; /* extra: nextra x count */
} sg_row_nodes;

/* Writes the logarithms of the integrals of n rows, and which of the integrands are 0 somewhere. A
 * row without a place where the integrand is not 0 has -Inf, and no nodes. Nodes and work space are
 * the workspace's, until the caller releases them. Some hundred rows at a time. */
sg_row_nodes sg_quad_rows(const sg_row_integrands *in, int n, double *logz, int *jumps,
                          const sg_ws *ws);

#endif
