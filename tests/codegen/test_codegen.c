/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The compiler around the emitter: targets, sharing of structures, lifetime of code, threads, dumps, debugging aids, errors.
 */
#include "codegen/kernels.h"
#include "ir/target/processor.h"
#include "support/close.h"
#include "support/kernel_text.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

/** What a test's compiler is made of. */
static struct target t;
static struct debug_options d;
static struct error e;

static struct codegen *create(const char *debug_text)
{
    t = (struct target){0};
    d = (struct debug_options){0};
    e = (struct error){0};
    if (debug_text && !debug_parse(&d, debug_text, strlen(debug_text), &e))
        fail_msg("%s", e.message);
    assert_works(processor_target(&t, NULL, &e), &e);
    t.thread_count = 2;
    struct codegen *c = codegen_create(&t, &d, &e);
    assert_works(c, &e);
    return c;
}

static void end(struct codegen *c)
{
    codegen_free(c);
    debug_free(&d);
}
DROPS(codegen, struct codegen *, end)

/* y = x * factor + x, through op. */
static struct kernel *make(int n, float factor, enum kop op)
{
    return kernel_of("kernel scaled_$op { parallel i < $n tensor x: f32[], y: f32[] written"
                     "  store y[i] = $op(add(mul(x[i], $factor), x[i])) }",
                     "n=%d factor=%g op=%s", n, (double)factor, kop_name(op));
}

/* A mask could leave all lanes of the other side's loads out, which takes long where that memory has never been written. */
TEST(a_side_that_one_number_chooses_is_read_alone)
{
    struct kernel *k = kernel_of("parallel i < 64 tensor c: u8[], a: f32[], b: f32[], y: f32[] written"
                                 "  store y[i] = select(ne(c[0], u8(0)), a[i], b[i])",
                                 "%s", "");

    assert_false(lowered_has(k, &isa_of_tests, LOOP_SELECT));
}

static void run(kernel_function f, const struct kernel *k, float *x, float *y)
{
    void *tensors[2] = {x, y};
    OWNED(schedule) struct schedule *s = schedule_of(k, NULL);
    f(&(struct kernel_args){tensors, s->numbers.params, NULL}, 0, s->units);
}

/* codegen_compile of kernels with the schedules of t. */
static bool compile(struct codegen *c, const struct target *t, uint32_t count, struct kernel *const *kernels,
                    struct codegen_kernels **unit, kernel_function *functions, struct error *e)
{
    struct schedule **schedules = calloc(count + 1, sizeof *schedules);

    assert_non_null(schedules);
    for (uint32_t i = 0; i < count; i++)
        schedules[i] = schedule_of(kernels[i], &t->isa);
    bool ok = codegen_compile(c, count, schedules, NULL, NULL, unit, functions, e);
    for (uint32_t i = 0; i < count; i++)
        schedule_free(schedules[i]);
    free(schedules);
    return ok;
}

TEST(host_targets_are_described)
{
    struct error e = {0};
    struct target t = {0};
    uint32_t last = 0;
    static const char *const isas[] = {"baseline", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        assert_true(processor_target(&t, isas[i], &e));
        assert_non_null(t.triple);
        assert_true(t.isa.vector_bits >= 128 && t.isa.vector_bits <= 512 && t.isa.vector_bits >= last);
        last = t.isa.vector_bits;
        assert_true(!t.full_rate || t.isa.vector_bits == 512);
    }
    assert_true(processor_target(&t, NULL, &e));
    assert_int_equal(t.isa.vector_bits, last);
    assert_false(processor_target(&t, "mmx", &e));
    assert_int_equal(e.status, WNNStatus_TypeError);
    assert_non_null(strstr(e.message, "mmx"));
}

