/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The reference interpreter's choices (docs/semantics.md), each as a small graph of constants that holds the expected tensor,
 * too. The published conformance cases (wpt-interpreter-...) cover the operators' formulas; here is what they leave out.
 */
#include "ir/interpret/interpret.h"
#include "support/graphs.h"

#include <math.h>

/** r is the result, e what it must be, bit for bit (any NaN for a NaN). */
struct example {
    const char *consts, *nodes;
};

static const struct example elementwise[] = {
    /* integer division: toward zero, by zero, the smallest by -1 */
    {"a: i32[5] @values([7, -7, 5, -2147483648, 0]); b: i32[5] @values([2, 2, 0, -1, 0]);"
     "e: i32[5] @values([3, -3, 0, -2147483648, 0]);",
     "r = div(a, b);"},
    {"a: i64[2] @values([-9223372036854775808, 9]); b: i64[2] @values([-1, -4]); e: i64[2] @values([-9223372036854775808, "
     "-2]);",
     "r = div(a, b);"},
    {"a: u64[2] @values([18446744073709551615, 6]); b: u64[2] @values([2, 0]); e: u64[2] @values([9223372036854775807, 0]);",
     "r = div(a, b);"},
    {"a: i8[2] @values([-128, 127]); b: i8[2] @values([-1, -2]); e: i8[2] @values([-128, -63]);", "r = div(a, b);"},
    {"a: u8[3] @values([200, 7, 255]); b: u8[3] @values([3, 255, 1]); e: u8[3] @values([66, 0, 255]);", "r = div(a, b);"},
    /* wrapping */
    {"a: i32[2] @values([2147483647, -2147483648]); b: i32[2] @values([1, -1]); e: i32[2] @values([-2147483648, 2147483647]);",
     "r = add(a, b);"},
    {"a: u32[2] @values([0, 1]); b: u32[2] @values([1, 2]); e: u32[2] @values([4294967295, 4294967295]);", "r = sub(a, b);"},
    {"a: u8[2] @values([16, 255]); b: u8[2] @values([17, 255]); e: u8[2] @values([16, 1]);", "r = mul(a, b);"},
    {"a: i8[2] @values([-128, -5]); e: i8[2] @values([-128, 5]);", "r = abs(a);"},
    {"a: i64[2] @values([-9223372036854775808, 3]); e: i64[2] @values([-9223372036854775808, -3]);", "r = neg(a);"},
    {"a: i32[3] @values([-4, 0, 9]); e: i32[3] @values([-1, 0, 1]);", "r = sign(a);"},
    {"a: i32[3] @values([-4, 0, 9]); e: i32[3] @values([0, 0, 9]);", "r = relu(a);"},
    {"a: i8[3] @values([-100, 0, 9]); b: i8[1] @values([3]); e: i8[3] @values([-44, 0, 9]);", "r = prelu(a, b);"},
    /* integer powers */
    {"a: i32[8] @values([2, 2, 0, 0, 1, -1, -1, -3]); b: i32[8] @values([10, -1, 0, -1, -5, -5, -4, 3]);"
     "e: i32[8] @values([1024, 0, 1, 0, 1, -1, 1, -27]);",
     "r = pow(a, b);"},
    {"a: u8[2] @values([3, 2]); b: u8[2] @values([5, 255]); e: u8[2] @values([243, 0]);", "r = pow(a, b);"},
    {"a: u64[2] @values([3, 1]); b: u64[2] @values([40, 18446744073709551615]); e: u64[2] @values([12157665459056928801, 1]);",
     "r = pow(a, b);"},
    /* comparisons and extremes in the operand's own type */
    {"a: u64[1] @values([18446744073709551615]); b: u64[1] @values([1]); e: u8[1] @values([1]);", "r = greater(a, b);"},
    {"a: i64[1] @values([-1]); b: i64[1] @values([1]); e: u8[1] @values([0]);", "r = greaterOrEqual(a, b);"},
    {"a: u64[1] @values([18446744073709551615]); b: u64[1] @values([1]); e: u64[1] @values([18446744073709551615]);",
     "r = max(a, b);"},
    {"a: u64[3] @values([0, 9223372036854775808, 18446744073709551615]);"
     "e: u64[3] @values([5, 9223372036854775808, 18446744073709551614]);",
     "r = clamp(a, minValue=5, maxValue=18446744073709551614);"},
    {"a: i8[4] @values([-128, -1, 4, 127]); e: i8[4] @values([-2, -1, 3, 3]);", "r = clamp(a, minValue=-2.5, maxValue=3.4);"},
    {"a: i8[2] @values([-128, 127]); e: i8[2] @values([-128, 127]);", "r = clamp(a, minValue=-1000, maxValue=1000);"},
    {"a: i8[2] @values([-128, 127]); e: i8[2] @values([-128, 127]);", "r = clamp(a);"},
    /* NaN, infinities and signed zeros */
    {"a: f32[5] @values([NaN, 1, -0, 0, Infinity]); b: f32[5] @values([1, NaN, 0, -0, NaN]);"
     "e: f32[5] @values([NaN, NaN, 0, 0, NaN]);",
     "r = max(a, b);"},
    {"a: f32[4] @values([NaN, 1, -0, 0]); b: f32[4] @values([1, NaN, 0, -0]); e: f32[4] @values([NaN, NaN, -0, -0]);",
     "r = min(a, b);"},
    {"a: f32[4] @values([NaN, -0, -Infinity, Infinity]); e: f32[4] @values([NaN, 0, 0, Infinity]);", "r = relu(a);"},
    {"a: f32[1, 1, 1, 6] @values([-0, 0, 0, -0, -0, -0]); e: f32[1, 1, 1, 3] @values([0, 0, -0]);",
     "r = maxPool2d(a, windowDimensions=[1, 2], strides=[1, 2]);"},
    {"a: f16[4] @values([NaN, -0, -Infinity, 6e-8]); e: f16[4] @values([0, 0, -1, 1]);", "r = sign(a);"},
    {"a: f32[3] @values([NaN, -Infinity, 7]); e: f32[3] @values([NaN, -1, 5]);", "r = clamp(a, minValue=-1, maxValue=5);"},
    {"a: f32[4] @values([NaN, 0, 1, NaN]); b: f32[4] @values([NaN, -0, 1, 1]); e: u8[4] @values([0, 1, 1, 0]);",
     "r = equal(a, b);"},
    {"a: f32[2] @values([NaN, 0]); b: f32[2] @values([NaN, -0]); e: u8[2] @values([1, 0]);", "r = notEqual(a, b);"},
    {"a: f32[2] @values([NaN, 0]); b: f32[2] @values([NaN, -0]); e: u8[2] @values([0, 1]);", "r = lesserOrEqual(a, b);"},
    {"a: f32[3] @values([NaN, -Infinity, 3e38]); e: u8[3] @values([0, 1, 0]);", "r = isInfinite(a);"},
    {"a: u8[3] @values([0, 2, 255]); e: u8[3] @values([1, 0, 0]);", "r = logicalNot(a);"},
    {"a: u8[4] @values([0, 2, 2, 0]); b: u8[4] @values([0, 4, 0, 9]); e: u8[4] @values([0, 0, 1, 1]);",
     "r = logicalXor(a, b);"},
    {"a: u8[4] @values([0, 2, 4, 0]); b: u8[4] @values([0, 4, 0, 9]); e: u8[4] @values([0, 1, 0, 0]);",
     "r = logicalAnd(a, b);"},
    {"a: f32[3] @values([-0, 0, Infinity]); e: f32[3] @values([-Infinity, Infinity, 0]);", "r = reciprocal(a);"},
    {"a: f32[6] @values([-0.5, 0.5, 1.5, 2.5, -0, -3.5]); e: f32[6] @values([-0, 0, 2, 2, -0, -4]);", "r = roundEven(a);"},
    {"a: f32[3] @values([-0.5, 0.5, -0]); e: f32[3] @values([-0, 1, -0]);", "r = ceil(a);"},
    {"a: f32[3] @values([NaN, -1, -0]); e: f32[3] @values([NaN, NaN, -0]);", "r = sqrt(a);"},
    {"a: f32[4] @values([NaN, 1, -8, 0]); b: f32[4] @values([0, NaN, 0.5, -1]); e: f32[4] @values([1, 1, NaN, Infinity]);",
     "r = pow(a, b);"},
    {"a: f32[3] @values([-Infinity, Infinity, -1e5]); e: f32[3] @values([0, 1, 0]);", "r = sigmoid(a);"},
    {"a: f32[4] @values([1000, -1000, -Infinity, Infinity]); e: f32[4] @values([1000, 0, 0, Infinity]);", "r = softplus(a);"},
    {"a: f32[2] @values([-Infinity, -8]); e: f32[2] @values([NaN, -0]);", "r = hardSwish(a);"},
    {"a: f32[2] @values([Infinity, 3]); e: f32[2] @values([NaN, 0.75]);", "r = softsign(a);"},
    /* subnormals; float16 overflow and its rounding; one rounding per operator */
    {"a: f32[2] @values([1e-45, -3e-45]); b: f32[] @values([0.5]); e: f32[2] @values([0, -1e-45]);", "r = mul(a, b);"},
    {"a: f16[3] @values([65504, 6e-8, 2049]); b: f16[3] @values([32, 6e-8, 0]); e: f16[3] @values([Infinity, 1.2e-7, 2048]);",
     "r = add(a, b);"},
    {"a: f16[1] @values([0.1]); b: f16[1] @values([3]); e: f16[1] @values([0.2998046875]);", "r = mul(a, b);"},
    {"a: f32[1] @values([16777216]); b: f32[1] @values([1]); e: f32[1] @values([16777216]);", "s = add(a, b); r = add(s, b);"},
    /* rank 0, and broadcasting of eight dimensions */
    {"a: f32[] @values([2]); b: f32[] @values([3]); e: f32[] @values([6]);", "r = mul(a, b);"},
    {"a: i32[2, 1, 1, 1, 1, 1, 1, 2] @values([1, 2, 3, 4]); b: i32[1, 1, 1, 2, 1, 1, 1, 1] @values([10, 20]);"
     "e: i32[2, 1, 1, 2, 1, 1, 1, 2] @values([11, 12, 21, 22, 13, 14, 23, 24]);",
     "r = add(a, b);"},
    {"c: u8[2] @values([0, 7]); a: f32[2, 1] @values([1, NaN]); b: f32[] @values([-0]);"
     "e: f32[2, 2] @values([-0, 1, -0, NaN]);",
     "r = where(c, a, b);"},
    /* casts */
    {"a: f32[7] @values([NaN, 3.9, -3.9, 1e30, -1e30, Infinity, -0.9]);"
     "e: i32[7] @values([0, 3, -3, 2147483647, -2147483648, 2147483647, 0]);",
     "r = cast(a, \"int32\");"},
    {"a: f32[5] @values([NaN, -1, 300, 255.9, 1e30]); e: u8[5] @values([0, 0, 255, 255, 255]);", "r = cast(a, \"uint8\");"},
    {"a: f32[3] @values([1e20, -1, 4294967296]); e: u64[3] @values([18446744073709551615, 0, 4294967296]);",
     "r = cast(a, \"uint64\");"},
    {"a: f32[2] @values([1e20, -1e20]); e: i64[2] @values([9223372036854775807, -9223372036854775808]);",
     "r = cast(a, \"int64\");"},
    {"a: i32[3] @values([-1, 256, 384]); e: u8[3] @values([255, 0, 128]);", "r = cast(a, \"uint8\");"},
    {"a: i64[2] @values([4294967295, -4294967297]); e: i32[2] @values([-1, -1]);", "r = cast(a, \"int32\");"},
    {"a: i8[1] @values([-1]); e: u64[1] @values([18446744073709551615]);", "r = cast(a, \"uint64\");"},
    /* through double this would be rounded twice: 2^60 + 2^36 + 1 is just above a half */
    {"a: i64[1] @values([1152921573326323713]); e: f32[1] @values([1152921642045800448]);", "r = cast(a, \"float32\");"},
    {"a: u64[1] @values([18446744073709551615]); e: f32[1] @values([18446744073709551616]);", "r = cast(a, \"float32\");"},
    {"a: i32[3] @values([65519, 65520, -65520]); e: f16[3] @values([65504, Infinity, -Infinity]);",
     "r = cast(a, \"float16\");"},
    {"a: f32[3] @values([65519.99, 65520, 1e-8]); e: f16[3] @values([65504, Infinity, 0]);", "r = cast(a, \"float16\");"},
    /* quantisation: the quotient is rounded to float32, then half to even; saturation; no trap */
    {"a: f16[1] @values([1000]); s: f16[1] @values([0.0810546875]); z: i32[1] @values([10]); e: i32[1] @values([12347]);",
     "r = quantizeLinear(a, s, z);"},
    {"a: f32[6] @values([2.5, 3.5, 1000, -1000, NaN, Infinity]); s: f32[1] @values([1]); z: u8[1] @values([10]);"
     "e: u8[6] @values([12, 14, 255, 0, 0, 255]);",
     "r = quantizeLinear(a, s, z);"},
    {"a: f32[2] @values([0, 1]); s: f32[1] @values([0]); z: i8[1] @values([3]); e: i8[2] @values([0, 127]);",
     "r = quantizeLinear(a, s, z);"},
    {"a: i32[2] @values([2147483647, -2147483648]); s: f32[1] @values([1]); z: i32[1] @values([-2147483648]);"
     "e: f32[2] @values([4294967296, 0]);",
     "r = dequantizeLinear(a, s, z);"},
    {"a: i8[2, 4] @values([1, 2, 3, 4, 5, 6, 7, 8]); s: f32[1, 2] @values([1, 10]); z: i8[1, 2] @values([0, 1]);"
     "e: f32[2, 4] @values([1, 2, 20, 30, 5, 6, 60, 70]);",
     "r = dequantizeLinear(a, s, z);"},
};

