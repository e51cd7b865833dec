/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/program/serialized_named.h"

#include "ir/graph/dims.h"
#include "ir/support/text.h"
#include "ir/text/print.h"
#include "runtime/program/serialized_format.h"

static const struct print_options printed = {.named = true};

struct serialized_named {
    struct serialized_program program; /* its stream ends before the kernels */
    const struct engine *en;
    struct stream_writer kernels;
    struct table structures;
    struct arena arena; /* code and structures */
};

/* ---- writing ---- */

static bool has_form(const struct graph *g, struct error *e)
{
    char title[320];

    graph_for_each (g, n)
        if (n->op == OP_LOOP)
            return error_set(e, WNNStatus_NotSupportedError,
                             "saving the graph: its %s cannot be saved with named dimensions; a graph of certain sizes "
                             "can be (wnnGraphGetVariant)",
                             node_title(n, title, sizeof title));
    return true;
}

static void write_names(struct stream_writer *o, const struct graph *g)
{
    out_u32(o, dims_name_count(g));
    for (uint32_t i = 0; i < dims_name_count(g); i++) {
        uint32_t range[2];
        size_t length;
        const char *name = dims_name_at(g, i, &length);

        out_text(o, name, length);
        dims_name_range(g, i, &range[0], &range[1]);
        out_bytes(o, range, sizeof range);
    }
}

static bool write_text(struct stream_writer *o, const struct graph *g)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return false;
    graph_print(g, out, &printed);
    const bool ok = memory_stream_close(out, &text) && length < UINT32_MAX;
    if (ok)
        out_text(o, text, length);
    free(text);
    return ok;
}

static void write_constants(struct stream_writer *o, const struct graph *g)
{
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (print_in_weights(v, &printed))
            out_data(o, v->constant->data, v->constant->bytes);
}

/* Writes of each output 1 + the number of the input that it is a state of, or 0. */
static void write_states(struct stream_writer *o, const struct graph *g)
{
    for (uint32_t i = 0; i < g->output_count; i++) {
        uint32_t input = 0;

        while (g->outputs[i].state && g->inputs[input] != g->outputs[i].state)
            input++;
        out_u32(o, g->outputs[i].state ? input + 1 : 0);
    }
}

struct serialized_named *serialized_named_create(const struct graph *g, const struct engine *en, struct error *e)
{
    struct serialized_named *n = has_form(g, e) ? calloc(1, sizeof *n) : NULL;
    struct stream_writer *o;

    if (!n)
        return e->status ? NULL : error_null_memory(e);
    o = &n->program.stream;
    n->en = en;
    n->program.flags = SERIALIZED_HAS_NAMES;
    write_names(o, g);
    out_u32(o, g->quantized.format);
    const bool ok = write_text(o, g);
    write_constants(o, g);
    write_states(o, g);
    if (ok && !o->failed)
        return n;
    serialized_named_free(n);
    return error_null_memory(e);
}

static bool add_kernel(void *user, const struct engine_kernel *k)
{
    struct serialized_named *n = user;
    const uint64_t hash = hash_bytes(k->structure, strlen(k->structure));
    struct table_entry *place = NULL;
    char *structure, *code;

    if (!table_reserve(&n->structures, NULL, n->structures.count + 1))
        return false;
    do
        place = table_next(&n->structures, hash, place);
    while (place->item && strcmp(place->item, k->structure) != 0);
    if (place->item)
        return true;
    structure = arena_copy(&n->arena, k->structure, strlen(k->structure) + 1);
    code = arena_copy(&n->arena, k->code, k->bytes);
    if (!structure || !code)
        return false;
    table_put(&n->structures, place, hash, structure);
    out_text(&n->kernels, structure, strlen(structure));
    out_bytes(&n->kernels, &k->offset, sizeof k->offset);
    out_u32(&n->kernels, (uint32_t)k->bytes);
    out_bytes(&n->kernels, code, k->bytes);
    return true;
}

void serialized_named_add(struct serialized_named *n, struct executable *x)
{
    const struct engine_saved_kernels *f = n->en->functions->optional.serialization->kernels;

    if (f && f->identity(n->en))
        f->each(x, add_kernel, n);
}

bool serialized_named_write(struct serialized_named *n, serialized_sink sink, void *user, struct error *e)
{
    const struct engine_saved_kernels *f = n->en->functions->optional.serialization->kernels;
    const char *identity = f ? f->identity(n->en) : NULL;
    const struct serialized_facts facts = {.triple = n->en->kind == WNNEngine_Gpu ? SERIALIZED_DEVICE : ""};
    struct stream_writer *o = &n->program.stream;
    const uint32_t before = o->size;

    out_text(o, identity ? identity : "", identity ? strlen(identity) : 0);
    out_u32(o, n->kernels.failed ? 0 : n->structures.count);
    out_bytes(o, n->kernels.bytes, n->kernels.failed ? 0 : n->kernels.size);
    const bool ok = o->failed ? error_out_of_memory(e) : serialized_write(&n->program, &facts, NULL, false, sink, user, e);
    o->size = before;
    return ok;
}

void serialized_named_free(struct serialized_named *n)
{
    if (!n)
        return;
    out_free(&n->program.stream);
    out_free(&n->kernels);
    free(n->structures.entries);
    arena_free(&n->arena);
    free(n);
}

/* ---- reading ---- */

struct named_reader {
    struct stream_reader in, data; /* data: where the next constant's place is */
    struct graph *g;
    void (*retain)(void *user);
    WNNBufferReleaseCallbackInfo release;
    struct error *e;
};

static bool damaged(struct named_reader *r, const char *what)
{
    return error_set(r->e, WNNStatus_DataError, "the compiled graph is damaged: %s", what);
}

