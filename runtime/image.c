/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writing images.  In: a program, facts about its graph, perhaps code.  Out: bytes, in pieces to a sink.
 *
 * The plan is written when the image is created, while the compiler's program is at hand; it is small (a few hundred bytes per
 * step).  Constants and weights are not copied: they are named, and go from where they are to the sink.
 */
#include "runtime/image.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/image_format.h"
#include "runtime/image_stream.h"

struct image {
    struct image_out plan;
    uint32_t flags;
    struct library_facts library;
    uint32_t kernel_count;
    uint32_t *kernel_steps; /* by kernel: its first user among the kernel steps */
};

/* ---- checksums ---- */

static uint64_t rotate(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

void checksum_start(struct checksum *c)
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

void checksum_add(struct checksum *c, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    unsigned char last[64] = {0};

    for (; bytes >= sizeof last; at += sizeof last, bytes -= sizeof last)
        add_block(c, at);
    if (bytes == 0)
        return;
    memcpy(last, at, bytes);
    add_block(c, last);
}

uint64_t checksum_end(const struct checksum *c)
{
    uint64_t h = 0;

    for (int i = 0; i < 4; i++) {
        h = (h ^ c->lanes[i]) * 0x9FB21C651E98DF25u;
        h ^= h >> 29;
    }
    return h;
}

uint64_t image_checksum(const void *data, size_t bytes)
{
    struct checksum c;

    checksum_start(&c);
    checksum_add(&c, data, bytes);
    return checksum_end(&c);
}

uint64_t image_header_checksum(const struct image_header *h, const void *plan, const void *code)
{
    struct image_header zeroed = *h;
    struct checksum c;

    zeroed.checksum = 0;
    checksum_start(&c);
    checksum_add(&c, &zeroed, sizeof zeroed);
    checksum_add(&c, plan, h->plan.bytes);
    checksum_add(&c, code, h->code.bytes);
    return checksum_end(&c);
}

/* ---- the plan ---- */

/* The number of the function that kernel step `step` runs; a new one if no step before ran it. */
static uint32_t kernel_number(struct image *i, const void *const *functions, uint32_t step)
{
    for (uint32_t k = 0; k < i->kernel_count; k++)
        if (functions[i->kernel_steps[k]] == functions[step])
            return k;
    i->kernel_steps[i->kernel_count] = step;
    return i->kernel_count++;
}

static void write_place(struct image_out *o, const struct place *p)
{
    out_u32(o, p->kind);
    out_u32(o, p->slot);
    out_i64(o, p->offset);
    out_i64(o, p->bytes);
}

static void write_kernel(struct image *i, const struct program_step *s, uint32_t number)
{
    struct image_out *o = &i->plan;
    const struct step_run *run = &s->run;

    out_u32(o, number);
    out_i64(o, run->units);
    out_i64(o, run->scratch_bytes);
    out_f64(o, run->flops);
    out_f64(o, run->bytes);
    out_u32(o, run->param_count);
    out_bytes(o, run->params, run->param_count * sizeof *run->params);
    for (uint32_t k = 0; k < s->place_count; k++)
        out_u32(o, run->written[k]);
}

static bool write_library(struct image *i, const struct program *p, const struct program_step *s, bool plain, struct error *e)
{
    i->flags |= IMAGE_HAS_LIBRARY;
    if (!plain && p->engine->functions->step_is_packed(s->library))
        i->flags |= IMAGE_IS_PACKED;
    return p->engine->functions->step_save(s->library, plain, &i->plan) ||
           error_set(e, WNNStatus_NotSupportedError, "%s: the weights of this step were not kept in a form that can be saved",
                     s->name);
}

static bool write_steps(struct image *i, const struct program *p, const void *const *functions, bool plain, struct error *e)
{
    struct image_out *o = &i->plan;

    out_u32(o, p->step_count);
    for (uint32_t k = 0, kernel = 0; k < p->step_count; k++) {
        const struct program_step *s = &p->steps[k];

        out_u32(o, s->kind);
        out_text(o, s->name, strlen(s->name));
        out_u32(o, s->place_count);
        for (uint32_t t = 0; t < s->place_count; t++)
            write_place(o, &s->places[t]);
        if (s->kind == STEP_KERNEL)
            write_kernel(i, s, kernel_number(i, functions, kernel++));
        else if (s->kind == STEP_LIBRARY && !write_library(i, p, s, plain, e))
            return false;
    }
    return true;
}

static void write_loops(struct image_out *o, const struct program *p)
{
    out_u32(o, p->loop_count);
    for (uint32_t k = 0; k < p->loop_count; k++) {
        out_u32(o, p->loops[k].first);
        out_u32(o, p->loops[k].count);
        out_u32(o, p->loops[k].iterations);
    }
    out_u32(o, p->move_count);
    for (uint32_t k = 0; k < p->move_count; k++) {
        const struct program_move *m = &p->moves[k];

        out_u32(o, m->step);
        out_u32(o, m->place);
        out_i64(o, m->stride);
        out_u32(o, m->has_first);
        if (m->has_first)
            write_place(o, &m->first);
    }
}

static bool write_plan(struct image *i, const struct program *p, const void *const *functions, bool plain, struct error *e)
{
    struct image_out *o = &i->plan;

    out_u32(o, p->input_count);
    out_u32(o, p->output_count);
    out_i64(o, p->arena_bytes);
    out_i64(o, p->arena_lower_bound);
    out_u32(o, p->constant_count);
    for (uint32_t k = 0; k < p->constant_count; k++)
        out_data(o, p->constants[k]->data, p->constants[k]->bytes);
    if (!write_steps(i, p, functions, plain, e))
        return false;
    write_loops(o, p);
    return !o->failed || error_out_of_memory(e);
}

struct image *image_create(struct program *p, const void *const *functions, bool plain_weights, struct error *e)
{
    struct image *i = calloc(1, sizeof *i);

    if (i)
        i->kernel_steps = calloc((size_t)p->step_count + 1, sizeof *i->kernel_steps);
    if (!i || !i->kernel_steps || !program_describe(p)) {
        image_free(i);
        error_out_of_memory(e);
        return NULL;
    }
    if (!write_plan(i, p, functions, plain_weights, e)) {
        image_free(i);
        return NULL;
    }
    if (i->flags & IMAGE_HAS_LIBRARY && !p->engine->functions->library_facts(p->engine, &i->library, e)) {
        image_free(i);
        return NULL;
    }
    return i;
}

void image_free(struct image *i)
{
    if (!i)
        return;
    out_free(&i->plan);
    free(i->kernel_steps);
    free(i);
}

uint32_t image_kernel_count(const struct image *i)
{
    return i->kernel_count;
}

const uint32_t *image_kernel_steps(const struct image *i)
{
    return i->kernel_steps;
}

size_t image_data_size(const struct image *i)
{
    return (size_t)i->plan.data_bytes;
}

/* ---- the facts ---- */

static void write_bindings(struct image_out *o, uint32_t count, const struct image_binding *bindings)
{
    out_u32(o, count);
    for (uint32_t k = 0; k < count; k++) {
        const struct image_binding *b = &bindings[k];

        out_text(o, b->name, b->name_length);
        out_u32(o, b->type.type);
        out_u32(o, b->type.rank);
        out_bytes(o, b->type.dims, b->type.rank * sizeof *b->type.dims);
        out_u32(o, b->slot);
    }
}

/* Facts, code offsets, then the plan of the image. */
static void write_all(const struct image *i, const struct image_facts *facts, const struct image_code *code,
                      struct image_out *o)
{
    const char *triple = facts->triple ? facts->triple : "", *features = facts->features ? facts->features : "";

    out_text(o, triple, strlen(triple));
    out_text(o, features, strlen(features));
    write_bindings(o, facts->input_count, facts->inputs);
    write_bindings(o, facts->output_count, facts->outputs);
    out_u32(o, i->kernel_count);
    if (code)
        out_bytes(o, code->offsets, i->kernel_count * sizeof *code->offsets);
    out_bytes(o, i->plan.bytes, i->plan.size);
}

/* ---- the whole ---- */

/* Hands on zeros up to `to`. */
static bool pad(uint64_t *at, uint64_t to, image_sink sink, void *user)
{
    static const char zeros[IMAGE_PAGE];

    for (uint64_t n; *at < to; *at += n) {
        n = to - *at < sizeof zeros ? to - *at : sizeof zeros;
        if (!sink(user, zeros, (size_t)n))
            return false;
    }
    return true;
}

static bool put(uint64_t *at, const void *data, size_t bytes, image_sink sink, void *user)
{
    *at += bytes;
    return bytes == 0 || sink(user, data, bytes);
}

bool image_write_data(const struct image *i, image_sink sink, void *user)
{
    uint64_t at = 0;

    for (uint32_t k = 0; k < i->plan.piece_count; k++) {
        const struct image_piece *piece = &i->plan.pieces[k];

        if (!pad(&at, piece->offset, sink, user) || !put(&at, piece->data, piece->bytes, sink, user))
            return false;
    }
    return pad(&at, i->plan.data_bytes, sink, user);
}

static uint64_t data_checksum(const struct image *i)
{
    struct checksum c;

    checksum_start(&c);
    for (uint32_t k = 0; k < i->plan.piece_count; k++) /* each begins a block */
        checksum_add(&c, i->plan.pieces[k].data, i->plan.pieces[k].bytes);
    return checksum_end(&c);
}

static uint64_t section_place(struct image_section *s, uint64_t at, uint64_t bytes, uint64_t align)
{
    s->offset = (at + align - 1) / align * align;
    s->bytes = bytes;
    return s->offset + bytes;
}

static void header_fill(const struct image *i, const struct image_code *code, size_t plan_bytes, bool data_apart,
                        struct image_header *h)
{
    const char *version = wnnGetVersion();
    uint64_t align = code ? IMAGE_PAGE : IMAGE_ALIGN, end;

    *h = (struct image_header){.byte_order = IMAGE_BYTE_ORDER,
                               .format = IMAGE_VERSION,
                               .header_bytes = sizeof *h,
                               .kernel_abi = KERNEL_ABI_VERSION,
                               .flags = i->flags | (code ? IMAGE_HAS_CODE : 0) | (data_apart ? IMAGE_DATA_APART : 0),
                               .onednn_version = i->library.version,
                               .onednn_isa = i->library.isa,
                               .thread_count = i->library.threads};
    memcpy(h->magic, IMAGE_MAGIC, sizeof h->magic);
    strncpy(h->library, version, sizeof h->library - 1);
    end = section_place(&h->plan, sizeof *h, plan_bytes, IMAGE_ALIGN);
    end = section_place(&h->code, end, code ? code->size : 0, align);
    end = section_place(&h->data, end, i->plan.data_bytes, align);
    h->total_bytes = data_apart ? h->data.offset : end;
    h->data_checksum = data_checksum(i);
}

bool image_write(const struct image *i, const struct image_facts *facts, const struct image_code *code, bool data_apart,
                 image_sink sink, void *user, struct error *e)
{
    struct image_out plan = {0};
    struct image_header h;
    uint64_t at = 0;

    write_all(i, facts, code, &plan);
    if (plan.failed) {
        out_free(&plan);
        return error_out_of_memory(e);
    }
    header_fill(i, code, plan.size, data_apart, &h);
    h.checksum = image_header_checksum(&h, plan.bytes, code ? code->bytes : NULL);
    bool ok = put(&at, &h, sizeof h, sink, user) && pad(&at, h.plan.offset, sink, user) &&
              put(&at, plan.bytes, plan.size, sink, user) && pad(&at, h.code.offset, sink, user) &&
              put(&at, code ? code->bytes : NULL, code ? code->size : 0, sink, user) && pad(&at, h.data.offset, sink, user) &&
              (data_apart || image_write_data(i, sink, user));
    out_free(&plan);
    return ok;
}
