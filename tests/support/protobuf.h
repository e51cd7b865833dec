/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes protobuf messages by hand, field by field, so that tests can write invalid ONNX files.  If memory runs out, it ends
 * the process.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/array.h"

/** Appends bytes. */
static inline void put(struct bytes *b, const void *data, size_t length)
{
    if (!bytes_append(b, data, length))
        abort();
}

/** Appends a varint. */
static inline void put_varint(struct bytes *b, uint64_t v)
{
    for (; v > 0x7F; v >>= 7)
        put(b, &(uint8_t){(uint8_t)(v | 0x80)}, 1);
    put(b, &(uint8_t){(uint8_t)v}, 1);
}

/** Appends a field that is a varint. */
static inline void put_int(struct bytes *b, unsigned field, int64_t v)
{
    put_varint(b, field << 3);
    put_varint(b, (uint64_t)v);
}

/** Appends a field that is a 32-bit float. */
static inline void put_float(struct bytes *b, unsigned field, float v)
{
    put_varint(b, field << 3 | 5);
    put(b, &v, sizeof v);
}

/** Appends a field that is a run of bytes. */
static inline void put_bytes(struct bytes *b, unsigned field, const void *data, size_t length)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, length);
    put(b, data, length);
}

/** Appends a field that is a text. */
static inline void put_text(struct bytes *b, unsigned field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

/** Appends a message as a field, and empties it. */
static inline void put_message(struct bytes *b, unsigned field, struct bytes *m)
{
    put_bytes(b, field, m->data, m->length);
    free(m->data);
    *m = (struct bytes){0};
}

/** Appends a ValueInfoProto as a field: a tensor of that type.  dims: sizes and names of dimensions; NULL: there is no shape.
 */
static inline void put_port(struct bytes *b, unsigned field, const char *name, int type, const char *dims)
{
    struct bytes info = {0}, kind = {0}, tensor = {0}, shape = {0}, dim = {0};
    char word[32];
    int length;

    for (const char *at = dims; at && sscanf(at, "%31s%n", word, &length) == 1; at += length) {
        if (strtol(word, NULL, 10))
            put_int(&dim, 1, strtol(word, NULL, 10));
        else
            put_text(&dim, 2, word);
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, type);
    if (dims)
        put_message(&tensor, 2, &shape);
    put_message(&kind, 1, &tensor);
    put_text(&info, 1, name);
    put_message(&info, 2, &kind);
    put_message(b, field, &info);
}
