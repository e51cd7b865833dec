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
    runs(0, "note: the file is read for each of the sizes: sum.webnn: its dimensions need sizes",
         "%s sum.webnn --sizes n=1,16..17 --sizes m=2 --random 1", WEBNN_RUN);
    assert_printed("n=1 m=2: planned in ");
    assert_printed("n=17 m=2: planned in ");
    assert_int_equal(count(" ms, computed in "), 3);
    assert_int_equal(count("note: "), 1);
    runs(0, "", "%s sum.webnn --sizes n=1,2 --dim m=3", WEBNN_RUN);
    assert_int_equal(count(" ms, computed in "), 2);
    runs(0, "", "%s sum.webnn --dim n=2 --dim m=2 --output y=x.npy", WEBNN_RUN);
    runs(0, "", "%s sum.webnn --sizes n=2,2 --sizes m=2 --input x=x.npy", WEBNN_RUN);
}

TEST(sizes_that_cannot_be_are_refused)
{
    write_text("sum.webnn",
               "webnn_graph \"sum\" v2 { inputs { x: f32[dyn(\"n\", 64)]; } nodes { y = add(x, x); } outputs { y; } }");
    runs(1, "at most 64", "%s sum.webnn --sizes n=1,65", WEBNN_RUN);
    runs(1, "", "%s sum.webnn --sizes n=0", WEBNN_RUN);
    runs(1, "--sizes n=1,-2: it takes up to 1000 numbers", "%s sum.webnn --sizes n=1,-2", WEBNN_RUN);
    runs(1, "--sizes n=1,3..2: it takes", "%s sum.webnn --sizes n=1,3..2", WEBNN_RUN);
    runs(1, "--sizes n=..3: it takes", "%s sum.webnn --sizes n=..3", WEBNN_RUN);
    runs(1, "", "%s sum.webnn --sizes n=1..2147483648", WEBNN_RUN);
    runs(1, "--sizes is given twice for 'n'", "%s sum.webnn --sizes n=1 --sizes n=2", WEBNN_RUN);
    runs(2, "listed by --sizes", "%s sum.webnn --dim n=?", WEBNN_RUN);
    runs(1, "--sizes has 3 sizes for 'm', and 2 for another", "%s sum.webnn --sizes n=1,2 --sizes m=1,2,3", WEBNN_RUN);
    runs(1, "", "%s sum.webnn --sizes q=1", WEBNN_RUN);
    runs(2, "", "%s sum.webnn --sizes n", WEBNN_RUN);
    runs(1, "--save: the file needs numbers", "%s sum.webnn --sizes n=1 --save x.wnn", WEBNN_RUN);
}

TEST(a_decoder_is_read_without_sizes)
{
    if (access(DECODER, R_OK))
        skip();
    runs(0, "sequence=1 past=4 total=5: planned in ", "%s %s --sizes sequence=3,1,1 --sizes past=0,3,4 --sizes total=3,4,5",
         WEBNN_RUN, DECODER);
    assert_int_equal(count("note: "), count("has no elements, so that"));
    assert_printed("note: input 'past_");
    runs(1, "--save: sizes of 0 need a graph of their own",
         "%s %s --sizes sequence=1 --sizes past=3,0 --sizes total=4,1 --save d.wnn", WEBNN_RUN, DECODER);
    runs(0, "sequence=3: planned in ", "%s %s --dim past=8 --dim total=8 --sizes sequence=3,1 --save d.wnn", WEBNN_RUN,
         DECODER);
    runs(0, "sequence=5: planned in ", "%s d.wnn --sizes sequence=1,5", WEBNN_RUN);
    runs(1, "the size of dimension \"sequence\" is not known", "%s d.wnn", WEBNN_RUN);
    runs(1, "dimension \"sequence\" is 0 in the sizes", "%s d.wnn --sizes sequence=0", WEBNN_RUN);
}

/** Inputs have their names with --sizes, too; a comma and an equals sign can be a part of names. */
TEST(names_of_inputs_and_outputs_are_found)
{
    write_text("sum.webnn", "webnn_graph \"sum\" v2 { inputs { \"x=\": f32[dyn(\"n\", 64)]; } "
                            "nodes { \"y,1\" = add(\"x=\", \"x=\"); z = neg(\"x=\"); } outputs { \"y,1\"; z; } }");
    runs(0, "", "%s sum.webnn --dim n=3 --random 1 --outputs 'y\\,1' --output 'y,1=x.npy'", WEBNN_RUN);
    assert_not_printed("'z'");
    runs(1, "the model has no output 'y'", "%s sum.webnn --dim n=3 --outputs y,1", WEBNN_RUN);
    runs(0, "output 'z'", "%s sum.webnn --outputs 'z,y\\,1' --input 'x\\==x.npy'", WEBNN_RUN);
    runs(1, "the model has no input 'w'; there are 'x='", "%s sum.webnn --sizes n=3 --input w=x.npy", WEBNN_RUN);
    runs(0, "n=3: planned", "%s sum.webnn --sizes n=3 --input x.npy", WEBNN_RUN);
}

/** A compiled graph with names takes its sizes from all that a model takes them from. */
TEST(compiled_graphs_take_sizes)
{
    runs(0, "", "%s " SHAPES " --sizes batch=1,2 --save any.wnn", WEBNN_RUN);
    runs(0, "output 'probabilities' float32 [1, 8]", "%s any.wnn --input " SHAPES "/moon.npy", WEBNN_RUN);
    runs(0, "(96 x 96 pixels)", "%s any.wnn --input image=" SHAPES "/star.png --resize auto", WEBNN_RUN);
    runs(0, "float32 [2, 8]", "%s any.wnn --dim batch=2", WEBNN_RUN);
    runs(0, "float32 [3, 8]", "%s any.wnn --shape image=3x1x24x24", WEBNN_RUN);
    runs(0, "batch=1: planned", "%s any.wnn --sizes batch=1 --input " SHAPES "/moon.npy", WEBNN_RUN);
    runs(1, "is 2 in the sizes, but 1", "%s any.wnn --dim batch=2 --input " SHAPES "/moon.npy", WEBNN_RUN);
    runs(1, "--shape image: the graph has no input of", "%s any.wnn --shape image=1x2x24x24", WEBNN_RUN);
    runs(1, "batch\" is not known", "%s any.wnn --random 1", WEBNN_RUN);
    runs(1, "any.wnn is compiled: --constant", "%s any.wnn --dim batch=1 --outputs probabilities", WEBNN_RUN);
    runs(1, "any.wnn is compiled: --shape, --constant", "%s any.wnn --sizes batch=1 --deterministic", WEBNN_RUN);
    runs(1, "", "%s any.wnn --sizes batch=1 --shape image=1x1x24x24", WEBNN_RUN);
}

TEST_GROUP(enter_folder, leave_folder)
