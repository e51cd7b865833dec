/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Maps names to pointers: probing is linear, and the table is at most half full. */
#include "ir/support/name_map.h"

#include <stdlib.h>
#include <string.h>

/* The table's address goes in, so that names cannot be prepared to collide. */
static uint64_t hash(const struct name_map *m, const char *name, size_t length)
{
    uint64_t h = (uint64_t)(uintptr_t)m->entries * 0x9E3779B97F4A7C15u;

    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)name[i]) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h;
}

/* Returns where name is, or the free place where it belongs. */
static struct name_map_entry *find(const struct name_map *m, const char *name, size_t length)
{
    for (size_t i = (size_t)hash(m, name, length);; i++) {
        struct name_map_entry *e = &m->entries[i & (m->capacity - 1)];
        if (!e->name || (e->length == length && memcmp(e->name, name, length) == 0))
            return e;
    }
}

static bool grow(struct name_map *m)
{
    struct name_map larger = {.capacity = m->capacity ? m->capacity * 2 : 64, .count = m->count};

    if (larger.capacity > SIZE_MAX / sizeof *larger.entries)
        return false;
    larger.entries = calloc(larger.capacity, sizeof *larger.entries);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < m->capacity; i++)
        if (m->entries[i].name)
            *find(&larger, m->entries[i].name, m->entries[i].length) = m->entries[i];
    free(m->entries);
    *m = larger;
    return true;
}

enum name_map_status name_map_add(struct name_map *m, const char *name, size_t length, void *item)
{
    if (m->count >= m->capacity / 2 && !grow(m))
        return NAME_MAP_OUT_OF_MEMORY;

    struct name_map_entry *e = find(m, name, length);
    if (e->name)
        return NAME_MAP_EXISTS;
    *e = (struct name_map_entry){name, length, item};
    m->count++;
    return NAME_MAP_ADDED;
}

void *name_map_find(const struct name_map *m, const char *name, size_t length)
{
    return m->count ? find(m, name, length)->item : NULL;
}

void name_map_free(struct name_map *m)
{
    free(m->entries);
    memset(m, 0, sizeof *m);
}
