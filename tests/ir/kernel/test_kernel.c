/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernel IR: building, simplification, scalars, numbering and structures; tests/ir/kernel/kernel.kernels has more. */
#include <math.h>

#include "ir/kernel/kernel.h"
#include "support/kernel_text.h"
#include "support/schedules.h"
#include "support/test.h"

#define F32 WNNOperandDataType_Float32
#define F16 WNNOperandDataType_Float16

TEST(folds_and_simplifies_exactly)
{
    OWNED(kernel) struct kernel *k = kernel_create();
    uint32_t x = kernel_tensor(k, F32, 4, false, NULL), h = kernel_tensor(k, F16, 4, false, NULL);
    struct kaffine i = kaffine_var(k, kernel_var(k, KVAR_PARALLEL, 4));
    uint32_t v = kernel_load(k, x, i, 0, NULL, (union scalar){.u64 = 0});
    uint32_t w = kernel_load(k, h, i, 0, NULL, (union scalar){.u64 = 0});

    assert_int_equal(kernel_op2(k, K_ADD, v, w), kernel_op2(k, K_ADD, w, v));
    assert_int_equal(kernel_op2(k, K_MUL, v, kernel_f32(k, 1)), v);
    assert_int_equal(kernel_op2(k, K_ADD, v, kernel_f32(k, -0.0f)), v);
    assert_int_not_equal(kernel_op2(k, K_ADD, v, kernel_f32(k, 0.0f)), v); /* -0 + 0 is 0 */
    assert_int_not_equal(kernel_op2(k, K_SUB, v, kernel_f32(k, -0.0f)), v);
    assert_int_equal(kernel_op1(k, K_ROUND_F16, w), w);
    assert_int_equal(kernel_op1(k, K_ROUND_F16, kernel_op1(k, K_NEG, w)), kernel_op1(k, K_NEG, w));
    assert_int_not_equal(kernel_op1(k, K_ROUND_F16, v), v);
    assert_int_not_equal(kernel_op1(k, K_ROUND_BF16, w), w); /* exact in the one type is not exact in the other */
    assert_int_equal(kernel_op1(k, K_ROUND_BF16, kernel_op1(k, K_ROUND_BF16, w)), kernel_op1(k, K_ROUND_BF16, w));
    assert_int_equal(kernel_op1(k, K_ROUND_BF16, kernel_f32(k, 1.5f)), kernel_f32(k, 1.5f));
    uint32_t c = kernel_op1(k, K_EXP, kernel_f32(k, 1));
    assert_int_equal(k->exprs[c].op, K_CONST);
    assert_true(k->exprs[c].bits.f32 == 2.71828182845904523536f);
    uint32_t less = kernel_op2(k, K_LT, v, w);
    uint32_t zero = kernel_const(k, KT_U8, (union scalar){.u64 = 0});
    assert_int_equal(kernel_op2(k, K_NE, kernel_cast(k, KT_U8, less), zero), less);
    assert_int_equal(kernel_op1(k, K_NOT, kernel_op2(k, K_EQ, kernel_cast(k, KT_U8, less), zero)), less);
}

static union scalar scalar2(enum kop op, enum ktype type, union scalar a, union scalar b)
{
    const union scalar args[3] = {a, b, {.u64 = 0}};

    return kernel_scalar(op, type, type, args);
}

static union scalar cast1(enum ktype to, enum ktype from, union scalar a)
{
    const union scalar args[3] = {a, {.u64 = 0}, {.u64 = 0}};

    return kernel_scalar(K_CAST, to, from, args);
}

#define I32(v) ((union scalar){.i32 = (v)})
#define S_F32(v) ((union scalar){.f32 = (v)})

