/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every way in which a graph may bound the valid keys of an attention: the bounds found, results, and keys that are not read.
 */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "support/attention.h"

enum { BOUNDS_KEYS = 192, BOUNDS_BLOCK = 64, BOUNDS_WINDOW = 40, BOUNDS_WIDTH = 16 };

/** Nodes that make b of the scores s, so that keys i smaller than e are valid, and not smaller than f if there is a
 * window: f is e - 40.  d is e - 1 and h is f - 1. */
struct attention_spelling {
    const char *nodes;
    bool from, to; /* what bounds them */
};

static const struct attention_spelling attention_spellings[] = {
    {"g = lesser(i, e); b = where(g, s, low);", false, true},
    {"g = lesser(i, e); n = logicalNot(g); b = where(n, low, s);", false, true},
    {"g = greaterOrEqual(i, e); b = where(g, low, s);", false, true},
    {"g = greaterOrEqual(i, e); n = logicalNot(g); b = where(n, s, low);", false, true},
    {"g = greater(e, i); b = where(g, s, low);", false, true},
    {"g = lesserOrEqual(e, i); b = where(g, low, s);", false, true},
    {"g = lesserOrEqual(i, d); b = where(g, s, low);", false, true},
    {"g = greater(i, d); b = where(g, low, s);", false, true},
    {"g = greaterOrEqual(d, i); b = where(g, s, low);", false, true},
    {"g = lesser(d, i); n = logicalNot(g); o = logicalNot(n); b = where(o, low, s);", false, true},
    /* addends */
    {"g = lesser(i, e); m = where(g, zero, low); b = add(s, m);", false, true},
    {"g = greater(i, d); m = where(g, low, zero); b = add(m, s);", false, true},
    /* windows: by one condition, by two masks; keys from one on */
    {"g = lesser(i, e); j = greaterOrEqual(i, f); n = logicalAnd(g, j); b = where(n, s, low);", true, true},
    {"g = greater(i, d); n = logicalNot(g); j = greater(i, h); o = logicalAnd(n, j); b = where(o, s, low);", true, true},
    {"g = lesser(i, f); j = greater(i, d); o = logicalOr(g, j); b = where(o, low, s);", true, true},
    {"g = lesser(i, f); j = lesserOrEqual(e, i); o = logicalOr(g, j); n = logicalNot(o); m = where(n, zero, low);"
     "  b = add(s, m);",
     true, true},
    {"g = lesser(i, e); r = where(g, s, low); j = lesserOrEqual(i, h); b = where(j, low, r);", true, true},
    {"g = lesser(i, e); j = greater(f, i); r = where(j, low, s); m = where(g, zero, low); b = add(r, m);", true, true},
    {"j = lesser(i, f); b = where(j, low, s);", true, false},
    /* another condition next to the comparison, where rows without keys are always NaN */
    {"g = lesser(i, e); n = logicalAnd(g, u); b = where(n, s, infinite);", false, true},
    {"g = lesser(i, e); r = where(u, s, infinite); b = where(g, r, infinite);", false, true},
};
enum { ATTENTION_SPELLINGS = sizeof attention_spellings / sizeof *attention_spellings };

/** Those of which nothing may be skipped, since a row may have no key, more keys are valid, the others are not made small
 * enough, or other nodes follow. */
static const char *const attention_unbounded[] = {
    "g = lesser(i, e); n = logicalAnd(g, u); b = where(n, s, low);",
    "g = lesser(i, e); r = where(u, s, low); b = where(g, r, infinite);",
    "g = lesser(i, e); r = where(u, s, infinite); b = where(g, r, low);",
    "g = lesser(i, e); n = logicalOr(g, u); b = where(n, s, infinite);",
    "g = lesser(i, f); j = greater(i, d); n = logicalAnd(g, j); b = where(n, low, s);",
    "g = lesser(i, e); j = lesser(i, f); n = logicalXor(g, j); b = where(n, s, low);",
    "g = equal(i, e); b = where(g, low, s);",
    "g = lesser(i, e); b = where(g, s, minus);",
    "g = lesser(i, e); m = where(g, zero, minus); b = add(s, m);",
    "g = lesser(i, e); m = where(g, one, low); b = add(s, m);",
    "g = lesser(i, e); m = where(g, zero, low); b = sub(s, m);",
    "g = lesser(i, e); r = where(g, s, low); b = tanh(r);",
    "z = add(i, e); g = lesser(i, z); b = where(g, s, low);",
};
enum { ATTENTION_UNBOUNDED = sizeof attention_unbounded / sizeof *attention_unbounded };

/** Writes an attention with such nodes, in which e is a number that another kernel computes. */
static inline void attention_spell(char *body, size_t size, const char *nodes, const char *type, int rows, int end)
{
    snprintf(body, size,
             "inputs { q: f32[%d, 16]; k: f32[192, 16]; v: f32[192, 16]; l: %s[1]; u: u8[192]; }"
             "consts { low: f32[] @scalar(-1e38); infinite: f32[] @scalar(-Infinity); minus: f32[] @scalar(-10000);"
             "  zero: f32[] @scalar(0); one: f32[] @scalar(1); nil: %s[] @scalar(0); next: %s[] @scalar(1);"
             "  w: %s[] @scalar(%d); c: %s[] @scalar(%d); i: %s[192] @values([" ATTENTION_192 "]); }"
             "nodes { x = mul(l, nil); e = add(x, c); d = sub(e, next); f = sub(e, w); h = sub(f, next);"
             "  t = transpose(k); s = matmul(q, t); %s p = softmax(b, 1); y = matmul(p, v); } outputs { y; }",
             rows, type, type, type, type, BOUNDS_WINDOW, type, end, type, nodes);
}

