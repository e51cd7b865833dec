/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints whole kernels: the function's head, the index space.
 */
#include "codegen/opencl/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- the index space ---- */

/* Declares a dimension's variables from its index, and returns from items beyond the end. */
static void put_dimension(struct printer *p, uint32_t d)
{
    const struct gpu_schedule *s = p->s;
    const struct gpu_vars *vars = &s->dimensions[d];
    const bool vectors = !d && s->lane_var != KEXPR_NONE && vars->count && vars->vars[0] == s->lane_var;
    if (!vars->count)
        return;
    const char *id = text_of(p, "id%u", d);
    put_line(p, "const $i %s = ($i)get_global_id(%u)%s;", id, d, vectors ? text_of(p, " * %u", s->lanes) : "");
    if (s->partial[d])
        put_line(p, "if (%s >= %s) return;", id, product_text(p, vars));
    if (!vectors)
        put_decode(p, vars, id, "");
}

static void put_local_arrays(struct printer *p)
{
    for (uint32_t i = 0; i < p->k->expr_count; i++) {
        const struct kexpr *e = &p->k->exprs[i];
        if (e->op != K_REDUCE)
            continue;
        put_line(p, "__local %s all%u[%u];", opencl_value_type(p, p->k->exprs[e->args[0]].type), i, p->s->local[0]);
        if (kexpr_is_place(e))
            put_line(p, "__local long where%u[%u];", i, p->s->local[0]);
    }
}

static void put_kernel(struct printer *p)
{
    const bool vectors = p->s->lane_var != KEXPR_NONE;

    if (p->s->shape == GPU_TILES) {
        if (p->s->tile.matrix.subgroups_m)
            put_matrix_tiles(p);
        else
            put_tiles(p);
        return;
    }
    if (p->s->shape == GPU_BLOCKS) {
        put_transposed_blocks(p);
        return;
    }
    if (p->s->shape == GPU_ROWS) {
        put_local_arrays(p);
        put_line(p, "const uint item = (uint)get_local_id(0);");
        put_line(p, "const $i row = ($i)get_group_id(0);");
        put_decode(p, &p->s->dimensions[0], "row", "");
    } else {
        for (uint32_t d = 0; d < GPU_DIMENSIONS; d++)
            put_dimension(p, d);
    }
    if (vectors && p->k->vars[p->s->lane_var].kind == KVAR_PARALLEL) {
        put_vector_point(p, "return;");
        return;
    }
    p->lanes = p->s->lanes;
    put_point(p);
}

/* ---- the function ---- */

/* Writes the lines of a body with their indentation, and the type of indices for "$i". */
static void put_indented(FILE *out, const char *body, const char *index_type)
{
    int depth = 1;

    for (const char *next; *body; body = next) {
        next = body + strcspn(body, "\n") + 1;
        for (const char *c = body; *c == '}' || *c == ' '; c++)
            depth -= *c == '}';
        fprintf(out, "%*s", depth * 2, "");
        for (const char *c = body; *c == '}' || *c == ' '; c++)
            depth += *c == '}';
        for (; body < next; body++) {
            depth += *body == '{' ? 1 : *body == '}' ? -1 : 0;
            if (body[0] == '$' && body[1] == 'i')
                fputs((body++, index_type), out);
            else
                fputc(*body, out);
        }
    }
}

static void put_head(struct printer *p, const char *name, uint32_t params)
{
    const struct kernel *k = p->k;
    const struct gpu_schedule *s = p->s;
    const char *separator = "";

    put(p, "__kernel __attribute__((reqd_work_group_size(%u, %u, %u)))\nvoid %s(", s->local[0], s->local[1], s->local[2], name);
    for (uint32_t i = 0; i < k->tensor_count; i++, separator = ", ")
        put(p, "%s__global uchar *b%u, ulong o%u", separator, i, i);
    if (k->stage_count) {
        put(p, "%s__global uchar *bs, ulong os", separator);
        separator = ", ";
    }
    for (uint32_t i = 0; i < params; i++, separator = ", ")
        put(p, "%s%s p%u", separator, s->wide ? "long" : "int", i);
    put_line(p, ")\n{");
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        const char *type =
            text_of(p, "%s%s", k->tensors[i].written ? "" : "const ", opencl_storage_type(p, k->tensors[i].type));
        put_line(p, "  __global %s *t%u = (__global %s *)(b%u + o%u);", type, i, type, i, i);
    }
}

