/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole files in memory. */
#include "frontend/io/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool file_error(char *message, size_t size, const char *format, ...)
{
    va_list args;

    if (message && size) {
        va_start(args, format);
        vsnprintf(message, size, format, args);
        va_end(args);
    }
    return false;
}

bool file_read(const char *path, char **data, size_t *length, char *message, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = 1 << 16;
    char *grown;

    *data = NULL;
    *length = 0;
    if (!file)
        return file_error(message, size, "%s: %s", path, strerror(errno));
    /* Grown while reading, so that pipes work, too. */
    *data = malloc(capacity);
    while (*data) {
        *length += fread(*data + *length, 1, capacity - 1 - *length, file);
        if (*length < capacity - 1)
            break;
        grown = capacity < SIZE_MAX / 2 ? realloc(*data, capacity * 2) : NULL;
        if (!grown) {
            free(*data);
            *data = NULL;
            break;
        }
        *data = grown;
        capacity *= 2;
    }
    if (!*data) {
        fclose(file);
        *length = 0;
        return file_error(message, size, "%s: out of memory", path);
    }
    if (ferror(file)) {
        file_error(message, size, "%s: %s", path, strerror(errno));
        fclose(file);
        free(*data);
        *data = NULL;
        *length = 0;
        return false;
    }
    fclose(file);
    (*data)[*length] = '\0';
    return true;
}

bool file_write(const char *path, const void *data, size_t length, char *message, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool ok;

    if (!file)
        return file_error(message, size, "%s: %s", path, strerror(errno));
    ok = fwrite(data, 1, length, file) == length;
    ok = fclose(file) == 0 && ok;
    if (!ok) {
        file_error(message, size, "%s: %s", path, strerror(errno));
        remove(path);
    }
    return ok;
}

char *file_join(const char *folder, const char *name)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);

    if (path)
        snprintf(path, length, "%s/%s", folder, name);
    return path;
}
