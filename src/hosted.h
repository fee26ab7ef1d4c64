/* hosted.h: the tilts of a span of rows whose likelihood the host has, as R does of a function that
 * a user wrote (sg_lik_host in lik.h): one call for all of them. C = 1. On the host's own thread;
 * the host may jump. */
#ifndef SG_HOSTED_H
#define SG_HOSTED_H

#include "sites.h"

/* Tilts as sg_tilt_rows() does, and adds dlogZ/dtheta as sg_tilt_rows_dpar() does. */
sg_status sg_host_tilts(const sg_rows *rows, sg_marginals *marg, sg_span span, const sg_ws *ws);
void sg_host_dpar(const sg_rows *rows, const sg_marginals *marg, sg_span span, double *dlik,
                  const sg_ws *ws);

#endif
