/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Removes noise from a photograph with a network whose weights are known in closed form: sliding-window cosine-transform
 * denoising.
 *
 *   denoise NOISY.png OUT.png [CLEAN.png] [--sigma S] [--threads N]
 *
 * The network, as a browser's WebNN code would write it:
 *
 *   pixels [1, 3, H, W]
 *     -> conv2d 1x1    colour to three uncorrelated planes (a 3-point cosine transform: an orthonormal matrix)
 *     -> reshape       [3, 1, H, W], pad by reflection
 *     -> conv2d 8x8    the 64 two-dimensional cosines of every 8x8 window: [3, 64, H+7, W+7]
 *     -> where         coefficients below 2.7 sigma are noise and become 0; the mean of a window is always kept
 *     -> convTranspose2d 8x8   back from coefficients; every pixel is the mean of the 64 windows that contain it
 *     -> slice, reshape, conv2d 1x1 (the transposed colour matrix), clamp
 *
 * With CLEAN.png it prints the peak signal-to-noise ratio before and after.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/readers/files/picture.h"
#include "webnn/webnn.h"

enum { WINDOW = 8, COSINES = WINDOW * WINDOW };

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Returns row k of the orthonormal n-point cosine transform at position i. */
static double cosine(int n, int k, int i)
{
    return sqrt((k ? 2.0 : 1.0) / n) * cos(3.14159265358979323846 * (2 * i + 1) * k / (2.0 * n));
}

static WNNOperand constant(WNNGraphBuilder b, size_t rank, const uint32_t *shape, const float *data)
{
    WNNOperandDescriptor descriptor = {WNNOperandDataType_Float32, rank, shape, NULL};
    size_t bytes = sizeof(float);

    for (size_t i = 0; i < rank; i++)
        bytes *= shape[i];
    return wnnGraphBuilderConstant(b, &descriptor, data, bytes);
}

static WNNStatus build(WNNContext context, uint32_t height, uint32_t width, float sigma, WNNGraph *graph)
{
    const uint32_t image_shape[4] = {1, 3, height, width}, planes[4] = {3, 1, height, width};
    const uint32_t border[4] = {0, 0, WINDOW - 1, WINDOW - 1};
    float colour[9], colour_back[9], cosines[COSINES * COSINES], back[COSINES * COSINES], threshold[COSINES];
    WNNConv2dOptions inverse_colour = WNN_CONV2D_OPTIONS_INIT;
    WNNPadOptions pad = WNN_PAD_OPTIONS_INIT;
    WNNClampOptions clamp = WNN_CLAMP_OPTIONS_INIT;
    WNNConv2dOptions named = WNN_CONV2D_OPTIONS_INIT;
    WNNGraphBuilder b;
    WNNOperand x, small;
    WNNNamedOperand output;
    WNNStatus status = wnnContextCreateGraphBuilder(context, &b);

    if (status)
        return status;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            colour[3 * k + i] = colour_back[3 * i + k] = (float)cosine(3, k, i);
    for (int k = 0; k < COSINES; k++) {
        for (int i = 0; i < COSINES; i++) {
            double c = cosine(WINDOW, k / WINDOW, i / WINDOW) * cosine(WINDOW, k % WINDOW, i % WINDOW);

            cosines[COSINES * k + i] = (float)c;
            back[COSINES * k + i] = (float)(c / COSINES);
        }
        threshold[k] = k ? 2.7f * sigma / 255.0f : 0.0f;
    }

    x = wnnGraphBuilderInput(b, WNN_STR("pixels"), &(WNNOperandDescriptor){WNNOperandDataType_Float32, 4, image_shape, NULL});
    named.label = WNN_STR("decorrelate");
    x = wnnGraphBuilderConv2d(b, x, constant(b, 4, (uint32_t[]){3, 3, 1, 1}, colour), &named);
    x = wnnGraphBuilderReshape(b, x, 4, planes, NULL);
    pad.mode = WNNPaddingMode_Reflection;
    x = wnnGraphBuilderPad(b, x, 4, border, 4, border, &pad);
    named.label = WNN_STR("cosines");
    x = wnnGraphBuilderConv2d(b, x, constant(b, 4, (uint32_t[]){COSINES, 1, WINDOW, WINDOW}, cosines), &named);
    small = wnnGraphBuilderLesser(b, wnnGraphBuilderAbs(b, x, NULL), constant(b, 4, (uint32_t[]){1, COSINES, 1, 1}, threshold),
                                  NULL);
    x = wnnGraphBuilderWhere(b, small, wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Float32, wnnNumber(0)), x, NULL);
    x = wnnGraphBuilderConvTranspose2d(b, x, constant(b, 4, (uint32_t[]){COSINES, 1, WINDOW, WINDOW}, back), NULL);
    x = wnnGraphBuilderSlice(b, x, 4, border, 4, planes, NULL);
    x = wnnGraphBuilderReshape(b, x, 4, image_shape, NULL);
    inverse_colour.label = WNN_STR("correlate");
    x = wnnGraphBuilderConv2d(b, x, constant(b, 4, (uint32_t[]){3, 3, 1, 1}, colour_back), &inverse_colour);
    clamp.minValue = wnnNumber(0);
    clamp.maxValue = wnnNumber(1);
    output = (WNNNamedOperand){WNN_STR("denoised"), wnnGraphBuilderClamp(b, x, &clamp)};

    /* A failed call above returned an error operand, which build refuses: one check is enough. */
    status = wnnGraphBuilderBuild(b, 1, &output, graph);
    wnnGraphBuilderRelease(b);
    return status;
}

