/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates gemm and matmul and infers their shapes. */
#include "ir/graph/infer_steps.h"

bool infer_gemm(struct call *c)
{
    WNNGemmOptions *o = c->options;
    const struct tensor_type *a = input_type(c, 0), *b = input_type(c, 1);
    struct tensor_type out = {.rank = 2, .dims = {a->dims[o->aTranspose ? 1 : 0], b->dims[o->bTranspose ? 0 : 1]}};
    uint32_t columns = a->dims[o->aTranspose ? 0 : 1], rows = b->dims[o->bTranspose ? 1 : 0];

    o->alpha = cast_option(c, o->alpha);
    o->beta = cast_option(c, o->beta);
    if (dim_differs(c->graph, columns, rows))
        return call_error(c, "a%s has %s columns, b%s has %s rows", o->aTranspose ? " transposed" : "", DIM_PRINT(columns),
                          o->bTranspose ? " transposed" : "", DIM_PRINT(rows));
    if (input_exists(c, 2) && !shape_broadcasts_to(c->graph, input_type(c, 2), &out))
        return call_error(c, "the shape of c, %s, is not broadcastable to that of a * b, %s", SHAPE_PRINT(input_type(c, 2)),
                          SHAPE_PRINT(&out));
    return infer_results(c, 1) && infer_result(c, 0, out.rank, out.dims);
}

bool infer_matmul(struct call *c)
{
    const struct tensor_type *a = input_type(c, 0), *b = input_type(c, 1);
    uint32_t columns = a->dims[a->rank - 1], rows = b->dims[b->rank - 2];
    struct tensor_type batch_a = *a, batch_b = *b, out;

    if (dim_differs(c->graph, columns, rows))
        return call_error(c, "a has %s columns, b has %s rows", DIM_PRINT(columns), DIM_PRINT(rows));
    batch_a.rank -= 2;
    batch_b.rank -= 2;
    if (!shape_broadcast(c->graph, &batch_a, &batch_b, &out))
        return call_error(c, "the batch dimensions of a and b, %s and %s, are not broadcastable", SHAPE_PRINT(&batch_a),
                          SHAPE_PRINT(&batch_b));
    out.dims[out.rank++] = a->dims[a->rank - 2];
    out.dims[out.rank++] = b->dims[b->rank - 1];
    return infer_results(c, 1) && infer_result(c, 0, out.rank, out.dims);
}
