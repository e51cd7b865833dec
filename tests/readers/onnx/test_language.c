/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operators of language models in the domain com.microsoft, on models made here, against plain loops in double: MatMulNBits and
 * GatherBlockQuantized with 1 to 8 bits, GroupQueryAttention with its cache, LinearAttention; and MatMul and Gemm by what
 * DequantizeLinear makes float16 of.
 */
#include <math.h>

#include "ir/graph/ir.h"
#include "readers/onnx/net.h"
#include "readers/onnx/packed.h"
#include "support/close.h"
#include "support/random.h"

enum { I8 = 3, I32 = 6, F16 = 10 };

/* ---- weights in blocks ---- */

struct weights_case {
    int bits;
    int64_t k, n, block;
    bool zero_points, bias;
    bool half; /* everything else is float16 */
    int zeros; /* zero points are numbers like the scales: multiples of 1 / zeros; 0: like the weights */
};

/* Rounds numbers to float16, and writes them one after another. */
static uint16_t *halves(float *x, size_t count)
{
    uint16_t *h = calloc(count, sizeof *h);

    assert_non_null(h);
    for (size_t i = 0; i < count; i++) {
        h[i] = f32_to_f16(x[i]);
        x[i] = f16_to_f32(h[i]);
    }
    return h;
}

static void half_floats(struct net *t, const char *name, size_t count, float *data)
{
    OWNED(memory) uint16_t *h = halves(data, count);
    initializer(t, tensor(t, name, F16, 1, (int64_t[]){(int64_t)count}, h, count * sizeof *h));
}

/* Adds numbers of one dimension. */
static void any_floats(struct net *t, const char *name, bool half, size_t count, float *data)
{
    if (half)
        half_floats(t, name, count, data);
    else
        initializer(t, tensor(t, name, F32, 1, (int64_t[]){(int64_t)count}, data, count * sizeof *data));
}

/* Adds zero points: packed as weights are, or as numbers up to 255. */
static void add_zeros(struct net *t, const struct weights_case *c, size_t blocks, const struct packed *packed, float *numbers)
{
    const size_t count = (size_t)c->n * blocks;

    for (size_t i = 0; i < count; i++)
        numbers[i] = c->zeros ? (float)random_below((uint32_t)(((1 << c->bits) - 1) * c->zeros + 1)) / (float)c->zeros
                              : (float)(c->zero_points ? at(packed, i / blocks, i % blocks) : 1 << (c->bits - 1));
    if (c->zeros)
        any_floats(t, "zeros", c->half, count, numbers);
    else
        initializer(t, tensor(t, "zeros", U8, 1, (int64_t[]){c->n * (int64_t)packed->row_bytes}, packed->bytes,
                              (size_t)c->n * packed->row_bytes));
}

static void check_matmul(const struct weights_case *c)
{
    enum { M = 3 };
    static struct packed b, zeros;
    static float a[MOST], scales[MOST], zero_points[MOST], bias[MOST], y[MOST];
    const int64_t blocks = (c->k + c->block - 1) / c->block;
    char dims[32];

    start(t, 17);
    draw(&b, c->bits, (size_t)c->n, (size_t)(blocks * c->block));
    draw(&zeros, c->bits, (size_t)c->n, (size_t)blocks);
    random_fill(a, (size_t)(M * c->k));
    snprintf(dims, sizeof dims, "%d %d", M, (int)c->k);
    input(t, "a", c->half ? F16 : F32, dims);
    initializer(t,
                tensor(t, "b", U8, 3, (int64_t[]){c->n, blocks, c->block * c->bits / 8}, b.bytes, (size_t)c->n * b.row_bytes));
    random_fill(scales, (size_t)(c->n * blocks));
    random_fill(bias, (size_t)c->n);
    any_floats(t, "scales", c->half, (size_t)(c->n * blocks), scales);
    add_zeros(t, c, (size_t)blocks, &zeros, zero_points);
    any_floats(t, "bias", c->half, (size_t)c->n, bias);
    Onnx__NodeProto *n = microsoft(t, "MatMulNBits",
                                   c->bias          ? c->zero_points ? "a b scales zeros - bias" : "a b scales - - bias"
                                   : c->zero_points ? "a b scales zeros"
                                                    : "a b scales",
                                   "y");
    attribute_int(t, n, "K", c->k);
    attribute_int(t, n, "N", c->n);
    attribute_int(t, n, "bits", c->bits);
    attribute_int(t, n, "block_size", c->block);
    attribute_int(t, n, "accuracy_level", 4);
    if (c->half) {
        OWNED(memory) uint16_t *in = halves(a, (size_t)(M * c->k)), *out = calloc((size_t)(M * c->n), sizeof *out);
        assert_non_null(out);
        run(t, (void *[]){in}, (void *[]){out}, (size_t[]){(size_t)(M * c->n) * sizeof *out});
        for (int64_t i = 0; i < M * c->n; i++)
            y[i] = f16_to_f32(out[i]);
    } else {
        run(t, (void *[]){a}, (void *[]){y}, (size_t[]){(size_t)(M * c->n) * sizeof *y});
    }
    for (int64_t m = 0; m < M; m++)
        for (int64_t j = 0; j < c->n; j++) {
            double want = c->bias ? (double)bias[j] : 0, magnitude = fabs(want);
            for (int64_t k = 0; k < c->k; k++) {
                const int64_t block = k / c->block;
                const double zero = (double)zero_points[j * blocks + block];
                const double w = (at(&b, (size_t)j, (size_t)k) - zero) * (double)scales[j * blocks + block];
                want += (double)a[m * c->k + k] * w;
                magnitude += fabs((double)a[m * c->k + k] * w);
            }
            /* float16: the product and then its sum with the bias are rounded, and nothing else. */
            const double rounding = c->half ? (fabs(want) + (c->bias ? magnitude : 0)) * 0x1p-11 : 0;
            if (fabs((double)y[m * c->n + j] - want) > magnitude * (double)(c->k + 3) * 0x1p-24 + rounding)
                fail_msg("%d bits, K %d, block %d: y[%d][%d] is %g, not %g", c->bits, (int)c->k, (int)c->block, (int)m, (int)j,
                         (double)y[m * c->n + j], want);
        }
}

