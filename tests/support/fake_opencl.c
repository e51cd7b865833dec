/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements platforms, devices, contexts and programs of the OpenCL without a device, and what tests ask of it
 * (fake_opencl.h).
 */
#include "support/fake_opencl_internal.h"

struct fake_state fake = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .changed = PTHREAD_COND_INITIALIZER,
                          .until_failure = -1,
                          .driver = "1.0",
                          .platform = "fake"};

/* It has a lock of its own, because a thread that waits for it holds up no other. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool held;
    pthread_t holder; /* who may go on */
    unsigned threads; /* that are in it */
} compiler = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- counting calls; the lock is held from enter to leave ---- */

static void note(const char *name)
{
    size_t length = strlen(name);
    int i = 0;

    while (i < NAMES_MAX - 1 && fake.names[i].name && strcmp(fake.names[i].name, name) != 0)
        i++;
    fake.names[i].name = name;
    fake.names[i].calls++;
    if (fake.notes_length + length + 2 < NOTES_BYTES)
        fake.notes_length += (size_t)snprintf(fake.notes + fake.notes_length, length + 2, "%s ", name);
}

/* Begins a call.  Returns CL_SUCCESS, or the code of the failure that is due. */
cl_int fake_enter(const char *name)
{
    pthread_mutex_lock(&fake.lock);
    note(name);
    if (fake.failed && fake.lasting)
        return fake.code;
    if (fake.failing_name ? strcmp(fake.failing_name, name) != 0 : fake.until_failure < 0 || fake.until_failure-- > 0)
        return CL_SUCCESS;
    fake.failing_name = NULL;
    fake.failed = true;
    fake.failed_call = name;
    return fake.code;
}

cl_int fake_leave(cl_int code)
{
    pthread_mutex_unlock(&fake.lock);
    return code;
}

/* Returns an object with one reference, or NULL if the call fails. */
void *fake_create(const char *name, size_t bytes, cl_int *error)
{
    cl_int code = fake_enter(name);
    int *object = code ? NULL : calloc(1, bytes);

    if (object) {
        *object = 1;
        fake.alive++;
    }
    if (error)
        *error = fake_leave(code);
    else
        fake_leave(code);
    return object;
}

/* Returns whether that was the last reference; the lock is held. */
bool fake_drop(int *references)
{
    if (--*references > 0)
        return false;
    fake.alive--;
    return true;
}

cl_int fake_retain(const char *name, int *references)
{
    cl_int code = fake_enter(name);

    *references += !code;
    return fake_leave(code);
}

cl_int fake_release(const char *name, int *references, void *object)
{
    cl_int code = fake_enter(name);

    if (fake_drop(references))
        free(object);
    return fake_leave(code);
}

cl_int fake_give(const char *call, const void *value, size_t bytes, size_t room, void *out, size_t *size)
{
    cl_int code = fake_enter(call);

    if (!code && out && room < bytes)
        code = CL_INVALID_VALUE;
    if (!code && out)
        memcpy(out, value, bytes);
    if (!code && size)
        *size = bytes;
    return fake_leave(code);
}

static struct _cl_platform_id the_platform;
static const struct fake_device the_device = {
    .name = "fake device", .type = CL_DEVICE_TYPE_GPU, .units = 4, .memory = DEVICE_MEMORY};
static struct _cl_device_id devices[DEVICES_MAX];
static unsigned device_count;

/* Sets up the library's own device, unless others are shown.  The lock is held. */
static void find_devices(void)
{
    if (!device_count) {
        devices[0].facts = the_device;
        device_count = 1;
    }
}

/* ---- platforms, devices, contexts ---- */

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *out, cl_uint *count)
{
    cl_int code = fake_enter("GetPlatformIDs");

    if (!code && n)
        out[0] = &the_platform;
    if (!code && count)
        *count = 1;
    return fake_leave(code);
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void *out, size_t *size)
{
    return fake_give_text("GetPlatformInfo", what == CL_PLATFORM_VERSION ? "OpenCL 1.2 fake" : fake.platform, room, out, size);
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *out, cl_uint *count)
{
    cl_int code = fake_enter("GetDeviceIDs");

    find_devices();
    for (cl_uint i = 0; !code && i < n && i < device_count; i++)
        out[i] = &devices[i];
    if (!code && count)
        *count = device_count;
    return fake_leave(code);
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *out, size_t *size)
{
    const char *call = "GetDeviceInfo";
    const struct fake_device *f = &d->facts;
    cl_ulong big = what == CL_DEVICE_GLOBAL_MEM_SIZE ? f->memory : what == CL_DEVICE_LOCAL_MEM_SIZE ? 1 << 15 : DEVICE_BUFFER;
    cl_device_type type = f->type;
    cl_platform_id platform = &the_platform;
    size_t items = 256;
    cl_bool yes = CL_TRUE, shared = f->shares_memory, compiles = !f->has_no_compiler;
    cl_device_fp_config config = what == CL_DEVICE_DOUBLE_FP_CONFIG && f->has_no_float64 ? 0 : CL_FP_FMA | CL_FP_INF_NAN;

    switch (what) {
    case CL_DEVICE_NAME:
        return fake_give_text(call, f->name, room, out, size);
    case CL_DEVICE_VENDOR:
        return fake_give_text(call, "fake", room, out, size);
    case CL_DEVICE_VERSION:
        return fake_give_text(call, "OpenCL 1.2 fake", room, out, size);
    case CL_DRIVER_VERSION:
        return fake_give_text(call, fake.driver, room, out, size);
    case CL_DEVICE_EXTENSIONS:
        return fake_give_text(call, "", room, out, size);
    case CL_DEVICE_TYPE:
        return fake_give(call, &type, sizeof type, room, out, size);
    case CL_DEVICE_PLATFORM:
        return fake_give(call, &platform, sizeof platform, room, out, size);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return fake_give(call, &f->units, sizeof f->units, room, out, size);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return fake_give(call, &f->megahertz, sizeof f->megahertz, room, out, size);
    case CL_DEVICE_VENDOR_ID:
        return fake_give(call, &f->vendor, sizeof f->vendor, room, out, size);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return fake_give(call, &shared, sizeof shared, room, out, size);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return fake_give(call, &items, sizeof items, room, out, size);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return fake_give(call, &compiles, sizeof compiles, room, out, size);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return fake_give(call, &yes, sizeof yes, room, out, size);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return fake_give(call, &config, sizeof config, room, out, size);
    default:
        return fake_give(call, &big, sizeof big, room, out, size);
    }
}

