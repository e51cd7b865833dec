/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs the published conformance cases of files and counts them.
 *
 *     wpt-conformance [--mode interpreter|engine] [--constants swap] [--dimensions named] [--debug SWITCHES] [--only NAME]
 *                     [--every N] FILE.json...
 *
 * Mode interpreter runs the reference interpreter on a graph made with node_create, mode engine the public API.  --constants
 * swap turns graph inputs into constants and constants into inputs; --dimensions named gives all dimensions of inputs names, so
 * that sizes are known when the graph computes; --every runs the first case and each N-th after it.  The
 * variable WEBNN_ENGINE chooses the engine, as everywhere; on a GPU every step is counted, and one that a processor's engine
 * would run fails its case.  Exit status: 0 all passed, 1 not, 2 usage, 77 nothing to
 * run. Built without the engine (WPT_ENGINE undefined) it knows mode interpreter only.
 */
#include "conformance.h"
#include "../support/help.h"
#include "../support/shared.h"
#include "ir/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The cases of contradictions.def.  They must fail; one that passes is an error of that list. */
static const struct contradiction {
    const char *file, *name, *sentence;
} contradictions[] = {
#define CONTRADICTION(...) {__VA_ARGS__},
#include "contradictions.def"
#undef CONTRADICTION
    {NULL, NULL, NULL},
};

/* ---- reading ---- */

/** One element of a tensor as its data type's bits; data that are exact lose nothing. */
static bool scalar_read(const cJSON *json, dtype type, union scalar *s)
{
    WNNNumber number;

    if (!number_read(json, &number))
        return false;
    *s = number_cast(number, type);
    return true;
}

/** The elements of an input; a single number stands for all of them. */
static bool data_read(struct arena *memory, const cJSON *json, struct operand *o)
{
    const cJSON *data = cJSON_GetObjectItemCaseSensitive(json, "data");
    const int64_t count = type_elements(&o->type);
    const size_t size = dtype_size(o->type.type);
    union scalar s;

    o->data = arena_array(memory, (size_t)count, size);
    if (!o->data)
        return false;
    const cJSON *item = cJSON_IsArray(data) ? data->child : data;
    for (int64_t k = 0; k < count; k++) {
        if (!item || !scalar_read(item, o->type.type, &s))
            return false;
        memcpy((char *)o->data + (size_t)k * size, &s, size);
        if (cJSON_IsArray(data))
            item = item->next;
    }
    return !cJSON_IsArray(data) || !item;
}

static bool operands_read(struct test *t, const cJSON *json, bool inputs, struct operand **operands, uint32_t *count,
                          struct error *e)
{
    const cJSON *item;

    *count = 0;
    *operands = arena_array(&t->memory, (size_t)cJSON_GetArraySize(json) + 1, sizeof **operands);
    if (!*operands)
        return error_out_of_memory(e);
    cJSON_ArrayForEach(item, json)
    {
        struct operand *o = &(*operands)[(*count)++];
        o->name = item->string;
        o->constant = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "constant"));
        o->expected = cJSON_GetObjectItemCaseSensitive(item, "data");
        if (!type_read(item, &o->type))
            return test_error(e, "type that the specification does not have", o->name);
        if (inputs && !data_read(&t->memory, item, o))
            return test_error(e, "data cannot be read", o->name);
        if (!inputs && !(o->data = arena_array(&t->memory, (size_t)type_elements(&o->type), dtype_size(o->type.type))))
            return error_out_of_memory(e);
    }
    return true;
}

/* ---- comparing ---- */

/** The place of a number among the representable ones, as the metric counts them. */
static int64_t float_place(union scalar s, dtype type)
{
    if (type == WNNOperandDataType_Float16)
        return s.f16 & 0x8000 ? -(int64_t)(s.f16 & 0x7FFF) : s.f16;
    return s.u32 & 0x80000000u ? -(int64_t)(s.u32 & 0x7FFFFFFFu) : (int64_t)s.u32;
}

/** Returns an integer of any type as a double-width difference of two. */
static double integer_distance(union scalar a, union scalar b, dtype type)
{
    if (type == WNNOperandDataType_Uint64)
        return a.u64 > b.u64 ? (double)(a.u64 - b.u64) : (double)(b.u64 - a.u64);
    if (type == WNNOperandDataType_Int64)
        return a.i64 > b.i64 ? (double)((uint64_t)a.i64 - (uint64_t)b.i64) : (double)((uint64_t)b.i64 - (uint64_t)a.i64);
    return fabs(scalar_to_double(a, type) - scalar_to_double(b, type));
}

