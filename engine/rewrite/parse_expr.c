/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions of attributes and conditions, by recursive descent. */
#include "func.h"
#include "parse.h"

#include <string.h>

enum { DEEPEST = 24, MOST_ARGS = 32 };

typedef struct args {
    expr *v[MOST_ARGS];
    int n;
} args;

static tg_status parse_or(parser *p, int depth, expr **out);
static tg_status parse_compare(parser *p, int depth, expr **out);
static tg_status parse_word(parser *p, int depth, expr **out);

expr *parse_new_expr(parser *p, expr_kind kind, place at)
{
    expr *e = TG_NEW(p->arena, expr);
    e->kind = kind;
    e->at = at;
    return e;
}

static expr *with_args(parser *p, expr *e, const args *list)
{
    e->args = tg_arena_dup(p->arena, list->v, sizeof *list->v * (size_t)list->n);
    e->n_args = list->n;
    return e;
}

static expr *binary(parser *p, expr_kind kind, char op, place at, expr *a, expr *b)
{
    args list = {{a, b}, 2};
    expr *e = with_args(p, parse_new_expr(p, kind, at), &list);
    e->op = op;
    return e;
}

/* A name: a parameter, or in conditions and on the `to` side a value. */
static tg_status name_expr(parser *p, const char *name, place at, bool starred, expr **out)
{
    int param = parse_find_param(p, name), value = parse_find_value(p, name);
    if (param < 0 && value < 0 && p->side == SIDE_FROM && !starred) {
        TG_TRY(parse_add_param(p, name, false, at, &param));
    } else if (param < 0 && (value < 0 || p->side == SIDE_FROM)) {
        return parse_fail(p, at, "%s is not bound", name);
    }
    *out = parse_new_expr(p, param >= 0 ? EXPR_PARAM : EXPR_VALUE, at);
    (*out)->slot = param >= 0 ? param : value;
    if (param < 0 && starred != p->values[value].list)
        return parse_fail(p, at, starred ? "%s is one value, not a list" : "%s is a list: *%s",
                          name, name);
    return TG_OK;
}

/* What follows a *: a list's name or a call that gives a list. */
static tg_status parse_starred(parser *p, int depth, expr **out)
{
    const char *name;
    place at = p->lx.now.at;
    if (p->lx.now.kind == TOKEN_NAME && *p->lx.p == '(') return parse_word(p, depth + 1, out);
    TG_TRY(parse_name(p, "a list", &name, &at));
    if (p->side == SIDE_FROM && parse_find_param(p, name) < 0) {
        int slot;
        TG_TRY(parse_add_param(p, name, true, at, &slot));
    }
    return name_expr(p, name, at, true, out);
}

/* An element of a list or an argument: an expression or *name. */
static tg_status parse_arg(parser *p, int depth, bool in_list, args *list)
{
    expr *e;
    place at = p->lx.now.at;
    if (list->n >= MOST_ARGS) return parse_fail(p, at, "more than %d elements", MOST_ARGS);
    if (lex_is(&p->lx, '*')) {
        TG_TRY(lex_next(&p->lx));
        TG_TRY(parse_starred(p, depth, &e));
        if (in_list) {
            args one = {{e}, 1};
            e = with_args(p, parse_new_expr(p, EXPR_SPLICE, at), &one);
        }
    } else {
        TG_TRY(parse_or(p, depth + 1, &e));
    }
    list->v[list->n++] = e;
    return TG_OK;
}

static tg_status parse_args(parser *p, int depth, char close, bool in_list, args *list)
{
    tg_status status = TG_OK;
    list->n = 0;
    if (parse_accept(p, close, &status) || status != TG_OK) return status;
    do {
        TG_TRY(parse_arg(p, depth, in_list, list));
    } while (parse_accept(p, ',', &status) && status == TG_OK);
    TG_TRY(status);
    return parse_expect(p, close, "the list");
}

static const char *function_word(void *ctx, int i)
{
    const parser *p = ctx;
    if (i < func_row_count) return func_rows[i].name;
    i -= func_row_count;
    return p->side == SIDE_IF && i < fact_row_count ? fact_rows[i].name : NULL;
}

static tg_status call_expr(parser *p, const char *name, place at, int depth, expr **out)
{
    int fn = func_named(name), fact = p->side == SIDE_IF ? fact_named(name) : -1;
    if (fn < 0 && fact < 0)
        return parse_fail(p, at, "no function or fact is called %s%s", name,
                          rule_suggestion(p->arena, name, function_word, p));
    args list;
    TG_TRY(parse_args(p, depth, ')', false, &list));
    int least = fn >= 0 ? func_rows[fn].min_args : fact_rows[fact].min_args;
    int most = fn >= 0 ? func_rows[fn].max_args : fact_rows[fact].max_args;
    if (list.n < least || (most >= 0 && list.n > most))
        return parse_fail(p, at, "%s does not take %d argument%s", name, list.n,
                          list.n == 1 ? "" : "s");
    *out = with_args(p, parse_new_expr(p, fn >= 0 ? EXPR_CALL : EXPR_FACT, at), &list);
    (*out)->fn = fn >= 0 ? fn : fact;
    return TG_OK;
}

