/* quad_rows.c: integrals of many rows at once (quad_rows.h): looks, then panels. g(t) is the
 * logarithm of the integrand without the constant of the normal density. */
#include <math.h>
#include <Rmath.h>
#include "quad.h"
#include "quad_panels.h"
#include "quad_rows.h"

enum { FIRST = 33, MORE = SG_LOOK_NODES, LOOKS = 40 };
static const double REACH = 8;    /* standard deviations of the first sg_look */
static const double NEGLECT = 36; /* exp(-36) = 2e-16 of the largest value is left out */
static const double END = 1e-11;  /* of the sum: what may be left at the ends of a sg_look */
static const double AGREE = 3e-7; /* of a look with half its nodes; its square is the error */
static const double NOTHING = 1e-18;

/* ---- Looks ---- */

/* Sums of weights exp(g - top) over every `stride`-th node, with mean and variance of k. */
typedef struct {
    double total, mean, var;
} moments;

static moments moments_of(const sg_look *l, int stride)
{
    moments m = {0, 0, 0};
    const double middle = 0.5 * (l->nodes - 1);
    double square = 0;
    for (int k = 0; k < l->nodes; k += stride) {
        const double w = exp(l->g[k] - l->top), x = k - middle;
        m.total += w, m.mean += w * x, square += w * x * x;
    }
    m.mean /= m.total;
    m.var = square / m.total - m.mean * m.mean;
    return m;
}

/* Does the rule with every second node give the same, and is nothing beyond its ends? */
static int agrees(const sg_look *l)
{
    const moments all = moments_of(l, 1), half = moments_of(l, 2);
    const double ends = exp(l->g[0] - l->top) + exp(l->g[l->nodes - 1] - l->top);
    return ends < END * all.total && fabs(2 * half.total - all.total) < AGREE * all.total &&
        fabs(half.mean - all.mean) < AGREE * sqrt(all.var) &&
        fabs(half.var - all.var) < 10 * AGREE * all.var;
}

/* Lays the next look from place `first` to place `last` in steps of this one. */
static int lay_next(sg_look *l, double first, double last)
{
    l->next_from = l->from + l->step * first, l->next_step = l->step * (last - first) / (MORE - 1);
    return 1;
}

/* Judges a look. Returns 1 where another one may do better, and lays it: farther where the
 * integrand counts at an end, nearer where it counts at few nodes, else once with twice as many
 * nodes. */
static int look_again(sg_look *l)
{
    int first = -1, last = 0;
    const int end = l->nodes - 1;
    l->top = -HUGE_VAL, l->jumps = 0;
    for (int k = 0; k <= end; k++) {
        l->top = fmax2(l->top, l->g[k]);
        l->jumps = l->jumps || l->g[k] == -HUGE_VAL;
    }
    l->good = l->top > -HUGE_VAL && agrees(l);
    if (l->good || l->jumps) return 0;
    for (int k = 0; k <= end; k++) {
        if (l->g[k] < l->top - NEGLECT) continue;
        if (first < 0) first = k;
        last = k;
    }
    if (first == 0 || last == end) {
        return lay_next(l, first == 0 ? -0.5 * end : 0, last == end ? 1.5 * end : end);
    }
    if (last - first < end / 4) return lay_next(l, first - 1, last + 1);
    return l->nodes == FIRST ? lay_next(l, 0, end) : 0;
}

/* Begins with the look of all rows, within REACH. */
static sg_look *first_looks(const sg_row_integrands *in, int n, const sg_ws *ws)
{
    sg_look *all = sg_structs(n, sizeof(sg_look), ws);
    for (int i = 0; i < n; i++) {
        all[i] = (sg_look) {.row = i, .nodes = FIRST, .next_from = -REACH,
                         .next_step = 2 * REACH / (FIRST - 1)};
        if (in->nextra) all[i].extra = sg_doubles(ws, (size_t) in->nextra * MORE);
    }
    return all;
}

/* Evaluates the looks number open[0 .. count - 1], each by as many nodes. */
static void evaluate_looks(const sg_row_integrands *in, int nodes, int count, const int *open,
                           sg_look *all, const sg_ws *ws)
{
    const int m = count * nodes;
    const size_t extras = (size_t) in->nextra * nodes;
    void *mark = sg_mark(ws);
    int *row = sg_ints(m, ws);
    double *t = sg_doubles(ws, m), *g = sg_doubles(ws, m);
    double *extra = in->nextra ? sg_doubles(ws, extras * count) : NULL;
    for (int k = 0; k < m; k++) {
        sg_look *l = all + open[k / nodes];
        l->from = l->next_from, l->step = l->next_step, l->nodes = nodes;
        row[k] = l->row, t[k] = l->from + l->step * (k % nodes);
    }
    sg_ask_rows(in, m, row, t, g, extra);
    for (int i = 0; i < count; i++) {
        sg_copy(nodes, g + nodes * i, all[open[i]].g);
        if (extra) sg_copy(extras, extra + extras * i, all[open[i]].extra);
    }
    sg_release(ws, mark);
}

