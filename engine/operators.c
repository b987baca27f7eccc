/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "operators.h"

#include "engine/base/vec.h"
#include "engine/exec/backend.h"
#include "engine/ir/build.h"
#include "engine/ir/eval.h"
#include "engine/ir/list.h"
#include "engine/ir/value.h"
#include "engine/onnx/onnx.h"
#include "engine/ops/ops.h"

#include <stdio.h>
#include <string.h>

/* ---- examples ---- */

typedef struct example {
    const char *inputs, *attrs;
} example;

static const struct {
    const char *op;
    example example;
} examples[] = {
#define EXAMPLE(op, inputs, attrs) {#op, {inputs, attrs}},
#include "engine/ops/example.def"
#undef EXAMPLE
};

static const char *const plain[] = {"", "T[2,3]", "T[2,3] T[2,3]", "T[2,3] T[2,3] T[2,3]"};

/* The row of example.def; without one, as many matrices as the operator must have. */
static example example_of(const tg_op_row *row)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i].op, row->name) == 0) return examples[i].example;
    return (example){plain[row->min_in <= 3 ? row->min_in : 0], ""};
}

enum { MOST_IN = 9, MOST_ATTRS = 12, MOST_INTS = 16, WORD = 64 }; /* of an example */

/* An example with an element type in the place of T. */
typedef struct trial {
    const tg_op_row *row;
    tg_op op;
    tg_builder *b;
    tg_arena *arena;
    tg_value value[MOST_IN];
    tg_tensor in[MOST_IN];
    int n_in, n_attrs;
    tg_named_attr attrs[MOST_ATTRS];
} trial;

