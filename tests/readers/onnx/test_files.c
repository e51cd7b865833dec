/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ONNX reader on what a file can have wrong, on weights in the file, and on weights in a file next to it.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/builder/builder.h"
#include "readers/onnx/net.h"
#include "support/folder.h"

static void external(struct net *t, Onnx__TensorProto *p, const char *location, const char *offset, const char *length)
{
    const char *entries[3][2] = {{"location", location}, {"offset", offset}, {"length", length}};

    p->has_raw_data = 0;
    p->has_data_location = 1;
    p->data_location = 1;
    p->n_external_data = 0;
    p->external_data = keep(t, 3 * sizeof *p->external_data);
    for (size_t i = 0; i < 3; i++)
        if (entries[i][1]) {
            Onnx__StringStringEntryProto *e = keep(t, sizeof *e);

            onnx__string_string_entry_proto__init(e);
            e->key = text(t, entries[i][0]);
            e->value = text(t, entries[i][1]);
            p->external_data[p->n_external_data++] = e;
        }
}

/* Of y = (x . w) . transpose(v) + c, in every way: packed, folded, read by a kernel. */
enum { LARGE_ROWS = 256, LARGE_IN = 64, LARGE_MIDDLE = 512 };

static void large_net(struct net *t, const char *name, const float *w, const float *v, const float *c)
{
    char matmul[80];

    start(t, 17);
    input(t, "x", F32, "256 64");
    initializer(t, tensor(t, name, F32, 2, (int64_t[]){LARGE_IN, LARGE_MIDDLE}, w, LARGE_IN * LARGE_MIDDLE * sizeof *w));
    initializer(t, tensor(t, "v", F32, 2, (int64_t[]){LARGE_IN, LARGE_MIDDLE}, v, LARGE_IN * LARGE_MIDDLE * sizeof *v));
    initializer(t, tensor(t, "c", F32, 2, (int64_t[]){LARGE_ROWS, LARGE_IN}, c, LARGE_ROWS * LARGE_IN * sizeof *c));
    snprintf(matmul, sizeof matmul, "x %s", name);
    node(t, "MatMul", matmul, "a");
    nodes_in(t, &t->graph, "u = Transpose v; b = MatMul a u; y = Add b c");
}

TEST(large_weights_stay_in_the_file)
{
    static const char *const names[] = {"w", "ww", "www", "wwww"}; /* which moves the bytes after it */
    static const char *const offsets[] = {"0", "1", "2", "3"};
    static float w[LARGE_IN * LARGE_MIDDLE], v[LARGE_IN * LARGE_MIDDLE], c[LARGE_ROWS * LARGE_IN], x[LARGE_ROWS * LARGE_IN];
    static float y[LARGE_ROWS * LARGE_IN], same[LARGE_ROWS * LARGE_IN];
    static char external_bytes[sizeof w + 3];

    for (int i = 0; i < LARGE_IN * LARGE_MIDDLE; i++) { /* so small that sums are exact */
        w[i] = (float)(i * 7 % 5 - 2);
        v[i] = (float)(i * 11 % 7 - 3);
    }
    for (int i = 0; i < LARGE_ROWS * LARGE_IN; i++) {
        x[i] = (float)(i * 3 % 4 - 1);
        c[i] = (float)(i % 1000);
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t size;

        large_net(t, names[k], w, v, c);
        computes(x, same); /* from memory that is gone afterwards */
        OWNED(memory) uint8_t *bytes = pack(t, &size);
        write_bytes("model.onnx", bytes, size);
        model_free(&t->read);
        assert_works(model_read(context, "model.onnx", NULL, &t->read, &t->error), &t->error);
        unlink("model.onnx"); /* the mapping stays */
        memset(y, 0, sizeof y);
        compute(t, x, sizeof x, y, sizeof y);
        assert_memory_equal(y, same, sizeof y);
        /* The first one in a file next to the model, at an odd place. */
        memcpy(external_bytes + k, w, sizeof w);
        write_bytes("w.bin", external_bytes, sizeof external_bytes);
        t->graph.initializer[0]->has_raw_data = 0;
        external(t, t->graph.initializer[0], "w.bin", offsets[k], NULL);
        reads(t, NULL);
        unlink("w.bin");
        memset(y, 0, sizeof y);
        compute(t, x, sizeof x, y, sizeof y);
        assert_memory_equal(y, same, sizeof y);
        for (int r = 0; r < LARGE_ROWS; r += 51)
            for (int o = 0; o < LARGE_IN; o += 9) {
                double want = c[r * LARGE_IN + o];

                for (int m = 0; m < LARGE_MIDDLE; m++) {
                    double a = 0;

                    for (int i = 0; i < LARGE_IN; i++)
                        a += (double)x[r * LARGE_IN + i] * w[i * LARGE_MIDDLE + m];
                    want += a * v[o * LARGE_MIDDLE + m];
                }
                assert_true(y[r * LARGE_IN + o] == want);
            }
    }
}

