/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs many inputs, one after the other, through a program that computes one: lists of files and folders, reading ahead while
 * the caller computes, a line of JSON for each input, progress on a terminal.
 *
 * Paths come in (a batch_list), and two functions of the program: one that reads a file into a slot, and one that computes what
 * is in the slot.  Lines of JSON go out.  A file that cannot be read or computed is reported in its line and counted, and the
 * next one follows.  Read inputs.c (the list), then batch.c.  Functions that return bool return false after an error in *e.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "ir/support/error.h"

/* ---- lists (inputs.c) ---- */

/** Holds the paths of inputs, which batch_list_free frees. */
struct batch_list {
    size_t count;
    char **paths;
};

/** Returns whether a path names a folder. */
bool batch_is_folder(const char *path);
/**
 * Appends a path; of a folder the files below it in the order of their names.  Names that begin with a dot, pipes and devices
 * are left out of a folder, as is a folder that is met again inside itself.  What cannot be opened becomes an input that
 * fails.  Returns false if memory runs out.
 */
bool batch_list_add(struct batch_list *l, const char *path, struct error *e);
/**
 * Appends the paths in the lines of a text file, "-" for standard input, as batch_list_add does.  Empty lines are left out.
 * Relative paths are relative to the working directory.
 */
bool batch_list_read(struct batch_list *l, const char *path, struct error *e);
/** Frees the paths and leaves the list empty. */
void batch_list_free(struct batch_list *l);

/* ---- running (batch.c) ---- */

/** Of the slots one holds the input that is computed, and the others what each reader reads and what waits. */
enum { BATCH_SLOTS = 4, BATCH_READERS = 2 };

/** Describes how an input is read and computed.  `slot` is below BATCH_SLOTS, and belongs to one input from read to compute. */
struct batch_work {
    const char *program; /* begins progress and notes */
    void *user;
    /** Reads a file into the slot; on threads of the batch, several slots at once.  After false the slot holds nothing. */
    bool (*read)(void *user, size_t slot, const char *path, struct error *e);
    /**
     * Computes what the slot holds and gives it back, also when it returns false; on the caller's thread, in the list's order.
     * It prints members of a JSON object (`"ms": 1.5, "top": []`), which are dropped if it returns false.
     */
    bool (*compute)(void *user, size_t slot, FILE *members, struct error *e);
    /** Gives back what the slot holds, when the batch ends before it is computed. */
    void (*drop)(void *user, size_t slot);
};

/**
 * Reads and computes every input, and prints a line for each to `out`: {"input": PATH, members}, or {"input": PATH, "error":
 * MESSAGE}.  If `show_progress` is set and stderr is a terminal, a line there says how far it is, how many inputs a second are
 * computed and how long the rest takes.  Stores how many inputs failed in *failed, and says so on stderr if there are any.
 * Returns false after a message on stderr if the lines could not be written or memory has run out; then the rest was left.
 */
bool batch_run(const struct batch_list *l, const struct batch_work *w, FILE *out, bool show_progress, size_t *failed);

/** Prints a number as JSON has it: null for a number that is not finite. */
void batch_print_number(FILE *out, double x);
/** Prints a string as JSON has it, in quotes. */
void batch_print_string(FILE *out, const char *text);
