/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The menu of the agent: training and the policy. */
#include "tui/command.h"
#include "tui/menu.h"
#include "tui/session.h"

UI_FAMILY(agent);

DEFCMD(toggle_training, "toggle-training", "",
       "Pause training, or start it and go on.\n\nIt runs beside, on copies of the graph.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_session_train(s, !s->training);
    ui_message(ui, s->training ? "Training" : "Training is paused");
    return TG_OK;
}

DEFCMD(adopt_policy, "adopt-policy", "",
       "Pin the newest policy and rank the candidates by it.\n\nUntil the next key the ranks that "
       "changed are marked with arrows.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_session_adopt(s);
    return TG_OK;
}

DEFCMD(agent_status, "agent-status", "", "Say how far training is.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    const ag_stats *t = &s->stats;
    ui_message(
        ui, "v%llu, %llu episodes (%.0f a minute), mean reward %+.2f%%, best %.4g ms (−%.1f%%)%s%s",
        (unsigned long long)t->version, (unsigned long long)t->episodes, t->episodes_per_minute,
        t->mean_reward, t->best_ms, t->best_percent, t->message[0] ? "; " : "", t->message);
    return TG_OK;
}

DEFCMD(save_policy, "save-policy", "file:file Write policy to file",
       "Write the newest policy to a checkpoint.\n\nThe last one of that name is kept with a ~ "
       "behind it.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    return ui_session_save_policy(s, ui_arg(args, "file"));
}

DEFCMD(load_policy, "load-policy", "file:file Load policy from file",
       "Go on with the policy of a checkpoint, pinned at once.\n\nTraining goes on from it.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    return ui_session_load_policy(s, ui_arg(args, "file"));
}

DEFCMD(agent, "agent", "", "Show the menu of the agent: steps, searches, training, policy.")
{
    static const ui_menu_argument arguments[] = {
        {'s', "Seed, from next model", UI_OPT_seed},
        {'n', "Threads, next model", UI_OPT_train_threads},
        {0},
    };
    static const ui_menu_item steps[] = {
        {"n", "Step", "step", NULL},
        {"u", "Step back", "unstep", NULL},
        {"b", "Step until", "step-until", NULL},
        {"c", "Pause", "interrupt", NULL},
        {0},
    };
    static const ui_menu_item searches[] = {
        {"o", "Search", "run-search", NULL},
        {"k", "End it", "cancel-job", NULL},
        {"r", "Report", "search-report", NULL},
        {0},
    };
    static const ui_menu_item training[] = {
        {"t", "Train or pause", "toggle-training", NULL},
        {"s", "Status", "agent-status", NULL},
        {0},
    };
    static const ui_menu_item policy[] = {
        {"g", "Adopt the newest", "adopt-policy", NULL},
        {"w", "Write", "save-policy", NULL},
        {"l", "Load", "load-policy", NULL},
        {0},
    };
    static const ui_menu_group groups[] = {
        {"Steps", steps}, {"Searches", searches}, {"Training", training}, {"Policy", policy}, {0}};
    static const ui_menu menu = {"Agent", arguments, groups};
    return ui_menu_run(ui, &menu);
}
