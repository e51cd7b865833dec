/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random numbers, shapes, data, operands and whole graphs.  In: a seed.  Out: an evaluated sample.
 *
 * Half of a graph's operators are drawn one by one from all rows of the table, the others as patterns: chains that networks
 * have and that passes look for.  Operands prefer what was computed last, so that chains form.
 */
#include "generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/infer.h"

enum { VALUES_LIMIT = 400 };

/* ---- numbers ---- */

uint64_t draw_bits(struct generator *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void draw_permutation(struct generator *r, uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = draw(r, i + 1);
        out[i] = out[j];
        out[j] = i;
    }
}

uint32_t draw_divisor(struct generator *r, uint32_t n)
{
    uint32_t d = chance(r, 30) ? n : chance(r, 50) ? 1 : draw_from(r, 1, n);

    while (n % d)
        d--;
    return d;
}

dtype draw_type(struct generator *r, dtype_set set)
{
    if (r->wanted && set >> r->wanted & 1 && chance(r, 70))
        return r->wanted;
    if (set & DT_BIT(Float32) && chance(r, 35))
        return WNNOperandDataType_Float32;
    for (;;) {
        dtype t = (dtype)draw_from(r, 1, DTYPE_COUNT - 1);
        if (set >> t & 1)
            return t;
    }
}

uint32_t draw_size(struct generator *r, int64_t elements)
{
    static const uint8_t sizes[] = {1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 64, 65, 100, 128};
    uint32_t size = sizes[draw(r, sizeof sizes)];

    return size <= elements ? size : elements > 1 ? draw_from(r, 1, (uint32_t)(elements < 9 ? elements : 9)) : 1;
}

struct tensor_type draw_shape(struct generator *r, dtype type, uint32_t rank_min, uint32_t rank_max)
{
    struct tensor_type t = {.type = type};
    int64_t left = r->budget;
    uint32_t order[RANK_MAX];

    t.rank = chance(r, 70) ? draw_from(r, 1, 4) : draw(r, RANK_MAX + 1);
    if (t.rank < rank_min || t.rank > rank_max)
        t.rank = draw_from(r, rank_min, rank_max);
    draw_permutation(r, t.rank, order);
    for (uint32_t i = 0; i < t.rank; i++) {
        /* the rest, shared out so that the first dimensions do not take all */
        int64_t share = (int64_t)pow((double)left, i + 1 < t.rank && t.rank - i < 4 ? 0.7 : i + 1 < t.rank ? 0.5 : 1.0);
        uint32_t size = draw_size(r, share);
        t.dims[order[i]] = size;
        left /= size;
    }
    return t;
}

double draw_option(struct generator *r)
{
    static const double few[] = {0, 1, -1, 0.5, 2, 6, 0.1, -0.25, 1e-3, 100, -0.0, 70000, 1e-40};

    return chance(r, 60) ? few[draw(r, sizeof few / sizeof *few)] : 3 * draw_unit(r);
}

WNNNumber draw_number(struct generator *r, dtype type)
{
    if (dtype_is_float(type) || chance(r, 30))
        return wnnNumber(r->odd && chance(r, 5) ? (chance(r, 50) ? INFINITY : -INFINITY) : draw_option(r));
    if (chance(r, 80))
        return wnnNumberInt64((int64_t)draw(r, 20) - 10);
    return type == WNNOperandDataType_Uint64 ? wnnNumberUint64(draw_bits(r)) : wnnNumberInt64((int64_t)draw_bits(r));
}

/* ---- data ---- */

enum style { STYLE_GRID, STYLE_NORMAL, STYLE_POSITIVE, STYLE_WIDE, STYLE_BITS, STYLE_FEW, STYLE_ODD, STYLE_ZERO_POINT };

static union scalar draw_float(struct generator *r, dtype type, enum style style)
{
    static const double odd[] = {NAN,
                                 INFINITY,
                                 -INFINITY,
                                 0.0,
                                 -0.0,
                                 1e-45,
                                 -1e-45,
                                 1e-40,
                                 6e-8,
                                 -6e-8,
                                 3e-5,
                                 65504.0,
                                 -65504.0,
                                 65520.0,
                                 3.4028234663852886e38,
                                 -3.4028234663852886e38,
                                 16777217.0,
                                 2147483648.0,
                                 -2147483904.0,
                                 9.3e18,
                                 -9.3e18,
                                 0.5,
                                 2.5,
                                 -1.5,
                                 127.5};
    union scalar s = {.u64 = 0};
    double x = 2 * draw_unit(r);

