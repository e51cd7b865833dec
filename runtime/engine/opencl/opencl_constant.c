/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the constants of graphs on the device.  Graphs with equal ones share a buffer, such as a language model's graph for a
 * prompt and its graph for one token, whether their weights were packed or are lent from a mapped file.  Constants of a loaded
 * graph are not shared: they lie in its file, which goes with the graph.
 *
 * A buffer keeps the constant that it was made of, with which others are compared, and is known until its last holder frees it.
 */
#ifdef WEBNN_OPENCL
#include "runtime/engine/opencl/internal.h"

#include <string.h>

#include "ir/graph/constant_pool.h"

static struct opencl_buffer **bucket_of(struct engine_opencl *o, uint64_t hash)
{
    return &o->memory.constants[hash % OPENCL_CONSTANT_BUCKETS];
}

/* Returns a buffer of a constant with that hash and size, which has one holder more, or NULL. */
static struct opencl_buffer *hold(struct engine_opencl *o, const struct constant *c, uint64_t hash)
{
    struct opencl_buffer *b;

    pthread_mutex_lock(&o->lock);
    for (b = *bucket_of(o, hash); b && (b->hash != hash || b->constant->bytes != c->bytes); b = b->next)
        ;
    if (b)
        b->other_holders++;
    pthread_mutex_unlock(&o->lock);
    return b;
}

/* Makes a buffer known. */
static void add(struct engine_opencl *o, struct opencl_buffer *b, struct constant *c, uint64_t hash)
{
    b->constant = constant_retain(c);
    b->hash = hash;
    pthread_mutex_lock(&o->lock);
    b->next = *bucket_of(o, hash);
    *bucket_of(o, hash) = b;
    pthread_mutex_unlock(&o->lock);
}

struct engine_buffer *opencl_constant_create(struct engine *en, struct constant *c, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);
    const bool kept = c->ours || c->release.callback; /* as long as somebody has a reference */
    const bool shares = kept && c->bytes >= CONSTANT_POOL_BYTES_LEAST;
    const uint64_t hash = shares ? constant_hash(c) : 0;
    struct opencl_buffer *known = shares ? hold(o, c, hash) : NULL;
    struct engine_buffer *b;

    if (known && (known->constant == c || !memcmp(known->constant->data, c->data, c->bytes)))
        return &known->base;
    if (known) /* other bytes with the same hash */
        opencl_buffer_free(en, &known->base);
    b = opencl_buffer_create(en, c->bytes, e);
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
    struct opencl_buffer **at;

    if (b->other_holders) {
        b->other_holders--;
        return true;
    }
    if (!b->constant)
        return false;
    for (at = bucket_of(o, b->hash); *at != b; at = &(*at)->next)
        ;
    *at = b->next;
    return false;
}
#endif
