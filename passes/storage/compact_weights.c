/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps the weights of matmuls in 4, 8 or 16 bits.  What computes float32 numbers of them (a dequantizeLinear, or a cast from
 * float16) is not folded if only contractions read it, and stays in the graph until the lowering makes it a part of their
 * kernels, which unpack in registers.
 *
 * pass_pack_weights puts such weights into the order in which a register tile reads them, panels of P output channels, and
 * into 4 bits each where all values lie within a range of 16:
 *
 *   4 bits   uint4 [N / P, blocks, K / blocks / 8, P, 8]: a word holds 8 neighbours along K of one output channel, so that a
 *            vector of words has the same bits of as many channels, and shifting it serves eight steps of the sum
 *            or, for kernels that multiply bytes, uint4 [N / P, blocks, K / blocks / 8, P, 4, 2]: the word's even bits of 4
 *            are four neighbours, the odd ones the next four
 *   8 bits   [N / P, blocks, K / blocks, P], or, for kernels that multiply bytes, [N / P, blocks, K / blocks / 4, P, 4]:
 * signed, four neighbours along K in a word 16 bits  [N / P, K, P]
 *
 * Scales and zero points, one for each block of K (or for all of it), become float32 [N / P, blocks, 1, P(, 1)], or a scalar if
 * they are all the same.  The graph then says (cast(packed) - zero point) * scale, transposed and reshaped to what B was.
 */
#include "passes/storage/compact_weights.h"

#include <string.h>

#include "ir/graph/compact.h"
#include "ir/target.h"

/* ---- which weights stay compact ---- */

/* Returns whether this use of B is as operand B of a matmul that can unpack it where it reads it. */
static bool is_operand_b(const struct use *u, const struct tensor_type *b)
{
    const struct node *n = u->node;

    return u->slot == 1 && b->rank == 2 && (n->op == OP_MATMUL || n->op == OP_GEMM);
}

/* Returns whether a matmul of many rows is one of float16 in the library's form, between casts: the library is faster there. */
static bool is_legalized(const struct node *n, const struct target *t)
{
    const struct value *a = n->inputs[0].value;

    return a->producer && a->producer->op == OP_CAST && a->producer->inputs[0].value->type.type == WNNOperandDataType_Float16 &&
           type_elements(&a->type) / a->type.dims[a->type.rank - 1] > target_facts(t)->contraction.few_rows;
}

/* Returns whether scale and zero point go with their input dimension by dimension, or are one number. */
static bool is_per_block(const struct tensor_type *small, const struct tensor_type *t)
{
    return small->rank == t->rank || type_elements(small) == 1;
}

bool node_is_compact_weight(const struct node *n, const struct target *t)
{
    const struct value *v = n->result_count == 1 ? n->results[0] : NULL;

    if (!t || !t->unpacks_weights || !v || v->type.type != WNNOperandDataType_Float32 || v->output_uses || !v->uses)
        return false;
    if ((n->op != OP_DEQUANTIZE_LINEAR && n->op != OP_CAST) || !value_is_unpacked(v))
        return false;
    if (n->op == OP_CAST ? n->inputs[0].value->type.type != WNNOperandDataType_Float16
                         : dtype_size(n->inputs[0].value->type.type) != 1 || !is_per_block(&n->inputs[1].value->type, &v->type))
        return false;
    if (!t->unpacks_small_weights && type_bytes(&v->type) < target_facts(t)->contraction.compact_bytes)
        return false;
    value_for_each_use (v, u)
        if (!is_operand_b(u, &v->type) || (n->op == OP_CAST && is_legalized(u->node, t)))
            return false;
    return true;
}

struct node *compact_weights_of(const struct node *n, const struct target *t)
{
    const struct value *b = n->input_count > 1 ? n->inputs[1].value : NULL;

    return b && b->producer && node_is_compact_weight(b->producer, t) ? b->producer : NULL;
}

bool library_computes(const struct node *n, const struct target *t)
{
    const struct node *b = n->input_count > 1 && n->inputs[1].value ? n->inputs[1].value->producer : NULL;

    if (!t || !t->takes_node)
        return false;
    if (b && (compact_weights_of(n, t) ||
              (t->unpacks_weights && (b->op == OP_RESHAPE || b->op == OP_TRANSPOSE) && value_is_unpacked(b->results[0]))))
        return false;
    return t->takes_node(t->user, n);
}

/* ---- packing ---- */

/* Says where the numbers of B are, and how they are cut. */
struct packing {
    int64_t n, k, panel, blocks, inner; /* inner: steps of K in a block */
    int64_t n_stride, k_stride;         /* of B */
    bool paired;                        /* words as kernels want them that multiply bytes */
};

