/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes what differs from object to object, as text of LLVM IR that follows runtime/runtime.c's: the constants that it
 * declares, the functions whose parameters are tensors, and the description.
 *
 * The layouts are those of webnn/webnn_object.h and webnn/webnn_rt.h; they are written member by member, so that they come out
 * right for targets with other pointers than this machine's.
 */
#include "codegen/object/object_module.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/object/runtime/code.h"
#include "ir/support/align.h"
#include "ir/support/array.h"
#include "webnn/webnn_object.h"
#include "webnn/webnn_rt.h"

enum { THREADS_MAX = 1024 }; /* among which a kernel's units may be divided: how many the caller has is known when it runs */

/* ---- values ---- */

struct name {
    char text[16];
};

static struct name numbered(const char *name, uint32_t number)
{
    struct name n;

    snprintf(n.text, sizeof n.text, "%s%u", name, number);
    return n;
}

static void put_bytes(FILE *f, const char *name, const char *bytes, size_t length)
{
    fprintf(f, "@%s = private unnamed_addr constant [%zu x i8] c\"", name, length);
    for (size_t i = 0; i < length; i++)
        fprintf(f, "\\%02X", (unsigned char)bytes[i]);
    fprintf(f, "\", align 1\n");
}

static void put_text(FILE *f, const char *name, uint32_t number, const char *text)
{
    put_bytes(f, numbered(name, number).text, text, strlen(text) + 1);
}

static void put_numbers(FILE *f, const char *name, uint32_t bits, const int64_t *values, size_t count)
{
    fprintf(f, "@%s = private constant [%zu x i%u] [", name, count, bits);
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%si%u %" PRId64, i ? ", " : "", bits, values[i]);
    fprintf(f, "], align %u\n", bits / 8);
}

/* ---- the program ---- */

/* The steps of all levels and variants while they are written as runtime/code.h says. */
struct steps {
    const struct object_module *o;
    const struct object_variant *variant;
    struct bytes code;     /* int64_t */
    uint32_t kernel, move; /* of the next step */
    uint32_t tensors;      /* most of a step */
    uint32_t base_bits;
    bool wide, copies, loops, failed;
};

static void put_number(struct steps *s, int64_t n)
{
    s->wide |= n != (int32_t)n;
    s->failed |= !bytes_append(&s->code, &n, sizeof n);
}

static void put_op(struct steps *s, enum code_op op, uint32_t locations, int64_t value)
{
    put_number(s, (int64_t)op + 8 * locations + (value << CODE_VALUE));
    s->tensors = locations > s->tensors ? locations : s->tensors;
}

static void put_location(struct steps *s, const struct location *l, uint32_t flags, int64_t distance)
{
    const uint32_t bindings = 2 + (l->kind == LOCATION_OUTPUT ? s->o->p->input_count : 0);
    const bool constant = l->kind == LOCATION_CONSTANT;
    const uint32_t base = l->kind == LOCATION_ARENA ? 0 : constant ? 1 : bindings + l->slot;
    const int64_t offset = l->offset + (constant ? s->variant->constant_offsets[l->slot] : 0) + distance;

    put_number(s, (int64_t)((uint64_t)offset << s->base_bits | base << CODE_BASE | flags));
}

/* In a loop, iteration i finds a location i * stride further, or, with a first one of its own, (i - 1) * stride from the second
 * iteration on. */
static void put_tensor(struct steps *s, uint32_t step, uint32_t location)
{
    const struct program *p = s->variant->program;
    const struct location *l = &p->steps[step].locations[location];
    const struct program_move *m = p->moves + s->move, *end = p->moves + p->move_count;

    while (m < end && m->step == step && m->location != location)
        m++;
    if (m == end || m->step != step) {
        put_location(s, l, 0, 0);
        return;
    }
    put_location(s, l, CODE_MOVES | (m->has_first ? CODE_FIRST : 0), m->has_first ? -m->stride : 0);
    put_number(s, m->stride);
    if (m->has_first)
        put_location(s, &m->first, 0, 0);
}

static void put_step(struct steps *s, uint32_t step)
{
    const struct program *p = s->variant->program;
    const struct program_step *st = &p->steps[step];
    const uint32_t count = st->location_count;

    while (s->move < p->move_count && p->moves[s->move].step < step)
        s->move++;
    const uint32_t k = s->kernel, kernels = s->o->p->kernel_count;
    const struct schedule *schedule = st->kind == STEP_COPY ? NULL : s->o->p->levels[k / kernels].kernels[k % kernels];
    if (schedule)
        put_op(s, CODE_KERNEL, count,
               (int64_t)s->o->structures[k] << CODE_PARTS |
                   program_kernel_parts(schedule->cost.operations, schedule->cost.bytes, schedule->units, THREADS_MAX));
    else
        put_op(s, CODE_COPY, count, 0);
    for (uint32_t i = 0; i < count; i++)
        put_tensor(s, step, i);
    if (schedule)
        put_number(s, s->o->firsts[k]);
    put_number(s, schedule ? schedule->units : st->locations[0].bytes);
    s->kernel += schedule != NULL;
    s->copies |= !schedule;
}

