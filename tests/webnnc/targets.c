/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnnc-targets: every operator with every data type of its first operand or result, compiled to a standalone object for every
 * kind of target, must need nothing but malloc and free.  Needs no files.
 *
 * A generator of code that knows no instruction for something calls a function (fmaf, roundevenf, __extendhfsf2, memcpy) that a
 * bare machine does not have; which these are differs from target to target.  Names are read out of the objects' symbol tables.
 * What processors of 32 bits have no instruction for, as arithmetic of 64-bit integers, is the helper functions' of their ABI
 * (__aeabi_...), which every toolchain for them brings.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/object/object.h"
#include "frontend/tools/webnnc.h"
#include "ir/text/text.h"
#include "random.h"
#include "support/help.h"

enum { TRIES = 200 };

static const struct test_target {
    const char *triple, *cpu, *features;
} tests[] = {
    {"x86_64-linux-gnu", NULL, NULL}, /* x86-64, x86-64-v3 and x86-64-v4 in one object */
    {"x86_64-linux-gnu", "x86-64-v2", NULL},
    {"x86_64-linux-gnu", "x86-64-v3", NULL},
    {"x86_64-linux-gnu", "x86-64-v4", NULL},
    {"aarch64-linux-gnu", NULL, NULL},
    {"riscv64-linux-gnu", NULL, NULL},
    {"riscv64-linux-gnu", NULL, "+v,+zvl128b"},
    {"thumbv7em-none-eabihf", "cortex-m4", NULL},
    {"thumbv8.1m.main-none-eabihf", "cortex-m55", NULL},
    {"armv8a-linux-gnueabihf", "cortex-a53", NULL},
    {"wasm32", NULL, NULL},
    {"wasm32", NULL, "+relaxed-simd"},
    {"wasm32", "mvp", NULL},
};
enum { TARGETS = sizeof tests / sizeof *tests };

static struct compilation targets[TARGETS]; /* of which only the levels are set */
static uint32_t failures, objects, pairs;

/* webnnc_object.c shows progress through this. */
void progress_show(const struct options *o, const char *what, uint32_t done, uint32_t total)
{
    (void)o;
    (void)what;
    (void)done;
    (void)total;
}

/* ---- what an object needs ---- */

static bool is_allowed(const char *name, size_t length)
{
    static const char *const names[] = {
        "", "malloc", "free", "__stack_pointer", "__indirect_function_table", "__linear_memory"};

    if (length > 8 && !memcmp(name, "__aeabi_", 8))
        return strncmp(name, "__aeabi_mem", 11) != 0; /* those are the C library's */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return true;
    return false;
}

