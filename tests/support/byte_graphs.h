/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes matmuls of bytes for tests of the engine for GPUs: compact weights times an operand that was rounded to 8 bits
 * (docs/compact-weights.md).
 */
#pragma once

#include "ir/schedule/schedule_gpu.h"
#include "support/compact_graphs.h"
#include "support/kernels.h"

/* Tiles of a size, of operands from global memory and from local memory, for struct gpu_choice. */
#define GLOBAL_TILE(r, v, l) {.tile_memory = GPU_MEMORY_GLOBAL, .rows = r, .vectors = v, .lanes = l}
#define LOCAL_TILE(r, v) {.tile_memory = GPU_MEMORY_LOCAL, .rows = r, .vectors = v}

/** A matmul whose operand A is bytes less 128 with a scale for each row's block, and whose weights are compact. */
struct bytes_case {
    const char *form; /* of the weights: "u8" are 4 bits, "i8" 8 */
    int least;
    uint32_t range;
    uint32_t rows, k, n, blocks, panel; /* as in compact_sizes; blocks 1: of the weights, those of A have 32 numbers */
    int zero;                           /* ANY_ZERO: they differ */
    struct gpu_choice choice;
    bool brief;
};
enum { ANY_ZERO = 1000 };

GRAPHS_UNUSED static const struct bytes_case bytes_cases[] = {
    /* 4 bits: one row, whose sums items share, and a rest of columns; panels; a scale for all of K; vectors of every width */
    {"u8",
     0,
     16,
     1,
     640,
     37,
     20,
     UINT32_MAX,
     8,
     {.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 4, .vectors = 1, .k_items = 4},
     true},
    {"u8", 0, 16, 1, 96, 64, 4, 32, ANY_ZERO, GLOBAL_TILE(1, 2, 16), false},
    {"u8", 0, 16, 2, 1024, 48, 1, 16, 8, GLOBAL_TILE(2, 1, 16), false},
    {"u8", 0, 16, 3, 56, 21, 7, UINT32_MAX, ANY_ZERO, GLOBAL_TILE(2, 2, 4), false},
    {"u8",
     0,
     16,
     5,
     72,
     40,
     9,
     UINT32_MAX,
     8,
     {.no_lanes = true, .rows = 4, .vectors = 2, .tile_memory = GPU_MEMORY_GLOBAL},
     false},
    {"u8", 0, 16, 7, 512, 24, 2, UINT32_MAX, ANY_ZERO, GLOBAL_TILE(3, 1, 8), false}, /* blocks of 256 */
    /* many rows: blocks that are brought together, a block in pieces, zero points that differ */
    {"u8", 0, 16, 35, 192, 37, 6, UINT32_MAX, 8, LOCAL_TILE(2, 2), true},
    {"u8", 0, 16, 35, 72, 19, 9, UINT32_MAX, ANY_ZERO, LOCAL_TILE(1, 4), true},
    {"u8", 0, 16, 33, 416, 35, 2, UINT32_MAX, ANY_ZERO, LOCAL_TILE(2, 2), false}, /* 208 numbers: no whole pieces */
    {"u8", 0, 16, 17, 8448, 20, 264, UINT32_MAX, 8, LOCAL_TILE(2, 2), false},     /* more blocks than a sum takes */
    /* 8 bits around zero */
    {"i8",
     -128,
     256,
     1,
     640,
     37,
     20,
     UINT32_MAX,
     0,
     {.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 4, .vectors = 1, .k_items = 4},
     true},
    {"i8", -128, 256, 3, 104, 24, 13, 8, 0, GLOBAL_TILE(2, 1, 8), false},
    {"i8",
     -128,
     256,
     5,
     1024,
     21,
     1,
     UINT32_MAX,
     0,
     {.no_lanes = true, .rows = 4, .vectors = 2, .tile_memory = GPU_MEMORY_GLOBAL},
     false},
    {"i8", -128, 256, 35, 192, 37, 6, UINT32_MAX, 0, LOCAL_TILE(2, 2), true},
    {"i8", -128, 256, 33, 416, 35, 2, UINT32_MAX, 0, LOCAL_TILE(2, 2), false},
};

/* Returns a constant of random elements: all bytes there are, or scales. */
static struct value *random_constant(struct graph *g, const struct tensor_type *type)
{
    struct constant *c = constant_create(NULL, (size_t)type_bytes(type));

    assert_non_null(c);
    for (int64_t i = 0; i < type_elements(type); i++)
        if (type->type == WNNOperandDataType_Uint8)
            ((uint8_t *)(uintptr_t)c->data)[i] = (uint8_t)random_bits();
        else
            ((float *)(uintptr_t)c->data)[i] = (float)random_in_range(-2, 2);
    return graph_add_constant(g, type, c);
}

