/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operators of transformers in the domain com.microsoft, on models made here, against plain loops in double:
 * Attention, MultiHeadAttention, RotaryEmbedding, EmbedLayerNormalization and FusedMatMul.
 */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/close.h"
#include "support/random.h"

enum { I32 = 6, MOST = 1024, BATCH = 2, HEADS = 3, SIZE = 4, V_SIZE = 5, LENGTH = 3, WIDTH = HEADS * SIZE };

/* ---- MultiHeadAttention ---- */

enum padding { NO_PADDING, LENGTHS, KEYS, PAIRS };

struct attention_case {
    int fresh, past; /* keys that are an input, and before them */
    int room;        /* for more keys in a past that counts by its length; 0: the past is as long as it is */
    enum padding padding;
    bool bias, score_bias, causal, split; /* split: keys and values have heads already */
    float scale, filter;
};

static struct {
    float q[MOST], k[MOST], v[MOST], bias[MOST], scores[MOST], past_k[MOST], past_v[MOST], y[MOST], present[2][MOST];
    int32_t mask[MOST];
} d;

/* Returns how many keys a past has room for, and the outputs. */
static int room_of_past(const struct attention_case *c)
{
    return c->room ? c->past + c->fresh + c->room : c->past;
}

static int room_of_present(const struct attention_case *c)
{
    return c->past + c->fresh + c->room;
}

/* Returns number i of key (which 0) or value (which 1) p of a head. */
static double key_or_value(const struct attention_case *c, int which, int b, int h, int p, int i)
{
    const int size = which ? V_SIZE : SIZE, row = p - c->past;
    const float *past = which ? d.past_v : d.past_k, *fresh = which ? d.v : d.k;

    if (p < c->past)
        return (double)past[((b * HEADS + h) * room_of_past(c) + p) * size + i];
    if (c->split)
        return (double)fresh[((b * HEADS + h) * c->fresh + row) * size + i];
    return (double)fresh[((b * c->fresh + row) * HEADS + h) * size + i] +
           (c->bias ? (double)d.bias[(1 + which) * WIDTH + h * size + i] : 0);
}

static double score_of(const struct attention_case *c, int b, int h, int s, int p)
{
    const int total = c->past + c->fresh;
    double score = 0;
    bool seen = true;

    for (int i = 0; i < SIZE; i++) {
        const double q = (double)d.q[((b * LENGTH + s) * HEADS + h) * SIZE + i] + (c->bias ? (double)d.bias[h * SIZE + i] : 0);
        score += q * key_or_value(c, 0, b, h, p, i);
    }
    score *= c->scale != 0 ? (double)c->scale : 1 / sqrt(SIZE);
    if (c->score_bias)
        score += (double)d.scores[(h * LENGTH + s) * total + p];
    if (c->padding == LENGTHS)
        seen = p < d.mask[b];
    else if (c->padding == KEYS)
        seen = d.mask[b * total + p] != 0;
    else if (c->padding == PAIRS)
        seen = d.mask[(b * LENGTH + s) * total + p] != 0;
    if (!seen)
        score += c->filter != 0 ? (double)c->filter : -10000;
    return c->causal && p > c->past + s ? -(double)INFINITY : score;
}

static void check_attention(const struct attention_case *c)
{
    const int total = c->past + c->fresh, room = room_of_present(c);

    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++)
            for (int s = 0; s < LENGTH; s++) {
                double sum = 0, want[V_SIZE] = {0};
                for (int p = 0; p < total; p++) {
                    const double weight = exp(score_of(c, b, h, s, p));
                    sum += weight;
                    for (int i = 0; i < V_SIZE; i++)
                        want[i] += weight * key_or_value(c, 1, b, h, p, i);
                }
                for (int i = 0; i < V_SIZE; i++)
                    assert_close(d.y[((b * LENGTH + s) * HEADS + h) * V_SIZE + i], want[i] / sum, 1e-5);
            }
    for (int which = 0; which < 2; which++)
        for (int row = 0; row < BATCH * HEADS * total; row++)
            for (int i = 0, size = which ? V_SIZE : SIZE; i < size; i++)
                assert_close(d.present[which][(row / total * room + row % total) * size + i],
                             key_or_value(c, which, row / total / HEADS, row / total % HEADS, row % total, i), 1e-6);
}

