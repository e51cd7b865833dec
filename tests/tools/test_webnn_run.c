/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* webnn-run from outside: files in, text and files out, what it refuses and how. */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>
#include <jpeglib.h>

#include "frontend/readers/files/npz.h"
#include "support/close.h"

#define F32 WNNOperandDataType_Float32

/* y = x + 1/2, twice = 2 x, of two by three numbers. */
static void write_models(void)
{
    write_text("folded.webnn", "webnn_graph \"folded\" v1 { inputs { x: f32[1]; } consts { c: f32[5000] @scalar(1); }\n"
                               "nodes { s = reduceSum(c); y = add(x, s); } outputs { y; } }");
    write_text("sum.webnn", "webnn_graph \"sum\" v1 { inputs { x: f32[2, 3]; } consts { half: f32[] @scalar(0.5); }\n"
                            "nodes { y = add(x, half); twice = add(x, x); } outputs { y; twice; } }");
    write_text("whole.webnn", "webnn_graph \"whole\" v1 { inputs { n: i64[3]; } nodes { m = neg(n); } outputs { m; } }");
    write_text("two.webnn",
               "webnn_graph \"two\" v1 { inputs { a: f32[4]; b: f32[4]; } nodes { c = sub(a, b); } outputs { c; } }");
    write_text("stereo.webnn", "webnn_graph \"stereo\" v1 { inputs { left: f32[4]; right: f32[4]; }\n"
                               "nodes { sum = add(left, right); } outputs { sum; } }");
    /* Pictures as they come in: every layout and type. */
    write_text("nchw.webnn",
               "webnn_graph \"nchw\" v1 { inputs { p: f32[1, 3, 4, 6]; } nodes { q = identity(p); } outputs { q; } }");
    write_text("nhwc.webnn",
               "webnn_graph \"nhwc\" v1 { inputs { p: f32[1, 4, 6, 3]; } nodes { q = identity(p); } outputs { q; } }");
    write_text("grey.webnn",
               "webnn_graph \"grey\" v1 { inputs { p: f32[1, 1, 4, 6]; } nodes { q = identity(p); } outputs { q; } }");
    write_text("bytes.webnn",
               "webnn_graph \"bytes\" v1 { inputs { p: u8[3, 4, 6]; } nodes { q = identity(p); } outputs { q; } }");
}

static const float six[6] = {1, -2, 3, 0.25f, 1e-3f, 100};

static int prepare(void **state)
{
    if (enter_folder(state))
        return 1;
    write_models();
    write_array("six.npy", F32, 2, (uint32_t[]){2, 3}, six);
    return 0;
}

/* ---- the command line ---- */

TEST(help_and_man_page_agree)
{
    runs(0, wnnGetVersion(), "%s --version", WEBNN_RUN);
    assert_printed("built with LLVM " WEBNN_LLVM_VERSION);
    assert_printed("and oneDNN " WEBNN_ONEDNN_VERSION ")");
    assert_options_are_on_page(WEBNN_RUN, WEBNN_RUN_PAGE);
}

TEST(debug_help_lists_the_switches)
{
    runs(0, "\n  skip=PASS\n      skip the named passes", "WEBNN_DEBUG=help %s sum.webnn", WEBNN_RUN);
    assert_printed("output 'y'");
    runs(0, "", "%s sum.webnn", WEBNN_RUN);
    assert_not_printed("skip=PASS");
}

