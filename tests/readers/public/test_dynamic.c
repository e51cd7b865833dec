/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A dynamic model builds a graph for each combination of sizes once, keeps as many as it may, and saves them in a folder. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/api.h"
#include "support/context.h"
#include "webnn/webnn_model.h"

static const char text[] = "webnn_graph \"double\" v2 {\n"
                           "  inputs { x: f32[dyn(\"n\", 64), dyn(\"m\", 8)]; }\n"
                           "  nodes { y = add(x, x); }\n"
                           "  outputs { y; }\n"
                           "}\n";

static WNNDynamicModel create(const char *model, const WNNDynamicModelOptions *options)
{
    WNNDynamicModel made;

    if (wnnDynamicModelCreateFromMemory(context, model, strlen(model), options, &made))
        fail_msg("%s", wnnModelGetLastErrorMessage().data);
    return made;
}

/** Returns the graph for n x m. */
static WNNGraph get(WNNDynamicModel model, uint32_t n, uint32_t m)
{
    const WNNModelDimension dimensions[] = {{WNN_STR("n"), n}, {WNN_STR("m"), m}};
    WNNGraph graph;

    if (wnnDynamicModelGetGraph(model, 2, dimensions, 0, NULL, &graph))
        fail_msg("%s", wnnModelGetLastErrorMessage().data);
    return graph;
}

/** Gets the graph for n x 2, computes it, and gives it back. */
static void compute(WNNDynamicModel model, uint32_t n)
{
    float x[128], y[128];
    const WNNNamedBuffer in = {WNN_STR("x"), x, n * 2 * sizeof *x}, out = {WNN_STR("y"), y, n * 2 * sizeof *y};
    OWNED(compiled) WNNGraph graph = get(model, n, 2);

    for (uint32_t i = 0; i < 2 * n; i++)
        x[i] = (float)i;
    assert_int_equal(wnnGraphCompute(graph, 1, &in, 1, &out), WNNStatus_Success);
    for (uint32_t i = 0; i < 2 * n; i++)
        assert_true(y[i] == 2 * x[i]);
}

static void expect_counts(WNNDynamicModel model, uint64_t found, uint64_t built, uint64_t loaded, uint64_t evicted)
{
    WNNDynamicModelCounts c;

    wnnDynamicModelGetCounts(model, &c);
    assert_int_equal(c.found, found);
    assert_int_equal(c.built, built);
    assert_int_equal(c.loaded, loaded);
    assert_int_equal(c.evicted, evicted);
}

TEST(sizes_that_come_to_the_same_share_a_graph)
{
    const uint32_t sizes[2] = {3, 2};
    const WNNModelShape shape = {WNN_STR("x"), 2, sizes};
    WNNDynamicModel model = create(text, NULL);
    OWNED(compiled) WNNGraph by_name = NULL;
    WNNGraph by_shape, other;

    assert_int_equal(wnnModelInfoGetFreeDimensionCount(wnnDynamicModelGetInfo(model)), 2);
    by_name = get(model, 3, 2);
    assert_int_equal(wnnDynamicModelGetGraph(model, 0, NULL, 1, &shape, &by_shape), WNNStatus_Success);
    assert_ptr_equal(by_name, by_shape);
    other = get(model, 2, 3);
    assert_ptr_not_equal(by_name, other);
    expect_counts(model, 1, 2, 0, 0);
    wnnGraphRelease(by_shape);
    wnnGraphRelease(other);
    wnnDynamicModelAddRef(model);
    wnnDynamicModelRelease(model);
    wnnDynamicModelClear(model);
    compute(model, 3); /* is built again */
    expect_counts(model, 1, 3, 0, 0);
    wnnDynamicModelRelease(model);
    assert_int_equal(wnnGraphGetInputCount(by_name), 1); /* graphs outlive the model */
}

TEST(the_graph_of_longest_ago_goes_first)
{
    WNNDynamicModelOptions o = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNDynamicModelCounts counts;

    o.graphLimit = 2;
    OWNED(dynamic_model) WNNDynamicModel model = create(text, &o);
    compute(model, 1);
    compute(model, 2);
    compute(model, 1);
    compute(model, 3); /* 2 goes */
    expect_counts(model, 1, 3, 0, 1);
    compute(model, 1);
    expect_counts(model, 2, 3, 0, 1);
    compute(model, 2);
    expect_counts(model, 2, 4, 0, 2);
    wnnDynamicModelGetCounts(model, &counts);
    assert_int_equal(counts.held, 2);
}

static void expect_refusal(WNNDynamicModel model, const WNNModelDimension *dimension, const WNNModelShape *shape,
                           WNNStatus expected, const char *what)
{
    WNNGraph graph;

    assert_int_equal(wnnDynamicModelGetGraph(model, dimension != NULL, dimension, shape != NULL, shape, &graph), expected);
    assert_null(graph);
    if (!strstr(wnnModelGetLastErrorMessage().data, what))
        fail_msg("'%s' does not say '%s'", wnnModelGetLastErrorMessage().data, what);
}

