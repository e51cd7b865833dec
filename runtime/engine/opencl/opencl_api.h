/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads OpenCL at run time, so that the library does not depend on it.
 *
 * The functions are called through a table with their names in the OpenCL headers, less "cl".  A build without those headers
 * has no OpenCL engine.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "ir/support/error.h"

#define OPENCL_FUNCTIONS(X)                                                                                                    \
    X(GetPlatformIDs)                                                                                                          \
    X(GetPlatformInfo)                                                                                                         \
    X(GetDeviceIDs)                                                                                                            \
    X(GetDeviceInfo)                                                                                                           \
    X(CreateContext)                                                                                                           \
    X(GetContextInfo)                                                                                                          \
    X(RetainContext)                                                                                                           \
    X(ReleaseContext)                                                                                                          \
    X(CreateCommandQueue)                                                                                                      \
    X(GetCommandQueueInfo)                                                                                                     \
    X(RetainCommandQueue)                                                                                                      \
    X(ReleaseCommandQueue)                                                                                                     \
    X(CreateBuffer)                                                                                                            \
    X(CreateSubBuffer)                                                                                                         \
    X(GetMemObjectInfo)                                                                                                        \
    X(RetainMemObject)                                                                                                         \
    X(ReleaseMemObject)                                                                                                        \
    X(EnqueueReadBuffer)                                                                                                       \
    X(EnqueueWriteBuffer)                                                                                                      \
    X(EnqueueCopyBuffer)                                                                                                       \
    X(EnqueueFillBuffer)                                                                                                       \
    X(EnqueueNDRangeKernel)                                                                                                    \
    X(EnqueueMarkerWithWaitList)                                                                                               \
    X(WaitForEvents)                                                                                                           \
    X(GetEventInfo)                                                                                                            \
    X(GetEventProfilingInfo)                                                                                                   \
    X(RetainEvent)                                                                                                             \
    X(ReleaseEvent)                                                                                                            \
    X(Finish)                                                                                                                  \
    X(Flush)                                                                                                                   \
    X(CreateProgramWithSource)                                                                                                 \
    X(CreateProgramWithBinary)                                                                                                 \
    X(GetProgramInfo)                                                                                                          \
    X(BuildProgram)                                                                                                            \
    X(GetProgramBuildInfo)                                                                                                     \
    X(ReleaseProgram)                                                                                                          \
    X(CreateKernel)                                                                                                            \
    X(ReleaseKernel)                                                                                                           \
    X(SetKernelArg)

struct opencl_api {
#define MEMBER(name) __typeof__(cl##name) *name;
    OPENCL_FUNCTIONS(MEMBER)
#undef MEMBER
    /* For a vendor's functions without a loader (opencl_vendors.c). */
    const void *table; /* which all of the vendor's objects begin with the address of; NULL: the loader's functions */
    const struct opencl_api *next; /* the next vendor's functions, or NULL */
};

/**
 * Returns the functions, which are loaded at the first call and stay loaded: the loader's, or a list of those of vendors, whose
 * devices are to be called with the functions of their own.  Any thread may call it.  Returns NULL after an error in *e, which
 * says that there is no OpenCL, and lists the attempts.
 */
const struct opencl_api *opencl_api_get(struct error *e);
/** Returns the failed attempts of opencl_api_get, or "". */
const char *opencl_api_lacks(void);
/** Names another library than libOpenCL.so.1, for tests, before the first call of opencl_api_get.  No vendors' libraries are
 * opened then, but for those that opencl_api_set_vendors names afterwards, whose list ends with NULL. */
void opencl_api_set_library(const char *path);
void opencl_api_set_vendors(const char *const *names);
/** Returns whether a test has named another library. */
bool opencl_api_is_of_tests(void);
/** Returns whether the functions are those of libOpenCL.so.1, which other libraries in this process call, too. */
bool opencl_api_is_the_systems(void);
/* ---- opencl_vendors.c ---- */

/** Names the libraries of vendors; the list ends with NULL. */
extern const char *const opencl_vendors_known[];
/**
 * Opens those of the named libraries that there are.  Returns the functions of the vendors that have a platform, as a list that
 * stays; NULL if none has.  Writes into `lacks`, which has room for `room` bytes, why opened libraries cannot be used, each
 * reason after ", ", or that there are none.  It is called once.
 */
const struct opencl_api *opencl_vendors_open(const char *const *names, char *lacks, size_t room);

/* ---- opencl_api.c ---- */

/** Returns the name of an error code, "CL_OUT_OF_RESOURCES", or "error -123", printed into `text`, if it has none. */
const char *opencl_error_name(cl_int code, char text[24]);
