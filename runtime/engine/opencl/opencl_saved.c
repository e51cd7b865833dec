/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Saves and loads graphs of the OpenCL engine.
 *
 * An executable becomes a serialized program (runtime/program/serialized.h) whose section of code holds, for every kernel step,
 * how it is started, and the programs: the source, and what this device's driver made of it.  A device of another kind or with
 * another driver builds the source again.
 *
 *   programs, one after the other: identity of device and driver, source, binary (empty if the driver gave none)
 *   kernels, where the serialized program's offsets say: struct opencl_launch, parameters, where its program begins, its number
 *   in the program
 */
#include "runtime/engine/onednn/library.h"

#include "runtime/engine/opencl/opencl_executable.h"
#include "runtime/program/serialized_stream.h"

enum { SAVED_TEXT_MAX = 64 << 20, GROUP_MAX = 1 << 20 };

/* ---- writing ---- */

struct saver {
    struct engine_opencl *o;
    const struct opencl_executable *x;
    struct stream_writer out;
    uint64_t *program_offsets; /* where each step's program begins; 0 also stands for the first */
    uint64_t *offsets;         /* by kernel */
};

/* Writes the program of a step, unless a step before had the same one. */
static void save_program(struct saver *s, uint32_t step)
{
    const struct opencl_program *p = s->x->steps[step].program;
    char identity[OPENCL_IDENTITY_BYTES];
    size_t bytes;

    for (uint32_t i = 0; i < step; i++)
        if (s->x->base.steps[i].kind == STEP_KERNEL && s->x->steps[i].program == p) {
            s->program_offsets[step] = s->program_offsets[i];
            return;
        }
    s->program_offsets[step] = s->out.size;
    opencl_device_identity(s->o, identity);
    out_text(&s->out, identity, strlen(identity));
    out_text(&s->out, p->text, strlen(p->text));
    unsigned char *binary = opencl_program_binary(s->o, p->program, &bytes);
    out_text(&s->out, (const char *)binary, binary ? bytes : 0);
    free(binary);
}

static void save_kernel(struct saver *s, uint32_t step)
{
    const struct opencl_launch *l = &s->x->steps[step].launch;

    out_u32(&s->out, l->tensors);
    out_u32(&s->out, l->scratch);
    out_u32(&s->out, l->wide);
    out_i64(&s->out, l->scratch_bytes);
    for (uint32_t d = 0; d < GPU_DIMENSIONS; d++) {
        out_i64(&s->out, (int64_t)l->global[d]);
        out_i64(&s->out, (int64_t)l->local[d]);
    }
    out_u32(&s->out, l->param_count);
    out_bytes(&s->out, l->params, l->param_count * sizeof *l->params);
    out_i64(&s->out, (int64_t)s->program_offsets[step]);
    out_u32(&s->out, s->x->steps[step].number);
}

static bool save_code(struct saver *s, struct error *e)
{
    const uint32_t count = s->x->base.step_count;

    s->program_offsets = calloc((size_t)count + 1, sizeof *s->program_offsets);
    s->offsets = calloc((size_t)count + 1, sizeof *s->offsets);
    if (!s->program_offsets || !s->offsets)
        return error_out_of_memory(e);
    for (uint32_t i = 0; i < count; i++)
        if (s->x->base.steps[i].kind == STEP_KERNEL)
            save_program(s, i);
    for (uint32_t i = 0, kernel = 0; i < count; i++)
        if (s->x->base.steps[i].kind == STEP_KERNEL) {
            s->offsets[kernel++] = s->out.size;
            save_kernel(s, i);
        }
    return !s->out.failed || error_out_of_memory(e);
}

static bool save(struct executable *executable, uint32_t input_count, const struct graph_binding *inputs, uint32_t output_count,
                 const struct graph_binding *outputs, serialized_sink sink, void *user, struct error *e)
{
    const struct opencl_executable *x = (const struct opencl_executable *)executable;
    const struct serialized_facts facts = {SERIALIZED_DEVICE, "", input_count, output_count, inputs, outputs};
    struct saver s = {.o = opencl_of(executable->engine), .x = x};
    bool good = save_code(&s, e);

    if (good) {
        const struct serialized_code code = {s.out.bytes, s.out.size, s.offsets};
        good = serialized_write(x->serialized, &facts, &code, false, sink, user, e);
    }
    out_free(&s.out);
    free(s.program_offsets);
    free(s.offsets);
    return good;
}

/* ---- reading ---- */

static bool damaged(struct error *e, const char *what)
{
    return error_set(e, WNNStatus_DataError, "the compiled graph is damaged: %s", what);
}

static bool launch_fits(const struct opencl_launch *l, const struct program_step *of)
{
    uint64_t items = 1;

    for (uint32_t d = 0; d < GPU_DIMENSIONS; d++) {
        if (!l->local[d] || l->local[d] > GROUP_MAX || !l->global[d] || l->global[d] % l->local[d] != 0)
            return false;
        items *= l->local[d];
        if (items > GROUP_MAX)
            return false;
    }
    return l->tensors == of->location_count && l->scratch_bytes >= 0 && (l->scratch || !l->scratch_bytes);
}

