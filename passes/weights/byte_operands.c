/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prepares contractions of two operands of 8 bits for kernels that multiply bytes.  The graph's meaning does not change, in the
 * operators by which the lowering and the schedule find bytes under their scales (ir/schedule/contraction.h).
 *
 * Weights less their zero points become signed bytes, four neighbours along K in a word.  Where an image's channels make no
 * whole words, it gets more of them, and its padding, from a pad node, which joins the kernel that makes the bytes.
 */
#include "passes/weights/byte_operands.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/compact.h"
#include "ir/graph/constant_pool.h"
#include "ir/graph/conv.h"
#include "ir/schedule/contraction.h"

enum { BYTE_MIDDLE = 128 /* what unsigned bytes are more than signed ones */ };

/* ---- which contractions ---- */

bool target_multiplies_bytes(const struct target *t)
{
    return t && !t->device && t->compact.unpacks && t->isa.byte_products != BYTES_NONE && t->isa.vector_bits >= 128;
}

static struct node *dequantization_of_bytes(const struct value *v)
{
    struct node *n = producer_of(v, OP_DEQUANTIZE_LINEAR);
    const dtype type = n ? n->inputs[0].value->type.type : WNNOperandDataType_Float32;

    return n && v->type.type == WNNOperandDataType_Float32 &&
                   (type == WNNOperandDataType_Int8 || type == WNNOperandDataType_Uint8)
               ? n
               : NULL;
}

/* Returns whether small is one number, or one for each of v's elements along that dimension. */
static bool is_along(const struct value *small, const struct value *v, uint32_t dimension)
{
    if (type_elements(&small->type) == 1)
        return true;
    if (small->type.rank != v->type.rank || small->type.dims[dimension] != v->type.dims[dimension])
        return false;
    return type_elements(&small->type) == small->type.dims[dimension];
}

bool byte_weights_find(const struct node *unpacking, uint32_t results, struct byte_weights *w)
{
    const struct value *v = unpacking->results[0], *scale = unpacking->inputs[1].value;
    bool transposed;

    w->numbers = compact_constant(unpacking->inputs[0].value, &transposed);
    w->zero = unpacking->inputs[2].value;
    if (!w->numbers || w->numbers->type.type != unpacking->inputs[0].value->type.type || !w->numbers->constant ||
        scale->kind != VALUE_CONSTANT || !scale->constant || w->zero->kind != VALUE_CONSTANT || !w->zero->constant ||
        !is_along(scale, v, results) || !is_along(w->zero, v, results))
        return false;
    w->constant = w->numbers->constant;
    w->zero_each = type_elements(&w->zero->type) > 1;
    type_strides(&w->numbers->type, w->strides);
    if (transposed) {
        const int64_t first = w->strides[0];
        w->strides[0] = w->strides[1];
        w->strides[1] = first;
    }
    return true;
}

/* Returns whether weights less their zero points are signed bytes. */
static bool fits_bytes(const struct byte_weights *w, int64_t channels, uint32_t results)
{
    const int64_t stride = w->strides[results], count = (int64_t)w->constant->bytes;

    for (int64_t first = 0, channel = 0; first < count; first += stride, channel = (channel + 1) % channels) {
        const int zero = byte_at(w->zero, w->zero_each ? channel : 0);
        int least = UINT8_MAX, most = INT8_MIN;
        for (int64_t at = first; at < first + stride; at++) {
            const int x = byte_at(w->numbers, at);
            least = x < least ? x : least;
            most = x > most ? x : most;
        }
        if (least - zero < INT8_MIN || most - zero > INT8_MAX)
            return false;
    }
    return true;
}

/* Returns whether b's numbers fit without their being looked at: they are signed and the zero point is 0. */
static bool is_symmetric(const struct byte_weights *w)
{
    if (w->numbers->type.type != WNNOperandDataType_Int8)
        return false;
    for (int64_t i = 0; i < type_elements(&w->zero->type); i++)
        if (byte_at(w->zero, i))
            return false;
    return true;
}

