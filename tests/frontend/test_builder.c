/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The builder itself: operands, errors, inputs, constants, build.  Looks at the graph that is handed to the runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/builder.h"
#include "frontend/fake_runtime.h"

/* A context with a builder; builder_of(...) is short for making one. */
struct fixture {
    struct WNNContextImpl context;
    WNNGraphBuilder b;
};

static struct fixture *start(struct fixture *f)
{
    f->context = fake_context();
    assert_int_equal(wnnContextCreateGraphBuilder(&f->context, &f->b), WNNStatus_Success);
    return f;
}

static void finish(struct fixture *f)
{
    wnnGraphBuilderRelease(f->b);
    assert_int_equal(f->context.references, 1); /* the builder gave its reference back */
    fake_context_end(&f->context);
}

#define SHAPE(...)                                                                                                             \
    sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[])                                                                        \
    {                                                                                                                          \
        __VA_ARGS__                                                                                                            \
    }

static WNNOperand input(WNNGraphBuilder b, const char *name, WNNOperandDataType type, size_t rank, const uint32_t *shape)
{
    return wnnGraphBuilderInput(b, WNN_STR(name), &(WNNOperandDescriptor){type, rank, shape});
}

static WNNOperand floats(WNNGraphBuilder b, const char *name, size_t rank, const uint32_t *shape)
{
    WNNOperand operand = input(b, name, WNNOperandDataType_Float32, rank, shape);

    assert_false(wnnOperandIsError(operand));
    return operand;
}

/* The call failed with that status and a message that contains the text; the builder is cleared for the next check. */
#define assert_refused(f, operand, wanted, text)                                                                               \
    do {                                                                                                                       \
        WNNStringView message_;                                                                                                \
        assert_true(wnnOperandIsError(operand));                                                                               \
        assert_int_equal(wnnGraphBuilderGetError((f)->b, &message_), wanted);                                                  \
        if (!strstr(message_.data, text))                                                                                      \
            fail_msg("the message is \"%s\", expected \"%s\" in it", message_.data, text);                                     \
        assert_string_equal(wnnGetLastErrorMessage().data, message_.data);                                                     \
        wnnGraphBuilderClearError((f)->b);                                                                                     \
    } while (0)

static void needs_a_living_context(void **state)
{
    struct WNNContextImpl c = fake_context();
    WNNGraphBuilder b = (WNNGraphBuilder)(void *)&c;

    (void)state;
    c.is_lost = true;
    assert_int_equal(wnnContextCreateGraphBuilder(&c, &b), WNNStatus_InvalidStateError);
    assert_null(b);
    assert_int_equal(c.references, 1);
    assert_int_equal(wnnContextCreateGraphBuilder(NULL, &b), WNNStatus_TypeError);
    assert_int_equal(wnnContextCreateGraphBuilder(&c, NULL), WNNStatus_TypeError);
}

static void handles_may_be_null(void **state)
{
    (void)state;
    wnnGraphBuilderRelease(NULL);
    wnnOperandRelease(NULL);
    assert_true(wnnOperandIsError(NULL));
    assert_int_equal(wnnOperandGetDataType(NULL), WNNOperandDataType_Undefined);
    assert_int_equal(wnnOperandGetRank(NULL), 0);
    assert_null(wnnGraphBuilderAdd(NULL, NULL, NULL, NULL));
    assert_string_equal(wnnGetLastErrorMessage().data, "add: builder is NULL");
    assert_null(wnnGraphBuilderInput(NULL, WNN_STR("x"), NULL));
    assert_null(wnnGraphBuilderConstant(NULL, NULL, NULL, 0));
    assert_null(wnnGraphBuilderConstantScalar(NULL, WNNOperandDataType_Float32, wnnNumber(1)));
    assert_null(wnnGraphBuilderConstantTensor(NULL, NULL));
    assert_null(wnnGraphBuilderReshape(NULL, NULL, 0, NULL, NULL));
}

static void operands_count_on_their_builder(void **state)
{
    struct fixture f;
    WNNOperand x;

    (void)state;
    x = floats(start(&f)->b, "x", SHAPE(2, 3));
    wnnOperandAddRef(x);
    wnnGraphBuilderRelease(f.b);
    assert_int_equal(f.context.references, 2);
    assert_int_equal(wnnOperandGetRank(x), 2); /* still there: the operand holds its builder */
    assert_int_equal(wnnOperandGetShape(x)[1], 3);
    wnnOperandRelease(x);
    assert_int_equal(f.context.references, 1);
}

