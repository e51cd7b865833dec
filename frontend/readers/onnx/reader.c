/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads an ONNX model from the bytes of a file, with what the user says about its dimensions and inputs.  This file handles
 * what surrounds the nodes: the format, operator sets, the sizes of inputs, outputs, and the one message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/map.h"
#include "frontend/readers/onnx/internal.h"
#include "ir/support/dtype.h"
#include "ir/support/suggest.h"

/* ---- sizes of inputs ---- */

/** Names of dimensions that are bound so far: by the options, and by the shapes given for inputs. */
struct binding {
    struct onnx_map sizes;  /* uintptr_t, one more than the size: NULL is none */
    struct onnx_map inputs; /* 1: names of inputs that a shape or constant may be given for */
    struct onnx_map names;  /* 1: names of dimensions that occur in the file */
    const Onnx__GraphProto *graph;
    struct onnx_map asked; /* 1: names of dimensions that `missing` has */
    char *missing;         /* what stays open, one line for each name of a dimension, or input */
    size_t missing_count, missing_length;
};

static const Onnx__TypeProto__Tensor *tensor_type(const Onnx__ValueInfoProto *info)
{
    return info->type ? info->type->tensor_type : NULL;
}

static const struct model_shape *given_shape(const struct onnx_reader *r, const char *name)
{
    for (size_t i = 0; i < r->options->shape_count; i++)
        if (!strcmp(r->options->shapes[i].name, name))
            return &r->options->shapes[i];
    return NULL;
}

static const struct model_constant *given_constant(const struct onnx_reader *r, const char *name)
{
    for (size_t i = 0; i < r->options->constant_count; i++)
        if (!strcmp(r->options->constants[i].name, name))
            return &r->options->constants[i];
    return NULL;
}

static bool bound_size(const struct binding *b, const char *name, uint32_t *size)
{
    uintptr_t have = (uintptr_t)onnx_map_get(&b->sizes, name, NULL);

    *size = have ? (uint32_t)(have - 1) : 0;
    return have;
}

/** Binds a dimension's name; one that has another size already is an error. */
static bool bind_size(struct onnx_reader *r, struct binding *b, const char *name, uint32_t size, const char *input)
{
    uint32_t have;

    if (!bound_size(b, name, &have))
        return onnx_map_add(&b->sizes, name, (void *)((uintptr_t)size + 1)) >= 0 || onnx_fail_memory(r);
    if (have != size && !input)
        return onnx_fail(r, "%s: dimension \"%s\" is given twice, as %u and as %u",
                         model_option_name(r->options, MODEL_DIMENSIONS), onnx_escape(r, name), have, size);
    return have == size || onnx_fail(r, "input \"%s\": dimension \"%s\" is %u here and %u elsewhere", onnx_escape(r, input),
                                     onnx_escape(r, name), size, have);
}

/** Writes the sizes of a declared shape, 0 for open ones, and the names that it has.  Returns the rank, at most the largest. */
static size_t declared_dims(const Onnx__TensorShapeProto *shape, uint32_t *dims, const char **names)
{
    const size_t rank = shape->n_dim < ONNX_RANK_MAX ? shape->n_dim : ONNX_RANK_MAX;

    for (size_t d = 0; d < rank; d++) {
        /* Some writers say 0 or -1 where they mean any. */
        dims[d] = shape->dim[d]->dim_value <= 0          ? 0
                  : shape->dim[d]->dim_value > INT32_MAX ? UINT32_MAX
                                                         : (uint32_t)shape->dim[d]->dim_value;
        names[d] = shape->dim[d]->dim_param && *shape->dim[d]->dim_param ? shape->dim[d]->dim_param : NULL;
    }
    return rank;
}

