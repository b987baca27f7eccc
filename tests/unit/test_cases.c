/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small models on which rewriting or loading is known to go wrong somewhere: each gives its value
 * as it is, after every single rewrite, along every search, and after saving and loading.
 */
#include "tests/unit/unit.h"

#include "engine/engine.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>

static tg_rules *rules;

/* ---- tensors from JSON */

static double number(const json_t *j)
{
    if (json_is_true(j)) return 1;
    if (json_is_false(j)) return 0;
    if (!json_is_string(j)) return json_number_value(j);
    const char *s = json_string_value(j);
    return strcmp(s, "NaN") == 0 ? NAN : strcmp(s, "Infinity") == 0 ? INFINITY : -INFINITY;
}

static tg_tensor tensor_of(const json_t *j)
{
    const char *dtype = json_string_value(json_object_get(j, "dtype"));
    const json_t *shape = json_object_get(j, "shape"), *data = json_object_get(j, "data");
    tg_tensor t = {.shape = {.rank = (int64_t)json_array_size(shape)}};
    t.dtype = strcmp(dtype, "float32") == 0   ? TG_F32
              : strcmp(dtype, "float64") == 0 ? TG_F64
                                              : tg_dtype_find(dtype);
    assert_true(t.dtype != TG_DTYPE_NONE);
    for (int i = 0; i < t.shape.rank; i++)
        t.shape.dim[i] = json_integer_value(json_array_get(shape, (size_t)i));
    t.data = tg_calloc(1, tg_tensor_bytes(&t));
    size_t n = json_array_size(data);
    for (int64_t i = 0; i < tg_tensor_count(&t); i++) {
        const json_t *x = json_array_get(data, n == 1 ? 0 : (size_t)i);
        if (json_is_integer(x)) tg_tensor_set_i64(&t, i, json_integer_value(x));
        else tg_tensor_set_f64(&t, i, number(x));
    }
    return t;
}

static bool close_to(const tg_tensor *want, const tg_tensor *got, int64_t i)
{
    if (tg_dtype_kind(want->dtype) != 'f') return tg_tensor_i64(want, i) == tg_tensor_i64(got, i);
    double a = tg_tensor_f64(want, i), b = tg_tensor_f64(got, i);
    bool half = want->dtype == TG_F16;
    if (isnan(a) || isinf(a)) return isnan(a) ? isnan(b) : a == b;
    return fabs(a - b) <= (half ? 1e-3 : 1e-5) + (half ? 1e-3 : 1e-4) * fabs(a);
}

/* ---- one case */

typedef struct open_case {
    const char *name;
    json_t *json;
    tg_graph *g;
    long runs;
} open_case;

static void check_outputs(const open_case *c, const tg_graph *g, const tg_tensor *out,
                          const char *when)
{
    const json_t *expect = json_object_get(c->json, "expect");
    assert_int_equal(tg_graph_sink(g)->n_in, tg_graph_sink(c->g)->n_in);
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++) {
        assert_string_equal(g->output_names[i], c->g->output_names[i]);
        const json_t *j = json_object_get(expect, g->output_names[i]);
        if (!j) continue; /* the standard leaves its value open */
        tg_tensor want = tensor_of(j);
        bool same = want.dtype == out[i].dtype && tg_shape_equal(&want.shape, &out[i].shape);
        for (int64_t k = 0; same && k < tg_tensor_count(&want); k++)
            same = close_to(&want, &out[i], k);
        tg_tensor_free(&want);
        if (!same) fail_msg("%s: output %s is wrong %s", c->name, g->output_names[i], when);
    }
}

/* TG_UNSUPPORTED: the graph has operators that cannot be run. */
static tg_status run(open_case *c, const tg_graph *g, const char *when)
{
    const json_t *feeds = json_object_get(c->json, "feeds");
    tg_tensor in[16] = {0}, out[16] = {0};
    assert_true(g->n_inputs <= 16 && tg_graph_sink(g)->n_in <= 16);
    for (uint32_t i = 0; i < g->n_inputs; i++)
        in[i] = tensor_of(json_object_get(feeds, g->nodes[g->inputs[i]]->name));
    tg_status status = tg_reference_run(g, in, out);
    if (status != TG_OK && status != TG_UNSUPPORTED)
        fail_msg("%s %s: %s", c->name, when, tg_message());
    if (status == TG_OK) check_outputs(c, g, out, when);
    for (int i = 0; i < 16; i++) {
        tg_tensor_free(&in[i]);
        if (status == TG_OK) tg_tensor_free(&out[i]);
    }
    c->runs++;
    return status;
}

