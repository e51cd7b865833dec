/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the bytes of an object of the graph: says the compiler's program in the terms of codegen/object/object.h.
 *
 * Without a library the program's steps become code, and its constants one blob.  With oneDNN the program becomes a serialized
 * program (runtime/program/serialized.h), and only its kernels are code.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "runtime/api/context.h"
#include "runtime/program/serialized.h"

/* ---- compiling ---- */

static bool tick(void *user)
{
    progress_show(user, "passes", 0, 0);
    return false;
}

bool compile_program(struct compilation *c)
{
    const struct options *o = c->options;
    struct engine *en = c->context->engine;
    struct compile_times times;
    struct error e = {0};
    double start = clock_ms();

    if (!compile_for_target(en, &c->target, c->graph, tick, (void *)o, &c->program, &times, &e)) {
        progress_show(o, NULL, 0, 0);
        return complain("%s", e.message);
    }
    progress_show(o, NULL, 0, 0);
    if (o->verbose || en->debug->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "webnnc: passes %.1f ms, lowering %.1f ms, storage %.1f ms, library %.1f ms, together %.1f ms\n",
                times.passes, times.lower, times.storage, times.library, clock_ms() - start);
    if (en->debug->flags & DEBUG_DUMP_PROGRAM)
        program_print(&c->program, stderr);
    return true;
}

/* ---- a standalone program ---- */

struct standalone {
    struct compilation *c;
    struct object_program p;
    char *blob;
};

/* Gathers all constants in one piece, each at a multiple of TARGET_ALIGNMENT. */
static bool gather_constants(struct standalone *s)
{
    const struct program *p = &s->c->program;
    int64_t *offsets = arena_array(&s->c->arena, p->constant_count + 1u, sizeof *offsets), total = 0;

    if (!offsets)
        return false;
    for (uint32_t i = 0; i < p->constant_count; i++) {
        offsets[i] = total;
        total += target_align((int64_t)p->constants[i]->bytes);
    }
    s->blob = calloc(1, (size_t)total + 1);
    if (!s->blob)
        return false;
    for (uint32_t i = 0; i < p->constant_count; i++)
        memcpy(s->blob + offsets[i], p->constants[i]->data, p->constants[i]->bytes);
    s->p.constants = (struct object_data){s->blob, (size_t)total};
    s->p.constant_offsets = offsets;
    return true;
}

/* Returns the schedules of the program's kernels, in the order of their steps. */
static struct schedule **program_kernels(struct compilation *c, uint32_t *count)
{
    struct schedule **kernels = arena_array(&c->arena, c->program.step_count + 1u, sizeof *kernels);

    *count = 0;
    for (uint32_t i = 0; kernels && i < c->program.step_count; i++)
        if (c->program.steps[i].kind == STEP_KERNEL)
            kernels[(*count)++] = c->program.steps[i].schedule;
    return kernels;
}

/* ---- what both kinds have ---- */

static bool describe_ports(struct compilation *c, struct object_program *p)
{
    const struct graph *g = c->graph;
    struct object_tensor *inputs = arena_array(&c->arena, g->input_count + 1u, sizeof *inputs);
    struct object_tensor *outputs = arena_array(&c->arena, g->output_count + 1u, sizeof *outputs);

    if (!inputs || !outputs)
        return false;
    for (uint32_t i = 0; i < g->input_count; i++) {
        inputs[i].name = arena_string(&c->arena, g->inputs[i]->name, g->inputs[i]->name_length);
        inputs[i].type = g->inputs[i]->type;
        if (!inputs[i].name)
            return false;
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        outputs[i].name = arena_string(&c->arena, g->outputs[i].name, g->outputs[i].name_length);
        outputs[i].type = g->outputs[i].value->type;
        if (!outputs[i].name)
            return false;
    }
    p->input_count = g->input_count;
    p->inputs = inputs;
    p->output_count = g->output_count;
    p->outputs = outputs;
    return true;
}

