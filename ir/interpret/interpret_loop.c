/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Interprets loops: the body once for each iteration.  Bounds go from one iteration to the next with the values that they are
 * of, exactly as they would through the nodes of an unrolled loop.
 */

#include "ir/interpret/interpret.h"

/** Holds what goes into an iteration and comes out of it. */
struct iteration {
    const void **in;
    const double **in_bounds;
    void **out;
    double **out_bounds; /* NULL: not wanted */
};

static bool prepare(struct interpretation *t, const struct loop_body *l, struct iteration *u)
{
    u->in = interpret_memory(t, l->graph->input_count, sizeof *u->in);
    u->in_bounds = interpret_memory(t, l->graph->input_count, sizeof *u->in_bounds);
    u->out = interpret_memory(t, l->graph->output_count, sizeof *u->out);
    u->out_bounds = t->bounds ? interpret_memory(t, l->graph->output_count, sizeof *u->out_bounds) : NULL;
    if (!u->in || !u->in_bounds || !u->out || (t->bounds && !u->out_bounds))
        return false;
    for (uint32_t i = 0; i < l->graph->input_count; i++) {
        u->in[i] = t->inputs[i].data;
        u->in_bounds[i] = t->inputs[i].bound;
    }
    return true;
}

/** Says where an iteration finds its slices, and where it puts them. */
static void place_slices(const struct interpretation *t, const struct loop_body *l, uint32_t iteration,
                         const struct iteration *u)
{
    for (uint32_t i = 0; i < l->scanned; i++) {
        const struct interpret_input *in = &t->inputs[l->carried + i];
        const struct tensor_type *type = &l->graph->inputs[l->carried + i]->type;
        const uint32_t at = l->scanned_backward[i] ? l->iterations - 1 - iteration : iteration;

        u->in[l->carried + i] = (const char *)in->data + type_bytes(type) * at;
        u->in_bounds[l->carried + i] = in->bound ? in->bound + type_elements(type) * at : NULL;
    }
    for (uint32_t i = 0; i < l->stacked; i++) {
        const struct interpret_result *result = &t->results[l->carried + i];
        const struct tensor_type *type = &l->graph->outputs[l->carried + i].value->type;
        const uint32_t at = l->stacked_backward[i] ? l->iterations - 1 - iteration : iteration;

        u->out[l->carried + i] = (char *)result->data + type_bytes(type) * at;
        if (t->bounds)
            u->out_bounds[l->carried + i] = result->bound + type_elements(type) * at;
    }
}

bool interpret_loop(struct interpretation *t)
{
    struct loop_body *l = t->node->args.loop.body;
    struct iteration u;

    if (!l->graph)
        return error_set(t->error, WNNStatus_OperationError, "internal error: the body of a loop is gone");
    if (!prepare(t, l, &u))
        return false;
    for (uint32_t i = 0; i < l->carried; i++) {
        u.out[i] = interpret_memory(t, type_bytes(t->results[i].type), 1);
        if (t->bounds)
            u.out_bounds[i] = interpret_memory(t, type_elements(t->results[i].type), sizeof(double));
        if (!u.out[i] || (t->bounds && !u.out_bounds[i]))
            return false;
    }
    for (uint32_t i = 0; l->stop && i < l->carried; i++) { /* it may stop before it begins */
        memcpy(t->results[i].data, u.in[i], (size_t)type_bytes(t->results[i].type));
        if (t->bounds && u.in_bounds[i])
            memcpy(t->results[i].bound, u.in_bounds[i], (size_t)type_elements(t->results[i].type) * sizeof(double));
    }
    for (uint32_t i = l->carried; l->stop && i < l->carried + l->stacked; i++) { /* slices that are not reached are undefined */
        memset(t->results[i].data, 0, (size_t)type_bytes(t->results[i].type));
        for (int64_t k = 0; t->bounds && k < type_elements(t->results[i].type); k++)
            t->results[i].bound[k] = INFINITY;
    }
    for (uint32_t iteration = 0; iteration < l->iterations; iteration++) {
        if (l->stop && *(const uint8_t *)t->results[l->stop - 1].data)
            break;
        place_slices(t, l, iteration, &u);
        if (!graph_interpret_from(l->graph, u.in, u.in_bounds, u.out, u.out_bounds, t->error))
            return false;
        for (uint32_t i = 0; i < l->carried; i++) {
            const struct interpret_result *result = &t->results[i];

            u.in[i] = memcpy(result->data, u.out[i], (size_t)type_bytes(result->type));
            if (t->bounds)
                u.in_bounds[i] = memcpy(result->bound, u.out_bounds[i], (size_t)type_elements(result->type) * sizeof(double));
        }
    }
    return true;
}
