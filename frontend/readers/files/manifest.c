/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes builder calls of a manifest.json, which describes a network layer by layer.  docs/formats.md has the format. */
#include "frontend/readers/files/manifest.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "webnn/webnn_call.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/describe.h"
#include "ir/support/arena.h"
#include "ir/support/text.h"
#include "ir/support/name_map.h"

/* Escapes a name from the file for a message. */
#define SHOWN(name) escape_text((char[160]){0}, 160, (name), strlen(name))

struct manifest {
    char *folder;
    cJSON *root;
    size_t length; /* of manifest.json */
};

/* Holds the files of weights that have been read: naming one many times makes the model no larger. */
struct seen_files {
    struct name_map map; /* of device and inode */
    size_t count;
    struct file_key {
        dev_t device;
        ino_t inode;
    } *keys; /* as many as there are constants */
};

static const cJSON *member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *text_or(const cJSON *object, const char *key, const char *fallback)
{
    const char *text = cJSON_GetStringValue(member(object, key));

    return text ? text : fallback;
}

bool manifest_open(const char *folder, struct manifest **manifest, char *message, size_t size)
{
    struct manifest *m = calloc(1, sizeof *m);
    char *path = file_join(folder, "manifest.json"), *text = NULL;
    size_t length;
    bool ok = false;

    *manifest = NULL;
    if (m && path && (m->folder = strdup(folder))) {
        if (file_read_beside(folder, "manifest.json", &text, &length, message, size)) {
            m->root = cJSON_ParseWithLength(text, length);
            m->length = length;
            ok = cJSON_IsObject(m->root) && (cJSON_IsArray(member(m->root, "layers")) || text_or(m->root, "model", NULL));
            if (!ok)
                file_error(message, size, "%s: no JSON object with a list of layers", PATH_SHOWN(path));
        }
    } else {
        file_error(message, size, "%s: out of memory", PATH_SHOWN(folder));
    }
    free(text);
    free(path);
    if (ok)
        *manifest = m;
    else
        manifest_close(m);
    return ok;
}

void manifest_close(struct manifest *m)
{
    if (!m)
        return;
    cJSON_Delete(m->root);
    free(m->folder);
    free(m);
}

const char *manifest_folder(const struct manifest *m)
{
    return m->folder;
}

const char *manifest_name(const struct manifest *m)
{
    return text_or(m->root, "name", "");
}

const char *manifest_task(const struct manifest *m)
{
    return text_or(m->root, "task", "");
}

size_t manifest_case_count(const struct manifest *m)
{
    const cJSON *cases = member(m->root, "cases");

    return cJSON_IsArray(cases) ? (size_t)cJSON_GetArraySize(cases) : 0;
}

static const cJSON *case_at(const struct manifest *m, size_t index)
{
    return cJSON_GetArrayItem(member(m->root, "cases"), (int)index);
}

const char *manifest_case_text(const struct manifest *m, size_t index, const char *key)
{
    return cJSON_GetStringValue(member(case_at(m, index), key));
}

double manifest_case_number(const struct manifest *m, size_t index, const char *key, double fallback)
{
    const cJSON *n = member(case_at(m, index), key);

    return cJSON_IsNumber(n) ? n->valuedouble : fallback;
}

/* ---- building ---- */

/** Returns the operand of a name, or NULL if none has it. */
static WNNOperand table_find(const struct name_map *t, const char *name)
{
    return name_map_find(t, name, strlen(name));
}

static bool table_add(struct name_map *t, const char *name, WNNOperand operand, char *message, size_t size)
{
    switch (name_map_add(t, name, strlen(name), operand)) {
    case NAME_MAP_ADDED:
        return true;
    case NAME_MAP_EXISTS:
        return file_error(message, size, "the manifest defines %s twice", SHOWN(name));
    case NAME_MAP_OUT_OF_MEMORY:
        break;
    }
    return file_error(message, size, "out of memory");
}

