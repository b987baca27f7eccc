/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals. The usual ones go through a pipe into the event loop; those of a crash give the terminal
 * back with async-signal-safe calls on a stack of their own and are raised again.
 */
#ifndef TUI_SIGNALS_H
#define TUI_SIGNALS_H

/* Installs the handlers; call once, after the terminal was opened. */
void ui_signals_open(void);
/* Readable while signals wait; -1 before open. */
int ui_signals_fd(void);
/* The next signal that came, or 0. */
int ui_signals_take(void);

#endif