/* Every device takes so many bytes of arguments. */
enum { ARGUMENT_BYTES = 1024 };

/* Returns whether the parameters of all stages together have room among the arguments; else numbers become literals. */
static bool has_room(const struct kernel *k, const struct gpu_schedule *s, struct arena *a)
{
    const size_t size = s->wide ? sizeof(int64_t) : sizeof(int32_t);
    size_t bytes = (size_t)k->tensor_count * 2 * sizeof(uint64_t) + (k->stage_count ? 2 * sizeof(uint64_t) : 0);
    struct knumbers numbers;

    for (uint32_t i = 0; i < (k->stage_count ? k->stage_count : 1); i++)
        if (kernel_numbers(k->stage_count ? k->stages[i].kernel : k, KEXPR_NONE, a, &numbers))
            bytes += numbers.param_count * size;
    return bytes <= ARGUMENT_BYTES;
}

/* Writes the body of a kernel without stages, or of all stages.  The head comes later, when all parameters are known. */
static bool put_bodies(FILE *body, const struct kernel *k, const struct gpu_schedule *s, struct opencl_source *out,
                       struct operations *operations, struct arena *arena)
{
    struct printer p = {
        .out = body, .k = k, .s = s, .operations = operations, .arena = arena, .literals = !has_room(k, s, arena)};

    if (!k->stage_count) {
        bool good = printer_number(&p, arena) && (p.literals || printer_append_params(out, &p.e->info.numbers));
        if (good)
            put_kernel(&p);
        printer_end(&p);
        return good && !p.failed;
    }
    return put_stages(&p, out);
}

/* Writes what the body calls. */
static void put_callees(struct printer *p)
{
    if (p->s->tile.matrix.subgroups_m)
        fputs(opencl_matrix_functions, p->out);
    for (uint32_t lanes = 2; lanes <= GPU_LANES_MAX; lanes *= 2) {
        bool has = p->s->lanes == lanes;
        for (uint32_t i = 0; i < p->k->stage_count; i++)
            has |= p->s->stages[i].lanes == lanes;
        if (has)
            put_lane_functions(p->out, lanes);
    }
    put_functions(p);
}

bool opencl_print(const struct kernel *k, const struct gpu_schedule *s, const char *name, struct opencl_source *out,
                  struct error *e)
{
    struct arena arena = {0};
    struct operations operations = {0};
    char *body_text = NULL;
    size_t body_size = 0, text_size = 0;
    FILE *body = open_memstream(&body_text, &body_size), *text;
    bool good = body != NULL;

    *out = (struct opencl_source){0};
    good = good && put_bodies(body, k, s, out, &operations, &arena);
    good = (body && fclose(body) == 0) && good;
    text = good ? open_memstream(&out->text, &text_size) : NULL;
    if (text) {
        struct printer p = {.out = text, .k = k, .s = s, .operations = &operations, .arena = &arena};
        put_callees(&p);
        put_head(&p, name, out->param_count);
        put_indented(text, body_text, s->wide ? "long" : "int");
        fputs("}\n", text);
        good = !p.failed;
    }
    good = text && !ferror(text) && fclose(text) == 0 && good;
    free(body_text);
    loop_module_free(&operations.module);
    arena_free(&arena);
    if (!good) {
        opencl_source_free(out);
        return error_out_of_memory(e);
    }
    return true;
}

void opencl_source_free(struct opencl_source *s)
{
    free(s->text);
    free(s->params);
    *s = (struct opencl_source){0};
}
