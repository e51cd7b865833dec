/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Contexts, graphs and tensors over an OpenCL without a device (support/fake_opencl.h), for the tests of the engine.
 */
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "runtime/engine/opencl/opencl_api.h"
#include "runtime/program/executable.h"
#include "support/api.h"
#include "support/fake_opencl.h"
#include "support/graphs.h"

enum { N = 64, BYTES = 4 * N };

static const struct fake_opencl *fake;

GRAPHS_UNUSED static const char one_step[] = "inputs { x: f32[64]; } nodes { y = neg(x, label=\"mine\"); } outputs { y; }";
/* The last output is a copy step. */
GRAPHS_UNUSED static const char three_steps[] =
    "inputs { x: f32[64]; i: i32[64]; } consts { k: f32[4] @values([1, 2, 3, 4]); } nodes { y = "
    "neg(x); j = neg(i); } outputs { y; j; k; }";

GRAPHS_UNUSED static WNNContext try_context(WNNContextLostCallback callback, void *user)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context = NULL;

    o.engine = WNNEngine_Gpu;
    o.ignoreEnvironment = true;
    o.lost.callback = callback;
    o.lost.userdata1 = user;
    if (wnnCreateContext(&o, &context) != WNNStatus_Success)
        assert_null(context);
    return context;
}

GRAPHS_UNUSED static WNNContext new_context(void)
{
    WNNContext context = try_context(NULL, NULL);

    assert_non_null(context);
    return context;
}

GRAPHS_UNUSED static WNNGraph new_graph(WNNContext context, const char *body)
{
    WNNGraph graph;

    assert_done(!runtime_build(context, parse_body(body), &graph, &e));
    return graph;
}

/** Loads a saved graph.  Returns NULL after an error in *e. */
GRAPHS_UNUSED static WNNGraph load_graph(WNNContext context, const char *path, struct error *e)
{
    int file = open(path, O_RDONLY);

    *e = (struct error){.status = WNNStatus_Success};
    assert_true(file >= 0);
    WNNGraph graph = runtime_load_graph(context, path, file, e);
    close(file);
    if (graph)
        runtime_graph_hold_context(graph);
    return graph;
}

GRAPHS_UNUSED static WNNStatus try_tensor(WNNContext context, WNNOperandDataType type, uint32_t n, WNNTensor *tensor)
{
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;

    d.dataType = type;
    d.rank = 1;
    d.shape = &n;
    d.readable = d.writable = true;
    return wnnContextCreateTensor(context, &d, tensor);
}

GRAPHS_UNUSED static WNNTensor new_tensor(WNNContext context)
{
    WNNTensor t;

    assert_int_equal(try_tensor(context, WNNOperandDataType_Float32, N, &t), WNNStatus_Success);
    return t;
}

GRAPHS_UNUSED static void fill(unsigned char *data, unsigned seed)
{
    for (size_t i = 0; i < BYTES; i++)
        data[i] = (unsigned char)(i * 7 + seed);
}

/* Whether `got` is what a step makes of `data`. */
GRAPHS_UNUSED static bool is_computed(const unsigned char *got, const unsigned char *data)
{
    for (size_t i = 0; i < BYTES; i++)
        if (got[i] != (data[i] ^ 1))
            return false;
    return true;
}

GRAPHS_UNUSED static WNNStatus dispatch(WNNContext context, WNNGraph graph, WNNTensor x, WNNTensor y)
{
    WNNNamedTensor in = {WNN_STR("x"), x}, out = {WNN_STR("y"), y};

    return wnnContextDispatch(context, graph, 1, &in, 1, &out);
}

/* The last reference to a context may be its own thread's, which is about to give it back. */
GRAPHS_UNUSED static void assert_nothing_is_left(const char *failed)
{
    for (int i = 0; fake->alive() != 0 && i < 10000; i++)
        usleep(1000);
    if (fake->alive() != 0)
        fail_msg("%ld objects are left after cl%s has failed", fake->alive(), failed);
}

GRAPHS_UNUSED static int nothing_is_left(__attribute__((unused)) void **state)
{
    assert_nothing_is_left("");
    return 0;
}

GRAPHS_UNUSED static int start(void **state)
{
    void *library = dlopen(FAKE_OPENCL, RTLD_NOW);
    fake_opencl_function *get = NULL;

    if (library)
        *(void **)&get = dlsym(library, "fake_opencl_get");
    if (!get)
        return -1;
    fake = get();
    opencl_api_set_library(FAKE_OPENCL);
    return 0;
}
