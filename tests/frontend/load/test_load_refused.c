/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that do not fit this machine, or were altered, are refused with a message, and nothing else happens. */
#include "frontend/load/load_support.h"
#include "support/release.h"
#include "webnn/webnn_draft.h"

/* ---- what does not fit ---- */

static void saved_with(const char *body, uint32_t threads, unsigned char **data, size_t *bytes)
{
    WNNContext c = new_context(threads, "prefer-library");
    WNNGraph g = build(c, body);

    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    release_graph(c, g);
    *data = read_all(file_a, bytes);
}

/* An altered header, signed again. */
static void expect_header_refusal(WNNContext c, const unsigned char *data, size_t bytes, const struct serialized_header *h,
                                  WNNStatus status, const char *why)
{
    unsigned char *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);

    assert_non_null(copy);
    memcpy(copy, data, bytes);
    memcpy(copy, h, sizeof *h);
    serialized_sign(copy, bytes);
    write_all(file_b, copy, bytes);
    free(copy);
    expect_refusal(c, file_b, status, why);
}

TEST(graphs_of_other_machines_are_refused)
{
    engine = WNNEngine_Cpu;
    unsigned char *data;
    size_t bytes;
    WNNContext c = new_context(2, "");
    struct serialized_header h, x;

    saved_with(graphs[0].body, 2, &data, &bytes);
    memcpy(&h, data, sizeof h);
    assert_true(h.flags & SERIALIZED_HAS_CODE && h.flags & SERIALIZED_HAS_LIBRARY && h.total_bytes == bytes);
    const bool packed = h.flags & SERIALIZED_IS_PACKED;
#define ALTERED(MEMBER, VALUE, STATUS, WHY)                                                                                    \
    (x = h, x.MEMBER = (VALUE), expect_header_refusal(c, data, bytes, &x, WNNStatus_##STATUS, WHY))
    ALTERED(byte_order, 0x04030201, NotSupportedError, "byte order");
    ALTERED(format, SERIALIZED_VERSION + 1, NotSupportedError, "format 14, this library reads 13");
    ALTERED(header_bytes, sizeof h + 8, NotSupportedError, "format");
    ALTERED(kernel_abi, KERNEL_ABI_VERSION + 1, NotSupportedError, "kernels have interface");
    ALTERED(library[0], '9', NotSupportedError, "was made by version 9.");
    ALTERED(library[19], 'x', NotSupportedError, "was made by version");
    ALTERED(total_bytes, bytes + 1, DataError, "should have");
    ALTERED(total_bytes, 64, DataError, "should have");
    ALTERED(program.offset, bytes, DataError, "");
    ALTERED(program.bytes, UINT64_MAX - 100, DataError, "outside");
    ALTERED(code.offset, UINT64_MAX - 4095, DataError, "outside");
    ALTERED(code.bytes, 0, DataError, "a kernel outside the code");
    ALTERED(data.offset, 64, DataError, "outside");
    ALTERED(data.bytes, 64, DataError, "is damaged");
    ALTERED(flags, h.flags & ~(uint32_t)SERIALIZED_HAS_LIBRARY, DataError, "a step of oneDNN");
    ALTERED(flags, h.flags | SERIALIZED_DATA_APART, DataError, "weights are missing");
    if (packed) {
        ALTERED(onednn_version, h.onednn_version + 1, NotSupportedError, "packed for oneDNN");
        ALTERED(onednn_isa, h.onednn_isa ^ 1, NotSupportedError, "another instruction set");
    }
    wnnContextRelease(c);
    c = new_context(2, "no-library");
    expect_refusal(c, file_a, WNNStatus_NotSupportedError, "oneDNN, which this context has switched off");
    wnnContextRelease(c);
    free(data);

    /* Without packed weights, the number of threads does not matter. */
    c = new_context(3, "");
    saved_with(graphs[4].body, 2, &data, &bytes);
    wnnGraphRelease(load(c, file_a));
    free(data);
    wnnContextRelease(c);
}

/* A text as serialized programs have it: its length in four bytes, then its characters. */
static unsigned char *text_in_stream(unsigned char *at, uint32_t *length)
{
    memcpy(length, at, sizeof *length);
    return at + sizeof *length;
}

/* The serialized program begins with the triple and the features.  The first "+name" of these becomes one that no processor
 * has; then the triple becomes another machine's. */
TEST(graphs_of_other_processors_are_refused)
{
    engine = WNNEngine_Cpu;
    unsigned char *data;
    size_t bytes;
    uint32_t triple_length, features_length;
    struct serialized_header h;
    OWNED(context) WNNContext c = new_context(1, "");

    saved_with(graphs[5].body, 1, &data, &bytes);
    memcpy(&h, data, sizeof h);
    unsigned char *triple = text_in_stream(data + h.program.offset, &triple_length);
    unsigned char *features = text_in_stream(triple + triple_length, &features_length);
    unsigned char *plus = memchr(features, '+', features_length);
#if defined(__x86_64__)
    assert_int_equal(plus != NULL, !processor_capped_to("baseline")); /* whose code needs nothing that not every x86-64 has */
#endif
    if (plus) {
        unsigned char was = plus[1];
        plus[1] = 'Z';
        serialized_sign(data, bytes);
        write_all(file_b, data, bytes);
        expect_refusal(c, file_b, WNNStatus_NotSupportedError, "code needs Z");
        plus[1] = was;
    }
    assert_true(triple_length > 5);
    memcpy(triple, "Other", 5);
    serialized_sign(data, bytes);
    write_all(file_b, data, bytes);
    expect_refusal(c, file_b, WNNStatus_NotSupportedError, "is for Other");
    free(data);
}

/* The engine of contexts whose program does not choose. */
static WNNEngine engine_here(void)
{
    OWNED(context) WNNContext c = new_context(1, "");
    const WNNEngine kind = c->engine->kind;

    return kind;
}

static void expect_no_engine(const char *path, WNNStatus status, const char *why)
{
    WNNEngine found = WNNEngine_Cpu;
    WNNStatus got = wnnGetFileEngine(path, &found);

    if (got != status || found != WNNEngine_Auto || !strstr(wnnGetLastErrorMessage().data, why))
        fail_msg("%s instead of %s with \"%s\": %s", wnnStatusGetName(got), wnnStatusGetName(status), why,
                 got ? wnnGetLastErrorMessage().data : "");
}

/* What says which engine a file is for refuses what loading refuses for its beginning. */
TEST(files_tell_their_engine)
{
    unsigned char *data;
    size_t bytes;
    struct serialized_header h;
    WNNEngine found = WNNEngine_Gpu;

    saved_with(graphs[5].body, 1, &data, &bytes);
    memcpy(&h, data, sizeof h);
    assert_int_equal(wnnGetFileEngine(file_a, &found), WNNStatus_Success);
    assert_int_equal(found, engine_here());
    assert_int_equal(wnnGetFileEngine(OBJECT_ALONE, &found), WNNStatus_Success);
    assert_int_equal(found, WNNEngine_Cpu);

    expect_no_engine(NULL, WNNStatus_TypeError, "path is empty");
    expect_no_engine("", WNNStatus_TypeError, "path is empty");
    expect_no_engine("/nonexistent/graph", WNNStatus_DataError, "/nonexistent/graph: No such file");
    expect_no_engine(folder, WNNStatus_DataError, folder);
    assert_int_equal(wnnGetFileEngine(file_a, NULL), WNNStatus_TypeError);
    for (size_t length = 0; length < bytes; length = length * 2 + 1) {
        write_all(file_b, data, length);
        if (length < h.program.offset + h.program.bytes)
            expect_no_engine(file_b, WNNStatus_DataError, "");
    }
    h.format++;
    memcpy(data, &h, sizeof h);
    write_all(file_b, data, bytes);
    expect_no_engine(file_b, WNNStatus_NotSupportedError, "this library reads");
    h.format--;
    h.program.bytes = 3; /* of which even the length of the first text takes four */
    memcpy(data, &h, sizeof h);
    write_all(file_b, data, bytes);
    expect_no_engine(file_b, WNNStatus_DataError, "it ends early");
    h.program.offset = UINT64_MAX - 63;
    memcpy(data, &h, sizeof h);
    write_all(file_b, data, bytes);
    expect_no_engine(file_b, WNNStatus_DataError, "a section is outside the file");
    free(data);
}

TEST(what_is_no_graph_is_refused)
{
    engine = WNNEngine_Cpu;
    WNNContext c = new_context(1, "");
    WNNGraph g = build(c, graphs[5].body);
    char missing[128];

    expect_refusal(c, "/nonexistent/graph", WNNStatus_DataError, "/nonexistent/graph: No such file");
    expect_refusal(c, folder, WNNStatus_DataError, folder);
    expect_refusal(c, "/proc/self/exe", WNNStatus_DataError, "");
    expect_refusal(c, "", WNNStatus_TypeError, "path is empty");
    write_all(file_a, "", 0);
    expect_refusal(c, file_a, WNNStatus_DataError, "No data");
    write_all(file_a, "webnn_graph", 11);
    expect_refusal(c, file_a, WNNStatus_DataError, "not a compiled graph");
    expect_refusal(c, file_a, WNNStatus_DataError, "it looks like a model (ONNX, .webnn text or JSON)");
    write_all(file_a, "\x08\x08\x12\x07pytorch", 11);
    expect_refusal(c, file_a, WNNStatus_DataError, "it looks like a model (ONNX, .webnn text or JSON)");
    write_all(file_a, "\177ELF and nothing else", 21);
    expect_refusal(c, file_a, WNNStatus_DataError, "loading a graph");
    assert_int_equal(wnnContextLoadGraph(c, file_a, NULL), WNNStatus_TypeError);

    assert_int_equal(wnnGraphSave(g, NULL), WNNStatus_TypeError);
    assert_int_equal(wnnGraphSave(g, ""), WNNStatus_TypeError);
    snprintf(missing, sizeof missing, "%s/no/such/folder", folder);
    assert_int_equal(wnnGraphSave(g, missing), WNNStatus_UnknownError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "No such file"));
    assert_int_equal(wnnGraphSave(g, folder), WNNStatus_UnknownError); /* cannot be replaced; its temporary file goes */
    assert_int_equal(wnnGraphSave(g, file_a), WNNStatus_Success);
    wnnContextDestroy(c);
    assert_int_equal(wnnGraphSave(g, file_b), WNNStatus_InvalidStateError);
    expect_refusal(c, file_a, WNNStatus_InvalidStateError, "lost");
    release_graph(c, g);
    for (int i = 0; i < 2; i++) {
        struct dirent *entry;
        DIR *d = opendir(i ? "/tmp" : folder);
        assert_non_null(d);
        while ((entry = readdir(d)))
            if (!strncmp(entry->d_name, folder + 5, strlen(folder + 5)) || !i)
                assert_null(strstr(entry->d_name, ".tmp"));
        closedir(d);
    }
}

/* A link stands for the file that it leads to; devices and pipes are written to and stay what they are. */
TEST(links_pipes_and_devices_are_written_through)
{
    OWNED(context) WNNContext c = new_context(1, "");
    OWNED(compiled) WNNGraph g = build(c, graphs[5].body);
    WNNGraph loaded;
    char link[64];
    struct stat s;

    unlink(file_b);
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink("b.webnnc", link), 0);
    assert_int_equal(wnnGraphSave(g, link), WNNStatus_Success);
    assert_true(lstat(link, &s) == 0 && S_ISLNK(s.st_mode));
    assert_int_equal(wnnContextLoadGraph(c, file_b, &loaded), WNNStatus_Success);
    wnnGraphRelease(loaded);
    unlink(link);

    assert_int_equal(wnnGraphSave(g, "/dev/null"), WNNStatus_Success);
    assert_true(lstat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode));
    assert_int_equal(wnnGraphSave(g, "/dev/full"), WNNStatus_UnknownError);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "/dev/full: No space left"));
    assert_true(lstat("/dev/full", &s) == 0 && S_ISCHR(s.st_mode));

    assert_int_equal(mkfifo(link, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/cp", "cp", link, file_a, (char *)NULL); /* as it comes out of the pipe */
        _exit(1);
    }
    int status = -1;
    assert_int_equal(wnnGraphSave(g, link), WNNStatus_Success);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(lstat(link, &s) == 0 && S_ISFIFO(s.st_mode));
    assert_int_equal(wnnContextLoadGraph(c, file_a, &loaded), WNNStatus_Success);
    wnnGraphRelease(loaded);
    expect_refusal(c, link, WNNStatus_DataError, link); /* a pipe is no file to map; opening it does not wait */
    unlink(link);
}

