/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Maps operator sets, the model's functions and their attributes, which are looked up by name, often.  The maps are made once,
 * so that reading takes time in proportion to the file.
 */
#include <string.h>

#include "frontend/readers/onnx/internal.h"

/** ONNX's own domain has two names. */
static const char *domain_name(const char *domain)
{
    return domain && strcmp(domain, "ai.onnx") != 0 ? domain : "";
}

bool onnx_map_opsets(struct onnx_reader *r, struct name_map *map, size_t count, Onnx__OperatorSetIdProto *const *opsets)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = domain_name(opsets[i]->domain);

        if (onnx_map_add(map, name, opsets[i]) == NAME_MAP_OUT_OF_MEMORY)
            return onnx_fail_memory(r);
        name_map_replace(map, name, strlen(name), opsets[i]); /* the last one counts */
    }
    return true;
}

const char *onnx_opset(const struct onnx_scope *scope, const char *domain, bool *imported, int64_t *version)
{
    const char *name = domain_name(domain);
    const Onnx__OperatorSetIdProto *set = onnx_map_get(scope->opsets, name, imported);

    if (*imported)
        *version = set->version;
    if (!scope->opsets->table.count && !*name) { /* before version 3 of the format there were no sets */
        *version = 1;
        *imported = true;
    }
    return name;
}

/* ---- functions ---- */

/** Makes of domain, overload and name, each with its NUL, what tells functions apart.  Returns NULL if memory runs out. */
static const char *function_key(struct onnx_reader *r, const char *domain, const char *overload, const char *name,
                                size_t *length)
{
    const char *const parts[] = {domain ? domain : "", overload ? overload : "", name ? name : ""};
    size_t sizes[3], at = 0;

    *length = 0;
    for (size_t i = 0; i < 3; i++)
        *length += sizes[i] = strlen(parts[i]) + 1;
    char *key = onnx_reader_alloc(r, *length, 1);
    for (size_t i = 0; key && i < 3; at += sizes[i++])
        memcpy(key + at, parts[i], sizes[i]);
    return key;
}

bool onnx_map_functions(struct onnx_reader *r)
{
    for (size_t i = 0; i < r->proto->n_functions; i++) {
        struct onnx_function *f = onnx_reader_alloc(r, 1, sizeof *f);
        const Onnx__FunctionProto *proto = r->proto->functions[i];
        size_t length;
        const char *key = f ? function_key(r, proto->domain, proto->overload, proto->name, &length) : NULL;

        if (!key)
            return false;
        f->proto = proto;
        f->next = r->functions;
        r->functions = f;
        /* Of two that are called alike the first one counts. */
        if (name_map_add(&r->functions_by_name, key, length, f) == NAME_MAP_OUT_OF_MEMORY)
            return onnx_fail_memory(r);
    }
    return true;
}

/** Fills in a function's attributes and operator sets when it is called for the first time. */
static bool prepare_function(struct onnx_reader *r, struct onnx_function *f)
{
    const Onnx__FunctionProto *proto = f->proto;
    bool ok = onnx_map_opsets(r, &f->opsets, proto->n_opset_import, proto->opset_import);

    for (size_t i = 0; ok && i < proto->n_attribute_proto; i++)
        if (proto->attribute_proto[i]->name)
            ok = onnx_map_add(&f->attributes, proto->attribute_proto[i]->name, proto->attribute_proto[i]) !=
                     NAME_MAP_OUT_OF_MEMORY ||
                 onnx_fail_memory(r);
    for (size_t i = 0; ok && i < proto->n_attribute; i++) /* without a default */
        ok = onnx_map_add(&f->attributes, proto->attribute[i], NULL) != NAME_MAP_OUT_OF_MEMORY || onnx_fail_memory(r);
    f->prepared = ok;
    return ok;
}

struct onnx_function *onnx_find_function(struct onnx_reader *r, const Onnx__NodeProto *node, const char *domain)
{
    size_t length;

    if (!r->proto->n_functions)
        return NULL;
    const char *key = function_key(r, domain, node->overload, node->op_type, &length);
    struct onnx_function *f = key ? name_map_find(&r->functions_by_name, key, length) : NULL;
    return f && (f->prepared || prepare_function(r, f)) ? f : NULL;
}

void onnx_free_functions(struct onnx_reader *r)
{
    name_map_free(&r->functions_by_name);
    for (struct onnx_function *f = r->functions; f; f = f->next) {
        name_map_free(&f->attributes);
        name_map_free(&f->opsets);
    }
}
