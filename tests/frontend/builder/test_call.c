/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls by name: every operator of the table through its public method, with all its options, and the limits that a context
 * tells beforehand held against what the methods accept.
 */
#include "frontend/builder/builder.h"
#include "frontend/fake_builder.h"
#include "support/test.h"
#include "webnn/webnn_call.h"

/*
 * Valid arguments of an operator: operands in slot order (also the optional ones), then the other positional arguments, as
 * text: "2x3" is an operand of that shape, "s" a scalar, "[1,2]" a list, "7" a number, "float16" a data type.
 */
static const struct sample {
    enum op op;
    const char *operands, *arguments;
} samples[] = {
    {OP_ARG_MIN, "2x3", "1"},
    {OP_ARG_MAX, "2x3", "1"},
    {OP_BATCH_NORMALIZATION, "2x3 3 3 3 3", ""},
    {OP_CAST, "2x3", "float16"},
    {OP_CONCAT, "2x3 2x1", "1"},
    {OP_CONV2D, "1x4x5x5 4x4x3x3 4", ""},
    {OP_CONV_TRANSPOSE2D, "1x4x5x5 4x4x3x3 4", ""},
    {OP_CUMULATIVE_SUM, "2x3", "1"},
    {OP_DEQUANTIZE_LINEAR, "2x4 1x2 1x2", ""},
    {OP_QUANTIZE_LINEAR, "2x4 1x2 1x2", ""},
    {OP_EXPAND, "2x1", "[3,2,5]"},
    {OP_GATHER, "4x2 3", ""},
    {OP_GATHER_ELEMENTS, "4x2 3x2", ""},
    {OP_GATHER_ND, "4x2 3x1", ""},
    {OP_GEMM, "2x3 3x4 4", ""},
    {OP_GRU, "2x3x4 1x15x4 1x15x5 1x15 1x15 1x3x5", "2 5"},
    {OP_GRU_CELL, "3x4 15x4 15x5 3x5 15 15", "5"},
    {OP_INSTANCE_NORMALIZATION, "2x3x4x5 3 3", ""},
    {OP_LAYER_NORMALIZATION, "2x3 3 3", ""},
    {OP_LSTM, "2x3x4 1x20x4 1x20x5 1x20 1x20 1x15 1x3x5 1x3x5", "2 5"},
    {OP_LSTM_CELL, "3x4 20x4 20x5 3x5 3x5 20 20 15", "5"},
    {OP_MATMUL, "2x3 3x4", ""},
    {OP_PAD, "2x3", "[1,1] [0,2]"},
    {OP_AVERAGE_POOL2D, "1x2x4x4", ""},
    {OP_L2_POOL2D, "1x2x4x4", ""},
    {OP_MAX_POOL2D, "1x2x4x4", ""},
    {OP_RESAMPLE2D, "1x2x4x4", ""},
    {OP_RESHAPE, "2x3", "[6]"},
    {OP_SCATTER_ELEMENTS, "4x2 3x2 3x2", ""},
    {OP_SCATTER_ND, "4x2 3x1 3x2", ""},
    {OP_SLICE, "2x3", "[0,1] [2,2]"},
    {OP_SOFTMAX, "2x3", "1"},
    {OP_SPLIT, "2x3", "[1,1]"},
    {OP_TILE, "2x3", "[2,2]"},
    {OP_WHERE, "2x3 2x3 1", ""},
};

/** Every other operator takes operands of one shape. */
static struct sample sample_of(enum op op)
{
    static const char *const same[] = {"", "2x3", "2x3 2x3", "2x3 2x3 2x3"};

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        if (samples[i].op == op)
            return samples[i];
    assert_true(op_input_slots(op) < 4);
    return (struct sample){op, same[op_input_slots(op)], ""};
}

static WNNOperand operand_of(const char *text, WNNOperandDataType type)
{
    static int number;
    uint32_t shape[RANK_MAX];
    size_t rank = 0;
    char name[16];

    for (const char *p = text; *text != 's'; p = strchr(p, 'x') + 1) {
        const char *x = strchr(p, 'x'), *space = strchr(p, ' ');

        shape[rank++] = (uint32_t)strtoul(p, NULL, 10);
        if (!x || (space && space < x))
            break;
    }
    snprintf(name, sizeof(name), "i%d", number++);
    return wnnGraphBuilderInput(b, WNN_STR(name), &(WNNOperandDescriptor){type, rank, shape, NULL});
}

