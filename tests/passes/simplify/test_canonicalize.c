/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* canonicalize: graphs that are too long for a file of cases (tests/passes/simplify/canonicalize). */
#include "passes/pass_support.h"

TEST(long_chains_collapse)
{
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[2, 3]; } nodes { z = identity(x); } outputs { z; }");
    struct value *v = g->inputs[0];
    enum { LENGTH = 20000 };

    for (int i = 0; i < LENGTH; i++)
        v = node_create(g, NULL, i % 2 ? OP_NEG : OP_IDENTITY, "", 1, &v, NULL, NULL, &g->error)->results[0];
    graph_add_output(g, "v", 1, v);
    assert_true(pass_canonicalize(g, &fake_options));
    assert_int_equal(count_nodes(g, OP_NEG) + count_nodes(g, OP_IDENTITY), 0);
    assert_false(pass_canonicalize(g, &fake_options));
}
