/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "needs.h"

#include <stdlib.h>
#include <string.h>

void needs_init(needs *k, uint32_t n)
{
    *k = (needs){.n = n, .words = ((size_t)n + 63) / 64};
    k->bits = tg_calloc(k->words * n + 1, sizeof *k->bits);
    memset(k->bits, 0xff, k->words * n * sizeof *k->bits);
}

void needs_done(needs *k)
{
    free(k->bits);
    tg_vec_free(&k->ways);
    tg_vec_free(&k->inputs);
}

void needs_way_begin(needs *k, uint32_t of)
{
    tg_vec_push(&k->ways, ((needs_way){of, 0, (uint32_t)k->inputs.n}));
}

void needs_input(needs *k, uint32_t input)
{
    tg_vec_push(&k->inputs, input);
    tg_vec_last(&k->ways).n++;
}

/* The intersection over the ways from number `at` on that are of one thing; returns the next. */
static size_t meet(const needs *k, size_t at, uint64_t *row, uint64_t *one)
{
    uint32_t of = k->ways.v[at].of;
    memset(row, 0xff, k->words * sizeof *row);
    for (; at < k->ways.n && k->ways.v[at].of == of; at++) {
        const needs_way *way = &k->ways.v[at];
        memset(one, 0, k->words * sizeof *one);
        for (uint32_t i = 0; i < way->n; i++) {
            const uint64_t *in = k->bits + k->inputs.v[way->first + i] * k->words;
            for (size_t w = 0; w < k->words; w++) one[w] |= in[w];
        }
        for (size_t w = 0; w < k->words; w++) row[w] &= one[w];
    }
    row[of / 64] |= (uint64_t)1 << (of % 64);
    return at;
}

void needs_find(needs *k)
{
    uint64_t *row = tg_calloc(k->words + 1, sizeof *row),
             *one = tg_calloc(k->words + 1, sizeof *one);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t at = 0; at < k->ways.n;) {
            uint64_t *old = k->bits + k->ways.v[at].of * k->words;
            at = meet(k, at, row, one);
            if (!memcmp(old, row, k->words * sizeof *row)) continue;
            memcpy(old, row, k->words * sizeof *row);
            changed = true;
        }
    }
    free(row);
    free(one);
}
