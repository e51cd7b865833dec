/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Graphs to files: text through the printer of our textual form (ir/print.c), weights, and files that are there whole or not.
 */
#include "frontend/text/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/builder.h"
#include "frontend/text/write_internal.h"

struct print_options text_print_options(const struct text_options *o)
{
    return (struct print_options){.constants = o->weights == TEXT_WEIGHTS_INLINE,
                                  .legal_names = o->legal_names && !o->json,
                                  .style = o->json ? PRINT_JSON : PRINT_WEBNN,
                                  .name = o->name && *o->name ? o->name : NULL};
}

bool text_write_graph(const struct graph *g, const struct text_options *o, FILE *out)
{
    struct print_options options = text_print_options(o);

    if (o->json)
        return json_write_graph(g, &options, out);
    graph_print(g, out, &options);
    return !ferror(out);
}

/* ---- weights ---- */

bool text_has_weights(const struct graph *g, const struct text_options *o)
{
    struct print_options options = text_print_options(o);

    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (print_is_used(v) && print_data_of(v, &options) == PRINT_WEIGHTS)
            return true;
    return false;
}

/** What of the constants goes into a file of weights, with the key that the graph's file has for it. */
struct weights_list {
    struct print_options options;
    struct print_names names;
};

static bool list_open(struct weights_list *l, const struct graph *g, const struct text_options *o)
{
    l->options = text_print_options(o);
    print_names_collect(&l->names, g, &l->options);
    return l->names.by_index;
}

static bool is_listed(const struct weights_list *l, const struct value *v)
{
    return print_is_used(v) && print_data_of(v, &l->options) == PRINT_WEIGHTS && print_has_name(&l->names, v);
}

static void write_shape(FILE *out, const struct tensor_type *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        fprintf(out, "%s%u", i ? ", " : "", t->dims[i]);
}

bool text_write_manifest(const struct graph *g, const struct text_options *o, FILE *out)
{
    struct weights_list l;
    bool ok = list_open(&l, g, o);
    const char *separator = "\n";
    uint64_t at = 8; /* behind magic and version */

    fputs("{\n  \"format\": \"wg-weights-manifest\",\n  \"version\": 1,\n  \"endianness\": \"little\",\n  \"tensors\": {", out);
    for (const struct value *v = g->first_constant; ok && v; v = v->next_constant) {
        if (!is_listed(&l, v))
            continue;
        fprintf(out, "%s    ", separator);
        json_write_string(out, l.names.by_index[v->index].text, l.names.by_index[v->index].length);
        fprintf(out, ": {\"dataType\": \"%s\", \"shape\": [", dtype_name(v->type.type));
        write_shape(out, &v->type);
        fprintf(out, "], \"byteOffset\": %llu, \"byteLength\": %llu, \"layout\": \"row-major\"}", (unsigned long long)at,
                (unsigned long long)type_bytes(&v->type));
        at += (uint64_t)type_bytes(&v->type);
        separator = ",\n";
    }
    fputs("\n  }\n}\n", out);
    print_names_free(&l.names);
    return ok && !ferror(out);
}

static const char *safetensors_name(dtype t)
{
    static const char *const names[DTYPE_COUNT] = {
        [WNNOperandDataType_Float32] = "F32", [WNNOperandDataType_Float16] = "F16", [WNNOperandDataType_Int32] = "I32",
        [WNNOperandDataType_Uint32] = "U32",  [WNNOperandDataType_Int64] = "I64",   [WNNOperandDataType_Uint64] = "U64",
        [WNNOperandDataType_Int8] = "I8",     [WNNOperandDataType_Uint8] = "U8",
    };

    return names[t];
}

