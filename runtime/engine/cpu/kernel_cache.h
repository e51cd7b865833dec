/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps compiled kernels in the user's cache folder (runtime/program/cache_folder.h), so that a process that builds what an
 * earlier one has built needs no code generator.
 *
 * The key of a kernel has all that its code depends on: the structure under which kernels share code (schedule_structure), the
 * build of the library with its LLVM (WEBNN_BUILD), and the processor with its cap.
 */
#pragma once

#include "runtime/engine/cpu/internal.h"

/** Holds the kernels of one context that came from the folder.  It may be used by several threads at the same time. */
struct kernel_cache;

/** The code of one structure, which belongs to a cache. */
struct cached_kernel {
    uint64_t hash;
    char *structure;
    uint32_t references;
    struct code_mapping code; /* the file's code, which runs at any multiple of 4096 */
    uint64_t offset;          /* of the function */
};

/** Opens the folder that cache_folder_open finds; if there is none, perhaps with a warning, the cache holds what is added only.
 * The strings of t must outlive the result.  Returns NULL if the processor is not known well enough, or memory runs out. */
struct kernel_cache *kernel_cache_create(const struct target *t, const char *folder, bool ignore_environment,
                                         struct error *warning);
/** Returns what code depends on besides its structure. */
const char *kernel_cache_identity(const struct kernel_cache *c);
/** Adds a kernel, unless it is there, which stays as long as the cache.  It does nothing if memory runs out. */
void kernel_cache_add(struct kernel_cache *c, const struct engine_kernel *kernel);
/** Returns whether there is a folder to put kernels into.  A cache of NULL has none. */
bool kernel_cache_is_kept(const struct kernel_cache *c);
/** Frees a cache whose kernels have been given back.  NULL does nothing. */
void kernel_cache_free(struct kernel_cache *c);

/** Returns a schedule's kernel, which the caller releases, or NULL if it is not in the folder.  A cache of NULL has none. */
struct cached_kernel *kernel_cache_take(struct kernel_cache *c, const struct schedule *s);
/** Returns a kernel's function. */
static inline kernel_function cached_kernel_function(const struct cached_kernel *k)
{
    return (kernel_function)((uintptr_t)k->code.bytes + (uintptr_t)k->offset);
}
/** Releases a kernel; NULL does nothing. */
void kernel_cache_give_back(struct kernel_cache *c, struct cached_kernel *k);
/** Writes the code of a schedule's kernel, whose function begins at that offset, if that is possible. */
void kernel_cache_put(struct kernel_cache *c, const struct schedule *s, const void *code, size_t size, uint64_t offset);
