/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Chooses tiles of contractions that multiply bytes on devices with an instruction for four products (struct gpu_facts.dots).
 *
 * Both operands are read as words of four bytes that are neighbours along K.  The sums of a block are integers, which are
 * exact, so that rounding begins where a block's sum is multiplied by its factors: one addition for each block is what
 * sum_split and sum_steps count.
 */
#include "ir/schedule/schedule_gpu_internal.h"
#include "ir/schedule/schedule_internal.h"

/* ---- the kernel ---- */

/* Returns whether the four bytes that the innermost loop goes over begin at a multiple of four, wherever the other loops are.
 */
static bool is_in_words(const struct kernel *k, const struct kexpr *load, uint32_t word_vars)
{
    const uint32_t end = k->parallel_count + k->reduced_count;

    for (uint32_t var = end - word_vars; var < end; var++)
        if (form_derives_from(k, &load->index, var))
            return false;
    for (uint32_t i = 0; i < load->index.count; i++)
        if (load->index.terms[i].var != end - 1 && load->index.terms[i].coefficient % BYTE_WORD)
            return false;
    return !k->tensors[load->tensor].uneven && load->index.offset % BYTE_WORD == 0;
}

void gpu_find_bytes(const struct gpu_context *c, const bool *a_along, const bool *b_along, struct gpu_tile *t)
{
    const struct kernel *k = c->k;
    const uint32_t n = k->parallel_count - 1;
    struct byte_products p;
    uint32_t depth;

    t->bytes = (struct byte_products){.a = KEXPR_NONE};
    if (!c->device->dots || c->stage_items || a_along[n] || !b_along[n] ||
        !byte_products_find(k, &k->exprs[t->dot], n, &p, &depth))
        return;
    const uint32_t word_vars = byte_products_word_vars(&p);
    if (!is_in_words(k, &k->exprs[p.a], word_vars) || (p.whole && !is_in_words(k, &k->exprs[p.words], word_vars)))
        return;
    p.columns = !byte_products_a_is_signed(&p);
    t->bytes = p;
    t->factor_depth = depth;
}

/* ---- tiles from global memory ---- */

void gpu_split_bytes(const struct kernel *k, struct gpu_schedule *s)
{
    const struct gpu_tile *t = &s->tile;

    if (t->bytes.a == KEXPR_NONE)
        return;
    s->sum_split = t->factor_depth ? t->factor_depth - 1 : KEXPR_NONE;
    s->sum_steps = GPU_TILE_SUM_STEPS / (uint32_t)iterations_of(k, t->factor_depth, k->reduced_count);
    s->sum_steps = s->sum_steps ? s->sum_steps : 1;
}

/* ---- tiles from local memory ---- */

static uint32_t bytes_of(const struct gpu_tile *t, uint32_t words, uint32_t blocks)
{
    const uint32_t rows = t->items_m * t->rows, columns = t->items_n * t->vectors;

    return (uint32_t)sizeof(float) * ((rows + columns) * words + (rows + 2 * columns) * blocks);
}

void gpu_lay_bytes(const struct gpu_context *c, struct gpu_schedule *s)
{
    const struct kernel *k = c->k;
    struct gpu_tile *t = &s->tile;
    uint32_t blocks = 1;

    if (t->bytes.a == KEXPR_NONE)
        return;
    t->bytes.columns = t->bytes.columns || (t->bytes.zero != KEXPR_NONE && byte_products_zero_is_small(k, &t->bytes));
    int64_t block = iterations_of(k, t->factor_depth, k->reduced_count) / BYTE_WORD;
    while (t->k_tile > 2 && bytes_of(t, t->k_tile, 1) > c->device->local_bytes)
        t->k_tile /= 2;
    if (block <= t->k_tile) {
        while (block * (blocks + 1) <= t->k_tile &&
               bytes_of(t, (uint32_t)block * (blocks + 1), blocks + 1) <= c->device->local_bytes)
            blocks++;
        t->k_tile = (uint32_t)block * blocks;
    }
    s->sum_split = iterations_of(k, 0, t->factor_depth) > GPU_TILE_SUM_STEPS ? 0 : KEXPR_NONE;
    s->sum_steps = GPU_TILE_SUM_STEPS;
}
