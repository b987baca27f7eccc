/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "script.h"

#include "session.h"

#include "engine/base/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_S = 20 };
#define NOTHING (UI_KEY_NONE - 2) /* an item that no reader of keys hears of */

typedef enum verb { SEND, SAVE_DISPLAY, SAVE_FACES, ASSERT, ASSERT_NOT, RESIZE, IDLE, SETTLE } verb;

typedef struct item {
    verb verb;
    ui_key key;
    char *text;
    int line;
} item;

struct ui_script {
    char *name, *failure;
    TG_VEC(item) items;
    size_t at;
    bool ended;
};

static const struct {
    const char *word;
    verb verb;
} verbs[] = {
    {"save-display", SAVE_DISPLAY},
    {"save-faces", SAVE_FACES},
    {"assert-screen", ASSERT},
    {"assert-not", ASSERT_NOT},
    {"resize", RESIZE},
    {"idle", IDLE},
    {"settle", SETTLE},
};

static void add_item(ui_script *s, verb verb, ui_key key, const char *text, int line)
{
    item i = {verb, key, tg_strdup(text), line};
    tg_vec_push(&s->items, i);
}

/* "text" typed as it stands; returns what follows the closing quote, NULL if there is none. */
static const char *add_quoted(ui_script *s, const char *p, int line)
{
    for (p++; *p && *p != '"';) {
        uint32_t cp;
        if (*p == '\\' && p[1]) p++;
        size_t n = ui_utf8_decode(p, strlen(p), &cp);
        if (!n) return NULL;
        add_item(s, SEND, cp, "", line);
        p += n;
    }
    return *p ? p + 1 : NULL;
}

static tg_status add_keys(ui_script *s, const char *p, int line)
{
    while (*p) {
        size_t n = strcspn(p, " ");
        if (*p == '"' && n > 1) {
            p = add_quoted(s, p, line);
            if (!p) return tg_fail(TG_USAGE, "%s:%d: no closing quote", s->name, line);
        } else if (n) {
            ui_key key;
            int count;
            char *word = tg_strdup(p);
            word[n] = '\0';
            tg_status status = ui_keys_parse(word, &key, 1, &count);
            free(word);
            if (status != TG_OK) return tg_wrap(status, "%s:%d", s->name, line);
            /* a key with Meta is typed as two, as most terminals send it */
            if (key & UI_KEY_META) add_item(s, SEND, UI_KEY_ESC, "", line);
            add_item(s, SEND, key & ~(ui_key)UI_KEY_META, "", line);
            p += n;
        }
        while (*p == ' ') p++;
    }
    return TG_OK;
}

static tg_status add_line(ui_script *s, char *text, int line)
{
    while (*text == ' ') text++;
    size_t n = strlen(text), word = strcspn(text, " ");
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\r')) text[--n] = '\0';
    if (!*text || *text == '#') return TG_OK;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strlen(verbs[i].word) != word || memcmp(verbs[i].word, text, word) != 0) continue;
        add_item(s, verbs[i].verb, 0, text[word] ? text + word + 1 : "", line);
        return TG_OK;
    }
    return add_keys(s, text, line);
}

tg_status ui_script_new(const char *name, const char *text, ui_script **script)
{
    ui_script *s = tg_calloc(1, sizeof *s);
    char *copy = tg_strdup(text), *rest = copy;
    tg_status status = TG_OK;
    s->name = tg_strdup(name);
    for (int line = 1; rest && status == TG_OK; line++) {
        char *one = strsep(&rest, "\n");
        status = add_line(s, one, line);
    }
    free(copy);
    if (status == TG_OK) *script = s;
    else ui_script_free(s);
    return status;
}

void ui_script_free(ui_script *s)
{
    for (size_t i = 0; i < s->items.n; i++) free(s->items.v[i].text);
    tg_vec_free(&s->items);
    free(s->name);
    free(s->failure);
    free(s);
}