/** The JSON header of safetensors in malloc'ed memory, padded so that data begin at a multiple of 8. */
static char *safetensors_header(const struct weights_list *l, const struct graph *g, size_t *length)
{
    const char *separator = "";
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    uint64_t at = 0;

    if (!out)
        return NULL;
    fputc('{', out);
    for (const struct value *v = g->first_constant; v; v = v->next_constant) {
        uint64_t end = at + (uint64_t)type_bytes(&v->type);

        if (!is_listed(l, v))
            continue;
        fputs(separator, out);
        json_write_string(out, l->names.by_index[v->index].text, l->names.by_index[v->index].length);
        fprintf(out, ":{\"dtype\":\"%s\",\"shape\":[", safetensors_name(v->type.type));
        write_shape(out, &v->type);
        fprintf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at, (unsigned long long)end);
        at = end;
        separator = ",";
    }
    fputc('}', out);
    while (ftell(out) % 8)
        fputc(' ', out);
    if (ferror(out) | fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

bool text_write_weights(const struct graph *g, const struct text_options *o, FILE *out)
{
    struct weights_list l;
    bool ok = list_open(&l, g, o);
    size_t length;
    char *header;

    if (o->weights != TEXT_WEIGHTS_SAFETENSORS) {
        fwrite("WGWT\1\0\0\0", 1, 8, out);
    } else if (ok) {
        header = safetensors_header(&l, g, &length);
        for (size_t i = 0; header && i < 8; i++)
            fputc((int)((uint64_t)length >> 8 * i & 0xFF), out);
        ok = header && fwrite(header, 1, length, out) == length;
        free(header);
    }
    for (const struct value *v = g->first_constant; ok && v; v = v->next_constant)
        if (is_listed(&l, v))
            ok = fwrite(v->constant->data, 1, v->constant->bytes, out) == v->constant->bytes;
    print_names_free(&l.names);
    return ok && !ferror(out);
}

/* ---- files ---- */

enum { FILES = 3 };

/** One file to be: its path, and the one that it is written under first. */
struct part {
    char *path, *temporary;
    bool (*write)(const struct graph *g, const struct text_options *o, FILE *out);
};

/** path with another ending. */
static char *beside(const char *path, const char *ending)
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

static bool write_part(const struct graph *g, const struct text_options *o, struct part *p, char **message)
{
    size_t length = p->path ? strlen(p->path) + 32 : 0;
    char *temporary = p->path ? malloc(length) : NULL;
    FILE *out;
    bool ok;
    int fd;

    if (!temporary)
        return model_error(message, "out of memory");
    snprintf(temporary, length, "%s.%ld.part", p->path, (long)getpid());
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    out = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!out) {
        model_error(message, "%s: %s", temporary, strerror(errno));
        if (fd >= 0) {
            close(fd);
            remove(temporary);
        }
        free(temporary);
        return false;
    }
    p->temporary = temporary;
    errno = 0;
    ok = p->write(g, o, out);
    ok = !fclose(out) && ok;
    return ok || model_error(message, "%s: %s", p->path, errno ? strerror(errno) : "could not be written");
}

bool text_write_files(const struct graph *g, const struct text_options *o, const char *path, char **message)
{
    bool has = text_has_weights(g, o), container = o->weights == TEXT_WEIGHTS_CONTAINER, ok = true;
    struct part parts[FILES] = {{strdup(path), NULL, text_write_graph}};
    size_t count = 1;

    *message = NULL;
    if (has)
        parts[count++] = (struct part){beside(path, container ? ".weights" : ".safetensors"), NULL, text_write_weights};
    if (has && container)
        parts[count++] = (struct part){beside(path, ".manifest.json"), NULL, text_write_manifest};
    for (size_t i = 1; ok && i < count; i++)
        if (parts[i].path && !strcmp(parts[i].path, path))
            ok = model_error(message, "%s is the name of the file for its weights", path);
    for (size_t i = 0; ok && i < count; i++)
        ok = write_part(g, o, &parts[i], message);
    /* The graph's file last: who finds it finds its weights. */
    for (size_t i = count; ok && i-- > 0;)
        ok = !rename(parts[i].temporary, parts[i].path) || model_error(message, "%s: %s", parts[i].path, strerror(errno));
    for (size_t i = 0; i < count; i++) {
        if (!ok && parts[i].temporary)
            remove(parts[i].temporary);
        free(parts[i].temporary);
        free(parts[i].path);
    }
    return ok;
}

bool model_write(const struct model *model, const struct text_options *o, const char *path, char **message)
{
    WNNNamedOperand *outputs = calloc(model->output_count + 1, sizeof *outputs);
    struct text_options options = *o;
    struct error error = {0};
    struct graph *g = NULL;
    bool ok;

    *message = NULL;
    if (!outputs)
        return model_error(message, "out of memory");
    for (size_t i = 0; i < model->output_count; i++)
        outputs[i] = (WNNNamedOperand){WNN_STR(model->outputs[i].name), model->outputs[i].operand};
    if (!options.name)
        options.name = model->name;
    g = builder_take_graph(model->builder, model->output_count, outputs, &error);
    ok = g ? text_write_files(g, &options, path, message) : model_error(message, "%s", error.message);
    graph_free(g);
    free(outputs);
    return ok;
}