static const struct example others[] = {
    /* indices: clamped in their own type, negatives from the end */
    {"a: f32[3] @values([1, 2, 3]); i: i32[6] @values([0, -1, -3, -4, 3, 2147483647]); e: f32[6] @values([1, 3, 1, 1, 3, 3]);",
     "r = gather(a, i);"},
    {"a: f32[3] @values([1, 2, 3]); i: u32[3] @values([4294967295, 2147483648, 1]); e: f32[3] @values([3, 3, 2]);",
     "r = gather(a, i);"},
    {"a: f32[3] @values([1, 2, 3]); i: i64[3] @values([4294967296, -4294967297, -9223372036854775808]);"
     "e: f32[3] @values([3, 1, 1]);",
     "r = gather(a, i);"},
    {"a: u8[2, 2] @values([1, 2, 3, 4]); i: i32[] @values([-1]); e: u8[2] @values([2, 4]);", "r = gather(a, i, axis=1);"},
    {"a: i64[2, 3] @values([1, 2, 3, 4, 5, 6]); i: i32[2, 2] @values([0, 9, -1, -9]); e: i64[2, 2] @values([1, 3, 6, 4]);",
     "r = gatherElements(a, i, axis=1);"},
    {"a: f16[2, 2] @values([1, 2, 3, 4]); i: i32[3, 2] @values([0, 1, -1, -1, 5, -5]); e: f16[3] @values([2, 4, 3]);",
     "r = gatherND(a, i);"},
    /* the last of several updates stays */
    {"a: f32[4] @values([1, 2, 3, 4]); i: i32[4] @values([1, 1, -3, 7]); u: f32[4] @values([10, 20, 30, 40]);"
     "e: f32[4] @values([1, 30, 3, 40]);",
     "r = scatterElements(a, i, u);"},
    {"a: i8[3, 2] @values([1, 2, 3, 4, 5, 6]); i: i64[2, 1] @values([-9, 0]); u: i8[2, 2] @values([7, 8, 9, 10]);"
     "e: i8[3, 2] @values([9, 10, 3, 4, 5, 6]);",
     "r = scatterND(a, i, u);"},
    /* movement keeps bits; odd corners */
    {"a: f32[2, 3] @values([1, -0, NaN, 4, 5, 6]); e: f32[3, 2] @values([1, 4, -0, 5, NaN, 6]);", "r = transpose(a);"},
    {"a: i32[5] @values([1, 2, 3, 4, 5]); e: i32[2] @values([2, 4]);", "r = slice(a, [1], [4], strides=[2]);"},
    {"a: u8[2, 2] @values([1, 2, 3, 4]); e: u8[2, 2] @values([4, 3, 2, 1]);", "r = reverse(a);"},
    {"a: u8[2, 2] @values([1, 2, 3, 4]); e: u8[2, 2] @values([1, 2, 3, 4]);", "r = reverse(a, axes=[]);"},
    {"a: i32[1, 2] @values([1, 2]); e: i32[2, 4] @values([1, 2, 1, 2, 1, 2, 1, 2]);", "r = tile(a, [2, 2]);"},
    {"a: i32[3] @values([1, 2, 3]); e: i32[8] @values([3, 2, 1, 2, 3, 2, 1, 1]);",
     "s = pad(a, [2], [2], mode=\"reflection\"); r = pad(s, [0], [1], mode=\"edge\");"},
    {"a: u8[1] @values([7]); e: u8[3] @values([255, 7, 255]);", "r = pad(a, [1], [1], value=300);"},
    {"a: f32[1] @values([7]); e: f32[2] @values([NaN, 7]);", "r = pad(a, [1], [0], value=NaN);"},
    {"a: f32[] @values([7]); e: f32[] @values([7]);", "r = pad(a, [], []);"},
    {"a: i32[2, 3] @values([1, 2, 3, 4, 5, 6]); e: i32[2, 3] @values([0, 2, 3, 0, 0, 6]);", "r = triangular(a, diagonal=1);"},
    {"a: i32[2, 3] @values([1, 2, 3, 4, 5, 6]); e: i32[2, 3] @values([0, 0, 0, 4, 0, 0]);",
     "r = triangular(a, upper=false, diagonal=-1);"},
    /* reductions */
    {"a: f32[3] @values([1, NaN, 3]); e: f32[] @values([NaN]);", "r = reduceMax(a);"},
    {"a: f32[2] @values([-Infinity, -Infinity]); e: f32[] @values([-Infinity]);", "r = reduceLogSumExp(a);"},
    {"a: f32[2] @values([Infinity, 1]); e: f32[] @values([Infinity]);", "r = reduceLogSumExp(a);"},
    {"a: i32[2] @values([2147483647, 1]); e: i32[] @values([-2147483648]);", "r = reduceSum(a);"},
    {"a: i32[2] @values([-2147483648, 1]); e: i32[] @values([-2147483647]);", "r = reduceL1(a);"},
    {"a: u64[2] @values([18446744073709551615, 3]); e: u64[] @values([18446744073709551615]);", "r = reduceMax(a);"},
    {"a: u32[2] @values([65536, 65536]); e: u32[] @values([0]);", "r = reduceProduct(a);"},
    {"a: u8[2] @values([200, 100]); e: u8[] @values([100]);", "r = reduceMin(a);"},
    {"a: f32[2] @values([-3, 4]); e: f32[2] @values([9, 16]);", "r = reduceSumSquare(a, axes=[]);"},
    {"a: f32[] @values([-3]); e: f32[] @values([3]);", "r = reduceL2(a);"},
    {"a: i32[2, 2, 2] @values([1, 2, 3, 4, 5, 6, 7, 8]); e: i32[1, 2, 1] @values([14, 22]);",
     "r = reduceSum(a, axes=[2, 0], keepDimensions=true);"},
    {"a: f16[4] @values([60000, 60000, -60000, -60000]); e: f16[] @values([0]);", "r = reduceSum(a);"},
    {"a: f32[4] @values([3, NaN, 9, NaN]); e: i32[] @values([1]);", "r = argMax(a, 0);"},
    {"a: f32[4] @values([0, -0, 0, 1]); e: i64[1] @values([0]);",
     "r = argMin(a, 0, keepDimensions=true, outputDataType=\"int64\");"},
    {"a: u64[2] @values([1, 18446744073709551615]); e: i32[] @values([1]);", "r = argMax(a, 0);"},
    {"a: i32[2, 3] @values([1, 2, 3, 4, 5, 6]); e: i32[2, 3] @values([5, 3, 0, 11, 6, 0]);",
     "r = cumulativeSum(a, 1, exclusive=true, reversed=true);"},
    /* softmax and normalisations */
    {"a: f32[1, 2] @values([NaN, 1]); e: f32[1, 2] @values([NaN, NaN]);", "r = softmax(a, 1);"},
    {"a: f32[1, 2] @values([-Infinity, 1000]); e: f32[1, 2] @values([0, 1]);", "r = softmax(a, 1);"},
    {"a: f32[2] @values([3, 5]); e: f32[2] @values([0, 0]);", "r = layerNormalization(a, axes=[]);"},
    /* a bias that is absent is not +0, which would change -0; one that is there does */
    {"a: f32[1, 2] @values([-0, 0]); m: f32[2] @scalar(0); v: f32[2] @scalar(4); e: f32[1, 2] @values([-0, 0]);",
     "r = batchNormalization(a, m, v);"},
    {"a: f32[1, 1, 1, 3] @scalar(-0); e: f32[1, 1, 1, 3] @scalar(-0);", "r = instanceNormalization(a);"},
    {"a: f32[1, 3] @scalar(-0); e: f32[1, 3] @scalar(-0);", "r = layerNormalization(a);"},
    {"a: f32[1, 3] @scalar(-0); b: f32[3] @scalar(0); e: f32[1, 3] @scalar(0);", "r = layerNormalization(a, bias=b);"},
    {"a: f32[1, 2, 2] @values([1, 5, 3, 3]); s: f32[2, 2] @values([1, 2, 3, 4]);"
     "e: f32[1, 2, 2] @values([-1.4142135, 4.2426405, 0, 0]);",
     "r = layerNormalization(a, axes=[2, 1], scale=s, epsilon=0);"},
    /* pooling: partial windows, windows without elements, NaN */
    {"a: f32[1, 1, 2, 2] @values([1, 2, 3, 4]); e: f32[1, 1, 2, 2] @values([1, 2, 3, 4]);",
     "r = averagePool2d(a, windowDimensions=[2, 2], strides=[2, 2], padding=[1, 1, 1, 1]);"},
    {"a: f32[1, 1, 2, 2] @values([-3, 2, 3, 4]); e: f32[1, 1, 2, 2] @values([3, 2, 3, 4]);",
     "r = l2Pool2d(a, windowDimensions=[2, 2], strides=[2, 2], padding=[1, 1, 1, 1]);"},
    {"a: f32[1, 1, 1, 3] @values([-3, -2, NaN]); e: f32[1, 1, 1, 2] @values([-2, NaN]);",
     "r = maxPool2d(a, windowDimensions=[1, 2], strides=[1, 2], outputShapeRounding=\"ceil\");"},
    {"a: i8[1, 1, 1, 1] @values([-5]); e: i8[1, 1, 1, 3] @values([0, -5, 0]);",
     "r = maxPool2d(a, windowDimensions=[1, 1], padding=[0, 0, 1, 1]);"},
    {"a: f32[1, 1, 1, 1] @values([-5]); e: f32[1, 1, 1, 3] @values([0, -5, 0]);",
     "r = averagePool2d(a, windowDimensions=[1, 1], padding=[0, 0, 1, 1]);"},
    {"a: u64[1, 2, 1, 1] @values([18446744073709551615, 1]); e: u64[1, 2, 1, 1] @values([18446744073709551615, 1]);",
     "r = maxPool2d(a, layout=\"nhwc\", windowDimensions=[1, 1]);"},
    /* convolutions: padding adds nothing; groups, layouts and dilations together */
    {"a: f32[1, 1, 1, 2] @values([1, 2]); w: f32[1, 1, 1, 3] @values([Infinity, 1, 1]); e: f32[1, 1, 1, 2] @values([3, "
     "Infinity]);",
     "r = conv2d(a, w, padding=[0, 0, 1, 1]);"},
    {"a: f32[1, 1, 3, 4] @values([1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60]);"
     "w: f32[1, 1, 2, 2, 4] @values([1, 1, 2, 0, 1, 0, 1, 1, 3, 0, 0, 1, 0, 2, 1, 0]);"
     "e: f32[1, 1, 1, 4] @values([26, 101, 84, 26]);",
     "x = reshape(a, [1, 1, 3, 4]); f = reshape(w, [1, 2, 2, 4]);"
     "r = conv2d(x, f, inputLayout=\"nhwc\", filterLayout=\"hwio\", groups=2, dilations=[1, 2]);"},
    {"a: f32[1, 1, 1, 2] @values([1, 2]); w: f32[1, 1, 1, 3] @values([1, 10, 100]); b: f32[1] @values([0.5]);"
     "e: f32[1, 1, 1, 6] @values([1.5, 10.5, 102.5, 20.5, 200.5, 0.5]);",
     "r = convTranspose2d(a, w, strides=[1, 2], outputPadding=[0, 1], bias=b);"},
    {"a: f32[2, 1] @values([1, 2]); b: f32[3, 1] @values([1, 2, 3]); c: f32[3] @values([1, 1, 1]);"
     "e: f32[2, 3] @values([3, 5, 7, 5, 9, 13]);",
     "r = gemm(a, b, bTranspose=true, alpha=2, c=c);"},
    {"a: f32[2, 1, 1, 2] @values([1, 2, 3, 4]); b: f32[2, 2, 1] @values([1, 1, 0, 1]);"
     "e: f32[2, 2, 1, 1] @values([3, 2, 7, 4]);",
     "r = matmul(a, b);"},
    /* resampling: halves go down, integers round to nearest even */
    {"a: u8[1, 1, 1, 2] @values([10, 21]); e: u8[1, 1, 1, 4] @values([10, 13, 18, 21]);",
     "r = resample2d(a, mode=\"linear\", sizes=[1, 4]);"},
    {"a: i8[1, 1, 1, 4] @values([1, 2, 3, 4]); e: i8[1, 1, 1, 2] @values([1, 3]);", "r = resample2d(a, sizes=[1, 2]);"},
};