const char *ui_script_failure(const ui_script *s)
{
    return s->failure;
}

static void fail(ui_app *ui, ui_script *s, const item *i, const char *what)
{
    tg_str words = {0};
    char *screen = ui_grid_text(&ui->grid);
    tg_str_addf(&words, "%s:%d: %s: %s\n%s", s->name, i->line, what, i->text, screen);
    free(screen);
    s->failure = words.p;
    s->at = s->items.n;
    ui_exit(ui, 3);
}

static bool screen_has(ui_app *ui, const char *text)
{
    ui_paint(ui);
    char *screen = ui_grid_text(&ui->grid);
    bool has = strstr(screen, text) != NULL;
    free(screen);
    return has;
}

/* Handles events for a while; false once patience ended. */
static bool wait_a_little(ui_app *ui, int *waited_ms)
{
    struct pollfd fd = {.fd = tg_jobs_fd(ui->jobs), .events = POLLIN};
    poll(&fd, 1, 20);
    tg_jobs_dispatch(ui->jobs);
    *waited_ms += 20;
    return *waited_ms < PATIENCE_S * 1000;
}

/* Nothing will change by itself. */
static bool is_idle(ui_app *ui)
{
    const ui_session *s = ui_session_get(ui);
    return !tg_jobs_busy(ui->jobs) && !(s && s->training);
}

static void wait_for_text(ui_app *ui, ui_script *s, const item *i)
{
    int waited = 0;
    while (!screen_has(ui, i->text)) {
        if ((!ui->term->live && is_idle(ui)) || !wait_a_little(ui, &waited)) {
            /* the last events may have brought it */
            tg_jobs_dispatch(ui->jobs);
            if (!screen_has(ui, i->text)) fail(ui, s, i, "not on the screen");
            return;
        }
    }
}

static void save(ui_app *ui, ui_script *s, const item *i)
{
    ui_paint(ui);
    char *text = i->verb == SAVE_FACES ? ui_grid_faces(&ui->grid) : ui_grid_text(&ui->grid);
    if (tg_write_file(i->text, text, strlen(text)) != TG_OK) fail(ui, s, i, tg_message());
    free(text);
}

static void resize(ui_app *ui, ui_script *s, const item *i)
{
    char *end;
    long rows = strtol(i->text, &end, 10), cols = strtol(end, &end, 10);
    if (rows < 1 || cols < 1 || rows > 1000 || cols > 1000 || ui->term->live) {
        fail(ui, s, i, "cannot resize to");
        return;
    }
    ui_term_memory_resize(ui->term, (int)rows, (int)cols);
    ui->term->read(ui->term);
}

/* Carries out an item that is no key; returns what the reader of keys is told. */
static ui_key perform(ui_app *ui, ui_script *s, const item *i)
{
    int waited = 0;
    switch (i->verb) {
    case SEND: return i->key;
    case SAVE_DISPLAY:
    case SAVE_FACES: save(ui, s, i); break;
    case ASSERT: wait_for_text(ui, s, i); break;
    case ASSERT_NOT:
        if (screen_has(ui, i->text)) fail(ui, s, i, "on the screen");
        break;
    case RESIZE: resize(ui, s, i); return UI_KEY_RESIZE;
    case IDLE: return UI_KEY_NONE;
    case SETTLE:
        do tg_jobs_dispatch(ui->jobs);
        while (tg_jobs_busy(ui->jobs) && wait_a_little(ui, &waited));
        break;
    }
    return NOTHING;
}

ui_key ui_script_next(ui_app *ui, ui_script *s)
{
    while (s->at < s->items.n && !ui->exit) {
        const item *i = &s->items.v[s->at++];
        ui_key key = perform(ui, s, i);
        if (key != NOTHING) return key;
    }
    /* what a test compares is the screen before the loops that are open unwind */
    if (!s->ended && !ui->exit) ui_paint(ui);
    s->ended = true;
    return UI_KEY_EOF;
}
