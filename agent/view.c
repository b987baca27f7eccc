/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view.h"

#include <math.h>

enum {
    N_COST,
    N_COST_LOG,
    N_OUTPUTS,
    N_INPUTS,
    N_WEIGHTS,
    N_WEIGHT_LOG,
    N_WEIGHT_DIM,
    N_OUT_LOG = N_WEIGHT_DIM + 4,
    N_RANK,
    N_OUT_DIM,
    N_FLOAT = N_OUT_DIM + 4,
    N_KERNEL,
    N_STRIDE = N_KERNEL + 2,
    N_PAD = N_STRIDE + 2,
    N_DILATION,
    N_GROUP,
    N_FUSED,
    N_AXIS,
    N_PERM,
    N_TRANSPOSED = N_PERM + 4,
    N_ATTRIBUTES,
    N_COUNT = N_ATTRIBUTES + 2
};
static const char *const node_names[N_COUNT] = {
    "cost",           "cost_log",     "outputs",      "inputs",
    "weights",        "weight_size",  "weight_dim_4", "weight_dim_3",
    "weight_dim_2",   "weight_dim_1", "out_size",     "out_rank",
    "out_dim_4",      "out_dim_3",    "out_dim_2",    "out_dim_1",
    "float",          "kernel_h",     "kernel_w",     "stride_h",
    "stride_w",       "pad",          "dilation",     "group",
    "fused",          "axis",         "perm_1",       "perm_2",
    "perm_3",         "perm_4",       "transposed",   "attribute_mix_1",
    "attribute_mix_2"};

enum { E_SLOT = AG_EDGE_KINDS, E_PORT, E_SIZE, E_DIM, E_COUNT = E_DIM + 4 };
static const char *const edge_names[E_COUNT] = {"forward", "reverse", "self",  "slot",  "port",
                                                "size",    "dim_4",   "dim_3", "dim_2", "dim_1"};

enum { C_DELTA, C_DELTA_LOG, C_GAINS, C_COSTS, C_GONE, C_COME, C_COUNT };
static const char *const candidate_names[C_COUNT] = {"delta", "delta_log", "gains",
                                                     "costs", "gone",      "come"};

enum { G_COST, G_STEPS, G_NODES, G_CANDIDATES, G_BEST, G_BEST_LOG, G_GAINFUL, G_ANY, G_COUNT };
static const char *const global_names[G_COUNT] = {"cost", "steps",    "nodes",   "candidates",
                                                  "best", "best_log", "gainful", "any_gain"};

/* Attributes with a column of their own. */
enum {
    A_KERNEL,
    A_STRIDES,
    A_PADS,
    A_DILATIONS,
    A_GROUP,
    A_ACTIVATION,
    A_AXIS,
    A_PERM,
    A_TRANS_A,
    A_TRANS_B,
    A_COUNT
};
static const char *const attribute_names[A_COUNT] = {
    "kernel_shape", "strides", "pads", "dilations", "group",
    "activation",   "axis",    "perm", "transA",    "transB"};

struct ag_view {
    atomic_int refs;
    tg_arena *arena;
    ag_spec spec;
    int (*attribute)[A_COUNT]; /* place in each operator's spec, or -1 */
};

static ag_names operator_names(tg_arena *arena)
{
    const char **name = TG_NEW_ARRAY(arena, const char *, tg_op_row_count);
    for (int i = 0; i < tg_op_row_count; i++) {
        const tg_op_row *row = tg_op_get((tg_op)i);
        name[i] =
            row->domain[0] ? tg_arena_printf(arena, "%s.%s", row->domain, row->name) : row->name;
    }
    return (ag_names){tg_op_row_count, name};
}

ag_view *ag_view_new(const tg_rules *rules)
{
    tg_arena *arena = tg_arena_new();
    ag_view *view = TG_NEW(arena, ag_view);
    atomic_init(&view->refs, 1);
    view->arena = arena;
    int n = tg_rules_count(rules);
    const char **rule = TG_NEW_ARRAY(arena, const char *, n + 1);
    for (int i = 0; i < n; i++) rule[i] = tg_arena_strdup(arena, tg_rules_get(rules, i)->name);
    view->spec = (ag_spec){.operators = operator_names(arena),
                           .rules = {n, rule},
                           .node = {N_COUNT, node_names},
                           .edge = {E_COUNT, edge_names},
                           .candidate = {C_COUNT, candidate_names},
                           .global = {G_COUNT, global_names}};
    view->attribute = tg_arena_alloc(arena, sizeof *view->attribute * (size_t)tg_op_row_count);
    for (int i = 0; i < tg_op_row_count; i++) {
        for (int a = 0; a < A_COUNT; a++)
            view->attribute[i][a] = tg_op_attr_index((tg_op)i, attribute_names[a]);
    }
    return view;
}

