/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"

#include <stdio.h>

enum { LANE_COLUMNS = 14, POLL_ROWS = 1024 };

/*
 * A lane holds one live value, whatever its number of readers. Invariant: lane[i] is TG_NO_VALUE or
 * a value with readers still to come; left[v] counts them.
 */
typedef struct lanes {
    const tg_graph *g;
    tg_drawing *d;
    TG_VEC(tg_value) lane;
    tg_map left;      /* value -> rows that still read it */
    tg_map reference; /* value -> its number in the margin */
    int most;         /* lanes that fit into the picture */
    int n_references;
} lanes;

typedef TG_VEC(tg_value) values;

static void add_once(values *list, tg_value v)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i] == v) return;
    tg_vec_push(list, v);
}

/* Values that a row reads from other rows, each once. */
static void row_reads(const lanes *l, const tg_row *row, values *in)
{
    int32_t self = (int32_t)(row - l->d->rows);
    tg_vec_clear(in);
    if (row->output >= 0) {
        tg_value v = tg_graph_sink(l->g)->in[row->output];
        if (l->d->row_of[tg_value_node(v)] >= 0) add_once(in, v);
    }
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        const tg_node *node = l->g->nodes[row->nodes[i]];
        for (int k = 0; k < node->n_in; k++) {
            if (node->in[k] == TG_NO_VALUE) continue;
            int32_t from = l->d->row_of[tg_value_node(node->in[k])];
            if (from >= 0 && from != self) add_once(in, node->in[k]);
        }
    }
}

/* Values that a row makes and other rows read. */
static void row_makes(const lanes *l, const tg_row *row, values *out)
{
    tg_vec_clear(out);
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        const tg_node *node = l->g->nodes[row->nodes[i]];
        for (int port = 0; port < node->n_out; port++)
            if (tg_map_find(&l->left, tg_value_of(node->id, (uint32_t)port)))
                tg_vec_push(out, tg_value_of(node->id, (uint32_t)port));
    }
}

static void count_readers(lanes *l)
{
    values in = {0};
    for (uint32_t r = 0; r < l->d->n_rows; r++) {
        row_reads(l, &l->d->rows[r], &in);
        for (size_t i = 0; i < in.n; i++) ++*tg_map_put(&l->left, in.v[i], NULL);
    }
    tg_vec_free(&in);
}

static int lane_of(const lanes *l, tg_value v)
{
    for (size_t i = 0; i < l->lane.n; i++)
        if (l->lane.v[i] == v) return (int)i;
    return -1;
}

/* The free lane nearest to `near`, to the right of it at equal distance. */
static int free_lane(lanes *l, int near)
{
    for (int step = 0; step <= (int)l->lane.n; step++) {
        if (near + step < (int)l->lane.n && l->lane.v[near + step] == TG_NO_VALUE)
            return near + step;
        if (near - step >= 0 && near - step < (int)l->lane.n &&
            l->lane.v[near - step] == TG_NO_VALUE)
            return near - step;
        if (near + step == (int)l->lane.n) break;
    }
    tg_vec_push(&l->lane, TG_NO_VALUE);
    return (int)l->lane.n - 1;
}

/* What happens in one row. */
typedef struct event {
    int dot;
    values in, out;
    int *in_lane, *out_lane;
    bool *dies;
} event;

static void place_dot(lanes *l, event *e)
{
    int best = -1, nearest = 0;
    for (size_t i = 0; i < e->in.n; i++) {
        e->in_lane[i] = lane_of(l, e->in.v[i]);
        uint64_t *left = tg_map_find(&l->left, e->in.v[i]);
        e->dies[i] = --*left == 0;
        if (e->dies[i] && (best < 0 || e->in_lane[i] < best)) best = e->in_lane[i];
        nearest = e->in_lane[i];
    }
    e->dot = best >= 0 ? best : free_lane(l, nearest);
    for (size_t i = 0; i < e->in.n; i++)
        if (e->dies[i]) l->lane.v[e->in_lane[i]] = TG_NO_VALUE;
}

static void place_outputs(lanes *l, event *e)
{
    for (size_t i = 0; i < e->out.n; i++) {
        int lane = i == 0 ? e->dot : free_lane(l, e->dot + 1);
        l->lane.v[lane] = e->out.v[i];
        e->out_lane[i] = lane;
    }
}

/* The pieces of a cell: which of its four sides have a line. */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

