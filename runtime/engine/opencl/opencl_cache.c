/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps built programs on disk (runtime/program/cache_folder.h).
 *
 * A program's whole identity (device, driver, options and source) leads to the binary that the driver once made of it.  Drivers
 * check their binaries themselves, and one that a driver refuses is replaced.
 */
#include "runtime/engine/opencl/internal.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/program/cache_folder.h"

enum { FACT_BYTES = 256 };

void opencl_cache_open(struct engine_opencl *o, const char *folder, bool ignore_environment)
{
    bool named;

    o->folder = cache_folder_open(folder, ignore_environment, "programs of the device", &named, &o->base.warning);
    /* PoCL keeps what it compiles itself.  It makes a binary by compiling every kernel for any index space, and compiles it
     * again for the one that it runs with: asking for binaries takes it as long as everything else. */
    o->keeps_programs = o->folder && (named || !opencl_device_is_pocls(&o->device));
}

/* ---- identities ---- */

void opencl_device_identity(const struct engine_opencl *o, char identity[OPENCL_IDENTITY_BYTES])
{
    static const cl_device_info facts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION};
    size_t length = 0;

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        char fact[FACT_BYTES] = "";

        o->api->GetDeviceInfo(o->device.id, facts[i], sizeof fact - 1, fact, NULL);
        length += (size_t)snprintf(identity + length, OPENCL_IDENTITY_BYTES - length, "%.190s\n", fact);
    }
    snprintf(identity + length, OPENCL_IDENTITY_BYTES - length, "%s\n", opencl_options);
}

/* Returns the whole identity of a program, for free(), or NULL if memory runs out. */
static char *identity_of(struct engine_opencl *o, const char *text)
{
    char *identity = calloc(1, OPENCL_IDENTITY_BYTES + strlen(opencl_prelude) + strlen(text));

    if (!identity)
        return NULL;
    opencl_device_identity(o, identity);
    return strcat(strcat(identity, opencl_prelude), text);
}

/* ---- reading ---- */

cl_program opencl_program_of_binary(struct engine_opencl *o, const unsigned char *binary, size_t bytes)
{
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    cl_program program = o->api->CreateProgramWithBinary(o->context, 1, &o->device.id, &bytes, &binary, &status, &code);

    if (code == CL_SUCCESS && status == CL_SUCCESS)
        code = o->api->BuildProgram(program, 1, &o->device.id, opencl_options, NULL, NULL);
    if (code == CL_SUCCESS && status == CL_SUCCESS)
        return program;
    if (program)
        o->api->ReleaseProgram(program);
    return NULL;
}

cl_program opencl_cache_load(struct engine_opencl *o, const char *text)
{
    char *identity = o->keeps_programs ? identity_of(o, text) : NULL;
    size_t size = 0;
    unsigned char *binary = identity ? cache_read(o->folder, identity, ".cl", &size) : NULL;
    cl_program program = binary ? opencl_program_of_binary(o, binary, size) : NULL;

    free(binary);
    free(identity);
    return program;
}

/* ---- writing ---- */

unsigned char *opencl_program_binary(struct engine_opencl *o, cl_program program, size_t *bytes)
{
    unsigned char *binary = NULL;

    *bytes = 0;
    if (o->api->GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes, NULL) != CL_SUCCESS || !*bytes ||
        !(binary = malloc(*bytes)))
        return NULL;
    if (o->api->GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        return binary;
    free(binary);
    return NULL;
}

void opencl_cache_store(struct engine_opencl *o, const char *text, cl_program program)
{
    char *identity = o->keeps_programs ? identity_of(o, text) : NULL;
    size_t size = 0;
    unsigned char *binary = identity ? opencl_program_binary(o, program, &size) : NULL;

    if (binary && cache_write(o->folder, identity, ".cl", binary, size)) /* or not: it is a cache */
        cache_trim(o->folder, ".cl", &o->cached, strlen(identity) + size);
    free(binary);
    free(identity);
}