ag_view *ag_view_ref(ag_view *view)
{
    atomic_fetch_add_explicit(&view->refs, 1, memory_order_relaxed);
    return view;
}

void ag_view_unref(ag_view *view)
{
    if (!view) return;
    if (atomic_fetch_sub_explicit(&view->refs, 1, memory_order_acq_rel) == 1)
        tg_arena_free(view->arena);
}

const ag_spec *ag_view_spec(const ag_view *view)
{
    return &view->spec;
}

/* ---- features ----------------------------------------------------------------------------------
 */

static float size_log(double x)
{
    return (float)(log2(1 + fmax(x, 0)) / 16);
}

/* Sizes of the last four dimensions, the last one last. */
static void put_dims(float *to, const tg_shape *s)
{
    for (int k = 0; k < 4; k++) {
        int64_t axis = s->rank - 4 + k;
        to[k] = s->rank > 0 && axis >= 0 ? size_log((double)s->dim[axis]) : 0;
    }
}

static double count_of(const tg_shape *s)
{
    double n = s->rank < 0 ? 0 : 1;
    for (int64_t i = 0; i < s->rank; i++) n *= s->dim[i] > 0 ? (double)s->dim[i] : 0;
    return n;
}

/* A link that a candidate makes; ends as in ag_delta. */
typedef struct new_link {
    int from, to;
    tg_value v;
    int slot;
} new_link;

/* A state being read: the graph, and the preview whose new nodes count from g->n_ids. */
typedef struct reading {
    const ag_view *view;
    tg_arena *arena; /* of the state */
    const tg_graph *g;
    double first_ms;
    int n;      /* nodes seen */
    int *index; /* by id: its number among them, or -1 */
    uint32_t *id;
    ag_graph graph;

    const tg_preview *p;
    int *row;              /* of each new node, or -1 if it is constant */
    int *mark;             /* by id: 2 * candidate + 1 gone, + 2 a row */
    int number;            /* of the candidate */
    TG_VEC(uint32_t) rows; /* kept nodes that are rows */
    TG_VEC(new_link) links;
    TG_VEC(int) base, op, in_at, in_from, gone;
    TG_VEC(float) x, in_x;
} reading;

/* A node of the graph or a new one. */
typedef struct seen {
    tg_op op;
    const tg_attr *attr;
    int n_in, n_out;
    const tg_value *in;
    const tg_type *out;
    double cost_ms;
} seen;

static bool is_new(const reading *r, tg_value v)
{
    return tg_value_node(v) >= r->g->n_ids;
}

static const tg_preview_node *new_node(const reading *r, tg_value v)
{
    return &r->p->come[tg_value_node(v) - r->g->n_ids];
}

static const tg_type *type_of(const reading *r, tg_value v)
{
    if (is_new(r, v)) return &new_node(r, v)->out[tg_value_port(v)];
    return tg_graph_type(r->g, v);
}

static bool constant_value(const reading *r, tg_value v)
{
    return is_new(r, v) ? new_node(r, v)->constant : tg_graph_maker(r->g, v)->constant;
}

static double int_at(const tg_attr *a, uint32_t i, double otherwise)
{
    if (!a) return otherwise;
    if (a->kind == TG_ATTR_INT) return (double)a->i;
    return a->kind == TG_ATTR_INTS && i < a->n ? (double)a->ints[i] : otherwise;
}