static WNNOperandDataType data_type_named(const char *name)
{
    for (int t = WNNOperandDataType_Float32; t <= WNNOperandDataType_Uint8; t++)
        if (!strcmp(wnnOperandDataTypeGetName((WNNOperandDataType)t), name))
            return (WNNOperandDataType)t;
    return WNNOperandDataType_Undefined;
}

/** Adds what a builder call returned, or says why it refused. */
static bool add_operand(struct name_map *t, const char *kind, const char *name, WNNOperand operand, char *message, size_t size)
{
    WNNStringView text;

    if (!wnnOperandIsError(operand))
        return table_add(t, name, operand, message, size);
    text = wnnGetLastErrorMessage();
    return file_error(message, size, "%s %s: %.*s", kind, SHOWN(name), (int)text.length, text.data);
}

static bool add_input(WNNGraphBuilder b, const cJSON *input, struct name_map *t, char *message, size_t size)
{
    const char *name = text_or(input, "name", "");
    uint32_t shape[NPY_RANK_MAX];
    size_t rank = 0;
    const cJSON *d;
    WNNOperandDescriptor descriptor = {data_type_named(text_or(input, "dataType", "")), 0, shape};

    cJSON_ArrayForEach(d, member(input, "shape"))
    {
        if (rank == NPY_RANK_MAX || !cJSON_IsNumber(d) || d->valuedouble < 1 || d->valuedouble > INT32_MAX)
            return file_error(message, size, "input %s: bad shape", SHOWN(name));
        shape[rank++] = (uint32_t)d->valuedouble;
    }
    descriptor.rank = rank;
    return add_operand(t, "input", name, wnnGraphBuilderInput(b, WNN_STR(name), &descriptor), message, size);
}

static void free_weight(void const *data, size_t length, void *userdata1, void *userdata2)
{
    (void)length;
    (void)userdata1;
    (void)userdata2;
    free((void *)data);
}

/** Charges reading a file, which makes the model's budget larger the first time. */
static bool charge_file(struct model *model, const char *path, struct seen_files *seen, char *message, size_t size)
{
    struct file_key *key = &seen->keys[seen->count];
    char *text = NULL;
    struct stat s;
    bool ok;

    if (stat(path, &s))
        return true;             /* reading it says why */
    memset(key, 0, sizeof *key); /* padding is compared, too */
    key->device = s.st_dev;
    key->inode = s.st_ino;
    switch (name_map_add(&seen->map, (const char *)key, sizeof *key, key)) {
    case NAME_MAP_ADDED:
        seen->count++;
        model_add_source(model, (uint64_t)s.st_size);
        break;
    case NAME_MAP_EXISTS:
        break;
    case NAME_MAP_OUT_OF_MEMORY:
        return file_error(message, size, "out of memory");
    }
    ok = model_spend(model, "reading a file of weights", 0, (uint64_t)s.st_size, &text) ||
         file_error(message, size, "%s", text ? text : "out of memory");
    free(text);
    return ok;
}

static bool add_constant(const struct manifest *m, struct model *model, const cJSON *constant, struct name_map *t,
                         struct seen_files *seen, char *message, size_t size)
{
    const char *id = text_or(constant, "id", ""), *file = text_or(constant, "file", "");
    WNNBufferReleaseCallbackInfo release = {free_weight, NULL, NULL};
    WNNOperandDescriptor descriptor;
    struct npy_array array;
    char reason[256], *path;
    bool ok;

    path = file_join(m->folder, file);
    ok = path ? charge_file(model, path, seen, message, size) : file_error(message, size, "out of memory");
    free(path);
    if (!ok)
        return false;
    if (!npy_read_beside(m->folder, file, &array, reason, sizeof reason))
        return file_error(message, size, "constant %s: file %s", SHOWN(id), reason);
    descriptor = npy_descriptor(&array);
    /* From here on the builder owns array.data, also if it refuses the constant. */
    return add_operand(t, "constant", id,
                       wnnGraphBuilderConstantLent(model->builder, &descriptor, array.data, array.byteLength, release), message,
                       size);
}

