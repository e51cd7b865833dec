/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Validation of single operators where the public suite does not look: defaults that are filled in, limits of computed sizes,
 * overflows, what messages say, and the places where the specification's text slips (so that they are not "fixed" back).
 */
#include <float.h>

#include "frontend/builder/builder.h"
#include "frontend/fake_builder.h"
#include "support/test.h"

#define F32 WNNOperandDataType_Float32
#define MAX_U32 UINT32_MAX

static int input_number;

#define LIST(...)                                                                                                              \
    sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[])                                                                        \
    {                                                                                                                          \
        __VA_ARGS__                                                                                                            \
    }
/* For option structs, where the list has to stay. */
#define SET(options, member, ...)                                                                                              \
    do {                                                                                                                       \
        static const uint32_t list_[] = {__VA_ARGS__};                                                                         \
        (options).member = list_;                                                                                              \
        (options).member##Count = sizeof(list_) / sizeof(list_[0]);                                                            \
    } while (0)

static WNNOperand in(WNNOperandDataType type, size_t rank, const uint32_t *shape)
{
    char name[16];

    snprintf(name, sizeof(name), "i%d", input_number++);
    WNNOperand operand = wnnGraphBuilderInput(b, WNN_STR(name), &(WNNOperandDescriptor){type, rank, shape, NULL});
    assert_false(wnnOperandIsError(operand));
    return operand;
}
#define IN(...) in(F32, LIST(__VA_ARGS__))
#define SCALAR() in(F32, 0, NULL)

