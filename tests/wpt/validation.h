/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files of the runner of validation cases share: the objects that a case has made so far, and what a call came to.
 * Every limit below is above what the data need; a case that needs more ends the program with a message.
 */
#pragma once

#include <cjson/cJSON.h>

#include "webnn/webnn_call.h"

enum {
    CONTEXTS_MAX = 8,
    BUILDERS_MAX = 8,
    OPERANDS_MAX = 64,
    TENSORS_MAX = 16,
    GRAPHS_MAX = 8,
    VALUES_MAX = 16384,
    PENDING_MAX = 4
};

/** What a call came to. */
struct outcome {
    WNNStatus status;
    bool is_promise;
    size_t operand_count; /* results of an operator */
    WNNOperand operands[OPERANDS_MAX];
    void *data; /* of a read */
    size_t bytes;
    WNNTensor tensor;
    WNNGraph graph;
    char message[1024];
    /* a promise that is not settled yet */
    WNNContext context;
    WNNFuture future;
    bool settled;
};

struct run {
    WNNContext context; /* of builders that no call makes: one for the whole file */
    WNNContext contexts[CONTEXTS_MAX];
    WNNGraphBuilder builders[BUILDERS_MAX];
    WNNOperand operands[OPERANDS_MAX];
    WNNTensor tensors[TENSORS_MAX];
    WNNGraph graphs[GRAPHS_MAX];
    WNNMethodValue values[VALUES_MAX]; /* of the call being made */
    size_t value_count;
};

/* ---- reading the data (validation_read.c) ---- */

/** size bytes of zeros, which the caller frees; ends the program if memory runs out. */
void *allocate(size_t size);
/** Returns a file's text, which the caller frees; NULL: there is no such file. */
char *read_text(const char *path);
/** A string or member name as a view; buf receives it. */
WNNStringView view(const char *text, char *buf, size_t size);
/** Returns a member of an object, NULL if there is none. */
static inline const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}
/** A member that is a string; "" if there is none. */
const char *text_of(const cJSON *object, const char *name);
/** Returns a member that is a small number, such as {"operand": 3}. */
int index_of(const cJSON *object, const char *name, int count, int missing);
/** An argument or option as Web IDL would see it.  Lists lie in r->values. */
WNNMethodValue to_value(struct run *r, const cJSON *json);
/** Returns the data type of that name, Undefined if there is none. */
WNNOperandDataType data_type(const char *name);
/** The shape, converted with [EnforceRange].  False: out of range. */
bool to_shape(const cJSON *list, uint32_t shape[64], size_t *rank);
/** Returns whether data type and shape are those of the expectation. */
bool matches(const cJSON *expect, WNNOperandDataType type, const uint32_t *shape, size_t rank);
/** The specification's "validate buffer with descriptor", the half about views: a Uint8Array fits every type; float16 may come
 * as integers of 16 bits, since not every engine has a Float16Array. */
bool view_fits(const char *buffer, const char *type);
/** Returns a number, or one of the words NaN, Infinity and -Infinity. */
double number_of(const cJSON *json);
/** The bytes of {"type", "byteLength", "fill" or "data"}.  Only float32 and bytes of 0 have contents in the data. */
void *buffer_bytes(const cJSON *buffer, size_t *bytes);

/* ---- making calls (validation_calls.c) ---- */

/** Makes one call; its results get the numbers that the data give them. */
void make_call(struct run *r, const cJSON *call, struct outcome *o);
/** Waits until a promise has settled. */
void await(struct outcome *o);
/** After a promise has settled: graphs and tensors get their numbers. */
void take_results(struct run *r, const cJSON *call, struct outcome *o);
