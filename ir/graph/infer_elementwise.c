/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates the operators that compute element by element, and those that only cast their options, and infers their shapes. */
#include "ir/graph/infer_steps.h"

bool infer_unary(struct call *c)
{
    return infer_result_like(c, 0);
}

/** Infers element-wise binary and logical operators, and prelu, by bidirectional broadcasting of inputs 0 and 1. */
bool infer_broadcast(struct call *c)
{
    const struct operand_info *ins = op_infos[c->op].ins;
    struct tensor_type t;

    if (!shape_broadcast(c->graph, input_type(c, 0), input_type(c, 1), &t))
        return call_error(c, "the shapes of %s and %s, %s and %s, are not broadcastable", ins[0].name, ins[1].name,
                          SHAPE_PRINT(input_type(c, 0)), SHAPE_PRINT(input_type(c, 1)));
    return infer_results(c, 1) && infer_result(c, 0, t.rank, t.dims);
}

bool infer_where(struct call *c)
{
    struct tensor_type t;

    if (!shape_broadcast(c->graph, input_type(c, 1), input_type(c, 2), &t))
        return call_error(c, "the shapes of trueValue and falseValue, %s and %s, are not broadcastable",
                          SHAPE_PRINT(input_type(c, 1)), SHAPE_PRINT(input_type(c, 2)));
    if (!shape_broadcast(c->graph, input_type(c, 0), &t, &t))
        return call_error(c, "the shape of condition, %s, and that of trueValue and falseValue, %s, are not broadcastable",
                          SHAPE_PRINT(input_type(c, 0)), SHAPE_PRINT(&t));
    return infer_results(c, 1) && infer_result(c, 0, t.rank, t.dims);
}

bool infer_cast(struct call *c)
{
    dtype to = c->args.cast.dataType;

    if (!dtype_is_port(to) && to != DTYPE_FLOAT64 && to != DTYPE_INT16)
        return call_error(c, "dataType %u is not an operand data type", (unsigned)to);
    if (!infer_result_like(c, 0))
        return false;
    c->results[0].type = to;
    return true;
}

/** Returns the least (sign < 0) or greatest number of input 0's type, what a missing bound stands for. */
static WNNNumber extreme(const struct call *c, int sign)
{
    return cast_number(c, wnnNumber(sign < 0 ? -INFINITY : INFINITY));
}

/** Compares two numbers that went through cast_number and thus have the same kind.  Returns false if one is NaN. */
static bool number_greater(WNNNumber a, WNNNumber b)
{
    if (a.type == WNNNumberType_Int64)
        return a.value.int64 > b.value.int64;
    if (a.type == WNNNumberType_Uint64)
        return a.value.uint64 > b.value.uint64;
    return a.value.float64 > b.value.float64;
}

static const char *number_print(char *buf, size_t size, WNNNumber n)
{
    if (n.type == WNNNumberType_Int64)
        snprintf(buf, size, "%lld", (long long)n.value.int64);
    else if (n.type == WNNNumberType_Uint64)
        snprintf(buf, size, "%llu", (unsigned long long)n.value.uint64);
    else
        snprintf(buf, size, "%.9g", n.value.float64);
    return buf;
}

/* The specification's text has the two defaults the wrong way round: no option means no clamping. */
bool infer_clamp(struct call *c)
{
    WNNClampOptions *o = c->options;
    char low[32], high[32];

    o->minValue = o->minValue.type ? cast_number(c, o->minValue) : extreme(c, -1);
    o->maxValue = o->maxValue.type ? cast_number(c, o->maxValue) : extreme(c, 1);
    if (number_greater(o->minValue, o->maxValue))
        return call_error(c, "minValue %s is greater than maxValue %s", number_print(low, sizeof(low), o->minValue),
                          number_print(high, sizeof(high), o->maxValue));
    return infer_result_like(c, 0);
}

/** Infers an operator whose float options are cast to the input's type. */
bool infer_with_options(struct call *c)
{
    for (const struct attr_info *a = op_infos[c->op].attrs; a->kind != ATTR_NONE; a++)
        if (a->kind == ATTR_F64) {
            double *option = (double *)(uintptr_t)attr_value(a, c->options, &c->args);
            *option = cast_option(c, *option);
        }
    return infer_result_like(c, 0);
}

/** Infers triangular: ranks are in the row, and every diagonal means something (far ones keep or clear all elements). */
bool infer_triangular(struct call *c)
{
    return infer_result_like(c, 0);
}

bool infer_cumulative_sum(struct call *c)
{
    return check_axis(c, c->args.cumulativeSum.axis, 0) && infer_result_like(c, 0);
}
