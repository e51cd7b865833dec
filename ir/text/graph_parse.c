/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the compiler's graph of a document (docs/formats.md).  Every type goes through type_check and every node through
 * call_infer; errors have line and column.  Nodes may use only what stands before them: there is no way to write a cycle.
 */
#include "ir/text/graph_parse.h"

#include "ir/graph/dims.h"

/* This is what @scalar may fill in one text: a few characters must not cost the machine's memory. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static const int64_t scalar_bytes_max = INT64_C(1) << 20;
#else
static const int64_t scalar_bytes_max = INT64_C(1) << 30;
#endif

bool parse_define(struct graph_parser *p, const struct document_text *name, struct value *v)
{
    v->name = arena_string(&p->g->arena, name->text, name->length);
    v->name_length = name->length;
    return v->name ? document_define(&p->d, &p->values, "name", name, v) : error_out_of_memory(&p->d.error);
}

/* Finds the open dimension of a name that the graph has.  Returns false after an error. */
static bool read_name(struct graph_parser *p, const struct document_dimension *d, uint32_t *dim)
{
    struct error error = {0};
    uint32_t least, most, name = 0;
    size_t length;

    for (; name < dims_name_count(p->g); name++) {
        const char *text = dims_name_at(p->g, name, &length);

        if (length == d->name.length && !memcmp(text, d->name.text, length))
            break;
    }
    if (name == dims_name_count(p->g))
        return document_error(&p->d, d->name.place, "a free dimension: a graph of the compiler has none");
    dims_name_range(p->g, name, &least, &most);
    *dim = dims_name(p->g, d->name.text, d->name.length, least, d->size, "the type", &error);
    return *dim != DIM_NONE || document_error(&p->d, d->name.place, "%s", error.message);
}

static bool read_type(struct graph_parser *p, const struct document_type *t, bool is_input, struct tensor_type *type)
{
    struct error error = {0};
    uint32_t open[RANK_MAX] = {0};

    *type = (struct tensor_type){.type = t->type, .rank = (uint32_t)t->rank};
    for (size_t i = 0; i < t->rank && i < RANK_MAX; i++) {
        if (t->dims[i].name.text && !is_input)
            return document_error(&p->d, t->dims[i].name.place, "a constant has no free dimension");
        if (t->dims[i].name.text && !read_name(p, &t->dims[i], &open[i]))
            return false;
        type->dims[i] = open[i] ? 1 : t->dims[i].size;
    }
    if (!type_check(type, "the type", &error))
        return document_error(&p->d, t->place, "%s", error.message);
    for (uint32_t i = 0; i < type->rank; i++)
        type->dims[i] = open[i] ? open[i] : type->dims[i];
    return true;
}

static bool build_input(struct graph_parser *p, const struct document_tensor *t)
{
    struct tensor_type type;

    if (!read_type(p, &t->type, true, &type))
        return false;
    struct value *v = graph_add_input(p->g, t->name.text, t->name.length, &type);
    return v ? parse_define(p, &t->name, v) : error_out_of_memory(&p->d.error);
}

static bool find_weights(struct graph_parser *p, const struct document_tensor *t, const struct tensor_type *type,
                         struct constant **c)
{
    struct error error = {0};

    if (!p->lookup)
        return document_error(&p->d, t->data_place, "no weights were given with this text");
    if (!p->lookup(p->user, t->key.text, type, c, &error)) {
        if (error.status != WNNStatus_Success && error.status != WNNStatus_TypeError && error.status != WNNStatus_DataError)
            return error_set(&p->d.error, error.status, "%s", error.message);
        return document_error(&p->d, t->data_place, "%s", error.message);
    }
    return (*c && (int64_t)(*c)->bytes == type_bytes(type)) ||
           document_error(&p->d, t->data_place, "the weights have %zu bytes, the type has %lld", *c ? (*c)->bytes : (size_t)0,
                          (long long)type_bytes(type));
}

static bool read_data(struct graph_parser *p, const struct document_tensor *t, const struct tensor_type *type,
                      struct constant **c)
{
    const size_t bytes = (size_t)type_bytes(type);

    if (t->data == DOCUMENT_VALUES && dtype_packed_bits(type->type))
        return document_error(&p->d, t->data_place, "elements of %s lie in words, and are written as @bytes or @weights",
                              dtype_name(type->type));
    if (t->data == DOCUMENT_SCALAR && (p->scalar_bytes += (int64_t)bytes) > scalar_bytes_max)
        return document_error(&p->d, t->data_place, "@scalar fills more than %lld bytes", (long long)scalar_bytes_max);
    if (!document_check_count(&p->d, t, bytes, (size_t)type_elements(type)))
        return false;
    *c = constant_create(NULL, bytes);
    if (!*c)
        return error_out_of_memory(&p->d.error);
    document_elements(t, type->type, bytes, (char *)(*c)->data);
    return true;
}

static bool build_constant(struct graph_parser *p, const struct document_tensor *t)
{
    struct constant *c = NULL;
    struct tensor_type type;

    if (!read_type(p, &t->type, false, &type))
        return false;
    if (!(t->data == DOCUMENT_WEIGHTS ? find_weights : read_data)(p, t, &type, &c)) {
        constant_release(c);
        return false;
    }
    struct value *v = graph_add_constant(p->g, &type, c);
    return v ? parse_define(p, &t->name, v) : error_out_of_memory(&p->d.error);
}

static bool build_output(struct graph_parser *p, const struct document_output *o)
{
    struct value *v = document_find(&p->d, &p->values, &o->operand);

    return v && document_define(&p->d, &p->outputs, "output", &o->name, v) &&
           (graph_add_output(p->g, o->name.text, o->name.length, v) || error_out_of_memory(&p->d.error));
}

static bool build_graph(struct graph_parser *p)
{
    for (const struct document_tensor *t = p->d.first_input; t; t = t->next)
        if (!build_input(p, t))
            return false;
    for (const struct document_tensor *t = p->d.first_constant; t; t = t->next)
        if (!build_constant(p, t))
            return false;
    for (struct document_node *n = p->d.first_node; n; n = n->next)
        if (!parse_node(p, n))
            return false;
    for (const struct document_output *o = p->d.first_output; o; o = o->next)
        if (!build_output(p, o))
            return false;
    return parse_marks(p);
}

bool graph_parse_named(struct graph *g, const char *text, size_t length, weights_lookup lookup, void *user, struct error *e)
{
    struct graph_parser p = {.g = g, .lookup = lookup, .user = user};

    document_begin(&p.d, NULL, text, length);
    const bool ok = document_parse_text(&p.d) && build_graph(&p);
    if (!ok)
        *e = p.d.error;
    name_map_free(&p.values);
    name_map_free(&p.outputs);
    arena_free(&p.d.arena);
    return ok;
}

struct graph *graph_parse(const char *text, size_t length, weights_lookup lookup, void *user, struct error *e)
{
    struct graph *g = graph_create();

    if (!g)
        return error_null_memory(e);
    if (graph_parse_named(g, text, length, lookup, user, e))
        return g;
    graph_free(g);
    return NULL;
}
