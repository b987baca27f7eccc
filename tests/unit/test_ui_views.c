/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The buffers beside *graph* and *candidates*: diff, history, measure, node, rules, training. */
#include "tests/unit/ui_run.h"
#include "tui/diff.h"
#include "tui/history_tree.h"
#include "tui/replay.h"
#include "tui/rules.h"

#include "engine/base/rng.h"

static ui_app *start(const char *sample, int rows, int cols)
{
    ui_app *ui = ui_start(rows, cols, true);
    ui_open_sample(ui, sample);
    return ui;
}

static char *text_of(ui_app *ui, const char *buffer)
{
    ui_buffer *b = ui_buffer_find(ui, buffer);
    tg_str all = {0};
    ui_line line = {0};
    assert_non_null(b);
    for (size_t r = 0; r < ui_buffer_rows(ui, b); r++) {
        ui_buffer_draw(ui, b, r, ui->cols, &line);
        tg_str_addf(&all, "%s\n", tg_str_text(&line.text));
    }
    ui_line_done(&line);
    return all.p ? all.p : tg_strdup("");
}

#define assert_text(ui, buffer, needle)                                                            \
    do {                                                                                           \
        char *text_of_ = text_of(ui, buffer);                                                      \
        assert_contains(text_of_, needle);                                                         \
        free(text_of_);                                                                            \
    } while (0)

static void diff_follows_point(void **state)
{
    (void)state;
    ui_app *ui = start("squeezenet", 50, 160);
    ui_session *s = ui_session_get(ui);
    for (int row = 0; row < 12; row++) {
        char cand[32];
        const tg_candidate *c = ui_session_candidate(s, row);
        snprintf(cand, sizeof cand, "cand %d  %s", row + 1,
                 tg_rules_get(s->rules, c->site->rule)->name);
        ui_paint(ui);
        char *screen = ui_term_memory_text(ui->term);
        assert_contains(screen, cand);
        free(screen);
        assert_text(ui, "*diff*", tg_rules_get(s->rules, c->site->rule)->about);
        ui_run(ui, "C-n");
    }
    ui_run(ui, "M-> C-n"); /* no rewrite, and nothing behind the last row */
    assert_text(ui, "*diff*", "STOP");
    ui_app_free(ui);
}

static void diff_keys(void **state)
{
    (void)state;
    ui_app *ui = start("conv-bn", 24, 80);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "o C-x o");
    assert_string_equal(ui->selected->buffer->name, "*diff*");
    size_t usual = ui_buffer_rows(ui, ui->selected->buffer);
    ui_run(ui, "- -");
    assert_true(ui_buffer_rows(ui, ui->selected->buffer) < usual);
    ui_run(ui, "-\nassert-screen No context is left to hide\n0");
    assert_int_equal(ui_buffer_rows(ui, ui->selected->buffer), usual);
    ui_run(ui, "n");
    assert_contains(ui_screen_row(ui, 1 + (int)(ui->selected->point.row - ui->selected->top)), "−");
    ui_run(ui, "v");
    assert_text(ui, "*diff*", "from   ");
    ui_run(ui, "v w");
    assert_int_equal(ui->kills.n, 1);
    /* SPC goes on to the next candidate at the end */
    int row = ui_session_row_at_point(s);
    ui_run(ui, "SPC SPC SPC SPC SPC SPC SPC SPC");
    assert_true(ui_session_row_at_point(s) > row);
    ui_run(ui, "a\nsettle");
    assert_int_equal(s->history->states.n, 2);
    ui_app_free(ui);
}

static void diff_tells_measurements(void **state)
{
    (void)state;
    ui_app *ui = start("branches", 50, 160);
    assert_text(ui, "*diff*", "predicted ○");
    ui_run(ui, "=\nsettle");
    assert_text(ui, "*diff*", "estimate  ●");
    ui_run(ui, "M-x \"measure-queue\" RET");
    assert_text(ui, "*measure*", "done");
    ui_run(ui, "C-x b \"*measure*\" RET k\nassert-screen Nothing to cancel on this line");
    /* what was measured before the step holds for it after */
    ui_run(ui, "C-x b \"*candidates*\" RET a\nsettle\nC-c C-t");
    assert_text(ui, "*history*", "● −");
    assert_text(ui, "*diff*", "estimate  ●");
    ui_app_free(ui);
}

/* ---- history */