static void accepted(WNNOperand operand, size_t rank, const uint32_t *shape)
{
    if (wnnOperandIsError(operand))
        fail_msg("refused: %s", wnnGetLastErrorMessage().data);
    assert_int_equal(wnnOperandGetRank(operand), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(wnnOperandGetShape(operand)[i], shape[i]);
}
#define ACCEPTED(operand, ...) accepted(operand, LIST(__VA_ARGS__))

static void refused(WNNOperand operand, const char *message)
{
    assert_true(wnnOperandIsError(operand));
    assert_string_equal(wnnGetLastErrorMessage().data, message);
}

/* The newest node's options. */
#define OPTIONS(T) NODE_OPTIONS(b->graph->last, T)

static void same_list(size_t count, const uint32_t *list, size_t wanted, const uint32_t *values)
{
    assert_non_null(list);
    assert_int_equal(count, wanted);
    assert_memory_equal(list, values, wanted * sizeof(*values));
}
#define HAS(options, member, ...) same_list((options)->member##Count, (options)->member, LIST(__VA_ARGS__))

/* ---- defaults ---- */

TEST(fills_in_lists)
{
    WNNOperand x = IN(2, 3, 8, 9), outputs[3];

    ACCEPTED(wnnGraphBuilderConv2d(b, x, IN(4, 3, 3, 2), NULL), 2, 4, 6, 8);
    const WNNConv2dOptions *c = OPTIONS(WNNConv2dOptions);
    HAS(c, padding, 0, 0, 0, 0);
    HAS(c, strides, 1, 1);
    HAS(c, dilations, 1, 1);
    ACCEPTED(wnnGraphBuilderConvTranspose2d(b, x, IN(3, 4, 3, 2), NULL), 2, 4, 10, 10);
    const WNNConvTranspose2dOptions *t = OPTIONS(WNNConvTranspose2dOptions);
    HAS(t, padding, 0, 0, 0, 0);
    HAS(t, strides, 1, 1);
    HAS(t, dilations, 1, 1);
    HAS(t, outputPadding, 0, 0);
    assert_null(t->outputSizes);
    ACCEPTED(wnnGraphBuilderMaxPool2d(b, x, NULL), 2, 3, 1, 1);
    const WNNPool2dOptions *p = OPTIONS(WNNPool2dOptions);
    HAS(p, windowDimensions, 8, 9);
    HAS(p, padding, 0, 0, 0, 0);
    HAS(p, strides, 1, 1);
    HAS(p, dilations, 1, 1);
    assert_false(wnnOperandIsError(wnnGraphBuilderTranspose(b, x, NULL)));
    HAS(OPTIONS(WNNTransposeOptions), permutation, 3, 2, 1, 0);
    assert_false(wnnOperandIsError(wnnGraphBuilderReverse(b, x, NULL)));
    HAS(OPTIONS(WNNReverseOptions), axes, 0, 1, 2, 3);
    assert_false(wnnOperandIsError(wnnGraphBuilderReduceSum(b, x, NULL)));
    HAS(OPTIONS(WNNReduceOptions), axes, 0, 1, 2, 3);
    assert_false(wnnOperandIsError(wnnGraphBuilderLayerNormalization(b, x, NULL)));
    HAS(OPTIONS(WNNLayerNormalizationOptions), axes, 1, 2, 3);
    assert_false(wnnOperandIsError(wnnGraphBuilderSlice(b, x, LIST(0, 0, 0, 0), LIST(1, 1, 1, 1), NULL)));
    HAS(OPTIONS(WNNSliceOptions), strides, 1, 1, 1, 1);
    assert_false(wnnOperandIsError(wnnGraphBuilderResample2d(b, x, NULL)));
    HAS(OPTIONS(WNNResample2dOptions), axes, 2, 3);
    HAS(OPTIONS(WNNResample2dOptions), sizes, 8, 9);
    assert_int_equal(wnnGraphBuilderSplitEqual(b, x, 2, NULL, outputs), WNNStatus_Success);
    assert_int_equal(b->graph->last->args.split.splitsCount, 2);
    assert_int_equal(b->graph->last->args.split.splits[1], 1);
    assert_int_equal(b->graph->last->args.split.equal, 0);
    assert_success(wnnGraphBuilderLstmCell(b, IN(2, 3), IN(16, 3), IN(16, 4), IN(2, 4), IN(2, 4), 4, NULL, outputs));
    assert_int_equal(OPTIONS(WNNLstmCellOptions)->activationsCount, 3);
    assert_int_equal(OPTIONS(WNNLstmCellOptions)->activations[0], WNNRecurrentNetworkActivation_Sigmoid);
    assert_int_equal(OPTIONS(WNNLstmCellOptions)->activations[2], WNNRecurrentNetworkActivation_Tanh);
    /* On a scalar the defaults are present and empty. */
    assert_false(wnnOperandIsError(wnnGraphBuilderReduceMean(b, SCALAR(), NULL)));
    same_list(OPTIONS(WNNReduceOptions)->axesCount, OPTIONS(WNNReduceOptions)->axes, 0, (uint32_t[]){0});
    assert_false(wnnOperandIsError(wnnGraphBuilderTranspose(b, SCALAR(), NULL)));
    same_list(OPTIONS(WNNTransposeOptions)->permutationCount, OPTIONS(WNNTransposeOptions)->permutation, 0, (uint32_t[]){0});
}

TEST(tells_absent_from_empty)
{
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
    WNNLayerNormalizationOptions n = WNN_LAYER_NORMALIZATION_OPTIONS_INIT;
    uint32_t none;

    o.axes = n.axes = &none;
    ACCEPTED(wnnGraphBuilderReduceSum(b, IN(2, 3), &o), 2, 3); /* no dimension is reduced */
    n.scale = SCALAR();
    ACCEPTED(wnnGraphBuilderLayerNormalization(b, IN(2, 3), &n), 2, 3);
}

TEST(casts_numbers)
{
    WNNEluOptions elu = WNN_ELU_OPTIONS_INIT;
    WNNClampOptions clamp = WNN_CLAMP_OPTIONS_INIT;
    WNNPadOptions pad = WNN_PAD_OPTIONS_INIT;
    WNNOperand u8 = in(WNNOperandDataType_Uint8, LIST(2)), i64 = in(WNNOperandDataType_Int64, LIST(2));
    WNNOperand f16 = in(WNNOperandDataType_Float16, LIST(2)), u64 = in(WNNOperandDataType_Uint64, LIST(2));

    elu.alpha = 0.1;
    assert_false(wnnOperandIsError(wnnGraphBuilderElu(b, IN(2), &elu)));
    assert_true(OPTIONS(WNNEluOptions)->alpha == (double)0.1f);
    assert_false(wnnOperandIsError(wnnGraphBuilderElu(b, f16, &elu)));
    assert_true(OPTIONS(WNNEluOptions)->alpha == 0x1.998p-4);
    /* No bound is no clamping: the specification's text has the defaults exchanged. */
    assert_false(wnnOperandIsError(wnnGraphBuilderClamp(b, u8, NULL)));
    assert_int_equal(OPTIONS(WNNClampOptions)->minValue.value.int64, 0);
    assert_int_equal(OPTIONS(WNNClampOptions)->maxValue.value.int64, 255);
    assert_false(wnnOperandIsError(wnnGraphBuilderClamp(b, f16, NULL)));
    assert_true(OPTIONS(WNNClampOptions)->minValue.value.float64 == -__builtin_inf());
    assert_true(OPTIONS(WNNClampOptions)->maxValue.value.float64 == __builtin_inf());
    assert_false(wnnOperandIsError(wnnGraphBuilderClamp(b, u64, NULL)));
    assert_true(OPTIONS(WNNClampOptions)->maxValue.value.uint64 == UINT64_MAX);
    clamp.minValue = wnnNumberInt64(INT64_MAX - 1); /* no double holds it */
    clamp.maxValue = wnnNumberUint64((uint64_t)INT64_MAX + 5);
    assert_false(wnnOperandIsError(wnnGraphBuilderClamp(b, i64, &clamp)));
    assert_true(OPTIONS(WNNClampOptions)->minValue.value.int64 == INT64_MAX - 1);
    assert_true(OPTIONS(WNNClampOptions)->maxValue.value.int64 == INT64_MAX);
    clamp.maxValue = wnnNumberInt64(INT64_MAX - 2);
    refused(wnnGraphBuilderClamp(b, i64, &clamp),
            "clamp: minValue 9223372036854775806 is greater than maxValue 9223372036854775805");
    clamp.minValue = wnnNumber(300); /* both 255 in the end */
    clamp.maxValue = wnnNumber(256);
    assert_false(wnnOperandIsError(wnnGraphBuilderClamp(b, u8, &clamp)));
    clamp.maxValue = wnnNumber(1);
    refused(wnnGraphBuilderClamp(b, f16, &clamp), "clamp: minValue 300 is greater than maxValue 1");
    pad.value = wnnNumber(3.7);
    assert_false(wnnOperandIsError(wnnGraphBuilderPad(b, i64, LIST(1), LIST(1), &pad)));
    assert_int_equal(OPTIONS(WNNPadOptions)->value.value.int64, 4);
}

/* ---- sizes ---- */

TEST(convolution_sizes)
{
    WNNConv2dOptions c = WNN_CONV2D_OPTIONS_INIT;
    WNNConvTranspose2dOptions t = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    WNNOperand x = IN(1, 1, 5, 5), w = IN(1, 1, 3, 3);

    SET(c, dilations, MAX_U32, MAX_U32);
    refused(wnnGraphBuilderConv2d(b, x, w, &c), "conv2d: the output height would be -8589934585, not from 1 to 2147483647");
    SET(c, padding, MAX_U32, MAX_U32, MAX_U32, MAX_U32); /* just as large: one filter position */
    ACCEPTED(wnnGraphBuilderConv2d(b, x, w, &c), 1, 1, 5, 5);
    SET(c, dilations, 1, 1);
    refused(wnnGraphBuilderConv2d(b, x, w, &c), "conv2d: the output height would be 8589934593, not from 1 to 2147483647");
    SET(c, strides, MAX_U32, MAX_U32);
    ACCEPTED(wnnGraphBuilderConv2d(b, x, w, &c), 1, 1, 3, 3);
    SET(c, strides, 0, 1);
    refused(wnnGraphBuilderConv2d(b, x, w, &c), "conv2d: strides[0] is 0");
    SET(c, padding, 1, 2, 3);
    refused(wnnGraphBuilderConv2d(b, x, w, &c), "conv2d: padding has 3 items, not 4");
    c = WNN_CONV2D_OPTIONS_INIT;
    c.groups = 2;
    refused(wnnGraphBuilderConv2d(b, IN(1, 4, 5, 5), IN(2, 3, 3, 3), &c),
            "conv2d: filter has 3 input channels, the 4 channels of input in groups=2 ask for 2");
    c.bias = IN(3);
    refused(wnnGraphBuilderConv2d(b, IN(1, 4, 5, 5), IN(2, 2, 3, 3), &c), "conv2d: the shape of bias is [3], not [2]");

    SET(t, strides, MAX_U32, 1);
    refused(wnnGraphBuilderConvTranspose2d(b, x, w, &t),
            "convTranspose2d: the output height would be 17179869183, not from 1 to 2147483647");
    SET(t, strides, 2, 3);
    SET(t, outputPadding, 1, 3);
    refused(wnnGraphBuilderConvTranspose2d(b, x, w, &t), "convTranspose2d: outputPadding[1] is 3, not less than strides[1], 3");
    SET(t, outputPadding, 1, 2);
    ACCEPTED(wnnGraphBuilderConvTranspose2d(b, x, w, &t), 1, 1, 12, 17);
    SET(t, outputSizes, 12, 17); /* replaces the output padding */
    ACCEPTED(wnnGraphBuilderConvTranspose2d(b, x, w, &t), 1, 1, 12, 17);
    SET(t, outputSizes, 11, 18);
    refused(wnnGraphBuilderConvTranspose2d(b, x, w, &t), "convTranspose2d: the width in outputSizes is 18, not from 15 to 17");
    t = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    SET(t, padding, 4, 4, 0, 0);
    refused(wnnGraphBuilderConvTranspose2d(b, x, w, &t),
            "convTranspose2d: the output height would be -1, not from 1 to 2147483647");
    t = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    t.groups = MAX_U32;
    refused(wnnGraphBuilderConvTranspose2d(b, x, w, &t),
            "convTranspose2d: the number of output channels would be 4294967295, not from 1 to 2147483647");
}

/* Where the text makes the padding zero, the suite applies it; and sizes need not be smaller than the strides. */
TEST(pooling_with_padding_and_output_sizes)
{
    WNNPool2dOptions p = WNN_POOL2D_OPTIONS_INIT;
    WNNOperand x = IN(1, 3, 7, 7);

    SET(p, windowDimensions, 4, 4);
    SET(p, padding, 1, 1, 1, 1);
    SET(p, strides, 2, 2);
    ACCEPTED(wnnGraphBuilderAveragePool2d(b, x, &p), 1, 3, 3, 3);
    p.outputShapeRounding = WNNRoundingType_Ceil;
    ACCEPTED(wnnGraphBuilderAveragePool2d(b, x, &p), 1, 3, 4, 4);
    SET(p, outputSizes, 3, 3);
    ACCEPTED(wnnGraphBuilderAveragePool2d(b, x, &p), 1, 3, 3, 3);
    HAS(OPTIONS(WNNPool2dOptions), padding, 1, 1, 1, 1);
    SET(p, outputSizes, 4, 4);
    ACCEPTED(wnnGraphBuilderAveragePool2d(b, x, &p), 1, 3, 4, 4);
    SET(p, outputSizes, 3, 4); /* one rounded down, the other up */
    refused(wnnGraphBuilderAveragePool2d(b, x, &p),
            "averagePool2d: outputSizes is [3, 4], neither [3, 3] (rounded down) nor [4, 4] (rounded up)");
    p = WNN_POOL2D_OPTIONS_INIT;
    SET(p, windowDimensions, 8, 1);
    refused(wnnGraphBuilderMaxPool2d(b, x, &p), "maxPool2d: the output height would be 0, not from 1 to 2147483647");
    p.layout = WNNInputOperandLayout_Nhwc;
    SET(p, windowDimensions, 3, 7);
    ACCEPTED(wnnGraphBuilderMaxPool2d(b, x, &p), 1, 1, 1, 7);
}

/* Any two axes in any order: the suite has [3, 2] and [0, 2]. */
TEST(resample_axes)
{
    WNNResample2dOptions r = WNN_RESAMPLE2D_OPTIONS_INIT;
    WNNOperand x = IN(1, 2, 3, 4);
    static const float scales[2] = {2.5f, 0.5f}, tiny[2] = {0.25f, 1.0f}, huge[2] = {FLT_MAX, 1.0f},
                       negative[2] = {-1.0f, 1.0f};

    SET(r, axes, 3, 2);
    SET(r, sizes, 8, 9);
    ACCEPTED(wnnGraphBuilderResample2d(b, x, &r), 1, 2, 9, 8);
    SET(r, axes, 0, 2);
    ACCEPTED(wnnGraphBuilderResample2d(b, x, &r), 8, 2, 9, 4);
    SET(r, axes, 2, 2);
    refused(wnnGraphBuilderResample2d(b, x, &r), "resample2d: axes contains 2 more than once");
    SET(r, axes, 2, 4);
    refused(wnnGraphBuilderResample2d(b, x, &r), "resample2d: axes[1] is 4, input has rank 4");
    SET(r, axes, 1, 2, 3);
    refused(wnnGraphBuilderResample2d(b, x, &r), "resample2d: axes has 3 items, not 2");
    r = WNN_RESAMPLE2D_OPTIONS_INIT;
    r.scalesCount = 2;
    r.scales = scales;
    ACCEPTED(wnnGraphBuilderResample2d(b, x, &r), 1, 2, 7, 2);
    HAS(OPTIONS(WNNResample2dOptions), sizes, 7, 2);
    r.scales = tiny;
    refused(wnnGraphBuilderResample2d(b, x, &r), "resample2d: a resampled dimension would be 0, not from 1 to 2147483647");
    r.scales = huge;
    refused(wnnGraphBuilderResample2d(b, x, &r), "resample2d: a resampled dimension would exceed 2147483647");
    r.scales = negative;
    refused(wnnGraphBuilderResample2d(b, x, &r), "resample2d: scales[0] is -1, not greater than 0");
}

/* No step of the specification checks them, but the limit of 2^31-1 elements holds for computed operands, too. */
TEST(computed_sizes_are_limited)
{
    WNNOperand big = IN(1 << 16, 1 << 14), x = IN(1), wide = in(F32, LIST(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2));
    WNNOperand indices = in(WNNOperandDataType_Int32, LIST(1 << 14)), pair[2] = {big, big};
    WNNPadOptions pad = WNN_PAD_OPTIONS_INIT;

    assert_true(wnnOperandIsError(wnnGraphBuilderExpand(b, x, LIST(65536, 65536), NULL)));
    assert_true(wnnOperandIsError(wnnGraphBuilderExpand(b, x, LIST(0), NULL)));
    assert_true(wnnOperandIsError(wnnGraphBuilderExpand(b, x, LIST(MAX_U32), NULL)));
    assert_true(wnnOperandIsError(wnnGraphBuilderTile(b, big, LIST(1, 2), NULL)));
    refused(wnnGraphBuilderTile(b, big, LIST(MAX_U32, 2), NULL),
            "tile: a repeated dimension would be 281474976645120, not from 1 to 2147483647");
    assert_true(wnnOperandIsError(wnnGraphBuilderGather(b, big, in(WNNOperandDataType_Int32, LIST(1 << 16, 2)), NULL)));
    assert_true(wnnOperandIsError(wnnGraphBuilderPad(b, big, LIST(0, 1 << 14), LIST(0, 0), NULL)));
    assert_true(wnnOperandIsError(wnnGraphBuilderMatmul(b, IN(65536, 1), IN(1, 65536), NULL)));
    assert_true(wnnOperandIsError(wnnGraphBuilderAdd(b, IN(65536, 1), IN(1, 65536), NULL)));
    assert_true(wnnOperandIsError(wnnGraphBuilderConcat(b, 2, pair, 1, NULL)));
    refused(wnnGraphBuilderPad(b, x, LIST(MAX_U32), LIST(MAX_U32), &pad),
            "pad: a padded dimension would be 8589934591, not from 1 to 2147483647");
    pad.mode = WNNPaddingMode_Reflection;
    refused(wnnGraphBuilderPad(b, x, LIST(0), LIST(1), &pad),
            "pad: endingPadding[0] is 1, reflection of dimension 0 of input allows less than 1");
    /* and that of the rank */
    refused(wnnGraphBuilderReshape(b, x, LIST(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), NULL),
            "reshape: newShape has 13 items, more than the 12 that are possible");
    refused(wnnGraphBuilderGather(b, wide, in(WNNOperandDataType_Int32, LIST(1, 1)), NULL),
            "gather: the rank of output would be 13, the largest supported is 12");
    refused(wnnGraphBuilderGatherND(b, wide, in(WNNOperandDataType_Int32, LIST(1, 1, 1)), NULL),
            "gatherND: the rank of output would be 13, the largest supported is 12");
    ACCEPTED(wnnGraphBuilderGather(b, IN(3, 2), indices, NULL), 1 << 14, 2);
}

TEST(reshape_counts_elements)
{
    WNNOperand x = IN(2, 3);

    ACCEPTED(wnnGraphBuilderReshape(b, x, LIST(3, 1, 2), NULL), 3, 1, 2);
    refused(wnnGraphBuilderReshape(b, x, LIST(3, 3), NULL), "reshape: newShape [3, 3] has 9 elements, input [2, 3] has 6");
    refused(wnnGraphBuilderReshape(b, x, 0, NULL, NULL), "reshape: newShape [] has 1 elements, input [2, 3] has 6");
    /* 2^64 + 6 would pass, were it not for the check of overflow */
    assert_true(wnnOperandIsError(wnnGraphBuilderReshape(b, x, LIST(1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30), NULL)));
    refused(wnnGraphBuilderReshape(b, x, LIST(6, 0), NULL), "reshape: newShape[1] is 0, not from 1 to 2147483647");
    accepted(wnnGraphBuilderReshape(b, IN(1, 1), 0, NULL, NULL), 0, NULL);
}

TEST(slice_windows)
{
    WNNSliceOptions s = WNN_SLICE_OPTIONS_INIT;
    WNNOperand x = IN(10);

    SET(s, strides, 3);
    ACCEPTED(wnnGraphBuilderSlice(b, x, LIST(0), LIST(10), &s), 4);
    SET(s, strides, MAX_U32);
    ACCEPTED(wnnGraphBuilderSlice(b, x, LIST(9), LIST(1), &s), 1);
    refused(wnnGraphBuilderSlice(b, x, LIST(MAX_U32), LIST(2), NULL),
            "slice: starts[0] + sizes[0] is 4294967297, dimension 0 of input is 10");
    refused(wnnGraphBuilderSlice(b, x, LIST(0), LIST(0), NULL), "slice: sizes[0] is 0");
    refused(wnnGraphBuilderSlice(b, x, LIST(0, 0), LIST(1), NULL), "slice: starts has 2 items, not 1");
    accepted(wnnGraphBuilderSlice(b, SCALAR(), 0, NULL, 0, NULL, NULL), 0, NULL);
}

TEST(split_and_concat_counts)
{
    static WNNOperand operands[8193];
    WNNOperand x = IN(8193), y = IN(8192), one = IN(1);

    assert_int_equal(wnnGraphBuilderSplitEqual(b, y, 8192, NULL, operands), WNNStatus_Success);
    assert_int_equal(wnnOperandGetShape(operands[8191])[0], 1);
    ACCEPTED(wnnGraphBuilderConcat(b, 8192, operands, 0, NULL), 8192);
    assert_int_equal(wnnGraphBuilderSplitEqual(b, x, 8193, NULL, operands), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "split: splits is 8193, not from 1 to 8192");
    for (int i = 0; i < 8193; i++)
        operands[i] = one;
    assert_true(wnnOperandIsError(wnnGraphBuilderConcat(b, 8193, operands, 0, NULL)));
    assert_int_equal(wnnGraphBuilderSplit(b, y, LIST(MAX_U32, MAX_U32, 2), NULL, operands), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "split: the sum of splits is 8589934592, dimension 0 of input is 8192");
    refused(wnnGraphBuilderConcat(b, 2, (WNNOperand[]){IN(2, 5), IN(2, 7)}, 0, NULL),
            "concat: dimension 1 is 7 in inputs[1], 5 in inputs[0]");
    refused(wnnGraphBuilderConcat(b, 2, (WNNOperand[]){IN(2, 5), IN(2)}, 0, NULL),
            "concat: the rank of inputs[1] is 1, that of inputs[0] is 2");
}

TEST(normalization_shapes)
{
    WNNLayerNormalizationOptions n = WNN_LAYER_NORMALIZATION_OPTIONS_INIT;
    WNNInstanceNormalizationOptions i = WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT;
    WNNOperand x = IN(2, 3, 4, 5);

    SET(n, axes, 3, 1); /* scale and bias follow the order of axes */
    n.scale = IN(5, 3);
    ACCEPTED(wnnGraphBuilderLayerNormalization(b, x, &n), 2, 3, 4, 5);
    n.bias = IN(3, 5);
    refused(wnnGraphBuilderLayerNormalization(b, x, &n), "layerNormalization: the shape of bias is [3, 5], not [5, 3]");
    i.scale = IN(3);
    ACCEPTED(wnnGraphBuilderInstanceNormalization(b, x, &i), 2, 3, 4, 5);
    i.layout = WNNInputOperandLayout_Nhwc;
    refused(wnnGraphBuilderInstanceNormalization(b, x, &i), "instanceNormalization: the shape of scale is [3], not [5]");
    refused(wnnGraphBuilderBatchNormalization(b, x, IN(3), IN(4), NULL),
            "batchNormalization: the shape of variance is [4], not [3]");
}

TEST(recurrent_limits)
{
    WNNGruOptions g = WNN_GRU_OPTIONS_INIT;
    static const WNNRecurrentNetworkActivation three[3] = {0};
    WNNOperand x = IN(2, 3, 4), w = IN(1, 15, 4), r = IN(1, 15, 5), outputs[2];

    assert_int_equal(wnnGraphBuilderGru(b, x, w, r, 3, 5, NULL, outputs), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "gru: dimension 0 of input is 2, steps is 3");
    assert_int_equal(wnnGraphBuilderGru(b, x, w, r, 2, 0, NULL, outputs), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderGru(b, x, w, r, 2, MAX_U32, NULL, outputs), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderGru(b, x, w, r, 2, 4, NULL, outputs), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "gru: the shape of weight is [1, 15, 4], not [1, 12, 4]");
    g.activations = three;
    g.activationsCount = 3;
    assert_int_equal(wnnGraphBuilderGru(b, x, w, r, 2, 5, &g, outputs), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "gru: activations has 3 items, not 2");
    g.activations = NULL;
    g.direction = WNNRecurrentNetworkDirection_Both;
    assert_int_equal(wnnGraphBuilderGru(b, x, w, r, 2, 5, &g, outputs), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "gru: the shape of weight is [1, 15, 4], not [2, 15, 4]");
}

TEST(gather_takes_the_shape_of_indices)
{
    WNNGatherOptions g = WNN_GATHER_OPTIONS_INIT;

    g.axis = 1;
    ACCEPTED(wnnGraphBuilderGatherElements(b, IN(2, 3), in(WNNOperandDataType_Int64, LIST(2, 7)), &g), 2, 7);
    refused(wnnGraphBuilderGatherElements(b, IN(2, 3), in(WNNOperandDataType_Int64, LIST(3, 7)), &g),
            "gatherElements: the shape of indices is [3, 7], not [2, 7]");
    refused(wnnGraphBuilderGatherND(b, IN(2, 3), in(WNNOperandDataType_Int64, LIST(4, 3)), NULL),
            "gatherND: the last dimension of indices is 3, the rank of input is 2");
    refused(wnnGraphBuilderScatterND(b, IN(2, 3), in(WNNOperandDataType_Int64, LIST(4, 1)), IN(4, 2), NULL),
            "scatterND: the shape of updates is [4, 2], not [4, 3]");
}

TEST(blockwise_scales)
{
    WNNOperand x = in(WNNOperandDataType_Int8, LIST(4, 6));
    WNNOperand z = in(WNNOperandDataType_Int8, LIST(2, 3)), bad = in(WNNOperandDataType_Int8, LIST(2, 4));

    ACCEPTED(wnnGraphBuilderDequantizeLinear(b, x, IN(2, 3), z, NULL), 4, 6);
    refused(wnnGraphBuilderDequantizeLinear(b, x, IN(2, 4), bad, NULL),
            "dequantizeLinear: the shape of scale, [2, 4], is not blockwise broadcastable to that of input, [4, 6]");
    refused(wnnGraphBuilderDequantizeLinear(b, x, IN(2, 3), bad, NULL),
            "dequantizeLinear: the shape of zeroPoint is [2, 4], not [2, 3]");
}

/* A call that has been inferred can be inferred again: printed graphs must parse. */
TEST(options_are_idempotent)
{
    struct error e = {0};

    fills_in_lists(state);
    casts_numbers(state);
    graph_for_each (b->graph, n) {
        struct value *inputs[OP_OPERANDS_MAX];

        for (uint32_t i = 0; i < n->input_count; i++)
            inputs[i] = n->inputs[i].value;
        struct node *again = node_create(b->graph, n, n->op, n->label, n->input_count, inputs, n->options, &n->args, &e);
        assert_works(again, &e);
        assert_true(node_same_attrs(n, again));
        assert_int_equal(n->result_count, again->result_count);
        for (uint32_t i = 0; i < n->result_count; i++)
            assert_true(type_equal(&n->results[i]->type, &again->results[i]->type));
    }
    assert_true(graph_verify(b->graph, stderr));
}

TEST(contexts_can_support_less)
{
    WNNOperand x = in(WNNOperandDataType_Float16, LIST(2));

    context.unsupported = DT_BIT(Float16);
    refused(wnnGraphBuilderAbs(b, x, NULL), "abs: input has data type float16, which this context does not support here");
    refused(wnnGraphBuilderCast(b, IN(2), WNNOperandDataType_Float16, NULL),
            "cast: output has data type float16, which this context does not support here");
    ACCEPTED(wnnGraphBuilderAbs(b, IN(2), NULL), 2);
}

/* No program gets values of the types that passes make. */
TEST(types_of_passes_are_for_passes)
{
    const uint32_t shape[] = {2};

    refused(wnnGraphBuilderCast(b, IN(2), DTYPE_BFLOAT16, NULL),
            "cast: output has data type bfloat16, which this context does not support here");
    refused(wnnGraphBuilderInput(b, WNN_STR("x"), &(WNNOperandDescriptor){DTYPE_BFLOAT16, 1, shape, NULL}),
            "input \"x\": bfloat16 is a data type of the draft; create the context with draftDataTypes");
    refused(wnnGraphBuilderCast(b, IN(2), DTYPE_FLOAT64, NULL),
            "cast: output has data type float64, which this context does not support here");
    refused(wnnGraphBuilderInput(b, WNN_STR("x"), &(WNNOperandDescriptor){DTYPE_FLOAT64, 1, shape, NULL}),
            "input \"x\": dataType 12 is not an operand data type");
}

/* But float64, for values inside of a graph. */
TEST(programs_ask_for_float64)
{
    WNNOperand x = wnnGraphBuilderCastToFloat64(b, IN(2), NULL);

    ACCEPTED(wnnGraphBuilderAbs(b, wnnGraphBuilderAdd(b, x, x, NULL), NULL), 2);
    ACCEPTED(wnnGraphBuilderCast(b, x, WNNOperandDataType_Float16, NULL), 2);
    refused(wnnGraphBuilderExp(b, x, NULL), "exp: input has data type float64, allowed are float32, float16");
    refused(wnnGraphBuilderAdd(b, x, IN(2), NULL), "add: b has data type float32, a has float64");
    refused(wnnGraphBuilderCast(b, IN(2), DTYPE_FLOAT64, NULL),
            "cast: output has data type float64, which this context does not support here");
}

TEST_EACH(start, finish)