static void check(const struct example *x)
{
    char body[2048];

    snprintf(body, sizeof body, "consts { %s } nodes { %s } outputs { r; e; }", x->consts, x->nodes);
    OWNED(graph) struct graph *g = parse_body(body);
    const struct tensor_type *type = &g->outputs[0].value->type;
    const size_t bytes = (size_t)type_bytes(type), size = dtype_size(type->type);
    char *outputs[2] = {malloc(bytes), malloc((size_t)type_bytes(&g->outputs[1].value->type))};

    assert_true(type_equal(type, &g->outputs[1].value->type));
    assert_true(graph_interpret(g, NULL, (void *const *)outputs, &(struct error){0}));
    for (size_t k = 0; k < bytes; k += size) {
        union scalar r = {0}, e = {0};
        memcpy(&r, outputs[0] + k, size);
        memcpy(&e, outputs[1] + k, size);
        bool nan = dtype_is_float(type->type) && isnan(scalar_to_double(e, type->type));
        if (nan ? !isnan(scalar_to_double(r, type->type)) : r.u64 != e.u64)
            fail_msg("element %zu is %.17g, expected %.17g in:\n%s", k / size, scalar_to_double(r, type->type),
                     scalar_to_double(e, type->type), body);
    }
    free(outputs[0]);
    free(outputs[1]);
}

