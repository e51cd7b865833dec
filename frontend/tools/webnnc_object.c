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
#include "ir/support/array.h"
#include "runtime/api/context.h"
#include "runtime/program/serialized.h"

/* ---- compiling ---- */

static bool tick(void *user)
{
    progress_show(user, "passes", 0, 0);
    return false;
}

const struct target *compilation_target(const struct compilation *c)
{
    return &c->levels[c->level_count - 1];
}

bool compile_program(struct compilation *c)
{
    const struct options *o = c->options;
    struct engine *en = c->context->engine;
    struct compile_times times;
    struct error e = {0};
    double start = milliseconds_now();

    if (!compile_for_target(en, compilation_target(c), c->graph, tick, (void *)o, &c->program, &times, &e)) {
        progress_show(o, NULL, 0, 0);
        return complain("%s", e.message);
    }
    progress_show(o, NULL, 0, 0);
    if (o->quantize) {
        const WNNQuantizedWeights *q = &c->graph->quantized.counts;

        fprintf(stderr, "webnnc: quantized %llu matrices, %.2f MB, to %.2f MB\n", (unsigned long long)q->matrices,
                (double)q->bytesBefore / 1e6, (double)q->bytesAfter / 1e6);
    }
    if (o->verbose || en->debug->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "webnnc: passes %.1f ms, lowering %.1f ms, storage %.1f ms, library %.1f ms, together %.1f ms\n",
                times.passes, times.lower, times.storage, times.library, milliseconds_now() - start);
    if (en->debug->flags & DEBUG_DUMP_PROGRAM)
        program_print(&c->program, stderr);
    return true;
}

/* ---- schedules of the levels ---- */

/* The kernels of one level of an object, and memory that is freed with them. */
struct level_kernels {
    uint32_t count;
    struct schedule **schedules; /* in the order of the program's kernel steps */
    bool borrowed;               /* they are the program's own */
};

static void levels_free(const struct compilation *c, struct level_kernels *levels)
{
    for (uint32_t l = 0; l < c->level_count; l++)
        for (uint32_t i = 0; i < levels[l].count && !levels[l].borrowed; i++)
            schedule_free(levels[l].schedules[i]);
}

/* Returns how many programs the object has, and one of them. */
static uint32_t program_count(const struct compilation *c)
{
    return c->variant_count ? c->variant_count : 1;
}

static const struct program *program_at(const struct compilation *c, uint32_t variant)
{
    return c->variant_count ? &c->variants[variant].program : &c->program;
}

/* Adds the schedules of a program's kernels.  Returns false if memory runs out. */
static bool add_schedules(const struct program *p, const struct target *t, struct level_kernels *level)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct program_step *s = &p->steps[i];
        if (s->kind != STEP_KERNEL)
            continue;
        struct schedule *made = level->borrowed ? s->schedule : schedule_cpu(s->kernel, t);
        if (!made)
            return false;
        level->schedules[level->count++] = made;
    }
    return true;
}

/* Takes the programs' schedules for the highest level, and makes those of the lower ones for the same kernels.  The caller
 * calls levels_free, whatever is returned.  Returns false if memory runs out. */
static bool levels_create(struct compilation *c, struct level_kernels levels[OBJECT_LEVELS_MAX])
{
    uint32_t steps = 0;

    for (uint32_t v = 0; v < program_count(c); v++)
        steps += program_at(c, v)->step_count;
    for (uint32_t l = 0; l < c->level_count; l++) {
        levels[l] = (struct level_kernels){.borrowed = l + 1 == c->level_count};
        levels[l].schedules = arena_array(&c->arena, steps + 1u, sizeof *levels[l].schedules);
        if (!levels[l].schedules)
            return false;
        for (uint32_t v = 0; v < program_count(c); v++)
            if (!add_schedules(program_at(c, v), &c->levels[l], &levels[l]))
                return false;
    }
    return true;
}

/* ---- a standalone program ---- */

