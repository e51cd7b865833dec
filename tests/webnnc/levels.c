/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A compiled network with code for several levels of x86-64: levels INPUT EXPECTED COUNT.  It must find COUNT of them, and each
 * must compute the expected results.  For each it prints its number and the bits of the result.
 *
 * levels_found is the object's own variable (codegen/object/runtime/runtime.c), which objcopy has made visible: the number of
 * levels that the processor has, the last of which is used, or 0 before the first request.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lenet.h"

#ifdef ALONE
static uint32_t levels_found = 1; /* an object for one processor has no such variable */
#else
extern uint32_t levels_found;
#endif

static float input[lenet_input_elements], expected[lenet_probabilities_elements];

/* Reads the elements of a .npy file, which are at its end. */
static int read_end(const char *path, void *out, long bytes)
{
    FILE *f = fopen(path, "rb");
    int ok = f && !fseek(f, -bytes, SEEK_END) && fread(out, 1, (size_t)bytes, f) == (size_t)bytes;

    if (f)
        fclose(f);
    return ok;
}

static int run_level(uint32_t level)
{
    float logits[lenet_logits_elements], probabilities[lenet_probabilities_elements];
    uint32_t bits;

    levels_found = level;
    if (lenet_run(input, logits, probabilities) || levels_found != level)
        return 0;
    printf("%u", (unsigned)level);
    for (int i = 0; i < lenet_logits_elements; i++) {
        memcpy(&bits, &logits[i], sizeof bits);
        printf(" %08x", (unsigned)bits);
    }
    printf("\n");
    for (int i = 0; i < lenet_probabilities_elements; i++)
        if (!(fabsf(probabilities[i] - expected[i]) <= 1e-5f)) {
            fprintf(stderr, "level %u: probability %d is %g, not %g\n", (unsigned)level, i, probabilities[i], expected[i]);
            return 0;
        }
    return 1;
}

int main(int argc, char **argv)
{
    float logits[lenet_logits_elements], probabilities[lenet_probabilities_elements];
    const uint32_t wanted = argc == 4 ? (uint32_t)atoi(argv[3]) : 0;

    if (!wanted || !read_end(argv[1], input, sizeof input) || !read_end(argv[2], expected, sizeof expected)) {
        fprintf(stderr, "usage: levels INPUT EXPECTED COUNT\n");
        return 2;
    }
    if (lenet_run(input, logits, probabilities) || levels_found != wanted) {
        fprintf(stderr, "%u levels are found, not %u\n", (unsigned)levels_found, (unsigned)wanted);
        return 1;
    }
    for (uint32_t level = 1; level <= wanted; level++)
        if (!run_level(level))
            return 1;
    return 0;
}
