/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints transposes in square blocks of points (ir/schedule/schedule_gpu_block.c).
 *
 * In registers, an item loads a vector for each value of the last variable, transposes the square by interleaving pairs of
 * vectors, and computes a vector of points for each value of the other variable.  In local memory, a group does the
 * same line by line, with one element more in each line, so that a column is in as many banks as a line.
 */
#include "codegen/opencl/internal.h"

#include <string.h>

/* Returns the condition that both variables' values are points. */
static const char *inside_text(struct printer *p, const char *last, const char *across)
{
    return text_of(p, "%s < %s && %s < %s", last, size_text(p, p->k->parallel_count - 1), across,
                   size_text(p, p->s->block.across));
}

static void put_values(struct printer *p, const char *last, const char *across)
{
    put_line(p, "const $i x%u = %s, x%u = %s;", p->k->parallel_count - 1, last, p->s->block.across, across);
}

/* ---- in registers ---- */

/* Computes the points of a block beyond which there are none, one by one. */
static void put_edge(struct printer *p)
{
    const uint32_t last = p->k->parallel_count - 1, across = p->s->block.across, side = p->s->block.side;
    struct scope scope;

    open_scope(p, &scope, "if (!(%s)) {", inside_text(p, "last", "across"));
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t var = i ? last : across;

        put_line(p, "for ($i x%u = id%d; x%u < id%d + %u && x%u < %s; x%u++)%s", var, i ? 0 : 1, var, i ? 0 : 1, side, var,
                 size_text(p, var), var, i ? " {" : "");
    }
    p->lanes = 1;
    put_point(p);
    put_line(p, "}");
    put_line(p, "return;");
    close_scope(p, &scope);
}

/* Returns the elements of two vectors in turns, of the lower halves or of the higher ones. */
static V interleaved(struct printer *p, V a, V b, bool high)
{
    const uint32_t lanes = lanes_of(a);
    uint8_t from[LANES_MAX];

    for (uint32_t i = 0; i < lanes; i++)
        from[i] = (uint8_t)((high ? lanes / 2 : 0) + i / 2 + i % 2 * lanes);
    return loop_shuffle(&p->builder, a, b, from, lanes);
}

static void put_registers(struct printer *p)
{
    const struct gpu_block *b = &p->s->block;
    const uint32_t last = p->k->parallel_count - 1, side = b->side;
    V *at = p->e->frame.var_value, first = at[last], across = at[b->across], rows[LANES_MAX], next[LANES_MAX];
    struct scope scope;

    if (p->s->lane_tail) {
        put_line(p, "const $i last = id0 + %u, across = id1 + %u;", side - 1, side - 1);
        put_edge(p);
    }
    put_values(p, "id0", "id1");
    for (uint32_t i = 0; i < side; i++) {
        scope_enter(p, &scope);
        at[last] = op_add(&p->e->m, first, const_index(&p->e->m, i));
        rows[i] = loaded_vector(p, b->transposed, side);
        scope_leave(p, &scope);
    }
    at[last] = first;
    for (uint32_t n = 1; n < side; n *= 2) {
        for (uint32_t i = 0; i < side; i++)
            next[i] = interleaved(p, rows[i / 2], rows[i / 2 + side / 2], i % 2);
        memcpy(rows, next, sizeof rows);
    }
    for (uint32_t i = 0; i < side; i++)
        text_of_value(p, rows[i], false);
    p->lanes = side;
    for (uint32_t i = 0; i < side; i++) {
        open_scope(p, &scope, "{");
        at[b->across] = op_add(&p->e->m, across, const_index(&p->e->m, i));
        know_value(p, b->transposed, rows[i]);
        put_point(p);
        close_scope(p, &scope);
    }
}

/* ---- in local memory ---- */

/* Begins a loop over the lines of a block that an item has a part of, with the variables' values if they are points. */
static void open_lines(struct printer *p, const char *last, const char *across, struct scope *scope)
{
    open_scope(p, scope, "for (uint line = get_local_id(1); line < %u; line += %u) {", p->s->block.side, p->s->local[1]);
    put_values(p, last, across);
    put_line(p, "if (%s) {",
             inside_text(p, text_of(p, "x%u", p->k->parallel_count - 1), text_of(p, "x%u", p->s->block.across)));
}

static void close_lines(struct printer *p, const struct scope *scope)
{
    put_line(p, "}");
    close_scope(p, scope);
}

static void put_local_memory(struct printer *p)
{
    const struct gpu_block *b = &p->s->block;
    const char *type = opencl_value_type(p, p->k->exprs[b->transposed].type);
    const uint32_t line = b->side + 1;
    struct scope scope;

    put_line(p, "__local %s block[%u];", type, b->side * line);
    put_line(p, "const uint at = get_local_id(0);");
    put_line(p, "const $i id0 = ($i)get_group_id(0) * %u, id1 = ($i)get_group_id(1) * %u;", b->side, b->side);
    open_lines(p, "id0 + line", "id1 + at", &scope);
    need_expr(p, b->transposed);
    put_line(p, "block[line * %u + at] = v%u;", line, b->transposed);
    close_lines(p, &scope);
    put_barrier(p);
    open_lines(p, "id0 + at", "id1 + line", &scope);
    put_line(p, "const %s v%u = block[at * %u + line];", type, b->transposed, line);
    know_expr(p, b->transposed);
    put_point(p);
    close_lines(p, &scope);
}

/* ---- both ---- */

void put_transposed_blocks(struct printer *p)
{
    put_line(p, "const $i id2 = ($i)get_global_id(2);");
    put_decode(p, &p->s->dimensions[2], "id2", "");
    p->lanes = 1;
    if (p->s->block.local_memory) {
        put_local_memory(p);
        return;
    }
    for (uint32_t d = 0; d < 2; d++) {
        put_line(p, "const $i id%u = ($i)get_global_id(%u) * %u;", d, d, p->s->block.side);
        put_line(p, "if (id%u >= %s) return;", d, size_text(p, p->s->dimensions[d].vars[0]));
    }
    put_registers(p);
}
