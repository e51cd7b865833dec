/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads and writes NumPy .npz files by libzip. */
#include "frontend/readers/files/npz.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <zip.h>

#include "frontend/readers/files/file.h"
#include "ir/support/new_file.h"

/* deflate makes at most 1032 bytes of one.  What a member says of its sizes may be a lie; the archive's own size is not. */
enum { DEFLATE_RATIO_MAX = 1032, MEMBER_SLACK = 1024 };

bool npz_is_path(const char *path)
{
    return file_has_ending(path, ".npz");
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

/** Returns whether the members' bytes can all lie in the file: where they overlap, a few could stand for any number. */
static bool members_fit(zip_t *archive, const char *path, struct error *e)
{
    const zip_int64_t members = zip_get_num_entries(archive, 0);
    zip_uint64_t length, sum = 0;

    if (!file_size(path, &length))
        return true; /* nothing is known, and every member is compared with its own size */
    for (zip_int64_t i = 0; i < members; i++) {
        zip_stat_t about;

        if (zip_stat_index(archive, (zip_uint64_t)i, 0, &about) || !(about.valid & ZIP_STAT_COMP_SIZE))
            continue; /* reading it says why */
        if (about.comp_size > length - sum)
            return file_error(e, "%s: its members have more bytes than the file, so they overlap", PATH_SHOWN(path));
        sum += about.comp_size;
    }
    return true;
}

static zip_t *open_archive(const char *path, struct error *e)
{
    zip_error_t error;
    int code = 0;

    zip_t *archive = zip_open(path, ZIP_RDONLY, &code);
    if (!archive) {
        zip_error_init_with_code(&error, code);
        file_error(e, "%s: %s", PATH_SHOWN(path), zip_error_strerror(&error));
        zip_error_fini(&error);
    } else if (!members_fit(archive, path, e)) {
        zip_discard(archive);
        archive = NULL;
    }
    return archive;
}

/** Holds a member that is being read. */
struct member {
    const char *path;
    zip_stat_t about;
    zip_file_t *file;
    bool fortran;
};

static bool damaged(const struct member *m, struct error *e)
{
    char name[160];

    return file_error(e, "%s: '%s' cannot be read, or is damaged", PATH_SHOWN(m->path),
                      escape_text(name, sizeof name, m->about.name, strlen(m->about.name)));
}

/** Opens the index-th member.  A size that deflate cannot reach from the member's bytes is refused. */
static bool member_open(zip_t *archive, zip_uint64_t index, const char *path, struct member *m, struct error *e)
{
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_uint64_t room = 0;
    char name[160];

    *m = (struct member){.path = path};
    if (zip_stat_index(archive, index, 0, &m->about) || (m->about.valid & needed) != needed)
        return file_error(e, "%s: member %llu cannot be read", PATH_SHOWN(path), (unsigned long long)index);
    escape_text(name, sizeof name, m->about.name, strlen(m->about.name));
    if (m->about.comp_method != ZIP_CM_STORE && m->about.comp_method != ZIP_CM_DEFLATE)
        return file_error(e, "%s: '%s' is neither stored nor deflated", PATH_SHOWN(path), name);
    if (file_size(path, &room) && m->about.comp_size < room)
        room = m->about.comp_size;
    if (m->about.size > SIZE_MAX / 2 ||
        (m->about.size > MEMBER_SLACK && (m->about.size - MEMBER_SLACK) / DEFLATE_RATIO_MAX > room))
        return file_error(e, "%s: '%s' cannot have %llu bytes", PATH_SHOWN(path), name, (unsigned long long)m->about.size);
    m->file = zip_fopen_index(archive, index, 0);
    return m->file || damaged(m, e);
}

static bool member_bytes(struct member *m, void *bytes, size_t length, struct error *e)
{
    return zip_fread(m->file, bytes, length) == (zip_int64_t)length || damaged(m, e);
}

/** Reads what stands before the elements, and compares the size of the array with the member's. */
static bool member_head(struct member *m, struct npy_array *array, struct error *e)
{
    size_t start = m->about.size < NPY_HEAD_MIN ? (size_t)m->about.size : NPY_HEAD_MIN, head;
    char *bytes = malloc(NPY_HEAD_MAX), name[160];
    bool ok = false;

    if (!bytes)
        return file_error(e, "%s: out of memory", PATH_SHOWN(m->path));
    if (!member_bytes(m, bytes, start, e) || !npy_head_length(bytes, start, m->path, &head, e)) {
        ok = false;
    } else if (head > m->about.size || head < start) {
        file_error(e, "%s: truncated .npy header", PATH_SHOWN(m->path));
    } else if (member_bytes(m, bytes + start, head - start, e) && npy_parse_head(bytes, head, m->path, array, &m->fortran, e)) {
        ok = array->byteLength == m->about.size - head ||
             file_error(e, "%s: '%s' has %llu bytes of elements, %zu expected", PATH_SHOWN(m->path),
                        escape_text(name, sizeof name, m->about.name, strlen(m->about.name)),
                        (unsigned long long)(m->about.size - head), array->byteLength);
    }
    free(bytes);
    return ok;
}

/** Reads the index-th member as an array, or only its type and shape. */
static bool read_member(zip_t *archive, zip_uint64_t index, const char *path, bool head_only, struct npy_array *array,
                        struct error *e)
{
    struct member m;
    char end;

    memset(array, 0, sizeof *array);
    if (!member_open(archive, index, path, &m, e))
        return false;
    bool ok = member_head(&m, array, e);
    if (ok && !head_only) {
        ok = npy_alloc(array, path, e) && member_bytes(&m, array->data, array->byteLength, e);
        /* The checksum is looked at where the member ends, not before. */
        if (ok && zip_fread(m.file, &end, 1) != 0)
            ok = damaged(&m, e);
        ok = ok && npy_order(array, m.fortran, path, e);
    }
    zip_fclose(m.file);
    if (!ok)
        npy_free(array);
    return ok;
}

/** Returns the length of a member's name without .npy, or 0 if it is a folder or no array. */
static size_t array_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;

    return n > 4 && !strcmp(name + n - 4, ".npy") ? n - 4 : 0;
}