/* Adds an input and its buffer, if the case has it, and its name or "-" to the node's inputs. */
static void add_input(struct net *t, bool there, const char *name, int type, const char *dims, void *data, void **buffers,
                      char *inputs)
{
    const size_t end = strlen(inputs);

    if (there) {
        buffers[t->graph.n_input] = data;
        input(t, name, type, dims);
    }
    snprintf(inputs + end, 64 - end, "%s ", there ? name : "-");
}

static const char *dims_of(char *dims, int a, int b, int c, int e)
{
    const int sizes[4] = {a, b, c, e};

    dims[0] = 0;
    for (int i = 0; i < 4 && sizes[i]; i++)
        snprintf(dims + strlen(dims), 64 - strlen(dims), "%s%d", i ? " " : "", sizes[i]);
    return dims;
}

static Onnx__NodeProto *make_attention(struct net *t, const struct attention_case *c, void **buffers)
{
    const int total = c->past + c->fresh;
    char dims[64], inputs[64] = "";

    add_input(t, true, "q", F32, dims_of(dims, BATCH, LENGTH, WIDTH, 0), d.q, buffers, inputs);
    for (int i = 0; i < 2; i++) {
        const int size = i ? V_SIZE : SIZE;
        if (c->split)
            dims_of(dims, BATCH, HEADS, c->fresh, size);
        else
            dims_of(dims, BATCH, c->fresh, HEADS * size, 0);
        add_input(t, true, i ? "v" : "k", F32, dims, i ? d.v : d.k, buffers, inputs);
    }
    add_input(t, c->bias, "bias", F32, dims_of(dims, 2 * WIDTH + HEADS * V_SIZE, 0, 0, 0), d.bias, buffers, inputs);
    add_input(t, c->padding != NO_PADDING, "mask", I32,
              c->padding == PAIRS  ? dims_of(dims, BATCH, LENGTH, total, 0)
              : c->padding == KEYS ? dims_of(dims, BATCH, total, 0, 0)
                                   : dims_of(dims, BATCH, 0, 0, 0),
              d.mask, buffers, inputs);
    add_input(t, c->score_bias, "scores", F32, dims_of(dims, 1, HEADS, LENGTH, total), d.scores, buffers, inputs);
    add_input(t, c->past, "pk", F32, dims_of(dims, BATCH, HEADS, room_of_past(c), SIZE), d.past_k, buffers, inputs);
    add_input(t, c->past, "pv", F32, dims_of(dims, BATCH, HEADS, room_of_past(c), V_SIZE), d.past_v, buffers, inputs);
    add_input(t, c->room, "length", I32, "1", (void *)(uintptr_t)&c->past, buffers, inputs);
    return microsoft(t, "MultiHeadAttention", inputs, "y present_k present_v");
}

static void attend(const struct attention_case *c)
{
    const size_t total = (size_t)room_of_present(c);
    float *const filled[] = {d.q, d.k, d.v, d.bias, d.scores, d.past_k, d.past_v};
    void *buffers[PORTS] = {NULL};

    start(t, 17);
    for (size_t i = 0; i < sizeof filled / sizeof *filled; i++)
        random_fill(filled[i], MOST);
    for (int i = 0; i < MOST; i++)
        d.mask[i] = c->padding == LENGTHS ? 2 + i : i % 5 != 1;
    Onnx__NodeProto *n = make_attention(t, c, buffers);
    attribute_int(t, n, "num_heads", HEADS);
    attribute_int(t, n, "unidirectional", c->causal);
    if (c->scale != 0)
        attribute_float(t, n, "scale", c->scale);
    if (c->filter != 0)
        attribute_float(t, n, "mask_filter_value", c->filter);
    output(t, "y present_k present_v");
    run(t, buffers, (void *[]){d.y, d.present[0], d.present[1]},
        (size_t[]){BATCH * LENGTH * HEADS * V_SIZE * sizeof(float), BATCH * HEADS * total * SIZE * sizeof(float),
                   BATCH * HEADS * total * V_SIZE * sizeof(float)});
    check_attention(c);
}