/* ---- damage ---- */

static WNNStatus load_bytes(WNNContext c, const void *data, size_t bytes)
{
    OWNED(compiled) WNNGraph g = NULL;

    write_all(file_b, data, bytes);
    WNNStatus status = wnnContextLoadGraph(c, file_b, &g);
    return status;
}

TEST(damaged_files_are_refused)
{
    unsigned char *data;
    size_t bytes;
    OWNED(context) WNNContext c = new_context(1, "");

    saved_with(graphs[3].body, 1, &data, &bytes);
    const struct serialized_header h = *(struct serialized_header *)data;
    assert_int_equal(load_bytes(c, data, bytes), WNNStatus_Success);
    for (size_t n = 0; n < bytes; n += n < sizeof h + 64 ? 1 : bytes / 150 + 1)
        assert_int_equal(load_bytes(c, data, n), WNNStatus_DataError);
    /* Every byte of the header, then any: but for padding between sections, which is not read. */
    for (size_t n = 0; n < sizeof h; n++) {
        data[n] ^= 0x41;
        assert_int_not_equal(load_bytes(c, data, bytes), WNNStatus_Success);
        data[n] ^= 0x41;
    }
    noise_state = 5;
    for (int i = 0; i < 300; i++) {
        const struct serialized_section *s = i % 3 == 0 ? &h.program : i % 3 == 1 ? &h.code : &h.data;
        size_t at = (size_t)(s->offset + (uint64_t)((double)(noise() + 1) / 2 * (double)(s->bytes - 1)));
        unsigned char was = data[at];

        data[at] ^= (unsigned char)(1 << i % 8);
        assert_int_equal(load_bytes(c, data, bytes), WNNStatus_DataError);
        data[at] = was;
    }
    free(data);
}

