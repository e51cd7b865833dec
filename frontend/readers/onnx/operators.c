/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Looks up importers in the tables of the operators_*.c files, by name and version of the operator set.
 */
#include "frontend/readers/onnx/operators.h"

#include <string.h>

/* To add a file of operators, put its table in operators.h and here. */
static const struct onnx_operator_table *const tables[] = {
    &onnx_elementwise_operators, &onnx_activation_operators,  &onnx_constant_operators, &onnx_shape_operators,
    &onnx_pad_operators,         &onnx_gather_operators,      &onnx_reduce_operators,   &onnx_control_operators,
    &onnx_convolution_operators, &onnx_pool_operators,        &onnx_matmul_operators,   &onnx_quantize_operators,
    &onnx_normalize_operators,   &onnx_resize_operators,      &onnx_einsum_operators,   &onnx_select_operators,
    &onnx_recurrent_operators,   &onnx_attention_operators,   &onnx_signal_operators,   &onnx_microsoft_operators,
    &onnx_language_operators,    &onnx_transformer_operators, &onnx_top_k_operators,    &onnx_nchwc_operators,
    &onnx_refused_operators, /* the last */
};

const struct onnx_operator_table *const *onnx_operator_tables(size_t *count)
{
    *count = sizeof(tables) / sizeof(tables[0]);
    return tables;
}

const struct onnx_operator *onnx_find_operator(const char *domain, const char *name, int64_t version)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (size_t i = 0; i < tables[t]->count; i++) {
            const struct onnx_operator *row = &tables[t]->rows[i];

            if (row->name[0] == name[0] && strcmp(row->name, name) == 0 &&
                strcmp(row->domain ? row->domain : "", domain) == 0 && version >= row->since &&
                (!row->until || version <= row->until))
                return row;
        }
    return NULL;
}
