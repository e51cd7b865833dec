/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads serialized programs.
 *
 * Bytes that may have been damaged or made up become a program whose every location lies inside what it names, in every
 * iteration of its loops; or an error.  The header comes first, which says whether it is for this library, oneDNN and
 * processor, then the checksums, which find accidents, then every number, since an attacker who can write a file can also write
 * its checksum.  Only machine code cannot be checked: a serialized program with code is to be trusted like a shared library.
 */

#include "ir/support/clock.h"
#include "ir/support/text.h"
#include "runtime/host/threads.h"
#include "runtime/program/serialized_format.h"

struct reader {
    struct stream_reader in;
    const struct serialized_header *header;
    struct engine *en;
    struct program *p;
    struct serialized_view *view;
    int64_t *input_bytes, *output_bytes; /* by slot; 0: not bound */
    struct error *e;
};

static bool damaged(struct reader *r, const char *what)
{
    if (r->e->status == WNNStatus_Success)
        return error_set(r->e, WNNStatus_DataError, "the compiled graph is damaged: %s", what);
    return false;
}

/* ---- header ---- */

static bool check_sections(const struct serialized_source *s, const struct serialized_header *h, struct error *e)
{
    bool apart = (h->flags & SERIALIZED_DATA_APART) != 0;
    uint64_t align = h->flags & SERIALIZED_HAS_CODE ? SERIALIZED_PAGE : SERIALIZED_ALIGN;

    if (h->total_bytes > s->bytes || h->total_bytes < sizeof *h)
        return error_set(e, WNNStatus_DataError, "the compiled graph is damaged: it should have %llu bytes and has %zu",
                         (unsigned long long)h->total_bytes, s->bytes);
    if (!serialized_section_fits(&h->program, (size_t)h->total_bytes, SERIALIZED_ALIGN) ||
        !serialized_section_fits(&h->code, (size_t)h->total_bytes, align) ||
        (!apart && !serialized_section_fits(&h->data, (size_t)h->total_bytes, align)))
        return error_set(e, WNNStatus_DataError, "the compiled graph is damaged: a section is outside the file");
    if (apart && (!s->data || s->data_bytes < h->data.bytes))
        return error_set(e, WNNStatus_DataError,
                         "the compiled graph's weights are missing: %llu bytes are expected, there are %zu",
                         (unsigned long long)h->data.bytes, s->data ? s->data_bytes : 0);
    return true;
}

static const unsigned char *data_of(const struct serialized_source *s, const struct serialized_header *h)
{
    return h->flags & SERIALIZED_DATA_APART ? s->data : (const unsigned char *)s->program + h->data.offset;
}

/* Sums of segments of data. */
struct segments {
    const unsigned char *data;
    size_t bytes, count;
    uint64_t *sums;
};

static void sum_segments(void *user, uint32_t part, uint32_t parts)
{
    const struct segments *s = user;

    for (size_t i = part; i < s->count; i += parts) {
        const size_t at = i * CHECKSUM_SEGMENT_BYTES, left = s->bytes - at;
        s->sums[i] = serialized_checksum(s->data + at, left < CHECKSUM_SEGMENT_BYTES ? left : CHECKSUM_SEGMENT_BYTES);
    }
}

/* Returns the checksum of data, which the threads of en read; NULL: the calling one.  *failed becomes true if memory runs out.
 */
static uint64_t sum_data(const unsigned char *data, size_t bytes, const struct engine *en, bool *failed)
{
    struct segments s = {data, bytes, ceil_div(bytes, CHECKSUM_SEGMENT_BYTES), NULL};
    uint64_t joined = 0;

    *failed = s.count && !(s.sums = malloc(s.count * sizeof *s.sums));
    if (*failed || !s.count)
        return 0;
    const struct webnn_object_parallel *parallel = en ? en->parallel : NULL;
    const uint32_t threads = s.count > 1 && en && en->thread_count > 1 ? threads_ready(en->thread_count, parallel) : 1;
    const struct threads_saved saved = threads_enter(threads, parallel);
    threads_run(threads, sum_segments, &s);
    threads_leave(saved);
    for (size_t i = 0; i < s.count; i++)
        joined = checksum_join(joined, s.sums[i]);
    free(s.sums);
    return joined;
}

