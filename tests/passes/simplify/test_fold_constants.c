/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fold-constants: what text does not show (tests/passes/simplify/fold-constants has the rest). */
#include "passes/pass_support.h"

TEST(a_folded_reshape_shares_its_bytes)
{
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[6]; } consts { p: f32[2, 3] @scalar(2); }"
                                              "nodes { r = reshape(p, newShape=[6]); y = mul(x, r); } outputs { y; }");
    const struct constant *before = value_named(g, "p")->constant;

    assert_true(check_pass(g, pass_fold_constants, true));
    assert_ptr_equal(g->first->inputs[1].value->constant, before);
}