/* What was saved loads again and computes the same. */
static void save_and_run(open_case *c, const tg_graph *g, const char *when)
{
    void *bytes;
    size_t n;
    tg_graph *again;
    assert_ok(tg_onnx_save_memory(g, &bytes, &n));
    if (strstr(c->name, "C43") && n >= 1024) fail_msg("C43: %zu bytes %s", n, when);
    tg_status status = tg_onnx_load_memory(bytes, n, c->name, NULL, &again);
    if (status != TG_OK) fail_msg("%s saved %s: %s", c->name, when, tg_message());
    free(bytes);
    assert_ok(tg_check(again));
    (void)run(c, again, when);
    tg_graph_unref(again);
}

static void each_rewrite(open_case *c)
{
    tg_candidates *all;
    assert_ok(tg_candidates_find(rules, c->g, NULL, &all));
    for (int i = 0; i < tg_candidates_count(all) && i < 40; i++) {
        tg_graph *next;
        const char *rule = tg_rules_get(rules, tg_candidates_get(all, i)->site->rule)->name;
        assert_ok(tg_candidates_apply(all, i, &next));
        assert_ok(tg_check(next));
        (void)run(c, next, rule);
        save_and_run(c, next, rule);
        tg_graph_unref(next);
    }
    tg_candidates_free(all);
}

static void each_search(open_case *c)
{
    for (int k = 0; tg_search_at(k); k++) {
        tg_search_report report;
        tg_trail *best;
        tg_search_options options = {.budget = 30, .max_steps = 12, .seed = 5};
        assert_ok(tg_search_run(tg_search_at(k), rules, c->g, &options, &report, &best));
        for (int depth = 1; depth <= best->depth; depth++) {
            const tg_trail *at = tg_trail_at(best, depth);
            assert_ok(tg_check(at->graph));
            (void)run(c, at->graph, at->taken.rule);
        }
        save_and_run(c, best->graph, tg_search_at(k)->name);
        tg_trail_unref(best);
    }
}

/* Part of the message that a refused case must give. */
static const char *needle(const char *name)
{
    static const char *const rows[][2] = {
        {"C21", "h"}, {"C25", "data"}, {"C41", "w"}, {"C49", "Conv"}, {"C51", "cycle"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (tg_starts_with(name, rows[i][0])) return rows[i][1];
    fail_msg("%s is refused, but the test does not know why it should be", name);
    return "";
}

static void one_case(const char *folder, const char *name)
{
    char path[4096];
    open_case c = {.name = name};
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    c.json = json_load_file(path, 0, NULL);
    assert_non_null(c.json);
    snprintf(path, sizeof path, "%s/%s.onnx", folder, name);
    tg_status status = tg_onnx_load(path, NULL, &c.g);
    if (json_object_get(c.json, "expect_error")) {
        if (status == TG_OK) fail_msg("%s was not refused", name);
        assert_contains(tg_message(), needle(name));
        assert_null(strchr(tg_message(), '\n'));
    } else {
        if (status != TG_OK) fail_msg("%s: %s", name, tg_message());
        assert_ok(tg_check(c.g));
        bool runs = run(&c, c.g, "as it is") == TG_OK;
        save_and_run(&c, c.g, "as it is");
        each_rewrite(&c);
        if (c.g->n_nodes < 1000) each_search(&c);
        print_message("%s: %ld runs%s\n", name, c.runs,
                      runs ? "" : ", carried: it has operators that cannot be run");
        tg_graph_unref(c.g);
    }
    json_decref(c.json);
}

static int is_case(const struct dirent *e)
{
    return tg_ends_with(e->d_name, ".onnx");
}

static void every_open_case(void **state)
{
    (void)state;
    const char *folder = unit_shared("cases/open"), *dir = unit_source("rules");
    struct dirent **list;
    assert_ok(tg_rules_load(&dir, 1, &rules));
    int n = scandir(folder, &list, is_case, alphasort);
    assert_true(n >= 36);
    for (int i = 0; i < n; i++) {
        list[i]->d_name[strlen(list[i]->d_name) - 5] = '\0';
        one_case(folder, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    tg_rules_unref(rules);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(every_open_case)};

static const char *why_not(void)
{
    return unit_shared("cases/open") ? NULL : "no cases beside the checkout";
}
UNIT_MAIN_IF(tests, why_not())
