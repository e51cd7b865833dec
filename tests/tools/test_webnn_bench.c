/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-bench from outside: what its JSON says of models, steps and the machine, and what it refuses. */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>

#include "support/processor.h"

static int prepare(void **state)
{
    if (enter_folder(state))
        return 1;
    write_text("matmul.webnn", "webnn_graph \"matmul\" v1 { inputs { a: f32[64, 64]; b: f32[64, 64]; }\n"
                               "nodes { c = matmul(a, b); } outputs { c; } }");
    write_text("mixed.webnn", "webnn_graph \"mixed\" v1 { inputs { x: f32[64, 64]; }\n"
                              "consts { w: f32[64, 64] @scalar(0.1); }\n"
                              "nodes { c = matmul(x, w); s = softmax(c, 1); t = transpose(s); } outputs { s; t; } }");
    return 0;
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsNumber(value))
        fail_msg("%s is missing: %s", key, printed);
    return value->valuedouble;
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsString(value))
        fail_msg("%s is missing: %s", key, printed);
    return value->valuestring;
}

TEST(the_bench_prints_a_line)
{
    runs(0, "", "%s matmul.webnn --json --seconds 0.05 --threads 1", WEBNN_BENCH);
    assert_ptr_equal(strchr(printed, '\n'), printed + strlen(printed) - 1);
    cJSON *root = cJSON_Parse(printed);
    assert_non_null(root);
    for (int i = 0; i < 7; i++) {
        static const char *const keys[] = {"median_ms", "min_ms", "p90_ms", "build_ms", "read_ms", "rss_mb", "gflops"};

        if (number_of(root, keys[i]) <= 0)
            fail_msg("%s is not above 0: %s", keys[i], printed);
    }
    cJSON_Delete(root);
    runs(0, "matmul.webnn", "%s matmul.webnn --seconds 0.05 --no-peaks", WEBNN_BENCH);
    assert_not_printed(" 0.00 ");
    runs(1, "\"error\": \"absent.webnn", "%s absent.webnn --json", WEBNN_BENCH);
    runs(2, "", "%s --dim batch matmul.webnn", WEBNN_BENCH);
    runs(2, "", "%s --precision half matmul.webnn", WEBNN_BENCH);
    runs(0, "", "%s matmul.webnn --precision bf16 --json --seconds 0.05", WEBNN_BENCH);
    runs(0, "", "%s matmul.webnn --tensors --json --seconds 0.05 --no-peaks", WEBNN_BENCH);
    root = cJSON_Parse(printed);
    assert_non_null(root);
    assert_true(number_of(root, "median_ms") > 0);
    cJSON_Delete(root);
}

TEST(cases_that_are_not_there_are_named)
{
    runs(1, "webnn-bench: there is no case 'mobilenetv3'; did you mean 'mobilenetv2'?  --list prints their names\n",
         "%s --print mobilenetv3", WEBNN_BENCH);
    runs(1, "webnn-bench: there is no case 'nonsense'; --list prints their names\n", "%s --case nonsense --check", WEBNN_BENCH);
    runs(0, "", "%s --level kernel,operator --list", WEBNN_BENCH);
    assert_not_printed("mobilenetv2");
}

