/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels of stages: locals, conditions and scratch of their own, on every instruction set against kernel_interpret; and what
 * kernel_verify refuses. */
#include "codegen/kernels.h"
#include "support/kernel_text.h"

enum { MACRO_TILES = 7, ROWS = 3, COLUMNS = 37 };

/*
 * Of each macro-tile: local 0 the largest magnitude, local 1 the softmax of each row (which needs scratch of its own), and from
 * that, where the former is below 4, its double; elsewhere the negated input.
 */
static struct kernel *staged(void)
{
    return kernel_parse("kernel staged {\n"
                        "tensor x: f32[777], y: f32[777] written\n"
                        "local0: f32[1] local1: f32[111]\n"
                        "stage 0 macro-tile 1 x local0 kernel largest {\n"
                        "  parallel c < 7 reduced r < 3, i < 37 tensor x: f32[], y: f32[1] written\n"
                        "  store y[0] = reduce.max(abs(x[111*c + 37*r + i])) }\n"
                        "stage 1 macro-tile 1 x local1 if local0 < 4 kernel softmax {\n"
                        "  parallel c < 7, r < 3 reduced i < 37 tensor x: f32[], y: f32[] written\n"
                        "  v = x[111*c + 37*r + i] e = exp(sub(v, reduce.max(v)))\n"
                        "  store y[37*r + i] = div(e, reduce.sum(e)) }\n"
                        "stage 2 macro-tile 1 local1 y if local0 < 4 kernel double {\n"
                        "  parallel c < 7, r < 3, i < 37 tensor x: f32[], y: f32[] written\n"
                        "  store y[111*c + 37*r + i] = add(x[37*r + i], x[37*r + i]) }\n"
                        "stage 3 macro-tile 1 x y if not local0 < 4 kernel negated {\n"
                        "  parallel c < 7, r < 3, i < 37 tensor x: f32[], y: f32[] written\n"
                        "  store y[111*c + 37*r + i] = neg(x[111*c + 37*r + i]) }\n"
                        "}",
                        "");
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
    OWNED(schedule) struct schedule *s = schedule_of(k, NULL);
    assert_int_equal(s->units, MACRO_TILES);
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
        OWNED(kernel) struct kernel *k = staged();
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
    }
}

/* The structure has everything that shapes code, and sizes of locals are none of it. */
TEST(structures_hold_what_shapes_code)
{
    SCOPED(arena_free) struct arena a = {0};
    struct kernel *k[3] = {staged(), staged(), staged()};
    char *text[3];

    k[1]->locals[1].elements += 64;
    k[2]->stages[3].limit = 5;
    for (int i = 0; i < 3; i++) {
        assert_true(kernel_finish(k[i]));
        OWNED(schedule) struct schedule *s = schedule_of(k[i], NULL);
        text[i] = schedule_structure(s, &a);
        assert_non_null(text[i]);
    }
    assert_string_equal(text[0], text[1]);
    assert_string_not_equal(text[0], text[2]);
    for (int i = 0; i < 3; i++)
        kernel_free(k[i]);
}

TEST_GROUP(NULL, machines_free)
