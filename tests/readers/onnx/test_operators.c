/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ONNX operators and forms of them that the ONNX node tests do not have, on models made here, against plain loops: Einsum,
 * GridSample, indices of MaxPool, matmuls of integers beyond what float32 holds, recurrent operators composed step by
 * step.
 */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/close.h"
#include "support/random.h"

enum { U8 = 2, I8 = 3, I32 = 6, MOST = 8192 };

/* ---- Einsum ---- */

/* Every letter over its size: the sum of products, written at the output's place. */
static void reference_einsum(const char *equation, const int *sizes, float *const *operands, float *y, size_t *y_count)
{
    const char *arrow = strstr(equation, "->");
    size_t total = 1, count = 1;
    int value[128], used[128] = {0};

    for (const char *c = equation; c < arrow; c++)
        if (*c != ',' && !used[(int)*c]++)
            total *= (size_t)sizes[(int)*c];
    for (const char *c = arrow + 2; *c; c++)
        count *= (size_t)sizes[(int)*c];
    memset(y, 0, count * sizeof *y);
    *y_count = count;
    for (size_t i = 0; i < total; i++) {
        size_t rest = i, place = 0, operand = 0;
        double product = 1;
        for (int c = 0; c < 128; c++)
            if (used[c]) {
                value[c] = (int)(rest % (size_t)sizes[c]);
                rest /= (size_t)sizes[c];
            }
        for (const char *c = equation; c <= arrow; c++)
            if (c == arrow || *c == ',') {
                product *= (double)operands[operand++][place];
                place = 0;
            } else
                place = place * (size_t)sizes[(int)*c] + (size_t)value[(int)*c];
        for (const char *c = arrow + 2; *c; c++)
            place = place * (size_t)sizes[(int)*c] + (size_t)value[(int)*c];
        y[place] += (float)product;
    }
}

TEST(einsum_equals_loops_for_any_equation)
{
    /* As given to the model, and as loops understand it if that is another text. */
    char equations[] = "ij,jk->ik;bij,bjk->bik;ij->ji;ii->i;ii=ii->;iij->j;iji->ij;ij->;ij,ij->;i,j->ij;ij,kl->jl;"
                       "bhqd, bhkd -> bhqk=bhqd,bhkd->bhqk;abc,cd,de->abe;ba,cb=ba,cb->ac;...ij,...jk->...ik=xyij,xyjk->xyik;"
                       "a...,...b->ab...=axy,xyb->abxy;ab,ac,ad->bcd;abcd,abed->abce";
    char *rest = NULL;

    for (char *given = strtok_r(equations, ";", &rest); given; given = strtok_r(NULL, ";", &rest)) {
        static float x[3][MOST], y[MOST], want[MOST];
        float *operands[3] = {x[0], x[1], x[2]};
        int sizes[128];
        size_t count = 0, operand = 0;
        char dims[64] = "", names[16] = "", *plain = strchr(given, '=');

        if (plain)
            *plain++ = '\0';
        else
            plain = given;
        start(t, 13);
        for (int c = 'a'; c <= 'z'; c++)
            sizes[c] = 2 + c % 4;
        for (const char *c = plain;; c++) {
            if (*c == ',' || *c == '-') {
                char name[8];
                snprintf(name, sizeof name, "x%zu", operand++);
                input(t, name, F32, dims);
                strcat(strcat(names, " "), name);
                dims[0] = '\0';
            } else
                snprintf(dims + strlen(dims), 8, " %d", sizes[(int)*c]);
            if (*c == '-')
                break;
        }
        for (size_t i = 0; i < 3; i++)
            random_fill(x[i], MOST);
        attribute_text(t, node(t, "Einsum", names, "y"), "equation", given);
        reference_einsum(plain, sizes, operands, want, &count);
        run(t, (void *[]){x[0], x[1], x[2]}, (void *[]){y}, (size_t[]){count * sizeof *y});
        for (size_t i = 0; i < count; i++)
            if (!(fabsf(y[i] - want[i]) < 1e-4f))
                fail_msg("%s: element %zu is %g instead of %g", given, i, (double)y[i], (double)want[i]);
    }
}

/* ---- matmuls of integers ---- */