static void history_moves_only_on_return(void **state)
{
    (void)state;
    ui_app *ui = start("squeezenet", 24, 80);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "SPC\nsettle\nSPC\nsettle\nSPC\nsettle\nC-c C-t");
    assert_string_equal(ui->selected->buffer->name, "*history*");
    assert_int_equal(ui_history_selected(ui), 3);
    ui_run(ui, "b b");
    assert_int_equal(ui_history_selected(ui), 1);
    assert_int_equal(s->history->head, 3);
    ui_run(ui, "f\nassert-screen step  who\nC-g");
    assert_int_equal(s->history->head, 3);
    assert_null(ui_window_showing(ui, ui_buffer_find(ui, "*history*")));
    ui_run(ui, "C-c C-t b b RET\nsettle");
    assert_int_equal(s->history->head, 1);
    assert_int_equal(s->view->state, 1);
    ui_run(ui, "b b\nassert-screen This is the model as it was loaded");
    ui_run(ui, "f f f C-c RET\nsettle");
    assert_int_equal(s->history->head, 3);
    ui_app_free(ui);
}

/* Where it has a window of its own it stays there. */
static void history_gives_the_window_back(void **state)
{
    (void)state;
    ui_app *ui = start("branches", 50, 160);
    ui_window *list = ui->selected;
    assert_non_null(ui_window_showing(ui, ui_buffer_find(ui, "*history*")));
    ui_run(ui, "C-c C-t");
    assert_string_equal(ui->selected->buffer->name, "*history*");
    ui_run(ui, "q");
    assert_ptr_equal(ui->selected, list);
    assert_non_null(ui_window_showing(ui, ui_buffer_find(ui, "*history*")));
    ui_app_free(ui);
}

static void history_names_and_compares(void **state)
{
    (void)state;
    ui_app *ui = start("squeezenet", 50, 160);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "SPC\nsettle\nC-n SPC\nsettle\nC-/\nsettle\nC-n C-n C-n a\nsettle");
    int leaves;
    tg_history_count(s->history, &leaves);
    assert_int_equal(leaves, 2);
    ui_run(ui, "C-c C-t t \"try\" RET\nassert-screen [try]");
    assert_string_equal(tg_history_head(s->history)->tag, "try");
    ui_run(ui, "d C-c C-d");
    assert_text(ui, "*diff*", "predicted ms");
    assert_text(ui, "*diff*", "try");
    assert_text(ui, "*diff*", "Steps that only try has");
    ui_run(ui, "w\nassert-screen No journal is kept of this session");
    ui_run(ui, "t RET");
    assert_null(tg_history_head(s->history)->tag);
    ui_app_free(ui);
}

static void history_prunes(void **state)
{
    (void)state;
    ui_app *ui = start("squeezenet", 24, 80);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "SPC\nsettle\nSPC\nsettle\nSPC\nsettle\nC-c C-t b D n\nsettle");
    assert_int_equal(s->history->head, 3);
    ui_run(ui, "D y\nassert-screen Removed 2 states\nsettle");
    assert_int_equal(s->history->head, 1);
    assert_int_equal(s->view->state, 1);
    assert_true(s->history->states.v[2].pruned && s->history->states.v[3].pruned);
    assert_int_equal(ui_history_selected(ui), 1);
    ui_run(ui, "b D\nassert-screen The model as it was loaded stays");
    ui_app_free(ui);
}

/* Every state that is not pruned has exactly one line, and lies on the branch it is listed in. */
static void check_tree(tg_history *h)
{
    ui_tree tree = {0};
    int leaves, listed = 0, n = tg_history_count(h, &leaves);
    ui_tree_make(h, 4, &tree);
    assert_int_equal(tree.branches.n, leaves);
    assert_int_equal(tree.hidden, leaves > 4 ? leaves - 4 : 0);
    for (size_t i = 0; i < tree.rows.n; i++) {
        const ui_tree_row *row = &tree.rows.v[i];
        if (row->kind != UI_TREE_STEP) continue;
        listed++;
        assert_false(h->states.v[row->state].pruned);
        assert_int_equal(ui_tree_row_of(&tree, row->state), i);
        int at = tree.branches.v[row->branch].leaf;
        while (at > row->state) at = h->states.v[at].parent;
        assert_int_equal(at, row->state);
    }
    assert_int_equal(listed, n);
    /* HEAD is on the main branch */
    int at = tree.branches.v[0].leaf;
    while (at > h->head) at = h->states.v[at].parent;
    assert_int_equal(at, h->head);
    assert_false(h->states.v[tree.best].pruned);
    ui_line line = {0};
    for (size_t b = 0; b < tree.branches.n && b < 4; b++) {
        ui_line_clear(&line);
        ui_tree_draw_branch(h, &tree, (int)b, 0, -1, 200, &line);
        assert_true(ui_line_width(&line) <= 200);
        for (int c = 0; c < 80; c++) {
            int state = ui_tree_state_at(h, &tree, (int)b, 0, c);
            assert_true(state >= 0 && !h->states.v[state].pruned);
        }
    }
    ui_line_done(&line);
    ui_tree_done(&tree);
}