static void inputs(void **state)
{
    struct fixture f;
    const uint32_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    WNNOperandDescriptor d = {WNNOperandDataType_Float16, 2, (const uint32_t[]){4, 5}};
    WNNOperand x;

    (void)state;
    start(&f);
    x = wnnGraphBuilderInput(f.b, WNN_STR("x"), &d);
    assert_int_equal(wnnOperandGetDataType(x), WNNOperandDataType_Float16);
    assert_int_equal(wnnOperandGetRank(x), 2);
    assert_int_equal(wnnOperandGetShape(x)[0], 4);
    assert_refused(&f, wnnGraphBuilderInput(f.b, WNN_STR("x"), &d), WNNStatus_TypeError, "input \"x\": there is an input");
    assert_refused(&f, wnnGraphBuilderInput(f.b, WNN_STR(""), &d), WNNStatus_TypeError, "name is empty");
    assert_refused(&f, wnnGraphBuilderInput(f.b, (WNNStringView){NULL, 0}, &d), WNNStatus_TypeError, "name is empty");
    assert_refused(&f, wnnGraphBuilderInput(f.b, WNN_STR("y"), NULL), WNNStatus_TypeError, "descriptor is NULL");
    /* Names are bytes: the same up to a NUL, and a part of a longer text. */
    assert_false(wnnOperandIsError(wnnGraphBuilderInput(f.b, (WNNStringView){"x\0y", 3}, &d)));
    assert_refused(&f, wnnGraphBuilderInput(f.b, (WNNStringView){"xyz", 1}, &d), WNNStatus_TypeError, "there is an input");
    /* Nothing of a refused input stays, the name included. */
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Undefined, 0, NULL), WNNStatus_TypeError, "dataType 0");
    assert_refused(&f, input(f.b, "z", (WNNOperandDataType)9, 0, NULL), WNNStatus_TypeError, "dataType 9");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, 9, shape), WNNStatus_TypeError, "rank is 9");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, 1, NULL), WNNStatus_TypeError, "shape is NULL");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, SHAPE(3, 0)), WNNStatus_TypeError, "0");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, SHAPE(2147483648u)), WNNStatus_TypeError, "2147483648");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, SHAPE(65536, 65536)), WNNStatus_TypeError, "input \"z\"");
    assert_false(wnnOperandIsError(input(f.b, "z", WNNOperandDataType_Int8, 8, shape)));
    assert_false(wnnOperandIsError(input(f.b, "scalar", WNNOperandDataType_Int64, 0, NULL)));
    finish(&f);
}

static void many_inputs(void **state)
{
    struct fixture f;
    char name[32];

    (void)state;
    start(&f);
    for (int i = 0; i < 50000; i++) { /* seconds, were names compared one by one */
        snprintf(name, sizeof(name), "input %d", i);
        floats(f.b, name, SHAPE(1));
    }
    assert_refused(&f, input(f.b, "input 12345", WNNOperandDataType_Int8, 0, NULL), WNNStatus_TypeError, "there is an input");
    finish(&f);
}

static void a_failed_call_changes_nothing(void **state)
{
    struct fixture f;
    WNNOperand x, y, bad;
    WNNStringView message;
    uint32_t nodes, values;

    (void)state;
    start(&f);
    x = floats(f.b, "x", SHAPE(2, 3));
    y = floats(f.b, "y", SHAPE(4));
    nodes = f.b->graph->node_count;
    values = f.b->graph->value_count;
    bad = wnnGraphBuilderAdd(f.b, x, y, &(WNNOperatorOptions){WNN_STR("head")});
    assert_true(wnnOperandIsError(bad));
    assert_int_equal(wnnOperandGetDataType(bad), WNNOperandDataType_Undefined);
    assert_int_equal(wnnOperandGetRank(bad), 0);
    assert_int_equal(f.b->graph->node_count, nodes);
    assert_int_equal(f.b->graph->value_count, values);
    assert_null(f.b->graph->first);
    assert_true(graph_verify(f.b->graph, stderr));
    /* The first error is kept, the thread's last one is the newest. */
    assert_true(wnnOperandIsError(wnnGraphBuilderRelu(f.b, bad, NULL)));
    assert_int_equal(wnnGraphBuilderGetError(f.b, &message), WNNStatus_TypeError);
    assert_string_equal(message.data, "add [head]: the shapes of a and b, [2, 3] and [4], are not broadcastable");
    assert_int_equal(message.length, strlen(message.data));
    assert_string_equal(wnnGetLastErrorMessage().data, "relu: input is an error operand, the result of a call that failed");
    wnnGraphBuilderClearError(f.b);
    assert_int_equal(wnnGraphBuilderGetError(f.b, &message), WNNStatus_Success);
    assert_int_equal(message.length, 0);
    /* The next call works. */
    assert_false(wnnOperandIsError(wnnGraphBuilderAdd(f.b, x, x, NULL)));
    assert_int_equal(f.b->graph->node_count, nodes + 1);
    finish(&f);
}

