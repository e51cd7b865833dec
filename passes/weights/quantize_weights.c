/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Turns weights that a graph has as floats into what docs/compact-weights.md describes, if the program has asked for it
 * (wnnGraphBuilderQuantizeWeights): the constant operand B of a matmul or gemm becomes the dequantizeLinear of an int8 constant
 * with a scale for each block along K.
 *
 * The pass runs after the folding of constants, so that transposes, reshapes and casts of weights have become constants, and
 * in front of everything that looks for compact weights.  It needs and keeps the topological order.  This is not exact: it
 * rounds weights.
 *
 * A block of 8 bits is rounded to 127ths of its largest magnitude, so that no element is off by more than half a step.  With 4
 * bits, seven steps to either side, other scales fit most blocks better: the one with the smallest sum of squared errors is
 * taken of those at which the largest element becomes 7 or -8, or is cut a little.  The candidates are the same on every
 * machine, and so is the order in which errors are added up.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "passes/support.h"

enum { BLOCK_MOST = 32, BLOCK_LEAST = 8 }; /* pack-weights makes words of 8 numbers of 4 bits, which lie in one block */

/* ---- one block ---- */

/* Rounds x / scale to least .. most.  Returns the sum of squared errors.  The loops are such that compilers make vectors of
 * them: adding and subtracting 1.5 * 2^23 rounds small numbers to integers, ties to even, and there are eight sums. */
static float round_block(const float *x, int64_t count, float scale, float least, float most, float *rounded)
{
    const float inverse = 1 / scale, large = 12582912.0f;
    float sums[BLOCK_LEAST] = {0}, sum = 0;

    for (int64_t i = 0; i < count; i += BLOCK_LEAST)
        for (int64_t k = i; k < i + BLOCK_LEAST; k++) {
            float q = (x[k] * inverse + large) - large, error;

            q = q < least ? least : q;
            q = q > most ? most : q;
            error = x[k] - q * scale;
            rounded[k] = q;
            sums[k - i] += error * error;
        }
    for (int i = 0; i < BLOCK_LEAST; i++)
        sum += sums[i];
    return sum;
}

/* Chooses the scale of a block, and writes its numbers to rounded. */
static float quantize_block(const float *x, int64_t count, WNNWeightFormat format, float *rounded)
{
    static const float divisors[] = {7, -8, 8, -7, -7.5f, 7.5f, -6.5f, 6.5f, -6, 6};
    float largest = 0, scale, best;

    for (int64_t i = 0; i < count; i++)
        largest = fabsf(x[i]) > fabsf(largest) ? x[i] : largest;
    if (fabsf(largest) < 256 * FLT_MIN) { /* the reciprocal of the scale would be infinite */
        memset(rounded, 0, (size_t)count * sizeof *rounded);
        return 1;
    }
    if (format == WNNWeightFormat_Int8) {
        scale = fabsf(largest) / 127;
        round_block(x, count, scale, -127, 127, rounded);
        return scale;
    }
    scale = largest / divisors[0];
    best = round_block(x, count, scale, -8, 7, rounded);
    for (size_t i = 1; i < sizeof divisors / sizeof *divisors; i++) {
        float other[BLOCK_MOST];
        const float error = round_block(x, count, largest / divisors[i], -8, 7, other);

        if (!(error < best))
            continue;
        best = error;
        scale = largest / divisors[i];
        memcpy(rounded, other, (size_t)count * sizeof *rounded);
    }
    return scale;
}

/* ---- a matrix ---- */

/* Describes a constant matrix and the blocks along its dimension K. */
struct matrix {
    const struct value *floats; /* the constant, of float32 or float16 */
    int64_t n, k, block;
    int64_t n_stride, k_stride; /* of its elements */
    uint32_t k_axis;
};

static float element_of(const struct value *v, int64_t at)
{
    const size_t bytes = v->type.type == WNNOperandDataType_Float32 ? sizeof(float) : sizeof(uint16_t);
    union scalar s;

    memcpy(&s, (const char *)v->constant->data + at * (int64_t)bytes, bytes);
    return bytes == sizeof(float) ? s.f32 : f16_to_f32(s.f16);
}

static bool is_finite(const struct value *v)
{
    const int64_t count = type_elements(&v->type);

    for (int64_t i = 0; i < count; i++)
        if (!isfinite(element_of(v, i)))
            return false;
    return true;
}

static bool is_float(const struct value *v)
{
    return v->type.type == WNNOperandDataType_Float32 || v->type.type == WNNOperandDataType_Float16;
}

