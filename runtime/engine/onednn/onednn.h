/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The files of runtime/engine/onednn share this header.  All others include runtime/engine/onednn/library.h.
 *
 * A cluster of graph nodes is first described in the library's terms (onednn_describe.c, onednn_quantize.c: numbers only, no
 * library objects).  The description is resolved (onednn_resolve.c: is there an implementation, and not a reference one?),
 * avoiding the library's bugs (onednn_workarounds.c), and onednn_choose.c decides whether a generated kernel would be faster.
 * At last it is made into a step (onednn_step.c, onednn_weights.c), which runtime/engine/onednn/cpu runs on the processor and
 * runtime/engine/onednn/gpu on a device.  All queries and the step use the same description, so that they cannot disagree.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "ir/support/table.h"
#include "runtime/engine/onednn/library.h"
#include "runtime/engine/onednn/onednn_compat.h"

/**
 * The differences between the library on the processor and on a device, for describing and resolving.
 */
struct dnn_machine {
    bool device; /* the engine is a device's: its kernels are compiled while a primitive is created, which may fail */
    /* Sums of convolutions begin with a bias or a residual, so that every product is rounded at the addend's size. */
    bool begins_with_addend;
    /* Steps can scale, repeat and convert operands before the primitive runs, which only the processor's do (cpu/run.c). */
    bool prepares_operands;
    /* Reference implementations are taken: for tests on devices that have no others. */
    bool references;
};

/* ---- descriptions ---- */

enum { DNN_POSTS_MAX = 8, DNN_NODES_MAX = 24 };

/**
 * Describes an operand in the library's order of dimensions, with its strides.  Rank 0 means that
 * it is absent.
 */
struct dnn_layout {
    int32_t rank;
    int32_t free; /* the library may choose (packed weights); strides are then those of the unpacked operand */
    int64_t dims[RANK_MAX], strides[RANK_MAX];
};

enum dnn_side { DNN_SOURCE, DNN_WEIGHTS };
enum dnn_kind { DNN_CONVOLUTION, DNN_TRANSPOSED_CONVOLUTION, DNN_MATMUL };
enum dnn_post_kind { DNN_POST_ELTWISE, DNN_POST_BINARY, DNN_POST_SUM };

struct dnn_post {
    int32_t kind;              /* dnn_post_kind */
    int32_t algorithm;         /* dnnl_alg_kind_t */
    float alpha, beta;         /* eltwise */
    struct dnn_layout operand; /* binary */
};

/** Holds numbers only, which are zero where unused: two problems are the same when their bytes are (up to the last post-op). */
struct dnn_problem {
    int32_t kind; /* dnn_kind */
    int32_t post_count;
    int32_t src_type, weights_type, dst_type; /* dnnl_data_type_t; bias and operands of post-ops are float32; the destination of
                                               * a contraction in bfloat16 may be that */
    int32_t src_zero;                         /* of a contraction of integers: the source's zero point */
    int32_t src_zero_type;                    /* dnnl_data_type_t of the byte that has it at run time; 0 if it is src_zero */
    int32_t weights_zero;                     /* of a matmul of integers: the weights' zero point */
    int32_t weights_zero_type;                /* likewise, of weights that are not constants */
    int32_t given_late;                       /* weights are not constants */
    int64_t scale_mask;       /* of a contraction of integers: the destination's dimensions that the output scales go along */
    int32_t precision, parts; /* allowed (WNNPrecision), and how many bfloat16 numbers an operand is split into, or 0
                               * if it stays float32; layouts, types and weights below are those of the float32 operands all
                               * the same */
    int32_t given_low_precision; /* bits 1 << dnn_side of operands that are in memory as bfloat16; parts must become 1 */
    int32_t by_gemm;             /* a matmul of one row: oneDNN's gemm reads weights at memory speed, its own choice does not */
    struct dnn_layout src, weights, bias, dst;
    int64_t strides[2], dilations[2], low[2], high[2];
    struct dnn_post posts[DNN_POSTS_MAX];
};

/** The source of an operand, and its conversion before the contraction. */
struct dnn_operand {
    const struct value *value; /* NULL if it is absent or, in a binary post-op, the number `scale` */
    float scale;               /* gemm's beta; 1 otherwise */
    int64_t repeat;            /* how often every element comes: above 1 for gemm's c of one number per row */
};

/** The quantization of a contraction of integers. */
struct dnn_quantization {
    /* Constants, one number or one per block of output channels.  Weights that are not constants may have single
     * numbers that are known at run time only. */
    const struct value *weight_scale, *weight_zero;
    uint32_t channel_axis; /* the weights' dimension of output channels */
    float src_scale;
    float dst_scale; /* of the result, if the output scales contain it; 1 otherwise */
};

