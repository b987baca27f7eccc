/* SPDX-License-Identifier: GPL-3.0-or-later */
/* train: a policy from models, without a screen. */
#include "tui/app.h"
#include "tui/work.h"

#include "agent/agent.h"

#include <string.h>

UI_FAMILY(train);

typedef TG_VEC(tg_graph *) graphs;

static tg_status load_all(const ui_args *args, graphs *models)
{
    const char *path;
    for (int i = 0; (path = ui_arg_nth(args, "model", i)); i++) {
        tg_graph *g;
        TG_TRY(ui_work_load(args, path, &g));
        tg_vec_push(models, g);
    }
    return TG_OK;
}

/* Until `episodes` in all have been played or the trainer stops by itself. */
static tg_status train_until(ag_agent *agent, ui_progress *progress, uint64_t episodes,
                             uint64_t all)
{
    ag_stats stats;
    do {
        bool over = ag_agent_wait(agent, 0.05);
        ag_agent_stats(agent, &stats);
        ui_progress_show(progress, (double)stats.run_episodes / (double)all,
                         "episode %llu of %llu, policy v%llu, best %.1f%%",
                         (unsigned long long)stats.run_episodes, (unsigned long long)all,
                         (unsigned long long)stats.version, stats.best_percent);
        if (over) break;
    } while (stats.run_episodes < episodes);
    if (stats.phase == AG_FAILED || stats.phase == AG_DIVERGED)
        return tg_fail(TG_INVALID, "training stopped: %s",
                       stats.message[0] ? stats.message : ag_phase_name(stats.phase));
    return TG_OK;
}

static json_t *result_json(const ui_args *args, int i, const ag_stats *stats)
{
    return json_pack("{s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "model",
                     ui_json_text(ui_arg_nth(args, "model", i)), "episodes",
                     (json_int_t)stats->episodes, "policy_version", (json_int_t)stats->version,
                     "first_ms", stats->first_ms, "best_ms", stats->best_ms, "best_percent",
                     stats->best_percent, "mean_reward", stats->mean_reward, "entropy",
                     (double)stats->report.entropy);
}

/* The models take turns: each gets its share of the episodes, the policy goes on. */
static tg_status train_on(ui_app *ui, const ui_args *args, ag_agent *agent, const graphs *models)
{
    uint64_t all = (uint64_t)ui_arg_int(args, "episodes");
    ui_progress progress = {.what = "training", .quiet = ui_arg_flag(args, "quiet")};
    json_t *results = json_array();
    tg_status status = ag_agent_start(agent);
    for (size_t i = 0; i < models->n && status == TG_OK; i++) {
        ag_stats stats;
        ag_agent_follow(agent, models->v[i], NULL, 0, NULL, 0);
        status = train_until(agent, &progress, all * (i + 1) / models->n, all);
        ag_agent_stats(agent, &stats);
        json_array_append_new(results, result_json(args, (int)i, &stats));
        ui_progress_end(&progress);
        if (!ui_arg_flag(args, "json"))
            ui_printf(ui, "%s: predicted %.4f -> %.4f ms (%.1f%%) at episode %llu, policy v%llu\n",
                      ui_arg_nth(args, "model", (int)i), stats.first_ms, stats.best_ms,
                      stats.best_percent, (unsigned long long)stats.run_episodes,
                      (unsigned long long)stats.version);
    }
    if (status == TG_OK) status = ag_agent_save(agent, ui_arg(args, "checkpoint"));
    if (status == TG_OK && ui_arg_flag(args, "json"))
        ui_print_json(ui, json_pack("{s:o, s:s}", "models", json_incref(results), "checkpoint",
                                    ui_arg(args, "checkpoint")));
    json_decref(results);
    return status;
}

static tg_status train_all(ui_app *ui, const ui_args *args, const graphs *models)
{
    tg_rules *rules;
    ag_agent *agent;
    TG_TRY(ui_work_rules(args, &rules));
    ag_options o = {
        .checkpoint = ui_arg(args, "checkpoint"),
        .events = ui_arg(args, "events"),
        .backend = strcmp(ui_arg(args, "backend"), "model") == 0 ? NULL : ui_work_backend(args),
        .threads = (int)ui_arg_int(args, "threads"),
        .seed = (uint64_t)ui_arg_int(args, "seed"),
        .foreground = true,
        .most_episodes = (uint64_t)ui_arg_int(args, "episodes")};
    tg_status status = ag_agent_new(rules, &o, &agent);
    if (status == TG_OK) {
        status = train_on(ui, args, agent, models);
        ag_agent_free(agent);
    }
    tg_rules_unref(rules);
    return status;
}

DEFCMD(
    train, "train",
    "batch; model...:file Models to train on; -c --checkpoint:path Policy file, read if it is "
    "there; "
    "--episodes:count=1000 Episodes in all; --events:folder Folder for TensorBoard and CSV curves; "
    "--backend:choice(model|cpu)=model What the reward is measured with; --threads:count=1 Threads "
    "that play "
    "episodes" OPT_RULES OPT_DIM OPT_SEED OPT_JSON OPT_QUIET,
    "Train a policy without a screen.\n\n"
    "With the model backend and one seed a run repeats bit for bit. The policy goes to the "
    "checkpoint.")
{
    graphs models = {0};
    if (!ui_arg(args, "checkpoint")) return tg_fail(TG_USAGE, "train needs -c FILE");
    if (ui_arg_int(args, "episodes") < 1) return tg_fail(TG_USAGE, "--episodes must be at least 1");
    tg_status status = load_all(args, &models);
    if (status == TG_OK) status = train_all(ui, args, &models);
    for (size_t i = 0; i < models.n; i++) tg_graph_unref(models.v[i]);
    tg_vec_free(&models);
    return status;
}
