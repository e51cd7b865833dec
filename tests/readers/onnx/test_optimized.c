/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operators that ONNX Runtime writes when it saves an optimised model, on models made here: against the operators of ONNX that
 * they stand for, in the same model, or against loops.
 */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/close.h"
#include "support/random.h"

enum { U8 = 2, I8 = 3, I32 = 6, MOST = 4096 };

/* ---- short forms ---- */

/* Numbers of a text; returns how many there are, and in *product what they multiply to. */
static size_t numbers(const char *s, double *list, size_t *product)
{
    size_t count = 0;
    char *end;

    *product = 1;
    for (double x = strtod(s, &end); end != s; s = end, x = strtod(s, &end)) {
        list[count++] = x;
        *product *= (size_t)fabs(x);
    }
    return count;
}

/* An initializer of random elements: bytes of any value, or floats. */
static void constant(struct net *t, const char *name, int type, const char *dims, float scale, float offset)
{
    double list[8];
    int64_t sizes[8];
    float x[MOST];
    uint8_t bytes[MOST];
    size_t count;
    const size_t rank = numbers(dims, list, &count);

    assert_true(count <= MOST);
    for (size_t i = 0; i < rank; i++)
        sizes[i] = (int64_t)list[i];
    random_fill(x, count);
    for (size_t i = 0; i < count; i++) {
        x[i] = x[i] * scale + offset;
        bytes[i] = (uint8_t)random_below(256);
    }
    initializer(t, type == F32 ? tensor(t, name, F32, rank, sizes, x, count * sizeof *x)
                               : tensor(t, name, type, rank, sizes, bytes, count));
}

/* ---- comparing ---- */

/* Computes the net of random inputs of float32; outputs, float32 too, go to y, one after the other.  Returns their length. */
static size_t outputs_of(struct net *t, float *y)
{
    void *in[PORTS], *out[PORTS];
    size_t bytes[PORTS], count = 1, from = 0;

    reads(t, NULL);
    for (size_t i = 0; i < t->graph.n_output; i++) {
        const WNNOperandDescriptor *d = &t->read.outputs[i].descriptor;

        assert_int_equal(d->dataType, WNNOperandDataType_Float32);
        count = 1;
        for (size_t k = 0; k < d->rank; k++)
            count *= d->shape[k];
        out[i] = y + from;
        from += count;
        bytes[i] = count * sizeof *y;
    }
    assert_true(from <= MOST);
    for (size_t i = 0; i < t->graph.n_input; i++) {
        const Onnx__TensorShapeProto *shape = t->graph.input[i]->type->tensor_type->shape;
        size_t elements = 1;

        for (size_t k = 0; k < shape->n_dim; k++)
            elements *= (size_t)shape->dim[k]->dim_value;
        in[i] = keep(t, elements * sizeof *y);
        random_fill(in[i], elements);
    }
    model_free(&t->read);
    run(t, in, out, bytes);
    return count;
}

/* Computes outputs "want" and "got", which must be the same, and ends the net. */
static void same(struct net *t, double tolerance)
{
    OWNED(memory) float *y = calloc(MOST, sizeof *y);

    assert_non_null(y);
    output(t, "want got");
    size_t count = outputs_of(t, y);
    for (size_t i = 0; i < count; i++)
        assert_close(y[count + i], y[i], tolerance);
}

/* ---- activations ---- */

