/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The textual form: what is printed reads back as the same graph, and what cannot be read says where and why. */
#include "support/graphs.h"

static void prints_a_graph(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[1, 3, 8, 8]; }"
                                 "consts { w: f32[4, 3, 3, 3] @scalar(0.1); b: f32[4] @values([1, -0, NaN, 1e-45]); }"
                                 "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], strides=[1, 1], label=\"first\");"
                                 "  y = relu(c); }"
                                 "outputs { y; \"other name\" = y; }");
    char *text = print_to_string(g);
    assert_string_equal(text, "webnn_graph \"graph\" v1 {\n"
                              "  inputs {\n"
                              "    x: f32[1, 3, 8, 8];\n"
                              "  }\n"
                              "  consts {\n"
                              "    w: f32[4, 3, 3, 3] @scalar(0.1);\n"
                              "    b: f32[4] @bytes([0, 0, 128, 63, 0, 0, 0, 128, 0, 0, 192, 127, 1, 0, 0, 0]);"
                              "  # 1, -0, NaN, 1e-45\n"
                              "  }\n"
                              "  nodes {\n"
                              "    c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], label=\"first\");  # f32[1, 4, 8, 8]\n"
                              "    y = relu(c);  # f32[1, 4, 8, 8]\n"
                              "  }\n"
                              "  outputs {\n"
                              "    y;\n"
                              "    \"other name\" = y;\n"
                              "  }\n"
                              "}\n");
    free(text);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_a_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
