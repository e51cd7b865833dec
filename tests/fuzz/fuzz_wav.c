/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sound files, as the examples read them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/wav.h"
#include "frontend/readers/files/file.h"
#include "fuzz/fuzz.h"

enum { RATE = 16000 };

void fuzz_seeds(void)
{
    float samples[64];
    struct sound s = {RATE, sizeof samples / sizeof *samples, samples};

    for (size_t i = 0; i < s.count; i++)
        samples[i] = sinf((float)i);
    for (int as_floats = 0; as_floats < 2; as_floats++) {
        char *bytes, path[128];
        size_t length;

        strcpy(path, fuzz_file("seed.wav", "", 0));
        if (sound_write(path, &s, as_floats, NULL) && file_read(path, &bytes, &length, NULL)) {
            fuzz_seed(bytes, length);
            free(bytes);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = {0};
    struct sound s;

    if (sound_read(fuzz_file("fuzz.wav", data, size), RATE, &s, &e)) {
        if (s.rate != RATE || !s.samples)
            abort();
        sound_free(&s);
    } else if (!*e.message || s.samples) {
        abort();
    }
    return 0;
}
