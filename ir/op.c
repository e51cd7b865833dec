/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operator table's rows, and names of types and enumerations. */
#include "ir/op.h"

#include <string.h>

#include "ir/infer.h"

#define INS(...) .ins = {__VA_ARGS__}
#define OUTS(...) .outs = {__VA_ARGS__}
#define ATTRS(...) .attrs = {__VA_ARGS__}
#define RANK_AS(i) -(i)-1, 0
#define RANKS_(lowest, highest) .rank_min = (lowest), .rank_max = (highest)
#define RANKS(...) RANKS_(__VA_ARGS__)
#define IN(operand, dt, ...) {.name = #operand, .types = (dt), RANKS(__VA_ARGS__)}
#define OUT(operand, dt, ...) {.name = #operand, .types = (dt), RANKS(__VA_ARGS__)}
#define OPT(T, operand, dt, ...)                                                                                                \
    {.name = #operand, .types = (dt), RANKS(__VA_ARGS__), .optional = true, .option_offset = offsetof(T, operand)}

#define ARG_(op, field, k) {.name = #field, .kind = (k), .positional = true, .offset = offsetof(union op_args, op.field)}
#define ARG_U32(op, field) ARG_(op, field, ATTR_U32)
#define ARG_DATA_TYPE(op, field) ARG_(op, field, ATTR_DATA_TYPE)
#define ARG_U32_LIST(op, field)                                                                                                 \
    {.name = #field, .kind = ATTR_U32_LIST, .positional = true, .offset = offsetof(union op_args, op.field),                     \
     .count_offset = offsetof(union op_args, op.field##Count)}

#define OPTION_(T, field, k, e) {.name = #field, .kind = (k), .enumeration = (e), .offset = offsetof(T, field)}
#define OPTION_U32(T, field) OPTION_(T, field, ATTR_U32, ENUM_NONE)
#define OPTION_I32(T, field) OPTION_(T, field, ATTR_I32, ENUM_NONE)
#define OPTION_F64(T, field) OPTION_(T, field, ATTR_F64, ENUM_NONE)
#define OPTION_BOOL(T, field) OPTION_(T, field, ATTR_BOOL, ENUM_NONE)
#define OPTION_NUMBER(T, field) OPTION_(T, field, ATTR_NUMBER, ENUM_NONE)
#define OPTION_DATA_TYPE(T, field) OPTION_(T, field, ATTR_DATA_TYPE, ENUM_NONE)
#define OPTION_ENUM(T, field, e) OPTION_(T, field, ATTR_ENUM, ENUM_##e)
#define OPTION_LIST_(T, field, k, e)                                                                                            \
    {.name = #field, .kind = (k), .enumeration = (e), .offset = offsetof(T, field), .count_offset = offsetof(T, field##Count)}
#define OPTION_U32_LIST(T, field) OPTION_LIST_(T, field, ATTR_U32_LIST, ENUM_NONE)
#define OPTION_F32_LIST(T, field) OPTION_LIST_(T, field, ATTR_F32_LIST, ENUM_NONE)
#define OPTION_ENUM_LIST(T, field, e) OPTION_LIST_(T, field, ATTR_ENUM_LIST, ENUM_##e)

const struct op_info op_infos[OP_COUNT] = {
#define OP(id, webnn_name, webnn_method, T, init, operands, results, attributes, op_flags_, infer_)                             \
    [OP_##id] = {.name = #webnn_name, .method = #webnn_method, .flags = (op_flags_), .options_size = sizeof(T),                  \
                 .options_default = &init, operands, results, attributes, .infer = infer_},
#include "ir/ops.def"
#undef OP
};