/** Holds a given shape against the declared one, and binds the names in it. */
static bool bind_shape(struct onnx_reader *r, struct binding *b, const char *input, const Onnx__TensorShapeProto *declared,
                       const struct model_shape *given)
{
    uint32_t dims[ONNX_RANK_MAX];
    const char *names[ONNX_RANK_MAX];
    char has[200], wants[200], origin[300];

    if (!declared)
        return true;
    const size_t rank = declared_dims(declared, dims, names);
    bool fits = declared->n_dim == given->rank;
    for (size_t d = 0; d < rank; d++)
        fits = fits && (!dims[d] || dims[d] == given->dims[d]);
    if (!fits)
        return onnx_fail(r, "input \"%s\" has the shape %s, %s %s", onnx_escape(r, input),
                         model_dims_text(wants, sizeof wants, rank, dims, names),
                         model_shape_origin(given, origin, sizeof origin),
                         model_dims_text(has, sizeof has, given->rank, given->dims, NULL));
    for (size_t d = 0; d < given->rank; d++)
        if (names[d] && !bind_size(r, b, names[d], given->dims[d], input))
            return false;
    return true;
}

/** Notes which names there are, and binds what the options say. */
static bool bind_sizes(struct onnx_reader *r, struct binding *b, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < r->options->dim_count; i++)
        if (!bind_size(r, b, r->options->dims[i].name, r->options->dims[i].size, NULL))
            return false;
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name;
        const Onnx__TypeProto__Tensor *type = tensor_type(graph->input[i]);
        const Onnx__TensorShapeProto *shape = type ? type->shape : NULL;

        if (!name || !*name)
            return onnx_fail(r, "input %zu has no name", i);
        if (onnx_map_add(&b->inputs, name, (void *)1) < 0)
            return onnx_fail_memory(r);
        for (size_t d = 0; shape && d < shape->n_dim; d++)
            if (shape->dim[d]->dim_param && onnx_map_add(&b->names, shape->dim[d]->dim_param, (void *)1) < 0)
                return onnx_fail_memory(r);
        const struct model_shape *given = given_shape(r, name);
        const struct model_constant *constant = given_constant(r, name);
        if (given && !bind_shape(r, b, name, shape, given))
            return false;
        WNNOperand bound = model_bound(r->options, name, strlen(name));
        if (bound || (constant && !constant->literal)) {
            struct model_shape has = {.name = name, .rank = bound ? wnnOperandGetRank(bound) : constant->array->rank};
            const uint32_t *dims = bound ? wnnOperandGetShape(bound) : constant->array->shape;

            memcpy(has.dims, dims, (has.rank < NPY_RANK_MAX ? has.rank : NPY_RANK_MAX) * sizeof *dims);
            if (!bind_shape(r, b, name, shape, &has))
                return false;
        }
    }
    return true;
}

/** Returns whether a graph's input is only the name of an initializer, as files of before IR version 4 list them all. */
static bool is_initializer(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (graph->initializer[i]->name && !strcmp(graph->initializer[i]->name, name))
            return true;
    return false;
}

/** Fails because the options give something for a name that is no input. */
static bool no_input(struct onnx_reader *r, const Onnx__GraphProto *graph, const char *name)
{
    struct suggestion meant = suggestion_for(name, strlen(name));

    for (size_t i = 0; i < graph->n_input; i++)
        if (graph->input[i]->name && !is_initializer(graph, graph->input[i]->name))
            suggestion_offer(&meant, graph->input[i]->name);
    return onnx_fail(r, "there is no input '%s'%s", onnx_escape(r, name), suggestion_list(&meant));
}

/** Fails because the options give a size for a name that no dimension has. */
static bool no_dimension(struct onnx_reader *r, const Onnx__GraphProto *graph, const char *name)
{
    struct suggestion meant = suggestion_for(name, strlen(name));

    for (size_t i = 0; i < graph->n_input; i++) {
        const Onnx__TypeProto__Tensor *type = tensor_type(graph->input[i]);

        for (size_t d = 0; type && type->shape && d < type->shape->n_dim; d++)
            if (type->shape->dim[d]->dim_param && *type->shape->dim[d]->dim_param)
                suggestion_offer(&meant, type->shape->dim[d]->dim_param);
    }
    return onnx_fail(r, "no dimension of an input is called '%s'%s", onnx_escape(r, name), suggestion_list(&meant));
}