static void operands_are_validated(void **state)
{
    struct fixture f, other;
    WNNOperand x, w, foreign, bad;
    WNNConv2dOptions conv = WNN_CONV2D_OPTIONS_INIT;

    (void)state;
    start(&f);
    start(&other);
    x = floats(f.b, "x", SHAPE(1, 1, 4, 4));
    w = floats(f.b, "w", SHAPE(1, 1, 1, 1));
    foreign = floats(other.b, "x", SHAPE(1, 1, 4, 4));
    bad = wnnGraphBuilderSoftmax(f.b, x, 9, NULL);
    wnnGraphBuilderClearError(f.b);
    assert_refused(&f, wnnGraphBuilderAdd(f.b, x, NULL, NULL), WNNStatus_TypeError, "add: b is NULL");
    assert_refused(&f, wnnGraphBuilderAdd(f.b, foreign, x, NULL), WNNStatus_TypeError,
                   "add: a is an operand of another builder");
    assert_refused(&f, wnnGraphBuilderAdd(f.b, x, bad, NULL), WNNStatus_TypeError, "add: b is an error operand");
    conv.label = WNN_STR("c");
    conv.bias = foreign;
    assert_refused(&f, wnnGraphBuilderConv2d(f.b, x, w, &conv), WNNStatus_TypeError,
                   "conv2d [c]: options.bias is an operand of another builder");
    conv.bias = bad;
    assert_refused(&f, wnnGraphBuilderConv2d(f.b, x, w, &conv), WNNStatus_TypeError,
                   "conv2d [c]: options.bias is an error operand");
    assert_refused(&f, wnnGraphBuilderConcat(f.b, 3, (WNNOperand[]){x, foreign, NULL}, 0, NULL), WNNStatus_TypeError,
                   "concat: inputs[1] is an operand of another builder");
    assert_refused(&f, wnnGraphBuilderConcat(f.b, 2, (WNNOperand[]){x, NULL}, 0, NULL), WNNStatus_TypeError,
                   "concat: inputs[1] is NULL");
    assert_refused(&f, wnnGraphBuilderConcat(f.b, 2, NULL, 0, NULL), WNNStatus_TypeError, "concat: inputs is NULL");
    assert_refused(&f, wnnGraphBuilderConcat(f.b, 0, NULL, 0, NULL), WNNStatus_TypeError, "concat: ");
    assert_refused(&f, wnnGraphBuilderConcat(f.b, SIZE_MAX, (WNNOperand[]){x}, 0, NULL), WNNStatus_TypeError, "8192");
    assert_refused(&f, wnnGraphBuilderReshape(f.b, x, 2, NULL, NULL), WNNStatus_TypeError, "newShape is NULL, but has 2 items");
    finish(&f);
    finish(&other);
}

static void values_are_converted(void **state)
{
    struct fixture f;
    WNNOperand x;
    WNNEluOptions elu = WNN_ELU_OPTIONS_INIT;
    WNNPadOptions pad = WNN_PAD_OPTIONS_INIT;
    WNNClampOptions clamp = WNN_CLAMP_OPTIONS_INIT;
    WNNResample2dOptions resample = WNN_RESAMPLE2D_OPTIONS_INIT;
    WNNArgMinMaxOptions arg = WNN_ARG_MIN_MAX_OPTIONS_INIT;
    const float scales[2] = {1.0f, __builtin_inff()};

    (void)state;
    x = floats(start(&f)->b, "x", SHAPE(1, 1, 4, 4));
    elu.alpha = __builtin_nan("");
    assert_refused(&f, wnnGraphBuilderElu(f.b, x, &elu), WNNStatus_TypeError, "elu: alpha is nan, not a finite number");
    elu.alpha = -__builtin_inf();
    assert_refused(&f, wnnGraphBuilderElu(f.b, x, &elu), WNNStatus_TypeError, "elu: alpha is -inf");
    elu.alpha = 1e300; /* finite, infinite only after the cast to float32 */
    assert_false(wnnOperandIsError(wnnGraphBuilderElu(f.b, x, &elu)));
    pad.mode = (WNNPaddingMode)3;
    assert_refused(&f, wnnGraphBuilderPad(f.b, x, SHAPE(0, 0, 0, 0), SHAPE(0, 0, 0, 0), &pad), WNNStatus_TypeError,
                   "pad: mode has no value 3");
    clamp.minValue.type = (WNNNumberType)4;
    assert_refused(&f, wnnGraphBuilderClamp(f.b, x, &clamp), WNNStatus_TypeError, "minValue has number type 4");
    clamp.minValue = wnnNumber(__builtin_nan("")); /* an MLNumber is an unrestricted double */
    assert_false(wnnOperandIsError(wnnGraphBuilderClamp(f.b, x, &clamp)));
    resample.scales = scales;
    resample.scalesCount = 2;
    assert_refused(&f, wnnGraphBuilderResample2d(f.b, x, &resample), WNNStatus_TypeError, "scales[1] is inf");
    arg.outputDataType = WNNOperandDataType_Undefined;
    assert_refused(&f, wnnGraphBuilderArgMax(f.b, x, 0, &arg), WNNStatus_TypeError, "outputDataType is undefined");
    arg.outputDataType = (WNNOperandDataType)77;
    assert_refused(&f, wnnGraphBuilderArgMax(f.b, x, 0, &arg), WNNStatus_TypeError, "outputDataType");
    assert_refused(&f, wnnGraphBuilderCast(f.b, x, (WNNOperandDataType)16, NULL), WNNStatus_TypeError, "dataType 16");
    finish(&f);
}

