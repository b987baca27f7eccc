/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Model-local functions: each call becomes the nodes of its function, before anything else looks at
 * the graph. What is written here lives in the origin's arena, like the messages of the file that
 * it shares parts with.
 */
#include "import.h"
#include "standard.h"

#include <stdio.h>
#include <string.h>

/* Calls in calls and graphs in graphs, together: what recurses over a graph has a stack to match.
 */
enum { DEEPEST = 200 };

typedef TG_VEC(Onnx__NodeProto *) node_list;

typedef struct function {
    const Onnx__FunctionProto *proto;
    int64_t opset; /* of the default domain; 0: none */
    bool open;     /* one of its calls is being expanded */
    bool kept;     /* its calls stay: its nodes cannot be read in the opset of the model */
} function;

typedef struct inliner {
    tg_importer *im;
    tg_arena *arena;
    tg_strmap index; /* "domain\nname\noverload" -> position in list */
    function *list;
    tg_strmap used;    /* names of values, in the graph and all its subgraphs */
    size_t room, most; /* bytes that may still be written */
    bool full;
    size_t n_nodes;
    int depth, unnamed;
    TG_VEC(Onnx__ValueInfoProto *) infos;
} inliner;

/* A call on its way into the graph. */
typedef struct expansion {
    inliner *in;
    const function *f;
    const Onnx__NodeProto *call;
    const char *prefix; /* of the names made for it */
    tg_strmap names;    /* name in the function -> const char *, in the graph */
} expansion;

/* ---- memory ---- */

/* Zeroed memory; NULL once the bound is reached, which the caller finds out by in->full. */
static void *take(inliner *in, size_t size)
{
    if (size > in->room) in->full = true;
    if (in->full) return NULL;
    in->room -= size;
    return tg_arena_alloc(in->arena, size ? size : 1);
}

static void *copy(inliner *in, const void *p, size_t size)
{
    void *made = take(in, size);
    if (made && size) memcpy(made, p, size);
    return made;
}

static tg_status check_room(const inliner *in)
{
    if (in->full)
        return tg_fail(TG_LIMIT, "inlining the functions needs more than %zu MB of memory",
                       in->most >> 20);
    if (in->n_nodes > TG_MAX_NODES / 2)
        return tg_fail(TG_LIMIT, "the functions inlined make more than %d nodes", TG_MAX_NODES / 2);
    return TG_OK;
}

static char *join(inliner *in, const char *a, const char *between, const char *b)
{
    size_t n = strlen(a) + strlen(between) + strlen(b) + 1;
    char *made = take(in, n);
    if (made) snprintf(made, n, "%s%s%s", a, between, b);
    return made ? made : "";
}

/* ---- functions by name ---- */

