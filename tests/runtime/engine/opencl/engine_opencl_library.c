/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * oneDNN's GPU engine inside of the OpenCL engine, on a processor that the layer support/intel_layer.c shows as a GPU of
 * Intel's.
 *
 * In: graphs.  Out: their results, held against the interpreter's bounds, and which of their steps oneDNN computed.  What is
 * tested is the way there: choice, description, epilogues, weights, memory objects, the order in the queue, files, times.  The
 * layer leaves oneDNN its reference implementations only: nothing is said about its kernels for GPUs.
 *
 *   test-runtime-opencl-library                 the tests; exit code 77: there is no such device
 *   test-runtime-opencl-library run COMMAND...  runs a program on it, likewise
 */
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <unistd.h>

#include "random/random.h"
#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "support/close.h"
#include "support/graphs.h"
#include "support/help.h"
#include "support/intel_layer_faults.h"

#define VARIANT "engine=gpu,reference-library"

/* ---- graphs ---- */

static uint64_t random_state = 88172645463325252u;

/* A multiple of 1/64 between -1 and 1. */
static float random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (float)((int)(random_state >> 40) % 129 - 64) / 64;
}

/* The elements of the type that ends at `end`: "f32[2, 3] " has 6. */
static int64_t elements_before(const char *begin, const char *end)
{
    int64_t count = 1;

    while (end > begin && *end != '[')
        end--;
    for (char *next = (char *)end + 1; *end != ']'; end = next++)
        count *= strtoll(end + 1, &next, 10);
    return count;
}

/* A graph from its blocks, where @random stands for that many random numbers, with random inputs and what is to come out. */
static void sample_parse(struct sample *s, const char *body)
{
    OWNED(memory) char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    for (const char *at; (at = strstr(body, "@random")); body = at + strlen("@random")) {
        fprintf(out, "%.*s@values([", (int)(at - body), body);
        for (int64_t i = elements_before(body, at), n = i; i > 0; i--)
            fprintf(out, "%s%g", i < n ? ", " : "", (double)random_number());
        fprintf(out, "])");
    }
    fprintf(out, "%s", body);
    fclose(out);
    *s = (struct sample){.g = parse_body(text)};
    for (uint32_t i = 0; i < s->g->input_count; i++) {
        const struct value *v = s->g->inputs[i];
        float *data = random_alloc((size_t)type_elements(&v->type), sizeof *data);

        assert_int_equal(v->type.type, WNNOperandDataType_Float32);
        for (int64_t k = 0; k < type_elements(&v->type); k++)
            data[k] = random_number();
        sample_set_data(s, v, data, NULL);
    }
    assert_true(sample_evaluate(s));
}

/* ---- steps ---- */

struct counted {
    uint32_t library, others, timed, integers;
    char implementation[64]; /* of the last step of the library's */
};

static struct counted count_steps(WNNGraph graph)
{
    struct executable *x = graph->executable;
    const struct engine_tools *tools = graph->context->engine->functions->optional.tools;
    struct executable_facts facts;
    struct counted c = {0};

    tools->facts(x, &facts);
    for (uint32_t i = 0; i < facts.step_count; i++) {
        struct step_facts step;

        tools->step_facts(x, i, &step);
        c.library += step.library != NULL;
        c.others += step.library == NULL;
        c.timed += step.library && step.nanoseconds > 0;
        c.integers += step.library && step.arithmetic == ARITHMETIC_INT8;
        if (step.library)
            snprintf(c.implementation, sizeof c.implementation, "%s", step.implementation);
    }
    return c;
}

static WNNGraph build(WNNContext context, const char *body)
{
    SCOPED(sample_free) struct sample s = {0};
    WNNGraph graph;

    sample_parse(&s, body);
    struct graph *g = s.g;
    s.g = graph_create(); /* build takes the other one */
    assert_done(!runtime_build(context, g, &graph, &e));
    return graph;
}

/* ---- results ---- */

