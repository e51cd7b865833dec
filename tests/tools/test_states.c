/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-run --state: outputs that become inputs. */
#include "tools/tool_support.h"

/* One more in every run: what an output has becomes the input of the next. */
TEST(states_go_on)
{
    write_text("count.webnn",
               "webnn_graph \"count\" v1 { inputs { a.old: f32[2]; b.old: f32[2]; } consts { one: f32[2] "
               "@scalar(1); } nodes { a.new = add(a.old, one); b.new = sub(b.old, one); } outputs { a.new; b.new; } }");
    runs(0, "5 5", "%s count.webnn --repeat 5 --state '*.old=*.new'", WEBNN_RUN);
    assert_printed("-5 -5");
    runs(0, "5 5", "%s count.webnn --repeat 5 --state a.old=a.new", WEBNN_RUN);
    assert_printed("-1 -1");
    runs(1, "--state a.old=b.old: the model has no such input and output", "%s count.webnn --state a.old=b.old", WEBNN_RUN);
    runs(2, "--state takes INPUT=OUTPUT", "%s count.webnn --state a.old", WEBNN_RUN);
}

/* A saved graph has the states that it was saved with. */
TEST(compiled_graphs_have_states_from_saving)
{
    write_text("up.webnn", "webnn_graph \"up\" v1 { inputs { old: f32[2]; } consts { one: f32[2] @scalar(1); } "
                           "nodes { new = add(old, one); } outputs { new; } }");
    runs(0, "", "%s up.webnn --state old=new --save with.wnn", WEBNN_RUN);
    runs(0, "5 5", "%s with.wnn --state old=new --repeat 5", WEBNN_RUN);
    runs(0, "", "%s up.webnn --save without.wnn", WEBNN_RUN);
    runs(1, "webnn-run: without.wnn was saved without these states: give --state with --save", "%s without.wnn --state old=new",
         WEBNN_RUN);
    runs(0, "1 1", "%s without.wnn --repeat 5", WEBNN_RUN);
}

TEST_GROUP(enter_folder, leave_folder)
