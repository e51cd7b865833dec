/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A model written in every form that we write, and read back: must be the same graph each time, and the same text when it is
 * written again.
 *
 *     text-roundtrip MODEL
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/text/write.h"
#include "readers/text/compare.h"
#include "support/shared.h"
#include "support/help.h"
#include "support/scoped.h"

enum { SHAPES_MAX = 16 };

static int fail(const char *what, const char *message)
{
    fprintf(stderr, "%s: %s\n", what, message ? message : "out of memory");
    return 1;
}

static struct graph *take(const struct model *m)
{
    struct error e = {0};
    struct graph *g = model_take_graph(m, &e);

    if (!g)
        fail("taking the graph", e.message);
    return g;
}

/** Shapes of a case for inputs whose declared shape is free: from the manifest next to an ONNX file. */
static size_t case_shapes(const cJSON *manifest, struct model_shape *shapes)
{
    const cJSON *c = cJSON_GetArrayItem(cJSON_GetObjectItem(manifest, "cases"), 0), *input;
    size_t count = 0;

    cJSON_ArrayForEach(input, cJSON_GetObjectItem(c, "inputs"))
    {
        const cJSON *dims = cJSON_GetObjectItem(input, "shape"), *d;

        if (!cJSON_IsArray(dims) || count == SHAPES_MAX)
            continue;
        shapes[count] = (struct model_shape){cJSON_GetObjectItem(input, "name")->valuestring, 0, {0}, NULL};
        cJSON_ArrayForEach(d, dims) shapes[count].dims[shapes[count].rank++] = (uint32_t)d->valuedouble;
        count++;
    }
    return count;
}

/* A graph that is read and written again gives the same text, byte for byte. */
static bool is_text_kept(const struct graph *a, const struct graph *b, const struct text_options *options)
{
    const struct graph *graphs[] = {a, b};
    char *text[2] = {NULL, NULL};
    size_t length[2] = {0, 0};
    bool ok = true;

    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text[i], &length[i]);
        ok &= out && text_write_graph(graphs[i], options, out);
        ok &= out && !fclose(out);
    }
    ok = ok && length[0] == length[1] && !memcmp(text[0], text[1], length[0]);
    free(text[0]);
    free(text[1]);
    return ok;
}

static int round_trip(WNNContext context, const struct graph *g, const char *folder, bool json, enum text_weights weights)
{
    static const char *const files[] = {"m.webnn", "m.json", "m.weights", "m.safetensors", "m.manifest.json"};
    const struct text_options options = {.name = "round trip", .json = json, .weights = weights};
    char *path = file_join(folder, files[json]);
    struct error e = {0};
    struct model m;
    struct graph *again = NULL;
    int failed = 0;

    if (!text_write_files(g, &options, path, &e))
        failed = fail("writing", e.message);
    else if (!model_read(context, path, NULL, &m, &e))
        failed = fail("reading", e.message);
    else if (!(again = take(&m)) || !graphs_equal(g, again) || !is_text_kept(g, again, &options))
        failed = fail(path, weights == TEXT_WEIGHTS_INLINE      ? "inline"
                            : weights == TEXT_WEIGHTS_CONTAINER ? "container"
                                                                : "safetensors");
    if (again) {
        graph_free(again);
        model_free(&m);
    }
    free(path);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        path = file_join(folder, files[i]);
        remove(path);
        free(path);
    }
    return failed;
}

PROGRAM_HELP("usage: text-roundtrip MODEL   write a model in each form of text, read it back and compare\n")
int main(int argc, char **argv)
{
    char folder[] = "/tmp/webnn-roundtrip-XXXXXX", *text = NULL, *path;
    struct model_shape shapes[SHAPES_MAX];
    struct error e = {0};
    struct model_options options = {.shapes = shapes};
    int failed = 0, forms = 0, nodes = 0;
    OWNED(context) WNNContext context = NULL;
    OWNED(json) cJSON *manifest = NULL;
    struct model m;
    size_t length;

    if (argc != 2)
        return WRONG_USAGE;
    if (access(argv[1], R_OK))
        return shared_absent(argv[1]);
    path = file_join(argv[1], "manifest.json");
    if (file_read(path, &text, &length, NULL)) {
        manifest = cJSON_Parse(text);
        if (!cJSON_GetObjectItem(manifest, "layers"))
            options.shape_count = case_shapes(manifest, shapes);
    } else {
        manifest = NULL;
    }
    free(path);
    free(text);
    if (wnnCreateContext(NULL, &context))
        return fail("context", "none");
    if (!model_read(context, argv[1], &options, &m, &e))
        return fail(argv[1], e.message);
    OWNED(graph) struct graph *g = take(&m);
    if (!g || !mkdtemp(folder))
        return fail(folder, "no graph, or no folder for its files");
    for (int json = 0; json < 2; json++)
        for (int weights = TEXT_WEIGHTS_CONTAINER; weights <= TEXT_WEIGHTS_INLINE; weights++, forms++)
            failed += round_trip(context, g, folder, json, (enum text_weights)weights);
    graph_for_each (g, n)
        nodes++;
    printf("%s: %d nodes, %d of %d forms read back the same\n", argv[1], nodes, forms - failed, forms);
    model_free(&m);
    rmdir(folder);
    return failed != 0;
}