static int read_ints(const char *text, int64_t *v)
{
    int n = 0;
    for (; n < MOST_INTS && *text && *text != ']'; n++) {
        char *end;
        v[n] = strtoll(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* All elements are 1, or those listed. */
static void fill(tg_tensor *t, const char *values)
{
    char text[32];
    for (int64_t i = 0; i < tg_tensor_count(t); i++) {
        double x = 1;
        if (values && *values) {
            char *end;
            x = strtod(values, &end);
            values = *end == ',' ? end + 1 : end;
        }
        snprintf(text, sizeof text, "%g", x);
        if (t->dtype == TG_STR) ((tg_string *)t->data)[i] = tg_string_of(text, strlen(text));
        else if (tg_dtype_kind(t->dtype) == 'c') continue;
        else tg_tensor_set_f64(t, i, x);
    }
}

static void drop_list(void *list)
{
    tg_list_unref(list);
}

/* Of "seq:T[2,3]" and "opt:T[2,3]": the list of one item. */
static void put_in_list(trial *r, const char *word, tg_tensor *t)
{
    tg_dtype dtype = *word == 's' ? tg_dtype_seq(t->dtype) : tg_dtype_opt(t->dtype);
    tg_list *list = tg_list_new(1);
    tg_arena_hold(r->arena, drop_list, list);
    tg_list_set(list, 0, t);
    *t = tg_list_value(dtype, list);
}

/*
 * "T[2,3]" is an input, "int64[2]=0,1" a constant, "-" absent, "seq:T[2,3]" and "opt:T[2,3]" are
 * lists. False: no such type.
 */
static bool add_input(trial *r, const char *word, tg_dtype type)
{
    char name[WORD];
    const char *list = strchr(word, ':') ? word : NULL;
    if (list) word = strchr(word, ':') + 1;
    const char *open = strchr(word, '['), *values = strchr(word, '=');
    tg_tensor *t = &r->in[r->n_in];
    int64_t dims[MOST_INTS];
    r->value[r->n_in++] = TG_NO_VALUE;
    *t = (tg_tensor){.dtype = TG_DTYPE_NONE};
    if (!open) return *word == '-';
    snprintf(name, sizeof name, "%.*s", (int)(open - word), word);
    tg_dtype dtype = strcmp(name, "T") == 0 ? type : tg_dtype_find(name);
    if (dtype == TG_DTYPE_NONE) return false;
    *t = (tg_tensor){dtype, tg_shape_from(dims, read_ints(open + 1, dims)), NULL};
    t->data = tg_arena_alloc(r->arena, tg_tensor_bytes(t) + 16);
    fill(t, values ? values + 1 : NULL);
    if (list) put_in_list(r, list, t);
    tg_type whole = {t->dtype, t->shape};
    snprintf(name, sizeof name, "x%d", r->n_in);
    r->value[r->n_in - 1] = values
                                ? tg_build_const(r->b, dtype, &t->shape, tg_tensor_weight(t), name)
                                : tg_build_input(r->b, name, &whole);
    return true;
}

/* A tensor of one element. */
static const tg_tensor *one(const trial *r, tg_dtype type)
{
    tg_tensor *t = TG_NEW(r->arena, tg_tensor);
    *t = (tg_tensor){type, tg_shape_of(1), tg_arena_alloc(r->arena, 16)};
    fill(t, NULL);
    return t;
}

/* "name=value": the kind is that of the row's spec; an integer may be T, the type's number;
 * a tensor is one of type T. */
static void add_attr(trial *r, const char *word, tg_dtype type)
{
    char name[WORD];
    const char *value = strchr(word, '=') + 1;
    int n;
    snprintf(name, sizeof name, "%.*s", (int)(value - 1 - word), word);
    int at = tg_op_attr_index(r->op, name);
    const tg_attr_spec *spec = &tg_op_attrs(r->op, &n)[at];
    int64_t *ints = TG_NEW_ARRAY(r->arena, int64_t, MOST_INTS);
    float *floats = TG_NEW_ARRAY(r->arena, float, MOST_INTS);
    int count = spec->kind == TG_ATTR_STR ? 0 : read_ints(value, ints);
    for (int i = 0; i < count; i++) floats[i] = (float)ints[i];
    const char **word_list = TG_NEW(r->arena, const char *);
    *word_list = tg_arena_strdup(r->arena, value);
    tg_attr a = TG_ATTR_OF_INTS(ints, count);
    if (spec->kind == TG_ATTR_INT) a = TG_ATTR_OF_INT(*value == 'T' ? type : ints[0]);
    if (spec->kind == TG_ATTR_TYPE) a = (tg_attr){.kind = TG_ATTR_TYPE, .i = (int64_t)type};
    if (spec->kind == TG_ATTR_FLOAT) a = TG_ATTR_OF_FLOAT(strtof(value, NULL));
    if (spec->kind == TG_ATTR_STR) a = tg_attr_str(*word_list);
    if (spec->kind == TG_ATTR_TENSOR) a = (tg_attr){TG_ATTR_TENSOR, 1, {.tensor = one(r, type)}};
    if (spec->kind == TG_ATTR_STRS) a = (tg_attr){TG_ATTR_STRS, 1, {.strs = word_list}};
    if (spec->kind == TG_ATTR_FLOATS)
        a = (tg_attr){TG_ATTR_FLOATS, (uint32_t)count, {.floats = floats}};
    r->attrs[r->n_attrs++] = (tg_named_attr){spec->name, a};
}

/* The next word of *text, which moves behind it; NULL at its end. */
static const char *next_word(const char **text, char *word)
{
    while (**text == ' ') ++*text;
    size_t n = strcspn(*text, " ");
    snprintf(word, WORD, "%.*s", (int)n, *text);
    *text += n;
    return n ? word : NULL;
}

/* Reads the example and builds its node. NULL: not with this type. */
static tg_graph *build(trial *r, const example *e, tg_dtype type, uint32_t *id)
{
    char word[WORD];
    const char *text = e->inputs;
    tg_graph *g = NULL;
    tg_value outs[MOST_IN];
    const char *names[MOST_IN];
    bool fits = true;
    while (fits && next_word(&text, word)) fits = add_input(r, word, type);
    for (text = e->attrs; next_word(&text, word);) add_attr(r, word, type);
    tg_node_spec spec = {.op = r->op,
                         .in = r->value,
                         .n_in = r->n_in,
                         .n_out = r->row->min_out,
                         .attrs = r->attrs,
                         .n_attrs = r->n_attrs};
    if (!fits || tg_build_node(r->b, &spec, id) != TG_OK) {
        tg_builder_free(r->b);
        return NULL;
    }
    for (int i = 0; i < r->row->min_out; i++) {
        outs[i] = tg_value_of(*id, (uint32_t)i);
        names[i] = tg_arena_printf(r->arena, "y%d", i);
    }
    tg_build_outputs(r->b, outs, names, r->row->min_out);
    return tg_build_done(r->b, &g) == TG_OK ? g : NULL;
}

static bool runs(const trial *r, const tg_node *node)
{
    tg_tensor in[MOST_IN] = {0}, out[MOST_IN] = {0};
    if (node->op != r->op) return node->op == TG_OP_CONST; /* known from the types alone */
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE) in[i] = r->in[i];
    if (tg_node_eval(node, in, out) != TG_OK) return false;
    for (int i = 0; i < node->n_out; i++) tg_tensor_free(&out[i]);
    return true;
}

/* Of a constant expression nothing is planned. */
static const char *planned(const tg_graph *g, const tg_node *node)
{
    tg_plan *plan;
    if (node->constant && node->op != TG_OP_CONST) return "none";
    if (tg_plan_new(tg_backend_find("cpu"), g, NULL, &plan) != TG_OK) return "none";
    const tg_plan_stats *s = tg_plan_stats_of(plan);
    const char *how = s->reference                  ? "none"
                      : s->primitives && s->loops   ? "primitive + loop"
                      : s->primitives               ? "primitive"
                      : s->loops || s->reorders > 0 ? "loop"
                                                    : "view";
    tg_plan_free(plan);
    return how;
}

tg_operator_trial tg_operator_try(tg_op op)
{
    const tg_op_row *row = tg_op_get(op);
    example e = example_of(row);
    tg_operator_trial found = {0, "none"};
    for (int t = 1; t < TG_DTYPE_COUNT && row->kernel; t++) {
        uint32_t id;
        tg_origin *origin = tg_origin_new();
        trial r = {.row = row, .op = op, .b = tg_builder_new(origin), .arena = tg_arena_new()};
        tg_graph *g = tg_dtype_size((tg_dtype)t) ? build(&r, &e, (tg_dtype)t, &id) : NULL;
        if (!tg_dtype_size((tg_dtype)t)) tg_builder_free(r.b);
        if (g && runs(&r, tg_graph_node(g, id))) {
            if (!found.types) found.cpu = planned(g, tg_graph_node(g, id));
            found.types |= (uint64_t)1 << t;
        }
        tg_graph_unref(g);
        tg_arena_free(r.arena);
        tg_origin_unref(origin);
    }
    return found;
}

/* ---- the manual ---- */

/* A cell: what Markdown would take for the end of it is escaped. */
static void add_cell(const char *text, tg_str *out)
{
    for (; *text; text++) {
        if (*text == '|') tg_str_addc(out, '\\');
        tg_str_addc(out, *text);
    }
}

static void add_arity(int least, int most, tg_str *out)
{
    if (most < 0) tg_str_addf(out, "%d…", least);
    else if (most == least) tg_str_addf(out, "%d", least);
    else tg_str_addf(out, "%d–%d", least, most);
}

static void add_flags(unsigned flags, tg_str *out)
{
    static const struct {
        unsigned flag;
        const char *word;
    } words[] = {{TG_COMMUTES, "commutes"},       {TG_ELTWISE, "element-wise"},
                 {TG_VIEW, "moves only"},         {TG_RANDOM, "random"},
                 {TG_LINEAR, "linear"},           {TG_ACCUMULATES, "accumulates"},
                 {TG_TAKES_LISTS, "takes lists"}, {TG_GIVES_LISTS, "gives lists"}};
    bool first = true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!(flags & words[i].flag)) continue;
        tg_str_addf(out, "%s%s", first ? "" : ", ", words[i].word);
        first = false;
    }
}