static bool read_launch(struct stream_reader *in, struct arena *arena, struct opencl_launch *l, uint64_t *program,
                        uint32_t *number, struct error *e)
{
    int64_t *params;

    l->tensors = in_u32(in);
    l->scratch = in_u32(in) != 0;
    l->wide = in_u32(in) != 0;
    l->scratch_bytes = in_i64(in);
    for (uint32_t d = 0; d < GPU_DIMENSIONS; d++) {
        l->global[d] = (size_t)in_i64(in);
        l->local[d] = (size_t)in_i64(in);
    }
    l->param_count = in_count(in, sizeof *params);
    params = arena_array(arena, (size_t)l->param_count + 1, sizeof *params);
    if (!params)
        return error_out_of_memory(e);
    in_bytes(in, params, l->param_count * sizeof *params);
    l->params = params;
    *program = (uint64_t)in_i64(in);
    *number = in_u32(in);
    return !in->failed || damaged(e, "a kernel ends early");
}

/* Reads a program, whose text is for free(). */
static bool read_program(struct engine_opencl *o, const unsigned char *code, size_t bytes, uint64_t at,
                         struct opencl_wanted *out, struct error *e)
{
    char now[OPENCL_IDENTITY_BYTES];
    struct stream_reader in = {.at = code, .end = code + bytes};
    const char *identity, *text, *binary;
    size_t identity_bytes, text_bytes, binary_bytes;

    if (at > bytes)
        return damaged(e, "a program outside the file");
    in.at += at;
    identity = in_text(&in, OPENCL_IDENTITY_BYTES, &identity_bytes);
    text = in.failed ? NULL : in_text(&in, SAVED_TEXT_MAX, &text_bytes);
    binary = in.failed ? NULL : in_text(&in, bytes, &binary_bytes);
    if (in.failed)
        return damaged(e, "a program ends early");
    char *copy = calloc(1, text_bytes + 1);
    if (!copy)
        return error_out_of_memory(e);
    memcpy(copy, text, text_bytes);
    out->text = copy;
    out->whole = true;
    opencl_device_identity(o, now);
    if (binary_bytes && strlen(now) == identity_bytes && !memcmp(now, identity, identity_bytes)) {
        out->binary = (const unsigned char *)binary;
        out->binary_bytes = binary_bytes;
    }
    return true;
}

static bool read_steps(struct opencl_executable *x, const struct program *p, const struct serialized_source *source,
                       const struct serialized_view *view, struct opencl_wanted *wanted, struct error *e)
{
    const unsigned char *code = (const unsigned char *)source->program + view->code_offset;
    uint64_t program = 0;

    for (uint32_t i = 0, k = 0; i < p->step_count; i++) {
        if (p->steps[i].kind != STEP_KERNEL)
            continue;
        const uint64_t at = view->offsets[p->steps[i].run.function];
        if (at > view->code_bytes)
            return damaged(e, "a kernel outside the file");
        struct stream_reader in = {.at = code + at, .end = code + view->code_bytes};
        if (!read_launch(&in, &x->base.arena, &x->steps[i].launch, &program, &wanted[k].number, e))
            return false;
        if (!launch_fits(&x->steps[i].launch, &p->steps[i]))
            return damaged(e, "a kernel's sizes");
        wanted[k].step = x->base.profile.steps[i].name;
        if (!read_program(opencl_of(x->base.engine), code, view->code_bytes, program, &wanted[k++], e))
            return false;
    }
    return true;
}

static struct executable *load(struct engine *en, const struct serialized_source *source, void (*release)(void *user),
                               void *user, struct serialized_view *view, struct error *e)
{
    struct opencl_wanted *wanted = NULL;
    struct executable *x = NULL;
    struct program p;

    if (!serialized_load(source, en, SERIALIZED_DEVICE, NULL, &p, view, e))
        return NULL;
    if (view->kernel_count && (!view->code_bytes || !view->offsets))
        damaged(e, "it has no kernels");
    else if ((wanted = calloc((size_t)p.step_count + 1, sizeof *wanted))) {
        struct opencl_executable *made = opencl_executable_create(en, &p, e);

        if (made && read_steps(made, &p, source, view, wanted, e) && opencl_executable_finish(made, &p, wanted, e)) {
            made->release = release;
            made->release_user = user;
            x = &made->base;
        } else if (made) {
            opencl_unload(&made->base);
        }
        for (uint32_t i = 0; i < p.step_count; i++)
            free((char *)wanted[i].text);
        free(wanted);
    } else {
        error_out_of_memory(e);
    }
    program_free(&p);
    if (!x)
        serialized_view_free(view);
    return x;
}

static const struct engine_saved_steps saved_steps = {
    .step_save = library_step_save,
    .step_is_packed = library_step_is_packed,
    .step_load = opencl_step_load,
    .library_facts = opencl_library_facts,
};

const struct engine_serialization opencl_serialization = {
    .steps = &saved_steps,
    .load = load,
    .save = save,
};