TEST(wrong_usage_is_told)
{
    static const struct {
        const char *arguments, *text;
    } rows[] = {
        {"", "no model is given"},
        {"--bogus sum.webnn", "--bogus is not an option"},
        {"--help=manaul", "--help takes manual or completion, not 'manaul'"},
        {"--inptu x=six.npy sum.webnn", "--inptu is not an option; did you mean '--input'?"},
        {"sum.webnn --precision fp16", "--precision takes float32, bf16x2, bf16 or int8, not 'fp16'\ntry"},
        {"sum.webnn two.webnn", "one model at a time: sum.webnn, then two.webnn"},
        {"sum.webnn --input", "--input needs a value"},
        {"sum.webnn --dim batch", "--dim takes NAME=N with a whole number N from 0 to 2147483647, not 'batch'"},
        {"sum.webnn --dim batch=-1", "--dim takes NAME=N with a whole number N from 0 to 2147483647, not 'batch=-1'"},
        {"sum.webnn --dim batch=2,seq=10",
         "--dim takes one NAME=N at a time (--dim batch=2 --dim seq=10), not 'batch=2,seq=10'"},
        {"sum.webnn --dim batch=99999999999", "--dim takes NAME=N"},
        {"sum.webnn --dim batch=1.5", "--dim takes NAME=N with a whole number N from 0 to 2147483647, not 'batch=1.5'"},
        {"sum.webnn --shape x=2x", "--shape takes NAME=1x3x224x224, or NAME=scalar, not 'x=2x'"},
        {"sum.webnn --outputs y,", "--outputs takes NAME,NAME,..., not 'y,'"},
        {"sum.webnn --shape x=2x-3", "--shape takes"},
        {"sum.webnn --shape x=4294967298x3", "--shape takes"}, /* 2^32 + 2 */
        {"sum.webnn --resize 4", "--resize takes WIDTHxHEIGHT or auto, not '4'"},
        {"sum.webnn --resize 0x4", "--resize takes"},
        {"sum.webnn --resize 4x4y", "--resize takes"},
        {"sum.webnn --mean 1,2", "--mean takes one number or three, not '1,2'"},
        {"sum.webnn --std 0", "none of them 0, not '0'"},
        {"sum.webnn --scale 1/0", "--scale takes"},
        {"sum.webnn --atol -1", "--atol takes"},
        {"sum.webnn --layout hwcn", "--layout takes nchw or nhwc, not 'hwcn'"},
        {"sum.webnn --top 0", "--top takes"},
        {"sum.webnn --repeat 1.5", "--repeat takes"},
        {"sum.webnn --budget 0", "--budget takes OPERATIONS or OPERATIONS,BYTES, whole numbers from 1, not '0'"},
        {"sum.webnn --engine abacus", "--engine takes cpu, auto, gpu or gpu:DEVICE, not 'abacus'"},
        {"sum.webnn --engine gpu:", "--engine takes cpu, auto, gpu or gpu:DEVICE, not 'gpu:'"},
        {"sum.webnn --precision half", "--precision takes float32, bf16x2, bf16 or int8, not 'half'"},
        {"sum.webnn --budget 10,", "--budget takes"},
        {"sum.webnn --budget -1", "--budget takes"},
        {"sum.webnn --grey=1", "--grey takes no value"},
        {"sum.webnn --compare six.npy", "--compare takes NAME=FILE.npy"},
        {"sum.webnn --trace a,b", "--trace takes a file whose name has no comma"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        runs(2, rows[i].text, "%s %s", WEBNN_RUN, rows[i].arguments);
}

TEST(failures_name_what_failed)
{
    static const struct {
        const char *arguments, *text;
    } rows[] = {
        {"absent.webnn", "absent.webnn"},
        {"six.npy", "six.npy is not a model"},
        {"sum.webnn --input z=six.npy", "no input 'z'"},
        {"sum.webnn --input x=absent.npy", "absent.npy: No such file"},
        {"sum.webnn --input x=short.npy", "short.npy"},
        {"sum.webnn --input x=six.npy --input x=six.npy", "input 'x' is given twice"},
        {"two.webnn --input six.npy", "which of the model's 2 inputs"},
        {"whole.webnn --input n=six.npy", "input 'n' has the shape [3], six.npy [2, 3]"},
        {"whole.webnn --input n=three.npy", "input 'n': three.npy is float32 [3], the model takes int64 [3]"},
        {"sum.webnn --input x=raw.bin", "raw.bin has 5 bytes, the model takes 24 (float32 [2, 3])"},
        {"sum.webnn --input x=two.npz", "two.npz holds no array 'x'"},
        {"sum.webnn --output z=z.npy", "no output 'z'"},
        {"sum.webnn --output z.npy", "which output?"},
        {"sum.webnn --output y=none/y.npy", "none/y.npy"},
        {"sum.webnn --save none/y.wnn", "none/y.wnn"},
        {"sum.webnn --output y=y.png", "" /* two dimensions are a grey picture */},
        {"whole.webnn --output m=m.png", "int64 [3] is not a picture"},
        {"sum.webnn --compare z=six.npy", "no output 'z'"},
        {"sum.webnn --compare y=absent.npy", "absent.npy"},
        {"whole.webnn --compare m=six.npy", "six.npy is float32 [2, 3], the output is int64 [3]"},
        {"sum.webnn --labels absent.txt", "absent.txt"},
        {"sum.webnn --trace none/trace.json", "none/trace.json"},
        {"sum.webnn --trace /dev/full", "trace: /dev/full: No space left on device"},
        {"sum.webnn --output y=/dev/full", "/dev/full: No space left on device"},
        {"sum.webnn --save /dev/full", "/dev/full: No space left on device"},
        {"folder", "folder: the folder has neither a model.onnx nor a manifest.json"},
        {"/dev/zero", "/dev/zero: a pipe or device that does not end within 1073741824 bytes"},
        {"sum.webnn --debug nonsense", "unknown debug switch 'nonsense'"},
        {"sum.webnn --debug skip=winogrd", "no pass is called \"winogrd\"; did you mean 'winograd'?"},
        {"sum.webnn --constant x=absent.npy", "--constant x: absent.npy: No such file or directory; numbers such as x=16000"},
        {"sum.webnn --constant x=1,2", "input \"x\" has the shape [2], the input [2, 3]"},
        {"whole.webnn --constant n=1,2.5,3", "input \"n\" is of type float32, the input of type int64"},
        {"two.webnn --constant bb=1", "there is no input 'bb'; there are 'a', 'b'"},
        {"stereo.webnn --constant lfet=1", "there is no input 'lfet'; did you mean 'left'?  There are 'left', 'right'"},
        {"stereo.webnn --input lfet=six.npy --quiet", "there is no input 'lfet'; did you mean 'left'?  There are"},
        {"stereo.webnn --outputs sums", "the model has no output 'sums'; did you mean 'sum'?"},
        {"stereo.webnn --outputs sum,sum", "output \"sum\" is requested twice"},
        {"stereo.webnn --output sums=y.npy", "no output 'sums'; did you mean 'sum'?"},
        {"sum.webnn --budget 1000000,3", "bytes of memory, and 0 of the budget of 3 are spent"},
        {"folded.webnn --budget 1000", "operations, and 0 of the budget of 1000 are spent"},
    };
    const struct npz_entry two[2] = {{"a", {F32, 1, {1}, 4, (void *)six, false}}, {"b", {F32, 1, {1}, 4, (void *)six, false}}};

    write_text("raw.bin", "12345");
    assert_int_equal(mkdir("folder", 0700), 0);
    write_array("three.npy", F32, 1, (uint32_t[]){3}, six);
    write_text("short.npy", "\x93NUMPY\1");
    assert_true(npz_write("two.npz", two, 2, NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = run("%s %s", WEBNN_RUN, rows[i].arguments);

        if (*rows[i].text && status != 1)
            fail_msg("'%s' ended with %d: %s", rows[i].arguments, status, printed);
        assert_printed(rows[i].text);
    }
}

/* ---- arrays ---- */

TEST(arrays_go_in_and_come_out)
{
    float *y;
    struct npz_entry *entries;
    size_t count, length;
    char *raw;

    runs(0, "input 'x' float32 [2, 3] from six.npy",
         "%s sum.webnn --input x=six.npy --output y=y.npy --output all.npz --output twice=twice.raw --first 2", WEBNN_RUN);
    assert_printed("output 'y' float32 [2, 3]: min -1.5, max 100.5, mean 17.54");
    assert_printed("  1.5 -1.5 ...");
    y = read_floats("y.npy", 6);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == six[i] + 0.5f);
    free(y);
    assert_true(npz_read("all.npz", &entries, &count, NULL));
    assert_int_equal(count, 2);
    assert_string_equal(entries[1].name, "twice");
    assert_true(((float *)entries[1].array.data)[5] == 200);
    npz_free(entries, count);
    assert_true(file_read("twice.raw", &raw, &length, NULL));
    assert_int_equal(length, sizeof six);
    free(raw);
    /* The file just written, as the input: by the names in it, and as raw elements. */
    runs(0, "", "%s sum.webnn --input x=twice.raw --output twice=four.npy", WEBNN_RUN);
    y = read_floats("four.npy", 6);
    assert_true(y[5] == 400);
    free(y);
    runs(0, "", "%s sum.webnn --input six.npy --quiet", WEBNN_RUN); /* the only input needs no name */
    assert_string_equal(printed, "");
    /* Statistics count numbers that are not finite. */
    write_array("odd.npy", F32, 2, (uint32_t[]){2, 3}, (float[6]){NAN, 1, 3, INFINITY, 1, 3});
    runs(0, "output 'twice' float32 [2, 3]: min 2, max 6, mean 4, std 2, 2 of 6 not finite", "%s sum.webnn --input x=odd.npy",
         WEBNN_RUN);
}

TEST(outputs_are_cut_to_what_counts)
{
    static const char text[] = "webnn_graph \"counted\" v1 { inputs { x: f32[2, 3]; }\n"
                               "nodes { y = abs(x); t = transpose(y); s = reduceMin(y); n = cast(s, type=\"int32\"); }\n"
                               "outputs { y; t; \"y.shape[1]\" = n; \"t.shape[0]\" = n; } }\n";
    float *y;

    assert_true(file_write("counted.webnn", text, sizeof text - 1, NULL));
    write_array("x.npy", F32, 2, (uint32_t[]){2, 3}, (float[6]){3, -2, 4, 5, 9, 6});
    runs(0, "output 'y' float32 [2, 2]: min 2, max 9",
         "%s counted.webnn --input x.npy --first 9 --output y=y.npy --output t=t.npy", WEBNN_RUN);
    assert_printed("  3 2 5 9\n");
    assert_printed("output 't' float32 [2, 2]");
    assert_not_printed("shape[");
    y = read_floats("y.npy", 4);
    assert_true(y[1] == 2 && y[2] == 5);
    free(y);
    runs(1, "", "%s counted.webnn --each x.npy --each x.npy --save-each out --first 9", WEBNN_RUN); /* one name */
    assert_printed("\"y\": {\"type\": \"float32\", \"shape\": [2, 2], \"first\": [3, 2, 5, 9]}");
    write_array("x.npy", F32, 2, (uint32_t[]){2, 3}, (float[6]){0});
    runs(0, "output 'y' float32 [2, 0]", "%s counted.webnn --input x.npy --output all.npz", WEBNN_RUN);
}

/* Devices and pipes stay what they are; a link stands for its target; a file that could not be written is as it was. */
TEST(outputs_keep_devices_and_links)
{
    static const char *const options[] = {"--output y=%s", "--output y=%s.npy", "--output y=%s.png", "--output %s.npz",
                                          "--save %s"};
    char option[64], path[64], name[64];
    struct stat s;

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(name, sizeof name, "full%zu", i);
        snprintf(path, sizeof path, "%s%s", name, strrchr(options[i], 's') + 1);
        assert_int_equal(symlink("/dev/full", path), 0);
        snprintf(option, sizeof option, options[i], name);
        if (run("%s sum.webnn %s", WEBNN_RUN, option) != 1)
            fail_msg("%s was not refused", option);
        assert_printed("No space left");
        assert_true(!lstat(path, &s) && S_ISLNK(s.st_mode) && !stat(path, &s) && S_ISCHR(s.st_mode));
        unlink(path);
        assert_int_equal(symlink("target", path), 0);
        unlink("target");
        if (run("%s sum.webnn %s", WEBNN_RUN, option) != 0)
            fail_msg("%s: %s", option, printed);
        assert_true(!lstat(path, &s) && S_ISLNK(s.st_mode) && !lstat("target", &s) && S_ISREG(s.st_mode) && s.st_size > 0);
        unlink(path);
    }
    /* 128 blocks of 512 bytes do not hold the archive. */
    write_text("large.webnn",
               "webnn_graph \"large\" v1 { inputs { x: f32[100000]; } nodes { y = identity(x); } outputs { y; } }");
    write_text("kept.npz", "precious");
    runs(1, "File too large", "trap '' XFSZ; ulimit -f 128; %s large.webnn --output kept.npz", WEBNN_RUN);
    assert_true(!stat("kept.npz", &s) && s.st_size == 8);
    runs(1, "", "ls -A | grep tmp");
}

TEST(archives_name_their_inputs)
{
    const float a[4] = {5, 6, 7, 8}, b[4] = {1, 1, 2, 2};
    const struct npz_entry pair[2] = {{"b", {F32, 1, {4}, sizeof b, (void *)b, false}},
                                      {"a", {F32, 1, {4}, sizeof a, (void *)a, false}}};

    assert_true(npz_write("pair.npz", pair, 2, NULL));
    runs(0, "  4 5 5 6\n", "%s two.webnn --input pair.npz", WEBNN_RUN);
    runs(0, "  4 5 5 6\n", "%s two.webnn --input a=pair.npz --input b=pair.npz", WEBNN_RUN);
}

/** A pipe's bytes can be read once: nothing looks at them before their reader does. */
TEST(pipes_are_models_and_raw_elements)
{
    runs(0, "", "cat sum.webnn | %s /dev/stdin --input x=six.npy --output y=from_file.npy", WEBNN_RUN);
    runs(0, "compare 'y' with from_file.npy: ok",
         "tail -c 24 six.npy | %s sum.webnn --input x=/dev/stdin --compare y=from_file.npy --atol 0 --rtol 0", WEBNN_RUN);
}

TEST(compiled_graphs_are_models)
{
    static const char *const late[] = {"--precision bf16", "--deterministic", "--budget 1000000"};

    runs(0, "", "%s sum.webnn --input x=six.npy --save sum.wnn --output y=y.npy", WEBNN_RUN);
    runs(0, "loaded in", "%s sum.wnn --input six.npy --compare y=y.npy --atol 0 --rtol 0", WEBNN_RUN);
    assert_printed("output 'twice' float32 [2, 3]");
    runs(1, "no input 'z'", "%s sum.wnn --input z=six.npy", WEBNN_RUN);
    runs(1, "sum.wnn is compiled", "%s sum.wnn --shape x=2x3", WEBNN_RUN);
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        runs(1, "sum.wnn is compiled", "%s sum.wnn %s", WEBNN_RUN, late[i]);
    write_text("torn.wnn", "\x89WNNIMG\nnothing");
    runs(1, "torn.wnn", "%s torn.wnn", WEBNN_RUN);
}

TEST(missing_inputs_are_zeros_or_noise)
{
    float *y, *again;
    bool differs = false;

    runs(0, "input 'x' float32 [2, 3] not given: zeros", "%s sum.webnn --output y=y.npy", WEBNN_RUN);
    y = read_floats("y.npy", 6);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == 0.5f);
    free(y);
    runs(0, "not given: noise", "%s sum.webnn --random 7 --output y=y.npy --output twice=t.npy", WEBNN_RUN);
    runs(0, "", "%s sum.webnn --random 7 --compare y=y.npy --atol 0 --rtol 0", WEBNN_RUN);
    y = read_floats("y.npy", 6);
    runs(0, "", "%s sum.webnn --random 8 --output y=y.npy", WEBNN_RUN);
    again = read_floats("y.npy", 6);
    for (int i = 0; i < 6; i++) {
        assert_true(y[i] >= -0.5f && y[i] <= 1.5f);
        differs |= y[i] != again[i];
    }
    assert_true(differs);
    free(y);
    free(again);
    runs(0, "", "%s two.webnn --random 3", WEBNN_RUN); /* inputs get noise of their own */
    assert_not_printed("min 0, max 0");
}

