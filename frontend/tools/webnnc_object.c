/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From the graph to the bytes of an object: the compiler's program in the terms of codegen/object.h.
 *
 * Without library: places become workspace, arguments and one blob of constants; the object's code does the rest.  With oneDNN:
 * the program becomes an image (runtime/image.h), and only its kernels are code.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/tools/arguments.h"
#include "frontend/tools/webnnc.h"
#include "runtime/context.h"
#include "runtime/image.h"
#include "runtime/plan.h"

enum { CONSTANT_ALIGN = 64, THREADS_MAX = 1024 };

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
    if (en->debug->flags & DEBUG_DUMP_PLAN)
        program_print(&c->program, stderr);
    return true;
}

/* ---- a standalone program ---- */

struct standalone {
    struct compilation *c;
    struct object_program p;
    int64_t *constants; /* offset of each */
    char *blob;
};

static struct object_place convert_place(const struct standalone *s, const struct place *place)
{
    switch (place->kind) {
    case PLACE_INPUT:
        return (struct object_place){OBJECT_INPUT, place->slot, place->offset};
    case PLACE_OUTPUT:
        return (struct object_place){OBJECT_OUTPUT, place->slot, place->offset};
    case PLACE_CONSTANT:
        return (struct object_place){OBJECT_CONSTANT, 0, s->constants[place->slot] + place->offset};
    case PLACE_ARENA:
        break;
    }
    return (struct object_place){OBJECT_WORKSPACE, 0, place->offset};
}

static bool gather_constants(struct standalone *s)
{
    const struct program *p = &s->c->program;
    int64_t total = 0;

    s->constants = arena_array(&s->c->arena, p->constant_count + 1u, sizeof *s->constants);
    if (!s->constants)
        return false;
    for (uint32_t i = 0; i < p->constant_count; i++) {
        s->constants[i] = total;
        total += ((int64_t)p->constants[i]->bytes + CONSTANT_ALIGN - 1) / CONSTANT_ALIGN * CONSTANT_ALIGN;
    }
    s->blob = calloc(1, (size_t)total + 1);
    if (!s->blob)
        return false;
    for (uint32_t i = 0; i < p->constant_count; i++)
        memcpy(s->blob + s->constants[i], p->constants[i]->data, p->constants[i]->bytes);
    s->p.constants = (struct object_data){s->blob, (size_t)total};
    return true;
}

static bool convert_step(struct standalone *s, uint32_t index, struct object_step *to)
{
    const struct program *p = &s->c->program;
    const struct program_step *from = &p->steps[index];
    struct object_place *places = arena_array(&s->c->arena, from->place_count + 1u, sizeof *places);
    struct object_move *moves = arena_array(&s->c->arena, from->place_count + 1u, sizeof *moves);

    if (!places || !moves)
        return false;
    for (uint32_t i = 0; i < from->place_count; i++)
        places[i] = convert_place(s, &from->places[i]);
    *to = (struct object_step){.place_count = from->place_count, .places = places, .moves = moves};
    for (uint32_t i = 0; i < p->move_count; i++) {
        const struct program_move *m = &p->moves[i];
        if (m->step != index)
            continue;
        struct object_move *move = &moves[to->move_count++];
        *move = (struct object_move){.place = m->place, .stride = m->stride, .has_first = m->has_first};
        if (m->has_first)
            move->first = convert_place(s, &m->first);
    }
    if (from->kind == STEP_COPY) {
        to->copy_bytes = from->places[0].bytes;
        return true;
    }
    const struct kernel *k = from->kernel;
    to->kernel = k;
    to->parts = plan_kernel_parts(k->flops, k->bytes, kernel_units(k), THREADS_MAX);
    if (k->scratch_bytes > s->p.scratch_bytes)
        s->p.scratch_bytes = k->scratch_bytes;
    return true;
}

static bool convert_program(struct standalone *s)
{
    const struct program *p = &s->c->program;
    struct object_step *steps = arena_array(&s->c->arena, p->step_count + 1u, sizeof *steps);
    struct object_loop *loops = arena_array(&s->c->arena, p->loop_count + 1u, sizeof *loops);

    if (!steps || !loops || !gather_constants(s))
        return false;
    for (uint32_t i = 0; i < p->step_count; i++)
        if (!convert_step(s, i, &steps[i]))
            return false;
    for (uint32_t i = 0; i < p->loop_count; i++)
        loops[i] = (struct object_loop){p->loops[i].first, p->loops[i].count, p->loops[i].iterations};
    s->p.step_count = p->step_count;
    s->p.steps = steps;
    s->p.loop_count = p->loop_count;
    s->p.loops = loops;
    s->p.workspace_bytes = p->arena_bytes;
    return true;
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
                p->weights_path ? 0 : p->constants.length + p->image.length, (long long)p->workspace_bytes,
                (long long)p->scratch_bytes);
    return true;
}

