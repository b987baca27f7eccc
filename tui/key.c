/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "key.h"

#include "char.h"

#include <string.h>

typedef struct named {
    const char *name;
    ui_key key;
} named;

/* The first name of a key is the one shown. */
static const named names[] = {
    {"RET", UI_KEY_RET},
    {"TAB", UI_KEY_TAB},
    {"ESC", UI_KEY_ESC},
    {"SPC", ' '},
    {"DEL", UI_KEY_DEL},
    {"C-SPC", UI_KEY_NUL},
    {"C-_", 31},
    {"C-/", 31},
    {"C-@", UI_KEY_NUL},
    {"S-TAB", UI_KEY_BACKTAB},
    {"<backtab>", UI_KEY_BACKTAB},
    {"<up>", UI_KEY_UP},
    {"<down>", UI_KEY_DOWN},
    {"<left>", UI_KEY_LEFT},
    {"<right>", UI_KEY_RIGHT},
    {"<home>", UI_KEY_HOME},
    {"<end>", UI_KEY_END},
    {"<prior>", UI_KEY_PRIOR},
    {"<next>", UI_KEY_NEXT},
    {"PgUp", UI_KEY_PRIOR},
    {"PgDn", UI_KEY_NEXT},
    {"<insert>", UI_KEY_INSERT},
    {"<delete>", UI_KEY_DELETE},
    {"<f1>", UI_KEY_F1},
    {"<f2>", UI_KEY_F1 + 1},
    {"<f3>", UI_KEY_F1 + 2},
    {"<f4>", UI_KEY_F1 + 3},
    {"<f5>", UI_KEY_F1 + 4},
    {"<f6>", UI_KEY_F1 + 5},
    {"<f7>", UI_KEY_F1 + 6},
    {"<f8>", UI_KEY_F1 + 7},
    {"<f9>", UI_KEY_F1 + 8},
    {"<f10>", UI_KEY_F1 + 9},
    {"<f11>", UI_KEY_F1 + 10},
    {"<f12>", UI_KEY_F12},
    {"<paste>", UI_KEY_PASTE},
};
enum { N_NAMES = sizeof names / sizeof *names };

static bool find_named(const char *s, size_t n, ui_key *key)
{
    for (int i = 0; i < N_NAMES; i++) {
        if (strlen(names[i].name) == n && memcmp(names[i].name, s, n) == 0) {
            *key = names[i].key;
            return true;
        }
    }
    return false;
}

/* Control turns a letter or one of @[\]^_? into a control character. */
static bool add_control(ui_key *key)
{
    ui_key k = *key & ~(ui_key)UI_KEY_META, meta = *key & UI_KEY_META;
    if (k >= 'a' && k <= 'z') k -= 96;
    else if (k >= '@' && k <= '_') k -= 64;
    else if (k == '?') k = UI_KEY_DEL;
    else if (k >= UI_KEY_UP) k |= UI_KEY_CTRL;
    else return false;
    *key = k | meta;
    return true;
}

static bool parse_one(const char *s, size_t n, ui_key *key)
{
    uint32_t cp;
    if (find_named(s, n, key)) return true;
    if (n > 2 && s[1] == '-' && strchr("CMS", s[0])) {
        if (!parse_one(s + 2, n - 2, key)) return false;
        if (s[0] == 'M') *key |= UI_KEY_META;
        else if (s[0] == 'C') return add_control(key);
        else if (*key >= UI_KEY_UP) *key |= UI_KEY_SHIFT;
        else return false;
        return true;
    }
    if (n > 0 && ui_utf8_decode(s, n, &cp) == n) {
        *key = cp;
        return true;
    }
    return false;
}

tg_status ui_keys_parse(const char *text, ui_key *keys, int cap, int *n)
{
    int count = 0;
    for (const char *s = text; *s;) {
        size_t len = strcspn(s, " ");
        ui_key key;
        if (len) {
            if (!parse_one(s, len, &key))
                return tg_fail(TG_USAGE, "no such key: %.*s", (int)len, s);
            /* C-x ESC x is C-x M-x; after ESC ESC the third ESC stands alone */
            if (count && keys[count - 1] == UI_KEY_ESC) keys[count - 1] = key | UI_KEY_META;
            else if (count == cap) return tg_fail(TG_USAGE, "key sequence too long: %s", text);
            else keys[count++] = key;
        }
        s += len + (s[len] == ' ');
    }
    *n = count;
    return TG_OK;
}

static void add_base_name(ui_key key, tg_str *out)
{
    char utf8[5];
    for (int i = 0; i < N_NAMES; i++) {
        if (names[i].key == key) {
            tg_str_add(out, names[i].name);
            return;
        }
    }
    if (key < 32) {
        tg_str_addf(out, "C-%c", key <= 26 ? (char)(key + 96) : (char)(key + 64));
    } else if (key >= UI_KEY_UP) {
        tg_str_addf(out, "<key-%u>", (unsigned)(key - UI_KEY_UP));
    } else {
        ui_utf8_encode(key, utf8);
        tg_str_add(out, utf8);
    }
}

void ui_key_name(ui_key key, tg_str *out)
{
    bool meta = key & UI_KEY_META;
    ui_key base = key & ~(ui_key)(UI_KEY_META | UI_KEY_CTRL | UI_KEY_SHIFT);
    /* C-M-x, never M-C-x */
    if (meta && base >= 1 && base < 32 && base != UI_KEY_RET && base != UI_KEY_TAB &&
        base != UI_KEY_ESC) {
        tg_str_addf(out, "C-M-%c", base <= 26 ? (char)(base + 96) : (char)(base + 64));
        return;
    }
    if (key & UI_KEY_CTRL) tg_str_add(out, "C-");
    if (meta) tg_str_add(out, "M-");
    if (key & UI_KEY_SHIFT) tg_str_add(out, "S-");
    add_base_name(base, out);
}

void ui_keys_name(const ui_key *keys, int n, tg_str *out)
{
    for (int i = 0; i < n; i++) {
        if (i) tg_str_addc(out, ' ');
        if (keys[i] == (UI_KEY_ESC | UI_KEY_META)) tg_str_add(out, "ESC ESC");
        else ui_key_name(keys[i], out);
    }
}

bool ui_key_is_text(ui_key key)
{
    return key >= 32 && key < UI_KEY_UP && key != UI_KEY_DEL;
}
