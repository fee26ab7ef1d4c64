/* gumbel.c: means of exp(-q) and q exp(-q), q = exp(u), u ~ N(m - v, s2), at equidistant v
 * (gumbel.h). The trapezoid rule errs by the Fourier transform of its integrand at 2 pi / step: of
 * exp(-exp(u)) that is |Gamma(i w)|, about exp(-pi w / 2), of the normal density
 * exp(-s2 w^2 / 2): below 1e-12 with the steps here, and 1e-10 of second derivatives. */
#include <math.h>
#include <Rmath.h>
#include <stddef.h>
#include "gumbel.h"
#include "types.h"

enum { MOST_TABLE = 3000, HERMITE = 7 };
static const double STEP = 0.33;   /* of v */
static const double SHARE = 0.75;  /* of a standard deviation: the longest step of f */
static const double NARROW = 0.1;  /* standard deviation below which a few nodes will do */
static const double WIDE = 25;     /* variance that is too large */
static const double FALL = 24;     /* exp(-24) = 4e-11 of the peak is left out on either side, */
static const double REACH = 6.6;   /* and of a normal density as much in all */
static const double NOTHING = 1e-290; /* means of at most this */
static const double HUGE_Q = 1e100; /* its square is a number, and exp(-HUGE_Q) is 0 */
static const double SMALL = 1e-5;  /* q, and its powers' means, of which the third is negligible */

/* ---- Where the integrand is ---- */

/* A class's mean at x = m - v by its integrand's peak: its logarithm, and derivatives in x. */
typedef struct {
    double log, slope, curve, q; /* q: at the peak */
} guess;

/* Solves u + log u = y for log u by three Newton steps: only a place is needed. */
static double log_balance(double y)
{
    double r = y > 1 ? log(y) : y;
    for (int i = 0; i < 3; i++) {
        const double u = exp(r);
        r -= (u + r - y) / (1 + u);
    }
    return r;
}

/* Expands a class's mean by Laplace's method at the peak of its integrand. */
static guess guess_at(double x, double s2, int own)
{
    const double q = s2 < 1e-6 ? exp(x) : exp(log_balance(x + own * s2 + log(s2))) / s2;
    const double bend = 1 + s2 * q, up = own - q; /* the peak is at x + s2 up */
    const double log_mean = own * (x + s2 * up) - 0.5 * s2 * up * up - q - 0.5 * log(bend);
    return (guess) {log_mean, up, -q / bend, q};
}

/* The product of all classes' means, its own class `y` (-1 if there is no such) */
typedef struct {
    int C, y;
    const double *m, *s2;
} crowd;

/* Adds up the classes' guesses at v: log, slope and curve of the outer integrand, and the sum of
 * q. */
static guess crowd_at(const crowd *all, double v)
{
    guess sum = {0, 0, 0, 0};
    for (int c = 0; c < all->C; c++) {
        const guess g = guess_at(all->m[c] - v, all->s2[c], c == all->y);
        sum.log += g.log, sum.slope -= g.slope, sum.curve += g.curve, sum.q += g.q;
    }
    return sum;
}

/* Solves sum q = 1 by Newton's method in logarithms, which is where the slope is 0. */
static double find_peak(const crowd *all)
{
    double v = -HUGE_VAL;
    for (int c = 0; c < all->C; c++) v = fmax2(v, all->m[c]);
    for (int i = 0; i < 30; i++) {
        const guess at = crowd_at(all, v);
        const double log_q = log(at.q), step = -log_q * at.q / at.curve; /* of the sum of q */
        v += fmin2(fmax2(step, -4), 4);
        if (fabs(step) < 0.1) break;
    }
    return v;
}

/* Returns how far from the peak the logarithm has fallen by FALL: no nearer, as it is concave and
 * lies below its tangents, and if that was too far, halfway. */
static double find_end(const crowd *all, double peak, double sign)
{
    const guess top = crowd_at(all, peak);
    double x = 3 / sqrt(-top.curve);
    guess at = crowd_at(all, peak + sign * x);
    if (at.log - top.log < -FALL) return x;
    const double far = x + (FALL + at.log - top.log) / (-sign * at.slope);
    at = crowd_at(all, peak + sign * 0.5 * (x + far));
    return at.log - top.log < -FALL ? 0.5 * (x + far) : far;
}

