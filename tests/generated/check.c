/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Checks of a model: it is read or refused with a message; what is read verifies, prints and parses back, and is computed by
 * the engine as by the reference interpreter.  A model that is too large for the interpreter is built, and computed if that is
 * a moderate effort.
 */
#include "generated.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/builder/builder.h"
#include "random/random.h"
#include "support/model_compute.h"

/* Limits of computing: elements of all values, and about how many operations. */
#define COMPARED_ELEMENTS 0x1p18
#define COMPARED_WORK 0x1p24
#define COMPUTED_BYTES 0x1p24
#define COMPUTED_WORK 0x1p27

static const char *const variants[] = {"default", "no-passes", "no-library"};
enum { VARIANTS = sizeof variants / sizeof *variants };

struct gen_checker {
    WNNContext context; /* reads */
    struct variant variants[VARIANTS];
};

struct gen_checker *gen_checker_create(void)
{
    struct gen_checker *c = calloc(1, sizeof *c);
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;

    options.threadCount = 1;
    if (!c || wnnCreateContext(&options, &c->context))
        abort();
    return c;
}

void gen_checker_free(struct gen_checker *c)
{
    for (int i = 0; i < VARIANTS; i++)
        if (c->variants[i].context)
            variant_release(&c->variants[i]);
    wnnContextRelease(c->context);
    free(c);
}

static enum gen_verdict wrong(char *message, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum gen_verdict wrong(char *message, size_t size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, size, format, arguments);
    va_end(arguments);
    return GEN_WRONG;
}

/** Takes over what a reader said. */
static enum gen_verdict refused(const struct error *e, const struct model *read, char *message, size_t size)
{
    if (!*e->message)
        return wrong(message, size, "refused without a message");
    if (read->builder || read->inputs || read->outputs || read->name)
        return wrong(message, size, "refused, but the model is not empty");
    const char *inputs = strstr(e->message, "; its inputs are "); /* which the search knows */
    snprintf(message, size, "%.*s", inputs ? (int)(inputs - e->message) : (int)size, e->message);
    return GEN_REFUSED;
}

enum gen_verdict gen_check_reading(struct gen_checker *c, struct gen_model *m, char *message, size_t size)
{
    struct error e = {0};
    struct model read;

    gen_listen();
    if (!gen_read(m, c->context, &read, &e))
        return refused(&e, &read, message, size);
    for (size_t i = 0; i < read.output_count; i++) {
        const struct model_port *port = &read.outputs[i];
        unsigned index = (unsigned)strtoul(port->name + 1, NULL, 10);
        struct gen_tensor *t = &m->tensors[index < m->tensor_count ? index : 0];

        t->type = (uint8_t)(port->is_boolean ? ONNX_BOOL : onnx_type_of(port->descriptor.dataType));
        t->rank = (uint8_t)port->descriptor.rank;
        for (unsigned d = 0; d < t->rank && d < GEN_RANK; d++)
            t->dims[d] = port->descriptor.shape[d];
    }
    model_free(&read);
    return GEN_ACCEPTED;
}

/* ---- how much ---- */

struct effort {
    double elements, bytes, work;
};

static void add_value(struct effort *e, const struct value *v)
{
    e->elements += (double)type_elements(&v->type);
    e->bytes += (double)type_bytes(&v->type);
}

/** An upper bound that needs no facts of the operator: an operation that is not element-wise might read everything for every
 * element.
 */
static struct effort effort_of(const struct graph *g)
{
    struct effort e = {0, 0, 0};

    for (uint32_t i = 0; i < g->input_count; i++)
        add_value(&e, g->inputs[i]);
    for (const struct value *k = g->first_constant; k; k = k->next_constant)
        add_value(&e, k);
    graph_for_each (g, n) {
        double in = 1, out = 1, most = 1;

        for (uint32_t i = 0; i < n->input_count; i++) {
            double count = n->inputs[i].value ? (double)type_elements(&n->inputs[i].value->type) : 0;
            in += count;
            most = count > most ? count : most;
        }
        for (uint32_t i = 0; i < n->result_count; i++) {
            out += (double)type_elements(&n->results[i]->type);
            add_value(&e, n->results[i]);
        }
        if (op_infos[n->op].flags & OPF_RECURRENT)
            e.work += in * in;
        else if (op_infos[n->op].flags & (OPF_LIBRARY | OPF_POOL))
            e.work += out * most;
        else
            e.work += in + out;
    }
    return e;
}