static bool is_one(const struct value *scale)
{
    double number;

    return value_splat_number(scale, &number) && number == 1;
}

/* Returns whether every output channel is computed of one input channel. */
static bool is_depthwise(const struct node *n)
{
    return n->op == OP_CONV2D && conv_view(n).groups > 1;
}

/* Returns whether A has whole words along K, or needs none: else a convolution's image is padded with more channels. */
static bool has_words(const struct node *n)
{
    const struct tensor_type *a = &n->inputs[0].value->type;

    return is_depthwise(n) || a->dims[a->rank - 1] % BYTE_WORD == 0;
}

static uint32_t results_of(const struct node *n)
{
    if (n->op == OP_CONV2D)
        return conv_view(n).filter[AXIS_OUTPUT];
    return n->op == OP_GEMM && NODE_OPTIONS(n, WNNGemmOptions)->bTranspose ? 0 : 1;
}

/* Returns whether bytes less that zero point are signed ones. */
static bool is_middle(const struct value *zero)
{
    double number;

    return value_splat_number(zero, &number) && number == (zero->type.type == WNNOperandDataType_Uint8 ? BYTE_MIDDLE : 0);
}

/* Returns whether B is computed at run time, as bytes with one scale, whose packing repays: many rows read it.  Bytes less
 * their zero point are signed ones, or their products with A are summed exactly, without scales, however much more they are. */
static bool is_late(const struct node *n, const struct node *unpacking, uint32_t results, const struct target *t)
{
    const struct value *bytes = unpacking->inputs[0].value, *scale = unpacking->inputs[1].value,
                       *zero = unpacking->inputs[2].value;
    const struct tensor_type *type = &unpacking->results[0]->type;
    const int64_t columns = type->dims[results], rows = type_elements(&n->results[0]->type) / columns;
    bool transposed;

    if (compact_constant(bytes, &transposed) || scale->kind != VALUE_CONSTANT || !scale->constant ||
        type_elements(&scale->type) != 1 || type_elements(&zero->type) != 1 || is_depthwise(n) || !has_words(n) ||
        columns % target_lanes(t) != 0 || rows < target_facts(t)->multiplication.late_filter_results)
        return false;
    return is_middle(zero) || (n->op == OP_MATMUL && is_one(scale) && is_one(n->inputs[0].value->producer->inputs[1].value) &&
                               type_elements(type) / columns * UINT8_MAX * BYTE_MIDDLE <= 1 << FLT_MANT_DIG);
}

bool node_multiplies_bytes(const struct node *n, const struct target *t)
{
    const struct node *a, *b;
    struct byte_weights w;

    if (!target_multiplies_bytes(t) || (n->op != OP_CONV2D && n->op != OP_MATMUL && n->op != OP_GEMM) || n->cluster ||
        !(a = dequantization_of_bytes(n->inputs[0].value)) || !(b = dequantization_of_bytes(n->inputs[1].value)) ||
        a->inputs[0].value->kind == VALUE_CONSTANT || type_elements(&a->inputs[1].value->type) != 1 ||
        type_elements(&a->inputs[2].value->type) != 1)
        return false;
    const struct tensor_type *type = &b->results[0]->type;
    const uint32_t results = results_of(n);
    const int64_t steps = type_elements(type) / type->dims[results];
    if (n->op == OP_CONV2D) {
        const struct conv_view c = conv_view(n);
        if (c.image[AXIS_CHANNEL] != 3)
            return false;
        if (c.groups > 1 && (type->dims[c.filter[AXIS_INPUT]] != 1 || type->dims[results] != c.groups))
            return false;
    } else if (type->rank != 2 || (n->op == OP_GEMM && NODE_OPTIONS(n, WNNGemmOptions)->aTranspose) || !has_words(n)) {
        return false;
    }
    if (steps == 1 || steps + BYTE_WORD > BYTE_SUM_STEPS) /* one product is rounded as its operands are */
        return false;
    return byte_weights_find(b, results, &w) ? is_symmetric(&w) || fits_bytes(&w, type->dims[results], results)
                                             : is_late(n, b, results, t);
}

