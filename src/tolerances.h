/* tolerances.h: below which differences numbers are equal, and below which they are zero.
 *
 * Each constant has a line on what it protects and the files that use it. Accuracies of quadratures
 * stand beside their rules (quad.c, smooth.c, gumbel.c), steps of EP in ep_loop.c. */
#ifndef SG_TOLERANCES_H
#define SG_TOLERANCES_H

/* ---- Ties ---- */

/* Scores and gains that differ by less, relatively, are equal, and the earliest row wins: which
 * row is chosen must not hang on the order of a BLAS's summation. An exchange of the IVM must gain
 * more, or it might not end. exchange.c, ivm.c */
static const double SG_TIE = 1e-10;

/* ---- Zero ---- */

/* A variance below this is 0: the square of one below 1e-162 vanishes, and a precision in units of
 * it is no number. lik.h, ep_step.c */
static const double SG_NO_VARIANCE = 1e-200;

/* A site with tau s2 below this is not worth a stub: its root would scale rounding. active.c,
 * ivm_criterion.c */
static const double SG_NO_SITE_SHARE = 1e-14;

/* s2 d2 > 0 below this is the rounding of a quadrature, and so is an eigenvalue of L'd2 L: the tilt
 * does not widen the marginal, and nothing is divided by it. sites.h, block.c */
static const double SG_NO_BEND = 1e-12;

/* A pivot of K_B below this share of its diagonal is rounding: the matrix has passed the
 * factorisation by accident. basis_rows.c */
static const double SG_NO_PIVOT = 1e-14;

/* A class's variance left below this share of all of it is rounding: the covariance of the classes
 * has no further column. coupled.c */
static const double SG_NO_CLASS_VARIANCE = 1e-13;

/* ---- Digits ---- */

/* Share 1 - g = tau var of a site below which var = (1 - g) / tau keeps fewer digits than
 * K_ii - (K W K)_ii. ep_full.c, full_factor.c, ivm_criterion.c */
static const double SG_WEAK_SITE = 1e-5;

/* A value that is known without noise has this share of its variance as noise where others are
 * given it, so that points that nearly coincide leave a factor. vecchia.c */
static const double SG_VECCHIA_JITTER = 1e-12;

/* A value of which less than this share of its variance is left counts no more than this share
 * beside a slope, where rows are chosen for both. informative.c */
static const double SG_KNOWN_SHARE = 1e-8;

/* Residual of alpha = nu - T mean, relatively, at which refinement stops. ep_full.c */
static const double SG_REFINED = 1e-13;

/* Errors of the log evidence, in nats and in nats for each row of the sums, up to which a product
 * may be spared (spares_product() says how they are bounded). ep_batch.c */
static const double SG_EVIDENCE_ERROR = 1e-5, SG_EVIDENCE_ERROR_A_ROW = 1e-8;

/* ---- Validity ---- */

/* A cavity that is so many times wider than the prior is not valid: no cavity of sites that only
 * narrow is wider than the prior. sites.c */
static const double SG_WIDE_CAVITY = 100;

/* The least 1 - D s2 of a row's coupled classes: variances beyond what tilts can resolve. coupled.c
 */
static const double SG_LEAST_SHRINKAGE = 1e-10;

/* ---- Savings ---- */

/* A candidate of several classes is scored anew once its marginals have moved by more: of a
 * standard deviation, and of a variance. active.c */
static const double SG_STILL = 1e-3;

/* Length of the residual, of the first one, at which the coupled Newton step is close enough: the
 * next sweep corrects it. coupled.c */
static const double SG_NEWTON_RESIDUAL = 1e-3;

/* M and a are rebuilt from S and t (weights.h) after so many row steps, a change of the basis
 * counting as ten, a block of rows that moves them at once as one: often enough for their digits,
 * so rarely that O(d^3) is a tenth of the rows' O(d^2) each. online.c, ep_sparse.c */
static inline int sg_is_stale(double steps, int d) { return steps >= 10.0 * d + 100; }

#endif