static void put_attributes(const reading *r, const seen *s, float *x)
{
    const int *at = r->view->attribute[s->op];
    const tg_attr *a[A_COUNT];
    int n_attr;
    uint64_t hash = 0;
    for (int k = 0; k < A_COUNT; k++) a[k] = at[k] >= 0 ? &s->attr[at[k]] : NULL;
    for (uint32_t k = 0; k < 2; k++) {
        x[N_KERNEL + k] = (float)int_at(a[A_KERNEL], k, 0) / 4;
        x[N_STRIDE + k] = (float)int_at(a[A_STRIDES], k, 0) / 2;
    }
    for (uint32_t k = 0; k < 4; k++) {
        x[N_PAD] += (float)int_at(a[A_PADS], k, 0) / 8;
        x[N_PERM + k] = (float)(1 + int_at(a[A_PERM], k, -1)) / 4;
    }
    x[N_DILATION] = (float)int_at(a[A_DILATIONS], 0, 1) - 1;
    x[N_GROUP] = size_log(int_at(a[A_GROUP], 0, 1) - 1);
    x[N_FUSED] = a[A_ACTIVATION] && a[A_ACTIVATION]->kind == TG_ATTR_STR && a[A_ACTIVATION]->n > 0;
    x[N_AXIS] = (float)(1 + int_at(a[A_AXIS], 0, -1)) / 4;
    x[N_TRANSPOSED] = (float)(int_at(a[A_TRANS_A], 0, 0) + 2 * int_at(a[A_TRANS_B], 0, 0)) / 3;
    tg_op_attrs(s->op, &n_attr);
    for (int k = 0; k < n_attr; k++) hash = tg_attr_hash(hash, &s->attr[k]);
    for (int k = 0; k < 2; k++)
        x[N_ATTRIBUTES + k] = n_attr ? (float)((double)(hash >> 32 * k & 0xffff) / 32768 - 1) : 0;
}

static void put_node(const reading *r, const seen *s, float *x)
{
    double share = r->first_ms > 0 ? s->cost_ms / r->first_ms : 0, weights = 0;
    memset(x, 0, N_COUNT * sizeof *x);
    x[N_COST] = (float)(10 * share);
    x[N_COST_LOG] = (float)(log1p(1e4 * share) / 8);
    x[N_OUTPUTS] = (float)s->n_out / 4;
    const tg_shape *largest = NULL;
    for (int i = 0; i < s->n_in; i++) {
        if (s->in[i] == TG_NO_VALUE) continue;
        x[N_INPUTS] += 0.25f;
        if (!constant_value(r, s->in[i])) continue;
        const tg_shape *shape = &type_of(r, s->in[i])->shape;
        x[N_WEIGHTS] += 0.25f;
        weights += count_of(shape);
        if (!largest || count_of(shape) > count_of(largest)) largest = shape;
    }
    x[N_WEIGHT_LOG] = size_log(weights);
    if (largest) put_dims(x + N_WEIGHT_DIM, largest);
    if (s->n_out > 0) {
        const tg_type *out = &s->out[0];
        x[N_OUT_LOG] = size_log(count_of(&out->shape));
        x[N_RANK] = (float)out->shape.rank / 4;
        put_dims(x + N_OUT_DIM, &out->shape);
        x[N_FLOAT] = tg_dtype_kind(out->dtype) == 'f';
    }
    put_attributes(r, s, x);
}

static void put_link(const reading *r, tg_value v, int slot, float *x)
{
    const tg_shape *shape = &type_of(r, v)->shape;
    memset(x, 0, E_COUNT * sizeof *x);
    x[E_SLOT] = (float)(slot < 8 ? slot : 8) / 4;
    x[E_PORT] = (float)tg_value_port(v) / 4;
    x[E_SIZE] = size_log(count_of(shape));
    put_dims(x + E_DIM, shape);
}

/* ---- the graph ---------------------------------------------------------------------------------
 */

static seen seen_node(const reading *r, const tg_node *node)
{
    return (seen){.op = node->op,
                  .attr = node->attrs ? node->attrs->a : NULL,
                  .n_in = node->n_in,
                  .n_out = node->n_out,
                  .in = node->in,
                  .out = node->out,
                  .cost_ms = tg_node_cost_ms(r->g, node)};
}

