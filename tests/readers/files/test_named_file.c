/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that a model names: which ones of its folder are opened, and which never. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "frontend/readers/files/named_file.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/model.h"
#include "support/test.h"

static char base[] = "/tmp/webnn-named-XXXXXX";

/* base/secret, base/model/w, base/model/sub/v; the working directory is base/model. */
static int enter(void **state)
{
    return !mkdtemp(base) || chdir(base) || mkdir("model", 0700) || mkdir("model/sub", 0700) ||
           !file_write("secret", "secret", 6, NULL) || !file_write("model/w", "inside", 6, NULL) ||
           !file_write("model/sub/v", "deeper", 6, NULL) || chdir("model");
}

static int leave(void **state)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", base);
    return chdir("/") || system(command);
}

static void opens(const char *name, const char *content)
{
    static const char *const folders[] = {"", ".", "./", "../model"};
    const char *why = NULL;

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char text[16] = "";
        int file = named_file_open(folders[i], name, &why);

        if (file < 0)
            fail_msg("%s: %s", name, why);
        assert_int_equal(read(file, text, sizeof text - 1), strlen(content));
        assert_string_equal(text, content);
        close(file);
    }
}

static void refuses(const char *name, const char *reason)
{
    const char *why = NULL;

    assert_int_equal(named_file_open("", name, &why), -1);
    if (!strstr(why, reason))
        fail_msg("%s: %s", name, why);
}

TEST(names_stay_in_the_folder)
{
    char longest[5000];

    opens("w", "inside");
    opens("./w", "inside");
    opens("sub/v", "deeper");
    opens("sub//v", "deeper");
    opens("sub/../w", "inside");
    refuses("../secret", "leads out");
    refuses("sub/../../secret", "leads out");
    refuses("../model/w", "leads out");
    refuses("/etc/passwd", "not relative");
    refuses("", "not relative");
    refuses("absent", "No such file");
    refuses("w/x", "Not a directory");
    refuses("sub", "not a regular file");
    refuses(".", "not a regular file");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refuses(longest, "too long");
    longest[4000] = '\0';
    refuses(longest, "too long");
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(longest + i, "./", 2);
    longest[4000] = 'w';
    longest[4001] = '\0';
    opens(longest, "inside");
}

TEST(links_stay_in_the_folder)
{
    static const struct {
        const char *text, *name, *content, *reason;
    } rows[] = {
        {"w", "link", "inside", NULL},
        {"sub", "link/v", "deeper", NULL},
        {"sub/../w", "link", "inside", NULL},
        {"../secret", "link", NULL, "leads out"},
        {"..", "link/secret", NULL, "leads out"},
        {"sub/../../secret", "link", NULL, "leads out"},
        {"/etc/passwd", "link", NULL, "leads out"},
        {"link", "link", NULL, "Too many levels"},
        {"absent", "link", NULL, "No such file"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(symlink(rows[i].text, "link"), 0);
        if (rows[i].content)
            opens(rows[i].name, rows[i].content);
        else
            refuses(rows[i].name, rows[i].reason);
        unlink("link");
    }
}

/* A pipe without a writer: opening it must not wait. */
TEST(devices_and_pipes_are_refused)
{
    alarm(20);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    refuses("pipe", "not a regular file");
    unlink("pipe");
    if (mknod("zero", S_IFCHR | 0600, makedev(1, 5)) == 0) {
        refuses("zero", "not a regular file");
        unlink("zero");
    }
    alarm(0);
}

/* Weights next to a text file are found by its name, and follow the same rules; those that the user names are the user's. */
TEST(weights_follow_the_rules)
{
    static const char text[] = "webnn_graph \"g\" v1 { inputs { x: f32[2]; } consts { c: f32[2] @weights(\"c\"); }\n"
                               "nodes { y = add(x, c); } outputs { y; } }";
    static const char tensors[] =
        "\x3a\0\0\0\0\0\0\0{\"c\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}    \0\0\x80\x3f\0\0\0\x40";
    OWNED(context) WNNContext context = NULL;
    struct model model;
    struct error e = {0};

    assert_int_equal(wnnCreateContext(NULL, &context), WNNStatus_Success);
    assert_true(file_write("g.webnn", text, sizeof text - 1, NULL));
    assert_true(file_write("../outside.safetensors", tensors, sizeof tensors - 1, NULL));
    assert_int_equal(symlink("../outside.safetensors", "g.safetensors"), 0);
    assert_false(model_read(context, "g.webnn", NULL, &model, &e));
    assert_non_null(strstr(e.message, "leads out of the model's folder"));
    const struct model_options chosen = {.weights = "g.safetensors"};
    assert_works(model_read(context, "g.webnn", &chosen, &model, &e), &e);
    model_free(&model);
    unlink("g.safetensors");
    assert_int_equal(rename("../outside.safetensors", "real"), 0);
    assert_int_equal(symlink("real", "g.safetensors"), 0);
    assert_works(model_read(context, "g.webnn", NULL, &model, &e), &e);
    model_free(&model);
}

TEST_GROUP(enter, leave)
