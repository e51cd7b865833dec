/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads files of weights, and checks what their headers say (frontend/readers/text/weights.h). */
#include "frontend/readers/text/weights.h"

#include <stdlib.h>
#include <unistd.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/text/json.h"

enum { HEADER_BYTES = 8 }; /* of both kinds */

struct weights {
    struct file_map *map; /* NULL: the bytes are the caller's */
    const uint8_t *bytes;
    size_t length;
    struct arena arena;
    char *path; /* in the arena, escaped for messages */
    size_t count;
    struct weights_entry *entries; /* by offset */
    struct name_map by_key;
};

/** Says what a data type is called in a manifest and in safetensors. */
static const struct {
    const char *name, *word, *safetensors;
    WNNOperandDataType type;
    uint64_t size;
} types[] = {
    {"float32", "f32", "F32", WNNOperandDataType_Float32, 4},
    {"float16", "f16", "F16", WNNOperandDataType_Float16, 2},
    {"int32", "i32", "I32", WNNOperandDataType_Int32, 4},
    {"uint32", "u32", "U32", WNNOperandDataType_Uint32, 4},
    {"int64", "i64", "I64", WNNOperandDataType_Int64, 8},
    {"uint64", "u64", "U64", WNNOperandDataType_Uint64, 8},
    {"int8", "i8", "I8", WNNOperandDataType_Int8, 1},
    {"uint8", "u8", "U8", WNNOperandDataType_Uint8, 1},
    /* Others may lie in a file, too, as long as no graph asks for them. */
    {NULL, NULL, "BOOL", WNNOperandDataType_Uint8, 1},
    {NULL, NULL, "F64", WNNOperandDataType_Undefined, 8},
    {NULL, NULL, "BF16", WNNOperandDataType_Undefined, 2},
    {NULL, NULL, "I16", WNNOperandDataType_Undefined, 2},
    {NULL, NULL, "U16", WNNOperandDataType_Undefined, 2},
    {NULL, NULL, "F8_E5M2", WNNOperandDataType_Undefined, 1},
    {NULL, NULL, "F8_E4M3", WNNOperandDataType_Undefined, 1},
};

/* ---- entries ---- */

/** Says where an entry's description is, for messages. */
struct header {
    struct weights *w;
    struct lexer lexer;
    struct error error;
    bool safetensors;
};

static bool wrong(struct header *h, const struct json *v, const struct json *parent, const char *what)
{
    return lex_error_at(&h->lexer, v ? v->place : parent->place, "%s", what);
}

/**
 * Reads name, data type and shape of an entry, and finds the bytes that these ask for (*bytes).  *sized is false if a size_t
 * cannot hold them.
 */
static bool read_entry(struct header *h, const struct json *x, struct weights_entry *e, uint64_t *bytes, bool *sized)
{
    const struct json *type = json_member(x, h->safetensors ? "dtype" : "dataType"), *shape = json_member(x, "shape");
    uint64_t *dims, elements = 1;
    bool overflow = false, empty = false;
    char buf[80];
    size_t t = 0;

    e->key = x->key.text;
    e->key_length = x->key.length;
    if (x->kind != JSON_OBJECT)
        return wrong(h, x, NULL, "a tensor must be an object");
    while (t < sizeof types / sizeof *types &&
           !(h->safetensors ? types[t].safetensors && json_is(type, types[t].safetensors)
                            : types[t].name && (json_is(type, types[t].name) || json_is(type, types[t].word))))
        t++;
    if (!type || type->kind != JSON_STRING)
        return wrong(h, type, x, "the tensor has no data type");
    *sized = t < sizeof types / sizeof *types;
    e->dataType = *sized ? types[t].type : WNNOperandDataType_Undefined;
    escape_text(buf, sizeof buf, type->as.string.text, type->as.string.length);
    e->typeName = arena_string(&h->w->arena, buf, strlen(buf));
    if (!shape || shape->kind != JSON_ARRAY)
        return wrong(h, shape, x, "the tensor has no shape");
    dims = arena_array(&h->w->arena, shape->as.list.count + 1, sizeof *dims);
    if (!dims || !e->typeName)
        return error_out_of_memory(&h->error);
    e->shape = dims;
    json_for_each(d, shape)
    {
        uint64_t size;

        if (!json_size(d, INT64_MAX, &size))
            return wrong(h, d, NULL, "a dimension must be a whole number");
        dims[e->rank++] = size;
        empty |= !size;
        overflow |= __builtin_mul_overflow(elements, size ? size : 1, &elements);
    }
    overflow |= *sized && __builtin_mul_overflow(elements, types[t].size, &elements);
    *bytes = empty ? 0 : elements;
    return (!overflow || empty) || wrong(h, shape, NULL, "the tensor is larger than any file");
}