static void history_under_random_commands(void **state)
{
    static const char *const moves[] = {"SPC",
                                        "a",
                                        "n",
                                        "n n n",
                                        "C-/",
                                        "C-M-_",
                                        "C-c C-t b RET",
                                        "C-c C-t n RET",
                                        "SPC",
                                        "M-< SPC",
                                        "C-x o",
                                        "C-c C-t D y",
                                        "C-c C-r",
                                        "C-c C-t d C-c C-d",
                                        "C-c C-t p p RET",
                                        "SPC",
                                        "a",
                                        "C-c C-t t \"x\" RET",
                                        "C-g",
                                        "q"};
    (void)state;
    ui_app *ui = start("branches", 50, 160);
    ui_session *s = ui_session_get(ui);
    tg_rng *rng = tg_rng_new(7);
    for (int i = 0; i < 150; i++) {
        char line[80];
        snprintf(line, sizeof line, "%s\nsettle",
                 moves[tg_rng_below(rng, sizeof moves / sizeof *moves)]);
        ui_run(ui, line);
        ui_paint(ui);
        check_tree(s->history);
        assert_false(tg_history_head(s->history)->pruned);
        assert_int_equal(s->view->state, s->history->head);
        if (ui->selected->buffer->mode == &ui_mode_special) break;
        ui_buffer *list = ui_buffer_find(ui, "*candidates*");
        if (i % 5 == 0) ui_window_show(ui, ui->selected, list);
    }
    assert_true(s->history->states.n > 10);
    tg_rng_free(rng);
    ui_app_free(ui);
}

/* Tags, branches and what was pruned come back from the journal. */
static void history_is_kept(void **state)
{
    ui_journal_log log;
    ui_replay_report report;
    ui_replay_options options = {.to = -1};
    tg_history *again;
    (void)state;
    setenv("XDG_STATE_HOME", unit_temporary("state"), 1);
    setenv("XDG_CONFIG_HOME", unit_temporary("config"), 1);
    ui_opt_reset();
    ui_app *ui = ui_app_new(ui_term_memory(24, 80, true), false);
    ui_open_sample(ui, "squeezenet");
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "SPC\nsettle\nSPC\nsettle\nC-/\nsettle\nC-n C-n a\nsettle\nSPC\nsettle");
    ui_run(ui, "C-c C-t b t \"here\" RET w\nassert-screen Copied: regraft replay\nf D y\nsettle");
    assert_ok(ui_journal_flush(s->journal));
    assert_ok(ui_journal_read(ui_journal_path(s->journal), &log));
    tg_trail *root = s->history->states.v[0].trail;
    assert_ok(ui_replay(&log, root->graph, s->rules, &options, &again, &report));
    assert_int_equal(again->states.n, s->history->states.n);
    assert_int_equal(again->head, s->history->head);
    for (int i = 0; i < (int)again->states.n; i++) {
        const tg_state *a = tg_history_get(again, i), *b = tg_history_get(s->history, i);
        assert_true(a->trail->graph->hash == b->trail->graph->hash);
        assert_int_equal(a->parent, b->parent);
        assert_int_equal(a->pruned, b->pruned);
        assert_ptr_equal(a->tag, b->tag);
    }
    assert_string_equal(tg_history_head(again)->tag, "here");
    tg_history_free(again);
    ui_journal_log_done(&log);
    ui_app_free(ui);
}

