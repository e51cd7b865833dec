/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files mapped into memory.  The mapping is private and read-only; releases may come from any thread. */
#include "frontend/io/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/io/file.h"

struct file_map {
    atomic_uint references;
    bool mapped;
    void *data;
    size_t length;
};

bool file_map_open(const char *path, struct file_map **out, char *message, size_t size)
{
    struct file_map *map = calloc(1, sizeof *map);
    char *bytes;
    struct stat s;
    int fd;

    *out = NULL;
    if (!map)
        return file_error(message, size, "%s: out of memory", path);
    atomic_init(&map->references, 1);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s)) {
        file_error(message, size, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        free(map);
        return false;
    }
    if (S_ISREG(s.st_mode) && s.st_size > 0 && (uintmax_t)s.st_size <= SIZE_MAX) {
        map->length = (size_t)s.st_size;
        map->data = mmap(NULL, map->length, PROT_READ, MAP_PRIVATE, fd, 0);
        map->mapped = map->data != MAP_FAILED;
    }
    close(fd);
    if (!map->mapped) { /* a pipe, an empty file, a file system without mappings */
        if (!file_read(path, &bytes, &map->length, message, size)) {
            free(map);
            return false;
        }
        map->data = bytes;
    }
    *out = map;
    return true;
}

const void *file_map_data(const struct file_map *map)
{
    return map->data;
}

size_t file_map_length(const struct file_map *map)
{
    return map->length;
}

struct file_map *file_map_retain(struct file_map *map)
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

/** The pages that nobody else can need leave the process; they are still the file's if somebody reads them again. */
static void drop_pages(const struct file_map *map, const void *data, size_t length)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)data + page - 1) / page * page, end = ((uintptr_t)data + length) / page * page;

    if (map->mapped && begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED); /* advice: the answer does not matter */
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

WNNOperand file_map_constant(struct file_map *map, WNNGraphBuilder builder, const WNNOperandDescriptor *descriptor,
                             size_t offset, size_t byteLength)
{
    const char *data = (const char *)map->data + offset;
    size_t alignment = wnnOperandDataTypeGetByteSize(descriptor->dataType);

    if (!alignment || (uintptr_t)data % alignment)
        return wnnGraphBuilderConstant(builder, descriptor, data, byteLength);
    return file_map_lend(map, builder, descriptor, data, byteLength);
}
