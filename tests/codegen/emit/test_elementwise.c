/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every scalar operation of the kernel IR on every type it has, on nasty values, at every instruction set, vectors and scalars.
 */
#include "codegen/kernels.h"

static const dtype dtypes[] = {WNNOperandDataType_Float32, WNNOperandDataType_Int8,   WNNOperandDataType_Uint8,
                               WNNOperandDataType_Int32,   WNNOperandDataType_Uint32, WNNOperandDataType_Int64,
                               WNNOperandDataType_Uint64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Operands of one kernel: n elements each, filled with nasty values. */
static void run_operation(enum kop op, dtype type, uint32_t arity, int64_t n, const float *values, struct tolerance t)
{
    struct kernel *k = kernel_create();
    void *tensors[4];
    uint32_t args[3], r = KEXPR_NONE;

    snprintf(k->name, sizeof k->name, "%s_%s", kop_name(op), dtype_name(type));
    for (uint32_t i = 0; i < arity; i++) {
        kernel_tensor(k, type, n, false, NULL);
        tensors[i] = buffer_create((size_t)n * dtype_size(type));
        fill_nasty(type, tensors[i], n);
        if (values)
            memcpy(tensors[i], values, (size_t)n * 4);
    }
    uint32_t v = kernel_var(k, KVAR_PARALLEL, n);
    for (uint32_t i = 0; i < arity; i++)
        args[i] = load(k, i, kaffine_var(k, v));
    r = arity == 1   ? kernel_op1(k, op, args[0])
        : arity == 2 ? kernel_op2(k, op, args[0], args[1])
                     : kernel_op3(k, op, args[0], args[1], args[2]);
    dtype out = type;
    if (k->exprs[r].type == KT_BOOL) {
        r = kernel_cast(k, KT_U8, r);
        out = WNNOperandDataType_Uint8;
    }
    kernel_tensor(k, out, n, true, NULL);
    tensors[arity] = buffer_create((size_t)n * dtype_size(out));
    kernel_store(k, arity, kaffine_var(k, v), r, 0, NULL);
    check_kernel(k, tensors, t);
    for (uint32_t i = 0; i <= arity; i++)
        buffer_free(tensors[i]);
}

TEST(arithmetic_is_exact_for_every_type)
{
    static const enum kop binary[] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MIN, K_MAX, K_EQ, K_NE, K_LT, K_LE};
    static const enum kop unary[] = {K_NEG, K_ABS, K_SIGN};
    for (int d = 0; d < DTYPES; d++) {
        for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
            run_operation(binary[i], dtypes[d], 2, 1003, NULL, exact);
        for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
            run_operation(unary[i], dtypes[d], 1, 517, NULL, exact);
    }
}

TEST(float_operations_are_exact)
{
    static const enum kop unary[] = {K_FLOOR,     K_CEIL,       K_ROUND_EVEN, K_SQRT,       K_RECIPROCAL,
                                     K_ROUND_F16, K_ROUND_BF16, K_IS_NAN,     K_IS_INFINITE};
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
        run_operation(unary[i], WNNOperandDataType_Float32, 1, 4099, NULL, exact);
    run_operation(K_COPY_SIGN, WNNOperandDataType_Float32, 2, 4099, NULL, exact);
    run_operation(K_FMA, WNNOperandDataType_Float32, 3, 20011, NULL, exact);
}

/* Operands whose product and sum nearly cancel, or end half-way between two floats: where rounding twice shows. */
TEST(fma_rounds_once)
{
    enum { N = 4096 };
    static float a[N];
    for (int i = 0; i < N; i++)
        a[i] = 1 + (float)(random_bits() & 0xFFF) * 0x1p-23f + (i % 3 ? 0 : 0x1p-12f);
    run_operation(K_FMA, WNNOperandDataType_Float32, 3, N, a, exact);
}

/* x op y, the second operand within the number of bits for shifts. */
static void run_bits(enum kop op, dtype type)
{
    enum { N = 1003 };
    struct kernel *k = kernel_create();
    void *tensors[3];

    snprintf(k->name, sizeof k->name, "%s_%s", kop_name(op), dtype_name(type));
    for (int i = 0; i < 3; i++) {
        kernel_tensor(k, type, N, i == 2, NULL);
        tensors[i] = buffer_create(N * dtype_size(type));
        fill_nasty(type, tensors[i], N);
    }
    uint32_t v = kernel_var(k, KVAR_PARALLEL, N);
    uint32_t x = load(k, 0, kaffine_var(k, v)), y = load(k, 1, kaffine_var(k, v));
    if (op == K_SHL || op == K_SHR)
        y = kernel_op2(k, K_AND, y, kernel_const(k, ktype_of(type), (union scalar){.u64 = 8 * dtype_size(type) - 1}));
    kernel_store(k, 2, kaffine_var(k, v), kernel_op2(k, op, x, y), 0, NULL);
    check_kernel(k, tensors, exact);
    for (int i = 0; i < 3; i++)
        buffer_free(tensors[i]);
}