static const char *plain_domain(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static const char *key_of(inliner *in, const char *domain, const char *name, const char *overload)
{
    return tg_arena_printf(in->im->arena, "%s\n%s\n%s", plain_domain(domain), name ? name : "",
                           overload ? overload : "");
}

static function *called(inliner *in, const Onnx__NodeProto *node)
{
    const uint64_t *at =
        tg_strmap_find(&in->index, key_of(in, node->domain, node->op_type, node->overload));
    return at ? &in->list[*at] : NULL;
}

static tg_status list_functions(inliner *in, const Onnx__ModelProto *m)
{
    in->list = TG_NEW_ARRAY(in->im->arena, function, m->n_functions + 1);
    for (size_t i = 0; i < m->n_functions; i++) {
        const Onnx__FunctionProto *f = m->functions[i];
        bool fresh;
        in->list[i].proto = f;
        for (size_t k = 0; k < f->n_opset_import; k++)
            if (!plain_domain(f->opset_import[k]->domain)[0])
                in->list[i].opset = f->opset_import[k]->version;
        *tg_strmap_put(&in->index, key_of(in, f->domain, f->name, f->overload), &fresh) = i;
        if (!fresh)
            return tg_fail(TG_INVALID, "the function %s is there twice", f->name ? f->name : "");
    }
    return TG_OK;
}

/* ---- opsets ---- */

static bool nodes_fit(inliner *in, const function *f, Onnx__NodeProto *const *nodes, size_t n,
                      bool inside);

static bool node_fits(inliner *in, const function *f, const Onnx__NodeProto *node, bool inside)
{
    const char *op = node->op_type ? node->op_type : "";
    bool standard = !plain_domain(node->domain)[0] && !called(in, node), fits = true;
    if (standard && strcmp(op, "Constant") != 0 &&
        tg_standard_version(op, (int)f->opset) != tg_standard_version(op, (int)in->im->opset))
        fits = !inside && !tg_scope_has_graphs(node) && tg_upgrade_op("", op) >= TG_OP_FIRST_REAL;
    for (size_t i = 0; i < node->n_attribute && fits; i++) {
        const Onnx__AttributeProto *a = node->attribute[i];
        if (a->g) fits = nodes_fit(in, f, a->g->node, a->g->n_node, true);
        for (size_t k = 0; k < a->n_graphs && fits; k++)
            fits = nodes_fit(in, f, a->graphs[k]->node, a->graphs[k]->n_node, true);
    }
    return fits;
}

static bool nodes_fit(inliner *in, const function *f, Onnx__NodeProto *const *nodes, size_t n,
                      bool inside)
{
    bool fit = true;
    for (size_t i = 0; i < n && fit; i++) fit = node_fits(in, f, nodes[i], inside);
    return fit;
}

/*
 * Nodes of another opset that has the same form of them, or that are rows and so are brought to one
 * meaning, may stand in the graph; others not.
 */
static void choose_kept(inliner *in)
{
    for (size_t i = 0; i < in->im->frame->model->n_functions; i++) {
        function *f = &in->list[i];
        if (!f->opset) continue;
        f->kept = f->opset < TG_ONNX_OPSET_OLDEST || f->opset > TG_ONNX_OPSET_NEWEST;
        if (!in->im->opset && !f->kept) in->im->opset = f->opset;
        if (f->opset != in->im->opset)
            f->kept |= !nodes_fit(in, f, f->proto->node, f->proto->n_node, false);
    }
}

/* ---- names in use ---- */

static void use(inliner *in, const char *name)
{
    if (name && name[0]) tg_strmap_put(&in->used, name, NULL);
}

static void use_graph(inliner *in, const Onnx__GraphProto *g)
{
    for (size_t i = 0; i < g->n_input; i++) use(in, g->input[i]->name);
    for (size_t i = 0; i < g->n_output; i++) use(in, g->output[i]->name);
    for (size_t i = 0; i < g->n_initializer; i++) use(in, g->initializer[i]->name);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        if (g->sparse_initializer[i]->values) use(in, g->sparse_initializer[i]->values->name);
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *node = g->node[i];
        for (size_t k = 0; k < node->n_input; k++) use(in, node->input[k]);
        for (size_t k = 0; k < node->n_output; k++) use(in, node->output[k]);
        for (size_t k = 0; k < node->n_attribute; k++) {
            if (node->attribute[k]->g) use_graph(in, node->attribute[k]->g);
            for (size_t j = 0; j < node->attribute[k]->n_graphs; j++)
                use_graph(in, node->attribute[k]->graphs[j]);
        }
    }
}

static char *fresh_name(expansion *e, const char *name)
{
    bool fresh;
    char number[24], *made = join(e->in, e->prefix, "/", name);
    const char *wish = made;
    for (int i = 1; !e->in->full && tg_strmap_find(&e->in->used, made); i++) {
        snprintf(number, sizeof number, "%d", i);
        made = join(e->in, wish, "_", number);
    }
    tg_strmap_put(&e->in->used, made, &fresh);
    return made;
}

/* The name in the graph of what the function calls `name`. */
static char *renamed(expansion *e, const char *name)
{
    if (!name || !name[0]) return "";
    const uint64_t *at = tg_strmap_find(&e->names, name);
    if (at) return (char *)(uintptr_t)*at;
    char *made = fresh_name(e, name);
    if (!e->in->full) *tg_strmap_put(&e->names, name, NULL) = (uintptr_t)made;
    return made;
}

