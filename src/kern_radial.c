/* kern_radial.c: the radial functions of stationary kernels, see sg_radial in kernel.h: k(r2) with
 * k(0) = 1, its first and second derivative in r2, and that in the logarithm of a shape. Each is of
 * n squared distances in length scales, O(n), and may overwrite them. */
#include <math.h>
#include "kernel.h"

/* exp(-r2 / 2) */
static void rbf_value(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) out[i] = exp(-0.5 * r2[i]);
}

/* -exp(-r2 / 2) / 2 */
static void rbf_slope(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) out[i] = -0.5 * exp(-0.5 * r2[i]);
}

/* exp(-r2 / 2) / 4 */
static void rbf_curve(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) out[i] = 0.25 * exp(-0.5 * r2[i]);
}

/* exp(-r) */
static void matern12_value(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) out[i] = exp(-sqrt(r2[i]));
}

/* -exp(-r) / (2 r); without bound at r = 0, where it only ever meets r2 */
static void matern12_slope(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) {
        const double r = sqrt(r2[i]);
        out[i] = r > 0 ? -0.5 * exp(-r) / r : 0;
    }
}

/* (1 + s) exp(-s), s = sqrt(3) r; Inf 0 is 0 */
static void matern32_value(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) {
        const double s = sqrt(3 * r2[i]), e = exp(-s);
        out[i] = e > 0 ? (1 + s) * e : 0;
    }
}

/* -3/2 exp(-s) */
static void matern32_slope(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) out[i] = -1.5 * exp(-sqrt(3 * r2[i]));
}

/* 9/4 exp(-s) / s */
static void matern32_curve(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) {
        const double s = sqrt(3 * r2[i]);
        out[i] = s > 0 ? 2.25 * exp(-s) / s : 0;
    }
}

/* (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r */
static void matern52_value(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) {
        const double s = sqrt(5 * r2[i]), e = exp(-s);
        out[i] = e > 0 ? (1 + s + s * s / 3) * e : 0;
    }
}

/* -5/6 (1 + s) exp(-s) */
static void matern52_slope(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) {
        const double s = sqrt(5 * r2[i]), e = exp(-s);
        out[i] = e > 0 ? -5.0 / 6 * (1 + s) * e : 0;
    }
}

/* 25/12 exp(-s) */
static void matern52_curve(int n, const double *r2, double a, double *out)
{
    (void) a;
    for (int i = 0; i < n; i++) out[i] = 25.0 / 12 * exp(-sqrt(5 * r2[i]));
}

/* (1 + r2 / 2a)^-a, through log1p so that a -> infinity is the rbf kernel to all digits */
static void rq_value(int n, const double *r2, double a, double *out)
{
    for (int i = 0; i < n; i++) out[i] = exp(-a * log1p(r2[i] / (2 * a)));
}

/* -(1 + r2 / 2a)^(-a - 1) / 2 */
static void rq_slope(int n, const double *r2, double a, double *out)
{
    for (int i = 0; i < n; i++) out[i] = -0.5 * exp(-(a + 1) * log1p(r2[i] / (2 * a)));
}

/* (1 + 1/a) (1 + r2 / 2a)^(-a - 2) / 4 */
static void rq_curve(int n, const double *r2, double a, double *out)
{
    for (int i = 0; i < n; i++) {
        out[i] = 0.25 * (1 + 1 / a) * exp(-(a + 2) * log1p(r2[i] / (2 * a)));
    }
}

/* dk / dlog a = a k (t / (1 + t) - log(1 + t)), t = r2 / 2a */
static void rq_dshape(int n, const double *r2, double a, double *out)
{
    for (int i = 0; i < n; i++) {
        const double t = r2[i] / (2 * a), log_t = log1p(t);
        out[i] = isfinite(t) ? a * exp(-a * log_t) * (t / (1 + t) - log_t) : 0;
    }
}

const sg_radial sg_radial_rbf = {rbf_value, rbf_slope, rbf_curve, NULL, 0, -0.5};
const sg_radial sg_radial_matern12 = {matern12_value, matern12_slope, NULL, NULL, 1, 0};
const sg_radial sg_radial_matern32 = {matern32_value, matern32_slope, matern32_curve, NULL, 2, 0};
const sg_radial sg_radial_matern52 = {matern52_value, matern52_slope, matern52_curve, NULL, 3, 0};
const sg_radial sg_radial_rq = {rq_value, rq_slope, rq_curve, rq_dshape, 0, 0};
