/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints transposes in square blocks of points (ir/schedule/schedule_gpu_block.c).
 *
 * In registers, an item loads a vector for each value of the last variable, transposes the square by interleaving pairs of
 * vectors, and computes a vector of points for each value of the other variable.  In local memory, a group does the
 * same line by line, with one element more in each line, so that a column is in as many banks as a line.
 */
#include "codegen/opencl/internal.h"

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

static void put_registers(struct printer *p)
{
    const struct gpu_block *b = &p->s->block;
    const enum ktype type = p->k->exprs[b->transposed].type;
    const char *vector = opencl_lane_type(p, type, b->side);
    uint32_t stage = 0;
    struct scope scope;

    if (p->s->lane_tail) {
        put_line(p, "const $i last = id0 + %u, across = id1 + %u;", b->side - 1, b->side - 1);
        put_edge(p);
    }
    for (uint32_t i = 0; i < b->side; i++) {
        put_line(p, "%s r0_%u;", vector, i);
        open_scope(p, &scope, "{");
        put_values(p, text_of(p, "id0 + %u", i), "id1");
        put_loaded_vector(p, b->transposed, b->side, text_of(p, "r0_%u", i));
        close_scope(p, &scope);
    }
    for (uint32_t n = 1; n < b->side; n *= 2, stage++)
        for (uint32_t i = 0; i < b->side / 2; i++)
            put_line(p, "const %s r%u_%u = ZIP_LOW(r%u_%u, r%u_%u), r%u_%u = ZIP_HIGH(r%u_%u, r%u_%u);", vector, stage + 1,
                     2 * i, stage, i, stage, i + b->side / 2, stage + 1, 2 * i + 1, stage, i, stage, i + b->side / 2);
    for (uint32_t i = 0; i < b->side; i++) {
        open_scope(p, &scope, "{");
        put_values(p, "id0", text_of(p, "id1 + %u", i));
        put_line(p, "const %s v%u = r%u_%u;", vector, b->transposed, stage, i);
        p->expr_known[b->transposed] = true;
        p->lanes = b->side;
        put_point(p);
        close_scope(p, &scope);
    }
}

/* Writes what takes two vectors together: their elements in turns, of the lower halves or of the higher ones. */
static void put_zip(FILE *out, const char *name, uint32_t lanes, const char *type, uint32_t from)
{
    static const char digits[] = "0123456789abcdef";

    fprintf(out, "#ifdef __clang__\n#define %s(a, b) __builtin_shufflevector(a, b", name);
    for (uint32_t i = 0; i < lanes; i++)
        fprintf(out, ", %u", from + i / 2 + (i % 2) * lanes);
    fprintf(out, ")\n#else\n#define %s(a, b) (%s)(", name, type);
    for (uint32_t i = 0; i < lanes; i++)
        fprintf(out, "%s(%s).s%c", i ? ", " : "", i % 2 ? "b" : "a", digits[from + i / 2]);
    fputs(")\n#endif\n", out);
}

void put_block_functions(struct printer *p)
{
    const uint32_t lanes = p->s->block.side;

    if (p->s->shape != GPU_BLOCKS || p->s->block.local_memory)
        return;
    const char *type = opencl_lane_type(p, p->k->exprs[p->s->block.transposed].type, lanes);
    fputs("#undef ZIP_LOW\n#undef ZIP_HIGH\n", p->out);
    put_zip(p->out, "ZIP_LOW", lanes, type, 0);
    put_zip(p->out, "ZIP_HIGH", lanes, type, lanes / 2);
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
    p->expr_known[b->transposed] = true;
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
