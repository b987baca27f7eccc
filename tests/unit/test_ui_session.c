/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session with a model, driven by keys: steps, overrides, history, vetoes, files, training. */
#include "tests/unit/ui_run.h"

static ui_app *open_squeezenet(int rows, int cols)
{
    ui_app *ui = ui_start(rows, cols, true);
    ui_open_sample(ui, "squeezenet");
    return ui;
}

static int depth(ui_app *ui)
{
    ui_session *s = ui_session_get(ui);
    return tg_history_depth(s->history, s->history->head);
}

static uint64_t head_hash(ui_app *ui)
{
    return ui_session_head(ui_session_get(ui))->trail->graph->hash;
}

static void opens(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session *s = ui_session_get(ui);
    assert_string_equal(s->name, "squeezenet");
    assert_true(s->view->n_rows > 10);
    assert_int_equal(s->view->order[s->view->n_rows - 1], -1);
    for (int row = 1; row + 1 < s->view->n_rows; row++)
        assert_true(s->view->scores.logit[s->view->order[row - 1]] >=
                    s->view->scores.logit[s->view->order[row]]);
    assert_int_equal(ui_window_count(ui), 2);
    assert_string_equal(ui->selected->buffer->name, "*candidates*");
    assert_contains(ui_screen_row(ui, 0), "squeezenet.onnx   step 0");
    ui_app_free(ui);
}

static void steps_and_goes_back(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    uint64_t root = head_hash(ui);
    double before = ui_session_head(ui_session_get(ui))->trail->cost_ms;
    ui_run(ui, "SPC\nsettle\nassert-screen step 1");
    uint64_t first = head_hash(ui);
    assert_true(first != root);
    ui_run(ui, "C-u 3 C-c C-n\nsettle");
    assert_int_equal(depth(ui), 4);
    assert_true(ui_session_head(ui_session_get(ui))->trail->cost_ms != before);
    ui_run(ui, "C-u - 3 C-c C-n\nsettle\nassert-screen Undo: at step 1");
    assert_true(head_hash(ui) == first);
    ui_run(ui, "C-/\nsettle");
    assert_true(head_hash(ui) == root);
    ui_run(ui, "C-/\nassert-screen This is the model as it was loaded");
    ui_run(ui, "C-M-_ C-M-_\nsettle");
    assert_int_equal(depth(ui), 2);
    ui_run(ui, "C-c C-r\nsettle");
    assert_true(head_hash(ui) == root);
    assert_int_equal(ui_session_get(ui)->history->states.n, 5);
    ui_app_free(ui);
}

static void overrides_and_branches(void **state)
{
    int leaves;
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "n n a\nassert-screen Override: rank 3\nsettle");
    const tg_state *head = ui_session_head(s);
    assert_int_equal(s->demos.n, 1);
    assert_true(head->info.override && head->info.who == TG_BY_YOU && head->info.rank == 3);
    assert_true(head->max_abs_error < 1e-3);
    ui_run(ui, "C-/\nsettle\nSPC\nsettle");
    assert_true(!ui_session_head(s)->info.override);
    tg_history_count(s->history, &leaves);
    assert_int_equal(leaves, 2);
    /* a way to a state that is known leads there */
    uint64_t there = head_hash(ui);
    ui_run(ui, "C-/\nsettle\nSPC\nsettle");
    assert_true(head_hash(ui) == there);
    assert_int_equal(s->history->states.n, 3);
    ui_app_free(ui);
}

static void typed_ahead(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_run(ui, "SPC SPC SPC\nsettle");
    assert_int_equal(depth(ui), 3);
    ui_run(ui, "SPC C-/\nsettle"); /* the step under way is given up */
    assert_int_equal(depth(ui), 3);
    assert_int_equal(ui_session_get(ui)->history->states.n, 4);
    ui_run(ui, "C-/ C-/ C-/ SPC\nsettle");
    assert_int_equal(depth(ui), 1);
    ui_app_free(ui);
}

static void point_stays_with_the_candidate(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "n n n");
    uint64_t key = ui_session_candidate(s, 3)->site->key;
    ui_run(ui, "C-c C-n\nsettle");
    assert_int_equal(ui_session_row_at_point(s), ui_session_row(s, key));
    ui_run(ui, "C-x o M-3\nsettle\nC-u 9 C-n");
    uint32_t node = s->view->drawing->rows[ui->selected->point.row].nodes[0];
    ui_run(ui, "M-2\nsettle");
    assert_int_equal(s->view->drawing->row_of[node], ui->selected->point.row);
    ui_run(ui, "TAB\nsettle\nC-c C-n\nsettle");
    assert_true(ui->selected->point.row < s->view->drawing->n_rows);
    ui_app_free(ui);
}

