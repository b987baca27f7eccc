/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bank.h"

uint32_t bank_add(bank *b, const term *t)
{
    uint32_t n = (uint32_t)b->terms.n;
    *tg_map_put(&b->by_print, t->print, NULL) = n;
    tg_vec_push(&b->terms, *t);
    return n;
}

void bank_init(bank *b, const world *w, uint64_t seed)
{
    *b = (bank){.world = w, .seed = seed};
    for (int i = 0; i < w->vars; i++) {
        term t = {
            .shape = w->variable, .op = NO_TERM, .port = (uint8_t)i, .vars = (uint8_t)(1u << i)};
        t.value = world_draw(w, w->variable, seed + 1 + (uint64_t)i);
        t.print = lab_print(w, t.shape, t.value);
        bank_add(b, &t);
    }
}

void bank_done(bank *b)
{
    for (size_t i = 0; i < b->terms.n; i++) free(b->terms.v[i].value);
    tg_vec_free(&b->terms);
    tg_vec_free(&b->ops);
    tg_map_free(&b->by_print);
}

int bank_union(const term *a, const term *b, uint32_t *out)
{
    int n = 0;
    for (int i = 0, k = 0; i < a->size || k < b->size; n++) {
        if (n == MOST_NODES) return -1;
        if (k == b->size || (i < a->size && a->ops[i] < b->ops[k])) {
            out[n] = a->ops[i++];
        } else {
            if (i < a->size && a->ops[i] == b->ops[k]) i++;
            out[n] = b->ops[k++];
        }
    }
    return n;
}

typedef struct pairing {
    const bank *b;
    each_fn *each;
    void *ctx;
} pairing;

/* No network filters a tensor with itself. */
static bool is_dead(const bank *b, const form *f, uint32_t x, uint32_t y)
{
    return f->filters && b->terms.v[x].vars & b->terms.v[y].vars;
}

static void pair(const pairing *p, uint32_t a, uint32_t b)
{
    const world *w = p->b->world;
    for (int i = 0; i < w->n_forms; i++) {
        const form *f = &w->forms[i];
        if (f->n_in == 2 && (!f->commutes || a <= b) && !is_dead(p->b, f, a, b))
            p->each(p->ctx, f, a, b);
    }
}

static void both(const pairing *p, uint32_t a, uint32_t b)
{
    pair(p, a, b);
    if (a != b) pair(p, b, a);
}

/* `big` has all the operators there may be: the other operand is a variable or a part of it. */
static void with_parts(const pairing *p, uint32_t big)
{
    const term *t = &p->b->terms.v[big];
    for (uint32_t v = 0; v < (uint32_t)p->b->world->vars; v++) both(p, big, v);
    for (int i = 0; i < t->size; i++)
        for (int port = 0; port < 2; port++) {
            uint32_t k = p->b->ops.v[t->ops[i]].term[port];
            if (k <= big) both(p, big, k); /* NO_TERM is greater */
        }
}

static void with_smaller(const pairing *p, uint32_t a, int want)
{
    const term *t = &p->b->terms.v[a];
    uint32_t ops[MOST_NODES];
    for (uint32_t k = (uint32_t)p->b->world->vars; k <= a; k++) {
        const term *s = &p->b->terms.v[k];
        if (s->size >= want || s->size + t->size < want) continue;
        if (bank_union(t, s, ops) == want) both(p, a, k);
    }
}

void bank_each(const bank *b, int size, uint32_t first, uint32_t end, each_fn *each, void *ctx)
{
    pairing p = {b, each, ctx};
    int want = size - 1;
    for (uint32_t a = first; a < end && a < b->terms.n; a++) {
        const term *t = &b->terms.v[a];
        if (t->size > want) continue;
        for (int i = 0; i < b->world->n_forms && t->size == want; i++)
            if (b->world->forms[i].n_in == 1) each(ctx, &b->world->forms[i], a, NO_TERM);
        if (!want) {
            for (uint32_t v = 0; v <= a; v++) both(&p, a, v);
        } else if (t->size == want) {
            with_parts(&p, a);
        } else {
            with_smaller(&p, a, want);
        }
    }
}