struct dnn_cluster {
    const struct dnn_machine *machine; /* which the description is for */
    struct dnn_problem problem;
    struct dnn_quantization quantization; /* weight_scale is NULL if the contraction is one of floats */
    struct dnn_operand src, weights, bias, posts[DNN_POSTS_MAX];
    const struct value *zeros[2]; /* by dnn_side, of a contraction of integers: zero points that are known at run time only */
    /*
     * This is a gemm's c that is one number per row, which no post-op adds fast: the destination is filled with it and summed
     * to.
     */
    struct dnn_operand fill;
    const struct value *output;
    const struct value *sum; /* the residual that is added in place, or NULL */
    const struct node *anchor;
};

/**
 * Describes the cluster of these nodes (in execution order: transposes that the anchor reads through, the anchor, its
 * epilogue).  sum is a residual that is in the output's memory, or NULL.  Returns false if the library cannot express it.
 */
bool dnn_describe(const struct dnn_machine *m, struct node *const *nodes, uint32_t count, const struct value *sum,
                  struct dnn_cluster *out);

/* The files that describe add parts of a description with these, which return false if there is no room or no such part. */
bool dnn_add_eltwise(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, double alpha, double beta);
/** Adds a binary post-op with an operand of that layout, or with a number. */
bool dnn_add_binary(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, struct dnn_layout layout, struct dnn_operand operand);
bool dnn_add_number(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, float number);
/** Returns the descriptor of a layout, or NULL if memory runs out. */
static inline dnn_md dnn_layout_md(const struct dnn_layout *l, int32_t type)
{
    return dnn_md_create(l->rank, l->dims, l->free ? NULL : l->strides, (dnnl_data_type_t)type);
}
/** Returns a dense layout of which all dimensions are 1 but `dim`, or all if that is -1. */
struct dnn_layout dnn_single_layout(int rank, int dim, int64_t size);
/** Returns the library's dimension of output channels in the destination. */
static inline int dnn_channel(const struct dnn_problem *p)
{
    return p->kind == DNN_MATMUL ? p->dst.rank - 1 : 1;
}

/* ---- integers (onednn_quantize.c) ---- */

/** Completes the description of an anchor whose operands are results of the dequantizeLinear nodes[0..before-1]. */
bool dnn_describe_dequantized(struct node *const *nodes, uint32_t before, struct dnn_cluster *c);
/** Describes the quantizeLinear at a cluster's end. */
bool dnn_describe_quantize(const struct node *n, struct dnn_cluster *c);

/* These make constants of a described contraction of integers, which the caller frees.  They return NULL if memory runs out. */
/** Returns dnn_scale_count scales. */
float *dnn_output_scales(const struct dnn_cluster *c);
/** Returns the bias in the units that the library adds it in, of the integers' products or (oneDNN 3) of the scaled result: one
 * number for each output channel. */
float *dnn_scaled_bias(const struct dnn_cluster *c);
/** Returns the weights minus their zero point, or what of it the problem does not have, dense in the order of problem.weights'
 * dimensions. */
int8_t *dnn_integer_weights(const struct dnn_cluster *c);
/** Returns how many output scales there are: one, or one for each output channel. */
int64_t dnn_scale_count(const struct dnn_problem *p);

/* ---- bfloat16 (onednn_precision.c) ---- */

/** Returns whether a problem has operands or a result that are in memory as bfloat16: it must be computed in that. */
static inline bool dnn_stores_low_precision(const struct dnn_problem *p)
{
    return p->given_low_precision || p->dst_type == dnnl_bf16;
}
/** Returns the type that an operand has in memory. */
static inline int32_t dnn_given_type(const struct dnn_problem *p, enum dnn_side side)
{
    return p->given_low_precision & 1 << side ? dnnl_bf16 : side == DNN_SOURCE ? p->src_type : p->weights_type;
}
/** Returns the bytes of an element. */
static inline int64_t dnn_type_size(int32_t type)
{
    return type == dnnl_f32 ? 4 : type == dnnl_bf16 ? 2 : 1;
}

/** Splits an operand into parts: every `run` elements become `parts` contiguous runs. */
struct dnn_conversion {
    int64_t elements, run, parts;
    enum dnn_side side;
};

struct library;

/** Returns how many multiply-adds of bfloat16 the processor does for each of float32, 0 if it has no such arithmetic. */
double dnn_bfloat16_rate(void);
/** Returns the number of parts of the operands of a contraction, 0 for float32. */
int32_t dnn_wanted_parts(const struct library *l, const struct dnn_problem *p);
/** Returns the layout of the parts of an operand; p->parts is not 0. */
struct dnn_layout dnn_parts_layout(const struct dnn_problem *p, enum dnn_side side);
/** Returns the conversion that splits an operand of the problem. */
struct dnn_conversion dnn_conversion_of(const struct dnn_problem *p, enum dnn_side side);
/** Returns the bytes of all parts that a conversion makes. */
static inline size_t dnn_conversion_bytes(const struct dnn_conversion *c)
{
    return (size_t)(c->elements * c->parts) * sizeof(uint16_t);
}
/** Converts from float32 to parts, on the calling thread's team (threads_enter). */
void dnn_convert(const struct library *l, const struct dnn_conversion *c, const void *in, void *out);

