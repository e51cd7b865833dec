/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tells a story, token by token.
 *
 *   tell_story MODEL [--length N] [--tokens ID,ID,...] [--save FILE.npy] [--threads N]
 *
 * MODEL is a language model of the Llama kind in ONNX (stories260k), or its folder.  The graph in the file looks at 64 tokens
 * at once and forgets everything afterwards; here its weights go into a graph that takes one token and remembers: what every
 * layer has computed for earlier tokens (keys and values) comes in as tensors and goes out, with the new token's in its row, as
 * tensors that the next step takes.  The likeliest next token is found in the graph, and it and its position are tensors, too.
 * So each step is a dispatch whose inputs are the outputs of the one before; nothing is copied through the host, which reads
 * the 4 bytes of each token only to print it.
 *
 * --tokens gives the tokens of the text that follow token 1, which begins every text; the vocabulary (vocab_partial.json
 * next to the model) turns tokens into text.  --save writes all tokens.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "examples/support/example.h"
#include "examples/support/onnx_weights.h"
#include "frontend/readers/files/file.h"

enum { LAYERS_MAX = 64, LENGTH_MAX = 4096, BEGIN_OF_TEXT = 1 };

/* Holds what the weights say about the network. */
struct sizes {
    uint32_t vocabulary, width, layers, heads, shared_heads, head, length;
};

struct llama {
    struct example e;
    struct onnx_weights *weights;
    WNNGraphBuilder b;
    struct sizes s;
    /* Every layer uses these operands, which are NULL until they are made. */
    WNNOperand cosine, sine, is_now, hidden, epsilon;
    /* state[i][t] is the i-th value that goes from step to step; odd steps write t = 0. */
    size_t state_count;
    char names[2 + 2 * LAYERS_MAX][2][32]; /* as input, as output */
    WNNTensor state[2 + 2 * LAYERS_MAX][2];
};

enum { STATE_TOKEN, STATE_POSITION, STATE_CACHE };

/* ---- the graph of one step; a failed call makes all that follow fail, and build says why ---- */

static WNNOperand constant(struct llama *m, size_t rank, const uint32_t *shape, const void *data, WNNOperandDataType type)
{
    WNNOperandDescriptor d = {type, rank, shape, NULL};

    return wnnGraphBuilderConstant(m->b, &d, data, wnnOperandDescriptorGetByteLength(&d));
}

static WNNOperand number(struct llama *m, double value)
{
    return wnnGraphBuilderConstantScalar(m->b, WNNOperandDataType_Float32, wnnNumber(value));
}

/* Returns a weight of the file; one that is missing has no descriptor, which the builder refuses. */
static WNNOperand weight(struct llama *m, const char *format, uint32_t layer)
{
    struct npy_array array = {0};
    char name[64];

    snprintf(name, sizeof name, format, layer);
    if (!onnx_weights_find(m->weights, name, &array))
        example_error(&m->e, "the model has no weight %s", name);
    return constant(m, array.rank, array.shape, array.data, array.dataType);
}

static WNNOperand reshape(struct llama *m, WNNOperand x, size_t rank, const uint32_t *shape)
{
    return wnnGraphBuilderReshape(m->b, x, rank, shape, NULL);
}

/* Returns x / sqrt(mean(x^2) + epsilon) * weight. */
static WNNOperand normalise(struct llama *m, WNNOperand x, WNNOperand w)
{
    WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
    WNNOperand mean;

    o.axesCount = 1;
    o.axes = (uint32_t[]){1};
    o.keepDimensions = true;
    mean = wnnGraphBuilderReduceMean(m->b, wnnGraphBuilderMul(m->b, x, x, NULL), &o);
    x = wnnGraphBuilderDiv(m->b, x, wnnGraphBuilderSqrt(m->b, wnnGraphBuilderAdd(m->b, mean, m->epsilon, NULL), NULL), NULL);
    return wnnGraphBuilderMul(m->b, x, w, NULL);
}

