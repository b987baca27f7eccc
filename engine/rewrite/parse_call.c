/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One operator with its inputs and attributes: Conv(x, k, b; group=1, ..a). */
#include "func.h"
#include "parse.h"

#include <stdio.h>
#include <string.h>

static const char *op_word(void *ctx, int i)
{
    (void)ctx;
    i += TG_OP_FIRST_REAL;
    return i < tg_op_row_count ? tg_op_rows[i].name : NULL;
}

static tg_status find_op(parser *p, const char *name, place at, tg_op *op)
{
    for (int i = TG_OP_FIRST_REAL; i < tg_op_row_count; i++)
        if (strcmp(tg_op_rows[i].name, name) == 0) {
            *op = (tg_op)i;
            return TG_OK;
        }
    return parse_fail(p, at, "no operator is called %s%s", name,
                      rule_suggestion(p->arena, name, op_word, NULL));
}

static int find_name(const parser *p, const char *name)
{
    for (int i = p->n_names - 1; i >= 0; i--)
        if (strcmp(p->names[i].name, name) == 0) return i;
    return -1;
}

static tg_status from_term(parser *p, const char *name, place at, bool starred, term *t)
{
    int slot = parse_find_value(p, name);
    if (slot < 0) return parse_fail(p, at, "%s is neither given nor made by a line", name);
    rule_value *v = &p->values[slot];
    if (starred != v->list)
        return parse_fail(p, at, starred ? "%s is one value, not a list" : "%s is a list: *%s",
                          name, name);
    bool element = starred && p->in_each && p->side == SIDE_FROM;
    v->each |= element;
    *t = (term){.kind = starred && !element ? TERM_LIST : TERM_VALUE, .at = at, .slot = slot};
    return TG_OK;
}

static tg_status to_term(parser *p, const char *name, place at, bool starred, term *t)
{
    int i = find_name(p, name);
    if (i >= 0) {
        if (starred != p->names[i].list)
            return parse_fail(p, at, starred ? "%s is one value, not a list" : "%s is a list: *%s",
                              name, name);
        *t = p->names[i].as;
        t->at = at;
        return TG_OK;
    }
    int param = parse_find_param(p, name);
    if (parse_find_value(p, name) < 0 && param >= 0 && !starred) {
        *t = (term){.kind = TERM_NUMBER, .at = at, .e = parse_new_expr(p, EXPR_PARAM, at)};
        t->e->slot = param;
        return TG_OK;
    }
    if (parse_find_value(p, name) < 0) return parse_fail(p, at, "%s is not bound", name);
    return from_term(p, name, at, starred, t);
}

static tg_status nested_call(parser *p, term *t)
{
    int index;
    place at = p->lx.now.at;
    TG_TRY(parse_call(p, &index));
    if (p->side == SIDE_TO) {
        *t = (term){.kind = TERM_NEW, .at = at, .node = index};
        return TG_OK;
    }
    int slot;
    TG_TRY(parse_add_value(p, "", at, &slot));
    p->values[slot].node = index;
    p->values[slot].each = p->in_each;
    rule_node *node = &p->from[index];
    node->out = TG_NEW_ARRAY(p->arena, int, 1);
    node->out[0] = slot;
    node->n_out = 1;
    *t = (term){.kind = TERM_VALUE, .at = at, .slot = slot};
    return TG_OK;
}

/* A word is a call if a parenthesis follows. */
static bool call_follows(const parser *p)
{
    return p->lx.now.kind == TOKEN_NAME && *p->lx.p == '(';
}

/* Functions have small names, operators large ones: float(c) stands for a number. */
static bool function_follows(const parser *p)
{
    char name[32];
    if (p->side != SIDE_TO || p->lx.now.n >= (int)sizeof name) return false;
    snprintf(name, sizeof name, "%.*s", p->lx.now.n, p->lx.now.p);
    return func_named(name) >= 0;
}

static tg_status parse_term(parser *p, term *t)
{
    place at = p->lx.now.at;
    tg_status status = TG_OK;
    const char *name;
    if (call_follows(p) && function_follows(p)) {
        *t = (term){.kind = TERM_NUMBER, .at = at};
        return parse_expr(p, &t->e);
    }
    if (call_follows(p)) return nested_call(p, t);
    token_kind kind = p->lx.now.kind;
    if (kind == TOKEN_INT || kind == TOKEN_FLOAT || lex_is(&p->lx, '-')) {
        *t = (term){.kind = TERM_NUMBER, .at = at};
        return parse_expr(p, &t->e);
    }
    bool starred = parse_accept(p, '*', &status);
    TG_TRY(status);
    TG_TRY(parse_name(p, "an input", &name, &at));
    return p->side == SIDE_TO ? to_term(p, name, at, starred, t)
                              : from_term(p, name, at, starred, t);
}

