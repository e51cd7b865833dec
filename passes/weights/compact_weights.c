/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps the weights of matmuls in 4, 8 or 16 bits.  What computes float32 numbers of them (a dequantizeLinear, or a cast from
 * float16) is not folded if only contractions read it, and stays in the graph until the lowering makes it a part of their
 * kernels, which unpack in registers.
 *
 * pass_pack_weights puts such weights into the order in which a register tile reads them, panels of P output channels, and
 * into 4, 2 or 1 bits each where all values lie within a range of 16, 4 or 2:
 *
 *   4 bits   uint4 [N / P, blocks, K / blocks / 8, P, 8]: a word holds 8 neighbours along K of one output channel, so that a
 *            vector of words has the same bits of as many channels, and shifting it serves 8 steps of the sum
 *   b bits   uint2, uint1, or uint4 for kernels that multiply bytes, [N / P, blocks, K / blocks / w, P, 4, w / 4], w = 32 / b:
 *            the lowest b bits of the word's bytes are four neighbours, the next ones the next four
 *   8 bits   [N / P, blocks, K / blocks, P]
 *            or, for kernels that multiply bytes, [N / P, blocks, K / blocks / 4, P, 4]: signed, four neighbours along K in a
 *            word
 *   16 bits  [N / P, K, P]
 *
 * Scales and zero points, one for each block of K (or for all of it), become float32 [N / P, blocks, 1, P(, 1, 1)], or a scalar
 * if they are all the same.  The graph then says (cast(packed) - zero point) * scale, transposed and reshaped to what B was,
 * and rounded in between if B is float16.
 */
#include "passes/weights/compact_weights.h"

#include <string.h>

#include "ir/graph/compact.h"
#include "passes/weights/byte_operands.h"
#include "passes/weights/compact_layout.h"

/* ---- which weights stay compact ---- */

/* Returns whether this use of B is as operand B of a matmul that can unpack it where it reads it. */
static bool is_operand_b(const struct use *u, const struct tensor_type *b)
{
    const struct node *n = u->node;

    return u->slot == 1 && b->rank == 2 && (n->op == OP_MATMUL || n->op == OP_GEMM);
}

/* Returns whether a matmul of many rows is one of float16 in the library's form, between casts, which the library computes. */
static bool is_legalized(const struct node *n, const struct target *t)
{
    const struct value *a = n->inputs[0].value;

    return t->takes_node && a->producer && a->producer->op == OP_CAST &&
           a->producer->inputs[0].value->type.type == WNNOperandDataType_Float16 &&
           type_elements(&a->type) / a->type.dims[a->type.rank - 1] > target_facts(t)->contraction.few_rows &&
           t->takes_node(t->user, n);
}

/* Returns whether scale and zero point go with their input dimension by dimension, or are one number. */
static bool is_per_block(const struct tensor_type *small, const struct tensor_type *t)
{
    return small->rank == t->rank || type_elements(small) == 1;
}

/* Returns whether n is a dequantizeLinear whose numbers are rounded to float16, which kernels for processors do in registers.
 */
static bool rounds_weights(const struct node *n, const struct target *t)
{
    return n->op == OP_DEQUANTIZE_LINEAR && n->results[0]->type.type == WNNOperandDataType_Float16 && !t->compact.panel_columns;
}

/* Returns whether n widens what a dequantizeLinear has rounded to float16. */
static bool widens_weights(const struct node *n)
{
    const struct value *v = n->inputs[0].value;

    return n->op == OP_CAST && n->results[0]->type.type == WNNOperandDataType_Float32 && v->producer &&
           v->producer->op == OP_DEQUANTIZE_LINEAR && v->type.type == WNNOperandDataType_Float16;
}

