/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Constants with the same bytes become one, as long as somebody holds it, whatever goes first: pool or constants. */
#include <pthread.h>
#include <unistd.h>

#include "ir/graph/constant_pool.h"
#include "ir/target/target.h"
#include "support/test.h"

enum { BYTES = CONSTANT_POOL_BYTES_LEAST };
DROPS(pool, struct constant_pool *, constant_pool_release)

/* Returns a constant of bytes that depend on `number`, the last one on `last`. */
static struct constant *make(size_t bytes, unsigned number, unsigned char last)
{
    struct constant *c = constant_create(NULL, bytes);

    assert_non_null(c);
    unsigned char *data = (unsigned char *)(uintptr_t)c->data;
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(number >> i % 4 * 8);
    data[bytes - 1] = last;
    return c;
}

TEST(equal_bytes_are_shared)
{
    struct constant_pool *p = constant_pool_create();
    struct constant *a = make(BYTES, 1, 0), *b = make(BYTES, 1, 0), *other = make(BYTES, 1, 1), *longer = make(BYTES + 4, 1, 0);

    assert_ptr_equal(constant_pool_share(p, a), a);
    assert_ptr_equal(constant_pool_share(p, a), a);
    assert_ptr_equal(constant_pool_share(p, b), a); /* b is gone */
    assert_int_equal(a->references, 2);
    assert_ptr_equal(constant_pool_share(p, other), other);
    assert_ptr_equal(constant_pool_share(p, longer), longer);
    constant_release(a);
    constant_release(a);
    /* No constant has the bytes any more: the next one is the first again. */
    b = make(BYTES, 1, 0);
    assert_ptr_equal(constant_pool_share(p, b), b);
    assert_int_equal(b->references, 1);
    constant_pool_release(p); /* lives on for its constants */
    constant_release(other);
    constant_release(b);
    constant_release(longer);
}

/* Places a constant of so many bytes and writes all of them. */
static struct constant *place(struct constant_pool *p, size_t bytes, int content)
{
    struct constant *c = constant_pool_place(p, bytes);

    assert_non_null(c);
    assert_int_equal(c->bytes, bytes);
    assert_int_equal((uintptr_t)c->data % TARGET_ALIGNMENT, 0);
    memset((void *)(uintptr_t)c->data, content, bytes);
    return c;
}

/* Constants are placed next to each other without overlapping, outlive the pool, and are shared like others; whichever goes
 * last gives its memory to the next. */
TEST(placed_constants_lie_side_by_side)
{
    enum { COUNT = 300, SIZE = 300001 }; /* 90 MB: several regions */
    struct constant_pool *p = constant_pool_create();
    struct constant *all[COUNT], *last;

    for (int i = 0; i < COUNT; i++)
        all[i] = place(p, SIZE, i & 0xFF);
    for (int i = 0; i < COUNT; i += 2) /* in no order of memory */
        constant_release(all[i]);
    for (int i = 1; i < COUNT; i += 2)
        for (size_t at = 0; at < SIZE; at += 4096)
            assert_int_equal(((const unsigned char *)all[i]->data)[at], i & 0xFF);
    last = place(p, SIZE, 7);
    const void *where = last->data;
    last = constant_pool_share(p, last);
    struct constant *same = place(p, SIZE, 7);
    assert_ptr_equal(constant_pool_share(p, same), last);
    same = place(p, SIZE, 8);
#ifdef WEBNN_SANITIZE /* each has memory of its own */
    (void)where;
#else
    assert_true((const char *)same->data - (const char *)where ==
                (SIZE + TARGET_ALIGNMENT - 1) / TARGET_ALIGNMENT * TARGET_ALIGNMENT);
#endif
    constant_pool_release(p);
    constant_release(same);
    constant_release(last);
    constant_release(last);
    for (int i = 1; i < COUNT; i += 2)
        constant_release(all[i]);
    constant_release(place(NULL, SIZE, 1)); /* without a pool */
}

/* Returns the bytes of this process that are in memory. */
static size_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    size_t all, pages = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%zu %zu", &all, &pages), 2);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A pool that lives on keeps little memory of constants that are gone, in whichever order they went. */
TEST(memory_of_constants_goes_back)
{
    enum { COUNT = 400, SIZE = 65600, KEPT_MOST = 8 << 20 }; /* 26 MB: one region, whose holes begin inside of pages */

#ifdef WEBNN_SANITIZE
    skip(); /* there memory is malloc's, which the sanitizer keeps for a while */
#endif
    for (int order = 0; order < 3; order++) { /* up, down, and up but for the last one */
        OWNED(pool) struct constant_pool *p = constant_pool_create();
        struct constant *all[COUNT];
        const size_t before = resident();

        for (int i = 0; i < COUNT; i++)
            all[i] = place(p, SIZE, 1);
        assert_true(resident() > before + COUNT * (size_t)SIZE / 2);
        for (int i = 0; i < COUNT - (order == 2); i++)
            constant_release(all[order == 1 ? COUNT - 1 - i : i]);
        assert_true(resident() < before + KEPT_MOST);
        constant_release(order == 2 ? all[COUNT - 1] : NULL);
    }
}

static void release_nothing(void const *data, size_t bytes, void *user1, void *user2)
{
}

TEST(small_and_lent_ones_are_left_alone)
{
    static const char bytes[BYTES];
    const WNNBufferReleaseCallbackInfo info = {release_nothing, NULL, NULL};
    OWNED(pool) struct constant_pool *p = constant_pool_create();
    struct constant *small[2] = {make(BYTES - 1, 1, 0), make(BYTES - 1, 1, 0)};
    struct constant *lent[2] = {constant_lend(bytes, BYTES, info), constant_lend(bytes, BYTES, info)};

    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(constant_pool_share(p, small[i]), small[i]);
        assert_ptr_equal(constant_pool_share(p, lent[i]), lent[i]);
        assert_ptr_equal(constant_pool_share(NULL, small[i]), small[i]);
    }
    for (int i = 0; i < 2; i++) {
        constant_release(small[i]);
        constant_release(lent[i]);
    }
    constant_pool_release(NULL);
}

TEST(many_are_found_again)
{
    enum { COUNT = 500 }; /* the table grows */
    OWNED(pool) struct constant_pool *p = constant_pool_create();
    struct constant *all[COUNT];

    for (unsigned i = 0; i < COUNT; i++) {
        all[i] = make(BYTES, i, 0);
        assert_ptr_equal(constant_pool_share(p, all[i]), all[i]);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        assert_ptr_equal(constant_pool_share(p, make(BYTES, i, 0)), all[i]);
        assert_int_equal(all[i]->references, 2);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        constant_release(all[i]);
        constant_release(all[i]);
    }
}

/* Shares and drops the same few constants over and over, so that some threads find what others are letting go of. */
static void *share_and_drop(void *pool)
{
    for (unsigned i = 0; i < 2000; i++) {
        OWNED(constant) struct constant *c = constant_pool_share(pool, make(BYTES, i % 3, 0));

        if (((const unsigned char *)c->data)[0] != i % 3)
            return pool;
    }
    return NULL;
}

TEST(threads_share)
{
    OWNED(pool) struct constant_pool *p = constant_pool_create();
    pthread_t threads[4];
    void *failed;

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, share_and_drop, p), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
}
