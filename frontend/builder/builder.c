/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the life of a graph builder: it is created, takes inputs, keeps the first error, and builds a graph
 * (frontend/builder/builder.h).
 */
#include "frontend/builder/builder.h"
#include "frontend/builder/states.h"
#include "ir/graph/conv.h"
#include "ir/graph/dims.h"

#include <stdlib.h>

#include "ir/support/text.h"
#include "runtime/api/runtime.h"
#include "webnn/webnn_draft.h"

/* ---- life ---- */

WNNStatus wnnContextCreateGraphBuilder(WNNContext context, WNNGraphBuilder *builder)
{
    struct error e = {0};

    if (builder)
        *builder = NULL;
    if (!builder || !context)
        error_set(&e, WNNStatus_TypeError, "createGraphBuilder: %s is NULL", builder ? "context" : "builder");
    else if (wnnContextIsLost(context))
        error_set(&e, WNNStatus_InvalidStateError, "createGraphBuilder: the context is lost");
    if (e.status)
        return error_publish(&e);
    WNNGraphBuilder b = calloc(1, sizeof(*b));
    if (b)
        b->graph = graph_create();
    if (!b || !b->graph) {
        free(b);
        return error_fail_memory(&e);
    }
    budget_set(&b->graph->budget, wnnContextGetBudget(context), 0);
    b->graph->account = &b->graph->budget;
    atomic_init(&b->references, 1);
    wnnContextAddRef(context);
    b->context = context;
    b->error_operand.builder = b;
    *builder = b;
    return WNNStatus_Success;
}

void wnnGraphBuilderAddRef(WNNGraphBuilder b)
{
    if (b)
        atomic_fetch_add_explicit(&b->references, 1, memory_order_relaxed);
}

void wnnGraphBuilderRelease(WNNGraphBuilder b)
{
    if (!b || atomic_fetch_sub_explicit(&b->references, 1, memory_order_acq_rel) != 1)
        return;
    for (struct constant_tensor *t = b->constant_tensors; t; t = t->next)
        wnnTensorRelease(t->tensor);
    graph_free(b->graph);
    name_map_free(&b->inputs);
    arena_free(&b->arena);
    wnnContextRelease(b->context);
    free(b);
}

/* ---- errors ---- */

WNNStatus wnnGraphBuilderGetError(WNNGraphBuilder b, WNNStringView *message)
{
    if (message) {
        message->data = b ? b->first_error.message : "";
        message->length = strlen(message->data);
    }
    return b ? b->first_error.status : WNNStatus_Success;
}

void wnnGraphBuilderClearError(WNNGraphBuilder b)
{
    if (b)
        memset(&b->first_error, 0, sizeof(b->first_error));
}

WNNOperand builder_fail(WNNGraphBuilder b, const struct error *e)
{
    error_publish(e);
    if (!b)
        return NULL;
    b->last_status = e->status;
    if (b->first_error.status == WNNStatus_Success)
        b->first_error = *e;
    /* The graph's own error is for passes over it; a failed call is over, and memory may be there the next time. */
    if (b->graph)
        b->graph->error.status = WNNStatus_Success;
    return &b->error_operand;
}

bool builder_can_build(WNNGraphBuilder b, const char *what, struct error *e)
{
    if (!b)
        return error_set(e, WNNStatus_TypeError, "%s: builder is NULL", what);
    if (b->has_built)
        return error_set(e, WNNStatus_InvalidStateError, "%s: the builder has built its graph already", what);
    if (wnnContextIsLost(b->context))
        return error_set(e, WNNStatus_InvalidStateError, "%s: the context is lost", what);
    return true;
}

/* ---- the budget ---- */

/** Checks what both functions check first. */
static bool check_budget_call(WNNGraphBuilder b, const void *argument, const char *method, const char *name, struct error *e)
{
    if (!b || !argument)
        return error_set(e, WNNStatus_TypeError, "%s: %s is NULL", method, b ? name : "builder");
    return builder_can_build(b, method, e);
}

WNNStatus wnnGraphBuilderSetBudget(WNNGraphBuilder b, WNNBudget const *budget, uint64_t sourceBytes)
{
    struct error e = {0};

    if (!check_budget_call(b, budget, "setBudget", "budget", &e))
        return error_publish(&e);
    budget_set(&b->graph->budget, *budget, sourceBytes);
    return WNNStatus_Success;
}