/* Looks at all rows until no look at a smaller part is of use. */
static sg_look *look_at_rows(const sg_row_integrands *in, int n, const sg_ws *ws)
{
    sg_look *all = first_looks(in, n, ws);
    int *open = sg_ints(n, ws), nopen = n;
    for (int i = 0; i < n; i++) open[i] = i;
    for (int turn = 0; turn < LOOKS && nopen > 0; turn++) {
        int left = 0;
        evaluate_looks(in, turn == 0 ? FIRST : MORE, nopen, open, all, ws);
        for (int i = 0; i < nopen; i++) {
            if (!look_again(all + open[i])) continue;
            open[left++] = open[i];
        }
        nopen = left;
    }
    return all;
}

/* ---- Nodes ---- */

/* Adds a node, unless its weight is nothing. */
static void add_node(sg_row_nodes *nodes, int row, double t, double weight, int nextra,
                     const double *extra)
{
    if (!(weight > NOTHING)) return;
    nodes->row[nodes->count] = row, nodes->t[nodes->count] = t;
    nodes->weight[nodes->count] = weight;
    if (nextra) sg_copy(nextra, extra, nodes->extra + (size_t) nextra * nodes->count);
    nodes->count++;
}

/* Adds those of a look, and returns the logarithm of its integral. */
static double take_look(const sg_look *l, int nextra, sg_row_nodes *nodes)
{
    const double total = moments_of(l, 1).total;
    for (int k = 0; k < l->nodes; k++) {
        add_node(nodes, l->row, l->from + l->step * k, exp(l->g[k] - l->top) / total, nextra,
                 l->extra + nextra * k);
    }
    return l->top + log(l->step * total) - M_LN_SQRT_2PI;
}

static void take_panel(const sg_panel *own, const sg_search *s, int nextra, sg_row_nodes *nodes)
{
    const double mid = 0.5 * (own->a + own->b), half = 0.5 * (own->b - own->a);
    double weight, gauss;
    for (int i = 0; i < 15; i++) {
        const double x = sg_kronrod_node(i, &weight, &gauss);
        add_node(nodes, s->row, mid + half * x,
                 weight * half * exp(own->g[i] - s->top) / s->total[0], nextra,
                 own->extra + nextra * i);
    }
}

/* Lends room for as many nodes. */
static sg_row_nodes new_nodes(size_t most, int nextra, const sg_ws *ws)
{
    sg_row_nodes nodes = {0, sg_ints(most, ws), sg_doubles(ws, most), sg_doubles(ws, most), NULL};
    if (nextra) nodes.extra = sg_doubles(ws, nextra * most);
    return nodes;
}

/* Adds the nodes of rows that looks are not good for, and writes their logz and jumps. */
static void take_panels(const sg_panels *p, sg_row_nodes *nodes, double *logz, int *jumps)
{
    for (int i = 0; i < p->n; i++) {
        const sg_search *s = p->all + i;
        const double total = s->panels > 0 ? s->total[0] : 0;
        jumps[s->row] = s->jumps;
        logz[s->row] = total > 0 ? s->top + log(total) - M_LN_SQRT_2PI : -HUGE_VAL;
    }
    for (int k = 0; k < p->count; k++) {
        take_panel(p->panels + k, p->all + p->panels[k].of, p->in->nextra, nodes);
    }
}

sg_row_nodes sg_quad_rows(const sg_row_integrands *in, int n, double *logz, int *jumps,
                          const sg_ws *ws)
{
    const sg_look *looks = look_at_rows(in, n, ws);
    const sg_panels p = sg_panels_of(in, n, looks, ws);
    const size_t most = (size_t) MORE * (n - p.n) + 15 * (size_t) p.count;
    sg_row_nodes nodes = new_nodes(most, in->nextra, ws);
    for (int i = 0; i < n; i++) {
        if (!looks[i].good) continue;
        jumps[i] = 0;
        logz[i] = take_look(looks + i, in->nextra, &nodes);
    }
    take_panels(&p, &nodes, logz, jumps);
    return nodes;
}