    switch (style) {
    case STYLE_GRID:
        x = ((double)draw(r, 33) - 16) / 4;
        break;
    case STYLE_POSITIVE:
        x = 0.05 + 2 * fabs(x);
        break;
    case STYLE_WIDE:
        x = ldexp(x, type == WNNOperandDataType_Float16 ? (int)draw(r, 41) - 28 : (int)draw(r, 61) - 36);
        break;
    case STYLE_BITS:
        s.u64 = draw_bits(r);
        if (type == WNNOperandDataType_Float32)
            s.u64 &= UINT32_MAX;
        else
            s.u64 &= UINT16_MAX;
        return s;
    case STYLE_FEW:
        x = (double)draw(r, 3) - 1;
        break;
    case STYLE_ODD:
        if (chance(r, 20))
            x = odd[draw(r, sizeof odd / sizeof *odd)];
        break;
    case STYLE_NORMAL:
    case STYLE_ZERO_POINT:
        break;
    }
    return number_cast(wnnNumber(x), type);
}

static uint64_t integer_extreme(struct generator *r, dtype type)
{
    unsigned bits = 8 * (unsigned)dtype_size(type);
    const uint64_t top = UINT64_C(1) << (bits - 1), choices[] = {0, 1, top, top - 1, top + 1, UINT64_MAX, UINT64_MAX - 1, 2, 3};

    return choices[draw(r, sizeof choices / sizeof *choices)];
}

static union scalar draw_integer(struct generator *r, dtype type, enum style style)
{
    union scalar s = {.u64 = 0};
    uint64_t x = dtype_is_signed(type) ? (uint64_t)((int64_t)draw(r, 17) - 8) : draw(r, 13);

    if (style == STYLE_FEW)
        x = draw(r, 2);
    else if (style == STYLE_BITS || style == STYLE_WIDE)
        x = draw_bits(r);
    else if (style == STYLE_ODD && chance(r, 40))
        x = integer_extreme(r, type);
    switch (dtype_size(type)) {
    case 1:
        s.u8 = (uint8_t)x;
        break;
    case 4:
        s.u32 = (uint32_t)x;
        break;
    default:
        s.u64 = x;
    }
    return s;
}

static union scalar draw_index(struct generator *r, dtype type, uint32_t range, bool beyond)
{
    int64_t i = dtype_is_signed(type) ? (int64_t)draw(r, 2 * range) - range : draw(r, range);
    union scalar s = {.i64 = i};

    if (beyond && chance(r, 25))
        s.u64 = chance(r, 50) ? integer_extreme(r, type) : (uint64_t)((int64_t)draw(r, 4 * range) - 2 * range);
    if (dtype_size(type) == 4)
        s = (union scalar){.u32 = (uint32_t)s.u64};
    return s;
}

static enum style draw_style(struct generator *r, enum content content)
{
    static const enum style usual[] = {STYLE_GRID,   STYLE_GRID, STYLE_GRID, STYLE_NORMAL,  STYLE_NORMAL,
                                       STYLE_NORMAL, STYLE_FEW,  STYLE_WIDE, STYLE_POSITIVE};

    if (content == CONTENT_POSITIVE || content == CONTENT_SCALE)
        return STYLE_POSITIVE;
    if (content == CONTENT_BYTES || content == CONTENT_WEIGHTS || content == CONTENT_NIBBLES)
        return STYLE_BITS;
    if (content == CONTENT_ZERO_POINT)
        return STYLE_ZERO_POINT;
    if (r->odd && chance(r, 25))
        return chance(r, 75) ? STYLE_ODD : STYLE_BITS;
    if (content == CONTENT_SMALL)
        return chance(r, 40) ? STYLE_GRID : STYLE_NORMAL;
    return usual[draw(r, sizeof usual / sizeof *usual)];
}