/* The first opset that is read and the newest; in brackets that of the row, if it is another. */
static void add_opsets(const tg_op_row *row, tg_str *out)
{
    if (row->domain[0]) {
        tg_str_addf(out, "%d", row->since);
        return;
    }
    int first = tg_onnx_oldest_form(row->name);
    tg_str_addf(out, "%d–%d", first, TG_ONNX_OPSET_NEWEST);
    if (row->since > first) tg_str_addf(out, " (%d)", row->since);
}

/* A kind of types by its name where all of them are there, else each. */
static void add_types(uint64_t types, tg_str *out)
{
    static const struct {
        const char *kind, *word;
    } groups[] = {{"f", "floats"}, {"iu", "integers"}, {"b", "bool"},
                  {"s", "string"}, {"c", "complex"},   {"q", "narrow"}};
    bool first = true;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        uint64_t all = 0;
        for (int t = 1; t < TG_DTYPE_COUNT; t++)
            if (tg_dtype_size((tg_dtype)t) && strchr(groups[i].kind, tg_dtype_kind((tg_dtype)t)))
                all |= (uint64_t)1 << t;
        bool whole = (types & all) == all;
        for (int t = 1; t < TG_DTYPE_COUNT; t++) {
            if (!(types & all & (uint64_t)1 << t)) continue;
            tg_str_addf(out, "%s%s", first ? "" : ", ",
                        whole ? groups[i].word : tg_dtype_name((tg_dtype)t));
            first = false;
            if (whole) break;
        }
    }
}

