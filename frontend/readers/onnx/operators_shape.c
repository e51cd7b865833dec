/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators that give a tensor another shape or order, from Reshape to Tile, whose shapes and axes are constants
 * by the time they are met.  Constants stay on the host where no element moves, and results without elements, which WebNN does
 * not have, are constants always.
 */
#include <string.h>

#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"
#include "webnn/webnn_draft.h"
#include "ir/support/number.h"

static bool output_reshaped(struct onnx_node *n, struct onnx_value *v, size_t rank, const int64_t *dims)
{
    uint32_t shape[ONNX_RANK_MAX];

    if (v->refusal)
        return onnx_refuse(n, "its input %s", v->refusal);
    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "the result would have more than %d dimensions", ONNX_RANK_MAX);
    if (rank == v->rank && !memcmp(v->dims, dims, rank * sizeof *dims))
        return onnx_output_value(n, 0, v);
    for (size_t d = 0; d < rank; d++)
        shape[d] = (uint32_t)dims[d];
    if ((v->data || v->file || v->raw) && !onnx_any_open(rank, shape))
        return onnx_output_view(n, 0, v, rank, dims);
    return onnx_output_as(n, 0, onnx_reshape(n, onnx_value_operand(n, v), rank, shape), v->type);
}

/** Returns a list from an attribute, or, from a version on, from an input; NULL if it is absent, or after refusing. */
static const int64_t *list_of(struct onnx_node *n, const char *attribute, int64_t since, size_t input, size_t *count)
{
    *count = 0;
    if (n->version < since)
        return onnx_ints(n, attribute, count);
    return onnx_input(n, input) ? onnx_sizes(n, input, count) : NULL;
}

/* ---- another shape ---- */

bool onnx_import_reshape(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    bool allow_zero = onnx_int(n, "allowzero", 0) != 0;
    int64_t dims[ONNX_RANK_MAX], known = 1, elements = onnx_elements(v);
    size_t rank, open = SIZE_MAX;
    bool named = onnx_value_is_open(v);
    const int64_t *shape = list_of(n, "shape", 5, 1, &rank);

    if (!shape)
        return onnx_refuse(n, "the shape is missing");
    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "the result would have %zu dimensions, an operand has at most %d", rank, ONNX_RANK_MAX);
    for (size_t d = 0; d < rank; d++) {
        dims[d] = shape[d];
        if (dims[d] == 0 && !allow_zero) {
            if (d >= v->rank)
                return onnx_refuse(n, "dimension %zu of the shape is 0, but the input has %zu dimensions", d, v->rank);
            dims[d] = v->dims[d];
        }
        if (dims[d] == -1 && open == SIZE_MAX) {
            open = d;
            continue;
        }
        if (onnx_is_open(dims[d])) {
            if (!allow_zero && !onnx_size_at_least(n, dims[d], 1)) /* 0 would be the input's dimension */
                return n->refused ? false : onnx_refuse_open(n);
            named = true;
            continue;
        }
        if (dims[d] < 0 || dims[d] > INT32_MAX)
            return onnx_refuse(n, "dimension %zu of the shape is %lld", d, (long long)dims[d]);
        known = onnx_times(n, "the product of the shape", known, dims[d]);
    }
    if (n->refused)
        return false;
    if (named) { /* the builder compares elements, where the sizes are known */
        int64_t others[ONNX_RANK_MAX];
        size_t count = 0;

        for (size_t d = 0; d < rank; d++)
            if (d != open)
                others[count++] = dims[d];
        if (open < rank)
            dims[open] = onnx_size_quotient(n, v->rank, v->dims, count, others);
        if (n->refused || !output_reshaped(n, v, rank, dims))
            return false;
        if (open < rank && n->outputs[0]) /* a quotient that has a rest is refused, also where only the shape is read */
            onnx_take_size_from(n, dims[open], n->outputs[0]->operand, open);
        return !n->refused;
    }
    if (open < rank) {
        if (!known || elements % known)
            return onnx_refuse(n, "%lld elements do not fit a shape with one open dimension and %lld elements in the others",
                               (long long)elements, (long long)known);
        dims[open] = elements / known;
    } else if (known != elements) {
        return onnx_refuse(n, "%lld elements do not fit a shape of %lld", (long long)elements, (long long)known);
    }
    return output_reshaped(n, v, rank, dims);
}