TEST(sizes_that_do_not_fit_are_refused)
{
    const uint32_t zero[2] = {0, 2}, two[2] = {3, 2}, three[3] = {3, 2, 1};
    OWNED(dynamic_model) WNNDynamicModel model = create(text, NULL);

    expect_refusal(model, &(WNNModelDimension){WNN_STR("q"), 1}, NULL, WNNStatus_TypeError, "called 'q'; there are 'n'");
    expect_refusal(model, &(WNNModelDimension){WNN_STR("n"), 65}, NULL, WNNStatus_TypeError, "at most 64");
    expect_refusal(model, &(WNNModelDimension){WNN_STR("n"), 4}, &(WNNModelShape){WNN_STR("x"), 2, two}, WNNStatus_TypeError,
                   "is given as 4 and as 3");
    expect_refusal(model, NULL, &(WNNModelShape){WNN_STR("z"), 2, two}, WNNStatus_TypeError,
                   "there is no input 'z'; there are 'x'");
    expect_refusal(model, NULL, &(WNNModelShape){WNN_STR("x"), 3, three}, WNNStatus_TypeError,
                   "'x' has the shape [n, m], the shape given for it [3, 2, 1]");
    expect_refusal(model, &(WNNModelDimension){WNN_STR("n"), 4}, NULL, WNNStatus_DataError, "dimension \"m\"");
    expect_refusal(model, NULL, &(WNNModelShape){WNN_STR("x"), 2, zero}, WNNStatus_DataError, "input \"x\" has size 0");
    expect_counts(model, 0, 0, 0, 0);
    compute(model, 4); /* a failure leaves nothing behind */
}

TEST(options_are_the_same_for_all_graphs)
{
    WNNModelDimension m = {WNN_STR("m"), 2};
    const WNNModelDimension n = {WNN_STR("n"), 5};
    WNNModelOptions every = WNN_MODEL_OPTIONS_INIT;
    WNNDynamicModelOptions o = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNNamedOperandDescriptor input;
    WNNGraph graph;

    o.model = &every;
    every.dimensionCount = 1;
    every.dimensions = &m;
    WNNDynamicModel model = create(text, &o);
    m = (WNNModelDimension){WNN_STR("gone"), 7}; /* the options were copied */
    assert_int_equal(wnnDynamicModelGetGraph(model, 1, &n, 0, NULL, &graph), WNNStatus_Success);
    assert_int_equal(wnnGraphGetInput(graph, 0, &input), WNNStatus_Success);
    assert_int_equal(input.descriptor.shape[0], 5);
    assert_int_equal(input.descriptor.shape[1], 2);
    wnnGraphRelease(graph);
    wnnDynamicModelRelease(model);
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_TypeError);
    assert_null(model);
    assert_int_equal(offsetof(WNNDynamicModelOptions, folder) + sizeof o.folder,
                     32); /* the first version's size, which stays */
    every = (WNNModelOptions)WNN_MODEL_OPTIONS_INIT;
    every.nameCount = 1;
    every.names = (WNNDimension[]){{WNN_STR("n"), 1, 8}, {WNN_STR("n"), 2, 8}};
    model = create(text, &o);
    expect_refusal(model, &(WNNModelDimension){WNN_STR("n"), 9}, NULL, WNNStatus_TypeError, "'n' is 9; its bounds are 1 and 8");
    wnnDynamicModelRelease(model);
    every.nameCount = 2;
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_TypeError);
    every.names = &(WNNDimension){WNN_STR("n"), 5, 3};
    every.nameCount = 1;
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_TypeError);
    o.structSize = 8;
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_TypeError);
    assert_int_equal(wnnDynamicModelCreate(context, "/nowhere/x.onnx", NULL, &model), WNNStatus_DataError);
}

static bool end_at_once(WNNBuildStage stage, uint32_t done, uint32_t total, void *userdata1, void *userdata2)
{
    return !++*(int *)userdata1;
}

TEST(a_build_can_be_ended)
{
    WNNDynamicModelOptions o = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    const WNNModelDimension dimensions[] = {{WNN_STR("n"), 1}, {WNN_STR("m"), 2}};
    WNNGraph graph;
    int calls = 0;

    o.progress = (WNNBuildProgressCallbackInfo){end_at_once, &calls, NULL};
    OWNED(dynamic_model) WNNDynamicModel model = create(text, &o);
    assert_int_equal(wnnDynamicModelGetGraph(model, 2, dimensions, 0, NULL, &graph), WNNStatus_OperationError);
    assert_null(graph);
    assert_int_equal(calls, 1);
    expect_counts(model, 0, 0, 0, 0);
}

/* ---- threads ---- */

static void *ask_again_and_again(void *model)
{
    for (uint32_t i = 0; i < 30; i++)
        compute(model, 1 + i % 3);
    return NULL;
}

