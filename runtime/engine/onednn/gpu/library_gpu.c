/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Creating the library on a device, and running its steps there.
 *
 * The file is the only one that includes oneDNN's header for OpenCL, which brings OpenCL's types along.
 */
#include "runtime/engine/onednn/gpu/library_gpu.h"

#include "runtime/engine/onednn/onednn_step.h"

#if defined(DNNL_GPU_RUNTIME) && defined(DNNL_RUNTIME_OCL) && DNNL_GPU_RUNTIME == DNNL_RUNTIME_OCL && defined(WEBNN_OPENCL)
#define CL_TARGET_OPENCL_VERSION 120
#include <oneapi/dnnl/dnnl_debug.h>
#include <oneapi/dnnl/dnnl_ocl.h>

/* ---- oneDNN's functions for OpenCL, without their "dnnl_ocl_interop_" ---- */

#define OCL_FUNCTIONS(F) F(engine_create) F(stream_create) F(memory_create) F(memory_set_mem_object)

static struct {
#define MEMBER(name) __typeof__(dnnl_ocl_interop_##name) *name;
    OCL_FUNCTIONS(MEMBER)
#undef MEMBER
    bool all; /* of them are there */
} ocl;

static void find_functions(void)
{
    ocl.all = true;
#define FIND(name)                                                                                                             \
    *(void **)&ocl.name = onednn_find("dnnl_ocl_interop_" #name);                                                              \
    ocl.all &= ocl.name != NULL;
    OCL_FUNCTIONS(FIND)
#undef FIND
}

/* ---- creation ---- */

struct engine_creation {
    const struct library_gpu_options *options;
    dnnl_engine_t engine;
};

static dnnl_status_t create_engine(void *user)
{
    struct engine_creation *c = user;

    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_functions);
    if (!ocl.all || !onednn.engine_get_count(dnnl_gpu))
        return dnnl_unimplemented;
    return ocl.engine_create(&c->engine, c->options->device, c->options->context);
}

struct library *library_gpu_create(const struct library_gpu_options *options)
{
    struct engine_creation c = {.options = options};
    struct error ignored = {.status = WNNStatus_Success};
    struct library *l = calloc(1, sizeof *l);

    if (!l || pthread_mutex_init(&l->mutex, NULL)) {
        free(l);
        return NULL;
    }
    l->owner = options->owner;
    l->threads = 1;
    l->exact = true; /* sums of 8-bit products are of 32 bits */
    l->keep_weights = true;
    l->machine = (struct dnn_machine){.device = true, .begins_with_addend = true, .references = options->references};
    /* The library's processor engine first: it also sets what the process' environment may say to the library. */
    l->host = library_create(options->isa, 1, NULL, &ignored);
    if (l->host && memory_has_room(DNN_ROOM_BYTES) && dnn_protect(create_engine, &c) == dnnl_success) {
        l->engine = c.engine;
        return l;
    }
    library_free(l);
    return NULL;
}

struct stream_creation {
    dnnl_engine_t engine;
    cl_command_queue queue;
    dnnl_stream_t stream;
};

static dnnl_status_t create_stream(void *user)
{
    struct stream_creation *c = user;

    return ocl.stream_create(&c->stream, c->engine, c->queue);
}

bool library_gpu_use_queue(struct library *l, void *queue)
{
    struct stream_creation c = {l->engine, queue, NULL};

    if (dnn_protect(create_stream, &c) != dnnl_success)
        return false;
    if (l->stream)
        onednn.stream_destroy(l->stream);
    l->stream = c.stream;
    return true;
}

/* ---- steps ---- */

static bool upload(struct engine *en, struct argument *a, struct error *e)
{
    a->buffer = en->functions->buffer_create(en, a->bytes, e);
    return a->buffer && en->functions->buffer_write(en, a->buffer, 0, a->data, a->bytes, e);
}

