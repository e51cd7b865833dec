/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * libwebnn_rt, called as a compiled object calls it: a serialized program without code, its kernels in a table, weights inside,
 * next to it or in a file.  Results are those of the engine bit by bit; whatever does not fit is refused with a message.
 */
#include <pthread.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "ir/target/processor.h"
#include "runtime/compile/compile.h"
#include "runtime/engine/cpu/engine_cpu.h"
#include "runtime/program/serialized_format.h"
#include "support/folder.h"
#include "support/graphs.h"
#include "webnn/webnn_object.h"
#include "webnn/webnn_rt.h"

static const char *const body =
    "inputs { x: f32[1, 6, 6, 4]; h: f32[1, 1, 5]; unused: f32[3]; } consts { w: f32[8, 3, 3, 4] @scalar(0.25); "
    "b: f32[8] @values([1, 2, 3, 4, 5, 6, 7, 8]); m: f32[8, 4] @scalar(-0.5); gw: f32[1, 15, 4] @scalar(0.125); "
    "gr: f32[1, 15, 5] @scalar(0.0625); } "
    "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], inputLayout=\"nhwc\", filterLayout=\"ohwi\"); r = relu(c); "
    "p = reduceMean(r, axes=[1]); y = matmul(p, m); t = transpose(y, permutation=[1, 0, 2]); "
    "[s] = gru(t, gw, gr, 6, 5, initialHiddenState=h); e = exp(y); } outputs { y; s; e; b; }";

enum { INPUT_COUNT = 2, OUTPUT_COUNT = 4 };
static const size_t input_elements[INPUT_COUNT] = {6 * 6 * 4, 5}, output_elements[OUTPUT_COUNT] = {6 * 4, 5, 6 * 4, 8};

/* A compiled object. */
struct object {
    struct debug_options debug;
    struct engine *en;
    struct codegen_kernels *unit;
    struct codegen *codegen;
    struct target target;
    unsigned char *serialized, *data;
    size_t image_bytes, data_bytes;
    webnn_rt_kernel kernels[64];
    uint32_t kernel_count;
    float inputs[INPUT_COUNT][256], expected[OUTPUT_COUNT][64];
    struct webnn_rt_program program;
};

struct sink {
    unsigned char *data;
    size_t length, capacity;
};

static bool append(void *user, const void *data, size_t bytes)
{
    struct sink *s = user;

    assert_true(s->length + bytes <= s->capacity);
    memcpy(s->data + s->length, data, bytes);
    s->length += bytes;
    return true;
}

static struct sink new_sink(void)
{
    struct sink s = {aligned_alloc(64, 1 << 20), 0, 1 << 20};

    assert_non_null(s.data);
    return s;
}

/* The serialized program of p, whose kernels run functions; with everything inside, or data apart. */
static void write_serialized(struct object *o, struct program *p, const struct graph *g, const kernel_function *functions,
                             bool plain, bool apart)
{
    struct error e = {0};
    struct serialized_program *serialized = serialized_create(p, (const void *const *)functions, plain, &e);
    const struct graph_binding inputs[] = {{"x", 1, g->inputs[0]->type, 0, 0, 0, NULL},
                                           {"h", 1, g->inputs[1]->type, 1, 0, 0, NULL}};
    struct graph_binding outputs[OUTPUT_COUNT];
    struct sink out = new_sink(), data = new_sink();

    assert_works(serialized, &e);
    for (uint32_t i = 0; i < OUTPUT_COUNT; i++)
        outputs[i] = (struct graph_binding){"out", 3, g->outputs[i].value->type, i, 0, 0, NULL};
    struct serialized_facts facts = {o->target.triple, processor_features(), INPUT_COUNT, OUTPUT_COUNT, inputs, outputs};
    assert_true(serialized_write(serialized, &facts, NULL, apart, append, &out, &e));
    assert_true(serialized_write_data(serialized, append, &data));
    assert_int_equal(data.length, serialized_data_size(serialized));
    o->kernel_count = serialized_kernel_count(serialized);
    for (uint32_t i = 0; i < o->kernel_count; i++)
        o->kernels[i] = functions[serialized_kernel_steps(serialized)[i]];
    serialized_free(serialized);
    o->serialized = out.data;
    o->image_bytes = out.length;
    o->data = data.data;
    o->data_bytes = data.length;
    o->program =
        (struct webnn_rt_program){WEBNN_RT_VERSION,       o->kernel_count,          o->kernels, o->serialized, o->image_bytes,
                                  apart ? o->data : NULL, apart ? o->data_bytes : 0};
}

