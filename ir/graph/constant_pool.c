/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A hash table of constants by their bytes.  An entry belongs to its constant, which removes it when the last reference goes;
 * one that is going already (its count is 0) is passed over.
 */
#include "ir/graph/constant_pool.h"
#include "ir/graph/constant_region.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct constant_entry {
    struct constant_pool *pool; /* a reference */
    struct constant *constant;
    uint64_t hash;
    struct constant_entry *next; /* in the same bucket */
};

enum { BUCKETS_LEAST = 64 };

struct constant_pool {
    pthread_mutex_t lock;
    size_t references; /* the creator's, and one for each entry */
    size_t entry_count, bucket_count;
    struct constant_entry **buckets;
    struct constant_region *region;
    size_t placed; /* bytes of all constants that were asked for here */
};

struct constant_pool *constant_pool_create(void)
{
    struct constant_pool *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->buckets = calloc(BUCKETS_LEAST, sizeof(struct constant_entry *));
    if (!p->buckets || pthread_mutex_init(&p->lock, NULL)) {
        free(p->buckets);
        free(p);
        return NULL;
    }
    p->bucket_count = BUCKETS_LEAST;
    p->references = 1;
    return p;
}

/* Unlocks the pool after a reference is gone. */
static void unlock_dropped(struct constant_pool *p)
{
    const bool last = --p->references == 0;

    pthread_mutex_unlock(&p->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&p->lock);
    constant_region_release(p->region);
    free(p->buckets);
    free(p);
}

struct constant *constant_pool_place(struct constant_pool *p, size_t bytes)
{
    struct constant *c = NULL;

    if (p && bytes >= CONSTANT_POOL_BYTES_LEAST && bytes < REGION_CONSTANT_MOST) {
        pthread_mutex_lock(&p->lock);
        p->placed += bytes;
        if (p->placed > TARGET_HUGE_PAGE_BYTES) /* the weights of a small graph do not fill a page */
            c = constant_region_place(&p->region, bytes);
        pthread_mutex_unlock(&p->lock);
    }
    return c ? c : constant_create(NULL, bytes);
}

void constant_pool_release(struct constant_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    unlock_dropped(p);
}

/* Four chains of multiplications at a time: a large model is hashed about as fast as it is read. */
static uint64_t hash_bytes(const unsigned char *data, size_t bytes)
{
    static const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t h[4] = {bytes, odd, ~(uint64_t)bytes, ~odd}, word, sum = 0;
    size_t at = 0;

    for (; at + sizeof h <= bytes; at += sizeof h)
        for (size_t i = 0; i < 4; i++) {
            memcpy(&word, data + at + i * sizeof word, sizeof word);
            h[i] = (h[i] ^ word) * odd;
            h[i] ^= h[i] >> 29;
        }
    for (; at < bytes; at++)
        h[at % 4] = (h[at % 4] ^ data[at]) * odd;
    for (size_t i = 0; i < 4; i++)
        sum = (sum ^ h[i] ^ h[i] >> 32) * odd;
    return sum ^ sum >> 32;
}

uint64_t constant_hash(const struct constant *c)
{
    return c->entry ? c->entry->hash : hash_bytes(c->data, c->bytes);
}

/* Adds a reference unless the last one has gone. */
static bool retain_if_alive(struct constant *c)
{
    unsigned count = atomic_load_explicit(&c->references, memory_order_relaxed);

    while (count)
        if (atomic_compare_exchange_weak_explicit(&c->references, &count, count + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Doubles the table where buckets would become long; without memory they do. */
static void grow(struct constant_pool *p)
{
    const size_t count = p->bucket_count * 2;
    struct constant_entry **buckets;

    if (p->entry_count < p->bucket_count || !(buckets = calloc(count, sizeof(struct constant_entry *))))
        return;
    for (size_t i = 0; i < p->bucket_count; i++)
        for (struct constant_entry *e = p->buckets[i], *next; e; e = next) {
            next = e->next;
            e->next = buckets[e->hash % count];
            buckets[e->hash % count] = e;
        }
    free(p->buckets);
    p->buckets = buckets;
    p->bucket_count = count;
}

/* Returns a new reference to a constant that has the same hash and size, or NULL. */
static struct constant *find(const struct constant_pool *p, const struct constant *c, uint64_t hash)
{
    for (const struct constant_entry *e = p->buckets[hash % p->bucket_count]; e; e = e->next)
        if (e->hash == hash && e->constant->bytes == c->bytes && retain_if_alive(e->constant))
            return e->constant;
    return NULL;
}

static void add(struct constant_pool *p, struct constant *c, struct constant_entry *e, uint64_t hash)
{
    grow(p);
    *e = (struct constant_entry){p, c, hash, p->buckets[hash % p->bucket_count]};
    p->buckets[hash % p->bucket_count] = e;
    p->entry_count++;
    p->references++;
    c->entry = e;
}

struct constant *constant_pool_share(struct constant_pool *p, struct constant *c)
{
    struct constant *known;
    struct constant_entry *entry;
    uint64_t hash;

    if (!p || !c->ours || c->entry || c->bytes < CONSTANT_POOL_BYTES_LEAST)
        return c;
    hash = constant_hash(c);
    entry = malloc(sizeof *entry);
    pthread_mutex_lock(&p->lock);
    known = find(p, c, hash);
    if (!known && entry) {
        add(p, c, entry, hash);
        entry = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    free(entry);
    if (!known)
        return c;
    /* Bytes are compared, and references dropped, while nobody waits: dropping the last one locks the pool. */
    if (memcmp(known->data, c->data, c->bytes) == 0) {
        constant_release(c);
        return known;
    }
    constant_release(known);
    return c;
}

void constant_pool_forget(struct constant_entry *e)
{
    struct constant_pool *p = e->pool;
    struct constant_entry **at;

    pthread_mutex_lock(&p->lock);
    for (at = &p->buckets[e->hash % p->bucket_count]; *at != e; at = &(*at)->next)
        ;
    *at = e->next;
    p->entry_count--;
    free(e);
    unlock_dropped(p);
}
