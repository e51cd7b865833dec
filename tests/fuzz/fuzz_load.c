/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiled graphs (runtime/image.h), with their checksums put right so that what stands behind them is reached.  What loads is
 * also run, on buffers of exactly its sizes: with kernels that do nothing, since code is trusted, but with oneDNN's primitives,
 * copies and loops as they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "runtime/compile.h"
#include "runtime/context.h"
#include "runtime/plan.h"

/* What is run costs no more than this. */
enum { BYTES_MAX = 1 << 20, ITERATIONS_MAX = 64, SLOTS_MAX = 64 };

static const char *const bodies[] = {
    "inputs { x: f32[1, 4, 6, 6]; } consts { w: f32[8, 4, 3, 3] @weights(\"w\"); b: f32[8] @weights(\"b\"); m: f32[8, 5] "
    "@weights(\"m\"); } "
    "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]); r = relu(c); g = averagePool2d(r); f = reshape(g, [1, 8]); "
    "y = matmul(f, m); } outputs { y; r; }",
    "inputs { x: f32[6, 20]; k: f32[20, 12]; rows: f32[6, 1]; c: f32[12]; } consts { w: f32[20, 12] @weights(\"w\"); } "
    "nodes { y0 = matmul(x, k); y1 = gemm(x, w, c=rows, beta=0.5); y2 = gemm(x, w, c=c, alpha=0.25, beta=2.0); } "
    "outputs { y0; y1; y2; }",
    "inputs { v: u8[3, 16]; } consts { m: i8[16, 8] @weights(\"m\"); ms: f32[1, 1] @scalar(0.02); mz: i8[1, 1] @scalar(0); "
    "vz: u8[1, 1] @scalar(128); } nodes { vd = dequantizeLinear(v, ms, vz); md = dequantizeLinear(m, ms, mz); p = matmul(vd, "
    "md); } "
    "outputs { p; }",
    "inputs { x: f32[5, 1, 4]; } consts { w: f32[1, 9, 4] @weights(\"w\"); r: f32[1, 9, 3] @weights(\"r\"); } "
    "nodes { [a, s] = gru(x, w, r, 5, 3, returnSequence=true); } outputs { a; s; }",
    "inputs { x: i64[4]; n: i32[3]; } consts { c: f32[2] @values([1, 2]); } nodes { y = cast(x, \"float32\"); } outputs { y; "
    "c; z = n; }",
};

static bool make_weights(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                         struct error *e)
{
    (void)user;
    (void)key;
    *constant = constant_create(NULL, (size_t)type_bytes(type));
    if (!*constant)
        return error_out_of_memory(e);
    for (size_t i = 0; i < (*constant)->bytes; i++)
        ((unsigned char *)(*constant)->data)[i] = (unsigned char)(i % 61); /* ours alone so far; small numbers in any type */
    return true;
}

struct bytes {
    unsigned char data[1 << 17];
    size_t length;
};

static bool append(void *user, const void *data, size_t bytes)
{
    struct bytes *b = user;

    if (bytes > sizeof b->data - b->length)
        return false;
    memcpy(b->data + b->length, data, bytes);
    b->length += bytes;
    return true;
}

static void seed(struct engine *en, const char *body, bool plain)
{
    static struct bytes out;
    struct error e = {.status = WNNStatus_Success};
    struct compile_times times;
    struct program p;
    struct image_binding inputs[SLOTS_MAX], outputs[SLOTS_MAX];
    char text[2048];

    snprintf(text, sizeof text, "webnn_graph \"seed\" v1 { %s }", body);
    struct graph *g = graph_parse(text, strlen(text), make_weights, NULL, &e);
    if (!g || g->input_count > SLOTS_MAX || g->output_count > SLOTS_MAX)
        abort();
    for (uint32_t i = 0; i < g->input_count; i++)
        inputs[i] = (struct image_binding){"in", 2, g->inputs[i]->type, i};
    for (uint32_t i = 0; i < g->output_count; i++)
        outputs[i] = (struct image_binding){"out", 3, g->outputs[i].value->type, i};
    struct image_facts facts = {"", "", g->input_count, g->output_count, inputs, outputs};
    if (!compile_graph(en, g, NULL, NULL, &p, &times, &e))
        abort();
    const void **functions = calloc(p.step_count + 1u, sizeof *functions);
    for (uint32_t i = 0, kernel = 0; i < p.step_count; i++)
        if (p.steps[i].kind == STEP_KERNEL)
            functions[kernel++] = p.steps[i].kernel;
    struct image *image = image_create(&p, functions, plain, &e);
    out.length = 0;
    if (image && image_write(image, &facts, NULL, false, append, &out, &e))
        fuzz_seed(out.data, out.length);
    image_free(image);
    free(functions);
    program_free(&p);
    graph_free(g);
}

