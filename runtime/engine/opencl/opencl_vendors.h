/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Opens the OpenCL libraries of vendors without a loader.
 */
#ifndef WEBNN_RUNTIME_ENGINE_OPENCL_OPENCL_VENDORS_H_
#define WEBNN_RUNTIME_ENGINE_OPENCL_OPENCL_VENDORS_H_

#include "runtime/engine/opencl/opencl_api.h"

/** Names the libraries of vendors; the list ends with NULL. */
extern const char *const opencl_vendors_known[];

/**
 * Opens those of the named libraries that there are.  Returns the functions of the vendors that have a platform, as a list that
 * stays; NULL if none has.  Writes into `lacks`, which has room for `room` bytes, what the libraries lack that were opened in
 * vain, each with ", " in front of it, or that there is none of them.  It is called once.
 */
const struct opencl_api *opencl_vendors_open(const char *const *names, char *lacks, size_t room);

#endif
