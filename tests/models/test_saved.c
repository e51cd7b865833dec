/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Networks of people, saved and loaded: the graph that comes from the file gives the very bits of the one that was built, in
 * the same context, in another one, and when it is saved once more.
 */
#include <unistd.h>

#include "support/test.h"
#include "tests/support/network.h"

static void expect_same(struct network *built, WNNContext context, const char *path)
{
    WNNGraph original = built->graph, loaded;

    assert_success(wnnContextLoadGraph(context, path, &loaded));
    for (size_t i = 0; i < manifest_case_count(built->manifest); i++) {
        SCOPED(manifest_case_free) struct manifest_case c = {0};
        float *expected[8] = {NULL}, *actual[8] = {NULL};

        assert_done(manifest_case_load(built->manifest, i, &c, &e));
        network_compute(built, &c, expected);
        built->graph = loaded;
        network_compute(built, &c, actual);
        built->graph = original;
        for (size_t k = 0; k < c.output_count; k++) {
            assert_memory_equal(expected[k], actual[k], c.outputs[k].array.byteLength);
            free(expected[k]);
            free(actual[k]);
        }
    }
    wnnGraphRelease(loaded);
}

static void round_trip(const char *name, uint32_t threads)
{
    SCOPED(network_close) struct network n = {0};
    OWNED(context) WNNContext other = NULL;
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    char path[] = "/tmp/webnn-saved-XXXXXX", again[64];

    make_file(path);
    snprintf(again, sizeof again, "%s.again", path);
    network_open(&n, name, threads);
    options.threadCount = threads;
    assert_success(wnnCreateContext(&options, &other));
    assert_success(wnnGraphSave(n.graph, path));
    expect_same(&n, n.context, path);
    expect_same(&n, other, path);

    WNNGraph loaded;
    assert_success(wnnContextLoadGraph(other, path, &loaded));
    assert_success(wnnGraphSave(loaded, again));
    wnnGraphRelease(loaded);
    expect_same(&n, other, again);
    unlink(path);
    unlink(again);
}

TEST(mobilenetv2_is_saved_and_loaded)
{
    round_trip("mobilenetv2", 2);
    round_trip("mobilenetv2", 1);
}

TEST(rnnoise_is_saved_and_loaded)
{
    round_trip("rnnoise", 2);
}

TEST(lenet_is_saved_and_loaded)
{
    round_trip("lenet", 1);
}