/* Turns neighbouring elements, as points in a plane, by an angle that grows with the position. */
static WNNOperand rotate(struct llama *m, WNNOperand x, uint32_t heads)
{
    WNNSplitOptions by_last = WNN_SPLIT_OPTIONS_INIT;
    WNNOperand part[2], rotated[2];

    by_last.axis = 2;
    x = reshape(m, x, 3, (uint32_t[]){heads, m->s.head / 2, 2});
    if (wnnGraphBuilderSplitEqual(m->b, x, 2, &by_last, part))
        return x; /* the builder has the error */
    rotated[0] = wnnGraphBuilderSub(m->b, wnnGraphBuilderMul(m->b, part[0], m->cosine, NULL),
                                    wnnGraphBuilderMul(m->b, part[1], m->sine, NULL), NULL);
    rotated[1] = wnnGraphBuilderAdd(m->b, wnnGraphBuilderMul(m->b, part[0], m->sine, NULL),
                                    wnnGraphBuilderMul(m->b, part[1], m->cosine, NULL), NULL);
    return wnnGraphBuilderConcat(m->b, 2, rotated, 2, NULL);
}

/* Returns the cache with the new token's row in its place.  The result is an output: the next step's cache. */
static WNNOperand remember(struct llama *m, size_t state, WNNOperand row, WNNNamedOperand *outputs)
{
    const uint32_t shape[3] = {m->s.shared_heads, m->s.length, m->s.head};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 3, shape, NULL};
    WNNOperand before = wnnGraphBuilderInput(m->b, WNN_STR(m->names[state][0]), &d), after;

    row = reshape(m, row, 3, (uint32_t[]){m->s.shared_heads, 1, m->s.head});
    after = wnnGraphBuilderWhere(m->b, m->is_now, row, before, NULL);
    outputs[state] = (WNNNamedOperand){WNN_STR(m->names[state][1]), after};
    return after;
}

/* Every head compares its query with the keys of all tokens so far and mixes their values; several heads share keys and values.
 */
static WNNOperand attend(struct llama *m, uint32_t layer, WNNOperand x, WNNNamedOperand *outputs)
{
    const struct sizes *s = &m->s;
    WNNTransposeOptions swap = WNN_TRANSPOSE_OPTIONS_INIT;
    WNNOperand q = rotate(m, wnnGraphBuilderMatmul(m->b, x, weight(m, "layers.%u.wq", layer), NULL), s->heads);
    WNNOperand k = rotate(m, wnnGraphBuilderMatmul(m->b, x, weight(m, "layers.%u.wk", layer), NULL), s->shared_heads);
    WNNOperand v = wnnGraphBuilderMatmul(m->b, x, weight(m, "layers.%u.wv", layer), NULL), scores;

    k = remember(m, STATE_CACHE + 2 * layer, k, outputs);
    v = remember(m, STATE_CACHE + 2 * layer + 1, v, outputs);
    q = reshape(m, q, 3, (uint32_t[]){s->shared_heads, s->heads / s->shared_heads, s->head});
    swap.permutationCount = 3;
    swap.permutation = (uint32_t[]){0, 2, 1};
    scores = wnnGraphBuilderMatmul(m->b, q, wnnGraphBuilderTranspose(m->b, k, &swap), NULL);
    scores = wnnGraphBuilderMul(m->b, scores, number(m, 1 / sqrt(s->head)), NULL);
    scores = wnnGraphBuilderSoftmax(m->b, wnnGraphBuilderAdd(m->b, scores, m->hidden, NULL), 2, NULL);
    x = reshape(m, wnnGraphBuilderMatmul(m->b, scores, v, NULL), 2, (uint32_t[]){1, s->width});
    return wnnGraphBuilderMatmul(m->b, x, weight(m, "layers.%u.wo", layer), NULL);
}

/* Returns (silu(x w1) * x w3) w2. */
static WNNOperand think(struct llama *m, uint32_t layer, WNNOperand x)
{
    WNNOperand gate = wnnGraphBuilderMatmul(m->b, x, weight(m, "layers.%u.w1", layer), NULL);
    WNNOperand up = wnnGraphBuilderMatmul(m->b, x, weight(m, "layers.%u.w3", layer), NULL);

    gate = wnnGraphBuilderMul(m->b, gate, wnnGraphBuilderSigmoid(m->b, gate, NULL), NULL);
    return wnnGraphBuilderMatmul(m->b, wnnGraphBuilderMul(m->b, gate, up, NULL), weight(m, "layers.%u.w2", layer), NULL);
}

/*
 * Makes the angles of all positions, of which the step takes its own, and finds which rows of the cache are now, and which
 * still to come.
 */
