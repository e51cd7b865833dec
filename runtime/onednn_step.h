/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a step consists of: shared by the files that make it of a cluster (onednn_step.c) and of an image (onednn_image.c).
 */
#ifndef WEBNN_RUNTIME_ONEDNN_STEP_H_
#define WEBNN_RUNTIME_ONEDNN_STEP_H_

#include "runtime/onednn.h"

enum { ARGS_MAX = 5 + DNN_POSTS_MAX, CALLS_MAX = 2, INPUTS_MAX = 4 + DNN_POSTS_MAX, ALIGNMENT = 64 };

enum source { FROM_INPUT, FROM_OUTPUT, FROM_SCRATCH, FROM_CONSTANT };

/** One argument of a primitive call. */
struct argument {
    int id;    /* DNNL_ARG_... */
    dnn_md md; /* owned */
    enum source source;
    uint32_t input;   /* FROM_INPUT */
    int64_t offset;   /* FROM_SCRATCH */
    const void *data; /* FROM_CONSTANT */
    size_t bytes;     /* FROM_CONSTANT */
};

struct primitive_call {
    dnnl_primitive_t primitive;
    uint32_t count;
    struct argument args[ARGS_MAX];
};

/** Before the product: every element of an operand times a number, repeated. */
struct scaling {
    int64_t count, repeat; /* elements read; repeat 0: nothing to do */
    float scale;
    const float *constant; /* read from here, or if NULL from the input */
    uint32_t input;
    int64_t offset; /* written there in the scratch; -1: the output */
};

/** Before the product: an operand of float32 numbers becomes one of bfloat16 numbers in the scratch. */
struct narrowing {
    struct dnn_conversion conversion; /* parts 0: nothing to do */
    const void *constant;             /* read from here, or if NULL from the input */
    uint32_t input;
    int64_t offset;
};

struct library_step {
    const struct library *library;
    uint32_t call_count; /* the product is the last one */
    struct primitive_call calls[CALLS_MAX];
    struct scaling scaling;
    struct narrowing narrowings[2]; /* by enum dnn_side; constant weights are not among them */
    uint32_t input_count;
    const struct value *inputs[INPUTS_MAX];
    const struct value *output;
    int32_t in_place;
    int64_t scratch_bytes, packed_bytes;
    double flops, bytes;
    char implementation[64];
    /* owned */
    struct constant *packed;
    void *scaled;
    struct constant *pending; /* weights that library_step_finish packs; pending_layout: how they lie, NULL: copied as they are */
    dnn_md pending_layout;
    float *bias;
    float numbers[DNN_POSTS_MAX]; /* operands of post-ops that are no values */
    uint32_t constant_count;
    struct constant *constants[INPUTS_MAX];
    /* for saving */
    struct dnn_problem problem;
    float *scales;       /* owned; of a product of integers */
    bool weights_packed; /* the weights' bytes are the library's, not the graph's */
    const void *plain;   /* the weights before they were packed, if they were kept; as dnn_given_weights has them */
    size_t plain_bytes;
    int8_t *plain_integers; /* owned */
};

/** Adds an argument; md is taken over.  NULL: out of memory. */
struct argument *dnn_add_argument(struct primitive_call *c, int id, dnn_md md);
/** Adds the scratchpad that a primitive wants, if it wants one. */
bool dnn_add_scratchpad(struct library_step *s, struct primitive_call *c, const_dnnl_primitive_desc_t pd);
/** Reserves scratch bytes; returns their offset. */
int64_t dnn_reserve_scratch(struct library_step *s, int64_t bytes);
/** How weights lie that were not packed: with the problem's strides, those of their parts, or (integers) dense.  NULL: out of
 * memory. */
dnn_md dnn_given_weights(const struct dnn_problem *p);
/** Lets an argument that is an input or a constant of float32 numbers be its parts, made in the scratch, if the product wants
 * parts.  False: out of memory. */
bool dnn_narrow_argument(struct library_step *s, struct argument *a, enum dnn_side side);
/** Lets the product read weights that are known now: where they lie if they are as the primitive wants them, else packed. */
bool dnn_use_constant_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                              dnn_const_md wanted, const void *data, size_t bytes);
/** Lets the product (whose weights are `a`) read weights of input `input`, reordered first if need be. */
bool dnn_use_input_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                           dnn_const_md wanted, uint32_t input);
/** Creates a call's primitive; pd stays the caller's. */
bool dnn_create_primitive(const struct library *l, struct primitive_call *c, const_dnnl_primitive_desc_t pd);
/** The calls in the order in which they run: a step is complete once its product, calls[1], has its primitive. */
void dnn_finish_step(struct library_step *s, const_dnnl_primitive_desc_t pd);
/** Zero-initialised but for what every step has.  NULL: out of memory. */
struct library_step *dnn_step_new(struct library *l);

#endif
