/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * onnx-node-tests FOLDER REFUSALS [--group NAME | --case NAME] [--debug SWITCHES] [--named] [--verbose]
 *
 * Runs cases of the ONNX backend node tests (FOLDER holds cases.json and the suites) as a program would: model_read, build,
 * compute on the engine.  Inputs that cases.json marks constant are handed to the reader, the others at run time.  Prints how
 * many cases passed, were refused, failed.
 *
 * REFUSALS lists the cases that are not expected to pass, one a line, and must be exact among the cases that run:
 *   refused NAME TEXT     the reader says TEXT (among other things), because static WebNN cannot express the model
 *   disputed NAME TEXT    the model runs, its results differ from the file's, and the file is wrong: TEXT says by which rule
 * A case that is refused or differs without being listed fails, and so does one that is listed and passes.
 *
 * With --named all dimensions of the inputs have names, the same one for the same size.  The file is read and built without
 * sizes, and computed at those of the case after it has been asked for others.  A file that needs numbers is counted as
 * refused.
 *
 * A group is a suite, or node-X: the cases of suite node whose names begin with test_X, X being a letter.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/element.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/ports.h"
#include "ir/support/array.h"
#include "onnx.pb-c.h"
#include "webnn/webnn.h"
#include "../../support/shared.h"
#include "../../support/help.h"

enum { PORTS_MAX = 24 };

enum outcome { PASSED, REFUSED, DIFFERS, FAILED, OUTCOME_COUNT };
static const char *const outcome_names[OUTCOME_COUNT] = {"passed", "refused", "differs", "failed"};

struct expectation {
    enum outcome outcome; /* REFUSED or DIFFERS */
    char *name, *text;
};

static struct expectation *expectations;
static size_t expectation_count;
static char *expectation_text; /* what names and texts point into */
static bool verbose, named;

static _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

static void *read_file(const char *path, size_t *size)
{
    char *data;

    return file_read(path, &data, size, NULL) ? data : NULL;
}

/* ---- the list of cases that are not expected to pass ---- */

static void read_expectations(const char *path)
{
    size_t size;
    char *line, *rest;

    rest = expectation_text = read_file(path, &size);
    if (!rest)
        die(path);
    while ((line = strsep(&rest, "\n"))) {
        char *kind = strsep(&line, " "), *name = strsep(&line, " ");
        struct expectation e = {REFUSED, name, line};
        if (!*kind || *kind == '#' || !strcmp(kind, "package")) /* the latter are for package.py */
            continue;
        if (!strcmp(kind, "disputed"))
            e.outcome = DIFFERS;
        else if (strcmp(kind, "refused"))
            name = NULL;
        if (!name || !line || !*line) {
            fprintf(stderr, "%s: a line of the wrong form: %s\n", path, kind);
            exit(1);
        }
        if (!array_extend(&expectations, expectation_count, sizeof e))
            die(path);
        expectations[expectation_count++] = e;
    }
}

static const struct expectation *expectation_of(const char *name)
{
    for (size_t i = 0; i < expectation_count; i++)
        if (!strcmp(expectations[i].name, name))
            return &expectations[i];
    return NULL;
}

/* ---- tensors in files ---- */

/* ONNX's element types as the README names them.  4-bit integers are bytes in WebNN. */
static const struct type_row {
    const char *name;
    int onnx;
    WNNOperandDataType type;
} type_rows[] = {
    {"float32", 1, WNNOperandDataType_Float32}, {"float16", 10, WNNOperandDataType_Float16},
    {"int64", 7, WNNOperandDataType_Int64},     {"uint64", 13, WNNOperandDataType_Uint64},
    {"int32", 6, WNNOperandDataType_Int32},     {"uint32", 12, WNNOperandDataType_Uint32},
    {"int8", 3, WNNOperandDataType_Int8},       {"uint8", 2, WNNOperandDataType_Uint8},
    {"bool", 9, WNNOperandDataType_Uint8},      {"uint4", 21, WNNOperandDataType_Uint8},
    {"int4", 22, WNNOperandDataType_Int8},
};

