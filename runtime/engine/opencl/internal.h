/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares internals of the OpenCL engine.
 *
 * None of its locks is held while the device is waited for or a program is built:
 *   lock             guards the table of buffers, and the order of what several calls put into the queue as one
 *   programs.lock    guards the table of programs
 *   watch.lock       guards the list of events of the watching thread
 *   loss.lock        guards the reason why the device is lost
 *   library.lock     guards the start of oneDNN, and results of probes of the device; programs of probes are built under it
 * programs.lock and watch.lock are never taken together with lock; loss.lock may be taken inside any of them; library.lock is
 * taken first.
 */
#pragma once

#include <pthread.h>

#include "codegen/opencl/opencl.h"
#include "ir/support/table.h"
#include "runtime/engine/opencl/engine_opencl.h"
#include "runtime/engine/opencl/opencl_api.h"

/** Describes a device, with what schedules and messages say of it. */
struct opencl_device {
    const struct opencl_api *api; /* which calls it */
    cl_platform_id platform;
    cl_device_id id;
    char name[128];
    WNNDeviceKind kind;
    struct gpu_facts facts;
    uint64_t memory_bytes, buffer_bytes; /* of the device, and of one buffer at most */
    size_t part_alignment;               /* of the offsets of sub-buffers, in bytes */
};

struct opencl_buffer {
    struct engine_buffer base;
    cl_mem memory;
    size_t offset;  /* of its first byte, which is 0 but for memory of the application's */
    size_t counted; /* bytes that are counted in memory.used */
    /* Of a constant's buffer that graphs may share (opencl_constant.c). */
    struct constant *constant; /* a reference; NULL: it is none */
    uint64_t hash;
    uint32_t other_holders; /* graphs that have it besides one */
};

/** A callback to run after an event of the device. */
struct opencl_watched {
    struct opencl_watched *next;
    cl_event event; /* owned; released after `done` */
    /** Runs on the watching thread and frees w.  If the device failed before, ok is false and e has the reason. */
    void (*done)(struct engine *en, struct opencl_watched *w, bool ok, const struct error *e);
};

enum opencl_transfer { OPENCL_WRITE, OPENCL_READ, OPENCL_FILL, OPENCL_TRANSFERS };

/** Holds the buffers (opencl_memory.c).  engine_opencl.lock guards it. */
struct opencl_memory {
    struct opencl_buffer **buffers; /* by number - 1; NULL where a number is free */
    uint32_t count;
    size_t room;
    uint64_t used;          /* bytes of all buffers */
    uint64_t staged;        /* bytes of copies that the device has not read yet */
    struct table constants; /* those of constants, by hash */
};

/** Holds the programs that were built (opencl_program.c). */
struct opencl_program_table {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* waits by the monotonic clock */
    struct table entries;   /* struct opencl_entry, by hash of the text */
    struct opencl_program *first;
};

/** The events of the watching thread (opencl_watch.c). */
struct opencl_watch_list {
    pthread_mutex_t lock;
    pthread_cond_t changed, idle;
    pthread_t thread;
    bool started, stop;
    struct opencl_watched *first, *last;
    uint32_t pending; /* those in the list, and the one that is waited for */
};

/** Holds the clocks for taking times (opencl_profile.c). */
struct opencl_clock {
    bool noted;                       /* whether the queue notes times of its commands */
    int64_t ahead;                    /* nanoseconds from the device's clock to nanoseconds_now() */
    uint32_t names[OPENCL_TRANSFERS]; /* in the trace */
};

struct library;

/** Holds oneDNN on the device (opencl_library.c). */
struct opencl_library {
    pthread_mutex_t lock;
    bool started;
    cl_command_queue queue; /* that it was told of; under engine_opencl.lock */
};

/** Describes whether the device is lost, and why (opencl_error.c). */
struct opencl_loss {
    pthread_mutex_t lock;
    atomic_bool lost;
    struct error why; /* does not change once lost is set */
};

