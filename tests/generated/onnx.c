/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes a model as an ONNX file by hand (support/protobuf.h), so that what no library would write can be written, too. */
#include "generated.h"

#include <stdlib.h>
#include <string.h>

#include "support/protobuf.h"

static const char *tensor_name(char name[GEN_NAME], int tensor)
{
    if (tensor < 0)
        return "";
    snprintf(name, GEN_NAME, "t%d", tensor);
    return name;
}

/** Makes a TensorProto. */
static struct bytes tensor_of(const struct gen_tensor *t, const char *name)
{
    struct bytes out = {0};
    size_t count = gen_tensor_written(t), size = gen_type_size(t->type);
    bool is_packed = t->type == ONNX_UINT4 || t->type == ONNX_INT4;
    unsigned char *data = calloc(count + 1, size);

    if (!data)
        abort();
    for (unsigned d = 0; d < t->rank; d++)
        put_int(&out, 1, t->dims[d]);
    put_int(&out, 2, t->type);
    put_text(&out, 8, name);
    gen_tensor_fill(t, count, data);
    for (size_t i = 0; is_packed && i < count; i += 2)
        data[i / 2] = (unsigned char)((data[i] & 15) | (i + 1 < count ? data[i + 1] << 4 : 0));
    put_bytes(&out, 9, data, is_packed ? (count + 1) / 2 : count * size);
    free(data);
    return out;
}

/** Makes a ValueInfoProto, which has only the name if t is NULL. */
static struct bytes port_of(const struct gen_tensor *t, const char *name)
{
    struct bytes shape = {0}, tensor = {0}, type = {0}, out = {0};

    put_text(&out, 1, name);
    if (!t)
        return out;
    for (unsigned d = 0; d < t->rank; d++) {
        struct bytes dim = {0};

        put_int(&dim, 1, t->dims[d]);
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, t->type);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_message(&out, 2, &type);
    return out;
}

/** Makes a body; see generated.h. */
static struct bytes body_of(const struct gen_attribute *a, const struct gen_node *node)
{
    int64_t inputs = a->values[0] & 7, outputs = a->values[1] & 7;
    struct bytes out = {0}, part;
    char name[GEN_NAME];

    for (int64_t i = 0; i < outputs; i++) {
        int64_t source = a->values[2 + i] & 15;
        struct bytes n = {0};

        snprintf(name, sizeof name, "b%d", (int)source);
        if (source >= inputs)
            tensor_name(name, node->input_count ? node->inputs[(size_t)source % node->input_count] : -1);
        put_text(&n, 1, name);
        if (a->values[2 + i] & 16)
            put_text(&n, 1, name);
        snprintf(name, sizeof name, "o%d", (int)i);
        put_text(&n, 2, name);
        put_text(&n, 4, a->values[2 + i] & 16 ? "Add" : "Identity");
        put_message(&out, 1, &n);
    }
    put_text(&out, 2, "body");
    for (int64_t i = 0; i < inputs; i++) {
        snprintf(name, sizeof name, "b%d", (int)i);
        part = port_of(NULL, name);
        put_message(&out, 11, &part);
    }
    for (int64_t i = 0; i < outputs; i++) {
        snprintf(name, sizeof name, "o%d", (int)i);
        part = port_of(NULL, name);
        put_message(&out, 12, &part);
    }
    return out;
}

static struct bytes attribute_of(const struct gen_attribute *a, const struct gen_node *node)
{
    struct bytes out = {0}, part;
    char text[GEN_TEXT], *rest = NULL;

    put_text(&out, 1, a->name);
    switch ((enum gen_kind)a->kind) {
    case GEN_FLOAT:
        put_float(&out, 2, (float)gen_double(a->values[0]));
        break;
    case GEN_BOOL:
    case GEN_INT:
        put_int(&out, 3, a->values[0]);
        break;
    case GEN_STRING:
        put_text(&out, 4, a->text);
        break;
    case GEN_TENSOR:
        part = tensor_of(&a->tensor, "");
        put_message(&out, 5, &part);
        break;
    case GEN_GRAPH:
        part = body_of(a, node);
        put_message(&out, 6, &part);
        break;
    case GEN_FLOATS:
        for (uint32_t i = 0; a->count && i < a->length; i++)
            put_float(&out, 7, (float)gen_double(a->values[i % a->count]));
        break;
    case GEN_INTS:
        for (uint32_t i = 0; a->count && i < a->length; i++)
            put_int(&out, 8, a->values[i % a->count]);
        break;
    case GEN_STRINGS:
        for (uint32_t i = 0; i < a->length && i < GEN_ELEMENTS;) {
            uint32_t before = i;

            strcpy(text, a->text);
            for (char *word = strtok_r(text, " ", &rest); word && i < a->length; word = strtok_r(NULL, " ", &rest), i++)
                put_text(&out, 9, word);
            if (i == before) {
                put_text(&out, 9, "");
                i++;
            }
        }
        break;
    }
    put_int(&out, 20, a->kind == GEN_BOOL ? GEN_INT : a->kind);
    return out;
}

static struct bytes node_of(const struct gen_node *n, unsigned index)
{
    struct bytes out = {0}, part;
    char name[GEN_NAME];

    for (unsigned i = 0; i < n->input_count; i++)
        put_text(&out, 1, tensor_name(name, n->inputs[i]));
    for (unsigned i = 0; i < n->output_count; i++)
        put_text(&out, 2, tensor_name(name, n->outputs[i]));
    snprintf(name, sizeof name, "n%u", index);
    put_text(&out, 3, name);
    put_text(&out, 4, n->op);
    for (unsigned i = 0; i < n->attribute_count; i++) {
        part = attribute_of(&n->attributes[i], n);
        put_message(&out, 5, &part);
    }
    if (*n->domain)
        put_text(&out, 7, n->domain);
    return out;
}

char *gen_onnx_write(const struct gen_model *m, size_t *length)
{
    struct bytes graph = {0}, model = {0}, part;
    char name[GEN_NAME];

    for (unsigned n = 0; n < m->node_count; n++) {
        part = node_of(&m->nodes[n], n);
        put_message(&graph, 1, &part);
    }
    put_text(&graph, 2, "generated");
    for (int t = 0; t < m->tensor_count; t++) {
        const struct gen_tensor *tensor = &m->tensors[t];

        tensor_name(name, t);
        if (tensor->source == GEN_CONSTANT) {
            part = tensor_of(tensor, name);
            put_message(&graph, 5, &part);
        } else if (tensor->source == GEN_INPUT || !tensor->hidden) {
            part = port_of(tensor->source == GEN_INPUT ? tensor : NULL, name);
            put_message(&graph, tensor->source == GEN_INPUT ? 11 : 12, &part);
        }
    }
    put_int(&model, 1, 8);
    put_message(&model, 7, &graph);
    put_int(&part, 2, m->version);
    put_message(&model, 8, &part);
    for (unsigned n = 0; n < m->node_count; n++) {
        bool is_new = *m->nodes[n].domain != 0;

        for (unsigned i = 0; i < n; i++)
            is_new &= strcmp(m->nodes[i].domain, m->nodes[n].domain) != 0;
        if (!is_new)
            continue;
        put_text(&part, 1, m->nodes[n].domain);
        put_int(&part, 2, 1);
        put_message(&model, 8, &part);
    }
    *length = model.length;
    return (char *)model.data;
}
