/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Turns text into the tokens of a language model and back, as the tokenizer.json next to the model says.
 *
 * Byte pair encoding is there in its two forms: over bytes (GPT-2 and what came after it) and over characters with bytes for
 * what is missing (SentencePiece, as in Llama 2 and Gemma).  What a file wants beyond that is refused by its name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "examples/text/text.h"

/** Holds what a tokenizer.json says.  Any number of threads may use it. */
struct tokenizer;

/** Reads a file.  Returns false, with a message, for a file that is not a tokenizer and for one of another kind. */
bool tokenizer_read(const char *path, struct tokenizer **tokenizer, char *message, size_t size);
/** Frees it; NULL is allowed. */
void tokenizer_free(struct tokenizer *t);
/**
 * Returns the tokens of a text in UTF-8, with those that the tokenizer puts around every text.  *ids is the caller's (free).
 * Returns false, with a message, for text that is not UTF-8 and if memory runs out.
 */
bool tokenizer_encode(const struct tokenizer *t, const char *text, size_t length, int32_t **ids, size_t *count, char *message,
                      size_t size);
/**
 * Adds the bytes that a token stands for, which may be a part of a character; special tokens have none.  `first` says that the
 * token begins the text, where some tokenizers drop a space.
 */
void tokenizer_decode(const struct tokenizer *t, int32_t id, bool first, struct text *out);
/** Returns the token with exactly this text, or -1. */
int32_t tokenizer_find(const struct tokenizer *t, const char *text, size_t length);
