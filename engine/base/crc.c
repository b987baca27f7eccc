/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "crc.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t table[256];

static void fill(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
        table[i] = c;
    }
}

uint32_t tg_crc32c(uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    pthread_once(&once, fill);
    for (crc = ~crc; n; n--, p++) crc = table[(crc ^ *p) & 0xff] ^ crc >> 8;
    return ~crc;
}
