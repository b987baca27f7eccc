/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blas.h"

#include <cblas.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

#if defined(__x86_64__) || defined(__i386__)

/* Whether kernels of this name use vectors of 256 bits or more. */
static bool wide(const char *name)
{
    static const char *const names[] = {"Haswell",  "Zen",        "Excavator",
                                        "SkylakeX", "Cooperlake", "SapphireRapids"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(name, names[i]) == 0) return true;
    }
    return false;
}

const char *ag_blas_coretype(void)
{
    __builtin_cpu_init();
    if (getenv("OPENBLAS_CORETYPE") || wide(openblas_get_corename())) return NULL;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NULL;
    bool wider = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wider ? "SKYLAKEX" : "HASWELL";
}

#else

const char *ag_blas_coretype(void)
{
    return NULL;
}

#endif