/* M-g n finds the steps that cost. */
static void history_finds_regressions(void **state)
{
    (void)state;
    ui_app *ui = start("branches", 50, 160);
    ui_session *s = ui_session_get(ui);
    for (int row = 0; row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        if (!c || c->preview.cost_delta_ms <= 0) continue;
        ui_buffer_set_point(ui, ui_buffer_find(ui, "*candidates*"), (size_t)row, 0);
        break;
    }
    ui_run(ui, "a\nsettle\nSPC\nsettle\nSPC\nsettle\nC-c C-t M-g n");
    assert_int_equal(ui_history_selected(ui), 1);
    ui_run(ui, "M-g n\nassert-screen No slower step further down");
    ui_app_free(ui);
}

/* ---- the others */

static void nodes_are_described(void **state)
{
    (void)state;
    ui_app *ui = start("conv-bn", 50, 160);
    ui_run(ui, "C-x o C-x b \"*graph*\" RET M-3\nsettle\nM-< n C-x =");
    assert_contains(ui_screen_row(ui, 49), "% of all");
    ui_run(ui, "M-x \"describe-node\" RET");
    assert_text(ui, "*node*", "read by");
    assert_text(ui, "*node*", "predicted");
    assert_text(ui, "*node*", "of the model");
    ui_run(ui, "SPC\nC-x b \"*candidates*\" RET SPC\nsettle\nC-x b \"*graph*\" RET M-<");
    ui_session *s = ui_session_get(ui);
    for (uint32_t r = 0; r < s->view->drawing->n_rows; r++) {
        ui_buffer_set_point(ui, ui_buffer_find(ui, "*graph*"), r, 0);
        char *text = text_of(ui, "*node*");
        bool made = strstr(text, "at step 1") != NULL;
        const tg_row *row = &s->view->drawing->rows[r];
        const tg_node *node = row->n_nodes == 1 && !row->fold
                                  ? tg_graph_node(ui_session_head(s)->trail->graph, row->nodes[0])
                                  : NULL;
        if (node) assert_int_equal(made, node->rule != NULL);
        free(text);
    }
    ui_app_free(ui);
}

static void rules_are_listed(void **state)
{
    (void)state;
    ui_app *ui = start("conv-bn", 50, 160);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "a\nsettle\nM-x \"rule-library\" RET C-x b \"*rules*\" RET");
    int taken = tg_rules_find(s->rules, tg_history_head(s->history)->trail->taken.rule);
    ui_rule_tally t = ui_rule_tally_of(s, taken);
    assert_int_equal(t.you, 1);
    assert_int_equal(t.agent, 0);
    assert_int_equal(ui_buffer_rows(ui, ui->selected->buffer), tg_rules_count(s->rules));
    ui_buffer_set_point(ui, ui->selected->buffer, (size_t)taken, 0);
    ui_run(ui, "d\nsettle\nassert-screen is vetoed everywhere");
    assert_true(ui_rule_tally_of(s, taken).vetoed);
    ui_run(ui, "d\nsettle\nassert-screen is allowed again\nRET");
    assert_text(ui, "*Help*", "is a rule of the family");
    assert_text(ui, "*Help*", "taken 1 time by you");
    ui_run(ui, "C-x o C-x o C-x o M-,");
    assert_string_equal(ui->selected->buffer->name, "*rules*");
    assert_int_equal(ui->selected->point.row, taken);
    ui_run(ui, "M-,\nassert-screen No place to go back to");
    ui_app_free(ui);
}

static void training_is_told(void **state)
{
    (void)state;
    ui_app *ui = start("branches", 24, 80);
    ui_run(ui, "C-c C-s");
    assert_text(ui, "*training*", "idle");
    assert_text(ui, "*training*", "pinned v0");
    ui_app_free(ui);
}

static void exports_state_their_scope(void **state)
{
    (void)state;
    ui_app *ui = start("squeezenet", 24, 80);
    char script[512], *text;
    size_t size, folded;
    const char *path = unit_temporary("view.txt");
    unlink(path);
    snprintf(script, sizeof script, "C-c C-e t C-a C-k \"%s\" RET\nsettle\nassert-screen Wrote",
             path);
    ui_run(ui, script);
    assert_ok(tg_read_file(path, 1 << 20, &text, &folded));
    free(text);
    assert_ok(ui_opt_assign("export-scope=all"));
    snprintf(script, sizeof script, "C-c C-e t C-a C-k \"%s\" RET y\nsettle", path);
    ui_run(ui, script);
    assert_ok(tg_read_file(path, 1 << 20, &text, &size));
    assert_true(size > folded);
    free(text);
    ui_run(ui, "C-c C-e\nassert-screen Scope of pictures\nC-g");
    ui_run(ui, "assert-screen ███\nC-c C-v - l C-g\nassert-not ███");
    ui_run(ui, "assert-screen ▒\nC-c C-v - m C-g\nassert-not ▒");
    ui_run(
        ui,
        "<f10> e\nassert-screen Scope of pictures\nC-q\nM-` k C-n\nassert-screen runs the command");
    ui_run(ui, "C-c C-v\nassert-screen Background\n3\nsettle");
    assert_int_equal(ui_session_get(ui)->view->drawing->level, 3);
    ui_app_free(ui);
}

