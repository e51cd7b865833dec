/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares internals of the driver (compile.c) and the compilation of steps (compile_steps.c). */
#pragma once

#include "passes/passes.h"
#include "runtime/compile/compile.h"
#include "runtime/compile/compile_loop.h"
#include "runtime/compile/equal_clusters.h"

/* The result of compiling a cluster, by cluster->index. */
struct compiled_cluster {
    struct cluster *cluster;
    struct cluster_nodes *nodes;
    struct kernel_list kernels;
    struct library_step *library;
    struct compiled_loop *loop;
    struct compiled_cluster *like; /* an earlier, equal one, whose kernels both use; NULL: none */
    uint32_t first_step;
};

struct compiler {
    struct engine *en;
    struct graph *g;
    const struct target *target;
    struct error *e;
    struct arena arena;
    struct equal_clusters *planned; /* of the plan that the graph is of, or NULL */
    struct equal_clusters found;
    struct compiled_cluster *clusters;
    uint32_t cluster_count;
    struct storage_assignment storage;
    struct program *out;
    uint32_t *constant_slots;     /* by value->index: slot + 1 */
    bool shares;                  /* steps may run the kernels of others */
    bool keeps;                   /* the plan keeps the steps, and changes them for the next sizes */
    const struct value **located; /* then, of the locations so far */
    uint32_t located_count;
    bool (*cancelled)(void *user); /* may be NULL */
    void *user;
    struct compile_times *times;
    FILE *description; /* to a text that becomes the program's; NULL without the switch steps */
};

/** Makes the steps of a plan those of these sizes, and lends them to the program.  *fits becomes false if it cannot. */
bool compile_again_steps(struct compiler *k, bool *fits);
/** Adds the steps of all clusters, with locations, to the program. */
bool compile_add_steps(struct compiler *k);
