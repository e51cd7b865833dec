/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Networks with a manifest: a small one, messages about broken ones, and every way to cut one off. */
#include "frontend/readers/files/file.h"
#include "frontend/readers/files/manifest.h"
#include "frontend/readers/model.h"
#include "support/close.h"
#include "support/context.h"
#include "support/folder.h"

#define INPUT "{\"name\": \"x\", \"dataType\": \"float32\", \"shape\": [1, 2]}"
#define CONSTANT "{\"id\": \"w\", \"file\": \"w.npy\"}"
#define MANIFEST(inputs, constants, layers, outputs)                                                                           \
    "{\"name\": \"n\", \"inputs\": [" inputs "], \"constants\": [" constants "], \"layers\": [" layers                         \
    "], \"outputs\": [" outputs "]}"

static const char good[] =
    MANIFEST(INPUT, CONSTANT,
             "{\"id\": \"m\", \"op\": \"mul\", \"inputs\": [\"x\", \"w\"]}, {\"id\": \"c\", \"op\": \"concat\", "
             "\"inputs\": [\"m\", \"x\"], \"axis\": 0, \"outputShape\": [2, 2]}",
             "{\"name\": \"c\"}");

TEST(good_manifests_are_read)
{
    const char *const paths[] = {".", "manifest.json"};
    struct model m;
    WNNGraph graph;
    struct error e = {0};

    write_text("manifest.json", good);
    for (size_t i = 0; i < 2; i++) { /* the folder, or its manifest */
        assert_works(model_read(context, paths[i], NULL, &m, &e), &e);
        assert_string_equal(m.name, "n");
        assert_int_equal(m.input_count, 1);
        assert_int_equal(m.output_count, 1);
        assert_string_equal(m.outputs[0].name, "c");
        assert_int_equal(m.outputs[0].descriptor.shape[0], 2);
        assert_int_equal(model_build(&m, &graph, &e), WNNStatus_Success);
        model_free(&m);
        wnnGraphRelease(graph);
    }
}

/** What a manifest fixes cannot be asked for otherwise. */
TEST(what_a_manifest_fixes_is_refused_as_option)
{
    static float values[2];
    const struct npy_array array = {WNNOperandDataType_Float32, 2, {1, 2}, sizeof values, values, false};
    const struct model_dim dim = {"n", 1};
    const struct model_constant constant = {"x", &array, false};
    const struct model_shape right = {"x", 2, {1, 2}, NULL}, wrong = {"x", 2, {2, 1}, NULL}, low = {"x", 1, {1}, NULL},
                             unknown = {"z", 2, {1, 2}, NULL};
    const struct {
        struct model_options options;
        const char *message; /* NULL: fine */
    } cases[] = {
        {{.shape_count = 1, .shapes = &right}, NULL},
        {{.shape_count = 1, .shapes = &wrong}, "input 'x' has the shape [1, 2]"},
        {{.shape_count = 1, .shapes = &low}, "input 'x' has the shape [1, 2]"},
        {{.shape_count = 1, .shapes = &unknown}, "there is no input 'z'"},
        {{.dim_count = 1, .dims = &dim}, "no dimension of an input is called 'n'; there is none"},
        {{.constant_count = 1, .constants = &constant}, NULL},
        {{.weights = "w.npy"}, "names the files of its weights itself"},
    };

    write_text("manifest.json", good);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCOPED(model_free) struct model m = {0};
        struct error e = {0};
        bool ok = model_read(context, ".", &cases[i].options, &m, &e);

        assert_int_equal(ok, !cases[i].message);
        if (!ok && !strstr(e.message, cases[i].message))
            fail_msg("%s\n%s expected", e.message, cases[i].message);
        assert_true(ok || !m.builder);
    }
}