static char **renamed_all(expansion *e, char **names, size_t n)
{
    char **made = take(e->in, n * sizeof *made);
    for (size_t i = 0; made && i < n; i++) made[i] = renamed(e, names[i]);
    return made;
}

/* ---- the nodes of a function, as a call has them ---- */

static Onnx__NodeProto *make_node(expansion *e, const Onnx__NodeProto *proto, int64_t opset);

static Onnx__ValueInfoProto **make_infos(expansion *e, Onnx__ValueInfoProto **infos, size_t n)
{
    Onnx__ValueInfoProto **made = take(e->in, n * sizeof *made);
    for (size_t i = 0; made && i < n; i++) {
        made[i] = copy(e->in, infos[i], sizeof *infos[i]);
        if (!made[i]) return NULL;
        made[i]->name = renamed(e, infos[i]->name);
    }
    return made;
}

static Onnx__TensorProto *make_tensor(expansion *e, const Onnx__TensorProto *t)
{
    Onnx__TensorProto *made = copy(e->in, t, sizeof *t);
    if (made) made->name = renamed(e, t->name);
    return made;
}

static Onnx__SparseTensorProto *make_sparse(expansion *e, const Onnx__SparseTensorProto *t)
{
    Onnx__SparseTensorProto *made = copy(e->in, t, sizeof *t);
    if (made && t->values) made->values = make_tensor(e, t->values);
    return made;
}

/* False once memory has run out. */
static bool make_parts(expansion *e, const Onnx__GraphProto *g, Onnx__GraphProto *made)
{
    made->input = make_infos(e, g->input, g->n_input);
    made->output = make_infos(e, g->output, g->n_output);
    made->value_info = make_infos(e, g->value_info, g->n_value_info);
    made->n_quantization_annotation = 0; /* a remark for tools, which names values */
    made->initializer = take(e->in, g->n_initializer * sizeof *made->initializer);
    made->sparse_initializer =
        take(e->in, g->n_sparse_initializer * sizeof *made->sparse_initializer);
    made->node = take(e->in, g->n_node * sizeof *made->node);
    return !e->in->full;
}

static Onnx__GraphProto *make_graph(expansion *e, const Onnx__GraphProto *g, int64_t opset)
{
    Onnx__GraphProto *made = copy(e->in, g, sizeof *g);
    if (!made || !make_parts(e, g, made)) return NULL;
    for (size_t i = 0; i < g->n_initializer; i++)
        made->initializer[i] = make_tensor(e, g->initializer[i]);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        made->sparse_initializer[i] = make_sparse(e, g->sparse_initializer[i]);
    for (size_t i = 0; i < g->n_node; i++) made->node[i] = make_node(e, g->node[i], opset);
    return e->in->full ? NULL : made;
}

static const Onnx__AttributeProto *find_attr(Onnx__AttributeProto *const *list, size_t n,
                                             const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (list[i]->name && strcmp(list[i]->name, name) == 0) return list[i];
    return NULL;
}

/* What an attribute that stands for one of the call's is there; NULL: the call leaves it out. */
static const Onnx__AttributeProto *given(const expansion *e, const char *name)
{
    const Onnx__FunctionProto *f = e->f->proto;
    const Onnx__AttributeProto *a = find_attr(e->call->attribute, e->call->n_attribute, name);
    return a ? a : find_attr(f->attribute_proto, f->n_attribute_proto, name);
}

static Onnx__AttributeProto *make_attr(expansion *e, const Onnx__AttributeProto *a, int64_t opset)
{
    bool refers = a->ref_attr_name && a->ref_attr_name[0];
    const Onnx__AttributeProto *value = refers ? given(e, a->ref_attr_name) : a;
    if (!value || (!refers && !a->g && !a->n_graphs)) return (Onnx__AttributeProto *)value;
    Onnx__AttributeProto *made = copy(e->in, value, sizeof *value);
    if (!made) return NULL;
    made->name = a->name;
    if (refers) return made; /* graphs that a call gives have the names of the caller */
    if (a->g) made->g = make_graph(e, a->g, opset);
    if (a->n_graphs) made->graphs = take(e->in, a->n_graphs * sizeof *made->graphs);
    for (size_t i = 0; i < a->n_graphs && !e->in->full; i++)
        made->graphs[i] = make_graph(e, a->graphs[i], opset);
    return made;
}

