/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the sizes that a request for a graph comes to: the key under which a dynamic model keeps graphs.
 *
 * Sizes are one array of numbers: one for each free dimension of the model, then, for each input, a rank and NPY_RANK_MAX
 * sizes. The latter are filled in only for inputs whose sizes no name gives.  0 is not given.
 */
#ifndef WEBNN_FRONTEND_READERS_PUBLIC_SIZES_H_
#define WEBNN_FRONTEND_READERS_PUBLIC_SIZES_H_

#include "frontend/readers/public/reader.h"

/** Returns how many numbers the sizes of a model are. */
size_t sizes_count(const struct model_description *d);
/**
 * Adds the dimensions and shapes of a request to sizes, which are zeros at first.  Returns a TypeError after a message where a
 * name is none of the model's, or sizes contradict each other or the model.
 */
WNNStatus sizes_add(const struct model_description *d, const struct request *r, uint32_t *sizes);
/**
 * Writes the readers' dimensions and shapes for sizes into lists that have room for as many free dimensions and inputs as the
 * model has.
 */
void sizes_options(const struct model_description *d, const uint32_t *sizes, struct model_dim *dims, struct model_shape *shapes,
                   struct model_options *options);

#endif
