/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paragraph.h"

#include "sides.h"

#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_result(const sides *x, int s, ref r, int *which)
{
    for (int i = 0; i < x->pair->n; i++)
        if (r.node >= 0 && x->s[s].result[i].node == r.node && x->s[s].result[i].port == r.port) {
            *which = i;
            return true;
        }
    return false;
}

static void add_value(const sides *x, int s, ref r, tg_str *out)
{
    int i;
    if (r.node < 0) tg_str_addc(out, "xyzw"[~r.node]);
    else if (is_result(x, s, r, &i)) tg_str_addc(out, "uv"[i]);
    else tg_str_addf(out, "%c%d%s", s ? 'a' : 't', r.node + 1, r.port ? "r" : "");
}

static unsigned used_vars(const sides *x)
{
    unsigned bits = 0;
    for (int k = 0; k < x->s[0].n; k++)
        for (int i = 0; i < x->s[0].node[k].form->n_in; i++)
            if (x->s[0].node[k].in[i].node < 0) bits |= 1u << ~x->s[0].node[k].in[i].node;
    return bits;
}

/* ---- given ---------------------------------------------------------------------------------- */

/* Dimensions of variables in the class. */
static int company(const sides *x, int root)
{
    int n = 0;
    for (int v = 0; v < x->b->world->vars; v++)
        for (int i = 0; i < x->b->world->rank; i++)
            n += (used_vars(x) >> v & 1) && sides_dim(x, 0, (ref){~v, 0}, i) == root;
    return n;
}

/* A split whose pieces have that size: the class needs a name. */
static bool is_piece(const sides *x, int root)
{
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < x->s[s].n; k++)
            for (int port = 0; port < 2 && sides_is(&x->s[s].node[k], "Split"); port++)
                if (sides_dim(x, s, (ref){k, port}, x->s[s].node[k].form->axis) == root)
                    return true;
    return false;
}

static void add_dims(const sides *x, int v, tg_str *out)
{
    const world *w = x->b->world;
    bool batched = w->kind == MATRICES && !sides_have(x, "Concat") && !sides_have(x, "Split") &&
                   !sides_have(x, "Transpose");
    bool bound = false;
    for (int i = 0; i < w->rank; i++) bound |= company(x, sides_dim(x, 0, (ref){~v, 0}, i)) > 1;
    if (batched && !bound) return;
    tg_str_add(out, ":[");
    if (batched) tg_str_addf(out, "*p%d, ", v);
    for (int i = 0; i < w->rank; i++) {
        int root = sides_dim(x, 0, (ref){~v, 0}, i);
        if (i) tg_str_add(out, ", ");
        if (company(x, root) > 1 || is_piece(x, root)) tg_str_addf(out, "d%d", root);
        else tg_str_addc(out, '_');
    }
    tg_str_addc(out, ']');
}

static void add_given(const sides *x, tg_str *out)
{
    tg_str_add(out, "given");
    for (int v = 0; v < x->b->world->vars; v++) {
        if (!(used_vars(x) >> v & 1)) continue;
        tg_str_add(out, "  ");
        add_value(x, 0, (ref){~v, 0}, out);
        if (!sides_shapeless(x)) add_dims(x, v, out);
    }
    tg_str_addc(out, '\n');
}

/* ---- lines ---------------------------------------------------------------------------------- */

static int world_group(const side_node *n)
{
    return (int)(shape_dim(n->in_shape[0], 1) / shape_dim(n->in_shape[1], 1));
}

/* Convolutions of `from` in their order. */
static int conv_number(const sides *x, int k)
{
    int n = 0;
    for (int i = 0; i < k; i++) n += sides_is(&x->s[0].node[i], "Conv");
    return n;
}

static bool add_conv(const sides *x, int s, int k, tg_str *out)
{
    const side_node *n = &x->s[s].node[k];
    int like = s ? sides_conv_like(x, n) : k;
    if (like < 0) return false;
    tg_str_add(out, "; ");
    bool sum = s && world_group(n) == 2;
    switch (x->way->group) {
    case GROUP_SUM:
        if (sum) tg_str_add(out, "group=g + h, ");
        else tg_str_addf(out, "group=%c, ", "ghij"[conv_number(x, like) & 3]);
        break;
    case GROUP_ONE: tg_str_add(out, "group=1, "); break;
    case GROUP_FOUND: tg_str_addf(out, "group=%d, ", world_group(n)); break;
    default: break;
    }
    if (x->way->plain) tg_str_add(out, "strides=[1,1], dilations=[1,1], ");
    tg_str_addf(out, "activation=\"%s\", ..r%d", n->form->relu ? "Relu" : "", x->conv_class[like]);
    return true;
}

