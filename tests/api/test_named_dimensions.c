/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Named dimensions (docs/named-dimensions.md): one graph for any size, its bits those of a graph that was built for that size;
 * what is refused when a method is called, and what when the sizes are known; sizes that follow from shapes by arithmetic.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>

#include "api/named.h"
#include "runtime/api/context.h"
#include "runtime/engine/cpu/internal.h"
#include "support/close.h"
#include "support/folder.h"

TEST(one_graph_computes_every_size)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    WNNOperand y = attention(b, make_x(b, NULL));
    WNNNamedOperandDescriptor d;
    WNNGraphVariantCounts counts;

    assert_string_equal(wnnOperandGetDimensionName(y, 0).data, "batch");
    assert_string_equal(wnnOperandGetDimensionName(y, 1).data, "length");
    assert_true(!wnnOperandGetDimensionName(y, 2).length && !wnnOperandGetShape(y)[1] && wnnOperandGetShape(y)[2] == 8);
    OWNED(compiled) WNNGraph g = build_y(b, y);
    for (uint32_t i = 0; i < 3; i++) {
        assert_same_bits(c, g, attention, 1, 5);
        assert_same_bits(c, g, attention, 3, 64);
        assert_same_bits(c, g, attention, 2, 1);
    }
    wnnGraphGetVariantCounts(g, &counts);
    assert_true(counts.built == 3 && counts.found == 6);
    wnnGraphSetVariantLimit(g, 1);
    wnnGraphGetVariantCounts(g, &counts);
    assert_int_equal(counts.held, 1);
    assert_success(wnnGraphGetInput(g, 0, &d));
    assert_true(d.descriptor.dimensions[1].maxSize == 64 && !wnnOperandDescriptorGetByteLength(&d.descriptor));
    assert_string_equal(d.descriptor.dimensions[1].name.data, "length");
}

static void count_planned(WNNLogLevel level, WNNStringView message, void *planned, void *unused)
{
    static const char text[] = "a graph was planned";

    (void)level;
    (void)unused;
    *(int *)planned += message.length >= sizeof text - 1 && !memcmp(message.data, text, sizeof text - 1);
}

/** Compares a graph at these lengths, and says how often it was planned.  `odd`: whether it is valid at length 33 then. */
static void assert_planned(make_fn make, const char *debug, size_t count, const uint32_t *lengths, int least, int most,
                           bool odd)
{
    const WNNNamedSize sizes[2] = {{WNN_STR("batch"), 2}, {WNN_STR("length"), 33}};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    int planned = 0;

    o.log = (WNNLogCallbackInfo){count_planned, &planned, NULL};
    o.debug = WNN_STR(debug);
    OWNED(context) WNNContext c = context_with(&o);
    WNNGraphBuilder b = builder_of(c);
    OWNED(compiled) WNNGraph g = build_y(b, make(b, make_x(b, NULL)));
    WNNGraph variant;

    for (size_t i = 0; i < count; i++)
        assert_same_bits(c, g, make, *debug ? 1 + (uint32_t)i * 5 % 8 : 2, lengths[i]);
    assert_in_range(planned, least, most);
    assert_int_equal(wnnGraphGetVariant(g, 2, sizes, &variant), odd ? WNNStatus_Success : WNNStatus_TypeError);
    wnnGraphRelease(variant);
}

/** Returns x after two layers that join pairs of its rows, which there are at even lengths only. */
static WNNOperand by_pairs(WNNGraphBuilder b, WNNOperand x)
{
    for (int i = 0; i < 2; i++) {
        WNNOperand shape = wnnGraphBuilderCast(b, wnnGraphBuilderShape(b, x, NULL), WNNOperandDataType_Int64, NULL);
        WNNOperand pairs =
            wnnGraphBuilderMul(b, wnnGraphBuilderDiv(b, shape, INTEGERS(b, 1, 2, 1), NULL), INTEGERS(b, 1, 1, 2), NULL);
        x = wnnGraphBuilderTanh(b, wnnGraphBuilderReshapeDynamic(b, x, pairs, NULL), NULL);
        x = wnnGraphBuilderReshapeDynamic(b, attention(b, wnnGraphBuilderReshapeDynamic(b, x, shape, NULL)), shape, NULL);
    }
    return x;
}

static const uint32_t first = 1;
#define ROWS_OF(b, x) wnnGraphBuilderSlice(b, wnnGraphBuilderShape(b, x, NULL), 1, &first, 1, &first, NULL)

/** Returns x, or -x where it has no more than 40 rows. */
static WNNOperand by_length(WNNGraphBuilder b, WNNOperand x)
{
    WNNOperand most = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(40.5));
    WNNOperand many =
        wnnGraphBuilderGreater(b, wnnGraphBuilderCast(b, ROWS_OF(b, x), WNNOperandDataType_Float32, NULL), most, NULL);

    return wnnGraphBuilderWhere(b, many, x, wnnGraphBuilderNeg(b, x, NULL), NULL);
}

/** Adds the least of 1 and 1e-35 times a product of as many hundreds as x has rows, which is infinite for more than 19. */
static WNNOperand by_product(WNNGraphBuilder b, WNNOperand x)
{
    WNNOperand hundred = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(100));
    WNNOperand part = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(1e-35));
    WNNOperand product = wnnGraphBuilderReduceProduct(b, wnnGraphBuilderExpandDynamic(b, hundred, ROWS_OF(b, x), NULL), NULL);
    WNNOperand one = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(1));

    return wnnGraphBuilderAdd(b, x, wnnGraphBuilderMin(b, wnnGraphBuilderMul(b, product, part, NULL), one, NULL), NULL);
}

