/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Describes an ONNX file without reading its weights and nodes (frontend/readers/describe.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/readers/describe.h"
#include "frontend/readers/onnx/internal.h"
#include "ir/support/dtype.h"

/** Returns a string field's text; that of an absent one is empty. */
static const char *text_of(const char *field)
{
    return field ? field : "";
}

static const Onnx__TypeProto__Tensor *tensor_type(const Onnx__ValueInfoProto *info)
{
    return info->type ? info->type->tensor_type : NULL;
}

static size_t rank_of(const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto__Tensor *type = tensor_type(info);

    return type && type->shape ? type->shape->n_dim : 0;
}

/** Fills in one declaration.  Open dimensions of an input are noted as free.  Returns false if memory runs out. */
static bool declare(struct model_description *d, const Onnx__ValueInfoProto *info, bool input, WNNModelDeclaration *out)
{
    const Onnx__TypeProto__Tensor *type = tensor_type(info);
    const char *name = text_of(info->name);
    const enum onnx_type element = type ? (enum onnx_type)type->elem_type : ONNX_UNDEFINED;
    WNNModelDimension *dimensions;

    if (!describe_declaration(d, out, name, strlen(name), rank_of(info), &dimensions))
        return false;
    /* float64 exists within a graph only. */
    out->dataType = onnx_data_type(element == ONNX_DOUBLE ? ONNX_FLOAT : element);
    out->boolean = element == ONNX_BOOL;
    out->hasShape = type && type->shape;
    for (size_t i = 0; i < out->rank; i++) {
        const Onnx__TensorShapeProto__Dimension *from = type->shape->dim[i];
        const char *open = text_of(from->dim_param);

        /* Some writers say 0 or -1 where they mean any; sizes that are too large are refused when the model is read. */
        if (from->has_dim_value && from->dim_value > 0) {
            dimensions[i].size = from->dim_value > INT32_MAX ? UINT32_MAX : (uint32_t)from->dim_value;
            continue;
        }
        if (!describe_text(d, open, strlen(open), &dimensions[i].name) ||
            (input && *open && !describe_free(d, dimensions[i].name, INT32_MAX)))
            return false;
    }
    return true;
}

bool onnx_declare_ports(struct model_description *d, const Onnx__GraphProto *graph, bool all)
{
    struct name_map initialized = {0};
    size_t dimensions = 0;
    bool ok = true;

    for (size_t i = 0; i < graph->n_input; i++)
        dimensions += rank_of(graph->input[i]);
    ok = describe_reserve(d, graph->n_input, graph->n_output, dimensions);
    for (size_t i = 0; ok && i < graph->n_initializer; i++) {
        const char *name = text_of(graph->initializer[i]->name);

        ok = name_map_add(&initialized, name, strlen(name), (void *)graph) != NAME_MAP_OUT_OF_MEMORY;
    }
    if (ok && all)
        ok = (d->defaults = arena_array(&d->memory, graph->n_input, sizeof *d->defaults));
    for (size_t i = 0; ok && i < graph->n_input; i++) {
        const char *name = text_of(graph->input[i]->name);
        const bool is_default = name_map_find(&initialized, name, strlen(name));

        if (all)
            d->defaults[i] = is_default;
        if (all || !is_default)
            ok = declare(d, graph->input[i], true, &d->inputs[d->input_count++]);
    }
    for (size_t i = 0; ok && i < graph->n_output; i++)
        ok = declare(d, graph->output[i], false, &d->outputs[d->output_count++]);
    name_map_free(&initialized);
    return ok;
}

/** Appends what the file says about itself; empty texts say nothing. */
static bool add_metadata(struct model_description *d, const char *key, const char *value, bool custom)
{
    WNNModelMetadata *m = &d->metadata[d->metadata_count];

    if (!*text_of(value))
        return true;
    m->custom = custom;
    d->metadata_count++;
    return describe_text(d, key, strlen(key), &m->key) && describe_text(d, value, strlen(value), &m->value);
}

static bool add_number(struct model_description *d, const char *key, bool given, int64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, number);
    return !given || add_metadata(d, key, text, false);
}

