/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NumPy .npy files (versions 1 to 3, little-endian, C order). */
#ifndef WEBNN_FRONTEND_IO_NPY_H_
#define WEBNN_FRONTEND_IO_NPY_H_

#include "webnn/webnn.h"

#endif
