/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NumPy .npz files through libzip. */
#include "frontend/io/npz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zip.h>

#include "frontend/io/file.h"

/* deflate makes at most 1032 bytes of one.  What a member says of its sizes may be a lie; the archive's own size is not. */
enum { DEFLATE_RATIO_MAX = 1032, MEMBER_SLACK = 1024 };

bool npz_is_path(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && !strcasecmp(path + n - 4, ".npz");
}

static zip_t *open_archive(const char *path, char *message, size_t size)
{
    zip_error_t error;
    zip_t *archive;
    int code = 0;

    archive = zip_open(path, ZIP_RDONLY, &code);
    if (!archive) {
        zip_error_init_with_code(&error, code);
        file_error(message, size, "%s: %s", path, zip_error_strerror(&error));
        zip_error_fini(&error);
    }
    return archive;
}

static bool file_size(const char *path, zip_uint64_t *length)
{
    struct stat s;

    *length = 0;
    if (stat(path, &s))
        return false;
    *length = (zip_uint64_t)s.st_size;
    return true;
}

/** Reads the index-th member as an array. */
static bool read_member(zip_t *archive, zip_uint64_t index, const char *path, struct npy_array *array, char *message,
                        size_t size)
{
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t about;
    zip_file_t *file;
    zip_int64_t got = -1;
    zip_uint64_t room = 0;
    bool ok = false;
    char *bytes, end;

    if (zip_stat_index(archive, index, 0, &about) || (about.valid & needed) != needed)
        return file_error(message, size, "%s: member %llu cannot be read", path, (unsigned long long)index);
    if (about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE)
        return file_error(message, size, "%s: '%s' is neither stored nor deflated", path, about.name);
    if (file_size(path, &room) && about.comp_size < room)
        room = about.comp_size;
    if (about.size > SIZE_MAX / 2 || (about.size > MEMBER_SLACK && (about.size - MEMBER_SLACK) / DEFLATE_RATIO_MAX > room))
        return file_error(message, size, "%s: '%s' cannot have %llu bytes", path, about.name, (unsigned long long)about.size);
    bytes = malloc((size_t)about.size + 1);
    if (!bytes)
        return file_error(message, size, "%s: out of memory", path);
    file = zip_fopen_index(archive, index, 0);
    if (file) {
        got = zip_fread(file, bytes, about.size);
        /* The checksum is looked at where the member ends, not before. */
        if (got == (zip_int64_t)about.size && zip_fread(file, &end, 1) != 0)
            got = -1;
        zip_fclose(file);
    }
    if (got != (zip_int64_t)about.size)
        file_error(message, size, "%s: '%s' cannot be read, or is damaged", path, about.name);
    else
        ok = npy_parse(bytes, (size_t)about.size, path, array, message, size);
    free(bytes);
    return ok;
}

/** Length of a member's name without .npy; 0: a folder, or no array. */
static size_t array_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 4 && !strcmp(name + n - 4, ".npy") ? n - 4 : 0;
}

bool npz_read(const char *path, struct npz_entry **entries, size_t *count, char *message, size_t size)
{
    zip_t *archive = open_archive(path, message, size);
    zip_int64_t members = archive ? zip_get_num_entries(archive, 0) : 0;
    bool ok = archive;

    *entries = NULL;
    *count = 0;
    if (!archive)
        return false;
    *entries = calloc((size_t)members + 1, sizeof **entries);
    if (!*entries)
        ok = file_error(message, size, "%s: out of memory", path);
    for (zip_int64_t i = 0; ok && i < members; i++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
        size_t length = array_name(name);
        struct npz_entry *e = &(*entries)[*count];

        if (!length)
            continue;
        e->name = strndup(name, length);
        ok = e->name ? read_member(archive, (zip_uint64_t)i, path, &e->array, message, size)
                     : file_error(message, size, "%s: out of memory", path);
        ++*count; /* also half-made, for npz_free */
    }
    zip_discard(archive);
    if (!ok) {
        npz_free(*entries, *count);
        *entries = NULL;
        *count = 0;
    }
    return ok;
}

bool npz_read_array(const char *path, const char *name, struct npy_array *array, char *message, size_t size)
{
    zip_t *archive = open_archive(path, message, size);
    zip_int64_t members = archive ? zip_get_num_entries(archive, 0) : 0, found = -1;
    size_t arrays = 0;
    bool ok;

    memset(array, 0, sizeof *array);
    if (!archive)
        return false;
    for (zip_int64_t i = 0; i < members; i++) {
        const char *member = zip_get_name(archive, (zip_uint64_t)i, 0);
        size_t length = array_name(member);

        arrays += length > 0;
        if (length && (!name || (strlen(name) == length && !memcmp(name, member, length))))
            found = i;
    }
    if (!name && arrays != 1)
        ok = file_error(message, size, "%s holds %zu arrays, say which", path, arrays);
    else if (found < 0)
        ok = file_error(message, size, "%s has no array '%s'", path, name);
    else
        ok = read_member(archive, (zip_uint64_t)found, path, array, message, size);
    zip_discard(archive);
    return ok;
}

/** Adds one array; libzip frees the bytes, at the latest when the archive is closed. */
static bool add_member(zip_t *archive, const struct npz_entry *e, const char *path, char *message, size_t size)
{
    size_t length, n = strlen(e->name);
    char *name = malloc(n + 5);
    zip_source_t *source = NULL;
    zip_int64_t index = -1;
    void *bytes = NULL;

    if (!name)
        return file_error(message, size, "%s: out of memory", path);
    memcpy(name, e->name, n);
    memcpy(name + n, ".npy", 5);
    if (!npy_format(&e->array, path, &bytes, &length, message, size)) {
        free(name);
        return false;
    }
    source = zip_source_buffer(archive, bytes, length, 1);
    if (!source)
        free(bytes);
    else if ((index = zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8)) < 0)
        zip_source_free(source);
    free(name);
    if (index < 0 || zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0))
        return file_error(message, size, "%s: %s", path, zip_strerror(archive));
    return true;
}

bool npz_write(const char *path, const struct npz_entry *entries, size_t count, char *message, size_t size)
{
    int code = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code);
    zip_error_t error;
    bool ok = true;

    if (!archive) {
        zip_error_init_with_code(&error, code);
        file_error(message, size, "%s: %s", path, zip_error_strerror(&error));
        zip_error_fini(&error);
        return false;
    }
    for (size_t i = 0; ok && i < count; i++)
        ok = add_member(archive, &entries[i], path, message, size);
    if (ok && !zip_close(archive))
        return true;
    if (ok)
        file_error(message, size, "%s: %s", path, zip_strerror(archive));
    zip_discard(archive);
    return false;
}

void npz_free(struct npz_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(entries[i].name);
        npy_free(&entries[i].array);
    }
    free(entries);
}
