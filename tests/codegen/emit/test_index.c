/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Index maps in generated code: strides, offsets, reverses, guards, divisions, data as index, several variables and tensors.
 */
#include "codegen/kernels.h"

/* Sanitizers look at addresses, which only the size of an element changes, and compile slowly. */
#ifdef WEBNN_SANITIZE
static const dtype dtypes[] = {WNNOperandDataType_Float32, WNNOperandDataType_Int8};
#else
static const dtype dtypes[] = {WNNOperandDataType_Float32, WNNOperandDataType_Float16, DTYPE_BFLOAT16, WNNOperandDataType_Int8,
                               WNNOperandDataType_Int64};
#endif
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* One output through (rows, columns), one input at an affine index of both. */
static void copy_2d(dtype type, int64_t rows, int64_t columns, int64_t in_row, int64_t in_column, int64_t in_offset,
                    int64_t in_size, int64_t out_row, int64_t out_column, int64_t out_offset, int64_t out_size)
{
    struct kernel *k = kernel_create();
    void *tensors[2] = {buffer_create((size_t)in_size * dtype_size(type)), buffer_create((size_t)out_size * dtype_size(type))};
    fill_plain(type, tensors[0], in_size);
    fill_plain(type, tensors[1], out_size);
    kernel_tensor(k, type, in_size, false, NULL);
    kernel_tensor(k, type, out_size, true, NULL);
    uint32_t r = kernel_var(k, KVAR_PARALLEL, rows), c = kernel_var(k, KVAR_PARALLEL, columns);
    struct kaffine in = kaffine_add(k, strided(k, r, in_row, in_offset), strided(k, c, in_column, 0));
    struct kaffine out = kaffine_add(k, strided(k, r, out_row, out_offset), strided(k, c, out_column, 0));
    kernel_store(k, 1, out, load(k, 0, in), 0, NULL);
    check_kernel(k, tensors, exact);
    buffer_free(tensors[0]);
    buffer_free(tensors[1]);
}

TEST(strides_are_followed)
{
    static const int64_t sizes[] = {1, 3, 4, 7, 8, 15, 16, 17, 31, 64, 65, 130};
    for (int d = 0; d < DTYPES; d++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            int64_t n = sizes[i], m = sizes[(i * 5 + 3) % 12];
            copy_2d(dtypes[d], m, n, n + 3, 1, 2, (n + 3) * m + 2, n + 1, 1, 1, (n + 1) * m + 1); /* rows with gaps */
            copy_2d(dtypes[d], m, n, 1, 0, 0, m, n, 1, 0, n * m);                                 /* a column broadcast */
            copy_2d(dtypes[d], m, n, 0, 1, 0, n, n, 1, 0, n * m);                                 /* a row broadcast */
            copy_2d(dtypes[d], m, n, 1, m, 0, n * m, n, 1, 0, n * m);                             /* transposed */
            copy_2d(dtypes[d], m, n, n, -1, n - 1, n * m, n, 1, 0, n * m);                        /* reversed */
            copy_2d(dtypes[d], m, n, n, 1, 0, n * m, n, -1, n - 1, n * m);                        /* stored reversed */
            copy_2d(dtypes[d], m, n, -n, 1, n * (m - 1), n * m, n, 1, 0, n * m);                  /* rows upside down */
            copy_2d(dtypes[d], m, n, 3 * n, 3, 1, 3 * n * m, n, 1, 0, n * m);                     /* every third */
            copy_2d(dtypes[d], m, n, n, 1, 0, n * m, 5 * n, 5, 4, 5 * n * m);                     /* scattered */
            copy_2d(dtypes[d], m, n, 100000, 1, 0, 100000 * m, n, 1, 0, n * m);                   /* far apart */
            copy_2d(dtypes[d], m, n, 1, 7000, 0, 7000 * n + m, n, 1, 0, n * m);
        }
    }
}

