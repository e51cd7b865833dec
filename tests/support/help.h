/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The option --help of test programs.  PROGRAM_HELP(text) outside of functions says how the program is called; programs of
 * tests (test.h) that take no arguments of their own have a text already.
 */
#pragma once

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** Prints the text and ends the program if the only argument is --help or -h. */
static inline void help_print(int argc, char **argv, const char *text)
{
    if (argc != 2 || (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0))
        return;
    fputs(text, stdout);
    fflush(stdout);
    _exit(0);
}

/** Says how the program is called, also before main for --help. */
#define PROGRAM_HELP(text)                                                                                                     \
    static const char program_help[] = text;                                                                                   \
    __attribute__((constructor(1000))) static void program_has_help(int argc, char **argv)                                     \
    {                                                                                                                          \
        help_print(argc, argv, program_help);                                                                                  \
    }

/** Prints the same after a wrong argument.  It is the status to end with. */
#define WRONG_USAGE (fputs(program_help, stderr), 2)