/* Returns what the pass finds of an attention's bound: one bit if keys are bounded from above, another if from below. */
static inline uint32_t attention_sides(const char *body)
{
    struct graph *g = parse_body(body);
    struct attention a;
    uint32_t sides = 0;

    graph_for_each (g, n)
        if (n->op == OP_SOFTMAX) {
            assert_true(attention_find(n, &a));
            for (uint32_t i = 0; i < a.bound.edge_count; i++)
                sides |= a.bound.edges[i].is_first ? 2 : 1;
        }
    graph_free(g);
    return sides;
}

/** Checks that every spelling is found, and that others are not. */
static inline void attention_check_spellings_found(void)
{
    char body[4096];

    for (int i = 0; i < ATTENTION_SPELLINGS; i++) {
        const struct attention_spelling *s = &attention_spellings[i];

        attention_spell(body, sizeof body, s->nodes, "i32", 3, 100);
        if (attention_sides(body) != (s->from ? 2u : 0) + (s->to ? 1 : 0))
            fail_msg("not found as it is: %s", s->nodes);
    }
    for (int i = 0; i < ATTENTION_UNBOUNDED; i++) {
        attention_spell(body, sizeof body, attention_unbounded[i], "i32", 3, 100);
        if (attention_sides(body))
            fail_msg("found, though it is none: %s", attention_unbounded[i]);
    }
}

/** Checks results of every step-th spelling where no key counts, one, some, all but some, and all. */
static inline void attention_check_spellings(const struct target *t, int first, int step, kernel_runner run)
{
    static const int ends[] = {0, 1, 40, 100, 191, 192, 232, 300};
    char body[4096];

    for (int i = first; i < ATTENTION_SPELLINGS; i += step)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
            for (int rows = 3; rows <= 40; rows += 37) {
                attention_spell(body, sizeof body, attention_spellings[i].nodes, e % 2 ? "i32" : "i64", rows, ends[e]);
                attention_check(body, t, false, ATTENTION_SOME_OTHERS, run);
            }
}

enum { BOUNDS_BYTES = BOUNDS_KEYS * BOUNDS_WIDTH * sizeof(float), BOUNDS_BLOCK_BYTES = BOUNDS_BYTES / 3 };

/* Returns keys or values, of which those beyond [from, to) are NaN.  If it is `closed`, a process that reads these is killed,
 * where a block of keys is a page of memory. */
static inline float *attention_poisoned(int from, int to, bool closed)
{
    float *x = mmap(NULL, BOUNDS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(x != MAP_FAILED);
    for (int e = 0; e < BOUNDS_KEYS * BOUNDS_WIDTH; e++)
        x[e] = e < from * BOUNDS_WIDTH || e >= to * BOUNDS_WIDTH ? NAN : (float)random_in_range(-4, 4);
    for (int key = 0; closed && sysconf(_SC_PAGESIZE) == BOUNDS_BLOCK_BYTES && key < BOUNDS_KEYS; key += BOUNDS_BLOCK)
        if (key < from || key >= to)
            assert_int_equal(mprotect(x + key * BOUNDS_WIDTH, BOUNDS_BLOCK_BYTES, PROT_NONE), 0);
    return x;
}

/** Computes an attention in which `end` keys count, or those of a window before that, by `run`, which reads the inputs where
 * they lie if it is `closed`: what is in blocks without one of them must not be read. */
static inline void attention_check_unread(const struct attention_spelling *s, int rows, int end, bool closed,
                                          const struct target *t, kernel_runner run)
{
    const struct pass_options o = {.target = t, .debug = &prefer_attention};
    const int first = s->from && end > BOUNDS_WINDOW ? (end - BOUNDS_WINDOW) / BOUNDS_BLOCK * BOUNDS_BLOCK : 0;
    const int last = s->to ? (end + BOUNDS_BLOCK - 1) / BOUNDS_BLOCK * BOUNDS_BLOCK : BOUNDS_KEYS;
    uint32_t kernels = 0;
    char body[4096];

    attention_spell(body, sizeof body, s->nodes, "i32", rows, end);
    struct graph *g = parse_body(body);
    pass_drop_dead(g, &o);
    assert_true(pass_fuse_attention(g, &o));
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    void **buffers = calloc(g->value_count, sizeof(void *));
    for (uint32_t i = 0; i < g->input_count; i++)
        buffers[g->inputs[i]->index] =
            i == 1 || i == 2 ? attention_poisoned(first, last, closed) : kernels_random_tensor(&g->inputs[i]->type, false);
    memset(buffers[g->inputs[4]->index], 1, BOUNDS_KEYS);
    for (const struct cluster *c = g->first_cluster; c; c = c->next)
        assert_true(kernels_run_cluster(g, c, t, buffers, run, &kernels));
    for (int e = 0; e < rows * BOUNDS_WIDTH; e++)
        if (!isfinite(((float *)buffers[g->outputs[0].value->index])[e]))
            fail_msg("%d rows, %d keys: what does not count was read: %s", rows, end, s->nodes);
    for (uint32_t i = 1; i <= 2; i++) {
        munmap(buffers[g->inputs[i]->index], BOUNDS_BYTES);
        buffers[g->inputs[i]->index] = NULL;
    }
    for (uint32_t i = 0; i < g->value_count; i++)
        free(buffers[i]);
    free(buffers);
    graph_free(g);
}

/** Checks that of every step-th spelling, with few rows and with many, by a `run` that reads inputs in place. */
static inline void attention_check_all_unread(const struct target *t, int first, int step, kernel_runner run)
{
    static const int ends[] = {1, 71, 110, 170, 192};

    for (int i = first; i < ATTENTION_SPELLINGS; i += step)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
            for (int rows = 3; rows <= 40; rows += 37)
                attention_check_unread(&attention_spellings[i], rows, ends[e], true, t, run);
}