static const char *const piece[16] = {
    [0] = " ",
    [UP] = "│",
    [DOWN] = "│",
    [UP | DOWN] = "│",
    [LEFT] = "─",
    [RIGHT] = "─",
    [LEFT | RIGHT] = "─",
    [UP | LEFT] = "╯",
    [UP | RIGHT] = "╰",
    [DOWN | LEFT] = "╮",
    [DOWN | RIGHT] = "╭",
    [UP | DOWN | LEFT] = "┤",
    [UP | DOWN | RIGHT] = "├",
    [UP | LEFT | RIGHT] = "┴",
    [DOWN | LEFT | RIGHT] = "┬",
    [UP | DOWN | LEFT | RIGHT] = "┼",
};

static void connect(unsigned char *cell, int columns, int from, int to)
{
    int a = 2 * (from < to ? from : to), b = 2 * (from < to ? to : from);
    for (int c = a; c <= b && c < columns; c++) {
        if (c > a) cell[c] |= LEFT;
        if (c < b) cell[c] |= RIGHT;
    }
}

/* Lines that cross the row before its event: all lanes alive above and below. */
static void pass_lanes(const lanes *l, const unsigned char *above, unsigned char *cell, int columns)
{
    for (int lane = 0; 2 * lane < columns; lane++) {
        if (above[lane]) cell[2 * lane] |= UP;
        if (lane < (int)l->lane.n && l->lane.v[lane] != TG_NO_VALUE) cell[2 * lane] |= DOWN;
    }
}

static int clip(const lanes *l, int lane)
{
    return lane < l->most ? lane : l->most - 1;
}

/* Values in lanes beyond the picture are numbered instead of drawn. */
static int reference(lanes *l, const event *e, tg_str *text)
{
    int own = 0;
    for (size_t i = 0; i < e->in.n; i++) {
        const uint64_t *number = tg_map_find(&l->reference, e->in.v[i]);
        if (number) tg_str_addf(text, "⟨%d⟩", (int)*number);
    }
    for (size_t i = 0; i < e->out.n; i++) {
        if (e->out_lane[i] < l->most) continue;
        own = ++l->n_references;
        *tg_map_put(&l->reference, e->out.v[i], NULL) = (uint64_t)own;
        tg_str_addf(text, "⟨%d⟩", own);
    }
    return own;
}

static void draw_row(lanes *l, const event *e, const unsigned char *above, tg_row *row)
{
    int columns = 2 * l->most - 1;
    unsigned char *cell = tg_calloc((size_t)columns + 2, 1);
    pass_lanes(l, above, cell, columns);
    for (size_t i = 0; i < e->in.n; i++)
        if (e->in_lane[i] != e->dot && e->in_lane[i] < l->most)
            connect(cell, columns, e->in_lane[i], clip(l, e->dot));
    for (size_t i = 0; i < e->out.n; i++)
        if (e->out_lane[i] != e->dot && e->out_lane[i] < l->most)
            connect(cell, columns, clip(l, e->dot), e->out_lane[i]);
    tg_str text = {0};
    for (int c = 0; c < columns; c++)
        tg_str_add(&text, c == 2 * clip(l, e->dot) ? "●" : piece[cell[c]]);
    tg_str_addc(&text, ' ');
    row->reference = reference(l, e, &text);
    row->lane = e->dot;
    row->rails = tg_arena_strdup(l->d->arena, tg_str_text(&text));
    tg_str_free(&text);
    free(cell);
}

static void event_room(event *e, size_t n)
{
    e->in_lane = tg_realloc(e->in_lane, n * sizeof *e->in_lane);
    e->out_lane = tg_realloc(e->out_lane, n * sizeof *e->out_lane);
    e->dies = tg_realloc(e->dies, n * sizeof *e->dies);
}

static void one_row(lanes *l, event *e, tg_row *row)
{
    unsigned char *above = tg_calloc((size_t)l->most + 1, 1);
    row_reads(l, row, &e->in);
    row_makes(l, row, &e->out);
    event_room(e, e->in.n + e->out.n + 1);
    for (int i = 0; i < l->most; i++) above[i] = i < (int)l->lane.n && l->lane.v[i] != TG_NO_VALUE;
    place_dot(l, e);
    place_outputs(l, e);
    draw_row(l, e, above, row);
    if ((int)l->lane.n > l->d->lanes) l->d->lanes = (int)l->lane.n;
    while (l->lane.n && tg_vec_last(&l->lane) == TG_NO_VALUE) l->lane.n--;
    free(above);
}

