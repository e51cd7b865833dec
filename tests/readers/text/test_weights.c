/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files of weights: their tensors, and hostile ones: offsets, lengths, shapes and types that do not agree with the
 * file. */
#include <unistd.h>

#include "frontend/builder/builder.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/text/weights.h"
#include "frontend/readers/text/write.h"
#include "ir/text/text.h"
#include "support/context.h"
#include "support/folder.h"

/* ---- safetensors ---- */

/** Header and data as a file, without a byte after it. */
static void *safetensors(const char *header, uint64_t header_length, size_t data, size_t *length)
{
    *length = 8 + strlen(header) + data;
    char *bytes = calloc(*length, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (char)(header_length >> 8 * i);
    memcpy(bytes + 8, header, strlen(header));
    for (size_t i = 0; i < data; i++)
        bytes[8 + strlen(header) + i] = (char)(i + 1);
    return bytes;
}

TEST(safetensors_are_read)
{
    static const char header[] =
        "{\"b\": {\"dtype\": \"F64\", \"shape\": [1], \"data_offsets\": [6, 14]}, \"__metadata__\": {\"a\": \"b\"},"
        " \"a\\u00e4\": {\"dtype\": \"F16\", \"shape\": [3], \"data_offsets\": [0, 6]},"
        " \"none\": {\"dtype\": \"I64\", \"shape\": [0, 7], \"data_offsets\": [0, 0]},"
        " \"flags\": {\"dtype\": \"BOOL\", \"shape\": [], \"data_offsets\": [14, 15]}}  ";
    size_t length;
    OWNED(memory) void *bytes = safetensors(header, sizeof header - 1, 15, &length);
    struct weights *w;
    struct error error = {0};

    assert_works(weights_parse(bytes, length, NULL, 0, "w", &w, &error), &error);
    const struct weights_entry *e = weights_find(w, "a\xC3\xA4", 3);
    assert_non_null(e);
    assert_int_equal(e->dataType, WNNOperandDataType_Float16);
    assert_int_equal(e->rank, 1);
    assert_int_equal(e->shape[0], 3);
    assert_memory_equal(weights_data(w, e), "\1\2\3\4\5\6", 6);
    e = weights_find(w, "b", 1);
    assert_int_equal(e->dataType, WNNOperandDataType_Undefined); /* there, but nothing for a graph */
    assert_string_equal(e->typeName, "F64");
    assert_int_equal(weights_find(w, "flags", 5)->dataType, WNNOperandDataType_Uint8);
    assert_null(weights_find(w, "c", 1));
    weights_close(w);
}

#define TENSOR(shape, offsets) "{\"a\": {\"dtype\": \"F32\", \"shape\": " shape ", \"data_offsets\": " offsets "}}"
#define TWO(first, second)                                                                                                     \
    "{\"a\": {\"dtype\": \"U8\", \"shape\": [4], \"data_offsets\": " first                                                     \
    "}, \"b\": {\"dtype\": \"U8\", \"shape\": [4], \"data_offsets\": " second "}}"

#define NEITHER                                                                                                                \
    "neither .weights, which begins with WGWT and version 1, nor safetensors, which begin with the length of a header in "     \
    "braces"

static const struct {
    const char *header;
    uint64_t header_length; /* 0: as it is */
    size_t data;
    const char *message;
} hostile[] = {
    {"{}", UINT64_MAX, 0, "the header has 18446744073709551615 bytes, the file 10"},
    {"{}", 3, 0, "the header has 3 bytes, the file 10"},
    {"[]", 0, 0, NEITHER},
    {"", 0, 0, NEITHER},
    {"\6\5\4\3", UINT64_C(13662655444836050972), 0, NEITHER}, /* elements without the header of .weights */
    {"{", 0, 0, "1:2: a member's name in quotes expected, found the end of the text"},
    {"{}", 0, 1, "the last tensor ends at byte 10, the file at 11"},
    {"{\"a\": 1}", 0, 0, "1:7: a tensor must be an object"},
    {"{\"a\": {}}", 0, 0, "1:7: the tensor has no data type"},
    {"{\"a\": {\"dtype\": \"F32\"}}", 0, 0, "1:7: the tensor has no shape"},
    {TENSOR("[2]", "[0]"), 0, 8, "1:54: data_offsets must be two whole numbers"},
    {TENSOR("[2]", "[0, 1.5]"), 0, 8, "1:54: data_offsets must be two whole numbers"},
    {TENSOR("[2]", "[-8, 0]"), 0, 8, "1:54: data_offsets must be two whole numbers"},
    {TENSOR("[2]", "[0, 16]"), 0, 8, "1:7: bytes 0 to 16 are not within the 8 bytes of the file"},
    {TENSOR("[2]", "[9223372036854775807, 9223372036854775807]"), 0, 8,
     "1:7: bytes 9223372036854775807 to 9223372036854775807 are not within the 8 bytes of the file"},
    {TENSOR("[2]", "[8, 0]"), 0, 8, "1:7: bytes 8 to 0 are not within the 8 bytes of the file"},
    {TENSOR("[3]", "[0, 8]"), 0, 8, "1:7: the tensor has 8 bytes, its shape needs 12"},
    {TENSOR("[4611686018427387904]", "[0, 8]"), 0, 8, "1:33: the tensor is larger than any file"},
    {TENSOR("[4294967296, 4294967296]", "[0, 0]"), 0, 0, "1:33: the tensor is larger than any file"},
    {TENSOR("[-1]", "[0, 8]"), 0, 8, "1:34: a dimension must be a whole number"},
    {TENSOR("[\"2\"]", "[0, 8]"), 0, 8, "1:35: a dimension must be a whole number"},
    {TWO("[0, 4]", "[2, 6]"), 0, 6, "tensor 'b' begins at byte 130, the one before it ends at 132"},
    {TWO("[0, 4]", "[5, 9]"), 0, 9, "tensor 'b' begins at byte 133, the one before it ends at 132"},
    {TWO("[0, 4]", "[4, 8]"), 0, 9, "the last tensor ends at byte 136, the file at 137"},
    {"{\"a\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0, 1]}, \"a\": {\"dtype\": \"U8\", \"shape\": [1], "
     "\"data_offsets\": [1, "
     "2]}}",
     0, 2, "tensor 'a' is defined twice"},
};

TEST(hostile_safetensors_are_refused)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        size_t length;
        const char *h = hostile[i].header;
        OWNED(memory) void *bytes =
            safetensors(h, hostile[i].header_length ? hostile[i].header_length : strlen(h), hostile[i].data, &length);
        struct error e = {0};
        char wanted[256];
        struct weights *w;

        snprintf(wanted, sizeof wanted, "w: %s", hostile[i].message);
        if (weights_parse(bytes, length, NULL, 0, "w", &w, &e))
            fail_msg("is read: %s", h);
        if (strcmp(e.message, wanted)) {
            print_error("%s\n%s\n%s expected\n", h, e.message, wanted);
            wrong++;
        }
        assert_null(w);
    }
    assert_int_equal(wrong, 0);
}