/* A size in the words of `to`, or of `from`. */
static bool add_size(const sides *x, int s, int root, tg_str *out)
{
    if (!sides_shapeless(x) && company(x, root) > 0) {
        tg_str_addf(out, "d%d", root);
        return true;
    }
    if (!s) return false;
    for (int k = 0; k < x->s[0].n; k++)
        for (int port = 0; port < x->s[0].node[k].form->n_out; port++)
            for (int i = 0; i < x->b->world->rank; i++) {
                ref r = {k, port};
                if (sides_dim(x, 0, r, i) != root) continue;
                tg_str_add(out, "dim(");
                add_value(x, 0, r, out);
                if (x->way->any_axis) tg_str_add(out, ", i)");
                else tg_str_addf(out, ", %d)", i);
                return true;
            }
    return false;
}

/* In the any-axis form only the dimensions along the axis are told apart. */
static bool add_any_size(const sides *x, int s, int k, int port, tg_str *out)
{
    int axis = x->s[s].node[k].form->axis, root = sides_dim(x, s, (ref){k, port}, axis);
    if (!s) return false;
    for (int v = 0; v < x->b->world->vars; v++)
        if (used_vars(x) >> v & 1 && sides_dim(x, 0, (ref){~v, 0}, axis) == root) {
            tg_str_add(out, "dim(");
            add_value(x, 0, (ref){~v, 0}, out);
            tg_str_add(out, ", i)");
            return true;
        }
    return add_size(x, s, root, out);
}

static bool add_split(const sides *x, int s, int k, tg_str *out)
{
    int axis = x->s[s].node[k].form->axis;
    size_t before = out->n;
    bool ok = true;
    tg_str_add(out, ", split=[");
    for (int port = 0; port < 2 && ok; port++) {
        if (port) tg_str_add(out, ", ");
        ok = x->way->any_axis ? add_any_size(x, s, k, port, out)
                              : add_size(x, s, sides_dim(x, s, (ref){k, port}, axis), out);
    }
    if (ok) {
        tg_str_addc(out, ']');
        return true;
    }
    out->n = before;
    out->p[before] = '\0';
    if (s) return false;
    tg_str_add(out, ", split=_");
    return true;
}

static void add_outputs(const sides *x, int s, int k, tg_str *out)
{
    for (int port = 0; port < x->s[s].node[k].form->n_out; port++) {
        if (port) tg_str_add(out, ", ");
        add_value(x, s, (ref){k, port}, out);
    }
}

static bool add_line(const sides *x, int s, int k, tg_str *out)
{
    const side_node *n = &x->s[s].node[k];
    bool ok = true;
    add_outputs(x, s, k, out);
    tg_str_addf(out, " = %s(", n->form->name);
    for (int i = 0; i < n->form->n_in; i++) {
        if (i) tg_str_add(out, ", ");
        add_value(x, s, n->in[i], out);
    }
    if (n->form->axis >= 0) {
        if (x->way->any_axis) tg_str_add(out, "; axis=i");
        else tg_str_addf(out, "; axis=%d", n->form->axis);
    }
    if (sides_is(n, "Split")) ok = add_split(x, s, k, out);
    if (sides_is(n, "Transpose")) tg_str_add(out, "; perm=[1,0]");
    if (sides_is(n, "Conv")) ok = add_conv(x, s, k, out);
    tg_str_add(out, ")\n");
    return ok;
}

/* The variables that a value is made of. */
static unsigned vars_below(const side *s, ref r)
{
    const side_node *n = sides_maker(s, r);
    if (!n) return 1u << ~r.node;
    unsigned bits = vars_below(s, n->in[0]);
    return n->form->n_in > 1 ? bits | vars_below(s, n->in[1]) : bits;
}

/* Two results without a common variable: the second may lie anywhere. */
static bool is_apart(const sides *x)
{
    return x->pair->n == 2 &&
           !(vars_below(&x->s[0], x->s[0].result[0]) & vars_below(&x->s[0], x->s[0].result[1]));
}

