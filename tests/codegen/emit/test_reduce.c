/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reductions, running sums and several phases in every way they are vectorised: along the reduced or along a parallel variable,
 * small sizes unrolled, long sums in blocks, row buffers.
 */
#include "codegen/kernels.h"

struct shape {
    int64_t before, reduced, after; /* [before, reduced, after], reduced over the middle */
};

/* Sanitizers compile slowly: one of each kind of rows, columns and sums in blocks. */
#ifdef WEBNN_SANITIZE
static const struct shape shapes[] = {{1, 1000, 1}, {7, 5, 1}, {4, 65, 1}, {2, 3, 40}, {3, 8, 17}, {2, 700, 70}, {9, 2, 1}};
#else
static const struct shape shapes[] = {{1, 1000, 1}, {7, 5, 1},  {3, 64, 1},  {4, 65, 1},   {2, 3, 40},
                                      {1, 100, 9},  {5, 7, 16}, {3, 8, 17},  {2, 33, 33},  {1, 5000, 1},
                                      {2, 700, 70}, {9, 2, 1},  {40, 16, 1}, {1, 300, 64}, {2, 17, 257}};
#endif
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* out[b, a] = reduce over r of in[b, r, a]; the reduced variable may be split in two. */
static struct kernel *reduction(enum kreduce kind, dtype type, struct shape s, int64_t split, dtype *out_type)
{
    struct kernel *k = kernel_create();
    int64_t n = s.before * s.reduced * s.after;
    snprintf(k->name, sizeof k->name, "%s_%s", kreduce_name(kind), dtype_name(type));
    kernel_tensor(k, type, n, false, NULL);
    *out_type = kind == KR_ARG_MIN || kind == KR_ARG_MAX ? WNNOperandDataType_Int64 : type;
    kernel_tensor(k, *out_type, s.before * s.after, true, NULL);
    if (kind == KR_DOT)
        kernel_tensor(k, type, n, false, NULL);
    uint32_t b = kernel_var(k, KVAR_PARALLEL, s.before), a = kernel_var(k, KVAR_PARALLEL, s.after);
    struct kaffine reduced;
    if (split > 1) {
        uint32_t outer = kernel_var(k, KVAR_REDUCED, split), inner = kernel_var(k, KVAR_REDUCED, s.reduced / split);
        /* In an order that cannot be merged into one variable. */
        reduced = kaffine_add(k, kaffine_var(k, outer), strided(k, inner, split, 0));
    } else {
        reduced = kaffine_var(k, kernel_var(k, KVAR_REDUCED, s.reduced));
    }
    struct kaffine in = kaffine_add(k, strided(k, b, s.reduced * s.after, 0), kaffine_scale(k, reduced, s.after));
    in = kaffine_add(k, in, kaffine_var(k, a));
    uint32_t x = load(k, 0, in);
    uint32_t r = kind == KR_DOT ? kernel_dot(k, x, load(k, 2, in)) : kernel_reduce(k, kind, x);
    kernel_store(k, 1, kaffine_add(k, strided(k, b, s.after, 0), kaffine_var(k, a)), r, 0, NULL);
    return k;
}

static void run_reduction(enum kreduce kind, dtype type, struct shape s, int64_t split, bool nasty, struct tolerance t)
{
    dtype out;
    struct kernel *k = reduction(kind, type, s, split, &out);
    int64_t n = s.before * s.reduced * s.after;
    void *tensors[3] = {buffer_create((size_t)n * dtype_size(type)),
                        buffer_create((size_t)(s.before * s.after) * dtype_size(out)),
                        buffer_create((size_t)n * dtype_size(type))};
    for (int i = 0; i < 3; i += 2)
        (nasty ? fill_nasty : fill_plain)(type, tensors[i], n);
    check_kernel(k, tensors, t);
    for (int i = 0; i < 3; i++)
        buffer_free(tensors[i]);
}

