/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A conformance case as a graph made with node_create, and its run by the reference interpreter.  Arguments and options are set
 * by the operator table's rows.
 */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "ir/interpret/interpret.h"

/** Names of the values made so far. */
struct names {
    const char *name;
    struct value *value;
    struct names *next;
};

struct building {
    struct test *test;
    struct graph *graph;
    struct names *names;
    struct error *error;
};

static bool define(struct building *b, const char *name, struct value *v)
{
    struct names *n = arena_alloc(&b->test->memory, sizeof *n);

    if (!n || !v)
        return error_out_of_memory(b->error);
    *n = (struct names){name, v, b->names};
    b->names = n;
    return true;
}

static struct value *lookup(struct building *b, const cJSON *json)
{
    for (struct names *n = b->names; n && cJSON_IsString(json); n = n->next)
        if (!strcmp(n->name, json->valuestring))
            return n->value;
    test_error(b->error, "no such operand", cJSON_IsString(json) ? json->valuestring : "(not a name)");
    return NULL;
}

/* ---- attributes ---- */

static bool set_enum(const struct attr_info *a, const cJSON *json, unsigned *to)
{
    int value = cJSON_IsString(json) ? enum_value_parse(a->enumeration, json->valuestring, strlen(json->valuestring)) : -1;

    *to = (unsigned)value;
    return value >= 0;
}

static bool set_list(struct building *b, const struct attr_info *a, const cJSON *json, char *base)
{
    const int count = cJSON_GetArraySize(json);
    uint32_t *values = arena_array(&b->test->memory, (size_t)count + 1, sizeof *values);
    const cJSON *item;
    int i = 0;

    if (!values || !cJSON_IsArray(json))
        return false;
    cJSON_ArrayForEach(item, json)
    {
        if (a->kind == ATTR_U32_LIST) {
            values[i++] = (uint32_t)item->valuedouble;
        } else if (a->kind == ATTR_F32_LIST) {
            float f = (float)item->valuedouble;
            memcpy(&values[i++], &f, sizeof f);
        } else if (!set_enum(a, item, &values[i++])) {
            return false;
        }
    }
    *(const void **)(void *)(base + a->offset) = values;
    *(size_t *)(void *)(base + a->count_offset) = (size_t)count;
    return true;
}

static bool set_attr(struct building *b, const struct attr_info *a, const cJSON *json, void *options, union op_args *args)
{
    char *base = a->positional ? (char *)args : options;
    void *at = base + a->offset;
    WNNNumber number;

    switch (a->kind) {
    case ATTR_U32:
        *(uint32_t *)at = (uint32_t)json->valuedouble;
        return cJSON_IsNumber(json);
    case ATTR_I32:
        *(int32_t *)at = (int32_t)json->valuedouble;
        return cJSON_IsNumber(json);
    case ATTR_F64:
        if (!number_read(json, &number))
            return false;
        *(double *)at = number_to_double(number);
        return true;
    case ATTR_BOOL:
        *(bool *)at = cJSON_IsTrue(json);
        return cJSON_IsBool(json);
    case ATTR_NUMBER:
        return number_read(json, at);
    case ATTR_DATA_TYPE:
        *(dtype *)at = cJSON_IsString(json) ? dtype_parse(json->valuestring, strlen(json->valuestring)) : 0;
        return *(dtype *)at != WNNOperandDataType_Undefined;
    case ATTR_ENUM:
        return set_enum(a, json, at);
    case ATTR_U32_LIST:
    case ATTR_F32_LIST:
    case ATTR_ENUM_LIST:
        return set_list(b, a, json, base);
    case ATTR_NONE:
        break;
    }
    return false;
}

/** A member of the option dictionary: an attribute or an optional operand. */
static bool set_option(struct building *b, enum op op, const cJSON *json, void *options, union op_args *args,
                       struct value **inputs)
{
    const struct op_info *info = &op_infos[op];

    if (!strcmp(json->string, "label"))
        return true;
    for (uint32_t i = 0; info->ins[i].name; i++)
        if (info->ins[i].optional && !strcmp(info->ins[i].name, json->string)) {
            inputs[i] = lookup(b, json);
            return inputs[i] != NULL;
        }
    for (const struct attr_info *a = info->attrs; a->kind != ATTR_NONE; a++)
        if (!a->positional && !strcmp(a->name, json->string))
            return set_attr(b, a, json, options, args) || test_error(b->error, "option cannot be read", json->string);
    return test_error(b->error, "unknown option", json->string);
}

/* ---- operators ---- */

static const struct attr_info *positional_attr(enum op op, uint32_t index)
{
    const struct attr_info *a = &op_infos[op].attrs[index];

    return index < OP_ATTRS_MAX && a->kind != ATTR_NONE && a->positional ? a : NULL;
}

