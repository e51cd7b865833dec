/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Has graphs with named dimensions, and compares them with graphs that are built for certain sizes. */
#pragma once

#include "support/api.h"
#include "webnn/webnn_draft.h"

/** Makes an input whose dimensions are "name", or a number without one; the list ends with a rank. */
static WNNOperand named_input(WNNGraphBuilder b, const char *name, WNNOperandDataType type, size_t rank,
                              const WNNDimension *dims, const uint32_t *shape)
{
    return wnnGraphBuilderInput(b, WNN_STR(name), &(WNNOperandDescriptor){type, rank, shape, dims});
}

static WNNOperand integers(WNNGraphBuilder b, uint32_t count, const int64_t *values)
{
    const WNNOperandDescriptor d = {WNNOperandDataType_Int64, 1, &count, NULL};
    WNNOperand operand = wnnGraphBuilderConstant(b, &d, values, count * sizeof *values);

    assert_false(wnnOperandIsError(operand));
    return operand;
}

#define INTEGERS(b, ...) integers(b, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

static const WNNDimension batch_length[3] = {{{"batch", 5}, 0, 0}, {{"length", 6}, 1, 64}, {{NULL, 0}, 0, 0}};

/** Returns input "x" of [batch, length, 8] floats, or of these sizes. */
static WNNOperand make_x(WNNGraphBuilder b, const uint32_t *sizes)
{
    const uint32_t shape[3] = {sizes ? sizes[0] : 0, sizes ? sizes[1] : 0, 8};

    return named_input(b, "x", WNNOperandDataType_Float32, 3, sizes ? NULL : batch_length, shape);
}

static WNNOperand weights(WNNGraphBuilder b)
{
    float w[8][8];

    for (int i = 0; i < 64; i++)
        w[i / 8][i % 8] = (float)((i * 37) % 17) / 8 - 1;
    return wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, (uint32_t[]){8, 8}, NULL}, w,
                                   sizeof w);
}

/** Returns heads of attention over x: reshaped by arithmetic on shapes, so that the same calls serve names and sizes. */
static WNNOperand attention(WNNGraphBuilder b, WNNOperand x)
{
    const uint32_t zero = 0, two = 2;
    const WNNTransposeOptions to_heads = {.permutationCount = 4, .permutation = (const uint32_t[]){0, 2, 1, 3}};
    const WNNTransposeOptions across = {.permutationCount = 4, .permutation = (const uint32_t[]){0, 1, 3, 2}};
    WNNOperand shape = wnnGraphBuilderCast(b, wnnGraphBuilderShape(b, x, NULL), WNNOperandDataType_Int64, NULL);
    WNNOperand rows = wnnGraphBuilderSlice(b, shape, 1, &zero, 1, &two, NULL);
    WNNOperand split = wnnGraphBuilderConcat(b, 2, (WNNOperand[]){rows, INTEGERS(b, 2, 4)}, 0, NULL);
    WNNOperand q = wnnGraphBuilderReshapeDynamic(b, wnnGraphBuilderMatmul(b, x, weights(b), NULL), split, NULL);

    q = wnnGraphBuilderTranspose(b, q, &to_heads);
    WNNOperand scores = wnnGraphBuilderMatmul(b, q, wnnGraphBuilderTranspose(b, q, &across), NULL);
    WNNOperand y = wnnGraphBuilderMatmul(b, wnnGraphBuilderSoftmax(b, scores, 3, NULL), q, NULL);
    return wnnGraphBuilderReshapeDynamic(b, wnnGraphBuilderTranspose(b, y, &to_heads), shape, NULL);
}

/** Returns attention that reads the keys whose numbers, from `start` on, are not greater than "at". */
static WNNOperand attend(WNNGraphBuilder b, WNNOperand q, WNNOperand k, WNNOperand at, int64_t start)
{
    const uint32_t two = 2, one = 1;
    const WNNTransposeOptions swap = {.permutationCount = 4, .permutation = (const uint32_t[]){0, 1, 3, 2}};
    WNNOperand shape = wnnGraphBuilderCast(b, wnnGraphBuilderShape(b, k, NULL), WNNOperandDataType_Int64, NULL);
    WNNOperand keys = wnnGraphBuilderSqueeze(b, wnnGraphBuilderSlice(b, shape, 1, &two, 1, &one, NULL), 0, NULL, NULL);
    WNNOperand from = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int64, wnnNumberInt64(start));
    WNNOperand step = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int64, wnnNumber(1));
    WNNOperand none = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(-3e38));
    WNNOperand number = wnnGraphBuilderRange(b, from, wnnGraphBuilderAdd(b, keys, from, NULL), step, NULL);
    WNNOperand scores = wnnGraphBuilderMatmul(b, q, wnnGraphBuilderTranspose(b, k, &swap), NULL);

    scores = wnnGraphBuilderWhere(b, wnnGraphBuilderGreater(b, number, at, NULL), none, scores, NULL);
    return wnnGraphBuilderMatmul(b, wnnGraphBuilderSoftmax(b, scores, 3, NULL), k, NULL);
}

