/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Opens the OpenCL libraries of vendors without a loader.
 *
 * A vendor's library exports little: what the extension for loaders asks of it is a function that lists its platforms.  Every
 * object of OpenCL begins with the address of a table of all functions (struct _cl_icd_dispatch), from which a loader takes the
 * one to call.  Here they are taken from the table of the first platform, once for each vendor.
 *
 * Names without a folder are looked for as the system looks for libraries, which ignores variables of the environment in
 * programs with more privileges than the user who started them; the folders that are named belong to the system
 * (docs/security.md).
 */
#include "runtime/engine/opencl/opencl_api.h"

const char *const opencl_vendors_known[] = {
    "libnvidia-opencl.so.1",
    "libamdocl64.so",
    "/opt/rocm/lib/libamdocl64.so",
    "libigdrcl.so",
    "/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so",
    "/usr/lib64/intel-opencl/libigdrcl.so",
    NULL,
};

#if __has_include(<CL/cl_icd.h>)
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { VENDORS_MAX = 8, VERSION_BYTES = 1024 /* after the number drivers list what they like */ };

struct messages {
    char *text;
    size_t room;
};

/* Appends to the messages, which may be cut off. */
__attribute__((format(printf, 2, 3))) static bool say(struct messages *m, const char *format, ...)
{
    int length;

    WITH_ARGUMENTS(format, length = vsnprintf(m->text, m->room, format, arguments));
    const size_t used = length < 0 || !m->room ? 0 : (size_t)length < m->room ? (size_t)length : m->room - 1;
    m->text += used;
    m->room -= used;
    return false;
}

/* The function that lists a library's platforms.  Some libraries export it; all tell its address. */
static bool find_lister(void *library, clIcdGetPlatformIDsKHR_fn *out)
{
    void *(*address)(const char *) = NULL;

    *(void **)out = dlsym(library, "clIcdGetPlatformIDsKHR");
    *(void **)&address = dlsym(library, "clGetExtensionFunctionAddress");
    if (!*out && address)
        *(void **)out = address("clIcdGetPlatformIDsKHR");
    return *out != NULL;
}

/* Whether a platform has all functions of OpenCL 1.2: the tables of older ones end before some of them. */
static bool is_new_enough(const cl_icd_dispatch *table, cl_platform_id platform, char version[VERSION_BYTES])
{
    int major = 0, minor = 0;

    memset(version, 0, VERSION_BYTES);
    return table->clGetPlatformInfo &&
           table->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, VERSION_BYTES - 1, version, NULL) == CL_SUCCESS &&
           sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 && (major > 1 || minor >= 2);
}

/* Takes a vendor's functions.  Returns false, and says why, if it cannot. */
static bool take_functions(const char *name, clIcdGetPlatformIDsKHR_fn list, struct opencl_api *out, struct messages *m)
{
    cl_platform_id platform = NULL;
    cl_uint count = 0;
    char code_name[24], version[VERSION_BYTES] = "";
    const cl_int code = list(1, &platform, &count);

    if (code != CL_SUCCESS || !count || !platform)
        return say(m, ", %s has no platform (%s)", name, opencl_error_name(code, code_name));

    const cl_icd_dispatch *table = *(const cl_icd_dispatch *const *)platform;
    if (!table)
        return say(m, ", the platform of %s has no table of functions", name);
    if (!is_new_enough(table, platform, version))
        return say(m, ", the platform of %s has another version than OpenCL 1.2 or newer (%.40s)", name, version);
    out->GetPlatformIDs = list; /* no object calls it, so that tables need not have it */
#define TAKE(function)                                                                                                         \
    if (!out->function)                                                                                                        \
        out->function = table->cl##function;                                                                                   \
    if (!out->function)                                                                                                        \
        return say(m, ", the platform of %s lacks cl" #function, name);
    OPENCL_FUNCTIONS(TAKE)
#undef TAKE
    out->table = table;
    return true;
}

/* Whether a library is not there: other errors are of one that is, and of what it needs. */
static bool is_absent(const char *name, const char *error)
{
    const size_t length = strlen(name);

    return !error ||
           (!strncmp(error, name, length) && strstr(error + length, ": cannot open shared object file: No such file"));
}

const struct opencl_api *opencl_vendors_open(const char *const *names, char *lacks, size_t room)
{
    static struct opencl_api vendors[VENDORS_MAX];
    struct messages m = {lacks, room};
    const char *missing[VENDORS_MAX + 1];
    unsigned count = 0, missing_count = 0, seen = 0;

    for (; names[seen] && seen < VENDORS_MAX; seen++) {
        /* It is never closed, because threads of drivers keep running. */
        void *library = dlopen(names[seen], RTLD_NOW | RTLD_LOCAL);
        struct opencl_api found = {0};
        clIcdGetPlatformIDsKHR_fn list = NULL;

        if (!library) {
            const char *error = dlerror();
            if (!is_absent(names[seen], error))
                say(&m, ", %s", error);
            else if (names[seen][0] != '/')
                missing[missing_count++] = names[seen];
            continue;
        }
        if (!find_lister(library, &list)) {
            say(&m, ", %s lacks clIcdGetPlatformIDsKHR", names[seen]);
            continue;
        }
        if (!take_functions(names[seen], list, &found, &m) || (count && vendors[count - 1].table == found.table))
            continue; /* the second may be the same file by its path */
        vendors[count] = found;
        if (count++)
            vendors[count - 2].next = &vendors[count - 1];
    }
    for (unsigned i = 0; i < missing_count; i++)
        say(&m, "%s%s", i ? ", " : ", and there is no ", missing[i]);
    return count ? vendors : NULL;
}
#else /* headers before 2020 do not describe the table */
const struct opencl_api *opencl_vendors_open(const char *const *names, char *lacks, size_t room)
{
    (void)names;
    (void)lacks;
    (void)room;
    return NULL;
}
#endif