struct row {
    const char *name;
    uint32_t library; /* steps of oneDNN */
    bool integers;    /* which multiply bytes */
    const char *body;
};

#define NHWC_OHWI "inputLayout=\"nhwc\", filterLayout=\"ohwi\""

/* clang-format off */
static const struct row rows[] = {
    {"convolution in nchw, bias, activation, residual", 1, false,
     "inputs { x: f32[1, 3, 6, 7]; r: f32[1, 5, 6, 7]; }"
     "consts { w: f32[5, 3, 3, 3] @random; b: f32[5] @random; }"
     "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]);"
     " a = add(c, r); y = relu(a); }"
     "outputs { y; }"},
    {"convolution in nhwc, strides, dilations", 1, false,
     "inputs { x: f32[2, 9, 8, 4]; }"
     "consts { w: f32[6, 3, 2, 4] @random; b: f32[6] @random; }"
     "nodes { c = conv2d(x, w, bias=b, strides=[2, 1], dilations=[1, 2], padding=[1, 1, 0, 0], " NHWC_OHWI "); y = tanh(c); }"
     "outputs { y; }"},
    {"depthwise convolution in nhwc", 1, false,
     "inputs { x: f32[1, 6, 6, 8]; }"
     "consts { w: f32[1, 3, 3, 8] @random; b: f32[8] @random; }"
     "nodes { c = conv2d(x, w, bias=b, groups=8, padding=[1, 1, 1, 1], inputLayout=\"nhwc\", filterLayout=\"ihwo\");"
     " y = clamp(c, minValue=0, maxValue=6); }"
     "outputs { y; }"},
    {"grouped convolution", 1, false,
     "inputs { x: f32[1, 6, 5, 5]; }"
     "consts { w: f32[4, 3, 3, 3] @random; }"
     "nodes { y = conv2d(x, w, groups=2); }"
     "outputs { y; }"},
    {"transposed convolution", 1, false,
     "inputs { x: f32[1, 3, 4, 4]; }"
     "consts { w: f32[3, 5, 3, 3] @random; b: f32[5] @random; }"
     "nodes { y = convTranspose2d(x, w, bias=b, strides=[2, 2], padding=[1, 1, 1, 1], outputPadding=[1, 1]); }"
     "outputs { y; }"},
    {"convolution of weights that are computed", 1, false,
     "inputs { x: f32[1, 3, 5, 5]; w: f32[4, 3, 3, 3]; }"
     "nodes { v = neg(w); y = conv2d(x, v); }"
     "outputs { y; }"},
    {"matmul, bias, activation", 1, false,
     "inputs { x: f32[7, 19]; }"
     "consts { w: f32[19, 11] @random; b: f32[11] @random; }"
     "nodes { m = matmul(x, w); a = add(m, b); y = tanh(a); }"
     "outputs { y; }"},
    {"matmul of batches", 1, false,
     "inputs { a: f32[3, 5, 8]; b: f32[3, 8, 6]; }"
     "nodes { y = matmul(a, b); }"
     "outputs { y; }"},
    {"gemm, transposed, scaled", 1, false,
     "inputs { x: f32[5, 12]; }"
     "consts { w: f32[9, 12] @random; c: f32[9] @random; }"
     "nodes { y = gemm(x, w, c=c, alpha=0.5, beta=2, bTranspose=true); }"
     "outputs { y; }"},
    {"gemm whose c is one number per row, which a kernel adds", 1, false,
     "inputs { x: f32[5, 12]; c: f32[5, 1]; }"
     "consts { w: f32[12, 9] @random; }"
     "nodes { y = gemm(x, w, c=c); }"
     "outputs { y; }"},
    {"convolution with a stride that is not described to oneDNN", 0, false,
     "inputs { x: f32[1, 2, 4, 4]; }"
     "consts { w: f32[3, 2, 3, 3] @random; }"
     "nodes { y = conv2d(x, w, strides=[5000, 1]); }"
     "outputs { y; }"},
    {"matmul of float16, whose operands become float32", 1, false,
     "inputs { x: f32[4, 6]; }"
     "consts { w: f16[6, 5] @scalar(0.25); }"
     "nodes { h = cast(x, float16); m = matmul(h, w); y = cast(m, float32); }"
     "outputs { y; }"},
    {"between other steps", 2, false,
     "inputs { x: f32[1, 3, 6, 6]; }"
     "consts { w: f32[4, 3, 3, 3] @random; v: f32[64, 10] @random; }"
     "nodes { c = conv2d(x, w); p = reshape(c, [1, 64]);"
     " s = softmax(p, 1); m = matmul(s, v); y = softmax(m, 1); }"
     "outputs { y; }"},
    {"at addresses where no memory object can begin", 2, false,
     "inputs { x: f32[1, 4, 4, 3]; }"
     "consts { w: f32[5, 1, 1, 3] @random; v: f32[7, 1, 1, 3] @random; }"
     "nodes { k = slice(x, [0, 1, 0, 0], [1, 3, 4, 3]);"
     " c = conv2d(k, w, " NHWC_OHWI "); d = conv2d(k, v, " NHWC_OHWI ");"
     " f = reshape(c, [60]); g = reshape(d, [84]); y = concat([f, g], 0); }"
     "outputs { y; }"},
    {"8-bit convolution", 1, true,
     "inputs { x: f32[1, 4, 5, 5]; }"
     "consts { s: f32[1, 1, 1, 1] @scalar(0.03125); z: u8[1, 1, 1, 1] @scalar(128); q: i8[3, 4, 3, 3] @scalar(37);"
     " t: f32[1, 1, 1, 1] @scalar(0.015625); o: i8[1, 1, 1, 1] @scalar(0); }"
     "nodes { a = quantizeLinear(x, s, z); d = dequantizeLinear(a, s, z);"
     " w = dequantizeLinear(q, t, o); y = conv2d(d, w); }"
     "outputs { y; }"},
};
/* clang-format on */

