/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes graphs that it reads from standard input, one after the other, and writes their outputs to standard output.
 *
 *     reference-run [--interpreter] [--debug SWITCHES]
 *
 * A request is a line "JSON_BYTES DATA_BYTES", a JSON object of that length (inputs, operators and outputs as in conformance
 * cases, without data) and the elements of all inputs, one after the other.  The answer is a line "ok BYTES" and the elements
 * of all outputs, or a line "error MESSAGE".  Ends with the input: 0, or 1 for a request that is cut short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wpt/conformance.h"
#include "support/help.h"

struct request {
    char *json, *data;
    size_t json_size, data_size;
};

/** The next request; false at the end of the input.  *cut: it ends within a request. */
static bool request_read(struct request *r, bool *cut)
{
    char line[64];

    *r = (struct request){0};
    *cut = false;
    if (!fgets(line, sizeof line, stdin))
        return false;
    *cut = true;
    if (sscanf(line, "%zu %zu", &r->json_size, &r->data_size) != 2)
        return false;
    r->json = malloc(r->json_size + 1);
    r->data = malloc(r->data_size + 1);
    if (!r->json || !r->data || fread(r->json, 1, r->json_size, stdin) != r->json_size ||
        fread(r->data, 1, r->data_size, stdin) != r->data_size)
        return false;
    r->json[r->json_size] = '\0';
    *cut = false;
    return true;
}

/** The operands of one kind.  Inputs take their elements from *data on; outputs get memory. */
static bool operands_read(struct test *t, const cJSON *json, bool inputs, char **data, const char *end, struct error *e)
{
    struct operand *operands = arena_array(&t->memory, (size_t)cJSON_GetArraySize(json) + 1, sizeof *operands), *o = operands;
    const cJSON *item;

    if (!operands)
        return error_out_of_memory(e);
    cJSON_ArrayForEach(item, json)
    {
        o->name = item->string;
        o->constant = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "constant"));
        if (!type_read(item, &o->type))
            return test_error(e, "type that the specification does not have", o->name);
        const size_t size = (size_t)type_bytes(&o->type);
        /* A copy is aligned as the elements of an operand are. */
        o->data = arena_alloc(&t->memory, size + 1);
        if (!o->data)
            return error_out_of_memory(e);
        if (inputs && (size_t)(end - *data) < size)
            return test_error(e, "data are too short", o->name);
        if (inputs) {
            memcpy(o->data, *data, size);
            *data += size;
        }
        o++;
    }
    *(inputs ? &t->inputs : &t->outputs) = operands;
    *(inputs ? &t->input_count : &t->output_count) = (uint32_t)(o - operands);
    return true;
}

static void answer(const struct test *t, bool ok, const struct error *e)
{
    size_t size = 0;

    for (uint32_t i = 0; ok && i < t->output_count; i++)
        size += (size_t)type_bytes(&t->outputs[i].type);
    if (ok)
        printf("ok %zu\n", size);
    else
        printf("error %s: %s\n", wnnStatusGetName(e->status), e->message);
    for (uint32_t i = 0; ok && i < t->output_count; i++)
        fwrite(t->outputs[i].data, 1, (size_t)type_bytes(&t->outputs[i].type), stdout);
    fflush(stdout);
}

static void serve(const struct request *r, bool interpreter, const char *debug)
{
    struct test t = {.name = "request"};
    struct error e = {0};
    char *data = r->data;
    cJSON *json = cJSON_Parse(r->json);

    bool ok = json || test_error(&e, "request", "not JSON");
    t.operators = cJSON_GetObjectItemCaseSensitive(json, "operators");
    ok = ok && operands_read(&t, cJSON_GetObjectItemCaseSensitive(json, "inputs"), true, &data, r->data + r->data_size, &e) &&
         operands_read(&t, cJSON_GetObjectItemCaseSensitive(json, "outputs"), false, &data, NULL, &e) &&
         (interpreter ? run_interpreter(&t, &e) : run_engine(&t, debug, &e));
    answer(&t, ok, &e);
    arena_free(&t.memory);
    cJSON_Delete(json);
}

PROGRAM_HELP("usage: reference-run [--interpreter] [--debug SWITCHES] <requests >answers\n")
int main(int argc, char **argv)
{
    bool interpreter = false, cut = false;
    const char *debug = NULL;
    struct request r;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--interpreter"))
            interpreter = true;
        else if (!strcmp(argv[i], "--debug") && i + 1 < argc)
            debug = argv[++i];
        else
            return WRONG_USAGE;
    }
    while (request_read(&r, &cut)) {
        serve(&r, interpreter, debug);
        free(r.json);
        free(r.data);
    }
    free(r.json);
    free(r.data);
    return cut;
}
