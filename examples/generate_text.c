/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Continues a text, token by token, with a language model in ONNX that has a tokenizer.json next to it.
 *
 *   generate_text MODEL --prompt TEXT [OPTION ...]
 *
 * MODEL is an ONNX file or a folder with one, as exporters write them for ONNX Runtime and for browsers: Optimum,
 * transformers.js and ONNX Runtime's model builder.  What it says goes to the standard output, the figures to the standard
 * error.  The head of examples/text/decoder.c says which files are understood, that of tokenizer.h which tokenizers.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "examples/support/example.h"
#include "examples/text/decoder.h"
#include "examples/text/sampler.h"
#include "examples/text/tokenizer.h"
#include "frontend/readers/files/file.h"

static const char usage[] =
    "usage: generate_text MODEL (--prompt TEXT | --prompt-file FILE | --tokens ID,ID,...) [OPTION ...]\n"
    "\n"
    "MODEL is an ONNX file, or a folder with one; tokenizer.json, generation_config.json and config.json lie next to it or "
    "one\n"
    "folder above.  With --tokens no tokenizer is needed, and numbers are printed without one.\n"
    "\n"
    "  --max-tokens N        how many tokens are generated at most (64)\n"
    "  --context N           how many tokens the cache has room for (the prompt and --max-tokens, rounded up)\n"
    "  --prompt-block N      how many tokens of the prompt are computed at once, at most (128)\n"
    "  --precision P         float32, bf16x2, bf16, or int8: activations rounded to 8 bits (float32)\n"
    "  --quantize-weights F  int8 or int4: weights that the file has as floats, in blocks with a scale\n"
    "  --engine E            cpu, auto, gpu or gpu:DEVICE (auto: what WEBNN_ENGINE says, else what is expected to be faster)\n"
    "  --graphs FOLDER       keeps the compiled graphs there, so that the next start with these options compiles nothing\n"
    "  --threads N           how many threads compute (as many as there are processors)\n"
    "  --temperature T       0 always takes the likeliest token (0); above, tokens are drawn\n"
    "  --top-k N, --top-p P  of how many of the likeliest, and of how much probability, tokens are drawn (40, 0.95)\n"
    "  --seed N              of the random numbers (1)\n"
    "  --stop ID,ID,...      tokens that end the text, instead of those that the model's files name\n"
    "  --tokenizer FILE      a tokenizer.json that lies elsewhere\n";

enum {
    STOPS_MAX = 16,
    FILES_MAX = 64,
    CACHE_STEP = 64 /* attention leaves out what the cache does not hold yet by blocks that divide its length */
};

enum option {
    O_PROMPT,
    O_PROMPT_FILE,
    O_TOKENS,
    O_MAX_TOKENS,
    O_CONTEXT,
    O_BLOCK,
    O_PRECISION,
    O_WEIGHTS,
    O_ENGINE,
    O_GRAPHS,
    O_THREADS,
    O_TEMPERATURE,
    O_TOP_K,
    O_TOP_P,
    O_SEED,
    O_STOP,
    O_TOKENIZER,
    O_COUNT
};

static const char *const option_names[O_COUNT] = {"--prompt",   "--prompt-file",  "--tokens",    "--max-tokens",
                                                  "--context",  "--prompt-block", "--precision", "--quantize-weights",
                                                  "--engine",   "--graphs",       "--threads",   "--temperature",
                                                  "--top-k",    "--top-p",        "--seed",      "--stop",
                                                  "--tokenizer"};

struct program {
    const char *model, *values[O_COUNT];
    char *path, *folder; /* of the ONNX file, and where it lies */
    struct tokenizer *tokenizer;
    struct decoder_options options;
    struct decoder decoder;
    struct sampler sampler;
    int32_t *prompt, stops[STOPS_MAX];
    size_t prompt_count, stop_count;
    unsigned long max_tokens;
};

static bool fail(const char *format, const char *text)
{
    fprintf(stderr, "generate_text: ");
    fprintf(stderr, format, text);
    fputc('\n', stderr);
    return false;
}

/* ---- options ---- */