static void sequences(void **state)
{
    struct fixture f;
    WNNOperand x, parts[4], w;
    const uint32_t splits[3] = {1, 2, 3};
    WNNGruOptions gru = WNN_GRU_OPTIONS_INIT;

    (void)state;
    start(&f);
    x = floats(f.b, "x", SHAPE(6, 2));
    assert_int_equal(wnnGraphBuilderSplit(f.b, x, 3, splits, NULL, parts), WNNStatus_Success);
    assert_int_equal(wnnOperandGetShape(parts[2])[0], 3);
    assert_int_equal(wnnGraphBuilderSplitEqual(f.b, x, 2, NULL, parts), WNNStatus_Success);
    assert_int_equal(wnnOperandGetShape(parts[1])[0], 3);
    assert_int_equal(wnnGraphBuilderSplitEqual(f.b, x, 4, NULL, parts), WNNStatus_TypeError);
    for (int i = 0; i < 4; i++)
        assert_true(parts[i] && wnnOperandIsError(parts[i]));
    parts[0] = x;
    assert_int_equal(wnnGraphBuilderSplitEqual(f.b, x, UINT32_MAX, NULL, parts), WNNStatus_TypeError);
    assert_ptr_equal(parts[0], x); /* nobody has room for that many: not written */
    assert_int_equal(wnnGraphBuilderSplitEqual(f.b, x, 0, NULL, parts), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderSplit(f.b, x, 0, NULL, NULL, parts), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderSplit(f.b, x, 3, splits, NULL, NULL), WNNStatus_TypeError);
    x = floats(f.b, "sequence", SHAPE(2, 3, 4));
    w = floats(f.b, "weight", SHAPE(1, 15, 4));
    assert_int_equal(wnnGraphBuilderGru(f.b, x, w, floats(f.b, "r", SHAPE(1, 15, 5)), 2, 5, NULL, parts), WNNStatus_Success);
    assert_int_equal(wnnOperandGetRank(parts[0]), 3);
    assert_null(parts[1]);
    gru.returnSequence = true;
    assert_int_equal(wnnGraphBuilderGru(f.b, x, w, floats(f.b, "s", SHAPE(1, 15, 5)), 2, 5, &gru, parts), WNNStatus_Success);
    assert_int_equal(wnnOperandGetRank(parts[1]), 4);
    assert_int_equal(wnnGraphBuilderGru(f.b, x, w, w, 2, 5, &gru, parts), WNNStatus_TypeError);
    assert_true(parts[1] && wnnOperandIsError(parts[1]));
    finish(&f);
}

/* ---- constants ---- */

static int released;

static void release(void const *data, size_t bytes, void *wanted, void *bytes_wanted)
{
    assert_ptr_equal(data, wanted);
    assert_int_equal(bytes, (uintptr_t)bytes_wanted);
    released++;
}

static void constants(void **state)
{
    struct fixture f;
    float data[6] = {1, 2, 3, 4, 5, 6};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, (const uint32_t[]){2, 3}};
    WNNOperand c;

    (void)state;
    start(&f);
    c = wnnGraphBuilderConstant(f.b, &d, data, sizeof(data));
    assert_false(wnnOperandIsError(c));
    data[0] = 99; /* a copy was taken */
    assert_float_equal(((const float *)c->value->constant->data)[0], 1, 0);
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, data, sizeof(data) - 1), WNNStatus_TypeError,
                   "constant: the buffer has 23 bytes, the descriptor asks for 24");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, data, sizeof(data) + 1), WNNStatus_TypeError, "25 bytes");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, NULL, sizeof(data)), WNNStatus_TypeError, "data is NULL");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, NULL, data, sizeof(data)), WNNStatus_TypeError, "descriptor is NULL");
    d.dataType = WNNOperandDataType_Undefined;
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, data, 0), WNNStatus_TypeError, "dataType 0");
    finish(&f);
}

static void lent_constants_are_given_back_once(void **state)
{
    struct fixture f;
    float data[2] = {1, 2};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, (const uint32_t[]){2}};
    WNNBufferReleaseCallbackInfo info = {release, data, (void *)(uintptr_t)sizeof(data)};
    WNNOperand c;

    (void)state;
    start(&f);
    released = 0;
    c = wnnGraphBuilderConstantLent(f.b, &d, data, sizeof(data), info);
    assert_false(wnnOperandIsError(c));
    assert_ptr_equal(c->value->constant->data, data);
    assert_int_equal(released, 0);
    /* A refused one at once. */
    d.rank = 0;
    assert_refused(&f, wnnGraphBuilderConstantLent(f.b, &d, data, sizeof(data), info), WNNStatus_TypeError, "8 bytes");
    assert_int_equal(released, 1);
    assert_null(wnnGraphBuilderConstantLent(NULL, &d, data, sizeof(data), info));
    assert_int_equal(released, 2);
    assert_refused(&f, wnnGraphBuilderConstantLent(f.b, NULL, data, sizeof(data), info), WNNStatus_TypeError, "descriptor");
    assert_int_equal(released, 3);
    f.context.is_lost = true;
    assert_refused(&f, wnnGraphBuilderConstantLent(f.b, &d, data, sizeof(data), info), WNNStatus_InvalidStateError, "lost");
    assert_int_equal(released, 4);
    finish(&f); /* the first one, with its graph */
    assert_int_equal(released, 5);
}