/* Large ones of bfloat16, float8 and fewer bits are constants of as many bits; small ones, and values that the reader asks for,
 * float32 or bytes. */
TEST(weights_of_few_bits_stay_in_the_file)
{
    enum { IN = 256, OUT = 1024, ROWS = 2 };
    static const struct {
        int type, bits, numbers[3]; /* the bits of 0, 1 and -1 */
        const char *node;
        dtype stored;
        int zero;
    } types[] = {{16, 16, {0, 0x3F80, 0xBF80}, "f = Cast w; one = Cast c", DTYPE_BFLOAT16, 0},
                 {17, 8, {0, 0x38, 0xB8}, "f = Cast w; one = Cast c", DTYPE_FLOAT8E4M3, 0},
                 {19, 8, {0, 0x3C, 0xBC}, "f = Cast w; one = Cast c", DTYPE_FLOAT8E5M2, 0},
                 {21, 4, {9, 10, 8}, "f = DequantizeLinear w s z; one = DequantizeLinear c s z", DTYPE_UINT4, 9},
                 {22, 4, {0, 1, 15}, "f = DequantizeLinear w s; one = DequantizeLinear c s", DTYPE_UINT4, 0},
                 {25, 2, {1, 2, 0}, "f = DequantizeLinear w s z; one = DequantizeLinear c s z", DTYPE_UINT2, 1},
                 {26, 2, {3, 0, 2}, "f = DequantizeLinear w s z; one = DequantizeLinear c s z", DTYPE_UINT2, 3}};
    static uint16_t w[IN * OUT];
    static float x[ROWS * IN], y[ROWS * OUT];

    for (int i = 0; i < ROWS * IN; i++)
        x[i] = (float)(i * 3 % 4 - 1);
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        size_t size;

        const int bits = types[k].bits;
        memset(w, 0, sizeof w);
        for (int i = 0; i < IN * OUT; i++)
            w[i * bits / 16] |= (uint16_t)(types[k].numbers[i % 3] << i * bits % 16);
        start(t, bits < 8 ? 25 : 19);
        input(t, "x", F32, "2 256");
        initializer(t, tensor(t, "w", types[k].type, 2, (int64_t[]){IN, OUT}, w, (size_t)IN * OUT * (size_t)bits / 8));
        initializer(t, tensor(t, "c", types[k].type, 1, (int64_t[]){1}, &types[k].numbers[1], bits == 16 ? 2 : 1));
        initializer(t, tensor(t, "z", types[k].type, 0, NULL, &types[k].zero, bits == 16 ? 2 : 1));
        initializer(t, tensor(t, "s", F32, 0, NULL, &(float){1}, sizeof(float)));
        nodes_in(t, &t->graph, types[k].node);
        for (size_t i = 0; bits >= 8 && i < 2; i++)
            attribute_int(t, t->graph.node[i], "to", F32);
        nodes_in(t, &t->graph, "b = MatMul x f; y = Mul b one");
        OWNED(memory) uint8_t *bytes = pack(t, &size);
        write_bytes("model.onnx", bytes, size);
        assert_works(model_read(context, "model.onnx", NULL, &t->read, &t->error), &t->error);
        const struct value *c = t->read.builder->graph->first_constant;
        while (c && c->type.type != types[k].stored)
            c = c->next_constant;
        assert_true(c && c->type.rank == 2);
        compute(t, x, sizeof x, y, sizeof y);
        for (int r = 0; r < ROWS; r++)
            for (int o = 0; o < OUT; o++) {
                float want = 0;
                for (int i = 0; i < IN; i++)
                    want += x[r * IN + i] * (float)((i * OUT + o) % 3 == 2 ? -1 : (i * OUT + o) % 3);
                assert_true(y[r * OUT + o] == want);
            }
        model_free(&t->read);
    }
}