WNNStatus wnnGraphBuilderSetProgress(WNNGraphBuilder b, WNNBuildProgressCallbackInfo progress)
{
    struct error e = {0};

    if (builder_can_build(b, "setProgress", &e))
        b->graph->progress = progress;
    return e.status ? error_publish(&e) : WNNStatus_Success;
}

WNNStatus wnnGraphBuilderSetStates(WNNGraphBuilder b, size_t count, WNNNamedState const *states)
{
    struct error e = {0};

    if (b && count && !states)
        error_set(&e, WNNStatus_TypeError, "setStates: %zu states are NULL", count);
    else if (builder_can_build(b, "setStates", &e) && !builder_set_states(b, count, states))
        error_out_of_memory(&e);
    return e.status ? error_publish(&e) : WNNStatus_Success;
}

WNNStatus wnnGraphBuilderQuantizeWeights(WNNGraphBuilder b, WNNWeightFormat format)
{
    struct error e = {0};

    if (b && format != WNNWeightFormat_None && format != WNNWeightFormat_Int8 && format != WNNWeightFormat_Int4)
        error_set(&e, WNNStatus_TypeError, "quantizeWeights: %d is not a weight format; give WNNWeightFormat_Int8 or _Int4",
                  (int)format);
    else if (builder_can_build(b, "quantizeWeights", &e))
        b->graph->quantized.format = format;
    return e.status ? error_publish(&e) : WNNStatus_Success;
}

WNNStatus wnnGraphBuilderSpend(WNNGraphBuilder b, WNNStringView what, uint64_t operations, uint64_t bytes)
{
    struct error e = {0};
    char text[256];

    if (!check_budget_call(b, what.data, "spend", "what", &e))
        return error_publish(&e);
    escape_text(text, sizeof(text), what.data, view_length(what));
    if (!budget_spend_memory(b->graph->account, text, (double)operations, (double)bytes, &e))
        return error_publish(&e);
    return WNNStatus_Success;
}

/* ---- operands ---- */

/** Sets what the operand's functions tell of its type. */
static bool operand_describe(WNNOperand operand, const struct tensor_type *type)
{
    struct arena *a = &operand->builder->arena;

    operand->type = *type;
    operand->names = type_is_open(type) ? arena_array(a, RANK_MAX, sizeof *operand->names) : NULL;
    for (uint32_t i = 0; operand->names && i < type->rank; i++) {
        if (!dim_is_open(type->dims[i]))
            continue;
        if (!dim_text(operand->builder->graph, type->dims[i], a, &operand->names[i]))
            return false;
        operand->type.dims[i] = 0;
    }
    return operand->names || !type_is_open(type);
}

WNNOperand builder_operand(WNNGraphBuilder b, const struct tensor_type *type, struct error *e)
{
    WNNOperand operand = arena_alloc(&b->arena, sizeof(*operand));

    if (!operand)
        return error_null_memory(e);
    operand->builder = b;
    return operand_describe(operand, type) ? operand : error_null_memory(e);
}

bool builder_check_operand(WNNGraphBuilder b, WNNOperand operand, const char *what, struct error *e)
{
    if (!operand)
        return error_set(e, WNNStatus_TypeError, "%s is NULL", what);
    if (operand->builder != b)
        return error_set(e, WNNStatus_TypeError, "%s is an operand of another builder", what);
    if (!operand->value)
        return error_set(e, WNNStatus_TypeError, "%s is an error operand%s%s", what,
                         b->first_error.status ? "; the first error: " : "", b->first_error.message);
    if (b->graph && operand->value->graph != b->graph)
        return error_set(e, WNNStatus_TypeError, "%s belongs to a loop that has ended", what);
    return true;
}

void wnnOperandAddRef(WNNOperand operand)
{
    if (operand)
        wnnGraphBuilderAddRef(operand->builder);
}

void wnnOperandRelease(WNNOperand operand)
{
    if (operand)
        wnnGraphBuilderRelease(operand->builder);
}

WNNOperandDataType wnnOperandGetDataType(WNNOperand operand)
{
    return operand ? operand->type.type : WNNOperandDataType_Undefined;
}

size_t wnnOperandGetRank(WNNOperand operand)
{
    return operand ? operand->type.rank : 0;
}

uint32_t const *wnnOperandGetShape(WNNOperand operand)
{
    static const uint32_t none[RANK_MAX];

    return operand ? operand->type.dims : none;
}

WNNStringView wnnOperandGetDimensionName(WNNOperand operand, size_t index)
{
    return operand && operand->names && index < operand->type.rank ? operand->names[index] : (WNNStringView){NULL, 0};
}