bool onnx_import_flatten(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t axis = onnx_int(n, "axis", 1), dims[2] = {1, 1};

    if (axis < 0)
        axis += (int64_t)v->rank;
    if (axis < 0 || axis > (int64_t)v->rank)
        return onnx_refuse(n, "axis %lld does not divide %zu dimensions", (long long)axis, v->rank);
    for (size_t d = 0; d < v->rank; d++)
        dims[(int64_t)d >= axis] = onnx_compute_size(n, '*', dims[(int64_t)d >= axis], v->dims[d]);
    return output_reshaped(n, v, 2, dims);
}

bool onnx_import_squeeze(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t dims[ONNX_RANK_MAX] = {0};
    size_t count, rank = 0;
    const int64_t *list = list_of(n, "axes", 13, 1, &count);
    const uint32_t *axes = list ? onnx_axes(n, list, count, v->rank) : NULL;
    uint32_t chosen = 0;

    if (n->refused)
        return false;
    for (size_t i = 0; axes && i < count; i++) {
        if (v->dims[axes[i]] != 1 && !onnx_is_open(v->dims[axes[i]])) /* an open one is 1, or a computation is refused */
            return onnx_refuse(n, "dimension %u is %lld, not 1", axes[i], (long long)v->dims[axes[i]]);
        chosen |= 1u << axes[i];
    }
    for (size_t d = 0; d < v->rank; d++)
        if (axes ? !(chosen >> d & 1) : !onnx_size_is_equal(n, v->dims[d], 1))
            dims[rank++] = v->dims[d];
    return !n->refused && output_reshaped(n, v, rank, dims);
}

bool onnx_import_unsqueeze(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t dims[ONNX_RANK_MAX];
    size_t count, from = 0;
    const int64_t *list = list_of(n, "axes", 13, 1, &count);
    const uint32_t *axes;
    uint32_t added = 0;

    if (!list)
        return onnx_refuse(n, "the axes are missing");
    if (count > ONNX_RANK_MAX - v->rank)
        return onnx_refuse(n, "the result would have %zu dimensions, an operand has at most %d", v->rank + count,
                           ONNX_RANK_MAX);
    axes = onnx_axes(n, list, count, v->rank + count);
    for (size_t i = 0; axes && i < count; i++)
        added |= 1u << axes[i];
    for (size_t d = 0; axes && d < v->rank + count; d++)
        dims[d] = added >> d & 1 ? 1 : v->dims[from++];
    return axes && output_reshaped(n, v, v->rank + count, dims);
}

/* ---- another order ---- */

bool onnx_import_transpose(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t reversed[ONNX_RANK_MAX] = {0}, dims[ONNX_RANK_MAX] = {0};
    size_t count;
    const int64_t *perm = onnx_ints(n, "perm", &count);
    bool moves = false;

    for (size_t d = 0; d < v->rank; d++)
        reversed[d] = (int64_t)(v->rank - 1 - d);
    if (perm && count != v->rank)
        return onnx_refuse(n, "perm has %zu items, the input %zu dimensions", count, v->rank);
    const uint32_t *permutation = onnx_axes(n, perm ? perm : reversed, v->rank, v->rank);
    if (!permutation)
        return false;
    for (size_t d = 0; d < v->rank; d++) {
        dims[d] = v->dims[permutation[d]];
        moves = moves || permutation[d] != d;
    }
    if (!moves)
        return onnx_output_value(n, 0, v);
    if (!onnx_elements(v))
        return onnx_output_constant(n, 0, v->type, v->rank, dims) != NULL;
    if (!onnx_output_as(n, 0, onnx_transpose(n, onnx_operand(n, 0), v->rank, permutation), v->type))
        return false;
    if (v->wide && n->outputs[0])
        n->outputs[0]->wide = onnx_transpose(n, v->wide, v->rank, permutation);
    return !n->refused;
}