/* Walks the elements of constants like scales, which have one number for several elements of B. */
struct small {
    const char *data;
    dtype type;
    int64_t n_stride, k_stride, n_block, k_block;
};

static struct small small_of(const struct value *v, const struct packing *p, uint32_t results)
{
    const struct tensor_type *t = &v->type;
    struct small s = {.data = v->constant->data, .type = t->type, .n_block = 1, .k_block = 1};
    int64_t strides[RANK_MAX];

    if (type_elements(t) == 1)
        return s;
    type_strides(t, strides);
    s.n_stride = strides[results];
    s.k_stride = strides[1 - results];
    s.n_block = p->n / t->dims[results];
    s.k_block = p->k / t->dims[1 - results];
    return s;
}

static float small_at(const struct small *s, int64_t n, int64_t k)
{
    const int64_t at = n / s->n_block * s->n_stride + k / s->k_block * s->k_stride;

    switch (s->type) {
    case WNNOperandDataType_Uint8:
        return ((const uint8_t *)s->data)[at];
    case WNNOperandDataType_Int8:
        return ((const int8_t *)s->data)[at];
    default: {
        float f;
        memcpy(&f, s->data + at * (int64_t)sizeof f, sizeof f);
        return f;
    }
    }
}

/* Returns the constant's value, or NULL after an error in g->error. */
static struct value *add_constant(struct graph *g, dtype type, uint32_t rank, const uint32_t *dims, void **data)
{
    struct tensor_type t = {.type = type, .rank = rank};
    struct constant *c;

    memcpy(t.dims, dims, rank * sizeof *dims);
    c = constant_create(NULL, (size_t)type_bytes(&t));
    *data = c ? (void *)c->data : NULL; /* ours alone so far */
    return graph_add_constant(g, &t, c);
}

/* Returns what applies to blocks, less `shift`, in the order of the packed weights: one number if all are the same, else one
 * for each block and output channel, with a dimension for each of B's. */
static struct value *pack_small(struct graph *g, const struct small *s, const struct packing *p, float shift, uint32_t rank)
{
    const int64_t blocks = s->k_block < p->k ? p->blocks : 1;
    const uint32_t dims[6] = {(uint32_t)(p->n / p->panel), (uint32_t)blocks, 1, (uint32_t)p->panel, 1, 1};
    const float first = small_at(s, 0, 0);
    bool same = true;
    struct value *v;
    float *to;
    void *data;

    for (int64_t b = 0; b < p->blocks && same; b++)
        for (int64_t n = 0; n < p->n && same; n++)
            same = small_at(s, n, b * p->inner) == first;
    v = add_constant(g, WNNOperandDataType_Float32, same ? 0 : rank, dims, &data);
    to = data;
    if (!v)
        return NULL;
    if (same)
        *to = first - shift;
    for (int64_t panel = 0; panel < p->n && !same; panel += p->panel)
        for (int64_t b = 0; b < blocks; b++)
            for (int64_t i = 0; i < p->panel; i++)
                *to++ = small_at(s, panel + i, b * p->inner) - shift;
    return v;
}

/* Finds the range of 8-bit weights. */
static void find_range(const struct value *q, int *low, int *high)
{
    const size_t count = q->constant->bytes;
    const uint8_t *u = q->constant->data;
    const uint8_t sign = q->type.type == WNNOperandDataType_Int8 ? 0x80 : 0;
    uint8_t least = UINT8_MAX, most = 0; /* of the numbers above the smallest one */

    for (size_t i = 0; i < count; i++) {
        const uint8_t x = u[i] ^ sign;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    *low = least - sign;
    *high = most - sign;
}

/*
 * Eight numbers of 4 bits, one in each byte, in a word.  Neighbours are pushed together by halves: two numbers to a byte, two
 * of those to 16 bits, and so on.  Paired words have the upper four numbers in the odd places.
 */
static uint32_t word_of_bytes(uint64_t bytes, bool paired)
{
    if (paired)
        return (uint32_t)(bytes | bytes >> 28);
    bytes = (bytes | bytes >> 4) & 0x00FF00FF00FF00FF;
    bytes = (bytes | bytes >> 8) & 0x0000FFFF0000FFFF;
    return (uint32_t)(bytes | bytes >> 16);
}

/* Eight numbers from neighbours along K, less the smallest, in a word. */
static uint32_t word_of(const uint8_t *q, int64_t stride, uint8_t low, bool paired)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < DTYPE_UINT4_PER_WORD; i++)
        bytes |= (uint64_t)(uint8_t)(q[i * stride] - low) << 8 * i;
    return word_of_bytes(bytes, paired);
}