/**
 * Makes an argument of a JSON value; text that names an operand is that operand.  items receives a list's elements (malloc'ed).
 * Returns DataError if it is no argument, UnknownError if memory runs out.
 */
static WNNStatus to_value(const cJSON *json, const struct name_map *t, WNNMethodValue *value, WNNMethodValue **items)
{
    const char *text = cJSON_GetStringValue(json);
    const cJSON *element;
    WNNOperand operand;
    size_t n = 0;

    *items = NULL;
    if (text) {
        operand = table_find(t, text);
        *value = operand ? wnnMethodValueOperand(operand) : wnnMethodValueString(WNN_STR(text));
    } else if (cJSON_IsBool(json)) {
        *value = wnnMethodValueBool(cJSON_IsTrue(json));
    } else if (cJSON_IsNumber(json)) {
        *value = wnnMethodValueNumber(wnnNumber(json->valuedouble));
    } else if (cJSON_IsArray(json)) {
        *items = calloc((size_t)cJSON_GetArraySize(json) + 1, sizeof **items);
        if (!*items)
            return WNNStatus_UnknownError;
        cJSON_ArrayForEach(element, json)
        {
            WNNMethodValue *nested;
            WNNStatus status = to_value(element, t, &(*items)[n++], &nested);

            if (status || nested) {
                free(nested);
                free(*items);
                *items = NULL;
                return status ? status : WNNStatus_DataError;
            }
        }
        *value = wnnMethodValueList(n, *items);
    } else {
        return WNNStatus_DataError;
    }
    return WNNStatus_Success;
}

static bool is_description(const char *key)
{
    static const char *const keys[] = {"id", "op", "inputs", "outputs", "outputShape", "outputShapes", "check"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!strcmp(keys[i], key))
            return true;
    return false;
}

static WNNStatus set_arguments(WNNMethodCall call, const cJSON *layer, const struct name_map *t)
{
    const cJSON *inputs = member(layer, "inputs"), *x;
    WNNMethodValue value, *items;
    WNNStatus status = WNNStatus_Success;
    size_t position = 0;

    if (wnnMethodCallArgumentCount(call) && !strcmp(wnnMethodCallArgumentName(call, 0), "inputs")) {
        /* concat takes its operands as one list. */
        status = to_value(inputs, t, &value, &items);
        if (!status)
            status = wnnMethodCallArgument(call, 0, value);
        free(items);
    } else {
        cJSON_ArrayForEach(x, inputs)
        {
            if (status)
                continue;
            status = to_value(x, t, &value, &items);
            if (items) /* an operand is no list */
                status = WNNStatus_DataError;
            if (!status)
                status = wnnMethodCallArgument(call, position++, value);
            free(items);
        }
    }
    cJSON_ArrayForEach(x, layer)
    {
        if (status || is_description(x->string))
            continue;
        status = to_value(x, t, &value, &items);
        if (!status)
            status = wnnMethodCallSet(call, WNN_STR(x->string), value);
        free(items);
    }
    return status;
}

