/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Drawing attentions as language models and encoders have them: heads that share heads of K and V, in one matrix or not, many
 * rows or few, a scale, masks of every shape, and numbers that say which keys count, in every spelling, in float32, or in
 * float16 with parts of it in float32.  Some miss one condition of those that the compiler looks for.
 */
#include "drawing.h"

/* These are the sizes of an attention. */
struct sizes {
    uint32_t batch, shared, group, rows, keys, depth, width;
};

static struct value *result(struct generator *r, enum op op, uint32_t count, struct value *const *inputs, const void *options,
                            const union op_args *args)
{
    struct node *n = append(r, op, count, inputs, options, args);

    return n ? n->results[0] : NULL;
}

static struct value *reshape(struct generator *r, struct value *v, uint32_t rank, const uint32_t *dims)
{
    const union op_args args = {.reshape = {rank, dims}};

    return v ? result(r, OP_RESHAPE, 1, &v, NULL, &args) : NULL;
}

static struct value *transpose(struct generator *r, struct value *v, const uint32_t *permutation)
{
    WNNTransposeOptions o = WNN_TRANSPOSE_OPTIONS_INIT;

    o.permutation = permutation;
    o.permutationCount = 4;
    return v ? result(r, OP_TRANSPOSE, 1, &v, &o, NULL) : NULL;
}

static struct value *draw_floats(struct generator *r, dtype type, enum content content, const uint32_t dims[4])
{
    struct tensor_type t = {.type = type, .rank = 4};

    memcpy(t.dims, dims, 4 * sizeof *dims);
    return draw_leaf(r, &t, content, 0);
}

static struct value *binary(struct generator *r, enum op op, struct value *a, struct value *b)
{
    struct value *inputs[2] = {a, b};

    return a && b ? result(r, op, 2, inputs, NULL, NULL) : NULL;
}

static struct value *cast(struct generator *r, struct value *v, dtype type)
{
    const union op_args args = {.cast = {type}};

    return v && v->type.type != type ? result(r, OP_CAST, 1, &v, NULL, &args) : v;
}

/* Multiplies matrices of one type, of float16 sometimes in float32 between casts. */
static struct value *multiply(struct generator *r, struct value *a, struct value *b)
{
    const dtype type = a && b ? b->type.type : WNNOperandDataType_Float32;

    a = cast(r, a, type);
    if (type == WNNOperandDataType_Float32 || chance(r, 50))
        return binary(r, OP_MATMUL, a, b);
    return cast(r, binary(r, OP_MATMUL, cast(r, a, WNNOperandDataType_Float32), cast(r, b, WNNOperandDataType_Float32)), type);
}

static void exchange(struct value **a, struct value **b)
{
    struct value *first = *a;

    *a = *b;
    *b = first;
}

/* Compares the numbers of the keys with those of rows. */
static struct value *draw_comparison(struct generator *r, const struct value *scores, const struct sizes *s)
{
    static const uint8_t comparisons[] = {OP_GREATER, OP_GREATER_OR_EQUAL, OP_LESSER, OP_LESSER_OR_EQUAL};
    static const dtype types[] = {WNNOperandDataType_Int32,  WNNOperandDataType_Int32, WNNOperandDataType_Int32,
                                  WNNOperandDataType_Int64,  WNNOperandDataType_Int64, WNNOperandDataType_Uint32,
                                  WNNOperandDataType_Uint64, WNNOperandDataType_Uint8, WNNOperandDataType_Int8};
    const dtype type = types[draw(r, sizeof types / sizeof *types)];
    struct tensor_type keys = {.type = type, .rank = 1, .dims = {s->keys}}, last = {.type = type, .rank = 4};
    struct value *inputs[2];

    memcpy(last.dims, scores->type.dims, sizeof last.dims);
    for (uint32_t d = 0; d < 4; d++)
        if (d == 3 || chance(r, d == 2 ? 40 : 80))
            last.dims[d] = 1;
    inputs[0] = draw_leaf(r, &keys, CONTENT_COUNTING, 0);
    inputs[1] = draw_leaf(r, &last, CONTENT_INDEX, s->keys);
    if (chance(r, 40))
        exchange(&inputs[0], &inputs[1]);
    return binary(r, (enum op)comparisons[draw(r, 4)], inputs[0], inputs[1]);
}

/* Says which keys count, or which do not: one thing or two. */
static struct value *draw_condition(struct generator *r, const struct value *scores, const struct sizes *s)
{
    const struct tensor_type bytes = {.type = WNNOperandDataType_Uint8, .rank = 1, .dims = {s->keys}};
    struct value *condition = draw_comparison(r, scores, s), *other;

