/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vendor.h"

#include "engine/base/build.h"
#include "engine/base/hash.h"
#include "engine/base/lock.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 6 + TG_MAX_POSTS + VENDOR_QUANT_ARGS };

struct tg_prim_call {
    const tg_prim *prim;
    dnnl_stream_t stream;
    int n;
    dnnl_exec_arg_t arg[MAX_ARGS];
};

/* The cache: a list of primitives a hash. */
typedef struct link {
    tg_prim prim;
    struct link *next;
} link;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tg_map cache;
/*
 * Held while the library makes something, and while it packs, which makes and runs in one: it keeps
 * parts of what it makes and hands them out again.
 */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint made;
static dnnl_engine_t engine;
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;

static void engine_open(void)
{
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success) engine = NULL;
    dnnl_set_primitive_cache_capacity(4096);
}

/* Of tg_post_kind, in order. */
static const dnnl_alg_kind_t post_algorithms[TG_POST_KINDS] = {
    dnnl_eltwise_relu,      dnnl_eltwise_elu,   dnnl_eltwise_tanh,      dnnl_eltwise_logistic,
    dnnl_eltwise_sqrt,      dnnl_eltwise_abs,   dnnl_eltwise_exp,       dnnl_eltwise_linear,
    dnnl_eltwise_clip,      dnnl_eltwise_swish, dnnl_eltwise_hardswish, dnnl_eltwise_gelu_erf,
    dnnl_eltwise_gelu_tanh, dnnl_binary_add,    dnnl_binary_sub,        dnnl_binary_mul,
    dnnl_binary_div,        dnnl_binary_max,    dnnl_binary_min,
};

static bool append_posts(const tg_prim_spec *spec, struct tg_prim_vendor *v, dnnl_post_ops_t ops)
{
    for (int i = 0; i < spec->n_post; i++) {
        const tg_post *post = &spec->post[i];
        dnnl_alg_kind_t alg = post_algorithms[post->kind];
        dnnl_status_t status;
        if (post->kind < TG_POST_ADD) {
            status = vendor_append_eltwise(ops, alg, post->alpha, post->beta);
        } else {
            if (!vendor_md_new(&post->md, &v->post[i])) return false;
            status = dnnl_post_ops_append_binary(ops, alg, v->post[i]);
        }
        if (status != dnnl_success) return false;
    }
    return true;
}

static dnnl_primitive_attr_t attr_new(const tg_prim_spec *spec, struct tg_prim_vendor *v)
{
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    if (dnnl_primitive_attr_create(&attr) != dnnl_success) return NULL;
    dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    bool ok = vendor_set_quantised(spec, v, attr);
    if (ok && !spec->n_post) return attr;
    ok = ok && dnnl_post_ops_create(&ops) == dnnl_success;
    if (ok) {
        ok = append_posts(spec, v, ops) &&
             dnnl_primitive_attr_set_post_ops(attr, ops) == dnnl_success;
        dnnl_post_ops_destroy(ops);
    }
    if (ok) return attr;
    dnnl_primitive_attr_destroy(attr);
    return NULL;
}

static dnnl_primitive_desc_t primitive_desc(const tg_prim_spec *spec, struct tg_prim_vendor *v)
{
    if (!vendor_md_new(&spec->src, &v->src) || !vendor_md_new(&spec->weights, &v->weights) ||
        !vendor_md_new(&spec->bias, &v->bias) || !vendor_md_new(&spec->dst, &v->dst))
        return NULL;
    dnnl_primitive_attr_t attr = attr_new(spec, v);
    if (!attr) return NULL;
    dnnl_primitive_desc_t pd = NULL;
    if (spec->kind != TG_PRIM_REORDER) pd = vendor_describe(spec, v, attr, engine);
    else if (dnnl_reorder_primitive_desc_create(&pd, v->src, engine, v->dst, engine, attr) !=
             dnnl_success)
        pd = NULL;
    dnnl_primitive_attr_destroy(attr);
    return pd;
}

static void note_weights(tg_prim *p, dnnl_primitive_desc_t pd)
{
    const vendor_md *md = dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
    if (!p->spec.weights.any || !md) return;
    vendor_md_free(p->vendor->weights);
    p->vendor->weights = vendor_md_copy(md);
    p->weights_bytes = dnnl_memory_desc_get_size(md);
    p->weights_hash = vendor_md_hash(md);
}

