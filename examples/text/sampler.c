/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The likeliest tokens are kept in a small heap whose first element is the least likely of them, so that a vocabulary is read
 * once and not sorted.
 */
#include "examples/text/sampler.h"

#include <math.h>
#include <stdlib.h>

struct candidate {
    float logit;
    int32_t token;
};

/* Returns a number from 0 up to 1 by SplitMix64. */
static double next_number(struct sampler *s)
{
    uint64_t z = s->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int32_t likeliest(const float *logits, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        if (logits[i] > logits[best] || isnan(logits[best]))
            best = i;
    return (int32_t)best;
}

static void sink(struct candidate *heap, uint32_t count, struct candidate c)
{
    uint32_t i = 0;

    for (uint32_t child = 1; child < count; child = 2 * i + 1) {
        child += child + 1 < count && heap[child + 1].logit < heap[child].logit;
        if (heap[child].logit >= c.logit)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = c;
}

static uint32_t find_likeliest(const float *logits, uint32_t count, uint32_t wanted, struct candidate *heap)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (isnan(logits[i]))
            continue;
        if (kept < wanted) {
            uint32_t at = kept++;

            for (; at && heap[(at - 1) / 2].logit > logits[i]; at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
            heap[at] = (struct candidate){logits[i], (int32_t)i};
        } else if (logits[i] > heap[0].logit) {
            sink(heap, kept, (struct candidate){logits[i], (int32_t)i});
        }
    }
    return kept;
}

static int order(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->logit != y->logit)
        return x->logit > y->logit ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

int32_t sampler_choose(struct sampler *s, const float *logits, uint32_t count)
{
    struct candidate top[SAMPLER_TOP_MAX];
    const uint32_t wanted = s->top_k < SAMPLER_TOP_MAX ? s->top_k : SAMPLER_TOP_MAX;
    double weights[SAMPLER_TOP_MAX], sum = 0, part = 0, number;
    uint32_t kept, used = 0;

    if (s->temperature <= 0 || wanted <= 1)
        return likeliest(logits, count);
    kept = find_likeliest(logits, count, wanted, top);
    if (!kept || isinf(top[0].logit))
        return likeliest(logits, count);
    qsort(top, kept, sizeof *top, order);
    for (uint32_t i = 0; i < kept; i++)
        sum += weights[i] = exp(((double)top[i].logit - top[0].logit) / s->temperature);
    while (used < kept && (used == 0 || part < s->top_p * sum))
        part += weights[used++];
    number = next_number(s) * part;
    for (uint32_t i = 0; i < used; i++) {
        number -= weights[i];
        if (number < 0)
            return top[i].token;
    }
    return top[used - 1].token;
}
