/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ONNX models made by hand, for tests of the reader: nodes, attributes, ports and tensors from short texts.
 */
#pragma once

#include "frontend/readers/model.h"
#include "onnx.pb-c.h"
#include "support/context.h"

enum { LIST = 64, PORTS = 10, F32 = 1, I64 = 7, STRING = 8, BOOL = 9, F64 = 11 };

/** A model under construction. */
struct net {
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset;
    Onnx__OperatorSetIdProto *opsets[1];
    Onnx__FunctionProto *functions[4];
    void *memory[4096];
    size_t blocks, outputs;
    struct model read;
    struct error error; /* of reading */
    const char *path;
};

/** The test's model, of operator set 17 and with "y" as its output, unless the test calls start() and output(). */
static struct net the_net, *const t = &the_net;

static inline void *keep(struct net *t, size_t size)
{
    assert_true(t->blocks < sizeof t->memory / sizeof *t->memory);
    t->memory[t->blocks] = calloc(1, size ? size : 1);
    assert_non_null(t->memory[t->blocks]);
    return t->memory[t->blocks++];
}

static inline char *text(struct net *t, const char *s)
{
    return strcpy(keep(t, strlen(s) + 1), s);
}

static inline void init_graph(struct net *t, Onnx__GraphProto *g)
{
    onnx__graph_proto__init(g);
    g->name = text(t, "g");
    g->node = keep(t, LIST * sizeof *g->node);
    g->initializer = keep(t, LIST * sizeof *g->initializer);
    g->input = keep(t, LIST * sizeof *g->input);
    g->output = keep(t, LIST * sizeof *g->output);
}

/** Words of a text as a list; "-" is the empty name. */
static inline size_t words(struct net *t, const char *s, char ***list)
{
    char *copy = text(t, s), *rest = NULL;
    size_t count = 0;

    *list = keep(t, LIST * sizeof **list);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        (*list)[count++] = strcmp(word, "-") ? word : text(t, "");
    return count;
}

static inline Onnx__NodeProto *make_node(struct net *t, const char *type, const char *inputs, const char *outputs)
{
    Onnx__NodeProto *n = keep(t, sizeof *n);

    onnx__node_proto__init(n);
    n->op_type = text(t, type);
    n->name = strcat(strcpy(keep(t, 80), "n_"), outputs);
    n->n_input = words(t, inputs, &n->input);
    n->n_output = words(t, outputs, &n->output);
    n->attribute = keep(t, LIST * sizeof *n->attribute);
    return n;
}

static inline Onnx__NodeProto *node_in(struct net *t, Onnx__GraphProto *g, const char *type, const char *inputs,
                                       const char *outputs)
{
    return g->node[g->n_node++] = make_node(t, type, inputs, outputs);
}

static inline Onnx__NodeProto *node(struct net *t, const char *type, const char *inputs, const char *outputs)
{
    return node_in(t, &t->graph, type, inputs, outputs);
}

static inline Onnx__AttributeProto *attribute(struct net *t, Onnx__NodeProto *n, const char *name, int type)
{
    Onnx__AttributeProto *a = keep(t, sizeof *a);

    onnx__attribute_proto__init(a);
    a->name = text(t, name);
    a->has_type = 1;
    a->type = (Onnx__AttributeProto__AttributeType)type;
    if (n)
        n->attribute[n->n_attribute++] = a;
    return a;
}