struct engine_opencl {
    struct engine base;
    const struct opencl_api *api;
    struct opencl_device device;
    struct target target;
    cl_context context;
    cl_command_queue queue; /* in order */
    bool shared;            /* both are the application's */
    bool probed;            /* device.facts has what probes tell; under library.lock */
    pthread_mutex_t lock;
    char *folder;         /* of files that are kept on disk, or NULL if there is none */
    bool keeps_programs;  /* in that folder */
    atomic_ullong cached; /* bytes of programs that this engine has put there */
    struct opencl_memory memory;
    struct opencl_program_table programs;
    struct opencl_watch_list watch;
    struct opencl_clock times;
    struct opencl_loss loss;
    struct opencl_library library;
};

/** Returns the OpenCL engine that an engine is. */
static inline struct engine_opencl *opencl_of(struct engine *en)
{
    return (struct engine_opencl *)en;
}

/* ---- opencl_error.c ---- */

/**
 * Sets e for a failed call: "clEnqueueWriteBuffer on the OpenCL device NAME: CL_OUT_OF_RESOURCES".  A code of a lost device
 * also loses it.  Always returns false.
 */
bool opencl_failed(struct engine_opencl *o, const char *call, cl_int code, struct error *e);
/**
 * Does the same for a call that waited for the queue.  For any code, the queue's work is incomplete, and the device is lost.
 * Always returns false.
 */
bool opencl_wait_failed(struct engine_opencl *o, const char *call, cl_int code, struct error *e);
/** Returns whether the device can be used.  If it is lost, returns false after an error in *e that says why. */
bool opencl_is_usable(struct engine_opencl *o, struct error *e);
/** The engine's engine_options.is_lost. */
static inline bool opencl_is_lost(struct engine *en, struct error *e)
{
    return !opencl_is_usable(opencl_of(en), e);
}

/* ---- opencl_device.c ---- */

/** Finds a device as engine_opencl_create says, among those of all functions in the list `api`, as the two below.  Returns
 * false after an error in *e. */
bool opencl_device_find(const struct opencl_api *api, const char *name, struct opencl_device *out, struct error *e);
/** Describes the device of that number in the order of platforms and their devices.  Returns false if there is none, or if
 * OpenCL fails. */
bool opencl_device_at(const struct opencl_api *api, uint32_t number, struct opencl_device *out);
/** Describes a device for programs that ask. */
void opencl_device_info(const struct opencl_device *d, WNNDeviceInfo *out);
/** Returns a number of at most 64 bits, or a truth value, that a device reports; 0 if it does not. */
uint64_t opencl_device_number(const struct opencl_device *d, cl_device_info what);
/** Returns whether the driver is PoCL, which needs special cases. */
bool opencl_device_is_pocls(const struct opencl_device *d);
/** Returns the missing feature of a device for generated kernels, or "" if none. */
static inline const char *opencl_device_lacks(const struct opencl_device *d)
{
    return !opencl_device_number(d, CL_DEVICE_AVAILABLE)            ? "it is not available"
           : !opencl_device_number(d, CL_DEVICE_COMPILER_AVAILABLE) ? "it has no compiler"
           : !opencl_device_number(d, CL_DEVICE_ENDIAN_LITTLE)      ? "it is not little-endian"
                                                                    : "";
}
/** Describes a device of the application's.  Returns false after an error in *e. */
bool opencl_device_take(const struct opencl_api *api, cl_device_id id, struct opencl_device *out, struct error *e);

/* ---- opencl_memory.c ---- */

/** The engine's functions for memory (struct engine_functions). */
struct engine_buffer *opencl_buffer_create(struct engine *en, size_t bytes, struct error *e);
void opencl_buffer_free(struct engine *en, struct engine_buffer *b);
struct engine_buffer *opencl_buffer_wrap(struct engine *en, void *memory, size_t offset, size_t bytes, struct error *e);
/** Copies the data, unless they are so large that waiting for the device is faster than a copy. */
bool opencl_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                         struct error *e);
bool opencl_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes, struct error *e);
/** Returns the buffer of an address and the offset in it, or NULL if the address is in no buffer.  The lock is held. */
cl_mem opencl_resolve(struct engine_opencl *o, engine_address a, cl_ulong *offset);

