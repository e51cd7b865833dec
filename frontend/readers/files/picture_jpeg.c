/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads JPEG files by libjpeg, whose errors leave by longjmp. */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/picture.h"

/*
 * A progressive picture is kept as coefficients while scans refine them, and a file may have any number of scans: a few bytes
 * of header can ask for gigabytes, and some kilobytes of scans for minutes.  Both are limited here.
 */
enum { JPEG_MEMORY_MAX = 256 << 20, JPEG_SCANS_MAX = 200 };

struct jpeg_failure {
    struct jpeg_error_mgr base;
    struct jpeg_progress_mgr progress;
    jmp_buf leave;
    struct error error;
};

static void fail_hard(j_common_ptr jpeg)
{
    struct jpeg_failure *f = (struct jpeg_failure *)jpeg->err;

    char text[JMSG_LENGTH_MAX];

    jpeg->err->format_message(jpeg, text);
    file_error(&f->error, "%s", text);
    longjmp(f->leave, 1);
}

/* Warnings are about data that decode all the same, but a file that ends too early would silently become half grey. */
static void note(j_common_ptr jpeg, int level)
{
    if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF)
        fail_hard(jpeg);
}

static void count_scans(j_common_ptr jpeg)
{
    struct jpeg_failure *f = (struct jpeg_failure *)jpeg->err;
    int scans = ((j_decompress_ptr)jpeg)->input_scan_number;

    if (scans > JPEG_SCANS_MAX) {
        file_error(&f->error, "it has more than %d scans", JPEG_SCANS_MAX);
        longjmp(f->leave, 1);
    }
}

/* Does everything that may longjmp; what it allocates itself is in *picture. */
static bool decode(struct jpeg_decompress_struct *jpeg, FILE *file, uint64_t file_bytes, struct picture *picture,
                   struct error *e)
{
    struct jpeg_failure *f = (struct jpeg_failure *)jpeg->err;

    jpeg_create_decompress(jpeg);
    f->progress = (struct jpeg_progress_mgr){.progress_monitor = count_scans};
    jpeg->progress = &f->progress;
    jpeg->mem->max_memory_to_use = JPEG_MEMORY_MAX;
    jpeg_stdio_src(jpeg, file);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = JCS_RGB;
    jpeg->dct_method = JDCT_ISLOW;
    jpeg_calc_output_dimensions(jpeg);
    if (!picture_create_read(jpeg->output_width, jpeg->output_height, file_bytes, picture, e))
        return false;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = &picture->rgb[(size_t)3 * picture->width * jpeg->output_scanline];

        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

bool picture_read_jpeg(const char *path, uint64_t file_bytes, struct picture *picture, struct error *e)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_failure failure;
    volatile bool ok = false;
    FILE *file = fopen(path, "rb");

    memset(picture, 0, sizeof *picture);
    memset(&jpeg, 0, sizeof jpeg);
    if (!file)
        return file_error(e, "%s: %s", PATH_SHOWN(path), strerror(errno));
    jpeg.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = fail_hard;
    failure.base.emit_message = note;
    if (!setjmp(failure.leave))
        ok = decode(&jpeg, file, file_bytes, picture, &failure.error);
    jpeg_destroy_decompress(&jpeg);
    fclose(file);
    if (ok)
        return true;
    picture_free(picture);
    return file_error(e, "%s: %s", PATH_SHOWN(path), failure.error.message);
}
