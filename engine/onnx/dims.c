/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/base/log.h"
#include "import.h"
#include "valuetype.h"

#include <string.h>

/* The shape given for an input, by its name, else by its number; NULL if none was. */
static const tg_shape *given_shape(const tg_dims *dims, const char *input, uint32_t index)
{
    const tg_load_options *opt = dims->opt;
    for (int i = 0; opt && i < opt->n_inputs; i++)
        if (strcmp(opt->inputs[i].name, input) == 0) return &opt->inputs[i].shape;
    bool numbered = opt && (int)index < opt->n_inputs && !opt->inputs[index].name[0];
    return numbered ? &opt->inputs[index].shape : NULL;
}

/* The size of a dimension that is met for the first time, on this axis of this input. */
static int64_t first_size(const tg_dims *dims, const char *name, const char *input,
                          const tg_dim_name *place)
{
    const tg_load_options *opt = dims->opt;
    for (int i = 0; opt && i < opt->n_dims; i++)
        if (strcmp(opt->dims[i].name, name) == 0) return opt->dims[i].size;
    const tg_shape *shape = given_shape(dims, input, place->index);
    if (shape && (int64_t)place->axis < shape->rank) return shape->dim[place->axis];
    if (opt && opt->other_dims > 0) return opt->other_dims;
    bool one = dims->list.n < 64 && dims->ones >> dims->list.n & 1;
    return place->axis > 0 && dims->guess && !one ? dims->guess : 1;
}

static int64_t define(tg_dims *dims, const char *name, const char *input, const tg_dim_name *place)
{
    bool fresh;
    uint64_t *at = tg_strmap_put(&dims->index, name, &fresh);
    if (fresh) {
        tg_dim dim = {name, first_size(dims, name, input, place)};
        *at = dims->list.n;
        tg_vec_push(&dims->list, dim);
    }
    return dims->list.v[*at].size;
}

tg_status tg_dims_check(const tg_dims *dims)
{
    for (int i = 0; dims->opt && i < dims->opt->n_dims; i++) {
        const tg_dim_fix *fix = &dims->opt->dims[i];
        if (fix->size < 0)
            return tg_fail(TG_USAGE, "dimension %s cannot be %lld", fix->name,
                           (long long)fix->size);
        if (tg_strmap_find(&dims->index, fix->name)) continue;
        tg_log(TG_LOG_WARN, "no input has a dimension %s", fix->name);
    }
    return TG_OK;
}

void tg_dims_print(const tg_dims *dims, tg_str *out)
{
    for (size_t i = 0; i < dims->list.n; i++)
        tg_str_addf(out, "%s%s=%lld", i ? ", " : "", dims->list.v[i].name,
                    (long long)dims->list.v[i].size);
}

static const Onnx__TypeProto__Tensor *tensor_type(const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto *type = info->type;
    return type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? type->tensor_type
                                                                           : NULL;
}

static const char *param_of(const Onnx__TensorShapeProto__Dimension *dim)
{
    bool named = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    return named && dim->dim_param && dim->dim_param[0] ? dim->dim_param : NULL;
}

static int64_t value_of(const Onnx__TensorShapeProto__Dimension *dim)
{
    bool valued = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    return valued ? dim->dim_value : -1;
}

/*
 * Some writers give a dimension of any size the size 0: it is one if somebody gives it another.
 */
static bool is_open(const tg_importer *im, const char *input, const tg_dim_name *place)
{
    const tg_load_options *opt = im->dims.opt;
    const char *name = tg_arena_printf(im->arena, "%s axis %u", input, place->axis);
    const tg_shape *shape = given_shape(&im->dims, input, place->index);
    if (shape) return (int64_t)place->axis < shape->rank && shape->dim[place->axis] > 0;
    for (int i = 0; opt && i < opt->n_dims; i++)
        if (strcmp(opt->dims[i].name, name) == 0) return true;
    return false;
}

static tg_status input_dim(tg_importer *im, const char *input, const tg_dim_name *place,
                           const Onnx__TensorShapeProto__Dimension *dim, int64_t *size)
{
    const char *param = param_of(dim);
    *size = value_of(dim);
    if (*size > 0 || (*size == 0 && !is_open(im, input, place))) return TG_OK;
    if (*size == 0) *size = -1;
    if (*size < -1)
        return tg_fail(TG_INVALID, "input %s has the dimension %lld", input, (long long)*size);
    im->frame->symbolic = true;
    if (!param) param = tg_arena_printf(im->origin->arena, "%s axis %u", input, place->axis);
    else
        tg_vec_push(&im->dims.names, (tg_dim_name){place->index, place->axis, false,
                                                   tg_arena_strdup(im->origin->arena, param)});
    *size = define(&im->dims, param, input, place);
    return TG_OK;
}

tg_status tg_dims_input(tg_importer *im, const Onnx__ValueInfoProto *info, uint32_t index,
                        tg_type *type)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    *type = (tg_type){tg_value_dtype(info->type), TG_SHAPE_UNKNOWN};
    if (!t || !t->shape) return TG_OK;
    if (t->shape->n_dim > TG_MAX_RANK)
        return tg_fail(TG_LIMIT, "input %s has rank %zu, more than %d", info->name, t->shape->n_dim,
                       TG_MAX_RANK);
    type->shape = (tg_shape){.rank = (int64_t)t->shape->n_dim};
    for (uint32_t i = 0; i < t->shape->n_dim; i++) {
        tg_dim_name place = {index, i, false, NULL};
        TG_TRY(input_dim(im, info->name, &place, t->shape->dim[i], &type->shape.dim[i]));
    }
    if (tg_type_bytes(type) == INT64_MAX)
        return tg_fail(TG_INVALID, "input %s has too many elements", info->name);
    return TG_OK;
}

tg_type tg_dims_type(const tg_importer *im, const Onnx__ValueInfoProto *info)
{
    tg_type type = {tg_value_dtype(info->type), TG_SHAPE_UNKNOWN};
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    if (!type.dtype || !t || !t->shape || t->shape->n_dim > TG_MAX_RANK) return type;
    type.shape = (tg_shape){.rank = (int64_t)t->shape->n_dim};
    for (size_t i = 0; i < t->shape->n_dim; i++) {
        const char *param = param_of(t->shape->dim[i]);
        const uint64_t *at = param ? tg_strmap_find(&im->dims.index, param) : NULL;
        int64_t size = at ? im->dims.list.v[*at].size : value_of(t->shape->dim[i]);
        type.shape.dim[i] = size < 0 ? -1 : size;
    }
    return type;
}

void tg_dims_output(tg_importer *im, const Onnx__ValueInfoProto *info, uint32_t index)
{
    const Onnx__TypeProto__Tensor *t = tensor_type(info);
    for (uint32_t i = 0; t && t->shape && i < t->shape->n_dim; i++) {
        const char *param = param_of(t->shape->dim[i]);
        if (param)
            tg_vec_push(&im->dims.names,
                        (tg_dim_name){index, i, true, tg_arena_strdup(im->origin->arena, param)});
    }
}
