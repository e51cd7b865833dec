/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what is on a picture: MobileNetV2 built by builder calls from its manifest.
 *
 *   classify MODEL_FOLDER [PICTURE.png] [--threads N]
 *
 * MODEL_FOLDER holds manifest.json, weights/ and classes.txt; the picture must be 224 x 224 (default: test_224.png there).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/io/file.h"
#include "frontend/io/manifest.h"
#include "frontend/io/picture.h"

enum { CLASSES = 1000, SIDE = 224 };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The index-th line of a text, without its end. */
static const char *line_at(const char *text, int index, int *length)
{
    for (; index > 0 && text; index--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    *length = text ? (int)strcspn(text, "\r\n") : 0;
    return text ? text : "";
}

int main(int argc, char **argv)
{
    /* What the network was trained with. */
    const float mean[3] = {0.485f, 0.456f, 0.406f}, deviation[3] = {0.229f, 0.224f, 0.225f};
    static float pixels[3 * SIDE * SIDE], logits[CLASSES], probabilities[CLASSES];
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    const char *folder = NULL, *path = NULL;
    char message[512], *given = NULL, *classes_path = NULL, *classes = NULL;
    struct manifest *manifest = NULL;
    struct picture picture = {0};
    WNNContext context = NULL;
    WNNGraph graph = NULL;
    size_t length;
    double start, built;
    int result = 1;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            options.threadCount = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (!folder)
            folder = argv[i];
        else
            path = argv[i];
    }
    if (!folder) {
        fprintf(stderr, "usage: classify MODEL_FOLDER [PICTURE.png] [--threads N]\n");
        return 2;
    }
    given = path ? strdup(path) : file_join(folder, "test_224.png");
    classes_path = file_join(folder, "classes.txt");
    if (!given || !classes_path || !picture_read(given, &picture, message, sizeof message) ||
        !file_read(classes_path, &classes, &length, message, sizeof message) ||
        !manifest_open(folder, &manifest, message, sizeof message)) {
        fprintf(stderr, "classify: %s\n", given && classes_path ? message : "out of memory");
        goto done;
    }
    if (picture.width != SIDE || picture.height != SIDE) {
        fprintf(stderr, "classify: %s is %u x %u, not %d x %d\n", given, picture.width, picture.height, SIDE, SIDE);
        goto done;
    }
    picture_to_nchw(&picture, mean, deviation, pixels);

    start = now_ms();
    if (wnnCreateContext(&options, &context)) {
        fprintf(stderr, "classify: %.*s\n", (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
        goto done;
    }
    if (manifest_build(manifest, context, &graph, message, sizeof message)) {
        fprintf(stderr, "classify: %s\n", message);
        goto done;
    }
    built = now_ms();
    if (wnnGraphCompute(graph, 1, &(WNNNamedBuffer){WNN_STR("input"), pixels, sizeof pixels}, 2,
                        (WNNNamedBuffer[]){{WNN_STR("logits"), logits, sizeof logits},
                                           {WNN_STR("probabilities"), probabilities, sizeof probabilities}})) {
        fprintf(stderr, "classify: %.*s\n", (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
        goto done;
    }
    printf("%s: loaded and built in %.1f ms, computed in %.1f ms\n", given, built - start, now_ms() - built);
    for (int k = 0; k < 5; k++) {
        const char *label;
        int best = 0, n;

        for (int i = 1; i < CLASSES; i++)
            if (probabilities[i] > probabilities[best])
                best = i;
        label = line_at(classes, best, &n);
        printf("%6.2f %%  %.*s\n", 100.0 * probabilities[best], n, label);
        probabilities[best] = -1;
    }
    result = 0;
done:
    wnnGraphRelease(graph);
    wnnContextRelease(context);
    manifest_close(manifest);
    picture_free(&picture);
    free(classes);
    free(classes_path);
    free(given);
    return result;
}