static const struct type_row *type_row_of(int onnx)
{
    for (size_t i = 0; i < sizeof type_rows / sizeof *type_rows; i++)
        if (type_rows[i].onnx == onnx)
            return &type_rows[i];
    return NULL;
}

/* A tensor's elements out of the typed fields, where integers narrower than 32 bits and float16 share int32_data. */
static bool typed_elements(const Onnx__TensorProto *t, WNNOperandDataType type, size_t count, void *data)
{
    for (size_t i = 0; i < count; i++) {
        switch (type) {
        case WNNOperandDataType_Float32:
            if (t->n_float_data != count)
                return false;
            ((float *)data)[i] = t->float_data[i];
            break;
        case WNNOperandDataType_Int64:
            if (t->n_int64_data != count)
                return false;
            ((int64_t *)data)[i] = t->int64_data[i];
            break;
        case WNNOperandDataType_Uint32:
        case WNNOperandDataType_Uint64:
            if (t->n_uint64_data != count)
                return false;
            if (type == WNNOperandDataType_Uint32)
                ((uint32_t *)data)[i] = (uint32_t)t->uint64_data[i];
            else
                ((uint64_t *)data)[i] = t->uint64_data[i];
            break;
        default:
            if (t->n_int32_data != count)
                return false;
            if (wnnOperandDataTypeGetByteSize(type) == 4)
                ((int32_t *)data)[i] = t->int32_data[i];
            else if (wnnOperandDataTypeGetByteSize(type) == 2)
                ((uint16_t *)data)[i] = (uint16_t)t->int32_data[i];
            else
                ((uint8_t *)data)[i] = (uint8_t)t->int32_data[i];
        }
    }
    return true;
}

/* 4-bit integers: two in a byte, the first one in its lower half, in raw_data or as bytes in int32_data. */
static bool packed_elements(const Onnx__TensorProto *t, bool is_signed, size_t count, int8_t *data)
{
    if ((t->has_raw_data ? t->raw_data.len : t->n_int32_data) != (count + 1) / 2)
        return false;
    for (size_t i = 0; i < count; i++) {
        int byte = t->has_raw_data ? t->raw_data.data[i / 2] : t->int32_data[i / 2] & 255;
        int value = i & 1 ? byte >> 4 : byte & 15;
        data[i] = (int8_t)(is_signed && value > 7 ? value - 16 : value);
    }
    return true;
}

/* False: a file that is missing or wrong, or an element type without a WebNN type. */
static bool read_tensor(const char *path, struct npy_array *array)
{
    size_t size, count = 1, bytes;
    void *file = read_file(path, &size);
    Onnx__TensorProto *t = file ? onnx__tensor_proto__unpack(NULL, size, file) : NULL;
    const struct type_row *row = t ? type_row_of(t->data_type) : NULL;
    bool ok = row && t->n_dims <= NPY_RANK_MAX;

    memset(array, 0, sizeof *array);
    if (ok) {
        array->dataType = row->type;
        array->rank = t->n_dims;
        for (size_t d = 0; d < t->n_dims; d++) {
            array->shape[d] = (uint32_t)t->dims[d];
            count *= array->shape[d];
        }
        bytes = count * wnnOperandDataTypeGetByteSize(row->type);
        array->byteLength = bytes;
        array->data = malloc(bytes ? bytes : 1);
        if (!array->data)
            die(path);
        if (row->onnx == 21 || row->onnx == 22)
            ok = packed_elements(t, row->onnx == 22, count, array->data);
        else if (t->has_raw_data) {
            ok = t->raw_data.len == bytes;
            if (ok && bytes)
                memcpy(array->data, t->raw_data.data, bytes);
        } else
            ok = typed_elements(t, row->type, count, array->data);
    }
    if (t)
        onnx__tensor_proto__free_unpacked(t, NULL);
    free(file);
    return ok;
}

/* ---- comparison ---- */