static void folds(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(50, 120);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "C-x o M-2\nsettle");
    uint32_t folded = s->view->drawing->n_rows;
    size_t fold = 0;
    while (fold < folded && !s->view->drawing->rows[fold].fold) fold++;
    assert_true(fold < folded);
    ui_buffer_set_point(ui, ui->selected->buffer, fold, 0);
    ui_run(ui, "TAB\nsettle");
    assert_true(s->view->drawing->n_rows > folded && !s->view->drawing->rows[fold].fold);
    ui_run(ui, "2\nsettle");
    assert_int_equal(s->view->drawing->n_rows, folded);
    ui_run(ui, "M-3\nsettle\nassert-screen fold 3");
    uint32_t operators = s->view->drawing->n_rows;
    ui_run(ui, "W\nsettle\nassert-screen fold 4");
    assert_true(s->view->drawing->n_rows > operators);
    ui_run(ui, "M-3\nsettle\nM-< M-n");
    assert_int_equal(ui->selected->point.row, 1);
    ui_run(ui, "M-p");
    assert_int_equal(ui->selected->point.row, 0);
    ui_run(ui, "n RET\nassert-screen node at point");
    ui_app_free(ui);
}

static void vetoes(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session *s = ui_session_get(ui);
    const char *rule = tg_rules_get(s->rules, ui_session_candidate(s, 0)->site->rule)->name;
    uint64_t key = ui_session_candidate(s, 0)->site->key;
    ui_run(ui, "d r\nassert-screen D  1\nx\nsettle\nassert-screen vetoed");
    assert_true(ui_session_vetoed(s, rule, 1234));
    int row = ui_session_choice(s);
    assert_string_not_equal(tg_rules_get(s->rules, ui_session_candidate(s, row)->site->rule)->name,
                            rule);
    ui_run(ui, "M-< a\nassert-screen is vetoed here");
    ui_run(ui, "d\nsettle"); /* lifts it */
    assert_false(ui_session_vetoed(s, rule, key));
    ui_run(ui, "M-< d s x\nsettle");
    assert_true(ui_session_vetoed(s, rule, key));
    assert_false(ui_session_vetoed(s, rule, 1234));
    ui_app_free(ui);
}

static void policies_are_kept(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session *s = ui_session_get(ui);
    const ag_agent *first = s->agent;
    float before = s->view->scores.p[0];
    ui_run(ui,
           "M-x s a v e - p o l i c y RET C-a C-k p o l i c y . r g c RET\nassert-screen Wrote");
    ui_run(ui, "M-x l o a d - p o l i c y RET C-a C-k n o n e RET\nassert-screen none");
    assert_ptr_equal(s->agent, first);
    ui_run(ui, "M-x l o a d - p o l i c y RET C-a C-k p o l i c y . r g c RET\nassert-screen "
               "Policy v0\nsettle");
    assert_ptr_not_equal(s->agent, first);
    assert_true(s->view->scores.p[0] == before);
    ui_run(ui, "SPC\nsettle\nassert-screen step 1");
    ui_app_free(ui);
    unlink("policy.rgc");
    unlink("policy.rgc~");
}

static void marks_by_regexp(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "% m ^ f u s e - RET\nassert-screen marked");
    assert_true(s->marks.n > 1 && s->marks.n < (size_t)s->view->n_rows);
    for (size_t i = 0; i < s->marks.n; i++) {
        const tg_candidate *c = ui_session_candidate(s, ui_session_row(s, s->marks.v[i]));
        assert_true(tg_starts_with(tg_rules_get(s->rules, c->site->rule)->name, "fuse-"));
    }
    size_t marked = s->marks.n;
    ui_run(ui, "% m [ RET\nassert-screen Invalid regexp");
    assert_int_equal(s->marks.n, marked);
    ui_app_free(ui);
}

static void marks_apply_together(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "m m =\nsettle\nassert-screen faster");
    assert_int_equal(s->measurements.n, 2);
    assert_int_equal(s->measurements.v[1].at, UI_MEASURE_DONE);
    ui_run(ui, "a\nsettle");
    assert_int_equal(depth(ui), 2);
    assert_int_equal(s->marks.n, 0);
    assert_true(ui_session_head(s)->info.who == TG_BY_YOU);
    assert_true(tg_history_get(s->history, 1)->measured);
    ui_app_free(ui);
}

