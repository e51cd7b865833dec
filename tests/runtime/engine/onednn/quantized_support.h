/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the tests of contractions of dequantized integers share: random operands of every combination of types, zero points and
 * scales, what follows a contraction, and the comparison with the reference interpreter within its bounds.
 *
 * The bound of a quantized element is 0, or infinite where a correct float product may lie on either side of a tie: so every
 * difference must be at a tie.  Such elements are counted: if there were many, the test would say nothing.
 *
 * Capped to AVX2 or less nothing may be taken: int8 sums saturate there.
 */
#pragma once

#include "runtime/engine/onednn/library_support.h"

/*
 * The library's convolution by gemm, which it has where channels are no multiple of what its others want, gets products with
 * numbers known at run time wrong, and zero points in groups with padding.
 */
static bool has_late_scale, has_zero;
static uint32_t by_gemm_declined;
static uint64_t elements_all, elements_loose, elements_different, cases_whole;

/** Returns an operand of any type: numbers between low and high (integers both included). */
static inline struct value *typed(struct subject *s, bool constant, dtype type, double low, double high, uint32_t rank,
                                  const uint32_t *dims)
{
    void *data;
    struct value *v = operand_of(s, constant, type, rank, dims, &data);

    for (int64_t i = 0; i < type_elements(&v->type); i++) {
        double x = low + (high - low) * random_unit();

        if (type == WNNOperandDataType_Float32)
            ((float *)data)[i] = (float)x;
        else
            ((uint8_t *)data)[i] = (uint8_t)(int32_t)floor(low + random_below((uint32_t)(high - low + 1)));
    }
    return v;
}

static const uint32_t ones[] = {1, 1, 1, 1};

static inline struct value *bytes(struct subject *s, bool constant, bool is_signed, uint32_t rank, const uint32_t *dims)
{
    /* Extremes often: they are what saturates. */
    double low = is_signed ? -128 : 0, high = is_signed ? 127 : 255;

    if (random_chance(20))
        low = high;
    return typed(s, constant, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, low, high, rank, dims);
}

static inline struct value *zero_point(struct subject *s, bool constant, bool is_signed, int zero, uint32_t rank)
{
    return typed(s, constant, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, zero, zero, rank, ones);
}

/** The first operand.  Scale and zero point are constants, or computed while the graph runs, as dynamic quantisation has them.
 */
static inline struct value *source(struct subject *s, uint32_t rank, const uint32_t *dims)
{
    bool is_signed = random_chance(50);
    struct value *x = bytes(s, false, is_signed, rank, dims);
    const bool late = random_chance(40);
    struct value *scale = typed(s, !late, WNNOperandDataType_Float32, 0.001, 0.01, rank, ones);
    int low = is_signed ? -128 : 0, zero = random_chance(40) ? 0 : low + (int)random_between(0, 255);

    has_late_scale = late;
    const bool late_zero = random_chance(40);
    has_zero = late_zero || zero != 0;
    return apply(s, OP_DEQUANTIZE_LINEAR, NULL, x, scale, zero_point(s, !late_zero, is_signed, zero, rank));
}

/** Weights with one scale, or one for each or every two indices along axis; a zero point that all weights can do without. */
static inline struct value *weights(struct subject *s, uint32_t rank, const uint32_t *dims, uint32_t axis)
{
    uint32_t scales[RANK_MAX];
    bool is_signed = random_chance(70), narrow = random_chance(20), wide = rank == 2 && random_chance(25);
    double low = is_signed ? 0 : 128, high = low;
    struct value *x, *scale, *zero;

    if (wide) { /* matrices with one zero point for all */
        x = bytes(s, true, is_signed, rank, dims);
        low = high += (double)random_between(0, 255) - 128;
    } else if (narrow) {
        x = typed(s, true, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, low - 100, low + 99, rank, dims);
        low -= 28;
        high += 28;
    } else {
        x = bytes(s, true, is_signed, rank, dims);
    }

    memcpy(scales, ones, sizeof ones);
    if (random_chance(60))
        scales[axis] = dims[axis] % 2 == 0 && random_chance(30) ? dims[axis] / 2 : dims[axis];
    scale = typed(s, true, WNNOperandDataType_Float32, 0.001, 0.01, rank, scales);
    zero = typed(s, true, is_signed ? WNNOperandDataType_Int8 : WNNOperandDataType_Uint8, low, high, rank, scales);
    return apply(s, OP_DEQUANTIZE_LINEAR, NULL, x, scale, zero);
}