/* ---- A ---- */

struct value *flip_sign_bits(struct graph *g, struct node *before, struct value *v)
{
    const bool is_signed = v->type.type == WNNOperandDataType_Int8;

    v = make_binary(g, before, OP_SUB, v, make_number(g, v, is_signed ? -128 : 128)); /* wraps: the highest bit is flipped */
    return v ? make_cast(g, before, before, v, is_signed ? WNNOperandDataType_Uint8 : WNNOperandDataType_Int8) : NULL;
}

/* Returns A's bytes as floats of its zero point and scale.  Words of two have numbers of 16 bits, bytes less their zero point,
 * which contractions of the same bytes share: the pass keeps them with what unpacks those. */
static struct value *make_a(struct graph *g, struct node *n, struct value *bytes, const struct node *unpacking, uint32_t word)
{
    struct value *scale = unpacking->inputs[1].value, *zero = unpacking->inputs[2].value, *its = unpacking->results[0], *v, *s,
                 *z;
    const bool wide = word == BYTE_WIDE_WORD, shared = wide && bytes == unpacking->inputs[0].value;
    const dtype type = wide ? DTYPE_INT16 : WNNOperandDataType_Float32;
    struct tensor_type ones = {.type = WNNOperandDataType_Float32, .rank = bytes->type.rank};

    v = shared ? its->scratch : NULL;
    if (!v) {
        v = make_cast(g, n, n, bytes, type);
        z = zero->kind != VALUE_CONSTANT ? make_cast(g, n, n, zero, type) : make_number(g, v, byte_at(zero, 0));
        v = make_binary(g, n, OP_SUB, v, z);
        its->scratch = shared ? v : NULL;
    }
    if (wide && v)
        v = make_cast(g, n, n, v, WNNOperandDataType_Float32);
    if (is_one(scale))
        return v;
    for (uint32_t i = 0; i < ones.rank; i++)
        ones.dims[i] = 1;
    s = scale->kind == VALUE_CONSTANT ? graph_add_constant(g, &ones, constant_retain(scale->constant))
                                      : make_reshape(g, n, n, scale, ones.rank, ones.dims);
    return make_binary(g, n, OP_MUL, v, s);
}

/* Returns whether an image is stored with its padding: it needs more channels, or what pads it is known at run time only. */
static bool is_padded(const struct node *n)
{
    if (!has_words(n) || n->op != OP_CONV2D)
        return !has_words(n);
    const struct conv_view c = conv_view(n);
    return n->inputs[0].value->producer->inputs[2].value->kind != VALUE_CONSTANT &&
           (c.padding[0] | c.padding[1] | c.padding[2] | c.padding[3]) != 0;
}

/* Returns the bytes of a convolution's image with as many channels as make whole words, whose weights are 0, and with what pads
 * it at its edges. */
static struct value *pad_image(struct graph *g, struct node *n, struct value *bytes, const struct node *unpacking,
                               uint32_t word)
{
    struct value *zero = unpacking->inputs[2].value;
    const struct conv_view c = conv_view(n);
    const uint32_t more = (word - bytes->type.dims[3] % word) % word;
    const uint32_t before[4] = {0, c.padding[0], c.padding[2], 0}, after[4] = {0, c.padding[1], c.padding[3], more};
    const union op_args args = {.pad = {4, before, 4, after}};
    WNNPadOptions o = WNN_PAD_OPTIONS_INIT;

    if (zero->kind == VALUE_CONSTANT)
        o.value = wnnNumber(byte_at(zero, 0));
    bytes = make_node(g, n, OP_PAD, n, 1, &bytes, &o, &args);
    if (zero->kind == VALUE_CONSTANT || !bytes)
        return bytes;
    const uint32_t no_channels[4] = {0, after[1], after[2], 0}, *dims = unpacking->results[0]->type.dims;
    const union op_args sides = {.pad = {4, before, 4, no_channels}};
    struct tensor_type image = {.type = WNNOperandDataType_Uint8, .rank = 4, .dims = {1, dims[1], dims[2], 1}};
    struct value *ones = graph_add_scalar(g, &image, wnnNumber(1));
    struct value *inside = ones ? make_node(g, n, OP_PAD, n, 1, &ones, &o, &sides) : NULL;
    return inside ? make_node(g, n, OP_WHERE, n, 3, (struct value *[]){inside, bytes, zero}, NULL, NULL) : NULL;
}

