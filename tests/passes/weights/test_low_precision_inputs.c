/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* low-precision-inputs: what the reference interpreter makes of the result (tests/passes/weights/low-precision-inputs has the
 * rest). */
#include "passes/pass_support.h"

static bool takes_all(void *user, const struct node *n, uint32_t slot)
{
    return slot == 0 || n->inputs[1].value->kind != VALUE_CONSTANT;
}

/* Runs the pass twice; the second run must do nothing. */
static bool run_pass(struct graph *g)
{
    struct target t = fake_target;
    const struct pass_options o = {.target = &t};

    t.takes_low_precision_input = takes_all;
    const bool changed = pass_low_precision_inputs(g, &o);
    assert_verifies(g);
    assert_false(pass_low_precision_inputs(g, &o));
    return changed;
}

/* The interpreter rounds where the casts are: exact when all numbers fit. */
TEST(rounds_as_bfloat16)
{
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[1, 3]; } consts { w: f32[3, 1] @values([1, 256, 65536]); }"
                                              "nodes { e = identity(x); a = matmul(e, w); } outputs { a; }");
    const float in[3] = {1.00390625f, 257, -1.01171875f}; /* ties to 1 and 256, and down from above one to -1.015625 */
    const void *inputs[] = {in};
    float out = 0;
    void *outputs[] = {&out};

    assert_true(run_pass(g));
    assert_done(graph_interpret(g, inputs, outputs, &e));
    assert_true(out == 1 + 65536 - 1.015625f * 65536);
}
