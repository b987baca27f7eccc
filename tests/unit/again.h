/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model from memory to memory. */
#ifndef TESTS_UNIT_AGAIN_H
#define TESTS_UNIT_AGAIN_H

#include "tests/unit/unit.h"

#include "engine/onnx/onnx.h"

/* The graph saved and loaded, checked. The caller drops the reference. */
UNIT_MAYBE tg_graph *graph_again(const tg_graph *g)
{
    void *bytes;
    size_t n;
    tg_graph *again;
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    assert_ok(tg_onnx_load_memory(bytes, n, "again", NULL, &again));
    assert_ok(tg_check(again));
    free(bytes);
    return again;
}

#endif
