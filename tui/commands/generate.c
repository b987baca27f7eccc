/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rules generate and rules cover. */
#include "tui/app.h"
#include "tui/work.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OPERATORS = 32 };

/* ---- what rules cover ----------------------------------------------------------------------- */

/* Of n rules: by one rewrite, by several. */
typedef struct tally {
    int n, one, several;
} tally;

static tally count_steps(const int *steps, int n)
{
    tally t = {.n = n};
    for (int i = 0; i < n; i++) {
        t.one += steps[i] >= 0 && steps[i] <= 1;
        t.several += steps[i] > 1;
    }
    return t;
}

static json_t *tally_json(const tally *t)
{
    return json_pack("{s:i, s:i, s:i}", "rules", t->n, "by_one", t->one, "by_several", t->several);
}

static void print_steps(ui_app *ui, const tg_rules *rules, const int *steps)
{
    for (int i = 0; i < tg_rules_count(rules); i++) {
        const tg_rule_info *info = tg_rules_get(rules, i);
        char words[32] = "not covered";
        if (steps[i] >= 0) snprintf(words, sizeof words, "%d in a row", steps[i]);
        ui_printf(ui, "%-12s %-28s %s\n", words, info->name, info->about);
    }
}

static tg_status load_against(const ui_args *args, tg_rules **out)
{
    const char *path = ui_arg(args, "against");
    if (!path) return tg_fail(TG_USAGE, "rules cover needs --against FILE");
    return tg_rules_load(&path, 1, out);
}

static json_t *steps_json(const tg_rules *rules, const int *steps)
{
    json_t *list = json_array();
    for (int i = 0; i < tg_rules_count(rules); i++)
        json_array_append_new(
            list, json_pack("{s:s, s:i}", "name", tg_rules_get(rules, i)->name, "steps", steps[i]));
    return list;
}

tg_status ui_work_cover(ui_app *ui, const ui_args *args, const tg_rules *rules)
{
    tg_rules *against;
    TG_TRY(load_against(args, &against));
    int n = tg_rules_count(against), *steps = tg_calloc((size_t)n + 1, sizeof *steps);
    tg_status status =
        tg_rules_cover(rules, against, (int)ui_arg_int(args, "steps"), ui_work_interrupts(), steps);
    if (status == TG_OK) {
        tally t = count_steps(steps, n);
        if (ui_arg_flag(args, "json")) {
            json_t *json = tally_json(&t);
            json_object_set_new(json, "steps", steps_json(against, steps));
            ui_print_json(ui, json);
        } else {
            print_steps(ui, against, steps);
            ui_printf(ui, "%d of %d covered: %d by one rule, %d by several in a row\n",
                      t.one + t.several, t.n, t.one, t.several);
        }
    }
    free(steps);
    tg_rules_unref(against);
    return status;
}

/* ---- generating ----------------------------------------------------------------------------- */

/* The names between commas, in `text`, which is cut up. */
static int cut_names(char *text, const char **names)
{
    int n = 0;
    for (char *at = strtok(text, ", "); at && n < MOST_OPERATORS; at = strtok(NULL, ", "))
        names[n++] = at;
    return n;
}

static void show_progress(void *ctx, const tg_generate_progress *p)
{
    ui_progress *bar = ctx;
    if (strcmp(p->stage, "expressions") == 0) {
        ui_progress_show(bar, 0, "%s: %zu expressions of up to %d operators", p->world,
                         p->expressions, p->size);
        return;
    }
    ui_progress_show(bar, p->of ? (double)p->done / (double)p->of : 0,
                     "%s %zu of %zu: %d kept, %d follow, %d wrong", p->stage, p->done, p->of,
                     p->kept, p->followed, p->wrong);
}

/* What both sets have that the other has not. */
typedef struct comparison {
    tally covered; /* rules of the file */
    tally known;   /* rules found that the file covers */
    tg_str missed; /* names of rules of the file */
} comparison;

static tg_status cover(const tg_rules *others, const tg_rules *rules, int most, tally *out,
                       tg_str *missed)
{
    int n = tg_rules_count(rules), *steps = tg_calloc((size_t)n + 1, sizeof *steps);
    tg_status status = tg_rules_cover(others, rules, most, ui_work_interrupts(), steps);
    *out = count_steps(steps, n);
    for (int i = 0; i < n && missed && status == TG_OK; i++)
        if (steps[i] < 0)
            tg_str_addf(missed, "%s%s", missed->n ? " " : "", tg_rules_get(rules, i)->name);
    free(steps);
    return status;
}

static tg_status compare(const ui_args *args, const char *text, const tg_rules *against,
                         comparison *out)
{
    tg_rules *found;
    int steps = (int)ui_arg_int(args, "steps");
    TG_TRY(tg_rules_parse(text, "generated.rules", &found));
    tg_status status = cover(found, against, steps, &out->covered, &out->missed);
    if (status == TG_OK) status = cover(against, found, steps, &out->known, NULL);
    tg_rules_unref(found);
    return status;
}

