/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Follows sizes that are values: the elements of small tensors that depend on shapes and constants only, as expressions
 * (dims.h).
 *
 * What a node computes on such elements is noted when it is made.  An operator that is not understood here gives unknowns: they
 * are computed when the sizes are known (at_sizes.c), and until then nothing is proved about them.  Expressions do not wrap
 * around as elements of 32 bits do; at_sizes.c finds that out.
 */
#include <string.h>

#include "ir/graph/dims_internal.h"
#include "ir/graph/op_draft.h"

static bool is_small(const struct value *v)
{
    return !type_is_open(&v->type) && type_elements(&v->type) <= DIM_VALUES_MAX;
}

static dim_expr unknown(struct graph *g)
{
    return dims_unknown(g, INT64_MIN / 4, INT64_MAX / 4);
}

static dim_expr constant_element(struct graph *g, const struct value *v, int64_t i)
{
    const size_t size = dtype_size(v->type.type);
    union scalar s = {0};

    memcpy(&s, (const char *)v->constant->data + (size_t)i * size, size);
    switch (v->type.type) {
    case WNNOperandDataType_Int32:
        return dims_constant(g, s.i32);
    case WNNOperandDataType_Uint32:
        return dims_constant(g, s.u32);
    case WNNOperandDataType_Int64:
        return dims_constant(g, s.i64);
    case WNNOperandDataType_Uint64:
        return s.u64 > INT64_MAX ? unknown(g) : dims_constant(g, (int64_t)s.u64);
    case WNNOperandDataType_Int8:
        return dims_constant(g, s.i8);
    case WNNOperandDataType_Uint8:
        return dims_constant(g, s.u8);
    case WNNOperandDataType_Float32:
    case WNNOperandDataType_Float16:
    case WNNOperandDataType_Undefined:
    case WNNOperandDataType_Force32:
        break;
    }
    return unknown(g);
}

const dim_expr *dims_values(struct graph *g, struct value *v)
{
    if (v->sizes || v->kind != VALUE_CONSTANT || !is_small(v) || !v->constant || dtype_packed_bits(v->type.type))
        return v->sizes;
    const int64_t count = type_elements(&v->type);
    dim_expr *values = arena_array(&g->arena, (size_t)count, sizeof *values);
    for (int64_t i = 0; values && i < count; i++)
        values[i] = constant_element(g, v, i);
    return v->sizes = values;
}

/* ---- what operators do ---- */

static int64_t elements(const struct value *v)
{
    return type_elements(&v->type);
}

/* Returns whether an operand has an element for each of a result, or one for all. */
static bool spreads(const struct value *v, int64_t count)
{
    return elements(v) == count || elements(v) == 1;
}

static bool is_float(const struct value *v)
{
    return v->type.type == WNNOperandDataType_Float32 || v->type.type == WNNOperandDataType_Float16;
}

static bool is_negative(struct graph *g, dim_expr e)
{
    return dims_at_least(g, e, dims_constant(g, 0)) != ANSWER_YES;
}

/* Computes one element of a comparison, which is unknown where it depends on the sizes. */
static dim_expr compare(struct graph *g, uint32_t flags, dim_expr a, dim_expr b)
{
    const bool less = flags & OPF_IF_LESS, equal = flags & OPF_IF_EQUAL, greater = flags & OPF_IF_GREATER;
    const enum answer x = less == greater    ? dims_equal(g, a, b)
                          : equal == greater ? dims_at_least(g, a, b)
                                             : dims_at_least(g, b, a);

    return x == ANSWER_UNKNOWN ? DIM_NONE
                               : dims_constant(g, (x == ANSWER_YES) == equal); /* "yes" is said of equal numbers, too */
}

/* Computes one element of an operator with two operands. */
static dim_expr binary(struct graph *g, enum op op, dim_expr a, dim_expr b)
{
    const bool divides = op == OP_DIV || op == OP_MODULUS_FLOOR || op == OP_MODULUS_TRUNCATE;

    if (op_infos[op].flags & OPF_COMPARES)
        return compare(g, op_infos[op].flags, a, b);
    if (op == OP_ADD || op == OP_SUB)
        return dims_sum(g, 1, a, op == OP_ADD ? 1 : -1, b);
    if (op == OP_MUL)
        return dims_product(g, a, b);
    if (op == OP_MAX || op == OP_MIN)
        return dims_extreme(g, a, b, op == OP_MAX);
    /* Integers are divided towards zero, which is down for numbers that are not negative. */
    if (!divides || (op != OP_MODULUS_FLOOR && is_negative(g, a)) || dims_at_least(g, b, dims_constant(g, 1)) != ANSWER_YES)
        return unknown(g);
    const dim_expr quotient = dims_divide(g, a, b);
    return op == OP_DIV ? quotient : dims_sum(g, 1, a, -1, dims_product(g, quotient, b));
}

