/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels of stages: locals, conditions and scratch of their own, on every instruction set against kernel_interpret; and what
 * kernel_verify refuses. */
#include "codegen/kernels.h"

enum { MACRO_TILES = 7, ROWS = 3, COLUMNS = 37 };

/* Returns a stage whose macro-tile is one variable. */
static struct kernel *stage_create(uint32_t *macro_tile)
{
    struct kernel *k = kernel_create();
    k->macro_tile_vars = 1;
    *macro_tile = kernel_var(k, KVAR_PARALLEL, MACRO_TILES);
    return k;
}

static struct kaffine index3(struct kernel *k, uint32_t a, uint32_t b, uint32_t c)
{
    return kaffine_add(k, strided(k, a, ROWS * COLUMNS, 0), kaffine_add(k, strided(k, b, COLUMNS, 0), kaffine_var(k, c)));
}

/*
 * Of each macro-tile: local 0 the largest magnitude, local 1 the softmax of each row (which needs scratch of its own), and from
 * that, where the former is below 4, its double; elsewhere the negated input.
 */
static struct kernel *staged(void)
{
    const dtype f32 = WNNOperandDataType_Float32;
    const uint32_t x_local[2] = {0, KERNEL_TENSORS_MAX}, x_row[2] = {0, KERNEL_TENSORS_MAX + 1};
    const uint32_t row_y[2] = {KERNEL_TENSORS_MAX + 1, 1}, x_y[2] = {0, 1};
    struct kernel *k = kernel_create(), *s;
    struct kstage *stage;
    uint32_t c, r, i, e;

    kernel_tensor(k, f32, MACRO_TILES * ROWS * COLUMNS, false, NULL);
    kernel_tensor(k, f32, MACRO_TILES * ROWS * COLUMNS, true, NULL);
    kernel_local(k, f32, 1);
    kernel_local(k, f32, ROWS * COLUMNS);

    s = stage_create(&c);
    kernel_tensor(s, f32, MACRO_TILES * ROWS * COLUMNS, false, NULL);
    kernel_tensor(s, f32, 1, true, NULL);
    r = kernel_var(s, KVAR_REDUCED, ROWS);
    i = kernel_var(s, KVAR_REDUCED, COLUMNS);
    e = kernel_reduce(s, KR_MAX, kernel_op1(s, K_ABS, load(s, 0, index3(s, c, r, i))));
    kernel_store(s, 1, kaffine_const(0), e, 0, NULL);
    assert_non_null(kernel_stage(k, s, x_local));

    s = stage_create(&c);
    kernel_tensor(s, f32, MACRO_TILES * ROWS * COLUMNS, false, NULL);
    kernel_tensor(s, f32, ROWS * COLUMNS, true, NULL);
    r = kernel_var(s, KVAR_PARALLEL, ROWS);
    i = kernel_var(s, KVAR_REDUCED, COLUMNS);
    e = load(s, 0, index3(s, c, r, i));
    e = kernel_op1(s, K_EXP, kernel_op2(s, K_SUB, e, kernel_reduce(s, KR_MAX, e)));
    e = kernel_op2(s, K_DIV, e, kernel_reduce(s, KR_SUM, e));
    kernel_store(s, 1, kaffine_add(s, strided(s, r, COLUMNS, 0), kaffine_var(s, i)), e, 0, NULL);
    stage = kernel_stage(k, s, x_row);
    assert_non_null(stage);
    stage->when = KSTAGE_BELOW;
    stage->limit = 4;

    s = stage_create(&c);
    kernel_tensor(s, f32, ROWS * COLUMNS, false, NULL);
    kernel_tensor(s, f32, MACRO_TILES * ROWS * COLUMNS, true, NULL);
    r = kernel_var(s, KVAR_PARALLEL, ROWS);
    i = kernel_var(s, KVAR_PARALLEL, COLUMNS);
    e = load(s, 0, kaffine_add(s, strided(s, r, COLUMNS, 0), kaffine_var(s, i)));
    kernel_store(s, 1, index3(s, c, r, i), kernel_op2(s, K_ADD, e, e), 0, NULL);
    stage = kernel_stage(k, s, row_y);
    assert_non_null(stage);
    stage->when = KSTAGE_BELOW;
    stage->limit = 4;

