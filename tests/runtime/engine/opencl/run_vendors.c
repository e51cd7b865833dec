/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * OpenCL without a loader: vendors' libraries that are opened directly (runtime/engine/opencl/opencl_vendors.c).
 *
 *   test-opencl-vendors network|empty|lacking
 *
 * OpenCL is loaded once for each process, so that each is a test of its own:
 *
 *   network  there is no loader; of three vendors the first is not there, the second has a device without a compiler and the
 * third is PoCL, which computes a network empty    the system's loader finds no platform (OCL_ICD_VENDORS names an empty
 * folder), and PoCL is opened all the same lacking  every library lacks something, and the message says what
 */
#include <dlfcn.h>
#include <math.h>

#include "runtime/api/runtime.h"
#include "runtime/engine/opencl/opencl_api.h"
#include "support/graphs.h"
#include "support/help.h"

#define POCL "libpocl.so.2"
#define VENDOR "./libfake_vendor_" /* in the working directory */
#define BROKEN "./libbroken_vendor.so"

enum { N = 64, DIFFERENT = 3 /* numbers between two neighbouring floats count as one */ };

/* Softmax sums, transposes move and matmul multiplies, so that kernels of several shapes run. */
static const char body[] =
    "inputs { x: f32[8, 8]; } nodes { m = matmul(x, x); s = softmax(m, 1); t = transpose(s, permutation=[1, 0]); e = exp(x); "
    "y = add(t, e); } outputs { y; }";

static WNNStatus open_context(WNNEngine engine, const char *device, WNNContext *context)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.engine = engine;
    o.device = WNN_STR(device);
    return wnnCreateContext(&o, context);
}

static void compute(WNNContext context, const float *x, float *y)
{
    WNNGraph graph = NULL;

    assert_done(!runtime_build(context, parse_body(body), &graph, &e));
    WNNNamedBuffer from = {WNN_STR("x"), (void *)x, N * sizeof *x}, to = {WNN_STR("y"), y, N * sizeof *y};
    assert_int_equal(wnnGraphCompute(graph, 1, &from, 1, &to), WNNStatus_Success);
    wnnGraphRelease(graph);
}

/* Computes on PoCL and on the engine for processors, of the same numbers. */
static void assert_pocl_computes(const char *device)
{
    WNNContext gpu = NULL, cpu = NULL;
    float x[N], got[N], wanted[N];
    WNNDeviceInfo info;

    assert_success(open_context(WNNEngine_Gpu, device, &gpu));
    assert_true(wnnContextGetDevice(gpu, &info));
    assert_string_equal(info.platform, "Portable Computing Language");
    assert_int_equal(open_context(WNNEngine_Cpu, "", &cpu), WNNStatus_Success);
    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 7) % 13) / 13;
    compute(gpu, x, got);
    compute(cpu, x, wanted);
    for (int i = 0; i < N; i++)
        if (!(fabsf(got[i] - wanted[i]) <= DIFFERENT * 0x1p-23f * fabsf(wanted[i])))
            fail_msg("element %d is %.9g and should be %.9g", i, (double)got[i], (double)wanted[i]);
    wnnContextRelease(gpu);
    wnnContextRelease(cpu);
}

static void a_network_runs_without_a_loader(void **state)
{
    static const char *const vendors[] = {"libNoSuchVendor.so.1", VENDOR "0.so", POCL, NULL};
    WNNContext context;
    WNNDeviceInfo info;

    opencl_api_set_library("libNoSuchOpenCL.so.1");
    opencl_api_set_vendors(vendors);
    assert_true(wnnGetDevice(0, &info));
    assert_string_equal(info.name, "fake vendor's");
    assert_string_equal(info.lacks, "it has no compiler");
    assert_true(wnnGetDevice(1, &info));
    assert_string_equal(info.lacks, "");
    assert_false(wnnGetDevice(2, &info));
    assert_int_equal(open_context(WNNEngine_Gpu, "fake", &context), WNNStatus_NotSupportedError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "fake vendor's cannot run generated kernels: it has no compiler"));
    assert_false(opencl_api_is_the_systems());
    assert_pocl_computes("1");
}

static void a_loader_without_platforms_is_passed_by(void **state)
{
    static const char *const vendors[] = {POCL, NULL};

    opencl_api_set_vendors(vendors);
    assert_pocl_computes("");
    assert_false(opencl_api_is_the_systems());
    assert_string_equal(opencl_api_lacks(), "libOpenCL.so.1 has no platform");
}

static void a_message_says_what_every_library_lacks(void **state)
{
    static const char *const vendors[] = {"libNoSuchVendor.so.1", VENDOR "1.so", VENDOR "2.so", VENDOR "3.so",
                                          VENDOR "4.so",          BROKEN,        NULL};
    static const char *const said[] = {"there is no OpenCL: libNoSuchOpenCL.so.1 cannot be loaded, ",
                                       VENDOR "1.so lacks clIcdGetPlatformIDsKHR, ",
                                       VENDOR "2.so has no platform (CL_PLATFORM_NOT_FOUND_KHR), ",
                                       "the platform of " VENDOR "3.so lacks clFinish, ",
                                       "the platform of " VENDOR
                                       "4.so has another version than OpenCL 1.2 or newer (OpenCL 1.1 fake), ",
                                       BROKEN ": file too short, ",
                                       "and there is no libNoSuchVendor.so.1; install an OpenCL loader"};
    WNNContext context;
    WNNDeviceInfo info;

    opencl_api_set_library("libNoSuchOpenCL.so.1");
    opencl_api_set_vendors(vendors);
    assert_false(wnnGetDevice(0, &info));
    assert_int_equal(open_context(WNNEngine_Gpu, "", &context), WNNStatus_NotSupportedError);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(wnnGetLastErrorMessage().data, said[i]))
            fail_msg("\"%s\" does not say \"%s\"", wnnGetLastErrorMessage().data, said[i]);
}

PROGRAM_HELP("usage: test-opencl-vendors network|empty|lacking\n")
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_network_runs_without_a_loader),
                                       cmocka_unit_test(a_loader_without_platforms_is_passed_by),
                                       cmocka_unit_test(a_message_says_what_every_library_lacks)};
    static const char *const names[] = {"network", "empty", "lacking"};

    for (size_t i = 0; argc == 2 && i < sizeof tests / sizeof *tests; i++) {
        const struct CMUnitTest one[] = {tests[i]};

        if (strcmp(argv[1], names[i]) != 0)
            continue;
        if (i < 2 && !dlopen(POCL, RTLD_NOW | RTLD_LOCAL)) {
            puts("skipped: there is no " POCL " (Debian: libpocl2)");
            return 77;
        }
        return cmocka_run_group_tests(one, NULL, NULL);
    }
    return WRONG_USAGE;
}