bool library_gpu_upload(struct library_step *s, struct error *e)
{
    for (uint32_t i = 0; i < s->call_count; i++)
        for (uint32_t k = 0; k < s->calls[i].count; k++) {
            struct argument *a = &s->calls[i].args[k];

            if (a->source == FROM_CONSTANT && !upload(s->library->owner, a, e))
                return false;
            if (s->weights.packed && a->data == s->weights.packed->data && s->weights.in_layout) {
                constant_release(s->weights.packed);
                s->weights.packed = NULL;
                a->data = NULL;
            }
        }
    return true;
}

void library_gpu_step_free(struct library_step *s)
{
    for (uint32_t i = 0; s && i < CALLS_MAX; i++)
        for (uint32_t k = 0; k < s->calls[i].count; k++)
            if (s->calls[i].args[k].buffer)
                s->library->owner->functions->buffer_free(s->library->owner, s->calls[i].args[k].buffer);
    library_step_free(s);
}

/* ---- running ---- */

_Static_assert((int)CALLS_MAX *(int)ARGS_MAX <= (int)LIBRARY_GPU_OPERANDS_MAX, "operands of a step");

struct library_gpu_bindings {
    const struct library_step *step;
    uint32_t counts[CALLS_MAX];
    dnnl_exec_arg_t args[CALLS_MAX][ARGS_MAX];
};

/** Areas of scratch memory are told apart by their offsets: the one that a reorder writes is the one that is read then. */
static uint32_t scratch_area(int64_t offset, uint32_t *count, int64_t *offsets)
{
    uint32_t i = 0;

    while (i < *count && offsets[i] != offset)
        i++;
    if (i == *count)
        offsets[(*count)++] = offset;
    return i;
}

uint32_t library_gpu_operands(const struct library_step *s, struct library_gpu_operand *out)
{
    int64_t offsets[CALLS_MAX * ARGS_MAX];
    uint32_t count = 0, areas = 0;

    for (uint32_t i = 0; i < s->call_count; i++)
        for (uint32_t k = 0; k < s->calls[i].count; k++) {
            const struct argument *a = &s->calls[i].args[k];
            struct library_gpu_operand *o = &out[count++];

            *o = (struct library_gpu_operand){.index = a->input, .buffer = a->buffer};
            switch (a->source) {
            case FROM_INPUT:
                o->source = LIBRARY_GPU_INPUT;
                break;
            case FROM_OUTPUT:
                o->source = LIBRARY_GPU_OUTPUT;
                break;
            case FROM_CONSTANT:
                o->source = LIBRARY_GPU_CONSTANT;
                break;
            case FROM_SCRATCH:
                o->source = LIBRARY_GPU_SCRATCH;
                o->index = scratch_area(a->offset, &areas, offsets);
                o->bytes = (int64_t)onednn.memory_desc_get_size(a->md);
                break;
            }
        }
    return count;
}

struct gpu_binding {
    struct library_gpu_bindings *b;
    void *const *constants;
};

/* Constants are bound once: the library fills the padding of a layout with zeros whenever it is given memory for it. */
static dnnl_status_t bind_calls(void *user)
{
    const struct gpu_binding *binding = user;
    struct library_gpu_bindings *b = binding->b;
    const struct library_step *s = b->step;
    uint32_t operand = 0;

    for (uint32_t i = 0; i < s->call_count; i++)
        for (uint32_t k = 0; k < s->calls[i].count; k++, operand++) {
            const struct argument *a = &s->calls[i].args[k];
            void *memory = a->source == FROM_CONSTANT ? binding->constants[operand] : DNNL_MEMORY_NONE;
            dnnl_exec_arg_t *to = &b->args[i][k];
            const dnnl_status_t status =
                ocl.memory_create(&to->memory, a->md, s->library->engine, dnnl_ocl_interop_buffer, memory);

            to->arg = a->id;
            if (status != dnnl_success)
                return status;
            b->counts[i]++;
        }
    return dnnl_success;
}

