/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample.h"

#include "func.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIT(i) ((uint64_t)1 << (i))

/* ---- what the facts ask of the data --------------------------------------------------------- */

static uint64_t values_of(const expr *e)
{
    uint64_t bits = e->kind == EXPR_VALUE ? BIT(e->slot) : 0;
    for (int i = 0; i < e->n_args; i++) bits |= values_of(e->args[i]);
    return bits;
}

static void read_fact(sample *s, const expr *e)
{
    if (e->kind == EXPR_NOT) return;
    for (int i = 0; i < e->n_args; i++) read_fact(s, e->args[i]);
    if (e->kind == EXPR_COMPARE && e->op == '=' && e->args[0]->kind == EXPR_CALL &&
        strcmp(func_rows[e->args[0]->fn].name, "count") == 0)
        s->single |= values_of(e->args[0]);
    if (e->kind != EXPR_FACT) return;
    const char *name = fact_rows[e->fn].name;
    uint64_t values = values_of(e);
    if (strcmp(name, "const") == 0) s->consts |= values;
    if (strcmp(name, "above") == 0 || strcmp(name, "positive") == 0) s->above |= values;
    if (strcmp(name, "below") == 0) s->below |= values;
    if (strcmp(name, "uniform") == 0) s->flat |= values;
    if (strcmp(name, "per_channel") == 0) s->channels_of[e->args[0]->slot] = 1 + e->args[1]->slot;
}

static void read_facts(sample *s)
{
    for (int i = 0; i < s->rule->n_facts; i++)
        if (!(s->skip >> i & 1)) read_fact(s, s->rule->facts[i].e);
    s->consts |= s->above | s->below | s->flat;
    for (int i = 0; i < s->rule->n_values; i++)
        if (s->rule->values[i].number) s->consts |= BIT(i);
}

uint64_t sample_reads(const tg_rule *rule)
{
    sample *s = tg_calloc(1, sizeof *s);
    s->rule = rule;
    read_facts(s);
    uint64_t bits = s->above | s->below | s->flat | s->single;
    free(s);
    return bits;
}

/* A number that a condition names, so that conditions on numbers are met often enough. */
static bool named_number(sample *s, const expr *e, double *x)
{
    if ((e->kind == EXPR_FLOAT || e->kind == EXPR_INT) && sample_chance(s, 50)) {
        *x = e->kind == EXPR_FLOAT ? e->f : (double)e->i;
        return true;
    }
    for (int i = 0; i < e->n_args; i++)
        if (named_number(s, e->args[i], x)) return true;
    return false;
}

static bool is_exact_op(tg_op op)
{
    static const char *const names[] = {"Add", "Sub",    "Mul",    "Neg", "Abs",  "Relu",  "Max",
                                        "Min", "MatMul", "Gather", "Sum", "Cast", "Concat"};
    if (tg_op_get(op)->flags & TG_VIEW) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(tg_op_get(op)->name, names[i]) == 0) return true;
    return false;
}

static tg_dtype draw_dtype(sample *s)
{
    static const tg_dtype all[] = {TG_F32, TG_F32, TG_F32, TG_F64, TG_I64, TG_I32, TG_F16};
    bool integers = true, casts = false, asked = false;
    for (int i = 0; i < s->rule->n_from; i++) {
        integers &= is_exact_op(s->rule->from[i].op);
        casts |= strcmp(tg_op_get(s->rule->from[i].op)->name, "Cast") == 0;
    }
    for (int i = 0; i < s->rule->n_facts; i++) {
        const expr *e = s->rule->facts[i].e;
        asked |= e->kind == EXPR_FACT && (strcmp(fact_rows[e->fn].name, "floating") == 0 ||
                                          strcmp(fact_rows[e->fn].name, "integral") == 0);
    }
    if (sample_chance(s, casts || asked ? 30 : 75)) return TG_F32;
    /* Integers everywhere: a rule may forget them. Halves only where nothing overflows in them. */
    if (!integers && !asked) return all[sample_below(s, sample_chance(s, 30) ? 6 : 4)];
    return all[sample_below(s, 7)];
}

static bool has_value(const sample *s, int slot)
{
    return s->names.has_value >> slot & 1;
}

/* ---- free values --------------------------------------------------------------------------- */

