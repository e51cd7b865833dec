/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds a graph as a file says it, in `.webnn` text (text.c) or its JSON twin (json_graph.c), before any builder call
 * (build.c).
 *
 * Everything lies in the document's arena.  Nothing here has been checked against an operator: names are not looked up and
 * arguments have the kind that they were written in.  Every piece knows its place in the file, for messages.
 */
#ifndef WEBNN_FRONTEND_TEXT_DOCUMENT_H_
#define WEBNN_FRONTEND_TEXT_DOCUMENT_H_

#include "frontend/model/model.h"
#include "ir/text/lex.h"

enum {
    DOCUMENT_RANK_MAX = 32,     /* of shapes as written; operands stay far below */
    DOCUMENT_NESTING_MAX = 32,  /* of lists and objects */
    DOCUMENT_ARGUMENTS_MAX = 64 /* of one node, operands of a concat aside */
};

/** Holds bytes with a NUL behind them; there may be others inside. */
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
    WNNOperandDataType dataType;
    size_t stored_size; /* of an element in the file, if that is a type which only passes make (bfloat16: 2, float64: 8),
                         * else 0; dataType is float32 then */
    size_t rank;
    struct document_dimension dims[DOCUMENT_RANK_MAX];
    const char *place;
};

enum document_data { DOCUMENT_NO_DATA, DOCUMENT_SCALAR, DOCUMENT_VALUES, DOCUMENT_BYTES, DOCUMENT_WEIGHTS };

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
    struct document_text key; /* of weights */
    struct document_tensor *next;
};

struct document_node {
    struct document_text op;
    struct document_argument *first_argument, *last_argument;
    size_t argument_count;
    size_t result_count;
    struct document_text *results;
    struct document_node *next;
};

struct document_output {
    struct document_text name, operand;
    struct document_output *next;
};

struct document {
    struct arena arena;
    const char *path;
    struct lexer lexer; /* knows the text, for places */
    struct error error;
    struct document_text name;
    struct document_tensor *first_input, *last_input, *first_constant, *last_constant;
    struct document_node *first_node, *last_node;
    struct document_output *first_output, *last_output;
};

/** Appends a zeroed item of its kind.  Returns NULL after an error in the document if memory runs out. */
struct document_tensor *document_add_tensor(struct document *d, bool constant);
struct document_node *document_add_node(struct document *d);
struct document_output *document_add_output(struct document *d);
/** Appends an argument, which is positional if key->text is NULL.  Returns NULL also if the node has too many. */
struct document_argument *document_add_argument(struct document *d, struct document_node *n, const struct document_text *key);
/** Makes a zeroed value of that kind.  Returns NULL if memory runs out. */
struct document_value *document_value(struct document *d, enum document_value_kind kind, const char *place);

/** Notes an error "line:column: ..." at a place.  Returns false. */
bool document_error(struct document *d, const char *place, const char *format, ...) PRINTF_LIKE(3, 4);
/** Finds a data type by its long or short name.  Returns false after an error, which int4 and uint4 are, too. */
bool document_data_type(struct document *d, const char *text, size_t length, const char *place, WNNOperandDataType *type);
/**
 * Returns the bytes of an element of a data type that only passes make, which dumps hold, or 0 if the name is none of those.
 */
size_t document_stored_size(const char *text, size_t length);
/** Escapes a text for a message. */
#define document_escape(buf, t) escape_text((buf), sizeof(buf), (t).text, (t).length)

/** These read text or JSON into the document.  They return false after an error in the document. */
bool document_parse_text(struct document *d);
bool document_parse_json(struct document *d);

/** Makes the builder calls and the ports.  Returns false after an error in the document. */
bool document_build(struct document *d, WNNContext context, const struct model_options *options, struct model *model);

#endif
