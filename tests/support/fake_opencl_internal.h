/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Internals of the OpenCL without a device: its objects, and how calls are counted and fail.
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake_opencl.h"

enum { ARGS_MAX = 64, DEVICES_MAX = 8, NOTES_BYTES = 1 << 16, NAMES_MAX = 64 };
enum { DEVICE_MEMORY = 1 << 24, DEVICE_BUFFER = 1 << 22 };

struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    struct fake_device facts;
};
struct _cl_context {
    int references;
};
struct _cl_command_queue {
    int references;
    cl_context context;
    cl_command_queue_properties properties;
};
struct _cl_mem {
    int references;
    cl_context context;
    size_t bytes;
    unsigned char *data;
};
struct _cl_program {
    int references;
    char *source; /* NULL if it is made of a binary */
};
struct _cl_kernel {
    int references;
    cl_mem buffers[ARGS_MAX];
    cl_ulong offsets[ARGS_MAX];
};
struct _cl_event {
    int references;
    cl_int status;
    cl_ulong times[4];
};

enum command_kind { COMMAND_READ, COMMAND_WRITE, COMMAND_FILL, COMMAND_COPY, COMMAND_KERNEL, COMMAND_MARKER };

struct command {
    struct command *next;
    enum command_kind kind;
    cl_mem from, to; /* a reference each */
    size_t from_offset, to_offset, bytes;
    const void *host_from;
    void *host_to;
    cl_event event; /* a reference, or NULL if not requested */
};

struct fake_state {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool held, failed, lasting, broken;
    long until_failure, alive;
    size_t bytes; /* of buffers */
    cl_int code;
    const char *failed_call, *failing_name;
    struct command *first, *last;
    char driver[32];
    const char *platform;
    struct {
        const char *name;
        unsigned calls;
    } names[NAMES_MAX];
    char notes[NOTES_BYTES];
    size_t notes_length;
};

extern struct fake_state fake;

/**
 * Begins a call and counts it.  Returns CL_SUCCESS, or the code of the failure that is due.  The lock is held until fake_leave.
 */
cl_int fake_enter(const char *name);
/** Ends the call and returns code. */
cl_int fake_leave(cl_int code);
/** Makes a whole call that creates an object with one reference, which it returns, or NULL if the call fails. */
void *fake_create(const char *name, size_t bytes, cl_int *error);
/** Makes a whole call that answers with bytes, or with a text. */
cl_int fake_give(const char *call, const void *value, size_t bytes, size_t room, void *out, size_t *size);
static inline cl_int fake_give_text(const char *call, const char *text, size_t room, void *out, size_t *size)
{
    return fake_give(call, text, strlen(text) + 1, room, out, size);
}
/** Drops a reference and returns whether it was the last one.  The lock is held. */
bool fake_drop(int *references);
/** Takes or drops a reference; an object without any is freed. */
cl_int fake_retain(const char *name, int *references);
cl_int fake_release(const char *name, int *references, void *object);
/** Runs queued commands, unless they are held.  The lock is held. */
void fake_execute_all(void);
/** Puts a command into the queue; between fake_enter and fake_leave. */
cl_int fake_enqueue(struct command command, cl_bool wait, cl_event *event);
/** Returns what a kernel's launch does now. */
struct command fake_launch(cl_kernel k);
/** Waits until queued commands are done.  The lock is held. */
void fake_await_queue(void);