/* NULL once memory has run out. */
static Onnx__NodeProto *make_node(expansion *e, const Onnx__NodeProto *proto, int64_t opset)
{
    inliner *in = e->in;
    Onnx__NodeProto *made = copy(in, proto, sizeof *proto);
    if (!made) return NULL;
    in->n_nodes++;
    made->input = renamed_all(e, proto->input, proto->n_input);
    made->output = renamed_all(e, proto->output, proto->n_output);
    if (proto->name && proto->name[0]) made->name = join(in, e->prefix, "/", proto->name);
    made->attribute = take(in, proto->n_attribute * sizeof *made->attribute);
    made->n_attribute = 0;
    for (size_t i = 0; i < proto->n_attribute && !in->full; i++) {
        Onnx__AttributeProto *a = make_attr(e, proto->attribute[i], opset);
        if (a) made->attribute[made->n_attribute++] = a;
    }
    if (opset && opset != in->im->opset && !plain_domain(proto->domain)[0])
        *tg_map_put(in->im->opset_of, (uintptr_t)made, NULL) = (uint64_t)opset;
    return in->full ? NULL : made;
}

/* ---- calls ---- */

static tg_status expand_node(inliner *in, Onnx__NodeProto *node, node_list *to);

static tg_status expand_graph(inliner *in, Onnx__GraphProto **g)
{
    node_list nodes = {0};
    tg_status status = TG_OK;
    if (++in->depth > DEEPEST)
        status = tg_fail(TG_LIMIT, "functions and subgraphs lie more than %d deep", DEEPEST);
    for (size_t i = 0; i < (*g)->n_node && status == TG_OK; i++)
        status = expand_node(in, (*g)->node[i], &nodes);
    Onnx__GraphProto *made = status == TG_OK ? copy(in, *g, sizeof **g) : NULL;
    if (made) {
        made->node = copy(in, nodes.v, nodes.n * sizeof *nodes.v);
        made->n_node = nodes.n;
        *g = made;
    }
    in->depth--;
    tg_vec_free(&nodes);
    return status == TG_OK ? check_room(in) : status;
}

static tg_status expand_attr(inliner *in, Onnx__AttributeProto **a)
{
    Onnx__AttributeProto *made = copy(in, *a, sizeof **a);
    if (!made) return check_room(in);
    if (made->g) TG_TRY(expand_graph(in, &made->g));
    if (made->n_graphs)
        made->graphs = copy(in, made->graphs, made->n_graphs * sizeof *made->graphs);
    for (size_t i = 0; made->graphs && i < made->n_graphs; i++)
        TG_TRY(expand_graph(in, &made->graphs[i]));
    *a = made;
    return check_room(in);
}

/* A node that holds graphs, with the calls in them expanded. */
static tg_status expand_graphs(inliner *in, Onnx__NodeProto **node)
{
    Onnx__NodeProto *made = copy(in, *node, sizeof **node);
    if (made) made->attribute = copy(in, made->attribute, made->n_attribute * sizeof(void *));
    if (!made || !made->attribute) return check_room(in);
    for (size_t i = 0; i < made->n_attribute; i++)
        if (made->attribute[i]->g || made->attribute[i]->n_graphs)
            TG_TRY(expand_attr(in, &made->attribute[i]));
    const uint64_t *opset = tg_map_find(in->im->opset_of, (uintptr_t)*node);
    uint64_t version = opset ? *opset : 0;
    if (version) *tg_map_put(in->im->opset_of, (uintptr_t)made, NULL) = version;
    *node = made;
    return TG_OK;
}