/** Layers that name a result and, next to it, no list of results. */
TEST(many_names_are_read)
{
    enum { LAYERS = 100, LINE = 120 };
    OWNED(memory) char *text = malloc(LAYERS * LINE + 400);
    SCOPED(model_free) struct model m = {0};

    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "{\"inputs\": [" INPUT "], \"constants\": [], \"layers\": [");
    for (int i = 0; i < LAYERS; i++)
        at += (size_t)sprintf(text + at, "%s{\"id\": \"y%d\", \"op\": \"relu\", \"inputs\": [\"x\"], \"outputs\": []}",
                              i ? ", " : "", i);
    sprintf(text + at, "], \"outputs\": [{\"name\": \"y%d\"}]}", LAYERS - 1);
    write_bytes("manifest.json", text, strlen(text));
    assert_done(model_read(context, ".", NULL, &m, &e));
    assert_int_equal(m.output_count, 1);
}

TEST(broken_manifests_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "manifest.json:1:1: a value expected"},
        {"{\"layers\": 3}", "no JSON object with a list of layers"},
        {"{\"model\": \"model.onnx\"}", "no list of layers: the network is in model.onnx"},
        {MANIFEST("{\"name\": \"x\", \"dataType\": \"float32\", \"shape\": [1e99]}", "", "", ""),
         "manifest.json:1:73: a size from 0 to 4294967295 expected"},
        {MANIFEST("{\"name\": \"x\\n\", \"dataType\": \"float32\", \"shape\": [0]}", "", "", ""),
         "input \"x\\u{a}\" has size 0 in dimension 0"},
        {MANIFEST("{\"name\": \"x\", \"dataType\": \"float\", \"shape\": [2]}", "", "", ""), "'float' is not a data type"},
        {MANIFEST("{\"name\": \"x\", \"dataType\": \"float32\", \"shape\": [65536, 65536]}", "", "", ""), "too many elements"},
        {MANIFEST(INPUT ", " INPUT, "", "", ""), "an input of that name exists"},
        {MANIFEST("", CONSTANT ", " CONSTANT, "", ""), "name 'w' is defined twice"},
        {MANIFEST("", "{\"id\": \"w\", \"file\": \"../w.npy\"}", "", ""),
         "file ../w.npy: the path leads out of the model's folder"},
        {MANIFEST("", "{\"id\": \"w\", \"file\": \"/etc/passwd\"}", "", ""), "not relative"},
        {MANIFEST("", "{\"id\": \"w\", \"file\": \"none.npy\"}", "", ""), "No such file or directory"},
        {MANIFEST("", "{\"id\": \"w\", \"file\": \"manifest.json\"}", "", ""), "no .npy file"},
        {MANIFEST(INPUT, "", "{\"id\": \"y\", \"op\": \"rely\", \"inputs\": [\"x\"]}", ""),
         "there is no operator \"rely\"; did you mean 'relu'?"},
        {MANIFEST(INPUT, "", "{\"id\": \"y\", \"op\": \"relu\", \"inputs\": [\"y\"]}", ""), "'y' is not defined"},
        {MANIFEST(INPUT, "", "{\"id\": \"y\", \"op\": \"elu\", \"inputs\": [\"x\"], \"alpha\": [[1]]}", ""),
         "elu [y]: alpha takes a finite number, not a list"},
        {MANIFEST(INPUT, "", "{\"id\": \"y\", \"op\": \"relu\", \"inputs\": [\"x\"]}", "{\"name\": \"z\"}"),
         "'z' is not defined"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model m;
        struct error e = {0};

        write_text("manifest.json", cases[i].text);
        if (model_read(context, ".", NULL, &m, &e))
            fail_msg("is read: %s", cases[i].text);
        if (!strstr(e.message, cases[i].message))
            fail_msg("%s\n%s\n%s expected", cases[i].text, e.message, cases[i].message);
        assert_null(m.builder);
    }
}

TEST(truncated_manifests_are_refused)
{
    for (size_t n = 0; n < strlen(good); n++) {
        struct model m;
        struct error e = {0};

        write_bytes("manifest.json", good, n);
        assert_false(model_read(context, ".", NULL, &m, &e));
        assert_true(*e.message);
    }
}

