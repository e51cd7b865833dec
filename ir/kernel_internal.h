/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files ir/kernel*.c share and nobody else needs.
 */
#ifndef WEBNN_IR_KERNEL_INTERNAL_H_
#define WEBNN_IR_KERNEL_INTERNAL_H_

#include "ir/kernel.h"

/** Which types an operation's operands and result have. */
enum kop_types {
    KOP_OWN,        /* a rule of its own, in kernel_verify.c */
    KOP_NUMBERS,    /* operands and result of one type, any but bool */
    KOP_FLOATS,     /* KT_F32 */
    KOP_COMPARISON, /* two operands of one type; bool */
    KOP_FLOAT_TEST, /* KT_F32; bool */
    KOP_LOGIC,      /* bool */
    KOP_CHOICE      /* bool and two of one type; that type */
};

/** A row of the table of operations (kernel_op.c). */
struct kop_info {
    const char *name;
    uint8_t arity; /* operands; of K_REDUCE 1, though KR_DOT has 2 */
    uint8_t types; /* enum kop_types */
    bool commutes; /* op(a, b) is op(b, a), bit for bit */
    uint8_t cost;  /* of one evaluation in floats, in additions, roughly */
};
const struct kop_info *kop_info(enum kop op);

/** Whether an expression depends on a REDUCED variable. */
bool kexpr_varies(const struct kernel *k, uint32_t id);
/** Drops guards that always hold and repeated ones; never: one of them never holds.  Returns the number left in *out (arena).
 */
uint32_t kguards_simplify(struct kernel *k, uint32_t count, const struct kguard *guards, const struct kguard **out,
                          bool *never);
/** Like kaffine_range, over the points at which the guards hold. */
void kaffine_guarded_range(const struct kernel *k, struct kaffine a, uint32_t guard_count, const struct kguard *guards,
                           int64_t *low, int64_t *high);
/** kernel_finish of a kernel of stages (kernel_stage.c). */
bool kernel_finish_stages(struct kernel *k);
/** What the functions of the same names do for kernels of stages (kernel_stage.c). */
bool kernel_numbers_stages(const struct kernel *k, struct arena *a, struct knumbers *out);
void kernel_print_stages(const struct kernel *k, FILE *out);
bool kernel_verify_stages(const struct kernel *k, FILE *out);
bool kernel_interpret_stages(const struct kernel *k, void *const *tensors);
/** Chunks of a stage. */
int64_t kernel_chunks(const struct kernel *stage);
/** Runs one chunk of a finished stage. */
bool kernel_interpret_chunk(const struct kernel *k, int64_t chunk, void *const *tensors);
/** Rough cost of one evaluation, in additions (kernel_op.c). */
double kexpr_cost(const struct kexpr *e);

#endif
