/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/ops/cost.h"
#include "rows.h"

#include <stdlib.h>

enum { LANE_COLUMNS = 13 };

typedef TG_VEC(uint32_t) ids;

/*
 * What is drawn. Nodes after the rewrite are those of `after`, or, where that is NULL, of `made`
 * (new ones, and copies of old ones whose inputs moved) and else of `before`.
 */
typedef struct scene {
    const tg_graph *before, *after;
    tg_diff *diff;
    tg_map made;     /* id -> tg_node */
    tg_map distance; /* id -> 1 + values between it and the rewrite, of the graph before */
    ids gone, come, kept, queue;
    ids readers;     /* of values that move */
    double *come_ms; /* of new nodes, by index; NULL with two graphs */
} scene;

static const tg_node *node_after(const scene *s, uint32_t id)
{
    if (s->after) return tg_graph_node(s->after, id);
    const uint64_t *made = tg_map_find(&s->made, id);
    return made ? (const tg_node *)(uintptr_t)*made : tg_graph_node(s->before, id);
}

static bool drawn(const tg_node *node)
{
    return node && tg_draw_shown(node, false);
}

/* ---- what is near */

static void reach(scene *s, uint32_t id, uint64_t distance)
{
    bool fresh;
    if (!drawn(tg_graph_node(s->before, id)) || !drawn(node_after(s, id))) return;
    if (s->gone.n + s->kept.n >= TG_DIFF_MOST_ROWS) return;
    uint64_t *at = tg_map_put(&s->distance, id, &fresh);
    if (!fresh) return;
    *at = distance;
    tg_vec_push(&s->queue, id);
    if (distance > 1) tg_vec_push(&s->kept, id);
}

static void reach_neighbours(scene *s, uint32_t id, uint64_t distance)
{
    const tg_node *node = s->before->nodes[id];
    uint32_t n;
    for (int k = 0; k < node->n_in; k++)
        if (node->in[k] != TG_NO_VALUE) reach(s, tg_value_node(node->in[k]), distance);
    const tg_use *use = tg_graph_uses(s->before, id, &n);
    for (uint32_t u = 0; u < n; u++) reach(s, use[u].node, distance);
}

/* Nodes of the graph before that the new ones read. */
static void reach_inputs(scene *s)
{
    for (size_t i = 0; i < s->come.n; i++) {
        const tg_node *node = node_after(s, s->come.v[i]);
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE) reach(s, tg_value_node(node->in[k]), 2);
    }
}

static void gather_context(scene *s, int radius)
{
    for (size_t i = 0; i < s->gone.n; i++) *tg_map_put(&s->distance, s->gone.v[i], NULL) = 1;
    if (radius <= 0) return;
    for (size_t i = 0; i < s->gone.n; i++) reach_neighbours(s, s->gone.v[i], 2);
    for (size_t i = 0; i < s->readers.n; i++) reach(s, s->readers.v[i], 2);
    reach_inputs(s);
    for (size_t i = 0; i < s->queue.n; i++) {
        uint64_t distance = *tg_map_find(&s->distance, s->queue.v[i]);
        if (distance <= (uint64_t)radius) reach_neighbours(s, s->queue.v[i], distance + 1);
    }
}

/* ---- orders */

