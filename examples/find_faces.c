/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds faces on a picture and draws a box around each.
 *
 *   find_faces MODEL PICTURE OUT.png [--score S] [--threads N]
 *
 * MODEL is the network UltraFace (ultraface-rfb-320): `input` [1, 3, 240, 320] of levels (L - 127) / 128; `scores` [1, N, 2],
 * the second of which is "face", and `boxes` [1, N, 4] as x1, y1, x2, y2 relative to the picture.  Many of the N anchors see
 * the same face: of boxes that overlap by more than three tenths of their union, the one with the highest score stays.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/example.h"
#include "frontend/readers/files/picture.h"

struct face {
    float box[4], score; /* x1, y1, x2, y2 between 0 and 1 */
};

static int by_score(const void *a, const void *b)
{
    const struct face *x = a, *y = b;

    return (x->score < y->score) - (x->score > y->score);
}

static float area(const float *box)
{
    return fmaxf(box[2] - box[0], 0) * fmaxf(box[3] - box[1], 0);
}

/* Returns intersection over union. */
static float overlap(const float *a, const float *b)
{
    const float common[4] = {fmaxf(a[0], b[0]), fmaxf(a[1], b[1]), fminf(a[2], b[2]), fminf(a[3], b[3])};
    float both = area(a) + area(b) - area(common);

    return both > 0 ? area(common) / both : 0;
}

/*
 * Chooses faces above a score, the best of those that overlap.  Returns how many there are; *faces is malloc'ed, NULL without
 * memory.
 */
static size_t choose_faces(const float *scores, const float *boxes, size_t anchors, float score, struct face **faces)
{
    const float overlap_max = 0.3f;
    struct face *f = malloc((anchors + 1) * sizeof *f);
    size_t count = 0, kept = 0;

    *faces = f;
    for (size_t i = 0; i < anchors && f; i++) {
        if (!(scores[2 * i + 1] > score))
            continue;
        memcpy(f[count].box, &boxes[4 * i], sizeof f->box);
        f[count++].score = scores[2 * i + 1];
    }
    if (count)
        qsort(f, count, sizeof *f, by_score);
    for (size_t i = 0; i < count; i++) {
        bool keep = true;

        for (size_t k = 0; k < kept && keep; k++)
            keep = overlap(f[i].box, f[k].box) <= overlap_max;
        if (keep)
            f[kept++] = f[i];
    }
    return kept;
}

/* Returns the place of x, a part of the picture, in pixels; boxes may reach beyond it. */
static uint32_t pixel(float x, uint32_t size)
{
    double at = floor((double)x * size);

    return at >= size ? size - 1 : at > 0 ? (uint32_t)at : 0;
}

static void draw_box(struct picture *p, const float *box)
{
    const uint8_t green[3] = {40, 230, 60};
    uint32_t x1 = pixel(box[0], p->width), y1 = pixel(box[1], p->height), x2 = pixel(box[2], p->width),
             y2 = pixel(box[3], p->height);
    uint32_t thick = 1 + (p->width > p->height ? p->width : p->height) / 400;

    for (uint32_t y = y1; y <= y2; y++)
        for (uint32_t x = x1; x <= x2; x++)
            if (x - x1 < thick || x2 - x < thick || y - y1 < thick || y2 - y < thick)
                memcpy(&p->rgb[3 * ((size_t)y * p->width + x)], green, 3);
}

static bool find_faces(const struct example *e, struct picture *p, float score)
{
    const uint32_t *in = example_shape(e, true, "input"), *out = example_shape(e, false, "scores");
    struct picture_form form = {.scale = 1, .mean = {127, 127, 127}, .deviation = {128, 128, 128}};
    size_t pixels = (size_t)3 * in[2] * in[3], anchors = out[1];
    float *numbers = malloc((pixels + 6 * anchors) * sizeof *numbers), *scores = numbers + pixels,
          *boxes = scores + 2 * anchors;
    struct face *faces = NULL;
    struct picture small;
    struct error error = {0};
    double start;
    bool ok = numbers || example_error(e, "out of memory");

    if (!ok || !picture_resize(p, in[3], in[2], &small, &error)) {
        free(numbers);
        return ok && example_error(e, "%s", error.message);
    }
    picture_to_floats(&small, &form, numbers);
    picture_free(&small);
    start = example_now_ms();
    ok = example_ok(e,
                    wnnGraphCompute(e->graph, 1, &(WNNNamedBuffer){WNN_STR("input"), numbers, pixels * sizeof *numbers}, 2,
                                    (WNNNamedBuffer[]){{WNN_STR("scores"), scores, 2 * anchors * sizeof *numbers},
                                                       {WNN_STR("boxes"), boxes, 4 * anchors * sizeof *numbers}}),
                    "compute");
    if (ok) {
        double ms = example_now_ms() - start;
        size_t count = choose_faces(scores, boxes, anchors, score, &faces);

        ok = faces || example_error(e, "out of memory");
        printf("%zu face%s; read and built in %.1f ms, computed in %.1f ms\n", count, count == 1 ? "" : "s", e->build_ms, ms);
        for (size_t i = 0; i < count; i++) {
            const float *b = faces[i].box;

            printf("score %.4f  box %.4f %.4f %.4f %.4f\n", (double)faces[i].score, (double)b[0], (double)b[1], (double)b[2],
                   (double)b[3]);
            draw_box(p, b);
        }
    }
    free(faces);
    free(numbers);
    return ok;
}

int main(int argc, char **argv)
{
    const char *const names[] = {"--score", NULL};
    const char *words[3], *score = "0.7";
    struct example e = {.program = "find_faces"};
    struct picture picture = {0};
    uint32_t threads = 0;
    struct error error = {0};
    bool ok;

    if (example_arguments(argc, argv, words, 3, &threads, names, &score) != 3) {
        fprintf(stderr, "usage: find_faces MODEL PICTURE OUT.png [--score S] [--threads N]\n");
        return 2;
    }
    ok = (picture_read(words[1], &picture, &error) || example_error(&e, "%s", error.message)) &&
         example_open(&e, "find_faces", words[0], threads) &&
         example_expect(&e, true, "input", WNNOperandDataType_Float32, 4, (uint32_t[]){1, 3, 0, 0}) &&
         example_expect(&e, false, "scores", WNNOperandDataType_Float32, 3, (uint32_t[]){1, 0, 2}) &&
         example_expect(&e, false, "boxes", WNNOperandDataType_Float32, 3,
                        (uint32_t[]){1, example_shape(&e, false, "scores")[1], 4}) &&
         find_faces(&e, &picture, strtof(score, NULL)) &&
         (picture_write(words[2], &picture, &error) || example_error(&e, "%s", error.message));
    if (ok)
        printf("wrote %s\n", words[2]);
    picture_free(&picture);
    example_close(&e);
    return !ok;
}
