/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a model file and makes the compiler's graph of it: c->model first, with builder calls made, then c->graph, after
 * build's checks.
 */
#include <stdlib.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"

bool read_model(struct compilation *c)
{
    struct error e = {0};
    double start = milliseconds_now();

    progress_show(c->options, "reading the model", 0, 0);
    bool ok = model_read(c->context, c->options->input, &c->options->model, &c->model, &e);
    progress_show(c->options, NULL, 0, 0);
    if (!ok)
        complain("%s", e.message);
    else
        print_notes(c->model.notes);
    if (ok && c->options->verbose)
        fprintf(stderr, "webnnc: read in %.1f ms\n", milliseconds_now() - start);
    return ok;
}

bool take_graph(struct compilation *c)
{
    struct error e = {0};

    if (wnnGraphBuilderQuantizeWeights(c->model.builder, c->options->quantize))
        return complain("%.*s", (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
    c->graph = model_take_graph(&c->model, &e);
    if (!c->graph)
        return complain("%s", e.message);
    if (c->options->verbose)
        fprintf(stderr, "webnnc: %u inputs, %u outputs, %u operators\n", c->graph->input_count, c->graph->output_count,
                c->graph->node_count);
    return true;
}