/* Says what MatMulInteger multiplies: one row or column has no dimension of its own. */
struct integer_matmul {
    size_t rows, terms, columns;
    int32_t zero_a, zero_b; /* of unsigned a, signed b */
    bool is_signed;         /* a is, too */
    bool largest;           /* all products are the largest that there can be but for one, which makes the sum odd */
};

/* Of so many terms: float32 sums are cut into pieces of them, or with many an operand is split by bits. */
static void check_integer_matmul(const struct integer_matmul *c)
{
    enum { M = 50, MOST = 9000, N = 24 };
    static uint8_t a[M * MOST];
    static int8_t b[MOST * N];
    const size_t terms = c->terms;
    const int top = c->is_signed ? 127 : 255;
    char a_text[48] = "", b_text[48];
    static int32_t y[M * N];
    const uint8_t za = (uint8_t)c->zero_a;
    const int8_t zb = (int8_t)c->zero_b;

    assert_true(c->rows <= M && c->columns <= N && terms <= MOST);
    start(t, 13);
    for (size_t i = 0; i < c->rows * terms; i++)
        a[i] = (uint8_t)(top - (int)(c->largest ? i % terms == 0 : random_below(3)));
    for (size_t i = 0; i < terms * c->columns; i++)
        b[i] = (int8_t)(-128 + (int)(c->largest ? i < c->columns : random_below(2)));
    if (c->rows > 1)
        snprintf(a_text, sizeof a_text, "%zu ", c->rows);
    snprintf(a_text + strlen(a_text), 24, "%zu", terms);
    snprintf(b_text, sizeof b_text, c->columns > 1 ? "%zu %zu" : "%zu", terms, c->columns);
    input(t, "a", c->is_signed ? I8 : U8, a_text);
    input(t, "b", I8, b_text);
    initializer(t, tensor(t, "za", c->is_signed ? I8 : U8, 0, NULL, &za, 1));
    initializer(t, tensor(t, "zb", I8, 0, NULL, &zb, 1));
    node(t, "MatMulInteger", "a b za zb", "y");
    run(t, (void *[]){a, b}, (void *[]){y}, (size_t[]){c->rows * c->columns * sizeof *y});
    for (size_t m = 0; m < c->rows; m++)
        for (size_t n = 0; n < c->columns; n++) {
            int32_t want = 0;
            for (size_t k = 0; k < terms; k++)
                want += ((c->is_signed ? (int8_t)a[m * terms + k] : a[m * terms + k]) - c->zero_a) *
                        (b[k * c->columns + n] - c->zero_b);
            assert_true(abs(want) > 1 << 24);
            assert_int_equal(y[m * c->columns + n], want);
        }
}

