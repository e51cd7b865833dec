/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Small networks with the structures that real ones have; what passes are run on as a whole. */
#pragma once

#include <stddef.h>

struct net {
    const char *name, *body;
    unsigned transposes; /* most transposes that may be left after layout propagation and simplification */
};

/* Constants in @scalar form are equal everywhere, which hides permuted channels: these count up. */
#define RAMP3 "@values([0.5, -0.25, 1])"
#define RAMP4 "@values([0.5, -0.25, 1, 0.75])"
#define RAMP4B "@values([-0.5, 0.3, 0.1, 0.2])"
#define RAMP12 "@values([0.5, -0.25, 1, 0.75, -0.5, 0.3, 0.1, 0.2, -1, 0.6, 0.7, -0.8])"
#define RAMP16 "@values([0.5, -0.25, 1, 0.75, -0.5, 0.3, 0.1, 0.2, -1, 0.6, 0.7, -0.8, 0.9, 0.15, -0.35, 0.45])"
#define RAMP36                                                                                                                 \
    "@values([0.5, -0.25, 1, 0.75, -0.5, 0.3, 0.1, 0.2, -1, 0.6, 0.7, -0.8, 0.9, 0.15, -0.35, 0.45, 0.4, 0.33, 0.5, -0.25, "   \
    "1, "                                                                                                                      \
    "0.75, -0.5, 0.3, 0.1, 0.2, -1, 0.6, 0.7, -0.8, 0.9, 0.15, -0.35, 0.45, 0.4, 0.33])"