/* The README's rule: integers and bool exact but quantised ones within 1, floating point within atol + rtol * |expected|. */
static bool same_elements(const struct npy_array *got, const struct npy_array *want, bool quantised, const char *name)
{
    bool single = want->dataType == WNNOperandDataType_Float32, half = want->dataType == WNNOperandDataType_Float16;
    size_t size = wnnOperandDataTypeGetByteSize(want->dataType), count = want->byteLength / size;
    double rtol = single ? 1e-3 : half ? 2e-2 : 0, atol = single ? 1e-5 : half ? 1e-2 : quantised ? 1 : 0;

    for (size_t i = 0; i < count; i++) {
        double g = element_get(got->dataType, got->data, i), w = element_get(want->dataType, want->data, i);
        if (!memcmp((const char *)got->data + i * size, (const char *)want->data + i * size, size) || (isnan(g) && isnan(w)) ||
            (isinf(w) && g == w))
            continue;
        if (size == 8 || isnan(g) || isnan(w) || isinf(g) || isinf(w) || !(fabs(g - w) <= atol + rtol * fabs(w))) {
            printf("  output %s: element %zu is %.9g instead of %.9g\n", name, i, g, w);
            return false;
        }
    }
    return true;
}

/* ---- a case ---- */

struct test_case {
    const char *name, *suite;
    const cJSON *row;
    char folder[600];
};

static bool is_quantised(const struct test_case *c)
{
    const cJSON *op;

    cJSON_ArrayForEach(op, cJSON_GetObjectItem(c->row, "ops")) if (strstr(op->valuestring, "QuantizeLinear") ||
                                                                   !strncmp(op->valuestring, "QLinear", 7)) return true;
    return false;
}

static const char *text_of(WNNStringView view)
{
    static char text[1200];
    snprintf(text, sizeof text, "%.*s", (int)(view.length == WNN_STRLEN ? strlen(view.data) : view.length),
             view.data ? view.data : "");
    return text;
}

static bool is_name(WNNStringView view, const char *name)
{
    return view.length == strlen(name) && !memcmp(view.data, name, view.length);
}

/* Cuts a result to what counts of it, which another one says. */
static void cut_results(size_t count, const WNNNamedBuffer *outputs, struct npy_array *got)
{
    for (size_t i = 0, d; i < count; i++) {
        WNNStringView of;
        size_t k = 0, inner, outer = 1, size, counted;

        if (!ports_is_count(outputs[i].name, &of, &d))
            continue;
        while (k < count && (outputs[k].name.length != of.length || memcmp(outputs[k].name.data, of.data, of.length)))
            k++;
        struct npy_array *a = &got[k];
        inner = wnnOperandDataTypeGetByteSize(a->dataType);
        for (size_t e = 0; e < a->rank; e++) {
            inner *= e > d ? a->shape[e] : 1;
            outer *= e < d ? a->shape[e] : 1;
        }
        size = a->shape[d];
        counted = (size_t)((int32_t *)got[i].data)[0];
        for (size_t e = 0; e < outer; e++)
            memmove((char *)a->data + e * counted * inner, (char *)a->data + e * size * inner, counted * inner);
        a->shape[d] = (uint32_t)counted;
        a->byteLength = outer * counted * inner;
    }
}

/* Returns a built graph on the case's data.  arrays: its inputs in cases.json's order. */
static enum outcome compute_case(const struct test_case *c, WNNGraph graph, const struct npy_array *arrays)
{
    WNNNamedBuffer inputs[PORTS_MAX], outputs[PORTS_MAX];
    struct npy_array got[PORTS_MAX], want;
    size_t in = wnnGraphGetInputCount(graph), out = wnnGraphGetOutputCount(graph), i = 0, k;
    const cJSON *port, *input_rows = cJSON_GetObjectItem(c->row, "inputs"),
                       *output_rows = cJSON_GetObjectItem(c->row, "outputs");
    enum outcome outcome = PASSED;
    WNNNamedOperandDescriptor d;

