/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files: a model, and beside one that is too large for a message its tensors' bytes. */
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 1024, ALIGN = 64 }; /* of a tensor that is written beside the model */
enum { PIECE = 1 << 20 };

/* A file under a temporary name; `failed` once anything went wrong, with errno then in `error`. */
typedef struct aside {
    ProtobufCBuffer base;
    FILE *file;
    tg_str name;
    uint64_t size;
    bool failed, closed;
    int error;
} aside;

static bool all_zero(const uint8_t *bytes, size_t n)
{
    return !bytes[0] && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Long runs of zeros become holes, as they may have been where they come from. */
static void append(ProtobufCBuffer *buffer, size_t n, const uint8_t *bytes)
{
    aside *a = (aside *)(void *)buffer;
    for (size_t piece; n && !a->failed; n -= piece, bytes += piece) {
        piece = n < PIECE ? n : PIECE;
        if (piece == PIECE && all_zero(bytes, piece))
            a->failed = fseeko(a->file, (off_t)piece, SEEK_CUR) != 0;
        else a->failed = fwrite(bytes, 1, piece, a->file) != piece;
        if (a->failed) a->error = errno;
        a->size += piece;
    }
}

static void aside_drop(void *arg)
{
    aside *a = arg;
    if (!a->closed) fclose(a->file);
    unlink(a->name.p);
}

/* A new file has the mode that the person's mask leaves; mkstemp's is private. */
static void aside_open(aside *a, const char *path)
{
    *a = (aside){.base = {append}};
    tg_str_addf(&a->name, "%s.XXXXXX", path);
    int fd = mkstemp(a->name.p);
    mode_t mask = umask(0);
    umask(mask);
    if (fd >= 0 && fchmod(fd, 0666 & ~mask) == 0) a->file = fdopen(fd, "wb");
    if (a->file) {
        tg_unwind_push(aside_drop, a);
        return;
    }
    a->failed = true;
    a->error = errno;
    if (fd < 0) return;
    close(fd);
    unlink(a->name.p);
}

static void aside_close(aside *a)
{
    if (!a->file) return;
    a->closed = true;
    if (!a->failed && (fflush(a->file) != 0 || ftruncate(fileno(a->file), (off_t)a->size) != 0 ||
                       fsync(fileno(a->file)) != 0)) {
        a->failed = true;
        a->error = errno;
    }
    if (fclose(a->file) != 0 && !a->failed) {
        a->failed = true;
        a->error = errno;
    }
}

/* Gives the file its name, or removes it if `keep` is false or it failed. */
static tg_status aside_end(aside *a, const char *path, bool keep)
{
    bool good = keep && !a->failed;
    if (a->file) tg_unwind_pop(a);
    if (good && rename(a->name.p, path) != 0) {
        good = false;
        a->failed = true;
        a->error = errno;
    }
    if (a->file && !good) unlink(a->name.p);
    tg_str_free(&a->name);
    return a->failed ? tg_fail(TG_IO, "%s: %s", path, strerror(a->error)) : TG_OK;
}

/* ---- tensors beside the model ---- */

static Onnx__StringStringEntryProto *entry(tg_arena *arena, const char *key, const char *value)
{
    Onnx__StringStringEntryProto *e = TG_NEW(arena, Onnx__StringStringEntryProto);
    onnx__string_string_entry_proto__init(e);
    e->key = (char *)(uintptr_t)key;
    e->value = (char *)(uintptr_t)value;
    return e;
}

static void move_tensor(tg_exporter *ex, Onnx__TensorProto *t, aside *data, const char *location)
{
    static const uint8_t zeros[ALIGN];
    append(&data->base, (ALIGN - data->size % ALIGN) % ALIGN, zeros);
    t->n_external_data = 3;
    t->external_data = TG_NEW_ARRAY(ex->arena, Onnx__StringStringEntryProto *, 3);
    t->external_data[0] = entry(ex->arena, "location", location);
    t->external_data[1] =
        entry(ex->arena, "offset", tg_arena_printf(ex->arena, "%" PRIu64, data->size));
    t->external_data[2] =
        entry(ex->arena, "length", tg_arena_printf(ex->arena, "%zu", t->raw_data.len));
    t->has_data_location = 1;
    t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    append(&data->base, t->raw_data.len, t->raw_data.data);
    t->has_raw_data = 0;
}

static void move_tensors(tg_exporter *ex, aside *data, const char *location)
{
    for (size_t i = 0; i < ex->tensor_list.n; i++) {
        Onnx__TensorProto *t = ex->tensor_list.v[i];
        if (t->has_raw_data && t->raw_data.len >= LEAST) move_tensor(ex, t, data, location);
    }
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

tg_status tg_export_write(tg_exporter *ex, const Onnx__ModelProto *m, const char *path, size_t most)
{
    aside data = {0}, model;
    const char *beside = tg_arena_printf(ex->arena, "%s.data", path);
    bool split = onnx__model_proto__get_packed_size(m) > most;
    if (split) {
        aside_open(&data, beside);
        if (!data.failed) move_tensors(ex, &data, base_of(beside));
        aside_close(&data);
        if (data.failed) return aside_end(&data, beside, false);
    }
    aside_open(&model, path);
    if (!model.failed) onnx__model_proto__pack_to_buffer(m, &model.base);
    aside_close(&model);
    tg_status status = split ? aside_end(&data, beside, !model.failed) : TG_OK;
    if (status == TG_OK) return aside_end(&model, path, true);
    tg_status ignored = aside_end(&model, path, false);
    (void)ignored;
    return status;
}
