/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The builder itself: life times, inputs, the conversion and validation of arguments, labels, operators that are emulated. */
#include "frontend/builder/builder_support.h"

TEST(needs_a_living_context)
{
    struct WNNContextImpl c = fake_context();
    WNNGraphBuilder b = (WNNGraphBuilder)(void *)&c;

    c.is_lost = true;
    assert_int_equal(wnnContextCreateGraphBuilder(&c, &b), WNNStatus_InvalidStateError);
    assert_null(b);
    assert_int_equal(c.references, 1);
    assert_int_equal(wnnContextCreateGraphBuilder(&c, NULL), WNNStatus_TypeError);
}

TEST(handles_may_be_null)
{
    assert_true(wnnOperandIsError(NULL));
    assert_int_equal(wnnOperandGetDataType(NULL), WNNOperandDataType_Undefined);
    assert_null(wnnGraphBuilderAdd(NULL, NULL, NULL, NULL));
    assert_string_equal(wnnGetLastErrorMessage().data, "add: builder is NULL");
}

TEST(operands_count_on_their_builder)
{
    struct fixture f;

    WNNOperand x = floats(start(&f)->b, "x", SHAPE(2, 3));
    wnnOperandAddRef(x);
    wnnGraphBuilderRelease(f.b);
    assert_int_equal(f.context.references, 2);
    assert_int_equal(wnnOperandGetRank(x), 2); /* still there: the operand holds its builder */
    assert_int_equal(wnnOperandGetShape(x)[1], 3);
    wnnOperandRelease(x);
    assert_int_equal(f.context.references, 1);
}

TEST(inputs_are_checked)
{
    const uint32_t shape[13] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    WNNOperandDescriptor d = {WNNOperandDataType_Float16, 2, (const uint32_t[]){4, 5}, NULL};

    WNNOperand x = wnnGraphBuilderInput(f.b, WNN_STR("x"), &d);
    assert_int_equal(wnnOperandGetDataType(x), WNNOperandDataType_Float16);
    assert_int_equal(wnnOperandGetRank(x), 2);
    assert_int_equal(wnnOperandGetShape(x)[0], 4);
    assert_refused(&f, wnnGraphBuilderInput(f.b, WNN_STR("x"), &d), WNNStatus_TypeError, "input \"x\": an input of");
    assert_refused(&f, wnnGraphBuilderInput(f.b, WNN_STR(""), &d), WNNStatus_TypeError, "name is empty");
    assert_refused(&f, wnnGraphBuilderInput(f.b, (WNNStringView){NULL, 0}, &d), WNNStatus_TypeError, "name is empty");
    assert_refused(&f, wnnGraphBuilderInput(f.b, WNN_STR("y"), NULL), WNNStatus_TypeError, "descriptor is NULL");
    /* Names are bytes: the same up to a NUL, and a part of a longer text. */
    assert_false(wnnOperandIsError(wnnGraphBuilderInput(f.b, (WNNStringView){"x\0y", 3}, &d)));
    assert_refused(&f, wnnGraphBuilderInput(f.b, (WNNStringView){"xyz", 1}, &d), WNNStatus_TypeError, "an input of that");
    /* Nothing of a refused input stays, the name included. */
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Undefined, 0, NULL), WNNStatus_TypeError, "dataType 0");
    assert_refused(&f, input(f.b, "z", (WNNOperandDataType)12, 0, NULL), WNNStatus_TypeError, "dataType 12");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, 13, shape), WNNStatus_TypeError, "rank is 13");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, 1, NULL), WNNStatus_TypeError, "shape is NULL");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, SHAPE(3, 0)), WNNStatus_TypeError, "0");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, SHAPE(2147483648u)), WNNStatus_TypeError, "2147483648");
    assert_refused(&f, input(f.b, "z", WNNOperandDataType_Int8, SHAPE(65536, 65536)), WNNStatus_TypeError, "input \"z\"");
    assert_false(wnnOperandIsError(input(f.b, "z", WNNOperandDataType_Int8, 8, shape)));
    assert_false(wnnOperandIsError(input(f.b, "scalar", WNNOperandDataType_Int64, 0, NULL)));
}