static void add_row(tg_op op, tg_str *out)
{
    const tg_op_row *row = tg_op_get(op);
    tg_operator_trial found = tg_operator_try(op);
    tg_str_addf(out, "| %s%s%s | ", row->domain, row->domain[0] ? "." : "", row->name);
    add_opsets(row, out);
    tg_str_add(out, " | ");
    add_arity(row->min_in, row->max_in, out);
    tg_str_add(out, " | ");
    add_arity(row->min_out, row->max_out, out);
    tg_str_add(out, " | ");
    if (row->attrs[0]) {
        tg_str_add(out, "`");
        add_cell(row->attrs, out);
        tg_str_add(out, "`");
    }
    tg_str_add(out, " | ");
    add_types(found.types, out);
    tg_str_addf(out, " | %s | %s | %s | ", row->kernel ? "yes" : "none", found.cpu,
                tg_backend_find("cuda") ? "yes" : "none");
    add_flags(row->flags, out);
    tg_str_add(out, " | ");
    add_cell(row->doc, out);
    tg_str_add(out, " |\n");
}

void tg_operators_manual(tg_str *out)
{
    int n = 0;
    for (int i = 0; i < tg_op_row_count; i++) n += !(tg_op_rows[i].flags & TG_INTERNAL);
    tg_str_addf(
        out,
        "regraft knows %d operators. A model may hold others: they stay in it, are never "
        "matched by a rule,\nand are named when the model is opened. Upsample and Scatter are "
        "read as Resize and ScatterElements.\n\n"
        "- `opsets`: those in which it is read; in brackets the lowest with the meaning of the "
        "row, to which older\n  forms are brought on loading.\n"
        "- `attributes`: `name:kind=default`; `!` says that it must be there.\n"
        "- `types`: element types for which an example ran (`engine/ops/example.def`), of the "
        "inputs that are of one\n  type with the result or with each other; floats are float, "
        "double, float16 and bfloat16, narrow ones those of\n  `float8`, `float6`, `float4` and "
        "integers "
        "of 4 and 2 bits.\n"
        "- `reference`: is there a plain kernel, which all others are tested against?\n"
        "- `cpu`: what the cpu backend runs for the first of these types: a primitive of oneDNN, "
        "a loop of its own,\n  a view that costs nothing, or none: then the reference kernel "
        "runs.\n"
        "- `cuda`: what a backend for graphics processors runs.\n\n"
        "| operator | opsets | inputs | outputs | attributes | types | reference | cpu | cuda | "
        "kind | meaning |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n",
        n);
    for (int i = 0; i < tg_op_row_count; i++)
        if (!(tg_op_rows[i].flags & TG_INTERNAL)) add_row((tg_op)i, out);
}
