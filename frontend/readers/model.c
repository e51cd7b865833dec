/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements what readers of every kind share: messages, lists of ports, and the end of a model's life
 * (frontend/readers/model.h).
 */
#include "frontend/readers/model.h"
#include "frontend/readers/files/file.h"
#include "ir/support/suggest.h"
#include "ir/support/table.h"

#include <stdlib.h>

/* ---- the builder and its budget ---- */

/** Makes a message of the builder's last refusal.  Returns false. */
static bool refused(struct error *e)
{
    WNNStringView text = wnnGetLastErrorMessage();

    return file_error(e, "%.*s", (int)text.length, text.data);
}

/** Takes the caller's builder, which must be able to go on. */
static bool take_builder(const struct model_options *options, struct model *model, struct error *e)
{
    WNNStringView text;

    if (wnnGraphBuilderGetError(options->builder, &text))
        return file_error(e, "the builder to read into has an error already: %.*s", (int)text.length, text.data);
    if (wnnGraphBuilderSpend(options->builder, WNN_STR("reading a model"), 0, 0))
        return refused(e);
    if ((options->budget.operations || options->budget.bytes) &&
        wnnGraphBuilderSetBudget(options->builder, &options->budget, 0))
        return refused(e);
    wnnGraphBuilderAddRef(options->builder);
    model->builder = options->builder;
    model->lends_builder = true;
    return true;
}

bool model_create_builder(WNNContext context, const struct model_options *options, uint64_t bytes, struct model *model,
                          struct error *e)
{
    const WNNBudget general = wnnContextGetBudget(context);

    if (options->builder)
        return take_builder(options, model, e);
    model->budget = options->budget;
    if (!model->budget.operations)
        model->budget.operations = general.operations;
    if (!model->budget.bytes)
        model->budget.bytes = general.bytes;
    if (wnnContextCreateGraphBuilder(context, &model->builder))
        return refused(e);
    model_add_source(model, bytes);
    return true;
}

void model_add_source(struct model *model, uint64_t bytes)
{
    model->source_bytes = bytes < UINT64_MAX - model->source_bytes ? model->source_bytes + bytes : UINT64_MAX;
    if (model->lends_builder)
        return;
    if (wnnGraphBuilderSetBudget(model->builder, &model->budget, model->source_bytes ? model->source_bytes : 1))
        return; /* the context was lost meanwhile, which the next call of the builder says */
}

bool model_spend(const struct model *model, const char *what, uint64_t operations, uint64_t bytes, struct error *e)
{
    return !wnnGraphBuilderSpend(model->builder, WNN_STR(what), operations, bytes) || refused(e);
}

/* ---- ports ---- */

static bool add_port(struct model_port **ports, size_t *count, const char *name, WNNOperand operand, bool is_boolean)
{
    if (!array_extend(ports, *count, sizeof **ports))
        return false;
    struct model_port *port = &(*ports)[*count];
    port->name = strdup(name);
    if (!port->name)
        return false;
    port->operand = operand;
    port->descriptor =
        (WNNOperandDescriptor){wnnOperandGetDataType(operand), wnnOperandGetRank(operand), wnnOperandGetShape(operand), NULL};
    port->is_boolean = is_boolean;
    port->count = NULL;
    port->counted = 0;
    ++*count;
    return true;
}

bool model_add_input(struct model *model, const char *name, WNNOperand operand, bool is_boolean)
{
    return add_port(&model->inputs, &model->input_count, name, operand, is_boolean);
}

bool model_add_output(struct model *model, const char *name, WNNOperand operand, bool is_boolean)
{
    return add_port(&model->outputs, &model->output_count, name, operand, is_boolean);
}

bool model_add_count(struct model *model, size_t i, uint32_t d, WNNOperand count)
{
    const size_t size = strlen(model->outputs[i].name) + 32;
    char *name = malloc(size);
    bool ok = name;

    if (ok) {
        snprintf(name, size, "%s.shape[%u]", model->outputs[i].name, d);
        ok = model_add_output(model, name, count, false);
    }
    free(name);
    model->outputs[i].count = ok ? count : NULL;
    model->outputs[i].counted = d;
    return ok;
}

/* ---- options ---- */

const char *model_option_name(const struct model_options *options, enum model_option option)
{
    static const char *const names[][2] = {{"dimensions", "--dim"}, {"shapes", "--shape"}, {"constants", "--constant"}};

    return names[option][options->command];
}

/** Refuses the name of an output that the model does not have, or that is chosen already, as the first `taken` ones are. */
static bool refuse_output(const struct model *model, size_t taken, const char *name, struct error *e)
{
    struct suggestion meant = suggestion_for(name, strlen(name));

    for (size_t i = 0; i < model->output_count; i++) {
        if (i < taken && !strcmp(model->outputs[i].name, name))
            return file_error(e, "output \"%s\" is requested twice", NAME_SHOWN(name));
        suggestion_offer(&meant, model->outputs[i].name);
    }
    return file_error(e, "the model has no output '%s'%s", NAME_SHOWN(name), suggestion_list(&meant));
}

static void swap_outputs(struct model *model, size_t i, size_t k)
{
    const struct model_port other = model->outputs[k];

    model->outputs[k] = model->outputs[i];
    model->outputs[i] = other;
}

bool model_choose_outputs(struct model *model, const struct model_options *options, struct error *e)
{
    const size_t count = options->output_count;
    size_t kept = count;

    for (size_t i = 0; i < count; i++) {
        size_t k = i;

        while (k < model->output_count && strcmp(model->outputs[k].name, options->outputs[i]) != 0)
            k++;
        if (k >= model->output_count)
            return refuse_output(model, i, options->outputs[i], e);
        swap_outputs(model, i, k);
    }
    for (size_t i = 0; i < count; i++) /* what counts them stays, too, unless it is chosen already */
        for (size_t k = kept; model->outputs[i].count && k < model->output_count; k++)
            if (model->outputs[k].operand == model->outputs[i].count)
                swap_outputs(model, kept++, k);
    for (; count && model->output_count > kept; model->output_count--)
        free(model->outputs[model->output_count - 1].name);
    return true;
}

/* ---- the end ---- */

WNNNamedOperand *model_outputs(const struct model *model)
{
    WNNNamedOperand *outputs = calloc(model->output_count + 1, sizeof *outputs);

    for (size_t i = 0; outputs && i < model->output_count; i++)
        outputs[i] = (WNNNamedOperand){WNN_STR(model->outputs[i].name), model->outputs[i].operand};
    return outputs;
}

WNNStatus model_build(const struct model *model, WNNGraph *graph, struct error *e)
{
    WNNNamedOperand *outputs = model_outputs(model);
    WNNStatus status = WNNStatus_UnknownError;

    *graph = NULL;
    if (!outputs)
        error_out_of_memory(e);
    else if ((status = wnnGraphBuilderBuild(model->builder, model->output_count, outputs, graph)) != WNNStatus_Success)
        refused(e);
    free(outputs);
    return status;
}

static void free_ports(size_t count, struct model_port *ports)
{
    for (size_t i = 0; i < count; i++)
        free(ports[i].name);
    free(ports);
}

void model_free(struct model *model)
{
    free_ports(model->input_count, model->inputs);
    free_ports(model->output_count, model->outputs);
    if (model->builder)
        wnnGraphBuilderRelease(model->builder);
    free(model->name);
    free(model->notes);
    memset(model, 0, sizeof *model);
}