/* Finds the matrix that n multiplies by.  Returns false if it is to stay as it is. */
static bool find_matrix(const struct node *n, const struct target *t, struct matrix *m)
{
    const struct value *v = n->op == OP_MATMUL || n->op == OP_GEMM ? n->inputs[1].value : NULL;
    int64_t columns_axis = 1;

    if (!v || n->cluster || v->type.rank != 2 || !is_float(v))
        return false;
    const struct tensor_type *type = &v->type;
    if (v->producer && v->producer->op == OP_CAST)
        v = v->producer->inputs[0].value; /* float16, which folding leaves */
    if (v->kind != VALUE_CONSTANT || !v->constant || !is_float(v))
        return false;
    if (n->op == OP_GEMM && NODE_OPTIONS(n, WNNGemmOptions)->bTranspose)
        columns_axis = 0;
    *m = (struct matrix){.floats = v,
                         .n = type->dims[columns_axis],
                         .k = type->dims[1 - columns_axis],
                         .block = BLOCK_MOST,
                         .k_axis = (uint32_t)(1 - columns_axis)};
    m->n_stride = columns_axis ? 1 : m->k;
    m->k_stride = columns_axis ? m->n : 1;
    while (m->block >= BLOCK_LEAST && m->k % m->block)
        m->block /= 2;
    if (m->block < BLOCK_LEAST || m->n == 1)
        return false;
    if (!(t && t->compact.small) && m->n * m->k * (int64_t)sizeof(float) < target_facts(t)->contraction.compact_bytes)
        return false;
    return is_finite(v);
}

static struct value *add_constant(struct graph *g, const struct tensor_type *t, void **data)
{
    struct constant *c = constant_create(NULL, (size_t)type_bytes(t));

    *data = c ? (void *)c->data : NULL; /* ours alone so far */
    return graph_add_constant(g, t, c);
}

static void quantize(const struct matrix *m, WNNWeightFormat format, int8_t *to, float *scales)
{
    const int64_t blocks = m->k / m->block;
    const bool k_first = m->k_axis == 0;

    for (int64_t b = 0; b < blocks; b++)
        for (int64_t n = 0; n < m->n; n++) {
            const int64_t start = n * m->n_stride + b * m->block * m->k_stride;
            float x[BLOCK_MOST], rounded[BLOCK_MOST];

            for (int64_t i = 0; i < m->block; i++)
                x[i] = element_of(m->floats, start + i * m->k_stride);
            scales[k_first ? b * m->n + n : n * blocks + b] = quantize_block(x, m->block, format, rounded);
            for (int64_t i = 0; i < m->block; i++)
                to[start + i * m->k_stride] = (int8_t)rounded[i];
        }
}

/* Makes the dequantizeLinear that stands for the matrix, before n.  Returns NULL after an error in g->error. */
static struct value *make_quantized(struct graph *g, struct node *n, const struct matrix *m)
{
    const WNNWeightFormat format = g->quantized.format;
    struct tensor_type t = {.type = WNNOperandDataType_Int8, .rank = 2}, small;
    struct value *inputs[3];
    void *to = NULL, *scales = NULL, *zeros = NULL;

    t.dims[m->k_axis] = (uint32_t)m->k;
    t.dims[1 - m->k_axis] = (uint32_t)m->n;
    small = t;
    small.dims[m->k_axis] = (uint32_t)(m->k / m->block);
    inputs[0] = add_constant(g, &t, &to);
    inputs[2] = add_constant(g, &small, &zeros);
    small.type = WNNOperandDataType_Float32;
    inputs[1] = add_constant(g, &small, &scales);
    if (!inputs[0] || !inputs[1] || !inputs[2])
        return NULL;
    memset(zeros, 0, (size_t)type_elements(&small));
    quantize(m, format, to, scales);
    g->quantized.counts.matrices++;
    g->quantized.counts.bytesBefore += m->floats->constant->bytes;
    g->quantized.counts.bytesAfter +=
        (uint64_t)(type_elements(&t) / (format == WNNWeightFormat_Int4 ? 2 : 1) + type_bytes(&small));
    return make_node(g, n, OP_DEQUANTIZE_LINEAR, n, 3, inputs, NULL, NULL);
}

/* ---- the pass ---- */

/* Quantizes what n multiplies by, and takes that for every other node that multiplies by the same in the same way.  Returns
 * false after an error in g->error. */
static bool quantize_node(struct graph *g, struct node *n, const struct matrix *m, struct value **kept)
{
    struct value *old = n->inputs[1].value, **weights = &kept[2 * (size_t)old->index + m->k_axis];

    if (!*weights && !(*weights = make_quantized(g, n, m)))
        return false;
    node_set_input(n, 1, *weights);
    if (old->type.type == WNNOperandDataType_Float16 && /* weights are unpacked in float32 */
        !node_widen(g, n, WNNOperandDataType_Float16, WNNOperandDataType_Float32))
        return false;
    value_drop_constant(old);
    return true;
}

bool pass_quantize_weights(struct graph *g, const struct pass_options *o)
{
    const uint32_t count = g->value_count;
    struct arena a = {0};
    struct value **kept; /* what stands for a matrix, by the index of its value and the dimension that is K */
    bool changed = false;

    if (g->quantized.format == WNNWeightFormat_None)
        return false;
    kept = arena_array(&a, 2 * (size_t)count, sizeof *kept);
    if (!kept)
        error_out_of_memory(&g->error);
    graph_for_each_safe (g, n) {
        struct matrix m;

        if (g->error.status || (o->cancelled && o->cancelled(o->user)))
            break; /* the driver asks again and reports it */
        if (!find_matrix(n, o->target, &m))
            continue;
        changed = true;
        quantize_node(g, n, &m, kept);
    }
    arena_free(&a);
    return changed;
}