/** Sets the place of an entry's bytes: begin and end, counted from `from`. */
static bool place_entry(struct header *h, const struct json *x, struct weights_entry *e, uint64_t begin, uint64_t end,
                        uint64_t from, uint64_t bytes, bool sized)
{
    uint64_t room = h->w->length - from;

    if (begin > end || end > room)
        return lex_error_at(&h->lexer, x->place, "bytes %llu to %llu are not within the %llu bytes of the file",
                            (unsigned long long)begin, (unsigned long long)end, (unsigned long long)room);
    if (sized && end - begin != bytes)
        return lex_error_at(&h->lexer, x->place, "the tensor has %llu bytes, its shape needs %llu",
                            (unsigned long long)(end - begin), (unsigned long long)bytes);
    e->offset = (size_t)(from + begin);
    e->length = (size_t)(end - begin);
    return true;
}

static int compare_offsets(const void *a, const void *b)
{
    const struct weights_entry *x = a, *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->length < y->length ? -1 : x->length > y->length;
}

/** Sorts the entries by offset, checks that they have no gaps and overlaps, and maps them by key. */
static bool index_entries(struct weights *w, size_t start, struct error *error)
{
    size_t at = start;
    char buf[128];

    qsort(w->entries, w->count, sizeof *w->entries, compare_offsets);
    for (size_t i = 0; i < w->count; i++) {
        struct weights_entry *e = &w->entries[i];

        escape_text(buf, sizeof buf, e->key, e->key_length);
        if (e->offset != at)
            return error_set(error, WNNStatus_DataError, "tensor '%s' begins at byte %zu, the one before it ends at %zu", buf,
                             e->offset, at);
        at += e->length;
        switch (name_map_add(&w->by_key, e->key, e->key_length, e)) {
        case NAME_MAP_ADDED:
            break;
        case NAME_MAP_EXISTS:
            return error_set(error, WNNStatus_DataError, "tensor '%s' is defined twice", buf);
        case NAME_MAP_OUT_OF_MEMORY:
            return error_out_of_memory(error);
        }
    }
    return at == w->length ||
           error_set(error, WNNStatus_DataError, "the last tensor ends at byte %zu, the file at %zu", at, w->length);
}

/* ---- the two kinds ---- */

static bool parse_manifest(struct header *h, const char *text, size_t length)
{
    struct weights *w = h->w;
    const struct json *root, *tensors, *layout;
    uint64_t bytes, version, begin, count;
    bool sized;

    if (w->length < HEADER_BYTES || memcmp(w->bytes, "WGWT\1\0\0\0", HEADER_BYTES))
        return error_set(&h->error, WNNStatus_DataError, "the file does not begin with WGWT and version 1, as .weights does");
    h->lexer = (struct lexer){.text = text, .length = length, .error = &h->error};
    root = json_parse(&h->lexer, &w->arena);
    if (!root)
        return false;
    if (!json_is(json_member(root, "format"), "wg-weights-manifest"))
        return wrong(h, json_member(root, "format"), root, "no \"format\": \"wg-weights-manifest\" here");
    if (!json_size(json_member(root, "version"), 1, &version) || version != 1)
        return wrong(h, json_member(root, "version"), root, "\"version\" must be 1");
    if (json_member(root, "endianness") && !json_is(json_member(root, "endianness"), "little"))
        return wrong(h, json_member(root, "endianness"), root, "\"endianness\" must be \"little\"");
    tensors = json_member(root, "tensors");
    if (!tensors || tensors->kind != JSON_OBJECT)
        return wrong(h, tensors, root, "tensors, an object, is missing here");
    w->entries = arena_array(&w->arena, tensors->as.list.count + 1, sizeof *w->entries);
    if (!w->entries)
        return error_out_of_memory(&h->error);
    json_for_each(x, tensors)
    {
        struct weights_entry *e = &w->entries[w->count++];

        if (!read_entry(h, x, e, &bytes, &sized))
            return false;
        if (!sized)
            return wrong(h, x, NULL, "the tensor's data type is none of WebNN's");
        layout = json_member(x, "layout");
        if (layout && layout->kind != JSON_NULL && !json_is(layout, "row-major"))
            return wrong(h, layout, NULL, "\"layout\" must be \"row-major\"");
        if (!json_size(json_member(x, "byteOffset"), INT64_MAX, &begin) ||
            !json_size(json_member(x, "byteLength"), INT64_MAX, &count))
            return wrong(h, x, NULL, "byteOffset and byteLength must be whole numbers");
        if (!place_entry(h, x, e, begin, begin + count, 0, bytes, sized))
            return false;
    }
    return index_entries(w, HEADER_BYTES, &h->error);
}

