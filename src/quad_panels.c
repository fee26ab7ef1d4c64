/* quad_panels.c: integrals of rows that equidistant nodes are not enough for (quad_panels.h). */
#include <math.h>
#include <Rmath.h>
#include <R_ext/Utils.h>
#include "quad.h"
#include "quad_panels.h"

enum { DENSE = 65, FAR = 40, JOINED = 4 };       /* places; how many steps a first panel has */
enum { PANELS = 200, ROUNDS = 64 };              /* panels of a row; bisections of one of them */
enum { GOLDEN = 24, HALVINGS = 60 };             /* of a bracket about a peak, and about a jump */
static const double REACH = 8;    /* standard deviations within which places are dense */
static const double NEGLECT = 36; /* exp(-36) = 2e-16 of the largest value is left out */
static const double RESOLVED = 2; /* g at a node beside the peak is no farther below it */
static const double LOST = 1e-4;  /* of an integral: an error that is not passed over */

/* Asks for g at m points. */
void sg_ask_rows(const sg_row_integrands *in, int m, const int *row, const double *t, double *g,
                 double *extra)
{
    if (m == 0) return;
    in->logs(in->ctx, m, row, t, g, extra);
    for (int k = 0; k < m; k++) g[k] -= 0.5 * t[k] * t[k];
}

/* ---- Places ---- */

/* Takes the nodes of a look for places. */
static void places_of_look(const sg_look *l, sg_search *s)
{
    for (int k = 0; k < l->nodes; k++) s->t[k] = l->from + l->step * k;
    sg_copy(l->nodes, l->g, s->g);
    s->places = l->nodes, s->longest = JOINED * l->step;
}

/* Lays places densely within REACH and ever more sparsely beyond, and, for a support that is far
 * out or narrow, about the place that is known. */
static void lay_places(const sg_row_integrands *in, sg_search *s)
{
    int n = 0;
    for (int k = 0; k < DENSE; k++) s->t[n++] = REACH * (2.0 * k / (DENSE - 1) - 1);
    for (int k = 1; k <= FAR / 2; k++) {
        s->t[n++] = ldexp(REACH, k), s->t[n++] = -ldexp(REACH, k);
    }
    for (int k = -36; in->around && k <= 4; k += 2) {
        const double centre = in->around[s->row], far = ldexp(in->unit[s->row], k);
        if (k == -36) s->t[n++] = centre;
        s->t[n++] = centre + ldexp(1, k), s->t[n++] = centre - ldexp(1, k);
        s->t[n++] = centre + far, s->t[n++] = centre - far;
    }
    R_rsort(s->t, n);
    s->places = n, s->longest = JOINED * 2 * REACH / (DENSE - 1);
}

/* Evaluates g at the places of the rows that have seen a jump. */
static void evaluate_places(const sg_row_integrands *in, int n, sg_search *all, const sg_ws *ws)
{
    const size_t most = (size_t) n * SG_PLACES;
    int m = 0, *row = sg_ints(most, ws);
    double *t = sg_doubles(ws, most), *g = sg_doubles(ws, most);
    for (int i = 0; i < n; i++) {
        for (int k = 0; all[i].jumps && k < all[i].places; k++) {
            row[m] = all[i].row, t[m++] = all[i].t[k];
        }
    }
    sg_ask_rows(in, m, row, t, g, NULL);
    for (int i = 0; i < n; i++) {
        sg_search *s = all + i;
        if (s->jumps) sg_copy(s->places, g, s->g), g += s->places;
        s->best = 0;
        for (int k = 1; k < s->places; k++) if (s->g[k] > s->g[s->best]) s->best = k;
    }
}

/* Does the stretch between places k and k + 1 count, as far as they show? */
static int counts(const sg_search *s, int k)
{
    const double top = s->g[s->best];
    return top > -HUGE_VAL && (fmax2(s->g[k], s->g[k + 1]) > top - NEGLECT || k == s->best ||
                               k + 1 == s->best);
}

/* Does the integrand jump to 0 between places k and k + 1, where that counts? */
static int has_jump(const sg_search *s, int k)
{
    return (s->g[k] > -HUGE_VAL) != (s->g[k + 1] > -HUGE_VAL) && counts(s, k);
}

/* ---- Jumps and peaks ---- */

