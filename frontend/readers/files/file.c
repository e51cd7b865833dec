/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads and writes whole files in memory. */
#include "frontend/readers/files/file.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/readers/files/named_file.h"
#include "ir/support/array.h"
#include "ir/support/new_file.h"

bool file_error(struct error *e, const char *format, ...)
{
    char text[sizeof e->message];

    if (!e)
        return false;
    WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
    e->status = WNNStatus_Success;
    return error_set(e, WNNStatus_DataError, "%s", text);
}

/** Reads all of a stream and closes it. */
static bool read_stream(FILE *file, const char *path, char **data, size_t *length, struct error *e)
{
    enum { STEP = 1 << 16 };
    struct bytes b = {0};
    bool endless = false, ok = true;
    struct stat s;

    *data = NULL;
    *length = 0;
    if (!file)
        return file_error(e, "%s: %s", PATH_SHOWN(path), strerror(errno));
    const bool is_regular = !fstat(fileno(file), &s) && S_ISREG(s.st_mode);
    /* The buffer grows while it is filled, so that pipes work, too. */
    do {
        endless = !is_regular && b.capacity >= FILE_STREAM_MAX;
        ok = !endless && array_reserve(NULL, &b.data, &b.capacity, b.length + STEP, 1);
        if (ok)
            b.length += fread(b.data + b.length, 1, b.capacity - 1 - b.length, file);
    } while (ok && b.length == b.capacity - 1);
    const int why = ok && ferror(file) ? errno : 0;
    fclose(file);
    if (ok && !why) {
        b.data[b.length] = '\0';
        *data = b.data;
        *length = b.length;
        return true;
    }
    free(b.data);
    return endless ? file_error(e, "%s: a pipe or device that does not end within %zu bytes; save them in a file first",
                                PATH_SHOWN(path), FILE_STREAM_MAX)
                   : file_error(e, "%s: %s", PATH_SHOWN(path), why ? strerror(why) : "out of memory");
}

bool file_read(const char *path, char **data, size_t *length, struct error *e)
{
    return read_stream(fopen(path, "rb"), path, data, length, e);
}

bool file_read_descriptor(int file, const char *name, char **data, size_t *length, struct error *e)
{
    int copy = dup(file); /* the stream closes it */
    FILE *stream = copy >= 0 ? fdopen(copy, "rb") : NULL;

    if (!stream && copy >= 0)
        close(copy);
    return read_stream(stream, name, data, length, e);
}

bool file_read_named(const char *folder, const char *name, char **data, size_t *length, struct error *e)
{
    const char *why;
    int file = named_file_open(folder, name, &why);

    *data = NULL;
    *length = 0;
    if (file < 0)
        return file_error(e, "%s: %s", PATH_SHOWN(name), why);
    bool ok = file_read_descriptor(file, name, data, length, e);
    close(file);
    return ok;
}

bool file_write(const char *path, const void *data, size_t length, struct error *e)
{
    int why;

    return new_file_write(path, 0, data, length, &why) || file_error(e, "%s: %s", PATH_SHOWN(path), strerror(why));
}

bool file_has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);

    return n >= m && !strcasecmp(path + n - m, ending);
}

size_t file_start(const char *path, void *start, size_t size)
{
    struct stat s;
    FILE *file = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "rb") : NULL;

    if (!file)
        return 0;
    size_t length = fread(start, 1, size, file);
    fclose(file);
    return length;
}

char *file_join(const char *folder, const char *name)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);

    if (path)
        snprintf(path, length, "%s/%s", folder, name);
    return path;
}