/** Adds the means of whole pictures, whose windows have other sizes, and states of a cell, whose type depends on its batch. */
static WNNOperand by_window(WNNGraphBuilder b, WNNOperand x)
{
    const uint32_t zeros[2] = {0, 0}, two[2] = {8, 2};
    WNNOperand mean = wnnGraphBuilderAveragePool2d(b, wnnGraphBuilderUnsqueeze(b, x, 1, &first, NULL), NULL), out[2];
    WNNOperand rows = wnnGraphBuilderReduceMean(b, x, &(WNNReduceOptions){.axesCount = 1, .axes = zeros}), w = weights(b);
    WNNOperand r = wnnGraphBuilderSlice(b, w, 2, zeros, 2, two, NULL), h = wnnGraphBuilderMatmul(b, rows, r, NULL);

    assert_success(wnnGraphBuilderLstmCell(b, rows, w, r, h, h, 2, NULL, out)); /* float64 for up to 25 rows */
    x = wnnGraphBuilderAdd(b, x, wnnGraphBuilderReduceSum(b, out[0], NULL), NULL);
    return wnnGraphBuilderAdd(b, x, wnnGraphBuilderSqueeze(b, mean, 1, &first, NULL), NULL);
}

/** Adds x's mean as often as half of its length, rounded up, and half of it, rounded down, which is equal at even lengths. */
static WNNOperand by_halves(WNNGraphBuilder b, WNNOperand x)
{
    WNNOperand rows = ROWS_OF(b, x);
    WNNOperand one = wnnGraphBuilderConstantScalar(b, wnnOperandGetDataType(rows), wnnNumber(1));
    WNNOperand two = wnnGraphBuilderConstantScalar(b, wnnOperandGetDataType(rows), wnnNumber(2));
    WNNOperand less = wnnGraphBuilderCast(b, wnnGraphBuilderDiv(b, rows, two, NULL), WNNOperandDataType_Float32, NULL);
    WNNOperand more = wnnGraphBuilderDiv(b, wnnGraphBuilderAdd(b, rows, one, NULL), two, NULL);
    WNNOperand means = wnnGraphBuilderExpandDynamic(b, wnnGraphBuilderReduceMean(b, x, NULL), more, NULL);

    return wnnGraphBuilderAdd(b, x, wnnGraphBuilderAdd(b, wnnGraphBuilderReduceSum(b, means, NULL), less, NULL), NULL);
}

/** Adds the last row but one, or the 61st, of the rows from the third one on. */
static WNNOperand by_start(WNNGraphBuilder b, WNNOperand x)
{
    WNNOperand shape = wnnGraphBuilderCast(b, wnnGraphBuilderShape(b, x, NULL), WNNOperandDataType_Int64, NULL);
    WNNOperand second = INTEGERS(b, 0, 1, 0), two = INTEGERS(b, 0, 2, 0), most = INTEGERS(b, 0, 58, 0);
    WNNOperand start = wnnGraphBuilderMul(b, wnnGraphBuilderSub(b, shape, INTEGERS(b, 4, 4, 4), NULL), second, NULL);
    WNNOperand size = wnnGraphBuilderAdd(b, wnnGraphBuilderMul(b, shape, INTEGERS(b, 1, 0, 1), NULL), second, NULL);
    WNNOperand rest = wnnGraphBuilderSliceDynamic(b, x, two, wnnGraphBuilderSub(b, shape, two, NULL), NULL);

    start = wnnGraphBuilderMin(b, start, most, NULL);
    return wnnGraphBuilderAdd(b, x, wnnGraphBuilderSliceDynamic(b, rest, start, size, NULL), NULL);
}

/* The first sizes of a class (few rows and one are classes) go through the passes.  Steps of a library have no plans.  What
 * recurrences and a cell do so small is computed in float64 at some of these sizes. */
TEST(later_sizes_are_planned_or_refused)
{
    static const uint32_t lengths[] = {20, 33, 47, 41, 64, 26, 5, 7, 11, 3, 1, 64, 14, 15, 16, 60, 19, 44, 23, 53, 34, 24, 36},
                          even[] = {20, 26, 38, 60, 44, 52};

    assert_planned(attention, "no-library", sizeof lengths / sizeof *lengths, lengths, 11, 16, true);
    assert_planned(by_pairs, "no-library", sizeof even / sizeof *even, even, 1, 3, false);
    assert_planned(by_window, "no-library", sizeof lengths / sizeof *lengths, lengths, 3, 8, true);
    assert_planned(recurrences, "no-library", sizeof lengths / sizeof *lengths, lengths, 3, 8, true);
}

TEST(passes_do_not_decide_by_what_depends_on_sizes)
{
    static const uint32_t lengths[] = {20, 26, 38, 60, 33, 41, 45, 63, 29, 17, 52};
    static make_fn *const makes[] = {by_length, by_product, by_halves, by_start, recurrences};

    for (int i = 0; i < 5; i++)
        assert_planned(makes[i], "", sizeof lengths / sizeof *lengths, lengths, 5, 8, true);
}