TEST(comparing_finds_the_worst)
{
    float near[6], far[6];
    const int64_t whole[3] = {-1, -2, INT64_C(9007199254740993)}, same[3] = {1, 2, INT64_C(-9007199254740993)},
                  off[3] = {1, 2, INT64_C(-9007199254740992)};

    for (int i = 0; i < 6; i++)
        near[i] = far[i] = six[i] + 0.5f;
    near[5] *= 1.0005f;
    far[1] += 0.25f;
    far[4] = NAN;
    write_array("near.npy", F32, 2, (uint32_t[]){2, 3}, near);
    write_array("far.npy", F32, 2, (uint32_t[]){2, 3}, far);
    runs(0, "compare 'y' with near.npy: ok", "%s sum.webnn --input x=six.npy --compare y=near.npy", WEBNN_RUN);
    assert_printed("at [1, 2]: 100.5 instead of 100.55");
    runs(1, "MISMATCH", "%s sum.webnn --input x=six.npy --compare y=near.npy --rtol 1e-4", WEBNN_RUN);
    assert_printed("1 of 6 elements are beyond 1e-05 + 0.0001 * |expected|, the first at [1, 2]");
    runs(0, "", "%s sum.webnn --input x=six.npy --compare y=near.npy --rtol 0 --atol 0.06", WEBNN_RUN);
    runs(1, "largest absolute error inf at [1, 1]", "%s sum.webnn --input x=six.npy --compare y=far.npy --atol 1 --quiet",
         WEBNN_RUN);
    assert_printed("1 of 6 elements");
    runs(1, "2 of 6 elements are beyond 1e-05 + 0.001 * |expected|, the first at [0, 1]",
         "%s sum.webnn --input x=six.npy --compare y=far.npy", WEBNN_RUN);
    near[2] = INFINITY; /* to which a tolerance relative to it would make everything near */
    write_array("infinite.npy", F32, 2, (uint32_t[]){2, 3}, near);
    runs(1, "1 of 6 elements are beyond 1e-05 + 0.001 * |expected|, the first at [0, 2]",
         "%s sum.webnn --input x=six.npy --compare y=infinite.npy", WEBNN_RUN);
    /* Integers are exact, also where doubles are not. */
    write_array("whole.npy", WNNOperandDataType_Int64, 1, (uint32_t[]){3}, whole);
    write_array("same.npy", WNNOperandDataType_Int64, 1, (uint32_t[]){3}, same);
    write_array("off.npy", WNNOperandDataType_Int64, 1, (uint32_t[]){3}, off);
    runs(0, "1 2 -9007199254740993", "%s whole.webnn --input n=whole.npy --compare m=same.npy", WEBNN_RUN);
    runs(1, "largest absolute error 1 at [2]", "%s whole.webnn --input n=whole.npy --compare m=off.npy", WEBNN_RUN);
    runs(0, "", "%s whole.webnn --input n=whole.npy --compare m=off.npy --atol 1", WEBNN_RUN);
    /* What --output FILE.npz wrote. */
    runs(0, "", "%s whole.webnn --input n=whole.npy --output whole.npz --quiet", WEBNN_RUN);
    runs(0, "", "%s whole.webnn --input n=whole.npy --compare m=whole.npz", WEBNN_RUN);
    runs(1, "", "%s whole.webnn --input n=off.npy --compare m=whole.npz", WEBNN_RUN);
    runs(1, "whole.npz has no array 'y'", "%s sum.webnn --input x=six.npy --compare y=whole.npz", WEBNN_RUN);
}