/* One line says which option is wrong and what it was given. */
TEST(wrong_options_are_named)
{
    static const struct {
        const char *arguments, *message;
    } rows[] = {
        {"--bogus", "webnn-bench: --bogus is not an option\n"},
        {"--levle model", "webnn-bench: --levle is not an option; did you mean '--level'?\n"},
        {"--level foo",
         "webnn-bench: --level takes kernel, operator and model, separated by commas, or scale or sizes, not 'foo'\n"},
        {"--level model,scale",
         "webnn-bench: --level takes kernel, operator and model, separated by commas, or scale or sizes, not 'model,scale'\n"},
        {"--threads 0", "webnn-bench: --threads takes a number from 1 to 1024, not '0'\n"},
        {"--threads 2x", "webnn-bench: --threads takes a number from 1 to 1024, not '2x'\n"},
        {"--seconds -1", "webnn-bench: --seconds takes a number above 0, not '-1'\n"},
        {"--seconds", "webnn-bench: --seconds needs a value: a number above 0\n"},
        {"--engine abacus", "webnn-bench: --engine takes cpu, auto, gpu or gpu:DEVICE, not 'abacus'\n"},
        {"--precision half", "webnn-bench: --precision takes float32, bf16x2, bf16 or int8, not 'half'\n"},
        {"--dim batch", "webnn-bench: --dim takes NAME=N with a whole number N from 0 to 2147483647, not 'batch'\n"},
        {"--shape x=1xx2", "webnn-bench: --shape takes NAME=1x3x224x224, or NAME=scalar, not 'x=1xx2'\n"},
        {"--check matmul.webnn", "webnn-bench: --check is for the built-in cases, not 'matmul.webnn'\n"},
        {"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "webnn-bench: one run takes 16 models at most, not '17'\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        runs(2, rows[i].message, "%s %s", WEBNN_BENCH, rows[i].arguments);
        assert_printed("try: webnn-bench --help");
    }
    runs(0, "usage: webnn-bench", "%s --help", WEBNN_BENCH);
}

/* A folder's first case says what inputs are and how large; the command line wins. */
TEST(cases_are_bound)
{
    const char *folder = needed_model("magika-v3");

    runs(0, "", "%s %s --json --seconds 0.01", WEBNN_BENCH, folder);
    OWNED(json) cJSON *one = cJSON_Parse(printed);
    assert_non_null(one);
    runs(0, "", "%s %s --json --seconds 0.01 --shape bytes=2x2048", WEBNN_BENCH, folder);
    OWNED(json) cJSON *two = cJSON_Parse(printed);
    assert_non_null(two);
    double of_one = number_of(one, "gflops") * number_of(one, "median_ms");
    double of_two = number_of(two, "gflops") * number_of(two, "median_ms");
    assert_true(fabs(of_two - 2 * of_one) < 0.01 * of_one);
    runs(0, "", "%s %s --json --seconds 0.01 --dim unk__214=2", WEBNN_BENCH, folder);
}

/* What each step does is told apart: multiply-adds, other arithmetic, weights, moving.  On the processor, because for a device
 * weights are transposed by what reads them, which without fusion is a step of its own. */
TEST(steps_say_what_they_do)
{
    const cJSON *steps, *s;
    bool matmul = false, softmax = false, moved = false;

    runs(0, "", "%s mixed.webnn --engine cpu --steps --json --seconds 0.01 --debug skip=fuse-kernels", WEBNN_BENCH);
    OWNED(json) cJSON *root = cJSON_Parse(printed);
    assert_non_null(root);
    assert_string_equal(text_of(root, "name"), "mixed.webnn");
    assert_true(number_of(root, "between_steps_ms") >= 0);
    steps = cJSON_GetObjectItemCaseSensitive(root, "steps");
    cJSON_ArrayForEach(s, steps)
    {
        const bool is_matmul = !strncmp(text_of(s, "name"), "matmul", 6);

        assert_true(number_of(s, "ms") >= number_of(s, "least_ms") && number_of(s, "least_ms") > 0);
        assert_int_equal(number_of(s, "calls"), 1);
        assert_string_equal(text_of(s, "arithmetic"), "float32");
        assert_true(number_of(s, "distinct_bytes") == number_of(s, "bytes"));
        assert_true(number_of(s, "weight_bytes") == (is_matmul ? 64 * 64 * 4 : 0));
        if (is_matmul)
            matmul = number_of(s, "operations") == 0 || number_of(s, "operations") == 2.0 * 64 * 64 * 64;
        else if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(s, "moves")))
            moved = number_of(s, "operations") == 0;
        else /* exponentials and divisions, not the estimate for scheduling; 0: not counted for this processor */
            softmax = number_of(s, "operations") == 0 || number_of(s, "operations") > 2.0 * 10 * 64 * 64;
    }
    assert_true(matmul && softmax && moved);
}

/* Contractions are numbered in the order of the builder's calls, next to their own labels, on every engine. */
TEST(contractions_are_numbered)
{
    write_text("matmuls.webnn", "webnn_graph \"matmuls\" v1 { inputs { x: f32[32, 48]; }\n"
                                "consts { v: f32[48, 64] @scalar(0.1); w: f32[64, 16] @scalar(0.1); }\n"
                                "nodes { a = matmul(x, v); r = tanh(a); b = gemm(r, w, label=\"last\"); } outputs { b; } }");
    runs(0, "matmul [#0]", "%s matmuls.webnn --steps --seconds 0.01", WEBNN_BENCH);
    assert_printed("gemm [#1 last]");
}

/** Whether one of some measurements finds more multiply-adds of bytes than of floats: three or four times as many, but the two
 * are measured one after the other, and the machine does other things, too. */
static bool bytes_are_faster(cJSON *root)
{
    enum { TRIES = 5 };
    bool faster = number_of(root, "int8_gops") > number_of(root, "gflops");

    for (int i = 1; !faster && i < TRIES; i++) {
        runs(0, "", "%s --peaks --json", WEBNN_BENCH);
        OWNED(json) cJSON *again = cJSON_Parse(printed);
        assert_non_null(again);
        faster = number_of(again, "int8_gops") > number_of(again, "gflops");
    }
    return faster;
}

/* Each kind of arithmetic has a peak of its own; what the processor has no instructions for has 0, and is said to be skipped.
 */
TEST(peaks_are_by_arithmetic)
{
    const cJSON *level;
    int levels = 0;

    runs(0, "", "%s --peaks --json", WEBNN_BENCH);
    OWNED(json) cJSON *root = cJSON_Parse(printed);
    assert_non_null(root);
    assert_true(number_of(root, "gflops") > 0);
    cJSON_ArrayForEach(level, cJSON_GetObjectItemCaseSensitive(root, "bandwidth"))
    {
        assert_true(number_of(level, "copy_gbs") > 0 && number_of(level, "read_gbs") > 0);
        levels++;
    }
    assert_int_equal(levels, 5);
    const bool int8 = number_of(root, "int8_gops") > 0, bfloat16 = number_of(root, "bfloat16_gflops") > 0;
    if (library_multiplies_bytes())
        assert_true(int8 && bytes_are_faster(root));
    runs(0, "", "%s --peaks", WEBNN_BENCH);
    assert_true(int8 == !strstr(printed, "int8 skipped"));
    assert_true(bfloat16 == !strstr(printed, "bfloat16 skipped"));
}

TEST_GROUP(prepare, leave_folder)