/* Rows of which each element is several, from one of these or between two of them on. */
TEST(elements_are_repeated)
{
    static const int64_t times[] = {2, 3, 4, 8}, sizes[] = {1, 2, 5, 8, 13, 32, 33};
    enum { ROWS = 3, MORE = 2 };
    for (int i = 0; i < DTYPES * 4 * 7 * 3; i++) {
        const dtype type = dtypes[i / 84];
        const int64_t n = times[i / 21 % 4], columns = n * sizes[i / 3 % 7], row = sizes[i / 3 % 7] + MORE,
                      offset = i % 3 * n / 2;
        struct kernel *k = kernel_create();
        void *tensors[2] = {buffer_create((size_t)(ROWS * row) * dtype_size(type)),
                            buffer_create((size_t)(ROWS * columns) * dtype_size(type))};
        fill_plain(type, tensors[0], ROWS * row);
        kernel_tensor(k, type, ROWS * row, false, NULL);
        kernel_tensor(k, type, ROWS * columns, true, NULL);
        const uint32_t r = kernel_var(k, KVAR_PARALLEL, ROWS), c = kernel_var(k, KVAR_PARALLEL, columns);
        const struct kaffine from = kernel_divmod(k, strided(k, c, 1, offset), n, 0);
        const struct kaffine to = kaffine_add(k, strided(k, r, columns, 0), kaffine_var(k, c));
        kernel_store(k, 1, to, load(k, 0, kaffine_add(k, strided(k, r, row, 0), from)), 0, NULL);
        check_kernel(k, tensors, exact);
        buffer_free(tensors[0]);
        buffer_free(tensors[1]);
    }
}

/* Elements whose numbers grow by `step` / `divide` from result to result: a quotient, or an integer that is kept inside of the
 * row and one more on one side of the row, as linear resampling reads.  Many divisions make kernels of wide vectors. */
static void copy_near(dtype type, int64_t columns, int64_t step, int64_t divide, bool data, bool heavy)
{
    enum { ROWS = 3, OFFSET = 2, DIVISIONS = 12 };
    const int64_t row = ((columns - 1) * step + OFFSET) / divide + 1;
    struct kernel *k = kernel_create();
    void *tensors[2] = {buffer_create((size_t)(ROWS * row) * dtype_size(type)),
                        buffer_create((size_t)(ROWS * columns) * dtype_size(type))};

    fill_plain(type, tensors[0], ROWS * row);
    kernel_tensor(k, type, ROWS * row, false, NULL);
    kernel_tensor(k, type, ROWS * columns, true, NULL);
    const uint32_t r = kernel_var(k, KVAR_PARALLEL, ROWS), c = kernel_var(k, KVAR_PARALLEL, columns);
    struct kaffine from = kernel_divmod(k, strided(k, c, step, OFFSET), divide, 0);
    if (data) {
        const uint32_t zero = kernel_const(k, KT_I32, (union scalar){.i32 = 0}),
                       one = kernel_const(k, KT_I32, (union scalar){.i32 = 1});
        uint32_t at = kernel_cast(k, KT_I32, kernel_index(k, kaffine_add_const(from, -1)));
        const uint32_t inside = kernel_op2(k, K_LT, zero, at);
        at = kernel_op2(k, K_MAX, zero, at);
        at = kernel_op3(k, K_SELECT, inside, kernel_op2(k, K_ADD, one, at), at);
        from = kernel_loaded_var(k, at, row > 3 ? row - 2 : row);
    }
    uint32_t x = load(k, 0, kaffine_add(k, strided(k, r, row, 0), from));
    for (int i = 0; heavy && i < DIVISIONS; i++)
        x = kernel_op2(k, K_DIV, x, kernel_op2(k, K_ADD, x, kernel_const(k, KT_F32, (union scalar){.f32 = (float)i + 100})));
    kernel_store(k, 1, kaffine_add(k, strided(k, r, columns, 0), kaffine_var(k, c)), x, 0, NULL);
    check_kernel(k, tensors, exact);
    buffer_free(tensors[0]);
    buffer_free(tensors[1]);
}

