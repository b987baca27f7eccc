/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oneDNN's C API, the part that prim.c uses, in one form for 2.x and 3.x: the two differ in how
 * tensors are described and in how a primitive's description comes about.
 */
#ifndef TG_EXEC_CPU_VENDOR_H
#define TG_EXEC_CPU_VENDOR_H

#include "prim.h"

#include <oneapi/dnnl/dnnl.h>

#if DNNL_VERSION_MAJOR >= 3
typedef struct dnnl_memory_desc vendor_md;
#else
typedef dnnl_memory_desc_t vendor_md;
#endif

/* Descriptions are owned; NULL where the primitive has no such operand. */
struct tg_prim_vendor {
    dnnl_primitive_t primitive;
    vendor_md *src, *weights, *bias, *dst, *scratch;
    vendor_md *post[TG_MAX_POSTS];
    float *scales;
};

/* *out is NULL for an absent tensor (rank 0). False: the library has no such tensor. */
bool vendor_md_new(const tg_md *md, vendor_md **out);
vendor_md *vendor_md_copy(const vendor_md *md);
void vendor_md_free(vendor_md *md); /* NULL is fine */
/* Equal for equal types, sizes and layouts within one version of the library. */
uint64_t vendor_md_hash(const vendor_md *md);

dnnl_status_t vendor_append_eltwise(dnnl_post_ops_t ops, dnnl_alg_kind_t alg, float alpha,
                                    float beta);

/* Scales and zero points of integers; v->scales holds the former. */
bool vendor_set_quantised(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                          dnnl_primitive_attr_t attr);
/* The arguments that carry them while running, VENDOR_QUANT_ARGS at most; how many, or -1. */
enum { VENDOR_QUANT_ARGS = 3 };
int vendor_quantised_args(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                          dnnl_engine_t engine, dnnl_exec_arg_t *arg);

/* The description of any primitive but a reorder, or NULL: the library has none such. */
dnnl_primitive_desc_t vendor_describe(const tg_prim_spec *spec, const struct tg_prim_vendor *v,
                                      dnnl_primitive_attr_t attr, dnnl_engine_t engine);

#endif
