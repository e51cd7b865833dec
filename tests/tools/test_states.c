/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-run --state: outputs that become inputs. */
#include "tools/tool_support.h"

/* One more in every run: what an output has becomes the input of the next. */
static void states_go_on(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_go_on),
    };

    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
