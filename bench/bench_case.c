/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes builder calls of cases' text, and finds what they cost. */
#define _GNU_SOURCE /* asprintf */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "webnn/webnn_call.h"
#include "frontend/builder/builder.h"
#include "frontend/readers/files/file.h"
#include "ir/graph/ir.h"
#include "ir/support/array.h"
#include "ir/text/text.h"

/* ---- lists of cases ---- */

bool bench_cases_add(struct bench_cases *cases, const char *level, const char *name, char *text)
{
    struct bench_case *c;

    if (!array_extend(&cases->items, cases->count, sizeof *c)) {
        free(text);
        return false;
    }
    c = &cases->items[cases->count++];
    snprintf(c->level, sizeof c->level, "%s", level);
    snprintf(c->name, sizeof c->name, "%s", name);
    c->text = text;
    return true;
}

void bench_cases_free(struct bench_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        free(cases->items[i].text);
    free(cases->items);
    *cases = (struct bench_cases){0};
}

bool bench_cases_read(const char *path, struct bench_cases *cases, struct error *e)
{
    char *data, *line;
    size_t length;
    int number = 0;
    bool ok;

    if (!file_read(path, &data, &length, e))
        return false;
    ok = true;
    for (line = data; ok && *line; number++) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end, level[16], name[64], *text;
        int body = 0;

        *end = 0;
        if (*line && *line != '#') {
            text = NULL;
            if (sscanf(line, "%15s %63[^:]: %n", level, name, &body) != 2 || !body)
                ok = file_error(e, "%s:%d: not a line LEVEL NAME: GRAPH", path, number + 1);
            else if (asprintf(&text, "webnn_graph \"%s\" v1 { %s }", name, line + body) < 0 ||
                     !bench_cases_add(cases, level, name, text))
                ok = file_error(e, "out of memory");
        }
        line = next;
    }
    free(data);
    return ok;
}

/* ---- noise ---- */

void bench_noise(WNNOperandDataType type, size_t bytes, uint32_t seed, void *data)
{
    size_t n = bytes / dtype_size(type);
    uint32_t state = seed * 2654435761u + 12345;

    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        float f = (float)(int32_t)state / 2147483648.0f;

        switch ((int)type) {
        case WNNOperandDataType_Float32:
            ((float *)data)[i] = f;
            break;
        case WNNOperandDataType_Float16:
            ((uint16_t *)data)[i] = f32_to_f16(f);
            break;
        default:
            memset((char *)data + i * dtype_size(type), 0, dtype_size(type));
            ((char *)data)[i * dtype_size(type)] = (char)(state >> 31);
            break;
        }
    }
}

/** Fills a constant with noise over all of an 8-bit type. */
static void byte_noise(uint32_t seed, const struct constant *c)
{
    uint8_t *bytes = (uint8_t *)c->data;
    uint32_t state = seed * 2654435761u + 1;

    for (size_t i = 0; i < c->bytes; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(state >> 24);
    }
}

/** Makes @weights("n") uniform noise whose variance is 1 / n, so that activations of deep networks stay in range. */
static bool noise_lookup(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                         struct error *e)
{
    uint32_t *seed = user;
    struct constant *c = constant_create(NULL, (size_t)type_bytes(type));
    double variance = strtod(key, NULL);

    if (!c)
        return error_out_of_memory(e);
    if (dtype_size(type->type) == 1)
        byte_noise(++*seed, c);
    else
        bench_noise(type->type, c->bytes, ++*seed, (void *)c->data);
    if (type->type == WNNOperandDataType_Float32 && variance > 0)
        for (int64_t i = 0; i < type_elements(type); i++)
            ((float *)c->data)[i] *= (float)sqrt(3 / variance);
    *constant = c;
    return true;
}

struct graph *bench_case_parse(const struct bench_case *c, struct error *error)
{
    struct error e = {0};
    uint32_t seed = 0;
    struct graph *g = graph_parse(c->text, strlen(c->text), noise_lookup, &seed, &e);