/** Options for names that the file does not have are mistakes. */
static bool check_options(struct onnx_reader *r, const struct binding *b, const Onnx__GraphProto *graph)
{
    const struct model_options *o = r->options;

    for (size_t i = 0; i < o->shape_count; i++)
        if (!onnx_map_get(&b->inputs, o->shapes[i].name, NULL))
            return no_input(r, graph, o->shapes[i].name);
    for (size_t i = 0; i < o->constant_count; i++)
        if (!onnx_map_get(&b->inputs, o->constants[i].name, NULL))
            return no_input(r, graph, o->constants[i].name);
    for (size_t i = 0; i < o->binding_count; i++)
        if (!onnx_map_get(&b->inputs, o->bindings[i].name, NULL))
            return no_input(r, graph, o->bindings[i].name);
    for (size_t i = 0; i < o->dim_count; i++)
        if (!onnx_map_get(&b->names, o->dims[i].name, NULL))
            return no_dimension(r, graph, o->dims[i].name);
    return true;
}

/** Adds a line about what is missing: the beginning, an escaped name, the end. */
static bool add_missing(struct onnx_reader *r, struct binding *b, const char *what, const char *name, const char *text)
{
    size_t size = strlen(text) + 200;

    if (b->missing_count++ >= REFUSALS_MAX)
        return true;
    char *grown = realloc(b->missing, b->missing_length + size);
    if (!grown)
        return onnx_fail_memory(r);
    b->missing = grown;
    b->missing_length +=
        (size_t)snprintf(grown + b->missing_length, size, "\n  %s \"%s\" %s", what, onnx_escape(r, name), text);
    return true;
}

/** Asks once for the size of a dimension, and names inputs that have it. */
static bool ask_dimension(struct onnx_reader *r, struct binding *b, const char *name)
{
    char inputs[300] = "", text[500];
    const int added = onnx_map_add(&b->asked, name, (void *)1);

    if (added < 1)
        return !added || onnx_fail_memory(r);
    for (size_t i = 0; i < b->graph->n_input; i++) {
        const Onnx__TypeProto__Tensor *type = tensor_type(b->graph->input[i]);
        bool has = false;

        for (size_t d = 0; type && type->shape && d < type->shape->n_dim; d++)
            has = has || (type->shape->dim[d]->dim_param && !strcmp(type->shape->dim[d]->dim_param, name));
        if (has)
            text_list_add(inputs, sizeof inputs, '"', b->graph->input[i]->name, strlen(b->graph->input[i]->name));
    }
    snprintf(text, sizeof text, "(of %s) has no size: give it by %s or %s", inputs,
             model_option_name(r->options, MODEL_DIMENSIONS), model_option_name(r->options, MODEL_SHAPES));
    return add_missing(r, b, "dimension", name, text);
}

/** Finds the sizes of an input.  Returns false if the reader failed, or if they are noted as missing (*missing). */
static bool input_shape(struct onnx_reader *r, struct binding *b, const Onnx__ValueInfoProto *info, size_t *rank,
                        uint32_t *dims, bool *missing)
{
    const struct model_shape *given = given_shape(r, info->name);
    const Onnx__TensorShapeProto *shape = tensor_type(info)->shape;
    char text[400];

    *missing = false;
    *rank = given ? given->rank : shape ? shape->n_dim : 0;
    if (*rank > ONNX_RANK_MAX)
        return onnx_fail(r, "input \"%s\" has %zu dimensions, an operand has at most %d", onnx_escape(r, info->name), *rank,
                         ONNX_RANK_MAX);
    if (given) {
        memcpy(dims, given->dims, *rank * sizeof *dims);
        return true;
    }
    if (!shape) {
        *missing = true;
        snprintf(text, sizeof text, "declares no shape: give it by %s", model_option_name(r->options, MODEL_SHAPES));
        return add_missing(r, b, "input", info->name, text);
    }
    for (size_t d = 0; d < *rank; d++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[d];
        const char *name = dim->dim_param && *dim->dim_param ? dim->dim_param : NULL;

        dims[d] = 0;
        if (dim->has_dim_value && dim->dim_value > INT32_MAX)
            return onnx_fail(r, "input \"%s\": dimension %zu is %lld", onnx_escape(r, info->name), d,
                             (long long)dim->dim_value);
        if (dim->has_dim_value && dim->dim_value > 0) {
            dims[d] = (uint32_t)dim->dim_value;
            continue;
        }
        if (name && bound_size(b, name, &dims[d]))
            continue;
        *missing = true;
        snprintf(text, sizeof text, "has a dimension %zu of no fixed size: give its shape by %s", d,
                 model_option_name(r->options, MODEL_SHAPES));
        if (name ? !ask_dimension(r, b, name) : !add_missing(r, b, "input", info->name, text))
            return false;
    }
    return true;
}

