/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prefix argument: C-u, digits, the minus sign. */
#include "tui/app.h"

UI_FAMILY(prefix);

enum { MOST = 100000000 };

DEFCMD(
    universal, "universal-argument", "",
    "Begin a prefix argument for the next command.\n\nDigits and a minus sign may follow; without "
    "them it is 4, and each further C-u multiplies it by 4.")
{
    ui_prefix *p = &ui->prefix;
    int n = !p->given ? 4 : p->bare && p->n < MOST ? p->n * 4 : p->n;
    *p = (ui_prefix){.given = true, .bare = !p->given || p->bare, .n = n};
    ui->keep_prefix = true;
    return TG_OK;
}

DEFCMD(digit, "digit-argument", "", "Add the digit that was typed to the prefix argument.")
{
    ui_prefix *p = &ui->prefix;
    ui_key key = ui->keys[ui->n_keys - 1] & ~(ui_key)UI_KEY_META;
    if (key < '0' || key > '9') return tg_fail(TG_USAGE, "digit-argument needs a digit");
    int digit = (int)(key - '0'), sign = p->minus || (p->given && p->n < 0) ? -1 : 1;
    bool fresh = !p->given || p->bare || p->minus;
    int n = fresh ? sign * digit : p->n * 10 + sign * digit;
    if (n > MOST) n = MOST;
    if (n < -MOST) n = -MOST;
    *p = (ui_prefix){.given = true, .n = n};
    ui->keep_prefix = true;
    return TG_OK;
}

DEFCMD(negative, "negative-argument", "", "Begin a negative prefix argument.")
{
    bool minus = !ui->prefix.minus;
    ui->prefix = (ui_prefix){.given = true, .minus = minus, .n = minus ? -1 : 1};
    ui->keep_prefix = true;
    return TG_OK;
}
