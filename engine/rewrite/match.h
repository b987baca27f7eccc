/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binding the names of a rule to a graph. For the files of rewrite/ only. */
#ifndef TG_REWRITE_MATCH_H
#define TG_REWRITE_MATCH_H

#include "engine/base/vec.h"
#include "engine/ir/graph.h"
#include "pattern.h"
#include "sites.h"

typedef struct value_list {
    const tg_value *v;
    int n;
} value_list;

/* What the names stand for. Masks have a bit a slot: bound or not. */
typedef struct names {
    uint64_t has_value, has_list, has_param, has_rest;
    tg_value values[RULE_VALUES];
    value_list lists[RULE_VALUES];
    tg_attr params[RULE_PARAMS];
    const tg_node *rests[RULE_RESTS]; /* the node whose attributes ..name takes */
    uint64_t rest_mask[RULE_RESTS];   /* those that its line names and ..name does not take */
} names;

/* A site in a body: which attribute of the anchor has the body, and the site there. */
typedef struct site_nest {
    uint32_t attr;
    int place; /* of `inner` among the sites of the body */
    const tg_site *inner;
} site_nest;

/* The same, packed, in the arena of a set of sites. Of a site in a body only the first three. */
struct tg_site_binding {
    const tg_rule *rule;
    uint32_t anchor;
    const site_nest *nest; /* NULL: not in a body */
    uint64_t has_value, has_list, has_param, has_rest;
    const tg_value *values;
    const value_list *lists;
    const tg_attr *params;
    const tg_node *const *rests;
    const uint64_t *rest_mask;
};

/* Evaluating expressions over bound names. Payloads of results come from `arena`. */
typedef struct eval {
    const tg_graph *g;
    const tg_rule *rule;
    tg_arena *arena;
    uint64_t has_value, has_list, has_param;
    const tg_value *values;
    const value_list *lists;
    const tg_attr *params;
    bool element; /* names of each lines mean the current element */
} eval;

/* An argument of a function or fact: values, or an attribute value. */
typedef struct operand {
    bool is_values;
    value_list values;
    tg_attr attr;
} operand;

/* Errors: TG_RULE (an unbound name, a value of the wrong kind). */
tg_status eval_expr(eval *ev, const expr *e, tg_attr *out) TG_MUST_USE;
/* False also where the expression cannot be evaluated. */
bool eval_fact(eval *ev, const expr *e);
bool eval_truth(const tg_attr *a);

/* The elements of a constant, if it is small or a plain weight; t->data NULL else. */
tg_tensor eval_constant(const tg_graph *g, tg_value v, tg_arena *arena);
/* True if all elements of the constant are equal; *x is that number. */
bool eval_uniform(const tg_graph *g, tg_value v, tg_arena *arena, double *x);

typedef TG_VEC(tg_site) site_vec;

/* Scratch of one search for sites; `skip` is a bit a fact that is not to be looked at. */
typedef struct matcher matcher;
matcher *match_new(const tg_rules *rules, const tg_graph *g, tg_arena *arena, site_vec *sites);
void match_skip_facts(matcher *m, uint64_t skip);
void match_free(matcher *m);
/* Adds the sites of rule r whose anchor is `node`. */
void match_run(matcher *m, int r, const tg_node *node);

#endif
