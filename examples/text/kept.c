/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A model is known by the names, sizes and times of its files, so that nothing of it has to be read.  Weights may lie next to
 * the ONNX file under any name: whatever begins as its name does, and every file of some size in its folder, counts as the
 * model's.
 */
#include "examples/text/kept.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/readers/files/file.h"

enum { LARGE_BYTES = 64 << 10 };

static uint64_t add_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001B3u;
    return hash;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return add_bytes(hash, text, strlen(text) + 1);
}

static uint64_t add_number(uint64_t hash, uint64_t number)
{
    return add_bytes(hash, &number, sizeof number);
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), end_length = strlen(end);

    return length >= end_length && !strcmp(name + length - end_length, end);
}

/* Adds the files of a model in whatever order they come, without compiled graphs, which may be kept next to it. */
static uint64_t add_files(uint64_t hash, const char *folder, const char *model)
{
    const size_t stem = strcspn(model, ".");
    const uint64_t start = hash;
    const struct dirent *entry;
    DIR *dir = opendir(folder);

    while (dir && (entry = readdir(dir))) {
        char *path = file_join(folder, entry->d_name);
        struct stat s;

        if (path && !ends_with(entry->d_name, ".wnn") && !stat(path, &s) && S_ISREG(s.st_mode) &&
            (s.st_size >= LARGE_BYTES || !strncmp(entry->d_name, model, stem))) {
            uint64_t file = add_text(start, entry->d_name);

            file = add_number(file, (uint64_t)s.st_size);
            file = add_number(file, (uint64_t)s.st_mtim.tv_sec);
            hash += add_number(file, (uint64_t)s.st_mtim.tv_nsec);
        }
        free(path);
    }
    if (dir)
        closedir(dir);
    return hash;
}

char *kept_path(WNNContext context, const struct decoder_options *o, uint32_t capacity, uint32_t length)
{
    char *model = realpath(o->path, NULL), *slash = model ? strrchr(model, '/') : NULL, name[64];
    uint64_t hash = add_text(0xCBF29CE484222325u, wnnGetVersion());
    WNNDeviceInfo device;

    hash = add_text(hash, model ? model : o->path);
    if (slash) {
        *slash = '\0';
        hash = add_files(hash, slash == model ? "/" : model, slash + 1);
    }
    free(model);
    wnnContextGetDevice(context, &device);
    hash = add_text(add_text(hash, device.name), device.platform);
    hash = add_number(add_number(hash, o->precision), o->weights);
    hash = add_number(add_number(hash, o->threads), capacity);
    snprintf(name, sizeof name, "%016" PRIx64 "-%" PRIu32 ".wnn", hash, length);
    mkdir(o->folder, 0777); /* what fails shows when the graph is written */
    return file_join(o->folder, name);
}
