/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Composes Fourier transforms of matmuls.
 *
 * A transform of length r * m is r transforms of length m of what m transforms of length r give, multiplied by twiddle factors:
 * with j = j1 * m + j2, k = k1 + r * k2 and e(x) = exp(-2 pi i x),
 *
 *     X[k] = sum over j2 of e(j2 k2 / m) * e(j2 k1 / (r m)) * ( sum over j1 of e(j1 k1 / r) * x[j] )
 *
 * The inner sum is a matmul with a constant matrix of real and imaginary parts, of all j2 and rows at once.  It is done again
 * for each k1, with new r and m, until the last one, whose matmul takes its numbers from the other side.  Then the digits of k
 * stand in the reverse order, and are transposed.
 *
 * A length with a large prime factor is a convolution with a chirp (Bluestein): 2 j k is j^2 + k^2 - (k - j)^2.  Transforms of
 * a power of two do it.  Factors are computed in double, sums in float32.
 */

#include <string.h>

#include "frontend/readers/onnx/compose.h"
#include "ir/support/number.h"

enum { STAGES_MAX = ONNX_RANK_MAX - 2, PARTS = 2 };

static const double two_pi = 6.28318530717958647692;

/** Lists the lengths of the transforms that make one. */
struct plan {
    uint32_t count, radix[STAGES_MAX];
};

/* ---- what it costs, in multiplications of a matmul for each element ---- */

#define PASS_COST 60    /* multiplying by twiddle factors, and starting two kernels */
#define MATRIX_COST 8.0 /* reading an element of a matrix, which all rows share */
#define CHIRP_PASSES 3  /* by the chirp, by its transform, and by the chirp again */
#define IMPOSSIBLE HUGE_VAL

/** Parts a length into factors of similar sizes.  Returns the cost of a transform of as many stages. */
static double plan_stages(uint32_t length, uint32_t stages, struct plan *p)
{
    uint32_t left = length;
    double cost = 0;

    p->count = stages;
    for (uint32_t i = 0; i < stages; i++) {
        const double wanted = pow(left, 1.0 / (stages - i));
        uint32_t best = i + 1 == stages ? left : 0;

        for (uint64_t d = 2; i + 1 < stages && d * d <= left; d++) {
            if (left % d)
                continue;
            for (int other = 0; other < 2; other++) {
                const uint32_t factor = other ? left / (uint32_t)d : (uint32_t)d;
                if (!best || fabs(log(factor / wanted)) < fabs(log(best / wanted)))
                    best = factor;
            }
        }
        if (best < 2)
            return IMPOSSIBLE;
        p->radix[i] = best;
        left /= best;
        cost += (double)PARTS * PARTS * best + PASS_COST;
    }
    return cost;
}

/** Chooses the stages that cost least of a transform of rows that have `parts`.  Returns that cost. */
static double plan_radices(uint32_t rows, uint32_t parts, const struct fourier *f, struct plan *best)
{
    double least = (double)parts * f->parts * f->bins * (1 + MATRIX_COST / rows);

    *best = (struct plan){.count = 1, .radix = {f->length}};
    for (uint32_t stages = 2; stages <= STAGES_MAX; stages++) {
        struct plan p = {0};
        const double cost = plan_stages(f->length, stages, &p);

        if (cost < least) {
            least = cost;
            *best = p;
        }
    }
    return least;
}

/* ---- stages ---- */

/** Says how the matrix of a transform of that radix is laid out. */
struct matrix {
    uint32_t radix, parts, count, bins; /* the first `count` elements and `bins` results are taken */
    bool transposed;                    /* [parts and their elements, results], else [results, parts and their elements] */
    bool planar;                        /* all real parts of results come first, else they are pairs */
};

