/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attentions for tests: sizes, batches, masks, orders of dimensions, and the passes that make a kernel of each.
 */
#pragma once

#include "passes/cluster/attention.h"
#include "support/kernels.h"

static const struct debug_options prefer_attention = {.flags = DEBUG_PREFER_ATTENTION};

enum { ATTENTION_SOME_OTHERS = -1 };

/** Runs the passes that matter and all kernels, by `run`.  There must be an attention in one kernel of stages, and that many
 * others next to it, or some. */
static inline void attention_check(const char *body, const struct target *t, bool nasty, int others, kernel_runner run)
{
    struct graph *g = parse_body(body);
    const struct pass_options o = {.target = t, .debug = &prefer_attention};
    uint32_t kernels = 0, with_stages = 0;

    pass_drop_dead(g, &o);
    assert_true(pass_fuse_attention(g, &o));
    assert_false(pass_fuse_attention(g, &o));
    assert_int_equal(attention_count(g), 1);
    with_stages = kernels_fuse(g, &o, &kernels);
    assert_int_equal(with_stages, 1);
    if (others != ATTENTION_SOME_OTHERS)
        assert_int_equal(kernels, 1 + others);
    assert_true(kernels_check_graph(g, t, nasty, run));
    graph_free(g);
}

/* The keys' numbers. */
#define ATTENTION_TEN(a) a "0," a "1," a "2," a "3," a "4," a "5," a "6," a "7," a "8," a "9,"
#define ATTENTION_192                                                                                                          \
    "0,1,2,3,4,5,6,7,8,9," ATTENTION_TEN("1") ATTENTION_TEN("2") ATTENTION_TEN("3") ATTENTION_TEN("4") ATTENTION_TEN("5")      \
        ATTENTION_TEN("6") ATTENTION_TEN("7") ATTENTION_TEN("8") ATTENTION_TEN("9") ATTENTION_TEN("10") ATTENTION_TEN("11")    \
            ATTENTION_TEN("12") ATTENTION_TEN("13") ATTENTION_TEN("14") ATTENTION_TEN("15") ATTENTION_TEN("16")                \
                ATTENTION_TEN("17") ATTENTION_TEN("18") "190,191"

