/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Archives of arrays, with the checksums of members that are stored as they are put right. */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/npz.h"
#include "fuzz/fuzz.h"

#include <zlib.h>

enum { LOCAL = 30, CENTRAL = 46 };

void fuzz_seeds(void)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    const struct npy_array array = {WNNOperandDataType_Float32, 2, {2, 3}, sizeof data, data, false};
    struct npz_entry entries[2] = {{"a", array}, {"b", array}};
    char path[128], *bytes;
    size_t length;

    for (size_t count = 1; count <= 2; count++) {
        strcpy(path, fuzz_file("seed.npz", "", 0));
        if (npz_write(path, entries, count, NULL) && file_read(path, &bytes, &length, NULL)) {
            fuzz_seed(bytes, length);
            free(bytes);
        }
    }
}

static uint32_t little_endian(const uint8_t *p, int bytes)
{
    uint32_t v = 0;

    for (int i = 0; i < bytes; i++)
        v |= (uint32_t)p[i] << 8 * i;
    return v;
}

static void put_little_endian(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/** Every entry of the central directory, and the local header that it points to. */
static void put_checksums(uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + CENTRAL <= size; at++) {
        if (memcmp(bytes + at, "PK\1\2", 4))
            continue;
        size_t local = little_endian(bytes + at + 42, 4), length = little_endian(bytes + at + 20, 4);
        if (local > size || size - local < LOCAL || memcmp(bytes + local, "PK\3\4", 4))
            continue;
        size_t data = local + LOCAL + little_endian(bytes + local + 26, 2) + little_endian(bytes + local + 28, 2);
        if (data > size || length > size - data)
            continue;
        uint32_t crc = (uint32_t)crc32(0, bytes + data, (uInt)length);
        put_little_endian(bytes + at + 16, crc);
        put_little_endian(bytes + local + 14, crc);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct npz_entry *entries;
    struct npy_array array;
    struct error e = {0};
    size_t count;

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    put_checksums(copy, size);
    const char *path = fuzz_file("fuzz.npz", copy, size);
    if (npz_read(path, &entries, &count, &e))
        npz_free(entries, count);
    else if (!*e.message)
        abort();
    if (npz_read_array(path, "a", &array, &e))
        npy_free(&array);
    free(copy);
    return 0;
}