static union scalar scalar_of(struct fixture *f, WNNOperandDataType type, WNNNumber n)
{
    WNNOperand c = wnnGraphBuilderConstantScalar(f->b, type, n);
    union scalar s = {0};

    assert_false(wnnOperandIsError(c));
    assert_int_equal(wnnOperandGetRank(c), 0);
    assert_int_equal(wnnOperandGetDataType(c), type);
    memcpy(&s, c->value->constant->data, dtype_size(type));
    return s;
}

static void scalars_are_cast(void **state)
{
    struct fixture f;

    (void)state;
    start(&f);
    assert_float_equal(scalar_of(&f, WNNOperandDataType_Float32, wnnNumber(0.1)).f32, 0.1f, 0);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Float16, wnnNumber(1.5)).f16, 0x3E00);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Int8, wnnNumber(1000)).i8, 127);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Uint8, wnnNumber(-3)).u8, 0);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Int32, wnnNumber(2.5)).i32, 2);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Int32, wnnNumber(__builtin_nan(""))).i32, 0);
    /* The specification's text casts to uint32 as if it were signed; it is not. */
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Uint32, wnnNumber(4294967295.0)).u32, 4294967295u);
    assert_true(scalar_of(&f, WNNOperandDataType_Int64, wnnNumberInt64(INT64_MIN)).i64 == INT64_MIN);
    assert_true(scalar_of(&f, WNNOperandDataType_Uint64, wnnNumberUint64(UINT64_MAX)).u64 == UINT64_MAX);
    assert_refused(&f, wnnGraphBuilderConstantScalar(f.b, WNNOperandDataType_Undefined, wnnNumber(1)), WNNStatus_TypeError,
                   "dataType 0");
    assert_refused(&f, wnnGraphBuilderConstantScalar(f.b, WNNOperandDataType_Float32, WNN_NUMBER_INIT), WNNStatus_TypeError,
                   "no number");
    finish(&f);
}

static struct WNNTensorImpl tensor_of(WNNContext context, struct constant *c)
{
    return (struct WNNTensorImpl){1, context, {WNNOperandDataType_Int32, 1, {2}}, c, false};
}

static void constants_from_tensors(void **state)
{
    struct fixture f;
    struct WNNContextImpl other = fake_context();
    struct constant *c = constant_create((const int32_t[]){3, 4}, 8);
    struct WNNTensorImpl t, bad;
    WNNOperand operand;

    (void)state;
    start(&f);
    t = tensor_of(&f.context, c);
    operand = wnnGraphBuilderConstantTensor(f.b, &t);
    assert_false(wnnOperandIsError(operand));
    assert_int_equal(wnnOperandGetDataType(operand), WNNOperandDataType_Int32);
    assert_int_equal(wnnOperandGetShape(operand)[0], 2);
    assert_ptr_equal(operand->value->constant, c); /* shared, not copied */
    assert_int_equal(t.references, 2);
    bad = tensor_of(&other, c);
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &bad), WNNStatus_TypeError, "another context");
    bad = tensor_of(&f.context, NULL);
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &bad), WNNStatus_TypeError, "not constant");
    bad.is_destroyed = true;
    /* The specification looks at the tensor first, at the builder last. */
    f.context.is_lost = true;
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &bad), WNNStatus_TypeError, "destroyed");
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &t), WNNStatus_InvalidStateError, "lost");
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, NULL), WNNStatus_TypeError, "tensor is NULL");
    finish(&f);
    assert_int_equal(t.references, 1);
    assert_int_equal(bad.references, 1);
    assert_int_equal(c->references, 1);
    constant_release(c);
}

/* ---- build ---- */

static WNNStatus build(struct fixture *f, size_t count, const WNNNamedOperand *outputs)
{
    WNNGraph g = (WNNGraph)(void *)f;
    WNNStatus status = wnnGraphBuilderBuild(f->b, count, outputs, &g);

    assert_true((g != NULL) == (status == WNNStatus_Success));
    return status;
}

static void build_refuses(struct fixture *f, size_t count, const WNNNamedOperand *outputs, const char *text)
{
    const char *message;

    assert_int_equal(build(f, count, outputs), WNNStatus_TypeError);
    message = wnnGetLastErrorMessage().data;
    if (!strstr(message, text))
        fail_msg("the message is \"%s\", expected \"%s\" in it", message, text);
    wnnGraphBuilderClearError(f->b);
}

