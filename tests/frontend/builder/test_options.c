/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Option structs of other versions than the library's, and zeroed ones: what they mean, and which are refused.
 */
#include "frontend/builder/builder_support.h"

/* What a later version's struct may look like. */
struct later_gemm {
    WNNGemmOptions known;
    uint64_t added[2];
};

static void expect_refused(struct fixture *f, WNNOperand result, const char *const *texts, size_t count)
{
    WNNStringView message;

    assert_non_null(result);
    assert_int_equal(wnnGraphBuilderGetError(f->b, &message), WNNStatus_TypeError);
    for (size_t i = 0; i < count; i++)
        if (!strstr(message.data, texts[i]))
            fail_msg("the message is \"%s\", expected \"%s\" in it", message.data, texts[i]);
    wnnGraphBuilderClearError(f->b);
}

#define REFUSED(f, call, ...)                                                                                                  \
    expect_refused(f, call, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static const WNNGemmOptions *built_options(WNNOperand result)
{
    return result->value->producer->options;
}

/** Where zero is a value of its own and the default is another, a zeroed struct is refused with the macro's name. */
TEST(ambiguous_zeros_are_refused)
{
    WNNOperand a, image, vector;

    a = floats(f.b, "a", SHAPE(3, 3));
    image = floats(f.b, "image", SHAPE(1, 2, 4, 4));
    vector = floats(f.b, "vector", SHAPE(2));
    REFUSED(&f, wnnGraphBuilderGemm(f.b, a, a, &(WNNGemmOptions){.label = WNN_STR("head"), .bTranspose = true}), "gemm [head]",
            "alpha is 0", "WNN_GEMM_OPTIONS_INIT");
    REFUSED(&f, wnnGraphBuilderGemm(f.b, a, a, &(WNNGemmOptions){.alpha = 2}), "beta is 0", "WNN_GEMM_OPTIONS_INIT");
    REFUSED(&f, wnnGraphBuilderElu(f.b, a, &(WNNEluOptions){0}), "alpha is 0", "WNN_ELU_OPTIONS_INIT");
    REFUSED(&f, wnnGraphBuilderTriangular(f.b, a, &(WNNTriangularOptions){.diagonal = 1}), "upper is false",
            "WNN_TRIANGULAR_OPTIONS_INIT");
    REFUSED(&f, wnnGraphBuilderBatchNormalization(f.b, image, vector, vector, &(WNNBatchNormalizationOptions){.axis = 1}),
            "epsilon is 0", "WNN_BATCH_NORMALIZATION_OPTIONS_INIT");
    REFUSED(&f, wnnGraphBuilderBatchNormalization(f.b, image, vector, vector, &(WNNBatchNormalizationOptions){.epsilon = 1e-5}),
            "axis is 0", "WNN_BATCH_NORMALIZATION_OPTIONS_INIT");
}

/** Where zero is the default, or no value, a zeroed struct means the default. */
TEST(zeros_are_defaults)
{
    WNNOperand a, image, filter, y;

    a = floats(f.b, "a", SHAPE(3, 3));
    image = floats(f.b, "image", SHAPE(1, 2, 4, 4));
    filter = floats(f.b, "filter", SHAPE(5, 2, 3, 3));
    y = wnnGraphBuilderConv2d(f.b, image, filter, &(WNNConv2dOptions){0});
    assert_int_equal(((const WNNConv2dOptions *)(const void *)built_options(y))->groups, 1);
    y = wnnGraphBuilderArgMax(f.b, a, 1, &(WNNArgMinMaxOptions){.keepDimensions = true});
    assert_int_equal(((const WNNArgMinMaxOptions *)(const void *)built_options(y))->outputDataType, WNNOperandDataType_Int32);
    y = wnnGraphBuilderPad(f.b, a, 2, (uint32_t[]){1, 1}, 2, (uint32_t[]){0, 0}, &(WNNPadOptions){0});
    assert_int_equal(((const WNNPadOptions *)(const void *)built_options(y))->value.type, WNNNumberType_Float64);
    y = wnnGraphBuilderGather(f.b, a, wnnGraphBuilderCast(f.b, y, WNNOperandDataType_Int32, NULL),
                              &(WNNGatherOptions){.axis = 1});
    assert_int_equal(((const WNNGatherOptions *)(const void *)built_options(y))->axis, 1);
    y = wnnGraphBuilderGemm(f.b, a, a, &(WNNGemmOptions){.alpha = 2, .beta = 3});
    assert_true(built_options(y)->alpha == 2 && built_options(y)->beta == 3);
    assert_int_equal(wnnGraphBuilderGetError(f.b, NULL), WNNStatus_Success);
}

/** With a structSize every member says what it says. */
TEST(sizes_make_zeros_explicit)
{
    WNNGemmOptions options = WNN_GEMM_OPTIONS_INIT;

    WNNOperand a = floats(f.b, "a", SHAPE(3, 3));
    options.alpha = 0;
    assert_true(built_options(wnnGraphBuilderGemm(f.b, a, a, &options))->alpha == 0);
    assert_true(built_options(wnnGraphBuilderGemm(f.b, a, a, &options))->beta == 1);
    assert_int_equal(wnnGraphBuilderGetError(f.b, NULL), WNNStatus_Success);
}

/** A program that is newer than the library runs as long as it uses nothing that the library lacks. */
TEST(later_versions_are_read)
{
    struct later_gemm later = {.known = WNN_GEMM_OPTIONS_INIT};
    WNNGemmOptions options = WNN_GEMM_OPTIONS_INIT;

    WNNOperand a = floats(f.b, "a", SHAPE(3, 3));
    later.known.structSize = sizeof later;
    later.known.alpha = 5;
    assert_true(built_options(wnnGraphBuilderGemm(f.b, a, a, &later.known))->alpha == 5);
    later.added[1] = 1;
    REFUSED(&f, wnnGraphBuilderGemm(f.b, a, a, &later.known), "gemm", "structSize", "webnn.h");
    options.structSize = 4;
    REFUSED(&f, wnnGraphBuilderGemm(f.b, a, a, &options), "gemm", "structSize is 4", "WNN_GEMM_OPTIONS_INIT");
}

TEST_EACH(start_each, finish_each)