TEST(results_lie_within_the_bounds)
{
    SCOPED(variant_release) struct variant v = {0};

    variant_init(&v, VARIANT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct check_counts counts = {0};
        char report[CHECK_REPORT] = "";
        struct sample s;

        sample_parse(&s, rows[i].body);
        if (!check_variant(&s, &v, &counts, report))
            fail_msg("%s: %s", rows[i].name, report);
        assert_true(counts.compared > 0);
        sample_free(&s);

        OWNED(compiled) WNNGraph graph = build(v.context, rows[i].body);
        const struct counted c = count_steps(graph);
        printf("%s: %u steps by oneDNN (%s), %u others\n", rows[i].name, c.library, c.implementation, c.others);
        if (c.library != rows[i].library)
            fail_msg("%s: oneDNN computed %u steps, not %u", rows[i].name, c.library, rows[i].library);
        assert_int_equal(c.integers, rows[i].integers);
    }
}

/* ---- who decides ---- */

static uint32_t steps_with(const char *variant)
{
    struct variant v;

    variant_init(&v, variant);
    WNNGraph graph = build(v.context, rows[6].body);
    const struct counted c = count_steps(graph);
    wnnGraphRelease(graph);
    variant_release(&v);
    return c.library;
}

TEST(reference_implementations_are_refused_unless_asked_for)
{
    assert_int_equal(steps_with("engine=gpu"), 0);
    assert_int_equal(steps_with(VARIANT ",no-library"), 0);
    assert_int_equal(steps_with(VARIANT), 1);
}

/* A size that no other graph has: oneDNN keeps what was built. */
static const char refused[] = "inputs { x: f32[3, 23]; } consts { w: f32[23, 17] @random; b: f32[17] @random; }"
                              "nodes { m = matmul(x, w); a = add(m, b); y = tanh(a); } outputs { y; }";

