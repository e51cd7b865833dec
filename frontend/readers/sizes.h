/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Binds the sizes that a model's inputs leave open to what options say: dimensions by name, shapes of inputs, and the shapes of
 * operands and constants that stand for inputs.
 *
 * Sizes are one array of numbers: one for each free dimension of the model, then, for each input, a rank and NPY_RANK_MAX
 * sizes. The latter are filled in only for inputs whose sizes no name gives.  0 is not given; numbers are one more than what
 * they say, but for the sizes of such an input.
 */
#pragma once

#include "frontend/readers/describe.h"

/** Returns how many numbers the sizes of a model are. */
size_t sizes_count(const struct model_description *d);
/**
 * Adds what options say to sizes, which are zeros at first.  Returns false after an error in *e where a name is none of the
 * model's, or sizes contradict each other or the model.  Shapes of operands and constants that do not fit their input are left
 * alone (model_binding_fit and model_constant_fit refuse them).
 */
bool sizes_add(const struct model_description *d, const struct model_options *o, uint32_t *sizes, struct error *e);
/**
 * Writes the readers' dimensions and shapes for sizes into lists that have room for as many free dimensions and inputs as the
 * model has.
 */
void sizes_options(const struct model_description *d, const uint32_t *sizes, struct model_dim *dims, struct model_shape *shapes,
                   struct model_options *options);
/** Writes the shape that an input is declared with: 0 for open dimensions, whose names, or NULL, are in names. */
void sizes_declared(const WNNModelDeclaration *input, uint32_t *dims, const char **names);
/**
 * Finds the shape of an input; dims has room for its rank.  With o->named an open size that has a name is UINT32_MAX.  Where
 * a size is open it returns false, and *text, which free()
 * takes, has a line more that says how to give it, once for each name.
 */
bool sizes_shape(const struct model_description *d, const uint32_t *sizes, size_t input, const struct model_options *o,
                 size_t *rank, uint32_t *dims, char **text);