/** Paths that are no models. */
TEST(paths_that_are_no_models_are_refused)
{
    static const struct {
        size_t length;
        const char *bytes, *what;
    } others[] = {
        {10, "#!/bin/sh\n", "JSON"},
        {8, "WGWT\1\0\0\0", "JSON: these are weights"},
        {10, "\2\0\0\0\0\0\0\0{\"", "JSON: these are weights (safetensors)"},
        {8, "\x93NUMPY\1\0", "JSON: this is an array"},
        {8, "\x1C\0\0\0TFL3", "JSON: TensorFlow Lite is not read"},
        {4, "GGUF", "JSON: GGUF is not read"},
    };
    struct model m;
    struct error e = {0};

    assert_false(model_read(context, "/nowhere", NULL, &m, &e));
    assert_non_null(strstr(e.message, "/nowhere: No such file or directory"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_bytes("other", others[i].bytes, others[i].length);
        assert_false(model_read(context, "other", NULL, &m, &e));
        assert_non_null(strstr(e.message, "is not a model: neither ONNX nor .webnn text or JSON"));
        assert_non_null(strstr(e.message, others[i].what));
    }
    /* By contents, whatever the name: with a byte order mark and comments before the first word. */
    static const char text[] = "\xEF\xBB\xBF# a graph\n// with comments\nwebnn_graph \"g\" v1 { inputs { x: f32[1]; } nodes { "
                               "y = relu(x); } outputs { y; } }";
    write_bytes("other", text, sizeof text - 1);
    assert_works(model_read(context, "other", NULL, &m, &e), &e);
    assert_string_equal(m.name, "g");
    model_free(&m);
    remove("other");
}

static int setup(void **state)
{
    static float weights[2] = {1, 2};
    const struct npy_array w = {WNNOperandDataType_Float32, 1, {2}, sizeof weights, weights, false};

    return enter_folder(state) || create_context(state) || !npy_write("w.npy", &w, NULL);
}

static int teardown(void **state)
{
    release_context(state);
    remove("manifest.json");
    remove("w.npy");
    return leave_empty_folder(state);
}

/** Arrays of a case by name, or listed, as next to an ONNX file. */
TEST(cases_are_loaded)
{
    static const char *const texts[] = {
        "{\"layers\": [], \"cases\": [{\"inputs\": {\"x\": \"w.npy\"}, \"outputs\": {\"y\": \"w.npy\"},"
        " \"tolerance\": {\"y\": {\"atol\": 0.5}}}]}",
        "{\"model\": \"model.onnx\", \"cases\": [{\"inputs\": [{\"name\": \"x\", \"file\": \"w.npy\", \"shape\": [2]}],"
        " \"outputs\": [{\"name\": \"y\", \"file\": \"w.npy\"}], \"tolerance\": {\"y\": {\"atol\": 0.5}}}]}",
        "{\"model\": \"model.onnx\", \"cases\": [{\"inputs\": [{\"file\": \"w.npy\"}]}]}",
        "{\"model\": \"model.onnx\", \"cases\": [{\"inputs\": [{\"name\": \"x\", \"file\": \"../w.npy\"}]}]}",
    };
    static const char *const messages[] = {NULL, NULL, "an array without a name: no file is named", "x: "};
    static float values[2] = {3, 4};
    const struct npy_array array = {WNNOperandDataType_Float32, 1, {2}, sizeof values, values, false};
    struct error e = {0};

    assert_true(npy_write("w.npy", &array, &e));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct manifest *m;
        struct manifest_case c;

        write_bytes("manifest.json", texts[i], strlen(texts[i]));
        assert_works(manifest_open(".", &m, &e), &e);
        assert_int_equal(manifest_case_count(m), 1);
        if (manifest_case_load(m, 0, &c, &e) != !messages[i])
            fail_msg("%s: %s", texts[i], e.message);
        if (messages[i]) {
            assert_non_null(strstr(e.message, messages[i]));
        } else {
            assert_int_equal(c.input_count, 1);
            assert_string_equal(c.inputs[0].name, "x");
            assert_int_equal(c.inputs[0].array.byteLength, sizeof values);
            assert_memory_equal(c.inputs[0].array.data, values, sizeof values);
            assert_int_equal(c.output_count, 1);
            assert_string_equal(c.outputs[0].name, "y");
            assert_close(c.outputs[0].atol, 0.5, 0);
        }
        manifest_case_free(&c);
        manifest_close(m);
    }
}

TEST_GROUP(setup, teardown)
