/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* narrow-inputs: where the rounding of products' operands goes, and that nothing else sees it. */
#include "pass_support.h"

static bool narrows_all(void *user, const struct node *n, uint32_t slot)
{
    (void)user;
    return slot == 0 || n->inputs[1].value->kind != VALUE_CONSTANT;
}

static bool narrows_none(void *user, const struct node *n, uint32_t slot)
{
    (void)user;
    (void)n;
    (void)slot;
    return false;
}

/* Runs the pass twice; the second run must do nothing. */
static bool narrow(struct graph *g, bool (*narrows)(void *user, const struct node *n, uint32_t slot))
{
    struct target t = fake_target;
    const struct pass_options o = {.target = &t};

    t.narrows_input = narrows;
    const bool changed = pass_narrow_inputs(g, &o);
    assert_verifies(g);
    assert_false(pass_narrow_inputs(g, &o));
    return changed;
}

static uint32_t count_casts(const struct graph *g, dtype to)
{
    uint32_t count = 0;

    graph_for_each (g, n)
        count += n->op == OP_CAST && n->results[0]->type.type == to;
    return count;
}

/* What lies in memory for input `slot` of the producer of a value. */
static const struct value *stored_for(struct graph *g, const char *name, uint32_t slot)
{
    const struct node *cast = value_named(g, name)->producer->inputs[slot].value->producer;

    assert_non_null(cast);
    assert_int_equal(cast->op, OP_CAST);
    assert_int_equal(cast->results[0]->type.type, WNNOperandDataType_Float32);
    assert_int_equal(cast->inputs[0].value->type.type, DTYPE_BFLOAT16);
    return cast->inputs[0].value;
}

static void rounds_once_for_all_products(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[8, 16]; } consts { w: f32[16, 16] @scalar(2); }"
                                 "nodes { e = exp(x); a = matmul(e, w); b = matmul(e, w); s = add(e, a); t = add(s, b); }"
                                 "outputs { t; }");
    struct value *e = value_named(g, "e");

    assert_true(narrow(g, narrows_all));
    assert_ptr_equal(stored_for(g, "a", 0), stored_for(g, "b", 0));
    assert_ptr_equal(stored_for(g, "a", 0)->producer->inputs[0].value, e);
    assert_int_equal(count_casts(g, DTYPE_BFLOAT16), 1);
    assert_ptr_equal(value_named(g, "s")->producer->inputs[0].value, e); /* others read float32 */
    graph_free(g);
}

static void rounds_before_movements(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[8, 32]; y: f32[2, 8, 16]; }"
                                 "nodes { e = exp(x); r = reshape(e, [8, 2, 16]); t = transpose(r, permutation=[1, 2, 0]); "
                                 "c = exp(y); d = neg(y); k = concat([c, d], 1); m = matmul(k, t); } outputs { m; }");

    assert_true(narrow(g, narrows_all));
    const struct value *v = stored_for(g, "m", 1);
    assert_int_equal(v->producer->op, OP_TRANSPOSE);
    v = v->producer->inputs[0].value;
    assert_int_equal(v->producer->op, OP_RESHAPE);
    v = v->producer->inputs[0].value;
    assert_int_equal(v->type.type, DTYPE_BFLOAT16);
    assert_ptr_equal(v->producer->inputs[0].value, value_named(g, "e"));
    assert_int_equal(stored_for(g, "m", 0)->producer->op, OP_CONCAT);
    assert_int_equal(count_casts(g, DTYPE_BFLOAT16), 3);
    assert_int_equal(count_nodes(g, OP_CONCAT) + count_nodes(g, OP_RESHAPE) + count_nodes(g, OP_TRANSPOSE), 3);
    graph_free(g);
}

static void leaves_what_nobody_asks_for(void **state)
{
    (void)state;
    const char *body = "inputs { x: f32[8, 16]; } consts { w: f32[16, 16] @scalar(2); }"
                       "nodes { e = exp(x); a = matmul(e, w); } outputs { a; }";
    struct graph *g = parse_body(body);

    assert_false(narrow(g, narrows_none));
    assert_int_equal(count_nodes(g, OP_CAST), 0);
    graph_free(g);
}

/* A concat of a value with itself; what else reads a concat keeps it. */
static void concats(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[8, 16]; } consts { w: f32[16, 16] @scalar(2); }"
                                 "nodes { e = exp(x); r = reshape(e, [8, 16]); k = concat([r, r], 0); a = matmul(k, w); "
                                 "l = concat([e, x], 0); b = matmul(l, w); s = add(a, b); t = add(s, l); } outputs { t; }");

    assert_true(narrow(g, narrows_all));
    assert_int_equal(stored_for(g, "a", 0)->producer->op, OP_CONCAT);
    assert_int_equal(stored_for(g, "b", 0)->producer->op, OP_CAST);
    assert_int_equal(count_nodes(g, OP_CONCAT), 2);
    graph_free(g);
}

/* The interpreter rounds where the casts are: exact when all numbers fit. */
static void rounds_as_bfloat16(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[1, 3]; } consts { w: f32[3, 1] @values([1, 256, 65536]); }"
                                 "nodes { e = identity(x); a = matmul(e, w); } outputs { a; }");
    const float in[3] = {1.00390625f, 257, -1.01171875f}; /* ties to 1 and 256, and down from above one to -1.015625 */
    const void *inputs[] = {in};
    float out = 0;
    void *outputs[] = {&out};
    struct error e = {0};

    assert_true(narrow(g, narrows_all));
    assert_true(graph_interpret(g, inputs, outputs, &e));
    assert_true(out == 1 + 65536 - 1.015625f * 65536);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_once_for_all_products), cmocka_unit_test(rounds_before_movements),
        cmocka_unit_test(leaves_what_nobody_asks_for),  cmocka_unit_test(concats),
        cmocka_unit_test(rounds_as_bfloat16),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
