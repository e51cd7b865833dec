/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attention over some of the keys only, on models made here, against plain loops in double: Attention of ONNX with
 * nonpad_kv_seqlen, and GroupQueryAttention in the domain com.microsoft with a window.  With one query keys that do not count
 * are not read, but for those beside one that does.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnx/net.h"
#include "support/close.h"

enum { I32 = 6, BATCH = 2, HEADS = 4, KV_HEADS = 2, SIZE = 16, KEYS = 192, LENGTH = 20, BLOCK = 64 };

static uint32_t state = 1;

/* Queries and results are [batch][head][query], or of GroupQueryAttention [batch][query][head]. */
static struct {
    float q[BATCH * HEADS * LENGTH * SIZE], k[BATCH][KV_HEADS][KEYS][SIZE], v[BATCH][KV_HEADS][KEYS][SIZE];
    float new_k[BATCH * LENGTH * KV_HEADS * SIZE], new_v[BATCH * LENGTH * KV_HEADS * SIZE];
    float y[BATCH * HEADS * LENGTH * SIZE];
} d;

static void fill(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)state * 0x1p-31f;
    }
}

/* Which keys a query sees: [first, end). */
struct range {
    int first, end;
};

/* Compares one row of the results with the sum over the keys that count.  There are none where it is NaN. */
static void check_row(const float *q, const float *y, int b, int h, struct range seen)
{
    double sum = 0, want[SIZE] = {0};

    for (int p = seen.first; p < seen.end; p++) {
        double score = 0;

        for (int i = 0; i < SIZE; i++)
            score += (double)q[i] * (double)d.k[b][h / (HEADS / KV_HEADS)][p][i];
        sum += exp(score / sqrt(SIZE));
        for (int i = 0; i < SIZE; i++)
            want[i] += exp(score / sqrt(SIZE)) * (double)d.v[b][h / (HEADS / KV_HEADS)][p][i];
    }
    for (int i = 0; i < SIZE; i++) {
        if (seen.first < seen.end)
            assert_close(y[i], want[i] / sum, 1e-5);
        else
            assert_true(isnan(y[i]));
    }
}

/* Fills keys and values with NaN that no block of 64 keys has together with one that counts. */
static void poison(int b, struct range seen)
{
    for (int h = 0; h < KV_HEADS; h++)
        for (int p = 0; p < KEYS; p++)
            for (int i = 0; i < SIZE && (p + BLOCK <= seen.first || p >= seen.end + BLOCK); i++)
                d.k[b][h][p][i] = d.v[b][h][p][i] = NAN;
}

static struct net *begin(int64_t version)
{
    struct net *t = malloc(sizeof *t);

    assert_non_null(t);
    start(t, version);
    fill(d.q, sizeof d.q / sizeof *d.q);
    fill(d.k[0][0][0], sizeof d.k / sizeof *d.q);
    fill(d.v[0][0][0], sizeof d.v / sizeof *d.q);
    fill(d.new_k, sizeof d.new_k / sizeof *d.q);
    fill(d.new_v, sizeof d.new_v / sizeof *d.q);
    return t;
}

static void end(struct net *t)
{
    free_net(t);
    free(t);
}

/* ---- Attention ---- */

static void attend_unpadded(int length, int64_t first, int64_t second, bool causal)
{
    struct net *t = begin(24);
    int64_t unpadded[BATCH] = {first, second};
    Onnx__NodeProto *n;
    char dims[32];

    snprintf(dims, sizeof dims, "%d %d %d %d", BATCH, HEADS, length, SIZE);
    input(t, "q", F32, dims);
    input(t, "k", F32, "2 2 192 16");
    input(t, "v", F32, "2 2 192 16");
    input(t, "unpadded", I64, "2");
    n = node(t, "Attention", "q k v - - - unpadded", "y");
    attribute_int(t, n, "is_causal", causal);
    output(t, "y");
    for (int b = 0; b < BATCH && length == 1 && !causal; b++)
        if (unpadded[b] > 0) /* a row without keys is NaN in any case */
            poison(b, (struct range){0, (int)unpadded[b]});
    run(t, (void *[]){d.q, d.k, d.v, unpadded}, (void *[]){d.y},
        (size_t[]){(size_t)(BATCH * HEADS * length * SIZE) * sizeof(float)});
    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++)
            for (int s = 0; s < length; s++) {
                const int row = ((b * HEADS + h) * length + s) * SIZE;
                struct range seen = {0, (int)unpadded[b]};

                if (causal && s < seen.end)
                    seen.end = s + 1;
                check_row(d.q + row, d.y + row, b, h, seen);
            }
    end(t);
}

