/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Screens: tests/screen/NAME.keys is a script, NAME.screen what the screen shows at its end,
 * NAME.faces (if it is there) its faces. The first line of the script is `# ROWS COLS`, then words:
 * `ascii`, and `model=NAME` for a sample that is opened first (the analytic model measures, nothing
 * trains). With REGRAFT_UPDATE_SCREENS=1 the expectations are written anew.
 */
#include "tests/unit/ui_run.h"

#include <dirent.h>

static char *read_text(const char *stem, const char *ext)
{
    char path[4200], *text;
    size_t size;
    snprintf(path, sizeof path, "%s%s", stem, ext);
    return tg_read_file(path, 1 << 20, &text, &size) == TG_OK ? text : NULL;
}

static void write_text(const char *stem, const char *ext, const char *text)
{
    char path[4200];
    snprintf(path, sizeof path, "%s%s", stem, ext);
    assert_ok(tg_write_file(path, text, strlen(text)));
}

/* Prints a text as comments of TAP. */
static void print_lines(const char *title, const char *text)
{
    printf("# %s\n", title);
    while (*text) {
        int n = (int)strcspn(text, "\n");
        printf("# %.*s\n", n, text);
        text += n + (text[n] == '\n');
    }
}

static bool same(const char *stem, const char *ext, char *got)
{
    char *want = read_text(stem, ext);
    bool is_faces = strcmp(ext, ".faces") == 0;
    if (getenv("REGRAFT_UPDATE_SCREENS") && (want || !is_faces)) write_text(stem, ext, got);
    else if (!want && !is_faces) print_lines("no expectation; the screen is", got);
    bool ok = want ? strcmp(want, got) == 0 : is_faces;
    if (want && !ok) {
        print_lines("expected", want);
        print_lines("got", got);
    }
    free(want);
    free(got);
    return ok;
}

static bool screen_is_right(const char *stem)
{
    int rows = 24, cols = 80;
    char *keys = read_text(stem, ".keys"), words[64] = "", model[32] = "";
    sscanf(keys, "# %d %d%63[^\n]", &rows, &cols, words);
    const char *named = strstr(words, "model=");
    ui_app *ui = ui_start(rows, cols, !strstr(words, "ascii"));
    if (named && sscanf(named, "model=%31s", model) == 1) ui_open_sample(ui, model);
    bool ok = ui_script_new(stem, keys, &ui->script) == TG_OK;
    if (ok) {
        ui_loop(ui);
        const char *failure = ui_script_failure(ui->script);
        if (failure) print_lines("failed", failure);
        ok = !failure && same(stem, ".screen", ui_term_memory_text(ui->term)) &&
             same(stem, ".faces", ui_term_memory_faces(ui->term));
    } else {
        print_lines("script", tg_message());
    }
    free(keys);
    ui_app_free(ui);
    return ok;
}

static int is_keys(const struct dirent *entry)
{
    return tg_ends_with(entry->d_name, ".keys");
}

int main(void)
{
    struct dirent **list;
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* rules of their own, so that screens stay when rules come */
    setenv("REGRAFT_RULES", unit_source("tests/screen/rules"), 1);
    int n = scandir(unit_source("tests/screen"), &list, is_keys, alphasort), failed = 0;
    if (n <= 0) {
        printf("Bail out! no scripts in tests/screen\n");
        return 1;
    }
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        char stem[4096];
        int len = (int)strlen(list[i]->d_name) - 5;
        snprintf(stem, sizeof stem, "%s/%.*s", unit_source("tests/screen"), len, list[i]->d_name);
        bool ok = screen_is_right(stem);
        printf("%sok %d - %.*s\n", ok ? "" : "not ", i + 1, len, list[i]->d_name);
        failed += !ok;
        free(list[i]);
    }
    free(list);
    return unit_end(failed);
}