static double psnr(const struct picture *a, const struct picture *b)
{
    size_t n = (size_t)a->width * a->height * 3;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ((double)a->rgb[i] - b->rgb[i]) * ((double)a->rgb[i] - b->rgb[i]);
    return 10 * log10(255.0 * 255.0 * (double)n / sum);
}

static int usage(void)
{
    fprintf(stderr, "usage: denoise NOISY.png OUT.png [CLEAN.png] [--sigma S] [--threads N]\n");
    return 2;
}

int main(int argc, char **argv)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct picture noisy = {0}, clean = {0};
    const char *paths[3] = {NULL, NULL, NULL};
    float *in = NULL, *out = NULL, sigma = 25;
    struct error e = {0};
    WNNContext context = NULL;
    WNNGraph graph = NULL;
    WNNStatus status;
    double start, built, before, best = INFINITY;
    int count = 0, result = 1;
    size_t bytes;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--sigma") && i + 1 < argc)
            sigma = strtof(argv[++i], NULL);
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            options.threadCount = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (argv[i][0] != '-' && count < 3)
            paths[count++] = argv[i];
        else
            return usage();
    }
    if (count < 2)
        return usage();
    if (!picture_read(paths[0], &noisy, &e) || (paths[2] && !picture_read(paths[2], &clean, &e))) {
        fprintf(stderr, "denoise: %s\n", e.message);
        goto done;
    }
    bytes = (size_t)noisy.width * noisy.height * 3 * sizeof(float);
    in = malloc(bytes);
    out = malloc(bytes);
    if (!in || !out) {
        fprintf(stderr, "denoise: out of memory\n");
        goto done;
    }
    picture_to_floats(&noisy, &PICTURE_FORM_INIT, in);

    start = now_ms();
    status = wnnCreateContext(&options, &context);
    if (!status)
        status = build(context, noisy.height, noisy.width, sigma, &graph);
    built = now_ms();
    for (int i = 0; !status && i < 3; i++) {
        double t = now_ms();

        status = wnnGraphCompute(graph, 1, &(WNNNamedBuffer){WNN_STR("pixels"), in, bytes}, 1,
                                 &(WNNNamedBuffer){WNN_STR("denoised"), out, bytes});
        best = fmin(best, now_ms() - t);
    }
    if (status) {
        WNNStringView text = wnnGetLastErrorMessage();

        fprintf(stderr, "denoise: %s: %.*s\n", wnnStatusGetName(status), (int)text.length, text.data);
        goto done;
    }

    before = clean.rgb ? psnr(&noisy, &clean) : 0;
    picture_from_nchw(out, &noisy);
    if (!picture_write(paths[1], &noisy, &e)) {
        fprintf(stderr, "denoise: %s\n", e.message);
        goto done;
    }
    printf("%s: %u x %u pixels\n", paths[0], noisy.width, noisy.height);
    printf("built in %.1f ms, computed in %.1f ms (best of 3)\n", built - start, best);
    if (clean.rgb)
        printf("peak signal-to-noise ratio: %.2f dB noisy, %.2f dB denoised\n", before, psnr(&noisy, &clean));
    printf("wrote %s\n", paths[1]);
    result = 0;
done:
    wnnGraphRelease(graph);
    wnnContextRelease(context);
    picture_free(&noisy);
    picture_free(&clean);
    free(in);
    free(out);
    return result;
}
