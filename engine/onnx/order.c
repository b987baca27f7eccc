/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/base/log.h"
#include "import.h"

#include <stdlib.h>

/* A node whose inputs are being visited, and the value through which it was reached. */
typedef struct visit {
    int node, next;
    const char *via;
} visit;

typedef struct sorter {
    tg_importer *im;
    tg_item *items;      /* in the order of the file */
    tg_strmap producers; /* value -> node */
    unsigned char *state;
    TG_VEC(visit) stack;
    int *order, n;
} sorter;

enum { NEW, OPEN, DONE };

static tg_status list_producers(sorter *s)
{
    for (size_t i = 0; i < s->im->graph->n_node; i++) {
        const Onnx__NodeProto *node = s->items[i].proto;
        for (size_t k = 0; k < node->n_output; k++) {
            bool fresh;
            const char *name = node->output[k];
            if (!name[0]) continue;
            if (tg_strmap_find(&s->im->values, name))
                return tg_fail(TG_INVALID,
                               "%s makes the value %s, which is an input or initialiser",
                               tg_item_label(s->im, &s->items[i]), name);
            *tg_strmap_put(&s->producers, name, &fresh) = i;
            if (!fresh)
                return tg_fail(TG_INVALID, "%s makes the value %s, which another node makes too",
                               tg_item_label(s->im, &s->items[i]), name);
        }
    }
    return TG_OK;
}

static tg_status cycle(const sorter *s, int node, const char *via)
{
    enum { SHOWN = 8 };
    tg_str names = {0};
    size_t i = s->stack.n, shown = 0;
    while (i && s->stack.v[i - 1].node != node) i--;
    for (; i < s->stack.n && shown < SHOWN; i++, shown++)
        tg_str_addf(&names, "%s, ", s->stack.v[i].via);
    if (i < s->stack.n) tg_str_add(&names, "..., ");
    tg_status status = tg_fail(TG_INVALID, "the graph has a cycle through the values %s%s",
                               tg_str_text(&names), via);
    tg_str_free(&names);
    return status;
}

/* The next node that must come before the one on top; -1 if there is none. */
static tg_status next_before(sorter *s, int *node, const char **via)
{
    visit *top = &tg_vec_last(&s->stack);
    const tg_item *item = &s->items[top->node];
    int n_in = (int)item->proto->n_input;
    for (; top->next < n_in + item->n_captured; top->next++) {
        bool own = top->next < n_in;
        const char *name = own ? item->proto->input[top->next] : item->captured[top->next - n_in];
        if (!name[0] || tg_strmap_find(&s->im->values, name)) continue;
        const uint64_t *maker = tg_strmap_find(&s->producers, name);
        if (!maker)
            return tg_fail(TG_INVALID, "%s reads the value %s, which nothing produces",
                           tg_item_label(s->im, item), name);
        if (s->state[*maker] == DONE) continue;
        if (s->state[*maker] == OPEN) return cycle(s, (int)*maker, name);
        *node = (int)*maker;
        *via = name;
        return TG_OK;
    }
    *node = -1;
    return TG_OK;
}

static tg_status visit_from(sorter *s, int node)
{
    const char *via = "";
    while (s->state[node] == NEW) {
        tg_vec_push(&s->stack, (visit){node, 0, via});
        s->state[node] = OPEN;
        int before = -1;
        while (s->stack.n) {
            TG_TRY(next_before(s, &before, &via));
            if (before >= 0) break;
            int done = tg_vec_pop(&s->stack).node;
            s->state[done] = DONE;
            s->order[s->n++] = done;
        }
        if (before >= 0) node = before;
    }
    return TG_OK;
}

static tg_status sort(sorter *s)
{
    size_t n = s->im->graph->n_node;
    TG_TRY(list_producers(s));
    for (size_t i = 0; i < n; i++) TG_TRY(visit_from(s, (int)i));
    bool moved = false;
    tg_item *sorted = TG_NEW_ARRAY(s->im->arena, tg_item, n + 1);
    for (int i = 0; i < s->n; i++) {
        sorted[i] = s->items[s->order[i]];
        moved |= s->order[i] != i;
    }
    if (moved) tg_log(TG_LOG_NOTE, "%s: the nodes were not sorted", s->im->origin->path);
    s->im->items = sorted;
    s->im->n_items = s->n;
    return TG_OK;
}

/* What is read by any node, so that results nobody wants can be told. */
static void list_reads(tg_importer *im, const tg_item *items)
{
    for (size_t i = 0; i < im->graph->n_node; i++) {
        for (size_t k = 0; k < items[i].proto->n_input; k++)
            tg_strmap_put(&im->read, items[i].proto->input[k], NULL);
        for (int k = 0; k < items[i].n_captured; k++)
            tg_strmap_put(&im->read, items[i].captured[k], NULL);
    }
    for (size_t i = 0; i < im->graph->n_output; i++)
        if (im->graph->output[i]->name) tg_strmap_put(&im->read, im->graph->output[i]->name, NULL);
}

tg_status tg_order_nodes(tg_importer *im)
{
    size_t n = im->graph->n_node;
    if (n > TG_MAX_NODES / 2) return tg_fail(TG_LIMIT, "more than %d nodes", TG_MAX_NODES / 2);
    sorter s = {.im = im,
                .items = TG_NEW_ARRAY(im->arena, tg_item, n + 1),
                .state = tg_calloc(n + 1, 1),
                .order = tg_calloc(n + 1, sizeof(int))};
    for (size_t i = 0; i < n; i++) {
        s.items[i] = (tg_item){.proto = im->graph->node[i], .number = (int)i};
        tg_scope_captured(im->arena, &s.items[i]);
    }
    list_reads(im, s.items);
    tg_status status = sort(&s);
    tg_vec_free(&s.stack);
    tg_strmap_free(&s.producers);
    free(s.state);
    free(s.order);
    return status;
}
