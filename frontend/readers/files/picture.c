/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads and writes 8-bit RGB pictures, PNG files by libpng's simplified interface, and converts pixels to numbers. */
#include "frontend/readers/files/picture.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/readers/files/file.h"
#include "ir/support/new_file.h"

/* Pictures beyond this are refused: 2^28 pixels of floats would not fit a tensor with three channels. */
static const uint64_t pixels_max = 1u << 28;

/* The pixels of a file may take so many bytes: a few bytes of a PNG can stand for any number of equal pixels. */
#define READ_BYTES 0x1p27
#define READ_BYTES_PER_BYTE 64.0

bool picture_create(uint32_t width, uint32_t height, struct picture *picture, struct error *e)
{
    memset(picture, 0, sizeof *picture);
    if (!width || !height || (uint64_t)width * height > pixels_max)
        return file_error(e, "%u x %u pixels are %s", width, height, width && height ? "too many" : "no picture");
    picture->rgb = calloc((size_t)width * height, 3);
    if (!picture->rgb)
        return file_error(e, "out of memory");
    picture->width = width;
    picture->height = height;
    return true;
}

bool picture_create_read(uint32_t width, uint32_t height, uint64_t file_bytes, struct picture *picture, struct error *e)
{
    const double wanted = 3.0 * width * height, most = READ_BYTES + READ_BYTES_PER_BYTE * (double)file_bytes;

    memset(picture, 0, sizeof *picture);
    if (wanted > most)
        return file_error(e, "%u x %u pixels take %.0f bytes, more than the %.0f that a file of %llu bytes may take", width,
                          height, wanted, most, (unsigned long long)file_bytes);
    return picture_create(width, height, picture, e);
}

static bool read_png(const char *path, uint64_t file_bytes, struct picture *picture, struct error *e)
{
    png_image image = {.version = PNG_IMAGE_VERSION};

    if (!png_image_begin_read_from_file(&image, path))
        return file_error(e, "%s: %s", PATH_SHOWN(path), image.message);
    image.format = PNG_FORMAT_RGB;
    if (!picture_create_read(image.width, image.height, file_bytes, picture, e)) {
        png_image_free(&image);
        return file_error(e, "%s: %s", PATH_SHOWN(path), e ? e->message : "");
    }
    if (!png_image_finish_read(&image, NULL, picture->rgb, 0, NULL)) {
        picture_free(picture);
        return file_error(e, "%s: %s", PATH_SHOWN(path), image.message);
    }
    return true;
}

bool picture_read(const char *path, struct picture *picture, struct error *e)
{
    unsigned char start[3] = {0};
    FILE *file = fopen(path, "rb");
    struct stat status;

    memset(picture, 0, sizeof *picture);
    if (!file)
        return file_error(e, "%s: %s", PATH_SHOWN(path), strerror(errno));
    size_t length = fread(start, 1, sizeof start, file);
    uint64_t bytes = fstat(fileno(file), &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
    fclose(file);
    if (length == 3 && start[0] == 0xFF && start[1] == 0xD8 && start[2] == 0xFF)
        return picture_read_jpeg(path, bytes, picture, e);
    return read_png(path, bytes, picture, e);
}

bool picture_write(const char *path, const struct picture *picture, struct error *e)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = picture->width, .height = picture->height, .format = PNG_FORMAT_RGB};

    int why;
    struct new_file *file = new_file_open(path, 0, &why);

    if (!file)
        return file_error(e, "%s: %s", PATH_SHOWN(path), strerror(why));
    if (png_image_write_to_stdio(&image, new_file_stream(file), 0, picture->rgb, 0, NULL))
        return new_file_commit(file, &why) || file_error(e, "%s: %s", PATH_SHOWN(path), strerror(why));
    new_file_abandon(file);
    return file_error(e, "%s: %s", PATH_SHOWN(path), image.message);
}

void picture_free(struct picture *picture)
{
    free(picture->rgb);
    memset(picture, 0, sizeof *picture);
}

/* ---- pixels as numbers ---- */

void picture_to_floats(const struct picture *picture, const struct picture_form *form, float *out)
{
    size_t pixels = (size_t)picture->width * picture->height, channels = form->grey ? 1 : 3;

    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < pixels; i++) {
            const uint8_t *p = &picture->rgb[3 * i];
            double level = form->grey ? 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2] : p[c];

            out[form->nhwc ? i * channels + c : c * pixels + i] =
                (float)((level * form->scale - form->mean[c]) / form->deviation[c]);
        }
}

static uint8_t level_of(double v)
{
    return (uint8_t)(v >= 255 ? 255 : v > 0 ? lrint(v) : 0); /* NaN is not above 0 */
}

void picture_from_floats(const float *data, const struct picture_form *form, struct picture *picture)
{
    size_t pixels = (size_t)picture->width * picture->height, channels = form->grey ? 1 : 3;

    for (size_t i = 0; i < pixels; i++)
        for (size_t k = 0; k < 3; k++) {
            size_t c = form->grey ? 0 : k;
            double v = (double)data[form->nhwc ? i * channels + c : c * pixels + i];

            picture->rgb[3 * i + k] = level_of((v * form->deviation[c] + form->mean[c]) / form->scale);
        }
}

void picture_from_nchw(const float *planes, struct picture *picture)
{
    size_t pixels = (size_t)picture->width * picture->height;

    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < pixels; i++)
            picture->rgb[3 * i + c] = level_of((double)(planes[c * pixels + i] * 255.0f));
}