    if (!g)
        file_error(error, "%s: %s", c->name, e.message);
    return g;
}

/* ---- builder calls ---- */

/** Holds operands of the graph's values while it is replayed, and scratch of the call that is being made. */
struct replay {
    WNNGraphBuilder builder;
    WNNOperand *operands; /* by value index */
    WNNMethodValue *items;
    size_t item_capacity;
};

static WNNMethodValue *replay_items(struct replay *r, size_t count)
{
    return array_reserve(NULL, &r->items, &r->item_capacity, count, sizeof *r->items) ? r->items : NULL;
}

static WNNMethodValue text_value(const char *text)
{
    return wnnMethodValueString((WNNStringView){text, strlen(text)});
}

static WNNStatus replay_attribute(struct replay *r, WNNMethodCall call, const struct attr_info *a, const struct node *n)
{
    const void *p = attr_value(a, n->options, &n->args);
    size_t count = attr_count(a, n->options, &n->args);
    WNNMethodValue v = {0};

    switch (a->kind) {
    case ATTR_NONE:
        return WNNStatus_Success;
    case ATTR_U32:
        v = wnnMethodValueNumber(wnnNumber(*(const uint32_t *)p));
        break;
    case ATTR_I32:
        v = wnnMethodValueNumber(wnnNumber(*(const int32_t *)p));
        break;
    case ATTR_F64:
        v = wnnMethodValueNumber(wnnNumber(*(const double *)p));
        break;
    case ATTR_BOOL:
        v = wnnMethodValueBool(*(const bool *)p);
        break;
    case ATTR_NUMBER:
        v = wnnMethodValueNumber(*(const WNNNumber *)p);
        break;
    case ATTR_DATA_TYPE:
        v = text_value(dtype_name(*(const dtype *)p));
        break;
    case ATTR_ENUM:
        v = text_value(enum_value_name(a->enumeration, *(const uint32_t *)p));
        break;
    case ATTR_U32_LIST:
    case ATTR_F32_LIST:
    case ATTR_ENUM_LIST: {
        WNNMethodValue *items = replay_items(r, count + 1);

        if (!p && !a->positional)
            return WNNStatus_Success;
        if (!items)
            return WNNStatus_UnknownError;
        for (size_t i = 0; i < count; i++)
            items[i] = a->kind == ATTR_U32_LIST   ? wnnMethodValueNumber(wnnNumber(((const uint32_t *)p)[i]))
                       : a->kind == ATTR_F32_LIST ? wnnMethodValueNumber(wnnNumber(((const float *)p)[i]))
                                                  : text_value(enum_value_name(a->enumeration, ((const uint32_t *)p)[i]));
        v = wnnMethodValueList(count, items);
        break;
    }
    }
    return wnnMethodCallSet(call, (WNNStringView){a->name, strlen(a->name)}, v);
}

static WNNStatus replay_operands(struct replay *r, WNNMethodCall call, const struct node *n)
{
    const struct op_info *info = &op_infos[n->op];
    WNNStatus status = WNNStatus_Success;

    if (info->flags & OPF_VARIADIC) {
        WNNMethodValue *items = replay_items(r, n->input_count);

        if (!items)
            return WNNStatus_UnknownError;
        for (uint32_t i = 0; i < n->input_count; i++)
            items[i] = wnnMethodValueOperand(r->operands[n->inputs[i].value->index]);
        return wnnMethodCallArgument(call, 0, wnnMethodValueList(n->input_count, items));
    }
    for (uint32_t i = 0; i < n->input_count && !status; i++)
        if (n->inputs[i].value)
            status = wnnMethodCallSet(call, (WNNStringView){info->ins[i].name, strlen(info->ins[i].name)},
                                      wnnMethodValueOperand(r->operands[n->inputs[i].value->index]));
    return status;
}