static const struct function_case {
    const char *name, *parameters[2];
    float values[2];
} functions[] = {
    {"Relu", {NULL, NULL}, {0, 0}},
    {"Tanh", {NULL, NULL}, {0, 0}},
    {"Sigmoid", {NULL, NULL}, {0, 0}},
    {"LeakyRelu", {"activation_alpha", NULL}, {0.2f, 0}},
    {"HardSigmoid", {"activation_alpha", "activation_beta"}, {0.3f, 0.4f}},
    {"Elu", {"activation_alpha", NULL}, {0.7f, 0}},
    {"Selu", {"activation_alpha", "activation_gamma"}, {1.5f, 1.1f}},
    {"Softplus", {NULL, NULL}, {0, 0}},
    {"Softsign", {NULL, NULL}, {0, 0}},
    {"ThresholdedRelu", {"activation_alpha", NULL}, {0.6f, 0}},
    {"ScaledTanh", {"activation_alpha", "activation_beta"}, {0.6f, 0.7f}},
    {"ParametricSoftplus", {"activation_alpha", "activation_beta"}, {0.6f, 0.7f}},
    {"HardSwish", {NULL, NULL}, {0, 0}},
    {"QuickGelu", {"activation_alpha", NULL}, {1.5f, 0}},
    {"Gelu", {NULL, NULL}, {0, 0}},
    {"Clip", {NULL, NULL}, {-0.5f, 0.75f}}, /* by a list only, as convolutions have it */
    {"Clip", {NULL, NULL}, {0.75f, -0.5f}},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, CLIPS = 2 };

static double apply(const struct function_case *f, double x)
{
    const double a = (double)f->values[0], b = (double)f->values[1];

    if (!strcmp(f->name, "Relu"))
        return x > 0 ? x : 0;
    if (!strcmp(f->name, "Tanh"))
        return tanh(x);
    if (!strcmp(f->name, "Sigmoid"))
        return 1 / (1 + exp(-x));
    if (!strcmp(f->name, "LeakyRelu"))
        return x > 0 ? x : a * x;
    if (!strcmp(f->name, "HardSigmoid"))
        return fmax(0, fmin(1, a * x + b));
    if (!strcmp(f->name, "Elu"))
        return x > 0 ? x : a * (exp(x) - 1);
    if (!strcmp(f->name, "Selu"))
        return b * (x > 0 ? x : a * (exp(x) - 1));
    if (!strcmp(f->name, "Softplus"))
        return log(1 + exp(x));
    if (!strcmp(f->name, "Softsign"))
        return x / (1 + fabs(x));
    if (!strcmp(f->name, "ThresholdedRelu"))
        return x > a ? x : 0;
    if (!strcmp(f->name, "ScaledTanh"))
        return a * tanh(b * x);
    if (!strcmp(f->name, "ParametricSoftplus"))
        return a * log(1 + exp(b * x));
    if (!strcmp(f->name, "HardSwish"))
        return x * fmax(0, fmin(1, x / 6 + 0.5));
    if (!strcmp(f->name, "QuickGelu"))
        return x / (1 + exp(-a * x));
    if (!strcmp(f->name, "Gelu"))
        return x / 2 * (1 + erf(x / sqrt(2)));
    return fmin(fmax(x, a), b);
}

/* Computes outputs "plain" and "fused": the latter must be the function of the former.  Ends the net. */
static void fused(struct net *t, const struct function_case *f)
{
    OWNED(memory) float *y = calloc(MOST, sizeof *y);

    assert_non_null(y);
    output(t, "plain fused");
    size_t count = outputs_of(t, y);
    for (size_t i = 0; i < count; i++)
        assert_close(y[count + i], apply(f, (double)y[i]), 1e-5);
}

