/* markov_form.c: transitions of Matern states in closed form, and what is made of them.
 *
 * With d = lambda D, F of a Matern process of order p has the eigenvalue -1 p times, so
 *   A = e^{-d} sum_{k<p} (F + I)^k d^k / k!,   Q = q int_0^d phi phi' ds,   phi = A(s) e_p,
 * whose entries are sums of the integrals I_k = int_0^d s^k e^{-2s} ds. */
#include <math.h>
#include "markov_form.h"

enum { FAR = 300 }; /* d beyond which A is 0 to the last digit */

/* A term below this proportion of all variance changes no digit. */
static const double NOTHING = 1e-17;

/* ---- Terms ---- */

static int cells_of(const sg_markov_term *term)
{
    return term->omega > 0 ? 2 : 1;
}

static int size_of(const sg_markov_term *term)
{
    return term->order > 0 ? term->order : 1;
}

int sg_markov_count(const sg_kernel *kernel, int harmonics)
{
    sg_markov_term term[SG_MARKOV_TERMS];
    const int count = kernel->type->terms ? kernel->type->terms(kernel, harmonics, term) : 0;
    int states = 0;
    for (int j = 0; j < count; j++) states += size_of(term + j) * cells_of(term + j);
    return states;
}

/* Counts down from as many harmonics as there could be. */
static int most_harmonics(const sg_kernel *kernel)
{
    int harmonics = SG_MARKOV_STATES / 2;
    while (harmonics > 0) {
        const int states = sg_markov_count(kernel, harmonics);
        if (states > 0 && states <= SG_MARKOV_STATES) break;
        harmonics--;
    }
    return harmonics;
}

/* Appends the cells of a term. */
static void add_cells(sg_markov_form *form, int term)
{
    const sg_markov_term *own = form->term + term;
    for (int sine = 0; sine < cells_of(own); sine++) {
        const sg_markov_cell cell = {form->m, size_of(own), term, sine};
        form->cell[form->cells++] = cell;
        form->m += cell.size;
    }
    form->moves = form->moves || own->order > 0;
}

sg_status sg_markov_form_of(const sg_kernel *kernel, sg_markov_form *form)
{
    sg_markov_term all[SG_MARKOV_TERMS];
    double total = 0;
    memset(form, 0, sizeof *form);
    form->harmonics = most_harmonics(kernel);
    if (form->harmonics == 0) return SG_NO_SITE;
    form->all = kernel->type->terms(kernel, form->harmonics, all);
    for (int j = 0; j < form->all; j++) total += all[j].variance;
    if (!isfinite(total)) return SG_NOT_FINITE;
    for (int j = 0; j < form->all; j++) {
        if (!(all[j].variance > NOTHING * total) && form->all > 1) continue;
        form->term[form->terms] = all[j];
        form->origin[form->terms] = j;
        add_cells(form, form->terms++);
    }
    return SG_OK;
}

void sg_markov_adjoint(const sg_kernel *kernel, const sg_markov_form *form,
                       const sg_markov_slope *slope, double *dtheta)
{
    sg_markov_slope all[SG_MARKOV_TERMS];
    memset(all, 0, sizeof all);
    for (int j = 0; j < form->terms; j++) all[form->origin[j]] = slope[j];
    kernel->type->terms_adjoint(kernel, form->harmonics, all, dtheta);
}

/* ---- Functionals of the state ---- */

/* t^power */
static double power_of(double t, int power)
{
    double out = 1;
    for (int k = 0; k < power; k++) out *= t;
    return out;
}

/* The wave of a cell at t: cos(omega t) or sin(omega t). */
static double wave_of(const sg_markov_term *term, int sine, double t)
{
    if (!(term->omega > 0)) return 1;
    return sine ? sin(term->omega * t) : cos(term->omega * t);
}

void sg_markov_observe(const sg_markov_form *form, double t, double *h)
{
    sg_zero(form->m, h);
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        const sg_markov_term *term = form->term + cell->term;
        h[cell->at] = power_of(t, term->power) * wave_of(term, cell->sine, t);
    }
}

/* d(t^k w(t) x(t)) = (k t^{k-1} w + t^k w') x + t^k w lambda x', the last where there is x'. */
void sg_markov_observe_slope(const sg_markov_form *form, double t, double *h)
{
    sg_zero(form->m, h);
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        const sg_markov_term *term = form->term + cell->term;
        const int k = term->power;
        const double wave = wave_of(term, cell->sine, t), size = power_of(t, k);
        if (k > 0) h[cell->at] += k * power_of(t, k - 1) * wave;
        if (term->omega > 0) {
            h[cell->at] += size * term->omega *
                (cell->sine ? cos(term->omega * t) : -sin(term->omega * t));
        }
        if (term->order > 1) h[cell->at + 1] = size * wave * term->lambda;
    }
}