static void read_graph(reading *r)
{
    const tg_graph *g = r->g;
    int links = 0, most = 0;
    r->index = tg_malloc(sizeof(int) * (g->n_ids + 1));
    r->id = tg_malloc(sizeof(uint32_t) * (g->n_nodes + 1));
    memset(r->index, -1, sizeof(int) * (g->n_ids + 1));
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        most += node->n_in;
        if (node->constant) continue;
        r->index[node->id] = r->n;
        r->id[r->n++] = node->id;
    }
    int *op = TG_NEW_ARRAY(r->arena, int, r->n + 1);
    float *x = TG_NEW_ARRAY(r->arena, float, (size_t)(r->n + 1) * N_COUNT);
    int *from = tg_malloc(sizeof(int) * 2 * (size_t)(most + 1)), *to = from + most + 1;
    float *link_x = tg_malloc(sizeof(float) * E_COUNT * (size_t)(most + 1));
    for (int i = 0; i < r->n; i++) {
        const tg_node *node = g->nodes[r->id[i]];
        seen s = seen_node(r, node);
        op[i] = node->op;
        put_node(r, &s, x + (size_t)i * N_COUNT);
        for (int k = 0; k < node->n_in; k++) {
            if (node->in[k] == TG_NO_VALUE || constant_value(r, node->in[k])) continue;
            put_link(r, node->in[k], k, link_x + (size_t)links * E_COUNT);
            from[links] = r->index[tg_value_node(node->in[k])];
            to[links++] = i;
        }
    }
    ag_graph_build(r->arena, &r->graph, r->n, op, x, links, from, to, link_x, E_COUNT);
    free(from);
    free(link_x);
}

/* ---- a candidate -------------------------------------------------------------------------------
 */

static bool is_gone(const reading *r, uint32_t id)
{
    return r->mark[id] == 2 * r->number + 1;
}

static tg_value redirected(const reading *r, tg_value v)
{
    for (int i = 0; i < r->p->n_redirects; i++) {
        if (r->p->redirects[i].from == v) return r->p->redirects[i].to;
    }
    return v;
}

/* The number of a value's maker as a sender: a node, n + row, or -1 if it is constant. */
static int sender(const reading *r, tg_value v)
{
    if (v == TG_NO_VALUE) return -1;
    if (!is_new(r, v)) return r->index[tg_value_node(v)];
    int row = r->row[tg_value_node(v) - r->g->n_ids];
    return row < 0 ? -1 : r->n + row;
}

/* Makes a kept node a row. */
static void touch(reading *r, uint32_t id)
{
    if (id >= r->g->n_ids || r->index[id] < 0 || r->mark[id] > 2 * r->number) return;
    r->mark[id] = 2 * r->number + 2;
    tg_vec_push(&r->rows, id);
}

static void touch_maker(reading *r, tg_value v)
{
    if (v != TG_NO_VALUE) touch(r, tg_value_node(v));
}

static void link_up(reading *r, tg_value v, int to, int slot)
{
    int from = sender(r, v);
    if (from < 0) return;
    tg_vec_push(&r->links, (new_link){from, to, v, slot});
    touch_maker(r, v);
}

/* The users that stay, of a value that others replace. */
static void redirect_users(reading *r, const tg_preview_redirect *d)
{
    uint32_t n;
    if (is_new(r, d->from)) return;
    const tg_use *use = tg_graph_uses(r->g, tg_value_node(d->from), &n);
    touch_maker(r, d->from);
    for (uint32_t k = 0; k < n; k++) {
        if (use[k].port != tg_value_port(d->from) || is_gone(r, use[k].node)) continue;
        if (r->index[use[k].node] < 0) continue;
        touch(r, use[k].node);
        link_up(r, d->to, r->index[use[k].node], use[k].slot);
    }
}

/* Lists the links that a candidate makes, and the kept nodes that gain or lose one. */
static void find_changes(reading *r)
{
    const tg_preview *p = r->p;
    int next = 0;
    for (int i = 0; i < p->n_come; i++) r->row[i] = p->come[i].constant ? -1 : next++;
    for (int i = 0; i < p->n_gone; i++) r->mark[p->gone[i]] = 2 * r->number + 1;
    for (int i = 0; i < p->n_gone; i++) {
        const tg_node *node = r->g->nodes[p->gone[i]];
        for (int k = 0; k < node->n_in && !node->constant; k++) touch_maker(r, node->in[k]);
    }
    for (int i = 0; i < p->n_come; i++) {
        for (int k = 0; k < p->come[i].n_in && r->row[i] >= 0; k++)
            link_up(r, p->come[i].in[k], r->n + r->row[i], k);
    }
    for (int i = 0; i < p->n_redirects; i++) redirect_users(r, &p->redirects[i]);
}

static float *add_edge(reading *r, int from, int kind)
{
    static const float none[E_COUNT];
    tg_vec_push(&r->in_from, from);
    for (int k = 0; k < E_COUNT; k++) tg_vec_push(&r->in_x, none[k]);
    float *x = r->in_x.v + r->in_x.n - E_COUNT;
    x[kind] = 1;
    return x;
}

