/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports Unique, whose results have as many elements as there can be, of which the first ones count (counted.h).
 *
 * Elements are sorted, equal ones in their own order, so that the first of each kind is the one that comes first in the input.
 * Slices along an axis are all compared with each other, each pair by its first elements that differ.  As in numpy, NaN comes
 * last, and is one element, but slices with it are different.
 */
#include <math.h>

#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/compose.h"

enum { COMPARED_MOST = 1 << 24 }; /* elements of all pairs of slices */

static const WNNOperandDataType i32 = WNNOperandDataType_Int32;

/** Returns [0, ...] with updates at places, which are all different. */
static WNNOperand put(struct onnx_node *n, WNNOperand places, WNNOperand updates)
{
    return onnx_scatter_elements(n, onnx_sub(n, updates, updates), places, updates, 0);
}

static WNNOperand sum_rows(struct onnx_node *n, WNNOperand flags, uint32_t count)
{
    return onnx_reshape(n, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, onnx_cast(n, flags, i32), 1), 1, &count);
}

/** Returns which elements are NaN; of integers none is, NULL. */
static WNNOperand find_nan(struct onnx_node *n, WNNOperand x)
{
    return onnx_type_is_float(onnx_type_of(wnnOperandGetDataType(x))) ? wnnGraphBuilderIsNaN(n->builder, x, n->options) : NULL;
}

/** Sorts a vector, NaN after all numbers.  Returns where its elements were. */
static WNNOperand sort(struct onnx_node *n, WNNOperand x)
{
    const WNNOperand missing = find_nan(n, x);
    WNNOperand places, count;

    if (!missing) {
        onnx_sort(n, x, &places);
        return places;
    }
    onnx_sort(n, onnx_where(n, missing, onnx_scalar_like(n, x, INFINITY), x), &places);
    return onnx_gather(n, places, onnx_compact(n, onnx_cast(n, onnx_not(n, onnx_gather(n, missing, places, 0)), i32), &count),
                       0);
}

/** Says where the elements of a vector are in their order, and, in that order, which differ from the one before, as int32. */
static WNNOperand sort_elements(struct onnx_node *n, WNNOperand x, uint32_t count, bool slices, WNNOperand *places)
{
    const WNNOperand at = *places = sort(n, x), each = onnx_iota(n, i32, 1, 0, count);
    const WNNOperand before =
        onnx_gather(n, at, onnx_max(n, onnx_sub(n, each, onnx_scalar(n, i32, 1)), onnx_scalar(n, i32, 0)), 0);
    const WNNOperand missing = slices ? NULL : find_nan(n, x);
    WNNOperand differs =
        wnnGraphBuilderNotEqual(n->builder, onnx_gather(n, x, at, 0), onnx_gather(n, x, before, 0), n->options);

    if (missing)
        differs = onnx_and(n, differs, onnx_not(n, onnx_gather(n, missing, before, 0)));
    return onnx_cast(n, onnx_or(n, differs, onnx_equal(n, each, onnx_scalar(n, i32, 0))), i32);
}

/** Does the same for the rows of x, [count, size]. */
static WNNOperand sort_rows(struct onnx_node *n, WNNOperand x, uint32_t count, uint32_t size, WNNOperand *places)
{
    const struct onnx_dims all = {3, {count, count, size}}, one = {3, {count, count, 1}};
    const WNNOperand a = onnx_expand(n, onnx_reshape(n, x, 3, (uint32_t[]){count, 1, size}), all);
    const WNNOperand b = onnx_expand(n, onnx_reshape(n, x, 3, (uint32_t[]){1, count, size}), all);
    const WNNOperand missing = find_nan(n, a), beyond = find_nan(n, b);
    const WNNOperand earlier = onnx_greater(n, onnx_iota(n, i32, 2, 0, count), onnx_iota(n, i32, 2, 1, count));
    WNNOperand differs = wnnGraphBuilderNotEqual(n->builder, a, b, n->options), after = onnx_greater(n, a, b), at, equal, place;

    if (missing) {
        differs = onnx_and(n, differs, onnx_not(n, onnx_and(n, missing, beyond)));
        after = onnx_or(n, after, onnx_and(n, missing, onnx_not(n, beyond)));
    }
    differs = onnx_cast(n, differs, i32);
    at = onnx_arg_max(n, differs, 2);
    after = onnx_gather_elements(n, onnx_cast(n, after, i32), at, 2);
    equal = onnx_equal(n, onnx_reshape_to(n, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, differs, 2), one),
                       onnx_scalar(n, i32, 0));
    equal = onnx_and(n, onnx_reshape(n, equal, 2, all.at), earlier);
    place = onnx_or(n, onnx_reshape(n, onnx_cast(n, after, WNNOperandDataType_Uint8), 2, all.at), equal);
    *places = put(n, sum_rows(n, place, count), onnx_iota(n, i32, 1, 0, count));
    if (missing) /* equal so far are those that are NaN where it is */
        equal = onnx_and(n, equal,
                         onnx_equal(n, onnx_reshape(n, sum_rows(n, find_nan(n, x), count), 2, (uint32_t[]){count, 1}),
                                    onnx_scalar(n, i32, 0)));
    return onnx_gather(n, onnx_cast(n, onnx_equal(n, sum_rows(n, equal, count), onnx_scalar(n, i32, 0)), i32), *places, 0);
}