TEST(near_elements_are_permuted)
{
    static const int64_t ratios[][2] = {{1, 3}, {2, 3}, {4, 3}, {7, 3}, {10, 3}, {14, 3}}, /* the last is gathered */
        sizes[] = {1, 5, 16, 17, 64, 100, 131};
    for (int d = 0; d < DTYPES; d++)
        for (int i = 0; i < 6 * 7 * 2; i++)
            copy_near(dtypes[d], sizes[i / 2 % 7], ratios[i / 14][0], ratios[i / 14][1], i % 2, false);
    for (int i = 0; i < 6 * 7 * 2; i++)
        copy_near(WNNOperandDataType_Float32, sizes[i / 2 % 7], ratios[i / 14][0], ratios[i / 14][1], i % 2, true);
}

/* A window slid over an input with padding: guards on either variable, on loads. */
TEST(guarded_loads_fill_what_lies_outside)
{
    for (int d = 0; d < DTYPES; d++) {
        for (int64_t n = 1; n <= 40; n += 3) {
            for (int64_t pad = 0; pad <= 20; pad += 5) {
                for (int step = 1; step <= 2; step++) {
                    int64_t m = 5, out_n = (n + 2 * pad - 1) / step + 1, out_m = m + 2 * pad;
                    struct kernel *k = kernel_create();
                    void *tensors[2] = {buffer_create((size_t)(n * m) * dtype_size(dtypes[d])),
                                        buffer_create((size_t)(out_n * out_m) * dtype_size(dtypes[d]))};
                    fill_nasty(dtypes[d], tensors[0], n * m);
                    kernel_tensor(k, dtypes[d], n * m, false, NULL);
                    kernel_tensor(k, dtypes[d], out_n * out_m, true, NULL);
                    uint32_t r = kernel_var(k, KVAR_PARALLEL, out_m), c = kernel_var(k, KVAR_PARALLEL, out_n);
                    struct kaffine row = strided(k, r, 1, -pad), column = strided(k, c, step, -pad);
                    struct kguard guards[2] = {{row, m}, {column, n}};
                    struct kaffine index = kaffine_add(k, kaffine_scale(k, row, n), column);
                    union scalar fill = {.u64 = 0};
                    fill.i8 = 77;
                    if (ktype_of(dtypes[d]) == KT_F32)
                        fill.f32 = pad == 5 ? 0.0f : -2.5f;
                    uint32_t x = kernel_load(k, 0, index, 2, guards, fill);
                    kernel_store(k, 1, kaffine_add(k, strided(k, r, out_n, 0), kaffine_var(k, c)), x, 0, NULL);
                    check_kernel(k, tensors, exact);
                    buffer_free(tensors[0]);
                    buffer_free(tensors[1]);
                }
            }
        }
    }
}

/* Places so far from the tensor that 32 bits do not tell them from those inside. */
TEST(guards_hold_far_away)
{
    enum { N = 40, FAR = 5 };
    struct kernel *k = kernel_create();
    void *tensors[2] = {buffer_create(N * sizeof(float)), buffer_create(N * FAR * sizeof(float))};
    fill_nasty(WNNOperandDataType_Float32, tensors[0], N);
    kernel_tensor(k, WNNOperandDataType_Float32, N, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, N * FAR, true, NULL);
    uint32_t r = kernel_var(k, KVAR_PARALLEL, FAR), c = kernel_var(k, KVAR_PARALLEL, N);
    struct kaffine place = kaffine_add(k, strided(k, r, INT64_C(1) << 31, -(INT64_C(1) << 32) - 3), kaffine_var(k, c));
    struct kguard guard = {place, N};
    uint32_t x = kernel_load(k, 0, place, 1, &guard, (union scalar){.f32 = 2});
    kernel_store(k, 1, kaffine_add(k, strided(k, r, N, 0), kaffine_var(k, c)), x, 0, NULL);
    check_kernel(k, tensors, exact);
    buffer_free(tensors[0]);
    buffer_free(tensors[1]);
}

