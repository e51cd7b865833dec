/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The example that goes on with a text: a model of its own whose `present` is `past` with the new rows after it, held against
 * the same arithmetic in double, and the small decoders of the shared folder, whose cache has a fixed length.
 */
#include "support/random.h"
#include "tools/tool_support.h"

#ifdef GENERATE_TEXT
enum { VOCABULARY = 440, WIDTH = 4, CACHE = 48, PROMPT = 11, GENERATED = 20 };

/* The weights of the model: tokens, positions, keys, values, and what the logits are made of. */
static double tokens[VOCABULARY][WIDTH], places[CACHE][WIDTH], keys[WIDTH][WIDTH], values[WIDTH][WIDTH],
    head[WIDTH][VOCABULARY];

/* Fills a matrix with numbers that float32 and their decimal text hold exactly, and adds it to the constants of the text. */
static void make_matrix(FILE *file, const char *name, size_t rows, size_t columns, double *data)
{
    fprintf(file, "    %s: f32[%zu, %zu] @values([", name, rows, columns);
    for (size_t i = 0; i < rows * columns; i++) {
        data[i] = ((int)random_below(4096) - 2048) / 1024.0;
        fprintf(file, "%s%.10g", i ? ", " : "", data[i]);
    }
    fprintf(file, "]);\n");
}

static void write_model(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file,
            "webnn_graph \"concat\" v2 {\n  inputs {\n    input_ids: i64[1, dyn(\"sequence\", 64)];\n"
            "    attention_mask: i64[1, dyn(\"total\", 128)];\n    position_ids: i64[1, dyn(\"sequence\", 64)];\n"
            "    past_key_values.0.key: f32[1, 1, %d, %d];\n    past_key_values.0.value: f32[1, 1, %d, %d];\n  }\n  consts {\n"
            "    zero: f32[1, 1, 1, 1] @scalar(0);\n    one: f32[] @scalar(1);\n    large: f32[] @scalar(1e9);\n",
            CACHE, WIDTH, CACHE, WIDTH);
    make_matrix(file, "tokens", VOCABULARY, WIDTH, tokens[0]);
    make_matrix(file, "places", CACHE, WIDTH, places[0]);
    make_matrix(file, "keys", WIDTH, WIDTH, keys[0]);
    make_matrix(file, "values", WIDTH, WIDTH, values[0]);
    make_matrix(file, "head", WIDTH, VOCABULARY, head[0]);
    fprintf(file,
            "  }\n  nodes {\n    token = gather(tokens, input_ids);\n    place = gather(places, position_ids);\n"
            "    both = add(token, place);\n    x = add(both, zero);\n    k = matmul(x, keys);\n    v = matmul(x, values);\n"
            "    present.0.key = concat([past_key_values.0.key, k], 2);\n"
            "    present.0.value = concat([past_key_values.0.value, v], 2);\n"
            "    across = transpose(present.0.key, permutation=[0, 1, 3, 2]);\n    scores = matmul(x, across);\n"
            "    nothing = mul(scores, zero);\n    ones = add(nothing, one);\n"
            "    causal = triangular(ones, upper=false, diagonal=%d);\n    valid = cast(attention_mask, float32);\n"
            "    seen = mul(causal, valid);\n    hidden = sub(seen, one);\n    bias = mul(hidden, large);\n"
            "    biased = add(scores, bias);\n    share = softmax(biased, 3);\n    mixed = matmul(share, present.0.value);\n"
            "    y = add(mixed, x);\n    wide = matmul(y, head);\n    logits = reduceSum(wide, axes=[1]);\n  }\n"
            "  outputs { logits; present.0.key; present.0.value; }\n}\n",
            CACHE);
    assert_int_equal(fclose(file), 0);
}

