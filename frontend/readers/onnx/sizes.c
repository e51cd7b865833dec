/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Follows numbers that are made of sizes known at run time only.
 *
 * Shape of a counted value (counted.h) is such a tensor: its elements are known as upper and lower bounds (data, low), which
 * are constants, and exactly only at run time (exact).  What moves, adds, multiplies or compares such numbers is imported three
 * times, for each of those.  An operator that takes them as sizes gets the upper bounds, and its result is counted; every other
 * one gets the exact numbers.
 */
#include <string.h>

#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/internal.h"

enum { EXACT, LOW, HIGH, WAYS };

static bool is(const struct onnx_node *n, const char *name)
{
    return !n->row->domain && !strcmp(n->row->name, name);
}

/** Makes the result of Shape or Size: numbers whose bounds are given, of the type int64. */
bool onnx_output_sizes(struct onnx_node *n, size_t rank, size_t count, const int64_t *high, const int64_t *low,
                       WNNOperand exact)
{
    const int64_t dims[] = {(int64_t)count};
    int64_t *data = onnx_output_constant(n, 0, ONNX_INT64, rank, dims), *copy = onnx_alloc(n, count + 1, sizeof(*copy));

    if (!data || !copy)
        return false;
    if (!n->outputs[0])
        return true;
    memcpy(data, high, count * sizeof(*data));
    memcpy(copy, low, count * sizeof(*copy));
    n->outputs[0]->low = copy;
    n->outputs[0]->exact = exact;
    n->outputs[0]->line = n->inputs[0]->count;
    n->outputs[0]->falls = false;
    return !wnnOperandIsError(exact);
}

/** Says of the numbers that a node makes whether they grow or fall evenly with a count, as those that it makes them of. */
static void follow_line(const struct onnx_node *n, struct onnx_value *const *inputs, struct onnx_value *made)
{
    static const char moves[] = " Add Sub Concat Cast Identity Reshape Slice Squeeze Unsqueeze Gather Transpose ";
    const char *at = strstr(moves, n->row->name);
    size_t exact = 0;

    made->line = NULL;
    for (size_t i = 0; i < n->input_count; i++)
        if (inputs[i] && inputs[i]->exact) {
            made->line = exact++ ? NULL : inputs[i]->line;
            made->falls = inputs[i]->falls ^ (is(n, "Sub") && i);
        }
    if (!at || at[-1] != ' ' || at[strlen(n->row->name)] != ' ')
        made->line = NULL;
}

/** Returns an input as one of the ways has it. */
static struct onnx_value *input_of(struct onnx_node *n, struct onnx_value *v, int way)
{
    struct onnx_value *copy = v && v->exact ? onnx_alloc(n, 1, sizeof(*copy)) : v;

    if (!copy || copy == v)
        return copy;
    *copy = *v;
    copy->low = NULL;
    copy->exact = NULL;
    copy->data = way == EXACT ? NULL : way == LOW ? v->low : v->data;
    copy->operand = way == EXACT ? v->exact : NULL;
    copy->is_static = way != EXACT;
    return copy;
}

/** Imports the node as it is. */
static bool import_once(struct onnx_node *n)
{
    bool handled;

    return onnx_count_inputs(n) && onnx_import_empty(n, &handled) && (handled || n->row->import(n)) && onnx_count_outputs(n);
}

/** Imports a node that makes numbers of numbers, in all ways. */
static bool import_ways(struct onnx_node *n, struct onnx_value **inputs)
{
    struct onnx_value *results[WAYS], *made = onnx_alloc(n, 1, sizeof(*made));
    const bool falls = is(n, "Sub"); /* with its second input */

    for (int way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < n->input_count; i++)
            n->inputs[i] = input_of(n, inputs[i], falls && i && way != EXACT ? LOW + HIGH - way : way);
        n->is_static = way != EXACT;
        n->outputs[0] = NULL;
        for (size_t i = 0; way == LOW && is(n, "Mul") && i < n->input_count; i++)
            for (int64_t k = 0; k < onnx_elements(n->inputs[i]); k++)
                if (!onnx_value_is_known(n, n->inputs[i]) || onnx_element(n->inputs[i], (size_t)k) < 0)
                    return onnx_refuse(n, "it multiplies a size that is known at run time only by what may be negative");
        if (!import_once(n) || !n->outputs[0])
            return false;
        results[way] = n->outputs[0];
        if (way != EXACT && !onnx_value_compute(n->reader, results[way]))
            return onnx_refuse(n, "its bounds cannot be computed");
    }
    if (!made)
        return false;
    for (int64_t i = 0; i < onnx_elements(results[LOW]); i++)
        if (onnx_element(results[LOW], (size_t)i) > onnx_element(results[HIGH], (size_t)i))
            return onnx_refuse(n, "it makes less of a size that is known at run time only where that is larger");
    *made = *results[HIGH];
    made->low = results[LOW]->data;
    made->exact = onnx_value_operand(n, results[EXACT]);
    made->operand = NULL;
    follow_line(n, inputs, made);
    n->outputs[0] = made;
    return !n->refused;
}