TEST(shapes_are_known_before_a_dispatch)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    const uint32_t shape[2] = {0, 3};
    const WNNDimension past[2] = {[0] = {WNN_STR("past"), 0, 0}}, now[2] = {[0] = {WNN_STR("now"), 0, 0}};
    WNNOperand joined = wnnGraphBuilderConcat(b, 2,
                                              (WNNOperand[]){named_input(b, "a", WNNOperandDataType_Float32, 2, past, shape),
                                                             named_input(b, "b", WNNOperandDataType_Float32, 2, now, shape)},
                                              0, NULL);
    WNNNamedShape in[2] = {{WNN_STR("b"), 2, {4, 3}}, {WNN_STR("a"), 2, {5, 3}}}, out;

    assert_string_equal(wnnOperandGetDimensionName(joined, 0).data, "now + past");
    OWNED(compiled) WNNGraph g = build_y(b, joined);
    assert_success(wnnGraphComputeShapes(g, 2, in, 1, &out));
    assert_true(out.shape[0] == 9 && out.shape[1] == 3);
    assert_string_equal(out.name.data, "y");

    OWNED(tensor) WNNTensor a = tensor_of(c, 2, in[1].shape), t = tensor_of(c, 2, in[0].shape), y = tensor_of(c, 2, out.shape);
    const WNNNamedTensor tensors[2] = {{WNN_STR("a"), a}, {WNN_STR("b"), t}};
    float result[27], *numbers = noise(15);
    assert_success(wnnContextWriteTensor(c, a, numbers, 60));
    assert_success(wnnContextWriteTensor(c, t, numbers, 48));
    assert_success(wnnContextDispatch(c, g, 2, tensors, 1, &(WNNNamedTensor){WNN_STR("y"), y}));
    assert_success(wnnContextReadTensor(c, y, result, sizeof result));
    assert_memory_equal(result + 15, numbers, 48);
    free(numbers);
    /* An output of another size is told as for any graph. */
    assert_int_equal(wnnContextDispatch(c, g, 2, tensors, 1, &(WNNNamedTensor){WNN_STR("y"), a}), WNNStatus_TypeError);
}

/* ---- arithmetic ---- */

/** Pads x to a multiple of 4, as the draft's explainer does, and gives halves, tiles, a range and the rest of a division. */
static WNNOperand arithmetic(WNNGraphBuilder b, WNNOperand x)
{
    const uint32_t zero = 0, one = 1;
    WNNOperand shape = wnnGraphBuilderCast(b, wnnGraphBuilderShape(b, x, NULL), WNNOperandDataType_Int64, NULL);
    WNNOperand n = wnnGraphBuilderSlice(b, shape, 1, &zero, 1, &one, NULL);
    WNNOperand padding = wnnGraphBuilderModulusFloor(b, wnnGraphBuilderNeg(b, n, NULL), INTEGERS(b, 4), NULL);
    WNNOperand padded = wnnGraphBuilderPadDynamic(b, x, INTEGERS(b, 0), padding, NULL);
    WNNOperand half = wnnGraphBuilderDiv(b, wnnGraphBuilderAdd(b, n, padding, NULL), INTEGERS(b, 2), NULL), halves[2];
    WNNOperand scalar = wnnGraphBuilderSqueeze(b, half, 0, NULL, NULL);

    assert_success(wnnGraphBuilderSplitDynamic(b, padded, wnnGraphBuilderConcat(b, 2, (WNNOperand[]){half, half}, 0, NULL),
                                               NULL, 2, halves));
    WNNOperand from = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int64, wnnNumber(0));
    WNNOperand step = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int64, wnnNumber(1));
    WNNOperand count = wnnGraphBuilderRange(b, from, scalar, step, NULL);
    count = wnnGraphBuilderCast(b, count, WNNOperandDataType_Float32, NULL);
    WNNOperand sum = wnnGraphBuilderAdd(b, wnnGraphBuilderMul(b, halves[0], halves[1], NULL), count, NULL);
    WNNOperand last =
        wnnGraphBuilderSliceDynamic(b, sum, wnnGraphBuilderSub(b, half, INTEGERS(b, 1), NULL), INTEGERS(b, 1), NULL);
    WNNOperand wide = wnnGraphBuilderExpandDynamic(b, last, half, NULL);
    return wnnGraphBuilderConcat(b, 2, (WNNOperand[]){sum, wnnGraphBuilderTileDynamic(b, wide, INTEGERS(b, 2), NULL)}, 0, NULL);
}

TEST(sizes_are_computed_of_shapes)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    const WNNDimension n = {WNN_STR("n"), 0, 0};
    OWNED(compiled) WNNGraph g = build_y(b, arithmetic(b, named_input(b, "x", WNNOperandDataType_Float32, 1, &n, NULL)));

    for (uint32_t size = 1; size < 12; size++) {
        const uint32_t half = (size + 3) / 4 * 2;
        float x[12], y[24] = {0}, wanted[24];

        for (uint32_t i = 0; i < size; i++)
            x[i] = (float)i + 2;
        for (uint32_t i = 0; i < half; i++)
            wanted[i] = (i < size ? x[i] : 0) * (half + i < size ? x[half + i] : 0) + (float)i;
        for (uint32_t i = 0; i < 2 * half; i++)
            wanted[half + i] = wanted[half - 1];
        compute_y(g, x, size * sizeof *x, y, 3 * half * sizeof *y);
        assert_memory_equal(y, wanted, 3 * half * sizeof *y);
    }
}

