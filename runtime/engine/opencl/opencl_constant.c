/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the constants of graphs on the device.  Graphs with equal ones share a buffer, such as a language model's graph for a
 * prompt and its graph for one token, whether their weights were packed or are lent from a mapped file.  Constants of a loaded
 * graph are not shared: they lie in its file, which goes with the graph.
 *
 * A buffer keeps the constant that it was made of, with which others are compared, and is known until its last holder frees it.
 */
#include "runtime/engine/opencl/internal.h"

#include <string.h>

#include "ir/graph/constant_pool.h"

/* Returns a buffer of a constant with that hash and size, which has one holder more, or NULL. */
static struct opencl_buffer *hold(struct engine_opencl *o, const struct constant *c, uint64_t hash)
{
    const struct table_entry *place = NULL;
    struct opencl_buffer *b;

    pthread_mutex_lock(&o->lock);
    do
        b = (struct opencl_buffer *)(place = table_next(&o->memory.constants, hash, place))->item;
    while (b && b->constant->bytes != c->bytes);
    if (b)
        b->other_holders++;
    pthread_mutex_unlock(&o->lock);
    return b;
}

/* Makes a buffer known; without memory it is not shared. */
static void add(struct engine_opencl *o, struct opencl_buffer *b, struct constant *c, uint64_t hash)
{
    struct table_entry *place = NULL;

    pthread_mutex_lock(&o->lock);
    if (table_reserve(&o->memory.constants, NULL, o->memory.constants.count + 1)) {
        while ((place = table_next(&o->memory.constants, hash, place))->item)
            ;
        table_put(&o->memory.constants, place, hash, b);
        b->constant = constant_retain(c);
        b->hash = hash;
    }
    pthread_mutex_unlock(&o->lock);
}

struct engine_buffer *opencl_constant_create(struct engine *en, struct constant *c, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);
    const bool kept = c->ours || c->release.callback; /* as long as there is a reference */
    const bool shares = kept && c->bytes >= CONSTANT_POOL_BYTES_LEAST;
    const uint64_t hash = shares ? constant_hash(c) : 0;
    struct opencl_buffer *known = shares ? hold(o, c, hash) : NULL;

    if (known && (known->constant == c || !memcmp(known->constant->data, c->data, c->bytes)))
        return &known->base;
    if (known) /* other bytes with the same hash */
        opencl_buffer_free(en, &known->base);
    struct engine_buffer *b = opencl_buffer_create(en, c->bytes, e);
    if (b && !opencl_buffer_write(en, b, 0, c->data, c->bytes, e)) {
        opencl_buffer_free(en, b);
        return NULL;
    }
    if (b && shares)
        add(o, (struct opencl_buffer *)b, c, hash);
    return b;
}

bool opencl_constant_keep(struct engine_opencl *o, struct opencl_buffer *b)
{
    if (b->other_holders) {
        b->other_holders--;
        return true;
    }
    if (b->constant)
        table_remove(&o->memory.constants, b->hash, b);
    return false;
}
