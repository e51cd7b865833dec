/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parser of our own textual form: what it reads verifies, and prints as text that reads as a graph that prints the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "ir/graph/ir.h"
#include "ir/text/text.h"

void fuzz_seeds(void)
{
    static const char *const seeds[] = {
        "webnn_graph \"a\" v1 { inputs { x: f32[1, 3, 8, 8]; } consts { w: f32[4, 3, 3, 3] @scalar(0.1); }\n"
        " nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]) @library(0); y = relu(c) @library(0); z = reshape(y, [4, 64]) "
        "@view(1);\n"
        " s = softmax(z, 1) @kernel(2); } outputs { s; } }",
        "webnn_graph \"b\" v1 { inputs { x: i64[2]; } consts { k: i64[2] @values([1, [-2]]); u: u8[3] @bytes([1, 2, 3]); }\n"
        " nodes { y = add(x, k); z = clamp(y, minValue=-6, maxValue=18446744073709551615); t = cast(z, float16); } outputs { a "
        "= t; } }",
        "webnn_graph \"c\" v1 { inputs { x: f32[3, 1, 2]; } consts { w: f32[1, 8, 2] @scalar(NaN); r: f32[1, 8, 2] "
        "@scalar(-0); }\n"
        " nodes { [h, c, s] = lstm(x, w, r, 3, 2, returnSequence=true, direction=\"backward\") @loop(0); } outputs { h; s; } }",
    };

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        fuzz_seed(seeds[i], strlen(seeds[i]));
}

static char *print(const struct graph *g)
{
    static const struct print_options options = {.clusters = true, .constants = true};
    size_t length = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        abort();
    graph_print(g, out, &options);
    fclose(out);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1), *text, *again;
    struct error e = {0};
    struct graph *g, *h;

    if (!copy)
        abort();
    memcpy(copy, data, size);
    g = graph_parse(copy, size, NULL, NULL, &e);
    free(copy);
    if (!g)
        return e.status == WNNStatus_Success ? abort(), 0 : 0;
    text = print(g);
    /* Marks may be anything; what nodes are is not. */
    memset(&e, 0, sizeof e);
    h = graph_parse(text, strlen(text), NULL, NULL, &e);
    again = h ? print(h) : NULL;
    if (!h || strcmp(text, again)) {
        fprintf(stderr, "%s\n%s----\n%s", e.message, text, again ? again : "");
        abort();
    }
    graph_free(h);
    graph_free(g);
    free(again);
    free(text);
    return 0;
}
