/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attention over some of the keys only, on models made here, against plain loops in double: Attention of ONNX with
 * nonpad_kv_seqlen, windows and masks, in the domain com.microsoft GroupQueryAttention with a window, and biases that hide all
 * keys.  With one query keys that do not count are not read, but for those next to one that does.
 */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/close.h"
#include "support/random.h"

enum { I32 = 6, BATCH = 2, HEADS = 4, KV_HEADS = 2, SIZE = 16, KEYS = 192, LENGTH = 20, BLOCK = 64 };

/* Queries and results are [batch][head][query], or of GroupQueryAttention [batch][query][head]. */
static struct {
    float q[BATCH * HEADS * LENGTH * SIZE], k[BATCH][KV_HEADS][KEYS][SIZE], v[BATCH][KV_HEADS][KEYS][SIZE];
    float new_k[BATCH * LENGTH * KV_HEADS * SIZE], new_v[BATCH * LENGTH * KV_HEADS * SIZE];
    float y[BATCH * HEADS * LENGTH * SIZE];
} d;

/* Which keys a query sees: [first, end). */
struct range {
    int first, end;
};

/* Compares one row of the results with the sum over the keys that count.  A row without any is 0. */
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
            assert_true(y[i] == 0);
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
    start(t, version);
    random_fill(d.q, sizeof d.q / sizeof *d.q);
    random_fill(d.k[0][0][0], sizeof d.k / sizeof *d.q);
    random_fill(d.v[0][0][0], sizeof d.v / sizeof *d.q);
    random_fill(d.new_k, sizeof d.new_k / sizeof *d.q);
    random_fill(d.new_v, sizeof d.new_v / sizeof *d.q);
    return t;
}

/* ---- Attention ---- */

/* Attends with lengths to at most `left` keys before a query's position and `right` after it, -1: any number. */
static void attend_unpadded(int length, int64_t first, int64_t second, int left, int right)
{
    struct net *t = begin(25);
    int64_t unpadded[BATCH] = {first, second};
    char dims[32];

    snprintf(dims, sizeof dims, "%d %d %d %d", BATCH, HEADS, length, SIZE);
    input(t, "q", F32, dims);
    inputs_of(t, F32, "k 2 2 192 16; v 2 2 192 16");
    input(t, "unpadded", I64, "2");
    Onnx__NodeProto *n = node(t, "Attention", "q k v - - - unpadded", "y");
    attribute_int(t, n, "left_window_size", left);
    attribute_int(t, n, right ? "right_window_size" : "is_causal", right ? right : 1);
    for (int b = 0; b < BATCH && length == 1 && left < 0; b++)
        poison(b, (struct range){0, (int)unpadded[b]});
    run(t, (void *[]){d.q, d.k, d.v, unpadded}, (void *[]){d.y},
        (size_t[]){(size_t)(BATCH * HEADS * length * SIZE) * sizeof(float)});
    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++)
            for (int s = 0; s < length; s++) {
                const int row = ((b * HEADS + h) * length + s) * SIZE, position = (int)unpadded[b] - length + s;
                struct range seen = {0, (int)unpadded[b]};

                if (left >= 0 && position - left > 0)
                    seen.first = position - left;
                if (right >= 0 && position + right < seen.end)
                    seen.end = position + right + 1;
                check_row(d.q + row, d.y + row, b, h, seen);
            }
}

TEST(padding_does_not_count)
{
    for (int length = 1; length <= LENGTH; length += LENGTH - 1) {
        attend_unpadded(length, 1, 0, -1, -1);
        attend_unpadded(length, 70, 128, -1, -1);
        attend_unpadded(length, 192, 64, -1, -1);
        attend_unpadded(length, 100, 7, -1, 0);
        attend_unpadded(length, 0, 192, -1, 0);
        attend_unpadded(length, 100, 7, 10, 0);
        attend_unpadded(length, 12, 150, 30, 2);
        attend_unpadded(length, 8, 130, -1, 5);
    }
}

enum { FEW = 8 };

/** Describes an Attention of one head and up to 8 queries and keys, without lengths. */
struct small {
    int64_t version;
    int past, queries, keys, left, right; /* keys: the past included */
    int mask;                             /* 0, BOOL or F32 */
    bool row;                             /* the mask hides all of a row, else one key in front of which all are */
};