/** Finds the one element of sizes whose bounds differ.  Returns false after refusing several; *at is -1 without any. */
static bool find_open(struct onnx_node *n, const struct onnx_value *sizes, int64_t *at)
{
    struct onnx_value low = *sizes;

    low.data = sizes->low;
    *at = -1;
    for (int64_t i = 0; i < onnx_elements(sizes); i++) {
        if (onnx_element(sizes, (size_t)i) == onnx_element(&low, (size_t)i))
            continue;
        if (*at >= 0)
            return onnx_refuse(n, "several sizes of its result would be known at run time only");
        *at = i;
    }
    return true;
}

/** Returns element i of a constant list, or what stands for it if there is no such input or element. */
static int64_t item_of(struct onnx_node *n, size_t input, int64_t i, int64_t fallback)
{
    size_t count = 0;
    const int64_t *list = onnx_input(n, input) ? onnx_integers(n, input, &count) : NULL;

    return list && (size_t)i < count ? list[i] : fallback;
}

/** Says how much of a Slice's result counts whose end number `at` is a bound. */
static bool count_slice(struct onnx_node *n, const struct onnx_value *ends, int64_t at)
{
    const int64_t start = item_of(n, 1, at, 0);
    const struct onnx_value *v = n->inputs[0];
    struct onnx_value low = *ends;
    WNNOperand exact, limit = n->count;
    uint32_t axis;

    low.data = ends->low;
    if (!onnx_axis(n, item_of(n, 3, at, at), v->rank, &axis))
        return false;
    if (v->count && v->counted != axis)
        return onnx_refuse(n, "its end is known at run time only, and so is how many elements of dimension %u count",
                           v->counted);
    if (start < 0 || item_of(n, 4, at, 1) != 1 || onnx_element(&low, (size_t)at) < 0)
        return onnx_refuse(n, "its end is known at run time only, and it does not go from 0 or later on by steps of 1");
    if (v->count && v->counted == axis && !limit)
        limit = v->count;
    exact =
        onnx_slice_axis(n, onnx_reshape(n, ends->exact, 1, (uint32_t[]){(uint32_t)onnx_elements(ends)}), 0, (uint32_t)at, 1);
    exact = onnx_min(n, exact, onnx_scalar_like(n, exact, (double)v->dims[axis]));
    exact = onnx_max(n, onnx_sub(n, exact, onnx_scalar_like(n, exact, (double)start)), onnx_scalar_like(n, exact, 0));
    onnx_set_count(n, exact, axis);
    n->count = limit ? onnx_min(n, n->count, limit) : n->count;
    return true;
}

/** Cuts the result of a Pad that adds what is missing to `size`, of which then all counts. */
static bool fill_up(struct onnx_node *n, uint32_t axis, int64_t size)
{
    struct onnx_value *y = n->outputs[0], *all = onnx_alloc(n, 1, sizeof(*all));

    if (!all)
        return false;
    if (size < 1 || size > y->dims[axis])
        return onnx_refuse(n, "it would fill %lld elements up to %lld", (long long)y->dims[axis], (long long)size);
    *all = *n->inputs[0];
    all->count = n->count = NULL; /* for onnx_count_outputs */
    n->inputs[0] = all;
    y->operand = onnx_slice_axis(n, onnx_value_operand(n, y), axis, 0, (uint32_t)size);
    y->dims[axis] = size;
    return true;
}

/** Says how much of a Pad's result counts whose pad number `at` is a bound. */
static bool count_pad(struct onnx_node *n, const struct onnx_value *pads, int64_t at)
{
    const int64_t half = onnx_elements(pads) / 2, i = at - half;
    const struct onnx_value *v = n->inputs[0];
    WNNOperand exact = onnx_reshape(n, pads->exact, 1, (uint32_t[]){(uint32_t)(2 * half)});
    struct onnx_value low = *pads;
    uint32_t axis;

    low.data = pads->low;
    if (i < 0)
        return onnx_refuse(n, "how much is added in front of a dimension is known at run time only");
    if (!onnx_axis(n, item_of(n, 3, i, i), v->rank, &axis))
        return false;
    if (v->count && v->counted != axis)
        return onnx_refuse(n, "how much it adds is known at run time only, and so is how many elements of dimension %u count",
                           v->counted);
    if (v->count && pads->line == v->count && pads->falls &&
        onnx_element(pads, (size_t)at) - onnx_element(&low, (size_t)at) == (double)v->dims[axis])
        return fill_up(n, axis, onnx_element_int(pads, (size_t)at) + onnx_element_int(pads, (size_t)i));
    exact = onnx_cast(n, onnx_slice_axis(n, exact, 0, (uint32_t)at, 1), WNNOperandDataType_Int32);
    exact = onnx_add(n, exact, onnx_scalar_like(n, exact, onnx_element(pads, (size_t)i)));
    exact = onnx_add(n, exact, v->count ? v->count : onnx_scalar_like(n, exact, (double)v->dims[axis]));
    onnx_set_count(n, onnx_max(n, exact, onnx_scalar_like(n, exact, 0)), axis);
    return true;
}