/* ---- the container ---- */

#define MANIFEST(version, tensors)                                                                                             \
    "{\"format\": \"wg-weights-manifest\", \"version\": " version ", \"endianness\": \"little\", \"tensors\": {" tensors "}}"
#define ENTRY(name, type, shape, offset, length)                                                                               \
    "\"" name "\": {\"dataType\": \"" type "\", \"shape\": " shape ", \"byteOffset\": " offset ", \"byteLength\": " length     \
    ", \"layout\": \"row-major\"}"

static const struct {
    const char *manifest;
    size_t length; /* of the container */
    const char *message;
} containers[] = {
    {MANIFEST("1", ENTRY("a", "float16", "[2]", "8", "4") ", " ENTRY("b", "u8", "[]", "12", "1")), 13, NULL},
    {MANIFEST("1", ENTRY("b", "u8", "[]", "12", "1") ", " ENTRY("a", "f16", "[2]", "8", "4")), 13, NULL},
    {MANIFEST("1", ""), 8, NULL},
    {MANIFEST("1", ""), 7, "the file does not begin with WGWT and version 1, as .weights does"},
    {MANIFEST("2", ""), 8, "1:46: \"version\" must be 1"},
    {"{\"format\": \"zip\"}", 8, "1:13: no \"format\": \"wg-weights-manifest\" here"},
    {"{\"format\": \"wg-weights-manifest\", \"version\": 1, \"endianness\": \"big\", \"tensors\": {}}", 8,
     "1:64: \"endianness\" must be \"little\""},
    {"{\"format\": \"wg-weights-manifest\", \"version\": 1}", 8, "1:1: tensors, an object, is missing here"},
    {MANIFEST("1", ENTRY("a", "int4", "[2]", "8", "1")), 9, "1:90: the tensor's data type is none of WebNN's"},
    {MANIFEST("1", ENTRY("a", "float16", "[2]", "0", "4")), 12, "tensor 'a' begins at byte 0, the one before it ends at 8"},
    {MANIFEST("1", ENTRY("a", "float16", "[2]", "8", "8")), 16, "1:90: the tensor has 8 bytes, its shape needs 4"},
    {MANIFEST("1", ENTRY("a", "float16", "[2]", "8", "4")), 11, "1:90: bytes 8 to 12 are not within the 11 bytes of the file"},
    {MANIFEST("1", ENTRY("a", "float16", "[2]", "9223372036854775807", "9223372036854775807")), 12,
     "1:90: bytes 9223372036854775807 to 18446744073709551614 are not within the 12 bytes of the file"},
    {MANIFEST("1", ENTRY("a", "float16", "[2]", "18446744073709551615", "4")), 12,
     "1:90: byteOffset and byteLength must be whole numbers"},
};

