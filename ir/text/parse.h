/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the files of the parser share: its state, and the pieces that statements of all kinds are made of
 * (ir/text/parse_words.c).  Every function moves behind what it reads, and returns false with an error that says where.
 */
#ifndef WEBNN_IR_TEXT_PARSE_H_
#define WEBNN_IR_TEXT_PARSE_H_

#include "ir/text/lex.h"
#include "ir/support/name_map.h"

enum block_kind { BLOCK_INPUTS, BLOCK_CONSTS, BLOCK_NODES, BLOCK_OUTPUTS, BLOCK_KINDS };

struct parse_block {
    enum block_kind kind;
    size_t at; /* behind its brace */
    struct parse_block *next;
};

/* This is a growing array in the scratch arena. */
struct parse_list {
    char *items;
    size_t count, capacity;
};

struct parse_mark {
    struct node *node;
    struct parse_mark *next;
    const char *place;
    enum cluster_kind kind;
    uint32_t index;
};

struct parser {
    struct lexer l;
    struct graph *g;
    struct arena scratch;
    struct name_map values, outputs;
    struct parse_block *first_block, *last_block;
    struct parse_mark *first_mark, *last_mark;
    int64_t scalar_bytes;
    weights_lookup lookup;
    void *user;
};

/* This is a text with its length: names may hold any bytes. */
struct parse_name {
    char *text;
    size_t length;
    const char *place; /* for messages */
};

/** Sets the error "out of memory".  Returns false. */
bool parse_out_of_memory(struct parser *p);
/** Sets the error "<what> expected, found <the current token>".  Returns false. */
bool parse_expected(struct parser *p, const char *what);
/** Moves past the sign, which must be there. */
bool parse_sign(struct parser *p, char sign);
/** Moves past the sign if it is there. */
bool parse_accept(struct parser *p, char sign, bool *there);
/** Reads what stands behind an item of a list: a comma, or the sign `close`, which sets *end.  A comma may stand before the
 * end. */
bool parse_list_end(struct parser *p, char close, bool *end);
/** Appends a copy of an item of `size` bytes. */
bool parse_list_add(struct parser *p, struct parse_list *list, const void *item, size_t size);

/** Reads a name or a string and copies it to the arena with a NUL behind it. */
bool parse_text(struct parser *p, const char *what, struct arena *arena, struct parse_name *name);
/** Reads a name for something new, and copies it to the graph's arena. */
bool parse_new_name(struct parser *p, struct parse_name *name);
/** Gives v its name.  Returns false after an error if another value has it. */
bool parse_define(struct parser *p, const struct parse_name *name, struct value *v);
/** Finds the value that the current token names; *v is NULL for the word null. */
bool parse_operand(struct parser *p, struct value **v);
/** Reads a whole number within [lowest, highest]. */
bool parse_integer(struct parser *p, int64_t lowest, int64_t highest, int64_t *value);
/** Reads a whole number that fits an uint32_t. */
bool parse_uint32(struct parser *p, uint32_t *value);
/** Reads a data type and a shape, and checks them with type_check. */
bool parse_type(struct parser *p, struct tensor_type *type);

/** Reads "results = operator(arguments) mark" (ir/text/parse_node.c). */
bool parse_node(struct parser *p);
/** Makes clusters of the marks of all nodes. */
bool parse_finish_marks(struct parser *p);

#endif
