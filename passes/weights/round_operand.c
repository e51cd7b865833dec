/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rounds operand A of a matmul to 8 bits, block by block along K: with m the largest magnitude of a block, its elements become
 * whole numbers from -127 to 127 times m / 127, which are stored as unsigned bytes, 128 more.  The rounding is a few nodes,
 * which fuse with what computes A; what makes floats of the bytes again stands before the matmul and becomes a part of its
 * kernel.
 *
 * A block of zeros, whose scale is 0, is exact.  If a number of a block is infinite or NaN, so is the scale, and every product
 * of the block is NaN.
 */
#include "passes/weights/round_operand.h"

/* This is below every magnitude that matters, and 127 divided by it is finite. */
static const float least_magnitude = 1e-36F;
static const double steps = 127, zero_point = 128;

static struct value *scalar(struct graph *g, double number)
{
    const struct tensor_type type = {.type = WNNOperandDataType_Float32};

    return graph_add_scalar(g, &type, wnnNumber(number));
}

static struct value *op1(struct graph *g, struct node *n, enum op op, struct value *a)
{
    return a ? make_node(g, n, op, n, 1, &a, NULL, NULL) : NULL;
}

static struct value *largest_of_blocks(struct graph *g, struct node *n, struct value *blocks)
{
    static const uint32_t last = 2;
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
    struct value *magnitudes = op1(g, n, OP_ABS, blocks);

    o.axes = &last;
    o.axesCount = 1;
    o.keepDimensions = true;
    return magnitudes ? make_node(g, n, OP_REDUCE_MAX, n, 1, &magnitudes, &o, NULL) : NULL;
}

/* Makes the bytes and scales of x.  Returns false after an error in g->error. */
static bool make_rounded(struct graph *g, struct node *n, struct value *x, int64_t inner, struct rounded *r)
{
    const int64_t k = x->type.dims[x->type.rank - 1], rows = type_elements(&x->type) / k;
    const uint32_t dims[] = {(uint32_t)rows, (uint32_t)(k / inner), (uint32_t)inner};
    struct value *blocks = make_reshape(g, n, n, x, 3, dims), *largest, *numbers;

    largest = blocks ? largest_of_blocks(g, n, blocks) : NULL;
    numbers = make_binary(g, n, OP_MAX, largest, scalar(g, least_magnitude));
    numbers = make_binary(g, n, OP_MUL, blocks, make_binary(g, n, OP_DIV, scalar(g, steps), numbers));
    numbers = make_binary(g, n, OP_ADD, op1(g, n, OP_ROUND_EVEN, numbers), scalar(g, zero_point));
    *r = (struct rounded){.x = x, .inner = inner};
    r->bytes = numbers ? make_cast(g, n, n, numbers, WNNOperandDataType_Uint8) : NULL;
    r->scale = make_binary(g, n, OP_MUL, largest, scalar(g, 1 / steps));
    return r->bytes && r->scale;
}

struct value *round_operand(struct graph *g, struct node *n, int64_t inner, struct rounded_operands *kept)
{
    struct value *x = n->inputs[0].value, *v;
    struct rounded *found = NULL;

    for (uint32_t i = 0; i < ROUNDED_KEPT; i++)
        if (kept->kept[i].x == x && kept->kept[i].inner == inner)
            found = &kept->kept[i];
    if (!found) {
        found = &kept->kept[kept->next++ % ROUNDED_KEPT];
        if (!make_rounded(g, n, x, inner, found))
            return NULL;
    }
    v = make_binary(g, n, OP_SUB, make_cast(g, n, n, found->bytes, WNNOperandDataType_Float32), scalar(g, zero_point));
    v = make_binary(g, n, OP_MUL, v, found->scale);
    return v ? make_reshape(g, n, n, v, x->type.rank, x->type.dims) : NULL;
}
