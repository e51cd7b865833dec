/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads the JSON form of `.webnn` text ("format": "webnn-graph-json", versions 1 and 2) or a manifest, whatever it contains,
 * into a document.  Inputs, constants and outputs keep the order in which the file has them.
 */

#include "frontend/readers/text/build.h"
#include "frontend/readers/text/json.h"

static bool wrong(struct document *d, const struct json *v, const struct json *parent, const char *what)
{
    return document_error(d, v ? v->place : parent->place, "%s", what);
}

static struct document_text text_of(const struct json *v)
{
    return (struct document_text){v->as.string.text, v->as.string.length, v->place};
}

static bool read_text(struct document *d, const struct json *v, const struct json *parent, const char *what,
                      struct document_text *text)
{
    if (!v || v->kind != JSON_STRING)
        return wrong(d, v, parent, what);
    *text = text_of(v);
    return true;
}

static bool read_name(struct document *d, const struct json *v, const struct json *parent, const char *what,
                      struct document_text *name)
{
    if (!read_text(d, v, parent, what, name))
        return false;
    return name->length || document_error(d, name->place, "a name must not be empty");
}

/* ---- types and constants ---- */

/** Reads dataType and shape of an object; an item of the shape is a size or {"name", "maxSize"}. */
static bool read_type(struct document *d, const struct json *object, struct document_type *type)
{
    const struct json *shape = json_member(object, "shape");
    struct document_text name = {NULL, 0, NULL};
    uint64_t size;

    if (object->kind != JSON_OBJECT)
        return wrong(d, object, NULL, "an object with dataType and shape expected");
    if (!read_text(d, json_member(object, "dataType"), object, "dataType, a data type's name, is missing here", &name) ||
        !document_data_type(d, &name, &type->type))
        return false;
    type->place = name.place;
    if (!shape || shape->kind != JSON_ARRAY)
        return wrong(d, shape, object, "shape, a list of sizes, is missing here");
    json_for_each(x, shape)
    {
        struct document_dimension *dimension = &type->dims[type->rank];
        const struct json *value = x;

        if (type->rank++ == DOCUMENT_RANK_MAX)
            return document_error(d, x->place, "more than %d dimensions", DOCUMENT_RANK_MAX);
        if (x->kind == JSON_OBJECT) {
            if (!read_text(d, json_member(x, "name"), x, "the dimension has no name", &dimension->name))
                return false;
            value = json_member(x, "maxSize");
        }
        if (!json_size(value, UINT32_MAX, &size))
            return wrong(d, value, x, "a size from 0 to 4294967295 expected");
        dimension->size = (uint32_t)size;
    }
    return true;
}

/** Numbers that JSON has no words for, or no bits, are strings. */
static bool read_number(struct document *d, const struct json *v, const struct json *parent, WNNNumber *number)
{
    struct document_text text = v && v->kind == JSON_STRING ? text_of(v) : (struct document_text){"", 0, NULL};

    if (v && v->kind == JSON_NUMBER)
        *number = v->as.number;
    return (v && v->kind == JSON_NUMBER) || document_number(&text, number) || wrong(d, v, parent, "a number expected");
}

static bool read_bytes(struct document *d, const struct json *bytes, const struct json *init, struct document_tensor *t)
{
    uint64_t byte;

    if (!bytes || bytes->kind != JSON_ARRAY)
        return wrong(d, bytes, init, "inlineBytes without a list of bytes");
    uint8_t *data = arena_alloc(&d->arena, bytes->as.list.count + 1);
    if (!data)
        return error_out_of_memory(&d->error);
    t->bytes = data;
    json_for_each(x, bytes)
    {
        if (!json_size(x, UINT8_MAX, &byte))
            return wrong(d, x, NULL, "a byte from 0 to 255 expected");
        data[t->count++] = (uint8_t)byte;
    }
    return true;
}

static bool read_constant(struct document *d, const struct json *object, struct document_tensor *t)
{
    const struct json *init = json_member(object, "init"), *kind = json_member(init, "kind");

    if (!read_type(d, object, &t->type))
        return false;
    if (!init)
        return wrong(d, object, NULL, "a constant without init");
    t->data_place = init->place;
    if (json_is(kind, "scalar")) {
        t->data = DOCUMENT_SCALAR;
        return read_number(d, json_member(init, "value"), init, &t->scalar);
    }
    if (json_is(kind, "weights")) {
        t->data = DOCUMENT_WEIGHTS;
        return read_text(d, json_member(init, "ref"), init, "weights without a ref", &t->key);
    }
    if (json_is(kind, "inlineBytes")) {
        t->data = DOCUMENT_BYTES;
        return read_bytes(d, json_member(init, "bytes"), init, t);
    }
    return wrong(d, kind, init, "kind of init must be scalar, weights or inlineBytes");
}

