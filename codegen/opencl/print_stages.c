/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints kernels of stages: kernels of GPU_STAGES.
 *
 * A group computes neighbouring macro-tiles one after the other, so that a stage whose results serve several of them runs once
 * for these.  For each macro-tile `tile` all stages follow one another, with barriers between them where a group has several
 * items.  An item's number in its group is `id`.
 *
 * A local tensor is local<number>, an array in local memory or a pointer into the group's part of scratch.  Of a stage that has
 * a bounded variable, `first` is the first value of it that counts, and `bound` how many do.
 */
#include "codegen/opencl/internal.h"

#include <inttypes.h>

/* ---- how items share a stage ---- */

static void put_shared_points(struct printer *p, const struct gpu_vars *fixed, const struct gpu_vars *rest)
{
    const uint32_t var = p->s->lane_var;
    const bool vectors = var != KEXPR_NONE && p->k->vars[var].kind == KVAR_PARALLEL;
    struct gpu_vars outer = *rest;
    struct scope scope;

    if (vectors) {
        outer.count--;
        put_line(p, "const $i vectors = (%s + %u) / %u;", size_text(p, var), p->s->lanes - 1, p->s->lanes);
    }
    open_scope(p, &scope, "for ($i point = id; point < %s%s; point += %u) {", vectors ? "vectors * " : "",
               product_text(p, &outer), p->s->local[0]);
    put_decode(p, fixed, "tile", "");
    if (vectors) {
        put_line(p, "const $i id0 = point %% vectors * %u, other = point / vectors;", p->s->lanes);
        put_decode(p, &outer, "other", "");
        put_vector_point(p, "continue;");
    } else {
        put_decode(p, &outer, "point", "");
        p->lanes = p->s->lanes;
        put_point(p);
    }
    close_scope(p, &scope);
}

/* Writes the points of a stage, as many at once as the group has times the items that share the iterations of one.  All items
 * stay together, because they combine what they have reduced. */
static void put_shared_rows(struct printer *p, const struct gpu_stage *s, const struct gpu_vars *fixed,
                            const struct gpu_vars *rest)
{
    const uint32_t items = p->s->local[0], at_once = items / s->row_items;
    const struct gpu_schedule *group = p->s;
    struct gpu_schedule own = *group;
    struct scope scope;

    put_line(p, "const $i points = %s;", product_text(p, rest));
    put_line(p, "const $i slot = id %% %u, item = id / %u;", at_once, at_once);
    for (uint32_t i = 0; i < p->k->expr_count; i++)
        if (p->k->exprs[i].op == K_REDUCE) {
            const char *t = opencl_value_type(p, p->k->exprs[p->k->exprs[i].args[0]].type);
            put_line(p, "__local %s *all%u = (__local %s *)shared + slot * %u;", t, i, t, s->row_items);
        }
    open_scope(p, &scope, "for ($i begin = 0; begin < points; begin += %u) {", at_once);
    put_line(p, "const int has_point = begin + slot < points;");
    put_line(p, "const $i point = has_point ? begin + slot : 0;");
    put_decode(p, fixed, "tile", "");
    put_decode(p, rest, "point", "");
    own.local[0] = s->row_items;
    p->s = &own;
    put_point(p);
    p->s = group;
    close_scope(p, &scope);
}

/* ---- stages ---- */

