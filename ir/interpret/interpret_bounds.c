/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes error bounds: how far a correct implementation's element may lie from the interpreter's.
 *
 * The interpreter computes an operator's exact value y (in double, whose own error is a billionth of float32's) from its
 * operands' values, and a distance d: with operands anywhere within their bounds and float32 arithmetic inside the operator,
 * the unrounded result is in [y - d, y + d].  Rounding is monotone, so the implementation's result is between the rounded
 * ends, and the bound is the farther end's distance from the rounded y.  d = 0 gives bound 0: exact values and those rounded
 * once from exact operands must agree to the bit.
 */
#include "ir/interpret/interpret.h"

#include <float.h>

double interpret_bound_rounded(dtype type, double exact, double distance)
{
    if (distance == 0)
        return 0;
    if (!(distance > 0) || !isfinite(exact))
        return INFINITY;
    double value = interpret_round(type, exact);
    double low = interpret_round(type, exact - distance), high = interpret_round(type, exact + distance);
    double below = low == value ? 0 : value - low, above = high == value ? 0 : high - value;
    double bound = below > above ? below : above;
    /* A result that is not known exactly and rounds to zero is a zero of either sign. */
    double smallest = type == WNNOperandDataType_Float16 ? 0x1p-24 : type == DTYPE_BFLOAT16 ? 0x1p-126 : 0x1p-149;
    return value == 0 && bound < smallest ? smallest : bound;
}

double interpret_bound_sum(double exact, double magnitude, double far, int64_t count, bool certain)
{
    /* An operand is NaN or infinite, and so is the sum in any order, unless finite terms may become the other infinity. */
    if (!isfinite(exact))
        return certain && (isnan(exact) || far <= FLT_MAX) ? 0 : INFINITY;
    if (!(far <= FLT_MAX)) /* some order may overflow on the way */
        return INFINITY;
    /* This is gamma_n of Higham's analysis, with one rounding more for products; subnormal products are each off by half a step
     * at most. */
    double n = (double)count + 1, gamma = n < 0x1p22 ? n * 0x1p-24 / (1 - n * 0x1p-24) : 1;
    double rounding = count <= 1 && certain ? 0 : gamma * far + (n + 1) * 0x1p-150; /* and interpret_sum_in_range's */
    if (rounding == 0 && fabs(exact) < 0x1p-149)
        return 0x1p-150; /* -0, or +0 to which it was added: either is right */
    return certain ? rounding : (far - magnitude) + rounding;
}

double interpret_sum_in_range(double sum)
{
    return fabs(sum) < FLT_MIN || isinf((float)sum) ? (float)sum : sum;
}

bool interpret_magnitudes(struct interpretation *t, const double *values, const double *bounds, int64_t count,
                          struct interpret_magnitudes *out)
{
    out->near = out->far = interpret_memory(t, count, sizeof(double));
    if (bounds)
        out->far = interpret_memory(t, count, sizeof(double));
    if (!out->near || !out->far)
        return false;
    for (int64_t k = 0; k < count; k++) {
        out->near[k] = isfinite(values[k]) ? fabs(values[k]) : 0;
        if (bounds)
            out->far[k] = out->near[k] + bounds[k];
    }
    return true;
}
