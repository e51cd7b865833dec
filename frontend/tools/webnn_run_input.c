/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads webnn-run's inputs: files of arrays, pictures and raw elements, noise and zeros.  Files are read before the model,
 * because their shapes bind its symbolic dimensions; pictures to be resized and raw elements become arrays afterwards, when the
 * model says what it wants.
 */
#include <stdlib.h>
#include <strings.h>

#include "frontend/readers/files/element.h"
#include "frontend/readers/files/npz.h"
#include "frontend/tools/webnn_run.h"
#include "ir/support/array.h"
#include "ir/support/suggest.h"

const char *describe_type(char *buf, size_t size, WNNOperandDataType type, size_t rank, const uint32_t *shape)
{
    size_t n = (size_t)snprintf(buf, size, "%s ", wnnOperandDataTypeGetName(type));

    model_dims_text(buf + n, size - n, rank, shape, NULL);
    return buf;
}

/* ---- reading files ---- */

enum file_kind { FILE_NPY, FILE_NPZ, FILE_PICTURE, FILE_RAW };

/** Tells the kind of a file by its first bytes; pipes and devices have raw elements. */
static enum file_kind kind_of_file(const char *path)
{
    unsigned char start[8] = {0};
    size_t length = file_start(path, start, sizeof start);

    if (length == 8 && !memcmp(start, "\x93NUMPY", 6))
        return FILE_NPY;
    if (length == 8 && (!memcmp(start, "PK\3\4", 4) || !memcmp(start, "PK\5\6", 4)))
        return FILE_NPZ;
    if (length == 8 && (!memcmp(start, "\x89PNG\r\n\x1a\n", 8) || !memcmp(start, "\xFF\xD8\xFF", 3)))
        return FILE_PICTURE;
    return FILE_RAW;
}

static struct source *source_add(struct sources *s, const char *name, const char *path, enum source_kind kind)
{
    struct source *added;

    if (!array_extend(&s->items, s->count, sizeof *added)) {
        complain("out of memory");
        return NULL;
    }
    for (size_t i = 0; i < s->count; i++)
        if (name && s->items[i].name && !strcmp(s->items[i].name, name)) {
            complain("input '%s' is given twice", NAME_SHOWN(name));
            return NULL;
        }
    added = &s->items[s->count];
    *added = (struct source){.path = path, .kind = kind};
    if (name && !(added->name = strdup(name))) {
        complain("out of memory");
        return NULL;
    }
    s->count++;
    return added;
}

/** NAME=FILE.npz takes the array NAME, or the only one there is; FILE.npz takes all.  Their elements stay in the archive so
 * far. */
static bool read_npz(struct sources *s, const struct argument_pair *pair)
{
    struct npz_entry *entries;
    struct error e = {0};
    size_t count, taken = 0;
    bool ok = true;

    if (!npz_read_heads(pair->value, &entries, &count, &e))
        return complain("%s", e.message);
    for (size_t i = 0; i < count && ok; i++) {
        if (pair->name && count > 1 && strcmp(entries[i].name, pair->name))
            continue;
        struct source *source = source_add(s, pair->name ? pair->name : entries[i].name, pair->value, SOURCE_ARRAY);
        ok = source != NULL;
        if (ok) {
            source->array = entries[i].array;
            source->member = entries[i].name; /* moved */
            entries[i].name = NULL;
            taken++;
        }
    }
    if (ok && !taken)
        ok = complain("%s holds no array '%s'", PATH_SHOWN(pair->value), pair->name ? NAME_SHOWN(pair->name) : "");
    npz_free(entries, count);
    return ok;
}

bool source_read(struct sources *s, const struct argument_pair *pair)
{
    const enum file_kind kind = kind_of_file(pair->value);
    struct error e = {0};

    if (kind == FILE_NPZ)
        return read_npz(s, pair);
    struct source *source = source_add(s, pair->name, pair->value,
                                       kind == FILE_NPY       ? SOURCE_ARRAY
                                       : kind == FILE_PICTURE ? SOURCE_PICTURE
                                                              : SOURCE_RAW);
    if (!source)
        return false;
    return (kind == FILE_NPY       ? npy_read(pair->value, &source->array, &e)
            : kind == FILE_PICTURE ? picture_read(pair->value, &source->picture, &e)
                                   : file_read(pair->value, (char **)&source->raw, &source->raw_length, &e)) ||
           complain("%s", e.message);
}

bool sources_read(const struct run_options *o, struct sources *s)
{
    for (size_t i = 0; i < o->inputs.count; i++)
        if (!source_read(s, &o->inputs.items[i]))
            return false;
    return true;
}