TEST(pictures_of_any_size)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    const WNNDimension dims[4] = {{{NULL, 0}, 0, 0}, {{NULL, 0}, 0, 0}, {WNN_STR("height"), 8, 0}, {WNN_STR("width"), 8, 0}};
    const uint32_t shape[4] = {1, 1, 0, 0}, strides[2] = {2, 2}, padding[4] = {1, 1, 1, 1};
    WNNOperand x = named_input(b, "x", WNNOperandDataType_Float32, 4, dims, shape);
    WNNOperand filter =
        wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 4, (uint32_t[]){1, 1, 3, 3}, NULL},
                                (float[9]){0, 0, 0, 0, 1, 0, 0, 0, 0}, 36);
    WNNConv2dOptions conv = WNN_CONV2D_OPTIONS_INIT;
    WNNResample2dDynamicOptions size = WNN_RESAMPLE2D_DYNAMIC_OPTIONS_INIT;
    WNNNamedShape in = {WNN_STR("x"), 4, {1, 1, 9, 12}}, out[2];

    conv.stridesCount = 2;
    conv.strides = strides;
    conv.paddingCount = 4;
    conv.padding = padding;
    WNNOperand small = wnnGraphBuilderConv2d(b, x, filter, &conv);
    assert_string_equal(wnnOperandGetDimensionName(small, 2).data, "floor((height - 1) / (2)) + 1");
    const uint32_t two = 2, from = 2;
    size.sizes = wnnGraphBuilderSlice(b, wnnGraphBuilderShape(b, x, NULL), 1, &from, 1, &two, NULL);
    WNNOperand again = wnnGraphBuilderResample2dDynamic(b, small, &size);
    assert_string_equal(wnnOperandGetDimensionName(again, 3).data, "width");
    WNNOperand pooled = wnnGraphBuilderAveragePool2d(b, again, NULL); /* the whole picture */
    assert_int_equal(wnnOperandGetShape(pooled)[2], 1);
    OWNED(compiled) WNNGraph g = build(b, 2, (WNNNamedOperand[]){{WNN_STR("y"), again}, {WNN_STR("mean"), pooled}});
    assert_success(wnnGraphComputeShapes(g, 1, &in, 2, out));
    assert_true(out[0].shape[2] == 9 && out[0].shape[3] == 12);
    float *pixels = noise(108), y[108], mean;
    assert_success(wnnGraphComputeSized(
        g, 2, (WNNNamedSize[]){{WNN_STR("height"), 9}, {WNN_STR("width"), 12}}, 1, &(WNNNamedBuffer){WNN_STR("x"), pixels, 432},
        2, (WNNNamedBuffer[]){{WNN_STR("y"), y, sizeof y}, {WNN_STR("mean"), &mean, sizeof mean}}, NULL));
    assert_true(y[0] == pixels[0]);
    free(pixels);
}

/** Without names the sizes are known when the graph is built: it is a graph like any other. */
TEST(shapes_without_names_are_numbers)
{
    OWNED(context) WNNContext c = context_with(NULL);
    OWNED(builder) WNNGraphBuilder b = builder_of(c);
    const uint32_t seven = 7;
    WNNGraph g = build_y(b, arithmetic(b, named_input(b, "x", WNNOperandDataType_Float32, 1, NULL, &seven)));
    WNNNamedOperandDescriptor d;
    WNNGraphVariantCounts counts;

    assert_success(wnnGraphGetOutput(g, 0, &d));
    wnnGraphGetVariantCounts(g, &counts);
    assert_true(d.descriptor.shape[0] == 12 && !d.descriptor.dimensions && !counts.built);
    assert_success(wnnGraphSave(g, "/dev/null"));
    wnnGraphRelease(g);

    /* What the arithmetic of shapes takes is charged to the builder's budget. */
    b = builder_of(c);
    WNNOperand scalar = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int64, wnnNumber(1));
    WNNOperand numbers = wnnGraphBuilderRange(
        b, scalar, wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int64, wnnNumber(2000000000)), scalar, NULL);
    assert_success(wnnGraphBuilderSetBudget(b, &(WNNBudget){1e6, 1e6}, 0));
    assert_int_equal(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), numbers}, &g), WNNStatus_OperationError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "range"));
}

/* ---- refusals ---- */

static void assert_says(WNNStatus status, const char *text)
{
    assert_int_equal(status, WNNStatus_TypeError);
    if (!strstr(wnnGetLastErrorMessage().data, text))
        fail_msg("\"%s\" is not in: %s", text, wnnGetLastErrorMessage().data);
}

static void assert_wrong(WNNGraphBuilder b, WNNOperand operand, const char *text)
{
    assert_true(wnnOperandIsError(operand));
    assert_says(wnnGraphBuilderGetError(b, NULL), text);
    wnnGraphBuilderClearError(b);
}

