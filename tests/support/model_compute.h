/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Computes a model that was read and built, as a program would: through the public API, with a buffer for every port. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "frontend/readers/model.h"
#include "random/random.h"

/** Returns whether the graph has an input of that name; an input that no output depends on is none. */
static inline bool graph_has_input(WNNGraph graph, const char *name)
{
    for (size_t i = 0; i < wnnGraphGetInputCount(graph); i++) {
        WNNNamedOperandDescriptor input;

        if (!wnnGraphGetInput(graph, i, &input) && strlen(name) == input.name.length &&
            !memcmp(name, input.name.data, input.name.length))
            return true;
    }
    return false;
}

/** Returns a buffer of zeros for a port, and its number of elements.  The caller frees its data. */
static inline WNNNamedBuffer port_buffer(const struct model_port *p, size_t *elements)
{
    const size_t bytes = wnnOperandDescriptorGetByteLength(&p->descriptor);

    *elements = bytes / wnnOperandDataTypeGetByteSize(p->descriptor.dataType);
    return (WNNNamedBuffer){WNN_STR(p->name), random_alloc(bytes, 1), bytes};
}

/** Fills the data of an input, which is zeros. */
typedef void (*fill_input)(const void *user, const char *name, size_t elements, void *data, size_t bytes);

/**
 * Computes a graph of the model m.  If fill is NULL, inputs are zeros.  Returns false after an error in wnnGetLastErrorMessage.
 */
static inline bool model_compute(const struct model *m, WNNGraph graph, fill_input fill, const void *user)
{
    WNNNamedBuffer *in = random_alloc(m->input_count, sizeof *in), *out = random_alloc(m->output_count, sizeof *out);
    size_t count = 0, elements;

    for (size_t i = 0; i < m->input_count; i++) {
        if (!graph_has_input(graph, m->inputs[i].name))
            continue;
        in[count] = port_buffer(&m->inputs[i], &elements);
        if (fill)
            fill(user, m->inputs[i].name, elements, in[count].data, in[count].byteLength);
        count++;
    }
    for (size_t i = 0; i < m->output_count; i++)
        out[i] = port_buffer(&m->outputs[i], &elements);
    WNNStatus status = wnnGraphCompute(graph, count, in, m->output_count, out);
    for (size_t i = 0; i < count; i++)
        free(in[i].data);
    for (size_t i = 0; i < m->output_count; i++)
        free(out[i].data);
    free(in);
    free(out);
    return !status;
}