static bool make_position(struct llama *m, WNNOperand position)
{
    const struct sizes *s = &m->s;
    const uint32_t half = s->head / 2, table[2] = {s->length, half}, rows[3] = {1, s->length, 1},
                   columns[3] = {1, 1, s->length};
    float *cosines = malloc(sizeof *cosines * s->length * half), *sines = malloc(sizeof *sines * s->length * half);
    int32_t *numbers = malloc(sizeof *numbers * s->length);
    bool ok = cosines && sines && numbers;

    for (uint32_t p = 0; p < s->length && ok; p++) {
        numbers[p] = (int32_t)p;
        for (uint32_t i = 0; i < half; i++) {
            double angle = p * pow(10000, -2.0 * i / s->head);

            cosines[p * half + i] = (float)cos(angle);
            sines[p * half + i] = (float)sin(angle);
        }
    }
    if (ok) {
        WNNOperand c = constant(m, 2, table, cosines, WNNOperandDataType_Float32);
        WNNOperand n = constant(m, 2, table, sines, WNNOperandDataType_Float32);
        WNNOperand later;

        m->cosine = reshape(m, wnnGraphBuilderGather(m->b, c, position, NULL), 3, (uint32_t[]){1, half, 1});
        m->sine = reshape(m, wnnGraphBuilderGather(m->b, n, position, NULL), 3, (uint32_t[]){1, half, 1});
        m->is_now = wnnGraphBuilderEqual(m->b, constant(m, 3, rows, numbers, WNNOperandDataType_Int32), position, NULL);
        later = wnnGraphBuilderGreater(m->b, constant(m, 3, columns, numbers, WNNOperandDataType_Int32), position, NULL);
        m->hidden = wnnGraphBuilderWhere(m->b, later, number(m, -INFINITY), number(m, 0), NULL);
    }
    free(cosines);
    free(sines);
    free(numbers);
    return ok || example_error(&m->e, "out of memory");
}

static bool build_step(struct llama *m)
{
    const WNNOperandDescriptor one = {WNNOperandDataType_Int32, 1, (uint32_t[]){1}, NULL};
    WNNNamedOperand outputs[2 + 2 * LAYERS_MAX];
    WNNOperand token, position, embeddings, x, logits;
    WNNTransposeOptions reversed = WNN_TRANSPOSE_OPTIONS_INIT;
    struct npy_array epsilon;
    int32_t step = 1;

    if (!example_ok(&m->e, wnnContextCreateGraphBuilder(m->e.context, &m->b), "builder"))
        return false;
    token = wnnGraphBuilderInput(m->b, WNN_STR(m->names[STATE_TOKEN][0]), &one);
    position = wnnGraphBuilderInput(m->b, WNN_STR(m->names[STATE_POSITION][0]), &one);
    if (!make_position(m, position))
        return false;
    m->epsilon = number(m, onnx_weights_find(m->weights, "eps", &epsilon) ? (double)*(const float *)epsilon.data : 1e-5);
    embeddings = weight(m, "tok_embeddings", 0);
    x = wnnGraphBuilderGather(m->b, embeddings, token, NULL);
    for (uint32_t i = 0; i < m->s.layers; i++) {
        x = wnnGraphBuilderAdd(m->b, x, attend(m, i, normalise(m, x, weight(m, "layers.%u.attention_norm", i)), outputs), NULL);
        x = wnnGraphBuilderAdd(m->b, x, think(m, i, normalise(m, x, weight(m, "layers.%u.ffn_norm", i))), NULL);
    }
    logits = wnnGraphBuilderMatmul(m->b, normalise(m, x, weight(m, "norm", 0)),
                                   wnnGraphBuilderTranspose(m->b, embeddings, &reversed), NULL);
    outputs[STATE_TOKEN] = (WNNNamedOperand){WNN_STR(m->names[STATE_TOKEN][1]), wnnGraphBuilderArgMax(m->b, logits, 1, NULL)};
    outputs[STATE_POSITION] =
        (WNNNamedOperand){WNN_STR(m->names[STATE_POSITION][1]),
                          wnnGraphBuilderAdd(m->b, position, constant(m, 1, one.shape, &step, WNNOperandDataType_Int32), NULL)};
    return example_ok(&m->e, wnnGraphBuilderBuild(m->b, m->state_count, outputs, &m->e.graph), "build");
}