TEST(integer_matmuls_are_exact_beyond_float32)
{
    static const struct integer_matmul cases[] = {
        {3, 1500, 2, 3, 0, false, false},   {3, 1057, 2, 7, 0, false, true},  /* two pieces of 529 would be too long */
        {3, 9000, 2, 3, 0, false, false},   {1, 1500, 2, 3, 0, false, false}, /* vectors */
        {3, 1500, 1, 3, 0, false, false},   {1, 1501, 1, 3, 0, false, true},
        {2, 300, 2, -128, 127, true, true},                                     /* zero points make bytes up to 255 */
        {2, 601, 2, 0, 127, true, true},    {50, 1508, 24, 3, 5, false, false}, /* bytes are packed at run time */
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_integer_matmul(&cases[i]);
}

TEST(integer_convolutions_are_exact_beyond_float32)
{
    enum { C = 200, K = 9 };
    static uint8_t x[C * 16], w[C * K];
    int32_t y[4];

    start(t, 13);
    for (size_t i = 0; i < C * 16; i++)
        x[i] = (uint8_t)(255 - random_below(3));
    for (size_t i = 0; i < C * K; i++)
        w[i] = (uint8_t)(255 - random_below(3));
    inputs_of(t, U8, "x 1 200 4 4; w 1 200 3 3");
    node(t, "ConvInteger", "x w", "y");
    run(t, (void *[]){x, w}, (void *[]){y}, (size_t[]){sizeof y});
    for (size_t i = 0; i < 4; i++) {
        int32_t want = 0;
        for (size_t c = 0; c < C; c++)
            for (size_t k = 0; k < K; k++)
                want += x[c * 16 + (i / 2 + k / 3) * 4 + i % 2 + k % 3] * w[c * K + k];
        assert_int_equal(y[i], want);
    }
}

/*
 * What tools that quantise dynamically write: the range of the activations while the model runs, sums of integers, a cast, and
 * the scales.  The sums pass 2^24.  Where they are an output, too, the weights are read by more than the contraction of bytes.
 */
static void check_dynamically_quantized_matmul(bool with_sums)
{
    enum { M = 3, K = 1500, N = 16 };
    static float x[M * K], y[M * N];
    static uint8_t q[M * K];
    static int8_t w[K * N];
    int32_t sums[M * N];
    float scale, weight_scale = 0.25f, bias[N];
    uint8_t zero;

    start(t, 13);
    for (size_t i = 0; i < M * K; i++)
        x[i] = 3 + (float)random_below(200) / 64;
    x[7] = -0.75f;
    for (size_t i = 0; i < K * N; i++)
        w[i] = (int8_t)(127 - (int)random_below(3));
    for (size_t i = 0; i < N; i++)
        bias[i] = (float)i - 4;
    input(t, "x", F32, "3 1500");
    initializer(t, tensor(t, "w", I8, 2, (int64_t[]){K, N}, w, sizeof w));
    initializer(t, tensor(t, "ws", F32, 0, NULL, &weight_scale, sizeof weight_scale));
    initializer(t, tensor(t, "b", F32, 1, (int64_t[]){N}, bias, sizeof bias));
    nodes_in(t, &t->graph,
             "q s z = DynamicQuantizeLinear x; i = MatMulInteger q w z; f = Cast i, to 1; "
             "m = Mul s ws; p = Mul f m; y = Add p b");
    output(t, "y q s z");
    if (with_sums)
        output(t, "i");
    run(t, (void *[]){x}, (void *[]){y, q, &scale, &zero, sums},
        (size_t[]){sizeof y, sizeof q, sizeof scale, sizeof zero, sizeof sums});
    assert_true(zero > 0);
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            int32_t want = 0;
            for (size_t k = 0; k < K; k++)
                want += (q[m * K + k] - zero) * w[k * N + n];
            assert_true(want > 1 << 24);
            if (with_sums)
                assert_int_equal(sums[m * N + n], want);
            const double exact = (double)want * scale * weight_scale + bias[n];
            /* All terms have one sign, so that float32 sums may be off by a rounding each; where they are integers, by four. */
            assert_true(fabs(y[m * N + n] - exact) <= (K + 3) * 0x1p-24 * exact);
        }
}

TEST(dynamically_quantized_matmuls_are_exact)
{
    check_dynamically_quantized_matmul(false);
    check_dynamically_quantized_matmul(true);
}

/* ---- recurrent operators ---- */

/* With a clip that never clips the operator is composed step by step, without it is one of WebNN's: the same numbers. */
TEST(recurrent_steps_equal_the_operator)
{
    enum { STEPS = 4, BATCH = 2, IN = 3, H = 5 };
    static const struct {
        const char *operator;
        uint32_t gates;
        int64_t before_reset;
    } kinds[] = {{"LSTM", 4, 0}, {"GRU", 3, 0}, {"GRU", 3, 1}};
    static const char *const directions[] = {"forward", "reverse", "bidirectional"};

    for (size_t k = 0; k < 3; k++)
        for (size_t d = 0; d < 3; d++) {
            float x[STEPS * BATCH * IN], w[2 * 4 * H * IN], r[2 * 4 * H * H], b[2 * 8 * H], h[2 * BATCH * H],
                y[2][STEPS * 2 * BATCH * H], last[2][2 * BATCH * H];
            int64_t n = d == 2 ? 2 : 1, g = kinds[k].gates * H;

            random_fill(x, sizeof x / sizeof *x);
            random_fill(w, sizeof w / sizeof *w);
            random_fill(r, sizeof r / sizeof *r);
            random_fill(b, sizeof b / sizeof *b);
            random_fill(h, sizeof h / sizeof *h);
            for (size_t variant = 0; variant < 2; variant++) {

                start(t, 14);
                input(t, "x", F32, "4 2 3");
                initializer(t, tensor(t, "w", F32, 3, (int64_t[]){n, g, IN}, w, (size_t)(n * g * IN) * 4));
                initializer(t, tensor(t, "r", F32, 3, (int64_t[]){n, g, H}, r, (size_t)(n * g * H) * 4));
                initializer(t, tensor(t, "b", F32, 2, (int64_t[]){n, 2 * g}, b, (size_t)(n * 2 * g) * 4));
                initializer(t, tensor(t, "h", F32, 3, (int64_t[]){n, BATCH, H}, h, (size_t)(n * BATCH * H) * 4));
                Onnx__NodeProto *node_ = node(t, kinds[k].operator, "x w r b - h", "y last");
                attribute_int(t, node_, "hidden_size", H);
                attribute_text(t, node_, "direction", directions[d]);
                if (kinds[k].before_reset)
                    attribute_int(t, node_, "linear_before_reset", 1);
                if (variant)
                    attribute_float(t, node_, "clip", 1000);
                output(t, "y last");
                run(t, (void *[]){x}, (void *[]){y[variant], last[variant]},
                    (size_t[]){(size_t)(STEPS * n * BATCH * H) * sizeof(float), (size_t)(n * BATCH * H) * sizeof(float)});
            }
            for (int64_t i = 0; i < STEPS * n * BATCH * H; i++)
                assert_close(y[0][i], y[1][i], 1e-5);
            for (int64_t i = 0; i < n * BATCH * H; i++)
                assert_close(last[0][i], last[1][i], 1e-5);
        }
}

