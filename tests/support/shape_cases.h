/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Graphs whose kernels have every shape of a device's schedule, in sizes with remainders at every edge.
 */
#pragma once

#include "ir/schedule/schedule_gpu.h"
#include "support/small_graphs.h"

/* Tiles of a size, of operands from global memory and from local memory, for struct gpu_choice. */
#define GLOBAL_TILE(r, v, l) {.tile_memory = GPU_MEMORY_GLOBAL, .rows = r, .vectors = v, .lanes = l}
#define LOCAL_TILE(r, v) {.tile_memory = GPU_MEMORY_LOCAL, .rows = r, .vectors = v}

/** A graph and the schedules in which it has to come out right. */
struct shape_case {
    const char *name, *body;
    enum gpu_shape shape;
    struct gpu_choice choices[3]; /* all 0 after the first: unused */
    bool brief;                   /* runs under Oclgrind, too */
};

static const struct shape_case shape_cases[] = {
    {"matmul with an epilogue",
     "inputs { a: f32[11, 37]; b: f32[37, 29]; c: f32[29]; } nodes { d = matmul(a, b); e = add(d, c); y = sigmoid(e); } "
     "outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 2, 4), LOCAL_TILE(2, 2)},
     true},
    {"fewer numbers than items",
     "inputs { a: f32[64, 8]; b: f32[8, 56]; } nodes { y = matmul(a, b); } outputs { y; }",
     GPU_TILES,
     {LOCAL_TILE(1, 1)},
     false},
    {"batches, long sums",
     "inputs { a: f32[2, 5, 600]; b: f32[2, 600, 21]; } nodes { y = matmul(a, b); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(4, 1, 16), LOCAL_TILE(1, 2), {.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 4, .vectors = 1, .k_items = 2}},
     false},
    {"few rows, K shared by items",
     "inputs { a: f32[2, 530]; b: f32[530, 7]; } nodes { y = matmul(a, b); } outputs { y; }",
     GPU_TILES,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .rows = 2, .vectors = 1, .lanes = 4, .k_items = 2},
      {.tile_memory = GPU_MEMORY_LOCAL, .rows = 2, .vectors = 4, .k_items = 2}},
     true},
    {"transposed operands of float16",
     "inputs { a: f16[19, 6]; b: f16[23, 19]; c: f16[6, 1]; } nodes { y = gemm(a, b, c=c, aTranspose=true, bTranspose=true, "
     "alpha=0.5); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(2, 1, 8), LOCAL_TILE(2, 2)},
     false},
    {"operands of 8 bits",
     "inputs { a: i8[5, 40]; b: u8[40, 18]; s: f32[1, 1]; z: i8[1, 1]; t: f32[1, 18]; n: u8[1, 18]; } nodes { c = "
     "dequantizeLinear(a, s, z); d = dequantizeLinear(b, t, n); y = matmul(c, d); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(5, 1, 16), LOCAL_TILE(2, 1)},
     false},
    {"convolution in nchw",
     "inputs { x: f32[2, 3, 7, 11]; w: f32[5, 3, 3, 2]; } nodes { y = conv2d(x, w, padding=[1, 2, 1, 0], strides=[2, 1], "
     "dilations=[1, 2]); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(2, 1, 8), LOCAL_TILE(2, 2)},
     true},
    {"convolution in nhwc",
     "inputs { x: f32[1, 6, 5, 9]; w: f32[3, 2, 9, 13]; b: f32[13]; } nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 0], "
     "inputLayout=\"nhwc\", filterLayout=\"hwio\"); y = relu(c); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(4, 2, 4), LOCAL_TILE(4, 1)},
     true},
    {"convolution of groups",
     "inputs { x: f32[1, 5, 5, 6]; w: f32[3, 3, 3, 10]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=2, "
     "inputLayout=\"nhwc\", filterLayout=\"hwio\"); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 1, 4), LOCAL_TILE(2, 1)},
     false},
    {"depthwise convolution in nhwc",
     "inputs { x: f32[1, 6, 7, 18]; w: f32[1, 3, 3, 18]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=18, "
     "inputLayout=\"nhwc\", filterLayout=\"ihwo\"); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 1, 8)},
     true},
    {"depthwise convolution in nchw",
     "inputs { x: f32[1, 3, 9, 19]; w: f32[3, 1, 3, 3]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=3); } outputs "
     "{ y; }",
     GPU_TILES,
     {GLOBAL_TILE(2, 1, 8)},
     false},
    {"transposed convolution",
     "inputs { x: f32[1, 4, 5, 3]; w: f32[3, 3, 9, 3]; } nodes { y = convTranspose2d(x, w, strides=[2, 2], padding=[1, 0, 1, "
     "0], "
     "inputLayout=\"nhwc\", filterLayout=\"hwoi\"); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 1, 4), LOCAL_TILE(2, 1)},
     false},
    {"a convolution that sees nothing but padding, with the same result everywhere",
     "inputs { x: f32[1, 2, 2, 1]; w: f32[2, 1, 1, 1]; z: i32[1, 1, 1, 1]; } consts { s: f32[1, 1, 1, 1] @scalar(3); } "
     "nodes { c = conv2d(x, w, padding=[0, 2, 1, 0], strides=[1, 3], filterLayout=\"ihwo\"); "
     "i = cast(c, int32); y = dequantizeLinear(i, s, z); } outputs { y; }",
     GPU_POINTS,
     {{.lanes = 4}, {.no_lanes = true}},
     false},
    {"vectors along columns",
     "inputs { x: f32[3, 4, 37]; y: f32[37]; z: f16[3, 1, 37]; } nodes { a = mul(x, y); b = exp(a); c = cast(z, float32); d = "
     "max(b, c); e = reduceSum(d, axes=[1]); } outputs { d; e; }",
     GPU_POINTS,
     {{.lanes = 8}, {.no_lanes = true}},
     true},
    {"vectors along rows",
     "inputs { x: f32[5, 77]; s: f32[77]; } nodes { a = softmax(x, 1); b = mul(a, s); c = layerNormalization(b, axes=[1]); } "
     "outputs { c; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 4}},
     true},
    {"vectors of integers along rows",
     "inputs { x: u32[5, 77]; y: i32[5, 77]; z: i32[5, 8]; } nodes { a = reduceSumSquare(x, axes=[1]); b = reduceSum(y, "
     "axes=[1]); "
     "c = reduceProduct(z, axes=[1]); } outputs { a; b; c; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 4}},
     true},
    {"a float64 number for every element of a row, which is stored without vectors",
     "inputs { x: f32[5, 1]; y: f32[37]; } nodes { a = cast(x, float64); b = expand(a, [5, 37]); c = exp(y); "
     "d = cast(b, float32); e = add(c, d); } outputs { b; e; }",
     GPU_POINTS,
     {{.lanes = 8}, {.no_lanes = true}},
     false},
    {"a transpose of two sides with a rest, of each of several matrices",
     "inputs { x: f32[3, 37, 21]; s: f32[37]; } nodes { t = transpose(x, permutation=[0, 2, 1]); y = mul(t, s); } outputs { y; "
     "}",
     GPU_BLOCKS,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 16},
      {.tile_memory = GPU_MEMORY_LOCAL},
      {.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 4}},
     true},
    {"a transpose of whole blocks",
     "inputs { x: f16[2, 32, 48]; } nodes { y = transpose(x, permutation=[2, 0, 1]); } outputs { y; }",
     GPU_BLOCKS,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 8}, {.tile_memory = GPU_MEMORY_LOCAL}},
     false},
    {"a transpose of bytes, which are added to others",
     "inputs { x: u8[40, 33]; y: u8[33, 40]; } nodes { t = transpose(x); z = add(t, y); } outputs { z; }",
     GPU_BLOCKS,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 16}, {.tile_memory = GPU_MEMORY_LOCAL}},
     true},
    {"windows that move by two elements, with padding",
     "inputs { x: f32[2, 3, 9, 41]; } nodes { y = maxPool2d(x, windowDimensions=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]); "
     "} "
     "outputs { y; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 8, .no_repeats = true}, {.no_lanes = true}},
     true},
    {"windows that move by three and by one, of half numbers",
     "inputs { x: f16[1, 2, 8, 47]; } nodes { a = averagePool2d(x, windowDimensions=[2, 3], strides=[1, 3], padding=[0, 1, 2, "
     "1]); "
     "b = maxPool2d(x, windowDimensions=[3, 2], dilations=[2, 3], strides=[1, 2]); } outputs { a; b; }",
     GPU_POINTS,
     {{.lanes = 4}, {.lanes = 16}},
     false},
    {"windows of bytes that move by four",
     "inputs { x: u8[1, 3, 9, 70]; } nodes { c = cast(x, \"float32\"); y = maxPool2d(c, windowDimensions=[2, 5], strides=[3, "
     "4], padding=[1, 0, 3, 2]); } outputs { y; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 4}},
     true},
    {"rows that groups share",
     "inputs { x: f32[5, 77]; } nodes { a = softmax(x, 1); b = reduceMax(a, axes=[1]); } outputs { a; b; }",
     GPU_ROWS,
     {{.rows_shape = true}},
     true},
};

