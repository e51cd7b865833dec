/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements documents: their pieces, their errors, and the two readers that start with one (frontend/text/document.h). */
#include "frontend/text/document.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/model/describe.h"
#include "frontend/text/weights.h"

#define APPEND(first, last, item)                                                                                              \
    do {                                                                                                                       \
        if (!(item))                                                                                                           \
            error_out_of_memory(&d->error);                                                                                    \
        else if (last)                                                                                                         \
            (last)->next = (item), (last) = (item);                                                                            \
        else                                                                                                                   \
            (first) = (last) = (item);                                                                                         \
    } while (0)

struct document_tensor *document_add_tensor(struct document *d, bool constant)
{
    struct document_tensor *t = arena_alloc(&d->arena, sizeof *t);

    if (constant)
        APPEND(d->first_constant, d->last_constant, t);
    else
        APPEND(d->first_input, d->last_input, t);
    return t;
}

struct document_node *document_add_node(struct document *d)
{
    struct document_node *n = arena_alloc(&d->arena, sizeof *n);

    APPEND(d->first_node, d->last_node, n);
    return n;
}

struct document_output *document_add_output(struct document *d)
{
    struct document_output *o = arena_alloc(&d->arena, sizeof *o);

    APPEND(d->first_output, d->last_output, o);
    return o;
}

struct document_argument *document_add_argument(struct document *d, struct document_node *n, const struct document_text *key)
{
    struct document_argument *a = arena_alloc(&d->arena, sizeof *a);

    /* Positional ones may be the operands of a concat, any number of them. */
    if (a && key->text && ++n->argument_count > DOCUMENT_ARGUMENTS_MAX) {
        document_error(d, key->place, "more than %d arguments", DOCUMENT_ARGUMENTS_MAX);
        return NULL;
    }
    if (a)
        a->key = *key;
    APPEND(n->first_argument, n->last_argument, a);
    return a;
}

struct document_value *document_value(struct document *d, enum document_value_kind kind, const char *place)
{
    struct document_value *v = arena_alloc(&d->arena, sizeof *v);

    if (!v) {
        error_out_of_memory(&d->error);
        return NULL;
    }
    v->kind = kind;
    v->place = place;
    return v;
}

bool document_error(struct document *d, const char *place, const char *format, ...)
{
    char text[sizeof d->error.message];
    va_list arguments;

    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        text[0] = '\0';
    va_end(arguments);
    return lex_error_at(&d->lexer, place, "%s", text);
}

bool document_data_type(struct document *d, const char *text, size_t length, const char *place, WNNOperandDataType *type)
{
    static const struct {
        const char *name, *word;
        WNNOperandDataType type;
    } types[] = {
        {"float32", "f32", WNNOperandDataType_Float32}, {"float16", "f16", WNNOperandDataType_Float16},
        {"int32", "i32", WNNOperandDataType_Int32},     {"uint32", "u32", WNNOperandDataType_Uint32},
        {"int64", "i64", WNNOperandDataType_Int64},     {"uint64", "u64", WNNOperandDataType_Uint64},
        {"int8", "i8", WNNOperandDataType_Int8},        {"uint8", "u8", WNNOperandDataType_Uint8},
        {"int4", "i4", WNNOperandDataType_Undefined},   {"uint4", "u4", WNNOperandDataType_Undefined},
    };
    char buf[80];

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if ((strlen(types[i].name) != length || memcmp(types[i].name, text, length)) &&
            (strlen(types[i].word) != length || memcmp(types[i].word, text, length)))
            continue;
        *type = types[i].type;
        return *type || document_error(d, place, "the specification no longer has the data types int4 and uint4");
    }
    return document_error(d, place, "'%s' is no data type", escape_text(buf, sizeof buf, text, length));
}

size_t document_stored_size(const char *text, size_t length)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"bfloat16", 2}, {"bf16", 2}, {"float64", 8}, {"f64", 8}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && !memcmp(types[i].name, text, length))
            return types[i].size;
    return 0;
}

/* ---- the readers ---- */

/** Begins a document of these bytes. */
static void begin(struct document *d, const char *path, const char *bytes, size_t length)
{
    *d = (struct document){.path = path, .lexer = {.text = bytes, .length = length}};
    d->lexer.error = &d->error;
    if (length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3)) /* a byte order mark */
        d->lexer.at = 3;
}

/** Says why a document could not be read.  An error has no place if it is nobody's fault. */
static void report(const struct document *d, char **message)
{
    char buf[512];

    model_error(message, "%s:%s%s", escape_text(buf, sizeof buf, d->path, strlen(d->path)),
                d->error.status == WNNStatus_DataError ? "" : " ", d->error.message);
}