void sources_shrink(struct sources *s, size_t count)
{
    for (size_t i = count; i < s->count; i++) {
        free(s->items[i].name);
        free(s->items[i].raw);
        free(s->items[i].member);
        npy_free(&s->items[i].array);
        picture_free(&s->items[i].picture);
    }
    s->count = count < s->count ? count : s->count;
}

void sources_free(struct sources *s)
{
    sources_shrink(s, 0);
    free(s->items);
    *s = (struct sources){0};
}

/* ---- arrays for inputs ---- */

bool picture_size(const struct run_options *o, const struct source *s, uint32_t *width, uint32_t *height)
{
    *width = o->resize ? o->width : s->picture.width;
    *height = o->resize ? o->height : s->picture.height;
    return !o->resize_auto;
}

static bool array_create(const struct model_port *port, struct npy_array *array)
{
    struct error e = {0};

    return npy_create(&port->descriptor, array, &e) || complain("%s", e.message);
}

/** Returns the next number of SplitMix64, which gives the same numbers everywhere. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void fill_random(struct npy_array *array, uint64_t state)
{
    bool is_float = element_is_float(array->dataType);

    for (size_t i = 0; i < npy_elements(array); i++) {
        double unit = (double)(next_random(&state) >> 11) * 0x1p-53;

        element_set(array->dataType, array->data, i, is_float ? 2 * unit - 1 : unit >= 0.5);
    }
}

static bool take_array(const struct model_port *port, struct source *s, struct npy_array *array)
{
    const WNNOperandDescriptor *d = &port->descriptor;
    char name[256], has[256], wants[256];

    const WNNOperandDataType given = s->array.dataType;
    bool same = s->array.rank == d->rank && (!d->rank || !memcmp(s->array.shape, d->shape, d->rank * sizeof *d->shape));

    if (!same || (element_is_float(given) && !element_is_float(d->dataType)))
        return complain("input '%s': %s is %s, the model takes %s",
                        escape_text(name, sizeof name, port->name, strlen(port->name)), PATH_SHOWN(s->path),
                        describe_type(has, sizeof has, s->array.dataType, s->array.rank, s->array.shape),
                        describe_type(wants, sizeof wants, d->dataType, d->rank, d->shape));
    struct error e = {0};
    if (!s->member) {
        if (!s->array.data && !npy_read(s->path, &s->array, &e)) /* an earlier size took it */
            return complain("%s", e.message);
        *array = s->array;
        s->array.data = NULL; /* the shape stays: --quantize-weights reads the model once more */
    } else if (!npz_read_array(s->path, s->member, array, &e)) {
        return complain("%s", e.message);
    }
    escape_text(name, sizeof name, port->name, strlen(port->name));
    if (!npy_convert(array, d->dataType, &e))
        return complain("input '%s': %s is of type %s, the model takes %s: %s", name, PATH_SHOWN(s->path),
                        wnnOperandDataTypeGetName(given), wnnOperandDataTypeGetName(d->dataType), e.message);
    if (given != d->dataType || array->from_float64)
        complain("note: input '%s': %s is of type %s, converted to %s", name, PATH_SHOWN(s->path),
                 array->from_float64 ? "float64" : wnnOperandDataTypeGetName(given), wnnOperandDataTypeGetName(d->dataType));
    return true;
}

static bool take_raw(const struct model_port *port, struct source *s, struct npy_array *array)
{
    char wants[256];

    if (!array_create(port, array))
        return false;
    const char *dot = strrchr(s->path, '.');
    if (array->byteLength != s->raw_length && dot &&
        (!strcasecmp(dot, ".png") || !strcasecmp(dot, ".jpg") || !strcasecmp(dot, ".jpeg")))
        return complain("input '%s': %s is neither PNG nor JPEG by its first bytes", NAME_SHOWN(port->name),
                        PATH_SHOWN(s->path));
    if (array->byteLength != s->raw_length)
        return complain("input '%s': %s has %zu bytes, the model takes %zu (%s)", NAME_SHOWN(port->name), PATH_SHOWN(s->path),
                        s->raw_length, array->byteLength,
                        describe_type(wants, sizeof wants, array->dataType, array->rank, array->shape));
    memcpy(array->data, s->raw, s->raw_length);
    return true;
}

