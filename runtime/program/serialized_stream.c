/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes and reads streams of serialized programs.  A stream may be bytes of a file that is not trusted; then the
 * reader has `failed`.
 */
#include "runtime/program/serialized_stream.h"

#include "runtime/program/serialized.h"

void out_bytes(struct stream_writer *o, const void *data, size_t bytes)
{
    if (bytes == 0)
        return;
    o->failed = o->failed || bytes > UINT32_MAX - o->size || !array_reserve(NULL, &o->bytes, &o->capacity, o->size + bytes, 1);
    if (o->failed)
        return;
    memcpy(o->bytes + o->size, data, bytes);
    o->size += (uint32_t)bytes;
}

static uint64_t piece_offset(struct stream_writer *o, const void *data, size_t bytes)
{
    const uint64_t hash = hash_mix((uintptr_t)data, bytes), offset = o->data_bytes;
    struct table_entry *place = NULL;

    o->failed = o->failed || !array_extend(&o->pieces, o->piece_count, sizeof *o->pieces) ||
                !table_reserve(&o->known, NULL, o->piece_count + 1);
    if (o->failed)
        return 0;
    while ((place = table_next(&o->known, hash, place))->item) {
        const struct stream_piece *piece = &o->pieces[(uintptr_t)place->item - 1];
        if (piece->data == data && piece->bytes == bytes)
            return piece->offset;
    }
    o->pieces[o->piece_count++] = (struct stream_piece){data, bytes, offset};
    table_put(&o->known, place, hash, (const void *)(uintptr_t)o->piece_count);
    o->data_bytes = ceil_div(offset + bytes, SERIALIZED_ALIGN) * SERIALIZED_ALIGN;
    return offset;
}

void out_data(struct stream_writer *o, const void *data, size_t bytes)
{
    uint64_t place[2] = {bytes ? piece_offset(o, data, bytes) : 0, bytes};

    out_bytes(o, place, sizeof place);
}

void out_free(struct stream_writer *o)
{
    free(o->bytes);
    free(o->pieces);
    free(o->known.entries);
    *o = (struct stream_writer){0};
}

const void *in_take(struct stream_reader *i, size_t bytes)
{
    const unsigned char *at = i->at;

    if (i->failed || (size_t)(i->end - at) < bytes) {
        i->failed = true;
        return NULL;
    }
    i->at += bytes;
    return at;
}

void in_bytes(struct stream_reader *i, void *to, size_t bytes)
{
    const void *from = in_take(i, bytes);

    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
}

const void *in_data(struct stream_reader *i, size_t *bytes)
{
    uint64_t place[2];

    in_bytes(i, place, sizeof place);
    *bytes = 0;
    if (i->failed || place[0] % SERIALIZED_ALIGN != 0 || place[0] > i->data_bytes || place[1] > i->data_bytes - place[0]) {
        i->failed = true;
        return NULL;
    }
    *bytes = (size_t)place[1];
    return i->data + place[0];
}

const char *in_text(struct stream_reader *i, size_t most, size_t *length)
{
    *length = in_u32(i);
    if (*length > most) {
        i->failed = true;
        *length = 0;
    }
    const char *text = in_take(i, *length);
    if (!text)
        *length = 0;
    return text;
}

uint32_t in_count(struct stream_reader *i, size_t each)
{
    uint32_t count = in_u32(i);

    if (!i->failed && count > (size_t)(i->end - i->at) / each)
        i->failed = true;
    return i->failed ? 0 : count;
}
