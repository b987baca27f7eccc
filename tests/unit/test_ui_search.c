/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches in the explorer: what they find is a branch like any other, whatever happens meanwhile.
 */
#include "tests/unit/ui_run.h"

#include <dirent.h>
#include <math.h>

static ui_app *open_sample(const char *name)
{
    ui_app *ui = ui_start(24, 80, true);
    ui_open_sample(ui, name);
    return ui;
}

static void wait_for_jobs(ui_app *ui)
{
    while (tg_jobs_busy(ui->jobs) || tg_jobs_dispatch(ui->jobs)) {
        tg_jobs_dispatch(ui->jobs);
        usleep(1000);
    }
}

static uint64_t head_hash(ui_session *s)
{
    return ui_session_head(s)->trail->graph->hash;
}

/* The steps from the root to HEAD are those of a search alone. */
static void check_against(ui_session *s, const char *name)
{
    tg_search_report report;
    tg_trail *best;
    tg_search_options options = {.seed = s->seed};
    const tg_graph *root = tg_history_get(s->history, 0)->trail->graph;
    assert_ok(tg_search_run(tg_search_find(name), s->rules, root, &options, &report, &best));
    assert_true(best->depth > 1);
    assert_int_equal(tg_history_depth(s->history, s->history->head), best->depth);
    assert_true(head_hash(s) == best->graph->hash);
    assert_string_equal(s->found.report.stop, report.stop);
    assert_int_equal(s->found.report.expansions, report.expansions);
    tg_trail_unref(best);
}

static void steps_become_a_branch(void **state)
{
    (void)state;
    ui_app *ui = open_sample("squeezenet");
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "C-c C-o \"greedy\" RET\nsettle\nassert-screen greedy: ");
    check_against(s, "greedy");
    for (int at = s->history->head; at > 0; at = tg_history_get(s->history, at)->parent) {
        const tg_state *step = tg_history_get(s->history, at);
        assert_int_equal(step->info.who, TG_BY_SEARCH);
        assert_false(isnan(step->max_abs_error)); /* it was verified */
    }
    uint64_t best = head_hash(s);
    size_t states = s->history->states.n;
    ui_run(ui, "C-c C-r\nsettle\nC-c C-o \"greedy\" RET\nsettle");
    assert_int_equal(s->history->states.n, states); /* the same way again */
    assert_true(head_hash(s) == best);
    ui_run(ui, "M-x \"search-report\" RET\nassert-screen Search by greedy from state 0");
    ui_run(ui, "q C-/\nsettle");
    assert_int_equal(tg_history_depth(s->history, s->history->head), s->found.steps - 1);
    ui_app_free(ui);
}

static void nothing_cheaper_is_said(void **state)
{
    (void)state;
    ui_app *ui = open_sample("conv-bn");
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "C-c C-o \"saturate\" RET\nsettle\nC-c C-o \"greedy\" RET\nsettle\n"
               "assert-screen greedy finds nothing cheaper");
    assert_int_equal(s->found.from, s->found.to);
    ui_run(ui, "M-x \"run-search\" RET \"nosuch\" RET\nassert-screen No match\nC-g");
    ui_app_free(ui);
}

/* Until so many graphs were looked at. */
static void wait_until_it_runs(ui_app *ui, ui_session *s, int graphs)
{
    for (int n = 0; n < graphs && s->choosing;) {
        tg_str words = {0};
        tg_jobs_dispatch(ui->jobs);
        ui_session_search_status(s, &words);
        if (words.p && sscanf(words.p, " exhaustive %d", &n) != 1) n = 0;
        tg_str_free(&words);
        usleep(1000);
    }
    assert_non_null(s->choosing);
}

static ui_app *start_endless(void)
{
    ui_app *ui = open_sample("squeezenet");
    ui_session *s = ui_session_get(ui);
    assert_ok(ui_opt_assign("search-budget=100000000"));
    assert_ok(ui_session_search(s, tg_search_find("exhaustive")));
    wait_until_it_runs(ui, s, 50);
    assert_int_equal(ui_session_search(s, tg_search_find("greedy")), TG_USAGE);
    return ui;
}