/**
 * Signed bytes that are computed while the graph runs, as their scale and zero point may be; the scale may be one for each
 * index along axis.  Without `zeros` their zero point is 0.
 */
static inline struct value *late_weights(struct subject *s, uint32_t rank, const uint32_t *dims, uint32_t axis, bool zeros)
{
    const bool late_scale = random_chance(50), late_zero = zeros && random_chance(50);
    const int zero = !zeros || random_chance(30) ? 0 : (int)random_between(0, 255) - 128;
    uint32_t scales[RANK_MAX] = {1, 1, 1, 1};
    struct value *x = bytes(s, false, true, rank, dims), *scale;

    if (!late_scale && !late_zero && random_chance(60))
        scales[axis] = dims[axis];
    has_late_scale |= late_scale;
    scale = typed(s, !late_scale, WNNOperandDataType_Float32, 0.001, 0.01, rank, scales);
    return apply(s, OP_DEQUANTIZE_LINEAR, NULL, x, scale,
                 typed(s, !late_zero, WNNOperandDataType_Int8, zero, zero, rank, scales));
}

/** What follows: activation, residual, quantization, each or not. */
static inline void epilogue(struct subject *s, struct value *y)
{
    const struct tensor_type *t = &y->type;
    bool is_signed = random_chance(50);
    int zero = random_chance(40) ? 0 : (is_signed ? -128 : 0) + (int)random_between(0, 255);

    if (random_chance(20)) /* the product of scales, in one number or one for each channel */
        y = apply(s, OP_MUL, NULL, y,
                  typed(s, random_chance(30), WNNOperandDataType_Float32, 0.5, 2, 1,
                        random_chance(50) ? ones : &t->dims[t->rank - 1]),
                  NULL);
    if (random_chance(20))
        y = apply(s, OP_ADD, NULL, y,
                  typed(s, random_chance(50), WNNOperandDataType_Float32, -20, 20, 1, &t->dims[t->rank - 1]), NULL);
    if (random_chance(25))
        y = apply(s, OP_ADD, NULL, y, typed(s, false, WNNOperandDataType_Float32, -20, 20, t->rank, t->dims), NULL);
    if (random_chance(40)) {
        y = apply(s, OP_RELU, NULL, y, NULL, NULL);
    } else if (random_chance(30)) {
        WNNClampOptions o = WNN_CLAMP_OPTIONS_INIT;

        o.minValue = wnnNumber(-1.7);
        o.maxValue = wnnNumber(6.1);
        y = apply(s, OP_CLAMP, &o, y, NULL, NULL);
    }
    if (random_chance(20))
        return;
    struct value *out_scale = typed(s, true, WNNOperandDataType_Float32, 0.2, 2, t->rank, ones);
    apply(s, OP_QUANTIZE_LINEAR, NULL, y, out_scale, zero_point(s, true, is_signed, zero, t->rank));
}

static inline bool has_nan_or_far(double got, double want, double bound)
{
    return !(got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= bound);
}

static inline double element(const struct value *v, const void *data, int64_t i)
{
    union scalar x = {0};
    size_t size = dtype_size(v->type.type);

    memcpy(&x, (const char *)data + (size_t)i * size, size);
    return scalar_to_double(x, v->type.type);
}