static int64_t param_dim(sample *s, int slot)
{
    if (!(s->names.has_param & BIT(slot))) {
        s->names.params[slot] = TG_ATTR_OF_INT(sample_dim(s));
        s->names.has_param |= BIT(slot);
    }
    return s->names.params[slot].i;
}

static tg_attr param_dims(sample *s, int slot)
{
    if (!(s->names.has_param & BIT(slot))) {
        int n = sample_below(s, 4);
        int64_t *v = TG_NEW_ARRAY(s->arena, int64_t, n);
        for (int i = 0; i < n; i++) v[i] = sample_dim(s);
        s->names.params[slot] = TG_ATTR_OF_INTS(v, n);
        s->names.has_param |= BIT(slot);
    }
    return s->names.params[slot];
}

static tg_shape declared(sample *s, const rule_value *v)
{
    tg_shape shape = {.rank = 0};
    for (int i = 0; i < v->n_dims; i++) {
        const rule_dim *dim = &v->dims[i];
        if (dim->kind == DIM_SPLICE) {
            tg_attr a = param_dims(s, dim->slot);
            for (uint32_t k = 0; k < a.n && shape.rank < TG_MAX_RANK; k++)
                shape.dim[shape.rank++] = a.ints[k];
        } else if (shape.rank < TG_MAX_RANK) {
            shape.dim[shape.rank++] = dim->kind == DIM_INT     ? dim->i
                                      : dim->kind == DIM_PARAM ? param_dim(s, dim->slot)
                                                               : sample_dim(s);
        }
    }
    return shape;
}

/* The base shape or one that broadcasts with it. */
static tg_shape undeclared(sample *s, const rule_value *v)
{
    tg_shape shape = s->base;
    if (v->list) {
        if (shape.rank) shape.dim[s->list_axis % shape.rank] = sample_dim(s);
        return shape;
    }
    int drop = sample_chance(s, 20) ? sample_below(s, (int)shape.rank + 1) : 0;
    if (sample_chance(s, 45)) return shape;
    memmove(shape.dim, shape.dim + drop, sizeof *shape.dim * (size_t)(shape.rank - drop));
    shape.rank -= drop;
    for (int i = (int)shape.rank; i < TG_MAX_RANK; i++) shape.dim[i] = 0;
    for (int i = 0; i < shape.rank; i++)
        if (sample_chance(s, 30)) shape.dim[i] = 1;
    return shape;
}

/* [m,1,1] or [1,m,1,1] beside a value of m channels. */
static void channel_shape(sample *s, int slot, tg_shape *shape)
{
    int other = s->channels_of[slot] - 1;
    if (other < 0 || !has_value(s, other) || sample_chance(s, 10)) return;
    const tg_shape *t = &tg_build_type(s->b, s->names.values[other])->shape;
    if (t->rank < 2) return;
    int cut = sample_below(s, 2);
    *shape = (tg_shape){.rank = t->rank - cut};
    for (int i = cut; i < t->rank; i++) shape->dim[i - cut] = i == 1 ? t->dim[1] : 1;
}

/* Values of a list are numbered. */
static const char *input_name(sample *s, const rule_value *v)
{
    return v->list ? tg_arena_printf(s->arena, "%s%d", v->name, s->named++) : v->name;
}

static tg_value add_const(sample *s, int slot, tg_dtype dtype, const tg_shape *shape)
{
    const rule_value *v = &s->rule->values[slot];
    tg_tensor t = {dtype, *shape, NULL};
    size_t size = tg_tensor_bytes(&t);
    t.data = tg_calloc(1, size ? size : 1);
    int sign = s->above & BIT(slot) ? 1 : s->below & BIT(slot) ? -1 : 0;
    sample_fill(s, &t, sign, (s->flat & BIT(slot)) || v->number);
    double x;
    for (int i = 0; v->number && i < s->rule->n_facts; i++) {
        if (!named_number(s, s->rule->facts[i].e, &x)) continue;
        for (int64_t k = 0, n = tg_tensor_count(&t); k < n; k++) tg_tensor_set_f64(&t, k, x);
        break;
    }
    return tg_build_const(s->b, dtype, shape, tg_weight_own(t.data, size), input_name(s, v));
}

