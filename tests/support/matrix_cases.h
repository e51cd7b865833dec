/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Graphs for tests of tiles of matrix instructions: every way in which operands come to local memory, edges of rows, columns
 * and sums, batches, convolutions, and what follows a sum.
 */
#pragma once

#include "ir/target/target.h"
#include "support/graphs.h"

/** A graph whose only contraction is tried by matrix instructions, in a form and in all forms that are `step` further on (0: in
 * no others). */
struct matrix_case {
    const char *name, *body;
    uint32_t form, step;
    bool nasty; /* numbers that are not finite are among the inputs */
    bool brief; /* runs under Oclgrind, too */
};

static const struct matrix_case matrix_cases[] = {
    {"all edges, an epilogue, a residual",
     "inputs { a: f16[70, 56]; b: f16[56, 88]; c: f16[88]; r: f16[70, 88]; } nodes { d = matmul(a, b); e = add(d, c); f = "
     "sigmoid(e); y = add(f, r); } outputs { y; }",
     1, 1, false, false},
    {"neighbours along columns", "inputs { a: f16[70, 48]; b: f16[48, 136]; } nodes { y = matmul(a, b); } outputs { y; }", 1, 3,
     false, false},
    {"both operands transposed",
     "inputs { a: f16[56, 72]; b: f16[88, 56]; c: f16[72, 1]; } nodes { y = gemm(a, b, c=c, aTranspose=true, bTranspose=true, "
     "alpha=0.5); } outputs { y; }",
     2, 2, false, false},
    {"batches", "inputs { a: f16[3, 33, 56]; b: f16[3, 56, 48]; } nodes { y = matmul(a, b); } outputs { y; }", 3, 0, false,
     false},
    {"one matrix for all batches", "inputs { a: f16[3, 17, 56]; b: f16[56, 24]; } nodes { y = matmul(a, b); } outputs { y; }",
     4, 0, false, false},
    {"long sums", "inputs { a: f16[20, 1000]; b: f16[1000, 24]; } nodes { y = matmul(a, b); } outputs { y; }", 4, 0, false,
     false},
    {"numbers that are not finite", "inputs { a: f16[20, 64]; b: f16[64, 24]; } nodes { y = matmul(a, b); } outputs { y; }", 4,
     0, true, true},
    {"convolution in nhwc",
     "inputs { x: f16[2, 9, 7, 16]; w: f16[3, 2, 16, 24]; b: f16[24]; } nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 0], "
     "strides=[2, 1], dilations=[1, 2], inputLayout=\"nhwc\", filterLayout=\"hwio\"); y = relu(c); } outputs { y; }",
     2, 0, false, false},
    {"convolution 1x1 in nchw",
     "inputs { x: f16[1, 56, 8, 8]; w: f16[20, 56, 1, 1]; } nodes { y = conv2d(x, w); } outputs { y; }", 4, 0, false, false},
    {"convolution of groups",
     "inputs { x: f16[1, 5, 5, 32]; w: f16[3, 3, 16, 48]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=2, "
     "inputLayout=\"nhwc\", filterLayout=\"hwio\"); } outputs { y; }",
     4, 0, false, false},
    {"transposed convolution",
     "inputs { x: f16[1, 4, 5, 16]; w: f16[3, 3, 9, 16]; } nodes { y = convTranspose2d(x, w, strides=[2, 2], padding=[1, 0, 1, "
     "0], inputLayout=\"nhwc\", filterLayout=\"hwoi\"); } outputs { y; }",
     3, 0, false, false},
};

enum { MATRIX_CASES = sizeof matrix_cases / sizeof *matrix_cases };

/** Returns a GPU with matrix instructions. */
GRAPHS_UNUSED static struct gpu_facts matrix_facts(void)
{
    struct gpu_facts facts = *target_gpu_facts(false);

    facts.local_bytes = 48 << 10;
    facts.matrix_items = 32;
    return facts;
}
