/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One random application of any operator.  Simple properties (types, ranks, flags, numbers, enumerations) are drawn from the
 * operator's row; functions here and in the generate_<family>.c draw what the rows do not say: axes, shapes that must fit each
 * other, lists of sizes.
 */
#include "drawing.h"

bool draw_first(struct drawing *d, uint32_t rank_min)
{
    const struct operand_info *in = &op_infos[d->op].ins[0];

    if (rank_min < (uint32_t)in->rank_min)
        rank_min = (uint32_t)in->rank_min;
    d->inputs[0] = draw_operand(d->r, in->types, rank_min, (uint32_t)in->rank_max);
    d->count = 1;
    return d->inputs[0] != NULL;
}

struct value *draw_like(struct drawing *d, uint32_t rank, const uint32_t *dims, enum content content)
{
    struct tensor_type t = {.type = type0(d)->type, .rank = rank};

    if (rank)
        memcpy(t.dims, dims, rank * sizeof *dims);
    return draw_typed(d->r, &t, content);
}

size_t draw_axes(struct drawing *d, uint32_t *axes)
{
    uint32_t rank = type0(d)->rank;

    draw_permutation(d->r, rank, axes);
    return chance(d->r, 10) ? 0 : rank ? draw_from(d->r, 1, rank) : 0;
}

/* ---- options that the row describes completely ---- */

static void draw_enum_list(struct drawing *d, const struct attr_info *a)
{
    uint32_t count = d->op == OP_LSTM || d->op == OP_LSTM_CELL ? 3 : 2, *list = d->lists[5];
    size_t size = count;

    for (uint32_t i = 0; i < count; i++)
        do {
            list[i] = draw(d->r, 16);
        } while (!enum_value_name(a->enumeration, list[i]));
    memcpy(d->o.bytes + a->offset, &list, sizeof list);
    memcpy(d->o.bytes + a->count_offset, &size, sizeof size);
}

void draw_simple_options(struct drawing *d)
{
    static const double epsilons[] = {1e-5, 1e-3, 0, 1e-12, 1, 1e-7};
    struct generator *r = d->r;

    for (const struct attr_info *a = op_infos[d->op].attrs; a->kind != ATTR_NONE; a++) {
        char *at = d->o.bytes + a->offset;
        uint32_t u;
        int32_t i;
        double f;
        bool b;
        WNNNumber n;

        if (a->positional || chance(r, 35))
            continue;
        switch (a->kind) {
        case ATTR_BOOL:
            b = chance(r, 50);
            memcpy(at, &b, sizeof b);
            break;
        case ATTR_I32:
            i = chance(r, 95) ? (int32_t)draw(r, 11) - 5 : chance(r, 50) ? INT32_MAX : INT32_MIN;
            memcpy(at, &i, sizeof i);
            break;
        case ATTR_F64:
            f = !strcmp(a->name, "epsilon") ? epsilons[draw(r, sizeof epsilons / sizeof *epsilons)] : draw_option(r);
            memcpy(at, &f, sizeof f);
            break;
        case ATTR_NUMBER:
            n = draw_number(r, type0(d)->type);
            memcpy(at, &n, sizeof n);
            break;
        case ATTR_DATA_TYPE:
            u = draw_type(r, op_infos[d->op].outs[0].types);
            memcpy(at, &u, sizeof u);
            break;
        case ATTR_ENUM:
            do {
                u = draw(r, 16);
            } while (!enum_value_name(a->enumeration, u));
            memcpy(at, &u, sizeof u);
            break;
        case ATTR_ENUM_LIST:
            draw_enum_list(d, a);
            break;
        case ATTR_NONE:
        case ATTR_U32:
        case ATTR_U32_LIST:
        case ATTR_F32_LIST:
            break;
        }
    }
}

/* ---- element by element ---- */

static bool draw_unary(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    draw_simple_options(d);
    if (d->op == OP_CAST)
        d->args.cast.dataType = draw_type(d->r, DT_ANY);
    return true;
}

static bool draw_binary(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    d->inputs[1] = draw_partner(d->r, type0(d)->type, type0(d));
    d->count = 2;
    if (d->inputs[1] && chance(d->r, 40)) {
        struct value *v = d->inputs[0];
        d->inputs[0] = d->inputs[1];
        d->inputs[1] = v;
    }
    return true;
}

