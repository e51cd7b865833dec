/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory runs out while a model is read from text, JSON, either kind of weights next to them, or a manifest: the message says
 * so, nothing leaks or is freed twice, and the model is read when memory is there again.
 */
#include "frontend/readers/model.h"
#include "support/context.h"
#include "support/failing_allocator.h"
#include "support/folder.h"

/** Reads a model until no allocation is left that could fail, then once more with a mistake in it, if there is such a file. */
static void read_without_memory(const char *name, const struct model_options *options, bool right)
{
    long n = 0;

    for (bool done = false; !done; n++) {
        struct error e = {0};
        SCOPED(model_free) struct model m = {0};

        allocations_fail_after(n);
        const bool ok = model_read(context, name, options, &m, &e);
        done = allocations_stop_failing();
        if (done && ok != right)
            fail_msg("%s", ok ? "a wrong file is read" : e.message);
        if (!done && (ok || !strstr(e.message, "out of memory")) && right)
            fail_msg("%s, allocation %ld: %s", name, n, ok ? "is read all the same" : e.message);
        assert_true(ok == (m.builder != NULL));
    }
    printf("  %s: %ld allocations\n", name, n - 1);
    assert_true(n > 10);
}

/* ---- text and JSON ---- */

#define NODES                                                                                                                  \
    "nodes { m = matmul(x, w); p = concat(m, a, x, axis=0); r = reshape(p, newShape=[3, 2]); [s, t] = split(r, [1, 2]); "      \
    "z = cast(s, float16); l = clamp(t, minValue=0, label=\"small\\n\"); } outputs { z; l; again = l; } }"
#define TEXT(constants)                                                                                                        \
    "webnn_graph \"text\" v1 { inputs { x: f32[1, 2]; a: f32[dyn(\"n\", 4), 2]; } consts { " constants "} " NODES

static const char text[] = TEXT("w: f32[2, 2] @values([1, 2.5, 3, -4]); k: f32[64, 64] @scalar(1); b: u8[2] @bytes([7, 8]); ");
static const char wrong_text[] = TEXT("w: f32[2, 2] @values([1, 2.5, 3]); ");
static const char text_with_weights[] = TEXT("w: f32[2, 2] @weights(\"w\"); v: u8[4] @weights(\"v\"); ");

static const char json[] =
    "{\"format\": \"webnn-graph-json\", \"version\": 1, \"name\": \"json\", "
    "\"inputs\": {\"x\": {\"dataType\": \"float32\", \"shape\": [1, 2]}}, "
    "\"consts\": {\"w\": {\"dataType\": \"float32\", \"shape\": [2, 2], \"init\": {\"kind\": \"scalar\", \"value\": 2}}, "
    "\"b\": {\"dataType\": \"float32\", \"shape\": [1], \"init\": {\"kind\": \"inlineBytes\", \"bytes\": [0, 0, 128, 63]}}}, "
    "\"nodes\": [{\"id\": \"m\", \"op\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"options\": {\"label\": \"l\"}}, "
    "{\"id\": \"c\", \"op\": \"concat\", \"inputs\": [\"m\", \"x\"], \"options\": {\"axis\": 0}}], "
    "\"outputs\": {\"y\": \"c\"}}";

static const struct model_dim one = {"n", 1};
static const struct model_options with_size = {.dim_count = 1, .dims = &one};

TEST(reading_text_survives_failing_allocations)
{
    write_text("inline.webnn", text);
    read_without_memory("inline.webnn", &with_size, true);
    write_text("wrong.webnn", wrong_text);
    read_without_memory("wrong.webnn", &with_size, false);
}

TEST(reading_json_survives_failing_allocations)
{
    write_text("inline.json", json);
    read_without_memory("inline.json", NULL, true);
}

/* ---- weights ---- */

static const char weights_manifest[] =
    "{\"format\": \"wg-weights-manifest\", \"version\": 1, \"endianness\": \"little\", \"tensors\": {"
    "\"w\": {\"dataType\": \"float32\", \"shape\": [2, 2], \"byteOffset\": 8, \"byteLength\": 16}, "
    "\"v\": {\"dataType\": \"uint8\", \"shape\": [4], \"byteOffset\": 24, \"byteLength\": 4, \"layout\": \"row-major\"}}}";
static const char safetensors_header[] = "{\"__metadata__\": {\"a\": \"b\"}, "
                                         "\"w\": {\"dtype\": \"F32\", \"shape\": [2, 2], \"data_offsets\": [0, 16]}, "
                                         "\"v\": {\"dtype\": \"U8\", \"shape\": [4], \"data_offsets\": [16, 20]}}";

TEST(reading_weights_survives_failing_allocations)
{
    static const char container[8 + 20] = "WGWT\1\0\0\0";
    uint8_t safetensors[8 + sizeof safetensors_header - 1 + 20] = {(uint8_t)(sizeof safetensors_header - 1)};

    assert_true(sizeof safetensors_header - 1 < 256);
    memcpy(safetensors + 8, safetensors_header, sizeof safetensors_header - 1);
    write_text("own.webnn", text_with_weights);
    write_bytes("own.weights", container, sizeof container);
    write_text("own.manifest.json", weights_manifest);
    read_without_memory("own.webnn", &with_size, true);
    write_text("tensors.webnn", text_with_weights);
    write_bytes("tensors.safetensors", safetensors, sizeof safetensors);
    read_without_memory("tensors.webnn", &with_size, true);
    /* Named by the user. */
    const struct model_options chosen = {.dim_count = 1, .dims = &one, .weights = "tensors.safetensors"};
    read_without_memory("own.webnn", &chosen, true);
}

/* ---- a manifest ---- */

static const char manifest[] =
    "{\"name\": \"n\", \"inputs\": [{\"name\": \"x\", \"dataType\": \"float32\", \"shape\": [1, 2]}], "
    "\"constants\": [{\"id\": \"w\", \"file\": \"w.npy\"}, {\"id\": \"v\", \"file\": \"w.npy\"}], "
    "\"layers\": [{\"id\": \"m\", \"op\": \"mul\", \"inputs\": [\"x\", \"w\"]}, "
    "{\"id\": \"c\", \"op\": \"concat\", \"inputs\": [\"m\", \"x\", \"v\"], \"axis\": 0}, "
    "{\"id\": \"r\", \"op\": \"reshape\", \"inputs\": [\"c\"], \"newShape\": [2, 3]}, "
    "{\"op\": \"split\", \"inputs\": [\"r\"], \"splits\": [1, 1], \"outputs\": [\"a\", \"b\"]}], "
    "\"outputs\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}";

TEST(reading_manifests_survives_failing_allocations)
{
    static float values[2] = {1, 2};
    const struct npy_array array = {WNNOperandDataType_Float32, 2, {1, 2}, sizeof values, values, false};

    assert_done(npy_write("w.npy", &array, &e));
    write_text("manifest.json", manifest);
    read_without_memory("manifest.json", NULL, true);
    read_without_memory(".", NULL, true);
}

static int set_up(void **state)
{
    return enter_folder(state) || create_context(state);
}

static int tear_down(void **state)
{
    static const char *const names[] = {
        "inline.webnn", "wrong.webnn",   "inline.json",         "own.webnn",     "own.weights",
        "w.npy",        "tensors.webnn", "tensors.safetensors", "manifest.json", "own.manifest.json"};

    release_context(state);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    return leave_empty_folder(state);
}

TEST_GROUP(set_up, tear_down)
