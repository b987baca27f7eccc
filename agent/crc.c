/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "crc.h"

#include <pthread.h>

static uint32_t table[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
        table[i] = c;
    }
}

uint32_t ag_crc32c(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint32_t c = ~0u;
    pthread_once(&once, fill);
    while (n--) c = c >> 8 ^ table[(c ^ *p++) & 255];
    return ~c;
}
