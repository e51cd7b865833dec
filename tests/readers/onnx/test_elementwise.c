/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operators that the ONNX reader composes of WebNN's, over the whole range of their type. */
#include <float.h>
#include <math.h>

#include "frontend/readers/onnx/term.h"
#include "ir/graph/ir.h"
#include "readers/onnx/net.h"

static const float numbers[] = {0,          -0.0f,   INFINITY, -INFINITY, NAN,     1,         -1,         0.99999994f,
                                1.0000001f, 0.5f,    -0.5f,    0.1f,      -0.1f,   3,         -3,         7,
                                -10,        88,      -88,      89.5f,     -89.5f,  0x1p-149f, -0x1p-140f, 0x1p-126f,
                                1e-20f,     -1e-10f, 1e-4f,    5000,      0x1p24f, -0x1p25f,  1e10f,      1e19f,
                                -2e19f,     1e20f,   1e35f,    -1e35f,    3e38f,   -3e38f,    FLT_MAX,    -FLT_MAX};
enum { COUNT = sizeof numbers / sizeof *numbers };

/** Infinities and NaN come out where they should, and everything else within a few units in the last place. */
TEST(functions_are_right_to_the_ends_of_their_range)
{
    enum { UNITS = 16 };
    static const struct {
        const char *type;
        double (*function)(double);
    } cases[] = {{"Acos", acos}, {"Acosh", acosh}, {"Asin", asin}, {"Asinh", asinh},
                 {"Atan", atan}, {"Atanh", atanh}, {"Cosh", cosh}, {"Sinh", sinh}};
    float y[COUNT];

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        start(t, 17);
        input(t, "x", F32, "40");
        node(t, cases[c].type, "x", "y");
        computes(numbers, y);
        for (size_t i = 0; i < COUNT; i++) {
            const float expected = (float)cases[c].function((double)numbers[i]);

            if (!(y[i] == expected || (isnan(y[i]) && isnan(expected)) ||
                  fabsf(y[i] - expected) <= UNITS * (nextafterf(fabsf(expected), INFINITY) - fabsf(expected))))
                fail_msg("%s(%.9g) is %.9g instead of %.9g", cases[c].type, (double)numbers[i], (double)y[i], (double)expected);
        }
    }
}

/** Begins a model that computes in float64 with d, which is its input x. */
static void start_double(const char *dims)
{
    start(t, 17);
    input(t, "x", F32, dims);
    attribute_int(t, node(t, "Cast", "x", "d"), "to", F64);
}

static void add_double(const char *name, double value)
{
    initializer(t, tensor(t, name, 11, 0, NULL, &value, sizeof value));
}

/** What a model computes in float64 between casts has the bits that C's double has, also by constants beyond float32's range.
 */
TEST(float64_within_a_model_is_computed_in_it)
{
    static const double cases[][2] = {{1e9, 1 / 3.0}, {-0.1, 1.25e300}, {0x1p-40, 3e-300}, {0, -DBL_MAX}};
    float x[COUNT], y[COUNT], z[COUNT];

    memcpy(x, numbers, sizeof x);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double bias = cases[c][0], factor = cases[c][1];

        start_double("40");
        add_double("bias", bias);
        add_double("factor", factor);
        nodes_in(t, &t->graph,
                 "a = Add d bias; b = Mul a factor; c = Div b factor; above = Greater d factor; w = Where "
                 "above c a; s = Sub w bias; y = Cast s, to 1; e = Abs d; q = Sqrt e; f = Floor a; g = Ceil a; h = Round a; "
                 "i = Sub q f; j = Sub g i; k = Mul h factor; l = Add j k; z = Cast l, to 1");
        output(t, "y z");
        run(t, (void *[]){x}, (void *[]){y, z}, (size_t[]){sizeof y, sizeof z});
        for (size_t i = 0; i < COUNT; i++) {
            const double a = (double)x[i] + bias;
            const float want = (float)(((double)x[i] > factor ? a * factor / factor : a) - bias);
            const float other = (float)(ceil(a) - (sqrt(fabs((double)x[i])) - floor(a)) + rint(a) * factor);

            if (memcmp(&z[i], &other, sizeof other) != 0 && !(isnan(z[i]) && isnan(other)))
                fail_msg("functions of %.9g + %g are %.9g instead of %.9g", (double)x[i], bias, (double)z[i], (double)other);
            if (memcmp(&y[i], &want, sizeof want) != 0 && !(isnan(y[i]) && isnan(want)))
                fail_msg("(%.9g + %g) * %g is %.9g instead of %.9g", (double)x[i], bias, factor, (double)y[i], (double)want);
        }
    }
}