/* Weights of several segments, which have a checksum each: damage in any of them, or another order, is found by one thread and
 * by three. */
TEST(damaged_segments_are_found)
{
    static const char body[] = "inputs { x: f32[1024, 1200]; } consts { w: f32[1024, 1200] @weights(\"w\"); } "
                               "nodes { y = add(x, w); } outputs { y; }";
    unsigned char *data, moved[CHECKSUM_SEGMENT_BYTES];
    size_t bytes;

    saved_with(body, 1, &data, &bytes);
    const struct serialized_header h = *(struct serialized_header *)data;
    assert_in_range(h.data.bytes, 4 * CHECKSUM_SEGMENT_BYTES + 1, 5 * CHECKSUM_SEGMENT_BYTES - 1);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        OWNED(context) WNNContext c = new_context(threads, "");
        unsigned char *const first = data + h.data.offset, *const second = first + CHECKSUM_SEGMENT_BYTES;

        assert_int_equal(load_bytes(c, data, bytes), WNNStatus_Success);
        for (uint64_t at = 99; at < h.data.bytes; at += CHECKSUM_SEGMENT_BYTES) {
            first[at] ^= 4;
            assert_int_equal(load_bytes(c, data, bytes), WNNStatus_DataError);
            first[at] ^= 4;
        }
        for (int i = 0; i < 2; i++) { /* there and back */
            memcpy(moved, first, sizeof moved);
            memcpy(first, second, sizeof moved);
            memcpy(second, moved, sizeof moved);
            assert_int_equal(load_bytes(c, data, bytes), i == 0 ? WNNStatus_DataError : WNNStatus_Success);
        }
    }
    free(data);
}

