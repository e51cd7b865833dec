/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/readers/sizes.h"

#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "ir/support/suggest.h"

enum { SHAPE_NUMBERS = 1 + NPY_RANK_MAX };

size_t sizes_count(const struct model_description *d)
{
    return d->free_count + d->input_count * SHAPE_NUMBERS;
}

/** Returns the numbers of an input. */
static uint32_t *shape_of(const struct model_description *d, const uint32_t *sizes, size_t input)
{
    return (uint32_t *)sizes + d->free_count + input * SHAPE_NUMBERS;
}

void sizes_declared(const WNNModelDeclaration *input, uint32_t *dims, const char **names)
{
    for (size_t i = 0; i < input->rank && i < NPY_RANK_MAX; i++) {
        dims[i] = input->dimensions[i].size;
        names[i] = input->dimensions[i].name.length ? input->dimensions[i].name.data : NULL;
    }
}

/* ---- binding ---- */

/** Gives a dimension a size; without `sizes` it only looks for the name. */
static bool bind(const struct model_description *d, const char *name, size_t length, uint32_t size, uint32_t *sizes,
                 struct error *e)
{
    const WNNModelFreeDimension *open = name_map_find(&d->free_by_name, name, length);
    struct suggestion meant = suggestion_for(name, length);

    for (size_t i = 0; !open && i < d->free_count; i++)
        suggestion_offer(&meant, d->free[i].name.data);
    if (!open)
        return file_error(e, "no dimension of an input is called '%s'%s", NAME_SHOWN(name), suggestion_list(&meant));
    if (!sizes)
        return true;
    uint32_t *bound = &sizes[open - d->free];
    if (*bound && *bound - 1 != size)
        return file_error(e, "dimension '%s' is given as %u and as %u", NAME_SHOWN(name), *bound - 1, size);
    if (size > open->largest)
        return file_error(e, "dimension '%s' is given as %u; it is at most %u", NAME_SHOWN(name), size, open->largest);
    *bound = size + 1;
    return true;
}

/** Returns the number of the input of that name, or that of all after an error. */
static size_t find_input(const struct model_description *d, const char *name, struct error *e)
{
    struct suggestion meant = suggestion_for(name, strlen(name));
    size_t at = 0;

    for (; at < d->input_count; at++)
        if (text_is(name, d->inputs[at].name.data, d->inputs[at].name.length))
            return at;
        else if (!d->defaults || !d->defaults[at])
            suggestion_offer(&meant, d->inputs[at].name.data);
    file_error(e, "there is no input '%s'%s", NAME_SHOWN(name), suggestion_list(&meant));
    return at;
}

static bool refuse_shape(const struct model_shape *shape, const WNNModelDeclaration *input, struct error *e)
{
    uint32_t dims[NPY_RANK_MAX];
    const char *names[NPY_RANK_MAX];
    char has[200], wants[200], origin[300];

    sizes_declared(input, dims, names);
    return file_error(
        e, "input '%s' has the shape %s, %s %s", NAME_SHOWN(shape->name),
        model_dims_text(wants, sizeof wants, input->rank < NPY_RANK_MAX ? input->rank : NPY_RANK_MAX, dims, names),
        model_shape_origin(shape, origin, sizeof origin), model_dims_text(has, sizeof has, shape->rank, shape->dims, NULL));
}

/** Notes the whole shape of an input that has sizes without names. */
static bool keep_shape(const struct model_shape *shape, uint32_t *numbers, struct error *e)
{
    if (numbers[0] && (numbers[0] != shape->rank + 1 || memcmp(numbers + 1, shape->dims, shape->rank * sizeof *numbers)))
        return file_error(e, "input '%s' is given two shapes", NAME_SHOWN(shape->name));
    numbers[0] = (uint32_t)shape->rank + 1; /* 0 is none */
    memcpy(numbers + 1, shape->dims, shape->rank * sizeof *numbers);
    return true;
}

/** Adds the shape of an input, or, with may_differ, of what stands for it. */
static bool add_shape(const struct model_description *d, const struct model_shape *shape, bool may_differ, uint32_t *sizes,
                      struct error *e)
{
    const size_t at = find_input(d, shape->name, e);
    const WNNModelDeclaration *input = &d->inputs[at];

    if (at == d->input_count)
        return false;
    bool nameless = !input->hasShape, fits = nameless || input->rank == shape->rank;
    for (size_t i = 0; fits && i < input->rank; i++) {
        fits = !input->dimensions[i].size || input->dimensions[i].size == shape->dims[i];
        nameless = nameless || (!input->dimensions[i].size && !input->dimensions[i].name.length);
    }
    if (!fits)
        return may_differ || refuse_shape(shape, input, e);
    for (size_t i = 0; i < input->rank; i++) {
        const WNNStringView name = input->dimensions[i].name;

        if (!input->dimensions[i].size && name.length && !bind(d, name.data, name.length, shape->dims[i], sizes, e))
            return false;
    }
    return !nameless || keep_shape(shape, shape_of(d, sizes, at), e);
}

/** Adds the shape of an operand or constant that stands for an input. */
static bool add_substitute(const struct model_description *d, const char *name, size_t rank, const uint32_t *dims,
                           uint32_t *sizes, struct error *e)
{
    struct model_shape shape = {.name = name, .rank = rank < NPY_RANK_MAX ? rank : NPY_RANK_MAX};

    memcpy(shape.dims, dims, shape.rank * sizeof *dims);
    return add_shape(d, &shape, true, sizes, e);
}

