/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formula.h"

#include <string.h>

bool formula_is_variable(const bank *b, const formula *f)
{
    return f->term != NO_TERM && b->terms.v[f->term].op == NO_TERM;
}

void formula_open(const bank *b, const formula *f, int *form, uint32_t *arg)
{
    if (f->term == NO_TERM) {
        *form = f->form;
        memcpy(arg, f->arg, sizeof f->arg);
        return;
    }
    const application *a = &b->ops.v[b->terms.v[f->term].op];
    *form = a->form;
    memcpy(arg, a->arg, sizeof a->arg);
}

int formula_port(const bank *b, const formula *f)
{
    return f->term == NO_TERM ? f->port : b->terms.v[f->term].port;
}

void formula_words(const bank *b, const formula *f, tg_str *out)
{
    int form_number;
    uint32_t arg[2];
    if (formula_is_variable(b, f)) {
        tg_str_addc(out, "xyzw"[formula_port(b, f)]);
        return;
    }
    formula_open(b, f, &form_number, arg);
    const form *m = &b->world->forms[form_number];
    tg_str_addf(out, "%s%s", m->name, m->relu ? "+Relu" : "");
    if (m->axis >= 0) tg_str_addf(out, "%d", m->axis);
    if (m->n_out > 1) tg_str_addf(out, ".%d", formula_port(b, f));
    tg_str_addc(out, '(');
    for (int i = 0; i < m->n_in; i++) {
        formula part = formula_of(arg[i]);
        if (i) tg_str_add(out, ", ");
        formula_words(b, &part, out);
    }
    tg_str_addc(out, ')');
}

unsigned formula_vars(const bank *b, const formula *f)
{
    if (f->term != NO_TERM) return b->terms.v[f->term].vars;
    unsigned vars = b->terms.v[f->arg[0]].vars;
    return b->world->forms[f->form].n_in > 1 ? vars | b->terms.v[f->arg[1]].vars : vars;
}

uint64_t formula_hash(const bank *b, const formula *f, const uint8_t *name)
{
    int form_number;
    uint32_t arg[2];
    uint64_t h[2] = {0};
    if (formula_is_variable(b, f)) return tg_mix(name[formula_port(b, f)]);
    formula_open(b, f, &form_number, arg);
    const form *m = &b->world->forms[form_number];
    for (int i = 0; i < m->n_in; i++) {
        formula part = formula_of(arg[i]);
        h[i] = formula_hash(b, &part, name);
    }
    if (m->commutes && h[0] > h[1]) {
        uint64_t x = h[0];
        h[0] = h[1];
        h[1] = x;
    }
    uint64_t sum = tg_hash_str(17, m->name);
    sum = tg_hash_add(sum, (uint64_t)(m->axis + 1) * 2 + m->relu);
    sum = tg_hash_add(sum, (uint64_t)formula_port(b, f));
    return tg_hash_add(tg_hash_add(sum, h[0]), h[1]);
}