/** What depends on constants can be asked for, also through several nodes and of one of several results. */
static void constants_are_computed(void **state)
{
    static const float a[4] = {1, 2, 3, 4};
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}};
    struct fixture f;
    WNNOperand c, sum, x, parts[2];
    float y[4];

    (void)state;
    start(&f);
    c = wnnGraphBuilderConstant(f.b, &d, a, sizeof a);
    x = floats(f.b, "x", SHAPE(4));
    sum = wnnGraphBuilderAdd(f.b, c, c, NULL);
    sum = wnnGraphBuilderMul(f.b, sum, wnnGraphBuilderAdd(f.b, sum, c, NULL), NULL); /* 2a * 3a */
    assert_int_equal(wnnGraphBuilderSplitEqual(f.b, sum, 2, NULL, parts), WNNStatus_Success);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, sum, y, sizeof y), WNNStatus_Success);
    assert_memory_equal(y, ((float[]){6, 24, 54, 96}), sizeof y);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, parts[1], y, 8), WNNStatus_Success);
    assert_memory_equal(y, ((float[]){54, 96}), 8);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, c, y, sizeof y), WNNStatus_Success);
    assert_memory_equal(y, a, sizeof y);

    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, x, y, sizeof y), WNNStatus_TypeError);
    x = wnnGraphBuilderMul(f.b, sum, x, NULL);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, x, y, sizeof y), WNNStatus_TypeError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "depends on an input"));
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, sum, y, 8), WNNStatus_TypeError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "8 bytes, the operand 16"));
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, NULL, y, 8), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, sum, NULL, 16), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderGetConstantValue(NULL, sum, y, 16), WNNStatus_TypeError);
    assert_int_equal(wnnGraphBuilderGetError(f.b, NULL), WNNStatus_Success); /* asking is no failed call */
    finish(&f);
}

static void build_checks_outputs(void **state)
{
    struct fixture f, other;
    WNNOperand x, y, c, foreign, bad;

    (void)state;
    start(&f);
    start(&other);
    x = floats(f.b, "x", SHAPE(2));
    y = wnnGraphBuilderAbs(f.b, x, NULL);
    c = wnnGraphBuilderConstantScalar(f.b, WNNOperandDataType_Float32, wnnNumber(1));
    foreign = wnnGraphBuilderAbs(other.b, floats(other.b, "x", SHAPE(2)), NULL);
    bad = wnnGraphBuilderSoftmax(f.b, x, 7, NULL); /* not cleared: the message of build tells of it */
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), bad}}, "the first error: softmax: axis 7");
    build_refuses(&f, 0, NULL, "no outputs");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR(""), y}}, "name of outputs[0] is empty");
    build_refuses(&f, 2, (WNNNamedOperand[]){{WNN_STR("y"), y}, {WNN_STR("y"), y}}, "output \"y\" is given twice");
    build_refuses(&f, 2, (WNNNamedOperand[]){{WNN_STR("y"), y}, {WNN_STR("z"), foreign}},
                  "\"z\" is an operand of another builder");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), NULL}}, "\"y\" is NULL");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), x}}, "\"y\" is an input");
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), c}}, "\"y\" is a constant");
    assert_int_equal(wnnGraphBuilderBuild(f.b, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}, NULL), WNNStatus_TypeError);
    assert_null(f.context.built);
    /* All that left the builder unbuilt: it can go on, and then build once. */
    y = wnnGraphBuilderNeg(f.b, y, NULL);
    assert_int_equal(build(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}), WNNStatus_Success);
    assert_int_equal(f.context.built->output_count, 1);
    assert_int_equal(build(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}), WNNStatus_InvalidStateError);
    wnnGraphBuilderClearError(f.b);
    /* The state is looked at before the arguments. */
    assert_refused(&f, wnnGraphBuilderAdd(f.b, NULL, foreign, &(WNNOperatorOptions){WNN_STR("late")}),
                   WNNStatus_InvalidStateError, "add [late]: the builder has built");
    assert_refused(&f, input(f.b, "", WNNOperandDataType_Undefined, 0, NULL), WNNStatus_InvalidStateError, "has built");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, NULL, NULL, 0), WNNStatus_InvalidStateError, "has built");
    assert_refused(&f, wnnGraphBuilderConstantScalar(f.b, 0, WNN_NUMBER_INIT), WNNStatus_InvalidStateError, "has built");
    /* Operands still tell what they are, though the graph is gone. */
    graph_free(f.context.built);
    f.context.built = NULL;
    assert_int_equal(wnnOperandGetDataType(y), WNNOperandDataType_Float32);
    assert_int_equal(wnnOperandGetShape(y)[0], 2);
    assert_false(wnnOperandIsError(y));
    other.context.is_lost = true;
    assert_int_equal(build(&other, 1, (WNNNamedOperand[]){{WNN_STR("y"), foreign}}), WNNStatus_InvalidStateError);
    finish(&f);
    finish(&other);
}

