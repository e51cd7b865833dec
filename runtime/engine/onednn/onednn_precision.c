/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides which contractions are computed in bfloat16 (docs/precision.md), and how their operands become it.
 *
 * For a contraction of float32 operands, and the precision that the context allows, it says in how many parts its operands are
 * multiplied (struct dnn_problem: parts), how the parts lie, and which conversion runs before the primitive.
 *
 *   bf16    one part: x rounded to nearest even
 *   bf16x2  three parts: with x = hi + lo, the source is hi lo hi and the weights are hi hi lo, concatenated along the
 *           dimension that is summed: one contraction of three times as many terms is hi hi + lo hi + hi lo
 *
 * Nothing is timed: what the processor has, and the sizes, decide.
 */
#include "runtime/engine/onednn/onednn.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* ---- which contractions ---- */

/* One instruction adds up so many products for each of so many output channels. */
enum { SUMMED_AT_ONCE = 32, RESULTS_AT_ONCE = 16 };

double dnn_bfloat16_rate(void)
{
#if defined(__x86_64__)
    const struct rate_facts *rate = &target_facts_everywhere()->rate;
    const unsigned has = (unsigned)onednn.get_effective_cpu_isa();

    if ((has & dnnl_cpu_isa_avx512_core_amx) == dnnl_cpu_isa_avx512_core_amx)
        return rate->bfloat16_tiles;
    if ((has & dnnl_cpu_isa_avx512_core_bf16) == dnnl_cpu_isa_avx512_core_bf16) {
        unsigned a, b, c, d;

        return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 23 & 1 /* AVX512_FP16 */ ? rate->bfloat16_dot_slow
                                                                                        : rate->bfloat16_dot;
    }
#endif
    return 0;
}

/** Returns the dimension that is summed, of source or weights. */
static int summed_dim(const struct dnn_problem *p, enum dnn_side side)
{
    if (side == DNN_SOURCE)
        return p->kind == DNN_MATMUL ? p->src.rank - 1 : 1;
    return p->weights.rank - (p->kind == DNN_MATMUL ? 2 : 3); /* after groups and output channels */
}

static int64_t group_count(const struct dnn_problem *p)
{
    return p->kind != DNN_MATMUL && p->weights.rank == 5 ? p->weights.dims[0] : 1;
}

/** Returns whether a layout is some order of the dimensions of contiguous elements. */
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

/** Shares of the lanes that terms fill, of those that there are. */
static double lanes_used(int64_t terms, int64_t at_once)
{
    return (double)terms / (double)(ceil_div(terms, at_once) * at_once);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/**
 * Returns whether the contraction in parts takes less time than in float32.  The facts are those of no machine in particular: a
 * serialized program is loaded with the choice that was made when its graph was built.
 */
static bool gains(const struct library *l, const struct dnn_problem *p, int64_t parts)
{
    const struct target_facts *f = target_facts_everywhere();
    const struct dnn_layout *w = &p->weights;
    const int64_t summed = w->dims[summed_dim(p, DNN_WEIGHTS)] * parts;
    const int64_t results = p->kind == DNN_MATMUL ? w->dims[w->rank - 1] : w->dims[w->rank - 4];
    const double src = (double)dnn_elements(&p->src) * sizeof(float), weights = (double)dnn_elements(w) * sizeof(float);
    const double arithmetic = dnn_flops(p) * f->multiplication.library.product * 5e-7 / l->threads;
    const bool far = weights > f->cache.l2_reused_share * (double)f->cache.l2_bytes;
    const double memory = weights / (far ? f->rate.memory_bytes : f->rate.l2_bytes);
    const double rate = l->bfloat16 * lanes_used(summed, SUMMED_AT_ONCE) * lanes_used(results, RESULTS_AT_ONCE);
    /*
     * They are read as float32, written and read again as parts; weights that are not constants likewise, and once more to be
     * packed.
     */
    double converted = 0;

    if (!(p->given_low_precision & 1 << DNN_SOURCE))
        converted += src * (1 + (double)parts) / f->rate.converted_bytes / l->threads + f->call.team_call;
    if (p->given_late && !(p->given_low_precision & 1 << DNN_WEIGHTS))
        converted += weights * (1 + 2 * (double)parts) / f->rate.converted_bytes / l->threads + f->call.team_call;
    return larger(arithmetic * (double)parts / rate, memory * (double)parts / 2) + converted <
           f->multiplication.worth_bfloat16 * larger(arithmetic, memory);
}

int32_t dnn_wanted_parts(const struct library *l, const struct dnn_problem *p)
{
    const int32_t parts = p->precision == WNNPrecision_Bf16 ? 1 : p->precision == WNNPrecision_Bf16x2 ? 3 : 0;

    if (!parts || !l->bfloat16 || p->src_type != dnnl_f32 || !is_dense(&p->src) || !is_dense(&p->weights) ||
        dnn_elements(&p->src) > ELEMENT_COUNT_MAX / parts || dnn_elements(&p->weights) > ELEMENT_COUNT_MAX / parts)
        return 0;
    if (dnn_stores_low_precision(p)) /* it was asked about before, and now gains more */
        return parts == 1;
    return l->prefer_bfloat16 || gains(l, p, parts) ? parts : 0;
}

/* ---- layouts ---- */

/** Returns how many contiguous elements of an operand come before the next part. */
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
