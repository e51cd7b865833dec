/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what is on a picture.
 *
 *   classify MODEL [PICTURE] [--labels FILE] [--threads N]
 *
 * MODEL is a model file, or a folder with one, that takes a picture [1, 3, H, W] normalised as networks trained on ImageNet
 * want it and gives a number for each class; PICTURE a PNG or JPEG of any size (default: test.jpg in the folder), FILE has a
 * label in each line (default: classes.txt in the folder).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/example.h"
#include "frontend/io/file.h"
#include "frontend/io/picture.h"

/* Returns the index-th line of a text, without its end. */
static const char *line_at(const char *text, size_t index, int *length)
{
    for (; index > 0 && text; index--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    *length = text ? (int)strcspn(text, "\r\n") : 0;
    return text ? text : "";
}

/* Numbers that do not add up to 1 are logits. */
static void make_probabilities(float *numbers, size_t count)
{
    double highest = -INFINITY, sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += (double)numbers[i];
        highest = fmax(highest, (double)numbers[i]);
    }
    if (fabs(sum - 1) < 1e-3)
        return;
    sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += exp((double)numbers[i] - highest);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)(exp((double)numbers[i] - highest) / sum);
}

static void print_top(float *probabilities, size_t count, const char *labels)
{
    for (int k = 0; k < 5 && (size_t)k < count; k++) {
        const char *label;
        size_t best = 0;
        int length;

        for (size_t i = 1; i < count; i++)
            if (probabilities[i] > probabilities[best])
                best = i;
        label = line_at(labels, best, &length);
        printf("%6.2f %%  %zu  %.*s\n", 100.0 * (double)probabilities[best], best, length, label);
        probabilities[best] = -1;
    }
}

/* Returns the picture in the size and form that the model takes, malloc'ed, or NULL after a message. */
static float *load_picture(const struct example *e, const char *path, const WNNOperandDescriptor *d)
{
    struct picture picture, fitted;
    const float mean[3] = {0.485f, 0.456f, 0.406f}, deviation[3] = {0.229f, 0.224f, 0.225f};
    char message[512];
    float *pixels;

    if (d->dataType != WNNOperandDataType_Float32 || d->rank != 4 || d->shape[0] != 1 || d->shape[1] != 3) {
        example_error(e, "the model's input is no float32 picture [1, 3, height, width]");
        return NULL;
    }
    if (!picture_read(path, &picture, message, sizeof message)) {
        example_error(e, "%s", message);
        return NULL;
    }
    printf("%s: %u x %u pixels", path, picture.width, picture.height);
    if (picture.width == d->shape[3] && picture.height == d->shape[2]) {
        fitted = picture;
    } else {
        bool ok = picture_resize(&picture, d->shape[3], d->shape[2], &fitted, message, sizeof message);

        picture_free(&picture);
        if (!ok) {
            example_error(e, "%s", message);
            return NULL;
        }
    }
    printf(", seen as %u x %u\n", fitted.width, fitted.height);
    pixels = malloc(example_byte_length(d));
    if (pixels)
        picture_to_nchw(&fitted, mean, deviation, pixels);
    else
        example_error(e, "out of memory");
    picture_free(&fitted);
    return pixels;
}

/* Computes the model's outputs; the one that counts is `probabilities`, or else the last. */
static bool classify(const struct example *e, const char *picture, const char *labels)
{
    enum { OUTPUTS_MAX = 8 };
    const struct model *m = &e->model;
    WNNNamedBuffer outputs[OUTPUTS_MAX] = {{{NULL, 0}, NULL, 0}};
    size_t chosen = m->output_count - 1;
    float *pixels = NULL;
    double start;
    bool ok = m->input_count == 1 && m->output_count >= 1 && m->output_count <= OUTPUTS_MAX;

    if (!ok)
        return example_error(e, "the model is no classifier of pictures: %zu inputs, %zu outputs", m->input_count,
                             m->output_count);
    for (size_t i = 0; i < m->output_count && ok; i++) {
        size_t bytes = example_byte_length(&m->outputs[i].descriptor);

        ok = m->outputs[i].descriptor.dataType == WNNOperandDataType_Float32;
        outputs[i] = (WNNNamedBuffer){WNN_STR(m->outputs[i].name), malloc(bytes), bytes};
        ok &= outputs[i].data != NULL;
        if (!strcmp(m->outputs[i].name, "probabilities"))
            chosen = i;
    }
    if (!ok)
        example_error(e, "out of memory, or outputs that are not float32");
    pixels = ok ? load_picture(e, picture, &m->inputs[0].descriptor) : NULL;
    if (pixels) {
        WNNNamedBuffer input = {WNN_STR(m->inputs[0].name), pixels, example_byte_length(&m->inputs[0].descriptor)};

        start = example_now_ms();
        ok = example_ok(e, wnnGraphCompute(e->graph, 1, &input, m->output_count, outputs), "compute");
        if (ok) {
            printf("read and built in %.1f ms, computed in %.1f ms\n", e->build_ms, example_now_ms() - start);
            make_probabilities(outputs[chosen].data, outputs[chosen].byteLength / sizeof(float));
            print_top(outputs[chosen].data, outputs[chosen].byteLength / sizeof(float), labels);
        }
    }
    ok &= pixels != NULL;
    free(pixels);
    for (size_t i = 0; i < OUTPUTS_MAX; i++)
        free(outputs[i].data);
    return ok;
}

int main(int argc, char **argv)
{
    const char *const names[] = {"--labels", NULL};
    const char *words[2], *labels_path = NULL;
    char *picture = NULL, *path = NULL, *labels = NULL, message[512];
    struct example e = {.program = "classify"};
    uint32_t threads = 0;
    size_t length;
    int count = example_arguments(argc, argv, words, 2, &threads, names, &labels_path), result = 1;

    if (count < 1) {
        fprintf(stderr, "usage: classify MODEL [PICTURE] [--labels FILE] [--threads N]\n");
        return 2;
    }
    picture = count > 1 ? strdup(words[1]) : file_join(words[0], "test.jpg");
    path = labels_path ? strdup(labels_path) : file_join(words[0], "classes.txt");
    if (!picture || !path)
        example_error(&e, "out of memory");
    else if (!file_read(path, &labels, &length, message, sizeof message) && labels_path) /* without labels there are numbers */
        example_error(&e, "%s", message);
    else if (example_open(&e, "classify", words[0], threads))
        result = !classify(&e, picture, labels ? labels : "");
    example_close(&e);
    free(labels);
    free(path);
    free(picture);
    return result;
}