/* ---- computing ---- */

/** Fills the data of an input as the model says. */
static void fill_model_input(const void *user, const char *name, size_t elements, void *data, size_t bytes)
{
    const struct gen_model *m = user;
    unsigned index = *name == 't' ? (unsigned)strtoul(name + 1, NULL, 10) : 0;
    const struct gen_tensor *t = &m->tensors[index < m->tensor_count ? index : 0];

    if (elements * gen_type_size(t->type) == bytes)
        gen_tensor_fill(t, elements, data);
}

/** Compares with the interpreter; takes over the graph. */
static enum gen_verdict compare(struct gen_checker *c, const struct gen_model *m, struct graph *g, uint32_t seed, char *message,
                                size_t size)
{
    struct variant *v = &c->variants[seed % 4 < VARIANTS ? seed % 4 : 0];
    struct sample s = {.g = g};
    char report[CHECK_REPORT] = "";
    enum gen_verdict verdict = GEN_COMPARED;

    if (!v->context)
        variant_init(v, variants[v - c->variants]);
    for (uint32_t i = 0; i < g->input_count; i++) {
        const struct value *in = g->inputs[i];
        const size_t bytes = (size_t)type_bytes(&in->type);
        void *data = random_alloc(bytes, 1);

        fill_model_input(m, in->name, (size_t)type_elements(&in->type), data, bytes);
        sample_set_data(&s, in, data, NULL);
    }
    if (!sample_evaluate(&s))
        verdict = wrong(message, size, "the interpreter refuses a node");
    else if (!check_sample(&s, report))
        verdict = wrong(message, size, "%s", report);
    else if (!check_variant(&s, v, NULL, report))
        verdict = wrong(message, size, "variant %s: %s", v->name, report);
    sample_free(&s);
    return verdict;
}

/** Reads and builds the model as a program would, and computes it if that is not too much. */
static enum gen_verdict build(struct gen_checker *c, const struct gen_model *m, bool is_computed, char *message, size_t size)
{
    enum gen_verdict verdict = GEN_ACCEPTED;
    WNNGraph graph = NULL;
    struct error e = {0};
    struct model read;

    if (!gen_read(m, c->context, &read, &e))
        return wrong(message, size, "refused when it is read again");
    if (model_build(&read, &graph, &e)) {
        verdict = *e.message ? GEN_REFUSED : wrong(message, size, "build failed without a message");
        snprintf(message, size, "%s", e.message);
    } else if (is_computed) {
        verdict = model_compute(&read, graph, fill_model_input, m)
                      ? GEN_COMPUTED
                      : wrong(message, size, "compute: %s", wnnGetLastErrorMessage().data);
    }
    wnnGraphRelease(graph);
    model_free(&read);
    return verdict;
}

enum gen_verdict gen_check(struct gen_checker *c, const struct gen_model *m, uint32_t seed, char *message, size_t size)
{
    WNNNamedOperand outputs[GEN_TENSORS];
    struct error e = {0};
    struct model read;

    gen_listen();
    if (!gen_read(m, c->context, &read, &e))
        return refused(&e, &read, message, size);
    for (size_t i = 0; i < read.output_count && i < GEN_TENSORS; i++)
        outputs[i] = (WNNNamedOperand){WNN_STR(read.outputs[i].name), read.outputs[i].operand};
    struct graph *g = builder_take_graph(read.builder, read.output_count, outputs, &e);
    model_free(&read);
    if (!g) {
        snprintf(message, size, "%s", e.message);
        return *e.message ? GEN_REFUSED : wrong(message, size, "build refuses without a message");
    }
    if (!graph_verify(g, stderr)) {
        graph_free(g);
        return wrong(message, size, "the verifier refuses the graph");
    }
    struct effort effort = effort_of(g);
    if (effort.elements <= COMPARED_ELEMENTS && effort.work <= COMPARED_WORK)
        return compare(c, m, g, seed, message, size);
    graph_free(g);
    return build(c, m, effort.bytes <= COMPUTED_BYTES && effort.work <= COMPUTED_WORK, message, size);
}