/* Computes it, and compares results and weights with the definition. */
static void check_small(const struct small *c)
{
    struct net *t = begin(c->version);
    float added[FEW * FEW] = {0}, weights[FEW * FEW];
    uint8_t shown[FEW * FEW];
    void *inputs[6] = {d.q, d.new_k, d.new_v};
    int count = 3;
    char dims[32];

    for (int i = 0; i < c->queries * c->keys; i++) {
        shown[i] = !(c->mask && (c->row ? i / c->keys == 1 : i % c->keys == 0));
        added[i] = shown[i] ? 0.25f * (float)(i % 3) : -INFINITY;
    }
    snprintf(dims, sizeof dims, "1 1 %d 1", c->queries);
    input(t, "q", F32, dims);
    snprintf(dims, sizeof dims, "1 1 %d 1", c->keys - c->past);
    input(t, "k", F32, dims);
    input(t, "v", F32, dims);
    snprintf(dims, sizeof dims, "%d %d", c->queries, c->keys);
    if (c->mask) {
        input(t, "mask", c->mask, dims);
        inputs[count++] = c->mask == BOOL ? (void *)shown : (void *)added;
    }
    if (c->past) {
        snprintf(dims, sizeof dims, "1 1 %d 1", c->past);
        input(t, "pk", F32, dims);
        input(t, "pv", F32, dims);
        inputs[count] = d.k;
        inputs[count + 1] = d.v;
    }
    Onnx__NodeProto *n = node(t, "Attention",
                              c->past   ? (c->mask ? "q k v mask pk pv" : "q k v - pk pv")
                              : c->mask ? "q k v mask"
                                        : "q k v",
                              "y - - weights");
    attribute_int(t, n, "qk_matmul_output_mode", 3);
    if (c->left >= 0)
        attribute_int(t, n, "left_window_size", c->left);
    if (c->right >= 0)
        attribute_int(t, n, c->right ? "right_window_size" : "is_causal", c->right ? c->right : 1);
    output(t, "y weights");
    run(t, inputs, (void *[]){d.y, weights},
        (size_t[]){(size_t)c->queries * sizeof(float), (size_t)(c->queries * c->keys) * sizeof(float)});
    for (int i = 0; i < c->queries; i++) {
        double want[FEW] = {0}, sum = 0, y = 0;

        for (int j = 0; j < c->keys; j++) {
            const int position = c->past + i;
            const double key = (double)(j < c->past ? d.k[0][0][0][j] : d.new_k[j - c->past]);
            const double bias = c->mask == F32 ? (double)added[i * c->keys + j] : 0;

            if (shown[i * c->keys + j] && (c->left < 0 || j >= position - c->left) &&
                (c->right < 0 || j <= position + c->right))
                want[j] = exp((double)d.q[i] * key + bias);
            sum += want[j];
        }
        for (int j = 0; j < c->keys; j++) {
            want[j] = sum > 0 ? want[j] / sum : 0;
            assert_close(weights[i * c->keys + j], want[j], 1e-6);
            y += want[j] * (double)(j < c->past ? d.v[0][0][0][j] : d.new_v[j - c->past]);
        }
        assert_close(d.y[i], y, 1e-6);
    }
}

TEST(queries_without_keys_give_zero)
{
    static const struct small cases[] = {
        {23, 0, 3, 3, -1, -1, BOOL, true}, {23, 0, 3, 3, -1, -1, F32, true}, {24, 0, 3, 3, -1, 0, BOOL, false},
        {24, 0, 3, 3, -1, 0, F32, false},  {24, 2, 2, 5, -1, 0, BOOL, true}, {25, 0, 4, 4, 1, -1, 0, false},
        {25, 0, 4, 4, 2, 1, BOOL, true},   {25, 5, 2, 7, 1, 0, 0, false},    {25, 5, 2, 7, 0, -1, F32, true},
        {25, 0, 7, 3, 1, -1, 0, false},    {25, 0, 7, 3, 0, 2, BOOL, false}, {25, 4, 3, 5, 0, 0, 0, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_small(&cases[i]);
}

/* From operator set 24 on a mask is as long as it is, and one of one key hides all others; before it broadcasts. */
TEST(masks_of_one_key_are_padded)
{
    for (int64_t version = 23; version <= 24; version++) {
        struct net *t = begin(version);
        float q[1] = {0}, k[2] = {0}, v[2] = {1, 3}, mask[1] = {0}, y[1];

        inputs_of(t, F32, "q 1 1 1 1; k 1 1 2 1; v 1 1 2 1; mask 1 1");
        node(t, "Attention", "q k v mask", "y");
        run(t, (void *[]){q, k, v, mask}, (void *[]){y}, (size_t[]){sizeof y});
        assert_true(y[0] == (version == 23 ? 2 : 1));
    }
}

TEST(a_window_below_minus_one_is_refused)
{
    net(25, "q 1 1 1 1", "y = Attention q q q, left_window_size -2");
    refused(t, NULL, "left_window_size is -2; it takes a number of keys, or -1 for all");
}

/* ---- GroupQueryAttention ---- */

/* Attends from the positions up to last[b], of which the caches hold those before, to no more than `window` keys. */
static void attend_in_window(int length, int first, int second, int window)
{
    struct net *t = begin(17);
    int32_t last[BATCH] = {first, second};
    const int token = KV_HEADS * SIZE;
    char dims[32];

    snprintf(dims, sizeof dims, "%d %d %d", BATCH, length, HEADS * SIZE);
    input(t, "q", F32, dims);
    snprintf(dims, sizeof dims, "%d %d %d", BATCH, length, token);
    input(t, "k", F32, dims);
    input(t, "v", F32, dims);
    inputs_of(t, F32, "pk 2 2 192 16; pv 2 2 192 16");
    input(t, "last", I32, "2");
    initializer(t, tensor(t, "total", I32, 0, NULL, &(int32_t){KEYS}, 4));
    Onnx__NodeProto *n = microsoft(t, "GroupQueryAttention", "q k v pk pv last total", "y");
    attribute_int(t, n, "num_heads", HEADS);
    attribute_int(t, n, "kv_num_heads", KV_HEADS);
    attribute_int(t, n, "local_window_size", window);
    for (int b = 0; b < BATCH && length == 1; b++)
        poison(b, (struct range){last[b] + 1 > window ? last[b] + 1 - window : 0, last[b] + 1});
    run(t, (void *[]){d.q, d.new_k, d.new_v, d.k, d.v, last}, (void *[]){d.y},
        (size_t[]){(size_t)(BATCH * length * HEADS * SIZE) * sizeof(float)});
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < length; s++)
            for (int h = 0; h < KV_HEADS; h++) {
                const int from = (b * length + s) * token + h * SIZE;
                const int position = (last[b] + 1 > length ? last[b] + 1 - length : 0) + s;

                memcpy(d.k[b][h][position], d.new_k + from, sizeof d.k[b][h][position]);
                memcpy(d.v[b][h][position], d.new_v + from, sizeof d.v[b][h][position]);
            }
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < length; s++)
            for (int h = 0; h < HEADS; h++) {
                const int row = ((b * length + s) * HEADS + h) * SIZE;
                const int position = last[b] + 1 > length ? last[b] + 1 - length + s : s < last[b] ? s : last[b];

                check_row(d.q + row, d.y + row, b, h,
                          (struct range){position + 1 > window ? position + 1 - window : 0, position + 1});
            }
}

