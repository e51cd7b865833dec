/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes builder calls of a document.  Operators are called by their names (webnn/webnn_call.h), so that every rule is the
 * builder's; the checks here are those that the builder cannot make: names, free dimensions, and that no constant asks for more
 * memory than its file is worth.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/sizes.h"
#include "frontend/readers/text/build.h"
#include "frontend/readers/text/weights.h"

/** Says what the builder said about a place.  Returns false. */
static bool refused(struct build *b, const char *place)
{
    WNNStringView text = wnnGetLastErrorMessage();

    return document_error(b->d, place, "%.*s", (int)text.length, text.data);
}

static bool define(struct build *b, const struct document_text *name, WNNOperand operand)
{
    b->order[b->defined++] = name;
    return document_define(b->d, &b->operands, "name", name, operand);
}

/** Reports an error at a place, unless memory ran out.  Returns false. */
static bool error_at(struct build *b, const char *place, const struct error *e)
{
    return e->status == WNNStatus_UnknownError ? error_out_of_memory(&b->d->error)
                                               : document_error(b->d, place, "%s", e->message);
}

/** Ports are called by NUL-terminated names. */
static bool check_port(struct build *b, const struct document_text *name)
{
    return strlen(name->text) == name->length || document_error(b->d, name->place, "a name with a NUL in it");
}

/* ---- types ---- */

/** Returns the bytes of an element in the file of a type that only passes make: float32 stands for it.  Returns 0 for others.
 */
static size_t stored_size(dtype type)
{
    return dtype_is_public(type) ? 0 : dtype_size(type);
}

/** Prints "float32[2, 3]" into buf and returns buf. */
static const char *print_shape(char *buf, size_t size, const char *type, size_t rank, const uint64_t *shape)
{
    size_t n = (size_t)snprintf(buf, size, "%s[", type);

    for (size_t i = 0; i < rank && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%llu", i ? ", " : "", (unsigned long long)shape[i]);
    if (n < size)
        snprintf(buf + n, size - n, "]");
    return buf;
}

/* ---- inputs ---- */

/** Makes an input that is given as a constant. */
static bool constant_input(struct build *b, const struct document_tensor *t, const WNNModelDeclaration *input,
                           const struct model_constant *constant)
{
    uint32_t dims[NPY_RANK_MAX];
    const char *names[NPY_RANK_MAX];
    struct npy_array array;
    struct error e = {0};

    sizes_declared(input, dims, names);
    if (!model_constant_fit(b->model, constant, t->type.type, t->type.rank, dims, names, &array, &e))
        return error_at(b, t->type.place, &e);
    WNNOperand operand = wnnGraphBuilderConstant(
        b->model->builder, &(WNNOperandDescriptor){t->type.type, array.rank, array.shape, NULL}, array.data, array.byteLength);
    npy_free(&array);
    return wnnOperandIsError(operand) ? refused(b, t->name.place) : define(b, &t->name, operand);
}

/** Lets an operand that the options give take the place of an input. */
static bool bound_input(struct build *b, const struct document_tensor *t, const WNNModelDeclaration *input, WNNOperand operand)
{
    uint32_t dims[NPY_RANK_MAX];
    const char *names[NPY_RANK_MAX];
    struct error e = {0};

    sizes_declared(input, dims, names);
    return model_binding_fit(t->name.text, operand, t->type.type, t->type.rank, dims, names, &e)
               ? define(b, &t->name, operand)
               : error_at(b, t->type.place, &e);
}

/** Makes an input of a shape that is known, or leaves it to *missing. */
static bool build_input(struct build *b, const struct document_tensor *t, const struct model_description *d,
                        const uint32_t *sizes, size_t i, char **missing)
{
    WNNOperand bound = model_bound(b->options, t->name.text, t->name.length);
    uint32_t shape[DOCUMENT_RANK_MAX];
    size_t rank = t->type.rank;
    bool wrong = rank > NPY_RANK_MAX; /* as the builder says */

    if (!check_port(b, &t->name))
        return false;
    for (size_t k = 0; k < rank; k++) {
        shape[k] = t->type.dims[k].size;
        wrong = wrong || !shape[k];
    }
    if (!wrong && bound)
        return bound_input(b, t, &d->inputs[i], bound);
    for (size_t k = 0; !wrong && k < b->options->constant_count; k++)
        if (document_is(&t->name, b->options->constants[k].name))
            return constant_input(b, t, &d->inputs[i], &b->options->constants[k]);
    if (!wrong && !sizes_shape(d, sizes, i, b->options, &rank, shape, missing))
        return true;
    WNNOperand operand = wnnGraphBuilderInput(b->model->builder, (WNNStringView){t->name.text, t->name.length},
                                              &(WNNOperandDescriptor){t->type.type, rank, shape, NULL});
    if (wnnOperandIsError(operand))
        return refused(b, t->name.place);
    if (!define(b, &t->name, operand))
        return false;
    return model_add_input(b->model, t->name.text, operand, false) || error_out_of_memory(&b->d->error);
}

static bool build_inputs(struct build *b)
{
    struct model_description declared = {0};
    char *missing = NULL;
    uint32_t *sizes = NULL;
    struct error e = {0};
    size_t i = 0;
    bool ok = (document_declare_ports(&declared, b->d) && (sizes = calloc(sizes_count(&declared) + 1, sizeof *sizes))) ||
              error_out_of_memory(&b->d->error);

    ok = ok && (sizes_add(&declared, b->options, sizes, &e) || error_at(b, b->d->lexer.text, &e));
    for (const struct document_tensor *t = b->d->first_input; ok && t; t = t->next, i++)
        ok = build_input(b, t, &declared, sizes, i, &missing);
    if (ok && missing)
        ok = document_error(b->d, b->d->lexer.text, "the graph is static, but%s", missing);
    model_description_free(&declared);
    free(sizes);
    free(missing);
    return ok;
}

/* ---- constants ---- */

static bool open_weights(struct build *b, const char *place)
{
    struct error e = {0};

    if (!weights_open_for(b->d->path, b->options->weights, &b->weights, &e))
        return error_at(b, place, &e);
    model_add_source(b->model, weights_length(b->weights));
    return true;
}

static void free_bytes(void const *data, size_t length, void *unused1, void *unused2)
{
    (void)length;
    (void)unused1;
    (void)unused2;
    free((void *)data);
}

/**
 * Returns a float32 constant from elements of a data type that only passes make.  Returns NULL after an error, or after the
 * builder's.
 */
static WNNOperand converted_operand(struct build *b, const struct document_tensor *t, const WNNOperandDescriptor *descriptor,
                                    const void *bytes, size_t length)
{
    const size_t size = stored_size(t->type.type), count = length / size;
    float *data;

    if (wnnGraphBuilderSpend(b->model->builder, WNN_STR("a constant of the text"), 0, count * sizeof *data)) {
        refused(b, t->data_place);
        return NULL;
    }
    data = malloc(count * sizeof *data);
    if (!data)
        return error_null_memory(&b->d->error);
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        double wide;

        if (size == sizeof half) {
            memcpy(&half, (const char *)bytes + i * size, size);
            data[i] = bf16_to_f32(half);
        } else {
            memcpy(&wide, (const char *)bytes + i * size, size);
            data[i] = (float)wide;
        }
    }
    return wnnGraphBuilderConstantLent(b->model->builder, descriptor, data, count * sizeof *data,
                                       (WNNBufferReleaseCallbackInfo){free_bytes, NULL, NULL});
}

