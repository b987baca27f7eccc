/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rules: the library listed, shown and proved, without a screen. */
#include "tui/app.h"
#include "tui/show.h"
#include "tui/work.h"

#include <string.h>

UI_FAMILY(library);

static json_t *info_json(const tg_rule_info *info)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i}", "name", info->name, "family", info->family,
                     "about", info->about, "file", info->file, "line", info->line);
}

static tg_status list_rules(ui_app *ui, const ui_args *args, const tg_rules *rules)
{
    json_t *list = json_array();
    for (int i = 0; i < tg_rules_count(rules); i++) {
        const tg_rule_info *info = tg_rules_get(rules, i);
        if (ui_arg_flag(args, "json")) json_array_append_new(list, info_json(info));
        else ui_printf(ui, "%-8s %-38s %s\n", info->family, info->name, info->about);
    }
    if (ui_arg_flag(args, "json")) ui_print_json(ui, json_pack("{s:O}", "rules", list));
    json_decref(list);
    return TG_OK;
}

static tg_status show_rule(ui_app *ui, const ui_args *args, const tg_rules *rules)
{
    const char *name = ui_arg(args, "name");
    if (!name) return tg_fail(TG_USAGE, "rules show needs the name of a rule");
    int i = tg_rules_find(rules, name);
    if (i < 0) return tg_fail(TG_NOTFOUND, "no rule is called %s", name);
    const tg_rule_info *info = tg_rules_get(rules, i);
    if (ui_arg_flag(args, "json")) {
        json_t *json = info_json(info);
        json_object_set_new(json, "text", ui_json_text(info->text));
        ui_print_json(ui, json);
    } else {
        tg_str text = {0};
        ui_show(&text, info->text, strlen(info->text), true);
        ui_printf(ui, "# %s:%d\n", info->file, info->line);
        tg_str_addc(&text, '\n');
        ui_print(ui, tg_str_text(&text));
        tg_str_free(&text);
    }
    return TG_OK;
}

/* What one proof came to, in words that hold for both forms of output. */
static void proof_words(tg_status status, const tg_rule_report *r, tg_str *out)
{
    if (status != TG_OK) {
        tg_str_add(out, tg_message());
        return;
    }
    tg_rule_report_text(r, out);
}

/* What the graph was that showed it, indented or as comments. */
static void print_detail(ui_app *ui, const char *detail, const char *before)
{
    while (*detail) {
        int n = (int)strcspn(detail, "\n");
        ui_printf(ui, "%s%.*s\n", before, n, detail);
        detail += n + (detail[n] == '\n');
    }
}

typedef struct proofs {
    ui_app *ui;
    const ui_args *args;
    json_t *list;
    int run, failed;
} proofs;

static void print_proof(proofs *p, const tg_rule_info *info, tg_status status,
                        const tg_rule_report *r)
{
    tg_str words = {0};
    proof_words(status, r, &words);
    if (ui_arg_flag(p->args, "json")) {
        json_t *json = info_json(info);
        json_object_set_new(json, "proved", json_boolean(status == TG_OK));
        json_object_set_new(json, "samples", json_integer(r->samples));
        json_object_set_new(json, "exact", json_boolean(r->exact));
        json_object_set_new(json, "worst", ui_json_number(r->worst));
        json_object_set_new(json, "sites", json_integer(r->sites));
        json_object_set_new(json, "refused", json_integer(r->refused));
        json_object_set_new(json, "proved_over_field", json_boolean(tg_rule_proved_exactly(r)));
        json_object_set_new(json, "field_sites", json_integer(r->field));
        json_object_set_new(json, "field_points", json_integer(r->points));
        json_object_set_new(json, "degree", ui_json_number(r->degree));
        json_object_set_new(json, "false_passes_below", ui_json_number(r->slip));
        json_object_set_new(json, "conditions", json_integer(r->conditions));
        json_object_set_new(json, "conditions_earned", json_integer(r->earned));
        if (r->detail[0]) json_object_set_new(json, "detail", ui_json_text(r->detail));
        json_object_set_new(json, "words", ui_json_text(tg_str_text(&words)));
        json_array_append_new(p->list, json);
    } else if (ui_arg_flag(p->args, "tap")) {
        ui_printf(p->ui, "%s %d - %s: %s\n", status == TG_OK ? "ok" : "not ok", p->run, info->name,
                  tg_str_text(&words));
        print_detail(p->ui, r->detail, "#   ");
    } else {
        ui_printf(p->ui, "%-7s %-38s %s\n", status == TG_OK ? "proved" : "FAILED", info->name,
                  tg_str_text(&words));
        print_detail(p->ui, r->detail, "    ");
    }
    tg_str_free(&words);
}

