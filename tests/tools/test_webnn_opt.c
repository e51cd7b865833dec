/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-opt: passes by name and in their order, graphs with their weights in and out, errors, and input that is not a graph. */
#include "tools/tool_support.h"

#define OPT "WEBNN_DEBUG= " WEBNN_OPT

static const char network[] =
    "webnn_graph \"n\" v1 {\n"
    "  inputs { x: f32[2, 8]; }\n"
    "  consts { w: f32[8, 4] @scalar(0.5); one: f32[] @scalar(1); k: f32[4] @values([1, 2, 3, 4]);\n"
    "    big: f32[8, 4] @values([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,\n"
    "      20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]); }\n"
    "  nodes {\n"
    "    i = identity(x); a = matmul(i, w); b = mul(a, one); c = add(b, k); r = relu(c);\n"
    "    q = add(k, one); m = matmul(x, big); s = mul(r, q); y = add(s, m);\n"
    "  }\n"
    "  outputs { y; }\n"
    "}\n";

TEST(help_and_man_page_agree)
{
    runs(0, "webnn-opt ", OPT " --version");
    assert_options_are_on_page(WEBNN_OPT, WEBNN_OPT_PAGE);
    assert_printed("examples");
    runs(0, "fuse-kernels", OPT " --list-passes");
    assert_printed("finish-clusters    a cluster for every node, in execution order (required)");
}

TEST(passes_run_in_the_given_order)
{
    write_text("n.webnn", network);
    runs(0, "", OPT " n.webnn --passes canonicalize");
    assert_not_printed("identity");
    assert_printed("q = add(k, one)");
    runs(0, "identity", OPT " n.webnn --passes fold-constants");
    assert_not_printed("q = add(k, one)");
    /* A cluster of each node before the kernels are fused leaves nothing to fuse. */
    runs(0, "r = relu(c) @kernel(4)", OPT " n.webnn --no-library --passes finish-clusters,fuse-kernels");
    runs(0, "", OPT " n.webnn --no-library --passes fuse-kernels,finish-clusters");
    assert_not_printed("@kernel(4)");
    runs(0, "", OPT " n.webnn --passes merge-common,merge-common --verify");
}

TEST(the_whole_pipeline_by_default)
{
    write_text("n.webnn", network);
    runs(0, "# after canonicalize", OPT " n.webnn --isa baseline --no-library --verify --print-after all -o after.webnn");
    assert_printed("# after finish-clusters");
    runs(0, "@kernel(0)", "cat after.webnn");
    assert_printed("@weights(");
    /* What was written is read back with its weights, stays the same, and computes the same. */
    runs(0, "",
         OPT " after.webnn --passes finish-clusters -o again.webnn && diff after.webnn again.webnn && "
             "cmp after.safetensors again.safetensors");
    runs(0, "",
         WEBNN_RUN " n.webnn --random 1 --quiet --output expected.npz && " WEBNN_RUN
                   " after.webnn --random 1 --quiet --compare y=expected.npz");
    runs(0, "# after pack-weights", OPT " n.webnn --print-after pack-weights --no-library --isa avx2");
    assert_not_printed("# after fuse-kernels");
    runs(0, "", OPT " n.webnn --passes drop-dead");
    assert_not_printed("@weights("); /* standard output has all data */
}

/* What webnnc writes as IR, with its weights, is a graph for both tools, and computes the same. */
TEST(ir_of_webnnc_is_read_back)
{
    static const char *const forms[] = {"container", "safetensors", "inline"};

    write_text("n.webnn", network);
    runs(0, "", WEBNN_RUN " n.webnn --random 1 --quiet --output expected.npz");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        runs(0, "", "rm -f ir.weights ir.manifest.json ir.safetensors");
        runs(0, "", WEBNNC " n.webnn -o ir.ir --weights-as %s && cat ir.ir", forms[i]);
        if (i < 2)
            assert_printed("@weights(");
        else
            assert_not_printed("@weights(");
        runs(0, "", WEBNN_RUN " ir.ir --random 1 --quiet --compare y=expected.npz");
        runs(0, "", OPT " ir.ir -o opt.webnn && " WEBNN_RUN " opt.webnn --random 1 --quiet --compare y=expected.npz");
    }
    runs(0, "", WEBNNC " n.webnn --emit ir -o -");
    assert_not_printed("@weights("); /* standard output has all data */
    runs(0, "", WEBNNC " n.webnn --emit ir -o - >out.ir && " OPT " out.ir --passes drop-dead");
}

TEST(data_types_of_passes_are_kept)
{
    write_text("t.webnn",
               "webnn_graph \"t\" v1 { inputs { x: f32[2]; } consts { k: f64[2] @bytes([0, 0, 0, 0, 0, 0, 240, 63, 0, 0, "
               "0, 0, 0, 0, 0, 64]); } nodes { a = cast(x, \"float64\"); b = add(a, k); c = cast(b, \"bfloat16\"); y = "
               "cast(c, \"float32\"); } outputs { y; } }");
    runs(0, "k: f64[2]", OPT " t.webnn --passes drop-dead");
    assert_printed("# bf16[2]");
}

