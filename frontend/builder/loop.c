/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements loops (wnnGraphBuilderBeginLoop, wnnGraphBuilderEndLoop; docs/loops.md).
 *
 * A loop of the IR takes and gives slices along the first dimension (ir/graph/loop.c).  Other axes get a transpose before the
 * loop or after it, which is computed once.
 */

#include "frontend/builder/builder.h"
#include "ir/graph/dims.h"

struct open_loop {
    struct loop_body body; /* without graph and stacked slices */
    struct value **parameters, **operands;
};

/** Puts a dimension in front, or the first one at its place, and returns the operand that has it so. */
static WNNOperand move_axis(WNNGraphBuilder b, WNNOperand operand, uint32_t axis, bool to_front)
{
    uint32_t permutation[RANK_MAX];
    WNNTransposeOptions options = WNN_TRANSPOSE_OPTIONS_INIT;

    if (!axis)
        return operand;
    for (uint32_t d = 0; d < operand->type.rank; d++)
        permutation[d] = to_front ? (d == 0 ? axis : d <= axis ? d - 1 : d) : (d < axis ? d + 1 : d == axis ? 0 : d);
    options.permutationCount = operand->type.rank;
    options.permutation = permutation;
    return builder_apply(b, OP_TRANSPOSE, &options, NULL, 1, &operand);
}

static bool check_lists(WNNGraphBuilder b, const char *what, size_t carried_count, WNNOperand const *carried,
                        size_t slice_count, WNNLoopSlices const *slices, const char *slice_name, struct error *e)
{
    char name[80];

    if (carried_count > TENSOR_COUNT_MAX || slice_count > TENSOR_COUNT_MAX)
        return error_set(e, WNNStatus_TypeError,
                         "%s: there are %zu carried values and %zu %s operands, at most %d each are possible", what,
                         carried_count, slice_count, slice_name, TENSOR_COUNT_MAX);
    if ((carried_count && !carried) || (slice_count && !slices))
        return error_set(e, WNNStatus_TypeError, "%s: %s is NULL", what, carried_count && !carried ? "carried" : slice_name);
    for (size_t i = 0; i < carried_count; i++) {
        snprintf(name, sizeof(name), "%s: carried[%zu]", what, i);
        if (!builder_check_operand(b, carried[i], name, e))
            return false;
    }
    for (size_t i = 0; i < slice_count; i++) {
        snprintf(name, sizeof(name), "%s: %s[%zu]", what, slice_name, i);
        if (!builder_check_operand(b, slices[i].operand, name, e))
            return false;
    }
    return true;
}

static void fill_outputs(WNNOperand *outputs, size_t count, WNNOperand with)
{
    for (size_t i = 0; outputs && i < count; i++)
        outputs[i] = with;
}

/* ---- beginning ---- */

static bool check_begin(WNNGraphBuilder b, uint32_t iterations, size_t carried_count, WNNOperand const *carried,
                        size_t scanned_count, WNNLoopSlices const *scanned, struct error *e)
{
    char slices[128], turns[128];

    if (iterations > ELEMENT_COUNT_MAX)
        return error_set(e, WNNStatus_TypeError, "beginLoop: iterations is %u, must be from 1 to %d", iterations,
                         ELEMENT_COUNT_MAX);
    if (b->loop)
        return error_set(e, WNNStatus_TypeError, "beginLoop: a loop is open, and loops cannot be nested");
    if (carried_count + scanned_count == 0)
        return error_set(e, WNNStatus_TypeError,
                         "beginLoop: there is neither a carried nor a scanned operand, and so nothing "
                         "that changes from one iteration to the next");
    if (!check_lists(b, "beginLoop", carried_count, carried, scanned_count, scanned, "scanned", e))
        return false;
    for (size_t i = 0; i < scanned_count; i++) {
        const struct tensor_type *t = &scanned[i].operand->value->type;

        if (scanned[i].axis >= t->rank)
            return error_set(e, WNNStatus_TypeError, "beginLoop: the axis of scanned[%zu] is %u, its rank is %u", i,
                             scanned[i].axis, t->rank);
        if (!i && !iterations && dim_is_open(t->dims[scanned[i].axis]))
            iterations = t->dims[scanned[i].axis];
        if (dim_differs(b->graph, t->dims[scanned[i].axis], iterations))
            return error_set(e, WNNStatus_TypeError,
                             "beginLoop: scanned[%zu] has %s slices along axis %u, but the loop has %s iterations", i,
                             dim_print(b->graph, t->dims[scanned[i].axis], slices, sizeof slices), scanned[i].axis,
                             dim_print(b->graph, iterations, turns, sizeof turns));
    }
    if (!iterations)
        return error_set(e, WNNStatus_TypeError, "beginLoop: iterations is 0, must be from 1 to %d", ELEMENT_COUNT_MAX);
    return true;
}

