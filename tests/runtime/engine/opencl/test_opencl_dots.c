/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finding out what a device computes, over an OpenCL whose kernels turn over the lowest bit of every byte, whatever their text
 * says (support/fake_opencl.h).
 */
#include "runtime/engine/opencl/opencl_support.h"

#include "runtime/engine/opencl/internal.h"

static const unsigned char in[4] = {1, 2, 3, 200}, inverted[4] = {0, 3, 2, 201};

/* Returns whether a probe ends well and gives `out`. */
static bool agrees(WNNContext context, const unsigned char *out)
{
    unsigned char got[sizeof in];
    const struct opencl_probe p = {.definitions = "",
                                   .text = "__kernel void webnn_probe() {}",
                                   .items = 1,
                                   .in = in,
                                   .in_bytes = sizeof in,
                                   .out_bytes = sizeof got};

    return opencl_probe_run(opencl_of(context->engine), &p, got) && !memcmp(got, out, sizeof got);
}

TEST(test_a_probe_gives_what_is_computed)
{
    WNNContext context = new_context();

    assert_true(agrees(context, inverted));
    assert_false(agrees(context, in));
    fake->break_compiler(true);
    assert_false(agrees(context, inverted));
    fake->break_compiler(false);
    wnnContextRelease(context);
}

/** Whatever fails, the answer is no, nothing is left behind, and the context goes on. */
TEST(test_every_call_of_a_probe_may_fail)
{
    WNNContext context = new_context();
    const long before = fake->alive();
    long n = 0;

    for (bool failed = true; failed; n++) {
        fake->fail_after(n, CL_OUT_OF_RESOURCES, false);
        const bool agreed = agrees(context, inverted);
        failed = fake->has_failed();
        assert_int_equal(agreed, !failed || !strncmp(fake->failed_call(), "Release", strlen("Release")));
        fake->fail_after(-1, 0, false);
        assert_int_equal(fake->alive(), before);
        assert_true(opencl_is_usable(opencl_of(context->engine), &(struct error){0}));
    }
    assert_true(n > 8);
    wnnContextRelease(context);
}

/* Returns how a device of that kind multiplies bytes, and how many programs were built to find out. */
static enum gpu_dots dots_of(const struct fake_device *d, const char *debug, WNNPrecision precision, bool *rounds,
                             unsigned *programs)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    const unsigned before = fake->calls("BuildProgram");
    WNNContext context;

    fake->set_devices(1, d);
    o.engine = WNNEngine_Gpu;
    o.ignoreEnvironment = true;
    o.precision = precision;
    o.debug = (WNNStringView){debug, strlen(debug)};
    assert_int_equal(wnnCreateContext(&o, &context), WNNStatus_Success);
    assert_int_equal(fake->calls("BuildProgram"), before); /* nothing is tried before a graph is built */
    const struct target *t = context->engine->functions->target(context->engine, &(struct error){0});
    enum gpu_dots dots = t->device->dots;
    *rounds = t->rounds_operands;
    *programs = fake->calls("BuildProgram") - before;
    wnnContextRelease(context);
    fake->set_devices(0, NULL);
    assert_nothing_is_left("");
    return dots;
}

/** The maker's instruction is tried, and not taken from a device that computes something else.  Processors, and makers without
 * one, are not asked. */
TEST(test_an_instruction_that_does_not_multiply_is_none)
{
    struct fake_device d = {
        .name = "big", .type = CL_DEVICE_TYPE_GPU, .units = 100, .megahertz = 1000, .vendor = 0x10DE, .memory = 1ULL << 35};
    unsigned programs;
    bool rounds;

    assert_int_equal(dots_of(&d, "", WNNPrecision_Int8, &rounds, &programs), GPU_DOTS_NONE);
    assert_int_equal(programs, 2); /* the other one asks for matrix instructions */
    assert_false(rounds);
    assert_int_equal(dots_of(&d, "prefer-dots", WNNPrecision_Int8, &rounds, &programs), GPU_DOTS_PLAIN);
    assert_true(rounds);
    assert_int_equal(dots_of(&d, "prefer-dots", WNNPrecision_Float32, &rounds, &programs), GPU_DOTS_PLAIN);
    assert_false(rounds);
    d.type = CL_DEVICE_TYPE_CPU;
    assert_int_equal(dots_of(&d, "", WNNPrecision_Int8, &rounds, &programs), GPU_DOTS_NONE);
    assert_int_equal(programs, 0);
    d.type = CL_DEVICE_TYPE_GPU;
    d.vendor = 0x8086;
    assert_int_equal(dots_of(&d, "", WNNPrecision_Int8, &rounds, &programs), GPU_DOTS_NONE);
    assert_int_equal(programs, 0);
}

TEST_EACH(NULL, nothing_is_left)
TEST_GROUP(start, NULL)