struct standalone {
    struct compilation *c;
    struct object_program p;
    char *blob;
};

/* Constants of all programs, and where they begin. */
struct gathered {
    const struct constant **constants;
    int64_t *offsets, total;
    uint32_t count;
};

/* Returns where a constant begins, each at a multiple of TARGET_ALIGNMENT: variants have equal ones, which lie there once. */
static int64_t gather(struct gathered *g, const struct constant *c)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->constants[i] == c || (g->constants[i]->bytes == c->bytes && !memcmp(g->constants[i]->data, c->data, c->bytes)))
            return g->offsets[i];
    g->constants[g->count] = c;
    g->offsets[g->count++] = g->total;
    g->total += target_align((int64_t)c->bytes);
    return g->offsets[g->count - 1];
}

/* Gathers all constants in one piece, and says the programs in the object's terms. */
static bool gather_constants(struct standalone *s)
{
    struct compilation *c = s->c;
    struct object_variant *variants = arena_array(&c->arena, program_count(c), sizeof *variants);
    struct gathered g = {0};
    uint32_t count = 0;

    for (uint32_t v = 0; v < program_count(c); v++)
        count += program_at(c, v)->constant_count;
    g.constants = arena_array(&c->arena, count + 1u, sizeof *g.constants);
    g.offsets = arena_array(&c->arena, count + 1u, sizeof *g.offsets);
    for (uint32_t v = 0; variants && g.constants && g.offsets && v < program_count(c); v++) {
        const struct program *p = program_at(c, v);
        int64_t *offsets = arena_array(&c->arena, p->constant_count + 1u, sizeof *offsets);

        if (!offsets)
            return false;
        for (uint32_t i = 0; i < p->constant_count; i++)
            offsets[i] = gather(&g, p->constants[i]);
        variants[v] = (struct object_variant){c->variant_count ? c->variants[v].sizes : NULL, p, offsets};
    }
    s->blob = variants && g.constants && g.offsets ? calloc(1, (size_t)g.total + 1) : NULL;
    if (!s->blob)
        return false;
    for (uint32_t i = 0; i < g.count; i++)
        memcpy(s->blob + g.offsets[i], g.constants[i]->data, g.constants[i]->bytes);
    s->p.constants = (struct object_data){s->blob, (size_t)g.total};
    s->p.variants = variants;
    s->p.variant_count = program_count(c);
    s->p.size_count = c->variant_count ? c->size_count : 0;
    s->p.size_names = c->size_names;
    return true;
}

/* ---- what both kinds have ---- */

const struct tensor_type *port_type_in(const struct graph *g, uint32_t i)
{
    return i < g->input_count ? &g->inputs[i]->type : &g->outputs[i - g->input_count].value->type;
}

struct tensor_type port_type(const struct compilation *c, uint32_t i)
{
    struct tensor_type type = *port_type_in(c->graph, i);

    for (uint32_t v = 1; v < c->variant_count; v++)
        for (uint32_t d = 0; d < type.rank; d++)
            if (port_type_in(c->variants[v].graph, i)->dims[d] != type.dims[d])
                type.dims[d] = 0;
    return type;
}

