/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands on models with tensors: run, conform. */
#include "tui/app.h"
#include "tui/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

UI_FAMILY(tensors);

static tg_status run_graph(const ui_args *args, const tg_graph *g, const tg_tensor *in,
                           tg_tensor *out)
{
    tg_plan *plan;
    tg_plan_options options = {.threads = (int)ui_arg_int(args, "threads")};
    if (strcmp(ui_arg(args, "backend"), "reference") == 0) return tg_reference_run(g, in, out);
    TG_TRY(tg_plan_new(tg_backend_find(ui_arg(args, "backend")), g, &options, &plan));
    tg_status status = tg_plan_run(plan, in, out);
    tg_plan_free(plan);
    return status;
}

static tg_status write_outputs(const tg_graph *g, const char *folder, const tg_tensor *out)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return tg_fail(TG_IO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++) {
        tg_str path = {0};
        tg_str_addf(&path, "%s/output_%d.pb", folder, i);
        tg_status status = tg_onnx_write_value(path.p, g->output_names[i], &out[i]);
        tg_str_free(&path);
        TG_TRY(status);
    }
    return TG_OK;
}

static void free_tensors(tg_tensor *t, int n)
{
    for (int i = 0; i < n; i++) tg_tensor_free(&t[i]);
    free(t);
}

static tg_status run_into(const ui_args *args, ui_dataset *inputs)
{
    tg_graph *g;
    tg_tensor *in;
    TG_TRY(ui_dataset_load(args, ui_arg(args, "model"), inputs, &g, &in));
    int n = tg_graph_sink(g)->n_in;
    tg_tensor *out = tg_calloc((size_t)n, sizeof *out);
    tg_status status = run_graph(args, g, in, out);
    if (status == TG_OK) status = write_outputs(g, ui_arg(args, "outputs"), out);
    free_tensors(out, n);
    free(in);
    tg_graph_unref(g);
    return status;
}

DEFCMD(
    run_model, "run",
    "batch; model:file Model; --inputs:folder Folder with input_K.pb; --outputs:folder Folder for "
    "output_K.pb; "
    "--backend:choice(cpu|reference)=cpu What runs" OPT_THREADS OPT_DIM OPT_QUIET,
    "Run a model on tensors.\n\n"
    "Inputs are files of an ONNX TensorProto, of a SequenceProto or OptionalProto where the model\n"
    "takes one, taken by the name inside, else by their number. Symbolic dimensions take the "
    "sizes\n"
    "of the inputs.")
{
    ui_dataset inputs = {0};
    if (!ui_arg(args, "inputs") || !ui_arg(args, "outputs"))
        return tg_fail(TG_USAGE, "run needs --inputs DIR and --outputs DIR");
    ui_dataset_read(ui_arg(args, "inputs"), "input", &inputs);
    tg_status status = run_into(args, &inputs);
    ui_dataset_done(&inputs);
    return status;
}

/* ---- conform */

typedef enum result { PASSED, FAILED, SKIPPED, UNSUPPORTED, RESULTS } result;

static const char *const result_names[] = {"passed", "failed", "skipped", "unsupported"};

typedef struct conform {
    ui_app *ui;
    const ui_args *args;
    tg_rules *rules; /* NULL: models run as they are */
    json_t *cases;
    int count[RESULTS];
} conform;

/*
 * Judged against the largest element: single elements may be tiny, and their relative error says
 * nothing. Half precision has 11 bits, bfloat16 has 8.
 */
static double tolerance(tg_dtype t)
{
    return t == TG_F16 ? 2e-3 : t == TG_BF16 ? 1e-2 : 1e-4;
}

static tg_status compare(const char *name, const tg_tensor *want, const tg_tensor *got);

static tg_status compare_lists(const char *name, const tg_list *want, const tg_list *got)
{
    if (want->n != got->n)
        return tg_fail(TG_DIFFERS, "output %s has %lld items, expected %lld", name,
                       (long long)got->n, (long long)want->n);
    for (int64_t i = 0; i < want->n; i++) {
        tg_status status = compare(name, &want->item[i].tensor, &got->item[i].tensor);
        if (status != TG_OK) return tg_wrap(status, "item %lld", (long long)i);
    }
    return TG_OK;
}

