/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals. The usual ones go through a pipe into the event loop; those of a crash give the terminal
 * back with async-signal-safe calls on a stack of their own and are raised again.
 */
#ifndef TUI_SIGNALS_H
#define TUI_SIGNALS_H

#include <stddef.h>

/* Installs the handlers; call once, after the terminal was opened. */
void ui_signals_open(void);
/*
 * What a crash writes into the journal, and where the person is told that it is. The mark lives as
 * long as the program. fd -1: there is no journal.
 */
void ui_signals_journal(int fd, const void *mark, size_t mark_size, const char *path);
/* Readable while signals wait; -1 before open. */
int ui_signals_fd(void);
/* The next signal that came, or 0. */
int ui_signals_take(void);

#endif