static WNNOperand weights_operand(struct build *b, const struct document_tensor *t, const WNNOperandDescriptor *descriptor)
{
    char key[128], has[256], wants[256];
    uint64_t shape[DOCUMENT_RANK_MAX];

    if (!b->weights && !open_weights(b, t->data_place))
        return NULL;
    document_escape(key, t->key);
    const struct weights_entry *e = weights_find(b->weights, t->key.text, t->key.length);
    if (!e) {
        document_error(b->d, t->key.place, "there is no tensor '%s' in %s", key, weights_path(b->weights));
        return NULL;
    }
    bool same = weights_entry_is(e, t->type.type, descriptor->rank, descriptor->shape);
    if (same && stored_size(t->type.type))
        return converted_operand(b, t, descriptor, weights_data(b->weights, e), e->length);
    if (same)
        return weights_constant(b->weights, e, b->model->builder, descriptor);
    for (size_t i = 0; i < descriptor->rank; i++)
        shape[i] = descriptor->shape[i];
    document_error(b->d, t->key.place, "tensor '%s' is %s in %s, but %s here", key,
                   print_shape(has, sizeof has, e->typeName, e->rank, e->shape), weights_path(b->weights),
                   print_shape(wants, sizeof wants, wnnOperandDataTypeGetName(descriptor->dataType), descriptor->rank, shape));
    return NULL;
}

