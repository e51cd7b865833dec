/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/readers/public/sizes.h"

#include <string.h>

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

static WNNStatus bind(const struct model_description *d, const char *name, size_t length, uint32_t size, uint32_t *sizes)
{
    const WNNModelFreeDimension *open = name_map_find(&d->free_by_name, name, length);

    if (!open) {
        struct suggestion meant = suggestion_for(name, length);

        for (size_t i = 0; i < d->free_count; i++)
            suggestion_offer(&meant, d->free[i].name.data);
        return reader_refuse("no dimension of an input is called '%s'%s", NAME_SHOWN(name), suggestion_list(&meant));
    }
    uint32_t *bound = &sizes[open - d->free];
    if (*bound && *bound - 1 != size)
        return reader_refuse("dimension \"%s\" is asked to be %u and %u", NAME_SHOWN(name), *bound - 1, size);
    if (size > open->largest)
        return reader_refuse("dimension \"%s\" is asked to be %u, the model takes at most %u", NAME_SHOWN(name), size,
                             open->largest);
    *bound = size + 1;
    return WNNStatus_Success;
}

/** Fails because a shape is not the input's. */
static WNNStatus refuse_shape(const struct model_shape *shape, const WNNModelDeclaration *input)
{
    uint32_t dims[NPY_RANK_MAX];
    const char *names[NPY_RANK_MAX];
    char has[200], wants[200];
    const size_t rank = input->rank < NPY_RANK_MAX ? input->rank : NPY_RANK_MAX;

    for (size_t i = 0; i < rank; i++) {
        dims[i] = input->dimensions[i].size;
        names[i] = input->dimensions[i].name.length ? input->dimensions[i].name.data : NULL;
    }
    return reader_refuse("the shape asked for input \"%s\" is %s, the model's is %s", NAME_SHOWN(shape->name),
                         model_dims_text(has, sizeof has, shape->rank, shape->dims, NULL),
                         model_dims_text(wants, sizeof wants, rank, dims, names));
}

/** Notes the whole shape of an input that has sizes without names. */
static WNNStatus keep_shape(const struct model_shape *shape, uint32_t *numbers)
{

    if (numbers[0] && (numbers[0] != shape->rank + 1 || memcmp(numbers + 1, shape->dims, shape->rank * sizeof *numbers)))
        return reader_refuse("input \"%s\" is asked to have two shapes", NAME_SHOWN(shape->name));
    numbers[0] = (uint32_t)shape->rank + 1; /* 0 is none */
    memcpy(numbers + 1, shape->dims, shape->rank * sizeof *numbers);
    return WNNStatus_Success;
}

static WNNStatus add_shape(const struct model_description *d, const struct model_shape *shape, uint32_t *sizes)
{
    const WNNModelDeclaration *input = NULL;
    WNNStatus status = WNNStatus_Success;
    size_t at;

    for (at = 0; at < d->input_count; at++)
        if (d->inputs[at].name.length == strlen(shape->name) && !strcmp(d->inputs[at].name.data, shape->name))
            break;
    if (at == d->input_count) {
        struct suggestion meant = suggestion_for(shape->name, strlen(shape->name));

        for (at = 0; at < d->input_count; at++)
            suggestion_offer(&meant, d->inputs[at].name.data);
        return reader_refuse("there is no input '%s'%s", NAME_SHOWN(shape->name), suggestion_list(&meant));
    }
    input = &d->inputs[at];
    bool nameless = !input->hasShape;
    if (input->hasShape && input->rank != shape->rank)
        return refuse_shape(shape, input);
    for (size_t i = 0; !status && input->hasShape && i < shape->rank; i++) {
        const WNNModelDimension *declared = &input->dimensions[i];

        if (declared->size && declared->size != shape->dims[i])
            return refuse_shape(shape, input);
        if (!declared->size && declared->name.length)
            status = bind(d, declared->name.data, declared->name.length, shape->dims[i], sizes);
        nameless = nameless || (!declared->size && !declared->name.length);
    }
    return status || !nameless ? status : keep_shape(shape, shape_of(d, sizes, at));
}

WNNStatus sizes_add(const struct model_description *d, const struct request *r, uint32_t *sizes)
{
    WNNStatus status = WNNStatus_Success;

    for (size_t i = 0; !status && i < r->options.dim_count; i++)
        status = bind(d, r->dims[i].name, strlen(r->dims[i].name), r->dims[i].size, sizes);
    for (size_t i = 0; !status && i < r->options.shape_count; i++)
        status = add_shape(d, &r->shapes[i], sizes);
    return status;
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
