/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "world.h"

#include "engine/base/rng.h"
#include "engine/base/str.h"
#include "engine/rewrite/field.h"

#include <string.h>

static const struct {
    const char *name;
    int n_in, n_out, worlds, axes;
} known[] = {
#define FORM(name, in, out, worlds, axes) {#name, in, out, worlds, axes},
#include "form.def"
#undef FORM
};

enum { KNOWN = sizeof known / sizeof *known };

static bool is_pointwise(tg_op op)
{
    const tg_op_row *row = tg_op_get(op);
    int n;
    const tg_attr_spec *spec = tg_op_attrs(op, &n);
    for (int i = 0; i < n; i++)
        if (spec[i].required) return false;
    return row->flags & TG_ELTWISE && field_knows(op) && row->min_in <= 2 && row->max_out == 1;
}

static void add_form(world *w, tg_op op, int n_in, int n_out, int axis, bool relu)
{
    const tg_op_row *row = tg_op_get(op);
    if (w->n_forms == MOST_FORMS) return;
    w->forms[w->n_forms++] = (form){.op = op,
                                    .name = row->name,
                                    .n_in = n_in,
                                    .n_out = n_out,
                                    .axis = axis,
                                    .relu = relu,
                                    .commutes = n_in == 2 && row->flags & TG_COMMUTES,
                                    .pointwise = (row->flags & TG_ELTWISE) != 0,
                                    .filters = strcmp(row->name, "Conv") == 0};
}

static bool has_name(const char *const *operators, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(operators[i], name) == 0) return true;
    return false;
}

static tg_status unknown(const char *name)
{
    tg_str words = {0};
    for (int i = 0; i < KNOWN; i++) tg_str_addf(&words, "%s, ", known[i].name);
    tg_status status = tg_fail(TG_USAGE,
                               "no rules are generated for %s, only for %sand element-wise "
                               "operators of one or two inputs without required attributes",
                               name, tg_str_text(&words));
    tg_str_free(&words);
    return status;
}

tg_status world_make(world *w, int kind, int vars, const char *const *operators, int n)
{
    bool images = kind == IMAGES;
    *w = (world){.kind = kind,
                 .rank = images ? 4 : 2,
                 .variable = images ? 0x03030202 : 0x0202,
                 .vars = vars};
    for (int i = 0; i < n; i++) {
        tg_op op = tg_op_find("", operators[i]);
        int k = 0;
        while (k < KNOWN && strcmp(known[k].name, operators[i]) != 0) k++;
        if (k == KNOWN) {
            if (op == TG_OP_OPAQUE || !is_pointwise(op)) return unknown(operators[i]);
            int n_in = tg_op_get(op)->max_in == 1 ? 1 : 2;
            add_form(w, op, n_in, 1, -1, false);
            continue;
        }
        if (!(known[k].worlds & kind)) continue;
        for (int axis = 0; axis < (known[k].axes ? known[k].axes : 1); axis++)
            add_form(w, op, known[k].n_in, known[k].n_out, known[k].axes ? axis : -1, false);
        if (strcmp(known[k].name, "Conv") == 0 && has_name(operators, n, "Relu"))
            add_form(w, op, 2, 1, -1, true);
    }
    return TG_OK;
}

int64_t world_count(const world *w, packed_shape shape)
{
    int64_t n = 1;
    for (int i = 0; i < w->rank; i++) n *= shape_dim(shape, i);
    return n;
}

tg_shape world_shape(const world *w, packed_shape shape)
{
    tg_shape s = {.rank = w->rank};
    for (int i = 0; i < w->rank; i++) s.dim[i] = shape_dim(shape, i);
    return s;
}

double *world_draw(const world *w, packed_shape shape, uint64_t seed)
{
    tg_rng *rng = tg_rng_new(seed);
    tg_shape s = world_shape(w, shape);
    tg_tensor t;
    field_draw(rng, &s, &t);
    tg_rng_free(rng);
    return t.data;
}
