/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Classifies a picture with a network that webnnc compiled: links the object, calls one function, prints the five likeliest
 * classes.  It needs no library of this project but (with oneDNN) libwebnn_rt.  With the network in examples/models:
 *
 *   webnnc examples/models/shapes -o shapes.o --header shapes.h --dim batch=1
 *   cc -I. examples/compiled_classifier.c shapes.o $(pkg-config --cflags --libs webnn_rt) -o compiled_classifier
 *
 * or, with nothing but the C library and no state at all:
 *
 *   webnnc examples/models/shapes -o shapes.o --header shapes.h --dim batch=1 --library none
 *   cc -I. -DSTANDALONE examples/compiled_classifier.c shapes.o $(pkg-config --cflags webnn_rt) -o compiled_classifier
 *
 * Usage: compiled_classifier INPUT CLASSES, such as moon.npy and classes.txt of examples/models/shapes.  INPUT: float32,
 * 1 x 1 x 24 x 24, in an .npy file; CLASSES: a name per line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"
#include "webnn/webnn_object.h"

enum { BEST = 5, LINE = 256 };

static float input[shapes_image_elements], probabilities[shapes_probabilities_elements];

/* Returns the data of a version 1 .npy file, which must be float32 in C order with as many elements as the network takes. */
static int read_input(const char *path)
{
    unsigned char head[10];
    char header[1024] = "";
    FILE *f = fopen(path, "rb");
    int ok = f && fread(head, 1, sizeof head, f) == sizeof head && !memcmp(head, "\x93NUMPY\x01", 7);

    if (ok) {
        size_t length = head[8] | (size_t)head[9] << 8;
        ok = length < sizeof header && fread(header, 1, length, f) == length && strstr(header, "'<f4'") &&
             strstr(header, "'fortran_order': False") && fread(input, 1, sizeof input, f) == sizeof input && fgetc(f) == EOF;
    }
    if (f)
        fclose(f);
    if (!ok)
        fprintf(stderr, "%s is no .npy file with %d float32 elements\n", path, shapes_image_elements);
    return ok;
}

static int compute(void)
{
#ifdef STANDALONE
    /* Everything that a run needs comes from here: it calls nothing and keeps nothing. */
    void *workspace = malloc(shapes_workspace_size(1));
    int status = workspace ? shapes_run_with(workspace, NULL, input, probabilities) : WEBNN_OBJECT_NO_MEMORY;

    free(workspace);
    return status;
#else
    shapes_model *model;
    int status = shapes_create(NULL, &model);

    if (status == WEBNN_OBJECT_OK)
        status = shapes_run(model, input, probabilities);
    shapes_destroy(model);
    return status;
#endif
}

static void print_class(const char *path, int index, float probability)
{
    char line[LINE] = "?";
    FILE *f = fopen(path, "r");

    for (int i = 0; f && i <= index; i++)
        if (!fgets(line, sizeof line, f))
            strcpy(line, "?");
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    printf("%6.2f %%  %s\n", 100 * (double)probability, line);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: compiled_classifier INPUT.npy CLASSES.txt\n");
        return 2;
    }
    if (!read_input(argv[1]))
        return 1;
    int status = compute();
    if (status != WEBNN_OBJECT_OK) {
        fprintf(stderr, "the network failed: %s\n", shapes_status_text(status));
        return 1;
    }
    printf("%s for %s\n", shapes_object.producer, shapes_object.target);
    for (int n = 0; n < BEST; n++) {
        int best = 0;
        for (int i = 1; i < shapes_probabilities_elements; i++)
            if (probabilities[i] > probabilities[best])
                best = i;
        print_class(argv[2], best, probabilities[best]);
        probabilities[best] = -1;
    }
    return 0;
}
