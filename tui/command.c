/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command.h"

#include "prompt.h"

#include <stdlib.h>
#include <string.h>

/* The linker gathers the pointers of DEFCMD between these. */
extern const ui_command *const __start_ui_commands[];
extern const ui_command *const __stop_ui_commands[];

/* Referring to a mark of each family keeps its file in the program. */
#define FAMILY(name) extern const char ui_family_##name;
#include "family.def"
#undef FAMILY
__attribute__((used)) static const char *const families[] = {
#define FAMILY(name) &ui_family_##name,
#include "family.def"
#undef FAMILY
};

static const ui_command **sorted;
static int n_sorted;

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const ui_command *const *)a)->name, (*(const ui_command *const *)b)->name);
}

static void sort_once(void)
{
    if (sorted) return;
    size_t n = (size_t)(__stop_ui_commands - __start_ui_commands);
    sorted = tg_memdup(__start_ui_commands, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_name);
    n_sorted = (int)n;
}

const ui_command *ui_command_at(int i)
{
    sort_once();
    return i < n_sorted ? sorted[i] : NULL;
}

const ui_command *ui_command_find(const char *name)
{
    sort_once();
    int lo = 0, hi = n_sorted;
    while (lo < hi) {
        int mid = (lo + hi) / 2, order = strcmp(sorted[mid]->name, name);
        if (order == 0) return sorted[mid];
        if (order < 0) lo = mid + 1;
        else hi = mid;
    }
    return NULL;
}

/* Edit distance (Wagner and Fischer 1974), for names of at most 63 characters. */
static int edit_distance(const char *a, const char *b)
{
    int row[64];
    int n = (int)strlen(b);
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int up = row[j], best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = up;
            row[j] = best;
        }
    }
    return row[n];
}

const ui_command *ui_command_nearest(const char *name)
{
    const ui_command *best = NULL;
    int limit = (int)strlen(name) / 3 + 1;
    for (int i = 0; ui_command_at(i); i++) {
        if (strlen(sorted[i]->name) > 63 || strlen(name) > 63) continue;
        int d = edit_distance(name, sorted[i]->name);
        if (d > limit) continue;
        limit = d - 1;
        best = sorted[i];
    }
    return best;
}

int ui_command_summary(const ui_command *command)
{
    return (int)strcspn(command->doc, "\n");
}

const char *ui_command_file(const ui_command *command)
{
    const char *slash = strrchr(command->file, '/');
    return slash ? slash + 1 : command->file;
}

tg_status ui_command_call(ui_app *ui, const ui_command *command, ui_prefix prefix,
                          const ui_args *given)
{
    ui_spec spec;
    ui_args args = {.prefix = prefix};
    TG_TRY(ui_spec_parse(command->spec, &spec));
    if (given) ui_args_copy(&args, given);
    tg_status status = ui_prompt_missing(ui, command, &spec, &args);
    if (status == TG_OK) {
        ui_args_defaults(&spec, &args);
        status = command->run(ui, &args);
    }
    ui_args_done(&args);
    ui_spec_done(&spec);
    return status;
}

tg_status ui_command_run(ui_app *ui, const char *name, const char *const *argv)
{
    const ui_command *command = ui_command_find(name);
    ui_spec spec;
    ui_args args = {0};
    int argc = 0;
    if (!command) return tg_fail(TG_NOTFOUND, "no command is called %s", name);
    while (argv && argv[argc]) argc++;
    TG_TRY(ui_spec_parse(command->spec, &spec));
    tg_status status = ui_args_parse(&spec, argc, argv, &args);
    if (status == TG_OK) {
        status = ui_command_call(ui, command, (ui_prefix){.n = 1}, &args);
    }
    ui_args_done(&args);
    ui_spec_done(&spec);
    return status;
}