    memset(got, 0, sizeof got);
    if (in > PORTS_MAX || out < (size_t)cJSON_GetArraySize(output_rows) || out > PORTS_MAX) {
        printf("  the graph has %zu inputs and %zu outputs\n", in, out);
        return FAILED;
    }
    for (i = 0; i < in; i++) {
        size_t found = SIZE_MAX;
        if (wnnGraphGetInput(graph, i, &d) != WNNStatus_Success)
            return FAILED;
        k = 0;
        cJSON_ArrayForEach(port, input_rows)
        {
            if (is_name(d.name, cJSON_GetObjectItem(port, "name")->valuestring))
                found = k;
            k++;
        }
        if (found == SIZE_MAX || d.descriptor.dataType != arrays[found].dataType || d.descriptor.rank != arrays[found].rank) {
            printf("  the graph's input %s is not the file's\n", text_of(d.name));
            return FAILED;
        }
        inputs[i] = (WNNNamedBuffer){d.name, arrays[found].data, arrays[found].byteLength};
    }
    for (i = 0; i < out && outcome == PASSED; i++) {
        if (wnnGraphGetOutput(graph, i, &d) != WNNStatus_Success || d.descriptor.rank > NPY_RANK_MAX) {
            outcome = FAILED;
            break;
        }
        got[i].dataType = d.descriptor.dataType;
        got[i].rank = d.descriptor.rank;
        if (d.descriptor.rank)
            memcpy(got[i].shape, d.descriptor.shape, d.descriptor.rank * sizeof *got[i].shape);
        got[i].byteLength = wnnOperandDescriptorGetByteLength(&d.descriptor);
        got[i].data = malloc(got[i].byteLength);
        if (!got[i].data)
            die(c->name);
        memset(got[i].data, 0x5a, got[i].byteLength);
        outputs[i] = (WNNNamedBuffer){d.name, got[i].data, got[i].byteLength};
    }
    if (outcome == PASSED && wnnGraphCompute(graph, in, inputs, out, outputs) != WNNStatus_Success) {
        printf("  compute: %s\n", text_of(wnnGetLastErrorMessage()));
        outcome = FAILED;
    }
    if (outcome == PASSED)
        cut_results(out, outputs, got);
    for (k = 0, i = 0; i < out && outcome == PASSED; i++) {
        const cJSON *row = cJSON_GetArrayItem(output_rows, (int)k);
        const char *name = row ? cJSON_GetObjectItem(row, "name")->valuestring : "nothing";
        char path[700];
        size_t unused;
        if (ports_is_count(outputs[i].name, &(WNNStringView){NULL, 0}, &unused))
            continue;
        snprintf(path, sizeof path, "%s/test_data_set_0/output_%zu.pb", c->folder, k++);
        if (!is_name(outputs[i].name, name) || !read_tensor(path, &want)) {
            printf("  output %zu is %s instead of %s, or cannot be read\n", i, text_of(outputs[i].name), name);
            outcome = FAILED;
        } else {
            if (want.dataType != got[i].dataType || want.rank != got[i].rank ||
                memcmp(want.shape, got[i].shape, want.rank * sizeof *want.shape)) {
                printf("  output %s: its data type or shape is not the file's: %s, rank %zu [%u, %u, %u, %u]\n", name,
                       wnnOperandDataTypeGetName(got[i].dataType), got[i].rank, got[i].shape[0], got[i].shape[1],
                       got[i].shape[2], got[i].shape[3]);
                outcome = FAILED;
            } else if (!same_elements(&got[i], &want, is_quantised(c), name))
                outcome = DIFFERS;
            npy_free(&want);
        }
    }
    for (i = 0; i < out; i++)
        npy_free(&got[i]);
    return outcome;
}

