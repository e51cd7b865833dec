/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tiles of matrix instructions on the first OpenCL device, by functions that do what the instructions do
 * (support/emulated_matrix.h), against the reference interpreter: every form, every way in which operands come to local memory,
 * edges of rows, columns and sums, batches, transposed operands, convolutions, and what follows a sum.
 *
 * With the argument `shapes` only a few run, for Oclgrind.
 */
#include "support/emulated_matrix.h"
#include "support/help.h"
#include "support/matrix_cases.h"
#include "support/opencl.h"
#include "support/small_graphs.h"

/* Returns 1 if a case comes out right in a form, 0 if it does not, -1 if there is no such form. */
static int agrees(const struct matrix_case *c, uint32_t form)
{
    OWNED(graph) struct graph *g = parse_body(c->body);

    kernels_cluster_nodes(g, kernels_can_join_all(g, NULL));
    random_seed(42);
    opencl.choice.matrix_form = form;
    int good = kernels_check_graph(g, NULL, c->nasty, opencl_run) != 0;
    if (good && !opencl.last_matrix)
        good = -1;
    return good;
}

/* Tries the forms of a case from its first one on, or only that one.  Returns how many fail. */
static uint32_t failed_forms(const struct matrix_case *c, bool all)
{
    uint32_t failed = 0, form = c->form;
    int good = agrees(c, form);

    if (good < 0) {
        print_error("%s: there is no form %u of matrix instructions\n", c->name, form);
        return 1;
    }
    while (good >= 0) {
        if (!good)
            print_error("%s, form %u\n", c->name, form);
        failed += !good;
        form += c->step;
        good = all && c->step ? agrees(c, form) : -1;
    }
    return failed;
}

static void run_probe(cl_program program, const uint16_t in[OPENCL_PROBE_HALVES], float out[OPENCL_PROBE_SUMS])
{
    const size_t in_bytes = OPENCL_PROBE_HALVES * sizeof *in, out_bytes = OPENCL_PROBE_SUMS * sizeof *out, items = 32;
    const cl_ulong offset = 0;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "webnn_probe", &error);
    cl_mem from = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, in_bytes, NULL, &error);
    cl_mem to = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE, out_bytes, NULL, &error);

    assert_int_equal(clEnqueueWriteBuffer(opencl.queue, from, CL_TRUE, 0, in_bytes, in, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof from, &from), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof offset, &offset), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof to, &to), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 3, sizeof offset, &offset), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(opencl.queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(opencl.queue, to, CL_TRUE, 0, out_bytes, out, 0, NULL, NULL), CL_SUCCESS);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
}

/** The probe takes sums that are as exact as those of float32, and sees wrong results. */
TEST(probe_tells_what_is_exact)
{
    static const char *const chips[] = {"#define EMULATED_TERMS 8\n#define EMULATED_BITS 1\n", ""};
    uint16_t in[OPENCL_PROBE_HALVES];
    float out[OPENCL_PROBE_SUMS];
    char text[sizeof emulated_matrix + 4000];

    opencl_matrix_probe_fill(in);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s%s%s%s", chips[i], emulated_matrix, opencl_matrix_functions, opencl_matrix_probe);
        cl_program program = opencl_program(text);
        assert_non_null(program);
        run_probe(program, in, out);
        assert_int_equal(opencl_matrix_probe_right(out), i);
    }
    for (int j = 0; j < OPENCL_PROBE_SUMS; j++) {
        const float right = out[j];
        out[j] = right * 1.0001f + 0x1p-30f;
        assert_false(opencl_matrix_probe_right(out));
        out[j] = right;
    }
    memset(out, 0, sizeof out);
    assert_false(opencl_matrix_probe_right(out));
}

static void become_chip(void)
{
    opencl.facts = matrix_facts();
    opencl.before = emulated_matrix;
}

TEST(forms_agree)
{
    uint32_t failed = 0;

    become_chip();
    for (uint32_t j = 0; j < MATRIX_CASES; j++)
        failed += failed_forms(&matrix_cases[j], true);
    assert_int_equal(failed, 0);
}

static int shapes(void)
{
    int result = 0;

    become_chip();
    for (uint32_t i = 0; i < MATRIX_CASES; i++)
        if (matrix_cases[i].brief)
            result |= failed_forms(&matrix_cases[i], false) != 0;
    return result;
}

PROGRAM_HELP("usage: test-opencl-matrix [shapes]   run all tiles of matrices, or the small ones in every form\n")
int main(int argc, char **argv)
{
    return opencl_main(argc, argv, shapes);
}
