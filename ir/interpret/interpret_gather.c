/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes gathers and scatters.  An index is taken in its own type, clamped to [-size, size - 1], and a negative one counts
 * from the end, so that no data can lead outside a tensor.  Of several updates of one element the last in row-major order
 * stays.
 */
#include "ir/interpret/interpret.h"

/** Holds the indices, widened to integers in memory of the node. */
struct indices {
    const int64_t *values;
    const double *bounds; /* NULL: certain */
};

static bool indices_read(struct interpretation *t, struct indices *x)
{
    x->values = interpret_widen_integers(t, 1, NULL);
    x->bounds = t->inputs[1].bound;
    return x->values != NULL;
}

static int64_t index_clamp(int64_t index, int64_t size)
{
    if (index < -size)
        index = -size;
    if (index > size - 1)
        index = size - 1;
    return index < 0 ? index + size : index;
}

/** Copies a run of elements of the operand (or updates) in to result 0; `uncertain` says that the run may be another one. */
static void copy_run(struct interpretation *t, uint32_t slot, int64_t from, int64_t to, int64_t count, bool uncertain)
{
    const struct interpret_input *in = &t->inputs[slot];
    const struct interpret_result *out = &t->results[0];
    const size_t size = dtype_size(out->type->type);

    memcpy((char *)out->data + (size_t)to * size, (const char *)in->data + (size_t)from * size, (size_t)count * size);
    if (out->bound)
        for (int64_t k = 0; k < count; k++)
            out->bound[to + k] = uncertain ? INFINITY : in->bound ? in->bound[from + k] : 0;
}

static int64_t count_dims(const struct tensor_type *type, uint32_t first, uint32_t end)
{
    int64_t n = 1;

    for (uint32_t d = first; d < end; d++)
        n *= type->dims[d];
    return n;
}

static bool is_uncertain(const struct indices *x, int64_t k)
{
    return x->bounds && x->bounds[k] > 0;
}

bool interpret_gather(struct interpretation *t)
{
    const struct tensor_type *type = t->inputs[0].type;
    const uint32_t axis = NODE_OPTIONS(t->node, WNNGatherOptions)->axis;
    const int64_t outer = count_dims(type, 0, axis), size = type->dims[axis], run = count_dims(type, axis + 1, type->rank);
    const int64_t count = type_elements(t->inputs[1].type);
    struct indices x;

    if (!indices_read(t, &x))
        return false;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < count; k++)
            copy_run(t, 0, (o * size + index_clamp(x.values[k], size)) * run, (o * count + k) * run, run, is_uncertain(&x, k));
    return true;
}

/** Returns the element of a tensor at index's place, but with `at` in dimension axis. */
static int64_t element_at(const int64_t strides[RANK_MAX], uint32_t rank, const int64_t index[RANK_MAX], uint32_t axis,
                          int64_t at)
{
    int64_t offset = 0;

    for (uint32_t d = 0; d < rank; d++)
        offset += (d == axis ? at : index[d]) * strides[d];
    return offset;
}

static void index_next(const struct tensor_type *type, int64_t index[RANK_MAX])
{
    for (uint32_t d = type->rank; d-- > 0 && ++index[d] == type->dims[d];)
        index[d] = 0;
}

/** Returns the first element that coordinate k (of `size` numbers) names. */
static int64_t coordinate_element(const struct tensor_type *type, const struct indices *x, int64_t k, int64_t size,
                                  bool *uncertain)
{
    int64_t strides[RANK_MAX], offset = 0;

    type_strides(type, strides);
    for (int64_t d = 0; d < size; d++) {
        offset += index_clamp(x->values[k * size + d], type->dims[d]) * strides[d];
        *uncertain |= is_uncertain(x, k * size + d);
    }
    return offset;
}

/** Makes nothing of the result certain, because an update at an uncertain place may lie anywhere. */
static void all_uncertain(struct interpretation *t)
{
    const struct interpret_result *out = &t->results[0];

    for (int64_t k = 0, n = type_elements(out->type); out->bound && k < n; k++)
        out->bound[k] = INFINITY;
}