/* Widens [low, high] to where v has to go for class y. */
static void find_range(const crowd *all, double *low, double *high)
{
    const double peak = find_peak(all);
    *low = fmin2(*low, peak - find_end(all, peak, -1));
    *high = fmax2(*high, peak + find_end(all, peak, 1));
}

/* ---- Means at the nodes ---- */

/* Adds a node of f to the sums of exp(-q), or q exp(-q) where own, and of its derivatives in u. */
static inline void add_value(double w, double q, double fall, int own, double *sum)
{
    const double wf = w * fall, wq = wf * q;
    if (own) {
        sum[0] += wq, sum[1] += wq * (1 - q), sum[2] += wq * (1 - q * (3 - q));
    } else {
        sum[0] += wf, sum[1] -= wq, sum[2] += wq * (q - 1);
    }
}

/* Adds the class's part to node k. Where it is below all numbers but the last ones, of which there
 * is no reciprocal, the node gets no weight. */
static void put_node(sg_gumbel *grid, int c, int k, const double *sum, double log_unit)
{
    const size_t at = (size_t) c * grid->count + k;
    const int some = sum[0] > NOTHING;
    const double each = some ? 1 / sum[0] : 0, slope = sum[1] * each;
    grid->weight[k] += some ? log(sum[0]) + log_unit : -HUGE_VAL;
    grid->slope[at] = slope;
    grid->curve[at] = sum[2] * each - slope * slope;
}

/* Fills the nodes from `from` on, where q is small: by the cumulants of q, e and e^2 (exp(s2) -
 * 1), of which log E exp(-q) is the series. q exp(-q) is E q times that for a mean of x + s2. */
static void put_tail(sg_gumbel *grid, int c, int from, int own, double x, double s2)
{
    const double times = expm1(s2);
    for (int k = from; k < grid->count; k++) {
        const size_t at = (size_t) c * grid->count + k;
        const double x_k = x - k * STEP, e = exp(x_k + s2 / 2 + own * s2), second = e * e * times;
        grid->weight[k] += own * (x_k + s2 / 2) - e + second / 2;
        grid->slope[at] = own - e + second;
        grid->curve[at] = -e + 2 * second;
    }
}

/* Returns the first node at which e exp(1.5 s2) <= SMALL, so e's cube and its cumulant vanish to
 * rounding. */
static int find_tail(const sg_gumbel *grid, int own, double x, double s2)
{
    const double k = ceil((x + s2 / 2 + own * s2 + 1.5 * s2 - log(SMALL)) / STEP);
    return (int) fmin2(fmax2(k, 0), grid->count);
}

/* Tabulates a narrow class by Gauss and Hermite's nodes (for weight exp(-n^2 / 2)). Seven nodes
 * suffice for u's normal density of a standard deviation below 0.1. */
static void narrow_class(sg_gumbel *grid, int c, int own, double x, double s2, int tail)
{
    static const double node[HERMITE] = {-3.750439717725742, -2.366759410734541,
                                         -1.154405394739968, 0, 1.154405394739968,
                                         2.366759410734541, 3.750439717725742};
    static const double share[HERMITE] = {5.482688559722178e-4, 3.075712396758651e-2,
                                          2.401231786050127e-1, 4.571428571428572e-1,
                                          2.401231786050127e-1, 3.075712396758651e-2,
                                          5.482688559722178e-4};
    double factor[HERMITE];
    for (int j = 0; j < HERMITE; j++) factor[j] = exp(sqrt(s2) * node[j]);
    for (int k = 0; k < tail; k++) {
        const double q0 = exp(x - k * STEP);
        double sum[3] = {0, 0, 0};
        for (int j = 0; j < HERMITE; j++) {
            const double q = fmin2(q0 * factor[j], HUGE_Q);
            add_value(share[j], q, exp(-q), own, sum);
        }
        put_node(grid, c, k, sum, 0);
    }
}

/* Values of exp(-q), or q exp(-q) where own, and derivatives in u, q = exp(u), at u = top - i d */
typedef struct {
    double value[3][MOST_TABLE];
} table;