bool separate_byte_operand(struct graph *g, struct node *n)
{
    struct value *floats = n->inputs[0].value;
    struct value *v = make_a(g, n, floats->producer->inputs[0].value, floats->producer, BYTE_WIDE_WORD);

    if (!v)
        return false;
    node_set_input(n, 0, v);
    value_drop_unread(floats);
    return true;
}

/* ---- B ---- */

/* Returns the packed dimensions: panels, those of K, of which the last counts words, a panel's channels, a word's bytes. */
static uint32_t packed_dims(const struct tensor_type *t, const struct weight_order *o, int64_t panel, uint32_t word,
                            uint32_t *dims)
{
    uint32_t rank = 0;

    dims[rank++] = (uint32_t)(t->dims[o->results] / panel);
    for (uint32_t i = 0; i < o->count; i++)
        dims[rank++] = i + 1 < o->count ? t->dims[o->others[i]] : ceil_div(t->dims[o->others[i]], word);
    dims[rank++] = (uint32_t)panel;
    dims[rank++] = word;
    return rank;
}

/* Writes the weights of neighbouring channels at some place less their zero points, each into a word of its own. */
static void write_numbers(const struct byte_weights *w, int64_t at, int64_t stride, int64_t channel, int64_t count,
                          uint32_t word, int8_t *to)
{
    const uint8_t *from = (const uint8_t *)w->constant->data + at; /* differences of bytes of both types are the same */
    const int64_t zero_stride = w->zero_each;
    const uint8_t *zeros = (const uint8_t *)w->zero->constant->data + channel * zero_stride;

    for (int64_t i = 0; i < count; i++)
        to[i * word] = (int8_t)(uint8_t)(from[i * stride] - zeros[i * zero_stride]);
}

/* Writes B's words, of so many bytes, with the last dimension of K in that order, if there is one. */
static void write_words(const struct byte_weights *w, const struct tensor_type *t, const struct weight_order *o, int64_t panel,
                        uint32_t word, const uint32_t *order, int8_t *to)
{
    const int64_t last = t->dims[o->others[o->count - 1]], stride = w->strides[o->others[o->count - 1]];
    const int64_t words = ceil_div(last, word), across = w->strides[o->results];
    int64_t outer = 1;

    for (uint32_t i = 0; i + 1 < o->count; i++)
        outer *= t->dims[o->others[i]];
    for (int64_t at = 0; at < outer; at++) {
        int64_t from = 0, left = at;
        for (uint32_t i = o->count - 1; i-- > 0;) {
            from += left % t->dims[o->others[i]] * w->strides[o->others[i]];
            left /= t->dims[o->others[i]];
        }
        for (int64_t k = 0; k < last; k += word)
            for (int64_t first = 0; first < t->dims[o->results]; first += panel) { /* neighbours lie in the same lines */
                int8_t *row = to + ((first / panel * outer + at) * words + k / word) * panel * word;
                if (k + word > last)
                    memset(row, 0, (size_t)(panel * word));
                for (int64_t j = 0; j < word && k + j < last; j++)
                    write_numbers(w, from + (order ? order[k + j] : k + j) * stride + first * across, across, first, panel,
                                  word, row + j);
            }
    }
}

