/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Drawing quantized contractions as converters of networks leave them: a convolution or matmul of two dequantized tensors
 * of bytes, a bias, an activation, and quantizeLinear at the end.  Most are what the library multiplies as integers (scales and
 * zero points constant, one for all or one per channel), or quantized dynamically: the first operand's scale and zero point
 * are known at run time only.  The others miss what the library takes by one condition.
 */
#include "drawing.h"

/* quantizeLinear or dequantizeLinear of v with one scale and zero point, or one of each per index of `axis` (rank: one). */
static struct value *draw_scaled(struct generator *r, enum op op, struct value *v, dtype zero_type, uint32_t axis)
{
    struct tensor_type t = {.type = WNNOperandDataType_Float32, .rank = v->type.rank};

    for (uint32_t i = 0; i < t.rank; i++)
        t.dims[i] = i == axis || chance(r, 1) ? v->type.dims[i] : 1;
    struct value *inputs[3] = {v, draw_leaf(r, &t, CONTENT_SCALE, 0), NULL};
    t.type = zero_type;
    inputs[2] = draw_leaf(r, &t, CONTENT_ZERO_POINT, 0);
    struct node *n = append(r, op, 3, inputs, NULL, NULL);
    return n ? n->results[0] : NULL;
}

/* Returns a tensor of bytes, dequantized. */
static struct value *draw_dequantized(struct generator *r, enum content content, uint32_t rank, const uint32_t *dims,
                                      uint32_t axis)
{
    struct tensor_type t = {.type = chance(r, 50) ? WNNOperandDataType_Uint8 : WNNOperandDataType_Int8, .rank = rank};

    memcpy(t.dims, dims, rank * sizeof *dims);
    return draw_scaled(r, OP_DEQUANTIZE_LINEAR, draw_leaf(r, &t, content, 0), t.type, axis);
}

/*
 * Returns a tensor of floats that is quantized while the graph runs, and dequantized: by the same scale, or by another one, as
 * sums of integers that are scaled after the contraction have it.
 */
static struct value *draw_dynamic(struct generator *r, uint32_t rank, const uint32_t *dims)
{
    struct tensor_type t = {.type = WNNOperandDataType_Float32, .rank = rank}, one = {.rank = rank};
    struct value *inputs[3];

    memcpy(t.dims, dims, rank * sizeof *dims);
    for (uint32_t i = 0; i < rank; i++)
        one.dims[i] = 1;
    one.type = WNNOperandDataType_Float32;
    inputs[0] = draw_leaf(r, &t, CONTENT_SMALL, 0);
    inputs[1] = draw_input(r, &one, CONTENT_SCALE);
    one.type = chance(r, 70) ? WNNOperandDataType_Uint8 : WNNOperandDataType_Int8;
    inputs[2] = draw_input(r, &one, CONTENT_ZERO_POINT);
    struct node *n = append(r, OP_QUANTIZE_LINEAR, 3, inputs, NULL, NULL);
    if (!n)
        return NULL;
    inputs[0] = n->results[0];
    one.type = WNNOperandDataType_Float32;
    if (chance(r, 50))
        inputs[1] = draw_leaf(r, &one, CONTENT_SCALE, 0);
    n = append(r, OP_DEQUANTIZE_LINEAR, 3, inputs, NULL, NULL);
    return n ? n->results[0] : NULL;
}

/* Returns the first operand of a contraction. */
static struct value *draw_source(struct generator *r, uint32_t rank, const uint32_t *dims)
{
    return chance(r, 30) ? draw_dynamic(r, rank, dims) : draw_dequantized(r, CONTENT_BYTES, rank, dims, rank);
}

