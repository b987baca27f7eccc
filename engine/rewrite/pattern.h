/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rule as the matcher and the previewer see it: names are slots, operators are numbers. For the
 * files of rewrite/ only. Everything lies in the arena of the rule set.
 */
#ifndef TG_REWRITE_PATTERN_H
#define TG_REWRITE_PATTERN_H

#include "engine/ir/op.h"
#include "rule.h"

enum {
    RULE_NODES = 24,  /* most lines (nested calls count) of one side */
    RULE_VALUES = 48, /* most value names of one side */
    RULE_PARAMS = 48, /* most dimension and attribute names */
    RULE_RESTS = 8,
    RULE_INPUTS = 24, /* most terms of one line */
    RULE_ANYWHERE = 1 << 20
};

/* A place in a rule file. */
typedef struct place {
    int line, column;
} place;

/* An attribute expression: a pattern in `from`, a value in `to` and `if`. */
typedef enum expr_kind {
    EXPR_INT,
    EXPR_FLOAT,
    EXPR_STR,
    EXPR_PARAM,  /* slot: a dimension or attribute name */
    EXPR_VALUE,  /* slot: a value of the `from` side */
    EXPR_LIST,   /* args */
    EXPR_SPLICE, /* one arg, inside a list: its elements */
    EXPR_CALL,   /* fn: a function of func.def */
    EXPR_FACT,   /* fn: a row of fact.def */
    EXPR_NOT,
    EXPR_OR,
    EXPR_ARITH,   /* op: + - * / % */
    EXPR_COMPARE, /* op: = ! < > { (<=) } (>=) */
    EXPR_ANY      /* _ */
} expr_kind;

typedef struct expr {
    expr_kind kind;
    place at;
    char op;
    int slot, fn;
    int64_t i;
    double f;
    const char *s;
    struct expr **args;
    int n_args;
} expr;

/* What stands in an input slot. */
typedef enum term_kind {
    TERM_VALUE,  /* slot: a value of `from` */
    TERM_LIST,   /* slot: a list of values of `from` */
    TERM_NEW,    /* to: output `port` of `to` node `node` */
    TERM_NEWS,   /* to: all outputs of `to` node `node` */
    TERM_NUMBER, /* e: a one-element constant */
} term_kind;

typedef struct term {
    term_kind kind;
    place at;
    int slot, node, port;
    expr *e;
} term;

/* attribute `index` of the operator's spec */
typedef struct rule_attr {
    int index;
    expr *e;
} rule_attr;

/* One operator of a side. Outputs of `from` are value slots (-1: not named), of `to` ports. */
typedef struct rule_node {
    tg_op op;
    place at;
    bool each;
    bool out_list; /* *pieces = Split(...): out[0] is a list slot */
    int n_in, n_out, n_attr;
    term *in;
    int *out;
    rule_attr *attr;
    uint64_t mentioned; /* bits of the spec's attributes that n_attr names */
    int rest;           /* slot of ..name, or -1 */
} rule_node;

/* One dimension of a declared shape: dims[i]. */
typedef struct rule_dim {
    enum { DIM_ANY, DIM_INT, DIM_PARAM, DIM_SPLICE } kind;
    int64_t i;
    int slot;
} rule_dim;

/* A value name of the `from` side. */
typedef struct rule_value {
    const char *name;
    place at;
    bool given;    /* declared in `given` */
    bool list;     /* *name */
    bool each;     /* differs between the elements of the `each` lines */
    bool number;   /* a one-element constant, bound to parameter `param` */
    bool optional; /* may be absent */
    bool zero;     /* and stands for zeros of its declared shape then */
    bool shaped;   /* dims hold */
    int param;
    int n_dims;
    const rule_dim *dims;
    int node, port; /* the `from` node that makes it; -1: free */
} rule_value;

typedef struct rule_param {
    const char *name;
    bool list; /* *s */
} rule_param;

typedef struct rule_fact {
    expr *e;
    bool sound; /* needed for the answer; else it only pays */
    bool each;  /* of an element */
} rule_fact;

/* A replaced name: value slot `from` becomes the term. Lists pair up elementwise. */
typedef struct rule_result {
    int from;
    bool list;
    term to;
} rule_result;

/* How the next node of a match is found. */
typedef struct rule_step {
    enum {
        STEP_ANCHOR,   /* every node of the operator */
        STEP_PRODUCER, /* the maker of value slot `via` */
        STEP_CONSUMER, /* the users of value slot `via` */
        STEP_ANYWHERE  /* every node of the operator: no edge leads to it */
    } kind;
    int node; /* of `from` */
    int via;
} rule_step;

typedef struct rule_plan {
    rule_step *steps;
    int n;
} rule_plan;

/*
 * How `each` lines multiply. EACH_LIST: once for every element of list `each_via`, and all must
 * match. EACH_SHARED: for every user of value `each_via` that matches, at least two.
 */
typedef enum each_mode { EACH_NONE, EACH_LIST, EACH_SHARED } each_mode;

typedef struct tg_rule {
    tg_rule_info info;
    bool never_grows; /* of family cancel or fuse */
    bool scattered;   /* its lines need not be connected */
    rule_value *values;
    int n_values;
    rule_param *params;
    int n_params, n_rests;
    rule_node *from, *to;
    int n_from, n_to;
    rule_fact *facts;
    int n_facts;
    rule_result *results;
    int n_results;
    rule_plan plan;    /* covers `from` without the each lines of EACH_LIST */
    rule_plan element; /* of one more element, from `each_via` on */
    each_mode each;
    int each_via;
    int radius; /* most edges between the anchor and what a match looks at, or RULE_ANYWHERE */
} tg_rule;

const tg_rule *tg_rules_rule(const tg_rules *rules, int i);

/* rule_parse.c: the next paragraph's rule. */
/* rule_check.c, rule_plan.c: errors carry the place. */
struct rule_source;
tg_status lex_fail(const struct rule_source *src, place at, const char *fmt, ...)
    TG_PRINTF(3, 4) TG_MUST_USE;
tg_status rule_check(const struct rule_source *src, tg_rule *rule) TG_MUST_USE;
tg_status rule_plan_make(const struct rule_source *src, tg_rule *rule, tg_arena *arena) TG_MUST_USE;

#endif
