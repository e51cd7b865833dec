/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads OpenCL.
 */
#ifdef WEBNN_OPENCL
#include "runtime/opencl/opencl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SYSTEMS_LIBRARY "libOpenCL.so.1"

static struct {
    pthread_mutex_t lock;
    const char *path;
    bool tried, good;
    struct opencl_api api;
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER, .path = SYSTEMS_LIBRARY};

void opencl_api_set_library(const char *path)
{
    loaded.path = path;
}

bool opencl_api_is_the_systems(void)
{
    return strcmp(loaded.path, SYSTEMS_LIBRARY) == 0;
}

static bool load_functions(void)
{
    /* It is never closed, because drivers leave threads behind. */
    void *library = dlopen(loaded.path, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return false;
#define LOAD(name) *(void **)&loaded.api.name = dlsym(library, "cl" #name);
    OPENCL_FUNCTIONS(LOAD)
#undef LOAD
#define CHECK(name)                                                                                                            \
    if (!loaded.api.name)                                                                                                      \
        return false;
    OPENCL_FUNCTIONS(CHECK)
#undef CHECK
    return true;
}

const struct opencl_api *opencl_api_get(struct error *e)
{
    pthread_mutex_lock(&loaded.lock);
    if (!loaded.tried) {
        loaded.good = load_functions();
        loaded.tried = true;
    }
    pthread_mutex_unlock(&loaded.lock);
    if (loaded.good)
        return &loaded.api;
    error_set(e, WNNStatus_NotSupportedError,
              "there is no OpenCL: libOpenCL.so.1 cannot be loaded; install an OpenCL loader and the device's driver");
    return NULL;
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
#undef CODE
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    snprintf(text, 24, "error %d", (int)code);
    return text;
}
#endif