static void make(tg_prim *p, const float *scales)
{
    const char *impl = "";
    p->vendor = tg_calloc(1, sizeof *p->vendor);
    if (scales) p->vendor->scales = tg_memdup(scales, sizeof *scales * (size_t)p->spec.n_scales);
    pthread_once(&engine_once, engine_open);
    if (!engine) return;
    tg_prim_threads(p->spec.threads);
    dnnl_primitive_desc_t pd = primitive_desc(&p->spec, p->vendor);
    if (!pd) return;
    dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &impl);
    snprintf(p->impl, sizeof p->impl, "%s", impl);
    p->slow = strstr(impl, "ref") != NULL;
    const vendor_md *scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    if (scratch) {
        p->vendor->scratch = vendor_md_copy(scratch);
        p->scratch_bytes = dnnl_memory_desc_get_size(scratch);
    }
    note_weights(p, pd);
    p->usable = dnnl_primitive_create(&p->vendor->primitive, pd) == dnnl_success;
    dnnl_primitive_desc_destroy(pd);
    atomic_fetch_add(&made, 1);
}

static link *cached(uint64_t key, const tg_prim_spec *spec)
{
    const uint64_t *at = tg_map_find(&cache, key);
    link *l = at ? (link *)(uintptr_t)*at : NULL;
    while (l && memcmp(&l->prim.spec, spec, sizeof *spec) != 0) l = l->next;
    return l;
}

/* Under the lock `making`. */
static const tg_prim *make_and_keep(uint64_t key, const tg_prim_spec *spec, const float *scales)
{
    link *l = cached(key, spec);
    if (l) return &l->prim;
    l = tg_calloc(1, sizeof *l);
    l->prim.spec = *spec;
    make(&l->prim, scales);
    tg_lock(&lock);
    uint64_t *at = tg_map_put(&cache, key, NULL);
    l->next = (link *)(uintptr_t)*at;
    *at = (uint64_t)(uintptr_t)l;
    tg_unlock(&lock);
    return &l->prim;
}

static const tg_prim *get(const tg_prim_spec *spec, const float *scales)
{
    uint64_t key = tg_hash_bytes(0, spec, sizeof *spec);
    tg_lock(&lock);
    const link *l = cached(key, spec);
    tg_unlock(&lock);
    if (l) return &l->prim;
    tg_lock(&making);
    const tg_prim *prim = make_and_keep(key, spec, scales);
    tg_unlock(&making);
    return prim;
}

const tg_prim *tg_prim_get(const tg_prim_spec *spec)
{
    return get(spec, NULL);
}

const tg_prim *tg_prim_get_scaled(tg_prim_spec *spec, const float *scales)
{
    spec->scales_hash = tg_hash_bytes(5, scales, sizeof *scales * (size_t)spec->n_scales);
    return get(spec, scales);
}

bool tg_prim_bytes_exact(void)
{
    const int vnni = dnnl_cpu_isa_avx512_core_vnni;
    return ((int)dnnl_get_effective_cpu_isa() & vnni) == vnni;
}

static void add_arg(tg_prim_call *call, bool *ok, int arg, const vendor_md *md, void *p)
{
    dnnl_memory_t memory;
    if (!*ok) return;
    if (dnnl_memory_create(&memory, md, engine, p) != dnnl_success) {
        *ok = false;
        return;
    }
    call->arg[call->n++] = (dnnl_exec_arg_t){arg, memory};
}

static void add_args(tg_prim_call *call, const tg_prim_args *args, bool *ok)
{
    const tg_prim_spec *spec = &call->prim->spec;
    const struct tg_prim_vendor *v = call->prim->vendor;
    bool norm = spec->kind == TG_PRIM_LAYERNORM;
    bool reorder = spec->kind == TG_PRIM_REORDER;
    add_arg(call, ok, reorder ? DNNL_ARG_FROM : DNNL_ARG_SRC, v->src, args->src);
    if (spec->weights.rank)
        add_arg(call, ok, norm ? DNNL_ARG_SCALE : DNNL_ARG_WEIGHTS, v->weights, args->weights);
    if (spec->bias.rank)
        add_arg(call, ok, norm ? DNNL_ARG_SHIFT : DNNL_ARG_BIAS, v->bias, args->bias);
    add_arg(call, ok, reorder ? DNNL_ARG_TO : DNNL_ARG_DST, norm ? v->src : v->dst, args->dst);
    if (call->prim->scratch_bytes)
        add_arg(call, ok, DNNL_ARG_SCRATCHPAD, v->scratch, args->scratch);
    for (int i = 0; i < spec->n_post; i++)
        if (spec->post[i].kind >= TG_POST_ADD)
            add_arg(call, ok, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1, v->post[i],
                    args->post[i]);
    int n = *ok ? vendor_quantised_args(spec, v, engine, call->arg + call->n) : 0;
    if (n < 0) *ok = false;
    else call->n += n;
}