static inline void attribute_int(struct net *t, Onnx__NodeProto *n, const char *name, int64_t value)
{
    Onnx__AttributeProto *a = attribute(t, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

    a->has_i = 1;
    a->i = value;
}

static inline void attribute_ints(struct net *t, Onnx__NodeProto *n, const char *name, size_t count, const int64_t *values)
{
    Onnx__AttributeProto *a = attribute(t, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

    a->n_ints = count;
    a->ints = keep(t, count * sizeof *values);
    memcpy(a->ints, values, count * sizeof *values);
}

#define INTS(t, n, name, ...)                                                                                                  \
    attribute_ints(t, n, name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static inline void attribute_float(struct net *t, Onnx__NodeProto *n, const char *name, float value)
{
    Onnx__AttributeProto *a = attribute(t, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

    a->has_f = 1;
    a->f = value;
}

static inline void attribute_text(struct net *t, Onnx__NodeProto *n, const char *name, const char *value)
{
    Onnx__AttributeProto *a = attribute(t, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

    a->has_s = 1;
    a->s.len = strlen(value);
    a->s.data = (uint8_t *)text(t, value);
}

/** A node of a domain, which the model imports, too. */
static inline Onnx__NodeProto *domain_node(struct net *t, const char *domain, const char *type, const char *inputs,
                                           const char *outputs)
{
    Onnx__NodeProto *n = node(t, type, inputs, outputs);
    const size_t count = t->model.n_opset_import;
    Onnx__OperatorSetIdProto *set, **sets = keep(t, (count + 1) * sizeof *sets);

    n->domain = text(t, domain);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(t->model.opset_import[i]->domain, domain))
            return n;
    set = keep(t, sizeof *set);
    onnx__operator_set_id_proto__init(set);
    set->domain = n->domain;
    set->has_version = 1;
    set->version = 1;
    memcpy(sets, t->model.opset_import, count * sizeof *sets);
    sets[count] = set;
    t->model.opset_import = sets;
    t->model.n_opset_import = count + 1;
    return n;
}

static inline Onnx__NodeProto *microsoft(struct net *t, const char *type, const char *inputs, const char *outputs)
{
    return domain_node(t, "com.microsoft", type, inputs, outputs);
}

/** Adds an attribute: "NAME VALUE", which is an integer, a number with a point, [a list of integers] or a word. */
static inline void attribute_of(struct net *t, Onnx__NodeProto *n, char *text)
{
    char *value = strchr(text, ' '), *end;
    int64_t list[16];
    size_t count = 0;

    *value++ = '\0';
    list[0] = strtoll(value, &end, 10);
    if (!*end)
        attribute_int(t, n, text, list[0]);
    else if (*value != '[' && (strtof(value, &end), !*end))
        attribute_float(t, n, text, strtof(value, NULL));
    else if (*value != '[')
        attribute_text(t, n, text, value);
    for (end = value + 1; *value == '[' && *end != ']';)
        list[count++] = strtoll(end, &end, 10);
    if (*value == '[')
        attribute_ints(t, n, text, count, list);
}

/** Adds attributes: "NAME VALUE, ...". */
static inline void attributes(struct net *t, Onnx__NodeProto *n, const char *list)
{
    char *rest = NULL;

    for (char *one = strtok_r(text(t, list), ",", &rest); one; one = strtok_r(NULL, ",", &rest))
        attribute_of(t, n, one + (*one == ' '));
}

/** Adds nodes to a graph: "OUTPUTS = TYPE INPUTS, ATTRIBUTE VALUE, ...; ...".  "ms:" before a type is Microsoft's domain, in
 * the model's own graph.  Returns the last node. */
static inline Onnx__NodeProto *nodes_in(struct net *t, Onnx__GraphProto *g, const char *nodes)
{
    Onnx__NodeProto *n = NULL;
    char *rest = NULL;

    for (char *line = strtok_r(text(t, nodes), ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
        char *type = strstr(line, " = "), *comma = strchr(line, ','), *inputs = strchr(type + 3, ' ');

        *type = '\0';
        type += 3;
        if (comma)
            *comma++ = '\0';
        if (inputs)
            *inputs++ = '\0';
        line += *line == ' ';
        n = strncmp(type, "ms:", 3) ? node_in(t, g, type, inputs ? inputs : "", line) : microsoft(t, type + 3, inputs, line);
        if (comma)
            attributes(t, n, comma);
    }
    return n;
}

static inline Onnx__GraphProto *attribute_graph(struct net *t, Onnx__NodeProto *n, const char *name)
{
    Onnx__AttributeProto *a = attribute(t, n, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH);

    a->g = keep(t, sizeof *a->g);
    init_graph(t, a->g);
    return a->g;
}

/** dims: "2 3 batch". */
static inline Onnx__ValueInfoProto *port(struct net *t, const char *name, int type, const char *dims)
{
    Onnx__ValueInfoProto *v = keep(t, sizeof *v);
    char **list;

    onnx__value_info_proto__init(v);
    v->name = text(t, name);
    if (!dims)
        return v;
    v->type = keep(t, sizeof *v->type);
    onnx__type_proto__init(v->type);
    v->type->tensor_type = keep(t, sizeof *v->type->tensor_type);
    onnx__type_proto__tensor__init(v->type->tensor_type);
    v->type->tensor_type->has_elem_type = 1;
    v->type->tensor_type->elem_type = type;
    v->type->tensor_type->shape = keep(t, sizeof(Onnx__TensorShapeProto));
    onnx__tensor_shape_proto__init(v->type->tensor_type->shape);
    v->type->tensor_type->shape->n_dim = words(t, dims, &list);
    v->type->tensor_type->shape->dim = keep(t, LIST * sizeof(void *));
    for (size_t i = 0; i < v->type->tensor_type->shape->n_dim; i++) {
        Onnx__TensorShapeProto__Dimension *d = keep(t, sizeof *d);
        char *end;
        long long value = strtoll(list[i], &end, 10);

        onnx__tensor_shape_proto__dimension__init(d);
        if (*end) {
            d->dim_param = list[i];
        } else {
            d->has_dim_value = 1;
            d->dim_value = value;
        }
        v->type->tensor_type->shape->dim[i] = d;
    }
    return v;
}

static inline void input(struct net *t, const char *name, int type, const char *dims)
{
    t->graph.input[t->graph.n_input++] = port(t, name, type, dims);
}

/** Adds inputs of one type: "NAME DIMENSIONS; ...". */
static inline void inputs_of(struct net *t, int type, const char *list)
{
    char *rest = NULL;

    for (char *one = strtok_r(text(t, list), ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        char *name = one + (*one == ' '), *dims = strchr(name, ' ');

        if (dims)
            *dims++ = '\0';
        input(t, name, type, dims ? dims : "");
    }
}

/** Appends outputs to an inner graph. */
static inline void outputs_in(struct net *t, Onnx__GraphProto *g, const char *names)
{
    char **list;
    const size_t count = words(t, names, &list);

    for (size_t i = 0; i < count; i++)
        g->output[g->n_output++] = port(t, list[i], F32, NULL);
}

/** The body of a Loop, with inputs "i", "go" and a carried float32 of that name and shape. */
static inline Onnx__GraphProto *loop_body(struct net *t, Onnx__NodeProto *n, const char *carried, const char *dims)
{
    Onnx__GraphProto *body = attribute_graph(t, n, "body");

    body->input[body->n_input++] = port(t, "i", I64, "");
    body->input[body->n_input++] = port(t, "go", BOOL, "");
    body->input[body->n_input++] = port(t, carried, F32, dims);
    return body;
}

/** The first one takes the place of "y". */
static inline void output(struct net *t, const char *names)
{
    char **list;
    const size_t count = words(t, names, &list);

    for (size_t i = 0; i < count; i++)
        t->graph.output[t->outputs++] = port(t, list[i], F32, NULL);
    t->graph.n_output = t->outputs;
}

static inline int free_net(__attribute__((unused)) void **state)
{
    model_free(&t->read);
    while (t->blocks)
        free(t->memory[--t->blocks]);
    memset(t, 0, sizeof *t);
    return 0;
}

static inline void start(struct net *t, int64_t version)
{
    free_net(NULL);
    onnx__model_proto__init(&t->model);
    init_graph(t, &t->graph);
    onnx__operator_set_id_proto__init(&t->opset);
    t->opset.has_version = t->model.has_ir_version = 1;
    t->opset.version = version;
    t->model.ir_version = 8;
    t->opsets[0] = &t->opset;
    t->model.opset_import = t->opsets;
    t->model.n_opset_import = 1;
    t->model.graph = &t->graph;
    t->model.functions = t->functions;
    t->path = "model.onnx";
    output(t, "y");
    t->outputs = 0;
}

static inline int start_net(__attribute__((unused)) void **state)
{
    start(t, 17);
    return 0;
}

TEST_EACH(start_net, free_net)

static inline Onnx__TensorProto *tensor(struct net *t, const char *name, int type, size_t rank, const int64_t *dims,
                                        const void *data, size_t bytes)
{
    Onnx__TensorProto *p = keep(t, sizeof *p);

    onnx__tensor_proto__init(p);
    p->name = text(t, name);
    p->has_data_type = 1;
    p->data_type = type;
    p->n_dims = rank;
    p->dims = keep(t, rank * sizeof *dims);
    if (rank)
        memcpy(p->dims, dims, rank * sizeof *dims);
    p->has_raw_data = data != NULL;
    p->raw_data.len = bytes;
    p->raw_data.data = keep(t, bytes);
    if (bytes && data)
        memcpy(p->raw_data.data, data, bytes);
    return p;
}

/** Begins a model of an operator set with inputs of float32 (inputs_of) and nodes (nodes_in). */
static inline void net(int64_t version, const char *inputs, const char *nodes)
{
    start(t, version);
    inputs_of(t, F32, inputs);
    nodes_in(t, &t->graph, nodes);
}

static inline Onnx__TensorProto *initializer(struct net *t, Onnx__TensorProto *p)
{
    return t->graph.initializer[t->graph.n_initializer++] = p;
}

static inline void integers(struct net *t, const char *name, size_t count, const int64_t *values)
{
    initializer(t, tensor(t, name, I64, 1, &(int64_t){(int64_t)count}, values, count * sizeof *values));
}

static inline void integer(struct net *t, const char *name, int64_t value)
{
    initializer(t, tensor(t, name, I64, 0, NULL, &value, sizeof value));
}

static inline void number(struct net *t, const char *name, float value)
{
    initializer(t, tensor(t, name, F32, 0, NULL, &value, sizeof value));
}

static inline void byte(struct net *t, const char *name, int type, int value)
{
    const uint8_t bits = (uint8_t)value;

    initializer(t, tensor(t, name, type, 0, NULL, &bits, 1));
}

/* ---- reading and running ---- */

/** Returns the model as the bytes of an ONNX file, which the caller frees. */
static inline uint8_t *pack(const struct net *t, size_t *size)
{
    uint8_t *bytes = malloc(onnx__model_proto__get_packed_size(&t->model) + 1);

    assert_non_null(bytes);
    *size = onnx__model_proto__pack(&t->model, bytes);
    return bytes;
}

static inline bool read_net(struct net *t, const struct model_options *options)
{
    size_t size;
    OWNED(memory) uint8_t *bytes = pack(t, &size);

    model_free(&t->read);
    t->error = (struct error){0};
    bool ok = model_read_onnx(context, t->path, bytes, size, options, &t->read, &t->error);
    assert_int_equal(ok, !t->error.status);
    return ok;
}

static inline void reads(struct net *t, const struct model_options *options)
{
    assert_works(read_net(t, options), &t->error);
}

/** Refused, and the message says so. */
static inline void refused(struct net *t, const struct model_options *options, const char *reason)
{
    assert_false(read_net(t, options));
    if (!strstr(t->error.message, reason))
        fail_msg("\"%s\" is not in \"%s\"", reason, t->error.message);
}

/** Builds and computes a network with at most one input and one output, both float32 (or uint8). */
static inline void compute(struct net *t, const void *x, size_t x_bytes, void *y, size_t y_bytes)
{
    WNNNamedBuffer in = {WNN_STR("x"), (void *)(uintptr_t)x, x_bytes}, out;
    OWNED(compiled) WNNGraph graph = NULL;

    assert_done(!model_build(&t->read, &graph, &e));
    out = (WNNNamedBuffer){WNN_STR(t->read.outputs[0].name), y, y_bytes};
    assert_success(wnnGraphCompute(graph, wnnGraphGetInputCount(graph), &in, 1, &out));
}

/** Reads the test's model and computes y of x, which are arrays. */
#define computes(x, y) (reads(t, NULL), compute(t, x, sizeof(x), y, sizeof(y)))

/* Reads, builds and computes; inputs in the graph's order, outputs (of that many bytes) in theirs. */
static inline void run(struct net *t, void *const *inputs, void *const *outputs, const size_t *output_bytes)
{
    WNNNamedBuffer in[PORTS], out[PORTS];
    WNNNamedOperandDescriptor d;
    OWNED(compiled) WNNGraph graph = NULL;

    reads(t, NULL);
    if (model_build(&t->read, &graph, &t->error) != WNNStatus_Success)
        fail_msg("%s", t->error.message);
    for (size_t i = 0; i < wnnGraphGetInputCount(graph); i++) {
        size_t length = 0;
        assert_int_equal(wnnGraphGetInput(graph, i, &d), WNNStatus_Success);
        in[i].name = d.name;
        in[i].byteLength = wnnOperandDescriptorGetByteLength(&d.descriptor);
        for (size_t k = 0; k < t->graph.n_input; k++)
            if (strlen(t->graph.input[k]->name) == d.name.length &&
                !memcmp(t->graph.input[k]->name, d.name.data, d.name.length)) {
                in[i].data = inputs[k];
                length++;
            }
        assert_int_equal(length, 1);
    }
    for (size_t i = 0; i < t->graph.n_output; i++)
        out[i] = (WNNNamedBuffer){WNN_STR(t->graph.output[i]->name), outputs[i], output_bytes[i]};
    if (wnnGraphCompute(graph, wnnGraphGetInputCount(graph), in, t->graph.n_output, out) != WNNStatus_Success)
        fail_msg("%.300s", wnnGetLastErrorMessage().data);
}

static inline void expect_shape(const struct net *t, size_t rank, const uint32_t *shape)
{
    const WNNOperandDescriptor *d = &t->read.outputs[0].descriptor;

    assert_int_equal(d->rank, rank);
    for (size_t i = 0; i < rank; i++)
        assert_int_equal(d->shape[i], shape[i]);
}

#define SHAPE(...)                                                                                                             \
    sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[])                                                         \
    {                                                                                                                          \
        __VA_ARGS__                                                                                                            \
    }