static void build_leaves_what_the_outputs_need(void **state)
{
    struct fixture f;
    WNNOperand a, b, c, d, sum, unused;
    struct graph *g;

    (void)state;
    start(&f);
    a = floats(f.b, "a", SHAPE(2));
    b = floats(f.b, "b", SHAPE(2)); /* feeds a node that no output needs */
    c = floats(f.b, "c\"\n", SHAPE(2));
    d = floats(f.b, "d", SHAPE(2)); /* feeds nothing */
    (void)d;
    sum = wnnGraphBuilderAdd(f.b, c, a, NULL);
    unused = wnnGraphBuilderExp(f.b, wnnGraphBuilderMul(f.b, sum, b, NULL), NULL);
    (void)unused;
    assert_int_equal(build(&f, 2, (WNNNamedOperand[]){{{"s\0t", 3}, sum}, {WNN_STR("again"), sum}}), WNNStatus_Success);
    g = f.context.built;
    assert_true(graph_verify(g, stderr));
    assert_int_equal(g->input_count, 2); /* in the order they were made */
    assert_string_equal(g->inputs[0]->name, "a");
    assert_string_equal(g->inputs[1]->name, "c\"\n");
    assert_ptr_equal(g->first, g->last);
    assert_int_equal(g->first->op, OP_ADD);
    assert_int_equal(g->output_count, 2);
    assert_int_equal(g->outputs[0].name_length, 3);
    assert_memory_equal(g->outputs[0].name, "s\0t", 4);
    assert_ptr_equal(g->outputs[0].value, g->outputs[1].value);
    finish(&f);
}

static void build_looks_at_constant_tensors_again(void **state)
{
    struct fixture f;
    struct constant *c = constant_create((const int32_t[]){3, 4}, 8);
    struct WNNTensorImpl used, unused;
    WNNOperand y, z;

    (void)state;
    start(&f);
    used = unused = tensor_of(&f.context, c);
    y = wnnGraphBuilderNeg(f.b, wnnGraphBuilderConstantTensor(f.b, &used), NULL);
    z = wnnGraphBuilderNeg(f.b, wnnGraphBuilderConstantTensor(f.b, &unused), NULL);
    used.is_destroyed = unused.is_destroyed = true;
    build_refuses(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}, "has been destroyed");
    used.is_destroyed = false;
    build_refuses(&f, 2, (WNNNamedOperand[]){{WNN_STR("y"), y}, {WNN_STR("z"), z}}, "has been destroyed");
    assert_int_equal(build(&f, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}), WNNStatus_Success);
    finish(&f);
    constant_release(c);
}

static void build_fails(void **state)
{
    struct fixture f;
    WNNOperand x, y;
    WNNConvTranspose2dOptions o = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    WNNNamedOperand output = {WNN_STR("y"), NULL};

    (void)state;
    start(&f);
    y = wnnGraphBuilderAbs(f.b, floats(f.b, "x", SHAPE(2)), NULL);
    f.context.build_status = WNNStatus_OperationError;
    output.operand = y;
    assert_int_equal(build(&f, 1, &output), WNNStatus_OperationError);
    assert_string_equal(wnnGetLastErrorMessage().data, "build: refused by the test");
    assert_int_equal(build(&f, 1, &output), WNNStatus_InvalidStateError); /* the graph is gone all the same */
    finish(&f);

    /* The suite has this one accepted by the method; there is no way to compute it. */
    start(&f);
    o.groups = 3;
    o.label = WNN_STR("up");
    x = floats(f.b, "x", SHAPE(1, 1, 3, 3));
    output.operand = wnnGraphBuilderConvTranspose2d(f.b, x, floats(f.b, "w", SHAPE(1, 1, 3, 3)), &o);
    assert_false(wnnOperandIsError(output.operand));
    assert_int_equal(build(&f, 1, &output), WNNStatus_OperationError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "convTranspose2d [up]: the 1 channels"));
    assert_null(f.context.built);
    finish(&f);
}

static void note_build(WNNStatus status, WNNGraph graph, WNNStringView message, void *userdata1, void *userdata2)
{
    (void)graph, (void)message, (void)userdata2;
    *(WNNStatus *)userdata1 = status;
}

static void build_async(void **state)
{
    struct fixture f;
    WNNNamedOperand output = {WNN_STR("y"), NULL};
    WNNStatus status = WNNStatus_Success;
    WNNBuildCallbackInfo info = WNN_BUILD_CALLBACK_INFO_INIT;

    (void)state;
    start(&f);
    assert_int_equal(wnnGraphBuilderBuildAsync(f.b, 1, &output, info).id, 2);
    assert_int_equal(f.context.failed_builds, 1);
    assert_int_equal(wnnGraphBuilderGetError(f.b, NULL), WNNStatus_TypeError);
    output.operand = wnnGraphBuilderAbs(f.b, floats(f.b, "x", SHAPE(2)), NULL);
    assert_int_equal(wnnGraphBuilderBuildAsync(f.b, 1, &output, info).id, 1);
    assert_int_equal(f.context.async_builds, 1);
    assert_int_equal(wnnGraphBuilderBuildAsync(f.b, 1, &output, info).id, 2);
    assert_int_equal(f.context.failed_builds, 2);
    info.callback = note_build;
    info.userdata1 = &status;
    assert_int_equal(wnnGraphBuilderBuildAsync(NULL, 1, &output, info).id, 0);
    assert_int_equal(status, WNNStatus_TypeError);
    finish(&f);
}

