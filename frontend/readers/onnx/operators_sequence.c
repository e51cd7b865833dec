/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports sequences of tensors and optional values.
 *
 * How long a sequence is, and whether an optional value is there, is known while the model is read.  So a sequence is a list of
 * values (onnx_value.items), and an optional value is its element or `nothing`: their operators leave no trace in the graph.
 */
#include <string.h>

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/compose.h"

static const char sequence[] = "is a sequence of tensors, which only operators of sequences read";
static const char nothing[] = "is an optional value without an element";

/** Returns input i, or NULL after refusing if it is not a sequence. */
static const struct onnx_value *read_sequence(struct onnx_node *n, size_t i)
{
    const struct onnx_value *v = onnx_input(n, i);

    return v && v->items ? v : (onnx_refuse(n, "input %zu is not a sequence of tensors", i), NULL);
}

static struct onnx_value *new_value(struct onnx_node *n, const char *refusal)
{
    struct onnx_value *v = onnx_alloc(n, 1, sizeof *v);

    if (v)
        *v = (struct onnx_value){.is_static = true, .refusal = refusal};
    return v;
}

/** Returns a list with room for `count` items, of which the first are those of v (NULL: none). */
static struct onnx_value **new_items(struct onnx_node *n, const struct onnx_value *v, size_t count)
{
    struct onnx_value **items = onnx_alloc(n, count + 1, sizeof *items);

    if (items && v)
        memcpy(items, v->items, v->item_count * sizeof *items);
    return items;
}

static bool output_sequence(struct onnx_node *n, size_t i, size_t count, struct onnx_value **items)
{
    struct onnx_value *v = new_value(n, sequence);

    if (!v || !items)
        return false;
    v->items = items;
    v->item_count = count;
    for (size_t k = 0; k < count; k++)
        v->is_static = v->is_static && items[k]->is_static;
    return onnx_output_value(n, i, v);
}

/** Reads a constant position in a sequence, negative ones from its end, into *at.  Returns false after refusing. */
static bool read_position(struct onnx_node *n, size_t i, size_t count, size_t *at)
{
    const double given = onnx_number(n, i, 0);
    const int64_t position = onnx_whole(n, "the position", given, -(int64_t)count, (int64_t)count - 1);

    *at = (size_t)(position < 0 ? position + (int64_t)count : position);
    return !n->refused;
}

bool onnx_import_sequence_construct(struct onnx_node *n)
{
    for (size_t i = 0; i < n->input_count; i++)
        if (!onnx_input(n, i))
            return onnx_refuse(n, "input %zu is left out; a sequence has all of its tensors", i);
    return output_sequence(n, 0, n->input_count, n->inputs);
}

bool onnx_import_sequence_empty(struct onnx_node *n)
{
    onnx_ignore(n, "dtype");
    return output_sequence(n, 0, 0, new_items(n, NULL, 0));
}

bool onnx_import_sequence_length(struct onnx_node *n)
{
    const struct onnx_value *v = read_sequence(n, 0);
    int64_t *length = v ? onnx_output_constant(n, 0, ONNX_INT64, 0, NULL) : NULL;

    if (length)
        *length = (int64_t)v->item_count;
    return length != NULL;
}

bool onnx_import_sequence_at(struct onnx_node *n)
{
    const struct onnx_value *v = read_sequence(n, 0);
    size_t at;

    return v && read_position(n, 1, v->item_count, &at) && onnx_output_value(n, 0, v->items[at]);
}

bool onnx_import_sequence_insert(struct onnx_node *n)
{
    const struct onnx_value *v = read_sequence(n, 0);
    struct onnx_value **items = v ? new_items(n, v, v->item_count + 1) : NULL;
    size_t at = v ? v->item_count : 0;

    /* A negative position is from the end without the new item. */
    if (!items ||
        (onnx_input(n, 2) && onnx_number(n, 2, 0) != (double)v->item_count && !read_position(n, 2, v->item_count, &at)))
        return false;
    memmove(items + at + 1, items + at, (v->item_count - at) * sizeof *items);
    items[at] = n->inputs[1];
    return output_sequence(n, 0, v->item_count + 1, items);
}

bool onnx_import_sequence_erase(struct onnx_node *n)
{
    const struct onnx_value *v = read_sequence(n, 0);
    struct onnx_value **items = v ? new_items(n, v, v->item_count) : NULL;
    size_t at = v ? v->item_count - 1 : 0;

    if (!items || ((onnx_input(n, 1) || !v->item_count) && !read_position(n, 1, v->item_count, &at)))
        return false;
    memmove(items + at, items + at + 1, (v->item_count - at - 1) * sizeof *items);
    return output_sequence(n, 0, v->item_count - 1, items);
}