/* The other way round: only a part of the points is stored; also where the guard runs backwards along the vectors. */
TEST(guarded_stores_leave_the_rest)
{
    for (int d = 0; d < DTYPES; d++) {
        for (int64_t n = 20; n <= 52; n += 8) {
            for (int way = 0; way < 4; way++) {
                int64_t m = 6, keep = n - 13;
                struct kernel *k = kernel_create();
                void *tensors[2] = {buffer_create((size_t)(n * m) * dtype_size(dtypes[d])),
                                    buffer_create((size_t)(n * m) * dtype_size(dtypes[d]))};
                fill_nasty(dtypes[d], tensors[0], n * m);
                fill_plain(dtypes[d], tensors[1], n * m);
                kernel_tensor(k, dtypes[d], n * m, false, NULL);
                kernel_tensor(k, dtypes[d], n * m, true, NULL);
                uint32_t r = kernel_var(k, KVAR_PARALLEL, m), c = kernel_var(k, KVAR_PARALLEL, n);
                struct kaffine all = kaffine_add(k, strided(k, r, n, 0), kaffine_var(k, c));
                struct kaffine to = way == 2 ? kaffine_add(k, strided(k, r, n, n - 1), strided(k, c, -1, 0)) : all;
                struct kguard guards[2] = {{strided(k, c, way == 1 ? -1 : 1, way == 1 ? n - 5 : -5), keep},
                                           {strided(k, r, 1, -1), 4}};
                kernel_store(k, 1, to, load(k, 0, all), way == 3 ? 1 : 2, way == 3 ? &guards[1] : guards);
                check_kernel(k, tensors, exact);
                buffer_free(tensors[0]);
                buffer_free(tensors[1]);
            }
        }
    }
}

/* Reshapes that no strides can say: (i / divide) % modulo in front of a transpose. */
TEST(divisions_index_reshapes)
{
    static const int64_t shapes[][3] = {{6, 10, 7}, {5, 16, 3}, {9, 4, 33}, {3, 5, 64}, {2, 3, 129}};
    for (int d = 0; d < DTYPES; d++) {
        for (int s = 0; s < 5; s++) {
            int64_t a = shapes[s][0], b = shapes[s][1], c = shapes[s][2], n = a * b * c;
            struct kernel *k = kernel_create();
            void *tensors[3];
            for (int i = 0; i < 3; i++) {
                tensors[i] = buffer_create((size_t)n * dtype_size(dtypes[d]));
                kernel_tensor(k, dtypes[d], n, i == 2, NULL);
                fill_plain(dtypes[d], tensors[i], n);
            }
            /* Flat over (c, a, b) of a tensor [a, b, c], added to a flat one of which a broadcast part repeats. */
            uint32_t v = kernel_var(k, KVAR_PARALLEL, n);
            struct kaffine flat = kaffine_var(k, v);
            struct kaffine ib = kernel_divmod(k, flat, 1, b), ia = kernel_divmod(k, flat, b, a),
                           ic = kernel_divmod(k, flat, b * a, 0);
            struct kaffine index = kaffine_add(k, kaffine_add(k, kaffine_scale(k, ia, b * c), kaffine_scale(k, ib, c)), ic);
            struct kaffine odd = kernel_divmod(k, kaffine_add_const(flat, 5), 3, 11);
            uint32_t x = load(k, 0, index), y = load(k, 1, odd);
            kernel_store(k, 2, flat, kernel_op2(k, K_ADD, x, y), 0, NULL);
            check_kernel(k, tensors, exact);
            for (int i = 0; i < 3; i++)
                buffer_free(tensors[i]);
        }
    }
}

