/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * In which order the nodes of a rule are found. Every node but the first is reached by an edge: as
 * the maker of a value that is bound, else as a user of one; so a match never scans the graph. Only
 * where the lines of a rule are not connected does it look at every node of an operator.
 */
#include "lex.h"

#include <limits.h>
#include <string.h>

typedef uint64_t bits;

#define BIT(i) ((bits)1 << (i))

static bool is_slot_term(const term *t)
{
    return t->kind == TERM_VALUE || t->kind == TERM_LIST;
}

static bits slots_of(const rule_node *node)
{
    bits all = 0;
    for (int i = 0; i < node->n_in; i++)
        if (is_slot_term(&node->in[i])) all |= BIT(node->in[i].slot);
    for (int i = 0; i < node->n_out; i++)
        if (node->out[i] >= 0) all |= BIT(node->out[i]);
    return all;
}

/* A step that reaches `node` from bound values; makers are better than users. */
static bool find_step(const tg_rule *rule, int n, bits bound, bool users, rule_step *step)
{
    const rule_node *node = &rule->from[n];
    if (!users) {
        for (int i = 0; i < node->n_out; i++)
            if (node->out[i] >= 0 && bound & BIT(node->out[i])) {
                *step = (rule_step){STEP_PRODUCER, n, node->out[i]};
                return true;
            }
        return false;
    }
    for (int i = 0; i < node->n_in; i++) {
        const term *t = &node->in[i];
        if (!is_slot_term(t) || !(bound & BIT(t->slot)) || rule->values[t->slot].number) continue;
        *step = (rule_step){STEP_CONSUMER, n, t->slot};
        return true;
    }
    return false;
}

/* Appends steps until `todo` is empty; false if some node has no edge to the others and needs one.
 */
static bool extend(const tg_rule *rule, rule_plan *plan, bits todo, bits bound, bool anywhere)
{
    while (todo) {
        rule_step step;
        bool found = false;
        for (int users = 0; users < 2 && !found; users++)
            for (int n = rule->n_from - 1; n >= 0 && !found; n--)
                found = todo & BIT(n) && find_step(rule, n, bound, users, &step);
        if (!found && !anywhere) return false;
        if (!found) step = (rule_step){STEP_ANYWHERE, 63 - __builtin_clzll(todo), -1};
        plan->steps[plan->n++] = step;
        todo &= ~BIT(step.node);
        bound |= slots_of(&rule->from[step.node]);
    }
    return true;
}

static int searches(const rule_plan *plan)
{
    int n = 0;
    for (int i = 0; i < plan->n; i++) {
        n += plan->steps[i].kind == STEP_CONSUMER;
        n += plan->steps[i].kind == STEP_ANYWHERE ? RULE_NODES : 0;
    }
    return n;
}

/* The plan with the fewest searches among users; of equals the one that starts last. */
static bool plan_from(tg_rule *rule, bits nodes, bool anywhere, tg_arena *arena)
{
    int least = INT_MAX;
    for (int anchor = rule->n_from - 1; anchor >= 0; anchor--) {
        if (!(nodes & BIT(anchor))) continue;
        rule_plan plan = {TG_NEW_ARRAY(arena, rule_step, RULE_NODES + 1), 1};
        plan.steps[0] = (rule_step){STEP_ANCHOR, anchor, -1};
        bits rest = nodes & ~BIT(anchor);
        if (!extend(rule, &plan, rest, slots_of(&rule->from[anchor]), anywhere)) continue;
        if (searches(&plan) >= least) continue;
        least = searches(&plan);
        rule->plan = plan;
    }
    return least < INT_MAX;
}

static tg_status plan_all(const rule_source *src, tg_rule *rule, bits nodes, tg_arena *arena)
{
    if (plan_from(rule, nodes, false, arena)) return TG_OK;
    if (rule->scattered && rule->each == EACH_NONE && plan_from(rule, nodes, true, arena))
        return TG_OK;
    return lex_fail(src, rule->from[0].at, "the lines of from are not connected with each other");
}

static bits each_nodes(const tg_rule *rule)
{
    bits nodes = 0;
    for (int i = 0; i < rule->n_from; i++)
        if (rule->from[i].each) nodes |= BIT(i);
    return nodes;
}