/* A member of a header in an object of 32 or 64 bits. */
#define ELF(at, type, member)                                                                                                  \
    (wide ? ((const Elf64_##type *)(const void *)(at))->member : ((const Elf32_##type *)(const void *)(at))->member)

/* Returns the first undefined name that is not allowed; NULL: there is none. */
static const char *elf_needs(const char *bytes, size_t length, char *buf, size_t size)
{
    if (length < sizeof(Elf64_Ehdr))
        return "nothing at all: the object is too short";
    const bool wide = bytes[EI_CLASS] == ELFCLASS64;
    const size_t section_size = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    const size_t symbol_size = wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    const char *sections = bytes + ELF(bytes, Ehdr, e_shoff);
    for (uint32_t i = 0; i < ELF(bytes, Ehdr, e_shnum); i++) {
        const char *table = sections + i * section_size, *symbol = bytes + ELF(table, Shdr, sh_offset);
        if (ELF(table, Shdr, sh_type) != SHT_SYMTAB)
            continue;
        const char *names = bytes + ELF(sections + ELF(table, Shdr, sh_link) * section_size, Shdr, sh_offset);
        for (const char *end = symbol + ELF(table, Shdr, sh_size); symbol < end; symbol += symbol_size) {
            const char *name = names + ELF(symbol, Sym, st_name);
            if (ELF(symbol, Sym, st_shndx) == SHN_UNDEF && !is_allowed(name, strlen(name))) {
                snprintf(buf, size, "%s", name);
                return buf;
            }
        }
    }
    return NULL;
}

static uint64_t leb128(const unsigned char **p, const unsigned char *end)
{
    uint64_t value = 0;

    for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
        unsigned char byte = *(*p)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return value;
}

/* Skips what follows the two names of an import. */
static void skip_import(const unsigned char **p, const unsigned char *end)
{
    unsigned char kind = *(*p)++;

    if (kind == 1 || kind == 3) /* a table's element type; a global's type */
        ++*p;
    if (kind == 3) {
        ++*p;
        return;
    }
    uint64_t flags = leb128(p, end); /* a function's type, or limits: flags, least, most */
    if (kind == 1 || kind == 2) {
        leb128(p, end);
        if (flags & 1)
            leb128(p, end);
    }
}

static const char *wasm_needs(const char *bytes, size_t length, char *buf, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes + 8, *end = (const unsigned char *)bytes + length;

    while (p < end) {
        unsigned char id = *p++;
        uint64_t section = leb128(&p, end);
        const unsigned char *next = p + section;
        for (uint64_t count = id == 2 ? leb128(&p, end) : 0; count && p < next; count--) {
            uint64_t module = leb128(&p, end);
            p += module;
            uint64_t name = leb128(&p, end);
            if (!is_allowed((const char *)p, name)) {
                snprintf(buf, size, "%.*s", (int)name, (const char *)p);
                return buf;
            }
            p += name;
            skip_import(&p, end);
        }
        p = next;
    }
    return NULL;
}

/* ---- one graph for one target ---- */

/* False, with a message: the object needs something, or there is none.  The graph stays the caller's. */
static bool make_object(WNNContext context, struct graph *g, uint32_t t, const char *what)
{
    static const struct options options = {.quiet = true, .emit = EMIT_OBJ};
    struct compilation c = targets[t];
    struct object_files f = {0};
    char name[256];
    const char *needs;

    c.options = &options;
    c.context = context;
    c.prefix = "test";
    c.graph = g;
    objects++;
    if (!compile_program(&c, g, &(struct error){0}) || !object_files_create(&c, &f)) {
        needs = "what failed";
    } else {
        needs = (memcmp(f.bytes, "\177ELF", 4) ? wasm_needs : elf_needs)(f.bytes, f.length, name, sizeof name);
    }
    if (needs) {
        const struct target *highest = compilation_target(&c);
        fprintf(stderr, "FAIL %s, for %s %s %s: needs %s\n", what, highest->triple, highest->cpu, highest->features, needs);
        failures++;
    }
    free(f.bytes);
    free(f.weights);
    program_free(&c.program);
    standalone_free(&c);
    arena_free(&c.arena);
    return !needs;
}

static void compile_one(WNNContext context, const struct sample *s, uint32_t t, enum op op, uint64_t seed)
{
    static const struct edit copy = {EDIT_NONE, 0, 0, 0, 0};
    struct sample twin;
    char what[128];

    if (!sample_edit(s, &copy, &twin))
        random_die("no copy");
    snprintf(what, sizeof what, "%s, seed %" PRIu64, op_infos[op].name, seed);
    if (!make_object(context, twin.g, t, what)) {
        char *text = sample_text(s);
        fputs(text, stderr);
        free(text);
    }
    sample_free(&twin);
}

static bool is_transformed(const struct graph *g)
{
    graph_for_each (g, n)
        if (n->transformed)
            return true;
    return false;
}

/* A kernel of stages (docs/winograd.md), which samples are too small to get. */
static void check_stages(void)
{
    static const char text[] = "webnn_graph \"stages\" v1 { inputs { x: f32[1, 9, 7, 16]; r: f32[1, 9, 7, 16]; }"
                               "consts { w: f32[16, 16, 3, 3] @scalar(0.25); b: f32[16] @scalar(1); }"
                               "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], inputLayout=\"nhwc\");"
                               "s = add(c, r); y = sigmoid(s); } outputs { y; } }";
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context;

    options.debug = WNN_STR("prefer-winograd");
    if (wnnCreateContext(&options, &context) != WNNStatus_Success)
        random_die("no context");
    for (uint32_t t = 0; t < TARGETS; t++) {
        struct error e = {0};
        struct graph *g = graph_parse(text, sizeof text - 1, NULL, NULL, &e);

        if (!g)
            random_die(e.message);
        make_object(context, g, t, "a kernel of stages");
        if (!is_transformed(g)) {
            fputs("FAIL a kernel of stages: the convolution was not transformed\n", stderr);
            failures++;
        }
        graph_free(g);
    }
    wnnContextRelease(context);
}

static dtype slot_type(const struct node *n, bool result)
{
    const struct value *v = result ? n->results[0] : n->input_count ? n->inputs[0].value : NULL;

    return v ? v->type.type : WNNOperandDataType_Undefined;
}

static bool has_type(const struct sample *s, enum op op, bool result, dtype type)
{
    graph_for_each (s->g, n)
        if (n->op == op && slot_type(n, result) == type)
            return true;
    return false;
}

static void set_target(uint32_t t, struct arena *a)
{
    const char *names[OBJECT_LEVELS_MAX];
    struct error e = {0};
    uint32_t count = object_levels(tests[t].triple, tests[t].cpu, tests[t].features, names, &e);

    for (uint32_t l = 0; l < count; l++) {
        struct target *level = &targets[t].levels[l];
        *level = (struct target){.thread_count = 1, .cache_bytes = 1 << 20, .prefers_nhwc = true, .compact.unpacks = true};
        if (!object_target(level, tests[t].triple, names[l], tests[t].features, a, &e))
            count = 0;
    }
    if (!count)
        random_die(e.message);
    targets[t].level_count = count;
}

static void check_pair(WNNContext context, enum op op, bool result, dtype type, uint32_t first, uint32_t step)
{
    pairs++;
    for (uint32_t i = 0; i < TRIES; i++) {
        struct generate_options o = {((uint64_t)op * 32 + result * 16u + (uint64_t)type) * TRIES + i, 1};
        struct sample s;

        if (!sample_generate_operator(&s, &o, op, type))
            continue;
        bool found = has_type(&s, op, result, type);
        for (uint32_t t = first; found && t < TARGETS; t += step)
            compile_one(context, &s, t, op, o.seed);
        sample_free(&s);
        if (found)
            return;
    }
}

PROGRAM_HELP(
    "usage: webnnc-targets [N]   compile every operator with every data type for each target, or for every N-th, from\n"
    "another one on each time, for slow builds\n")
int main(int argc, char **argv)
{
    uint32_t step = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
    struct arena arena = {0};
    WNNContext context;

    if (!step || wnnCreateContext(NULL, &context) != WNNStatus_Success)
        random_die("no context");
    for (uint32_t t = 0; t < TARGETS; t++)
        set_target(t, &arena);
    for (enum op op = 0; op < OP_COUNT; op++)
        for (int result = 0; result < 2; result++) {
            const struct operand_info *slot = result ? &op_infos[op].outs[0] : &op_infos[op].ins[0];
            dtype_set types = slot->name ? slot->types : 0;

            for (int t = 1; t < DTYPE_COUNT && !(types & DT_AS_FLAG); t++)
                if (types >> t & 1)
                    check_pair(context, op, result, (dtype)t, pairs % step, step);
        }
    check_stages();
    printf("%u pairs of an operator and a data type, %u objects for %d targets; %u failed\n", pairs, objects, (int)TARGETS,
           failures);
    wnnContextRelease(context);
    arena_free(&arena);
    return failures ? 1 : 0;
}
