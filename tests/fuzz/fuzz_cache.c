/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Files of the cache folder, as kernels and programs are kept: once as they are, and once with the checksum put right, so that
 * what comes after it is reached.  What is read is the end of the file, and its beginning is as it was written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"
#include "runtime/program/cache_folder.h"
#include "runtime/program/serialized.h"

#define IDENTITY "identity"
enum { CHECKSUM_AT = 24, HEADER = 32, LENGTH = sizeof IDENTITY - 1 };

static const char *name(void)
{
    static char text[32];

    snprintf(text, sizeof text, "%016llx.kernel", (unsigned long long)serialized_checksum(IDENTITY, LENGTH));
    return text;
}

void fuzz_seeds(void)
{
    char path[4096], bytes[4096];
    FILE *f;
    size_t length;

    fuzz_file("none", "", 0);
    if (!cache_write(fuzz_folder(), IDENTITY, ".kernel", "content", 7))
        abort();
    snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name());
    if (!(f = fopen(path, "r")))
        abort();
    length = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    fuzz_seed(bytes, length);
}

static void try(const unsigned char *bytes, size_t size)
{
    const char *path = fuzz_file(name(), bytes, size);
    size_t content_size = 0;

    chmod(path, 0600);
    unsigned char *content = cache_read(fuzz_folder(), IDENTITY, ".kernel", &content_size);
    if (content && (content_size != size - HEADER - LENGTH || memcmp(bytes + HEADER, IDENTITY, LENGTH) != 0 ||
                    memcmp(content, bytes + HEADER + LENGTH, content_size) != 0))
        abort();
    free(content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size + 1);

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    try(copy, size);
    if (size > HEADER) {
        const uint64_t sum = serialized_checksum(copy + HEADER, size - HEADER);

        memcpy(copy + CHECKSUM_AT, &sum, sizeof sum);
        try(copy, size);
    }
    free(copy);
    return 0;
}
