/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Says what tests may expect of the processor and of WEBNN_DEBUG=isa=..., which caps the instruction set of a whole process. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/** Returns whether the environment caps the instruction set to `isa`. */
static inline bool processor_capped_to(const char *isa)
{
    const char *debug = getenv("WEBNN_DEBUG"), *at = debug ? strstr(debug, "isa=") : NULL;

    return at && !strncmp(at + 4, isa, strlen(isa));
}

/** Returns whether contractions of bfloat16 operands are computed as such. */
static inline bool processor_has_bfloat16(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") && !processor_capped_to("baseline") && !processor_capped_to("avx2");
#else
    return false;
#endif
}

/** Returns whether the library computes contractions of bytes as such for certain; other processors may do so, too. */
static inline bool library_multiplies_bytes(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vnni") && !processor_capped_to("baseline") && !processor_capped_to("avx2");
#else
    return false;
#endif
}

/** Returns whether generated code is known to multiply bytes, and runs, in contexts that leave the engine open. */
static inline bool processor_multiplies_bytes(void)
{
#if defined(__x86_64__)
    const char *engine = getenv("WEBNN_ENGINE");

    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && !processor_capped_to("baseline") &&
           (!engine || strcmp(engine, "gpu") != 0);
#else
    return false;
#endif
}
