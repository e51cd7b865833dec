/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Grows hash tables. */
#include "ir/support/table.h"

#include <stdlib.h>
#include <string.h>

#include "ir/support/arena.h"

enum { CAPACITY_LEAST = 16 };

struct table_entry table_none;

bool table_grow(struct table *t, struct arena *a, uint32_t items)
{
    struct table larger = {.capacity = t->capacity ? t->capacity : CAPACITY_LEAST, .count = t->count};

    while (larger.capacity && larger.capacity / 2 < items)
        larger.capacity *= 2;
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

/* Items after the hole move into it if their search passes it. */
void table_remove(struct table *t, uint64_t hash, const void *item)
{
    const uint32_t mask = t->capacity - 1;
    struct table_entry *place = NULL;

    while ((place = table_next(t, hash, place))->item != item)
        ;
    uint32_t hole = (uint32_t)(place - t->entries);
    for (uint32_t i = (hole + 1) & mask; t->entries[i].item; i = (i + 1) & mask)
        if (((i - table_place(t->entries[i].hash)) & mask) >= ((i - hole) & mask)) {
            t->entries[hole] = t->entries[i];
            hole = i;
        }
    t->entries[hole] = (struct table_entry){0};
    t->count--;
}

/* Four chains of multiplications at a time. */
uint64_t hash_bytes(const void *data, size_t bytes)
{
    static const uint64_t odd = 0x9e3779b97f4a7c15u;
    const unsigned char *in = data;
    uint64_t h[4] = {bytes, odd, ~(uint64_t)bytes, ~odd}, word, sum = 0;
    size_t at = 0;

    for (; at + sizeof h <= bytes; at += sizeof h)
        for (size_t i = 0; i < 4; i++) {
            memcpy(&word, in + at + i * sizeof word, sizeof word);
            h[i] = (h[i] ^ word) * odd;
            h[i] ^= h[i] >> 29;
        }
    for (; at < bytes; at++)
        h[at % 4] = (h[at % 4] ^ in[at]) * odd;
    for (size_t i = 0; i < 4; i++)
        sum = (sum ^ h[i] ^ h[i] >> 32) * odd;
    return sum ^ sum >> 32;
}
