/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Maps names to pointers. */
#include "ir/support/name_map.h"

#include <stdlib.h>
#include <string.h>

struct name_map_entry {
    const char *name;
    size_t length;
    void *item;
};

static uint64_t hash(const struct name_map *m, const char *name, size_t length)
{
    uint64_t h = m->salt;

    for (size_t i = 0; i < length; i++) {
        h = (h ^ (unsigned char)name[i]) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h;
}

/* Returns where name is, or the free place where it belongs. */
static struct table_entry *find(const struct name_map *m, uint64_t h, const char *name, size_t length)
{
    struct table_entry *place = NULL;
    const struct name_map_entry *e;

    do
        e = (place = table_next(&m->table, h, place))->item;
    while (e && (e->length != length || memcmp(e->name, name, length) != 0));
    return place;
}

enum name_map_status name_map_add(struct name_map *m, const char *name, size_t length, void *item)
{
    if (!table_reserve(&m->table, NULL, m->table.count + 1))
        return NAME_MAP_OUT_OF_MEMORY;
    if (!m->salt)
        m->salt = (uint64_t)(uintptr_t)m->table.entries * 0x9E3779B97F4A7C15u;

    const uint64_t h = hash(m, name, length);
    struct table_entry *place = find(m, h, name, length);
    if (place->item)
        return NAME_MAP_EXISTS;
    const struct name_map_entry e = {name, length, item}, *added = arena_copy(&m->entries, &e, sizeof e);
    if (!added)
        return NAME_MAP_OUT_OF_MEMORY;
    table_put(&m->table, place, h, added);
    return NAME_MAP_ADDED;
}

void *name_map_find(const struct name_map *m, const char *name, size_t length)
{
    const struct name_map_entry *e = find(m, hash(m, name, length), name, length)->item;

    return e ? e->item : NULL;
}

void name_map_replace(struct name_map *m, const char *name, size_t length, void *item)
{
    struct name_map_entry *e = (struct name_map_entry *)find(m, hash(m, name, length), name, length)->item; /* the map's own */

    if (e)
        e->item = item;
}

void name_map_free(struct name_map *m)
{
    free(m->table.entries);
    arena_free(&m->entries);
    memset(m, 0, sizeof *m);
}
