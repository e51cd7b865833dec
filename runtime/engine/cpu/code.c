/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes memory executable.  A mapping of the file costs nothing and is shared by all processes that load it; where files may
 * not be executed (mounted noexec) or their offset is not a multiple of the machine's pages, a copy does.
 */
#define _GNU_SOURCE
#include "runtime/engine/cpu/internal.h"

#include <sys/mman.h>
#include <unistd.h>

#include "ir/support/code_memory.h"

static void *map_file(int file, size_t offset, size_t size)
{
    void *p = MAP_FAILED;

    if (file >= 0 && offset % (size_t)sysconf(_SC_PAGESIZE) == 0)
        p = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)offset);
    return p == MAP_FAILED ? NULL : p;
}

bool code_map(const struct serialized_source *source, size_t offset, size_t size, struct code_mapping *out, struct error *e)
{
    *out = (struct code_mapping){NULL, size};
    if (size == 0)
        return true;
    out->bytes = map_file(source->file, offset, size);
    if (!out->bytes)
        out->bytes = code_memory_copy((const char *)source->program + offset, size, e);
    return out->bytes != NULL;
}

void code_unmap(struct code_mapping *m)
{
    code_memory_free(m->bytes, m->size);
    m->bytes = NULL;
}