/* Blanks at the right that no row needs are cut off. A cell is one to three bytes. */
static void trim(tg_drawing *d, int most)
{
    int used = d->lanes < most ? d->lanes : most, columns = used > 0 ? 2 * used - 1 : 1;
    for (uint32_t r = 0; r < d->n_rows; r++) {
        tg_row *row = (tg_row *)(uintptr_t)&d->rows[r];
        char *cut = (char *)(uintptr_t)row->rails;
        for (int c = 0; c < columns; c++) cut += *cut == ' ' ? 1 : 3;
        const char *rest = cut;
        for (int c = columns; c < 2 * most - 1; c++) rest += *rest == ' ' ? 1 : 3;
        memmove(cut, rest, strlen(rest) + 1);
    }
    d->width = columns + 1;
}

void tg_draw_lanes(const tg_graph *g, const tg_draw_options *options, tg_drawing *d)
{
    int columns = options->lane_columns > 2 ? options->lane_columns : LANE_COLUMNS;
    lanes l = {.g = g, .d = d, .most = columns / 2};
    event e = {0};
    count_readers(&l);
    for (uint32_t r = 0; r < d->n_rows; r++) one_row(&l, &e, (tg_row *)(uintptr_t)&d->rows[r]);
    trim(d, l.most);
    tg_vec_free(&e.in);
    tg_vec_free(&e.out);
    free(e.in_lane);
    free(e.out_lane);
    free(e.dies);
    tg_vec_free(&l.lane);
    tg_map_free(&l.left);
    tg_map_free(&l.reference);
}

tg_status tg_draw_rails(const tg_graph *g, const tg_draw_options *options, const tg_job *job,
                        tg_drawing **drawing)
{
    tg_arena *arena = tg_arena_new();
    tg_drawing *d = TG_NEW(arena, tg_drawing);
    d->arena = arena;
    uint32_t *ids = TG_NEW_ARRAY(arena, uint32_t, g->n_nodes + 1);
    uint32_t n = tg_draw_order(g, options->level >= 4, options->previous, ids);
    tg_block *blocks = TG_NEW_ARRAY(arena, tg_block, n + 1);
    uint32_t n_blocks = tg_draw_blocks(g, ids, n, blocks);
    tg_status status = tg_job_poll(job);
    if (status == TG_OK) {
        tg_draw_rows(g, ids, n, blocks, n_blocks, options, d);
        tg_draw_lanes(g, options, d);
        status = tg_job_poll(job);
    }
    if (status != TG_OK) {
        tg_arena_free(arena);
        return status;
    }
    *drawing = d;
    return TG_OK;
}

void tg_drawing_free(tg_drawing *d)
{
    if (d) tg_arena_free(d->arena);
}

/* A name on one line, with control characters as a terminal echoes them. */
static void add_name(tg_str *out, const char *name)
{
    for (; *name; name++) {
        if ((unsigned char)*name < 0x20 || *name == 0x7f) tg_str_addf(out, "^%c", *name ^ 0x40);
        else tg_str_addc(out, *name);
    }
}

static void row_text(const tg_row *row, tg_str *out)
{
    char shape[TG_SHAPE_TEXT];
    tg_str_addf(out, "%s ", row->rails);
    add_name(out, row->label);
    if (row->op[0]) tg_str_addf(out, "  %s", row->op);
    if (row->fold) tg_str_addf(out, "  %u ops", row->n_ops);
    if (row->repeat > 1) tg_str_addf(out, " in %u equal blocks", row->repeat);
    if (row->type.dtype) tg_str_addf(out, "  %s", tg_type_text(shape, &row->type));
    if (row->n_weights) tg_str_addf(out, "  ◂W%d", row->n_weights);
    tg_str_addc(out, '\n');
}

void tg_drawing_text(const tg_graph *g, const tg_drawing *d, tg_str *out)
{
    add_name(out, g->origin->graph_name);
    tg_str_addf(out, "  %u ops, %u rows, hash %016llx\n", tg_graph_op_count(g), d->n_rows,
                (unsigned long long)g->hash);
    for (uint32_t r = 0; r < d->n_rows; r++) row_text(&d->rows[r], out);
}
