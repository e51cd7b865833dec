/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares how documents (ir/text/document.h) of JSON are read, and how builder calls are made of any. */
#ifndef WEBNN_FRONTEND_READERS_TEXT_BUILD_H_
#define WEBNN_FRONTEND_READERS_TEXT_BUILD_H_

#include "frontend/readers/model.h"
#include "ir/text/document.h"

/** Reads the JSON twin of `.webnn` text.  Returns false after an error in the document. */
bool document_parse_json(struct document *d);

/** Makes the builder calls and the ports.  Returns false after an error in the document. */
bool document_build(struct document *d, WNNContext context, const struct model_options *options, struct model *model);

#endif