TEST(weights_next_to_the_model)
{
    static const float numbers[4] = {1, 2, 3, 4}, x[2] = {10, 20};
    Onnx__TensorProto *w;
    float y[2];

    assert_int_equal(mkdir("model", 0700), 0);
    assert_int_equal(mkdir("model2", 0700), 0); /* begins like the model's folder */
    write_bytes("model/w.bin", numbers, sizeof numbers);
    write_bytes("model2/w.bin", numbers, sizeof numbers);
    write_bytes("secret.bin", numbers, sizeof numbers);
    assert_int_equal(symlink("../secret.bin", "model/link.bin"), 0);

    t->path = "model/model.onnx";
    input(t, "x", F32, "2");
    w = initializer(t, tensor(t, "w", F32, 1, (int64_t[]){2}, NULL, 0));
    node(t, "Add", "x w", "y");
    external(t, w, "w.bin", "8", "8");
    computes(x, y);
    assert_true(y[0] == 13 && y[1] == 24);
    external(t, w, "./w.bin", NULL, NULL);
    reads(t, NULL);
    const struct {
        const char *location, *offset, *length, *reason;
    } wrong[] = {
        {"./../model/w.bin", NULL, NULL, "leads out of the model's folder"}, /* comes back, but was outside */
        {"w.bin", "9", "8", "8 bytes at offset 9 of \"w.bin\", which has 16"},
        {"w.bin", "18446744073709551615", NULL, "is not a size"},
        {"w.bin", "9223372036854775807", NULL, "8 bytes at offset"},
        {"w.bin", "-8", NULL, "is not a size"},
        {"w.bin", "0", "12", "its shape needs 8 bytes, external data have 12"},
        {"../secret.bin", NULL, NULL, "leads out of the model's folder"},
        {"../model2/w.bin", NULL, NULL, "leads out of the model's folder"},
        {"link.bin", NULL, NULL, "leads out of the model's folder"},
        {"/secret.bin", NULL, NULL, "not relative"},
        {".", NULL, NULL, "external data \".\""},
        {"absent.bin", NULL, NULL, strerror(ENOENT)},
        {NULL, NULL, NULL, "without a location"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        external(t, w, wrong[i].location, wrong[i].offset, wrong[i].length);
        refused(t, NULL, wrong[i].reason);
    }
}

TEST(sizes_in_tensors_are_checked)
{
    static const float w[4];

    input(t, "x", F32, "2");
    Onnx__TensorProto *p = initializer(t, tensor(t, "w", F32, 2, (int64_t[]){2, 2}, w, sizeof w));
    node(t, "Add", "x w", "y");
    reads(t, NULL);
    p->raw_data.len = 15;
    refused(t, NULL, "initializer \"w\": its shape needs 16 bytes, the file has 15");
    p->raw_data.len = 16;
    p->dims[0] = -2;
    refused(t, NULL, "negative size");
    p->dims[0] = p->dims[1] = INT64_C(1) << 33;
    refused(t, NULL, "2^31-1");
    p->dims[0] = p->dims[1] = 65536;
    refused(t, NULL, "2^31-1");
    p->dims[0] = p->dims[1] = 2;
    p->has_raw_data = 0;
    refused(t, NULL, "its shape needs 4 elements, the file has 0");
    p->data_type = 99;
    refused(t, NULL, "is of type an unknown type");
    t->graph.input[0]->type->tensor_type->shape->dim[0]->dim_value = INT64_MAX;
    refused(t, NULL, "dimension 0 is 9223372036854775807");
}

/** Constants that a small file asks for, but does not hold: all of them together are limited, before memory is asked for. */
TEST(memory_for_constants_is_limited)
{
    enum { FIRST = 8 << 20 }; /* 64 MiB of 256 */

    input(t, "x", I64, "1");
    integer(t, "zero", 0);
    integer(t, "one", 1);
    integer(t, "some", FIRST);
    integer(t, "most", (1 << 27) - FIRST / 2);
    nodes_in(t, &t->graph, "a = Range zero some one; y = Gather a x");
    reads(t, NULL);
    node(t, "Range", "zero most one", "b");
    output(t, "y b");
    refused(t, NULL, "memory for what the model says would take 260046848 operations, and 1678");
}

TEST(versions_are_checked)
{
    net(99, "x 2", "y = Relu x");
    refused(t, NULL, "operator set 99");
    t->opset.version = -1;
    refused(t, NULL, "operator set -1");
    t->model.n_opset_import = 0;
    refused(t, NULL, "does not say which operator set");
    t->model.n_opset_import = 1;
    t->opset.version = 17;
    t->graph.n_output = 0;
    refused(t, NULL, "no outputs");
    t->model.graph = NULL;
    refused(t, NULL, "holds no graph");
}

/** Since version 28 both have modes, in which they undo each other. */
TEST(depth_to_space_and_back_in_either_mode)
{
    static const char *const modes[] = {"DCR", "CRD"};
    float x[32], y[32];

    for (int i = 0; i < 32; i++)
        x[i] = (float)i;
    for (int k = 0; k < 4; k++) {
        net(28, "x 1 8 2 2", "s = DepthToSpace x, blocksize 2; y = SpaceToDepth s, blocksize 2");
        for (int i = 0; i < 2; i++)
            attribute_text(t, t->graph.node[i], "mode", modes[i ? k / 2 : k % 2]);
        computes(x, y);
        assert_int_equal(memcmp(x, y, sizeof x) == 0, k / 2 == k % 2);
    }
}

/** A graph in an attribute in a node in a graph, and so on: protobuf-c would recurse as deep. */
TEST(deep_nesting_does_not_overflow)
{
    enum { LEVELS = 300000 };
    /* From the inside out; lengths as varints of 4 bytes. */
    size_t size = 0, room = (size_t)LEVELS * 15 + 5;
    uint8_t *bytes = malloc(room), *at = bytes + room;
    static const uint8_t keys[] = {0x32, 0x2A, 0x0A}; /* attribute.g in node.attribute in graph.node */
    struct error e = {0};
    struct model m;

    assert_non_null(bytes);
    for (int i = 0; i <= LEVELS * 3; i++, size += 5) {
        *--at = (uint8_t)(size >> 21 & 0x7F);
        for (int shift = 14; shift >= 0; shift -= 7)
            *--at = (uint8_t)(size >> shift & 0x7F) | 0x80;
        *--at = i < LEVELS * 3 ? keys[i % 3] : 0x3A; /* model.graph */
    }
    assert_false(model_read_onnx(context, "deep.onnx", at, size, NULL, &m, &e));
    assert_non_null(strstr(e.message, "too deep"));
    free(bytes);
}

/** Every truncation and a flip of every byte of a file with a little of everything: an error or a model, never a crash. */
TEST(damaged_files_are_refused)
{
    static const float w[4] = {1, 2, 3, 4};
    uint8_t *bytes, *copy;
    size_t size;

    net(17, "x 2 2", "a = Add x w; b = Reshape a shape; y = Loop trips - b");
    initializer(t, tensor(t, "w", F32, 2, (int64_t[]){2, 2}, w, sizeof w));
    integers(t, "shape", 2, (int64_t[]){4, -1});
    integer(t, "trips", 2);
    {
        Onnx__GraphProto *body = loop_body(t, t->graph.node[2], "s", "4 1");
        node_in(t, body, "Elu", "s", "s2");
        attribute_float(t, body->node[0], "alpha", 2);
        outputs_in(t, body, "go s2");
    }
    reads(t, NULL);
    bytes = pack(t, &size);
    for (size_t i = 0; i < size * 9; i++) {
        size_t length = i < size ? i : size;
        struct error e = {0};
        struct model m;

        copy = malloc(length ? length : 1); /* of its own size, so that reading beyond it shows */
        assert_non_null(copy);
        memcpy(copy, bytes, length);
        if (i >= size)
            copy[(i - size) / 8] ^= (uint8_t)(1 << (i - size) % 8);
        if (model_read_onnx(context, "damaged.onnx", copy, length, NULL, &m, &e))
            model_free(&m);
        else
            assert_true(*e.message);
        free(copy);
    }
    free(bytes);
}

static int begin_files(void **state)
{
    return enter_folder(state) || create_context(state);
}

static int end_files(void **state)
{
    return release_context(state) || leave_folder(state);
}

TEST_GROUP(begin_files, end_files)
