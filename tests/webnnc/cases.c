/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test-webnnc-cases shapes FOLDER: options for webnnc that fix the shapes of a model's inputs, on one line.
 * test-webnnc-cases runs FOLDER COUNT: for the first COUNT cases and each of their outputs a line of options for a compiled
 * program: inputs, the output to compare, tolerances.
 *
 * In: a folder of ../shared/models with either kind of manifest (README there): networks described layer by layer, whose
 * outputs may be off by 1e-4 of the largest absolute value expected, and ONNX models with tolerances of their own.
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/npy.h"
#include "../support/help.h"

static const char *folder;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "test-webnnc-cases: %s\n", what);
    exit(1);
}

static const cJSON *get(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!item)
        die(key);
    return item;
}

/* Of an entry {name, file} (ONNX) or "name": "file" (layers). */
static const char *entry_name(const cJSON *entry)
{
    return cJSON_IsObject(entry) ? get(entry, "name")->valuestring : entry->string;
}

static const char *entry_file(const cJSON *entry)
{
    return cJSON_IsObject(entry) ? get(entry, "file")->valuestring : entry->valuestring;
}

static double largest_of(const char *file)
{
    struct npy_array array;
    struct error e = {0};
    char path[4096];
    double largest = 0;

    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!npy_read(path, &array, &e))
        die(e.message);
    for (size_t i = 0; array.dataType == WNNOperandDataType_Float32 && i < npy_elements(&array); i++)
        largest = fmax(largest, fabs((double)((const float *)array.data)[i]));
    npy_free(&array);
    return largest;
}

static void print_run(const cJSON *manifest, const cJSON *one, const cJSON *output)
{
    const cJSON *tolerance = cJSON_GetObjectItemCaseSensitive(manifest, "tolerance"), *input, *inputs = get(one, "inputs");
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(one, "tolerance"), entry_name(output));

    cJSON_ArrayForEach(input, inputs) printf("--input %s=%s/%s ", entry_name(input), folder, entry_file(input));
    printf("--compare %s=%s/%s ", entry_name(output), folder, entry_file(output));
    if (own) /* a case that knows better */
        printf("--atol %.17g --rtol 0\n", get(own, "atol")->valuedouble);
    else if (tolerance)
        printf("--atol %.17g --rtol %.17g\n", get(tolerance, "atol")->valuedouble, get(tolerance, "rtol")->valuedouble);
    else
        printf("--atol %.17g --rtol 0\n", 1e-4 * largest_of(entry_file(output)));
}

static void print_runs(const cJSON *manifest, int count)
{
    const cJSON *one, *output;

    cJSON_ArrayForEach(one, get(manifest, "cases"))
    {
        if (count-- <= 0)
            return;
        cJSON_ArrayForEach(output, get(one, "outputs")) print_run(manifest, one, output);
    }
}

/* Layers fix all shapes; ONNX inputs take that of the first case. */
static void print_shapes(const cJSON *manifest)
{
    const cJSON *first = cJSON_GetArrayItem(get(manifest, "cases"), 0), *input, *dim;

    cJSON_ArrayForEach(input, get(first, "inputs"))
    {
        const char *separator = "";
        if (!cJSON_IsObject(input))
            continue;
        printf("--shape %s=", entry_name(input));
        cJSON_ArrayForEach(dim, get(input, "shape"))
        {
            printf("%s%d", separator, dim->valueint);
            separator = "x";
        }
        printf(*separator ? " " : "scalar ");
    }
    putchar('\n');
}

PROGRAM_HELP("usage: test-webnnc-cases shapes FOLDER | runs FOLDER COUNT\n")
int main(int argc, char **argv)
{
    struct error e = {0};
    char path[4096], *text;
    size_t length;

    if (argc < 3)
        return WRONG_USAGE;
    folder = argv[2];
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    if (!file_read(path, &text, &length, &e))
        die(e.message);
    cJSON *manifest = cJSON_ParseWithLength(text, length);
    if (!manifest)
        die("not JSON");
    if (!strcmp(argv[1], "shapes"))
        print_shapes(manifest);
    else
        print_runs(manifest, argc > 3 ? atoi(argv[3]) : 1);
    cJSON_Delete(manifest);
    free(text);
    return 0;
}
