/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints a kernel whose tiles are of matrix instructions, for compilers that make PTX of it (check_ptx.sh).
 *
 *   print_ptx CASE FORM
 *   print_ptx probe
 *
 * CASE is a number of matrix_cases, from 0, FORM one of a form, from 1; the probe is that of matrix_probe.c.  Exits with 1 if
 * there is no such case or form.  clang has no built-in functions of OpenCL C for NVIDIA's GPUs: those that the kernels call
 * stand in front.
 */
#include "codegen/opencl/opencl.h"
#include "support/help.h"
#include "support/kernels.h"
#include "support/matrix_cases.h"
#include "support/small_graphs.h"

static const char builtins[] =
    "#define BUILTIN static __attribute__((overloadable, always_inline))\n"
    "#define BY_DIMENSION(name) (d == 0 ? __nvvm_read_ptx_sreg_##name##_x() : d == 1 ? __nvvm_read_ptx_sreg_##name##_y() : "
    "__nvvm_read_ptx_sreg_##name##_z())\n"
    "BUILTIN size_t local_id(uint d) { return BY_DIMENSION(tid); }\n"
    "BUILTIN size_t group_id(uint d) { return BY_DIMENSION(ctaid); }\n"
    "BUILTIN size_t global_id(uint d) { return group_id(d) * BY_DIMENSION(ntid) + local_id(d); }\n"
    "BUILTIN int least(int a, int b) { return a < b ? a : b; }\n"
    "BUILTIN long least(long a, long b) { return a < b ? a : b; }\n"
    "BUILTIN ulong least(ulong a, ulong b) { return a < b ? a : b; }\n"
    "#define get_local_id(d) local_id(d)\n"
    "#define get_group_id(d) group_id(d)\n"
    "#define get_global_id(d) global_id(d)\n"
    "#define barrier(fence) __syncthreads()\n"
    "#define min(a, b) least(a, b)\n"
    "#define fma(a, b, c) __builtin_fmaf(a, b, c)\n"
    "#define fabs(x) __builtin_fabsf(x)\n"
    "#define rint(x) __builtin_rintf(x)\n"
    "#define vload_half(i, p) __builtin_load_halff((p) + (i))\n"
    "#define vstore_half_rte(x, i, p) __builtin_store_halff(x, (p) + (i))\n";

PROGRAM_HELP("usage: print_ptx CASE [FORM] | probe   print a kernel of matrices for a compiler of PTX\n")
int main(int argc, char **argv)
{
    const struct gpu_facts device = matrix_facts();
    const struct matrix_case *c = argc > 1 && atoi(argv[1]) < MATRIX_CASES ? &matrix_cases[atoi(argv[1])] : NULL;
    const struct gpu_choice choice = {.matrix_form = argc > 2 ? (uint32_t)atoi(argv[2]) : 1};
    struct opencl_source source;
    struct kernel_list list;
    struct gpu_schedule s;
    struct error e = {0};

    if (argc == 2 && !strcmp(argv[1], "probe")) {
        printf("%s%s%s%s", builtins, opencl_prelude, opencl_matrix_functions, opencl_matrix_probe);
        return 0;
    }
    if (!c)
        return 1;
    struct graph *g = parse_body(c->body);
    kernels_cluster_nodes(g, kernels_can_join_all(g, NULL));
    if (!lower_cluster(g, g->first_cluster, NULL, &list, &e))
        return 2;
    schedule_gpu_choose(list.kernels[0], &device, &choice, &s);
    if (!s.tile.matrix)
        return 1;
    if (!opencl_print(list.kernels[0], &s, "kernel_under_test", &source, &e))
        return 2;
    printf("%s%s%s", builtins, opencl_prelude, source.text);
    opencl_source_free(&source);
    kernel_list_free(&list);
    graph_free(g);
    return 0;
}