static tg_value add_free(sample *s, int slot)
{
    const rule_value *v = &s->rule->values[slot];
    tg_shape shape = v->shaped ? declared(s, v) : undeclared(s, v);
    channel_shape(s, slot, &shape);
    if (s->single & BIT(slot) && sample_chance(s, 95))
        shape = (tg_shape){.rank = sample_below(s, 4), .dim = {0}};
    for (int i = 0; s->single & BIT(slot) && i < shape.rank; i++)
        if (!shape.dim[i]) shape.dim[i] = 1;
    tg_type type = {s->dtype, shape};
    tg_dtype role = sample_role(s, slot);
    if (sample_chance(s, 4)) type.dtype = TG_F64;
    if (v->number) {
        type.dtype = s->dtype;
        if (sample_chance(s, 85)) type.shape = (tg_shape){.rank = sample_below(s, 2), .dim = {0}};
        if (type.shape.rank == 1) type.shape.dim[0] = 1;
    }
    if (role != TG_DTYPE_NONE) type.dtype = role;
    if (s->consts & BIT(slot) || (!s->bare && sample_chance(s, 8)))
        return add_const(s, slot, type.dtype, &type.shape);
    return tg_build_input(s->b, input_name(s, v), &type);
}

static tg_value value_at(sample *s, int slot)
{
    const rule_value *v = &s->rule->values[slot];
    if (!has_value(s, slot)) {
        bool absent = v->optional && sample_chance(s, 40);
        s->names.values[slot] = absent ? TG_NO_VALUE : add_free(s, slot);
        s->names.has_value |= BIT(slot);
    }
    return s->names.values[slot];
}

static value_list list_at(sample *s, int slot)
{
    if (!(s->names.has_list & BIT(slot))) {
        const rule_value *v = &s->rule->values[slot];
        bool absent = v->optional && sample_chance(s, 40);
        tg_value *list = TG_NEW_ARRAY(s->arena, tg_value, s->elements);
        for (int i = 0; i < s->elements; i++) list[i] = absent ? TG_NO_VALUE : add_free(s, slot);
        s->names.lists[slot] = (value_list){list, s->elements};
        s->names.has_list |= BIT(slot);
    }
    return s->names.lists[slot];
}

/* ---- nodes --------------------------------------------------------------------------------- */

static bool ready(const sample *s, const rule_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        const term *t = &node->in[i];
        if (t->kind != TERM_VALUE && t->kind != TERM_LIST) continue;
        if (s->rule->values[t->slot].node < 0) continue;
        if (!((s->names.has_value | s->names.has_list) >> t->slot & 1)) return false;
    }
    return true;
}

static tg_attr draw_pattern(sample *s, const expr *e, tg_attr drawn);

static tg_attr draw_list(sample *s, const expr *e, const tg_attr *drawn)
{
    int64_t v[64];
    int n = 0, at = 0, extra = (int)drawn->n - e->n_args + 1;
    for (int i = 0; i < e->n_args; i++) {
        bool splice = e->args[i]->kind == EXPR_SPLICE;
        const expr *arg = splice ? e->args[i]->args[0] : e->args[i];
        int take = splice ? (extra > 0 ? extra : 0) : 1;
        bool there = drawn->kind == TG_ATTR_INTS && at + take <= (int)drawn->n;
        tg_attr part = splice ? TG_ATTR_OF_INTS(drawn->ints + at, there ? take : 0)
                              : TG_ATTR_OF_INT(there ? drawn->ints[at] : sample_below(s, 3));
        part = draw_pattern(s, arg, part);
        if (part.kind == TG_ATTR_INTS)
            for (uint32_t k = 0; k < part.n && n < 60; k++) v[n++] = part.ints[k];
        else v[n++] = part.i;
        at += take;
    }
    return TG_ATTR_OF_INTS(tg_arena_dup(s->arena, v, sizeof *v * (size_t)n), n);
}

/* What a pattern asks for; where it leaves open, what was drawn. */
static tg_attr draw_pattern(sample *s, const expr *e, tg_attr drawn)
{
    switch (e->kind) {
    case EXPR_INT:
        return drawn.kind == TG_ATTR_FLOAT ? TG_ATTR_OF_FLOAT((float)e->i) : TG_ATTR_OF_INT(e->i);
    case EXPR_FLOAT: return TG_ATTR_OF_FLOAT((float)e->f);
    case EXPR_STR: return tg_attr_str(e->s);
    case EXPR_LIST: return draw_list(s, e, &drawn);
    case EXPR_PARAM:
        if (s->names.has_param & BIT(e->slot)) return s->names.params[e->slot];
        s->names.params[e->slot] = drawn;
        s->names.has_param |= BIT(e->slot);
        return drawn;
    default: return drawn;
    }
}

