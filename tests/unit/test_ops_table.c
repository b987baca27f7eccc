/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The operator table, row by row: what it says is sound, and drawn inputs and attributes, most of
 * them wrong, are either refused with words or give a node that tg_check accepts (so its attributes
 * are a fixed point of inference) and that runs into the types promised.
 */
#include "tests/unit/unit.h"

#include "engine/base/rng.h"
#include "engine/ir/build.h"
#include "engine/ir/eval.h"
#include "engine/ops/cost.h"
#include "engine/ops/ops.h"

static void rows_are_sound(void **state)
{
    (void)state;
    for (int op = TG_OP_FIRST_REAL; op < tg_op_row_count; op++) {
        const tg_op_row *row = tg_op_get((tg_op)op);
        size_t n = strlen(row->doc);
        assert_true(n > 1 && strchr(".?", row->doc[n - 1]));
        assert_int_equal(tg_op_find(row->domain, row->name), op);
        assert_non_null(row->infer);
        assert_true(row->since >= 1);
        assert_true(row->min_in >= 0 && (row->max_in < 0 || row->max_in >= row->min_in));
        assert_true(row->min_out >= 1 && (row->max_out < 0 || row->max_out >= row->min_out));
        if (row->flags & TG_COMMUTES) assert_true(row->max_in < 0 || row->max_in >= 2);
    }
}

static void attributes_and_folds_are_sound(void **state)
{
    (void)state;
    for (int op = 0; op < tg_op_row_count; op++) {
        const tg_op_row *row = tg_op_get((tg_op)op);
        int n_attrs, n_folds;
        const tg_attr_spec *attrs = tg_op_attrs((tg_op)op, &n_attrs);
        const tg_fold_spec *folds = tg_op_folds((tg_op)op, &n_folds);
        for (int i = 0; i < n_attrs; i++) {
            assert_true(attrs[i].name[0] != '\0');
            assert_int_not_equal(attrs[i].kind, TG_ATTR_NONE);
            assert_int_equal(tg_op_attr_index((tg_op)op, attrs[i].name), i);
            if (attrs[i].value.kind != TG_ATTR_NONE)
                assert_int_equal(attrs[i].value.kind, attrs[i].kind);
        }
        for (int i = 0; i < n_folds; i++) {
            assert_in_range(folds[i].attr, 0, n_attrs - 1);
            assert_true(folds[i].slot >= 0);
            assert_true(row->max_in < 0 || folds[i].slot < row->max_in);
            assert_true(folds[i].since >= 1);
        }
    }
}

/* What is drawn for one node. */
enum { MOST_IN = 9, MOST_ATTRS = 16, MOST_INTS = 5 };
typedef struct draw {
    tg_rng *rng;
    tg_op op;
    const tg_op_row *row;
    int n_in, n_out, n_attrs;
    tg_tensor in[MOST_IN];
    bool constant[MOST_IN];
    tg_named_attr attrs[MOST_ATTRS];
    int64_t ints[MOST_ATTRS][MOST_INTS];
    float floats[MOST_ATTRS][MOST_INTS];
    const char *strs[MOST_ATTRS][MOST_INTS];
    float tensor_value;
    tg_tensor tensor;
} draw;

static int below(draw *d, int n)
{
    return (int)tg_rng_below(d->rng, (uint64_t)n);
}

static tg_shape draw_shape(draw *d, const tg_shape *like)
{
    tg_shape s = {.rank = below(d, 6)};
    int how = below(d, 6);
    if (like && how < 3) s = *like;
    else if (like && how == 3 && like->rank > 1) s = tg_shape_of(like->dim[1]);
    else
        for (int i = 0; i < s.rank; i++) s.dim[i] = below(d, 12) ? 1 + below(d, 4) : 0;
    if (like && below(d, 4) == 0 && s.rank) s.dim[below(d, (int)s.rank)] = 1 + below(d, 4);
    return s;
}

static tg_dtype draw_dtype(draw *d)
{
    static const tg_dtype types[] = {TG_F32, TG_F32, TG_F32, TG_F64, TG_F16,  TG_BF16, TG_I64,
                                     TG_I64, TG_I32, TG_U8,  TG_I8,  TG_BOOL, TG_U32};
    return types[below(d, (int)(sizeof types / sizeof *types))];
}