/* Names the dimensions of all inputs in the bytes of a file.  Returns the new bytes. */
static void *name_dimensions(void *bytes, size_t *size)
{
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, *size, bytes);

    for (size_t i = 0; m && m->graph && i < m->graph->n_input; i++) {
        Onnx__TypeProto *type = m->graph->input[i]->type;
        Onnx__TensorShapeProto *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;

        for (size_t d = 0; shape && d < shape->n_dim; d++)
            if (shape->dim[d]->has_dim_value && shape->dim[d]->dim_value > 0) {
                char name[32];

                snprintf(name, sizeof name, "n%lld", (long long)shape->dim[d]->dim_value);
                shape->dim[d]->has_dim_value = false;
                shape->dim[d]->dim_param = strdup(name);
                if (!shape->dim[d]->dim_param)
                    die("a name");
            }
    }
    if (!m)
        return bytes;
    free(bytes);
    *size = onnx__model_proto__get_packed_size(m);
    bytes = malloc(*size + 1);
    if (!bytes)
        die("a model");
    onnx__model_proto__pack(m, bytes);
    onnx__model_proto__free_unpacked(m, NULL);
    return bytes;
}

/* Gets the graph at sizes that are `more` than those of the case.  Returns NULL where it cannot be. */
static WNNGraph at_sizes(WNNGraph graph, uint32_t more)
{
    WNNNamedSize sizes[64];
    WNNNamedOperandDescriptor d;
    WNNGraph variant = NULL;
    size_t count = 0;

    for (size_t i = 0; i < wnnGraphGetInputCount(graph) && !wnnGraphGetInput(graph, i, &d); i++)
        for (size_t k = 0; k < d.descriptor.rank && d.descriptor.dimensions && count < 64; k++) {
            const WNNStringView name = d.descriptor.dimensions[k].name;

            if (name.data)
                sizes[count++] = (WNNNamedSize){name, (uint32_t)atoi(name.data + 1) + more};
        }
    return wnnGraphGetVariant(graph, count, sizes, &variant) ? NULL : variant;
}

/* Runs one case.  *e holds the reader's refusal. */
static enum outcome run_case(WNNContext context, const struct test_case *c, struct error *e)
{
    struct npy_array arrays[PORTS_MAX];
    struct model_constant constants[PORTS_MAX];
    struct model_options options = {.constants = constants};
    struct model model;
    const cJSON *port;
    WNNGraph graph = NULL;
    enum outcome outcome = REFUSED;
    size_t count = 0;
    char path[700];

    cJSON_ArrayForEach(port, cJSON_GetObjectItem(c->row, "inputs"))
    {
        if (count == PORTS_MAX)
            return FAILED;
        snprintf(path, sizeof path, "%s/test_data_set_0/input_%zu.pb", c->folder, count);
        if (!read_tensor(path, &arrays[count]))
            die(path);
        if (cJSON_IsTrue(cJSON_GetObjectItem(port, "constant")))
            constants[options.constant_count++] =
                (struct model_constant){cJSON_GetObjectItem(port, "name")->valuestring, &arrays[count], false};
        count++;
    }
    snprintf(path, sizeof path, "%s/model.onnx", c->folder);
    options.named = named;
    if (named) {
        size_t size;
        void *bytes = read_file(path, &size);

        if (!bytes)
            die(path);
        bytes = name_dimensions(bytes, &size);
        if (model_read_memory(context, path, bytes, size, &options, &model, e)) {
            WNNGraph variant = NULL;

            if (!model_build(&model, &graph, e)) {
                wnnGraphRelease(at_sizes(graph, 1));
                variant = at_sizes(graph, 0);
                outcome = variant ? compute_case(c, variant, arrays) : FAILED;
                if (!variant)
                    snprintf(e->message, sizeof e->message, "%.1000s", text_of(wnnGetLastErrorMessage()));
            }
            wnnGraphRelease(variant);
            wnnGraphRelease(graph);
            model_free(&model);
        }
        free(bytes);
    } else if (model_read(context, path, &options, &model, e)) {
        WNNStatus status = model_build(&model, &graph, e);
        outcome = status == WNNStatus_Success ? compute_case(c, graph, arrays) : FAILED;
        wnnGraphRelease(graph);
        model_free(&model);
    }
    while (count--)
        npy_free(&arrays[count]);
    return outcome;
}

/* ---- all of them ---- */

static bool in_group(const struct test_case *c, const char *group)
{
    bool letter = !strncmp(group, "node-", 5);
    return letter ? !strcmp(c->suite, "node") && !strncmp(c->name, "test_", 5) && c->name[5] == group[5]
                  : !strcmp(c->suite, group);
}

