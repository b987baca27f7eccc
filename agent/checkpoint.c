/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint.h"

#include "agent/checkpoint.pb-c.h"
#include "engine/base/crc.h"
#include "engine/base/log.h"
#include "engine/base/str.h"

#include <limits.h>
#include <math.h>
#include <unistd.h>

#define KIND "regraft checkpoint"
#define LARGEST ((size_t)1 << 30)

enum { AXES = AG_AXIS_GLOBAL };

static const ag_names *axis_names(const ag_spec *spec, int axis)
{
    const ag_names *names[] = {NULL,        &spec->operators, &spec->rules, &spec->node,
                               &spec->edge, &spec->candidate, &spec->global};
    return names[axis];
}

/* ---- saving ------------------------------------------------------------------------------------
 */

static ProtobufCBinaryData floats(tg_arena *arena, const ag_real *from, size_t n)
{
    uint8_t *bytes = tg_arena_alloc(arena, n * 4 + 1);
    for (size_t i = 0; i < n; i++) {
        float value = (float)from[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        for (int k = 0; k < 4; k++) bytes[4 * i + (size_t)k] = (uint8_t)(bits >> 8 * k);
    }
    return (ProtobufCBinaryData){n * 4, bytes};
}

static void put_tensors(tg_arena *arena, const ag_checkpoint *c, Ag__Saved__Checkpoint *out)
{
    const ag_layout *layout = &c->policy->net->layout;
    out->n_tensor = layout->tensors.n;
    out->tensor = TG_NEW_ARRAY(arena, Ag__Saved__Tensor *, out->n_tensor + 1);
    for (size_t i = 0; i < out->n_tensor; i++) {
        const ag_tensor *t = &layout->tensors.v[i];
        size_t n = (size_t)t->rows * (size_t)t->cols;
        Ag__Saved__Tensor *to = out->tensor[i] = TG_NEW(arena, Ag__Saved__Tensor);
        ag__saved__tensor__init(to);
        to->name = tg_arena_strdup(arena, t->name);
        to->rows = (uint32_t)t->rows;
        to->cols = (uint32_t)t->cols;
        to->axis = (uint32_t)t->axis;
        to->value = floats(arena, c->policy->value + t->at, n);
        to->has_first = to->has_second = c->first && c->second;
        if (to->has_first) {
            to->first = floats(arena, c->first + t->at, n);
            to->second = floats(arena, c->second + t->at, n);
        }
    }
}

static void put_names(tg_arena *arena, const ag_spec *spec, Ag__Saved__Checkpoint *out)
{
    out->n_axis = AXES;
    out->axis = TG_NEW_ARRAY(arena, Ag__Saved__Names *, AXES);
    for (int axis = 1; axis <= AXES; axis++) {
        const ag_names *names = axis_names(spec, axis);
        Ag__Saved__Names *to = out->axis[axis - 1] = TG_NEW(arena, Ag__Saved__Names);
        ag__saved__names__init(to);
        to->n_name = (size_t)names->n;
        to->name = TG_NEW_ARRAY(arena, char *, names->n + 1);
        for (int i = 0; i < names->n; i++) to->name[i] = tg_arena_strdup(arena, names->name[i]);
    }
}

static void put_head(const ag_checkpoint *c, Ag__Saved__Checkpoint *out)
{
    ag_shape shape = c->policy->net->shape;
    ag__saved__checkpoint__init(out);
    out->hidden = (uint32_t)shape.hidden;
    out->heads = (uint32_t)shape.heads;
    out->layers = (uint32_t)shape.layers;
    out->rule = (uint32_t)shape.rule;
    out->head = (uint32_t)shape.head;
    out->version = c->policy->version;
    out->has_episodes = out->has_adam_steps = out->has_seed = 1;
    out->episodes = c->episodes;
    out->adam_steps = c->adam_steps;
    out->seed = c->seed;
}

/* Keeps what is at `path` as PATH~. That there is none yet is no error. */
static void keep_old(const char *path)
{
    tg_str old = {0};
    tg_str_addf(&old, "%s~", path);
    if (access(path, F_OK) == 0) {
        unlink(tg_str_text(&old));
        if (link(path, tg_str_text(&old)) != 0)
            tg_log(TG_LOG_WARN, "%s: the previous checkpoint is not kept", path);
    }
    tg_str_free(&old);
}

tg_status ag_checkpoint_save(const ag_checkpoint *c, const char *path)
{
    tg_arena *arena = tg_arena_new();
    Ag__Saved__Checkpoint body;
    put_head(c, &body);
    put_names(arena, c->policy->net->spec, &body);
    put_tensors(arena, c, &body);
    Ag__Saved__File file = AG__SAVED__FILE__INIT;
    file.kind = KIND;
    file.body.len = ag__saved__checkpoint__get_packed_size(&body);
    file.body.data = tg_malloc(file.body.len + 1);
    ag__saved__checkpoint__pack(&body, file.body.data);
    file.crc = tg_crc32c(0, file.body.data, file.body.len);
    size_t size = ag__saved__file__get_packed_size(&file);
    uint8_t *bytes = tg_malloc(size + 1);
    ag__saved__file__pack(&file, bytes);
    keep_old(path);
    tg_status status = tg_write_file(path, bytes, size);
    free(bytes);
    free(file.body.data);
    tg_arena_free(arena);
    return status;
}

/* ---- loading -----------------------------------------------------------------------------------
 */

static ag_real float_at(const ProtobufCBinaryData *from, size_t i)
{
    const uint8_t *p = from->data + 4 * i;
    uint32_t bits = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (ag_real)value;
}

/* The file's row for each row of this build: its number there, or -1. */
static int *match_rows(const Ag__Saved__Checkpoint *from, const ag_spec *spec, int axis, int rows)
{
    int *row = tg_malloc(sizeof(int) * (size_t)(rows + 1));
    for (int i = 0; i < rows; i++) row[i] = axis ? -1 : i;
    const Ag__Saved__Names *theirs = axis ? from->axis[axis - 1] : NULL;
    for (size_t k = 0; theirs && k < theirs->n_name; k++) {
        int i = ag_names_find(axis_names(spec, axis), theirs->name[k]);
        if (i >= 0) row[i] = (int)k;
    }
    return row;
}

static bool copy_rows(const ag_tensor *t, const Ag__Saved__Tensor *from, const int *row,
                      const ProtobufCBinaryData *data, ag_real *to)
{
    if (data->len != (size_t)from->rows * from->cols * 4) return false;
    for (int i = 0; i < t->rows; i++) {
        if (row[i] < 0 || (uint32_t)row[i] >= from->rows) continue;
        for (int j = 0; j < t->cols; j++) {
            ag_real value = float_at(data, (size_t)row[i] * from->cols + (size_t)j);
            if (!isfinite(value)) return false;
            to[t->at + (size_t)(i * t->cols + j)] = value;
        }
    }
    return true;
}

static tg_status read_tensor(const Ag__Saved__Checkpoint *file, const Ag__Saved__Tensor *from,
                             const ag_net *net, ag_policy *policy, ag_checkpoint *c)
{
    const ag_tensor *t = ag_layout_find(&net->layout, from->name);
    if (!t) return TG_OK;
    size_t names = t->axis ? file->axis[t->axis - 1]->n_name : (size_t)t->rows;
    if (from->cols != (uint32_t)t->cols || from->axis != (uint32_t)t->axis || from->rows != names)
        return tg_fail(TG_FORMAT, "tensor %s has another shape", t->name);
    int *row = match_rows(file, net->spec, (int)t->axis, t->rows);
    bool ok = copy_rows(t, from, row, &from->value, policy->value);
    if (from->has_first && from->has_second) {
        ok = ok && copy_rows(t, from, row, &from->first, c->first) &&
             copy_rows(t, from, row, &from->second, c->second);
    }
    free(row);
    return ok ? TG_OK : tg_fail(TG_FORMAT, "tensor %s has wrong numbers", t->name);
}

static void count_rules(const Ag__Saved__Checkpoint *file, const ag_spec *spec, ag_checkpoint *c)
{
    const Ag__Saved__Names *theirs = file->axis[AG_AXIS_RULE - 1];
    int common = 0;
    for (size_t k = 0; k < theirs->n_name; k++)
        common += ag_names_find(&spec->rules, theirs->name[k]) >= 0;
    c->rules_new = spec->rules.n > common ? spec->rules.n - common : 0;
    c->rules_ignored = (int)theirs->n_name - common;
}

static int small(uint32_t v)
{
    return v > INT_MAX ? -1 : (int)v;
}

/* A few bytes must not make a policy of billions of numbers: most of a large one is in the file. */
static tg_status check_size(const Ag__Saved__Checkpoint *file, const ag_net *net)
{
    enum { SMALL = 1 << 18, MISSING = 8 };
    size_t bytes = 0;
    for (size_t i = 0; i < file->n_tensor; i++) bytes += file->tensor[i]->value.len;
    if (net->layout.n <= SMALL || net->layout.n / MISSING <= bytes / 4) return TG_OK;
    return tg_fail(TG_FORMAT, "a policy of its sizes has %zu numbers, %zu are there", net->layout.n,
                   bytes / 4);
}

static tg_status read_body(const Ag__Saved__Checkpoint *file, const ag_spec *spec, ag_checkpoint *c)
{
    ag_shape shape = {small(file->hidden), small(file->heads), small(file->layers),
                      small(file->rule), small(file->head)};
    ag_net *net;
    if (file->n_axis != AXES) return tg_fail(TG_FORMAT, "its vocabulary is incomplete");
    if (ag_net_new(spec, shape, &net) != TG_OK) return tg_fail(TG_FORMAT, "%s", tg_message());
    tg_status status = check_size(file, net);
    if (status != TG_OK) {
        ag_net_unref(net);
        return status;
    }
    c->seed = file->seed;
    c->episodes = file->episodes;
    c->adam_steps = file->adam_steps;
    tg_rng *rng = tg_rng_new(file->seed);
    c->policy = ag_policy_new(net, rng);
    c->policy->version = file->version;
    tg_rng_free(rng);
    c->first = tg_calloc(net->layout.n, sizeof(ag_real));
    c->second = tg_calloc(net->layout.n, sizeof(ag_real));
    count_rules(file, spec, c);
    for (size_t i = 0; i < file->n_tensor && status == TG_OK; i++)
        status = read_tensor(file, file->tensor[i], net, c->policy, c);
    ag_net_unref(net);
    return status;
}

static tg_status read_file(const uint8_t *bytes, size_t size, const ag_spec *spec, ag_checkpoint *c)
{
    Ag__Saved__File *file = ag__saved__file__unpack(NULL, size, bytes);
    if (!file || strcmp(file->kind, KIND) != 0) {
        if (file) ag__saved__file__free_unpacked(file, NULL);
        return tg_fail(TG_FORMAT, "not a checkpoint of regraft, or damaged");
    }
    Ag__Saved__Checkpoint *body = NULL;
    if (tg_crc32c(0, file->body.data, file->body.len) == file->crc)
        body = ag__saved__checkpoint__unpack(NULL, file->body.len, file->body.data);
    ag__saved__file__free_unpacked(file, NULL);
    if (!body) return tg_fail(TG_FORMAT, "damaged: its checksum does not fit");
    tg_status status = read_body(body, spec, c);
    ag__saved__checkpoint__free_unpacked(body, NULL);
    return status;
}

tg_status ag_checkpoint_load(const char *path, const ag_spec *spec, ag_checkpoint *checkpoint)
{
    char *bytes;
    size_t size;
    ag_checkpoint c = {0};
    TG_TRY(tg_read_file(path, LARGEST, &bytes, &size));
    tg_status status = read_file((const uint8_t *)bytes, size, spec, &c);
    free(bytes);
    if (status != TG_OK) {
        ag_checkpoint_done(&c);
        return tg_wrap(status, "%s", path);
    }
    *checkpoint = c;
    return TG_OK;
}

void ag_checkpoint_done(ag_checkpoint *c)
{
    ag_policy_unref(c->policy);
    free(c->first);
    free(c->second);
    *c = (ag_checkpoint){0};
}
