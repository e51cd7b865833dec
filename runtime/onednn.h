/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the runtime/onednn*.c files share.  runtime/library.h is what the rest sees.
 *
 * A cluster of graph nodes is first described in the library's terms (onednn_describe.c: plain numbers, no library object), the
 * description is tried (onednn.c: is there an implementation, and not a reference one?), and at last made into a step
 * (onednn_step.c).  All questions and the step go through the same description, so that they cannot disagree.
 */
#ifndef WEBNN_RUNTIME_ONEDNN_H_
#define WEBNN_RUNTIME_ONEDNN_H_

#include <pthread.h>
#include <stdbool.h>

#include "runtime/library.h"
#include "runtime/onednn_compat.h"

/* ---- descriptions ---- */

enum { DNN_POSTS_MAX = 8, DNN_NODES_MAX = 24 };

/** An operand as the library sees it: its own order of dimensions, the strides say how it lies.  Rank 0: absent. */
struct dnn_layout {
    int32_t rank;
    int32_t free; /* the library may choose (packed weights); strides then say how the unpacked operand lies */
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

/** Numbers only, zero where unused: two problems are the same when their bytes are (up to the last post-op). */
struct dnn_problem {
    int32_t kind; /* dnn_kind */
    int32_t post_count;
    int32_t src_type, weights_type, dst_type; /* dnnl_data_type_t; bias and operands of post-ops are float32; the destination of
                                                 a product in bfloat16 may be that */
    int32_t src_zero;                         /* products of integers: the source's zero point */
    int64_t scale_mask;                       /* and which dimensions of the destination the output scales go along */
    int32_t precision, parts; /* what is allowed (WNNPrecision), and of how many bfloat16 numbers an operand is: 0: it is
                                 float32; layouts, types and weights below are those of the float32 operands all the same */
    int32_t given_late;       /* weights are no constants */
    int32_t given_narrow;     /* bits 1 << dnn_side: operands that lie in memory as bfloat16; parts must become 1 */
    int64_t by_gemm; /* a product of one row: oneDNN's gemm reads weights at memory speed, its own choice does not */
    struct dnn_layout src, weights, bias, dst;
    int64_t strides[2], dilations[2], low[2], high[2];
    struct dnn_post posts[DNN_POSTS_MAX];
};

/** Where an operand comes from, and what is done to it before the product. */
struct dnn_operand {
    const struct value *value; /* NULL: absent, or of a binary post-op: the number `scale` */
    float scale;               /* gemm's beta; 1 otherwise */
    int64_t repeat;            /* every element this many times: gemm's c of one number per row; 1 otherwise */
};

/** What the integers of a product stand for. */
struct dnn_quantization {
    const struct value *weight_scale, *weight_zero; /* constants: one number, or one per block of output channels */
    uint32_t channel_axis;                          /* the weights' dimension of output channels */
    float src_scale;
    float dst_scale; /* of the result, if the output scales contain it; 1 otherwise */
};

struct dnn_cluster {
    struct dnn_problem problem;
    struct dnn_quantization quantization; /* weight_scale NULL: the product is one of floats */
    struct dnn_operand src, weights, bias, posts[DNN_POSTS_MAX];
    /* A gemm's c that is one number per row, which no post-op does fast: the destination is filled with it and summed to. */
    struct dnn_operand fill;
    const struct value *output;
    const struct value *sum; /* the residual that is added in place, or NULL */
    const struct node *anchor;
};

/**
 * Describes the cluster of these nodes (in execution order: transposes that the anchor reads through, the anchor, its
 * epilogue).  sum: a residual that lies in the output's memory, or NULL.  False: not a cluster that the library has words for.
 */
bool dnn_describe(struct node *const *nodes, uint32_t count, const struct value *sum, struct dnn_cluster *out);

/* Parts of a description, for the files that describe. */
bool dnn_add_post(struct dnn_cluster *c, struct dnn_post post, struct dnn_operand operand);
bool dnn_add_eltwise(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, double alpha, double beta);
/** A binary post-op with a number. */
bool dnn_add_number(struct dnn_cluster *c, dnnl_alg_kind_t algorithm, float number);
/** The library's dimension of output channels in the destination. */
int dnn_channel(const struct dnn_problem *p);

/* ---- integers (onednn_quantize.c) ---- */

/** After the anchor has been described: its operands are results of the dequantizeLinear nodes[0..before-1]. */
bool dnn_describe_dequantized(struct node *const *nodes, uint32_t before, struct dnn_cluster *c);
/** The quantizeLinear at a cluster's end. */
bool dnn_describe_quantize(const struct node *n, struct dnn_cluster *c);

/* Constants of a described product of integers, for free().  NULL: out of memory. */
float *dnn_output_scales(const struct dnn_cluster *c); /* dnn_scale_count of them */
float *dnn_scaled_bias(const struct dnn_cluster *c);
/** Zero point subtracted, dense in the order of problem.weights' dimensions. */
int8_t *dnn_integer_weights(const struct dnn_cluster *c);
int64_t dnn_scale_count(const struct dnn_problem *p);

/* ---- bfloat16 (onednn_precision.c) ---- */

/** Whether a problem has operands or a result that lie in memory as bfloat16: it must be one of that. */
bool dnn_stores_narrow(const struct dnn_problem *p);
/** The type of an operand in memory. */
int32_t dnn_given_type(const struct dnn_problem *p, enum dnn_side side);
/** Bytes of an element. */
int64_t dnn_type_size(int32_t type);

/** Makes parts of an operand: every `run` elements become `parts` runs one behind the other. */
struct dnn_conversion {
    int64_t elements, run, parts;
    enum dnn_side side;
};

struct library;

/** How many times as many products of bfloat16 as of float32 the processor does; 0: it has no such arithmetic. */
double dnn_bfloat16_rate(void);
/** How many parts the operands of a product are to have; 0: float32. */
int32_t dnn_wanted_parts(const struct library *l, const struct dnn_problem *p);
/** How the parts of an operand lie (p->parts is not 0). */
struct dnn_layout dnn_parts_layout(const struct dnn_problem *p, enum dnn_side side);
struct dnn_conversion dnn_conversion_of(const struct dnn_problem *p, enum dnn_side side);
size_t dnn_conversion_bytes(const struct dnn_conversion *c);
/** From float32 to parts.  On the calling thread's team (threads_enter). */
void dnn_convert(const struct library *l, const struct dnn_conversion *c, const void *in, void *out);

/* ---- the library ---- */

struct dnn_answer;

struct library {
    dnnl_engine_t engine;
    uint32_t threads;
    uint32_t vector_bits; /* of generated kernels, for comparing; 0: nothing to compare with */
    int64_t cache_bytes;  /* of one core */
    bool full_rate;       /* of multiply-adds (struct target) */
    bool refuses; /* the process' instruction set is above the cap asked for */
    bool exact;   /* int8 products are: there are instructions that do not saturate sums of two products to 16 bits */
    WNNPrecision precision;
    bool prefer_bfloat16; /* also where it is slower */
    double bfloat16;      /* dnn_bfloat16_rate */
    bool keep_weights; /* as they were before they were packed: steps are to be saved for other machines */
    pthread_mutex_t mutex;
    uint32_t answer_count, answer_capacity; /* capacity: a power of two, or 0 */
    struct dnn_answer **answers;            /* by hash of the problem, open addressing */
};

/**
 * Finds the way the library computes a cluster: may set weights.free and by_gemm.  False: it cannot, or only by a reference
 * implementation.  Answers are remembered.
 */
bool dnn_resolve(struct library *l, struct dnn_cluster *c);
/** Makes the choice of parts again for a problem of an image, which was made elsewhere. */
void dnn_resolve_parts(struct library *l, struct dnn_problem *p);
/** Whether the library computes a resolved problem at least as fast as a generated kernel; constant: the weights are. */
bool dnn_is_faster(const struct library *l, const struct dnn_problem *p, bool constant);
/** The primitive descriptor of a resolved problem; scales: of a product of integers, else NULL.  NULL: none. */
dnnl_primitive_desc_t dnn_create_pd(struct library *l, const struct dnn_problem *p, const float *scales);
/** Whether a product in bfloat16 with what follows it has an implementation (`now`) that is as good as that of the product
 * alone. */
bool dnn_keeps_speed(const struct dnn_problem *p, const char *alone, const char *now);
/** An attribute object that asks for the caller's scratch memory; NULL: out of memory. */
dnnl_primitive_attr_t dnn_create_attributes(void);

/** Elements of a layout. */
int64_t dnn_elements(const struct dnn_layout *l);
/** Floating-point operations of the product. */
double dnn_flops(const struct dnn_problem *p);

#endif
