/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs that are recorded (runtime/engine/opencl/opencl_record.c) on the first OpenCL device: small kernels, dispatched again
 * and again with the same tensors and other numbers, against the engine for processors.
 */
#include <math.h>

#include "runtime/api/context.h"
#include "runtime/api/runtime.h"
#include "runtime/engine/opencl/opencl_executable.h"
#include "support/graphs.h"

enum { N = 64, TIMES = 8 };

static const char body[] = "inputs { x: f32[64]; } nodes { a = exp(x); s = softmax(a, 0); b = reshape(s, [8, 8]); "
                           "t = transpose(b, permutation=[1, 0]); c = softmax(t, 0); y = reshape(c, [64]); } outputs { y; }";

struct side {
    WNNContext context;
    WNNGraph graph;
    WNNTensor x, y;
};

static WNNTensor tensor_of(WNNContext context)
{
    WNNTensorDescriptor d = WNN_TENSOR_DESCRIPTOR_INIT;
    WNNTensor t;

    d.dataType = WNNOperandDataType_Float32;
    d.rank = 1;
    d.shape = (const uint32_t[]){N};
    d.readable = d.writable = true;
    assert_int_equal(wnnContextCreateTensor(context, &d, &t), WNNStatus_Success);
    return t;
}

static bool side_open(struct side *s, WNNEngine engine)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;

    o.engine = engine;
    o.debug = WNN_STR("skip=fuse-kernels");
    if (wnnCreateContext(&o, &s->context) != WNNStatus_Success)
        return false;
    assert_done(!runtime_build(s->context, parse_body(body), &s->graph, &e));
    s->x = tensor_of(s->context);
    s->y = tensor_of(s->context);
    return true;
}

static void side_run(struct side *s, const float *x, float *y)
{
    WNNNamedTensor in = {WNN_STR("x"), s->x}, out = {WNN_STR("y"), s->y};

    assert_int_equal(wnnContextWriteTensor(s->context, s->x, x, N * sizeof *x), WNNStatus_Success);
    assert_int_equal(wnnContextDispatch(s->context, s->graph, 1, &in, 1, &out), WNNStatus_Success);
    if (y)
        assert_int_equal(wnnContextReadTensor(s->context, s->y, y, N * sizeof *y), WNNStatus_Success);
}

static void side_close(struct side *s)
{
    wnnTensorRelease(s->x);
    wnnTensorRelease(s->y);
    wnnGraphRelease(s->graph);
    wnnContextRelease(s->context);
}

TEST(recorded_runs_compute_the_same)
{
    struct side device = {0}, processor = {0};
    float x[N], got[N], wanted[N];

    assert_true(side_open(&device, WNNEngine_Gpu) && side_open(&processor, WNNEngine_Cpu));
    for (int n = 0; n < TIMES; n++) {
        for (int i = 0; i < N; i++)
            x[i] = (float)((i * 7 + n * 5) % 13) / 13;
        if (n % 3 == 2) /* several runs in the queue at the same time */
            side_run(&device, x, NULL);
        side_run(&device, x, got);
        side_run(&processor, x, wanted);
        for (int i = 0; i < N; i++)
            if (!(fabsf(got[i] - wanted[i]) <= 1e-5f))
                fail_msg("run %d: element %d is %g, not %g", n, i, (double)got[i], (double)wanted[i]);
    }
    /* The invocation that all runs had is kept, with what it has recorded. */
    const struct invocation *i = device.graph->executable->pool.first;
    if (opencl_of(device.context->engine)->commands.create)
        assert_true(i && opencl_run_of(i)->recording.commands && !opencl_run_of(i)->recording.never);
    else
        puts("the device has no command buffers that are used");
    side_close(&device);
    side_close(&processor);
}

int main(void)
{
    struct side s = {0};

    if (!side_open(&s, WNNEngine_Gpu)) {
        printf("skipped: %s\n", wnnGetLastErrorMessage().data);
        return 77;
    }
    side_close(&s);
    return tests_run();
}