/* ---- opencl_constant.c ---- */

/** The engine's engine_options.constant_create. */
struct engine_buffer *opencl_constant_create(struct engine *en, struct constant *c, struct error *e);
/** Drops a reference of a buffer and returns whether others are left; else it is removed from the constants.  The lock is
 * held. */
bool opencl_constant_keep(struct engine_opencl *o, struct opencl_buffer *b);

/* ---- opencl_probe.c ---- */

/** Finds out, once, which instructions the device has. */
void opencl_probe_instructions(struct engine_opencl *o);

/* ---- opencl_share.c ---- */

/** Takes the application's context and queue, and describes its device.  Returns false after an error in *e. */
bool opencl_share(struct engine_opencl *o, const struct opencl_choice *choice, struct error *e);

/* ---- opencl_watch.c ---- */

/** Waits for w's event on the watching thread, then calls w->done.  Without a thread, both happen before this returns. */
void opencl_watch(struct engine_opencl *o, struct opencl_watched *w);
/** Returns when all watched events are done.  A `done` may not call it. */
void opencl_watch_drain(struct engine_opencl *o);
/** Ends the thread, after everything that is watched. */
void opencl_watch_stop(struct engine_opencl *o);

/* ---- opencl_program.c ---- */

/** Holds a program that was built, with one kernel or several.  It is freed with the engine. */
struct opencl_program {
    struct opencl_program *next; /* of the engine */
    char *text;                  /* that it was built from: all kernels, without the prelude */
    cl_program program;
};
/** A program's text and its result. */
struct opencl_entry;

/** Describes a kernel that a step needs. */
struct opencl_wanted {
    const char *text;            /* without the prelude */
    const char *step;            /* for messages */
    bool whole;                  /* the text is that of a whole program of a saved graph, `number` says which kernel */
    const unsigned char *binary; /* the same driver's binary of a whole program, or NULL if unknown */
    size_t binary_bytes;
    struct opencl_entry *entry; /* of opencl_programs_build */
    struct opencl_program *program;
    uint32_t number; /* of the kernel in it, which is called webnn_kernel_<number> */
};

/** A callback for the number of built kernels of a graph, which returns whether to stop; the function may be NULL. */
struct opencl_progress {
    bool (*cancelled)(void *user, uint32_t done, uint32_t total);
    void *user;
};

/**
 * Builds the programs that are not built yet and sets every `program` and `number`.  Any thread may call it, without locks;
 * that thread calls the callback, between programs and while it waits for others.  Programs that were begun are completed.
 * Returns false after an error in *e.
 */
bool opencl_programs_build(struct engine_opencl *o, uint32_t count, struct opencl_wanted *wanted,
                           struct opencl_progress progress, struct error *e);
/** Frees all programs, which may not be used any more. */
void opencl_programs_free(struct engine_opencl *o);

/* ---- opencl_cache.c ---- */

enum { OPENCL_IDENTITY_BYTES = 1024 };

/** Writes the identity of binaries to `identity`: device, driver and options, as text. */
void opencl_device_identity(const struct engine_opencl *o, char identity[OPENCL_IDENTITY_BYTES]);

/**
 * Finds the cache's folder, or makes it: `folder`, or if that is empty the variable WEBNN_CACHE's, or one below XDG_CACHE_HOME
 * or the user's home.  There is no cache if that is "off", or if others can get into the folder, or if no folder is named and
 * the driver keeps its programs itself.
 */
void opencl_cache_open(struct engine_opencl *o, const char *folder, bool ignore_environment);
/**
 * Returns the built program of a text, which becomes the caller's.  Returns NULL if it is not there or damaged, or if the
 * driver does not take it.
 */