TEST(heads_attend_to_keys_and_their_past)
{
    static const struct attention_case cases[] = {
        {.fresh = 3},
        {.fresh = 4, .bias = true, .padding = LENGTHS},
        {.fresh = 4, .padding = KEYS, .filter = -2}, /* masked keys still count a little */
        {.fresh = 3, .past = 2, .padding = PAIRS, .score_bias = true},
        {.fresh = 3, .past = 4, .causal = true, .bias = true},
        {.fresh = 3, .causal = true, .scale = 0.75f},
        {.fresh = 5, .split = true, .bias = true}, /* keys of another sequence have their bias already */
        {.fresh = 3, .past = 4, .room = 6, .causal = true, .bias = true},
        {.fresh = 3, .past = 2, .room = 1, .padding = PAIRS, .score_bias = true},
        {.fresh = 3, .past = 2, .room = 3, .padding = KEYS},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        attend(&cases[i]);
}

/* ---- Attention ---- */

enum { ROW = 7, MOST_POSITIONS = 8, COLUMNS = 2 * WIDTH + HEADS * V_SIZE };

enum mask { NO_MASK, ENDS, ENDS_AND_STARTS, SEEN_KEYS, SEEN_PAIRS, SEEN_POSITIONS };

struct packed_case {
    int past;
    enum mask mask;
    bool causal, bias, score_bias, rotary;
    int value_size; /* of a head; that of keys unless qkv_hidden_sizes says so */
};

static struct {
    float x[MOST], w[MOST], bias[COLUMNS], scores[MOST], past[MOST], y[MOST], present[MOST];
    int32_t mask[MOST];
} a;

/* Returns number i of the query (which 0), key (1) or value (2) of a head at position p, the past counted. */
static double unrotated(const struct packed_case *c, int which, int b, int h, int p, int i)
{
    const int size = which == 2 ? c->value_size : SIZE, columns = 2 * WIDTH + HEADS * c->value_size;
    const int column = which * WIDTH + h * size + i, row = b * LENGTH + p - c->past;
    double sum = c->bias ? (double)a.bias[column] : 0;

    if (p < c->past)
        return (double)a.past[((((which - 1) * BATCH + b) * HEADS + h) * c->past + p) * SIZE + i];
    for (int k = 0; k < ROW; k++)
        sum += (double)a.x[row * ROW + k] * (double)a.w[k * columns + column];
    return sum;
}

/* Does the same.  Queries and keys, but for those of the past, may be rotated. */
static double projected(const struct packed_case *c, int which, int b, int h, int p, int i)
{
    enum { HALF = SIZE / 2 };
    const double x = unrotated(c, which, b, h, p, i), angle = p * pow(10000, -(double)(i % HALF) / HALF);

    if (!c->rotary || which == 2 || p < c->past)
        return x;
    return i < HALF ? x * cos(angle) - unrotated(c, which, b, h, p, i + HALF) * sin(angle)
                    : x * cos(angle) + unrotated(c, which, b, h, p, i - HALF) * sin(angle);
}

static bool is_seen(const struct packed_case *c, int b, int s, int p)
{
    const int total = c->past + LENGTH, position = c->past + s;

    switch (c->mask) {
    case NO_MASK:
        return true;
    case ENDS:
        return p < a.mask[b];
    case ENDS_AND_STARTS:
        return p < a.mask[b] && p >= a.mask[BATCH + b];
    case SEEN_KEYS:
        return a.mask[b * total + p];
    case SEEN_PAIRS:
        return a.mask[(b * LENGTH + s) * total + p];
    case SEEN_POSITIONS:
        return a.mask[(b * MOST_POSITIONS + position) * MOST_POSITIONS + p];
    }
    return false;
}

static double packed_score(const struct packed_case *c, int b, int h, int s, int p)
{
    double score = 0;

    for (int i = 0; i < SIZE; i++)
        score += projected(c, 0, b, h, c->past + s, i) * projected(c, 1, b, h, p, i);
    score /= sqrt(SIZE);
    if (c->score_bias)
        score += (double)a.scores[(h * LENGTH + s) * (c->past + LENGTH) + p];
    score += is_seen(c, b, s, p) ? 0 : -3;
    return c->causal && p > c->past + s ? -(double)INFINITY : score;
}

static void check_packed(const struct packed_case *c)
{
    const int total = c->past + LENGTH;

    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++)
            for (int s = 0; s < LENGTH; s++)
                for (int i = 0; i < c->value_size; i++) {
                    double sum = 0, want = 0;
                    for (int p = 0; p < total; p++) {
                        const double weight = exp(packed_score(c, b, h, s, p));
                        sum += weight;
                        want += weight * projected(c, 2, b, h, p, i);
                    }
                    assert_close(a.y[((b * LENGTH + s) * HEADS + h) * c->value_size + i], want / sum, 1e-5);
                }
    for (int i = 0; c->past && i < 2 * BATCH * HEADS * total * SIZE; i++) {
        const int row = i / SIZE, head = row / total;
        assert_close(a.present[i],
                     projected(c, 1 + head / HEADS / BATCH, head / HEADS % BATCH, head % HEADS, row % total, i % SIZE), 1e-5);
    }
}