/* ---- sizes and tensors ---- */

static bool find_sizes(struct llama *m, uint32_t length)
{
    struct npy_array embeddings, cosines, keys;
    struct sizes *s = &m->s;
    char name[64];

    if (!onnx_weights_find(m->weights, "tok_embeddings", &embeddings) || embeddings.rank != 2 ||
        !onnx_weights_find(m->weights, "rope_cos", &cosines) || cosines.rank < 2 ||
        !onnx_weights_find(m->weights, "layers.0.wk", &keys) || keys.rank != 2)
        return example_error(&m->e, "this is not the language model that the program is for");
    s->vocabulary = embeddings.shape[0];
    s->width = embeddings.shape[1];
    s->head = 2 * cosines.shape[cosines.rank - 2]; /* an angle for each pair */
    s->heads = s->width / s->head;
    s->shared_heads = keys.shape[1] / s->head;
    s->length = length;
    for (s->layers = 0; s->layers < LAYERS_MAX; s->layers++) {
        snprintf(name, sizeof name, "layers.%u.wq", s->layers);
        if (!onnx_weights_find(m->weights, name, &keys))
            break;
    }
    m->state_count = STATE_CACHE + 2 * s->layers;
    for (size_t i = 0; i < m->state_count; i++) {
        const char *what = i == STATE_TOKEN ? "token" : i == STATE_POSITION ? "position" : i % 2 ? "values" : "keys";

        snprintf(m->names[i][0], sizeof m->names[i][0], "%s%zu", what, i / 2);
        snprintf(m->names[i][1], sizeof m->names[i][1], "next%.6s%zu", what, i / 2);
    }
    return (s->heads && s->shared_heads && s->heads % s->shared_heads == 0 && s->layers) ||
           example_error(&m->e, "the sizes of the model's weights do not fit together");
}

static bool make_tensors(struct llama *m)
{
    const uint32_t cache[3] = {m->s.shared_heads, m->s.length, m->s.head}, one[1] = {1};
    int32_t first = BEGIN_OF_TEXT;

    for (size_t i = 0; i < m->state_count; i++)
        for (int t = 0; t < 2; t++) {
            WNNTensorDescriptor d = {
                .dataType = WNNOperandDataType_Int32, .rank = 1, .shape = one, .readable = true, .writable = true};

            if (i >= STATE_CACHE)
                d = (WNNTensorDescriptor){.dataType = WNNOperandDataType_Float32,
                                          .rank = 3,
                                          .shape = cache,
                                          .readable = false,
                                          .writable = false}; /* the host never writes them */
            if (!example_ok(&m->e, wnnContextCreateTensor(m->e.context, &d, &m->state[i][t]), "tensor"))
                return false;
        }
    return example_ok(&m->e, wnnContextWriteTensor(m->e.context, m->state[STATE_TOKEN][0], &first, sizeof first), "write");
}

/* ---- text ---- */

/* Reads the pieces of text that tokens stand for.  Returns NULL without the file. */
static cJSON *read_vocabulary(const char *model)
{
    char *path = file_join(model, "vocab_partial.json"), *text = NULL;
    size_t length;
    cJSON *root = path && file_read(path, &text, &length, NULL) ? cJSON_ParseWithLength(text, length) : NULL;

    free(path);
    free(text);
    return root;
}

static void print_token(const cJSON *vocabulary, int32_t token)
{
    char key[16];
    const cJSON *piece;

    snprintf(key, sizeof key, "%d", (int)token);
    piece = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(vocabulary, "pieces"), key);
    if (cJSON_IsString(piece))
        fputs(piece->valuestring, stdout);
    else
        printf("<%d>", (int)token);
    fflush(stdout);
}

