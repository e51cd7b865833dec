/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has what all families of the interpreter share: walks over strided views, widening operands to double or int64_t and
 * narrowing results to their type.
 */
#include "ir/interpret/interpret.h"

#include <assert.h>
#include <string.h>

/* ---- walking ---- */

void walk_simplify(struct walk *w)
{
    uint32_t rank = 0;

    for (uint32_t d = 0; d < w->rank; d++) {
        if (w->dims[d] == 1)
            continue;
        bool merge = rank > 0;
        for (uint32_t v = 0; merge && v < w->views; v++)
            merge = w->strides[v][rank - 1] == w->strides[v][d] * w->dims[d];
        if (!merge)
            rank++;
        w->dims[rank - 1] = merge ? w->dims[rank - 1] * w->dims[d] : w->dims[d];
        for (uint32_t v = 0; v < w->views; v++)
            w->strides[v][rank - 1] = w->strides[v][d];
    }
    if (!rank) {
        rank = 1;
        w->dims[0] = 1;
        for (uint32_t v = 0; v < w->views; v++)
            w->strides[v][0] = 0;
    }
    w->rank = rank;
    memset(w->index, 0, sizeof w->index);
}

bool walk_next(struct walk *w)
{
    for (uint32_t d = w->rank - 1; d-- > 0;) {
        for (uint32_t v = 0; v < w->views; v++)
            w->offset[v] += w->strides[v][d];
        if (++w->index[d] < w->dims[d])
            return true;
        for (uint32_t v = 0; v < w->views; v++)
            w->offset[v] -= w->strides[v][d] * w->dims[d];
        w->index[d] = 0;
    }
    return false;
}

void walk_broadcast(struct walk *w, uint32_t view, const struct tensor_type *type)
{
    int64_t strides[RANK_MAX];

    assert(type->rank <= w->rank);
    type_strides(type, strides);
    for (uint32_t d = 0; d < w->rank; d++) {
        uint32_t own = d - (w->rank - type->rank); /* wraps for the dimensions that type lacks */
        bool here = d >= w->rank - type->rank && type->dims[own] != 1;
        w->strides[view][d] = here ? strides[own] : 0;
    }
}

/* ---- elements ---- */

#define LOAD(member, T, expression)                                                                                            \
    for (int64_t k = 0; k < count; k++) {                                                                                      \
        T x = ((const T *)data)[k * stride];                                                                                   \
        out[k].member = (expression);                                                                                          \
    }

void interpret_load(dtype type, const void *data, int64_t stride, int64_t count, union lane *out)
{
    if (type == DTYPE_BFLOAT16) {
        LOAD(f, uint16_t, bf16_to_f32(x))
        return;
    }
    if (type == DTYPE_FLOAT64) {
        LOAD(f, double, x)
        return;
    }
    if (type == DTYPE_UINT4) { /* unpacked to bytes */
        LOAD(i, uint8_t, x)
        return;
    }
    switch (type) {
    case WNNOperandDataType_Float32:
        LOAD(f, float, x)
        break;
    case WNNOperandDataType_Float16:
        LOAD(f, uint16_t, f16_to_f32(x))
        break;
    case WNNOperandDataType_Int32:
        LOAD(i, int32_t, x)
        break;
    case WNNOperandDataType_Uint32:
        LOAD(i, uint32_t, x)
        break;
    case WNNOperandDataType_Int64:
        LOAD(i, int64_t, x)
        break;
    case WNNOperandDataType_Uint64:
        LOAD(i, uint64_t, (int64_t)x)
        break;
    case WNNOperandDataType_Int8:
        LOAD(i, int8_t, x)
        break;
    case WNNOperandDataType_Uint8:
        LOAD(i, uint8_t, x)
        break;
    case WNNOperandDataType_Undefined:
    case WNNOperandDataType_Force32:
        assert(!"type");
    }
}

#define STORE(T, expression)                                                                                                   \
    for (int64_t k = 0; k < count; k++)                                                                                        \
        ((T *)data)[k * stride] = (T)(expression);

void interpret_store(dtype type, const union lane *in, int64_t count, void *data, int64_t stride)
{
    if (type == DTYPE_BFLOAT16) {
        STORE(uint16_t, f64_to_bf16(in[k].f))
        return;
    }
    if (type == DTYPE_FLOAT64) {
        STORE(double, in[k].f)
        return;
    }
    switch (type) {
    case WNNOperandDataType_Float32:
        STORE(float, in[k].f)
        break;
    case WNNOperandDataType_Float16:
        STORE(uint16_t, f64_to_f16(in[k].f))
        break;
    case WNNOperandDataType_Int32:
    case WNNOperandDataType_Uint32:
        STORE(uint32_t, (uint64_t)in[k].i)
        break;
    case WNNOperandDataType_Int64:
    case WNNOperandDataType_Uint64:
        STORE(uint64_t, in[k].i)
        break;
    case WNNOperandDataType_Int8:
    case WNNOperandDataType_Uint8:
        STORE(uint8_t, (uint64_t)in[k].i)
        break;
    case WNNOperandDataType_Undefined:
    case WNNOperandDataType_Force32:
        assert(!"type");
    }
}

