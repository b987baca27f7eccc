/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "taso.h"

static void print_json(ui_app *ui, const tg_taso_report *r)
{
    json_t *rules = json_array();
    for (int i = 0; i < r->n_rules; i++)
        json_array_append_new(rules, json_pack("{s:s, s:i, s:i}", "rule", r->rules[i].rule, "full",
                                               r->rules[i].full, "graphs", r->rules[i].graphs));
    ui_print_json(ui, json_pack("{s:{s:o, s:i, s:i}, s:i, s:i, s:f}", "taso", "rules", rules,
                                "loops", r->loops, "distinct", r->distinct, "nodes", r->nodes,
                                "operators", r->ops, "enumerate_ms", r->ms));
}

tg_status ui_taso_print(ui_app *ui, const ui_args *args, const tg_graph *g)
{
    const char *path = ui_arg(args, "rules");
    tg_taso_report r;
    if (!path) return tg_fail(TG_USAGE, "--taso-exact needs --rules with a file of TASO's");
    TG_TRY(tg_taso_exact(path, g, NULL, &r));
    if (ui_arg_flag(args, "json")) {
        print_json(ui, &r);
    } else {
        ui_printf(ui, "%d nodes, %d operators as TASO counts them, %.2f ms\n", r.nodes, r.ops,
                  r.ms);
        ui_printf(ui, "%-6s %8s %10s %9s %7s %6s %9s\n", "rule", "matches", "bad shape", "external",
                  "graphs", "loops", "distinct");
        for (int i = 0; i < r.n_rules; i++) {
            const tg_taso_count *c = &r.rules[i];
            ui_printf(ui, "%-6s %8d %10d %9d %7d %6d %9d\n", c->rule, c->full, c->bad_shape,
                      c->external, c->graphs, c->loops, c->distinct);
        }
        ui_printf(ui, "%-6s %8s %10s %9s %7d %6d %9d\n", "all", "", "", "", r.graphs, r.loops,
                  r.distinct);
    }
    tg_taso_report_done(&r);
    return TG_OK;
}