/* Rows chosen by data of every integer type, far out of range on both sides. */
TEST(gathers_clamp_indices)
{
    static const dtype index_types[] = {WNNOperandDataType_Int8,   WNNOperandDataType_Uint8, WNNOperandDataType_Int32,
                                        WNNOperandDataType_Uint32, WNNOperandDataType_Int64, WNNOperandDataType_Uint64};
    for (int d = 0; d < DTYPES; d++) {
        for (int t = 0; t < 6; t++) {
            for (int64_t n = 1; n <= 50; n += 7) {
                int64_t rows = 13, picks = 37;
                struct kernel *k = kernel_create();
                void *tensors[4] = {buffer_create((size_t)(rows * n) * dtype_size(dtypes[d])),
                                    buffer_create((size_t)picks * dtype_size(index_types[t])),
                                    buffer_create((size_t)(picks * n) * dtype_size(dtypes[d])),
                                    buffer_create((size_t)picks * dtype_size(dtypes[d]))};
                fill_plain(dtypes[d], tensors[0], rows * n);
                fill_nasty(index_types[t], tensors[1], picks);
                kernel_tensor(k, dtypes[d], rows * n, false, NULL);
                kernel_tensor(k, index_types[t], picks, false, NULL);
                kernel_tensor(k, dtypes[d], picks * n, true, NULL);
                uint32_t r = kernel_var(k, KVAR_PARALLEL, picks), c = kernel_var(k, KVAR_PARALLEL, n);
                struct kaffine row = kernel_loaded_var(k, load(k, 1, kaffine_var(k, r)), rows);
                uint32_t x = load(k, 0, kaffine_add(k, kaffine_scale(k, row, n), kaffine_var(k, c)));
                kernel_store(k, 2, kaffine_add(k, strided(k, r, n, 0), kaffine_var(k, c)), x, 0, NULL);
                check_kernel(k, tensors, exact);

                /* Elements instead of rows: the index varies along the vectors. */
                k = kernel_create();
                kernel_tensor(k, dtypes[d], rows * n, false, NULL);
                kernel_tensor(k, index_types[t], picks, false, NULL);
                kernel_tensor(k, dtypes[d], picks, true, NULL);
                r = kernel_var(k, KVAR_PARALLEL, picks);
                row = kernel_loaded_var(k, load(k, 1, kaffine_var(k, r)), rows);
                x = load(k, 0, kaffine_scale(k, row, n));
                kernel_store(k, 2, kaffine_var(k, r), x, 0, NULL);
                void *other[3] = {tensors[0], tensors[1], tensors[3]};
                check_kernel(k, other, exact);
                for (int i = 0; i < 4; i++)
                    buffer_free(tensors[i]);
            }
        }
    }
}

/* Scattered rows: stores at addresses that are data, or all at one, in order: the last one wins, or they add up. */
TEST(scatters_store_in_order)
{
    for (int d = 0; d < DTYPES; d++) {
        for (int64_t i = 0; i < 16; i++) {
            int64_t n = 1 + i % 8 / 2 * 13, rows = i % 2 ? 9 : 1, updates = 30;
            struct kernel *k = kernel_create();
            void *tensors[3] = {buffer_create((size_t)(updates * n) * dtype_size(dtypes[d])),
                                buffer_create((size_t)updates * 4), buffer_create((size_t)(rows * n) * dtype_size(dtypes[d]))};
            fill_plain(dtypes[d], tensors[0], updates * n);
            fill_plain(WNNOperandDataType_Int32, tensors[1], updates);
            fill_plain(dtypes[d], tensors[2], rows * n);
            kernel_tensor(k, dtypes[d], updates * n, false, NULL);
            kernel_tensor(k, WNNOperandDataType_Int32, updates, false, NULL);
            kernel_tensor(k, dtypes[d], rows * n, true, NULL);
            uint32_t c = kernel_var(k, KVAR_PARALLEL, n), r = kernel_var(k, KVAR_REDUCED, updates);
            struct kaffine row = kernel_loaded_var(k, load(k, 1, kaffine_var(k, r)), rows);
            uint32_t x = load(k, 0, kaffine_add(k, strided(k, r, n, 0), kaffine_var(k, c)));
            struct kaffine to = kaffine_add(k, kaffine_scale(k, row, n), kaffine_var(k, c));
            if (i >= 8)
                x = kernel_op2(k, K_ADD, load(k, 2, to), x);
            kernel_store(k, 2, to, x, 0, NULL);
            check_kernel(k, tensors, exact);
            for (int t = 0; t < 3; t++)
                buffer_free(tensors[t]);
        }
    }
}