static bool add_layer(WNNGraphBuilder b, const cJSON *layer, struct name_map *t, char *message, size_t size)
{
    const char *op = text_or(layer, "op", ""), *id = text_or(layer, "id", NULL);
    const cJSON *outputs = member(layer, "outputs"), *name;
    WNNMethodCall call = wnnMethodCallCreate(WNN_STR(op));
    WNNStringView text;
    WNNStatus status;
    size_t i = 0;
    bool ok = true;

    if (!call) {
        text = wnnGetLastErrorMessage();
        return file_error(message, size, "layer %s: %.*s", SHOWN(id ? id : ""), (int)text.length, text.data);
    }
    status = set_arguments(call, layer, t);
    if (!status)
        status = wnnMethodCallSet(call, WNN_STR("label"), wnnMethodValueString(WNN_STR(id ? id : op)));
    if (!status)
        status = wnnMethodCallInvoke(call, b);
    if (status == WNNStatus_DataError) {
        ok = file_error(message, size, "layer %s: an argument of %s is not what the operator takes", SHOWN(id ? id : ""), op);
    } else if (status == WNNStatus_UnknownError) {
        ok = file_error(message, size, "layer %s: out of memory", SHOWN(id ? id : ""));
    } else if (status) {
        text = wnnGetLastErrorMessage();
        ok = file_error(message, size, "layer %s: %.*s", SHOWN(id ? id : ""), (int)text.length, text.data);
    } else if (id) {
        ok = table_add(t, id, wnnMethodCallResult(call, 0), message, size);
    } else {
        cJSON_ArrayForEach(name, outputs)
        {
            if (ok && cJSON_IsString(name) && i < wnnMethodCallResultCount(call))
                ok = table_add(t, name->valuestring, wnnMethodCallResult(call, i), message, size);
            i++;
        }
    }
    wnnMethodCallDestroy(call);
    return ok;
}

static bool add_constants(const struct manifest *m, struct model *model, struct name_map *t, char *message, size_t size)
{
    const cJSON *constants = member(m->root, "constants"), *x;
    struct seen_files seen = {.keys = calloc((size_t)cJSON_GetArraySize(constants) + 1, sizeof *seen.keys)};
    bool ok = seen.keys || file_error(message, size, "out of memory");

    cJSON_ArrayForEach(x, constants)
    {
        ok = ok && add_constant(m, model, x, t, &seen, message, size);
    }
    name_map_free(&seen.map);
    free(seen.keys);
    return ok;
}

static bool add_everything(const struct manifest *m, struct model *model, struct name_map *t, char *message, size_t size)
{
    const cJSON *x;

    cJSON_ArrayForEach(x, member(m->root, "inputs"))
    {
        if (!add_input(model->builder, x, t, message, size))
            return false;
    }
    if (!add_constants(m, model, t, message, size))
        return false;
    cJSON_ArrayForEach(x, member(m->root, "layers"))
    {
        if (!add_layer(model->builder, x, t, message, size))
            return false;
    }
    return true;
}

/** Makes the ports of the model, in the manifest's order. */
static bool add_ports(const struct manifest *m, const struct name_map *t, struct model *model, char *message, size_t size)
{
    const cJSON *x;

    cJSON_ArrayForEach(x, member(m->root, "inputs"))
    {
        const char *name = text_or(x, "name", "");

        if (!model_add_input(model, name, table_find(t, name), false))
            return file_error(message, size, "out of memory");
    }
    cJSON_ArrayForEach(x, member(m->root, "outputs"))
    {
        const char *name = text_or(x, "name", "");
        WNNOperand operand = table_find(t, name);

        if (!operand)
            return file_error(message, size, "output %s is no layer's result", SHOWN(name));
        if (!model_add_output(model, name, operand, false))
            return file_error(message, size, "out of memory");
    }
    return true;
}

bool manifest_model(const struct manifest *m, WNNContext context, const struct model_options *options, struct model *model,
                    char *message, size_t size)
{
    struct name_map table = {0};
    static const struct model_options none;
    char *text = NULL;
    bool ok = false;

    memset(model, 0, sizeof *model);
    if (!cJSON_IsArray(member(m->root, "layers")))
        return file_error(message, size, "no list of layers: the network is in %s", SHOWN(text_or(m->root, "model", "")));
    model->name = strdup(manifest_name(m));
    if (!model->name) {
        file_error(message, size, "out of memory");
    } else if (!model_create_builder(context, options ? options : &none, m->length, model, &text)) {
        file_error(message, size, "%s", text ? text : "out of memory");
        free(text);
    } else {
        ok = add_everything(m, model, &table, message, size) && add_ports(m, &table, model, message, size);
    }
    name_map_free(&table);
    if (!ok)
        model_free(model);
    return ok;
}

