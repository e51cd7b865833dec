/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grows arrays and hash tables. */
#include "ir/support/table.h"

#include <stdlib.h>
#include <string.h>

#include "ir/support/arena.h"

enum { ITEMS_LEAST = 16 };

/* Returns at least so many items as a power of two, or 0 if there is none. */
static uint32_t rounded_up(uint32_t items)
{
    uint32_t capacity = ITEMS_LEAST;

    while (capacity && capacity < items)
        capacity *= 2;
    return capacity;
}

bool array_reserve(struct arena *a, void *items, uint32_t *capacity, uint32_t needed, size_t size)
{
    const uint32_t wanted = rounded_up(needed);
    void *old, *grown;

    if (needed <= *capacity)
        return true;
    memcpy(&old, items, sizeof old); /* whatever type it points to */
    if (!wanted || wanted > SIZE_MAX / size)
        return false;
    grown = a ? arena_array(a, wanted, size) : realloc(old, wanted * size);
    if (!grown)
        return false;
    if (a && *capacity)
        memcpy(grown, old, *capacity * size);
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

struct table_entry *table_next(const struct table *t, uint64_t hash, const struct table_entry *before)
{
    uint32_t i = before ? (uint32_t)(before - t->entries) + 1 : (uint32_t)(hash ^ hash >> 32);

    while (t->entries[i & (t->capacity - 1)].item && t->entries[i & (t->capacity - 1)].hash != hash)
        i++;
    return &t->entries[i & (t->capacity - 1)];
}

bool table_reserve(struct table *t, struct arena *a, uint32_t items)
{
    struct table larger = {.capacity = items > UINT32_MAX / 2 ? 0 : rounded_up(2 * items), .count = t->count};

    if (larger.capacity <= t->capacity && larger.capacity)
        return true;
    larger.entries = !larger.capacity ? NULL
                     : a              ? arena_array(a, larger.capacity, sizeof *larger.entries)
                                      : calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (uint32_t i = 0; i < t->capacity; i++) {
        struct table_entry *e = NULL;

        if (!t->entries[i].item)
            continue;
        while ((e = table_next(&larger, t->entries[i].hash, e))->item) /* of items of one hash, the first stays the first */
            ;
        *e = t->entries[i];
    }
    if (!a)
        free(t->entries);
    *t = larger;
    return true;
}