TEST(bits_of_integers_are_shifted_and_combined)
{
    for (int d = 1; d < DTYPES; d++) {
        run_bits(K_AND, dtypes[d]);
        run_bits(K_OR, dtypes[d]);
        run_bits(K_XOR, dtypes[d]);
        if (dtype_size(dtypes[d]) >= 4) {
            run_bits(K_SHL, dtypes[d]);
            run_bits(K_SHR, dtypes[d]);
        }
    }
}

/* The exponent of a float32 by its bits, and a float32 made of an integer's. */
TEST(bits_of_floats_are_taken_and_put)
{
    enum { N = 1003 };
    struct kernel *k = kernel_create();
    void *tensors[3] = {buffer_create(N * 4), buffer_create(N * 4), buffer_create(N * 4)};

    fill_nasty(WNNOperandDataType_Float32, tensors[0], N);
    kernel_tensor(k, WNNOperandDataType_Float32, N, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Int32, N, true, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, N, true, NULL);
    uint32_t v = kernel_var(k, KVAR_PARALLEL, N), x = load(k, 0, kaffine_var(k, v)), bits = kernel_bitcast(k, KT_U32, x);
    uint32_t exponent = kernel_op2(k, K_SHR, bits, kernel_const(k, KT_U32, (union scalar){.u64 = 23}));
    uint32_t small = kernel_op2(k, K_AND, bits, kernel_const(k, KT_U32, (union scalar){.u64 = 0x807FFFFF}));
    kernel_store(k, 1, kaffine_var(k, v), kernel_bitcast(k, KT_I32, exponent), 0, NULL);
    kernel_store(k, 2, kaffine_var(k, v), kernel_bitcast(k, KT_F32, small), 0, NULL);
    check_kernel(k, tensors, exact);
    for (int i = 0; i < 3; i++)
        buffer_free(tensors[i]);
}

TEST(integer_powers_wrap)
{
    for (int d = 1; d < DTYPES; d++)
        run_operation(K_POW, dtypes[d], 2, 2011, NULL, exact);
}

/* All pairs of bytes, where an exhaustive test is possible. */
TEST(all_byte_pairs_are_computed)
{
    static const enum kop ops[] = {K_ADD, K_SUB, K_MUL, K_DIV, K_MIN, K_MAX, K_POW, K_LT};
    static const dtype types[] = {WNNOperandDataType_Int8, WNNOperandDataType_Uint8};
    for (int t = 0; t < 2; t++) {
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            struct kernel *k = kernel_create();
            unsigned char a[256];
            void *tensors[2] = {a, buffer_create(65536)};
            for (int i = 0; i < 256; i++)
                a[i] = (unsigned char)i;
            kernel_tensor(k, types[t], 256, false, NULL);
            uint32_t x = kernel_var(k, KVAR_PARALLEL, 256), y = kernel_var(k, KVAR_PARALLEL, 256);
            uint32_t p = load(k, 0, kaffine_var(k, x)), q = load(k, 0, kaffine_var(k, y));
            uint32_t r = kernel_op2(k, ops[o], p, q);
            if (k->exprs[r].type == KT_BOOL)
                r = kernel_cast(k, ktype_of(types[t]), r);
            kernel_tensor(k, types[t], 65536, true, NULL);
            kernel_store(k, 1, kaffine_add(k, kaffine_scale(k, kaffine_var(k, x), 256), kaffine_var(k, y)), r, 0, NULL);
            check_kernel(k, tensors, exact);
            buffer_free(tensors[1]);
        }
    }
}

TEST(casts_saturate_and_truncate)
{
    enum { N = 1011 };
    static const dtype all[] = {WNNOperandDataType_Float32, WNNOperandDataType_Float16, WNNOperandDataType_Int8,
                                WNNOperandDataType_Uint8,   WNNOperandDataType_Int32,   WNNOperandDataType_Uint32,
                                WNNOperandDataType_Int64,   WNNOperandDataType_Uint64};
    for (int from = 0; from < 8; from++) {
        for (int to = 0; to < 8; to++) {
            struct kernel *k = kernel_create();
            void *tensors[2] = {buffer_create(N * dtype_size(all[from])), buffer_create(N * dtype_size(all[to]))};
            snprintf(k->name, sizeof k->name, "cast_%s_%s", dtype_name(all[from]), dtype_name(all[to]));
            fill_nasty(all[from], tensors[0], N);
            kernel_tensor(k, all[from], N, false, NULL);
            kernel_tensor(k, all[to], N, true, NULL);
            uint32_t v = kernel_var(k, KVAR_PARALLEL, N);
            uint32_t x = load(k, 0, kaffine_var(k, v));
            if (ktype_of(all[from]) != ktype_of(all[to]))
                x = kernel_cast(k, ktype_of(all[to]), x);
            kernel_store(k, 1, kaffine_var(k, v), x, 0, NULL);
            check_kernel(k, tensors, exact);
            buffer_free(tensors[0]);
            buffer_free(tensors[1]);
        }
    }
}