/* ---- inputs and outputs ---- */

/** Gives the options' error as the reader's own.  Returns false. */
static bool fail_with(struct onnx_reader *r, const struct error *e)
{
    return onnx_fail(r, "%s", e->message);
}

/** Returns the value of an input that the options make a constant. */
static struct onnx_value *constant_value(struct onnx_reader *r, const Onnx__ValueInfoProto *info,
                                         const struct model_constant *constant)
{
    const Onnx__TypeProto__Tensor *type = tensor_type(info);
    const Onnx__TensorShapeProto *shape = type->shape;
    const enum onnx_type elem = (enum onnx_type)type->elem_type;
    int64_t dims[ONNX_RANK_MAX] = {0};
    uint32_t declared[ONNX_RANK_MAX] = {0};
    const char *names[ONNX_RANK_MAX] = {0};
    struct npy_array a = {0};
    struct onnx_value *v = NULL;
    struct error e = {0};

    if (!dtype_is_public(onnx_data_type(elem)) || (shape && shape->n_dim > ONNX_RANK_MAX))
        return onnx_fail_null(r, "input \"%s\" is of type %s and cannot be a constant", onnx_escape(r, info->name),
                              onnx_type_name(elem));
    if (!model_constant_fit(r->model, constant, onnx_data_type(elem), shape ? declared_dims(shape, declared, names) : SIZE_MAX,
                            declared, names, &a, &e)) {
        fail_with(r, &e);
        return NULL;
    }
    for (size_t d = 0; d < a.rank; d++)
        dims[d] = a.shape[d];
    void *data = onnx_reader_alloc(r, a.byteLength + 1, 1);
    if (data)
        v = onnx_value_create(r, elem, a.rank, dims);
    if (v) {
        memcpy(data, a.data, a.byteLength);
        v->data = data;
        v->is_static = true;
    }
    npy_free(&a);
    return v;
}

/** Says in a value why it has no elements: the input's dimension with its name, if it has one. */
static bool note_empty(struct onnx_reader *r, const Onnx__ValueInfoProto *info, struct onnx_value *v)
{
    const Onnx__TensorShapeProto *shape = tensor_type(info)->shape;
    char text[400];
    size_t d = 0;

    while (d < v->rank && v->dims[d])
        d++;
    const char *name = shape && d < shape->n_dim && shape->dim[d]->dim_param ? shape->dim[d]->dim_param : "";

    snprintf(text, sizeof text, "dimension %zu%s%s%s of input \"%s\" is 0", d, *name ? " (" : "",
             *name ? onnx_escape(r, name) : "", *name ? ")" : "", onnx_escape(r, info->name));
    v->empty = arena_string(&r->memory, text, strlen(text));
    return v->empty || onnx_fail_memory(r);
}

/** Binds an input's name to a value, which takes the place of an initializer of that name (found). */
static bool bind_value(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, struct onnx_value *v, bool found)
{
    if (!onnx_elements(v) && !note_empty(scope->reader, info, v))
        return false;
    if (found)
        onnx_map_replace(&scope->values, info->name, v);
    return found || onnx_bind(scope, info->name, v, "input");
}

/** Binds an input's name to an operand of this shape. */
static bool bind_operand(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, enum onnx_type elem, WNNOperand operand,
                         bool found)
{
    struct onnx_reader *r = scope->reader;
    const uint32_t *dims = wnnOperandGetShape(operand);
    int64_t wide[ONNX_RANK_MAX] = {0};

    for (size_t d = 0; d < wnnOperandGetRank(operand); d++)
        wide[d] = dims[d];
    struct onnx_value *v = onnx_value_create(r, elem, wnnOperandGetRank(operand), wide);
    if (!v)
        return onnx_fail_memory(r);
    v->operand = operand;
    v->is_input = true;
    v->depends = info->name;
    return bind_value(scope, info, v, found);
}