/** Says how much of a result counts whose sizes are bounds. */
static bool count_result(struct onnx_node *n, const struct onnx_value *sizes)
{
    WNNOperand exact = sizes->exact, limit;
    const struct onnx_value *y = n->outputs[0];
    int64_t at;

    if (!find_open(n, sizes, &at) || at < 0 || !y)
        return !n->refused;
    if (is(n, "Reshape")) { /* what is counted in its input, is it in its result */
        n->open = (uint32_t)at + 1;
        return n->inputs[0]->count || onnx_refuse(n, "sizes that are known at run time only are those of no input");
    }
    if (is(n, "Range")) {
        const double first = onnx_number(n, 0, 0), step = onnx_number(n, 2, 1);

        if (onnx_type_is_float(y->type) || step <= 0)
            return onnx_refuse(n, "its limit is known at run time only, and its numbers are not integers that grow");
        exact = onnx_cast(n, onnx_reshape(n, exact, 0, NULL), WNNOperandDataType_Int32);
        exact = onnx_add(n, exact, onnx_scalar_like(n, exact, step - 1 - first));
        exact = onnx_max(n, exact, onnx_scalar_like(n, exact, 0));
        exact = wnnGraphBuilderDiv(n->builder, exact, onnx_scalar_like(n, exact, step), n->options);
        onnx_set_count(n, exact, 0);
        return true;
    }
    if (is(n, "Pad"))
        return count_pad(n, sizes, at);
    if (is(n, "Slice"))
        return !onnx_elements(y) || count_slice(n, sizes, at);
    exact = onnx_reshape(n, exact, 1, (uint32_t[]){(uint32_t)onnx_elements(sizes)});
    exact = onnx_slice_axis(n, exact, 0, (uint32_t)at, 1);
    if (is(n, "TopK")) {
        uint32_t axis;

        onnx_axis(n, onnx_int(n, "axis", -1), n->inputs[0]->rank, &axis);
        limit = n->inputs[0]->count && n->inputs[0]->counted == axis ? n->inputs[0]->count : NULL;
        onnx_set_count(n, exact, axis);
        n->count = limit ? onnx_min(n, n->count, limit) : n->count;
        return true;
    }
    at += (int64_t)y->rank - onnx_elements(sizes); /* Expand may leave dimensions out */
    onnx_set_count(n, exact, (uint32_t)at);
    return true;
}

/** Returns whether the node makes numbers of its inputs of which each is at least as large for larger ones. */
static bool makes_sizes(struct onnx_node *n)
{
    size_t exact = 0;

    for (size_t i = 0; i < n->input_count; i++) {
        struct onnx_value *v = n->inputs[i];

        exact += v && v->exact;
        if (v && !v->exact && !onnx_value_is_known(n, v))
            return false;
    }
    return n->row->flags & ONNX_MAKES_SIZES || (n->row->flags & ONNX_MOVES_SIZES && exact == 1 && n->inputs[0]->exact);
}

bool onnx_import_sized(struct onnx_node *n, bool *handled)
{
    struct onnx_value **inputs = onnx_alloc(n, n->input_count + 1, sizeof(*inputs));
    const bool takes = n->row->flags & ONNX_TAKES_SIZES;
    const size_t place = is(n, "ConstantOfShape") ? 0 : is(n, "Slice") ? 2 : 1;

    *handled = false;
    for (size_t i = 0; inputs && i < n->input_count; i++) {
        inputs[i] = n->inputs[i];
        *handled = *handled || (inputs[i] && inputs[i]->exact);
    }
    if (!*handled || !inputs)
        return inputs != NULL;
    if (n->inputs[0] && makes_sizes(n))
        return import_ways(n, inputs);
    for (size_t i = 0; i < n->input_count; i++)
        n->inputs[i] = input_of(n, inputs[i], takes && i == place ? HIGH : EXACT);
    n->is_static = false;
    if (!takes || place >= n->input_count || !inputs[place] || !inputs[place]->exact)
        return import_once(n);
    if (!onnx_count_inputs(n) || !n->row->import(n) || !count_result(n, inputs[place]))
        return false;
    return onnx_count_outputs(n);
}
