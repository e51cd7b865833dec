/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the requested device and its facts.
 */
#include "runtime/engine/opencl/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64 };

/* Returns whether `part` is in `text`, with upper and lower case alike. */
static bool contains(const char *text, const char *part)
{
    const size_t length = strlen(part);

    for (; *text; text++)
        if (!strncasecmp(text, part, length))
            return true;
    return !length;
}

/* Shorter numbers fill the lower bytes: devices that are not little-endian are refused, and so their hosts are not either. */
uint64_t opencl_device_number(const struct opencl_device *d, cl_device_info what)
{
    uint64_t number = 0;

    d->api->GetDeviceInfo(d->id, what, sizeof number, &number, NULL);
    return number;
}

static void describe(struct opencl_device *d)
{
    const uint64_t type = opencl_device_number(d, CL_DEVICE_TYPE), units = opencl_device_number(d, CL_DEVICE_MAX_COMPUTE_UNITS);
    const uint64_t items = opencl_device_number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    const uint64_t local = opencl_device_number(d, CL_DEVICE_LOCAL_MEM_SIZE);

    d->api->GetDeviceInfo(d->id, CL_DEVICE_NAME, sizeof d->name - 1, d->name, NULL);
    d->part_alignment = opencl_device_number(d, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8; /* bits */
    d->memory_bytes = opencl_device_number(d, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->buffer_bytes = opencl_device_number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    d->kind = type & CL_DEVICE_TYPE_CPU           ? WNNDeviceKind_Cpu
              : type & CL_DEVICE_TYPE_GPU         ? WNNDeviceKind_Gpu
              : type & CL_DEVICE_TYPE_ACCELERATOR ? WNNDeviceKind_Accelerator
                                                  : WNNDeviceKind_Other;
    d->facts = *target_gpu_facts(d->kind == WNNDeviceKind_Cpu);
    if (units)
        d->facts.compute_units = (uint32_t)units;
    if (items && items < d->facts.group_items)
        d->facts.group_items = (uint32_t)items;
    if (local)
        d->facts.local_bytes = local > INT32_MAX ? INT32_MAX : (uint32_t)local;
}

/* Returns whether generated kernels run on a device that was described, else false after an error in *e. */
static bool check(const struct opencl_device *d, struct error *e)
{
    const char *lack = opencl_device_lacks(d);

    return !*lack ||
           error_set(e, WNNStatus_NotSupportedError, "the OpenCL device %s cannot run generated kernels: %s", d->name, lack);
}

/* ---- all of them ---- */

struct device_list {
    uint32_t count;
    struct {
        const struct opencl_api *api;
        cl_platform_id platform;
        cl_device_id id;
    } devices[DEVICES_MAX];
};

/* The last call that failed. */
struct failed_call {
    const char *name;
    cl_int code;
};

static void list_devices_of(const struct opencl_api *api, struct device_list *out, struct failed_call *failed)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_device_id devices[DEVICES_MAX];
    cl_uint platform_count = 0, count;
    cl_int code = api->GetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count);

    if (code != CL_SUCCESS) {
        *failed = (struct failed_call){"clGetPlatformIDs", code};
        platform_count = 0;
    }
    for (cl_uint p = 0; p < platform_count && p < PLATFORMS_MAX; p++) {
        code = api->GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count);
        if (code != CL_SUCCESS) {
            *failed = (struct failed_call){"clGetDeviceIDs", code};
            continue;
        }
        for (cl_uint d = 0; d < count && d < DEVICES_MAX && out->count < DEVICES_MAX; d++) {
            out->devices[out->count].api = api;
            out->devices[out->count].platform = platforms[p];
            out->devices[out->count++].id = devices[d];
        }
    }
}

/*
 * Lists all devices.  Platforms without devices, and those whose driver fails, have none.  Returns false if a call failed and
 * there is no device.
 */
