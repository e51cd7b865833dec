/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reader of `.webnn` text, and the states that webnn-run --state finds by the names of its inputs and outputs. */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/text/write.h"
#include "frontend/tools/webnn_run.h"
#include "fuzz/fuzz.h"

static const char *const seeds[] = {
    ("webnn_graph \"a\" v1 { inputs { x: f32[1, 4]; } consts { w: f32[4, 2] @scalar(0.5); b: f32[2] @values([1, -2e3]); }\n"
     " nodes { y = gemm(x, w, c=b, alpha=0.5, label=\"l\"); [p, q] = split(y, 2, axis=1); z = concat([p, q], 1); } outputs { "
     "z; p, q; } }"),
    ("webnn_graph \"b\" v2 @quantized { inputs { x: u8[2, 3]; } consts { s: f32[1, 1] @bytes([0,0,128,63]); z: u8[1, 1] "
     "@scalar(128); }\n"
     " nodes { y = dequantizeLinear(x, s, z); w = clamp(y, minValue=-Infinity, maxValue=6.0); v = softmax(w, axis=1); } } "
     "outputs { v }"),
    ("webnn_graph \"c\" v1 { inputs { \"an input\": f16[1, 3, 8, 8]; } consts { f: f16[4, 3, 3, 3] @scalar(-0.0); } # comment\n"
     " nodes { c = conv2d(\"an input\", f, padding=[1, 1, 1, 1], strides=[2, 2]); r = relu(c); t = transpose(r, "
     "permutation=[0, "
     "2, 3, 1]);\n"
     " a = averagePool2d(t, layout=\"nhwc\", windowDimensions=[2, 2]); k = cast(a, \"int64\"); s = reshape(k, [4, 4]); }\n"
     " outputs { \"an output\" = s; t; } }"),
    ("webnn_graph \"d\" v2 { inputs { x: f32[dyn(\"batch\", 8), 4]; } nodes { y = concat(x, x, axis=0); } outputs { y; } }"),
    ("webnn_graph \"e\" v1 { inputs { x: f32[3, 1, 2]; } consts { w: f32[1, 6, 2] @scalar(1); r: f32[1, 6, 2] @scalar(1); }\n"
     " nodes { [h, s] = gru(x, w, r, 3, 2, returnSequence=true, activations=[\"sigmoid\", \"tanh\"]); } outputs { h; s; } }"),
    ("webnn_graph \"d\" v2 { inputs { x: f32[2, 3]; c: f32[3]; } // other tools\n nodes { a = slice(x, starts=[0], ends=[-1], "
     "axes=[-1], steps=[1]); b = unsqueeze(a, axes=[0, -1]); d = squeeze(b, axes=[0]); e = reshape(d, axes=[3]); f = cast(e, "
     "to=\"Int32\"); g = gemm(x, x, c=1, aTranspose=true, alpha=\"0.5\"); h = layerNormalization(x, c, c, bias=1, axes=[1]); "
     "i = triangular(x, k=-1); j = softmax(i, axis=-1); k = transpose(j, permutation=[], label=\"\"); } outputs { f; g; h; k; "
     "} }"),
    "webnn_graph \"s\" v1 { inputs { a.old: f32[2]; b.old: f32[2]; } nodes { a.new = neg(a.old); b.new = abs(b.old); } outputs "
    "{ a.new; b.new; } }\1*.old=*.new",
    ("webnn_graph \"f\" v1 { consts { w: f32[2] @weights(\"key\"); n: i64[2] @values([9223372036854775807, -1]); } }"),
};

void fuzz_seeds(void)
{
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        fuzz_seed(seeds[i], strlen(seeds[i]));
}

/** Stands for that of the tools, which prints. */
bool complain(const char *format, ...)
{
    return false;
}

/** Finds the states of INPUT=OUTPUT, and gives them to the builder. */
static void find_states(const char *text, size_t length, struct argument_pair pair)
{
    const struct run_options o = {.states = {1, &pair}};
    struct run_states states = {0};
    struct error e = {0};
    struct model m = {0};

    if (model_read_text(fuzz_context(), "/nowhere/fuzz", text, length, NULL, &m, &e) && states_find(&o, &m, &states) &&
        !wnnGraphBuilderSetStates(m.builder, states.count, states.items))
        graph_free(model_take_graph(&m, &e));
    free(states.items);
    model_free(&m);
}

/** A text, and, after a byte of 1, INPUT=OUTPUT. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, 1, size);
    char *input = end ? strndup((const char *)end + 1, size - (size_t)(end - data) - 1) : NULL;
    char *output = input ? strchr(input, '=') : NULL;

    if (output) {
        *output = '\0';
        find_states((const char *)data, (size_t)(end - data), (struct argument_pair){input, output + 1});
    }
    free(input);
    fuzz_model(model_read_text, data, size);
    fuzz_description(model_describe_text, data, size);
    return 0;
}
