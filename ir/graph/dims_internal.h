/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares the table of a graph's expressions of named dimensions (dims.h). */
#pragma once

#include "ir/graph/dims.h"
#include "ir/support/table.h"

/** What has more becomes an unknown. */
enum { DIM_DEGREE_MAX = 6, DIM_TERMS_MAX = 16 };

struct range {
    int64_t least, most;
};

enum atom_kind { ATOM_NAME, ATOM_QUOTIENT, ATOM_GREATER, ATOM_LESSER, ATOM_UNKNOWN };

struct atom {
    enum atom_kind kind;
    const char *name; /* of a name */
    size_t length;
    dim_expr a, b; /* what it is made of; a of a name: its number among the names */
    struct range range;
};

/** factor times the product of atoms, which are in ascending order; the rest of them is 0. */
struct monomial {
    int64_t factor;
    uint32_t degree;
    uint32_t atoms[DIM_DEGREE_MAX];
    uint32_t zero; /* so that there is no padding */
};

struct expression {
    dim_expr number;
    uint32_t count;
    const struct monomial *terms;
    struct range range;
};

/** All of this is in the arena of the graph that began it. */
struct dims {
    struct arena *arena;
    struct atom *atoms;
    uint32_t *names; /* atoms */
    const struct expression **expressions;
    uint32_t atom_count, name_count, expression_count;
    size_t atom_capacity, name_capacity, expression_capacity;
    struct table table; /* of expressions, by their monomials */
};
