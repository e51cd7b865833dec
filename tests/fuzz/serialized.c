/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiled programs as seeds. */
#include "fuzz/serialized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "ir/text/text.h"
#include "runtime/compile/compile.h"
#include "runtime/api/context.h"

enum { SLOTS_MAX = 64 };

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
    "inputs { v: u8[3, 16]; s: f32[1, 1]; z: u8[1, 1]; } consts { m: i8[16, 8] @weights(\"m\"); ms: f32[1, 1] @scalar(0.02); "
    "mz: i8[1, 1] @scalar(0); } nodes { vd = dequantizeLinear(v, s, z); md = dequantizeLinear(m, ms, mz); "
    "p = matmul(vd, md); } outputs { p; }",
    "inputs { x: f32[5, 1, 4]; } consts { w: f32[1, 9, 4] @weights(\"w\"); r: f32[1, 9, 3] @weights(\"r\"); } "
    "nodes { [a, s] = gru(x, w, r, 5, 3, returnSequence=true); } outputs { a; s; }",
    "inputs { x: i64[4]; n: i32[3]; } consts { c: f32[2] @values([1, 2]); } nodes { y = cast(x, \"float32\"); } outputs { y; "
    "c; z = n; }",
};

static bool make_weights(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                         struct error *e)
{
    *constant = constant_create(NULL, (size_t)type_bytes(type));
    if (!*constant)
        return error_out_of_memory(e);
    for (size_t i = 0; i < (*constant)->bytes; i++)
        ((unsigned char *)(*constant)->data)[i] = (unsigned char)(i % 61); /* ours alone so far; small numbers in any type */
    return true;
}

static bool append(void *user, const void *data, size_t bytes)
{
    return bytes_append(user, data, bytes);
}

/** The data, then what fuzz_rt.c wants to know: the serialized program's length and its kernels. */
static bool append_data(const struct serialized_program *serialized, struct bytes *out)
{
    size_t length = out->length;
    unsigned char tail[] = {(unsigned char)length, (unsigned char)(length >> 8), (unsigned char)(length >> 16),
                            (unsigned char)serialized_kernel_count(serialized)};

    return serialized_write_data(serialized, append, out) && append(out, tail, sizeof tail);
}

static void seed(struct engine *en, const char *body, bool plain, bool data_apart)
{
    static struct bytes out;
    struct error e = {.status = WNNStatus_Success};
    struct compile_times times;
    struct program p;
    struct graph_binding inputs[SLOTS_MAX], outputs[SLOTS_MAX];
    char text[2048];

    snprintf(text, sizeof text, "webnn_graph \"seed\" v1 { %s }", body);
    struct graph *g = graph_parse(text, strlen(text), make_weights, NULL, &e);
    if (!g || g->input_count > SLOTS_MAX || g->output_count > SLOTS_MAX)
        abort();
    for (uint32_t i = 0; i < g->input_count; i++)
        inputs[i] = (struct graph_binding){"in", 2, g->inputs[i]->type, i, 0, 0, NULL};
    for (uint32_t i = 0; i < g->output_count; i++)
        outputs[i] = (struct graph_binding){"out", 3, g->outputs[i].value->type, i, 0, 0, NULL};
    struct serialized_facts facts = {"", "", g->input_count, g->output_count, inputs, outputs};
    if (!compile_graph(en, g, NULL, NULL, &p, &times, &e))
        abort();
    const void **functions = calloc(p.step_count + 1u, sizeof *functions);
    for (uint32_t i = 0, kernel = 0; i < p.step_count; i++)
        if (p.steps[i].kind == STEP_KERNEL)
            functions[kernel++] = p.steps[i].kernel;
    struct serialized_program *serialized = serialized_create(&p, functions, plain, &e);
    out.length = 0;
    if (serialized && serialized_write(serialized, &facts, NULL, data_apart, append, &out, &e) &&
        (!data_apart || append_data(serialized, &out)))
        fuzz_seed(out.data, out.length);
    serialized_free(serialized);
    free(functions);
    program_free(&p);
    graph_free(g);
}

void fuzz_serialized_seeds(bool data_apart)
{
    struct engine *en = fuzz_context()->engine;

    en->keep_weights = true;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int plain = 0; plain < 2; plain++)
            seed(en, bodies[i], plain, data_apart);
}
