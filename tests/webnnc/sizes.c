/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program around an object for several sizes (any.o) and objects for one of them each (one.o, four.o): it computes what they
 * do, refuses other sizes, and says which it has.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any.h"
#include "four.h"
#include "one.h"
#include "webnn/webnn_object.h"

enum { PICTURE = one_image_elements, CLASSES = one_probabilities_elements };

static int differs(const float *got, const float *wanted, int count)
{
    float largest = 0, difference = 0;

    for (int i = 0; i < count; i++) {
        largest = fmaxf(largest, fabsf(wanted[i]));
        difference = fmaxf(difference, fabsf(got[i] - wanted[i]));
    }
    return !(difference <= 1e-4f * largest); /* the models' README */
}

int main(void)
{
    extern const struct webnn_object_sizes any_sizes __asm__("any_object");
    static float images[4 * PICTURE], got[4 * CLASSES], wanted[4 * CLASSES];
    void *workspace = malloc(any_workspace_size(1));
    int wrong = any_image_elements(4) != 4 * PICTURE || any_probabilities_elements(1) != CLASSES || any_image_elements(3);

    for (int i = 0; i < 4 * PICTURE; i++)
        images[i] = (float)(i * 7919 % 1009) / 512 - 1;
    wrong |= (any_run(4, images, got) || four_run(images, wanted) || differs(got, wanted, 4 * CLASSES)) << 1;
    wrong |= (any_run_with(workspace, NULL, 1, images, got) || one_run(images, wanted) || differs(got, wanted, CLASSES)) << 2;
    wrong |= (any_run(3, images, got) != WEBNN_OBJECT_BAD_SIZE || any_run(1, images, NULL) != WEBNN_OBJECT_BAD_ARGUMENT) << 3;
    wrong |= (any_sizes.object.version != WEBNN_OBJECT_SIZES_VERSION || any_sizes.size_count != 1 ||
              any_sizes.variant_count != 2 || strcmp(any_sizes.names[0], "batch") != 0 || any_sizes.sizes[1] != 4 ||
              any_sizes.object.inputs[0].shape[0] || any_sizes.object.inputs[0].shape[2] != 24)
             << 4;
    wrong |= (strcmp(any_status_text(WEBNN_OBJECT_BAD_SIZE), webnn_object_status_text(6)) != 0) << 5;
    free(workspace);
    if (wrong)
        printf("wrong: 0x%x\n", (unsigned)wrong);
    return wrong;
}