/** Returns a constant whose bytes are in the document.  Returns NULL after an error, or after the builder's. */
static WNNOperand inline_operand(struct build *b, const struct document_tensor *t, const WNNOperandDescriptor *descriptor,
                                 size_t elements)
{
    size_t bytes = elements * wnnOperandDataTypeGetByteSize(descriptor->dataType), stored = stored_size(t->type.type);

    if (!document_check_count(b->d, t, stored ? elements * stored : bytes, elements))
        return NULL;
    if (t->data == DOCUMENT_BYTES && stored)
        return converted_operand(b, t, descriptor, t->bytes, t->count);
    /* A few characters of a scalar must not cost the machine's memory. */
    if (wnnGraphBuilderSpend(b->model->builder, WNN_STR("a constant of the text"), 0, bytes)) {
        refused(b, t->data_place);
        return NULL;
    }
    void *data = malloc(bytes);
    if (!data)
        return error_null_memory(&b->d->error);
    document_elements(t, descriptor->dataType, bytes, data);
    return wnnGraphBuilderConstantLent(b->model->builder, descriptor, data, bytes,
                                       (WNNBufferReleaseCallbackInfo){free_bytes, NULL, NULL});
}

/** Charges reading a file, which makes the model's budget larger the first time: naming one often makes no model larger. */
static bool charge_file(struct build *b, const struct document_tensor *t, const char *folder)
{
    struct {
        dev_t device;
        ino_t inode;
    } *key = arena_alloc(&b->d->arena, sizeof *key);
    char *path = file_join(folder, t->key.text);
    struct error e = {0};
    struct stat s;
    bool ok = key && path;

    if (ok && !stat(path, &s)) { /* else reading it says why */
        key->device = s.st_dev;
        key->inode = s.st_ino;
        switch (name_map_add(&b->files, (const char *)key, sizeof *key, key)) {
        case NAME_MAP_ADDED:
            model_add_source(b->model, (uint64_t)s.st_size);
            break;
        case NAME_MAP_EXISTS:
            break;
        case NAME_MAP_OUT_OF_MEMORY:
            ok = false;
        }
        ok = ok && model_spend(b->model, "reading a file of weights", 0, (uint64_t)s.st_size, &e);
        if (e.status)
            error_at(b, t->key.place, &e);
    }
    free(path);
    return ok || error_out_of_memory(&b->d->error);
}

/** Makes a constant of an .npy file next to the document. */
static bool file_constant(struct build *b, const struct document_tensor *t)
{
    const WNNBufferReleaseCallbackInfo release = {free_bytes, NULL, NULL};
    const char *slash = strrchr(b->d->path, '/');
    char *folder = strndup(b->d->path, slash ? (size_t)(slash - b->d->path) : 0);
    struct error e = {0};
    bool ok = folder ? charge_file(b, t, folder) : error_out_of_memory(&b->d->error);
    struct npy_array array;

    ok = ok && (npy_read_named(folder, t->key.text, &array, &e) || document_error(b->d, t->key.place, "file %s", e.message));
    free(folder);
    if (!ok)
        return false;
    WNNOperandDescriptor descriptor = npy_descriptor(&array);
    /* The builder owns array.data from here on, also if it refuses the constant. */
    WNNOperand operand = wnnGraphBuilderConstantLent(b->model->builder, &descriptor, array.data, array.byteLength, release);
    return wnnOperandIsError(operand) ? refused(b, t->name.place) : define(b, &t->name, operand);
}

static bool build_constant(struct build *b, const struct document_tensor *t)
{
    uint32_t shape[DOCUMENT_RANK_MAX];
    WNNOperandDescriptor descriptor = {stored_size(t->type.type) ? WNNOperandDataType_Float32 : t->type.type, t->type.rank,
                                       shape, NULL};
    uint64_t elements = 1;
    WNNOperand operand;

    if (t->data == DOCUMENT_FILE)
        return file_constant(b, t);
    for (size_t i = 0; i < t->type.rank; i++) {
        if (t->type.dims[i].name.text)
            return document_error(b->d, t->type.dims[i].name.place, "the shape of a constant has no free dimensions");
        shape[i] = t->type.dims[i].size;
        elements = elements > INT32_MAX ? elements : elements * shape[i];
    }
    if (t->type.rank > NPY_RANK_MAX || !elements || elements > INT32_MAX) {
        /* There can be no operand; the builder says why, before any memory is requested. */
        operand = wnnGraphBuilderConstant(b->model->builder, &descriptor, "", 0);
        return wnnOperandIsError(operand) && refused(b, t->type.place);
    }
    operand =
        t->data == DOCUMENT_WEIGHTS ? weights_operand(b, t, &descriptor) : inline_operand(b, t, &descriptor, (size_t)elements);
    if (!operand)
        return false;
    return wnnOperandIsError(operand) ? refused(b, t->name.place) : define(b, &t->name, operand);
}

/* ---- nodes ---- */

