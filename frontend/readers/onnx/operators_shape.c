/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators that give a tensor another shape or order, from Reshape to Tile, whose shapes and axes are constants
 * by the time they are met.  Constants stay on the host where no element moves, and results without elements, which WebNN does
 * not have, are constants always.
 */
#include <string.h>

#include "frontend/readers/onnx/operators.h"

/** Makes the output a value in another shape with the same elements. */
static bool output_reshaped(struct onnx_node *n, struct onnx_value *v, size_t rank, const int64_t *dims)
{
    uint32_t shape[ONNX_RANK_MAX];

    if (v->refusal)
        return onnx_refuse(n, "its input %s", v->refusal);
    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "the result would have more than %d dimensions", ONNX_RANK_MAX);
    if (rank == v->rank && !memcmp(v->dims, dims, rank * sizeof *dims))
        return onnx_output_value(n, 0, v);
    if (v->data || v->file)
        return onnx_output_view(n, 0, v, rank, dims);
    for (size_t d = 0; d < rank; d++)
        shape[d] = (uint32_t)dims[d];
    return onnx_output_as(n, 0, onnx_reshape(n, onnx_value_operand(n, v), rank, shape), v->type);
}

/** Returns a list from an attribute, or, from a version on, from an input; NULL if it is absent, or after refusing. */
static const int64_t *list_of(struct onnx_node *n, const char *attribute, int64_t since, size_t input, size_t *count)
{
    *count = 0;
    if (n->version < since)
        return onnx_ints(n, attribute, count);
    return onnx_input(n, input) ? onnx_integers(n, input, count) : NULL;
}

/* ---- another shape ---- */

static bool import_reshape(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    bool allow_zero = onnx_int(n, "allowzero", 0) != 0;
    int64_t dims[ONNX_RANK_MAX], known = 1, elements = onnx_elements(v);
    size_t rank, open = SIZE_MAX;
    const int64_t *shape = list_of(n, "shape", 5, 1, &rank);

    if (n->version < 5)
        onnx_ignore(n, "consumed_inputs");
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
        if (dims[d] < 0 || dims[d] > INT32_MAX)
            return onnx_refuse(n, "dimension %zu of the shape is %lld", d, (long long)dims[d]);
        known = onnx_times(n, "the product of the shape", known, dims[d]);
    }
    if (n->refused)
        return false;
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

static bool import_flatten(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t axis = onnx_int(n, "axis", 1), dims[2] = {1, 1};

    if (axis < 0)
        axis += (int64_t)v->rank;
    if (axis < 0 || axis > (int64_t)v->rank)
        return onnx_refuse(n, "axis %lld does not divide %zu dimensions", (long long)axis, v->rank);
    for (size_t d = 0; d < v->rank; d++)
        dims[(int64_t)d >= axis] *= v->dims[d];
    return output_reshaped(n, v, 2, dims);
}

static bool import_squeeze(struct onnx_node *n)
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
        if (v->dims[axes[i]] != 1)
            return onnx_refuse(n, "dimension %u is %lld, not 1", axes[i], (long long)v->dims[axes[i]]);
        chosen |= 1u << axes[i];
    }
    for (size_t d = 0; d < v->rank; d++)
        if (axes ? !(chosen >> d & 1) : v->dims[d] != 1)
            dims[rank++] = v->dims[d];
    return output_reshaped(n, v, rank, dims);
}

static bool import_unsqueeze(struct onnx_node *n)
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

