/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares internals of ir/kernel.
 */
#pragma once

#include "ir/kernel/kernel.h"
#include "ir/kernel/operation_class.h"
#include "ir/support/align.h"

/** Describes which types an operation's operands and result have. */
enum kop_types {
    KOP_OWN,        /* a rule of its own */
    KOP_NUMBERS,    /* operands and result of one type, any but bool */
    KOP_FLOATS,     /* KT_F32, KT_F64 */
    KOP_COMPARISON, /* two operands of one type; bool */
    KOP_FLOAT_TEST, /* KT_F32 or KT_F64; bool */
    KOP_INTEGERS,   /* of 32 or 64 bits, of one type */
    KOP_BITS,       /* bool or integers, of one type */
    KOP_LOGIC,      /* bool */
    KOP_CHOICE,     /* bool and two of one type; that type */
    KOP_EXPANSION   /* in expansions only, with a rule of its own */
};

/** A row of the table of operations (kernel_op.c). */
struct kop_info {
    const char *name;
    uint8_t arity; /* operands; of K_REDUCE 1, though KR_DOT has 2 */
    uint8_t types; /* enum kop_types */
    bool commutes; /* op(a, b) is op(b, a), bit for bit */
    uint8_t cost;  /* enum operation_class, of floats */
    bool has_f64;  /* of KOP_NUMBERS and KOP_FLOATS: computed in float64, too */
};
extern const struct kop_info kop_infos[K_OP_COUNT];
/** Returns an operation's row. */
static inline const struct kop_info *kop_info(enum kop op)
{
    return &kop_infos[op];
}

/**
 * Adds an operation and returns its id, as kernel_op1, kernel_op2, kernel_op3 and kernel_cast do.  KT_COUNT stands for the type
 * that follows from the operands; absent operands are KEXPR_NONE.
 */
uint32_t kernel_operate(struct kernel *k, enum kop op, enum ktype type, uint32_t a, uint32_t b, uint32_t c);

struct rule;

/**
 * Applies the first matching rule (ir/rules/rules.h) to e, which is not part of the kernel yet.  Returns an expression that is
 * bit for bit the same, or KEXPR_NONE.
 */
uint32_t kernel_simplify(struct kernel *k, const struct kexpr *e, const struct rule *rows, size_t count);
/** Returns the operation of a rule's word (enum rule_word), or K_OP_COUNT if kernels have none. */
enum kop kernel_rule_op(uint32_t word);
/** Appends a variable and returns its number.  Returns 0 after an error in k->error if there are too many. */
uint32_t kernel_append_var(struct kernel *k, const struct kvar *v);
/** Returns the larger of two numbers. */
static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/** Returns whether an expression depends on a REDUCED variable. */
bool kexpr_varies(const struct kernel *k, uint32_t id);
/** Returns a + factor * b, whose terms are in `terms`, which has room for those of both. */
struct kaffine kaffine_combine(struct kaffine a, struct kaffine b, int64_t factor, struct kterm *terms);
/** Does what kaffine_range does, over the points at which the guards hold, until it is known to be in 0 .. elements-1. */
void kaffine_guarded_range(const struct kernel *k, struct kaffine a, uint32_t guard_count, const struct kguard *guards,
                           int64_t elements, int64_t *low, int64_t *high);
/** Does what kernel_finish does, for a kernel of stages (kernel_stage.c). */
bool kernel_finish_stages(struct kernel *k);
/** These do what the functions of the same names do, for kernels of stages (kernel_stage.c). */
void kernel_print_stages(const struct kernel *k, FILE *out);
bool kernel_verify_stages(const struct kernel *k, FILE *out);
/** Walks over the affine forms of a kernel without stages: of derived variables, then of expressions, then of stores, each
 * followed by those of its guards.  All zeros: at the first one. */
struct kform_walk {
    uint32_t owner, next; /* of these in a row, and its next form */
    const struct kaffine *form;
    int64_t bound; /* of a guard; else 0 */
};
/** Finds the next form.  Returns false after the last one. */
bool kernel_next_form(const struct kernel *k, struct kform_walk *w);
/** Returns whether a kernel sums up products of two operands. */
bool kernel_multiplies(const struct kernel *k);
/** Returns how many combinations of values the variables of a kind have. */
double kernel_points(const struct kernel *k, enum kvar_kind kind);
/** Returns whether iterations of a finished kernel's loops must store one after the other: at addresses that are data, or
 * several times at one. */
bool kernel_stores_in_order(const struct kernel *k);
/** Returns the cost class of one evaluation, for the target's table of facts (kernel_op.c). */
static inline enum operation_class kexpr_class(const struct kexpr *e)
{
    return e->op == K_DIV && !ktype_is_float(e->type) ? OPERATION_WHOLE_DIVISION : (enum operation_class)kop_info(e->op)->cost;
}