bool sizes_add(const struct model_description *d, const struct model_options *o, uint32_t *sizes, struct error *e)
{
    bool ok = true;

    for (size_t i = 0; ok && i < o->name_count; i++)
        ok = bind(d, o->names[i].name.data, strlen(o->names[i].name.data), 0, NULL, e) &&
             (model_name(o, o->names[i].name) == &o->names[i] ||
              file_error(e, "dimension '%s' is given bounds twice", NAME_SHOWN(o->names[i].name.data))) &&
             (!o->names[i].maxSize || o->names[i].minSize <= o->names[i].maxSize ||
              file_error(e, "dimension '%s' is given the bounds %u and %u", NAME_SHOWN(o->names[i].name.data),
                         o->names[i].minSize, o->names[i].maxSize));
    for (size_t i = 0; ok && i < o->dim_count; i++)
        ok = bind(d, o->dims[i].name, strlen(o->dims[i].name), o->dims[i].size, sizes, e);
    for (size_t i = 0; ok && i < o->shape_count; i++)
        ok = add_shape(d, &o->shapes[i], false, sizes, e);
    for (size_t i = 0; ok && i < o->constant_count; i++)
        ok = o->constants[i].literal
                 ? find_input(d, o->constants[i].name, e) < d->input_count
                 : add_substitute(d, o->constants[i].name, o->constants[i].array->rank, o->constants[i].array->shape, sizes, e);
    for (size_t i = 0; ok && i < o->binding_count; i++)
        ok = add_substitute(d, o->bindings[i].name, wnnOperandGetRank(o->bindings[i].operand),
                            wnnOperandGetShape(o->bindings[i].operand), sizes, e);
    return ok;
}

void sizes_options(const struct model_description *d, const uint32_t *sizes, struct model_dim *dims, struct model_shape *shapes,
                   struct model_options *options)
{
    options->dims = dims;
    options->shapes = shapes;
    options->dim_count = options->shape_count = 0;
    for (size_t i = 0; i < d->free_count; i++)
        if (sizes[i])
            dims[options->dim_count++] = (struct model_dim){d->free[i].name.data, sizes[i] - 1};
    for (size_t i = 0; i < d->input_count; i++) {
        const uint32_t *numbers = shape_of(d, sizes, i);
        struct model_shape *shape = &shapes[options->shape_count];

        if (!numbers[0])
            continue;
        *shape = (struct model_shape){.name = d->inputs[i].name.data, .rank = numbers[0] - 1};
        memcpy(shape->dims, numbers + 1, shape->rank * sizeof *shape->dims);
        options->shape_count++;
    }
}

/* ---- shapes ---- */

/** Appends a line, unless it is there, there are more than a message has room for, or memory runs out. */
PRINTF_LIKE(2, 3) static void add_line(char **text, const char *format, ...)
{
    char line[800];

    WITH_ARGUMENTS(format, vsnprintf(line, sizeof line, format, arguments));
    if (!*text || (strlen(*text) <= sizeof((struct error *)NULL)->message && !strstr(*text, line)))
        (void)text_append(text, "%s", line);
}

/** Asks for the size of a dimension, and names the inputs that have it. */
static void ask(const struct model_description *d, const WNNModelFreeDimension *open, const struct model_options *o,
                char **text)
{
    char inputs[300] = "", most[40] = "";

    for (size_t i = 0; i < d->input_count; i++)
        for (size_t k = 0; k < d->inputs[i].rank; k++)
            if (text_is(open->name.data, d->inputs[i].dimensions[k].name.data, d->inputs[i].dimensions[k].name.length))
                text_list_add(inputs, sizeof inputs, '"', d->inputs[i].name.data, d->inputs[i].name.length);
    if (open->largest < INT32_MAX)
        snprintf(most, sizeof most, " (at most %u)", open->largest);
    add_line(text, "\n  dimension \"%s\" (of %s) has no size: give it by %s or %s%s", NAME_SHOWN(open->name.data), inputs,
             model_option_name(o, MODEL_DIMENSIONS), model_option_name(o, MODEL_SHAPES), most);
}

bool sizes_shape(const struct model_description *d, const uint32_t *sizes, size_t input, const struct model_options *o,
                 size_t *rank, uint32_t *dims, char **text)
{
    const WNNModelDeclaration *in = &d->inputs[input];
    const uint32_t *numbers = shape_of(d, sizes, input);
    bool complete = in->hasShape;

    *rank = numbers[0] ? numbers[0] - 1 : in->rank;
    if (numbers[0]) {
        memcpy(dims, numbers + 1, *rank * sizeof *dims);
        return true;
    }
    if (!complete)
        add_line(text, "\n  input \"%s\" declares no shape: give it by %s", NAME_SHOWN(in->name.data),
                 model_option_name(o, MODEL_SHAPES));
    for (size_t i = 0; i < *rank; i++) {
        const WNNStringView name = in->dimensions[i].name;
        const WNNModelFreeDimension *open = name_map_find(&d->free_by_name, name.data, name.length);
        const uint32_t bound = open ? sizes[open - d->free] : 0;

        dims[i] = in->dimensions[i].size ? in->dimensions[i].size : bound - 1;
        if (in->dimensions[i].size || bound || (open && (o->named || model_name(o, name))))
            continue;
        complete = false;
        if (open)
            ask(d, open, o, text);
        else
            add_line(text, "\n  input \"%s\" has a dimension %zu of no fixed size: give its shape by %s",
                     NAME_SHOWN(in->name.data), i, model_option_name(o, MODEL_SHAPES));
    }
    return complete;
}