static bool parse_arguments(struct program *p, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int known = 0;

        if (strncmp(argv[i], "--", 2) != 0) {
            if (p->model)
                return fail("'%s' is a second model", argv[i]);
            p->model = argv[i];
            continue;
        }
        while (known < O_COUNT && strcmp(option_names[known], argv[i]) != 0)
            known++;
        if (known == O_COUNT)
            return fail("there is no option %s", argv[i]);
        if (i + 1 == argc)
            return fail("%s needs a value", argv[i]);
        p->values[known] = argv[++i];
    }
    if (!p->model)
        return fail("%s", "no model is given");
    if (!p->values[O_PROMPT] + !p->values[O_PROMPT_FILE] + !p->values[O_TOKENS] != 2)
        return fail("%s", "one of --prompt, --prompt-file and --tokens is needed");
    return true;
}

static bool parse_number(const struct program *p, enum option o, double least, double most, double missing, double *number)
{
    const char *text = p->values[o];
    char *end;

    *number = missing;
    if (!text)
        return true;
    *number = strtod(text, &end);
    if (end != text && !*end && *number >= least && *number <= most)
        return true;
    fprintf(stderr, "generate_text: %s takes a number from %g to %g, not '%s'\n", option_names[o], least, most, text);
    return false;
}

static bool parse_word(const struct program *p, enum option o, const char *const *words, int *value)
{
    *value = 0;
    while (p->values[o] && words[*value] && strcmp(words[*value], p->values[o]) != 0)
        ++*value;
    if (!p->values[o] || words[*value])
        return true;
    fprintf(stderr, "generate_text: %s does not take '%s'; --help lists what it takes\n", option_names[o], p->values[o]);
    return false;
}

static bool parse_engine(struct program *p)
{
    const char *text = p->values[O_ENGINE];

    if (!text || !strcmp(text, "auto"))
        return true;
    p->options.engine = !strcmp(text, "cpu") ? WNNEngine_Cpu : WNNEngine_Gpu;
    if (!strncmp(text, "gpu:", 4))
        p->options.device = text + 4;
    return p->options.engine == WNNEngine_Cpu || !strcmp(text, "gpu") || (p->options.device && *p->options.device) ||
           fail("--engine takes cpu, auto, gpu or gpu:DEVICE, not '%s'", text);
}

static bool parse_options(struct program *p)
{
    static const char *const precisions[] = {"float32", "bf16x2", "bf16", "int8", NULL};
    static const char *const formats[] = {"none", "int8", "int4", NULL};
    double most = 1 << 20, max_tokens, context, block, threads, top_k, seed;
    int precision, format;

    if (!parse_number(p, O_MAX_TOKENS, 0, most, 64, &max_tokens) || !parse_number(p, O_CONTEXT, 1, most, 0, &context) ||
        !parse_number(p, O_BLOCK, 1, 4096, 128, &block) || !parse_number(p, O_THREADS, 0, 1024, 0, &threads) ||
        !parse_number(p, O_TEMPERATURE, 0, 100, 0, &p->sampler.temperature) ||
        !parse_number(p, O_TOP_K, 1, SAMPLER_TOP_MAX, 40, &top_k) ||
        !parse_number(p, O_TOP_P, 1e-6, 1, 0.95, &p->sampler.top_p) || !parse_number(p, O_SEED, 0, 9e15, 1, &seed) ||
        !parse_word(p, O_PRECISION, precisions, &precision) || !parse_word(p, O_WEIGHTS, formats, &format))
        return false;
    p->max_tokens = (unsigned long)max_tokens;
    p->sampler.top_k = (uint32_t)top_k;
    p->sampler.state = (uint64_t)seed;
    p->options = (struct decoder_options){.context = (uint32_t)context,
                                          .block = (uint32_t)block,
                                          .threads = (uint32_t)threads,
                                          .precision = (WNNPrecision)precision,
                                          .weights = (WNNWeightFormat)format,
                                          .folder = p->values[O_GRAPHS]};
    return parse_engine(p);
}

/* Reads "1,2,3" into at most `capacity` numbers. */
static bool parse_ids(enum option o, const char *text, int32_t *ids, size_t capacity, size_t *count)
{
    *count = 0;
    while (*text) {
        char *end;
        long id = strtol(text, &end, 10);

        if (end == text || id < 0 || id >= INT32_MAX || (*end && *end != ',') || *count == capacity) {
            fprintf(stderr, "generate_text: %s takes up to %zu numbers of tokens with commas between them, not '%s'\n",
                    option_names[o], capacity, text);
            return false;
        }
        ids[(*count)++] = (int32_t)id;
        text = *end ? end + 1 : end;
    }
    return true;
}

/* ---- files ---- */