    s = stage_create(&c);
    s->rare = true;
    kernel_tensor(s, f32, MACRO_TILES * ROWS * COLUMNS, false, NULL);
    kernel_tensor(s, f32, MACRO_TILES * ROWS * COLUMNS, true, NULL);
    r = kernel_var(s, KVAR_PARALLEL, ROWS);
    i = kernel_var(s, KVAR_PARALLEL, COLUMNS);
    kernel_store(s, 1, index3(s, c, r, i), kernel_op1(s, K_NEG, load(s, 0, index3(s, c, r, i))), 0, NULL);
    stage = kernel_stage(k, s, x_y);
    assert_non_null(stage);
    stage->when = KSTAGE_NOT_BELOW;
    stage->limit = 4;
    return k;
}

/* Every macro-tile takes the way that its numbers say: macro-tile 2 has a large one, macro-tile 4 a NaN, macro-tile 5 the limit
 * itself. */
TEST(macro_tiles_take_their_way)
{
    float *x = buffer_create(sizeof(float) * MACRO_TILES * ROWS * COLUMNS),
          *y = buffer_create(sizeof(float) * MACRO_TILES * ROWS * COLUMNS);
    void *tensors[2] = {x, y};
    struct kernel *k = staged();

    for (int i = 0; i < MACRO_TILES * ROWS * COLUMNS; i++)
        x[i] = (float)(i % 29) / 8 - 2;
    x[2 * ROWS * COLUMNS + 40] = -1e30f;
    x[4 * ROWS * COLUMNS] = NAN;
    x[6 * ROWS * COLUMNS - 1] = 4;
    assert_true(kernel_finish(k));
    struct schedule *s = schedule_of(k, NULL);
    assert_int_equal(s->units, MACRO_TILES);
    schedule_free(s);
    assert_false(kernel_may_share(k, 0, 1));
    assert_true(kernel_verify(k, stderr));
    assert_true(kernel_interpret(k, tensors));
    for (int c = 0; c < MACRO_TILES; c++) {
        const bool direct = c == 2 || c == 4 || c == 5;
        for (int i = 1; i < COLUMNS; i++)
            assert_true(direct ? y[c * ROWS * COLUMNS + i] == -x[c * ROWS * COLUMNS + i] : y[c * ROWS * COLUMNS + i] > 0);
    }
    memset(y, 0, sizeof(float) * MACRO_TILES * ROWS * COLUMNS);
    check_kernel(k, tensors, (struct tolerance){64, 1e-6, false});
    buffer_free(x);
    buffer_free(y);
}

TEST(wrong_stages_are_refused)
{
    for (int fault = 0; fault < 4; fault++) {
        struct kernel *k = staged();
        assert_true(kernel_finish(k));
        assert_true(kernel_verify(k, NULL));
        if (fault == 0)
            k->stages[2].predicate = 7; /* no such local */
        else if (fault == 1)
            k->stages[1].tensors[0] = KERNEL_TENSORS_MAX + 1; /* read before it is written, and of another size */
        else if (fault == 2)
            k->stages[3].tensors[1] = 0; /* an input is written */
        else
            k->stages[0].when = KSTAGE_BELOW; /* its predicate is not written yet */
        assert_false(kernel_verify(k, NULL));
        kernel_free(k);
    }
}

/* The structure has everything that shapes code, and sizes of locals are none of it. */
TEST(structures_hold_what_shapes_code)
{
    struct arena a = {0};
    struct kernel *k[3] = {staged(), staged(), staged()};
    char *text[3];

    k[1]->locals[1].elements += 64;
    k[2]->stages[3].limit = 5;
    for (int i = 0; i < 3; i++) {
        assert_true(kernel_finish(k[i]));
        struct schedule *s = schedule_of(k[i], NULL);
        text[i] = schedule_structure(s, &a);
        schedule_free(s);
        assert_non_null(text[i]);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
    for (int i = 0; i < 3; i++)
        kernel_free(k[i]);
    arena_free(&a);
}

TEST_GROUP(NULL, machines_free)