static bool read_tensors(struct document *d, const struct json *tensors, bool constants)
{
    if (tensors && tensors->kind != JSON_OBJECT)
        return wrong(d, tensors, NULL, "an object with names as members expected");
    json_for_each(x, tensors)
    {
        struct document_tensor *t = document_add_tensor(d, constants);

        if (!t)
            return false;
        t->name = x->key;
        if (!t->name.length)
            return document_error(d, t->name.place, "a name must not be empty");
        if (constants ? !read_constant(d, x, t) : !read_type(d, x, &t->type))
            return false;
    }
    return true;
}

/* ---- nodes ---- */

/** Nesting is bounded by the parser's. */
static struct document_value *read_value(struct document *d, const struct json *json)
{
    struct document_value *v = document_value(d, DOCUMENT_NULL, json->place), *last = NULL, *item;

    if (!v)
        return NULL;
    switch (json->kind) {
    case JSON_NULL:
        break;
    case JSON_BOOL:
        v->kind = DOCUMENT_BOOL;
        v->boolean = json->as.boolean;
        break;
    case JSON_NUMBER:
        v->kind = DOCUMENT_NUMBER;
        v->number = json->as.number;
        break;
    case JSON_STRING:
        v->kind = DOCUMENT_STRING;
        v->text = text_of(json);
        break;
    case JSON_ARRAY:
        v->kind = DOCUMENT_LIST;
        json_for_each(x, json)
        {
            item = read_value(d, x);
            if (!item)
                return NULL;
            document_append(v, &last, item);
        }
        break;
    case JSON_OBJECT:
        document_error(d, json->place, "an object is not an argument of any operator");
        return NULL;
    }
    return v;
}

static bool read_results(struct document *d, const struct json *outputs, const struct json *node, struct document_node *n)
{
    if (!outputs || outputs->kind == JSON_NULL) { /* one, called like the node */
        n->results = arena_alloc(&d->arena, sizeof *n->results);
        n->result_count = 1;
        return n->results ? read_name(d, json_member(node, "id"), node, "a node without id and outputs", n->results)
                          : error_out_of_memory(&d->error);
    }
    if (outputs->kind != JSON_ARRAY)
        return wrong(d, outputs, NULL, "outputs must be a list of names");
    n->results = arena_array(&d->arena, outputs->as.list.count + 1, sizeof *n->results);
    if (!n->results)
        return error_out_of_memory(&d->error);
    json_for_each(x, outputs) if (!read_name(d, x, outputs, "the name of a result expected",
                                             &n->results[n->result_count++])) return false;
    return true;
}

/** Reads an argument, which is positional if it is not a member. */
static bool read_argument(struct document *d, struct document_node *n, const struct json *value)
{
    struct document_argument *a = document_add_argument(d, n, &value->key);

    return a && (a->value = read_value(d, value));
}

static bool read_node(struct document *d, const struct json *node)
{
    const struct json *inputs = json_member(node, "inputs"), *options = json_member(node, "options");

    if (node->kind != JSON_OBJECT)
        return wrong(d, node, NULL, "a node must be an object");
    struct document_node *n = document_add_node(d);
    if (!n || !read_name(d, json_member(node, "op"), node, "op, an operator's name, is missing here", &n->op) ||
        !read_results(d, json_member(node, "outputs"), node, n))
        return false;
    if (inputs && inputs->kind != JSON_ARRAY)
        return wrong(d, inputs, NULL, "inputs must be a list of names");
    json_for_each(x, inputs) if (!read_argument(d, n, x)) return false;
    if (options && options->kind > JSON_NULL && options->kind != JSON_OBJECT)
        return wrong(d, options, NULL, "options must be an object");
    json_for_each(x, options) if (!read_argument(d, n, x)) return false;
    return true;
}

/* ---- the twin ---- */

