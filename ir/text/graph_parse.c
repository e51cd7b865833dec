/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the compiler's graph of a document (docs/formats.md).  Every type goes through type_check and every node through
 * call_infer; errors have line and column.  Nodes may use only what stands before them: there is no way to write a cycle.
 */
#include "ir/text/graph_parse.h"

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

static bool read_type(struct graph_parser *p, const struct document_type *t, struct tensor_type *type)
{
    struct error error = {0};

    *type = (struct tensor_type){.type = t->type, .rank = (uint32_t)t->rank};
    for (size_t i = 0; i < t->rank && i < RANK_MAX; i++) {
        if (t->dims[i].name.text)
            return document_error(&p->d, t->dims[i].name.place, "a free dimension: a graph of the compiler has none");
        type->dims[i] = t->dims[i].size;
    }
    return type_check(type, "the type", &error) || document_error(&p->d, t->place, "%s", error.message);
}

static bool build_input(struct graph_parser *p, const struct document_tensor *t)
{
    struct tensor_type type;

    if (!read_type(p, &t->type, &type))
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

    if (t->data == DOCUMENT_VALUES && type->type == DTYPE_UINT4)
        return document_error(&p->d, t->data_place, "elements of uint4 lie in words, and are written as @bytes or @weights");
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

    if (!read_type(p, &t->type, &type))
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

struct graph *graph_parse(const char *text, size_t length, weights_lookup lookup, void *user, struct error *e)
{
    struct graph_parser p = {.g = graph_create(), .lookup = lookup, .user = user};

    document_begin(&p.d, NULL, text, length);
    if (!p.g)
        error_out_of_memory(e);
    else if (!document_parse_text(&p.d) || !build_graph(&p)) {
        *e = p.d.error;
        graph_free(p.g);
        p.g = NULL;
    }
    name_map_free(&p.values);
    name_map_free(&p.outputs);
    arena_free(&p.d.arena);
    return p.g;
}