TEST(the_largest_get_labels)
{
    write_text("labels.txt", "one\r\ntwo\nth\x1Bree");
    runs(0,
         "  row 0\n       2  3.5  th\\u{1b}ree\n       0  1.5  one\n  row 1\n       2  100.5  th\\u{1b}ree\n       0 "
         " 0.75  one\n",
         "%s sum.webnn --input x=six.npy --top 2 --labels labels.txt --quiet", WEBNN_RUN);
    write_text("four.txt", "a\nb\nc\nd\n");
    runs(0, "four.txt has 4 labels, and no output has rows of 4",
         "%s sum.webnn --input x=six.npy --top 2 --labels four.txt --quiet",
         WEBNN_RUN); /* a wrong file is said, not passed over */
    assert_printed("       2  3.5\n       0  1.5\n");
}

/* ---- pictures ---- */

static void make_picture(const char *path, uint32_t width, uint32_t height, int red_step, int green, int blue)
{
    SCOPED(picture_free) struct picture p = {0};

    assert_true(picture_create(width, height, &p, NULL));
    for (uint32_t i = 0; i < width * height; i++) {
        p.rgb[3 * i] = (uint8_t)(red_step * (int)(i % width));
        p.rgb[3 * i + 1] = (uint8_t)green;
        p.rgb[3 * i + 2] = (uint8_t)(blue < 0 ? i % 2 * 255 : (unsigned)blue);
    }
    assert_true(picture_write(path, &p, NULL));
}

