/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fuse-attention: which nodes are an attention, when one kernel is better, and how its rows are cut.  Results are tested where
 * kernels are made (tests/passes/lower/test_lower_attention.c).
 */
#include "support/attention_bounds.h"

static const struct target plain_target = {.isa.vector_bits = 512, .thread_count = 1, .cache_bytes = 1 << 20};

/* Other patterns stay, even when fusion is asked for: another axis, the softmax on the other side, a reader of the scores or of
 * the probabilities, an output among them, a cast to integers, three masks, heads that lie below each other in another order.
 */
TEST(what_is_no_attention_stays)
{
    static const char *const others[] = {
        "inputs { q: f32[9, 4]; k: f32[4, 7]; v: f32[7, 3]; }"
        "nodes { s = matmul(q, k); p = softmax(s, 0); y = matmul(p, v); } outputs { y; }",
        "inputs { q: f32[7, 4]; k: f32[4, 9]; v: f32[3, 7]; }"
        "nodes { s = matmul(q, k); p = softmax(s, 1); y = matmul(v, p); } outputs { y; }",
        "inputs { q: f32[9, 4]; k: f32[4, 7]; v: f32[7, 3]; }"
        "nodes { s = matmul(q, k); p = softmax(s, 1); y = matmul(p, v); z = relu(s); } outputs { y; z; }",
        "inputs { q: f32[9, 4]; k: f32[4, 7]; v: f32[7, 3]; }"
        "nodes { s = matmul(q, k); p = softmax(s, 1); y = matmul(p, v); } outputs { y; p; }",
        "inputs { q: f32[9, 4]; k: f32[4, 7]; v: f32[7, 3]; }"
        "nodes { s = matmul(q, k); i = cast(s, int32); f = cast(i, float32); p = softmax(f, 1); y = matmul(p, v); }"
        "outputs { y; }",
        "inputs { q: f16[9, 4]; k: f16[4, 7]; v: f16[7, 3]; }"
        "nodes { s = matmul(q, k); p = softmax(s, 1); y = matmul(p, v); z = cast(s, float32); } outputs { y; z; }",
        "inputs { q: f32[2, 6, 4]; k: f32[2, 4, 7]; v: f32[6, 2, 7, 3]; }"
        "nodes { s = matmul(q, k); r = reshape(s, [6, 2, 7]); p = softmax(r, 2); z = reshape(p, [6, 1, 2, 7]);"
        "  y = matmul(z, v); } outputs { y; }",
        "inputs { q: f32[2, 6, 4]; k: f32[2, 4, 7]; v: f32[2, 7, 3]; }"
        "nodes { s = matmul(q, k); r = reshape(s, [3, 4, 7]); p = softmax(r, 2); z = reshape(p, [2, 6, 7]);"
        "  y = matmul(z, v); } outputs { y; }",
        "inputs { q: f32[9, 4]; k: f32[4, 7]; v: f32[7, 3]; l: f32[9, 7]; m: f32[9, 7]; n: f32[9, 7]; }"
        "nodes { s = matmul(q, k); a = add(s, l); b = mul(a, m); c = sub(b, n); p = softmax(c, 1); y = matmul(p, v); }"
        "outputs { y; }",
        "inputs { s: f32[9, 7]; v: f32[7, 3]; } nodes { p = softmax(s, 1); y = matmul(p, v); } outputs { y; }",
    };
    const struct pass_options o = {.target = &plain_target, .debug = &prefer_attention};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        OWNED(graph) struct graph *g = parse_body(others[i]);

        assert_false(pass_fuse_attention(g, &o));
    }
}

static bool takes_all(void *user, const struct node *n)
{
    return true;
}

/* Returns whether the pass chooses an attention of so many rows and keys by itself. */
static bool chosen(const struct target *t, uint32_t flags, int heads, int rows, int keys)
{
    const struct debug_options d = {.flags = flags};
    char body[256];
    bool found;

    snprintf(body, sizeof body,
             "inputs { q: f32[%d, %d, 16]; k: f32[%d, 16, %d]; v: f32[%d, %d, 16]; }"
             "nodes { s = matmul(q, k); p = softmax(s, 2); y = matmul(p, v); } outputs { y; }",
             heads, rows, heads, keys, heads, keys);
    OWNED(graph) struct graph *g = parse_body(body);
    found = pass_fuse_attention(g, &(struct pass_options){.target = t, .debug = &d});
    return found;
}