static void padding_does_not_count(void **unused)
{
    (void)unused;
    for (int length = 1; length <= LENGTH; length += LENGTH - 1) {
        attend_unpadded(length, 1, 0, false);
        attend_unpadded(length, 70, 128, false);
        attend_unpadded(length, 192, 64, false);
        attend_unpadded(length, 100, 7, true);
    }
}

/* ---- GroupQueryAttention ---- */

/* Attends from the positions up to last[b], of which the caches hold those before, to no more than `window` keys. */
static void attend_in_window(int length, int first, int second, int window)
{
    struct net *t = begin(17);
    int32_t last[BATCH] = {first, second};
    const int token = KV_HEADS * SIZE;
    Onnx__NodeProto *n;
    char dims[32];

    snprintf(dims, sizeof dims, "%d %d %d", BATCH, length, HEADS * SIZE);
    input(t, "q", F32, dims);
    snprintf(dims, sizeof dims, "%d %d %d", BATCH, length, token);
    input(t, "k", F32, dims);
    input(t, "v", F32, dims);
    input(t, "pk", F32, "2 2 192 16");
    input(t, "pv", F32, "2 2 192 16");
    input(t, "last", I32, "2");
    initializer(t, tensor(t, "total", I32, 0, NULL, &(int32_t){KEYS}, 4));
    n = microsoft(t, "GroupQueryAttention", "q k v pk pv last total", "y");
    attribute_int(t, n, "num_heads", HEADS);
    attribute_int(t, n, "kv_num_heads", KV_HEADS);
    attribute_int(t, n, "local_window_size", window);
    output(t, "y");
    for (int b = 0; b < BATCH && length == 1; b++)
        poison(b, (struct range){last[b] + 1 > window ? last[b] + 1 - window : 0, last[b] + 1});
    run(t, (void *[]){d.q, d.new_k, d.new_v, d.k, d.v, last}, (void *[]){d.y},
        (size_t[]){(size_t)(BATCH * length * HEADS * SIZE) * sizeof(float)});
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < length; s++)
            for (int h = 0; h < KV_HEADS; h++) {
                const int from = (b * length + s) * token + h * SIZE, position = last[b] + 1 - length + s;

                memcpy(d.k[b][h][position], d.new_k + from, sizeof d.k[b][h][position]);
                memcpy(d.v[b][h][position], d.new_v + from, sizeof d.v[b][h][position]);
            }
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < length; s++)
            for (int h = 0; h < HEADS; h++) {
                const int row = ((b * length + s) * HEADS + h) * SIZE, position = last[b] + 1 - length + s;

                check_row(d.q + row, d.y + row, b, h,
                          (struct range){position + 1 > window ? position + 1 - window : 0, position + 1});
            }
    end(t);
}

static void keys_before_a_window_do_not_count(void **unused)
{
    (void)unused;
    attend_in_window(1, 0, 191, 20);
    attend_in_window(1, 150, 127, 1);
    attend_in_window(1, 63, 64, 200);
    attend_in_window(LENGTH, 60, 191, 20);
    attend_in_window(LENGTH, 170, 19, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_does_not_count),
        cmocka_unit_test(keys_before_a_window_do_not_count),
    };
    return cmocka_run_group_tests(tests, create_context, release_context);
}
