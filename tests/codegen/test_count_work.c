/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counting what kernels take of the vector units (codegen/count_work.c): kernels whose number of instructions is known. */
#include "codegen/kernels.h"
#include "support/kernel_text.h"

static const struct codegen_work *work_of(struct machine_under_test *m, struct kernel *k)
{
    static struct codegen_work work;
    struct error e = {0};

    if (!codegen_count_work(m->codegen, k, &work, &e))
        fail_msg("%s: %s", m->name, e.message);
    kernel_free(k);
    return &work;
}

/* Returns an element-wise kernel of n elements, y = op(x * 3 + x); as a stage's, each of `macro_tiles` computes all of it. */
static struct kernel *elementwise(int macro_tiles, int n, const char *value)
{
    char values[100];

    snprintf(values, sizeof values, "tiles=%d n=%d value=%s", macro_tiles, n, value);
    struct kernel *k = kernel_parse("kernel elementwise { parallel tile < $tiles, i < $n tensor x: f32[], y: f32[] written"
                                    "  v = add(mul(x[i], 3), x[i]) store y[i] = $value }",
                                    values);
    k->macro_tile_vars = macro_tiles > 1;
    assert_true(kernel_finish(k));
    return k;
}

static struct kernel *row_norms(int rows, int columns)
{
    return kernel_of("kernel norms { parallel i < $rows reduced r < $columns tensor x: f32[], y: f32[] written"
                     "  store y[i] = sqrt(reduce.sum(x[$columns*i + r])) }",
                     "rows=%d columns=%d", rows, columns);
}

static struct kernel *matmul(int rows, int columns, int inner)
{
    return kernel_of("kernel matmul { parallel i < $m, j < $n reduced r < $d tensor a: f32[], b: f32[], y: f32[] written"
                     "  store y[$n*i + j] = reduce.dot(a[$d*i + r], b[$n*r + j]) }",
                     "m=%d n=%d d=%d", rows, columns, inner);
}

/* Returns a kernel that multiplies each element with one that lies elsewhere in the same tensor: 3 * i % size. */
static struct kernel *columns(int rows, int size)
{
    return kernel_of("kernel columns { parallel i < $rows, j < $n tensor x: f32[], y: f32[] written"
                     "  v = x[$n*i + 3*j % $n] store y[$n*i + j] = mul(v, v) }",
                     "rows=%d n=%d", rows, size);
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
            assert_work(work_of(m, elementwise(1, 1000, "v")), 0, 0); /* not known */
            continue;
        }
        assert_work(work_of(m, elementwise(1, 1000, "v")), 2000, 0);
        assert_work(work_of(m, elementwise(1, 1000, "abs(v)")), 3000, 0);
        assert_work(work_of(m, elementwise(1, 1000, "sqrt(v)")), 2000, 1000);
        assert_work(work_of(m, elementwise(7, 1000, "abs(v)")), 21000, 0);
        assert_work(work_of(m, row_norms(30, 100)), 3000, 30);
        assert_work(work_of(m, matmul(40, 50, 60)), 40 * 50 * 60, 0);
        const struct codegen_work *w = work_of(m, elementwise(1, 1000, "exp(v)"));
        assert_true(w->instructions > 8000 && w->instructions < 40000);
        double exponential = w->instructions;
        assert_true(work_of(m, elementwise(1, 1000, "tanh(v)"))->instructions > exponential);
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
        assert_true(work_of(m, elementwise(7, 1024, "sqrt(v)"))->accesses == 7 * 2 * 1024 / lanes);
        /* Tiles share what they load: less than two loads for each multiply-add of a vector. */
        assert_true(work_of(m, matmul(48, 64, 60))->accesses < 1.5 * 48 * 64 * 60 / lanes);
        /* Elements that lie apart are loaded one by one, or permuted out of vectors. */
        const struct codegen_work *w = work_of(m, columns(64, 64));
        assert_true(w->accesses > 2 * 64 * 64 / lanes && w->accesses <= 64 * 64 + 64 * 64 / lanes);
    }
}

TEST_GROUP(NULL, machines_free)
