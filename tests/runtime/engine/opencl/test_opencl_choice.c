/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which engine a context gets whose program does not choose, over an OpenCL that shows the devices that a test wants
 * (support/fake_opencl.h).
 */
#include "runtime/engine/opencl/opencl_support.h"

#include <sys/auxv.h>

enum { NVIDIA = 0x10DE, AMD = 0x1002, INTEL = 0x8086 };

#define GIB (1ULL << 30)

/* Far faster than any processor of the table on one thread, several times as fast, and slower than any. */
static const struct fake_device big = {
    .name = "big", .type = CL_DEVICE_TYPE_GPU, .units = 132, .megahertz = 1980, .vendor = NVIDIA, .memory = 80 * GIB};
static const struct fake_device shared = {.name = "shared",
                                          .type = CL_DEVICE_TYPE_GPU,
                                          .units = 96,
                                          .megahertz = 2000,
                                          .vendor = INTEL,
                                          .memory = 16 * GIB,
                                          .shares_memory = true};
static const struct fake_device small = {
    .name = "small", .type = CL_DEVICE_TYPE_GPU, .units = 1, .megahertz = 300, .vendor = INTEL, .memory = 4 * GIB};

/* Whether the process pretends to have more privileges than its parent.  The linker sends calls of getauxval here. */
static bool privileged;

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
    return type == AT_SECURE ? privileged : __real_getauxval(type);
}

/* The name of what a context computes on; "" stands for the processor.  It must not be asked for anything else. */
static const char *chosen(unsigned count, const struct fake_device *devices, WNNPowerPreference power, bool accelerated)
{
    static WNNDeviceInfo info;
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    fake->set_devices(count, devices);
    o.ignoreEnvironment = true;
    o.threadCount = 1;
    o.powerPreference = power;
    o.accelerated = accelerated;
    WNNContext context = context_with(&o);
    assert_true(wnnContextGetDevice(context, &info));
    assert_int_equal(wnnContextGetPowerPreference(context), power);
    assert_int_equal(wnnContextGetAccelerated(context), info.kind == WNNDeviceKind_Gpu);
    assert_true(*info.name && info.memoryBytes && !*info.lacks);
    if (info.kind == WNNDeviceKind_Gpu) {
        assert_string_equal(info.platform, "fake");
    } else {
        assert_int_equal(info.kind, WNNDeviceKind_Cpu);
        info.name[0] = '\0';
    }
    wnnContextRelease(context);
    fake->set_devices(0, NULL);
    assert_nothing_is_left("");
    return info.name;
}

static const char *chosen_by_default(const struct fake_device *d)
{
    return chosen(1, d, WNNPowerPreference_Default, true);
}

TEST(test_a_gpu_is_taken_where_it_is_expected_to_gain)
{
    assert_string_equal(chosen_by_default(&big), "big");
    assert_string_equal(chosen_by_default(&shared), "shared");
    assert_string_equal(chosen_by_default(&small), "");
    assert_string_equal(chosen(0, &big, WNNPowerPreference_Default, true), "");
}

TEST(test_a_program_may_prefer_the_processor)
{
    assert_string_equal(chosen(1, &big, WNNPowerPreference_Default, false), "");
    assert_string_equal(chosen(1, &big, WNNPowerPreference_HighPerformance, false), "");
}

TEST(test_a_privileged_program_gets_a_gpu_only_if_it_asks_for_one)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    privileged = true;
    assert_string_equal(chosen_by_default(&big), "");
    fake->set_devices(1, &big);
    o.engine = WNNEngine_Gpu;
    WNNContext context = context_with(&o);
    assert_true(wnnContextGetAccelerated(context));
    wnnContextRelease(context);
    fake->set_devices(0, NULL);
    privileged = false;
    assert_string_equal(chosen_by_default(&big), "big");
}

static void assert_takes(const WNNContextOptions *o, const char *device)
{
    OWNED(context) WNNContext context = context_with(o);
    WNNDeviceInfo info;

    assert_true(wnnContextGetDevice(context, &info));
    assert_string_equal(info.name, device);
}

/* A program that asks for a GPU, because a file needs one, say, leaves which one to the variable. */
TEST(test_the_variable_names_the_device)
{
    const struct fake_device both[] = {big, shared};
    static const struct {
        const char *variable, *device, *taken;
    } cases[] = {
        {"gpu:1", "", "shared"}, {"gpu:shared", "", "shared"}, {"gpu:1", "0", "big"},
        {"gpu", "", "big"},      {"cpu", "", "big"},           {"none", "", "big"},
    };

    fake->set_devices(2, both);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

        assert_int_equal(setenv("WEBNN_ENGINE", cases[i].variable, 1), 0);
        o.engine = WNNEngine_Gpu;
        o.device = WNN_STR(cases[i].device);
        assert_takes(&o, cases[i].taken);
        o.ignoreEnvironment = true;
        o.device = (WNNStringView){NULL, 0};
        assert_takes(&o, "big");
    }
    unsetenv("WEBNN_ENGINE");
    fake->set_devices(0, NULL);
}

TEST(test_processors_and_accelerators_are_taken_by_name_only)
{
    static const cl_device_type types[] = {CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CUSTOM,
                                           CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct fake_device d = big;
        WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

        d.type = types[i];
        assert_string_equal(chosen_by_default(&d), "");
        fake->set_devices(1, &d);
        o.ignoreEnvironment = true;
        o.engine = WNNEngine_Gpu;
        o.device = WNN_STR("big");
        assert_takes(&o, "big");
        fake->set_devices(0, NULL);
    }
}