/** Returns a data type that the slot allows, given that of input 0 (Undefined: the first allowed). */
static WNNOperandDataType type_of(enum op op, uint32_t slot, WNNOperandDataType first)
{
    dtype_set types = op_operand(op, slot)->types;

    if (types & DT_AS_FLAG)
        return type_of(op, types & ~DT_AS_FLAG, first);
    if ((slot == 0 || op_infos[op].flags & OPF_VARIADIC) && first)
        return first;
    for (int t = 1; t < DTYPE_COUNT; t++)
        if (types & 1u << t)
            return (WNNOperandDataType)t;
    fail();
    return WNNOperandDataType_Undefined;
}

/** Sets all operands and positional arguments of the sample; the optional operands, too. */
static WNNMethodCall prepare(enum op op, WNNOperandDataType first)
{
    struct sample s = sample_of(op);
    WNNMethodCall call = wnnMethodCallCreate(WNN_STR(op_infos[op].name));
    WNNMethodValue operands[OP_OPERANDS_MAX], items[8];
    const char *p = s.operands;
    uint32_t slot = 0;
    size_t index = op_positional_inputs(op);

    assert_non_null(call);
    for (; *p; slot++) {
        operands[slot] = wnnMethodValueOperand(operand_of(p, type_of(op, slot, first)));
        if (wnnOperandIsError(operands[slot].as.operand))
            fail_msg("%s: %s", op_infos[op].name, wnnGetLastErrorMessage().data);
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    if (op_infos[op].flags & OPF_VARIADIC) {
        assert_int_equal(wnnMethodCallArgument(call, 0, wnnMethodValueList(slot, operands)), WNNStatus_Success);
    } else {
        assert_int_equal(slot, op_input_slots(op));
        for (uint32_t i = 0; i < slot; i++)
            assert_int_equal(wnnMethodCallSet(call, WNN_STR(op_infos[op].ins[i].name), operands[i]), WNNStatus_Success);
    }
    for (p = s.arguments; *p; index++) {
        WNNMethodValue v;
        size_t count = 0;

        if (*p == '[') {
            for (p++; p[-1] != ']'; p++)
                items[count++] = wnnMethodValueNumber(wnnNumber(strtod(p, (char **)&p)));
            v = wnnMethodValueList(count, items);
        } else if (*p == 'f') {
            v = wnnMethodValueString((WNNStringView){p, strcspn(p, " ")});
            p += strcspn(p, " ");
        } else {
            v = wnnMethodValueNumber(wnnNumberInt64(strtol(p, (char **)&p, 10)));
        }
        assert_int_equal(wnnMethodCallArgument(call, index, v), WNNStatus_Success);
        p += *p == ' ';
    }
    assert_int_equal(index, wnnMethodCallArgumentCount(call));
    return call;
}

/* Each public method appends a node of its own operator, with the operands in their slots. */
TEST(every_method_is_its_operator)
{
    for (int op = 0; op < OP_COUNT; op++) {
        OWNED(call) WNNMethodCall call = prepare((enum op)op, WNNOperandDataType_Undefined);
        size_t rows = 0;

        wnnMethodCallOption(call, WNN_STR("label"), wnnMethodValueString(WNN_STR("it")), false);
        assert_success(wnnMethodCallInvoke(call, b));
        struct node *n = b->graph->last;
        assert_int_equal(n->op, op);
        assert_string_equal(n->label, "it");
        for (uint32_t i = 0; i < n->input_count; i++)
            assert_non_null(n->inputs[i].value);
        while (op_infos[op].outs[rows].name)
            rows++;
        if (op == OP_GRU || op == OP_LSTM)
            rows--; /* without returnSequence */
        assert_int_equal(wnnMethodCallResultCount(call), op == OP_SPLIT ? 2 : rows);
        assert_int_equal(wnnMethodCallResultCount(call), n->result_count);
        for (uint32_t i = 0; i < n->result_count; i++)
            assert_ptr_equal(wnnMethodCallResult(call, i)->value, n->results[i]);
    }
    assert_true(graph_verify(b->graph, stderr));
}

/** Returns a value that the attribute takes, different from its default. */
static WNNMethodValue value_for(const struct attr_info *a, const WNNMethodValue *items)
{
    switch (a->kind) {
    case ATTR_BOOL:
        return wnnMethodValueBool(true);
    case ATTR_ENUM:
        return wnnMethodValueString(WNN_STR(enum_value_name(a->enumeration, 1)));
    case ATTR_DATA_TYPE:
        return wnnMethodValueString(WNN_STR("int64"));
    case ATTR_U32_LIST:
    case ATTR_F32_LIST:
        return wnnMethodValueList(2, items);
    case ATTR_ENUM_LIST:
        return wnnMethodValueList(3, items + 2);
    default:
        return wnnMethodValueNumber(wnnNumber(3));
    }
}

/* Every option of every operator can be set by name and arrives in its place. */
TEST(every_option_has_its_place)
{
    const WNNMethodValue items[5] = {wnnMethodValueNumber(wnnNumber(4)), wnnMethodValueNumber(wnnNumber(5)),
                                     wnnMethodValueString(WNN_STR("tanh")), wnnMethodValueString(WNN_STR("relu")),
                                     wnnMethodValueString(WNN_STR("sigmoid"))};
    int set = 0;

    for (int op = 0; op < OP_COUNT; op++)
        for (const struct attr_info *a = op_infos[op].attrs; a->kind; a++) {
            WNNMethodCall call = prepare((enum op)op, WNNOperandDataType_Undefined);
            WNNMethodValue v = value_for(a, items);

            if (a->positional) {
                wnnMethodCallDestroy(call);
                continue;
            }
            assert_int_equal(wnnMethodCallOption(call, WNN_STR(a->name), v, false), WNNStatus_Success);
            WNNStatus status = wnnMethodCallInvoke(call, b);
            if (status == WNNStatus_Success) {
                const struct node *n = b->graph->last;
                const void *at = attr_value(a, n->options, &n->args);
                uint32_t u;

                memcpy(&u, at, a->kind == ATTR_BOOL ? 1 : 4);
                if (a->kind == ATTR_BOOL)
                    assert_true(*(const bool *)at);
                else if (a->kind == ATTR_ENUM)
                    assert_int_equal(u, 1);
                else if (a->kind == ATTR_DATA_TYPE)
                    assert_int_equal(u, WNNOperandDataType_Int64);
                else if (a->kind == ATTR_F64)
                    assert_true(*(const double *)at == 3);
                set++;
            } else {
                /* The sample need not fit the value, but then it is the operator that says so, not the conversion. */
                assert_int_equal(status, WNNStatus_TypeError);
                assert_non_null(strstr(wnnGetLastErrorMessage().data, ": "));
            }
            wnnMethodCallDestroy(call);
        }
    assert_true(set > 40);
}

/** Calls an operator with one list changed, the others as they are by default; the message is the last one then. */
static void apply_with_list(enum op op, const struct attr_info *a, const void *list, size_t count)
{
    const char *p = sample_of(op).operands;
    WNNOperand operands[OP_OPERANDS_MAX];
    union op_args args = {0};
    char options[256], *base = a->positional ? (char *)&args : options;

    for (uint32_t slot = 0; slot < op_positional_inputs(op); slot++) {
        operands[slot] = operand_of(p, type_of(op, slot, WNNOperandDataType_Undefined));
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    memcpy(options, op_infos[op].options_default, op_infos[op].options_size);
    memcpy(base + a->offset, &list, sizeof list);
    memcpy(base + a->count_offset, &count, sizeof count);
    assert_true(wnnOperandIsError(builder_apply(b, op, options, &args, op_positional_inputs(op), operands)));
    wnnGraphBuilderClearError(b);
}

/* No list is walked beyond what an operator can have, and no positional one is without a pointer. */
TEST(every_list_is_bounded)
{
    static const uint32_t item = 1;
    int lists = 0;

    for (int op = 0; op < OP_COUNT; op++)
        for (const struct attr_info *a = op_infos[op].attrs; a->kind; a++) {
            const size_t most = attr_count_max(a), counts[] = {most + 1, SIZE_MAX / 2, SIZE_MAX};
            char wanted[160];

            if (a->kind != ATTR_U32_LIST && a->kind != ATTR_F32_LIST && a->kind != ATTR_ENUM_LIST)
                continue;
            lists++;
            for (int i = 0; i < 3; i++) {
                apply_with_list((enum op)op, a, &item, counts[i]);
                snprintf(wanted, sizeof wanted, "%s: %s has %zu items, more than the %zu that are possible", op_infos[op].name,
                         a->name, counts[i], most);
                assert_string_equal(wnnGetLastErrorMessage().data, wanted);
            }
            if (a->positional) {
                apply_with_list((enum op)op, a, NULL, 1);
                snprintf(wanted, sizeof wanted, "%s: %s is NULL, but has 1 items", op_infos[op].name, a->name);
                assert_string_equal(wnnGetLastErrorMessage().data, wanted);
            }
            OWNED(call) WNNMethodCall call = prepare((enum op)op, WNNOperandDataType_Undefined);
            assert_int_equal(wnnMethodCallSet(call, WNN_STR(a->name), wnnMethodValueList(SIZE_MAX, &(WNNMethodValue){0})),
                             WNNStatus_TypeError);
            assert_non_null(strstr(wnnGetLastErrorMessage().data, "has more items than are possible"));
        }
    assert_true(lists > 30);
}

TEST(conversions)
{
    WNNMethodCall c;
    const WNNMethodValue one = wnnMethodValueNumber(wnnNumber(1));
    const WNNMethodValue bad_items[2] = {one, wnnMethodValueBool(true)};
    const struct {
        const char *op, *name;
        WNNMethodValue value;
        const char *message; /* NULL: accepted */
    } rows[] = {
        {"softmax", "axis", wnnMethodValueNumber(wnnNumber(1.9)), NULL}, /* truncated */
        {"softmax", "axis", wnnMethodValueNumber(wnnNumber(-0.5)), NULL},
        {"softmax", "axis", wnnMethodValueNumber(wnnNumber(-1)),
         "softmax: axis takes an integer from 0 to 4294967295, not -1.0"},
        {"softmax", "axis", wnnMethodValueNumber(wnnNumber(4294967296.0)),
         "softmax: axis takes an integer from 0 to 4294967295, not 4294967296.0"},
        {"softmax", "axis", wnnMethodValueNumber(wnnNumber(__builtin_nan(""))),
         "softmax: axis takes an integer from 0 to 4294967295, not NaN"},
        {"softmax", "axis", wnnMethodValueNumber(wnnNumber(1e30)),
         "softmax: axis takes an integer from 0 to 4294967295, not 1e30"},
        {"softmax", "axis", wnnMethodValueNumber(wnnNumberUint64(UINT64_MAX)),
         "softmax: axis takes an integer from 0 to 4294967295, not 18446744073709551615u"},
        {"softmax", "axis", wnnMethodValueString(WNN_STR("1")),
         "softmax: axis takes an integer from 0 to 4294967295, not \"1\""},
        {"softmax", "input", one, "softmax: input takes an operand, not 1.0"},
        {"softmax", "axle", one, "softmax: the option dictionary has no member of that name"},
        {"triangular", "diagonal", wnnMethodValueNumber(wnnNumber(-3)), NULL},
        {"triangular", "diagonal", wnnMethodValueNumber(wnnNumber(2147483648.0)),
         "triangular: diagonal takes an integer of 32 bits, not 2147483648.0"},
        {"triangular", "upper", one, "triangular: upper takes true or false, not 1.0"},
        {"linear", "alpha", wnnMethodValueNumber(wnnNumberInt64(-7)), NULL},
        {"linear", "alpha", wnnMethodValueNumber(wnnNumber(__builtin_inf())),
         "linear: alpha takes a finite number, not Infinity"},
        {"clamp", "minValue", wnnMethodValueNumber(wnnNumber(-__builtin_inf())), NULL},
        {"clamp", "minValue", wnnMethodValueBool(true), "clamp: minValue takes a number, not true"},
        {"cast", "dataType", wnnMethodValueString(WNN_STR("int4")),
         "cast: dataType takes float32, float16, int32, uint32, int64, uint64, int8 or uint8, not \"int4\""},
        {"pad", "mode", wnnMethodValueString(WNN_STR("symmetric")),
         "pad: mode takes constant, edge or reflection, not \"symmetric\""},
        {"transpose", "permutation", one, "transpose: permutation takes a list, not 1.0"},
        {"transpose", "permutation", wnnMethodValueList(2, bad_items),
         "transpose: permutation[1] takes an integer from 0 to 4294967295, not true"},
        {"resample2d", "scales", wnnMethodValueList(2, bad_items), "resample2d: scales[1] takes a finite number, not true"},
        {"conv2d", "bias", one, "conv2d: bias takes an operand, not 1.0"},
        {"conv2d", "label", one, "conv2d: label takes a string, not 1.0"},
        {"concat", "inputs", one, "concat: inputs takes a list of operands, not 1.0"},
        {"concat", "inputs", wnnMethodValueList(2, bad_items), "concat: inputs takes operands, not 1.0"},
        {"split", "splits", wnnMethodValueNumber(wnnNumber(2)), NULL},
        {"split", "splits", wnnMethodValueBool(true), "split: splits takes a list, not true"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        c = wnnMethodCallCreate(WNN_STR(rows[i].op));
        assert_int_equal(wnnMethodCallSet(c, WNN_STR(rows[i].name), rows[i].value),
                         rows[i].message ? WNNStatus_TypeError : WNNStatus_Success);
        if (rows[i].message) {
            assert_string_equal(wnnGetLastErrorMessage().data, rows[i].message);
            assert_int_equal(wnnMethodCallInvoke(c, b), WNNStatus_TypeError); /* and it stays so */
            assert_string_equal(wnnGetLastErrorMessage().data, rows[i].message);
        }
        wnnMethodCallDestroy(c);
    }
    assert_null(wnnMethodCallCreate(WNN_STR("conv3d")));
    assert_string_equal(wnnGetLastErrorMessage().data, "there is no operator \"conv3d\"; did you mean 'conv2d'?");
    assert_null(wnnMethodCallCreate((WNNStringView){NULL, 0}));
    assert_int_equal(b->graph->node_count, 0);
}

TEST(arguments_have_kinds)
{
    static const struct {
        const char *method, *name;
        WNNMethodValueKind kind;
        bool is_list;
    } rows[] = {
        {"conv2d", "filter", WNNMethodValueKind_Operand, false},  {"conv2d", "bias", WNNMethodValueKind_Operand, false},
        {"concat", "inputs", WNNMethodValueKind_Operand, true},   {"conv2d", "strides", WNNMethodValueKind_Number, true},
        {"conv2d", "groups", WNNMethodValueKind_Number, false},   {"conv2d", "inputLayout", WNNMethodValueKind_String, false},
        {"lstm", "activations", WNNMethodValueKind_String, true}, {"cast", "dataType", WNNMethodValueKind_String, false},
        {"clamp", "minValue", WNNMethodValueKind_Number, false},  {"gemm", "aTranspose", WNNMethodValueKind_Bool, false},
        {"relu", "label", WNNMethodValueKind_String, false},      {"relu", "alpha", WNNMethodValueKind_None, false},
        {"split", "splits", WNNMethodValueKind_Number, true},     {"relu", "", WNNMethodValueKind_None, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        OWNED(call) WNNMethodCall c = wnnMethodCallCreate(WNN_STR(rows[i].method));
        bool is_list = !rows[i].is_list;

        assert_int_equal(wnnMethodCallArgumentKind(c, WNN_STR(rows[i].name), &is_list), rows[i].kind);
        assert_int_equal(is_list, rows[i].is_list);
        assert_int_equal(wnnMethodCallArgumentKind(c, WNN_STR(rows[i].name), NULL), rows[i].kind);
    }
}

TEST(arguments_by_position)
{
    WNNMethodCall c = wnnMethodCallCreate((WNNStringView){"slicex", 5});
    const WNNMethodValue two[2] = {wnnMethodValueNumber(wnnNumber(1)), wnnMethodValueNumber(wnnNumber(1))};

    assert_int_equal(wnnMethodCallArgumentCount(c), 3);
    assert_string_equal(wnnMethodCallArgumentName(c, 0), "input");
    assert_string_equal(wnnMethodCallArgumentName(c, 2), "sizes");
    assert_null(wnnMethodCallArgumentName(c, 3));
    assert_int_equal(wnnMethodCallInvoke(c, b), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "slice: input is missing");
    wnnMethodCallReset(c);
    assert_success(wnnMethodCallArgument(c, 0, wnnMethodValueOperand(operand_of("2x3", WNNOperandDataType_Int8))));
    assert_int_equal(wnnMethodCallArgument(c, 1, wnnMethodValueList(2, two)), WNNStatus_Success);
    assert_int_equal(wnnMethodCallArgument(c, 2, wnnMethodValueList(2, two)), WNNStatus_Success);
    assert_int_equal(wnnMethodCallOption(c, WNN_STR("unknown"), two[0], true), WNNStatus_Success); /* as JavaScript does */
    assert_int_equal(wnnMethodCallInvoke(c, b), WNNStatus_Success);
    assert_string_equal(context.logged, "slice: there is no option \"unknown\", it is ignored");
    assert_int_equal(wnnOperandGetShape(wnnMethodCallResult(c, 0))[1], 1);
    assert_null(wnnMethodCallResult(c, 1));
    assert_int_equal(wnnMethodCallArgument(c, 3, two[0]), WNNStatus_TypeError);
    wnnMethodCallDestroy(c);
    c = prepare(OP_AVERAGE_POOL2D, WNNOperandDataType_Undefined);
    assert_int_equal(wnnMethodCallOption(c, WNN_STR("roundingType"), two[0], true), WNNStatus_Success);
    assert_int_equal(wnnMethodCallInvoke(c, b), WNNStatus_Success);
    assert_non_null(strstr(context.logged,
                           "averagePool2d: there is no option \"roundingType\", it is ignored: it is of an older "
                           "draft, outputShapeRounding is its name"));
    wnnMethodCallDestroy(c);
    /* An error of the method itself, also when the builder holds an older one of another kind. */
    context.is_lost = true;
    assert_true(wnnOperandIsError(wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int8, wnnNumber(1))));
    context.is_lost = false;
    c = prepare(OP_SOFTMAX, WNNOperandDataType_Undefined);
    wnnMethodCallArgument(c, 1, wnnMethodValueNumber(wnnNumber(2)));
    assert_int_equal(wnnMethodCallInvoke(c, b), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "softmax: axis 2 is out of range, input has rank 2");
    assert_int_equal(wnnMethodCallInvoke(c, NULL), WNNStatus_TypeError);
    wnnMethodCallDestroy(c);
}

/* Positional arguments in C are options in the draft, and splits says how many results there are. */
TEST(methods_of_the_draft)
{
    const WNNOperandDescriptor d = {WNNOperandDataType_Uint32, 1, (uint32_t[]){2}, NULL};
    WNNMethodCall c = wnnMethodCallCreate(WNN_STR("reshapeTo2d"));
    WNNOperand x = operand_of("2x3x1", WNNOperandDataType_Int8);

    assert_int_equal(wnnMethodCallArgumentCount(c), 1);
    for (uint32_t axis = 1; axis < 2; axis--) {
        wnnMethodCallArgument(c, 0, wnnMethodValueOperand(x));
        assert_int_equal(wnnMethodCallInvoke(c, b), WNNStatus_Success);
        assert_int_equal(*wnnOperandGetShape(wnnMethodCallResult(c, 0)), axis ? 2 : 1);
        wnnMethodCallOption(c, WNN_STR("axis"), wnnMethodValueNumber(wnnNumber(0)), false);
    }
    wnnMethodCallDestroy(c);
    c = wnnMethodCallCreate(WNN_STR("splitDynamic"));
    wnnMethodCallArgument(c, 0, wnnMethodValueOperand(x));
    wnnMethodCallArgument(c, 1, wnnMethodValueOperand(wnnGraphBuilderConstant(b, &d, (uint32_t[]){1, 2}, 8)));
    wnnMethodCallOption(c, WNN_STR("axis"), wnnMethodValueNumber(wnnNumber(1)), false);
    assert_int_equal(wnnMethodCallInvoke(c, b), WNNStatus_Success);
    assert_int_equal(wnnMethodCallResultCount(c), 2);
    assert_int_equal(wnnOperandGetShape(wnnMethodCallResult(c, 1))[1], 2);
    wnnMethodCallDestroy(c);
}

static const WNNTensorLimits *limits_of(enum op op, size_t *count)
{
    static WNNTensorLimits limits[WNN_TENSOR_LIMITS_MAX];

    assert_int_equal(
        wnnContextGetOperatorSupportLimits(&context, WNN_STR(op_infos[op].name), WNN_TENSOR_LIMITS_MAX, limits, count),
        WNNStatus_Success);
    return limits;
}

/* What the limits list, the builder accepts; what they leave out, it refuses. */
TEST(limits_and_builder_agree)
{
    for (int narrowed = 0; narrowed < 2; narrowed++) {
        context.unsupported = narrowed ? DT_BIT(Float16) | DT_BIT(Int8) : 0;
        for (int op = 0; op < OP_COUNT; op++)
            for (int t = 1; t < DTYPE_COUNT; t++) {
                OWNED(call) WNNMethodCall call = prepare((enum op)op, (WNNOperandDataType)t);
                size_t count;
                bool listed = limits_of((enum op)op, &count)[0].dataTypes & WNN_DATA_TYPE_BIT(t);

                if (op == OP_CAST) /* or its result is what narrowing refuses */
                    wnnMethodCallArgument(call, 1, wnnMethodValueString(WNN_STR("float32")));
                WNNStatus status = wnnMethodCallInvoke(call, b);
                if ((status == WNNStatus_Success) != listed)
                    fail_msg("%s: %s is %slisted, but the builder says: %s", op_infos[op].name,
                             wnnOperandDataTypeGetName((WNNOperandDataType)t), listed ? "" : "not ",
                             wnnGetLastErrorMessage().data);
            }
    }
}

TEST(limits)
{
    WNNOpSupportLimits top;
    WNNTensorLimits few[2] = {{0}};
    size_t count;

    assert_int_equal(wnnContextGetOpSupportLimits(&context, &top), WNNStatus_Success);
    assert_true(top.maxTensorByteLength >= INT32_MAX);
    assert_int_equal(top.input.rankRange.max, RANK_MAX);
    assert_int_equal(top.output.dataTypes, 0x1FE);
    const WNNTensorLimits *l = limits_of(OP_CONV2D, &count);
    assert_int_equal(count, 4);
    assert_string_equal(l[2].name, "bias");
    assert_int_equal(l[2].rankRange.min, 1);
    assert_int_equal(l[2].rankRange.max, 1);
    assert_int_equal(l[1].dataTypes, DT_FLOAT32_FLOAT16); /* same as input */
    assert_string_equal(l[3].name, "output");
    l = limits_of(OP_LSTM, &count);
    assert_int_equal(count, WNN_TENSOR_LIMITS_MAX);
    assert_string_equal(l[10].name, "output2");
    l = limits_of(OP_DEQUANTIZE_LINEAR, &count);
    assert_int_equal(l[3].dataTypes, DT_FLOAT32_FLOAT16); /* same as scale */
    assert_int_equal(l[1].rankRange.max, RANK_MAX);       /* same as input */
    assert_int_equal(wnnContextGetOperatorSupportLimits(&context, WNN_STR("gemm"), 1, few, &count), WNNStatus_Success);
    assert_int_equal(count, 4);
    assert_string_equal(few[0].name, "a");
    assert_null(few[1].name);
    assert_int_equal(wnnContextGetOperatorSupportLimits(&context, WNN_STR("gem"), 0, NULL, &count), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "opSupportLimits: there is no operator 'gem'");
    assert_int_equal(wnnContextGetOperatorSupportLimits(&context, (WNNStringView){NULL, 0}, 0, NULL, &count),
                     WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, "opSupportLimits: there is no operator ''");
    assert_int_equal(wnnContextGetOperatorSupportLimits(&context, WNN_STR("gemm"), 1, NULL, &count), WNNStatus_TypeError);
    assert_int_equal(wnnContextGetOpSupportLimits(&context, NULL), WNNStatus_TypeError);
    assert_int_equal(wnnGetOperatorCount(), 95);
    assert_string_equal(wnnGetOperatorName(0), "argMin");
    assert_null(wnnGetOperatorName(95));
}

TEST_EACH(start, finish)
