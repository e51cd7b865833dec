/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has the function of terms that makes a loop of the builder (docs/loops.md): each.
 */

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/term.h"

enum { FIXED = 3 }; /* arguments before those of the function */

struct term_item term_each(struct term *t, const struct term_item *a)
{
    const char *function = a->kind == TERM_TEXT ? term_find_function(a->text, a->count) : NULL;
    const size_t count = a[2].count;
    struct term_call c = {.name = {a->text, a->count}};
    WNNLoopSlices scanned[TERM_ITEMS_MAX + 1], stacked = {NULL, 0, false};
    WNNOperand stop, in[TERM_ITEMS_MAX + 2], next, out[2];
    struct control_iterations loop = {0, 1, count + 1, 1, &stop, in, &next, out, scanned, &stacked};
    struct term_item y;

    if (t->given < FIXED || !function || count + t->given - FIXED > TERM_ITEMS_MAX)
        return term_fail(t, "each takes a function, its end and a list");
    scanned[0] = (WNNLoopSlices){term_operand(t, &a[1], NULL), 0, false};
    for (size_t i = 0; i < count; i++)
        scanned[1 + i] = (WNNLoopSlices){term_operand(t, &a[2].items[i], NULL), 0, false};
    if (t->dead)
        return (struct term_item){0};
    loop.iterations = onnx_dims_of(t->n, scanned->operand).at[0];
    if (!control_may_begin(t->n))
        onnx_refuse(t->n, "it is in a loop, and takes %u steps; loops cannot be nested", loop.iterations);
    t->n->is_static = false; /* the reader computes no loops */
    stop = onnx_scalar(t->n, WNNOperandDataType_Uint8, 0);
    if (!control_begin(t->n, &loop))
        return term_of_operand(t, onnx_error_operand(t->n));
    next = in[1];
    for (; c.count < count; c.count++)
        c.arguments[c.count] = term_of_operand(t, in[2 + c.count]);
    for (size_t i = FIXED; i < t->given; i++)
        c.arguments[c.count++] = a[i];
    y = term_call_function(t, function, &c);
    stacked.operand = t->dead ? NULL : term_operand(t, &y, NULL);
    if (!control_end(t->n, &loop, !t->dead && wnnGraphBuilderStopLoop(t->n->builder, 0) == WNNStatus_Success))
        return term_of_operand(t, onnx_error_operand(t->n));
    return term_of_operand(t, out[1]);
}
