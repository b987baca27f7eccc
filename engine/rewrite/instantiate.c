/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The `to` side of a rule over what a site has bound. */
#include "preview.h"

#include <string.h>

enum { MOST_INPUTS = 1024 };

/* What a line made: one value a port, or for an each line one an element. */
typedef struct made {
    tg_value *v;
    int n;
    bool absent; /* all its inputs were */
} made;

typedef struct instance {
    draft *d;
    const tg_rule *rule;
    const tg_site_binding *b;
    eval ev;
    made made[RULE_NODES];
} instance;

/* The inputs of one new node while they are gathered. */
typedef struct inputs {
    tg_value v[MOST_INPUTS];
    const term *of[MOST_INPUTS];
    int n;
} inputs;

static tg_status push(inputs *in, tg_value v, const term *t)
{
    if (in->n == MOST_INPUTS) return tg_fail(TG_LIMIT, "more than %d inputs", MOST_INPUTS);
    in->v[in->n] = v;
    in->of[in->n++] = t;
    return TG_OK;
}

static value_list list_of(const instance *x, const term *t)
{
    if (t->kind == TERM_LIST) return x->b->lists[t->slot];
    return (value_list){x->made[t->node].v, x->made[t->node].n};
}

static tg_value one_of(const instance *x, const term *t)
{
    if (t->kind == TERM_VALUE) return x->b->values[t->slot];
    if (t->kind == TERM_NUMBER) return TG_NO_VALUE;
    const made *m = &x->made[t->node];
    return m->absent || t->port >= m->n ? TG_NO_VALUE : m->v[t->port];
}

static tg_status gather(const instance *x, const rule_node *node, int element, inputs *in)
{
    in->n = 0;
    for (int i = 0; i < node->n_in; i++) {
        const term *t = &node->in[i];
        if (t->kind != TERM_LIST && t->kind != TERM_NEWS) {
            TG_TRY(push(in, one_of(x, t), t));
            continue;
        }
        value_list list = list_of(x, t);
        if (element >= list.n) return tg_fail(TG_RULE, "lists of different length");
        int from = element >= 0 ? element : 0, to = element >= 0 ? element + 1 : list.n;
        for (int k = from; k < to; k++) TG_TRY(push(in, list.v[k], t));
    }
    return TG_OK;
}

static tg_dtype input_type(const instance *x, const inputs *in)
{
    for (int i = 0; i < in->n; i++)
        if (in->v[i] != TG_NO_VALUE) return draft_type(x->d, in->v[i])->dtype;
    return TG_F32;
}

static tg_status number_value(instance *x, const expr *e, double *out)
{
    tg_attr a;
    TG_TRY(eval_expr(&x->ev, e, &a));
    if (a.kind != TG_ATTR_INT && a.kind != TG_ATTR_FLOAT)
        return tg_fail(TG_RULE, "a constant is made of one number");
    *out = a.kind == TG_ATTR_INT ? (double)a.i : (double)a.f;
    /* A literal keeps all its digits. */
    if (e->kind == EXPR_FLOAT) *out = e->f;
    return TG_OK;
}

static tg_status declared_shape(instance *x, const rule_value *v, tg_shape *shape)
{
    *shape = (tg_shape){.rank = 0};
    for (int i = 0; i < v->n_dims; i++) {
        const rule_dim *dim = &v->dims[i];
        tg_attr a = TG_ATTR_OF_INT(dim->i);
        if (dim->kind == DIM_ANY || (dim->kind != DIM_INT && !(x->b->has_param >> dim->slot & 1)))
            return tg_fail(TG_RULE, "the shape of absent %s is not known", v->name);
        if (dim->kind != DIM_INT) a = x->b->params[dim->slot];
        uint32_t n = a.kind == TG_ATTR_INT ? 1 : a.n;
        if (shape->rank + n > TG_MAX_RANK) return tg_fail(TG_RULE, "too many dimensions");
        for (uint32_t k = 0; k < n; k++)
            shape->dim[shape->rank++] = a.kind == TG_ATTR_INT ? a.i : a.ints[k];
    }
    return TG_OK;
}

/* Numbers become constants; an absent input that must be there becomes zeros if the rule says so.
 */
