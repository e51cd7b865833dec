/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Internals of frontend/load/load.c and frontend/load/load_object.c. */
#pragma once

#include "ir/support/error.h"

/** Returns the graph of a shared object that webnnc made (webnn/webnn_object.h).  Returns NULL after an error in *e. */
WNNGraph load_object(WNNContext context, const char *path, struct error *e);