/** Lets an operand that the options give take the place of an input; the shape was compared before. */
static bool add_bound(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, enum onnx_type elem, WNNOperand operand,
                      bool found)
{
    struct error e = {0};

    if (!model_binding_fit(info->name, operand, onnx_data_type(elem), SIZE_MAX, NULL, NULL, &e))
        return fail_with(scope->reader, &e);
    return bind_operand(scope, info, elem, operand, found);
}

/** Makes a constant of an input without elements, which no graph can have. */
static bool make_empty(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, enum onnx_type elem, size_t rank,
                       const int64_t *dims, bool found)
{
    struct onnx_reader *r = scope->reader;
    struct onnx_value *v = onnx_value_create(r, elem, rank, dims);

    if (!v)
        return onnx_fail_memory(r);
    v->data = onnx_reader_alloc(r, 1, 1);
    v->is_static = true;
    if (!v->data)
        return onnx_fail_memory(r);
    model_note(r->model, "input '%s' has no elements, so that the graph has no such input", onnx_escape(r, info->name));
    return bind_value(scope, info, v, found);
}

static bool make_input(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, enum onnx_type elem, size_t rank,
                       const uint32_t *dims, bool found)
{
    struct onnx_reader *r = scope->reader;
    int64_t wide[ONNX_RANK_MAX];
    WNNOperand operand;
    bool empty = false;

    for (size_t d = 0; d < rank; d++) {
        wide[d] = dims[d];
        empty = empty || !dims[d];
    }
    if (empty)
        return make_empty(scope, info, elem, rank, wide, found);
    operand = wnnGraphBuilderInput(r->model->builder, WNN_STR(info->name),
                                   &(WNNOperandDescriptor){onnx_data_type(elem), rank, dims, NULL});
    if (wnnOperandIsError(operand)) {
        WNNStringView message;

        wnnGraphBuilderGetError(r->model->builder, &message);
        return onnx_fail(r, "%.*s", (int)(message.length > 500 ? 500 : message.length), message.data);
    }
    if (!model_add_input(r->model, info->name, operand, elem == ONNX_BOOL))
        return onnx_fail_memory(r);
    return bind_operand(scope, info, elem, operand, found);
}

static bool add_input(struct onnx_scope *scope, struct binding *b, const Onnx__ValueInfoProto *info)
{
    struct onnx_reader *r = scope->reader;
    const Onnx__TypeProto__Tensor *type = tensor_type(info);
    const struct model_constant *constant = given_constant(r, info->name);
    WNNOperand bound = model_bound(r->options, info->name, strlen(info->name));
    enum onnx_type elem = type ? (enum onnx_type)type->elem_type : ONNX_UNDEFINED;
    uint32_t dims[ONNX_RANK_MAX] = {0};
    struct onnx_value *v;
    bool found, missing;
    size_t rank;

    onnx_map_get(&scope->values, info->name, &found);
    if (found && !constant && !bound && !given_shape(r, info->name))
        return true; /* an initializer: its default, which stays unless something is said of the input */
    if (!type)
        return onnx_fail(r, "input \"%s\" is no tensor", onnx_escape(r, info->name));
    if (constant) {
        v = constant_value(r, info, constant);
        return v && bind_value(scope, info, v, found);
    }
    if (!dtype_is_public(onnx_data_type(elem)))
        return onnx_fail(r, "input \"%s\" is of type %s, which WebNN does not have", onnx_escape(r, info->name),
                         onnx_type_name(elem));
    if (bound)
        return add_bound(scope, info, elem, bound, found);
    if (!input_shape(r, b, info, &rank, dims, &missing))
        return false;
    return missing || make_input(scope, info, elem, rank, dims, found);
}