static inline void run_quantized(struct subject *s)
{
    struct value *out = s->nodes[s->count - 1]->results[0];
    int64_t n = type_elements(&out->type), size = type_bytes(&out->type);
    struct error e = {0};
    struct library_step *step = library_step_create(library, s->nodes, s->count, shares_this, NULL, &e);
    struct library_step_info info;
    OWNED(memory) uint8_t *got = aligned_block(size + GUARD), *want = aligned_block(size);
    OWNED(memory) double *bounds = malloc((size_t)n * sizeof *bounds);
    const void *inputs[16], *all[16] = {NULL};

    if (!step)
        fail_with_graph(s, e.message);
    library_step_info(step, &info);
    assert_null(strstr(info.implementation, "ref"));
    assert_ptr_equal(info.output, out);
    for (uint32_t i = 0; i < info.input_count; i++)
        inputs[i] = s->data[info.inputs[i]->index];
    for (uint32_t i = 0; i < s->g->input_count; i++)
        all[i] = s->data[s->g->inputs[i]->index];
    memset(got, 0xA5, (size_t)(size + GUARD));
    OWNED(memory) void *scratch = aligned_block(info.scratch_bytes);
    memset(scratch, 0xFF, (size_t)info.scratch_bytes);
    struct library_bindings *bindings = library_bindings_create(step, &e);
    assert_non_null(bindings);
    struct threads_saved saved = threads_enter(TEST_THREADS, NULL);
    for (int i = 0; i < 2; i++)
        assert_true(library_step_run(step, bindings, inputs, got, scratch));
    threads_leave(saved);
    assert_true(graph_add_output(s->g, "out", 3, out));
    if (!graph_interpret_bounds(s->g, all, (void *[]){want}, (double *[]){bounds}, &e))
        fail_with_graph(s, e.message);
    for (int64_t i = 0; i < GUARD; i++)
        assert_int_equal(got[size + i], 0xA5);
    for (int64_t i = 0; i < n; i++) {
        double g = element(out, got, i), w = element(out, want, i);

        if (dtype_size(out->type.type) == 1) {
            elements_all++;
            elements_loose += bounds[i] > 0;
            elements_different += g != w;
            /* At a tie the two neighbours, and nothing else. */
            if (bounds[i] > 1)
                bounds[i] = 1;
        }
        if (has_nan_or_far(g, w, bounds[i])) {
            char text[256];

            snprintf(text, sizeof text, "element %lld is %.9g, not %.9g within %g (%s)", (long long)i, g, w, bounds[i],
                     info.implementation);
            fail_with_graph(s, text);
        }
    }
    library_bindings_free(bindings);
    library_step_free(step);
}

/**
 * Asks as pass_fuse_quantized does: the longest prefix that is taken.  Returns whether there was any.  Not all are taken whole:
 * some of the library's kernels get operands of the epilogue wrong, or have no room for the code.
 */
static inline bool check(struct subject *s)
{
    uint32_t count = 3, all = s->count;

    assert_int_equal(s->nodes[0]->op, OP_DEQUANTIZE_LINEAR);
    assert_int_equal(s->nodes[1]->op, OP_DEQUANTIZE_LINEAR);
    if (!library_takes_quantized(library, s->nodes, count))
        return false;
    assert_true(library_has_exact_integers(library));
    while (count < all && library_takes_quantized(library, s->nodes, count + 1))
        count++;
    cases_whole += count == all;
    while (s->count > count) /* a node that is not taken does not run */
        node_remove(s->nodes[--s->count]);
    run_quantized(s);
    return true;
}

static inline void report(const char *what, uint32_t taken, uint32_t all)
{
    printf("%s: %u of %u taken, %llu whole; %llu of %llu quantized elements at ties, %llu differ\n", what, taken, all,
           (unsigned long long)cases_whole, (unsigned long long)elements_loose, (unsigned long long)elements_all,
           (unsigned long long)elements_different);
    if (!library_has_exact_integers(library)) {
        assert_int_equal(taken, 0);
        return;
    }
    assert_int_equal(taken + by_gemm_declined, all);
    assert_true(by_gemm_declined * 4 <= all);
    by_gemm_declined = 0;
    assert_true(cases_whole * 4 >= taken * 3);
    cases_whole = 0;
    assert_true(elements_loose * 100 <= elements_all);
}

static inline int main_quantized(int argc, char **argv)
{
    if (getenv("SEED"))
        random_state ^= strtoull(getenv("SEED"), NULL, 10) << 20;
    return main_library(argv);
}
