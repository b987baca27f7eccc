/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules as a person sees them. */
#ifndef TUI_RULES_H
#define TUI_RULES_H

#include "session.h"

/* How a rule fared in this session. */
typedef struct ui_rule_tally {
    int sites, you, agent; /* candidates now; steps by each, pruned ones left out */
    double change;         /* predicted, mean of its steps in per cent; NaN without steps */
    bool vetoed;           /* everywhere */
} ui_rule_tally;

ui_rule_tally ui_rule_tally_of(ui_session *s, int rule);
/* The rule's paragraph, where it stands and how it fared, in *Help*. Errors: TG_NOTFOUND. */
tg_status ui_rule_show(ui_app *ui, const char *name) TG_MUST_USE;

#endif