/* Features found without LLVM are those that LLVM finds. */
TEST(features_are_those_that_llvm_finds)
{
    SCOPED(arena_free) struct arena a = {0};
    struct error e = {0};
    struct target t = {0};
    char name[64], llvm[4096];

    assert_true(processor_target(&t, NULL, &e) && codegen_name_processor(&t, &a, &e));
    snprintf(llvm, sizeof llvm, "%s,", t.features);
    for (const char *p = processor_features(); *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");

        snprintf(name, sizeof name, "%.*s,", (int)length, p);
        if (!strstr(llvm, name))
            fail_msg("LLVM does not find %s", name);
        p += length;
    }
    for (const char *p = t.features; *p; p += *p == ',') {
        const size_t length = strcspn(p, ",");

        /* An error says that a name is known, and that the processor lacks it. */
        snprintf(name, sizeof name, "+%.*s", (int)length - 1, p + 1);
        if (*p == '+' && !processor_has_features(name, &e))
            fail_msg("LLVM finds %s", name);
        e = (struct error){0};
        p += length;
    }
}

/* Sizes are parameters: kernels that differ in nothing else share code, within a call and across calls, while one of them
 * lives, and for some time after. */
TEST(structures_are_shared)
{
    OWNED(codegen) struct codegen *c = create(NULL);
    struct codegen_times times;
    struct kernel *k[4] = {make(100, 2, K_ABS), make(33, 2, K_ABS), make(100, 3, K_ABS), make(100, 2, K_NEG)};
    struct codegen_kernels *first, *second;
    kernel_function f[4], g[2];
    float x[100], y[100];

    assert_true(compile(c, &t, 4, k, &first, f, &e));
    codegen_get_times(c, &times);
    assert_int_equal(times.structures, 3); /* the constant is part of the code, the size is not */
    assert_int_equal(times.kernels, 4);
    assert_true(times.codegen_ms > 0 && times.emit_ms > 0 && times.passes_ms > 0);
    assert_ptr_equal(f[0], f[1]);
    assert_ptr_not_equal(f[0], f[2]);

    struct kernel *again[2] = {make(7, 2, K_NEG), make(9, 2, K_ABS)};
    assert_true(compile(c, &t, 2, again, &second, g, &e));
    codegen_get_times(c, &times);
    assert_int_equal(times.structures, 3);
    assert_ptr_equal(g[0], f[3]);
    codegen_kernels_free(first); /* the code lives on in the second unit */
    for (int i = 0; i < 100; i++)
        x[i] = (float)(i - 5), y[i] = -77;
    run(g[1], again[1], x, y);
    for (int i = 0; i < 100; i++)
        assert_close(y[i], i < 9 ? fabsf(x[i] * 3) : -77, 0);
    codegen_kernels_free(second);

    /* What no unit uses any more stays until many others have been used after it. */
    for (int i = 0; i < 64; i++) {
        struct kernel *other = make(9, 10 + (float)i, K_ABS);
        assert_true(compile(c, &t, 1, &other, &first, g, &e));
        codegen_kernels_free(first);
        kernel_free(other);
        assert_true(compile(c, &t, 1, k, &first, g, &e));
        assert_ptr_equal(g[0], f[0]);
        codegen_kernels_free(first);
    }
    assert_true(compile(c, &t, 1, &k[2], &first, g, &e));
    codegen_get_times(c, &times);
    assert_int_equal(times.structures, 3 + 64 + 1);
    codegen_kernels_free(first);

    assert_true(compile(c, &t, 0, NULL, &first, NULL, &e));
    codegen_kernels_free(first);
    codegen_kernels_free(NULL);
    for (int i = 0; i < 4; i++)
        kernel_free(k[i]);
    for (int i = 0; i < 2; i++)
        kernel_free(again[i]);
    codegen_free(NULL);
}

/* y[column][row] = x[row][column], y's lines `gap` elements apart */
static struct kernel *make_transpose(int rows, int columns, int gap)
{
    return kernel_of("kernel transpose { parallel i < $m, j < $n tensor x: f32[], y: f32[($m + $gap)*$n] written"
                     "  store y[($m + $gap)*j + i] = x[$n*i + j] }",
                     "m=%d n=%d gap=%d", rows, columns, gap);
}

/* What code there is for tiles depends on sizes: few rows are interleaved, each number of them by shuffles of its own, unless
 * gaps lie between lines; more rows have code that is good for any number. */
