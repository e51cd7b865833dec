/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements descriptions of models over frontend/readers/describe.h. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/describe.h"
#include "frontend/readers/public/reader.h"
#include "ir/support/text.h"

struct WNNModelInfoImpl {
    atomic_size_t references;
    struct model_description description;
};

/** Makes a description that is not filled in, or returns NULL after a message. */
static WNNModelInfo create(WNNStatus *status)
{
    struct WNNModelInfoImpl *made = calloc(1, sizeof *made);

    *status = made ? WNNStatus_Success : reader_fail(WNNStatus_UnknownError, "out of memory");
    if (made)
        atomic_init(&made->references, 1);
    return made;
}

WNNModelInfo info_create(const struct model_source *source, WNNStatus *status)
{
    WNNModelInfo made = create(status);
    char *message = NULL;

    if (!made || model_source_describe(source, &made->description, &message))
        return made;
    free(made);
    *status = reader_fail_with(WNNStatus_DataError, message);
    return NULL;
}

const struct model_description *info_description(WNNModelInfo info)
{
    return &info->description;
}

/** Describes the file at path, or, if bytes is not NULL, memory. */
static WNNStatus describe(const char *path, const void *bytes, size_t length, WNNModelInfo *info)
{
    char *message = NULL;
    WNNStatus status;
    WNNModelInfo made = create(&status);
    bool ok;

    if (!made)
        return status;
    ok = bytes ? model_describe_memory(path, bytes, length, &made->description, &message)
               : model_describe(path, &made->description, &message);
    if (!ok) {
        free(made);
        return reader_fail_with(WNNStatus_DataError, message);
    }
    *info = made;
    return WNNStatus_Success;
}

WNNStatus wnnModelDescribe(char const *path, WNNModelInfo *info)
{
    *info = NULL;
    return path ? describe(path, NULL, 0, info) : reader_fail(WNNStatus_TypeError, "wnnModelDescribe: there is no path (NULL)");
}

WNNStatus wnnModelDescribeMemory(void const *data, size_t byteLength, WNNModelInfo *info)
{
    *info = NULL;
    return data ? describe("model in memory", data, byteLength, info)
                : reader_fail(WNNStatus_TypeError, "wnnModelDescribeMemory: there are no bytes (NULL)");
}

void wnnModelInfoAddRef(WNNModelInfo info)
{
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
    return reader_view(info->description.name);
}

WNNStringView wnnModelInfoGetFormat(WNNModelInfo info)
{
    return reader_view(info->description.format);
}

size_t wnnModelInfoGetInputCount(WNNModelInfo info)
{
    return info->description.input_count;
}

size_t wnnModelInfoGetOutputCount(WNNModelInfo info)
{
    return info->description.output_count;
}

size_t wnnModelInfoGetFreeDimensionCount(WNNModelInfo info)
{
    return info->description.free_count;
}

size_t wnnModelInfoGetMetadataCount(WNNModelInfo info)
{
    return info->description.metadata_count;
}

/** Checks an index into a list. */
static WNNStatus check_index(const char *what, size_t count, size_t index)
{
    char text[140];

    if (index < count)
        return WNNStatus_Success;
    snprintf(text, sizeof text, "the model has %zu %s, number %zu is asked for (the first is 0)", count, what, index);
    return reader_fail(WNNStatus_TypeError, text);
}

WNNStatus wnnModelInfoGetInput(WNNModelInfo info, size_t index, WNNModelDeclaration *input)
{
    WNNStatus status = check_index("inputs", info->description.input_count, index);

    if (!status)
        *input = info->description.inputs[index];
    return status;
}

WNNStatus wnnModelInfoGetOutput(WNNModelInfo info, size_t index, WNNModelDeclaration *output)
{
    WNNStatus status = check_index("outputs", info->description.output_count, index);

    if (!status)
        *output = info->description.outputs[index];
    return status;
}

WNNStatus wnnModelInfoGetFreeDimension(WNNModelInfo info, size_t index, WNNModelFreeDimension *dimension)
{
    WNNStatus status = check_index("free dimensions", info->description.free_count, index);

    if (!status)
        *dimension = info->description.free[index];
    return status;
}

WNNStatus wnnModelInfoGetMetadata(WNNModelInfo info, size_t index, WNNModelMetadata *metadata)
{
    WNNStatus status = check_index("pieces of metadata", info->description.metadata_count, index);

    if (!status)
        *metadata = info->description.metadata[index];
    return status;
}

char const *wnnModelEscape(WNNStringView text, char *buffer, size_t size)
{
    const size_t length = !text.data ? 0 : text.length == WNN_STRLEN ? strlen(text.data) : text.length;

    if (size)
        escape_text(buffer, size, text.data ? text.data : "", length);
    return buffer;
}