/* An output that is also an input, or another output, of the function is a copy of it. */
static void add_copy(inliner *in, const char *from, char *to, node_list *nodes)
{
    Onnx__NodeProto *made = take(in, sizeof *made);
    char **ends = take(in, 2 * sizeof *ends);
    if (!ends) return;
    onnx__node_proto__init(made);
    ends[0] = (char *)(uintptr_t)from;
    ends[1] = to;
    made->op_type = "Identity";
    made->input = &ends[0];
    made->output = &ends[1];
    made->n_input = made->n_output = 1;
    in->n_nodes++;
    tg_vec_push(nodes, made);
}

static void name_ends(expansion *e, node_list *nodes)
{
    const Onnx__FunctionProto *f = e->f->proto;
    for (size_t i = 0; i < f->n_input; i++) {
        char *name = i < e->call->n_input ? e->call->input[i] : "";
        *tg_strmap_put(&e->names, f->input[i], NULL) = (uintptr_t)name;
    }
    for (size_t i = 0; i < f->n_output; i++) {
        bool fresh;
        char *name = i < e->call->n_output ? e->call->output[i] : "";
        if (!name[0]) continue;
        uint64_t *at = tg_strmap_put(&e->names, f->output[i], &fresh);
        if (fresh) *at = (uintptr_t)name;
        else add_copy(e->in, (const char *)(uintptr_t)*at, name, nodes);
    }
}

/* Types that the function states, of the values between its nodes. */
static void list_infos(expansion *e)
{
    const Onnx__FunctionProto *f = e->f->proto;
    tg_strmap ends = {0};
    for (size_t i = 0; i < f->n_input; i++) tg_strmap_put(&ends, f->input[i], NULL);
    for (size_t i = 0; i < f->n_output; i++) tg_strmap_put(&ends, f->output[i], NULL);
    for (size_t i = 0; i < f->n_value_info; i++) {
        const Onnx__ValueInfoProto *info = f->value_info[i];
        if (!info->name || tg_strmap_find(&ends, info->name)) continue;
        Onnx__ValueInfoProto *made = copy(e->in, info, sizeof *info);
        if (!made) break;
        made->name = renamed(e, info->name);
        tg_vec_push(&e->in->infos, made);
    }
    tg_strmap_free(&ends);
}

static tg_status expand_body(expansion *e, node_list *to)
{
    inliner *in = e->in;
    const Onnx__FunctionProto *f = e->f->proto;
    name_ends(e, to);
    for (size_t i = 0; i < f->n_node; i++) {
        Onnx__NodeProto *made = make_node(e, f->node[i], e->f->opset);
        TG_TRY(check_room(in));
        TG_TRY(expand_node(in, made, to));
    }
    list_infos(e);
    return check_room(in);
}

static tg_status check_call(const inliner *in, const function *f, const Onnx__NodeProto *call)
{
    const char *name = call->op_type;
    if (f->open) return tg_fail(TG_INVALID, "the function %s calls itself", name);
    if (in->depth >= DEEPEST)
        return tg_fail(TG_LIMIT, "functions and subgraphs lie more than %d deep", DEEPEST);
    if (call->n_input > f->proto->n_input)
        return tg_fail(TG_INVALID, "the function %s takes %zu inputs, not %zu", name,
                       f->proto->n_input, call->n_input);
    if (call->n_output > f->proto->n_output)
        return tg_fail(TG_INVALID, "the function %s has %zu outputs, not %zu", name,
                       f->proto->n_output, call->n_output);
    return TG_OK;
}

static tg_status expand_call(inliner *in, function *f, const Onnx__NodeProto *call, node_list *to)
{
    char number[24];
    TG_TRY(check_call(in, f, call));
    expansion e = {.in = in, .f = f, .call = call, .prefix = call->name};
    if (!call->name || !call->name[0]) {
        snprintf(number, sizeof number, "%d", in->unnamed++);
        e.prefix = join(in, call->op_type, "_", number);
    }
    f->open = true;
    in->depth++;
    tg_status status = expand_body(&e, to);
    in->depth--;
    f->open = false;
    tg_strmap_free(&e.names);
    return status;
}

