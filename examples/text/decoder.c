/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two kinds of files are understood.  In one the cache has a fixed length, and attention finds from the mask how much of it is
 * valid (GroupQueryAttention): `present` takes the place of `past`.  In the other `present` is `past` with the new keys or
 * values after it (concat); there `past` is as long as the cache, the mask hides what is not valid yet, and the new rows are
 * written to their places in it by a scatterND that is added to the graph.
 */
#include "examples/text/decoder.h"

#include "examples/text/kept.h"
#include "webnn/webnn_draft.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INPUTS_MAX = DECODER_STATES_MAX + 16, RANK_MAX = 12 };

static const char past_prefix[] = "past_key_values.", present_prefix[] = "present.";

/* The number of tokens of a graph in which it is a name. */
enum { ANY_LENGTH = 0 };

/* Holds the shapes that a reading gives to the inputs, and the inputs that it makes constants. */
struct binding {
    WNNModelShape shapes[INPUTS_MAX];
    uint32_t sizes[INPUTS_MAX][RANK_MAX];
    WNNModelConstant constants[INPUTS_MAX];
    WNNModelOptions options;
};

static bool error(struct decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool error(struct decoder *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(d->message, sizeof d->message, format, args);
    va_end(args);
    return false;
}

static bool ok(struct decoder *d, WNNStatus status)
{
    WNNStringView text = wnnGetLastErrorMessage();

    return !status || error(d, "%.*s", (int)text.length, text.data);
}

static bool model_ok(struct decoder *d, WNNStatus status)
{
    WNNStringView text = wnnModelGetLastErrorMessage();

    return !status || error(d, "%.*s", (int)text.length, text.data);
}

static bool is(WNNStringView name, const char *text)
{
    return name.length == strlen(text) && !memcmp(name.data, text, name.length);
}

static bool begins(WNNStringView name, const char *text)
{
    return name.length > strlen(text) && !memcmp(name.data, text, strlen(text));
}

/* ---- shapes ---- */

/* Says what a dimension that the file leaves open is; one that it fixes stays, and the library says where that is wrong. */
static void bind(struct binding *b, const WNNModelDeclaration *input, size_t rank, const uint32_t *wanted)
{
    const size_t k = b->options.shapeCount++;

    for (size_t i = 0; i < rank; i++)
        b->sizes[k][i] = input->dimensions[i].size ? input->dimensions[i].size : wanted[i];
    b->shapes[k] = (WNNModelShape){input->name, rank, b->sizes[k]};
}

/* Makes an input the constant 1: a switch that is on, or a count. */
static void bind_one(struct binding *b, const WNNModelDeclaration *input, WNNOperandDataType type)
{
    static const int64_t one = 1; /* its first byte is 1, too, on the machines that there are */
    static const uint32_t shape[RANK_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

    b->constants[b->options.constantCount++] =
        (WNNModelConstant){input->name,
                           {type, input->rank < RANK_MAX ? input->rank : RANK_MAX, shape, NULL},
                           &one,
                           wnnOperandDataTypeGetByteSize(type)};
}

static bool bind_input(struct decoder *d, struct binding *b, const WNNModelDeclaration *input, uint32_t length, uint32_t total)
{
    const uint32_t cache[4] = {1, 0, d->capacity, 0};
    char name[160];

    if (b->options.shapeCount + b->options.constantCount == INPUTS_MAX)
        return error(d, "the model has more than %d inputs", INPUTS_MAX);
    if ((is(input->name, "input_ids") || is(input->name, "position_ids")) && input->rank == 2) {
        if (length != ANY_LENGTH)
            bind(b, input, 2, (uint32_t[]){1, length});
    } else if (is(input->name, "attention_mask") && input->rank == 2) {
        bind(b, input, 2, (uint32_t[]){1, total});
    } else if (begins(input->name, past_prefix) && input->rank == 4) {
        bind(b, input, 4, cache);
    } else if (is(input->name, "num_logits_to_keep") || is(input->name, "logits_to_keep")) {
        bind_one(b, input, WNNOperandDataType_Int64);
    } else if (is(input->name, "use_cache_branch")) {
        bind_one(b, input, WNNOperandDataType_Uint8);
    } else {
        return error(d,
                     "the model has the input '%s', which this program does not know; it takes input_ids, attention_mask, "
                     "position_ids and past_key_values.*",
                     wnnModelEscape(input->name, name, sizeof name));
    }
    return true;
}

/* Reads the model for so many tokens at once and so many elements of the mask. */
static bool read_model(struct decoder *d, WNNModelInfo info, const char *path, uint32_t length, uint32_t total, WNNModel *model)
{
    const WNNDimension any = {WNN_STR(d->length_name), 1, d->capacity};
    struct binding *b = calloc(1, sizeof *b);
    bool done = b != NULL;

    *model = NULL;
    if (!b)
        return error(d, "out of memory");
    b->options = (WNNModelOptions)WNN_MODEL_OPTIONS_INIT;
    b->options.nameCount = length == ANY_LENGTH;
    b->options.names = &any;
    for (size_t i = 0; i < wnnModelInfoGetInputCount(info) && done; i++) {
        WNNModelDeclaration input;

        done = model_ok(d, wnnModelInfoGetInput(info, i, &input)) && bind_input(d, b, &input, length, total);
    }
    b->options.shapes = b->shapes;
    b->options.constants = b->constants;
    done = done && model_ok(d, wnnModelRead(d->context, path, &b->options, model));
    free(b);
    return done;
}

/* Finds how long the cache is that the file fixes, and refuses files that are not language models with a cache. */
static bool check_inputs(struct decoder *d, WNNModelInfo info)
{
    bool has_ids = false;
    size_t caches = 0;

    for (size_t i = 0; i < wnnModelInfoGetInputCount(info); i++) {
        WNNModelDeclaration input;

        if (!model_ok(d, wnnModelInfoGetInput(info, i, &input)))
            return false;
        if (is(input.name, "input_ids")) {
            has_ids = true;
            if (input.rank == 2 && !input.dimensions[1].size && input.dimensions[1].name.length < sizeof d->length_name)
                memcpy(d->length_name, input.dimensions[1].name.data, input.dimensions[1].name.length);
        }
        if (!begins(input.name, past_prefix) || input.rank != 4)
            continue;
        caches++;
        if (input.dimensions[2].size)
            d->capacity = input.dimensions[2].size;
        if (!input.dimensions[1].size || !input.dimensions[3].size)
            return error(d, "the model does not say how many heads its caches have, and of which size");
    }
    if (!has_ids || !caches)
        return error(d, "the model is not a language model with a cache: it needs inputs input_ids and past_key_values.*");
    return caches <= DECODER_STATES_MAX || error(d, "the model has %zu caches, more than %d", caches, DECODER_STATES_MAX);
}

/* ---- the graph ---- */

static bool find_port(WNNModel model, bool input, const char *name, WNNModelPort *port)
{
    const size_t count = input ? wnnModelGetInputCount(model) : wnnModelGetOutputCount(model);

    for (size_t i = 0; i < count; i++) {
        if (input ? wnnModelGetInput(model, i, port) : wnnModelGetOutput(model, i, port))
            return false;
        if (is(port->name, name))
            return true;
    }
    return false;
}

/* Returns the output that goes with a cache. */
static bool find_present(WNNModel model, WNNStringView past, WNNModelPort *port)
{
    char name[96];

    snprintf(name, sizeof name, "%s%.*s", present_prefix, (int)(past.length - strlen(past_prefix)),
             past.data + strlen(past_prefix));
    return find_port(model, false, name, port);
}

/* Returns the cache with the rows of the new tokens, which end `present`, at their places. */
static WNNOperand store_rows(struct decoder *d, WNNGraphBuilder b, const WNNModelPort *past, WNNOperand present,
                             uint32_t length, WNNOperand position)
{
    const uint32_t heads = past->descriptor.shape[1], size = past->descriptor.shape[3];
    const uint32_t starts[4] = {0, 0, d->capacity, 0}, sizes[4] = {1, heads, length, size};
    const uint32_t rows[3] = {heads, length, size}, places[3] = {heads, length, 3}, unit[3] = {1, 1, 3};
    const WNNOperandDescriptor base_type = {WNNOperandDataType_Int32, 3, places, NULL},
                               unit_type = {WNNOperandDataType_Int32, 3, unit, NULL};
    const size_t bytes = (size_t)heads * length * 3 * sizeof(int32_t);
    const int32_t along[3] = {0, 0, 1};
    int32_t *base = malloc(bytes);
    WNNOperand indices, row;

    for (uint32_t h = 0; base && h < heads; h++)
        for (uint32_t i = 0; i < length; i++)
            memcpy(base + ((size_t)h * length + i) * 3, (int32_t[]){0, (int32_t)h, (int32_t)i}, 3 * sizeof *base);
    indices = wnnGraphBuilderMul(b, position, wnnGraphBuilderConstant(b, &unit_type, along, sizeof along), NULL);
    indices = wnnGraphBuilderAdd(b, wnnGraphBuilderConstant(b, &base_type, base, base ? bytes : 0), indices, NULL);
    row = wnnGraphBuilderReshape(b, wnnGraphBuilderSlice(b, present, 4, starts, 4, sizes, NULL), 3, rows, NULL);
    free(base);
    return wnnGraphBuilderScatterND(b, past->operand, indices, row, NULL);
}

static void name_state(struct decoder *d, size_t k, WNNStringView past)
{
    snprintf(d->input_names[k], sizeof d->input_names[k], "%.*s", (int)past.length, past.data);
    snprintf(d->output_names[k], sizeof d->output_names[k], "%s%s", present_prefix, d->input_names[k] + strlen(past_prefix));
}

/* Collects the caches as states, with the outputs that they become.  Returns false after a message. */
static bool add_states(struct decoder *d, WNNModel model, WNNGraphBuilder b, uint32_t length, WNNNamedOperand *outputs,
                       size_t *count)
{
    WNNNamedState *states = calloc(DECODER_STATES_MAX, sizeof *states);
    WNNOperand position = NULL;
    bool done = states != NULL || error(d, "out of memory");

    if (!d->fixed_cache)
        position = wnnGraphBuilderInput(b, WNN_STR("past_length"),
                                        &(WNNOperandDescriptor){WNNOperandDataType_Int32, 3, (uint32_t[]){1, 1, 1}, NULL});
    for (size_t i = 0; i < wnnModelGetInputCount(model) && done; i++) {
        const size_t k = *count;
        WNNModelPort past, present;
        char name[160];

        if (!model_ok(d, wnnModelGetInput(model, i, &past)))
            done = false;
        if (!done || !begins(past.name, past_prefix))
            continue;
        name_state(d, k, past.name);
        if (!find_present(model, past.name, &present)) {
            done = error(d, "the model has no output for its input %s", wnnModelEscape(past.name, name, sizeof name));
            continue;
        }
        outputs[k] =
            (WNNNamedOperand){WNN_STR(d->output_names[k]),
                              d->fixed_cache ? present.operand : store_rows(d, b, &past, present.operand, length, position)};
        states[k] = (WNNNamedState){WNN_STR(d->input_names[k]), WNN_STR(d->output_names[k])};
        ++*count;
    }
    done = done && ok(d, wnnGraphBuilderSetStates(b, *count, states));
    free(states);
    return done;
}

/* Returns the logits of the last token as float32: of any number of tokens, which is the second of their shape. */
static bool last_logits(struct decoder *d, WNNModel model, WNNGraphBuilder b, WNNOperand *logits)
{
    const WNNOperandDescriptor one = {WNNOperandDataType_Uint32, 1, (uint32_t[]){1}, NULL},
                               three = {WNNOperandDataType_Uint32, 1, (uint32_t[]){3}, NULL};
    const uint32_t zeros[3] = {0}, ones[1] = {1};
    WNNModelPort port;

    if (!find_port(model, false, "logits", &port) || port.descriptor.rank != 3)
        return error(d, "the model has no output logits of three dimensions");
    const uint32_t sizes[3] = {1, 1, port.descriptor.shape[2]};
    WNNOperand zero = wnnGraphBuilderConstant(b, &one, zeros, sizeof *zeros);
    WNNOperand rows = wnnGraphBuilderSlice(b, wnnGraphBuilderShape(b, port.operand, NULL), 1, ones, 1, ones, NULL);
    WNNOperand last = wnnGraphBuilderSub(b, rows, wnnGraphBuilderConstant(b, &one, ones, sizeof ones), NULL);
    WNNOperand starts = wnnGraphBuilderConcat(b, 3, (WNNOperand[]){zero, last, zero}, 0, NULL);

    *logits =
        wnnGraphBuilderSliceDynamic(b, port.operand, starts, wnnGraphBuilderConstant(b, &three, sizes, sizeof sizes), NULL);
    if (port.descriptor.dataType != WNNOperandDataType_Float32)
        *logits = wnnGraphBuilderCast(b, *logits, WNNOperandDataType_Float32, NULL);
    return true;
}

/* Reads the model as the file of either kind that it is. */
static bool read_either(struct decoder *d, WNNModelInfo info, const char *path, uint32_t length, WNNModel *model)
{
    WNNModelPort past, present;
    bool found = false;

    d->fixed_cache = true;
    if (read_model(d, info, path, length, d->capacity, model)) {
        for (size_t i = 0; i < wnnModelGetInputCount(*model) && !found; i++)
            found = !wnnModelGetInput(*model, i, &past) && begins(past.name, past_prefix);
        if (!found || !find_present(*model, past.name, &present))
            return error(d, "the model has no output %s* for its caches", present_prefix);
        if (present.descriptor.rank == 4 && present.descriptor.shape[2] == d->capacity)
            return true;
        wnnModelRelease(*model);
        *model = NULL;
    }
    if (length == ANY_LENGTH)
        return false;
    d->fixed_cache = false;
    if (!read_model(d, info, path, length, d->capacity + length, model))
        return false;
    return find_port(*model, true, "position_ids", &present) ||
           error(d,
                 "the model has no input position_ids, so that the length of its cache would be taken for the positions of the "
                 "tokens; export it with position_ids, or with a cache of fixed length (GroupQueryAttention)");
}

/* Builds the graph for so many tokens at once, or for any number of them. */
static bool build_step(struct decoder *d, WNNModelInfo info, const struct decoder_options *o, uint32_t length, WNNGraph *graph)
{
    WNNNamedOperand *outputs = calloc(DECODER_STATES_MAX + 1, sizeof *outputs);
    WNNModel model = NULL;
    WNNOperand logits = NULL;
    size_t count = 0;
    bool done = outputs != NULL || error(d, "out of memory");

    done = done && read_either(d, info, o->path, length, &model);
    if (done) {
        WNNGraphBuilder b = wnnModelGetBuilder(model);

        done = last_logits(d, model, b, &logits) && add_states(d, model, b, length, outputs, &count) &&
               ok(d, wnnGraphBuilderQuantizeWeights(b, o->weights));
        if (done) {
            outputs[count] = (WNNNamedOperand){WNN_STR("logits"), logits};
            done = ok(d, wnnGraphBuilderBuild(b, count + 1, outputs, graph));
        }
    }
    wnnModelRelease(model);
    free(outputs);
    return done;
}

/* ---- tensors: everything is found in the graph, which may come from a file ---- */

static bool find_operand(WNNGraph graph, bool input, const char *name, WNNNamedOperandDescriptor *operand)
{
    const size_t count = input ? wnnGraphGetInputCount(graph) : wnnGraphGetOutputCount(graph);

    for (size_t i = 0; i < count; i++)
        if (!(input ? wnnGraphGetInput(graph, i, operand) : wnnGraphGetOutput(graph, i, operand)) && is(operand->name, name))
            return true;
    return false;
}

static bool make_tensor(struct decoder *d, const WNNOperandDescriptor *type, bool readable, bool writable, WNNTensor *tensor)
{
    WNNTensorDescriptor t = WNN_TENSOR_DESCRIPTOR_INIT;

    t.dataType = type->dataType;
    t.rank = type->rank;
    t.shape = type->shape;
    t.readable = readable;
    t.writable = writable;
    return ok(d, wnnContextCreateTensor(d->context, &t, tensor));
}

/* Makes the tensor of an input of integers, which not every model has; *length is its last dimension. */
static bool make_input(struct decoder *d, WNNGraph graph, const char *name, WNNTensor *tensor, WNNOperandDataType *type,
                       uint32_t *length)
{
    WNNNamedOperandDescriptor operand;

    if (!find_operand(graph, true, name, &operand))
        return true;
    *type = operand.descriptor.dataType;
    *length = operand.descriptor.shape[operand.descriptor.rank - 1];
    if (*type != WNNOperandDataType_Int64 && *type != WNNOperandDataType_Int32)
        return error(d, "the model's input %s is neither int64 nor int32", name);
    return make_tensor(d, &operand.descriptor, false, true, tensor);
}

/* Makes the tensors of the caches, which both graphs have. */
static bool make_states(struct decoder *d, WNNGraph graph)
{
    size_t k = 0;

    for (size_t i = 0; i < wnnGraphGetInputCount(graph); i++) {
        WNNNamedOperandDescriptor past;

        if (!ok(d, wnnGraphGetInput(graph, i, &past)))
            return false;
        if (!begins(past.name, past_prefix) || k == DECODER_STATES_MAX)
            continue;
        name_state(d, k, past.name);
        if (!d->states[k] && !make_tensor(d, &past.descriptor, false, false, &d->states[k]))
            return false;
        k++;
    }
    d->state_count = k;
    return true;
}

static bool make_tensors(struct decoder *d, struct decoder_step *s)
{
    WNNNamedOperandDescriptor past, logits;
    WNNOperandDataType past_type;
    uint32_t unused;

    d->fixed_cache = !find_operand(s->graph, true, "past_length", &past);
    if (!find_operand(s->graph, false, "logits", &logits))
        return error(d, "the compiled graph has no logits");
    d->vocabulary = logits.descriptor.shape[2];
    return make_input(d, s->graph, "input_ids", &s->ids, &s->ids_type, &s->length) &&
           make_input(d, s->graph, "attention_mask", &s->mask, &s->mask_type, &s->mask_length) &&
           make_input(d, s->graph, "position_ids", &s->positions, &s->positions_type, &unused) &&
           make_input(d, s->graph, "past_length", &s->past, &past_type, &unused) &&
           make_tensor(d, &logits.descriptor, true, false, &s->logits) && make_states(d, s->graph);
}

/* Makes the graph for so many tokens: a variant of the one graph for any number, which is read once; where the file's caches
 * grow, or it has operators that must know the number, the file is read for each. */
static bool make_graph(struct decoder *d, WNNModelInfo info, const struct decoder_options *o, uint32_t length, WNNGraph *graph)
{
    const WNNNamedSize size = {WNN_STR(d->length_name), length};

    if (*d->length_name && !d->any_length && !build_step(d, info, o, ANY_LENGTH, &d->any_length))
        *d->length_name = '\0';
    return (d->any_length && !wnnGraphGetVariant(d->any_length, 1, &size, graph)) || build_step(d, info, o, length, graph);
}

/* Takes the graph for so many tokens at once from the folder, or builds it and puts it there.  Whatever cannot be loaded is
 * built, and what cannot be written is built again at the next start. */
static bool make_step(struct decoder *d, WNNModelInfo info, const struct decoder_options *o, uint32_t length,
                      struct decoder_step *s)
{
    char *kept = o->folder ? kept_path(d->context, o, d->capacity, length) : NULL;
    const bool loaded = kept && !access(kept, R_OK) && !wnnContextLoadGraph(d->context, kept, &s->graph);
    bool done = loaded || make_graph(d, info, o, length, &s->graph);

    s->length = length;
    d->loaded += loaded;
    if (done && kept && !loaded && wnnGraphSave(s->graph, kept))
        fprintf(stderr, "%s\n", wnnGetLastErrorMessage().data);
    free(kept);
    return done && make_tensors(d, s);
}

bool decoder_open(struct decoder *d, const struct decoder_options *o)
{
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNModelInfo info = NULL;
    bool done;

    *d = (struct decoder){.capacity = o->context};
    options.threadCount = o->threads;
    options.precision = o->precision;
    options.engine = o->engine;
    options.device = WNN_STR(o->device ? o->device : "");
    done = ok(d, wnnCreateContext(&options, &d->context)) && model_ok(d, wnnModelDescribe(o->path, &info)) &&
           check_inputs(d, info) && make_step(d, info, o, 1, &d->token) &&
           (d->token.length == 1 || error(d, "the model takes %u tokens at once, and never one", d->token.length)) &&
           (o->block <= 1 || make_step(d, info, o, o->block, &d->block));
    wnnModelInfoRelease(info);
    d->is_one = d->any_length != NULL;
    wnnGraphRelease(d->any_length); /* its variants are the steps' */
    d->any_length = NULL;
    if (!done)
        return false;
    d->logits = calloc(d->vocabulary, sizeof *d->logits);
    d->integers = calloc((size_t)d->capacity + o->block + 1, sizeof *d->integers);
    return (d->logits && d->integers) || error(d, "out of memory");
}

static void close_step(struct decoder_step *s)
{
    wnnTensorRelease(s->ids);
    wnnTensorRelease(s->mask);
    wnnTensorRelease(s->positions);
    wnnTensorRelease(s->past);
    wnnTensorRelease(s->logits);
    wnnGraphRelease(s->graph);
}

void decoder_close(struct decoder *d)
{
    close_step(&d->block);
    close_step(&d->token);
    for (size_t i = 0; i < d->state_count; i++)
        wnnTensorRelease(d->states[i]);
    wnnContextRelease(d->context);
    free(d->logits);
    free(d->integers);
}

/* ---- one step ---- */

/* Writes the first elements of d->integers to an input of one of the two types of integers. */
static bool write_integers(struct decoder *d, WNNTensor tensor, WNNOperandDataType type, size_t count)
{
    int32_t *narrow = (int32_t *)(void *)d->integers;

    if (!tensor)
        return true;
    for (size_t i = 0; type == WNNOperandDataType_Int32 && i < count; i++)
        memcpy(narrow + i, &(int32_t){(int32_t)d->integers[i]}, sizeof *narrow);
    return ok(d, wnnContextWriteTensor(d->context, tensor, d->integers, count * wnnOperandDataTypeGetByteSize(type)));
}

/* Computes one block of tokens at a position. */
static bool compute(struct decoder *d, struct decoder_step *s, const int32_t *tokens, uint32_t position, bool wants_logits)
{
    const int32_t past = (int32_t)position;
    WNNNamedTensor in[DECODER_STATES_MAX + 4], out[DECODER_STATES_MAX + 1];
    size_t count = d->state_count;
    bool done;

    for (uint32_t i = 0; i < s->length; i++)
        d->integers[i] = tokens[i];
    done = write_integers(d, s->ids, s->ids_type, s->length);
    for (uint32_t i = 0; i < s->length; i++)
        d->integers[i] = position + i;
    done = done && write_integers(d, s->positions, s->positions_type, s->length);
    /* The valid tokens of the cache, and the new ones, which follow them or the whole cache. */
    for (uint32_t i = 0; i < s->mask_length; i++)
        d->integers[i] = d->fixed_cache ? i < position + s->length : i < position || i >= s->mask_length - s->length;
    done = done && write_integers(d, s->mask, s->mask_type, s->mask_length) &&
           (!s->past || ok(d, wnnContextWriteTensor(d->context, s->past, &past, sizeof past)));
    for (size_t i = 0; i < d->state_count; i++) {
        in[i] = (WNNNamedTensor){WNN_STR(d->input_names[i]), d->states[i]};
        out[i] = (WNNNamedTensor){WNN_STR(d->output_names[i]), d->states[i]};
    }
    out[count] = (WNNNamedTensor){WNN_STR("logits"), s->logits};
    in[count++] = (WNNNamedTensor){WNN_STR("input_ids"), s->ids};
    if (s->mask)
        in[count++] = (WNNNamedTensor){WNN_STR("attention_mask"), s->mask};
    if (s->positions)
        in[count++] = (WNNNamedTensor){WNN_STR("position_ids"), s->positions};
    if (s->past)
        in[count++] = (WNNNamedTensor){WNN_STR("past_length"), s->past};
    return done && ok(d, wnnContextDispatch(d->context, s->graph, count, in, d->state_count + 1, out)) &&
           (!wants_logits || ok(d, wnnContextReadTensor(d->context, s->logits, d->logits, d->vocabulary * sizeof *d->logits)));
}

bool decoder_feed(struct decoder *d, const int32_t *tokens, size_t count)
{
    const uint32_t block = d->block.graph ? d->block.length : 0;
    size_t done = 0;

    if (count > d->capacity - d->filled)
        return error(d, "the cache has room for %u tokens, and %zu are wanted", d->capacity, d->filled + count);
    for (size_t i = 0; i < count; i++)
        if (tokens[i] < 0 || (uint32_t)tokens[i] >= d->vocabulary)
            return error(d, "token %" PRId32 " is none of the model's %u", tokens[i], d->vocabulary);
    while (done < count) {
        /* The last block of a prompt ends where the prompt ends: a few tokens are computed twice, and come to the same. */
        const bool whole = block && count >= block && count - done > 1;
        const size_t begin = whole && count - done < block ? count - block : done;
        const uint32_t length = whole ? block : 1;

        if (!compute(d, whole ? &d->block : &d->token, tokens + begin, d->filled + (uint32_t)begin, begin + length == count))
            return false;
        done = begin + length;
    }
    d->filled += (uint32_t)count;
    return true;
}
