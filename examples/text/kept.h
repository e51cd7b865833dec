/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names the files in which compiled graphs of a language model are kept. */
#pragma once

#include "examples/text/decoder.h"

/**
 * Returns the path of the graph for so many tokens at once and a cache of that length, for free(), or NULL if memory runs out.
 * It is another one for every other model, device and option.  The folder is made unless it is there.
 */
char *kept_path(WNNContext context, const struct decoder_options *o, uint32_t capacity, uint32_t length);
