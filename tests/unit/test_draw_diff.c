/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rewrites drawn before they are made agree with the graphs that they make. */
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/samples.h"

typedef struct site {
    tg_graph *g;
    tg_rules *rules;
    tg_candidates *c;
} site;

static site open_sample(const char *name)
{
    site s;
    assert_ok(tg_sample_build(name, 1, true, &s.g));
    assert_ok(tg_rules_load(NULL, 0, &s.rules));
    assert_ok(tg_candidates_find(s.rules, s.g, NULL, &s.c));
    assert_true(tg_candidates_count(s.c) > 0);
    return s;
}

static void close_sample(site *s)
{
    tg_candidates_free(s->c);
    tg_rules_unref(s->rules);
    tg_graph_unref(s->g);
}

static tg_diff *diff_of(const site *s, int i, int radius)
{
    const tg_preview *p = &tg_candidates_get(s->c, i)->preview;
    tg_diff_new *come = tg_calloc((size_t)p->n_come + 1, sizeof *come);
    tg_diff_redirect *redirects = tg_calloc((size_t)p->n_redirects + 1, sizeof *redirects);
    for (int k = 0; k < p->n_come; k++) {
        const tg_preview_node *n = &p->come[k];
        come[k] = (tg_diff_new){n->op, n->constant, n->n_in, n->n_out, n->in, n->out, n->cost_ms};
    }
    for (int k = 0; k < p->n_redirects; k++)
        redirects[k] = (tg_diff_redirect){p->redirects[k].from, p->redirects[k].to};
    tg_diff_change change = {p->gone, come, redirects, p->n_gone, p->n_come, p->n_redirects};
    tg_diff *d = tg_diff_of_change(s->g, &change, radius);
    free(come);
    free(redirects);
    return d;
}

static int changed_rows(const tg_diff_side *side)
{
    int n = 0;
    for (int i = 0; i < side->n; i++) n += side->rows[i].changed;
    return n;
}

static int row_of(const tg_diff_side *side, uint32_t id)
{
    for (int i = 0; i < side->n; i++)
        if (side->rows[i].id == id) return i;
    return -1;
}

/* Each row is on one line, in order, and rows beside each other belong together. */
static void check_lines(const tg_diff *d)
{
    int before = 0, after = 0;
    for (int i = 0; i < d->n_lines; i++) {
        const tg_diff_line *l = &d->lines[i];
        assert_true(l->before >= 0 || l->after >= 0);
        if (l->before >= 0) assert_int_equal(l->before, before++);
        if (l->after >= 0) assert_int_equal(l->after, after++);
        if (l->before < 0 || l->after < 0) continue;
        const tg_diff_row *a = &d->before.rows[l->before], *b = &d->after.rows[l->after];
        if (!a->changed && !b->changed) assert_int_equal(a->id, b->id);
    }
    assert_int_equal(before, d->before.n);
    assert_int_equal(after, d->after.n);
}

static void check_side(const tg_diff_side *side)
{
    for (int i = 0; i < side->n; i++) {
        assert_true(side->rows[i].label[0] && side->rows[i].op[0]);
        assert_non_null(strstr(side->rows[i].rails, "●"));
        assert_int_equal(row_of(side, side->rows[i].id), i); /* no node twice */
    }
}

/* Producers come first. */
static void check_order(const tg_graph *g, const tg_diff_side *side)
{
    for (int i = 0; i < side->n; i++) {
        const tg_node *node = tg_graph_node(g, side->rows[i].id);
        assert_non_null(node);
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE)
                assert_true(row_of(side, tg_value_node(node->in[k])) < i);
    }
}