static const rule_attr *pattern_of(const rule_node *node, int index)
{
    for (int i = 0; i < node->n_attr; i++)
        if (node->attr[i].index == index) return &node->attr[i];
    return NULL;
}

static tg_attr *draw_attrs(sample *s, const rule_node *node, const tg_value *in, int n_in)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    tg_attr *attr = TG_NEW_ARRAY(s->arena, tg_attr, n);
    const tg_attr *shared = node->rest >= 0 ? s->rests[node->rest] : NULL;
    for (int i = 0; i < n; i++) attr[i] = spec[i].value;
    for (int i = 0; i < n; i++) {
        const rule_attr *pattern = pattern_of(node, i);
        tg_attr drawn = sample_attr(s, node->op, i, attr, in, n_in);
        if (pattern) {
            attr[i] = draw_pattern(s, pattern->e, drawn);
            if (attr[i].kind == TG_ATTR_INT && spec[i].kind == TG_ATTR_FLOAT)
                attr[i] = TG_ATTR_OF_FLOAT((float)attr[i].i);
        } else if (node->rest >= 0) {
            attr[i] = shared ? shared[i] : drawn;
        }
    }
    if (node->rest >= 0 && !shared) s->rests[node->rest] = attr;
    return attr;
}

static tg_value number_const(sample *s, const rule_node *node, const term *t, const tg_value *in,
                             int n)
{
    tg_dtype dtype = s->dtype;
    for (int i = 0; i < n; i++)
        if (in[i] != TG_NO_VALUE) dtype = tg_build_type(s->b, in[i])->dtype;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i].kind == TERM_VALUE && has_value(s, node->in[i].slot) &&
            s->names.values[node->in[i].slot] != TG_NO_VALUE)
            dtype = tg_build_type(s->b, s->names.values[node->in[i].slot])->dtype;
    return tg_build_scalar(s->b, dtype, t->e->kind == EXPR_INT ? (double)t->e->i : t->e->f);
}

/* The inputs of a node; of element `k` if it is an each line. */
static int gather(sample *s, const rule_node *node, int k, tg_value *in)
{
    int n = 0;
    for (int i = 0; i < node->n_in; i++) {
        const term *t = &node->in[i];
        if (t->kind == TERM_NUMBER) {
            in[n] = number_const(s, node, t, in, n);
            n++;
        } else if (t->kind == TERM_LIST) {
            value_list list = list_at(s, t->slot);
            for (int m = 0; m < list.n; m++) in[n++] = list.v[m];
        } else {
            bool element = s->rule->values[t->slot].each;
            in[n++] = element ? list_at(s, t->slot).v[k] : value_at(s, t->slot);
        }
    }
    if (tg_op_get(node->op)->flags & TG_COMMUTES && n == 2 && sample_chance(s, 50)) {
        tg_value x = in[0];
        in[0] = in[1];
        in[1] = x;
    }
    return n;
}

static tg_status add_node(sample *s, const rule_node *node, int k, uint32_t *id)
{
    tg_value in[256];
    int n = gather(s, node, k, in), n_attr;
    s->parts = node->out_list ? s->elements : node->n_out;
    tg_attr *attr = draw_attrs(s, node, in, n);
    int n_out = node->out_list ? s->elements : node->n_out;
    TG_TRY(tg_build_copy(s->b, node->op, attr, in, n, n_out, NULL, id));
    const tg_node *made = tg_build_get(s->b, *id);
    tg_op_attrs(node->op, &n_attr);
    for (int i = 0; i < node->n_attr && made->op == node->op; i++)
        if (node->attr[i].e->kind == EXPR_PARAM && node->attr[i].index < n_attr) {
            /* The canonical value: another line may want the same. */
            s->names.params[node->attr[i].e->slot] = made->attrs->a[node->attr[i].index];
        }
    return TG_OK;
}

static tg_value *room_for(sample *s, int slot, int n)
{
    tg_value *v = TG_NEW_ARRAY(s->arena, tg_value, n);
    s->names.lists[slot] = (value_list){v, n};
    s->names.has_list |= BIT(slot);
    return v;
}

