/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses the reader for a file, a folder or bytes in memory, and keeps opened models (frontend/readers/source.h).
 *
 * Contents decide before endings, because files get renamed: text begins with its first word, JSON with a brace, and other
 * bytes are ONNX if its name or its first field says so.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/map.h"
#include "frontend/readers/source.h"

enum kind { KIND_UNKNOWN = 0, KIND_ONNX, KIND_TEXT, KIND_JSON, KIND_MANIFEST };

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
    if (file_has_ending(path, ".onnx") || (length > 1 && bytes[0] == 0x08)) /* a ModelProto begins with its ir_version */
        return KIND_ONNX;
    if (file_has_ending(path, ".webnn"))
        return KIND_TEXT;
    if (file_has_ending(path, ".json"))
        return KIND_JSON;
    return KIND_UNKNOWN;
}

static bool refuse_unknown(const char *path, const char *bytes, size_t length, struct error *e)
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
    return file_error(e, "%s is not a model: neither ONNX nor .webnn text or JSON%s", PATH_SHOWN(path), what);
}

/* ---- sources ---- */

struct model_source {
    enum kind kind;
    char *path;           /* of the file, or of a manifest's folder */
    struct file_map *map; /* NULL: the bytes are the caller's, or there are none */
    const void *bytes;    /* NULL for a manifest */
    size_t length;
};

/** Makes a source with a copy of the first `path_length` bytes of a path.  The map's reference, if there is a map, goes over to
 * the source.  Returns NULL after an error. */
static struct model_source *source_create(const struct model_source *from, const char *path, size_t path_length,
                                          struct error *e)
{
    struct model_source *source = from->kind ? malloc(sizeof *source) : NULL;

    if (source) {
        *source = *from;
        source->path = strndup(path, path_length);
        if (source->path)
            return source;
        free(source);
    }
    if (!from->kind)
        refuse_unknown(path, from->bytes, from->length, e);
    file_map_release(from->map);
    error_out_of_memory(e); /* unless there is an error */
    return NULL;
}

static struct model_source *source_of_manifest(const char *path, size_t path_length, struct error *e)
{
    return source_create(&(struct model_source){.kind = KIND_MANIFEST}, path, path_length, e);
}

static struct model_source *open_file(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/');
    struct model_source from = {0};

    if (!file_map_open(path, &from.map, e))
        return NULL;
    from.bytes = file_map_data(from.map);
    from.length = file_map_length(from.map);
    from.kind = kind_of(path, from.bytes, from.length);
    if (from.kind != KIND_MANIFEST)
        return source_create(&from, path, strlen(path), e);
    file_map_release(from.map); /* it named itself instead of its folder */
    return slash ? source_of_manifest(path, (size_t)(slash - path), e) : source_of_manifest(".", 1, e);
}

/** Opens the network in a folder.  Next to an ONNX file a manifest.json describes test cases. */
static struct model_source *open_folder(const char *path, struct error *e)
{
    char *onnx = file_join(path, "model.onnx"), *manifest = file_join(path, "manifest.json");
    struct model_source *source = NULL;
    struct stat s;

    if (!onnx || !manifest)
        error_out_of_memory(e);
    else if (!stat(onnx, &s) && S_ISREG(s.st_mode))
        source = open_file(onnx, e);
    else if (!lstat(manifest, &s))
        source = source_of_manifest(path, strlen(path), e);
    else
        file_error(e, "%s: the folder has neither a model.onnx nor a manifest.json", PATH_SHOWN(path));
    free(onnx);
    free(manifest);
    return source;
}

struct model_source *model_source_open(const char *path, struct error *e)
{
    struct stat s;

    if (stat(path, &s)) {
        file_error(e, "%s: %s", PATH_SHOWN(path), strerror(errno));
        return NULL;
    }
    return S_ISDIR(s.st_mode) ? open_folder(path, e) : open_file(path, e);
}

struct model_source *model_source_memory(const char *path, const void *bytes, size_t length, bool copied, struct error *e)
{
    struct model_source from = {.kind = kind_of(path, bytes, length), .bytes = bytes, .length = length};