/* Has a file of a graph with a named dimension, and code of one size. */
static void saved_named(unsigned char **data, size_t *bytes)
{
    const WNNDimension dims[2] = {{WNN_STR("n"), 1, 8}, {{NULL, 0}, 0, 0}};
    const WNNOperandDescriptor x = {WNNOperandDataType_Float32, 2, (uint32_t[]){0, 64}, dims},
                               w = {WNNOperandDataType_Float32, 2, (uint32_t[]){64, 4}, NULL};
    OWNED(context) WNNContext c = new_context(1, "");
    static float weights[64 * 4] = {1};
    OWNED(compiled) WNNGraph graph = NULL, variant = NULL;
    OWNED(builder) WNNGraphBuilder b = NULL;

    assert_int_equal(wnnContextCreateGraphBuilder(c, &b), WNNStatus_Success);
    WNNOperand y = wnnGraphBuilderMatmul(b, wnnGraphBuilderInput(b, WNN_STR("x"), &x),
                                         wnnGraphBuilderConstant(b, &w, weights, sizeof weights), NULL);
    y = wnnGraphBuilderReshapeDynamic(b, wnnGraphBuilderRelu(b, y, NULL), wnnGraphBuilderShape(b, y, NULL), NULL);
    assert_int_equal(wnnGraphBuilderBuild(b, 1, &(WNNNamedOperand){WNN_STR("y"), y}, &graph), WNNStatus_Success);
    assert_int_equal(wnnGraphGetVariant(graph, 1, &(WNNNamedSize){WNN_STR("n"), 3}, &variant), WNNStatus_Success);
    assert_int_equal(wnnGraphSave(graph, file_a), WNNStatus_Success);
    *data = read_all(file_a, bytes);
}

