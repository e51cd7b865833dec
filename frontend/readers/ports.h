/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds a model's inputs or outputs by their names.
 */
#pragma once

#include "frontend/readers/model.h"
#include "ir/support/name_map.h"

/**
 * Fills an empty index, which name_map_free must free, with ports.  Of several ports with one name the first
 * counts.  The index points into ports, whose names are not copied.  Returns false if memory runs out.
 */
bool ports_index(struct model_port *ports, size_t count, struct name_map *index);
/** Returns the port of that name, or NULL if there is none.  The time does not depend on the number of ports. */
const struct model_port *ports_find(const struct name_map *index, WNNStringView name);

/**
 * Returns whether an output says how many elements of a dimension of another one count: it is called NAME.shape[D].  *of is
 * NAME then, a part of the text, and *dimension D.
 */
bool ports_is_count(WNNStringView name, WNNStringView *of, size_t *dimension);
