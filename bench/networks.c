/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes the benchmark networks as text: the same layers, shapes and options as the ONNX files that ONNX Runtime is timed with,
 * with random weights.  `webnn-bench --print NAME` shows them.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

/** Holds a network that is being written: its constants and its nodes go to two texts. */
struct net {
    FILE *consts, *nodes;
    int values;
};

/** Names a value: v<id>; 0 is the input x. */
typedef int net_value;

static void print_dims(FILE *out, const uint32_t *dims, size_t rank)
{
    for (size_t i = 0; i < rank; i++)
        fprintf(out, "%s%u", i ? ", " : "", dims[i]);
}

/** Returns a constant of noise with variance 1 / fan. */
static net_value weight(struct net *n, uint32_t fan, size_t rank, const uint32_t *dims)
{
    fprintf(n->consts, "v%d: f32[", ++n->values);
    print_dims(n->consts, dims, rank);
    fprintf(n->consts, "] @weights(\"%u\"); ", fan);
    return n->values;
}

#define WEIGHT(n, fan, ...) weight(n, fan, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static net_value number(struct net *n, double value)
{
    fprintf(n->consts, "v%d: f32[] @scalar(%.9g); ", ++n->values, value);
    return n->values;
}

/** Returns a constant of one dimension that is filled with a number. */
static net_value filled(struct net *n, uint32_t size, double value)
{
    fprintf(n->consts, "v%d: f32[%u] @scalar(%.9g); ", ++n->values, size, value);
    return n->values;
}

/** Returns a node, its right side as printf writes it. */
static net_value __attribute__((format(printf, 2, 3))) node(struct net *n, const char *format, ...)
{
    va_list args;

    fprintf(n->nodes, "v%d = ", ++n->values);
    va_start(args, format);
    vfprintf(n->nodes, format, args);
    va_end(args);
    fprintf(n->nodes, ";\n");
    return n->values;
}

/* ---- layers ---- */

enum activation { ACT_NONE, ACT_RELU, ACT_RELU6, ACT_SILU };

static net_value conv(struct net *n, net_value x, uint32_t in, uint32_t out, uint32_t k, uint32_t stride, uint32_t pad,
                      uint32_t groups, enum activation act)
{
    net_value w = WEIGHT(n, in / groups * k * k, out, in / groups, k, k), b = WEIGHT(n, 100, out);
    net_value y = node(n, "conv2d(v%d, v%d, bias=v%d, padding=[%u, %u, %u, %u], strides=[%u, %u], groups=%u)", x, w, b, pad,
                       pad, pad, pad, stride, stride, groups);

    switch (act) {
    case ACT_NONE:
        break;
    case ACT_RELU:
        return node(n, "relu(v%d)", y);
    case ACT_RELU6:
        return node(n, "clamp(v%d, minValue=0, maxValue=6)", y);
    case ACT_SILU:
        return node(n, "mul(v%d, v%d)", y, node(n, "sigmoid(v%d)", y));
    }
    return y;
}

static net_value linear(struct net *n, net_value x, uint32_t in, uint32_t out)
{
    net_value w = WEIGHT(n, in, in, out), b = WEIGHT(n, 100, out);

    return node(n, "add(v%d, v%d)", node(n, "matmul(v%d, v%d)", x, w), b);
}

static net_value layer_norm(struct net *n, net_value x, uint32_t width, uint32_t axis)
{
    net_value scale = filled(n, width, 1), bias = filled(n, width, 0);

    return node(n, "layerNormalization(v%d, scale=v%d, bias=v%d, axes=[%u])", x, scale, bias, axis);
}

/** Adds global average pooling and the classifier. */
static net_value classify(struct net *n, net_value x, uint32_t width)
{
    net_value w = WEIGHT(n, width, 1000, width), b = WEIGHT(n, 100, 1000);

    x = node(n, "reshape(v%d, [1, %u])", node(n, "averagePool2d(v%d)", x), width);
    return node(n, "gemm(v%d, v%d, c=v%d, bTranspose=true)", x, w, b);
}

/* ---- networks: each returns its output; the input is v0 ---- */

