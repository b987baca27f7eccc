/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TG_BASE_CRC_H
#define TG_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli) of n bytes; `crc` is 0 or the value for what came before. */
uint32_t tg_crc32c(uint32_t crc, const void *bytes, size_t n);

#endif
