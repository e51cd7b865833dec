/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A sample through the public API: operators by name with the attributes that their rows list, build, compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webnn/webnn_call.h"
#include "random.h"
#include "runtime/api/context.h"
#include "runtime/engine/cpu/engine_cpu.h"
#include "runtime/engine/null/engine_null.h"
#include "support/scoped.h"

static void error_add(struct error *e, WNNStatus status, const char *what)
{
    WNNStringView text = wnnGetLastErrorMessage();
    size_t length = !text.data ? 0 : text.length == WNN_STRLEN ? strlen(text.data) : text.length;

    error_set(e, status ? status : WNNStatus_UnknownError, "%s: %.*s", what, (int)length, length ? text.data : "");
}

static WNNContext new_context(const WNNContextOptions *options, engine_create_function create, const char *name)
{
    WNNContext context;

    WNNStatus status = context_create(options, create, &context);
    if (status == WNNStatus_NotSupportedError && options->engine == WNNEngine_Gpu) {
        printf("skipped: %.*s\n", (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
        exit(77);
    }
    if (status != WNNStatus_Success) {
        struct error e = {0};
        error_add(&e, WNNStatus_UnknownError, name);
        random_die(e.message);
    }
    return context;
}

void variant_init(struct variant *v, const char *name)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    engine_create_function create = engine_cpu_create;
    char debug[sizeof v->name + 32] = "verify", list[sizeof v->name];

    *v = (struct variant){.epilogues = true, .threads = 1};
    if (strlen(name) >= sizeof v->name)
        random_die("the variant's name is too long");
    strcpy(v->name, name);
    strcpy(list, name);
    for (char *item = strtok(list, ","); item; item = strtok(NULL, ",")) {
        if (!strncmp(item, "threads=", 8)) {
            v->threads = (uint32_t)atoi(item + 8);
        } else if (!strcmp(item, "deterministic")) {
            options.deterministic = true;
            v->epilogues = false;
        } else if (!strcmp(item, "named")) {
            v->named = true;
        } else if (!strcmp(item, "engine=null")) {
            create = engine_null_create;
            v->epilogues = false;
        } else if (!strcmp(item, "engine=gpu")) {
            create = NULL;
            options.engine = WNNEngine_Gpu;
            v->epilogues = false;
        } else if (strcmp(item, "default")) {
            strcat(strcat(debug, ","), item);
            v->epilogues &= strcmp(item, "no-library") && strcmp(item, "no-passes") && strcmp(item, "skip=fuse-epilogues");
        }
    }
#ifdef WEBNN_SANITIZE
    strcat(debug, ",sanitize");
#endif
    options.threadCount = v->threads;
    options.debug = WNN_STR(debug + (v->named ? 6 + (debug[6] == ',') : 0)); /* with "verify" nothing is planned */
    v->context = new_context(&options, create, v->name);
    for (uint32_t i = 0; options.deterministic && i < VARIANT_THREADS - 1; i++) {
        options.threadCount = i + 2;
        v->others[i] = new_context(&options, create, v->name);
    }
}

void variant_release(struct variant *v)
{
    wnnContextRelease(v->context);
    v->context = NULL;
    for (uint32_t i = 0; i < VARIANT_THREADS - 1; i++)
        wnnContextRelease(v->others[i]);
}

/* ---- building ---- */

static WNNStringView item_name(const struct attr_info *a, const void *at)
{
    uint32_t u;

    memcpy(&u, at, sizeof u);
    return WNN_STR(a->kind == ATTR_DATA_TYPE ? dtype_name((dtype)u) : enum_value_name(a->enumeration, u));
}

/* One number, flag or name, or one item of a list. */
static WNNMethodValue item_value(const struct attr_info *a, const void *at)
{
    uint32_t u;
    int32_t i;
    double f;
    float f32;
    bool b;
    WNNNumber n;

    switch (a->kind) {
    case ATTR_U32:
    case ATTR_U32_LIST:
        memcpy(&u, at, sizeof u);
        return wnnMethodValueNumber(wnnNumber(u));
    case ATTR_I32:
        memcpy(&i, at, sizeof i);
        return wnnMethodValueNumber(wnnNumber(i));
    case ATTR_F64:
        memcpy(&f, at, sizeof f);
        if (isinf(f)) /* the method's cast made it so of a finite number: infinite ones are refused */
            f = copysign(1e300, f);
        return wnnMethodValueNumber(wnnNumber(f));
    case ATTR_F32_LIST:
        memcpy(&f32, at, sizeof f32);
        return wnnMethodValueNumber(wnnNumber((double)f32));
    case ATTR_BOOL:
        memcpy(&b, at, sizeof b);
        return wnnMethodValueBool(b);
    case ATTR_NUMBER:
        memcpy(&n, at, sizeof n);
        return wnnMethodValueNumber(n);
    case ATTR_DATA_TYPE:
    case ATTR_ENUM:
    case ATTR_ENUM_LIST:
        return wnnMethodValueString(item_name(a, at));
    case ATTR_NONE:
        break;
    }
    return (WNNMethodValue){WNNMethodValueKind_None, {NULL}};
}

/* Returns a number of iterations, or 0 if the slices have a name for it. */
static uint32_t unless_named(uint32_t iterations, WNNOperand slices)
{
    return wnnOperandGetDimensionName(slices, 0).length ? 0 : iterations;
}

static WNNStatus set_attr(WNNMethodCall call, const struct attr_info *a, const struct node *n, const WNNOperand *operands,
                          size_t *place)
{
    const char *at = attr_value(a, n->options, &n->args);
    size_t count = attr_count(a, n->options, &n->args);
    WNNMethodValue *items = random_alloc(count, sizeof *items), value;

    for (size_t i = 0; i < count; i++)
        items[i] = item_value(a, at + i * 4);
    if (!strcmp(a->name, "steps"))
        items[0] = wnnMethodValueNumber(wnnNumber(unless_named(n->args.lstm.steps, operands[n->inputs[0].value->index])));
    value = attr_is_list(a) ? wnnMethodValueList(count, items) : items[0];
    if (attr_is_list(a) && !at && !a->positional)
        value.kind = WNNMethodValueKind_None;
    WNNStatus status = a->positional ? wnnMethodCallArgument(call, (*place)++, value)
                                     : wnnMethodCallOption(call, WNN_STR(a->name), value, false);
    free(items);
    return status;
}

static WNNStatus set_operands(WNNMethodCall call, const struct node *n, const WNNOperand *operands, size_t *place)
{
    const struct op_info *info = &op_infos[n->op];
    OWNED(memory) WNNMethodValue *items = random_alloc(n->input_count, sizeof *items);
    WNNStatus status = WNNStatus_Success;

    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value)
            items[i] = wnnMethodValueOperand(operands[n->inputs[i].value->index]);
    if (info->flags & OPF_VARIADIC)
        status = wnnMethodCallArgument(call, (*place)++, wnnMethodValueList(n->input_count, items));
    for (uint32_t i = 0; !status && !(info->flags & OPF_VARIADIC) && i < n->input_count; i++) {
        if (!info->ins[i].optional)
            status = wnnMethodCallArgument(call, (*place)++, items[i]);
        else if (n->inputs[i].value)
            status = wnnMethodCallOption(call, WNN_STR(info->ins[i].name), items[i], false);
    }
    return status;
}

