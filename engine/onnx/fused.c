/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An activation that a node applies itself is saved as a node of its own behind it (row.c), and the
 * value between them has a name that tells: "Conv_3_plain". Here the two become one again, so that
 * a saved graph and the same graph loaded are alike.
 */
#include "import.h"
#include "standard.h"

#include <ctype.h>
#include <string.h>

/* "Conv_3_plain" of a Conv. */
static bool is_plain_name(const char *name, const char *op_type)
{
    size_t n = strlen(op_type);
    if (strncmp(name, op_type, n) != 0 || name[n] != '_') return false;
    const char *p = name + n + 1;
    if (!isdigit((unsigned char)*p)) return false;
    while (isdigit((unsigned char)*p)) p++;
    return strcmp(p, "_plain") == 0;
}

static bool in_default_domain(const Onnx__NodeProto *proto)
{
    return !proto->domain || !proto->domain[0];
}

/* The activation as the attribute of a node that was saved without it. */
static bool may_apply(const Onnx__NodeProto *proto, const char *activation)
{
    static const char *const known[] = {"Relu", "Sigmoid", "Tanh"};
    int n, i;
    tg_op op = tg_upgrade_op("", proto->op_type);
    if (op < TG_OP_FIRST_REAL || (i = tg_op_attr_index(op, "activation")) < 0) return false;
    const tg_attr_spec *spec = &tg_op_attrs(op, &n)[i];
    if (spec->value.kind != TG_ATTR_STR || spec->value.s[0]) return false;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k], activation) == 0) return true;
    return false;
}

static bool is_pair(const tg_item *a, const tg_item *b)
{
    const Onnx__NodeProto *p = a->proto, *q = b->proto;
    return p->op_type && q->op_type && in_default_domain(p) && in_default_domain(q) &&
           p->n_output == 1 && q->n_output == 1 && q->n_input == 1 && !q->n_attribute &&
           !(q->name && q->name[0]) && q->output[0][0] && strcmp(q->input[0], p->output[0]) == 0 &&
           is_plain_name(p->output[0], p->op_type) && may_apply(p, q->op_type);
}

/* How often nodes, subgraphs and outputs read a value. */
static void count_readers(const tg_importer *im, tg_strmap *readers)
{
    for (int i = 0; i < im->n_items; i++) {
        const tg_item *item = &im->items[i];
        for (size_t k = 0; k < item->proto->n_input; k++)
            ++*tg_strmap_put(readers, item->proto->input[k], NULL);
        for (int k = 0; k < item->n_captured; k++)
            ++*tg_strmap_put(readers, item->captured[k], NULL);
    }
    for (size_t i = 0; i < im->graph->n_output; i++)
        if (im->graph->output[i]->name) ++*tg_strmap_put(readers, im->graph->output[i]->name, NULL);
}

static const Onnx__NodeProto *join(tg_importer *im, const Onnx__NodeProto *p,
                                   const Onnx__NodeProto *q)
{
    tg_arena *arena = im->origin->arena;
    Onnx__NodeProto *both = tg_arena_dup(arena, p, sizeof *p);
    Onnx__AttributeProto *a = TG_NEW(arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(a);
    a->name = tg_arena_strdup(arena, "activation");
    a->has_type = 1;
    a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
    a->has_s = 1;
    a->s.data = (uint8_t *)tg_arena_strdup(arena, q->op_type);
    a->s.len = strlen(q->op_type);
    both->attribute = TG_NEW_ARRAY(arena, Onnx__AttributeProto *, p->n_attribute + 1);
    for (size_t i = 0; i < p->n_attribute; i++) both->attribute[i] = p->attribute[i];
    both->attribute[both->n_attribute++] = a;
    both->output = q->output;
    *tg_map_put(im->opset_of, (uintptr_t)both, NULL) = (uint64_t)im->opset;
    return both;
}

void tg_fused_join(tg_importer *im)
{
    tg_strmap readers = {0};
    bool counted = false;
    int n = 0;
    for (int i = 0; i < im->n_items; i++) {
        im->items[n] = im->items[i];
        if (i + 1 < im->n_items && is_pair(&im->items[i], &im->items[i + 1]) &&
            !tg_map_find(im->opset_of, (uintptr_t)im->items[i].proto)) {
            if (!counted) count_readers(im, &readers);
            counted = true;
            const Onnx__NodeProto *p = im->items[i].proto;
            if (*tg_strmap_find(&readers, p->output[0]) == 1)
                im->items[n].proto = join(im, p, im->items[++i].proto);
        }
        n++;
    }
    im->n_items = n;
    tg_strmap_free(&readers);
}