static bool parse_safetensors(struct header *h)
{
    struct weights *w = h->w;
    const struct json *root, *offsets;
    uint64_t header = 0, bytes, begin, end;
    bool sized;

    if (w->length <= HEADER_BYTES || w->bytes[HEADER_BYTES] != '{')
        return error_set(
            &h->error, WNNStatus_DataError,
            "neither .weights, which begins with WGWT and version 1, nor safetensors, which begin with the length of "
            "a header in braces");
    for (size_t i = 0; i < HEADER_BYTES; i++)
        header |= (uint64_t)w->bytes[i] << 8 * i;
    if (header > w->length - HEADER_BYTES)
        return error_set(&h->error, WNNStatus_DataError, "the header has %llu bytes, the file %zu", (unsigned long long)header,
                         w->length);
    h->lexer = (struct lexer){.text = (const char *)w->bytes + HEADER_BYTES, .length = (size_t)header, .error = &h->error};
    root = json_parse(&h->lexer, &w->arena);
    if (!root)
        return false;
    w->entries = arena_array(&w->arena, root->as.list.count + 1, sizeof *w->entries);
    if (!w->entries)
        return error_out_of_memory(&h->error);
    json_for_each(x, root)
    {
        struct weights_entry *e = &w->entries[w->count];

        if (x->key.length == 12 && !memcmp(x->key.text, "__metadata__", 12))
            continue;
        w->count++;
        if (!read_entry(h, x, e, &bytes, &sized))
            return false;
        offsets = json_member(x, "data_offsets");
        if (!offsets || offsets->kind != JSON_ARRAY || offsets->as.list.count != 2 ||
            !json_size(offsets->as.list.first, INT64_MAX, &begin) || !json_size(offsets->as.list.first->next, INT64_MAX, &end))
            return wrong(h, offsets, x, "data_offsets must be two whole numbers");
        if (!place_entry(h, x, e, begin, end, HEADER_BYTES + header, bytes, sized))
            return false;
    }
    return index_entries(w, HEADER_BYTES + (size_t)header, &h->error);
}

/* ---- opening ---- */

static bool fail(struct weights **weights, const char *name, const struct error *error, struct error *e)
{
    char buf[512];

    file_error(e, "%s: %s", escape_text(buf, sizeof buf, name, strlen(name)), error->message);
    weights_close(*weights);
    *weights = NULL;
    return false;
}

bool weights_parse(const void *bytes, size_t length, const char *manifest, size_t manifest_length, const char *name,
                   struct weights **weights, struct error *e)
{
    struct header h = {.safetensors = !manifest};
    char buf[512];

    *weights = h.w = calloc(1, sizeof *h.w);
    if (!h.w)
        return file_error(e, "%s: out of memory", name);
    h.w->bytes = bytes;
    h.w->length = length;
    escape_text(buf, sizeof buf, name, strlen(name));
    h.w->path = arena_string(&h.w->arena, buf, strlen(buf));
    if (!h.w->path)
        error_out_of_memory(&h.error);
    else if (manifest ? parse_manifest(&h, manifest, manifest_length) : parse_safetensors(&h))
        return true;
    return fail(weights, name, &h.error, e);
}