    if (chance(r, 45)) {
        other = chance(r, 80) ? draw_comparison(r, scores, s) : draw_leaf(r, &bytes, CONTENT_ANY, 0);
        if (other && chance(r, 20))
            other = result(r, OP_LOGICAL_NOT, 1, &other, NULL, NULL);
        condition = binary(r,
                           chance(r, 50)   ? OP_LOGICAL_AND
                           : chance(r, 80) ? OP_LOGICAL_OR
                                           : OP_LOGICAL_XOR,
                           condition, other);
    }
    while (condition && chance(r, 40))
        condition = result(r, OP_LOGICAL_NOT, 1, &condition, NULL, NULL);
    return condition;
}

/* Replaces the scores of keys that do not count, or adds to them. */
static struct value *draw_mask(struct generator *r, struct value *scores, const struct sizes *s)
{
    const struct tensor_type scalar = {.type = scores->type.type};
    const bool adds = chance(r, 40);
    struct value *inputs[3] = {draw_condition(r, scores, s), scores, draw_leaf(r, &scalar, CONTENT_LOWEST, 0)}, *masked;

    if (adds)
        inputs[1] = draw_leaf(r, &scalar, CONTENT_ZERO, 0);
    if (chance(r, 50))
        exchange(&inputs[1], &inputs[2]);
    masked = inputs[0] ? result(r, OP_WHERE, 3, inputs, NULL, NULL) : NULL;
    if (!adds)
        return masked;
    return chance(r, 50) ? binary(r, OP_ADD, masked, scores) : binary(r, OP_ADD, scores, masked);
}

static struct value *draw_chain(struct generator *r, struct value *v, const struct sizes *s)
{
    if (v && chance(r, 40)) {
        const struct tensor_type scalar = {.type = v->type.type};

        v = binary(r, OP_MUL, v, draw_leaf(r, &scalar, CONTENT_SMALL, 0));
    }
    if (v && chance(r, 40)) {
        uint32_t dims[4];

        memcpy(dims, v->type.dims, sizeof dims);
        for (uint32_t d = 0; d < 4; d++)
            if (chance(r, 50))
                dims[d] = 1;
        v = binary(r, OP_ADD, v, draw_floats(r, v->type.type, CONTENT_SMALL, dims));
    }
    /* Masked keys are not seen: NaN and infinities in K and V would be. */
    for (uint32_t chances = 60; v && !r->odd && chance(r, chances); chances = 20)
        v = draw_mask(r, v, s);
    return v;
}

bool draw_attention(struct generator *r)
{
    static const uint32_t across[4] = {0, 1, 3, 2}, heads_last[4] = {0, 2, 1, 3};
    const struct sizes s = {.batch = chance(r, 80) ? 1 : 2,
                            .shared = draw_from(r, 1, 3),
                            .group = draw_from(r, 1, 4),
                            .rows = chance(r, 40) ? 1 : draw_from(r, 1, 40),
                            .keys = chance(r, 60) ? 32 * draw_from(r, 1, 6) : draw_from(r, 1, 60),
                            .depth = draw_from(r, 1, 40),
                            .width = draw_from(r, 1, 40)};
    const uint32_t heads = s.shared * s.group, matrix = s.group * s.rows;
    const bool grouped = s.group > 1 || chance(r, 20), half = chance(r, 40);
    const dtype type = half ? WNNOperandDataType_Float16 : WNNOperandDataType_Float32;
    struct value *k = draw_floats(r, type, CONTENT_SMALL, (uint32_t[]){s.batch, s.shared, s.keys, s.depth});
    struct value *v = multiply(r, draw_floats(r, type, CONTENT_SMALL, (uint32_t[]){s.batch, s.shared, matrix, s.depth}),
                               transpose(r, k, across));
    const union op_args along_keys = {.softmax = {3}};

    if (grouped)
        v = reshape(r, v, 4, (uint32_t[]){s.batch, heads, s.rows, s.keys});
    v = draw_chain(r, v, &s);
    if (half && chance(r, 40))
        v = cast(r, v, WNNOperandDataType_Float32);
    v = v ? result(r, OP_SOFTMAX, 1, &v, NULL, &along_keys) : NULL;
    if (grouped)
        v = reshape(r, v, 4, (uint32_t[]){s.batch, s.shared, matrix, s.keys});
    v = v ? multiply(r, v, draw_floats(r, type, CONTENT_SMALL, (uint32_t[]){s.batch, s.shared, s.keys, s.width})) : NULL;
    if (grouped && chance(r, 60))
        v = transpose(r, reshape(r, v, 4, (uint32_t[]){s.batch, heads, s.rows, s.width}), heads_last);
    if (!v)
        return false;
    r->hint = v;
    return true;
}