/* ---- joined and divided ---- */

/** Puts what counts of parts that lie one after the other along a counted axis first. */
static WNNOperand concat_counted(struct onnx_node *n, WNNOperand y, uint32_t axis)
{
    const WNNOperandDataType i32 = WNNOperandDataType_Int32;
    WNNOperand *flags = onnx_alloc(n, n->input_count, sizeof(*flags)), all, total;
    size_t parts = 0;
    bool any = false;

    for (size_t i = 0; flags && i < n->input_count; i++) {
        const struct onnx_value *v = n->inputs[i];
        const uint32_t size = (uint32_t)v->dims[axis];
        const bool counted = v->count && v->counted == axis;

        any = any || counted;
        if (onnx_value_is_open(v))
            return y; /* nothing is counted there */
        if (onnx_elements(v))
            flags[parts++] = counted ? onnx_cast(n, onnx_lesser(n, onnx_iota(n, i32, 1, 0, size), v->count), i32)
                                     : onnx_expand(n, onnx_scalar(n, i32, 1), (struct onnx_dims){1, {size}});
    }
    if (!any)
        return y;
    all = onnx_compact(n, onnx_concat(n, parts, flags, 0), &total);
    onnx_set_count(n, total, axis);
    return onnx_gather(n, y, all, axis);
}

bool onnx_import_concat(struct onnx_node *n)
{
    struct onnx_value *first = n->inputs[0];
    WNNOperand *parts = onnx_alloc(n, n->input_count, sizeof *parts), y;
    size_t count = 0, last = 0;
    uint32_t axis;

    if (!parts || !onnx_axis(n, onnx_int(n, "axis", 1), first->rank, &axis))
        return false;
    if (n->version >= 4 && !onnx_has(n, "axis"))
        return onnx_refuse(n, "the axis is missing");
    for (size_t i = 0; i < n->input_count; i++) {
        const struct onnx_value *v = n->inputs[i];

        if (!v)
            return onnx_refuse(n, "input %zu is missing", i);
        if (v->rank != first->rank || v->type != first->type)
            return onnx_refuse(n, "input %zu differs from input 0 in rank or type", i);
        if (!onnx_elements(v) && !v->refusal)
            continue;
        parts[count++] = onnx_operand(n, i);
        last = i;
    }
    if (count <= 1)
        return onnx_output_value(n, 0, n->inputs[count ? last : 0]);
    y = wnnGraphBuilderConcat(n->builder, count, parts, axis, n->options);
    return onnx_output_as(n, 0, concat_counted(n, y, axis), first->type);
}

/** Splits along an axis of an open size, into parts that are given or equal. */
static bool split_open(struct onnx_node *n, struct onnx_value *v, uint32_t axis, uint32_t *sizes)
{
    size_t count, parts = n->output_count;
    const int64_t *given = list_of(n, "split", 13, 1, &count);
    WNNOperand *results = onnx_alloc(n, parts, sizeof *results);

    if (n->version >= 18)
        onnx_ignore(n, "num_outputs");
    for (size_t i = 0; i < parts && !n->refused; i++) {
        if (given && count != parts)
            return onnx_refuse(n, "split has %zu parts, but %zu outputs are named", count, parts);
        if (!given && n->version >= 18 && /* the last part may be smaller */
            !onnx_size_is_equal(n, onnx_compute_size(n, '%', v->dims[axis], (int64_t)parts), 0))
            return onnx_refuse_open(n);
        sizes[i] = (uint32_t)(given ? given[i] : onnx_compute_size(n, '/', v->dims[axis], (int64_t)parts));
        if (given && (given[i] < 1 || given[i] >= 2 * ONNX_OPEN))
            return onnx_refuse(n, "part %zu is %lld", i, (long long)given[i]);
    }
    if (n->refused || wnnGraphBuilderSplitDynamic(n->builder, onnx_operand(n, 0), onnx_sizes_operand(n, parts, sizes),
                                                  &(WNNSplitOptions){.label = n->label, .axis = axis}, parts, results))
        return false;
    for (size_t i = 0; i < parts; i++)
        if (!onnx_output_as(n, i, results[i], v->type))
            return false;
    return true;
}