/** Copies runs between places that the indices name and consecutive ones: to those from the updates, if there are any. */
static bool copy_indexed(struct interpretation *t, const struct indices *x, bool nd, uint32_t axis)
{
    const struct tensor_type *type = t->inputs[0].type, *places = t->inputs[1].type;
    const bool scatters = t->node->input_count > 2;
    const int64_t size = nd ? places->dims[places->rank - 1] : 1, run = nd ? count_dims(type, (uint32_t)size, type->rank) : 1;
    int64_t strides[RANK_MAX], index[RANK_MAX] = {0};
    bool any = false;

    if (scatters)
        copy_run(t, 0, 0, 0, type_elements(type), false);
    type_strides(type, strides);
    for (int64_t k = 0, n = type_elements(places) / size; k < n; k++) {
        bool uncertain = !nd && is_uncertain(x, k);
        const int64_t at = nd ? coordinate_element(type, x, k, size, &uncertain)
                              : element_at(strides, type->rank, index, axis, index_clamp(x->values[k], type->dims[axis]));
        if (scatters)
            copy_run(t, 2, k * run, at, run, false);
        else
            copy_run(t, 0, at, k * run, run, uncertain);
        any |= uncertain;
        index_next(places, index);
    }
    if (scatters && any)
        all_uncertain(t);
    return true;
}

bool interpret_gather_elements(struct interpretation *t)
{
    struct indices x;

    return indices_read(t, &x) && copy_indexed(t, &x, false, NODE_OPTIONS(t->node, WNNGatherOptions)->axis);
}

bool interpret_scatter_elements(struct interpretation *t)
{
    struct indices x;

    return indices_read(t, &x) && copy_indexed(t, &x, false, NODE_OPTIONS(t->node, WNNScatterOptions)->axis);
}

bool interpret_coordinates(struct interpretation *t)
{
    struct indices x;

    return indices_read(t, &x) && copy_indexed(t, &x, true, 0);
}

/** Combines an element with an update, and rounds a float.  *bound is that of the element, and then the result's; `other`
 * is the update's. */
static union lane combine(WNNScatterReduction r, dtype type, union lane a, union lane b, double *bound, double other)
{
    const bool is_float = dtype_is_float(type), is_add = r == WNNScatterReduction_Add, is_mul = r == WNNScatterReduction_Mul;
    double distance = is_add   ? *bound + other
                      : is_mul ? fabs(a.f) * other + fabs(b.f) * *bound + *bound * other
                               : fmax(*bound, other);
    bool less = is_float                            ? a.f < b.f || (a.f == b.f && signbit(a.f) && !signbit(b.f))
                : type == WNNOperandDataType_Uint64 ? (uint64_t)a.i < (uint64_t)b.i
                                                    : a.i < b.i;

    if (!is_float) {
        if (*bound > 0 || other > 0)
            *bound = INFINITY;
        return is_add                                   ? (union lane){.i = (int64_t)((uint64_t)a.i + (uint64_t)b.i)}
               : is_mul                                 ? (union lane){.i = (int64_t)((uint64_t)a.i * (uint64_t)b.i)}
               : less == (r == WNNScatterReduction_Min) ? a
                                                        : b;
    }
    if (is_add || is_mul)
        a.f = is_add ? a.f + b.f : a.f * b.f;
    else if (!isnan(a.f) && (isnan(b.f) || less == (r == WNNScatterReduction_Max)))
        a.f = b.f;
    *bound = *bound > 0 || other > 0 ? interpret_bound_rounded(type, a.f, distance) : 0;
    a.f = interpret_round(type, a.f);
    return a;
}

bool interpret_scatter_reduce(struct interpretation *t)
{
    const WNNScatterReduceOptions *o = t->node->options;
    const struct tensor_type *type = t->inputs[0].type, *updates = t->inputs[2].type;
    const int64_t count = type_elements(type);
    union lane *values = (union lane *)interpret_widen(t, 0, NULL);
    const union lane *given = (const union lane *)interpret_widen(t, 2, NULL);
    double *bounds = interpret_memory(t, count, sizeof *bounds);
    int64_t strides[RANK_MAX], index[RANK_MAX] = {0};
    bool uncertain = false;
    struct walk w = {.rank = updates->rank, .views = 1};
    struct indices x;

    if (!values || !given || !bounds || !indices_read(t, &x))
        return false;
    for (int64_t k = 0; k < count; k++)
        bounds[k] = t->inputs[0].bound ? t->inputs[0].bound[k] : 0;
    type_strides(type, strides);
    for (uint32_t d = 0; d < updates->rank; d++)
        w.dims[d] = updates->dims[d];
    walk_broadcast(&w, 0, t->inputs[1].type);
    for (int64_t k = 0, n = type_elements(updates); k < n; k++) {
        int64_t at = element_at(w.strides[0], type->rank, index, UINT32_MAX, 0);
        int64_t to = element_at(strides, type->rank, index, o->axis, index_clamp(x.values[at], type->dims[o->axis]));

        values[to] = combine(o->reduction, type->type, values[to], given[k], &bounds[to],
                             t->inputs[2].bound ? t->inputs[2].bound[k] : 0);
        uncertain |= is_uncertain(&x, at);
        index_next(updates, index);
    }
    interpret_narrow(t, 0, values, bounds, NULL);
    if (uncertain)
        all_uncertain(t);
    return true;
}
