/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the operator table's rows, and the names of types and enumerations. */

#include "ir/graph/infer.h"
#include "ir/graph/op_draft.h"
#include "ir/support/struct_size.h"
#include "ir/support/text.h"

#define INS(...) .ins = {__VA_ARGS__}
#define OUTS(...) .outs = {__VA_ARGS__}
#define ATTRS(...) .attrs = {__VA_ARGS__}
#define RANK_AS(i) -(i) - 1, 0
#define RANKS_(lowest, highest) .rank_min = (lowest), .rank_max = (highest)
#define RANKS(...) RANKS_(__VA_ARGS__)
#define IN(operand, dt, ...) {.name = #operand, .types = (dt), RANKS(__VA_ARGS__)}
#define OUT(operand, dt, ...) {.name = #operand, .types = (dt), RANKS(__VA_ARGS__)}
#define SIZES(operand) {.name = #operand, .types = DT_SIZES, RANKS(1, 1), .sizes = true}
#define OPT_SIZES(T, operand)                                                                                                  \
    {.name = #operand, .types = DT_SIZES, RANKS(1, 1), .optional = true, .sizes = true, .option_offset = offsetof(T, operand)}
#define OPT(T, operand, dt, ...)                                                                                               \
    {.name = #operand, .types = (dt), RANKS(__VA_ARGS__), .optional = true, .option_offset = offsetof(T, operand)}

#define ARG_(op, field, k) {.name = #field, .kind = (k), .positional = true, .offset = offsetof(union op_args, op.field)}
#define ARG_U32(op, field) ARG_(op, field, ATTR_U32)
#define ARG_STEPS(op, field)                                                                                                   \
    {.name = #field, .kind = ATTR_U32, .positional = true, .sizes = NUMBER_CHECKED, .offset = offsetof(union op_args, op.field)}
#define ARG_DATA_TYPE(op, field) ARG_(op, field, ATTR_DATA_TYPE)
#define ARG_U32_WRAPS(op, field)                                                                                               \
    {.name = #field, .kind = ATTR_U32, .positional = true, .wraps = true, .offset = offsetof(union op_args, op.field)}
#define ARG_LIST_(op, field, ...)                                                                                              \
    {.name = #field,                                                                                                           \
     .kind = ATTR_U32_LIST,                                                                                                    \
     .positional = true,                                                                                                       \
     .offset = offsetof(union op_args, op.field),                                                                              \
     .count_offset = offsetof(union op_args, op.field##Count),                                                                 \
     __VA_ARGS__}
#define ARG_U32_LIST(op, field) ARG_LIST_(op, field, .sizes = NUMBER_FIXED)
#define ARG_STARTS(op, field) ARG_LIST_(op, field, .sizes = NUMBER_LINEAR)
#define ARG_SIZES(op, field) ARG_LIST_(op, field, .sizes = NUMBER_CHECKED)
#define ARG_SIZES_WRAP(op, field) ARG_LIST_(op, field, .sizes = NUMBER_CHECKED, .wraps = true)
#define ARG_SIZES_OR_COUNT(op, field) ARG_LIST_(op, field, .sizes = NUMBER_CHECKED, .or_count = true)

#define OPTION_(T, field, k, e) {.name = #field, .kind = (k), .enumeration = (e), .offset = offsetof(T, field)}
#define OPTION_U32(T, field) OPTION_(T, field, ATTR_U32, ENUM_NONE)
#define OPTION_U32_POSITIVE(T, field) {.name = #field, .kind = ATTR_U32, .offset = offsetof(T, field), .positive = true}
#define OPTION_I32(T, field) OPTION_(T, field, ATTR_I32, ENUM_NONE)
#define OPTION_F64(T, field) OPTION_(T, field, ATTR_F64, ENUM_NONE)
#define OPTION_BOOL(T, field) OPTION_(T, field, ATTR_BOOL, ENUM_NONE)
#define OPTION_NUMBER(T, field) OPTION_(T, field, ATTR_NUMBER, ENUM_NONE)
#define OPTION_DATA_TYPE(T, field) OPTION_(T, field, ATTR_DATA_TYPE, ENUM_NONE)
#define OPTION_ENUM(T, field, e) OPTION_(T, field, ATTR_ENUM, ENUM_##e)
#define OPTION_LIST_(T, field, k, ...)                                                                                         \
    {.name = #field, .kind = (k), .offset = offsetof(T, field), .count_offset = offsetof(T, field##Count), __VA_ARGS__}
#define OPTION_U32_LIST(T, field) OPTION_LIST_(T, field, ATTR_U32_LIST, .sizes = NUMBER_FIXED)
#define OPTION_SIZES(T, field) OPTION_LIST_(T, field, ATTR_U32_LIST, .sizes = NUMBER_CHECKED)
#define OPTION_F32_LIST(T, field) OPTION_LIST_(T, field, ATTR_F32_LIST, .sizes = NUMBER_FIXED)
#define OPTION_ENUM_LIST(T, field, e) OPTION_LIST_(T, field, ATTR_ENUM_LIST, .enumeration = ENUM_##e)

/* The last member of the first version of each option struct.  A member that is appended later changes no row. */
#define FIRST(T, last) FIRST_SIZE_##T = STRUCT_FIRST_SIZE(T, last)
enum {
    FIRST(WNNOperatorOptions, label),
    FIRST(WNNArgMinMaxOptions, outputDataType),
    FIRST(WNNBatchNormalizationOptions, epsilon),
    FIRST(WNNClampOptions, maxValue),
    FIRST(WNNConv2dOptions, bias),
    FIRST(WNNConvTranspose2dOptions, bias),
    FIRST(WNNCumulativeSumOptions, reversed),
    FIRST(WNNEluOptions, alpha),
    FIRST(WNNGatherOptions, axis),
    FIRST(WNNGemmOptions, bTranspose),
    FIRST(WNNGruOptions, activations),
    FIRST(WNNGruCellOptions, activations),
    FIRST(WNNHardSigmoidOptions, beta),
    FIRST(WNNInstanceNormalizationOptions, layout),
    FIRST(WNNLayerNormalizationOptions, epsilon),
    FIRST(WNNLeakyReluOptions, alpha),
    FIRST(WNNLinearOptions, beta),
    FIRST(WNNLstmOptions, activations),
    FIRST(WNNLstmCellOptions, activations),
    FIRST(WNNPadOptions, value),
    FIRST(WNNPool2dOptions, outputSizes),
    FIRST(WNNReduceOptions, keepDimensions),
    FIRST(WNNResample2dOptions, axes),
    FIRST(WNNResample2dDynamicOptions, axes),
    FIRST(WNNReverseOptions, axes),
    FIRST(WNNScatterOptions, axis),
    FIRST(WNNScatterReduceOptions, reduction),
    FIRST(WNNSliceOptions, strides),
    FIRST(WNNSplitOptions, axis),
    FIRST(WNNTransposeOptions, permutation),
    FIRST(WNNTriangularOptions, diagonal),
};
#undef FIRST

const struct op_info op_infos[DRAFT_END] = {
#define OP(id, webnn_name, webnn_method, T, init, operands, results, attributes, op_flags_, infer_)                            \
    [OP_##id] = {.name = #webnn_name,                                                                                          \
                 .method = #webnn_method,                                                                                      \
                 .flags = (op_flags_),                                                                                         \
                 .options_size = sizeof(T),                                                                                    \
                 .options_first_size = FIRST_SIZE_##T,                                                                         \
                 .options_default = &init,                                                                                     \
                 .options_init = #init,                                                                                        \
                 operands,                                                                                                     \
                 results,                                                                                                      \
                 attributes,                                                                                                   \
                 .infer = infer_},
#include "ir/graph/ops.def"
#include "ir/graph/ops_draft.def"
    /* clang-format off */
    OP(LOOP, loop, Loop, WNNOperatorOptions, WNN_OPERATOR_OPTIONS_INIT, INS(IN(operands, DT_ANY, 0, RANK_MAX)),
       OUTS(OUT(outputs, DT_ANY, 0, RANK_MAX)), ATTRS(), OPF_RECURRENT | OPF_VARIADIC | OPF_SEQUENCE, infer_loop)
    OP(SCATTER_REDUCE, scatterReduce, ScatterReduce, WNNScatterReduceOptions, WNN_SCATTER_REDUCE_OPTIONS_INIT,
       INS(IN(input, DT_ANY, 1, RANK_MAX), IN(indices, DT_INT32_UINT32_INT64, RANK_AS(0)), IN(updates, DT_AS(0), RANK_AS(0))),
       OUTS(OUT(output, DT_AS(0), RANK_AS(0))),
       ATTRS(OPTION_U32(WNNScatterReduceOptions, axis), OPTION_ENUM(WNNScatterReduceOptions, reduction, SCATTER_REDUCTION)),
       OPF_SCATTER, infer_scatter_reduce)
/* clang-format on */
#undef OP
};

/* ---- data types of the draft ---- */

dtype_set op_draft_types(enum op op, const struct operand_info *operand)
{
    dtype_set types = operand->types;

    for (int steps = 0; types & DT_AS_FLAG && steps < OP_OPERANDS_MAX; steps++)
        types = op_infos[op].ins[types & ~DT_AS_FLAG].types;
    if ((op == OP_QUANTIZE_LINEAR || op == OP_DEQUANTIZE_LINEAR) && types & DT_UINT8)
        return DT_FLOAT8;
    return op_infos[op].flags & (OPF_MOVEMENT | OPF_GATHER | OPF_COPIES) && types == DT_ANY ? DT_DRAFT : 0;
}

/* ---- names ---- */

char const *wnnOperandDataTypeGetName(WNNOperandDataType dataType)
{
    return dtype_name(dtype_is_port(dataType) ? dataType : WNNOperandDataType_Undefined);
}

size_t wnnOperandDataTypeGetByteSize(WNNOperandDataType dataType)
{
    return dtype_is_port(dataType) ? dtype_size(dataType) : 0;
}

/* The values are in the order of the public enumerations. */
static const char *const enum_names[][5] = {
    [ENUM_NONE] = {NULL},
    [ENUM_INPUT_LAYOUT] = {"nchw", "nhwc"},
    [ENUM_CONV2D_FILTER_LAYOUT] = {"oihw", "hwio", "ohwi", "ihwo"},
    [ENUM_CONV_TRANSPOSE2D_FILTER_LAYOUT] = {"iohw", "hwoi", "ohwi"},
    [ENUM_GRU_LAYOUT] = {"zrn", "rzn"},
    [ENUM_LSTM_LAYOUT] = {"iofg", "ifgo"},
    [ENUM_ACTIVATION] = {"relu", "sigmoid", "tanh"},
    [ENUM_DIRECTION] = {"forward", "backward", "both"},
    [ENUM_PADDING_MODE] = {"constant", "edge", "reflection"},
    [ENUM_ROUNDING_TYPE] = {"floor", "ceil"},
    [ENUM_INTERPOLATION_MODE] = {"nearest-neighbor", "linear"},
    [ENUM_SCATTER_REDUCTION] = {"add", "mul", "min", "max"},
};

const char *enum_value_name(enum attr_enum e, unsigned value)
{
    if ((unsigned)e >= sizeof enum_names / sizeof *enum_names || value >= sizeof *enum_names / sizeof **enum_names)
        return NULL;
    return enum_names[e][value];
}

int enum_value_parse(enum attr_enum e, const char *text, size_t length)
{
    const char *name;

    for (unsigned i = 0; (name = enum_value_name(e, i)); i++)
        if (text_is(name, text, length))
            return (int)i;
    return -1;
}

enum op op_parse(const char *text, size_t length)
{
    enum op op;

    for (op = 0; op < OP_COUNT; op++)
        if (text_is(op_infos[op].name, text, length))
            break;
    return op;
}

enum op op_parse_extended(const char *text, size_t length)
{
    return text_is(op_infos[OP_SCATTER_REDUCE].name, text, length) ? OP_SCATTER_REDUCE : op_parse(text, length);
}

enum op op_parse_draft(const char *text, size_t length)
{
    enum op op = OP_DRAFT_FIRST;

    while (op < OP_DRAFT_END && !text_is(op_infos[op].name, text, length))
        op++;
    return op < OP_DRAFT_END ? op : op_parse_extended(text, length);
}

uint32_t op_input_slots(enum op op)
{
    uint32_t count = 0;

    while (op_infos[op].ins[count].name)
        count++;
    return count;
}

uint32_t op_positional_inputs(enum op op)
{
    uint32_t count = 0;

    while (op_infos[op].ins[count].name && !op_infos[op].ins[count].optional)
        count++;
    return count;
}
