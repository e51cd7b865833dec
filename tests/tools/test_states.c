/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-run --state: outputs that become inputs. */
#include "tools/tool_support.h"

/* One more in every run: what an output has becomes the input of the next. */
TEST(states_go_on)
{
    write_text("count.webnn",
               "webnn_graph \"count\" v1 { inputs { a.old: f32[2]; b.old: f32[2]; } consts { one: f32[2] "
               "@scalar(1); } nodes { a.new = add(a.old, one); b.new = sub(b.old, one); } outputs { a.new; b.new; "
               "} }");
    assert_int_equal(run("%s count.webnn --repeat 5 --state '*.old=*.new'", WEBNN_RUN), 0);
    assert_printed("5 5");
    assert_printed("-5 -5");
    assert_int_equal(run("%s count.webnn --repeat 5 --state a.old=a.new", WEBNN_RUN), 0);
    assert_printed("5 5");
    assert_printed("-1 -1");
    assert_int_equal(run("%s count.webnn --state a.old=b.old", WEBNN_RUN), 1);
    assert_printed("--state a.old=b.old: the model has no such input and output");
    assert_int_equal(run("%s count.webnn --state a.old", WEBNN_RUN), 2);
    assert_printed("--state takes INPUT=OUTPUT");
}

/* A saved graph has the states that it was saved with. */
TEST(compiled_graphs_have_states_from_saving)
{
    write_text("up.webnn", "webnn_graph \"up\" v1 { inputs { old: f32[2]; } consts { one: f32[2] @scalar(1); } "
                           "nodes { new = add(old, one); } outputs { new; } }");
    assert_int_equal(run("%s up.webnn --state old=new --save with.wnn", WEBNN_RUN), 0);
    assert_int_equal(run("%s with.wnn --state old=new --repeat 5", WEBNN_RUN), 0);
    assert_printed("5 5");
    assert_int_equal(run("%s up.webnn --save without.wnn", WEBNN_RUN), 0);
    assert_int_equal(run("%s without.wnn --state old=new", WEBNN_RUN), 1);
    assert_printed("webnn-run: without.wnn was saved without these states: give --state with --save");
    assert_int_equal(run("%s without.wnn --repeat 5", WEBNN_RUN), 0);
    assert_printed("1 1");
}

TEST_GROUP(enter_folder, leave_folder)
