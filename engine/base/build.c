/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static size_t rounded(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* Each note is a head, a name and its bytes, padded to four. */
static bool find_id(const char *notes, size_t size, char *buf)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        ElfW(Nhdr) head;
        memcpy(&head, notes + at, sizeof head);
        size_t name = at + sizeof head, bytes = name + rounded(head.n_namesz);
        size_t end = bytes + rounded(head.n_descsz);
        if (end > size || end < at) return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && head.n_descsz >= 4 &&
            memcmp(notes + name, "GNU", 4) == 0) {
            for (int i = 0; i < 4; i++)
                snprintf(buf + 2 * i, 3, "%02x", (unsigned char)notes[bytes + (size_t)i]);
            return true;
        }
        at = end;
    }
    return false;
}

/* The program itself is the first object; the others are libraries, which say their versions. */
static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE) continue;
        const char *notes = (const char *)(info->dlpi_addr + p->p_vaddr);
        if (find_id(notes, p->p_filesz, ctx)) break;
    }
    return 1;
}

char *tg_build_id(char *buf)
{
    buf[0] = '\0';
    dl_iterate_phdr(look_at, buf);
    return buf;
}