static tg_status parse_word(parser *p, int depth, expr **out)
{
    const char *name;
    place at;
    tg_status status = TG_OK;
    if (lex_is_word(&p->lx, "_")) {
        *out = parse_new_expr(p, EXPR_ANY, p->lx.now.at);
        return lex_next(&p->lx);
    }
    if (lex_is_word(&p->lx, "not")) {
        args one = {.n = 1};
        *out = parse_new_expr(p, EXPR_NOT, p->lx.now.at);
        TG_TRY(lex_next(&p->lx));
        TG_TRY(parse_compare(p, depth + 1, &one.v[0]));
        with_args(p, *out, &one);
        return TG_OK;
    }
    TG_TRY(parse_name(p, "a name", &name, &at));
    if (parse_accept(p, '(', &status)) return call_expr(p, name, at, depth, out);
    TG_TRY(status);
    return name_expr(p, name, at, false, out);
}

static tg_status parse_literal(parser *p, expr **out)
{
    const token *t = &p->lx.now;
    expr_kind kind = t->kind == TOKEN_INT     ? EXPR_INT
                     : t->kind == TOKEN_FLOAT ? EXPR_FLOAT
                                              : EXPR_STR;
    *out = parse_new_expr(p, kind, t->at);
    (*out)->i = t->i;
    (*out)->f = t->f;
    if (kind == EXPR_STR) (*out)->s = tg_arena_strndup(p->arena, t->p, (size_t)t->n);
    return lex_next(&p->lx);
}

static tg_status parse_atom(parser *p, int depth, expr **out)
{
    const token *t = &p->lx.now;
    tg_status status = TG_OK;
    args list = {.n = 0};
    if (depth > DEEPEST) return parse_fail(p, t->at, "an expression is nested too deep");
    if (t->kind == TOKEN_NAME) return parse_word(p, depth, out);
    if (t->kind == TOKEN_INT || t->kind == TOKEN_FLOAT || t->kind == TOKEN_STR)
        return parse_literal(p, out);
    place at = t->at;
    if (parse_accept(p, '[', &status)) {
        TG_TRY(parse_args(p, depth, ']', true, &list));
        *out = with_args(p, parse_new_expr(p, EXPR_LIST, at), &list);
        return TG_OK;
    }
    TG_TRY(status);
    if (parse_accept(p, '(', &status)) {
        TG_TRY(parse_or(p, depth + 1, out));
        return parse_expect(p, ')', "the expression");
    }
    TG_TRY(status);
    return parse_fail(p, at, "an expression is missing here");
}

static tg_status parse_unary(parser *p, int depth, expr **out)
{
    place at = p->lx.now.at;
    tg_status status = TG_OK;
    if (!parse_accept(p, '-', &status)) return status == TG_OK ? parse_atom(p, depth, out) : status;
    TG_TRY(status);
    TG_TRY(parse_unary(p, depth + 1, out));
    if ((*out)->kind == EXPR_INT || (*out)->kind == EXPR_FLOAT) {
        (*out)->i = -(*out)->i;
        (*out)->f = -(*out)->f;
        return TG_OK;
    }
    *out = binary(p, EXPR_ARITH, '-', at, parse_new_expr(p, EXPR_INT, at), *out);
    return TG_OK;
}

/* The operator at this token if it is one of `ops`, else 0. */
static char operator_of(const parser *p, const char *ops)
{
    const token *t = &p->lx.now;
    return t->kind == TOKEN_SYMBOL && !t->twice && strchr(ops, t->sym) ? t->sym : 0;
}

static tg_status parse_product(parser *p, int depth, expr **out)
{
    TG_TRY(parse_unary(p, depth, out));
    for (char op; (op = operator_of(p, "*/%"));) {
        expr *b;
        place at = p->lx.now.at;
        TG_TRY(lex_next(&p->lx));
        TG_TRY(parse_unary(p, depth, &b));
        *out = binary(p, EXPR_ARITH, op, at, *out, b);
    }
    return TG_OK;
}

static tg_status parse_sum(parser *p, int depth, expr **out)
{
    TG_TRY(parse_product(p, depth, out));
    for (char op; (op = operator_of(p, "+-"));) {
        expr *b;
        place at = p->lx.now.at;
        TG_TRY(lex_next(&p->lx));
        TG_TRY(parse_product(p, depth, &b));
        *out = binary(p, EXPR_ARITH, op, at, *out, b);
    }
    return TG_OK;
}

static tg_status parse_compare(parser *p, int depth, expr **out)
{
    TG_TRY(parse_sum(p, depth, out));
    const token *t = &p->lx.now;
    if (t->kind != TOKEN_SYMBOL || !strchr("=!<>", t->sym)) return TG_OK;
    if (!t->twice && (t->sym == '=' || t->sym == '!')) return TG_OK;
    char op = !t->twice ? t->sym : t->sym == '<' ? '{' : t->sym == '>' ? '}' : t->sym;
    place at = t->at;
    expr *b;
    TG_TRY(lex_next(&p->lx));
    TG_TRY(parse_sum(p, depth, &b));
    *out = binary(p, EXPR_COMPARE, op, at, *out, b);
    return TG_OK;
}

static tg_status parse_or(parser *p, int depth, expr **out)
{
    TG_TRY(parse_compare(p, depth, out));
    while (lex_is_word(&p->lx, "or")) {
        expr *b;
        place at = p->lx.now.at;
        TG_TRY(lex_next(&p->lx));
        TG_TRY(parse_compare(p, depth, &b));
        *out = binary(p, EXPR_OR, 0, at, *out, b);
    }
    return TG_OK;
}

tg_status parse_expr(parser *p, expr **out)
{
    return parse_or(p, 0, out);
}