static const char *const attention_bodies[] = {
    /* matrices alone; rows and keys that do not fill a vector; a batch; one head less in K and V, and in Q */
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
    /* keys that exceed L2 */
    "inputs { q: f32[1, 4, 2, 64]; k: f32[1, 4200, 2, 64]; v: f32[1, 4200, 2, 5]; }"
    "nodes { a = transpose(q, permutation=[0, 2, 1, 3]); b = transpose(k, permutation=[0, 2, 3, 1]); s = matmul(a, b);"
    "  p = softmax(s, 3); c = transpose(v, permutation=[0, 2, 1, 3]); y = matmul(p, c); } outputs { y; }",
    /* heads as exporters write them; more heads in Q than in K and V */
    "inputs { q: f32[1, 290, 24]; k: f32[1, 21, 24]; v: f32[1, 21, 24]; }"
    "nodes { a = reshape(q, [1, 290, 3, 8]); b = transpose(a, permutation=[0, 2, 1, 3]);"
    "  c = reshape(k, [1, 21, 3, 8]); d = transpose(c, permutation=[0, 2, 3, 1]);"
    "  e = reshape(v, [1, 21, 3, 8]); f = transpose(e, permutation=[0, 2, 1, 3]);"
    "  s = matmul(b, d); p = softmax(s, 3); o = matmul(p, f);"
    "  t = transpose(o, permutation=[0, 2, 1, 3]); y = reshape(t, [1, 290, 24]); } outputs { y; }",
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
    /* heads that share a head of K and V, below each other in one matrix: many rows of each, with a mask that all share, one
     * that differs from head to head, rows with a remainder; one row of each; one head for all */
    "inputs { q: f32[1, 2, 48, 8]; k: f32[1, 2, 20, 8]; v: f32[1, 2, 20, 6]; m: f32[16, 20]; }"
    "nodes { t = transpose(k, permutation=[0, 1, 3, 2]); s = matmul(q, t); r = reshape(s, [1, 6, 16, 20]); b = add(r, m);"
    "  p = softmax(b, 3); z = reshape(p, [1, 2, 48, 20]); o = matmul(z, v); h = reshape(o, [1, 6, 16, 6]);"
    "  w = transpose(h, permutation=[0, 2, 1, 3]); y = reshape(w, [1, 16, 36]); } outputs { y; }",
    "inputs { q: f32[2, 3, 51, 8]; k: f32[2, 3, 8, 20]; v: f32[2, 3, 20, 6]; m: f32[9, 17, 20]; n: f32[9, 1, 1]; }"
    "nodes { s = matmul(q, k); r = reshape(s, [2, 9, 17, 20]); a = mul(r, n); b = add(a, m); p = softmax(b, 3);"
    "  z = reshape(p, [2, 3, 51, 20]); o = matmul(z, v); y = reshape(o, [2, 9, 17, 6]); } outputs { y; }",
    "inputs { q: f32[1, 2, 298, 8]; k: f32[1, 2, 8, 36]; v: f32[1, 2, 36, 6]; }"
    "nodes { s = matmul(q, k); r = reshape(s, [1, 4, 149, 36]); p = softmax(r, 3); z = reshape(p, [1, 2, 298, 36]);"
    "  o = matmul(z, v); h = reshape(o, [1, 4, 149, 6]); y = transpose(h, permutation=[0, 2, 1, 3]); } outputs { y; }",
    "inputs { q: f32[1, 2, 3, 24]; k: f32[1, 2, 70, 24]; v: f32[1, 2, 70, 20]; m: f32[70]; n: f32[6, 1, 1]; }"
    "nodes { t = transpose(k, permutation=[0, 1, 3, 2]); s = matmul(q, t); r = reshape(s, [1, 6, 1, 70]); a = add(r, m);"
    "  b = mul(a, n); p = softmax(b, 3); z = reshape(p, [1, 2, 3, 70]); o = matmul(z, v); y = reshape(o, [1, 1, 120]); }"
    "outputs { y; }",
    "inputs { q: f32[1, 10, 40]; k: f32[1, 40, 65]; v: f32[1, 65, 33]; }"
    "nodes { s = matmul(q, k); r = reshape(s, [10, 1, 65]); p = softmax(r, 2); z = reshape(p, [1, 10, 65]); y = matmul(z, v); }"
    "outputs { y; }",
    /* one row, and eleven, which no smaller number of rows at once divides */
    "inputs { q: f32[2, 1, 64]; k: f32[2, 64, 40]; v: f32[2, 40, 5]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 2); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[11, 300]; k: f32[300, 130]; v: f32[130, 5]; m: f32[11, 130]; }"
    "nodes { s = matmul(q, k); b = add(s, m); p = softmax(b, 1); y = matmul(p, v); } outputs { y; }",
    /* rows of the result that are replaced: with many rows in groups of heads, and with few */
    "inputs { q: f32[2, 3, 51, 8]; k: f32[2, 3, 8, 20]; v: f32[2, 3, 20, 6]; m: u8[2, 1, 17, 1]; }"
    "consts { c: f32[] @scalar(0); }"
    "nodes { s = matmul(q, k); r = reshape(s, [2, 9, 17, 20]); p = softmax(r, 3); z = reshape(p, [2, 3, 51, 20]);"
    "  o = matmul(z, v); h = reshape(o, [2, 9, 17, 6]); w = where(m, c, h); t = transpose(w, permutation=[0, 2, 1, 3]);"
    "  y = cast(t, float16); } outputs { y; }",
    "inputs { q: f32[2, 1, 64]; k: f32[2, 64, 40]; v: f32[2, 40, 5]; m: u8[2, 1, 1]; }"
    "consts { c: f32[] @scalar(0); }"
    "nodes { s = matmul(q, k); p = softmax(s, 2); o = matmul(p, v); y = where(m, o, c); } outputs { y; }",
    /* all of it float16, with many rows and with few: a scale and a mask that heads share; nothing between; groups of heads */
    "inputs { q: f16[1, 3, 34, 8]; k: f16[1, 3, 8, 20]; v: f16[1, 3, 20, 8]; m: f16[1, 1, 34, 20]; }"
    "consts { c: f16[] @scalar(0.3); }"
    "nodes { s = matmul(q, k); a = mul(s, c); b = add(m, a); p = softmax(b, 3); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f16[2, 3, 40]; k: f16[2, 40, 70]; v: f16[2, 70, 9]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 2); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f16[1, 2, 48, 8]; k: f16[1, 2, 8, 20]; v: f16[1, 2, 20, 6]; m: f16[16, 20]; }"
    "nodes { s = matmul(q, k); r = reshape(s, [1, 6, 16, 20]); b = add(r, m); p = softmax(b, 3);"
    "  z = reshape(p, [1, 2, 48, 20]); o = matmul(z, v); h = reshape(o, [1, 6, 16, 6]); w = transpose(h, permutation=[0, 2, 1, "
    "3]);  y = reshape(w, [1, 16, 36]); } outputs { y; }",
    /* products in float32 between casts, which stand on either side of the reshapes, with many rows and with few */
    "inputs { q: f16[1, 2, 51, 8]; k: f32[1, 2, 8, 20]; v: f32[1, 2, 20, 6]; m: f16[1, 6, 1, 20]; }"
    "nodes { f = cast(q, float32); s = matmul(f, k); d = cast(s, float16); r = reshape(d, [1, 6, 17, 20]); b = add(r, m);"
    "  p = softmax(b, 3); z = reshape(p, [1, 2, 51, 20]); e = cast(z, float32); o = matmul(e, v);"
    "  h = reshape(o, [1, 6, 17, 6]); w = transpose(h, permutation=[0, 2, 1, 3]); y = cast(w, float16); } outputs { y; }",
    "inputs { q: f16[1, 2, 3, 24]; k: f16[1, 2, 70, 24]; v: f16[1, 2, 70, 20]; n: f16[6, 1, 1]; }"
    "nodes { f = cast(q, float32); t = transpose(k, permutation=[0, 1, 3, 2]); g = cast(t, float32); s = matmul(f, g);"
    "  r = reshape(s, [1, 6, 1, 70]); d = cast(r, float16); b = mul(d, n); p = softmax(b, 3); e = cast(p, float32);"
    "  z = reshape(e, [1, 2, 3, 70]); h = cast(v, float32); o = matmul(z, h); y = cast(o, float16); } outputs { y; }",
    /* the softmax alone in float32, and alone in float16 */
    "inputs { q: f16[2, 19, 8]; k: f16[2, 8, 20]; v: f16[2, 20, 8]; }"
    "nodes { s = matmul(q, k); a = cast(s, float32); p = softmax(a, 2); b = cast(p, float16); y = matmul(b, v); }"
    "outputs { y; }",
    "inputs { q: f32[2, 19, 8]; k: f32[2, 8, 20]; v: f32[2, 20, 8]; }"
    "nodes { s = matmul(q, k); a = cast(s, float16); p = softmax(a, 2); b = cast(p, float32); y = matmul(b, v); }"
    "outputs { y; }",
    "inputs { q: f32[2, 4, 8]; k: f32[2, 8, 20]; v: f32[2, 20, 8]; }"
    "nodes { s = matmul(q, k); p = softmax(s, 2); a = cast(p, float16); b = cast(a, float32); y = matmul(b, v); }"
    "outputs { y; }",
};
enum { ATTENTION_BODIES = sizeof attention_bodies / sizeof *attention_bodies };

