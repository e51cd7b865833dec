/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares the parts of a step, for the files that make it of a cluster (onednn_step.c, onednn_weights.c) and
 * of a serialized program (onednn_serialized.c), and for those that run it (cpu, gpu).
 */
#pragma once

#include "runtime/engine/onednn/onednn.h"

enum { ARGS_MAX = 8 + DNN_POSTS_MAX, CALLS_MAX = 2, INPUTS_MAX = 6 + DNN_POSTS_MAX };

enum source { FROM_INPUT, FROM_OUTPUT, FROM_SCRATCH, FROM_CONSTANT };

/** Describes one argument of a primitive call. */
struct argument {
    int id;    /* DNNL_ARG_... */
    dnn_md md; /* owned */
    enum source source;
    uint32_t input;               /* FROM_INPUT */
    int64_t offset;               /* FROM_SCRATCH */
    const void *data;             /* FROM_CONSTANT */
    size_t bytes;                 /* FROM_CONSTANT */
    struct engine_buffer *buffer; /* FROM_CONSTANT, of a device: where the data are there; owned */
};

struct primitive_call {
    dnnl_primitive_t primitive;
    uint32_t count;
    struct argument args[ARGS_MAX];
};

/** Multiplies every element of an operand by a number, and repeats it, before the contraction. */
struct scaling {
    int64_t count, repeat; /* elements read; repeat is 0 if there is nothing to do */
    float scale;
    const float *constant; /* where to read, or NULL: the input */
    uint32_t input;
    int64_t offset; /* where to write in the scratch, or -1: the output */
};

/** Converts an operand of float32 numbers to one of bfloat16 numbers in the scratch, before the contraction. */
struct low_precision_operand {
    struct dnn_conversion conversion; /* parts is 0 if there is nothing to do */
    const void *constant;             /* where to read, or NULL: the input */
    uint32_t input;
    int64_t offset;
};

/** Widens the zero point of a contraction of integers, a byte that is known at run time only, to the library's int32. */
struct late_zero {
    int32_t type; /* dnnl_data_type_t; 0 if there is nothing to do */
    uint32_t input;
    int64_t offset; /* where to write in the scratch */
};

/** Holds the weights of a step, from the graph's to those that the primitive reads. */
struct step_weights {
    struct constant *packed;  /* owned */
    struct constant *pending; /* a reference: library_step_finish packs them */
    dnn_md pending_layout;    /* owned; their layout, or NULL if they are copied unchanged */
    bool in_layout;           /* their bytes are in the library's layout, not in the graph's */
    const void *unpacked;     /* unpacked weights, if they were kept, in the layout of dnn_given_weights */
    size_t unpacked_bytes;
    int8_t *unpacked_integers; /* owned */
};

struct library_step {
    const struct library *library;
    uint32_t call_count; /* the contraction is the last one */
    struct primitive_call calls[CALLS_MAX];
    struct scaling scaling;
    struct low_precision_operand low_precision_operands[2]; /* by enum dnn_side; constant weights are not among them */
    struct late_zero late_zeros[2];                         /* by enum dnn_side */
    uint32_t input_count;
    const struct value *inputs[INPUTS_MAX];
    const struct value *output;
    int32_t in_place;
    int64_t scratch_bytes, packed_bytes;
    double flops, bytes;
    char implementation[64];
    uint32_t thread_limit; /* of the contraction's implementation; 0: none */
    struct step_weights weights;
    /* The step owns these. */
    void *scaled;
    float *bias;
    float numbers[DNN_POSTS_MAX]; /* operands of post-ops that are not values */
    uint32_t constant_count;
    struct constant *constants[INPUTS_MAX];
    /* Kept for saving. */
    struct dnn_problem problem;
    float *scales; /* owned; those of a contraction of integers */
};

/** Multiplies every element of `in` by a number, and repeats it. */
void dnn_scale(const struct scaling *x, const float *in, float *out);
/** Adds an argument; md is taken over.  Returns NULL if memory runs out. */
struct argument *dnn_add_argument(struct primitive_call *c, int id, dnn_md md);
/** Sets an argument to existing bytes, or to scratch memory of that many bytes. */
void dnn_argument_constant(struct argument *a, const void *data, size_t bytes);
void dnn_argument_scratch(struct library_step *s, struct argument *a, int64_t bytes);
/** Returns the contraction's argument of that kind, or NULL. */
const struct argument *dnn_find_argument(const struct library_step *s, int id);
/** Adds the zero point of an operand that the problem has at run time only; it is input `input`.  Returns false if memory runs
 * out. */