static void *draw_data(struct generator *r, const struct tensor_type *t, enum content content, uint32_t range)
{
    size_t size = dtype_size(t->type);
    char *data = random_alloc((size_t)type_elements(t), size);
    enum style style = draw_style(r, content);
    bool beyond = chance(r, 30);
    uint64_t zero_point = dtype_is_signed(t->type) ? 0 : 128; /* the middle of the range more often than not */

    if (style == STYLE_ZERO_POINT && chance(r, 40))
        zero_point = draw_bits(r) & 127;

    for (int64_t i = 0; i < type_elements(t); i++) {
        union scalar s = content == CONTENT_INDEX  ? draw_index(r, t->type, range, beyond)
                         : dtype_is_float(t->type) ? draw_float(r, t->type, style)
                                                   : draw_integer(r, t->type, style);
        if (style == STYLE_ZERO_POINT)
            s = (union scalar){.u64 = zero_point};
        if (content == CONTENT_COUNTING)
            s = (union scalar){.i64 = i};
        if (content == CONTENT_LOWEST)
            s = t->type == WNNOperandDataType_Float16 ? (union scalar){.f16 = 0xfc00} : (union scalar){.f32 = -1e38f};
        if (content == CONTENT_ZERO)
            s = (union scalar){.u64 = 0};
        if (content == CONTENT_NIBBLES) /* of int8 from -8 on */
            s = (union scalar){.u64 = (s.u64 & 15) - (dtype_is_signed(t->type) ? 8 : 0)};
        memcpy(data + (size_t)i * size, &s, size);
    }
    return data;
}

/* ---- values ---- */

static void add_value(struct generator *r, struct value *v)
{
    if (r->count < r->capacity)
        r->values[r->count++] = v;
}

/* Makes a leaf of that content. */
static struct value *make_leaf(struct generator *r, const struct tensor_type *t, enum content content, uint32_t range,
                               bool constant)
{
    struct graph *g = r->s->g;
    void *data = draw_data(r, t, content, range);
    struct value *v;

    if (constant) {
        struct constant *c = constant_create(data, (size_t)type_bytes(t));
        v = c ? graph_add_constant(g, t, c) : NULL;
    } else {
        char name[24];
        snprintf(name, sizeof name, "x%u", g->input_count);
        v = graph_add_input(g, name, strlen(name), t);
    }
    if (!v)
        random_die("out of memory");
    sample_set_data(r->s, v, data, NULL);
    add_value(r, v);
    return v;
}

struct value *draw_input(struct generator *r, const struct tensor_type *t, enum content content)
{
    return make_leaf(r, t, content, 0, false);
}

struct value *draw_leaf(struct generator *r, const struct tensor_type *t, enum content content, uint32_t range)
{
    uint32_t constants = content >= CONTENT_WEIGHTS ? 95 : content == CONTENT_ANY || content == CONTENT_BYTES ? 30 : 70;
    const bool constant = chance(r, constants);

    return make_leaf(r, t, content, range, constant);
}

static bool fits(const struct value *v, dtype_set types, uint32_t rank_min, uint32_t rank_max)
{
    return types >> v->type.type & 1 && v->type.rank >= rank_min && v->type.rank <= rank_max;
}

/* Newer values are more likely. */
static struct value *any_value(struct generator *r)
{
    uint32_t n = r->count, i = draw(r, n);

    return r->values[chance(r, 60) ? n - 1 - draw(r, n - i) : i];
}

/* Returns the value in a shape of `rank` dimensions: its own, joined or split by ones. */
static struct value *reshaped(struct generator *r, struct value *v, uint32_t rank)
{
    uint32_t dims[RANK_MAX];
    union op_args args = {.reshape = {rank, dims}};
    int64_t left = type_elements(&v->type);

    for (uint32_t d = 0; d < rank; d++) {
        uint32_t divisor = d + 1 == rank                                     ? (uint32_t)left
                           : d < v->type.rank && left % v->type.dims[d] == 0 ? v->type.dims[d]
                                                                             : 1;
        dims[d] = divisor;
        left /= divisor;
    }
    if (left != 1)
        return NULL;
    struct node *n = append(r, OP_RESHAPE, 1, &v, NULL, &args);
    return n ? n->results[0] : NULL;
}

