/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fits constants, operands and shapes that options give to the inputs of a model, and says what does not fit. */
#include <stdlib.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/model.h"
#include "ir/support/array.h"

void model_note(struct model *model, const char *format, ...)
{
    char line[600];

    WITH_ARGUMENTS(format, vsnprintf(line, sizeof line, format, arguments));
    (void)text_append(&model->notes, "%s%s", model->notes ? "\n" : "", line); /* a note that is lost for want of memory */
}

const char *model_dims_text(char *buf, size_t size, size_t rank, const uint32_t *dims, const char *const *names)
{
    size_t n = (size_t)snprintf(buf, size, "[");

    for (size_t i = 0; i < rank && n < size; i++) {
        const char *const before = i ? ", " : "";

        if (dims[i] || !names)
            n += (size_t)snprintf(buf + n, size - n, "%s%u", before, dims[i]);
        else
            n += (size_t)snprintf(buf + n, size - n, "%s%s", before, names[i] ? NAME_SHOWN(names[i]) : "?");
    }
    if (n < size)
        snprintf(buf + n, size - n, "]");
    return buf;
}

const char *model_shape_origin(const struct model_shape *shape, char *buf, size_t size)
{
    if (!shape->file)
        return "the shape given for it";
    snprintf(buf, size, "%s", PATH_SHOWN(shape->file));
    return buf;
}

/** Gives numbers without a shape that of the input: one number fits every shape of one element. */
static void take_shape(struct npy_array *array, size_t rank, const uint32_t *dims)
{
    size_t count = npy_elements(array), fixed = 1, open = 0;

    if (rank > NPY_RANK_MAX)
        return;
    for (size_t i = 0; i < rank; i++) {
        fixed *= dims[i] && fixed <= count ? dims[i] : 1;
        open += !dims[i];
    }
    if (!fixed || count % fixed || (!open && count != fixed) || (open > 1 && count != fixed))
        return;
    array->rank = rank;
    for (size_t i = 0; i < rank; i++)
        array->shape[i] = dims[i] ? dims[i] : (uint32_t)(open > 1 ? 1 : count / fixed);
}

static bool shapes_agree(size_t has_rank, const uint32_t *has, size_t rank, const uint32_t *dims)
{
    bool same = rank == SIZE_MAX || has_rank == rank;

    for (size_t i = 0; same && rank != SIZE_MAX && i < rank; i++)
        same = !dims[i] || dims[i] == has[i];
    return same;
}

WNNOperand model_bound(const struct model_options *options, const char *name, size_t length)
{
    for (size_t i = 0; i < options->binding_count; i++)
        if (strlen(options->bindings[i].name) == length && !memcmp(options->bindings[i].name, name, length))
            return options->bindings[i].operand;
    return NULL;
}

const WNNDimension *model_name(const struct model_options *options, WNNStringView name)
{
    for (size_t i = 0; i < options->name_count; i++) {
        const WNNStringView n = options->names[i].name;

        if (name.length && view_length(n) == name.length && !memcmp(n.data, name.data, name.length))
            return &options->names[i];
    }
    return NULL;
}

bool model_binding_fit(const char *name, WNNOperand operand, WNNOperandDataType type, size_t rank, const uint32_t *dims,
                       const char *const *names, struct error *e)
{
    char shown[256], has[200], wants[200];

    escape_text(shown, sizeof shown, name, strlen(name));
    if (wnnOperandIsError(operand))
        return file_error(e, "the operand given for input \"%s\" is the error of a call that failed", shown);
    if (wnnOperandGetDataType(operand) != type)
        return file_error(e, "the operand given for input \"%s\" is of type %s, the input of type %s", shown,
                          wnnOperandDataTypeGetName(wnnOperandGetDataType(operand)), wnnOperandDataTypeGetName(type));
    if (!shapes_agree(wnnOperandGetRank(operand), wnnOperandGetShape(operand), rank, dims))
        return file_error(e, "the operand given for input \"%s\" has the shape %s, the input %s", shown,
                          model_dims_text(has, sizeof has, wnnOperandGetRank(operand), wnnOperandGetShape(operand), NULL),
                          model_dims_text(wants, sizeof wants, rank, dims, names));
    return true;
}

bool model_constant_fit(struct model *model, const struct model_constant *constant, WNNOperandDataType type, size_t rank,
                        const uint32_t *dims, const char *const *names, struct npy_array *array, struct error *e)
{
    char name[256], has[200], wants[200];
    const WNNOperandDataType given = constant->array->dataType;

    escape_text(name, sizeof name, constant->name, strlen(constant->name));
    *array = *constant->array;
    array->data = malloc(array->byteLength ? array->byteLength : 1);
    if (!array->data)
        return file_error(e, "out of memory");
    memcpy(array->data, constant->array->data, array->byteLength);
    if (constant->literal && rank != SIZE_MAX)
        take_shape(array, rank, dims);
    if (!shapes_agree(array->rank, array->shape, rank, dims)) {
        file_error(e, "the constant given for input \"%s\" has the shape %s, the input %s", name,
                   model_dims_text(has, sizeof has, array->rank, array->shape, NULL),
                   model_dims_text(wants, sizeof wants, rank, dims, names));
    } else if (!npy_convert(array, type, e)) {
        file_error(e, "the constant given for input \"%s\" is of type %s, the input of type %s: %s", name,
                   wnnOperandDataTypeGetName(given), wnnOperandDataTypeGetName(type), e->message);
    } else {
        if (!constant->literal && given != type)
            model_note(model, "the constant given for input '%s' is %s, converted to %s", name,
                       wnnOperandDataTypeGetName(given), wnnOperandDataTypeGetName(type));
        return true;
    }
    npy_free(array);
    return false;
}