TEST(integers_and_extremes_reduce_exactly)
{
    static const dtype types[] = {WNNOperandDataType_Int8,   WNNOperandDataType_Uint8, WNNOperandDataType_Int32,
                                  WNNOperandDataType_Uint32, WNNOperandDataType_Int64, WNNOperandDataType_Uint64};
    for (int s = 0; s < SHAPES; s++) {
        for (int kind = 0; kind < KR_COUNT_; kind++) {
            run_reduction(kind, types[(s + kind) % 6], shapes[s], 1, true, exact);
            run_reduction(kind, types[(s + kind) % 6], shapes[s], 1, false, exact); /* many equal elements */
            if (shapes[s].reduced % 2 == 0)
                run_reduction(kind, types[(s + kind + 3) % 6], shapes[s], 2, true, exact);
        }
        static const enum kreduce extremes[] = {KR_MIN, KR_MAX, KR_ARG_MIN, KR_ARG_MAX};
        for (int kind = 0; kind < 4; kind++) {
            run_reduction(extremes[kind], WNNOperandDataType_Float32, shapes[s], 1, true, exact);
            run_reduction(extremes[kind], WNNOperandDataType_Float32, shapes[s], 1, false, exact);
            run_reduction(extremes[kind], WNNOperandDataType_Float16, shapes[s], 1, false, exact);
            if (shapes[s].reduced % 5 == 0)
                run_reduction(extremes[kind], WNNOperandDataType_Float32, shapes[s], 5, true, exact);
        }
    }
}

/* First of several equal extremes, signed zeros being equal, and the first NaN. */
TEST(the_first_extreme_is_found)
{
    for (int64_t n = 1; n <= 200; n += 33) {
        for (int at = 0; at < 3; at++) {
            for (int kind = KR_ARG_MIN; kind <= KR_ARG_MAX; kind++) {
                dtype out;
                struct shape s = {1, n, 1};
                struct kernel *k = reduction(kind, WNNOperandDataType_Float32, s, 1, &out);
                float *x = buffer_create((size_t)n * 4);
                void *tensors[2] = {x, buffer_create(8)};
                for (int64_t i = 0; i < n; i++)
                    x[i] = at == 0   ? (i % 2 ? 0.0f : -0.0f)
                           : at == 1 ? (kind == KR_ARG_MAX ? -INFINITY : INFINITY)
                                     : (i % 7 == 5 ? NAN : 1.0f);
                check_kernel(k, tensors, exact);
                buffer_free(x);
                buffer_free(tensors[1]);
            }
        }
    }
}

/* The smallest and the largest of one row, which look for NaN together: NaN is found wherever it is, in row r at element r, and
 * the last row has none. */
TEST(extremes_of_one_row_keep_nan)
{
    enum { LENGTH = 151, ROWS = LENGTH + 1 };
    struct kernel *k = kernel_create();
    float *x = buffer_create(ROWS * LENGTH * sizeof *x);
    void *tensors[3] = {x, buffer_create(ROWS * sizeof *x), buffer_create(ROWS * sizeof *x)};

    snprintf(k->name, sizeof k->name, "extremes");
    for (int i = 0; i < 3; i++)
        kernel_tensor(k, WNNOperandDataType_Float32, i ? ROWS : ROWS * LENGTH, i > 0, NULL);
    fill_plain(WNNOperandDataType_Float32, x, ROWS * LENGTH);
    for (int64_t r = 0; r < LENGTH; r++)
        x[r * LENGTH + r] = NAN;
    uint32_t row = kernel_var(k, KVAR_PARALLEL, ROWS), at = kernel_var(k, KVAR_REDUCED, LENGTH);
    uint32_t v = load(k, 0, kaffine_add(k, strided(k, row, LENGTH, 0), kaffine_var(k, at)));
    kernel_store(k, 1, kaffine_var(k, row), kernel_reduce(k, KR_MAX, v), 0, NULL);
    kernel_store(k, 2, kaffine_var(k, row), kernel_reduce(k, KR_MIN, v), 0, NULL);
    check_kernel(k, tensors, exact);
    for (int i = 0; i < 3; i++)
        buffer_free(tensors[i]);
}

