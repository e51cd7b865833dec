/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What frontend/load.c and frontend/load_object.c share. */
#ifndef WEBNN_FRONTEND_LOAD_H_
#define WEBNN_FRONTEND_LOAD_H_

#include "ir/ir.h"

/** The graph of a shared object that webnnc made (webnn/webnn_object.h).  NULL: e. */
WNNGraph load_object(WNNContext context, const char *path, struct error *e);

#endif
