/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A conformance case through the public API: wnnGraphBuilder... methods called by name, wnnGraphBuilderBuild, wnnGraphCompute.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance.h"
#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "webnn/webnn_call.h"

struct names {
    const char *name;
    WNNOperand operand;
    struct names *next;
};

struct building {
    struct test *test;
    WNNGraphBuilder builder;
    struct names *names;
    struct error *error;
};

/** An error with what the library says of it. */
static bool library_error(struct error *e, WNNStatus status, const char *what, WNNStringView message)
{
    if (!message.data)
        message = WNN_STR("");
    return error_set(e, status ? status : WNNStatus_UnknownError, "%s: %.*s", what,
                     (int)(message.length == WNN_STRLEN ? strlen(message.data) : message.length), message.data);
}

static bool builder_error(struct building *b, const char *what)
{
    WNNStringView message = WNN_STRING_VIEW_INIT;
    WNNStatus status = wnnGraphBuilderGetError(b->builder, &message);

    return library_error(b->error, status, what, status == WNNStatus_Success ? wnnGetLastErrorMessage() : message);
}

static bool define(struct building *b, const char *name, WNNOperand operand)
{
    struct names *n = arena_alloc(&b->test->memory, sizeof *n);

    if (!n)
        return error_out_of_memory(b->error);
    if (!operand || wnnOperandIsError(operand))
        return builder_error(b, name);
    *n = (struct names){name, operand, b->names};
    b->names = n;
    return true;
}

static WNNOperand lookup(const struct building *b, const char *name)
{
    for (struct names *n = b->names; n; n = n->next)
        if (!strcmp(n->name, name))
            return n->operand;
    return NULL;
}

/** A JSON value as the call takes it: strings are operands if there is one of that name, else numbers or names. */
static bool value_read(struct building *b, const cJSON *json, WNNMethodValue *v)
{
    WNNNumber number;

    if (cJSON_IsBool(json)) {
        *v = wnnMethodValueBool(cJSON_IsTrue(json));
    } else if (cJSON_IsString(json) && lookup(b, json->valuestring)) {
        *v = wnnMethodValueOperand(lookup(b, json->valuestring));
    } else if (number_read(json, &number)) {
        *v = wnnMethodValueNumber(number);
    } else if (cJSON_IsString(json)) {
        *v = wnnMethodValueString(WNN_STR(json->valuestring));
    } else if (cJSON_IsArray(json)) {
        size_t count = (size_t)cJSON_GetArraySize(json), i = 0;
        WNNMethodValue *items = arena_array(&b->test->memory, count + 1, sizeof *items);
        const cJSON *item;
        if (!items)
            return error_out_of_memory(b->error);
        cJSON_ArrayForEach(item, json) if (!value_read(b, item, &items[i++])) return false;
        *v = wnnMethodValueList(count, items);
    } else {
        return test_error(b->error, "value cannot be read", json->string ? json->string : "(in a list)");
    }
    return true;
}

static bool call_operator(struct building *b, WNNMethodCall call, const cJSON *json)
{
    const cJSON *argument, *item, *outputs = cJSON_GetObjectItemCaseSensitive(json, "outputs");
    WNNMethodValue value;
    size_t place = 0;

    cJSON_ArrayForEach(argument, cJSON_GetObjectItemCaseSensitive(json, "arguments"))
    {
        const cJSON *given = argument->child;
        if (strcmp(given->string, "options")) {
            if (!value_read(b, given, &value))
                return false;
            if (wnnMethodCallArgument(call, place++, value))
                return test_error(b->error, "argument refused", given->string);
            continue;
        }
        cJSON_ArrayForEach(item, given)
        {
            if (!value_read(b, item, &value))
                return false;
            if (wnnMethodCallOption(call, WNN_STR(item->string), value, false))
                return test_error(b->error, "option refused", item->string);
        }
    }
    if (wnnMethodCallInvoke(call, b->builder))
        return builder_error(b, "call refused");
    if (cJSON_IsString(outputs))
        return define(b, outputs->valuestring, wnnMethodCallResult(call, 0));
    size_t i = 0;
    cJSON_ArrayForEach(item, outputs)
    {
        if (i >= wnnMethodCallResultCount(call))
            return test_error(b->error, "output that the method does not return", item->valuestring);
        if (!define(b, item->valuestring, wnnMethodCallResult(call, i++)))
            return false;
    }
    return true;
}

static bool add_operator(struct building *b, const cJSON *json)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
    WNNMethodCall call = name ? wnnMethodCallCreate(WNN_STR(name)) : NULL;

    if (!call)
        return test_error(b->error, "no such operator", name ? name : "(no name)");
    bool ok = call_operator(b, call, json);
    wnnMethodCallDestroy(call);
    return ok;
}