/* Returns the likeliest token after `count` tokens. */
static int reference_step(const int *text, int count)
{
    double x[CACHE][WIDTH], scores[CACHE], y[WIDTH] = {0}, sum = 0, best = -INFINITY;
    int chosen = 0;

    for (int i = 0; i < count; i++)
        for (int w = 0; w < WIDTH; w++)
            x[i][w] = tokens[text[i]][w] + places[i][w];
    for (int i = 0; i < count; i++) {
        double score = 0;

        for (int w = 0; w < WIDTH; w++)
            for (int u = 0; u < WIDTH; u++)
                score += x[count - 1][w] * x[i][u] * keys[u][w];
        scores[i] = score;
        best = fmax(best, score);
    }
    for (int i = 0; i < count; i++)
        sum += scores[i] = exp(scores[i] - best);
    for (int i = 0; i < count; i++)
        for (int w = 0; w < WIDTH; w++)
            for (int u = 0; u < WIDTH; u++)
                y[w] += scores[i] / sum * x[i][u] * values[u][w];
    best = -INFINITY;
    for (int t = 0; t < VOCABULARY; t++) {
        double logit = 0;

        for (int w = 0; w < WIDTH; w++)
            logit += (y[w] + x[count - 1][w]) * head[w][t];
        if (logit > best) {
            best = logit;
            chosen = t;
        }
    }
    return chosen;
}

TEST(growing_caches_give_the_computed_tokens)
{
    const int blocks[] = {1, 4, 5, PROMPT};
    char given[256] = "", expected[512] = "";
    int text[CACHE];

    write_model("concat.webnn");
    for (int i = 0; i < PROMPT; i++) {
        text[i] = (i * 37 + 11) % VOCABULARY;
        sprintf(given + strlen(given), "%s%d", i ? "," : "", text[i]);
    }
    for (int i = PROMPT; i < PROMPT + GENERATED; i++) {
        text[i] = reference_step(text, i);
        sprintf(expected + strlen(expected), "%d ", text[i]);
    }
    strcat(expected, "\n");
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        runs(0, expected, GENERATE_TEXT " concat.webnn --tokens %s --max-tokens %d --prompt-block %d", given, GENERATED,
             blocks[i]);
    }
    /* The cache has the length that the file fixes, and generating ends where it ends. */
    runs(0, "a cache of 48 tokens", GENERATE_TEXT " concat.webnn --tokens %s --max-tokens 100", given);
    assert_printed("generated after the first: 37 tokens");
    /* Switches that exporters add are set. */
    runs(0, expected,
         "sed 's/inputs {/inputs { use_cache_branch: u8[1]; num_logits_to_keep: i64[];/' concat.webnn > "
         "more.webnn && " GENERATE_TEXT " more.webnn --tokens %s --max-tokens %d",
         given, GENERATED);
    /* A token that ends the text is not printed. */
    runs(0, "generated after the first: 0 tokens", GENERATE_TEXT " concat.webnn --tokens %s --stop 5,%d", given, text[PROMPT]);
}

TEST(text_goes_in_and_out)
{
    write_model("concat.webnn");
    runs(0, "prompt: 3 tokens",
         "cp " TESTS_DIR "/examples/tokenizers/byte_level.json tokenizer.json && echo '{\"eos_token_id\": [999, "
         "437]}' > config.json && " GENERATE_TEXT " concat.webnn --prompt 'The graph' --max-tokens 8");
    runs(0, "",
         GENERATE_TEXT " concat.webnn --prompt 'The graph' --max-tokens 8 --temperature 1 --seed 3 2>/dev/null "
                       "> a; " GENERATE_TEXT " concat.webnn --prompt 'The graph' --max-tokens 8 --temperature 1 "
                       "--seed 3 2>/dev/null | cmp a - && test $(wc -c < a) -gt 4");
    runs(0, "prompt: 3 tokens",
         "printf 'The graph' > prompt && " GENERATE_TEXT " concat.webnn --prompt-file prompt --tokenizer "
         "tokenizer.json --max-tokens 8");
    runs(0, "", "rm tokenizer.json config.json");
}

