/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds a parsed graph of a file: of `.webnn` text (parse.c), or of JSON (frontend/readers/text/json_graph.c).  The
 * compiler's own graphs (graph_parse.c) and builder calls (frontend/readers/text/build.c) are made of it.
 *
 * Everything is in the document's arena.  Nothing here has been checked against an operator: names are not looked up and
 * arguments have the kind that they were written in.  Every item has its position in the file, for messages.
 */
#pragma once

#include "ir/support/name_map.h"
#include "ir/support/number.h"
#include "ir/support/text.h"
#include "ir/text/lex.h"

enum {
    DOCUMENT_RANK_MAX = 32,     /* of shapes as written; operands stay far below */
    DOCUMENT_NESTING_MAX = 32,  /* of lists and objects */
    DOCUMENT_ARGUMENTS_MAX = 64 /* of one node, operands of a concat aside */
};

/** Holds bytes with a NUL after them; there may be others inside. */
struct document_text {
    const char *text;
    size_t length;
    const char *place;
};

enum document_value_kind {
    DOCUMENT_NULL,
    DOCUMENT_NAME, /* a word without quotes */
    DOCUMENT_STRING,
    DOCUMENT_NUMBER,
    DOCUMENT_BOOL,
    DOCUMENT_LIST
};

struct document_value {
    enum document_value_kind kind;
    const char *place;
    struct document_text text; /* NAME, STRING */
    WNNNumber number;
    bool boolean;
    size_t count; /* LIST */
    struct document_value *first, *next;
};

struct document_argument {
    struct document_text key; /* text is NULL if it is positional */
    struct document_value *value;
    struct document_argument *next;
};

struct document_dimension {
    uint32_t size;
    struct document_text name; /* text is NULL if it is fixed; else size is the largest that it may be bound to */
};

struct document_type {
    dtype type; /* may be one that only passes make */
    size_t rank;
    struct document_dimension dims[DOCUMENT_RANK_MAX];
    const char *place;
};

enum document_data { DOCUMENT_NO_DATA, DOCUMENT_SCALAR, DOCUMENT_VALUES, DOCUMENT_BYTES, DOCUMENT_WEIGHTS, DOCUMENT_FILE };

/** Describes an input or a constant. */
struct document_tensor {
    struct document_text name;
    struct document_type type;
    enum document_data data; /* constants */
    const char *data_place;
    WNNNumber scalar;
    size_t count; /* of values or bytes */
    const uint8_t *bytes;
    const WNNNumber *values;
    struct document_text key; /* of weights, or the name of an .npy file, which tells the type */
    struct document_tensor *next;
};

/** Describes what the compiler decided about a node: "@kernel(3)", or "@winograd(operand)". */
struct document_mark {
    struct document_text name, operand; /* operand.text is NULL if it is a number */
    uint32_t number;
    struct document_mark *next;
};

struct document_node {
    struct document_text op;
    struct document_argument *first_argument, *last_argument;
    size_t argument_count; /* of those with a name */
    size_t result_count;
    struct document_text *results;
    struct document_mark *first_mark, *last_mark;
    struct document_node *next;
};

struct document_output {
    struct document_text name, operand;
    struct document_type *type; /* that the file declares, or NULL */
    struct document_output *next;
};

struct document {
    struct arena arena;
    const char *path;   /* of the file; NULL if it is none */
    struct lexer lexer; /* knows the text, for places */
    struct error error;
    struct document_text name;
    struct document_tensor *first_input, *last_input, *first_constant, *last_constant;
    struct document_node *first_node, *last_node;
    struct document_output *first_output, *last_output;
};

/** Begins a document of these bytes, which must outlive it.  arena_free(&d->arena) ends it. */
void document_begin(struct document *d, const char *path, const char *bytes, size_t length);
/** Reads the whole text.  Returns false after an error in the document. */
bool document_parse_text(struct document *d);

/** Appends a zeroed item of its kind.  Returns NULL after an error in the document if memory runs out. */
struct document_tensor *document_add_tensor(struct document *d, bool constant);
struct document_node *document_add_node(struct document *d);
struct document_mark *document_add_mark(struct document *d, struct document_node *n);
struct document_output *document_add_output(struct document *d);
/** Appends an argument, which is positional if key->text is NULL.  Returns NULL also if the node has too many. */
struct document_argument *document_add_argument(struct document *d, struct document_node *n, const struct document_text *key);
/** Makes a zeroed value of that kind.  Returns NULL if memory runs out. */
struct document_value *document_value(struct document *d, enum document_value_kind kind, const char *place);
/** Appends an item to a list, after *last, which is NULL for an empty list and becomes the item. */
void document_append(struct document_value *list, struct document_value **last, struct document_value *item);

/** Notes an error "line:column: ..." at a place.  Returns false. */
#define document_error(d, place, ...) lex_error_at(&(d)->lexer, place, __VA_ARGS__)
/** Notes the error "<what> expected, found <the token at a place>".  Returns false. */
bool document_expected(struct document *d, const char *place, const char *what);
/** Finds a data type by its long or short name.  Returns false after an error. */
bool document_data_type(struct document *d, const struct document_text *name, dtype *type);
/** Converts a number to a whole one within [low, high].  Returns false after an error. */
bool document_integer(struct document *d, const char *place, WNNNumber n, int64_t low, int64_t high, int64_t *out);
/** Reads a text that is a number and nothing else.  Returns false if it is none. */
bool document_number(const struct document_text *text, WNNNumber *number);
/** Returns whether a text is that name. */
static inline bool document_is(const struct document_text *text, const char *name)
{
    return strlen(name) == text->length && !memcmp(name, text->text, text->length);
}
/** Returns whether a value is a word or a string. */
static inline bool document_is_text(const struct document_value *v)
{
    return v->kind == DOCUMENT_NAME || v->kind == DOCUMENT_STRING;
}
/** Escapes a text for a message. */
#define document_escape(buf, t) escape_text((buf), sizeof(buf), (t).text, (t).length)

/** Maps a name to an item; kind ("name", "output") is for the message.  Returns false after an error if it has one already. */
bool document_define(struct document *d, struct name_map *map, const char *kind, const struct document_text *name, void *item);
/** Finds the item of a name.  Returns NULL after an error if there is none. */
void *document_find(struct document *d, const struct name_map *map, const struct document_text *name);
/**
 * Names positional arguments by their positions.  If the first takes a list, operands that follow each
 * other without brackets become one.  Returns false after an error, such as a name that is given twice.
 */
bool document_name_arguments(struct document *d, struct document_node *n, size_t count, const char *const *names, bool list);
/** Checks that a constant lists so many bytes or elements.  Returns false after an error. */
bool document_check_count(struct document *d, const struct document_tensor *t, size_t bytes, size_t elements);
/** Writes a constant's elements, which are not WEIGHTS and whose count was checked, as a type. */
void document_elements(const struct document_tensor *t, dtype type, size_t bytes, void *data);
