/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads what a manifest.json says of test cases.  docs/formats.md has the format. */
#include "frontend/readers/files/manifest.h"

#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/text/json.h"

struct manifest {
    char *folder, *text;
    struct arena arena;
    const struct json *root;
};

static const char *text_or(const struct json *value, const char *fallback)
{
    return value && value->kind == JSON_STRING ? value->as.string.text : fallback;
}

static double number_or(const struct json *value, double fallback)
{
    return value && value->kind == JSON_NUMBER ? number_to_double(value->as.number) : fallback;
}

bool manifest_open(const char *folder, struct manifest **manifest, struct error *e)
{
    struct manifest *m = calloc(1, sizeof *m);
    struct error error = {0};
    const struct json *layers;
    size_t length;
    bool ok = m && (m->folder = strdup(folder));

    if (!ok)
        file_error(e, "%s: out of memory", PATH_SHOWN(folder));
    else if ((ok = file_read_named(folder, "manifest.json", &m->text, &length, e))) {
        m->root = json_parse(&(struct lexer){.text = m->text, .length = length, .error = &error}, &m->arena);
        layers = json_member(m->root, "layers");
        ok = (layers && layers->kind == JSON_ARRAY) || text_or(json_member(m->root, "model"), NULL) ||
             file_error(e, "%s/manifest.json: %s", PATH_SHOWN(folder),
                        m->root ? "no JSON object with a list of layers" : error.message);
    }
    if (!ok)
        manifest_close(m);
    *manifest = ok ? m : NULL;
    return ok;
}

void manifest_close(struct manifest *m)
{
    if (!m)
        return;
    arena_free(&m->arena);
    free(m->text);
    free(m->folder);
    free(m);
}

const char *manifest_name(const struct manifest *m)
{
    return text_or(json_member(m->root, "name"), "");
}

const char *manifest_task(const struct manifest *m)
{
    return text_or(json_member(m->root, "task"), "");
}

/** Returns a case, or NULL if there are not so many; *count is how many there are. */
static const struct json *case_at(const struct manifest *m, size_t index, size_t *count)
{
    const struct json *cases = json_member(m->root, "cases"), *found = NULL;

    *count = 0;
    json_for_each(x, cases) if ((*count)++ == index) found = x;
    return found;
}

size_t manifest_case_count(const struct manifest *m)
{
    size_t count;

    case_at(m, SIZE_MAX, &count);
    return count;
}

const char *manifest_case_text(const struct manifest *m, size_t index, const char *key)
{
    size_t count;

    return text_or(json_member(case_at(m, index, &count), key), NULL);
}

double manifest_case_number(const struct manifest *m, size_t index, const char *key, double fallback)
{
    size_t count;

    return number_or(json_member(case_at(m, index, &count), key), fallback);
}

WNNStatus manifest_build(const struct manifest *m, WNNContext context, WNNGraph *graph, struct error *e)
{
    struct model model;
    WNNStatus status = WNNStatus_DataError;

    *graph = NULL;
    if (model_read_manifest(context, m->folder, NULL, &model, e))
        status = model_build(&model, graph, e);
    model_free(&model);
    return status;
}

/* Arrays are {"NAME": "FILE"} or [{"name": "NAME", "file": "FILE"}]. */
static bool load_arrays(const struct manifest *m, const struct json *files, const struct json *tolerances, size_t *count,
                        struct manifest_array **arrays, struct error *e)
{
    *count = 0;
    *arrays = calloc((files && files->kind >= JSON_ARRAY ? files->as.list.count : 0) + 1, sizeof **arrays);
    if (!*arrays)
        return file_error(e, "out of memory");
    json_for_each(f, files)
    {
        struct manifest_array *a = &(*arrays)[*count];
        const char *name = f->key.text ? f->key.text : text_or(json_member(f, "name"), NULL);
        const char *file = text_or(f->key.text ? f : json_member(f, "file"), NULL);

        if (!name || !file)
            return file_error(e, "%s: no file is named", NAME_SHOWN(name ? name : "an array without a name"));
        if (!npy_read_named(m->folder, file, &a->array, e))
            return file_error(e, "%s: file %s", NAME_SHOWN(name), e ? e->message : "");
        a->name = strdup(name);
        if (!a->name) {
            npy_free(&a->array);
            return file_error(e, "out of memory");
        }
        a->atol = number_or(json_member(json_member(tolerances, name), "atol"), 0);
        ++*count;
    }
    return true;
}

bool manifest_case_load(const struct manifest *m, size_t index, struct manifest_case *out, struct error *e)
{
    size_t count;
    const struct json *c = case_at(m, index, &count);

    memset(out, 0, sizeof *out);
    if (!c)
        return file_error(e, "%s has no case %zu", m->folder, index);
    if (load_arrays(m, json_member(c, "inputs"), NULL, &out->input_count, &out->inputs, e) &&
        load_arrays(m, json_member(c, "outputs"), json_member(c, "tolerance"), &out->output_count, &out->outputs, e))
        return true;
    manifest_case_free(out);
    return false;
}

static void free_arrays(size_t count, struct manifest_array *arrays)
{
    for (size_t i = 0; i < count; i++) {
        free(arrays[i].name);
        npy_free(&arrays[i].array);
    }
    free(arrays);
}

void manifest_case_free(struct manifest_case *c)
{
    free_arrays(c->input_count, c->inputs);
    free_arrays(c->output_count, c->outputs);
    memset(c, 0, sizeof *c);
}
