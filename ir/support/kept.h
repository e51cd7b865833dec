/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares items that are made on demand and kept by a key, such as graphs by sizes: once for each key, also for concurrent
 * requests, and up to a number; the least recently used is evicted first.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Counts items: found, evicted and existing ones. */
struct kept_counts {
    uint64_t found, evicted, held;
};

struct kept_item;

/** Several threads may call the functions below, which hold no lock while an item is made or released. */
struct kept {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t made;  /* an item was made, or could not be made */
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
 * Returns the item of a key, with a reference for the caller: an existing one, or the result of `make`, with its reference.  A
 * thread that requests an item that another one makes waits for it.  Returns NULL if `make` does, or if memory runs out.
 */
void *kept_get(struct kept *k, const void *key, void *(*make)(void *user, const void *key), void *user);
/** Releases all items. */
void kept_clear(struct kept *k);
/** Sets how many are kept. */
void kept_set_limit(struct kept *k, size_t limit);
struct kept_counts kept_count(struct kept *k);
/** Returns the items that are there, with references for the caller, who frees the list.  Returns NULL if memory runs out. */
void **kept_list(struct kept *k, size_t *count);