static tg_status check_rules(ui_app *ui, const ui_args *args, const tg_rules *rules)
{
    proofs p = {.ui = ui, .args = args, .list = json_array()};
    const char *name = ui_arg(args, "name");
    int only = name ? tg_rules_find(rules, name) : -1, n = tg_rules_count(rules);
    if (name && only < 0) {
        json_decref(p.list);
        return tg_fail(TG_NOTFOUND, "no rule is called %s", name);
    }
    if (ui_arg_flag(args, "tap")) ui_printf(ui, "1..%d\n", name ? 1 : n);
    for (int i = 0; i < n; i++) {
        tg_rule_report report = {0};
        if (only >= 0 && i != only) continue;
        p.run++;
        tg_status status = tg_rule_prove(rules, i, (uint64_t)ui_arg_int(args, "seed"),
                                         (int)ui_arg_int(args, "samples"), &report);
        p.failed += status != TG_OK;
        print_proof(&p, tg_rules_get(rules, i), status, &report);
    }
    if (ui_arg_flag(args, "json"))
        ui_print_json(
            ui, json_pack("{s:i, s:i, s:O}", "run", p.run, "failed", p.failed, "rules", p.list));
    json_decref(p.list);
    if (!p.failed || ui_arg_flag(args, "tap")) return TG_OK;
    return tg_fail(TG_DIFFERS, "%d of %d rules are not proved", p.failed, p.run);
}

DEFCMD(
    rules, "rules",
    "batch; [action]:choice(list|check|show|generate|cover) What to do (list); [name]:text A rule; "
    "--samples:count=150 Graphs drawn for each rule (check); --tap:flag Print TAP (check); "
    "--operators:text Operators of the rules, commas between (generate); "
    "--max-nodes:count=3 Operators of a side, 1 to 4 (generate); "
    "--variables:count=4 Variables of a rule, 1 to 4 (generate); "
    "-o --out:path Rule file to write (generate); "
    "--against:path Rules to compare with (generate, cover); "
    "--steps:count=5 Rewrites in a row (cover)" OPT_RULES OPT_SEED OPT_JSON OPT_QUIET,
    "List the rewrite rules, show one, prove them, or find new ones.\n\n"
    "check draws graphs that each rule fits, awkward shapes among them, runs both sides with the "
    "reference kernels and compares; each sound condition must be needed. Where the operators "
    "allow it both sides are also equal exactly, at random points of a prime field, and the "
    "chance that a false rule passes is printed. Exit status 3 if one fails.\n\n"
    "generate enumerates small graphs of the operators, pairs those that compute the same in a "
    "prime field, leaves out what follows from other rules and proves the rest; on all cores. "
    "Stopped, it goes on where it was (FILE.part) when it is run again. cover tells for each rule "
    "of --against how many of the rules in a row do the same.")
{
    static const struct {
        const char *name;
        tg_status (*run)(ui_app *ui, const ui_args *args, const tg_rules *rules);
    } actions[] = {{"list", list_rules},
                   {"check", check_rules},
                   {"show", show_rule},
                   {"cover", ui_work_cover}};
    tg_rules *rules;
    const char *action = ui_arg(args, "action");
    if (action && strcmp(action, "generate") == 0) return ui_work_generate(ui, args);
    TG_TRY(ui_work_rules(args, &rules));
    tg_status status = TG_OK;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(action ? action : "list", actions[i].name) == 0)
            status = actions[i].run(ui, args, rules);
    tg_rules_unref(rules);
    return status;
}