/* A jump between two places that bisection brings together. */
typedef struct {
    sg_search *of;
    int k;
    double inside, outside;
} jump;

/* Lists the jumps of all rows; returns how many there are. jumps: NULL: counts them alone. */
static int list_jumps(int n, sg_search *all, jump *jumps)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < all[i].places - 1; k++) {
            sg_search *s = all + i;
            const int left = s->g[k] > -HUGE_VAL;
            s->edge[k] = NAN;
            if (!has_jump(s, k)) continue;
            if (jumps) jumps[count] = (jump) {s, k, s->t[k + !left], s->t[k + left]};
            count++;
        }
    }
    return count;
}

/* Finds all jumps by bisection, to rounding. */
static void find_jumps(const sg_row_integrands *in, int n, sg_search *all, const sg_ws *ws)
{
    const int count = list_jumps(n, all, NULL);
    jump *jumps = sg_structs(count, sizeof(jump), ws);
    int *row = sg_ints(count, ws);
    double *t = sg_doubles(ws, count), *g = sg_doubles(ws, count);
    list_jumps(n, all, jumps);
    for (int i = 0; i < count; i++) row[i] = jumps[i].of->row;
    for (int turn = 0; turn < HALVINGS && count > 0; turn++) {
        int open = 0;
        for (int i = 0; i < count; i++) {
            t[i] = 0.5 * (jumps[i].inside + jumps[i].outside);
            open = open || (t[i] != jumps[i].inside && t[i] != jumps[i].outside);
        }
        if (!open) break;
        sg_ask_rows(in, count, row, t, g, NULL);
        for (int i = 0; i < count; i++) {
            if (g[i] > -HUGE_VAL) jumps[i].inside = t[i];
            else jumps[i].outside = t[i];
        }
    }
    for (int i = 0; i < count; i++) jumps[i].of->edge[jumps[i].k] = jumps[i].inside;
}

/* The ends of the stretch between places k and k + 1 where the integrand is not 0. */
static double left_end(const sg_search *s, int k)
{
    return s->g[k] > -HUGE_VAL ? s->t[k] : s->edge[k];
}

static double right_end(const sg_search *s, int k)
{
    return s->g[k + 1] > -HUGE_VAL ? s->t[k + 1] : s->edge[k];
}

/* Finds the peaks, next to the best place of each row, by golden section: nodes are dense there. */
static void find_peaks(const sg_row_integrands *in, int n, sg_search *all, const sg_ws *ws)
{
    const double GOLD = 0.3819660112501051;
    int *row = sg_ints(2 * n, ws);
    double *t = sg_doubles(ws, 2 * n), *g = sg_doubles(ws, 2 * n);
    for (int i = 0; i < n; i++) {
        sg_search *s = all + i;
        s->low = s->best > 0 ? left_end(s, s->best - 1) : s->t[0];
        s->high = s->best < s->places - 1 ? right_end(s, s->best) : s->t[s->best];
        row[2 * i] = row[2 * i + 1] = s->row;
        if (s->g[s->best] == -HUGE_VAL) s->low = s->high = s->t[s->best];
    }
    for (int turn = 0; turn <= GOLDEN; turn++) {
        for (int i = 0; i < n; i++) {
            const double part = GOLD * (all[i].high - all[i].low);
            t[2 * i] = all[i].low + part, t[2 * i + 1] = all[i].high - part;
        }
        sg_ask_rows(in, 2 * n, row, t, g, NULL);
        for (int i = 0; i < n; i++) {
            sg_search *s = all + i;
            const int left = g[2 * i] > g[2 * i + 1];
            if (left) s->high = t[2 * i + 1];
            else s->low = t[2 * i];
            s->peak = t[2 * i + !left], s->at_peak = g[2 * i + !left];
        }
    }
    for (int i = 0; i < n; i++) {
        sg_search *s = all + i;
        if (s->at_peak < s->g[s->best]) s->peak = s->t[s->best], s->at_peak = s->g[s->best];
    }
}

/* ---- Panels ---- */