/** Finds the sizes of the parts: given, or as equal as can be. */
static bool split_sizes(struct onnx_node *n, int64_t size, uint32_t *sizes)
{
    size_t count, parts = n->output_count;
    const int64_t *given = list_of(n, "split", 13, 1, &count);
    int64_t wanted = n->version >= 18 ? onnx_int(n, "num_outputs", (int64_t)parts) : (int64_t)parts, sum = 0, each;

    if (n->refused)
        return false;
    if (!given) {
        if (wanted != (int64_t)parts)
            return onnx_refuse(n, "num_outputs is %lld, but %zu outputs are named", (long long)wanted, parts);
        if (n->version < 18 && size % wanted)
            return onnx_refuse(n, "%lld elements cannot be split into %zu equal parts", (long long)size, parts);
        each = ceil_div(size, wanted);
        for (size_t i = 0; i < parts; i++, sum += each)
            sizes[i] = (uint32_t)(sum + each <= size ? each : sum < size ? size - sum : 0);
        return true;
    }
    if (count != parts)
        return onnx_refuse(n, "split has %zu parts, but %zu outputs are named", count, parts);
    for (size_t i = 0; i < parts; i++) {
        if (given[i] < 0 || given[i] > size - sum)
            return onnx_refuse(n, "the parts do not add up to %lld", (long long)size);
        sum += given[i];
        sizes[i] = (uint32_t)given[i];
    }
    return sum == size || onnx_refuse(n, "the parts add up to %lld, not to %lld", (long long)sum, (long long)size);
}

bool onnx_import_split(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    uint32_t *sizes = onnx_alloc(n, n->output_count + 1, sizeof *sizes), axis, start = 0;
    int64_t dims[ONNX_RANK_MAX];
    WNNOperand *parts;
    bool plain = true;

    if (n->version == 1 && onnx_input(n, 1))
        return onnx_refuse(n, "sizes as an input are not supported in version 1");
    if (!sizes || !n->output_count || !onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis))
        return false;
    if (n->output_count > 1 && onnx_is_open(v->dims[axis]))
        return split_open(n, v, axis, sizes);
    if (!split_sizes(n, v->dims[axis], sizes))
        return false;
    if (n->output_count == 1)
        return onnx_output_value(n, 0, v);
    memcpy(dims, v->dims, sizeof dims);
    for (size_t i = 0; i < n->output_count; i++)
        plain = plain && sizes[i] && onnx_elements(v);
    if (plain) {
        parts = onnx_alloc(n, n->output_count, sizeof *parts);
        if (!parts || wnnGraphBuilderSplit(n->builder, onnx_operand(n, 0), n->output_count, sizes,
                                           &(WNNSplitOptions){.label = n->label, .axis = axis}, parts))
            return false;
        for (size_t i = 0; i < n->output_count; i++)
            if (!onnx_output_as(n, i, parts[i], v->type))
                return false;
        return true;
    }
    /* Parts without elements are constants. */
    for (size_t i = 0; i < n->output_count; start += sizes[i++]) {
        if (!onnx_wants(n, i))
            continue;
        dims[axis] = sizes[i];
        if (!sizes[i] || !onnx_elements(v)) {
            if (!onnx_output_constant(n, i, v->type, v->rank, dims))
                return false;
        } else if (!onnx_output_as(n, i, onnx_slice_axis(n, onnx_operand(n, 0), axis, start, sizes[i]), v->type)) {
            return false;
        }
    }
    return true;
}