/* Float sums: |error| <= c * eps * sum of magnitudes.  Elements are at most 3 (products 9); the interpreter adds in double. */
TEST(float_sums_are_within_bounds)
{
    for (int s = 0; s < SHAPES; s++) {
        for (int split = 1; split <= 5; split += 4) {
            if (shapes[s].reduced % split)
                continue;
            /* Within a block at most 64 additions one after the other, then a handful: 80 roundings are a bound. */
            struct tolerance t = {0, 80 * 0x1p-24 * 3.0 * (double)shapes[s].reduced, true};
            run_reduction(KR_SUM, WNNOperandDataType_Float32, shapes[s], split, false, t);
            t.absolute *= 3;
            run_reduction(KR_DOT, WNNOperandDataType_Float32, shapes[s], split, false, t);
        }
        run_reduction(KR_PRODUCT, WNNOperandDataType_Float32, shapes[s], 1, false, (struct tolerance){1, 0, false});
        run_reduction(KR_SUM, WNNOperandDataType_Float16, shapes[s], 1, false, (struct tolerance){1, 0, true});
    }
}

/* Infinities and NaN go through sums as they do one by one. */
TEST(sums_keep_infinities_and_nan)
{
    for (int s = 0; s < SHAPES; s++) {
        for (int what = 0; what < 4; what++) {
            dtype out;
            int64_t n = shapes[s].before * shapes[s].reduced * shapes[s].after;
            float *x = buffer_create((size_t)n * 4);
            void *tensors[2] = {x, buffer_create((size_t)(shapes[s].before * shapes[s].after) * 4)};
            for (int64_t i = 0; i < n; i++)
                x[i] = 1;
            if (what < 3)
                x[n / 2] = what == 0 ? INFINITY : what == 1 ? -INFINITY : NAN;
            else if (n > 1) {
                x[0] = INFINITY;
                x[n - 1] = -INFINITY;
            }
            struct kernel *k = reduction(KR_SUM, WNNOperandDataType_Float32, shapes[s], 1, &out);
            check_kernel(k, tensors, exact);
            buffer_free(x);
            buffer_free(tensors[1]);
        }
    }
}

/* A sum of 4 million equal numbers that float32 cannot add up one by one: 0.1 summed plainly is off by 10 %. */
TEST(a_long_sum_does_not_drift)
{
    static const struct shape long_shapes[] = {{1, 1 << 22, 1}, {1, 1 << 16, 20}};
    for (int s = 0; s < 2; s++) {
        dtype out;
        int64_t n = long_shapes[s].reduced * long_shapes[s].after;
        float *x = buffer_create((size_t)n * 4);
        void *tensors[2] = {x, buffer_create((size_t)long_shapes[s].after * 4)};
        for (int64_t i = 0; i < n; i++)
            x[i] = 0.1f;
        check_kernel(reduction(KR_SUM, WNNOperandDataType_Float32, long_shapes[s], 1, &out), tensors,
                     (struct tolerance){64, 0, false});
        buffer_free(x);
        buffer_free(tensors[1]);
    }
}

/* softmax over the middle: three phases, with row buffers. */
TEST(softmax_runs_in_phases)
{
    for (int s = 0; s < SHAPES; s++) {
        for (int type = 0; type < 2; type++) {
            dtype t = type ? WNNOperandDataType_Float16 : WNNOperandDataType_Float32;
            struct shape h = shapes[s];
            int64_t n = h.before * h.reduced * h.after;
            struct kernel *k = kernel_create();
            void *tensors[2] = {buffer_create((size_t)n * dtype_size(t)), buffer_create((size_t)n * dtype_size(t))};
            fill_plain(t, tensors[0], n);
            kernel_tensor(k, t, n, false, NULL);
            kernel_tensor(k, t, n, true, NULL);
            uint32_t b = kernel_var(k, KVAR_PARALLEL, h.before), a = kernel_var(k, KVAR_PARALLEL, h.after);
            uint32_t r = kernel_var(k, KVAR_REDUCED, h.reduced);
            struct kaffine at = kaffine_add(k, strided(k, b, h.reduced * h.after, 0),
                                            kaffine_add(k, strided(k, r, h.after, 0), kaffine_var(k, a)));
            uint32_t x = load(k, 0, at), top = kernel_reduce(k, KR_MAX, x);
            uint32_t e = kernel_op1(k, K_EXP, kernel_op2(k, K_SUB, x, top)), sum = kernel_reduce(k, KR_SUM, e);
            kernel_store(k, 1, at, kernel_op2(k, K_DIV, e, sum), 0, NULL);
            check_kernel(k, tensors, (struct tolerance){type ? 1 : 8, 0, false});
            buffer_free(tensors[0]);
            buffer_free(tensors[1]);
        }
    }
}