static void goes_on_until(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_run(ui, "C-c C-b \"4 steps\" RET\nsettle");
    assert_int_equal(depth(ui), 4);
    ui_run(ui, "C-c C-b \"nonsense\" RET\nassert-screen Until what?");
    ui_run(ui, "C-c C-b RET C-g\nsettle"); /* pauses after the present rewrite */
    assert_true(depth(ui) <= 6);
    ui_app_free(ui);
}

static void writes_files(void **state)
{
    char keys[256], path[64] = "/tmp/regraft-test-XXXXXX";
    tg_graph *again;
    (void)state;
    assert_non_null(mkdtemp(path));
    ui_app *ui = open_squeezenet(24, 80);
    ui_run(ui, "C-u 2 C-c C-n\nsettle");
    snprintf(keys, sizeof keys, "C-x C-w \"%s/out.onnx\" RET\nsettle\nassert-screen Wrote", path);
    ui_run(ui, keys);
    snprintf(keys, sizeof keys, "%s/out.onnx", path);
    assert_ok(tg_onnx_load(keys, NULL, &again));
    tg_verify_report report;
    assert_ok(
        tg_verify(again, ui_session_head(ui_session_get(ui))->trail->graph, 1, NULL, &report));
    tg_graph_unref(again);
    unlink(keys);
    snprintf(keys, sizeof keys, "C-x C-w \"%s/out.gif\" RET\nassert-screen write .onnx", path);
    ui_run(ui, keys);
    rmdir(path);
    ui_app_free(ui);
}

static void bad_files_leave_the_session(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    ui_run(ui, "C-x C-f \"/nonexistent.onnx\" RET\nsettle\nassert-screen /nonexistent.onnx");
    assert_null(ui_session_get(ui));
    ui_run(ui, "C-c C-n\nassert-screen No model loaded");
    ui_open_sample(ui, "squeezenet");
    uint64_t hash = head_hash(ui);
    ui_run(ui, "C-x C-f \"/nonexistent.onnx\" RET\nsettle");
    assert_true(head_hash(ui) == hash);
    ui_app_free(ui);
}

/* The policy gets better while nobody types, and the list stays where it is pinned. */
static void trains_beside(void **state)
{
    char keys[160], folder[] = "/tmp/regraft-test-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    ui_app *ui = ui_start(24, 80, true);
    ui_open_sample(ui, "conv-bn");
    ui_session *s = ui_session_get(ui);
    ui_session_train(s, true);
    ui_run(ui, "assert-screen pinned v0 now v");
    assert_int_equal(s->pin->version, 0);
    uint64_t version = s->newest;
    ui_run(ui, "n a\nassert-screen step 1\nassert-screen pinned v0\nC-/\nassert-screen step 0");
    snprintf(keys, sizeof keys, "C-x C-w \"%s/x.onnx\" RET\nassert-screen Wrote", folder);
    ui_run(ui, keys);
    for (int ms = 0; s->newest <= version && ms < 60000; ms++) {
        tg_jobs_dispatch(ui->jobs);
        usleep(1000);
    }
    assert_true(s->newest > version);
    ui_run(ui, "g\nassert-not pinned v0");
    assert_true(s->pin->version > 0);
    ui_run(ui, "C-c C-c\nassert-screen Training is paused");
    assert_false(s->training);
    ui_app_free(ui);
    snprintf(keys, sizeof keys, "%s/x.onnx", folder);
    assert_int_equal(unlink(keys), 0);
    rmdir(folder);
}

static void journal_is_resumed(void **state)
{
    char folder[] = "/tmp/regraft-test-XXXXXX", command[128], journal[512];
    (void)state;
    assert_non_null(mkdtemp(folder));
    setenv("XDG_STATE_HOME", folder, 1);
    char *model = ui_sample_file("squeezenet");
    ui_app *ui = ui_start(24, 80, true);
    ui->bare = false;
    assert_ok(ui_opt_assign("backend=model"));
    assert_ok(ui_opt_assign("train-threads=0"));
    assert_ok(ui_session_open(ui, model));
    ui_run(ui, "settle\nSPC SPC\nsettle\nC-/ n a\nsettle\nd h x\nsettle\nC-x C-s\nsettle\n"
               "assert-screen Wrote");
    snprintf(journal, sizeof journal, "%s", ui_journal_path(ui_session_get(ui)->journal));
    uint64_t hash = head_hash(ui);
    size_t states = ui_session_get(ui)->history->states.n, vetoed = ui_session_get(ui)->vetoes.n;
    ui->bare = true;
    ui_app_free(ui);
    ui = ui_start(24, 80, true);
    assert_ok(ui_opt_assign("train-threads=0"));
    assert_ok(ui_session_open(ui, journal));
    ui_run(ui, "settle\nassert-screen steps applied again\nsettle");
    assert_true(head_hash(ui) == hash);
    assert_int_equal(ui_session_get(ui)->history->states.n, states);
    assert_int_equal(ui_session_get(ui)->vetoes.n, vetoed);
    assert_int_equal(vetoed, 1);
    ui_app_free(ui);
    ui_sample_remove(model);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    unsetenv("XDG_STATE_HOME");
}