static tg_status complete(instance *x, const tg_op_row *row, inputs *in)
{
    tg_dtype dtype = input_type(x, in);
    for (int i = 0; i < in->n; i++) {
        const term *t = in->of[i];
        tg_shape shape = {.rank = 0};
        double number = 0;
        if (in->v[i] != TG_NO_VALUE) continue;
        if (t->kind == TERM_NUMBER) {
            TG_TRY(number_value(x, t->e, &number));
        } else if (i < row->min_in || row->max_in < 0) {
            const rule_value *v =
                t->kind == TERM_VALUE || t->kind == TERM_LIST ? &x->rule->values[t->slot] : NULL;
            if (!v || !v->zero) return tg_fail(TG_RULE, "an input of %s is absent", row->name);
            TG_TRY(declared_shape(x, v, &shape));
        } else {
            continue;
        }
        in->v[i] = draft_fill(x->d, dtype, &shape, number);
    }
    return TG_OK;
}

/* ..name: the other attributes of the matched node, where the new operator has them. */
static void copy_rest(const instance *x, const rule_node *node, tg_attr *attr, int n)
{
    const tg_node *from = x->b->rests[node->rest];
    int n_from;
    const tg_attr_spec *theirs = tg_op_attrs(from->op, &n_from);
    const tg_attr_spec *ours = tg_op_attrs(node->op, &n);
    for (int i = 0; i < n_from; i++) {
        if (x->b->rest_mask[node->rest] >> i & 1) continue;
        int at = from->op == node->op ? i : tg_op_attr_index(node->op, theirs[i].name);
        if (at < 0 || node->mentioned >> at & 1 || ours[at].kind != theirs[i].kind) continue;
        attr[at] = from->attrs->a[i];
    }
}

static tg_status fit_kind(instance *x, const tg_attr_spec *spec, tg_attr *a)
{
    if (a->kind == spec->kind || a->kind == TG_ATTR_NONE) return TG_OK;
    if (a->kind == TG_ATTR_INT && spec->kind == TG_ATTR_FLOAT) {
        *a = TG_ATTR_OF_FLOAT((float)a->i);
    } else if (a->kind == TG_ATTR_INT && spec->kind == TG_ATTR_INTS) {
        int64_t *v = TG_NEW(x->d->arena, int64_t);
        *v = a->i;
        *a = TG_ATTR_OF_INTS(v, 1);
    } else {
        return tg_fail(TG_RULE, "attribute %s has the wrong kind", spec->name);
    }
    return TG_OK;
}

static tg_status make_attrs(instance *x, const rule_node *node, tg_attr **out)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    tg_attr *attr = TG_NEW_ARRAY(x->d->arena, tg_attr, n);
    for (int i = 0; i < n; i++) attr[i] = spec[i].value;
    if (node->rest >= 0) copy_rest(x, node, attr, n);
    for (int i = 0; i < node->n_attr; i++) {
        int at = node->attr[i].index;
        TG_TRY(eval_expr(&x->ev, node->attr[i].e, &attr[at]));
        TG_TRY(fit_kind(x, &spec[at], &attr[at]));
    }
    *out = attr;
    return TG_OK;
}

/* How many results a Split into a list has: as many as its `split` says. */
static int results_of(const rule_node *node, const tg_attr *attr)
{
    if (!node->out_list) return node->n_out ? node->n_out : 1;
    int at = tg_op_attr_index(node->op, "split");
    return at >= 0 && attr[at].kind == TG_ATTR_INTS ? (int)attr[at].n : 1;
}

/* True if the line has inputs that are values, and none is there. */
static bool all_absent(const rule_node *node, const inputs *in)
{
    bool values = false;
    for (int i = 0; i < in->n; i++)
        if (in->v[i] != TG_NO_VALUE) return false;
    for (int i = 0; i < node->n_in; i++) values |= node->in[i].kind != TERM_NUMBER;
    return values;
}

/* One node for line i (its `element`-th if the line says each); adds its values to made[i]. */
static tg_status make_node(instance *x, int i, int element)
{
    const rule_node *node = &x->rule->to[i];
    made *m = &x->made[i];
    inputs in;
    tg_attr *attr;
    uint32_t id;
    TG_TRY(gather(x, node, element, &in));
    if (all_absent(node, &in)) {
        m->absent = true;
        return TG_OK;
    }
    TG_TRY(complete(x, tg_op_get(node->op), &in));
    TG_TRY(make_attrs(x, node, &attr));
    bool multiplied = node->each && node->out_list;
    int n_out = multiplied ? 1 : results_of(node, attr);
    TG_TRY(draft_node(x->d, node->op, attr, in.v, in.n, n_out, &id));
    if (multiplied) {
        m->v[m->n++] = tg_value_of(id, 0);
        return TG_OK;
    }
    m->v = TG_NEW_ARRAY(x->d->arena, tg_value, n_out);
    m->n = n_out;
    for (int k = 0; k < n_out; k++) m->v[k] = tg_value_of(id, (uint32_t)k);
    return TG_OK;
}