    if (from.kind == KIND_MANIFEST) {
        file_error(e, "%s: a manifest describes files of its folder, so it is read from there", PATH_SHOWN(path));
        return NULL;
    }
    if (copied) {
        from.map = file_map_copy(bytes, length);
        if (!from.map)
            return error_null_memory(e);
        from.bytes = file_map_data(from.map);
    }
    return source_create(&from, path, strlen(path), e);
}

void model_source_rest(const struct model_source *source)
{
    if (source->map)
        file_map_rest(source->map);
}

void model_source_close(struct model_source *source)
{
    if (!source)
        return;
    file_map_release(source->map);
    free(source->path);
    free(source);
}

const void *model_source_bytes(const struct model_source *source, size_t *length)
{
    *length = source->length;
    return source->bytes ? source->bytes : "";
}

bool model_source_has_names(const struct model_source *source)
{
    return source->kind == KIND_ONNX;
}

/* ---- reading ---- */

static bool read_kind(const struct model_source *s, WNNContext context, const struct model_options *options,
                      struct model *model, struct error *e)
{
    if ((options->named || options->name_count) && !model_source_has_names(s))
        return file_error(e, "%s: its dimensions need sizes, only those of ONNX files can stay names", PATH_SHOWN(s->path));
    switch (s->kind) {
    case KIND_ONNX:
        if (options->weights)
            return file_error(e, "%s: weights in a file of their own are for .webnn text and JSON, not for ONNX",
                              PATH_SHOWN(s->path));
        return s->map ? model_read_onnx_map(context, s->path, s->map, options, model, e)
                      : model_read_onnx(context, s->path, s->bytes, s->length, options, model, e);
    case KIND_TEXT:
        return model_read_text(context, s->path, s->bytes, s->length, options, model, e);
    case KIND_JSON:
        return model_read_json(context, s->path, s->bytes, s->length, options, model, e);
    case KIND_MANIFEST:
    case KIND_UNKNOWN:
        break;
    }
    return model_read_manifest(context, s->path, options, model, e);
}

bool model_source_read(const struct model_source *s, WNNContext context, const struct model_options *options,
                       struct model *model, struct error *e)
{
    static const struct model_options none;

    memset(model, 0, sizeof *model);
    if (!options)
        options = &none;
    if (read_kind(s, context, options, model, e)) {
        if (model_choose_outputs(model, options, e))
            return true;
        model_free(model);
    }
    if (wnnContextIsLost(context)) { /* whatever the reader made of it */
        e->status = WNNStatus_Success;
        error_set(e, WNNStatus_InvalidStateError, "%s: the context is lost", PATH_SHOWN(s->path));
    }
    return false;
}

bool model_is_compiled(const char *path)
{
    static const char saved[] = "\x89WNNIMG\n", elf[] = {0x7F, 'E', 'L', 'F'};
    char start[8] = {0};

    return file_start(path, start, sizeof start) == sizeof start &&
           (!memcmp(start, saved, sizeof start) || !memcmp(start, elf, sizeof elf));
}

/** Reads a source, which may be NULL after an error, and closes it. */
static bool read_once(struct model_source *source, WNNContext context, const struct model_options *options, struct model *model,
                      struct error *e)
{
    bool ok = source && model_source_read(source, context, options, model, e);

    if (!source)
        memset(model, 0, sizeof *model);
    model_source_close(source);
    return ok;
}

bool model_read(WNNContext context, const char *path, const struct model_options *options, struct model *model, struct error *e)
{
    return read_once(model_source_open(path, e), context, options, model, e);
}

bool model_read_memory(WNNContext context, const char *path, const void *bytes, size_t length,
                       const struct model_options *options, struct model *model, struct error *e)
{
    return read_once(model_source_memory(path, bytes, length, false, e), context, options, model, e);
}

/* ---- descriptions ---- */

bool model_source_describe(const struct model_source *s, struct model_description *d, struct error *e)
{
    memset(d, 0, sizeof *d);
    switch (s->kind) {
    case KIND_ONNX:
        return model_describe_onnx(s->path, s->bytes, s->length, d, e);
    case KIND_TEXT:
        return model_describe_text(s->path, s->bytes, s->length, d, e);
    case KIND_JSON:
        return model_describe_json(s->path, s->bytes, s->length, d, e);
    case KIND_MANIFEST:
    case KIND_UNKNOWN:
        break;
    }
    return model_describe_manifest(s->path, d, e);
}