static bool is_folder(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

/* Adds the ONNX files of a folder, as paths of their own. */
static void list_models(const char *folder, char *paths[FILES_MAX], size_t *count)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir && *count < FILES_MAX && (entry = readdir(dir))) {
        const size_t length = strlen(entry->d_name);

        if (length > 5 && !strcmp(entry->d_name + length - 5, ".onnx") && (paths[*count] = file_join(folder, entry->d_name)))
            ++*count;
    }
    if (dir)
        closedir(dir);
}

static bool find_model(struct program *p)
{
    char *inner = file_join(p->model, "onnx"), *paths[FILES_MAX], *slash;
    size_t count = 0;

    if (is_folder(p->model)) {
        list_models(p->model, paths, &count);
        if (inner)
            list_models(inner, paths, &count);
        if (count == 1)
            p->path = paths[0];
        else
            fail(count ? "%s has several models; give one of them:" : "%s has no file that ends with .onnx", p->model);
        for (size_t i = 0; i < count && count > 1; i++) {
            fprintf(stderr, "  %s\n", paths[i]);
            free(paths[i]);
        }
    } else {
        p->path = strdup(p->model);
    }
    free(inner);
    if (!p->path)
        return false;
    slash = strrchr(p->path, '/');
    p->folder = slash ? strndup(p->path, (size_t)(slash - p->path) + 1) : strdup("./");
    return p->folder != NULL;
}

/* Returns the path of a file next to the model or one folder above, or NULL if there is none. */
static char *find_next_to(const struct program *p, const char *name)
{
    static const char *const places[] = {"", "../"};

    for (int i = 0; i < 2; i++) {
        char *place = file_join(p->folder, places[i]), *path = place ? file_join(place, name) : NULL;
        struct stat s;

        free(place);
        if (path && !stat(path, &s))
            return path;
        free(path);
    }
    return NULL;
}

static cJSON *read_json(const struct program *p, const char *name)
{
    char *path = find_next_to(p, name), *text = NULL;
    cJSON *root = NULL;
    size_t length;

    if (path && file_read(path, &text, &length, NULL))
        root = cJSON_ParseWithLength(text, length);
    free(path);
    free(text);
    return root;
}

static void add_stop(struct program *p, const cJSON *id)
{
    if (cJSON_IsNumber(id) && id->valueint >= 0 && p->stop_count < STOPS_MAX)
        p->stops[p->stop_count++] = id->valueint;
}

/* Finds the tokens that end a text: the first file that names some counts. */
static bool find_stops(struct program *p)
{
    static const char *const names[] = {"generation_config.json", "genai_config.json", "config.json"};

    if (p->values[O_STOP])
        return parse_ids(O_STOP, p->values[O_STOP], p->stops, STOPS_MAX, &p->stop_count);
    for (size_t i = 0; i < sizeof names / sizeof *names && !p->stop_count; i++) {
        cJSON *root = read_json(p, names[i]);
        const cJSON *model = cJSON_GetObjectItemCaseSensitive(root, "model"), *id;
        const cJSON *end = cJSON_GetObjectItemCaseSensitive(cJSON_IsObject(model) ? model : root, "eos_token_id");

        add_stop(p, end);
        if (cJSON_IsArray(end))
            cJSON_ArrayForEach(id, end) add_stop(p, id);
        cJSON_Delete(root);
    }
    return true;
}

static bool find_tokenizer(struct program *p)
{
    char *path = p->values[O_TOKENIZER] ? strdup(p->values[O_TOKENIZER]) : find_next_to(p, "tokenizer.json"), message[512];
    bool ok = path && tokenizer_read(path, &p->tokenizer, message, sizeof message);

    if (path && !ok)
        fail("%s", message);
    if (!path && access(p->path, F_OK) != 0)
        fail("there is no %s", p->path);
    else if (!path && !p->values[O_TOKENS])
        fail("there is no tokenizer.json next to %s or one folder above; --tokenizer names one", p->path);
    free(path);
    return ok || (!path && p->values[O_TOKENS]);
}

static bool find_prompt(struct program *p)
{
    const char *given = p->values[O_PROMPT];
    struct error e = {0};
    char *text = NULL;
    size_t length = given ? strlen(given) : 0;
    bool ok;

    if (p->values[O_TOKENS]) {
        const size_t capacity = strlen(p->values[O_TOKENS]) / 2 + 1;

        p->prompt = calloc(capacity, sizeof *p->prompt);
        ok = p->prompt && parse_ids(O_TOKENS, p->values[O_TOKENS], p->prompt, capacity, &p->prompt_count);
        return ok && (p->prompt_count || fail("%s", "--tokens needs one token at least"));
    }
    ok = given || file_read(p->values[O_PROMPT_FILE], &text, &length, &e);
    ok = ok && tokenizer_encode(p->tokenizer, given ? given : text, length, &p->prompt, &p->prompt_count, e.message,
                                sizeof e.message);
    free(text);
    if (!ok)
        return fail("%s", e.message);
    return p->prompt_count || fail("%s", "the prompt has no token");
}