/* An entry of the order after: rows with smaller keys come first where the values allow it. */
typedef struct entry {
    uint32_t id, key;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_before(const scene *s, ids *order)
{
    TG_VEC(entry) list = {0};
    const ids *parts[] = {&s->gone, &s->kept};
    for (int p = 0; p < 2; p++)
        for (size_t i = 0; i < parts[p]->n; i++)
            tg_vec_push(&list, (entry){parts[p]->v[i], s->before->position[parts[p]->v[i]]});
    if (list.n) qsort(list.v, list.n, sizeof *list.v, compare_entries);
    for (size_t i = 0; i < list.n; i++) tg_vec_push(order, list.v[i].id);
    tg_vec_free(&list);
}

/* True if all rows that the node reads from are placed. */
static bool is_ready(const scene *s, const tg_map *waiting, uint32_t id)
{
    const tg_node *node = node_after(s, id);
    for (int k = 0; k < node->n_in; k++) {
        const uint64_t *w =
            node->in[k] == TG_NO_VALUE ? NULL : tg_map_find(waiting, tg_value_node(node->in[k]));
        if (w && *w) return false;
    }
    return true;
}

/* New rows stand where the first that goes stood. */
static void sort_after(const scene *s, ids *order)
{
    TG_VEC(entry) list = {0};
    tg_map waiting = {0};
    uint32_t place = s->gone.n ? s->before->position[s->gone.v[0]] : UINT32_MAX;
    for (size_t i = 0; i < s->gone.n; i++)
        if (s->before->position[s->gone.v[i]] < place) place = s->before->position[s->gone.v[i]];
    for (size_t i = 0; i < s->kept.n; i++)
        tg_vec_push(&list, (entry){s->kept.v[i], s->before->position[s->kept.v[i]]});
    for (size_t i = 0; i < s->come.n; i++) tg_vec_push(&list, (entry){s->come.v[i], place});
    if (list.n) qsort(list.v, list.n, sizeof *list.v, compare_entries);
    for (size_t i = 0; i < list.n; i++) *tg_map_put(&waiting, list.v[i].id, NULL) = 1;
    while (list.n) {
        size_t i = 0;
        while (i + 1 < list.n && !is_ready(s, &waiting, list.v[i].id)) i++;
        if (!is_ready(s, &waiting, list.v[i].id)) i = 0;
        tg_vec_push(order, list.v[i].id);
        *tg_map_put(&waiting, list.v[i].id, NULL) = 0;
        tg_vec_remove(&list, i);
    }
    tg_vec_free(&list);
    tg_map_free(&waiting);
}

/* ---- rows */

static const char *op_name(const tg_node *node)
{
    return node->op == TG_OP_OPAQUE ? tg_node_attr(node, "op_type")->s : tg_op_get(node->op)->name;
}

static double cost_of(const scene *s, const tg_node *node, bool after)
{
    if (after && s->come_ms && node->id >= s->before->n_ids)
        return s->come_ms[node->id - s->before->n_ids];
    if (after && s->after) return tg_node_cost_ms(s->after, node);
    return tg_node_cost_ms(s->before, s->before->nodes[node->id]);
}

static int weights_of(const scene *s, const tg_node *node, bool after)
{
    int n = 0;
    for (int k = 0; k < node->n_in; k++) {
        if (node->in[k] == TG_NO_VALUE) continue;
        uint32_t id = tg_value_node(node->in[k]);
        const tg_node *maker = after ? node_after(s, id) : s->before->nodes[id];
        n += maker && maker->constant;
    }
    return n;
}

static void fill_row(const scene *s, uint32_t id, bool after, bool changed, tg_diff_row *row)
{
    const tg_node *node = after ? node_after(s, id) : s->before->nodes[id];
    tg_arena *arena = s->diff->arena;
    *row = (tg_diff_row){.id = id, .changed = changed, .op = tg_arena_strdup(arena, op_name(node))};
    if (node->name[0]) row->label = tg_arena_strdup(arena, node->name);
    else if (node->n_out && node->out_name && node->out_name[0][0])
        row->label = tg_arena_strdup(arena, node->out_name[0]);
    else row->label = tg_arena_printf(arena, "%s_%u", row->op, id);
    if (node->n_out) row->type = node->out[0];
    row->n_weights = weights_of(s, node, after);
    row->cost_ms = cost_of(s, node, after);
}

/* Inputs by local numbers; what is outside of the picture is absent. */
static const tg_value *local_inputs(const tg_node *node, const tg_map *local, tg_arena *arena)
{
    tg_value *in = TG_NEW_ARRAY(arena, tg_value, node->n_in + 1);
    for (int k = 0; k < node->n_in; k++) {
        bool absent = node->in[k] == TG_NO_VALUE;
        const uint64_t *to = absent ? NULL : tg_map_find(local, tg_value_node(node->in[k]));
        in[k] = to ? tg_value_of((uint32_t)*to, tg_value_port(node->in[k])) : TG_NO_VALUE;
    }
    return in;
}

/* The rails of a few nodes: a graph of them alone, numbered from 1, is what the lanes see. */
static void draw_side(const scene *s, const ids *order, bool after, tg_diff_row *rows,
                      tg_diff_side *side)
{
    tg_arena *arena = s->diff->arena;
    uint32_t n = (uint32_t)order->n;
    tg_node *node = TG_NEW_ARRAY(arena, tg_node, n + 1);
    tg_node **nodes = TG_NEW_ARRAY(arena, tg_node *, n + 1);
    tg_row *lane_rows = TG_NEW_ARRAY(arena, tg_row, n + 1);
    int32_t *row_of = TG_NEW_ARRAY(arena, int32_t, n + 1);
    tg_map local = {0};
    row_of[0] = -1;
    for (uint32_t i = 0; i < n; i++) *tg_map_put(&local, order->v[i], NULL) = i + 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = order->v[i];
        const tg_node *from = after ? node_after(s, id) : s->before->nodes[id];
        nodes[i + 1] = &node[i + 1];
        node[i + 1].id = i + 1;
        node[i + 1].n_in = from->n_in;
        node[i + 1].n_out = from->n_out;
        node[i + 1].in = local_inputs(from, &local, arena);
        row_of[i + 1] = (int32_t)i;
        lane_rows[i] = (tg_row){.nodes = &node[i + 1].id, .n_nodes = 1, .output = -1, .rails = ""};
    }
    tg_graph g = {.nodes = nodes, .n_ids = n + 1, .n_nodes = n};
    tg_drawing d = {
        .arena = arena, .rows = lane_rows, .n_rows = n, .n_ids = n + 1, .row_of = row_of};
    tg_draw_lanes(&g, &(tg_draw_options){.lane_columns = LANE_COLUMNS}, &d);
    for (uint32_t i = 0; i < n; i++) rows[i].rails = lane_rows[i].rails;
    tg_map_free(&local);
    *side = (tg_diff_side){rows, (int)n, n ? d.width : 0};
}