static bool describe_ports(struct compilation *c, struct object_program *p)
{
    const struct graph *g = c->graph;
    struct object_tensor *inputs = arena_array(&c->arena, g->input_count + 1u, sizeof *inputs);
    struct object_tensor *outputs = arena_array(&c->arena, g->output_count + 1u, sizeof *outputs);

    if (!inputs || !outputs)
        return false;
    for (uint32_t i = 0; i < g->input_count; i++) {
        inputs[i].name = arena_string(&c->arena, g->inputs[i]->name, g->inputs[i]->name_length);
        inputs[i].type = port_type(c, i);
        if (!inputs[i].name)
            return false;
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        outputs[i].name = arena_string(&c->arena, g->outputs[i].name, g->outputs[i].name_length);
        outputs[i].type = port_type(c, g->input_count + i);
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
    struct object_options options = {.kind = kind,
                                     .for_size = c->options->optimize == OPTIMIZE_SIZE,
                                     .progress = show_kernels,
                                     .user = (void *)c->options,
                                     .times = &times};
    struct error e = {0};
    bool ok = object_create(c->context->engine->debug, p, &options, bytes, length, &e);

    progress_show(c->options, NULL, 0, 0);
    if (!ok)
        return complain("%s", e.message);
    if (c->options->verbose || c->context->engine->debug->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "webnnc: %u kernels of %u structures: emit %.1f ms, LLVM passes %.1f ms, LLVM code %.1f ms\n",
                times.kernels, times.structures, times.emit_ms, times.passes_ms, times.codegen_ms);
    size_t constants = p->weights_path ? 0 : p->constants.length;
    for (uint32_t l = 0; l < p->level_count; l++)
        constants += p->levels[l].serialized.length;
    if (c->options->verbose)
        fprintf(stderr, "webnnc: %zu bytes, of which %zu of constants; workspace %lld bytes and %lld per thread\n", *length,
                constants, (long long)object_workspace_bytes(p), (long long)object_scratch_bytes(p));
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
    struct level_kernels kernels[OBJECT_LEVELS_MAX] = {{0}};
    struct object_level levels[OBJECT_LEVELS_MAX] = {{0}};
    bool ok = describe_ports(c, &s.p) && gather_constants(&s) && levels_create(c, kernels);

    for (uint32_t l = 0; ok && l < c->level_count; l++)
        levels[l] = (struct object_level){.target = &c->levels[l], .kernels = kernels[l].schedules};
    s.p.kernel_count = kernels[0].count;
    s.p.level_count = ok ? c->level_count : 0;
    s.p.levels = levels;

    if (ok && c->options->weights && s.p.constants.length) { /* else there is nothing to put into a file */
        s.p.weights_path = c->options->weights;
        s.p.weights_checksum = serialized_checksum(s.p.constants.bytes, s.p.constants.length);
        ok = weights_file(&s, weights, weights_length);
    }
    c->workspace = object_workspace(&s.p);
    c->weights_bytes = *weights ? *weights_length : 0;
    ok = ok ? write_object(c, &s.p, kind, bytes, length) : complain("out of memory");
    levels_free(c, kernels);
    free(s.blob);
    return ok;
}

/* ---- a program for libwebnn_rt ---- */

static bool append(void *user, const void *data, size_t length)
{
    return bytes_append(user, data, length);
}

static struct graph_binding binding_of(const struct object_tensor *t, uint32_t slot, size_t name_length)
{
    return (struct graph_binding){.name = t->name, .name_length = name_length, .type = t->type, .slot = slot};
}

static bool write_serialized(struct compilation *c, const struct serialized_program *serialized, const struct object_program *p,
                             const struct target *t, bool apart, struct bytes *out, struct error *e)
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
    struct serialized_facts facts = {.triple = t->triple,
                                     .features = t->features,
                                     .input_count = p->input_count,
                                     .output_count = p->output_count,
                                     .inputs = inputs,
                                     .outputs = outputs};
    return serialized_write(serialized, &facts, NULL, apart, append, out, e) || error_out_of_memory(e);
}

/* What the object of a program for libwebnn_rt is made of, by level. */
struct library_object {
    struct object_program p;
    const void **functions; /* by kernel step */
    struct level_kernels kernels[OBJECT_LEVELS_MAX];
    struct object_level levels[OBJECT_LEVELS_MAX];
    struct bytes images[OBJECT_LEVELS_MAX], data;
};

/* Serializes the program with other schedules than its own.  Returns NULL after an error in *e. */
static struct serialized_program *serialize_level(const struct compilation *c, const struct library_object *l, uint32_t level,
                                                  struct error *e)
{
    struct program copy = c->program; /* borrows everything but its arena */
    struct serialized_program *serialized = NULL;