bool serialized_is_named(const void *bytes, size_t size)
{
    struct error ignored = {0};
    struct serialized_header h;

    return serialized_read_header(bytes, size, &h, &ignored) && h.flags & SERIALIZED_HAS_NAMES;
}

/* Passes over the facts, of which the engine's name alone says anything. */
static bool read_facts(struct named_reader *r)
{
    size_t length;
    const bool ok = in_text(&r->in, SIZE_MAX, &length) && in_text(&r->in, SIZE_MAX, &length) && !in_u32(&r->in) &&
                    !in_u32(&r->in) && !in_u32(&r->in);

    return (ok && !r->in.failed) || damaged(r, "its facts");
}

static bool read_names(struct named_reader *r)
{
    const uint32_t count = in_count(&r->in, 12);
    struct error why = {0};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t range[2];
        size_t length;
        const char *name = in_text(&r->in, NAME_BYTES_MAX, &length);

        in_bytes(&r->in, range, sizeof range);
        if (!name || !length || r->in.failed || dims_name(r->g, name, length, range[0], range[1], "a name", &why) == DIM_NONE ||
            dims_name_count(r->g) != i + 1)
            return damaged(r, why.status ? why.message : "a name");
    }
    return count || damaged(r, "it has no names");
}

/* Takes the next constant, which the text has in their order. */
static bool next_constant(void *user, const char *key, const struct tensor_type *type, struct constant **constant,
                          struct error *e)
{
    struct named_reader *r = user;
    size_t bytes;
    const void *data = in_data(&r->data, &bytes);

    (void)key;
    if (!data || (int64_t)bytes != type_bytes(type))
        return error_set(e, WNNStatus_DataError, "a constant outside the data");
    r->retain(r->release.userdata1);
    *constant = constant_lend(data, bytes, r->release);
    budget_grow(&r->g->budget, bytes);
    return *constant || error_out_of_memory(e);
}

static bool read_graph(struct named_reader *r)
{
    struct error why = {0};
    size_t length = 0;
    const char *text;

    r->g->quantized.format = (WNNWeightFormat)in_u32(&r->in);
    text = in_text(&r->in, UINT32_MAX, &length);
    if (!text || (uint32_t)r->g->quantized.format > WNNWeightFormat_Int4)
        return damaged(r, "it ends early");
    r->data = r->in;
    if (!graph_parse_named(r->g, text, length, next_constant, r, &why))
        return why.status == WNNStatus_TypeError || why.status == WNNStatus_DataError
                   ? damaged(r, why.message)
                   : error_set(r->e, why.status, "%s", why.message);
    r->in = r->data;
    return true;
}

/* Checks what a builder sees to: data types of inputs, and outputs that are results, each of them once. */
static bool check_ports(struct named_reader *r)
{
    const struct graph *g = r->g;
    bool ok = g->output_count > 0;

    for (uint32_t i = 0; i < g->input_count; i++)
        ok = ok && dtype_is_port(g->inputs[i]->type.type);
    for (uint32_t i = 0; i < g->output_count; i++)
        ok = ok && dtype_is_port(g->outputs[i].value->type.type) && g->outputs[i].value->kind == VALUE_RESULT;
    return (ok && !g->first_cluster) || damaged(r, "an input or output");
}

static bool read_states(struct named_reader *r)
{
    for (uint32_t i = 0; i < r->g->output_count; i++) {
        struct graph_output *o = &r->g->outputs[i];
        const uint32_t input = in_u32(&r->in);

        if (r->in.failed || input > r->g->input_count ||
            (input && !type_equal(&r->g->inputs[input - 1]->type, &o->value->type)))
            return damaged(r, "a state");
        o->state = input ? r->g->inputs[input - 1] : NULL;
    }
    return true;
}

/* Gives the engine the kernels that are its own. */
static bool read_kernels(struct named_reader *r, struct engine *en)
{
    const struct engine_saved_kernels *f = en->functions->optional.serialization->kernels;
    const char *own = f ? f->identity(en) : NULL;
    size_t length = 0;
    const char *identity = in_text(&r->in, SIZE_MAX, &length);
    const bool take = identity && own && length == strlen(own) && length && !memcmp(identity, own, length);
    const uint32_t count = in_count(&r->in, 16);

    for (uint32_t i = 0; i < count; i++) {
        struct engine_kernel k = {0};
        const char *structure = in_text(&r->in, UINT32_MAX, &length);
        char *copy;

        in_bytes(&r->in, &k.offset, sizeof k.offset);
        k.bytes = in_u32(&r->in);
        k.code = in_take(&r->in, k.bytes);
        if (!structure || !k.code || k.offset >= k.bytes)
            return damaged(r, "a kernel");
        k.structure = copy = take ? strndup(structure, length) : NULL;
        if (copy)
            f->take(en, &k);
        free(copy);
    }
    return !r->in.failed || damaged(r, "it ends early");
}

struct graph *serialized_named_load(const struct serialized_source *source, struct engine *en, WNNBudget budget,
                                    void (*retain)(void *user), WNNBufferReleaseCallbackInfo release, struct error *e)
{
    struct named_reader r = {.g = graph_create(), .retain = retain, .release = release, .e = e};
    struct serialized_header h;

    if (!r.g)
        return error_null_memory(e);
    budget_set(&r.g->budget, budget, 0);
    r.g->account = &r.g->budget;
    if (serialized_open(source, en, &h, &r.in, e) && read_facts(&r) && read_names(&r) && read_graph(&r) && check_ports(&r) &&
        read_states(&r) && read_kernels(&r, en))
        return r.g;
    graph_free(r.g);
    return NULL;
}
