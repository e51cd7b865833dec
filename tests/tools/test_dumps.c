/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dumps of a graph (WEBNN_DEBUG=print-after-all,dump=DIR): webnn-run reads every stage back, with the constants in the file
 * next to it, and computes what the original network computes.
 */
#include <glob.h>

#include "tools/tool_support.h"

/* ---- networks ---- */

/* count numbers from -1 to 1 times scale, separated by commas. */
static void write_numbers(FILE *out, unsigned count, double scale)
{
    uint32_t state = count;

    for (unsigned i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        fprintf(out, "%s%.6g", i ? ", " : "", ((double)(state >> 8) / (1 << 23) - 1) * scale);
    }
}

static void write_constant(FILE *out, const char *name, const char *shape, unsigned count, double scale)
{
    fprintf(out, "    %s: f32[%s] @values([", name, shape);
    write_numbers(out, count, scale);
    fputs("]);\n", out);
}

/* Convolutions in nchw, one of them large enough for Winograd's transforms, one of bytes, and nodes fused with them. */
static void write_convolutions(FILE *out)
{
    fputs("webnn_graph \"convolutions\" v1 {\n  inputs { x: f32[1, 32, 28, 28]; }\n  consts {\n", out);
    write_constant(out, "w", "32, 32, 3, 3", 32 * 32 * 9, 0.1);
    write_constant(out, "b", "32", 32, 1);
    write_constant(out, "mean", "32", 32, 1);
    fputs("    variance: f32[32] @scalar(1.5); i: i8[32, 32, 3, 3] @scalar(3); iz: i8[1, 1, 1, 1] @scalar(0);\n"
          "    qs: f32[1, 1, 1, 1] @scalar(0.025); qz: u8[1, 1, 1, 1] @scalar(100);\n",
          out);
    write_constant(out, "d", "32, 1, 3, 3", 32 * 9, 0.5);
    write_constant(out, "f", "32, 10", 320, 0.5);
    fputs("  }\n  nodes {\n"
          "    c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]);\n    n = batchNormalization(c, mean, variance);\n"
          "    r = relu(n);\n    e = conv2d(r, d, groups=32, padding=[1, 1, 1, 1]);\n    q = quantizeLinear(x, qs, qz);\n"
          "    t = dequantizeLinear(q, qs, qz);\n    j = dequantizeLinear(i, qs, iz);\n"
          "    k = conv2d(t, j, padding=[1, 1, 1, 1]);\n    s = add(e, k);\n"
          "    h = clamp(s, minValue=0, maxValue=6);\n    g = averagePool2d(h);\n    v = reshape(g, [1, 32]);\n"
          "    p = matmul(v, f);\n    y = softmax(p, 1);\n  }\n  outputs { y; }\n}\n",
          out);
}

/* Recurrent operators, one as a loop and one step as nodes, and contractions that a context may compute in bfloat16. */
static void write_recurrent(FILE *out)
{
    fputs("webnn_graph \"recurrent\" v1 {\n  inputs { x: f32[5, 2, 64]; h: f32[2, 8]; }\n  consts {\n", out);
    write_constant(out, "w", "1, 48, 64", 48 * 64, 0.2);
    write_constant(out, "r", "1, 48, 16", 48 * 16, 0.2);
    write_constant(out, "cw", "24, 16", 24 * 16, 0.3);
    write_constant(out, "cr", "24, 8", 24 * 8, 0.3);
    write_constant(out, "m", "8, 64", 8 * 64, 0.3);
    write_constant(out, "k", "64, 64", 64 * 64, 0.2);
    fputs("  }\n  nodes {\n    g = gru(x, w, r, 5, 16);\n    t = reshape(g, [2, 16]);\n    u = gruCell(t, cw, cr, h, 8);\n"
          "    o = matmul(u, m);\n    q = tanh(o);\n    z = matmul(q, k);\n    y = sigmoid(z);\n  }\n  outputs { y; }\n}\n",
          out);
}

/* ---- dumps ---- */