static bool add_results(struct building *b, struct node *n, const cJSON *outputs)
{
    uint32_t i = 0;
    const cJSON *item;

    if (cJSON_IsString(outputs))
        return n->result_count == 1 ? define(b, outputs->valuestring, n->results[0])
                                    : test_error(b->error, "one output named, but there are more", outputs->valuestring);
    cJSON_ArrayForEach(item, outputs) if (i >= n->result_count || !define(b, item->valuestring, n->results[i++])) return false;
    return true;
}

static bool add_operator(struct building *b, const cJSON *json)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(json, "arguments"), *argument;
    const enum op op = name ? op_parse(name, strlen(name)) : OP_COUNT;
    struct arena *memory = &b->test->memory;
    union op_args args = {0};
    uint32_t place = 0, positional, input_count;

    if (op == OP_COUNT)
        return test_error(b->error, "no such operator", name ? name : "(no name)");
    positional = op_positional_inputs(op);
    input_count = op_input_slots(op);
    if (op_infos[op].flags & OPF_VARIADIC)
        input_count = (uint32_t)cJSON_GetArraySize(cJSON_GetArrayItem(arguments, 0)->child);
    struct value **inputs = arena_array(memory, input_count + 1, sizeof *inputs);
    void *options = arena_copy(memory, op_infos[op].options_default, op_infos[op].options_size);
    if (!inputs || !options)
        return error_out_of_memory(b->error);
    cJSON_ArrayForEach(argument, arguments)
    {
        const cJSON *value = argument->child, *item;
        if (!strcmp(value->string, "options")) {
            cJSON_ArrayForEach(item, value) if (!set_option(b, op, item, options, &args, inputs)) return false;
        } else if (place < positional) {
            uint32_t slot = place++;
            if (op_infos[op].flags & OPF_VARIADIC) {
                slot = 0;
                cJSON_ArrayForEach(item, value) if (!(inputs[slot++] = lookup(b, item))) return false;
            } else if (!(inputs[slot] = lookup(b, value))) {
                return false;
            }
        } else {
            const struct attr_info *a = positional_attr(op, place++ - positional);
            if (op == OP_SPLIT && cJSON_IsNumber(value))
                args.split.equal = (uint32_t)value->valuedouble;
            else if (!a || !set_attr(b, a, value, options, &args))
                return test_error(b->error, "argument cannot be read", value->string);
        }
    }
    struct node *n = node_create(b->graph, NULL, op, "", input_count, inputs, options, &args, b->error);
    return n && add_results(b, n, cJSON_GetObjectItemCaseSensitive(json, "outputs"));
}

static bool add_output(struct building *b, const struct operand *o)
{
    char want[128], have[128];
    struct value *v = NULL;

    for (struct names *n = b->names; n && !v; n = n->next)
        if (!strcmp(n->name, o->name))
            v = n->value;
    if (!v)
        return test_error(b->error, "no such output", o->name);
    if (!type_equal(&v->type, &o->type))
        return error_set(b->error, WNNStatus_DataError, "output \"%s\" is %s, expected %s", o->name,
                         type_print(have, sizeof have, &v->type), type_print(want, sizeof want, &o->type));
    return graph_add_output(b->graph, o->name, strlen(o->name), v) || error_out_of_memory(b->error);
}

static bool build(struct building *b)
{
    struct test *t = b->test;
    const cJSON *json;

    for (uint32_t i = 0; i < t->input_count; i++) {
        const struct operand *o = &t->inputs[i];
        struct value *v;
        if (o->constant) {
            struct constant *c = constant_create(o->data, (size_t)type_bytes(&o->type));
            v = c ? graph_add_constant(b->graph, &o->type, c) : NULL;
        } else {
            v = graph_add_input(b->graph, o->name, strlen(o->name), &o->type);
        }
        if (!define(b, o->name, v))
            return false;
    }
    cJSON_ArrayForEach(json, t->operators) if (!add_operator(b, json)) return false;
    for (uint32_t i = 0; i < t->output_count; i++)
        if (!add_output(b, &t->outputs[i]))
            return false;
    return true;
}

struct graph *test_graph(struct test *t, struct error *e)
{
    struct building b = {.test = t, .graph = graph_create(), .error = e};

    if (!b.graph) {
        error_out_of_memory(e);
        return NULL;
    }
    if (!build(&b)) {
        graph_free(b.graph);
        return NULL;
    }
    return b.graph;
}

bool run_interpreter(struct test *t, struct error *e)
{
    struct graph *g = test_graph(t, e);
    const void **inputs = arena_array(&t->memory, t->input_count + 1, sizeof *inputs);
    void **outputs = arena_array(&t->memory, t->output_count + 1, sizeof *outputs);
    bool ok = g && inputs && outputs;
    uint32_t count = 0;

    for (uint32_t i = 0; ok && i < t->input_count; i++)
        if (!t->inputs[i].constant)
            inputs[count++] = t->inputs[i].data;
    for (uint32_t i = 0; ok && i < t->output_count; i++)
        outputs[i] = t->outputs[i].data;
    ok = ok && graph_verify(g, stderr) && graph_interpret(g, inputs, outputs, e);
    graph_free(g);
    return ok;
}