struct tolerance {
    bool ulp, zero_sign;
    double value;
};

/** Returns how far actual is from expected in the metric; 0 is equal, NaN is too far in any. */
static double distance(const struct tolerance *t, dtype type, union scalar actual, const cJSON *json)
{
    WNNNumber number;

    if (!number_read(json, &number))
        return NAN;
    union scalar expected = number_cast(number, type);
    if (!dtype_is_float(type))
        return integer_distance(actual, expected, type);
    double a = scalar_to_double(actual, type), x = number_to_double(number);
    if (isnan(a) || isnan(x))
        return isnan(a) && isnan(x) ? 0 : NAN;
    if (t->zero_sign && a == 0 && x == 0)
        return !signbit(a) == !signbit(x) ? 0 : NAN;
    if (t->ulp)
        return (double)llabs(float_place(actual, type) - float_place(expected, type));
    return a == x ? 0 : fabs(a - x);
}

/** Returns whether all outputs are as expected; prints the first element that is not. */
static bool outputs_check(const struct test *t, const struct tolerance *tolerance)
{
    for (uint32_t i = 0; i < t->output_count; i++) {
        const struct operand *o = &t->outputs[i];
        const size_t size = dtype_size(o->type.type);
        const bool list = cJSON_IsArray(o->expected);
        const cJSON *expected = list ? o->expected->child : o->expected;
        int64_t count = type_elements(&o->type), wrong = 0;

        for (int64_t k = 0; k < count; k++) {
            union scalar actual = {0};
            char *text;
            memcpy(&actual, (char *)o->data + (size_t)k * size, size);
            double d = expected ? distance(tolerance, o->type.type, actual, expected) : NAN;
            if (!(d <= tolerance->value) && !wrong++) {
                text = expected ? cJSON_PrintUnformatted(expected) : NULL;
                printf("  output \"%s\" element %" PRId64 ": expected %s, actual %.17g, distance %g, tolerance %s %g\n",
                       o->name, k, text ? text : "nothing", scalar_to_double(actual, o->type.type), d,
                       tolerance->ulp ? "ULP" : "ATOL", tolerance->value);
                free(text);
            }
            if (list && expected)
                expected = expected->next;
        }
        if (list && expected) {
            printf("  output \"%s\": more elements are expected than its type has\n", o->name);
            return false;
        }
        if (wrong) {
            printf("  %" PRId64 " of %" PRId64 " elements are wrong\n", wrong, count);
            return false;
        }
    }
    return true;
}

/* ---- running ---- */

struct settings {
    const char *path, *file; /* file: its name without folder and .json */
    bool engine, swap, named;
    const char *debug, *only;
    int every;
};

static bool run(const struct settings *s, struct test *t, struct error *e)
{
#ifdef WPT_ENGINE
    if (s->engine)
        return run_engine(t, s->debug, e);
#endif
    return run_interpreter(t, e);
}

enum outcome { PASSED, FAILED, SKIPPED };

static enum outcome run_case(const struct settings *s, const cJSON *json)
{
    const cJSON *tolerance = cJSON_GetObjectItemCaseSensitive(json, "tolerance");
    const char *metric = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tolerance, "metric"));
    struct tolerance allowed = {.value = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(tolerance, "value")),
                                .zero_sign = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "exactZeroSign"))};
    struct error e = {0};
    struct test t = {.name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name")),
                     .operators = cJSON_GetObjectItemCaseSensitive(json, "operators")};
    const struct contradiction *known = contradictions;

    if (!t.name || !metric || (strcmp(metric, "ULP") && strcmp(metric, "ATOL"))) {
        printf("FAILED: a case without name or metric\n");
        return FAILED;
    }
    allowed.ulp = !strcmp(metric, "ULP");
    bool ok = operands_read(&t, cJSON_GetObjectItemCaseSensitive(json, "inputs"), true, &t.inputs, &t.input_count, &e) &&
              operands_read(&t, cJSON_GetObjectItemCaseSensitive(json, "outputs"), false, &t.outputs, &t.output_count, &e);
    t.named = s->named;
    for (uint32_t i = 0; ok && s->swap && i < t.input_count; i++)
        t.inputs[i].constant = !t.inputs[i].constant;
    ok = ok && run(s, &t, &e);
    if (!ok)
        printf("  %s: %s\n", wnnStatusGetName(e.status), e.message);
    ok = ok && outputs_check(&t, &allowed);

    while (known->file && (strcmp(known->file, s->file) || strcmp(known->name, t.name)))
        known++;
    if (known->file) {
        printf("%s: %s (contradicts the specification: %s)\n", ok ? "FAILED: passes although listed" : "as listed", t.name,
               known->sentence);
        ok = !ok;
    } else if (!ok) {
        struct graph *g = test_graph(&t, &(struct error){0});
        printf("FAILED: %s\n", t.name);
        fflush(stdout);
        if (g)
            graph_print(g, stdout, &(struct print_options){0});
        graph_free(g);
    }
    arena_free(&t.memory);
    return ok ? PASSED : FAILED;
}