TEST(matmuls_of_1_to_8_bits_are_right)
{
    static const struct weights_case cases[] = {
        {4, 64, 5, 16, false, false, false, 0}, {4, 64, 5, 16, true, true, false, 0},
        {4, 48, 7, 32, true, false, false, 0},                                         /* the last block is half full */
        {4, 40, 3, 64, false, true, false, 0},  {4, 96, 4, 32, true, false, false, 0}, /* three zero points in two bytes */
        {8, 64, 5, 16, false, true, false, 0},  {8, 48, 7, 32, true, false, false, 0},
        {4, 64, 5, 16, true, true, true, 0},    {8, 48, 7, 32, false, false, true, 0},
        {4, 96, 6, 32, false, true, true, 0},   {4, 64, 5, 16, true, true, false, 1},
        {8, 48, 7, 32, true, false, false, 1},  {4, 48, 7, 32, true, false, true, 1},
        {4, 64, 5, 16, true, true, false, 2},   {8, 48, 7, 32, true, false, false, 4},
        {4, 48, 7, 32, true, false, true, 2},   {2, 64, 5, 16, false, false, false, 0},
        {2, 96, 4, 16, true, true, false, 0}, /* six zero points in two bytes */
        {2, 48, 7, 32, true, false, true, 0},   {2, 64, 5, 16, true, true, false, 2},
        {1, 64, 5, 16, false, false, false, 0}, {1, 144, 4, 16, true, true, false, 0}, /* nine zero points in two bytes */
        {1, 48, 7, 32, true, false, true, 2},   {1, 64, 5, 16, true, true, false, 4},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_matmul(&cases[i]);
}

enum { MATRIX, TRANSPOSED, GEMM, WAYS };

/* Multiplies float16 rows by bytes with float16 scales, for each column or in blocks: nothing but the result is rounded. */
static void check_dequantized(int way, bool blocks)
{
    enum { M = 3, K = 64, N = 5, BLOCK = 16 };
    const int64_t dims[2] = {way == MATRIX ? K : N, way == MATRIX ? N : K};
    const int64_t scale_dims[2] = {way == MATRIX ? K / BLOCK : N, way == MATRIX ? N : K / BLOCK};
    const int64_t along = (way == MATRIX) == blocks ? 0 : 1; /* the axis of the scales */
    static float a[M * K], scales[N * K / BLOCK], bias[N];
    static int8_t b[K * N];
    static uint16_t out[M * N];

    start(t, 21);
    random_fill(a, M * K);
    random_fill(scales, N * K / BLOCK);
    for (int i = 0; i < K * N; i++)
        b[i] = (int8_t)((int)random_below(255) - 127);
    OWNED(memory) uint16_t *in = halves(a, M * K), *small = halves(scales, N * K / BLOCK);
    input(t, "a", F16, "3 64");
    initializer(t, tensor(t, "b", I8, 2, dims, b, sizeof b));
    initializer(t, tensor(t, "s", F16, blocks ? 2 : 1, blocks ? scale_dims : (int64_t[]){N}, small,
                          (size_t)(blocks ? N * K / BLOCK : N) * sizeof *small));
    half_floats(t, "bias", N, bias);
    Onnx__NodeProto *n = node(t, "DequantizeLinear", "b s", "w");
    attribute_int(t, n, "axis", along);
    if (blocks)
        attribute_int(t, n, "block_size", BLOCK);
    if (way == TRANSPOSED)
        node(t, "Transpose", "w", "v");
    n = way == GEMM ? node(t, "Gemm", "a w bias", "y") : node(t, "MatMul", way == TRANSPOSED ? "a v" : "a w", "y");
    if (way == GEMM)
        attribute_int(t, n, "transB", 1);
    run(t, (void *[]){in}, (void *[]){out}, (size_t[]){sizeof out});
    for (int m = 0; m < M; m++)
        for (int j = 0; j < N; j++) {
            double want = way == GEMM ? (double)bias[j] : 0, magnitude = fabs(want);
            for (int k = 0; k < K; k++) {
                const int64_t scale = !blocks ? j : way == MATRIX ? k / BLOCK * N + j : j * (K / BLOCK) + k / BLOCK;
                const double w = b[way == MATRIX ? k * N + j : j * K + k] * (double)scales[scale];
                want += (double)a[m * K + k] * w;
                magnitude += fabs((double)a[m * K + k] * w);
            }
            assert_close(f16_to_f32(out[m * N + j]), want, magnitude * (K + 3) * 0x1p-24 + fabs(want) * 0x1p-11);
        }
}

TEST(weights_dequantized_to_float16_are_not_rounded)
{
    for (int way = 0; way < WAYS; way++)
        for (int blocks = 0; blocks < 2; blocks++)
            check_dequantized(way, blocks);
}

static void check_gather(int bits, int zero_points)
{
    enum { ROWS = 7, COLUMNS = 56, BLOCK = 16, BLOCKS = 4, COUNT = 4 }; /* the last block is half a one */
    static struct packed table, zeros;
    static float scales[MOST], y[COUNT * COLUMNS];
    const int64_t indices[COUNT] = {3, 0, 6, 3};

    start(t, 17);
    draw(&table, bits, ROWS, COLUMNS);
    draw(&zeros, bits, ROWS, BLOCKS);
    const int64_t type = zero_points > 1 ? 21 : U8, each = type == U8 ? 1 : 2; /* or uint4, as in the file */
    int64_t dims[] = {ROWS, (int64_t)table.row_bytes * each}, zero_dims[] = {ROWS, (int64_t)zeros.row_bytes * each};
    initializer(t, tensor(t, "table", (int)type, 2, dims, table.bytes, ROWS * table.row_bytes));
    floats(t, "scales", 2, (int64_t[]){ROWS, BLOCKS}, scales);
    initializer(t, tensor(t, "zeros", (int)type, 2, zero_dims, zeros.bytes, ROWS * zeros.row_bytes));
    input(t, "i", I64, "2 2");
    Onnx__NodeProto *n = microsoft(t, "GatherBlockQuantized", zero_points ? "table i scales zeros" : "table i scales", "y");
    attribute_int(t, n, "bits", bits);
    attribute_int(t, n, "block_size", BLOCK); /* along axis 1, the default */
    run(t, (void *[]){(void *)(uintptr_t)indices}, (void *[]){y}, (size_t[]){sizeof y});
    for (size_t i = 0; i < COUNT; i++)
        for (size_t c = 0; c < COLUMNS; c++) {
            const size_t row = (size_t)indices[i];
            const int zero = zero_points ? at(&zeros, row, c / BLOCK) : 1 << (bits - 1);
            const float want = (float)(at(&table, row, c) - zero) * scales[row * BLOCKS + c / BLOCK];
            if (y[i * COLUMNS + c] != want)
                fail_msg("%d bits: y[%zu][%zu] is %g, not %g", bits, i, c, (double)y[i * COLUMNS + c], (double)want);
        }
}

TEST(rows_of_quantised_tables_are_right)
{
    for (int bits = 1; bits <= 8; bits *= 2)
        for (int zero_points = 0; zero_points < 2 + (bits == 4); zero_points++)
            check_gather(bits, zero_points);
}

/* ---- attention ---- */

enum { BATCH = 2, HEADS = 4, KV_HEADS = 2, SIZE = 8, CACHE = 9, POSITIONS = 16 };

struct attention_case {
    int length;
    int32_t last[BATCH]; /* seqlens_k */
    bool packed, rotary, interleaved, bias, smooth, sinks;
    bool half; /* all numbers are float16; there is no rotation, which rounds */
    int bits;  /* of caches that are whole numbers: the keys' with a scale for each channel, the values' with one for all */
    int64_t window;
    float scale, softcap;
};

static float sinks[HEADS] = {0.5f, -1}, scales[2][KV_HEADS * SIZE];

/* Makes whole numbers times scales of numbers from -1 to 1, and writes them as they lie in a cache. */
static uint8_t *quantise(float *x, int bits, const float *scale)
{
    const int count = BATCH * KV_HEADS * CACHE * SIZE;
    uint8_t *bytes = calloc((size_t)count, 1);

    assert_non_null(bytes);
    for (int i = 0; i < count; i++) {
        const float s = scale[i / (CACHE * SIZE) % KV_HEADS * SIZE + i % SIZE];
        const int q = (int)lrintf(x[i] * (float)((1 << (bits - 1)) - 1));

        x[i] = (float)q * s;
        bytes[bits == 8 ? i : i / 2] |= (uint8_t)(bits == 8 ? q : (q + 8) << i % 2 * 4);
    }
    return bytes;
}

static void unquantise(float *x, const uint8_t *bytes, int bits, const float *scale)
{
    for (int i = 0; i < BATCH * KV_HEADS * CACHE * SIZE; i++)
        x[i] = (float)(bits == 8 ? (int8_t)bytes[i] : (bytes[i / 2] >> i % 2 * 4 & 15) - 8) *
               scale[i / (CACHE * SIZE) % KV_HEADS * SIZE + i % SIZE];
}

/** What a case is computed of, and the outputs: [batch, length, heads * SIZE], caches [batch, KV_HEADS, CACHE, SIZE]. */
struct attention_data {
    float q[MOST], k[MOST], v[MOST], packed[MOST], past[2][BATCH * KV_HEADS * CACHE * SIZE];
    float cosine[POSITIONS * SIZE / 2], sine[POSITIONS * SIZE / 2], bias[MOST];
    float y[MOST], present[2][BATCH * KV_HEADS * CACHE * SIZE];
};

static int past_of(const struct attention_case *c, int b)
{
    return c->last[b] + 1 > c->length ? c->last[b] + 1 - c->length : 0;
}

/* Copies head `head` of token s to x, rotated as its position asks for. */
static void head_of(const struct attention_data *d, const struct attention_case *c, const float *from, int heads, int b, int s,
                    int head, bool rotate, double *x)
{
    const float *source = from + ((b * c->length + s) * heads + head) * SIZE;
    const int position = past_of(c, b) + s;

    for (int i = 0; i < SIZE; i++)
        x[i] = (double)source[i];
    for (int i = 0; rotate && c->rotary && i < SIZE / 2; i++) {
        const int first = c->interleaved ? 2 * i : i, second = c->interleaved ? 2 * i + 1 : i + SIZE / 2;
        const double cosine = (double)d->cosine[position * SIZE / 2 + i], sine = (double)d->sine[position * SIZE / 2 + i];
        x[first] = cosine * (double)source[first] - sine * (double)source[second];
        x[second] = sine * (double)source[first] + cosine * (double)source[second];
    }
}

/* Checks one cache, and leaves what it must hold in `cache`, [batch, head, position, element]. */
static void check_cache(const struct attention_data *d, const struct attention_case *c, int which, double *cache)
{
    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < KV_HEADS; h++)
            for (int p = 0; p < past_of(c, b) + c->length && p < CACHE; p++) {
                double *want = cache + ((b * KV_HEADS + h) * CACHE + p) * SIZE;
                const float *have = d->present[which] + ((b * KV_HEADS + h) * CACHE + p) * SIZE;
                if (p < past_of(c, b))
                    for (int i = 0; i < SIZE; i++)
                        want[i] = (double)d->past[which][((b * KV_HEADS + h) * CACHE + p) * SIZE + i];
                else
                    head_of(d, c, which ? d->v : d->k, KV_HEADS, b, p - past_of(c, b), h, which == 0, want);
                for (int i = 0; i < SIZE; i++) {
                    assert_close(have[i], want[i], c->bits ? 0.501 * (double)scales[which][h * SIZE + i] : 1e-6);
                    want[i] = c->bits ? (double)have[i] : want[i];
                }
            }
}

