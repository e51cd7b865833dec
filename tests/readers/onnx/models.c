/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * onnx-models FOLDER: reads FOLDER/model.onnx, builds it and compares every case of FOLDER/manifest.json with the tolerance
 * given there (1e-3 relative if none is); runs the described stream, too, with its state fed back.
 *
 * Open dimensions are bound by the shapes of the first case; a case of other shapes gets a graph of its own.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/element.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/files/npy.h"
#include "frontend/readers/model.h"
#include "tests/support/help.h"

enum { PORTS_MAX = 16, SKIPPED = 77 };

static const char *folder;
static double absolute = 0, relative = 1e-3;
static WNNContext context;

static _Noreturn void die(const char *what, const char *why)
{
    printf("%s: %s\n", what, why ? why : "out of memory");
    exit(1);
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsString(item))
        die("manifest.json has no text for", key);
    return item->valuestring;
}

static void load(const char *name, struct npy_array *array)
{
    struct error e = {0};
    char *path = file_join(folder, name);

    if (!path || !npy_read(path, array, &e))
        die(name, path ? e.message : NULL);
    free(path);
}

/* ---- a network with its shapes bound ---- */

struct network {
    struct model model;
    WNNGraph graph;
    void *outputs[PORTS_MAX];
};

static void open_network(struct network *n, const cJSON *inputs)
{
    struct model_shape shapes[PORTS_MAX];
    struct model_options options = {.shapes = shapes};
    char *path = file_join(folder, "model.onnx");
    struct error e = {0};
    const cJSON *input;

    cJSON_ArrayForEach(input, inputs)
    {
        struct model_shape *s = &shapes[options.shape_count++];
        const cJSON *dim;

        s->name = text_of(input, "name");
        s->rank = 0;
        cJSON_ArrayForEach(dim, cJSON_GetObjectItemCaseSensitive(input, "shape")) s->dims[s->rank++] =
            (uint32_t)dim->valuedouble;
    }
    if (!path || !model_read(context, path, &options, &n->model, &e))
        die("read", e.message);
    if (model_build(&n->model, &n->graph, &e))
        die("build", e.message);
    for (size_t i = 0; i < n->model.output_count; i++)
        if (!(n->outputs[i] = malloc(wnnOperandDescriptorGetByteLength(&n->model.outputs[i].descriptor))))
            die("outputs", NULL);
    free(path);
}

static void close_network(struct network *n)
{
    for (size_t i = 0; i < n->model.output_count; i++)
        free(n->outputs[i]);
    wnnGraphRelease(n->graph);
    model_free(&n->model);
}

/** Computes outputs from arrays named like the inputs. */
static void run(struct network *n, size_t count, const char *const *names, const struct npy_array *arrays)
{
    WNNNamedBuffer inputs[PORTS_MAX], outputs[PORTS_MAX];
    WNNStringView message;

    for (size_t i = 0; i < count; i++)
        inputs[i] = (WNNNamedBuffer){WNN_STR(names[i]), arrays[i].data, arrays[i].byteLength};
    for (size_t i = 0; i < n->model.output_count; i++)
        outputs[i] = (WNNNamedBuffer){WNN_STR(n->model.outputs[i].name), n->outputs[i],
                                      wnnOperandDescriptorGetByteLength(&n->model.outputs[i].descriptor)};
    if (wnnGraphCompute(n->graph, count, inputs, n->model.output_count, outputs)) {
        message = wnnGetLastErrorMessage();
        die("compute", message.data);
    }
}

static size_t output_named(const struct network *n, const char *name)
{
    for (size_t i = 0; i < n->model.output_count; i++)
        if (!strcmp(n->model.outputs[i].name, name))
            return i;
    die(name, "no output of that name");
}

/** |actual - expected| <= atol + rtol * |expected|; false otherwise, also for an unexpected NaN. */
static bool compare(const char *what, WNNOperandDataType type, const void *actual, const struct npy_array *expected)
{
    double largest = 0;
    size_t wrong = 0, first = 0;

    for (size_t i = 0; i < npy_elements(expected); i++) {
        double a = element_get(type, actual, i), e = element_get(expected->dataType, expected->data, i),
               difference = fabs(a - e);
        bool ok = (isfinite(e) && difference <= absolute + relative * fabs(e)) || a == e || (isnan(a) && isnan(e));

        if (!ok && !wrong++)
            first = i;
        if (difference > largest)
            largest = difference;
    }
    printf("  %s: %zu elements, largest difference %.3g", what, npy_elements(expected), largest);
    if (wrong)
        printf("; %zu WRONG, first at %zu: %.9g instead of %.9g", wrong, first, element_get(type, actual, first),
               element_get(expected->dataType, expected->data, first));
    printf("\n");
    return !wrong;
}

/* ---- cases ---- */