/** Makes output i a list, int64, of which so many elements count; all do if count is NULL. */
static bool output_list(struct onnx_node *n, size_t i, WNNOperand x, WNNOperand count, uint32_t axis)
{
    struct onnx_value *v;

    if (!onnx_output(n, i, x))
        return false;
    v = i < n->output_count ? n->outputs[i] : NULL;
    if (v && count) {
        v->count = count;
        v->counted = axis;
    }
    return true;
}

bool onnx_import_unique(struct onnx_node *n)
{
    const bool sorted = onnx_int(n, "sorted", 1) != 0, flat = !onnx_has(n, "axis");
    const struct onnx_value *v = n->inputs[0];
    const int64_t along = onnx_int(n, "axis", 0);
    WNNOperand x = onnx_operand(n, 0), places, first, at, next, number, kind, count, inverse, counts;
    uint32_t axis = 0, size, all = (uint32_t)onnx_elements(v), permutation[ONNX_RANK_MAX] = {0};
    const WNNOperandDataType i64 = WNNOperandDataType_Int64;

    if (n->refused || (!flat && !onnx_axis(n, along, v->rank, &axis)))
        return false;
    if (v->count)
        return onnx_refuse(n, "how many elements its input has along dimension %u is known at run time only", v->counted);
    n->is_static = false;
    x = flat ? onnx_reshape(n, x, 1, &all) : x;
    size = flat ? 1 : all / (uint32_t)v->dims[axis];
    all /= size;
    if (size > 1 && (double)all * all * size > COMPARED_MOST)
        return onnx_refuse(n, "%u slices of %u elements are too many to compare all of them", all, size);
    for (uint32_t d = 0, k = 0; d < v->rank; d++)
        if (d != axis)
            permutation[++k] = d;
    permutation[0] = axis;
    if (size == 1)
        first = sort_elements(n, onnx_reshape(n, x, 1, &all), all, !flat, &places);
    else
        first = sort_rows(n, onnx_reshape(n, onnx_transpose(n, x, v->rank, permutation), 2, (uint32_t[]){all, size}), all, size,
                          &places);
    at = onnx_compact(n, first, &count);
    kind = onnx_sub(n, onnx_add(n, onnx_sum_before(n, first), first), onnx_scalar(n, i32, 1));
    inverse = put(n, places, kind);
    next = onnx_add(n, onnx_iota(n, i32, 1, 0, all), onnx_scalar(n, i32, 1));
    next = onnx_where(n, onnx_lesser(n, next, count), onnx_gather(n, at, onnx_min(n, next, onnx_scalar(n, i32, all - 1)), 0),
                      onnx_scalar(n, i32, all));
    counts = onnx_sub(n, next, at);
    at = onnx_gather(n, places, at, 0);
    if (!sorted) { /* in the order of the elements that come first */
        first = put(n, places, first);
        number = onnx_gather(n, onnx_sum_before(n, first), at, 0);
        at = onnx_compact(n, first, &count);
        counts = onnx_gather(n, counts, onnx_gather(n, inverse, at, 0), 0);
        inverse = onnx_gather(n, number, inverse, 0);
    }
    return output_list(n, 1, onnx_cast(n, at, i64), count, 0) && output_list(n, 2, onnx_cast(n, inverse, i64), NULL, 0) &&
           output_list(n, 3, onnx_cast(n, counts, i64), count, 0) &&
           output_list(n, 0, onnx_gather(n, x, at, axis), count, axis);
}