TEST(fused_convolutions_add_and_activate)
{
    for (size_t i = 0; i < 2 * FUNCTIONS; i++) {
        const struct function_case *f = &functions[i / 2];
        Onnx__NodeProto *n;

        start(t, 17);
        inputs_of(t, F32, "x 1 4 7 6; z 1 6 4 3");
        constant(t, "w", F32, "6 2 3 3", 0.5f, 0);
        constant(t, "b", F32, "6", 1, 0);
        for (int k = 0; k < 2; k++) {
            n = k ? microsoft(t, "FusedConv", i % 2 ? "x w b z" : "x w b", "fused") : node(t, "Conv", "x w b", "conv");
            attributes(t, n, "pads [1 1 1 1], strides [2 2], group 2");
        }
        attribute_text(t, n, "activation", f->name);
        Onnx__AttributeProto *list = attribute(t, n, "activation_params", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
        list->n_floats = 2;
        list->floats = keep(t, sizeof f->values);
        memcpy(list->floats, f->values, sizeof f->values);
        node(t, i % 2 ? "Add" : "Identity", i % 2 ? "conv z" : "conv", "plain");
        fused(t, f);
    }
    start(t, 17);
    input(t, "x", F32, "1 4 7 6");
    constant(t, "w", F32, "6 4 3 3", 1, 0);
    attribute_text(t, microsoft(t, "FusedConv", "x w", "y"), "activation", "Sine");
    refused(t, NULL, "activation \"Sine\" is not known");
}

TEST(fused_matmuls_activate)
{
    for (size_t i = 0; i < 2 * (FUNCTIONS - CLIPS); i++) {
        const struct function_case *f = &functions[i / 2];
        Onnx__NodeProto *n;

        start(t, 17);
        input(t, "x", F32, "5 7");
        constant(t, "w", F32, "6 7", 1, 0);
        constant(t, "c", F32, "6", 1, 0);
        for (int k = 0; k < 2; k++) {
            const char *y = k ? "fused" : "plain";

            if (i % 2) {
                n = k ? microsoft(t, "FusedGemm", "x w c", y) : node(t, "Gemm", "x w c", y);
                attribute_float(t, n, "beta", 0.25f);
            } else {
                n = microsoft(t, k ? "FusedMatMulActivation" : "FusedMatMul", "x w", y);
            }
            attribute_float(t, n, "alpha", 0.5f);
            attributes(t, n, "transB 1");
        }
        attribute_text(t, n, "activation", f->name);
        for (size_t k = 0; k < 2 && f->parameters[k]; k++)
            attribute_float(t, n, f->parameters[k], f->values[k]);
        fused(t, f);
    }
    start(t, 17); /* vectors, as MatMul has them */
    inputs_of(t, F32, "x 7; y 7 3");
    nodes_in(t, &t->graph, "want = MatMul x y; got = ms:FusedMatMul x y");
    same(t, 1e-6);
}

/* ---- quantised ---- */

TEST(dynamically_quantized_matmuls_equal_their_parts)
{
    for (int i = 0; i < 16; i++) {
        const bool per_column = i & 1, has_zero = i & 2, has_bias = i & 4;
        const int type = i & 8 ? I8 : U8;
        char inputs[40];

        net(17, "x 2 3 9", "q sq zq = DynamicQuantizeLinear x");
        constant(t, "w", type, "9 6", 1, 0);
        constant(t, "s", F32, per_column ? "6" : "", 0.01f, 0.02f);
        constant(t, "zw", type, per_column ? "6" : "", 1, 0);
        constant(t, "c", F32, "6", 1, 0);
        node(t, "MatMulInteger", has_zero ? "q w zq zw" : "q w zq", "sums");
        nodes_in(t, &t->graph, "product = Cast sums, to 1; scale = Mul sq s; scaled = Mul product scale");
        node(t, has_bias ? "Add" : "Identity", has_bias ? "scaled c" : "scaled", "want");
        snprintf(inputs, sizeof inputs, "x w s %s %s", has_zero ? "zw" : "-", has_bias ? "c" : "-");
        microsoft(t, "DynamicQuantizeMatMul", inputs, "got");
        same(t, 1e-4);
    }
}

/* Makes q, uint8 of a float input x, with scale sq and zero point zq. */
static void quantized_input(struct net *t, const char *dims)
{
    input(t, "x", F32, dims);
    number(t, "sq", 0.0171f);
    byte(t, "zq", U8, 117);
    number(t, "sy", 0.0093f);
    byte(t, "zy", U8, 90);
    nodes_in(t, &t->graph, "q = QuantizeLinear x sq zq; f = DequantizeLinear q sq zq");
}

/* Ends a net whose outputs are `plain` in floats, still to be quantised, and `quantized`. */
static void same_bytes(struct net *t)
{
    node(t, "QuantizeLinear", "plain sy zy", "bytes");
    nodes_in(t, &t->graph, "want = Cast bytes, to 1; got = Cast quantized, to 1");
    same(t, 0);
}

TEST(quantized_operators_equal_their_parts)
{
    Onnx__NodeProto *n;

    quantized_input(t, "3 4");
    input(t, "v", F32, "3 4");
    number(t, "zero", 0);
    nodes_in(t, &t->graph,
             "condition = Greater v zero; p = QuantizeLinear v sy zy; g = DequantizeLinear p sy zy; plain = "
             "Where condition f g");
    microsoft(t, "QLinearWhere", "condition q sq zq p sy zy sy zy", "quantized");
    same_bytes(t);
    for (int keep = 0; keep < 2; keep++) {
        start(t, 17);
        quantized_input(t, "2 3 5");
        for (int k = 0; k < 2; k++) {
            n = k ? microsoft(t, "QLinearReduceMean", "q sq zq sy zy", "quantized") : node(t, "ReduceMean", "f", "plain");
            attributes(t, n, "axes [0 -1]");
            attribute_int(t, n, "keepdims", keep);
        }
        same_bytes(t);
    }
    start(t, 17); /* without the last zero point */
    quantized_input(t, "3 4");
    number(t, "sz", 0.0113f);
    byte(t, "zz", U8, 0);
    constant(t, "p", U8, "2 4", 1, 0);
    nodes_in(t, &t->graph, "g = DequantizeLinear p sz zz; plain = Concat f g, axis 0");
    attribute_int(t, microsoft(t, "QLinearConcat", "sy zy q sq zq p sz", "quantized"), "axis", 0);
    same_bytes(t);
}

TEST(channels_may_be_last)
{
    static const char *const types[] = {"QLinearAveragePool", "QLinearGlobalAveragePool", "NhwcMaxPool", "QLinearConv"};

    for (int i = 0; i < 4; i++) {
        Onnx__NodeProto *n[2];

        start(t, 17);
        quantized_input(t, "2 4 7 6");
        constant(t, "w", I8, "6 4 2 3", 1, 0);
        constant(t, "sw", F32, "6", 0.001f, 0.002f);
        byte(t, "zw", I8, 0);
        nodes_in(t, &t->graph, "last = Transpose q, perm [0 2 3 1]");
        if (i == 3) {
            n[0] = node(t, types[i], "q sq zq w sw zw sy zy", "plain");
            n[1] = microsoft(t, types[i], "last sq zq w sw zw sy zy", "quantized");
        } else if (i == 2) {
            n[0] = node(t, "MaxPool", "q", "plain");
            n[1] = microsoft(t, types[i], "last", "quantized");
        } else {
            n[0] = microsoft(t, types[i], "q sq zq sy zy", "plain");
            n[1] = microsoft(t, types[i], "last sq zq sy zy", "quantized");
        }
        for (int k = 0; k < 2 && i != 1; k++)
            attributes(t, n[k], "kernel_shape [2 3], strides [2 1], pads [1 1 0 1]");
        if (i != 2)
            attributes(t, n[1], "channels_last 1");
        nodes_in(t, &t->graph, "first = Cast plain, to 1; want = Transpose first, perm [0 2 3 1]");
        nodes_in(t, &t->graph, "got = Cast quantized, to 1");
        same(t, 0);
    }
}

/* Rounds x to uint8 by its range, and back. */
static void round_by_range(const double *x, size_t count, double *y)
{
    float low = 0, high = 0, scale, zero;

    for (size_t i = 0; i < count; i++) {
        low = fminf(low, (float)x[i]);
        high = fmaxf(high, (float)x[i]);
    }
    scale = (high - low) / 255;
    zero = scale > 0 ? rintf(-low / scale) : 0;
    for (size_t i = 0; i < count; i++)
        y[i] = scale > 0 ? (double)((fminf(fmaxf(rintf((float)x[i] / scale) + zero, 0), 255) - zero) * scale) : 0;
}

TEST(dynamically_quantized_lstm_rounds_input_and_state)
{
    enum { STEPS = 3, INPUTS = 5, HIDDEN = 4, ROWS = 4 * HIDDEN };
    float x[STEPS * INPUTS], scales[2][ROWS], y[STEPS * HIDDEN];
    int8_t w[INPUTS * ROWS], r[HIDDEN * ROWS], zeros[ROWS];
    double in[STEPS * INPUTS], h[HIDDEN] = {0}, c[HIDDEN] = {0}, rounded[HIDDEN], gates[ROWS];

    for (int per_row = 0; per_row < 2; per_row++) {
        const size_t count = per_row ? ROWS : 1;

        start(t, 17);
        random_fill(x, STEPS * INPUTS);
        for (size_t i = 0; i < sizeof w; i++)
            w[i] = (int8_t)(random_below(256) - 128);
        for (size_t i = 0; i < sizeof r; i++)
            r[i] = (int8_t)(random_below(256) - 128);
        for (size_t i = 0; i < ROWS; i++) {
            zeros[i] = (int8_t)(i % count * 3);
            scales[0][i] = 0.005f + (float)(i % count) / 2000;
            scales[1][i] = 0.004f + (float)(i % count) / 1000;
        }
        input(t, "x", F32, "3 1 5");
        initializer(t, tensor(t, "w", I8, 3, (int64_t[]){1, INPUTS, ROWS}, w, sizeof w));
        initializer(t, tensor(t, "r", I8, 3, (int64_t[]){1, HIDDEN, ROWS}, r, sizeof r));
        for (int k = 0; k < 2; k++)
            initializer(t, tensor(t, k ? "sr" : "sw", F32, 1 + (size_t)per_row, (int64_t[]){1, ROWS}, scales[k],
                                  count * sizeof *scales[k]));
        initializer(t, tensor(t, "z", I8, 1 + (size_t)per_row, (int64_t[]){1, ROWS}, zeros, count));
        attribute_int(t, microsoft(t, "DynamicQuantizeLSTM", "x w r - - - - - sw z sr z", "y"), "hidden_size", HIDDEN);
        run(t, (void *[]){x}, (void *[]){y}, (size_t[]){sizeof y});
        for (size_t i = 0; i < STEPS * INPUTS; i++)
            in[i] = (double)x[i];
        round_by_range(in, STEPS * INPUTS, in);
        memset(h, 0, sizeof h);
        memset(c, 0, sizeof c);
        for (size_t s = 0; s < STEPS; s++) {
            round_by_range(h, HIDDEN, rounded);
            for (size_t g = 0; g < ROWS; g++) {
                gates[g] = 0;
                for (size_t i = 0; i < INPUTS; i++)
                    gates[g] += in[s * INPUTS + i] * (w[i * ROWS + g] - zeros[g]) * (double)scales[0][g];
                for (size_t i = 0; i < HIDDEN; i++)
                    gates[g] += rounded[i] * (r[i * ROWS + g] - zeros[g]) * (double)scales[1][g];
            }
            for (size_t i = 0; i < HIDDEN; i++) { /* gates: in, out, forget, cell */
                c[i] = c[i] / (1 + exp(-gates[2 * HIDDEN + i])) + tanh(gates[3 * HIDDEN + i]) / (1 + exp(-gates[i]));
                h[i] = tanh(c[i]) / (1 + exp(-gates[HIDDEN + i]));
                assert_close(y[s * HIDDEN + i], h[i], 1e-5);
            }
        }
    }
}

TEST(quantized_attention_and_embeddings_equal_their_parts)
{
    static const char *const tables[] = {"word", "position", "segment", "gamma", "beta"};
    static const char *const dims[] = {"10 8", "6 8", "2 8", "8", "8"};
    static const int32_t ids[] = {1, 0, 1, 1, 0, 0, 1, 0, 1, 1};

    quantized_input(t, "2 4 8");
    constant(t, "w", I8, "8 24", 1, 0);
    constant(t, "b", F32, "24", 1, 0);
    constant(t, "s", F32, "24", 0.001f, 0.003f);
    constant(t, "z", I8, "24", 1, 0);
    constant(t, "past", F32, "2 2 2 3 4", 1, 0);
    initializer(t, tensor(t, "ends", I32, 1, (int64_t[]){2}, (int32_t[]){5, 7}, 8));
    nodes_in(t, &t->graph,
             "wide = DequantizeLinear w s z, axis 1; want a = ms:Attention f wide b ends past, num_heads 2; "
             "got p = ms:QAttention q w b sq s ends zq z past, num_heads 2");
    same(t, 1e-5);

    start(t, 17);
    initializer(t, tensor(t, "ids", I32, 2, (int64_t[]){2, 5}, ids, sizeof ids));
    for (int i = 0; i < 5; i++) {
        char inputs[40], name[20];

        constant(t, tables[i], U8, dims[i], 1, 0);
        number(t, strcat(strcpy(name, "s"), tables[i]), 0.01f * (float)(i + 1));
        byte(t, strcat(strcpy(name, "z"), tables[i]), U8, 100 + i);
        snprintf(inputs, sizeof inputs, "%s s%s z%s", tables[i], tables[i], tables[i]);
        node(t, "DequantizeLinear", inputs, strcat(strcpy(name, "f"), tables[i]));
    }
    microsoft(t, "EmbedLayerNormalization", "ids ids fword fposition fsegment fgamma fbeta", "want m");
    microsoft(
        t, "QEmbedLayerNormalization",
        "ids ids word position segment gamma beta - sword sposition ssegment sgamma sbeta zword zposition zsegment zgamma "
        "zbeta",
        "got n");
    same(t, 1e-5);
}

/* ---- blocks of channels ---- */

/* Makes a filter, oihw, and the same with channels filled up and in blocks, named with an x at the end. */
static void filters(struct net *t, const char *name, size_t out, size_t in, size_t area, size_t block, bool in_blocks)
{
    const size_t filled_out = (out + block - 1) / block * block, filled_in = in_blocks ? (in + block - 1) / block * block : in,
                 side = area == 9 ? 3 : 1;
    OWNED(memory) float *plain = calloc(out * in * area, sizeof *plain),
                        *blocks = calloc(filled_out * filled_in * area, sizeof *blocks);
    char other[20];

    assert_true(plain && blocks);
    random_fill(plain, out * in * area);
    for (size_t o = 0; o < out; o++)
        for (size_t i = 0; i < in; i++)
            for (size_t k = 0; k < area; k++) {
                const size_t inner = in_blocks ? block : 1;
                const size_t row = (o / block * (filled_in / inner) + i / inner) * area + k;

                blocks[(row * inner + i % inner) * block + o % block] = plain[(o * in + i) * area + k];
            }
    initializer(t, tensor(t, name, F32, 4, (int64_t[]){(int64_t)out, (int64_t)in, (int64_t)side, (int64_t)side}, plain,
                          out * in * area * sizeof *plain));
    initializer(t, tensor(t, strcat(strcpy(other, name), "x"), F32, 4,
                          (int64_t[]){(int64_t)filled_out, (int64_t)filled_in, (int64_t)side, (int64_t)side}, blocks,
                          filled_out * filled_in * area * sizeof *blocks));
}

/* Makes a node twice: of ONNX, and in blocks, whose tensors have an x at the end of their names. */
static void twice(struct net *t, const char *type, const char *inputs, const char *inputs_x, const char *name,
                  Onnx__NodeProto *n[2])
{
    char other[20];

    n[0] = node(t, type, inputs, name);
    n[1] = domain_node(t, "com.microsoft.nchwc", type, inputs_x, strcat(strcpy(other, name), "x"));
}

TEST(blocks_of_channels_are_plain_tensors)
{
    static const size_t widths[] = {12, 20, 32, 10};
    Onnx__NodeProto *n[2];

    for (size_t i = 0; i < 8; i++) {
        const size_t block = i % 2 ? 16 : 8, width = widths[i / 2], filled = (width + block - 1) / block * block;
        char dims[20];
        float bias[16] = {0}, zero[32] = {0};

        start(t, 17);
        snprintf(dims, sizeof dims, "1 6 6 %zu", width);
        input(t, "x", F32, "1 3 6 6");
        input(t, "last", F32, dims);
        nodes_in(t, &t->graph, "side = Transpose last, perm [0 3 1 2]");
        filters(t, "a", width, 3, 9, block, false);
        filters(t, "b", width, width, 9, block, true);
        filters(t, "d", width, 1, 9, block, false);
        filters(t, "e", 5, width, 1, block, true);
        random_fill(bias, 5);
        initializer(t, tensor(t, "bias", F32, 1, (int64_t[]){5}, bias, 5 * sizeof *bias));
        initializer(t, tensor(t, "biasx", F32, 1, (int64_t[]){(int64_t)block}, bias, block * sizeof *bias));
        initializer(t, tensor(t, "none", F32, 1, (int64_t[]){(int64_t)filled}, zero, filled * sizeof *zero));
        attribute_int(t, domain_node(t, "com.microsoft.nchwc", "ReorderInput", "last", "sidex"), "channels_last", 1);
        twice(t, "Conv", "x a", "x ax none", "p", n);
        for (int k = 0; k < 2; k++)
            attributes(t, n[k], "pads [1 1 1 1]");
        nodes_in(t, &t->graph, "q = Add p side; qx = Add px sidex");
        twice(t, "Conv", "q b", "qx bx - px", "r", n);
        for (int k = 0; k < 2; k++)
            attributes(t, n[k], "pads [1 1 1 1]");
        attribute_text(t, n[1], "activation", "Sigmoid");
        nodes_in(t, &t->graph, "sum = Add r p; s = Sigmoid sum");
        twice(t, "Conv", "s d", "rx dx", "u", n);
        attribute_int(t, n[0], "group", (int64_t)width);
        attribute_int(t, n[1], "group", (int64_t)filled);
        twice(t, "MaxPool", "u", "ux", "v", n);
        for (int k = 0; k < 2; k++)
            attributes(t, n[k], "kernel_shape [2 2]");
        twice(t, "AveragePool", "v", "vx", "w", n);
        for (int k = 0; k < 2; k++)
            attributes(t, n[k], "kernel_shape [2 2]");
        twice(t, i % 4 < 2 ? "GlobalMaxPool" : "GlobalAveragePool", "w", "wx", "g", n);
        nodes_in(t, &t->graph, "m = Mul w g; mx = Mul wx gx");
        twice(t, "Conv", "m e bias", "mx ex biasx", "y", n);
        nodes_in(t, &t->graph, "want = Transpose y, perm [0 2 3 1]");
        n[1] = domain_node(t, "com.microsoft.nchwc", "ReorderOutput", "yx", "got");
        attributes(t, n[1], "channels 5, channels_last 1");
        output(t, "px"); /* without the channels that fill up */
        reads(t, NULL);
        expect_shape(t, SHAPE(1, (uint32_t)width, 6, 6));
        t->outputs = 0;
        same(t, 1e-4);
    }
}

TEST(blocks_are_enlarged_and_joined)
{
    Onnx__NodeProto *n[2];

    for (int i = 0; i < 2; i++) {
        start(t, 17);
        input(t, "x", F32, "1 9 4 5");
        filters(t, "a", 16, 9, 9, 16, false);
        filters(t, "b", 32, 16, 1, 16, true);
        twice(t, "Conv", "x a", "x ax", "p", n);
        twice(t, "Conv", "p b", "px bx", "q", n);
        nodes_in(t, &t->graph, "c = Concat p q, axis 1; cx = Concat px qx, axis 1");
        initializer(t, tensor(t, "scales", F32, 1, (int64_t[]){4}, (float[]){1, 1, 2, 3}, 16));
        n[0] = node(t, "Resize", "c - scales", "want");
        n[1] = domain_node(t, "com.microsoft.nchwc", "Upsample", "cx", "u");
        attributes(t, n[1], "scales [1 1 2 3]");
        for (int k = 0; k < 2; k++)
            attribute_text(t, n[k], "mode", i ? "linear" : "nearest");
        attribute_text(t, n[0], "nearest_mode", "floor");
        for (int k = 0; k < 2; k++)
            attribute_text(t, n[k], "coordinate_transformation_mode", i ? "align_corners" : "asymmetric");
        attribute_int(t, domain_node(t, "com.microsoft.nchwc", "ReorderOutput", "u", "got"), "channels", 48);
        same(t, 1e-5);
    }
    start(t, 17);
    input(t, "x", F32, "1 3 4 5");
    filters(t, "a", 12, 3, 9, 4, false);
    domain_node(t, "com.microsoft.nchwc", "Conv", "x ax", "y");
    refused(t, NULL, "12 output and 3 input channels");
}

TEST_GROUP(create_context, release_context)
