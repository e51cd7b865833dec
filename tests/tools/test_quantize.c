/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* --quantize-weights: webnn-run prints the error that it makes, and webnnc's object computes the same. */
#include "support/processor.h"
#include "tools/tool_support.h"

/* A chain of two matmuls with weights of 256 x 256; */
static void write_model(void)
{
    write_text("dense.webnn", "webnn_graph \"dense\" v1 { inputs { x: f32[1, 256]; } "
                              "consts { w: f32[256, 256] @scalar(0.013); b: f32[256] @scalar(0.5); } "
                              "nodes { h = matmul(x, w); s = add(h, b); t = tanh(s); y = matmul(t, w); } outputs { y; } }");
}

TEST(errors_are_printed)
{
    write_model();
    runs(0, "quantized 1 matrices, 0.26 MB, to 0.07 MB", "%s dense.webnn --random 1 --quantize-weights int8", WEBNN_RUN);
    assert_printed("y with quantized weights: largest error ");
    assert_printed("root mean square error ");
    assert_printed("largest element the same in ");
    runs(0, "quantized 1 matrices, 0.26 MB, to 0.04 MB",
         "%s dense.webnn --random 1 --quantize-weights int4 --precision int8 --quiet", WEBNN_RUN);
    /* The model is read twice, and both times its input is the file's. */
    runs(0, "", "%s dense.webnn --random 1 --quantize-weights int8 --quiet --output y=y.npy", WEBNN_RUN);
    runs(0, "y with quantized weights: largest error ", "%s dense.webnn --input x=y.npy --quantize-weights int8", WEBNN_RUN);
    write_text("small.webnn", "webnn_graph \"small\" v1 { inputs { x: f32[1, 4]; } consts { w: f32[4, 4] @scalar(1); } "
                              "nodes { y = matmul(x, w); } outputs { y; } }");
    runs(0, "no weights were quantized: no matmul has constant ones that are large enough",
         "%s small.webnn --quantize-weights int4", WEBNN_RUN);
}

TEST(a_precision_without_effect_is_noted)
{
    write_model();
    runs(0, "webnn-run: note: the requested precision has no effect: ",
         "%s dense.webnn --random 1 --precision int8 --engine cpu --debug isa=baseline", WEBNN_RUN);
}

TEST(wrong_formats_are_refused)
{
    write_model();
    runs(2, "--quantize-weights takes int8 or int4, not 'int2'", "%s dense.webnn --quantize-weights int2", WEBNN_RUN);
    runs(2, "--quantize-weights takes int8 or int4, not 'int2'", "%s dense.webnn -o dense.o --quantize-weights int2", WEBNNC);
    runs(1, "--quantize-weights: texts have the model's weights as they are",
         "%s dense.webnn -o dense.json --quantize-weights int8", WEBNNC);
}

/* The object, loaded as a graph, gives what webnn-run computes itself. */
TEST(objects_have_quantized_weights)
{
    static const char *const libraries[] = {"onednn", "none"};

    write_model();
    runs(0, "", "%s dense.webnn --random 1 --quantize-weights int4 --output y=want.npy --quiet", WEBNN_RUN);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        runs(0, "quantized 1 matrices, 0.26 MB, to 0.04 MB", "%s dense.webnn -o dense.so --library %s --quantize-weights int4",
             WEBNNC, libraries[i]);
        runs(0, "", "%s ./dense.so --random 1 --compare y=want.npy --atol 1e-5 --rtol 1e-5", WEBNN_RUN);
    }
    /* So do objects and saved graphs whose other operands are rounded, where processors multiply bytes. */
    runs(0, "",
         "%s dense.webnn --random 1 --quantize-weights int4 --precision int8 --output y=want.npy --quiet --save dense.wnn",
         WEBNN_RUN);
    runs(0, "", "%s dense.wnn --random 1 --compare y=want.npy --atol 0 --rtol 0", WEBNN_RUN);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && processor_multiplies_bytes(); i++) {
        runs(0, "", "%s dense.webnn -o dense.so --library %s --quantize-weights int4 --precision int8", WEBNNC, libraries[i]);
        runs(0, "", "%s ./dense.so --random 1 --compare y=want.npy --atol 1e-5 --rtol 1e-5", WEBNN_RUN);
    }
    runs(1, "--quantize-weights", "%s ./dense.so --quantize-weights int4", WEBNN_RUN);
}

TEST_GROUP(enter_folder, leave_folder)