static tg_status parse_rest(parser *p, rule_node *node)
{
    const char *name;
    place at;
    TG_TRY(lex_next(&p->lx));
    TG_TRY(parse_name(p, "the name of the other attributes", &name, &at));
    for (node->rest = 0; node->rest < p->n_rests; node->rest++)
        if (strcmp(p->rests[node->rest], name) == 0) return TG_OK;
    if (p->side == SIDE_TO) return parse_fail(p, at, "..%s is not bound", name);
    if (p->n_rests == RULE_RESTS) return parse_fail(p, at, "more than %d ..names", RULE_RESTS);
    p->rests[p->n_rests++] = name;
    return TG_OK;
}

typedef struct attr_words {
    const tg_attr_spec *spec;
    int n;
} attr_words;

static const char *attr_word(void *ctx, int i)
{
    const attr_words *w = ctx;
    return i < w->n ? w->spec[i].name : NULL;
}

static tg_status parse_attr(parser *p, rule_node *node, rule_attr *attr)
{
    const char *name;
    place at;
    attr_words words;
    TG_TRY(parse_name(p, "an attribute", &name, &at));
    words.spec = tg_op_attrs(node->op, &words.n);
    attr->index = tg_op_attr_index(node->op, name);
    if (attr->index < 0)
        return parse_fail(p, at, "%s has no attribute %s%s", tg_op_get(node->op)->name, name,
                          rule_suggestion(p->arena, name, attr_word, &words));
    if (node->mentioned >> attr->index & 1)
        return parse_fail(p, at, "attribute %s stands here twice", name);
    node->mentioned |= (uint64_t)1 << attr->index;
    TG_TRY(parse_expect(p, '=', "the attribute's name"));
    TG_TRY(parse_expr(p, &attr->e));
    if (attr->e->kind == EXPR_ANY && p->side == SIDE_TO)
        return parse_fail(p, attr->e->at, "a new node needs a value for %s", name);
    return TG_OK;
}

static tg_status parse_attrs(parser *p, rule_node *node)
{
    rule_attr attrs[64];
    tg_status status = TG_OK;
    do {
        if (p->lx.now.kind == TOKEN_SYMBOL && p->lx.now.sym == '.' && p->lx.now.twice) {
            TG_TRY(parse_rest(p, node));
        } else {
            TG_TRY(parse_attr(p, node, &attrs[node->n_attr]));
            node->n_attr++;
        }
    } while (parse_accept(p, ',', &status) && status == TG_OK);
    node->attr = tg_arena_dup(p->arena, attrs, sizeof *attrs * (size_t)node->n_attr);
    return status;
}

static tg_status parse_terms(parser *p, rule_node *node)
{
    term terms[RULE_INPUTS];
    tg_status status = TG_OK;
    do {
        if (node->n_in == RULE_INPUTS)
            return parse_fail(p, p->lx.now.at, "more than %d inputs", RULE_INPUTS);
        TG_TRY(parse_term(p, &terms[node->n_in]));
        node->n_in++;
    } while (parse_accept(p, ',', &status) && status == TG_OK);
    node->in = tg_arena_dup(p->arena, terms, sizeof *terms * (size_t)node->n_in);
    return status;
}

tg_status parse_call(parser *p, int *index)
{
    const char *name;
    rule_node node = {.each = p->in_each, .rest = -1};
    tg_status status = TG_OK;
    TG_TRY(parse_name(p, "an operator", &name, &node.at));
    TG_TRY(find_op(p, name, node.at, &node.op));
    TG_TRY(parse_expect(p, '(', "the operator's name"));
    if (!lex_is(&p->lx, ')') && !lex_is(&p->lx, ';')) TG_TRY(parse_terms(p, &node));
    if (parse_accept(p, ';', &status)) status = parse_attrs(p, &node);
    TG_TRY(status);
    TG_TRY(parse_expect(p, ')', "the inputs"));
    int *n = p->side == SIDE_TO ? &p->n_to : &p->n_from;
    if (*n == RULE_NODES) return parse_fail(p, node.at, "more than %d operators", RULE_NODES);
    *index = (*n)++;
    (p->side == SIDE_TO ? p->to : p->from)[*index] = node;
    return TG_OK;
}