cl_context clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *d,
                           void(CL_CALLBACK *callback)(const char *, const void *, size_t, void *), void *user, cl_int *error)
{
    return fake_create("CreateContext", sizeof(struct _cl_context), error);
}

cl_int clRetainContext(cl_context c)
{
    return fake_retain("RetainContext", &c->references);
}

cl_int clReleaseContext(cl_context c)
{
    return fake_release("ReleaseContext", &c->references, c);
}

cl_int clGetContextInfo(cl_context c, cl_context_info what, size_t room, void *out, size_t *size)
{
    cl_device_id d = &devices[0];

    return fake_give("GetContextInfo", &d, sizeof d, room, out, size);
}

cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *error)
{
    cl_command_queue q = fake_create("CreateCommandQueue", sizeof *q, error);

    if (q) {
        q->context = c;
        q->properties = p;
    }
    return q;
}

cl_int clRetainCommandQueue(cl_command_queue q)
{
    return fake_retain("RetainCommandQueue", &q->references);
}

cl_int clReleaseCommandQueue(cl_command_queue q)
{
    return fake_release("ReleaseCommandQueue", &q->references, q);
}

cl_int clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t room, void *out, size_t *size)
{
    cl_device_id d = &devices[0];

    if (what == CL_QUEUE_CONTEXT)
        return fake_give("GetCommandQueueInfo", &q->context, sizeof q->context, room, out, size);
    if (what == CL_QUEUE_DEVICE)
        return fake_give("GetCommandQueueInfo", &d, sizeof d, room, out, size);
    return fake_give("GetCommandQueueInfo", &q->properties, sizeof q->properties, room, out, size);
}

cl_int clFlush(cl_command_queue q)
{
    return fake_leave(fake_enter("Flush"));
}

cl_int clFinish(cl_command_queue q)
{
    cl_int code = fake_enter("Finish");

    if (!code)
        fake_await_queue();
    return fake_leave(code);
}

/* ---- programs and kernels ---- */

cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **parts, const size_t *lengths, cl_int *error)
{
    cl_program p = fake_create("CreateProgramWithSource", sizeof *p, error);

    if (p)
        p->source = strdup(parts[n - 1]);
    return p;
}

cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *options,
                      void(CL_CALLBACK *callback)(cl_program, void *), void *user)
{
    pthread_mutex_lock(&compiler.lock);
    compiler.threads++;
    while (compiler.held && !pthread_equal(compiler.holder, pthread_self()))
        pthread_cond_wait(&compiler.changed, &compiler.lock);
    compiler.threads--;
    pthread_mutex_unlock(&compiler.lock);
    cl_int code = fake_enter(p->source ? "BuildProgram" : "BuildProgramOfBinary");
    return fake_leave(code ? code : fake.broken ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS);
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t room, void *out, size_t *size)
{
    char log[4096];

    memset(log, 'x', sizeof log - 1);
    memcpy(log, "line 1: error", 13);
    log[sizeof log - 1] = '\0';
    return fake_give_text("GetProgramBuildInfo", log, room, out, size);
}

cl_int clReleaseProgram(cl_program p)
{
    cl_int code = fake_enter("ReleaseProgram");

    if (fake_drop(&p->references)) {
        free(p->source);
        free(p);
    }
    return fake_leave(code);
}

/* A binary is the driver's version. */
cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *out, size_t *size)
{
    size_t length = strlen(fake.driver) + 1;

    if (what == CL_PROGRAM_BINARY_SIZES)
        return fake_give("GetProgramInfo", &length, sizeof length, room, out, size);
    cl_int code = fake_enter("GetProgramInfo");
    if (!code)
        memcpy(*(unsigned char **)out, fake.driver, length);
    return fake_leave(code);
}