static void make_jpeg(const char *path, uint32_t width, uint32_t height, int red, int green, int blue)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    OWNED(file) FILE *file = fopen(path, "wb");
    OWNED(memory) uint8_t *row = malloc(3 * (size_t)width);

    assert_non_null(file);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (uint32_t x = 0; x < width; x++) {
        row[3 * x] = (uint8_t)red;
        row[3 * x + 1] = (uint8_t)green;
        row[3 * x + 2] = (uint8_t)blue;
    }
    for (uint32_t y = 0; y < height; y++)
        jpeg_write_scanlines(&jpeg, &row, 1);
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
}

TEST(pictures_become_numbers)
{
    float *q;
    struct npy_array bytes;

    make_picture("p.png", 6, 4, 10, 200, 7);
    runs(0, "from p.png (6 x 4 pixels)", "%s nchw.webnn --input p=p.png --scale 1 --output q=q.npy", WEBNN_RUN);
    q = read_floats("q.npy", 72);
    assert_true(q[5] == 50 && q[6] == 0 && q[24] == 200 && q[71] == 7);
    free(q);
    runs(0, "", "%s nhwc.webnn --input p=p.png --scale 1 --layout nhwc --output q=q.npy", WEBNN_RUN);
    q = read_floats("q.npy", 72);
    assert_true(q[0] == 0 && q[1] == 200 && q[2] == 7 && q[3] == 10 && q[15] == 50);
    free(q);
    /* (level / 255 - mean) / std, for each channel its own */
    runs(0, "", "%s nchw.webnn --input p=p.png --mean 0,0.5,0.25 --std 1,2,0.5 --output q=q.npy", WEBNN_RUN);
    q = read_floats("q.npy", 72);
    assert_close(q[5], 50 / 255.0, 1e-6);
    assert_close(q[24], (200 / 255.0 - 0.5) / 2, 1e-6);
    assert_close(q[71], (7 / 255.0 - 0.25) / 0.5, 1e-6);
    free(q);
    runs(0, "", "%s grey.webnn --input p=p.png --grey --scale 1 --output q=q.npy", WEBNN_RUN);
    q = read_floats("q.npy", 24);
    assert_close(q[5], 0.299 * 50 + 0.587 * 200 + 0.114 * 7, 1e-4);
    free(q);
    runs(0, "", "%s bytes.webnn --input p=p.png --scale 1 --output q=q.npy", WEBNN_RUN);
    assert_true(npy_read("q.npy", &bytes, NULL));
    assert_int_equal(((uint8_t *)bytes.data)[24], 200);
    npy_free(&bytes);
    /* What cannot be. */
    runs(1, "the model takes 3 x 2", "%s sum.webnn --input x=p.png", WEBNN_RUN);
    runs(1, "takes three channels, but --grey is given", "%s nchw.webnn --input p=p.png --grey", WEBNN_RUN);
    runs(1, "no picture in layout nchw", "%s nhwc.webnn --input p=p.png", WEBNN_RUN);
}