/** How kernels run by a device's schedule, with what choice, and of which shape the last one was (NULL: of whatever
 * shape). */
struct shape_runner {
    kernel_runner run;
    struct gpu_choice *choice;
    const enum gpu_shape *last;
};

/** Returns whether results of a case agree for one choice. */
GRAPHS_UNUSED static bool shape_agrees(const struct shape_runner *r, const struct shape_case *c,
                                       const struct gpu_choice *choice)
{
    struct graph *g = parse_body(c->body);

    kernels_cluster_nodes(g, kernels_can_join_all(g, NULL));
    random_seed(42);
    *r->choice = *choice;
    bool good = kernels_check_graph(g, NULL, false, r->run) != 0;
    if (good && r->last && *r->last != c->shape) {
        print_error("its shape is %s, not %s\n", gpu_shape_name(*r->last), gpu_shape_name(c->shape));
        good = false;
    }
    *r->choice = (struct gpu_choice){0};
    graph_free(g);
    return good;
}

/** Counts the cases that do not. */
GRAPHS_UNUSED static uint32_t shapes_failed(const struct shape_runner *r, bool brief)
{
    uint32_t failed = 0;

    for (size_t i = 0; i < sizeof shape_cases / sizeof *shape_cases; i++) {
        static const struct gpu_choice none;
        for (int j = 0; j < 3 && (!brief || shape_cases[i].brief); j++) {
            if (j && !memcmp(&shape_cases[i].choices[j], &none, sizeof none))
                break;
            if (!shape_agrees(r, &shape_cases[i], &shape_cases[i].choices[j])) {
                print_error("%s, choice %d\n", shape_cases[i].name, j);
                failed++;
            }
        }
    }
    return failed;
}