double sg_markov_observe_omega(const sg_markov_form *form, int cell, double t)
{
    const sg_markov_cell *own = form->cell + cell;
    const sg_markov_term *term = form->term + own->term;
    if (!(term->omega > 0)) return 0;
    return power_of(t, term->power) * t *
        (own->sine ? cos(term->omega * t) : -sin(term->omega * t));
}

/* ---- Transitions ---- */

/* I_k = int_0^d s^k e^{-2s} ds for k = 0 .. 4. For d up to 10 the last one by its series of
 * positive terms and the others by I_{k-1} = (2 I_k + d^k e^{-2d}) / k, where nothing cancels;
 * beyond by the recursion the other way round. */
static void integrals(double d, double *I)
{
    enum { LAST = 4 };
    const double fall = exp(-2 * d);
    if (d > 10) {
        double power = fall;
        I[0] = (1 - fall) / 2;
        for (int k = 1; k <= LAST; k++) {
            power *= d;
            I[k] = (k * I[k - 1] - power) / 2;
        }
        return;
    }
    double term = fall * power_of(d, LAST + 1) / (LAST + 1), sum = 0;
    for (int j = LAST + 2; term > 1e-18 * sum; j++) {
        sum += term;
        term *= 2 * d / j;
    }
    I[LAST] = sum;
    for (int k = LAST; k > 0; k--) I[k - 1] = (2 * I[k] + power_of(d, k) * fall) / k;
}

/* P of a Matern process of unit variance, order x order. */
static void unit_stationary(int order, double *P)
{
    const double third[9] = {1, 0, -1.0 / 3, 0, 1.0 / 3, 0, -1.0 / 3, 0, 1};
    const double second[4] = {1, 0, 0, 1};
    if (order == 3) sg_copy(9, third, P);
    else if (order == 2) sg_copy(4, second, P);
    else P[0] = 1;
}

/* A(d) of a Matern process, and dA/dd = F A. */
static void transition(int order, double d, double *A, double *dA)
{
    const double e = exp(-d), d2 = d * d;
    if (order == 1) {
        A[0] = e, dA[0] = -e;
    } else if (order == 2) {
        A[0] = e * (1 + d), A[1] = -e * d, A[2] = e * d, A[3] = e * (1 - d);
        dA[0] = A[1], dA[2] = A[3];
        dA[1] = -A[0] - 2 * A[1], dA[3] = -A[2] - 2 * A[3];
    } else {
        A[0] = e * (1 + d + d2 / 2), A[3] = e * (d + d2), A[6] = e * d2 / 2;
        A[1] = -e * d2 / 2, A[4] = e * (1 + d - d2), A[7] = e * (d - d2 / 2);
        A[2] = e * (d2 / 2 - d), A[5] = e * (d2 - 3 * d), A[8] = e * (1 - 2 * d + d2 / 2);
        for (int j = 0; j < 9; j += 3) {
            dA[j] = A[j + 1], dA[j + 1] = A[j + 2];
            dA[j + 2] = -A[j] - 3 * A[j + 1] - 3 * A[j + 2];
        }
    }
}

/* Q(d), and dQ/dd = q phi phi'. */
static void noise(int order, double d, double *Q, double *dQ)
{
    double I[5], phi[3];
    const double e = exp(-d), q = order == 1 ? 2 : order == 2 ? 4 : 16.0 / 3;
    integrals(d, I);
    if (order == 1) {
        phi[0] = e;
        Q[0] = I[0];
    } else if (order == 2) {
        phi[0] = e * d, phi[1] = e * (1 - d);
        Q[0] = I[2], Q[1] = Q[2] = I[1] - I[2], Q[3] = I[0] - 2 * I[1] + I[2];
    } else {
        phi[0] = e * d * d / 2, phi[1] = e * (d - d * d / 2), phi[2] = e * (1 - 2 * d + d * d / 2);
        Q[0] = I[4] / 4, Q[1] = Q[3] = I[3] / 2 - I[4] / 4;
        Q[4] = I[2] - I[3] + I[4] / 4;
        Q[2] = Q[6] = I[2] / 2 - I[3] + I[4] / 4;
        Q[5] = Q[7] = I[1] - 2.5 * I[2] + 1.5 * I[3] - I[4] / 4;
        Q[8] = I[0] - 4 * I[1] + 5 * I[2] - 2 * I[3] + I[4] / 4;
    }
    for (int i = 0; i < order; i++) {
        for (int j = 0; j < order; j++) {
            Q[i + order * j] *= q;
            dQ[i + order * j] = q * phi[i] * phi[j];
        }
    }
}

void sg_markov_stationary(const sg_markov_form *form, double *P)
{
    double own[SG_MARKOV_ORDER * SG_MARKOV_ORDER];
    sg_zero((size_t) form->m * form->m, P);
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        const double variance = form->term[cell->term].variance;
        unit_stationary(cell->size, own);
        for (int i = 0; i < cell->size; i++) {
            for (int j = 0; j < cell->size; j++) {
                P[cell->at + i + form->m * (cell->at + j)] = variance * own[i + cell->size * j];
            }
        }
    }
}

