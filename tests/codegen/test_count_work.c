/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counting what kernels take of the vector units (codegen/count_work.c): kernels whose number of instructions is known. */
#include "codegen/kernels.h"

static const struct codegen_work *work_of(struct machine_under_test *m, struct kernel *k)
{
    static struct codegen_work work;
    struct error e = {0};

    if (!kernel_finish(k) || !codegen_count_work(m->codegen, k, &work, &e))
        fail_msg("%s: %s", m->name, e.message);
    kernel_free(k);
    return &work;
}

/* Returns an element-wise kernel of rows * columns elements, y = op(x * 3 + x); as a stage's, each of `macro_tiles` computes
 * all of it.
 */
static struct kernel *elementwise(int64_t macro_tiles, int64_t n, enum kop op)
{
    struct kernel *k = kernel_create();

    kernel_tensor(k, WNNOperandDataType_Float32, n, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, n, true, NULL);
    if (macro_tiles > 1)
        k->macro_tile_vars = kernel_var(k, KVAR_PARALLEL, macro_tiles) + 1;
    uint32_t v = kernel_var(k, KVAR_PARALLEL, n), x = load(k, 0, kaffine_var(k, v));
    uint32_t y = kernel_op2(k, K_ADD, kernel_op2(k, K_MUL, x, kernel_f32(k, 3)), x);
    kernel_store(k, 1, kaffine_var(k, v), op == K_ADD ? y : kernel_op1(k, op, y), 0, NULL);
    return k;
}

/* Returns the square root of each row's sum. */
static struct kernel *row_norms(int64_t rows, int64_t columns)
{
    struct kernel *k = kernel_create();

    kernel_tensor(k, WNNOperandDataType_Float32, rows * columns, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, rows, true, NULL);
    uint32_t r = kernel_var(k, KVAR_PARALLEL, rows), c = kernel_var(k, KVAR_REDUCED, columns);
    struct kaffine at = kaffine_add(k, kaffine_scale(k, kaffine_var(k, r), columns), kaffine_var(k, c));
    uint32_t sum = kernel_reduce(k, KR_SUM, load(k, 0, at));
    kernel_store(k, 1, kaffine_var(k, r), kernel_op1(k, K_SQRT, sum), 0, NULL);
    return k;
}

static struct kernel *matmul(int64_t rows, int64_t columns, int64_t inner)
{
    struct kernel *k = kernel_create();

    kernel_tensor(k, WNNOperandDataType_Float32, rows * inner, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, inner * columns, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, rows * columns, true, NULL);
    uint32_t r = kernel_var(k, KVAR_PARALLEL, rows), c = kernel_var(k, KVAR_PARALLEL, columns),
             i = kernel_var(k, KVAR_REDUCED, inner);
    uint32_t a = load(k, 0, kaffine_add(k, kaffine_scale(k, kaffine_var(k, r), inner), kaffine_var(k, i)));
    uint32_t b = load(k, 1, kaffine_add(k, kaffine_scale(k, kaffine_var(k, i), columns), kaffine_var(k, c)));
    kernel_store(k, 2, kaffine_add(k, kaffine_scale(k, kaffine_var(k, r), columns), kaffine_var(k, c)), kernel_dot(k, a, b), 0,
                 NULL);
    return k;
}

/* Returns a kernel that multiplies each element with one that lies elsewhere in the same tensor: 3 * i % size. */
static struct kernel *columns(int64_t rows, int64_t size)
{
    struct kernel *k = kernel_create();

    kernel_tensor(k, WNNOperandDataType_Float32, rows * size, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, rows * size, true, NULL);
    uint32_t r = kernel_var(k, KVAR_PARALLEL, rows), c = kernel_var(k, KVAR_PARALLEL, size);
    struct kaffine row = kaffine_scale(k, kaffine_var(k, r), size);
    struct kaffine at = kernel_divmod(k, kaffine_scale(k, kaffine_var(k, c), 3), 1, size);
    uint32_t x = load(k, 0, kaffine_add(k, row, at));
    kernel_store(k, 1, kaffine_add(k, row, kaffine_var(k, c)), kernel_op2(k, K_MUL, x, x), 0, NULL);
    return k;
}

static void assert_work(const struct codegen_work *w, double instructions, double divisions)
{
    if (w->instructions != instructions || w->divisions != divisions)
        fail_msg("%g instructions, %g divisions instead of %g and %g", w->instructions, w->divisions, instructions, divisions);
}

TEST(instructions_are_counted)
{
    for (int i = 0; i < ISA_COUNT; i++) {
        struct machine_under_test *m = machine_get(i);

        if (m->target.isa.vector_bits < 256) {
            assert_work(work_of(m, elementwise(1, 1000, K_ADD)), 0, 0); /* not known */
            continue;
        }
        assert_work(work_of(m, elementwise(1, 1000, K_ADD)), 2000, 0);
        assert_work(work_of(m, elementwise(1, 1000, K_ABS)), 3000, 0);
        assert_work(work_of(m, elementwise(1, 1000, K_SQRT)), 2000, 1000);
        assert_work(work_of(m, elementwise(7, 1000, K_ABS)), 21000, 0);
        assert_work(work_of(m, row_norms(30, 100)), 3000, 30);
        assert_work(work_of(m, matmul(40, 50, 60)), 40 * 50 * 60, 0);
        const struct codegen_work *w = work_of(m, elementwise(1, 1000, K_EXP));
        assert_true(w->instructions > 8000 && w->instructions < 40000);
        double exponential = w->instructions;
        assert_true(work_of(m, elementwise(1, 1000, K_TANH))->instructions > exponential);
    }
}

/* A load or store is of a vector by the schedule; gathered lanes are loads of their own. */
TEST(accesses_are_counted)
{
    for (int i = 0; i < ISA_COUNT; i++) {
        struct machine_under_test *m = machine_get(i);
        const double lanes = m->target.isa.vector_bits / 32;

        if (lanes < 8)
            continue;
        assert_true(work_of(m, elementwise(7, 1024, K_SQRT))->accesses == 7 * 2 * 1024 / lanes);
        /* Tiles share what they load: less than two loads for each multiply-add of a vector. */
        assert_true(work_of(m, matmul(48, 64, 60))->accesses < 1.5 * 48 * 64 * 60 / lanes);
        /* Elements that lie apart are loaded one by one, or permuted out of vectors. */
        const struct codegen_work *w = work_of(m, columns(64, 64));
        assert_true(w->accesses > 2 * 64 * 64 / lanes && w->accesses <= 64 * 64 + 64 * 64 / lanes);
    }
}

TEST_GROUP(NULL, machines_free)
