/* ep_step.c: mixed steps of all sites (anderson.h), in units of the prior.
 *
 * In units of the prior, x_i = (T_ab sqrt(v_a v_b), nu_a sqrt(v_a)) has entries of one size
 * whatever the units of the response and however far a row is from the basis: the least squares of
 * the mixing would otherwise be those of a few rows. O(n C w^2 m) for m past steps. */
#include <math.h>
#include <Rmath.h>
#include "block.h"
#include "ep_step.h"
#include "tolerances.h"

/* Allocates `depth` past steps, or makes a stepper that is not used where depth is 0. */
sg_stepper sg_stepper_new(const sg_rows *rows, int depth, const sg_ws *ws)
{
    const sg_layout layout = sg_layout_of(rows);
    const size_t size = sg_blocks_of(layout) + sg_values_of(layout);
    sg_stepper stepper = {.rows = rows};
    if (depth > 0) stepper.mixing = sg_anderson_new(size, depth, ws);
    return stepper;
}

/* The unit of a site's shift, the standard deviation of its prior; 0 for a row far from the whole
 * basis, which moves no site. The square of a variance below 1e-154 would be 0, and a precision in
 * units of it no number. */
static double unit_of(double prior)
{
    return prior > SG_NO_VARIANCE ? sqrt(prior) : 0;
}

/* Writes the sites in units of the prior: x = (T_ab sqrt(v_a v_b), nu_a sqrt(v_a)). x: the blocks
 * of all sites, then their shifts. */
static void to_units(const sg_rows *rows, const double *tau, const double *nu, double *x)
{
    const sg_layout l = sg_layout_of(rows);
    const size_t w = l.w, ww = w * w;
    double *shifts = x + sg_blocks_of(l);
    for (int c = 0; c < l.C; c++) {
        for (int i = 0; i < l.n; i++) {
            const size_t at = i + (size_t) l.n * c;
            const double *v = sg_prior_of(rows, i, c);
            for (size_t a = 0; a < w; a++) {
                const double unit = unit_of(v[a]);
                shifts[a + w * at] = unit * nu[a + w * at];
                for (size_t b = 0; b < w; b++) {
                    const size_t k = a + w * b + ww * at;
                    x[k] = unit * unit_of(v[b]) * tau[k];
                }
            }
        }
    }
}

/* Returns the least eigenvalue of a block. O(w^3) in blocks. */
static double least(int w, const double *block)
{
    double U[SG_LIK_MAX_WIDTH * SG_LIK_MAX_WIDTH], lambda[SG_LIK_MAX_WIDTH];
    if (w == 1) return *block;
    sg_block_eigen(w, block, U, lambda);
    for (int a = 1; a < w; a++) lambda[0] = fmin2(lambda[0], lambda[a]);
    return lambda[0];
}

/* Does the mixed block have a precision that is more negative than the old one's, the wanted one's
 * and 0? wanted = old + way. O(w^3) in blocks. */
static int strays(int w, const double *mixed, const double *old, const double *way)
{
    double wanted[SG_LIK_MAX_WIDTH * SG_LIK_MAX_WIDTH];
    for (int k = 0; k < w * w; k++) wanted[k] = old[k] + way[k];
    return !(least(w, mixed) >= fmin2(fmin2(least(w, old), least(w, wanted)), 0));
}

/* Takes the site of row i and process c from its place in `next`, or the plain step's. */
static void take(const sg_rows *rows, int i, int c, double beta, const double *x, const double *f,
                 double *next, sg_sites *sites)
{
    const sg_layout l = sites->layout;
    const size_t w = l.w, ww = w * w, at = i + (size_t) l.n * c;
    const size_t T = ww * at, v = sg_blocks_of(l) + w * at;
    const double *prior = sg_prior_of(rows, i, c);
    if (strays(l.w, next + T, x + T, f + T)) {
        for (size_t k = 0; k < ww; k++) next[T + k] = x[T + k] + beta * f[T + k];
        for (size_t a = 0; a < w; a++) next[v + a] = x[v + a] + beta * f[v + a];
    }
    for (size_t a = 0; a < w; a++) {
        const double unit = unit_of(prior[a]);
        if (unit == 0) continue; /* nothing there to be moved */
        sites->nu[w * at + a] = next[v + a] / unit;
        for (size_t b = 0; b < w; b++) {
            const size_t k = T + a + w * b;
            if (unit_of(prior[b]) > 0) sites->tau[k] = next[k] / (unit * unit_of(prior[b]));
        }
    }
}

/* Mixes the step to tau and nu with `past` steps before it, and writes the sites. Step length
 * beta. */
void sg_sites_mix(sg_stepper *stepper, int past, sg_sites *sites, const double *tau,
                  const double *nu, double beta)
{
    const sg_layout l = sites->layout;
    const size_t size = sg_blocks_of(l) + sg_values_of(l);
    double *x = sg_anderson_x(&stepper->mixing), *f = sg_anderson_f(&stepper->mixing);
    to_units(stepper->rows, sites->tau, sites->nu, x);
    to_units(stepper->rows, tau, nu, f);
    for (size_t k = 0; k < size; k++) f[k] -= x[k];
    double *next = sg_anderson_step(&stepper->mixing, past, beta);
    for (int c = 0; c < l.C; c++) {
        for (int i = 0; i < l.n; i++) take(stepper->rows, i, c, beta, x, f, next, sites);
    }
}