static struct constant *pack_words(const struct byte_weights *w, const struct tensor_type *t, const struct weight_order *o,
                                   int64_t panel, uint32_t word, const struct constant *order, size_t bytes,
                                   struct constant_pool *pool)
{
    struct constant_recipe r = constant_recipe_begin(CONSTANT_WORDS, w->constant);
    const uint64_t numbers[] = {w->numbers->type.type,           w->zero->constant->id, o->results, (uint64_t)panel, word,
                                order ? constant_hash(order) : 0};

    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        constant_recipe_add(&r, numbers[i]);
    constant_recipe_add(&r, t->rank);
    for (uint32_t i = 0; i < t->rank; i++)
        constant_recipe_add(&r, t->dims[i]);
    for (uint32_t i = 0; i < o->count; i++)
        constant_recipe_add(&r, o->others[i] | (uint64_t)w->strides[o->others[i]] << 8);
    struct constant *c = constant_pool_find(pool, &r);
    if (c)
        return c;
    c = constant_pool_place(pool, bytes);
    if (!c)
        return NULL;
    write_words(w, t, o, panel, word, order ? order->data : NULL, (int8_t *)(uintptr_t)c->data); /* ours alone so far */
    c->pairs_fit = order != NULL;
    return constant_pool_keep(pool, &r, c);
}

/* Returns B's bytes that are computed at run time as signed ones in the packed order, which a kernel of their own makes. */
static struct value *pack_late(struct graph *g, struct node *n, struct value *v, const struct weight_order *o, int64_t panel,
                               uint32_t word)
{
    const uint32_t last = o->others[o->count - 1];
    uint32_t dims[RANK_MAX], order[RANK_MAX], at[RANK_MAX], rank = 0;

    if (v->type.type == WNNOperandDataType_Uint8 && !(v = flip_sign_bits(g, n, v)))
        return NULL;
    for (uint32_t d = 0; d < v->type.rank; d++) {
        const int64_t inner = d == o->results ? panel : d == last ? word : 0;
        at[d] = rank;
        dims[rank++] = inner ? (uint32_t)(v->type.dims[d] / inner) : v->type.dims[d];
        if (inner)
            dims[rank++] = (uint32_t)inner;
    }
    order[0] = at[o->results];
    for (uint32_t i = 0; i < o->count; i++)
        order[i + 1] = at[o->others[i]];
    order[rank - 2] = at[o->results] + 1;
    order[rank - 1] = at[last] + 1;
    v = make_reshape(g, n, n, v, rank, dims);
    return v ? make_transpose(g, n, n, v, order) : NULL;
}

/* Returns B in that order, whose numbers a depthwise convolution, which has one along K, takes byte by byte. */
static struct value *make_b(struct graph *g, struct node *n, const struct node *unpacking, const struct weight_order *o,
                            int64_t panel, uint32_t word, const struct constant *k_order, struct constant_pool *pool)
{
    const struct value *scale = unpacking->inputs[1].value;
    struct tensor_type t = unpacking->results[0]->type, type = {.type = WNNOperandDataType_Int8};
    const bool each = type_elements(&scale->type) > 1;
    struct tensor_type scales = {.type = WNNOperandDataType_Float32};
    uint32_t order[RANK_MAX], at = 0;
    struct byte_weights w;
    struct value *v, *s;

    panel = is_depthwise(n) ? t.dims[o->results] : panel;
    const bool constant = byte_weights_find(unpacking, o->results, &w);
    type.rank = packed_dims(&t, o, panel, word, type.dims);
    v = constant ? graph_add_constant(g, &type, pack_words(&w, &t, o, panel, word, k_order, (size_t)type_bytes(&type), pool))
                 : pack_late(g, n, unpacking->inputs[0].value, o, panel, word);
    v = v ? make_cast(g, n, n, v, WNNOperandDataType_Float32) : NULL;
    scales.rank = type.rank;
    for (uint32_t i = 0; i < type.rank; i++)
        scales.dims[i] = each && (i == 0 || i + 2 == type.rank) ? type.dims[i] : 1;
    s = graph_add_constant(g, &scales, constant_retain(scale->constant));
    v = make_binary(g, n, OP_MUL, v, s);
    for (uint32_t d = 0; d < t.rank; d++) {
        if (d == o->results) {
            order[at++] = 0;
            order[at++] = type.rank - 2;
            continue;
        }
        uint32_t i = 0;
        while (o->others[i] != d)
            i++;
        order[at++] = i + 1;
        if (i + 1 == o->count) {
            order[at++] = type.rank - 1;
            t.dims[d] = type.dims[i + 1] * word;
        }
    }
    v = v ? make_transpose(g, n, n, v, order) : NULL;
    return v ? make_reshape(g, n, n, v, t.rank, t.dims) : NULL;
}

