/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads initializers of an ONNX file, through the schema that the reader uses (frontend/readers/onnx/onnx.proto) and
 * protobuf-c. */
#include "examples/support/onnx_weights.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/readers/files/file.h"
#include "onnx.pb-c.h"

enum { TENSOR_FLOAT = 1 };

struct onnx_weights {
    Onnx__ModelProto *model;
};

bool onnx_weights_open(const char *path, struct onnx_weights **w, struct error *e)
{
    struct stat s;
    char *file = !stat(path, &s) && S_ISDIR(s.st_mode) ? file_join(path, "model.onnx") : strdup(path), *bytes = NULL;
    size_t length = 0;
    bool ok;

    *w = calloc(1, sizeof **w);
    ok = *w && file ? file_read(file, &bytes, &length, e) : file_error(e, "out of memory");
    if (ok) {
        (*w)->model = onnx__model_proto__unpack(NULL, length, (const uint8_t *)bytes);
        ok = ((*w)->model && (*w)->model->graph) || file_error(e, "%s is no ONNX file", file);
    }
    free(bytes);
    free(file);
    if (!ok) {
        onnx_weights_close(*w);
        *w = NULL;
    }
    return ok;
}

void onnx_weights_close(struct onnx_weights *w)
{
    if (w && w->model)
        onnx__model_proto__free_unpacked(w->model, NULL);
    free(w);
}

bool onnx_weights_find(const struct onnx_weights *w, const char *name, struct npy_array *array)
{
    const Onnx__GraphProto *g = w->model->graph;

    for (size_t i = 0; i < g->n_initializer; i++) {
        const Onnx__TensorProto *t = g->initializer[i];
        size_t elements = 1;

        if (!t->name || strcmp(t->name, name))
            continue;
        if (t->data_type != TENSOR_FLOAT || t->n_dims > NPY_RANK_MAX)
            return false;
        *array = (struct npy_array){.dataType = WNNOperandDataType_Float32, .rank = t->n_dims};
        for (size_t k = 0; k < t->n_dims; k++) {
            if (t->dims[k] < 1 || t->dims[k] > INT32_MAX || elements > SIZE_MAX / sizeof(float) / (size_t)t->dims[k])
                return false;
            array->shape[k] = (uint32_t)t->dims[k];
            elements *= (size_t)t->dims[k];
        }
        array->byteLength = elements * sizeof(float);
        array->data = t->raw_data.len ? (void *)t->raw_data.data : (void *)t->float_data;
        return t->raw_data.len ? t->raw_data.len == array->byteLength : t->n_float_data == elements;
    }
    return false;
}
