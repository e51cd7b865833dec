/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A hash table of constants by their bytes, and one by their recipes.  Entries belong to their constant, which removes them
 * when the last reference goes; one that is going already (its count is 0) is passed over.  Ids of constants are never used
 * again, so that a recipe stays true when what it names is gone.
 */
#include "ir/graph/constant_pool.h"
#include "ir/graph/constant_region.h"
#include "ir/support/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct constant_entry {
    struct constant_pool *pool; /* a reference */
    struct constant *constant;
    uint64_t hash;
    struct made *made; /* its recipes */
};

/* A recipe by which a constant was made. */
struct made {
    struct made *next;
    struct constant *constant;
    uint64_t hash;
    struct constant_recipe recipe;
};

struct constant_pool {
    pthread_mutex_t lock;
    size_t references; /* the creator's, and one for each entry */
    struct table entries, made;
    struct constant_pool_counts counts;
    struct constant_region *region;
    size_t placed; /* bytes of all constants and buffers that were ever asked for here */
};

struct constant_pool *constant_pool_create(void)
{
    struct constant_pool *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    if (pthread_mutex_init(&p->lock, NULL)) {
        free(p);
        return NULL;
    }
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
    free(p->entries.entries);
    free(p->made.entries);
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

uint64_t constant_hash(const struct constant *c)
{
    return c->entry ? c->entry->hash : hash_bytes(c->data, c->bytes);
}

static bool retain_if_alive(struct constant *c)
{
    unsigned count = atomic_load_explicit(&c->references, memory_order_relaxed);

    while (count)
        if (atomic_compare_exchange_weak_explicit(&c->references, &count, count + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* Returns a new reference to a constant that has the same hash and size, or NULL. */
static struct constant *find(const struct constant_pool *p, const struct constant *c, uint64_t hash)
{
    for (const struct table_entry *place = NULL; (place = table_next(&p->entries, hash, place))->item;) {
        struct constant *known = ((const struct constant_entry *)place->item)->constant;

        if (known->bytes == c->bytes && retain_if_alive(known))
            return known;
    }
    return NULL;
}

/* Without memory the constant is not shared. */
static bool add(struct constant_pool *p, struct constant *c, struct constant_entry *e, uint64_t hash)
{
    struct table_entry *place = NULL;

    if (!table_reserve(&p->entries, NULL, p->entries.count + 1))
        return false;
    while ((place = table_next(&p->entries, hash, place))->item)
        ;
    *e = (struct constant_entry){p, c, hash, NULL};
    table_put(&p->entries, place, hash, e);
    p->references++;
    c->entry = e;
    return true;
}

struct constant *constant_pool_share(struct constant_pool *p, struct constant *c)
{
    if (!p || !c->ours || c->entry || c->bytes < CONSTANT_POOL_BYTES_LEAST)
        return c;
    uint64_t hash = constant_hash(c);
    struct constant_entry *entry = malloc(sizeof *entry);
    pthread_mutex_lock(&p->lock);
    struct constant *known = find(p, c, hash);
    if (!known && entry && add(p, c, entry, hash))
        entry = NULL;
    pthread_mutex_unlock(&p->lock);
    free(entry);
    if (!known)
        return c;
    /* Bytes are compared, and references dropped, outside of the lock: dropping the last one locks the pool. */
    if (memcmp(known->data, c->data, c->bytes) == 0) {
        constant_release(c);
        return known;
    }
    constant_release(known);
    return c;
}

/* ---- by recipes ---- */

static uint64_t hash_recipe(const struct constant_recipe *r)
{
    return hash_bytes(r->numbers, r->count * sizeof *r->numbers);
}

static bool same_recipe(const struct constant_recipe *a, const struct constant_recipe *b)
{
    return a->count == b->count && memcmp(a->numbers, b->numbers, a->count * sizeof *a->numbers) == 0;
}

struct constant *constant_pool_find(struct constant_pool *p, const struct constant_recipe *r)
{
    const uint64_t hash = hash_recipe(r);
    struct constant *c = NULL;

    if (!p)
        return NULL;
    pthread_mutex_lock(&p->lock);
    for (const struct table_entry *place = NULL; !c && (place = table_next(&p->made, hash, place))->item;) {
        const struct made *made = place->item;

        if (same_recipe(&made->recipe, r) && retain_if_alive(made->constant))
            c = made->constant;
    }
    p->counts.found += c != NULL;
    pthread_mutex_unlock(&p->lock);
    return c;
}

struct constant *constant_pool_keep(struct constant_pool *p, const struct constant_recipe *r, struct constant *c)
{
    struct made *made;

    c = constant_pool_share(p, c);
    if (!c->entry || c->entry->pool != p || !(made = malloc(sizeof *made))) /* without memory it is not found */
        return c;
    *made = (struct made){NULL, c, hash_recipe(r), *r};
    pthread_mutex_lock(&p->lock);
    if (table_reserve(&p->made, NULL, p->made.count + 1)) {
        struct table_entry *place = NULL;

        while ((place = table_next(&p->made, made->hash, place))->item)
            ;
        table_put(&p->made, place, made->hash, made);
        made->next = c->entry->made;
        c->entry->made = made;
        p->counts.made++;
        made = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    free(made);
    return c;
}

struct constant_pool_counts constant_pool_count(struct constant_pool *p)
{
    pthread_mutex_lock(&p->lock);
    const struct constant_pool_counts counts = p->counts;
    pthread_mutex_unlock(&p->lock);
    return counts;
}

void constant_pool_forget(struct constant_entry *e)
{
    struct constant_pool *p = e->pool;

    pthread_mutex_lock(&p->lock);
    for (struct made *made; (made = e->made) != NULL;) {
        e->made = made->next;
        table_remove(&p->made, made->hash, made);
        free(made);
    }
    table_remove(&p->entries, e->hash, e);
    free(e);
    unlock_dropped(p);
}
