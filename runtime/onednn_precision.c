/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Products in bfloat16 (docs/precision.md): which ones, and how their operands become it.
 *
 * In: a product of float32 operands, and the precision that the context allows.  Out: in how many parts its operands are
 * multiplied (struct dnn_problem: parts), layouts of the parts, and the conversion that runs before the primitive.
 *
 *   bf16    one part:     x rounded to nearest even
 *   bf16x2  three parts:  with x = hi + lo, the source is hi lo hi and the weights are hi hi lo, side by side along the
 * dimension that is summed: one product of three times as many factors is hi hi + lo hi + hi lo
 *
 * Nothing is timed: what the processor has, and the sizes, decide.
 */
#include "runtime/onednn_step.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "runtime/threads.h"

/* ---- which products ---- */

/* How many times as many multiply-adds of bfloat16 as of float32 a core does.  Tiles (AMX) and the dot product of processors
 * that have no float16 arithmetic: by their makers' manuals; the other dot product (Intel's from Sapphire Rapids on): measured.
 */
#define RATE_TILES 8.0
#define RATE_DOT 2.0
#define RATE_DOT_HALF 0.5

/* Per microsecond: float32 operations of a core, bytes that are converted (by a step; where a value is stored narrow, less),
 * and bytes of weights, from the second cache and from memory (runtime/onednn_choose.c).  And the cost of one more call. */
#define FLOPS 150e3
#define BYTES_CONVERTED 35e3
#define BYTES_CACHED 120e3
#define BYTES_MEMORY 28e3
#define CALL 1.0
/* Not the machine's: an image is to be loaded with the choice that was made when its graph was built. */
#define CACHE_BYTES 0.5e6
/* What an estimate must promise. */
#define WORTH_NARROWING 0.8

/* Factors are summed by so many in one instruction, for so many results. */
enum { SUMMED_AT_ONCE = 32, RESULTS_AT_ONCE = 16 };

double dnn_bfloat16_rate(void)
{
#if defined(__x86_64__)
    const unsigned has = (unsigned)dnnl_get_effective_cpu_isa();

    if ((has & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx)
        return RATE_TILES;
    if ((has & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16) {
        unsigned a, b, c, d;

        return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 23 & 1 /* AVX512_FP16 */ ? RATE_DOT_HALF : RATE_DOT;
    }
#endif
    return 0;
}

bool dnn_stores_narrow(const struct dnn_problem *p)
{
    return p->given_narrow || p->dst_type == dnnl_bf16;
}

int32_t dnn_given_type(const struct dnn_problem *p, enum dnn_side side)
{
    return p->given_narrow & 1 << side ? dnnl_bf16 : side == DNN_SOURCE ? p->src_type : p->weights_type;
}

int64_t dnn_type_size(int32_t type)
{
    return type == dnnl_f32 ? 4 : type == dnnl_bf16 ? 2 : 1;
}

/** The dimension that is summed, of source or weights. */
static int summed_dim(const struct dnn_problem *p, enum dnn_side side)
{
    if (side == DNN_SOURCE)
        return p->kind == DNN_MATMUL ? p->src.rank - 1 : 1;
    return p->weights.rank - (p->kind == DNN_MATMUL ? 2 : 3); /* behind groups and output channels */
}

static int64_t group_count(const struct dnn_problem *p)
{
    return p->kind != DNN_MATMUL && p->weights.rank == 5 ? p->weights.dims[0] : 1;
}

/** Whether a layout is some order of the dimensions of elements that lie one behind the other. */
static bool is_dense(const struct dnn_layout *l)
{
    int64_t next = 1;

    for (bool seen[RANK_MAX] = {false};;) {
        int found = -1;

        for (int i = 0; i < l->rank && found < 0; i++)
            if (!seen[i] && l->dims[i] > 1 && l->strides[i] == next)
                found = i;
        if (found < 0)
            break;
        seen[found] = true;
        next *= l->dims[found];
    }
    return next == dnn_elements(l);
}

/** Shares of the lanes that factors fill, of those that there are. */
static double lanes_used(int64_t factors, int64_t at_once)
{
    return (double)factors / (double)((factors + at_once - 1) / at_once * at_once);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/** Whether the product in parts takes less time than in float32. */
static bool gains(const struct library *l, const struct dnn_problem *p, int64_t parts)
{
    const struct dnn_layout *w = &p->weights;
    const int64_t summed = w->dims[summed_dim(p, DNN_WEIGHTS)] * parts;
    const int64_t results = p->kind == DNN_MATMUL ? w->dims[w->rank - 1] : w->dims[w->rank - 4];
    const double src = (double)dnn_elements(&p->src) * sizeof(float), weights = (double)dnn_elements(w) * sizeof(float);
    const double arithmetic = dnn_flops(p) / FLOPS / l->threads;
    const double memory = weights / (weights > CACHE_BYTES ? BYTES_MEMORY : BYTES_CACHED);
    const double rate = l->bfloat16 * lanes_used(summed, SUMMED_AT_ONCE) * lanes_used(results, RESULTS_AT_ONCE);
    /* read as float32, written and read again as parts; weights that are no constants likewise, and once more to be packed */
    double converted = 0;

    if (!(p->given_narrow & 1 << DNN_SOURCE))
        converted += src * (1 + (double)parts) / BYTES_CONVERTED / l->threads + CALL;
    if (p->given_late && !(p->given_narrow & 1 << DNN_WEIGHTS))
        converted += weights * (1 + 2 * (double)parts) / BYTES_CONVERTED / l->threads + CALL;
    return larger(arithmetic * (double)parts / rate, memory * (double)parts / 2) + converted <
           WORTH_NARROWING * larger(arithmetic, memory);
}

int32_t dnn_wanted_parts(const struct library *l, const struct dnn_problem *p)
{
    const int32_t parts = p->precision == WNNPrecision_Bf16 ? 1 : p->precision == WNNPrecision_Bf16x2 ? 3 : 0;

    if (!parts || !l->bfloat16 || p->src_type != dnnl_f32 || !is_dense(&p->src) || !is_dense(&p->weights) ||
        dnn_elements(&p->src) > ELEMENT_COUNT_MAX / parts || dnn_elements(&p->weights) > ELEMENT_COUNT_MAX / parts)
        return 0;
    if (dnn_stores_narrow(p)) /* it was asked about before, and now gains more */
        return parts == 1;
    return l->prefer_bfloat16 || gains(l, p, parts) ? parts : 0;
}

/* ---- layouts ---- */

/** Elements of an operand that lie one behind the other before the next part begins. */
static int64_t run_length(const struct dnn_problem *p, enum dnn_side side)
{
    const struct dnn_layout *l = side == DNN_SOURCE ? &p->src : &p->weights;
    const int dim = summed_dim(p, side);

    return l->dims[dim] / (side == DNN_SOURCE ? group_count(p) : 1) * l->strides[dim];
}

struct dnn_layout dnn_parts_layout(const struct dnn_problem *p, enum dnn_side side)
{
    struct dnn_layout l = side == DNN_SOURCE ? p->src : p->weights;
    const int64_t run = run_length(p, side);
    const int dim = summed_dim(p, side);

    for (int i = 0; i < l.rank; i++)
        if (i != dim && l.strides[i] >= run)
            l.strides[i] *= p->parts;
    l.dims[dim] *= p->parts;
    return l;
}

struct dnn_conversion dnn_conversion_of(const struct dnn_problem *p, enum dnn_side side)
{
    return (struct dnn_conversion){.elements = dnn_elements(side == DNN_SOURCE ? &p->src : &p->weights),
                                   .run = run_length(p, side),
                                   .parts = p->parts,
                                   .side = side};
}

/* ---- conversion ---- */

/* Only processors with bfloat16 arithmetic come here, and all of those have this. */
#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define WIDE
#endif

enum { INFINITE = 0x7F800000, LARGEST = 0x7F7F0000, QUIET = 0x00400000 };

/** The bits of a float32, rounded to a bfloat16's in the upper half; the lower half is to be ignored. */
WIDE static inline uint32_t round_bits(uint32_t bits)
{
    uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1);

    return (bits & 0x7FFFFFFF) > INFINITE ? bits | QUIET : rounded;
}

WIDE static void convert(const unsigned char *restrict in, uint16_t *restrict out, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, in + 4 * i, sizeof bits); /* constants may lie askew */
        out[i] = (uint16_t)(round_bits(bits) >> 16);
    }
}

