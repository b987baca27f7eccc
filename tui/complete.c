/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "complete.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void ui_choices_add(ui_choices *choices, const char *text, const char *note)
{
    ui_choice c = {tg_strdup(text), note ? tg_strdup(note) : NULL};
    tg_vec_push(&choices->list, c);
}

static void choice_free(ui_choice *c)
{
    free(c->text);
    free(c->note);
}

void ui_choices_done(ui_choices *choices)
{
    for (size_t i = 0; i < choices->list.n; i++) choice_free(&choices->list.v[i]);
    tg_vec_free(&choices->list);
}

static bool same_char(char a, char b, bool fold)
{
    if (a == b) return true;
    return fold && tolower((unsigned char)a) == tolower((unsigned char)b);
}

bool ui_complete_fits(const char *input, const char *text, bool fold)
{
    while (*input) {
        if (*input == '-') {
            text = strchr(text, '-');
            if (!text) return false;
        } else if (!same_char(*input, *text, fold)) {
            return false;
        }
        input++;
        text++;
    }
    return true;
}

static bool has_prefix(const char *text, const char *prefix, bool fold)
{
    while (*prefix && same_char(*prefix, *text, fold)) prefix++, text++;
    return !*prefix;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const ui_choice *)a)->text, ((const ui_choice *)b)->text);
}

/* Keeps what begins with the input; if nothing does, what fits it part by part. */
static void keep_fitting(const char *input, ui_choices *choices, bool fold)
{
    size_t kept = 0, begins = 0;
    for (size_t i = 0; i < choices->list.n; i++) {
        begins += has_prefix(choices->list.v[i].text, input, fold);
    }
    for (size_t i = 0; i < choices->list.n; i++) {
        ui_choice c = choices->list.v[i];
        if (begins ? has_prefix(c.text, input, fold) : ui_complete_fits(input, c.text, fold)) {
            choices->list.v[kept++] = c;
        } else {
            choice_free(&c);
        }
    }
    choices->list.n = kept;
}

static void sort_unique(ui_choices *choices)
{
    size_t kept = 0;
    if (!choices->list.n) return;
    qsort(choices->list.v, choices->list.n, sizeof(ui_choice), by_text);
    for (size_t i = 1; i < choices->list.n; i++) {
        if (strcmp(choices->list.v[i].text, choices->list.v[kept].text) == 0) {
            choice_free(&choices->list.v[i]);
        } else {
            choices->list.v[++kept] = choices->list.v[i];
        }
    }
    choices->list.n = kept + 1;
}

static size_t common_length(const ui_choices *choices, bool fold)
{
    const char *first = choices->list.v[0].text;
    size_t n = strlen(first);
    for (size_t i = 1; i < choices->list.n; i++) {
        size_t k = 0;
        while (k < n && same_char(first[k], choices->list.v[i].text[k], fold)) k++;
        n = k;
    }
    /* never in the middle of a character */
    while (n && ((unsigned char)first[n] & 0xc0) == 0x80) n--;
    return n;
}

void ui_complete(const char *input, ui_choices *choices, bool fold, tg_str *best, bool *exact)
{
    const char *part = input + choices->base;
    keep_fitting(part, choices, fold);
    sort_unique(choices);
    *exact = false;
    tg_str_clear(best);
    tg_str_addn(best, input, choices->base);
    for (size_t i = 0; i < choices->list.n; i++) {
        if (strcmp(choices->list.v[i].text, part) == 0) *exact = true;
    }
    size_t n = choices->list.n ? common_length(choices, fold) : 0;
    if (n >= strlen(part)) tg_str_addn(best, n ? choices->list.v[0].text : "", n);
    else tg_str_add(best, part);
}