TEST(tiles_are_part_of_the_key)
{
    static const int sizes[][3] = {/* rows, columns, gap */
                                   {5, 50, 0}, {3, 50, 0}, {7, 40, 0}, {4, 50, 0}, {3, 40, 0}, {3, 50, 1}, {4, 50, 1}};
    enum { COUNT = sizeof sizes / sizeof *sizes, ELEMENTS = 400 };
    OWNED(codegen) struct codegen *c = create(NULL);
    struct kernel *k[COUNT];
    OWNED(codegen_kernels) struct codegen_kernels *unit = NULL;
    kernel_function f[COUNT];
    float x[ELEMENTS], y[ELEMENTS];

    for (int i = 0; i < COUNT; i++)
        k[i] = make_transpose(sizes[i][0], sizes[i][1], sizes[i][2]);
    assert_true(compile(c, &t, COUNT, k, &unit, f, &e));
    assert_ptr_equal(f[0], f[2]);
    assert_ptr_equal(f[1], f[4]);
    assert_ptr_equal(f[5], f[6]);
    assert_ptr_not_equal(f[0], f[1]);
    assert_ptr_not_equal(f[1], f[3]);
    assert_ptr_not_equal(f[0], f[5]);
    assert_ptr_not_equal(f[1], f[5]);
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = (float)i;
    for (int i = 0; i < COUNT; i++) {
        const int64_t rows = sizes[i][0], columns = sizes[i][1], line = rows + sizes[i][2];
        run(f[i], k[i], x, y);
        for (int64_t j = 0; j < rows * columns; j++)
            assert_close(y[j / rows * line + j % rows], (float)(j % rows * columns + j / rows), 0);
        kernel_free(k[i]);
    }
}

/* Many structures at once: compiled by several threads, each with its own code. */
TEST(many_structures_are_compiled_at_once)
{
    enum { N = 24 };
    OWNED(codegen) struct codegen *c = create(NULL);
    struct kernel *k[N];
    kernel_function f[N];
    OWNED(codegen_kernels) struct codegen_kernels *unit = NULL;
    float x[50], y[50];
    for (int i = 0; i < N; i++)
        k[i] = make(50, (float)(i + 1), K_NEG);
    assert_true(compile(c, &t, N, k, &unit, f, &e));
    for (int i = 0; i < 50; i++)
        x[i] = (float)i;
    for (int i = 0; i < N; i++) {
        run(f[i], k[i], x, y);
        for (int j = 0; j < 50; j++)
            assert_close(y[j], -(x[j] * (float)(i + 1) + x[j]), 0);
        kernel_free(k[i]);
    }
}

struct client {
    struct codegen *codegen;
    const struct target *target;
    int seed;
    bool ok;
};

static void *client_main(void *user)
{
    struct client *client = user;
    client->ok = true;
    for (int i = 0; i < 6; i++) {
        OWNED(kernel) struct kernel *k = make(20, (float)((client->seed + i) % 5), K_ABS);
        struct codegen_kernels *unit;
        kernel_function f;
        float x[20], y[20];
        for (int j = 0; j < 20; j++)
            x[j] = (float)j;
        client->ok = client->ok && compile(client->codegen, client->target, 1, &k, &unit, &f, &e);
        if (client->ok) {
            run(f, k, x, y);
            for (int j = 0; j < 20; j++)
                client->ok = client->ok && y[j] == (float)(j * ((client->seed + i) % 5) + j);
            codegen_kernels_free(unit);
        }
    }
    return NULL;
}

/* One codegen used by several threads, which compile, run and free the same structures. */
TEST(threads_share_a_codegen)
{
    OWNED(codegen) struct codegen *c = create(NULL);
    struct client clients[3];
    for (int i = 0; i < 3; i++)
        clients[i] = (struct client){c, &t, i, false};
    run_on_threads(3, client_main, clients, sizeof *clients);
    for (int i = 0; i < 3; i++)
        assert_true(clients[i].ok);
}