/**
 * hi and lo with x = hi + lo, and `again`, hi for its second place.  A finite x has a finite hi, also above bfloat16's largest.
 * An infinite x has hi alone, so that no infinity meets the other operand's lo, which may be 0 or have the other sign.
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

/** Elements from..to-1 of the operand. */
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
    const int64_t share = (x->c->elements / parts + 63) / 64 * 64; /* whole cache lines */
    const int64_t from = share * part, to = part + 1 == parts ? x->c->elements : from + share;

    if (from < x->c->elements)
        convert_range(x, from, to < x->c->elements ? to : x->c->elements);
}

/* Less than this is done before another thread would have begun. */
enum { ELEMENTS_ALONE = 16 << 10 };

void dnn_convert(const struct library *l, const struct dnn_conversion *c, const void *in, void *out)
{
    struct conversion_run x = {c, in, out};
    int64_t parts = c->elements / ELEMENTS_ALONE;

    threads_run(parts < 1 ? 1 : parts < l->threads ? (uint32_t)parts : l->threads, convert_part, &x);
}

size_t dnn_conversion_bytes(const struct dnn_conversion *c)
{
    return (size_t)(c->elements * c->parts) * sizeof(uint16_t);
}

/* ---- steps ---- */

bool dnn_narrow_argument(struct library_step *s, struct argument *a, enum dnn_side side)
{
    if (!s->problem.parts || s->problem.given_narrow & 1 << side)
        return true;

    const struct dnn_layout l = dnn_parts_layout(&s->problem, side);
    struct narrowing *n = &s->narrowings[side];
    dnn_md md = dnn_md_create(l.rank, l.dims, l.strides, dnnl_bf16);

    if (!md)
        return false;
    dnn_md_free(a->md);
    a->md = md;
    n->conversion = dnn_conversion_of(&s->problem, side);
    n->constant = a->source == FROM_CONSTANT ? a->data : NULL;
    n->input = a->input;
    n->offset = a->offset = dnn_reserve_scratch(s, (int64_t)dnn_conversion_bytes(&n->conversion));
    a->source = FROM_SCRATCH;
    return true;
}
