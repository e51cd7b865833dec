/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares the table of operators that webnn-node-tables prints (frontend/node/tables.c). */
#pragma once

#include <stddef.h>

/** Lists the IDL's types of arguments and of dictionary members. */
enum value_kind {
    VALUE_NONE, /* ends a list */
    VALUE_OPERAND,
    VALUE_UNSIGNED_LONG,         /* [EnforceRange] */
    VALUE_UNSIGNED_LONG_MODULAR, /* without */
    VALUE_LONG,                  /* [EnforceRange] */
    VALUE_DOUBLE,
    VALUE_FLOAT,
    VALUE_BOOLEAN,
    VALUE_NUMBER, /* MLNumber */
    VALUE_STRING, /* USVString */
    VALUE_DATA_TYPE,
    VALUE_ENUMERATION,
    VALUE_UNSIGNED_LONG_OR_LIST, /* of the two with [EnforceRange] */
    VALUE_LIST = 16,             /* with one of the others: a sequence of it */
    VALUE_UNSIGNED_LONGS = VALUE_LIST | VALUE_UNSIGNED_LONG
};

struct value_row {
    const char *name;
    unsigned kind;             /* of enum value_kind */
    const char *const *values; /* of an enumeration, ending with NULL */
};

enum { VALUES_MAX = 16 };

struct operator_row {
    const char *name;
    const char *dictionary;                 /* of the options */
    struct value_row arguments[VALUES_MAX]; /* required, in order */
    struct value_row options[VALUES_MAX];   /* in the order in which Web IDL reads them */
};

extern const struct operator_row operator_rows[];
extern const size_t operator_count, standard_operator_count; /* rows of the draft come after those */