/** Describes one axis of a slice: elements start, start + step, ..., count of them. */
struct cut {
    int64_t start, step, count;
};

static struct cut cut_axis(int64_t size, int64_t start, int64_t end, int64_t step)
{
    struct cut c = {0, step, 0};
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;

    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    c.start = start < 0 ? 0 : start > high ? high : start;
    end = end < low ? low : end > high ? high : end;
    if (step > 0 && end > c.start)
        c.count = (end - c.start - 1) / step + 1;
    else if (step < 0 && end < c.start)
        c.count = (c.start - end - 1) / -step + 1;
    return c;
}

/** Does so of sizes of which one is open. */
static struct cut cut_open(struct onnx_node *n, int64_t size, int64_t start, int64_t end, int64_t step)
{
    struct cut c = {0, step, 1};
    int64_t *bounds[] = {&start, &end};

    if (step < 0)
        onnx_refuse_open(n);
    for (int i = 0; i < 2 && !n->refused; i++) {
        const bool beyond = *bounds[i] >= 2 * ONNX_OPEN || (*bounds[i] >= INT32_MAX && !onnx_is_open(*bounds[i]));

        if (beyond) {
            *bounds[i] = size;
            continue;
        }
        if (*bounds[i] <= -INT32_MAX) {
            *bounds[i] = 0;
            continue;
        }
        if (!onnx_size_at_least(n, *bounds[i], 0))
            *bounds[i] = onnx_compute_size(n, '>', onnx_compute_size(n, '+', *bounds[i], size), 0);
        *bounds[i] = onnx_compute_size(n, '<', *bounds[i], size);
    }
    if (n->refused)
        return c;
    c.start = start;
    c.count = onnx_compute_size(n, '-', end, start);
    if (step > 1)
        c.count = onnx_compute_size(n, '/', onnx_compute_size(n, '+', c.count, step - 1), step);
    if (!onnx_is_open(c.count) && c.count < 0)
        c.count = 0;
    return c;
}

static bool slice_open(struct onnx_node *n, const struct cut *cuts)
{
    const struct onnx_value *v = n->inputs[0];
    uint32_t starts[ONNX_RANK_MAX], sizes[ONNX_RANK_MAX], strides[ONNX_RANK_MAX];
    WNNSliceOptions o = WNN_SLICE_OPTIONS_INIT;

    for (size_t d = 0; d < v->rank; d++) {
        const int64_t last = onnx_compute_size(n, '*', onnx_compute_size(n, '-', cuts[d].count, 1), cuts[d].step);

        if (cuts[d].step < 0 || !cuts[d].count) /* with numbers the file says which elements those are */
            return onnx_refuse_open(n);
        starts[d] = (uint32_t)cuts[d].start;
        sizes[d] = (uint32_t)onnx_compute_size(n, '+', last, 1);
        strides[d] = (uint32_t)cuts[d].step;
    }
    o.label = n->label;
    o.stridesCount = v->rank;
    o.strides = strides;
    return !n->refused &&
           onnx_output_as(n, 0,
                          wnnGraphBuilderSliceDynamic(n->builder, onnx_operand(n, 0), onnx_sizes_operand(n, v->rank, starts),
                                                      onnx_sizes_operand(n, v->rank, sizes), &o),
                          v->type);
}

