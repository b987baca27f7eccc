/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "winograd.h"

#include <string.h>

/* Vectors of 64 bytes never cross a call here: their passing does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

#define POINT_A 0.70710678118654752f
#define POINT_B 1.41421356237309505f

#ifdef __x86_64__
#define NAME(x) wide_##x
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#include "winograd_body.h"
#undef NAME
#undef TARGET
#define NAME(x) middle_##x
#define TARGET __attribute__((target("avx2,fma")))
#include "winograd_body.h"
#undef NAME
#undef TARGET
#endif
#define NAME(x) base_##x
#define TARGET
#include "winograd_body.h"

typedef struct way {
    void (*take)(const float *const *at, int64_t channels, float *to, int64_t plane);
    void (*give)(const tg_winograd *w, const float *from, int64_t plane, const int64_t *at,
                 float *y);
} way;

static way best(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return (way){wide_take, wide_give};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (way){middle_take, middle_give};
#endif
    return (way){base_take, base_give};
}

enum { TILE = 4, WIDE = 6, PLACES = 36, LINE = 16, MOST_CHANNELS = 1024 };

/* Pixels outside are read here. */
static const float zeros[MOST_CHANNELS];

static bool is_last(const tg_md *md)
{
    return md->stride[1] == 1 && md->stride[3] == md->dim[1] &&
           md->stride[2] == md->dim[1] * md->dim[3] &&
           (md->dim[0] == 1 || md->stride[0] == md->dim[1] * md->dim[2] * md->dim[3]);
}

static bool fits(const tg_prim_spec *s)
{
    if (s->kind != TG_PRIM_CONV || s->src.rank != 4 || s->weights.rank != 4) return false;
    if (!is_last(&s->src) || !is_last(&s->dst) || s->src.dtype != TG_F32) return false;
    if (s->src.dim[1] % 16 || s->dst.dim[1] % 16 || s->src.dim[1] > MOST_CHANNELS) return false;
    for (int i = 0; i < 2; i++)
        if (s->weights.dim[i + 2] != 3 || s->stride[i] != 1 || s->dilation[i] != 1 ||
            s->pad_low[i] < 0 || s->pad_low[i] > 2)
            return false;
    return true;
}

/* As many tiles as leave the second-level cache some room, or as make the weights worth reading. */
static int64_t chunk_of(const tg_winograd *w, int64_t tiles)
{
    enum { CACHED = 3 << 18 };
    int64_t room = tg_winograd_weights_count(w) * (int64_t)sizeof(float);
    if (room < CACHED) room = CACHED;
    int64_t most = room / ((w->c + w->m) * PLACES * (int64_t)sizeof(float));
    if (most < 1) most = 1;
    int64_t pieces = (tiles + most - 1) / most;
    return (tiles + pieces - 1) / pieces;
}

bool tg_winograd_of(const tg_prim_spec *s, tg_winograd *w)
{
    if (!fits(s)) return false;
    memset(w, 0, sizeof *w);
    w->n = s->src.dim[0];
    w->c = s->src.dim[1];
    w->h = s->src.dim[2];
    w->w = s->src.dim[3];
    w->m = s->dst.dim[1];
    w->oh = s->dst.dim[2];
    w->ow = s->dst.dim[3];
    w->pad_top = s->pad_low[0];
    w->pad_left = s->pad_low[1];
    w->down = (w->oh + TILE - 1) / TILE;
    w->across = (w->ow + TILE - 1) / TILE;
    w->chunk = chunk_of(w, w->n * w->down * w->across);
    return true;
}

static tg_md matrices(int64_t rows, int64_t columns)
{
    tg_md md;
    memset(&md, 0, sizeof md);
    md.rank = 3;
    md.dtype = TG_F32;
    md.dim[0] = PLACES;
    md.dim[1] = rows;
    md.dim[2] = columns;
    md.stride[0] = rows * columns;
    md.stride[1] = columns;
    md.stride[2] = 1;
    return md;
}

void tg_winograd_product(const tg_winograd *w, tg_prim_spec *product)
{
    memset(product, 0, sizeof *product);
    product->kind = TG_PRIM_MATMUL;
    product->threads = 1;
    product->src = matrices(w->chunk, w->c);
    product->weights = matrices(w->c, w->m);
    product->dst = matrices(w->chunk, w->m);
}

