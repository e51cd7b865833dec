/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tokenizers of both kinds against what another implementation makes of the same files (transformers.js), files that are
 * refused, files with single bytes changed, and the choice of tokens.
 */
#include "tools/tool_support.h"

#ifdef GENERATE_TEXT
#include "examples/text/sampler.h"
#include "examples/text/tokenizer.h"

#define BYTE_LEVEL TESTS_DIR "/examples/tokenizers/byte_level.json"
#define SENTENCE_PIECE TESTS_DIR "/examples/tokenizers/sentence_piece.json"

DROPS(tokenizer, struct tokenizer *, tokenizer_free)

static struct tokenizer *open_tokenizer(const char *path)
{
    struct tokenizer *t;
    char message[512];

    if (!tokenizer_read(path, &t, message, sizeof message))
        fail_msg("%s", message);
    return t;
}

/* Encodes a text, holds the tokens against those that are expected, and the text that they stand for against `back`. */
static void check(const struct tokenizer *t, const char *text, const char *back, const int32_t *expected, size_t expected_count)
{
    SCOPED(text_free) struct text out = {0};
    char message[512];
    OWNED(memory) int32_t *ids = NULL;
    size_t count;

    if (!tokenizer_encode(t, text, strlen(text), &ids, &count, message, sizeof message))
        fail_msg("%s", message);
    assert_int_equal(count, expected_count);
    assert_memory_equal(ids, expected, count * sizeof *ids);
    /* The first token of both tokenizers is special. */
    for (size_t i = 0; i < count; i++)
        tokenizer_decode(t, ids[i], i == 1, &out);
    text_add(&out, "", 1);
    assert_string_equal(out.data, back);
}

