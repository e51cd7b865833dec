/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Maps files into memory.  The mapping is private and read-only; releases may come from any thread. */
#include "frontend/readers/files/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/readers/files/named_file.h"
#include "frontend/readers/files/file.h"
#include "webnn/webnn_draft.h"
#include "ir/support/number.h"

struct file_map {
    atomic_uint references;
    bool mapped;
    void *data;
    size_t length;
};

/** Maps the file, or leaves the map empty; the file stays open. */
static bool map_file(struct file_map *map, int file)
{
    struct stat s;

    if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0 && (uintmax_t)s.st_size <= SIZE_MAX) {
        map->length = (size_t)s.st_size;
        map->data = mmap(NULL, map->length, PROT_READ, MAP_PRIVATE, file, 0);
        map->mapped = map->data != MAP_FAILED;
    }
    return map->mapped;
}

bool file_map_descriptor(int file, const char *name, struct file_map **out, struct error *e)
{
    struct file_map *map = calloc(1, sizeof *map);
    char *bytes;

    *out = NULL;
    if (!map)
        return file_error(e, "%s: out of memory", PATH_SHOWN(name));
    atomic_init(&map->references, 1);
    if (!map_file(map, file)) { /* a pipe, an empty file, a file system without mappings */
        if (!file_read_descriptor(file, name, &bytes, &map->length, e)) {
            free(map);
            return false;
        }
        map->data = bytes;
    }
    *out = map;
    return true;
}

struct file_map *file_map_copy(const void *bytes, size_t length)
{
    struct file_map *map = calloc(1, sizeof *map);

    if (!map)
        return NULL;
    atomic_init(&map->references, 1);
    map->length = length;
    map->data = malloc(length ? length : 1);
    if (!map->data) {
        free(map);
        return NULL;
    }
    memcpy(map->data, bytes, length);
    return map;
}

bool file_map_open(const char *path, struct file_map **out, struct error *e)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);

    *out = NULL;
    if (file < 0)
        return file_error(e, "%s: %s", PATH_SHOWN(path), strerror(errno));
    bool ok = file_map_descriptor(file, path, out, e);
    close(file);
    return ok;
}

bool file_map_named(const char *folder, const char *name, struct file_map **out, struct error *e)
{
    const char *why;
    int file = named_file_open(folder, name, &why);

    *out = NULL;
    if (file < 0)
        return file_error(e, "%s: %s", PATH_SHOWN(name), why);
    bool ok = file_map_descriptor(file, name, out, e);
    close(file);
    return ok;
}

const void *file_map_data(const struct file_map *map)
{
    return map->data;
}

size_t file_map_length(const struct file_map *map)
{
    return map->length;
}

/** Takes a reference and returns the map. */
static struct file_map *file_map_retain(struct file_map *map)
{
    atomic_fetch_add(&map->references, 1);
    return map;
}

void file_map_release(struct file_map *map)
{
    if (!map || atomic_fetch_sub(&map->references, 1) != 1)
        return;
    if (map->mapped)
        munmap(map->data, map->length);
    else
        free(map->data);
    free(map);
}

/** Lets the pages that nothing else can need leave the process; they are still the file's if they are read again. */
static void drop_pages(const struct file_map *map, const void *data, size_t length)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ceil_div((uintptr_t)data, page) * page, end = ((uintptr_t)data + length) / page * page;

    if (map->mapped && begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED); /* advice: the answer does not matter */
}

void file_map_rest(const struct file_map *map)
{
    drop_pages(map, map->data, map->length);
}

static void release_constant(void const *data, size_t length, void *map, void *unused)
{
    (void)unused;
    drop_pages(map, data, length);
    file_map_release(map);
}

WNNOperand file_map_lend(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                         const void *data, size_t byteLength)
{
    return wnnGraphBuilderConstantLent(builder, descriptor, data, byteLength,
                                       (WNNBufferReleaseCallbackInfo){release_constant, file_map_retain(map), NULL});
}

WNNOperand file_map_lend_cast(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                              WNNOperandDataType stored, const void *data)
{
    size_t bytes = wnnOperandDataTypeGetByteSize(stored);

    for (size_t i = 0; i < descriptor->rank; i++)
        bytes *= descriptor->shape[i]; /* of a tensor in a file */
    return wnnGraphBuilderConstantCastLent(builder, descriptor, stored, data, bytes,
                                           (WNNBufferReleaseCallbackInfo){release_constant, file_map_retain(map), NULL});
}

WNNOperand file_map_lend_packed(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                                uint32_t bits, const void *data, size_t byteLength)
{
    return wnnGraphBuilderConstantPackedLent(builder, descriptor, bits, data, byteLength,
                                             (WNNBufferReleaseCallbackInfo){release_constant, file_map_retain(map), NULL});
}

WNNOperand file_map_constant(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                             size_t offset, size_t byteLength)
{
    const char *data = (const char *)map->data + offset;
    size_t alignment = wnnOperandDataTypeGetByteSize(descriptor->dataType);

    if (!alignment || (uintptr_t)data % alignment)
        return wnnGraphBuilderConstant(builder, descriptor, data, byteLength);
    return file_map_lend(map, builder, descriptor, data, byteLength);
}