/* All buffers go over to the model that is opened next, whatever they showed. */
static void another_model(void **state)
{
    static const char *const keys = "M-x \"measure-queue\" RET M-x \"describe-node\" RET M-x "
                                    "\"rule-library\" RET C-c C-s C-c C-t b d C-c C-d";
    static const char *const buffers[] = {"*diff*",     "*history*", "*measure*",
                                          "*training*", "*node*",    "*rules*"};
    (void)state;
    ui_app *ui = start("squeezenet", 50, 160);
    ui_run(ui, "=\nsettle\na\nsettle\nSPC\nsettle");
    ui_run(ui, keys);
    for (int i = 0; i < 2; i++) {
        ui_open_sample(ui, i ? "squeezenet" : "conv-bn");
        for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++) {
            ui_window_show(ui, ui->selected, ui_buffer_find(ui, buffers[b]));
            ui_paint(ui);
            ui_run(ui, "M-> M-< C-n");
        }
        assert_int_equal(ui_history_marks(ui)[0], -1);
        assert_text(ui, "*measure*", "Nothing was measured yet");
        ui_run(ui, keys);
    }
    ui_app_free(ui);
}

/* The table is searched by halves; the signs of the tree differ in ASCII too. */
static void signs_are_told_apart(void **state)
{
    static const uint32_t points[] = {
#define GLYPH(cp, ascii) cp,
#include "tui/glyph.def"
#undef GLYPH
    };
    (void)state;
    for (size_t i = 1; i < sizeof points / sizeof *points; i++)
        assert_true(points[i - 1] < points[i]);
    static const uint32_t signs[] = {0x25cf, 0x25a0, 0x25c7, 0x2605, 0x25c9};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(ui_char_ascii(signs[i]) != ui_char_ascii(signs[k]));
}

/* Without a model every buffer and command says so. */
static void nothing_without_a_model(void **state)
{
    static const char *const commands[] = {
        "history",  "diff",       "measure-queue", "describe-node", "rule-library",
        "training", "export-svg", "diff-states",   "prune",         "tag-state"};
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char script[128];
        bool asks = strcmp(commands[i], "tag-state") == 0;
        snprintf(script, sizeof script, "M-x \"%s\" RET %s\nassert-screen No model loaded",
                 commands[i], asks ? "\"x\" RET" : "");
        ui_run(ui, script);
        ui_message(ui, "-");
    }
    static const ui_mode *const modes[] = {&ui_mode_diff, &ui_mode_history, &ui_mode_measure,
                                           &ui_mode_node, &ui_mode_rules,   &ui_mode_training};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        ui_buffer *b = ui_buffer_get(ui, modes[i]->name, modes[i]);
        ui_window_show(ui, ui->selected, b);
        ui_paint(ui);
        assert_true(ui_buffer_rows(ui, b) >= 1);
        ui_run(ui, "n\nC-n\ng");
    }
    ui_app_free(ui);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(diff_follows_point),
    cmocka_unit_test(diff_keys),
    cmocka_unit_test(diff_tells_measurements),
    cmocka_unit_test(history_moves_only_on_return),
    cmocka_unit_test(history_gives_the_window_back),
    cmocka_unit_test(history_names_and_compares),
    cmocka_unit_test(history_prunes),
    cmocka_unit_test(history_under_random_commands),
    cmocka_unit_test(history_is_kept),
    cmocka_unit_test(history_finds_regressions),
    cmocka_unit_test(nodes_are_described),
    cmocka_unit_test(rules_are_listed),
    cmocka_unit_test(training_is_told),
    cmocka_unit_test(exports_state_their_scope),
    cmocka_unit_test(another_model),
    cmocka_unit_test(signs_are_told_apart),
    cmocka_unit_test(nothing_without_a_model),
};
UNIT_MAIN(tests)