/* Fails unless every stage of the network computes its output y, each within the tolerance of the network itself. */
static void check_stages(void (*write)(FILE *out), const char *options, const char *tolerance, unsigned stages_at_least)
{
    FILE *out = fopen("net.webnn", "w");
    unsigned stages = 0;
    glob_t found;

    assert_non_null(out);
    write(out);
    assert_int_equal(fclose(out), 0);
    run("rm -rf dump && mkdir dump");
    runs(0, "", WEBNN_RUN " net.webnn --random 5 --quiet --output expected.npz");
    runs(0, "", WEBNN_RUN " net.webnn --random 5 --quiet %s,print-after-all,dump=dump", options);
    assert_int_equal(glob("dump/*.webnn", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];

        if (strncmp(path, "dump/graph0-", 12)) { /* the body of a loop: inputs of its own */
            if (run(WEBNN_RUN " %s --random 5 --quiet", path))
                fail_msg("%s: %s", path, printed);
            continue;
        }
        stages++;
        if (run(WEBNN_RUN " %s --random 5 --quiet --compare y=expected.npz %s", path, tolerance))
            fail_msg("%s: %s", path, printed);
    }
    globfree(&found);
    if (stages < stages_at_least)
        fail_msg("%u stages, at least %u expected", stages, stages_at_least);
    /* Data that are not the graph's are noticed: the comparison above is no empty one. */
    runs(1, "", WEBNN_RUN " net.webnn --random 6 --quiet --compare y=expected.npz %s", tolerance);
}

/* Convolutions are transformed for the caches of a processor, and on no device. */
TEST(stages_of_convolutions_read_back)
{
    check_stages(write_convolutions, "--engine cpu --debug isa=avx2,prefer-winograd", "--atol 1e-5 --rtol 1e-4", 6);
    runs(0, "", "test `grep '@winograd(' dump/*finish-clusters.webnn | wc -l` = 2");
    runs(0, "", "grep -q '@kernel(' dump/*finish-clusters.webnn");
    runs(0, "", "test -s dump/graph0-*-finish-clusters.safetensors");
    check_stages(write_convolutions, "--engine cpu --debug no-library,isa=baseline", "--atol 1e-5 --rtol 1e-4", 6);
}

TEST(stages_of_recurrent_networks_read_back)
{
    check_stages(write_recurrent, "--debug isa=native", "--atol 1e-5 --rtol 1e-4", 4);
    runs(0, "", "grep -q '@loop(' dump/*.webnn");
    check_stages(write_recurrent, "--precision bf16 --debug prefer-bfloat16,bfloat16-rate=8", "--atol 1e-5 --rtol 1e-4", 4);
}

/* Marks are read wherever the textual form has them, and anything else is refused with its place. */
TEST(marks_are_read_or_refused)
{
    write_text("m.webnn",
               "webnn_graph \"m\" v1 { inputs { x: f32[2]; } consts { k: f64[2] @bytes([0, 0, 0, 0, 0, 0, 240, 63, 0, "
               "0, 0, 0, 0, 0, 0, 64]); l: bf16[2] @bytes([128, 63, 0, 64]); } nodes { a = cast(x, \"float64\") "
               "@kernel(0); b = add(a, k) @kernel(0); c = cast(b, bf16); y = mul(c, l) @view(3) @kernel(1); } outputs "
               "{ y; } }");
    runs(0, "1 4", WEBNN_RUN " m.webnn");
    write_text("m.webnn", "webnn_graph \"m\" v1 { inputs { x: f32[2]; } nodes { y = neg(x) @chip(0); } outputs { y; } }");
    runs(1, "1:64: kernel, library, loop, view or winograd expected", WEBNN_RUN " m.webnn");
    write_text("m.webnn", "webnn_graph \"m\" v1 { inputs { x: f32[2]; } nodes { y = neg(x) @kernel(x); } outputs { y; } }");
    runs(1, "a number expected", WEBNN_RUN " m.webnn");
}

TEST_GROUP(enter_folder, leave_folder)
