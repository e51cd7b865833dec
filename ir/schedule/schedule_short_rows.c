/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses loads and stores of rows that are shorter than a vector, such as a softmax over ten classes has: as many rows as a
 * vector has lanes are taken by whole vectors, which the code generator transposes by shuffles of two vectors.
 */
#include "ir/schedule/schedule_internal.h"

/** Returns how many shuffles take n vectors apart or put them together (codegen/lower/interleave.c). */
static uint32_t shuffles(uint32_t n)
{
    return schedule_splits_rows(n) ? n + 2 * shuffles(n / 2) : n * (n - 1);
}

/** Returns whether the kernel may become register tiles, which load otherwise: it sums up products that are no squares. */
static bool may_be_tiled(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (x->op == K_REDUCE && x->reduce == KR_DOT && x->args[0] != x->args[1])
            return true;
    }
    return false;
}

bool elements_are_wide(const struct schedule *s)
{
    const struct kernel *k = s->kernel;

    for (uint32_t i = 0; i < k->expr_count; i++)
        if (s->exprs[i].row_buffer >= 0 && ktype_size(k->exprs[i].type) < 4)
            return false;
    for (uint32_t i = 0; i < k->tensor_count; i++)
        if (dtype_size(k->tensors[i].type) < 4)
            return false;
    return true;
}

/** Returns what loading or storing a vector of such rows costs, in vectors: itself, a row buffer's accesses, its shuffles. */
static double row_cost(const struct schedule *s, const struct isa *isa, uint32_t size)
{
    return 3 + (isa->ternary_shuffles ? 1 : s->facts->loop.shuffle_cost) * (double)shuffles(size) / size;
}

/** Returns the size of the rows, or 0 if the kernel has none that are short enough, if the processor does not shuffle vectors
 * or has no masks for the rest of them, or if gathering a vector costs no more. */
static uint32_t row_size(const struct schedule *s, const struct isa *isa)
{
    const struct kernel *k = s->kernel;
    const struct kvar *r = &k->vars[k->parallel_count];

    if (!isa->permutes || k->reduced_count != 1 || k->macro_tile_vars || k->rare || r->bounded || r->size < 2 ||
        r->size > SCHEDULE_SHORT_ROW_MAX || (!isa->masks && !elements_are_wide(s)) || may_be_tiled(k) ||
        kernel_stores_in_order(k) || row_cost(s, isa, (uint32_t)r->size) >= s->facts->loop.assumed_lanes)
        return 0;
    return (uint32_t)r->size;
}

static bool is_short(const struct schedule *s, const struct isa *isa, const struct kaffine *address, uint32_t guard_count,
                     uint32_t tensor, uint32_t var)
{
    const struct kernel *k = s->kernel;
    const uint32_t size = row_size(s, isa);
    const size_t bytes = dtype_size(k->tensors[tensor].type);

    return size && var < k->parallel_count && k->vars[var].size >= s->facts->loop.row_lanes && !guard_count &&
           (bytes == 2 || bytes == 4) && kaffine_coefficient(*address, var) == size &&
           kaffine_coefficient(*address, k->parallel_count) == 1 && !kaffine_may_derive(k, *address, var) &&
           !kaffine_may_derive(k, *address, k->parallel_count);
}

double short_row_cost(const struct schedule *s, const struct isa *isa, const struct kaffine *address, uint32_t guard_count,
                      uint32_t tensor, uint32_t var)
{
    return is_short(s, isa, address, guard_count, tensor, var) ? row_cost(s, isa, row_size(s, isa)) : 0;
}

/** Returns whether some store is of short rows, which nothing else does without scattering. */
static bool has_short_stores(const struct schedule *s, const struct isa *isa)
{
    for (uint32_t i = 0; i < s->kernel->store_count; i++) {
        const struct kstore *store = &s->kernel->stores[i];
        if (store->varying && is_short(s, isa, &store->index, store->guard_count, store->tensor, s->vector_var))
            return true;
    }
    return false;
}

bool short_rows_choose(struct schedule *s, const struct isa *isa)
{
    const struct kernel *k = s->kernel;
    const uint32_t size = s->vector_var == KEXPR_NONE || s->tiled ? 0 : row_size(s, isa);
    const int64_t buffer = target_align((int64_t)size * s->facts->loop.row_lanes * (int64_t)sizeof(uint64_t));
    uint32_t count = s->row_buffers.count;

    s->row_buffers.short_rows.stores = arena_array(&s->arena, k->store_count + 1, sizeof *s->row_buffers.short_rows.stores);
    if (!s->row_buffers.short_rows.stores)
        return false;
    for (uint32_t i = 0; i < k->store_count; i++)
        s->row_buffers.short_rows.stores[i] = -1;
    if (!size || (size <= s->facts->loop.strided_most && !has_short_stores(s, isa)))
        return true;
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        if (x->op != K_LOAD || !is_short(s, isa, &x->index, x->guard_count, x->tensor, s->vector_var) ||
            (count + 1) * buffer > s->facts->cache.row_bytes)
            continue;
        s->exprs[i].short_row = true;
        s->exprs[i].row_buffer = (int32_t)count++;
        s->row_buffers.short_rows.size = size;
    }
    for (uint32_t i = 0; i < k->store_count; i++) {
        const struct kstore *store = &k->stores[i];
        if (!store->varying || !is_short(s, isa, &store->index, store->guard_count, store->tensor, s->vector_var) ||
            (count + 1) * buffer > s->facts->cache.row_bytes)
            continue;
        s->row_buffers.short_rows.stores[i] = (int32_t)count++;
        s->row_buffers.short_rows.size = size;
    }
    if (!s->row_buffers.short_rows.size)
        return true;
    if (s->row_buffers.element_bytes < sizeof(float))
        s->row_buffers.element_bytes = sizeof(float);
    s->row_buffers.lanes = s->facts->loop.row_lanes;
    s->row_buffers.count = count;
    s->row_buffers.bytes = target_align((int64_t)size * s->row_buffers.lanes * s->row_buffers.element_bytes) * count;
    return true;
}
