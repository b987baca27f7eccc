/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utf8.h"

#include "engine/base/str.h"

#include <locale.h>
#include <pthread.h>
#include <wctype.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t rules; /* 0: only ASCII letters have case */

static void load_rules(void)
{
    rules = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static bool continues(const char *p, size_t i)
{
    return ((unsigned char)p[i] & 0xc0) == 0x80;
}

int32_t tg_utf8_next(const char *p, size_t n, size_t *size)
{
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char b = (unsigned char)p[0];
    size_t want = b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 0;
    *size = 1;
    if (want == 1) return b;
    if (!want || want > n) return -1;
    int32_t c = b & (0x7f >> want);
    for (size_t i = 1; i < want; i++) {
        if (!continues(p, i)) return -1;
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    }
    if (c < least[want] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return -1;
    *size = want;
    return c;
}

size_t tg_utf8_put(int32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const int first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[n] | c);
    return n;
}

static int32_t cased(int32_t c, bool upper)
{
    pthread_once(&once, load_rules);
    if (rules)
        return (int32_t)(upper ? towupper_l((wint_t)c, rules) : towlower_l((wint_t)c, rules));
    if (upper) return c >= 'a' && c <= 'z' ? c - 32 : c;
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

int32_t tg_utf8_other_case(int32_t c)
{
    int32_t lower = cased(c, false);
    return lower != c ? lower : cased(c, true);
}

tg_string tg_string_cased(const tg_string *s, bool upper)
{
    tg_str text = {0};
    char bytes[4];
    for (size_t at = 0, size; at < s->n; at += size) {
        int32_t c = tg_utf8_next(s->p + at, s->n - at, &size);
        if (c < 0) tg_str_addc(&text, s->p[at]);
        else tg_str_addn(&text, bytes, tg_utf8_put(cased(c, upper), bytes));
    }
    tg_string made = tg_string_of(text.p, text.n);
    tg_str_free(&text);
    return made;
}
