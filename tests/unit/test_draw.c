/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/samples.h"

static tg_graph *sample(const char *name)
{
    tg_graph *g;
    assert_ok(tg_sample_build(name, 1, true, &g));
    return g;
}

static tg_drawing *draw(const tg_graph *g, tg_draw_options options)
{
    tg_drawing *d;
    assert_ok(tg_draw_rails(g, &options, NULL, &d));
    return d;
}

/* What a picture of rails must hold, whatever the graph. */
static void check_drawing(const tg_graph *g, const tg_drawing *d)
{
    uint32_t covered = 0;
    for (uint32_t r = 0; r < d->n_rows; r++) {
        const tg_row *row = &d->rows[r];
        assert_true(row->label[0] != '\0');
        assert_non_null(strstr(row->rails, "●"));
        for (uint32_t i = 0; i < row->n_nodes; i++) assert_int_equal(d->row_of[row->nodes[i]], r);
        covered += row->n_nodes;
        assert_true(row->fold || row->n_nodes <= 1);
    }
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->constant || node->op == TG_OP_SINK) continue;
        assert_true(d->row_of[node->id] >= 0);
        covered--;
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE && d->row_of[tg_value_node(node->in[k])] >= 0)
                assert_true(d->row_of[tg_value_node(node->in[k])] <= d->row_of[node->id]);
    }
    assert_int_equal(covered, 0);
}

static void rails_of_attention(void **state)
{
    (void)state;
    static const char *const want[] = {
        "●     ", "├─●   ", "│ ●   ", "│ ●   ", "├─┼─● ", "│ │ ● ", "│ │ ● ",
        "│ ●─╯ ", "│ ●   ", "│ ●   ", "├─┼─● ", "│ │ ● ", "│ │ ● ", "│ ●─╯ ",
        "│ ●   ", "│ ●   ", "│ ●   ", "●─╯   ", "●     ",
    };
    tg_graph *g = sample("attention");
    tg_drawing *d = draw(g, (tg_draw_options){.level = 3});
    assert_int_equal(d->n_rows, sizeof want / sizeof *want);
    for (uint32_t r = 0; r < d->n_rows; r++) assert_string_equal(d->rows[r].rails, want[r]);
    assert_int_equal(d->lanes, 3);
    check_drawing(g, d);
    tg_drawing_free(d);
    tg_graph_unref(g);
}

static void every_sample_at_every_level(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t rows; /* at level 2 */
        int lanes;     /* at level 3 */
    } rows[] = {{"squeezenet", 11, 2},       {"resnet18", 11, 2},      {"taso-bert", 5, 3},
                {"taso-inceptionv3", 13, 6}, {"taso-resnext50", 0, 2}, {"taso-nasnet_a", 0, 11},
                {"taso-nasrnn", 0, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_graph *g = sample(rows[i].name);
        print_message("%s\n", rows[i].name);
        for (int level = 1; level <= 3; level++) {
            tg_drawing *d = draw(g, (tg_draw_options){.level = level});
            check_drawing(g, d);
            if (level == 2 && rows[i].rows) assert_int_equal(d->n_rows, rows[i].rows);
            if (level == 3) assert_true(d->lanes <= rows[i].lanes);
            if (level == 3) assert_int_equal(d->n_rows, tg_graph_op_count(g) + g->n_inputs + 1);
            tg_drawing_free(d);
        }
        tg_graph_unref(g);
    }
}

static void equal_blocks_fold_together(void **state)
{
    (void)state;
    tg_graph *g = sample("taso-bert");
    tg_drawing *d = draw(g, (tg_draw_options){.level = 2});
    assert_int_equal(d->rows[2].repeat, 7);
    assert_int_equal(d->rows[2].n_ops, 98);
    uint64_t key = d->rows[1].block;
    tg_drawing *open = draw(g, (tg_draw_options){.level = 2, .flipped = &key, .n_flipped = 1});
    assert_int_equal(open->n_rows, d->n_rows - 1 + d->rows[1].n_nodes);
    tg_drawing_free(open);
    tg_drawing_free(d);
    tg_graph_unref(g);
}