static void what_is_done_meanwhile_stays(void **state)
{
    (void)state;
    ui_app *ui = start_endless();
    ui_session *s = ui_session_get(ui);
    assert_ok(ui_session_take(s, 1, TG_BY_YOU));
    while (s->stepping || s->viewing) {
        tg_jobs_dispatch(ui->jobs);
        usleep(1000);
    }
    int head = s->history->head;
    assert_true(head > 0);
    assert_true(ui_session_cancel(s)); /* C-g */
    wait_for_jobs(ui);
    assert_null(s->choosing);
    assert_int_equal(s->history->head, head);
    assert_string_equal(s->found.report.stop, "cancelled");
    assert_true(s->found.steps > 0);
    assert_true(s->found.ms < tg_history_get(s->history, 0)->trail->cost_ms);
    ui_session_go(s, s->found.to);
    wait_for_jobs(ui);
    assert_int_equal(tg_history_depth(s->history, s->found.to), s->found.steps);
    ui_app_free(ui);
}

static void a_search_can_be_given_up(void **state)
{
    (void)state;
    ui_app *ui = start_endless();
    ui_session *s = ui_session_get(ui);
    assert_true(ui_session_search_end(s, true));
    wait_for_jobs(ui);
    assert_null(s->choosing);
    assert_null(s->found.search);
    assert_int_equal(s->history->states.n, 1);
    assert_false(ui_session_search_end(s, true));
    ui_app_free(ui);
    ui = start_endless(); /* and the program can be left */
    ui_app_free(ui);
}

static void vetoed_rules_are_left_out(void **state)
{
    (void)state;
    ui_app *ui = open_sample("squeezenet");
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "C-c C-o \"greedy\" RET\nsettle");
    const char *rule = ui_session_head(s)->trail->taken.rule;
    ui_session_go(s, 0);
    wait_for_jobs(ui);
    ui_session_veto(s, rule, 0, false);
    wait_for_jobs(ui);
    ui_run(ui, "C-c C-o \"greedy\" RET\nsettle");
    for (int at = s->history->head; at > 0; at = tg_history_get(s->history, at)->parent)
        assert_string_not_equal(tg_history_get(s->history, at)->trail->taken.rule, rule);
    ui_app_free(ui);
}

/* The only journal in a folder, freed by the caller; all other files go. */
static char *only_journal(const char *folder)
{
    char *found = NULL;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        tg_str path = {0};
        if (e->d_name[0] == '.') continue;
        tg_str_addf(&path, "%s/%s", folder, e->d_name);
        if (!strstr(e->d_name, ".rgj")) {
            unlink(path.p);
            tg_str_free(&path);
            continue;
        }
        assert_null(found);
        found = path.p;
    }
    closedir(dir);
    assert_non_null(found);
    return found;
}

static void open_and_wait(ui_app *ui, const char *path)
{
    assert_ok(ui_session_open(ui, path));
    wait_for_jobs(ui);
    assert_non_null(ui_session_get(ui));
}

/* A branch beside HEAD, merged operators and all, is there again after a crash. */
static void the_journal_holds_the_branch(void **state)
{
    (void)state;
    char folder[] = "/tmp/regraft-search-XXXXXX", states[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
    snprintf(states, sizeof states, "%s/regraft", folder);
    char *model = ui_sample_file("attention");
    ui_opt_reset();
    assert_ok(ui_opt_assign("backend=model"));
    assert_ok(ui_opt_assign("train-threads=0"));
    ui_app *ui = ui_app_new(ui_term_memory(24, 80, true), false);
    open_and_wait(ui, model);
    ui_session *s = ui_session_get(ui);
    ui_run(ui, "C-c C-o \"saturate\" RET\nsettle\nC-/ C-/\nsettle\nC-c C-o \"taso\" RET\nsettle");
    size_t n = s->history->states.n;
    uint64_t hash = head_hash(s),
             found = tg_history_get(s->history, (int)n - 1)->trail->graph->hash;
    assert_true(n > 3);
    ui_app_free(ui);
    char *journal = only_journal(states);
    ui = ui_app_new(ui_term_memory(24, 80, true), true);
    open_and_wait(ui, journal);
    s = ui_session_get(ui);
    assert_int_equal(s->history->states.n, n);
    assert_true(head_hash(s) == hash);
    assert_true(tg_history_get(s->history, (int)n - 1)->trail->graph->hash == found);
    assert_int_equal(ui_session_head(s)->info.who, TG_BY_SEARCH);
    ui_app_free(ui);
    unlink(journal);
    free(journal);
    assert_int_equal(rmdir(states), 0);
    assert_int_equal(rmdir(folder), 0);
    ui_sample_remove(model);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(steps_become_a_branch),        cmocka_unit_test(nothing_cheaper_is_said),
    cmocka_unit_test(what_is_done_meanwhile_stays), cmocka_unit_test(a_search_can_be_given_up),
    cmocka_unit_test(vetoed_rules_are_left_out),    cmocka_unit_test(the_journal_holds_the_branch),
};

UNIT_MAIN(tests)