TEST(scalars_wrap_saturate_and_never_trap)
{
    assert_int_equal(scalar2(K_ADD, KT_I32, I32(INT32_MAX), I32(1)).i32, INT32_MIN);
    assert_int_equal(scalar2(K_DIV, KT_I32, I32(7), I32(0)).i32, 0);
    assert_int_equal(scalar2(K_DIV, KT_I32, I32(-7), I32(2)).i32, -3);
    assert_int_equal(scalar2(K_DIV, KT_I32, I32(INT32_MIN), I32(-1)).i32, INT32_MIN);
    assert_int_equal(scalar2(K_DIV, KT_I8, (union scalar){.i8 = -128}, (union scalar){.i8 = -1}).i8, -128);
    assert_int_equal(scalar2(K_POW, KT_I32, I32(-3), I32(3)).i32, -27);
    assert_int_equal(scalar2(K_POW, KT_I32, I32(2), I32(-1)).i32, 0);
    assert_int_equal(scalar2(K_POW, KT_I32, I32(-1), I32(-3)).i32, -1);
    assert_int_equal(scalar2(K_POW, KT_I32, I32(0), I32(-3)).i32, 0);
    assert_int_equal(scalar2(K_POW, KT_I32, I32(0), I32(0)).i32, 1);
    assert_int_equal(scalar2(K_MAX, KT_U8, (union scalar){.u8 = 200}, (union scalar){.u8 = 3}).u8, 200);
    assert_true(isnan(scalar2(K_MAX, KT_F32, S_F32(NAN), S_F32(1)).f32));
    assert_true(isnan(scalar2(K_MIN, KT_F32, S_F32(1), S_F32(NAN)).f32));
    assert_true(signbit(scalar2(K_MIN, KT_F32, S_F32(0.0f), S_F32(-0.0f)).f32));
    assert_false(signbit(scalar2(K_MAX, KT_F32, S_F32(-0.0f), S_F32(0.0f)).f32));
    assert_int_equal(cast1(KT_I8, KT_F32, S_F32(300)).i8, 127);
    assert_int_equal(cast1(KT_I8, KT_F32, S_F32(-1.9f)).i8, -1);
    assert_int_equal(cast1(KT_U8, KT_F32, S_F32(-INFINITY)).u8, 0);
    assert_int_equal(cast1(KT_I32, KT_F32, S_F32(NAN)).i32, 0);
    assert_int_equal(cast1(KT_I32, KT_F32, S_F32(3e9f)).i32, INT32_MAX);
    assert_true(cast1(KT_U32, KT_F32, S_F32(4e9f)).u32 == 4000000000u);
    assert_true(cast1(KT_I64, KT_F32, S_F32(INFINITY)).i64 == INT64_MAX);
    assert_true(cast1(KT_U64, KT_F32, S_F32(INFINITY)).u64 == UINT64_MAX);
    assert_true(cast1(KT_U64, KT_F32, S_F32(1e19f)).u64 == (uint64_t)1e19f);
    assert_int_equal(cast1(KT_U8, KT_I32, I32(-1)).u8, 255);
    assert_int_equal(cast1(KT_I8, KT_I32, I32(0x180)).i8, -128);
    assert_true(cast1(KT_F32, KT_U32, (union scalar){.u32 = UINT32_MAX}).f32 == 4294967296.0f);
}

TEST(scalars_have_bits)
{
    const union scalar minus = {.u64 = 0x80000000u}, one = {.u64 = 0x3F800000u}, nan = {.u64 = 0xFFC12345u};

    assert_int_equal(scalar2(K_SHR, KT_I32, minus, I32(4)).u64, 0xF8000000u);
    assert_int_equal(scalar2(K_SHR, KT_U32, minus, I32(4)).u64, 0x08000000u);
    assert_int_equal(scalar2(K_SHL, KT_I32, I32(3), I32(31)).u64, 0x80000000u);
    assert_true(scalar2(K_SHR, KT_I64, (union scalar){.i64 = INT64_MIN}, I32(63)).i64 == -1);
    assert_true(scalar2(K_SHR, KT_U64, (union scalar){.i64 = INT64_MIN}, I32(63)).i64 == 1);
    assert_int_equal(scalar2(K_XOR, KT_U8, (union scalar){.u8 = 0xF0}, (union scalar){.u8 = 0x3C}).u8, 0xCC);
    assert_true(scalar2(K_COPY_SIGN, KT_F32, S_F32(2), minus).f32 == -2);
    assert_true(scalar2(K_COPY_SIGN, KT_F64, (union scalar){.f64 = -2}, (union scalar){.f64 = 0}).f64 == 2);
    assert_true(kernel_scalar(K_BITCAST, KT_F32, KT_I32, (const union scalar[3]){one}).f32 == 1);
    assert_int_equal(kernel_scalar(K_BITCAST, KT_U32, KT_F32, (const union scalar[3]){nan}).u64, 0xFFC12345u);
}