/* Tabulates from the right, where q is smallest, so one exponential serves all entries. */
static void fill_table(table *t, int own, double top, double d, int size)
{
    const double grow = exp(d);
    double q = exp(top - (size - 1) * d);
    for (int i = size - 1; i >= 0; i--, q = fmin2(q * grow, HUGE_Q)) {
        double at[3] = {0, 0, 0};
        add_value(1, q, exp(-q), own, at);
        for (int k = 0; k < 3; k++) t->value[k][i] = at[k];
    }
}

/* Tabulates any other class: proportions of a normal density at u = x + (after - i) d, an even
 * number of i, and node k sees the table from k times on. Returns 0 if there is no memory for
 * it. */
static int wide_class(sg_gumbel *grid, int c, int own, double x, double s2, int tail)
{
    const double sd = sqrt(s2); /* a factor q lifts the peak by sd standard deviations */
    const int times = (int) ceil(STEP / (SHARE * sd));
    const double d = STEP / times, pull = sd * guess_at(x, s2, own).q; /* and down by this */
    const double below = ceil((REACH + pull) * sd / d), above = ceil((REACH + sd) * sd / d);
    if (!(below + above + 1 + (double) times * tail < MOST_TABLE)) return 0;
    const int after = (int) above, width = 2 * ((int) (below + above) / 2 + 1);
    double share[MOST_TABLE];
    table t;
    fill_table(&t, own, x + after * d, d, width + times * (tail - 1));
    for (int i = 0; i < width; i++) {
        const double n = (after - i) * d / sd;
        share[i] = exp(-0.5 * n * n);
    }
    const double log_unit = log(d / sd) - M_LN_SQRT_2PI;
    for (int k = 0; k < tail; k++) {
        const double *t0 = t.value[0] + k * times, *t1 = t.value[1] + k * times;
        const double *t2 = t.value[2] + k * times;
        double sum[3] = {0, 0, 0}, odd[3] = {0, 0, 0}; /* two chains, not one */
        for (int i = 0; i < width; i += 2) {
            sum[0] += share[i] * t0[i], sum[1] += share[i] * t1[i], sum[2] += share[i] * t2[i];
            odd[0] += share[i + 1] * t0[i + 1], odd[1] += share[i + 1] * t1[i + 1];
            odd[2] += share[i + 1] * t2[i + 1];
        }
        for (int j = 0; j < 3; j++) sum[j] += odd[j];
        put_node(grid, c, k, sum, log_unit);
    }
    return 1;
}

/* Turns the logarithms into weights relative to the largest; returns 0 where means have lost
 * digits, as they may be below all numbers. */
static int end_weights(sg_gumbel *grid)
{
    const double LOST = -200;
    double top = -HUGE_VAL;
    for (int k = 0; k < grid->count; k++) top = fmax2(top, grid->weight[k]);
    for (int k = 0; k < grid->count; k++) grid->weight[k] = exp(grid->weight[k] - top);
    grid->log_scale = top + log(STEP);
    return top > LOST;
}

/* Lays the grid over the ranges of all classes asked for and fills it class by class. */
int sg_gumbel_lay(int C, int y, const double *m, const double *s2, sg_gumbel *grid)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int c = 0; c < C; c++) {
        if (!(s2[c] <= WIDE) || !isfinite(m[c])) return 0;
    }
    for (int c = 0; c < C; c++) {
        const crowd all = {C, c, m, s2};
        if (y < 0 || y == c) find_range(&all, &low, &high);
    }
    const double count = ceil((high - low) / STEP) + 1;
    if (!(count <= SG_GUMBEL_NODES && count * C <= SG_GUMBEL_CELLS)) return 0;
    grid->C = C, grid->count = (int) count;
    sg_zero(grid->count, grid->weight);
    for (int c = 0; c < C; c++) {
        const double x = m[c] - low;
        const int tail = find_tail(grid, c == y, x, s2[c]);
        put_tail(grid, c, tail, c == y, x, s2[c]);
        if (tail == 0) continue;
        if (s2[c] < NARROW * NARROW) narrow_class(grid, c, c == y, x, s2[c], tail);
        else if (!wide_class(grid, c, c == y, x, s2[c], tail)) return 0;
    }
    return end_weights(grid);
}