static bool read_document(WNNContext context, const char *path, const char *bytes, size_t length,
                          bool (*parse)(struct document *d), const struct model_options *options, struct model *model,
                          char **message)
{
    static const struct model_options none;
    struct document d;
    bool ok;

    memset(model, 0, sizeof *model);
    begin(&d, path, bytes, length);
    ok = parse(&d) && document_build(&d, context, options ? options : &none, model);
    if (!ok) {
        model_free(model);
        report(&d, message);
    }
    arena_free(&d.arena);
    return ok;
}

bool model_read_text(WNNContext context, const char *path, const char *bytes, size_t length,
                     const struct model_options *options, struct model *model, char **message)
{
    return read_document(context, path, bytes, length, document_parse_text, options, model, message);
}

bool model_read_json(WNNContext context, const char *path, const char *bytes, size_t length,
                     const struct model_options *options, struct model *model, char **message)
{
    return read_document(context, path, bytes, length, document_parse_json, options, model, message);
}

/* ---- descriptions ---- */

/** Declares an input with its free dimensions. */
static bool declare_input(struct model_description *d, const struct document_tensor *t)
{
    WNNModelDeclaration *out = &d->inputs[d->input_count++];
    WNNModelDimension *dimensions;

    if (!describe_declaration(d, out, t->name.text, t->name.length, t->type.rank, &dimensions))
        return false;
    out->dataType = t->type.dataType;
    out->hasShape = true;
    for (size_t i = 0; i < t->type.rank; i++) {
        const struct document_dimension *from = &t->type.dims[i];

        if (!from->name.text)
            dimensions[i].size = from->size;
        else if (!describe_text(d, from->name.text, from->name.length, &dimensions[i].name) ||
                 !describe_free(d, dimensions[i].name, from->size))
            return false;
    }
    return true;
}

static bool declare_ports(struct model_description *d, const struct document *document)
{
    size_t inputs = 0, outputs = 0, dimensions = 0;
    bool ok;

    for (const struct document_tensor *t = document->first_input; t; t = t->next, inputs++)
        dimensions += t->type.rank;
    for (const struct document_output *o = document->first_output; o; o = o->next)
        outputs++;
    ok = describe_reserve(d, inputs, outputs, dimensions);
    for (const struct document_tensor *t = document->first_input; ok && t; t = t->next)
        ok = declare_input(d, t);
    for (const struct document_output *o = document->first_output; ok && o; o = o->next) {
        WNNModelDimension *none;

        ok = describe_declaration(d, &d->outputs[d->output_count++], o->name.text, o->name.length, 0, &none);
    }
    return ok;
}

/** Names the files in which the document's weights are found, unless the program chooses another one. */
static bool name_weights(struct model_description *d, const struct document *document)
{
    const struct document_tensor *t = document->first_constant;
    char *path, *manifest;
    size_t stem;
    bool ok;

    while (t && t->data != DOCUMENT_WEIGHTS)
        t = t->next;
    if (!t)
        return true;
    path = weights_beside(document->path);
    stem = path ? (size_t)(strrchr(path, '.') - path) : 0; /* it has an ending */
    manifest = path ? malloc(stem + sizeof ".manifest.json") : NULL;
    if (manifest) {
        memcpy(manifest, path, stem);
        strcpy(manifest + stem, ".manifest.json");
    }
    ok = manifest && describe_file(d, "", path) && describe_file(d, "", manifest);
    free(path);
    free(manifest);
    return ok;
}

static bool describe_document(const char *path, const char *bytes, size_t length, bool (*parse)(struct document *d),
                              const char *format, struct model_description *d, char **message)
{
    struct document document;
    bool ok;

    memset(d, 0, sizeof *d);
    begin(&document, path, bytes, length);
    ok = parse(&document);
    if (!ok)
        report(&document, message);
    d->format = format;
    if (ok) {
        d->name = arena_string(&d->memory, document.name.text ? document.name.text : "", document.name.length);
        ok = d->name && declare_ports(d, &document) && name_weights(d, &document);
    }
    arena_free(&document.arena);
    return ok || describe_failed(d, path, NULL, message);
}

bool model_describe_text(const char *path, const char *bytes, size_t length, struct model_description *d, char **message)
{
    return describe_document(path, bytes, length, document_parse_text, "webnn", d, message);
}

bool model_describe_json(const char *path, const char *bytes, size_t length, struct model_description *d, char **message)
{
    return describe_document(path, bytes, length, document_parse_json, "json", d, message);
}
