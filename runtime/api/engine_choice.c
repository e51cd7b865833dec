/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses an engine.
 */
#include "runtime/api/engine_choice.h"

#include "ir/support/environment.h"
#include "runtime/api/context.h"
#include "runtime/engine/cpu/engine_cpu.h"
#include "runtime/engine/opencl/engine_opencl.h"

enum { DEVICE_BYTES = 128, CACHE_BYTES = 4096 };

static bool read_variable(WNNEngine *engine, char device[DEVICE_BYTES], struct error *e)
{
    const char *text = environment_get("WEBNN_ENGINE");
    char shown[80];

    if (!text || !*text || !strcmp(text, "auto"))
        return true;
    if (!strcmp(text, "cpu")) {
        *engine = WNNEngine_Cpu;
        return true;
    }
    if (!strncmp(text, "gpu", 3) && (!text[3] || text[3] == ':') && strlen(text) < DEVICE_BYTES) {
        *engine = WNNEngine_Gpu;
        snprintf(device, DEVICE_BYTES, "%s", text[3] ? text + 4 : "");
        return true;
    }
    return error_set(e, WNNStatus_TypeError, "createContext: WEBNN_ENGINE is \"%s\", not auto, cpu, gpu or gpu:DEVICE",
                     escape_text(shown, sizeof shown, text, strlen(text)));
}

/* Of a program that asks for a GPU and leaves open which one, the variable says it. */
static void read_device(char device[DEVICE_BYTES])
{
    struct error ignored = {.status = WNNStatus_Success};
    WNNEngine engine = WNNEngine_Auto;

    if (!read_variable(&engine, device, &ignored) || engine != WNNEngine_Gpu)
        *device = '\0';
}

bool wnnGetDevice(uint32_t number, WNNDeviceInfo *device)
{
    if (!device)
        return false;
    *device = (WNNDeviceInfo){.kind = WNNDeviceKind_Other};
    return engine_opencl_device(number, device);
}

/* Returns how many times faster than the processor a GPU has to be expected to be. */
static double worth_of(WNNPowerPreference p)
{
    const struct engine_facts *facts = target_engine_facts();

    return p == WNNPowerPreference_LowPower          ? facts->worth_low
           : p == WNNPowerPreference_HighPerformance ? facts->worth_fast
                                                     : facts->worth;
}

static struct engine *create_processor(const WNNContextOptions *o, const char *cache, uint32_t thread_count,
                                       const struct debug_options *debug, struct error *e)
{
    struct engine *en = engine_cpu_create(thread_count, debug, e);

    if (en)
        engine_cpu_keep_kernels(en, cache, o->ignoreEnvironment);
    return en;
}

/*
 * Chooses between the processor and the fastest GPU.  What a graph would gain is known only when it is built, but tensors,
 * which belong to the context, come before graphs, so that the choice is one for all of them (docs/gpu.md).  A GPU that cannot
 * be used after all leaves the work to the processor.  In a program with more privileges than its caller OpenCL is not even
 * loaded unless the program asks for it: the loader follows variables that the caller wrote (docs/security.md).
 */
static struct engine *choose_freely(const WNNContextOptions *o, struct opencl_choice choice, uint32_t thread_count,
                                    const struct debug_options *debug, struct error *e)
{
    struct engine *processor = create_processor(o, choice.cache, thread_count, debug, e), *gpu;
    struct error ignored = {.status = WNNStatus_Success};
    struct opencl_estimate found;
    char number[16];

    if (!processor || !o->accelerated || environment_is_ignored() ||
        debug->isa || /* which names the instruction set of a processor */
        !engine_opencl_fastest(o->powerPreference == WNNPowerPreference_LowPower, &found) ||
        found.operations * target_engine_facts()->gpu_share < engine_cpu_operations(processor) * worth_of(o->powerPreference))
        return processor;
    snprintf(number, sizeof number, "%u", found.number);
    choice.device = number;
    gpu = engine_opencl_create(&choice, debug, &ignored);
    if (!gpu)
        return processor;
    processor->functions->free(processor);
    return gpu;
}

struct engine *engine_choose(const WNNContextOptions *o, uint32_t thread_count, const struct debug_options *debug,
                             struct error *e)
{
    WNNEngine engine = o->engine;
    char device[DEVICE_BYTES] = "", cache[CACHE_BYTES] = "";
    const struct opencl_choice choice = {device,           cache,           o->ignoreEnvironment,
                                         o->openclContext, o->openclDevice, o->openclQueue};
    const size_t length = view_length(o->device), cache_length = view_length(o->cache);

    if ((unsigned)engine > WNNEngine_Gpu)
        return error_null(e, WNNStatus_TypeError, "createContext: engine is %d, not a value of the enumeration", (int)engine);
    if (o->openclContext || o->openclDevice || o->openclQueue) {
        const bool all = o->openclContext && o->openclDevice && o->openclQueue;

        if (!all || engine != WNNEngine_Gpu)
            return error_null(e, WNNStatus_TypeError, "createContext: %s",
                              all ? "openclContext, openclDevice and openclQueue are for the engine WNNEngine_Gpu"
                                  : "openclContext, openclDevice and openclQueue go together: one of them is NULL");
    }
    if (length >= DEVICE_BYTES)
        return error_null(e, WNNStatus_TypeError, "createContext: device has %zu bytes, more than %d", length,
                          DEVICE_BYTES - 1);
    if (cache_length >= CACHE_BYTES)
        return error_null(e, WNNStatus_TypeError, "createContext: cache has %zu bytes, more than %d", cache_length,
                          CACHE_BYTES - 1);
    if (cache_length)
        memcpy(cache, o->cache.data, cache_length);
    if (length)
        memcpy(device, o->device.data, length);
    if (engine == WNNEngine_Auto && o->parallel) /* whose threads compute nothing on a GPU */
        engine = WNNEngine_Cpu;
    if (engine == WNNEngine_Auto && !o->ignoreEnvironment && !read_variable(&engine, device, e))
        return NULL;
    if (o->engine == WNNEngine_Gpu && !*device && !o->openclContext && !o->ignoreEnvironment)
        read_device(device);
    switch (engine) {
    case WNNEngine_Gpu:
        return engine_opencl_create(&choice, debug, e);
    case WNNEngine_Cpu:
        return create_processor(o, cache, thread_count, debug, e);
    default:
        return choose_freely(o, choice, thread_count, debug, e);
    }
}
