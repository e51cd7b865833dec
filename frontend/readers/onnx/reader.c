/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads an ONNX model from the bytes of a file, with what the user says about its dimensions and inputs.  This file handles
 * what surrounds the nodes: the format, operator sets, the sizes of inputs, outputs, and the one message.
 */
#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/map.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/sizes.h"
#include "ir/support/dtype.h"

/* ---- sizes of inputs ---- */

/** The inputs as the file declares them, their sizes (frontend/readers/sizes.h), and open dimensions. */
struct binding {
    struct model_description declared; /* of all inputs of the graph, by their places */
    uint32_t *sizes;
    char *missing;
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

/* ---- inputs and outputs ---- */

/** Gives the options' error as the reader's own.  Returns false. */
static bool fail_with(struct onnx_reader *r, const struct error *e)
{
    return onnx_fail(r, "%s", e->message);
}

/** Returns the value of an input that the options make a constant. */
static struct onnx_value *constant_value(struct onnx_reader *r, const WNNModelDeclaration *input, enum onnx_type elem,
                                         const struct model_constant *constant)
{
    int64_t dims[ONNX_RANK_MAX] = {0};
    uint32_t declared[ONNX_RANK_MAX] = {0};
    const char *names[ONNX_RANK_MAX] = {0};
    struct npy_array a = {0};
    struct onnx_value *v = NULL;
    struct error e = {0};

    if (!input->dataType || input->rank > ONNX_RANK_MAX)
        return onnx_fail_null(r, "input \"%s\" is of type %s and cannot be a constant", onnx_escape(r, input->name.data),
                              onnx_type_name(elem));
    sizes_declared(input, declared, names);
    if (!model_constant_fit(r->model, constant, input->dataType, input->hasShape ? input->rank : SIZE_MAX, declared, names, &a,
                            &e)) {
        fail_with(r, &e);
        return NULL;
    }
    for (size_t d = 0; d < a.rank; d++)
        dims[d] = a.shape[d];
    void *data = onnx_reader_alloc(r, a.byteLength + 1, elem == ONNX_DOUBLE ? sizeof(double) / sizeof(float) : 1);
    if (data)
        v = onnx_value_create(r, elem, a.rank, dims);
    if (v) {
        if (elem == ONNX_DOUBLE)
            for (size_t i = 0; i < npy_elements(&a); i++)
                ((double *)data)[i] = (double)((float *)a.data)[i];
        else
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
        name_map_replace(&scope->values, info->name, strlen(info->name), v);
    return found || onnx_bind(scope, info->name, v, "input");
}

/** Binds an input's name to an operand of this shape. */
static bool bind_operand(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, enum onnx_type elem, WNNOperand operand,
                         bool found)
{
    struct onnx_reader *r = scope->reader;
    struct onnx_node n = {.reader = r, .scope = scope, .builder = r->model->builder};
    struct onnx_value *v = onnx_value_create(r, elem, 0, NULL);

    if (!v)
        return onnx_fail_memory(r);
    v->rank = wnnOperandGetRank(operand);
    for (size_t d = 0; d < v->rank; d++)
        v->dims[d] = onnx_dimension(&n, operand, d);
    v->operand = operand;
    if (elem == ONNX_DOUBLE) {
        v->operand = wnnGraphBuilderCastToFloat64(r->model->builder, operand, NULL);
        model_note(r->model, "input '%s', which is float64, is float32 in the graph", onnx_escape(r, info->name));
    }
    v->depends = info->name;
    return bind_value(scope, info, v, found);
}

/** Lets an operand that the options give take the place of an input. */
static bool add_bound(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, const WNNModelDeclaration *input,
                      enum onnx_type elem, WNNOperand operand, bool found)
{
    uint32_t dims[ONNX_RANK_MAX] = {0};
    const char *names[ONNX_RANK_MAX] = {0};
    struct error e = {0};

    sizes_declared(input, dims, names);
    if (!model_binding_fit(info->name, operand, input->dataType, input->hasShape ? input->rank : SIZE_MAX, dims, names, &e))
        return fail_with(scope->reader, &e);
    return bind_operand(scope, info, elem, operand, found);
}

/** Makes a constant of an input without elements, which no graph can have. */
static bool make_empty(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, enum onnx_type elem, size_t rank,
                       const int64_t *dims, bool found)
{
    struct onnx_reader *r = scope->reader;
    struct onnx_value *v = onnx_value_create(r, elem, 0, NULL);

    if (!v)
        return onnx_fail_memory(r);
    v->rank = rank;
    memcpy(v->dims, dims, rank * sizeof *dims); /* those that are not 0 may be open */
    v->data = onnx_reader_alloc(r, 1, 1);
    v->is_static = true;
    if (!v->data)
        return onnx_fail_memory(r);
    model_note(r->model, "input '%s' has no elements, so that the graph has no such input", onnx_escape(r, info->name));
    return bind_value(scope, info, v, found);
}

/** Finds a size that an earlier input names. */
static bool find_named(struct onnx_scope *scope, WNNStringView name, int64_t *size)
{
    struct onnx_reader *r = scope->reader;
    struct onnx_node n = {.reader = r, .scope = scope, .builder = r->model->builder};

    for (size_t i = 0; i < r->model->input_count; i++)
        for (size_t d = 0; d < r->model->inputs[i].descriptor.rank; d++) {
            const WNNStringView other = wnnOperandGetDimensionName(r->model->inputs[i].operand, d);

            if (!other.data || other.length != name.length || memcmp(other.data, name.data, name.length) != 0)
                continue;
            *size = onnx_dimension(&n, r->model->inputs[i].operand, d);
            return true;
        }
    return false;
}

static bool make_input(struct onnx_scope *scope, const struct binding *b, size_t i, enum onnx_type elem, size_t rank,
                       const uint32_t *dims, bool found)
{
    const Onnx__ValueInfoProto *info = scope->reader->proto->graph->input[i];
    struct onnx_reader *r = scope->reader;
    int64_t wide[ONNX_RANK_MAX];
    WNNDimension names[ONNX_RANK_MAX] = {{{NULL, 0}, 0, 0}};
    WNNOperand operand;
    bool empty = false, named = false;

    for (size_t d = 0; d < rank; d++) {
        wide[d] = dims[d];
        empty = empty || !dims[d];
        if (dims[d] != UINT32_MAX)
            continue;
        wide[d] = 0;
        named = true;
        names[d].name = b->declared.inputs[i].dimensions[d].name;
        const WNNModelFreeDimension *open = name_map_find(&b->declared.free_by_name, names[d].name.data, names[d].name.length);
        const WNNDimension *bounds = model_name(r->options, names[d].name);

        names[d].minSize = bounds ? bounds->minSize : 0;
        names[d].maxSize = bounds && bounds->maxSize && bounds->maxSize < open->largest ? bounds->maxSize : open->largest;
    }
    for (size_t d = 0; d < rank && empty; d++)
        if (names[d].name.data && !find_named(scope, names[d].name, &wide[d]))
            return onnx_fail(r, "input \"%s\" has no elements, and a size that only it names", onnx_escape(r, info->name));
    if (empty)
        return make_empty(scope, info, elem, rank, wide, found);
    operand = wnnGraphBuilderInput(
        r->model->builder, WNN_STR(info->name),
        &(WNNOperandDescriptor){onnx_data_type(elem == ONNX_DOUBLE ? ONNX_FLOAT : elem), rank, dims, named ? names : NULL});
    if (wnnOperandIsError(operand)) {
        WNNStringView message;

        wnnGraphBuilderGetError(r->model->builder, &message);
        return onnx_fail(r, "%.*s", (int)(message.length > 500 ? 500 : message.length), message.data);
    }
    if (!model_add_input(r->model, info->name, operand, elem == ONNX_BOOL))
        return onnx_fail_memory(r);
    return bind_operand(scope, info, elem, operand, found);
}

static bool add_input(struct onnx_scope *scope, struct binding *b, size_t i)
{
    struct onnx_reader *r = scope->reader;
    const Onnx__ValueInfoProto *info = r->proto->graph->input[i];
    const WNNModelDeclaration *input = &b->declared.inputs[i];
    const Onnx__TypeProto__Tensor *type = tensor_type(info);
    const struct model_constant *constant = given_constant(r, info->name);
    WNNOperand bound = model_bound(r->options, info->name, strlen(info->name));
    enum onnx_type elem = type ? (enum onnx_type)type->elem_type : ONNX_UNDEFINED;
    uint32_t dims[ONNX_RANK_MAX] = {0};
    struct onnx_value *v;
    size_t rank;
    bool found;

    onnx_map_get(&scope->values, info->name, &found);
    if (found && !constant && !bound && !given_shape(r, info->name))
        return true; /* an initializer: its default, which stays unless something is said of the input */
    if (!type)
        return onnx_fail(r, "input \"%s\" is not a tensor", onnx_escape(r, info->name));
    if (constant) {
        v = constant_value(r, input, elem, constant);
        return v && bind_value(scope, info, v, found);
    }
    if (!input->dataType)
        return onnx_fail(r, "input \"%s\" is of type %s, which WebNN does not have", onnx_escape(r, info->name),
                         onnx_type_name(elem));
    if (input->rank > ONNX_RANK_MAX)
        return onnx_fail(r, "input \"%s\" has %zu dimensions, an operand has at most %d", onnx_escape(r, info->name),
                         input->rank, ONNX_RANK_MAX);
    if (bound)
        return add_bound(scope, info, input, elem, bound, found);
    for (size_t d = 0; d < input->rank; d++)
        if (input->dimensions[d].size > INT32_MAX)
            return onnx_fail(r, "input \"%s\": dimension %zu is %lld", onnx_escape(r, info->name), d,
                             (long long)type->shape->dim[d]->dim_value);
    return !sizes_shape(&b->declared, b->sizes, i, r->options, &rank, dims, &b->missing) ||
           make_input(scope, b, i, elem, rank, dims, found);
}

static bool add_inputs(struct onnx_scope *scope, const Onnx__GraphProto *graph)
{
    struct onnx_reader *r = scope->reader;
    struct binding b = {0};
    struct error e = {0};
    bool ok = onnx_declare_ports(&b.declared, graph, true) && (b.sizes = calloc(sizes_count(&b.declared) + 1, sizeof *b.sizes));

    if (!ok)
        onnx_fail_memory(r);
    for (size_t i = 0; ok && i < graph->n_input; i++)
        ok = b.declared.inputs[i].name.length || onnx_fail(r, "input %zu has no name", i);
    ok = ok && (sizes_add(&b.declared, r->options, b.sizes, &e) || fail_with(r, &e));
    for (size_t i = 0; ok && i < graph->n_input; i++)
        ok = add_input(scope, &b, i);
    if (ok && b.missing)
        ok = onnx_fail(r, "the graph is static, but%s", b.missing);
    model_description_free(&b.declared);
    free(b.sizes);
    free(b.missing);
    return ok;
}

/** An output must be the result of an operator: inputs and constants go through an identity. */
static bool add_output(struct onnx_scope *scope, const Onnx__ValueInfoProto *info, struct name_map *seen)
{
    struct onnx_reader *r = scope->reader;
    const char *name = info->name ? info->name : "";
    Onnx__NodeProto node = ONNX__NODE_PROTO__INIT;
    WNNOperatorOptions options = WNN_OPERATOR_OPTIONS_INIT;
    struct onnx_node n = {.reader = r, .scope = scope, .proto = &node, .builder = r->model->builder, .options = &options};
    bool found, is_input = false;
    struct onnx_value *v = onnx_lookup(scope, name, &found);
    const enum name_map_status added = onnx_map_add(seen, name, (void *)1);

    if (added == NAME_MAP_OUT_OF_MEMORY)
        return onnx_fail_memory(r);
    if (added == NAME_MAP_EXISTS || !*name)
        return onnx_fail(r, *name ? "output \"%s\" is named twice" : "an output has no name%s", onnx_escape(r, name));
    if (!v)
        return onnx_fail(r, "output \"%s\" is not an input, initializer or result of a node", onnx_escape(r, name));
    if (!v->refusal && !onnx_elements(v)) {
        model_note(r->model, "output '%s' has no elements, so that the graph has no such output", onnx_escape(r, name));
        return true;
    }
    node.name = (char *)name;
    node.op_type = (char *)"output of the model";
    WNNOperand operand = onnx_value_operand(&n, v);
    if (n.refused)
        return !r->failed;
    if (v->type == ONNX_DOUBLE) {
        operand = onnx_cast(&n, operand, WNNOperandDataType_Float32);
        model_note(r->model, "output '%s', which is float64, is float32 in the graph", onnx_escape(r, name));
    }
    for (size_t i = 0; i < r->model->input_count && !is_input; i++)
        is_input = operand == r->model->inputs[i].operand;
    if (is_input || v->is_static || v->count)
        operand = wnnGraphBuilderIdentity(n.builder, operand, n.options);
    if (!onnx_output(&n, 0, operand))
        return !r->failed;
    return model_add_output(r->model, name, operand, v->type == ONNX_BOOL) || onnx_fail_memory(r);
}

static bool add_outputs(struct onnx_scope *scope, const Onnx__GraphProto *graph)
{
    struct name_map seen = {0};
    bool found, ok = graph->n_output || onnx_fail(scope->reader, "the graph has no outputs");

    for (size_t i = 0; ok && i < graph->n_output; i++)
        ok = add_output(scope, graph->output[i], &seen);
    ok = ok && onnx_add_counts(scope);
    if (ok && !scope->reader->refusal_count && !scope->reader->model->output_count) {
        const struct onnx_value *v = onnx_map_get(&scope->values, graph->output[0]->name, &found);

        ok = onnx_fail(scope->reader, "all outputs of the graph have no elements%s%s", v && v->empty ? ", as " : "",
                       v && v->empty ? v->empty : "");
    }
    name_map_free(&seen);
    return ok;
}

/* ---- the whole ---- */

/** Checks what must be true before a node is looked at. */
static bool check_model(struct onnx_reader *r)
{
    const Onnx__ModelProto *m = r->proto;

    if (!m->graph)
        return onnx_fail(r, "the file holds no graph: it is not an ONNX model, or is truncated");
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

    name_map_free(&scope.values);
    name_map_free(&scope.blocked);
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
    name_map_free(&r->external_by_path);
    name_map_free(&r->opsets);
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