/* Every float16 to float32 and back, and every float32 near a float16 rounding boundary. */
TEST(all_halves_convert_exactly)
{
    enum { N = 65536 };
    struct kernel *k = kernel_create();
    uint16_t *h = buffer_create(N * 2);
    void *tensors[3] = {h, buffer_create(N * 4), buffer_create(N * 2)};
    for (int i = 0; i < N; i++)
        h[i] = (uint16_t)i;
    kernel_tensor(k, WNNOperandDataType_Float16, N, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, N, true, NULL);
    kernel_tensor(k, WNNOperandDataType_Float16, N, true, NULL);
    uint32_t v = kernel_var(k, KVAR_PARALLEL, N), x = load(k, 0, kaffine_var(k, v));
    kernel_store(k, 1, kaffine_var(k, v), x, 0, NULL);
    kernel_store(k, 2, kaffine_var(k, v), x, 0, NULL);
    check_kernel(k, tensors, exact);

    float *near = buffer_create(N * 3 * 4);
    for (int i = 0; i < N; i++) {
        float f = f16_to_f32((uint16_t)i), g = f16_to_f32((uint16_t)(i + 1));
        float middle = isfinite(f) && isfinite(g) ? (f + g) / 2 : f;
        near[3 * i] = middle;
        near[3 * i + 1] = nextafterf(middle, INFINITY);
        near[3 * i + 2] = nextafterf(middle, -INFINITY);
    }
    k = kernel_create();
    kernel_tensor(k, WNNOperandDataType_Float32, N * 3, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float16, N * 3, true, NULL);
    v = kernel_var(k, KVAR_PARALLEL, N * 3);
    kernel_store(k, 1, kaffine_var(k, v), load(k, 0, kaffine_var(k, v)), 0, NULL);
    void *more[2] = {near, buffer_create(N * 3 * 2)};
    check_kernel(k, more, exact);
    buffer_free(more[1]);
    buffer_free(near);
    for (int i = 0; i < 3; i++)
        buffer_free(tensors[i]);
}

/* Float16 in, one operation in float32, float16 out: where LLVM may be tempted to compute in float16. */
TEST(half_operations_round_once)
{
    static const struct {
        enum kop op;
        uint32_t arity;
    } ops[] = {{K_ADD, 2},  {K_SUB, 2},        {K_MUL, 2},  {K_DIV, 2},   {K_MIN, 2},  {K_MAX, 2},
               {K_NEG, 1},  {K_ABS, 1},        {K_SIGN, 1}, {K_FLOOR, 1}, {K_CEIL, 1}, {K_ROUND_EVEN, 1},
               {K_SQRT, 1}, {K_RECIPROCAL, 1}, {K_FMA, 3},  {K_LT, 2},    {K_EQ, 2}};
    enum { N = 6007 };
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        for (int constant = 0; constant < 2; constant++) {
            struct kernel *k = kernel_create();
            void *tensors[4];
            uint32_t args[3] = {0, 0, 0};
            snprintf(k->name, sizeof k->name, "half_%s", kop_name(ops[o].op));
            for (int i = 0; i < 4; i++) {
                tensors[i] = buffer_create(N * 2);
                fill_nasty(WNNOperandDataType_Float16, tensors[i], N);
                kernel_tensor(k, WNNOperandDataType_Float16, N, i == 3, NULL);
            }
            uint32_t v = kernel_var(k, KVAR_PARALLEL, N), r;
            for (uint32_t i = 0; i < 3; i++)
                args[i] = load(k, i, kaffine_var(k, v));
            if (constant && ops[o].arity > 1)
                args[1] = kernel_f32(k, ops[o].op == K_DIV ? 3.0f : 0.0f);
            r = ops[o].arity == 1   ? kernel_op1(k, ops[o].op, args[0])
                : ops[o].arity == 2 ? kernel_op2(k, ops[o].op, args[0], args[1])
                                    : kernel_op3(k, ops[o].op, args[0], args[1], args[2]);
            if (k->exprs[r].type == KT_BOOL)
                r = kernel_cast(k, KT_F32, r);
            kernel_store(k, 3, kaffine_var(k, v), r, 0, NULL);
            check_kernel(k, tensors, exact);
            for (int i = 0; i < 4; i++)
                buffer_free(tensors[i]);
        }
    }
}