TEST(what_is_certainly_wrong_is_refused_at_once)
{
    OWNED(context) WNNContext c = context_with(NULL);
    OWNED(builder) WNNGraphBuilder b = builder_of(c);
    const uint32_t three[3] = {2, 3, 7}, nine = 9;
    const WNNDimension empty = {{"", 0}, 0, 0}, backward = {WNN_STR("n"), 5, 4}, other = {WNN_STR("length"), 0, 9};
    WNNOperand x = make_x(b, NULL), fixed = named_input(b, "z", WNNOperandDataType_Float32, 3, NULL, three);

    assert_wrong(b, wnnGraphBuilderAdd(b, x, fixed, NULL), "[batch, length, 8] and [2, 3, 7]");
    assert_wrong(b, wnnGraphBuilderReshape(b, x, 1, &nine, NULL), "newShape [9] has another number of elements");
    assert_wrong(b, wnnGraphBuilderSqueeze(b, x, 0, NULL, NULL), "batch, which may be 1 or not");
    assert_wrong(b, wnnGraphBuilderSqueeze(b, x, 1, (uint32_t[]){2}, NULL), "dimension 2 of input is 8, not 1");
    assert_wrong(b, named_input(b, "e", WNNOperandDataType_Float32, 1, &empty, NULL), "the name of dimension 0 has 0 bytes");
    assert_wrong(b, named_input(b, "r", WNNOperandDataType_Float32, 1, &backward, NULL), "\"n\" is from 5 to 4");
    assert_wrong(b, named_input(b, "o", WNNOperandDataType_Float32, 1, &other, NULL),
                 "from 1 to 9, an earlier input has it from 1 to 64");
    assert_wrong(b,
                 wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 1, &nine, &other}, three, 36),
                 "dimension 0 has a name, as only an input's may");
    WNNOperand values = named_input(b, "v", WNNOperandDataType_Int64, 1, NULL, (uint32_t[]){3});
    assert_wrong(b, wnnGraphBuilderReshapeDynamic(b, x, values, NULL), "newShape depends on values of inputs");
    assert_wrong(b, wnnGraphBuilderReshapeDynamic(b, x, INTEGERS(b, -1, 8), NULL), "would be -1");
    assert_wrong(b, wnnGraphBuilderExpandDynamic(b, x, INTEGERS(b, 4, 4, 9), NULL), "is not broadcastable to [4, 4, 9]");
    assert_wrong(b, wnnGraphBuilderRange(b, values, values, values, NULL), "start has rank 1, must be 0");
}

TEST(what_sizes_make_wrong_is_refused_when_they_are_known)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    const WNNDimension n = {WNN_STR("n"), 1, 100}, m = {WNN_STR("m"), 0, 0};
    WNNOperand x = named_input(b, "x", WNNOperandDataType_Float32, 1, &n, NULL),
               z = named_input(b, "z", WNNOperandDataType_Float32, 1, &m, NULL);
    const WNNOperatorOptions label = {.label = WNN_STR("join")};
    float a[200], y[200];

    WNNOperand rows = wnnGraphBuilderReshapeDynamic(b, wnnGraphBuilderAdd(b, x, z, &label), INTEGERS(b, 2, 3), NULL);
    OWNED(compiled) WNNGraph g = build_y(b, rows);
    WNNNamedBuffer in[2] = {{WNN_STR("x"), a, 24}, {WNN_STR("z"), a, 24}}, out = {WNN_STR("y"), y, 24};
    WNNNamedShape shapes[2] = {{WNN_STR("x"), 1, {6}}, {WNN_STR("z"), 1, {5}}}, result;

    assert_success(wnnGraphCompute(g, 2, in, 1, &out));
    assert_says(wnnGraphComputeShapes(g, 2, shapes, 1, &result),
                "add [join]: the shapes of a and b, [6] and [5], are not broadcastable");
    in[0].byteLength = in[1].byteLength = 28;
    assert_says(wnnGraphCompute(g, 2, in, 1, &out), "newShape [2, 3] has 6 elements, input [7] has 7");
    in[0].byteLength = 23;
    assert_says(wnnGraphCompute(g, 2, in, 1, &out), "input \"x\" has 23 bytes, not a multiple of 4");
    in[0].byteLength = 404;
    assert_says(wnnGraphCompute(g, 2, in, 1, &out), "dimension \"n\" is 101 in input \"x\", allowed are 1 to 100");
    assert_says(wnnGraphCompute(g, 1, in + 1, 1, &out), "the size of dimension \"n\" is not known; it is one of input \"x\"");
    in[0].byteLength = 24;
    in[1].byteLength = 20;
    assert_says(wnnGraphComputeSized(g, 1, &(WNNNamedSize){WNN_STR("n"), 5}, 2, in, 1, &out, NULL),
                "newShape [2, 3] has 6 elements, input [5] has 5");
    assert_says(wnnGraphComputeSized(g, 1, &(WNNNamedSize){WNN_STR("k"), 5}, 2, in, 1, &out, NULL),
                "\"k\", the graph has no such dimension");
    shapes[0].rank = 2;
    assert_says(wnnGraphComputeShapes(g, 2, shapes, 1, &result), "the graph has [n]");
    assert_says(wnnGraphComputeShapes(g, 2, shapes, 2, &result), "room for 2 outputs, the graph has 1");
    wnnGraphDestroy(g);
    assert_int_equal(wnnGraphCompute(g, 2, in, 1, &out), WNNStatus_InvalidStateError);

    WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    const WNNDimension channels[4] = {{{0}, 0, 0}, {WNN_STR("c"), 0, 0}}, inputs[4] = {{WNN_STR("c"), 0, 0}};
    b = builder_of(c);
    o.groups = 2;
    x = named_input(b, "x", WNNOperandDataType_Float32, 4, channels, (uint32_t[]){1, 0, 1, 1});
    z = named_input(b, "z", WNNOperandDataType_Float32, 4, inputs, (uint32_t[]){0, 1, 1, 1});
    OWNED(compiled) WNNGraph transposed = build_y(b, wnnGraphBuilderConvTranspose2d(b, x, z, &o));
    in[0].byteLength = in[1].byteLength = 4;
    out.byteLength = 8;
    assert_int_equal(wnnGraphCompute(transposed, 2, in, 1, &out), WNNStatus_OperationError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "the 1 channels of input cannot be divided into 2 groups"));
}