/* The step of one term. Beyond FAR the next state is a new draw. */
static void step_term(const sg_markov_term *term, double gap, double *A, double *Q, double *dA,
                      double *dQ)
{
    const int order = term->order, size = order * order;
    const double d = term->lambda * gap;
    sg_zero(size, A), sg_zero(size, dA), sg_zero(size, dQ);
    if (d < FAR) {
        transition(order, d, A, dA);
        noise(order, d, Q, dQ);
    } else {
        unit_stationary(order, Q);
    }
    for (int k = 0; k < size; k++) {
        Q[k] *= term->variance;
        dQ[k] *= term->variance * gap;
        dA[k] *= gap;
    }
}

void sg_markov_step_over(const sg_markov_form *form, double gap, sg_markov_step *step)
{
    if (step->gap == gap) return;
    step->gap = gap;
    for (int j = 0; j < form->terms; j++) {
        if (form->term[j].order > 0) {
            step_term(form->term + j, gap, step->A[j], step->Q[j], step->dA[j], step->dQ[j]);
        }
    }
}

/* x[size] = A x or A'x. */
static void move_one(int size, const double *A, int back, double *x)
{
    double old[SG_MARKOV_ORDER];
    for (int i = 0; i < size; i++) old[i] = x[i];
    for (int i = 0; i < size; i++) {
        double sum = 0;
        for (int j = 0; j < size; j++) sum += A[back ? j + size * i : i + size * j] * old[j];
        x[i] = sum;
    }
}

void sg_markov_move(const sg_markov_form *form, const sg_markov_step *step, int back, int count,
                    double *x)
{
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        if (form->term[cell->term].order == 0) continue;
        const double *A = step->A[cell->term];
        for (int k = 0; k < count; k++) {
            move_one(cell->size, A, back, x + cell->at + (size_t) form->m * k);
        }
    }
}

static int is_moved(const sg_markov_form *form, int cell)
{
    return form->term[form->cell[cell].term].order > 0;
}

/* X = X A' or, back, X A of the columns x, y, z [m] of a cell. */
static void move_columns(int m, int size, const double *A, int back, double *X)
{
    double B[SG_MARKOV_ORDER * SG_MARKOV_ORDER] = {0};
    double *x = X, *y = size > 1 ? X + m : X, *z = size > 2 ? X + 2 * (size_t) m : X;
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) B[i + 3 * j] = A[back ? j + size * i : i + size * j];
    }
    SG_SIDE_BY_SIDE
    for (int r = 0; r < m; r++) {
        const double a = x[r], b = y[r], c = z[r];
        z[r] = B[2] * a + B[5] * b + B[8] * c;
        y[r] = B[1] * a + B[4] * b + B[7] * c;
        x[r] = B[0] * a + B[3] * b + B[6] * c;
    }
}

/* Completes A P A' of which the columns of cells that move are known: their rows are the same,
 * where both move made symmetric, as rounding that is not grows from step to step. */
static void mirror(const sg_markov_form *form, double *P)
{
    const int m = form->m;
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        for (int d = 0; is_moved(form, c) && d < form->cells; d++) {
            const sg_markov_cell *other = form->cell + d;
            const int both = is_moved(form, d);
            for (int j = cell->at; j < cell->at + cell->size; j++) {
                for (int i = other->at; i < other->at + other->size; i++) {
                    if (both) P[i + m * j] = (P[i + m * j] + P[j + m * i]) / 2;
                    P[j + m * i] = P[i + m * j];
                }
            }
        }
    }
}

/* P = A P A' or A'P A: the columns of the cells that move, their own rows, and the other rows. */
static void move_both(const sg_markov_form *form, const sg_markov_step *step, int back, double *P)
{
    const int m = form->m;
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        if (!is_moved(form, c)) continue;
        move_columns(m, cell->size, step->A[cell->term], back, P + (size_t) m * cell->at);
    }
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        if (is_moved(form, c)) sg_markov_move(form, step, back, cell->size, P + m * cell->at);
    }
    mirror(form, P);
}

void sg_markov_predict(const sg_markov_form *form, const sg_markov_step *step, double *P)
{
    const int m = form->m;
    if (!form->moves) return;
    move_both(form, step, 0, P);
    for (int c = 0; c < form->cells; c++) {
        const sg_markov_cell *cell = form->cell + c;
        if (form->term[cell->term].order == 0) continue;
        const double *Q = step->Q[cell->term];
        for (int j = 0; j < cell->size; j++) {
            for (int i = 0; i < cell->size; i++) {
                P[cell->at + i + m * (cell->at + j)] += Q[i + cell->size * j];
            }
        }
    }
}

void sg_markov_pull(const sg_markov_form *form, const sg_markov_step *step, double *N)
{
    if (form->moves) move_both(form, step, 1, N);
}