bool onnx_import_split_to_sequence(struct onnx_node *n)
{
    struct onnx_value *v = n->inputs[0], **items;
    const struct onnx_value *split = onnx_input(n, 1);
    const bool keeps = onnx_int(n, "keepdims", 1) != 0 || split;
    const int64_t axis_given = onnx_int(n, "axis", 0), one = 1;
    size_t count = 1, parts = 0;
    int64_t left;
    uint32_t axis;
    const int64_t *sizes = split ? onnx_integers(n, 1, &count) : &one;

    if (!sizes || !onnx_axis(n, axis_given, v->rank, &axis) || !(items = new_items(n, NULL, (size_t)v->dims[axis])))
        return false;
    const bool equal = !split || split->rank == 0;
    for (left = v->dims[axis]; left > 0 && (equal || parts < count); parts++) {
        const int64_t size = sizes[equal ? 0 : parts], start = v->dims[axis] - left;

        if (size < 1 || (!equal && size > left))
            return onnx_refuse(n, "a part has %lld elements, of %lld that are left", (long long)size, (long long)left);
        items[parts] = control_take(n, v, axis, (uint32_t)start, (uint32_t)(size < left ? size : left), keeps);
        if (!items[parts])
            return false;
        left -= size;
    }
    if (!equal && (left || parts < count))
        return onnx_refuse(n, "its %zu sizes do not add up to the %lld elements of axis %u", count, (long long)v->dims[axis],
                           axis);
    return output_sequence(n, 0, parts, items);
}

bool onnx_import_concat_from_sequence(struct onnx_node *n)
{
    const struct onnx_value *v = read_sequence(n, 0), *first = NULL;
    const bool adds = onnx_int(n, "new_axis", 0) != 0;
    const int64_t axis_given = onnx_int(n, "axis", 0);
    WNNOperand *parts = v ? onnx_alloc(n, v->item_count + 1, sizeof *parts) : NULL;
    uint32_t dims[ONNX_RANK_MAX + 1], axis = 0;
    size_t count = 0;

    for (size_t i = 0; parts && i < v->item_count; i++) {
        struct onnx_value *item = v->items[i];

        if (!onnx_elements(item))
            continue; /* what has no elements adds none */
        first = first ? first : item;
        if (item->type != first->type || item->rank != first->rank)
            return onnx_refuse(n, "its items are of several types or ranks");
        if (first->rank + adds > ONNX_RANK_MAX || !onnx_axis(n, axis_given, first->rank + adds, &axis))
            return onnx_refuse(n, "its result would have more than %d dimensions", ONNX_RANK_MAX);
        for (size_t d = 0, from = 0; d < first->rank + adds; d++)
            dims[d] = adds && d == axis ? 1 : (uint32_t)item->dims[from++];
        parts[count] = onnx_value_operand(n, item);
        if (adds)
            parts[count] = onnx_reshape(n, parts[count], first->rank + 1, dims);
        count++;
    }
    if (!parts || !count)
        return onnx_refuse(n, "its sequence has no elements");
    n->is_static = v->is_static;
    return onnx_output_as(n, 0, onnx_concat(n, count, parts, axis), first->type);
}

bool onnx_import_sequence_map(struct onnx_node *n)
{
    const Onnx__GraphProto *body = onnx_graph(n, "body");
    const struct onnx_value *v = read_sequence(n, 0);
    struct onnx_value **in = new_items(n, NULL, n->input_count), **out, ***items;

    if (!body || !v || !in || body->n_output != n->output_count)
        return onnx_refuse(n, "its body has other outputs than it");
    out = new_items(n, NULL, n->output_count);
    items = onnx_alloc(n, n->output_count + 1, sizeof *items);
    for (size_t o = 0; items && o < n->output_count; o++)
        if (!(items[o] = new_items(n, NULL, v->item_count)))
            return false;
    for (size_t k = 0; out && items && k < v->item_count; k++) {
        for (size_t i = 0; i < n->input_count; i++) {
            const struct onnx_value *input = onnx_input(n, i);

            if (input && input->items && input->item_count != v->item_count)
                return onnx_refuse(n, "its sequences have %zu and %zu items", v->item_count, input->item_count);
            in[i] = input && input->items ? input->items[k] : n->inputs[i];
        }
        if (!onnx_import_body(n, body, n->input_count, in, out))
            return false;
        for (size_t o = 0; o < n->output_count; o++)
            items[o][k] = out[o];
    }
    for (size_t o = 0; out && items && o < n->output_count; o++)
        if (!output_sequence(n, o, v->item_count, items[o]))
            return false;
    return true;
}

/* ---- optional values ---- */

bool onnx_import_optional(struct onnx_node *n)
{
    struct onnx_value *v = onnx_input(n, 0);

    onnx_ignore(n, "type");
    return (v || (v = new_value(n, nothing))) && onnx_output_value(n, 0, v);
}

bool onnx_import_optional_get_element(struct onnx_node *n)
{
    struct onnx_value *v = onnx_input(n, 0);

    return v->refusal == nothing ? onnx_refuse(n, "its input %s", nothing) : onnx_output_value(n, 0, v);
}

bool onnx_import_optional_has_element(struct onnx_node *n)
{
    unsigned char *has = onnx_output_constant(n, 0, ONNX_BOOL, 0, NULL);

    if (has)
        *has = onnx_input(n, 0) && onnx_input(n, 0)->refusal != nothing;
    return has != NULL;
}