static double score_of(const struct attention_data *d, const struct attention_case *c, const double *q, const double *key,
                       int b, int h, int s, int p)
{
    double score = 0;

    for (int i = 0; i < SIZE; i++)
        score += q[i] * key[i];
    score *= c->scale != 0 ? (double)c->scale : 1 / sqrt(SIZE);
    if (c->softcap != 0)
        score = (double)c->softcap * tanh(score / (double)c->softcap);
    return c->bias ? score + (double)d->bias[((b * HEADS + h) * c->length + s) * CACHE + p] : score;
}

static void check_attention(const struct attention_data *d, const struct attention_case *c)
{
    static double keys[BATCH * KV_HEADS * CACHE * SIZE], values[BATCH * KV_HEADS * CACHE * SIZE];

    check_cache(d, c, 0, keys);
    check_cache(d, c, 1, values);
    for (int b = 0; b < BATCH; b++)
        for (int s = 0; s < c->length && past_of(c, b) + s <= c->last[b]; s++) /* others are padding */
            for (int h = 0; h < HEADS; h++) {
                const int row = (b * KV_HEADS + h / (HEADS / KV_HEADS)) * CACHE, position = past_of(c, b) + s;
                double q[SIZE], total = c->sinks ? exp((double)sinks[h]) : c->smooth, want[SIZE] = {0};
                head_of(d, c, d->q, HEADS, b, s, h, true, q);
                for (int p = 0; p <= position; p++) {
                    if (c->window >= 0 && p <= position - c->window)
                        continue;
                    const double weight = exp(score_of(d, c, q, keys + (row + p) * SIZE, b, h, s, p));
                    total += weight;
                    for (int i = 0; i < SIZE; i++)
                        want[i] += weight * values[(row + p) * SIZE + i];
                }
                for (int i = 0; i < SIZE; i++)
                    assert_close(d->y[((b * c->length + s) * HEADS + h) * SIZE + i], want[i] / total,
                                 1e-5 + (c->half ? fabs(want[i] / total) * 0x1p-11 : 0)); /* rounded once */
            }
}