static const char *mask_dims(const struct packed_case *c, char *dims)
{
    const int total = c->past + LENGTH;

    switch (c->mask) {
    case NO_MASK:
    case ENDS:
        return dims_of(dims, BATCH, 0, 0, 0);
    case ENDS_AND_STARTS:
        return dims_of(dims, 2 * BATCH, 0, 0, 0);
    case SEEN_KEYS:
        return dims_of(dims, BATCH, total, 0, 0);
    case SEEN_PAIRS:
        return dims_of(dims, BATCH, LENGTH, total, 0);
    case SEEN_POSITIONS:
        return dims_of(dims, BATCH, 1, MOST_POSITIONS, MOST_POSITIONS);
    }
    return dims;
}

static Onnx__NodeProto *make_packed(struct net *t, const struct packed_case *c, void **buffers)
{
    const int64_t columns = 2 * WIDTH + HEADS * c->value_size;
    char dims[64], inputs[64] = "";

    add_input(t, true, "x", F32, dims_of(dims, BATCH, LENGTH, ROW, 0), a.x, buffers, inputs);
    initializer(t, tensor(t, "w", F32, 2, (int64_t[]){ROW, columns}, a.w, (size_t)(ROW * columns) * sizeof(float)));
    strcat(inputs, "w ");
    add_input(t, c->bias, "bias", F32, dims_of(dims, (int)columns, 0, 0, 0), a.bias, buffers, inputs);
    add_input(t, c->mask != NO_MASK, "mask", I32, mask_dims(c, dims), a.mask, buffers, inputs);
    snprintf(dims, sizeof dims, "2 %d %d %d %d", BATCH, HEADS, c->past, SIZE);
    add_input(t, c->past, "past", F32, dims, a.past, buffers, inputs);
    add_input(t, c->score_bias, "scores", F32, dims_of(dims, 1, HEADS, LENGTH, c->past + LENGTH), a.scores, buffers, inputs);
    return microsoft(t, "Attention", inputs, c->past ? "y present" : "y");
}