static struct value *casted(struct generator *r, struct value *v, dtype type)
{
    union op_args args = {.cast = {type}};
    struct node *n = append(r, OP_CAST, 1, &v, NULL, &args);

    return n ? n->results[0] : NULL;
}

struct value *draw_operand(struct generator *r, dtype_set types, uint32_t rank_min, uint32_t rank_max)
{
    if (r->hint && fits(r->hint, types, rank_min, rank_max) && chance(r, 95))
        return r->hint;
    if (r->count && chance(r, 75)) {
        for (int i = 0; i < 8; i++) {
            struct value *v = any_value(r);
            if (fits(v, types, rank_min, rank_max))
                return v;
        }
        struct value *v = r->hint ? r->hint : any_value(r);
        if (!(types >> v->type.type & 1) && chance(r, 60)) {
            struct value *c = casted(r, v, draw_type(r, types));
            v = c ? c : v;
        }
        if (fits(v, types, 0, RANK_MAX) && !fits(v, types, rank_min, rank_max))
            v = reshaped(r, v, draw_from(r, rank_min, rank_max));
        if (v && fits(v, types, rank_min, rank_max))
            return v;
    }
    struct tensor_type t = draw_shape(r, draw_type(r, types), rank_min, rank_max);
    return draw_leaf(r, &t, CONTENT_ANY, 0);
}

static bool same_sizes(const struct tensor_type *a, const struct tensor_type *b, uint32_t *permutation)
{
    uint32_t used = 0;

    if (a->rank != b->rank)
        return false;
    for (uint32_t d = 0; d < b->rank; d++) {
        uint32_t from = 0;
        while (from < a->rank && (used >> from & 1 || a->dims[from] != b->dims[d]))
            from++;
        if (from == a->rank)
            return false;
        used |= 1u << from;
        permutation[d] = from;
    }
    return true;
}

/* Returns an existing value of that type, or one that a transpose or a reshape makes so. */
static struct value *existing_typed(struct generator *r, const struct tensor_type *t)
{
    uint32_t start = r->count ? draw(r, r->count) : 0;

    for (uint32_t i = 0; i < r->count; i++) {
        struct value *v = r->values[(start + i) % r->count];
        uint32_t permutation[RANK_MAX];
        WNNTransposeOptions options = WNN_TRANSPOSE_OPTIONS_INIT;
        union op_args args = {.reshape = {t->rank, t->dims}};

        if (type_equal(&v->type, t))
            return v;
        if (v->type.type != t->type || type_elements(&v->type) != type_elements(t) || !chance(r, 50))
            continue;
        options.permutation = permutation;
        options.permutationCount = t->rank;
        struct node *n = same_sizes(&v->type, t, permutation) && chance(r, 70) ? append(r, OP_TRANSPOSE, 1, &v, &options, NULL)
                                                                               : append(r, OP_RESHAPE, 1, &v, NULL, &args);
        if (n)
            return n->results[0];
    }
    return NULL;
}

struct value *draw_typed(struct generator *r, const struct tensor_type *t, enum content content)
{
    struct value *v = NULL;

    if (type_elements(t) > 64 * r->budget)
        return NULL;
    if (chance(r, content == CONTENT_ANY ? 80 : 30))
        v = existing_typed(r, t);
    return v ? v : draw_leaf(r, t, content, 0);
}

struct value *draw_partner(struct generator *r, dtype type, const struct tensor_type *with)
{
    struct tensor_type t = {.type = type}, joined;
    uint32_t start = r->count ? draw(r, r->count) : 0, drop;

