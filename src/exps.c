/* exps.c: exponentials of many numbers (exps.h).
 *
 * exp() of the C library takes one number, for several times the time of its share of a vector
 * register. With GCC on x86-64 and glibc, of which the loader can choose among versions of a
 * function, numbers go abreast where the processor has registers of 4 or 8 of them. Elsewhere the
 * C library's exp() is as fast as what a compiler makes of the formula. */
#include <math.h>
#include <stdint.h>
#include "exps.h"
#include "types.h"

/* Sanitizers instrument the choice itself, which comes before they are ready. */
#if defined __GNUC__ && __GNUC__ >= 12 && !defined __clang__ && defined __x86_64__ && \
    defined __GLIBC__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define SG_VECTORS __attribute__((target_clones("default", "avx2", "arch=x86-64-v4"), \
                                  optimize("O3")))
#endif

#ifdef SG_VECTORS

enum { ABREAST = 16 };

/* 1 / 13!, 1 / 12!, ..., 1 / 0! */
static const double TAYLOR[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1};

/* out = exp(scale x) for ABREAST numbers; out may be x. With z = scale x and m the integer nearest
 * to z / log 2
 *   exp(z) = 2^m exp(r),  r = z - m log 2,  |r| <= log(2) / 2,
 * r in two steps, log 2 = HIGH + LOW, of which m HIGH is exact; and exp(r) by Taylor's polynomial
 * of degree 13, whose next term is below 5e-18. Adding SHIFT rounds to integers: they are the last
 * bits of the sum, and are added to the exponent. Returns 0, and leaves out alone, where some |z|
 * is above 700 or NaN, whose bits are larger numbers than those of 700. */
static inline __attribute__((always_inline)) int exp_abreast(double scale, const double *x,
                                                             double *out)
{
    const double SHIFT = 6755399441055744.0; /* 3 2^51 */
    const double HIGH = 6.93147180369123816490e-01, LOW = 1.90821492927058770002e-10;
    const uint64_t UNSIGNED = UINT64_MAX >> 1, BITS_OF_700 = 0x4085e00000000000;
    double z[ABREAST], t[ABREAST], p[ABREAST];
    uint64_t size[ABREAST], m[ABREAST], bits[ABREAST], large = 0;
    for (int k = 0; k < ABREAST; k++) {
        z[k] = scale * x[k];
        t[k] = z[k] * 1.4426950408889634074 + SHIFT;
        const double r = (z[k] - (t[k] - SHIFT) * HIGH) - (t[k] - SHIFT) * LOW;
        double sum = TAYLOR[0];
        for (size_t c = 1; c < sizeof TAYLOR / sizeof *TAYLOR; c++) sum = sum * r + TAYLOR[c];
        p[k] = sum;
    }
    memcpy(size, z, sizeof z);
    for (int k = 0; k < ABREAST; k++) large |= BITS_OF_700 - (size[k] & UNSIGNED);
    if (large >> 63) return 0;
    memcpy(m, t, sizeof t);
    memcpy(bits, p, sizeof p);
    for (int k = 0; k < ABREAST; k++) bits[k] += m[k] << 52;
    memcpy(out, bits, sizeof bits);
    return 1;
}

/* Computes some of them one by one, by the C library where |z| is large: the others are to have what
 * they would have beside other neighbours. */
static inline __attribute__((always_inline)) void exp_some(int count, double scale,
                                                           const double *x, double *out)
{
    for (int i = 0; i < count; i++) {
        double one[ABREAST] = {0};
        one[0] = x[i];
        out[i] = exp_abreast(scale, one, one) ? one[0] : exp(scale * x[i]);
    }
}

/* Goes ABREAST numbers at a time, the last ones beside zeros. */
SG_VECTORS void sg_exp_all(int n, double scale, const double *x, double *out)
{
    int i = 0;
    for (; i + ABREAST <= n; i += ABREAST) {
        if (!exp_abreast(scale, x + i, out + i)) exp_some(ABREAST, scale, x + i, out + i);
    }
    if (i == n) return;
    double rest[ABREAST] = {0};
    sg_copy(n - i, x + i, rest);
    if (!exp_abreast(scale, rest, rest)) exp_some(n - i, scale, x + i, rest);
    sg_copy(n - i, rest, out + i);
}

#else

void sg_exp_all(int n, double scale, const double *x, double *out)
{
    for (int i = 0; i < n; i++) out[i] = exp(scale * x[i]);
}

#endif