static tg_status add_line(sample *s, const rule_node *node)
{
    uint32_t id;
    if (node->each) {
        tg_value *v =
            node->n_out && node->out[0] >= 0 ? room_for(s, node->out[0], s->elements) : NULL;
        for (int k = 0; k < s->elements; k++) {
            TG_TRY(add_node(s, node, k, &id));
            if (v) v[k] = tg_value_of(id, 0);
        }
        return TG_OK;
    }
    TG_TRY(add_node(s, node, 0, &id));
    if (node->out_list) {
        tg_value *v = room_for(s, node->out[0], s->elements);
        for (int k = 0; k < s->elements; k++) v[k] = tg_value_of(id, (uint32_t)k);
        return TG_OK;
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] < 0) continue;
        s->names.values[node->out[i]] = tg_value_of(id, (uint32_t)i);
        s->names.has_value |= BIT(node->out[i]);
    }
    return TG_OK;
}

static tg_status add_lines(sample *s)
{
    uint64_t done = 0;
    for (int left = s->rule->n_from; left;) {
        int before = left;
        for (int i = 0; i < s->rule->n_from; i++) {
            if (done >> i & 1 || !ready(s, &s->rule->from[i])) continue;
            TG_TRY(add_line(s, &s->rule->from[i]));
            done |= BIT(i);
            left--;
        }
        if (before == left) return tg_fail(TG_RULE, "the lines of from form a cycle");
    }
    return TG_OK;
}

/* ---- the graph ----------------------------------------------------------------------------- */

static uint64_t once_values(const sample *s)
{
    uint64_t bits = 0;
    for (int i = 0; i < s->rule->n_facts; i++) {
        const expr *e = s->rule->facts[i].e;
        if (e->kind == EXPR_FACT && strcmp(fact_rows[e->fn].name, "once") == 0)
            bits |= values_of(e);
    }
    return bits;
}

static bool is_result(const tg_rule *rule, int slot)
{
    for (int i = 0; i < rule->n_results; i++)
        if (rule->results[i].from == slot) return true;
    return false;
}

static void set_outputs(sample *s)
{
    tg_value outs[256];
    const char *names[256];
    int n = 0;
    uint64_t once = once_values(s);
    for (int i = 0; i < s->rule->n_values; i++) {
        const rule_value *v = &s->rule->values[i];
        if (v->node < 0) continue;
        if (!is_result(s->rule, i) && (s->bare || once >> i & 1 || sample_chance(s, 75))) continue;
        if (s->names.has_list & BIT(i))
            for (int k = 0; k < s->names.lists[i].n && n < 256; k++)
                outs[n++] = s->names.lists[i].v[k];
        else if (n < 256) outs[n++] = s->names.values[i];
    }
    for (int i = 0; i < n; i++) names[i] = tg_arena_printf(s->arena, "out%d", i);
    tg_build_outputs(s->b, outs, names, n);
}

static tg_status draw(sample *s)
{
    s->dtype = draw_dtype(s);
    /* Where dimensions are equal a wrong one fits as well, and shows in the elements. */
    s->cube = sample_chance(s, 30) ? 2 + sample_below(s, 2) : 0;
    s->elements = 2 + sample_below(s, 2);
    s->list_axis = sample_below(s, 4);
    s->style = sample_below(s, 3);
    s->base.rank = 1 + sample_below(s, 4);
    for (int i = 0; i < s->base.rank; i++) s->base.dim[i] = sample_dim(s);
    read_facts(s);
    TG_TRY(add_lines(s));
    set_outputs(s);
    return TG_OK;
}

static tg_status sample_some(const tg_rule *rule, tg_rng *rng, uint64_t skip, bool bare,
                             tg_graph **out)
{
    tg_origin *origin = tg_origin_new();
    sample *s = tg_calloc(1, sizeof *s);
    s->rule = rule;
    s->rng = rng;
    s->skip = skip;
    s->bare = bare;
    s->arena = tg_arena_new();
    s->b = tg_builder_new(origin);
    tg_status status = draw(s);
    if (status == TG_OK) status = tg_build_done(s->b, out);
    else tg_builder_free(s->b);
    tg_arena_free(s->arena);
    free(s);
    tg_origin_unref(origin);
    return status;
}

tg_status sample_graph(const tg_rule *rule, tg_rng *rng, uint64_t skip, tg_graph **out)
{
    return sample_some(rule, rng, skip, false, out);
}

tg_status sample_bare_graph(const tg_rule *rule, tg_rng *rng, tg_graph **out)
{
    return sample_some(rule, rng, 0, true, out);
}