/* ---- indices of MaxPool ---- */

TEST(max_pool_tells_indices)
{
    enum { C = 2, H = 5, W = 6 };

    for (int64_t column_major = 0; column_major < 2; column_major++) {
        float x[C * H * W], y[C * 3 * 3];
        int64_t indices[C * 3 * 3];

        start(t, 12);
        for (size_t i = 0; i < C * H * W; i++)
            x[i] = -1.0f - (float)random_below(4); /* below 0, with ties */
        input(t, "x", F32, "1 2 5 6");
        Onnx__NodeProto *n = nodes_in(t, &t->graph, "y i = MaxPool x, kernel_shape [3 3], strides [2 2], pads [1 1 1 0]");
        attribute_int(t, n, "storage_order", column_major);
        output(t, "y i");
        run(t, (void *[]){x}, (void *[]){y, indices}, (size_t[]){sizeof y, sizeof indices});
        for (int c = 0; c < C; c++)
            for (int o = 0; o < 9; o++) {
                float best = -INFINITY;
                int64_t at = -1;
                for (int p = 0; p < 9; p++) {
                    int row = o / 3 * 2 - 1 + p / 3, column = o % 3 * 2 - 1 + p % 3;
                    if (row < 0 || column < 0 || row >= H || column >= W || x[(c * H + row) * W + column] <= best)
                        continue;
                    best = x[(c * H + row) * W + column];
                    at = c * H * W + (column_major ? column * H + row : row * W + column);
                }
                assert_true(y[c * 9 + o] == best);
                assert_int_equal(indices[c * 9 + o], at);
            }
    }
}

/* ---- GridSample ---- */

static double reflect_into(double x, double low, double high)
{
    while (high > low && (x < low || x > high))
        x = x < low ? 2 * low - x : 2 * high - x;
    return high > low ? x : low;
}

static double pixel(const float *x, int h, int w, double row, double column, int padding)
{
    if (row >= 0 && column >= 0 && row < h && column < w)
        return (double)x[(int)row * w + (int)column];
    if (!padding)
        return 0;
    row = fmin(fmax(row, 0), h - 1);
    column = fmin(fmax(column, 0), w - 1);
    return (double)x[(int)row * w + (int)column];
}