static void make_attention(struct net *t, const struct attention_case *c)
{
    const int type = c->half ? F16 : F32;
    char dims[64];
    Onnx__NodeProto *n;

    snprintf(dims, sizeof dims, "%d %d %d", BATCH, c->length, (HEADS + (c->packed ? 2 * KV_HEADS : 0)) * SIZE);
    input(t, "q", type, dims);
    snprintf(dims, sizeof dims, "%d %d %d", BATCH, c->length, KV_HEADS * SIZE);
    if (!c->packed) {
        input(t, "k", type, dims);
        input(t, "v", type, dims);
    }
    snprintf(dims, sizeof dims, "%d %d %d %d", BATCH, KV_HEADS, CACHE, c->bits == 4 ? SIZE / 2 : SIZE);
    input(t, "pk", c->bits == 8 ? I8 : c->bits ? U8 : type, dims);
    input(t, "pv", c->bits == 8 ? I8 : c->bits ? U8 : type, dims);
    input(t, "last", I32, "2");
    input(t, "bias", type, "1"); /* replaced below; the order of inputs is that of their buffers */
    snprintf(dims, sizeof dims, "%d %d %d %d", BATCH, HEADS, c->length, CACHE);
    t->graph.input[t->graph.n_input - 1] = port(t, "bias", type, dims);
    initializer(t, tensor(t, "total", I32, 0, NULL, &(int32_t){CACHE}, 4));
    floats(t, "sinks", 1, (int64_t[]){HEADS}, sinks);
    n = microsoft(t, "GroupQueryAttention",
                  c->packed   ? c->rotary ? "q - - pk pv last total cos sin - bias" : "q - - pk pv last total - - - bias"
                  : c->sinks  ? "q k v pk pv last total - - - bias sinks"
                  : c->bits   ? "q k v pk pv last total cos sin - bias - ks vs"
                  : c->rotary ? "q k v pk pv last total cos sin - bias"
                              : "q k v pk pv last total - - - bias",
                  "y present_k present_v");
    if (c->bits) {
        for (int i = 0; i < KV_HEADS * SIZE; i++) {
            scales[0][i] = (2.1f + (float)i / 64) / (float)(1 << (c->bits - 1));
            scales[1][i] = 2.1f / (float)(1 << (c->bits - 1));
        }
        initializer(t, tensor(t, "ks", F32, 4, (int64_t[]){1, KV_HEADS, 1, SIZE}, scales[0], sizeof scales[0]));
        initializer(t, tensor(t, "vs", F32, 1, (int64_t[]){1}, scales[1], sizeof(float)));
        attribute_int(t, n, "kv_cache_bit_width", c->bits);
        attribute_text(t, n, "k_quant_type", "PER_CHANNEL");
        attribute_text(t, n, "v_quant_type", "PER_TENSOR");
    }
    attribute_int(t, n, "num_heads", HEADS);
    attribute_int(t, n, "kv_num_heads", KV_HEADS);
    attribute_int(t, n, "do_rotary", c->rotary);
    attribute_int(t, n, "rotary_interleaved", c->interleaved);
    attribute_int(t, n, "smooth_softmax", c->smooth);
    if (c->window >= 0)
        attribute_int(t, n, "local_window_size", c->window);
    if (c->scale != 0)
        attribute_float(t, n, "scale", c->scale);
    if (c->softcap != 0)
        attribute_float(t, n, "softcap", c->softcap);
    output(t, "y present_k present_v");
}