TEST(elementwise_operators_follow_the_specification)
{
    for (size_t i = 0; i < sizeof elementwise / sizeof *elementwise; i++)
        check(&elementwise[i]);
}

TEST(other_operators_follow_the_specification)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check(&others[i]);
}

/** Inputs that no output needs may be NULL, and nodes that no output needs are not run. */
TEST(unneeded_inputs_may_be_absent)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { a: f32[2]; b: f32[2]; } nodes { u = exp(b); y = neg(a); } outputs { y; again = y; }");
    const float a[2] = {1, -2};
    float y[2], again[2];

    assert_true(graph_interpret(g, (const void *const[]){a, NULL}, (void *const[]){y, again}, &(struct error){0}));
    assert_true(y[0] == -1 && y[1] == 2);
    assert_memory_equal(y, again, sizeof y);
}

/** Matrices larger than the tiles that a transpose is copied in, with a part of a tile at each end. */
TEST(transposes_of_any_size_move_every_element)
{
    enum { ROWS = 65, COLUMNS = 130 };
    static const struct {
        const char *type;
        size_t size;
    } cases[] = {{"u8", 1}, {"i8", 1}, {"f16", 2}, {"f32", 4}, {"i64", 8}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t size = cases[i].size;
        uint64_t from[ROWS * COLUMNS], to[ROWS * COLUMNS]; /* as many bytes as the largest type needs */
        char body[128];

        snprintf(body, sizeof body, "inputs { a: %s[%d, %d]; } nodes { y = transpose(a); } outputs { y; }", cases[i].type, ROWS,
                 COLUMNS);
        OWNED(graph) struct graph *g = parse_body(body);
        for (size_t k = 0; k < ROWS * COLUMNS * size; k++)
            ((uint8_t *)from)[k] = (uint8_t)(k * 37 + k / 251);
        assert_true(graph_interpret(g, (const void *const[]){from}, (void *const[]){to}, &(struct error){0}));
        for (size_t r = 0; r < COLUMNS; r++)
            for (size_t c = 0; c < ROWS; c++)
                assert_memory_equal((char *)to + (r * ROWS + c) * size, (char *)from + (c * COLUMNS + r) * size, size);
    }
}
