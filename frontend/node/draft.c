/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements what drafts add to interfaces, but for their operators: names in shapes, computeShapes, low precision's data
 * types. */
#include <string.h>

#include "frontend/node/convert.h"

/** Converts MLNamedShapes. */
static bool convert_shapes(struct call *c, napi_value value, WNNNamedShape **shapes, size_t *count)
{
    struct record_entry *entries;
    struct unsigned_longs list;

    if (!convert_record(c, value, RECORD_OF_VALUES, "inputShapes", &entries, count) ||
        !(*shapes = call_allocate(c, *count + 1, sizeof(**shapes))))
        return false;
    for (size_t i = 0; i < *count; i++) {
        WNNNamedShape *shape = &(*shapes)[i];

        if (!convert_unsigned_longs(c, entries[i].value, "a shape of inputShapes", RANGE_ENFORCE, &list))
            return false;
        shape->name = entries[i].name;
        shape->rank = list.count; /* no input has more than there is room for */
        memcpy(shape->shape, list.items, (list.count < WNN_RANK_MAX ? list.count : WNN_RANK_MAX) * sizeof(*list.items));
    }
    return true;
}

static napi_value graph_compute_shapes(struct call *c, struct object *o)
{
    const size_t output_count = wnnGraphGetOutputCount(o->native.graph);
    WNNNamedShape *inputs, *outputs = call_allocate(c, output_count + 1, sizeof(*outputs));
    napi_value result, shape;
    size_t count;

    if (!outputs || !convert_shapes(c, c->arguments[0], &inputs, &count) ||
        !throw_last(c, wnnGraphComputeShapes(o->native.graph, count, inputs, output_count, outputs)) ||
        !succeeded(c->env, napi_create_object(c->env, &result)))
        return NULL;
    for (size_t i = 0; i < output_count; i++)
        if (!sizes_create(c, outputs[i].rank, outputs[i].shape, NULL, &shape) ||
            !property_set_view(c, result, outputs[i].name, shape))
            return NULL;
    return result;
}

const struct member draft_members[] = {
    {"createContext", INTERFACE_ML, 0, MEMBER_PROMISE | MEMBER_DRAFT, ml_create_context, NULL},
    {"input", INTERFACE_BUILDER, 2, MEMBER_DRAFT, builder_input, NULL},
    {"computeShapes", INTERFACE_GRAPH, 1, MEMBER_DRAFT, graph_compute_shapes, NULL},
    {0},
};