/**
 * Returns a loop over the steps of x, then an lstm over them.  The number of steps is 0 where it has a name.  The body takes
 * sizes of a shape from before the loop, and of its own operands, and computes with both.
 */
static WNNOperand recurrences(WNNGraphBuilder b, WNNOperand x)
{
    const uint32_t one = 1, zero = 0;
    WNNReduceOptions mean = {.axesCount = 1, .axes = &one}, kept = {.axesCount = 1, .axes = &one, .keepDimensions = true};
    const WNNTransposeOptions swap = {.permutationCount = 3, .permutation = (const uint32_t[]){1, 0, 2}};
    WNNLstmOptions sequence = WNN_LSTM_OPTIONS_INIT;
    WNNLoopSlices rows = {x, 1, false}, each = {NULL, 1, false};
    WNNOperand p[2], out[3], shape = wnnGraphBuilderCast(b, wnnGraphBuilderShape(b, x, NULL), WNNOperandDataType_Int64, NULL);
    WNNOperand batch = wnnGraphBuilderSlice(b, shape, 1, &zero, 1, &one, NULL);
    WNNOperand halves = wnnGraphBuilderConcat(b, 2, (WNNOperand[]){batch, INTEGERS(b, 2, 4)}, 0, NULL);
    float w[32 * 8];

    sequence.returnSequence = true;
    WNNOperand start = wnnGraphBuilderReduceMean(b, x, &mean);
    assert_success(wnnGraphBuilderBeginLoop(b, wnnOperandGetShape(x)[1], 1, &start, 1, &rows, p));
    WNNOperand next =
        wnnGraphBuilderTanh(b, wnnGraphBuilderAdd(b, wnnGraphBuilderMatmul(b, p[0], weights(b), NULL), p[1], NULL), NULL);
    next = wnnGraphBuilderReshapeDynamic(b, next, halves, NULL);
    next = wnnGraphBuilderSub(b, next, wnnGraphBuilderReduceMean(b, next, &kept), NULL);
    next = wnnGraphBuilderReshapeDynamic(b, next, wnnGraphBuilderShape(b, p[1], NULL), NULL);
    WNNOperand inside = wnnGraphBuilderSlice(b, wnnGraphBuilderShape(b, p[1], NULL), 1, &zero, 1, &one, NULL);
    next = wnnGraphBuilderDiv(b, next, wnnGraphBuilderCast(b, inside, WNNOperandDataType_Float32, NULL), NULL);
    next = wnnGraphBuilderMul(b, next, wnnGraphBuilderCast(b, batch, WNNOperandDataType_Float32, NULL), NULL);
    each.operand = next;
    assert_success(wnnGraphBuilderEndLoop(b, WNN_STR("loop"), 1, &next, 1, &each, out));
    for (int i = 0; i < 32 * 8; i++)
        w[i] = (float)((i * 29) % 23) / 16 - 0.7f;
    WNNOperand gates = wnnGraphBuilderConstant(
        b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 3, (uint32_t[]){1, 32, 8}, NULL}, w, sizeof w);
    x = wnnGraphBuilderTranspose(b, out[1], &swap);
    assert_success(wnnGraphBuilderLstm(b, x, gates, gates, wnnOperandGetShape(x)[0], 8, &sequence, out));
    WNNOperand y = wnnGraphBuilderReshapeDynamic(b, out[2], wnnGraphBuilderShape(b, x, NULL), NULL);
    return wnnGraphBuilderTranspose(b, y, &swap);
}

static float *noise(size_t count)
{
    float *x = malloc(count * sizeof *x);

    for (size_t i = 0; i < count; i++)
        x[i] = (float)((i * 7919) % 1009) / 512 - 1;
    return x;
}

typedef WNNOperand make_fn(WNNGraphBuilder b, WNNOperand x);

static void assert_same_bits(WNNContext c, WNNGraph open, make_fn make, uint32_t batch, uint32_t length)
{
    const size_t count = (size_t)batch * length * 8;
    const uint32_t sizes[2] = {batch, length};
    WNNGraphBuilder b = builder_of(c);
    WNNGraph fixed = build_y(b, make(b, make_x(b, sizes)));
    float *x = noise(count), *y = calloc(count, sizeof *y), *wanted = calloc(count, sizeof *wanted);

    compute_y(fixed, x, count * sizeof *x, wanted, count * sizeof *x);
    assert_success(wnnGraphComputeSized(open, 1, &(WNNNamedSize){WNN_STR("batch"), batch}, 1,
                                        &(WNNNamedBuffer){WNN_STR("x"), x, count * sizeof *x}, 1,
                                        &(WNNNamedBuffer){WNN_STR("y"), y, count * sizeof *y}, NULL));
    assert_memory_equal(y, wanted, count * sizeof *y);
    free(x);
    free(y);
    free(wanted);
    wnnGraphRelease(fixed);
}