cl_program clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *d, const size_t *lengths,
                                     const unsigned char **binaries, cl_int *status, cl_int *error)
{
    if (lengths[0] != strlen(fake.driver) + 1 || memcmp(binaries[0], fake.driver, lengths[0]) != 0) {
        *error = CL_INVALID_BINARY;
        return NULL;
    }
    cl_program p = fake_create("CreateProgramWithBinary", sizeof *p, error);
    if (status)
        *status = p ? CL_SUCCESS : CL_INVALID_BINARY;
    return p;
}

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *error)
{
    return fake_create("CreateKernel", sizeof(struct _cl_kernel), error);
}

cl_int clReleaseKernel(cl_kernel k)
{
    return fake_release("ReleaseKernel", &k->references, k);
}

/* The engine's kernels have a buffer and an offset for each tensor, then numbers. */
cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t bytes, const void *value)
{
    cl_int code = fake_enter("SetKernelArg");

    if (!code && i < 4 && i % 2 == 0)
        memcpy(&k->buffers[i / 2], value, sizeof(cl_mem));
    if (!code && i < 4 && i % 2 == 1)
        memcpy(&k->offsets[i / 2], value, bytes < sizeof(cl_ulong) ? bytes : sizeof(cl_ulong));
    return fake_leave(code);
}

/* ---- for tests ---- */

static void fake_fail(long n, int code, bool lasting)
{
    pthread_mutex_lock(&fake.lock);
    fake.until_failure = n;
    fake.failing_name = NULL;
    fake.code = code;
    fake.lasting = lasting;
    fake.failed = false;
    fake.failed_call = "";
    pthread_mutex_unlock(&fake.lock);
}

static void fake_fail_next(const char *name, int code)
{
    fake_fail(-1, code, false);
    pthread_mutex_lock(&fake.lock);
    fake.failing_name = name;
    pthread_mutex_unlock(&fake.lock);
}

static bool fake_has_failed(void)
{
    pthread_mutex_lock(&fake.lock);
    bool failed = fake.failed;
    pthread_mutex_unlock(&fake.lock);
    return failed;
}

static const char *fake_failed_call(void)
{
    return fake.failed_call;
}

static void fake_hold(bool hold)
{
    pthread_mutex_lock(&fake.lock);
    fake.held = hold;
    fake_execute_all();
    pthread_mutex_unlock(&fake.lock);
}

static long fake_alive(void)
{
    pthread_mutex_lock(&fake.lock);
    long alive = fake.alive;
    pthread_mutex_unlock(&fake.lock);
    return alive;
}

static size_t fake_bytes(void)
{
    pthread_mutex_lock(&fake.lock);
    size_t bytes = fake.bytes;
    pthread_mutex_unlock(&fake.lock);
    return bytes;
}

static unsigned fake_calls(const char *name)
{
    unsigned calls = 0;

    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < NAMES_MAX && fake.names[i].name; i++)
        if (!strcmp(fake.names[i].name, name))
            calls = fake.names[i].calls;
    pthread_mutex_unlock(&fake.lock);
    return calls;
}

static void fake_start_notes(void)
{
    pthread_mutex_lock(&fake.lock);
    fake.notes_length = 0;
    fake.notes[0] = '\0';
    pthread_mutex_unlock(&fake.lock);
}

static const char *fake_notes(void)
{
    return fake.notes;
}

static void fake_set_driver(const char *version)
{
    snprintf(fake.driver, sizeof fake.driver, "%s", version);
}

static void fake_set_platform(const char *name)
{
    fake.platform = name ? name : "fake";
}

static void fake_break_compiler(bool broken)
{
    fake.broken = broken;
}

static void fake_hold_compiler(bool hold)
{
    pthread_mutex_lock(&compiler.lock);
    compiler.held = hold;
    compiler.holder = pthread_self();
    pthread_cond_broadcast(&compiler.changed);
    pthread_mutex_unlock(&compiler.lock);
}

static unsigned fake_compiling(void)
{
    pthread_mutex_lock(&compiler.lock);
    unsigned threads = compiler.threads;
    pthread_mutex_unlock(&compiler.lock);
    return threads;
}

static void fake_set_devices(unsigned count, const struct fake_device *shown)
{
    pthread_mutex_lock(&fake.lock);
    device_count = shown ? count : 0;
    for (unsigned i = 0; shown && i < count && i < DEVICES_MAX; i++)
        devices[i].facts = shown[i];
    find_devices();
    pthread_mutex_unlock(&fake.lock);
}

__attribute__((visibility("default"))) const struct fake_opencl *fake_opencl_get(void);

const struct fake_opencl *fake_opencl_get(void)
{
    static const struct fake_opencl functions = {fake_fail,           fake_fail_next,   fake_has_failed,    fake_failed_call,
                                                 fake_hold,           fake_alive,       fake_bytes,         fake_calls,
                                                 fake_start_notes,    fake_notes,       fake_set_driver,    fake_set_platform,
                                                 fake_break_compiler, fake_set_devices, fake_hold_compiler, fake_compiling};
    return &functions;
}