static WNNStatus replay_node(struct replay *r, const struct node *n)
{
    const struct op_info *info = &op_infos[n->op];
    WNNMethodCall call = wnnMethodCallCreate((WNNStringView){info->name, strlen(info->name)});
    WNNStatus status = call ? replay_operands(r, call, n) : WNNStatus_UnknownError;

    for (const struct attr_info *a = info->attrs; !status && a->kind != ATTR_NONE; a++)
        status = replay_attribute(r, call, a, n);
    if (!status)
        status = wnnMethodCallInvoke(call, r->builder);
    for (uint32_t i = 0; !status && i < n->result_count; i++)
        r->operands[n->results[i]->index] = wnnMethodCallResult(call, i);
    wnnMethodCallDestroy(call);
    return status;
}

static void release_lent(void const *data, size_t bytes, void *constant, void *unused)
{
    (void)data;
    (void)bytes;
    (void)unused;
    constant_release(constant);
}

/** Makes a constant of packed numbers, which the builder makes an operand of bytes, so that the cast after it changes
 * nothing. */
static WNNOperand replay_packed(struct replay *r, const struct value *v)
{
    WNNOperandDescriptor d = {WNNOperandDataType_Uint8, v->type.rank, v->type.dims, NULL};
    WNNBufferReleaseCallbackInfo release = {release_lent, constant_retain(v->constant), NULL};

    const uint32_t bits = dtype_packed_bits(v->type.type);
    return wnnGraphBuilderConstantPackedLent(r->builder, &d, bits, v->constant->data,
                                             ((size_t)type_elements(&v->type) * bits + 7) / 8, release);
}

/** Makes an input or a constant, when it is first needed. */
static void replay_source(struct replay *r, const struct value *v)
{
    WNNOperandDescriptor d = {v->type.type, v->type.rank, v->type.dims, NULL};

    if (r->operands[v->index] || v->kind == VALUE_RESULT)
        return;
    if (v->kind == VALUE_INPUT)
        r->operands[v->index] = wnnGraphBuilderInput(r->builder, (WNNStringView){v->name, strlen(v->name)}, &d);
    else if (dtype_packed_bits(v->type.type))
        r->operands[v->index] = replay_packed(r, v);
    else
        r->operands[v->index] = wnnGraphBuilderConstant(r->builder, &d, v->constant->data, v->constant->bytes);
}

static WNNStatus replay_graph(struct replay *r, struct graph *g, struct bench_contractions *contractions, WNNGraph *graph)
{
    WNNNamedOperand *outputs = calloc(g->output_count, sizeof *outputs);
    WNNStatus status = outputs ? WNNStatus_Success : WNNStatus_UnknownError;

    for (uint32_t i = 0; i < g->input_count; i++)
        replay_source(r, g->inputs[i]);
    graph_for_each (g, n) {
        for (uint32_t i = 0; i < n->input_count; i++)
            if (n->inputs[i].value)
                replay_source(r, n->inputs[i].value);
        if (!status)
            status = replay_node(r, n);
    }
    for (uint32_t i = 0; !status && i < g->output_count; i++)
        outputs[i] =
            (WNNNamedOperand){{g->outputs[i].name, strlen(g->outputs[i].name)}, r->operands[g->outputs[i].value->index]};
    if (!status && contractions && !bench_label_contractions(r->builder->graph, contractions))
        status = WNNStatus_UnknownError;
    if (!status)
        status = wnnGraphBuilderBuild(r->builder, g->output_count, outputs, graph);
    free(outputs);
    return status;
}

WNNStatus bench_case_build(struct graph *g, WNNContext context, struct bench_contractions *contractions, WNNGraph *graph,
                           struct error *e)
{
    struct replay r = {.operands = calloc(g->value_count + 1, sizeof *r.operands)};
    WNNStatus status = r.operands ? wnnContextCreateGraphBuilder(context, &r.builder) : WNNStatus_UnknownError;

    *graph = NULL;
    if (!status)
        status = replay_graph(&r, g, contractions, graph);
    if (status) {
        WNNStringView text = wnnGetLastErrorMessage();

        file_error(e, "%s: %.*s", wnnStatusGetName(status), (int)text.length, text.data);
    }
    wnnGraphBuilderRelease(r.builder); /* and with it the operands */
    free(r.operands);
    free(r.items);
    return status;
}