static void compute_expected(struct object *o, struct program *p)
{
    struct error e = {0};
    struct executable *x = o->en->functions->load(o->en, p, &e);
    struct engine_binding in[3] = {{.host = o->inputs[0]}, {.host = o->inputs[1]}, {.host = NULL}}, out[OUTPUT_COUNT];

    assert_works(x, &e);
    for (int i = 0; i < INPUT_COUNT; i++)
        for (size_t k = 0; k < input_elements[i]; k++)
            o->inputs[i][k] = (float)((k * 37 + (size_t)i) % 23) / 16 - 0.5f;
    for (int i = 0; i < OUTPUT_COUNT; i++)
        out[i] = (struct engine_binding){.host = o->expected[i]};
    assert_true(o->en->functions->run(x, in, out, NULL, &e));
    o->en->functions->unload(x);
}

static void object_make(struct object *o, uint32_t threads, bool plain, bool apart)
{
    OWNED(graph) struct graph *g = parse_body(body), *reference = parse_body(body);
    struct compile_times times;
    struct program p;
    struct error e = {0};
    struct schedule *kernels[64];
    kernel_function functions[64];
    uint32_t count = 0;

    memset(o, 0, sizeof *o);
    assert_true(debug_init(&o->debug, false, NULL, 0, &e)); /* as libwebnn_rt does */
    o->en = engine_cpu_create(threads, &o->debug, &e);
    assert_non_null(o->en);
    o->en->keep_weights = plain;
    assert_true(compile_graph(o->en, g, NULL, NULL, &p, &times, &e));
    assert_true(processor_target(&o->target, o->debug.isa, &e));
    o->codegen = codegen_create(&o->target, &o->debug, &e);
    assert_non_null(o->codegen);
    for (uint32_t i = 0; i < p.step_count; i++)
        if (p.steps[i].kind == STEP_KERNEL) {
            assert_true(count < 64);
            kernels[count++] = p.steps[i].schedule;
        }
    assert_true(count > 0 && p.loop_count == 1);
    assert_true(codegen_compile(o->codegen, count, kernels, NULL, NULL, &o->unit, functions, &e));
    write_serialized(o, &p, reference, functions, plain, apart);
    compute_expected(o, &p);
    program_free(&p);
}

static void object_free(struct object *o)
{
    codegen_kernels_free(o->unit);
    codegen_free(o->codegen);
    o->en->functions->free(o->en);
    debug_free(&o->debug);
    free(o->serialized);
    free(o->data);
}

static bool runs(const struct object *o, struct webnn_rt_model *m)
{
    const void *in[INPUT_COUNT] = {o->inputs[0], o->inputs[1]};
    float got[OUTPUT_COUNT][64];
    void *out[OUTPUT_COUNT] = {got[0], got[1], got[2], got[3]};
    bool same = webnn_rt_run(m, in, out) == WEBNN_OBJECT_OK;

    for (int i = 0; i < OUTPUT_COUNT; i++)
        same = same && !memcmp(got[i], o->expected[i], output_elements[i] * sizeof(float));
    return same;
}

static void expect_run(const struct object *o, const struct webnn_rt_options *options)
{
    struct webnn_rt_model *m;

    if (webnn_rt_create(&o->program, options, &m))
        fail_msg("%s", webnn_rt_message());
    assert_true(runs(o, m));
    assert_true(runs(o, m));
    webnn_rt_destroy(m);
}

static void expect_refusal(const struct webnn_rt_program *p, const struct webnn_rt_options *options, int code, const char *why)
{
    struct webnn_rt_model *m = (struct webnn_rt_model *)1;
    int got = webnn_rt_create(p, options, &m);

    if (got != code || m || !strstr(webnn_rt_message(), why))
        fail_msg("%d instead of %d with \"%s\": %s", got, code, why, webnn_rt_message());
}

/* ---- tests ---- */

/* Weights as the graph has them are packed for whatever number of threads there is, and packed ones again if need be. */
TEST(objects_run_on_any_number_of_threads)
{
    struct object o;

    for (uint32_t packed = 0; packed < 2; packed++) {
        object_make(&o, 1 + packed, !packed, false);
        for (uint32_t threads = 1; threads <= 4; threads++)
            expect_run(&o, &(struct webnn_rt_options){threads, NULL});
        expect_run(&o, NULL);
        object_free(&o);
    }
}

TEST(weights_are_read_from_a_file)
{
    char path[] = "/tmp/webnn-rt-XXXXXX";
    struct object o;

    make_file(path);
    object_make(&o, 1, true, true);
    expect_run(&o, &(struct webnn_rt_options){2, NULL});
    write_bytes(path, o.data, o.data_bytes);
    o.program.weights = NULL;
    o.program.weights_bytes = 0;
    expect_run(&o, &(struct webnn_rt_options){2, path});

    struct webnn_rt_options options = {2, NULL};
    expect_refusal(&o.program, &options, WEBNN_OBJECT_BAD_WEIGHTS, "weights are missing");
    options.weights_path = "/nonexistent";
    expect_refusal(&o.program, &options, WEBNN_OBJECT_BAD_WEIGHTS, "No such file");
    options.weights_path = path;
    assert_int_equal(truncate(path, (off_t)o.data_bytes - 1), 0);
    expect_refusal(&o.program, &options, WEBNN_OBJECT_BAD_WEIGHTS, "weights are missing");
    o.data[3] ^= 1;
    o.program.weights = o.data;
    o.program.weights_bytes = o.data_bytes;
    options.weights_path = NULL;
    expect_refusal(&o.program, &options, WEBNN_OBJECT_BAD_WEIGHTS, "not its own");
    unlink(path);
    object_free(&o);
}

