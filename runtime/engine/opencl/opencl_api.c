/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads OpenCL: the system's loader, or else what opencl_vendors.c opens.
 */
#include "runtime/engine/opencl/opencl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SYSTEMS_LIBRARY "libOpenCL.so.1"

static struct {
    pthread_mutex_t lock;
    const char *path;
    const char *const *vendors;
    bool tried;
    struct opencl_api loaders;
    const struct opencl_api *api; /* NULL: there is none */
    char lacks[512];              /* what was tried in vain, for messages */
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER, .path = SYSTEMS_LIBRARY, .vendors = opencl_vendors_known};

static const char *const no_vendors[] = {NULL};

void opencl_api_set_library(const char *path)
{
    loaded.path = path;
    loaded.vendors = no_vendors;
}

void opencl_api_set_vendors(const char *const *names)
{
    loaded.vendors = names;
}

bool opencl_api_is_of_tests(void)
{
    return strcmp(loaded.path, SYSTEMS_LIBRARY) != 0;
}

bool opencl_api_is_the_systems(void)
{
    return !opencl_api_is_of_tests() && loaded.api == &loaded.loaders;
}

/* Loads the loader.  Returns false, and says why not, if it cannot. */
static bool load_functions(struct opencl_api *out, char *lacks, size_t room)
{
    /* It is never closed, because threads of drivers keep running. */
    void *library = dlopen(loaded.path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        snprintf(lacks, room, "%s cannot be loaded", loaded.path);
        return false;
    }
#define LOAD(name) *(void **)&out->name = dlsym(library, "cl" #name);
    OPENCL_FUNCTIONS(LOAD)
#undef LOAD
#define CHECK(name)                                                                                                            \
    if (!out->name) {                                                                                                          \
        snprintf(lacks, room, "%s lacks cl" #name, loaded.path);                                                               \
        return false;                                                                                                          \
    }
    OPENCL_FUNCTIONS(CHECK)
#undef CHECK
    return true;
}

/* Containers often have the library of an NVIDIA driver and neither a loader nor the file that tells a loader of it.  So what
 * has no platform is followed by a look for the vendors' libraries themselves. */
static const struct opencl_api *load(void)
{
    const bool good = load_functions(&loaded.loaders, loaded.lacks, sizeof loaded.lacks);
    cl_uint count = 0;

    if (good && loaded.loaders.GetPlatformIDs(0, NULL, &count) == CL_SUCCESS && count)
        return &loaded.loaders;
    if (good)
        snprintf(loaded.lacks, sizeof loaded.lacks, "%s has no platform", loaded.path);

    const size_t used = strlen(loaded.lacks);
    const struct opencl_api *direct = opencl_vendors_open(loaded.vendors, loaded.lacks + used, sizeof loaded.lacks - used);
    return direct ? direct : good ? &loaded.loaders : NULL;
}

const struct opencl_api *opencl_api_get(struct error *e)
{
    pthread_mutex_lock(&loaded.lock);
    if (!loaded.tried) {
        loaded.api = load();
        loaded.tried = true;
    }
    pthread_mutex_unlock(&loaded.lock);
    if (!loaded.api)
        error_set(e, WNNStatus_NotSupportedError,
                  "there is no OpenCL: %s; install an OpenCL loader (Debian: ocl-icd-libopencl1) and the device's driver",
                  loaded.lacks);
    return loaded.api;
}

const char *opencl_api_lacks(void)
{
    return loaded.lacks;
}

const char *opencl_error_name(cl_int code, char text[24])
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
#define CODE(name) {name, #name}
        CODE(CL_DEVICE_NOT_FOUND),
        CODE(CL_DEVICE_NOT_AVAILABLE),
        CODE(CL_COMPILER_NOT_AVAILABLE),
        CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        CODE(CL_OUT_OF_RESOURCES),
        CODE(CL_OUT_OF_HOST_MEMORY),
        CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
        CODE(CL_MEM_COPY_OVERLAP),
        CODE(CL_BUILD_PROGRAM_FAILURE),
        CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET),
        CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        CODE(CL_COMPILE_PROGRAM_FAILURE),
        CODE(CL_LINKER_NOT_AVAILABLE),
        CODE(CL_LINK_PROGRAM_FAILURE),
        CODE(CL_INVALID_VALUE),
        CODE(CL_INVALID_PLATFORM),
        CODE(CL_INVALID_DEVICE),
        CODE(CL_INVALID_CONTEXT),
        CODE(CL_INVALID_QUEUE_PROPERTIES),
        CODE(CL_INVALID_COMMAND_QUEUE),
        CODE(CL_INVALID_HOST_PTR),
        CODE(CL_INVALID_MEM_OBJECT),
        CODE(CL_INVALID_BINARY),
        CODE(CL_INVALID_BUILD_OPTIONS),
        CODE(CL_INVALID_PROGRAM),
        CODE(CL_INVALID_PROGRAM_EXECUTABLE),
        CODE(CL_INVALID_KERNEL_NAME),
        CODE(CL_INVALID_KERNEL_DEFINITION),
        CODE(CL_INVALID_KERNEL),
        CODE(CL_INVALID_ARG_INDEX),
        CODE(CL_INVALID_ARG_VALUE),
        CODE(CL_INVALID_ARG_SIZE),
        CODE(CL_INVALID_KERNEL_ARGS),
        CODE(CL_INVALID_WORK_DIMENSION),
        CODE(CL_INVALID_WORK_GROUP_SIZE),
        CODE(CL_INVALID_WORK_ITEM_SIZE),
        CODE(CL_INVALID_GLOBAL_OFFSET),
        CODE(CL_INVALID_EVENT_WAIT_LIST),
        CODE(CL_INVALID_EVENT),
        CODE(CL_INVALID_OPERATION),
        CODE(CL_INVALID_BUFFER_SIZE),
        CODE(CL_INVALID_GLOBAL_WORK_SIZE),
        CODE(CL_PLATFORM_NOT_FOUND_KHR),
#undef CODE
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    snprintf(text, 24, "error %d", (int)code);
    return text;
}
