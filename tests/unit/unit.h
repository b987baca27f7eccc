/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every unit test begins with. A test program is one file:
 *
 *     #include "tests/unit/unit.h"
 *     #include "engine/base/arena.h"
 *
 *     static void arena_aligns(void **state) { (void)state; ... assert_int_equal(...); }
 *
 *     static const struct CMUnitTest tests[] = {cmocka_unit_test(arena_aligns)};
 *     UNIT_MAIN(tests)
 *
 * Under the TAP driver main returns 0 whatever the tests said, so that another status means a crash
 * or a leak. cmocka's skip() prints "not ok", which counts as a failure: what may have to be
 * skipped belongs in a program of its own that starts with UNIT_MAIN_IF.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/status.h"

#define UNIT_MAYBE __attribute__((unused)) static

/* Fails the test with the words of the failure, not only its number. */
#define assert_ok(expr)                                                                            \
    do {                                                                                           \
        tg_status got_ = (expr);                                                                   \
        if (got_ != TG_OK) fail_msg("%s: %s: %s", #expr, tg_status_name(got_), tg_message());      \
    } while (0)

#define assert_status(expr, want)                                                                  \
    do {                                                                                           \
        tg_status got_ = (expr), want_ = (want);                                                   \
        if (got_ != want_)                                                                         \
            fail_msg("%s: %s, not %s: %s", #expr, tg_status_name(got_), tg_status_name(want_),     \
                     tg_message());                                                                \
    } while (0)

/* Fails unless `needle` is in `text`; shows both. */
#define assert_contains(text, needle)                                                              \
    do {                                                                                           \
        const char *text_ = (text), *needle_ = (needle);                                           \
        if (!strstr(text_, needle_)) fail_msg("\"%s\" lacks \"%s\"", text_, needle_);              \
    } while (0)

/* The path of a file of the checkout. Valid until the next call but three. */
UNIT_MAYBE const char *unit_source(const char *path)
{
    static char buf[4][4096];
    static int at;
    const char *root = getenv("REGRAFT_SOURCE");
    at = (at + 1) % 4;
    snprintf(buf[at], sizeof buf[at], "%s/%s", root ? root : ".", path);
    return buf[at];
}

/*
 * The path of a file or folder in the shared folder: $REGRAFT_SHARED, or ../shared beside the
 * checkout. NULL when it is not there. Valid until the next call but three.
 */
UNIT_MAYBE const char *unit_shared(const char *path)
{
    static char buf[4][4096];
    static int at;
    const char *shared = getenv("REGRAFT_SHARED");
    at = (at + 1) % 4;
    if (shared && *shared) snprintf(buf[at], sizeof buf[at], "%s/%s", shared, path);
    else snprintf(buf[at], sizeof buf[at], "%s", unit_source("../shared/"));
    if (!(shared && *shared)) strncat(buf[at], path, sizeof buf[at] - strlen(buf[at]) - 1);
    return access(buf[at], R_OK) == 0 ? buf[at] : NULL;
}

static char unit_folder[256];

/* A path in a folder of this process, removed when main ends; valid until the next call but 3. */
UNIT_MAYBE const char *unit_temporary(const char *name)
{
    static char buf[4][4096];
    static int at;
    if (!unit_folder[0]) {
        const char *tmp = getenv("TMPDIR");
        snprintf(unit_folder, sizeof unit_folder, "%s/regraft-test.XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(unit_folder)) abort();
    }
    at = (at + 1) % 4;
    snprintf(buf[at], sizeof buf[at], "%s/%s", unit_folder, name);
    return buf[at];
}

UNIT_MAYBE int unit_end(int failed)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", unit_folder);
    if (unit_folder[0] && system(command) != 0) return 1;
    const char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
    return output && strcmp(output, "TAP") == 0 ? 0 : failed;
}

#define UNIT_MAIN(tests) UNIT_MAIN_IF(tests, NULL)

/*
 * As UNIT_MAIN, but skips the whole program when `why_not` is not NULL; it may be a call, e.g. of
 *     static const char *why_not(void) { return unit_shared("models") ? NULL : "no models"; }
 */
#define UNIT_MAIN_IF(tests, why_not)                                                               \
    int main(void)                                                                                 \
    {                                                                                              \
        setvbuf(stdout, NULL, _IOLBF, 0);                                                          \
        const char *why_ = (why_not);                                                              \
        if (why_) {                                                                                \
            printf("1..0 # SKIP %s\n", why_);                                                      \
            return 0;                                                                              \
        }                                                                                          \
        return unit_end(cmocka_run_group_tests(tests, NULL, NULL));                                \
    }

#endif