/* NaN beside zeros of either sign, all pairs: maximum and minimum that LLVM narrows to float16 lose it.  In float64 some
 * machines compare and select.  Results are float16 or float32, and the interpreter's to the bit. */
static void run_odd_extremes(bool in_f64)
{
    static const float odd[] = {NAN, -NAN, 0.0f, -0.0f, INFINITY, -INFINITY, 1.0f, -1.0f};
    enum { ODD = sizeof odd / sizeof *odd, N = 64 * ODD };
    for (int op = 0; op < 2; op++) {
        struct kernel *k = kernel_create();
        float *a = buffer_create(N * 4), *b = buffer_create(N * 4);
        void *tensors[3] = {a, b, buffer_create(N * (in_f64 ? 4 : 2))};
        for (int i = 0; i < N; i++) {
            a[i] = odd[i % ODD];
            b[i] = odd[i / ODD % ODD];
        }
        kernel_tensor(k, WNNOperandDataType_Float32, N, false, NULL);
        kernel_tensor(k, WNNOperandDataType_Float32, N, false, NULL);
        kernel_tensor(k, in_f64 ? WNNOperandDataType_Float32 : WNNOperandDataType_Float16, N, true, NULL);
        uint32_t v = kernel_var(k, KVAR_PARALLEL, N), x[2];
        for (uint32_t i = 0; i < 2; i++) {
            x[i] = load(k, i, kaffine_var(k, v));
            x[i] = in_f64 ? kernel_cast(k, KT_F64, x[i]) : kernel_op1(k, K_ROUND_F16, x[i]);
        }
        uint32_t extreme = kernel_op2(k, op ? K_MAX : K_MIN, x[0], x[1]);
        kernel_store(k, 2, kaffine_var(k, v), in_f64 ? kernel_cast(k, KT_F32, extreme) : extreme, 0, NULL);
        check_kernel(k, tensors, exact);
        for (int i = 0; i < 3; i++)
            buffer_free(tensors[i]);
    }
}

TEST(half_extremes_keep_nan_beside_zero)
{
    run_odd_extremes(false);
}

TEST(float64_extremes_keep_nan_beside_zero)
{
    run_odd_extremes(true);
}

/* Logic and selection; tails of every length around the vector widths, for float32, bytes and low-precision floats. */
TEST(tails_of_every_length_are_computed)
{
    static const dtype types[] = {WNNOperandDataType_Float32, WNNOperandDataType_Int8, WNNOperandDataType_Float16,
                                  DTYPE_BFLOAT16, WNNOperandDataType_Int64};
    for (int t = 0; t < 5; t++) {
        for (int64_t n = 1; n <= 70; n++) {
            struct kernel *k = kernel_create();
            void *tensors[3];
            for (int i = 0; i < 3; i++) {
                tensors[i] = buffer_create((size_t)n * dtype_size(types[t]));
                kernel_tensor(k, types[t], n, i == 2, NULL);
                fill_nasty(types[t], tensors[i], n);
            }
            uint32_t v = kernel_var(k, KVAR_PARALLEL, n);
            uint32_t x = load(k, 0, kaffine_var(k, v)), y = load(k, 1, kaffine_var(k, v));
            uint32_t less = kernel_op2(k, K_LT, x, y), same = kernel_op2(k, K_EQ, x, y);
            uint32_t c = kernel_op2(k, K_OR, kernel_op1(k, K_NOT, less), kernel_op2(k, K_XOR, same, less));
            c = kernel_op2(k, K_AND, c, kernel_op2(k, K_NE, x, kernel_op1(k, K_NEG, y)));
            kernel_store(k, 2, kaffine_var(k, v), kernel_op3(k, K_SELECT, c, x, kernel_op2(k, K_MUL, x, y)), 0, NULL);
            check_kernel(k, tensors, exact);
            for (int i = 0; i < 3; i++)
                buffer_free(tensors[i]);
        }
    }
}

/* More elements than one unit covers, and the places where units meet. */
TEST(units_meet_without_gaps)
{
    enum { N = 3 * UNIT_ELEMENTS + 77 };
    run_operation(K_ADD, WNNOperandDataType_Float32, 2, N, NULL, exact);
    run_operation(K_MAX, WNNOperandDataType_Uint8, 2, N, NULL, exact);
}

TEST_GROUP(NULL, machines_free)
