/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says where the operands of a loop node's body are in each iteration.
 *
 *   carried    iteration 0 reads the node's operand; every iteration writes to the result, or to a buffer if nothing reads
 * that, and the next one reads it there scanned    slices of the operand, which move by the bytes of a slice stacked    slices
 * of the result, likewise invariant  the operand, in all iterations
 *
 * So a carried value is a state of the body (struct graph_output): storage assignment says where an iteration may write it
 * while it reads the one before, and computes it elsewhere and copies it where not.
 */
#include <string.h>

#include "passes/recurrent/recurrent.h"

static struct loop_bytes bytes_of_value(const struct value *v, int64_t bytes)
{
    return (struct loop_bytes){.kind = LOOP_VALUE, .value = v, .bytes = bytes};
}

static struct loop_bytes add_buffer(struct recurrent_loop *l, int64_t bytes)
{
    l->buffers[l->buffer_count] = bytes;
    return (struct loop_bytes){.kind = LOOP_BUFFER, .buffer = l->buffer_count++, .bytes = bytes};
}

/** Returns slices of a value, of which iteration 0 has the first one, or the last one if the direction is backward. */
static struct loop_operand slices(const struct value *v, int64_t bytes, uint32_t iterations, bool backward)
{
    struct loop_operand o = {.at = bytes_of_value(v, bytes), .stride = backward ? -bytes : bytes};

    if (backward)
        o.at.offset = bytes * ((int64_t)iterations - 1);
    return o;
}

/**
 * The value that stops the loop is copied, since a loop ends by a step that copies.  It may stop before it begins: then what is
 * read of its results are the values before it, which are copied there.
 */
static void place_carried(struct recurrent_loop *l, const struct node *n, const struct loop_body *body, uint32_t i)
{
    struct loop_graph *lg = &l->step[0];
    const int64_t bytes = type_bytes(&n->results[i]->type);
    const struct loop_bytes first = bytes_of_value(n->inputs[i].value, bytes);
    const struct loop_bytes after = /* in a buffer if nothing reads it */
        value_use_count(n->results[i]) ? bytes_of_value(n->results[i], bytes) : add_buffer(l, bytes);
    struct loop_bytes before = after;

    if (i + 1 == body->stop) {
        before = add_buffer(l, bytes);
        l->stop = 1;
        lg->copies[lg->copy_count++] = (struct loop_copy){after, before};
        l->before.copies[l->before.copy_count++] = (struct loop_copy){first, before};
    } else {
        body->graph->outputs[i].state = body->graph->inputs[i];
    }
    lg->outputs[i] = (struct loop_operand){.at = after};
    lg->inputs[i] = (struct loop_operand){.at = before};
    if (body->stop && after.kind == LOOP_VALUE) {
        l->before.copies[l->before.copy_count++] = (struct loop_copy){first, after};
    } else if (i + 1 != body->stop) {
        lg->inputs[i].first = first;
        lg->inputs[i].has_first = true;
    }
}

static void place_operands(struct recurrent_loop *l, const struct node *n, const struct loop_body *body)
{
    struct loop_graph *lg = &l->step[0];

    for (uint32_t i = 0; i < body->carried; i++)
        place_carried(l, n, body, i);
    for (uint32_t i = body->carried; i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;
        const int64_t bytes = type_bytes(&body->graph->inputs[i]->type);
        const uint32_t s = i - body->carried;

        lg->inputs[i] = s < body->scanned ? slices(v, bytes, body->iterations, body->scanned_backward[s])
                                          : (struct loop_operand){.at = bytes_of_value(v, bytes)};
    }
    for (uint32_t i = body->carried; i < n->result_count; i++) {
        const int64_t bytes = type_bytes(&body->graph->outputs[i].value->type);

        lg->outputs[i] = value_use_count(n->results[i])
                             ? slices(n->results[i], bytes, body->iterations, body->stacked_backward[i - body->carried])
                             : (struct loop_operand){.at = add_buffer(l, bytes)};
    }
}

/** Returns whether a library would only be asked for products of few rows, which generated code computes together with what
 * follows them, from packed weights: an iteration then costs no call. */
static bool multiplies_few_rows(const struct graph *body, const struct target *t)
{
    bool any = false;

    graph_for_each (body, n) {
        const struct tensor_type *type = &n->results[0]->type;

        if (n->op == OP_DEQUANTIZE_LINEAR || n->op == OP_QUANTIZE_LINEAR)
            return false; /* the library multiplies integers */
        if (!(op_infos[n->op].flags & OPF_LIBRARY))
            continue;
        if ((n->op != OP_MATMUL && n->op != OP_GEMM) || type->type != WNNOperandDataType_Float32 || type->rank != 2 ||
            type->dims[0] > target_facts(t)->contraction.recurrent_rows)
            return false;
        any = true;
    }
    return any;
}

bool body_loop_create(const struct node *n, const struct target *t, struct recurrent_loop *l, struct error *e)
{
    struct loop_body *body = n->args.loop.body;

    memset(l, 0, sizeof *l);
    if (!body->graph)
        return error_set(e, WNNStatus_OperationError, "internal error: the body of a loop is compiled twice");
    l->buffers = arena_array(&l->arena, (size_t)body->carried + n->result_count, sizeof *l->buffers);
    if (!l->buffers || !loop_graph_allocate(l, &l->step[0], n->input_count, n->result_count, 1) ||
        !loop_graph_allocate(l, &l->before, 0, 0, (size_t)body->carried + 1)) {
        recurrent_loop_free(l);
        return error_out_of_memory(e);
    }
    l->iterations = body->iterations;
    l->direction_count = 1;
    place_operands(l, n, body);
    body->graph->account = n->graph->account;
    body->graph->quantized.format = n->graph->quantized.format;
    l->step[0].graph = body->graph;
    l->step[0].no_library = multiplies_few_rows(body->graph, t);
    l->step[0].lent = n->graph->origin.plans != NULL;
    if (!l->step[0].lent)
        body->graph = NULL;
    return true;
}
