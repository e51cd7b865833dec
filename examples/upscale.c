/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes a picture larger with a network that has seen what details look like.
 *
 *   upscale MODEL PICTURE OUT.png [--threads N]
 *
 * MODEL takes brightness [1, 1, H, W] between 0 and 1 and gives it enlarged (super-resolution: 224 x 224, three times).
 * Pictures of any size go through it tile by tile; tiles overlap by more than the network sees around a pixel, so that no seam
 * shows.  Colour, for which eyes are less sharp, is enlarged bilinearly.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/example.h"
#include "frontend/readers/files/picture.h"

/* What lies further away than this does not change a pixel: kernels of 5, 3, 3 and 3 reach 2 + 1 + 1 + 1 pixels. */
enum { REACH = 5 };

/* Returns where a tile begins, in one way of cutting `size` pixels into tiles of `tile`. */
static uint32_t tile_start(uint32_t index, uint32_t tile, uint32_t size)
{
    uint64_t start = (uint64_t)index * (tile - 2 * REACH);

    return size <= tile ? 0 : start + tile > size ? size - tile : (uint32_t)start;
}

static uint32_t tile_count(uint32_t tile, uint32_t size)
{
    return size <= tile ? 1 : 1 + (size - tile + tile - 2 * REACH - 1) / (tile - 2 * REACH);
}

/* Reads the brightness (BT.601) of the pixels of a tile; beyond the picture's edge its last pixels are repeated. */
static void tile_read(const struct picture *p, uint32_t x0, uint32_t y0, uint32_t width, uint32_t height, float *out)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            uint32_t px = x0 + x < p->width ? x0 + x : p->width - 1, py = y0 + y < p->height ? y0 + y : p->height - 1;
            const uint8_t *c = &p->rgb[3 * ((size_t)py * p->width + px)];

            *out++ = (float)((0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]) / 255);
        }
}

/* The brightness of `large` becomes what the network says; the difference goes to all three channels alike, so colours stay. */
static void tile_write(struct picture *large, uint32_t scale, uint32_t x0, uint32_t y0, uint32_t left, uint32_t top,
                       uint32_t width, uint32_t height, const float *in)
{
    for (uint32_t y = top * scale; y < height * scale && y0 * scale + y < large->height; y++)
        for (uint32_t x = left * scale; x < width * scale && x0 * scale + x < large->width; x++) {
            uint8_t *c = &large->rgb[3 * ((size_t)(y0 * scale + y) * large->width + x0 * scale + x)];
            double light = fmin(fmax((double)in[(size_t)y * width * scale + x], 0), 1) * 255;
            double change = light - (0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]);

            for (int k = 0; k < 3; k++)
                c[k] = (uint8_t)lrint(fmin(fmax(c[k] + change, 0), 255));
        }
}

static bool upscale(const struct example *e, const struct picture *p, const char *path)
{
    const struct model_port *in = &e->model.inputs[0], *out = &e->model.outputs[0];
    uint32_t height = in->descriptor.shape[2], width = in->descriptor.shape[3], scale = out->descriptor.shape[2] / height;
    size_t in_bytes = wnnOperandDescriptorGetByteLength(&in->descriptor),
           out_bytes = wnnOperandDescriptorGetByteLength(&out->descriptor);
    uint32_t columns = tile_count(width, p->width), rows = tile_count(height, p->height);
    float *small = malloc(in_bytes), *large = malloc(out_bytes);
    struct picture result = {0};
    struct error error = {0};
    double ms = 0;
    bool ok = small && large;

    ok = ok && (p->width <= UINT32_MAX / scale && p->height <= UINT32_MAX / scale) &&
         picture_resize(p, p->width * scale, p->height * scale, &result, &error);
    if (!ok)
        example_error(e, "%s", error.message);
    for (uint32_t i = 0; i < rows * columns && ok; i++) {
        uint32_t x0 = tile_start(i % columns, width, p->width), y0 = tile_start(i / columns, height, p->height);
        double start = example_now_ms();

        tile_read(p, x0, y0, width, height, small);
        ok = example_ok(e,
                        wnnGraphCompute(e->graph, 1, &(WNNNamedBuffer){WNN_STR(in->name), small, in_bytes}, 1,
                                        &(WNNNamedBuffer){WNN_STR(out->name), large, out_bytes}),
                        "compute");
        ms += example_now_ms() - start;
        /* Tiles come from the left and the top: each overwrites what the ones before it could not see well. */
        tile_write(&result, scale, x0, y0, x0 ? REACH : 0, y0 ? REACH : 0, width, height, large);
    }
    if (ok) {
        printf("%u x %u pixels to %u x %u in %u tile%s; read and built in %.1f ms, computed in %.1f ms\n", p->width, p->height,
               result.width, result.height, rows * columns, rows * columns == 1 ? "" : "s", e->build_ms, ms);
        ok = picture_write(path, &result, &error) || example_error(e, "%s", error.message);
    }
    picture_free(&result);
    free(small);
    free(large);
    return ok;
}

int main(int argc, char **argv)
{
    struct example e = {.program = "upscale"};
    struct picture picture = {0};
    const char *words[3];
    const uint32_t *in, *out;
    uint32_t threads = 0;
    struct error error = {0};
    bool ok;

    if (example_arguments(argc, argv, words, 3, &threads, NULL, NULL) != 3) {
        fprintf(stderr, "usage: upscale MODEL PICTURE OUT.png [--threads N]\n");
        return 2;
    }
    ok = (picture_read(words[1], &picture, &error) || example_error(&e, "%s", error.message)) &&
         example_open(&e, "upscale", words[0], threads) &&
         ((e.model.input_count == 1 && e.model.output_count == 1) ||
          example_error(&e, "the model does not turn one picture into another")) &&
         example_expect(&e, true, e.model.inputs[0].name, WNNOperandDataType_Float32, 4, (uint32_t[]){1, 1, 0, 0}) &&
         example_expect(&e, false, e.model.outputs[0].name, WNNOperandDataType_Float32, 4, (uint32_t[]){1, 1, 0, 0});
    if (ok) {
        in = e.model.inputs[0].descriptor.shape;
        out = e.model.outputs[0].descriptor.shape;
        ok = (out[2] % in[2] == 0 && out[3] % in[3] == 0 && out[2] / in[2] == out[3] / in[3] && in[2] > 4 * REACH &&
              in[3] > 4 * REACH) ||
             example_error(&e, "the model does not enlarge by a whole number");
        ok = ok && upscale(&e, &picture, words[2]);
    }
    if (ok)
        printf("wrote %s\n", words[2]);
    picture_free(&picture);
    example_close(&e);
    return !ok;
}
