/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what is made on demand and kept by a key, such as graphs by sizes: once for each key, however many threads ask for
 * it, and up to a number, the least recently used going first.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Counts items: those that were found, those that went beyond the limit, and those that are there. */
struct kept_counts {
    uint64_t found, evicted, held;
};

struct kept_item;

/** Several threads may call the functions below, which hold no lock while an item is made or released. */
struct kept {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t made;  /* an item is there, or could not be made */
    struct kept_item *first;
    size_t key_bytes, limit;
    void (*retain)(void *item), (*release)(void *item);
    struct kept_counts counts;
};

/** Begins without items.  Returns false if memory runs out. */
bool kept_begin(struct kept *k, size_t key_bytes, size_t limit, void (*retain)(void *item), void (*release)(void *item));
/** Releases all items; no thread is in a call. */
void kept_end(struct kept *k);
/**
 * Returns the item of a key, with a reference for the caller: one that is there, or what `make` returns, which gives it a
 * reference.  A thread that asks for an item that another one makes waits for it.  Returns NULL if `make` does, or if memory
 * runs out.
 */
void *kept_get(struct kept *k, const void *key, void *(*make)(void *user, const void *key), void *user);
/** Releases the items that are there. */
void kept_clear(struct kept *k);
/** Sets how many are kept. */
void kept_set_limit(struct kept *k, size_t limit);
struct kept_counts kept_count(struct kept *k);