static void make_side(const scene *s, const ids *order, bool after, tg_diff_side *side)
{
    const ids *changed = after ? &s->come : &s->gone;
    tg_diff_row *rows = TG_NEW_ARRAY(s->diff->arena, tg_diff_row, order->n + 1);
    tg_map marks = {0};
    for (size_t i = 0; i < changed->n; i++) *tg_map_put(&marks, changed->v[i], NULL) = 1;
    for (size_t i = 0; i < order->n; i++)
        fill_row(s, order->v[i], after, tg_map_find(&marks, order->v[i]) != NULL, &rows[i]);
    tg_map_free(&marks);
    draw_side(s, order, after, rows, side);
}

/* ---- lines */

static bool same_row(const tg_diff *d, int i, int j)
{
    return !d->before.rows[i].changed && !d->after.rows[j].changed &&
           d->before.rows[i].id == d->after.rows[j].id;
}

/* The longest common subsequence of the rows that stay (Wagner and Fischer 1974). O(n m). */
static void align(tg_diff *d)
{
    int n = d->before.n, m = d->after.n;
    uint16_t *best = tg_calloc((size_t)(n + 1) * (size_t)(m + 1), sizeof *best);
    tg_diff_line *lines = TG_NEW_ARRAY(d->arena, tg_diff_line, n + m + 1);
#define BEST(i, j) best[(size_t)(i) * (size_t)(m + 1) + (size_t)(j)]
    for (int i = n - 1; i >= 0; i--)
        for (int j = m - 1; j >= 0; j--) {
            uint16_t skip = BEST(i + 1, j) > BEST(i, j + 1) ? BEST(i + 1, j) : BEST(i, j + 1);
            BEST(i, j) = same_row(d, i, j) ? (uint16_t)(BEST(i + 1, j + 1) + 1) : skip;
        }
    for (int i = 0, j = 0; i < n || j < m;) {
        /* what differs up to the next row in common stands side by side */
        int to_i = i, to_j = j;
        while (to_i < n && to_j < m && !same_row(d, to_i, to_j))
            if (BEST(to_i + 1, to_j) >= BEST(to_i, to_j + 1)) to_i++;
            else to_j++;
        if (to_i == n || to_j == m) to_i = n, to_j = m;
        for (; i < to_i || j < to_j; d->n_lines++)
            lines[d->n_lines] = (tg_diff_line){i < to_i ? i++ : -1, j < to_j ? j++ : -1};
        if (i < n && j < m) lines[d->n_lines++] = (tg_diff_line){i++, j++};
    }
#undef BEST
    d->lines = lines;
    free(best);
}

static tg_diff *draw_scene(scene *s, int radius)
{
    ids before = {0}, after = {0};
    gather_context(s, radius);
    sort_before(s, &before);
    sort_after(s, &after);
    make_side(s, &before, false, &s->diff->before);
    make_side(s, &after, true, &s->diff->after);
    align(s->diff);
    s->diff->left_out = (int)tg_graph_op_count(s->before);
    for (size_t i = 0; i < before.n; i++)
        s->diff->left_out -= s->before->nodes[before.v[i]]->op >= TG_OP_OPAQUE;
    tg_vec_free(&before);
    tg_vec_free(&after);
    tg_vec_free(&s->gone);
    tg_vec_free(&s->come);
    tg_vec_free(&s->kept);
    tg_vec_free(&s->readers);
    tg_vec_free(&s->queue);
    tg_map_free(&s->made);
    tg_map_free(&s->distance);
    return s->diff;
}

static scene start_scene(const tg_graph *before, const tg_graph *after)
{
    scene s = {.before = before, .after = after};
    tg_arena *arena = tg_arena_new();
    s.diff = TG_NEW(arena, tg_diff);
    s.diff->arena = arena;
    return s;
}