TEST(wrong_arguments_are_refused)
{
    struct object o;
    struct webnn_rt_model *m;

    object_make(&o, 1, true, false);
    struct webnn_rt_program p = o.program;
    p.version++;
    expect_refusal(&p, NULL, WEBNN_OBJECT_LIBRARY_FAILED, "version 2 of libwebnn_rt's interface");
    p = o.program;
    p.kernel_count--;
    expect_refusal(&p, NULL, WEBNN_OBJECT_BAD_WEIGHTS, "kernels, the object has");
    p = o.program;
    p.image_bytes -= 64;
    expect_refusal(&p, NULL, WEBNN_OBJECT_BAD_WEIGHTS, "damaged");
    expect_refusal(NULL, NULL, WEBNN_OBJECT_BAD_ARGUMENT, "NULL");
    expect_refusal(&o.program, &(struct webnn_rt_options){100000, NULL}, WEBNN_OBJECT_BAD_ARGUMENT, "100000 threads");
    assert_int_equal(webnn_rt_create(&o.program, NULL, NULL), WEBNN_OBJECT_BAD_ARGUMENT);
    assert_int_equal(webnn_rt_run(NULL, NULL, NULL), WEBNN_OBJECT_BAD_ARGUMENT);
    assert_int_equal(webnn_rt_create(&o.program, NULL, &m), WEBNN_OBJECT_OK);
    assert_int_equal(webnn_rt_run(m, NULL, NULL), WEBNN_OBJECT_BAD_ARGUMENT);
    webnn_rt_destroy(m);
    webnn_rt_destroy(NULL);
    object_free(&o);
}

struct user {
    const struct object *object;
    struct webnn_rt_model *model;
    bool ok;
};

static void *use(void *user)
{
    struct user *u = user;

    u->ok = true;
    for (int i = 0; i < 50; i++)
        u->ok &= runs(u->object, u->model);
    return NULL;
}

TEST(many_threads_run_two_models)
{
    struct object o;
    struct webnn_rt_model *m[2];
    struct user users[6];

    object_make(&o, 2, true, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(webnn_rt_create(&o.program, &(struct webnn_rt_options){2, NULL}, &m[i]), WEBNN_OBJECT_OK);
    for (int i = 0; i < 6; i++)
        users[i] = (struct user){&o, m[i % 2], false};
    run_on_threads(6, use, users, sizeof *users);
    for (int i = 0; i < 6; i++)
        assert_true(users[i].ok);
    for (int i = 0; i < 2; i++)
        webnn_rt_destroy(m[i]);
    object_free(&o);
}

/* A caller that is inside a parallel region of its own. */
void GOMP_parallel(void (*body)(void *data), void *data, unsigned count, unsigned flags);

struct region {
    struct object *o;
    struct webnn_rt_model *m;
    _Atomic int right;
};

static void inside(void *user)
{
    struct region *r = user;

    r->right += runs(r->o, r->m);
}

TEST(a_parallel_region_may_run_a_model)
{
    struct object o;
    struct region r = {.o = &o};

    object_make(&o, 2, true, false);
    assert_int_equal(webnn_rt_create(&o.program, &(struct webnn_rt_options){2, NULL}, &r.m), WEBNN_OBJECT_OK);
    GOMP_parallel(inside, &r, 3, 0);
    assert_int_equal(r.right, 3);
    webnn_rt_destroy(r.m);
    object_free(&o);
}

/* Lists as webnnc writes them: a processor's own, then what the user adds and takes back. */
TEST(lists_of_features_are_understood)
{
    struct error e = {0};

    assert_true(processor_has_features("", &e));
    assert_true(processor_has_features("-fma4,-xop", &e));
#if defined(__x86_64__)
    if (__builtin_cpu_supports("xop"))
        return;
    assert_true(processor_has_features("+sse3,+xop,-xop", &e));
    assert_true(processor_has_features("+xopmop", &e));
    assert_false(processor_has_features("-xop,+xop", &e));
    assert_non_null(strstr(e.message, "xop"));
    e = (struct error){0};
    assert_false(processor_has_features("+xop,-xopmop", &e));
#endif
}