static bool draw_conv(struct drawing *d)
{
    static const uint8_t counts[] = {1, 2, 3, 4, 6, 8, 16, 20};
    struct generator *r = d->r;
    uint32_t size = draw_from(r, 1, 3), groups = chance(r, 70) ? 1 : draw_from(r, 2, 4), in = counts[draw(r, sizeof counts)],
             out = counts[draw(r, sizeof counts)] * groups, more = draw(r, 8);
    bool nhwc = chance(r, 50);
    uint32_t x[4] = {draw_from(r, 1, 2), in * groups, size + more, size + draw(r, 6)}, y[4] = {x[0], x[2], x[3], x[1]};

    d->op = OP_CONV2D;
    memcpy(d->o.bytes, op_infos[d->op].options_default, op_infos[d->op].options_size);
    d->o.conv.inputLayout = nhwc ? WNNInputOperandLayout_Nhwc : WNNInputOperandLayout_Nchw;
    d->o.conv.groups = groups;
    if (chance(r, 50)) {
        for (int i = 0; i < 4; i++)
            d->lists[0][i] = draw(r, size);
        d->o.conv.padding = d->lists[0];
        d->o.conv.paddingCount = 4;
    }
    if (chance(r, 30)) {
        d->lists[1][0] = d->lists[1][1] = 2;
        d->o.conv.strides = d->lists[1];
        d->o.conv.stridesCount = 2;
    }
    bool ohwi = chance(r, 30);
    d->o.conv.filterLayout = ohwi ? WNNConv2dFilterOperandLayout_Ohwi : WNNConv2dFilterOperandLayout_Oihw;
    uint32_t filter[4] = {out, ohwi ? size : in, size, ohwi ? in : size};
    d->inputs[0] = draw_source(r, 4, nhwc ? y : x);
    d->inputs[1] = draw_dequantized(r, CONTENT_WEIGHTS, 4, filter, chance(r, 60) ? 0 : 4);
    if (chance(r, 50) && d->inputs[0])
        d->inputs[2] = draw_like(d, 1, &out, CONTENT_SMALL);
    d->count = 3;
    return d->inputs[0] && d->inputs[1];
}

static bool draw_matrices(struct drawing *d)
{
    struct generator *r = d->r;
    uint32_t m = draw_size(r, 40), k = chance(r, 80) ? draw_from(r, 8, 70) : draw_from(r, 1, 8), n = draw_size(r, 40);
    bool gemm = chance(r, 40), batches = !gemm && chance(r, 40);
    uint32_t a[3] = {draw_from(r, 1, 3), m, k}, b[2] = {k, n}, skip = !batches;

    d->op = gemm ? OP_GEMM : OP_MATMUL;
    memcpy(d->o.bytes, op_infos[d->op].options_default, op_infos[d->op].options_size);
    d->count = gemm ? 3 : 2;
    if (gemm && chance(r, 40)) {
        d->o.gemm.bTranspose = true;
        b[0] = n;
        b[1] = k;
    }
    d->inputs[0] = draw_source(r, 3 - skip, a + skip);
    d->inputs[1] = draw_dequantized(r, CONTENT_WEIGHTS, 2, b, chance(r, 50) ? (gemm && d->o.gemm.bTranspose ? 0 : 1) : 2);
    if (gemm && chance(r, 50) && d->inputs[0])
        d->inputs[2] = draw_like(d, 1, &n, CONTENT_SMALL);
    return d->inputs[0] && d->inputs[1];
}

/* Draws a divisor of size, 1 and size itself more often than others. */
static uint32_t draw_blocks(struct generator *r, uint32_t size)
{
    uint32_t blocks = chance(r, 40) ? 1 : draw_from(r, 1, size);

    while (size % blocks)
        blocks--;
    return blocks;
}

/*
 * A matmul of floats and weights in 4, 8 or 16 bits, as language models have them: with a scale for every block of K, the
 * blocks perhaps a dimension of their own, the weights perhaps transposed.
 */
