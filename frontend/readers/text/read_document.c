/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the readers of `.webnn` text and its JSON form, and their descriptions, which start with a document. */
#include "frontend/readers/text/build.h"

#include <stdlib.h>

#include "frontend/readers/describe.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/text/weights.h"

/** Parses the text, and refuses types that neither the specification nor this reader has. */
static bool parse_checked(struct document *d, bool (*parse)(struct document *d))
{
    char buf[32];

    if (!parse(d))
        return false;
    for (int constants = 0; constants < 2; constants++)
        for (const struct document_tensor *t = constants ? d->first_constant : d->first_input; t; t = t->next) {
            dtype type = t->type.type;

            if (type == DTYPE_UINT4)
                return document_error(d, t->type.place, "the specification has no data types int4 and uint4");
            if (dtype_packed_bits(type) ||
                (!constants && !dtype_is_public(type))) /* only passes make it, and they make no inputs */
                return document_error(d, t->type.place, "'%s' is not a data type",
                                      escape_text(buf, sizeof buf, dtype_short_name(type), strlen(dtype_short_name(type))));
        }
    return true;
}

/** Says why a document could not be read.  An error has no place if memory ran out. */
static void report(const struct document *d, struct error *e)
{
    file_error(e, "%s:%s%s", PATH_SHOWN(d->path), d->error.status == WNNStatus_DataError ? "" : " ", d->error.message);
}

static bool read_document(WNNContext context, const char *path, const char *bytes, size_t length,
                          bool (*parse)(struct document *d), const struct model_options *options, struct model *model,
                          struct error *e)
{
    static const struct model_options none;
    struct document d;

    memset(model, 0, sizeof *model);
    document_begin(&d, path, bytes, length);
    bool ok = parse_checked(&d, parse) && document_build(&d, context, options ? options : &none, model);
    if (!ok) {
        model_free(model);
        report(&d, e);
    }
    arena_free(&d.arena);
    return ok;
}

bool model_read_text(WNNContext context, const char *path, const char *bytes, size_t length,
                     const struct model_options *options, struct model *model, struct error *e)
{
    return read_document(context, path, bytes, length, document_parse_text, options, model, e);
}

bool model_read_json(WNNContext context, const char *path, const char *bytes, size_t length,
                     const struct model_options *options, struct model *model, struct error *e)
{
    return read_document(context, path, bytes, length, document_parse_json, options, model, e);
}

/* ---- descriptions ---- */

/** Declares an input with its free dimensions, or an output, of which a type may be told. */
static bool declare(struct model_description *d, WNNModelDeclaration *out, const struct document_text *name,
                    const struct document_type *type)
{
    WNNModelDimension *dimensions;

    if (!describe_declaration(d, out, name->text, name->length, type ? type->rank : 0, &dimensions))
        return false;
    out->hasShape = type;
    out->dataType = type ? type->type : WNNOperandDataType_Undefined;
    for (size_t i = 0; i < out->rank; i++) {
        const struct document_dimension *from = &type->dims[i];

        if (!from->name.text)
            dimensions[i].size = from->size;
        else if (!describe_text(d, from->name.text, from->name.length, &dimensions[i].name) ||
                 !describe_free(d, dimensions[i].name, from->size))
            return false;
    }
    return true;
}

bool document_declare_ports(struct model_description *d, const struct document *document)
{
    size_t inputs = 0, outputs = 0, dimensions = 0;

    for (const struct document_tensor *t = document->first_input; t; t = t->next, inputs++)
        dimensions += t->type.rank;
    for (const struct document_output *o = document->first_output; o; o = o->next, outputs++)
        dimensions += o->type ? o->type->rank : 0;
    bool ok = describe_reserve(d, inputs, outputs, dimensions);
    for (const struct document_tensor *t = document->first_input; ok && t; t = t->next)
        ok = declare(d, &d->inputs[d->input_count++], &t->name, &t->type);
    for (const struct document_output *o = document->first_output; ok && o; o = o->next)
        ok = declare(d, &d->outputs[d->output_count++], &o->name, o->type);
    return ok;
}

/** Names the files in which the document's weights are found, unless the program chooses another one. */
static bool name_weights(struct model_description *d, const struct document *document)
{
    const struct document_tensor *t = document->first_constant;
    char *path, *manifest;

    for (; t && t->data != DOCUMENT_WEIGHTS; t = t->next)
        if (t->data == DOCUMENT_FILE && !describe_file(d, document->path, t->key.text))
            return false;
    if (!t)
        return true;
    path = weights_path_for(document->path);
    manifest = path ? path_with_ending(path, ".manifest.json") : NULL;
    bool ok = manifest && describe_file(d, "", path) && describe_file(d, "", manifest);
    free(path);
    free(manifest);
    return ok;
}

static bool describe_document(const char *path, const char *bytes, size_t length, bool (*parse)(struct document *d),
                              const char *format, struct model_description *d, struct error *e)
{
    struct document document;

    memset(d, 0, sizeof *d);
    document_begin(&document, path, bytes, length);
    bool ok = parse_checked(&document, parse);
    if (!ok)
        report(&document, e);
    d->format = format;
    if (ok) {
        d->name = arena_string(&d->memory, document.name.text ? document.name.text : "", document.name.length);
        ok = d->name && document_declare_ports(d, &document) && name_weights(d, &document);
    }
    arena_free(&document.arena);
    return ok || describe_failed(d, path, NULL, e);
}

bool model_describe_text(const char *path, const char *bytes, size_t length, struct model_description *d, struct error *e)
{
    return describe_document(path, bytes, length, document_parse_text, "webnn", d, e);
}

bool model_describe_json(const char *path, const char *bytes, size_t length, struct model_description *d, struct error *e)
{
    return describe_document(path, bytes, length, document_parse_json, "json", d, e);
}

/* ---- manifests ---- */

/** Reads a folder's manifest; *path is that of the file.  Returns false after a message. */
static bool open_manifest(const char *folder, char **path, char **text, size_t *length, struct error *e)
{
    *path = file_join(folder, "manifest.json");
    if (*path && file_read_named(folder, "manifest.json", text, length, e))
        return true;
    file_error(e, "%s: %s", PATH_SHOWN(folder), *path ? e->message : "out of memory");
    free(*path);
    return false;
}

bool model_read_manifest(WNNContext context, const char *folder, const struct model_options *options, struct model *model,
                         struct error *e)
{
    char *path, *text;
    size_t length;

    memset(model, 0, sizeof *model);
    if (options && options->weights)
        return file_error(e, "%s: a manifest names the files of its weights itself", PATH_SHOWN(folder));
    if (!open_manifest(folder, &path, &text, &length, e))
        return false;
    bool ok = read_document(context, path, text, length, document_parse_manifest, options, model, e);
    free(text);
    free(path);
    return ok;
}

bool model_describe_manifest(const char *folder, struct model_description *d, struct error *e)
{
    char *path, *text;
    size_t length;

    memset(d, 0, sizeof *d);
    if (!open_manifest(folder, &path, &text, &length, e))
        return false;
    bool ok = describe_document(path, text, length, document_parse_manifest, "manifest", d, e);
    ok = ok && (describe_file(d, path, "manifest.json") || describe_failed(d, path, NULL, e));
    free(text);
    free(path);
    return ok;
}