/* Adds [a, b] to the panels of a row, and makes room for as many again where that is lacking. */
static void add_panel(sg_panels *p, int of, double a, double b)
{
    if (!(a < b) || p->all[of].panels >= PANELS) return;
    if (p->count == p->size) {
        const size_t had = p->size;
        sg_panel *more = sg_structs(2 * had, sizeof(sg_panel), p->ws);
        int *fresh = sg_ints(2 * had, p->ws);
        for (int k = 0; k < p->count; k++) more[k] = p->panels[k];
        for (int k = 0; k < p->nfresh; k++) fresh[k] = p->fresh[k];
        p->panels = more, p->fresh = fresh, p->size *= 2;
    }
    p->panels[p->count] = (sg_panel) {.of = of, .a = a, .b = b};
    if (p->in->nextra) p->panels[p->count].extra = sg_doubles(p->ws, (size_t) p->in->nextra * 15);
    p->fresh[p->nfresh++] = p->count++;
    p->all[of].panels++;
}

/* Adds a stretch, cut at the peak. */
static void add_stretch(sg_panels *p, int of, double a, double b)
{
    const double peak = p->all[of].peak;
    if (a < peak && peak < b) add_panel(p, of, a, peak), add_panel(p, of, peak, b);
    else add_panel(p, of, a, b);
}

/* Joins the stretches of a row that count into panels of some length, cut at jumps. */
static void lay_panels(sg_panels *p, int of)
{
    const sg_search *s = p->all + of;
    double a = NAN, b = NAN;
    for (int k = 0; k < s->places - 1; k++) {
        if (!counts(s, k) || (s->g[k] == -HUGE_VAL && s->g[k + 1] == -HUGE_VAL)) continue;
        const double left = left_end(s, k), right = right_end(s, k);
        if (left == b && right - a <= s->longest) {
            b = right;
            continue;
        }
        add_stretch(p, of, a, b);
        a = left, b = right;
    }
    add_stretch(p, of, a, b);
}

/* Evaluates the panels that are fresh. */
static void evaluate_panels(sg_panels *p)
{
    const int m = 15 * p->nfresh, extras = 15 * p->in->nextra;
    double weight, gauss;
    void *mark = sg_mark(p->ws);
    int *row = sg_ints(m, p->ws);
    double *t = sg_doubles(p->ws, m), *g = sg_doubles(p->ws, m);
    double *extra = extras ? sg_doubles(p->ws, (size_t) extras * p->nfresh) : NULL;
    for (int k = 0; k < m; k++) {
        const sg_panel *own = p->panels + p->fresh[k / 15];
        row[k] = p->all[own->of].row;
        t[k] = 0.5 * (own->a + own->b) +
            0.5 * (own->b - own->a) * sg_kronrod_node(k % 15, &weight, &gauss);
    }
    sg_ask_rows(p->in, m, row, t, g, extra);
    for (int i = 0; i < p->nfresh; i++) {
        sg_panel *own = p->panels + p->fresh[i];
        sg_copy(15, g + 15 * i, own->g);
        if (extra) sg_copy(extras, extra + (size_t) extras * i, own->extra);
    }
    sg_release(p->ws, mark);
}

/* Applies both rules to a panel. */
static void integrate(sg_panel *own, double peak)
{
    const double mid = 0.5 * (own->a + own->b), half = 0.5 * (own->b - own->a);
    double gauss[3] = {0}, weight, few;
    own->top = -HUGE_VAL;
    sg_zero(3, own->whole);
    for (int i = 0; i < 15; i++) own->top = fmax2(own->top, own->g[i]);
    for (int i = 0; i < 15 && own->top > -HUGE_VAL; i++) {
        const double x = mid + half * sg_kronrod_node(i, &weight, &few) - peak;
        double f = half * exp(own->g[i] - own->top);
        for (int c = 0; c < 3; c++, f *= x) {
            own->whole[c] += weight * f;
            gauss[c] += few * f;
        }
    }
    for (int c = 0; c < 3; c++) own->error[c] = fabs(own->whole[c] - gauss[c]);
}

/* Adds up the panels of open rows. */
static void sum_panels(sg_panels *p)
{
    for (int i = 0; i < p->n; i++) {
        if (p->all[i].open) p->all[i].top = -HUGE_VAL, sg_zero(3, p->all[i].total);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < p->count; k++) {
            const sg_panel *own = p->panels + k;
            sg_search *s = p->all + own->of;
            if (!s->open) continue;
            if (pass == 0) s->top = fmax2(s->top, own->top);
            else if (own->top > s->top - 700) {
                const double scale = exp(own->top - s->top);
                for (int c = 0; c < 3; c++) s->total[c] += scale * own->whole[c];
            }
        }
    }
}

