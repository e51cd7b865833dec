/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints transposes in square blocks of points (ir/schedule/schedule_gpu_block.c).
 *
 * In registers, an item loads a vector for each value of the last variable, turns the square over by taking two vectors apart
 * and together again, and computes a vector of points for each value of the other variable.  In local memory, a group does the
 * same line by line, with one element more in each line, so that a column is in as many banks as a line.
 */
#include "codegen/opencl/internal.h"

#include <inttypes.h>

/* Writes a condition: both variables' values are points. */
static void put_inside(struct printer *p, const char *last, const char *across)
{
    fprintf(p->out, "%s < ", last);
    put_size(p, p->k->parallel_count - 1);
    fprintf(p->out, " && %s < ", across);
    put_size(p, p->s->block.across);
}

static void put_values(struct printer *p, const char *last, const char *across)
{
    const char *type = opencl_index_type(p);

    put_line(p, "const %s x%" PRIu32 " = %s, x%" PRIu32 " = %s;", type, p->k->parallel_count - 1, last, p->s->block.across,
             across);
}

/* ---- in registers ---- */

/* Computes the points of a block beyond which there are none, one by one. */
static void put_edge(struct printer *p)
{
    const uint32_t last = p->k->parallel_count - 1, across = p->s->block.across, side = p->s->block.side;
    const char *type = opencl_index_type(p);
    struct scope scope;

    fprintf(p->out, "%*sif (!(", (int)p->indent * 2, "");
    put_inside(p, "last", "across");
    fputs(")) {\n", p->out);
    scope_enter(p, &scope);
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t var = i ? last : across;

        fprintf(p->out, "%*sfor (%s x%" PRIu32 " = id%d; x%" PRIu32 " < id%d + %" PRIu32 " && x%" PRIu32 " < ",
                (int)p->indent * 2, "", type, var, i ? 0 : 1, var, i ? 0 : 1, side, var);
        put_size(p, var);
        fprintf(p->out, "; x%" PRIu32 "++)%s\n", var, i ? " {" : "");
    }
    p->lanes = 1;
    p->indent++;
    put_point(p);
    p->indent--;
    put_line(p, "}");
    put_line(p, "return;");
    scope_leave(p, &scope);
    put_line(p, "}");
}

static void put_registers(struct printer *p)
{
    const struct gpu_block *b = &p->s->block;
    const enum ktype type = p->k->exprs[b->transposed].type;
    const struct type_text vector = opencl_lane_type(type, b->side);
    uint32_t stage = 0;
    char last[32], across[32];
    struct scope scope;

    if (p->s->lane_tail) {
        put_line(p, "const %s last = id0 + %" PRIu32 ", across = id1 + %" PRIu32 ";", opencl_index_type(p), b->side - 1,
                 b->side - 1);
        put_edge(p);
    }
    for (uint32_t i = 0; i < b->side; i++) {
        snprintf(last, sizeof last, "id0 + %" PRIu32, i);
        put_line(p, "%s r0_%" PRIu32 ";", vector.text, i);
        put_line(p, "{");
        scope_enter(p, &scope);
        put_values(p, last, "id1");
        put_loaded_vector(p, b->transposed, b->side, "r0_", i);
        scope_leave(p, &scope);
        put_line(p, "}");
    }
    for (uint32_t n = 1; n < b->side; n *= 2, stage++)
        for (uint32_t i = 0; i < b->side / 2; i++)
            put_line(p,
                     "const %s r%" PRIu32 "_%" PRIu32 " = ZIP_LOW(r%" PRIu32 "_%" PRIu32 ", r%" PRIu32 "_%" PRIu32
                     "), r%" PRIu32 "_%" PRIu32 " = ZIP_HIGH(r%" PRIu32 "_%" PRIu32 ", r%" PRIu32 "_%" PRIu32 ");",
                     vector.text, stage + 1, 2 * i, stage, i, stage, i + b->side / 2, stage + 1, 2 * i + 1, stage, i, stage,
                     i + b->side / 2);
    for (uint32_t i = 0; i < b->side; i++) {
        snprintf(across, sizeof across, "id1 + %" PRIu32, i);
        put_line(p, "{");
        scope_enter(p, &scope);
        put_values(p, "id0", across);
        put_line(p, "const %s v%" PRIu32 " = r%" PRIu32 "_%" PRIu32 ";", vector.text, b->transposed, stage, i);
        p->expr_known[b->transposed] = true;
        p->lanes = b->side;
        put_point(p);
        scope_leave(p, &scope);
        put_line(p, "}");
    }
}