bool document_parse_json(struct document *d)
{
    const struct json *root = json_parse(&d->lexer, &d->arena), *nodes, *outputs, *version, *name;
    uint64_t number;

    if (!root)
        return false;
    if (!json_is(json_member(root, "format"), "webnn-graph-json"))
        return wrong(d, json_member(root, "format"), root, "no \"format\": \"webnn-graph-json\" here");
    version = json_member(root, "version");
    if (!json_size(version, UINT32_MAX, &number) || number < 1 || number > 2)
        return wrong(d, version, root, "\"version\" must be 1 or 2");
    name = json_member(root, "name");
    if (name && name->kind == JSON_STRING)
        d->name = text_of(name);
    nodes = json_member(root, "nodes");
    if (!nodes || nodes->kind != JSON_ARRAY)
        return wrong(d, nodes, root, "nodes, a list, is missing here");
    outputs = json_member(root, "outputs");
    if (!outputs || outputs->kind != JSON_OBJECT)
        return wrong(d, outputs, root, "outputs, an object, is missing here");
    if (!read_tensors(d, json_member(root, "inputs"), false) || !read_tensors(d, json_member(root, "consts"), true))
        return false;
    json_for_each(x, nodes) if (!read_node(d, x)) return false;
    json_for_each(x, outputs)
    {
        struct document_output *o = document_add_output(d);

        if (!o || !read_name(d, x, outputs, "the name of an operand expected", &o->operand))
            return false;
        o->name = x->key;
        if (!o->name.length)
            return document_error(d, o->name.place, "a name must not be empty");
    }
    return true;
}

/* ---- manifests ---- */

/** Returns whether a member of a layer is not an argument. */
static bool is_description(const struct document_text *key)
{
    static const char *const keys[] = {"id", "op", "inputs", "outputs", "outputShape", "outputShapes", "check", "label"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (document_is(key, keys[i]))
            return true;
    return false;
}

static bool read_layer(struct document *d, const struct json *layer)
{
    const struct json *inputs = json_member(layer, "inputs"), *id = json_member(layer, "id"), *op = json_member(layer, "op");
    struct document_node *n = document_add_node(d);
    struct json label = {.kind = JSON_STRING};

    /* A layer with an id has one result, which is called so. */
    if (!n || !read_name(d, op, layer, "op, an operator's name, is missing here", &n->op) ||
        !read_results(d, id ? NULL : json_member(layer, "outputs"), layer, n))
        return false;
    label.as = (id ? id : op)->as;
    label.place = (id ? id : op)->place;
    label.key = (struct document_text){"label", 5, label.place};
    json_for_each(x, inputs) if (!read_argument(d, n, x)) return false;
    json_for_each(x, layer) if (!is_description(&x->key) && !read_argument(d, n, x)) return false;
    return read_argument(d, n, &label);
}

bool document_parse_manifest(struct document *d)
{
    const struct json *root = json_parse(&d->lexer, &d->arena), *layers = json_member(root, "layers");
    const struct json *name = json_member(root, "name"), *file = json_member(root, "model");
    struct document_tensor *t;
    struct document_output *o;
    char buf[160];

    if (!root)
        return false;
    if (!layers || layers->kind != JSON_ARRAY)
        return file && file->kind == JSON_STRING
                   ? document_error(d, file->place, "no list of layers: the network is in %s",
                                    escape_text(buf, sizeof buf, file->as.string.text, file->as.string.length))
                   : wrong(d, layers, root, "no JSON object with a list of layers");
    if (name && name->kind == JSON_STRING)
        d->name = text_of(name);
    json_for_each(x, json_member(root, "inputs"))
    {
        t = document_add_tensor(d, false);
        if (!t || !read_name(d, json_member(x, "name"), x, "an input without a name", &t->name) || !read_type(d, x, &t->type))
            return false;
    }
    json_for_each(x, json_member(root, "constants"))
    {
        t = document_add_tensor(d, true);
        if (!t || !read_name(d, json_member(x, "id"), x, "a constant without an id", &t->name) ||
            !read_text(d, json_member(x, "file"), x, "a constant without a file", &t->key))
            return false;
        t->data = DOCUMENT_FILE;
    }
    json_for_each(x, layers) if (!read_layer(d, x)) return false;
    json_for_each(x, json_member(root, "outputs"))
    {
        o = document_add_output(d);
        if (!o || !read_name(d, json_member(x, "name"), x, "an output without a name", &o->name))
            return false;
        o->operand = o->name;
        if (!json_member(x, "shape"))
            continue;
        o->type = arena_alloc(&d->arena, sizeof *o->type);
        if (!o->type)
            return error_out_of_memory(&d->error);
        if (!read_type(d, x, o->type))
            return false;
    }
    return true;
}