/** A name is read as it was given, however long and whatever its characters are. */
TEST(names_stay_as_they_are)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    WNNNamedOperandDescriptor d;
    char name[401] = "a\n\"";

    memset(name + 3, 'n', 397);
    const WNNDimension n = {{name, 400}, 0, 0};
    WNNOperand x = named_input(b, "x", WNNOperandDataType_Float32, 1, &n, NULL);
    assert_string_equal(wnnOperandGetDimensionName(x, 0).data, name);
    OWNED(compiled) WNNGraph g = build_y(b, wnnGraphBuilderNeg(b, x, NULL));
    assert_success(wnnGraphGetOutput(g, 0, &d));
    assert_int_equal(d.descriptor.dimensions->name.length, 400);
    assert_string_equal(d.descriptor.dimensions->name.data, name);
}

/** Sizes whose products overflow are refused before memory is asked for. */
TEST(hostile_sizes_are_refused)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    const WNNDimension n = {WNN_STR("n"), 0, 0};
    WNNOperand x = named_input(b, "x", WNNOperandDataType_Float32, 1, &n, NULL), t = x;

    for (int i = 0; i < 40; i++) /* 2^40 n */
        t = wnnGraphBuilderConcat(b, 2, (WNNOperand[]){t, t}, 0, NULL);
    assert_wrong(b, t, "error operand");
    for (t = x; wnnOperandGetRank(t) < 8;) /* n^8 */
        t = wnnGraphBuilderMul(b, wnnGraphBuilderUnsqueeze(b, t, 1, (uint32_t[]){0}, NULL),
                               wnnGraphBuilderUnsqueeze(b, x, 1, (uint32_t[]){1}, NULL), NULL);
    wnnGraphBuilderClearError(b);
    t = wnnGraphBuilderMatmul(b, wnnGraphBuilderUnsqueeze(b, x, 1, (uint32_t[]){1}, NULL),
                              wnnGraphBuilderUnsqueeze(b, x, 1, (uint32_t[]){0}, NULL), NULL);
    OWNED(compiled) WNNGraph g = build_y(b, t);
    WNNNamedShape in = {WNN_STR("x"), 1, {1u << 20}}, out;
    assert_says(wnnGraphComputeShapes(g, 1, &in, 1, &out), "too many elements");
    in.shape[0] = 0;
    assert_says(wnnGraphComputeShapes(g, 1, &in, 1, &out), "dimension \"n\" is 0");
    in.shape[0] = 1u << 31;
    assert_says(wnnGraphComputeShapes(g, 1, &in, 1, &out), "dimension \"n\" is 2147483648");
}

/* ---- code ---- */

