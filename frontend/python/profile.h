/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the profile of a context: times that threads of the library report, kept until the program asks for them.  So no
 * thread but the program's own ever runs Python.
 */
#ifndef WEBNN_FRONTEND_PYTHON_PROFILE_H_
#define WEBNN_FRONTEND_PYTHON_PROFILE_H_

#include "frontend/python/module.h"

/** Makes a profile and enters it in the options. */
struct profile *profile_create(WNNContextOptions *options);
/** Frees a profile whose context could not be created.  NULL is allowed. */
void profile_free(struct profile *p);
/** Lets the context free the profile when it goes, after all work. */
void profile_entrust(struct profile *p, WNNContext context);
/** Returns a list of the times that have been kept, {"submitted": ..., "begun": ..., "ended": ...}, and forgets them. */
PyObject *profile_take(struct profile *p);

#endif
