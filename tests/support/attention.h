/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attentions for tests: sizes, batches, masks, orders of dimensions, and the passes that make a kernel of each.
 */
#ifndef WEBNN_TESTS_SUPPORT_ATTENTION_H_
#define WEBNN_TESTS_SUPPORT_ATTENTION_H_

#include "passes/cluster/attention.h"
#include "support/kernels.h"

static const struct debug_options prefer_attention = {.flags = DEBUG_PREFER_ATTENTION};

/** Runs the passes that matter and all kernels, by `run`.  Whether there is an attention, in one kernel of stages that leaves
 * nothing to any other, must be as expected. */
static inline void attention_check(const char *body, const struct target *t, bool nasty, bool expected, kernel_runner run)
{
    struct graph *g = parse_body(body);
    const struct pass_options o = {.target = t, .debug = &prefer_attention};
    uint32_t kernels = 0, with_stages = 0;

    assert_int_equal(pass_fuse_attention(g, &o), expected);
    assert_false(pass_fuse_attention(g, &o));
    assert_int_equal(attention_count(g), expected);
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        struct kernel_list list;
        struct error e = {0};

        if (c->kind != CLUSTER_KERNEL)
            continue;
        assert_true(lower_cluster(g, c, t, &list, &e));
        kernels += list.count;
        for (uint32_t i = 0; i < list.count; i++)
            with_stages += list.kernels[i]->stage_count > 0;
        kernel_list_free(&list);
    }
    assert_int_equal(with_stages, expected);
    if (expected)
        assert_int_equal(kernels, 1);
    assert_true(kernels_check_graph(g, t, nasty, run));
    graph_free(g);
}

static const char *const attention_bodies[] = {
    /* matrices alone; rows and keys that fill no vector; a batch; one head less in K and V, and in Q */
    "inputs { q: f32[9, 4]; k: f32[4, 7]; v: f32[7, 3]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 1); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[2, 37, 5]; k: f32[2, 5, 33]; v: f32[2, 33, 6]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 2); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[2, 3, 16, 8]; k: f32[8, 20]; v: f32[1, 20, 8]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 3); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[16, 8]; k: f32[2, 3, 8, 20]; v: f32[3, 20, 8]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 3); y = matmul(p, v); } outputs { y; }",
    /* many keys, whose blocks are multiplied one by one; a number of keys without such blocks */
    "inputs { q: f32[2, 20, 8]; k: f32[2, 8, 1536]; v: f32[2, 1536, 5]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 2); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[70, 3]; k: f32[3, 997]; v: f32[997, 4]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 1); y = matmul(p, v); } outputs { y; }",
    /* keys that exceed the second cache */
    "inputs { q: f32[1, 4, 2, 64]; k: f32[1, 4200, 2, 64]; v: f32[1, 4200, 2, 5]; }"
    "nodes { a = transpose(q, permutation=[0, 2, 1, 3]); b = transpose(k, permutation=[0, 2, 3, 1]); s = matmul(a, b);"
    "  p = softmax(s, 3); c = transpose(v, permutation=[0, 2, 1, 3]); y = matmul(p, c); } outputs { y; }",
    /* heads as exporters write them; more heads in Q than in K and V */
    "inputs { q: f32[1, 18, 24]; k: f32[1, 21, 24]; v: f32[1, 21, 24]; }"
    "nodes { a = reshape(q, [1, 18, 3, 8]); b = transpose(a, permutation=[0, 2, 1, 3]);"
    "  c = reshape(k, [1, 21, 3, 8]); d = transpose(c, permutation=[0, 2, 3, 1]);"
    "  e = reshape(v, [1, 21, 3, 8]); f = transpose(e, permutation=[0, 2, 1, 3]);"
    "  s = matmul(b, d); p = softmax(s, 3); o = matmul(p, f);"
    "  t = transpose(o, permutation=[0, 2, 1, 3]); y = reshape(t, [1, 18, 24]); } outputs { y; }",
    "inputs { q: f32[1, 6, 10, 8]; k: f32[1, 2, 12, 8]; v: f32[1, 2, 12, 8]; }"
    "nodes { a = reshape(k, [1, 2, 1, 12, 8]); b = expand(a, [1, 2, 3, 12, 8]); c = reshape(b, [1, 6, 12, 8]);"
    "  d = transpose(c, permutation=[0, 1, 3, 2]);"
    "  e = reshape(v, [1, 2, 1, 12, 8]); f = expand(e, [1, 2, 3, 12, 8]); h = reshape(f, [1, 6, 12, 8]);"
    "  s = matmul(q, d); p = softmax(s, 3); y = matmul(p, h); } outputs { y; }",
    /* a scale and a mask that heads share; a mask of their own; masks along rows and along keys; two masks, one of bytes; a
     * function of the scores */
    "inputs { q: f32[1, 3, 34, 8]; k: f32[1, 3, 8, 20]; v: f32[1, 3, 20, 8]; m: f32[1, 1, 34, 20]; }"
    "consts { c: f32[] @scalar(0.25); }"
    "nodes { s = matmul(q, k); a = mul(s, c); b = add(m, a); p = softmax(b, 3); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[2, 3, 17, 8]; k: f32[2, 3, 8, 20]; v: f32[2, 3, 20, 8]; m: f32[2, 1, 17, 20]; n: f32[3, 17, 20]; }"
    "nodes { s = matmul(q, k); a = sub(s, m); b = add(a, n); p = softmax(b, 3); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[2, 18, 8]; k: f32[2, 8, 20]; v: f32[2, 20, 8]; m: f32[18, 1]; n: f32[2, 1, 20]; }"
    "nodes { s = matmul(q, k); a = mul(s, m); b = add(a, n); p = softmax(b, 2); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[2, 40, 8]; k: f32[2, 8, 20]; v: f32[2, 20, 8]; m: u8[40, 20]; n: f32[2, 40, 20]; }"
    "consts { low: f32[] @scalar(-100); }"
    "nodes { s = matmul(q, k); a = add(s, n); b = where(m, a, low); p = softmax(b, 2); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[2, 16, 8]; k: f32[2, 8, 16]; v: f32[2, 16, 8]; }"
    "nodes { s = matmul(q, k); a = tanh(s); b = neg(a); p = softmax(b, 2); y = matmul(p, v); } outputs { y; }",
};
enum { ATTENTION_BODIES = sizeof attention_bodies / sizeof *attention_bodies };

#endif