    for (uint32_t i = 0; i < r->count && i < 30; i++) {
        struct value *v = r->values[(start + i) % r->count];
        if (v->type.type == type && shape_broadcast(NULL, &v->type, with, &joined) &&
            (type_elements(&joined) <= 2 * r->budget || type_equal(&v->type, with)) && chance(r, 60))
            return v;
    }
    drop = chance(r, 50) ? 0 : draw(r, with->rank + 1);
    for (uint32_t d = drop; d < with->rank; d++) {
        uint32_t size = with->dims[d];
        t.dims[t.rank++] = size == 1 ? (chance(r, 20) ? draw_from(r, 2, 4) : 1) : chance(r, 65) ? size : 1;
    }
    if (t.rank == with->rank && t.rank < RANK_MAX && chance(r, 8)) {
        memmove(t.dims + 1, t.dims, t.rank * sizeof t.dims[0]);
        t.dims[0] = draw_from(r, 1, 3);
        t.rank++;
    }
    return draw_leaf(r, &t, CONTENT_ANY, 0);
}

struct node *append(struct generator *r, enum op op, uint32_t count, struct value *const *inputs, const void *options,
                    const union op_args *args)
{
    static const char *const labels[] = {"", "", "", "", "layer 1", "a\"b\\c", "\xc3\xa9\xe2\x82\xac"};
    struct node *n;
    bool good = true;

    for (uint32_t i = 0; i < count; i++)
        if (!inputs[i] && i < op_positional_inputs(op))
            return NULL;
    n = node_create(r->s->g, NULL, op, labels[draw(r, sizeof labels / sizeof *labels)], count, inputs, options, args,
                    &(struct error){0});
    if (!n)
        return NULL;
    for (uint32_t i = 0; good && i < n->result_count; i++)
        good = type_elements(&n->results[i]->type) <= 8 * r->budget;
    good = good && sample_evaluate_node(r->s, n);
    for (uint32_t i = 0; good && i < n->result_count; i++)
        good = sample_unknown(r->s, n->results[i]) * 100 <= type_elements(&n->results[i]->type);
    if (!good) {
        node_remove(n);
        return NULL;
    }
    for (uint32_t i = 0; i < n->result_count; i++)
        add_value(r, n->results[i]);
    return n;
}

/* ---- graphs ---- */

/* Further choices besides operators: an activation, an operator of two broadcast operands, any operator. */
enum { END = OP_COUNT, ACTIVATE, BINARY, ANY };

