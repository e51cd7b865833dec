/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The OpenCL engine computes whole graphs on one device.
 *
 * It loads programs (ir/program.h) as executables whose steps are kernels on the device, printed by codegen/opencl and built by
 * the device's own compiler.  Tensors, constants and arenas are buffers of the device.  Steps are put into one in-order queue,
 * and only a caller who reads a buffer waits for the device.
 *
 *   opencl_api.c         loads OpenCL
 *   opencl_device.c      finds the device and its facts
 *   opencl_choice.c      finds the GPU that is expected to be the fastest
 *   opencl_error.c       messages of OpenCL's errors; loses the device
 *   opencl_memory.c      buffers, and addresses as handles
 *   opencl_watch.c       waits for the device, on its own thread
 *   opencl_program.c     builds programs on several threads
 *   opencl_cache.c       keeps built programs on disk
 *   opencl_tuning.c      keeps tuned facts about the device on disk
 *   opencl_profile.c     measures times of the device, for profiles and traces
 *   opencl_library.c     runs convolutions and matmuls by oneDNN, where it accepts the device
 *   opencl_share.c       uses a context and a queue of the application
 *   opencl_saved.c       saves and loads graphs
 *   opencl_executable.c  makes executables of kernels, and puts their steps into the queue
 *   engine_opencl.c      creates the engine, with its table of functions
 */
#pragma once

#include "runtime/engine/engine.h"
#include "webnn/webnn.h"

/** The options of an engine. */
struct opencl_choice {
    const char *device; /* its number in the order of platforms and their devices, or a part of its name, with upper and lower
                         * case alike; the first one if it is NULL or "" */
    const char *cache;  /* the folder of built programs; NULL or "" for the user's (opencl_cache.c), "off" for none */
    bool ignore_environment;
    void *context, *id, *queue; /* the application's cl_context, cl_device_id and cl_command_queue, all or none: then `device`
                                   does not count */
};

/**
 * Creates an engine on the device that the choice names.  debug must outlive it.  Returns NULL after an error in *e, which is a
 * NotSupportedError if there is no OpenCL (in this build or on this machine) or no such device, or if it lacks a needed
 * feature.
 */
struct engine *engine_opencl_create(const struct opencl_choice *choice, const struct debug_options *debug, struct error *e);
/** Describes how fast a GPU is expected to be. */
struct opencl_estimate {
    uint32_t number;   /* of the device, as in opencl_choice.device */
    double operations; /* of float32 in a microsecond, at its peak */
};

/**
 * Finds the GPU with the highest peak among those that can run graphs and have the memory that the table requires.  With
 * `shared_memory`, only GPUs that share the processor's memory.  If the system has no GPU, OpenCL is not loaded.  Returns false
 * if there is none.
 */
bool engine_opencl_fastest(bool shared_memory, struct opencl_estimate *out);
/** Describes the device of that number, for wnnGetDevice.  Returns false if there is none. */
bool engine_opencl_device(uint32_t number, WNNDeviceInfo *out);
