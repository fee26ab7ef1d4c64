/* ep_neighbours.h: expectation propagation of a process whose prior is by nearest neighbours
 * (vecchia.h): its precision Q = sum_i c_i c_i' / d_i with c_i = e_i - b_i is sparse, and so is
 * that of the posterior, Q + T (Zilber and Katzfuss 2021 have the Laplace approximation).
 *
 * Rows of the same inputs are one node, whose site is the sum of theirs. The host factors Q + T
 * (supernodes.h); the selected inverse has the marginals. With a linear mean of functions phi as in
 * full_trend.h, and s = (Q + T)^{-1} T phi = K W phi: U = (phi - s) L^{-1}. */
#ifndef SG_EP_NEIGHBOURS_H
#define SG_EP_NEIGHBOURS_H

#include "ep_loop.h"
#include "supernodes.h"

/* Factors Q + diag(tau) of the nodes: returns the numbers of L, which stay until the next call, or
 * NULL if there is no factor. */
typedef struct {
    void *self;
    const double *(*factor)(void *self, const double *tau);
} sg_factor_host;

typedef struct {
    int n;              /* nodes */
    const int *node;    /* rows: the node of a row, from 0 */
    sg_supernodes L;    /* of the posterior last begun */
    sg_factor_host host;
    double log_d;       /* sum of log d_i */
    double least;       /* share of a node's prior variance that d_i is at least */
    const double *diag; /* n: prior variances */
    int q;
    const double *phi;  /* n x q */
    double *tau, *nu;   /* n: sites of nodes */
    double *Z;          /* selected inverse, of the size of L's numbers */
    double *mu;         /* n: mean of the process without the linear mean */
    double *s;          /* n x q: s L^{-1} */
    double *U;          /* n x q */
    double *root, *coef; /* q x q: L^{-1}; q: E c */
} sg_neighbour_process;

/* Lends what a process needs besides what is given. numbers: of L */
void sg_neighbour_process_new(sg_neighbour_process *process, size_t numbers, const sg_ws *ws);

/* Runs sg_ep_loop() for one process, w = 1. The process is left at the posterior of the sites. J
 * [rows x q] as in full_trend.h, NULL: there is no mean. */
sg_status sg_ep_neighbours_run(const sg_rows *rows, sg_neighbour_process *process,
                               const sg_ep_options *options, sg_sites *sites, sg_marginals *marg,
                               double *J, sg_ep_report *report, const sg_ws *ws);

/* M[(k + 1) x (k + 1) x n]: of each node the second moments of its neighbours near[k x n] and
 * itself, those of s L^{-1} with them, as sg_vecchia_prior_gradient() takes them. */
void sg_neighbour_moments(const sg_neighbour_process *process, int k, const int *near, double *M);

#endif