/* Returns whether n has the operator, the types and the size of a node that unpacks weights. */
static bool has_form(const struct node *n, const struct target *t)
{
    const struct value *v = n->result_count == 1 ? n->results[0] : NULL;
    const dtype from = n->input_count ? n->inputs[0].value->type.type : WNNOperandDataType_Float32;

    if (!v || v->output_uses || !v->uses)
        return false;
    if (n->op == OP_DEQUANTIZE_LINEAR ? (v->type.type != WNNOperandDataType_Float32 && !rounds_weights(n, t)) ||
                                            dtype_size(from) != 1 || !is_per_block(&n->inputs[1].value->type, &v->type)
                                      : n->op != OP_CAST || v->type.type != WNNOperandDataType_Float32 ||
                                            (from != WNNOperandDataType_Float16 && !dtype_is_draft(from)))
        return false;
    return t->compact.small || type_elements(&v->type) * (int64_t)sizeof(float) >= target_facts(t)->contraction.compact_bytes;
}

/* Returns whether n has the form and the readers of a node that unpacks weights, whatever makes its inputs. */
static bool unpacks_weights(const struct node *n, const struct target *t)
{
    if (!t || !t->compact.unpacks || !has_form(n, t))
        return false;
    const struct value *v = n->results[0];
    const bool widens = widens_weights(n);

    if (widens && !unpacks_weights(n->inputs[0].value->producer, t))
        return false;
    value_for_each_use (v, u)
        if (rounds_weights(n, t) && widens_weights(u->node)) {
            value_for_each_use (u->node->results[0], w)
                if (!is_operand_b(w, &v->type))
                    return false;
        } else if (!is_operand_b(u, &v->type) || (n->op == OP_CAST && !widens && is_legalized(u->node, t))) {
            return false;
        }
    return true;
}

bool node_is_compact_weight(const struct node *n, const struct target *t)
{
    return unpacks_weights(n, t) && value_is_unpacked(n->results[0]);
}

/* Returns whether what packing reads of v is of v's type: packed numbers are weights alone, and no zero points. */
static bool has_own_type(const struct value *v)
{
    bool transposed;
    const struct value *constant = compact_constant(v, &transposed);

    return constant && constant->type.type == v->type.type;
}

/* Returns whether v is a constant, or one under nodes that packing or folding removes. */
static bool becomes_constant(const struct value *v)
{
    while (v->producer && (node_doubles_packed(v->producer) || v->producer->op == OP_TRANSPOSE ||
                           v->producer->op == OP_RESHAPE || v->producer->op == OP_CAST))
        v = v->producer->inputs[0].value;
    return v->kind == VALUE_CONSTANT;
}

bool node_moves_compact_weight(const struct node *n, const struct target *t)
{
    bool transposed;
    uint32_t slot;

    do {
        const struct use *u =
            n->op == OP_TRANSPOSE || n->op == OP_CAST || node_doubles_packed(n) ? value_only_use(n->results[0]) : NULL;
        if (!u || !compact_constant(n->results[0], &transposed))
            return false;
        n = u->node;
        slot = u->slot;
    } while (!unpacks_weights(n, t));
    if (slot && !has_own_type(n->inputs[slot].value))
        return false;
    if (node_is_quantized_weight(n, t)) /* the library may multiply it, and wants constants */
        return false;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value && !becomes_constant(n->inputs[i].value))
            return false;
    return true;
}

struct node *compact_weights_of(const struct node *n, const struct target *t)
{
    const struct value *b = n->input_count > 1 ? n->inputs[1].value : NULL;

    if (!b || !b->producer || !node_is_compact_weight(b->producer, t))
        return NULL;
    return widens_weights(b->producer) ? b->producer->inputs[0].value->producer : b->producer;
}

bool library_computes(const struct node *n, const struct target *t)
{
    const struct node *b = n->input_count > 1 && n->inputs[1].value ? n->inputs[1].value->producer : NULL;

    if (!t || !t->takes_node || node_multiplies_bytes(n, t))
        return false;
    if (b && (compact_weights_of(n, t) ||
              (t->compact.unpacks && (b->op == OP_RESHAPE || b->op == OP_TRANSPOSE) && value_is_unpacked(b->results[0]))))
        return false;
    return t->takes_node(t->user, n);
}

/* ---- packing ---- */

/* Walks the elements of constants like scales, which have one number for several elements of B. */
struct small {
    const struct constant *constant;
    const char *data;
    dtype type;
    int64_t count, n_stride, k_stride, n_block, k_block;
};

