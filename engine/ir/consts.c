/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "consts.h"

#include "value.h"

#include <stdlib.h>

const tg_tensor *tg_consts_find(const tg_consts *c, tg_value v)
{
    const uint64_t *at = tg_map_find(&c->index, v);
    return at ? &c->list.v[*at]->tensor : NULL;
}

void tg_consts_put(tg_consts *c, tg_value v, tg_tensor t, bool owned)
{
    tg_const *entry = tg_malloc(sizeof *entry);
    *entry = (tg_const){t, owned};
    *(owned ? &c->made : &c->given) += (double)tg_tensor_count(&t);
    *tg_map_put(&c->index, v, NULL) = c->list.n;
    tg_vec_push(&c->list, entry);
}

void tg_consts_done(tg_consts *c)
{
    for (size_t i = 0; i < c->list.n; i++) {
        if (c->list.v[i]->owned) tg_tensor_free(&c->list.v[i]->tensor);
        free(c->list.v[i]);
    }
    tg_vec_free(&c->list);
    tg_map_free(&c->index);
}
