/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the standard defines in the default domain, whether or not regraft has a row for it. */
#ifndef TG_ONNX_STANDARD_H
#define TG_ONNX_STANDARD_H

#include <stdbool.h>

/* O(log operators). */
bool tg_standard_knows(const char *op_type);
/*
 * The opset that gave an operator the form it has in `opset`; 0 if it is not in that opset. Equal
 * answers for two opsets mean that a node valid in the older one means the same in the newer one.
 */
int tg_standard_version(const char *op_type, int opset);

#endif