int64_t tg_winograd_weights_count(const tg_winograd *w)
{
    return PLACES * w->c * w->m;
}

/* Three weights in a row or column to six. */
static void widen(const double *g, int step, double *to, int to_step)
{
    const double a = POINT_A, b = POINT_B;
    double even_a = (g[0] + g[2 * step] / 2) / -1.5, odd_a = a * g[step] / -1.5;
    double even_b = (g[0] + g[2 * step] * 2) / 6, odd_b = b * g[step] / 6;
    to[0] = g[0];
    to[to_step] = even_a + odd_a;
    to[2 * to_step] = even_a - odd_a;
    to[3 * to_step] = even_b + odd_b;
    to[4 * to_step] = even_b - odd_b;
    to[5 * to_step] = g[2 * step];
}

static void widen_all(const float *from, double *all)
{
    double plain[9], tall[WIDE * 3];
    for (int i = 0; i < 9; i++) plain[i] = from[i];
    for (int j = 0; j < 3; j++) widen(plain + j, 3, tall + j, 3);
    for (int i = 0; i < WIDE; i++) widen(tall + 3 * i, 1, all + WIDE * i, 1);
}

/* Filters side by side make whole cache lines of the result. */
void tg_winograd_weights(const tg_winograd *w, const float *from, float *to)
{
    int64_t plane = w->c * w->m;
    for (int64_t m = 0; m < w->m; m += LINE)
        for (int64_t c = 0; c < w->c; c++) {
            double all[LINE][PLACES];
            for (int i = 0; i < LINE; i++) widen_all(from + ((m + i) * w->c + c) * 9, all[i]);
            for (int k = 0; k < PLACES; k++)
                for (int i = 0; i < LINE; i++) to[k * plane + c * w->m + m + i] = (float)all[i][k];
        }
}

/* Where a tile lies. */
typedef struct spot {
    int64_t image, top, left; /* of its results */
} spot;

static spot spot_of(const tg_winograd *w, int64_t tile)
{
    int64_t in_image = tile % (w->down * w->across);
    return (spot){tile / (w->down * w->across), in_image / w->across * TILE,
                  in_image % w->across * TILE};
}

static void read_places(const tg_winograd *w, const spot *s, const float *x, const float **at)
{
    const float *image = x + s->image * w->h * w->w * w->c;
    for (int i = 0; i < PLACES; i++) {
        int64_t row = s->top - w->pad_top + i / WIDE, column = s->left - w->pad_left + i % WIDE;
        bool inside = row >= 0 && row < w->h && column >= 0 && column < w->w;
        at[i] = inside ? image + (row * w->w + column) * w->c : zeros;
    }
}

static void write_places(const tg_winograd *w, const spot *s, int64_t *at)
{
    for (int i = 0; i < TILE * TILE; i++) {
        int64_t row = s->top + i / TILE, column = s->left + i % TILE;
        bool inside = row < w->oh && column < w->ow;
        at[i] = inside ? ((s->image * w->oh + row) * w->ow + column) * w->m : -1;
    }
}

tg_status tg_winograd_run(const tg_winograd *w, const tg_prim_call *product, const float *x,
                          float *taken, float *sums, float *y)
{
    way by = best();
    int64_t tiles = w->n * w->down * w->across;
    for (int64_t from = 0; from < tiles; from += w->chunk) {
        int64_t n = tiles - from < w->chunk ? tiles - from : w->chunk;
        for (int64_t i = 0; i < n; i++) {
            const float *at[PLACES];
            spot s = spot_of(w, from + i);
            read_places(w, &s, x, at);
            by.take(at, w->c, taken + i * w->c, w->chunk * w->c);
        }
        TG_TRY(tg_prim_run(product));
        for (int64_t i = 0; i < n; i++) {
            int64_t at[TILE * TILE];
            spot s = spot_of(w, from + i);
            write_places(w, &s, at);
            by.give(w, sums + i * w->m, w->chunk * w->m, at, y);
        }
    }
    return TG_OK;
}