static bool slice_cuts(struct onnx_node *n, const struct cut *cuts)
{
    struct onnx_value *v = n->inputs[0];
    uint32_t starts[ONNX_RANK_MAX], sizes[ONNX_RANK_MAX], strides[ONNX_RANK_MAX], reversed[ONNX_RANK_MAX];
    int64_t dims[ONNX_RANK_MAX];
    bool whole = true, empty = false, open = onnx_value_is_open(v);
    WNNSliceOptions o = WNN_SLICE_OPTIONS_INIT;
    size_t reversed_count = 0;

    for (size_t d = 0; d < v->rank; d++) {
        whole = whole && cuts[d].count == v->dims[d] && cuts[d].step == 1;
        open = open || onnx_is_open(cuts[d].start) || onnx_is_open(cuts[d].count);
    }
    if (open && !v->refusal)
        return whole ? onnx_output_value(n, 0, n->inputs[0]) : slice_open(n, cuts);

    for (size_t d = 0; d < v->rank; d++) {
        const struct cut *c = &cuts[d];
        int64_t step = c->step < 0 ? -c->step : c->step, last = c->start + (c->count - 1) * c->step;

        dims[d] = c->count;
        empty = empty || !c->count;
        if (c->step < 0 && c->count > 1)
            reversed[reversed_count++] = (uint32_t)d;
        starts[d] = (uint32_t)(c->step < 0 ? last : c->start);
        sizes[d] = (uint32_t)((c->count - 1) * step + 1);
        strides[d] = (uint32_t)(c->count > 1 ? step : 1);
    }
    if (v->refusal)
        return onnx_refuse(n, "its input %s", v->refusal);
    if (whole)
        return onnx_output_value(n, 0, v);
    if (empty)
        return onnx_output_constant(n, 0, v->type, v->rank, dims) != NULL;
    o.label = n->label;
    o.stridesCount = v->rank;
    o.strides = strides;
    WNNOperand y = wnnGraphBuilderSlice(n->builder, onnx_operand(n, 0), v->rank, starts, v->rank, sizes, &o);
    if (reversed_count)
        y = onnx_reverse(n, y, reversed_count, reversed);
    return onnx_output_as(n, 0, y, v->type);
}

bool onnx_import_slice(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    size_t count, end_count, axis_count, step_count = 0;
    const int64_t *starts = list_of(n, "starts", 10, 1, &count), *ends = list_of(n, "ends", 10, 2, &end_count);
    const int64_t *list = list_of(n, "axes", 10, 3, &axis_count), *steps = NULL;
    struct cut cuts[ONNX_RANK_MAX];
    const uint32_t *axes = NULL;

    if (n->version >= 10 && onnx_input(n, 4))
        steps = onnx_integers(n, 4, &step_count);
    if (!starts || !ends)
        return onnx_refuse(n, "starts or ends are missing");
    if (end_count != count || (list && axis_count != count) || (steps && step_count != count) || count > v->rank)
        return onnx_refuse(n, "starts, ends, axes and steps differ in length, or are more than %zu dimensions", v->rank);
    if (list) {
        axes = onnx_axes(n, list, count, v->rank);
        if (!axes)
            return false;
    }
    if (n->refused)
        return false;
    for (size_t d = 0; d < v->rank; d++)
        cuts[d] = (struct cut){0, 1, v->dims[d]};
    for (size_t i = 0; i < count; i++) {
        size_t d = axes ? axes[i] : i;
        int64_t step = steps ? steps[i] : 1;

        if (!step)
            return onnx_refuse(n, "a step is 0");
        /* Steps beyond the dimension take one element, as does one of its size. */
        step = step > INT32_MAX ? INT32_MAX : step < -INT32_MAX ? -INT32_MAX : step;
        if (v->count && d == v->counted && (starts[i] || step != 1 || ends[i] < v->dims[d])) {
            if (starts[i] < 0 || step != 1)
                return onnx_refuse(n,
                                   "it takes elements from %lld on, by steps of %lld, of a dimension whose size is known at "
                                   "run time only",
                                   (long long)starts[i], (long long)step);
            onnx_set_count(n, onnx_count_slice(n, v->count, starts[i], ends[i]), v->counted);
        }
        cuts[d] = onnx_is_open(v->dims[d]) || onnx_is_open(starts[i]) || onnx_is_open(ends[i])
                      ? cut_open(n, v->dims[d], starts[i], ends[i], step)
                      : cut_axis(v->dims[d], starts[i], ends[i], step);
    }
    return !n->refused && slice_cuts(n, cuts);
}

/* ---- repeated ---- */

