/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compares strings of the public API, and keeps sets of them: names of inputs and outputs are compared as bytes, NUL bytes
 * included.
 */
#include "frontend/builder/builder.h"

#include <stdlib.h>
#include <string.h>

size_t view_length(WNNStringView text)
{
    if (!text.data)
        return 0;
    return text.length == WNN_STRLEN ? strlen(text.data) : text.length;
}

/** This is FNV-1a. */
static size_t hash(WNNStringView name)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < name.length; i++)
        h = (h ^ (unsigned char)name.data[i]) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

/** Returns the slot that holds the name or is free for it.  There is always a free one. */
static WNNStringView *find(const struct name_set *set, WNNStringView name)
{
    size_t i = hash(name) & (set->capacity - 1);

    while (set->slots[i].data && (set->slots[i].length != name.length || memcmp(set->slots[i].data, name.data, name.length)))
        i = (i + 1) & (set->capacity - 1);
    return &set->slots[i];
}

static bool grow(struct name_set *set)
{
    struct name_set larger = {.capacity = set->capacity ? 2 * set->capacity : 16};

    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].data)
            *find(&larger, set->slots[i]) = set->slots[i];
    larger.count = set->count;
    free(set->slots);
    *set = larger;
    return true;
}

bool name_set_has(const struct name_set *set, WNNStringView name)
{
    name.length = view_length(name);
    return set->capacity && find(set, name)->data;
}

bool name_set_reserve(struct name_set *set)
{
    return 2 * (set->count + 1) <= set->capacity || grow(set);
}

int name_set_add(struct name_set *set, WNNStringView name)
{
    WNNStringView *slot;

    name.length = view_length(name);
    if (!name_set_reserve(set))
        return -1;
    slot = find(set, name);
    if (slot->data)
        return 0;
    *slot = name;
    set->count++;
    return 1;
}

void name_set_free(struct name_set *set)
{
    free(set->slots);
    memset(set, 0, sizeof(*set));
}