/* Takes one step after the other.  tokens[0] is there; tokens[1 to given] are what the text must begin with. */
static bool generate(struct llama *m, size_t given, int64_t *tokens, const cJSON *vocabulary, double *ms)
{
    for (uint32_t i = 0; i + 1 < m->s.length; i++) {
        WNNNamedTensor in[2 + 2 * LAYERS_MAX], out[2 + 2 * LAYERS_MAX];
        WNNContext c = m->e.context;
        int from = (int)(i % 2), to = !from;
        double start = example_now_ms();
        int32_t token;

        for (size_t k = 0; k < m->state_count; k++) {
            in[k] = (WNNNamedTensor){WNN_STR(m->names[k][0]), m->state[k][from]};
            out[k] = (WNNNamedTensor){WNN_STR(m->names[k][1]), m->state[k][to]};
        }
        if (!example_ok(&m->e, wnnContextDispatch(c, m->e.graph, m->state_count, in, m->state_count, out), "dispatch"))
            return false;
        if (i < given) {
            token = (int32_t)tokens[i + 1];
            if (!example_ok(&m->e, wnnContextWriteTensor(c, m->state[STATE_TOKEN][to], &token, sizeof token), "write"))
                return false;
        } else if (!example_ok(&m->e, wnnContextReadTensor(c, m->state[STATE_TOKEN][to], &token, sizeof token), "read")) {
            return false;
        }
        *ms += example_now_ms() - start;
        tokens[i + 1] = token;
        if (token == BEGIN_OF_TEXT) /* another text begins */
            m->s.length = i + 1;
        else
            print_token(vocabulary, token);
    }
    printf("\n");
    return true;
}

/* Reads "403,407", the tokens after the first.  Returns -1 if the text is not that. */
static int parse_tokens(const char *text, int64_t *tokens, uint32_t vocabulary, uint32_t length)
{
    int count = 0;

    while (text && *text) {
        char *end;
        long token = strtol(text, &end, 10);

        if (end == text || token < 0 || token >= (long)vocabulary || (uint32_t)count + 1 >= length || (*end && *end != ','))
            return -1;
        tokens[++count] = token;
        text = *end ? end + 1 : end;
    }
    return count;
}

int main(int argc, char **argv)
{
    const char *const names[] = {"--length", "--tokens", "--save", NULL};
    const char *words[1], *values[3] = {"256", NULL, NULL};
    struct llama *m = calloc(1, sizeof *m);
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    int64_t tokens[LENGTH_MAX] = {BEGIN_OF_TEXT};
    double start = example_now_ms(), built, ms = 0;
    cJSON *vocabulary = NULL;
    unsigned long length;
    struct error error = {0};
    int given = 0;
    bool ok;

    options.threadCount = 1; /* the network is too small for more */
    if (!m || example_arguments(argc, argv, words, 1, &options.threadCount, names, values) != 1 ||
        (length = strtoul(values[0], NULL, 10)) < 2 || length > LENGTH_MAX) {
        fprintf(stderr, "usage: tell_story MODEL [--length N] [--tokens ID,ID,...] [--save FILE.npy] [--threads N]\n");
        free(m);
        return 2;
    }
    m->e.program = "tell_story";
    ok = (onnx_weights_open(words[0], &m->weights, &error) || example_error(&m->e, "%s", error.message)) &&
         find_sizes(m, (uint32_t)length);
    given = ok ? parse_tokens(values[1], tokens, m->s.vocabulary, m->s.length) : 0;
    ok = ok && (given >= 0 || example_error(&m->e, "--tokens takes numbers below %u, fewer than --length", m->s.vocabulary)) &&
         example_ok(&m->e, wnnCreateContext(&options, &m->e.context), "context") && build_step(m) && make_tensors(m);
    built = example_now_ms();
    if (ok) {
        vocabulary = read_vocabulary(words[0]);
        ok = generate(m, (size_t)given, tokens, vocabulary, &ms);
        cJSON_Delete(vocabulary);
    }
    if (ok) {
        printf("built in %.1f ms; %u tokens, %.3f ms each\n", built - start, m->s.length - 1, ms / (m->s.length - 1));
        struct npy_array array = {WNNOperandDataType_Int64, 1, {m->s.length}, m->s.length * sizeof *tokens, tokens, false};

        ok = !values[2] || npy_write(values[2], &array, &error) || example_error(&m->e, "%s", error.message);
    }
    for (size_t i = 0; i < m->state_count; i++) {
        wnnTensorRelease(m->state[i][0]);
        wnnTensorRelease(m->state[i][1]);
    }
    wnnGraphBuilderRelease(m->b);
    example_close(&m->e);
    onnx_weights_close(m->weights);
    free(m);
    return !ok;
}