/** Checks that shapes agree with the manifest, which fixes all sizes and weights. */
static bool check_options(const struct model_options *o, const struct model *model, char *message, size_t size)
{
    if (o->dim_count)
        return file_error(message, size, "a manifest has no dimension %s: its sizes are fixed", SHOWN(o->dims[0].name));
    if (o->constant_count)
        return file_error(message, size, "input %s of a manifest cannot be a constant", SHOWN(o->constants[0].name));
    if (o->binding_count)
        return file_error(message, size, "input %s of a manifest cannot be an operand", SHOWN(o->bindings[0].name));
    if (o->weights)
        return file_error(message, size, "a manifest names the files of its weights itself");
    for (size_t i = 0; i < o->shape_count; i++) {
        const struct model_shape *shape = &o->shapes[i];
        const WNNOperandDescriptor *d = NULL;

        for (size_t k = 0; k < model->input_count; k++)
            if (!strcmp(model->inputs[k].name, shape->name))
                d = &model->inputs[k].descriptor;
        if (!d) {
            char names[300] = "";
            for (size_t k = 0, at = 0; k < model->input_count && at < sizeof names; k++)
                at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", k ? ", " : "", SHOWN(model->inputs[k].name));
            return file_error(message, size, "a shape is given for %s, which is no input (%s)", SHOWN(shape->name), names);
        }
        if (d->rank != shape->rank || (shape->rank && memcmp(d->shape, shape->dims, shape->rank * sizeof *shape->dims)))
            return file_error(message, size, "the shape given for input %s is not the manifest's", SHOWN(shape->name));
    }
    return true;
}

bool model_read_manifest(WNNContext context, const char *folder, const struct model_options *options, struct model *model,
                         char **message)
{
    struct manifest *m;
    char text[1024];
    bool ok;

    memset(model, 0, sizeof *model);
    if (!manifest_open(folder, &m, text, sizeof text))
        return model_error(message, "%s", text);
    ok = manifest_model(m, context, options, model, text, sizeof text) &&
         (!options || check_options(options, model, text, sizeof text));
    manifest_close(m);
    if (!ok) {
        model_error(message, "%s: %s", PATH_SHOWN(folder), text);
        model_free(model);
    }
    return ok;
}

WNNStatus manifest_build(const struct manifest *m, WNNContext context, WNNGraph *graph, char *message, size_t size)
{
    struct model model;
    WNNStatus status;
    char *text;

    *graph = NULL;
    if (!manifest_model(m, context, NULL, &model, message, size))
        return WNNStatus_DataError;
    status = model_build(&model, graph, &text);
    if (status)
        file_error(message, size, "%s", text ? text : "out of memory");
    free(text);
    model_free(&model);
    return status;
}

/* ---- cases ---- */

/* Arrays are {"NAME": "FILE"} or [{"name": "NAME", "file": "FILE"}]. */
static bool load_arrays(const struct manifest *m, const cJSON *files, const cJSON *tolerances, size_t *count,
                        struct manifest_array **arrays, char *message, size_t size)
{
    const cJSON *f;

    *count = 0;
    *arrays = calloc((size_t)cJSON_GetArraySize(files) + 1, sizeof **arrays);
    if (!*arrays)
        return file_error(message, size, "out of memory");
    cJSON_ArrayForEach(f, files)
    {
        struct manifest_array *a = &(*arrays)[*count];
        const bool listed = !f->string;
        const char *name = listed ? text_or(f, "name", NULL) : f->string;
        const char *file = listed ? text_or(f, "file", NULL) : cJSON_GetStringValue(f);
        const cJSON *atol = member(member(tolerances, name), "atol");
        char reason[256];

        if (!name || !file)
            return file_error(message, size, "%s: no file is named", SHOWN(name ? name : "an array without a name"));
        if (!npy_read_beside(m->folder, file, &a->array, reason, sizeof reason))
            return file_error(message, size, "%s: file %s", SHOWN(name), reason);
        a->name = strdup(name);
        if (!a->name) {
            npy_free(&a->array);
            return file_error(message, size, "out of memory");
        }
        a->atol = cJSON_IsNumber(atol) ? atol->valuedouble : 0;
        ++*count;
    }
    return true;
}

