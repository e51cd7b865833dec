/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading and writing of NumPy .npy files. */
#include "frontend/io/npy.h"
