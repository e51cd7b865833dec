/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernels that read along one variable and write along another: tiles transposed in registers, with everything that may be
 * fused into them, at every edge.
 */
#include "codegen/kernels.h"

/* Sanitizers look at addresses, which only the size of an element changes, and compile slowly. */
#ifdef WEBNN_SANITIZE
static const dtype dtypes[] = {WNNOperandDataType_Float32, WNNOperandDataType_Float16, WNNOperandDataType_Uint8};
#else
static const dtype dtypes[] = {WNNOperandDataType_Float32, WNNOperandDataType_Float16, DTYPE_BFLOAT16, WNNOperandDataType_Uint8,
                               WNNOperandDataType_Int64};
#endif
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

struct fixture {
    struct kernel *k;
    dtype type;
    void *tensors[8];
    uint32_t count;
};

static uint32_t tensor(struct fixture *f, int64_t n, bool written)
{
    f->tensors[f->count] = buffer_create((size_t)n * dtype_size(f->type));
    fill_plain(f->type, f->tensors[f->count], n);
    kernel_tensor(f->k, f->type, n, written, NULL);
    return f->count++;
}

static void finish(struct fixture *f)
{
    check_kernel(f->k, f->tensors, exact);
    for (uint32_t i = 0; i < f->count; i++)
        buffer_free(f->tensors[i]);
}

/* [b, m, n] -> [b, n, m], and nothing else. */
static void transpose(dtype type, int64_t b, int64_t m, int64_t n)
{
    struct fixture f = {.k = kernel_create(), .type = type};
    uint32_t in = tensor(&f, b * m * n, false), out = tensor(&f, b * m * n, true);
    uint32_t vb = kernel_var(f.k, KVAR_PARALLEL, b), i = kernel_var(f.k, KVAR_PARALLEL, n),
             j = kernel_var(f.k, KVAR_PARALLEL, m);
    struct kaffine from =
        kaffine_add(f.k, strided(f.k, vb, m * n, 0), kaffine_add(f.k, strided(f.k, j, n, 0), kaffine_var(f.k, i)));
    struct kaffine to =
        kaffine_add(f.k, strided(f.k, vb, m * n, 0), kaffine_add(f.k, strided(f.k, i, m, 0), kaffine_var(f.k, j)));
    kernel_store(f.k, out, to, load(f.k, in, from), 0, NULL);
    finish(&f);
}

TEST(every_edge_is_transposed)
{
    for (int d = 0; d < DTYPES; d++) {
        for (int64_t m = 2; m <= 37; m += m < 18 ? 1 : 7)
            for (int64_t n = 2; n <= 37; n += m % 4 == 0 ? 1 : 5)
                transpose(dtypes[d], 1 + (m + n) % 3, m, n);
        transpose(dtypes[d], 1, 5000, 21); /* more than one block of the vector variable */
        transpose(dtypes[d], 1, 21, 5000);
        transpose(dtypes[d], 2, 4096, 17);
        for (int64_t few = 2; few <= 5; few++) {
            transpose(dtypes[d], 1, few, 900);
            transpose(dtypes[d], 3, 128, few);
            transpose(dtypes[d], 2, few, 4103);
        }
    }
}

/* out[i, j] = a[j, i] * row[i] + column[j] - b[i, j] * a2[j, i], and a second result in the other order. */
TEST(fused_transposes_are_computed)
{
    static const int64_t sizes[][2] = {{16, 16}, {35, 50}, {7, 70}, {64, 9}, {130, 33}, {4, 300}, {3, 71}, {2, 48}, {100, 3}};
    for (int d = 0; d < DTYPES; d++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int64_t m = sizes[s][0], n = sizes[s][1];
            struct fixture f = {.k = kernel_create(), .type = dtypes[d]};
            struct kernel *k = f.k;
            uint32_t a = tensor(&f, m * n, false), row = tensor(&f, n, false), column = tensor(&f, m, false),
                     b = tensor(&f, m * n, false);
            uint32_t a2 = tensor(&f, m * (n + 3) + 2, false), out = tensor(&f, m * n, true),
                     other = tensor(&f, m * (n + 1), true);
            uint32_t i = kernel_var(k, KVAR_PARALLEL, n), j = kernel_var(k, KVAR_PARALLEL, m);
            struct kaffine straight = kaffine_add(k, strided(k, i, m, 0), kaffine_var(k, j));
            uint32_t x = load(k, a, kaffine_add(k, strided(k, j, n, 0), kaffine_var(k, i)));
            uint32_t y = load(k, a2, kaffine_add(k, strided(k, j, n + 3, 2), kaffine_var(k, i)));
            x = kernel_op2(k, K_MUL, x, load(k, row, kaffine_var(k, i)));
            x = kernel_op2(k, K_ADD, x, load(k, column, kaffine_var(k, j)));
            uint32_t z = kernel_op2(k, K_SUB, x, kernel_op2(k, K_MUL, load(k, b, straight), y));
            kernel_store(k, out, straight, z, 0, NULL);
            kernel_store(k, other, kaffine_add(k, strided(k, j, n + 1, 1), kaffine_var(k, i)), kernel_op2(k, K_MAX, z, y), 0,
                         NULL);
            finish(&f);
        }
    }
}

