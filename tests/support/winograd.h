/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Convolutions for tests of Winograd's transforms: sizes, paddings, layouts, fused nodes, and the passes that make a kernel
 * of each.
 */
#pragma once

#include "passes/cluster/winograd.h"
#include "support/kernels.h"
#include "support/schedules.h"

static const struct debug_options prefer_winograd = {.flags = DEBUG_PREFER_WINOGRAD};

/** Returns the graph of a body, whose constants are random: floats, and weights of 8 bits. */
static inline struct graph *parse_random(const char *body)
{
    struct graph *g = parse_body(body);

    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        for (int64_t i = 0; i < type_elements(&v->type); i++)
            if (v->type.type == WNNOperandDataType_Float32)
                ((float *)(uintptr_t)v->constant->data)[i] = (float)random_in_range(-1, 1);
            else if (type_elements(&v->type) > 32) /* no zero points */
                ((uint8_t *)(uintptr_t)v->constant->data)[i] = (uint8_t)random_bits();
    return g;
}

/** Runs the passes that matter and all kernels, by `run`; whether a convolution is transformed must be as expected. */
static inline void winograd_check(const char *body, const struct target *t, bool nasty, bool transformed, kernel_runner run)
{
    struct graph *g = parse_random(body);
    const struct pass_options o = {.target = t, .debug = &prefer_winograd};
    uint32_t kernels;

    assert_int_equal(pass_winograd(g, &o), transformed);
    assert_false(pass_winograd(g, &o));
    assert_int_equal(kernels_fuse(g, &o, &kernels) > 0, transformed);
    assert_true(kernels_check_graph(g, t, nasty, run));
    graph_free(g);
}

#define NHWC ", inputLayout=\"nhwc\""
static const char *const winograd_bodies[] = {
    /* one tile, odd sizes, even sizes, wide ones, several batches */
    "inputs { x: f32[1, 4, 4, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
    "nodes { y = conv2d(x, w" NHWC "); } outputs { y; }",
    "inputs { x: f32[2, 7, 9, 32]; } consts { w: f32[64, 32, 3, 3] @scalar(1); b: f32[64] @scalar(1); }"
    "nodes { y = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
    "inputs { x: f32[1, 12, 30, 48]; } consts { w: f32[3, 3, 48, 32] @scalar(1); }"
    "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], filterLayout=\"hwio\"" NHWC "); } outputs { y; }",
    "inputs { x: f32[1, 6, 700, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
    "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
    /* paddings that differ, are large, or fill some tiles with padding only; channels that do not fill a vector */
    "inputs { x: f32[1, 5, 6, 5]; } consts { w: f32[7, 3, 3, 5] @scalar(1); b: f32[7] @scalar(1); }"
    "nodes { y = conv2d(x, w, bias=b, padding=[0, 2, 1, 0], filterLayout=\"ohwi\"" NHWC "); } outputs { y; }",
    "inputs { x: f32[1, 3, 2, 20]; } consts { w: f32[20, 3, 3, 37] @scalar(1); }"
    "nodes { y = conv2d(x, w, padding=[5, 4, 7, 3], filterLayout=\"ihwo\"" NHWC "); } outputs { y; }",
    "inputs { x: f32[3, 1, 1, 1]; } consts { w: f32[1, 1, 3, 3] @scalar(1); }"
    "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); y = max(c, x); } outputs { y; }",
    /* channels first */
    "inputs { x: f32[2, 17, 8, 11]; } consts { w: f32[33, 17, 3, 3] @scalar(1); b: f32[33] @scalar(1); }"
    "nodes { y = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]); } outputs { y; }",
    /* swish; a residual and an activation; an intermediate result that is an output, too; another layout */
    "inputs { x: f32[1, 9, 8, 32]; } consts { w: f32[32, 32, 3, 3] @scalar(1); b: f32[32] @scalar(1); }"
    "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]" NHWC "); s = sigmoid(c); y = mul(c, s); } outputs { y; }",
    "inputs { x: f32[1, 7, 7, 32]; r: f32[1, 7, 7, 32]; } consts { w: f32[32, 32, 3, 3] @scalar(1); }"
    "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); s = add(c, r); y = relu(s); } outputs { y; }",
    "inputs { x: f32[1, 7, 6, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
    "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); y = relu(c); } outputs { c; y; }",
    "inputs { x: f32[1, 7, 6, 16]; } consts { w: f32[32, 16, 3, 3] @scalar(1); }"
    "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); r = relu(c); y = transpose(r, permutation=[0, 3, 1, 2]); }"
    "outputs { y; }",
};
enum { WINOGRAD_BODIES = sizeof winograd_bodies / sizeof *winograd_bodies };