static void draw_input(draw *d, int i)
{
    tg_tensor *t = &d->in[i], *first = &d->in[0];
    *t = (tg_tensor){.dtype = TG_DTYPE_NONE};
    d->constant[i] = i > 0 && below(d, 2);
    if (i >= d->row->min_in && below(d, 4) == 0) return;
    t->dtype = i && first->dtype && below(d, 4) ? first->dtype : draw_dtype(d);
    t->shape = draw_shape(d, i && first->dtype ? &first->shape : NULL);
    int64_t n = tg_tensor_count(t), least = tg_dtype_kind(t->dtype) == 'u' ? 0 : -2;
    t->data = tg_calloc((size_t)n + 1, 16);
    for (int64_t k = 0; k < n; k++) tg_tensor_set_i64(t, k, least + below(d, 7));
}

static const char *draw_word(draw *d)
{
    static const char *const words[] = {"",
                                        "SAME_UPPER",
                                        "SAME_LOWER",
                                        "VALID",
                                        "linear",
                                        "cubic",
                                        "nearest",
                                        "floor",
                                        "ceil",
                                        "CRD",
                                        "DCR",
                                        "tanh",
                                        "none",
                                        "reverse",
                                        "forward",
                                        "asymmetric",
                                        "constant",
                                        "edge",
                                        "reflect",
                                        "wrap",
                                        "add",
                                        "mul",
                                        "max",
                                        "LEFT",
                                        "RIGHT",
                                        "i,j->ij",
                                        "ij,jk->ik",
                                        "...i->...",
                                        "ij->ji",
                                        "not_larger",
                                        "stretch",
                                        "Relu",
                                        "Affine",
                                        "Sigmoid",
                                        "half_pixel",
                                        "bidirectional",
                                        "align_corners",
                                        "not_smaller",
                                        "ii->i",
                                        "tf_crop_and_resize"};
    return words[below(d, (int)(sizeof words / sizeof *words))];
}

static tg_attr draw_value(draw *d, int i, const tg_attr_spec *spec)
{
    int rank = (int)d->in[0].shape.rank, length = below(d, 3);
    uint32_t n = (uint32_t)(length == 1 && rank >= 2 ? rank - 2 : below(d, MOST_INTS));
    bool positive = below(d, 2);
    if (length == 2 && rank <= MOST_INTS) n = (uint32_t)rank;
    for (int k = 0; k < MOST_INTS; k++) {
        d->ints[i][k] = positive ? 1 + below(d, 2) : below(d, 7) - 2;
        d->floats[i][k] = (float)(below(d, 7) - 2) / 2;
        d->strs[i][k] = draw_word(d);
    }
    switch (spec->kind) {
    case TG_ATTR_INT: return TG_ATTR_OF_INT(below(d, 9) - 2);
    case TG_ATTR_FLOAT: return TG_ATTR_OF_FLOAT((float)(below(d, 9) - 2) / 2);
    case TG_ATTR_STR: return tg_attr_str(draw_word(d));
    case TG_ATTR_INTS: return TG_ATTR_OF_INTS(d->ints[i], n);
    case TG_ATTR_FLOATS: return (tg_attr){TG_ATTR_FLOATS, n, {.floats = d->floats[i]}};
    case TG_ATTR_STRS: return (tg_attr){TG_ATTR_STRS, n, {.strs = d->strs[i]}};
    case TG_ATTR_TENSOR:
        d->tensor_value = 3;
        d->tensor = (tg_tensor){TG_F32, {.rank = 1, .dim = {1}}, &d->tensor_value};
        return (tg_attr){TG_ATTR_TENSOR, 0, {.tensor = &d->tensor}};
    default: return (tg_attr){.kind = TG_ATTR_NONE};
    }
}

/* True if an input gives what the attribute would give. */
static bool given_as_input(const draw *d, int attr)
{
    int n;
    const tg_fold_spec *folds = tg_op_folds(d->op, &n);
    for (int i = 0; i < n; i++)
        if (folds[i].attr == attr && folds[i].slot < d->n_in && d->in[folds[i].slot].dtype)
            return true;
    return false;
}

static void draw_attrs(draw *d)
{
    int n;
    const tg_attr_spec *specs = tg_op_attrs(d->op, &n);
    d->n_attrs = 0;
    for (int i = 0; i < n && d->n_attrs < MOST_ATTRS; i++)
        if (specs[i].required || (below(d, 4) == 0 && !given_as_input(d, i))) {
            d->attrs[d->n_attrs] =
                (tg_named_attr){specs[i].name, draw_value(d, d->n_attrs, &specs[i])};
            d->n_attrs++;
        }
}

