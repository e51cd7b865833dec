/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the weights of an ONNX file by their names, for programs that build a graph of their own around them.  (model_read,
 * frontend/readers/model.h, makes a whole graph of a file.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "frontend/readers/files/npy.h"

struct onnx_weights;

/** Reads the file, or model.onnx in the folder.  Returns false after a message. */
bool onnx_weights_open(const char *path, struct onnx_weights **w, struct error *e);
/** Frees w, which may be NULL. */
void onnx_weights_close(struct onnx_weights *w);
/**
 * Finds the float32 weight of that name; its data are w's.  Returns false if there is none, or not as float32 inside the file.
 */
bool onnx_weights_find(const struct onnx_weights *w, const char *name, struct npy_array *array);