TEST(pictures_are_resized)
{
    float *q;

    make_picture("large.png", 12, 8, 20, 200, -1); /* blue alternates from pixel to pixel */
    runs(1, "large.png is 12 x 8, the model takes 6 x 4", "%s nchw.webnn --input p=large.png", WEBNN_RUN);
    assert_printed("--resize auto");
    runs(0, "", "%s nchw.webnn --input p=large.png --resize auto --scale 1 --output q=q.npy", WEBNN_RUN);
    q = read_floats("q.npy", 72);
    for (int x = 1; x < 5; x++)
        assert_close(q[x], 20 * (2 * x + 0.5), 0.51); /* a ramp stays one */
    for (int i = 0; i < 24; i++) {
        assert_true(q[24 + i] == 200);
        /* Stripes become their mean; at the border the triangle is cut off, so 3/7 or 4/7 of a stripe are left. */
        assert_close(q[48 + i], 127.5, (i % 6 % 5 ? 0.51 : 20));
    }
    free(q);
    runs(0, "", "%s nchw.webnn --input p=large.png --resize 6x4", WEBNN_RUN);
    runs(1, "large.png becomes 4 x 6", "%s nchw.webnn --input p=large.png --resize 4x6", WEBNN_RUN);
    make_picture("small.png", 3, 2, 100, 9, 9);
    runs(0, "", "%s nchw.webnn --input p=small.png --resize auto --scale 1 --output q=q.npy", WEBNN_RUN);
    q = read_floats("q.npy", 72);
    assert_true(q[0] == 0 && q[1] == 25 && q[2] == 75 && q[3] == 125 && q[5] == 200 && q[24] == 9);
    free(q);
}

