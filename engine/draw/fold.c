/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a graph may fold. After some rows only one value is alive: there the graph is cut. What
 * lies between two cuts with more than one row is a region of branches; it makes a block together
 * with the straight rows behind it. Values that live long or serve many (a mask, a graph input) are
 * not counted, else one of them would hide every cut.
 */
#include "rows.h"

#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { MANY_USERS = 6, LONG_LIFE = 3 };

/* For each row the last row that reads a value of it (0: none). */
static uint32_t *last_reads(const tg_graph *g, const uint32_t *ids, uint32_t n, const uint32_t *row)
{
    uint32_t *last = tg_calloc(n + 1, sizeof *last);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t count;
        const tg_use *use = tg_graph_uses(g, ids[r], &count);
        for (uint32_t u = 0; u < count; u++) {
            uint32_t at = use[u].node == 0 ? n : row[use[u].node];
            if (at != UINT32_MAX && at > last[r]) last[r] = at;
        }
    }
    return last;
}

static bool counts(const tg_graph *g, uint32_t id, uint32_t row, uint32_t last, uint32_t n)
{
    uint32_t users;
    tg_graph_uses(g, id, &users);
    if (g->nodes[id]->op == TG_OP_INPUT && last > row + 1) return false;
    return users < MANY_USERS && (last - row) * LONG_LIFE < n + LONG_LIFE * 64;
}

/* cut[r]: at most one counted value is alive between row r and the next. */
static unsigned char *find_cuts(const tg_graph *g, const uint32_t *ids, uint32_t n)
{
    uint32_t *row = tg_malloc(g->n_ids * sizeof *row), alive = 0;
    memset(row, 0xff, g->n_ids * sizeof *row);
    for (uint32_t r = 0; r < n; r++) row[ids[r]] = r;
    uint32_t *last = last_reads(g, ids, n, row);
    uint32_t *dies = tg_calloc(n + 2, sizeof *dies);
    unsigned char *cut = tg_calloc(n + 1, 1);
    for (uint32_t r = 0; r < n; r++) {
        alive -= dies[r];
        if (last[r] > r && counts(g, ids[r], r, last[r], n)) {
            alive++;
            dies[last[r]]++;
        }
        cut[r] = alive <= 1;
    }
    free(dies);
    free(last);
    free(row);
    return cut;
}

static uint64_t signature(const tg_graph *g, const uint32_t *ids, const tg_block *b)
{
    uint64_t h = b->count;
    for (uint32_t r = b->first; r < b->first + b->count; r++) {
        const tg_node *node = g->nodes[ids[r]];
        h = tg_hash_add(tg_hash_add(h, node->op), node->attrs->hash);
        for (int i = 0; i < node->n_out; i++)
            h = tg_hash_bytes(h, &node->out[i], sizeof node->out[i]);
    }
    return h;
}

static const tg_shape *last_shape(const tg_graph *g, const uint32_t *ids, const tg_block *b)
{
    const tg_node *node = g->nodes[ids[b->first + b->count - 1]];
    return node->n_out ? &node->out[0].shape : NULL;
}

/* A stage ends where the shape that leaves its blocks changes. */
static void number_stages(const tg_graph *g, const uint32_t *ids, tg_block *b, uint32_t n)
{
    const tg_shape *shape = NULL;
    for (uint32_t i = 0, stage = 0, index = 0; i < n; i++) {
        const tg_shape *now = last_shape(g, ids, &b[i]);
        if (g->nodes[ids[b[i].first]]->op == TG_OP_INPUT && b[i].count == 1) continue;
        if (shape && (!now || !tg_shape_equal(now, shape))) {
            stage++;
            index = 0;
        }
        b[i].stage = stage;
        b[i].index = index++;
        shape = now;
    }
}

static void close_block(const tg_graph *g, const uint32_t *ids, tg_block *b, uint32_t end)
{
    b->count = end - b->first;
    b->key = tg_mix(g->nodes[ids[b->first]]->group);
    b->signature = signature(g, ids, b);
}

/* A straight row that belongs to the join above it: what is done to each element, not a new start.
 */
static bool is_tail(const tg_graph *g, uint32_t id)
{
    const tg_op_row *row = tg_op_get(g->nodes[id]->op);
    return row->flags & TG_ELTWISE && g->nodes[id]->op >= TG_OP_FIRST_REAL;
}

uint32_t tg_draw_blocks(const tg_graph *g, const uint32_t *ids, uint32_t n, tg_block *blocks)
{
    unsigned char *cut = find_cuts(g, ids, n);
    uint32_t n_blocks = 0, start = 0, block = 0;
    bool branches = false; /* the open block has a region of branches */
    for (uint32_t r = 0; r < n; r++) {
        if (!cut[r] && r + 1 < n) continue;
        bool region = r > start;
        if (!region && g->nodes[ids[r]]->op == TG_OP_INPUT && block == r) { /* a row of its own */
            blocks[n_blocks] = (tg_block){.first = r};
            close_block(g, ids, &blocks[n_blocks++], r + 1);
            block = start = r + 1;
            continue;
        }
        if (branches && (region || !is_tail(g, ids[r]))) {
            blocks[n_blocks] = (tg_block){.first = block};
            close_block(g, ids, &blocks[n_blocks++], start);
            block = start;
            branches = false;
        }
        branches |= region;
        start = r + 1;
    }
    if (n > block) {
        blocks[n_blocks] = (tg_block){.first = block};
        close_block(g, ids, &blocks[n_blocks++], n);
    }
    number_stages(g, ids, blocks, n_blocks);
    free(cut);
    return n_blocks;
}
