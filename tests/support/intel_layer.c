/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An OpenCL layer for tests: it shows the processor that PoCL makes a device (Debian's 3.1) as a GPU of Intel's, so that oneDNN
 * 2.6 accepts it.  ocl-icd loads it by OPENCL_LAYERS=PATH.
 *
 * In: calls of OpenCL.  Out: the same calls, but for those by which oneDNN learns what it runs on.  Sub-groups are not shown:
 * PoCL has none, and oneDNN's fast kernels compute nonsense without them.  What is left are its reference implementations,
 * which use sub-groups nowhere but in headers that all of its kernels include.
 *
 *   clGetDeviceIDs              who asks for GPUs gets the processor
 *   clGetDeviceInfo             its type and its vendor
 *   clCreateProgramWithSource   oneDNN's sources get words for what PoCL's compiler does not know
 *   clGetProgramInfo            the program by which oneDNN finds out which GPU it is gets a binary that says nothing
 *   clGetKernelArgInfo          PoCL keeps none, oneDNN asks for the types
 *
 * intel_layer_faults.c counts calls and lets one of them fail.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LAYER_NAME "intel"
#include "opencl_layer.h"

#include "intel_layer.h"

enum { INTEL = 0x8086, ZEBIN_PRODUCT_FAMILY = 0x11 };

/* ---- the device ---- */

static cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out,
                                         cl_uint *count)
{
    if (type & CL_DEVICE_TYPE_GPU)
        type |= CL_DEVICE_TYPE_CPU;
    return below->clGetDeviceIDs(platform, type, room, out, count);
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info what, size_t room, void *out, size_t *size)
{
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_uint vendor = INTEL;

    switch (what) {
    case CL_DEVICE_TYPE:
        return layer_answer(&type, sizeof type, room, out, size);
    case CL_DEVICE_VENDOR_ID:
        return layer_answer(&vendor, sizeof vendor, room, out, size);
    default:
        return below->clGetDeviceInfo(device, what, room, out, size);
    }
}

/* ---- programs ---- */

/* One item is a sub-group of its own. */
#define BLOCKS(type)                                                                                                           \
    "#define intel_sub_group_block_read" type "(p) (*(p))\n"                                                                   \
    "#define intel_sub_group_block_write" type "(p, v) (*(p) = (v))\n" BLOCKS_OF(type, "2") BLOCKS_OF(type, "4")               \
        BLOCKS_OF(type, "8") BLOCKS_OF(type, "16")
#define BLOCKS_OF(type, n)                                                                                                     \
    "#define intel_sub_group_block_read" type n "(p) vload" n "(0, p)\n"                                                       \
    "#define intel_sub_group_block_write" type n "(p, v) vstore" n "(v, 0, p)\n"

static const char words[] = "#define get_sub_group_id() 0u\n"
                            "#define get_sub_group_local_id() 0u\n"
                            "#define get_sub_group_size() 1u\n"
                            "#define get_max_sub_group_size() 1u\n"
                            "#define sub_group_broadcast(value, item) (value)\n"
                            "#define intel_sub_group_shuffle(value, item) (value)\n"
                            "#define intel_sub_group_shuffle_down(value, next, by) (value)\n" BLOCKS("") BLOCKS("_us")
                                BLOCKS("_uc") "#ifndef cl_khr_fp16\n"
                                              "#define half2 ushort2\n"
                                              "#define as_half2(x) as_ushort2(x)\n"
                                              "#endif\n"
                                              "#line 1\n";

/* By what this is built oneDNN looks for the GPU's generation: a kernel without a body. */
static const char question[] = "kernel void _(){}";
static _Thread_local cl_program asked;

/* While the variable is set, oneDNN's programs do not build: drivers refuse some, too. */
static const char refusal[] = "INTEL_LAYER_REFUSES", refused[] = "#error refused\n";

/* clang takes an array whose size is a constant variable for one of variable length, which OpenCL has not. */
static void size_arrays(char *source)
{
    static const char array[] = "bin_arg[bin_arg_size]", sized[] = "bin_arg[         16 ]";

    for (char *at = strstr(source, array); at; at = strstr(at, array))
        memcpy(at, sized, sizeof sized - 1);
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char **sources, const size_t *lengths,
                                             cl_int *code)
{
    const bool one = count == 1 && !lengths;
    cl_program program;

    if (intel_layer_fails("CreateProgramWithSource")) {
        if (code)
            *code = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    if (!one || !strstr(sources[0], "sub_group")) {
        program = below->clCreateProgramWithSource(context, count, sources, lengths, code);
        if (one && strcmp(sources[0], question) == 0)
            asked = program;
        return program;
    }
    char *source = strdup(sources[0]);
    if (!source) {
        if (code)
            *code = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    size_arrays(source);
    const char *parts[] = {getenv(refusal) ? refused : words, source};
    program = below->clCreateProgramWithSource(context, 2, parts, NULL, code);
    free(source);
    return program;
}

/* An ELF file as Intel's compiler makes them, with one section, which would name the family of products: none. */
static cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info what, size_t room, void *out, size_t *size)
{
    const struct {
        Elf64_Ehdr header;
        Elf64_Shdr section;
    } file = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                   .e_type = ET_REL,
                   .e_version = EV_CURRENT,
                   .e_shoff = sizeof file.header,
                   .e_ehsize = sizeof file.header,
                   .e_shentsize = sizeof file.section,
                   .e_shnum = 1},
        .section = {.sh_type = 0xFF000000u | ZEBIN_PRODUCT_FAMILY},
    };
    const size_t bytes = sizeof file;

    if (program && program == asked && what == CL_PROGRAM_BINARY_SIZES)
        return layer_answer(&bytes, sizeof bytes, room, out, size);
    if (!program || program != asked || what != CL_PROGRAM_BINARIES)
        return below->clGetProgramInfo(program, what, room, out, size);
    if (out)
        memcpy(*(void **)out, &file, sizeof file);
    if (size)
        *size = sizeof(void *);
    asked = NULL;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_kernel_arg_info(cl_kernel kernel, cl_uint argument, cl_kernel_arg_info what, size_t room,
                                              void *out, size_t *size)
{
    static const char unknown[] = "?"; /* only half and char would be treated in another way */
    const cl_int code = below->clGetKernelArgInfo(kernel, argument, what, room, out, size);

    return code == CL_KERNEL_ARG_INFO_NOT_AVAILABLE && what == CL_KERNEL_ARG_TYPE_NAME
               ? layer_answer(unknown, sizeof unknown, room, out, size)
               : code;
}

/* ---- the layer ---- */

static void layer_replace(struct _cl_icd_dispatch *table)
{
    intel_layer_add_faults(below, table);
    table->clGetDeviceIDs = get_device_ids;
    table->clGetDeviceInfo = get_device_info;
    table->clCreateProgramWithSource = create_program;
    table->clGetProgramInfo = get_program_info;
    table->clGetKernelArgInfo = get_kernel_arg_info;
}
