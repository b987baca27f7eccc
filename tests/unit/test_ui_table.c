/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the interface agree with each other: commands, keys, modes, options, specs. */
#include "tests/unit/ui_run.h"
#include "tui/help.h"

#include <ctype.h>

static void keys_round_trip(void **state)
{
    (void)state;
    static const char *const names[] = {"C-x C-w", "M-x",        "C-M-v", "ESC ESC ESC", "C-c RET",
                                        "<f1> k",  "C-x <left>", "S-TAB", "M-<next>",    "C-_",
                                        "M-DEL",   "C-SPC",      "M-RET", "C-c C-SPC"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ui_key keys[UI_MAX_KEYS], again[UI_MAX_KEYS];
        int n, m;
        tg_str s = {0};
        assert_ok(ui_keys_parse(names[i], keys, UI_MAX_KEYS, &n));
        ui_keys_name(keys, n, &s);
        assert_string_equal(s.p, names[i]);
        assert_ok(ui_keys_parse(s.p, again, UI_MAX_KEYS, &m));
        assert_int_equal(n, m);
        assert_memory_equal(keys, again, sizeof *keys * (size_t)n);
        tg_str_free(&s);
    }
}

static void keys_are_equal_by_meaning(void **state)
{
    (void)state;
    ui_key a[UI_MAX_KEYS], b[UI_MAX_KEYS];
    int n, m;
    assert_ok(ui_keys_parse("ESC x", a, UI_MAX_KEYS, &n));
    assert_ok(ui_keys_parse("M-x", b, UI_MAX_KEYS, &m));
    assert_int_equal(n, 1);
    assert_int_equal(a[0], b[0]);
    assert_ok(ui_keys_parse("C-/", a, UI_MAX_KEYS, &n));
    assert_ok(ui_keys_parse("C-_", b, UI_MAX_KEYS, &m));
    assert_int_equal(a[0], b[0]);
    assert_status(ui_keys_parse("C-", a, UI_MAX_KEYS, &n), TG_USAGE);
    assert_status(ui_keys_parse("nokey", a, UI_MAX_KEYS, &n), TG_USAGE);
}

static void keymaps_look_up(void **state)
{
    (void)state;
    ui_keymap *parent = ui_keymap_new("parent-map", NULL), *map = ui_keymap_new("map", parent);
    const ui_keymap *where = NULL;
    ui_key keys[UI_MAX_KEYS];
    int n;
    assert_ok(ui_keymap_bind(parent, "C-x o", "other-window"));
    assert_ok(ui_keymap_bind(parent, "n", "next-line"));
    assert_ok(ui_keymap_bind(map, "C-x 2", "split-window-below"));
    assert_ok(ui_keymap_bind(map, "n", "previous-line"));
    assert_ok(ui_keys_parse("C-x o", keys, UI_MAX_KEYS, &n));
    assert_true(ui_keymap_lookup(map, keys, 1, NULL).prefix);
    assert_string_equal(ui_keymap_lookup(map, keys, 2, &where).command->name, "other-window");
    assert_ptr_equal(where, parent);
    assert_string_equal(ui_keymap_lookup(map, (ui_key[]){'n'}, 1, NULL).command->name,
                        "previous-line");
    assert_null(ui_keymap_lookup(map, (ui_key[]){'z'}, 1, NULL).command);
    assert_status(ui_keymap_bind(map, "n n", "next-line"), TG_USAGE);
    assert_status(ui_keymap_bind(map, "C-x", "next-line"), TG_USAGE);
    assert_status(ui_keymap_bind(map, "y", "no-such-command"), TG_NOTFOUND);
    ui_keymap_free(map);
    ui_keymap_free(parent);
}

static void commands_are_documented(void **state)
{
    (void)state;
    const ui_command *c;
    int n = 0;
    for (; (c = ui_command_at(n)) != NULL; n++) {
        ui_spec spec;
        if (ui_spec_parse(c->spec, &spec) != TG_OK) fail_msg("%s: %s", c->name, tg_message());
        bool says = strstr(c->doc, "prefix argument") || strstr(c->doc, "C-u");
        if (spec.reads_prefix && !says) fail_msg("%s: what the prefix argument does", c->name);
        for (int i = 0; i < spec.n; i++) {
            if (!spec.params[i].doc[0]) fail_msg("%s %s: no words", c->name, spec.params[i].name);
        }
        int len = ui_command_summary(c);
        if (len > 120 || !isupper((unsigned char)c->doc[0])) fail_msg("%s: first line", c->name);
        for (const char *p = c->name; *p; p++) assert_true(islower((unsigned char)*p) || *p == '-');
        assert_ptr_equal(ui_command_find(c->name), c);
        ui_spec_done(&spec);
    }
    assert_true(n > 80);
    assert_string_equal(ui_command_nearest("othr-window")->name, "other-window");
    assert_null(ui_command_nearest("qqqqqqqqq"));
}

