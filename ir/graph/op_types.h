/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names of the types of the operator table, for programs that write an interface in another language from it.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/graph/op_draft.h"

/** The option structs of C.  The specification's dictionaries have the same names with the prefix ML instead of WNN. */
static const char *const option_structs[DRAFT_END] = {
#define OP(id, name, Method, options, ...) [OP_##id] = #options,
#include "ir/graph/ops.def"
#include "ir/graph/ops_draft.def"
#undef OP
};

/** Returns whether the option struct of an operator is also that of one before it. */
static inline bool option_struct_is_known(enum op op)
{
    for (enum op earlier = 0; earlier < op; earlier++)
        if (option_structs[earlier] && !strcmp(option_structs[earlier], option_structs[op]))
            return true;
    return false;
}

/** The specification's names of the enumerations.  C's have the prefix WNN instead of ML. */
static const struct {
    enum attr_enum value;
    const char *name;
} enumerations[] = {
    {ENUM_INPUT_LAYOUT, "MLInputOperandLayout"},
    {ENUM_CONV2D_FILTER_LAYOUT, "MLConv2dFilterOperandLayout"},
    {ENUM_CONV_TRANSPOSE2D_FILTER_LAYOUT, "MLConvTranspose2dFilterOperandLayout"},
    {ENUM_GRU_LAYOUT, "MLGruWeightLayout"},
    {ENUM_LSTM_LAYOUT, "MLLstmWeightLayout"},
    {ENUM_ACTIVATION, "MLRecurrentNetworkActivation"},
    {ENUM_DIRECTION, "MLRecurrentNetworkDirection"},
    {ENUM_PADDING_MODE, "MLPaddingMode"},
    {ENUM_ROUNDING_TYPE, "MLRoundingType"},
    {ENUM_INTERPOLATION_MODE, "MLInterpolationMode"},
};
enum { ENUMERATION_COUNT = sizeof(enumerations) / sizeof(enumerations[0]) };

/** Returns the specification's name of an enumeration; ends the program if it has none here. */
static inline const char *enumeration_name(enum attr_enum e)
{
    for (size_t i = 0; i < ENUMERATION_COUNT; i++)
        if (enumerations[i].value == e)
            return enumerations[i].name;
    fprintf(stderr, "enumeration %d has no name\n", (int)e);
    exit(1);
}

/** Prints each enumeration: its name as the format `head` says, its values in quotes, with commas or the like between them. */
static inline void print_values_of_enumerations(const char *head, char quote, const char *comma, const char *tail)
{
    for (size_t i = 0; i < ENUMERATION_COUNT; i++) {
        const char *name;

        printf(head, enumerations[i].name);
        for (unsigned v = 0; (name = enum_value_name(enumerations[i].value, v)); v++)
            printf("%s%c%s%c", v ? comma : "", quote, name, quote);
        fputs(tail, stdout);
    }
}

/** A line of a template, such as "@METHODS@\n", and the function that prints its replacement. */
struct template_line {
    const char *line;
    void (*print)(void);
};

/**
 * Is the main function of a program that prints an interface: --c, or OPTION and a template, whose lines are replaced by
 * `lines`, which end with NULL.
 */
static inline int print_interface(int argc, char **argv, void (*print_c)(void), const char *option,
                                  const struct template_line *lines)
{
    char line[1000];
    FILE *in = NULL;

    if (argc == 2 && !strcmp(argv[1], "--c")) {
        print_c();
    } else if (argc == 3 && !strcmp(argv[1], option)) {
        in = fopen(argv[2], "r");
        if (!in)
            perror(argv[2]);
    } else {
        fprintf(stderr, "usage: %s --c | %s TEMPLATE\n", argv[0], option);
        return 2;
    }
    while (in && fgets(line, sizeof(line), in)) {
        const struct template_line *l = lines;

        while (l->line && strcmp(l->line, line) != 0)
            l++;
        if (l->line)
            l->print();
        else
            fputs(line, stdout);
    }
    if (in)
        fclose(in);
    if (fflush(stdout) || ferror(stdout))
        perror("standard output");
    return fflush(stdout) || ferror(stdout) || (argc == 3 && !in);
}