/* ---- the library ---- */

struct library {
    dnnl_engine_t engine;
    struct dnn_machine machine;
    struct library *host; /* of a device: the processor's, which packs its weights; else NULL */
    dnnl_stream_t stream; /* of a device: its queue (gpu/library_gpu.c); else NULL */
    struct engine *owner; /* of a device: the engine in whose buffers constants lie; else NULL */
    uint32_t threads;
    const struct webnn_object_parallel *parallel; /* as of struct engine */
    const struct target_facts *facts; /* of the processor, for comparing with generated kernels; NULL if nothing is compared */
    int64_t cache_bytes;              /* of one core */
    bool refuses;                     /* the process' instruction set is above the cap asked for */
    bool exact;                       /* whether int8 contractions are: no sum of two products is saturated to 16 bits */
    bool integers_only;               /* whether contractions of floats are refused: library_take_integers_only */
    WNNPrecision precision;
    bool prefer_bfloat16;       /* whether it is used also where it is slower */
    double bfloat16;            /* dnn_bfloat16_rate */
    struct constant_pool *pool; /* of packed weights that steps of all graphs share; may be NULL */
    bool keep_weights;          /* whether steps keep weights unpacked, so that they can be saved for other machines */
    pthread_mutex_t mutex;
    struct table answers; /* struct dnn_answer, by hash of the problem */
};

/**
 * Finds the library's implementation of a cluster; it may set weights.free and by_gemm.  Returns false if the library cannot,
 * or only by a reference implementation.  Answers are remembered.
 */
bool dnn_resolve(struct library *l, struct dnn_cluster *c);
/** Makes the choice of parts again for a problem of a serialized program, which was made elsewhere. */
void dnn_resolve_parts(struct library *l, struct dnn_problem *p);
/** Returns whether the library computes a resolved problem at least as fast as a generated kernel; constant says whether the
 * weights are, piece how many columns stay together (node_piece; 0: all). */
bool dnn_is_faster(const struct library *l, const struct dnn_problem *p, bool constant, int64_t piece);
/**
 * Returns whether integers gain more in a contraction than packing weights computed at run time costs: every run packs a
 * convolution's, byte by byte.  Those of a matmul are read in place.  What is summed for each weight counts, so that with
 * groups results must be more, and with a channel for each group they are never enough.
 */
bool dnn_repays_packing(const struct library *l, const struct dnn_problem *p);
/** Returns the primitive descriptor of a resolved problem, of the acceptable implementation after that many others, or NULL if
 * there is none.  scales are those of a contraction of integers, else NULL. */
dnnl_primitive_desc_t dnn_create_pd(struct library *l, const struct dnn_problem *p, const float *scales, uint32_t after);
/** Returns whether the implementation (`with_epilogue`) of a contraction in bfloat16 with what follows it is as good as that of
 * the contraction alone. */
bool dnn_keeps_speed(const struct dnn_problem *p, const char *alone, const char *with_epilogue);
/** Returns an attribute object that asks for the caller's scratch memory, or NULL if memory runs out. */
dnnl_primitive_attr_t dnn_create_attributes(void);

/** Clears all cached answers.  No other thread may resolve in the meantime, or l->mutex must be held. */
void dnn_forget_answers(struct library *l);
/** Returns whether an implementation, which the library names, computes a problem correctly: the library's first choice may
 * not.
 */
bool dnn_is_acceptable(const char *implementation, const struct dnn_problem *p);
/**
 * Returns the most threads that a contraction may run on, or 0 for any number.  Where oneDNN's gemm has more threads than
 * blocks of results it cuts the sums, and its parts spin until others are done: one thread that computes them one after the
 * other would never end.  On as many threads as there are blocks it cuts no sums.
 */
uint32_t dnn_thread_limit(const char *implementation, const struct dnn_problem *p);
/** Returns whether that is one of the library's reference implementations, a hundred times slower than others. */
static inline bool dnn_is_reference(const char *implementation)
{
    return strstr(implementation, "ref") != NULL;
}
/** Refuses a problem from now on, because the library could not make its primitive. */
void dnn_refuse(struct library *l, const struct dnn_problem *p);
/** Returns whether the library makes the primitive of a descriptor, which it does not always. */
bool dnn_primitive_exists(struct library *l, const struct dnn_problem *p, const_dnnl_primitive_desc_t pd);

/** Returns the number of elements of a layout. */
int64_t dnn_elements(const struct dnn_layout *l);
/** Returns the floating-point operations of the contraction. */
double dnn_flops(const struct dnn_problem *p);
