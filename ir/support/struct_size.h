/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads public structs that grow: their first member, size_t structSize, is the size that the program was compiled with
 * (webnn/webnn_options.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * Returns the size of the first version of a struct, in bytes, given the last member of that version.  A member that is
 * appended must begin after the padding of the version before it, since structSize counts the padding, too.
 */
#define STRUCT_FIRST_SIZE(T, last) (offsetof(T, last) + sizeof(((T *)NULL)->last))

/** Describes a public struct of this version of the library. */
struct known_struct {
    size_t size;          /* of the struct as this library has it */
    size_t first_size;    /* STRUCT_FIRST_SIZE: as much as every program has, also one with structSize 0.  It stays as it is
                             when members are appended. */
    const void *defaults; /* a struct of that size */
    const char *init;     /* the name of the macro that makes it */
};

/**
 * Copies a struct that a program gave into `out`, of known->size bytes: members missing in the program's version get their
 * defaults.  out's structSize is given's, so that the caller sees whether zeros are explicit (not 0).  Returns NULL, or the
 * error wrong with structSize, in `text`; out then has what could be copied: the defaults where the size is too small.
 */
const char *struct_read(void *out, const void *given, const struct known_struct *known, char *text, size_t text_size);
