/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements what descriptions of every kind of model share (frontend/readers/describe.h). */
#include "frontend/readers/describe.h"

#include "frontend/readers/files/file.h"

bool describe_text(struct model_description *d, const char *text, size_t length, WNNStringView *out)
{
    out->data = arena_string(&d->memory, text ? text : "", length);
    out->length = out->data ? length : 0;
    return out->data;
}

bool describe_reserve(struct model_description *d, size_t inputs, size_t outputs, size_t dimensions)
{
    d->inputs = arena_array(&d->memory, inputs + 1, sizeof *d->inputs);
    d->outputs = arena_array(&d->memory, outputs + 1, sizeof *d->outputs);
    d->free = arena_array(&d->memory, dimensions + 1, sizeof *d->free);
    return d->inputs && d->outputs && d->free;
}

bool describe_declaration(struct model_description *d, WNNModelDeclaration *out, const char *name, size_t length, size_t rank,
                          WNNModelDimension **dimensions)
{
    *dimensions = arena_array(&d->memory, rank + 1, sizeof **dimensions);
    out->rank = rank;
    out->dimensions = *dimensions;
    for (size_t i = 0; *dimensions && i < rank; i++)
        (*dimensions)[i].name = (WNNStringView){"", 0};
    return *dimensions && describe_text(d, name, length, &out->name);
}

bool describe_free(struct model_description *d, WNNStringView name, uint32_t largest)
{
    WNNModelFreeDimension *known = name_map_find(&d->free_by_name, name.data, name.length);

    if (known) {
        known->largest = largest < known->largest ? largest : known->largest;
        return true;
    }
    d->free[d->free_count] = (WNNModelFreeDimension){name, largest};
    return name_map_add(&d->free_by_name, name.data, name.length, &d->free[d->free_count++]) == NAME_MAP_ADDED;
}

bool describe_file(struct model_description *d, const char *path, const char *name)
{
    const char *slash = *name == '/' ? NULL : strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash - path) + 1 : 0, length = folder + strlen(name);
    char *file = arena_array(&d->memory, length + 1, 1);

    if (!file)
        return false;
    memcpy(file, path, folder);
    memcpy(file + folder, name, length - folder);
    if (!(d->file_count & (d->file_count + 1))) { /* full: 0, 1, 3, 7, ... */
        const char **grown = arena_array(&d->memory, 2 * d->file_count + 1, sizeof *grown);

        if (!grown)
            return false;
        if (d->file_count)
            memcpy(grown, d->files, d->file_count * sizeof *grown);
        d->files = grown;
    }
    switch (name_map_add(&d->files_by_path, file, length, file)) {
    case NAME_MAP_ADDED:
        d->files[d->file_count++] = file;
        return true;
    case NAME_MAP_EXISTS:
        return true;
    case NAME_MAP_OUT_OF_MEMORY:
        break;
    }
    return false;
}

bool describe_failed(struct model_description *d, const char *path, const char *reason, struct error *e)
{
    if (reason)
        file_error(e, "%s: %s", PATH_SHOWN(path), reason);
    error_out_of_memory(e); /* unless there is an error */
    model_description_free(d);
    return false;
}

bool model_single_batch(struct model_description *d, const struct model_options *options, size_t *count,
                        const struct model_dim **dims)
{
    const size_t given = options ? options->dim_count : 0;
    struct model_dim *all = arena_array(&d->memory, given + d->input_count + 1, sizeof *all);

    *dims = all;
    *count = given;
    if (all && given)
        memcpy(all, options->dims, given * sizeof *all);
    for (size_t i = 0; all && i < d->input_count; i++) {
        const WNNModelDimension *first = d->inputs[i].rank ? d->inputs[i].dimensions : NULL;
        bool known = !first || first->size || !first->name.length;

        for (size_t k = 0; k < *count; k++)
            known = known || !strcmp(all[k].name, first->name.data);
        if (!known)
            all[(*count)++] = (struct model_dim){first->name.data, 1};
    }
    return all;
}

void model_description_free(struct model_description *d)
{
    name_map_free(&d->free_by_name);
    name_map_free(&d->files_by_path);
    arena_free(&d->memory);
    memset(d, 0, sizeof *d);
}
