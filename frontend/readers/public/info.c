/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements descriptions of models over frontend/readers/describe.h. */
#include <stdatomic.h>
#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/public/reader.h"

struct WNNModelInfoImpl {
    atomic_size_t references;
    struct model_description description;
};

WNNModelInfo info_create(const struct model_source *source, struct error *e)
{
    struct WNNModelInfoImpl *made = calloc(1, sizeof *made);

    if (made && model_source_describe(source, &made->description, e)) {
        atomic_init(&made->references, 1);
        return made;
    }
    free(made);
    error_out_of_memory(e); /* unless there is an error */
    return NULL;
}

const struct model_description *info_description(WNNModelInfo info)
{
    return &info->description;
}

/** Describes a source, which may be NULL after an error, and closes it. */
static WNNStatus describe(struct model_source *source, struct error *e, WNNModelInfo *info)
{
    *info = source ? info_create(source, e) : NULL;
    model_source_close(source);
    return reader_publish(e);
}

WNNStatus wnnModelDescribe(char const *path, WNNModelInfo *info)
{
    struct error e = {0};

    REFUSE_NULL(info);
    *info = NULL;
    REFUSE_NULL(path);
    return describe(model_source_open(path, &e), &e, info);
}

WNNStatus wnnModelDescribeMemory(void const *data, size_t byteLength, WNNModelInfo *info)
{
    struct error e = {0};

    REFUSE_NULL(info);
    *info = NULL;
    REFUSE_NULL(data);
    return describe(model_source_memory(FILE_NO_PATH, data, byteLength, false, &e), &e, info);
}

void wnnModelInfoAddRef(WNNModelInfo info)
{
    if (info)
        atomic_fetch_add_explicit(&info->references, 1, memory_order_relaxed);
}

void wnnModelInfoRelease(WNNModelInfo info)
{
    if (!info || atomic_fetch_sub_explicit(&info->references, 1, memory_order_acq_rel) > 1)
        return;
    model_description_free(&info->description);
    free(info);
}

WNNStringView wnnModelInfoGetName(WNNModelInfo info)
{
    return reader_view(info ? info->description.name : NULL);
}

WNNStringView wnnModelInfoGetFormat(WNNModelInfo info)
{
    return reader_view(info ? info->description.format : NULL);
}

size_t wnnModelInfoGetInputCount(WNNModelInfo info)
{
    return info ? info->description.input_count : 0;
}

size_t wnnModelInfoGetOutputCount(WNNModelInfo info)
{
    return info ? info->description.output_count : 0;
}

size_t wnnModelInfoGetFreeDimensionCount(WNNModelInfo info)
{
    return info ? info->description.free_count : 0;
}

size_t wnnModelInfoGetMetadataCount(WNNModelInfo info)
{
    return info ? info->description.metadata_count : 0;
}

/** Copies an element of one of the lists. */
static WNNStatus get(const char *what, const void *list, size_t count, size_t size, size_t index, void *out)
{
    if (index >= count)
        return reader_refuse("the model has %zu %s, number %zu is requested (the first is 0)", count, what, index);
    memcpy(out, (const char *)list + index * size, size);
    return WNNStatus_Success;
}

WNNStatus wnnModelInfoGetInput(WNNModelInfo info, size_t index, WNNModelDeclaration *input)
{
    REFUSE_NULL(info);
    REFUSE_NULL(input);
    return get("inputs", info->description.inputs, info->description.input_count, sizeof *input, index, input);
}

WNNStatus wnnModelInfoGetOutput(WNNModelInfo info, size_t index, WNNModelDeclaration *output)
{
    REFUSE_NULL(info);
    REFUSE_NULL(output);
    return get("outputs", info->description.outputs, info->description.output_count, sizeof *output, index, output);
}

WNNStatus wnnModelInfoGetFreeDimension(WNNModelInfo info, size_t index, WNNModelFreeDimension *dimension)
{
    REFUSE_NULL(info);
    REFUSE_NULL(dimension);
    return get("free dimensions", info->description.free, info->description.free_count, sizeof *dimension, index, dimension);
}

WNNStatus wnnModelInfoGetMetadata(WNNModelInfo info, size_t index, WNNModelMetadata *metadata)
{
    REFUSE_NULL(info);
    REFUSE_NULL(metadata);
    return get("pieces of metadata", info->description.metadata, info->description.metadata_count, sizeof *metadata, index,
               metadata);
}

char const *wnnModelEscape(WNNStringView text, char *buffer, size_t size)
{
    return size && buffer ? view_quote(buffer, size, text) : buffer;
}