static int element_count(const instance *x, const rule_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i].kind == TERM_LIST || node->in[i].kind == TERM_NEWS)
            return list_of(x, &node->in[i]).n;
    return 0;
}

static tg_status make_line(instance *x, int i)
{
    const rule_node *node = &x->rule->to[i];
    if (!node->each) return make_node(x, i, -1);
    int n = element_count(x, node);
    x->made[i].v = TG_NEW_ARRAY(x->d->arena, tg_value, n);
    for (int k = 0; k < n; k++) TG_TRY(make_node(x, i, k));
    return TG_OK;
}

static tg_status check_redirect(const draft *d, tg_value from, tg_value to)
{
    char a[TG_SHAPE_TEXT], b[TG_SHAPE_TEXT];
    if (to == TG_NO_VALUE) return tg_fail(TG_RULE, "a result is absent");
    const tg_type *old = tg_graph_type(d->g, from), *new = draft_type(d, to);
    if (old->dtype != new->dtype)
        return tg_fail(TG_TYPE, "the element type would change from %s to %s",
                       tg_dtype_name(old->dtype), tg_dtype_name(new->dtype));
    if (!tg_shape_equal(&old->shape, &new->shape))
        return tg_fail(TG_SHAPE, "the shape would change from %s to %s",
                       tg_shape_text(a, &old->shape), tg_shape_text(b, &new->shape));
    return TG_OK;
}

typedef TG_VEC(tg_preview_redirect) redirect_vec;

static tg_status add_results(const instance *x, const rule_result *r, redirect_vec *out)
{
    if (!r->list) {
        tg_value from = x->b->values[r->from], to = one_of(x, &r->to);
        TG_TRY(check_redirect(x->d, from, to));
        tg_vec_push(out, (tg_preview_redirect){from, to});
        return TG_OK;
    }
    value_list from = x->b->lists[r->from], to = list_of(x, &r->to);
    if (from.n != to.n) return tg_fail(TG_RULE, "lists of different length");
    for (int i = 0; i < from.n; i++) {
        TG_TRY(check_redirect(x->d, from.v[i], to.v[i]));
        tg_vec_push(out, (tg_preview_redirect){from.v[i], to.v[i]});
    }
    return TG_OK;
}

/* A result that is another replaced value follows that one. */
static tg_status follow(redirect_vec *list)
{
    for (size_t i = 0; i < list->n; i++) {
        size_t steps = 0;
        for (size_t k = 0; k < list->n; k++) {
            if (list->v[k].from != list->v[i].to) continue;
            if (steps++ > list->n) return tg_fail(TG_RULE, "replaced values replace each other");
            list->v[i].to = list->v[k].to;
            k = SIZE_MAX;
        }
    }
    return TG_OK;
}

static tg_status run(instance *x, redirect_vec *redirects)
{
    for (int i = 0; i < x->rule->n_to; i++) TG_TRY(make_line(x, i));
    for (int i = 0; i < x->rule->n_results; i++)
        TG_TRY(add_results(x, &x->rule->results[i], redirects));
    return follow(redirects);
}

tg_status instantiate(draft *d, const tg_site *site, tg_preview_redirect **redirects, int *n)
{
    const tg_site_binding *b = site->binding;
    instance x = {.d = d, .rule = b->rule, .b = b};
    x.ev = (eval){.g = d->g,
                  .rule = b->rule,
                  .arena = d->arena,
                  .has_value = b->has_value,
                  .has_list = b->has_list,
                  .has_param = b->has_param,
                  .values = b->values,
                  .lists = b->lists,
                  .params = b->params};
    redirect_vec list = {0};
    tg_status status = run(&x, &list);
    *redirects = tg_arena_dup(d->arena, list.v, list.n * sizeof *list.v);
    *n = (int)list.n;
    tg_vec_free(&list);
    return status;
}