double interpret_round(dtype type, double value)
{
    return type == WNNOperandDataType_Float32 ? (double)(float)value
           : type == DTYPE_BFLOAT16           ? (double)bf16_to_f32(f64_to_bf16(value))
           : type == DTYPE_FLOAT64            ? value
                                              : (double)f16_to_f32(f64_to_f16(value));
}

/* ---- whole operands ---- */

/** Makes view 0 the type in the order of permutation, and view 1 the same, dense. */
static void walk_permuted(struct walk *w, const struct tensor_type *type, const uint32_t *permutation)
{
    int64_t strides[RANK_MAX], dense = 1;

    memset(w, 0, sizeof *w);
    w->rank = type->rank;
    w->views = 2;
    type_strides(type, strides);
    for (uint32_t d = w->rank; d-- > 0;) {
        uint32_t from = permutation ? permutation[d] : d;
        w->dims[d] = type->dims[from];
        w->strides[0][d] = strides[from];
        w->strides[1][d] = dense;
        dense *= w->dims[d];
    }
    walk_simplify(w);
}

static union lane *widen(struct interpretation *t, uint32_t slot, const uint32_t *permutation)
{
    const struct interpret_input *in = &t->inputs[slot];
    size_t size = dtype_size(in->type->type);
    union lane *out = interpret_memory(t, type_elements(in->type), sizeof *out);
    struct walk w;

    if (!out)
        return NULL;
    walk_permuted(&w, in->type, permutation);
    uint32_t last = w.rank - 1;
    do
        interpret_load(in->type->type, (const char *)in->data + w.offset[0] * (int64_t)size, w.strides[0][last], w.dims[last],
                       out + w.offset[1]);
    while (walk_next(&w));
    return out;
}

/* A lane is a double or an int64_t, and nothing else of its size: an array of lanes is an array of either. */
_Static_assert(sizeof(union lane) == sizeof(double) && sizeof(union lane) == sizeof(int64_t), "lane");

double *interpret_widen(struct interpretation *t, uint32_t slot, const uint32_t *permutation)
{
    return (double *)widen(t, slot, permutation);
}

int64_t *interpret_widen_integers(struct interpretation *t, uint32_t slot, const uint32_t *permutation)
{
    return (int64_t *)widen(t, slot, permutation);
}

double *interpret_widen_bounds(struct interpretation *t, uint32_t slot, const uint32_t *permutation)
{
    const struct interpret_input *in = &t->inputs[slot];
    struct walk w;

    if (!in->type || !in->bound)
        return NULL;
    double *out = interpret_memory(t, type_elements(in->type), sizeof *out);
    if (!out)
        return NULL;
    walk_permuted(&w, in->type, permutation);
    uint32_t last = w.rank - 1;
    do
        for (int64_t k = 0; k < w.dims[last]; k++)
            out[w.offset[1] + k] = in->bound[w.offset[0] + k * w.strides[0][last]];
    while (walk_next(&w));
    return out;
}

void interpret_low_precision(struct interpretation *t, uint32_t r, const double *values, const double *bounds,
                             const uint32_t *permutation)
{
    const struct interpret_result *out = &t->results[r];
    dtype type = out->type->type;
    size_t size = dtype_size(type);
    struct walk w;

    walk_permuted(&w, out->type, permutation);
    uint32_t last = w.rank - 1;
    do {
        const double *line = values + w.offset[1];
        int64_t stride = w.strides[0][last];
        interpret_store(type, (const union lane *)line, w.dims[last], (char *)out->data + w.offset[0] * (int64_t)size, stride);
        if (out->bound)
            for (int64_t k = 0; k < w.dims[last]; k++)
                out->bound[w.offset[0] + k * stride] =
                    bounds ? interpret_bound_rounded(type, line[k], bounds[w.offset[1] + k]) : 0;
    } while (walk_next(&w));
}

void interpret_narrow_integers(struct interpretation *t, uint32_t r, const int64_t *values, const double *bounds,
                               const uint32_t *permutation)
{
    const struct interpret_result *out = &t->results[r];
    dtype type = out->type->type;
    size_t size = dtype_size(type);
    struct walk w;

    walk_permuted(&w, out->type, permutation);
    uint32_t last = w.rank - 1;
    do {
        int64_t stride = w.strides[0][last];
        interpret_store(type, (const union lane *)(values + w.offset[1]), w.dims[last],
                        (char *)out->data + w.offset[0] * (int64_t)size, stride);
        if (out->bound)
            for (int64_t k = 0; k < w.dims[last]; k++)
                out->bound[w.offset[0] + k * stride] = bounds ? bounds[w.offset[1] + k] : 0;
    } while (walk_next(&w));
}
