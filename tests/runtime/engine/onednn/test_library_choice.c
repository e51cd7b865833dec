/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which contractions the library is given: those that it computes (nearly) as fast as generated kernels do, by the prices of
 * ir/target/prices.h.
 */
#include "runtime/engine/onednn/library_support.h"

/* Whether the library is given the first node, which it takes; ends the subject. */
static bool wants_first(struct library *l, struct subject *s)
{
    assert_true(library_takes_node(l, s->nodes[0]));
    const bool wants = library_wants_node(l, s->nodes[0]);
    subject_end(s);
    return wants;
}

static bool wanted(struct library *l, bool constant, bool transposed, uint32_t rows, uint32_t inner, uint32_t columns)
{
    const WNNGemmOptions options = {.alpha = 1, .beta = 1, .bTranspose = transposed};
    const uint32_t b[] = {inner, columns};
    struct subject s = subject_begin();

    apply(&s, OP_GEMM, &options, OPERAND(&s, false, rows, inner), OPERAND(&s, constant, b[transposed], b[!transposed]), NULL);
    return wants_first(l, &s);
}

static void compare_kind(uint32_t vector_bits, bool full)
{
    library_compare(
        library, &(struct target){
                     .isa.vector_bits = vector_bits, .cache_bytes = 1 << 20, .full_rate = full, .thread_count = TEST_THREADS});
}

static bool wants_convolution(uint32_t size, uint32_t inputs, uint32_t results, uint32_t window, uint32_t groups)
{
    WNNConv2dOptions options = WNN_CONV2D_OPTIONS_INIT;

    options.groups = groups;
    struct subject s = subject_begin();
    apply(&s, OP_CONV2D, &options, OPERAND(&s, false, 1, inputs, size, size),
          OPERAND(&s, true, results, inputs / groups, window, window), NULL);
    return wants_first(library, &s);
}

/* Contractions of the benchmark networks, and which of library and kernel each kind of machine takes for them: with two units
 * for multiply-adds of 512 bits, with one, and with vectors of 256 bits. */
TEST(choices_are_those_of_the_prices)
{
    enum { COMPUTED = 1000 };
    static const struct {
        const char *chosen; /* L: the library, k: a kernel */
        /* Rows, inner dimension and columns of a matmul, whose columns may be COMPUTED; rows (and columns) of pixels, input and
         * output channels, and rows of the window of a convolution. */
        uint32_t sizes[4];
    } cases[] = {{"kLk", {128, 768, 768}},
                 {"kLk", {128, 768, 3072}},
                 {"kLk", {128, 3072, 768}},
                 {"kLk", {1500, 384, 1536}},
                 {"kLk", {512, 512, 512}},
                 {"kLk", {2048, 512, 512}},
                 {"kkk", {1, 2048, 1000}},
                 {"kkk", {1, 1024, 1024}},
                 {"kkk", {2, 2048, 1000}},
                 {"LLL", {2, 2048, 1009}},
                 {"kkk", {4, 16, 16}},
                 {"kkk", {50, 42, 24}},
                 {"kkk", {2, 16, 16, COMPUTED}},
                 {"LLL", {1, 1024, 1024, COMPUTED}},
                 {"LLL", {128, 128, 128, COMPUTED}},
                 {"kLk", {56, 64, 256, 1}},
                 {"kLk", {14, 1024, 256, 1}},
                 {"kLk", {7, 2048, 512, 1}},
                 {"kLk", {7, 160, 960, 1}},
                 {"kLk", {9, 512, 512, 3}},
                 {"LLk", {58, 64, 64, 3}},
                 {"LLk", {229, 3, 64, 7}},
                 {"LLk", {226, 3, 32, 3}},
                 {"LLk", {130, 64, 3, 3}}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t kind = 0; kind < 3; kind++) {
            const uint32_t *n = cases[i].sizes;

            compare_kind(kind < 2 ? 512 : 256, !kind);
            const bool wants = n[3] % COMPUTED ? wants_convolution(n[0], n[1], n[2], n[3], 1)
                                               : wanted(library, !n[3], false, n[0], n[1], n[2]);
            if (wants != (cases[i].chosen[kind] == 'L'))
                fail_msg("case %zu, machine %u: the library is %sgiven it", i, kind, wants ? "" : "not ");
        }
    /* groups are contractions of their own */
    compare_kind(512, true);
    assert_true(wants_convolution(7, 1024, 1024, 1, 2));
    compare_kind(256, false);
    assert_true(wanted(library, false, true, 128, 512, 512) && !wanted(library, false, false, 128, 512, 512));
    assert_true(!wants_convolution(16, 256, 256, 3, 64) && !wants_convolution(16, 256, 256, 1, 64));
}