static struct small small_of(const struct value *v, const struct compact_layout *p, uint32_t results)
{
    const struct tensor_type *t = &v->type;
    bool transposed;
    const struct value *constant = compact_constant(v, &transposed);
    struct small s = {constant->constant, constant->constant->data, t->type, type_elements(t), .n_block = 1, .k_block = 1};
    int64_t strides[RANK_MAX];

    if (s.count == 1)
        return s;
    type_strides(&constant->type, strides);
    s.n_stride = strides[transposed ? 1 - results : results];
    s.k_stride = strides[transposed ? results : 1 - results];
    s.n_block = p->n / t->dims[results];
    s.k_block = p->k / t->dims[1 - results];
    return s;
}

/* Returns a float16 number, which may lie askew in lent bytes. */
static float half_at(const void *data, int64_t at)
{
    uint16_t half;

    memcpy(&half, (const char *)data + at * (int64_t)sizeof half, sizeof half);
    return f16_to_f32(half);
}

static float small_get(const struct small *s, int64_t at)
{
    float f;

    switch ((int)s->type) {
    case WNNOperandDataType_Uint8:
        return ((const uint8_t *)s->data)[at];
    case WNNOperandDataType_Int8:
        return ((const int8_t *)s->data)[at];
    case DTYPE_FLOAT8E4M3:
    case DTYPE_FLOAT8E5M2:
        return f8_to_f32(((const uint8_t *)s->data)[at], s->type);
    case WNNOperandDataType_Float16:
        return half_at(s->data, at);
    default:
        memcpy(&f, s->data + at * (int64_t)sizeof f, sizeof f);
        return f;
    }
}

static bool is_everywhere(const struct small *s, float number)
{
    for (int64_t at = 0; at < s->count; at++)
        if (small_get(s, at) != number)
            return false;
    return true;
}

/* Returns what applies to blocks, times `factor`, less `shift`, in the order of the packed weights: one number if all are the
 * same, else one for each block and output channel, with a dimension for each of B's. */
static struct value *pack_small(struct graph *g, const struct small *s, const struct compact_layout *p, float factor,
                                float shift, uint32_t rank)
{
    const int64_t blocks = s->k_block < p->k ? p->blocks : 1;
    const uint32_t dims[6] = {(uint32_t)(p->n / p->panel), (uint32_t)blocks, 1, (uint32_t)p->panel, 1, 1};
    const float first = small_get(s, 0);
    const bool same = is_everywhere(s, first);
    struct compact_constant c = compact_constant_begin(p, s->constant, s->type, (int64_t)shift);

    for (uint32_t i = 0; i < 6; i++) /* factors are 1/2, 1 and 2 */
        constant_recipe_add(&c.recipe, (uint64_t[]){s->count, s->n_stride, s->k_stride, s->n_block, s->k_block, 2 * factor}[i]);
    struct value *v = compact_constant_add(g, &c, WNNOperandDataType_Float32, same ? 0 : rank, dims);
    float *to = c.data;
    if (to && same)
        *to = first * factor - shift;
    for (int64_t panel = 0; to && panel < p->n && !same; panel += p->panel)
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t at = b * p->inner / s->k_block * s->k_stride;
            for (int64_t n = panel; n < panel + p->panel; n++)
                *to++ = small_get(s, at + (s->n_block == 1 ? n : n / s->n_block) * s->n_stride) * factor - shift;
        }
    return compact_constant_end(&c, v);
}

/* Returns the packed type of the fewest bits that has so many numbers, and whose words a block is a multiple of, or Undefined.
 */
static dtype packed_type(int range, int64_t inner)
{
    for (uint32_t bits = 1; bits <= 4; bits *= 2)
        if (range < 1 << bits && inner % dtype_per_word(dtype_packed(bits)) == 0)
            return dtype_packed(bits);
    return WNNOperandDataType_Undefined;
}