static tg_status compare(const char *name, const tg_tensor *want, const tg_tensor *got)
{
    char a[TG_SHAPE_TEXT], b[TG_SHAPE_TEXT];
    double worst = 0, scale = 0;
    if (want->dtype != got->dtype || !tg_shape_equal(&want->shape, &got->shape))
        return tg_fail(TG_DIFFERS, "output %s is %s %s, expected %s %s", name,
                       tg_dtype_name(got->dtype), tg_shape_text(a, &got->shape),
                       tg_dtype_name(want->dtype), tg_shape_text(b, &want->shape));
    if (tg_dtype_is_list(want->dtype))
        return compare_lists(name, tg_list_of(want), tg_list_of(got));
    int64_t n = tg_tensor_count(want);
    if (tg_dtype_kind(want->dtype) != 'f') {
        return tg_tensor_equal(want, got) ? TG_OK
                                          : tg_fail(TG_DIFFERS, "output %s: elements differ", name);
    }
    for (int64_t i = 0; i < n; i++) {
        double x = tg_tensor_f64(want, i), y = tg_tensor_f64(got, i);
        if (x == y || (isnan(x) && isnan(y))) continue;
        if (!isfinite(x) || !isfinite(y))
            return tg_fail(TG_DIFFERS, "output %s: element %lld is %g, expected %g", name,
                           (long long)i, y, x);
        worst = fmax(worst, fabs(x - y));
    }
    for (int64_t i = 0; i < n; i++)
        if (isfinite(tg_tensor_f64(want, i))) scale = fmax(scale, fabs(tg_tensor_f64(want, i)));
    if (worst <= tolerance(want->dtype) * scale + 1e-7) return TG_OK;
    return tg_fail(TG_DIFFERS, "output %s differs by %.3g where the largest element is %.3g", name,
                   worst, scale);
}

static tg_status compare_all(const tg_graph *g, ui_dataset *outputs, const tg_tensor *got)
{
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++) {
        const tg_tensor *want;
        TG_TRY(ui_dataset_get(outputs, g->output_names[i], (size_t)i, got[i].dtype, &want));
        if (!want) continue; /* the data may leave outputs out */
        TG_TRY(compare(g->output_names[i], want, &got[i]));
    }
    return TG_OK;
}

/* With --by, the model is rewritten first. */
static tg_status rewrite(const conform *c, tg_graph **g)
{
    tg_search_report report;
    tg_trail *best;
    if (!c->rules) return TG_OK;
    tg_search_options options = {.seed = 1};
    TG_TRY(tg_search_run(tg_search_find(ui_arg(c->args, "by")), c->rules, *g, &options, &report,
                         &best));
    tg_graph_unref(*g);
    *g = tg_graph_ref(best->graph);
    tg_trail_unref(best);
    return TG_OK;
}

/* What is no test of this program, whatever came of it: random numbers, and training. */
static char *why_no_test(const tg_graph *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        const tg_op_row *row = tg_op_get(node->op);
        const char *name = row->name, *what = NULL;
        if (row->flags & TG_RANDOM || strcmp(name, "Dropout") == 0) what = "random operator";
        if (node->op == TG_OP_OPAQUE &&
            strcmp(tg_node_attr(node, "domain")->s, "ai.onnx.preview.training") == 0) {
            name = tg_node_attr(node, "op_type")->s;
            what = "training operator";
        }
        if (!what) continue;
        tg_str words = {0};
        tg_str_addf(&words, "%s %s", what, name);
        return words.p;
    }
    return NULL;
}

/* *why, from malloc: the case says nothing about this program. */
static tg_status try_set(const conform *c, const char *model, ui_dataset *inputs,
                         ui_dataset *outputs, char **why)
{
    tg_graph *g;
    tg_tensor *in;
    TG_TRY(ui_dataset_load(c->args, model, inputs, &g, &in));
    int n = tg_graph_sink(g)->n_in;
    tg_tensor *out = tg_calloc((size_t)n, sizeof *out);
    tg_status status = tg_inputs_check(g, in);
    if (status != TG_OK) {
        status = tg_wrap(status, "the data do not fit the model");
        *why = tg_strdup(tg_message());
    }
    if (status == TG_OK) status = rewrite(c, &g);
    if (status == TG_OK) status = run_graph(c->args, g, in, out);
    if (status == TG_OK) status = compare_all(g, outputs, out);
    if (status == TG_DIFFERS || status == TG_UNSUPPORTED) *why = why_no_test(g);
    free_tensors(out, n);
    free(in);
    tg_graph_unref(g);
    return status;
}

static void record(conform *c, const char *name, result r, const char *why)
{
    c->count[r]++;
    json_array_append_new(c->cases, json_pack("{s:o, s:s, s:o}", "name", ui_json_text(name),
                                              "result", result_names[r], "why", ui_json_text(why)));
    if (ui_arg_flag(c->args, "json") || (r == PASSED && !ui_arg_flag(c->args, "verbose"))) return;
    ui_printf(c->ui, "%-11s %s%s%s\n", result_names[r], name, why[0] ? ": " : "", why);
}

