/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file's wire format: varints, and messages that begin with their length. */
#include "rule_taso.h"

#include "engine/base/vec.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_RULES = 10000, MOST_RANK = 8 };

typedef struct wire {
    const char *file;
    const uint8_t *start, *p, *end; /* of the file, of what is left of this message */
} wire;

static tg_status TG_PRINTF(2, 3) fail(const wire *w, const char *fmt, ...)
{
    tg_str words = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&words, fmt, ap);
    va_end(ap);
    tg_status status =
        tg_fail(TG_RULE, "%s: byte %zu: %s", w->file, (size_t)(w->p - w->start), words.p);
    tg_str_free(&words);
    return status;
}

static tg_status read_varint(wire *w, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (w->p == w->end) return fail(w, "a number is cut off");
        uint8_t byte = *w->p++;
        *value |= shift < 63 ? (uint64_t)(byte & 0x7f) << shift : (uint64_t)(byte & 1) << 63;
        if (!(byte & 0x80)) return TG_OK;
    }
    return fail(w, "a number has more than 10 bytes");
}

/* The next field: a number, or a message as a part of this one. `least` numbers are `number`. */
static tg_status read_field(wire *w, int *field, bool message, int *number, wire *part)
{
    uint64_t key, value;
    TG_TRY(read_varint(w, &key));
    if (key >> 3 > 15 || !(key >> 3)) return fail(w, "an unknown field");
    *field = (int)(key >> 3);
    if ((key & 7) != (message ? 2u : 0u)) return fail(w, "field %d has the wrong kind", *field);
    TG_TRY(read_varint(w, &value));
    if (!message) {
        if ((int64_t)value < INT32_MIN || (int64_t)value > INT32_MAX)
            return fail(w, "a number has more than 32 bits");
        *number = (int)(int64_t)value;
        return TG_OK;
    }
    if (value > (uint64_t)(w->end - w->p)) return fail(w, "a message is longer than the file");
    *part = *w;
    part->end = w->p + value;
    w->p = part->end;
    return TG_OK;
}

/* A message of numbers in fields 1 ... n; absent ones are 0. */
static tg_status read_numbers(wire w, int n, int *v)
{
    for (int i = 0; i < n; i++) v[i] = 0;
    while (w.p < w.end) {
        int field, number;
        TG_TRY(read_field(&w, &field, false, &number, NULL));
        if (field > n) return fail(&w, "an unknown field");
        v[field - 1] = number;
    }
    return TG_OK;
}

int taso_out_count(const taso_op *op)
{
    return op->kind == TASO_SPLIT ? 2 : 1;
}

/* ---- operators ------------------------------------------------------------------------------ */

/* A rule on its way: variables are numbered by their first use. */
typedef struct reading {
    taso_rule *rule;
    int id[TASO_VARS]; /* the file's numbers of the variables */
} reading;

static tg_status read_tensor(wire w, reading *r, bool to, int earlier, taso_tensor *out)
{
    int v[2], i = 0;
    TG_TRY(read_numbers(w, 2, v));
    if (v[0] >= 0) {
        const taso_op *ops = to ? r->rule->to : r->rule->from;
        if (v[0] >= earlier) return fail(&w, "operator %d is not an earlier one", v[0]);
        if (v[1] < 0 || v[1] >= taso_out_count(&ops[v[0]]))
            return fail(&w, "operator %d has no output %d", v[0], v[1]);
        *out = (taso_tensor){v[0], v[1]};
        return TG_OK;
    }
    if (v[1]) return fail(&w, "a variable has one output only");
    while (i < r->rule->n_vars && r->id[i] != v[0]) i++;
    if (i == TASO_VARS) return fail(&w, "more than %d variables", TASO_VARS);
    if (i == r->rule->n_vars) {
        if (to) return fail(&w, "variable %d is not in the source", v[0]);
        r->id[r->rule->n_vars++] = v[0];
    }
    *out = (taso_tensor){~i, 0};
    return TG_OK;
}

static tg_status check_param(const wire *w, const int *param, int key, int least, int most)
{
    if (param[key] >= least && param[key] <= most) return TG_OK;
    return fail(w, "parameter %d of an operator is %d", key, param[key]);
}

