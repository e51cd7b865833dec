/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses the reader for a file, a folder or bytes in memory, and keeps opened models (frontend/readers/source.h).
 *
 * Contents decide before endings, because files get renamed: text begins with its first word, JSON with a brace, and what is
 * neither is ONNX if its name or its first field says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/map.h"
#include "frontend/readers/describe.h"
#include "frontend/readers/source.h"

enum kind { KIND_UNKNOWN = 0, KIND_ONNX, KIND_TEXT, KIND_JSON, KIND_MANIFEST };

static bool has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n >= m && !strcasecmp(path + n - m, ending);
}

/** Returns the length of what may stand before the first word of a text: a byte order mark, white space, comments. */
static size_t skip_space(const char *bytes, size_t length)
{
    size_t at = length >= 3 && !memcmp(bytes, "\xEF\xBB\xBF", 3) ? 3 : 0;

    for (; at < length; at++)
        if (bytes[at] == '#' || (bytes[at] == '/' && at + 1 < length && bytes[at + 1] == '/'))
            while (at + 1 < length && bytes[at + 1] != '\n')
                at++;
        else if (!strchr(" \t\r\n", bytes[at]) || !bytes[at])
            break;
    return at;
}

/** Returns whether the text holds a word; for the two kinds of JSON, whose first members may come in any order. */
static bool mentions(const char *bytes, size_t length, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= length; i++)
        if (bytes[i] == *word && !memcmp(bytes + i, word, n))
            return true;
    return false;
}

static enum kind kind_of(const char *path, const char *bytes, size_t length)
{
    static const char word[] = "webnn_graph";
    size_t start = skip_space(bytes, length), left = length - start;

    if (left >= sizeof word - 1 && !memcmp(bytes + start, word, sizeof word - 1))
        return KIND_TEXT;
    if (left && bytes[start] == '{')
        return mentions(bytes, length, "\"layers\"") && !mentions(bytes, length, "\"webnn-graph-json\"") ? KIND_MANIFEST
                                                                                                         : KIND_JSON;
    if (has_ending(path, ".onnx") || (length > 1 && bytes[0] == 0x08)) /* a ModelProto begins with its ir_version */
        return KIND_ONNX;
    if (has_ending(path, ".webnn"))
        return KIND_TEXT;
    if (has_ending(path, ".json"))
        return KIND_JSON;
    return KIND_UNKNOWN;
}

static bool refuse_unknown(const char *path, const char *bytes, size_t length, char **message)
{
    static const struct {
        size_t at, length;
        const char *bytes, *what;
    } others[] = {
        {0, 4, "WGWT", ": these are weights, the model is a .webnn or .json file"},
        {8, 2, "{\"", ": these are weights (safetensors), the model is a .webnn or .json file"},
        {0, 6, "\x93NUMPY", ": this is an array (.npy), of which inputs and constants are made"},
        {0, 4, "PK\3\4", ": this is an archive (.npz or .zip)"},
        {0, 8, "\x89WNNIMG\n", ": this is a compiled graph"},
        {0, 4,
         "\x7F"
         "ELF",
         ": this is a program or a compiled object"},
        {4, 4, "TFL3", ": TensorFlow Lite is not read, only ONNX"},
        {0, 4, "GGUF", ": GGUF is not read, only ONNX"},
        {0, 8, "\x89HDF\r\n\x1A\n", ": HDF5 is not read, only ONNX"},
    };
    const char *what = "";

    for (size_t i = 0; bytes && i < sizeof others / sizeof *others; i++)
        if (length >= others[i].at + others[i].length && !memcmp(bytes + others[i].at, others[i].bytes, others[i].length))
            what = others[i].what;
    return model_error(message, "%s is no model: neither ONNX nor .webnn text or JSON%s", PATH_SHOWN(path), what);
}

/* ---- sources ---- */

struct model_source {
    enum kind kind;
    char *path;           /* of the file, or of a manifest's folder */
    struct file_map *map; /* NULL for a manifest */
};