TEST(threads_that_ask_for_one_graph_build_it_once)
{
    enum { THREADS = 4 };
    OWNED(dynamic_model) WNNDynamicModel model = create(text, NULL);

    run_on_threads(THREADS, ask_again_and_again, model, 0);
    expect_counts(model, THREADS * 30 - 3, 3, 0, 0);
}

/* ---- folders ---- */

/** Calls a function for each file in a folder.  Returns how many there are. */
static int each_file(const char *folder, void (*call)(const char *path))
{
    DIR *open = opendir(folder);
    char path[400];
    int count = 0;

    assert_non_null(open);
    for (struct dirent *e; (e = readdir(open));) {
        if (*e->d_name == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        count++;
        if (call)
            call(path);
    }
    closedir(open);
    return count;
}

static void damage(const char *path)
{
    assert_int_equal(truncate(path, 100), 0);
}

static void remove_file(const char *path)
{
    unlink(path);
}

static uint64_t sizes_sum;

static void add_size(const char *path)
{
    struct stat s;

    assert_int_equal(stat(path, &s), 0);
    sizes_sum += (uint64_t)s.st_size;
}

/** Computes a model for n x 2 up to last x 2 with graphs saved in a folder below a limit, each time in a context with another
 * number of threads.  Returns how many were found there. */
static uint64_t found_in(const char *folder, const char *model_text, uint32_t n, uint32_t last, uint64_t limit)
{
    WNNDynamicModelOptions o = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNDynamicModelCounts counts;
    static WNNContextOptions c = WNN_CONTEXT_OPTIONS_INIT;
    const WNNContext usual = context;

    c.threadCount = c.threadCount % 3 + 1;
    context = context_with(&c);
    o.folder = folder;
    o.folderLimit = limit;
    OWNED(dynamic_model) WNNDynamicModel model = create(model_text, &o);
    wnnContextRelease(context);
    context = usual;
    for (uint32_t i = n; i <= last; i++)
        compute(model, i);
    wnnDynamicModelGetCounts(model, &counts);
    assert_int_equal(counts.built + counts.loaded, last - n + 1);
    assert_int_equal(limit == 1 ? counts.unsaved : counts.saved, counts.built);
    return counts.loaded;
}

TEST(graphs_are_saved_and_found_again)
{
    char place[] = "/tmp/webnn-dynamic-XXXXXX", folder[64], *other = strdup(text);

    assert_non_null(mkdtemp(place));
    snprintf(folder, sizeof folder, "%s/graphs", place);
    assert_int_equal(found_in(folder, text, 1, 2, 0), 0);
    assert_int_equal(found_in(folder, text, 1, 2, 0), 2);
    assert_int_equal(each_file(folder, NULL), 2);
    *strstr(other, "double") = 'D'; /* another model has files of its own */
    assert_int_equal(found_in(folder, other, 1, 2, 0), 0);
    assert_int_equal(each_file(folder, damage), 4);
    assert_int_equal(found_in(folder, text, 1, 2, 0), 0); /* what cannot be loaded is built and replaced */
    assert_int_equal(found_in(folder, text, 1, 2, 0), 2);
    each_file(folder, remove_file);
    rmdir(folder);
    rmdir(place);
    free(other);
}

TEST(a_folder_keeps_the_graphs_that_were_used_last)
{
    char folder[] = "/tmp/webnn-dynamic-XXXXXX";

    assert_non_null(mkdtemp(folder));
    assert_int_equal(found_in(folder, text, 1, 3, 0), 0);
    assert_int_equal(found_in(folder, text, 1, 1, 0), 1);
    sizes_sum = 0;
    assert_int_equal(each_file(folder, add_size), 3);
    assert_int_equal(found_in(folder, text, 4, 4, sizes_sum), 0); /* with it there are four, which are more than the limit */
    assert_true(each_file(folder, NULL) < 4);
    assert_int_equal(found_in(folder, text, 4, 4, 0), 1);
    assert_int_equal(found_in(folder, text, 1, 2, 0), 1); /* 2 is gone */
    const int files = each_file(folder, NULL);
    assert_int_equal(found_in(folder, text, 5, 5, 1), 0); /* one that has no room itself takes none from others */
    assert_int_equal(each_file(folder, remove_file), files);
    rmdir(folder);
}

TEST(a_folder_of_others_is_refused)
{
    char folder[] = "/tmp/webnn-dynamic-XXXXXX";
    WNNDynamicModelOptions o = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
    WNNDynamicModel model;

    assert_non_null(mkdtemp(folder));
    chmod(folder, 0777);
    o.folder = folder;
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_TypeError);
    assert_non_null(strstr(wnnModelGetLastErrorMessage().data, "can be written to by others"));
    rmdir(folder);
    o.folder = "/nowhere/at/all";
    assert_int_equal(wnnDynamicModelCreateFromMemory(context, text, sizeof text - 1, &o, &model), WNNStatus_TypeError);
    assert_null(model);
}

TEST_GROUP(create_context, release_context)