/* Layer normalisation: mean, variance, store with scale and bias along the reduced variable; a kept condition, too. */
TEST(normalization_runs_in_phases)
{
    for (int s = 0; s < SHAPES; s++) {
        struct shape h = shapes[s];
        int64_t n = h.before * h.reduced * h.after;
        struct kernel *k = kernel_create();
        void *tensors[3] = {buffer_create((size_t)n * 4), buffer_create((size_t)n * 4), buffer_create((size_t)h.reduced * 4)};
        fill_plain(WNNOperandDataType_Float32, tensors[0], n);
        fill_plain(WNNOperandDataType_Float32, tensors[2], h.reduced);
        kernel_tensor(k, WNNOperandDataType_Float32, n, false, NULL);
        kernel_tensor(k, WNNOperandDataType_Float32, n, true, NULL);
        kernel_tensor(k, WNNOperandDataType_Float32, h.reduced, false, NULL);
        uint32_t b = kernel_var(k, KVAR_PARALLEL, h.before), a = kernel_var(k, KVAR_PARALLEL, h.after);
        uint32_t r = kernel_var(k, KVAR_REDUCED, h.reduced);
        struct kaffine at =
            kaffine_add(k, strided(k, b, h.reduced * h.after, 0), kaffine_add(k, strided(k, r, h.after, 0), kaffine_var(k, a)));
        uint32_t x = load(k, 0, at), count = kernel_f32(k, (float)h.reduced);
        uint32_t mean = kernel_op2(k, K_DIV, kernel_reduce(k, KR_SUM, x), count), d = kernel_op2(k, K_SUB, x, mean);
        uint32_t variance = kernel_op2(k, K_DIV, kernel_reduce(k, KR_SUM, kernel_op2(k, K_MUL, d, d)), count);
        uint32_t root = kernel_op1(k, K_SQRT, kernel_op2(k, K_ADD, variance, kernel_f32(k, 0.01f)));
        uint32_t y = kernel_op2(k, K_DIV, d, root);
        uint32_t odd =
            kernel_op2(k, K_LT, kernel_op1(k, K_TANH, kernel_op1(k, K_EXP, x)), kernel_f32(k, 0.75f)); /* expensive: kept */
        y = kernel_op3(k, K_SELECT, odd, y, kernel_op2(k, K_MUL, y, load(k, 2, kaffine_var(k, r))));
        uint32_t used = kernel_reduce(k, KR_SUM, kernel_op3(k, K_SELECT, odd, kernel_f32(k, 1), kernel_f32(k, 2)));
        y = kernel_op2(k, K_ADD, y, used);
        kernel_store(k, 1, at, y, 0, NULL);
        /* Sums of n terms of at most 3 within 80 roundings, divided by n and by a root of at least 0.1, times 3; `used` is
         * exact. */
        check_kernel(k, tensors, (struct tolerance){4, 80 * 0x1p-24 * 3 * 30 * 3, true});
        for (int i = 0; i < 3; i++)
            buffer_free(tensors[i]);
    }
}

/* Rows shorter than a vector, in matrices with a gap between them: less their largest element, and that. */
static void run_short_rows(dtype type, int64_t points, int64_t size, bool reduced_only)
{
    enum { MATRICES = 2, GAP = 3 };
    const int64_t matrix = points * size + GAP, in = (MATRICES - 1) * matrix + points * size;
    struct kernel *k = kernel_create();
    void *tensors[3] = {buffer_create((size_t)in * dtype_size(type)), buffer_create((size_t)in * dtype_size(type)),
                        buffer_create((size_t)(MATRICES * points) * dtype_size(type))};

    fill_plain(type, tensors[0], in);
    fill_plain(type, tensors[1], in); /* gaps stay as they are */
    kernel_tensor(k, type, in, false, NULL);
    kernel_tensor(k, type, in, true, NULL);
    kernel_tensor(k, type, MATRICES * points, true, NULL);
    const uint32_t b = kernel_var(k, KVAR_PARALLEL, MATRICES), i = kernel_var(k, KVAR_PARALLEL, points),
                   r = kernel_var(k, KVAR_REDUCED, size);
    const struct kaffine at =
        kaffine_add(k, kaffine_add(k, strided(k, b, matrix, 0), strided(k, i, size, 0)), kaffine_var(k, r));
    const uint32_t x = load(k, 0, at), most = kernel_reduce(k, KR_MAX, x);
    if (!reduced_only)
        kernel_store(k, 1, at, kernel_op2(k, K_SUB, x, most), 0, NULL);
    kernel_store(k, 2, kaffine_add(k, strided(k, b, points, 0), kaffine_var(k, i)), most, 0, NULL);
    check_kernel(k, tensors, exact);
    for (int t = 0; t < 3; t++)
        buffer_free(tensors[t]);
}

