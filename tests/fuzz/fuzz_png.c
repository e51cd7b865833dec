/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pictures in PNG files, with the checksums of their chunks put right. */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/picture.h"
#include "fuzz/fuzz.h"

#include <zlib.h>

enum { SIGNATURE = 8, CHUNK_HEAD = 8, CHUNK_CHECKSUM = 4 };

void fuzz_seeds(void)
{
    struct picture p;

    for (uint32_t size = 1; size < 40; size *= 3) {
        char *bytes, path[128];
        size_t length;

        if (!picture_create(size, size + 1, &p, NULL))
            continue;
        for (uint32_t i = 0; i < size * (size + 1) * 3; i++)
            p.rgb[i] = (uint8_t)(i * 7);
        strcpy(path, fuzz_file("seed.png", "", 0));
        if (picture_write(path, &p, NULL) && file_read(path, &bytes, &length, NULL)) {
            fuzz_seed(bytes, length);
            free(bytes);
        }
        picture_free(&p);
    }
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_checksums(uint8_t *bytes, size_t size)
{
    for (size_t at = SIGNATURE; at + CHUNK_HEAD + CHUNK_CHECKSUM <= size;) {
        size_t length = big_endian(bytes + at);

        if (length > size - at - CHUNK_HEAD - CHUNK_CHECKSUM)
            return;
        uint32_t crc = (uint32_t)crc32(0, bytes + at + 4, (uInt)(length + 4));
        for (int i = 0; i < 4; i++)
            bytes[at + CHUNK_HEAD + length + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += CHUNK_HEAD + length + CHUNK_CHECKSUM;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    put_checksums(copy, size);
    fuzz_picture("fuzz.png", copy, size);
    free(copy);
    return 0;
}
