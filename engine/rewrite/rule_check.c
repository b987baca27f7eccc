/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be wrong with a rule that parses: arities, names without use, impossible conditions. */
#include "func.h"
#include "parse.h"

#include <string.h>

enum { NEAR = 3, LONGEST = 64 };

/* Levenshtein's distance, cut off at LONGEST characters. */
static int distance(const char *a, const char *b)
{
    int row[LONGEST + 1], n = (int)strlen(b);
    if (n > LONGEST) return LONGEST;
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0];
        row[0] = i + 1;
        for (int j = 1; j <= n; j++) {
            int best = diagonal + (a[i] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

const char *rule_nearest(const char *word, const char *(*words)(void *ctx, int i), void *ctx)
{
    const char *best = NULL;
    int least = (int)strlen(word) < 2 * NEAR ? (int)strlen(word) / 2 + 1 : NEAR + 1;
    for (int i = 0; words(ctx, i); i++) {
        int d = distance(word, words(ctx, i));
        if (d >= least) continue;
        least = d;
        best = words(ctx, i);
    }
    return best;
}

const char *rule_suggestion(tg_arena *arena, const char *word,
                            const char *(*words)(void *ctx, int i), void *ctx)
{
    const char *near = rule_nearest(word, words, ctx);
    return near ? tg_arena_printf(arena, ", did you mean %s?", near) : "";
}

static bool has_list(const rule_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i].kind == TERM_LIST || node->in[i].kind == TERM_NEWS) return true;
    return false;
}

static tg_status check_arity(const rule_source *src, const rule_node *node)
{
    const tg_op_row *row = tg_op_get(node->op);
    bool open = has_list(node) && !node->each;
    if ((!open && node->n_in < row->min_in) || (row->max_in >= 0 && node->n_in > row->max_in))
        return lex_fail(src, node->at, "%s does not take %d input%s", row->name, node->n_in,
                        node->n_in == 1 ? "" : "s");
    if (row->max_out >= 0 && node->n_out > row->max_out)
        return lex_fail(src, node->at, "%s does not make %d results", row->name, node->n_out);
    return TG_OK;
}

/* Required attributes of new nodes are there; what `..name` brings cannot be known here. */
static tg_status check_new_attrs(const rule_source *src, const rule_node *node)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    for (int i = 0; i < n; i++)
        if (spec[i].required && node->rest < 0 && !(node->mentioned >> i & 1))
            return lex_fail(src, node->at, "%s needs attribute %s", tg_op_get(node->op)->name,
                            spec[i].name);
    return TG_OK;
}

static void mark_values(const rule_node *nodes, int n, bool *used)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < nodes[i].n_in; k++)
            if (nodes[i].in[k].kind == TERM_VALUE || nodes[i].in[k].kind == TERM_LIST)
                used[nodes[i].in[k].slot] = true;
}

static tg_status check_names(const rule_source *src, const tg_rule *rule)
{
    bool used[RULE_VALUES] = {false};
    mark_values(rule->from, rule->n_from, used);
    for (int i = 0; i < rule->n_values; i++) {
        const rule_value *v = &rule->values[i];
        if (v->given && !used[i] && v->node < 0)
            return lex_fail(src, v->at, "%s is given and stands in no line of from", v->name);
        if (!v->given && v->node < 0)
            return lex_fail(src, v->at, "%s is neither given nor made by a line", v->name);
    }
    return TG_OK;
}

static void mark_expr(const expr *e, uint64_t *params)
{
    if (e->kind == EXPR_PARAM) *params |= (uint64_t)1 << e->slot;
    for (int i = 0; i < e->n_args; i++) mark_expr(e->args[i], params);
}

/* Bits of the parameters that a match binds. */
static uint64_t bound_params(const tg_rule *rule)
{
    uint64_t bound = 0;
    for (int i = 0; i < rule->n_values; i++) {
        const rule_value *v = &rule->values[i];
        if (v->number) bound |= (uint64_t)1 << v->param;
        for (int k = 0; k < v->n_dims; k++)
            if (v->dims[k].kind == DIM_PARAM || v->dims[k].kind == DIM_SPLICE)
                bound |= (uint64_t)1 << v->dims[k].slot;
    }
    for (int i = 0; i < rule->n_from; i++)
        for (int k = 0; k < rule->from[i].n_attr; k++) mark_expr(rule->from[i].attr[k].e, &bound);
    return bound;
}

static tg_status check_expr(const rule_source *src, const tg_rule *rule, const expr *e,
                            uint64_t bound)
{
    if (e->kind == EXPR_PARAM && !(bound >> e->slot & 1))
        return lex_fail(src, e->at, "%s is not bound by given or from", rule->params[e->slot].name);
    if (e->kind == EXPR_ANY) return lex_fail(src, e->at, "_ has no value");
    for (int i = 0; i < e->n_args; i++) TG_TRY(check_expr(src, rule, e->args[i], bound));
    return TG_OK;
}

/* An attribute pattern is made of literals, names, _ and lists of these. */
static tg_status check_pattern(const rule_source *src, const expr *e)
{
    switch (e->kind) {
    case EXPR_CALL:
    case EXPR_FACT:
    case EXPR_NOT:
    case EXPR_OR:
    case EXPR_ARITH:
    case EXPR_COMPARE:
        return lex_fail(src, e->at, "from takes names and literals; computed values go to if");
    default:
        for (int i = 0; i < e->n_args; i++) TG_TRY(check_pattern(src, e->args[i]));
        return TG_OK;
    }
}

static tg_status check_side(const rule_source *src, const tg_rule *rule, const rule_node *nodes,
                            int n, bool is_new, uint64_t bound)
{
    for (int i = 0; i < n; i++) {
        TG_TRY(check_arity(src, &nodes[i]));
        if (is_new) TG_TRY(check_new_attrs(src, &nodes[i]));
        for (int k = 0; k < nodes[i].n_attr; k++) {
            const expr *e = nodes[i].attr[k].e;
            TG_TRY(is_new ? check_expr(src, rule, e, bound) : check_pattern(src, e));
        }
        for (int k = 0; k < nodes[i].n_in; k++)
            if (nodes[i].in[k].kind == TERM_NUMBER)
                TG_TRY(check_expr(src, rule, nodes[i].in[k].e, bound));
    }
    return TG_OK;
}

tg_status rule_check(const rule_source *src, tg_rule *rule)
{
    uint64_t bound = bound_params(rule);
    TG_TRY(check_side(src, rule, rule->from, rule->n_from, false, bound));
    TG_TRY(check_side(src, rule, rule->to, rule->n_to, true, bound));
    for (int i = 0; i < rule->n_facts; i++) TG_TRY(check_expr(src, rule, rule->facts[i].e, bound));
    return check_names(src, rule);
}