/* Returns the packed numbers of a dequantizeLinear as they are before B's dimensions are put into order. */
static struct value *pack_quantized(struct graph *g, struct node *n, const struct node *unpacking, struct compact_layout *p,
                                    const struct compact_order *o)
{
    const struct value *q = p->constant, *scale = unpacking->inputs[1].value;
    const struct small scales = small_of(scale, p, o->results), zeros = small_of(unpacking->inputs[2].value, p, o->results);
    const bool is_signed = q->type.type == WNNOperandDataType_Int8;
    const float times = (float)compact_times(unpacking->inputs[0].value);
    struct value *v, *zero = NULL;
    uint32_t rank = 4;
    int low = 0, high = (1 << dtype_packed_bits(q->type.type)) - 1;

    const bool is_float = dtype_is_float8(q->type.type);
    if (!dtype_packed_bits(q->type.type) && !is_float)
        compact_range(q, &low, &high);
    const dtype packed = is_float ? WNNOperandDataType_Undefined : packed_type(high - low, p->inner);
    p->paired = p->paired && !is_float;
    p->paired = p->paired && (high - low < 16 || is_everywhere(&zeros, is_signed ? 0 : 128));
    if (packed) {
        p->panel = o->packed_panel;
        rank = p->paired || packed != DTYPE_UINT4 ? 6 : 5;
        v = compact_packed(g, p, packed, low);
        zero = pack_small(g, &zeros, p, 1 / times, (float)low, rank);
        if (!v || !zero)
            return NULL;
    } else if (is_float) {
        v = compact_elements(g, p, q->type.type, 0);
        zero = v && !is_everywhere(&zeros, 0) ? pack_small(g, &zeros, p, 1, 0, 4) : NULL;
    } else if (is_everywhere(&zeros, is_signed ? 0 : 128)) { /* the numbers are signed bytes */
        const uint8_t flip = is_signed ? 0 : 0x80;
        rank = p->paired ? 5 : 4;
        v = p->paired ? compact_words(g, p, flip) : compact_elements(g, p, WNNOperandDataType_Int8, flip);
    } else {
        v = compact_elements(g, p, q->type.type, 0);
        zero = pack_small(g, &zeros, p, 1, 0, 4);
        if (!v || !zero)
            return NULL;
    }
    v = v ? make_cast(g, n, n, v, WNNOperandDataType_Float32) : NULL;
    v = zero ? make_binary(g, n, OP_SUB, v, zero) : v;
    return make_binary(g, n, OP_MUL, v, pack_small(g, &scales, p, times, 0, rank));
}

/* Returns whether products of whole numbers below 256 and these scales are numbers that float16 has. */
static bool products_are_finite(const struct value *scale)
{
    bool transposed;
    const struct constant *c = compact_constant(scale, &transposed)->constant;

    for (size_t i = 0; i < c->bytes / sizeof(uint16_t); i++)
        if (!(fabsf(half_at(c->data, (int64_t)i)) < 0x1p8f)) /* 255 * 2^8 is below 65504 */
            return false;
    return true;
}

/*
 * Returns v, exact products of whole numbers and scales of float16, rounded to float16 as the graph rounds them, in B's type.
 *
 * Of two conversions for each vector of B a kernel of few rows takes more time than of all else.  v has at most 19 bits.  Where
 * it is not too large for float16, t - (t - v) with t = v * (2^13 + 1), all rounded to float32, is v rounded to 11 bits
 * (Veltkamp's splitting), ties to even: tests try all scales and numbers.  Products in the range of float16's subnormal numbers
 * are multiples of the smallest one, as the scales are, and need no rounding.
 */
static struct value *round_weights(struct graph *g, struct node *n, struct value *v, const struct node *unpacking, dtype type)
{
    if (type == WNNOperandDataType_Float32 && products_are_finite(unpacking->inputs[1].value)) {
        struct value *t = make_binary(g, n, OP_MUL, v, make_number(g, v, 0x1p13 + 1));
        return make_binary(g, n, OP_SUB, t, make_binary(g, n, OP_SUB, t, v));
    }
    v = make_cast(g, n, n, v, WNNOperandDataType_Float16);
    return v && type == WNNOperandDataType_Float32 ? make_cast(g, n, n, v, type) : v;
}