TEST(containers_are_read_or_refused)
{
    char bytes[32] = "WGWT\1\0\0\0\1\2\3\4\5";
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++) {
        const char *manifest = containers[i].manifest;
        struct error e = {0};
        char wanted[256];
        struct weights *w;

        snprintf(wanted, sizeof wanted, "w: %s", containers[i].message ? containers[i].message : "");
        if (weights_parse(bytes, containers[i].length, manifest, strlen(manifest), "w", &w, &e)) {
            if (containers[i].message)
                fail_msg("is read: %s", manifest);
            if (weights_find(w, "a", 1))
                assert_memory_equal(weights_data(w, weights_find(w, "a", 1)), "\1\2\3\4", 4);
            weights_close(w);
        } else if (strcmp(e.message, wanted)) {
            print_error("%s\n%s\n%s expected\n", manifest, e.message, wanted);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- next to a graph ---- */

static const char graph[] =
    "webnn_graph \"g\" v1 { inputs { x: f32[2]; } consts { w: f32[2] @weights(\"key\"); } nodes { y = add(x, w); } "
    "outputs { y; } }";

static bool read_graph(struct model *m, const char *weights, struct error *e)
{
    const struct model_options options = {.weights = weights};

    return model_read(context, "m.webnn", &options, m, e);
}

static void expect_message(const char *weights, const char *wanted)
{
    struct model m;
    struct error e = {0};

    assert_false(read_graph(&m, weights, &e));
    if (!strstr(e.message, wanted))
        fail_msg("%s\n%s expected", e.message, wanted);
}

TEST(weights_are_found_next_to_the_model)
{
    static const char manifest[] = MANIFEST("1", ENTRY("key", "float32", "[2]", "8", "8"));
    static const char other[] = MANIFEST("1", ENTRY("key", "int32", "[2]", "8", "8"));
    static const char header[] = "{\"key\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}   ";
    float values[2] = {1.5f, -2};
    char bytes[16] = "WGWT\1\0\0\0";
    size_t length;
    struct model m;
    struct error error = {0};

    memcpy(bytes + 8, values, 8);
    write_text("m.webnn", graph);
    expect_message(NULL, "1:64: ");
    expect_message(NULL, "m.weights: No such file or directory");
    write_bytes("m.weights", bytes, sizeof bytes);
    expect_message(NULL, "m.manifest.json: No such file or directory");
    write_text("m.manifest.json", other);
    expect_message(NULL, "tensor 'key' is int32[2] in ");
    expect_message(NULL, "m.weights, but float32[2] here");
    write_bytes("m.manifest.json", "{", 1);
    expect_message(NULL, "1:2: a member's name in quotes expected");
    write_text("m.manifest.json", manifest);
    assert_works(read_graph(&m, NULL, &error), &error);
    /* Lent from the file, not copied: pages of a mapping begin with it. */
    OWNED(graph) struct graph *g =
        builder_take_graph(m.builder, 1, (WNNNamedOperand[]){{WNN_STR("y"), m.outputs[0].operand}}, &(struct error){0});
    assert_non_null(g);
    assert_memory_equal(g->first_constant->constant->data, values, 8);
    assert_non_null(g->first_constant->constant->release.callback);
    assert_int_equal((uintptr_t)g->first_constant->constant->data % 4096, 8);
    model_free(&m);

    OWNED(memory) void *tensors = safetensors(header, sizeof header - 1, 8, &length);
    write_bytes("other.safetensors", tensors, length);
    assert_works(read_graph(&m, "other.safetensors", &error), &error);
    model_free(&m);
    write_bytes("other.safetensors", tensors, length - 1);
    expect_message("other.safetensors", "are not within the 7 bytes of the file");
    static const char *const files[] = {"m.webnn", "m.weights", "m.manifest.json", "other.safetensors"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove(files[i]);
}

/** Files that cannot be written are said, and nothing stays. */
TEST(unwritable_files_are_told)
{
    const struct text_options options = {.weights = TEXT_WEIGHTS_CONTAINER};
    struct error e = {0};
    OWNED(graph) struct graph *g = graph_parse(graph, strlen(graph), NULL, NULL, &e);
    static const char plain[] = "webnn_graph \"g\" v1 { inputs { x: f32[2]; } nodes { y = relu(x); } outputs { y; } }";
    struct error error = {0};

    assert_null(g);
    memset(&e, 0, sizeof e);
    g = graph_parse(plain, strlen(plain), NULL, NULL, &e);
    assert_non_null(g);
    assert_false(text_write_files(g, &options, "/nowhere/m.webnn", &error));
    assert_non_null(strstr(error.message, "No such file or directory"));
}

TEST(loops_are_not_written)
{
    const struct text_options options = {.weights = TEXT_WEIGHTS_SAFETENSORS};
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, (uint32_t[]){2}, NULL};
    OWNED(builder) WNNGraphBuilder b = NULL;
    WNNOperand x, p, y;
    struct error error = {0};

    assert_int_equal(wnnContextCreateGraphBuilder(context, &b), WNNStatus_Success);
    x = wnnGraphBuilderInput(b, WNN_STR("x"), &d);
    assert_int_equal(wnnGraphBuilderBeginLoop(b, 3, 1, &x, 0, NULL, &p), WNNStatus_Success);
    p = wnnGraphBuilderNeg(b, p, NULL);
    assert_int_equal(wnnGraphBuilderEndLoop(b, WNN_STR(""), 1, &p, 0, NULL, &y), WNNStatus_Success);
    OWNED(graph) struct graph *g = builder_take_graph(b, 1, (WNNNamedOperand[]){{WNN_STR("y"), y}}, &(struct error){0});
    assert_non_null(g);
    assert_false(text_write_files(g, &options, "loop.webnn", &error));
    assert_non_null(strstr(error.message, "the graph has a loop"));
    assert_int_not_equal(access("loop.webnn", F_OK), 0);
}

/** Writes a model of eight numbers of 4 bits, one of whose outputs is these alone, and reads it back. */
static void write_numbers_of_4_bits(const char *path, bool json)
{
    static const uint8_t nibbles[4] = {0x21, 0xF3, 0x54, 0x76}, expected[8] = {1, 2, 3, 15, 4, 5, 6, 7};
    const WNNOperandDescriptor d = {WNNOperandDataType_Uint8, 1, (uint32_t[]){8}, NULL};
    const struct text_options options = {.weights = TEXT_WEIGHTS_INLINE, .json = json};
    char y[] = "y", z[] = "z";
    struct model_port outputs[2] = {{.name = y}, {.name = z}};
    struct model m = {.output_count = 2, .outputs = outputs}, again;
    struct error e = {0};
    uint8_t got[8] = {0};
    WNNGraph built;

    assert_int_equal(wnnContextCreateGraphBuilder(context, &m.builder), WNNStatus_Success);
    WNNOperand x = wnnGraphBuilderInput(m.builder, WNN_STR("x"), &d);
    outputs[1].operand =
        wnnGraphBuilderConstantUint4Lent(m.builder, &d, nibbles, sizeof nibbles, (WNNBufferReleaseCallbackInfo){0});
    outputs[0].operand = wnnGraphBuilderMax(m.builder, x, outputs[1].operand, NULL);
    OWNED(graph) struct graph *g = model_take_graph(&m, &e);
    assert_works(g && text_widen_constants(g, &e) && text_write_files(g, &options, path, &e), &e);
    wnnGraphBuilderRelease(m.builder);
    const struct model_options plain = {0};
    assert_works(model_read(context, path, &plain, &again, &e), &e);
    assert_int_equal(again.output_count, 2);
    const WNNNamedOperand read_back[] = {{WNN_STR("z"), again.outputs[1].operand}};
    assert_string_equal(again.outputs[1].name, "z");
    assert_int_equal(wnnGraphBuilderBuild(again.builder, 1, read_back, &built), WNNStatus_Success);
    const WNNNamedBuffer out = {WNN_STR("z"), got, sizeof got};
    assert_int_equal(wnnGraphCompute(built, 0, NULL, 1, &out), WNNStatus_Success);
    assert_memory_equal(got, expected, sizeof got);
    wnnGraphRelease(built);
    model_free(&again);
    remove(path);
}

/** They become bytes in the formats, which do not have them. */
TEST(numbers_of_4_bits_are_written_as_bytes)
{
    write_numbers_of_4_bits("m.webnn", false);
    write_numbers_of_4_bits("m.json", true);
}

static int setup(void **state)
{
    return enter_folder(state) || create_context(state);
}

static int teardown(void **state)
{
    release_context(state);
    return leave_empty_folder(state);
}

TEST_GROUP(setup, teardown)