static bool draw_compact_matmul(struct drawing *d)
{
    struct generator *r = d->r;
    const uint32_t m = draw_size(r, 40), n = draw_from(r, 1, 100), k = 8 * draw_from(r, 1, 12), blocks = draw_blocks(r, k);
    const bool transposed = chance(r, 50), halves = chance(r, 15), cut = chance(r, 30);
    const dtype type = halves ? WNNOperandDataType_Float16 : chance(r, 50) ? WNNOperandDataType_Uint8 : WNNOperandDataType_Int8;
    struct tensor_type t = {.type = type, .rank = 2}, small;
    struct node *node;

    memcpy(t.dims, transposed ? (uint32_t[]){n, k} : (uint32_t[]){k, n}, 2 * sizeof *t.dims);
    small = t;
    small.dims[transposed] = blocks;
    small.dims[!transposed] = chance(r, 70) ? n : 1;
    if (cut && transposed) { /* [n, blocks, k / blocks] */
        t.rank = small.rank = 3;
        t.dims[1] = blocks;
        t.dims[2] = k / blocks;
        small.dims[2] = 1;
    }
    struct value *inputs[3] = {draw_leaf(r, &t,
                                         halves          ? CONTENT_WEIGHTS
                                         : chance(r, 60) ? CONTENT_NIBBLES
                                                         : CONTENT_WEIGHTS,
                                         0)};
    if (halves) {
        const union op_args args = {.cast = {WNNOperandDataType_Float32}};
        node = append(r, OP_CAST, 1, inputs, NULL, &args);
    } else {
        small.type = WNNOperandDataType_Float32;
        inputs[1] = draw_leaf(r, &small, CONTENT_SCALE, 0);
        small.type = type;
        inputs[2] = draw_leaf(r, &small, chance(r, 50) ? CONTENT_ZERO_POINT : CONTENT_NIBBLES, 0);
        node = append(r, OP_DEQUANTIZE_LINEAR, 3, inputs, NULL, NULL);
    }
    if (node && t.rank == 3) {
        const uint32_t shape[2] = {n, k};
        const union op_args args = {.reshape = {2, shape}};
        node = append(r, OP_RESHAPE, 1, &node->results[0], NULL, &args);
    }
    if (node && transposed) {
        static const uint32_t swap[2] = {1, 0};
        WNNTransposeOptions o = WNN_TRANSPOSE_OPTIONS_INIT;
        o.permutation = swap;
        o.permutationCount = 2;
        node = append(r, OP_TRANSPOSE, 1, &node->results[0], &o, NULL);
    }
    d->op = OP_MATMUL;
    memcpy(d->o.bytes, op_infos[d->op].options_default, op_infos[d->op].options_size);
    d->count = 2;
    d->inputs[1] = node ? node->results[0] : NULL;
    t = (struct tensor_type){.type = WNNOperandDataType_Float32, .rank = 2, .dims = {m, k}};
    d->inputs[0] = draw_leaf(r, &t, CONTENT_SMALL, 0);
    return d->inputs[0] && d->inputs[1];
}

bool draw_quantized_contraction(struct generator *r)
{
    static const uint8_t activations[] = {OP_RELU, OP_CLAMP, OP_TANH, OP_ADD, OP_MUL, OP_LEAKY_RELU};
    struct drawing d = {.r = r};

    if (!(chance(r, 40) ? draw_compact_matmul(&d) : chance(r, 50) ? draw_conv(&d) : draw_matrices(&d)))
        return false;
    struct node *n = append(r, d.op, d.count, d.inputs, d.o.bytes, &d.args);
    if (!n)
        return false;
    r->hint = n->results[0];
    while (chance(r, 45) && draw_operator(r, (enum op)activations[draw(r, sizeof activations)]))
        ;
    if (chance(r, 70) && r->hint->type.type == WNNOperandDataType_Float32) {
        struct value *v = draw_scaled(r, OP_QUANTIZE_LINEAR, r->hint,
                                      chance(r, 50) ? WNNOperandDataType_Uint8 : WNNOperandDataType_Int8, RANK_MAX);
        r->hint = v ? v : r->hint;
    }
    return true;
}
