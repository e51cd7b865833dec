/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Chooses the next token by the logits of all. */
#pragma once

#include <stdint.h>

enum { SAMPLER_TOP_MAX = 1024 };

/** Says how tokens are chosen. */
struct sampler {
    double temperature; /**< 0: always the likeliest */
    uint32_t top_k;     /**< how many of the likeliest may come, 1 to SAMPLER_TOP_MAX */
    double top_p;       /**< of these, as many as have this probability together, above 0 to 1 */
    uint64_t state;     /**< of the random numbers; the seed at first */
};

/** Returns a token; logits that are not numbers are never chosen while others are there. */
int32_t sampler_choose(struct sampler *s, const float *logits, uint32_t count);