static bool makes(const Onnx__FunctionProto *f, const char *name)
{
    for (size_t i = 0; i < f->n_input; i++)
        if (strcmp(f->input[i], name) == 0) return true;
    for (size_t i = 0; i < f->n_node; i++)
        for (size_t k = 0; k < f->node[i]->n_output; k++)
            if (strcmp(f->node[i]->output[k], name) == 0) return true;
    return false;
}

/* A saved model may be of an opset in which the function is inlined: what fails then fails now. */
static tg_status check_kept(inliner *in, const function *f, const Onnx__NodeProto *call)
{
    TG_TRY(check_call(in, f, call));
    for (size_t i = 0; i < f->proto->n_output; i++)
        if (!makes(f->proto, f->proto->output[i]))
            return tg_fail(TG_INVALID, "nothing produces the output %s of the function %s",
                           f->proto->output[i], f->proto->name);
    return TG_OK;
}

static tg_status expand_node(inliner *in, Onnx__NodeProto *node, node_list *to)
{
    function *f = node->op_type ? called(in, node) : NULL;
    if (f && !f->kept) return expand_call(in, f, node, to);
    if (f) TG_TRY(check_kept(in, f, node));
    if (tg_scope_has_graphs(node)) TG_TRY(expand_graphs(in, &node));
    tg_vec_push(to, node);
    return check_room(in);
}

/* ---- the whole ---- */

static void add_infos(inliner *in, Onnx__GraphProto *g)
{
    size_t n = g->n_value_info;
    Onnx__ValueInfoProto **all = take(in, (n + in->infos.n) * sizeof *all);
    if (!all) return;
    if (n) memcpy(all, g->value_info, n * sizeof *all);
    if (in->infos.n) memcpy(all + n, in->infos.v, in->infos.n * sizeof *all);
    g->value_info = all;
    g->n_value_info = n + in->infos.n;
}

/* Domains that only functions import are domains of the graph from now on. */
static void add_opsets(inliner *in)
{
    tg_origin *o = in->im->origin;
    const Onnx__ModelProto *m = in->im->frame->model;
    size_t most = o->n_opsets;
    for (size_t i = 0; i < m->n_functions; i++) most += m->functions[i]->n_opset_import;
    tg_opset *all = TG_NEW_ARRAY(o->arena, tg_opset, most);
    memcpy(all, o->opsets, o->n_opsets * sizeof *all);
    for (size_t i = 0; i < m->n_functions; i++)
        for (size_t k = 0; k < m->functions[i]->n_opset_import; k++) {
            const Onnx__OperatorSetIdProto *set = m->functions[i]->opset_import[k];
            const char *domain = plain_domain(set->domain);
            uint32_t at = 0;
            while (at < o->n_opsets && strcmp(all[at].domain, domain) != 0) at++;
            if (at < o->n_opsets || (!domain[0] && !in->im->opset)) continue;
            all[o->n_opsets++] = (tg_opset){domain, domain[0] ? set->version : in->im->opset};
        }
    o->opsets = all;
}

static tg_status inline_all(inliner *in)
{
    const Onnx__ModelProto *m = in->im->frame->model;
    Onnx__GraphProto *g = m->graph;
    TG_TRY(list_functions(in, m));
    choose_kept(in);
    use_graph(in, g);
    TG_TRY(expand_graph(in, &g));
    add_infos(in, g);
    TG_TRY(check_room(in));
    add_opsets(in);
    in->im->graph = g;
    for (size_t i = 0; i < m->n_functions; i++) in->im->frame->keeps_functions |= in->list[i].kept;
    return TG_OK;
}

tg_status tg_functions_inline(tg_importer *im)
{
    const tg_unpacked *u = im->frame->unpacked;
    if (!im->frame->model->n_functions) return TG_OK;
    inliner in = {
        .im = im, .arena = im->origin->arena, .room = u->limit - u->used, .most = u->limit};
    tg_status status = inline_all(&in);
    tg_strmap_free(&in.index);
    tg_strmap_free(&in.used);
    tg_vec_free(&in.infos);
    return status;
}
