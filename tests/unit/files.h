/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies in folders. */
#ifndef TESTS_UNIT_FILES_H
#define TESTS_UNIT_FILES_H

#include "tests/unit/unit.h"

#include <dirent.h>

/* Entries of a folder, . and .. among them. */
UNIT_MAYBE int count_files(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir)) n++;
    closedir(dir);
    return n;
}

#endif
