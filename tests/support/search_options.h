/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the options that programs have in common which search for failures among things made at random. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct search_options {
    uint64_t seed;     /* of the first thing that is made */
    uint64_t count;    /* so many are made */
    uint64_t failures; /* the search ends after that many */
    double seconds;    /* the search ends after that time */
    double shrink;     /* time spent on reducing a failure */
};

/** Reads an option with a value.  Returns false if it is none of these. */
static inline bool search_option(struct search_options *o, const char *name, const char *value)
{
    if (!strcmp(name, "--seed"))
        o->seed = strtoull(value, NULL, 10);
    else if (!strcmp(name, "--count"))
        o->count = strtoull(value, NULL, 10);
    else if (!strcmp(name, "--failures"))
        o->failures = strtoull(value, NULL, 10);
    else if (!strcmp(name, "--seconds"))
        o->seconds = strtod(value, NULL);
    else if (!strcmp(name, "--shrink"))
        o->shrink = strtod(value, NULL);
    else
        return false;
    return true;
}
