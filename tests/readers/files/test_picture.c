/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pictures that ask for more than they are worth: progressive ones, whose coefficients stay in memory for all scans. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <jpeglib.h>
#include <png.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/picture.h"
#include "support/test.h"

static char path[] = "/tmp/webnn-picture-XXXXXX";

/** Returns a progressive picture of 16 x 16 in memory. */
static unsigned char *make_progressive(unsigned long *length)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char row[16 * 3], *bytes = NULL;
    JSAMPROW rows[] = {row};

    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    *length = 0;
    jpeg_mem_dest(&jpeg, &bytes, length);
    jpeg.image_width = jpeg.image_height = 16;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < 16; y++) {
        for (int x = 0; x < 16 * 3; x++)
            row[x] = (unsigned char)(x * 5 + y * 11);
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return bytes;
}

/** Returns where the last segment with this marker begins. */
static size_t find_marker(const unsigned char *bytes, size_t length, unsigned char marker)
{
    for (size_t i = length - 1; i-- > 0;)
        if (bytes[i] == 0xFF && bytes[i + 1] == marker)
            return i;
    fail_msg("there is no marker %02X", marker);
    return 0;
}

static bool read_bytes(const void *bytes, size_t length, struct error *e)
{
    SCOPED(picture_free) struct picture picture = {0};

    assert_true(file_write(path, bytes, length, e));
    bool ok = picture_read(path, &picture, e);
    return ok;
}

TEST(progressive_pictures_beyond_memory_are_refused)
{
    struct rusage before, after;
    unsigned long length;
    unsigned char *bytes = make_progressive(&length);
    struct error e = {0};
    size_t at;

    assert_true(read_bytes(bytes, length, &e));
    at = find_marker(bytes, length, 0xC2); /* length, precision, height, width */
    memcpy(bytes + at + 5, (unsigned char[]){16000 >> 8, 16000 & 255, 16000 >> 8, 16000 & 255}, 4);
    getrusage(RUSAGE_SELF, &before);
    assert_false(read_bytes(bytes, length, &e));
    getrusage(RUSAGE_SELF, &after);
    assert_true(strlen(e.message) > 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 100 << 10); /* KiB */
    free(bytes);
}

/** A file of one colour: pixels of one bit, so that one byte of the file stands for eight thousand of them. */
static bool read_blank(uint32_t width, uint32_t height, struct error *e)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *file = fopen(path, "wb");
    unsigned char *row = calloc(1, width / 8 + 1);
    SCOPED(picture_free) struct picture picture = {0};

    assert_true(png && info && file && row);
    if (setjmp(png_jmpbuf(png)))
        fail_msg("libpng writes no picture");
    png_init_io(png, file);
    png_set_IHDR(png, info, width, height, 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t y = 0; y < height; y++)
        png_write_row(png, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    assert_int_equal(fclose(file), 0);
    free(row);
    bool ok = picture_read(path, &picture, e);
    return ok;
}

TEST(pictures_are_limited_by_their_files)
{
    struct error e = {0};

    assert_true(read_blank(4000, 4000, &e));
    assert_false(read_blank(10000, 10000, &e)); /* 12 KB */
    assert_non_null(strstr(e.message, "10000 x 10000 pixels take 300000000 bytes, more than the 13"));
}

TEST(progressive_pictures_of_endless_scans_are_refused)
{
    enum { SCANS = 1000 };
    unsigned long length;
    unsigned char *bytes = make_progressive(&length), *many;
    size_t scan = find_marker(bytes, length, 0xDA), end = find_marker(bytes, length, 0xD9), at = scan;
    struct error e = {0};

    many = malloc(scan + SCANS * (end - scan) + 2);
    assert_non_null(many);
    memcpy(many, bytes, scan);
    for (int i = 0; i < SCANS; i++, at += end - scan)
        memcpy(many + at, bytes + scan, end - scan);
    memcpy(many + at, bytes + end, 2);
    assert_false(read_bytes(many, at + 2, &e));
    assert_non_null(strstr(e.message, "more than 200 scans"));
    free(many);
    free(bytes);
}

static int set_up(void **state)
{
    int fd = mkstemp(path);

    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    return remove(path);
}

TEST_GROUP(set_up, tear_down)