static void attend(const struct attention_case *c)
{
    static struct attention_data d;
    const int each[3] = {HEADS * SIZE, KV_HEADS * SIZE, KV_HEADS * SIZE}, tokens = BATCH * c->length;
    float *const parts[3] = {d.q, d.k, d.v}, *packed = d.packed;

    start(t, 17);
    for (int i = 0; i < 3; i++)
        random_fill(parts[i], (size_t)(tokens * each[i]));
    for (int token = 0; token < tokens; token++)
        for (int i = 0; i < 3; packed += each[i++])
            memcpy(packed, parts[i] + token * each[i], (size_t)each[i] * sizeof *packed);
    for (int i = 0; i < 2; i++)
        random_fill(d.past[i], BATCH * KV_HEADS * CACHE * SIZE);
    random_fill(d.bias, (size_t)(BATCH * HEADS * c->length * CACHE));
    for (size_t i = 0; !c->bias && i < MOST; i++)
        d.bias[i] = 0;
    floats(t, "cos", 2, (int64_t[]){POSITIONS, SIZE / 2}, d.cosine);
    floats(t, "sin", 2, (int64_t[]){POSITIONS, SIZE / 2}, d.sine);
    make_attention(t, c);
    void *separate[] = {d.q, d.k, d.v, d.past[0], d.past[1], (void *)(uintptr_t)c->last, d.bias};
    void *joined[] = {d.packed, d.past[0], d.past[1], (void *)(uintptr_t)c->last, d.bias};
    float *const results[] = {d.y, d.present[0], d.present[1]};
    const size_t counts[] = {(size_t)(tokens * HEADS * SIZE), BATCH * KV_HEADS * CACHE * SIZE, BATCH * KV_HEADS * CACHE * SIZE};
    void *half[3] = {NULL};
    for (int i = 0; c->bits && i < 2; i++) {
        separate[3 + i] = quantise(d.past[i], c->bits, scales[i]);
        half[1 + i] = calloc(counts[1], 1);
    }
    for (int i = 0; c->half && i < 7; i++) /* separate */
        separate[i] = i == 5 ? separate[i]
                             : halves(separate[i], i < 3   ? (size_t)(tokens * each[i])
                                                   : i < 5 ? BATCH * KV_HEADS * CACHE * SIZE
                                                           : (size_t)(BATCH * HEADS * c->length * CACHE));
    for (int i = 0; c->half && i < 3; i++)
        half[i] = calloc(counts[i], sizeof(uint16_t));
    const size_t size = c->half ? sizeof(uint16_t) : sizeof(float);
    run(t, c->packed ? joined : separate,
        (void *[]){half[0] ? half[0] : results[0], half[1] ? half[1] : results[1], half[2] ? half[2] : results[2]},
        (size_t[]){counts[0] * size, c->bits ? counts[1] * (size_t)c->bits / 8 : counts[1] * size,
                   c->bits ? counts[2] * (size_t)c->bits / 8 : counts[2] * size});
    for (int i = 0; c->bits && i < 2; i++) {
        unquantise(d.present[i], half[1 + i], c->bits, scales[i]);
        free(half[1 + i]);
        free(separate[3 + i]);
    }
    for (int i = 0; c->half && i < 3; i++) {
        for (size_t k = 0; k < counts[i]; k++)
            results[i][k] = f16_to_f32(((uint16_t *)half[i])[k]);
        free(half[i]);
    }
    for (int i = 0; c->half && i < 7; i++)
        if (i != 5)
            free(separate[i]);
    check_attention(&d, c);
}

