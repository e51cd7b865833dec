/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tiles of matrix instructions on the first OpenCL device, by functions that do what the instructions do
 * (support/emulated_matrix.h), against the reference interpreter: every form, every way in which operands come to local memory,
 * edges of rows, columns and sums, batches, transposed operands, convolutions, and what follows a sum.
 */
#include "support/emulated_matrix.h"
#include "support/opencl.h"
#include "support/small_graphs.h"

enum { FORMS_MOST = 64 };

/** Says what a chip's sums are like. */
struct chip {
    const char *name, *before;
    double error;
};

#define CHIP(terms, bits) "#define EMULATED_TERMS " #terms "\n#define EMULATED_BITS " #bits "\n"
static const struct chip chips[] = {{"sums of 16 with 2 bits more", CHIP(16, 2), 1},
                                    {"sums of 8 with 1 bit more", CHIP(8, 1), 1.5}};

static struct matrix_case {
    const char *name, *body;
    uint32_t form; /* that is tried, from 1; 0: all */
    bool nasty;
} const cases[] = {
    {"all edges, an epilogue, a residual",
     "inputs { a: f16[70, 56]; b: f16[56, 90]; c: f16[90]; r: f16[70, 90]; } nodes { d = matmul(a, b); e = add(d, c); f = "
     "sigmoid(e); y = add(f, r); } outputs { y; }",
     0, false},
    {"neighbours along columns", "inputs { a: f16[70, 48]; b: f16[48, 136]; } nodes { y = matmul(a, b); } outputs { y; }", 0,
     false},
    {"both operands transposed",
     "inputs { a: f16[56, 72]; b: f16[88, 56]; c: f16[72, 1]; } nodes { y = gemm(a, b, c=c, aTranspose=true, bTranspose=true, "
     "alpha=0.5); } outputs { y; }",
     0, false},
    {"batches", "inputs { a: f16[3, 33, 56]; b: f16[3, 56, 50]; } nodes { y = matmul(a, b); } outputs { y; }", 6, false},
    {"one matrix for all batches", "inputs { a: f16[3, 17, 56]; b: f16[56, 24]; } nodes { y = matmul(a, b); } outputs { y; }",
     9, false},
    {"long sums", "inputs { a: f16[20, 1000]; b: f16[1000, 24]; } nodes { y = matmul(a, b); } outputs { y; }", 10, false},
    {"numbers that are not finite", "inputs { a: f16[20, 64]; b: f16[64, 24]; } nodes { y = matmul(a, b); } outputs { y; }", 9,
     true},
    {"small whole numbers",
     "inputs { a: i8[20, 64]; b: u8[64, 24]; } nodes { c = cast(a, float16); d = cast(b, float16); y = matmul(c, d); } outputs "
     "{ y; }",
     9, false},
    {"convolution in nhwc",
     "inputs { x: f16[2, 9, 7, 16]; w: f16[3, 2, 16, 24]; b: f16[24]; } nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 0], "
     "strides=[2, 1], dilations=[1, 2], inputLayout=\"nhwc\", filterLayout=\"hwio\"); y = relu(c); } outputs { y; }",
     6, false},
    {"convolution in nhwc of three channels",
     "inputs { x: f16[1, 9, 9, 3]; w: f16[13, 5, 5, 3]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], strides=[2, 2], "
     "inputLayout=\"nhwc\", filterLayout=\"ohwi\"); } outputs { y; }",
     9, false},
    {"convolution in nchw",
     "inputs { x: f16[2, 6, 7, 11]; w: f16[20, 6, 3, 3]; b: f16[20]; } nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 0], "
     "strides=[1, 2]); y = relu(c); } outputs { y; }",
     6, false},
    {"convolution 1x1 in nchw",
     "inputs { x: f16[1, 56, 8, 10]; w: f16[20, 56, 1, 1]; } nodes { y = conv2d(x, w); } outputs { y; }", 6, false},
    {"convolution of groups",
     "inputs { x: f16[1, 5, 5, 32]; w: f16[3, 3, 16, 40]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=2, "
     "inputLayout=\"nhwc\", filterLayout=\"hwio\"); } outputs { y; }",
     9, false},
    {"transposed convolution",
     "inputs { x: f16[1, 4, 5, 16]; w: f16[3, 3, 9, 16]; } nodes { y = convTranspose2d(x, w, strides=[2, 2], padding=[1, 0, 1, "
     "0], inputLayout=\"nhwc\", filterLayout=\"hwoi\"); } outputs { y; }",
     9, false},
};

/* Returns 1 if a case comes out right in a form, 0 if it does not, -1 if there is no such form. */
static int agrees(const struct matrix_case *c, uint32_t form)
{
    struct graph *g = parse_body(c->body);
    int good;

    kernels_cluster_nodes(g, kernels_can_join_all(g, NULL));
    kernels_state = 42;
    opencl.choice.matrix_form = form;
    good = kernels_check_graph(g, NULL, c->nasty, opencl_run) != 0;
    if (good && !opencl.last_matrix)
        good = -1;
    graph_free(g);
    return good;
}

static uint32_t failed_cases(void)
{
    uint32_t failed = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t forms = 0;
        for (uint32_t form = cases[i].form ? cases[i].form : 1; form <= (cases[i].form ? cases[i].form : FORMS_MOST); form++) {
            const int good = agrees(&cases[i], form);
            if (good < 0)
                break;
            forms++;
            if (!good) {
                print_error("%s, form %u\n", cases[i].name, form);
                failed++;
            }
        }
        if (!forms) {
            print_error("%s: there are no matrix instructions\n", cases[i].name);
            failed++;
        }
    }
    return failed;
}

static void forms_agree(void **state)
{
    char before[sizeof emulated_matrix + 100];
    uint32_t failed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        opencl.facts = *target_gpu_facts(false);
        opencl.facts.local_bytes = 48 << 10;
        opencl.facts.matrix.items = 32;
        opencl.facts.matrix.error = chips[i].error;
        snprintf(before, sizeof before, "%s%s", chips[i].before, emulated_matrix);
        opencl.before = before;
        const uint32_t more = failed_cases();
        if (more)
            print_error("%s: %u failed\n", chips[i].name, more);
        failed += more;
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_agree)};
    int result;

    if (!opencl_start()) {
        puts("skipped: there is no OpenCL device");
        return 77;
    }
    result = cmocka_run_group_tests(tests, NULL, NULL);
    opencl_end();
    return result;
}