TEST(what_the_driver_refuses_becomes_kernels)
{
    struct check_counts counts = {0};
    char report[CHECK_REPORT] = "";
    SCOPED(variant_release) struct variant v = {0};
    struct sample s;

    variant_init(&v, VARIANT);
    setenv("INTEL_LAYER_REFUSES", "1", 1);
    sample_parse(&s, refused);
    if (!check_variant(&s, &v, &counts, report))
        fail_msg("%s", report);
    sample_free(&s);
    WNNGraph graph = build(v.context, refused);
    assert_int_equal(count_steps(graph).library, 0);
    wnnGraphRelease(graph);
    unsetenv("INTEL_LAYER_REFUSES");
}

/* ---- files, times ---- */

static void compute(WNNGraph graph, float seed, float *out, size_t count)
{
    float x[7 * 19];
    WNNNamedBuffer in = {WNN_STR("x"), x, sizeof x}, to = {WNN_STR("y"), out, count * sizeof *out};

    for (size_t i = 0; i < 7 * 19; i++)
        x[i] = seed / (float)(i + 1);
    assert_success(wnnGraphCompute(graph, 1, &in, 1, &to));
}

TEST(saved_graphs_have_their_steps)
{
    char path[] = "/tmp/webnn-gpu-library-XXXXXX";
    float first[77], second[77];
    struct variant v;
    WNNGraph loaded = NULL;

    make_file(path);
    variant_init(&v, VARIANT);
    WNNGraph graph = build(v.context, rows[6].body);
    compute(graph, 3, first, 77);
    if (wnnGraphSave(graph, path) != WNNStatus_Success || wnnContextLoadGraph(v.context, path, &loaded) != WNNStatus_Success)
        fail_msg("%s", wnnGetLastErrorMessage().data);
    wnnGraphRelease(graph);
    assert_int_equal(count_steps(loaded).library, 1);
    compute(loaded, 3, second, 77);
    assert_memory_equal(first, second, sizeof first);
    /* What was loaded can be saved. */
    assert_success(wnnGraphSave(loaded, path));
    wnnGraphRelease(loaded);
    variant_release(&v);

    variant_init(&v, "engine=gpu,no-library");
    assert_int_equal(wnnContextLoadGraph(v.context, path, &loaded), WNNStatus_NotSupportedError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "oneDNN"));
    variant_release(&v);
    unlink(path);
}

TEST(steps_have_times)
{
    SCOPED(variant_release) struct variant v = {0};
    float out[77];

    variant_init(&v, VARIANT);
    OWNED(compiled) WNNGraph graph = build(v.context, rows[6].body);
    graph->context->engine->functions->optional.tools->measure(graph->executable);
    compute(graph, 2, out, 77);
    compute(graph, 2, out, 77);
    assert_int_equal(count_steps(graph).timed, 1);
}

/* ---- memory objects, failures ---- */

static const struct intel_layer *the_layer(void)
{
    void *library = dlopen(getenv("OPENCL_LAYERS"), RTLD_NOW | RTLD_NOLOAD);
    intel_layer_function *get = NULL;

    assert_non_null(library);
    *(void **)&get = dlsym(library, "intel_layer_get");
    dlclose(library); /* the loader has it open, too */
    assert_non_null(get);
    return get();
}

/* Steps of oneDNN that read and write the arena, with kernels between them. */
static const char between[] = "inputs { x: f32[7, 19]; }"
                              "consts { w: f32[19, 16] @random; v: f32[16, 16] @random; u: f32[16, 11] @random; }"
                              "nodes { a = matmul(x, w); b = softmax(a, 1); c = matmul(b, v); d = softmax(c, 1);"
                              " y = matmul(d, u); }"
                              "outputs { y; }";

TEST(runs_make_no_sub_buffers_of_the_arena_again)
{
    const struct intel_layer *layer = the_layer();
    SCOPED(variant_release) struct variant v = {0};
    float out[77];

    variant_init(&v, VARIANT);
    OWNED(compiled) WNNGraph graph = build(v.context, between);
    assert_int_equal(count_steps(graph).library, 3);
    const long first = layer->sub_buffers();
    compute(graph, 3, out, 77);
    const long second = layer->sub_buffers();
    assert_true(second > first);
    compute(graph, 3, out, 77);
    assert_int_equal(layer->sub_buffers(), second);
}