/* What the picture says comes is what comes, by name, operator, type and cost. */
static void check_against(const tg_graph *made, const tg_diff *d)
{
    for (int i = 0; i < d->after.n; i++) {
        const tg_diff_row *r = &d->after.rows[i];
        const tg_node *node = tg_graph_node(made, r->id);
        char label[256];
        assert_non_null(node);
        assert_string_equal(r->label, tg_graph_label(made, r->id, label, sizeof label));
        assert_true(tg_type_equal(&r->type, &node->out[0]));
        assert_true(r->cost_ms >= 0);
        double ms = tg_node_cost_ms(made, node);
        if (r->changed) assert_true(ms - r->cost_ms < 1e-9 && r->cost_ms - ms < 1e-9);
    }
    for (int i = 0; i < d->before.n; i++) {
        bool there = tg_graph_node(made, d->before.rows[i].id) != NULL;
        assert_int_equal(there, !d->before.rows[i].changed);
    }
}

static void check_candidate(const site *s, int i)
{
    tg_graph *made;
    tg_diff *d = diff_of(s, i, 2), *bare = diff_of(s, i, 0);
    assert_ok(tg_candidates_apply(s->c, i, &made));
    check_side(&d->before);
    check_side(&d->after);
    check_lines(d);
    check_order(s->g, &d->before);
    check_order(made, &d->after);
    check_against(made, d);
    const tg_preview *p = &tg_candidates_get(s->c, i)->preview;
    assert_int_equal(changed_rows(&d->before), p->nodes_gone);
    assert_int_equal(changed_rows(&d->after), p->nodes_come);
    assert_int_equal(bare->before.n, p->nodes_gone);
    assert_int_equal(bare->after.n, p->nodes_come);
    assert_true(d->before.n >= bare->before.n && d->left_out >= 0);
    /* the same from the two graphs */
    tg_diff *real = tg_diff_of_graphs(s->g, made, 2);
    assert_int_equal(changed_rows(&real->before), p->nodes_gone);
    assert_int_equal(changed_rows(&real->after), p->nodes_come);
    check_order(made, &real->after);
    check_lines(real);
    tg_diff_free(real);
    tg_diff_free(bare);
    tg_diff_free(d);
    tg_graph_unref(made);
}

static void pictures_agree_with_graphs(void **state)
{
    (void)state;
    static const char *const names[] = {"squeezenet", "attention",     "branches",
                                        "conv-bn",    "layernorm",     "taso-bertx2",
                                        "resnet18",   "taso-nasrnnx2", "taso-squeezenet"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        site s = open_sample(names[n]);
        int step = tg_candidates_count(s.c) / 40 + 1;
        for (int i = 0; i < tg_candidates_count(s.c); i += step) check_candidate(&s, i);
        close_sample(&s);
    }
}

/* More context shows more, and what was shown stays. */
static void context_grows(void **state)
{
    (void)state;
    site s = open_sample("squeezenet");
    int was = 0;
    for (int radius = 0; radius < 9; radius++) {
        tg_diff *d = diff_of(&s, tg_candidates_count(s.c) / 2, radius);
        assert_true(d->before.n > was);
        assert_int_equal(d->before.n + d->left_out >= (int)tg_graph_op_count(s.g), 1);
        was = d->before.n;
        tg_diff_free(d);
    }
    close_sample(&s);
}

/* Two graphs without a difference have an empty picture; two models with everything different fit.
 */
static void extremes(void **state)
{
    (void)state;
    tg_graph *g, *h;
    assert_ok(tg_sample_build("taso-nasnet_a", 1, true, &g));
    assert_ok(tg_sample_build("attention", 1, true, &h));
    tg_diff *d = tg_diff_of_graphs(g, g, 3);
    assert_int_equal(d->before.n + d->after.n + d->n_lines, 0);
    assert_int_equal(d->left_out, tg_graph_op_count(g));
    tg_diff_free(d);
    d = tg_diff_of_graphs(g, h, 3);
    assert_true(d->before.n <= TG_DIFF_MOST_ROWS);
    check_lines(d);
    tg_diff_free(d);
    d = tg_diff_of_graphs(h, g, 3);
    check_lines(d);
    tg_diff_free(d);
    tg_graph_unref(g);
    tg_graph_unref(h);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pictures_agree_with_graphs),
    cmocka_unit_test(context_grows),
    cmocka_unit_test(extremes),
};
UNIT_MAIN(tests)
