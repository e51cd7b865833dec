/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes a graph of a model's file, with messages. */
#include "examples/support/example.h"

#include "frontend/readers/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool example_error(const struct example *e, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: ", e->program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

bool example_ok(const struct example *e, WNNStatus status, const char *what)
{
    WNNStringView text;

    if (!status)
        return true;
    text = wnnGetLastErrorMessage();
    return example_error(e, "%s: %s: %.*s", what, wnnStatusGetName(status), (int)text.length, text.data);
}

bool example_open(struct example *e, const char *program, const char *path, uint32_t threads)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    struct model_description declared = {0};
    struct model_options batch = {0};
    double start = example_now_ms();
    struct error error = {0};
    bool ok;

    *e = (struct example){.program = program};
    options.threadCount = threads;
    if (!example_ok(e, wnnCreateContext(&options, &e->context), "context"))
        return false;
    struct model_source *source = model_source_open(path, &error);
    ok = source && model_source_describe(source, &declared, &error) &&
         model_single_batch(&declared, NULL, &batch.dim_count, &batch.dims) &&
         model_source_read(source, e->context, &batch, &e->model, &error) &&
         model_build(&e->model, &e->graph, &error) == WNNStatus_Success;
    model_description_free(&declared);
    model_source_close(source);
    if (!ok)
        example_error(e, "%s", error.message);
    e->build_ms = example_now_ms() - start;
    return ok;
}

void example_close(struct example *e)
{
    wnnGraphRelease(e->graph);
    model_free(&e->model);
    wnnContextRelease(e->context);
    *e = (struct example){0};
}

static const struct model_port *find_port(const struct example *e, bool input, const char *name)
{
    const struct model_port *ports = input ? e->model.inputs : e->model.outputs;

    for (size_t i = 0; i < (input ? e->model.input_count : e->model.output_count); i++)
        if (!strcmp(ports[i].name, name))
            return &ports[i];
    return NULL;
}

bool example_expect(const struct example *e, bool input, const char *name, WNNOperandDataType type, size_t rank,
                    const uint32_t *shape)
{
    const struct model_port *port = find_port(e, input, name);
    bool same = port && port->descriptor.dataType == type && port->descriptor.rank == rank;

    for (size_t i = 0; i < rank && same; i++)
        same = !shape[i] || port->descriptor.shape[i] == shape[i];
    return same || example_error(e, "the model has no %s '%s' of the type and shape that this program is for",
                                 input ? "input" : "output", name);
}

const uint32_t *example_shape(const struct example *e, bool input, const char *name)
{
    const struct model_port *port = find_port(e, input, name);

    return port ? port->descriptor.shape : NULL;
}

bool example_tensor(const struct example *e, bool input, const char *name, WNNTensor *tensor)
{
    const struct model_port *port = find_port(e, input, name);
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;

    if (!port)
        return example_error(e, "the model has no %s '%s'", input ? "input" : "output", name);
    d.dataType = port->descriptor.dataType;
    d.rank = port->descriptor.rank;
    d.shape = port->descriptor.shape;
    d.readable = d.writable = true;
    return example_ok(e, wnnContextCreateTensor(e->context, &d, tensor), "tensor");
}

double example_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int example_arguments(int argc, char **argv, const char **words, int capacity, uint32_t *threads, const char *const *names,
                      const char **values)
{
    int count = 0;

    for (int i = 1; i < argc; i++) {
        int known = 0;

        if (argv[i][0] != '-') {
            if (count == capacity)
                return -1;
            words[count++] = argv[i];
            continue;
        }
        if (i + 1 == argc)
            return -1;
        for (; names && names[known] && strcmp(names[known], argv[i]);)
            known++;
        if (!strcmp(argv[i], "--threads"))
            *threads = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (names && names[known])
            values[known] = argv[++i];
        else
            return -1;
    }
    return count;
}