TEST(grouped_queries_attend_to_their_cache)
{
    static const struct attention_case cases[] = {
        {.length = 1, .last = {5, 8}, .window = -1},
        {.length = 1, .last = {0, 3}, .window = -1, .rotary = true},
        {.length = 3, .last = {2, 6}, .window = -1, .rotary = true, .interleaved = true},
        {.length = 3, .last = {4, 8}, .window = -1, .packed = true, .rotary = true},
        {.length = 4, .last = {1, 3}, .window = -1, .scale = 0.5f}, /* the first sequence of the prompt is shorter */
        {.length = 2, .last = {7, 4}, .window = 3, .softcap = 0.75f},
        {.length = 2, .last = {7, 4}, .window = -1, .bias = true, .packed = true},
        {.length = 2, .last = {7, 4}, .window = -1, .smooth = true},
        {.length = 2, .last = {7, 4}, .window = 3, .sinks = true, .bias = true},
        {.length = 3, .last = {4, 8}, .window = -1, .half = true},
        {.length = 1, .last = {7, 4}, .window = 3, .softcap = 0.75f, .bias = true, .half = true},
        {.length = 1, .last = {5, 8}, .window = -1, .rotary = true, .bits = 8},
        {.length = 3, .last = {2, 6}, .window = 3, .rotary = true, .bits = 8},
        {.length = 1, .last = {5, 8}, .window = -1, .rotary = true, .bits = 4},
        {.length = 3, .last = {4, 8}, .window = -1, .rotary = true, .bits = 4},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        attend(&cases[i]);
}

/* ---- linear attention ---- */

enum { LINEAR_BATCH = 2, STEPS = 5, KEY_SIZE = 4, VALUE_SIZE = 3, PARTS = 6 };

struct linear_case {
    int tokens, queries, keys, values; /* heads */
    const char *rule;
    int decay, beta; /* numbers for a token; 0: no input */
    bool state;
};

static double part_at(const float *x, int numbers, int token, int heads, int all, int head, int i)
{
    return (double)x[token * numbers + head / (all / heads) * (numbers / heads) + i];
}

/* Compares with the recurrence, token by token. */
static void check_linear_head(const struct linear_case *c, const int *numbers, float *const *x, int b, int h, const float *y,
                              const float *present)
{
    const int most = c->queries > c->values ? c->queries : c->values, q = most / c->values;
    double s[KEY_SIZE][VALUE_SIZE];

    for (int i = 0; i < KEY_SIZE * VALUE_SIZE; i++)
        s[i / VALUE_SIZE][i % VALUE_SIZE] = c->state ? (double)x[3][(b * c->values + h) * KEY_SIZE * VALUE_SIZE + i] : 0;
    for (int k = b * c->tokens; k < (b + 1) * c->tokens; k++)
        for (int j = 0; j < VALUE_SIZE; j++) {
            double v = part_at(x[2], numbers[2], k, c->values, c->values, h, j), has = 0;

            for (int i = 0; i < KEY_SIZE; i++) {
                if (c->decay)
                    s[i][j] *= exp(part_at(x[4], c->decay, k, c->values, c->values, h, c->decay > c->values ? i : 0));
                has += s[i][j] * part_at(x[1], numbers[1], k, c->keys, c->values, h, i);
            }
            if (c->beta)
                v = (v - has) * part_at(x[5], c->beta, k, c->beta, c->values, h, 0);
            for (int i = 0; i < KEY_SIZE; i++)
                s[i][j] += part_at(x[1], numbers[1], k, c->keys, c->values, h, i) * v;
            for (int g = 0; g < q; g++) {
                double want = 0;

                for (int i = 0; i < KEY_SIZE; i++)
                    want += part_at(x[0], numbers[0], k, c->queries, most, h * q + g, i) * s[i][j] / sqrt(KEY_SIZE);
                assert_close(y[(k * most + h * q + g) * VALUE_SIZE + j], want, 1e-5);
            }
        }
    for (int i = 0; i < KEY_SIZE * VALUE_SIZE; i++)
        assert_close(present[(b * c->values + h) * KEY_SIZE * VALUE_SIZE + i], s[i / VALUE_SIZE][i % VALUE_SIZE], 1e-5);
}

static void add_linear(const struct linear_case *c, const int *numbers)
{
    const char *const names[PARTS] = {"q", "k", "v", "s", "d", "b"};
    char dims[40], inputs[2 * PARTS] = "";

    start(t, 27);
    for (int i = 0; i < PARTS; i++) {
        strcat(inputs, !numbers[i] ? "-" : names[i]);
        strcat(inputs, i + 1 < PARTS ? " " : "");
        snprintf(dims, sizeof dims, "%d %d %d", LINEAR_BATCH, c->tokens, numbers[i]);
        if (i == 3)
            snprintf(dims, sizeof dims, "%d %d %d %d", LINEAR_BATCH, c->values, KEY_SIZE, VALUE_SIZE);
        if (numbers[i])
            input(t, names[i], F32, dims);
    }
    Onnx__NodeProto *n = node(t, "LinearAttention", inputs, "y present");
    attribute_int(t, n, "q_num_heads", c->queries);
    attribute_int(t, n, "kv_num_heads", c->values);
    attribute_text(t, n, "update_rule", c->rule);
    output(t, "y present");
}

TEST(linear_attention_follows_its_recurrence)
{
    static const struct linear_case cases[] = {
        {1, 2, 2, 2, "linear", 0, 0, true},
        {STEPS, 2, 2, 2, "linear", 0, 0, false},
        {STEPS, 4, 2, 2, "gated_delta", 2, 2, true},
        {1, 4, 2, 2, "gated_delta", 2, 2, true},
        {STEPS, 2, 2, 4, "gated_delta", 16, 1, false},
        {STEPS, 2, 1, 2, "delta", 0, 2, true},
        {STEPS, 2, 2, 2, "gated", 8, 0, true},
    };
    static float data[PARTS][MOST], y[MOST], present[MOST];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct linear_case *c = &cases[i];
        const int numbers[PARTS] = {
            c->queries * KEY_SIZE, c->keys * KEY_SIZE, c->values * VALUE_SIZE, c->state, c->decay, c->beta};
        const int most = c->queries > c->values ? c->queries : c->values;
        float *x[PARTS];
        void *in[PARTS];
        size_t count = 0;

        for (int k = 0; k < PARTS; k++) {
            x[k] = data[k];
            random_fill(x[k], MOST);
            if (numbers[k])
                in[count++] = x[k];
        }
        add_linear(c, numbers);
        run(t, in, (void *[]){y, present},
            (size_t[]){(size_t)(LINEAR_BATCH * c->tokens * most * VALUE_SIZE) * sizeof *y,
                       (size_t)(LINEAR_BATCH * c->values * KEY_SIZE * VALUE_SIZE) * sizeof *y});
        for (int b = 0; b < LINEAR_BATCH; b++)
            for (int h = 0; h < c->values; h++)
                check_linear_head(c, numbers, x, b, h, y, present);
    }
}