/* Whatever runs is stopped when the program ends. */
static void ends_in_the_middle(void **state)
{
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    ui_session_train(ui_session_get(ui), true);
    ui_run(ui, "m m m = U SPC SPC");
    ui_app_free(ui);
    ui = ui_start(24, 80, true);
    char *path = ui_sample_file("squeezenet");
    assert_ok(ui_session_open(ui, path));
    ui_app_free(ui);
    ui_sample_remove(path);
}

static void fits_any_screen(void **state)
{
    static const char *const sizes[] = {"6 20",   "10 40",  "12 40",  "24 60", "24 80",
                                        "30 100", "50 160", "60 200", "8 300"};
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "resize %s\nn p C-c C-l", sizes[i]);
        ui_run(ui, keys);
        ui_paint(ui);
        assert_true(ui_windows_tile(ui));
    }
    ui_app_free(ui);
}

/* Nothing that can be typed, and no size of the screen, breaks a session. */
static void random_keys(void **state)
{
    static const char *const keys[] = {
        "n",       "p",       "SPC",     "a",       "RET",     "m",      "u",       "U",
        "t",       "d s",     "d r",     "x",       "=",       "g",      "TAB",     "S-TAB",
        "1",       "3",       "M-1",     "M-2",     "M-3",     "M-4",    "W",       "M-n",
        "M-p",     "M-g n",   "M-g p",   "M-m",     "C-/",     "C-M-_",  "C-c C-n", "C-c C-u",
        "C-c C-r", "C-c C-k", "C-c C-l", "C-x o",   "C-x 2",   "C-x 3",  "C-x 0",   "C-x 1",
        "C-v",     "M-v",     "M-<",     "M->",     "C-u 3",   "C-u",    "C-g",     "q",
        "w",       "C-s a",   "C-e",     "C-c C-a", "C-c C-b", "settle", "?",       "C-x b",
    };
    (void)state;
    ui_app *ui = open_squeezenet(24, 80);
    tg_rng *rng = tg_rng_new(7);
    for (int round = 0; round < 60; round++) {
        tg_str text = {0};
        if (round % 5 == 0)
            tg_str_addf(&text, "resize %d %d\n", 4 + (int)(tg_rng_uniform(rng) * 50),
                        10 + (int)(tg_rng_uniform(rng) * 170));
        for (int i = 0; i < 12; i++)
            tg_str_addf(&text, "%s\n",
                        keys[(size_t)(tg_rng_uniform(rng) * (sizeof keys / sizeof *keys))]);
        tg_str_add(&text, "C-g C-g\nsettle\n");
        ui_run(ui, tg_str_text(&text));
        tg_str_free(&text);
        ui_paint(ui);
        assert_true(ui_windows_tile(ui));
        if (ui->exit) fail_msg("the program ended by itself");
    }
    tg_rng_free(rng);
    ui_app_free(ui);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(opens),
    cmocka_unit_test(steps_and_goes_back),
    cmocka_unit_test(overrides_and_branches),
    cmocka_unit_test(typed_ahead),
    cmocka_unit_test(point_stays_with_the_candidate),
    cmocka_unit_test(folds),
    cmocka_unit_test(vetoes),
    cmocka_unit_test(policies_are_kept),
    cmocka_unit_test(marks_by_regexp),
    cmocka_unit_test(marks_apply_together),
    cmocka_unit_test(goes_on_until),
    cmocka_unit_test(writes_files),
    cmocka_unit_test(bad_files_leave_the_session),
    cmocka_unit_test(trains_beside),
    cmocka_unit_test(journal_is_resumed),
    cmocka_unit_test(ends_in_the_middle),
    cmocka_unit_test(fits_any_screen),
    cmocka_unit_test(random_keys),
};
UNIT_MAIN(tests)
