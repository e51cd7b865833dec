/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows that move over rows and columns with padding, as pooling's, and loads of every second to fifth element.  Inputs lie
 * at the end or at the beginning of readable memory, so that reading beyond a row's elements ends the program.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/kernels.h"

struct fenced {
    char *map;
    size_t size;
    void *data;
};

/* Makes memory for bytes that ends (or begins) where nothing may be read. */
static struct fenced fenced_create(size_t bytes, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page;
    struct fenced f = {.size = inner + 2 * page};

    f.map = mmap(NULL, f.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.map != MAP_FAILED);
    assert_int_equal(mprotect(f.map, page, PROT_NONE), 0);
    assert_int_equal(mprotect(f.map + page + inner, page, PROT_NONE), 0);
    f.data = f.map + page + (at_end ? inner - bytes : 0);
    return f;
}

struct window {
    int64_t rows, columns, size, stride, dilation, before, after; /* the same in both dimensions */
};

static int64_t results_of(const struct window *w, int64_t size)
{
    return (size + w->before + w->after - (w->size - 1) * w->dilation - 1) / w->stride + 1;
}

/* Two images, each result is the extreme or the sum of a window of them; what lies in the padding is what the kind starts with.
 */
static void run_window(const struct window *w, enum kreduce kind, dtype type, bool at_end, bool nasty)
{
    const int64_t height = results_of(w, w->rows), width = results_of(w, w->columns), image = w->rows * w->columns;
    struct kernel *k = kernel_create();
    struct fenced in = fenced_create((size_t)(2 * image) * dtype_size(type), at_end);
    void *tensors[2] = {in.data, buffer_create((size_t)(2 * height * width) * dtype_size(type))};
    union scalar fill = {.u64 = 0};

    (nasty ? fill_nasty : fill_plain)(type, in.data, 2 * image);
    if (dtype_is_float(type) && kind != KR_SUM)
        fill.f32 = kind == KR_MAX ? -INFINITY : INFINITY;
    kernel_tensor(k, type, 2 * image, false, NULL);
    kernel_tensor(k, type, 2 * height * width, true, NULL);
    uint32_t b = kernel_var(k, KVAR_PARALLEL, 2), y = kernel_var(k, KVAR_PARALLEL, height);
    uint32_t x = kernel_var(k, KVAR_PARALLEL, width);
    uint32_t i = kernel_var(k, KVAR_REDUCED, w->size), j = kernel_var(k, KVAR_REDUCED, w->size);
    struct kaffine row = kaffine_add(k, strided(k, y, w->stride, -w->before), strided(k, i, w->dilation, 0));
    struct kaffine column = kaffine_add(k, strided(k, x, w->stride, -w->before), strided(k, j, w->dilation, 0));
    struct kguard guards[2] = {{row, w->rows}, {column, w->columns}};
    struct kaffine from = kaffine_add(k, strided(k, b, image, 0), kaffine_add(k, kaffine_scale(k, row, w->columns), column));
    struct kaffine to =
        kaffine_add(k, strided(k, b, height * width, 0), kaffine_add(k, strided(k, y, width, 0), kaffine_var(k, x)));
    kernel_store(k, 1, to, kernel_reduce(k, kind, kernel_load(k, 0, from, 2, guards, fill)), 0, NULL);
    /* At most 49 elements of at most 3. */
    check_kernel(k, tensors,
                 kind == KR_SUM && dtype_is_float(type) ? (struct tolerance){1, 49 * 49 * 3 * 0x1p-24, true} : exact);
    buffer_free(tensors[1]);
    assert_int_equal(munmap(in.map, in.size), 0);
}

TEST(windows_are_computed_inside_and_at_every_edge)
{
#ifdef WEBNN_SANITIZE
    static const struct window windows[] = {{9, 37, 3, 2, 1, 1, 1}, {5, 20, 3, 1, 2, 2, 3}};
#else
    static const struct window windows[] = {
        {9, 50, 3, 2, 1, 1, 1}, {7, 33, 3, 1, 1, 1, 1}, {6, 64, 2, 2, 1, 0, 0},  {5, 20, 3, 1, 2, 2, 3}, {8, 35, 5, 1, 1, 2, 2},
        {9, 66, 3, 3, 1, 0, 1}, {4, 70, 2, 4, 1, 1, 0}, {11, 90, 4, 5, 1, 1, 3}, {3, 3, 7, 1, 1, 5, 5},  {6, 17, 3, 2, 2, 2, 2},
    };
#endif
    static const dtype types[] = {WNNOperandDataType_Float32, WNNOperandDataType_Float16, WNNOperandDataType_Uint8,
                                  WNNOperandDataType_Int64};

    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        for (int t = 0; t < 4; t++) {
            run_window(&windows[i], KR_MAX, types[t], i % 2, false);
            run_window(&windows[i], KR_SUM, types[t], (i + 1) % 2, false);
        }
        run_window(&windows[i], KR_MAX, WNNOperandDataType_Float32, (i + 1) % 2, true); /* NaN, infinities, zeros */
        run_window(&windows[i], KR_MIN, WNNOperandDataType_Float32, i % 2, true);
    }
}

