/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints whole kernels: the function's head, the index space.
 */
#include "codegen/opencl/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the index space ---- */

/* Declares a dimension's variables from its index, and returns from items beyond the end. */
static void put_dimension(struct printer *p, uint32_t d)
{
    const struct gpu_schedule *s = p->s;
    const struct gpu_vars *vars = &s->dimensions[d];
    const bool vectors = !d && s->lane_var != KEXPR_NONE && vars->count && vars->vars[0] == s->lane_var;
    char name[16];

    if (!vars->count)
        return;
    snprintf(name, sizeof name, "id%" PRIu32, d);
    fprintf(p->out, "%*sconst %s %s = (%s)get_global_id(%" PRIu32 ")", (int)p->indent * 2, "", opencl_index_type(p), name,
            opencl_index_type(p), d);
    if (vectors)
        fprintf(p->out, " * %" PRIu32, s->lanes);
    fputs(";\n", p->out);
    if (s->partial[d]) {
        fprintf(p->out, "%*sif (%s >= ", (int)p->indent * 2, "", name);
        put_product(p, vars);
        fputs(") return;\n", p->out);
    }
    if (!vectors)
        put_decode(p, vars, name, "");
}

static void put_local_arrays(struct printer *p)
{
    for (uint32_t i = 0; i < p->k->expr_count; i++) {
        const struct kexpr *e = &p->k->exprs[i];
        if (e->op != K_REDUCE)
            continue;
        put_line(p, "__local %s all%" PRIu32 "[%" PRIu32 "];", opencl_value_type(p->k->exprs[e->args[0]].type), i,
                 p->s->local[0]);
        if (kexpr_is_place(e))
            put_line(p, "__local long where%" PRIu32 "[%" PRIu32 "];", i, p->s->local[0]);
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
        put_turned_blocks(p);
        return;
    }
    if (p->s->shape == GPU_ROWS) {
        put_local_arrays(p);
        put_line(p, "const uint item = (uint)get_local_id(0);");
        put_line(p, "const %s row = (%s)get_group_id(0);", opencl_index_type(p), opencl_index_type(p));
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

static void put_head(FILE *out, const struct kernel *k, const struct gpu_schedule *s, const char *name, uint32_t params)
{
    const char *separator = "";

    fprintf(out, "__kernel __attribute__((reqd_work_group_size(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")))\nvoid %s(", s->local[0],
            s->local[1], s->local[2], name);
    for (uint32_t i = 0; i < k->tensor_count; i++, separator = ", ")
        fprintf(out, "%s__global uchar *b%" PRIu32 ", ulong o%" PRIu32, separator, i, i);
    if (k->stage_count) {
        fprintf(out, "%s__global uchar *bs, ulong os", separator);
        separator = ", ";
    }
    for (uint32_t i = 0; i < params; i++, separator = ", ")
        fprintf(out, "%s%s p%" PRIu32, separator, s->wide ? "long" : "int", i);
    fputs(")\n{\n", out);
    for (uint32_t i = 0; i < k->tensor_count; i++)
        fprintf(out, "  __global %s%s *t%" PRIu32 " = (__global %s%s *)(b%" PRIu32 " + o%" PRIu32 ");\n",
                k->tensors[i].written ? "" : "const ", opencl_storage_type(k->tensors[i].type), i,
                k->tensors[i].written ? "" : "const ", opencl_storage_type(k->tensors[i].type), i, i);
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
                       struct arena *arena)
{
    struct printer p = {.out = body, .k = k, .s = s, .indent = 1, .arena = arena, .literals = !has_room(k, s, arena)};

    if (!k->stage_count) {
        if (!printer_number(&p, arena) || !(p.literals || printer_append_params(out, &p.numbers)))
            return false;
        put_kernel(&p);
        return !p.failed;
    }
    return put_stages(&p, out);
}

bool opencl_print(const struct kernel *k, const struct gpu_schedule *s, const char *name, struct opencl_source *out,
                  struct error *e)
{
    struct arena arena = {0};
    char *body_text = NULL;
    size_t body_size = 0, text_size = 0;
    FILE *body = open_memstream(&body_text, &body_size), *text;
    bool good = body != NULL;

    *out = (struct opencl_source){0};
    good = good && put_bodies(body, k, s, out, &arena);
    good = (body && fclose(body) == 0) && good;
    text = good ? open_memstream(&out->text, &text_size) : NULL;
    if (text) {
        good = put_functions(text, k, s);
        put_block_functions(text, k, s);
        put_stride_functions(text, k, s);
        put_head(text, k, s, name, out->param_count);
        fwrite(body_text, 1, body_size, text);
        fputs("}\n", text);
    }
    good = text && !ferror(text) && fclose(text) == 0 && good;
    free(body_text);
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
