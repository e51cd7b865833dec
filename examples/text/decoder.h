/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a language model that an exporter has written with a cache: tokens in, the logits of the last one out.
 *
 * The inputs have the names that exporters agree on: input_ids, attention_mask, position_ids, past_key_values.*; the outputs
 * logits and present.*.  One graph serves blocks of the prompt and tokens, whose number is a named dimension
 * (docs/named-dimensions.md), and the caches are its states (docs/loops.md), so that a step writes its own keys and values
 * alone.  Variants share the packed weights.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "webnn/webnn_model.h"

enum { DECODER_STATES_MAX = 512 };

/** Says how a model is run. */
struct decoder_options {
    const char *path; /**< of the ONNX file */
    uint32_t context; /**< how many tokens the cache has room for */
    uint32_t block;   /**< how many tokens of a prompt are computed at once */
    uint32_t threads; /**< 0: as many as there are processors */
    WNNPrecision precision;
    WNNWeightFormat weights;
    WNNEngine engine;
    const char *device; /**< of the engine for GPUs: a number or a part of its name; NULL: WEBNN_ENGINE's, or the first */
    const char *folder; /**< keeps compiled graphs for the next start; NULL: none */
};

/** Holds a graph for so many tokens at once, and its tensors; those it does not have are NULL. */
struct decoder_step {
    uint32_t length;
    WNNGraph graph;
    WNNTensor ids, mask, positions, past, logits;
    WNNOperandDataType ids_type, mask_type, positions_type;
    uint32_t mask_length;
};

/** Holds a model with its caches.  One thread at a time may use it. */
struct decoder {
    WNNContext context;
    struct decoder_step block, token;
    uint32_t vocabulary, capacity, filled; /**< filled: how many tokens the caches hold */
    bool fixed_cache;                      /**< present is the whole cache; otherwise it is past followed by the new tokens */
    WNNGraph any_length;                   /**< the graph for any number of tokens; NULL: not made yet, or not possible */
    bool is_one;                           /**< the steps are variants of it */
    char length_name[64];                  /**< of that number; "": the file is read for each */
    uint32_t loaded;                       /**< how many of the graphs were there, compiled */
    size_t state_count;
    char input_names[DECODER_STATES_MAX][96], output_names[DECODER_STATES_MAX][96];
    WNNTensor states[DECODER_STATES_MAX];
    float *logits;      /**< of the last token */
    int64_t *integers;  /**< room for the integers of an input */
    char message[1024]; /**< of the last call that failed */
};

/** Reads the model and builds its graphs.  Returns false with a message; decoder_close is due in any case. */
bool decoder_open(struct decoder *d, const struct decoder_options *o);
/** Frees what the decoder holds. */
void decoder_close(struct decoder *d);
/**
 * Takes the next tokens; afterwards d->logits are those of the last one.  Returns false with a message, for more
 * tokens than the cache has room for, too.
 */
bool decoder_feed(struct decoder *d, const int32_t *tokens, size_t count);