/* Returns the sums of A's rows times what is left of the zero point of a B whose bytes are signed now.  Returns NULL if memory
 * runs out. */
static struct value *make_zero_sums(struct graph *g, struct node *n, const struct node *of_a, const struct node *of_b,
                                    uint32_t word)
{
    const uint32_t axis = of_a->results[0]->type.rank - 1;
    const WNNReduceOptions o = {.structSize = sizeof o, .axesCount = 1, .axes = &axis, .keepDimensions = true};
    struct value *zero = make_cast(g, n, n, of_b->inputs[2].value, WNNOperandDataType_Float32),
                 *rows = make_a(g, n, of_a->inputs[0].value, of_a, word);

    if (of_b->inputs[2].value->type.type == WNNOperandDataType_Uint8)
        zero = make_binary(g, n, OP_SUB, zero, make_number(g, zero, BYTE_MIDDLE));
    rows = rows ? make_node(g, n, OP_REDUCE_SUM, n, 1, &rows, &o, NULL) : NULL;
    return make_binary(g, n, OP_MUL, rows, zero);
}

/* ---- pairs ---- */

/* Sums of unsigned bytes' products with two signed ones have 16 bits if the two add up to at most PAIR_MOST.  A row is
 * compared with TRIES_MOST others at most, on average: normally distributed weights take up to 10. */
enum { PAIR_MOST = INT16_MAX / UINT8_MAX, PARTNERS_MOST = 256, EARLIER_MOST = 1024, TRIES_MOST = 32 };

static bool pair_fits(const int8_t *a, const int8_t *b, int64_t count)
{
    int16_t most = 0;

    for (int64_t i = 0; i < count; i++) {
        const int16_t sum = (int16_t)(a[i] + b[i]), magnitude = (int16_t)(sum < 0 ? -sum : sum);
        most = magnitude > most ? magnitude : most;
    }
    return most <= PAIR_MOST;
}

/* Makes rows of B pairs that fit, which leaves most where they are: of a row and one of those after it, or of the next two and
 * an earlier pair that is divided.  Returns false if it finds none for some row, or not soon enough. */
static bool find_pairs(const int8_t *rows, uint32_t count, int64_t columns, uint32_t *order)
{
#define FITS(i, j) (tries-- > 0 && pair_fits(rows + order[i] * columns, rows + order[j] * columns, columns))
    int64_t tries = (int64_t)TRIES_MOST * count;
    for (uint32_t at = 0, i; at < count; at += 2) {
        const uint32_t end = count - at < PARTNERS_MOST ? count : at + PARTNERS_MOST,
                       earlier = at < EARLIER_MOST ? at : EARLIER_MOST;
        uint32_t *moved = &order[at + 1], old;
        for (i = at + 1; i < end && !FITS(at, i); i++)
            ;
        if (i == end) {
            for (i = 0; i < earlier && !(FITS(i, at + 1) && FITS(i ^ 1, at)); i++)
                ;
            if (i == earlier)
                return false;
            moved = &order[at];
        }
        old = *moved;
        *moved = order[i];
        order[i] = old;
    }
    return true;
#undef FITS
}

/* Returns an order of K in which products with neighbours of B may be added up in 16 bits: as it is, but that A's bytes are
 * gathered in another where they are quantised by a range at run time, in a kernel of their own.  Returns NULL if there is none
 * or memory runs out; a NULL in *bytes is an error in g->error. */