tg_status tg_prim_bind(const tg_prim *prim, const tg_prim_args *args, tg_prim_call **call)
{
    tg_prim_call *c = tg_calloc(1, sizeof *c);
    c->prim = prim;
    bool ok = dnnl_stream_create(&c->stream, engine, dnnl_stream_default_flags) == dnnl_success;
    add_args(c, args, &ok);
    if (!ok) {
        tg_prim_unbind(c);
        return tg_fail(TG_BACKEND, "the library refused the memory of %s", prim->impl);
    }
    *call = c;
    return TG_OK;
}

tg_status tg_prim_run(const tg_prim_call *call)
{
    dnnl_status_t status =
        dnnl_primitive_execute(call->prim->vendor->primitive, call->stream, call->n, call->arg);
    if (status == dnnl_success) return TG_OK;
    return tg_fail(TG_BACKEND, "primitive %s failed with status %d", call->prim->impl, (int)status);
}

void tg_prim_unbind(tg_prim_call *call)
{
    if (!call) return;
    for (int i = 0; i < call->n; i++) dnnl_memory_destroy(call->arg[i].memory);
    if (call->stream) dnnl_stream_destroy(call->stream);
    free(call);
}

static dnnl_primitive_t reorder_new(const vendor_md *from, const vendor_md *to)
{
    dnnl_primitive_desc_t pd;
    dnnl_primitive_t primitive = NULL;
    if (dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL) == dnnl_success) {
        if (dnnl_primitive_create(&primitive, pd) != dnnl_success) primitive = NULL;
        dnnl_primitive_desc_destroy(pd);
    }
    return primitive;
}

static bool reorder(const vendor_md *from, const void *data, const vendor_md *to, void *out)
{
    dnnl_primitive_t primitive = reorder_new(from, to);
    if (!primitive) return false;
    tg_prim_call call = {0};
    bool ok = dnnl_stream_create(&call.stream, engine, dnnl_stream_default_flags) == dnnl_success;
    add_arg(&call, &ok, DNNL_ARG_FROM, from, (void *)(uintptr_t)data);
    add_arg(&call, &ok, DNNL_ARG_TO, to, out);
    ok = ok && dnnl_primitive_execute(primitive, call.stream, call.n, call.arg) == dnnl_success;
    for (int i = 0; i < call.n; i++) dnnl_memory_destroy(call.arg[i].memory);
    if (call.stream) dnnl_stream_destroy(call.stream);
    dnnl_primitive_destroy(primitive);
    return ok;
}

tg_status tg_prim_pack(const tg_prim *prim, const tg_md *from, const void *data, void *to)
{
    vendor_md *src;
    tg_prim_threads(prim->spec.threads);
    bool ok = vendor_md_new(from, &src);
    tg_lock(&making);
    ok = ok && reorder(src, data, prim->vendor->weights, to);
    tg_unlock(&making);
    vendor_md_free(src);
    return ok ? TG_OK : tg_fail(TG_BACKEND, "weights of %s cannot be packed", prim->impl);
}

/* libgomp is the library's dependency, not ours: its functions are asked for at run time. */
void tg_prim_threads(int threads)
{
    static _Thread_local int now;
    void (*set)(int);
    if (threads == now) return;
    *(void **)&set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    if (set) set(threads);
    now = threads;
}

/* The processor's name as the system gives it; "" if it does not. */
static void processor_name(char *name, size_t size)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    *name = 0;
    while (f && !*name && fgets(line, sizeof line, f)) {
        const char *at = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !at) continue;
        snprintf(name, size, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
    }
    if (f) fclose(f);
}

char *tg_prim_identity(char *buf, size_t size)
{
    const dnnl_version_t *v = dnnl_version();
    const char *isa = "base";
    char name[96], build[TG_BUILD_ID_TEXT];
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) isa = "avx2";
    if (__builtin_cpu_supports("avx512f")) isa = "avx512";
#endif
    processor_name(name, sizeof name);
    /* Regraft's own kernels change from build to build. */
    snprintf(buf, size, "oneDNN %d.%d.%d, build %s, %s%s%s", v->major, v->minor, v->patch,
             tg_build_id(build), isa, *name ? ", " : "", name);
    return buf;
}

unsigned tg_prim_made(void)
{
    return atomic_load(&made);
}