static const uint8_t patterns[][8] = {
    {OP_CONV2D, ACTIVATE, END},
    {OP_CONV2D, BINARY, ACTIVATE, END},
    {OP_CONV2D, ACTIVATE, BINARY, END},
    {OP_CONV2D, BINARY, BINARY, ACTIVATE, END},
    {OP_CONV2D, OP_BATCH_NORMALIZATION, ACTIVATE, END},
    {OP_CONV2D, OP_BATCH_NORMALIZATION, BINARY, ACTIVATE, OP_CONV2D, END},
    {OP_CONV2D, OP_MUL, OP_ADD, OP_CLAMP, END},
    {OP_CONV2D, ACTIVATE, OP_MAX_POOL2D, OP_CONV2D, ACTIVATE, END},
    {OP_CONV2D, OP_TRANSPOSE, BINARY, OP_TRANSPOSE, END},
    {OP_CONV2D, OP_CONCAT, OP_CONV2D, END},
    {OP_CONV2D, OP_SPLIT, BINARY, END},
    {OP_CONV2D, OP_SIGMOID, OP_MUL, END},
    {OP_CONV_TRANSPOSE2D, BINARY, ACTIVATE, END},
    {OP_PAD, OP_CONV2D, ACTIVATE, END},
    {OP_PAD, OP_AVERAGE_POOL2D, END},
    {OP_TRANSPOSE, OP_CONV2D, OP_TRANSPOSE, ACTIVATE, END},
    {OP_RESAMPLE2D, OP_CONV2D, OP_RESAMPLE2D, END},
    {OP_MATMUL, BINARY, ACTIVATE, END},
    {OP_MATMUL, OP_ADD, OP_GELU, OP_MATMUL, OP_ADD, BINARY, END},
    {OP_MATMUL, OP_SOFTMAX, OP_MATMUL, END},
    {OP_MATMUL, OP_DIV, OP_ADD, OP_SOFTMAX, OP_MATMUL, OP_TRANSPOSE, OP_RESHAPE, END},
    {OP_RESHAPE, OP_TRANSPOSE, OP_MATMUL, OP_TRANSPOSE, OP_RESHAPE, END},
    {OP_GEMM, ACTIVATE, BINARY, END},
    {OP_GEMM, BINARY, ACTIVATE, OP_GEMM, END},
    {OP_LAYER_NORMALIZATION, OP_MATMUL, BINARY, END},
    {BINARY, OP_LAYER_NORMALIZATION, ACTIVATE, END},
    {OP_INSTANCE_NORMALIZATION, ACTIVATE, OP_CONV2D, END},
    {OP_REDUCE_MEAN, OP_SUB, OP_MUL, OP_REDUCE_MEAN, OP_SQRT, OP_DIV, END},
    {OP_REDUCE_MAX, OP_SUB, OP_EXP, OP_REDUCE_SUM, OP_DIV, END},
    {BINARY, OP_REDUCE_SUM, BINARY, OP_REDUCE_MAX, END},
    {OP_REDUCE_SUM_SQUARE, ACTIVATE, OP_REDUCE_L2, END},
    {OP_SOFTMAX, OP_REDUCE_SUM, OP_SOFTMAX, END},
    {OP_CUMULATIVE_SUM, BINARY, OP_REDUCE_SUM, END},
    {OP_SPLIT, ACTIVATE, OP_CONCAT, END},
    {OP_CONCAT, OP_SLICE, OP_CONCAT, OP_SPLIT, END},
    {OP_SLICE, OP_SLICE, OP_TRANSPOSE, OP_SLICE, BINARY, END},
    {OP_SPLIT, OP_SPLIT, OP_CONCAT, OP_RESHAPE, END},
    {OP_RESHAPE, OP_TRANSPOSE, OP_RESHAPE, BINARY, END},
    {OP_REVERSE, OP_SLICE, OP_EXPAND, OP_REDUCE_SUM, END},
    {OP_PAD, OP_SLICE, OP_PAD, BINARY, END},
    {OP_TILE, BINARY, OP_TRANSPOSE, OP_TILE, END},
    {OP_EXPAND, BINARY, OP_REDUCE_MEAN, END},
    {OP_QUANTIZE_LINEAR, OP_DEQUANTIZE_LINEAR, OP_CONV2D, OP_QUANTIZE_LINEAR, OP_DEQUANTIZE_LINEAR, END},
    {OP_DEQUANTIZE_LINEAR, OP_MATMUL, ACTIVATE, OP_QUANTIZE_LINEAR, END},
    {OP_CAST, BINARY, OP_CAST, OP_CAST, END},
    {OP_CAST, OP_CONV2D, ACTIVATE, OP_CAST, END},
    {OP_TRIANGULAR, OP_SOFTMAX, OP_MATMUL, END},
    {OP_GREATER, OP_WHERE, OP_SOFTMAX, END},
    {OP_EQUAL, OP_LOGICAL_NOT, OP_WHERE, OP_GATHER, END},
    {OP_ARG_MAX, OP_GATHER, BINARY, END},
    {OP_GATHER, BINARY, OP_SCATTER_ELEMENTS, END},
    {OP_GATHER_ND, OP_SCATTER_ND, OP_GATHER_ELEMENTS, END},
    {OP_IDENTITY, OP_RESHAPE, OP_IDENTITY, OP_SPLIT, END},
    {ACTIVATE, ACTIVATE, BINARY, ACTIVATE, BINARY, ACTIVATE, END},
    {ANY, OP_TRANSPOSE, ANY, OP_RESHAPE, ANY, OP_SLICE, END},
};

static enum op draw_op(struct generator *r, uint32_t step)
{
    static const uint8_t activations[] = {OP_RELU,     OP_RELU,         OP_CLAMP,      OP_CLAMP,      OP_SIGMOID,
                                          OP_TANH,     OP_GELU,         OP_ELU,        OP_LEAKY_RELU, OP_HARD_SWISH,
                                          OP_SOFTPLUS, OP_HARD_SIGMOID, OP_LINEAR,     OP_EXP,        OP_SOFTSIGN,
                                          OP_SQRT,     OP_ABS,          OP_ROUND_EVEN, OP_IDENTITY};
    static const uint8_t binaries[] = {OP_ADD, OP_ADD, OP_ADD, OP_SUB,   OP_MUL, OP_MUL,
                                       OP_DIV, OP_MAX, OP_MIN, OP_PRELU, OP_POW};

