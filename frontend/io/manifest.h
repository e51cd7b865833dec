/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Networks described layer by layer: a folder with a manifest.json and one .npy file per weight (docs/manifest.md).
 *
 * In: the folder.  Out: builder calls by the operators' names (webnn/webnn_call.h), and the test cases that come with the
 * network.
 */
#ifndef WEBNN_FRONTEND_IO_MANIFEST_H_
#define WEBNN_FRONTEND_IO_MANIFEST_H_

#include "frontend/io/npy.h"
#include "frontend/model/model.h"
#include "webnn/webnn.h"

struct manifest;

/** Reads folder/manifest.json, which has a network's layers, or names the model file beside it that its cases are for.  False:
 * message says why. */
bool manifest_open(const char *folder, struct manifest **manifest, char *message, size_t size);
void manifest_close(struct manifest *manifest);
/** The folder, the network's name and what it does; "" if the manifest does not say. */
const char *manifest_folder(const struct manifest *manifest);
const char *manifest_name(const struct manifest *manifest);
const char *manifest_task(const struct manifest *manifest);
/** A text member anywhere below the root: manifest_text(m, "cases", 0, "note"); NULL if there is none. */
const char *manifest_case_text(const struct manifest *manifest, size_t index, const char *key);
/** A number in a case, fallback if there is none. */
double manifest_case_number(const struct manifest *manifest, size_t index, const char *key, double fallback);
size_t manifest_case_count(const struct manifest *manifest);

/** Makes the builder calls.  Weights are lent to the builder and freed when the graph no longer needs them.  False: message
 * says why, *model is empty. */
bool manifest_model(const struct manifest *manifest, WNNContext context, struct model *model, char *message, size_t size);
/** Makes the builder calls and builds. */
WNNStatus manifest_build(const struct manifest *manifest, WNNContext context, WNNGraph *graph, char *message, size_t size);

/** One named array of a case. */
struct manifest_array {
    char *name;
    struct npy_array array;
    double atol; /* outputs: the case's own absolute tolerance, 0 if it has none */
};

struct manifest_case {
    size_t input_count, output_count;
    struct manifest_array *inputs, *outputs;
};

/** Loads the inputs and expected outputs of a case. */
bool manifest_case_load(const struct manifest *manifest, size_t index, struct manifest_case *out, char *message, size_t size);
void manifest_case_free(struct manifest_case *c);

#endif