/* The same of numbers that lie side by side.  `flip` makes signed ones unsigned, and none is less than the smallest, so that no
 * byte borrows from the next. */
static uint32_t word_of_neighbours(const uint8_t *q, uint64_t flip, uint64_t low, bool paired)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < DTYPE_UINT4_PER_WORD; i++) /* one load, where the lowest byte comes first in memory */
        bytes |= (uint64_t)q[i] << 8 * i;
    return word_of_bytes((bytes ^ flip) - low, paired);
}

static struct value *pack_nibbles(struct graph *g, const struct value *q, const struct packing *p, int low)
{
    const uint32_t dims[] = {(uint32_t)(p->n / p->panel),
                             (uint32_t)p->blocks,
                             (uint32_t)(p->inner / DTYPE_UINT4_PER_WORD),
                             (uint32_t)p->panel,
                             p->paired ? 4 : DTYPE_UINT4_PER_WORD,
                             2};
    const uint8_t *from = q->constant->data;
    void *data;
    struct value *v = add_constant(g, DTYPE_UINT4, p->paired ? 6 : 5, dims, &data);
    const uint64_t each = 0x0101010101010101; /* times a byte: that byte eight times */
    const uint8_t sign = q->type.type == WNNOperandDataType_Int8 ? 0x80 : 0;
    const uint64_t flips = each * sign, lows = each * (uint8_t)(low + sign);
    uint32_t *to = data;

    for (int64_t panel = 0; v && panel < p->n; panel += p->panel)
        for (int64_t k = 0; k < p->k; k += DTYPE_UINT4_PER_WORD)
            for (int64_t i = 0; i < p->panel; i++) {
                const uint8_t *at = from + (panel + i) * p->n_stride + k * p->k_stride;
                *to++ = p->k_stride == 1 ? word_of_neighbours(at, flips, lows, p->paired)
                                         : word_of(at, p->k_stride, (uint8_t)low, p->paired);
            }
    return v;
}

enum { BYTES_PER_WORD = 4 }; /* of K, where kernels multiply bytes */

/* Packs bytes, from which `flip` is flipped, into words of neighbours along K. */
static struct value *pack_words(struct graph *g, const struct value *q, const struct packing *p, uint8_t flip)
{
    const uint32_t dims[] = {(uint32_t)(p->n / p->panel), (uint32_t)p->blocks, (uint32_t)(p->inner / BYTES_PER_WORD),
                             (uint32_t)p->panel, BYTES_PER_WORD};
    const uint8_t *bytes = q->constant->data;
    void *data;
    struct value *v = add_constant(g, WNNOperandDataType_Int8, 5, dims, &data);
    uint8_t *to = data;

    for (int64_t panel = 0; v && panel < p->n; panel += p->panel)
        for (int64_t k = 0; k < p->k; k += BYTES_PER_WORD)
            for (int64_t i = 0; i < p->panel; i++)
                for (int64_t j = 0; j < BYTES_PER_WORD; j++)
                    *to++ = bytes[(panel + i) * p->n_stride + (k + j) * p->k_stride] ^ flip;
    return v;
}

/* Packs elements of one byte or two, from which `flip` is flipped. */
static struct value *pack_elements(struct graph *g, const struct value *q, const struct packing *p, dtype type, uint8_t flip)
{
    const uint32_t dims[] = {(uint32_t)(p->n / p->panel), (uint32_t)p->blocks, (uint32_t)p->inner, (uint32_t)p->panel};
    const uint8_t *bytes = q->constant->data;
    const char *halves = q->constant->data;
    void *data;
    struct value *v = add_constant(g, type, 4, dims, &data);
    uint8_t *to = data;
    const size_t size = dtype_size(type);

    for (int64_t panel = 0; v && panel < p->n; panel += p->panel)
        for (int64_t k = 0; k < p->k; k++)
            for (int64_t i = 0; i < p->panel; i++, to += size) {
                const int64_t at = (panel + i) * p->n_stride + k * p->k_stride;
                if (size == 1)
                    *to = bytes[at] ^ flip;
                else
                    memcpy(to, halves + at * (int64_t)size, size);
            }
    return v;
}

/* Returns whether the zero point is this everywhere. */
static bool is_everywhere(const struct small *s, const struct packing *p, float number)
{
    for (int64_t b = 0; b < p->blocks; b++)
        for (int64_t n = 0; n < p->n; n++)
            if (small_at(s, n, b * p->inner) != number)
                return false;
    return true;
}

