/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes serialized programs.
 *
 * A program, facts about its graph and perhaps code become bytes, which go to a sink in pieces.  Steps, a few hundred bytes
 * each, are written when the serialized program is created.  Constants and weights are not copied: they are named, and go from
 * where they are to the sink.
 */

#include "runtime/program/serialized_format.h"

/* ---- checksums ---- */

static uint64_t rotate(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

/** Begins a checksum. */
static void checksum_start(struct checksum *c)
{
    *c = (struct checksum){{0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u, 0x85EBCA77C2B2AE63u}};
}

static void add_block(struct checksum *c, const unsigned char block[64])
{
    uint64_t w[8];

    memcpy(w, block, sizeof w);
    for (int i = 0; i < 8; i++)
        c->lanes[i & 3] = rotate(c->lanes[i & 3] ^ w[i], 29) * 0xD6E8FEB86659FD93u;
}

/** Adds bytes.  Only the last block that is added in one call is filled up: callers add whole blocks, or ends. */
static void checksum_add(struct checksum *c, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    unsigned char last[64] = {0};
    struct checksum sum = *c; /* in registers */

    for (; bytes >= sizeof last; at += sizeof last, bytes -= sizeof last)
        add_block(&sum, at);
    if (bytes) {
        memcpy(last, at, bytes);
        add_block(&sum, last);
    }
    *c = sum;
}

/** Returns the checksum of what was added. */
static uint64_t checksum_end(const struct checksum *c)
{
    uint64_t h = 0;

    for (int i = 0; i < 4; i++) {
        h = (h ^ c->lanes[i]) * 0x9FB21C651E98DF25u;
        h ^= h >> 29;
    }
    return h;
}

uint64_t checksum_join(uint64_t joined, uint64_t segment)
{
    joined = (joined ^ segment) * 0x9FB21C651E98DF25u;
    return joined ^ joined >> 29;
}

uint64_t serialized_checksum(const void *data, size_t bytes)
{
    struct checksum c;

    checksum_start(&c);
    checksum_add(&c, data, bytes);
    return checksum_end(&c);
}

uint64_t serialized_header_checksum(const struct serialized_header *h, const void *program, const void *code)
{
    struct serialized_header zeroed = *h;
    struct checksum c;

    zeroed.checksum = 0;
    checksum_start(&c);
    checksum_add(&c, &zeroed, sizeof zeroed);
    checksum_add(&c, program, h->program.bytes);
    checksum_add(&c, code, h->code.bytes);
    return checksum_end(&c);
}

/* ---- the program ---- */

/* Returns the number of the function that kernel step `step` runs, which is a new one if no step before ran it. */
static uint32_t kernel_number(struct serialized_program *i, const void *const *functions, uint32_t step)
{
    for (uint32_t k = 0; k < i->kernel_count; k++)
        if (functions[i->kernel_steps[k]] == functions[step])
            return k;
    i->kernel_steps[i->kernel_count] = step;
    return i->kernel_count++;
}

static void write_kernel(struct serialized_program *i, const struct program_step *s, uint32_t number)
{
    struct stream_writer *o = &i->stream;
    const struct step_run *run = &s->run;

    out_u32(o, number);
    out_i64(o, run->units);
    out_i64(o, run->scratch_bytes);
    out_f64(o, run->flops);
    out_f64(o, run->bytes);
    out_u32(o, run->param_count);
    out_bytes(o, run->params, run->param_count * sizeof *run->params);
    for (uint32_t k = 0; k < s->location_count; k++)
        out_u32(o, run->written[k]);
}

static bool write_library(struct serialized_program *i, const struct program *p, const struct program_step *s, bool unpacked,
                          struct error *e)
{
    i->flags |= SERIALIZED_HAS_LIBRARY;
    if (!unpacked && p->engine->functions->optional.serialization->steps->step_is_packed(s->library))
        i->flags |= SERIALIZED_IS_PACKED;
    return p->engine->functions->optional.serialization->steps->step_save(s->library, unpacked, &i->stream) ||
           error_set(e, WNNStatus_NotSupportedError,
                     "%s: this step of oneDNN cannot be saved: its weights were not kept in such a form, or its numbers are "
                     "too large",
                     s->name);
}

static bool write_steps(struct serialized_program *i, const struct program *p, const void *const *functions, bool unpacked,
                        struct error *e)
{
    struct stream_writer *o = &i->stream;

    out_u32(o, p->step_count);
    for (uint32_t k = 0, kernel = 0; k < p->step_count; k++) {
        const struct program_step *s = &p->steps[k];

        out_u32(o, s->kind);
        out_text(o, s->name, strlen(s->name));
        out_u32(o, s->location_count);
        out_bytes(o, s->locations, s->location_count * sizeof *s->locations);
        if (s->kind == STEP_KERNEL)
            write_kernel(i, s, kernel_number(i, functions, kernel++));
        else if (s->kind == STEP_LIBRARY && !write_library(i, p, s, unpacked, e))
            return false;
    }
    return true;
}

static void write_loops(struct stream_writer *o, const struct program *p)
{
    out_u32(o, p->loop_count);
    out_bytes(o, p->loops, p->loop_count * sizeof *p->loops);
    out_u32(o, p->move_count);
    for (uint32_t k = 0; k < p->move_count; k++) {
        const struct program_move *m = &p->moves[k];

        out_bytes(o, m, offsetof(struct program_move, has_first));
        out_u32(o, m->has_first);
        if (m->has_first)
            out_bytes(o, &m->first, sizeof m->first);
    }
}

static bool write_program(struct serialized_program *i, const struct program *p, const void *const *functions, bool unpacked,
                          struct error *e)
{
    struct stream_writer *o = &i->stream;

    out_u32(o, p->input_count);
    out_u32(o, p->output_count);
    out_i64(o, p->arena_bytes);
    out_i64(o, p->arena_lower_bound);
    out_u32(o, p->constant_count);
    for (uint32_t k = 0; k < p->constant_count; k++)
        out_data(o, p->constants[k]->data, p->constants[k]->bytes);
    if (!write_steps(i, p, functions, unpacked, e))
        return false;
    write_loops(o, p);
    return !o->failed || error_out_of_memory(e);
}

static bool program_fits(const struct program *p, struct error *e)
{
    bool ok = serialized_counts_fit(p->input_count, p->step_count, p->arena_bytes);

    for (uint32_t k = 0; ok && k < p->step_count; k++)
        ok = p->steps[k].kind != STEP_KERNEL || serialized_run_fits(&p->steps[k].run);
    return ok || error_set(e, WNNStatus_NotSupportedError, "the graph is too large for a file of compiled graphs");
}

struct serialized_program *serialized_create(struct program *p, const void *const *functions, bool unpacked_weights,
                                             struct error *e)
{
    struct serialized_program *i = calloc(1, sizeof *i);

    if (i)
        i->kernel_steps = calloc((size_t)p->step_count + 1, sizeof *i->kernel_steps);
    if (!i || !i->kernel_steps || !program_describe(p)) {
        serialized_free(i);
        return error_null_memory(e);
    }
    if (!program_fits(p, e) || !write_program(i, p, functions, unpacked_weights, e)) {
        serialized_free(i);
        return NULL;
    }
    if (i->flags & SERIALIZED_HAS_LIBRARY &&
        !p->engine->functions->optional.serialization->steps->library_facts(p->engine, &i->library, e)) {
        serialized_free(i);
        return NULL;
    }
    return i;
}

void serialized_free(struct serialized_program *i)
{
    if (!i)
        return;
    out_free(&i->stream);
    free(i->kernel_steps);
    free(i);
}

uint32_t serialized_kernel_count(const struct serialized_program *i)
{
    return i->kernel_count;
}

const uint32_t *serialized_kernel_steps(const struct serialized_program *i)
{
    return i->kernel_steps;
}

size_t serialized_data_size(const struct serialized_program *i)
{
    return (size_t)i->stream.data_bytes;
}

/* ---- the facts ---- */

static void write_bindings(struct stream_writer *o, uint32_t count, const struct graph_binding *bindings)
{
    out_u32(o, count);
    for (uint32_t k = 0; k < count; k++) {
        const struct graph_binding *b = &bindings[k];

        out_text(o, b->name, b->name_length);
        out_u32(o, b->type.type);
        out_u32(o, b->type.rank);
        out_bytes(o, b->type.dims, b->type.rank * sizeof *b->type.dims);
        out_u32(o, b->slot);
        out_u32(o, b->state);
        out_i64(o, (int64_t)b->spares);
    }
}

/* Writes facts, code offsets, then the numbers of the program. */
static void write_all(const struct serialized_program *i, const struct serialized_facts *facts,
                      const struct serialized_code *code, struct stream_writer *o)
{
    const char *triple = facts->triple ? facts->triple : "", *features = facts->features ? facts->features : "";

    out_text(o, triple, strlen(triple));
    out_text(o, features, strlen(features));
    write_bindings(o, facts->input_count, facts->inputs);
    write_bindings(o, facts->output_count, facts->outputs);
    out_u32(o, i->kernel_count);
    if (code)
        out_bytes(o, code->offsets, i->kernel_count * sizeof *code->offsets);
    out_bytes(o, i->stream.bytes, i->stream.size);
}

/* ---- the whole ---- */

/* Hands on zeros up to `to`. */
static bool pad(uint64_t *at, uint64_t to, serialized_sink sink, void *user)
{
    static const char zeros[SERIALIZED_PAGE];

    for (uint64_t n; *at < to; *at += n) {
        n = to - *at < sizeof zeros ? to - *at : sizeof zeros;
        if (!sink(user, zeros, (size_t)n))
            return false;
    }
    return true;
}

static bool put(uint64_t *at, const void *data, size_t bytes, serialized_sink sink, void *user)
{
    *at += bytes;
    return bytes == 0 || sink(user, data, bytes);
}

bool serialized_write_data(const struct serialized_program *i, serialized_sink sink, void *user)
{
    uint64_t at = 0;

    for (uint32_t k = 0; k < i->stream.piece_count; k++) {
        const struct stream_piece *piece = &i->stream.pieces[k];

        if (!pad(&at, piece->offset, sink, user) || !put(&at, piece->data, piece->bytes, sink, user))
            return false;
    }
    return pad(&at, i->stream.data_bytes, sink, user);
}

static uint64_t data_checksum(const struct serialized_program *i)
{
    uint64_t joined = 0, end = CHECKSUM_SEGMENT_BYTES; /* of the segment */
    struct checksum c;

    checksum_start(&c);
    for (uint32_t k = 0; k < i->stream.piece_count; k++) { /* each begins a block */
        const unsigned char *data = i->stream.pieces[k].data;
        uint64_t at = i->stream.pieces[k].offset, left = i->stream.pieces[k].bytes;

        while (left) {
            if (at >= end) {
                joined = checksum_join(joined, checksum_end(&c));
                checksum_start(&c);
                end += CHECKSUM_SEGMENT_BYTES;
            }
            const uint64_t n = left < end - at ? left : end - at;
            checksum_add(&c, data, (size_t)n);
            data += n;
            at += n;
            left -= n;
        }
    }
    return i->stream.data_bytes ? checksum_join(joined, checksum_end(&c)) : 0;
}

static uint64_t section_place(struct serialized_section *s, uint64_t at, uint64_t bytes, uint64_t align)
{
    s->offset = ceil_div(at, align) * align;
    s->bytes = bytes;
    return s->offset + bytes;
}

static void header_fill(const struct serialized_program *i, const struct serialized_code *code, size_t program_bytes,
                        bool data_apart, struct serialized_header *h)
{
    const char *version = wnnGetVersion();
    uint64_t align = code ? SERIALIZED_PAGE : SERIALIZED_ALIGN, end;

    *h = (struct serialized_header){.byte_order = SERIALIZED_BYTE_ORDER,
                                    .format = SERIALIZED_VERSION,
                                    .header_bytes = sizeof *h,
                                    .kernel_abi = KERNEL_ABI_VERSION,
                                    .flags =
                                        i->flags | (code ? SERIALIZED_HAS_CODE : 0) | (data_apart ? SERIALIZED_DATA_APART : 0),
                                    .onednn_version = i->library.version,
                                    .onednn_isa = i->library.isa};
    memcpy(h->magic, SERIALIZED_MAGIC, sizeof h->magic);
    strncpy(h->library, version, sizeof h->library - 1);
    end = section_place(&h->program, sizeof *h, program_bytes, SERIALIZED_ALIGN);
    end = section_place(&h->code, end, code ? code->size : 0, align);
    end = section_place(&h->data, end, i->stream.data_bytes, align);
    h->total_bytes = data_apart ? h->data.offset : end;
    h->data_checksum = data_checksum(i);
}

bool serialized_write(const struct serialized_program *i, const struct serialized_facts *facts,
                      const struct serialized_code *code, bool data_apart, serialized_sink sink, void *user, struct error *e)
{
    struct stream_writer program = {0};
    struct serialized_header h;
    uint64_t at = 0;

    write_all(i, facts, code, &program);
    if (program.failed) {
        out_free(&program);
        return error_out_of_memory(e);
    }
    header_fill(i, code, program.size, data_apart, &h);
    h.checksum = serialized_header_checksum(&h, program.bytes, code ? code->bytes : NULL);
    bool ok = put(&at, &h, sizeof h, sink, user) && pad(&at, h.program.offset, sink, user) &&
              put(&at, program.bytes, program.size, sink, user) && pad(&at, h.code.offset, sink, user) &&
              put(&at, code ? code->bytes : NULL, code ? code->size : 0, sink, user) && pad(&at, h.data.offset, sink, user) &&
              (data_apart || serialized_write_data(i, sink, user));
    out_free(&program);
    return ok;
}
