/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Resizes pictures bilinearly, and separably: rows first into floats, then columns.
 *
 * Output pixel o covers the input around (o + 1/2) * ratio with a triangle that is max(ratio, 1) wide on either side; weights
 * add up to 1, also at the borders, where part of the triangle falls outside.
 */
#include <math.h>
#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/picture.h"

/* Holds for every output position the first input position and `width` weights (those after the last one are 0). */
struct taps {
    uint32_t width;
    uint32_t *first;
    float *weights;
};

static void taps_free(struct taps *t)
{
    free(t->first);
    free(t->weights);
    *t = (struct taps){0};
}

static bool taps_create(uint32_t in, uint32_t out, struct taps *t)
{
    double ratio = (double)in / out, reach = fmax(ratio, 1);

    t->width = (uint32_t)fmin((double)in, ceil(reach) * 2 + 1);
    t->first = malloc(out * sizeof *t->first);
    t->weights = calloc((size_t)out * t->width, sizeof *t->weights);
    if (!t->first || !t->weights) {
        taps_free(t);
        return false;
    }
    for (uint32_t o = 0; o < out; o++) {
        double center = (o + 0.5) * ratio, sum = 0;
        double low = fmax(0, floor(center - reach + 0.5)), high = fmin((double)in, floor(center + reach + 0.5));
        uint32_t count = (uint32_t)(high - low) < t->width ? (uint32_t)(high - low) : t->width;
        float *w = &t->weights[(size_t)o * t->width];

        /* The window of `width` inputs must lie inside: near the end it begins earlier, with weights of 0 at its start. */
        t->first[o] = (uint32_t)low + t->width > in ? in - t->width : (uint32_t)low;
        for (uint32_t k = 0; k < count; k++) {
            double weight = fmax(0, 1 - fabs((low + k + 0.5 - center) / reach));

            w[(uint32_t)low - t->first[o] + k] = (float)weight;
            sum += weight;
        }
        for (uint32_t k = 0; k < t->width; k++)
            w[k] = (float)((double)w[k] / sum);
    }
    return true;
}

static void resize_rows(const struct picture *from, const struct taps *t, uint32_t width, float *out)
{
    for (uint32_t y = 0; y < from->height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const uint8_t *in = &from->rgb[3 * ((size_t)y * from->width + t->first[x])];
            const float *w = &t->weights[(size_t)x * t->width];
            float sum[3] = {0, 0, 0};

            for (uint32_t k = 0; k < t->width; k++)
                for (int c = 0; c < 3; c++)
                    sum[c] += w[k] * (float)in[3 * k + (uint32_t)c];
            memcpy(&out[3 * ((size_t)y * width + x)], sum, sizeof sum);
        }
}

static void resize_columns(const float *in, const struct taps *t, struct picture *to)
{
    size_t row = (size_t)3 * to->width;

    for (uint32_t y = 0; y < to->height; y++)
        for (size_t x = 0; x < row; x++) {
            const float *w = &t->weights[(size_t)y * t->width], *column = &in[t->first[y] * row + x];
            float sum = 0;

            for (uint32_t k = 0; k < t->width; k++)
                sum += w[k] * column[k * row];
            to->rgb[y * row + x] = (uint8_t)(sum >= 255 ? 255 : sum > 0 ? lrintf(sum) : 0);
        }
}

bool picture_resize(const struct picture *from, uint32_t width, uint32_t height, struct picture *to, struct error *e)
{
    struct taps across = {0}, down = {0};
    float *rows = NULL;

    if (!picture_create(width, height, to, e))
        return false;
    /* Between the two passes lie from->height * width pixels of floats; neither factor is above 2^28. */
    if ((uint64_t)from->height * width <= SIZE_MAX / (3 * sizeof *rows))
        rows = malloc((size_t)from->height * width * 3 * sizeof *rows);
    if (!rows || !taps_create(from->width, width, &across) || !taps_create(from->height, height, &down)) {
        taps_free(&across);
        free(rows);
        picture_free(to);
        return file_error(e, "out of memory");
    }
    resize_rows(from, &across, width, rows);
    resize_columns(rows, &down, to);
    taps_free(&across);
    taps_free(&down);
    free(rows);
    return true;
}