static void one_set(conform *c, const char *model, const char *folder)
{
    ui_dataset inputs = {0}, outputs = {0};
    char *why = NULL;
    ui_dataset_read(folder, "input", &inputs);
    ui_dataset_read(folder, "output", &outputs);
    if (!outputs.items.n) {
        record(c, folder, SKIPPED, "no outputs to compare with");
    } else {
        tg_status status = try_set(c, model, &inputs, &outputs, &why);
        result r = status == TG_OK ? PASSED : status == TG_UNSUPPORTED ? UNSUPPORTED : FAILED;
        if (why) r = SKIPPED;
        record(c, folder, r, status == TG_OK ? "" : why ? why : tg_message());
    }
    free(why);
    ui_dataset_done(&inputs);
    ui_dataset_done(&outputs);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef TG_VEC(char *) paths;

static void close_folder(void *dir)
{
    closedir(dir);
}

static void list_folders(const char *folder, paths *out)
{
    DIR *dir = opendir(folder);
    if (dir) tg_unwind_push(close_folder, dir);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        tg_str path = {0};
        struct stat st;
        tg_str_addf(&path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.' && stat(path.p, &st) == 0 && S_ISDIR(st.st_mode))
            tg_vec_push(out, path.p);
        else tg_str_free(&path);
    }
    if (dir) {
        tg_unwind_pop(dir);
        closedir(dir);
    }
    if (out->n) qsort(out->v, out->n, sizeof *out->v, by_name);
}

/* A folder with model.onnx is a case; any other is looked through. */
static void visit(conform *c, const char *folder, int depth)
{
    paths inside = {0};
    tg_str model = {0};
    tg_str_addf(&model, "%s/model.onnx", folder);
    bool is_case = access(model.p, R_OK) == 0;
    list_folders(folder, &inside);
    int sets = 0;
    for (size_t i = 0; i < inside.n; i++) {
        const char *base = strrchr(inside.v[i], '/') + 1;
        if (is_case && tg_starts_with(base, "test_data_set_")) {
            one_set(c, model.p, inside.v[i]);
            sets++;
        } else if (!is_case && depth > 0) {
            visit(c, inside.v[i], depth - 1);
        }
        free(inside.v[i]);
    }
    if (is_case && !sets) record(c, folder, SKIPPED, "no test_data_set_K beside the model");
    tg_vec_free(&inside);
    tg_str_free(&model);
}

/* A folder that a person names and that holds no case is a mistake. */
static tg_status visit_named(conform *c, const char *dir)
{
    int before = 0, after = 0;
    for (int i = 0; i < RESULTS; i++) before += c->count[i];
    visit(c, dir, 3);
    for (int i = 0; i < RESULTS; i++) after += c->count[i];
    if (after > before) return TG_OK;
    return tg_fail(TG_NOTFOUND, "%s: no model.onnx with a test_data_set_0 beside it", dir);
}

static void print_counts(conform *c, int run)
{
    if (ui_arg_flag(c->args, "json"))
        ui_print_json(c->ui, json_pack("{s:i, s:i, s:i, s:i, s:i, s:O}", "run", run, "passed",
                                       c->count[PASSED], "failed", c->count[FAILED], "skipped",
                                       c->count[SKIPPED], "unsupported", c->count[UNSUPPORTED],
                                       "cases", c->cases));
    else
        ui_printf(c->ui, "%d run: %d passed, %d failed, %d unsupported, %d skipped\n", run,
                  c->count[PASSED], c->count[FAILED], c->count[UNSUPPORTED], c->count[SKIPPED]);
}

DEFCMD(
    conform, "conform",
    "batch; dir...:folder Folders in the layout of the ONNX test data; "
    "--by:choice(none|greedy|taso|beam|saturate|random)=none Rewrite each model first; "
    "--backend:choice(cpu|reference)=cpu What runs; --verbose:flag Name what passed too" OPT_RULES
        OPT_THREADS OPT_DIM OPT_JSON OPT_QUIET,
    "Compare models with the outputs stored beside them.\n\n"
    "DIR holds model.onnx and test_data_set_K/input_J.pb, output_J.pb, or folders that do. What "
    "is\n"
    "no test is skipped and named: numbers drawn at random, training, data that contradict their\n"
    "model. Exit status 3 if any case failed.")
{
    conform c = {.ui = ui, .args = args, .cases = json_array()};
    tg_status status = TG_OK;
    if (strcmp(ui_arg(args, "by"), "none") != 0) status = ui_work_rules(args, &c.rules);
    const char *dir;
    for (int i = 0; status == TG_OK && (dir = ui_arg_nth(args, "dir", i)); i++) {
        if (access(dir, R_OK) != 0) status = tg_fail(TG_IO, "%s: %s", dir, strerror(errno));
        else status = visit_named(&c, dir);
    }
    int run = c.count[PASSED] + c.count[FAILED] + c.count[UNSUPPORTED];
    if (status == TG_OK) print_counts(&c, run);
    json_decref(c.cases);
    tg_rules_unref(c.rules);
    if (status == TG_OK && c.count[FAILED])
        status = tg_fail(TG_DIFFERS, "%d of %d cases failed", c.count[FAILED], run);
    return status;
}