static bool draw_where(struct drawing *d)
{
    struct generator *r = d->r;
    struct value *hint = r->hint, *a, *b, *c;

    if (hint && hint->type.type == WNNOperandDataType_Uint8 && chance(r, 80)) {
        a = draw_partner(r, draw_type(r, DT_ANY), &hint->type);
        c = hint;
        b = a ? draw_partner(r, a->type.type, &a->type) : NULL;
    } else {
        a = draw_operand(r, DT_ANY, 0, RANK_MAX);
        b = a ? draw_partner(r, a->type.type, &a->type) : NULL;
        c = a ? draw_partner(r, WNNOperandDataType_Uint8, &a->type) : NULL;
    }
    d->inputs[0] = c;
    d->inputs[1] = chance(r, 50) ? a : b;
    d->inputs[2] = d->inputs[1] == a ? b : a;
    d->count = 3;
    return a && b && c;
}

static bool draw_quantize(struct drawing *d)
{
    if (!draw_first(d, 0))
        return false;
    struct tensor_type t = *type0(d);
    for (uint32_t i = 0; i < t.rank; i++)
        t.dims[i] = chance(d->r, 50) ? 1 : draw_divisor(d->r, t.dims[i]);
    if (d->op == OP_DEQUANTIZE_LINEAR)
        t.type = draw_type(d->r, DT_FLOAT32_FLOAT16);
    d->inputs[1] = draw_typed(d->r, &t, CONTENT_POSITIVE);
    t.type = d->op == OP_DEQUANTIZE_LINEAR ? type0(d)->type : draw_type(d->r, DT_UINT8_INT8_UINT32_INT32);
    d->inputs[2] = draw_typed(d->r, &t, CONTENT_SMALL);
    d->count = 3;
    return true;
}

static bool draw_triangular(struct drawing *d)
{
    if (!draw_first(d, 2))
        return false;
    draw_simple_options(d);
    return true;
}

/* ---- which function draws which operator ---- */

static draw_function *const functions[OP_COUNT] = {
    [OP_ARG_MIN] = draw_axis,
    [OP_ARG_MAX] = draw_axis,
    [OP_CUMULATIVE_SUM] = draw_axis,
    [OP_SOFTMAX] = draw_axis,
    [OP_BATCH_NORMALIZATION] = draw_batch_normalization,
    [OP_INSTANCE_NORMALIZATION] = draw_instance_normalization,
    [OP_LAYER_NORMALIZATION] = draw_layer_normalization,
    [OP_CONCAT] = draw_concat,
    [OP_CONV2D] = draw_conv2d,
    [OP_CONV_TRANSPOSE2D] = draw_conv_transpose2d,
    [OP_DEQUANTIZE_LINEAR] = draw_quantize,
    [OP_QUANTIZE_LINEAR] = draw_quantize,
    [OP_EXPAND] = draw_expand,
    [OP_GATHER] = draw_gather,
    [OP_GATHER_ELEMENTS] = draw_elements,
    [OP_SCATTER_ELEMENTS] = draw_elements,
    [OP_GATHER_ND] = draw_nd,
    [OP_SCATTER_ND] = draw_nd,
    [OP_GEMM] = draw_gemm,
    [OP_MATMUL] = draw_matmul,
    [OP_PAD] = draw_pad,
    [OP_RESAMPLE2D] = draw_resample2d,
    [OP_RESHAPE] = draw_reshape,
    [OP_REVERSE] = draw_reverse,
    [OP_SLICE] = draw_slice,
    [OP_SPLIT] = draw_split,
    [OP_TILE] = draw_tile,
    [OP_TRANSPOSE] = draw_transpose,
    [OP_TRIANGULAR] = draw_triangular,
    [OP_WHERE] = draw_where,
};

/* Operators that are not above are drawn by what their rows say of them. */
static draw_function *function_of(enum op op)
{
    const struct op_info *row = &op_infos[op];

    return functions[op]                ? functions[op]
           : row->flags & OPF_REDUCTION ? draw_reduce
           : row->flags & OPF_POOL      ? draw_pool2d
           : row->flags & OPF_RECURRENT ? draw_recurrent
           : row->ins[1].name           ? draw_binary
                                        : draw_unary;
}

bool draw_operator(struct generator *r, enum op op)
{
    struct drawing d = {.r = r, .op = op};

    memcpy(d.o.bytes, op_infos[op].options_default, op_infos[op].options_size);
    if (!function_of(op)(&d))
        return false;
    struct node *n = append(r, op, d.count, d.inputs, d.o.bytes, &d.args);
    if (!n)
        return false;
    r->hint = n->results[draw(r, n->result_count)];
    return true;
}