/** Makes an argument of a value.  kind is what the method takes, or the items of a list that it takes. */
static bool convert(struct build *b, const struct document_value *v, WNNMethodValueKind kind, WNNMethodValue *out)
{
    WNNMethodValue *items;
    size_t i = 0;

    memset(out, 0, sizeof *out);
    switch (v->kind) {
    case DOCUMENT_NULL:
        return true;
    case DOCUMENT_NAME:
    case DOCUMENT_STRING:
        if (kind == WNNMethodValueKind_Operand) {
            *out = wnnMethodValueOperand(document_find(b->d, &b->operands, &v->text));
            return out->as.operand;
        }
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
            if (!convert(b, x, kind, &items[i++]))
                return false;
        *out = wnnMethodValueList(v->count, items);
        return true;
    }
    return false;
}

/** Returns whether a value names a data type that only passes make: float32 stands for it. */
static bool is_stored_type(const struct document_value *v)
{
    return document_is_text(v) && stored_size(dtype_parse(v->text.text, v->text.length)) > 1;
}

static bool set_arguments(struct build *b, struct document_node *n, WNNMethodCall call)
{
    const char *names[DOCUMENT_ARGUMENTS_MAX];
    const size_t positions = wnnMethodCallArgumentCount(call);
    size_t count = positions;
    WNNMethodValue value;
    bool list;
    char buf[128];

    for (size_t i = 0; i < count; i++)
        names[i] = wnnMethodCallArgumentName(call, i);
    list = wnnMethodCallArgumentKind(call, WNN_STR(names[0]), &list) == WNNMethodValueKind_Operand && list; /* concat */
    if (!list)
        dialect_places(b, n, call, &count, names);
    if (!document_name_arguments(b->d, n, count, names, list))
        return false;
    for (const struct document_argument *a = n->first_argument; a; a = a->next) /* messages name it */
        if (document_is(&a->key, "label") && document_is_text(a->value))
            wnnMethodCallOption(call, WNN_STR("label"),
                                wnnMethodValueString((WNNStringView){a->value->text.text, a->value->text.length}), false);
    for (const struct document_argument *a = n->first_argument; a; a = a->next) {
        WNNStringView name = {a->key.text, a->key.length};
        WNNMethodValueKind kind = wnnMethodCallArgumentKind(call, name, NULL);
        size_t place = 0;

        while (place < positions && !document_is(&a->key, names[place]))
            place++;
        if (!kind)
            return document_error(b->d, a->key.place, "%s has no argument '%s'", n->op.text, document_escape(buf, a->key));
        if (!dialect_value(b, n, a, kind, place == positions) || !convert(b, a->value, kind, &value))
            return false;
        if (document_is(&n->op, "cast") && document_is(&a->key, "dataType") && is_stored_type(a->value))
            value = wnnMethodValueString(WNN_STR("float32"));
        if (wnnMethodCallSet(call, name, value))
            return refused(b, a->key.place);
    }
    return true;
}

static bool build_node(struct build *b, struct document_node *n)
{
    bool ok = false;
    char buf[128];

    if (!dialect_statement(b, n))
        return false;
    WNNMethodCall call = wnnMethodCallCreate((WNNStringView){n->op.text, n->op.length});
    if (!call)
        refused(b, n->op.place);
    else if (!set_arguments(b, n, call))
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
    wnnMethodCallDestroy(call);
    return ok;
}

/* ---- outputs and the whole ---- */

static bool build_output(struct build *b, const struct document_output *o)
{
    WNNOperand operand = check_port(b, &o->name) ? document_find(b->d, &b->operands, &o->operand) : NULL;

    return operand && document_define(b->d, &b->outputs, "output", &o->name, operand) &&
           (model_add_output(b->model, o->name.text, operand, false) || error_out_of_memory(&b->d->error));
}

static bool build_all(struct build *b, WNNContext context)
{
    struct document *d = b->d;
    struct error e = {0};
    size_t operands = 0;

    for (const struct document_tensor *t = d->first_input; t; t = t->next)
        operands++;
    for (const struct document_tensor *t = d->first_constant; t; t = t->next)
        operands++;
    for (const struct document_node *n = d->first_node; n; n = n->next)
        operands += n->result_count;
    b->order = arena_array(&d->arena, operands, sizeof *b->order);
    if (!b->order)
        return error_out_of_memory(&d->error);

    b->model->name = strdup(d->name.text ? d->name.text : "");
    if (!b->model->name)
        return error_out_of_memory(&d->error);
    if (!model_create_builder(context, b->options, d->lexer.length, b->model, &e)) {
        document_error(d, d->lexer.text, "%s", e.message);
        return false;
    }
    if (!build_inputs(b))
        return false;
    for (const struct document_tensor *t = d->first_constant; t; t = t->next)
        if (!build_constant(b, t))
            return false;
    for (struct document_node *n = d->first_node; n; n = n->next)
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
    name_map_free(&b.files);
    return ok;
}