static bool import_transpose(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t reversed[ONNX_RANK_MAX] = {0}, dims[ONNX_RANK_MAX] = {0};
    size_t count;
    const int64_t *perm = onnx_ints(n, "perm", &count);
    const uint32_t *permutation;
    bool moves = false;

    for (size_t d = 0; d < v->rank; d++)
        reversed[d] = (int64_t)(v->rank - 1 - d);
    if (perm && count != v->rank)
        return onnx_refuse(n, "perm has %zu items, the input %zu dimensions", count, v->rank);
    permutation = onnx_axes(n, perm ? perm : reversed, v->rank, v->rank);
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

/** Moves blocks of channels to blocks of pixels and back, by reshape, transpose, reshape. */
static bool shuffle(struct onnx_node *n, const uint32_t *split, const uint32_t *permutation, const uint32_t *joined)
{
    WNNOperand y = wnnGraphBuilderReshape(n->builder, onnx_operand(n, 0), 6, split, n->options);

    y = onnx_transpose(n, y, 6, permutation);
    return onnx_output_as(n, 0, wnnGraphBuilderReshape(n->builder, y, 4, joined, n->options), n->inputs[0]->type);
}

/** Finds the sizes of the input of DepthToSpace and SpaceToDepth. */
static bool block_sizes(struct onnx_node *n, uint32_t dims[4], uint32_t *block)
{
    const struct onnx_value *v = n->inputs[0];
    int64_t size = onnx_int(n, "blocksize", 0);

    if (v->rank != 4)
        return onnx_refuse(n, "the input has %zu dimensions, it must have 4", v->rank);
    if (size < 1 || size > INT16_MAX)
        return onnx_refuse(n, "blocksize is %lld", (long long)size);
    *block = (uint32_t)size;
    for (size_t d = 0; d < 4; d++)
        dims[d] = (uint32_t)v->dims[d];
    return true;
}

static bool import_depth_to_space(struct onnx_node *n)
{
    const char *mode = onnx_string(n, "mode", "DCR");
    bool crd = !strcmp(mode, "CRD");
    uint32_t d[4] = {1, 1, 1, 1}, b = 1;

    if (!crd && strcmp(mode, "DCR") != 0)
        return onnx_refuse(n, "mode is neither DCR nor CRD");
    if (!block_sizes(n, d, &b))
        return false;
    if (d[1] % (b * b))
        return onnx_refuse(n, "%u channels cannot be divided into blocks of %u x %u", d[1], b, b);
    return crd ? shuffle(n, (uint32_t[]){d[0], d[1] / (b * b), b, b, d[2], d[3]}, (uint32_t[]){0, 1, 4, 2, 5, 3},
                         (uint32_t[]){d[0], d[1] / (b * b), d[2] * b, d[3] * b})
               : shuffle(n, (uint32_t[]){d[0], b, b, d[1] / (b * b), d[2], d[3]}, (uint32_t[]){0, 3, 4, 1, 5, 2},
                         (uint32_t[]){d[0], d[1] / (b * b), d[2] * b, d[3] * b});
}

static bool import_space_to_depth(struct onnx_node *n)
{
    uint32_t d[4] = {1, 1, 1, 1}, b = 1;

    if (!block_sizes(n, d, &b))
        return false;
    if (d[2] % b || d[3] % b)
        return onnx_refuse(n, "%u x %u pixels cannot be divided into blocks of %u x %u", d[2], d[3], b, b);
    return shuffle(n, (uint32_t[]){d[0], d[1], d[2] / b, b, d[3] / b, b}, (uint32_t[]){0, 3, 5, 1, 2, 4},
                   (uint32_t[]){d[0], d[1] * b * b, d[2] / b, d[3] / b});
}

/** Step t of a sequence of length l is step l - 1 - t, the steps behind it stay: a gather over both axes at once. */
static bool import_reverse_sequence(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0], *lengths = n->inputs[1];
    int64_t time_axis = onnx_int(n, "time_axis", 0), batch_axis = onnx_int(n, "batch_axis", 1);
    uint32_t dims[ONNX_RANK_MAX], flat[ONNX_RANK_MAX], steps, batches;
    WNNOperand x = onnx_operand(n, 0), length = onnx_operand(n, 1), t, b, at, y;
    int32_t *numbers;

    if (v->rank < 2 || !((time_axis == 0 && batch_axis == 1) || (time_axis == 1 && batch_axis == 0)))
        return onnx_refuse(n, "time_axis is %lld and batch_axis %lld of %zu dimensions; they must be 0 and 1, in either order",
                           (long long)time_axis, (long long)batch_axis, v->rank);
    for (size_t d = 0; d < v->rank; d++)
        dims[d] = (uint32_t)v->dims[d];
    steps = dims[time_axis];
    batches = dims[batch_axis];
    if (lengths->rank != 1 || lengths->dims[0] != batches)
        return onnx_refuse(n, "sequence_lens must be a list of %u", batches);
    numbers = onnx_alloc(n, (size_t)steps > batches ? steps : batches, sizeof *numbers);
    if (!numbers)
        return false;
    for (uint32_t i = 0; i < steps || i < batches; i++)
        numbers[i] = (int32_t)i;
    /* t lies along the time axis and b along the batch axis; length has the shape of b. */
    t = onnx_constant_operand(n, WNNOperandDataType_Int32, 2, time_axis ? (uint32_t[]){1, steps} : (uint32_t[]){steps, 1},
                              numbers);
    b = onnx_constant_operand(n, WNNOperandDataType_Int32, 2, time_axis ? (uint32_t[]){batches, 1} : (uint32_t[]){1, batches},
                              numbers);
    length = onnx_reshape(n, onnx_cast(n, length, WNNOperandDataType_Int32), 2,
                          time_axis ? (uint32_t[]){batches, 1} : (uint32_t[]){1, batches});
    y = wnnGraphBuilderSub(n->builder, length, onnx_scalar_like(n, length, 1), n->options);
    y = wnnGraphBuilderSub(n->builder, y, t, n->options);
    at = wnnGraphBuilderWhere(n->builder, wnnGraphBuilderLesser(n->builder, t, length, n->options), y, t, n->options);
    /* This makes one index into both axes joined. */
    if (time_axis)
        at = wnnGraphBuilderAdd(n->builder, at, wnnGraphBuilderMul(n->builder, b, onnx_scalar_like(n, b, steps), n->options),
                                n->options);
    else
        at = wnnGraphBuilderAdd(n->builder, b, wnnGraphBuilderMul(n->builder, at, onnx_scalar_like(n, at, batches), n->options),
                                n->options);
    flat[0] = steps * batches;
    for (size_t d = 2; d < v->rank; d++)
        flat[d - 1] = dims[d];
    x = onnx_reshape(n, x, v->rank - 1, flat);
    y = wnnGraphBuilderGather(n->builder, x, at, &(WNNGatherOptions){.label = n->label, .axis = 0});
    return onnx_output_as(n, 0, y, v->type);
}