static void show_kernels(void *user, uint32_t done, uint32_t total)
{
    progress_show(user, done < total ? "kernels" : "machine code", done < total ? done : 0, done < total ? total : 0);
}

static bool write_object(struct compilation *c, const struct object_program *p, enum object_kind kind, void **bytes,
                         size_t *length)
{
    struct codegen_times times;
    struct object_options options = {.kind = kind, .progress = show_kernels, .user = (void *)c->options, .times = &times};
    struct error e = {0};
    bool ok = object_create(&c->target, c->context->engine->debug, p, &options, bytes, length, &e);

    progress_show(c->options, NULL, 0, 0);
    if (!ok)
        return complain("%s", e.message);
    if (c->options->verbose || c->context->engine->debug->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "webnnc: %u kernels of %u structures: emit %.1f ms, LLVM passes %.1f ms, LLVM code %.1f ms\n",
                times.kernels, times.structures, times.emit_ms, times.passes_ms, times.codegen_ms);
    if (c->options->verbose)
        fprintf(stderr, "webnnc: %zu bytes, of which %zu of constants; workspace %lld bytes and %lld per thread\n", *length,
                p->weights_path ? 0 : p->constants.length + p->serialized.length, (long long)object_workspace_bytes(p),
                (long long)object_scratch_bytes(p));
    return true;
}

/* Makes the file of weights of a standalone object: a header, then the blob. */
static bool weights_file(const struct standalone *s, void **weights, size_t *length)
{
    struct object_weights header = {OBJECT_WEIGHTS_MAGIC, s->p.constants.length, s->p.weights_checksum};
    size_t size = OBJECT_WEIGHTS_HEADER + s->p.constants.length;
    char *bytes = calloc(1, size);

    if (!bytes)
        return false;
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + OBJECT_WEIGHTS_HEADER, s->p.constants.bytes, s->p.constants.length);
    *weights = bytes;
    *length = size;
    return true;
}

static bool standalone_create(struct compilation *c, enum object_kind kind, bool shared, void **bytes, size_t *length,
                              void **weights, size_t *weights_length)
{
    struct standalone s = {.c = c, .p = {.prefix = c->prefix, .producer = "webnnc " WEBNN_VERSION, .shared = shared}};
    bool ok = describe_ports(c, &s.p) && gather_constants(&s) && (s.p.kernels = program_kernels(c, &s.p.kernel_count)) != NULL;

    s.p.program = &c->program;

    if (ok && c->options->weights && s.p.constants.length) { /* else there is nothing to put into a file */
        s.p.weights_path = c->options->weights;
        s.p.weights_checksum = serialized_checksum(s.p.constants.bytes, s.p.constants.length);
        ok = weights_file(&s, weights, weights_length);
    }
    c->workspace = object_workspace(&s.p);
    c->weights_bytes = *weights ? *weights_length : 0;
    ok = ok ? write_object(c, &s.p, kind, bytes, length) : complain("out of memory");
    free(s.blob);
    return ok;
}

/* ---- a program for libwebnn_rt ---- */

struct bytes {
    char *data;
    size_t length, capacity;
};

static bool append(void *user, const void *data, size_t length)
{
    struct bytes *b = user;

    if (length > b->capacity - b->length) {
        size_t capacity = b->capacity ? b->capacity : 1 << 16;
        while (capacity - b->length < length && capacity <= SIZE_MAX / 2)
            capacity *= 2;
        char *grown = capacity - b->length < length ? NULL : realloc(b->data, capacity);
        if (!grown)
            return false;
        b->data = grown;
        b->capacity = capacity;
    }
    if (length)
        memcpy(b->data + b->length, data, length);
    b->length += length;
    return true;
}

static struct graph_binding binding_of(const struct object_tensor *t, uint32_t slot, size_t name_length)
{
    return (struct graph_binding){.name = t->name, .name_length = name_length, .type = t->type, .slot = slot};
}

