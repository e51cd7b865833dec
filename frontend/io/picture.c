/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* 8-bit RGB pictures in PNG files, through libpng's simplified interface. */
#include "frontend/io/picture.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/io/file.h"

/* Pictures beyond this are refused: 2^28 pixels of floats would not fit a tensor with three channels. */
static const uint64_t pixels_max = 1u << 28;

bool picture_read(const char *path, struct picture *picture, char *message, size_t size)
{
    png_image image = {.version = PNG_IMAGE_VERSION};

    memset(picture, 0, sizeof *picture);
    if (!png_image_begin_read_from_file(&image, path))
        return file_error(message, size, "%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGB;
    if ((uint64_t)image.width * image.height > pixels_max) {
        file_error(message, size, "%s: %u x %u pixels are too many", path, image.width, image.height);
        png_image_free(&image);
        return false;
    }
    picture->rgb = malloc(PNG_IMAGE_SIZE(image));
    if (!picture->rgb) {
        png_image_free(&image);
        return file_error(message, size, "%s: out of memory", path);
    }
    if (!png_image_finish_read(&image, NULL, picture->rgb, 0, NULL)) {
        picture_free(picture);
        return file_error(message, size, "%s: %s", path, image.message);
    }
    picture->width = image.width;
    picture->height = image.height;
    return true;
}

bool picture_write(const char *path, const struct picture *picture, char *message, size_t size)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = picture->width, .height = picture->height, .format = PNG_FORMAT_RGB};

    if (png_image_write_to_file(&image, path, 0, picture->rgb, 0, NULL))
        return true;
    remove(path);
    return file_error(message, size, "%s: %s", path, image.message);
}

void picture_free(struct picture *picture)
{
    free(picture->rgb);
    memset(picture, 0, sizeof *picture);
}

void picture_to_nchw(const struct picture *picture, const float mean[3], const float deviation[3], float *out)
{
    size_t pixels = (size_t)picture->width * picture->height;

    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < pixels; i++)
            out[c * pixels + i] = ((float)picture->rgb[3 * i + c] / 255.0f - mean[c]) / deviation[c];
}

void picture_from_nchw(const float *planes, struct picture *picture)
{
    size_t pixels = (size_t)picture->width * picture->height;

    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < pixels; i++) {
            float v = planes[c * pixels + i] * 255.0f;

            picture->rgb[3 * i + c] = (uint8_t)(v >= 255.0f ? 255 : v > 0 ? lrintf(v) : 0);
        }
}
