/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares what making a graph of certain sizes (at_sizes.c) and its values of sizes (at_sizes_values.c) share. */
#pragma once

#include "ir/interpret/at_sizes.h"
#include "ir/support/table.h"

struct instance {
    const struct graph *from;
    struct graph *to;
    struct dim_number *atoms;
    struct value **values; /* by value->index of `from`; NULL: a constant that no node reads that was made */
    struct error *e;
    bool *exact;               /* likewise: integers that are what their expressions say, and have not overflowed */
    bool *late;                /* likewise: constants that names decide */
    struct value **data;       /* likewise: what a constant has become as data */
    struct table known;        /* values of `from` that have become data */
    bool computes, hides_all;  /* of the node that is being made (decide) */
    const struct node *like;   /* which it is, or NULL */
    const struct alike *alike; /* of graph_alike: others are taken; NULL: all are made */
    struct instance *outer;    /* of a loop's body: the graph of its node, which gets these operands; NULL: none */
    struct value **operands;
    uint32_t operand_count;
};

/** Finds out how a node is made: whether its results are computed now, which depend on shapes and constants only and are small
 * at any size, or else whether its constants become data, so that no pass computes what has another shape at other sizes. */
void instance_decide(struct instance *s, const struct node *n);
/** Makes the result of a node of its expressions, as far as its operands are what theirs say.  Returns NULL if it cannot. */
struct value *instance_evaluate(struct instance *s, const struct node *n);
/** Notes which results of a node that was computed are what their expressions say. */
void instance_note_exact(struct instance *s, const struct node *n);
/** Notes which results of a node that was computed depend on names. */
void instance_note_late(struct instance *s, const struct node *n);
/** Returns where the lists, except of data, have a value of `from`. */
static inline uint32_t instance_index(const struct instance *s, const struct value *v)
{
    return s->alike ? s->alike->values[v->index] : v->index;
}
/** Returns whether a value of `from` is a constant that names decide. */
static inline bool instance_is_late(const struct instance *s, const struct value *v)
{
    return v && s->late[instance_index(s, v)];
}
/** Returns what a value is now, or NULL if memory runs out. */
struct value *instance_value(struct instance *s, const struct value *v);
/** Returns the data of the graph that a constant becomes, one for equal ones, or NULL if memory runs out. */
struct value *instance_data(struct instance *s, const struct value *v);
/** Returns whether operand i of the node that is being made can stand for that of an equal node, which was made. */
bool instance_repeats(struct instance *s, const struct node *n, const struct node *like, uint32_t i);
/** Returns what an operand of the node that is being made is, NULL if it is absent or memory runs out. */
struct value *instance_operand(struct instance *s, const struct node *n, uint32_t i);
