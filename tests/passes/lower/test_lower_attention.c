/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attentions, lowered: results of kernel_interpret lie within the interpreter's bounds, inputs that are not finite included,
 * and scratch grows with the keys, not with the rows.
 */
#include "support/attention_bounds.h"

static const struct target plain_target = {.isa.vector_bits = 256, .thread_count = 2, .cache_bytes = 1 << 20};

TEST(results_are_within_bounds)
{
    attention_check_all(&plain_target, kernel_interpret);
}

TEST(keys_that_do_not_count_are_left_out)
{
    attention_check_spellings(&plain_target, 0, 1, kernel_interpret);
    attention_check_all_unread(&plain_target, 0, 1, kernel_interpret);
}

/* Returns the bytes of the local tensors of an attention. */
static int64_t local_bytes(int rows, int keys)
{
    const struct pass_options o = {.target = &plain_target, .debug = &prefer_attention};
    char body[256];

    snprintf(body, sizeof body,
             "inputs { q: f32[%d, 16]; k: f32[16, %d]; v: f32[%d, 16]; }"
             "nodes { s = matmul(q, k); p = softmax(s, 1); y = matmul(p, v); } outputs { y; }",
             rows, keys, keys);
    struct graph *g = parse_body(body);
    assert_true(pass_fuse_attention(g, &o));
    pass_finish_clusters(g, &o);
    struct kernel_list list = kernels_lower(g, g->first_cluster, &plain_target);
    assert_int_equal(list.count, 1);
    int64_t bytes = kernel_locals_bytes(list.kernels[0]);
    kernels_end(g, &list);
    return bytes;
}

TEST(scratch_does_not_grow_with_the_rows)
{
    assert_true(local_bytes(4096, 4096) <= local_bytes(512, 4096));
    assert_true(local_bytes(4096, 4096) <= 2 << 20);
    assert_true(local_bytes(4096, 1024) < local_bytes(4096, 4096));
}

/* A mask that all heads share is transposed once for all of them: its stage has the number of heads as its period, and stages
 * that differ from head to head have none.  K and V of a head are copied once for all of its rows. */
TEST(what_macro_tiles_share_is_made_once)
{
    static const char *const bodies[3] = {
        "inputs { q: f32[1, 3, 34, 8]; k: f32[1, 3, 8, 20]; v: f32[1, 3, 20, 8]; m: f32[1, 1, 34, 20]; }"
        "nodes { s = matmul(q, k); b = add(s, m); p = softmax(b, 3); y = matmul(p, v); } outputs { y; }",
        "inputs { q: f32[1, 3, 34, 8]; k: f32[1, 3, 8, 20]; v: f32[1, 3, 20, 8]; m: f32[1, 3, 34, 20]; }"
        "nodes { s = matmul(q, k); b = add(s, m); p = softmax(b, 3); y = matmul(p, v); } outputs { y; }",
        "inputs { q: f32[3, 320, 8]; k: f32[40, 3, 8]; v: f32[40, 3, 9]; }"
        "nodes { a = transpose(k, permutation=[1, 2, 0]); s = matmul(q, a); p = softmax(s, 2);"
        "  b = transpose(v, permutation=[1, 0, 2]); y = matmul(p, b); } outputs { y; }",
    };
    const struct pass_options o = {.target = &plain_target, .debug = &prefer_attention};

    for (int i = 0; i < 3; i++) {
        struct graph *g = parse_body(bodies[i]);

        assert_true(pass_fuse_attention(g, &o));
        pass_finish_clusters(g, &o);
        struct kernel_list list = kernels_lower(g, g->first_cluster, &plain_target);
        assert_int_equal(list.kernels[0]->stage_count, i == 2 ? 7 : 6); /* one block of keys: nothing to combine */
        for (uint32_t n = 0; n < list.kernels[0]->stage_count; n++)
            assert_int_equal(list.kernels[0]->stages[n].period, i == 0 && n == 1 ? 3 : i == 2 && n < 2 ? 10 : 1);
        kernels_end(g, &list);
    }
}