/* Has a panel to be bisected, as the rules differ, or g at the peak is not seen from it? */
static int is_coarse(const sg_panels *p, const sg_panel *own)
{
    const sg_search *s = p->all + own->of;
    const double scale = exp(own->top - s->top) / p->in->tolerance, *total = s->total;
    if (own->a == s->peak && own->g[0] < s->at_peak - RESOLVED) return 1;
    if (own->b == s->peak && own->g[14] < s->at_peak - RESOLVED) return 1;
    return scale * own->error[0] > total[0] || scale * own->error[2] > total[2] ||
        scale * own->error[1] > sqrt(total[0] * total[2]);
}

/* Bisects the panels of open rows that are too coarse. A row without such a panel is done. */
static void bisect(sg_panels *p)
{
    const int count = p->count;
    int coarse = 0;
    int *which = sg_ints(count, p->ws);
    for (int k = 0; k < count; k++) {
        if (p->all[p->panels[k].of].open && is_coarse(p, p->panels + k)) which[coarse++] = k;
    }
    for (int i = 0; i < p->n; i++) p->all[i].open = 0;
    p->nfresh = 0;
    for (int i = 0; i < coarse; i++) {
        const sg_panel own = p->panels[which[i]];
        const double mid = 0.5 * (own.a + own.b);
        if (!(own.a < mid && mid < own.b) || p->all[own.of].panels >= PANELS) continue;
        add_panel(p, own.of, mid, own.b);
        p->panels[which[i]].b = mid;
        p->fresh[p->nfresh++] = which[i];
        p->all[own.of].open = 1;
    }
}

/* Lays the panels of all rows and refines them. */
static void integrate_rows(sg_panels *p)
{
    for (int i = 0; i < p->n; i++) {
        p->all[i].panels = 0, p->all[i].open = 1;
        lay_panels(p, i);
    }
    for (int round = 0; round < ROUNDS && p->nfresh > 0; round++) {
        evaluate_panels(p);
        for (int k = 0; k < p->nfresh; k++) {
            sg_panel *own = p->panels + p->fresh[k];
            integrate(own, p->all[own->of].peak);
        }
        sum_panels(p);
        if (round + 1 < ROUNDS) bisect(p);
    }
}

/* Reports the largest relative error of an integral that had no more panels. */
static void report_lost(const sg_panels *p)
{
    double *error = sg_doubles(p->ws, p->n), most = 0;
    sg_zero(p->n, error);
    for (int k = 0; k < p->count; k++) {
        const sg_panel *own = p->panels + k;
        error[own->of] += exp(own->top - p->all[own->of].top) * own->error[0];
    }
    for (int i = 0; i < p->n; i++) {
        const sg_search *s = p->all + i;
        if (s->panels < PANELS || !(s->total[0] > 0)) continue;
        most = fmax2(most, error[i] / s->total[0]);
    }
    if (most > LOST) p->in->lost(p->in->of, most);
}

sg_panels sg_panels_of(const sg_row_integrands *in, int n, const sg_look *looks, const sg_ws *ws)
{
    enum { EACH = 32 };
    sg_panels p = {.in = in, .ws = ws};
    for (int i = 0; i < n; i++) p.n += !looks[i].good;
    p.all = sg_structs(p.n, sizeof(sg_search), ws), p.size = p.n * EACH;
    p.panels = sg_structs(p.size, sizeof(sg_panel), ws), p.fresh = sg_ints(p.size, ws);
    for (int i = 0, k = 0; i < n; i++) {
        if (looks[i].good) continue;
        sg_search *s = p.all + k++;
        s->row = i, s->jumps = looks[i].jumps;
        if (s->jumps) lay_places(in, s);
        else places_of_look(looks + i, s);
    }
    if (p.n == 0) return p;
    evaluate_places(in, p.n, p.all, ws);
    find_jumps(in, p.n, p.all, ws);
    find_peaks(in, p.n, p.all, ws);
    integrate_rows(&p);
    report_lost(&p);
    return p;
}