TEST(many_small_contractions_are_kernels)
{
    struct subject s = subject_begin();

    apply(&s, OP_MATMUL, NULL, OPERAND(&s, false, 16, 1, 64), OPERAND(&s, false, 16, 64, 1), NULL);
    assert_false(library_wants_node(library, s.nodes[0]));
    subject_end(&s);
    s = subject_begin();
    apply(&s, OP_MATMUL, NULL, OPERAND(&s, false, 12, 128, 64), OPERAND(&s, false, 12, 64, 128), NULL);
    assert_true(wants_first(library, &s));
}

/* What nothing is compared with, the library is given, and so are convolutions. */
TEST(the_library_gets_what_nothing_is_compared_with)
{
    struct library *l = library_create(test_isa(), 1, NULL, &(struct error){0});
    WNNConv2dOptions options = WNN_CONV2D_OPTIONS_INIT;

    assert_non_null(l);
    assert_true(wanted(l, true, false, 1, 1024, 1024));
    assert_true(wanted(l, false, false, 2, 16, 16));
    struct subject s = subject_begin();
    apply(&s, OP_CONV2D, &options, OPERAND(&s, false, 1, 16, 8, 8), OPERAND(&s, true, 16, 16, 1, 1), NULL);
    assert_true(wants_first(l, &s));
    library_free(l);
}

/* Of a row, with padding as wide as the filter allows: what the library does with matrices of one row. */
static bool wants_filter(uint32_t results, uint32_t inputs, uint32_t width, uint32_t padding)
{
    WNNConv2dOptions options = WNN_CONV2D_OPTIONS_INIT;
    const uint32_t pads[4] = {0, 0, padding, padding};

    options.paddingCount = 4;
    options.padding = pads;
    struct subject s = subject_begin();
    apply(&s, OP_CONV2D, &options, OPERAND(&s, false, 1, inputs, 1, 4000), OPERAND(&s, true, results, inputs, 1, width), NULL);
    return wants_first(library, &s);
}

TEST(long_filters_are_chosen_by_cost)
{
    assert_true(!wants_filter(64, 1, 31, 15) && !wants_filter(64, 3, 16, 7));
    assert_true(wants_filter(64, 1, 31, 0) && wants_filter(64, 1, 9, 4) && wants_filter(64, 16, 31, 15));
    assert_true(!wants_filter(8, 1, 9, 4) && wants_filter(8, 1, 5, 2));

    struct subject s = subject_begin(); /* with tables of all elements of the window */
    apply(&s, OP_CONV2D, &WNN_CONV2D_OPTIONS_INIT, OPERAND(&s, false, 1, 1, 9, 1 << 16), OPERAND(&s, true, 1, 1, 2, 1 << 16),
          NULL);
    assert_false(library_takes_node(library, s.nodes[0]));
    subject_end(&s);
}

static bool wants_transposed(bool constant, uint32_t groups)
{
    WNNConvTranspose2dOptions options = WNN_CONV_TRANSPOSE2D_OPTIONS_INIT;
    const uint32_t strides[2] = {2, 2};

    options.stridesCount = 2;
    options.strides = strides;
    options.groups = groups;
    struct subject s = subject_begin();
    apply(&s, OP_CONV_TRANSPOSE2D, &options, OPERAND(&s, false, 1, 32, 16, 16), OPERAND(&s, constant, 32, 32 / groups, 2, 2),
          NULL);
    return wants_first(library, &s);
}

TEST(transposed_convolutions_are_chosen_by_cost)
{
    assert_false(wants_transposed(true, 1));
    assert_true(wants_transposed(false, 1));
    assert_true(wants_transposed(true, 2));
}

/* matmul(x, transpose(y)), the heads of a row next to each other: whether the library reads y by strides. */
static bool takes_heads(void)
{
    const uint32_t permutation[] = {1, 2, 0};
    WNNTransposeOptions options = WNN_TRANSPOSE_OPTIONS_INIT;

    options.permutation = permutation;
    options.permutationCount = 3;
    SCOPED(subject_end) struct subject s = subject_begin();
    struct value *y = apply(&s, OP_TRANSPOSE, &options, OPERAND(&s, false, 128, 12, 64), NULL, NULL);
    apply(&s, OP_MATMUL, NULL, OPERAND(&s, false, 12, 128, 64), y, NULL);
    bool takes = library_takes_operand(library, s.nodes[1], 1, s.nodes, 1);
    return takes;
}

TEST(strided_heads_are_chosen_by_cost)
{
    compare_kind(512, false);
    assert_true(takes_heads());
    compare_kind(512, true);
    /* AVX-512: dense batches do not go to gemm, and in oneDNN 3 strided ones do not either. */
    assert_int_equal(takes_heads(), DNNL_VERSION_MAJOR >= 3 || !convolutions_sum_in_place());
}

static int compare(void **state)
{
    compare_kind(512, false);
    return 0;
}

TEST_EACH(compare, NULL)

int main(int argc, char **argv)
{
    return main_library(argv);
}