TEST(jpegs_are_pictures)
{
    OWNED(memory) char *bytes = NULL;
    size_t length;
    OWNED(memory) float *q = NULL;

    make_jpeg("p.jpg", 60, 40, 250, 128, 3);
    runs(0, "", "%s nchw.webnn --input p=p.jpg --resize auto --scale 1 --output q=q.npy", WEBNN_RUN);
    q = read_floats("q.npy", 72);
    for (int i = 0; i < 24; i++) {
        assert_close(q[i], 250, 3);
        assert_close(q[24 + i], 128, 3);
        assert_close(q[48 + i], 3, 3);
    }
    assert_true(file_read("p.jpg", &bytes, &length, NULL));
    assert_true(file_write("cut.jpg", bytes, length - 60, NULL));
    runs(1, "cut.jpg: Premature end of JPEG file", "%s nchw.webnn --input p=cut.jpg --resize auto", WEBNN_RUN);
    write_text("bad.jpg", "\xFF\xD8\xFF\xE0 and nothing");
    runs(1, "bad.jpg: ", "%s nchw.webnn --input p=bad.jpg --resize auto", WEBNN_RUN);
}

TEST(outputs_become_pictures)
{
    struct picture p, back;

    make_picture("p.png", 6, 4, 40, 200, 7);
    assert_true(picture_read("p.png", &p, NULL));
    for (int i = 0; i < 3; i++) {
        static const char *const ways[] = {"nchw.webnn", "nhwc.webnn --layout nhwc", "nchw.webnn --scale 1 --output-scale 1"};

        runs(0, "", "%s %s --input p=p.png --output q=q.png", WEBNN_RUN, ways[i]);
        assert_true(picture_read("q.png", &back, NULL));
        assert_int_equal(back.width, 6);
        assert_int_equal(back.height, 4);
        assert_memory_equal(back.rgb, p.rgb, 72);
        picture_free(&back);
    }
    picture_free(&p);
}

