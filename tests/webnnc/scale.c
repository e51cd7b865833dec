/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test-webnnc-scale FILE.npy FACTOR: the largest absolute value of a float32 array, times FACTOR: a tolerance for all elements.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "frontend/io/npy.h"

int main(int argc, char **argv)
{
    struct npy_array array;
    char message[512];
    double largest = 0;

    if (argc != 3 || !npy_read(argv[1], &array, message, sizeof message) || array.dataType != WNNOperandDataType_Float32)
        return 1;
    for (size_t i = 0; i < npy_elements(&array); i++)
        largest = fmax(largest, fabs((double)((const float *)array.data)[i]));
    npy_free(&array);
    printf("%.17g\n", largest * atof(argv[2]));
    return 0;
}