bool manifest_case_load(const struct manifest *m, size_t index, struct manifest_case *out, char *message, size_t size)
{
    const cJSON *c = case_at(m, index);

    memset(out, 0, sizeof *out);
    if (!c)
        return file_error(message, size, "%s has no case %zu", m->folder, index);
    if (load_arrays(m, member(c, "inputs"), NULL, &out->input_count, &out->inputs, message, size) &&
        load_arrays(m, member(c, "outputs"), member(c, "tolerance"), &out->output_count, &out->outputs, message, size))
        return true;
    manifest_case_free(out);
    return false;
}

static void free_arrays(size_t count, struct manifest_array *arrays)
{
    for (size_t i = 0; i < count; i++) {
        free(arrays[i].name);
        npy_free(&arrays[i].array);
    }
    free(arrays);
}

void manifest_case_free(struct manifest_case *c)
{
    free_arrays(c->input_count, c->inputs);
    free_arrays(c->output_count, c->outputs);
    memset(c, 0, sizeof *c);
}

/* ---- descriptions ---- */

/** Declares an input or an output; an output may have no shape. */
static bool declare(struct model_description *d, const cJSON *port, WNNModelDeclaration *out)
{
    const cJSON *shape = member(port, "shape"), *x;
    const char *name = text_or(port, "name", "");
    WNNModelDimension *dimensions;
    size_t i = 0;

    if (!describe_declaration(d, out, name, strlen(name), (size_t)cJSON_GetArraySize(shape), &dimensions))
        return false;
    out->dataType = data_type_named(text_or(port, "dataType", ""));
    out->hasShape = cJSON_IsArray(shape);
    cJSON_ArrayForEach(x, shape)
    {
        double size = cJSON_IsNumber(x) ? x->valuedouble : 0;

        dimensions[i++].size = size >= 1 && size <= INT32_MAX ? (uint32_t)size : UINT32_MAX; /* is refused when it is read */
    }
    return true;
}

static bool declare_ports(struct model_description *d, const struct manifest *m)
{
    const cJSON *inputs = member(m->root, "inputs"), *outputs = member(m->root, "outputs"), *x;
    bool ok = describe_reserve(d, (size_t)cJSON_GetArraySize(inputs), (size_t)cJSON_GetArraySize(outputs), 0);

    cJSON_ArrayForEach(x, inputs)
    {
        ok = ok && declare(d, x, &d->inputs[d->input_count++]);
    }
    cJSON_ArrayForEach(x, outputs)
    {
        ok = ok && declare(d, x, &d->outputs[d->output_count++]);
    }
    return ok;
}

/** Names manifest.json itself and the files of weights. */
static bool name_files(struct model_description *d, const struct manifest *m)
{
    char *path = file_join(m->folder, "manifest.json");
    const cJSON *x;
    bool ok = path && describe_file(d, path, "manifest.json");

    cJSON_ArrayForEach(x, member(m->root, "constants"))
    {
        ok = ok && describe_file(d, path, text_or(x, "file", ""));
    }
    free(path);
    return ok;
}

bool model_describe_manifest(const char *folder, struct model_description *d, char **message)
{
    struct manifest *m;
    char text[1024];
    bool ok;

    memset(d, 0, sizeof *d);
    if (!manifest_open(folder, &m, text, sizeof text))
        return describe_failed(d, folder, text, message);
    d->format = "manifest";
    d->name = arena_string(&d->memory, manifest_name(m), strlen(manifest_name(m)));
    ok = d->name && declare_ports(d, m) && name_files(d, m);
    manifest_close(m);
    return ok || describe_failed(d, folder, NULL, message);
}
