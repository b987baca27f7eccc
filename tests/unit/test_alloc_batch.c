/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands without a screen, each in a process of its own in which one allocation fails: the
 * process ends with status 1 and one line, and leaves no file half written.
 */
#include "tests/unit/files.h"

#include "engine/base/alloc.h"
#include "engine/base/str.h"
#include "engine/engine.h"
#include "samples/samples.h"
#include "tui/batch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each of the first allocations, then ever fewer. */
enum { EACH = 24, SHARE = 6, SECONDS = 60 };

static char model[256], saved[256], said[256], data[256];

static void send_to(const char *path, int fd)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, fd) < 0) _exit(99);
    close(file);
}

/* What the command ends with if its k-th allocation fails; 0: it did not come so far. */
static int run_failing(int argc, const char *const *argv, long k)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ui_options o;
        alarm(SECONDS);
        send_to("/dev/null", STDOUT_FILENO);
        send_to(said, STDERR_FILENO);
        tg_alloc_fail_after(k);
        if (ui_options_parse(argc, argv, &o) != TG_OK || !o.command) _exit(98);
        _exit(ui_batch(&o));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("%s: allocation %ld: signal %d", argv[1], k, WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void check_words(const char *command, long k)
{
    char *text;
    size_t size;
    int lines = 0;
    assert_ok(tg_read_file(said, 1 << 20, &text, &size));
    for (const char *at = text; *at; at++) lines += *at == '\n';
    if (lines != 1 || !strstr(text, "out of memory"))
        fail_msg("%s: allocation %ld: %d lines: %s", command, k, lines, text);
    free(text);
}

/* A file that is there is whole. */
static void check_saved(void)
{
    tg_graph *g;
    if (access(saved, F_OK) != 0) return;
    assert_ok(tg_onnx_load(saved, NULL, &g));
    tg_graph_unref(g);
}

static void each_failure_ends_it(int argc, const char *const *argv)
{
    unlink(saved);
    assert_int_equal(run_failing(argc, argv, 0), 0);
    unlink(saved);
    int files = count_files(unit_folder), status;
    long k = 1;
    for (; (status = run_failing(argc, argv, k)) != 0; k += k < EACH ? 1 : k / SHARE) {
        if (status != 1) fail_msg("%s: allocation %ld: status %d", argv[1], k, status);
        check_words(argv[1], k);
        check_saved();
        unlink(saved);
        assert_int_equal(count_files(unit_folder), files);
    }
    assert_true(k > EACH);
}

#define EACH_FAILURE_ENDS(...)                                                                     \
    do {                                                                                           \
        const char *const argv_[] = {"regraft", __VA_ARGS__};                                      \
        each_failure_ends_it((int)(sizeof argv_ / sizeof *argv_), argv_);                          \
    } while (0)

static void candidates(void **state)
{
    (void)state;
    EACH_FAILURE_ENDS("candidates", model, "--quiet");
    EACH_FAILURE_ENDS("candidates", model, "--quiet", "--json");
}

static void optimize(void **state)
{
    (void)state;
    EACH_FAILURE_ENDS("optimize", model, "-o", saved, "--backend", "model", "--quiet", "--budget",
                      "4");
}

static void check(void **state)
{
    (void)state;
    EACH_FAILURE_ENDS("check", model, model, "--quiet");
}

static void conform(void **state)
{
    (void)state;
    EACH_FAILURE_ENDS("conform", data, "--quiet");
}

static void run(void **state)
{
    (void)state;
    char in[300], out[300];
    snprintf(in, sizeof in, "%s/test_data_set_0", data);
    snprintf(out, sizeof out, "%s/out", data);
    EACH_FAILURE_ENDS("run", model, "--inputs", in, "--outputs", out, "--quiet");
}

static void export_and_sample(void **state)
{
    (void)state;
    char picture[300];
    snprintf(picture, sizeof picture, "%s/picture.svg", data);
    EACH_FAILURE_ENDS("export", model, "-o", picture, "--quiet");
    EACH_FAILURE_ENDS("sample", "conv-bn", "-o", saved, "--quiet");
}

static void train(void **state)
{
    (void)state;
    char policy[300], curves[300];
    snprintf(policy, sizeof policy, "%s/policy.rgc", data);
    snprintf(curves, sizeof curves, "%s/curves", data);
    EACH_FAILURE_ENDS("train", model, "-c", policy, "--events", curves, "--episodes", "1",
                      "--quiet");
}

static void write_values(const char *kind, const tg_tensor *t, int i, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/test_data_set_0/%s_%d.pb", data, kind, i);
    assert_ok(tg_onnx_write_value(path, name, t));
}

/* The model, also in the layout of the ONNX test data. */
static int set_up(void **state)
{
    (void)state;
    tg_graph *g;
    tg_tensor *in, out[TG_MAX_PORTS];
    char path[300];
    snprintf(model, sizeof model, "%s", unit_temporary("model.onnx"));
    snprintf(saved, sizeof saved, "%s", unit_temporary("saved.onnx"));
    snprintf(said, sizeof said, "%s", unit_temporary("said"));
    snprintf(data, sizeof data, "%s", unit_temporary("data"));
    assert_ok(tg_write_file(said, "", 0));
    assert_ok(tg_sample_build("conv-bn", 1, false, &g));
    assert_ok(tg_onnx_save(g, model));
    snprintf(path, sizeof path, "%s/test_data_set_0", data);
    assert_true(mkdir(data, 0700) == 0 && mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/model.onnx", data);
    assert_ok(tg_onnx_save(g, path));
    assert_ok(tg_inputs_draw(g, 1, &in));
    assert_ok(tg_reference_run(g, in, out));
    for (uint32_t i = 0; i < g->n_inputs; i++)
        write_values("input", &in[i], (int)i, g->nodes[g->inputs[i]]->name);
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++) {
        write_values("output", &out[i], i, g->output_names[i]);
        tg_tensor_free(&out[i]);
    }
    tg_inputs_free(in, g->n_inputs);
    tg_graph_unref(g);
    return 0;
}

static const struct CMUnitTest tests[] = {cmocka_unit_test_setup(candidates, set_up),
                                          cmocka_unit_test(optimize),
                                          cmocka_unit_test(check),
                                          cmocka_unit_test(conform),
                                          cmocka_unit_test(run),
                                          cmocka_unit_test(export_and_sample),
                                          cmocka_unit_test(train)};
UNIT_MAIN(tests)