/* dump=DIR: kernel IR, loop IR, LLVM IR before and after the passes, and assembly, as files. */
TEST(dumps_are_written)
{
    char dir[] = "/tmp/webnn-dump-XXXXXX", text[128];
    assert_non_null(mkdtemp(dir));
    snprintf(text, sizeof text, "dump-kernels,dump-llvm,dump-asm,dump=%s", dir);
    struct codegen *c = create(text);
    OWNED(kernel) struct kernel *k = make(64, 2, K_ABS);
    struct codegen_kernels *unit;
    kernel_function f;
    assert_true(compile(c, &t, 1, &k, &unit, &f, &e));
    const char *aligned = t.isa.vector_bits > 128 ? "andq\t$-" : "k0:"; /* vectors on the stack cross no lines */
    const char *const suffixes[] = {".kernel", ".loop", ".ll", ".opt.ll", ".s"};
    const char *const words[] = {"abs", "= abs ", "define void @k0", "llvm.fabs", aligned};
    int found = 0;
    DIR *listing = opendir(dir);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        char path[600], content[200000];
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        for (int i = 0; i < 5; i++) {
            char name[64];
            snprintf(name, sizeof name, "k0_scaled_abs%s", suffixes[i]);
            if (strcmp(name, entry->d_name) != 0)
                continue;
            FILE *file = fopen(path, "r");
            content[fread(content, 1, sizeof content - 1, file)] = '\0';
            fclose(file);
            assert_non_null(strstr(content, words[i]));
            found |= 1 << i;
        }
        unlink(path);
    }
    closedir(listing);
    assert_int_equal(found, 31);
    rmdir(dir);
    codegen_kernels_free(unit);
    end(c);
}

/* perf: a line with the function's address and a size in /tmp/perf-<pid>.map; gdb: the listener is there and does no harm. */
TEST(profilers_and_debuggers_are_told)
{
    OWNED(codegen) struct codegen *c = create("perf,gdb");
    OWNED(kernel) struct kernel *k = make(64, 2, K_ABS);
    OWNED(codegen_kernels) struct codegen_kernels *unit = NULL;
    kernel_function f;
    char path[64], line[256];
    unsigned long long start = 0, size = 0;
    char name[128] = "";
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    assert_true(compile(c, &t, 1, &k, &unit, &f, &e));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    unlink(path);
    assert_int_equal(sscanf(line, "%llx %llx %127s", &start, &size, name), 3);
    assert_true(start == (uintptr_t)f && size > 16 && size < 10000);
    assert_non_null(strstr(name, "scaled_abs"));
}

#ifdef WEBNN_SANITIZE
enum { HAVE_ASAN = 1 };
#else
enum { HAVE_ASAN = 0 };
#endif

/* sanitize: the address sanitizer finds a kernel that leaves its buffer, and finds nothing otherwise.  In a child, which it
 * ends. */
TEST(the_sanitizer_finds_what_leaves_a_buffer)
{
    if (!HAVE_ASAN)
        skip();
    for (int wrong = 0; wrong < 3; wrong++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            struct codegen_kernels *unit;
            kernel_function f;
            if (!freopen("/dev/null", "w", stderr))
                _exit(5);
            struct codegen *c = create("sanitize");
            struct kernel *k = make(100, 2, K_ABS);
            if (!compile(c, &t, 1, &k, &unit, &f, &e))
                _exit(3);
            float *x = malloc(wrong == 1 ? 99 * 4 : 100 * 4), *y = malloc(wrong == 2 ? 99 * 4 : 100 * 4);
            for (int i = 0; i < 99; i++)
                x[i] = (float)i;
            run(f, k, x, y);
            _exit(y[98] == 98 * 3 ? 0 : 4);
        }
        int status = 0;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status));
        if (wrong)
            assert_true(WEXITSTATUS(status) != 0 && WEXITSTATUS(status) < 3);
        else
            assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* A target that LLVM does not know, or a feature string that it must not choke on. */
TEST(unknown_targets_are_refused)
{
    struct debug_options d = {0};
    struct target t = {.triple = "nonsense-unknown-none", .cpu = "", .features = "", .isa.vector_bits = 128};
    assert_null(codegen_create(&t, &d, &e));
    assert_int_equal(e.status, WNNStatus_NotSupportedError);
    assert_non_null(strstr(e.message, "nonsense"));
}