static WNNOperand waves(struct onnx_node *n, const struct matrix *m, const struct fourier *f)
{
    const size_t rows = (size_t)m->bins * f->parts, columns = (size_t)m->parts * m->count;
    const uint32_t dims[2] = {(uint32_t)(m->transposed ? columns : rows), (uint32_t)(m->transposed ? rows : columns)};
    float *data = rows * columns <= (size_t)1 << 26 ? onnx_alloc(n, rows * columns, sizeof *data) : NULL;
    const double factor = f->inverse ? 1.0 / m->radix : 1;

    if (!data)
        return onnx_refuse_operand(n, "a transform of %u elements to %u bins needs too large a matrix", m->radix, m->bins);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            const uint64_t k = m->planar ? row % m->bins : row / f->parts, j = column % m->count;
            const size_t out = m->planar ? row / m->bins : row % f->parts, in = column / m->count;
            /* The product is taken modulo the radix, which is exact, however large it is. */
            const double angle = (f->inverse ? two_pi : -two_pi) * (double)(j * k % m->radix) / m->radix;
            const double value = factor * (in == out ? cos(angle) : in ? -sin(angle) : sin(angle));
            data[m->transposed ? column * rows + row : row * columns + column] = (float)value;
        }
    return onnx_constant_operand(n, WNNOperandDataType_Float32, 2, dims, data);
}

/** Holds complex factors for [count, 2, length]. */
struct factors {
    uint32_t count, length;
    float *real, *imaginary; /* [count, 1, length] */
};

static bool factors_create(struct onnx_node *n, uint32_t count, uint32_t length, struct factors *t)
{
    *t = (struct factors){count, length, NULL, NULL};
    t->real = onnx_alloc(n, (size_t)count * length, sizeof(float));
    t->imaginary = onnx_alloc(n, (size_t)count * length, sizeof(float));
    return t->real && t->imaginary;
}

static void factor_set(struct factors *t, size_t i, double real, double imaginary)
{
    t->real[i] = (float)real;
    t->imaginary[i] = (float)imaginary;
}

/** Multiplies complex numbers, [rows, count, 2, length], by factors. */
static WNNOperand multiply(struct onnx_node *n, WNNOperand x, const struct factors *t)
{
    static const float signs[PARTS] = {-1, 1};
    const uint32_t dims[3] = {t->count, 1, t->length}, axis = 2;
    WNNOperand swapped = onnx_reverse(n, x, 1, &axis);
    float *sign = onnx_alloc(n, PARTS, sizeof *sign);

    if (!sign)
        return onnx_error_operand(n);
    memcpy(sign, signs, sizeof signs);
    swapped = onnx_mul(n, swapped, onnx_constant_operand(n, WNNOperandDataType_Float32, 2, (uint32_t[]){PARTS, 1}, sign));
    swapped = onnx_mul(n, swapped, onnx_constant_operand(n, WNNOperandDataType_Float32, 3, dims, t->imaginary));
    return onnx_add(n, onnx_mul(n, x, onnx_constant_operand(n, WNNOperandDataType_Float32, 3, dims, t->real)), swapped);
}

/** Multiplies k1's numbers by the powers of the root of unity of radix * m, [rows, radix, 2, m]. */
static WNNOperand twiddle(struct onnx_node *n, WNNOperand x, uint32_t radix, uint32_t m, bool inverse)
{
    struct factors t;

    if (!factors_create(n, radix, m, &t))
        return onnx_error_operand(n);
    for (uint64_t k = 0; k < radix; k++)
        for (uint64_t j = 0; j < m; j++) {
            const double angle = (inverse ? two_pi : -two_pi) * (double)(j * k) / ((double)radix * m);
            factor_set(&t, (size_t)(k * m + j), cos(angle), sin(angle));
        }
    return multiply(n, x, &t);
}

