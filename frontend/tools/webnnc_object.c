/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the bytes of an object of the graph: says the compiler's program in the terms of codegen/object/object.h.
 *
 * Without a library the program's steps become code, and its constants one blob.  With oneDNN the program becomes a serialized
 * program (runtime/program/serialized.h), and only its kernels are code.
 */
#include <stdlib.h>

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

bool compile_program(struct compilation *c, struct graph *g, struct error *e)
{
    const struct options *o = c->options;
    struct engine *en = c->context->engine;
    struct compile_times times;
    double start = milliseconds_now();
    const bool ok = compile_for_target(en, compilation_target(c), g, false, tick, (void *)o, &c->program, &times, e);

    progress_show(o, NULL, 0, 0);
    if (!ok)
        return false;
    if (o->quantize && !c->parts.table.class_count) { /* the first of several sizes */
        const WNNQuantizedWeights *q = &g->quantized.counts;

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

static void levels_free(const struct compilation *c, struct level_kernels *levels)
{
    for (uint32_t l = 0; l < c->level_count; l++) {
        for (uint32_t i = 0; i < levels[l].count && l + 1 < c->level_count; i++)
            schedule_free(levels[l].schedules[i]);
        free(levels[l].schedules);
    }
}

/* Takes a program's schedules for the highest level, and makes those of the lower ones for the same kernels.  The caller calls
 * levels_free, whatever is returned.  Returns false if memory runs out. */
static bool levels_create(const struct compilation *c, const struct program *p, struct level_kernels levels[OBJECT_LEVELS_MAX])
{
    for (uint32_t l = 0; l < c->level_count; l++) {
        struct level_kernels *level = &levels[l];

        level->schedules = calloc(p->step_count + 1u, sizeof *level->schedules);
        for (uint32_t i = 0; level->schedules && i < p->step_count; i++) {
            const struct program_step *s = &p->steps[i];
            struct schedule **made = &level->schedules[level->count];

            if (s->kind != STEP_KERNEL)
                continue;
            if (!s->like && !(*made = l + 1 == c->level_count ? s->schedule : schedule_cpu(s->kernel, &c->levels[l])))
                return false;
            level->count++;
        }
        if (!level->schedules)
            return false;
        if (!p->is_variant)
            schedules_join(level->schedules, level->count);
    }
    return true;
}

/* ---- a standalone program ---- */

/* Finds where a constant begins, each at a multiple of TARGET_ALIGNMENT: variants have equal ones, or beginnings of others,
 * which lie there once.  Returns false if memory runs out. */
static bool gather(struct parts *parts, struct constant *c, uint32_t slot, int64_t *offset)
{
    uint32_t i = slot < parts->slot_count ? parts->slots[slot] : 0; /* where the last program has it */

    if (i >= parts->count || parts->constants[i] != c)
        i = 0;
    while (i < parts->count && parts->constants[i] != c &&
           (parts->constants[i]->bytes < c->bytes || memcmp(parts->constants[i]->data, c->data, c->bytes) != 0))
        i++;
    if (i == parts->count) {
        if (!array_extend(&parts->constants, i, sizeof *parts->constants) ||
            !array_extend(&parts->offsets, i, sizeof *parts->offsets))
            return false;
        parts->constants[i] = constant_retain(c);
        parts->offsets[parts->count++] = parts->total;
        parts->total += target_align((int64_t)c->bytes);
    }
    if (slot == parts->slot_count && !array_extend(&parts->slots, parts->slot_count++, sizeof *parts->slots))
        return false;
    parts->slots[slot] = i;
    *offset = parts->offsets[i];
    return true;
}

bool standalone_add(struct compilation *c, uint32_t id)
{
    struct parts *parts = &c->parts;
    struct program *p = &c->program;
    struct part part = {0};
    struct schedule *const *kernels[OBJECT_LEVELS_MAX];
    int64_t *offsets = calloc(p->constant_count + 1u, sizeof *offsets);
    bool keep = false,
         ok = offsets && array_extend(&parts->kept, parts->kept_count, sizeof part) && levels_create(c, p, part.levels);

    for (uint32_t i = 0; ok && i < p->constant_count; i++)
        ok = gather(parts, p->constants[i], i, &offsets[i]);
    for (uint32_t l = 0; l < c->level_count; l++)
        kernels[l] = part.levels[l].schedules;
    parts->table.level_count = c->level_count;
    parts->table.base_bits = CODE_BASE;
    while (2 + p->input_count + p->output_count > UINT32_C(1) << (parts->table.base_bits - CODE_BASE))
        parts->table.base_bits++;
    ok = ok && object_table_add(&parts->table, &(struct object_variant){id, p, offsets}, kernels, &keep);
    free(offsets);
    part.program = *p;
    *p = (struct program){0};
    if (keep) {
        parts->kept[parts->kept_count++] = part;
    } else {
        levels_free(c, part.levels);
        program_free(&part.program);
    }
    return ok || complain("out of memory");
}

void standalone_free(struct compilation *c)
{
    struct parts *parts = &c->parts;

    for (uint32_t i = 0; i < parts->kept_count; i++) {
        levels_free(c, parts->kept[i].levels);
        program_free(&parts->kept[i].program);
    }
    for (uint32_t i = 0; i < parts->count; i++)
        constant_release((struct constant *)parts->constants[i]);
    object_table_free(&parts->table);
    object_table_free(&parts->ports);
    free(parts->constants);
    free(parts->offsets);
    free(parts->slots);
    free(parts->kept);
}

/* Puts all constants in one piece.  Returns NULL if memory runs out. */
static char *make_blob(const struct parts *parts)
{
    char *blob = calloc(1, (size_t)parts->total + 1);

    for (uint32_t i = 0; blob && i < parts->count; i++)
        memcpy(blob + parts->offsets[i], parts->constants[i]->data, parts->constants[i]->bytes);
    return blob;
}

/* ---- what both kinds have ---- */

struct port port_at(const struct compilation *c, uint32_t port)
{
    const struct graph *g = c->graph;
    const struct object_class *rows = c->parts.ports.classes;
    struct port p = {.word = (uint32_t)c->options->sizes.count};

    for (uint32_t i = 0; i <= port; i++) {
        const struct graph_output *o = i < g->input_count ? NULL : &g->outputs[i - g->input_count];
        const struct value *v = o ? o->value : g->inputs[i];

        p.word += i ? 1 + p.type.rank : 0;
        p.name = o ? o->name : v->name;
        p.length = o ? o->name_length : v->name_length;
        p.type = v->type;
    }
    for (uint32_t d = 0; rows && d < p.type.rank; d++) {
        const uint32_t column = rows->column_of[p.word + 1 + d];

        p.type.dims[d] = object_column_is_fixed(rows, column) ? (uint32_t)object_column(rows, column)[0] : 0;
    }
    p.identifier = c->port_names ? c->port_names[port] : NULL;
    return p;
}

static bool describe_ports(struct compilation *c, struct object_program *p)
{
    const uint32_t count = port_count(c);
    struct object_tensor *tensors = arena_array(&c->arena, count + 1u, sizeof *tensors);

    for (uint32_t i = 0; tensors && i < count; i++) {
        const struct port port = port_at(c, i);

        tensors[i] = (struct object_tensor){arena_string(&c->arena, port.name, port.length), port.type};
        if (!tensors[i].name)
            return false;
    }
    p->input_count = c->graph->input_count;
    p->output_count = c->graph->output_count;
    p->inputs = tensors;
    p->outputs = tensors + p->input_count;
    return tensors != NULL;
}

static void show_kernels(void *user, uint32_t done, uint32_t total)
{
    progress_show(user, done < total ? "kernels" : "machine code", done < total ? done : 0, done < total ? total : 0);
}

static bool write_object(struct compilation *c, const struct object_program *p, struct object_files *f)
{
    static const enum object_kind kinds[] = {
        [EMIT_OBJ] = OBJECT_CODE, [EMIT_ASM] = OBJECT_ASSEMBLY, [EMIT_LLVM_IR] = OBJECT_LLVM_IR, [EMIT_BC] = OBJECT_BITCODE,
        [EMIT_SO] = OBJECT_CODE,  [EMIT_EXE] = OBJECT_CODE,     [EMIT_WASM] = OBJECT_CODE};
    struct codegen_times times;
    struct object_options options = {.kind = kinds[c->options->emit],
                                     .for_size = c->options->optimize == OPTIMIZE_SIZE,
                                     .progress = show_kernels,
                                     .user = (void *)c->options,
                                     .times = &times};
    struct error e = {0};
    bool ok = object_create(c->context->engine->debug, p, &options, &f->bytes, &f->length, &e);

    progress_show(c->options, NULL, 0, 0);
    if (!ok)
        return complain("%s", e.message);
    if (c->options->verbose || c->context->engine->debug->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "webnnc: %u structures of kernels: emit %.1f ms, LLVM passes %.1f ms, LLVM code %.1f ms\n",
                times.structures, times.emit_ms, times.passes_ms, times.codegen_ms);
    size_t constants = p->weights_path ? 0 : p->constants.length;
    for (uint32_t l = 0; l < p->level_count; l++)
        constants += p->levels[l].serialized.length;
    if (c->options->verbose)
        fprintf(stderr, "webnnc: %zu bytes, of which %zu of constants; workspace %lld bytes and %lld per thread\n", f->length,
                constants, (long long)p->table->arena_bytes, (long long)p->table->scratch_bytes);
    return true;
}

/* Makes the file of weights of a standalone object: a header, then the blob. */
static bool weights_file(const struct object_program *p, struct object_files *f)
{
    const struct object_weights header = {OBJECT_WEIGHTS_MAGIC, p->constants.length, p->weights_checksum};
    char *bytes = calloc(1, OBJECT_WEIGHTS_HEADER + p->constants.length);

    if (!bytes)
        return false;
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + OBJECT_WEIGHTS_HEADER, p->constants.bytes, p->constants.length);
    f->weights = bytes;
    f->weights_length = OBJECT_WEIGHTS_HEADER + p->constants.length;
    return true;
}

static bool standalone_create(struct compilation *c, struct object_program *p, struct object_files *f)
{
    struct object_level levels[OBJECT_LEVELS_MAX] = {{0}};
    bool ok = (c->size_count || standalone_add(c, 0)) && describe_ports(c, p);
    char *blob = ok ? make_blob(&c->parts) : NULL;

    p->constants = (struct object_data){blob, (size_t)c->parts.total};
    p->levels = levels;
    p->size_count = c->size_count;
    p->sizes = c->sizes;
    for (uint32_t l = 0; l < c->level_count; l++)
        levels[l].target = &c->levels[l];
    if (blob && c->options->weights && p->constants.length) { /* else there is nothing to put into a file */
        p->weights_path = c->options->weights;
        p->weights_checksum = serialized_checksum(p->constants.bytes, p->constants.length);
        ok = weights_file(p, f);
    }
    c->workspace = object_workspace(p);
    c->weights_bytes = f->weights_length;
    ok = ok && blob ? write_object(c, p, f) : complain("out of memory");
    free(blob);
    return ok;
}

/* ---- a program for libwebnn_rt ---- */

static bool append(void *user, const void *data, size_t length)
{
    return bytes_append(user, data, length);
}

static bool write_serialized(struct compilation *c, const struct serialized_program *serialized, const struct target *t,
                             bool apart, struct bytes *out, struct error *e)
{
    const uint32_t inputs = c->graph->input_count;
    struct graph_binding *bindings = arena_array(&c->arena, port_count(c) + 1u, sizeof *bindings);
    const struct serialized_facts facts = {.triple = t->triple,
                                           .features = t->features,
                                           .input_count = inputs,
                                           .output_count = c->graph->output_count,
                                           .inputs = bindings,
                                           .outputs = bindings + inputs};

    for (uint32_t i = 0; bindings && i < port_count(c); i++) {
        const struct port p = port_at(c, i);

        bindings[i] = (struct graph_binding){
            .name = p.name, .name_length = p.length, .type = p.type, .slot = i < inputs ? i : i - inputs};
    }
    return (bindings && serialized_write(serialized, &facts, NULL, apart, append, out, e)) || error_out_of_memory(e);
}

/* What the object of a program for libwebnn_rt is made of, by level. */
struct library_object {
    struct object_program *p;
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

/* Lists the structures of the kernels that the serialized program's table of functions has, in its order. */
static bool table_of_level(struct compilation *c, struct library_object *l, uint32_t level,
                           const struct serialized_program *serialized)
{
    const uint32_t count = serialized_kernel_count(serialized), *users = serialized_kernel_steps(serialized);
    uint32_t *structures = arena_array(&c->arena, count + 1u, sizeof *structures);
    bool added, ok = structures;

    for (uint32_t i = 0; ok && i < count; i++) {
        structures[i] = object_table_kernel(&c->parts.table, level, l->kernels[level].schedules[users[i]], &added);
        ok = structures[i] != UINT32_MAX;
    }
    l->p->kernel_count = count;
    l->levels[level] = (struct object_level){.target = &c->levels[level], .structures = structures};
    return ok;
}

/* Makes a level's serialized program.  The data of all of them are the same: they lie by themselves, once, where there are
 * several levels or a file takes them. */
static bool add_level(struct compilation *c, struct library_object *l, uint32_t level, struct error *e)
{
    struct serialized_program *serialized = serialize_level(c, l, level, e);
    const bool apart = serialized && (c->options->weights || c->level_count > 1) && serialized_data_size(serialized);
    bool ok = serialized && (table_of_level(c, l, level, serialized) || error_out_of_memory(e)) &&
              write_serialized(c, serialized, &c->levels[level], apart, &l->images[level], e);

    if (ok && apart && level == 0)
        ok = serialized_write_data(serialized, append, &l->data) || error_out_of_memory(e);
    serialized_free(serialized);
    l->levels[level].serialized = (struct object_data){l->images[level].data, l->images[level].length};
    return ok;
}

static bool library_create_object(struct compilation *c, struct object_program *p, struct object_files *f)
{
    struct library_object l = {.p = p};
    struct error e = {0};

    l.functions = arena_array(&c->arena, c->program.step_count + 1u, sizeof *l.functions);
    p->levels = l.levels;
    bool ok = (l.functions && describe_ports(c, p) && levels_create(c, &c->program, l.kernels)) || error_out_of_memory(&e);
    for (uint32_t i = 0, kernel = 0; ok && i < c->program.step_count; i++)
        if (c->program.steps[i].kind == STEP_KERNEL)
            l.functions[kernel++] = c->program.steps[i].kernel; /* one entry each; their code is shared all the same */
    for (uint32_t i = 0; ok && i < c->level_count; i++)
        ok = add_level(c, &l, i, &e);
    if (c->options->weights && l.data.length) {
        p->weights_path = c->options->weights;
        f->weights = l.data.data;
        f->weights_length = l.data.length;
    } else {
        p->constants = (struct object_data){l.data.data, l.data.length};
    }
    ok = ok ? write_object(c, p, f) : complain("%s", e.message);
    if (!f->weights)
        free(l.data.data);
    for (uint32_t i = 0; i < c->level_count; i++)
        free(l.images[i].data);
    levels_free(c, l.kernels);
    return ok;
}

bool object_files_create(struct compilation *c, struct object_files *f)
{
    struct object_program p = {.prefix = c->prefix,
                               .producer = "webnnc " WEBNN_VERSION,
                               .shared = c->options->emit == EMIT_SO,
                               .level_count = c->level_count,
                               .table = &c->parts.table};

    *f = (struct object_files){0};
    return (c->with_library ? library_create_object : standalone_create)(c, &p, f);
}
