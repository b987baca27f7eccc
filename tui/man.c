/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "man.h"

#include "app.h"

#include <stdlib.h>
#include <string.h>

/* Text of a page: roff's own characters lose their meaning. `start`: a line begins here. */
static void add_text(const char *text, bool start, tg_str *out)
{
    for (; *text; text++) {
        if (start && (*text == '.' || *text == '\'')) tg_str_add(out, "\\&");
        start = *text == '\n';
        if (*text == '\\') tg_str_add(out, "\\e");
        else if (*text == '-') tg_str_add(out, "\\-");
        else tg_str_addc(out, *text);
    }
}

/* A docstring: an empty line begins a paragraph, `name' is a word of the program. */
static void add_doc(const char *doc, tg_str *out)
{
    while (*doc) {
        const char *end = strstr(doc, "\n\n");
        size_t n = end ? (size_t)(end - doc) : strlen(doc);
        tg_str part = {0};
        tg_str_addn(&part, doc, n);
        add_text(tg_str_text(&part), true, out);
        tg_str_free(&part);
        tg_str_add(out, end ? "\n.IP\n" : "\n");
        doc += n + (end ? 2 : 0);
    }
}

static void add_parameters(const ui_spec *spec, tg_str *out)
{
    tg_str lines = {0};
    ui_spec_describe(spec, &lines);
    if (lines.n) {
        tg_str_add(out, ".IP\n.nf\n");
        add_text(lines.p, true, out);
        tg_str_add(out, ".fi\n");
    }
    tg_str_free(&lines);
}

static void add_command(const ui_command *c, tg_str *out)
{
    ui_spec spec;
    tg_str usage = {0};
    if (ui_spec_parse(c->spec, &spec) != TG_OK) return;
    if (spec.batch) {
        ui_spec_usage(&spec, &usage);
        tg_str_add(out, ".TP\n.B regraft ");
        add_text(c->name, false, out);
        add_text(tg_str_text(&usage), false, out);
        tg_str_addc(out, '\n');
        add_doc(c->doc, out);
        add_parameters(&spec, out);
    }
    ui_spec_done(&spec);
    tg_str_free(&usage);
}

static void add_options(tg_str *out)
{
    for (int i = 0; i < UI_OPT_COUNT; i++) {
        const ui_opt_info *o = ui_opt_info_get((ui_opt)i);
        tg_str_add(out, ".TP\n.B ");
        add_text(o->name, false, out);
        tg_str_addc(out, '\n');
        add_text(o->doc, true, out);
        tg_str_add(out, ".\nDefault: ");
        add_text(o->start, false, out);
        if (o->kind == UI_OPT_CHOICE) {
            tg_str_add(out, "; one of ");
            add_text(o->choices, false, out);
        }
        tg_str_add(out, ".\n");
    }
}

static const char head[] =
    ".\\\" Made from the program's tables by `make docs'.\n"
    ".TH REGRAFT 1 \"\" \"regraft\" \"User Commands\"\n"
    ".SH NAME\n"
    "regraft \\- rewrite neural networks step by step, with measured latencies\n"
    ".SH SYNOPSIS\n"
    ".B regraft\n"
    ".RI [ option ...]\n"
    ".RB [ explore ]\n"
    ".RI [ model ]\n"
    ".br\n"
    ".B regraft\n"
    ".I command\n"
    ".RI [ argument ...]\n"
    ".SH DESCRIPTION\n"
    "regraft opens an ONNX model, shows its tensor graph and the rewrites that apply to it, ranks\n"
    "them with a policy that learns while it is used, measures what they gain, and applies them "
    "on\n"
    "demand.\n"
    "Without a command it opens a full\\-screen explorer with the keys of Emacs; C\\-h lists "
    "them.\n"
    "Each command runs without a screen too.\n"
    ".SH OPTIONS\n"
    ".TP\n.BR \\-q \", \" \\-Q\nRead and write no files of the user's own.\n"
    ".TP\n.BI \\-\\-memory-limit \" size\"\nFail with a message instead of taking more memory than "
    "this: 512M, 2G. Mapped files do not count.\n"
    ".TP\n.BI \\-\\-script \" file\"\nTake keys from this file first.\n"
    ".TP\n.BI \\-\\-set \" name\" = value\nGive an option of the explorer a value (see below).\n"
    ".TP\n.B \\-\\-version\nPrint the version.\n"
    ".TP\n.B \\-\\-help\nPrint a summary; after a command, its arguments.\n"
    ".SH COMMANDS\n";

static const char tail[] =
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nDone.\n"
    ".TP\n.B 1\nBad input: the message names what is wrong and where.\n"
    ".TP\n.B 2\nWrong usage, or a terminal that cannot be used.\n"
    ".TP\n.B 3\nA check that ran and failed: outputs differ, a replay differs.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B REGRAFT_RULES\nThe folder that rules are read from.\n"
    ".TP\n.BR XDG_STATE_HOME \", \" XDG_CACHE_HOME\n"
    "Where journals and the latencies of operators are kept, below\n.BR regraft .\n"
    ".TP\n.BR TERM \", \" NO_COLOR \", \" COLORFGBG \", \" LC_ALL\n"
    "What the terminal shows.\n";

void ui_man_page(tg_str *out)
{
    const ui_command *c;
    tg_str_add(out, head);
    for (int i = 0; (c = ui_command_at(i)) != NULL; i++) add_command(c, out);
    tg_str_add(out, ".SH VALUES OF \\-\\-set\n");
    add_options(out);
    tg_str_add(out, tail);
}