/** Makes an empty source with a copy of the first `length` bytes of a path.  Returns NULL if memory runs out. */
static struct model_source *source_create(const char *path, size_t length)
{
    struct model_source *source = calloc(1, sizeof *source);

    if (source)
        source->path = strndup(path, length);
    if (source && source->path)
        return source;
    free(source);
    return NULL;
}

/** Returns a source of a mapped file, whose reference goes over to it. */
static struct model_source *source_of_map(const char *path, struct file_map *map, char **message)
{
    enum kind kind = kind_of(path, file_map_data(map), file_map_length(map));
    struct model_source *source = kind ? source_create(path, strlen(path)) : NULL;

    if (source) {
        source->kind = kind;
        source->map = map;
        return source;
    }
    if (!kind)
        refuse_unknown(path, file_map_data(map), file_map_length(map), message);
    file_map_release(map);
    return NULL;
}

static struct model_source *open_file(const char *path, char **message)
{
    const char *slash = strrchr(path, '/');
    struct model_source *source;
    struct file_map *map;
    char text[512];

    if (!file_map_open(path, &map, text, sizeof text)) {
        model_error(message, "%s", text);
        return NULL;
    }
    if (kind_of(path, file_map_data(map), file_map_length(map)) != KIND_MANIFEST)
        return source_of_map(path, map, message);
    file_map_release(map); /* it named itself instead of its folder */
    source = slash ? source_create(path, (size_t)(slash - path)) : source_create(".", 1);
    if (source)
        source->kind = KIND_MANIFEST;
    return source;
}

/** Opens the network in a folder.  Beside an ONNX file a manifest.json describes test cases. */
static struct model_source *open_folder(const char *path, char **message)
{
    char *onnx = file_join(path, "model.onnx"), *manifest = file_join(path, "manifest.json");
    struct model_source *source = NULL;
    struct stat s;

    if (!onnx || !manifest) {
        ;
    } else if (!stat(onnx, &s) && S_ISREG(s.st_mode)) {
        source = open_file(onnx, message);
    } else if (!lstat(manifest, &s)) {
        source = source_create(path, strlen(path));
        if (source)
            source->kind = KIND_MANIFEST;
    } else {
        model_error(message, "%s: the folder has neither a model.onnx nor a manifest.json", PATH_SHOWN(path));
    }
    free(onnx);
    free(manifest);
    return source;
}

struct model_source *model_source_open(const char *path, char **message)
{
    struct stat s;

    *message = NULL;
    if (stat(path, &s)) {
        model_error(message, "%s: %s", PATH_SHOWN(path), strerror(errno));
        return NULL;
    }
    return S_ISDIR(s.st_mode) ? open_folder(path, message) : open_file(path, message);
}

/** A manifest in memory has no folder that its files could lie in. */
static bool refuse_manifest(const char *path, char **message)
{
    return model_error(message, "%s: a manifest describes files of its folder, so it is read from there", PATH_SHOWN(path));
}

struct model_source *model_source_copy(const char *path, const void *bytes, size_t length, char **message)
{
    struct file_map *map;

    *message = NULL;
    if (kind_of(path, bytes, length) == KIND_MANIFEST) {
        refuse_manifest(path, message);
        return NULL;
    }
    map = file_map_copy(bytes, length);
    return map ? source_of_map(path, map, message) : NULL;
}

void model_source_close(struct model_source *source)
{
    if (!source)
        return;
    file_map_release(source->map);
    free(source->path);
    free(source);
}

const char *model_source_path(const struct model_source *source)
{
    return source->path;
}

const void *model_source_bytes(const struct model_source *source, size_t *length)
{
    *length = source->map ? file_map_length(source->map) : 0;
    return source->map ? file_map_data(source->map) : "";
}

/* ---- reading ---- */

