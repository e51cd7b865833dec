/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The example that tells a story: token by token the reference's, with its cache in tensors. */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>

static int64_t *read_tokens(const char *path, size_t *count)
{
    struct npy_array array;

    assert_done(npy_read(path, &array, &e));
    assert_int_equal(array.dataType, WNNOperandDataType_Int64);
    *count = npy_elements(&array);
    return array.data;
}

TEST(the_story_is_the_published_one)
{
    const char *m = needed_model("stories260k");
    size_t count, expected_count, length;
    int64_t *tokens, *expected;
    char path[4224], *text;

    runs(0, "", "%s/tell_story %s --length 256 --save tokens.npy", EXAMPLES, m);
    tokens = read_tokens("tokens.npy", &count);
    snprintf(path, sizeof path, "%s/greedy_tokens.npy", m);
    expected = read_tokens(path, &expected_count);
    assert_int_equal(count, expected_count);
    assert_memory_equal(tokens, expected, count * sizeof *tokens);
    free(tokens);
    /* And as text, as far as the manifest has it. */
    snprintf(path, sizeof path, "%s/manifest.json", m);
    assert_true(file_read(path, &text, &length, NULL));
    OWNED(json) cJSON *root = cJSON_Parse(text);
    assert_printed(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "greedy"), "text")->valuestring);
    assert_not_printed("<");
    free(text);
    /* A given beginning: the same story from there, whatever the cache's size. */
    runs(0, "", "%s/tell_story %s --length 20 --tokens 403,407,261,378 --save tokens.npy", EXAMPLES, m);
    tokens = read_tokens("tokens.npy", &count);
    assert_int_equal(count, 20);
    assert_memory_equal(tokens, expected, count * sizeof *tokens);
    free(tokens);
    free(expected);
    /* Another beginning is another story, so the given tokens are what the network sees. */
    runs(0, " Lily", "%s/tell_story %s --length 8 --tokens 317 --save tokens.npy", EXAMPLES, m);
}

TEST(wrong_calls_are_refused)
{
    const char *m = needed_model("stories260k");

    runs(2, "", "%s/tell_story", EXAMPLES);
    runs(2, "", "%s/tell_story %s --length 1", EXAMPLES, m);
    runs(1, "--tokens takes numbers below 512", "%s/tell_story %s --tokens 512", EXAMPLES, m);
    runs(1, "", "%s/tell_story %s --tokens 1,x", EXAMPLES, m);
    m = shared_model("mnist-8");
    if (m) {
        runs(1, "not the language model", "%s/tell_story %s", EXAMPLES, m);
    }
}

TEST_GROUP(enter_folder, leave_folder)
TESTS_NEED(shared_model(""))
