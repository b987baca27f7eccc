/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef AG_CRC_H
#define AG_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C (Castagnoli, reflected polynomial 0x82f63b78) of `n` bytes. */
uint32_t ag_crc32c(const void *bytes, size_t n);

#endif
