/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample.h"

#include <math.h>

int sample_below(sample *s, int n)
{
    return (int)tg_rng_below(s->rng, (uint64_t)n);
}

bool sample_chance(sample *s, int percent)
{
    return sample_below(s, 100) < percent;
}

int64_t sample_dim(sample *s)
{
    static const int64_t dims[] = {1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6};
    if (s->cube) return sample_chance(s, 20) ? 1 : s->cube;
    return dims[sample_below(s, (int)(sizeof dims / sizeof *dims))];
}

/* No number but 0 is so near to it that its inverse is infinite in halves. */
static double off_zero(double x)
{
    return x != 0 && fabs(x) < 0x1p-10 ? copysign(0x1p-10, x) : x;
}

/* Style 0: small integers, so that sums and products are exact; 1: normal; 2: with extremes. */
static double number(sample *s, char kind)
{
    if (kind == 'b') return sample_below(s, 2);
    if (kind == 'u') return sample_below(s, 5);
    if (kind == 'i' || s->style == 0) return sample_below(s, 7) - 3;
    double x = off_zero(tg_rng_normal(s->rng));
    if (s->style == 1) return x;
    static const double odd[] = {0, 0.5, -0.5, 1, -1, 6, -3, 30, -30};
    return sample_chance(s, 40) ? odd[sample_below(s, (int)(sizeof odd / sizeof *odd))] : 3 * x;
}

void sample_fill(sample *s, tg_tensor *t, int sign, bool flat)
{
    char kind = tg_dtype_kind(t->dtype);
    bool bytes = t->dtype == TG_U8 || t->dtype == TG_I8;
    double first = 0;
    for (int64_t i = 0, n = tg_tensor_count(t); i < n; i++) {
        double x = number(s, kind);
        if (bytes && sample_chance(s, 30)) x = sample_below(s, 256) - (t->dtype == TG_I8 ? 128 : 0);
        if (sign) x = sign * (fabs(x) + (kind == 'f' ? 0.5 : 1));
        if (flat && i) x = first;
        first = x;
        tg_tensor_set_f64(t, i, x);
    }
}