TEST(bits_are_for_kernels)
{
    OWNED(kernel) struct kernel *k = kernel_of("kernel abs { parallel i < $n tensor x: f32[], y: f32[] written"
                                               "  store y[i] = bitcast.f32(and(bitcast.u32(x[i]), u32(0x7FFFFFFF))) }",
                                               "n=8");
    assert_true(kernel_verify(k, stderr));
}

static struct kernel *softmax_kernel(int rows, int columns)
{
    return kernel_of("kernel softmax { parallel i < $rows reduced r < $n tensor x: f32[], y: f32[] written"
                     "  v = x[$n*i + r] e = exp(sub(v, reduce.max(v)))"
                     "  store y[$n*i + r] = div(e, reduce.sum(e)) }",
                     "rows=%d n=%d", rows, columns);
}

TEST(softmax_has_three_phases_and_keeps_exponentials)
{
    struct kernel *k = softmax_kernel(3, 20);
    struct schedule *s = schedule_of(k, NULL);
    float x[60], y[60];
    void *tensors[2] = {x, y};
    uint32_t kept = 0;

    assert_int_equal(k->phase_count, 3);
    assert_int_equal(s->row_buffers.count, 1);
    assert_int_equal(s->scratch_bytes, 128); /* 20 floats, rounded up to 64 bytes */
    assert_int_equal(k->vars[s->vector_var].kind, KVAR_REDUCED);
    for (uint32_t i = 0; i < k->expr_count; i++) {
        if (s->exprs[i].row_buffer >= 0) {
            assert_int_equal(k->exprs[i].op, K_EXP);
            assert_int_equal(s->exprs[i].phase, 1);
            kept++;
        }
    }
    assert_int_equal(kept, 1);
    assert_true(kernel_may_share(k, 0, 1)); /* read in phases 0 and 1, written in phase 2 */
    for (int i = 0; i < 60; i++)
        x[i] = (float)(i % 7) - 3;
    assert_true(kernel_interpret(k, tensors));
    for (int row = 0; row < 3; row++) {
        double sum = 0;
        for (int c = 0; c < 20; c++)
            sum += exp(x[row * 20 + c]);
        for (int c = 0; c < 20; c++)
            assert_true(fabs(y[row * 20 + c] - exp(x[row * 20 + c]) / sum) < 3e-7);
    }
    schedule_free(s);
    kernel_free(k);
    k = softmax_kernel(2, 100000); /* the row does not fit */
    s = schedule_of(k, NULL);
    assert_int_equal(s->row_buffers.count, 0);
    schedule_free(s);
    kernel_free(k);
}

TEST(splits_variables_instead_of_dividing)
{
    /* y = transpose of x[rows, columns], read as one row: y[l] = x[l % rows, l / rows] */
    static const int shapes[][2] = {{16, 10}, {3, 10}};
    for (int shape = 0; shape < 2; shape++) {
        const int rows = shapes[shape][0], columns = shapes[shape][1], n = rows * columns;
        OWNED(kernel) struct kernel *k = kernel_of("kernel transpose { parallel l < $m*$n tensor x: f32[], y: f32[] written"
                                                   "  store y[l] = x[$n*(l % $m) + l / $m] }",
                                                   "m=%d n=%d", rows, columns);
        float from[160], to[160];
        void *tensors[2] = {from, to};

        /* ... but runs of three would be too short for vectors: there the divisions stay */
        assert_int_equal(k->parallel_count, shape ? 1 : 2);
        assert_int_equal(k->var_count, shape ? 3 : 2);
        for (int i = 0; i < n; i++)
            from[i] = (float)i;
        assert_true(kernel_interpret(k, tensors));
        for (int i = 0; i < n; i++)
            assert_true(to[i] == from[i % rows * columns + i / rows]);
    }
}

