/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The modes that others derive from, and those of plain text. */
#include "tui/app.h"

const ui_mode ui_mode_fundamental = {
    .name = "fundamental-mode",
    .label = "Fundamental",
    .doc = "Text that can be edited, without keys of its own.",
    .keys =
        (const ui_key_row[]){
            {"RET", "newline"},
            {"DEL", "delete-backward-char"},
            {NULL, NULL},
        },
};

const ui_mode ui_mode_interaction = {
    .name = "interaction-mode",
    .label = "Interaction",
    .doc = "Notes. The text belongs to you and is not saved.",
    .parent = &ui_mode_fundamental,
};

const ui_mode ui_mode_special = {
    .name = "special-mode",
    .label = "Special",
    .doc = "What all read-only buffers share: digits and the minus sign build a prefix argument, "
           "single letters run commands.",
    .keys =
        (const ui_key_row[]){
            {"q", "quit-window"},         {"Q", "quit-window-and-kill"},
            {"g", "revert-buffer"},       {"G", "refresh-all"},
            {"h", "describe-mode"},       {"?", "dispatch"},
            {"n", "next-line"},           {"p", "previous-line"},
            {"SPC", "scroll-up-command"}, {"DEL", "scroll-down-command"},
            {"<", "beginning-of-buffer"}, {">", "end-of-buffer"},
            {"-", "negative-argument"},   {"0", "digit-argument"},
            {"1", "digit-argument"},      {"2", "digit-argument"},
            {"3", "digit-argument"},      {"4", "digit-argument"},
            {"5", "digit-argument"},      {"6", "digit-argument"},
            {"7", "digit-argument"},      {"8", "digit-argument"},
            {"9", "digit-argument"},      {NULL, NULL},
        },
};

const ui_mode ui_mode_log = {
    .name = "log-mode",
    .label = "Log",
    .doc = "Messages, the newest last. Repeated ones are counted on one line.",
    .parent = &ui_mode_special,
};

const ui_mode ui_mode_minibuffer = {
    .name = "minibuffer-mode",
    .label = "Minibuffer",
    .doc = "The answer to a prompt.",
    .keys =
        (const ui_key_row[]){
            {"RET", "exit-minibuffer"},
            {"M-RET", "exit-minibuffer-raw"},
            {"C-j", "exit-minibuffer"},
            {"TAB", "minibuffer-complete"},
            {"SPC", "minibuffer-complete-word"},
            {"?", "minibuffer-completion-help"},
            {"DEL", "delete-backward-char"},
            {"M-p", "previous-history-element"},
            {"M-n", "next-history-element"},
            {"<up>", "previous-history-element"},
            {"<down>", "next-history-element"},
            {"M-r", "previous-matching-history-element"},
            {NULL, NULL},
        },
};
