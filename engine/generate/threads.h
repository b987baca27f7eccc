/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work shared by threads. For the files of generate/ only. */
#ifndef TG_GENERATE_THREADS_H
#define TG_GENERATE_THREADS_H

/*
 * Runs the function on this thread and up to threads - 1 others, until all are through. It must do
 * all of the work wherever it alone runs: a thread that cannot be had is done without.
 */
void threads_run(int threads, void *(*work)(void *), void *ctx);

#endif
