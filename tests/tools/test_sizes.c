/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-run --sizes: a model at one combination of sizes after the other. */
#include "tools/tool_support.h"

static int count(const char *what)
{
    int found = 0;

    for (const char *at = printed; (at = strstr(at, what)); at++)
        found++;
    return found;
}

TEST(each_combination_has_a_line)
{
    write_text("sum.webnn", "webnn_graph \"sum\" v2 { inputs { x: f32[dyn(\"n\", 64), dyn(\"m\", 8)]; }\n"
                            "nodes { y = add(x, x); } outputs { y; } }");
    assert_int_equal(run("%s sum.webnn --sizes n=1,16,17 --sizes m=2 --random 1", WEBNN_RUN), 0);
    assert_printed("note: the file is read for each of the sizes: sum.webnn: its dimensions need sizes");
    assert_printed("n=1 m=2: planned in ");
    assert_printed("n=17 m=2: planned in ");
    assert_int_equal(count(" ms, computed in "), 3);
    assert_int_equal(count("note: "), 1);
    assert_int_equal(run("%s sum.webnn --sizes n=1,2 --dim m=3", WEBNN_RUN), 0);
    assert_int_equal(count(" ms, computed in "), 2);
}

TEST(sizes_that_cannot_be_are_refused)
{
    write_text("sum.webnn",
               "webnn_graph \"sum\" v2 { inputs { x: f32[dyn(\"n\", 64)]; } nodes { y = add(x, x); } outputs { y; } }");
    assert_int_equal(run("%s sum.webnn --sizes n=1,65", WEBNN_RUN), 1);
    assert_printed("at most 64");
    assert_int_equal(run("%s sum.webnn --sizes n=0", WEBNN_RUN), 1);
    assert_int_equal(run("%s sum.webnn --sizes n=1,-2", WEBNN_RUN), 1);
    assert_printed("--sizes n=1,-2: it takes numbers");
    assert_int_equal(run("%s sum.webnn --sizes n=1,2147483648", WEBNN_RUN), 1);
    assert_int_equal(run("%s sum.webnn --sizes n=1,2 --sizes m=1,2,3", WEBNN_RUN), 1);
    assert_printed("--sizes has 3 sizes for 'm', and 2 for another");
    assert_int_equal(run("%s sum.webnn --sizes q=1", WEBNN_RUN), 1);
    assert_int_equal(run("%s sum.webnn --sizes n", WEBNN_RUN), 2);
    assert_int_equal(run("%s sum.webnn --sizes n=1 --save x.wnn", WEBNN_RUN), 2);
    assert_printed("--save does not go with --sizes");
}

TEST(a_decoder_is_read_without_sizes)
{
    if (access(DECODER, R_OK))
        skip();
    assert_int_equal(run("%s %s --sizes sequence=3,1,1 --sizes past=0,3,4 --sizes total=3,4,5", WEBNN_RUN, DECODER), 0);
    assert_printed("sequence=1 past=4 total=5: planned in ");
    assert_int_equal(count("note: "), 0);
}

TEST_GROUP(enter_folder, leave_folder)