static struct constant *order_pairs(struct graph *g, struct node *n, const struct weight_order *o, const struct target *t,
                                    struct value **bytes)
{
    const struct node *of_a = n->inputs[0].value->producer, *of_b = n->inputs[1].value->producer;
    const WNNGatherOptions last = {.structSize = sizeof last, .axis = (*bytes)->type.rank - 1};
    const uint32_t inner = o->others[o->count - 1], k = of_b->results[0]->type.dims[inner];
    const int64_t columns = of_b->results[0]->type.dims[o->results];
    const struct tensor_type type = {.type = WNNOperandDataType_Uint32, .rank = 1, .dims = {k}};
    bool in_order = true;
    struct byte_weights w;

    if (o->inner != k || k % BYTE_WORD != 0 || !byte_weights_find(of_b, o->results, &w))
        return NULL;
    const bool may_order =
        of_a->inputs[2].value->kind != VALUE_CONSTANT && columns >= target_facts(t)->multiplication.ordered_columns;
    int8_t *rows = malloc((size_t)(k * columns));
    struct constant *order = constant_create(NULL, k * sizeof(uint32_t));
    uint32_t *numbers = order ? (uint32_t *)(uintptr_t)order->data : NULL;
    bool fit = rows && order;
    for (uint32_t i = 0; fit && i < k; i++) {
        int8_t *row = rows + i * columns;
        write_numbers(&w, i * w.strides[inner], w.strides[o->results], 0, columns, 1, row);
        numbers[i] = i;
        fit = may_order || i % 2 == 0 || pair_fits(row - columns, row, columns);
    }
    if (!fit || (may_order && !find_pairs(rows, k, columns, numbers))) {
        constant_release(order);
        order = NULL;
    }
    for (uint32_t i = 0; order && i < k; i++)
        in_order &= numbers[i] == i;
    if (!in_order) {
        struct value *inputs[] = {*bytes, graph_add_constant(g, &type, constant_retain(order))};
        *bytes = inputs[1] ? make_node(g, n, OP_GATHER, n, 2, inputs, &last, NULL) : NULL;
    }
    free(rows);
    return order;
}

struct node *pack_byte_operands(struct graph *g, struct node *n, const struct weight_order *o, int64_t panel,
                                const struct target *t)
{
    const struct node *of_a = n->inputs[0].value->producer, *of_b = n->inputs[1].value->producer;
    const bool pairs = t->isa.byte_products == BYTES_MIXED_PAIRS && !is_depthwise(n);
    struct value *bytes = of_a->inputs[0].value, *inputs[3] = {NULL}, *v;
    struct constant *order = pairs ? order_pairs(g, n, o, t, &bytes) : NULL;
    const uint32_t word = is_depthwise(n) ? 1 : pairs && !order ? BYTE_WIDE_WORD : BYTE_WORD;
    bool transposed;
    const bool is_constant = compact_constant(of_b->inputs[0].value, &transposed) != NULL;

    const bool padded = is_padded(n);
    if (padded && bytes)
        bytes = pad_image(g, n, bytes, of_a, word);
    inputs[0] = bytes ? make_a(g, n, bytes, of_a, word) : NULL;
    inputs[1] = inputs[0] ? make_b(g, n, of_b, o, panel, word, order, t->pool) : NULL;
    constant_release(order);
    if (!inputs[1])
        return NULL;
    if (!padded) {
        node_set_input(n, 0, inputs[0]);
        node_set_input(n, 1, inputs[1]);
        if (is_constant || is_middle(of_b->inputs[2].value))
            return n;
        inputs[2] = make_zero_sums(g, n, of_a, of_b, word);
        v = make_binary(g, n, OP_SUB, make_binary(g, n, OP_MATMUL, inputs[0], inputs[1]), inputs[2]);
        if (!v)
            return NULL;
        node_replace(n, v);
        return v->producer->inputs[0].value->producer;
    }
    WNNConv2dOptions options = *NODE_OPTIONS(n, WNNConv2dOptions);
    static const uint32_t none[4] = {0};
    options.padding = none;
    options.paddingCount = 4;
    inputs[2] = n->inputs[2].value;
    v = make_node(g, n, OP_CONV2D, n, n->input_count, inputs, &options, &n->args);
    if (!v)
        return NULL;
    node_replace(n, v);
    return v->producer;
}