/* Describes an expression of the operand's graph. */
static bool describe_size(WNNOperand operand, dim_expr e, WNNSize *size)
{
    if (e == DIM_NONE || !size)
        return false;
    dims_range(operand->value->graph, e, &size->least, &size->most);
    size->expression = size->least == size->most ? 0 : e + 1;
    return true;
}

/* Returns whether an operand has sizes that can be described. */
static bool has_sizes(WNNOperand operand)
{
    return operand && operand->value && operand->builder->graph && dims_begin(operand->value->graph);
}

bool wnnOperandGetDimension(WNNOperand operand, size_t index, WNNSize *size)
{
    return has_sizes(operand) && index < operand->type.rank &&
           describe_size(operand, dims_of(operand->value->graph, operand->value->type.dims[index]), size);
}

bool wnnOperandGetElement(WNNOperand operand, size_t index, WNNSize *size)
{
    const dim_expr *values = has_sizes(operand) ? dims_values(operand->value->graph, operand->value) : NULL;

    return values && index < (size_t)type_elements(&operand->value->type) && describe_size(operand, values[index], size);
}

bool wnnOperandIsError(WNNOperand operand)
{
    return !operand || !operand->value;
}

/* ---- descriptors ---- */

bool builder_descriptor(WNNGraphBuilder b, const WNNOperandDescriptor *d, const char *what, struct tensor_type *type,
                        struct error *e)
{
    memset(type, 0, sizeof(*type));
    if (!d)
        return error_set(e, WNNStatus_TypeError, "%s: descriptor is NULL", what);
    if (!type_check_data_type(d->dataType, runtime_knows_draft(b->context), what, e))
        return false;
    if (d->rank > RANK_MAX)
        return error_set(e, WNNStatus_TypeError, "%s: the rank is %zu, the largest supported is %d", what, d->rank, RANK_MAX);
    if (d->rank && !d->shape)
        return error_set(e, WNNStatus_TypeError, "%s: shape is NULL, but the rank is %zu", what, d->rank);
    type->type = d->dataType;
    type->rank = (uint32_t)d->rank;
    for (uint32_t i = 0; d->dimensions && i < type->rank; i++)
        if (d->dimensions[i].name.data)
            return error_set(e, WNNStatus_TypeError, "%s: dimension %u has a name, as only an input's may", what, i);
    if (d->rank)
        memcpy(type->dims, d->shape, d->rank * sizeof(type->dims[0]));
    return type_check(type, what, e);
}

/** Does the same for an input, whose dimensions may have names. */
static bool input_descriptor(WNNGraphBuilder b, const WNNOperandDescriptor *d, const char *what, struct tensor_type *type,
                             struct error *e)
{
    uint32_t shape[RANK_MAX], open = 0;

    if (!d || !d->dimensions || d->rank > RANK_MAX)
        return builder_descriptor(b, d, what, type, e);
    for (uint32_t i = 0; i < d->rank; i++) {
        const WNNStringView name = d->dimensions[i].name;

        shape[i] = name.data ? 1 : d->shape ? d->shape[i] : 0;
        open |= (uint32_t)(name.data != NULL) << i;
        if (name.data && (!view_length(name) || view_length(name) > NAME_BYTES_MAX))
            return error_set(e, WNNStatus_TypeError, "%s: the name of dimension %u has %zu bytes, not from 1 to %d", what, i,
                             view_length(name), NAME_BYTES_MAX);
    }
    const WNNOperandDescriptor sizes = {d->dataType, d->rank, shape, NULL};
    if (!builder_descriptor(b, &sizes, what, type, e))
        return false;
    for (uint32_t i = 0; i < d->rank; i++) {
        const WNNDimension *dim = &d->dimensions[i];

        if (open >> i & 1)
            type->dims[i] = dims_name(b->graph, dim->name.data, view_length(dim->name), dim->minSize, dim->maxSize, what, e);
        if (type->dims[i] == DIM_NONE)
            return false;
    }
    return true;
}

/* ---- inputs ---- */

