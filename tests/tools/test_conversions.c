/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values that webnn-run converts to what a model takes: arrays of other types, and numbers on the command line. */
#include <zip.h>

#include "support/protobuf.h"
#include "tools/tool_support.h"
#include "frontend/readers/files/npz.h"

static const float six[6] = {1, -2, 3, 0.25f, 1e-3f, 100};

static int prepare(void **state)
{
    if (enter_folder(state))
        return 1;
    write_text("sum.webnn",
               "webnn_graph \"sum\" v1 { inputs { x: f32[2, 3]; } nodes { twice = add(x, x); } outputs { twice; } }");
    write_text("whole.webnn", "webnn_graph \"whole\" v1 { inputs { n: i64[3]; } nodes { m = neg(n); } outputs { m; } }");
    write_text("scalar.webnn",
               "webnn_graph \"scalar\" v1 { inputs { x: f32[1, 1]; } nodes { y = add(x, x); } outputs { y; } }");
    return 0;
}

/** Inputs of another type than the model takes are converted, with a note; numbers on the command line are constants. */
TEST(other_types_are_converted)
{
    static const int32_t small[3] = {1, -2, 3};
    static const double columns[6] = {1, 0.25, -2, 1e-3, 3, 100}; /* six, column by column */
    char bytes[128 + sizeof columns];

    memcpy(bytes, "\x93NUMPY\x01\0\x76\0", 10);
    snprintf(bytes + 10, 119, "%-118s", "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }");
    memcpy(bytes + 128, columns, sizeof columns);
    assert_true(file_write("wide.npy", bytes, sizeof bytes, NULL));
    if (run("%s sum.webnn --input x=wide.npy --output twice=twice.npy --compare twice=twice.npy", WEBNN_RUN))
        fail_msg("%s", printed);
    assert_printed("note: input 'x': wide.npy is of type float64, converted to float32");
    OWNED(memory) float *y = read_floats("twice.npy", 6);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == 2 * six[i]);
    write_array("small.npy", WNNOperandDataType_Int32, 1, (uint32_t[]){3}, small);
    runs(0, "note: input 'n': small.npy is of type int32, converted to int64", "%s whole.webnn --input n=small.npy", WEBNN_RUN);
    assert_printed("  -1 2 -3\n");
    runs(0, "note: the constant given for input 'n' is int32, converted to int64", "%s whole.webnn --constant n=small.npy",
         WEBNN_RUN);
    write_text("bytes3.webnn", "webnn_graph \"b\" v1 { inputs { n: u8[3]; } nodes { m = identity(n); } outputs { m; } }");
    runs(1, "input 'n': small.npy is of type int32, the model takes uint8: element 1 is -2, which uint8 cannot hold",
         "%s bytes3.webnn --input n=small.npy", WEBNN_RUN);
}

/** An array of float64 in an archive is told like one in a file of its own. */
TEST(float64_in_an_archive_is_told)
{
    static const double rows[6] = {1, 2, 3, 4, 5, 6};
    char bytes[128 + sizeof rows];
    int code;
    zip_t *archive = zip_open("wide.npz", ZIP_CREATE, &code);

    assert_non_null(archive);
    memcpy(bytes, "\x93NUMPY\x01\0\x76\0", 10);
    snprintf(bytes + 10, 119, "%-118s", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
    memcpy(bytes + 128, rows, sizeof rows);
    assert_true(zip_file_add(archive, "x.npy", zip_source_buffer(archive, bytes, sizeof bytes, 0), 0) >= 0);
    assert_int_equal(zip_close(archive), 0);
    if (run("%s sum.webnn --input x=wide.npz", WEBNN_RUN))
        fail_msg("%s", printed);
    assert_printed("note: input 'x': wide.npz is of type float64, converted to float32");
    assert_printed("  2 4 6 8 10 12\n");
}

TEST(numbers_are_constants_without_a_file)
{
    runs(0, "  -9007199254740993 2 0\n", "%s whole.webnn --constant n=9007199254740993,-2,0", WEBNN_RUN);
    assert_not_printed("note:");
    runs(0, "", "%s scalar.webnn --constant x=0.25", WEBNN_RUN); /* a shape of one element, float32 */
    assert_printed("output 'y' float32 [1, 1]: min 0.5");
    runs(0, "output 'y' float32 [1, 1]: min 2", "%s scalar.webnn --constant x=true", WEBNN_RUN);
}

/** Writes y = Reshape(x, shape), with both as inputs. */
static void write_reshape(const char *path)
{
    struct bytes model = {0}, graph = {0}, node = {0}, set = {0};

    put_text(&node, 1, "x");
    put_text(&node, 1, "shape");
    put_text(&node, 2, "y");
    put_text(&node, 4, "Reshape");
    put_message(&graph, 1, &node);
    put_port(&graph, 11, "x", 1, "6");
    put_port(&graph, 11, "shape", 7, "2");
    put_port(&graph, 12, "y", 1, NULL);
    put_int(&set, 2, 17);
    put_int(&model, 1, 8);
    put_message(&model, 7, &graph);
    put_message(&model, 8, &set);
    assert_true(file_write(path, model.data, model.length, NULL));
    free(model.data);
}

/** A value that the model has to know is read from the archive; if it cannot be, that is told, and nothing else. */
TEST(a_damaged_value_is_told_once)
{
    static int64_t shape[2] = {2, 3};
    struct npz_entry entry = {(char *)"shape", {WNNOperandDataType_Int64, 1, {2}, sizeof shape, shape, false}};
    char *bytes, *line;
    size_t length;

    write_reshape("reshape.onnx");
    assert_true(npz_write("shape.npz", &entry, 1, NULL));
    if (run("%s reshape.onnx --input shape=shape.npz", WEBNN_RUN))
        fail_msg("%s", printed);
    assert_printed("the graph is for this value of input 'shape' only");
    assert_true(file_read("shape.npz", &bytes, &length, NULL));
    for (size_t i = 0; i + sizeof shape <= length; i++)
        if (!memcmp(bytes + i, shape, sizeof shape))
            bytes[i] = 3; /* the sum of the archive is another one */
    assert_true(file_write("shape.npz", bytes, length, NULL));
    free(bytes);
    runs(1, "webnn-run: shape.npz: 'shape.npy' cannot be read, or is damaged\n", "%s reshape.onnx --input shape=shape.npz",
         WEBNN_RUN);
    line = strchr(printed, '\n');
    assert_true(line && !line[1]);
}

TEST_GROUP(prepare, leave_folder)