/* ---- joined and divided ---- */

static bool import_concat(struct onnx_node *n)
{
    struct onnx_value *first = n->inputs[0];
    WNNOperand *parts = onnx_alloc(n, n->input_count, sizeof *parts);
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
    return onnx_output_as(n, 0, wnnGraphBuilderConcat(n->builder, count, parts, axis, n->options), first->type);
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
        each = (size + wanted - 1) / wanted;
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

static bool import_split(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    uint32_t *sizes = onnx_alloc(n, n->output_count + 1, sizeof *sizes), axis, start = 0;
    int64_t dims[ONNX_RANK_MAX];
    WNNOperand *parts;
    bool plain = true;

    if (n->version == 1 && onnx_input(n, 1))
        return onnx_refuse(n, "sizes as an input are not supported in version 1");
    if (!sizes || !n->output_count || !onnx_axis(n, onnx_int(n, "axis", 0), v->rank, &axis) ||
        !split_sizes(n, v->dims[axis], sizes))
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

static bool slice_cuts(struct onnx_node *n, const struct cut *cuts)
{
    struct onnx_value *v = n->inputs[0];
    uint32_t starts[ONNX_RANK_MAX], sizes[ONNX_RANK_MAX], strides[ONNX_RANK_MAX], reversed[ONNX_RANK_MAX];
    int64_t dims[ONNX_RANK_MAX];
    bool whole = true, empty = false;
    WNNSliceOptions o = WNN_SLICE_OPTIONS_INIT;
    size_t turns = 0;
    WNNOperand y;

    for (size_t d = 0; d < v->rank; d++) {
        const struct cut *c = &cuts[d];
        int64_t step = c->step < 0 ? -c->step : c->step, last = c->start + (c->count - 1) * c->step;

        dims[d] = c->count;
        empty = empty || !c->count;
        whole = whole && c->count == v->dims[d] && c->step == 1;
        if (c->step < 0 && c->count > 1)
            reversed[turns++] = (uint32_t)d;
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
    y = wnnGraphBuilderSlice(n->builder, onnx_operand(n, 0), v->rank, starts, v->rank, sizes, &o);
    if (turns)
        y = wnnGraphBuilderReverse(n->builder, y,
                                   &(WNNReverseOptions){.label = n->label, .axesCount = turns, .axes = reversed});
    return onnx_output_as(n, 0, y, v->type);
}

static bool import_slice(struct onnx_node *n)
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
        cuts[d] = cut_axis(v->dims[d], starts[i], ends[i], step);
    }
    return slice_cuts(n, cuts);
}

/* ---- repeated ---- */

static bool import_expand(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    size_t count, rank;
    const int64_t *shape = onnx_integers(n, 1, &count);
    int64_t dims[ONNX_RANK_MAX];
    uint32_t sizes[ONNX_RANK_MAX];
    bool same, empty = false;

    if (!shape)
        return false;
    rank = count > v->rank ? count : v->rank;
    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "the result would have %zu dimensions, an operand has at most %d", rank, ONNX_RANK_MAX);
    for (size_t d = 0; d < rank; d++) {
        int64_t a = d + v->rank < rank ? 1 : v->dims[d + v->rank - rank], b = d + count < rank ? 1 : shape[d + count - rank];

        if (b < 0 || b > INT32_MAX || (a != b && a != 1 && b != 1))
            return onnx_refuse(n, "a dimension of %lld cannot become %lld", (long long)a, (long long)b);
        dims[d] = a == 1 ? b : a;
        sizes[d] = (uint32_t)dims[d];
        empty = empty || !dims[d];
    }
    same = rank == v->rank && !memcmp(dims, v->dims, rank * sizeof *dims);
    if (same)
        return onnx_output_value(n, 0, v);
    if (empty)
        return onnx_output_constant(n, 0, v->type, rank, dims) != NULL;
    return onnx_output_as(n, 0, wnnGraphBuilderExpand(n->builder, onnx_operand(n, 0), rank, sizes, n->options), v->type);
}