static bool list_devices(const struct opencl_api *api, struct device_list *out, struct error *e)
{
    struct failed_call failed = {NULL, CL_SUCCESS};
    const char *lacks = opencl_api_lacks();
    char name[24];

    out->count = 0;
    for (; api; api = api->next)
        list_devices_of(api, out, &failed);
    return out->count || !failed.name ||
           error_set(e, WNNStatus_NotSupportedError, "OpenCL has no device: %s: %s%s%s%s", failed.name,
                     opencl_error_name(failed.code, name), *lacks ? " (" : "", lacks,
                     *lacks ? "); install the device's driver" : "");
}

static struct opencl_device device_of(const struct device_list *list, uint32_t number)
{
    return (struct opencl_device){
        .api = list->devices[number].api, .platform = list->devices[number].platform, .id = list->devices[number].id};
}

bool opencl_device_find(const struct opencl_api *api, const char *name, struct opencl_device *out, struct error *e)
{
    struct device_list list;
    char *end = NULL;
    const bool first = !name || !*name;
    const unsigned long wanted = first ? 0 : strtoul(name, &end, 10);
    const bool by_number = first || (end != name && !*end);

    if (!list_devices(api, &list, e))
        return false;
    for (uint32_t d = 0; d < list.count; d++) {
        *out = device_of(&list, d);
        out->api->GetDeviceInfo(out->id, CL_DEVICE_NAME, sizeof out->name - 1, out->name, NULL);
        if (by_number ? d != wanted : !contains(out->name, name))
            continue;
        describe(out);
        return check(out, e);
    }
    if (!list.count)
        return error_set(e, WNNStatus_NotSupportedError, "OpenCL has no device%s%s%s; install the driver of one",
                         *opencl_api_lacks() ? " (" : "", opencl_api_lacks(), *opencl_api_lacks() ? ")" : "");
    return error_set(e, WNNStatus_NotSupportedError,
                     "OpenCL has no device \"%s\" among its %u; give a number below that, or a part of a device's name",
                     first ? "0" : name, list.count);
}

/* The functions that objects of the application's are called with: those of their vendor, where there is no loader. */
static const struct opencl_api *api_of(const struct opencl_api *api, const void *object)
{
    while (api && api->table && api->table != *(const void *const *)object)
        api = api->next;
    return api;
}

bool opencl_device_take(const struct opencl_api *api, cl_device_id id, struct opencl_device *out, struct error *e)
{
    *out = (struct opencl_device){.api = api_of(api, id), .id = id};
    if (!out->api || out->api->GetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof out->platform, &out->platform, NULL) != CL_SUCCESS)
        return error_set(e, WNNStatus_TypeError, "createContext: openclDevice is not a device of OpenCL's");
    describe(out);
    return check(out, e);
}

bool opencl_device_at(const struct opencl_api *api, uint32_t number, struct opencl_device *out)
{
    struct error ignored = {.status = WNNStatus_Success};
    struct device_list list;

    if (!list_devices(api, &list, &ignored) || number >= list.count)
        return false;
    *out = device_of(&list, number);
    describe(out);
    return true;
}

void opencl_device_info(const struct opencl_device *d, WNNDeviceInfo *out)
{
    out->kind = d->kind;
    memcpy(out->name, d->name, sizeof out->name);
    d->api->GetPlatformInfo(d->platform, CL_PLATFORM_NAME, sizeof out->platform - 1, out->platform, NULL);
    snprintf(out->lacks, sizeof out->lacks, "%s", opencl_device_lacks(d));
    out->memoryBytes = d->memory_bytes;
    out->bufferBytes = d->buffer_bytes;
}

bool opencl_device_is_pocls(const struct opencl_device *d)
{
    char name[128] = "";

    d->api->GetPlatformInfo(d->platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    return strcmp(name, "Portable Computing Language") == 0;
}

bool engine_opencl_device(uint32_t number, WNNDeviceInfo *out)
{
    struct error ignored = {.status = WNNStatus_Success};
    const struct opencl_api *api = opencl_api_get(&ignored);
    struct opencl_device d;

    if (!api || !opencl_device_at(api, number, &d))
        return false;
    opencl_device_info(&d, out);
    return true;
}