/* ---- times ---- */

/* Steps have their names on every engine; rates and who generated them are told of the processor's. */
TEST(profiles_name_kernels)
{
    write_text("labelled.webnn", "webnn_graph \"labelled\" v1 { inputs { x: f32[2, 3]; w: f32[3, 4]; }\n"
                                 "nodes { c = matmul(x, w, label=\"the matmul\"); y = softmax(c, 1, label=\"end\"); }\n"
                                 "outputs { y; } }");
    for (int library = 0; library < 2; library++) {
        const char *debug = library ? "" : "WEBNN_DEBUG=no-library ";

        runs(0, "matmul [the matmul]", "%s%s labelled.webnn --random 1 --profile", debug, WEBNN_RUN);
        assert_printed("softmax [end]");
    }
    runs(0, "4 times: median", "%s sum.webnn --engine cpu --random 1 --repeat 4 --threads 1 --precision bf16x2 --profile",
         WEBNN_RUN);
    assert_printed("profile: 4 run(s) of ");
    assert_printed("GFLOP/s");
    assert_printed("generated");
    runs(0, "", "%s sum.webnn --random 1 --repeat 3 --quiet", WEBNN_RUN); /* times were asked for */
    assert_printed("3 times: median");
    assert_null(strstr(printed, "output"));
}

TEST(standard_output_that_is_full_is_a_failure)
{
    runs(1, "standard output cannot be written: No space left on device", "(%s sum.webnn >/dev/full)", WEBNN_RUN);
    runs(1, "standard output cannot be written: No space left on device", "(%s --help >/dev/full)", WEBNN_RUN);
}

TEST(traces_are_json)
{
    const cJSON *events, *event;
    OWNED(memory) char *text = NULL;
    size_t length, steps = 0, passes = 0;

    runs(0, "", "%s sum.webnn --random 1 --repeat 5 --threads 2 --trace t.json", WEBNN_RUN);
    assert_true(file_read("t.json", &text, &length, NULL));
    OWNED(json) cJSON *root = cJSON_ParseWithLengthOpts(text, length + 1, NULL, true);
    assert_non_null(root);
    events = cJSON_GetObjectItemCaseSensitive(root, "traceEvents");
    assert_true(cJSON_IsArray(events));
    cJSON_ArrayForEach(event, events)
    {
        const cJSON *kind = cJSON_GetObjectItemCaseSensitive(event, "ph"), *category;

        assert_true(cJSON_IsString(kind) && cJSON_IsString(cJSON_GetObjectItemCaseSensitive(event, "name")));
        assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(event, "pid")));
        if (strcmp(kind->valuestring, "X"))
            continue;
        assert_true(cJSON_GetObjectItemCaseSensitive(event, "ts")->valuedouble >= 0);
        assert_true(cJSON_GetObjectItemCaseSensitive(event, "dur")->valuedouble >= 0);
        category = cJSON_GetObjectItemCaseSensitive(event, "cat");
        assert_true(cJSON_IsString(category));
        steps += !strcmp(category->valuestring, "step");
        passes += !strcmp(category->valuestring, "pass");
    }
    assert_true(steps >= 5); /* at least a step in each of five runs */
    assert_true(passes >= 5);
}

/* ---- real networks ---- */

TEST(a_jpeg_is_classified)
{
    const char *m = needed_model("mobilenetv2");

    runs(0, "output 'probabilities' float32 [1, 1000]\n     387  0.99",
         "%s %s --input input=%s/test.jpg --resize auto --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225 --top 1 "
         "--labels %s/classes.txt --quiet",
         WEBNN_RUN, m, m, m);
    assert_printed("lesser panda");
    runs(0, "", "%s %s --input %s/input.npy --compare logits=%s/expected_logits.npy --atol 1e-3", WEBNN_RUN, m, m, m);
}

/* The dimension that the file calls unk__214 is bound by the array's shape. */
TEST(symbolic_dimensions_come_from_arrays)
{
    const char *m = needed_model("magika-v3");

    runs(0, "", "%s %s --input %s/case_0/input_0.npy --compare target_label=%s/case_0/output_0.npy --rtol 1e-3 --atol 1e-4",
         WEBNN_RUN, m, m, m);
    runs(1, "unk__214", "%s %s", WEBNN_RUN, m);
}

TEST_GROUP(prepare, leave_folder)
