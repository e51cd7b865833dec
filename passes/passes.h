/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the passes over the graph, and the lowering to kernels and storage.
 *
 * Passes take a graph from the builder or the parser, and a target description.  passes_run rewrites the graph and puts every
 * node in a cluster, lower_cluster makes the kernels of a kernel cluster, and storage_assign assigns a location to every value.
 * Read passes/pipeline.c first: it holds the one table of passes.
 *
 * A pass follows these rules: it returns whether it changed the graph, and a second run right after returns false.  Allocation
 * failure goes into graph->error.  It reads flags and fields of the operator table and the target; it holds no private operator
 * lists.  The graph stays executable by the reference interpreter after every pass, with the same results.
 */
#pragma once

#include "ir/support/debug.h"
#include "ir/graph/ir.h"
#include "ir/kernel/kernel.h"
#include "ir/target/target.h"

/* ---- pipeline ---- */

/** The options of passes. */
struct pass_options {
    const struct target *target;
    const struct debug_options *debug; /* skip, stop-after, print-after, time-passes, verify, no-passes */
    bool (*cancelled)(void *user);     /* called between passes (and inside slow ones); may be NULL */
    void *user;
};

/** One row of the table of passes. */
struct pass {
    const char *name; /* one name everywhere: file, table, flag, dump, test */
    bool (*run)(struct graph *g, const struct pass_options *o);
    bool required; /* cannot be skipped: later stages rely on it */
    const char *summary;
};

extern const struct pass pass_pipeline[];
extern const uint32_t pass_pipeline_length;

/** Returns whether the debug options skip the pass of this name. */
static inline bool pass_is_skipped(const struct pass_options *o, const char *name)
{
    return o->debug && (o->debug->flags & DEBUG_NO_PASSES || debug_list_has(o->debug->skip, name));
}

/** Runs the pipeline.  Returns false after an error in g->error. */
bool passes_run(struct graph *g, const struct pass_options *o);
/** Runs the passes of a list of names, separated by commas, in that order, whether the debug options skip them or not; tools
 * and tests use it.  Returns false after an error in g->error, which lists the existing names if one is wrong; no pass
 * has run then. */
bool passes_run_named(struct graph *g, const struct pass_options *o, const char *names);

/* The passes are declared in no particular order; the pipeline has the order.  Each file documents what it needs and keeps. */
bool pass_drop_dead(struct graph *g, const struct pass_options *o);
bool pass_canonicalize(struct graph *g, const struct pass_options *o);
bool pass_fold_constants(struct graph *g, const struct pass_options *o);
bool pass_merge_common(struct graph *g, const struct pass_options *o);
bool pass_fold_batch_norm(struct graph *g, const struct pass_options *o);   /* into the weights of the convolution before it */
bool pass_separate_branches(struct graph *g, const struct pass_options *o); /* only the taken branch is computed */
bool pass_quantize_weights(struct graph *g, const struct pass_options *o);  /* if the program requests it */
bool pass_expand_recurrent(struct graph *g, const struct pass_options *o);  /* required: gru, lstm, their cells */
bool pass_legalize(struct graph *g, const struct pass_options *o);          /* required: float16 library nodes via casts, ... */
bool pass_propagate_layout(struct graph *g, const struct pass_options *o);
bool pass_separate_windows(struct graph *g, const struct pass_options *o); /* maxPool2d by columns and rows */
bool pass_fuse_quantized(struct graph *g, const struct pass_options *o);   /* library clusters of integers */
bool pass_fuse_attention(struct graph *g, const struct pass_options *o);   /* matmul, softmax, matmul as one kernel cluster */
bool pass_winograd(struct graph *g, const struct pass_options *o);         /* 3x3 convolutions by Winograd */
bool pass_low_precision_inputs(struct graph *g, const struct pass_options *o);
bool pass_fuse_epilogues(struct graph *g, const struct pass_options *o);   /* makes library clusters */
bool pass_pack_weights(struct graph *g, const struct pass_options *o);     /* of contractions that the library does not take */
bool pass_fuse_kernels(struct graph *g, const struct pass_options *o);     /* makes kernel clusters */
bool pass_separate_outputs(struct graph *g, const struct pass_options *o); /* required: each output has separate memory */
bool pass_finish_clusters(struct graph *g, const struct pass_options *o);  /* required: every node in one cluster, in order */

/* ---- clusters ---- */