/** Allocates a loop that is to be open. */
static struct open_loop *open_loop_create(WNNGraphBuilder b, uint32_t iterations, uint32_t carried, uint32_t scanned,
                                          WNNLoopSlices const *slices)
{
    struct open_loop *l = arena_alloc(&b->arena, sizeof(*l));
    bool *backward = arena_array(&b->arena, scanned, sizeof(*backward));

    if (!l || !backward)
        return NULL;
    for (uint32_t i = 0; i < scanned; i++)
        backward[i] = slices[i].backward;
    l->body =
        (struct loop_body){.iterations = iterations, .carried = carried, .scanned = scanned, .scanned_backward = backward};
    l->parameters = arena_array(&b->arena, (size_t)carried + scanned, sizeof(*l->parameters));
    l->operands = arena_array(&b->arena, (size_t)carried + scanned, sizeof(*l->operands));
    return l->parameters && l->operands ? l : NULL;
}

static bool add_parameter(WNNGraphBuilder b, struct open_loop *l, uint32_t i, struct value *operand, WNNOperand *parameter,
                          struct error *e)
{
    struct tensor_type t = operand->type;

    if (i >= l->body.carried) {
        t.rank--;
        memmove(t.dims, t.dims + 1, t.rank * sizeof(t.dims[0]));
        t.dims[t.rank] = 0;
    }
    *parameter = builder_operand(b, &t, e);
    if (!*parameter)
        return false;
    (*parameter)->value = graph_add_parameter(b->graph, &t);
    l->operands[i] = operand;
    l->parameters[i] = (*parameter)->value;
    return (*parameter)->value || error_out_of_memory(e);
}

static bool begin(WNNGraphBuilder b, uint32_t iterations, size_t carried_count, WNNOperand const *carried, size_t scanned_count,
                  WNNLoopSlices const *scanned, WNNOperand *parameters, struct error *e)
{
    if (b && !parameters)
        return error_set(e, WNNStatus_TypeError, "beginLoop: parameters is NULL");
    if (!builder_can_build(b, "beginLoop", e) || !check_begin(b, iterations, carried_count, carried, scanned_count, scanned, e))
        return false;
    struct open_loop *l = open_loop_create(b, iterations, (uint32_t)carried_count, (uint32_t)scanned_count, scanned);
    if (!l)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < carried_count; i++)
        if (!add_parameter(b, l, i, carried[i]->value, &parameters[i], e))
            return false;
    for (uint32_t i = 0; i < scanned_count; i++) {
        WNNOperand front = move_axis(b, scanned[i].operand, scanned[i].axis, true);

        if (!front->value)
            return error_set(e, b->last_status, "beginLoop: scanned[%u] cannot be transposed: %s", i, b->first_error.message);
        if (!add_parameter(b, l, l->body.carried + i, front->value, &parameters[carried_count + i], e))
            return false;
    }
    b->loop = l;
    return true;
}

WNNStatus wnnGraphBuilderBeginLoop(WNNGraphBuilder b, uint32_t iterations, size_t carriedCount, WNNOperand const *carried,
                                   size_t scannedCount, WNNLoopSlices const *scanned, WNNOperand *parameters)
{
    struct error e = {0};

    if (begin(b, iterations, carriedCount, carried, scannedCount, scanned, parameters, &e))
        return WNNStatus_Success;
    fill_outputs(parameters, carriedCount + scannedCount, builder_fail(b, &e));
    return e.status;
}

/* ---- stopping ---- */

WNNStatus wnnGraphBuilderStopLoop(WNNGraphBuilder b, size_t carried)
{
    const struct tensor_type *t = b && b->loop && carried < b->loop->body.carried ? &b->loop->parameters[carried]->type : NULL;
    struct error e = {0};

    if (t && t->type == WNNOperandDataType_Uint8 && !t->rank) {
        b->loop->body.stop = (uint32_t)carried + 1;
        return WNNStatus_Success;
    }
    if (!b || !b->loop)
        error_set(&e, WNNStatus_TypeError, "stopLoop: %s", b ? "no loop has begun" : "builder is NULL");
    else if (!t)
        error_set(&e, WNNStatus_TypeError, "stopLoop: carried value %zu is requested, the loop has %u", carried,
                  b->loop->body.carried);
    else
        error_set(&e, WNNStatus_TypeError, "stopLoop: carried value %zu must be a uint8 scalar", carried);
    builder_fail(b, &e);
    return e.status;
}

/* ---- ending ---- */

