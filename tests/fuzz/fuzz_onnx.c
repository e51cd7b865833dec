/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reader of ONNX files.  Seeds are made here; files of another folder may be given on the command line before the corpus.
 */
#include "fuzz/fuzz.h"
#include "support/protobuf.h"

/** Returns a constant of int64 or float. */
static struct bytes tensor(const char *name, int type, const void *data, size_t size, int count)
{
    struct bytes t = {0};

    put_int(&t, 1, count);
    put_int(&t, 2, type);
    put_text(&t, 8, name);
    put_bytes(&t, 9, data, size);
    return t;
}

static void put_node(struct bytes *graph, const char *op, const char *a, const char *b, const char *out, const char *attribute,
                     int64_t value)
{
    struct bytes n = {0}, attr = {0};

    put_text(&n, 1, a);
    if (b)
        put_text(&n, 1, b);
    put_text(&n, 2, out);
    put_text(&n, 3, out);
    put_text(&n, 4, op);
    if (attribute) {
        put_text(&attr, 1, attribute);
        put_int(&attr, 3, value);
        put_int(&attr, 20, 2);
        put_message(&n, 5, &attr);
    }
    put_message(graph, 1, &n);
}

void fuzz_seeds(void)
{
    static const float weights[] = {1, 2, 3, 4};
    static const int64_t shape[] = {4, -1};

    for (unsigned opset = 7; opset <= 21; opset += 7) {
        struct bytes graph = {0}, model = {0}, opsets = {0}, part;

        put_node(&graph, "Add", "x", "w", "a", NULL, 0);
        put_node(&graph, "Relu", "a", NULL, "r", NULL, 0);
        put_node(&graph, "Reshape", "r", "s", "b", NULL, 0);
        put_node(&graph, "Softmax", "b", NULL, "y", "axis", 1);
        put_node(&graph, "Shape", "y", NULL, "z", NULL, 0);
        put_text(&graph, 2, "seed");
        part = tensor("w", 1, weights, sizeof weights, 4);
        put_message(&graph, 5, &part);
        part = tensor("s", 7, shape, sizeof shape, 2);
        put_message(&graph, 5, &part);
        put_port(&graph, 11, "x", 1, opset > 20 ? "n 4" : "2 4");
        put_port(&graph, 12, "y", 1, "2 4");
        put_int(&model, 1, 8);
        put_message(&model, 7, &graph);
        put_int(&opsets, 2, opset);
        put_message(&model, 8, &opsets);
        fuzz_seed(model.data, model.length);
        free(model.data);
    }
}

static bool read_onnx(WNNContext context, const char *path, const char *bytes, size_t length,
                      const struct model_options *options, struct model *model, struct error *e)
{
    static const struct model_options none;

    return model_read_onnx(context, path, bytes, length, options ? options : &none, model, e);
}

static bool describe_onnx(const char *path, const char *bytes, size_t length, struct model_description *d, struct error *e)
{
    return model_describe_onnx(path, bytes, length, d, e);
}

static bool read_named(WNNContext context, const char *path, const char *bytes, size_t length,
                       const struct model_options *options, struct model *model, struct error *e)
{
    const struct model_options names = {.named = true};

    if (!model_read_onnx(context, path, bytes, length, &names, model, e))
        return false;
    model_free(model); /* graphs with names have no text */
    return error_set(e, WNNStatus_DataError, "read");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_model(read_onnx, data, size);
    fuzz_model(read_named, data, size);
    fuzz_description(describe_onnx, data, size);
    return 0;
}
