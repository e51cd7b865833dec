/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Attention in float16, on models made here, against plain loops in double: Attention, and in the domain com.microsoft
 * MultiHeadAttention and Attention.  Results are rounded once: half a unit in the last place, and no more.
 */
#include <math.h>

#include "ir/graph/ir.h"
#include "readers/onnx/net.h"
#include "support/close.h"
#include "support/random.h"

enum { I32 = 6, F16 = 10, BATCH = 2, HEADS = 3, SIZE = 8, LENGTH = 5, PAST = 4, MOST = 2048 };

static int next(int below)
{
    return (int)random_below((uint32_t)below);
}

/* Fills x with numbers of float16 from -range to range, in steps of range / steps, and h with their bits. */
static void fill(float *x, uint16_t *h, float range, int steps)
{
    for (int i = 0; i < MOST; i++) {
        h[i] = f32_to_f16(range * (float)(next(2 * steps + 1) - steps) / (float)steps);
        x[i] = f16_to_f32(h[i]);
    }
}

static struct {
    float q[MOST], k[MOST], v[MOST], past_k[MOST], past_v[MOST], bias[MOST], x[MOST], w[MOST];
    uint16_t q16[MOST], k16[MOST], v16[MOST], past_k16[MOST], past_v16[MOST], bias16[MOST], x16[MOST], w16[MOST], y16[MOST];
    int32_t seen[MOST];
} d;

/* Holds queries, keys and values as numbers of all heads, and addends of the scores. */
static struct {
    int keys;
    double q[BATCH][HEADS][LENGTH][SIZE], k[BATCH][HEADS][LENGTH + PAST][SIZE], v[BATCH][HEADS][LENGTH + PAST][SIZE];
    double bias[BATCH][LENGTH][LENGTH + PAST];
} r;

static void check_attention(bool heads_first)
{
    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++)
            for (int s = 0; s < LENGTH; s++) {
                double sum = 0, want[SIZE] = {0};
                for (int p = 0; p < r.keys; p++) {
                    double score = 0, weight;
                    for (int i = 0; i < SIZE; i++)
                        score += r.q[b][h][s][i] * r.k[b][h][p][i];
                    weight = exp(score / sqrt(SIZE) + r.bias[b][s][p]);
                    sum += weight;
                    for (int i = 0; i < SIZE; i++)
                        want[i] += weight * r.v[b][h][p][i];
                }
                for (int i = 0; i < SIZE; i++) {
                    const int row = heads_first ? (b * HEADS + h) * LENGTH + s : (b * LENGTH + s) * HEADS + h;
                    want[i] /= sum;
                    assert_close(f16_to_f32(d.y16[row * SIZE + i]), want[i], fabs(want[i]) * 0x1p-11 + 1e-5);
                }
            }
}

static struct net *begin(int64_t version)
{
    start(t, version);
    memset(&r, 0, sizeof r);
    fill(d.q, d.q16, 3, 1000);
    fill(d.k, d.k16, 1, 1000);
    fill(d.v, d.v16, 1, 1000);
    fill(d.past_k, d.past_k16, 1, 1000);
    fill(d.past_v, d.past_v16, 1, 1000);
    fill(d.bias, d.bias16, 2, 1000);
    fill(d.x, d.x16, 1, 4);
    fill(d.w, d.w16, 1, 1);
    for (int i = 0; i < MOST; i++)
        d.seen[i] = i % 4 != 1;
    return t;
}

static void end(struct net *t, void *const *buffers, bool heads_first)
{
    run(t, buffers, (void *[]){d.y16}, (size_t[]){BATCH * HEADS * LENGTH * SIZE * sizeof(uint16_t)});
    check_attention(heads_first);
}