/* Returns x truncated to a whole number from low to high, and 0 for NaN. */
static int64_t whole_of(double x, double low, double high)
{
    return isnan(x) ? 0 : x <= low ? (int64_t)low : x >= high ? (int64_t)high : (int64_t)x;
}

/** Casts to integers keep what float32 would round, and saturate. */
TEST(whole_numbers_of_float64_are_exact)
{
    static const double biases[] = {16777217, -2147483647.5, 0x1p53, 255.75};
    float x[COUNT];
    int64_t y[COUNT];
    int32_t z[COUNT];
    uint8_t b[COUNT];

    memcpy(x, numbers, sizeof x);
    for (size_t c = 0; c < sizeof biases / sizeof *biases; c++) {
        start_double("40");
        add_double("bias", biases[c]);
        nodes_in(t, &t->graph, "a = Add d bias; y = Cast a, to 7; z = Cast a, to 6; b = Cast a, to 2");
        output(t, "y z b");
        run(t, (void *[]){x}, (void *[]){y, z, b}, (size_t[]){sizeof y, sizeof z, sizeof b});
        for (size_t i = 0; i < COUNT; i++) {
            const double a = (double)x[i] + biases[c];

            if (a < 0x1p63) /* the largest int64 is no double */
                assert_int_equal(y[i], whole_of(a, -0x1p63, 0x1p62 * 1.9999999999999998));
            assert_int_equal(z[i], whole_of(a, INT32_MIN, INT32_MAX));
            assert_int_equal(b[i], whole_of(a, 0, UINT8_MAX));
        }
    }
}

/** Bounds, padding and signed zeros are those of float64. */
TEST(float64_has_its_own_bounds)
{
    const double low = 785 / 99991., zeros[] = {-0.0, 0.1}; /* the low word of low is that of a NaN */
    float x[9] = {-1, -1, -1, -1, -1, -1, -1, -1, -1}, y[9];

    start_double("3");
    add_double("low", low);
    nodes_in(t, &t->graph, "c = Clip d low; y = Cast c, to 1");
    run(t, (void *[]){x}, (void *[]){y}, (size_t[]){3 * sizeof *y});
    assert_float_equal(y[0], (float)low, 0);
    start_double("1 1 3 3");
    nodes_in(t, &t->graph, "p = MaxPool d, kernel_shape [3 3], pads [1 1 1 1]; y = Cast p, to 1");
    run(t, (void *[]){x}, (void *[]){y}, (size_t[]){sizeof y});
    for (size_t i = 0; i < 9; i++)
        assert_float_equal(y[i], -1, 0);
    start_double("2");
    initializer(t, tensor(t, "zeros", F64, 1, (int64_t[]){2}, zeros, sizeof zeros));
    nodes_in(t, &t->graph, "m = Mul d zeros; r = Reciprocal m; y = Cast r, to 1");
    run(t, (void *[]){x}, (void *[]){y}, (size_t[]){2 * sizeof *y});
    assert_float_equal(y[0], INFINITY, 0);
    assert_float_equal(y[1], -10, 0);
}

/** A bound that is absent or infinite limits nothing. */
TEST(clips_keep_infinities_and_nan)
{
    const float x[] = {INFINITY, -INFINITY, NAN};
    float y[12];

    net(13, "x 3", "a = Clip x zero; b = Clip x - zero; c = Clip x low high; d = Clip x; y = Concat a b c d, axis 0");
    number(t, "zero", 0);
    number(t, "low", -INFINITY);
    number(t, "high", INFINITY);
    computes(x, y);
    for (int i = 0; i < 12; i++)
        assert_true(i % 3 == 2 ? isnan(y[i]) : y[i] == (i == 1 || i == 3 ? 0 : x[i % 3]));
    net(6, "x 3", "a = Clip x, min 0.0; b = Clip x, max 0.0; y = Concat a b, axis 0");
    compute((reads(t, NULL), t), x, sizeof x, y, sizeof y / 2);
    for (int i = 0; i < 6; i++)
        assert_true(i % 3 == 2 ? isnan(y[i]) : y[i] == (i == 1 || i == 3 ? 0 : x[i % 3]));
    net(13, "x 1 1 3; w 1 1 1", "y = ms:FusedConv x w, activation Clip");
    run(t, (void *[]){(void *)x, (float[]){1}}, (void *[]){y}, (size_t[]){sizeof x});
    assert_true(y[0] == INFINITY && y[1] == -INFINITY && isnan(y[2]));
}

