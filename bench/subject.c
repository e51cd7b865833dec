/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Opens contexts, and gives a built graph what it computes from and into: buffers of the host, or tensors that stay where the
 * engine computes, so that nothing is moved between its memory and the host's.
 */
#include "bench/subject.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/files/manifest.h"

/* ---- contexts ---- */

bool subject_say_last_error(struct error *e, const char *what)
{
    WNNStringView text = wnnGetLastErrorMessage();

    return file_error(e, "%s: %.*s", what, (int)text.length, text.data);
}

bool subject_open(struct subject *s, const struct bench_options *o, const char *debug, struct error *e)
{
    WNNContextOptions c = WNN_CONTEXT_OPTIONS_INIT;

    s->given = o->given;
    s->resident = o->tensors && !o->check && !o->same_bits; /* which look at the outputs */
    c.accelerated = getenv("WEBNN_ENGINE") != NULL;         /* which --engine sets: else it is the processor that is measured */
    if (!c.accelerated && !getenv("WEBNN_CACHE"))           /* builds compile all kernels, unless somebody asks for kept ones */
        c.cache = WNN_STR("off");
    c.threadCount = o->threads;
    c.precision = o->precision;
    c.deterministic = o->deterministic;
    c.budget = o->budget;
    c.debug = debug ? (WNNStringView){debug, strlen(debug)} : c.debug;
    return wnnCreateContext(&c, &s->context) == WNNStatus_Success || subject_say_last_error(e, "context");
}

/* ---- buffers and tensors ---- */

size_t subject_bytes(const WNNOperandDescriptor *d)
{
    size_t bytes = wnnOperandDataTypeGetByteSize(d->dataType);

    for (size_t i = 0; i < d->rank; i++)
        bytes *= d->shape[i];
    return bytes;
}

static void *descriptor_buffer(const WNNOperandDescriptor *d, size_t *bytes)
{
    *bytes = subject_bytes(d);
    return aligned_alloc(64, (*bytes + 63) / 64 * 64);
}

/** Fills an input with what the model's case has for it, if that has its type and size, else with noise. */
static void fill_input(const struct subject *s, const WNNNamedOperandDescriptor *d, uint32_t seed, WNNNamedBuffer *b)
{
    for (size_t i = 0; s->given && i < s->given->input_count; i++) {
        const struct manifest_array *a = &s->given->inputs[i];

        if (strlen(a->name) == d->name.length && !memcmp(a->name, d->name.data, d->name.length) &&
            a->array.dataType == d->descriptor.dataType && a->array.byteLength == b->byteLength) {
            memcpy(b->data, a->array.data, b->byteLength);
            return;
        }
    }
    bench_noise(d->descriptor.dataType, b->byteLength, seed, b->data);
}

/* Makes a tensor that holds what the buffer does. */
static bool make_tensor(struct subject *s, const WNNOperandDescriptor *d, const WNNNamedBuffer *b, WNNNamedTensor *t)
{
    const WNNTensorDescriptor descriptor = {
        .dataType = d->dataType, .rank = d->rank, .shape = d->shape, .readable = true, .writable = true};

    t->name = b->name;
    return wnnContextCreateTensor(s->context, &descriptor, &t->tensor) == WNNStatus_Success &&
           wnnContextWriteTensor(s->context, t->tensor, b->data, b->byteLength) == WNNStatus_Success;
}

static bool make_mark(struct subject *s)
{
    const WNNTensorDescriptor descriptor = {.dataType = WNNOperandDataType_Float32, .readable = true};

    return wnnContextCreateTensor(s->context, &descriptor, &s->mark) == WNNStatus_Success;
}

bool subject_bind(struct subject *s, struct error *e)
{
    WNNNamedOperandDescriptor d;

    s->input_count = wnnGraphGetInputCount(s->graph);
    s->output_count = wnnGraphGetOutputCount(s->graph);
    if (s->input_count > BINDINGS_MAX || s->output_count > BINDINGS_MAX) {
        s->input_count = s->output_count = 0;
        return file_error(e, "more than %d inputs or outputs", BINDINGS_MAX);
    }
    for (size_t i = 0; i < s->input_count + s->output_count; i++) {
        bool input = i < s->input_count;
        size_t k = input ? i : i - s->input_count;
        WNNNamedBuffer *b = input ? &s->inputs[k] : &s->outputs[k];

        if (input ? wnnGraphGetInput(s->graph, k, &d) : wnnGraphGetOutput(s->graph, k, &d))
            return subject_say_last_error(e, "bindings");
        b->name = d.name;
        b->data = descriptor_buffer(&d.descriptor, &b->byteLength);
        if (!b->data)
            return file_error(e, "out of memory");
        if (input)
            fill_input(s, &d, (uint32_t)i + 1, b);
        else
            memset(b->data, 0, b->byteLength);
        if (s->resident && !make_tensor(s, &d.descriptor, b, input ? &s->input_tensors[k] : &s->output_tensors[k]))
            return subject_say_last_error(e, "tensors");
    }
    return !s->resident || make_mark(s) || subject_say_last_error(e, "tensors");
}

void subject_close(struct subject *s)
{
    for (size_t i = 0; i < BINDINGS_MAX; i++) {
        free(s->inputs[i].data);
        free(s->outputs[i].data);
        wnnTensorRelease(s->input_tensors[i].tensor);
        wnnTensorRelease(s->output_tensors[i].tensor);
    }
    wnnTensorRelease(s->mark);
    wnnGraphRelease(s->graph);
    wnnContextRelease(s->context);
    *s = (struct subject){0};
}

bool subject_run(void *user)
{
    struct subject *s = user;

    float mark;

    if (s->resident)
        return wnnContextDispatch(s->context, s->graph, s->input_count, s->input_tensors, s->output_count, s->output_tensors) ==
                   WNNStatus_Success &&
               wnnContextReadTensor(s->context, s->mark, &mark, sizeof mark) == WNNStatus_Success;
    return wnnGraphCompute(s->graph, s->input_count, s->inputs, s->output_count, s->outputs) == WNNStatus_Success;
}