TEST(wrong_calls_are_refused)
{
    write_model("concat.webnn");
    runs(0, "", GENERATE_TEXT " --help");
    runs(2, "no model is given", GENERATE_TEXT);
    runs(2, "one of --prompt, --prompt-file and --tokens is needed", GENERATE_TEXT " concat.webnn");
    runs(2, "--top-p takes a number from 1e-06 to 1, not '2'", GENERATE_TEXT " concat.webnn --tokens 1 --top-p 2");
    runs(2, "--precision does not take 'int9'", GENERATE_TEXT " concat.webnn --tokens 1 --precision int9");
    runs(2, "--engine takes cpu, auto, gpu or gpu:DEVICE, not 'gpu:'", GENERATE_TEXT " concat.webnn --tokens 1 --engine gpu:");
    runs(1, "not 'x'", GENERATE_TEXT " concat.webnn --tokens 1,x");
    runs(1, "token 440 is none of the model's 440", GENERATE_TEXT " concat.webnn --tokens 440");
    runs(1, "there is no tokenizer.json", GENERATE_TEXT " concat.webnn --prompt a");
    runs(1, "has no file that ends with .onnx", GENERATE_TEXT " . --tokens 1");
    runs(1, "several models", "touch a.onnx b.onnx && " GENERATE_TEXT " . --tokens 1");
    runs(1, "the input 'token_type_ids', which this program does not know",
         "sed 's/position_ids/token_type_ids/g' concat.webnn > other.webnn; " GENERATE_TEXT " other.webnn --tokens 1");
    runs(1, "not a language model with a cache",
         "sed 's/past_key_values/past/g' concat.webnn > other.webnn; " GENERATE_TEXT " other.webnn --tokens 1");
}

/* A prompt at once, in blocks and token by token: 32 tokens come to the same tokens after them. */
TEST(fixed_caches_give_the_same_by_tokens_and_blocks)
{
    static const char *const formats[] = {"f32", "q4", "q8"};
    const char *m = needed_model("");
    char given[256] = "", *expected;

    for (int i = 0; i < 32; i++)
        sprintf(given + strlen(given), "%s%d", i ? "," : "", (i * 37 + 11) % 256);
    for (size_t i = 0; i < 3; i++) {
        char model[4352];

        snprintf(model, sizeof model, "%s/../bench/decoder_tiny/decoder_tiny_%s.onnx", m, formats[i]);
        runs(0, "", "(" GENERATE_TEXT " %s --tokens %s --max-tokens 16 --prompt-block 1 2>/dev/null)", model, given);
        expected = strdup(printed);
        assert_non_null(expected);
        runs(0, "", "(" GENERATE_TEXT " %s --tokens %s --max-tokens 16 2>/dev/null)", model, given);
        assert_string_equal(printed, expected);
        runs(0, expected, GENERATE_TEXT " %s --tokens %s --max-tokens 16 --prompt-block 12", model, given);
        assert_printed("blocks of 11 and tokens by one graph");
        free(expected);
    }
}

/* A folder keeps both graphs for the next start with the same options and files, and gives the same tokens. */
TEST(compiled_graphs_are_kept)
{
    static const char call[] = GENERATE_TEXT " concat.webnn --tokens 3,40,77,114 --prompt-block 4 --max-tokens 12 --engine cpu";

    write_model("concat.webnn");
    runs(0, "", "(%s 2>/dev/null)", call);
    OWNED(memory) char *expected = strdup(printed);
    assert_non_null(expected);
    for (int again = 0; again < 2; again++) {
        runs(0, expected, "%s --graphs kept", call);
        assert_printed(again ? "read and loaded in " : "read and built in ");
        runs(0, "", "test $(ls kept | wc -l) = 2");
    }
    /* Another option, another file next to the model, a damaged graph: each is built. */
    runs(0, "read and built in ", "%s --graphs kept --quantize-weights int8", call);
    runs(0, "read and built in ", "for i in kept/*; do echo damaged > $i; done; %s --graphs kept", call);
    assert_printed(expected);
    runs(0, "read and loaded in ", "%s --graphs kept", call);
    runs(0, "read and built in ", "touch -d '2001-01-01' concat.webnn && %s --graphs kept", call);
    runs(0, "", "%s --graphs concat.webnn/no", call); /* no folder: says so and goes on */
    assert_printed("saving the graph: ");
    assert_printed(expected);
}

TEST_GROUP(enter_folder, leave_folder)
#else
TESTS_SKIPPED("generate_text is not built: it needs libpcre2-dev and libutf8proc-dev")
#endif
