/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Saving and loading when memory runs out: whichever allocation fails, there is an error and no half-written file, and the next
 * attempt succeeds.
 */
#include <dirent.h>
#include <unistd.h>

#include "ir/text/text.h"
#include "runtime/api/runtime.h"
#include "support/failing_allocator.h"
#include "support/test.h"

static const char text[] =
    "webnn_graph \"test\" v1 { inputs { x: f32[1, 6, 6, 4]; h: f32[4, 1, 6]; } consts { w: f32[8, 3, 3, 4] @scalar(0.25); "
    "b: f32[8] @values([1, 2, 3, 4, 5, 6, 7, 8]); gw: f32[1, 15, 6] @scalar(0.125); gr: f32[1, 15, 5] @scalar(0.0625); } "
    "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1], inputLayout=\"nhwc\", filterLayout=\"ohwi\"); y = softmax(c, 3); "
    "[s] = gru(h, gw, gr, 4, 5); } outputs { y; s; } }";

static char folder[] = "/tmp/webnn-load-memory-XXXXXX", path[64];

static WNNGraph build(WNNContext c)
{
    struct error e = {0};
    struct graph *g = graph_parse(text, strlen(text), NULL, NULL, &e);
    WNNGraph graph = NULL;

    assert_works(g && !runtime_build(c, g, &graph, &e), &e);
    return graph;
}

static uint32_t files_in_folder(void)
{
    DIR *d = opendir(folder);
    uint32_t count = 0;

    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));)
        count += f->d_name[0] != '.';
    closedir(d);
    return count;
}

TEST(memory_runs_out)
{
    OWNED(context) WNNContext c = NULL;
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNGraph g, loaded;
    long saves = 0, loads = 0;

    /* A device's graph is also saved without what its driver made of the programs, if there is no memory for that. */
    options.engine = WNNEngine_Cpu;
    assert_int_equal(wnnCreateContext(&options, &c), WNNStatus_Success);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/graph", folder);
    g = build(c);
    for (bool done = false; !done; saves++) {
        allocations_fail_after(saves);
        WNNStatus status = wnnGraphSave(g, path);
        done = allocations_stop_failing();
        assert_int_equal(status, done ? WNNStatus_Success : WNNStatus_UnknownError);
        assert_int_equal(files_in_folder(), done ? 1 : 0);
    }
    wnnGraphRelease(g);
    for (bool done = false; !done; loads++) {
        allocations_fail_after(loads);
        WNNStatus status = wnnContextLoadGraph(c, path, &loaded);
        done = allocations_stop_failing();
        if (done)
            assert_int_equal(status, WNNStatus_Success);
        assert_true((status == WNNStatus_Success) == (loaded != NULL));
        wnnGraphRelease(loaded);
    }
    printf("  %ld allocations of saving, %ld of loading\n", saves - 1, loads - 1);
    assert_true(saves > 3 && loads > 20);
    unlink(path);
    rmdir(folder);
}