static bool check_checksums(const struct serialized_source *s, const struct serialized_header *h, const struct engine *en,
                            struct error *e)
{
    const unsigned char *serialized = s->program;
    bool failed;

    if (serialized_header_checksum(h, serialized + h->program.offset, serialized + h->code.offset) != h->checksum)
        return error_set(e, WNNStatus_DataError, "the compiled graph is damaged: its checksum is wrong");
    if (sum_data(data_of(s, h), (size_t)h->data.bytes, en, &failed) != h->data_checksum && !failed)
        return error_set(e, WNNStatus_DataError,
                         "the compiled graph's weights are damaged or not its own: their checksum is wrong");
    return !failed || error_out_of_memory(e);
}

/* ---- processor and library ---- */

/* Returns whether "+name" is among a comma list of features. */
static bool has_feature(const char *features, const char *name, size_t length)
{
    for (const char *p = features; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (p[0] == '+' && !strncmp(p + 1, name, length) && (p[1 + length] == ',' || !p[1 + length]))
            return true;
    return false;
}

static bool check_machine(const struct serialized_facts *f, const struct engine *en, const char *triple, const char *features,
                          struct error *e)
{
    char text[160];

    const WNNEngine engine = serialized_engine_of(f->triple, strlen(f->triple));

    if (triple && engine != serialized_engine_of(triple, strlen(triple)))
        return serialized_is_for_other("the compiled graph", engine, en, e);
    if (triple && strcmp(triple, f->triple) != 0)
        return error_set(e, WNNStatus_NotSupportedError, "the compiled graph is for %s, this machine is %s",
                         escape_text(text, sizeof text, f->triple, strlen(f->triple)), triple);
    for (const char *p = features ? f->features : NULL; p && *p;) {
        size_t length = strcspn(p, ",");

        if (*p == '+' && !has_feature(features, p + 1, length - 1))
            return error_set(e, WNNStatus_NotSupportedError,
                             "the compiled graph's code needs %s, which this context does not have",
                             escape_text(text, sizeof text, p + 1, length - 1));
        p += length + (p[length] == ',');
    }
    return true;
}

static bool check_library(const struct serialized_header *h, struct engine *en, struct error *e)
{
    struct library_facts now;

    if (!(h->flags & SERIALIZED_HAS_LIBRARY))
        return true;
    if (!en->functions->optional.serialization->steps)
        return error_set(e, WNNStatus_NotSupportedError,
                         "the compiled graph uses oneDNN, which the context's engine does not have");
    if (!en->functions->optional.serialization->steps->library_facts(en, &now, e))
        return false;
    if (now.refuses)
        return error_set(e, WNNStatus_NotSupportedError,
                         "the compiled graph uses oneDNN, whose instruction set in this process is above the context's");
    if (!(h->flags & SERIALIZED_IS_PACKED))
        return true;
    if (h->onednn_version != now.version)
        return error_set(
            e, WNNStatus_NotSupportedError,
            "the compiled graph's weights are packed for oneDNN %u.%u.%u, this is %u.%u.%u; compile the model again",
            h->onednn_version >> 16, h->onednn_version >> 8 & 255, h->onednn_version & 255, now.version >> 16,
            now.version >> 8 & 255, now.version & 255);
    if (h->onednn_isa != now.isa)
        return error_set(
            e, WNNStatus_NotSupportedError,
            "the compiled graph's weights are packed for another instruction set (oneDNN's 0x%x, here 0x%x); compile the model "
            "again on this machine",
            h->onednn_isa, now.isa);
    return true;
}

/* ---- facts ---- */

static bool read_string(struct reader *r, const char **out, size_t *length)
{
    size_t n;
    const char *text = in_text(&r->in, SIZE_MAX, &n);

    if (!text)
        return damaged(r, "a name");
    *out = arena_string(&r->view->arena, text, n);
    if (length)
        *length = n;
    return *out || error_out_of_memory(r->e);
}

static bool read_binding(struct reader *r, struct graph_binding *b)
{
    if (!read_string(r, &b->name, &b->name_length))
        return false;
    b->type.type = (dtype)in_u32(&r->in);
    b->type.rank = in_u32(&r->in);
    if (r->in.failed || b->type.rank > RANK_MAX)
        return damaged(r, "a rank");
    in_bytes(&r->in, b->type.dims, b->type.rank * sizeof *b->type.dims);
    b->slot = in_u32(&r->in);
    b->state = in_u32(&r->in);
    b->spares = (uint64_t)in_i64(&r->in);

    struct error e = {.status = WNNStatus_Success};
    if (r->in.failed || !dtype_is_port(b->type.type) || !type_check(&b->type, "", &e))
        return damaged(r, "the type of an input or output");
    return true;
}

static bool read_bindings(struct reader *r, uint32_t *count, const struct graph_binding **out)
{
    *count = in_count(&r->in, 16);

    struct graph_binding *b = arena_array(&r->view->arena, *count, sizeof *b);
    if (!b)
        return error_out_of_memory(r->e);
    for (uint32_t i = 0; i < *count; i++)
        if (!read_binding(r, &b[i]))
            return false;
    *out = b;
    return true;
}

static bool read_code(struct reader *r)
{
    const struct serialized_header *h = r->header;

    r->view->kernel_count = in_u32(&r->in);
    if (!(h->flags & SERIALIZED_HAS_CODE))
        return serialized_counts_fit(0, r->view->kernel_count, 0) || damaged(r, "the number of kernels");

    uint32_t count = r->view->kernel_count;
    const void *offsets = serialized_counts_fit(0, r->view->kernel_count, 0) ? in_take(&r->in, count * sizeof(uint64_t)) : NULL;
    if (!offsets)
        return damaged(r, "the number of kernels");
    uint64_t *copy = arena_array(&r->view->arena, count, sizeof *copy);
    if (!copy)
        return error_out_of_memory(r->e);
    memcpy(copy, offsets, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++)
        if (copy[i] >= h->code.bytes)
            return damaged(r, "a kernel outside the code");
    r->view->offsets = copy;
    r->view->code_offset = (size_t)h->code.offset;
    r->view->code_bytes = (size_t)h->code.bytes;
    return true;
}

/* States are outputs, of inputs of the same type. */
static bool check_states(struct reader *r)
{
    const struct serialized_facts *f = &r->view->facts;

    for (uint32_t i = 0; i < f->input_count; i++)
        if (f->inputs[i].state)
            return damaged(r, "a state");
    for (uint32_t o = 0; o < f->output_count; o++) {
        bool found = !f->outputs[o].state;
        for (uint32_t i = 0; i < f->input_count && !found; i++)
            found = f->inputs[i].slot == f->outputs[o].state - 1 && type_equal(&f->inputs[i].type, &f->outputs[o].type);
        if (!found)
            return damaged(r, "a state");
    }
    return true;
}

static bool read_facts(struct reader *r)
{
    struct serialized_facts *f = &r->view->facts;

    return read_string(r, &f->triple, NULL) && read_string(r, &f->features, NULL) &&
           read_bindings(r, &f->input_count, &f->inputs) && read_bindings(r, &f->output_count, &f->outputs) &&
           check_states(r) && read_code(r);
}

/* ---- locations ---- */

/* Returns how many bytes what a location refers to has, or -1 if there is no such thing. */
static int64_t container_bytes(const struct reader *r, const struct location *location)
{
    const struct program *p = r->p;

    switch (location->kind) {
    case LOCATION_ARENA:
        return p->arena_bytes;
    case LOCATION_INPUT:
        return location->slot < p->input_count ? r->input_bytes[location->slot] : -1;
    case LOCATION_OUTPUT:
        return location->slot < p->output_count ? r->output_bytes[location->slot] : -1;
    case LOCATION_CONSTANT:
        return location->slot < p->constant_count ? (int64_t)p->constants[location->slot]->bytes : -1;
    }
    return -1;
}

static bool location_fits(const struct reader *r, const struct location *location)
{
    int64_t all = container_bytes(r, location);

    return all >= 0 && location->offset >= 0 && location->bytes >= 0 && location->bytes <= all &&
           location->offset <= all - location->bytes;
}

static bool read_location(struct reader *r, struct location *location)
{
    in_bytes(&r->in, location, sizeof *location);
    if (r->in.failed || !location_fits(r, location))
        return damaged(r, "a location outside its object");
    return true;
}

static bool is_writable(const struct location *location)
{
    return location->kind == LOCATION_ARENA || location->kind == LOCATION_OUTPUT;
}

/* ---- steps ---- */

static bool read_kernel(struct reader *r, struct program_step *s)
{
    struct step_run *run = &s->run;

    run->function = in_u32(&r->in);
    run->units = in_i64(&r->in);
    run->scratch_bytes = in_i64(&r->in);
    run->flops = in_f64(&r->in);
    run->bytes = in_f64(&r->in);
    run->param_count = in_count(&r->in, sizeof *run->params);
    if (r->in.failed || run->function >= r->view->kernel_count || !serialized_run_fits(run))
        return damaged(r, "a kernel's sizes");

    bool *written = arena_array(&r->p->arena, s->location_count, sizeof *written);
    int64_t *params = arena_array(&r->p->arena, run->param_count, sizeof *params);
    if (!written || !params)
        return error_out_of_memory(r->e);
    in_bytes(&r->in, params, run->param_count * sizeof *params);
    for (uint32_t i = 0; i < s->location_count; i++) {
        written[i] = in_u32(&r->in) != 0;
        if (written[i] && !is_writable(&s->locations[i]))
            return damaged(r, "a kernel that writes to read-only memory");
    }
    run->written = written;
    run->params = params;
    return true;
}

static bool read_kind(struct reader *r, struct program_step *s)
{
    uint32_t n = s->location_count;
    double start;

    switch (s->kind) {
    case STEP_KERNEL:
        return read_kernel(r, s);
    case STEP_LIBRARY:
        if (n == 0 || !is_writable(&s->locations[n - 1]) || !(r->header->flags & SERIALIZED_HAS_LIBRARY))
            return damaged(r, "a step of oneDNN");
        start = milliseconds_now();
        s->library = r->en->functions->optional.serialization->steps->step_load(r->en->library, &r->in, n, s->locations, r->e);
        r->view->library_ms += milliseconds_now() - start;
        return s->library != NULL;
    case STEP_COPY:
        return (n == 2 && is_writable(&s->locations[1]) && s->locations[0].bytes == s->locations[1].bytes) ||
               damaged(r, "a copy");
    }
    return damaged(r, "a step of an unknown kind");
}

static bool read_step(struct reader *r, struct program_step *s)
{
    size_t length;
    uint32_t kind = in_u32(&r->in);
    const char *name = in_text(&r->in, sizeof s->name - 1, &length);

    s->location_count = in_count(&r->in, sizeof *s->locations);
    if (r->in.failed || kind > STEP_COPY)
        return damaged(r, "a step");
    s->kind = (enum step_kind)kind;
    /* Names are escaped when they are made; those of strangers are not taken at their word. */
    escape_text(s->name, sizeof s->name, name, length);
    s->locations = arena_array(&r->p->arena, s->location_count, sizeof *s->locations);
    if (!s->locations)
        return error_out_of_memory(r->e);
    for (uint32_t i = 0; i < s->location_count; i++)
        if (!read_location(r, &s->locations[i]))
            return false;
    return read_kind(r, s);
}

/* ---- loops ---- */

static bool read_loop(struct reader *r, struct program_loop *l, uint32_t from)
{
    in_bytes(&r->in, l, sizeof *l);
    if (r->in.failed || l->first < from || l->count == 0 || l->first > r->p->step_count ||
        l->count > r->p->step_count - l->first || l->iterations == 0 || l->iterations > INT32_MAX ||
        (l->stop && (l->stop - 1 - l->first >= l->count || r->p->steps[l->stop - 1].kind != STEP_COPY ||
                     r->p->steps[l->stop - 1].locations[1].bytes < 1)))
        return damaged(r, "a loop");
    return true;
}

static const struct program_loop *loop_of_step(const struct program *p, uint32_t step)
{
    for (uint32_t i = 0; i < p->loop_count; i++)
        if (step >= p->loops[i].first && step < p->loops[i].first + p->loops[i].count)
            return &p->loops[i];
    return NULL;
}

/* Where the last iteration finds it is inside, and the first one is, so all between are. */
static bool move_fits(struct reader *r, const struct program_move *m, const struct program_loop *l)
{
    const struct program_step *s = &r->p->steps[m->step];
    struct location last = s->locations[m->location];
    int64_t times = (int64_t)l->iterations - 1 - m->has_first, distance;

    if (m->has_first && (m->first.bytes != last.bytes || (step_writes(s, m->location) && !is_writable(&m->first))))
        return false;
    if (s->kind == STEP_LIBRARY && (m->stride % 4 != 0 || (m->has_first && m->first.offset % 4 != 0)))
        return false;
    if (times < 0)
        return true; /* only the first one */
    return !__builtin_mul_overflow(m->stride, times, &distance) &&
           !__builtin_add_overflow(last.offset, distance, &last.offset) && location_fits(r, &last);
}

static bool read_move(struct reader *r, struct program_move *m, const struct program_move *before)
{
    in_bytes(&r->in, m, offsetof(struct program_move, has_first));
    m->has_first = in_u32(&r->in) != 0;
    if (r->in.failed || m->step >= r->p->step_count || m->location >= r->p->steps[m->step].location_count ||
        (before && (m->step < before->step || (m->step == before->step && m->location <= before->location))))
        return damaged(r, "a location that moves");
    if (m->has_first && !read_location(r, &m->first))
        return false;
    const struct program_loop *l = loop_of_step(r->p, m->step);
    return (l && move_fits(r, m, l)) || damaged(r, "a location that moves outside its object");
}

static bool read_loops(struct reader *r)
{
    struct program *p = r->p;
    uint32_t loops = in_count(&r->in, sizeof *p->loops), end = 0;

    p->loops = arena_array(&p->arena, loops, sizeof *p->loops);
    if (!p->loops)
        return error_out_of_memory(r->e);
    for (; p->loop_count < loops; p->loop_count++) {
        struct program_loop *l = &p->loops[p->loop_count];

        if (!read_loop(r, l, end))
            return false;
        end = l->first + l->count;
    }
    uint32_t moves = in_count(&r->in, 20);
    p->moves = arena_array(&p->arena, moves, sizeof *p->moves);
    if (!p->moves)
        return error_out_of_memory(r->e);
    for (; p->move_count < moves; p->move_count++)
        if (!read_move(r, &p->moves[p->move_count], p->move_count ? &p->moves[p->move_count - 1] : NULL))
            return false;
    return true;
}

/* ---- the program ---- */

static bool slot_sizes(struct reader *r, const struct graph_binding *bindings, uint32_t count, uint32_t slots, int64_t **bytes)
{
    *bytes = arena_array(&r->p->arena, slots, sizeof **bytes);
    if (!*bytes)
        return error_out_of_memory(r->e);
    for (uint32_t i = 0; i < count; i++) {
        if (bindings[i].slot >= slots || (*bytes)[bindings[i].slot] != 0)
            return damaged(r, "the number of an input or output");
        (*bytes)[bindings[i].slot] = type_bytes(&bindings[i].type);
    }
    return true;
}

static bool read_constants(struct reader *r)
{
    struct program *p = r->p;
    uint32_t count = in_count(&r->in, 16);

    p->constants = arena_array(&p->arena, count, sizeof *p->constants);
    if (!p->constants)
        return error_out_of_memory(r->e);
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes;
        const void *data = in_data(&r->in, &bytes);

        if (r->in.failed)
            return damaged(r, "a constant outside the data");
        p->constants[i] = constant_lend(data, bytes, (WNNBufferReleaseCallbackInfo){NULL, NULL, NULL});
        if (!p->constants[i])
            return error_out_of_memory(r->e);
        p->constant_count++;
    }
    return true;
}

