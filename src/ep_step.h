/* ep_step.h: how all sites move at once: a share of the way to where the tilts want them, alone or
 * mixed with past steps. */
#ifndef SG_EP_STEP_H
#define SG_EP_STEP_H

#include "anderson.h"
#include "sites.h"

/* The mixed iteration runs on x = (T_ab sqrt(v_a v_b), nu_a sqrt(v_a)), v the prior variances of
 * the latent values, so all numbers are free of units. */
typedef struct {
    sg_anderson mixing;
    const sg_rows *rows; /* for their prior: v */
} sg_stepper;

/* depth: past steps that are mixed; 0: the stepper holds nothing */
sg_stepper sg_stepper_new(const sg_rows *rows, int depth, const sg_ws *ws);

/* Moves all sites towards the targets tau, nu: beta times the plain step, mixed with the `past`
 * last ones. Where mixing would make a precision negative, more so than it was and is to be, the
 * site takes the plain step. */
void sg_sites_mix(sg_stepper *stepper, int past, sg_sites *sites, const double *tau,
                  const double *nu, double beta);

#endif
