/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The example that tells a story: token by token the reference's, with its cache in tensors. */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>

static int64_t *read_tokens(const char *path, size_t *count)
{
    struct npy_array array;
    struct error e = {0};

    if (!npy_read(path, &array, &e))
        fail_msg("%s", e.message);
    assert_int_equal(array.dataType, WNNOperandDataType_Int64);
    *count = npy_elements(&array);
    return array.data;
}

TEST(the_story_is_the_published_one)
{
    const char *m = shared_model("stories260k");
    size_t count, expected_count, length;
    int64_t *tokens, *expected;
    char path[4224], *text;

    if (!m)
        skip();
    assert_int_equal(run("%s/tell_story %s --length 256 --save tokens.npy", EXAMPLES, m), 0);
    tokens = read_tokens("tokens.npy", &count);
    snprintf(path, sizeof path, "%s/greedy_tokens.npy", m);
    expected = read_tokens(path, &expected_count);
    assert_int_equal(count, expected_count);
    assert_memory_equal(tokens, expected, count * sizeof *tokens);
    free(tokens);
    /* And as text, as far as the manifest has it. */
    snprintf(path, sizeof path, "%s/manifest.json", m);
    assert_true(file_read(path, &text, &length, NULL));
    cJSON *root = cJSON_Parse(text);
    assert_printed(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "greedy"), "text")->valuestring);
    assert_not_printed("<");
    cJSON_Delete(root);
    free(text);
    /* A given beginning: the same story from there, whatever the cache's size. */
    assert_int_equal(run("%s/tell_story %s --length 20 --tokens 403,407,261,378 --save tokens.npy", EXAMPLES, m), 0);
    tokens = read_tokens("tokens.npy", &count);
    assert_int_equal(count, 20);
    assert_memory_equal(tokens, expected, count * sizeof *tokens);
    free(tokens);
    free(expected);
    /* Another beginning is another story, so the given tokens are what the network sees. */
    assert_int_equal(run("%s/tell_story %s --length 8 --tokens 317 --save tokens.npy", EXAMPLES, m), 0);
    assert_printed(" Lily");
}

TEST(wrong_calls_are_refused)
{
    const char *m = shared_model("stories260k");

    if (!m)
        skip();
    assert_int_equal(run("%s/tell_story", EXAMPLES), 2);
    assert_int_equal(run("%s/tell_story %s --length 1", EXAMPLES, m), 2);
    assert_int_equal(run("%s/tell_story %s --tokens 512", EXAMPLES, m), 1);
    assert_printed("--tokens takes numbers below 512");
    assert_int_equal(run("%s/tell_story %s --tokens 1,x", EXAMPLES, m), 1);
    m = shared_model("mnist-8");
    if (m) {
        assert_int_equal(run("%s/tell_story %s", EXAMPLES, m), 1);
        assert_printed("not the language model");
    }
}

TEST_GROUP(enter_folder, leave_folder)

int main(void)
{
    if (!shared_model(""))
        return 77;
    return tests_run();
}
