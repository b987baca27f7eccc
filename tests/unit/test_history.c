/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "engine/engine.h"
#include "samples/samples.h"
#include "tui/journal.h"

#include <math.h>
#include <sys/stat.h>

/* A session: the root of conv-bn, its two rewrites in one order, then in the other. */
typedef struct session {
    tg_rules *rules;
    tg_graph *root;
    tg_history *h;
} session;

static const tg_step_info by_agent = {TG_BY_AGENT, 0.5, 1, false, 3, 1.25};
static const tg_step_info by_you = {TG_BY_YOU, 0.25, 2, true, 4, NAN};

static int start(void **state)
{
    session *s = calloc(1, sizeof *s);
    const char *dir = unit_source("rules");
    assert_ok(tg_rules_load(&dir, 1, &s->rules));
    assert_ok(tg_sample_build("conv-bn", 1, true, &s->root));
    s->h = tg_history_new(s->root);
    *state = s;
    return 0;
}

static int stop(void **state)
{
    session *s = *state;
    tg_history_free(s->h);
    tg_graph_unref(s->root);
    tg_rules_unref(s->rules);
    free(s);
    return 0;
}

/* Takes the candidate of HEAD whose site contains a node with this name. */
static int take(session *s, const char *rule, const char *name, const tg_step_info *info,
                bool *linked)
{
    tg_candidates *c;
    tg_trail *next = NULL;
    int head = s->h->head, id;
    assert_ok(tg_candidates_find(s->rules, tg_history_head(s->h)->trail->graph, NULL, &c));
    for (int i = 0; i < tg_candidates_count(c) && !next; i++) {
        const tg_site *site = tg_candidates_get(c, i)->site;
        const char *words = tg_site_words(tg_candidates_graph(c), site);
        if (strcmp(tg_rules_get(s->rules, site->rule)->name, rule) == 0 && strstr(words, name))
            assert_ok(tg_trail_step(tg_history_get(s->h, head)->trail, c, i, &next));
    }
    assert_non_null(next);
    id = tg_history_add(s->h, head, next, info, linked);
    tg_trail_unref(next);
    tg_candidates_free(c);
    return id;
}

#define FOLD "fold-batchnorm-into-conv"

static void history_is_a_tree(void **state)
{
    session *s = *state;
    bool linked;
    int a = take(s, FOLD, "Conv_1", &by_agent, &linked);
    assert_false(linked);
    int ab = take(s, FOLD, "Conv_9", &by_agent, NULL);
    assert_int_equal(tg_history_depth(s->h, ab), 2);
    assert_true(tg_history_undo(s->h) && tg_history_undo(s->h));
    assert_false(tg_history_undo(s->h));
    int b = take(s, FOLD, "Conv_9", &by_you, &linked);
    assert_false(linked);
    assert_true(b != a);
    /* The other order leads to the same graph: no second node. */
    assert_int_equal(take(s, FOLD, "Conv_1", &by_you, &linked), ab);
    assert_true(linked);
    int leaves;
    assert_int_equal(tg_history_count(s->h, &leaves), 4);
    assert_int_equal(leaves, 2);
    tg_history_go(s->h, 0);
    assert_true(tg_history_redo(s->h)); /* to the branch that HEAD came from last */
    assert_int_equal(s->h->head, a);
    tg_history_prune(s->h, a);
    assert_int_equal(s->h->head, 0);
    assert_int_equal(tg_history_count(s->h, &leaves), 2);
    assert_true(tg_history_redo(s->h));
    assert_int_equal(s->h->head, b);
}

static const char *temporary(void)
{
    static char path[64];
    snprintf(path, sizeof path, "history-%d.rgj", (int)getpid());
    return path;
}

static void write_journal(session *s, const char *path)
{
    ui_journal *j;
    static const char *const dims[] = {"batch=4"};
    assert_ok(ui_journal_create(path, "m.onnx", s->root->hash, 9, dims, 1, &j));
    int a = take(s, FOLD, "Conv_1", &by_agent, NULL);
    assert_ok(ui_journal_step(j, tg_history_get(s->h, a)));
    tg_state *state = tg_history_get(s->h, a);
    state->against_parent = (tg_comparison){2, 1.5, 0.75, 0.7, 0.8, TG_FASTER, 20, 0};
    assert_ok(ui_journal_measure(j, state, "cpu"));
    assert_ok(ui_journal_tag(j, a, "half"));
    assert_ok(ui_journal_head(j, 0));
    uint64_t site = 77;
    assert_ok(ui_journal_veto(j, "some-rule", &site, false));
    int b = take(s, FOLD, "Conv_9", &by_you, NULL);
    assert_ok(ui_journal_step(j, tg_history_get(s->h, b)));
    ui_journal_close(j);
}

