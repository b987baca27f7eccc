/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TASO's rules in the rule language, each a paragraph. */
#include "taso_text.h"

#include "engine/base/hash.h"

#include <ctype.h>

static void add_name(const writer *w, bool to, taso_tensor t)
{
    for (int i = 0; t.op >= 0 && i < w->rule->n_results; i++) {
        const taso_result *r = &w->rule->results[i];
        int op = to ? r->op : r->source, port = to ? r->port : r->source_port;
        if (op != t.op || port != t.port) continue;
        tg_str_addc(w->out, "uvst"[i]);
        return;
    }
    if (t.op >= 0) tg_str_addf(w->out, "%c%d", to ? 'a' : 't', t.op + 1);
    else if (~t.op < 4) tg_str_addc(w->out, "xyzw"[~t.op]);
    else tg_str_addf(w->out, "y%d", ~t.op);
}

/* How many dimensions of variables must be equal to this one. */
static int company(const writer *w, int dim)
{
    int n = 0, r = taso_dim_root(w, dim);
    for (int i = 0; i < w->rule->n_vars * DIMS; i++) n += taso_dim_root(w, i) == r;
    return n;
}

static void add_dim(writer *w, int tensor, int dim)
{
    int at = tensor * DIMS + dim, r = taso_dim_root(w, at);
    if (company(w, at) < 2) {
        tg_str_addc(w->out, '_');
        return;
    }
    if (!w->named[r]) w->named[r] = ++w->n_named;
    tg_str_addf(w->out, "d%d", w->named[r]);
}

static bool is_factor(const writer *w, int variable)
{
    for (int to = 0; to < 2; to++) {
        int n;
        const taso_op *op = side(w, to, &n);
        for (int i = 0; i < n; i++)
            for (int k = 0; op[i].kind == TASO_MATMUL && k < 2; k++)
                if (op[i].in[k].op == ~variable) return true;
    }
    return false;
}

static void add_given(writer *w)
{
    tg_str_add(w->out, "given");
    for (int v = 0; v < w->rule->n_vars; v++) {
        int rank = w->rank[v];
        tg_str_add(w->out, "  ");
        add_name(w, false, (taso_tensor){~v, 0});
        if (!rank && !is_factor(w, v)) continue;
        tg_str_add(w->out, ":[");
        if (!rank) tg_str_addf(w->out, "*p%d,", v);
        for (int i = rank ? 0 : RANKS; i < (rank ? rank : DIMS); i++) {
            if (i && i != RANKS) tg_str_addc(w->out, ',');
            add_dim(w, v, i);
        }
        tg_str_addc(w->out, ']');
    }
    tg_str_addc(w->out, '\n');
}

/* The group of a new convolution, or NULL where it is that of the old one. */
static const char *new_group(const writer *w, const taso_op *op)
{
    int like = taso_conv_like(w, op);
    const taso_op *filter = maker(w, true, op->in[1]);
    if (!w->group[like] || strcmp(w->group[like], "1") == 0) return w->group[like];
    return filter && filter->kind == TASO_CONCAT ? "g + h" : w->group[like];
}

static void add_conv(const writer *w, bool to, int i, const taso_op *op)
{
    int like = to ? taso_conv_like(w, op) : i;
    const char *group = to ? new_group(w, op) : w->group[i];
    tg_str_add(w->out, "; ");
    if (group) tg_str_addf(w->out, "group=%s, ", group);
    tg_str_addf(w->out, "strides=[%d,%d], dilations=[1,1], ", op->stride, op->stride);
    if (op->pad == TASO_VALID) tg_str_add(w->out, "pads=[0,0,0,0], ");
    tg_str_addf(w->out, "activation=\"%s\", ..r%d", op->acti == TASO_ACTI_RELU ? "Relu" : "",
                w->group_of[like]);
}

/* The sizes of the pieces are those of the values that they replace. */
static bool add_split(const writer *w, int i, const taso_op *op)
{
    tg_str_addf(w->out, "; axis=%d, split=[", op->axis);
    for (int port = 0; port < 2; port++) {
        bool found = false;
        for (int k = 0; k < w->rule->n_results && !found; k++) {
            const taso_result *r = &w->rule->results[k];
            found = r->op == i && r->port == port;
            if (!found) continue;
            tg_str_add(w->out, port ? ", dim(" : "dim(");
            add_name(w, false, (taso_tensor){r->source, r->source_port});
            tg_str_addf(w->out, ", %d)", op->axis);
        }
        if (!found) return false;
    }
    tg_str_addc(w->out, ']');
    return true;
}

static bool add_line(const writer *w, bool to, int i, const taso_op *op)
{
    static const char *const names[] = {
        [TASO_CONV] = "Conv",    [TASO_RELU] = "Relu", [TASO_CONCAT] = "Concat",
        [TASO_SPLIT] = "Split",  [TASO_ADD] = "Add",   [TASO_MUL] = "Mul",
        [TASO_MATMUL] = "MatMul"};
    for (int k = 0; k < taso_out_count(op); k++) {
        if (k) tg_str_add(w->out, ", ");
        add_name(w, to, (taso_tensor){i, k});
    }
    tg_str_addf(w->out, " = %s(", names[op->kind]);
    for (int k = 0; k < op->n_in; k++) {
        if (k) tg_str_add(w->out, ", ");
        add_name(w, to, op->in[k]);
    }
    bool ok = true;
    if (op->kind == TASO_CONV) add_conv(w, to, i, op);
    if (op->kind == TASO_CONCAT) tg_str_addf(w->out, "; axis=%d", op->axis);
    if (op->kind == TASO_SPLIT) ok = add_split(w, i, op);
    tg_str_add(w->out, ")\n");
    return ok;
}

