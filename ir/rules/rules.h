/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares algebraic rules as data, and the engine that applies them to graphs and to expressions of kernels.
 *
 * A rule is a row of ir/rules/rules.c: "this pattern may be replaced by that, because ...".  Every row is exact: the same bits
 * for every input, NaN (but for its payload), infinities, signed zeros and subnormals included, for every data type that it
 * accepts.  tests/passes/simplify/test_rules.c computes both sides of each row.  The adapters that make terms of a graph and of
 * a kernel are passes/simplify/canonicalize_rules.c and ir/kernel/kernel_simplify.c.
 *
 * Rules that depend on options, uses or more than one constant are functions of passes/simplify.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/graph/op.h"

/** The words of patterns and of what they become. */
enum rule_word {
    R_END,
    R_ANY, /* any term */
    R_X,
    R_Y,     /* any term, the same at each occurrence */
    R_LET_X, /* x is the term that the following words describe */
    /* A constant of equal elements; "K" is that constant. */
    R_ZERO, /* +0 */
    R_MINUS_ZERO,
    R_ONE,
    R_MINUS_ONE,
    R_TWO,
    R_NONZERO,
    R_FINITE,
    R_POWER_OF_TWO, /* one whose reciprocal is a normal number, too */
    R_K,            /* after the pattern: that constant */
    R_INVERSE_K,    /* its reciprocal */
    /* Classes of operators. */
    R_COPY,     /* moved elements, or the same */
    R_ROUNDING, /* to an integer */
    R_INTEGRAL, /* the result is an integer, an infinity or NaN */
    /* Operations of kernels that are not operators of the graph: on truth values, and on bits. */
    R_AND,
    R_OR,
    R_NOT,
    R_BITCAST,
#define OP(id, ...) R_##id,
#include "ir/graph/ops.def"
#undef OP
    R_WORD_COUNT
};
_Static_assert(R_WORD_COUNT <= UINT8_MAX, "a word is a byte");
enum { RULE_PATTERN_MAX = 8, RULE_BECOMES_MAX = 4, RULE_OPERANDS_MAX = 3 };

/** Returns the word of an operator of the graph; R_END if there is none. */
static inline enum rule_word rule_word_of(enum op op)
{
    return (unsigned)op < OP_COUNT ? (enum rule_word)(R_WORD_COUNT - OP_COUNT + op) : R_END;
}

/** Returns whether a word of a pattern stands for an operator: it is that operator, or a class of it. */
bool rule_word_is(enum rule_word word, enum rule_word op);

/** Describes where rules apply. */
enum rule_scope { RULE_GRAPH = 1, RULE_KERNEL = 2, RULE_BOTH = 3 };

/** Types of results, a bit each. */
enum rule_types {
    RULE_FLOAT16 = 1,
    RULE_FLOAT32 = 2,
    RULE_OTHER_FLOAT = 4, /* those that passes make */
    RULE_SIGNED = 8,
    RULE_UNSIGNED = 16,
    RULE_BOOL = 32, /* truth values of kernels */
    RULE_INTEGERS = RULE_SIGNED | RULE_UNSIGNED,
    RULE_FLOATS = RULE_FLOAT16 | RULE_FLOAT32 | RULE_OTHER_FLOAT,
    RULE_API_FLOATS = RULE_FLOAT16 | RULE_FLOAT32,
    RULE_ALL_TYPES = RULE_FLOATS | RULE_INTEGERS | RULE_BOOL
};

/**
 * This is a rule.  A pattern is an operator followed by its operands, each a word or a pattern; operands of an operator that
 * commutes may be in the other order.  What it becomes is a term, or one operator and its operands.  The pattern's own
 * operator keeps its options there.  Another one, or a term, has the type and shape of x (or y) unless it has both as operands:
 * a rule applies only where those are the result's.
 */
struct rule {
    uint8_t scope, types; /* enum rule_scope, enum rule_types: of the result */
    uint8_t pattern[RULE_PATTERN_MAX], becomes[RULE_BECOMES_MAX];
    const char *why; /* it is exact */
};

extern const struct rule rules[];
extern const size_t rule_count;

/** A node of a graph or an expression of a kernel; 0 is none. */
typedef uintptr_t rule_term;

/** Describes what makes a term. */
struct rule_node {
    enum rule_word op;
    bool commutes;
    uint32_t count;
    rule_term operands[RULE_OPERANDS_MAX];
};

/** An adapter of a graph or a kernel for the engine.  user is rules_apply's. */
struct rule_language {
    enum rule_scope scope;
    /** Returns whether an operator makes the term, and stores which. */
    bool (*describe)(void *user, rule_term t, struct rule_node *node);
    /** Returns whether all elements of the term are one constant number, and stores it. */
    bool (*number)(void *user, rule_term t, double *number);
    /** Returns whether the term has the type and shape of the replaced one. */
    bool (*has_result_type)(void *user, rule_term t);
    /** Make a term of the type of the replaced one: a constant (NULL if no rule of the scope asks for one), and an operator.
     * They return 0 if memory runs out. */
    rule_term (*constant)(void *user, double number);
    rule_term (*make)(void *user, enum rule_word op, uint32_t count, const rule_term *operands);
};

/** Returns the result of the first rule that applies to a node whose result has that type (one of enum rule_types); 0 if none
 * does, or if memory runs out. */
rule_term rules_apply(const struct rule *rows, size_t count, const struct rule_language *language, void *user,
                      const struct rule_node *node, enum rule_types type);
