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

#include "webnn/webnn_object.h"
#include "webnn/webnn_rt.h"

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

static void put_bytes(FILE *f, const char *name, const char *bytes, size_t length, uint32_t alignment)
{
    fprintf(f, "@%s = private unnamed_addr constant [%zu x i8] c\"", name, length);
    for (size_t i = 0; i < length; i++)
        fprintf(f, "\\%02X", (unsigned char)bytes[i]);
    fprintf(f, "\", align %u\n", alignment);
}

static void put_text(FILE *f, const char *name, uint32_t number, const char *text)
{
    put_bytes(f, numbered(name, number).text, text, strlen(text) + 1, 1);
}

static void put_numbers(FILE *f, const char *name, uint32_t bits, const int64_t *values, size_t count)
{
    fprintf(f, "@%s = private constant [%zu x i%u] [", name, count, bits);
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%si%u %" PRId64, i ? ", " : "", bits, values[i]);
    fprintf(f, "], align %u\n", bits / 8);
}

/* ---- the program ---- */

/* What classes are written as (runtime/code.h). */
struct words {
    const struct object_module *o;
    struct bytes code, numbers, classes, tables; /* int64_t, but for the bytes of tables */
    bool wide, failed;
};

static void put(struct words *w, struct bytes *to, int64_t n)
{
    w->failed |= !bytes_append(to, &n, sizeof n);
}

static void put_word(struct words *w, int64_t n)
{
    w->wide |= n != (int32_t)n;
    put(w, &w->code, n);
}

/* Adds what gives a column: its least number, what divides the others less that, and a table of the quotients, unless it is
 * part of one that is there.  All that is linear in a size shares a table. */
static void put_table(struct words *w, const int64_t *column, uint32_t rows)
{
    int64_t least = column[0], most = column[0], divisor = 0;
    uint32_t width = 0;
    size_t at = 0;

    for (uint32_t r = 0; r < rows; r++) {
        least = column[r] < least ? column[r] : least;
        most = column[r] > most ? column[r] : most;
    }
    for (uint32_t r = 0; r < rows; r++)
        for (int64_t a = column[r] - least; a;) {
            const int64_t rest = divisor % a;
            divisor = a;
            a = rest;
        }
    while (width < 3 && (most - least) / divisor >> (8 << width))
        width++;
    const size_t bytes = (size_t)rows << width;
    char *table = calloc(1, bytes);

    w->failed |= !table;
    for (uint32_t r = 0; table && r < rows; r++) {
        const int64_t n = (column[r] - least) / divisor;
        memcpy(table + ((size_t)r << width), &n, (size_t)1 << width); /* both machines are little-endian */
    }
    while (table && at + bytes <= w->tables.length && memcmp(w->tables.data + at, table, bytes) != 0)
        at += (size_t)1 << width;
    if (at + bytes > w->tables.length) {
        w->failed |= !bytes_append(&w->tables, NULL, -w->tables.length & 7);
        at = w->tables.length;
        w->failed |= !bytes_append(&w->tables, table, table ? bytes : 0);
    }
    free(table);
    put(w, &w->numbers, least);
    put(w, &w->numbers, divisor);
    put(w, &w->numbers, (int64_t)(at << CODE_WIDTH | width));
}

static void put_class(struct words *w, const struct object_class *c)
{
    const bool sized = w->o->p->size_count > 0;
    uint32_t *values = calloc(c->column_count + 1u, sizeof *values), count = 0;
    const uint32_t fields[] = {(uint32_t)(w->code.length / sizeof(int64_t)), c->code_count, c->word_count - c->code_count,
                               (uint32_t)(w->numbers.length / sizeof(int64_t))};

    w->failed |= !values;
    for (uint32_t i = 0; !w->failed && i < c->column_count; i++)
        if (!object_column_is_fixed(c, i)) {
            values[i] = 2 * count++ + 1;
            put_table(w, object_column(c, i), c->row_count);
        }
    for (uint32_t i = 0; !w->failed && i < c->word_count; i++) {
        const uint32_t value = values[c->column_of[i]];
        const int64_t word = object_column(c, c->column_of[i])[0];

        if (sized)
            put_word(w, value ? value : 2 * word);
        else if (i < c->code_count)
            put_word(w, word);
        else
            put(w, &w->numbers, word);
    }
    for (uint32_t i = 0; i < 4; i++)
        put(w, &w->classes, fields[i]);
    put(w, &w->classes, count);
    free(values);
}

/* Writes numbers, which are freed. */
static void put_words(FILE *f, const char *name, uint32_t bits, const struct bytes *words)
{
    put_numbers(f, name, bits, (const int64_t *)(const void *)words->data, words->length / sizeof(int64_t));
    free(words->data);
}