TEST(short_rows_are_transposed)
{
    static const dtype types[] = {WNNOperandDataType_Float32, WNNOperandDataType_Float16, DTYPE_BFLOAT16,
                                  WNNOperandDataType_Int32, WNNOperandDataType_Int8};
    static const int64_t points[] = {1, 15, 16, 17, 40, 64};

    for (int64_t size = 2; size <= 17; size++)
        for (int p = 0; p < 6; p++)
            run_short_rows(types[((size_t)size + (size_t)p) % 5], points[p], size, (size + p) % 3 == 0);
    for (int t = 0; t < 5; t++)
        run_short_rows(types[t], 37, 10, false);
}

TEST(pooling_reduces_windows)
{
    for (int window = 2; window <= 12; window += window < 5 ? 1 : 7) {
        for (int channels_last = 0; channels_last < 2; channels_last++) {
            for (int kind = 0; kind < 2; kind++) {
                int64_t h = 13, w = 21, c = 19, stride = 2, pad = 1, oh = (h + 2 * pad - window) / stride + 1,
                        ow = (w + 2 * pad - window) / stride + 1;
                int64_t sh = channels_last ? w * c : w, sw = channels_last ? c : 1, sc = channels_last ? 1 : h * w;
                int64_t th = channels_last ? ow * c : ow, tw = channels_last ? c : 1, tc = channels_last ? 1 : oh * ow;
                struct kernel *k = kernel_create();
                void *tensors[2] = {buffer_create((size_t)(h * w * c) * 4), buffer_create((size_t)(oh * ow * c) * 4)};
                fill_plain(WNNOperandDataType_Float32, tensors[0], h * w * c);
                kernel_tensor(k, WNNOperandDataType_Float32, h * w * c, false, NULL);
                kernel_tensor(k, WNNOperandDataType_Float32, oh * ow * c, true, NULL);
                uint32_t vc = channels_last ? 0 : kernel_var(k, KVAR_PARALLEL, c);
                uint32_t vh = kernel_var(k, KVAR_PARALLEL, oh), vw = kernel_var(k, KVAR_PARALLEL, ow);
                if (channels_last)
                    vc = kernel_var(k, KVAR_PARALLEL, c);
                uint32_t rh = kernel_var(k, KVAR_REDUCED, window), rw = kernel_var(k, KVAR_REDUCED, window);
                struct kaffine y = kaffine_add(k, strided(k, vh, stride, -pad), kaffine_var(k, rh));
                struct kaffine x = kaffine_add(k, strided(k, vw, stride, -pad), kaffine_var(k, rw));
                struct kguard guards[2] = {{y, h}, {x, w}};
                struct kaffine at =
                    kaffine_add(k, kaffine_add(k, kaffine_scale(k, y, sh), kaffine_scale(k, x, sw)), strided(k, vc, sc, 0));
                uint32_t v = kernel_load(k, 0, at, 2, guards, (union scalar){.f32 = kind ? 0 : -INFINITY});
                struct kaffine to =
                    kaffine_add(k, kaffine_add(k, strided(k, vh, th, 0), strided(k, vw, tw, 0)), strided(k, vc, tc, 0));
                kernel_store(k, 1, to, kernel_reduce(k, kind ? KR_SUM : KR_MAX, v), 0, NULL);
                check_kernel(k, tensors, kind ? (struct tolerance){0, 80 * 0x1p-24 * 3 * 144, true} : exact);
                buffer_free(tensors[0]);
                buffer_free(tensors[1]);
            }
        }
    }
}

