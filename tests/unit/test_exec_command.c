/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backend `command`, with small shell scripts for the programs that people have. */
#include "tests/unit/exec_case.h"

#include "engine/base/clock.h"
#include "engine/base/process.h"
#include "engine/measure/bench.h"
#include "engine/onnx/onnx.h"

#include <dirent.h>
#include <sys/stat.h>

static char folder[4096]; /* for temporary files: whatever is left in it was not removed */

static tg_graph *any_graph(void)
{
    net m = net_new(1);
    tg_value x = net_input(&m, tg_shape_of(4, 4));
    return net_done(&m, net_node(&m, "Relu", "", x));
}

static int entries(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* The path of a script of these lines. */
static const char *script(const char *name, const char *lines)
{
    const char *path = unit_temporary(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\n%s\n", lines);
    fclose(f);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static tg_status measure(const char *line, double timeout_s, tg_latency *latency)
{
    tg_graph *g = any_graph();
    /* Less time than any program takes to start, so that one run is enough if it says enough. */
    tg_measure_options o = {.budget_ms = 1e-3, .command = {line, timeout_s, tg_onnx_save}};
    tg_latency l;
    tg_status status =
        tg_measure_graph(tg_backend_find("command"), g, true, &o, latency ? latency : &l);
    tg_graph_unref(g);
    assert_int_equal(entries(folder), 0);
    return status;
}

static void lines_are_samples(void **state)
{
    (void)state;
    tg_latency l;
    const char *path = script("five", "[ -s \"$2\" ] && [ \"$1\" = 'a b' ] || exit 9\n"
                                      "printf '4\\n2.5e0\\n\\n  1\\n5\\r\\n3'");
    char line[4200];
    snprintf(line, sizeof line, "%s 'a b'", path);
    assert_ok(measure(line, 0, &l));
    assert_int_equal(l.n, 5);
    assert_true(l.median_ms == 3);
    assert_true(l.low_ms >= 1 && l.high_ms <= 5);
    assert_true(isnan(l.sum_of_operators_ms));
    assert_ok(measure(script("many", "seq 1 30"), 0, &l));
    assert_int_equal(l.n, 30); /* what a run has told is not thrown away */
}

static void the_program_runs_until_there_is_enough(void **state)
{
    (void)state;
    tg_latency l;
    assert_ok(measure(script("one", "echo 2"), 0, &l));
    assert_int_equal(l.n, 5);
    assert_true(l.low_ms == 2 && l.high_ms == 2);
}

static void each_failure_is_one_clear_line(void **state)
{
    (void)state;
    static const struct {
        const char *name, *lines, *says;
    } cases[] = {
        {"status", "echo 1; echo first >&2; echo 'no such device' >&2; exit 3",
         "exit status 3: no such device"},
        {"killed", "echo dying >&2; kill -9 $$", "signal 9 (Killed): dying"},
        {"nothing", "echo 'needs a licence' >&2",
         "no milliseconds on its standard output; it said: "
         "needs a licence"},
        {"silent", "exit 0", "no milliseconds on its standard output"},
        {"words", "echo 1; echo; echo 'latency: 3 ms'",
         "line 3 of its output is no number of milliseconds: \"latency: 3 ms\""},
        {"unit", "echo '3 ms'", "no number of milliseconds: \"3 ms\""},
        {"negative", "echo -1", "no time that a run can take: -1"},
        {"zero", "echo 0", "no time that a run can take: 0"},
        {"nan", "echo nan", "no time that a run can take: nan"},
        {"infinite", "echo 1e999", "no time that a run can take: 1e999"},
        {"control", "printf 'a\\033[31mb\\n'", "\"a [31mb\""},
        {"long", "head -c 1000 /dev/zero | tr '\\0' x", "xxx...\""},
        {"much", "yes 1", "more than 1048576 bytes of output"},
        {"slow", "echo 1; sleep 30", "not done within 0.2 s"},
        {"deaf", "exec >&- 2>&-; sleep 30", "not done within 0.2 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = script(cases[i].name, cases[i].lines);
        bool hangs = strstr(cases[i].says, "0.2 s") != NULL;
        assert_status(measure(path, hangs ? 0.2 : 20, NULL),
                      hangs || strstr(cases[i].says, "bytes") ? TG_LIMIT : TG_BACKEND);
        assert_contains(tg_message(), cases[i].says);
        assert_contains(tg_message(), path);
        assert_null(strchr(tg_message(), '\n'));
        assert_true(strlen(tg_message()) < 500);
    }
}

static void what_cannot_be_started(void **state)
{
    (void)state;
    assert_status(measure("no-such-program-anywhere -x", 0, NULL), TG_NOTFOUND);
    assert_contains(tg_message(), "no-such-program-anywhere: cannot be started: No such file");
    const char *path = script("plain", "echo 1");
    assert_int_equal(chmod(path, 0600), 0);
    assert_status(measure(path, 0, NULL), TG_NOTFOUND);
    assert_contains(tg_message(), "Permission denied");
    assert_status(measure(" ", 0, NULL), TG_USAGE);
    assert_status(measure("a 'b", 0, NULL), TG_USAGE);
    assert_contains(tg_message(), "quote");
    assert_status(measure("", 0, NULL), TG_USAGE);
    assert_status(measure(NULL, 0, NULL), TG_USAGE);
}

static void words_are_cut_as_a_shell_does(void **state)
{
    (void)state;
    static const char *const want[] = {"prog", "a b", "c\"d\\e$\\x", "f'g h", "", "$HOME;|"};
    char **words;
    int n;
    assert_ok(tg_process_words(" prog 'a b'\t\"c\\\"d\\\\e\\$\\x\"  f\\'\"g h\" '' $HOME;| ",
                               &words, &n));
    assert_int_equal(n, 6);
    for (int i = 0; i < n; i++) assert_string_equal(words[i], want[i]);
    assert_null(words[n]);
    tg_process_words_free(words);
    assert_status(tg_process_words("\"", &words, &n), TG_USAGE);
    assert_status(tg_process_words("''", &words, &n), TG_USAGE);
}

/* True once the process is gone, or waits for nothing but that somebody takes note. */
static bool has_gone(long pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f) return true;
    bool read = fgets(text, sizeof text, f) != NULL;
    fclose(f);
    const char *paren = strrchr(text, ')');
    return !read || (paren && (paren[2] == 'Z' || paren[2] == 'X'));
}

/* What the program starts and leaves behind, and files that it puts beside the model. */
static void nothing_is_left(void **state)
{
    (void)state;
    char line[8300], mark[4096];
    long pid = 0;
    snprintf(mark, sizeof mark, "%s", unit_temporary("mark"));
    const char *path = script("leaves", "sleep 600 &\necho $! >\"$1\"\nd=$(dirname \"$2\")\n"
                                        "mkdir \"$d/cache\"; touch \"$d/cache/x\"\n"
                                        "seq 1 9");
    snprintf(line, sizeof line, "%s %s", path, mark);
    assert_ok(measure(line, 60, NULL)); /* its child was not waited for */
    FILE *f = fopen(mark, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld", &pid), 1);
    fclose(f);
    for (int i = 0; i < 1000 && !has_gone(pid); i++) usleep(10000);
    assert_true(has_gone(pid));
}

static tg_status unwilling(const tg_graph *g, const char *path)
{
    (void)g;
    return tg_fail(TG_IO, "%s: no", path);
}

static void a_graph_that_cannot_be_saved(void **state)
{
    (void)state;
    tg_graph *g = any_graph();
    tg_plan *plan;
    tg_plan_options o = {.command = {"true", 0, unwilling}};
    assert_status(tg_plan_new(tg_backend_find("command"), g, &o, &plan), TG_IO);
    assert_int_equal(entries(folder), 0);
    tg_graph_unref(g);
}

static void values_are_not_to_be_had(void **state)
{
    (void)state;
    tg_graph *g = any_graph();
    tg_tensor *in, out;
    tg_plan *plan;
    double ms[64];
    tg_plan_options o = {.command = {"true", 0, tg_onnx_save}};
    assert_ok(tg_plan_new(tg_backend_find("command"), g, &o, &plan));
    assert_int_equal(entries(folder), 1);
    assert_ok(tg_inputs_draw(g, 1, &in));
    assert_status(tg_plan_run(plan, in, &out), TG_UNSUPPORTED);
    assert_contains(tg_message(), "command");
    assert_status(tg_plan_profile(plan, ms), TG_UNSUPPORTED);
    assert_status(tg_measure_nodes(tg_backend_find("command"), g, NULL, ms), TG_UNSUPPORTED);
    tg_inputs_free(in, g->n_inputs);
    tg_plan_free(plan);
    assert_int_equal(entries(folder), 0);
    tg_graph_unref(g);
}

/* A program that counts the bytes of the model: the larger one is slower. */
static void two_graphs_are_compared(void **state)
{
    (void)state;
    tg_graph *a = any_graph();
    net m = net_new(2);
    tg_value x = net_input(&m, tg_shape_of(4, 4));
    tg_graph *b = net_done(&m, net_node(&m, "MatMul", "", x, net_weight(&m, tg_shape_of(4, 64))));
    tg_measure_options o = {
        .budget_ms = 50,
        .command = {script("counts", "n=$(wc -c <\"$1\"); for i in 0 1 2 3 4 5 6 7 8 9 \"\" \"\" 1 "
                                     "2 3 4 5 6 7 8; do echo $n; done"),
                    0, tg_onnx_save}};
    tg_comparison c;
    assert_ok(tg_measure_compare(tg_backend_find("command"), a, b, &o, &c));
    assert_int_equal(c.verdict, TG_SLOWER);
    assert_true(c.ratio > 2 && fabs(c.after_ms / c.before_ms - c.ratio) < 1e-9);
    assert_true(c.n % 10 == 0); /* all of each run */
    assert_ok(tg_measure_compare(tg_backend_find("command"), a, a, &o, &c));
    assert_int_equal(c.verdict, TG_SAME);
    assert_int_equal(entries(folder), 0);
    tg_graph_unref(a);
    tg_graph_unref(b);
}

/* ---- cancelling ---- */

typedef struct waiting {
    tg_graph *g;
    const char *line;
    int64_t ended;
} waiting;

static tg_status wait_long(tg_job *job, void *ctx)
{
    waiting *w = ctx;
    tg_latency l;
    tg_measure_options o = {.command = {w->line, 60, tg_onnx_save}, .job = job};
    tg_status status = tg_measure_graph(tg_backend_find("command"), w->g, false, &o, &l);
    w->ended = tg_clock_ns();
    return status;
}

static void is_cancelled(void *ctx, tg_status status, const char *message)
{
    (void)ctx, (void)message;
    assert_int_equal(status, TG_CANCELLED);
}

static void cancelling_ends_the_program(void **state)
{
    (void)state;
    waiting w = {.g = any_graph(), .line = script("sleeps", "sleep 60")};
    tg_jobs *jobs = tg_jobs_new(1);
    tg_job *job = tg_jobs_start(jobs, wait_long, is_cancelled, &w);
    while (!tg_measure_turn_held()) usleep(1000); /* it has the machine to itself */
    usleep(50000);
    int64_t asked = tg_clock_ns();
    tg_job_cancel(job);
    while (tg_jobs_busy(jobs)) {
        tg_jobs_dispatch(jobs);
        usleep(1000);
    }
    assert_true(w.ended - asked < 10000000000); /* not the minute */
    assert_false(tg_measure_turn_held());
    assert_int_equal(entries(folder), 0);
    tg_job_unref(job);
    tg_jobs_free(jobs);
    tg_graph_unref(w.g);
}

static int use_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", unit_temporary("tmp"));
    return mkdir(folder, 0700) != 0 || setenv("TMPDIR", folder, 1) != 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(lines_are_samples, use_folder),
    cmocka_unit_test(the_program_runs_until_there_is_enough),
    cmocka_unit_test(each_failure_is_one_clear_line),
    cmocka_unit_test(what_cannot_be_started),
    cmocka_unit_test(words_are_cut_as_a_shell_does),
    cmocka_unit_test(nothing_is_left),
    cmocka_unit_test(a_graph_that_cannot_be_saved),
    cmocka_unit_test(values_are_not_to_be_had),
    cmocka_unit_test(two_graphs_are_compared),
    cmocka_unit_test(cancelling_ends_the_program),
};
UNIT_MAIN(tests)
