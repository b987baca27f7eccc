/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Einsum of two operands as one batched product of matrices: each name is a batch axis (in both
 * operands and the result), a row, a column, or summed over.
 */
#include "loop.h"
#include "tail.h"

#include <string.h>

enum { NAMES = 128, MOST = TG_MAX_RANK };

/* Which axis of each operand and of the result (2) has a name; -1: none. */
typedef struct terms {
    int8_t axis[3][NAMES];
    char name[3][MOST + 1];
    int n[3];
} terms;

/* One part of the equation, from `at`; false: more than letters, or one twice. */
static bool read_part(const char **at, const char *stop, terms *t, int part)
{
    memset(t->axis[part], -1, sizeof t->axis[part]);
    while (**at && !strchr(stop, **at)) {
        char c = *(*at)++;
        if (c == ' ') continue;
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter || t->axis[part][(int)c] >= 0 || t->n[part] == MOST) return false;
        t->axis[part][(int)c] = (int8_t)t->n[part];
        t->name[part][t->n[part]++] = c;
    }
    return true;
}

static bool read_terms(const char *equation, terms *t)
{
    memset(t, 0, sizeof *t);
    if (!read_part(&equation, ",-", t, 0) || *equation++ != ',') return false;
    if (!read_part(&equation, ",-", t, 1) || strncmp(equation, "->", 2) != 0) return false;
    equation += 2;
    return read_part(&equation, "", t, 2) && !*equation;
}

/* Names in the order in which an operand's memory shall have them: three runs of them. */
typedef struct runs {
    char names[3][MOST + 1];
    int n[3];
} runs;

enum { BATCH, ROW, COLUMN, SUM };

static int kind_of(const terms *t, char c)
{
    bool a = t->axis[0][(int)c] >= 0, b = t->axis[1][(int)c] >= 0, y = t->axis[2][(int)c] >= 0;
    if (a && b) return y ? BATCH : SUM;
    return !y ? -1 : a ? ROW : COLUMN;
}

/* The names of these kinds, those of a kind in the order of part `by`. */
static bool collect(const terms *t, int by, int kind, char *names, int *n)
{
    *n = 0;
    for (int i = 0; i < t->n[by]; i++) {
        int k = kind_of(t, t->name[by][i]);
        if (k < 0) return false;
        if (k == kind) names[(*n)++] = t->name[by][i];
    }
    return true;
}

static bool make_runs(const terms *t, int part, runs *r)
{
    static const int kinds[3][3] = {{BATCH, ROW, SUM}, {BATCH, SUM, COLUMN}, {BATCH, ROW, COLUMN}};
    for (int i = 0; i < 3; i++) {
        /* Batch names and rows follow the result, summed ones the left operand. */
        int by = kinds[part][i] == SUM ? 0 : 2;
        if (!collect(t, by, kinds[part][i], r->names[i], &r->n[i])) return false;
    }
    return r->n[0] + r->n[1] + r->n[2] == t->n[part];
}

/* An operand as a batch of matrices: its memory in the order of the runs. */
static tg_shape matrix_shape(const terms *t, int part, const runs *r, const tg_shape *s)
{
    tg_shape m = tg_shape_of(1, 1, 1);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < r->n[i]; k++) m.dim[i] *= s->dim[t->axis[part][(int)r->names[i][k]]];
    return m;
}

static tg_layout layout_of(const terms *t, int part, const runs *r, const tg_shape *s)
{
    int order[TG_MAX_RANK] = {0}, n = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < r->n[i]; k++) order[n++] = t->axis[part][(int)r->names[i][k]];
    return tg_layout_of_order(s, order);
}

static tg_operand as_matrix(const tg_operand *at, const tg_shape *matrix)
{
    tg_operand m = *at;
    m.shape = *matrix;
    m.layout = tg_layout_plain(matrix);
    m.layout.offset = at->layout.offset;
    return m;
}

/* Axes of size 1 that repeat are for the reference kernel. */
static bool sizes_agree(const tg_shape *a, const tg_shape *b, const tg_shape *y)
{
    return a->dim[0] == y->dim[0] && b->dim[0] == y->dim[0] && a->dim[1] == y->dim[1] &&
           b->dim[2] == y->dim[2] && a->dim[2] == b->dim[1];
}

static tg_operand without_batch(tg_operand m)
{
    for (int i = 0; i < 2; i++) {
        m.shape.dim[i] = m.shape.dim[i + 1];
        m.layout.stride[i] = m.layout.stride[i + 1];
    }
    m.shape.rank = 2;
    m.shape.dim[2] = m.layout.stride[2] = 0;
    return m;
}

/* m: the operands and, without a buffer, the result. */
static tg_status plan_product(tg_cpu_plan *p, const tg_node *node, tg_operand *m, tg_operand *out)
{
    tg_prim_spec spec;
    tg_prim_operands o;
    memset(&spec, 0, sizeof spec);
    tg_operand_none(&o);
    for (int i = 0; m[2].shape.dim[0] == 1 && i < 3; i++) m[i] = without_batch(m[i]);
    spec.kind = TG_PRIM_MATMUL;
    spec.threads = p->threads;
    o.src = m[0];
    o.weights = m[1];
    o.dst = m[2];
    bool packs = tg_cpu_constant_data(p, &o.weights) && m[2].shape.rank == 2;
    spec.src = tg_cpu_md_plain(&o.src);
    spec.weights = packs ? tg_cpu_md_any(&o.weights) : tg_cpu_md_plain(&o.weights);
    spec.dst = tg_cpu_md_plain(&o.dst);
    const tg_prim *prim = tg_prim_get(&spec);
    if (!prim->usable) return tg_fail(TG_UNSUPPORTED, "no such product");
    tg_operand made = tg_cpu_new(p, &node->out[0], &out->layout);
    o.dst.buffer = out->buffer = made.buffer;
    tg_cpu_set(p, node, 0, out);
    return tg_cpu_prim(p, node, prim, &o);
}

tg_status tg_cpu_plan_einsum(tg_cpu_plan *p, const tg_node *node)
{
    terms t;
    runs r;
    tg_operand at[3], m[3];
    if (node->n_in != 2 || !read_terms(tg_node_attr(node, "equation")->s, &t))
        return tg_fail(TG_UNSUPPORTED, "kind of sum");
    for (int i = 0; i < 2; i++)
        if (!tg_cpu_is_float(p, node->in[i])) return tg_fail(TG_UNSUPPORTED, "not of floats");
    for (int i = 0; i < 3; i++) {
        const tg_shape *s = i < 2 ? &tg_cpu_type(p, node->in[i])->shape : &node->out[0].shape;
        if (s->rank != t.n[i] || !make_runs(&t, i, &r))
            return tg_fail(TG_UNSUPPORTED, "kind of sum");
        tg_layout layout = layout_of(&t, i, &r, s);
        tg_shape matrix = matrix_shape(&t, i, &r, s);
        at[i] = (tg_operand){-1, TG_F32, *s, layout};
        if (i < 2) {
            TG_TRY(tg_cpu_value(p, node->in[i], &at[i]));
            TG_TRY(tg_cpu_move(p, &at[i], &layout, &at[i]));
        }
        m[i] = as_matrix(&at[i], &matrix);
    }
    if (!sizes_agree(&m[0].shape, &m[1].shape, &m[2].shape))
        return tg_fail(TG_UNSUPPORTED, "an axis repeats");
    return plan_product(p, node, m, &at[2]);
}