/* Puts random bytes and scales where operand A was rounded to: rounding is the passes' affair, and a number in the middle of
 * two may become either. */
static void replace_rounding(struct graph *g)
{
    graph_for_each_safe (g, n) {
        struct value *v = n->results[0];
        const bool bytes = n->op == OP_CAST && v->type.type == WNNOperandDataType_Uint8;
        const bool scale = n->op == OP_MUL && n->inputs[0].value->producer && n->inputs[0].value->producer->op == OP_REDUCE_MAX;
        if (bytes || scale)
            value_replace_uses(v, random_constant(g, &v->type));
    }
}

/** Returns a matmul of bytes: of weights that are packed as for a device, and of an operand that was rounded. */
GRAPHS_UNUSED static struct graph *bytes_graph(const struct bytes_case *z, struct target *t)
{
    const struct pass_options o = {.target = t};
    char body[900];

    *t = (struct target){.isa = {.vector_bits = 32, .registers = 16},
                         .thread_count = 1,
                         .rounds_operands = true,
                         .compact = {.unpacks = true, .small = true, .panel_columns = z->panel}};
    snprintf(body, sizeof body,
             "inputs { x: f32[%u, %u]; c: f32[%u]; } consts { q: %s[%u, %u] @scalar(1); s: f32[%u, %u] @scalar(1); z: %s[%u, "
             "%u] @scalar(1); } nodes { w = dequantizeLinear(q, s, z); m = matmul(x, w); y = add(m, c); } outputs { y; }",
             z->rows, z->k, z->n, z->form, z->k, z->n, z->blocks, z->n, z->form, z->blocks, z->n);
    struct graph *g = compact_parse(body, z->least, z->range);
    for (const struct value *v = g->first_constant; v && z->zero != ANY_ZERO; v = v->next_constant)
        if (v->name && !strcmp(v->name, "z"))
            memset((void *)(uintptr_t)v->constant->data, z->zero, v->constant->bytes);
    if (z->range == 16)
        compact_narrow(g, 0);
    pass_canonicalize(g, &o);
    pass_fold_constants(g, &o);
    assert_true(pass_pack_weights(g, &o));
    replace_rounding(g);
    pass_drop_dead(g, &o);
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    return g;
}

/** Returns a matmul as in networks of 8 bits, for a device: of bytes with one scale and one zero point, which a kernel before
 * it makes, and of signed weights, with a bias, an activation and bytes after it. */
GRAPHS_UNUSED static struct graph *network_graph(uint32_t rows, uint32_t k, uint32_t n, uint32_t zero, const char *scales,
                                                 const struct gpu_facts *device, struct target *t)
{
    const struct pass_options o = {.target = t};
    char body[900];
    struct graph *g;

    *t = (struct target){.isa = {.vector_bits = 32, .registers = 16},
                         .thread_count = 1,
                         .device = device,
                         .compact = {.unpacks = true, .small = true, .panel_columns = device->panel_columns}};
    snprintf(body, sizeof body,
             "inputs { x: u8[%u, %u]; c: f32[%u]; } consts { q: i8[%u, %u] @scalar(1); s: f32[1, %s] @scalar(1); "
             "z: i8[1, %s] @scalar(0); u: f32[1, 1] @scalar(1); v: u8[1, 1] @scalar(0); f: u8[1, 1] @scalar(0); "
             "e: f32[1, 1] @scalar(1); g: u8[1, 1] @scalar(0); } "
             "nodes { b = mul(x, f); d = dequantizeLinear(b, u, v); w = dequantizeLinear(q, s, z); m = matmul(d, w); "
             "a = add(m, c); r = relu(a); y = quantizeLinear(r, e, g); } outputs { r; y; }",
             rows, k, n, k, n, scales, scales);
    g = compact_parse(body, -128, 256);
    for (const struct value *v = g->first_constant; v; v = v->next_constant) {
        void *data = (void *)(uintptr_t)v->constant->data;
        if (!strcmp(v->name, "z"))
            memset(data, 0, v->constant->bytes);
        if (!strcmp(v->name, "v"))
            memset(data, (int)zero, 1);
        if (!strcmp(v->name, "f"))
            memset(data, 25, 1); /* all bytes there are from inputs below 11 */
        if (!strcmp(v->name, "e"))
            memcpy(data, &(float){3000}, sizeof(float));
    }
    pass_canonicalize(g, &o);
    pass_fold_constants(g, &o);
    assert_true(pass_pack_weights(g, &o));
    pass_drop_dead(g, &o);
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    return g;
}
