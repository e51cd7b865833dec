/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out what an object is for: triple, processor and features, from what a person says, held against what LLVM knows.
 *
 * LLVM takes names of processors and features that it does not know, says so on the error stream, and goes on with something
 * else.  Here that is an error: names are looked up in LLVM's lists.
 */
#include "codegen/object/object.h"

#include <string.h>

#include "codegen/llvm/llvm.h"
#include "ir/support/suggest.h"
#include "ir/support/text.h"

/* Code is made for these processors unless one says more; it runs on everything of that name that people have. */
static const struct baseline {
    const char *arch, *cpu, *features;
} baselines[] = {
    {"x86_64", "x86-64", ""},
    {"aarch64", "generic", ""},
    {"riscv64", "generic-rv64", "+m,+a,+f,+d,+c"},                                                  /* rv64gc */
    {"wasm32", "generic", "+simd128,+nontrapping-fptoint,+sign-ext,+bulk-memory,+mutable-globals"}, /* WebAssembly 2.0 */
    {"wasm64", "generic", "+simd128,+nontrapping-fptoint,+sign-ext,+bulk-memory,+mutable-globals"},
};

static size_t arch_length(const char *triple)
{
    return strcspn(triple, "-");
}

static bool same_arch(const char *a, const char *b)
{
    return arch_length(a) == arch_length(b) && !strncmp(a, b, arch_length(a));
}

/*
 * Says what the levels of x86-64 stand for.  A processor's name implies features; objects that check the processor before they
 * run (and descriptions) want them by name, and LLVM's C API does not list them.  Whatever has the vectors of a level has all
 * of it.
 */
static const struct implied {
    uint32_t vector_bits;
    bool rounding;
    const char *features;
} implied[] = {
    {128, true, "+cx16,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"},
    {256, true, "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"},
    {512, true, "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+evex512"},
};

static bool set_triple(struct target *t, const char *triple, struct arena *a, struct error *e)
{
    char *text = triple ? LLVMNormalizeTargetTriple(triple) : LLVMGetDefaultTargetTriple();

    t->triple = text ? arena_string(a, text, strlen(text)) : NULL;
    LLVMDisposeMessage(text);
    return t->triple || error_out_of_memory(e);
}

static bool set_native(struct target *t, struct arena *a, struct error *e)
{
    char *triple = LLVMGetDefaultTargetTriple(), *cpu, *features;
    bool here = !triple || same_arch(triple, t->triple);

    LLVMDisposeMessage(triple);
    if (!here)
        return error_set(e, WNNStatus_TypeError, "the processor \"native\" is this machine's, which %.60s is not", t->triple);
    cpu = LLVMGetHostCPUName();
    features = LLVMGetHostCPUFeatures();
    t->cpu = cpu ? arena_string(a, cpu, strlen(cpu)) : NULL;
    t->features = features ? arena_string(a, features, strlen(features)) : NULL;
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return (t->cpu && t->features) || error_out_of_memory(e);
}

/* Holds the names that LLVM knows against one. */
struct lookup {
    const char *name;
    size_t length;
    bool any, known;
    struct suggestion meant;
};

static void look_at(void *user, const char *name)
{
    struct lookup *l = user;

    l->any = true;
    l->known |= strlen(name) == l->length && !memcmp(name, l->name, l->length);
    suggestion_offer(&l->meant, name);
}

/* Returns whether LLVM knows a processor or feature.  A triple that LLVM does not know is reported elsewhere. */
static bool is_known(const struct target *t, bool is_feature, const char *name, size_t length, struct suggestion *meant)
{
    struct lookup l = {.name = name, .length = length, .meant = suggestion_for(name, length)};

    processors_each(t->triple, is_feature, look_at, &l);
    *meant = l.meant;
    return l.known || !l.any;
}

static bool check_processor(const struct target *t, const char *cpu, struct error *e)
{
    struct suggestion meant;
    char name[128];

    if (is_known(t, false, cpu, strlen(cpu), &meant))
        return true;
    escape_text(name, sizeof name, cpu, strlen(cpu));
    if (*meant.best)
        return error_set(e, WNNStatus_TypeError, "LLVM knows no processor \"%.60s\" of %.60s%s", name, t->triple,
                         suggestion_text(&meant));
    return error_set(
        e, WNNStatus_TypeError,
        "LLVM knows no processor \"%.60s\" of %.60s; clang --target=%.60s --print-supported-cpus lists those it knows", name,
        t->triple, t->triple);
}

