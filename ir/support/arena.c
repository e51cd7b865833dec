/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An arena allocates memory piece by piece and frees it as a whole.  The memory is valid until arena_free; a piece is zeroed
 * when it is handed out, since much of a block may never be.  Blocks double in size, so that a graph of any size costs a
 * logarithmic number of mallocs; a request that is large next to the block size gets its own block.
 */
#include "ir/support/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef WEBNN_SANITIZE
#include <sanitizer/asan_interface.h>
/* What was not handed out may not be touched: a gap after each piece shows who writes past his own. */
enum { GAP = 16 };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum { BLOCK_MIN = 1 << 12, BLOCK_MAX = 1 << 20 };
enum { ARENA_ALIGN = _Alignof(max_align_t) };

struct arena_block {
    struct arena_block *next;
    size_t size; /* of bytes[] */
    max_align_t bytes[];
};

static struct arena_block *block_create(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;

    struct arena_block *b = malloc(sizeof *b + size);
    if (b) {
        b->size = size;
        ASAN_POISON_MEMORY_REGION(b->bytes, size);
    }
    return b;
}

/* Returns memory with any contents. */
static void *piece(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    if (size == 0)
        size = 1; /* a distinct address: "present but empty" lists rely on it */
    const size_t wanted = size;
    size = (size + GAP + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;

    struct arena_block *b = a->blocks;
    if (!b || b->size - a->used < size) {
        size_t block_size = b && b->size >= BLOCK_MIN / 2 ? b->size * 2 : BLOCK_MIN;
        if (block_size > BLOCK_MAX)
            block_size = BLOCK_MAX;
        if (size > block_size / 4 && b) {
            /* The piece's own block goes after the newest block, whose rest stays in use. */
            struct arena_block *own = block_create(size);
            if (!own)
                return NULL;
            own->next = b->next;
            b->next = own;
            a->total += size;
            ASAN_UNPOISON_MEMORY_REGION(own->bytes, wanted);
            return own->bytes;
        }
        if (block_size < size)
            block_size = size;
        b = block_create(block_size);
        if (!b)
            return NULL;
        b->next = a->blocks;
        a->blocks = b;
        a->used = 0;
    }

    void *p = (char *)b->bytes + a->used;
    a->used += size;
    a->total += size;
    ASAN_UNPOISON_MEMORY_REGION(p, wanted);
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *p = piece(a, size);

    return p ? memset(p, 0, size) : NULL;
}

void *arena_grow(struct arena *a, const void *old, size_t old_size, size_t size)
{
    void *p = piece(a, size);

    return p && old_size ? memcpy(p, old, old_size) : p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return arena_alloc(a, count * size);
}

void *arena_copy(struct arena *a, const void *data, size_t size)
{
    return arena_grow(a, data, size, size);
}

char *arena_string(struct arena *a, const char *text, size_t length)
{
    char *p = length == SIZE_MAX ? NULL : arena_grow(a, text, length, length + 1);

    if (p)
        p[length] = '\0';
    return p;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    memset(a, 0, sizeof *a);
}