/* ---- text ---- */

static bool is_stop(const struct program *p, int32_t token)
{
    for (size_t i = 0; i < p->stop_count; i++)
        if (p->stops[i] == token)
            return true;
    return false;
}

/* Prints what a token adds to the text; of a character that is not whole yet, the bytes wait in `text`. */
static void print_token(const struct program *p, int32_t token, struct text *text)
{
    size_t whole;

    if (!p->tokenizer) {
        printf("%d ", (int)token);
    } else {
        tokenizer_decode(p->tokenizer, token, false, text);
        whole = text_whole_characters(text->data, text->length);
        if (whole) {
            fwrite(text->data, 1, whole, stdout);
            memmove(text->data, text->data + whole, text->length - whole);
            text->length -= whole;
        }
    }
    fflush(stdout);
}

static void print_rate(const char *what, size_t tokens, double ms)
{
    fprintf(stderr, "%s: %zu tokens in %.1f ms (%.1f tokens/s)\n", what, tokens, ms, ms > 0 ? (double)tokens * 1e3 / ms : 0.0);
}

static bool generate(struct program *p)
{
    struct decoder *d = &p->decoder;
    struct text text = {0};
    double start = example_now_ms(), prompt_ms;
    size_t count = 0, steps = 0;
    bool ok = decoder_feed(d, p->prompt, p->prompt_count);

    prompt_ms = example_now_ms() - start;
    start = example_now_ms();
    while (ok && count < p->max_tokens) {
        const int32_t token = sampler_choose(&p->sampler, d->logits, d->vocabulary);

        if (is_stop(p, token))
            break;
        print_token(p, token, &text);
        count++;
        if (count == p->max_tokens || d->filled == d->capacity)
            break;
        ok = decoder_feed(d, &token, 1);
        steps++;
    }
    if (text.length)
        fwrite(text.data, 1, text.length, stdout);
    text_free(&text);
    printf("\n");
    fflush(stdout);
    if (!ok)
        return fail("%s", d->message);
    print_rate("prompt", p->prompt_count, prompt_ms);
    /* The first token comes of the prompt's logits, so that the steps are one fewer than the tokens. */
    print_rate("generated after the first", steps, example_now_ms() - start);
    return true;
}

static bool run(struct program *p)
{
    const double start = example_now_ms();
    uint32_t blocks;

    if (!find_model(p) || !find_tokenizer(p) || !find_stops(p) || !find_prompt(p))
        return false;
    p->options.path = p->path;
    if (!p->options.context)
        p->options.context = (uint32_t)((p->prompt_count + p->max_tokens + CACHE_STEP - 1) / CACHE_STEP * CACHE_STEP);
    /* Blocks of one size that end where the prompt does, or a few tokens after it. */
    blocks = (uint32_t)((p->prompt_count + p->options.block - 1) / p->options.block);
    p->options.block = (uint32_t)((p->prompt_count + blocks - 1) / blocks);
    if (!decoder_open(&p->decoder, &p->options))
        return fail("%s", p->decoder.message);
    fprintf(stderr, "%s in %.2f s: a cache of %u tokens, blocks of %u%s\n",
            p->decoder.loaded ? "read and loaded" : "read and built", (example_now_ms() - start) / 1e3, p->decoder.capacity,
            p->options.block, p->decoder.is_one ? " and tokens by one graph" : "");
    return generate(p);
}

int main(int argc, char **argv)
{
    struct program *p = calloc(1, sizeof *p);
    int status = 1;

    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        free(p);
        return 0;
    }
    if (!p || !parse_arguments(p, argc, argv) || !parse_options(p)) {
        fprintf(stderr, "generate_text --help lists the options.\n");
        status = 2;
    } else {
        status = !run(p);
    }
    if (p) {
        decoder_close(&p->decoder);
        tokenizer_free(p->tokenizer);
        free(p->prompt);
        free(p->path);
        free(p->folder);
    }
    free(p);
    return status;
}