/** The cubic convolution of ONNX's text, with a = -0.75. */
static double cubic_weight(double x)
{
    const double a = -0.75;

    x = fabs(x);
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

TEST(grid_sample_equals_loops)
{
    static const char *const modes[] = {"linear", "nearest", "cubic"}, *const paddings[] = {"zeros", "border", "reflection"};
    enum { H = 3, W = 4, O = 20 };

    for (int form = 0; form < 18; form++) {
        float x[H * W], grid[O * 2], y[O];
        bool nearest = form % 3 == 1, cubic = form % 3 == 2, align = form / 3 % 2;
        int padding = form / 6;

        start(t, 20);
        random_fill(x, H * W);
        for (size_t i = 0; i < O * 2; i++)
            grid[i] = (float)random_below(5001) / 1000 - 2.5f;
        inputs_of(t, F32, "x 1 1 3 4; grid 1 4 5 2");
        Onnx__NodeProto *n = node(t, "GridSample", "x grid", "y");
        attribute_text(t, n, "mode", modes[form % 3]);
        attribute_text(t, n, "padding_mode", paddings[padding]);
        attribute_int(t, n, "align_corners", align);
        run(t, (void *[]){x, grid}, (void *[]){y}, (size_t[]){sizeof y});
        for (int i = 0; i < O; i++) {
            double at[2], want = 0;
            for (int k = 0; k < 2; k++) {
                double size = k ? H : W, g = (double)grid[2 * i + k], low = align ? 0 : -0.5;
                at[k] = align ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
                if (nearest)
                    at[k] = rint(at[k]);
                if (padding == 2 && !cubic)
                    at[k] = reflect_into(at[k], low, size - 1 - low);
                if (padding && !cubic)
                    at[k] = fmin(fmax(at[k], 0), size - 1);
            }
            if (nearest)
                want = pixel(x, H, W, at[1], at[0], padding);
            for (int k = 0; k < 16 && cubic; k++) {
                double column = floor(at[0]) - 1 + k % 4, row = floor(at[1]) - 1 + k / 4;
                const double weight = cubic_weight(at[0] - column) * cubic_weight(at[1] - row);
                if (padding == 2) {
                    column = reflect_into(column, align ? 0 : -0.5, align ? W - 1 : W - 0.5);
                    row = reflect_into(row, align ? 0 : -0.5, align ? H - 1 : H - 0.5);
                }
                want += pixel(x, H, W, row, column, padding) * weight;
            }
            for (int k = 0; k < 4 && !nearest && !cubic; k++) {
                double column = floor(at[0]) + (k & 1), row = floor(at[1]) + (k >> 1);
                want += pixel(x, H, W, row, column, padding) * (1 - fabs(at[0] - column)) * (1 - fabs(at[1] - row));
            }
            if (!(fabs((double)y[i] - want) < 1e-4))
                fail_msg("mode %s, padding %s, align %d: element %d is %g instead of %g", modes[form % 3], paddings[padding],
                         align, i, (double)y[i], want);
        }
    }
}

/* ---- operators of ONNX Runtime ---- */

static double saturate(double x)
{
    return fmin(fmax(rint(x), 0), 255);
}

TEST(quantised_operators_compute_on_what_is_meant)
{
    enum { M = 3, K = 4, N = 2 };
    uint8_t a[M * K], b[M * K], w[K * N], sum[M * K], y[M * N];
    int32_t bias[N];

    start(t, 13);
    for (size_t i = 0; i < M * K; i++) {
        a[i] = (uint8_t)random_below(256);
        b[i] = (uint8_t)random_below(256);
    }
    for (size_t i = 0; i < K * N; i++)
        w[i] = (uint8_t)random_below(256);
    for (size_t i = 0; i < N; i++)
        bias[i] = (int32_t)random_below(20000) - 10000;
    inputs_of(t, U8, "a 3 4; b 3 4");
    initializer(t, tensor(t, "w", U8, 2, (int64_t[]){K, N}, w, sizeof w));
    initializer(t, tensor(t, "c", I32, 1, (int64_t[]){N}, bias, sizeof bias));
    number(t, "sa", 0.5f);
    number(t, "sb", 0.25f);
    number(t, "ss", 1);
    number(t, "sw", 0.125f);
    number(t, "sy", 16);
    byte(t, "za", U8, 100);
    byte(t, "zs", U8, 30);
    byte(t, "zw", U8, 120);
    byte(t, "zy", U8, 128);
    nodes_in(t, &t->graph, "s = ms:QLinearAdd a sa za b sb - ss zs; y = ms:QGemm s ss zs w sw zw c sy zy, alpha 1.0");
    output(t, "s y");
    run(t, (void *[]){a, b}, (void *[]){sum, y}, (size_t[]){sizeof sum, sizeof y});
    for (size_t i = 0; i < M * K; i++)
        assert_int_equal(sum[i], saturate(rint((a[i] - 100) * 0.5 + b[i] * 0.25) + 30));
    for (size_t i = 0; i < M; i++)
        for (size_t k = 0; k < N; k++) {
            double want = bias[k] * 0.125;
            for (size_t j = 0; j < K; j++)
                want += (sum[i * K + j] - 30) * ((w[j * N + k] - 120) * 0.125);
            assert_int_equal(y[i * N + k], saturate(rint(want / 16) + 128));
        }
}

TEST(skip_normalisations_and_fused_matmuls_are_right)
{
    enum { ROWS = 3, SIZE = 8 };
    float x[ROWS * SIZE], skip[ROWS * SIZE], gamma[SIZE], beta[SIZE], y[ROWS * SIZE], z[ROWS * SIZE], sum[ROWS * SIZE],
        p[ROWS * ROWS], again[ROWS * SIZE];

    start(t, 13);
    random_fill(x, ROWS * SIZE);
    random_fill(skip, ROWS * SIZE);
    random_fill(gamma, SIZE);
    random_fill(beta, SIZE);
    inputs_of(t, F32, "x 3 8; skip 3 8");
    initializer(t, tensor(t, "gamma", F32, 1, (int64_t[]){SIZE}, gamma, sizeof gamma));
    initializer(t, tensor(t, "beta", F32, 1, (int64_t[]){SIZE}, beta, sizeof beta));
    attribute_float(t, microsoft(t, "SkipLayerNormalization", "x skip gamma beta", "y - - sum"), "epsilon", 0.5f);
    attribute_float(t, microsoft(t, "SkipSimplifiedLayerNormalization", "x skip gamma", "z"), "epsilon", 0.5f);
    /* ONNX has it from version 17 on, ONNX Runtime writes it into older files. */
    attribute_float(t, node(t, "LayerNormalization", "sum gamma beta", "again"), "epsilon", 0.5f);
    nodes_in(t, &t->graph, "p = ms:FusedMatMul x skip, transB 1, alpha 3.0");
    output(t, "y sum z p again");
    run(t, (void *[]){x, skip}, (void *[]){y, sum, z, p, again},
        (size_t[]){sizeof y, sizeof sum, sizeof z, sizeof p, sizeof again});
    for (size_t r = 0; r < ROWS; r++) {
        double mean = 0, variance = 0, square = 0;
        for (size_t i = 0; i < SIZE; i++) {
            assert_true(sum[r * SIZE + i] == x[r * SIZE + i] + skip[r * SIZE + i]);
            mean += (double)sum[r * SIZE + i] / SIZE;
            square += (double)sum[r * SIZE + i] * (double)sum[r * SIZE + i] / SIZE;
        }
        variance = square - mean * mean;
        for (size_t i = 0; i < SIZE; i++) {
            double s = (double)sum[r * SIZE + i];
            assert_close(y[r * SIZE + i], (s - mean) / sqrt(variance + 0.5) * (double)gamma[i] + (double)beta[i], 1e-5);
            assert_close(again[r * SIZE + i], y[r * SIZE + i], 1e-6);
            assert_close(z[r * SIZE + i], s / sqrt(square + 0.5) * (double)gamma[i], 1e-5);
        }
        for (size_t c = 0; c < ROWS; c++) {
            double want = 0;
            for (size_t i = 0; i < SIZE; i++)
                want += 3 * (double)x[r * SIZE + i] * (double)skip[c * SIZE + i];
            assert_close(p[r * ROWS + c], want, 1e-4);
        }
    }
}

/* ---- losses ---- */

/* Means of weighted logarithms; a target that is to be ignored weighs nothing. */
static void check_loss(bool softmax, bool ignores)
{
    enum { N = 3, CLASSES = 4, SIZE = 2 };
    static const int64_t targets[N * SIZE] = {1, -5, 0, 3, 2, 1};
    static const float weights[CLASSES] = {.5F, 1.5F, 2, .25F};
    float x[N * CLASSES * SIZE], y = 0;
    int64_t chosen[N * SIZE];
    double sum = 0, all = 0;

    start(t, 13);
    random_fill(x, N * CLASSES * SIZE);
    input(t, "x", F32, "3 4 2");
    input(t, "t", I64, "3 2");
    initializer(t, tensor(t, "w", F32, 1, (int64_t[]){CLASSES}, weights, sizeof weights));
    Onnx__NodeProto *n = node(t, softmax ? "SoftmaxCrossEntropyLoss" : "NegativeLogLikelihoodLoss", "x t w", "y");
    if (ignores)
        attribute_int(t, n, "ignore_index", -5);
    for (int i = 0; i < N * SIZE; i++) {
        const float *at = x + i / SIZE * CLASSES * SIZE + i % SIZE;
        double total = 0;

        chosen[i] = targets[i] < 0 && !ignores ? 2 : targets[i];
        for (int c = 0; c < CLASSES; c++)
            total += exp((double)at[c * SIZE]);
        if (chosen[i] < 0)
            continue;
        sum -= ((double)at[chosen[i] * SIZE] - (softmax ? log(total) : 0)) * (double)weights[chosen[i]];
        all += (double)weights[chosen[i]];
    }
    run(t, (void *[]){x, chosen}, (void *[]){&y}, (size_t[]){sizeof y});
    assert_close(y, sum / all, 1e-5);
}

/** An infinite logarithm that an ignored target would name adds nothing. */
TEST(ignored_targets_weigh_nothing)
{
    float x[] = {-INFINITY, 0, -1, 1, 2, 3}, y = 0;
    int64_t targets[] = {-1, 2};

    start(t, 13);
    input(t, "x", F32, "2 3");
    input(t, "t", I64, "2");
    attribute_int(t, node(t, "SoftmaxCrossEntropyLoss", "x t", "y"), "ignore_index", -1);
    run(t, (void *[]){x, targets}, (void *[]){&y}, (size_t[]){sizeof y});
    assert_close(y, log(1 + exp(-1.0) + exp(-2.0)), 1e-5);
}

TEST(losses_are_right)
{
    for (int softmax = 0; softmax < 2; softmax++)
        for (int ignores = 0; ignores < 2; ignores++)
            check_loss(softmax, ignores);
}

static void check_moments(const float *x, size_t count, double mean, double deviation)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        sum += (double)x[i];
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    }
    assert_close(sum / (double)count, mean, 5 * deviation / sqrt((double)count));
    assert_close(sqrt(squares / (double)count), deviation, 5 * deviation / sqrt((double)count));
}

