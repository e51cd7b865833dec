/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads the test cases that come with a network: a folder's manifest.json names them, and either describes the network layer
 * by layer, with one .npy file for each of its weights, or names its model file (docs/formats.md).
 */
#pragma once

#include "frontend/readers/files/npy.h"
#include "frontend/readers/model.h"
#include "ir/support/error.h"
#include "webnn/webnn.h"

struct manifest;

/**
 * Reads folder/manifest.json, which has a network's layers, or names the model file next to it that its cases are for.  Returns
 * false after a message.
 */
bool manifest_open(const char *folder, struct manifest **manifest, struct error *e);
/** Frees a manifest, which may be NULL, and everything that these functions returned of it. */
void manifest_close(struct manifest *manifest);
/** These return the network's name and what it does, or "" if the manifest does not say. */
const char *manifest_name(const struct manifest *manifest);
const char *manifest_task(const struct manifest *manifest);
/** Returns a text member of a case, or NULL if there is none. */
const char *manifest_case_text(const struct manifest *manifest, size_t index, const char *key);
/** Returns a number of a case, or fallback if there is none. */
double manifest_case_number(const struct manifest *manifest, size_t index, const char *key, double fallback);
/** Returns the number of cases. */
size_t manifest_case_count(const struct manifest *manifest);

/** Reads the folder's network and builds it.  Returns success, or another status after a message. */
WNNStatus manifest_build(const struct manifest *manifest, WNNContext context, WNNGraph *graph, struct error *e);

/** Holds one named array of a case. */
struct manifest_array {
    char *name;
    struct npy_array array;
    double atol; /* an output's own absolute tolerance in this case, 0 if it has none */
};

struct manifest_case {
    size_t input_count, output_count;
    struct manifest_array *inputs, *outputs;
};

/** Loads the inputs and expected outputs of a case, which manifest_case_free frees.  Returns false after a message. */
bool manifest_case_load(const struct manifest *manifest, size_t index, struct manifest_case *out, struct error *e);
/** Frees what a case holds and leaves it empty. */
void manifest_case_free(struct manifest_case *c);