static void modes_bind_their_keys(void **state)
{
    (void)state;
    ui_app *ui = ui_start(24, 80, true);
    for (int i = 0; ui_mode_at(i); i++) {
        const ui_mode *m = ui_mode_at(i);
        ui_text text;
        ui_text_init(&text);
        assert_non_null(ui_mode_keymap(ui, m));
        assert_true(strlen(m->doc) > 10 && m->label && tg_ends_with(m->name, "-mode"));
        ui_describe_mode(ui, m, &text);
        assert_true(text.lines.n > 3);
        ui_text_done(&text);
    }
    ui_app_free(ui);
}

static void options_check_values(void **state)
{
    (void)state;
    ui_opt_reset();
    for (int i = 0; i < UI_OPT_COUNT; i++) {
        /* the default must pass its own check */
        assert_ok(ui_opt_set((ui_opt)i, ui_opt_info_get((ui_opt)i)->start));
        assert_true(strlen(ui_opt_info_get((ui_opt)i)->doc) > 10);
    }
    assert_ok(ui_opt_assign("refresh-rate=7"));
    assert_int_equal(ui_opt_int(UI_OPT_refresh_rate), 7);
    assert_status(ui_opt_assign("refresh-rate=0"), TG_USAGE);
    assert_status(ui_opt_assign("refresh-rate=nan"), TG_USAGE);
    assert_status(ui_opt_assign("refresh-rate=1.5"), TG_USAGE);
    assert_int_equal(ui_opt_int(UI_OPT_refresh_rate), 7);
    assert_ok(ui_opt_assign("which-key-mode=off"));
    assert_false(ui_opt_flag(UI_OPT_which_key));
    assert_status(ui_opt_assign("glyphs=round"), TG_USAGE);
    assert_contains(tg_message(), "auto|ascii|box|braille");
    assert_status(ui_opt_assign("no-such=1"), TG_NOTFOUND);
    assert_status(ui_opt_assign("glyphs"), TG_USAGE);
    ui_opt_reset();
    assert_int_equal(ui_opt_int(UI_OPT_refresh_rate), 5);
}

static const char spec_text[] =
    "batch; N; model:file The model; rest...:text More; -o --out:path Where to write; "
    "--by:choice(ppo|greedy)=ppo Who chooses; --n:int=3 How many; --json:flag One object";

static void specs_read_command_lines(void **state)
{
    (void)state;
    ui_spec spec;
    ui_args args = {0};
    assert_ok(ui_spec_parse(spec_text, &spec));
    assert_true(spec.batch && spec.reads_prefix);
    const char *argv[] = {"m.onnx", "-o", "x.onnx", "--n=5", "a", "--json", "--", "-b"};
    assert_ok(ui_args_parse(&spec, 8, argv, &args));
    assert_string_equal(ui_arg(&args, "model"), "m.onnx");
    assert_string_equal(ui_arg(&args, "out"), "x.onnx");
    assert_string_equal(ui_arg(&args, "by"), "ppo");
    assert_int_equal(ui_arg_int(&args, "n"), 5);
    assert_true(ui_arg_flag(&args, "json"));
    assert_string_equal(ui_arg_nth(&args, "rest", 1), "-b");
    assert_null(ui_arg_nth(&args, "rest", 2));
    assert_null(ui_args_missing(&spec, &args));
    ui_args_done(&args);
    tg_str usage = {0};
    ui_spec_usage(&spec, &usage);
    assert_string_equal(usage.p, " MODEL REST... [--out FILE] [--by ppo|greedy] [--n N] [--json]");
    tg_str_free(&usage);
    ui_spec_done(&spec);
}

static void specs_refuse_wrong_lines(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"--by", "random"}, {"--n", "x"}, {"--no", "1"}, {"--json=1", "m"}, {"m", "--out"}};
    ui_spec spec;
    assert_ok(ui_spec_parse(spec_text, &spec));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ui_args args = {0};
        assert_status(ui_args_parse(&spec, 2, wrong[i], &args), TG_USAGE);
        ui_args_done(&args);
    }
    ui_args none = {0};
    assert_string_equal(ui_args_missing(&spec, &none)->name, "model");
    ui_spec_done(&spec);
    assert_status(ui_spec_parse("x:nosuch A thing", &spec), TG_USAGE);
    assert_status(ui_spec_parse("nokind", &spec), TG_USAGE);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keys_round_trip),          cmocka_unit_test(keys_are_equal_by_meaning),
    cmocka_unit_test(keymaps_look_up),          cmocka_unit_test(commands_are_documented),
    cmocka_unit_test(modes_bind_their_keys),    cmocka_unit_test(options_check_values),
    cmocka_unit_test(specs_read_command_lines), cmocka_unit_test(specs_refuse_wrong_lines),
};
UNIT_MAIN(tests)
