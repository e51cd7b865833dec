/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records runs of small graphs in command buffers (cl_khr_command_buffer), so that later ones are one call.
 *
 * A recording holds for the addresses that it was made with.  A run whose tensors are those of the run before it on the same
 * invocation is put into the queue as always and recorded besides; the next ones with the same tensors are replayed.  Addresses
 * name buffers by numbers that are used again, so that nothing recorded counts once any buffer was freed.  Only graphs whose
 * steps are kernels, each once, are recorded: oneDNN puts its own commands into the queue, and a profile wants an event for
 * each step.  Whatever fails while recording ends the recording and not the run.
 */
#include "runtime/engine/opencl/opencl_executable.h"

#include <stdlib.h>
#include <string.h>

/* Steps of a run that is worth a recording, which keeps memory for each: in longer runs the device is busy meanwhile. */
enum { STEPS_MOST = 512 };

#ifdef cl_khr_command_buffer

/* ---- the device ---- */

static bool device_has_buffers(const struct engine_opencl *o)
{
    /* Kernels in PoCL's (3.1) run with the arguments of the moment in which the buffer is put into the queue, not with those
     * that were recorded. */
    if (opencl_device_is_pocls(&o->device))
        return false;
    return opencl_device_has_extension(&o->device, "cl_khr_command_buffer") &&
           opencl_device_number(&o->device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR) &
               CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR && /* runs follow one another without waiting */
           !opencl_device_number(&o->device, CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR);
}

void opencl_record_start(struct engine_opencl *o)
{
    struct opencl_commands c = {NULL, NULL, NULL, NULL, NULL};

    if (!device_has_buffers(o))
        return;
#define FIND(member, name) *(void **)&c.member = o->api->GetExtensionFunctionAddressForPlatform(o->device.platform, name)
    FIND(create, "clCreateCommandBufferKHR");
    FIND(kernel, "clCommandNDRangeKernelKHR");
    FIND(finalize, "clFinalizeCommandBufferKHR");
    FIND(enqueue, "clEnqueueCommandBufferKHR");
    FIND(release, "clReleaseCommandBufferKHR");
#undef FIND
    if (c.create && c.kernel && c.finalize && c.enqueue && c.release)
        o->commands = c;
}

/* ---- a run ---- */

static struct engine_opencl *engine_of(const struct invocation *i)
{
    return opencl_of(i->executable->engine);
}

static void forget(struct invocation *i)
{
    struct opencl_recording *r = &opencl_run_of(i)->recording;

    if (r->commands)
        engine_of(i)->commands.release(r->commands);
    r->commands = NULL;
    r->recorded = 0;
}

/* Records nothing of this invocation any more: the run goes on without. */
static void give_up(struct invocation *i)
{
    struct opencl_recording *r = &opencl_run_of(i)->recording;

    forget(i);
    r->never = true;
    r->mode = RECORD_DIRECT;
}

static bool is_worth_recording(const struct executable *x)
{
    for (uint32_t s = 0; s < x->step_count; s++)
        if (x->steps[s].kind != STEP_KERNEL)
            return false;
    return !x->loop_count && x->step_count > 1 && x->step_count <= STEPS_MOST;
}

void opencl_record_begin(struct invocation *i)
{
    opencl_run_of(i)->recording.mode = RECORD_UNDECIDED;
}

static void remember(struct invocation *i, struct opencl_recording *r)
{
    const size_t bytes = i->executable->address_count * sizeof *i->addresses;

    forget(i);
    if (!r->addresses && !(r->addresses = malloc(bytes + 1)))
        r->never = true;
    else
        memcpy(r->addresses, i->addresses, bytes);
    r->queue = engine_of(i)->queue;
    r->freed = engine_of(i)->memory.freed;
    r->mode = RECORD_DIRECT;
}

static bool replay(struct invocation *i, struct opencl_recording *r)
{
    const cl_int code = engine_of(i)->commands.enqueue(0, NULL, r->commands, 0, NULL, NULL);

    r->mode = RECORD_REPLAYING;
    return code == CL_SUCCESS || opencl_step_failed(i, "clEnqueueCommandBufferKHR", code);
}

static void start_recording(struct invocation *i, struct opencl_recording *r)
{
    const cl_command_buffer_properties_khr wanted[] = {CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
    cl_int code = CL_SUCCESS;
    cl_command_buffer_khr made = engine_of(i)->commands.create(1, &r->queue, wanted, &code);

    if (code != CL_SUCCESS) {
        give_up(i);
        return;
    }
    r->commands = made;
    r->mode = RECORD_RECORDING;
}

bool opencl_record_wants(struct invocation *i, bool *failed)
{
    struct opencl_recording *r = &opencl_run_of(i)->recording;
    const struct engine_opencl *o = engine_of(i);

    if (r->mode != RECORD_UNDECIDED)
        return r->mode != RECORD_REPLAYING;
    r->mode = RECORD_DIRECT;
    if (!o->commands.create || r->never || opencl_times_steps(i->executable))
        return true;
    if (!is_worth_recording(i->executable)) {
        r->never = true;
    } else if (!r->addresses || r->queue != o->queue || r->freed != o->memory.freed ||
               memcmp(r->addresses, i->addresses, i->executable->address_count * sizeof *i->addresses) != 0) {
        remember(i, r);
    } else if (r->commands) {
        *failed = !replay(i, r);
        return false;
    } else {
        start_recording(i, r);
    }
    return true;
}

void opencl_record_kernel(struct invocation *i, uint32_t step)
{
    struct opencl_recording *r = &opencl_run_of(i)->recording;
    const struct opencl_step *s = &((const struct opencl_executable *)i->executable)->steps[step];

    if (r->mode != RECORD_RECORDING)
        return;
    if (engine_of(i)->commands.kernel(r->commands, NULL, NULL, s->kernel, GPU_DIMENSIONS, NULL, s->launch.global,
                                      s->launch.local, 0, NULL, NULL, NULL) == CL_SUCCESS)
        r->recorded++;
    else
        give_up(i);
}

void opencl_record_end(struct invocation *i)
{
    struct opencl_recording *r = &opencl_run_of(i)->recording;

    if (r->mode != RECORD_RECORDING)
        return;
    if (r->recorded != i->executable->step_count) /* it was stopped, or a step failed */
        forget(i);
    else if (engine_of(i)->commands.finalize(r->commands) != CL_SUCCESS)
        give_up(i);
}

void opencl_record_free(struct invocation *i)
{
    forget(i);
    free(opencl_run_of(i)->recording.addresses);
}

#else
void opencl_record_start(struct engine_opencl *o)
{
    (void)o;
}

void opencl_record_begin(struct invocation *i)
{
    (void)i;
}

bool opencl_record_wants(struct invocation *i, bool *failed)
{
    (void)i;
    (void)failed;
    return true;
}

void opencl_record_kernel(struct invocation *i, uint32_t step)
{
    (void)i;
    (void)step;
}

void opencl_record_end(struct invocation *i)
{
    (void)i;
}

void opencl_record_free(struct invocation *i)
{
    (void)i;
}
#endif