    copy.arena = (struct arena){0};
    copy.steps = arena_array(&copy.arena, copy.step_count + 1u, sizeof *copy.steps);
    if (!copy.steps)
        return error_null_memory(e);
    for (uint32_t i = 0, kernel = 0; i < copy.step_count; i++) {
        copy.steps[i] = c->program.steps[i];
        if (copy.steps[i].kind == STEP_KERNEL) {
            copy.steps[i].schedule = l->kernels[level].schedules[kernel++];
            copy.steps[i].run = (struct step_run){0};
        }
    }
    /*
     * Weights stay as the graph has them, so that the object runs on other processors and with other numbers of threads than
     * this one's.
     */
    serialized = serialized_create(&copy, l->functions, true, e);
    arena_free(&copy.arena);
    return serialized;
}

/* Lists the kernels that the serialized program's table of functions has, in its order. */
static bool table_of_level(struct compilation *c, struct library_object *l, uint32_t level,
                           const struct serialized_program *serialized)
{
    const uint32_t count = serialized_kernel_count(serialized), *users = serialized_kernel_steps(serialized);
    struct schedule **kernels = arena_array(&c->arena, count + 1u, sizeof *kernels);

    for (uint32_t i = 0; kernels && i < count; i++)
        kernels[i] = l->kernels[level].schedules[users[i]];
    l->p.kernel_count = count;
    l->levels[level] = (struct object_level){.target = &c->levels[level], .kernels = kernels};
    return kernels != NULL;
}

/* Makes a level's serialized program.  The data of all of them are the same: they lie by themselves, once, where there are
 * several levels or a file takes them. */
static bool add_level(struct compilation *c, struct library_object *l, uint32_t level, struct error *e)
{
    struct serialized_program *serialized = serialize_level(c, l, level, e);
    const bool apart = serialized && (c->options->weights || c->level_count > 1) && serialized_data_size(serialized);
    bool ok = serialized && (table_of_level(c, l, level, serialized) || error_out_of_memory(e)) &&
              write_serialized(c, serialized, &l->p, &c->levels[level], apart, &l->images[level], e);

    if (ok && apart && level == 0)
        ok = serialized_write_data(serialized, append, &l->data) || error_out_of_memory(e);
    serialized_free(serialized);
    l->levels[level].serialized = (struct object_data){l->images[level].data, l->images[level].length};
    return ok;
}

static bool library_create_object(struct compilation *c, enum object_kind kind, bool shared, void **bytes, size_t *length,
                                  void **weights, size_t *weights_length)
{
    struct library_object l = {.p = {.prefix = c->prefix, .producer = "webnnc " WEBNN_VERSION, .shared = shared}};
    struct error e = {0};

    l.functions = arena_array(&c->arena, c->program.step_count + 1u, sizeof *l.functions);
    l.p.level_count = c->level_count;
    l.p.levels = l.levels;
    bool ok = (l.functions && describe_ports(c, &l.p) && levels_create(c, l.kernels)) || error_out_of_memory(&e);
    for (uint32_t i = 0, kernel = 0; ok && i < c->program.step_count; i++)
        if (c->program.steps[i].kind == STEP_KERNEL)
            l.functions[kernel++] = c->program.steps[i].kernel; /* one entry each; their code is shared all the same */
    for (uint32_t i = 0; ok && i < c->level_count; i++)
        ok = add_level(c, &l, i, &e);
    if (c->options->weights && l.data.length) {
        l.p.weights_path = c->options->weights;
        *weights = l.data.data;
        *weights_length = l.data.length;
    } else {
        l.p.constants = (struct object_data){l.data.data, l.data.length};
    }
    ok = ok ? write_object(c, &l.p, kind, bytes, length) : complain("%s", e.message);
    if (!*weights)
        free(l.data.data);
    for (uint32_t i = 0; i < c->level_count; i++)
        free(l.images[i].data);
    levels_free(c, l.kernels);
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