/** Returns the file's text; NULL if there is no such file. */
static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;

    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END)) {
        long size = ftell(file);
        text = size >= 0 ? malloc((size_t)size + 1) : NULL;
        rewind(file);
        if (text && fread(text, 1, (size_t)size, file) == (size_t)size) {
            text[size] = '\0';
        } else {
            free(text);
            text = NULL;
        }
    }
    fclose(file);
    return text;
}

static int run_file(const struct settings *s)
{
    int counts[3] = {0}, listed = 0, place = 0;
    const cJSON *json;

    if (strstr(s->file, ".int4")) {
        printf("%s: skipped, int4 and uint4 are not types of the specification\n", s->file);
        return 77;
    }
    char *text = file_read(s->path);
    if (!text)
        return shared_absent(s->path);
    cJSON *root = cJSON_Parse(text);
    free(text);
    if (!root) {
        printf("%s: not JSON\n", s->path);
        return 1;
    }
    const cJSON *tests = cJSON_GetObjectItemCaseSensitive(root, "tests");
    cJSON_ArrayForEach(json, tests)
    {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "name"));
        for (const struct contradiction *c = contradictions; c->file; c++)
            listed += name && !strcmp(c->file, s->file) && !strcmp(c->name, name);
        if (place++ % s->every == 0 && (!s->only || (name && !strcmp(name, s->only))))
            counts[run_case(s, json)]++;
    }
    int expected = 0;
    for (const struct contradiction *c = contradictions; c->file; c++)
        expected += !strcmp(c->file, s->file);
    if (listed != expected) {
        printf("%s: the list of contradictions names %d cases of this file, of which %d are there\n", s->file, expected,
               listed);
        counts[FAILED]++;
    }
    printf("%s: %d of %d cases passed (%s%s%s%s)\n", s->file, counts[PASSED], counts[PASSED] + counts[FAILED],
           s->engine ? "engine" : "interpreter", s->swap ? ", constants swapped" : "", s->debug ? ", debug " : "",
           s->debug ? s->debug : "");
#ifdef WPT_ENGINE
    if (s->engine)
        print_steps();
#endif
    cJSON_Delete(root);
    return counts[FAILED] || !counts[PASSED] ? 1 : 0;
}

PROGRAM_HELP("usage: wpt-conformance [--mode interpreter|engine] [--constants swap] [--dimensions named] [--debug SWITCHES] "
             "[--only NAME] [--every N] FILE.json...\n")
int main(int argc, char **argv)
{
    struct settings s = {.every = 1};
    int files = 0, result = 77;

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--mode") && (!strcmp(value, "interpreter") || !strcmp(value, "engine")))
            s.engine = !strcmp(argv[++i], "engine");
        else if (!strcmp(argv[i], "--constants") && !strcmp(value, "swap"))
            s.swap = ++i > 0;
        else if (!strcmp(argv[i], "--dimensions") && !strcmp(value, "named"))
            s.named = ++i > 0;
        else if (!strcmp(argv[i], "--debug") && *value)
            s.debug = argv[++i];
        else if (!strcmp(argv[i], "--only") && *value)
            s.only = argv[++i];
        else if (!strcmp(argv[i], "--every") && atoi(value) > 0)
            s.every = atoi(argv[++i]);
        else if (argv[i][0] != '-')
            argv[files++] = argv[i];
        else
            return WRONG_USAGE;
    }
    if (!files)
        return WRONG_USAGE;
#ifndef WPT_ENGINE
    if (s.engine) {
        printf("built without the engine\n");
        return 77;
    }
#else
    if (s.engine && !engine_is_there())
        return 77;
#endif
    for (int i = 0; i < files; i++) {
        const char *slash = strrchr(argv[i], '/');
        char *file = strdup(slash ? slash + 1 : argv[i]), *end = file ? strstr(file, ".json") : NULL;
        if (end)
            *end = '\0';
        s.path = argv[i];
        s.file = file ? file : s.path;
        int of_file = run_file(&s);
        if (result != 1 && of_file != 77)
            result = of_file;
        fflush(stdout);
        free(file);
    }
    return result;
}
