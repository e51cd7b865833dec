/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What both targets for pictures do. */
#include <stdlib.h>

#include "frontend/readers/files/picture.h"
#include "fuzz/fuzz.h"

/* Larger pictures are read, but not resized. */
enum { PIXELS_MAX = 1 << 16 };

void fuzz_picture(const char *name, const uint8_t *bytes, size_t length)
{
    struct picture_form form = PICTURE_FORM_INIT;
    struct picture p, small;
    struct error e = {0};

    if (!picture_read(fuzz_file(name, bytes, length), &p, &e)) {
        if (!*e.message || p.rgb)
            abort();
        return;
    }
    if (!p.width || !p.height || !p.rgb)
        abort();
    if ((uint64_t)p.width * p.height <= PIXELS_MAX) {
        float *numbers = malloc((size_t)p.width * p.height * 3 * sizeof *numbers);

        if (!numbers)
            abort();
        picture_to_floats(&p, &form, numbers);
        picture_from_floats(numbers, &form, &p);
        free(numbers);
        if (picture_resize(&p, 5, 3, &small, &e))
            picture_free(&small);
    }
    picture_free(&p);
}