static bool check_end(WNNGraphBuilder b, size_t carried_count, WNNOperand const *carried, size_t stacked_count,
                      WNNLoopSlices const *stacked, struct error *e)
{
    const struct open_loop *l = b->loop;
    char have[160], want[160];

    if (!l)
        return error_set(e, WNNStatus_TypeError, "endLoop: no loop has begun");
    if (carried_count != l->body.carried)
        return error_set(e, WNNStatus_TypeError, "endLoop: %zu carried values are given, the loop began with %u", carried_count,
                         l->body.carried);
    if (!check_lists(b, "endLoop", carried_count, carried, stacked_count, stacked, "stacked", e))
        return false;
    for (size_t i = 0; i < carried_count; i++)
        if (type_differs(b->graph, &carried[i]->value->type, &l->parameters[i]->type))
            return error_set(e, WNNStatus_TypeError, "endLoop: carried[%zu] is %s after an iteration, but %s before it", i,
                             type_print(have, sizeof(have), &carried[i]->value->type),
                             type_print(want, sizeof(want), &l->parameters[i]->type));
    for (size_t i = 0; i < stacked_count; i++) {
        const struct tensor_type *t = &stacked[i].operand->value->type;

        if (t->rank >= RANK_MAX)
            return error_set(e, WNNStatus_TypeError, "endLoop: stacked[%zu] has rank %u, at most %d is possible", i, t->rank,
                             RANK_MAX - 1);
        if (stacked[i].axis > t->rank)
            return error_set(e, WNNStatus_TypeError, "endLoop: the axis of stacked[%zu] is %u, at most %u is possible", i,
                             stacked[i].axis, t->rank);
    }
    return true;
}

/** Makes the loop's node.  Returns NULL after an error in *e. */
static struct node *close_loop(WNNGraphBuilder b, const char *label, WNNOperand const *carried, size_t stacked_count,
                               WNNLoopSlices const *stacked, struct error *e)
{
    struct loop_body body = b->loop->body;
    struct value **outputs = arena_array(&b->arena, body.carried + stacked_count, sizeof(*outputs));
    bool *backward = arena_array(&b->arena, stacked_count, sizeof(*backward));

    if (!outputs || !backward)
        return error_null_memory(e);
    for (uint32_t i = 0; i < body.carried; i++)
        outputs[i] = carried[i]->value;
    for (size_t i = 0; i < stacked_count; i++) {
        outputs[body.carried + i] = stacked[i].operand->value;
        backward[i] = stacked[i].backward;
    }
    body.stacked = (uint32_t)stacked_count;
    body.stacked_backward = backward;
    return graph_close_loop(b->graph, &body, label, b->loop->parameters, b->loop->operands, outputs, e);
}

static bool end(WNNGraphBuilder b, WNNStringView label, size_t carried_count, WNNOperand const *carried, size_t stacked_count,
                WNNLoopSlices const *stacked, WNNOperand *outputs, struct error *e)
{
    char *name = NULL;

    if (!builder_can_build(b, "endLoop", e) || !check_end(b, carried_count, carried, stacked_count, stacked, e))
        return false;
    if (!outputs)
        return error_set(e, WNNStatus_TypeError, "endLoop: outputs is NULL");
    if (view_length(label) > NAME_BYTES_MAX)
        return error_set(e, WNNStatus_TypeError, "endLoop: the label has %zu bytes, more than %d", view_length(label),
                         NAME_BYTES_MAX);
    name = arena_string(&b->arena, label.data, view_length(label));
    if (!name)
        return error_out_of_memory(e);
    struct node *n = close_loop(b, name, carried, stacked_count, stacked, e);
    if (!n)
        return false;
    b->loop = NULL;
    for (uint32_t i = 0; i < n->result_count; i++) {
        outputs[i] = builder_operand(b, &n->results[i]->type, e);
        if (!outputs[i])
            return false;
        outputs[i]->value = n->results[i];
        if (i < carried_count)
            continue;
        outputs[i] = move_axis(b, outputs[i], stacked[i - carried_count].axis, false);
        if (!outputs[i]->value)
            return error_set(e, b->last_status, "endLoop: stacked[%zu] cannot be transposed: %s", i - carried_count,
                             b->first_error.message);
    }
    return true;
}

WNNStatus wnnGraphBuilderEndLoop(WNNGraphBuilder b, WNNStringView label, size_t carriedCount, WNNOperand const *carried,
                                 size_t stackedCount, WNNLoopSlices const *stacked, WNNOperand *outputs)
{
    struct error e = {0};

    if (end(b, label, carriedCount, carried, stackedCount, stacked, outputs, &e))
        return WNNStatus_Success;
    fill_outputs(outputs, carriedCount + stackedCount, builder_fail(b, &e));
    return e.status;
}