#define CHECK(t, text, back, ...)                                                                                              \
    check(t, text, back, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

#define MIXED "The graph's weights are quantized in 4 bits; 12345 numbers.\n\n  Indented  twice\t."
#define FOREIGN "na\xc3\xafve caf\xc3\xa9 \xe2\x80\x94 \xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x99\x82"

TEST(tokens_over_bytes_are_the_published_ones)
{
    OWNED(tokenizer) struct tokenizer *t = open_tokenizer(BYTE_LEVEL);

    CHECK(t, "Hello, world!", "Hello, world!", 436, 72, 101, 108, 287, 44, 267, 269, 108, 100, 33);
    CHECK(t, MIXED, MIXED, 436, 397, 386, 39, 115, 408, 349, 32, 380, 290, 319, 122, 296, 294, 32, 52, 276, 105, 280, 59, 32,
          49, 50, 51, 52, 53, 333, 366, 98, 390, 46, 10, 10, 32, 32, 73, 268, 299, 116, 296, 32, 288, 119, 105, 405, 9, 46);
    CHECK(t, FOREIGN, FOREIGN, 436, 110, 97, 195, 175, 395, 282, 97, 102, 195, 169, 32, 226, 128, 148, 32, 230, 157, 177, 228,
          186, 172, 32, 240, 159, 153, 130);
    CHECK(t, "<|begin|>a<|end|> b<tool>c</s> d", "a b<tool>c</s> d", 436, 436, 97, 437, 276, 438, 99, 60, 47, 115, 62, 32, 100);
    CHECK(t, "", "", 436);
    CHECK(t, " leading and trailing ", " leading and trailing ", 436, 32, 285, 326, 364, 281, 288, 279, 305, 364, 32);
    CHECK(t, "DON'T I'll we'VE", "DON'T I'll we'VE", 436, 68, 79, 78, 39, 84, 32, 73, 39, 108, 108, 267, 101, 39, 86, 69);
    CHECK(t,
          "e\xcc\x81"
          " decomposed",
          "\xc3\xa9"
          " decomposed",
          436, 195, 169, 32, 278, 99, 338, 111, 115, 296);
    assert_int_equal(tokenizer_find(t, "<|end|>", 7), 437);
    assert_int_equal(tokenizer_find(t, "no such token", 13), -1);
}

TEST(tokens_over_characters_are_the_published_ones)
{
    OWNED(tokenizer) struct tokenizer *t = open_tokenizer(SENTENCE_PIECE);

    CHECK(t, "Hello, world!", "Hello, world!", 1, 347, 296, 322, 329, 378, 270, 359, 363, 329, 321, 259);
    CHECK(t, MIXED, MIXED, 1, 488, 475, 265, 336, 493, 443, 347, 480, 380, 412, 343, 389, 381, 347, 278, 366, 326, 369, 285,
          388, 276, 277, 278, 279, 423, 460, 319, 355, 336, 272, 13, 13, 347, 347, 297, 360, 398, 337, 389, 347, 349, 340, 326,
          320, 322, 12, 272);
    CHECK(t, FOREIGN, FOREIGN, 1, 423, 318, 198, 178, 489, 373, 318, 323, 198, 172, 347, 229, 131, 151, 347, 233, 160, 180, 231,
          189, 175, 347, 243, 162, 156, 133);
    CHECK(t, "<|begin|>a<|end|> b<tool>c</s> d", "<|begin|>a<|end|> b<tool>c  d", 1, 347, 286, 345, 319, 322, 324, 370, 345,
          288, 318, 286, 345, 322, 360, 345, 288, 366, 286, 337, 332, 332, 329, 288, 320, 2, 347, 347, 321);
    CHECK(t, "", "", 1);
    CHECK(t, " leading and trailing ", " leading and trailing ", 1, 347, 347, 376, 416, 458, 372, 349, 368, 396, 458, 347);
    CHECK(t, "DON'T I'll we'VE", "DON'T I'll we'VE", 1, 347, 292, 303, 302, 265, 308, 347, 297, 265, 329, 329, 359, 322, 265,
          310, 293);
    CHECK(t,
          "e\xcc\x81"
          " decomposed",
          "e\xcc\x81"
          " decomposed",
          1, 392, 207, 132, 347, 367, 320, 428, 332, 336, 389);
}

/* Long pieces are merged in time that grows with their length, and come to the same as they do by themselves. */
TEST(long_pieces_are_merged_quickly)
{
    const size_t length = 1 << 20;
    OWNED(tokenizer) struct tokenizer *t = open_tokenizer(SENTENCE_PIECE);
    char *text = malloc(length), message[512];
    struct text out = {0};
    OWNED(memory) int32_t *ids = NULL;
    size_t count;

    assert_non_null(text);
    for (size_t i = 0; i < length; i++)
        text[i] = "weights"[i % 7];
    assert_true(tokenizer_encode(t, text, length, &ids, &count, message, sizeof message));
    assert_true(count < length / 2);
    for (size_t i = 0; i < count; i++)
        tokenizer_decode(t, ids[i], i == 1, &out);
    assert_int_equal(out.length, length);
    assert_memory_equal(out.data, text, length);
    text_free(&out);
    free(text);
}

TEST(text_that_is_not_utf8_is_refused)
{
    OWNED(tokenizer) struct tokenizer *t = open_tokenizer(BYTE_LEVEL);
    char message[512];
    int32_t *ids;
    size_t count;

    assert_false(tokenizer_encode(t, "a\xff", 2, &ids, &count, message, sizeof message));
    assert_string_equal(message, "the text is not UTF-8");
}

TEST(other_tokenizers_are_refused)
{
#define TOKENIZER(rest)                                                                                                        \
    "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": [\"a b\"]}" rest "}"
    static const struct {
        const char *file, *message;
    } cases[] = {
        {"[1", "it is no JSON"},
        {"{}", "its model '' is none"},
        {"{\"model\": {\"type\": \"Unigram\"}}", "its model 'Unigram' is none"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {}}}", "its model has no vocabulary"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": -1}}}", "a token of its vocabulary has no number"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a a\"]}}",
         "merge 0 of it is not of two tokens"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"end_of_word_suffix\": \"</w>\"}}",
         "marks for the middle or the end"},
        {TOKENIZER(", \"normalizer\": {\"type\": \"a\\u001b[1m\"}"), "its normalizer 'a\\u{1b}[1m' is none"},
        {TOKENIZER(", \"normalizer\": {\"type\": \"Precompiled\"}"), "its normalizer 'Precompiled' is none"},
        {TOKENIZER(", \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}"), "its pre_tokenizer 'BertPreTokenizer' is none"},
        {TOKENIZER(", \"pre_tokenizer\": {\"type\": \"Split\", \"behavior\": \"Isolated\", \"pattern\": {\"Regex\": \"(\"}}"),
         "a pattern of it is refused at character 1"},
        {TOKENIZER(", \"pre_tokenizer\": {\"type\": \"Split\", \"behavior\": \"Twice\"}"),
         "its rule of splitting 'Twice' is none"},
        {TOKENIZER(", \"post_processor\": {\"type\": \"BertProcessing\"}"), "its post_processor 'BertProcessing' is none"},
        {TOKENIZER(", \"decoder\": {\"type\": \"WordPiece\"}"), "its decoder 'WordPiece' is none"},
        {TOKENIZER(", \"added_tokens\": [{\"content\": \"x\"}]"), "an added token of it has no text or no number"},
    };
    char message[512];
    OWNED(tokenizer) struct tokenizer *t = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(file_write("bad.json", cases[i].file, strlen(cases[i].file), NULL));
        assert_false(tokenizer_read("bad.json", &t, message, sizeof message));
        assert_null(t);
        if (!strstr(message, cases[i].message))
            fail_msg("%s: %s", cases[i].file, message);
    }
    assert_true(file_write("good.json", TOKENIZER(""), strlen(TOKENIZER("")), NULL));
    t = open_tokenizer("good.json");
    CHECK(t, "abb", "abb", 2, 1);
}

