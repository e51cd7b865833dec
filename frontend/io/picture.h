/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* 8-bit RGB pictures in PNG files, through libpng. */
#ifndef WEBNN_FRONTEND_IO_PICTURE_H_
#define WEBNN_FRONTEND_IO_PICTURE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** width * height pixels of three bytes, row by row from the top; owned (picture_free). */
struct picture {
    uint32_t width, height;
    uint8_t *rgb;
};

/** Reads a PNG of any kind as RGB (alpha dropped, grey spread).  False: message says why, *picture is empty. */
bool picture_read(const char *path, struct picture *picture, char *message, size_t size);
bool picture_write(const char *path, const struct picture *picture, char *message, size_t size);
void picture_free(struct picture *picture);

/** Planar floats: out[c * height * width + y * width + x] = (rgb / 255 - mean[c]) / deviation[c]. */
void picture_to_nchw(const struct picture *picture, const float mean[3], const float deviation[3], float *out);
/** The way back with mean 0 and deviation 1: rounds, clamps to 0..255. */
void picture_from_nchw(const float *planes, struct picture *picture);

#endif
