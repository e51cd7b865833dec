/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints elementary functions: the expansions of ir/expansion become functions of OpenCL C, so that a device computes them with
 * the errors that docs/scalar-functions.md promises, whatever its own are.
 *
 * Texts of several kernels may become one program, which then has each function once: names of functions for vectors end with
 * the number of lanes, and a macro is the name without it.
 */
#include "codegen/opencl/internal.h"

#include <stdlib.h>

#include "ir/expansion/expansion.h"

static const struct expansion_target device = {.fma = true};

bool opencl_is_function(enum kop op, enum ktype type)
{
    return ktype_is_float(type) && ((op >= K_EXP && op <= K_SIGMOID) || op == K_POW);
}

static void put_function(FILE *out, const struct expansion *x, uint32_t lanes)
{
    fprintf(out, "static %s f%s_%s(", opencl_lane_type(KT_F32, lanes), lanes > 1 ? "v" : "", kop_name(x->op));
    for (uint32_t i = 0; i < x->argument_count; i++)
        fprintf(out, "%sconst %s v%u", i ? ", " : "", opencl_lane_type(x->steps[i].type, lanes), i);
    fputs(")\n{\n", out);
    for (uint32_t i = x->argument_count; i < x->value_count; i++) {
        const struct expansion_step *s = &x->steps[i];
        char names[3][8];
        const enum ktype from = s->args[0] == EXPANSION_NONE ? s->type : x->steps[s->args[0]].type;
        const char *type = opencl_lane_type(s->type, lanes);

        fprintf(out, "  const %s v%u = ", type, i);
        if (s->op == K_CONST) {
            if (lanes > 1)
                fprintf(out, "(%s)(%s", type, s->type == KT_BOOL ? "-" : "");
            fprintf(out, "%s%s", constant_text(s->type, s->bits).text, lanes > 1 ? ")" : "");
        } else {
            for (uint32_t j = 0; j < 3; j++)
                snprintf(names[j], sizeof names[j], "v%u", (uint32_t)s->args[j]);
            put_operation(out, lanes, s->op, s->type, from, (const char *[]){names[0], names[1], names[2]});
        }
        fputs(";\n", out);
    }
    fprintf(out, "  return v%u;\n}\n", x->result);
}

static bool has_float64(const struct expansion *x)
{
    for (uint32_t i = 0; i < x->value_count; i++)
        if (x->steps[i].type == KT_F64)
            return true;
    return false;
}

/* Writes the function for vectors as calls of the scalar one, lane by lane. */
static void put_function_by_lanes(FILE *out, const struct expansion *x, uint32_t lanes)
{
    const char *type = opencl_lane_type(KT_F32, lanes);

    fprintf(out, "static %s fv_%s(", type, kop_name(x->op));
    for (uint32_t i = 0; i < x->argument_count; i++)
        fprintf(out, "%sconst %s v%u", i ? ", " : "", type, i);
    fputs(")\n{\n", out);
    for (uint32_t i = 0; i < x->argument_count; i++)
        fprintf(out, "  float a%u[%u]; vstore%u(v%u, 0, a%u);\n", i, lanes, lanes, i, i);
    fprintf(out, "  for (int lane = 0; lane < %u; lane++)\n    a0[lane] = f_%s(", lanes, kop_name(x->op));
    for (uint32_t i = 0; i < x->argument_count; i++)
        fprintf(out, "%sa%u[lane]", i ? ", " : "", i);
    fprintf(out, ");\n  return vload%u(0, a0);\n}\n", lanes);
}

static void put_vector_name(FILE *out, enum kop op, uint32_t lanes)
{
    const char *name = kop_name(op);

    fprintf(out, "#undef fv_%s\n#define fv_%s fv_%s%u\n", name, name, name, lanes);
}

/* Writes the function for vectors.  What computes in float64 has vectors only where the device has float64. */
static void put_vector_function(FILE *out, const struct expansion *x, uint32_t lanes)
{
    const char *name = kop_name(x->op);

    put_vector_name(out, x->op, lanes);
    fprintf(out, "#ifndef HAS_%s_%u\n#define HAS_%s_%u\n", name, lanes, name, lanes);
    if (has_float64(x))
        fputs("#ifdef cl_khr_fp64\n", out);
    put_function(out, x, lanes);
    if (has_float64(x)) {
        fputs("#else\n", out);
        put_function_by_lanes(out, x, lanes);
        fputs("#endif\n", out);
    }
    fputs("#endif\n", out);
}

static void find_functions(const struct kernel *k, bool used[K_OP_COUNT])
{
    for (uint32_t i = 0; i < k->expr_count; i++)
        used[k->exprs[i].op] |= opencl_is_function(k->exprs[i].op, k->exprs[i].type);
    for (uint32_t i = 0; i < k->stage_count; i++)
        find_functions(k->stages[i].kernel, used);
}

void put_function_names(FILE *out, const struct kernel *k, uint32_t lanes)
{
    bool used[K_OP_COUNT] = {false};

    find_functions(k, used);
    put_lane_names(out, lanes);
    for (uint32_t op = 0; op < K_OP_COUNT; op++)
        if (used[op])
            put_vector_name(out, (enum kop)op, lanes);
}

static bool has_vectors(const struct kernel *k, const struct gpu_schedule *s, uint32_t lanes)
{
    bool has = s->lanes == lanes;

    for (uint32_t i = 0; i < k->stage_count; i++)
        has |= s->stages[i].lanes == lanes;
    return has;
}

bool put_functions(FILE *out, const struct kernel *k, const struct gpu_schedule *s)
{
    bool used[K_OP_COUNT] = {false};
    struct expansion *x = malloc(sizeof *x); /* too large for the stack */

    if (!x)
        return false;
    if (s->tile.matrix.subgroups_m)
        fputs(opencl_matrix_functions, out);
    find_functions(k, used);
    for (uint32_t lanes = 2; lanes <= GPU_LANES_MAX; lanes *= 2)
        if (has_vectors(k, s, lanes))
            put_lane_functions(out, lanes);
    for (uint32_t op = 0; op < K_OP_COUNT; op++) {
        if (!used[op])
            continue;
        expansion_build((enum kop)op, &device, x);
        fprintf(out, "#ifndef HAS_%s\n#define HAS_%s\n", kop_name(x->op), kop_name(x->op));
        put_function(out, x, 1);
        fputs("#endif\n", out);
    }
    for (uint32_t lanes = 2; lanes <= GPU_LANES_MAX; lanes *= 2) {
        if (!has_vectors(k, s, lanes))
            continue;
        put_lane_names(out, lanes);
        for (uint32_t op = 0; op < K_OP_COUNT; op++) {
            if (!used[op])
                continue;
            expansion_build((enum kop)op, &device, x);
            put_vector_function(out, x, lanes);
        }
    }
    free(x);
    return true;
}