/* ---- labels, emulation ---- */

static void labels(void **state)
{
    struct fixture f;
    char text[] = "part of it";
    WNNOperatorOptions options = {{text, 4}};
    WNNOperand x;

    (void)state;
    x = floats(start(&f)->b, "x", SHAPE(2));
    assert_false(wnnOperandIsError(wnnGraphBuilderAbs(f.b, x, &options)));
    memset(text, '?', sizeof(text) - 1);
    assert_string_equal(f.b->graph->last->label, "part"); /* a copy, of the length given */
    options.label = WNN_STR("\x1b[31m\xE2\x80\xAE");
    assert_refused(&f, wnnGraphBuilderSoftmax(f.b, x, 5, &options), WNNStatus_TypeError,
                   "softmax [\\u{1b}[31m\\u{202e}]: axis 5");
    finish(&f);
}

#define assert_shape(operand, ...) assert_shape_(operand, SHAPE(__VA_ARGS__))
static void assert_shape_(WNNOperand operand, size_t rank, const uint32_t *shape)
{
    assert_false(wnnOperandIsError(operand));
    assert_int_equal(wnnOperandGetRank(operand), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(wnnOperandGetShape(operand)[i], shape[i]);
}

static void emulated_operators(void **state)
{
    struct fixture f;
    WNNOperand x, scalar, ones;

    (void)state;
    start(&f);
    x = floats(f.b, "x", SHAPE(1, 2, 1, 3, 1));
    ones = floats(f.b, "ones", SHAPE(1, 1));
    scalar = floats(f.b, "s", 0, NULL);
    assert_shape(wnnGraphBuilderSqueeze(f.b, x, 0, NULL, NULL), 2, 3);
    assert_shape(wnnGraphBuilderSqueeze(f.b, x, SHAPE(4, 0), NULL), 2, 1, 3);
    assert_shape(wnnGraphBuilderSqueeze(f.b, x, SHAPE(1, 2, 77), NULL), 1, 2, 3, 1); /* not of size 1, not there: ignored */
    assert_int_equal(wnnOperandGetRank(wnnGraphBuilderSqueeze(f.b, ones, 0, NULL, NULL)), 0);
    assert_shape(wnnGraphBuilderUnsqueeze(f.b, scalar, SHAPE(0), NULL), 1);
    assert_shape(wnnGraphBuilderUnsqueeze(f.b, x, SHAPE(7, 0, 2), NULL), 1, 1, 1, 2, 1, 3, 1, 1);
    assert_refused(&f, wnnGraphBuilderUnsqueeze(f.b, x, SHAPE(6), NULL), WNNStatus_TypeError, "unsqueeze");
    assert_refused(&f, wnnGraphBuilderUnsqueeze(f.b, x, SHAPE(1, 1), NULL), WNNStatus_TypeError, "more than once");
    assert_refused(&f, wnnGraphBuilderUnsqueeze(f.b, x, SHAPE(0, 1, 2, 3), NULL), WNNStatus_TypeError, "rank");
    assert_shape(wnnGraphBuilderFlatten(f.b, x, 2, NULL), 2, 3);
    assert_shape(wnnGraphBuilderFlatten(f.b, x, 0, NULL), 1, 6);
    assert_shape(wnnGraphBuilderFlatten(f.b, x, 5, NULL), 6, 1);
    assert_ptr_equal(wnnGraphBuilderFlatten(f.b, x, 6, NULL), x);
    assert_refused(&f, wnnGraphBuilderSqueeze(f.b, NULL, 0, NULL, NULL), WNNStatus_TypeError, "input is NULL");
    assert_refused(&f, wnnGraphBuilderSqueeze(f.b, x, 1, NULL, NULL), WNNStatus_TypeError, "axes is NULL");
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_a_living_context),
        cmocka_unit_test(handles_may_be_null),
        cmocka_unit_test(operands_count_on_their_builder),
        cmocka_unit_test(inputs),
        cmocka_unit_test(many_inputs),
        cmocka_unit_test(a_failed_call_changes_nothing),
        cmocka_unit_test(operands_are_validated),
        cmocka_unit_test(values_are_converted),
        cmocka_unit_test(sequences),
        cmocka_unit_test(constants),
        cmocka_unit_test(lent_constants_are_given_back_once),
        cmocka_unit_test(scalars_are_cast),
        cmocka_unit_test(constants_from_tensors),
        cmocka_unit_test(constants_are_computed),
        cmocka_unit_test(build_checks_outputs),
        cmocka_unit_test(build_leaves_what_the_outputs_need),
        cmocka_unit_test(build_looks_at_constant_tensors_again),
        cmocka_unit_test(build_fails),
        cmocka_unit_test(build_async),
        cmocka_unit_test(labels),
        cmocka_unit_test(emulated_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
