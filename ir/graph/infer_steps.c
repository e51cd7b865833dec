/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Has the phrases shared by the specification's method steps; see ir/graph/infer_steps.h. */
#include "ir/graph/infer_steps.h"

#include <inttypes.h>
#include <string.h>

/* ---- results ---- */

static bool out_of_memory(struct call *c)
{
    return error_out_of_memory(c->error);
}

bool infer_results(struct call *c, uint32_t count)
{
    if (!c->results || count > OP_RESULTS_MAX) {
        c->results = arena_array(&c->graph->arena, count, sizeof(*c->results));
        if (!c->results)
            return out_of_memory(c);
    }
    c->result_count = count;
    return true;
}

bool infer_result(struct call *c, uint32_t i, uint32_t rank, const uint32_t *dims)
{
    const struct operand_info *outs = op_infos[c->op].outs;
    dtype_set types = outs[i].types;
    struct tensor_type *t = &c->results[i];

    if (rank > RANK_MAX)
        return call_error(c, "the rank of %s would be %" PRIu32 ", the largest supported is %d", outs[i].name, rank, RANK_MAX);
    memset(t, 0, sizeof(*t));
    /* Operators whose type depends on more than an input (argMin, cast ...) set it themselves afterwards. */
    if (types & DT_AS_FLAG)
        t->type = input_type(c, types & ~DT_AS_FLAG)->type;
    else
        for (int d = 1; d < DTYPE_COUNT; d++)
            if (types == (1u << d))
                t->type = (dtype)d;
    t->rank = rank;
    if (rank)
        memcpy(t->dims, dims, rank * sizeof(dims[0]));
    return true;
}

bool infer_result_like(struct call *c, uint32_t slot)
{
    return infer_results(c, 1) && infer_result(c, 0, input_type(c, slot)->rank, input_type(c, slot)->dims);
}

/* ---- checks ---- */

const char *dims_print(const struct graph *g, char *buf, size_t size, size_t count, const uint32_t *dims)
{
    char text[DIMS_TEXT];
    size_t used = (size_t)snprintf(buf, size, "[");

    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", dim_print(g, dims[i], text, sizeof text));
    if (used < size)
        snprintf(buf + used, size - used, "]");
    return buf;
}

bool check_dimension(struct call *c, int64_t size, const char *what)
{
    if (size < 1 || size > ELEMENT_COUNT_MAX) {
        if (size >= SIZE_HUGE)
            return call_error(c, "%s would exceed %d", what, ELEMENT_COUNT_MAX);
        return call_error(c, "%s would be %" PRId64 ", not from 1 to %d", what, size, ELEMENT_COUNT_MAX);
    }
    return true;
}

bool check_open(struct call *c, dim_expr e, const char *what, uint32_t *dim)
{
    int64_t size;

    if (e == DIM_NONE)
        return out_of_memory(c);
    if (dims_is_constant(c->graph, e, &size)) {
        *dim = (uint32_t)size;
        return check_dimension(c, size, what);
    }
    *dim = DIM_OPEN | e;
    if (dims_at_least(c->graph, e, dims_constant(c->graph, 1)) == ANSWER_NO ||
        dims_at_least(c->graph, dims_constant(c->graph, ELEMENT_COUNT_MAX), e) == ANSWER_NO)
        return call_error(c, "%s would be %s, which is never from 1 to %d", what, DIM_PRINT(*dim), ELEMENT_COUNT_MAX);
    return true;
}

bool dim_add(struct call *c, uint32_t a, int64_t number, const char *what, uint32_t *dim)
{
    struct graph *g = c->graph;

    if (dim_is_open(a))
        return check_open(c, dims_sum(g, 1, dims_of(g, a), 1, dims_constant(g, number)), what, dim);
    *dim = a + (uint32_t)number;
    return check_dimension(c, a + number, what);
}

bool dim_scale(struct call *c, uint32_t a, int64_t factor, const char *what, uint32_t *dim)
{
    struct graph *g = c->graph;

    if (dim_is_open(a))
        return check_open(c, dims_product(g, dims_of(g, a), dims_constant(g, factor)), what, dim);
    *dim = a * (uint32_t)factor;
    return check_dimension(c, size_mul(a, factor), what);
}

bool check_axis(struct call *c, uint32_t axis, uint32_t slot)
{
    if (axis >= input_type(c, slot)->rank)
        return call_error(c, "axis %" PRIu32 " is out of range, %s has rank %" PRIu32, axis, op_infos[c->op].ins[slot].name,
                          input_type(c, slot)->rank);
    return true;
}

