/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The generated parts of doc/ are those that the program would write now. `make docs` or
 * REGRAFT_UPDATE_DOCS=1 writes them anew.
 */
#include "tests/unit/unit.h"
#include "tui/app.h"
#include "tui/manual.h"

#include "engine/engine.h"

/* The first line that differs, for the message. */
static void fail_at(const char *file, const char *want, const char *got)
{
    int line = 1;
    const char *want_line = want, *got_line = got;
    for (; *want && *want == *got; want++, got++) {
        if (*want != '\n') continue;
        line++;
        want_line = want + 1;
        got_line = got + 1;
    }
    fail_msg("doc/%s:%d: \"%.*s\" is written there, \"%.*s\" it should be (make docs)", file, line,
             (int)strcspn(want_line, "\n"), want_line, (int)strcspn(got_line, "\n"), got_line);
}

static void part_is_up_to_date(const ui_manual_part *part)
{
    char path[64], *there;
    size_t size;
    tg_str text = {0};
    assert_ok(part->write(&text));
    snprintf(path, sizeof path, "doc/%s", part->file);
    if (getenv("REGRAFT_UPDATE_DOCS")) assert_ok(tg_write_file(unit_source(path), text.p, text.n));
    assert_ok(tg_read_file(unit_source(path), 1 << 24, &there, &size));
    if (strcmp(there, text.p) != 0) fail_at(part->file, there, text.p);
    free(there);
    tg_str_free(&text);
}

static void documents_are_up_to_date(void **state)
{
    (void)state;
    for (int i = 0; ui_manual_at(i); i++) part_is_up_to_date(ui_manual_at(i));
    assert_non_null(ui_manual_find("operators"));
    assert_null(ui_manual_find("nothing"));
}

/* Every operator, every command that runs without a screen, and every option is told of. */
static void documents_are_whole(void **state)
{
    (void)state;
    tg_str ops = {0}, page = {0};
    const ui_command *c;
    assert_ok(ui_manual_find("operators")->write(&ops));
    assert_ok(ui_manual_find("man")->write(&page));
    int rows = 0;
    for (const char *p = ops.p; (p = strstr(p, "\n| ")) != NULL; p++) rows++;
    int real = 0;
    for (int i = 0; i < tg_op_row_count; i++) real += !(tg_op_rows[i].flags & TG_INTERNAL);
    assert_int_equal(rows, real + 1);
    for (int i = 0; (c = ui_command_at(i)) != NULL; i++) {
        tg_str line = {0};
        tg_str_addf(&line, ".B regraft %s", c->name);
        for (char *dash; (dash = strchr(line.p + 11, '-')) != NULL; *dash = '\1') {}
        tg_str want = {0};
        for (const char *p = line.p; *p; p++)
            tg_str_add(&want, *p == '\1' ? "\\-" : (char[]){*p, 0});
        if (strncmp(c->spec, "batch", 5) == 0) assert_contains(page.p, want.p);
        else assert_null(strstr(page.p, want.p));
        tg_str_free(&want);
        tg_str_free(&line);
    }
    /* no line begins with a request that was meant as text */
    assert_null(strstr(page.p, "\n'"));
    tg_str_free(&ops);
    tg_str_free(&page);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(documents_are_up_to_date),
    cmocka_unit_test(documents_are_whole),
};
UNIT_MAIN(tests)