/* Builds and computes while the n-th call fails, once that is over again.  Returns false if there were not so many calls. */
static bool fail_call(WNNContext context, long n, const float *right)
{
    const struct intel_layer *layer = the_layer();
    float out[77], x[7 * 19];
    WNNNamedBuffer in = {WNN_STR("x"), x, sizeof x}, to = {WNN_STR("y"), out, sizeof out};
    struct sample s;
    WNNGraph graph = NULL;

    for (size_t i = 0; i < 7 * 19; i++)
        x[i] = 3 / (float)(i + 1);
    random_state = 1;
    sample_parse(&s, between);
    struct graph *g = s.g;
    s.g = graph_create();
    layer->fail_after(n);
    WNNStatus status = runtime_build(context, g, &graph, &(struct error){0});
    if (status == WNNStatus_Success)
        status = wnnGraphCompute(graph, 1, &in, 1, &to);
    const char *failed = layer->failed_call();
    layer->fail_after(-1);
    if (status == WNNStatus_Success)
        for (size_t i = 0; i < 77; i++)
            assert_close(out[i], right[i], 1e-4);
    else if (status != WNNStatus_OperationError)
        fail_msg("call %ld (%s): %s", n, failed, wnnStatusGetName(status));
    if (graph)
        assert_int_equal(count_steps(graph).library, 3);
    /* What has failed once works then. */
    if (graph && wnnGraphCompute(graph, 1, &in, 1, &to) != WNNStatus_Success)
        fail_msg("call %ld (%s) still fails: %s", n, failed, wnnGetLastErrorMessage().data);
    for (size_t i = 0; graph && i < 77; i++)
        assert_close(out[i], right[i], 1e-4);
    sample_free(&s);
    if (graph)
        wnnGraphRelease(graph);
    return failed != NULL;
}

/* Memory objects are counted while the context lives: oneDNN keeps primitives, and memory of theirs, beyond it. */
TEST(every_call_may_fail_once)
{
    const struct intel_layer *layer = the_layer();
    float right[77];
    SCOPED(variant_release) struct variant v = {0};
    long n = 0;

    variant_init(&v, VARIANT);
    random_state = 1;
    WNNGraph graph = build(v.context, between);
    compute(graph, 3, right, 77);
    wnnGraphRelease(graph);
    const long objects = layer->memory_objects();
    while (fail_call(v.context, n, right))
        n++;
    printf("%ld calls failed once each\n", n);
    assert_true(n > 20);
    assert_int_equal(layer->memory_objects(), objects);
}

/* ---- the device ---- */

static int skipped_because(const char *why)
{
    printf("skipped: %s\n", why);
    return 77;
}

/* 0, or why there is nothing to test. */
static int check_device(void)
{
    const char *layers = getenv("OPENCL_LAYERS");

    if (!layers || access(layers, R_OK) != 0)
        return skipped_because("OPENCL_LAYERS does not name the layer support/intel_layer.c");
    if (dnnl_version()->major != 2)
        return skipped_because("the layer is for oneDNN 2");
    if (dnnl_engine_get_count(dnnl_gpu) != 1)
        return skipped_because(
            "oneDNN sees no GPU: it was built without OpenCL, or there is no PoCL, or another loader than ocl-icd");
    return 0;
}

PROGRAM_HELP("usage: test-runtime-opencl-library [run PROGRAM ARGUMENT ...]   run the tests, or a program with the layer\n")
int main(int argc, char **argv)
{
    const int skipped = check_device();

    if (skipped)
        return skipped;
    if (argc > 2 && strcmp(argv[1], "run") == 0) {
        execv(argv[2], argv + 2);
        perror(argv[2]);
        return 1;
    }
    return tests_run();
}