/** The nodes of a cluster are next to each other in the execution order once pass_finish_clusters has run. */
struct cluster_nodes {
    uint32_t count;
    struct node **nodes; /* in execution order */
    uint32_t input_count;
    struct value **inputs; /* used inside, defined outside; each once, constants and transformed weights included */
    uint32_t output_count;
    struct value **outputs; /* defined inside, used outside or a graph output; each once */
};

/** Lists a cluster's nodes and boundary values in *out, in the arena.  Returns false if memory runs out. */
bool cluster_collect(const struct graph *g, const struct cluster *c, struct arena *a, struct cluster_nodes *out);
/** Adds an empty cluster to the graph and returns it.  Returns NULL if memory runs out. */
struct cluster *cluster_create(struct graph *g, enum cluster_kind kind);

/* ---- lowering to kernels ---- */

struct kernel_list {
    uint32_t count;
    struct kernel **kernels; /* owned: kernel_free each, in the order they must run */
};

/**
 * Makes the kernels of a CLUSTER_KERNEL: usually one; one per input for a concat, one per distinct iteration space of
 * its outputs.  Tensors of a kernel are boundary values of the cluster (ktensor.user is the struct value *).  Returns false
 * after an error in *e.
 */
bool lower_cluster(const struct graph *g, const struct cluster *c, const struct target *t, struct kernel_list *out,
                   struct error *e);
/** Frees the kernels and the list's array, but not the list itself. */
void kernel_list_free(struct kernel_list *list);
/** Returns whether lower_cluster could make one kernel of these nodes, and stores what it executes on a processor t
 * (schedule_work_of) unless work is NULL.  pass_fuse_kernels calls it before it joins them. */
bool lower_can_join(const struct target *t, struct node *const *nodes, uint32_t count, double *work);
/** Returns whether lower_cluster would make one kernel of stages of these nodes, which are an attention. */
bool lower_can_be_staged(const struct target *t, struct node *const *nodes, uint32_t count);

/* ---- storage ---- */

enum storage_kind {
    STORAGE_NONE,     /* never materialised: inside a kernel */
    STORAGE_INPUT,    /* the caller's input buffer `slot` */
    STORAGE_OUTPUT,   /* the caller's output buffer `slot` */
    STORAGE_CONSTANT, /* base->constant */
    STORAGE_ARENA     /* the invocation's arena */
};

/** The location of a value. */
struct storage {
    enum storage_kind kind;
    uint32_t slot;
    const struct value *base; /* the value that owns the bytes (itself, or what it is a view of) */
    int64_t offset;           /* bytes, from the start of buffer or arena; views included */
};

/** An output that is computed in the arena and copied to its buffer at the end. */
struct storage_copy {
    const struct value *value;
    uint32_t output;
};

struct storage_assignment {
    uint32_t copy_count;
    struct storage_copy *copies;
    uint32_t count;            /* graph->value_count */
    struct storage *values;    /* by value->index */
    int64_t arena_bytes;       /* values only; scratch is the engine's */
    int64_t arena_lower_bound; /* most bytes alive at one step: the least possible arena */
};

/** A stage of a cluster's kernel that is the same at sizes where `types`, a hash of what it is made of, is. */
struct kept_stage {
    uint64_t types;
    struct kernel *kernel; /* NULL: none yet */
};

/** The order by offset of a graph's blocks at some sizes, which others are tried in first. */
struct storage_order {
    uint32_t count, *blocks; /* for free() */
};

/** What is decided about a graph's storage at some sizes, and holds at others as far as it is valid there: which value lies in
 * whose memory, and the order of blocks.  All zeros at first. */
struct storage_kept {
    struct storage_order order;
    struct assigner *assigner; /* NULL: nothing is decided */
};

/** Returns whether `output` of the cluster may be in the memory of `input`, which dies there. */
typedef bool (*storage_may_share)(void *user, const struct cluster *c, const struct value *input, const struct value *output);

/** Assigns storage to every boundary value: views, in-place steps, concat parts written in place, arena offsets
 * from liveness in cluster order, at multiples of TARGET_ALIGNMENT or of `alignment` if that is more (a power of two).
 * `clusters` are what cluster_collect says of them, by index; NULL: they are collected.  `kept` is that of the same
 * graph and clusters with other sizes, or NULL.  *out is in the arena, or in what is kept.  Returns false after an error in
 * g->error. */
bool storage_assign(struct graph *g, const struct cluster_nodes *clusters, struct arena *arena, int64_t alignment,
                    storage_may_share may_share, void *user, struct storage_kept *kept, struct storage_assignment *out);
/** Frees what is kept. */
void storage_forget(struct storage_kept *kept);
