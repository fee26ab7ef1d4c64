/* anderson.c: Anderson mixing. Iterates are kept, not their differences, which the sums below take
 * as they go: half the memory of keeping both.
 *
 * For a fixed point iteration x -> x + f(x), with dx_j and df_j the differences of the last
 * iterates and of their residuals, the next iterate is
 *   x + beta f - sum_j gamma_j (dx_j + beta df_j),   gamma = argmin |f - sum_j gamma_j df_j|
 * (Anderson 1965; Walker and Ni 2011). O(n m) for m past differences, as all but one row of their
 * Gram matrix is known. */
#include "anderson.h"
#include "la.h"

/* Allocates depth + 1 iterates of n numbers. */
sg_anderson sg_anderson_new(size_t n, int depth, const sg_ws *ws)
{
    const size_t kept = depth + 1;
    const sg_anderson a = {
        .n = n, .depth = depth, .x = sg_doubles(ws, n * kept), .f = sg_doubles(ws, n * kept),
        .next = sg_doubles(ws, n), .gram = sg_doubles(ws, kept * kept),
        .A = sg_doubles(ws, kept * kept), .gamma = sg_doubles(ws, kept)
    };
    return a;
}

/* Returns where the iterate `back` steps before the present one stands, in the circular store. */
static int place(const sg_anderson *a, int back)
{
    return (a->at - back + a->depth + 1) % (a->depth + 1);
}

/* The difference that ends `back` iterates before the present one, in either array, as its two
 * ends. */
typedef struct {
    const double *to, *from;
} difference;

/* Returns the difference that ends `back` iterates before the present one, as its two ends. */
static difference difference_of(const sg_anderson *a, const double *array, int back)
{
    const difference d = {array + a->n * place(a, back), array + a->n * place(a, back + 1)};
    return d;
}

/* Returns the inner product of two differences, computed as it goes. */
static double product(size_t n, difference d, difference e)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (d.to[i] - d.from[i]) * (e.to[i] - e.from[i]);
    return sum;
}

/* Computes the products of the newest difference with all others; the rest of the Gram matrix
 * stays. */
static void renew_gram(sg_anderson *a, int past)
{
    const int kept = a->depth + 1, p = a->at;
    const difference newest = difference_of(a, a->f, 0);
    for (int back = 0; back < past; back++) {
        const int q = place(a, back);
        const double value = product(a->n, newest, difference_of(a, a->f, back));
        a->gram[p + kept * q] = a->gram[q + kept * p] = value;
    }
}

/* Solves A gamma = gamma in place by the normal equations; returns 0 where that fails. A ridge at
 * rounding level stands in for a rank decision: the residuals of a converging iteration are nearly
 * dependent. */
int sg_anderson_solve(int m, double *A, double *gamma)
{
    const double RIDGE = 1e-12;
    double trace = 0;
    for (int j = 0; j < m; j++) trace += A[j + m * j];
    for (int j = 0; j < m; j++) A[j + m * j] += RIDGE * trace;
    if (m == 0 || sg_potrf(m, A, m) != SG_OK) return 0;
    sg_trsv('T', m, A, m, gamma);
    sg_trsv('N', m, A, m, gamma);
    return 1;
}

/* Computes gamma from the Gram matrix and the products with f; returns whether there is one. */
static int least_squares(sg_anderson *a, int past, const double *f)
{
    const int kept = a->depth + 1;
    for (int j = 0; j < past; j++) {
        const difference d = difference_of(a, a->f, j);
        a->gamma[j] = 0;
        for (size_t i = 0; i < a->n; i++) a->gamma[j] += (d.to[i] - d.from[i]) * f[i];
        for (int i = 0; i <= j; i++) {
            a->A[i + past * j] = a->gram[place(a, i) + kept * place(a, j)];
        }
    }
    return sg_anderson_solve(past, a->A, a->gamma);
}

/* Returns the mixed iterate, or where the past gives no solution the plain step x + beta f. */
double *sg_anderson_step(sg_anderson *a, int past, double beta)
{
    const double *x = sg_anderson_x(a), *f = sg_anderson_f(a);
    double *next = a->next;
    for (size_t i = 0; i < a->n; i++) next[i] = x[i] + beta * f[i];
    if (past > 0) renew_gram(a, past);
    const int mixed = least_squares(a, past, f);
    for (int j = 0; mixed && j < past; j++) {
        const difference dx = difference_of(a, a->x, j), df = difference_of(a, a->f, j);
        const double gamma = a->gamma[j];
        for (size_t i = 0; i < a->n; i++) {
            next[i] -= gamma * (dx.to[i] - dx.from[i] + beta * (df.to[i] - df.from[i]));
        }
    }
    a->at = (a->at + 1) % (a->depth + 1);
    return next;
}