/* Lists the kernels that the serialized program's table of functions has, in its order. */
static bool serialized_kernels(struct compilation *c, const struct serialized_program *serialized, struct object_program *p)
{
    uint32_t count = serialized_kernel_count(serialized), all;
    const uint32_t *users = serialized_kernel_steps(serialized);
    struct schedule **of_steps = program_kernels(c, &all);
    struct schedule **kernels = arena_array(&c->arena, count + 1u, sizeof *kernels);

    if (!of_steps || !kernels)
        return false;
    for (uint32_t i = 0; i < count; i++)
        kernels[i] = of_steps[users[i]];
    p->kernel_count = count;
    p->kernels = kernels;
    return true;
}

static bool write_serialized(struct compilation *c, const struct serialized_program *serialized, const struct object_program *p,
                             bool apart, struct bytes *out, struct error *e)
{
    const struct graph *g = c->graph;
    struct graph_binding *inputs = arena_array(&c->arena, p->input_count + 1u, sizeof *inputs);
    struct graph_binding *outputs = arena_array(&c->arena, p->output_count + 1u, sizeof *outputs);

    if (!inputs || !outputs)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < p->input_count; i++)
        inputs[i] = binding_of(&p->inputs[i], i, g->inputs[i]->name_length);
    for (uint32_t i = 0; i < p->output_count; i++)
        outputs[i] = binding_of(&p->outputs[i], i, g->outputs[i].name_length);
    struct serialized_facts facts = {.triple = c->target.triple,
                                     .features = c->target.features,
                                     .input_count = p->input_count,
                                     .output_count = p->output_count,
                                     .inputs = inputs,
                                     .outputs = outputs};
    return serialized_write(serialized, &facts, NULL, apart, append, out, e) || error_out_of_memory(e);
}

static bool library_create_object(struct compilation *c, enum object_kind kind, bool shared, void **bytes, size_t *length,
                                  void **weights, size_t *weights_length)
{
    struct object_program p = {.prefix = c->prefix, .producer = "webnnc " WEBNN_VERSION, .shared = shared};
    const void **functions = arena_array(&c->arena, c->program.step_count + 1u, sizeof *functions);
    struct bytes program = {0}, data = {0};
    struct error e = {0};
    bool ok = functions && describe_ports(c, &p);
    struct serialized_program *serialized = NULL;

    for (uint32_t i = 0, kernel = 0; ok && i < c->program.step_count; i++)
        if (c->program.steps[i].kind == STEP_KERNEL)
            functions[kernel++] = c->program.steps[i].kernel; /* one entry each; their code is shared all the same */
    if (!ok)
        error_out_of_memory(&e);
    /*
     * Weights stay as the graph has them, so that the object runs on other processors and with other numbers of threads than
     * this one's.
     */
    ok = ok && (serialized = serialized_create(&c->program, functions, true, &e));
    bool apart = ok && c->options->weights && serialized_data_size(serialized);
    ok = ok && (serialized_kernels(c, serialized, &p) || error_out_of_memory(&e)) &&
         write_serialized(c, serialized, &p, apart, &program, &e);
    ok = ok && (!apart || serialized_write_data(serialized, append, &data) || error_out_of_memory(&e));
    serialized_free(serialized);
    if (apart)
        p.weights_path = c->options->weights;
    p.serialized = (struct object_data){program.data, program.length};
    ok = ok ? write_object(c, &p, kind, bytes, length) : complain("%s", e.message);
    free(program.data);
    *weights = data.data;
    *weights_length = data.length;
    return ok;
}

bool object_bytes_create(struct compilation *c, enum object_kind kind, bool shared, void **bytes, size_t *length,
                         void **weights, size_t *weights_length)
{
    *bytes = *weights = NULL;
    *length = *weights_length = 0;
    return (c->with_library ? library_create_object : standalone_create)(c, kind, shared, bytes, length, weights,
                                                                         weights_length);
}