/* Indices as values: triangular masks and ramps, forwards, backwards and by steps. */
TEST(indices_are_values)
{
    for (int64_t n = 1; n <= 70; n += 4) {
        int64_t m = 9;
        struct kernel *k = kernel_create();
        void *tensors[3] = {buffer_create((size_t)(n * m) * 4), buffer_create((size_t)(n * m) * 4),
                            buffer_create((size_t)(n * m) * 8)};
        fill_nasty(WNNOperandDataType_Float32, tensors[0], n * m);
        kernel_tensor(k, WNNOperandDataType_Float32, n * m, false, NULL);
        kernel_tensor(k, WNNOperandDataType_Float32, n * m, true, NULL);
        kernel_tensor(k, WNNOperandDataType_Int64, n * m, true, NULL);
        uint32_t r = kernel_var(k, KVAR_PARALLEL, m), c = kernel_var(k, KVAR_PARALLEL, n);
        struct kaffine all = kaffine_add(k, strided(k, r, n, 0), kaffine_var(k, c));
        struct kaffine diagonal = kaffine_add(k, kaffine_var(k, c), strided(k, r, -1, 0));
        uint32_t i = kernel_index(k, diagonal), zero = kernel_const(k, KT_I64, (union scalar){.i64 = 0});
        uint32_t x = kernel_op3(k, K_SELECT, kernel_op2(k, K_LE, i, zero), load(k, 0, all), kernel_f32(k, 0));
        uint32_t ramp = kernel_op2(k, K_ADD, kernel_index(k, kaffine_add(k, strided(k, c, -1, 3), strided(k, r, 1000003, 0))),
                                   kernel_index(k, strided(k, c, 77, -5)));
        kernel_store(k, 1, all, x, 0, NULL);
        kernel_store(k, 2, all, ramp, 0, NULL);
        check_kernel(k, tensors, exact);
        for (int t = 0; t < 3; t++)
            buffer_free(tensors[t]);
    }
}

/* Five dimensions with permuted strides, and a scalar kernel without any variable. */
TEST(many_dimensions_are_walked)
{
    int64_t dims[5] = {3, 4, 2, 5, 7}, n = 840;
    static const int orders[][5] = {{0, 2, 1, 3, 4}, {4, 3, 2, 1, 0}, {0, 1, 4, 2, 3}, {3, 0, 4, 1, 2}, {0, 3, 1, 4, 2}};
    for (int d = 0; d < DTYPES; d++) {
        for (int o = 0; o < 5; o++) {
            struct kernel *k = kernel_create();
            void *tensors[2] = {buffer_create((size_t)n * dtype_size(dtypes[d])),
                                buffer_create((size_t)n * dtype_size(dtypes[d]))};
            int64_t in[5], stride = 1, out = 1;
            struct kaffine from = kaffine_const(0), to = kaffine_const(0);
            uint32_t vars[5];
            for (int i = 4; i >= 0; i--) {
                in[i] = stride;
                stride *= dims[i];
            }
            for (int i = 0; i < 5; i++)
                vars[i] = kernel_var(k, KVAR_PARALLEL, dims[orders[o][i]]);
            for (int i = 4; i >= 0; i--) {
                from = kaffine_add(k, from, strided(k, vars[i], in[orders[o][i]], 0));
                to = kaffine_add(k, to, strided(k, vars[i], out, 0));
                out *= dims[orders[o][i]];
            }
            fill_nasty(dtypes[d], tensors[0], n);
            kernel_tensor(k, dtypes[d], n, false, NULL);
            kernel_tensor(k, dtypes[d], n, true, NULL);
            kernel_store(k, 1, to, load(k, 0, from), 0, NULL);
            check_kernel(k, tensors, exact);
            buffer_free(tensors[0]);
            buffer_free(tensors[1]);
        }
    }
    struct kernel *k = kernel_create();
    float x = -3.25f;
    void *tensors[2] = {&x, buffer_create(4)};
    kernel_tensor(k, WNNOperandDataType_Float32, 1, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, 1, true, NULL);
    kernel_store(k, 1, kaffine_const(0), kernel_op1(k, K_ABS, load(k, 0, kaffine_const(0))), 0, NULL);
    check_kernel(k, tensors, exact);
    buffer_free(tensors[1]);
}

TEST_GROUP(NULL, machines_free)