/** Convolutions of bytes: numbers of 16 bits are transformed, with padding of zero points, and scales of channels. */
#define BYTES " z: u8[1, 1, 1, 1] @scalar(200); o: i8[1, 1, 1, 1] @scalar(0); s: f32[1, 1, 1, 1] @scalar(1);"
static const char *const winograd_byte_bodies[] = {
    "inputs { x: u8[2, 9, 14, 16]; } consts {" BYTES " w: i8[32, 3, 3, 16] @scalar(1); t: f32[32, 1, 1, 1] @scalar(1);"
    "p: i8[32, 1, 1, 1] @scalar(0); } nodes { a = dequantizeLinear(x, s, z); d = dequantizeLinear(w, t, p);"
    "y = conv2d(a, d, padding=[1, 1, 1, 1], filterLayout=\"ohwi\"" NHWC "); } outputs { y; }",
    "inputs { x: u8[1, 5, 40, 40]; } consts {" BYTES " w: i8[7, 3, 3, 40] @scalar(1); b: f32[7] @scalar(1); }"
    "nodes { a = dequantizeLinear(x, s, z); d = dequantizeLinear(w, s, o);"
    "c = conv2d(a, d, bias=b, padding=[0, 2, 3, 0], filterLayout=\"ohwi\"" NHWC "); y = relu(c); } outputs { y; }",
};

/** A machine for tests that generate no code. */
static const struct target plain_target = {.isa.vector_bits = 256, .thread_count = 2, .cache_bytes = 1 << 20};

/** Checks those of bytes on a machine that multiplies them by pairs. */
static inline void winograd_check_bytes(struct target t, kernel_runner run)
{
    t.compact.unpacks = true;
    for (size_t i = 0; i < sizeof winograd_byte_bodies / sizeof *winograd_byte_bodies; i++)
        winograd_check(winograd_byte_bodies[i], &t, false, t.isa.byte_products == BYTES_MIXED_PAIRS, run);
}

/** Convolutions of that many channels that larger tiles are accurate enough: two of 2x4 results, two of 4x4, one strided. */
static const char *const winograd_wide_bodies[] = {
    ("inputs { x: f32[1, 7, 11, 32]; } consts { w: f32[16, 32, 3, 3] @scalar(1); b: f32[16] @scalar(1); }"
     "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]" NHWC "); y = relu(c); } outputs { y; }"),
    ("inputs { x: f32[2, 6, 16, 40]; } consts { w: f32[3, 3, 40, 48] @scalar(1); }"
     "nodes { y = conv2d(x, w, padding=[0, 2, 1, 0], filterLayout=\"hwio\"" NHWC "); } outputs { y; }"),
    ("inputs { x: f32[1, 15, 21, 256]; r: f32[1, 15, 21, 16]; } consts { w: f32[16, 256, 3, 3] @scalar(1); }"
     "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); s = add(c, r); y = sigmoid(s); } outputs { c; y; }"),
    ("inputs { x: f32[1, 256, 13, 18]; } consts { w: f32[24, 256, 3, 3] @scalar(1); b: f32[24] @scalar(1); }"
     "nodes { y = conv2d(x, w, bias=b, padding=[0, 0, 2, 0]); } outputs { y; }"),
    ("inputs { x: f32[2, 9, 14, 32]; } consts { w: f32[16, 32, 3, 3] @scalar(1); b: f32[16] @scalar(1); }"
     "nodes { y = conv2d(x, w, bias=b, padding=[1, 0, 2, 1], strides=[2, 2]" NHWC "); } outputs { y; }"),
};
enum { WINOGRAD_WIDE_BODIES = sizeof winograd_wide_bodies / sizeof *winograd_wide_bodies };

/** Checks them on a machine where matmuls are all that costs, so that they take the largest tiles. */
static inline void winograd_check_wide(struct target t, kernel_runner run)
{
    struct target_facts facts = *target_facts(&t);

    facts.winograd.kinds = WINOGRAD_TILES;
    facts.multiplication.winograd = (struct winograd_prices){.product = 1};
    t.facts = &facts;
    t.thread_count = 1;
    for (int i = 0; i < WINOGRAD_WIDE_BODIES; i++) {
        struct graph *g = parse_random(winograd_wide_bodies[i]);
        assert_true(pass_winograd(g, &(struct pass_options){.target = &t, .debug = &prefer_winograd}));
        assert_int_equal(g->first->transformed->type.dims[0], winograd_tile(1 + (uint32_t)i / 2)->points);
        graph_free(g);
        for (int nasty = 0; nasty < 2; nasty++)
            winograd_check(winograd_wide_bodies[i], &t, nasty, true, run);
    }
}