/** Transforms [rows, parts, count] in stages, and returns [rows, parts, bins] if planar, else [rows, bins, parts]. */
static WNNOperand transform(struct onnx_node *n, WNNOperand x, const struct plan *p, const struct fourier *f, bool planar)
{
    static const uint32_t pairs[] = {0, 2, 1};
    const struct onnx_dims from = onnx_dims_of(n, x);
    const uint32_t rows = from.at[0], last = p->count - 1, rest = f->length / p->radix[last];
    const struct fourier whole = {.parts = PARTS, .inverse = f->inverse};
    struct matrix w = {p->radix[last], from.at[1], from.at[2], 0, true, planar || last};
    struct onnx_dims dims = {p->count + 2, {rows}};
    uint32_t m = f->length, batch = rows, order[ONNX_RANK_MAX] = {0, p->count, p->count + 1};

    if (last && w.count < m)
        x = onnx_pad(n, x, (struct onnx_dims){3, {0}}, (struct onnx_dims){3, {0, 0, m - w.count}}, 0);
    for (uint32_t i = 0; i < last; i++) {
        const uint32_t r = p->radix[i];

        m /= r;
        x = onnx_reshape(n, x, 3, (uint32_t[]){batch, w.parts * r, m});
        x = onnx_matmul(n, waves(n, &(struct matrix){r, w.parts, r, r, false, false}, &whole), x);
        x = twiddle(n, onnx_reshape(n, x, 4, (uint32_t[]){batch, r, PARTS, m}), r, m, f->inverse);
        batch *= r;
        w.parts = PARTS;
        w.count = m;
        dims.at[1 + i] = r;
        order[p->count + 1 - i] = 1 + i;
    }
    /* The last digit is the slowest of k: only its values with bins that are wanted are computed. */
    w.bins = ceil_div(f->bins, rest);
    x = onnx_matmul(n, onnx_reshape(n, x, 2, (uint32_t[]){batch, w.parts * w.count}), waves(n, &w, f));
    if (!w.planar)
        return onnx_reshape(n, x, 3, (uint32_t[]){rows, w.bins, f->parts});
    dims.at[p->count] = f->parts;
    dims.at[p->count + 1] = w.bins;
    x = onnx_transpose(n, onnx_reshape_to(n, x, dims), dims.rank, order);
    x = onnx_slice_axis(n, onnx_reshape(n, x, 3, (uint32_t[]){rows, f->parts, w.bins * rest}), 2, 0, f->bins);
    return planar ? x : onnx_transpose(n, x, 3, pairs);
}

/* ---- chirps ---- */

/** Transforms size complex numbers in place, size being a power of two: real parts, then imaginary ones. */
static void transform_constant(double *x, size_t size)
{
    double *re = x, *im = x + size;

    for (size_t i = 0, j = 0; i < size; i++) { /* j has the bits of i in the reverse order */
        if (i < j) {
            const double a = re[i], b = im[i];
            re[i] = re[j];
            im[i] = im[j];
            re[j] = a;
            im[j] = b;
        }
        size_t bit = size / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j ^= bit;
    }
    for (size_t half = 1; half < size; half *= 2)
        for (size_t k = 0; k < half; k++) {
            const double c = cos(two_pi / 2 * (double)k / (double)half), s = -sin(two_pi / 2 * (double)k / (double)half);

            for (size_t i = k; i < size; i += 2 * half) {
                const double a = re[i + half] * c - im[i + half] * s, b = re[i + half] * s + im[i + half] * c;
                re[i + half] = re[i] - a;
                im[i + half] = im[i] - b;
                re[i] += a;
                im[i] += b;
            }
        }
}

static double chirp_angle(uint64_t i, const struct fourier *f)
{
    return (f->inverse ? two_pi : -two_pi) / 2 * (double)(i * i % (2 * (uint64_t)f->length)) / f->length;
}