/** Reads ONNX from a map, or, if that is NULL, from bytes. */
static bool read_onnx(WNNContext context, const char *path, struct file_map *map, const void *bytes, size_t length,
                      const struct model_options *options, struct model *model, char **message)
{
    if (options->weights)
        return model_error(message, "%s: weights in a file of their own are for .webnn text and JSON, not for ONNX",
                           PATH_SHOWN(path));
    return map ? model_read_onnx_map(context, path, map, options, model, message)
               : model_read_onnx(context, path, bytes, length, options, model, message);
}

/** Reads bytes of a kind, which are a map's if there is one. */
static bool read_kind(enum kind kind, WNNContext context, const char *path, struct file_map *map, const void *bytes,
                      size_t length, const struct model_options *options, struct model *model, char **message)
{
    static const struct model_options none;

    memset(model, 0, sizeof *model);
    *message = NULL;
    if (!options)
        options = &none;
    switch (kind) {
    case KIND_ONNX:
        return read_onnx(context, path, map, bytes, length, options, model, message);
    case KIND_TEXT:
        return model_read_text(context, path, bytes, length, options, model, message);
    case KIND_JSON:
        return model_read_json(context, path, bytes, length, options, model, message);
    case KIND_MANIFEST:
        return bytes ? refuse_manifest(path, message) : model_read_manifest(context, path, options, model, message);
    case KIND_UNKNOWN:
        break;
    }
    return refuse_unknown(path, bytes, length, message);
}

bool model_source_read(const struct model_source *source, WNNContext context, const struct model_options *options,
                       struct model *model, char **message)
{
    const void *bytes = source->map ? file_map_data(source->map) : NULL;
    const size_t length = source->map ? file_map_length(source->map) : 0;

    return read_kind(source->kind, context, source->path, source->map, bytes, length, options, model, message);
}

bool model_is_compiled(const char *path)
{
    static const char saved[] = "\x89WNNIMG\n", elf[] = {0x7F, 'E', 'L', 'F'};
    char start[8] = {0};

    return file_start(path, start, sizeof start) == sizeof start &&
           (!memcmp(start, saved, sizeof start) || !memcmp(start, elf, sizeof elf));
}

bool model_read(WNNContext context, const char *path, const struct model_options *options, struct model *model, char **message)
{
    struct model_source *source = model_source_open(path, message);
    bool ok = source && model_source_read(source, context, options, model, message);

    if (!source)
        memset(model, 0, sizeof *model);
    model_source_close(source);
    return ok;
}

bool model_read_memory(WNNContext context, const char *path, const void *bytes, size_t length,
                       const struct model_options *options, struct model *model, char **message)
{
    return read_kind(kind_of(path, bytes, length), context, path, NULL, bytes, length, options, model, message);
}

/* ---- descriptions ---- */

static bool describe_kind(enum kind kind, const char *path, const void *bytes, size_t length, struct model_description *d,
                          char **message)
{
    memset(d, 0, sizeof *d);
    *message = NULL;
    switch (kind) {
    case KIND_ONNX:
        return model_describe_onnx(path, bytes, length, d, message);
    case KIND_TEXT:
        return model_describe_text(path, bytes, length, d, message);
    case KIND_JSON:
        return model_describe_json(path, bytes, length, d, message);
    case KIND_MANIFEST:
        return bytes ? refuse_manifest(path, message) : model_describe_manifest(path, d, message);
    case KIND_UNKNOWN:
        break;
    }
    return refuse_unknown(path, bytes, length, message);
}

bool model_source_describe(const struct model_source *source, struct model_description *d, char **message)
{
    return describe_kind(source->kind, source->path, source->map ? file_map_data(source->map) : NULL,
                         source->map ? file_map_length(source->map) : 0, d, message);
}

bool model_describe(const char *path, struct model_description *d, char **message)
{
    struct model_source *source = model_source_open(path, message);
    bool ok = source && model_source_describe(source, d, message);

    if (!source)
        memset(d, 0, sizeof *d);
    model_source_close(source);
    return ok;
}

bool model_describe_memory(const char *path, const void *bytes, size_t length, struct model_description *d, char **message)
{
    return describe_kind(kind_of(path, bytes, length), path, bytes, length, d, message);
}