/** Operators without float64 say so. */
TEST(float64_stays_inside)
{
    start_double("40");
    node(t, "Exp", "d", "y");
    refused(t, NULL, "input has data type float64, allowed are float32, float16");
    start_double("40");
    nodes_in(t, &t->graph, "m = Mod d d, fmod 1; y = Cast m, to 1");
    refused(t, NULL, "remainders of float64 are not computed");
    start_double("2");
    initializer(t, tensor(t, "two", 11, 1, (int64_t[]){2}, (double[]){1e300, 1e-300}, 16));
    nodes_in(t, &t->graph, "a = Add d two; y = Cast a, to 1");
    refused(t, NULL, "a constant of float64 has numbers of too different sizes");
}

/** Squares and sums beyond the range of half precision: results are those of single precision, rounded once. */
TEST(half_precision_is_left_on_the_way)
{
    char lines[] = "LRN %1$s, size 3;MeanVarianceNormalization %1$s;GlobalLpPool %1$s, p 3;LpNormalization %1$s, p 1;"
                   "Mean %1$s %1$s %1$s %1$s;NegativeLogLikelihoodLoss %1$s t %1$sw;FusedMatMul %1$s %1$s, transB 1;"
                   "LpPool %1$s, p 3";
    uint16_t x[64];
    float same = 0;

    for (size_t i = 0; i < 64; i++)
        x[i] = f32_to_f16((float)(i * 37 % 64) * 600 - 19080);
    for (char *rest = NULL, *op = strtok_r(lines, ";", &rest); op; op = strtok_r(NULL, ";", &rest)) {
        start(t, 18);
        inputs_of(t, 10, "h 1 2 2 16; hw 2");
        initializer(t, tensor(t, "t", 6, 3, (int64_t[]){1, 2, 16}, (int32_t[32]){0, 1}, 32 * sizeof(int32_t)));
        nodes_in(t, &t->graph, "f = Cast h, to 1; fw = Cast hw, to 1");
        for (const char *in = "hf"; *in; in++) {
            char line[80] = {*in, 'y', ' ', '=', ' '};

            snprintf(line + 5, sizeof line - 5, op, (char[]){*in, 0});
            Onnx__NodeProto *n = nodes_in(t, &t->graph, line);
            if (*op == 'F') {
                n->domain = microsoft(t, "Gelu", "f", *in == 'h' ? "u" : "v")->domain; /* which the model imports then */
                attribute_float(t, n, "alpha", 1e-5f);
            }
            if (!strncmp(op, "LpPool", 6))
                INTS(t, n, "kernel_shape", 2, 2);
        }
        nodes_in(t, &t->graph, "z = Cast fy, to 10; e = Equal hy z; c = Cast e, to 1; y = ReduceMin c, keepdims 0");
        run(t, (void *[]){x, x + 40}, (void *[]){&same}, (size_t[]){sizeof same});
        assert_float_equal(same, 1, 0);
    }
}

/** Every pair of the numbers, of either sign and any size: what fmod says, bit by bit, unless their quotient is too large. */
TEST(floating_point_remainders_are_exact)
{
    static float a[COUNT * COUNT], b[COUNT * COUNT], y[COUNT * COUNT];

    for (size_t i = 0; i < COUNT * COUNT; i++) {
        a[i] = numbers[i / COUNT];
        b[i] = numbers[i % COUNT];
    }
    net(13, "a 1600; b 1600", "y = Mod a b, fmod 1");
    run(t, (void *[]){a, b}, (void *[]){y}, (size_t[]){sizeof y});
    for (size_t i = 0; i < COUNT * COUNT; i++) {
        const float expected = fmodf(a[i], b[i]);

        if (isfinite(a[i]) && b[i] != 0 && fabs((double)a[i] / (double)b[i]) >= 0x1p128)
            assert_true(isnan(y[i]));
        else if (isnan(expected) ? !isnan(y[i]) : memcmp(&y[i], &expected, sizeof expected) != 0)
            fail_msg("%.9g mod %.9g is %.9g instead of %.9g", (double)a[i], (double)b[i], (double)y[i], (double)expected);
    }
}