/* A transposed tensor beside guarded ones, a value that depends on the row only, and an index as a value. */
TEST(guards_hold_beside_transposes)
{
    for (int d = 0; d < 2; d++) {
        for (int64_t m = 5; m <= 40; m += 5) {
            for (int64_t n = 6; n <= 42; n += 9) {
                struct fixture f = {.k = kernel_create(), .type = dtypes[d]};
                struct kernel *k = f.k;
                uint32_t a = tensor(&f, m * n, false), b = tensor(&f, m * n, false), row = tensor(&f, n, false),
                         out = tensor(&f, m * n, true);
                uint32_t i = kernel_var(k, KVAR_PARALLEL, n), j = kernel_var(k, KVAR_PARALLEL, m);
                struct kaffine straight = kaffine_add(k, strided(k, i, m, 0), kaffine_var(k, j));
                struct kguard inside[2] = {{strided(k, i, 1, -2), n - 3}, {strided(k, j, 1, -1), m - 3}},
                              rows = {strided(k, i, 1, 0), n - 1};
                uint32_t x = load(k, a, kaffine_add(k, strided(k, j, n, 0), kaffine_var(k, i)));
                uint32_t y = kernel_load(k, b, kaffine_add_const(straight, -m - 1), 2, inside, (union scalar){.f32 = -1.5f});
                uint32_t r = kernel_op1(k, K_ABS, kernel_load(k, row, kaffine_var(k, i), 1, &rows, (union scalar){.f32 = 9}));
                uint32_t index =
                    kernel_cast(k, KT_F32, kernel_index(k, kaffine_add(k, strided(k, i, 3, 1), strided(k, j, -2, 0))));
                x = kernel_op2(k, K_ADD, kernel_op2(k, K_SUB, x, kernel_op2(k, K_MUL, y, r)), index);
                struct kguard stored = {strided(k, i, 1, -1), n};
                kernel_store(k, out, straight, x, 1, &stored);
                finish(&f);
            }
        }
    }
}

/* [m, n] -> [n, m] with a cast: vectors have lanes for the narrower type, and the wider one's are transposed, too. */
TEST(elements_of_two_sizes_are_transposed)
{
    static const dtype pairs[][2] = {{WNNOperandDataType_Float32, WNNOperandDataType_Int64},
                                     {WNNOperandDataType_Int64, WNNOperandDataType_Float32},
                                     {WNNOperandDataType_Uint8, WNNOperandDataType_Int64},
                                     {WNNOperandDataType_Float16, WNNOperandDataType_Int64}};
    for (int p = 0; p < 4; p++) {
        for (int swapped = 0; swapped < 2; swapped++) { /* the load or the store along the slower variable */
            for (int64_t m = 9; m <= 49; m += 8) {
                const int64_t n = 70 - m;
                struct kernel *k = kernel_create();
                struct fixture f = {.k = k, .type = pairs[p][0]};
                uint32_t in = tensor(&f, m * n, false);
                f.type = pairs[p][1];
                uint32_t out = tensor(&f, m * n, true);
                uint32_t i = kernel_var(k, KVAR_PARALLEL, swapped ? m : n), j = kernel_var(k, KVAR_PARALLEL, swapped ? n : m);
                uint32_t row = swapped ? i : j, column = swapped ? j : i;
                uint32_t x = load(k, in, kaffine_add(k, strided(k, row, n, 0), kaffine_var(k, column)));
                if (ktype_of(pairs[p][0]) != ktype_of(pairs[p][1]))
                    x = kernel_cast(k, ktype_of(pairs[p][1]), x);
                kernel_store(k, out, kaffine_add(k, strided(k, column, m, 0), kaffine_var(k, row)), x, 0, NULL);
                finish(&f);
            }
        }
    }
}

TEST_GROUP(NULL, machines_free)
