/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Context options and tensor descriptors of other versions than the library's, and zeroed ones. */
#include "ir/graph/op.h"
#include "ir/support/struct_size.h"
#include "support/test.h"
#include "webnn/webnn.h"
#include "webnn/webnn_call.h"
#include "webnn/webnn_object.h"
#include "webnn/webnn_rt.h"

static void expect_message(const char *const *texts, size_t count)
{
    const char *message = wnnGetLastErrorMessage().data;

    for (size_t i = 0; i < count; i++)
        if (!strstr(message, texts[i]))
            fail_msg("the message is \"%s\", expected \"%s\" in it", message, texts[i]);
}

#define SAYS(...)                                                                                                              \
    expect_message((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

TEST(context_options_of_other_versions_are_read)
{
    struct {
        WNNContextOptions known;
        uint64_t added;
    } later = {.known = WNN_CONTEXT_OPTIONS_INIT};
    WNNContext c;

    assert_int_equal(wnnCreateContext(&(WNNContextOptions){.threadCount = 1}, &c), WNNStatus_TypeError);
    SAYS("createContext", "accelerated is false", "WNN_CONTEXT_OPTIONS_INIT");
    assert_null(c);
    assert_success(wnnCreateContext(&(WNNContextOptions){.accelerated = true, .precision = WNNPrecision_Bf16}, &c));
    assert_int_equal(wnnContextGetPrecision(c), WNNPrecision_Bf16);
    wnnContextRelease(c);

    later.known.structSize = sizeof later;
    later.known.accelerated = false;
    assert_int_equal(wnnCreateContext(&later.known, &c), WNNStatus_Success);
    assert_false(wnnContextGetAccelerated(c));
    wnnContextRelease(c);
    later.added = 1;
    assert_int_equal(wnnCreateContext(&later.known, &c), WNNStatus_TypeError);
    SAYS("createContext: structSize", "webnn.h");
    later.known.structSize = 8;
    assert_int_equal(wnnCreateContext(&later.known, &c), WNNStatus_TypeError);
    SAYS("createContext: structSize is 8", "WNN_CONTEXT_OPTIONS_INIT");
}

TEST(tensor_descriptors_of_other_versions_are_read)
{
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;
    OWNED(context) WNNContext c = NULL;
    WNNTensor t;

    assert_int_equal(wnnCreateContext(NULL, &c), WNNStatus_Success);
    assert_int_equal(
        wnnContextCreateTensor(c, &(WNNTensorDescriptor){.dataType = WNNOperandDataType_Int8, .readable = true}, &t),
        WNNStatus_Success);
    assert_true(wnnTensorGetReadable(t));
    wnnTensorRelease(t);
    d.structSize = 16;
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_TypeError);
    SAYS("createTensor: descriptor.structSize is 16", "WNN_TENSOR_DESCRIPTOR_INIT");
}

/** The engine is the option's; with Auto the variable's, unless variables are ignored. */
TEST(engines_are_chosen)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    char long_name[200];
    WNNContext c;

    o.engine = 7;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_TypeError);
    SAYS("createContext: engine is 7");
    o.engine = WNNEngine_Gpu;
    o.device = WNN_STR("no device has this name");
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_NotSupportedError);
    SAYS("OpenCL");
    memset(long_name, 'x', sizeof long_name);
    o.device = (WNNStringView){long_name, sizeof long_name};
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_TypeError);
    SAYS("device has 200 bytes");

    o = (WNNContextOptions)WNN_CONTEXT_OPTIONS_INIT;
    setenv("WEBNN_ENGINE", "abacus", 1);
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_TypeError);
    SAYS("WEBNN_ENGINE is \"abacus\"", "gpu:DEVICE");
    o.ignoreEnvironment = true;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    wnnContextRelease(c);
    o.ignoreEnvironment = false;
    o.engine = WNNEngine_Cpu;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    wnnContextRelease(c);
    o.engine = WNNEngine_Auto;
    setenv("WEBNN_ENGINE", "gpu:no device has this name", 1);
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_NotSupportedError);
    unsetenv("WEBNN_ENGINE");
}

/* Every program ever compiled has the first version of a struct, so that these numbers never change, not even when a member is
 * appended. */