/* Lanes beyond the picture become numbers that both ends carry. */
static void wide_graphs_get_references(void **state)
{
    (void)state;
    tg_graph *g = sample("taso-nasnet_a");
    tg_drawing *d = draw(g, (tg_draw_options){.level = 3, .lane_columns = 6});
    int ends = 0;
    for (uint32_t r = 0; r < d->n_rows; r++) ends += strstr(d->rows[r].rails, "⟨1⟩") != NULL;
    assert_true(ends >= 2);
    assert_true(d->width <= 6);
    tg_drawing_free(d);
    tg_graph_unref(g);
}

/* A drawing that knows the one before keeps its order. */
static void order_is_kept(void **state)
{
    (void)state;
    tg_graph *g = sample("branches");
    tg_drawing *a = draw(g, (tg_draw_options){.level = 3});
    tg_drawing *b = draw(g, (tg_draw_options){.level = 3, .previous = a});
    assert_int_equal(a->n_rows, b->n_rows);
    for (uint32_t r = 0; r < a->n_rows; r++)
        assert_string_equal(a->rows[r].label, b->rows[r].label);
    tg_drawing_free(a);
    tg_drawing_free(b);
    tg_graph_unref(g);
}

/* Tags balance and no raw character of a name gets through: enough of XML for this file. */
static void check_xml(const char *text)
{
    int depth = 0;
    assert_int_equal(strncmp(text, "<?xml", 5), 0);
    for (const char *p = strstr(text, "?>") + 2; (p = strchr(p, '<')); p++) {
        const char *end = strchr(p, '>');
        assert_non_null(end);
        assert_null(memchr(p + 1, '<', (size_t)(end - p - 1)));
        if (p[1] == '/') depth--;
        else if (end[-1] != '/') depth++;
        assert_true(depth >= 0);
    }
    assert_int_equal(depth, 0);
}

static void svg_is_xml_by_both_layouts(void **state)
{
    (void)state;
    tg_graph *g = sample("attention");
    for (int max_rows = 1; max_rows <= 300; max_rows += 299) {
        tg_str out = {0};
        tg_picture_report report;
        tg_picture_options options = {.max_rows = max_rows, .title = "<a & \"b\">\x01"};
        assert_ok(tg_picture_svg(g, &options, &out, &report));
        assert_string_equal(report.layout, max_rows == 1 ? "rails" : "graphviz");
        assert_int_equal(report.ops, 17);
        check_xml(tg_str_text(&out));
        assert_contains(tg_str_text(&out), "&lt;a &amp; &quot;b&quot;&gt;");
        tg_str_free(&out);
    }
    tg_graph_unref(g);
}

static void formats_follow_the_extension(void **state)
{
    (void)state;
    tg_graph *g = sample("conv-bn");
    tg_picture_report report;
    tg_picture_options options = {0};
    assert_status(tg_picture_write(g, "x.png", &options, &report), TG_USAGE);
    assert_contains(tg_message(), ".svg");
    assert_status(tg_picture_write(g, "/nonexistent/x.svg", &options, &report), TG_IO);
    tg_str out = {0};
    assert_ok(tg_picture_dot(g, &options, &out, &report));
    assert_contains(tg_str_text(&out), "digraph");
    tg_str_clear(&out);
    assert_ok(tg_picture_json(g, &options, &out, &report));
    assert_contains(tg_str_text(&out), "\"BatchNormalization\"");
    tg_str_free(&out);
    tg_graph_unref(g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(rails_of_attention),
    cmocka_unit_test(every_sample_at_every_level),
    cmocka_unit_test(equal_blocks_fold_together),
    cmocka_unit_test(wide_graphs_get_references),
    cmocka_unit_test(order_is_kept),
    cmocka_unit_test(svg_is_xml_by_both_layouts),
    cmocka_unit_test(formats_follow_the_extension),
};
UNIT_MAIN(tests)