/** Random numbers have the moments of their distributions; a seed, or a name, says which they are. */
TEST(random_numbers_are_drawn_when_the_model_is_read)
{
    enum { COUNT = 8192 };
    static float a[COUNT], b[COUNT], c[COUNT], d[COUNT], chances[COUNT];

    for (int turn = 0; turn < 2; turn++) {
        start(t, 15);
        input(t, "p", F32, "8192");
        for (int i = 0; i < 2; i++) {
            Onnx__NodeProto *n = node(t, i ? "RandomNormalLike" : "RandomNormal", i ? "p" : "", i ? "b" : "a");
            attribute_float(t, n, "mean", 2);
            attribute_float(t, n, "scale", 3);
            if (!i)
                INTS(t, n, "shape", COUNT);
        }
        Onnx__NodeProto *n = nodes_in(t, &t->graph, "c = RandomUniformLike p, low -1.0");
        attribute_float(t, n, "seed", turn ? 4 : 3);
        nodes_in(t, &t->graph, "d = Bernoulli p");
        output(t, "a b c d");
        for (int i = 0; i < COUNT; i++)
            chances[i] = 0.25F;
        const float before[] = {a[0], c[0]};
        run(t, (void *[]){chances}, (void *[]){a, b, c, d}, (size_t[]){sizeof a, sizeof b, sizeof c, sizeof d});
        assert_true(a[0] != b[0] && (!turn || (a[0] == before[0] && c[0] != before[1])));
    }
    check_moments(a, COUNT, 2, 3);
    check_moments(b, COUNT, 2, 3);
    check_moments(c, COUNT, 0, 1 / sqrt(3));
    check_moments(d, COUNT, 0.25, sqrt(0.25 * 0.75));
}

TEST(scales_that_do_not_fit_8_bit_floats_are_refused)
{
    net(21, "x 6; s 4", "q = Cast x, to 17; y = DequantizeLinear q s, axis 0");
    refused(t, NULL, "4 scales along axis 0 of 6 elements; its inputs are float8e4m3fn [6], float32 [4]");
}

TEST_GROUP(create_context, release_context)
