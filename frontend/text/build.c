/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Documents to builder calls.
 *
 * In: a document.  Out: a model.  Operators are called by their names (webnn/webnn_call.h), so that every rule is the
 * builder's; what is checked here is what the builder cannot know: names, free dimensions, and that no constant asks for more
 * memory than its file is worth.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/text/document.h"
#include "frontend/text/weights.h"
#include "ir/name_map.h"
#include "webnn/webnn_call.h"

/** What all @scalar of one file may fill: a few characters must not cost the machine's memory. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
static const uint64_t scalar_bytes_max = UINT64_C(1) << 20;
#else
static const uint64_t scalar_bytes_max = UINT64_C(1) << 30;
#endif

struct build {
    struct document *d;
    const struct model_options *options;
    struct model *model;
    struct name_map operands, outputs;
    struct weights *weights;
    uint64_t scalar_bytes;
};

/** What the builder said about a place. */
static bool refused(struct build *b, const char *place)
{
    WNNStringView text = wnnGetLastErrorMessage();

    return document_error(b->d, place, "%.*s", (int)text.length, text.data);
}

static bool define(struct build *b, const struct document_text *name, WNNOperand operand)
{
    char buf[128];

    switch (name_map_add(&b->operands, name->text, name->length, operand)) {
    case NAME_MAP_ADDED:
        return true;
    case NAME_MAP_EXISTS:
        return document_error(b->d, name->place, "the name '%s' is defined twice", document_escape(buf, *name));
    case NAME_MAP_OUT_OF_MEMORY:
        break;
    }
    return error_out_of_memory(&b->d->error);
}

static WNNOperand find(struct build *b, const struct document_text *name)
{
    WNNOperand operand = name_map_find(&b->operands, name->text, name->length);
    char buf[128];

    if (!operand)
        document_error(b->d, name->place, "'%s' is not defined here; a node may use what stands before it only",
                       document_escape(buf, *name));
    return operand;
}

static bool same_name(const char *name, const struct document_text *text)
{
    return strlen(name) == text->length && !memcmp(name, text->text, text->length);
}

/** Ports are called by NUL-terminated names. */
static bool check_port(struct build *b, const struct document_text *name)
{
    return strlen(name->text) == name->length || document_error(b->d, name->place, "a name with a NUL in it");
}

/* ---- types ---- */