/** One result along an axis has its centre at the first element, which is all that it takes. */
TEST(a_resize_to_length_1_by_half_pixels_takes_the_first)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const float x[16] = {5, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    float y[4] = {0};

    for (size_t m = 0; m < 3; m++) {
        start(t, 13);
        input(t, "x", F32, "1 1 4 4");
        integers(t, "sizes", 4, (int64_t[]){1, 1, 1, 1});
        Onnx__NodeProto *n =
            nodes_in(t, &t->graph, "y = Resize x - - sizes, coordinate_transformation_mode pytorch_half_pixel");
        attribute_text(t, n, "mode", modes[m]);
        reads(t, NULL);
        compute(t, x, sizeof x, y, sizeof *y);
        assert_true(*y == 5);
    }
    t->graph.n_node = 0;
    t->opset.version = 10; /* takes the element above the place where an axis shrinks, as ONNX's test of that version */
    initializer(t, tensor(t, "scales", F32, 1, (int64_t[]){4}, (float[]){1, 1, 0.6f, 0.6f}, 16));
    node(t, "Resize", "x scales", "y");
    reads(t, NULL);
    compute(t, x, sizeof x, y, sizeof y);
    assert_memory_equal(y, ((float[]){5, 2, 9, 11}), sizeof y);
}

/** Products of whole numbers are exact in any order. */
TEST(products_run_along_an_axis)
{
    enum { ROWS = 3, COLUMNS = 7 };

    for (int form = 0; form < 8; form++) {
        const bool exclusive = form & 1, reverse = form & 2, down = form & 4;
        float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
        Onnx__NodeProto *n;

        for (int i = 0; i < ROWS * COLUMNS; i++)
            x[i] = (float)(i % 5 - 2);
        start(t, 26);
        input(t, "x", F32, "3 7");
        integer(t, "axis", down ? -2 : 1);
        n = node(t, "CumProd", "x axis", "y");
        attribute_int(t, n, "exclusive", exclusive);
        attribute_int(t, n, "reverse", reverse);
        computes(x, y);
        for (int line = 0; line < (down ? COLUMNS : ROWS); line++) {
            const int count = down ? ROWS : COLUMNS, step = down ? COLUMNS : 1, start = down ? line : line * COLUMNS;
            float product = 1;

            for (int k = 0; k < count; k++) {
                const int at = start + (reverse ? count - 1 - k : k) * step;

                assert_true(y[at] == (exclusive ? product : product * x[at]));
                product *= x[at];
            }
        }
    }
    net(26, "x 2 1", "y = CumProd x axis, exclusive 1");
    integer(t, "axis", 1);
    reads(t, NULL);
    float y[2];
    compute(t, (float[]){5, 6}, sizeof y, y, sizeof y);
    assert_true(y[0] == 1 && y[1] == 1);
}

TEST_GROUP(create_context, release_context)

/** What docs-onnx finds in the table of operators. */
TEST(mistakes_in_terms_are_found)
{
    static const struct {
        const char *term, *wrong;
    } cases[] = {
        {"x: int axis = -1; k = axis(axis, rank(x)); k >= 0 && !(k == 1) ? [x, -x][0] : where(x > 0, x, 1.5e-1)", NULL},
        {"x, y: x + z", "the name is not known"},
        {"x, x: x", "a parameter has the name of another"},
        {"x relu(x)", "something is missing"},
        {"x: relux(x)", "there is no such function"},
        {"x: elu(x, beta=1)", "there is no such option"},
        {"x: add(x)", "too few arguments"},
        {"x: relu(x, 1)", "too many arguments"},
        {"x: rank(x, 1)", "the function has another number of parameters"},
        {"x: scale(x)", "the function has another number of parameters"},
        {"x: relu(x", "a parenthesis is missing"},
        {"x: [x", "a bracket is missing"},
        {"x: x == 'a", "a text does not end"},
        {"x: x ? 1", "something is missing"},
        {"x: x *", "an expression is missing"},
        {"x: x; )", "an expression is missing"},
        {"x: x x", "it does not end"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at, *wrong = onnx_term_check(cases[i].term, &at);

        if (!wrong != !cases[i].wrong || (wrong && strcmp(wrong, cases[i].wrong) != 0))
            fail_msg("%s: \"%s\" at \"%s\" instead of \"%s\"", cases[i].term, wrong ? wrong : "", at,
                     cases[i].wrong ? cases[i].wrong : "");
    }
}