TEST(first_versions_stay_as_they_are)
{
    static const struct {
        const char *init;
        size_t first_size;
    } versions[] = {
        {"WNN_OPERATOR_OPTIONS_INIT", 24},
        {"WNN_ARG_MIN_MAX_OPTIONS_INIT", 32},
        {"WNN_BATCH_NORMALIZATION_OPTIONS_INIT", 56},
        {"WNN_CLAMP_OPTIONS_INIT", 56},
        {"WNN_CONV2D_OPTIONS_INIT", 96},
        {"WNN_CONV_TRANSPOSE2D_OPTIONS_INIT", 128},
        {"WNN_CUMULATIVE_SUM_OPTIONS_INIT", 26},
        {"WNN_ELU_OPTIONS_INIT", 32},
        {"WNN_GATHER_OPTIONS_INIT", 28},
        {"WNN_GEMM_OPTIONS_INIT", 50},
        {"WNN_GRU_OPTIONS_INIT", 80},
        {"WNN_GRU_CELL_OPTIONS_INIT", 64},
        {"WNN_HARD_SIGMOID_OPTIONS_INIT", 40},
        {"WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT", 52},
        {"WNN_LAYER_NORMALIZATION_OPTIONS_INIT", 64},
        {"WNN_LEAKY_RELU_OPTIONS_INIT", 32},
        {"WNN_LINEAR_OPTIONS_INIT", 40},
        {"WNN_LSTM_OPTIONS_INIT", 96},
        {"WNN_LSTM_CELL_OPTIONS_INIT", 72},
        {"WNN_PAD_OPTIONS_INIT", 48},
        {"WNN_POOL2D_OPTIONS_INIT", 112},
        {"WNN_REDUCE_OPTIONS_INIT", 41},
        {"WNN_RESAMPLE2D_OPTIONS_INIT", 80},
        {"WNN_REVERSE_OPTIONS_INIT", 40},
        {"WNN_SCATTER_OPTIONS_INIT", 28},
        {"WNN_SLICE_OPTIONS_INIT", 40},
        {"WNN_SPLIT_OPTIONS_INIT", 28},
        {"WNN_TRANSPOSE_OPTIONS_INIT", 40},
        {"WNN_TRIANGULAR_OPTIONS_INIT", 32},
    };
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNTensorDescriptor descriptor = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNContext c;
    WNNTensor t;

    if (sizeof(void *) != 8 || sizeof(size_t) != 8)
        skip();
    for (enum op op = 0; op < OP_COUNT; op++) {
        const struct op_info *info = &op_infos[op];
        size_t i = 0;

        while (i < sizeof versions / sizeof *versions && strcmp(versions[i].init, info->options_init) != 0)
            i++;
        if (i == sizeof versions / sizeof *versions)
            fail_msg("%s begins with %s, whose first size is not in the table", info->name, info->options_init);
        if (info->options_first_size != versions[i].first_size)
            fail_msg("the first version of what %s makes has %d bytes, not %zu", info->options_init, info->options_first_size,
                     versions[i].first_size);
        assert_true(info->options_first_size <= info->options_size);
    }

    /* Objects that were compiled once read as much of their options. */
    assert_int_equal(STRUCT_FIRST_SIZE(struct webnn_object_options, weights), 24);

    options.structSize = 136;
    assert_int_equal(wnnCreateContext(&options, &c), WNNStatus_Success);
    descriptor.dataType = WNNOperandDataType_Int8;
    descriptor.structSize = 34;
    assert_int_equal(wnnContextCreateTensor(c, &descriptor, &t), WNNStatus_Success);
    wnnTensorRelease(t);
    descriptor.structSize = 33;
    assert_int_equal(wnnContextCreateTensor(c, &descriptor, &t), WNNStatus_TypeError);
    SAYS("createTensor: descriptor.structSize is 33, less than the 34 bytes");
    wnnContextRelease(c);
    options.structSize = 135;
    assert_int_equal(wnnCreateContext(&options, &c), WNNStatus_TypeError);
    SAYS("createContext: structSize is 135, less than the 136 bytes");
}

/* Structs without structSize stay as they are (webnn.h): programs have them by value, in arrays and in other structs. */
TEST(structs_without_a_size_are_complete)
{
    if (sizeof(void *) != 8 || sizeof(size_t) != 8)
        skip();
#define COMPLETE(type, last, size)                                                                                             \
    do {                                                                                                                       \
        assert_int_equal(sizeof(type), size);                                                                                  \
        assert_true(offsetof(type, last) + sizeof(((type *)NULL)->last) > sizeof(type) - 8); /* padding aside */               \
    } while (0)
    COMPLETE(WNNStringView, length, 16);
    COMPLETE(WNNNumber, value, 16);
    COMPLETE(WNNMethodValue, as, 24);
    COMPLETE(WNNBudget, bytes, 16);
    COMPLETE(WNNDimension, maxSize, 24);
    COMPLETE(WNNOperandDescriptor, dimensions, 32);
    COMPLETE(WNNNamedOperand, operand, 24);
    COMPLETE(WNNNamedTensor, tensor, 24);
    COMPLETE(WNNNamedBuffer, byteLength, 32);
    COMPLETE(WNNNamedSize, size, 24);
    COMPLETE(WNNNamedShape, shape, 72);
    COMPLETE(WNNNamedOperandDescriptor, descriptor, 48);
    COMPLETE(WNNFuture, id, 8);
    COMPLETE(WNNRankRange, max, 8);
    COMPLETE(WNNTensorLimits, rankRange, 24);
    COMPLETE(WNNOpSupportLimits, output, 88);
    COMPLETE(WNNBuildCallbackInfo, userdata2, 32);
    COMPLETE(WNNCreateTensorCallbackInfo, userdata2, 32);
    COMPLETE(WNNReadTensorCallbackInfo, userdata2, 32);
    COMPLETE(WNNContextLostCallbackInfo, userdata2, 32);
    COMPLETE(WNNBufferReleaseCallbackInfo, userdata2, 24);
    COMPLETE(struct webnn_object_tensor, bytes, 32);
    COMPLETE(struct webnn_object_parallel, user, 24);
    COMPLETE(struct webnn_rt_options, weights_path, 16);
}
