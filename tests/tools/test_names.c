/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names that were chosen to deceive: of inputs, outputs, nodes, models and files, through every tool and into every file that
 * it writes.  No output may hold a control character, a change of direction or an invisible character.
 */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>

#include "ir/support/text.h"

/* As in a text: a terminal's escape, right-to-left override, comment's end, trigraph for a backslash, quotes, line end, zero
 * width. */
#define HOSTILE "\\u001b[31m\\u{202e}*/?\?/ \\\" ' \\\\ $(id) \\n#error \\u{200b}\\u{e0041}end\\\\"

static void write_model(const char *path)
{
    write_text(path, "webnn_graph \"m" HOSTILE "\" v1 { inputs { \"i" HOSTILE "\": f32[1, 4, 8, 8]; }\n"
                     "consts { w: f32[4, 4, 3, 3] @scalar(0.25); }\n"
                     "nodes { c = conv2d(\"i" HOSTILE "\", w, label=\"n" HOSTILE "\"); \"o" HOSTILE
                     "\" = softmax(c, axis=1, label=\"s" HOSTILE "\"); } outputs { \"o" HOSTILE "\"; } }");
}

/* Fails with the place of the first character that deceives. */
static void is_safe(const char *what, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = utf8_decode(text + at, length - at, &code);

        if (!n || (text_is_deceptive(code) && code != '\n' && code != '\t'))
            fail_msg("%s has a character that deceives at %zu: %.40s", what, at, text + (at > 20 ? at - 20 : 0));
        at += n;
    }
}

static void file_is_safe(const char *path)
{
    OWNED(memory) char *text = NULL;
    size_t length;

    assert_done(file_read(path, &text, &length, &e));
    assert_true(length > 0);
    is_safe(path, text, length);
}

static void prints_safely(const char *command)
{
    run("%s", command);
    is_safe(command, printed, strlen(printed));
}

TEST(tools_print_names_escaped)
{
    static const char *const arguments[] = {
        "%s model.webnn",
        "%s model.webnn --profile --random 1",
        "%s model.webnn --input x=absent.npy",
        "%s model.webnn --compare y=absent.npy",
        "%s model.webnn --debug print-after-all,dump-program,dump-kernels,time-passes",
        "%s $'a\\e[31m\\u202eb.webnn'",
        "%s model.webnn --output $'y=a\\e[31m\\u202eb.npy'",
        "%s model.webnn --save $'\\e\\u202e/a'",
        "%s model.webnn --shape x=1x2",
        "%s broken.webnn",
        "%s model.webnn --save saved.wnn",
        "%s saved.wnn --profile",
    };
    static const char *const modes[] = {"", "--memory", "--steps", "--same-bits"};
    char inner[600], command[900];

    write_model("model.webnn");
    write_text("broken.webnn", "webnn_graph \"m\" v1 { inputs { \"i" HOSTILE "\": f32[2]; } nodes { y = add(\"i" HOSTILE
                               "\", \"i2" HOSTILE "\", label=\"l" HOSTILE "\"); } outputs { y; } }");
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        snprintf(inner, sizeof inner, arguments[i], WEBNN_RUN);
        write_text("command", inner);
        snprintf(command, sizeof command, "LC_ALL=C.UTF-8 bash ./command");
        prints_safely(command);
    }
    runs(0, "\\u{202e}", "%s model.webnn", WEBNN_RUN);
    for (int json = 0; json < 2; json++) {
        snprintf(command, sizeof command, "%s model.webnn --seconds 0.01%s", WEBNN_BENCH, json ? " --json" : "");
        prints_safely(command);
        snprintf(command, sizeof command, "%s model.webnn --seconds 0.01 --steps%s", WEBNN_BENCH, json ? " --json" : "");
        prints_safely(command);
    }
    write_model("a\x1B[31m\xE2\x80\xAE"
                "b.webnn");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        snprintf(command, sizeof command, "LC_ALL=C.UTF-8 bash -c \"%s $'a\\e[31m\\u202eb.webnn' --seconds 0.01 %s\"",
                 WEBNN_BENCH, modes[i]);
        prints_safely(command);
        assert_printed("\\u{202e}");
    }
    snprintf(command, sizeof command, "%s broken.webnn", WEBNN_BENCH);
    prints_safely(command);
}

TEST(webnn_opt_prints_names_escaped)
{
    static const char *const arguments[] = {
        "model.webnn --print-after all", "model.webnn -o after.webnn",        "broken.webnn",
        "model.webnn --passes $'\\e'",   "model.webnn --print-after $'a\\e'", "model.webnn -o $'\\e\\u202e/a'",
        "$'a\\e[31m\\u202e.webnn'",      "model.webnn $'a\\e[31m\\u202e'",
    };
    char command[900];

    write_model("model.webnn");
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        snprintf(command, sizeof command, "%s %s", WEBNN_OPT, arguments[i]);
        write_text("command", command);
        prints_safely("LC_ALL=C.UTF-8 bash ./command");
    }
    file_is_safe("after.webnn");
}