static int count_files(const char *folder)
{
    DIR *d = opendir(folder);
    int count = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/** Returns a mean of convolutions, pools and padding of a picture, next to one of attention over x. */
static WNNGraph mixed_graph(WNNContext c)
{
    enum { CHANNELS = 32, WEIGHTS = CHANNELS * CHANNELS * 9 };
    WNNGraphBuilder b = builder_of(c);
    const WNNDimension dims[4] = {{{NULL, 0}, 0, 0}, {{NULL, 0}, 0, 0}, {WNN_STR("height"), 8, 0}, {WNN_STR("width"), 8, 0}};
    const uint32_t padding[4] = {1, 1, 1, 1}, strides[2] = {2, 2}, window[2] = {3, 3}, edge[4] = {0, 0, 2, 1};
    const WNNOperandDescriptor filter = {WNNOperandDataType_Float32, 4, (uint32_t[]){CHANNELS, CHANNELS, 3, 3}, NULL};
    WNNOperand y = named_input(b, "picture", WNNOperandDataType_Float32, 4, dims, (uint32_t[]){1, CHANNELS, 0, 0});
    WNNConv2dOptions conv = WNN_CONV2D_OPTIONS_INIT;
    WNNPool2dOptions pool = WNN_POOL2D_OPTIONS_INIT;
    const WNNReduceOptions reduce = {.axesCount = 2, .axes = (const uint32_t[]){2, 3}};
    OWNED(memory) float *w = noise(WEIGHTS);

    conv.paddingCount = pool.paddingCount = 4;
    conv.padding = pool.padding = padding;
    y = wnnGraphBuilderRelu(b, wnnGraphBuilderConv2d(b, y, wnnGraphBuilderConstant(b, &filter, w, WEIGHTS * 4), &conv), NULL);
    conv.stridesCount = pool.windowDimensionsCount = 2;
    conv.strides = strides;
    pool.windowDimensions = window;
    y = wnnGraphBuilderConv2d(b, y, wnnGraphBuilderConstant(b, &filter, w, WEIGHTS * 4), &conv);
    y = wnnGraphBuilderAveragePool2d(b, y, &pool);
    y = wnnGraphBuilderPad(b, y, 4, edge, 4, edge, &(WNNPadOptions){.mode = WNNPaddingMode_Edge});
    return build(b, 2,
                 (WNNNamedOperand[]){{WNN_STR("mean"), wnnGraphBuilderReduceMean(b, y, &reduce)},
                                     {WNN_STR("y"), attention(b, make_x(b, NULL))}});
}

/** Code does not depend on sizes: those of a class (rows of several tiles, one picture) share all of it. */
TEST(sizes_share_code)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    const uint32_t sizes[][3] = {{51, 89, 95}, {64, 93, 110}, {57, 101, 87}, {49, 88, 123}, {63, 96, 96}};
    int files = 0;

    o.engine = WNNEngine_Cpu;
    o.cache = WNN_STR(work_folder);
    OWNED(context) WNNContext c = context_with(&o);
    OWNED(compiled) WNNGraph g = mixed_graph(c);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t length = sizes[i][0], height = sizes[i][1], width = sizes[i][2];
        const size_t pixels = (size_t)32 * height * width;
        float *picture = noise(pixels), *x = noise(length * 8), mean[32], y[512];

        assert_success(wnnGraphComputeSized(
            g, 4,
            (WNNNamedSize[]){
                {WNN_STR("batch"), 1}, {WNN_STR("length"), length}, {WNN_STR("height"), height}, {WNN_STR("width"), width}},
            2, (WNNNamedBuffer[]){{WNN_STR("picture"), picture, pixels * 4}, {WNN_STR("x"), x, length * 32}}, 2,
            (WNNNamedBuffer[]){{WNN_STR("mean"), mean, sizeof mean}, {WNN_STR("y"), y, length * 32}}, NULL));
        free(picture);
        free(x);
        assert_true(!i || count_files(work_folder) == files);
        files = count_files(work_folder);
#if !defined(__SANITIZE_ADDRESS__) && defined(__x86_64__) /* other kernels are not kept */
        assert_true(files > 0);
#endif
    }
}

/** Keys that count are all read, also where sizes are so small that loops over others are unrolled; others are not, if their
 * numbers begin at 0.  Many keys share code, however they are divided into blocks. */
TEST(keys_that_count_are_read)
{
    enum { HEADS = 4, DEPTH = 64, MANY = 150, MOST = 168, LAST = 63, UNREAD = 128 };
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.engine = WNNEngine_Cpu;
    o.cache = WNN_STR(work_folder);
    OWNED(context) WNNContext c = context_with(&o);
    WNNGraphBuilder b = builder_of(c);
    int files = 0;
    const WNNDimension dims[4] = {[2] = {WNN_STR("keys"), 1, 0}};
    WNNOperand q = named_input(b, "q", WNNOperandDataType_Float32, 4, NULL, (uint32_t[]){1, HEADS, 1, DEPTH});
    WNNOperand at = named_input(b, "at", WNNOperandDataType_Int64, 1, NULL, (uint32_t[]){1});
    const WNNOperandDescriptor cache = {WNNOperandDataType_Float32, 4, (uint32_t[]){1, HEADS, 0, DEPTH}, dims};
    static float zeros[HEADS * DEPTH], values[2][HEADS * MOST * DEPTH], y[2 * HEADS * DEPTH];
    WNNOperand both[] = {attend(b, q, wnnGraphBuilderInput(b, WNN_STR("k"), &cache), at, 0),
                         attend(b, q, wnnGraphBuilderInput(b, WNN_STR("v"), &cache), at, -1)};
    OWNED(compiled) WNNGraph g = build_y(b, wnnGraphBuilderConcat(b, 2, both, 0, NULL));
    for (uint32_t keys = 3; keys <= MOST; keys += keys < 12 ? 1 : keys < MANY ? MANY - 12 : 6) {
        const size_t bytes = HEADS * DEPTH * keys * sizeof(float);
        int64_t last = LAST;
        const WNNNamedBuffer in[] = {{WNN_STR("q"), zeros, sizeof zeros},
                                     {WNN_STR("at"), &last, sizeof last},
                                     {WNN_STR("k"), values[1], bytes},
                                     {WNN_STR("v"), values[0], bytes}};

        for (size_t i = 0; i < bytes / sizeof(float); i++) {
            values[0][i] = (float)(i / DEPTH % keys) + 1; /* the mean of 1 to keys, as all weights are equal */
            values[1][i] = i / DEPTH % keys < UNREAD ? values[0][i] : NAN;
        }
        assert_success(wnnGraphCompute(g, 4, in, 1, &(WNNNamedBuffer){WNN_STR("y"), y, sizeof y}));
        for (int i = 0; i < 2 * HEADS * DEPTH; i++)
            assert_close(y[i], ((keys > LAST ? LAST + 1 + i / (HEADS * DEPTH) : (int)keys) + 1.0) / 2, 1e-4);
        assert_true(keys <= MANY || count_files(work_folder) == files);
        files = count_files(work_folder);
    }
}

/* ---- files ---- */