static bool call_node(WNNGraphBuilder builder, const struct node *n, WNNOperand *operands, struct error *e)
{
    if (n->op == OP_CAST && dtype_packed_bits(n->inputs[0].value->type.type)) { /* make_constant has made it */
        operands[n->results[0]->index] = operands[n->inputs[0].value->index];
        return true;
    }
    if (n->op == OP_CAST && n->results[0]->type.type == DTYPE_FLOAT64) { /* which no other method makes */
        operands[n->results[0]->index] = wnnGraphBuilderCastToFloat64(builder, operands[n->inputs[0].value->index], NULL);
        return true;
    }
    OWNED(call) WNNMethodCall call = wnnMethodCallCreate(WNN_STR(op_infos[n->op].name));
    size_t place = 0;

    if (!call)
        random_die("wnnMethodCallCreate");
    WNNStatus status = set_operands(call, n, operands, &place);
    for (const struct attr_info *a = op_infos[n->op].attrs; !status && a->kind != ATTR_NONE; a++)
        status = set_attr(call, a, n, operands, &place);
    if (!status)
        status = wnnMethodCallOption(call, WNN_STR("label"), wnnMethodValueString(WNN_STR(n->label)), false);
    if (!status)
        status = wnnMethodCallInvoke(call, builder);
    if (!status && wnnMethodCallResultCount(call) != n->result_count)
        error_set(e, WNNStatus_UnknownError, "%s returns %zu operands", op_infos[n->op].name, wnnMethodCallResultCount(call));
    for (uint32_t i = 0; !status && !e->status && i < n->result_count; i++)
        operands[n->results[i]->index] = wnnMethodCallResult(call, i);
    if (status)
        error_add(e, status, op_infos[n->op].name);
    return !e->status;
}

