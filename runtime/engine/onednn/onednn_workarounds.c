/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lists what the library is known to compute wrongly, or not at all, although it says that it does.
 *
 * It says of a problem and the implementation that would compute it whether that is to be believed.  Everything here was found
 * by tests against the interpreter, which name the version; what differs between versions in the calls themselves is in
 * onednn_compat.h.
 */
#include "runtime/engine/onednn/onednn_step.h"

/** Returns whether some operand has more than one number per channel. */
static bool is_full(const struct dnn_problem *p, const struct dnn_layout *operand)
{
    return dnn_elements(&p->dst) != p->dst.dims[dnn_channel(p)] && !memcmp(operand, &p->dst, sizeof p->dst);
}

/**
 * Returns whether a problem is one that oneDNN 2.6's convolution by gemm gets wrong after the contraction: with channels last
 * it reads binary post-ops of full shape (of low precision, of any shape) at wrong places, and its abs makes -0 of +0.
 */
static bool posts_misread(const struct dnn_problem *p, const char *implementation)
{
    bool low_precision = p->src_type != dnnl_f32 || p->parts, last = p->dst.strides[1] == 1;

    if (!strstr(implementation, "gemm"))
        return false;
    for (int32_t i = 0; i < p->post_count; i++) {
        const struct dnn_post *x = &p->posts[i];

        if (last && x->kind == DNN_POST_BINARY && (low_precision || is_full(p, &x->operand)))
            return true;
        if (x->kind == DNN_POST_ELTWISE && x->algorithm == dnnl_eltwise_abs)
            return true;
    }
    return false;
}

/**
 * Returns whether a problem is one whose zero point oneDNN 2.6's convolution by gemm gets wrong: with groups and padding, some
 * sizes (1x1 windows above all) are wrong by multiples of the zero point everywhere.
 */
static bool zero_point_misread(const struct dnn_problem *p, const char *implementation)
{
    const bool padded = p->low[0] || p->low[1] || p->high[0] || p->high[1];

    return strstr(implementation, "gemm") && p->weights.rank == 5 && padded && (p->src_zero || p->src_zero_type);
}

/**
 * Returns whether a problem is a transposed convolution of integers that oneDNN 2.6 may get wrong, found by trying thousands of
 * sizes: where results between strides have no products, where windows are dilated, and where results lie beyond all windows.
 */
static bool windows_misread(const struct dnn_problem *p)
{
    for (int i = 0; i < 2; i++)
        if (p->weights.dims[p->weights.rank - 2 + i] < p->strides[i] || p->dilations[i] || p->high[i] < 0)
            return true;
    return false;
}

/**
 * Returns whether an implementation adds up products of bytes by instructions that saturate sums of two to 16 bits.  On a
 * processor with others oneDNN 2.6 has such implementations after the right ones, and takes them where post-ops are too much
 * for those: transposed convolutions of a single pixel, for one, with an operand of full shape.
 */
static bool saturates(const struct dnn_problem *p, const char *implementation)
{
    const unsigned has = (unsigned)onednn.get_effective_cpu_isa(), exact = dnnl_cpu_isa_avx2_vnni;

    return p->src_type != dnnl_f32 &&
           (strstr(implementation, "sse41") || (strstr(implementation, "avx2") && (has & exact) != exact));
}

/**
 * Returns whether a problem needs a zero that oneDNN 2.6's transposed convolution does not give: in all implementations it
 * writes +0 where the last post-op makes -0.  A sum that is zero may have either sign, so that matters only after an operation
 * that fixes the sign (an addend, relu, abs), and where a product with a zero or with the reciprocal of an infinity has one.
 */
static bool loses_minus_zero(const struct dnn_problem *p)
{
    bool is_fixed = p->bias.rank > 0;

    for (int32_t i = 0; i < p->post_count; i++) {
        const struct dnn_post *x = &p->posts[i];
        const bool is_linear = x->kind == DNN_POST_ELTWISE && x->algorithm == dnnl_eltwise_linear;

        if (x->kind == DNN_POST_BINARY && (x->algorithm == dnnl_binary_mul || x->algorithm == dnnl_binary_div))
            return true;
        if (is_linear && is_negative_zero(x->beta) && (x->alpha == 0 || (is_fixed && x->alpha < 0)))
            return true;
        is_fixed |= x->kind != DNN_POST_ELTWISE || x->algorithm == dnnl_eltwise_clip || x->algorithm == dnnl_eltwise_abs ||
                    (is_linear && !is_negative_zero(x->beta));
    }
    return false;
}