static void attend_packed(const struct packed_case *c)
{
    static const int32_t bounds[2 * BATCH] = {2, 3, 1, 0};
    float *const filled[] = {a.x, a.w, a.scores, a.past};
    void *buffers[PORTS] = {NULL};
    Onnx__AttributeProto *sizes;

    start(t, 17);
    for (size_t i = 0; i < sizeof filled / sizeof *filled; i++)
        random_fill(filled[i], MOST);
    random_fill(a.bias, COLUMNS);
    for (int i = 0; i < MOST; i++)
        a.mask[i] = c->mask == ENDS || c->mask == ENDS_AND_STARTS ? bounds[i % (2 * BATCH)] : i % 5 != 1;
    Onnx__NodeProto *n = make_packed(t, c, buffers);
    attribute_int(t, n, "num_heads", HEADS);
    attribute_int(t, n, "unidirectional", c->causal);
    attribute_int(t, n, "do_rotary", c->rotary);
    attribute_float(t, n, "mask_filter_value", -3); /* so that masked keys still count */
    if (c->value_size != SIZE) {
        sizes = attribute(t, n, "qkv_hidden_sizes", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
        sizes->n_ints = 3;
        sizes->ints = keep(t, 3 * sizeof *sizes->ints);
        memcpy(sizes->ints, (int64_t[]){WIDTH, WIDTH, HEADS * c->value_size}, 3 * sizeof *sizes->ints);
    }
    output(t, "y");
    if (c->past)
        output(t, "present");
    run(t, buffers, (void *[]){a.y, a.present},
        (size_t[]){(size_t)(BATCH * LENGTH * HEADS * c->value_size) * sizeof(float),
                   (size_t)(2 * BATCH * HEADS * (c->past + LENGTH) * SIZE) * sizeof(float)});
    check_packed(c);
}

TEST(packed_weights_make_queries_keys_and_values)
{
    static const struct packed_case cases[] = {
        {.value_size = SIZE},
        {.value_size = SIZE, .bias = true, .mask = ENDS},
        {.value_size = V_SIZE, .bias = true, .mask = ENDS_AND_STARTS, .score_bias = true},
        {.value_size = SIZE, .bias = true, .mask = SEEN_KEYS, .past = 2},
        {.value_size = SIZE, .bias = true, .mask = SEEN_PAIRS, .past = 4, .causal = true},
        {.value_size = SIZE, .mask = SEEN_POSITIONS, .past = 3, .score_bias = true},
        {.value_size = V_SIZE, .mask = SEEN_POSITIONS, .causal = true},
        {.value_size = SIZE, .rotary = true},
        {.value_size = SIZE, .past = 2, .causal = true, .rotary = true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        attend_packed(&cases[i]);
}

/* ---- RotaryEmbedding ---- */

struct rotary_case {
    bool split, interleaved, one_position; /* split: x is [batch, heads, length, size] */
    int rotated;                           /* 0: all of a head */
};

static void rotate(const struct rotary_case *c)
{
    enum { POSITIONS = 9 };
    static float x[BATCH * LENGTH * WIDTH], y[BATCH * LENGTH * WIDTH], caches[2][POSITIONS * SIZE / 2];
    int64_t positions[BATCH * LENGTH] = {4, 0, 7, 2, 8, 1};
    const int rotated = c->rotated ? c->rotated : SIZE, half = rotated / 2;
    char dims[64];

    start(t, 17);
    random_fill(x, BATCH * LENGTH * WIDTH);
    input(t, "x", F32, c->split ? dims_of(dims, BATCH, HEADS, LENGTH, SIZE) : dims_of(dims, BATCH, LENGTH, WIDTH, 0));
    input(t, "positions", I64, c->one_position ? "1" : dims_of(dims, BATCH, LENGTH, 0, 0));
    for (int i = 0; i < 2; i++) {
        random_fill(caches[i], POSITIONS * SIZE / 2);
        initializer(t, tensor(t, i ? "sin" : "cos", F32, 2, (int64_t[]){POSITIONS, half}, caches[i],
                              (size_t)(POSITIONS * half) * sizeof(float)));
    }
    Onnx__NodeProto *n = microsoft(t, "RotaryEmbedding", "x positions cos sin", "y");
    attribute_int(t, n, "interleaved", c->interleaved);
    if (c->rotated) {
        attribute_int(t, n, "rotary_embedding_dim", c->rotated);
        attribute_int(t, n, "num_heads", HEADS);
    }
    run(t, (void *[]){x, positions}, (void *[]){y}, (size_t[]){sizeof y});
    for (int row = 0; row < BATCH * LENGTH * HEADS; row++) {
        const int s = c->split ? row % LENGTH : row / HEADS % LENGTH, b = row / LENGTH / HEADS;
        const int64_t position = c->one_position ? positions[0] + s : positions[b * LENGTH + s];
        double want[SIZE];
        for (int i = 0; i < SIZE; i++)
            want[i] = (double)x[row * SIZE + i];
        for (int i = 0; i < half; i++) {
            const int first = c->interleaved ? 2 * i : i, second = c->interleaved ? 2 * i + 1 : i + half;
            const double cosine = (double)caches[0][position * half + i], sine = (double)caches[1][position * half + i];
            want[first] = cosine * (double)x[row * SIZE + first] - sine * (double)x[row * SIZE + second];
            want[second] = sine * (double)x[row * SIZE + first] + cosine * (double)x[row * SIZE + second];
        }
        for (int i = 0; i < SIZE; i++)
            assert_close(y[row * SIZE + i], want[i], 1e-6);
    }
}

TEST(pairs_are_rotated_by_their_positions)
{
    for (int bits = 0; bits < 16; bits++)
        rotate(&(struct rotary_case){bits & 1, bits & 2, bits & 4, bits & 8 ? 2 : 0});
}

/* ---- EmbedLayerNormalization ---- */

static void embed(bool segments, bool mask, bool positions)
{
    enum { TOKENS = 5, WORDS = 11, PLACES = 6, KINDS = 2, NUMBERS = 8, ALL = BATCH * TOKENS };
    static const int32_t ids[ALL] = {4, 0, 10, 2, 8, 1, 7, 7, 3, 9}, kinds[ALL] = {0, 0, 1, 1, 0, 1, 0, 1, 0, 0};
    static const int32_t seen[ALL] = {1, 1, 1, 0, 0, 1, 1, 2, 1, 1}, places[TOKENS] = {5, 0, 3, 1, 4};
    static float words[WORDS][NUMBERS], at[PLACES][NUMBERS], kind[KINDS][NUMBERS], gamma[NUMBERS], beta[NUMBERS];
    static float y[ALL][NUMBERS], sum[ALL][NUMBERS];
    int32_t ones[BATCH] = {-1, -1};
    void *buffers[PORTS] = {NULL};
    char inputs[64] = "", dims[64];

    start(t, 17);
    random_fill(words[0], WORDS * NUMBERS);
    random_fill(at[0], PLACES * NUMBERS);
    random_fill(kind[0], KINDS * NUMBERS);
    random_fill(gamma, NUMBERS);
    random_fill(beta, NUMBERS);
    dims_of(dims, BATCH, TOKENS, 0, 0);
    add_input(t, true, "ids", I32, dims, (void *)(uintptr_t)ids, buffers, inputs);
    add_input(t, segments, "kinds", I32, dims, (void *)(uintptr_t)kinds, buffers, inputs);
    initializer(t, tensor(t, "words", F32, 2, (int64_t[]){WORDS, NUMBERS}, words, sizeof words));
    initializer(t, tensor(t, "at", F32, 2, (int64_t[]){PLACES, NUMBERS}, at, sizeof at));
    initializer(t, tensor(t, "kind", F32, 2, (int64_t[]){KINDS, NUMBERS}, kind, sizeof kind));
    initializer(t, tensor(t, "gamma", F32, 1, (int64_t[]){NUMBERS}, gamma, sizeof gamma));
    initializer(t, tensor(t, "beta", F32, 1, (int64_t[]){NUMBERS}, beta, sizeof beta));
    strcat(inputs, segments ? "words at kind gamma beta " : "words at - gamma beta ");
    add_input(t, mask, "seen", I32, dims, (void *)(uintptr_t)seen, buffers, inputs);
    add_input(t, positions, "places", I32, dims_of(dims, 1, TOKENS, 0, 0), (void *)(uintptr_t)places, buffers, inputs);
    attribute_float(t, microsoft(t, "EmbedLayerNormalization", inputs, "y ones sum"), "epsilon", 0.25f);
    output(t, "y ones sum");
    run(t, buffers, (void *[]){y, ones, sum}, (size_t[]){sizeof y, sizeof ones, sizeof sum});
    assert_int_equal(ones[0], mask ? 3 : 0);
    assert_int_equal(ones[1], mask ? 4 : 0); /* a flag of 2 does not count */
    for (int row = 0; row < ALL; row++) {
        const int place = positions ? places[row % TOKENS] : row % TOKENS;
        double want[NUMBERS], mean = 0, variance = 0;
        for (int i = 0; i < NUMBERS; i++) {
            want[i] = (double)words[ids[row]][i] + (double)at[place][i] + (segments ? (double)kind[kinds[row]][i] : 0);
            mean += want[i] / NUMBERS;
            assert_close(sum[row][i], want[i], 1e-6);
        }
        for (int i = 0; i < NUMBERS; i++)
            variance += (want[i] - mean) * (want[i] - mean) / NUMBERS;
        for (int i = 0; i < NUMBERS; i++)
            assert_close(y[row][i], (want[i] - mean) / sqrt(variance + 0.25) * (double)gamma[i] + (double)beta[i], 1e-5);
    }
}

TEST(embeddings_are_summed_and_normalised)
{
    for (int bits = 0; bits < 8; bits++)
        embed(bits & 1, bits & 2, bits & 4);
}

/* ---- FusedMatMul ---- */

/* Returns the index of element (row, column) of matrix b of `shape` {batch, rows, columns} as the flags store it. */
static int stored(const int shape[3], bool transposed, bool batch_inside, int b, int row, int column)
{
    const int outer = transposed ? column : row, inner = transposed ? row : column;
    const int rows = transposed ? shape[2] : shape[1], columns = transposed ? shape[1] : shape[2];

    return batch_inside ? (outer * shape[0] + b) * columns + inner : (b * rows + outer) * columns + inner;
}

static const char *stored_dims(char *dims, const int shape[3], bool transposed, bool batch_inside)
{
    const int rows = transposed ? shape[2] : shape[1], columns = transposed ? shape[1] : shape[2];

    return batch_inside ? dims_of(dims, rows, shape[0], columns, 0) : dims_of(dims, shape[0], rows, columns, 0);
}

static void multiply_transposed(int bits)
{
    static const int left[3] = {4, 2, 5}, right[3] = {4, 5, 3};
    static const char *const flags[4] = {"transA", "transB", "transBatchA", "transBatchB"};
    static float x[40], y[60], z[24];
    char dims[64];

    start(t, 17);
    random_fill(x, 40);
    random_fill(y, 60);
    input(t, "x", F32, stored_dims(dims, left, bits & 1, bits & 4));
    input(t, "y", F32, stored_dims(dims, right, bits & 2, bits & 8));
    Onnx__NodeProto *n = microsoft(t, "FusedMatMul", "x y", "z");
    for (int i = 0; i < 4; i++)
        attribute_int(t, n, flags[i], bits >> i & 1);
    attribute_float(t, n, "alpha", 2);
    output(t, "z");
    run(t, (void *[]){x, y}, (void *[]){z}, (size_t[]){sizeof z});
    for (int i = 0; i < 24; i++) {
        const int b = i / 6, row = i / 3 % 2, column = i % 3;
        double want = 0;
        for (int k = 0; k < 5; k++)
            want += 2 * (double)x[stored(left, bits & 1, bits & 4, b, row, k)] *
                    (double)y[stored(right, bits & 2, bits & 8, b, k, column)];
        assert_close(z[i], want, 1e-5);
    }
}

TEST(matrices_and_their_batches_are_transposed)
{
    for (int bits = 0; bits < 16; bits++)
        multiply_transposed(bits);
}

/* ---- gated delta networks, three positions ---- */

TEST(gates_and_gated_norms_are_right)
{
    static const float x[2][4] = {{0.5F, -1, 2, 0.25F}, {3, 1, -0.5F, 2}}, two[2] = {2, 0.5F}, scale[2] = {-1, -0.5F};
    float y[2][4];

    net(17, "x 1 2 4", "y = ms:GatedRMSNorm x two x");
    initializer(t, tensor(t, "two", F32, 1, (int64_t[]){2}, (void *)(uintptr_t)two, sizeof two));
    computes(x, y);
    for (int i = 0; i < 8; i++) {
        const double v = (double)x[i / 4][i % 4], o = (double)x[i / 4][i % 4 ^ 1];
        assert_close(y[i / 4][i % 4], v / sqrt((v * v + o * o) / 2 + 1e-5) * (double)two[i % 2] * v / (1 + exp(-v)), 1e-5);
    }
    net(17, "x 1 4 2", "y = ms:LinearAttentionGate x two scale");
    initializer(t, tensor(t, "two", F32, 1, (int64_t[]){2}, (void *)(uintptr_t)two, sizeof two));
    initializer(t, tensor(t, "scale", F32, 1, (int64_t[]){2}, (void *)(uintptr_t)scale, sizeof scale));
    computes(x, y);
    for (int i = 0; i < 8; i++)
        assert_close(y[i / 4][i % 4], log1p(exp((double)x[i / 4][i % 4] + (double)two[i % 2])) * (double)scale[i % 2], 1e-5);
}

/** Three pairs of one head of ones: the cosine's table has the position, the sine's 0. */
TEST(pairs_have_the_position_of_their_section)
{
    static const int64_t sections[2][3] = {{1, 1, 1}, {1, 2, 0}}, want[2][3] = {{0, 1, 2}, {0, 1, 0}};
    static float one[6] = {1, 1, 1, 1, 1, 1}, cosine[9] = {0, 0, 0, 1, 1, 1, 2, 2, 2}, sine[9];
    float y[6];

    for (int form = 0; form < 2; form++) {
        start(t, 17);
        input(t, "x", F32, "1 1 6");
        initializer(t, tensor(t, "at", I64, 3, (int64_t[]){3, 1, 1}, (int64_t[]){0, 1, 2}, 3 * sizeof(int64_t)));
        initializer(t, tensor(t, "cos", F32, 2, (int64_t[]){3, 3}, cosine, sizeof cosine));
        initializer(t, tensor(t, "sin", F32, 2, (int64_t[]){3, 3}, sine, sizeof sine));
        Onnx__NodeProto *n = microsoft(t, "MRotaryEmbedding", "x at cos sin", "y");
        attribute_ints(t, n, "mrope_section", 3, sections[form]);
        attribute_int(t, n, "mrope_layout", form);
        computes(one, y);
        for (int i = 0; i < 6; i++)
            assert_close(y[i], (double)want[form][i % 3], 0);
    }
}

/* ---- refusals ---- */

static void refuse_attention(const char *inputs, int64_t heads, const char *reason)
{
    start(t, 17);
    inputs_of(t, F32, "q 2 3 12; k 2 4 12; packed 2 4 3 2 4; short 35");
    input(t, "mask", I32, "8");
    input(t, "past", F32, "2 3 1 4");
    attribute_int(t, microsoft(t, "MultiHeadAttention", inputs, "y"), "num_heads", heads);
    refused(t, NULL, reason);
}

TEST(packed_heads_are_taken_apart)
{
    static const float x[2][3] = {{1, .5F, 2}, {-1, .25F, 4}};
    float y[2];

    net(17, "x 1 2 1 3 1", "y = ms:MultiHeadAttention x, num_heads 1");
    computes(x, y);
    for (int i = 0; i < 2; i++) {
        const float a = expf(x[i][0] * x[0][1]), b = expf(x[i][0] * x[1][1]);
        assert_close(y[i], (a * x[0][2] + b * x[1][2]) / (a + b), 1e-6);
    }
}

static void refuse_packed(const char *inputs, int64_t heads, const char *reason)
{
    start(t, 17);
    inputs_of(t, F32, "x 2 3 7; w 7 36; uneven 7 40; short 35");
    inputs_of(t, I32, "mask 8; keys 2 4");
    input(t, "past", F32, "3 2 3 1 4");
    attribute_int(t, microsoft(t, "Attention", inputs, "y"), "num_heads", heads);
    refused(t, NULL, reason);
}

TEST(what_does_not_fit_is_refused)
{
    refuse_attention("q k k", 5, "num_heads is 5 for queries of rank 3, 12 numbers each");
    refuse_attention("q packed k", 3, "packed heads and values are both given");
    refuse_attention("q k k short", 3, "its bias has 35 numbers");
    refuse_attention("q k k - mask", 3, "its mask has rank 1 and sizes 8");
    refuse_attention("q k k - - - past", 3, "past_key and past_value are not both given");
    refuse_attention("q k q", 3, "do not fit a batch of 2");
    refuse_packed("x w", 5, "num_heads is 5 for queries, keys or values of 12 numbers");
    refuse_packed("x uneven", 1, "of 13, 13 and 13 numbers do not fit weights of 40 columns");
    refuse_packed("w w", 3, "its input has rank 2 and its weights 2");
    refuse_packed("x w - mask", 3, "its mask has rank 1 and sizes 8");
    refuse_packed("x w - keys", 3, "its mask has rank 2 and sizes 2, 4");
    refuse_packed("x w - - past", 3, "past has rank 5 and 3 parts");
    refuse_attention("q k k - - - - - mask", 3, "past_sequence_length is given, and no past");
}

TEST_GROUP(create_context, release_context)