static bool read_program(struct reader *r)
{
    const struct serialized_facts *f = &r->view->facts;
    struct program *p = r->p;

    p->input_count = in_u32(&r->in);
    p->output_count = in_u32(&r->in);
    p->arena_bytes = in_i64(&r->in);
    p->arena_lower_bound = in_i64(&r->in);
    if (r->in.failed || !serialized_counts_fit(p->input_count, 0, p->arena_bytes) || p->output_count != f->output_count ||
        f->input_count > p->input_count)
        return damaged(r, "its sizes");
    if (!slot_sizes(r, f->inputs, f->input_count, p->input_count, &r->input_bytes) ||
        !slot_sizes(r, f->outputs, f->output_count, p->output_count, &r->output_bytes) || !read_constants(r))
        return false;

    uint32_t steps = in_count(&r->in, 12);
    p->steps = arena_array(&p->arena, steps, sizeof *p->steps);
    if (!p->steps)
        return error_out_of_memory(r->e);
    while (p->step_count < steps)
        if (!read_step(r, &p->steps[p->step_count++]))
            return false;
    r->view->input_slots = p->input_count;
    return read_loops(r) && (!r->in.failed || damaged(r, "it ends early"));
}

/* ---- the whole ---- */

bool serialized_open(const struct serialized_source *source, const struct engine *en, struct serialized_header *h,
                     struct stream_reader *in, struct error *e)
{
    if ((uintptr_t)source->program % SERIALIZED_ALIGN != 0 || (uintptr_t)source->data % SERIALIZED_ALIGN != 0)
        return error_set(e, WNNStatus_DataError, "a compiled graph must be aligned to %d bytes", SERIALIZED_ALIGN);
    if (!serialized_read_header(source->program, source->bytes, h, e) || !check_sections(source, h, e) ||
        !check_checksums(source, h, en, e))
        return false;
    const unsigned char *program = (const unsigned char *)source->program + h->program.offset;
    *in = (struct stream_reader){
        .at = program, .end = program + h->program.bytes, .data = data_of(source, h), .data_bytes = (size_t)h->data.bytes};
    return true;
}