TEST(test_a_gpu_that_lacks_something_is_left_alone)
{
    struct fake_device d = big;

    d.has_no_compiler = true;
    assert_string_equal(chosen_by_default(&d), "");
    d = big;
    d.memory = GIB / 2;
    assert_string_equal(chosen_by_default(&d), "");
    d = big;
    d.has_no_float64 = true; /* which integers compute */
    assert_string_equal(chosen_by_default(&d), "big");
    d.megahertz = 0; /* nothing is known of its speed */
    assert_string_equal(chosen_by_default(&d), "");
}

TEST(test_a_gpu_that_fails_leaves_the_work_to_the_processor)
{
    fake->fail_next("CreateContext", CL_OUT_OF_RESOURCES);
    assert_string_equal(chosen_by_default(&big), "");
    fake->fail_next("CreateCommandQueue", CL_OUT_OF_RESOURCES);
    assert_string_equal(chosen_by_default(&big), "");
    fake->fail_next("GetPlatformIDs", CL_OUT_OF_HOST_MEMORY);
    assert_string_equal(chosen_by_default(&big), "");
    fake->fail_next("GetDeviceIDs", CL_DEVICE_NOT_FOUND);
    assert_string_equal(chosen_by_default(&big), "");
}

TEST(test_power_preference_chooses_among_several)
{
    struct fake_device processor = big, all[4];

    processor.type = CL_DEVICE_TYPE_CPU;
    processor.name = "processor";
    all[0] = processor;
    all[1] = small;
    all[2] = shared;
    all[3] = big;
    assert_string_equal(chosen(4, all, WNNPowerPreference_Default, true), "big");
    assert_string_equal(chosen(4, all, WNNPowerPreference_HighPerformance, true), "big");
    assert_string_equal(chosen(4, all, WNNPowerPreference_LowPower, true), "shared");
    assert_string_equal(chosen(1, &big, WNNPowerPreference_LowPower, true), ""); /* which has memory of its own */
    all[2].has_no_compiler = true;
    assert_string_equal(chosen(4, all, WNNPowerPreference_LowPower, true), "");
    all[3].has_no_compiler = true;
    assert_string_equal(chosen(4, all, WNNPowerPreference_HighPerformance, true), "");
}

/* A GPU between the two thresholds is taken if the program asks for speed, and not by default. */
TEST(test_speed_is_worth_less_than_the_default_asks_for)
{
    const struct engine_facts *f = target_engine_facts();
    struct fake_device d = big;
    unsigned first_fast = 0, first_default = 0;

    d.units = 1;
    for (d.megahertz = 100; d.megahertz < 100000 && !first_default; d.megahertz += d.megahertz / 50) {
        if (!first_fast && *chosen(1, &d, WNNPowerPreference_HighPerformance, true))
            first_fast = d.megahertz;
        if (*chosen_by_default(&d))
            first_default = d.megahertz;
    }
    assert_true(first_fast && first_default);
    const double ratio = (double)first_default / first_fast;
    assert_true(ratio > f->worth / f->worth_fast * 0.95 && ratio < f->worth / f->worth_fast * 1.05);
}

/* More threads make the processor faster; an instruction set is one of a processor's. */
TEST(test_the_processor_counts)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context;

    o.ignoreEnvironment = true;
    fake->set_devices(1, &shared);
    for (uint32_t threads = 1; threads <= 256; threads *= 256) {
        o.threadCount = threads;
        context = context_with(&o);
        assert_int_equal(wnnContextGetAccelerated(context), threads == 1);
        wnnContextRelease(context);
    }
    o.threadCount = 1;
    o.debug = WNN_STR("isa=baseline");
    context = context_with(&o);
    assert_false(wnnContextGetAccelerated(context));
    wnnContextRelease(context);
    fake->set_devices(0, NULL);
}

/** Only devices whose compilers take them are asked for matrix instructions, by one program.  This device's kernels compute
 * something else, so that it has none; and if a call fails the context has none either. */
TEST(test_matrix_instructions_are_asked_for)
{
    static const struct fake_device *const devices[] = {&big, &shared};

    for (int i = 0; i < 2; i++) {
        const unsigned before = fake->calls("BuildProgram");

        fake->set_devices(1, devices[i]);
        WNNContext context = new_context();
        assert_int_equal(fake->calls("BuildProgram"), before); /* nothing is tried before a graph is built */
        assert_int_equal(context->engine->functions->optional.tools->tuning->device_facts(context->engine)->matrix_items, 0);
        assert_int_equal(fake->calls("BuildProgram") - before, devices[i]->vendor == NVIDIA);
        wnnContextRelease(context);
        assert_nothing_is_left("");
    }
    fake->set_devices(1, &big);
    for (long n = 0, failed = 1; failed; n++) {
        fake->fail_after(n, CL_OUT_OF_RESOURCES, false);
        WNNContext context = try_context(NULL, NULL);
        if (context)
            assert_int_equal(context->engine->functions->optional.tools->tuning->device_facts(context->engine)->matrix_items,
                             0);
        failed = fake->has_failed();
        fake->fail_after(-1, 0, false);
        assert_true(context || failed);
        wnnContextRelease(context);
        assert_nothing_is_left("");
    }
    fake->set_devices(0, NULL);
}

TEST_EACH(NULL, nothing_is_left)
TEST_GROUP(start, NULL)