TEST(linear_attention_that_does_not_fit_is_refused)
{
    static const struct {
        struct linear_case c;
        const char *reason;
    } cases[] = {
        {{1, 2, 2, 2, "other", 0, 0, true}, "update_rule \"other\" is none of linear, gated, delta and gated_delta"},
        {{1, 3, 3, 2, "linear", 0, 0, true}, "q_num_heads is 3 and kv_num_heads 2; one must be a multiple of the other"},
        {{1, 2, 2, 2, "gated", 6, 0, true}, "heads of queries have 4 elements, of keys 4, of decay 3, of beta 0"},
        {{1, 2, 2, 2, "delta", 0, 0, true}, "input 5 must be [2, 1, a multiple of 2], for 2 heads"},
        {{1, 4, 3, 4, "linear", 0, 0, true}, "input 1 must be [2, 1, a multiple of 3], for 4 heads"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct linear_case *c = &cases[i].c;

        add_linear(c, (const int[PARTS]){c->queries * KEY_SIZE, c->keys * KEY_SIZE, c->values * VALUE_SIZE, c->state, c->decay,
                                         c->beta});
        refused(t, NULL, cases[i].reason);
    }
    add_linear(&cases[4].c, (const int[PARTS]){4 * KEY_SIZE, KEY_SIZE / 2, 4 * VALUE_SIZE, 0, 0, 0});
    refused(t, NULL, "key has 2 elements for a token, which must be a multiple of a query's 4");
}

/* ---- refusals ---- */

static void refuse_matmul(const char *attribute, int64_t value, const char *inputs, const char *reason)
{
    static const uint8_t bytes[5 * 32];
    static const float numbers[64];
    const char *const names[] = {"K", "N", "bits", "block_size"};
    const int64_t values[] = {64, 5, 4, 32};

    start(t, 17);
    input(t, "a", F32, "1 64");
    initializer(t, tensor(t, "b", U8, 3, (int64_t[]){5, 2, 16}, bytes, sizeof bytes));
    initializer(t, tensor(t, "scales", F32, 1, (int64_t[]){10}, numbers, 10 * sizeof *numbers));
    initializer(t, tensor(t, "short", F32, 1, (int64_t[]){9}, numbers, 9 * sizeof *numbers));
    initializer(t, tensor(t, "places", I32, 1, (int64_t[]){64}, numbers, 64 * sizeof *numbers));
    Onnx__NodeProto *n = microsoft(t, "MatMulNBits", inputs, "y");
    for (size_t i = 0; i < 4; i++)
        attribute_int(t, n, names[i], strcmp(names[i], attribute) ? values[i] : value);
    refused(t, NULL, reason);
}

TEST(what_does_not_fit_is_refused)
{
    refuse_matmul("bits", 3, "a b scales", "weights of 3 bits; those of 1, 2, 4 and 8 are read");
    refuse_matmul("bits", 2, "a b scales", "B has 160 elements, not 80");
    refuse_matmul("block_size", 24, "a b scales", "block_size is 24, not a power of two from 16 on");
    refuse_matmul("K", 32, "a b scales", "K is 32 and N is 5, for rows of 64");
    refuse_matmul("K", -1, "a b scales", "K is -1");
    refuse_matmul("N", INT64_MAX, "a b scales", "N is 9223372036854775807");
    refuse_matmul("N", 6, "a b scales", "scales has 10 elements, not 12");
    refuse_matmul("bits", 8, "a b scales", "B has 160 elements, not 320");
    refuse_matmul("", 0, "a b short", "scales has 9 elements, not 10");
    refuse_matmul("", 0, "a b places", "scales of int32, not of floating-point numbers");
    refuse_matmul("", 0, "a b scales - places", "g_idx");
    refuse_matmul("", 0, "a b scales short", "zero_points has 9 elements, not 10");
    refuse_matmul("", 0, "a b scales places", "zero_points of int32");
}

/* The attributes that say that a cache is made of integers. */
TEST(caches_without_their_scales_are_refused)
{
    static const char *const types[] = {"k_quant_type", "v_quant_type"};
    const struct attention_case c = {.length = 1, .last = {5, 8}, .window = -1};

    for (size_t i = 0; i < 3; i++) {
        start(t, 17);
        make_attention(t, &c);
        Onnx__NodeProto *n = t->graph.node[t->graph.n_node - 1];
        if (i < 2)
            attribute_text(t, n, types[i], "PER_TENSOR");
        else
            attribute_int(t, n, "kv_cache_bit_width", 8);
        refused(t, NULL,
                i < 2 ? "a cache of type \"PER_TENSOR\" has no scale that fits 2 heads of 8" : "kv_cache_bit_width is 8");
    }
}

TEST_GROUP(create_context, release_context)
