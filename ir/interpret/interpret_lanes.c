/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has what all families of the interpreter share: walks over strided views, widening operands to double or int64_t and
 * narrowing results to their type.
 */
#include "ir/interpret/interpret.h"

#include <assert.h>

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
        uint32_t own = d - (w->rank - type->rank); /* wraps for dimensions missing in type */
        bool here = d >= w->rank - type->rank && type->dims[own] != 1;
        w->strides[view][d] = here ? strides[own] : 0;
    }
}

/* ---- elements ---- */

#define LOAD(type, member, T, expression)                                                                                      \
    case type:                                                                                                                 \
        for (int64_t k = 0; k < count; k++) {                                                                                  \
            T x = ((const T *)data)[k * stride];                                                                               \
            out[k].member = (expression);                                                                                      \
        }                                                                                                                      \
        break;

void interpret_load(dtype type, const void *data, int64_t stride, int64_t count, union lane *out)
{
    switch ((int)type) {
        LOAD(DTYPE_BFLOAT16, f, uint16_t, bf16_to_f32(x))
        LOAD(DTYPE_FLOAT8E4M3, f, uint8_t, f8_to_f32(x, DTYPE_FLOAT8E4M3))
        LOAD(DTYPE_FLOAT8E5M2, f, uint8_t, f8_to_f32(x, DTYPE_FLOAT8E5M2))
        LOAD(DTYPE_FLOAT64, f, double, x)
        LOAD(DTYPE_UINT4, i, uint8_t, x) /* packed ones are unpacked to bytes */
        LOAD(DTYPE_UINT2, i, uint8_t, x)
        LOAD(DTYPE_UINT1, i, uint8_t, x)
        LOAD(WNNOperandDataType_Float32, f, float, x)
        LOAD(WNNOperandDataType_Float16, f, uint16_t, f16_to_f32(x))
        LOAD(WNNOperandDataType_Int32, i, int32_t, x)
        LOAD(WNNOperandDataType_Uint32, i, uint32_t, x)
        LOAD(WNNOperandDataType_Int64, i, int64_t, x)
        LOAD(WNNOperandDataType_Uint64, i, uint64_t, (int64_t)x)
        LOAD(WNNOperandDataType_Int8, i, int8_t, x)
        LOAD(DTYPE_INT16, i, int16_t, x)
        LOAD(WNNOperandDataType_Uint8, i, uint8_t, x)
    default:
        assert(!"type");
    }
}

#define STORE(type, T, expression)                                                                                             \
    case type:                                                                                                                 \
        for (int64_t k = 0; k < count; k++)                                                                                    \
            ((T *)data)[k * stride] = (T)(expression);                                                                         \
        break;

void interpret_store(dtype type, const union lane *in, int64_t count, void *data, int64_t stride)
{
    switch ((int)type) {
        STORE(DTYPE_BFLOAT16, uint16_t, f64_to_bf16(in[k].f))
        STORE(DTYPE_FLOAT8E4M3, uint8_t, f64_to_f8(in[k].f, type))
        STORE(DTYPE_FLOAT8E5M2, uint8_t, f64_to_f8(in[k].f, type))
        STORE(DTYPE_FLOAT64, double, in[k].f)
        STORE(WNNOperandDataType_Float32, float, in[k].f)
        STORE(WNNOperandDataType_Float16, uint16_t, f64_to_f16(in[k].f))
        STORE(WNNOperandDataType_Int32, uint32_t, (uint64_t)in[k].i)
        STORE(WNNOperandDataType_Uint32, uint32_t, (uint64_t)in[k].i)
        STORE(WNNOperandDataType_Int64, uint64_t, in[k].i)
        STORE(WNNOperandDataType_Uint64, uint64_t, in[k].i)
        STORE(WNNOperandDataType_Int8, uint8_t, (uint64_t)in[k].i)
        STORE(DTYPE_INT16, uint16_t, (uint64_t)in[k].i)
        STORE(WNNOperandDataType_Uint8, uint8_t, (uint64_t)in[k].i)
    default:
        assert(!"type");
    }
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

void interpret_narrow(struct interpretation *t, uint32_t r, const void *values, const double *bounds,
                      const uint32_t *permutation)
{
    const struct interpret_result *out = &t->results[r];
    const dtype type = out->type->type;
    struct walk w;

    walk_permuted(&w, out->type, permutation);
    const uint32_t last = w.rank - 1;
    do {
        const union lane *line = (const union lane *)values + w.offset[1];
        const int64_t stride = w.strides[0][last];
        interpret_store(type, line, w.dims[last], (char *)out->data + w.offset[0] * (int64_t)dtype_size(type), stride);
        for (int64_t k = 0; out->bound && k < w.dims[last]; k++) {
            const double bound = bounds ? bounds[w.offset[1] + k] : 0;
            out->bound[w.offset[0] + k * stride] =
                bounds && dtype_is_float(type) ? interpret_bound_rounded(type, line[k].f, bound) : bound;
        }
    } while (walk_next(&w));
}