static bool import_tile(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0];
    int64_t repeats[ONNX_RANK_MAX] = {0}, dims[ONNX_RANK_MAX];
    uint32_t repetitions[ONNX_RANK_MAX], axis;
    size_t count;
    const int64_t *list;
    bool once = true, empty = false;

    for (size_t d = 0; d < v->rank; d++)
        repeats[d] = 1;
    if (n->version < 6) {
        int64_t tiles = onnx_whole(n, "the number of tiles", onnx_number(n, 1, 1), 0, INT32_MAX);

        if (!onnx_axis(n, onnx_whole(n, "the axis", onnx_number(n, 2, 0), INT32_MIN, INT32_MAX), v->rank, &axis))
            return false;
        repeats[axis] = tiles;
    } else {
        list = onnx_integers(n, 1, &count);
        if (list && count != v->rank)
            return onnx_refuse(n, "there are %zu repeats for %zu dimensions", count, v->rank);
        for (size_t d = 0; list && d < count; d++)
            repeats[d] = list[d];
    }
    for (size_t d = 0; !n->refused && d < v->rank; d++) {
        if (repeats[d] < 0 || repeats[d] > INT32_MAX)
            return onnx_refuse(n, "dimension %zu cannot be repeated %lld times", d, (long long)repeats[d]);
        repetitions[d] = (uint32_t)repeats[d];
        dims[d] = onnx_size(n, "a dimension of the result", onnx_times(n, "a dimension", v->dims[d], repeats[d]));
        empty = empty || !dims[d];
        once = once && repeats[d] == 1;
    }
    if (n->refused)
        return false;
    if (once)
        return onnx_output_value(n, 0, v);
    if (empty)
        return onnx_output_constant(n, 0, v->type, v->rank, dims) != NULL;
    return onnx_output_as(n, 0, wnnGraphBuilderTile(n->builder, onnx_operand(n, 0), v->rank, repetitions, n->options), v->type);
}

static bool import_trilu(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    WNNTriangularOptions o = WNN_TRIANGULAR_OPTIONS_INIT;
    double k = onnx_number(n, 1, 0);

    o.label = n->label;
    o.upper = onnx_int(n, "upper", 1) != 0;
    k = k > INT32_MAX ? INT32_MAX : k < -INT32_MAX ? -INT32_MAX : k;
    o.diagonal = (int32_t)onnx_whole(n, "k", k, -INT32_MAX, INT32_MAX);
    if (!onnx_elements(v))
        return onnx_output_value(n, 0, n->inputs[0]);
    return onnx_output_as(n, 0, wnnGraphBuilderTriangular(n->builder, onnx_operand(n, 0), &o), v->type);
}

static const struct onnx_operator rows[] = {
    {"Concat", 1, 0, 1, UINT8_MAX, 1, 0, import_concat, "", NULL},
    {"DepthToSpace", 1, 0, 1, 1, 1, 0, import_depth_to_space, "reshape, transpose, reshape", NULL},
    {"Expand", 8, 0, 2, 2, 1, 0, import_expand, "the shape must be constant", NULL},
    {"Flatten", 1, 0, 1, 1, 1, 0, import_flatten, "a reshape", NULL},
    {"Reshape", 1, 0, 1, 2, 1, 0, import_reshape, "the shape must be constant", NULL},
    {"ReverseSequence", 10, 0, 2, 2, 1, 0, import_reverse_sequence, "a gather at computed indices", NULL},
    {"Slice", 1, 0, 1, 5, 1, 0, import_slice, "bounds must be constant; negative steps: slice and reverse", NULL},
    {"SpaceToDepth", 1, 0, 1, 1, 1, 0, import_space_to_depth, "reshape, transpose, reshape", NULL},
    {"Split", 1, 0, 1, 2, UINT8_MAX, 0, import_split, "sizes must be constant", NULL},
    {"Squeeze", 1, 0, 1, 2, 1, 0, import_squeeze, "a reshape; axes must be constant", NULL},
    {"Tile", 1, 0, 2, 3, 1, 0, import_tile, "repeats must be constant", NULL},
    {"Transpose", 1, 0, 1, 1, 1, 0, import_transpose, "", NULL},
    {"Trilu", 14, 0, 1, 2, 1, 0, import_trilu, "k must be constant", NULL},
    {"Unsqueeze", 1, 0, 1, 2, 1, 0, import_unsqueeze, "a reshape; axes must be constant", NULL},
};

ONNX_TABLE(onnx_shape_operators, rows);
