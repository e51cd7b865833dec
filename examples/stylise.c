/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Paints a photograph in the style of a picture that a network has learnt.
 *
 *   stylise MODEL PICTURE OUT.png [--threads N]
 *
 * MODEL takes and gives pictures [1, 3, H, W] of levels 0..255 (fast-style-transfer: The Starry Night).  The photograph is cut
 * to the model's proportions around its middle and resized to its size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/example.h"
#include "frontend/readers/files/picture.h"

/* Cuts out the largest part around the middle with the proportions width : height. */
static bool cut(const struct picture *from, uint32_t width, uint32_t height, struct picture *to, struct error *e)
{
    uint64_t w = from->width, h = from->height;

    if (w * height > h * width)
        w = h * width / height;
    else
        h = w * height / width;
    w = w ? w : 1;
    h = h ? h : 1;
    if (!picture_create((uint32_t)w, (uint32_t)h, to, e))
        return false;
    for (size_t y = 0; y < h; y++)
        memcpy(&to->rgb[3 * y * w], &from->rgb[3 * ((y + (from->height - h) / 2) * from->width + (from->width - w) / 2)],
               3 * w);
    return true;
}

static bool stylise(const struct example *e, const struct picture *photograph, const char *path)
{
    const struct model_port *in = &e->model.inputs[0], *out = &e->model.outputs[0];
    const uint32_t *shape = in->descriptor.shape;
    struct picture_form form = PICTURE_FORM_INIT;
    size_t bytes = wnnOperandDescriptorGetByteLength(&in->descriptor);
    float *levels = malloc(2 * bytes), *painted = levels + bytes / sizeof *levels;
    struct picture part = {0}, fitted = {0};
    struct error error = {0};
    double start;
    bool ok;

    form.scale = 1; /* levels as they are */
    if (!levels || !cut(photograph, shape[3], shape[2], &part, &error) ||
        !picture_resize(&part, shape[3], shape[2], &fitted, &error)) {
        picture_free(&part);
        free(levels);
        return example_error(e, "%s", error.message);
    }
    picture_to_floats(&fitted, &form, levels);
    start = example_now_ms();
    ok = example_ok(e,
                    wnnGraphCompute(e->graph, 1, &(WNNNamedBuffer){WNN_STR(in->name), levels, bytes}, 1,
                                    &(WNNNamedBuffer){WNN_STR(out->name), painted, bytes}),
                    "compute");
    if (ok) {
        printf("%u x %u pixels; read and built in %.1f ms, painted in %.1f ms\n", shape[3], shape[2], e->build_ms,
               example_now_ms() - start);
        picture_from_floats(painted, &form, &fitted);
        ok = picture_write(path, &fitted, &error) || example_error(e, "%s", error.message);
    }
    picture_free(&part);
    picture_free(&fitted);
    free(levels);
    return ok;
}

int main(int argc, char **argv)
{
    struct example e = {.program = "stylise"};
    struct picture picture = {0};
    const char *words[3];
    uint32_t threads = 0;
    struct error error = {0};
    bool ok;

    if (example_arguments(argc, argv, words, 3, &threads, NULL, NULL) != 3) {
        fprintf(stderr, "usage: stylise MODEL PICTURE OUT.png [--threads N]\n");
        return 2;
    }
    ok =
        (picture_read(words[1], &picture, &error) || example_error(&e, "%s", error.message)) &&
        example_open(&e, "stylise", words[0], threads) &&
        ((e.model.input_count == 1 && e.model.output_count == 1) ||
         example_error(&e, "the model does not turn one picture into another")) &&
        example_expect(&e, true, e.model.inputs[0].name, WNNOperandDataType_Float32, 4, (uint32_t[]){1, 3, 0, 0}) &&
        example_expect(&e, false, e.model.outputs[0].name, WNNOperandDataType_Float32, 4, e.model.inputs[0].descriptor.shape) &&
        stylise(&e, &picture, words[2]);
    if (ok)
        printf("wrote %s\n", words[2]);
    picture_free(&picture);
    example_close(&e);
    return !ok;
}
