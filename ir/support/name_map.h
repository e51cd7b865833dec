/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Maps names to pointers. */
#pragma once

#include <stdbool.h>
#include "ir/support/arena.h"
#include "ir/support/table.h"

/** A map.  One of zeros is empty.  Names may hold any bytes and are not copied. */
struct name_map {
    struct table table;
    struct arena entries;
    uint64_t salt; /* an address, so that names cannot be prepared to collide */
};

enum name_map_status { NAME_MAP_ADDED, NAME_MAP_EXISTS, NAME_MAP_OUT_OF_MEMORY };

/** Adds name with an item that is not NULL, unless the name is there already. */
enum name_map_status name_map_add(struct name_map *m, const char *name, size_t length, void *item);
/** Returns the item of a name, or NULL if there is none. */
void *name_map_find(const struct name_map *m, const char *name, size_t length);
/** Replaces the item of a name in the map by another one, which is not NULL. */
void name_map_replace(struct name_map *m, const char *name, size_t length, void *item);
/** Frees the table, but no names and items. */
void name_map_free(struct name_map *m);