static void add_link(reading *r, int from, tg_value v, int slot, int kind)
{
    float *x = add_edge(r, from, kind);
    put_link(r, v, slot, x);
    x[kind] = 1;
}

/* Starts a row: its node, its edge to itself, what it reads, and who newly reads it. */
static void add_row(reading *r, int base, int self, const seen *s)
{
    tg_vec_push(&r->base, base);
    tg_vec_push(&r->op, s->op);
    tg_vec_push(&r->in_at, (int)r->in_from.n);
    tg_vec_reserve(&r->x, r->x.n + N_COUNT);
    put_node(r, s, r->x.v + r->x.n);
    r->x.n += N_COUNT;
    add_edge(r, self, AG_EDGE_SELF);
    for (int k = 0; k < s->n_in; k++) {
        int from = sender(r, s->in[k]);
        if (from >= 0) add_link(r, from, s->in[k], k, AG_EDGE_FORWARD);
    }
    for (size_t k = 0; k < r->links.n; k++) {
        const new_link *l = &r->links.v[k];
        if (l->from == self) add_link(r, l->to, l->v, l->slot, AG_EDGE_REVERSE);
    }
}

/* A kept node: its inputs redirected, and the users that it keeps. */
static void add_kept(reading *r, uint32_t id, tg_value *in)
{
    const tg_node *node = r->g->nodes[id];
    uint32_t n;
    seen s = seen_node(r, node);
    for (int k = 0; k < node->n_in; k++)
        in[k] = node->in[k] == TG_NO_VALUE ? TG_NO_VALUE : redirected(r, node->in[k]);
    s.in = in;
    add_row(r, r->index[id], r->index[id], &s);
    const tg_use *use = tg_graph_uses(r->g, id, &n);
    for (uint32_t k = 0; k < n; k++) {
        tg_value v = tg_value_of(id, use[k].port);
        if (is_gone(r, use[k].node) || r->index[use[k].node] < 0 || redirected(r, v) != v) continue;
        add_link(r, r->index[use[k].node], v, use[k].slot, AG_EDGE_REVERSE);
    }
}

static void add_rows(reading *r)
{
    const tg_preview *p = r->p;
    TG_VEC(tg_value) in = {0};
    for (int i = 0; i < p->n_come; i++) {
        const tg_preview_node *c = &p->come[i];
        if (r->row[i] < 0) continue;
        seen s = {.op = c->op,
                  .attr = c->attr,
                  .n_in = c->n_in,
                  .n_out = c->n_out,
                  .in = c->in,
                  .out = c->out,
                  .cost_ms = c->cost_ms};
        add_row(r, -1, r->n + r->row[i], &s);
    }
    for (size_t i = 0; i < r->rows.n; i++) {
        tg_vec_reserve(&in, r->g->nodes[r->rows.v[i]]->n_in + 1u);
        add_kept(r, r->rows.v[i], in.v);
    }
    tg_vec_push(&r->in_at, (int)r->in_from.n);
    for (int i = 0; i < p->n_gone; i++) {
        if (r->index[p->gone[i]] >= 0) tg_vec_push(&r->gone, r->index[p->gone[i]]);
    }
    tg_vec_free(&in);
}

#define KEEP(vec)                                                                                  \
    tg_arena_dup(r->arena, (vec).n ? (const void *)(vec).v : "", (vec).n * sizeof *(vec).v)

static void read_delta(reading *r, ag_delta *d)
{
    tg_vec_clear(&r->rows);
    tg_vec_clear(&r->links);
    tg_vec_clear(&r->base);
    tg_vec_clear(&r->op);
    tg_vec_clear(&r->in_at);
    tg_vec_clear(&r->in_from);
    tg_vec_clear(&r->gone);
    tg_vec_clear(&r->x);
    tg_vec_clear(&r->in_x);
    r->row = tg_malloc(sizeof(int) * (size_t)(r->p->n_come + 1));
    find_changes(r);
    add_rows(r);
    free(r->row);
    *d = (ag_delta){.n_gone = (int)r->gone.n,
                    .n_rows = (int)r->base.n,
                    .gone = KEEP(r->gone),
                    .base = KEEP(r->base),
                    .op = KEEP(r->op),
                    .x = KEEP(r->x),
                    .in_at = KEEP(r->in_at),
                    .in_from = KEEP(r->in_from),
                    .in_x = KEEP(r->in_x)};
}