/* Writes the steps of all levels and sizes. */
static bool put_program(struct words *w, FILE *f)
{
    const struct object_program *p = w->o->p;
    const uint32_t variants = object_variants(p);
    int64_t *places = calloc((size_t)p->level_count * variants + 1, sizeof *places);

    w->failed = !places;
    for (uint32_t i = 0; !w->failed && i < p->table->class_count; i++) {
        const struct object_class *c = &p->table->classes[i];

        for (uint32_t r = 0; r < c->row_count; r++)
            places[c->level * variants + c->variants[r]] = (int64_t)i << CODE_ROW | r;
        put_class(w, c);
    }
    put_words(f, "code", w->wide ? 64 : 32, &w->code);
    put_words(f, "numbers", 64, &w->numbers);
    put_words(f, "classes", 32, &w->classes);
    put_numbers(f, "places", 32, places, object_is_model(p) ? 0 : (size_t)p->level_count * variants);
    put_bytes(f, "tables", w->tables.data, w->tables.length, 8);
    free(places);
    free(w->tables.data);
    return !w->failed;
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
        put_kernels(o, numbered("table", l).text, p->levels[l].structures, p->kernel_count);
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
        put_text(f, "s", i, p->sizes[i].name);
    fprintf(f, "%%size = type { ptr, i32, ptr }\n@ss = private constant [%u x %%size] [", p->size_count);
    for (uint32_t i = 0, at = 0; i < p->size_count; at += p->sizes[i++].count)
        fprintf(f, "%s%%size { ptr @s%u, i32 %u, ptr getelementptr (i32, ptr @size_values, i32 %u) }", i ? ", " : "", i,
                p->sizes[i].count, at);
    fprintf(f, "]\n%%tensor = type { ptr, i32, i32, ptr, i64 }\n");
    put_tensors(f, "i", p->inputs, p->input_count);
    put_tensors(f, "o", p->outputs, p->output_count);
    fprintf(
        f,
        "%%object = type { i32, i32, i32, i32, ptr, ptr, ptr, i32, i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }\n"
        "%%description = type { %%object%s }\n@%s_object = constant %%description { %%object { i32 %u, i32 %u, i32 %u, i32 %u, "
        "ptr @t0, ptr @t1, ptr @t2, i32 %u, i32 %u, ptr %s, ptr %s",
        sizes ? ", i32, ptr" : "", p->prefix, WEBNN_OBJECT_MAGIC, sizes ? WEBNN_OBJECT_SIZES_VERSION : WEBNN_OBJECT_VERSION,
        24 + 12 * o->size_bits / 8, (model ? WEBNN_OBJECT_HAS_MODEL : 0u) | (apart ? WEBNN_OBJECT_NEEDS_WEIGHTS : 0u),
        p->input_count, p->output_count, p->input_count ? "@is" : "null", p->output_count ? "@os" : "null");
    for (uint32_t i = 0; i < OBJECT_EXPORTS; i++) {
        bool exported;
        const char *name = object_export(o, i, &exported);
        fprintf(f, exported ? ", ptr @%s" : ", ptr null", name);
    }
    fprintf(f, " }");
    if (sizes)
        fprintf(f, ", i32 %u, ptr @ss", p->size_count);
    fprintf(f, " }\n");
    if (p->shared)
        fprintf(f, "@%s = alias %%description, ptr @%s_object\n", WEBNN_OBJECT_SYMBOL, p->prefix);
    return true;
}

/* ---- all of it ---- */

static void put_constants(const struct object_module *o, FILE *f, const struct words *w)
{
    const struct object_program *p = o->p;
    const struct object_workspace workspace = object_workspace(p);
    const bool embeds = p->constants.length && !p->weights_path;
    const struct object_weights header = {OBJECT_WEIGHTS_MAGIC, p->constants.length, p->weights_checksum};
    const struct object_table *t = p->table;
    int64_t masks[OBJECT_LEVELS_MAX * OBJECT_LEVEL_WORDS], counts[OBJECT_SIZES_MAX], words[3];
    struct bytes values = {0};
    const struct {
        const char *name;
        uint32_t bits;
        int64_t value;
    } constants[] = {
        {"level_count", 32, p->level_count},
        {"input_count", 32, p->input_count},
        {"binding_count", 32, p->input_count + p->output_count},
        {"size_count", 32, p->size_count},
        {"variant_count", 32, object_variants(p)},
        {"base_bits", 32, t->base_bits},
        {"base_mask", 32, t->base_bits ? (INT64_C(1) << (t->base_bits - CODE_BASE)) - 1 : 0},
        {"has_wide", 8, w->wide},
        {"has_copies", 8, t->copies},
        {"has_loops", 8, t->loops},
        {"has_files", 8, p->weights_path && has_files(o)},
        {"fixed_bytes", o->size_bits, workspace.fixed},
        {"arena_bytes", o->size_bits, target_align(t->arena_bytes)},
        {"expanded_bytes", o->size_bits, workspace.fixed - TARGET_ALIGNMENT - target_align(t->arena_bytes)},
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
    for (uint32_t i = 0; i < p->size_count; i++) {
        counts[i] = p->sizes[i].count;
        for (uint32_t k = 0; k < p->sizes[i].count; k++)
            put((struct words *)w, &values, p->sizes[i].values[k]);
    }
    put_numbers(f, "size_counts", 32, counts, p->size_count);
    put_words(f, "size_values", 32, &values);
    object_level_masks(p, masks);
    put_numbers(f, "level_masks", 32, masks, (size_t)p->level_count * OBJECT_LEVEL_WORDS);
}

bool object_put_all(const struct object_module *o)
{
    FILE *f = o->text;
    struct words w = {.o = o};
    bool ok = put_program(&w, f);

    put_constants(o, f, &w);
    put_kernels(o, "kernels", NULL, o->symbol_count);
    put_rt_programs(o, f);
    if (object_is_model(o->p)) {
        put_function(o, "run", "ptr %model", "run_model(ptr %model", 0);
    } else {
        const uint32_t tensors = o->p->table->tensors;

        put_function(o, "run", "", "run_here(ptr %sizes", tensors);
        put_function(o, "run_with", "ptr %workspace, ptr %parallel", "run_in(ptr %workspace, ptr %parallel, ptr %sizes",
                     tensors);
    }
    return put_description(o, f) && ok && !w.failed;
}
