/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What webnn-run shows on a terminal, which `script` makes, while a model takes long to build. */
#include "tools/tool_support.h"

/* Chains of functions in many orders: LLVM compiles each of them, which takes seconds. */
static void write_slow_model(void)
{
    enum { CHAINS = 400, LINKS = 8 };
    static const char *const functions[] = {"erf", "tan", "sin", "gelu", "exp"};
    FILE *f = fopen("slow.webnn", "w");

    assert_non_null(f);
    fprintf(f, "webnn_graph \"slow\" v1 { inputs { x: f32[64]; } nodes {\n");
    for (int i = 0; i < CHAINS; i++)
        for (int k = 0, order = i; k < LINKS; k++, order = order / 3 + i + k) {
            fprintf(f, "n%d_%d = %s(", i, k, functions[(order + k) % 5]);
            fprintf(f, k ? "n%d_%d);\n" : "x);\n", i, k - 1);
        }
    fprintf(f, "} outputs {");
    for (int i = 0; i < CHAINS; i++)
        fprintf(f, " n%d_%d;", i, LINKS - 1);
    fprintf(f, " } }\n");
    assert_int_equal(fclose(f), 0);
}

/** The line is gone before anything else is printed, and nothing is shown where stderr is no terminal. */
TEST(long_builds_show_progress)
{
    if (run("command -v script") != 0)
        skip();
    write_slow_model();
    runs(0, "\r\033[Kwebnn-run: building the graph, ", "script -qec '%s --first 0 slow.webnn' /dev/null", WEBNN_RUN);
    assert_printed("\r\033[Kslow: files read");
    runs(0, "", "script -qec '%s --quiet slow.webnn' /dev/null", WEBNN_RUN);
    assert_not_printed("building the graph");
    runs(0, "", "%s slow.webnn", WEBNN_RUN);
    assert_not_printed("building the graph");
}

TEST_GROUP(enter_folder, leave_folder)