static bool set_processor(struct target *t, const char *cpu, struct arena *a, struct error *e)
{
    if (cpu && !strcmp(cpu, "native"))
        return set_native(t, a, e);
    if (cpu && !check_processor(t, cpu, e))
        return false;
    const struct baseline *found = NULL;
    for (size_t i = 0; i < sizeof baselines / sizeof *baselines; i++)
        if (same_arch(baselines[i].arch, t->triple))
            found = &baselines[i];
    /* A processor that is named has its own features. */
    t->cpu = cpu ? arena_string(a, cpu, strlen(cpu)) : found ? found->cpu : "generic";
    t->features = !cpu && found ? found->features : "";
    return t->cpu || error_out_of_memory(e);
}

static bool join_features(struct target *t, const char *first, const char *second, struct arena *a, struct error *e)
{
    size_t size = strlen(first) + strlen(second) + 2;
    char *all = arena_alloc(a, size);

    if (!all)
        return error_out_of_memory(e);
    snprintf(all, size, "%s%s%s", first, *first && *second ? "," : "", second);
    t->features = all;
    return true;
}

/* Checks a list of features, which are "+name" or "-name", separated by commas; LLVM takes a bare name as well. */
static bool check_features(const struct target *t, const char *features, struct error *e)
{
    struct suggestion meant;
    char name[128];

    for (const char *p = features; p && *p; p += strcspn(p, ","), p += *p == ',') {
        const size_t length = strcspn(p, ",");
        if ((*p != '+' && *p != '-') || length == 1)
            return error_set(e, WNNStatus_TypeError, "features \"%.100s\": not a list like +name,-name", features);
        if (!is_known(t, true, p + 1, length - 1, &meant))
            return error_set(e, WNNStatus_TypeError, "%.60s: '%.60s' is not a recognized feature for this target%s", t->triple,
                             escape_text(name, sizeof name, p, length), suggestion_text(&meant));
    }
    return true;
}

static bool check_layout(const struct target *t, const struct machine *m, struct error *e)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->tm);
    bool little = LLVMByteOrder(layout) == LLVMLittleEndian;
    unsigned pointer = LLVMPointerSize(layout);

    LLVMDisposeTargetData(layout);
    if (!little || (pointer != 4 && pointer != 8))
        return error_set(e, WNNStatus_NotSupportedError, "%.60s: only little-endian targets with pointers of 32 or 64 bits",
                         t->triple);
    return true;
}

/* Finds out facts of the processor, which LLVM may have something to say about. */
static bool probe(struct target *t, struct arena *a, struct error *e)
{
    struct machine machine;
    bool spelled = !strcmp(t->cpu, "x86-64") || strncmp(t->triple, "x86_64-", 7) != 0;

    if (!machine_create_ahead(&machine, t, NULL, e))
        return false;
    bool ok = check_layout(t, &machine, e) && isa_probe(&machine, t->triple, &t->isa, e);
    for (size_t i = 0; ok && !spelled && i < sizeof implied / sizeof *implied; i++)
        if (t->isa.rounding && implied[i].vector_bits <= t->isa.vector_bits)
            /* Of two entries for one feature the later one counts: what somebody switched off stays off. */
            ok = join_features(t, implied[i].features, t->features, a, e);
    machine_destroy(&machine);
    return ok;
}

struct naming {
    struct target *t;
    const char *triple, *cpu, *features;
    struct arena *a;
    struct error *e;
};

static bool set_names(void *user)
{
    const struct naming *n = user;

    machine_initialize_all();
    return set_triple(n->t, n->triple, n->a, n->e) && set_processor(n->t, n->cpu, n->a, n->e) &&
           check_features(n->t, n->features, n->e) &&
           (!n->features || join_features(n->t, n->t->features, n->features, n->a, n->e));
}

bool object_target(struct target *t, const char *triple, const char *cpu, const char *features, struct arena *a,
                   struct error *e)
{
    struct naming naming = {t, triple, cpu, features, a, e};
    bool abandoned = false;

    return machine_protect(LLVM_TARGETS, &abandoned, set_names, &naming, e) && probe(t, a, e);
}

bool object_target_is_native(const struct target *t)
{
    char *triple = LLVMGetDefaultTargetTriple();
    bool native = triple && same_arch(triple, t->triple) && strstr(t->triple, "linux");

    LLVMDisposeMessage(triple);
    return native;
}

bool object_target_is_bare(const struct target *t)
{
    return !strstr(t->triple, "linux") &&
           (strstr(t->triple, "-none") || strstr(t->triple, "-elf") || strstr(t->triple, "-eabi"));
}