/* The list that a plain line binds and the each lines take apart, or -1. */
static int list_via(const tg_rule *rule)
{
    for (int i = 0; i < rule->n_from; i++) {
        const rule_node *node = &rule->from[i];
        if (node->each) continue;
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k].kind == TERM_LIST && rule->values[node->in[k].slot].each)
                return node->in[k].slot;
        if (node->out_list && rule->values[node->out[0]].each) return node->out[0];
    }
    return -1;
}

/* The value that all elements read, or -1. */
static int shared_via(const tg_rule *rule)
{
    for (int i = 0; i < rule->n_from; i++)
        for (int k = 0; rule->from[i].each && k < rule->from[i].n_in; k++) {
            const term *t = &rule->from[i].in[k];
            if (t->kind == TERM_VALUE && !rule->values[t->slot].each &&
                !rule->values[t->slot].number)
                return t->slot;
        }
    return -1;
}

static bits shared_slots(const tg_rule *rule)
{
    bits slots = 0;
    for (int i = 0; i < rule->n_values; i++)
        if (!rule->values[i].each) slots |= BIT(i);
    return slots;
}

static tg_status plan_element(const rule_source *src, tg_rule *rule, tg_arena *arena)
{
    bits nodes = each_nodes(rule);
    int via = list_via(rule);
    rule->each = via >= 0 ? EACH_LIST : EACH_SHARED;
    if (via < 0) via = shared_via(rule);
    rule->each_via = via;
    place at = rule->from[__builtin_ctzll(nodes)].at;
    if (via < 0) return lex_fail(src, at, "the each lines share no value with each other");
    rule->element.steps = TG_NEW_ARRAY(arena, rule_step, RULE_NODES + 1);
    bits bound = BIT(via);
    if (!extend(rule, &rule->element, nodes, bound, false)) {
        rule->element.n = 0;
        bound |= shared_slots(rule);
        if (!extend(rule, &rule->element, nodes, bound, false))
            return lex_fail(src, at, "the each lines are not connected with each other");
    }
    return TG_OK;
}

/*
 * Distances in the pattern: vertices are nodes (0..n_from) and values (behind them); a value that
 * a node makes is that node.
 */
static int depth_from(const tg_rule *rule, int start, int *distance)
{
    int n = rule->n_from + rule->n_values, deepest = 0;
    for (int i = 0; i < n; i++) distance[i] = i == start ? 0 : 1000;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < rule->n_from; i++)
            for (bits b = slots_of(&rule->from[i]); b; b &= b - 1) {
                int slot = __builtin_ctzll(b), maker = rule->values[slot].node;
                int other = maker >= 0 ? maker : rule->n_from + slot;
                if (other == i) continue;
                int *x = &distance[i], *y = &distance[other];
                if (*x + 1 < *y) *y = *x + 1, changed = true;
                if (*y + 1 < *x) *x = *y + 1, changed = true;
            }
    }
    for (int i = 0; i < n; i++)
        if (distance[i] < 1000 && distance[i] > deepest) deepest = distance[i];
    return deepest;
}

static void measure(tg_rule *rule)
{
    int distance[RULE_NODES + RULE_VALUES], ignored[RULE_NODES + RULE_VALUES];
    rule->radius = depth_from(rule, rule->plan.steps[0].node, distance);
    for (int i = 0; i < rule->plan.n; i++)
        if (rule->plan.steps[i].kind == STEP_ANYWHERE) rule->radius = RULE_ANYWHERE;
    if (rule->each == EACH_NONE) return;
    int maker = rule->values[rule->each_via].node;
    int via = maker >= 0 ? maker : rule->n_from + rule->each_via;
    int far = distance[via] + depth_from(rule, via, ignored);
    if (far > rule->radius) rule->radius = far;
}

tg_status rule_plan_make(const rule_source *src, tg_rule *rule, tg_arena *arena)
{
    bits nodes = BIT(rule->n_from) - 1;
    if (each_nodes(rule)) TG_TRY(plan_element(src, rule, arena));
    if (rule->each == EACH_LIST) nodes &= ~each_nodes(rule);
    TG_TRY(plan_all(src, rule, nodes, arena));
    measure(rule);
    return TG_OK;
}