static bool has_dims(WNNOperand operand, const struct tensor_type *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        if (!wnnOperandGetDimensionName(operand, i).length && wnnOperandGetShape(operand)[i] != t->dims[i])
            return false;
    return true;
}

static bool same_type(WNNOperand operand, const struct tensor_type *t)
{
    return wnnOperandGetDataType(operand) == t->type && wnnOperandGetRank(operand) == t->rank && has_dims(operand, t);
}

static void free_lent(void const *data, size_t bytes, void *block, void *unused)
{
    free(block);
}

/* Makes a constant of a value's data.  Every other one is lent at an odd address, as the weights of mapped files are.  Packed
 * numbers become the operand of uint8 that the builder makes of them, which is what the cast after them gives. */
static WNNOperand make_constant(WNNGraphBuilder builder, const struct value *v, const void *data)
{
    const uint32_t bits = dtype_packed_bits(v->type.type);
    const WNNOperandDescriptor descriptor = {bits ? WNNOperandDataType_Uint8 : v->type.type, v->type.rank, v->type.dims, NULL};
    const size_t bytes = (size_t)type_bytes(&v->type);

    if (v->index % 2 == 0 && !bits)
        return wnnGraphBuilderConstant(builder, &descriptor, data, bytes);
    char *block = random_alloc(bytes + 1, 1);
    memcpy(block + 1, data, bytes);
    const WNNBufferReleaseCallbackInfo release = {free_lent, block, NULL};
    return bits ? wnnGraphBuilderConstantPackedLent(builder, &descriptor, bits, block + 1,
                                                    ((size_t)type_elements(&v->type) * bits + 7) / 8, release)
                : wnnGraphBuilderConstantLent(builder, &descriptor, block + 1, bytes, release);
}

static bool call_nodes(WNNGraphBuilder builder, const struct graph *g, WNNOperand *operands, struct error *e);

/* Calls what builds the loop n. */
static bool call_loop(WNNGraphBuilder builder, const struct node *n, WNNOperand *operands, struct error *e)
{
    const struct loop_body *l = n->args.loop.body;
    const struct graph *body = l->graph;
    const uint32_t parameter_count = l->carried + l->scanned;
    OWNED(memory) WNNOperand *inner = random_alloc(body->value_count, sizeof *inner);
    WNNOperand *ends = random_alloc(parameter_count + n->result_count, sizeof *ends); /* of the loop, on either side */
    OWNED(memory) WNNLoopSlices *slices = random_alloc(l->scanned + l->stacked, sizeof *slices);

    for (uint32_t i = 0; i < n->input_count; i++) {
        WNNOperand operand = operands[n->inputs[i].value->index];
        if (i < l->carried)
            ends[i] = operand;
        else if (i < parameter_count)
            slices[i - l->carried] = (WNNLoopSlices){operand, 0, l->scanned_backward[i - l->carried]};
        else
            inner[body->inputs[i]->index] = operand;
    }
    OWNED(memory) WNNOperand *parameters = random_alloc(parameter_count, sizeof *parameters);
    const uint32_t iterations = l->scanned ? unless_named(l->iterations, slices[0].operand) : l->iterations;
    WNNStatus status = wnnGraphBuilderBeginLoop(builder, iterations, l->carried, ends, l->scanned, slices, parameters);
    for (uint32_t i = 0; !status && i < parameter_count; i++)
        inner[body->inputs[i]->index] = parameters[i];
    for (const struct value *v = body->first_constant; !status && v; v = v->next_constant)
        inner[v->index] = make_constant(builder, v, v->constant->data);
    if (!status && call_nodes(builder, body, inner, e)) {
        for (uint32_t i = 0; i < body->output_count; i++) {
            WNNOperand result = inner[body->outputs[i].value->index];
            if (i < l->carried)
                ends[i] = result;
            else
                slices[i - l->carried] = (WNNLoopSlices){result, 0, l->stacked_backward[i - l->carried]};
        }
        WNNOperand *results = ends + parameter_count;
        status = wnnGraphBuilderEndLoop(builder, WNN_STR(n->label), l->carried, ends, l->stacked, slices, results);
        for (uint32_t i = 0; i < n->result_count; i++)
            operands[n->results[i]->index] = results[i];
    }
    if (status)
        error_add(e, status, "loop");
    free(ends);
    return !e->status;
}

