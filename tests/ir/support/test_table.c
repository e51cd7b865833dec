/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tests arrays and hash tables that grow, on the heap and in arenas. */
#include "support/graphs.h"

#include "ir/support/table.h"

enum { ITEMS = 1000 };

static void grow_array(struct arena *a)
{
    int *items = NULL;
    size_t capacity = 0;

    for (int i = 0; i < ITEMS; i++) {
        assert_true(array_reserve(a, &items, &capacity, (size_t)i + 1, sizeof *items));
        items[i] = i;
    }
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i], i);
    assert_false(array_reserve(a, &items, &capacity, SIZE_MAX, sizeof *items)); /* no power of two */
    assert_int_equal(items[ITEMS - 1], ITEMS - 1);
    if (!a)
        free(items);
}

TEST(arrays_grow_by_one)
{
    struct bytes b = {0};
    OWNED(memory) char *text = NULL;
    OWNED(memory) int *items = NULL;

    for (int i = 0; i < ITEMS; i++) {
        assert_true(array_extend(&items, (size_t)i, sizeof *items));
        items[i] = i;
        assert_true(bytes_append(&b, &i, sizeof i) && bytes_append(&b, NULL, 1));
        assert_true(text_append(&text, "%d;", i % 10));
    }
    assert_false(array_extend(&items, SIZE_MAX, sizeof *items));
    assert_false(bytes_append(&b, NULL, SIZE_MAX));
    assert_int_equal(b.length, ITEMS * (sizeof(int) + 1));
    for (int i = 0; i < ITEMS; i++) {
        assert_int_equal(items[i], i);
        assert_memory_equal(b.data + (size_t)i * (sizeof i + 1), &i, sizeof i);
        assert_int_equal(b.data[(size_t)i * (sizeof i + 1) + sizeof i], 0);
        assert_true(text[2 * i] == '0' + i % 10 && text[2 * i + 1] == ';');
    }
    free(b.data);
}

TEST(arrays_grow)
{
    SCOPED(arena_free) struct arena a = {0};

    grow_array(NULL);
    grow_array(&a);
}

/* Returns the place of a number in a table of numbers. */
static struct table_entry *find(const struct table *t, uint64_t hash, const int *item)
{
    struct table_entry *e = NULL;

    while ((e = table_next(t, hash, e))->item && e->item != item)
        ;
    return e;
}

static void fill_table(struct arena *a, uint32_t hashes)
{
    static int items[ITEMS], absent;
    struct table t = {0};

    for (uint32_t i = 0; i < ITEMS; i++) {
        assert_true(table_reserve(&t, a, t.count + 1));
        assert_null(find(&t, i % hashes, &items[i])->item);
        table_put(&t, find(&t, i % hashes, &items[i]), i % hashes, &items[i]);
    }
    assert_int_equal(t.count, ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(find(&t, i % hashes, &items[i])->item, &items[i]);
        assert_null(find(&t, i % hashes, &absent)->item);
    }
    for (uint32_t i = 0; i < ITEMS; i += 2)
        table_remove(&t, i % hashes, &items[i]);
    assert_int_equal(t.count, ITEMS / 2);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_ptr_equal(find(&t, i % hashes, &items[i])->item, i % 2 ? &items[i] : NULL);
    if (!a)
        free(t.entries);
}

TEST(tables_find_what_was_put_in_and_not_removed)
{
    SCOPED(arena_free) struct arena a = {0};

    fill_table(NULL, ITEMS);
    fill_table(NULL, 3); /* many items of one hash */
    fill_table(&a, 100);
}

TEST(an_empty_table_has_nothing)
{
    const struct table t = {0};

    assert_null(table_next(&t, 1, NULL)->item);
}