/** An option that no tool knows, in one line with the tool's name. */
TEST(options_are_printed_escaped)
{
    static const struct {
        const char *path, *name;
    } tools[] = {{WEBNN_RUN, "webnn-run: "}, {WEBNNC, "webnnc: "}, {WEBNN_BENCH, "webnn-bench: "}, {WEBNN_OPT, "webnn-opt: "}};
    static const char *const options[] = {"$'--a\\e[31m\\u202e\nb'", "$'-\\e'", "$'-\\xE2'", "$'--\n=\n'"};
    char command[900];

    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            snprintf(command, sizeof command, "%s model.webnn %s", tools[i].path, options[k]);
            write_text("command", command);
            runs(2, "", "LC_ALL=C.UTF-8 bash ./command");
            is_safe(tools[i].name, printed, strlen(printed));
            assert_ptr_equal(strstr(printed, tools[i].name), printed);
            assert_printed("--help");
            assert_printed("\\");
        }
}

/** Else a file's name could add a line to a message that looks like one of the tool's own. */
TEST(a_path_does_not_break_a_message_into_lines)
{
    static const char *const arguments[] = {
        "$'a\nb.onnx'",
        "$'random\n.onnx'",
        "model.webnn --input $'x=a\nb'",
        "model.webnn --constant $'x=random\n.onnx'",
        "model.webnn --labels $'a\nb' --top 1",
        "$'\n'",
    };
    char text[300];

    write_model("model.webnn");
    write_text("random\n.onnx", "no model");
    assert_int_equal(mkdir("\n", 0700), 0);
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        snprintf(text, sizeof text, "%s %s", WEBNN_RUN, arguments[i]);
        write_text("command", text);
        runs(1, "\\u{a}", "bash ./command");
        if (strchr(printed, '\n') != printed + strlen(printed) - 1)
            fail_msg("more than one line: %s", printed);
    }
}

TEST(files_hold_names_escaped)
{
    static const char *const kinds[] = {"ir", "dot", "json", "webnn", "asm", "llvm-ir"};
    OWNED(memory) char *text = NULL;
    size_t length;

    write_model("model.webnn");
    runs(0, "", "%s model.webnn --trace trace.json", WEBNN_RUN);
    file_is_safe("trace.json");
    assert_true(file_read("trace.json", &text, &length, NULL));
    OWNED(json) cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (run("%s model.webnn --emit %s -o out.%s", WEBNNC, kinds[i], kinds[i]) != 0)
            fail_msg("--emit %s: %s", kinds[i], printed);
        is_safe("webnnc", printed, strlen(printed));
        char path[32];
        snprintf(path, sizeof path, "out.%s", kinds[i]);
        if (strcmp(kinds[i], "asm") != 0 && strcmp(kinds[i], "llvm-ir") != 0) /* names are data there, byte by byte */
            file_is_safe(path);
    }
    if (system("command -v dot >/dev/null") == 0)
        runs(0, "", "dot -Tsvg out.dot -o out.svg");
}

/* Headers in C and C++: comments end where they should, identifiers are identifiers. */
TEST(headers_compile)
{
    write_model("model*??.webnn");
    for (int library = 0; library < 2; library++) {
        if (run("%s 'model*??.webnn' -o out.o --header out.h --library %s", WEBNNC, library ? "onednn" : "none") != 0)
            fail_msg("%s", printed);
        file_is_safe("out.h");
        write_text("use.c", "#include \"out.h\"\nint main(void) { return 0; }\n");
        if (run("cc -std=c99 -trigraphs -Wall -Wextra -Wcomment -Werror -fsyntax-only use.c && cp use.c use.cc && "
                "{ ! command -v c++ || c++ -Wall -Wextra -Werror -fsyntax-only use.cc; }") != 0)
            fail_msg("%s", printed);
    }
}

TEST(shared_names)
{
    char command[900];
    struct stat s;

    if (stat(shared_path(command, sizeof command, "hostile/onnx/names.onnx"), &s)) {
        if (shared_absent(command) != 77)
            fail();
        skip();
    }
    assert_int_equal(symlink(command, "names.onnx"), 0);
    for (int i = 0; i < 3; i++) {
        static const char *const tails[] = {"", " --emit dot -o names.dot", " -o names.o --header names.h"};
        snprintf(command, sizeof command, "%s names.onnx%s", i ? WEBNNC : WEBNN_RUN, tails[i]);
        prints_safely(command);
    }
    file_is_safe("names.dot");
    file_is_safe("names.h");
}

TEST_GROUP(enter_folder, leave_folder)