bool check_shape(struct call *c, uint32_t slot, uint32_t rank, const uint32_t *dims)
{
    const struct tensor_type *t = input_type(c, slot);
    bool differs = t->rank != rank;

    for (uint32_t i = 0; i < rank && !differs; i++)
        differs = dim_differs(c->graph, t->dims[i], dims[i]);
    if (differs)
        return call_error(c, "the shape of %s is %s, not %s", op_infos[c->op].ins[slot].name, SHAPE_PRINT(t),
                          DIMS_PRINT(rank, dims));
    return true;
}

bool check_list_size(struct call *c, const char *name, size_t count, size_t expected)
{
    if (count != expected)
        return call_error(c, "%s has %zu items, not %zu", name, count, expected);
    return true;
}

bool check_list_positive(struct call *c, const char *name, size_t count, const uint32_t *values)
{
    for (size_t i = 0; i < count; i++)
        if (!values[i])
            return call_error(c, "%s[%zu] is 0", name, i);
    return true;
}

bool check_axes(struct call *c, const char *name, size_t count, const uint32_t *values, uint32_t rank)
{
    uint32_t seen = 0; /* one bit per axis: rank is at most RANK_MAX */

    for (size_t i = 0; i < count; i++) {
        if (values[i] >= rank)
            return call_error(c, "%s[%zu] is %" PRIu32 ", %s has rank %" PRIu32, name, i, values[i],
                              op_infos[c->op].ins[0].name, rank);
        if (seen & 1u << values[i])
            return call_error(c, "%s contains %" PRIu32 " more than once", name, values[i]);
        seen |= 1u << values[i];
    }
    return true;
}

/* ---- defaults ---- */

/** Makes room for a list: for one item at least, so that an empty list still has an address and is present. */
static uint32_t *new_list(struct call *c, size_t count)
{
    uint32_t *values = arena_array(&c->graph->arena, count ? count : 1, sizeof(*values));

    if (!values)
        out_of_memory(c);
    return values;
}

bool list_default(struct call *c, struct list_option list, size_t count, const uint32_t *values)
{
    if (*list.values)
        return check_list_size(c, list.name, *list.count, count);
    uint32_t *copy = new_list(c, count);
    if (!copy)
        return false;
    if (count)
        memcpy(copy, values, count * sizeof(*values));
    *list.values = copy;
    *list.count = count;
    return true;
}

bool list_default_fill(struct call *c, struct list_option list, size_t count, uint32_t value)
{
    uint32_t values[RANK_MAX];

    for (size_t i = 0; i < count; i++)
        values[i] = value;
    return list_default(c, list, count, values);
}

bool axes_default(struct call *c, struct list_option axes, uint32_t first, uint32_t rank)
{
    uint32_t values[RANK_MAX], count = 0;

    if (*axes.values)
        return check_axes(c, axes.name, *axes.count, *axes.values, rank);
    for (uint32_t i = first; i < rank; i++)
        values[count++] = i;
    return list_default(c, axes, count, values);
}

/* ---- numbers ---- */

double cast_option(const struct call *c, double value)
{
    dtype t = input_type(c, 0)->type;

    return scalar_to_double(number_cast(wnnNumber(value), t), t);
}

WNNNumber cast_number(const struct call *c, WNNNumber value)
{
    dtype t = input_type(c, 0)->type;
    union scalar s = number_cast(value, t);

    if (t == DTYPE_FLOAT64)
        return wnnNumber(s.f64);
    switch (t) {
    case WNNOperandDataType_Float32:
    case WNNOperandDataType_Float16:
        return wnnNumber(scalar_to_double(s, t));
    case WNNOperandDataType_Int32:
        return wnnNumberInt64(s.i32);
    case WNNOperandDataType_Uint32:
        return wnnNumberInt64(s.u32);
    case WNNOperandDataType_Int64:
        return wnnNumberInt64(s.i64);
    case WNNOperandDataType_Uint64:
        return wnnNumberUint64(s.u64);
    case WNNOperandDataType_Int8:
        return wnnNumberInt64(s.i8);
    case WNNOperandDataType_Uint8:
        return wnnNumberInt64(s.u8);
    case WNNOperandDataType_Undefined:
    case WNNOperandDataType_Force32:
        break;
    }
    return value;
}

int64_t size_mul(int64_t a, int64_t b)
{
    int64_t product;

    if (__builtin_mul_overflow(a, b, &product) || product > SIZE_HUGE)
        return SIZE_HUGE;
    return product;
}

int64_t size_effective(uint32_t size, uint32_t dilation)
{
    /* Two 32-bit factors fit an unsigned 64-bit product.  A size of 0 cannot come here: filters and windows are checked. */
    uint64_t product = (uint64_t)(size - 1) * dilation;

    return product >= (uint64_t)SIZE_HUGE ? SIZE_HUGE : (int64_t)product + 1;
}