struct library_gpu_bindings *library_gpu_bindings_create(const struct library_step *s, void *const *constants, struct error *e)
{
    struct library_gpu_bindings *b = calloc(1, sizeof *b);

    dnnl_status_t status = dnnl_out_of_memory;

    if (b) {
        b->step = s;
        if (memory_has_room(DNN_ROOM_BYTES))
            status = dnn_protect(bind_calls, &(struct gpu_binding){b, constants});
        if (status == dnnl_success)
            return b;
    }
    if (status == dnnl_out_of_memory)
        error_out_of_memory(e);
    else
        error_set(e, WNNStatus_OperationError, "oneDNN does not accept memory of the device: %s", onednn.status2str(status));
    library_gpu_bindings_free(b);
    return NULL;
}

void library_gpu_bindings_free(struct library_gpu_bindings *b)
{
    for (uint32_t i = 0; b && i < CALLS_MAX; i++)
        for (uint32_t k = 0; k < b->counts[i]; k++)
            onednn.memory_destroy(b->args[i][k].memory);
    free(b);
}

struct gpu_run {
    const struct library_step *s;
    struct library_gpu_bindings *b;
    void *const *memory;
};

static dnnl_status_t set_memory(const struct gpu_run *r, bool none)
{
    uint32_t operand = 0;

    for (uint32_t i = 0; i < r->s->call_count; i++)
        for (uint32_t k = 0; k < r->b->counts[i]; k++, operand++) {
            const bool constant = r->s->calls[i].args[k].source == FROM_CONSTANT;
            const dnnl_status_t status =
                constant ? dnnl_success : ocl.memory_set_mem_object(r->b->args[i][k].memory, none ? NULL : r->memory[operand]);

            if (status != dnnl_success)
                return status;
        }
    return dnnl_success;
}

/* The library keeps what it was given until it is given something else: not beyond the run, so that buffers can go. */
static dnnl_status_t run_calls(void *user)
{
    const struct gpu_run *r = user;
    dnnl_status_t status = set_memory(r, false);

    for (uint32_t i = 0; status == dnnl_success && i < r->s->call_count; i++)
        status = onednn.primitive_execute(r->s->calls[i].primitive, r->s->library->stream, (int)r->b->counts[i], r->b->args[i]);
    const dnnl_status_t cleared = set_memory(r, true);
    return status == dnnl_success ? cleared : status;
}

bool library_gpu_run(const struct library_step *s, struct library_gpu_bindings *b, void *const *memory, const char **why)
{
    const dnnl_status_t status = dnn_protect(run_calls, &(struct gpu_run){s, b, memory});

    *why = onednn.status2str(status);
    return status == dnnl_success;
}

#else /* oneDNN has no OpenCL: there is no library, so that none of the functions after the first is called */

struct library *library_gpu_create(const struct library_gpu_options *options)
{
    (void)options;
    return NULL;
}

bool library_gpu_use_queue(struct library *l, void *queue)
{
    (void)l;
    (void)queue;
    return false;
}

bool library_gpu_upload(struct library_step *s, struct error *e)
{
    (void)s;
    return error_set(e, WNNStatus_NotSupportedError, "oneDNN was built without OpenCL");
}

void library_gpu_step_free(struct library_step *s)
{
    library_step_free(s);
}

uint32_t library_gpu_operands(const struct library_step *s, struct library_gpu_operand *out)
{
    (void)s;
    (void)out;
    return 0;
}

struct library_gpu_bindings *library_gpu_bindings_create(const struct library_step *s, void *const *constants, struct error *e)
{
    (void)s;
    (void)constants;
    return error_null(e, WNNStatus_NotSupportedError, "oneDNN was built without OpenCL");
}

void library_gpu_bindings_free(struct library_gpu_bindings *b)
{
    (void)b;
}

bool library_gpu_run(const struct library_step *s, struct library_gpu_bindings *b, void *const *memory, const char **why)
{
    (void)s;
    (void)b;
    (void)memory;
    *why = "oneDNN was built without OpenCL";
    return false;
}
#endif