/** Returns the folder of a path, "" for the working directory; malloc'ed. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}

char *path_with_ending(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path), length = strlen(ending);
    char *text = malloc(stem + length + 1);

    if (text) {
        memcpy(text, path, stem);
        memcpy(text + stem, ending, length + 1);
    }
    return text;
}

/**
 * Opens a file of weights, whose kind its contents tell.  chosen says that the user named it; one found next to a model may not
 * be a link that leads out of the folder, a device or a pipe (frontend/readers/files/named_file.h).  Returns false after an
 * error.
 */
static bool weights_open(const char *path, bool chosen, struct weights **weights, struct error *e)
{
    char *manifest_path = NULL, *manifest = NULL, *folder = folder_of(path);
    size_t length, manifest_length = 0;
    struct file_map *map;

    *weights = NULL;
    if (!folder)
        return file_error(e, "out of memory");
    if (!(chosen ? file_map_open(path, &map, e) : file_map_named(folder, file_name(path), &map, e))) {
        free(folder);
        return false;
    }
    const char *bytes = file_map_data(map);
    length = file_map_length(map);
    if (length >= 4 && !memcmp(bytes, "WGWT", 4)) {
        manifest_path = path_with_ending(path, ".manifest.json");
        if (!manifest_path || !file_read_named(folder, file_name(manifest_path), &manifest, &manifest_length, e)) {
            error_out_of_memory(e);
            free(manifest_path);
            free(folder);
            file_map_release(map);
            return false;
        }
    }
    bool ok = weights_parse(bytes, length, manifest, manifest_length, path, weights, e);
    if (ok)
        (*weights)->map = map;
    else
        file_map_release(map);
    free(manifest);
    free(manifest_path);
    free(folder);
    return ok;
}

char *weights_path_for(const char *path)
{
    char *first = path_with_ending(path, ".weights");

    if (!first || !access(first, R_OK))
        return first;
    char *second = path_with_ending(path, ".safetensors");
    const bool chosen = !second || !access(second, R_OK);
    free(chosen ? first : second);
    return chosen ? second : first;
}

bool weights_open_for(const char *path, const char *chosen, struct weights **weights, struct error *e)
{
    char *found = chosen ? NULL : weights_path_for(path);
    bool ok = chosen || found ? weights_open(chosen ? chosen : found, chosen, weights, e) : error_out_of_memory(e);

    free(found);
    return ok;
}

size_t weights_length(const struct weights *w)
{
    return w->length;
}

void weights_close(struct weights *w)
{
    if (!w)
        return;
    name_map_free(&w->by_key);
    arena_free(&w->arena);
    file_map_release(w->map);
    free(w);
}

/* ---- asking ---- */

const struct weights_entry *weights_at(const struct weights *w, size_t index)
{
    return index < w->count ? &w->entries[index] : NULL;
}

const struct weights_entry *weights_find(const struct weights *w, const char *key, size_t length)
{
    return name_map_find(&w->by_key, key, length);
}

/* A file says a data type by its public value, or only by its name, where WebNN does not have it. */
bool weights_entry_is(const struct weights_entry *entry, dtype type, size_t rank, const uint32_t *dims)
{
    bool same = entry->rank == rank &&
                (dtype_is_public(type)    ? entry->dataType == type
                 : type == DTYPE_BFLOAT16 ? !strcmp(entry->typeName, "BF16")
                 : type == DTYPE_FLOAT64  ? !strcmp(entry->typeName, "F64")
                 : type == DTYPE_INT16    ? !strcmp(entry->typeName, "I16")
                                          : entry->typeName[0] == 'U' &&
                                               entry->typeName[1] == '0' + (int)dtype_packed_bits(type) && !entry->typeName[2]);

    for (size_t i = 0; same && i < rank; i++)
        same = entry->shape[i] == dims[i];
    return same;
}

const char *weights_path(const struct weights *w)
{
    return w->path;
}

const void *weights_data(const struct weights *w, const struct weights_entry *e)
{
    return w->bytes + e->offset;
}

WNNOperand weights_constant(const struct weights *w, const struct weights_entry *e, WNNGraphBuilder builder,
                            const WNNOperandDescriptor *descriptor)
{
    if (w->map)
        return file_map_constant(w->map, builder, descriptor, e->offset, e->length);
    return wnnGraphBuilderConstant(builder, descriptor, w->bytes + e->offset, e->length);
}