static void put_stage(struct printer *p, const struct kstage *stage, const struct gpu_stage *s, uint32_t bound)
{
    struct gpu_vars fixed = {.count = p->k->macro_tile_vars}, rest = {.count = p->k->parallel_count - fixed.count};

    for (uint32_t i = 0; i < p->k->parallel_count; i++)
        *(i < fixed.count ? &fixed.vars[i] : &rest.vars[i - fixed.count]) = i;
    if (stage->when)
        put_line(p, "if (%s(local%u[0] < as_float(0x%08xu)))", stage->when == KSTAGE_BELOW ? "" : "!", stage->predicate,
                 (union scalar){.f32 = stage->limit}.u32);
    if (stage->period > 1)
        put_line(p, "if (tile == first_tile || tile %% %" PRId64 " == 0)", stage->period);
    put_line(p, "{");
    if (bound != UINT32_MAX)
        put_line(p, "const $i first = ($i)local%1$u[0], bound = ($i)local%1$u[1] - first;", bound);
    if (s->shape == GPU_TILES)
        put_stage_tiles(p, &fixed);
    else if (s->shape == GPU_ROWS)
        put_shared_rows(p, s, &fixed, &rest);
    else
        put_shared_points(p, &fixed, &rest);
    put_line(p, "}");
    if (p->s->local[0] > 1)
        put_line(p, "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
}

/* Returns the local tensor that bounds a stage's variable, or UINT32_MAX if there is none. */
static uint32_t bound_of(const struct kstage *stage)
{
    const struct kernel *k = stage->kernel;

    return kernel_find_bounded(k) == KEXPR_NONE ? UINT32_MAX : stage->tensors[k->bound] - KERNEL_TENSORS_MAX;
}

static void put_locals(struct printer *p)
{
    const struct kernel *k = p->k;
    const struct gpu_schedule *s = p->s;
    bool combines = false;

    for (uint32_t i = 0; i < k->local_count; i++) {
        const char *t = opencl_storage_type(p, k->locals[i].type);
        if (s->locals[i].in_local_memory)
            put_line(p, "__local %s local%u[%" PRId64 "];", t, i, k->locals[i].elements);
        else
            put_line(p, "__global %s *local%u = (__global %s *)(bs + os + get_group_id(0) * %" PRId64 "ul + %" PRId64 "ul);", t,
                     i, t, s->group_scratch_bytes, s->locals[i].offset);
    }
    for (uint32_t i = 0; i < k->stage_count; i++)
        combines |= s->stages[i].shape == GPU_ROWS;
    if (combines)
        put_line(p, "__local uint shared[%u];", s->local[0]);
}

static void put_macro_tiles(struct printer *p)
{
    const int64_t tiles = kernel_macro_tiles(p->k->stages[0].kernel);

    put_line(p, "const $i id = ($i)get_local_id(0);");
    put_line(p, "const $i first_tile = ($i)(get_group_id(0) * %" PRId64 "ul / get_num_groups(0));", tiles);
    put_line(p, "const $i last_tile = ($i)((get_group_id(0) + 1) * %" PRId64 "ul / get_num_groups(0));", tiles);
    put_line(p, "for ($i tile = first_tile; tile < last_tile; tile++) {");
}

bool put_stages(struct printer *p, struct opencl_source *out)
{
    const struct kernel *k = p->k;

    put_locals(p);
    put_macro_tiles(p);
    for (uint32_t i = 0; i < k->stage_count; i++) {
        const struct gpu_stage *s = &p->s->stages[i];
        struct gpu_schedule own = *p->s;
        struct printer stage = {.out = p->out,
                                .k = k->stages[i].kernel,
                                .s = &own,
                                .operations = p->operations,
                                .literals = p->literals,
                                .first_param = out->param_count,
                                .tensor_names = k->stages[i].tensors};
        own.shape = s->shape;
        own.lane_var = s->lane_var;
        own.lanes = s->lanes;
        own.lane_tail = s->lane_tail;
        own.sum_split = s->sum_split;
        own.sum_steps = s->sum_steps;
        own.tile = s->tile;
        bool good = printer_number(&stage, p->arena) && (p->literals || printer_append_params(out, &stage.e->info.numbers));
        if (good)
            put_stage(&stage, &k->stages[i], s, bound_of(&k->stages[i]));
        printer_end(&stage);
        if (!good || stage.failed)
            return false;
    }
    put_line(p, "}");
    return true;
}