/* The file of weights of a standalone object: a header, then the blob. */
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
    bool ok = describe_ports(c, &s.p) && convert_program(&s);

    if (ok && c->options->weights && s.p.constants.length) { /* else there is nothing to put into a file */
        s.p.weights_path = c->options->weights;
        s.p.weights_checksum = image_checksum(s.p.constants.bytes, s.p.constants.length);
        ok = weights_file(&s, weights, weights_length);
    }
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

static struct image_binding binding_of(const struct object_tensor *t, uint32_t slot, size_t name_length)
{
    return (struct image_binding){.name = t->name, .name_length = name_length, .type = t->type, .slot = slot};
}

/* Kernels that the image's table of functions has, as steps. */
static bool image_steps(struct compilation *c, const struct image *image, struct object_program *p)
{
    uint32_t count = image_kernel_count(image), kernel = 0;
    const uint32_t *users = image_kernel_steps(image);
    struct object_step *steps = arena_array(&c->arena, count + 1u, sizeof *steps);
    const struct kernel **kernels = arena_array(&c->arena, c->program.step_count + 1u, sizeof *kernels);

    if (!steps || !kernels)
        return false;
    for (uint32_t i = 0; i < c->program.step_count; i++)
        if (c->program.steps[i].kind == STEP_KERNEL)
            kernels[kernel++] = c->program.steps[i].kernel;
    for (uint32_t i = 0; i < count; i++)
        steps[i].kernel = kernels[users[i]];
    p->step_count = count;
    p->steps = steps;
    return true;
}

static bool write_image(struct compilation *c, const struct image *image, const struct object_program *p, bool apart,
                        struct bytes *out, struct error *e)
{
    const struct graph *g = c->graph;
    struct image_binding *inputs = arena_array(&c->arena, p->input_count + 1u, sizeof *inputs);
    struct image_binding *outputs = arena_array(&c->arena, p->output_count + 1u, sizeof *outputs);

    if (!inputs || !outputs)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < p->input_count; i++)
        inputs[i] = binding_of(&p->inputs[i], i, g->inputs[i]->name_length);
    for (uint32_t i = 0; i < p->output_count; i++)
        outputs[i] = binding_of(&p->outputs[i], i, g->outputs[i].name_length);
    struct image_facts facts = {.triple = c->target.triple,
                                .features = c->target.features,
                                .input_count = p->input_count,
                                .output_count = p->output_count,
                                .inputs = inputs,
                                .outputs = outputs};
    return image_write(image, &facts, NULL, apart, append, out, e) || error_out_of_memory(e);
}

static bool library_create_object(struct compilation *c, enum object_kind kind, bool shared, void **bytes, size_t *length,
                                  void **weights, size_t *weights_length)
{
    struct object_program p = {.prefix = c->prefix, .producer = "webnnc " WEBNN_VERSION, .shared = shared};
    const void **functions = arena_array(&c->arena, c->program.step_count + 1u, sizeof *functions);
    struct bytes plan = {0}, data = {0};
    struct error e = {0};
    bool ok = functions && describe_ports(c, &p);
    struct image *image = NULL;

    for (uint32_t i = 0, kernel = 0; ok && i < c->program.step_count; i++)
        if (c->program.steps[i].kind == STEP_KERNEL)
            functions[kernel++] = c->program.steps[i].kernel; /* one entry each; their code is shared all the same */
    if (!ok)
        error_out_of_memory(&e);
    /* Weights as the graph has them: the object runs on other processors and with other numbers of threads than this one's. */
    ok = ok && (image = image_create(&c->program, functions, true, &e));
    bool apart = ok && c->options->weights && image_data_size(image);
    ok = ok && (image_steps(c, image, &p) || error_out_of_memory(&e)) && write_image(c, image, &p, apart, &plan, &e);
    ok = ok && (!apart || image_write_data(image, append, &data) || error_out_of_memory(&e));
    image_free(image);
    if (apart)
        p.weights_path = c->options->weights;
    p.image = (struct object_data){plan.data, plan.length};
    ok = ok ? write_object(c, &p, kind, bytes, length) : complain("%s", e.message);
    free(plan.data);
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
