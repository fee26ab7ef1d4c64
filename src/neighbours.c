/* neighbours.c: a balanced k-d tree with the boxes of its nodes, whose node i has the children
 * 2 i + 1 and 2 i + 2; the leaves are all at one depth. */
#include "neighbours.h"
#include "par.h"

enum { LEAF = 8, GRAIN = 256 }; /* most points of a leaf; points of a chunk */

static double number_of(const sg_tree *tree, int i, int d)
{
    return tree->u[d + (size_t) tree->D * i];
}

static double squared_distance(int D, const double *a, const double *b)
{
    double sum = 0;
    for (int d = 0; d < D; d++) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

static const double *point_of(const sg_tree *tree, int i)
{
    return tree->u + (size_t) tree->D * i;
}

/* ---- The tree ---- */

static void swap_points(int *point, int i, int j)
{
    const int kept = point[i];
    point[i] = point[j];
    point[j] = kept;
}

/* Orders points lo .. hi - 1 so that those before `mid` are not above it in number d (Hoare). */
static void select_middle(const sg_tree *tree, int d, int lo, int hi, int mid)
{
    int *point = tree->point;
    for (int last = hi - 1; lo < last;) {
        const double pivot = number_of(tree, point[lo + (last - lo) / 2], d);
        int i = lo, j = last;
        while (i <= j) {
            while (number_of(tree, point[i], d) < pivot) i++;
            while (number_of(tree, point[j], d) > pivot) j--;
            if (i <= j) swap_points(point, i++, j--);
        }
        if (mid <= j) last = j;
        else if (mid >= i) lo = i;
        else return;
    }
}

/* Fits the box of a node to its points, and returns its longest side. */
static int fit_box(const sg_tree *tree, int node, int lo, int hi)
{
    const int D = tree->D;
    double *box = tree->box + (size_t) 2 * D * node;
    int widest = 0;
    for (int d = 0; d < D; d++) {
        box[d] = box[D + d] = lo < hi ? number_of(tree, tree->point[lo], d) : 0;
        for (int k = lo; k < hi; k++) {
            const double own = number_of(tree, tree->point[k], d);
            if (own < box[d]) box[d] = own;
            if (own > box[D + d]) box[D + d] = own;
        }
        if (box[D + d] - box[d] > box[D + widest] - box[widest]) widest = d;
    }
    return widest;
}

static void build(const sg_tree *tree, int node, int level, int lo, int hi)
{
    const int widest = fit_box(tree, node, lo, hi), mid = lo + (hi - lo) / 2;
    if (level == tree->depth) return;
    if (lo < hi) select_middle(tree, widest, lo, hi, mid);
    build(tree, 2 * node + 1, level + 1, lo, mid);
    build(tree, 2 * node + 2, level + 1, mid, hi);
}

sg_tree sg_tree_new(int n, int D, const double *u, const sg_ws *ws)
{
    int depth = 0;
    while (n >> depth > LEAF) depth++;
    const size_t nodes = ((size_t) 2 << depth) - 1;
    sg_tree tree = {n, D, depth, u, sg_ints(n, ws), sg_doubles(ws, 2 * (size_t) D * nodes)};
    for (int i = 0; i < n; i++) tree.point[i] = i;
    build(&tree, 0, 0, 0, n);
    return tree;
}

/* Returns the squared distance of v from the box of a node, 0 inside. */
static double distance_to_box(const sg_tree *tree, int node, const double *v)
{
    const int D = tree->D;
    const double *box = tree->box + (size_t) 2 * D * node;
    double sum = 0;
    for (int d = 0; d < D; d++) {
        const double below = box[d] - v[d], above = v[d] - box[D + d];
        const double off = below > 0 ? below : above > 0 ? above : 0;
        sum += off * off;
    }
    return sum;
}

/* ---- Nearest neighbours ---- */

/* A search; `found` of `k` are there. */
typedef struct {
    const sg_tree *tree;
    const double *v;
    const int *place;  /* of each point in an order; NULL: all points count */
    const int *first;  /* of each node: the first place of its points */
    int before;        /* only points of places before this one count */
    int k, found;
    int *near;         /* k */
    double *distance;  /* k */
} search;

/* Takes a point in its place among those found: by distance, and of equally far ones by number. */
static void offer(search *s, int i)
{
    if (s->place && s->place[i] >= s->before) return;
    const double d2 = squared_distance(s->tree->D, point_of(s->tree, i), s->v);
    int at = s->found;
    while (at > 0 && (s->distance[at - 1] > d2 ||
                      (s->distance[at - 1] == d2 && s->near[at - 1] > i))) at--;
    if (at == s->k) return;
    if (s->found < s->k) s->found++;
    for (int j = s->found - 1; j > at; j--) {
        s->near[j] = s->near[j - 1];
        s->distance[j] = s->distance[j - 1];
    }
    s->near[at] = i;
    s->distance[at] = d2;
}

/* d2: the squared distance of the node's box */
static void look_in(search *s, int node, double d2, int level, int lo, int hi)
{
    const sg_tree *tree = s->tree;
    if (s->place && s->first[node] >= s->before) return;
    if (s->found == s->k && d2 > s->distance[s->k - 1]) return;
    if (level == tree->depth) {
        for (int k = lo; k < hi; k++) offer(s, tree->point[k]);
        return;
    }
    const int left = 2 * node + 1, mid = lo + (hi - lo) / 2;
    const double to_left = distance_to_box(tree, left, s->v);
    const double to_right = distance_to_box(tree, left + 1, s->v);
    if (to_left <= to_right) look_in(s, left, to_left, level + 1, lo, mid);
    look_in(s, left + 1, to_right, level + 1, mid, hi);
    if (to_left > to_right) look_in(s, left, to_left, level + 1, lo, mid);
}

static void run_search(search *s)
{
    s->found = 0;
    if (s->k > 0) look_in(s, 0, 0, 0, 0, s->tree->n);
    for (int j = s->found; j < s->k; j++) s->near[j] = -1;
}

/* A loop over searches. */
typedef struct {
    search common;
    const double *v;   /* D x m; NULL: those of the tree itself, each before its own place */
    int *near;
    size_t apart;      /* numbers of `near` from one search to the next */
    const int *number; /* of the tree's points; NULL: these are numbered themselves */
    const int *place;  /* of points by their number: those before `least` are left out */
    int least;
} search_job;

static void number_points(const search_job *job, int *near)
{
    for (int j = 0; j < job->common.k; j++) {
        if (near[j] < 0) return;
        const int i = job->number[near[j]];
        near[j] = job->place[i] < job->least ? -1 : i;
    }
}

static sg_status search_some(void *ctx, int from, int to, int slot, const sg_ws *ws)
{
    const search_job *job = ctx;
    search s = job->common;
    (void) slot;
    s.distance = sg_doubles(ws, s.k);
    for (int i = from; i < to; i++) {
        s.v = job->v ? job->v + (size_t) s.tree->D * i : point_of(s.tree, i);
        s.near = job->near + job->apart * i;
        if (s.place) s.before = s.place[i];
        run_search(&s);
        if (job->number) number_points(job, s.near);
    }
    return SG_OK;
}

/* Writes the first place of the points of each node below this one, and returns its own. */
static int first_places(const sg_tree *tree, const int *place, int node, int level, int lo, int hi,
                        int *first)
{
    int least = tree->n;
    if (level == tree->depth) {
        for (int k = lo; k < hi; k++) {
            if (place[tree->point[k]] < least) least = place[tree->point[k]];
        }
    } else {
        const int mid = lo + (hi - lo) / 2;
        const int a = first_places(tree, place, 2 * node + 1, level + 1, lo, mid, first);
        const int b = first_places(tree, place, 2 * node + 2, level + 1, mid, hi, first);
        least = a < b ? a : b;
    }
    return first[node] = least;
}

static int *places_of(int n, const int *order, const sg_ws *ws)
{
    int *place = sg_ints(n, ws);
    for (int q = 0; q < n; q++) place[order[q]] = q;
    return place;
}

sg_status sg_nearest_before(const sg_tree *tree, const int *order, int k, int *near,
                            const sg_ws *ws)
{
    void *mark = sg_mark(ws);
    const int *place = places_of(tree->n, order, ws);
    int *first = sg_ints((size_t) 2 << tree->depth, ws);
    first_places(tree, place, 0, 0, 0, tree->n, first);
    search_job job = {.common = {.tree = tree, .place = place, .first = first, .k = k},
                      .near = near, .apart = k};
    const sg_status status = sg_par_rows(tree->n, GRAIN, search_some, &job, ws);
    sg_release(ws, mark);
    return status;
}

/* Returns the tree of points whose places are before `prefix`, and their numbers. */
static sg_tree tree_of_first(int n, int D, const double *u, const int *place, int prefix,
                             int *number, const sg_ws *ws)
{
    double *own = sg_doubles(ws, (size_t) D * prefix);
    for (int i = 0, q = 0; i < n; i++) {
        if (place[i] >= prefix) continue;
        sg_copy(D, u + (size_t) D * i, own + (size_t) D * q);
        number[q++] = i;
    }
    return sg_tree_new(prefix, D, own, ws);
}

sg_status sg_nearest_levels(const sg_points_in_order *points, int levels, const int *prefix,
                            int m, const double *v, int k, int *near, const sg_ws *ws)
{
    sg_status status = SG_OK;
    for (int l = 0; l < levels && status == SG_OK; l++) {
        void *mark = sg_mark(ws);
        const int n = points->n, *place = places_of(n, points->order, ws);
        int *number = sg_ints(prefix[l], ws);
        const sg_tree tree = tree_of_first(n, points->D, points->u, place, prefix[l], number, ws);
        search_job job = {.common = {.tree = &tree, .k = k}, .v = v,
                          .near = near + (size_t) k * l, .apart = (size_t) k * levels,
                          .number = number, .place = place,
                          .least = l + 1 < levels ? prefix[l + 1] : 0};
        status = sg_par_rows(m, GRAIN, search_some, &job, ws);
        sg_release(ws, mark);
    }
    return status;
}

/* ---- Maximin order ---- */

/* The points that are left, as a heap: the farthest from all chosen ones on top. */
typedef struct {
    const sg_tree *tree;
    int left;
    int *heap;    /* points */
    int *at;      /* of each point its place in the heap; -1: it is chosen */
    double *away; /* of each point the squared distance from the chosen ones */
} far_heap;

/* Does point i come before j? */
static int is_before(const far_heap *h, int i, int j)
{
    return h->away[i] > h->away[j] || (i < j && !(h->away[i] < h->away[j]));
}

static void put_down(far_heap *h, int k, int i)
{
    for (int child = 2 * k + 1; child < h->left; child = 2 * k + 1) {
        if (child + 1 < h->left && is_before(h, h->heap[child + 1], h->heap[child])) child++;
        if (!is_before(h, h->heap[child], i)) break;
        h->at[h->heap[k] = h->heap[child]] = k;
        k = child;
    }
    h->at[h->heap[k] = i] = k;
}

/* Takes the point off the top. */
static int take_farthest(far_heap *h)
{
    const int top = h->heap[0], last = h->heap[--h->left];
    h->at[top] = -1;
    if (h->left > 0) put_down(h, 0, last);
    return top;
}

/* Brings points nearer that lie within the squared distance `reach` of the chosen point v. */
static void bring_nearer(far_heap *h, const double *v, double reach, int node, int level, int lo,
                         int hi)
{
    const sg_tree *tree = h->tree;
    if (distance_to_box(tree, node, v) >= reach) return;
    if (level < tree->depth) {
        const int mid = lo + (hi - lo) / 2;
        bring_nearer(h, v, reach, 2 * node + 1, level + 1, lo, mid);
        bring_nearer(h, v, reach, 2 * node + 2, level + 1, mid, hi);
        return;
    }
    for (int k = lo; k < hi; k++) {
        const int i = tree->point[k];
        const double d2 = squared_distance(tree->D, point_of(tree, i), v);
        if (h->at[i] < 0 || d2 >= h->away[i]) continue;
        h->away[i] = d2;
        put_down(h, h->at[i], i);
    }
}

/* Returns the point nearest to the mean of all. */
static int most_central(const sg_tree *tree, const sg_ws *ws)
{
    double *mean = sg_zeros(tree->D, ws);
    int best = 0;
    for (int d = 0; d < tree->D; d++) {
        for (int i = 0; i < tree->n; i++) mean[d] += number_of(tree, i, d) / tree->n;
    }
    for (int i = 1; i < tree->n; i++) {
        if (squared_distance(tree->D, point_of(tree, i), mean) <
            squared_distance(tree->D, point_of(tree, best), mean)) best = i;
    }
    return best;
}

void sg_maximin_order(const sg_tree *tree, int *order, const sg_ws *ws)
{
    const int n = tree->n;
    void *mark = sg_mark(ws);
    far_heap h = {tree, 0, sg_ints(n, ws), sg_ints(n, ws), sg_doubles(ws, n)};
    if (n > 0) order[0] = most_central(tree, ws);
    for (int i = 0; i < n; i++) {
        h.at[i] = -1;
        h.away[i] = squared_distance(tree->D, point_of(tree, i), point_of(tree, order[0]));
        if (i != order[0]) h.heap[h.left++] = i;
    }
    for (int k = h.left / 2; k >= 0 && h.left > 0; k--) put_down(&h, k, h.heap[k]);
    for (int k = 0; k < h.left; k++) h.at[h.heap[k]] = k;
    for (int q = 1; q < n; q++) {
        const int i = order[q] = take_farthest(&h);
        if (h.away[i] > 0) bring_nearer(&h, point_of(tree, i), h.away[i], 0, 0, 0, n);
        if (q % SG_BETWEEN_TICKS == 0) sg_tick(ws);
    }
    sg_release(ws, mark);
}