/* ---- a rewrite that has not been made */

static tg_value redirected(const tg_diff_change *c, tg_value v)
{
    for (int i = 0; i < c->n_redirects; i++)
        if (c->redirects[i].from == v) return c->redirects[i].to;
    return v;
}

static tg_node *made_node(scene *s, const tg_diff_change *c, uint32_t id, int n_in,
                          const tg_value *in)
{
    tg_arena *arena = s->diff->arena;
    tg_node *node = TG_NEW(arena, tg_node);
    tg_value *to = TG_NEW_ARRAY(arena, tg_value, n_in + 1);
    for (int k = 0; k < n_in; k++) to[k] = in[k] == TG_NO_VALUE ? in[k] : redirected(c, in[k]);
    node->id = id;
    node->name = "";
    node->n_in = (uint16_t)n_in;
    node->in = to;
    *tg_map_put(&s->made, id, NULL) = (uint64_t)(uintptr_t)node;
    return node;
}

/* A value that takes another's place takes its name too. */
static const char *const *new_names(const scene *s, const tg_diff_change *c, const tg_node *node)
{
    const char **names = TG_NEW_ARRAY(s->diff->arena, const char *, node->n_out + 1);
    for (int port = 0; port < node->n_out; port++) {
        names[port] = "";
        for (int r = 0; r < c->n_redirects; r++) {
            const tg_node *from = tg_graph_node(s->before, tg_value_node(c->redirects[r].from));
            if (from && c->redirects[r].to == tg_value_of(node->id, (uint32_t)port))
                names[port] = from->out_name[tg_value_port(c->redirects[r].from)];
        }
    }
    return names;
}

static void make_new(scene *s, const tg_diff_change *c)
{
    s->come_ms = TG_NEW_ARRAY(s->diff->arena, double, c->n_come + 1);
    for (int i = 0; i < c->n_come; i++) {
        const tg_diff_new *n = &c->come[i];
        tg_node *node = made_node(s, c, s->before->n_ids + (uint32_t)i, n->n_in, n->in);
        node->op = n->op;
        node->constant = n->constant;
        node->n_out = n->n_out;
        node->out = n->out;
        node->out_name = new_names(s, c, node);
        s->come_ms[i] = n->cost_ms;
        if (!n->constant) tg_vec_push(&s->come, node->id);
    }
}

/* Readers of a value that moves read another one after. */
static void move_readers(scene *s, const tg_diff_change *c)
{
    for (int r = 0; r < c->n_redirects; r++) {
        uint32_t n, id = tg_value_node(c->redirects[r].from);
        if (!tg_graph_node(s->before, id)) continue;
        const tg_use *use = tg_graph_uses(s->before, id, &n);
        for (uint32_t u = 0; u < n; u++) {
            const tg_node *from = s->before->nodes[use[u].node];
            if (!from->id || tg_map_find(&s->made, from->id)) continue;
            tg_vec_push(&s->readers, from->id);
            tg_node *node = made_node(s, c, from->id, from->n_in, from->in);
            node->op = from->op;
            node->attrs = from->attrs;
            node->constant = from->constant;
            node->n_out = from->n_out;
            node->out = from->out;
            node->name = from->name;
            node->out_name = from->out_name;
        }
    }
}

tg_diff *tg_diff_of_change(const tg_graph *g, const tg_diff_change *change, int radius)
{
    scene s = start_scene(g, NULL);
    for (int i = 0; i < change->n_gone && s.gone.n < TG_DIFF_MOST_ROWS; i++)
        if (drawn(tg_graph_node(g, change->gone[i]))) tg_vec_push(&s.gone, change->gone[i]);
    make_new(&s, change);
    move_readers(&s, change);
    return draw_scene(&s, radius);
}

/* ---- two graphs */

tg_diff *tg_diff_of_graphs(const tg_graph *before, const tg_graph *after, int radius)
{
    scene s = start_scene(before, after);
    for (uint32_t id = 1; id < before->n_ids && s.gone.n < TG_DIFF_MOST_ROWS; id++)
        if (drawn(before->nodes[id]) && !tg_graph_node(after, id)) tg_vec_push(&s.gone, id);
    for (uint32_t id = 1; id < after->n_ids && s.come.n < TG_DIFF_MOST_ROWS; id++)
        if (drawn(after->nodes[id]) && !tg_graph_node(before, id)) tg_vec_push(&s.come, id);
    return draw_scene(&s, radius);
}

void tg_diff_free(tg_diff *diff)
{
    if (diff) tg_arena_free(diff->arena);
}
