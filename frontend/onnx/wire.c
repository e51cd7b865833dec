/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How deep messages nest in a file.  In: the bytes of a protobuf message and its descriptor.  Out: yes or no.
 *
 * protobuf-c unpacks nested messages by recursion without a limit, and a graph within an attribute within a node within a graph
 * takes a handful of bytes per level: a file of a megabyte would overflow the stack.  So the bytes are walked first, just far
 * enough to follow the fields that hold messages.  What is malformed otherwise is left to protobuf-c.
 */
#include "frontend/onnx/internal.h"

/** A varint of at most 10 bytes; false if the bytes end in it. */
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

bool onnx_wire_check(const void *bytes, size_t length, const ProtobufCMessageDescriptor *type, unsigned depth)
{
    const uint8_t *at = bytes, *end = at + length;

    if (depth > WIRE_DEPTH_MAX)
        return false;
    while (at < end) {
        const ProtobufCFieldDescriptor *field;
        uint64_t key, size = 0;

        if (!read_varint(&at, end, &key))
            return true; /* protobuf-c will say so */
        switch (key & 7) {
        case 0:
            if (!read_varint(&at, end, &size))
                return true;
            size = 0;
            break;
        case 1:
            size = 8;
            break;
        case 2:
            if (!read_varint(&at, end, &size))
                return true;
            break;
        case 5:
            size = 4;
            break;
        default:
            return true;
        }
        if (size > (uint64_t)(end - at))
            return true;
        field = key >> 3 <= UINT32_MAX ? protobuf_c_message_descriptor_get_field(type, (unsigned)(key >> 3)) : NULL;
        if ((key & 7) == 2 && field && field->type == PROTOBUF_C_TYPE_MESSAGE &&
            !onnx_wire_check(at, (size_t)size, field->descriptor, depth + 1))
            return false;
        at += size;
    }
    return true;
}
