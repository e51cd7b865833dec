/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an object is for: triple, processor and features, from what a person says, held against what LLVM knows.
 *
 * LLVM takes names of processors and features that it does not know, says so on the error stream, and goes on with something
 * else.  Here that is an error; the only way to notice it through LLVM's C API is to read that stream.
 */
#include "codegen/object.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "codegen/llvm.h"

/* What code is made for unless one says more: runs on everything of that name that people have. */
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
 * What the levels of x86-64 stand for.  A processor's name implies features; objects that check the processor before they run
 * (and descriptions) want them by name, and LLVM's C API does not list them.  Whatever has the vectors of a level has all of
 * it.
 */
static const struct implied {
    uint32_t vector_bits;
    bool rounding;
    const char *features;
} implied[] = {
    {128, true, "+cx16,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2"},
    {256, true, "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"},
    {512, true, "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"},
};

/* ---- what LLVM complains about ---- */

struct capture {
    int saved, reader;
};

static bool capture_begin(struct capture *c)
{
    int ends[2];

    fflush(stderr);
    c->saved = dup(STDERR_FILENO);
    if (c->saved < 0 || pipe(ends)) {
        if (c->saved >= 0)
            close(c->saved);
        return false;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETFL, O_NONBLOCK); /* what does not fit is lost, not waited for */
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    c->reader = ends[0];
    return true;
}

/* The first line that was written, without its end. */
static void capture_end(struct capture *c, char *line, size_t size)
{
    fflush(stderr);
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    ssize_t n = read(c->reader, line, size - 1);
    close(c->reader);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/* ---- ---- */

static bool set_triple(struct target *t, const char *triple, struct arena *a, struct error *e)
{
    char *text = triple ? LLVMNormalizeTargetTriple(triple) : LLVMGetDefaultTargetTriple();

    t->triple = arena_string(a, text, strlen(text));
    LLVMDisposeMessage(text);
    return t->triple || error_out_of_memory(e);
}

static bool set_native(struct target *t, struct arena *a, struct error *e)
{
    char *triple = LLVMGetDefaultTargetTriple(), *cpu, *features;
    bool here = same_arch(triple, t->triple);

    LLVMDisposeMessage(triple);
    if (!here)
        return error_set(e, WNNStatus_TypeError, "the processor \"native\" is this machine's, which %.60s is not", t->triple);
    cpu = LLVMGetHostCPUName();
    features = LLVMGetHostCPUFeatures();
    t->cpu = arena_string(a, cpu, strlen(cpu));
    t->features = arena_string(a, features, strlen(features));
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return (t->cpu && t->features) || error_out_of_memory(e);
}

static bool set_processor(struct target *t, const char *cpu, struct arena *a, struct error *e)
{
    if (cpu && !strcmp(cpu, "native"))
        return set_native(t, a, e);
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

static bool add_features(struct target *t, const char *features, struct arena *a, struct error *e)
{
    return !features || join_features(t, t->features, features, a, e);
}

/* Of two entries for one feature the later one counts: what somebody switched off stays off. */
static bool prepend_features(struct target *t, const char *features, struct arena *a, struct error *e)
{
    return join_features(t, features, t->features, a, e);
}

/* Feature lists are "+name" or "-name", separated by commas; LLVM takes a bare name as well. */
static bool check_features(const char *features, struct error *e)
{
    for (const char *p = features; p && *p; p += strcspn(p, ","), p += *p == ',')
        if ((*p != '+' && *p != '-') || strcspn(p + 1, ",") == 0)
            return error_set(e, WNNStatus_TypeError, "features \"%.100s\": not a list like +name,-name", features);
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

/* Facts of the processor, which LLVM may have something to say about.  Nothing is compiled before the layout is known to fit.
 */
static bool probe(struct target *t, struct arena *a, struct error *e)
{
    struct machine machine;
    bool spelled = !strcmp(t->cpu, "x86-64") || strncmp(t->triple, "x86_64-", 7) != 0;

    if (!machine_create(&machine, t, NULL, e))
        return false;
    bool ok = check_layout(t, &machine, e);
    machine_destroy(&machine);
    if (!ok || !machine_create_ahead(&machine, t, NULL, e))
        return false;
    t->vector_bits = machine.isa.vector_bits;
    for (size_t i = 0; ok && !spelled && i < sizeof implied / sizeof *implied; i++)
        if (machine.isa.rounding && implied[i].vector_bits <= t->vector_bits)
            ok = prepend_features(t, implied[i].features, a, e);
    machine_destroy(&machine);
    return ok;
}

bool object_target(struct target *t, const char *triple, const char *cpu, const char *features, struct arena *a,
                   struct error *e)
{
    struct capture capture;
    char line[256] = "";

    machine_initialize_all();
    if (!check_features(features, e) || !set_triple(t, triple, a, e) || !set_processor(t, cpu, a, e) ||
        !add_features(t, features, a, e))
        return false;
    bool captured = capture_begin(&capture);
    bool ok = probe(t, a, e);
    if (captured)
        capture_end(&capture, line, sizeof line);
    if (!strstr(line, "is not a recognized"))
        return ok;
    /* What is wrong with the names is the reason for whatever else went wrong. */
    char *detail = strstr(line, " (ignoring");
    if (detail)
        *detail = '\0';
    *e = (struct error){0};
    return error_set(e, WNNStatus_TypeError, "%s: %s", t->triple, line);
}

bool object_target_is_native(const struct target *t)
{
    char *triple = LLVMGetDefaultTargetTriple();
    bool native = same_arch(triple, t->triple) && strstr(t->triple, "linux");

    LLVMDisposeMessage(triple);
    return native;
}
