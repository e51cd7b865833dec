/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements reading models over the readers of frontend/readers: what a WNNModel is, and what it answers.
 */

#include <stdatomic.h>
#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/ports.h"
#include "frontend/readers/public/reader.h"

struct WNNModelImpl {
    atomic_size_t references;
    struct model model;
};

/* ---- reading ---- */

/** Says where a model comes from: the file at path, or, if bytes is not NULL, memory, with path next to which its files lie. */
struct source {
    const char *path;
    const void *bytes;
    size_t length;
};

static WNNStatus read_source(WNNContext context, const struct source *from, const WNNModelOptions *options, WNNModel *model)
{
    struct WNNModelImpl *made = calloc(1, sizeof *made);
    struct request r = {0};
    struct error e = {0};
    WNNStatus status = made ? request_make(&r, options) : reader_no_memory();

    if (!status && !context && !r.options.builder)
        status = reader_refuse("wnnModelRead%s: context is NULL", from->bytes ? "Memory" : "");
    if (!status) {
        struct model *into = &made->model;
        bool ok = from->bytes ? model_read_memory(context, from->path, from->bytes, from->length, &r.options, into, &e)
                              : model_read(context, from->path, &r.options, into, &e);

        if (!ok)
            status = reader_publish(&e);
    }
    arena_free(&r.memory);
    if (!status && options && made->model.lends_builder)
        wnnGraphBuilderClearError(made->model.builder); /* of what the reader tried */
    if (status) {
        free(made);
        return status;
    }
    atomic_init(&made->references, 1);
    *model = made;
    return WNNStatus_Success;
}

WNNStatus wnnModelRead(WNNContext context, char const *path, WNNModelOptions const *options, WNNModel *model)
{
    REFUSE_NULL(model);
    *model = NULL;
    REFUSE_NULL(path);
    return read_source(context, &(struct source){.path = path}, options, model);
}

WNNStatus wnnModelReadMemory(WNNContext context, void const *data, size_t byteLength, WNNModelOptions const *options,
                             WNNModel *model)
{
    const char *path = options && options->path ? options->path : FILE_NO_PATH;

    REFUSE_NULL(model);
    *model = NULL;
    REFUSE_NULL(data);
    return read_source(context, &(struct source){path, data, byteLength}, options, model);
}

/* ---- what was read ---- */

void wnnModelAddRef(WNNModel model)
{
    if (model)
        atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
}

void wnnModelRelease(WNNModel model)
{
    if (!model || atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) > 1)
        return;
    model_free(&model->model);
    free(model);
}

WNNStringView wnnModelGetName(WNNModel model)
{
    return reader_view(model ? model->model.name : NULL);
}

WNNStringView wnnModelGetNotes(WNNModel model)
{
    return reader_view(model ? model->model.notes : NULL);
}

size_t wnnModelGetInputCount(WNNModel model)
{
    return model ? model->model.input_count : 0;
}

size_t wnnModelGetOutputCount(WNNModel model)
{
    return model ? model->model.output_count : 0;
}

static WNNStatus describe(const char *what, const struct model_port *ports, size_t count, size_t index, WNNModelPort *port)
{
    if (index >= count)
        return reader_refuse("the model has %zu %s, number %zu is requested (the first is 0)", count, what, index);
    *port = (WNNModelPort){reader_view(ports[index].name), ports[index].operand, ports[index].descriptor,
                           ports[index].is_boolean,        ports[index].count,   ports[index].counted};
    return WNNStatus_Success;
}

WNNStatus wnnModelGetInput(WNNModel model, size_t index, WNNModelPort *port)
{
    REFUSE_NULL(model);
    REFUSE_NULL(port);
    return describe("inputs", model->model.inputs, model->model.input_count, index, port);
}

WNNStatus wnnModelGetOutput(WNNModel model, size_t index, WNNModelPort *port)
{
    REFUSE_NULL(model);
    REFUSE_NULL(port);
    return describe("outputs", model->model.outputs, model->model.output_count, index, port);
}

bool wnnModelIsCount(WNNStringView name, WNNStringView *of, size_t *dimension)
{
    return name.data && of && dimension && ports_is_count(name, of, dimension);
}

WNNGraphBuilder wnnModelGetBuilder(WNNModel model)
{
    return model ? model->model.builder : NULL;
}

WNNStatus wnnModelBuild(WNNModel model, WNNGraph *graph)
{
    struct error e = {0};

    REFUSE_NULL(graph);
    *graph = NULL;
    REFUSE_NULL(model);
    e.status = model_build(&model->model, graph, &e);
    return reader_publish(&e);
}
