/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts of a tokenizer: steps over text (tokenizer_steps.c), byte pair encoding (tokenizer_merge.c). */
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cjson/cJSON.h>

#include "examples/text/tokenizer.h"

/** SentencePiece's sign for a space, U+2581. */
#define SPACE_SIGN "\xe2\x96\x81"

enum { STEPS_MAX = 16, AROUND_MAX = 16, IDS_MAX = 1 << 24 };

/** Names the kinds of steps; each takes the text of the one before it. */
enum step_kind {
    STEP_UNICODE,   /**< one of the four normal forms */
    STEP_LOWERCASE, /**< every character by itself */
    STEP_PREPEND,   /**< text in front of text that is not empty */
    STEP_REPLACE,   /**< every match by text */
    STEP_STRIP,     /**< white space at the ends */
    STEP_SPLIT,     /**< into pieces, by matches */
    STEP_BYTES,     /**< every byte by the character that stands for it in the vocabulary */
    STEP_FIRST,     /**< text in front of the first piece of the whole text that does not begin with it */
    STEP_EACH,      /**< the same for every piece */
};

/** Says what becomes of matches when text is split. */
enum split_rule { SPLIT_ISOLATED, SPLIT_REMOVED, SPLIT_WITH_PREVIOUS, SPLIT_WITH_NEXT, SPLIT_CONTIGUOUS };

struct step {
    enum step_kind kind;
    pcre2_code *pattern;
    const char *text;
    enum split_rule rule;
    bool invert;      /**< what the pattern does not match is what matches */
    int form;         /**< utf8proc's options */
    bool left, right; /**< which ends are stripped */
};

struct piece {
    size_t begin, end;
};

/** Holds a text that is cut into pieces. */
struct pieces {
    struct text text;
    struct piece *items;
    size_t count, capacity;
};

struct token {
    const char *text;
    size_t length;
    int32_t id;
};

struct merge {
    int32_t left, right, result;
    uint32_t rank;
};

/** Describes a token that is found in the text before anything else happens to it. */
struct added_token {
    struct token token;
    bool special, strip_left, strip_right, single_word;
};

struct tokenizer {
    cJSON *root; /**< owns all strings */
    struct token *tokens;
    size_t token_count; /**< sorted by their bytes */
    const struct token **by_id;
    size_t id_count;
    struct merge *merges; /**< sorted by left and right */
    size_t merge_count;
    struct added_token *added; /**< the longest first */
    size_t added_count;
    struct step steps[STEPS_MAX];
    size_t step_count, normalizer_count; /**< the first steps are the normalizer's, which come before any split */
    int32_t before[AROUND_MAX], after[AROUND_MAX];
    size_t before_count, after_count;
    int32_t unknown, bytes[256]; /**< -1: none */
    bool byte_fallback, fuse_unknown, ignore_merges;
    bool decodes_bytes, decodes_spaces, decodes_fallback, strips_first; /**< what its decoder does */
};

/** Holds the tokens of a text while they are found. */
struct ids {
    int32_t *items;
    size_t count, capacity;
    bool failed;
};

void ids_add(struct ids *ids, int32_t id);
/** Returns a token by its bytes, or NULL. */
const struct token *tokenizer_token(const struct tokenizer *t, const char *text, size_t length);
/** Adds the tokens of one piece. */
void tokenizer_merge(const struct tokenizer *t, const char *text, size_t length, struct ids *ids);

/** Applies all steps to a text.  `first` says that the text begins the whole one.  Returns false, with a message. */
bool steps_apply(const struct tokenizer *t, const char *text, size_t length, bool first, struct pieces *out, char *message,
                 size_t size);
void pieces_free(struct pieces *p);
/** Returns the character that stands for a byte in a vocabulary over bytes, and the byte for a character, or -1. */
int32_t byte_to_character(unsigned char byte);
int byte_of_character(int32_t character);

/** Reads the steps of a normalizer or of a pre_tokenizer.  Returns false, with a message. */
bool steps_read_normalizer(struct tokenizer *t, const cJSON *j, char *message, size_t size);
bool steps_read_splitter(struct tokenizer *t, const cJSON *j, char *message, size_t size);

/** Returns a member that is text, or "". */
const char *member_text(const cJSON *j, const char *name);
/** Returns a member that is true or false, or what it is when it is missing. */
bool member_is(const cJSON *j, const char *name, bool missing);
/** Orders tokens by their bytes, and merges by left and right: for sorting and for finding. */
int token_order(const void *a, const void *b);
int merge_order(const void *a, const void *b);
/** Says that the file wants a kind of something that this program does not have.  Returns false. */
bool tokenizer_refuse(char *message, size_t size, const char *what, const char *type);
/** Writes a message.  Returns false. */
bool tokenizer_error(char *message, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