/* What each kind has: inputs, and which parameters the rules know how to keep. */
static tg_status settle_op(const wire *w, const int *p, bool to, taso_op *op)
{
    int inputs = op->kind == TASO_RELU || op->kind == TASO_SPLIT ? 1 : 2;
    if (op->n_in != inputs) return fail(w, "an operator has %d inputs", op->n_in);
    switch (op->kind) {
    case TASO_CONV:
        TG_TRY(check_param(w, p, TASO_P_STRIDE_H, 1, 2));
        TG_TRY(check_param(w, p, TASO_P_STRIDE_W, p[TASO_P_STRIDE_H], p[TASO_P_STRIDE_H]));
        TG_TRY(check_param(w, p, TASO_P_PAD, TASO_SAME, TASO_VALID));
        /* fall through */
    case TASO_MATMUL:
        if (p[TASO_P_ACTI] != TASO_NONE &&
            (op->kind == TASO_MATMUL || p[TASO_P_ACTI] != TASO_ACTI_RELU))
            return check_param(w, p, TASO_P_ACTI, 0, -1);
        break;
    case TASO_CONCAT:
        TG_TRY(check_param(w, p, TASO_P_INPUTS, 2, 2));
        TG_TRY(check_param(w, p, TASO_P_RANK, 1, MOST_RANK));
        TG_TRY(check_param(w, p, TASO_P_AXIS, 0, p[TASO_P_RANK] - 1));
        break;
    case TASO_SPLIT:
        if (!to) return fail(w, "a split in the source");
        TG_TRY(check_param(w, p, TASO_P_OUTPUTS, 2, 2));
        TG_TRY(check_param(w, p, TASO_P_AXIS, 0, MOST_RANK - 1));
        break;
    case TASO_ADD:
    case TASO_MUL:
    case TASO_RELU: break;
    default: return fail(w, "operators of type %d are not known", op->kind);
    }
    op->stride = p[TASO_P_STRIDE_H];
    op->pad = p[TASO_P_PAD];
    op->acti = p[TASO_P_ACTI];
    op->axis = p[TASO_P_AXIS];
    op->rank = p[TASO_P_RANK];
    return TG_OK;
}

static tg_status read_op(wire w, reading *r, bool to)
{
    int *n = to ? &r->rule->n_to : &r->rule->n_from, v[2], param[TASO_P_COUNT] = {0}, field;
    if (*n == TASO_OPS) return fail(&w, "more than %d operators on one side", TASO_OPS);
    taso_op *op = to ? &r->rule->to[*n] : &r->rule->from[*n];
    wire part, whole = w;
    while (w.p < w.end) {
        wire peek = w;
        bool number = *w.p >> 3 == 1;
        TG_TRY(read_field(&w, &field, !number, &v[0], &part));
        if (number) {
            op->kind = (taso_kind)v[0];
        } else if (field == 2) {
            if (op->n_in == TASO_INPUTS) return fail(&peek, "more than %d inputs", TASO_INPUTS);
            TG_TRY(read_tensor(part, r, to, *n, &op->in[op->n_in++]));
        } else {
            if (field != 3) return fail(&peek, "an unknown field");
            TG_TRY(read_numbers(part, 2, v));
            if (v[0] < 0 || v[0] >= TASO_P_COUNT) return fail(&peek, "no parameter %d", v[0]);
            param[v[0]] = v[1];
        }
    }
    ++*n;
    return settle_op(&whole, param, to, op);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static tg_status read_result(wire w, taso_rule *rule)
{
    int v[4];
    if (rule->n_results == TASO_RESULTS) return fail(&w, "more than %d results", TASO_RESULTS);
    TG_TRY(read_numbers(w, 4, v));
    if (v[0] < 0 || v[0] >= rule->n_from || v[1] < 0 || v[1] >= rule->n_to)
        return fail(&w, "a result of no operator");
    if (v[2] < 0 || v[2] >= taso_out_count(&rule->from[v[0]]) || v[3] < 0 ||
        v[3] >= taso_out_count(&rule->to[v[1]]))
        return fail(&w, "a result of no output");
    for (int i = 0; i < rule->n_results; i++)
        if (rule->results[i].source == v[0] && rule->results[i].source_port == v[2])
            return fail(&w, "a result is given twice");
    rule->results[rule->n_results++] = (taso_result){v[0], v[2], v[1], v[3]};
    return TG_OK;
}

static tg_status read_rule(wire w, taso_rule *rule)
{
    reading r = {.rule = rule};
    wire whole = w, part;
    int field, stage = 1;
    while (w.p < w.end) {
        wire peek = w;
        TG_TRY(read_field(&w, &field, true, NULL, &part));
        if (field < stage || field > 3) return fail(&peek, "field %d is out of order", field);
        stage = field;
        TG_TRY(field == 3 ? read_result(part, rule) : read_op(part, &r, field == 2));
    }
    if (!rule->n_results) return fail(&whole, "a rule has no result");
    return TG_OK;
}

typedef TG_VEC(taso_rule) rule_list;

static tg_status read_rules(wire *w, rule_list *list)
{
    while (w->p < w->end) {
        wire part, peek = *w;
        int field;
        TG_TRY(read_field(w, &field, true, NULL, &part));
        if (field != 1) return fail(&peek, "an unknown field");
        if (list->n == MOST_RULES) return fail(&peek, "more than %d rules", MOST_RULES);
        taso_rule rule = {.n_from = 0};
        snprintf(rule.name, sizeof rule.name, "pb%zu", list->n);
        TG_TRY(read_rule(part, &rule));
        tg_vec_push(list, rule);
    }
    return list->n ? TG_OK : fail(w, "the file holds no rule");
}

tg_status taso_decode(const void *data, size_t size, const char *file, tg_arena *arena,
                      taso_rules *out)
{
    wire w = {file, data, data, (const uint8_t *)data + size};
    rule_list list = {0};
    tg_status status = read_rules(&w, &list);
    if (status == TG_OK) {
        out->v = tg_arena_dup(arena, list.v, list.n * sizeof *list.v);
        out->n = (int)list.n;
    }
    tg_vec_free(&list);
    return status;
}
