/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses the reader for a file or a folder.
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

#include "frontend/io/file.h"
#include "frontend/io/map.h"
#include "frontend/model/describe.h"

enum kind { KIND_UNKNOWN, KIND_ONNX, KIND_TEXT, KIND_JSON, KIND_MANIFEST };

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
        if (bytes[at] == '#')
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

static bool refuse_weights(const char *path, char **message)
{
    return model_error(message, "%s: weights in a file of their own are for .webnn text and JSON, not for ONNX",
                       PATH_SHOWN(path));
}

static bool refuse_unknown(const char *path, char **message)
{
    return model_error(message, "%s is no model: neither ONNX nor .webnn text or JSON", PATH_SHOWN(path));
}

/** Returns the folder of a path, which the caller frees, or NULL if memory runs out. */
static char *folder_of(const char *path)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;

    if (slash)
        *slash = '\0';
    if (folder && !slash)
        strcpy(folder, *folder ? "." : ""); /* a name has a character at least */
    return folder;
}

static bool read_file(WNNContext context, const char *path, const struct model_options *options, struct model *model,
                      char **message)
{
    char text[512], *folder;
    struct file_map *map;
    bool ok = false;

    if (!file_map_open(path, &map, text, sizeof text))
        return model_error(message, "%s", text);

    const char *bytes = file_map_data(map);
    size_t length = file_map_length(map);
    switch (kind_of(path, bytes, length)) {
    case KIND_ONNX:
        ok =
            options->weights ? refuse_weights(path, message) : model_read_onnx_map(context, path, map, options, model, message);
        break;
    case KIND_TEXT:
        ok = model_read_text(context, path, bytes, length, options, model, message);
        break;
    case KIND_JSON:
        ok = model_read_json(context, path, bytes, length, options, model, message);
        break;
    case KIND_MANIFEST: /* named itself instead of its folder */
        folder = folder_of(path);
        ok = folder && model_read_manifest(context, folder, options, model, message);
        free(folder);
        break;
    case KIND_UNKNOWN:
        refuse_unknown(path, message);
        break;
    }
    file_map_release(map);
    return ok;
}

/** Reads the network in a folder.  Beside an ONNX file a manifest.json describes test cases. */
static bool read_folder(WNNContext context, const char *path, const struct model_options *options, struct model *model,
                        char **message)
{
    char *onnx = file_join(path, "model.onnx"), *manifest = file_join(path, "manifest.json");
    struct stat s;
    bool ok;

    if (!onnx || !manifest)
        ok = model_error(message, "%s: out of memory", PATH_SHOWN(path));
    else if (!stat(onnx, &s) && S_ISREG(s.st_mode))
        ok = read_file(context, onnx, options, model, message);
    else if (!lstat(manifest, &s))
        ok = model_read_manifest(context, path, options, model, message);
    else
        ok = model_error(message, "%s: the folder has neither a model.onnx nor a manifest.json", PATH_SHOWN(path));
    free(onnx);
    free(manifest);
    return ok;
}

bool model_read(WNNContext context, const char *path, const struct model_options *options, struct model *model, char **message)
{
    static const struct model_options none;
    struct stat s;

    memset(model, 0, sizeof *model);
    *message = NULL;
    if (!options)
        options = &none;
    if (stat(path, &s))
        return model_error(message, "%s: %s", PATH_SHOWN(path), strerror(errno));
    return S_ISDIR(s.st_mode) ? read_folder(context, path, options, model, message)
                              : read_file(context, path, options, model, message);
}

bool model_read_memory(WNNContext context, const char *path, const void *bytes, size_t length,
                       const struct model_options *options, struct model *model, char **message)
{
    static const struct model_options none;

    memset(model, 0, sizeof *model);
    *message = NULL;
    if (!options)
        options = &none;
    switch (kind_of(path, bytes, length)) {
    case KIND_ONNX:
        return options->weights ? refuse_weights(path, message)
                                : model_read_onnx(context, path, bytes, length, options, model, message);
    case KIND_TEXT:
        return model_read_text(context, path, bytes, length, options, model, message);
    case KIND_JSON:
        return model_read_json(context, path, bytes, length, options, model, message);
    case KIND_MANIFEST:
        return model_error(message, "%s: a manifest describes files of its folder, so it is read from there", PATH_SHOWN(path));
    case KIND_UNKNOWN:
        break;
    }
    return refuse_unknown(path, message);
}

/* ---- descriptions ---- */

static bool describe_bytes(const char *path, const char *bytes, size_t length, struct model_description *d, char **message)
{
    switch (kind_of(path, bytes, length)) {
    case KIND_ONNX:
        return model_describe_onnx(path, bytes, length, d, message);
    case KIND_TEXT:
        return model_describe_text(path, bytes, length, d, message);
    case KIND_JSON:
        return model_describe_json(path, bytes, length, d, message);
    case KIND_MANIFEST:
        return model_error(message, "%s: a manifest describes files of its folder, so it is read from there", PATH_SHOWN(path));
    case KIND_UNKNOWN:
        break;
    }
    return refuse_unknown(path, message);
}

static bool describe_file(const char *path, struct model_description *d, char **message)
{
    struct file_map *map;
    char text[512];
    bool ok;

    if (!file_map_open(path, &map, text, sizeof text))
        return model_error(message, "%s", text);
    if (kind_of(path, file_map_data(map), file_map_length(map)) == KIND_MANIFEST) {
        char *folder = folder_of(path);

        ok = folder && model_describe_manifest(folder, d, message);
        free(folder);
    } else {
        ok = describe_bytes(path, file_map_data(map), file_map_length(map), d, message);
    }
    file_map_release(map);
    return ok;
}

bool model_describe(const char *path, struct model_description *d, char **message)
{
    struct stat s;
    char *onnx;
    bool ok;

    memset(d, 0, sizeof *d);
    *message = NULL;
    if (stat(path, &s))
        return model_error(message, "%s: %s", PATH_SHOWN(path), strerror(errno));
    if (!S_ISDIR(s.st_mode))
        return describe_file(path, d, message);
    onnx = file_join(path, "model.onnx");
    if (!onnx)
        return false;
    ok = stat(onnx, &s) || !S_ISREG(s.st_mode) ? model_describe_manifest(path, d, message) : describe_file(onnx, d, message);
    free(onnx);
    return ok;
}

bool model_describe_memory(const char *path, const void *bytes, size_t length, struct model_description *d, char **message)
{
    memset(d, 0, sizeof *d);
    *message = NULL;
    return describe_bytes(path, bytes, length, d, message);
}