/** Checks and connects an input.  Returns NULL after an error in *e. */
static WNNOperand add_input(WNNGraphBuilder b, WNNStringView name, WNNOperandDescriptor const *descriptor, struct error *e)
{
    char text[128], what[160];
    struct tensor_type type;
    char *copy;

    name.length = view_length(name);
    if (name.length > NAME_BYTES_MAX)
        return error_null(e, WNNStatus_TypeError, "input: the name has %zu bytes, more than %d", name.length, NAME_BYTES_MAX);
    snprintf(what, sizeof(what), "input \"%s\"", escape_text(text, sizeof(text), name.data, name.length));
    if (!builder_can_build(b, what, e))
        return NULL;
    if (!name.length)
        return error_null(e, WNNStatus_TypeError, "input: the name is empty");
    WNNOperand operand = name_map_find(&b->inputs, name.data, name.length);
    if (operand && operand->value)
        return error_null(e, WNNStatus_TypeError, "%s: an input of that name exists", what);
    if (!input_descriptor(b, descriptor, what, &type, e))
        return NULL;
    if (!operand) { /* else memory ran out when it was to be connected */
        copy = arena_string(&b->arena, name.data, name.length);
        operand = copy ? builder_operand(b, &type, e) : NULL;
        if (!operand || name_map_add(&b->inputs, copy, name.length, operand) != NAME_MAP_ADDED)
            return error_null_memory(e);
    }
    operand->value = operand_describe(operand, &type) ? graph_add_input(b->graph, name.data, name.length, &type) : NULL;
    if (!operand->value)
        return error_null_memory(e);
    if (!type_is_open(&type))
        budget_grow_input(&b->graph->budget, (uint64_t)type_bytes(&type));
    return operand;
}

WNNOperand builder_missing(const char *method)
{
    struct error e = {0};

    error_set(&e, WNNStatus_TypeError, "%s: builder is NULL", method);
    return builder_fail(NULL, &e);
}

WNNOperand wnnGraphBuilderInput(WNNGraphBuilder b, WNNStringView name, WNNOperandDescriptor const *descriptor)
{
    struct error e = {0};

    if (!b)
        return builder_missing("input");
    WNNOperand operand = add_input(b, name, descriptor, &e);
    return operand ? operand : builder_fail(b, &e);
}

/* ---- build ---- */

/** Takes the steps that look at outputs only. */
static bool check_outputs(WNNGraphBuilder b, size_t count, WNNNamedOperand const *outputs, struct name_map *names,
                          struct error *e)
{
    if (!count || !outputs)
        return error_set(e, WNNStatus_TypeError, "build: there are no outputs");
    if (count > SLOT_COUNT_MAX)
        return error_set(e, WNNStatus_TypeError, "build: %zu outputs, more than %d", count, SLOT_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        const WNNStringView name = {outputs[i].name.data, view_length(outputs[i].name)};
        char text[128], what[180];

        if (!name.length)
            return error_set(e, WNNStatus_TypeError, "build: the name of outputs[%zu] is empty", i);
        if (name.length > NAME_BYTES_MAX)
            return error_set(e, WNNStatus_TypeError, "build: the name of outputs[%zu] has %zu bytes, more than %d", i,
                             name.length, NAME_BYTES_MAX);
        snprintf(what, sizeof(what), "build: output \"%s\"", escape_text(text, sizeof(text), name.data, name.length));
        switch (name_map_add(names, name.data, name.length, b)) {
        case NAME_MAP_ADDED:
            break;
        case NAME_MAP_EXISTS: /* a record has no member twice */
            return error_set(e, WNNStatus_TypeError, "%s is given twice", what);
        case NAME_MAP_OUT_OF_MEMORY:
            return error_out_of_memory(e);
        }
        if (!builder_check_operand(b, outputs[i].operand, what, e))
            return false;
        if (outputs[i].operand->value->kind != VALUE_RESULT)
            return error_set(e, WNNStatus_TypeError, "%s is %s; an identity operator can stand between", what,
                             outputs[i].operand->value->kind == VALUE_INPUT ? "an input" : "a constant");
        if (!dtype_is_port(outputs[i].operand->type.type))
            return error_set(e, WNNStatus_TypeError, "%s is of %s, which cast makes float32 of", what,
                             dtype_name(outputs[i].operand->type.type));
    }
    return true;
}

/** Marks what the outputs are computed from.  Returns NULL if memory runs out. */
static uint8_t *mark_reachable(const struct graph *g, size_t count, WNNNamedOperand const *outputs)
{
    uint8_t *marks = calloc(g->value_count ? g->value_count : 1, 1);

    if (!marks)
        return NULL;
    for (size_t i = 0; i < count; i++)
        marks[outputs[i].operand->value->index] = 1;
    for (struct node *n = g->last; n; n = n->prev) {
        bool reachable = false;

        for (uint32_t i = 0; i < n->result_count; i++)
            reachable |= marks[n->results[i]->index];
        for (uint32_t i = 0; reachable && i < n->input_count; i++)
            if (n->inputs[i].value)
                marks[n->inputs[i].value->index] = 1;
    }
    return marks;
}