/* Fills in the elements of a node's only result; those that stay DIM_NONE are unknown. */
static void compute(struct graph *g, const struct node *n, const dim_expr *const *in, dim_expr *out)
{
    const int64_t count = elements(n->results[0]);
    const struct value *x = n->inputs[0].value;
    const WNNSliceOptions *slice = n->options;
    int64_t at = 0, index;

    for (int64_t i = 0; i < count; i++)
        out[i] = DIM_NONE;
    if (n->op == OP_CAST || op_infos[n->op].flags & OPF_RESHAPES) {
        memcpy(out, in[0], (size_t)count * sizeof *out);
    } else if (n->op == OP_NEG) {
        for (int64_t i = 0; i < count; i++)
            out[i] = dims_sum(g, -1, in[0][i], 0, in[0][i]);
    } else if (n->op == OP_CONCAT && x->type.rank == 1) {
        for (uint32_t k = 0; k < n->input_count; at += elements(n->inputs[k++].value))
            memcpy(out + at, in[k], (size_t)elements(n->inputs[k].value) * sizeof *out);
    } else if (n->op == OP_SLICE && x->type.rank == 1) {
        for (int64_t i = 0; i < count; i++)
            out[i] = in[0][n->args.slice.starts[0] + i * (slice->strides ? slice->strides[0] : 1)];
    } else if (n->op == OP_GATHER && x->type.rank == 1) {
        for (int64_t i = 0; i < count; i++)
            if (dims_is_constant(g, in[1][i], &index) && index >= -elements(x) && index < elements(x))
                out[i] = in[0][index < 0 ? index + elements(x) : index];
    } else if ((n->op == OP_EXPAND || n->op == OP_EXPAND_DYNAMIC) && elements(x) == 1) {
        for (int64_t i = 0; i < count; i++)
            out[i] = in[0][0];
    } else if (n->op == OP_REDUCE_PRODUCT && count == 1) {
        out[0] = dims_constant(g, 1);
        for (int64_t i = 0; i < elements(x); i++)
            out[0] = dims_product(g, out[0], in[0][i]);
    } else if (n->op == OP_WHERE) { /* of a condition that is known */
        for (int64_t i = 0; i < count && spreads(x, count); i++)
            if (dims_is_constant(g, in[0][elements(x) == 1 ? 0 : i], &index)) {
                const uint32_t from = index ? 1 : 2;
                const struct value *v = n->inputs[from].value;

                if (spreads(v, count))
                    out[i] = in[from][elements(v) == 1 ? 0 : i];
            }
    } else if (n->input_count == 2 && n->inputs[1].value && !(n->op == OP_DIV && is_float(x))) {
        const struct value *y = n->inputs[1].value;
        for (int64_t i = 0; i < count && spreads(x, count) && spreads(y, count); i++)
            out[i] = binary(g, n->op, in[0][elements(x) == 1 ? 0 : i], in[1][elements(y) == 1 ? 0 : i]);
    }
}

static bool note_shape(struct graph *g, const struct node *n)
{
    const struct tensor_type *t = &n->inputs[0].value->type;
    dim_expr *values = arena_array(&g->arena, t->rank, sizeof *values);

    for (uint32_t i = 0; values && i < t->rank; i++)
        values[i] = dims_of(g, t->dims[i]);
    n->results[0]->sizes = values;
    return values || error_out_of_memory(&g->error);
}

bool dims_note(struct graph *g, const struct node *n)
{
    if (n->op == OP_SHAPE)
        return note_shape(g, n);
    for (uint32_t i = 0; i < n->result_count; i++)
        if (!is_small(n->results[i]) || n->op == OP_LOOP)
            return true;
    const dim_expr **in = arena_array(&g->arena, n->input_count, sizeof *in);
    for (uint32_t i = 0; in && i < n->input_count; i++)
        if (n->inputs[i].value && !(in[i] = dims_values(g, n->inputs[i].value)))
            return !g->error.status; /* it depends on an input, or on many numbers */
    for (uint32_t r = 0; in && r < n->result_count; r++) {
        const int64_t count = elements(n->results[r]);
        dim_expr *values = arena_array(&g->arena, (size_t)count, sizeof *values);

        if (!values)
            return error_out_of_memory(&g->error);
        for (int64_t i = 0; i < count; i++)
            values[i] = DIM_NONE;
        if (n->result_count == 1)
            compute(g, n, in, values);
        for (int64_t i = 0; i < count && !g->error.status; i++)
            if (values[i] == DIM_NONE)
                values[i] = unknown(g);
        if (g->error.status)
            return false;
        n->results[r]->sizes = values;
    }
    return in || error_out_of_memory(&g->error);
}