static struct value *make_binary(struct graph *g, struct node *n, enum op op, struct value *a, struct value *b)
{
    struct value *inputs[] = {a, b};

    return a && b ? make_node(g, n, op, n, 2, inputs, NULL, NULL) : NULL;
}

/* Returns the packed numbers of a dequantizeLinear as they are before B's dimensions are put into order. */
static struct value *pack_quantized(struct graph *g, struct node *n, const struct node *unpacking, struct packing *p,
                                    uint32_t results)
{
    const struct value *q = unpacking->inputs[0].value, *scale = unpacking->inputs[1].value;
    const struct small scales = small_of(scale, p, results), zeros = small_of(unpacking->inputs[2].value, p, results);
    const bool is_signed = q->type.type == WNNOperandDataType_Int8;
    struct value *v, *zero = NULL;
    uint32_t rank = 4;
    int low, high;

    find_range(q, &low, &high);
    p->paired = p->paired && (high - low < 16 || is_everywhere(&zeros, p, is_signed ? 0 : 128));
    if (high - low < 16 && p->inner % DTYPE_UINT4_PER_WORD == 0) {
        rank = p->paired ? 6 : 5;
        v = pack_nibbles(g, q, p, low);
        zero = pack_small(g, &zeros, p, (float)low, rank);
        if (!v || !zero)
            return NULL;
    } else if (is_everywhere(&zeros, p, is_signed ? 0 : 128)) { /* what is meant are signed bytes */
        const uint8_t flip = is_signed ? 0 : 0x80;
        rank = p->paired ? 5 : 4;
        v = p->paired ? pack_words(g, q, p, flip) : pack_elements(g, q, p, WNNOperandDataType_Int8, flip);
    } else {
        v = pack_elements(g, q, p, q->type.type, 0);
        zero = pack_small(g, &zeros, p, 0, 4);
        if (!v || !zero)
            return NULL;
    }
    v = v ? make_cast(g, n, n, v, WNNOperandDataType_Float32) : NULL;
    v = zero ? make_binary(g, n, OP_SUB, v, zero) : v;
    return make_binary(g, n, OP_MUL, v, pack_small(g, &scales, p, 0, rank));
}

/* Cuts K into blocks whose products of bytes have one scale of either operand, if that can be. */
static void pair(struct packing *p)
{
    if (p->blocks == 1 && p->inner % ROUNDED_BLOCK == 0) {
        p->blocks = p->inner / ROUNDED_BLOCK;
        p->inner = ROUNDED_BLOCK;
    }
    p->paired = p->inner % DTYPE_UINT4_PER_WORD == 0;
}

struct value *compact_weights_pack(struct graph *g, struct node *n, const struct node *unpacking, uint32_t results,
                                   int64_t panel, bool rounds, int64_t *rounded_block)
{
    /* by rank: 4, 5, 6 */
    static const uint32_t k_first[3][6] = {{1, 2, 0, 3}, {1, 2, 4, 0, 3}, {1, 2, 5, 4, 0, 3}};
    static const uint32_t n_first[3][6] = {{0, 3, 1, 2}, {0, 3, 1, 2, 4}, {0, 3, 1, 2, 5, 4}};
    const struct value *q = unpacking->inputs[0].value;
    const struct tensor_type *t = &n->inputs[1].value->type;
    const bool quantized = unpacking->op == OP_DEQUANTIZE_LINEAR;
    struct packing p = {.n = t->dims[results], .k = t->dims[1 - results], .panel = panel, .blocks = 1};
    struct value *v;
    uint32_t form;

    p.n_stride = results ? 1 : p.k;
    p.k_stride = results ? p.n : 1;
    for (uint32_t i = 1; quantized && i < 3; i++) { /* scale and zero point have the same blocks */
        const struct tensor_type *small = &unpacking->inputs[i].value->type;
        if (type_elements(small) > 1 && small->dims[1 - results] > p.blocks)
            p.blocks = small->dims[1 - results];
    }
    p.inner = p.k / p.blocks;
    if (quantized && rounds)
        pair(&p);
    if (quantized) {
        v = pack_quantized(g, n, unpacking, &p, results);
    } else {
        v = pack_elements(g, q, &p, q->type.type, 0);
        v = v ? make_cast(g, n, n, v, WNNOperandDataType_Float32) : NULL;
    }
    if (!v)
        return NULL;
    form = v->type.rank - 4;
    *rounded_block = p.paired ? p.inner : 0;
    v = make_transpose(g, n, n, v, results ? k_first[form] : n_first[form]);
    return v ? make_reshape(g, n, n, v, 2, t->dims) : NULL;
}
