/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ONNX files written byte by byte, so that a test may also write what no library would.
 * A part is a tg_str; putting one part into another frees it.
 */
#ifndef TESTS_UNIT_ONNX_BYTES_H
#define TESTS_UNIT_ONNX_BYTES_H

#include "tests/unit/unit.h"

#include "engine/base/str.h"
#include "engine/ir/eval.h"
#include "engine/onnx/onnx.h"

UNIT_MAYBE void put_varint(tg_str *s, uint64_t v)
{
    for (; v >= 0x80; v >>= 7) tg_str_addc(s, (char)(v | 0x80));
    tg_str_addc(s, (char)v);
}

UNIT_MAYBE void put_int(tg_str *s, int field, int64_t v)
{
    put_varint(s, (uint64_t)field << 3);
    put_varint(s, (uint64_t)v);
}

UNIT_MAYBE void put_bytes(tg_str *s, int field, const void *p, size_t n)
{
    put_varint(s, (uint64_t)field << 3 | 2);
    put_varint(s, n);
    tg_str_addn(s, p, n);
}

UNIT_MAYBE void put_text(tg_str *s, int field, const char *text)
{
    put_bytes(s, field, text, strlen(text));
}

UNIT_MAYBE void put_part(tg_str *s, int field, tg_str part)
{
    put_bytes(s, field, part.p ? part.p : "", part.n);
    tg_str_free(&part);
}

/* Calls put_text for each piece of a list such as "x,,w"; "-" is an empty list. */
UNIT_MAYBE void put_list(tg_str *s, int field, const char *list)
{
    if (strcmp(list, "-") == 0) return;
    for (const char *end; list; list = *end ? end + 1 : NULL) {
        end = list + strcspn(list, ",");
        put_bytes(s, field, list, (size_t)(end - list));
    }
}

/* A tensor with raw data; dims such as "2,3", "" for a scalar. */
UNIT_MAYBE tg_str part_tensor(const char *name, int dtype, const char *dims, const void *raw,
                              size_t n)
{
    tg_str s = {0};
    for (const char *at = dims; *at; at += strcspn(at, ","), at += *at == ',')
        put_int(&s, 1, strtoll(at, NULL, 10));
    put_int(&s, 2, dtype);
    put_text(&s, 8, name);
    put_bytes(&s, 9, raw, n);
    return s;
}

/* The type of a value; dims such as "N,3,?" (a name, a size, nothing), NULL: no shape. */
UNIT_MAYBE tg_str part_info(const char *name, int dtype, const char *dims)
{
    tg_str s = {0}, type = {0}, tensor = {0}, shape = {0};
    for (const char *at = dims; at && *at; at += strcspn(at, ","), at += *at == ',') {
        tg_str dim = {0};
        size_t n = strcspn(at, ",");
        if (*at == '-' || (*at >= '0' && *at <= '9')) put_int(&dim, 1, strtoll(at, NULL, 10));
        else if (*at != '?') put_bytes(&dim, 2, at, n);
        put_part(&shape, 1, dim);
    }
    put_int(&tensor, 1, dtype);
    if (dims) put_part(&tensor, 2, shape);
    put_part(&type, 1, tensor);
    put_text(&s, 1, name);
    put_part(&s, 2, type);
    return s;
}

UNIT_MAYBE tg_str part_node(const char *op, const char *name, const char *in, const char *out)
{
    tg_str s = {0};
    put_list(&s, 1, in);
    put_list(&s, 2, out);
    if (name[0]) put_text(&s, 3, name);
    put_text(&s, 4, op);
    return s;
}

UNIT_MAYBE void node_int(tg_str *node, const char *name, int64_t v)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, 2);
    put_int(&a, 3, v);
    put_part(node, 5, a);
}

UNIT_MAYBE void node_text(tg_str *node, const char *name, const char *text)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, 3);
    put_text(&a, 4, text);
    put_part(node, 5, a);
}

UNIT_MAYBE void node_ints(tg_str *node, const char *name, const int64_t *v, int n)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, 7);
    for (int i = 0; i < n; i++) put_int(&a, 8, v[i]);
    put_part(node, 5, a);
}

UNIT_MAYBE void node_float(tg_str *node, const char *name, float v)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, 1);
    put_varint(&a, 2 << 3 | 5);
    tg_str_addn(&a, (const char *)&v, 4);
    put_part(node, 5, a);
}

UNIT_MAYBE void node_floats(tg_str *node, const char *name, const float *v, int n)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, 6);
    for (int i = 0; i < n; i++) {
        put_varint(&a, 7 << 3 | 5);
        tg_str_addn(&a, (const char *)&v[i], 4);
    }
    put_part(node, 5, a);
}

UNIT_MAYBE void node_tensor(tg_str *node, const char *name, tg_str tensor)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, 4);
    put_part(&a, 5, tensor);
    put_part(node, 5, a);
}

UNIT_MAYBE void node_graph(tg_str *node, const char *name, tg_str graph)
{
    tg_str a = {0};
    put_text(&a, 1, name);
    put_int(&a, 20, 5);
    put_part(&a, 6, graph);
    put_part(node, 5, a);
}

/* Parts of a graph, by their field numbers. */
enum { IN_NODE = 1, IN_TENSOR = 5, IN_INPUT = 11, IN_OUTPUT = 12, IN_TYPE = 13 };

UNIT_MAYBE tg_str part_graph(const char *name)
{
    tg_str s = {0};
    put_text(&s, 2, name);
    return s;
}

UNIT_MAYBE void put_opset(tg_str *model, const char *domain, int64_t version)
{
    tg_str s = {0};
    put_text(&s, 1, domain);
    put_int(&s, 2, version);
    put_part(model, 8, s);
}

/* A model around a graph. */
UNIT_MAYBE tg_str part_model(int64_t ir, int64_t opset, tg_str graph)
{
    tg_str s = {0};
    put_int(&s, 1, ir);
    put_opset(&s, "", opset);
    put_part(&s, 7, graph);
    return s;
}

/* Loads and frees the bytes. */
UNIT_MAYBE tg_status load_with(tg_str model, const tg_load_options *opt, tg_graph **g)
{
    tg_status status = tg_onnx_load_memory(model.p, model.n, "m.onnx", opt, g);
    tg_str_free(&model);
    if (status == TG_OK) assert_ok(tg_check(*g));
    return status;
}

UNIT_MAYBE tg_status load(tg_str model, tg_graph **g)
{
    return load_with(model, NULL, g);
}

/* The node behind a graph output. */
UNIT_MAYBE const tg_node *maker(const tg_graph *g, int output)
{
    return tg_graph_maker(g, tg_graph_sink(g)->in[output]);
}

#endif
