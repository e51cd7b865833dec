/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares attributes of operators: option structs and positional arguments that are no operands. */
#pragma once

#include "ir/graph/op.h"

struct arena;
struct call;
struct node;

/** These find an attribute in an option struct / args pair: its value or a list's first element (NULL: the list is absent), and
 * a list's count (else 1). */
const void *attr_value(const struct attr_info *a, const void *options, const union op_args *args);
size_t attr_count(const struct attr_info *a, const void *options, const union op_args *args);
/** Returns whether an attribute is a list, whose items have four bytes. */
static inline bool attr_is_list(const struct attr_info *a)
{
    return a->kind == ATTR_U32_LIST || a->kind == ATTR_F32_LIST || a->kind == ATTR_ENUM_LIST;
}
/** Returns the most items that a list of an operator may have.  What has more is refused before it is walked. */
size_t attr_count_max(const struct attr_info *a);
/** Checks a positional list's pointer against its count, and any list's count against attr_count_max.  Returns false after an
 * error in c->error. */
bool attr_check_list(struct call *c, const struct attr_info *a);
/** Returns the bytes that the attribute takes up at its offset: those of a value, or of a list's pointer. */
size_t attr_bytes(const struct attr_info *a);
/** Returns whether two nodes of one operator agree in one attribute, bit by bit. */
bool node_same_attr(const struct node *a, const struct node *b, const struct attr_info *attr);
/** Returns whether two nodes have the same operator and attributes (labels aside). */
bool node_same_attrs(const struct node *a, const struct node *b);
/** The label lies here in every option struct. */
#define OPTIONS_LABEL offsetof(WNNOperatorOptions, label)
/**
 * Gives members that are zero in a copy of a zeroed option struct (structSize 0) their defaults.  Returns false after an error
 * in c->error if zero is also a value of a member whose default is another, since it cannot be told which is meant.
 */
bool options_fill_zeros(struct call *c, void *options);
/** Deep-copies an option struct into an arena, with its lists.  Returns NULL if memory runs out. */
void *options_copy(struct arena *a, enum op op, const void *options);
/** Copies the lists of positional arguments into an arena.  Returns false if memory runs out. */
bool args_copy(struct arena *a, enum op op, union op_args *args);