/* Running sums, inclusive and exclusive, forwards and backwards, floats and wrapping integers. */
TEST(scans_add_up_in_order)
{
    static const dtype types[] = {WNNOperandDataType_Float32, WNNOperandDataType_Int8, WNNOperandDataType_Uint64,
                                  WNNOperandDataType_Float16};
    for (int s = 0; s < SHAPES; s++) {
        for (int t = 0; t < 4; t++) {
            for (int way = 0; way < 4; way++) {
                struct shape h = shapes[s];
                int64_t n = h.before * h.reduced * h.after;
                struct kernel *k = kernel_create();
                void *tensors[2] = {buffer_create((size_t)n * dtype_size(types[t])),
                                    buffer_create((size_t)n * dtype_size(types[t]))};
                (t == 1 || t == 2 ? fill_nasty : fill_plain)(types[t], tensors[0], n);
                kernel_tensor(k, types[t], n, false, NULL);
                kernel_tensor(k, types[t], n, true, NULL);
                uint32_t b = kernel_var(k, KVAR_PARALLEL, h.before), a = kernel_var(k, KVAR_PARALLEL, h.after);
                uint32_t r = kernel_var(k, KVAR_REDUCED, h.reduced);
                struct kaffine along = way & 2 ? strided(k, r, -h.after, h.after * (h.reduced - 1)) : strided(k, r, h.after, 0);
                struct kaffine at =
                    kaffine_add(k, strided(k, b, h.reduced * h.after, 0), kaffine_add(k, along, kaffine_var(k, a)));
                kernel_store(k, 1, at, kernel_scan(k, load(k, 0, at), way & 1), 0, NULL);
                check_kernel(k, tensors, exact); /* both add in double, whose order float32 does not show */
                buffer_free(tensors[0]);
                buffer_free(tensors[1]);
            }
        }
    }
}

/* A matmul as a kernel, the fallback of the library: vectors along the columns or along the inner dimension. */
TEST(matmuls_are_computed_as_kernels)
{
    static const int64_t sizes[][3] = {{5, 7, 9}, {16, 40, 33}, {1, 300, 20}, {12, 64, 1}};
    for (int s = 0; s < 4; s++) {
        for (int transposed = 0; transposed < 2; transposed++) {
            int64_t m = sizes[s][0], depth = sizes[s][1], n = sizes[s][2];
            struct kernel *k = kernel_create();
            void *tensors[3] = {buffer_create((size_t)(m * depth) * 4), buffer_create((size_t)(depth * n) * 4),
                                buffer_create((size_t)(m * n) * 4)};
            fill_plain(WNNOperandDataType_Float32, tensors[0], m * depth);
            fill_plain(WNNOperandDataType_Float32, tensors[1], depth * n);
            kernel_tensor(k, WNNOperandDataType_Float32, m * depth, false, NULL);
            kernel_tensor(k, WNNOperandDataType_Float32, depth * n, false, NULL);
            kernel_tensor(k, WNNOperandDataType_Float32, m * n, true, NULL);
            uint32_t i = kernel_var(k, KVAR_PARALLEL, m), j = kernel_var(k, KVAR_PARALLEL, n),
                     r = kernel_var(k, KVAR_REDUCED, depth);
            uint32_t x = load(k, 0, kaffine_add(k, strided(k, i, depth, 0), kaffine_var(k, r)));
            uint32_t y = load(k, 1,
                              transposed ? kaffine_add(k, strided(k, j, depth, 0), kaffine_var(k, r))
                                         : kaffine_add(k, strided(k, r, n, 0), kaffine_var(k, j)));
            uint32_t z = kernel_op2(k, K_MAX, kernel_dot(k, x, y), kernel_f32(k, 0));
            kernel_store(k, 2, kaffine_add(k, strided(k, i, n, 0), kaffine_var(k, j)), z, 0, NULL);
            check_kernel(k, tensors, (struct tolerance){0, 80 * 0x1p-24 * 9 * (double)depth, true});
            for (int t = 0; t < 3; t++)
                buffer_free(tensors[t]);
        }
    }
}

TEST_GROUP(NULL, machines_free)