static bool check_case(WNNContext context, const struct test_case *c, size_t counts[OUTCOME_COUNT])
{
    const struct expectation *e = expectation_of(c->name);
    struct error error = {0};
    enum outcome outcome = run_case(context, c, &error), expected = e ? e->outcome : PASSED;
    bool good =
        (named && outcome == REFUSED) || (outcome == expected && (outcome != REFUSED || strstr(error.message, e->text)));

    if (!good || verbose)
        printf("%s %s/%s: %s%s%s\n", good ? "ok  " : "FAIL", c->suite, c->name, outcome_names[outcome],
               *error.message ? ": " : "", error.message);
    if (!good && e && outcome != expected)
        printf("  but is listed as %s: %s\n", outcome_names[expected], e->text);
    else if (!good && e)
        printf("  but is listed with another reason: %s\n", e->text);
    counts[outcome]++;
    return good;
}

static int run_cases(const cJSON *rows, const char *folder, const char *group, const char *only, WNNContext context)
{
    size_t counts[OUTCOME_COUNT] = {0}, bad = 0;
    const cJSON *row;

    for (size_t i = 0; i < expectation_count; i++) {
        bool known = false;
        cJSON_ArrayForEach(row, rows) known |= !strcmp(cJSON_GetObjectItem(row, "name")->valuestring, expectations[i].name);
        if (!known) {
            printf("FAIL %s is listed, but there is no such case\n", expectations[i].name);
            bad++;
        }
    }
    cJSON_ArrayForEach(row, rows)
    {
        struct test_case c = {
            cJSON_GetObjectItem(row, "name")->valuestring, cJSON_GetObjectItem(row, "suite")->valuestring, row, {0}};
        if ((only && strcmp(c.name, only)) || (group && !in_group(&c, group)))
            continue;
        snprintf(c.folder, sizeof c.folder, "%s/%s/%s", folder, c.suite, c.name);
        bad += !check_case(context, &c, counts);
    }
    printf("%s: %zu passed, %zu refused, %zu differ, %zu failed; %zu not as expected\n",
           group  ? group
           : only ? only
                  : "all",
           counts[PASSED], counts[REFUSED], counts[DIFFERS], counts[FAILED], bad);
    if (!(counts[PASSED] + counts[REFUSED] + counts[DIFFERS] + counts[FAILED])) {
        printf("there is no such case\n");
        return 1;
    }
    return bad ? 1 : 0;
}

PROGRAM_HELP("usage: onnx-node-tests FOLDER REFUSALS [--group NAME | --case NAME] [--debug SWITCHES] [--named] [--verbose]\n")
int main(int argc, char **argv)
{
    const char *group = NULL, *only = NULL;
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext context;
    char path[512], *text;
    size_t size;

    if (argc < 3)
        return WRONG_USAGE;
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--verbose"))
            verbose = true;
        else if (!strcmp(argv[i], "--named"))
            named = true;
        else if (i + 1 == argc)
            die(argv[i]);
        else if (!strcmp(argv[i], "--group"))
            group = argv[++i];
        else if (!strcmp(argv[i], "--case"))
            only = argv[++i];
        else if (!strcmp(argv[i], "--debug"))
            options.debug = WNN_STR(argv[++i]);
        else
            die(argv[i]);
    }
    snprintf(path, sizeof path, "%s/cases.json", argv[1]);
    text = read_file(path, &size);
    if (!text)
        return shared_absent(path);
    cJSON *rows = cJSON_ParseWithLength(text, size);
    free(text);
    if (!cJSON_IsArray(rows)) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 1;
    }
    read_expectations(argv[2]);
    if (wnnCreateContext(&options, &context) != WNNStatus_Success) {
        fprintf(stderr, "no context: %s\n", text_of(wnnGetLastErrorMessage()));
        return 1;
    }
    int result = run_cases(rows, argv[1], group, only, context);
    wnnContextRelease(context);
    cJSON_Delete(rows);
    free(expectations);
    free(expectation_text);
    return result;
}
