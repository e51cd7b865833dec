/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Converts operands to bfloat16 before a primitive runs (docs/precision.md).
 *
 * float32 numbers become the parts that onednn_precision.c describes, on the calling thread's team.
 */
#include "runtime/engine/onednn/onednn_step.h"

#include "runtime/host/threads.h"

/* Only processors with bfloat16 arithmetic come here, and all of those have this. */
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define WIDE
#endif

enum { INFINITE = 0x7F800000, LARGEST = 0x7F7F0000, QUIET = 0x00400000 };

/** Returns the bits of a float32, rounded to a bfloat16's in the upper half; the lower half is to be ignored. */
WIDE static inline uint32_t round_bits(uint32_t bits)
{
    uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);

    return (bits & 0x7FFFFFFF) > INFINITE ? bits | QUIET : rounded;
}

WIDE static void convert(const unsigned char *restrict in, uint16_t *restrict out, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, in + 4 * i, sizeof bits); /* constants may be unaligned */
        out[i] = (uint16_t)(round_bits(bits) >> 16);
    }
}

/**
 * Splits every x into hi and lo with x = hi + lo; `again` receives hi for its second place.  A finite x has a finite hi, also
 * above bfloat16's largest.  An infinite x has hi alone, so that no infinity meets the other operand's lo, which may be 0 or
 * have the other sign.
 */
WIDE static void split(const unsigned char *restrict in, uint16_t *restrict hi, uint16_t *restrict lo, uint16_t *restrict again,
                       int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits, upper, size, rest;
        float x, h;

        memcpy(&bits, in + 4 * i, sizeof bits);
        size = bits & 0x7FFFFFFF;
        upper = round_bits(bits) & 0xFFFF0000;
        upper = size < INFINITE && (upper & 0x7FFFFFFF) == INFINITE ? (bits & 0x80000000) | LARGEST : upper;
        memcpy(&x, &bits, sizeof x);
        memcpy(&h, &upper, sizeof h);
        x -= h;
        memcpy(&rest, &x, sizeof rest);
        hi[i] = (uint16_t)(upper >> 16);
        rest = (upper & 0x7FFFFFFF) == LARGEST ? rest : round_bits(rest); /* hi + lo must not round to 2^128 */
        lo[i] = size == INFINITE ? 0 : (uint16_t)(rest >> 16);
        again[i] = size == INFINITE ? 0 : (uint16_t)(upper >> 16);
    }
}

struct conversion_run {
    const struct dnn_conversion *c;
    const unsigned char *in;
    uint16_t *out;
};

static void convert_range(const struct conversion_run *x, int64_t from, int64_t to)
{
    const struct dnn_conversion *c = x->c;

    if (c->parts == 1) {
        convert(x->in + 4 * from, x->out + from, to - from);
        return;
    }
    while (from < to) {
        int64_t block = from / c->run, at = from % c->run, end = (block + 1) * c->run;
        int64_t count = (end < to ? end : to) - from;
        uint16_t *first = x->out + 3 * block * c->run + at, *second = first + c->run, *third = second + c->run;

        if (c->side == DNN_SOURCE)
            split(x->in + 4 * from, first, second, third, count);
        else
            split(x->in + 4 * from, first, third, second, count);
        from += count;
    }
}

static void convert_part(void *user, uint32_t part, uint32_t parts)
{
    const struct conversion_run *x = user;
    const int64_t share = target_whole_lines(x->c->elements / parts);
    const int64_t from = share * part, to = part + 1 == parts ? x->c->elements : from + share;

    if (from < x->c->elements)
        convert_range(x, from, to < x->c->elements ? to : x->c->elements);
}

void dnn_convert(const struct library *l, const struct dnn_conversion *c, const void *in, void *out)
{
    struct conversion_run x = {c, in, out};
    const struct target_facts *f = target_facts_everywhere();
    /* Less than this is done before another thread would have begun. */
    const double alone = f->call.wake * f->rate.converted_bytes / sizeof(float);
    const int64_t parts = c->elements / (int64_t)alone;

    threads_run(parts < 1 ? 1 : parts < l->threads ? (uint32_t)parts : l->threads, convert_part, &x);
}

/* ---- steps ---- */

bool dnn_low_precision_argument(struct library_step *s, struct argument *a, enum dnn_side side)
{
    if (!s->problem.parts || s->problem.given_low_precision & 1 << side)
        return true;

    const struct dnn_layout l = dnn_parts_layout(&s->problem, side);
    struct low_precision_operand *n = &s->low_precision_operands[side];
    dnn_md md = dnn_md_create(l.rank, l.dims, l.strides, dnnl_bf16);

    if (!md)
        return false;
    dnn_md_free(a->md);
    a->md = md;
    n->conversion = dnn_conversion_of(&s->problem, side);
    n->constant = a->source == FROM_CONSTANT ? a->data : NULL;
    n->input = a->input;
    dnn_argument_scratch(s, a, (int64_t)dnn_conversion_bytes(&n->conversion));
    n->offset = a->offset;
    return true;
}