TEST(mistakes_are_told)
{
    static const struct {
        int status;
        const char *arguments, *text;
    } rows[] = {
        {2, "", "no graph is given"},
        {2, "n.webnn m.webnn", "one graph at a time: n.webnn, then m.webnn"},
        {2, "n.webnn --magic", "webnn-opt: --magic is not an option\ntry: webnn-opt --help"},
        {2, "n.webnn -x", "webnn-opt: -x is not an option\ntry: webnn-opt --help"},
        {2, "n.webnn --li=1", "webnn-opt: --li takes no value\ntry: webnn-opt --help"},
        {2, "n.webnn --isa", "webnn-opt: --isa needs a value: one name"},
        {2, "n.webnn -o", "webnn-opt: -o needs a value: FILE"},
        {2, "n.webnn --p=x",
         "webnn-opt: --p is the beginning of several options: --passes, --print-after\ntry: webnn-opt --help"},
        {2, "n.webnn --budget x", "--budget takes OPERATIONS"},
        {2, "n.webnn --print-after a,b", "--print-after takes one name, not 'a,b'"},
        {1, "absent.webnn", "absent.webnn: No such file"},
        {1, "n.webnn --passes magic", "no pass is called 'magic', there are drop-dead, canonicalize, "},
        {1, "n.webnn --passes canonicalize,winogrd",
         "no pass is called 'winogrd'; did you mean 'winograd'?  There are drop-dead, "},
        {1, "n.webnn --passes canonicalize,,drop-dead", "no pass is called ''"},
        {1, "n.webnn --print-after magic", "no pass is called \"magic\""},
        {1, "n.webnn --isa pentium9", "allowed are baseline|avx2|avx512|native"},
        {1, "n.webnn --debug magic", "unknown debug switch 'magic'"},
        {1, "n.webnn --passes fold-constants --budget 1", "budget"},
        {1, "n.webnn -o no/such/folder/x.webnn", "no/such/folder"},
        {1, "w.webnn --weights absent.safetensors", "absent.safetensors"},
        {1, "w.webnn", "w.webnn: 1:68: w.weights: No such file"},
        {1, "v.webnn", "v.webnn: 1:68: tensor 'k' in"},
        {1, "cycle.webnn --passes finish-clusters", "webnn-opt: "},
    };

    write_text("n.webnn", network);
    write_text(
        "w.webnn",
        "webnn_graph \"w\" v1 { inputs { x: f32[2]; } consts { k: f32[32, 1] @weights(\"k\"); } nodes { y = add(x, k); } "
        "outputs { y; } }");
    write_text(
        "v.webnn",
        "webnn_graph \"w\" v1 { inputs { x: f32[2]; } consts { k: f32[32, 1] @weights(\"k\"); } nodes { y = add(x, k); } "
        "outputs { y; } }");
    write_text("k.webnn",
               "webnn_graph \"k\" v1 { inputs { x: i32[2]; } consts { k: i32[32, 1] @values([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "
               "11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]); } nodes { y = add(x, "
               "k); } outputs { y; } }");
    write_text("cycle.webnn",
               "webnn_graph \"c\" v1 { inputs { x: f32[2]; } nodes { a = exp(x) @kernel(0); b = sin(a) @kernel(1); y = "
               "add(a, b) @kernel(0); } outputs { y; } }");
    runs(0, "", OPT " k.webnn --passes drop-dead -o kept.webnn && mv kept.safetensors v.safetensors");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = run(OPT " %s", rows[i].arguments);

        if (status != rows[i].status)
            fail_msg("webnn-opt %s ends with %d: %s", rows[i].arguments, status, printed);
        assert_printed(rows[i].text);
    }
}

/* Marks and everything else may be anything: a graph comes out, or a message; `run` fails where a program dies. */
TEST(no_input_is_fatal)
{
    static const char text[] =
        "webnn_graph \"h\" v1 { inputs { x: f32[1, 12, 12, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(0.1); u: f32[16, 1, 1, "
        "1] @scalar(1); } nodes { p = transpose(x, permutation=[0, 3, 1, 2]) @view(3); c = conv2d(p, w) @winograd(u) "
        "@library(1); "
        "r = relu(c) @loop(0); g = softmax(r, 1) @kernel(2); y = cast(g, \"bfloat16\") @kernel(2); z = cast(y, float16); } "
        "outputs { z; } }";
    char copy[sizeof text];
    uint32_t random = 1;
    unsigned read = 0;

    for (int round = 0; round < 28; round++) {
        memcpy(copy, text, sizeof text);
        for (int changes = round % 4; changes > 0; changes--) {
            random = random * 1664525u + 1013904223u;
            const size_t at = 22 + (random >> 8) % (sizeof text - 23);
            random = random * 1664525u + 1013904223u;
            copy[at] = text[22 + (random >> 8) % (sizeof text - 23)];
        }
        if (round % 7 == 6)
            copy[round * sizeof text / 28] = '\0';
        write_text("h.webnn", copy);
        read += run(OPT " h.webnn %s",
                    round % 2 ? "--no-library" : "--passes fuse-kernels,pack-weights,winograd,fuse-epilogues") == 0;
    }
    assert_true(read >= 2 && read < 28);
}

TEST_GROUP(enter_folder, leave_folder)