static void a_journal_holds_what_was_written(void **state)
{
    session *s = *state;
    ui_journal_log log;
    write_journal(s, temporary());
    assert_ok(ui_journal_read(temporary(), &log));
    assert_int_equal(log.lost, 0);
    assert_int_equal(log.entries.n, 7);
    const ui_journal_entry *e = log.entries.v;
    assert_int_equal(e[0].kind, UI_J_START);
    assert_string_equal(e[0].text, "m.onnx");
    assert_true(e[0].hash == s->root->hash);
    assert_string_equal(e[0].dims[0], "batch=4");
    assert_int_equal(e[1].kind, UI_J_STEP);
    assert_string_equal(e[1].text, FOLD);
    assert_true(e[1].hash == tg_history_get(s->h, 1)->trail->graph->hash);
    assert_int_equal(e[1].info.who, TG_BY_AGENT);
    assert_int_equal(e[1].info.version, 3);
    assert_true(e[2].comparison.ratio == 0.75);
    assert_string_equal(e[3].text, "half");
    assert_int_equal(e[4].state, 0);
    assert_true(e[5].has_site && e[5].site == 77);
    assert_true(e[6].info.override && e[6].info.who == TG_BY_YOU);
    ui_journal_log_done(&log);
    unlink(temporary());
}

/* Cut anywhere, it reads up to the last whole record and can be gone on with. */
static void a_cut_journal_loses_only_its_end(void **state)
{
    session *s = *state;
    char *bytes;
    size_t size, last = 0;
    write_journal(s, temporary());
    assert_ok(tg_read_file(temporary(), 1 << 20, &bytes, &size));
    for (size_t cut = size; cut > 0; cut--) {
        ui_journal_log log;
        assert_ok(tg_write_file(temporary(), bytes, cut));
        tg_status status = ui_journal_read(temporary(), &log);
        if (status != TG_OK) {
            assert_int_equal(status, TG_FORMAT);
            assert_contains(tg_message(), temporary());
            continue;
        }
        assert_int_equal(log.good_size + log.lost, cut);
        assert_true(cut == size || log.entries.n <= 7);
        if (last) assert_true(log.entries.n <= last);
        last = log.entries.n;
        ui_journal_log_done(&log);
    }
    ui_journal *j;
    ui_journal_log log;
    assert_ok(tg_write_file(temporary(), bytes, size - 3));
    assert_ok(ui_journal_read(temporary(), &log));
    assert_int_equal(log.entries.n, 6);
    assert_ok(ui_journal_append(temporary(), log.good_size, &j));
    assert_ok(ui_journal_head(j, 1));
    ui_journal_close(j);
    ui_journal_log_done(&log);
    assert_ok(ui_journal_read(temporary(), &log));
    assert_int_equal(log.entries.n, 7);
    assert_int_equal(log.lost, 0);
    ui_journal_log_done(&log);
    free(bytes);
    unlink(temporary());
}

static void damaged_journals_are_refused_or_cut(void **state)
{
    session *s = *state;
    char *bytes;
    size_t size;
    write_journal(s, temporary());
    assert_ok(tg_read_file(temporary(), 1 << 20, &bytes, &size));
    for (size_t i = 0; i < size; i++) {
        ui_journal_log log;
        bytes[i] ^= 0x55;
        assert_ok(tg_write_file(temporary(), bytes, size));
        if (ui_journal_read(temporary(), &log) == TG_OK) {
            assert_true(log.entries.n < 7 && log.lost > 0); /* the CRC caught it */
            ui_journal_log_done(&log);
        }
        bytes[i] ^= 0x55;
    }
    free(bytes);
    unlink(temporary());
    ui_journal_log log;
    assert_status(ui_journal_read("nosuch.rgj", &log), TG_IO);
}

#define WITH_SESSION(f) cmocka_unit_test_setup_teardown(f, start, stop)

static const struct CMUnitTest tests[] = {
    WITH_SESSION(history_is_a_tree),
    WITH_SESSION(a_journal_holds_what_was_written),
    WITH_SESSION(a_cut_journal_loses_only_its_end),
    WITH_SESSION(damaged_journals_are_refused_or_cut),
};
UNIT_MAIN(tests)