static bool add_lines(const sides *x, int s, tg_str *out)
{
    bool ok = true;
    int which = 0;
    for (int k = 0; k < x->s[s].n; k++) {
        bool second = !s && is_apart(x) && is_result(x, 0, (ref){k, 0}, &which) && which == 1;
        tg_str_add(out, k ? "       " : s ? "to     " : "from   ");
        if (second) tg_str_add(out, "apart ");
        ok &= add_line(x, s, k, out);
    }
    for (int i = 0; i < x->pair->n && s; i++) { /* what becomes a variable */
        if (x->s[1].result[i].node >= 0) continue;
        tg_str_add(out, x->s[1].n || i ? "       " : "to     ");
        tg_str_addf(out, "%c = ", "uv"[i]);
        add_value(x, 1, x->s[1].result[i], out);
        tg_str_addc(out, '\n');
    }
    return ok;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static void begin(tg_str *out, const char *section, bool *begun)
{
    tg_str_add(out, *begun ? "       " : section);
    *begun = true;
}

static bool add_sound(const sides *x, tg_str *out)
{
    bool begun = false;
    for (int i = 0; i < x->n_operands; i++) {
        const ref *o = x->operand[i];
        bool declared = !sides_shapeless(x) && o[0].node < 0 && o[1].node < 0;
        if (!(x->way->same >> i & 1) || declared) continue;
        begin(out, "if     ", &begun);
        tg_str_add(out, "same_shape(");
        add_value(x, 0, o[0], out);
        tg_str_add(out, ", ");
        add_value(x, 0, o[1], out);
        tg_str_add(out, ")\n");
    }
    if (x->way->group != GROUP_SUM) return true;
    int conv[2], n = 0;
    for (int k = 0; k < x->s[0].n; k++) {
        if (!sides_is(&x->s[0].node[k], "Conv")) continue;
        if (n == 2) return false;
        conv[n++] = k;
    }
    if (n != 2) return false;
    begin(out, "if     ", &begun);
    for (int i = 0; i < 2; i++) {
        tg_str_add(out, i ? " == dim(" : "dim(");
        add_value(x, 0, x->s[0].node[conv[i]].in[1], out);
        tg_str_addf(out, ", 0) * %c", "hg"[i]);
    }
    tg_str_addc(out, '\n');
    return true;
}

/* ---- the paragraph -------------------------------------------------------------------------- */

static void add_words(const bank *b, const pair *p, tg_str *out)
{
    for (int s = 0; s < 2; s++) {
        if (s) tg_str_add(out, " = ");
        for (int i = 0; i < p->n; i++) {
            if (i) tg_str_add(out, "; ");
            formula_words(b, s ? &p->to[i] : &p->from[i], out);
        }
    }
}

bool paragraph_write(const bank *b, const pair *p, const way *way, const char *name, tg_str *out)
{
    sides x;
    sides_make(&x, b, p, way);
    tg_str_addf(out, "rule   %s\nabout  ", name);
    add_words(b, p, out);
    tg_str_add(out, "\n");
    add_given(&x, out);
    return add_lines(&x, 0, out) && add_sound(&x, out) && add_lines(&x, 1, out);
}

bool paragraph_has_axis(const bank *b, const pair *p)
{
    sides x;
    way any = {.any_axis = true};
    int axis = -1;
    sides_make(&x, b, p, &any);
    if (sides_have(&x, "MatMul") || sides_have(&x, "Conv") || sides_have(&x, "Transpose"))
        return false;
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < x.s[s].n; k++) {
            int a = x.s[s].node[k].form->axis;
            if (a < 0) continue;
            if (axis >= 0 && axis != a) return false;
            if (axis < 0 && s) return false; /* nothing binds it */
            axis = a;
        }
    return axis >= 0;
}

bool paragraph_has_conv(const bank *b, const pair *p)
{
    sides x;
    way any = {.any_axis = false};
    sides_make(&x, b, p, &any);
    return sides_have(&x, "Conv");
}

int paragraph_operand_pairs(const bank *b, const pair *p)
{
    sides x;
    way any = {.any_axis = false};
    sides_make(&x, b, p, &any);
    return x.n_operands;
}