/* Cuts K into blocks whose products of bytes have one scale of either operand, if that can be.  Where the weights have
 * one for all of K, or for long blocks, operand A gets shorter ones: ROUNDED_BLOCK if that divides them, else whole words. */
static void pair(struct compact_layout *p)
{
    enum { STEPS = 8 }; /* of a word of 4 bits */
    int64_t block = p->inner;

    if (p->blocks == 1 || block > ROUNDED_BLOCK_MOST) {
        block = p->inner % ROUNDED_BLOCK ? 2 * ROUNDED_BLOCK : ROUNDED_BLOCK;
        while (block && p->inner % block)
            block -= STEPS;
    }
    p->paired = block && block % STEPS == 0;
    if (!p->paired)
        return;
    p->blocks *= p->inner / block;
    p->inner = block;
}

bool compact_weights_fold(struct graph *g, struct node *unpacking)
{
    for (uint32_t i = 0; i < unpacking->input_count; i++) {
        struct node *maker;
        while (unpacking->inputs[i].value && (maker = unpacking->inputs[i].value->producer) != NULL) {
            while (maker->inputs[0].value->producer)
                maker = maker->inputs[0].value->producer;
            if (!node_fold(g, maker))
                return false;
        }
    }
    return true;
}

struct value *compact_weights_pack(struct graph *g, struct node *n, struct node *unpacking, const struct compact_order *o,
                                   int64_t *rounded_block)
{
    /* by rank: 4, 5, 6 */
    static const uint32_t k_first[3][6] = {{1, 2, 0, 3}, {1, 2, 4, 0, 3}, {1, 2, 5, 4, 0, 3}};
    static const uint32_t n_first[3][6] = {{0, 3, 1, 2}, {0, 3, 1, 2, 4}, {0, 3, 1, 2, 5, 4}};
    const struct tensor_type *t = &n->inputs[1].value->type;
    const bool quantized = unpacking->op == OP_DEQUANTIZE_LINEAR;
    const uint32_t results = o->results;
    struct compact_layout p = {
        .n = t->dims[results], .k = t->dims[1 - results], .panel = o->panel, .blocks = 1, .pool = o->pool};
    struct value *v;
    bool transposed;

    for (uint32_t i = 1; quantized && i < 3; i++) { /* scale and zero point have the same blocks */
        const struct tensor_type *small = &unpacking->inputs[i].value->type;
        if (type_elements(small) > 1 && small->dims[1 - results] > p.blocks)
            p.blocks = small->dims[1 - results];
    }
    p.inner = p.k / p.blocks;
    if (quantized && o->rounds && unpacking->results[0]->type.type == WNNOperandDataType_Float32)
        pair(&p);
    p.constant = compact_constant(unpacking->inputs[0].value, &transposed);
    if (dtype_packed_bits(p.constant->type.type) &&
        !packed_type((1 << dtype_packed_bits(p.constant->type.type)) - 1, p.inner)) { /* no whole words: bytes */
        if (!compact_weights_fold(g, unpacking))
            return NULL;
        p.constant = compact_constant(unpacking->inputs[0].value, &transposed);
    }
    p.n_stride = (results == 1) != transposed ? 1 : p.k;
    p.k_stride = (results == 1) != transposed ? p.n : 1;
    if (quantized) {
        v = pack_quantized(g, n, unpacking, &p, o);
    } else {
        v = compact_elements(g, &p, p.constant->type.type, 0);
        v = v ? make_cast(g, n, n, v, WNNOperandDataType_Float32) : NULL;
    }
    if (!v)
        return NULL;
    uint32_t form = v->type.rank - 4;
    if (quantized && unpacking->results[0]->type.type == WNNOperandDataType_Float16) {
        v = round_weights(g, n, v, unpacking, t->type);
        if (!v)
            return NULL;
    }
    *rounded_block = p.paired ? p.inner : 0;
    v = make_transpose(g, n, n, v, results ? k_first[form] : n_first[form]);
    return v ? make_reshape(g, n, n, v, 2, t->dims) : NULL;
}
