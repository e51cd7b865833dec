/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The page of webnn-run --report: its JSON against the table of --profile and against the model, and refusals. */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>

static const char begin[] = "<script id=\"data\" type=\"application/json\">", end[] = "</script>";

/* Returns the JSON inside of a page, which the caller deletes.  Labels must not end the script. */
static cJSON *read_page(const char *path)
{
    char *text, *from, *to;
    size_t length;

    assert_true(file_read(path, &text, &length, NULL));
    assert_null(strstr(text, " src=")); /* it needs no other file */
    assert_null(strstr(text, " href="));
    from = strstr(text, begin);
    assert_non_null(from);
    from += sizeof begin - 1;
    to = strstr(from, end);
    assert_non_null(to);
    cJSON *root = cJSON_ParseWithOpts(from, (const char **)&from, false);
    assert_non_null(root);
    assert_true(from == to);
    free(text);
    return root;
}

static const cJSON *member(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    if (!found)
        fail_msg("no member %s", name);
    return found;
}

static double number(const cJSON *object, const char *name)
{
    return cJSON_GetNumberValue(member(object, name));
}

/* Returns whether a step computes the operator with that label, which what packs its weights has, too. */
static bool step_computes(const cJSON *step, const char *label)
{
    const cJSON *operator;
    bool found = false;

    cJSON_ArrayForEach(operator, member(step, "operators")) found |=
        !strcmp(cJSON_GetStringValue(cJSON_GetArrayItem(operator, 1)), label);
    return found;
}

/* Returns how many steps of the page compute the operator with that label. */
static int steps_of(const cJSON *root, const char *label)
{
    const cJSON *step;
    int count = 0;

    cJSON_ArrayForEach(step, member(member(root, "graph"), "program")) count += step_computes(step, label);
    return count;
}

/* Every row of the profile's table is a step of the page, with its times. */
static void assert_profile(const cJSON *root)
{
    const cJSON *graph = member(root, "graph"), *step;
    char row[256];
    int i = 0;

    snprintf(row, sizeof row, "profile: %.0f run(s) of %d steps", number(graph, "runs"),
             cJSON_GetArraySize(member(graph, "steps")));
    assert_printed(row);
    assert_int_equal(cJSON_GetArraySize(member(graph, "steps")), cJSON_GetArraySize(member(graph, "program")));
    cJSON_ArrayForEach(step, member(graph, "steps"))
    {
        snprintf(row, sizeof row, "  %4d %-32s %-28s %6.0f ", i++, cJSON_GetStringValue(member(step, "name")),
                 cJSON_GetStringValue(member(step, "implementation")), number(step, "calls"));
        assert_printed(row);
        const double us = strtod(strstr(printed, row) + strlen(row), NULL);
        assert_true(fabs(us - number(step, "us")) <= 0.0051 + 0.0006); /* two decimals, and three */
        assert_true(number(step, "least_us") > 0 && number(step, "least_us") <= number(step, "us") + 0.001);
    }
}

TEST(a_page_says_what_the_profile_says)
{
    write_text(
        "labelled.webnn",
        "webnn_graph \"labelled\" v1 { inputs { x: f32[8, 64]; } consts { w: f32[64, 64] @scalar(0.5); c: f32[64] @scalar(2); "
        "}\n"
        "nodes { m = matmul(x, w, label=\"</script>product\"); a = relu(m, label=\"positive\"); d = neg(c, label=\"known\");\n"
        "i = identity(a, label=\"same\"); s = add(i, d); y = softmax(s, 1, label=\"end\"); } outputs { y; } }");
    runs(0, "", "%s labelled.webnn --engine cpu --random 1 --threads 2 --profile --report page.html", WEBNN_RUN);
    cJSON *root = read_page("page.html");
    const cJSON *graph = member(root, "graph"), *operator= cJSON_GetArrayItem(member(graph, "operators"), 1);

    assert_profile(root);
    assert_int_equal(cJSON_GetArraySize(member(graph, "operators")), 6);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(operator, 0)), "relu");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(operator, 1)), "positive");
    assert_int_equal(steps_of(root, "</script>product"), 1);
    assert_int_equal(steps_of(root, "positive"), 1);
    assert_int_equal(steps_of(root, "end"), 1);
    assert_int_equal(steps_of(root, "same"), 0);
    assert_int_equal(steps_of(root, "known"), 0);
    assert_true(number(root, "gflops") > 0);
    assert_true(number(cJSON_GetArrayItem(member(root, "moving"), 0), "gbs") > 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetArrayItem(member(graph, "inputs"), 0), 0)), "x");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetArrayItem(member(graph, "outputs"), 0), 1)),
                        "f32[8, 64]");
    cJSON_Delete(root);
    /* Compiled beforehand, the graph has no operators any more, but its steps and times. */
    runs(0, "", "%s labelled.webnn --engine cpu --save labelled.wnn", WEBNN_RUN);
    runs(0, "", "%s labelled.wnn --random 1 --profile --report page.html", WEBNN_RUN);
    root = read_page("page.html");
    assert_true(cJSON_GetArraySize(member(member(root, "graph"), "steps")) > 0);
    assert_int_equal(cJSON_GetArraySize(member(member(root, "graph"), "program")), 0);
    cJSON_Delete(root);
}