/** Names the dimensions of an input, such as "x.1" for the second one. */
static const WNNDimension *dimension_names(struct test *t, const struct operand *o)
{
    WNNDimension *dimensions = arena_array(&t->memory, RANK_MAX, sizeof *dimensions);
    char text[128];

    for (uint32_t i = 0; dimensions && i < o->type.rank; i++) {
        snprintf(text, sizeof text, "%.100s.%u", o->name, i);
        dimensions[i].name = WNN_STR(arena_string(&t->memory, text, strlen(text)));
    }
    return dimensions;
}

static bool add_input(struct building *b, const struct operand *o)
{
    WNNOperandDescriptor descriptor = {o->type.type, o->type.rank, o->type.dims,
                                       b->test->named && !o->constant ? dimension_names(b->test, o) : NULL};
    WNNOperand operand = o->constant ? wnnGraphBuilderConstant(b->builder, &descriptor, o->data, (size_t)type_bytes(&o->type))
                                     : wnnGraphBuilderInput(b->builder, WNN_STR(o->name), &descriptor);

    return define(b, o->name, operand);
}

static bool check_output(struct building *b, const struct operand *o, WNNOperand operand)
{
    struct tensor_type type = {.type = operand ? wnnOperandGetDataType(operand) : WNNOperandDataType_Undefined};
    char have[128], want[128];

    if (!operand)
        return test_error(b->error, "no such output", o->name);
    type.rank = (uint32_t)wnnOperandGetRank(operand);
    if (type.rank)
        memcpy(type.dims, wnnOperandGetShape(operand), type.rank * sizeof *type.dims);
    for (uint32_t i = 0; i < type.rank && type.rank == o->type.rank; i++)
        if (wnnOperandGetDimensionName(operand, i).length)
            type.dims[i] = o->type.dims[i];
    if (!type_equal(&type, &o->type))
        return error_set(b->error, WNNStatus_DataError, "output \"%s\" is %s, expected %s", o->name,
                         type_print(have, sizeof have, &type), type_print(want, sizeof want, &o->type));
    return true;
}

static bool build(struct building *b, WNNGraph *graph)
{
    struct test *t = b->test;
    WNNNamedOperand *outputs = arena_array(&t->memory, t->output_count + 1, sizeof *outputs);
    const cJSON *json;

    if (!outputs)
        return error_out_of_memory(b->error);
    for (uint32_t i = 0; i < t->input_count; i++)
        if (!add_input(b, &t->inputs[i]))
            return false;
    cJSON_ArrayForEach(json, t->operators) if (!add_operator(b, json)) return false;
    for (uint32_t i = 0; i < t->output_count; i++) {
        outputs[i] = (WNNNamedOperand){WNN_STR(t->outputs[i].name), lookup(b, t->outputs[i].name)};
        if (!check_output(b, &t->outputs[i], outputs[i].operand))
            return false;
    }
    return wnnGraphBuilderBuild(b->builder, t->output_count, outputs, graph) == WNNStatus_Success || builder_error(b, "build");
}

/** Asks for the outputs' shapes if the inputs have those of the case, and computes with the sizes of the names. */
static bool compute_named(struct test *t, WNNGraph graph, size_t count, const WNNNamedBuffer *inputs,
                          const WNNNamedBuffer *outputs, struct error *e)
{
    WNNNamedShape *in = arena_array(&t->memory, count + 1, sizeof *in),
                  *out = arena_array(&t->memory, t->output_count + 1, sizeof *out);
    WNNNamedSize *sizes = arena_array(&t->memory, count * RANK_MAX + 1, sizeof *sizes);
    size_t known = 0;

    if (!in || !out || !sizes)
        return error_out_of_memory(e);
    for (size_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < t->input_count; i++) {
            const struct operand *o = &t->inputs[i];

            if (inputs[k].data != o->data)
                continue;
            in[k] = (WNNNamedShape){inputs[k].name, o->type.rank, {0}};
            memcpy(in[k].shape, o->type.dims, o->type.rank * sizeof *o->type.dims);
            const WNNDimension *names = dimension_names(t, o);
            for (uint32_t d = 0; names && d < o->type.rank; d++)
                sizes[known++] = (WNNNamedSize){names[d].name, o->type.dims[d]};
        }
    if (wnnGraphComputeShapes(graph, count, in, t->output_count, out))
        return library_error(e, WNNStatus_UnknownError, "computeShapes", wnnGetLastErrorMessage());
    for (uint32_t i = 0; i < t->output_count; i++)
        if (out[i].rank != t->outputs[i].type.rank ||
            memcmp(out[i].shape, t->outputs[i].type.dims, out[i].rank * sizeof *out[i].shape) != 0)
            return test_error(e, "computeShapes says another shape", t->outputs[i].name);
    WNNStatus status = wnnGraphComputeSized(graph, known, sizes, count, inputs, t->output_count, outputs, NULL);
    return status == WNNStatus_Success || library_error(e, status, "compute", wnnGetLastErrorMessage());
}