/** Counts the tiles from local memory that come out wrong in groups of many items: ones that share rows, and ones that get
 * numbers dealt out one by one, with iterations that end in the middle of what is brought at once, and of 16 x 16 items.
 * brief: few of them. */
GRAPHS_UNUSED static uint32_t shared_tiles_failed(const struct shape_runner *r, struct gpu_facts *facts, bool brief)
{
    static const struct {
        const char *body;
        uint32_t items, rows, vectors;
    } shared[] = {
        {"inputs { a: f32[37, 40]; b: f32[40, 45]; c: f32[45]; } nodes { d = matmul(a, b); y = add(d, c); } outputs { y; }", 4,
         4, 8},
        {"inputs { a: f32[37, 43]; b: f32[43, 45]; } nodes { y = matmul(a, b); } outputs { y; }", 4, 3, 6},
        {"inputs { a: f32[2, 21, 77]; b: f32[2, 77, 45]; } nodes { y = matmul(a, b); } outputs { y; }", 8, 2, 4},
        {"inputs { a: f16[40, 37]; b: f16[45, 40]; } nodes { y = gemm(a, b, aTranspose=true, bTranspose=true); } outputs { y; "
         "}",
         4, 8, 2},
        {"inputs { x: f32[1, 9, 11, 16]; w: f32[21, 3, 3, 16]; } nodes { y = conv2d(x, w, padding=[1, 0, 1, 2], strides=[1, "
         "2], "
         "inputLayout=\"nhwc\", filterLayout=\"ohwi\"); } outputs { y; }",
         4, 4, 4},
        {"inputs { x: f32[2, 3, 9, 11]; w: f32[21, 3, 3, 3]; } nodes { c = conv2d(x, w, padding=[1, 0, 1, 2]); y = relu(c); } "
         "outputs { y; }",
         8, 1, 2},
        {"inputs { a: f32[150, 37]; b: f32[37, 140]; } nodes { y = matmul(a, b); } outputs { y; }", 16, 8, 8},
    };

    const struct gpu_facts own = *facts;
    uint32_t failed = 0;

    *facts = *target_gpu_facts(false);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const struct shape_case c = {.body = shared[i].body, .shape = GPU_TILES};
        const struct gpu_choice choice = LOCAL_TILE(shared[i].rows, shared[i].vectors);
        facts->tile_items = shared[i].items;
        if ((!brief || shared[i].items <= 4) && !shape_agrees(r, &c, &choice)) {
            print_error("%s\n", c.body);
            failed++;
        }
    }
    *facts = own;
    return failed;
}