TEST(nodes_of_onnx_are_on_the_page)
{
    static const char *const types[] = {"Conv", "Relu", "MaxPool", "Conv",    "Relu",    "Conv", "Relu",
                                        "Conv", "Add",  "Relu",    "MaxPool", "Flatten", "Gemm", "Softmax"};
    int i = 0;

    runs(0, "", "%s %s --dim batch=1 --engine cpu --random 1 --quiet --report page.html", WEBNN_RUN, SHAPES);
    assert_string_equal(printed, "");
    OWNED(json) cJSON *root = read_page("page.html");
    const cJSON *node;

    cJSON_ArrayForEach(node, member(root, "nodes"))
    {
        assert_string_equal(cJSON_GetStringValue(cJSON_GetArrayItem(node, 1)), types[i++]);
        assert_true(steps_of(root, cJSON_GetStringValue(cJSON_GetArrayItem(node, 0))) > 0);
    }
    assert_int_equal(i, sizeof types / sizeof *types);
}

/* The steps of a recurrent operator run many times and are those of one operator. */
TEST(loops_are_on_the_page)
{
    write_text("gru.webnn",
               "webnn_graph \"gru\" v1 { inputs { x: f32[20, 1, 8]; } consts { w: f32[1, 48, 8] @scalar(0.1);\n"
               "r: f32[1, 48, 16] @scalar(0.1); } nodes { h = gru(x, w, r, 20, 16, label=\"turns\"); } outputs { h; } }");
    runs(0, "", "%s gru.webnn --engine cpu --random 1 --profile --report page.html", WEBNN_RUN);
    OWNED(json) cJSON *root = read_page("page.html");

    assert_profile(root);
    assert_true(steps_of(root, "turns") > 1);
}

TEST(what_cannot_be_written_is_an_error)
{
    struct stat s;

    write_text("sum.webnn", "webnn_graph \"sum\" v1 { inputs { x: f32[2]; } nodes { y = add(x, x); } outputs { y; } }");
    runs(1, "none/page.html: No such file or directory", "%s sum.webnn --random 1 --report none/page.html", WEBNN_RUN);
    runs(1, "--report: a temporary folder: No such file or directory",
         "TMPDIR=$PWD/none %s sum.webnn --random 1 --report page2.html", WEBNN_RUN);
    runs(1, "", "%s absent.webnn --report page2.html", WEBNN_RUN);
    runs(2, "", "%s sum.webnn --each . --report page2.html", WEBNN_RUN);
    assert_true(stat("page2.html", &s) != 0);
    /* Temporary files do not stay. */
    runs(0, "", "mkdir here && TMPDIR=$PWD/here %s sum.webnn --random 1 --report page2.html && rmdir here", WEBNN_RUN);
    runs(0, "debug switch steps: none/steps.json: No such file or directory",
         "WEBNN_DEBUG=steps=none/steps.json %s sum.webnn --random 1", WEBNN_RUN);
}

TEST_GROUP(enter_folder, leave_folder)