static net_value resnet50(struct net *n)
{
    static const uint32_t stages[4][2] = {{64, 3}, {128, 4}, {256, 6}, {512, 3}};
    net_value x = conv(n, 0, 3, 64, 7, 2, 3, 1, ACT_RELU);
    uint32_t in = 64;

    x = node(n, "maxPool2d(v%d, windowDimensions=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])", x);
    for (int s = 0; s < 4; s++)
        for (uint32_t b = 0; b < stages[s][1]; b++) {
            uint32_t width = stages[s][0], stride = s && !b ? 2 : 1;
            net_value y = conv(n, x, in, width, 1, 1, 0, 1, ACT_RELU);

            y = conv(n, y, width, width, 3, stride, 1, 1, ACT_RELU);
            y = conv(n, y, width, width * 4, 1, 1, 0, 1, ACT_NONE);
            if (!b)
                x = conv(n, x, in, width * 4, 1, stride, 0, 1, ACT_NONE);
            x = node(n, "relu(v%d)", node(n, "add(v%d, v%d)", y, x));
            in = width * 4;
        }
    return node(n, "softmax(v%d, 1)", classify(n, x, 2048));
}

static net_value mobilenetv2(struct net *n)
{
    static const uint32_t stages[7][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    net_value x = conv(n, 0, 3, 32, 3, 2, 1, 1, ACT_RELU6);
    uint32_t in = 32;

    for (int s = 0; s < 7; s++)
        for (uint32_t i = 0; i < stages[s][2]; i++) {
            uint32_t out = stages[s][1], stride = i ? 1 : stages[s][3], mid = in * stages[s][0];
            net_value y = x;

            if (mid != in)
                y = conv(n, y, in, mid, 1, 1, 0, 1, ACT_RELU6);
            y = conv(n, y, mid, mid, 3, stride, 1, mid, ACT_RELU6);
            y = conv(n, y, mid, out, 1, 1, 0, 1, ACT_NONE);
            x = stride == 1 && in == out ? node(n, "add(v%d, v%d)", x, y) : y;
            in = out;
        }
    return classify(n, conv(n, x, 320, 1280, 1, 1, 0, 1, ACT_RELU6), 1280);
}

/** Writes an encoder with attention as every exporter writes it, and gelu by erf. */
static net_value encoder(struct net *n, uint32_t layers, uint32_t seq, uint32_t width, uint32_t heads, uint32_t ffn)
{
    uint32_t head = width / heads;
    double root = 1;
    net_value x = 0, scale, half, one, root2;

    while (root * root < head) /* heads are 64 wide: exact */
        root++;
    scale = number(n, 1 / root);
    half = number(n, 0.5);
    one = number(n, 1);
    root2 = number(n, 1.41421356237);
    for (uint32_t i = 0; i < layers; i++) {
        net_value q[3], p, a, h, e;

        for (int k = 0; k < 3; k++) {
            q[k] = node(n, "reshape(v%d, [1, %u, %u, %u])", linear(n, x, width, width), seq, heads, head);
            q[k] = node(n, "transpose(v%d, permutation=[%s])", q[k], k == 1 ? "0, 2, 3, 1" : "0, 2, 1, 3");
        }
        p = node(n, "mul(v%d, v%d)", node(n, "matmul(v%d, v%d)", q[0], q[1]), scale);
        p = node(n, "softmax(v%d, 3)", p);
        a = node(n, "transpose(v%d, permutation=[0, 2, 1, 3])", node(n, "matmul(v%d, v%d)", p, q[2]));
        a = linear(n, node(n, "reshape(v%d, [1, %u, %u])", a, seq, width), width, width);
        x = layer_norm(n, node(n, "add(v%d, v%d)", x, a), width, 2);
        h = linear(n, x, width, ffn);
        e = node(n, "erf(v%d)", node(n, "div(v%d, v%d)", h, root2));
        e = node(n, "add(v%d, v%d)", e, one);
        h = node(n, "mul(v%d, v%d)", node(n, "mul(v%d, v%d)", h, half), e);
        x = layer_norm(n, node(n, "add(v%d, v%d)", x, linear(n, h, ffn, width)), width, 2);
    }
    return x;
}

static net_value bert_encoder(struct net *n)
{
    return encoder(n, 4, 128, 768, 12, 3072);
}

static net_value mlp_batch1(struct net *n)
{
    return encoder(n, 1, 1, 1024, 16, 4096);
}

/** Its second input is called y. */
static net_value elementwise_chain(struct net *n)
{
    net_value s = WEIGHT(n, 1, 1, 64, 1, 1), b = WEIGHT(n, 1, 1, 64, 1, 1), one = number(n, 1), t, u, e;

    t = node(n, "add(v%d, v%d)", node(n, "mul(v0, v%d)", s), b);
    t = node(n, "mul(v%d, v%d)", t, node(n, "sigmoid(v%d)", t));
    u = node(n, "tanh(v%d)", node(n, "sub(y, v%d)", t));
    e = node(n, "exp(v%d)", node(n, "neg(v%d)", node(n, "abs(y)")));
    t = node(n, "add(v%d, v%d)", node(n, "mul(v%d, v%d)", t, u), e);
    e = node(n, "sqrt(v%d)", node(n, "add(v%d, v%d)", node(n, "mul(y, y)"), one));
    t = node(n, "mul(v%d, v%d)", node(n, "max(v%d, v%d)", t, u), e);
    return node(n, "relu(v%d)", t);
}

static net_value row_norms(struct net *n)
{
    net_value t = node(n, "softmax(v0, 3)");

    t = layer_norm(n, node(n, "add(v%d, v0)", t), 512, 3);
    return node(n, "reduceMean(v%d, axes=[3], keepDimensions=true)", node(n, "mul(v%d, v%d)", t, t));
}

static net_value unet_tiny(struct net *n)
{
    net_value x = 0, skips[3];
    uint32_t in = 3, width = 32;

    for (int i = 0; i < 3; i++, width *= 2) {
        x = conv(n, conv(n, x, in, width, 3, 1, 1, 1, ACT_SILU), width, width, 3, 1, 1, 1, ACT_SILU);
        skips[i] = x;
        x = node(n, "maxPool2d(v%d, windowDimensions=[2, 2], strides=[2, 2])", x);
        in = width;
    }
    x = conv(n, x, in, 256, 3, 1, 1, 1, ACT_SILU);
    in = 256;
    for (int i = 3; i-- > 0;) {
        width /= 2;
        x = node(n, "resample2d(v%d, mode=\"linear\", scales=[2, 2])", x);
        x = conv(n, node(n, "concat([v%d, v%d], 1)", x, skips[i]), in + width, width, 3, 1, 1, 1, ACT_SILU);
        in = width;
    }
    return node(n, "sigmoid(v%d)", conv(n, x, in, 1, 1, 1, 0, 1, ACT_NONE));
}

static net_value lstm_speech(struct net *n)
{
    enum { STEPS = 100, HIDDEN = 256 };
    uint32_t width = 128;
    net_value x = 0;

    for (int layer = 0; layer < 2; layer++) {
        net_value w = WEIGHT(n, width, 1, 4 * HIDDEN, width), r = WEIGHT(n, HIDDEN, 1, 4 * HIDDEN, HIDDEN);
        net_value b = WEIGHT(n, 100, 1, 4 * HIDDEN), rb = WEIGHT(n, 100, 1, 4 * HIDDEN), y = ++n->values;

        fprintf(n->nodes, "[h%d, c%d, v%d] = lstm(v%d, v%d, v%d, %d, %d, bias=v%d, recurrentBias=v%d, returnSequence=true);\n",
                layer, layer, y, x, w, r, STEPS, HIDDEN, b, rb);
        x = node(n, "reshape(v%d, [%d, 1, %d])", y, STEPS, HIDDEN);
        width = HIDDEN;
    }
    return linear(n, x, HIDDEN, 64);
}

/** Quantizes x to 8 bits and back. */
static net_value quantized(struct net *n, net_value x, double scale, int zero)
{
    net_value s = ++n->values, z = ++n->values;

    fprintf(n->consts, "v%d: f32[1, 1, 1, 1] @scalar(%.9g); v%d: u8[1, 1, 1, 1] @scalar(%d); ", s, scale, z, zero);
    return node(n, "dequantizeLinear(v%d, v%d, v%d)", node(n, "quantizeLinear(v%d, v%d, v%d)", x, s, z), s, z);
}

/** Returns a 3x3 convolution whose weights have 8 bits and a scale for each output channel. */
static net_value quantized_conv(struct net *n, net_value x, uint32_t channels)
{
    net_value w = ++n->values, z = ++n->values, s = WEIGHT(n, 3, channels, 1, 1, 1), b = WEIGHT(n, 100, channels);
    double scale = 0.01 / 24; /* 24 is the root of 64 * 3 * 3 */

    fprintf(n->consts, "v%d: i8[%u, %u, 3, 3] @weights(\"1\"); v%d: i8[%u, 1, 1, 1] @scalar(0); ", w, channels, channels, z,
            channels);
    s = node(n, "linear(v%d, alpha=%.9g, beta=%.9g)", node(n, "abs(v%d)", s), scale, scale);
    return node(n, "conv2d(v%d, v%d, bias=v%d, padding=[1, 1, 1, 1])", x, node(n, "dequantizeLinear(v%d, v%d, v%d)", w, s, z),
                b);
}

static net_value qdq_resblock(struct net *n)
{
    net_value x = quantized(n, 0, 0.03, 128);

    for (int i = 0; i < 4; i++) {
        net_value y = quantized(n, node(n, "relu(v%d)", quantized_conv(n, x, 64)), 0.02, 0);

        y = quantized(n, quantized_conv(n, y, 64), 0.03, 128);
        x = quantized(n, node(n, "relu(v%d)", node(n, "add(v%d, v%d)", y, x)), 0.03, 0);
    }
    return x;
}

static const struct {
    const char *name, *inputs;
    net_value (*make)(struct net *n);
} networks[] = {
    {"mobilenetv2", "v0: f32[1, 3, 224, 224];", mobilenetv2},
    {"resnet50", "v0: f32[1, 3, 224, 224];", resnet50},
    {"bert_encoder", "v0: f32[1, 128, 768];", bert_encoder},
    {"mlp_batch1", "v0: f32[1, 1, 1024];", mlp_batch1},
    {"elementwise_chain", "v0: f32[1, 64, 256, 256]; y: f32[1, 64, 256, 256];", elementwise_chain},
    {"row_norms", "v0: f32[1, 12, 512, 512];", row_norms},
    {"unet_tiny", "v0: f32[1, 3, 256, 256];", unet_tiny},
    {"lstm_speech", "v0: f32[100, 1, 128];", lstm_speech},
    {"qdq_resblock", "v0: f32[1, 64, 56, 56];", qdq_resblock},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

const char *const bench_network_names[] = {"mobilenetv2", "resnet50",  "bert_encoder", "mlp_batch1",   "elementwise_chain",
                                           "row_norms",   "unet_tiny", "lstm_speech",  "qdq_resblock", NULL};

char *bench_network_text(const char *name)
{
    struct net n = {0};
    char *consts = NULL, *nodes = NULL, *text = NULL;
    size_t sizes[3] = {0};
    net_value out;
    FILE *all = NULL;
    int i = 0;

    while (i < NETWORKS && strcmp(networks[i].name, name))
        i++;
    n.consts = open_memstream(&consts, &sizes[0]);
    n.nodes = open_memstream(&nodes, &sizes[1]);
    out = i < NETWORKS && n.consts && n.nodes ? networks[i].make(&n) : -1;
    if (n.consts)
        fclose(n.consts);
    if (n.nodes)
        fclose(n.nodes);
    if (out >= 0 && consts && nodes && (all = open_memstream(&text, &sizes[2]))) {
        fprintf(all, "webnn_graph \"%s\" v1 {\ninputs { %s }\nconsts { %s }\nnodes {\n%s}\noutputs { v%d; }\n}\n", name,
                networks[i].inputs, consts, nodes, out);
        fclose(all);
    }
    free(consts);
    free(nodes);
    return text;
}
