/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Turns recurrent operators into what later stages can work with.  The pass is required.
 *
 *   - Those of float16 get operands that are cast to float32, and results that are cast back: each result is rounded once, and
 *     the states between steps stay float32, as docs/semantics.md allows.
 *   - Small ones of float32 are computed likewise in float64.  Where gates cancel, the errors of their sums are magnified, and
 *     a kernel that has little to compute is hardly slower in float64 (docs/loops.md).
 *   - Those of one step (gruCell, lstmCell, and gru and lstm of one step) become nodes after the specification's emulation,
 *     with the input's share as one matmul, so that everything folds and fuses with its neighbours.
 *   - Those of several steps stay.  Unrolled it would be some twenty nodes, a kernel and a packed copy of the weights per step;
 *     instead pass_finish_clusters gives it a loop cluster, whose body is compiled once (passes/recurrent/recurrent_loop.c).
 */
#include <string.h>

#include "ir/graph/dims.h"
#include "passes/recurrent/recurrent.h"
#include "passes/support.h"

bool recurrent_is_small(const struct node *n, const uint32_t *sizes)
{
    const uint32_t most = target_facts_everywhere()->contraction.float64_multiplies;
    struct recurrent r;

    recurrent_describe(n, &r);
    const uint64_t batch = dim_is_open(r.batch) ? sizes[r.batch & ~DIM_OPEN] : r.batch;
    const uint64_t inputs = dim_is_open(r.inputs) ? sizes[r.inputs & ~DIM_OPEN] : r.inputs;
    const uint64_t multiplies = (uint64_t)r.gates * r.hidden * (inputs + r.hidden); /* each is below 2^31 */
    return multiplies <= most && multiplies * batch <= most;
}

/* ---- one step ---- */

/** Returns direction d of an operand whose other dimensions are rows and columns (0: none).  A cell's has no directions. */
static struct value *direction_of(struct recurrent_builder *b, struct value *v, uint32_t d, uint32_t rows, uint32_t columns)
{
    const uint32_t dims[2] = {rows, columns}, rank = columns ? 2 : 1;

    if (v && v->type.rank > rank)
        v = recurrent_part(b, v, d, 1);
    return v ? recurrent_reshape(b, v, rank, dims) : NULL;
}

static struct value *state_of(struct recurrent_builder *b, struct value *v, uint32_t d)
{
    const struct recurrent *r = b->r;
    const struct tensor_type t = {r->input->type.type, 2, {r->batch, r->hidden}};

    return v ? direction_of(b, v, d, r->batch, r->hidden) : graph_add_scalar(b->g, &t, wnnNumber(0));
}

static void expand_direction(struct recurrent_builder *b, uint32_t d, struct value **hidden, struct value **cell)
{
    const struct recurrent *r = b->r;
    const uint32_t rows = r->gates * r->hidden;
    struct value *x = recurrent_reshape(b, r->input, 2, (const uint32_t[]){r->batch, r->inputs});
    struct value *recurrent_bias = direction_of(b, r->recurrent_bias, d, rows, 0);
    struct value *peephole = direction_of(b, r->peephole, d, RECURRENT_PEEPHOLES * r->hidden, 0);
    struct value *bias = direction_of(b, r->bias, d, rows, 0); // each makes a node: in this order, whatever the compiler
    struct value *weight = direction_of(b, r->weight, d, rows, r->inputs);
    struct recurrent_operands o = {
        .projected = recurrent_project(b, x, weight, bias, recurrent_bias),
        .hidden = state_of(b, r->hidden_state, d),
        .cell = r->lstm ? state_of(b, r->cell_state, d) : NULL,
        .rows = direction_of(b, r->recurrent_weight, d, rows, r->hidden),
    };

    if (recurrent_bias && !r->lstm && r->reset_after)
        o.recurrent_bias = recurrent_part(b, recurrent_bias, 2 * r->hidden, r->hidden);
    for (uint32_t i = 0; peephole && i < RECURRENT_PEEPHOLES; i++)
        o.peephole[i] = recurrent_part(b, peephole, i * r->hidden, r->hidden);
    if (!b->g->error.status)
        recurrent_cell(b, &o, hidden, cell);
}

/** Replaces a result of n by the directions' results: [directions, batch, hidden] or, of a cell, [batch, hidden]; or a
 * sequence. */
static bool replace_result(struct recurrent_builder *b, struct value *result, struct value *const *parts)
{
    const struct recurrent *r = b->r;
    struct value *pieces[RECURRENT_DIRECTIONS_MAX] = {parts[0]}, *v;
    union op_args args;

    if (!result)
        return true;
    memset(&args, 0, sizeof args); /* axis 0 */
    if (r->directions > 1) {
        for (uint32_t d = 0; d < r->directions; d++)
            pieces[d] = recurrent_reshape(b, parts[d], 3, (const uint32_t[]){1, r->batch, r->hidden});
        v = make_node(b->g, b->before, OP_CONCAT, r->node, r->directions, pieces, NULL, &args);
    } else {
        v = parts[0];
    }
    v = recurrent_reshape(b, v, result->type.rank, result->type.dims);
    if (!v)
        return false;
    value_replace_uses(result, v);
    return true;
}

static void expand(struct graph *g, struct node *n)
{
    struct recurrent r;
    struct recurrent_builder b = {g, n, &r};
    struct value *hidden[RECURRENT_DIRECTIONS_MAX] = {NULL}, *cell[RECURRENT_DIRECTIONS_MAX] = {NULL};

    recurrent_describe(n, &r);
    for (uint32_t d = 0; d < r.directions; d++) {
        expand_direction(&b, d, &hidden[d], &cell[d]);
        if (g->error.status)
            return;
    }
    if (replace_result(&b, r.hidden_result, hidden) && replace_result(&b, r.cell_result, cell) &&
        replace_result(&b, r.sequence_result, hidden))
        node_remove(n);
}

bool pass_expand_recurrent(struct graph *g, const struct pass_options *o)
{
    bool changed = false;

    (void)o;
    graph_for_each_safe (g, n) {
        struct node *recurrent = n;

        if (n->cluster || n->op == OP_LOOP || !(op_infos[n->op].flags & OPF_RECURRENT))
            continue;
        if (n->results[0]->type.type == WNNOperandDataType_Float16) {
            recurrent = node_widen(g, n, WNNOperandDataType_Undefined, WNNOperandDataType_Float32);
            changed = true;
        }
        if (recurrent && recurrent->results[0]->type.type != DTYPE_FLOAT64 && recurrent_is_small(recurrent, NULL)) {
            recurrent = node_widen(g, recurrent, WNNOperandDataType_Undefined, DTYPE_FLOAT64);
            changed = true;
        }
        if (recurrent && (recurrent->inputs[0].value->type.rank == 2 || recurrent->inputs[0].value->type.dims[0] == 1)) {
            expand(g, recurrent);
            changed = true;
        }
        if (g->error.status)
            return changed;
    }
    return changed;
}
