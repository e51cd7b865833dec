/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names to pointers, for printer, parser and verifier: a hash table with open addressing. */
#ifndef WEBNN_IR_NAME_MAP_H_
#define WEBNN_IR_NAME_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_map_entry {
    const char *name; /* NULL: free */
    size_t length;
    void *item;
};

/** Zero-initialised is empty.  Names may hold any bytes and are not copied. */
struct name_map {
    struct name_map_entry *entries;
    size_t capacity, count; /* capacity: a power of two */
};

enum name_map_status { NAME_MAP_ADDED, NAME_MAP_EXISTS, NAME_MAP_OUT_OF_MEMORY };

/** Adds name with a non-NULL item unless the name is there already. */
enum name_map_status name_map_add(struct name_map *m, const char *name, size_t length, void *item);
/** The item of a name, NULL if there is none. */
void *name_map_find(const struct name_map *m, const char *name, size_t length);
void name_map_free(struct name_map *m);

#endif