static bool call_nodes(WNNGraphBuilder builder, const struct graph *g, WNNOperand *operands, struct error *e)
{
    graph_for_each (g, n) {
        if (n->op == OP_LOOP ? !call_loop(builder, n, operands, e) : !call_node(builder, n, operands, e))
            return false;
        for (uint32_t i = 0; i < n->result_count; i++)
            if (!same_type(operands[n->results[i]->index], &n->results[i]->type))
                return error_set(e, WNNStatus_UnknownError, "%s: the builder infers another type", op_infos[n->op].name);
    }
    return true;
}

/* Numbers of elements have a name in the samples that are built so. */
enum { NAMED_MAX = 64 };

/* The names that the inputs of a sample have, and their sizes. */
struct names {
    bool used;
    char text[NAMED_MAX][16];
    WNNNamedSize sizes[NAMED_MAX];
    uint32_t count;
};

/* Names the dimensions of a floating-point input. */
static void name_dimensions(struct names *names, const struct tensor_type *t, WNNDimension dimensions[RANK_MAX])
{
    for (uint32_t d = 0; d < t->rank; d++) {
        uint32_t i = 0;

        while (i < names->count && names->sizes[i].size != t->dims[d])
            i++;
        if (i == NAMED_MAX)
            continue;
        snprintf(names->text[i], sizeof names->text[i], "s%u", t->dims[d]);
        names->sizes[i] = (WNNNamedSize){WNN_STR(names->text[i]), t->dims[d]};
        names->count += i == names->count;
        dimensions[d].name = names->sizes[i].name;
    }
}

static bool build(WNNGraphBuilder builder, const struct sample *s, WNNOperand *operands, struct names *names, WNNGraph *graph,
                  struct error *e)
{
    const struct graph *g = s->g;

    for (uint32_t i = 0; i < g->input_count; i++) {
        const struct value *v = g->inputs[i];
        WNNDimension dimensions[RANK_MAX] = {0};
        WNNOperandDescriptor descriptor = {v->type.type, v->type.rank, v->type.dims, dimensions};

        if (names->used && (v->type.type == WNNOperandDataType_Float32 || v->type.type == WNNOperandDataType_Float16))
            name_dimensions(names, &v->type, dimensions);
        operands[v->index] = wnnGraphBuilderInput(builder, WNN_STR(v->name), &descriptor);
    }
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        operands[v->index] = make_constant(builder, v, s->data[v->index]);
    if (!call_nodes(builder, g, operands, e))
        return false;
    OWNED(memory) WNNNamedOperand *outputs = random_alloc(g->output_count, sizeof *outputs);
    for (uint32_t i = 0; i < g->output_count; i++)
        outputs[i] = (WNNNamedOperand){WNN_STR(g->outputs[i].name), operands[g->outputs[i].value->index]};
    WNNStatus status = wnnGraphBuilderBuild(builder, g->output_count, outputs, graph);
    if (status)
        error_add(e, status, "build");
    return !status;
}

/* ---- computing ---- */

/* Whether an output depends on v: only such inputs are inputs of the built graph. */
static bool is_reached(const struct value *v)
{
    if (v->output_uses)
        return true;
    value_for_each_use (v, u) {
        for (uint32_t i = 0; i < u->node->result_count; i++)
            if (is_reached(u->node->results[i]))
                return true;
    }
    return false;
}

