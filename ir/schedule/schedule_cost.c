/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what a kernel costs on a machine: its arithmetic, in additions, and the bytes that it reads and writes.  From a finished
 * kernel and the machine's facts it finds the cost of single expressions, which the other parts of the schedule weigh, and the
 * estimates by which a kernel is divided among threads.
 */
#include "ir/schedule/schedule_internal.h"

bool expr_is_called(const struct kexpr *x)
{
    const enum operation_class class = kexpr_class(x);

    return class == OPERATION_TRIGONOMETRIC || class == OPERATION_POWER;
}

double cost_of_exponential(const struct schedule *s)
{
    return s->facts->operation.cost[OPERATION_EXPONENTIAL];
}

static struct kernel_cost cost_of_loops(const struct kernel *k, const struct target_facts *facts)
{
    const double parallel = kernel_points(k, KVAR_PARALLEL), reduced = kernel_points(k, KVAR_REDUCED);
    double touched[KERNEL_TENSORS_MAX] = {0};
    struct kernel_cost cost = {0, 0};
    const bool multiplies = kernel_multiplies(k);
    bool computes = false;

    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        const double n = parallel * (x->varying || x->op == K_REDUCE || x->op == K_SCAN ? reduced : 1);

        /* Of a contraction the multiply-add alone counts, as two operations: loading its operands costs nothing. */
        if (x->op == K_REDUCE && x->reduce == KR_DOT)
            cost.operations += 2 * n;
        else if (!multiplies || x->op != K_LOAD || !x->varying)
            cost.operations += facts->operation.cost[kexpr_class(x)] * n;
        computes |= x->op != K_LOAD && x->op != K_CONST && x->op != K_INDEX;
        if (x->op == K_LOAD && touched[x->tensor] < n)
            touched[x->tensor] = n;
    }
    for (uint32_t i = 0; i < k->store_count; i++)
        touched[k->stores[i].tensor] += parallel * (k->stores[i].varying ? reduced : 1);
    if (!computes)
        cost.operations = 0;
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        const double elements = (double)k->tensors[i].elements;

        cost.bytes += (touched[i] < elements ? touched[i] : elements) * (double)dtype_size(k->tensors[i].type);
    }
    return cost;
}

double cost_of_operands(const struct kernel *k, const struct target_facts *facts)
{
    const double n = kernel_points(k, KVAR_PARALLEL) * kernel_points(k, KVAR_REDUCED);
    double operations = 0;

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].varying && k->exprs[i].op != K_LOAD)
            operations += facts->operation.cost[kexpr_class(&k->exprs[i])] * n;
    return operations;
}

/** Returns the sums of the stages that usually run; bytes of locals stay in the cache and do not count. */
static struct kernel_cost cost_of_stages(const struct kernel *k, const struct target_facts *facts)
{
    double touched[KERNEL_TENSORS_MAX] = {0};
    struct kernel_cost cost = {0, 0};

    for (uint32_t i = 0; i < k->stage_count; i++) {
        const struct kstage *stage = &k->stages[i];

        if (stage->when == KSTAGE_NOT_BELOW)
            continue;
        cost.operations += cost_of_loops(stage->kernel, facts).operations;
        for (uint32_t t = 0; t < stage->kernel->tensor_count; t++)
            if (stage->tensors[t] < KERNEL_TENSORS_MAX)
                touched[stage->tensors[t]] = (double)stage->kernel->tensors[t].elements;
    }
    for (uint32_t i = 0; i < k->tensor_count; i++)
        cost.bytes += touched[i] * (double)dtype_size(k->tensors[i].type);
    return cost;
}

struct kernel_cost kernel_cost(const struct kernel *k, const struct target_facts *facts)
{
    return k->stage_count ? cost_of_stages(k, facts) : cost_of_loops(k, facts);
}
