/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "manual.h"

#include "ops.h"

#include <string.h>

/* The column that the table keeps for the cpu backend: "none", or the family of its kernels. */
static const char *const cpu_of[] = {
#define OP(id, name, domain, since, in, out, attrs, folds, flags, infer, kernel, work, cpu, doc)   \
#cpu,
#include "ops.def"
#undef OP
};

static void add_arity(int least, int most, tg_str *out)
{
    if (most < 0) tg_str_addf(out, "%d…", least);
    else if (most == least) tg_str_addf(out, "%d", least);
    else tg_str_addf(out, "%d–%d", least, most);
}

/* A cell: what Markdown would take for the end of it is escaped. */
static void add_cell(const char *text, tg_str *out)
{
    for (; *text; text++) {
        if (*text == '|') tg_str_addc(out, '\\');
        tg_str_addc(out, *text);
    }
}

static void add_flags(unsigned flags, tg_str *out)
{
    static const struct {
        unsigned flag;
        const char *word;
    } words[] = {{TG_COMMUTES, "commutes"}, {TG_ELTWISE, "element-wise"},
                 {TG_VIEW, "moves only"},   {TG_RANDOM, "random"},
                 {TG_LINEAR, "linear"},     {TG_ACCUMULATES, "accumulates"}};
    bool first = true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!(flags & words[i].flag)) continue;
        tg_str_addf(out, "%s%s", first ? "" : ", ", words[i].word);
        first = false;
    }
}

static void add_row(int i, tg_str *out)
{
    const tg_op_row *row = &tg_op_rows[i];
    bool reference = strcmp(cpu_of[i], "none") == 0;
    tg_str_addf(out, "| %s%s%s | %d | ", row->domain, row->domain[0] ? "." : "", row->name,
                row->since);
    add_arity(row->min_in, row->max_in, out);
    tg_str_add(out, " | ");
    add_arity(row->min_out, row->max_out, out);
    tg_str_add(out, " | ");
    if (row->attrs[0]) {
        tg_str_add(out, "`");
        add_cell(row->attrs, out);
        tg_str_add(out, "`");
    }
    tg_str_add(out, " | ");
    add_flags(row->flags, out);
    tg_str_addf(out, " | %s | ", reference ? "reference" : cpu_of[i]);
    add_cell(row->doc, out);
    tg_str_add(out, " |\n");
}

void tg_ops_manual(tg_str *out)
{
    int n = 0;
    for (int i = 0; i < tg_op_row_count; i++) n += !(tg_op_rows[i].flags & TG_INTERNAL);
    tg_str_addf(
        out,
        "regraft knows %d operators. A model may hold others: they stay in it, are never "
        "matched by a rule,\nand are named when the model is opened. `opset` is the lowest "
        "version with the meaning of the row; older\nforms are brought to it on loading. An "
        "attribute is written `name:kind=default`; `!` says that it must be\nthere. `cpu` "
        "names the kernels of the cpu backend; `reference` runs the plain loops that all "
        "others are\ntested against.\n\n"
        "| operator | opset | inputs | outputs | attributes | kind | cpu | meaning |\n"
        "|---|---|---|---|---|---|---|---|\n",
        n);
    for (int i = 0; i < tg_op_row_count; i++)
        if (!(tg_op_rows[i].flags & TG_INTERNAL)) add_row(i, out);
}