/* Attentions in which numbers select valid keys of 192. They follow from a multiple of 20 from 0 to 200, or one from -100 on:
 * then some rows have no valid key.  Another kernel computes it. */
static const char *const bounded_attention_bodies[] = {
    /* one row of each head: no further than a key, fewer than a number, both with operands exchanged */
    "inputs { q: f32[1, 2, 3, 16]; k: f32[1, 2, 192, 16]; v: f32[1, 2, 192, 20]; l: i32[1, 1, 1, 1]; }"
    "consts { low: f32[] @scalar(-1e30); c: i32[] @scalar(20); d: i32[] @scalar(100); i: i32[192] @values([" ATTENTION_192
    "]); }"
    "nodes { x = mul(l, c); e = add(x, d); t = transpose(k, permutation=[0, 1, 3, 2]); s = matmul(q, t);"
    "  r = reshape(s, [1, 6, 1, 192]); f = greater(i, e); g = logicalNot(f); b = where(g, r, low); p = softmax(b, 3);"
    "  z = reshape(p, [1, 2, 3, 192]); y = matmul(z, v); } outputs { y; }",
    "inputs { q: f32[3, 4, 16]; k: f32[3, 16, 192]; v: f32[3, 192, 20]; l: i64[1]; }"
    "consts { low: f32[] @scalar(-3e38); c: i64[] @scalar(20); i: i64[192] @values([" ATTENTION_192 "]); }"
    "nodes { e = mul(l, c); s = matmul(q, k); g = lesser(i, e); b = where(g, s, low); p = softmax(b, 2); y = matmul(p, v); }"
    "outputs { y; }",
    "inputs { q: f32[3, 4, 16]; k: f32[3, 16, 192]; v: f32[3, 192, 20]; l: i32[1]; m: f32[192]; }"
    "consts { low: f32[] @scalar(-3e38); c: i32[] @scalar(20); d: i32[] @scalar(100); i: i32[192] @values([" ATTENTION_192
    "]); }"
    "nodes { x = mul(l, c); e = add(x, d); s = matmul(q, k); a = add(s, m); g = greaterOrEqual(e, i); b = where(g, a, low);"
    "  p = softmax(b, 2); y = matmul(p, v); } outputs { y; }",
    /* rows with bounds of their own: causal, in groups; some rows without any key */
    "inputs { q: f32[1, 2, 66, 16]; k: f32[1, 2, 16, 192]; v: f32[1, 2, 192, 6]; l: i32[1, 1, 1, 1]; }"
    "consts { low: f32[] @scalar(-3e38); c: i32[] @scalar(20); j: i32[22, 1] @values([100, 101, 102, 103, 104, 105, 106, 107, "
    "108,"
    "  109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121]); i: i32[192] @values([" ATTENTION_192 "]); }"
    "nodes { x = mul(l, c); e = add(x, j); s = matmul(q, k); r = reshape(s, [1, 6, 22, 192]); f = greater(i, e);"
    "  g = logicalNot(f); b = where(g, r, low); p = softmax(b, 3); z = reshape(p, [1, 2, 66, 192]); o = matmul(z, v);"
    "  h = reshape(o, [1, 6, 22, 6]); w = transpose(h, permutation=[0, 2, 1, 3]); y = reshape(w, [1, 22, 36]); } outputs { y; "
    "}",
    "inputs { q: f32[2, 37, 16]; k: f32[2, 16, 192]; v: f32[2, 192, 6]; l: i32[2, 37, 1]; m: f32[37, 192]; }"
    "consts { low: f32[] @scalar(-3e38); c: i32[] @scalar(20); i: i32[192] @values([" ATTENTION_192 "]); }"
    "nodes { e = mul(l, c); s = matmul(q, k); a = add(s, m); g = lesser(i, e); b = where(g, a, low); p = softmax(b, 2);"
    "  y = matmul(p, v); } outputs { y; }",
    /* float16, in front of a softmax of float32 and of its own, with many rows and with few */
    "inputs { q: f16[2, 37, 16]; k: f16[2, 16, 192]; v: f16[2, 192, 6]; l: i32[1]; }"
    "consts { low: f16[] @scalar(-Infinity); c: i32[] @scalar(20); d: i32[] @scalar(1); i: i32[192] @values([" ATTENTION_192
    "]); }"
    "nodes { x = mul(l, c); e = max(x, d); s = matmul(q, k); g = lesser(i, e); b = where(g, s, low); f = cast(b, float32);"
    "  p = softmax(f, 2); h = cast(p, float16); y = matmul(h, v); } outputs { y; }",
    "inputs { q: f16[2, 4, 16]; k: f16[2, 192, 16]; v: f16[2, 192, 6]; l: i32[1]; }"
    "consts { low: f16[] @scalar(-Infinity); c: i32[] @scalar(20); d: i32[] @scalar(1); i: i32[192] @values([" ATTENTION_192
    "]); }"
    "nodes { x = mul(l, c); e = max(x, d); t = transpose(k, permutation=[0, 2, 1]); s = matmul(q, t); g = lesser(i, e);"
    "  b = where(g, s, low); p = softmax(b, 2); y = matmul(p, v); } outputs { y; }",
    /* windows before the last key: one for each row, and one for each batch with heads that share keys; a mask that heads share
     * is added */
    "inputs { q: f32[2, 37, 16]; k: f32[2, 16, 192]; v: f32[2, 192, 6]; l: i32[2, 37, 1]; m: f32[37, 192]; }"
    "consts { low: f32[] @scalar(-3e38); c: i32[] @scalar(20); w: i32[] @scalar(50); i: i32[192] @values([" ATTENTION_192
    "]); }"
    "nodes { e = mul(l, c); s = matmul(q, k); a = add(s, m); d = sub(e, w); g = lesser(i, e); h = greaterOrEqual(i, d);"
    "  j = logicalAnd(g, h); b = where(j, a, low); p = softmax(b, 2); y = matmul(p, v); } outputs { y; }",
    "inputs { q: f32[2, 2, 3, 16]; k: f32[2, 2, 192, 16]; v: f32[2, 2, 192, 20]; l: i64[2, 1, 1, 1]; }"
    "consts { low: f32[] @scalar(-1e38); zero: f32[] @scalar(0); c: i64[] @scalar(40); o: i64[] @scalar(100);"
    "  w: i64[] @scalar(30); i: i64[192] @values([" ATTENTION_192 "]); }"
    "nodes { x = mul(l, c); e = add(x, o); d = sub(e, w); t = transpose(k, permutation=[0, 1, 3, 2]); s = matmul(q, t);"
    "  r = reshape(s, [2, 6, 1, 192]); f = greater(i, e); g = lesserOrEqual(i, d); h = logicalOr(f, g);"
    "  m = where(h, low, zero); b = add(r, m); p = softmax(b, 3); z = reshape(p, [2, 2, 3, 192]); y = matmul(z, v); }"
    "outputs { y; }",
};
enum { BOUNDED_ATTENTION_BODIES = sizeof bounded_attention_bodies / sizeof *bounded_attention_bodies };

/** Checks every step-th of these, from `first` on.  What is not finite is only in those without a bound, where no key is
 * skipped. */
static inline void attention_check_every(const struct target *t, int first, int step, kernel_runner run)
{
    for (int i = first; i < ATTENTION_BODIES; i += step)
        for (int nasty = 0; nasty < 2; nasty++)
            attention_check(attention_bodies[i], t, nasty, 0, run);
    for (int i = first; i < BOUNDED_ATTENTION_BODIES; i += step)
        for (int round = 0; round < 5; round++)
            attention_check(bounded_attention_bodies[i], t, false, 1, run);
}

/** Checks all of these. */
static inline void attention_check_all(const struct target *t, kernel_runner run)
{
    attention_check_every(t, 0, 1, run);
}