static bool add_lines(const writer *w, bool to)
{
    int n;
    const taso_op *op = side(w, to, &n);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        tg_str_add(w->out, i ? "       " : to ? "to     " : "from   ");
        ok &= add_line(w, to, i, &op[i]);
    }
    return ok;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static void begin(const writer *w, const char *section, bool *begun)
{
    tg_str_add(w->out, *begun ? "       " : section);
    *begun = true;
}

static void add_sound(const writer *w)
{
    bool begun = false;
    int g = -1, h = -1;
    for (int i = 0; i < w->rule->n_from; i++) {
        const taso_op *op = &w->rule->from[i];
        if (w->group[i] && w->group[i][0] == 'g') g = i;
        if (w->group[i] && w->group[i][0] == 'h') h = i;
        if (taso_must_agree(w, i) < 0 || op->in[0].op == op->in[1].op) continue;
        begin(w, "if     ", &begun);
        tg_str_add(w->out, "same_shape(");
        add_name(w, false, op->in[0]);
        tg_str_add(w->out, ", ");
        add_name(w, false, op->in[1]);
        tg_str_add(w->out, ")\n");
    }
    if (g < 0 || h < 0) return;
    begin(w, "if     ", &begun);
    tg_str_add(w->out, "dim(");
    add_name(w, false, w->rule->from[g].in[1]);
    tg_str_add(w->out, ", 0) * h == dim(");
    add_name(w, false, w->rule->from[h].in[1]);
    tg_str_add(w->out, ", 0) * g\n");
}

/* A value inside the pattern that one operator reads: in the graph, too, nothing else may. */
static bool is_inner(const taso_rule *rule, int i)
{
    int uses = 0;
    for (int k = 0; k < rule->n_results; k++)
        if (rule->results[k].source == i) return false;
    for (int k = 0; k < rule->n_from; k++)
        for (int s = 0; s < rule->from[k].n_in; s++) uses += rule->from[k].in[s].op == i;
    return uses == 1;
}

static void add_padding(const writer *w, int i, const taso_op *op, bool *begun)
{
    for (int axis = 2; axis < 4 && op->pad == TASO_SAME; axis++) {
        begin(w, "pays   ", begun);
        tg_str_add(w->out, "dim(");
        add_name(w, false, (taso_tensor){i, 0});
        tg_str_addf(w->out, ", %d) == %sdim(", axis, op->stride == 2 ? "(" : "");
        add_name(w, false, op->in[0]);
        tg_str_addf(w->out, ", %d)%s\n", axis, op->stride == 2 ? " + 1) / 2" : "");
    }
    if (op->pad == TASO_SAME) return;
    begin(w, "pays   ", begun);
    tg_str_add(w->out, "dim(");
    add_name(w, false, op->in[1]);
    tg_str_add(w->out, ", 2) * dim(");
    add_name(w, false, op->in[1]);
    tg_str_add(w->out, ", 3) > 1\n");
}

/* Results inside the pattern are used only there, as in TASO; padding is what TASO calls SAME. */
static void add_pays(const writer *w)
{
    bool begun = false, any = false;
    for (int i = 0; i < w->rule->n_from; i++) {
        if (!is_inner(w->rule, i)) continue;
        if (!any) begin(w, "pays   ", &begun);
        tg_str_add(w->out, any ? ", " : "once(");
        add_name(w, false, (taso_tensor){i, 0});
        any = true;
    }
    if (any) tg_str_add(w->out, ")\n");
    for (int i = 0; i < w->rule->n_from; i++)
        if (w->rule->from[i].kind == TASO_CONV) add_padding(w, i, &w->rule->from[i], &begun);
}

static void add_head(const taso_rule *rule, tg_str *out)
{
    tg_str_addf(out,
                "rule   taso-%c%s\nabout  TASO's rule %s: ", tolower((unsigned char)*rule->name),
                rule->name + 1, rule->name);
    taso_rule_words(rule, out);
    tg_str_addc(out, '\n');
}

bool taso_rule_text(const taso_rule *rule, tg_str *out)
{
    writer w = {.rule = rule, .out = out};
    bool sound;
    add_head(rule, out);
    if (taso_built_in_text(rule, out, &sound)) return sound;
    if (!taso_find_shapes(&w)) return false;
    add_given(&w);
    if (!add_lines(&w, false)) return false;
    add_sound(&w);
    add_pays(&w);
    return add_lines(&w, true);
}

/* A text that equal rules share was seen before. */
static bool seen(tg_map *texts, const taso_rule *rule)
{
    tg_str text = {0};
    bool fresh;
    taso_rule_identity(rule, &text);
    tg_map_put(texts, tg_hash_str(7, text.p), &fresh);
    tg_str_free(&text);
    return !fresh;
}

static void add_rules(const taso_rules *rules, tg_str *out)
{
    tg_map texts = {0};
    for (int i = 0; i < rules->n; i++) {
        size_t before = out->n;
        if (taso_rule_dead(&rules->v[i]) || seen(&texts, &rules->v[i])) continue;
        if (before) tg_str_addc(out, '\n');
        if (taso_rule_text(&rules->v[i], out)) continue;
        out->n = before;
        out->p[before] = '\0';
    }
    tg_map_free(&texts);
}

tg_status taso_file_text(const void *data, size_t size, const char *file, tg_str *out)
{
    tg_arena *arena = tg_arena_new();
    taso_rules built_in = taso_built_in(arena), rules;
    tg_status status = taso_decode(data, size, file, arena, &rules);
    if (status == TG_OK) {
        add_rules(&built_in, out);
        add_rules(&rules, out);
    }
    tg_arena_free(arena);
    return status;
}