TEST(keys_before_a_window_do_not_count)
{
    attend_in_window(1, 0, 191, 20);
    attend_in_window(1, 150, 127, 1);
    attend_in_window(1, 63, 64, 200);
    attend_in_window(LENGTH, 60, 191, 20);
    attend_in_window(LENGTH, 170, 19, 64);
    attend_in_window(LENGTH, 9, 4, 64); /* of sequences that are shorter than the longest of a prompt, only their own */
    attend_in_window(1, 0, 100, 0);
}

/** Where the whole length is known, by either input, the caches grow to it; else it may come to exceed them at run time. */
TEST(caches_have_room_for_the_whole_length)
{
    static const int32_t last = 2, total = 3;
    float q[] = {1}, k[] = {3}, cache[] = {1, 2}, y;

    for (int known = 0; known < 3; known++) {
        net(17, "q 1 1 1; k 1 1 1; p 1 1 2 1", "y = ms:GroupQueryAttention q k k p p last total, num_heads 1, kv_num_heads 1");
        if (known < 2)
            input(t, "total", I32, "");
        else
            initializer(t, tensor(t, "total", I32, 0, NULL, &total, sizeof total));
        if (known != 1)
            input(t, "last", I32, "1");
        else
            initializer(t, tensor(t, "last", I32, 1, (int64_t[]){1}, &last, sizeof last));
        const void *a = known < 2 ? &total : &last, *b = &last;
        run(t, (void *[]){q, k, cache, (void *)a, (void *)b}, (void *[]){&y}, (size_t[]){sizeof y});
        const char *note = t->read.notes ? strstr(t->read.notes, "GroupQueryAttention [n_y]: total_sequence_length is known at "
                                                                 "run time only; past_key has room for 2 positions")
                                         : NULL;
        assert_true(known ? !note : note != NULL);
        if (known)
            assert_close(y, (1 * exp(1) + 2 * exp(2) + 3 * exp(3)) / (exp(1) + exp(2) + exp(3)), 1e-6);
        else
            assert_true(isnan(y));
    }
}

/* ---- biases ---- */

/* A row of the bias that is all -infinity hides all keys of a query. */
TEST(a_bias_that_hides_all_keys_gives_zero)
{
    static const char *const inputs[] = {"x x x - - bias", "x w b - - bias", "x x x - - last total - - - bias"};
    static const char *const types[] = {"MultiHeadAttention", "Attention", "GroupQueryAttention"};
    float bias[] = {0, 0, -INFINITY, -INFINITY}, y[4];

    for (size_t i = 0; i < 3; i++) {
        struct net *t = begin(17);
        int32_t last = 1;

        inputs_of(t, F32, "x 1 2 2; bias 1 1 2 2");
        if (i == 1) {
            inputs_of(t, F32, "w 2 6; b 6");
        }
        initializer(t, tensor(t, "last", I32, 1, (const int64_t[]){1}, &last, 4));
        initializer(t, tensor(t, "total", I32, 0, NULL, &(int32_t){2}, 4));
        Onnx__NodeProto *n = microsoft(t, types[i], inputs[i], "y");
        attribute_int(t, n, "num_heads", 1);
        if (i == 2)
            attribute_int(t, n, "kv_num_heads", 1);
        run(t, (void *[]){d.q, bias, d.k, d.v}, (void *[]){y}, (size_t[]){sizeof y});
        assert_true(y[0] != 0 && isfinite(y[0]) && y[2] == 0 && y[3] == 0);
    }
}

TEST_GROUP(create_context, release_context)
