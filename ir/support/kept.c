/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keeps items in a list, the one that was asked for last first.  One that is being made stands in it without its item. */
#include "ir/support/kept.h"

#include <stdlib.h>
#include <string.h>

struct kept_item {
    struct kept_item *next;
    void *item;
    char key[];
};

bool kept_begin(struct kept *k, size_t key_bytes, size_t limit, void (*retain)(void *item), void (*release)(void *item))
{
    *k = (struct kept){.key_bytes = key_bytes, .limit = limit, .retain = retain, .release = release};
    if (pthread_mutex_init(&k->lock, NULL))
        return false;
    if (!pthread_cond_init(&k->made, NULL))
        return true;
    pthread_mutex_destroy(&k->lock);
    return false;
}

/* Returns the place in the list that leads to the item of a key, or to the list's end. */
static struct kept_item **find(struct kept *k, const void *key)
{
    struct kept_item **at = &k->first;

    while (*at && memcmp((*at)->key, key, k->key_bytes) != 0)
        at = &(*at)->next;
    return at;
}

static struct kept_item *take(struct kept_item **at)
{
    struct kept_item *i = *at;

    *at = i->next;
    return i;
}

static void put_first(struct kept_item **list, struct kept_item *i)
{
    i->next = *list;
    *list = i;
}

/* Takes the items beyond a number, the last of the list, out of it, and returns them. */
static struct kept_item *take_beyond(struct kept *k, size_t limit)
{
    struct kept_item *taken = NULL, **at = &k->first;
    size_t kept = 0;

    while (*at)
        if (!(*at)->item || ++kept <= limit) {
            at = &(*at)->next;
        } else {
            put_first(&taken, take(at));
            k->counts.held--;
        }
    return taken;
}

/* Releases a list, without the lock. */
static void release_list(struct kept *k, struct kept_item *list)
{
    for (struct kept_item *next; list; list = next) {
        next = list->next;
        k->release(list->item);
        free(list);
    }
}

void kept_end(struct kept *k)
{
    kept_clear(k);
    pthread_cond_destroy(&k->made);
    pthread_mutex_destroy(&k->lock);
}

/* Releases items beyond the limit, and gives the lock back. */
static void evict(struct kept *k)
{
    struct kept_item *evicted = take_beyond(k, k->limit);

    for (const struct kept_item *i = evicted; i; i = i->next)
        k->counts.evicted++;
    pthread_mutex_unlock(&k->lock);
    release_list(k, evicted);
}

void *kept_get(struct kept *k, const void *key, void *(*make)(void *user, const void *key), void *user)
{
    struct kept_item **at, *i;

    pthread_mutex_lock(&k->lock);
    while (*(at = find(k, key)) && !(*at)->item)
        pthread_cond_wait(&k->made, &k->lock);
    if (*at) {
        i = take(at);
        put_first(&k->first, i);
        k->counts.found++;
        void *found = i->item;
        k->retain(found);
        pthread_mutex_unlock(&k->lock);
        return found;
    }
    i = calloc(1, sizeof *i + k->key_bytes);
    if (!i) {
        pthread_mutex_unlock(&k->lock);
        return NULL;
    }
    memcpy(i->key, key, k->key_bytes);
    put_first(&k->first, i);
    pthread_mutex_unlock(&k->lock);
    void *made = make(user, key);
    pthread_mutex_lock(&k->lock);
    take(find(k, key));
    if (made) {
        k->retain(made);
        i->item = made;
        put_first(&k->first, i);
        k->counts.held++;
    } else {
        free(i);
    }
    pthread_cond_broadcast(&k->made);
    evict(k);
    return made;
}

void kept_clear(struct kept *k)
{
    pthread_mutex_lock(&k->lock);
    struct kept_item *cleared = take_beyond(k, 0);
    pthread_mutex_unlock(&k->lock);
    release_list(k, cleared);
}

void kept_set_limit(struct kept *k, size_t limit)
{
    pthread_mutex_lock(&k->lock);
    k->limit = limit;
    evict(k);
}

struct kept_counts kept_count(struct kept *k)
{
    pthread_mutex_lock(&k->lock);
    const struct kept_counts counts = k->counts;
    pthread_mutex_unlock(&k->lock);
    return counts;
}

void **kept_list(struct kept *k, size_t *count)
{
    pthread_mutex_lock(&k->lock);
    void **items = calloc(k->counts.held + 1, sizeof *items);
    *count = 0;
    for (const struct kept_item *i = items ? k->first : NULL; i; i = i->next)
        if (i->item)
            k->retain(items[(*count)++] = i->item);
    pthread_mutex_unlock(&k->lock);
    return items;
}
