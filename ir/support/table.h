/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares a hash table of items that it does not own, with open addressing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/support/array.h"

/** An entry of a table. */
struct table_entry {
    uint64_t hash;
    const void *item; /* NULL: free */
};

/** A table, at most half full.  One of zeros is empty.  The caller adds an item by filling in its entry and incrementing the
 * count.
 */
struct table {
    struct table_entry *entries;
    uint32_t capacity, count; /* capacity: a power of two */
};

bool table_grow(struct table *t, struct arena *a, uint32_t items);
/** Makes room for so many items in all, in the arena or, if a is NULL, on the heap.  Returns false if memory runs out. */
static inline bool table_reserve(struct table *t, struct arena *a, uint32_t items)
{
    return t->capacity / 2 >= items || table_grow(t, a, items);
}
/** Returns where a search begins, before it is reduced to the capacity. */
static inline uint32_t table_place(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}
extern struct table_entry table_none; /* a free one, of tables without entries */
/** Returns the next entry of a hash after `before` (NULL: the first): one whose item has that hash, or a free one, to which an
 * item may be added if room was reserved. */
static inline struct table_entry *table_next(const struct table *t, uint64_t hash, const struct table_entry *before)
{
    uint32_t i = before ? (uint32_t)(before - t->entries) + 1 : table_place(hash);

    if (!t->capacity)
        return &table_none;
    while (t->entries[i & (t->capacity - 1)].item && t->entries[i & (t->capacity - 1)].hash != hash)
        i++;
    return &t->entries[i & (t->capacity - 1)];
}
/** Adds an item to a free entry. */
static inline void table_put(struct table *t, struct table_entry *place, uint64_t hash, const void *item)
{
    *place = (struct table_entry){hash, item};
    t->count++;
}
/** Removes an item, which is in the table.  Entries returned before become invalid. */
void table_remove(struct table *t, uint64_t hash, const void *item);

/** Returns the hash of bytes; a large model is hashed about as fast as it is read. */
uint64_t hash_bytes(const void *data, size_t bytes);
/** Adds a number to a hash. */
static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9E3779B97F4A7C15u + (h << 6) + (h >> 2);
    return h * 0xFF51AFD7ED558CCDu;
}
