/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-run --each: folders and lists of inputs, a line of JSON for each, what fails in the middle. */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>

#define F32 WNNOperandDataType_Float32

static const float six[6] = {1, -2, 3, 0.25f, 1e-3f, 100};

static int prepare(void **state)
{
    if (enter_folder(state))
        return 1;
    write_text("sum.webnn", "webnn_graph \"sum\" v1 { inputs { x: f32[2, 3]; } consts { half: f32[] @scalar(0.5); }\n"
                            "nodes { y = add(x, half); twice = add(x, x); } outputs { y; twice; } }");
    write_text("two.webnn",
               "webnn_graph \"two\" v1 { inputs { a: f32[4]; b: f32[4]; } nodes { c = sub(a, b); } outputs { c; } }");
    write_array("six.npy", F32, 2, (uint32_t[]){2, 3}, six);
    return 0;
}

/* The line of a file in what was printed, as JSON. */
static cJSON *line_of(const char *input)
{
    char start[128];

    snprintf(start, sizeof start, "{\"input\": \"%s\"", input);
    const char *at = strstr(printed, start);
    if (!at)
        fail_msg("there is no line for %s: %s", input, printed);
    return cJSON_ParseWithLength(at, strcspn(at, "\n"));
}

static double first_of(const cJSON *line, const char *output, int i)
{
    const cJSON *outputs = cJSON_GetObjectItem(line, "outputs");
    const cJSON *first = cJSON_GetObjectItem(cJSON_GetObjectItem(outputs, output), "first");

    assert_non_null(cJSON_GetArrayItem(first, i));
    return cJSON_GetArrayItem(first, i)->valuedouble;
}

TEST(each_file_has_a_line)
{
    runs(0, "", "mkdir -p many/below");
    write_array("many/a.npy", F32, 2, (uint32_t[]){2, 3}, six);
    write_array("many/below/b.npy", F32, 2, (uint32_t[]){2, 3}, (float[6]){7, 8, 9, 10, 11, 12});
    write_array("many/c.npy", F32, 1, (uint32_t[]){6}, six); /* not the model's shape */
    write_text("many/d.npy", "\x93NUMPY and nothing else");
    runs(1, "2 of 4 inputs failed", "%s sum.webnn --each x=many --first 6 --top 1 --save-each saved", WEBNN_RUN);
    assert_not_printed("input 'x'"
                       " float32"); /* nothing but lines of JSON goes to stdout */
    cJSON *line = line_of("many/a.npy");
    for (int i = 0; i < 6; i++)
        assert_true((float)first_of(line, "y", i) == six[i] + 0.5f);
    const cJSON *top = cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(line, "outputs"), "y"), "top");
    assert_int_equal(cJSON_GetArraySize(top), 2); /* rows */
    assert_int_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetArrayItem(top, 1), 0), "index")->valueint, 2);
    cJSON_Delete(line);
    line = line_of("many/below/b.npy");
    assert_true(first_of(line, "twice", 5) == 24);
    cJSON_Delete(line);
    line = line_of("many/c.npy");
    assert_non_null(strstr(cJSON_GetObjectItem(line, "error")->valuestring, "float32 [6], the model takes float32 [2, 3]"));
    cJSON_Delete(line);
    line = line_of("many/d.npy");
    assert_non_null(cJSON_GetObjectItem(line, "error"));
    cJSON_Delete(line);
    runs(1, "", "%s sum.webnn --input x=saved/b.npy.npz", WEBNN_RUN); /* it holds y and twice */
    runs(1, "", "%s two.webnn --input a=six.npy", WEBNN_RUN);

    /* A list; archives with several inputs; what else is given stays as it is. */
    write_array("a4.npy", F32, 1, (uint32_t[]){4}, six);
    write_text("list", "a4.npy\n\na4.npy\n");
    write_array("b4.npy", F32, 1, (uint32_t[]){4}, (float[4]){1, 1, 1, 1});
    runs(0, "", "%s two.webnn --input b=b4.npy --each-list a=list --first 1", WEBNN_RUN);
    line = line_of("a4.npy");
    assert_true(first_of(line, "c", 0) == 0);
    cJSON_Delete(line);
    runs(0, "", "%s two.webnn --input a=a4.npy --input b=b4.npy --output c=c.npy --output all.npz --quiet", WEBNN_RUN);
    float *y = read_floats("c.npy", 4);
    assert_true(y[1] == -3);
    free(y);

    /* Files that do not fit the model come first: too few bytes, another shape, no picture, none that is read at all. */
    runs(0, "", "mkdir -p mixed");
    write_text("mixed/1.png", "no picture");
    write_array("mixed/2.npy", F32, 1, (uint32_t[]){6}, six);
    write_array("mixed/3.npy", F32, 2, (uint32_t[]){2, 3}, six);
    write_text("mixed/0.npy", "\x93NUMPY and nothing else");
    runs(1, "3 of 4 inputs failed", "%s sum.webnn --each mixed --first 1", WEBNN_RUN);
    line = line_of("mixed/1.png");
    assert_non_null(strstr(cJSON_GetObjectItem(line, "error")->valuestring, "is neither PNG nor JPEG"));
    cJSON_Delete(line);
    line = line_of("mixed/3.npy");
    assert_true(first_of(line, "y", 0) == 1.5);
    cJSON_Delete(line);
    runs(1, "2 of 2 inputs failed", "rm mixed/3.npy mixed/1.png && %s sum.webnn --each mixed", WEBNN_RUN);

    /* Refusals. */
    runs(2, "--state does not go with --each", "%s sum.webnn --each many --state x=y", WEBNN_RUN);
    runs(1, "list is not a folder and cannot be made one", "%s sum.webnn --each many --save-each list", WEBNN_RUN);
    runs(1, "name different inputs", "%s sum.webnn --each many --each-list x=list", WEBNN_RUN);
    runs(1, "none of 1 files can be read; the first: nowhere", "%s sum.webnn --each nowhere", WEBNN_RUN);
    runs(1, "there is no input 'y'", "%s sum.webnn --each y=many", WEBNN_RUN);
    runs(2, "--compare does not go with --each", "%s sum.webnn --each many --compare y=six.npy", WEBNN_RUN);
    runs(2, "--save-each is for --each", "%s sum.webnn --save-each saved", WEBNN_RUN);
    write_array("many/below/a.npy", F32, 2, (uint32_t[]){2, 3}, six);
    runs(1, "an earlier input has the same name", "%s sum.webnn --each many --save-each saved", WEBNN_RUN);
}

TEST_GROUP(prepare, leave_folder)