/* Buffers of exactly the right size, so that sanitizers see what goes beyond. */
static bool compute(WNNGraph graph, const struct sample *s, const struct names *names, void **outputs, struct error *e)
{
    const struct graph *g = s->g;
    OWNED(memory) WNNNamedBuffer *in = random_alloc(g->input_count, sizeof *in),
                                 *out = random_alloc(g->output_count, sizeof *out);
    size_t count = 0;

    for (uint32_t i = 0; i < g->input_count; i++) {
        const struct value *v = g->inputs[i];
        if (is_reached(v))
            in[count++] = (WNNNamedBuffer){WNN_STR(v->name), s->data[v->index], (size_t)type_bytes(&v->type)};
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        out[i] = (WNNNamedBuffer){WNN_STR(g->outputs[i].name), outputs[i], (size_t)type_bytes(&g->outputs[i].value->type)};
        memset(outputs[i], 0xA5, out[i].byteLength); /* unwritten elements show */
    }
    WNNStatus status = wnnGraphComputeSized(graph, names->count, names->sizes, count, in, g->output_count, out, NULL);
    if (status)
        error_add(e, status, "compute");
    return !status;
}

/* Returns whether graph computes the same bits; when says of what kind the repetition is. */
static bool compute_again(WNNGraph graph, const struct sample *s, const struct names *names, void **outputs, const char *when,
                          struct error *e)
{
    const struct graph *g = s->g;
    void **again = random_alloc(g->output_count, sizeof *again);

    for (uint32_t i = 0; i < g->output_count; i++)
        again[i] = random_alloc((size_t)type_bytes(&g->outputs[i].value->type), 1);
    bool good = compute(graph, s, names, again, e);
    for (uint32_t i = 0; i < g->output_count; i++) {
        if (good && memcmp(outputs[i], again[i], (size_t)type_bytes(&g->outputs[i].value->type)))
            good = error_set(e, WNNStatus_UnknownError, "output %s differs when computed %s", g->outputs[i].name, when);
        free(again[i]);
    }
    free(again);
    return good;
}

/* Plans a graph for some other sizes of one class, if it can have them, so that the computation is by a plan. */
static void plan_others(WNNGraph graph, const struct names *names)
{
    enum { OTHERS = 10, FEW_LEAST = 2, FEW_MOST = 15 };

    for (uint32_t i = 0; i < OTHERS && names->count; i++) {
        WNNNamedSize sizes[NAMED_MAX];
        OWNED(compiled) WNNGraph other = NULL;

        memcpy(sizes, names->sizes, sizeof sizes);
        for (uint32_t k = 0; k < names->count; k++)
            if (sizes[k].size > FEW_MOST)
                sizes[k].size += 1 + (i * 7 + k * 3) % 11;
            else if (sizes[k].size >= FEW_LEAST)
                sizes[k].size = FEW_LEAST + (sizes[k].size + i * 5 + k * 3) % (FEW_MOST - FEW_LEAST + 1);
        if (wnnGraphGetVariant(graph, names->count, sizes, &other))
            return;
    }
}

/* Builds in a context and computes; the second time the arena holds what the first one left.  other: against `outputs`. */
static bool run_in(WNNContext context, const struct sample *s, bool named, void **outputs, bool other, struct error *e)
{
    struct names names = {.used = named};
    OWNED(memory) WNNOperand *operands = random_alloc(s->g->value_count, sizeof *operands);
    OWNED(builder) WNNGraphBuilder builder = NULL;
    WNNGraph graph = NULL;

    if (wnnContextCreateGraphBuilder(context, &builder) != WNNStatus_Success)
        random_die("no builder");
    bool good = build(builder, s, operands, &names, &graph, e);
    if (good)
        plan_others(graph, &names);
    good = good && (other || compute(graph, s, &names, outputs, e)) &&
           compute_again(graph, s, &names, outputs, other ? "with more threads" : "again", e);
    wnnGraphRelease(graph);
    return good;
}

bool engine_run(struct variant *v, const struct sample *s, void **outputs, struct error *e)
{
    bool good = run_in(v->context, s, v->named, outputs, false, e);

    for (uint32_t i = 0; good && i < VARIANT_THREADS - 1 && v->others[i]; i++)
        good = run_in(v->others[i], s, v->named, outputs, true, e);
    return good;
}
