/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "ir/support/code_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

void *code_memory_copy(const void *bytes, size_t size, struct error *e)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p != MAP_FAILED) {
        memcpy(p, bytes, size);
        __builtin___clear_cache(p, (char *)p + size);
        if (mprotect(p, size, PROT_READ | PROT_EXEC) == 0)
            return p;
        error_set(e, WNNStatus_UnknownError, "memory for code: %s", strerror(errno));
        munmap(p, size);
    }
    return error_null(e, WNNStatus_UnknownError, "memory for code: %s", strerror(errno));
}

void code_memory_free(void *code, size_t size)
{
    if (code)
        munmap(code, size);
}