/* ---- cost ---- */

/**
 * Returns how many elements of the second operand each element of the result (or, transposed, of the first operand) is
 * multiplied with.
 */
static double contraction_terms(const struct node *n)
{
    const struct tensor_type *a = &n->inputs[0].value->type, *b = &n->inputs[1].value->type;

    switch ((int)n->op) {
    case OP_MATMUL:
        return a->dims[a->rank - 1];
    case OP_GEMM:
        return a->dims[NODE_OPTIONS(n, WNNGemmOptions)->aTranspose ? 0 : 1];
    case OP_CONV2D: {
        const struct tensor_type *out = &n->results[0]->type;
        bool nhwc = NODE_OPTIONS(n, WNNConv2dOptions)->inputLayout == WNNInputOperandLayout_Nhwc;

        return (double)type_elements(b) / out->dims[nhwc ? 3 : 1];
    }
    default: {
        bool nhwc = NODE_OPTIONS(n, WNNConvTranspose2dOptions)->inputLayout == WNNInputOperandLayout_Nhwc;

        return (double)type_elements(b) / a->dims[nhwc ? 3 : 1] * (double)type_elements(a) /
               (double)type_elements(&n->results[0]->type);
    }
    }
}

static double contraction_flops(const struct node *n)
{
    return 2 * (double)type_elements(&n->results[0]->type) * contraction_terms(n);
}

/** Returns all bytes of a source, but for a table that is only gathered from the bytes that are gathered. */
static double bytes_read(const struct value *v)
{
    double gathered = 0;

    value_for_each_use (v, u) {
        if (!(op_infos[u->node->op].flags & OPF_GATHER) || u->slot)
            return (double)type_bytes(&v->type);
        gathered += (double)type_bytes(&u->node->results[0]->type);
    }
    return fmin(gathered, (double)type_bytes(&v->type));
}

void bench_case_cost(const struct graph *g, double *flops, double *bytes)
{
    *flops = *bytes = 0;
    for (uint32_t i = 0; i < g->input_count; i++)
        *bytes += bytes_read(g->inputs[i]);
    for (uint32_t i = 0; i < g->output_count; i++)
        *bytes += (double)type_bytes(&g->outputs[i].value->type);
    graph_for_each (g, n) {
        uint32_t flags = op_infos[n->op].flags;
        double elements = (double)type_elements(&n->results[0]->type);

        for (uint32_t i = 0; i < n->input_count; i++) {
            const struct value *v = n->inputs[i].value;

            if (v && v->kind == VALUE_CONSTANT)
                *bytes += bytes_read(v);
        }
        if (flags & OPF_LIBRARY)
            *flops += contraction_flops(n);
        else if (flags & (OPF_REDUCTION | OPF_POOL))
            *flops += (double)type_elements(&n->inputs[0].value->type);
        else if (!(flags & OPF_MOVEMENT))
            *flops += elements;
    }
}

bool bench_label_contractions(struct graph *g, struct bench_contractions *out)
{
    char label[48];
    uint32_t count = 0;

    graph_for_each (g, n)
        count += (op_infos[n->op].flags & OPF_LIBRARY) != 0;
    *out = (struct bench_contractions){0, calloc(count + 1, sizeof *out->flops)};
    graph_for_each (g, n) {
        if (!out->flops || !(op_infos[n->op].flags & OPF_LIBRARY))
            continue;
        snprintf(label, sizeof label, "#%u %.32s", out->count, n->label);
        n->label = arena_string(&g->arena, label, strlen(label) - (n->label[0] == 0));
        if (!n->label)
            return false;
        out->flops[out->count++] = contraction_flops(n);
    }
    return out->flops != NULL;
}

int64_t bench_contraction_number(const char *step)
{
    const char *label = strstr(step, "[#");

    return label ? strtoll(label + 2, NULL, 10) : -1;
}
