/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/engine/cpu/kernel_cache.h"

#include <stdlib.h>
#include <string.h>

#include "ir/target/processor.h"
#include "runtime/program/cache_folder.h"
#include "webnn_build.h"

#define SUFFIX ".kernel"

struct kernel_cache {
    char *folder;
    char machine[1024]; /* what code depends on besides its structure */
    pthread_mutex_t lock;
    struct table kernels; /* those that are in use */
    atomic_ullong written;
};

static void cached_free(struct cached_kernel *k)
{
    code_unmap(&k->code);
    free(k->structure);
    free(k);
}

struct kernel_cache *kernel_cache_create(const struct target *t, const char *folder, bool ignore_environment,
                                         struct error *warning)
{
    struct kernel_cache *c = calloc(1, sizeof *c);
    bool named;

    if (!c || pthread_mutex_init(&c->lock, NULL)) {
        free(c);
        return NULL;
    }
    const char *processor = t->cpu ? t->cpu : processor_signature();
    const int length = snprintf(c->machine, sizeof c->machine, "%s\n%s\n%s\n%s\n", WEBNN_BUILD, t->triple, processor,
                                t->features ? t->features : "");
    if (!*processor || length <= 0 || (size_t)length >= sizeof c->machine) {
        kernel_cache_free(c);
        return NULL;
    }
    c->folder = cache_folder_open(folder, ignore_environment, "kernels", &named, warning);
    return c;
}

const char *kernel_cache_identity(const struct kernel_cache *c)
{
    return c->machine;
}

bool kernel_cache_is_kept(const struct kernel_cache *c)
{
    return c && c->folder;
}

void kernel_cache_free(struct kernel_cache *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->kernels.capacity; i++)
        if (c->kernels.entries[i].item)
            cached_free((struct cached_kernel *)c->kernels.entries[i].item);
    free(c->kernels.entries);
    free(c->folder);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* Returns what leads to a kernel, in the arena. */
static char *identity_of(const struct kernel_cache *c, const char *structure, struct arena *a)
{
    const size_t size = strlen(c->machine) + strlen(structure) + 1;
    char *identity = arena_alloc(a, size);

    if (identity)
        snprintf(identity, size, "%s%s", c->machine, structure);
    return identity;
}

/* Makes a kernel of a copy of code. */
static struct cached_kernel *kernel_of(const struct engine_kernel *from, uint64_t hash)
{
    const struct serialized_source source = {.program = from->code, .file = -1};
    struct cached_kernel *k = from->offset < from->bytes ? calloc(1, sizeof *k) : NULL;
    struct error ignored = {0};

    if (!k)
        return NULL;
    k->offset = from->offset;
    k->hash = hash;
    k->references = 1;
    if ((k->structure = strdup(from->structure)) && code_map(&source, 0, from->bytes, &k->code, &ignored))
        return k;
    cached_free(k);
    return NULL;
}

/* Finds the place of a structure's kernel, where it is or would be, or returns NULL if memory runs out. */
static struct table_entry *place_of(struct kernel_cache *c, const char *structure, uint64_t hash)
{
    struct table_entry *place = NULL;

    if (!table_reserve(&c->kernels, NULL, c->kernels.count + 1))
        return NULL;
    do
        place = table_next(&c->kernels, hash, place);
    while (place->item && strcmp(((const struct cached_kernel *)place->item)->structure, structure) != 0);
    return place;
}

static struct cached_kernel *take_locked(struct kernel_cache *c, const char *structure, struct arena *a)
{
    const uint64_t hash = hash_bytes(structure, strlen(structure));
    struct table_entry *place = place_of(c, structure, hash);
    struct engine_kernel kept = {.structure = structure};
    struct cached_kernel *k;

    if (!place)
        return NULL;
    if ((k = (struct cached_kernel *)place->item)) {
        k->references++;
        return k;
    }
    const char *identity = c->folder ? identity_of(c, structure, a) : NULL;
    unsigned char *bytes = identity ? cache_read(c->folder, identity, SUFFIX, &kept.bytes) : NULL;
    if (bytes && kept.bytes > sizeof kept.offset) { /* the function's offset, then code */
        memcpy(&kept.offset, bytes, sizeof kept.offset);
        kept.code = bytes + sizeof kept.offset;
        kept.bytes -= sizeof kept.offset;
        k = kernel_of(&kept, hash);
    }
    free(bytes);
    if (k)
        table_put(&c->kernels, place, hash, k);
    return k;
}

void kernel_cache_add(struct kernel_cache *c, const struct engine_kernel *kernel)
{
    const uint64_t hash = hash_bytes(kernel->structure, strlen(kernel->structure));

    pthread_mutex_lock(&c->lock);
    struct table_entry *place = place_of(c, kernel->structure, hash);
    struct cached_kernel *k = place && !place->item ? kernel_of(kernel, hash) : NULL;
    if (k)
        table_put(&c->kernels, place, hash, k);
    pthread_mutex_unlock(&c->lock);
}

struct cached_kernel *kernel_cache_take(struct kernel_cache *c, const struct schedule *s)
{
    struct arena scratch = {0};
    struct cached_kernel *k = NULL;

    if (!c)
        return NULL;
    pthread_mutex_lock(&c->lock);
    const bool has_any = c->folder || c->kernels.count;
    pthread_mutex_unlock(&c->lock);
    const char *structure = has_any ? schedule_structure(s, &scratch) : NULL;
    if (structure) {
        pthread_mutex_lock(&c->lock);
        k = take_locked(c, structure, &scratch);
        pthread_mutex_unlock(&c->lock);
    }
    arena_free(&scratch);
    return k;
}

void kernel_cache_give_back(struct kernel_cache *c, struct cached_kernel *k)
{
    if (!k)
        return;
    pthread_mutex_lock(&c->lock);
    if (--k->references == 0) {
        table_remove(&c->kernels, k->hash, k);
        cached_free(k);
    }
    pthread_mutex_unlock(&c->lock);
}

void kernel_cache_put(struct kernel_cache *c, const struct schedule *s, const void *code, size_t size, uint64_t offset)
{
    struct arena scratch = {0};
    const char *structure = schedule_structure(s, &scratch), *identity = structure ? identity_of(c, structure, &scratch) : NULL;
    unsigned char *bytes = malloc(sizeof offset + size);

    if (identity && bytes) {
        memcpy(bytes, &offset, sizeof offset);
        memcpy(bytes + sizeof offset, code, size);
        if (cache_write(c->folder, identity, SUFFIX, bytes, sizeof offset + size))
            cache_trim(c->folder, SUFFIX, &c->written, strlen(identity) + size);
    }
    free(bytes);
    arena_free(&scratch);
}