static bool add_all_metadata(struct model_description *d, const Onnx__ModelProto *m)
{
    enum { FIELDS = 7 };

    d->metadata = arena_array(&d->memory, FIELDS + m->n_opset_import + m->n_metadata_props, sizeof *d->metadata);
    bool ok = d->metadata && add_metadata(d, "producer_name", m->producer_name, false) &&
              add_metadata(d, "producer_version", m->producer_version, false) && add_metadata(d, "domain", m->domain, false) &&
              add_number(d, "model_version", m->has_model_version, m->model_version) &&
              add_metadata(d, "doc_string", m->doc_string, false) &&
              add_metadata(d, "graph.doc_string", m->graph->doc_string, false) &&
              add_number(d, "ir_version", m->has_ir_version, m->ir_version);
    for (size_t i = 0; ok && i < m->n_opset_import; i++) {
        const char *domain = text_of(m->opset_import[i]->domain);
        char key[200];

        snprintf(key, sizeof key, "opset_import.%s", *domain ? domain : "ai.onnx");
        ok = add_number(d, key, m->opset_import[i]->has_version, m->opset_import[i]->version);
    }
    for (size_t i = 0; ok && i < m->n_metadata_props; i++)
        ok = add_metadata(d, text_of(m->metadata_props[i]->key), m->metadata_props[i]->value, true);
    return ok;
}

static bool name_graph_files(struct model_description *d, const char *path, const Onnx__GraphProto *graph);

/** Names the file that a tensor's elements are in, if they are in one. */
static bool name_file(struct model_description *d, const char *path, const Onnx__TensorProto *t)
{
    bool ok = true;

    for (size_t i = 0; ok && t && i < t->n_external_data; i++)
        if (!strcmp(text_of(t->external_data[i]->key), "location"))
            ok = describe_file(d, path, text_of(t->external_data[i]->value));
    return ok;
}

/** Names the files of tensors in attributes, and in graphs within them: messages within each other are bounded (wire.c). */
static bool name_node_files(struct model_description *d, const char *path, size_t count, Onnx__NodeProto *const *nodes)
{
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++)
        for (size_t k = 0; ok && k < nodes[i]->n_attribute; k++) {
            const Onnx__AttributeProto *a = nodes[i]->attribute[k];

            ok = name_file(d, path, a->t) && (!a->g || name_graph_files(d, path, a->g));
            for (size_t j = 0; ok && j < a->n_tensors; j++)
                ok = name_file(d, path, a->tensors[j]);
            for (size_t j = 0; ok && j < a->n_graphs; j++)
                ok = name_graph_files(d, path, a->graphs[j]);
        }
    return ok;
}

static bool name_graph_files(struct model_description *d, const char *path, const Onnx__GraphProto *graph)
{
    bool ok = true;

    for (size_t i = 0; ok && i < graph->n_initializer; i++)
        ok = name_file(d, path, graph->initializer[i]);
    return ok && name_node_files(d, path, graph->n_node, graph->node);
}

static bool name_files(struct model_description *d, const char *path, const Onnx__ModelProto *m)
{
    bool ok = name_graph_files(d, path, m->graph);

    for (size_t i = 0; ok && i < m->n_functions; i++)
        ok = name_node_files(d, path, m->functions[i]->n_node, m->functions[i]->node);
    return ok;
}

bool model_describe_onnx(const char *path, const void *bytes, size_t length, struct model_description *d, struct error *e)
{
    const char *wrong = NULL;
    Onnx__ModelProto *m = onnx_wire_unpack(bytes, length, &wrong);

    memset(d, 0, sizeof *d);
    if (!m)
        return describe_failed(d, path, wrong, e);
    if (!m->graph) {
        onnx__model_proto__free_unpacked(m, NULL);
        return describe_failed(d, path, "the file holds no graph: it is not an ONNX model, or is truncated", e);
    }
    d->format = "onnx";
    d->name = arena_string(&d->memory, text_of(m->graph->name), strlen(text_of(m->graph->name)));
    bool ok = d->name && onnx_declare_ports(d, m->graph, false) && add_all_metadata(d, m) && name_files(d, path, m);
    onnx__model_proto__free_unpacked(m, NULL);
    return ok || describe_failed(d, path, NULL, e);
}
