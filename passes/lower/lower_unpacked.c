/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers a matmul of many rows with compact weights, and nodes fused with it, to a kernel of two stages.  `unpack` makes
 * float32 of the weights of some columns, the macro-tile, and `product` multiplies all rows by them, with all that follows.  A
 * register tile that unpacks does so again for every few rows, which takes as long as half of their products.
 */
#include "ir/graph/compact.h"
#include "passes/lower/stages.h"

enum {
    ROWS_LEAST = 16, /* fewer are multiplied by so few register tiles that storing what they unpack does not pay */
    STEPS = 8,       /* a word of 4-bit elements has, which are unpacked together */
    COLUMN_VECTORS = 2
};

struct builder {
    const struct node *n;
    int64_t panel, columns; /* of a macro-tile, some of which make a panel */
    struct stages stages;
};

/* Returns the column of B that is the macro-tile's column `lane`. */
static struct kaffine column_of(struct stage *st, const struct builder *b, struct kaffine lane)
{
    lane = kaffine_add(st->l.k, lane, kaffine_scale(st->l.k, st->macro_tile[1], b->columns));
    return kaffine_add(st->l.k, lane, kaffine_scale(st->l.k, st->macro_tile[0], b->panel));
}

static bool make_unpack(struct stage *st, const struct builder *b)
{
    const struct value *v = b->n->inputs[1].value;
    struct kernel *k = st->l.k;
    struct kaffine word = kaffine_scale(k, stage_var(st, KVAR_PARALLEL, v->type.dims[0] / STEPS), STEPS);
    struct kaffine lane = stage_var(st, KVAR_PARALLEL, b->columns);
    const uint32_t local = stage_local(st, 0, true);

    for (int64_t i = 0; i < STEPS; i++) {
        struct kaffine step = kaffine_add_const(word, i);
        const struct map m = {.rank = 2, .forms = {step, column_of(st, b, lane)}};
        uint32_t e = lower_value(&st->l, v, &m);

        if (e == KEXPR_NONE)
            return false;
        kernel_store(k, local, kaffine_add(k, kaffine_scale(k, step, b->columns), lane), e, 0, NULL);
    }
    return true;
}

static bool make_product(struct stage *st, const struct builder *b)
{
    const struct value *a = b->n->inputs[0].value, *result = b->n->results[0];
    const uint32_t last = result->type.rank - 1;
    struct kernel *k = st->l.k;
    struct map m = {.rank = last + 1};

    for (uint32_t i = 0; i < last; i++)
        m.forms[i] = result->type.dims[i] > 1 ? stage_var(st, KVAR_PARALLEL, result->type.dims[i]) : kaffine_const(0);
    struct kaffine lane = stage_var(st, KVAR_PARALLEL, b->columns);
    struct kaffine step = stage_var(st, KVAR_REDUCED, a->type.dims[last]);
    struct map of_a = m;

    of_a.forms[last] = step;
    m.forms[last] = column_of(st, b, lane);
    const uint32_t x = lower_value(&st->l, a, &of_a);
    const uint32_t y = kernel_load(k, stage_local(st, 0, false), kaffine_add(k, kaffine_scale(k, step, b->columns), lane), 0,
                                   NULL, (union scalar){.u64 = 0});
    if (x == KEXPR_NONE)
        return false;
    lower_know(&st->l, result, &m, kernel_dot(k, x, y));
    return stage_store_outputs(st, result, &m);
}

/* Returns the only matmul, if its weights are better unpacked first, or NULL.  Bytes and float16 take few instructions. */
static const struct node *find(const struct node_table *t)
{
    const struct node *n = NULL;

    for (uint32_t i = 0; i < t->count; i++) {
        if (t->nodes[i]->op == OP_MATMUL && n)
            return NULL;
        n = t->nodes[i]->op == OP_MATMUL ? t->nodes[i] : n;
    }
    if (!n || !value_is_unpacked(n->inputs[1].value) || value_is_rounded(n->inputs[0].value) ||
        n->results[0]->type.type != WNNOperandDataType_Float32 || n->inputs[0].value->type.rank != n->results[0]->type.rank)
        return NULL;
    const struct tensor_type *b = &n->inputs[1].value->type;
    const struct value *packed = n->inputs[1].value;
    while (packed->producer)
        packed = packed->producer->inputs[0].value;

    return dtype_packed_bits(packed->type.type) && b->rank == 2 && b->dims[1] && b->dims[0] % STEPS == 0 &&
                   type_elements(&n->results[0]->type) >= ROWS_LEAST * b->dims[1]
               ? n
               : NULL;
}

/* Adds the types of what a value is computed of to a hash: those of weights do not depend on other sizes. */
static uint64_t hash_types(uint64_t h, const struct value *v)
{
    for (uint32_t i = 0; i < v->type.rank; i++)
        h = hash_mix(h, v->type.dims[i]);
    for (uint32_t i = 0; v->producer && i < v->producer->input_count; i++)
        h = v->producer->inputs[i].value ? hash_types(h, v->producer->inputs[i].value) : h;
    return h;
}

/* Appends the stage that unpacks: a plan keeps it, since it does not depend on rows. */
static bool append_unpack(struct builder *b)
{
    struct kept_stage *kept = b->n->cluster ? b->n->cluster->kept : NULL;
    const uint64_t types = kept ? hash_types(hash_mix((uint64_t)b->panel, (uint64_t)b->columns), b->n->inputs[1].value) : 0;
    struct stage st;

    if (kept && kept->kernel && kept->types == types)
        return stage_append(&b->stages, kernel_retain(kept->kernel), KSTAGE_ALWAYS);
    if (!stage_end(&st, stage_begin(&st, &b->stages) && make_unpack(&st, b), "unpack", KSTAGE_ALWAYS))
        return false;
    if (kept) {
        kernel_free(kept->kernel);
        *kept = (struct kept_stage){types, kernel_retain(b->stages.kernel->stages[0].kernel)};
    }
    return true;
}

struct kernel *lower_unpacked(const struct target *target, const struct node_table *t, uint32_t output_count,
                              struct value *const *outputs)
{
    struct builder b = {.n = target && !target->device ? find(t) : NULL};
    struct stage st;

    if (!b.n)
        return NULL;
    const struct node *from = b.n->inputs[1].value->producer;
    const struct tensor_type *weights = &b.n->inputs[1].value->type,
                             *packed = from->op == OP_RESHAPE ? &from->inputs[0].value->type : weights;
    const uint32_t last = packed->rank - 1, wide = weights->dims[1]; /* columns lie together in panels */
    b.panel = last && packed->dims[last - 1] * packed->dims[last] == wide ? packed->dims[last] : wide;
    b.columns = COLUMN_VECTORS * target_stage_lanes(target);
    b.columns = b.panel % b.columns ? b.panel : b.columns;
    if ((double)(weights->dims[0] * b.columns) * sizeof(float) > target_l2_bytes(target) / 2)
        return NULL;
    b.stages = (struct stages){.table = t,
                               .anchor = b.n,
                               .output_count = output_count,
                               .outputs = outputs,
                               .sizes_vary = target->sizes_vary,
                               .macro_tile_vars = 2,
                               .macro_tiles = {weights->dims[1] / b.panel, b.panel / b.columns}};
    if (!stages_begin(&b.stages, "matmul"))
        return NULL;
    stages_local(&b.stages, weights->dims[0] * b.columns);
    return stages_end(&b.stages, append_unpack(&b) && stage_end(&st, stage_begin(&st, &b.stages) && make_product(&st, &b),
                                                                "product", KSTAGE_ALWAYS));
}