void fuzz_seeds(void)
{
    struct engine *en = fuzz_context()->engine;

    en->keep_weights = true;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int plain = 0; plain < 2; plain++)
            seed(en, bodies[i], plain);
}

/* ---- one image ---- */

static void no_kernel(const struct kernel_args *args, int64_t begin, int64_t end)
{
    (void)args;
    (void)begin;
    (void)end;
}

static bool is_small(const struct program *p, const struct image_facts *f)
{
    bool small =
        p->arena_bytes <= BYTES_MAX && p->input_count <= SLOTS_MAX && p->output_count <= SLOTS_MAX && p->step_count < 256;

    for (uint32_t i = 0; small && i < f->input_count; i++)
        small = type_bytes(&f->inputs[i].type) <= BYTES_MAX;
    for (uint32_t i = 0; small && i < f->output_count; i++)
        small = type_bytes(&f->outputs[i].type) <= BYTES_MAX;
    for (uint32_t i = 0; small && i < p->loop_count; i++)
        small = p->loops[i].iterations <= ITERATIONS_MAX;
    for (uint32_t i = 0; small && i < p->step_count; i++)
        small = p->steps[i].kind != STEP_KERNEL || p->steps[i].run.scratch_bytes <= BYTES_MAX;
    return small;
}

static void run(struct program *p, const struct image_facts *f)
{
    static const struct debug_options no_debug;
    struct engine_binding in[SLOTS_MAX] = {{NULL, NULL}}, out[SLOTS_MAX] = {{NULL, NULL}};
    struct error e = {.status = WNNStatus_Success};
    kernel_function *functions = calloc(p->step_count + 1u, sizeof *functions);

    for (uint32_t i = 0; functions && i < p->step_count; i++)
        functions[i] = no_kernel;
    struct plan *plan = functions ? plan_create(p, functions, 1, &no_debug, &e) : NULL;
    for (uint32_t i = 0; i < f->input_count; i++)
        in[f->inputs[i].slot].host = calloc(1, (size_t)type_bytes(&f->inputs[i].type));
    for (uint32_t i = 0; i < f->output_count; i++)
        out[f->outputs[i].slot].host = calloc(1, (size_t)type_bytes(&f->outputs[i].type));
    if (plan)
        plan_run(plan, in, out, NULL, &e);
    plan_free(plan);
    free(functions);
    for (uint32_t i = 0; i < SLOTS_MAX; i++) {
        free(in[i].host);
        free(out[i].host);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct engine *en = fuzz_context()->engine;
    unsigned char *copy = aligned_alloc(IMAGE_ALIGN, (size + IMAGE_ALIGN) / IMAGE_ALIGN * IMAGE_ALIGN);
    struct error e = {.status = WNNStatus_Success};
    struct image_view view;
    struct program p;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    image_sign(copy, size);
    struct image_source source = {.image = copy, .bytes = size, .file = -1};
    if (image_load(&source, en, NULL, NULL, &p, &view, &e)) {
        if (is_small(&p, &view.facts))
            run(&p, &view.facts);
        program_free(&p);
        image_view_free(&view);
    } else if (e.status == WNNStatus_Success || !*e.message || p.step_count || view.kernel_count) {
        abort();
    }
    free(copy);
    return 0;
}