/* Steps and the pieces that they leave: every piece is a token, so that one too many or too few is not found. */
TEST(steps_are_those_of_the_format)
{
#define SPLIT(rule) "\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \"-\"}, \"behavior\": \"" rule "\"}"
#define COUNTDOWN "the-final--countdown"
    static const struct {
        const char *step, *text, *pieces[8];
    } cases[] = {
        /* The examples in the format's own documentation. */
        {SPLIT("Removed"), COUNTDOWN, {"the", "final", "countdown"}},
        {SPLIT("Isolated"), COUNTDOWN, {"the", "-", "final", "-", "-", "countdown"}},
        {SPLIT("MergedWithPrevious"), COUNTDOWN, {"the-", "final-", "-", "countdown"}},
        {SPLIT("MergedWithNext"), COUNTDOWN, {"the", "-final", "-", "-countdown"}},
        {SPLIT("Contiguous"), COUNTDOWN, {"the", "-", "final", "--", "countdown"}},
        {"\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"[a-z]+\"}, \"behavior\": \"Removed\", "
         "\"invert\": true}",
         COUNTDOWN,
         {"the", "final", "countdown"}},
        {"\"pre_tokenizer\": {\"type\": \"Digits\", \"individual_digits\": true}", "a12ab", {"a", "1", "2", "ab"}},
        {"\"pre_tokenizer\": {\"type\": \"Digits\"}", "a12ab", {"a", "12", "ab"}},
        {"\"pre_tokenizer\": {\"type\": \"Punctuation\"}", "ab.!a", {"ab", ".", "!", "a"}},
        {"\"pre_tokenizer\": {\"type\": \"Whitespace\"}", "a.. b1a", {"a", "..", "b1a"}},
        {"\"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}", "ab.  b1a", {"ab.", "b1a"}},
        {"\"pre_tokenizer\": {\"type\": \"Metaspace\"}",
         "a  ba",
         {"\xe2\x96\x81"
          "a",
          "\xe2\x96\x81",
          "\xe2\x96\x81"
          "ba"}},
        {"\"pre_tokenizer\": {\"type\": \"Metaspace\", \"prepend_scheme\": \"never\", \"split\": false}",
         "aa ba",
         {"aa\xe2\x96\x81"
          "ba"}},
        {"\"normalizer\": {\"type\": \"Lowercase\"}", "AbB", {"abb"}},
        {"\"normalizer\": {\"type\": \"Strip\", \"strip_right\": false}", "  ab ", {"ab "}},
        {"\"normalizer\": {\"type\": \"NFD\"}", "\xc3\xa9", {"e\xcc\x81"}},
        {"\"normalizer\": {\"type\": \"NFC\"}", "e\xcc\x81", {"\xc3\xa9"}},
        {"\"normalizer\": {\"type\": \"NFKC\"}", "\xef\xac\x81", {"fi"}},
        {"\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"Regex\": \"[0-9]\"}, \"content\": \"x\"}", "a12b", {"axxb"}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[1024] = "{\"model\": {\"ignore_merges\": true, \"merges\": [], \"vocab\": {", message[512];
        const char *const *pieces = cases[i].pieces;
        size_t count, wanted = 0;
        OWNED(memory) int32_t *ids = NULL;

        for (; pieces[wanted]; wanted++) {
            bool twice = false;

            for (size_t k = 0; k < wanted; k++)
                twice = twice || !strcmp(pieces[k], pieces[wanted]);
            if (!twice)
                sprintf(file + strlen(file), "%s\"%s\": %zu", wanted ? ", " : "", pieces[wanted], wanted);
        }
        sprintf(file + strlen(file), "}}, %s}", cases[i].step);
        assert_true(file_write("step.json", file, strlen(file), NULL));
        OWNED(tokenizer) struct tokenizer *t = open_tokenizer("step.json");
        assert_true(tokenizer_encode(t, cases[i].text, strlen(cases[i].text), &ids, &count, message, sizeof message));
        if (count != wanted)
            fail_msg("%s: %zu pieces, not %zu", cases[i].step, count, wanted);
        for (size_t k = 0; k < count; k++)
            assert_int_equal(ids[k], tokenizer_find(t, pieces[k], strlen(pieces[k])));
    }
}

/* Whatever a changed file holds, it is refused or used, and nothing breaks (the sanitizers watch). */
TEST(changed_files_do_no_harm)
{
    const char *const paths[] = {BYTE_LEVEL, SENTENCE_PIECE};
    uint32_t random = 1;

    for (int i = 0; i < 400; i++) {
        char *data, message[512];
        struct tokenizer *t;
        size_t length, count;
        int32_t *ids;

        assert_true(file_read(paths[i % 2], &data, &length, NULL));
        for (int k = 0; k < 1 + i % 4; k++) {
            random = random * 1664525 + 1013904223;
            /* Half of the changes are after the vocabulary, where the structure is. */
            data[i % 4 < 2 ? (random >> 8) % length : (random >> 8) % 2000] = (char)(random >> 3);
        }
        assert_true(file_write("changed.json", data, length, NULL));
        free(data);
        if (!tokenizer_read("changed.json", &t, message, sizeof message))
            continue;
        if (tokenizer_encode(t, MIXED FOREIGN, strlen(MIXED FOREIGN), &ids, &count, message, sizeof message)) {
            struct text out = {0};

            for (size_t k = 0; k < count; k++)
                tokenizer_decode(t, ids[k], k == 0, &out);
            text_free(&out);
            free(ids);
        }
        tokenizer_free(t);
    }
}

TEST(characters_are_not_printed_by_halves)
{
    assert_int_equal(text_whole_characters("a", 1), 1);
    assert_int_equal(text_whole_characters("a\xc3", 2), 1);
    assert_int_equal(text_whole_characters("a\xc3\xa9", 3), 3);
    assert_int_equal(text_whole_characters("\xf0\x9f\x99", 3), 0);
    assert_int_equal(text_whole_characters("\xf0\x9f\x99\x82", 4), 4);
    assert_int_equal(text_whole_characters("\x99\x99\x99\x99\x99", 5), 5); /* no character at all */
    assert_int_equal(text_whole_characters("", 0), 0);
}

TEST(tokens_are_drawn_as_probable_as_they_are)
{
    const float logits[6] = {0, NAN, 2, 1, -1, 2.5f};
    const double weights[6] = {exp(0), 0, exp(2), exp(1), exp(-1), exp(2.5)};
    struct sampler s = {.temperature = 0, .top_k = 6, .top_p = 1, .state = 7};
    const int draws = 200000;
    int counts[6] = {0};
    double sum = 0;

    assert_int_equal(sampler_choose(&s, logits, 6), 5);
    s.temperature = 1;
    for (int i = 0; i < 6; i++)
        sum += weights[i];
    for (int i = 0; i < draws; i++)
        counts[sampler_choose(&s, logits, 6)]++;
    for (int i = 0; i < 6; i++) { /* five standard deviations */
        double p = weights[i] / sum;

        assert_true(fabs(counts[i] - draws * p) <= 5 * sqrt(draws * p * (1 - p)));
    }
    /* Of the two likeliest only, and of as many as have half of the probability: one. */
    s.top_k = 2;
    for (int i = 0; i < 1000; i++) {
        int32_t token = sampler_choose(&s, logits, 6);

        assert_true(token == 2 || token == 5);
    }
    s.top_k = 6;
    s.top_p = 0.4;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(sampler_choose(&s, logits, 6), 5);
}

TEST_GROUP(enter_folder, leave_folder)
#else
TESTS_SKIPPED("generate_text is not built: it needs libpcre2-dev and libutf8proc-dev")
#endif