/** Multiplies [rows, 2, count], or real numbers [rows, 1, count], by the chirp's first elements. */
static WNNOperand by_chirp(struct onnx_node *n, WNNOperand x, const struct fourier *f, double factor)
{
    const struct onnx_dims dims = onnx_dims_of(n, x);
    const uint32_t rows = dims.at[0], count = dims.at[2];
    struct factors t;

    if (!factors_create(n, 1, count, &t))
        return onnx_error_operand(n);
    for (uint32_t i = 0; i < count; i++)
        factor_set(&t, i, factor * cos(chirp_angle(i, f)), factor * sin(chirp_angle(i, f)));
    if (dims.at[1] == 1) {
        const WNNOperand both[PARTS] = {
            onnx_constant_operand(n, WNNOperandDataType_Float32, 2, (uint32_t[]){1, count}, t.real),
            onnx_constant_operand(n, WNNOperandDataType_Float32, 2, (uint32_t[]){1, count}, t.imaginary)};
        return onnx_mul(n, x, onnx_concat(n, PARTS, both, 0));
    }
    x = multiply(n, onnx_reshape(n, x, 4, (uint32_t[]){rows, 1, PARTS, count}), &t);
    return onnx_reshape(n, x, 3, (uint32_t[]){rows, PARTS, count});
}

/** Transforms [rows, parts, count] by convolving with the chirp, in transforms of `size`, and returns [rows, bins, parts]. */
static WNNOperand transform_by_chirp(struct onnx_node *n, WNNOperand x, const struct plan *p, uint32_t size,
                                     const struct fourier *f)
{
    const struct fourier there = {size, size, PARTS, false}, back = {size, f->bins, PARTS, true};
    const uint32_t rows = onnx_dims_of(n, x).at[0];
    static const uint32_t interleaved[] = {0, 2, 1};
    double *chirp = onnx_alloc(n, PARTS * (size_t)size, sizeof *chirp);
    struct factors t;

    if (!chirp || !factors_create(n, 1, size, &t))
        return onnx_error_operand(n);
    memset(chirp, 0, PARTS * (size_t)size * sizeof *chirp);
    for (uint32_t i = 0; i < f->length; i++) {
        const size_t mirrored = i ? size - i : 0;

        chirp[i] = chirp[mirrored] = cos(chirp_angle(i, f));
        chirp[size + i] = chirp[size + mirrored] = -sin(chirp_angle(i, f));
    }
    transform_constant(chirp, size);
    for (size_t i = 0; i < size; i++)
        factor_set(&t, i, chirp[i], chirp[size + i]);
    x = transform(n, by_chirp(n, x, f, 1), p, &there, true);
    x = multiply(n, onnx_reshape(n, x, 4, (uint32_t[]){rows, 1, PARTS, size}), &t);
    x = transform(n, onnx_reshape(n, x, 3, (uint32_t[]){rows, PARTS, size}), p, &back, true);
    x = by_chirp(n, x, f, f->inverse ? 1.0 / f->length : 1);
    return onnx_transpose(n, onnx_slice_axis(n, x, 1, 0, f->parts), 3, interleaved);
}

/* ---- the transform ---- */

WNNOperand onnx_fourier(struct onnx_node *n, WNNOperand x, const struct fourier *f)
{
    const struct onnx_dims dims = onnx_dims_of(n, x);
    const WNNOperandDataType type = wnnOperandGetDataType(x);
    struct plan plan, chirp;
    uint32_t size = 1;

    if (wnnOperandIsError(x) || n->refused)
        return onnx_error_operand(n);
    double cost = plan_radices(dims.at[0], dims.at[1], f, &plan);
    while (size < 2 * (uint64_t)f->length - 1 && size < (uint32_t)1 << 30)
        size *= 2;
    x = onnx_cast(n, x, WNNOperandDataType_Float32);
    if (size >= 2 * (uint64_t)f->length - 1 &&
        (2 * plan_radices(dims.at[0], PARTS, &(struct fourier){size, size, PARTS, false}, &chirp) + CHIRP_PASSES * PASS_COST) *
                size <
            cost * f->length)
        x = transform_by_chirp(n, x, &chirp, size, f);
    else
        x = transform(n, x, &plan, f, false);
    return onnx_cast(n, x, type);
}