static void put_loop(struct steps *s, const struct program_loop *l)
{
    const size_t at = s->code.length;

    put_op(s, CODE_LOOP, l->stop ? 1 : 0, 0);
    if (l->stop)
        put_location(s, &s->variant->program->steps[l->stop - 1].locations[1], 0, 0);
    put_number(s, l->iterations);
    const size_t begin = s->code.length;
    for (uint32_t step = l->first; step < l->first + l->count; step++)
        put_step(s, step);
    put_op(s, CODE_NEXT, 0, 0);
    int64_t value = (int64_t)(s->code.length - begin) / 8 << CODE_VALUE;
    s->wide |= value > INT32_MAX;
    if (!s->failed)
        *(int64_t *)(void *)(s->code.data + at) += value;
    s->loops = true;
}

static void put_variant(struct steps *s, const struct object_variant *v)
{
    const struct program *p = v->program;

    s->variant = v;
    s->move = 0;
    for (uint32_t step = 0, l = 0; step < p->step_count;) {
        if (l < p->loop_count && p->loops[l].first == step) {
            put_loop(s, &p->loops[l]);
            step += p->loops[l++].count;
        } else {
            put_step(s, step++);
        }
    }
    put_op(s, CODE_END, 0, 0);
}

/* Writes the steps of each variant for each level. */
static bool put_program(struct steps *s, FILE *f)
{
    int64_t starts[OBJECT_LEVELS_MAX * OBJECT_VARIANTS_MAX];
    const struct object_program *p = s->o->p;
    uint32_t count = 0;

    for (uint32_t l = 0; l < p->level_count; l++)
        for (uint32_t v = 0; v < p->variant_count; v++) {
            starts[count++] = (int64_t)s->code.length / 8;
            put_variant(s, &p->variants[v]);
        }
    put_numbers(f, "code", s->wide ? 64 : 32, (const int64_t *)(const void *)s->code.data, s->code.length / 8);
    free(s->code.data);
    put_numbers(f, "code_starts", 32, starts, count);
    return !s->failed;
}