static void draw_node(draw *d)
{
    const tg_op_row *row = d->row;
    int most = row->max_in < 0 ? row->min_in + 3 : row->max_in;
    if (most > MOST_IN) most = MOST_IN;
    d->n_in = row->min_in + below(d, most - row->min_in + 1);
    int most_out = row->max_out < 0 ? row->min_out + 2 : row->max_out;
    d->n_out = row->min_out + below(d, most_out - row->min_out + 1);
    for (int i = 0; i < d->n_in; i++) draw_input(d, i);
    draw_attrs(d);
}

/* NULL: refused, with words. */
static tg_graph *build(draw *d, uint32_t *id)
{
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_graph *g = NULL;
    tg_value v[MOST_IN];
    for (int i = 0; i < d->n_in; i++) {
        const tg_tensor *t = &d->in[i];
        tg_type type = {t->dtype, t->shape};
        if (!t->dtype) v[i] = TG_NO_VALUE;
        else if (!d->constant[i]) v[i] = tg_build_input(b, "x", &type);
        else
            v[i] = tg_build_const(b, t->dtype, &t->shape,
                                  tg_weight_copy(t->data, tg_tensor_bytes(t)), "");
    }
    tg_node_spec spec = {.op = d->op,
                         .in = v,
                         .n_in = d->n_in,
                         .n_out = d->n_out,
                         .attrs = d->attrs,
                         .n_attrs = d->n_attrs};
    if (tg_build_node(b, &spec, id) == TG_OK) {
        tg_value out = tg_value_of(*id, 0);
        const char *name = "y";
        tg_build_outputs(b, &out, &name, 1);
        assert_ok(tg_build_done(b, &g));
    } else {
        assert_true(tg_message()[0] != '\0');
        tg_builder_free(b);
    }
    tg_origin_unref(origin);
    return g;
}

static int64_t output_bytes(const tg_node *node)
{
    int64_t sum = 0;
    for (int i = 0; i < node->n_out; i++)
        if (tg_type_complete(&node->out[i])) {
            int64_t bytes = tg_type_bytes(&node->out[i]);
            sum = bytes > 1 << 24 ? 1 << 24 : sum + bytes;
        }
    return sum;
}

static bool run(draw *d, const tg_node *node)
{
    tg_tensor in[MOST_IN] = {0}, out[MOST_IN] = {0};
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE) in[i] = d->in[i];
    tg_status status = tg_node_eval(node, in, out);
    if (status != TG_OK) {
        assert_true(tg_message()[0] != '\0');
        return false;
    }
    for (int i = 0; i < node->n_out; i++) {
        tg_type got = {out[i].dtype, out[i].shape};
        assert_non_null(out[i].data);
        assert_true(tg_type_complete(&got) || tg_dtype_is_list(got.dtype));
        if (tg_type_complete(&node->out[i])) assert_true(tg_type_equal(&got, &node->out[i]));
        tg_tensor_free(&out[i]);
    }
    return true;
}

static bool try_one(draw *d)
{
    uint32_t id;
    bool ran = false;
    draw_node(d);
    tg_graph *g = build(d, &id);
    const tg_node *node = g ? tg_graph_node(g, id) : NULL;
    if (g) assert_ok(tg_check(g));
    if (g) assert_true(tg_graph_cost_ms(g) >= 0);
    if (node && node->op == d->op && node->n_out <= MOST_IN && tg_op_get(d->op)->kernel &&
        output_bytes(node) < 1 << 20)
        ran = run(d, node);
    tg_graph_unref(g);
    for (int i = 0; i < d->n_in; i++) free(d->in[i].data);
    return ran;
}

static void drawn_nodes_are_refused_or_run(void **state)
{
    (void)state;
    int never = 0;
    for (int op = TG_OP_FIRST_REAL; op < tg_op_row_count; op++) {
        draw d = {.rng = tg_rng_new((uint64_t)op), .op = (tg_op)op, .row = tg_op_get((tg_op)op)};
        int ran = 0;
        for (int i = 0; i < 300; i++) ran += try_one(&d);
        never += !ran;
        tg_rng_free(d.rng);
    }
    /* Operators whose weights must fit each other are not hit by chance. */
    assert_true(never * 5 < tg_op_row_count);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_are_sound),
    cmocka_unit_test(attributes_and_folds_are_sound),
    cmocka_unit_test(drawn_nodes_are_refused_or_run),
};
UNIT_MAIN(tests)
