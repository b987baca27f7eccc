/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of RoiAlign in pixels: for the reference kernel and others. */
#ifndef TG_OPS_ROI_H
#define TG_OPS_ROI_H

#include "engine/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* What the attributes say of all regions. */
typedef struct tg_roi_form {
    bool half; /* a shift of half a pixel */
    double scale;
    int64_t ratio, height, width; /* samples a cell along each axis, 0: by its size; cells */
} tg_roi_form;

/* Where a region starts, the size of a cell, and the samples in one. */
typedef struct tg_roi {
    double top, left, height, width;
    int64_t rows, columns;
} tg_roi;

/* roi: left, top, right, bottom. Errors: TG_INVALID (cells of no sensible size). */
tg_status tg_roi_of(const tg_roi_form *form, const double *roi, tg_roi *region) TG_MUST_USE;

#endif
