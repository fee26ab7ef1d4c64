/* markov_form.h: a Gaussian process of one input t as a Markov process.
 *
 * Terms (kernel.h) of a kernel k(s, t) = sum_j variance_j matern_j(|s - t|) cos(omega_j (s - t))
 * (s t)^power_j are independent, so their states stand one below the other. A term is one cell, or
 * two with omega > 0, the cosine's and the sine's, which are independent copies; a cell has the
 * process and its order - 1 derivatives, that of order i divided by lambda^i, or one number that
 * stays (order 0):
 *   f(t) = h(t)'s(t),   h = t^power cos(omega t), t^power sin(omega t) at the cells' first states,
 *   s(t + D) = A s(t) + e,   A = exp(F D),   e ~ N(0, Q),   Q = P - A P A',
 * with the stationary covariance P (Hartikainen and Sarkka 2010; Solin and Sarkka 2014: periodic
 * kernels as cosines). A and Q are of cells, P(0) is block-diagonal. Angles are those of t itself
 * and no products of rotations, so nothing drifts over 10^6 steps. */
#ifndef SG_MARKOV_FORM_H
#define SG_MARKOV_FORM_H

#include "kernel.h"

/* Has a loop of some numbers done side by side: compilers leave those of unknown length alone. */
#if defined(_OPENMP) && _OPENMP >= 201307
#define SG_SIDE_BY_SIDE _Pragma("omp simd")
#define SG_SUM_SIDE_BY_SIDE _Pragma("omp simd reduction(+ : sum)")
#else
#define SG_SIDE_BY_SIDE
#define SG_SUM_SIDE_BY_SIDE
#endif

enum { SG_MARKOV_STATES = 24, SG_MARKOV_ORDER = 3 };

typedef struct {
    int at, size; /* first state; states */
    int term, sine; /* 0: the cosine's */
} sg_markov_cell;

typedef struct {
    int m;                 /* states */
    int terms, cells;
    int all, harmonics;    /* the kernel's terms, with those left out; of periodic parts */
    int moves;             /* is there a cell with A other than I? */
    sg_markov_term term[SG_MARKOV_TERMS];
    int origin[SG_MARKOV_TERMS]; /* of each term its place among all */
    sg_markov_cell cell[SG_MARKOV_STATES];
} sg_markov_form;

/* The transition of each term over a gap: A and Q, 3 x 3 or smaller, of leading dimension `order`;
 * with their derivatives in lambda. */
typedef struct {
    double gap;
    double A[SG_MARKOV_TERMS][SG_MARKOV_ORDER * SG_MARKOV_ORDER];
    double Q[SG_MARKOV_TERMS][SG_MARKOV_ORDER * SG_MARKOV_ORDER];
    double dA[SG_MARKOV_TERMS][SG_MARKOV_ORDER * SG_MARKOV_ORDER];
    double dQ[SG_MARKOV_TERMS][SG_MARKOV_ORDER * SG_MARKOV_ORDER];
} sg_markov_step;

/* Returns the states of the kernel with so many harmonics of its periodic parts; 0: it is not that
 * of a Markov process. */
int sg_markov_count(const sg_kernel *kernel, int harmonics);

/* The form of a kernel, with as many harmonics as there is room for. Terms of no variance beside
 * the others are left out. SG_NO_SITE: it has none. */
sg_status sg_markov_form_of(const sg_kernel *kernel, sg_markov_form *form);

/* Adds the gradient in the kernel's theta of a function with these derivatives in the terms. */
void sg_markov_adjoint(const sg_kernel *kernel, const sg_markov_form *form,
                       const sg_markov_slope *slope, double *dtheta);

/* h(t)[m]; and the functional of the derivative f'(t). */
void sg_markov_observe(const sg_markov_form *form, double t, double *h);
void sg_markov_observe_slope(const sg_markov_form *form, double t, double *h);
/* dh/domega at the states of a cell: the number at its first one. */
double sg_markov_observe_omega(const sg_markov_form *form, int cell, double t);

/* P[m x m] at the beginning. */
void sg_markov_stationary(const sg_markov_form *form, double *P);

/* The step over a gap; a step that is of this gap stays. */
void sg_markov_step_over(const sg_markov_form *form, double gap, sg_markov_step *step);

/* x = A x or, back, A'x of `count` vectors x[m x count]; P = A P A' + Q, or A'P A. O(m) a vector,
 * O(m^2). */
void sg_markov_move(const sg_markov_form *form, const sg_markov_step *step, int back, int count,
                    double *x);
void sg_markov_predict(const sg_markov_form *form, const sg_markov_step *step, double *P);
void sg_markov_pull(const sg_markov_form *form, const sg_markov_step *step, double *N);

#endif