static bool read_all(const char *path, bool head_only, struct npz_entry **entries, size_t *count, struct error *error)
{
    zip_t *archive = open_archive(path, error);
    zip_int64_t members = archive ? zip_get_num_entries(archive, 0) : 0;
    bool ok = archive;

    *entries = NULL;
    *count = 0;
    if (!archive)
        return false;
    *entries = calloc((size_t)members + 1, sizeof **entries);
    if (!*entries)
        ok = file_error(error, "%s: out of memory", PATH_SHOWN(path));
    for (zip_int64_t i = 0; ok && i < members; i++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)i, 0);
        size_t length = array_name(name);
        struct npz_entry *e = &(*entries)[*count];

        if (!length)
            continue;
        e->name = strndup(name, length);
        ok = e->name ? read_member(archive, (zip_uint64_t)i, path, head_only, &e->array, error)
                     : file_error(error, "%s: out of memory", PATH_SHOWN(path));
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

bool npz_read(const char *path, struct npz_entry **entries, size_t *count, struct error *e)
{
    return read_all(path, false, entries, count, e);
}

bool npz_read_heads(const char *path, struct npz_entry **entries, size_t *count, struct error *e)
{
    return read_all(path, true, entries, count, e);
}

bool npz_read_array(const char *path, const char *name, struct npy_array *array, struct error *e)
{
    zip_t *archive = open_archive(path, e);
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
        ok = file_error(e, "%s holds %zu arrays, say which", PATH_SHOWN(path), arrays);
    else if (found < 0)
        ok = file_error(e, "%s has no array '%s'", PATH_SHOWN(path), name);
    else
        ok = read_member(archive, (zip_uint64_t)found, path, false, array, e);
    zip_discard(archive);
    return ok;
}

/** Adds one array; libzip frees the bytes, at the latest when the archive is closed. */
static bool add_member(zip_t *archive, const struct npz_entry *e, const char *path, struct error *error)
{
    size_t length, n = strlen(e->name);
    char *name = malloc(n + 5);
    zip_source_t *source = NULL;
    zip_int64_t index = -1;
    void *bytes = NULL;

    if (!name)
        return file_error(error, "%s: out of memory", PATH_SHOWN(path));
    memcpy(name, e->name, n);
    memcpy(name + n, ".npy", 5);
    if (!npy_format(&e->array, path, &bytes, &length, error)) {
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
        return file_error(error, "%s: %s", PATH_SHOWN(path), zip_strerror(archive));
    return true;
}

/** Copies an archive in memory to a file. */
static bool write_archive(zip_source_t *source, const char *path, struct error *e)
{
    int why;
    struct new_file *file = new_file_open(path, 0, &why);
    bool ok = file && zip_source_open(source) == 0;
    char part[1 << 16];
    zip_int64_t n = 0;

    if (!file)
        return file_error(e, "%s: %s", PATH_SHOWN(path), strerror(why));
    while (ok && (n = zip_source_read(source, part, sizeof part)) > 0)
        ok = fwrite(part, 1, (size_t)n, new_file_stream(file)) == (size_t)n;
    if (n < 0 || (!ok && !ferror(new_file_stream(file)))) {
        new_file_abandon(file);
        return file_error(e, "%s: %s", PATH_SHOWN(path), zip_error_strerror(zip_source_error(source)));
    }
    zip_source_close(source);
    return new_file_commit(file, &why) || file_error(e, "%s: %s", PATH_SHOWN(path), strerror(why));
}

bool npz_write(const char *path, const struct npz_entry *entries, size_t count, struct error *e)
{
    zip_error_t error;

    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_TRUNCATE, &error) : NULL;

    if (!archive) {
        file_error(e, "%s: %s", PATH_SHOWN(path), zip_error_strerror(&error));
        zip_source_free(source);
        zip_error_fini(&error);
        return false;
    }
    zip_error_fini(&error);
    zip_source_keep(source); /* closing the archive lets go of one reference */
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_member(archive, &entries[i], path, e);
    if (ok && zip_close(archive) != 0)
        ok = file_error(e, "%s: %s", PATH_SHOWN(path), zip_strerror(archive));
    else if (ok)
        archive = NULL;
    if (archive)
        zip_discard(archive);
    ok = ok && write_archive(source, path, e);
    zip_source_free(source);
    return ok;
}

void npz_free(struct npz_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(entries[i].name);
        npy_free(&entries[i].array);
    }
    free(entries);
}