/** "float32[2, 3]" */
static const char *print_shape(char *buf, size_t size, const char *type, size_t rank, const uint64_t *shape)
{
    size_t n = (size_t)snprintf(buf, size, "%s[", type);

    for (size_t i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%llu", i ? ", " : "", (unsigned long long)shape[i]);
    if (n < size)
        snprintf(buf + n, size - n, "]");
    return buf;
}

/** The sizes of a type; free ones as the options bind them. */
static bool bind_shape(struct build *b, const struct document_text *name, const struct document_type *type, uint32_t *shape)
{
    const struct model_shape *given = NULL;
    char buf[128], dimension[128];

    document_escape(buf, *name);
    for (size_t i = 0; i < b->options->shape_count; i++)
        if (same_name(b->options->shapes[i].name, name))
            given = &b->options->shapes[i];
    if (given && given->rank != type->rank)
        return document_error(b->d, type->place, "input '%s' has rank %zu, the shape given for it %zu", buf, type->rank,
                              given->rank);
    for (size_t i = 0; i < type->rank; i++) {
        const struct document_dimension *d = &type->dims[i];
        bool bound = given;

        shape[i] = given ? given->dims[i] : d->size;
        if (!d->name.text) {
            if (shape[i] != d->size)
                return document_error(b->d, type->place, "dimension %zu of input '%s' is %u, the shape given for it says %u", i,
                                      buf, d->size, shape[i]);
            continue;
        }
        for (size_t k = 0; !given && k < b->options->dim_count; k++)
            if (same_name(b->options->dims[k].name, &d->name)) {
                shape[i] = b->options->dims[k].size;
                bound = true;
            }
        document_escape(dimension, d->name);
        if (!bound)
            return document_error(b->d, d->name.place,
                                  "dimension '%s' of input '%s' is free: give it a size up to %u (--dim %s=N, or --shape)",
                                  dimension, buf, d->size, dimension);
        if (shape[i] > d->size)
            return document_error(b->d, d->name.place, "dimension '%s' of input '%s' is at most %u, not %u", dimension, buf,
                                  d->size, shape[i]);
    }
    return true;
}

/* ---- inputs ---- */

/** An input that is given as a constant. */
static bool constant_input(struct build *b, const struct document_tensor *t, const WNNOperandDescriptor *descriptor,
                           const struct npy_array *array)
{
    WNNOperand operand;
    char buf[128];

    if (array->dataType != descriptor->dataType || array->rank != descriptor->rank ||
        (array->rank && memcmp(array->shape, descriptor->shape, array->rank * sizeof *array->shape)))
        return document_error(b->d, t->type.place, "the constant given for input '%s' has another type or shape",
                              document_escape(buf, t->name));
    operand = wnnGraphBuilderConstant(b->model->builder, descriptor, array->data, array->byteLength);
    return wnnOperandIsError(operand) ? refused(b, t->name.place) : define(b, &t->name, operand);
}

static bool build_input(struct build *b, const struct document_tensor *t)
{
    uint32_t shape[DOCUMENT_RANK_MAX];
    WNNOperandDescriptor descriptor = {t->type.dataType, t->type.rank, shape};
    WNNOperand operand;

    if (!check_port(b, &t->name) || !bind_shape(b, &t->name, &t->type, shape))
        return false;
    for (size_t i = 0; i < b->options->constant_count; i++)
        if (same_name(b->options->constants[i].name, &t->name))
            return constant_input(b, t, &descriptor, b->options->constants[i].array);
    operand = wnnGraphBuilderInput(b->model->builder, (WNNStringView){t->name.text, t->name.length}, &descriptor);
    if (wnnOperandIsError(operand))
        return refused(b, t->name.place);
    if (!define(b, &t->name, operand))
        return false;
    return model_add_input(b->model, t->name.text, operand, false) || error_out_of_memory(&b->d->error);
}

/* ---- constants ---- */

/** NAME.weights or NAME.safetensors beside NAME.webnn. */
static char *weights_beside(const char *path)
{
    static const char *const endings[] = {".weights", ".safetensors"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    char *beside = malloc(stem + sizeof ".safetensors");

    for (size_t i = 0; beside && i < 2; i++) {
        memcpy(beside, path, stem);
        strcpy(beside + stem, endings[i]);
        if (!access(beside, R_OK))
            return beside;
    }
    if (beside)
        strcpy(beside + stem, endings[0]);
    return beside;
}

static bool open_weights(struct build *b, const char *place)
{
    char *path = b->options->weights ? strdup(b->options->weights) : weights_beside(b->d->path), *message = NULL;
    bool ok = path && weights_open(path, &b->weights, &message);

    if (!path || (!ok && !message))
        error_out_of_memory(&b->d->error);
    else if (!ok)
        document_error(b->d, place, "%s", message);
    free(message);
    free(path);
    return ok;
}

static WNNOperand weights_operand(struct build *b, const struct document_tensor *t, const WNNOperandDescriptor *descriptor)
{
    const struct weights_entry *e;
    char key[128], has[256], wants[256];
    uint64_t shape[DOCUMENT_RANK_MAX];
    bool same;

    if (!b->weights && !open_weights(b, t->data_place))
        return NULL;
    document_escape(key, t->key);
    e = weights_find(b->weights, t->key.text, t->key.length);
    if (!e) {
        document_error(b->d, t->key.place, "there is no tensor '%s' in %s", key, weights_path(b->weights));
        return NULL;
    }
    same = e->dataType == descriptor->dataType && e->rank == descriptor->rank;
    for (size_t i = 0; i < descriptor->rank; i++) {
        shape[i] = descriptor->shape[i];
        same = same && e->shape[i] == shape[i];
    }
    if (same)
        return weights_constant(b->weights, e, b->model->builder, descriptor);
    document_error(b->d, t->key.place, "tensor '%s' is %s in %s, but %s here", key,
                   print_shape(has, sizeof has, e->typeName, e->rank, e->shape), weights_path(b->weights),
                   print_shape(wants, sizeof wants, wnnOperandDataTypeGetName(descriptor->dataType), descriptor->rank, shape));
    return NULL;
}

static void free_bytes(void const *data, size_t length, void *unused1, void *unused2)
{
    (void)length;
    (void)unused1;
    (void)unused2;
    free((void *)data);
}

/** A constant whose bytes are in the document.  NULL: an error, or the builder's. */
static WNNOperand inline_operand(struct build *b, const struct document_tensor *t, const WNNOperandDescriptor *descriptor,
                                 uint64_t elements)
{
    size_t size = wnnOperandDataTypeGetByteSize(descriptor->dataType), bytes = (size_t)elements * size, done;
    union scalar s = {.u64 = 0};
    char *data;

    if (t->data == DOCUMENT_SCALAR && (b->scalar_bytes += bytes) > scalar_bytes_max) {
        document_error(b->d, t->data_place, "scalars fill more than %llu bytes", (unsigned long long)scalar_bytes_max);
        return NULL;
    }
    if (t->data != DOCUMENT_SCALAR && t->count != (t->data == DOCUMENT_BYTES ? bytes : elements)) {
        document_error(b->d, t->data_place, "%zu %s, the type has %zu", t->count,
                       t->data == DOCUMENT_BYTES ? "bytes" : "elements", t->data == DOCUMENT_BYTES ? bytes : (size_t)elements);
        return NULL;
    }
    data = malloc(bytes);
    if (!data) {
        error_out_of_memory(&b->d->error);
        return NULL;
    }
    if (t->data == DOCUMENT_BYTES) {
        memcpy(data, t->bytes, bytes);
    } else if (t->data == DOCUMENT_VALUES) {
        for (size_t i = 0; i < elements; i++) {
            s = number_cast(t->values[i], descriptor->dataType);
            memcpy(data + i * size, &s, size);
        }
    } else {
        s = number_cast(t->scalar, descriptor->dataType);
        memcpy(data, &s, size);
        for (done = size; done < bytes; done *= 2)
            memcpy(data + done, data, done <= bytes - done ? done : bytes - done);
    }
    return wnnGraphBuilderConstantLent(b->model->builder, descriptor, data, bytes,
                                       (WNNBufferReleaseCallbackInfo){free_bytes, NULL, NULL});
}

static bool build_constant(struct build *b, const struct document_tensor *t)
{
    uint32_t shape[DOCUMENT_RANK_MAX];
    WNNOperandDescriptor descriptor = {t->type.dataType, t->type.rank, shape};
    uint64_t elements = 1;
    WNNOperand operand;

    for (size_t i = 0; i < t->type.rank; i++) {
        if (t->type.dims[i].name.text)
            return document_error(b->d, t->type.dims[i].name.place, "the shape of a constant has no free dimensions");
        shape[i] = t->type.dims[i].size;
        elements = elements > INT32_MAX ? elements : elements * shape[i];
    }
    if (t->type.rank > NPY_RANK_MAX || !elements || elements > INT32_MAX) {
        /* No operand; the builder says why, before any memory is asked for. */
        operand = wnnGraphBuilderConstant(b->model->builder, &descriptor, "", 0);
        return wnnOperandIsError(operand) && refused(b, t->type.place);
    }
    operand = t->data == DOCUMENT_WEIGHTS ? weights_operand(b, t, &descriptor) : inline_operand(b, t, &descriptor, elements);
    if (!operand)
        return false;
    return wnnOperandIsError(operand) ? refused(b, t->name.place) : define(b, &t->name, operand);
}

/* ---- nodes ---- */

/** What an argument takes. */
enum wants { WANTS_VALUE, WANTS_OPERAND, WANTS_OPERANDS };

/** Asks the method itself, through a call that is not made. */
static enum wants argument_wants(WNNMethodCall probe, WNNStringView name)
{
    WNNMethodValue operand = wnnMethodValueOperand(NULL);
    enum wants wants = WANTS_VALUE;

    if (!wnnMethodCallSet(probe, name, operand))
        return WANTS_OPERAND;
    wnnMethodCallReset(probe);
    if (!wnnMethodCallSet(probe, name, wnnMethodValueList(1, &operand)))
        wants = WANTS_OPERANDS;
    wnnMethodCallReset(probe);
    return wants;
}

static bool convert(struct build *b, const struct document_value *v, enum wants wants, bool number_words, WNNMethodValue *out)
{
    WNNMethodValue *items;
    size_t i = 0;

    memset(out, 0, sizeof *out);
    switch (v->kind) {
    case DOCUMENT_NULL:
        return true;
    case DOCUMENT_NAME:
    case DOCUMENT_STRING:
        if (wants != WANTS_VALUE) {
            *out = wnnMethodValueOperand(find(b, &v->text));
            return out->as.operand;
        }
        /* JSON has no words for these. */
        if (number_words && same_name("NaN", &v->text))
            *out = wnnMethodValueNumber(wnnNumber(NAN));
        else if (number_words && (same_name("Infinity", &v->text) || same_name("-Infinity", &v->text)))
            *out = wnnMethodValueNumber(wnnNumber(*v->text.text == '-' ? -INFINITY : INFINITY));
        else
            *out = wnnMethodValueString((WNNStringView){v->text.text, v->text.length});
        return true;
    case DOCUMENT_NUMBER:
        *out = wnnMethodValueNumber(v->number);
        return true;
    case DOCUMENT_BOOL:
        *out = wnnMethodValueBool(v->boolean);
        return true;
    case DOCUMENT_LIST:
        items = arena_array(&b->d->arena, v->count + 1, sizeof *items);
        if (!items)
            return error_out_of_memory(&b->d->error);
        for (const struct document_value *x = v->first; x; x = x->next)
            if (!convert(b, x, wants, number_words, &items[i++]))
                return false;
        *out = wnnMethodValueList(v->count, items);
        return true;
    }
    return false;
}

/** The operands of a concat that stand beside each other rather than in a list; *a becomes the last of them. */
static bool gather_operands(struct build *b, struct document_argument **a, WNNMethodValue *out)
{
    struct document_argument *last = *a;
    WNNMethodValue *items;
    size_t count = 0;

    for (struct document_argument *x = *a;
         x && !x->key.text && (x->value->kind == DOCUMENT_NAME || x->value->kind == DOCUMENT_STRING); x = x->next, count++)
        last = x;
    items = arena_array(&b->d->arena, count + 1, sizeof *items);
    if (!items)
        return error_out_of_memory(&b->d->error);
    for (size_t i = 0; i < count; i++, *a = (*a)->next)
        if (!convert(b, (*a)->value, WANTS_OPERANDS, false, &items[i]))
            return false;
    *a = last;
    *out = wnnMethodValueList(count, items);
    return true;
}

static bool set_arguments(struct build *b, const struct document_node *n, WNNMethodCall call, WNNMethodCall probe)
{
    size_t position = 0, positions = wnnMethodCallArgumentCount(call), seen_count = 0;
    WNNStringView seen[DOCUMENT_ARGUMENTS_MAX + 16];
    char buf[128];

    for (struct document_argument *a = n->first_argument; a; a = a->next) {
        WNNStringView name = {a->key.text, a->key.length};
        const char *place = a->key.place;
        WNNMethodValue value;
        enum wants wants;

        if (!a->key.text) {
            if (position == positions)
                return document_error(b->d, a->value->place, "%s has %zu positional arguments, here is one more",
                                      document_escape(buf, n->op), positions);
            name.data = wnnMethodCallArgumentName(call, position++);
            name.length = strlen(name.data);
            place = a->value->place;
        }
        for (size_t i = 0; i < seen_count; i++)
            if (seen[i].length == name.length && !memcmp(seen[i].data, name.data, name.length))
                return document_error(b->d, place, "argument '%s' is given twice",
                                      escape_text(buf, sizeof buf, name.data, name.length));
        seen[seen_count++] = name;
        wants = argument_wants(probe, name);
        if (wants == WANTS_OPERANDS && !a->key.text && a->value->kind != DOCUMENT_LIST) {
            if (!gather_operands(b, &a, &value))
                return false;
        } else if (!convert(b, a->value, wants, name.length != 5 || memcmp(name.data, "label", 5), &value)) {
            return false;
        }
        if (wnnMethodCallSet(call, name, value)) {
            WNNStringView text = wnnGetLastErrorMessage();

            return document_error(b->d, place, "argument '%s': %.*s", escape_text(buf, sizeof buf, name.data, name.length),
                                  (int)text.length, text.data);
        }
    }
    return true;
}

static bool build_node(struct build *b, const struct document_node *n)
{
    WNNStringView op = {n->op.text, n->op.length};
    WNNMethodCall call = wnnMethodCallCreate(op), probe = call ? wnnMethodCallCreate(op) : NULL;
    bool ok = false;
    char buf[128];

    if (!call || !probe)
        refused(b, n->op.place);
    else if (!set_arguments(b, n, call, probe))
        ;
    else if (wnnMethodCallInvoke(call, b->model->builder))
        refused(b, n->op.place);
    else if (wnnMethodCallResultCount(call) != n->result_count)
        document_error(b->d, n->op.place, "%s has %zu results, %zu names are given", document_escape(buf, n->op),
                       wnnMethodCallResultCount(call), n->result_count);
    else
        ok = true;
    for (size_t i = 0; ok && i < n->result_count; i++)
        ok = define(b, &n->results[i], wnnMethodCallResult(call, i));
    wnnMethodCallDestroy(probe);
    wnnMethodCallDestroy(call);
    return ok;
}

/* ---- outputs and the whole ---- */

static bool build_output(struct build *b, const struct document_output *o)
{
    WNNOperand operand = check_port(b, &o->name) ? find(b, &o->operand) : NULL;
    char buf[128];

    if (!operand)
        return false;
    switch (name_map_add(&b->outputs, o->name.text, o->name.length, operand)) {
    case NAME_MAP_ADDED:
        break;
    case NAME_MAP_EXISTS:
        return document_error(b->d, o->name.place, "an output '%s' stands above", document_escape(buf, o->name));
    case NAME_MAP_OUT_OF_MEMORY:
        return error_out_of_memory(&b->d->error);
    }
    return model_add_output(b->model, o->name.text, operand, false) || error_out_of_memory(&b->d->error);
}

static bool has_dimension(const struct document *d, const char *name)
{
    for (const struct document_tensor *t = d->first_input; t; t = t->next)
        for (size_t i = 0; i < t->type.rank; i++)
            if (t->type.dims[i].name.text && same_name(name, &t->type.dims[i].name))
                return true;
    return false;
}

/** Options for names that are not there are mistakes, too. */
static bool check_options(struct build *b)
{
    const char *name;

    for (size_t i = 0; i < b->options->dim_count; i++) {
        char buf[128];

        name = b->options->dims[i].name;
        if (!has_dimension(b->d, name))
            return document_error(b->d, b->d->lexer.text, "no dimension of an input is called '%s'",
                                  escape_text(buf, sizeof buf, name, strlen(name)));
    }
    for (size_t i = 0; i < b->options->shape_count + b->options->constant_count; i++) {
        const struct document_tensor *t = b->d->first_input;
        char buf[128];

        name =
            i < b->options->shape_count ? b->options->shapes[i].name : b->options->constants[i - b->options->shape_count].name;
        while (t && !same_name(name, &t->name))
            t = t->next;
        if (!t)
            return document_error(b->d, b->d->lexer.text, "there is no input '%s'",
                                  escape_text(buf, sizeof buf, name, strlen(name)));
    }
    return true;
}

static bool build_all(struct build *b, WNNContext context)
{
    struct document *d = b->d;

    b->model->name = strdup(d->name.text ? d->name.text : "");
    if (!b->model->name)
        return error_out_of_memory(&d->error);
    if (wnnContextCreateGraphBuilder(context, &b->model->builder))
        return refused(b, d->lexer.text);
    if (!check_options(b))
        return false;
    for (const struct document_tensor *t = d->first_input; t; t = t->next)
        if (!build_input(b, t))
            return false;
    for (const struct document_tensor *t = d->first_constant; t; t = t->next)
        if (!build_constant(b, t))
            return false;
    for (const struct document_node *n = d->first_node; n; n = n->next)
        if (!build_node(b, n))
            return false;
    for (const struct document_output *o = d->first_output; o; o = o->next)
        if (!build_output(b, o))
            return false;
    return true;
}

bool document_build(struct document *d, WNNContext context, const struct model_options *options, struct model *model)
{
    struct build b = {.d = d, .options = options, .model = model};
    bool ok = build_all(&b, context);

    weights_close(b.weights);
    name_map_free(&b.operands);
    name_map_free(&b.outputs);
    return ok;
}
