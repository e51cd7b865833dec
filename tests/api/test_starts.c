/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is loaded when: LLVM and the code generator where a graph is built, oneDNN where a step wants it, neither of them
 * before. Another process saves the graphs.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "support/api.h"
#include "support/maps.h"
#include "support/processor.h"

enum { N = 8 };

static const uint32_t shape[2] = {N, N};
static const WNNOperandDescriptor square = {WNNOperandDataType_Float32, 2, shape, NULL};

static void assert_mapped(bool compiler, bool library)
{
    assert_true(compiler || !is_mapped("libLLVM"));
    assert_int_equal(is_mapped("libwebnn_codegen"), compiler);
    assert_int_equal(is_mapped("libdnnl"), library);
}

static WNNGraph make(WNNContext c, bool library)
{
    WNNGraphBuilder b = builder_of(c);
    WNNOperand x = wnnGraphBuilderInput(b, WNN_STR("x"), &square);
    static float weights[3 * 3 * 64 * 64];
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 4, (uint32_t[]){64, 64, 3, 3}, NULL};
    const uint32_t picture[4] = {1, 1, N, N}, planes[4] = {1, 64, N, N};

    if (!library)
        return build_y(b, wnnGraphBuilderSigmoid(b, x, NULL));
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        weights[i] = (float)(i % 7);
    x = wnnGraphBuilderExpand(b, wnnGraphBuilderReshape(b, x, 4, picture, NULL), 4, planes, NULL);
    x = wnnGraphBuilderConv2d(b, x, wnnGraphBuilderConstant(b, &d, weights, sizeof weights), NULL);
    return build_y(b, wnnGraphBuilderReduceSum(b, x, NULL));
}

/* Saves a graph in another process, so that building it loads nothing here. */
static void save(const char *path, bool library)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        WNNContext c = context_with(NULL);
        WNNGraph g = make(c, library);

        assert_mapped(true, library);
        assert_success(wnnGraphSave(g, path));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(what_is_needed_is_loaded_when_it_is_needed)
{
    char path[] = "/tmp/webnn-starts-XXXXXX";
    float x[N * N] = {1, -1}, y[N * N];
    OWNED(compiled) WNNGraph g = NULL;

    make_file(path);
    save(path, false);
    OWNED(context) WNNContext c = context_with(NULL);
    WNNDeviceInfo info;
    assert_true(wnnContextGetDevice(c, &info));
    WNNGraphBuilder b = builder_of(c);
    WNNOperand wrong = wnnGraphBuilderReshape(b, wnnGraphBuilderInput(b, WNN_STR("x"), &square), 1, (uint32_t[]){3}, NULL);
    assert_int_equal(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), wrong}, &g), WNNStatus_TypeError);
    wnnGraphBuilderRelease(b);
    assert_success(wnnContextLoadGraph(c, path, &g));
    compute_y(g, x, sizeof x, y, sizeof y);
    assert_true(y[0] > 0.731f && y[0] < 0.732f);
    assert_mapped(false, false);

    /* One that is loaded is saved again as it is. */
    assert_success(wnnGraphSave(g, path));
    wnnGraphRelease(g);
    assert_success(wnnContextLoadGraph(c, path, &g));
    wnnGraphRelease(g);
    assert_mapped(false, false);

    save(path, true);
    assert_success(wnnContextLoadGraph(c, path, &g));
    wnnGraphRelease(g);
    assert_mapped(false, library_has_code());
    unlink(path);

    g = make(c, false);
    assert_mapped(true, library_has_code());
}

TEST_GROUP(NULL, NULL)
