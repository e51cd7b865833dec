/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-run with inputs that have no elements: the cache of a decoder in its first step. */
#include "tools/tool_support.h"

#include "support/protobuf.h"

/** Makes all = Concat(past, new) along the middle axis. */
static struct bytes make_model(void)
{
    struct bytes model = {0}, graph = {0}, node = {0}, axis = {0}, set = {0};

    put_text(&axis, 1, "axis");
    put_int(&axis, 3, 1);
    put_int(&axis, 20, 2);
    put_text(&node, 1, "past");
    put_text(&node, 1, "new");
    put_text(&node, 2, "all");
    put_text(&node, 4, "Concat");
    put_message(&node, 5, &axis);
    put_message(&graph, 1, &node);
    put_text(&graph, 2, "cache");
    put_port(&graph, 11, "past", 1, "1 past_length 2");
    put_port(&graph, 11, "new", 1, "1 length 2");
    put_port(&graph, 12, "all", 1, "1 total 2");
    put_int(&set, 2, 17);
    put_int(&model, 1, 8);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &set);
    return model;
}

static int prepare(void **state)
{
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    struct bytes model = make_model();
    FILE *f;

    if (enter_folder(state) || !(f = fopen("cache.onnx", "wb")))
        return 1;
    fwrite(model.data, 1, model.length, f);
    fclose(f);
    free(model.data);
    write_text("past.raw", "");
    write_array("past.npy", WNNOperandDataType_Float32, 3, (uint32_t[]){1, 0, 2}, numbers);
    write_array("new.npy", WNNOperandDataType_Float32, 3, (uint32_t[]){1, 3, 2}, numbers);
    return 0;
}

TEST(inputs_without_elements_may_be_given_in_any_way)
{
    static const char *const ways[] = {
        "--input past=past.npy",          "--input past=past.npy --random 3",          "--shape past=1x0x2",
        "--dim past_length=0 --random 3", "--dim past_length=0 --input past=past.raw", "--constant past=past.npy"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        runs(0, "", "%s cache.onnx %s --input new=new.npy --compare all=new.npy", WEBNN_RUN, ways[i]);
        assert_not_printed("no output depends on");
    }
    runs(0, "", "%s cache.onnx --input past=past.npy --input new=new.npy --save cache.wnn", WEBNN_RUN);
    runs(0, "", "%s cache.wnn --input past=past.npy --input new=new.npy --compare all=new.npy", WEBNN_RUN);
    runs(1, "did you mean 'past'?", "%s cache.onnx --input pats=past.npy --input new=new.npy", WEBNN_RUN);
}

TEST_GROUP(prepare, leave_folder)