    switch (step) {
    case ACTIVATE:
        return activations[draw(r, sizeof activations)];
    case BINARY:
        return binaries[draw(r, sizeof binaries)];
    case ANY:
        return (enum op)draw(r, OP_COUNT);
    default:
        return (enum op)step;
    }
}

void draw_steps(struct generator *r)
{
    const uint8_t *steps = patterns[draw(r, sizeof patterns / sizeof *patterns)];

    if (chance(r, 6) && draw_quantized_contraction(r))
        return;
    if (chance(r, 4) && draw_attention(r))
        return;
    if (!r->in_loop && chance(r, 5) && draw_loop(r))
        return;
    if (chance(r, 30))
        r->hint = NULL;
    for (; *steps != END; steps++)
        for (int i = 0; i < 4 && !draw_operator(r, draw_op(r, *steps)); i++)
            ;
}

static uint32_t node_number(const struct graph *g)
{
    uint32_t count = 0;

    graph_for_each (g, n)
        count++;
    return count;
}

/* Most of what nothing uses, some of the rest; now and then the same twice. */
static void draw_outputs(struct generator *r)
{
    struct graph *g = r->s->g;

    for (int pass = 0; !g->output_count && pass < 20; pass++)
        graph_for_each (g, n) {
            for (uint32_t i = 0; i < n->result_count; i++) {
                struct value *v = n->results[i];
                for (uint32_t twice = chance(r, 3) ? 2 : 1; twice; twice--) {
                    char name[24];
                    if (!chance(r, v->uses ? 12 : 85))
                        continue;
                    snprintf(name, sizeof name, "y%u", g->output_count);
                    if (!graph_add_output(g, name, strlen(name), v))
                        random_die("out of memory");
                }
            }
        }
}

void generator_init(struct generator *r, struct sample *draft, uint64_t seed)
{
    *r = (struct generator){.s = draft, .state = seed * UINT64_C(0xd1342543de82ef95) + 1, .capacity = VALUES_LIMIT};
    draw_bits(r);
    r->values = random_alloc(VALUES_LIMIT, sizeof *r->values);
}

/* The draft without what no output needs.  False: there are no outputs. */
static bool finish_draft(struct generator *r, struct sample *s)
{
    static const struct edit copy = {EDIT_NONE, 0, 0, 0, 0};

    draw_outputs(r);
    bool good = r->s->g->output_count && sample_edit(r->s, &copy, s);
    sample_free(r->s);
    return good;
}

bool sample_generate_operator(struct sample *s, const struct generate_options *o, enum op op, dtype wanted)
{
    struct sample draft;
    struct generator r;

    generator_init(&r, &draft, o->seed);
    r.wanted = wanted;
    r.budget = 100;
    sample_init(&draft);
    draw_operator(&r, op);
    bool good = finish_draft(&r, s);
    free(r.values);
    return good;
}

void sample_generate(struct sample *s, const struct generate_options *o)
{
    static const int64_t budgets[] = {24, 100, 100, 400, 400, 400, 1500, 1500, 5000, 20000};
    struct sample draft;
    struct generator r;
    uint32_t wanted;
    bool good;

    generator_init(&r, &draft, o->seed);
    do {
        sample_init(&draft);
        r.count = 0;
        r.hint = NULL;
        r.budget = budgets[draw(&r, sizeof budgets / sizeof *budgets)];
        r.odd = chance(&r, 35);
        wanted = draw_from(&r, 1, o->nodes ? 2 * o->nodes - 1 : 1);
        for (uint32_t tries = 0; node_number(draft.g) < wanted && tries < 4 * wanted; tries++) {
            if (chance(&r, 50)) {
                draw_steps(&r);
            } else {
                if (chance(&r, 40))
                    r.hint = NULL;
                draw_operator(&r, (enum op)draw(&r, OP_COUNT));
            }
        }
        good = finish_draft(&r, s);
    } while (!good);
    free(r.values);
}