static bool check_constant_tensors(WNNGraphBuilder b, const uint8_t *marks, struct error *e)
{
    for (struct constant_tensor *t = b->constant_tensors; t; t = t->next)
        if (marks[t->value->index] && runtime_tensor_is_destroyed(t->tensor))
            return error_set(e, WNNStatus_TypeError, "build: the tensor of a constant has been destroyed");
    return true;
}

static bool add_outputs(struct graph *g, size_t count, WNNNamedOperand const *outputs, struct error *e)
{
    for (size_t i = 0; i < count; i++)
        if (!graph_add_output(g, outputs[i].name.data, view_length(outputs[i].name), outputs[i].operand->value)) {
            while (g->output_count) /* as it was: the caller may try again */
                g->outputs[--g->output_count].value->output_uses--;
            g->outputs = NULL;
            return error_out_of_memory(e);
        }
    return true;
}

/**
 * Leaves what the outputs need: the graph's inputs are, by the specification, those reachable from the outputs, and no pass may
 * change which these are.
 */
static void drop_unreachable(struct graph *g, const uint8_t *marks)
{
    uint32_t kept = 0;

    for (struct node *n = g->last, *prev; n; n = prev) {
        bool reachable = false;

        prev = n->prev;
        for (uint32_t i = 0; i < n->result_count; i++)
            reachable |= marks[n->results[i]->index];
        if (!reachable)
            node_remove(n);
    }
    for (uint32_t i = 0; i < g->input_count; i++)
        if (marks[g->inputs[i]->index])
            g->inputs[kept++] = g->inputs[i];
    g->input_count = kept;
}

struct graph *builder_take_graph(WNNGraphBuilder b, size_t count, WNNNamedOperand const *outputs, struct error *e)
{
    struct name_map names = {0};
    struct graph *g = NULL;
    uint8_t *marks = NULL;

    if (!builder_can_build(b, "build", e))
        return NULL;
    if (b->loop)
        return error_null(e, WNNStatus_TypeError, "build: a loop has begun and not ended");
    if (check_outputs(b, count, outputs, &names, e)) {
        marks = mark_reachable(b->graph, count, outputs);
        if (!marks)
            error_out_of_memory(e);
        else if (check_constant_tensors(b, marks, e) && builder_check_states(b, marks, count, outputs, e) &&
                 add_outputs(b->graph, count, outputs, e)) {
            g = b->graph;
            builder_add_states(b, g);
            drop_unreachable(g, marks);
            b->graph = NULL;
            b->has_built = true;
            if (!graph_check_groups(g, e)) {
                graph_free(g);
                g = NULL;
            }
        }
    }
    free(marks);
    name_map_free(&names);
    return g;
}

WNNStatus wnnGraphBuilderBuild(WNNGraphBuilder b, size_t outputCount, WNNNamedOperand const *outputs, WNNGraph *graph)
{
    struct error e = {0};

    if (!b || !graph) {
        error_set(&e, WNNStatus_TypeError, "build: %s is NULL", b ? "graph" : "builder");
        builder_fail(b, &e);
        return e.status;
    }
    *graph = NULL;
    struct graph *g = builder_take_graph(b, outputCount, outputs, &e);
    WNNStatus status = g ? runtime_build(b->context, g, graph, &e) : e.status;
    if (status != WNNStatus_Success)
        builder_fail(b, &e);
    return status;
}

WNNFuture wnnGraphBuilderBuildAsync(WNNGraphBuilder b, size_t outputCount, WNNNamedOperand const *outputs,
                                    WNNBuildCallbackInfo callbackInfo)
{
    struct error e = {0};

    if (!b) {
        builder_missing("build");
        if (callbackInfo.callback) /* no context to wait in: it reports at once */
            callbackInfo.callback(WNNStatus_TypeError, NULL, wnnGetLastErrorMessage(), callbackInfo.userdata1,
                                  callbackInfo.userdata2);
        return (WNNFuture){0};
    }
    struct graph *g = builder_take_graph(b, outputCount, outputs, &e);
    if (g)
        return runtime_build_async(b->context, g, callbackInfo);
    builder_fail(b, &e);
    return runtime_build_failed(b->context, &e, callbackInfo);
}
