/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pictures in JPEG files. */
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "fuzz/fuzz.h"

static void seed(J_COLOR_SPACE space, int components, bool progressive)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL, row[16 * 4];
    unsigned long length = 0;

    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &length);
    c.image_width = c.image_height = 16;
    c.input_components = components;
    c.in_color_space = space;
    jpeg_set_defaults(&c);
    if (progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    for (unsigned y = 0; y < 16; y++) {
        for (unsigned x = 0; x < sizeof row; x++)
            row[x] = (unsigned char)(x * y);
        jpeg_write_scanlines(&c, (JSAMPARRAY) & (JSAMPROW){row}, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    fuzz_seed(bytes, length);
    free(bytes);
}

void fuzz_seeds(void)
{
    seed(JCS_RGB, 3, false);
    seed(JCS_RGB, 3, true);
    seed(JCS_GRAYSCALE, 1, false);
    seed(JCS_CMYK, 4, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_picture("fuzz.jpg", data, size);
    return 0;
}
