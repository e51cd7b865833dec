/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads 8-bit RGB pictures from PNG and JPEG files, writes PNG files, and converts between pixels and the numbers that networks
 * take.
 *
 * Read picture.c (files, conversion), picture_jpeg.c, picture_resize.c.  Functions that can fail return false after a message
 * of at most `size` bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/support/error.h"

/** Holds width * height pixels of three bytes, row by row from the top, which picture_free frees. */
struct picture {
    uint32_t width, height;
    uint8_t *rgb;
};

/**
 * Reads a PNG or a JPEG, told by its contents, as RGB (alpha dropped, grey spread, 16 bits reduced to 8; a camera's note about
 * the orientation is not followed).  A file may have 2^27 bytes of pixels, and 64 more for each of its own: what needs more
 * is refused before it is decoded.  If that fails, *picture is empty.
 */
bool picture_read(const char *path, struct picture *picture, struct error *e);
/** Writes a PNG.  A file that could not be written whole is removed. */
bool picture_write(const char *path, const struct picture *picture, struct error *e);
/** Frees the pixels and leaves the picture empty. */
void picture_free(struct picture *picture);
/** Creates a black picture of that size. */
bool picture_create(uint32_t width, uint32_t height, struct picture *picture, struct error *e);
/** Does the same for a picture that a file of file_bytes bytes describes, if such a file may have as many pixels. */
bool picture_create_read(uint32_t width, uint32_t height, uint64_t file_bytes, struct picture *picture, struct error *e);
/** Reads a JPEG of file_bytes bytes, and nothing else. */
bool picture_read_jpeg(const char *path, uint64_t file_bytes, struct picture *picture, struct error *e);

/**
 * Resizes by a bilinear filter that looks at all pixels: when it makes smaller, the triangle is as wide as the ratio, so that
 * nothing aliases (the filter that Pillow calls BILINEAR).  *to is new.
 */
bool picture_resize(const struct picture *from, uint32_t width, uint32_t height, struct picture *to, struct error *e);

/** Describes how pixels become numbers: (level * scale - mean[c]) / deviation[c] for levels 0..255. */
struct picture_form {
    bool nhwc; /* a pixel's channels are contiguous, not in planes */
    bool grey; /* one channel: 0.299 red + 0.587 green + 0.114 blue */
    double scale, mean[3], deviation[3];
};

#define PICTURE_FORM_INIT ((struct picture_form){false, false, 1.0 / 255, {0, 0, 0}, {1, 1, 1}})

/** Converts a picture to width * height * (grey ? 1 : 3) numbers. */
void picture_to_floats(const struct picture *picture, const struct picture_form *form, float *out);
/** Converts numbers back into a picture of the right size: rounds, clamps to 0..255, and makes 0 of NaN. */
void picture_from_floats(const float *data, const struct picture_form *form, struct picture *picture);

/** Converts planes of numbers from 0 to 1 back: rounds and clamps to 0..255. */
void picture_from_nchw(const float *planes, struct picture *picture);
