/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arrays: .npy, and what begins with PK as .npz. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontend/io/npz.h"
#include "fuzz/fuzz.h"

void fuzz_seeds(void)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    const struct npy_array array = {WNNOperandDataType_Float32, 2, {2, 3}, sizeof data, data};
    struct npz_entry entries[2] = {{"a", array}, {"b", array}};
    char path[] = "/tmp/webnn-fuzz-XXXXXX";
    int fd = mkstemp(path);
    char bytes[4096];
    size_t length;
    void *npy;
    FILE *in;

    if (fd >= 0)
        close(fd);
    if (npy_format(&array, "seed", &npy, &length, NULL, 0))
        fuzz_seed(npy, length);
    free(npy);
    remove(path);
    if (fd >= 0 && npz_write(path, entries, 2, NULL, 0) && (in = fopen(path, "rb"))) {
        fuzz_seed(bytes, fread(bytes, 1, sizeof bytes, in));
        fclose(in);
    }
    remove(path);
}

static void read_archive(const uint8_t *data, size_t size)
{
    struct npz_entry *entries;
    char path[64], message[256] = "";
    size_t count;
    int fd = memfd_create("fuzz.npz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (npz_read(path, &entries, &count, message, sizeof message))
        npz_free(entries, count);
    else if (!*message)
        abort();
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy_array array, again;
    char message[256] = "";
    void *bytes;
    size_t length;

    if (size >= 2 && data[0] == 'P' && data[1] == 'K') {
        read_archive(data, size);
        return 0;
    }
    if (!npy_parse(data, size, "fuzz", &array, message, sizeof message)) {
        if (!*message)
            abort();
        return 0;
    }
    if (!npy_format(&array, "fuzz", &bytes, &length, NULL, 0) || !npy_parse(bytes, length, "fuzz", &again, NULL, 0) ||
        again.byteLength != array.byteLength || memcmp(again.data, array.data, array.byteLength))
        abort();
    free(bytes);
    npy_free(&again);
    npy_free(&array);
    return 0;
}
