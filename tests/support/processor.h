/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What tests may expect of the processor and of WEBNN_DEBUG=isa=..., which caps the instruction set of a whole process. */
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

/** Returns whether the processor has a feature; and likewise one of AVX-512 that no cap takes away. */
#if defined(__x86_64__)
#define processor_supports(feature) __builtin_cpu_supports(feature)
#else
#define processor_supports(feature) false
#endif
#define processor_has_avx512(feature)                                                                                          \
    (processor_supports(feature) && !processor_capped_to("baseline") && !processor_capped_to("avx2"))

/** Returns whether the library has code for this processor.  Portable code, which it has for others, is not chosen. */
static inline bool library_has_code(void)
{
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

/** Returns whether contractions of bfloat16 operands are computed as such. */
static inline bool processor_has_bfloat16(void)
{
    return processor_has_avx512("avx512bf16");
}

/** Returns whether the library computes contractions of bytes as such for certain; other processors may do so, too. */
static inline bool library_multiplies_bytes(void)
{
    return processor_has_avx512("avx512vnni");
}

/** Returns whether generated code is known to multiply bytes, and runs, in contexts that leave the engine open. */
static inline bool processor_multiplies_bytes(void)
{
    const char *engine = getenv("WEBNN_ENGINE");

    return processor_supports("avx2") && processor_supports("fma") && !processor_capped_to("baseline") &&
           (!engine || strcmp(engine, "gpu") != 0);
}
