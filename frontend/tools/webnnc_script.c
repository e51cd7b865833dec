/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the JavaScript module that loads a WebAssembly module: what this network's inputs, outputs and files are, followed by
 * the loader, which is the same for all (frontend/tools/wasm/loader.mjs, carried as text).
 *
 * Tensors have the model's own names, which may be any text: they are printed as strings of JSON, and in a comment without what
 * would end it.
 */
#include <ctype.h>
#include <stdlib.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "ir/graph/ir.h"
#include "ir/support/array.h"
#include "ir/support/json.h"
#include "webnn/webnn_object.h"

extern const char webnnc_loader[];

static const char *array_type(dtype t)
{
    static const char *const names[] = {
        [WNNOperandDataType_Float32] = "Float32Array",
        [WNNOperandDataType_Float16] = "Uint16Array", /* few engines have an array of float16: the bits */
        [WNNOperandDataType_Int32] = "Int32Array",
        [WNNOperandDataType_Uint32] = "Uint32Array",
        [WNNOperandDataType_Int64] = "BigInt64Array",
        [WNNOperandDataType_Uint64] = "BigUint64Array",
        [WNNOperandDataType_Int8] = "Int8Array",
        [WNNOperandDataType_Uint8] = "Uint8Array",
    };

    return names[t]; /* ports have types of the public interface */
}

/* Prints a name as a string that ends no comment.  In a string "\/" is "/". */
static void print_key(FILE *out, const char *name, size_t length)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    if (f)
        json_print_string(f, name, length, JSON_REPLACE_BYTES);
    if (memory_stream_close(f, &text))
        for (size_t i = 0; i < size; i++) {
            if (text[i] == '/')
                fputc('\\', out);
            fputc(text[i], out);
        }
    free(text);
}

static void print_typedef(FILE *out, const struct compilation *c, const char *name, uint32_t first, uint32_t count)
{
    fprintf(out, " * @typedef {{");
    for (uint32_t i = 0; i < count; i++) {
        const struct port p = port_at(c, first + i);
        fputs(i ? ", " : " ", out);
        print_key(out, p.name, p.length);
        fprintf(out, ": %s", array_type(p.type.type));
    }
    fprintf(out, " }} %s\n", name);
}

static void print_list(FILE *out, const struct compilation *c, const char *name, uint32_t first, uint32_t count)
{
    fprintf(out, "    %s: [\n", name);
    for (uint32_t i = 0; i < count; i++) {
        const struct port p = port_at(c, first + i);
        fputs("        { name: ", out);
        print_key(out, p.name, p.length);
        fprintf(out, ", dataType: \"%s\", shape: [", dtype_name(p.type.type));
        for (uint32_t d = 0; d < p.type.rank; d++)
            fprintf(out, p.type.dims[d] ? "%s%u" : "%snull", d ? ", " : "", p.type.dims[d]);
        fputs("] },\n", out);
    }
    fputs("    ],\n", out);
}

/* Prints the sizes that functions take, and what shapes are at these. */
static void print_sizes(FILE *out, const struct compilation *c)
{
    fputs("    sizes: [", out);
    for (uint32_t k = 0; k < c->size_count; k++) {
        fputs("\n        { name: ", out);
        print_key(out, c->sizes[k].name, strlen(c->sizes[k].name));
        fputs(", values: [", out);
        for (uint32_t i = 0; i < c->sizes[k].count; i++)
            fprintf(out, "%s%u", i ? ", " : "", c->sizes[k].values[i]);
        fputs("] },", out);
    }
    fputs(c->size_count ? "\n    ],\n" : "],\n", out);
    fputs("    storeShape(sizes, port, shape) {\n", out);
    shapes_print(out, c);
    fputs("    },\n", out);
}

/* Prints the address of a file that lies next to the script. */
static void print_file(FILE *out, const char *key, const char *path)
{
    const char *name = path ? file_name(path) : NULL;

    fprintf(out, "    %s: ", key);
    if (name)
        fputs("new URL('./", out);
    for (const char *p = name; p && *p; p++)
        fprintf(out, isalnum((unsigned char)*p) || strchr("-._", *p) ? "%c" : "%%%02X", (unsigned char)*p);
    fputs(name ? "', import.meta.url),\n" : "null,\n", out);
}

static void print_head(FILE *out, const struct compilation *c)
{
    const char *file = file_name(c->options->output);
    const struct graph *g = c->graph;

    fprintf(out, "// Loads %s, a neural network that webnnc compiled, in Node.js and in browsers:\n//\n", NAME_SHOWN(file));
    fputs("//     const network = await load(", out);
    for (uint32_t k = 0; k < c->size_count; k++) {
        fputs(k ? ", " : "{ sizes: { ", out);
        print_key(out, c->sizes[k].name, strlen(c->sizes[k].name));
        fprintf(out, ": %u", c->sizes[k].values[0]);
    }
    fputs(c->size_count ? " } });\n" : ");\n", out);
    fputs("//     const outputs = network.run(inputs);\n//\n"
          "// Arrays are dense and row-major; a Uint16Array of a float16 tensor has its bits.\n\n/**\n",
          out);
    print_typedef(out, c, "Inputs", 0, g->input_count);
    print_typedef(out, c, "Outputs", g->input_count, g->output_count);
    fprintf(out, " */\n\nconst network = {\n    name: \"%s\",\n    file: ", c->prefix);
    print_key(out, file, strlen(file));
    fprintf(out, ",\n    features: \"%s\",\n", compilation_target(c)->features);
    print_list(out, c, "inputs", 0, g->input_count);
    print_list(out, c, "outputs", g->input_count, g->output_count);
    print_sizes(out, c);
    fputs("    statuses: [\n", out);
    for (int i = WEBNN_OBJECT_OK; i <= WEBNN_OBJECT_BAD_SIZE; i++)
        fprintf(out, "        \"%s\",\n", webnn_object_status_text(i));
    fputs("    ],\n};\n\nconst files = {\n", out);
    print_file(out, "module", file);
    print_file(out, "weights", c->weights_bytes ? c->options->weights : NULL);
    fputs("};\n\n", out);
}

char *script_path(const char *output)
{
    const size_t length = strlen(output);
    const bool named = length > 5 && !strcmp(output + length - 5, ".wasm");
    char *path = NULL;

    text_append(&path, "%.*s.mjs", (int)(named ? length - 5 : length), output);
    return path;
}

bool script_create(const struct compilation *c, char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);

    if (!out)
        return complain("out of memory");
    print_head(out, c);
    fputs(webnnc_loader, out);
    return memory_stream_close(out, text) || complain("out of memory");
}
