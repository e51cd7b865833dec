/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prepares a file for protobuf-c: says of the bytes of a protobuf message whether protobuf-c can take it, and makes the message
 * without the bytes of its weights.
 *
 * protobuf-c unpacks nested messages by recursion without a limit, and a graph within an attribute within a node within a graph
 * takes a handful of bytes per level: a file of a megabyte would overflow the stack.  A message that can be there once may come
 * in pieces, which it merges by copying the lists of all earlier pieces, so that time grows with the square of their number.
 * So the bytes are walked first, just far enough to follow the fields that hold messages, and both are refused; no writer makes
 * such pieces.  Other malformed messages are left to protobuf-c.
 *
 * It also copies every bytes field.  A model is mostly those, the raw_data of its tensors, so they are left in the file: each
 * of at least a reference's size is replaced by one, and lengths around it are written with as many bytes as they had (a varint
 * may have leading zeros), so that one walk does it.  A raw_data of exactly a reference's size is therefore always a reference.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/onnx/internal.h"

/** Reads a varint of at most 10 bytes.  Returns false if the bytes end in it. */
static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (*at == end)
            return false;
        if (shift < 64)
            *value |= (uint64_t)(**at & 0x7F) << shift;
        if (!(*(*at)++ & 0x80))
            return true;
    }
    return false;
}

/**
 * Describes a field in the bytes: key, then (in length-delimited ones) a length from `size_at` on, then `size` bytes from
 * `body` on.
 */
struct wire_field {
    uint64_t key;
    const uint8_t *size_at, *body;
    size_t size;
    const ProtobufCFieldDescriptor *descriptor; /* NULL: unknown, or no message */
    bool is_raw_data;
};

/** Reads the field at *at and moves past it.  Returns false if it is malformed, which protobuf-c will say. */
static bool read_field(const uint8_t **at, const uint8_t *end, const ProtobufCMessageDescriptor *type, struct wire_field *f)
{
    enum { RAW_DATA = 9 }; /* TensorProto's */
    const ProtobufCFieldDescriptor *descriptor;
    uint64_t size = 0;

    if (!read_varint(at, end, &f->key))
        return false;
    f->size_at = *at;
    switch (f->key & 7) {
    case 0:
        if (!read_varint(at, end, &size))
            return false;
        size = 0;
        break;
    case 1:
        size = 8;
        break;
    case 2:
        if (!read_varint(at, end, &size))
            return false;
        break;
    case 5:
        size = 4;
        break;
    default:
        return false;
    }
    if (size > (uint64_t)(end - *at))
        return false;
    f->body = *at;
    f->size = (size_t)size;
    *at += size;
    descriptor = f->key >> 3 <= UINT32_MAX ? protobuf_c_message_descriptor_get_field(type, (unsigned)(f->key >> 3)) : NULL;
    f->descriptor = (f->key & 7) == 2 && descriptor && descriptor->type == PROTOBUF_C_TYPE_MESSAGE ? descriptor : NULL;
    f->is_raw_data = (f->key & 7) == 2 && f->key >> 3 == RAW_DATA && type == &onnx__tensor_proto__descriptor;
    return true;
}

/** Returns the flaw of a message that protobuf-c must not see, or NULL if there is none.  Adds to *lifted how much shorter
 * lift makes the message. */
static const char *onnx_wire_check(const void *bytes, size_t length, const ProtobufCMessageDescriptor *type, unsigned depth,
                                   size_t *lifted)
{
    const uint8_t *at = bytes, *end = at + length;
    uint64_t seen = 0; /* a bit per field that is there once */
    struct wire_field f;

    if (depth > WIRE_DEPTH_MAX)
        return "messages are nested too deeply";
    while (at < end && read_field(&at, end, type, &f)) {
        const char *wrong = f.descriptor ? onnx_wire_check(f.body, f.size, f.descriptor->descriptor, depth + 1, lifted) : NULL;

        if (wrong)
            return wrong;
        if (f.descriptor && f.descriptor->label != PROTOBUF_C_LABEL_REPEATED) {
            uint64_t bit = UINT64_C(1) << (f.descriptor - type->fields) % 64;

            if (seen & bit)
                return "a message that may occur once occurs twice";
            seen |= bit;
        }
        if (f.is_raw_data && f.size >= sizeof(struct onnx_wire_reference))
            *lifted += f.size - sizeof(struct onnx_wire_reference);
    }
    return NULL;
}

/** Writes a varint in exactly `count` bytes, which are enough for it. */
static void write_varint(uint8_t *to, size_t count, uint64_t value)
{
    for (size_t i = 0; i < count; i++, value >>= 7)
        to[i] = (uint8_t)((value & 0x7F) | (i + 1 < count ? 0x80 : 0));
}

/**
 * Copies a message that has been checked, and replaces every raw_data of at least sizeof(struct onnx_wire_reference) by a
 * reference.  Returns where the copy ends, which onnx_wire_check counted.  base is the whole file, to which references refer.
 */
static uint8_t *lift(const uint8_t *base, const uint8_t *bytes, size_t length, const ProtobufCMessageDescriptor *type,
                     uint8_t *out)
{
    const uint8_t *at = bytes, *end = bytes + length, *start = at, *rest;
    struct wire_field f;

    for (rest = at; at < end && read_field(&at, end, type, &f); rest = at, start = at) {
        uint8_t *length_at = out + (f.size_at - start), *body = out + (f.body - start);

        memcpy(out, start, (size_t)(f.body - start));
        if (f.descriptor) {
            out = lift(base, f.body, f.size, f.descriptor->descriptor, body);
        } else if (f.is_raw_data && f.size >= sizeof(struct onnx_wire_reference)) {
            struct onnx_wire_reference reference = {(uint64_t)(f.body - base), f.size};

            memcpy(body, &reference, sizeof reference);
            out = body + sizeof reference;
        } else {
            memcpy(body, f.body, f.size);
            out = body + f.size;
        }
        if (f.descriptor || f.is_raw_data)
            write_varint(length_at, (size_t)(f.body - f.size_at), (uint64_t)(out - body));
    }
    memcpy(out, rest, (size_t)(end - rest)); /* malformed from here on */
    return out + (end - rest);
}

Onnx__ModelProto *onnx_wire_unpack(const void *bytes, size_t length, const char **wrong)
{
    size_t lifted = 0;

    *wrong = onnx_wire_check(bytes, length, &onnx__model_proto__descriptor, 0, &lifted);
    if (*wrong)
        return NULL;
    void *copy = malloc(length - lifted + 1);
    if (!copy)
        return NULL;
    lift(bytes, bytes, length, &onnx__model_proto__descriptor, copy);
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, length - lifted, copy);
    free(copy);
    if (!model)
        *wrong = "not an ONNX model, or truncated";
    return model;
}
