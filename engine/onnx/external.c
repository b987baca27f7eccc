/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors whose bytes lie in a file of their own. */
#include "tensor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct place {
    const char *location;
    uint64_t offset, length;
    bool has_length;
} place;

static tg_status read_number(const char *tensor, const char *key, const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-')
        return tg_fail(TG_INVALID, "tensor %s: external data with %s %s", tensor, key, text);
    *out = v;
    return TG_OK;
}

static tg_status read_place(const Onnx__TensorProto *t, const char *name, place *p)
{
    for (size_t i = 0; i < t->n_external_data; i++) {
        const char *key = t->external_data[i]->key, *value = t->external_data[i]->value;
        if (!key || !value) continue;
        if (strcmp(key, "location") == 0) p->location = value;
        if (strcmp(key, "offset") == 0) TG_TRY(read_number(name, key, value, &p->offset));
        if (strcmp(key, "length") == 0) {
            TG_TRY(read_number(name, key, value, &p->length));
            p->has_length = true;
        }
    }
    if (!p->location || !p->location[0])
        return tg_fail(TG_INVALID, "tensor %s: external data without a location", name);
    return TG_OK;
}

static bool steps_up(const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/')) {
        while (*at == '/') at++;
        if (at[0] == '.' && at[1] == '.' && (at[2] == '/' || !at[2])) return true;
    }
    return false;
}

/* The real path of the file, refused unless it lies in the real path of the folder. */
static tg_status find_inside(const char *name, const char *folder, const char *location,
                             char **found)
{
    if (location[0] == '/' || steps_up(location) || strchr(location, '\\'))
        return tg_fail(TG_INVALID,
                       "tensor %s: external data \"%s\" lies outside the folder of the model", name,
                       location);
    tg_str path = {0};
    tg_str_addf(&path, "%s/%s", folder, location);
    char *real = realpath(path.p, NULL), *root = realpath(folder, NULL);
    tg_str_free(&path);
    tg_status status = TG_OK;
    size_t n = root ? strlen(root) : 0;
    if (n == 1) n = 0; /* the root folder holds everything */
    if (!real || !root)
        status =
            tg_fail(TG_IO, "tensor %s: external data \"%s\": %s", name, location, strerror(errno));
    else if (strncmp(real, root, n) != 0 || real[n] != '/')
        status = tg_fail(TG_INVALID,
                         "tensor %s: external data \"%s\" is a link out of the folder of the model",
                         name, location);
    free(root);
    if (status == TG_OK) *found = real;
    else free(real);
    return status;
}

static void release_mapping(void *mapping)
{
    tg_mapping_unref(mapping);
}

static tg_status take_range(const char *name, const place *p, tg_mapping *m, size_t want,
                            tg_weight **weight)
{
    uint64_t length = p->has_length ? p->length : want;
    if (length != want)
        return tg_fail(TG_INVALID, "tensor %s needs %zu bytes, its external data has %llu", name,
                       want, (unsigned long long)length);
    if (p->offset > m->size || want > m->size - p->offset)
        return tg_fail(TG_INVALID,
                       "tensor %s: external data \"%s\" has %zu bytes, %llu + %zu "
                       "are wanted",
                       name, p->location, m->size, (unsigned long long)p->offset, want);
    *weight = tg_weight_wrap(want ? m->data + p->offset : (const void *)"", want, 0,
                             release_mapping, tg_mapping_ref(m));
    return TG_OK;
}

tg_status tg_external_open(const Onnx__TensorProto *t, const char *folder, size_t want,
                           tg_weight **weight)
{
    const char *name = t->name ? t->name : "";
    char *path = NULL;
    place p = {0};
    tg_mapping *m;
    TG_TRY(read_place(t, name, &p));
    if (!folder)
        return tg_fail(TG_INVALID, "tensor %s: external data cannot be read without a folder",
                       name);
    TG_TRY(find_inside(name, folder, p.location, &path));
    tg_status status = tg_mapping_open(path, &m);
    free(path);
    if (status != TG_OK) return tg_wrap(status, "tensor %s", name);
    status = take_range(name, &p, m, want, weight);
    tg_mapping_unref(m);
    return status;
}