/* With the right checksum: whatever it says, loading comes to an end, with or without a graph, and leaks nothing. */
TEST(made_up_files_do_no_harm)
{
    uint32_t loaded = 0, refused = 0;

    for (uint32_t k = 0; k <= GRAPH_COUNT; k++) {
        unsigned char *data, *copy;
        size_t bytes;
        OWNED(context) WNNContext c = new_context(1, "");

        if (k < GRAPH_COUNT)
            saved_with(graphs[k].body, 1, &data, &bytes);
        else
            saved_named(&data, &bytes);
        const struct serialized_header h = *(struct serialized_header *)data;
        /* Of a graph with names, what comes before kernels. */
        const uint64_t end = k < GRAPH_COUNT ? h.program.bytes : 700;
        copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
        assert_non_null(copy);
        noise_state = 11 + k;
        for (int i = 0; i < 400; i++) {
            static const uint64_t words[] = {0, 1, UINT64_MAX, 1ull << 31, 1ull << 32, 1ull << 62, 0x7FFFFFFF, 64, 3};
            size_t at = (size_t)(h.program.offset + (uint64_t)((double)(noise() + 1) / 2 * (double)(end - 9)));
            size_t size = i % 2 ? 4 : 1;

            memcpy(copy, data, bytes);
            memcpy(copy + at, &words[i % 9], size);
            if (k == GRAPH_COUNT && i % 3) /* most of it is text */
                copy[at] = (unsigned char)" \"(),;:=[]{}0189xny@#"[i % 22];
            serialized_sign(copy, bytes);
            *(load_bytes(c, copy, bytes) == WNNStatus_Success ? &loaded : &refused) += 1;
        }
        free(copy);
        free(data);
    }
    printf("  %u altered programs loaded, %u refused\n", loaded, refused);
    assert_true(refused > loaded / 4);
}

/* ---- strides ---- */

/* Returns where these bytes are from `at` on, or NULL. */
static unsigned char *find_bytes(unsigned char *at, const unsigned char *end, const void *bytes, size_t count)
{
    for (; (size_t)(end - at) >= count; at++)
        if (!memcmp(at, bytes, count))
            return at;
    return NULL;
}

/*
 * Matrices that are given while the graph runs are read by the strides that the file names: a larger one would lead beyond the
 * bytes that they have.
 */
TEST(strides_beyond_weights_are_refused)
{
    static const struct {
        uint32_t graph, rank;
        int64_t dims[4], strides[4];
        uint32_t slowest;
    } weights[] = {{1, 2, {40, 24}, {24, 1}, 0},
                   {6, 3, {2, 16, 12}, {192, 12, 1}, 0},
                   {6, 2, {16, 12}, {1, 16}, 1},
                   {6, 4, {16, 8, 3, 3}, {72, 1, 24, 8}, 0}};
    OWNED(context) WNNContext c = new_context(1, "");

    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        const uint32_t rank = weights[i].rank, words[2] = {rank, rank == 4}; /* a filter is packed */
        const size_t size = rank * sizeof(int64_t);
        unsigned char layout[sizeof words + 8 * sizeof(int64_t)], *data, *at;
        size_t bytes;
        uint32_t found = 0;

        saved_with(graphs[weights[i].graph].body, 1, &data, &bytes);
        const struct serialized_header h = *(struct serialized_header *)data;
        memcpy(layout, words, sizeof words);
        memcpy(layout + sizeof words, weights[i].dims, size);
        memcpy(layout + sizeof words + size, weights[i].strides, size);
        unsigned char *from = data + h.program.offset, *const end = from + h.program.bytes;
        for (; (at = find_bytes(from, end, layout, sizeof words + 2 * size)); from = at + 1, found++) {
            unsigned char *const stride = at + sizeof words + size + weights[i].slowest * sizeof(int64_t);
            const int64_t was = weights[i].strides[weights[i].slowest], forged[] = {was + 1, 2 * was, 1 << 20};

            for (size_t k = 0; k < sizeof forged / sizeof *forged; k++) {
                memcpy(stride, &forged[k], sizeof was);
                serialized_sign(data, bytes);
                write_all(file_b, data, bytes);
                expect_refusal(c, file_b, WNNStatus_DataError, "a step of oneDNN is damaged: an input is too small");
            }
            memcpy(stride, &was, sizeof was);
        }
        assert_true(found > 0 || (weights[i].graph == 6 && !library_multiplies_bytes()));
        free(data);
    }
}

/* Some files are the processor's: they have its code and oneDNN's weights in them, or may be shared objects. */
static int any_engine(void **state)
{
    engine = WNNEngine_Auto;
    return 0;
}

TEST_GROUP(make_folder, remove_folder)
TEST_EACH(NULL, any_engine)