bool onnx_import_expand(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    size_t count, rank;
    const int64_t *shape = onnx_sizes(n, 1, &count);
    int64_t dims[ONNX_RANK_MAX];
    struct onnx_dims to;
    bool same, empty = false;

    if (!shape)
        return false;
    rank = count > v->rank ? count : v->rank;
    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "the result would have %zu dimensions, an operand has at most %d", rank, ONNX_RANK_MAX);
    for (size_t d = 0; d < rank; d++) {
        int64_t a = d + v->rank < rank ? 1 : v->dims[d + v->rank - rank], b = d + count < rank ? 1 : shape[d + count - rank];

        const bool open = onnx_is_open(a) || onnx_is_open(b);

        if (!open && (b < 0 || b > INT32_MAX || (a != b && a != 1 && b != 1)))
            return onnx_refuse(n, "a dimension of %lld cannot become %lld", (long long)a, (long long)b);
        if (a == 1 || b == 1 || a == b)
            dims[d] = a == 1 ? b : a;
        else /* of sizes that differ one is 1; the builder looks at it when they are known */
            dims[d] = onnx_compute_size(n, '>', a, b);
        to.at[d] = (uint32_t)dims[d];
        empty = empty || !dims[d];
    }
    same = rank == v->rank && !memcmp(dims, v->dims, rank * sizeof *dims);
    to.rank = rank;
    if (same || n->refused)
        return onnx_output_value(n, 0, v);
    if (empty)
        return onnx_output_constant(n, 0, v->type, rank, dims) != NULL;
    return onnx_output_as(n, 0, onnx_expand(n, onnx_operand(n, 0), to), v->type);
}

bool onnx_import_tile(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t repeats[ONNX_RANK_MAX] = {0}, dims[ONNX_RANK_MAX];
    uint32_t repetitions[ONNX_RANK_MAX], axis;
    size_t count;
    const int64_t *list;
    bool once = true, empty = false, open = false;

    for (size_t d = 0; d < v->rank; d++)
        repeats[d] = 1;
    if (n->version < 6) {
        int64_t tiles = onnx_whole(n, "the number of tiles", onnx_number(n, 1, 1), 0, INT32_MAX);

        if (!onnx_axis(n, onnx_whole(n, "the axis", onnx_number(n, 2, 0), INT32_MIN, INT32_MAX), v->rank, &axis))
            return false;
        repeats[axis] = tiles;
    } else {
        list = onnx_sizes(n, 1, &count);
        if (list && count != v->rank)
            return onnx_refuse(n, "there are %zu repeats for %zu dimensions", count, v->rank);
        for (size_t d = 0; list && d < count; d++)
            repeats[d] = list[d];
    }
    for (size_t d = 0; !n->refused && d < v->rank; d++) {
        repetitions[d] = (uint32_t)repeats[d];
        open = open || onnx_is_open(repeats[d]);
        once = once && repeats[d] == 1;
        dims[d] = v->dims[d];
        if (onnx_is_open(repeats[d]) || (onnx_is_open(v->dims[d]) && repeats[d]))
            continue;
        if (repeats[d] < 0 || repeats[d] > INT32_MAX)
            return onnx_refuse(n, "dimension %zu cannot be repeated %lld times", d, (long long)repeats[d]);
        dims[d] = onnx_size(n, "a dimension of the result", onnx_times(n, "a dimension", v->dims[d], repeats[d]));
        empty = empty || !dims[d];
    }
    if (n->refused)
        return false;
    if (once)
        return onnx_output_value(n, 0, v);
    if (empty)
        return onnx_output_constant(n, 0, v->type, v->rank, dims) != NULL;
    if (open)
        return onnx_output_as(
            n, 0,
            wnnGraphBuilderTileDynamic(n->builder, onnx_operand(n, 0), onnx_sizes_operand(n, v->rank, repetitions), n->options),
            v->type);
    return onnx_output_as(n, 0, wnnGraphBuilderTile(n->builder, onnx_operand(n, 0), v->rank, repetitions, n->options), v->type);
}
