/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares the end of an environment's state. */
#ifndef WEBNN_FRONTEND_NODE_ENVIRONMENT_H_
#define WEBNN_FRONTEND_NODE_ENVIRONMENT_H_

#include "frontend/node/addon.h"

/** Gives a reference back; the last one frees the state. */
void environment_release(struct environment *e);

#endif