/* Several rows that do not fill a vector stay with the library.  With short vectors so do small scores, and larger ones where a
 * remainder of rows is left, unless there is no library or keys may be skipped.  Numbers of low precision and the switch
 * prefer-library leave all of them. */
TEST(what_is_better_is_chosen)
{
    struct target wide = plain_target, narrow = {.isa.vector_bits = 256, .thread_count = 1, .cache_bytes = 1 << 20}, t;

    wide.takes_node = narrow.takes_node = takes_all;
    assert_true(chosen(&wide, 0, 12, 128, 128));
    assert_true(chosen(&wide, 0, 12, 1, 128));
    assert_false(chosen(&wide, 0, 12, 5, 128));
    assert_false(chosen(&wide, 0, 12, 15, 128));
    assert_false(chosen(&wide, DEBUG_PREFER_LIBRARY, 12, 128, 128));
    assert_true(chosen(&narrow, 0, 12, 128, 128));
    assert_false(chosen(&narrow, 0, 12, 196, 196));
    assert_false(chosen(&narrow, 0, 4, 128, 128));
    assert_true(chosen(&narrow, 0, 12, 1031, 1024));
    OWNED(graph) struct graph *g = parse_body(bounded_attention_bodies[BOUNDED_ATTENTION_BODIES - 2]);
    assert_true(pass_fuse_attention(g, &(struct pass_options){.target = &narrow, .debug = &(struct debug_options){0}}));
    t = narrow;
    t.takes_node = NULL;
    assert_true(chosen(&t, 0, 12, 128, 128));
    t = wide;
    t.takes_low_precision = takes_all;
    assert_false(chosen(&t, 0, 12, 1024, 1024));
}

/* A device takes an attention whose macro-tiles are enough for all its units: a GPU only where the scores would leave its
 * caches, a processor that poses as one unless they are tiny. */
TEST(devices_choose)
{
    const struct gpu_facts gpu = *target_gpu_facts(false), processor = *target_gpu_facts(true);
    struct target t = {.isa.vector_bits = 32, .cache_bytes = 1 << 20, .thread_count = 1};

    t.device = &processor;
    t.facts = target_device_facts(true);
    assert_true(chosen(&t, 0, 12, 128, 128));
    assert_false(chosen(&t, 0, 12, 32, 32));
    assert_true(chosen(&t, 0, 12, 1, 128));
    assert_false(chosen(&t, 0, (int)processor.compute_units - 1, 1, 128));
    t.device = &gpu;
    t.facts = target_device_facts(false);
    assert_false(chosen(&t, 0, 12, 128, 128));
    assert_true(chosen(&t, 0, 12, 1024, 1024));
    assert_true(chosen(&t, 0, (int)gpu.compute_units, 1, 128));
    assert_false(chosen(&t, 0, (int)gpu.compute_units - 1, 1, 128));
    assert_true(chosen(&t, DEBUG_PREFER_ATTENTION, 1, 1, 128));
}

static int64_t tile_rows(const struct target *t, int64_t batches, int64_t rows, int64_t keys)
{
    const struct attention a = {.batches = batches, .rows = rows, .keys = keys, .depth = 64, .width = 64};
    const int64_t tile = attention_tile_rows(&a, t), block = attention_block_keys(&a, t, tile);

    assert_in_range(tile, 1, rows);
    assert_in_range(block, 1, keys);
    assert_int_equal(keys % block, 0);
    return tile;
}

/* Macro-tiles have whole vectors of rows, or divide the rows, their scores stay in L2, and threads all have
 * work. */
TEST(rows_are_cut)
{
    struct target threads = plain_target;

    threads.thread_count = 8;
    assert_int_equal(tile_rows(&plain_target, 12, 1024, 1024) % 16, 0);
    assert_int_equal(196 % tile_rows(&plain_target, 6, 196, 196), 0);
    assert_int_equal(tile_rows(&plain_target, 12, 77, 77), 77);
    assert_int_equal(tile_rows(&plain_target, 8, 4096, 4096), 32);
    assert_int_equal(tile_rows(&plain_target, 1, 4096, 1 << 20), 16);
    assert_int_equal(tile_rows(&plain_target, 1, 5, 100), 5);
    assert_true(tile_rows(&threads, 1, 128, 512) <= 16);
    /* vectors are those of the device's items */
    threads.device = target_gpu_facts(true);
    threads.isa.vector_bits = 32;
    assert_int_equal(tile_rows(&threads, 12, 1024, 1024) % threads.device->vector_lanes, 0);
}

TEST(bounds_are_found_in_every_spelling)
{
    attention_check_spellings_found();
}