static bool add_inputs(struct onnx_scope *scope, const Onnx__GraphProto *graph)
{
    struct onnx_reader *r = scope->reader;
    struct binding b = {.graph = graph};
    bool ok = bind_sizes(r, &b, graph) && check_options(r, &b, graph);

    for (size_t i = 0; ok && i < graph->n_input; i++)
        ok = add_input(scope, &b, graph->input[i]);
    if (ok && b.missing_count > REFUSALS_MAX)
        ok = onnx_fail(r, "the graph is static, but %zu sizes of its inputs are open, such as:%s", b.missing_count, b.missing);
    else if (ok && b.missing)
        ok = onnx_fail(r, "the graph is static, but%s", b.missing);
    onnx_map_free(&b.sizes);
    onnx_map_free(&b.inputs);
    onnx_map_free(&b.names);
    onnx_map_free(&b.asked);
    free(b.missing);
    return ok;
}

/** An output must be the result of an operator: inputs and constants go through an identity. */
static bool add_output(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, struct onnx_map *seen)
{
    struct onnx_reader *r = scope->reader;
    const char *name = info->name ? info->name : "";
    Onnx__NodeProto node = ONNX__NODE_PROTO__INIT;
    WNNOperatorOptions options = WNN_OPERATOR_OPTIONS_INIT;
    struct onnx_node n = {.reader = r, .scope = scope, .proto = &node, .builder = r->model->builder, .options = &options};
    bool found;
    struct onnx_value *v = onnx_lookup(scope, name, &found);
    int added = onnx_map_add(seen, name, (void *)1);

    if (added < 0)
        return onnx_fail_memory(r);
    if (!added || !*name)
        return onnx_fail(r, *name ? "output \"%s\" is named twice" : "an output has no name%s", onnx_escape(r, name));
    if (!v)
        return onnx_fail(r, "output \"%s\" is no input, initializer or result of a node", onnx_escape(r, name));
    if (!v->refusal && !onnx_elements(v)) {
        model_note(r->model, "output '%s' has no elements, so that the graph has no such output", onnx_escape(r, name));
        return true;
    }
    node.name = (char *)name;
    node.op_type = (char *)"output of the model";
    WNNOperand operand = onnx_value_operand(&n, v);
    if (!v->refusal && !dtype_is_public(wnnOperandGetDataType(operand)) && !wnnOperandIsError(operand))
        onnx_refuse(&n, "it is %s; WebNN has no such outputs", onnx_type_name(v->type));
    if (n.refused)
        return !r->failed;
    if (v->is_input || v->is_static || v->count)
        operand = wnnGraphBuilderIdentity(n.builder, operand, n.options);
    if (!onnx_output(&n, 0, operand))
        return !r->failed;
    return model_add_output(r->model, name, operand, v->type == ONNX_BOOL) || onnx_fail_memory(r);
}

static bool add_outputs(struct onnx_scope *scope, const Onnx__GraphProto *graph)
{
    struct onnx_map seen = {0};
    bool found, ok = graph->n_output || onnx_fail(scope->reader, "the graph has no outputs");

    for (size_t i = 0; ok && i < graph->n_output; i++)
        ok = add_output(scope, graph->output[i], &seen);
    ok = ok && onnx_add_counts(scope);
    if (ok && !scope->reader->refusal_count && !scope->reader->model->output_count) {
        const struct onnx_value *v = onnx_map_get(&scope->values, graph->output[0]->name, &found);

        ok = onnx_fail(scope->reader, "all outputs of the graph have no elements%s%s", v && v->empty ? ", as " : "",
                       v && v->empty ? v->empty : "");
    }
    onnx_map_free(&seen);
    return ok;
}

/* ---- the whole ---- */

/** Checks what must be true before a node is looked at. */
static bool check_model(struct onnx_reader *r)
{
    const Onnx__ModelProto *m = r->proto;

    if (!m->graph)
        return onnx_fail(r, "the file holds no graph: it is no ONNX model, or cut off");
    if (!m->n_opset_import && m->ir_version >= 3)
        return onnx_fail(r, "the model does not say which operator set it uses");
    for (size_t i = 0; i < m->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *o = m->opset_import[i];
        const char *domain = o->domain && strcmp(o->domain, "ai.onnx") != 0 ? o->domain : "";

        if (!*domain && (o->version < 1 || o->version > ONNX_OPSET_NEWEST))
            return onnx_fail(r, "the model uses operator set %lld; versions 1 to %d are known", (long long)o->version,
                             ONNX_OPSET_NEWEST);
    }
    return true;
}

