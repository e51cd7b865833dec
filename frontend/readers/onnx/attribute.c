/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads attributes of a node: the value by its name, if it is of the kind that the importer expects, or the fallback.  Every
 * attribute that is read is marked; one that is not marked after the import is refused (walk.c).
 */
#include <string.h>

#include "frontend/readers/onnx/internal.h"

typedef Onnx__AttributeProto attribute;

#define KIND(x) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##x

static const char *const kind_names[] = {"an undefined value",
                                         "a float",
                                         "an integer",
                                         "a string",
                                         "a tensor",
                                         "a graph",
                                         "a list of floats",
                                         "a list of integers",
                                         "a list of strings",
                                         "a list of tensors",
                                         "a list of graphs",
                                         "a sparse tensor",
                                         "a list of sparse tensors",
                                         "a type",
                                         "a list of types"};

static const char *kind_name(int kind)
{
    return kind >= 0 && (size_t)kind < sizeof kind_names / sizeof kind_names[0] ? kind_names[kind] : "an unknown kind of value";
}

/** Returns what an attribute holds; the oldest files do not say, so that the field that is there tells. */
static int kind_of(const attribute *a)
{
    if (a->has_type)
        return a->type;
    return a->has_f           ? KIND(FLOAT)
           : a->has_i         ? KIND(INT)
           : a->has_s         ? KIND(STRING)
           : a->t             ? KIND(TENSOR)
           : a->g             ? KIND(GRAPH)
           : a->n_floats      ? KIND(FLOATS)
           : a->n_ints        ? KIND(INTS)
           : a->n_strings     ? KIND(STRINGS)
           : a->n_tensors     ? KIND(TENSORS)
           : a->n_graphs      ? KIND(GRAPHS)
           : a->sparse_tensor ? KIND(SPARSE_TENSOR)
                              : KIND(UNDEFINED);
}

static const attribute *find_in(size_t count, attribute *const *list, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->name && strcmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}

const Onnx__AttributeProto *onnx_attribute_resolve(const struct onnx_scope *scope, const Onnx__AttributeProto *a)
{
    while (a && a->ref_attr_name && *a->ref_attr_name) {
        while (scope && !scope->function) /* a body within a function */
            scope = scope->outer;
        if (!scope)
            return NULL;
        const attribute *given = find_in(scope->owner->proto->n_attribute, scope->owner->proto->attribute, a->ref_attr_name);
        if (!given) /* the function's own default; no reference is left there */
            return onnx_map_get(&scope->function->attributes, a->ref_attr_name, NULL);
        a = given;
        scope = scope->owner->scope;
    }
    return a;
}

/** Returns the attribute as this node sees it, marked as read; returns NULL if it is absent. */
static const attribute *find(struct onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->proto->n_attribute; i++)
        if (n->proto->attribute[i]->name && strcmp(n->proto->attribute[i]->name, name) == 0) {
            n->attributes_read |= UINT64_C(1) << i;
            return onnx_attribute_resolve(n->scope, n->proto->attribute[i]);
        }
    return NULL;
}

/** Returns the same, of a given kind; another one is refused. */
static const attribute *find_kind(struct onnx_node *n, const char *name, int kind)
{
    const attribute *a = find(n, name);

    if (a && kind_of(a) != kind) {
        /* A list without elements does not show what it is a list of. */
        if (!a->has_type && kind_of(a) == KIND(UNDEFINED) &&
            (kind == KIND(INTS) || kind == KIND(FLOATS) || kind == KIND(STRINGS)))
            return a;
        return onnx_refuse_null(n, "attribute %s is %s, it must be %s", name, kind_name(kind_of(a)), kind_name(kind));
    }
    return a;
}

bool onnx_has(struct onnx_node *n, const char *name)
{
    const attribute *a = find_in(n->proto->n_attribute, n->proto->attribute, name);

    return onnx_attribute_resolve(n->scope, a) != NULL;
}

void onnx_ignore(struct onnx_node *n, const char *name)
{
    find(n, name);
}

int64_t onnx_int(struct onnx_node *n, const char *name, int64_t fallback)
{
    const attribute *a = find_kind(n, name, KIND(INT));

    return a ? a->i : fallback;
}

double onnx_float(struct onnx_node *n, const char *name, double fallback)
{
    const attribute *a = find_kind(n, name, KIND(FLOAT));

    return a ? (double)a->f : fallback;
}

/** Returns a copy that ends with a NUL; one with a NUL within is refused. */
static const char *copy_string(struct onnx_node *n, const char *name, const ProtobufCBinaryData *s)
{
    char *text = onnx_alloc(n, s->len + 1, 1);

    if (text && s->len)
        memcpy(text, s->data, s->len);
    if (text && strlen(text) != s->len)
        onnx_refuse(n, "attribute %s holds a NUL", name);
    return text;
}

const char *onnx_string(struct onnx_node *n, const char *name, const char *fallback)
{
    const attribute *a = find_kind(n, name, KIND(STRING));
    const char *text = a ? copy_string(n, name, &a->s) : NULL;

    return text ? text : fallback;
}

const char *const *onnx_strings(struct onnx_node *n, const char *name, size_t *count)
{
    const attribute *a = find_kind(n, name, KIND(STRINGS));
    const char **list = a ? onnx_alloc(n, a->n_strings + 1, sizeof *list) : NULL;

    *count = 0;
    for (size_t i = 0; list && i < a->n_strings; i++) {
        list[i] = copy_string(n, name, &a->strings[i]);
        if (!list[i])
            return NULL;
    }
    *count = list ? a->n_strings : 0;
    return list;
}

const int64_t *onnx_ints(struct onnx_node *n, const char *name, size_t *count)
{
    static const int64_t none[1];
    const attribute *a = find_kind(n, name, KIND(INTS));

    *count = a && onnx_spend(n->reader, a->n_ints) ? a->n_ints : 0;
    return a ? (*count ? a->ints : none) : NULL;
}

const float *onnx_floats(struct onnx_node *n, const char *name, size_t *count)
{
    static const float none[1];
    const attribute *a = find_kind(n, name, KIND(FLOATS));

    *count = a && onnx_spend(n->reader, a->n_floats) ? a->n_floats : 0;
    return a ? (*count ? a->floats : none) : NULL;
}

struct onnx_value *onnx_tensor(struct onnx_node *n, const char *name)
{
    const attribute *a = find_kind(n, name, KIND(TENSOR));

    if (!a)
        return NULL;
    if (!a->t)
        return onnx_refuse_null(n, "attribute %s holds no tensor", name);
    struct onnx_value *v = onnx_read_tensor(n->reader, a->t, name);
    if (v && v->refusal)
        return onnx_refuse_null(n, "the tensor in attribute %s %s", name, v->refusal);
    return v;
}

const Onnx__GraphProto *onnx_graph(struct onnx_node *n, const char *name)
{
    const attribute *a = find_kind(n, name, KIND(GRAPH));

    if (!a || !a->g)
        onnx_refuse(n, "there is no graph in attribute %s", name);
    return a ? a->g : NULL;
}