bool dnn_add_late_zero(struct library_step *s, struct primitive_call *c, enum dnn_side side, uint32_t input);
/** Adds the scales and the zero points of the step's problem that are numbers, where the library takes them as arguments.
 * Returns false if memory runs out. */
bool dnn_add_scaling(struct library_step *s, struct primitive_call *c);
/** Adds the scratchpad of a primitive, if it needs one.  Returns false if memory runs out. */
bool dnn_add_scratchpad(struct library_step *s, struct primitive_call *c, const_dnnl_primitive_desc_t pd);
/** Reserves scratch bytes; returns their offset. */
int64_t dnn_reserve_scratch(struct library_step *s, int64_t bytes);
/**
 * Returns the layout of weights that were not packed: with the problem's strides, those of their parts, or dense if they are
 * constant integers.  Returns NULL if memory runs out.
 */
dnn_md dnn_given_weights(const struct dnn_problem *p);
/**
 * Replaces an argument that is a float32 input or constant by its parts, made in the scratch, if the contraction needs parts.
 * Returns false if memory runs out.
 */
bool dnn_low_precision_argument(struct library_step *s, struct argument *a, enum dnn_side side);
/** Makes the contraction read constant weights in its layout (to).  Returns false if the library or memory fails.
 */
bool dnn_repack(const struct library *l, struct library_step *s, struct argument *a, dnn_const_md from, dnn_const_md to,
                const void *data);
/**
 * Makes the contraction read constant weights: in place if they have the primitive's layout, else packed.  Returns false if the
 * library or memory fails.
 */
bool dnn_use_constant_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                              dnn_const_md wanted, const void *data, size_t bytes);
/**
 * Makes the contraction (whose weights are `a`) read weights of input `input`, reordered first if need be.  Returns false if
 * the library or memory fails.
 */
bool dnn_use_input_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                           dnn_const_md wanted, uint32_t input);
/** Adds the weights in the primitive's layout. */
bool dnn_add_weights(struct library *l, struct library_step *s, struct primitive_call *contraction,
                     const_dnnl_primitive_desc_t pd, const struct dnn_cluster *c);
/** Returns whether the weights of a problem can be reordered to a descriptor's layout. */
bool dnn_can_pack(const struct library *l, const struct dnn_problem *p, const_dnnl_primitive_desc_t pd);
/**
 * Returns the descriptor that a step is made from, or NULL.  On a device a descriptor may have no primitive, since its kernels
 * may not compile: it is the first that has one and whose weights can be packed; p's may have to stay unpacked.
 */
dnnl_primitive_desc_t dnn_choose_pd(struct library *l, struct dnn_problem *p, const float *scales);
/** Frees the contents of a call, which is empty then. */
void dnn_call_free(struct primitive_call *c);
/** Returns which input of the step v is, which is added unless it is one. */
uint32_t dnn_input_index(struct library_step *s, const struct value *v);
/** Keeps a reference to a constant while the step exists. */
void dnn_hold_constant(struct library_step *s, struct constant *c);
/** Returns bytes for free(), or NULL. */
static inline void *dnn_aligned_bytes(size_t bytes)
{
    return aligned_alloc(TARGET_ALIGNMENT, (size_t)target_align((int64_t)bytes + !bytes));
}
/** Returns whether float32 elements may be read where the bytes are: those that are lent may be anywhere. */
static inline bool dnn_is_aligned(const void *data)
{
    return (uintptr_t)data % sizeof(float) == 0;
}
/** Creates a call's primitive; pd stays the caller's.  Returns false if the library fails. */
bool dnn_create_primitive(const struct library *l, struct primitive_call *c, const_dnnl_primitive_desc_t pd);
/** Returns whether the primitive of a descriptor can be made.  It stays in the library's cache, where the step finds it. */
bool dnn_primitive_works(const struct library *l, const_dnnl_primitive_desc_t pd);
/** Puts the calls into the order in which they run, which completes a step whose contraction, calls[1], has its primitive. */
void dnn_finish_step(struct library_step *s, const_dnnl_primitive_desc_t pd);
/** Returns a new step, or NULL if memory runs out. */
struct library_step *dnn_step_new(struct library *l);