/* Writes an array of the functions of some kernels. */
static void put_kernels(const struct object_module *o, const char *name, const uint32_t *structures, uint32_t count)
{
    fprintf(o->text, "@%s = private constant [%u x ptr] [", name, count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(o->text, "%sptr @%s", i ? ", " : "", o->symbols[structures ? structures[i] : i]);
    fprintf(o->text, "]\n");
}

/* Writes the programs of webnn_rt.h of all levels. */
static void put_rt_programs(const struct object_module *o, FILE *f)
{
    const struct object_program *p = o->p;
    const uint32_t levels = object_is_model(p) ? p->level_count : 0;
    const bool embeds = p->constants.length && !p->weights_path;

    for (uint32_t l = 0; l < levels; l++) {
        fprintf(f, "@serialized%u = external constant i8\n", l);
        put_kernels(o, numbered("table", l).text, o->structures + (size_t)l * p->kernel_count, p->kernel_count);
    }
    fprintf(f, "@programs = private constant [%u x %%struct.webnn_rt_program] [", levels);
    for (uint32_t l = 0; l < levels; l++)
        fprintf(f, "%s%%struct.webnn_rt_program { i32 %u, i32 %u, ptr @table%u, ptr @serialized%u, i%u %zu, ptr %s, i%u %zu }",
                l ? ", " : "", WEBNN_RT_VERSION, p->kernel_count, l, l, o->size_bits, p->levels[l].serialized.length,
                embeds ? "@constants" : "null", o->size_bits, embeds ? p->constants.length : 0);
    fprintf(f, "]\n");
}

/* ---- functions of all inputs and outputs ---- */

/* Writes int name(given..., sizes..., inputs..., outputs...), which calls a function of the runtime with what is given, an
 * array of sizes, and one of pointers with space for what the runtime adds. */
static void put_function(const struct object_module *o, const char *name, const char *given, const char *call, uint32_t tensors)
{
    const struct object_program *p = o->p;
    const uint32_t sizes = p->size_count, count = sizes + p->input_count + p->output_count;
    FILE *f = o->text;

    fprintf(f, "define i32 @%s(%s", name, given);
    for (uint32_t i = 0; i < count; i++)
        fprintf(f, "%s%s %%a%u", i || *given ? ", " : "", i < sizes ? "i32" : "ptr", i);
    fprintf(f, ") minsize optsize {\n%%sizes = alloca [%u x i32]\n%%bases = alloca [%u x ptr]\n", sizes,
            2 + count - sizes + tensors);
    for (uint32_t i = 0; i < count; i++) {
        const char *type = i < sizes ? "i32" : "ptr", *array = i < sizes ? "sizes" : "bases";
        fprintf(f, "%%p%u = getelementptr %s, ptr %%%s, i64 %u\nstore %s %%a%u, ptr %%p%u\n", i, type, array,
                i < sizes ? i : 2 + i - sizes, type, i, i);
    }
    fprintf(f, "%%r = call i32 @%s, ptr %%bases)%s\nret i32 %%r\n}\n", call, strcmp(name, "run") ? "" : " alwaysinline");
}

/* ---- the description ---- */

static void put_tensors(FILE *f, const char *name, const struct object_tensor *tensors, uint32_t count)
{
    const char *shape = *name == 'i' ? "x" : "y";

    for (uint32_t i = 0; i < count; i++) {
        int64_t dims[RANK_MAX];
        for (uint32_t d = 0; d < tensors[i].type.rank; d++)
            dims[d] = tensors[i].type.dims[d];
        put_text(f, name, i, tensors[i].name);
        put_numbers(f, numbered(shape, i).text, 32, dims, tensors[i].type.rank);
    }
    fprintf(f, "@%ss = private constant [%u x %%tensor] [", name, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct tensor_type *t = &tensors[i].type;
        fprintf(f, "%s%%tensor { ptr @%s%u, i32 %u, i32 %u, ptr ", i ? ", " : "", name, i, (uint32_t)t->type, t->rank);
        fprintf(f, t->rank ? "@%s%u" : "null", shape, i);
        fprintf(f, ", i64 %" PRId64 " }", type_bytes(t));
    }
    fprintf(f, "]\n");
}

static bool has_files(const struct object_module *o)
{
    static const char *const systems[] = {"linux",  "darwin",  "macos",     "ios",    "freebsd",
                                          "netbsd", "openbsd", "dragonfly", "android"};

    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (strstr(o->machine->target->triple, systems[i]))
            return true;
    return false;
}

const char *object_export(const struct object_module *o, uint32_t i, bool *exported)
{
    static const char *const names[OBJECT_EXPORTS] = {"run",      "create",      "destroy",     "workspace_size",
                                                      "run_with", "set_weights", "load_weights"};
    const bool model = object_is_model(o->p), apart = o->p->weights_path && !model;

    *exported = i == 0 || (i <= 2 ? model : i <= 4 ? !model : apart && (i == 5 || has_files(o)));
    return names[i];
}

static bool put_description(const struct object_module *o, FILE *f)
{
    const struct object_program *p = o->p;
    const struct target *t = o->machine->target;
    const bool model = object_is_model(p), apart = p->weights_path != NULL, sizes = p->size_count > 0;
    char *target = NULL;

    if (!text_append(&target, "%s %s%s%s", t->triple, t->cpu && *t->cpu ? t->cpu : "generic",
                     t->features && *t->features ? " " : "", t->features ? t->features : ""))
        return false;
    put_text(f, "t", 0, p->prefix);
    put_text(f, "t", 1, p->producer);
    put_text(f, "t", 2, target);
    free(target);
    for (uint32_t i = 0; i < p->size_count; i++)
        put_text(f, "s", i, p->size_names[i]);
    fprintf(f, "@ss = private constant [%u x ptr] [", p->size_count);
    for (uint32_t i = 0; i < p->size_count; i++)
        fprintf(f, "%sptr @s%u", i ? ", " : "", i);
    fprintf(f, "]\n%%tensor = type { ptr, i32, i32, ptr, i64 }\n");
    put_tensors(f, "i", p->inputs, p->input_count);
    put_tensors(f, "o", p->outputs, p->output_count);
    fprintf(
        f,
        "%%object = type { i32, i32, i32, i32, ptr, ptr, ptr, i32, i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }\n"
        "%%description = type { %%object%s }\n@%s_object = constant %%description { %%object { i32 %u, i32 %u, i32 %u, i32 %u, "
        "ptr @t0, ptr @t1, ptr @t2, i32 %u, i32 %u, ptr %s, ptr %s",
        sizes ? ", i32, i32, ptr, ptr" : "", p->prefix, WEBNN_OBJECT_MAGIC,
        sizes ? WEBNN_OBJECT_SIZES_VERSION : WEBNN_OBJECT_VERSION, 24 + 12 * o->size_bits / 8,
        (model ? WEBNN_OBJECT_HAS_MODEL : 0u) | (apart ? WEBNN_OBJECT_NEEDS_WEIGHTS : 0u), p->input_count, p->output_count,
        p->input_count ? "@is" : "null", p->output_count ? "@os" : "null");
    for (uint32_t i = 0; i < OBJECT_EXPORTS; i++) {
        bool exported;
        const char *name = object_export(o, i, &exported);
        fprintf(f, exported ? ", ptr @%s" : ", ptr null", name);
    }
    fprintf(f, " }");
    if (sizes)
        fprintf(f, ", i32 %u, i32 %u, ptr @ss, ptr @variant_sizes", p->size_count, p->variant_count);
    fprintf(f, " }\n");
    if (p->shared)
        fprintf(f, "@%s = alias %%description, ptr @%s_object\n", WEBNN_OBJECT_SYMBOL, p->prefix);
    return true;
}

/* ---- all of it ---- */

static void put_constants(const struct object_module *o, FILE *f, const struct steps *s)
{
    const struct object_program *p = o->p;
    const struct object_workspace workspace = object_workspace(p);
    const bool embeds = p->constants.length && !p->weights_path;
    const struct object_weights header = {OBJECT_WEIGHTS_MAGIC, p->constants.length, p->weights_checksum};
    int64_t masks[OBJECT_LEVELS_MAX * OBJECT_LEVEL_WORDS], sizes[OBJECT_VARIANTS_MAX * OBJECT_SIZES_MAX], words[3];
    const struct {
        const char *name;
        uint32_t bits;
        int64_t value;
    } constants[] = {
        {"level_count", 32, p->level_count},
        {"input_count", 32, p->input_count},
        {"binding_count", 32, p->input_count + p->output_count},
        {"size_count", 32, p->size_count},
        {"variant_count", 32, p->variant_count},
        {"base_bits", 32, s->base_bits},
        {"base_mask", 32, (INT64_C(1) << (s->base_bits - CODE_BASE)) - 1},
        {"has_wide", 8, s->wide},
        {"has_copies", 8, s->copies},
        {"has_loops", 8, s->loops},
        {"has_files", 8, p->weights_path && has_files(o)},
        {"fixed_bytes", o->size_bits, workspace.fixed},
        {"arena_bytes", o->size_bits, target_align(object_workspace_bytes(p))},
        {"thread_bytes", o->size_bits, workspace.per_thread},
        {"constants_bytes", o->size_bits, (int64_t)p->constants.length},
    };

    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        fprintf(f, "@%s = private unnamed_addr constant i%u %" PRId64 "\n", constants[i].name, constants[i].bits,
                constants[i].value);
    if (embeds)
        fprintf(f, "@constants = external constant i8\n");
    if (p->weights_path)
        put_text(f, "path", 0, p->weights_path);
    fprintf(f, "@embedded = private unnamed_addr constant ptr %s\n@weights_path = private unnamed_addr constant ptr %s\n",
            embeds ? "@constants" : "null", p->weights_path ? "@path0" : "null");
    memcpy(words, &header, sizeof words);
    put_numbers(f, "weights_header", 64, words, 3);
    for (uint32_t v = 0; v < p->variant_count; v++)
        for (uint32_t i = 0; i < p->size_count; i++)
            sizes[v * p->size_count + i] = p->variants[v].sizes[i];
    put_numbers(f, "variant_sizes", 32, sizes, (size_t)p->variant_count * p->size_count);
    object_level_masks(p, masks);
    put_numbers(f, "level_masks", 32, masks, (size_t)p->level_count * OBJECT_LEVEL_WORDS);
}

bool object_put_all(const struct object_module *o)
{
    FILE *f = o->text;
    struct steps s = {.o = o, .base_bits = CODE_BASE};

    while (2 + o->p->input_count + o->p->output_count > UINT32_C(1) << (s.base_bits - CODE_BASE))
        s.base_bits++;
    bool ok = put_program(&s, f);

    put_constants(o, f, &s);
    put_kernels(o, "kernels", NULL, o->symbol_count);
    put_numbers(f, "numbers", 64, (const int64_t *)(const void *)o->numbers.data, o->numbers.length / sizeof(int64_t));
    put_rt_programs(o, f);
    if (object_is_model(o->p)) {
        put_function(o, "run", "ptr %model", "run_model(ptr %model", 0);
    } else {
        put_function(o, "run", "", "run_here(ptr %sizes", s.tensors);
        put_function(o, "run_with", "ptr %workspace, ptr %parallel", "run_in(ptr %workspace, ptr %parallel, ptr %sizes",
                     s.tensors);
    }
    return put_description(o, f) && ok;
}