/** Says which nodes cannot be expressed: a line for each, as many as the message has room for.  Returns false. */
static bool fail_with_refusals(struct onnx_reader *r)
{
    enum { MORE = 40 }; /* bytes of the last line */
    char *message = r->error->message;
    size_t length, listed = 0, room;

    file_error(r->error, "%s: %zu node%s cannot be expressed:", PATH_SHOWN(r->path), r->refusal_count,
               r->refusal_count > 1 ? "s" : "");
    length = strlen(message);
    room = sizeof r->error->message - MORE - length;
    for (const char *line = r->refusals; *line; listed++) {
        const size_t n = 1 + strcspn(line + 1, "\n");

        if (n > room && listed)
            break;
        snprintf(message + length, room + 1, "%.*s", (int)n, line);
        line += n;
        room -= n < room ? n : room;
        length += strlen(message + length);
    }
    if (r->refusal_count > listed)
        snprintf(message + length, MORE, "\n  and %zu more", r->refusal_count - listed);
    return false;
}

static bool read_graph(struct onnx_reader *r)
{
    const Onnx__GraphProto *graph = r->proto->graph;
    struct onnx_scope scope = {.reader = r, .opsets = &r->opsets};
    bool ok = onnx_map_opsets(r, &r->opsets, r->proto->n_opset_import, r->proto->opset_import) && onnx_map_functions(r) &&
              onnx_bind_initializers(&scope, graph) && add_inputs(&scope, graph) &&
              onnx_import_nodes(&scope, graph->n_node, graph->node, "graph") && add_outputs(&scope, graph);

    onnx_map_free(&scope.values);
    onnx_map_free(&scope.blocked);
    return ok && (!r->refusal_count || fail_with_refusals(r));
}

static bool read_model(WNNContext context, struct onnx_reader *r)
{
    struct model *model = r->model;
    const char *wrong;
    struct error e = {0};
    bool ok = false;

    memset(model, 0, sizeof *model);
    r->proto = onnx_wire_unpack(r->bytes, r->length, &wrong);
    if (!r->proto) {
        if (wrong)
            onnx_fail(r, "%s", wrong);
        else
            onnx_fail_memory(r);
    } else if (!model_create_builder(context, r->options, r->length, model, &e)) {
        fail_with(r, &e);
    } else if (check_model(r)) {
        r->error_operand = wnnGraphBuilderIdentity(model->builder, NULL, NULL);
        wnnGraphBuilderClearError(model->builder);
        model->name = strdup(r->proto->graph->name ? r->proto->graph->name : "");
        ok = model->name ? read_graph(r) : onnx_fail_memory(r);
    }
    if (r->proto)
        onnx__model_proto__free_unpacked(r->proto, NULL);
    for (struct onnx_external *e = r->external; e; e = e->next)
        file_map_release(e->map);
    onnx_map_free(&r->external_by_path);
    onnx_map_free(&r->opsets);
    onnx_free_functions(r);
    name_map_free(&r->orders);
    arena_free(&r->memory);
    free(r->refusals);
    if (!ok)
        model_free(model);
    return ok;
}

static const struct model_options no_options;

bool model_read_onnx(WNNContext context, const char *path, const void *bytes, size_t length,
                     const struct model_options *options, struct model *model, struct error *e)
{
    struct onnx_reader r = {
        .path = path, .bytes = bytes, .length = length, .options = options ? options : &no_options, .model = model, .error = e};

    return read_model(context, &r);
}

bool model_read_onnx_map(WNNContext context, const char *path, struct file_map *map, const struct model_options *options,
                         struct model *model, struct error *e)
{
    struct onnx_reader r = {.path = path,
                            .bytes = file_map_data(map),
                            .length = file_map_length(map),
                            .map = map,
                            .options = options ? options : &no_options,
                            .model = model,
                            .error = e};

    return read_model(context, &r);
}