TEST(many_inputs_are_told_apart)
{
    char name[32];

    for (int i = 0; i < 50000; i++) { /* seconds, were names compared one by one */
        snprintf(name, sizeof(name), "input %d", i);
        floats(f.b, name, SHAPE(1));
    }
    assert_refused(&f, input(f.b, "input 12345", WNNOperandDataType_Int8, 0, NULL), WNNStatus_TypeError, "an input of that");
}

TEST(a_failed_call_changes_nothing)
{
    WNNOperand x, y, bad;
    WNNStringView message;
    uint32_t nodes, values;

    x = floats(f.b, "x", SHAPE(2, 3));
    y = floats(f.b, "y", SHAPE(4));
    nodes = f.b->graph->node_count;
    values = f.b->graph->value_count;
    bad = wnnGraphBuilderAdd(f.b, x, y, &(WNNOperatorOptions){.label = WNN_STR("head")});
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
}

TEST(operands_are_validated)
{
    struct fixture f, other;
    WNNOperand x, w, foreign, bad;
    WNNConv2dOptions conv = WNN_CONV2D_OPTIONS_INIT;

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

TEST(values_are_converted)
{
    WNNOperand x = floats(f.b, "x", SHAPE(1, 1, 4, 4));
    WNNEluOptions elu = WNN_ELU_OPTIONS_INIT;
    WNNPadOptions pad = WNN_PAD_OPTIONS_INIT;
    WNNClampOptions clamp = WNN_CLAMP_OPTIONS_INIT;
    WNNResample2dOptions resample = WNN_RESAMPLE2D_OPTIONS_INIT;
    WNNArgMinMaxOptions arg = WNN_ARG_MIN_MAX_OPTIONS_INIT;
    const float scales[2] = {1.0f, __builtin_inff()};

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
    assert_refused(&f, wnnGraphBuilderCast(f.b, x, (WNNOperandDataType)17, NULL), WNNStatus_TypeError, "dataType 17");
}

TEST(sequences_are_checked)
{
    WNNOperand x, parts[4], w;
    const uint32_t splits[3] = {1, 2, 3};
    WNNGruOptions gru = WNN_GRU_OPTIONS_INIT;

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
    assert_ptr_equal(parts[0], x); /* no caller has room for that many: not written */
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
}

/* ---- labels, emulation ---- */

TEST(labels_are_in_messages)
{
    char text[] = "part of it";
    WNNOperatorOptions options = {.label = {text, 4}};
    WNNOperand x = floats(f.b, "x", SHAPE(2));

    assert_false(wnnOperandIsError(wnnGraphBuilderAbs(f.b, x, &options)));
    memset(text, '?', sizeof(text) - 1);
    assert_string_equal(f.b->graph->last->label, "part"); /* a copy, of the length given */
    options.label = WNN_STR("\x1b[31m\xE2\x80\xAE");
    assert_refused(&f, wnnGraphBuilderSoftmax(f.b, x, 5, &options), WNNStatus_TypeError,
                   "softmax [\\u{1b}[31m\\u{202e}]: axis 5");
}

#define assert_shape(operand, ...) assert_shape_(operand, SHAPE(__VA_ARGS__))
static void assert_shape_(WNNOperand operand, size_t rank, const uint32_t *shape)
{
    assert_false(wnnOperandIsError(operand));
    assert_int_equal(wnnOperandGetRank(operand), rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(wnnOperandGetShape(operand)[i], shape[i]);
}

TEST(emulated_operators_are_reshapes)
{
    WNNOperand x, scalar, ones;

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
    assert_refused(&f, wnnGraphBuilderUnsqueeze(f.b, x, SHAPE(0, 1, 2, 3, 4, 5, 6, 7), NULL), WNNStatus_TypeError, "rank");
    assert_shape(wnnGraphBuilderFlatten(f.b, x, 2, NULL), 2, 3);
    assert_shape(wnnGraphBuilderFlatten(f.b, x, 0, NULL), 1, 6);
    assert_shape(wnnGraphBuilderFlatten(f.b, x, 5, NULL), 6, 1);
    assert_ptr_equal(wnnGraphBuilderFlatten(f.b, x, 6, NULL), x);
    assert_refused(&f, wnnGraphBuilderSqueeze(f.b, NULL, 0, NULL, NULL), WNNStatus_TypeError, "input is NULL");
    assert_refused(&f, wnnGraphBuilderSqueeze(f.b, x, 1, NULL, NULL), WNNStatus_TypeError, "axes is NULL");
}

TEST_EACH(start_each, finish_each)