/** A file has the graph with its names, and the code of the sizes that it was used with: those need no code generator. */
TEST(files_have_names_and_code)
{
    const WNNNamedSize sizes[] = {{WNN_STR("batch"), 2}, {WNN_STR("length"), 20}};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNNamedOperandDescriptor d;
    WNNGraph variant, loaded;

    o.engine = WNNEngine_Cpu;
    o.cache = WNN_STR("off");
    WNNContext c = context_with(&o);
    WNNGraphBuilder b = builder_of(c);
    WNNGraph g = build_y(b, attention(b, make_x(b, NULL)));
    assert_success(wnnGraphGetVariant(g, 2, sizes, &variant));
    assert_success(wnnGraphSave(g, "named.wnn"));
    wnnGraphRelease(variant);
    wnnGraphRelease(g);
    b = builder_of(c);
    g = build_y(b, recurrences(b, make_x(b, NULL)));
    assert_int_equal(wnnGraphSave(g, "loop.wnn"), WNNStatus_NotSupportedError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "its loop [loop] cannot be saved with named dimensions"));
    release_graph(c, g);

    c = context_with(&o);
    assert_success(wnnContextLoadGraph(c, "named.wnn", &loaded));
    assert_success(wnnGraphGetVariant(loaded, 2, sizes, &variant));
#if !defined(__SANITIZE_ADDRESS__) && defined(__x86_64__) /* other kernels are not kept */
    assert_null(cpu_of(c->engine)->codegen);
#endif
    wnnGraphRelease(variant);
    assert_success(wnnGraphSave(loaded, "named.wnn")); /* which replaces the file that this one is mapped from */
    assert_same_bits(c, loaded, attention, 2, 20);
    assert_same_bits(c, loaded, attention, 1, 64);
    assert_success(wnnGraphGetInput(loaded, 0, &d));
    assert_int_equal(d.descriptor.dimensions[1].maxSize, 64);
    assert_string_equal(d.descriptor.dimensions[1].name.data, "length");
    assert_false(d.descriptor.dimensions[2].name.data || d.descriptor.shape[2] != 8);
    release_graph(c, loaded);
}

/* ---- threads ---- */

static void *compute_sizes(void *user)
{
    WNNGraph g = user;

    for (uint32_t i = 0; i < 24 && g; i++) {
        const uint32_t length = 1 + i * 5 % 12;
        const size_t bytes = length * 8 * sizeof(float);
        float *x = noise(length * 8), y[96];

        if (wnnGraphComputeSized(g, 1, &(WNNNamedSize){WNN_STR("batch"), 1}, 1, &(WNNNamedBuffer){WNN_STR("x"), x, bytes}, 1,
                                 &(WNNNamedBuffer){WNN_STR("y"), y, bytes}, NULL))
            g = NULL;
        free(x);
    }
    return g;
}

/* Under sanitizers a variant that kept no context would show. */
TEST(a_variant_outlives_all_else)
{
    const WNNNamedSize sizes[] = {{WNN_STR("batch"), 2}, {WNN_STR("length"), 3}};
    float x[48] = {-1, 2}, y[48];
    const WNNNamedBuffer in = {WNN_STR("x"), x, sizeof x}, out = {WNN_STR("y"), y, sizeof y};
    WNNNamedOperand output = {WNN_STR("y"), NULL};
    WNNGraphBuilder b;
    WNNContext own;
    WNNGraph open, again;
    OWNED(compiled) WNNGraph variant = NULL;
    WNNSize size;

    assert_int_equal(wnnCreateContext(NULL, &own), WNNStatus_Success);
    assert_int_equal(wnnContextCreateGraphBuilder(own, &b), WNNStatus_Success);
    output.operand = wnnGraphBuilderRelu(b, make_x(b, NULL), NULL);
    assert_true(wnnOperandGetDimension(output.operand, 1, &size) && size.expression && size.least == 1 && size.most == 64);
    assert_true(wnnOperandGetDimension(output.operand, 2, &size) && !size.expression && size.least == 8);
    assert_false(wnnOperandGetDimension(output.operand, 3, &size) || wnnOperandGetElement(output.operand, 0, &size));
    assert_int_equal(wnnGraphBuilderBuild(b, 1, &output, &open), WNNStatus_Success);
    assert_int_equal(wnnGraphGetVariant(open, 1, sizes, &variant), WNNStatus_TypeError);
    assert_null(variant);
    assert_int_equal(wnnGraphGetVariant(open, 2, sizes, &variant), WNNStatus_Success);
    assert_int_equal(wnnGraphGetVariant(variant, 0, NULL, &again), WNNStatus_Success);
    assert_ptr_equal(variant, again);
    wnnGraphRelease(again);
    wnnGraphRelease(open);
    wnnGraphBuilderRelease(b);
    wnnContextRelease(own);
    assert_int_equal(wnnGraphCompute(variant, 1, &in, 1, &out), WNNStatus_Success);
    assert_true(y[0] == 0 && y[1] == 2);
}

TEST(threads_share_variants)
{
    OWNED(context) WNNContext c = context_with(NULL);
    WNNGraphBuilder b = builder_of(c);
    OWNED(compiled) WNNGraph g = build_y(b, attention(b, make_x(b, NULL)));
    WNNGraphVariantCounts counts;
    pthread_t threads[4];
    void *ok;

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute_sizes, g), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &ok);
        assert_ptr_equal(ok, g);
    }
    wnnGraphGetVariantCounts(g, &counts);
    assert_true(counts.built == 12 && counts.built + counts.found == 4 * 24);
}

TEST_GROUP(enter_folder, leave_folder)