/* Writes what takes two vectors together: their elements in turns, of the lower halves or of the higher ones. */
static void put_zip(FILE *out, const char *name, uint32_t lanes, const char *type, uint32_t from)
{
    static const char digits[] = "0123456789abcdef";

    fprintf(out, "#ifdef __clang__\n#define %s(a, b) __builtin_shufflevector(a, b", name);
    for (uint32_t i = 0; i < lanes; i++)
        fprintf(out, ", %" PRIu32, from + i / 2 + (i % 2) * lanes);
    fprintf(out, ")\n#else\n#define %s(a, b) (%s)(", name, type);
    for (uint32_t i = 0; i < lanes; i++)
        fprintf(out, "%s(%s).s%c", i ? ", " : "", i % 2 ? "b" : "a", digits[from + i / 2]);
    fputs(")\n#endif\n", out);
}

void put_block_functions(FILE *out, const struct kernel *k, const struct gpu_schedule *s)
{
    const uint32_t lanes = s->block.side;

    if (s->shape != GPU_BLOCKS || s->block.local_memory)
        return;
    const struct type_text type = opencl_lane_type(k->exprs[s->block.transposed].type, lanes);
    fputs("#undef ZIP_LOW\n#undef ZIP_HIGH\n", out);
    put_zip(out, "ZIP_LOW", lanes, type.text, 0);
    put_zip(out, "ZIP_HIGH", lanes, type.text, lanes / 2);
}

/* ---- in local memory ---- */

/* Begins a loop over the lines of a block that an item has a part of, with the variables' values if they are points. */
static void open_lines(struct printer *p, const char *last, const char *across, struct scope *scope)
{
    char x_last[16], x_across[16];

    put_line(p, "for (uint line = get_local_id(1); line < %" PRIu32 "; line += %" PRIu32 ") {", p->s->block.side,
             p->s->local[1]);
    scope_enter(p, scope);
    put_values(p, last, across);
    fprintf(p->out, "%*sif (", (int)p->indent * 2, "");
    snprintf(x_last, sizeof x_last, "x%" PRIu32, p->k->parallel_count - 1);
    snprintf(x_across, sizeof x_across, "x%" PRIu32, p->s->block.across);
    put_inside(p, x_last, x_across);
    fputs(") {\n", p->out);
    p->indent++;
}

static void close_lines(struct printer *p, const struct scope *scope)
{
    p->indent--;
    put_line(p, "}");
    scope_leave(p, scope);
    put_line(p, "}");
}

static void put_local_memory(struct printer *p)
{
    const struct gpu_block *b = &p->s->block;
    const char *type = opencl_value_type(p->k->exprs[b->transposed].type), *index = opencl_index_type(p);
    const uint32_t line = b->side + 1;
    struct scope scope;

    put_line(p, "__local %s block[%" PRIu32 "];", type, b->side * line);
    put_line(p, "const uint at = get_local_id(0);");
    put_line(p, "const %s id0 = (%s)get_group_id(0) * %" PRIu32 ", id1 = (%s)get_group_id(1) * %" PRIu32 ";", index, index,
             b->side, index, b->side);
    open_lines(p, "id0 + line", "id1 + at", &scope);
    need_expr(p, b->transposed);
    put_line(p, "block[line * %" PRIu32 " + at] = v%" PRIu32 ";", line, b->transposed);
    close_lines(p, &scope);
    put_line(p, "barrier(CLK_LOCAL_MEM_FENCE);");
    open_lines(p, "id0 + at", "id1 + line", &scope);
    put_line(p, "const %s v%" PRIu32 " = block[at * %" PRIu32 " + line];", type, b->transposed, line);
    p->expr_known[b->transposed] = true;
    put_point(p);
    close_lines(p, &scope);
}

/* ---- both ---- */

void put_turned_blocks(struct printer *p)
{
    const char *type = opencl_index_type(p);

    put_line(p, "const %s id2 = (%s)get_global_id(2);", type, type);
    put_decode(p, &p->s->dimensions[2], "id2", "");
    p->lanes = 1;
    if (p->s->block.local_memory) {
        put_local_memory(p);
        return;
    }
    for (uint32_t d = 0; d < 2; d++) {
        put_line(p, "const %s id%" PRIu32 " = (%s)get_global_id(%" PRIu32 ") * %" PRIu32 ";", type, d, type, d,
                 p->s->block.side);
        fprintf(p->out, "%*sif (id%" PRIu32 " >= ", (int)p->indent * 2, "", d);
        put_size(p, p->s->dimensions[d].vars[0]);
        fputs(") return;\n", p->out);
    }
    put_registers(p);
}
