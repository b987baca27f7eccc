/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Det: determinants of square matrices. */
#include "compute.h"

#include <math.h>
#include <string.h>

tg_status infer_det(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape;
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 2, TG_MAX_RANK));
    if (x->dim[x->rank - 1] != x->dim[x->rank - 2])
        return tg_fail(TG_SHAPE, "a determinant of matrices of %lld x %lld",
                       (long long)x->dim[x->rank - 2], (long long)x->dim[x->rank - 1]);
    infer->out[0] = (tg_type){infer->in[0].dtype, tg_shape_from(x->dim, (int)x->rank - 2)};
    return TG_OK;
}

static void swap_rows(double *a, double *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double t = a[k];
        a[k] = b[k];
        b[k] = t;
    }
}

/* Elimination with the greatest pivot of each column; destroys m. */
static double determinant(double *m, int64_t n)
{
    double det = 1;
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++)
            if (fabs(m[r * n + c]) > fabs(m[pivot * n + c])) pivot = r;
        if (m[pivot * n + c] == 0) return 0;
        if (pivot != c) {
            swap_rows(m + pivot * n, m + c * n, n);
            det = -det;
        }
        det *= m[c * n + c];
        for (int64_t r = c + 1; r < n; r++) {
            double f = m[r * n + c] / m[c * n + c];
            for (int64_t k = c; k < n; k++) m[r * n + k] -= f * m[c * n + k];
        }
    }
    return det;
}

tg_status kernel_det(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    const double *x = tg_call_doubles(call, 0);
    int64_t n = s->dim[s->rank - 1], count = tg_tensor_count(&call->out[0]);
    double *m = tg_call_scratch(call, n * n), *y = tg_call_scratch(call, count);
    for (int64_t i = 0; i < count; i++) {
        if (n) memcpy(m, x + i * n * n, (size_t)(n * n) * sizeof *m);
        y[i] = determinant(m, n);
    }
    tg_call_store(call, 0, y);
    return TG_OK;
}