/* Every `stride`-th element of rows, up to the last of the tensor; the first and the last may lie outside. */
static void run_slice(int64_t count, int64_t stride, int64_t outside, dtype type, bool at_end)
{
    const int64_t n = (count - 1) * stride + 1 - 2 * outside;
    struct kernel *k = kernel_create();
    struct fenced in = fenced_create((size_t)(3 * n) * dtype_size(type), at_end);
    void *tensors[2] = {in.data, buffer_create((size_t)(3 * count) * dtype_size(type))};

    fill_plain(type, in.data, 3 * n);
    kernel_tensor(k, type, 3 * n, false, NULL);
    kernel_tensor(k, type, 3 * count, true, NULL);
    uint32_t b = kernel_var(k, KVAR_PARALLEL, 3), x = kernel_var(k, KVAR_PARALLEL, count);
    struct kaffine at = strided(k, x, stride, -outside);
    struct kguard guard = {at, n};
    uint32_t v = kernel_load(k, 0, kaffine_add(k, strided(k, b, n, 0), at), outside > 0, &guard, (union scalar){.u64 = 1});
    kernel_store(k, 1, kaffine_add(k, strided(k, b, count, 0), kaffine_var(k, x)), v, 0, NULL);
    check_kernel(k, tensors, exact);
    buffer_free(tensors[1]);
    assert_int_equal(munmap(in.map, in.size), 0);
}

TEST(strided_loads_read_nothing_else)
{
    static const dtype types[] = {WNNOperandDataType_Float32, WNNOperandDataType_Int8, WNNOperandDataType_Uint64};
    static const int64_t counts[] = {5, 16, 31, 64, 77};

    for (int64_t stride = 2; stride <= 5; stride++)
        for (int c = 0; c < 5; c++)
            for (int64_t outside = 0; outside <= 1; outside++)
                run_slice(counts[c], stride, outside, types[(c + stride) % 3], (c + outside) % 2);
}

static uint32_t int32(struct kernel *k, int32_t value)
{
    return kernel_const(k, KT_I32, (union scalar){.i32 = value});
}

/* Rows that go on beyond their edges by reflection or with the last element, as data; a guard on rows beside. */
static void run_padding(int64_t count, int64_t beyond, bool reflected, dtype type, bool guarded, bool at_end)
{
    const int64_t padded = count + 2 * beyond;
    struct kernel *k = kernel_create();
    struct fenced in = fenced_create((size_t)(3 * count) * dtype_size(type), at_end);
    void *tensors[2] = {in.data, buffer_create((size_t)(3 * padded) * dtype_size(type))};

    fill_plain(type, in.data, 3 * count);
    kernel_tensor(k, type, 3 * count, false, NULL);
    kernel_tensor(k, type, 3 * padded, true, NULL);
    uint32_t b = kernel_var(k, KVAR_PARALLEL, 3), x = kernel_var(k, KVAR_PARALLEL, padded);
    uint32_t i = kernel_cast(k, KT_I32, kernel_index(k, strided(k, x, 1, -beyond))), last = int32(k, (int32_t)count - 1);
    if (reflected)
        i = kernel_op2(k, K_SUB, last, kernel_op1(k, K_ABS, kernel_op2(k, K_SUB, last, kernel_op1(k, K_ABS, i))));
    else
        i = kernel_op2(k, K_MIN, kernel_op2(k, K_MAX, i, int32(k, 0)), last);
    struct kaffine row = strided(k, b, 1, guarded ? -1 : 0),
                   at = kaffine_add(k, kaffine_scale(k, row, count), kernel_loaded_var(k, i, count));
    struct kguard guard = {row, 2};
    uint32_t v = kernel_load(k, 0, at, guarded, &guard, (union scalar){.u64 = 1});
    kernel_store(k, 1, kaffine_add(k, strided(k, b, padded, 0), kaffine_var(k, x)), v, 0, NULL);
    check_kernel(k, tensors, exact);
    buffer_free(tensors[1]);
    assert_int_equal(munmap(in.map, in.size), 0);
}

TEST(padding_repeats_what_is_inside)
{
    static const dtype types[] = {WNNOperandDataType_Float32, WNNOperandDataType_Float16, WNNOperandDataType_Int64};
    static const int64_t counts[] = {5, 16, 31, 64, 131};

    for (int c = 0; c < 5; c++)
        for (int64_t beyond = 1; beyond <= 4; beyond += 3)
            for (int way = 0; way < 4; way++)
                run_padding(counts[c], beyond, way & 1, types[(c + way) % 3], way & 2, (c + beyond) % 2);
}

TEST_GROUP(NULL, machines_free)