/** Computes the same with the graph that a file of this one gives, whose outputs are those that are checked. */
static bool compute_loaded(struct test *t, WNNGraph graph, size_t count, const WNNNamedBuffer *inputs,
                           const WNNNamedBuffer *outputs, struct error *e)
{
    char path[] = "/tmp/webnn-named-XXXXXX";
    const int file = mkstemp(path);
    WNNGraph loaded = NULL;
    WNNStatus status = file < 0 ? WNNStatus_UnknownError : wnnGraphSave(graph, path);

    status = status ? status : wnnContextLoadGraph(graph->context, path, &loaded);
    if (status)
        library_error(e, status, "saving and loading", wnnGetLastErrorMessage());
    for (uint32_t i = 0; !status && i < t->output_count; i++)
        memset(outputs[i].data, 0xA5, outputs[i].byteLength);
    const bool ok = !status && compute_named(t, loaded, count, inputs, outputs, e);
    wnnGraphRelease(loaded);
    close(file);
    unlink(path);
    return ok;
}

static bool compute(struct test *t, WNNGraph graph, struct error *e)
{
    const size_t count = wnnGraphGetInputCount(graph); /* a case may have inputs that its outputs do not depend on */
    WNNNamedBuffer *inputs = arena_array(&t->memory, count + 1, sizeof *inputs);
    WNNNamedBuffer *outputs = arena_array(&t->memory, t->output_count + 1, sizeof *outputs);

    if (!inputs || !outputs)
        return error_out_of_memory(e);
    for (size_t k = 0; k < count; k++) {
        WNNNamedOperandDescriptor input;
        if (wnnGraphGetInput(graph, k, &input))
            return library_error(e, WNNStatus_UnknownError, "wnnGraphGetInput", wnnGetLastErrorMessage());
        for (uint32_t i = 0; i < t->input_count; i++)
            if (!t->inputs[i].constant && strlen(t->inputs[i].name) == input.name.length &&
                !memcmp(t->inputs[i].name, input.name.data, input.name.length))
                inputs[k] = (WNNNamedBuffer){input.name, t->inputs[i].data, (size_t)type_bytes(&t->inputs[i].type)};
    }
    for (uint32_t i = 0; i < t->output_count; i++)
        outputs[i] = (WNNNamedBuffer){WNN_STR(t->outputs[i].name), t->outputs[i].data, (size_t)type_bytes(&t->outputs[i].type)};
    if (graph->variants)
        return compute_named(t, graph, count, inputs, outputs, e) && compute_loaded(t, graph, count, inputs, outputs, e);
    WNNStatus status = wnnGraphCompute(graph, count, inputs, t->output_count, outputs);
    return status == WNNStatus_Success || library_error(e, status, "compute", wnnGetLastErrorMessage());
}

/* ---- engines ---- */

static bool wants_gpu(void)
{
    const char *engine = getenv("WEBNN_ENGINE");

    return engine && !strncmp(engine, "gpu", 3);
}

bool engine_is_there(void)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context = NULL;
    const WNNStatus status = wants_gpu() ? wnnCreateContext(&options, &context) : WNNStatus_Success;

    if (context)
        wnnContextRelease(context);
    if (status == WNNStatus_NotSupportedError)
        printf("skipped: %s\n", wnnGetLastErrorMessage().data);
    return status != WNNStatus_NotSupportedError;
}

static uint32_t steps_on_device, steps_on_processor;

/* The engine that has loaded a graph runs all of its steps. */
static bool count_steps(WNNGraph graph, struct error *e)
{
    const struct engine_functions *functions = graph->context->engine->functions;
    const bool device = !strcmp(functions->name, "opencl");
    struct executable_facts facts;

    if (graph->variants)
        return true;
    functions->optional.tools->facts(graph->executable, &facts);
    if (device)
        steps_on_device += facts.step_count;
    else
        steps_on_processor += facts.step_count;
    return device || !wants_gpu() ||
           error_set(e, WNNStatus_OperationError, "%u steps are the engine's %s, not the GPU's", facts.step_count,
                     functions->name);
}

void print_steps(void)
{
    printf("steps: %u on a device of OpenCL's, %u on the processor\n", steps_on_device, steps_on_processor);
}

bool run_engine(struct test *t, const char *debug, struct error *e)
{
    struct building b = {.test = t, .error = e};
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context = NULL;
    WNNGraph graph = NULL;

    if (debug)
        options.debug = WNN_STR(debug);
    WNNStatus status = wnnCreateContext(&options, &context);
    if (status)
        return library_error(e, status, "context", wnnGetLastErrorMessage());
    bool ok = wnnContextCreateGraphBuilder(context, &b.builder) == WNNStatus_Success ||
              error_set(e, WNNStatus_UnknownError, "builder refused");
    ok = ok && build(&b, &graph) && count_steps(graph, e) && compute(t, graph, e);
    wnnGraphRelease(graph);
    if (b.builder)
        wnnGraphBuilderRelease(b.builder);
    wnnContextRelease(context);
    return ok;
}