bool serialized_load(const struct serialized_source *source, struct engine *en, const char *triple, const char *features,
                     struct program *p, struct serialized_view *view, struct error *e)
{
    struct serialized_header h;
    struct reader r = {.header = &h, .en = en, .p = p, .view = view, .e = e};

    memset(p, 0, sizeof *p);
    memset(view, 0, sizeof *view);
    double start = milliseconds_now();
    if (!serialized_open(source, en, &h, &r.in, e))
        return false;
    view->checksum_ms = milliseconds_now() - start;
    if (h.flags & SERIALIZED_HAS_NAMES)
        return error_set(e, WNNStatus_DataError, "this is a graph with named dimensions, and no program");
    p->engine = en;
    p->free_library = en->functions->optional.library ? en->functions->optional.library->step_free : NULL;
    bool ok = read_facts(&r) && check_machine(&view->facts, en, triple, features, e);
    start = milliseconds_now();
    ok = ok && check_library(&h, en, e); /* starts it */
    view->library_ms += milliseconds_now() - start;
    if (ok && read_program(&r))
        return true;
    damaged(&r, "it ends early");
    program_free(p);
    serialized_view_free(view);
    return false;
}

void serialized_view_free(struct serialized_view *view)
{
    arena_free(&view->arena);
    memset(view, 0, sizeof *view);
}

void serialized_sign(void *serialized, size_t bytes)
{
    struct serialized_header h;
    unsigned char *at = serialized;
    bool failed;

    if (bytes < sizeof h)
        return;
    memcpy(&h, serialized, sizeof h);
    if (h.program.offset > bytes || h.program.bytes > bytes - h.program.offset || h.code.offset > bytes ||
        h.code.bytes > bytes - h.code.offset)
        return;
    if (!(h.flags & SERIALIZED_DATA_APART) && h.data.offset <= bytes && h.data.bytes <= bytes - h.data.offset)
        h.data_checksum = sum_data(at + h.data.offset, (size_t)h.data.bytes, NULL, &failed);
    h.checksum = serialized_header_checksum(&h, at + h.program.offset, at + h.code.offset);
    memcpy(serialized, &h, sizeof h);
}
