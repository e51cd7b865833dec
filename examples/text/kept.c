/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A model is known by its folder's files: their names, sizes and times, because the weights may lie beside the ONNX file under
 * any name.  So nothing of it has to be read, and a file that was changed is another model.
 */
#include "examples/text/kept.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/io/file.h"

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

/* Adds the files of a folder in whatever order they come, without compiled graphs, which may be kept beside the model. */
static uint64_t add_folder(uint64_t hash, const char *folder)
{
    const uint64_t start = hash;
    const struct dirent *entry;
    DIR *dir = opendir(folder);

    while (dir && (entry = readdir(dir))) {
        const size_t length = strlen(entry->d_name);
        char *path = file_join(folder, entry->d_name);
        struct stat s;

        if (path && (length < 4 || strcmp(entry->d_name + length - 4, ".wnn") != 0) && !stat(path, &s) && S_ISREG(s.st_mode)) {
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
        slash[slash == model] = '\0';
        hash = add_folder(hash, model);
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
