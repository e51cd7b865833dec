/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values that webnn-run converts to what a model takes: arrays of other types, and numbers on the command line. */
#include <zip.h>

#include "tools/tool_support.h"

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

/** What is given in another type than the model takes is converted, with a note; numbers on the command line are constants. */
TEST(other_types_are_converted)
{
    static const int32_t small[3] = {1, -2, 3};
    static const double columns[6] = {1, 0.25, -2, 1e-3, 3, 100}; /* six, column by column */
    struct error e = {0};
    char bytes[128 + sizeof columns];
    float *y;

    memcpy(bytes, "\x93NUMPY\x01\0\x76\0", 10);
    snprintf(bytes + 10, 119, "%-118s", "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }");
    memcpy(bytes + 128, columns, sizeof columns);
    assert_true(file_write("wide.npy", bytes, sizeof bytes, &e));
    if (run("%s sum.webnn --input x=wide.npy --output twice=twice.npy --compare twice=twice.npy", WEBNN_RUN))
        fail_msg("%s", printed);
    assert_printed("note: input 'x': wide.npy is of type float64, converted to float32");
    y = read_floats("twice.npy", 6);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == 2 * six[i]);
    free(y);
    write_array("small.npy", WNNOperandDataType_Int32, 1, (uint32_t[]){3}, small);
    assert_int_equal(run("%s whole.webnn --input n=small.npy", WEBNN_RUN), 0);
    assert_printed("note: input 'n': small.npy is of type int32, converted to int64");
    assert_printed("  -1 2 -3\n");
    assert_int_equal(run("%s whole.webnn --constant n=small.npy", WEBNN_RUN), 0);
    assert_printed("note: the constant given for input 'n' is int32, converted to int64");
    write_text("bytes3.webnn", "webnn_graph \"b\" v1 { inputs { n: u8[3]; } nodes { m = identity(n); } outputs { m; } }");
    assert_int_equal(run("%s bytes3.webnn --input n=small.npy", WEBNN_RUN), 1);
    assert_printed("input 'n': small.npy is of type int32, the model takes uint8: element 1 is -2, which uint8 cannot hold");
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
    assert_int_equal(run("%s whole.webnn --constant n=9007199254740993,-2,0", WEBNN_RUN), 0);
    assert_printed("  -9007199254740993 2 0\n");
    assert_not_printed("note:");
    assert_int_equal(run("%s scalar.webnn --constant x=0.25", WEBNN_RUN), 0); /* a shape of one element, float32 */
    assert_printed("output 'y' float32 [1, 1]: min 0.5");
    assert_int_equal(run("%s scalar.webnn --constant x=true", WEBNN_RUN), 0);
    assert_printed("output 'y' float32 [1, 1]: min 2");
}

TEST_GROUP(prepare, leave_folder)
