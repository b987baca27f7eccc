/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows from nodes and blocks: what folds, what repeats, what a row is called. */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AUTO_ROWS = 60, MOST_WEIGHTS_SHOWN = 99 };

typedef struct group {
    const tg_graph *g;
    const uint32_t *ids;
    const tg_block *blocks;
    uint32_t n_blocks;
    const tg_draw_options *options;
    tg_drawing *d;
    tg_row *rows;
    int32_t *row_of;
    const char *whole; /* the scope that all nodes share: no name for a part */
} group;

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool flipped(const group *w, uint64_t key)
{
    return w->options->n_flipped &&
           bsearch(&key, w->options->flipped, w->options->n_flipped, sizeof key, compare_keys);
}

static bool folds(const group *w, const tg_block *b)
{
    return b->count > 1 && (w->d->level <= 2) != flipped(w, b->key);
}

static int weights_of(const tg_graph *g, const tg_node *node)
{
    int n = 0;
    for (int i = 0; i < node->n_in; i++)
        n += node->in[i] != TG_NO_VALUE && tg_graph_maker(g, node->in[i])->constant;
    return n < MOST_WEIGHTS_SHOWN ? n : MOST_WEIGHTS_SHOWN;
}

static const char *op_name(const tg_node *node)
{
    return node->op == TG_OP_OPAQUE ? tg_node_attr(node, "op_type")->s : tg_op_get(node->op)->name;
}

/* "Relu"; of an operator that has bodies what they hold: "If then 12 else 9". */
static const char *op_words(tg_arena *arena, const tg_node *node)
{
    int n;
    const tg_attr_spec *specs = tg_op_attrs(node->op, &n);
    const char *words = op_name(node);
    for (int i = 0; node->attrs->graphs && i < n; i++) {
        const tg_attr *a = &node->attrs->a[i];
        if (a->kind != TG_ATTR_GRAPH) continue;
        words = tg_arena_printf(arena, "%s %.*s %u", words, (int)strcspn(specs[i].name, "_"),
                                specs[i].name, tg_graph_op_count(a->graph));
    }
    return words;
}

static tg_row *add_row(group *w, const uint32_t *nodes, uint32_t n)
{
    tg_row *row = &w->rows[w->d->n_rows];
    *row = (tg_row){.nodes = nodes, .n_nodes = n, .output = -1, .repeat = 1, .op = "", .rails = ""};
    for (uint32_t i = 0; i < n; i++) {
        const tg_node *node = w->g->nodes[nodes[i]];
        w->row_of[nodes[i]] = (int32_t)w->d->n_rows;
        row->n_ops += node->op != TG_OP_INPUT && !node->constant;
    }
    w->d->n_rows++;
    return row;
}

static void add_node(group *w, const tg_block *b, const uint32_t *id)
{
    char label[128];
    const tg_node *node = w->g->nodes[*id];
    tg_row *row = add_row(w, id, 1);
    row->block = b->key;
    row->op = op_words(w->d->arena, node);
    row->label = tg_arena_strdup(w->d->arena, tg_graph_label(w->g, *id, label, sizeof label));
    row->n_weights = weights_of(w->g, node);
    if (node->n_out) row->type = node->out[0];
}

/* How many characters two names have in common at the start. */
static size_t common_length(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] == b[n] && a[n]) n++;
    return n;
}

/*
 * The scope that the names of all nodes but inputs share, cut at the last separator; NULL if there
 * is none.
 */
static const char *common_scope(const group *w, const uint32_t *nodes, uint32_t n)
{
    const char *first = NULL;
    size_t same = 0;
    for (uint32_t i = 0; i < n; i++) {
        const tg_node *node = w->g->nodes[nodes[i]];
        if (node->op == TG_OP_INPUT) continue;
        same = first ? common_length(first, node->name, same) : strlen(node->name);
        if (!first) first = node->name;
    }
    while (same && first[same] != '/' && first[same] != '.') same--;
    return same > 1 ? tg_arena_strndup(w->d->arena, first, same) : NULL;
}

static const tg_type *leaving_type(const group *w, const uint32_t *nodes, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;)
        if (w->g->nodes[nodes[i]]->n_out) return &w->g->nodes[nodes[i]]->out[0];
    return NULL;
}

/* Blocks b..b+n as one row. */
static void add_fold(group *w, const tg_block *b, uint32_t n)
{
    const uint32_t *nodes = w->ids + b->first;
    uint32_t count = b[n - 1].first + b[n - 1].count - b->first;
    tg_row *row = add_row(w, nodes, count);
    row->fold = true;
    row->block = b->key;
    row->repeat = n;
    row->label = common_scope(w, nodes, count);
    if (row->label && w->whole && strcmp(row->label, w->whole) == 0) row->label = NULL;
    if (!row->label && w->d->level == 1) row->label = tg_arena_printf(w->d->arena, "s%u", b->stage);
    else if (!row->label && n > 1)
        row->label =
            tg_arena_printf(w->d->arena, "s%u.b%u..b%u", b->stage, b->index, b[n - 1].index);
    else if (!row->label) row->label = tg_arena_printf(w->d->arena, "s%u.b%u", b->stage, b->index);
    for (uint32_t i = 0; i < count; i++) row->n_weights += weights_of(w->g, w->g->nodes[nodes[i]]);
    const tg_type *type = leaving_type(w, nodes, count);
    if (type) row->type = *type;
}

/* How many blocks from b on fold into one row. */
static uint32_t run_length(const group *w, uint32_t b)
{
    const tg_block *first = &w->blocks[b];
    uint32_t n = 1;
    for (; b + n < w->n_blocks; n++) {
        const tg_block *next = first + n;
        if (!folds(w, next) && !(w->d->level == 1 && next->count == 1)) break;
        if (next->stage != first->stage) break;
        if (w->d->level != 1 && next->signature != first->signature) break;
    }
    return n;
}

/* A graph output that is an input or a constant has its row too. */
static void add_outputs(group *w)
{
    const tg_node *sink = tg_graph_sink(w->g);
    for (int i = 0; i < sink->n_in; i++) {
        tg_row *row = add_row(w, NULL, 0);
        row->output = i;
        row->op = "Output";
        row->label = w->g->output_names[i];
        row->type = *tg_graph_type(w->g, sink->in[i]);
    }
}

void tg_draw_rows(const tg_graph *g, const uint32_t *ids, uint32_t n, const tg_block *blocks,
                  uint32_t n_blocks, const tg_draw_options *options, tg_drawing *d)
{
    uint32_t outputs = (uint32_t)tg_graph_sink(g)->n_in;
    group w = {g, ids, blocks, n_blocks, options, d, NULL, NULL, NULL};
    d->level = options->level ? options->level : n > AUTO_ROWS ? 2 : 3;
    w.rows = TG_NEW_ARRAY(d->arena, tg_row, n + outputs + 1);
    w.row_of = TG_NEW_ARRAY(d->arena, int32_t, g->n_ids);
    memset(w.row_of, 0xff, g->n_ids * sizeof *w.row_of);
    w.whole = n ? common_scope(&w, ids, n) : NULL;
    d->rows = w.rows;
    d->row_of = w.row_of;
    d->n_ids = g->n_ids;
    for (uint32_t b = 0; b < n_blocks;) {
        uint32_t run = folds(&w, &blocks[b]) ? run_length(&w, b) : 1;
        if (folds(&w, &blocks[b])) add_fold(&w, &blocks[b], run);
        else
            for (uint32_t r = 0; r < blocks[b].count; r++)
                add_node(&w, &blocks[b], ids + blocks[b].first + r);
        b += run;
    }
    add_outputs(&w);
}