/**
 * Returns whether a problem is one that oneDNN gets wrong in tiles of AMX (bfloat16 and int8), found by trying thousands of
 * sizes.  2.6: convolutions with strides call code that is not there where a row of results sees nothing but padding below the
 * image; matmuls that sum two tiles' rows less one to three bytes are computed with another matmul's tiles, or with none, from
 * 33 rows on.  3.7: all groups but the first of a convolution take the zero point off wrongly where their source channels do
 * not fill words of four bytes.
 */
static bool tiles_fail(const struct dnn_problem *p, const char *implementation)
{
    if (!strstr(implementation, "amx"))
        return false;
    if (p->kind == DNN_CONVOLUTION && strstr(implementation, "brg_conv_fwd"))
        return p->weights.rank == 5 && p->weights.dims[2] % 4 && (p->src_zero || p->src_zero_type);
    if (p->kind == DNN_CONVOLUTION)
        return strstr(implementation, "brgconv") && (p->dst.dims[2] - 1) * p->strides[0] - p->low[0] >= p->src.dims[2];

    const int64_t summed = p->src.dims[p->src.rank - 1], bytes = p->parts ? 2 * summed * p->parts : summed;

    return p->kind == DNN_MATMUL && bytes > 124 && bytes < 128;
}

/**
 * Returns whether a problem is one whose rows oneDNN 3.7's convolution by products of blocks reads at wrong places: several
 * rows of a single result each with a stride above 1 are wrong where the source has one channel, found by trying thousands of
 * sizes.
 */
static bool rows_misread(const struct dnn_problem *p, const char *implementation)
{
    return strstr(implementation, "brg_conv_fwd") && p->dst.dims[3] == 1 && p->dst.dims[2] > 1 && p->strides[1] > 1;
}

bool dnn_is_acceptable(const char *implementation, const struct dnn_problem *p)
{
    if (p->kind == DNN_MATMUL && p->by_gemm && !strstr(implementation, "gemm"))
        return false;
    if (saturates(p, implementation))
        return false;
    if (p->kind == DNN_TRANSPOSED_CONVOLUTION && (loses_minus_zero(p) || (p->src_type != dnnl_f32 && windows_misread(p))))
        return false;
    if (p->kind == DNN_CONVOLUTION &&
        (posts_misread(p, implementation) || zero_point_misread(p, implementation) || rows_misread(p, implementation)))
        return false;
    return !tiles_fail(p, implementation);
}

uint32_t dnn_thread_limit(const char *implementation, const struct dnn_problem *p)
{
    enum { ROWS = 48, COLUMNS = 64, SUMMED = 384, WIDE_ROWS = 128, WIDE_THREADS = 7, BYTES_SUMMED = 3072, HALVES_SUMMED = 512 };
    const int64_t columns = p->dst.dims[p->dst.rank - 1], summed = p->src.dims[p->src.rank - 1];
    const int64_t rows = dnn_elements(&p->dst) / columns;

    /* Each matmul of a batch is one thread's, and those of vectors are cut by barriers. */
    if (p->kind != DNN_MATMUL || !strstr(implementation, "gemm") || dnn_elements(&p->weights) != summed * columns || rows < 2 ||
        columns < 2)
        return 0;
    if (p->src_type != dnnl_f32 || p->parts)
        return summed >= (p->parts ? HALVES_SUMMED : BYTES_SUMMED);
    if (((unsigned)onednn.get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core)
        return summed >= SUMMED && rows <= WIDE_ROWS ? WIDE_THREADS : 0; /* it cuts sums for a quarter of the threads */
    if (summed / 2 <= SUMMED)
        return 0;
    const int64_t blocks = ceil_div(rows, ROWS) * ceil_div(columns, COLUMNS);
    return blocks < UINT32_MAX ? (uint32_t)blocks : 0;
}

/**
 * Some int8 convolutions with post-ops have a descriptor but no primitive: their code outgrows the library's buffer.  The
 * primitive made here stays in the library's cache, where the step finds it.  On a device a primitive takes as long as
 * compiling its kernels, so that only the step itself finds out; without it the cluster becomes kernels (runtime/compile).
 */
bool dnn_primitive_exists(struct library *l, const struct dnn_problem *p, const_dnnl_primitive_desc_t pd)
{
    return p->src_type == dnnl_f32 || p->kind == DNN_MATMUL || l->machine.device || dnn_primitive_works(l, pd);
}