cl_program opencl_cache_load(struct engine_opencl *o, const char *text);
/** Keeps a program that was built from its source, if that is possible. */
void opencl_cache_store(struct engine_opencl *o, const char *text, cl_program program);
/** Returns the driver's binary of a program, for the caller to free(), or NULL if it has none. */
unsigned char *opencl_program_binary(struct engine_opencl *o, cl_program program, size_t *bytes);
/** Returns the built program of such bytes, which becomes the caller's, or NULL if the driver does not accept them. */
cl_program opencl_program_of_binary(struct engine_opencl *o, const unsigned char *binary, size_t bytes);

/* ---- opencl_tuning.c ---- */

/** Takes the facts about the device that were tuned once, if the folder has them for this device and driver. */
void opencl_tuning_load(struct engine_opencl *o);
/** Engine_tuning.device_facts and engine_tuning.keep_facts. */
struct gpu_facts *opencl_device_facts(struct engine *en);
bool opencl_keep_facts(struct engine *en, struct error *e);

/* ---- opencl_profile.c ---- */

/**
 * Makes commands have times from then on: another queue replaces the current one.  Nothing else may use the
 * engine in the meantime.  Returns false if the device keeps no times.
 */
bool opencl_times_start(struct engine_opencl *o);
/** Returns whether transfers are to have an event. */
static inline bool opencl_traces(const struct engine_opencl *o)
{
    return o->times.noted && o->base.debug->trace;
}
/** Records a transfer that is over as a span of the calling thread. */
void opencl_trace_transfer(struct engine_opencl *o, enum opencl_transfer kind, cl_event event);
/** Does the same once the event is over, and takes the event over. */
void opencl_watch_transfer(struct engine_opencl *o, enum opencl_transfer kind, cl_event event);

struct invocation;
/** Returns whether steps of x are to have an event. */
bool opencl_times_steps(const struct executable *x);
/** Notes the event of a step that was put into the queue, and takes it over, as well as the event of a command before the step
 * if the step has several commands (NULL: it has one). */
void opencl_times_add(struct invocation *i, uint32_t step, cl_event before, cl_event event);
/** Ends the steps of a run, which are all in the queue: they are counted when the device has completed them. */
void opencl_times_end(struct invocation *i);
/** The engine's functions for tools. */
extern const struct engine_tools opencl_tools;

/* ---- opencl_executable.c ---- */

/** The engine's functions for executables (struct engine_functions). */
bool opencl_schedule(struct engine *en, const struct target *t, struct program_step *s, struct error *e);
struct executable *opencl_load(struct engine *en, struct program *p, struct error *e);
void opencl_unload(struct executable *x);
bool opencl_submit(struct executable *x, const struct engine_binding *inputs, const struct engine_binding *outputs,
                   const struct engine_stop *stop, engine_done done, void *user, struct error *e);

/* ---- opencl_library.c ---- */

extern const struct engine_library opencl_library;
/** Starts oneDNN on the device, if possible, and sets the engine's target accordingly.  Any thread. */
void opencl_library_start(struct engine_opencl *o);
/** Creates an invocation's data for steps of oneDNN, in its opencl_run.  Returns false after an error in *e. */
bool opencl_library_bind(struct invocation *i, struct error *e);
void opencl_library_unbind(struct invocation *i);
/** Puts a step of oneDNN into the queue; see struct step_functions.run. */
bool opencl_run_library(struct invocation *i, uint32_t step);
/* See struct engine_serialization. */
struct library_step *opencl_step_load(struct library *l, struct stream_reader *in, uint32_t location_count,
                                      const struct location *locations, struct error *e);
bool opencl_library_facts(struct engine *en, struct library_facts *out, struct error *e);

/* ---- opencl_saved.c ---- */

/** The engine's functions for saved graphs. */
extern const struct engine_serialization opencl_serialization;