/* The memory of an input may be an output's unless a stored element is loaded again, as a bias is at every row. */
TEST(outputs_may_share_memory_of_inputs)
{
    OWNED(kernel) struct kernel *k =
        kernel_of("kernel add { parallel i < $n, j < 100 tensor x: f32[], b: f32[], y: f32[] written"
                  "  store y[100*i + j] = add(x[100*i + j], b[j]) }",
                  "n=64");
    assert_true(kernel_may_share(k, 0, 2));
    assert_false(kernel_may_share(k, 1, 2));
}

TEST(divmod_simplifies)
{
    OWNED(kernel) struct kernel *k = kernel_create();
    struct kaffine i = kaffine_var(k, kernel_var(k, KVAR_PARALLEL, 6)), j = kaffine_var(k, kernel_var(k, KVAR_PARALLEL, 10));
    struct kaffine linear = kaffine_add(k, kaffine_scale(k, i, 10), j);

    assert_true(kaffine_equal(kernel_divmod(k, linear, 10, 0), i));
    assert_true(kaffine_equal(kernel_divmod(k, linear, 1, 10), j));
    assert_true(kaffine_equal(kernel_divmod(k, kaffine_scale(k, linear, 4), 40, 6), i));
    assert_true(kaffine_equal(kernel_divmod(k, kaffine_add_const(kaffine_scale(k, i, 2), 1), 2, 0), i));
    assert_int_equal(k->var_count, 2);
    /* twice the same division is one variable */
    struct kaffine d = kernel_divmod(k, linear, 7, 0);
    assert_int_equal(k->var_count, 3);
    assert_true(kaffine_equal(kernel_divmod(k, linear, 7, 0), d));
    assert_int_equal(k->var_count, 3);
    assert_int_equal(k->vars[2].size, 59 / 7 + 1);
    assert_false(k->error.status);
}

TEST(structures_are_equal_when_only_sizes_differ)
{
    SCOPED(arena_free) struct arena a = {0};
    OWNED(kernel) struct kernel *k1 = softmax_kernel(3, 200), *k2 = softmax_kernel(7, 333), *k3 = softmax_kernel(3, 5);
    OWNED(kernel) struct kernel *k4 = softmax_kernel(333, 333), *k5 = softmax_kernel(3, 33);
    struct kernel *kernels[5] = {k1, k2, k3, k4, k5};
    char *text[5];
    struct knumbers n;

    for (int i = 0; i < 5; i++) {
        OWNED(schedule) struct schedule *s = schedule_of(kernels[i], NULL);

        text[i] = schedule_structure(s, &a);
        assert_non_null(text[i]);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]); /* five is unrolled */
    assert_string_equal(text[0], text[3]);     /* equal sizes by chance */
    assert_string_not_equal(text[0], text[4]); /* a row has fewer vectors than are taken at a time */
    assert_true(kernel_numbers(k2, KEXPR_NONE, &a, &n));
    assert_int_equal(n.param_count, 3);
    assert_int_equal(n.params[0], 7);
    assert_int_equal(n.params[1], 333); /* the row's length, */
    assert_int_equal(n.params[2], 333); /* and its stride, that of the load and the store */
    OWNED(kernel) struct kernel *k6 = kernel_of("parallel i < 64 reduced h < 8, r < 4 tensor w: u32[], y: f32[] written"
                                                "  store y[i] = reduce.sum(f32(and(shr(w[i], u32(index h + 8*r)), u32(1))))",
                                                "%s", "");
    assert_true(kernel_numbers(k6, KEXPR_NONE, &a, &n));
    assert_int_equal(n.param_count, 1); /* words are shifted by constants */
}