static void attention_of_heads(bool causal)
{
    struct net *t = begin(23);

    inputs_of(t, F16, "q 2 3 5 8; k 2 3 5 8; v 2 3 5 8; bias 5 9; past_k 2 3 4 8; past_v 2 3 4 8");
    attribute_int(t, node(t, "Attention", "q k v bias past_k past_v", "y"), "is_causal", causal);
    r.keys = LENGTH + PAST;
    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++)
            for (int i = 0; i < SIZE; i++) {
                for (int s = 0; s < LENGTH; s++) {
                    const int at = ((b * HEADS + h) * LENGTH + s) * SIZE + i;
                    r.q[b][h][s][i] = (double)d.q[at];
                    r.k[b][h][PAST + s][i] = (double)d.k[at];
                    r.v[b][h][PAST + s][i] = (double)d.v[at];
                }
                for (int p = 0; p < PAST; p++) {
                    const int at = ((b * HEADS + h) * PAST + p) * SIZE + i;
                    r.k[b][h][p][i] = (double)d.past_k[at];
                    r.v[b][h][p][i] = (double)d.past_v[at];
                }
            }
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < LENGTH; s++)
            for (int p = 0; p < r.keys; p++)
                r.bias[b][s][p] = causal && p > PAST + s ? -(double)INFINITY : (double)d.bias[s * r.keys + p];
    end(t, (void *[]){d.q16, d.k16, d.v16, d.bias16, d.past_k16, d.past_v16}, true);
}

static void rows_of_heads(bool scores)
{
    struct net *t = begin(17);

    inputs_of(t, F16, "q 2 5 24; k 2 5 24; v 2 5 24");
    input(t, "mask", I32, "2 5");
    if (scores)
        input(t, "bias", F16, "1 3 5 5");
    Onnx__NodeProto *n = microsoft(t, "MultiHeadAttention", scores ? "q k v - mask bias" : "q k v - mask", "y");
    attribute_int(t, n, "num_heads", HEADS);
    attribute_float(t, n, "mask_filter_value", -2); /* so that masked keys still count */
    r.keys = LENGTH;
    memcpy(d.bias16 + LENGTH * LENGTH, d.bias16, LENGTH * LENGTH * sizeof *d.bias16); /* the same for all heads */
    memcpy(d.bias16 + 2 * LENGTH * LENGTH, d.bias16, LENGTH * LENGTH * sizeof *d.bias16);
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < LENGTH; s++) {
            for (int h = 0; h < HEADS; h++)
                for (int i = 0; i < SIZE; i++) {
                    const int at = ((b * LENGTH + s) * HEADS + h) * SIZE + i;
                    r.q[b][h][s][i] = (double)d.q[at];
                    r.k[b][h][s][i] = (double)d.k[at];
                    r.v[b][h][s][i] = (double)d.v[at];
                }
            for (int p = 0; p < LENGTH; p++)
                r.bias[b][s][p] = (d.seen[b * LENGTH + p] ? 0 : -2) + (scores ? (double)d.bias[s * LENGTH + p] : 0);
        }
    end(t, (void *[]){d.q16, d.k16, d.v16, d.seen, d.bias16}, false);
}

/* The products with the weights are few multiples of 1/4, which float16 holds. */
static void packed_weights(void)
{
    enum { ROW = 7, COLUMNS = 3 * HEADS * SIZE };
    struct net *t = begin(17);

    input(t, "x", F16, "2 5 7");
    initializer(t, tensor(t, "w", F16, 2, (int64_t[]){ROW, COLUMNS}, d.w16, ROW * COLUMNS * sizeof *d.w16));
    Onnx__NodeProto *n = nodes_in(t, &t->graph, "y = ms:Attention x w, unidirectional 1");
    attribute_int(t, n, "num_heads", HEADS);
    r.keys = LENGTH;
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < LENGTH; s++) {
            for (int h = 0; h < HEADS; h++)
                for (int i = 0; i < SIZE; i++)
                    for (int k = 0; k < ROW; k++) {
                        const double x = (double)d.x[(b * LENGTH + s) * ROW + k];
                        const float *w = d.w + k * COLUMNS + h * SIZE + i;
                        r.q[b][h][s][i] += x * (double)w[0];
                        r.k[b][h][s][i] += x * (double)w[HEADS * SIZE];
                        r.v[b][h][s][i] += x * (double)w[2 * HEADS * SIZE];
                    }
            for (int p = s + 1; p < LENGTH; p++)
                r.bias[b][s][p] = -(double)INFINITY;
        }
    end(t, (void *[]){d.x16}, false);
}

TEST(results_are_rounded_once)
{
    attention_of_heads(false);
    attention_of_heads(true);
    rows_of_heads(false);
    rows_of_heads(true);
    packed_weights();
}

TEST_GROUP(create_context, release_context)