static bool run_case(struct network *n, const cJSON *inputs, const cJSON *outputs)
{
    const char *names[PORTS_MAX];
    struct npy_array arrays[PORTS_MAX], expected;
    size_t count = 0;
    const cJSON *port;
    bool ok = true;

    cJSON_ArrayForEach(port, inputs)
    {
        names[count] = text_of(port, "name");
        load(text_of(port, "file"), &arrays[count++]);
    }
    run(n, count, names, arrays);
    while (count)
        npy_free(&arrays[--count]);
    cJSON_ArrayForEach(port, outputs)
    {
        size_t i = output_named(n, text_of(port, "name"));
        const WNNOperandDescriptor *d = &n->model.outputs[i].descriptor;

        load(text_of(port, "file"), &expected);
        if (wnnOperandDescriptorGetByteLength(d) != expected.byteLength || d->rank != expected.rank ||
            d->dataType != expected.dataType || memcmp(d->shape, expected.shape, d->rank * sizeof *d->shape) != 0) {
            printf("  %s: another shape or type than expected\n", text_of(port, "name"));
            ok = false;
        } else {
            ok = compare(text_of(port, "name"), d->dataType, n->outputs[i], &expected) && ok;
        }
        npy_free(&expected);
    }
    return ok;
}

/** Frames of a recording, each with the 64 samples before it, the state fed back from frame to frame. */
static bool run_stream(struct network *n, const cJSON *stream)
{
    enum { CONTEXT = 64, FRAME = 512 };
    struct npy_array audio, probabilities, final_state, arrays[2];
    static const char *const names[2] = {"input", "state"};
    size_t frames = (size_t)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(stream, "frames"));
    size_t out = output_named(n, "output"), state = output_named(n, "stateN");
    float window[CONTEXT + FRAME] = {0}, *found;

    load(text_of(stream, "audio"), &audio);
    load(text_of(stream, "probabilities"), &probabilities);
    load(text_of(stream, "finalState"), &final_state);
    if (npy_elements(&audio) < frames * FRAME || npy_elements(&probabilities) != frames)
        die("stream", "the arrays do not have as many frames as the manifest says");
    found = calloc(frames, sizeof *found);
    arrays[0] = (struct npy_array){.byteLength = sizeof window, .data = window};
    arrays[1] = (struct npy_array){.byteLength = final_state.byteLength, .data = calloc(1, final_state.byteLength)};
    if (!found || !arrays[1].data)
        die("stream", NULL);
    for (size_t i = 0; i < frames; i++) {
        memmove(window, window + FRAME, CONTEXT * sizeof *window);
        memcpy(window + CONTEXT, (const float *)audio.data + i * FRAME, FRAME * sizeof *window);
        run(n, 2, names, arrays);
        found[i] = *(const float *)n->outputs[out];
        memcpy(arrays[1].data, n->outputs[state], final_state.byteLength);
    }
    bool ok = compare("probabilities", WNNOperandDataType_Float32, found, &probabilities);
    ok = compare("final state", WNNOperandDataType_Float32, arrays[1].data, &final_state) && ok;
    free(found);
    free(arrays[1].data);
    npy_free(&audio);
    npy_free(&probabilities);
    npy_free(&final_state);
    return ok;
}

PROGRAM_HELP("usage: onnx-models FOLDER   run the network of a folder and compare it with its manifest\n")
int main(int argc, char **argv)
{
    struct error e = {0};
    char *path, *text;
    const cJSON *item, *shape = NULL, *cases;
    size_t length, passed = 0, count = 0;
    struct network n = {0};
    cJSON *manifest;
    bool ok = true;

    if (argc != 2)
        return WRONG_USAGE;
    folder = argv[1];
    path = file_join(folder, "manifest.json");
    if (!path || !file_read(path, &text, &length, &e)) {
        printf("no model in %s: %s\n", folder, path ? e.message : "");
        return SKIPPED;
    }
    manifest = cJSON_ParseWithLength(text, length);
    cases = cJSON_GetObjectItemCaseSensitive(manifest, "cases");
    if (!cJSON_GetArraySize(cases))
        die(path, "no cases");
    if ((item = cJSON_GetObjectItemCaseSensitive(manifest, "tolerance"))) {
        absolute = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, "atol"));
        relative = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, "rtol"));
    }
    if (wnnCreateContext(NULL, &context))
        die("context", wnnGetLastErrorMessage().data);
    cJSON_ArrayForEach(item, cases)
    {
        const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(item, "inputs"), *a, *b;
        bool same = shape != NULL;

        for (a = inputs->child, b = shape ? shape->child : NULL; same && a && b; a = a->next, b = b->next)
            same =
                cJSON_Compare(cJSON_GetObjectItemCaseSensitive(a, "shape"), cJSON_GetObjectItemCaseSensitive(b, "shape"), true);
        if (!same) {
            if (shape)
                close_network(&n);
            memset(&n, 0, sizeof n);
            open_network(&n, inputs);
            shape = inputs;
        }
        printf("case %zu\n", count++);
        passed += run_case(&n, inputs, cJSON_GetObjectItemCaseSensitive(item, "outputs"));
    }
    item = cJSON_GetObjectItemCaseSensitive(manifest, "stream");
    if (item) {
        printf("stream\n");
        ok = run_stream(&n, item);
    }
    printf("%zu of %zu cases passed%s\n", passed, count, item ? ok ? ", and the stream" : ", but not the stream" : "");
    close_network(&n);
    wnnContextRelease(context);
    cJSON_Delete(manifest);
    free(text);
    free(path);
    return passed == count && ok ? 0 : 1;
}