static const struct net nets[] = {
    {"residual block, nchw",
     "inputs { x: f32[1, 4, 6, 6]; }"
     "consts { w1: f32[4, 4, 1, 1] " RAMP16 "; w2: f32[4, 1, 3, 3] " RAMP36 "; b: f32[4] " RAMP4 "; }"
     "nodes { c1 = conv2d(x, w1, bias=b); r1 = relu(c1); c2 = conv2d(r1, w2, bias=b, groups=4, padding=[1, 1, 1, 1]);"
     "  s = add(c2, c1); y = relu(s); }"
     "outputs { y; }",
     2},
    {"inverted residual with relu6 and a classifier, nchw",
     "inputs { x: f32[1, 3, 8, 8]; }"
     "consts { w0: f32[4, 3, 1, 1] " RAMP12 "; wd: f32[4, 1, 3, 3] " RAMP36 "; wp: f32[4, 4, 1, 1] " RAMP16 "; b: f32[4] " RAMP4
     ";"
     "  fc: f32[3, 4] " RAMP12 "; fb: f32[3] " RAMP3 "; six: f32[] @scalar(6); mean: f32[4] " RAMP4B
     "; var: f32[4] @scalar(0.8); }"
     "nodes { c0 = conv2d(x, w0, strides=[2, 2]); n0 = batchNormalization(c0, mean, var, scale=b, bias=mean); a0 = relu(n0);"
     "  a1 = min(a0, six); c1 = conv2d(a1, wd, groups=4, padding=[1, 1, 1, 1]); n1 = batchNormalization(c1, mean, var);"
     "  a2 = clamp(n1, minValue=0, maxValue=6); c2 = conv2d(a2, wp, bias=b); s = add(a1, c2); p = averagePool2d(s);"
     "  f = reshape(p, newShape=[1, 4]); g = gemm(f, fc, c=fb, bTranspose=true); y = softmax(g, axis=1); }"
     "outputs { y; }",
     1},
    {"U-Net with resample and concat, nchw",
     "inputs { x: f32[1, 4, 8, 8]; }"
     "consts { w: f32[4, 4, 1, 1] " RAMP16 "; v: f32[4, 8, 1, 1] @scalar(0.25); b: f32[4] " RAMP4 "; t: f32[4, 4, 1, 1] " RAMP16
     "; }"
     "nodes { c1 = conv2d(x, w, bias=b); r1 = relu(c1); p = maxPool2d(r1, windowDimensions=[2, 2], strides=[2, 2]);"
     "  c2 = conv2d(p, w, bias=b); r2 = leakyRelu(c2); u = resample2d(r2, sizes=[8, 8], mode=\"linear\");"
     "  cat = concat([u, r1], axis=1); c3 = conv2d(cat, v, bias=b); r3 = sigmoid(c3); d = convTranspose2d(r3, t, bias=b); }"
     "outputs { d; }",
     2},
    {"squeeze and excitation, silu, padding, nchw",
     "inputs { x: f32[2, 4, 5, 5]; }"
     "consts { w: f32[4, 4, 1, 1] " RAMP16 "; b: f32[4] " RAMP4 "; k: f32[1, 4, 1, 1] " RAMP4B "; l: f32[4, 1, 1] " RAMP4 "; }"
     "nodes { c = conv2d(x, w, bias=b); g = sigmoid(c); a = mul(c, g); m = reduceMean(a, axes=[2, 3], keepDimensions=true);"
     "  q = conv2d(m, w, bias=b); h = hardSigmoid(q); e = mul(a, h); f = mul(e, k); o = add(l, f);"
     "  i = instanceNormalization(o, scale=b, bias=b); z = pad(i, beginningPadding=[0, 1, 2, 1], endingPadding=[0, 0, 1, 1], "
     "value=0.5);"
     "  s = slice(z, starts=[0, 1, 1, 0], sizes=[2, 4, 6, 7], strides=[1, 1, 2, 1]); y = conv2d(s, w); }"
     "outputs { y; }",
     2},
    {"patches to tokens and attention",
     "inputs { x: f32[1, 3, 4, 4]; }"
     "consts { w: f32[4, 3, 1, 1] " RAMP12 "; b: f32[4] " RAMP4 "; wq: f32[4, 4] " RAMP16
     "; s: f32[] @scalar(0.7); g: f32[4] " RAMP4 "; }"
     "nodes { c = conv2d(x, w, bias=b, strides=[2, 2]); r = reshape(c, newShape=[1, 4, 4]); t = transpose(r, permutation=[0, "
     "2, 1]);"
     "  n = layerNormalization(t, scale=g, bias=b, axes=[2]); q = matmul(n, wq); k = add(n, b); kt = transpose(k, "
     "permutation=[0, 2, 1]);"
     "  qk = matmul(q, kt); sc = mul(qk, s); p = softmax(sc, axis=2); v = matmul(p, n); o = add(v, t); e = gelu(o); }"
     "outputs { e; }",
     2}, /* the input's, and the one that matmul reads */
    {"transposes around element-wise operators, no convolution",
     "inputs { x: f32[2, 3, 4]; z: f32[2, 4, 3]; }"
     "nodes { t = transpose(x, permutation=[0, 2, 1]); a = exp(t); b = add(a, z); m = neg(a); u = transpose(m, permutation=[0, "
     "2, 1]); }"
     "outputs { u; b; }",
     1},
    {"transposes that cancel through a reduction and a concat",
     "inputs { x: f32[1, 2, 3, 4]; }"
     "nodes { t = transpose(x, permutation=[0, 2, 3, 1]); c = concat([t, t], axis=3); r = reduceMax(c, axes=[1], "
     "keepDimensions=true);"
     "  d = sub(c, r); s = softmax(d, axis=3); u = transpose(s, permutation=[0, 3, 1, 2]); }"
     "outputs { u; }",
     0},
    {"mixed layouts",
     "inputs { x: f32[1, 4, 4, 4]; }"
     "consts { w: f32[4, 4, 1, 1] " RAMP16 "; b: f32[4] " RAMP4 "; }"
     "nodes { a = conv2d(x, w, bias=b); t = transpose(a, permutation=[0, 2, 3, 1]); c = conv2d(t, w, inputLayout=\"nhwc\");"
     "  u = transpose(c, permutation=[0, 3, 1, 2]); d = conv2d(u, w); p = l2Pool2d(d, windowDimensions=[2, 2]);"
     "  [l, r] = split(p, splits=[2, 2], axis=1); e = reverse(l, axes=[1]); f = argMax(r, axis=1); }"
     "outputs { e; f; }",
     3},
    {"rows of integers and half floats",
     "inputs { x: f16[2, 6]; i: i32[2, 6]; }"
     "consts { w: f16[6, 2] @scalar(0.5); c: f16[2] @scalar(1.5); z: u8[1, 1] @scalar(3); sc: f32[1, 1] @scalar(0.1); }"
     "nodes { a = matmul(x, w); b = add(a, c); g = gemm(x, w, c=c, alpha=0.5, beta=2); d = relu(b); e = add(d, g);"
     "  f = cast(i, dataType=\"float32\"); q = quantizeLinear(f, sc, z); h = dequantizeLinear(q, sc, z); j = cumulativeSum(h, "
     "axis=1); }"
     "outputs { e; j; q; }",
     0},
};
