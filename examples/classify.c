/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Classifies a picture, or many.
 *
 *   classify MODEL [PICTURE|FOLDER ...] [--list FILE] [--labels FILE] [--threads N]
 *
 * MODEL is a model file, or a folder with one, that takes a picture [1, 3, H, W] normalised as networks trained on ImageNet
 * want it, or grey levels [1, 1, H, W], and gives a number for each class; PICTURE a PNG or JPEG of any size (default: test.jpg
 * in the folder), FILE of --labels has a label in each line (default: classes.txt in the folder).
 *
 * One picture is answered with five lines of text.  A folder, several pictures or --list, a file with a path in each line ("-"
 * is standard input), are answered with a line of JSON for each picture: {"input": PATH, "ms": TIME, "top": [{"class": 387,
 * "probability": 0.99, "label": "lesser panda"}, ...]}, or {"input": PATH, "error": MESSAGE} for a file that is not a picture.
 * Pictures are read while others are computed; the exit status is 1 if some failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/classifier.h"
#include "examples/support/example.h"
#include "frontend/readers/files/file.h"

static const char usage[] = "usage: classify MODEL [PICTURE|FOLDER ...] [--list FILE] [--labels FILE] [--threads N]\n";

/** Classifies one picture and prints text. */
static bool classify_one(const struct example *e, struct classifier *c, const char *path)
{
    const WNNOperandDescriptor *d = &c->input.descriptor;
    struct classifier_class top[CLASSIFIER_TOP];
    struct classifier_picture picture;
    struct error error = {0};
    size_t count;
    double start;
    bool ok;

    if (!classifier_read(c, path, &picture, &error))
        return example_error(e, "%s", error.message);
    printf("%s: %u x %u pixels, seen as %u x %u\n", path, picture.width, picture.height, d->shape[3], d->shape[2]);
    start = example_now_ms();
    ok = classifier_compute(c, &picture, top, &count, &error);
    free(picture.pixels);
    if (!ok)
        return example_error(e, "%s", error.message);
    printf("read and built in %.1f ms, computed in %.1f ms\n", e->build_ms, example_now_ms() - start);
    for (size_t k = 0; k < count; k++) {
        size_t length;
        const char *label = classifier_label(c, top[k].index, &length);

        printf("%6.2f %%  %zu  %.*s\n", 100 * top[k].probability, top[k].index, (int)length, label);
    }
    return true;
}

/** Classifies what the command line names after the model. */
static bool classify(const struct example *e, struct classifier *c, size_t count, const char *const *words, const char *list)
{
    struct batch_list l = {0};
    size_t failed = 0;
    bool ok;

    if (count == 1 && !list && !batch_is_folder(words[0]))
        return classify_one(e, c, words[0]);
    ok = classifier_inputs(e->program, &l, count, words, list) && classifier_batch(c, &l, stdout, true, &failed) && !failed;
    batch_list_free(&l);
    return ok;
}

int main(int argc, char **argv)
{
    const char *const names[] = {"--labels", "--list", NULL};
    const char **words = calloc((size_t)argc + 1, sizeof *words), *values[2] = {NULL, NULL};
    struct error error = {0};
    char *picture = NULL, *path = NULL, *labels = NULL;
    struct example e = {.program = "classify"};
    struct classifier c = {0};
    uint32_t threads = 0;
    size_t length;
    int count = words ? example_arguments(argc, argv, words, argc, &threads, names, values) : -1, result = 1;

    if (count < 1) {
        fputs(usage, stderr);
        free(words);
        return 2;
    }
    picture = file_join(words[0], "test.jpg");
    path = values[0] ? strdup(values[0]) : file_join(words[0], "classes.txt");
    if (count == 1 && !values[1])
        words[count++] = picture;
    if (!picture || !path)
        example_error(&e, "out of memory");
    else if (!file_read(path, &labels, &length, &error) && values[0]) /* without labels there are numbers */
        example_error(&e, "%s", error.message);
    else if (example_open(&e, "classify", words[0], threads) && classifier_open(&c, "classify", e.graph, labels ? labels : ""))
        result = !classify(&e, &c, (size_t)count - 1, words + 1, values[1]);
    classifier_close(&c);
    example_close(&e);
    free(labels);
    free(path);
    free(picture);
    free(words);
    return result;
}