bool picture_dims(bool nhwc, size_t rank, const uint32_t *shape, uint32_t *channels, uint32_t *height, uint32_t *width)
{
    for (; rank > 3; rank--, shape++)
        if (*shape != 1)
            return false;
    if (rank != 2 && rank != 3)
        return false;
    *channels = rank == 2 ? 1 : shape[nhwc ? 2 : 0];
    *height = shape[rank == 2 || nhwc ? 0 : 1];
    *width = shape[rank == 2 || nhwc ? 1 : 2];
    return *channels == 1 || *channels == 3;
}

static bool take_picture(const struct run_options *o, const struct model_port *port, struct source *s, struct npy_array *array)
{
    const WNNOperandDescriptor *d = &port->descriptor;
    struct picture_form form = o->form;
    uint32_t width, height, channels, model_width, model_height;
    struct error e = {0};
    char name[256], wants[256];
    struct picture resized = {0};
    const struct picture *p = &s->picture;

    escape_text(name, sizeof name, port->name, strlen(port->name));
    describe_type(wants, sizeof wants, d->dataType, d->rank, d->shape);
    if (!picture_dims(form.nhwc, d->rank, d->shape, &channels, &model_height, &model_width))
        return complain("input '%s' is %s, no picture in layout %s", name, wants, form.nhwc ? "nhwc" : "nchw");
    if (form.grey && channels != 1)
        return complain("input '%s' is %s and takes three channels, but --grey is given", name, wants);
    form.grey = channels == 1;
    if (!picture_size(o, s, &width, &height)) {
        width = model_width;
        height = model_height;
    }
    if (width != model_width || height != model_height)
        return complain("input '%s': %s %s %u x %u, the model takes %u x %u (%s); --resize auto makes it fit", name,
                        PATH_SHOWN(s->path), o->resize ? "becomes" : "is", width, height, model_width, model_height, wants);
    if (width != p->width || height != p->height) {
        if (!picture_resize(p, width, height, &resized, &e))
            return complain("%s: %s", PATH_SHOWN(s->path), e.message);
        p = &resized;
    }
    float *floats = malloc((size_t)width * height * channels * sizeof *floats);
    if (!floats || !array_create(port, array)) {
        free(floats);
        picture_free(&resized);
        return complain("out of memory");
    }
    picture_to_floats(p, &form, floats);
    for (size_t i = 0; i < npy_elements(array); i++)
        element_set(array->dataType, array->data, i, (double)floats[i]);
    free(floats);
    picture_free(&resized);
    return true;
}

bool sources_take(const struct run_options *o, struct sources *s, const struct model_port *port, struct npy_array *array,
                  char *note, size_t size)
{
    uint64_t state = o->seed;
    char path[256];

    *array = (struct npy_array){0};
    for (size_t i = 0; i < s->count; i++) {
        struct source *source = &s->items[i];

        if (strcmp(source->name, port->name))
            continue;
        source->used = true;
        snprintf(note, size, "from %s", escape_text(path, sizeof path, source->path, strlen(source->path)));
        switch (source->kind) {
        case SOURCE_ARRAY:
            return take_array(port, source, array);
        case SOURCE_PICTURE:
            snprintf(note, size, "from %s (%u x %u pixels)", path, source->picture.width, source->picture.height);
            return take_picture(o, port, source, array);
        case SOURCE_RAW:
            return take_raw(port, source, array);
        }
    }
    snprintf(note, size, o->random ? "not given: noise" : "not given: zeros");
    if (!array_create(port, array))
        return false;
    for (const char *c = port->name; *c; c++) /* inputs get noise of their own */
        state = state * 31 + (unsigned char)*c;
    if (o->random)
        fill_random(array, state);
    return true;
}

/** Returns whether a source has no elements; an input without elements is not an input of the graph. */
static bool is_empty(const struct source *s)
{
    return (s->kind == SOURCE_ARRAY && !npy_elements(&s->array)) || (s->kind == SOURCE_RAW && !s->raw_length);
}

bool sources_all_used(const struct sources *s, const struct model *model)
{
    bool ok = true;

    for (size_t i = 0; i < s->count; i++) {
        bool found = false;

        for (size_t k = 0; k < model->input_count; k++)
            found |= !strcmp(model->inputs[k].name, s->items[i].name);
        s->items[i].used = is_empty(&s->items[i]) || s->items[i].is_constant;
        if (found || s->items[i].used)
            continue;
        struct suggestion meant = suggestion_for(s->items[i].name, strlen(s->items[i].name));
        for (size_t k = 0; k < model->input_count; k++)
            suggestion_offer(&meant, model->inputs[k].name);
        ok = complain("the model has no input '%s'%s", NAME_SHOWN(s->items[i].name), suggestion_list(&meant));
    }
    return ok;
}
