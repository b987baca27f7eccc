/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parser's inside: for parse_*.c only. */
#ifndef TG_REWRITE_PARSE_H
#define TG_REWRITE_PARSE_H

#include "lex.h"

typedef enum side { SIDE_GIVEN, SIDE_FROM, SIDE_IF, SIDE_TO } side;

/* A name that a `to` line defines. */
typedef struct to_name {
    const char *name;
    place at;
    bool list;
    term as;
} to_name;

typedef struct parser {
    lexer lx;
    tg_arena *arena;
    tg_rule *rule;
    side side;
    bool in_each; /* inside an each line */
    rule_value values[RULE_VALUES];
    rule_param params[RULE_PARAMS];
    place param_at[RULE_PARAMS];
    const char *rests[RULE_RESTS];
    rule_node from[RULE_NODES], to[RULE_NODES];
    to_name names[RULE_VALUES];
    rule_fact facts[RULE_NODES];
    int n_values, n_params, n_rests, n_from, n_to, n_names, n_facts;
} parser;

tg_status parse_expect(parser *p, char sym, const char *where) TG_MUST_USE;
tg_status parse_name(parser *p, const char *what, const char **name, place *at) TG_MUST_USE;
bool parse_accept(parser *p, char sym, tg_status *status);
tg_status parse_fail(const parser *p, place at, const char *fmt, ...) TG_PRINTF(3, 4) TG_MUST_USE;

int parse_find_value(const parser *p, const char *name);
int parse_find_param(const parser *p, const char *name);
/* Errors: TG_RULE (too many). */
tg_status parse_add_value(parser *p, const char *name, place at, int *slot) TG_MUST_USE;
tg_status parse_add_param(parser *p, const char *name, bool list, place at, int *slot) TG_MUST_USE;

/* parse_expr.c */
tg_status parse_expr(parser *p, expr **out) TG_MUST_USE;
expr *parse_new_expr(parser *p, expr_kind kind, place at);
/* parse_call.c: "Name(terms; attributes)"; *index is the new node of the side. */
tg_status parse_call(parser *p, int *index) TG_MUST_USE;

/* The word of `words` nearest to `word`, or NULL if none is near. */
const char *rule_nearest(const char *word, const char *(*words)(void *ctx, int i), void *ctx);
/* ", did you mean X?" or "". */
const char *rule_suggestion(tg_arena *arena, const char *word,
                            const char *(*words)(void *ctx, int i), void *ctx);

#endif