static void put_delta(double percent, float *plain, float *logarithm)
{
    *plain = (float)(fmax(-50, fmin(50, percent)) / 10);
    *logarithm = (float)(copysign(log1p(10 * fabs(percent)), percent) / 4);
}

static tg_status read_candidate(reading *r, const tg_candidates *all, int i, ag_candidate *to)
{
    const tg_candidate *c = tg_candidates_get(all, i);
    const char *rule = tg_rules_get(tg_candidates_rules(all), c->site->rule)->name;
    int known = c->site->rule < r->view->spec.rules.n &&
                        !strcmp(rule, r->view->spec.rules.name[c->site->rule])
                    ? c->site->rule
                    : ag_names_find(&r->view->spec.rules, rule);
    if (known < 0) return tg_fail(TG_NOTFOUND, "the policy has no rule %s", rule);
    float *x = TG_NEW_ARRAY(r->arena, float, C_COUNT);
    double percent = r->first_ms > 0 ? 100 * c->preview.cost_delta_ms / r->first_ms : 0;
    put_delta(percent, &x[C_DELTA], &x[C_DELTA_LOG]);
    x[C_GAINS] = percent < -1e-4;
    x[C_COSTS] = percent > 1e-4;
    x[C_GONE] = (float)c->preview.nodes_gone / 8;
    x[C_COME] = (float)c->preview.nodes_come / 8;
    *to = (ag_candidate){.rule = known, .allowed = true, .key = c->site->key, .x = x};
    r->p = &c->preview;
    r->number = i;
    read_delta(r, &to->delta);
    return TG_OK;
}

static void read_globals(const reading *r, const tg_candidates *all, int steps, ag_state *state)
{
    float *x = TG_NEW_ARRAY(r->arena, float, G_COUNT);
    int n = tg_candidates_count(all), gainful = 0;
    double best = 0;
    for (int i = 0; i < n; i++) {
        double delta = tg_candidates_get(all, i)->preview.cost_delta_ms;
        gainful += state->candidates[i].x[C_GAINS] > 0;
        best = fmin(best, delta);
    }
    double first = r->first_ms > 0 ? r->first_ms : 1;
    x[G_COST] = (float)(tg_graph_cost_ms(r->g) / first);
    x[G_STEPS] = (float)steps / 50;
    x[G_NODES] = size_log(r->n);
    x[G_CANDIDATES] = size_log(n);
    put_delta(100 * best / first, &x[G_BEST], &x[G_BEST_LOG]);
    x[G_GAINFUL] = n ? (float)gainful / (float)n : 0;
    x[G_ANY] = gainful > 0;
    state->global = x;
}

static void reading_done(reading *r)
{
    free(r->index);
    free(r->id);
    free(r->mark);
    tg_vec_free(&r->rows);
    tg_vec_free(&r->links);
    tg_vec_free(&r->base);
    tg_vec_free(&r->op);
    tg_vec_free(&r->in_at);
    tg_vec_free(&r->in_from);
    tg_vec_free(&r->gone);
    tg_vec_free(&r->x);
    tg_vec_free(&r->in_x);
}

tg_status ag_view_state(const ag_view *view, const tg_candidates *candidates, double first_ms,
                        int steps, ag_state **out)
{
    ag_state *state = ag_state_new();
    reading r = {.view = view,
                 .arena = state->arena,
                 .g = tg_candidates_graph(candidates),
                 .first_ms = first_ms};
    tg_status status = TG_OK;
    int n = tg_candidates_count(candidates);
    r.mark = tg_malloc(sizeof(int) * (r.g->n_ids + 1));
    memset(r.mark, 0, sizeof(int) * (r.g->n_ids + 1));
    read_graph(&r);
    state->key = r.g->hash;
    state->graph = r.graph;
    state->n_candidates = n;
    state->candidates = TG_NEW_ARRAY(state->arena, ag_candidate, n + 1);
    for (int i = 0; i < n && status == TG_OK; i++)
        status = read_candidate(&r, candidates, i, &state->candidates[i]);
    if (status == TG_OK) read_globals(&r, candidates, steps, state);
    reading_done(&r);
    if (status != TG_OK) ag_state_unref(state);
    else *out = state;
    return status;
}

void ag_view_lean(const ag_net *net, ag_real *value)
{
    value[net->c_skip + C_DELTA_LOG] = (ag_real)-1.6;
    value[net->s_skip + G_ANY] = -2;
}
