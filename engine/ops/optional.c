/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values that may be absent: Optional, OptionalHasElement, OptionalGetElement. */
#include "engine/ir/list.h"
#include "engine/ir/value.h"
#include "params.h"

static bool is_optional(tg_dtype t)
{
    return ((unsigned)t & TG_OPT) != 0;
}

tg_status infer_optional(tg_infer *infer)
{
    const tg_attr *type = tg_infer_attr(infer, "type");
    tg_dtype held = infer->n_in ? infer->in[0].dtype : TG_DTYPE_NONE;
    if (!infer->n_in && type->kind == TG_ATTR_NONE)
        return tg_fail(TG_INVALID, "neither an element nor its type is given");
    if (type->kind != TG_ATTR_NONE && held && held != (tg_dtype)type->i)
        return tg_fail(TG_TYPE, "the element is %s, not %s", tg_dtype_name(held),
                       tg_dtype_name((tg_dtype)type->i));
    if (!held && type->kind != TG_ATTR_NONE) held = (tg_dtype)type->i;
    if (is_optional(held)) return tg_fail(TG_TYPE, "an optional of %s", tg_dtype_name(held));
    infer->out[0].dtype = tg_dtype_opt(held);
    return TG_OK;
}

tg_status kernel_optional(tg_call *call)
{
    bool holds = has_input(call, 0);
    tg_dtype held = holds ? call->in[0].dtype : (tg_dtype)call_attr(call, "type")->i;
    tg_list *list = tg_list_new(holds);
    if (holds) tg_list_set(list, 0, &call->in[0]);
    tg_call_put(call, 0, tg_list_value(tg_dtype_opt(held), list));
    return TG_OK;
}

tg_status infer_optional_has_element(tg_infer *infer)
{
    infer->out[0] = (tg_type){TG_BOOL, {.rank = 0}};
    return TG_OK;
}

/* What is no optional is there. */
tg_status kernel_optional_has_element(tg_call *call)
{
    bool has = has_input(call, 0);
    if (has && is_optional(call->in[0].dtype)) has = tg_list_of(&call->in[0])->n > 0;
    *(uint8_t *)call->out[0].data = has;
    return TG_OK;
}

tg_status infer_optional_get_element(tg_infer *infer)
{
    infer->out[0] = infer->in[0];
    if (is_optional(infer->in[0].dtype)) infer->out[0].dtype = tg_dtype_item(infer->in[0].dtype);
    return TG_OK;
}

tg_status kernel_optional_get_element(tg_call *call)
{
    const tg_tensor *x = &call->in[0];
    if (!tg_dtype_is_list(x->dtype)) return kernel_identity(call);
    if (is_optional(x->dtype)) {
        if (!tg_list_of(x)->n) return tg_fail(TG_INVALID, "the optional holds nothing");
        x = &tg_list_of(x)->item[0].tensor;
    }
    tg_call_put(call, 0, tg_tensor_copy(x));
    return TG_OK;
}