static void add_head(const ui_args *args, const tg_generate_progress *p, tg_str *out)
{
    tg_str_addf(
        out,
        "# SPDX-License-Identifier: GPL-3.0-or-later\n"
        "# regraft rules generate --operators %s --max-nodes %d --variables %d --seed %" PRId64
        " -o FILE\n"
        "# %d rules: of %zu expressions, %d pairs follow from them and %d are not right in "
        "general.\n\n",
        ui_arg(args, "operators"), (int)ui_arg_int(args, "max-nodes"),
        (int)ui_arg_int(args, "variables"), (int64_t)ui_arg_int(args, "seed"), p->kept,
        p->expressions, p->followed, p->wrong);
}

static void report_json(ui_app *ui, const tg_generate_progress *p, const comparison *c,
                        double seconds)
{
    json_t *json =
        json_pack("{s:i, s:i, s:i, s:I, s:f}", "rules", p->kept, "follow", p->followed, "wrong",
                  p->wrong, "expressions", (json_int_t)p->expressions, "seconds", seconds);
    if (c) {
        json_object_set_new(json, "against", tally_json(&c->covered));
        json_object_set_new(json, "known", tally_json(&c->known));
        json_object_set_new(json, "missed", json_string(tg_str_text(&c->missed)));
    }
    ui_print_json(ui, json);
}

static void report_words(ui_app *ui, const ui_args *args, const tg_generate_progress *p,
                         const comparison *c, double seconds)
{
    ui_printf(ui, "%d rules from %zu expressions in %.0f s (%d pairs follow, %d are wrong)\n",
              p->kept, p->expressions, seconds, p->followed, p->wrong);
    if (!c) return;
    ui_printf(ui, "%s: %d of %d rules covered, %d by one rule, %d by several in a row\n",
              ui_arg(args, "against"), c->covered.one + c->covered.several, c->covered.n,
              c->covered.one, c->covered.several);
    if (c->missed.n) ui_printf(ui, "not covered: %s\n", tg_str_text(&c->missed));
    ui_printf(ui, "%d of the %d rules found are not covered by it\n",
              c->known.n - c->known.one - c->known.several, c->known.n);
}

static tg_status report(ui_app *ui, const ui_args *args, const tg_generate_progress *p,
                        const char *text, const tg_rules *against, double seconds)
{
    comparison c = {.missed = {0}};
    tg_status status = against ? compare(args, text, against, &c) : TG_OK;
    const comparison *known = against ? &c : NULL;
    if (status == TG_OK && ui_arg_flag(args, "json")) report_json(ui, p, known, seconds);
    else if (status == TG_OK) report_words(ui, args, p, known, seconds);
    tg_str_free(&c.missed);
    return status;
}

static tg_status generate(ui_app *ui, const ui_args *args, const tg_generate_options *options,
                          const char *out, const tg_rules *against)
{
    tg_str text = {0}, file = {0};
    tg_generate_progress last;
    int64_t start = tg_clock_ns();
    tg_status status = tg_generate(options, &text, &last);
    ui_progress_end(options->ctx);
    double seconds = (double)(tg_clock_ns() - start) * 1e-9;
    if (status == TG_CANCELLED)
        status = tg_fail(TG_CANCELLED, "stopped; the same command goes on from %s", options->state);
    add_head(args, &last, &file);
    tg_str_add(&file, tg_str_text(&text));
    if (status == TG_OK) status = tg_write_file(out, file.p, file.n);
    if (status == TG_OK) remove(options->state);
    if (status == TG_OK) status = report(ui, args, &last, tg_str_text(&text), against, seconds);
    tg_str_free(&text);
    tg_str_free(&file);
    return status;
}

static tg_status check_out(const char *path)
{
    struct stat at;
    if (stat(path, &at) == 0 && S_ISDIR(at.st_mode))
        return tg_fail(TG_IO, "%s: %s", path, strerror(EISDIR));
    return TG_OK;
}

tg_status ui_work_generate(ui_app *ui, const ui_args *args)
{
    const char *operators = ui_arg(args, "operators"), *out = ui_arg(args, "out");
    const char *names[MOST_OPERATORS];
    if (!operators) return tg_fail(TG_USAGE, "rules generate needs --operators LIST");
    if (!out) return tg_fail(TG_USAGE, "rules generate needs -o FILE");
    char *text = tg_strdup(operators);
    tg_str state = {0};
    ui_progress bar = {.what = "generate", .quiet = ui_arg_flag(args, "quiet")};
    tg_str_addf(&state, "%s.part", out);
    tg_generate_options options = {.operators = names,
                                   .n_operators = cut_names(text, names),
                                   .max_nodes = (int)ui_arg_int(args, "max-nodes"),
                                   .variables = (int)ui_arg_int(args, "variables"),
                                   .threads = (int)sysconf(_SC_NPROCESSORS_ONLN),
                                   .seed = (uint64_t)ui_arg_int(args, "seed"),
                                   .state = tg_str_text(&state),
                                   .job = ui_work_interrupts(),
                                   .progress = show_progress,
                                   .ctx = &bar};
    /* What cannot come to an end does not begin. */
    tg_rules *against = NULL;
    tg_status status = check_out(out);
    if (status == TG_OK && ui_arg(args, "against")) status = load_against(args, &against);
    if (status == TG_OK) status = generate(ui, args, &options, out, against);
    tg_rules_unref(against);
    tg_str_free(&state);
    free(text);
    return status;
}
