/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements the variants of a graph with named dimensions (variants.h).
 *
 * The graph that the builder made stays as it is; a variant is made of it by graph_at_sizes and built like any graph. Constants
 * are shared, and so is what passes make of them and compiled code (constant pool, cache of kernels).
 */
#include "runtime/api/variants.h"

#include <stdlib.h>

#include "ir/interpret/at_sizes.h"
#include "ir/support/kept.h"
#include "runtime/api/runtime.h"
#include "runtime/compile/plans.h"
#include "runtime/program/serialized_named.h"

enum { VARIANT_LIMIT = 16 };

struct variants {
    struct graph *graph;
    struct plans *plans;
    struct kept kept;
    atomic_uint_fast64_t built;
};

static void retain(void *variant)
{
    wnnGraphAddRef(variant);
}

static void release(void *variant)
{
    wnnGraphRelease(variant);
}

struct variants *variants_create(struct graph *g, struct error *e)
{
    struct variants *v = calloc(1, sizeof *v);

    if (!v || !(v->plans = plans_create(g)) ||
        !kept_begin(&v->kept, dims_name_count(g) * sizeof(uint32_t), VARIANT_LIMIT, retain, release)) {
        plans_free(v ? v->plans : NULL);
        free(v);
        graph_free(g);
        return error_null_memory(e);
    }
    v->graph = g;
    return v;
}

void variants_free(struct variants *v)
{
    if (!v)
        return;
    kept_end(&v->kept);
    plans_free(v->plans);
    graph_free(v->graph);
    free(v);
}

void variants_clear(struct variants *v)
{
    kept_clear(&v->kept);
}

bool variants_describe(struct arena *a, const struct graph *g, struct graph_binding *b)
{
    WNNDimension *dimensions;

    if (!type_is_open(&b->type))
        return true;
    b->dimensions = dimensions = arena_array(a, b->type.rank, sizeof *dimensions);
    for (uint32_t i = 0; dimensions && i < b->type.rank; i++) {
        uint32_t *dim = &b->type.dims[i];
        const uint32_t name = dims_name_of(g, *dim);

        if (!dim_is_open(*dim))
            continue;
        if (name != DIM_NONE)
            dims_name_range(g, name, &dimensions[i].minSize, &dimensions[i].maxSize);
        if (!dim_text(g, *dim, a, &dimensions[i].name))
            return false;
        *dim = 0;
    }
    return dimensions != NULL;
}

bool variants_save(WNNGraph graph, bool (*sink)(void *user, const void *data, size_t bytes), void *user, struct error *e)
{
    struct variants *v = graph->variants;
    struct serialized_named *n = serialized_named_create(v->graph, graph->context->engine, e);
    size_t count = 0;
    void **items = n ? kept_list(&v->kept, &count) : NULL;

    for (size_t i = 0; i < count; i++) {
        const WNNGraph variant = items[i];
        struct error ignored = {0};

        if (graph_try_pin(variant, "", &ignored)) {
            serialized_named_add(n, variant->executable);
            graph_unpin(variant);
        }
        wnnGraphRelease(variant);
    }
    free(items);
    const bool ok = n && serialized_named_write(n, sink, user, e);
    serialized_named_free(n);
    return ok;
}

/* ---- which sizes a call has ---- */

/* A call of a graph with up to this many names does not allocate for their sizes. */
enum { NAMES_INLINE = 8 };

/* Sizes by the numbers of names, 0 if unknown, and the input that said each, for messages. */
struct sizes {
    WNNGraph graph;
    const struct graph *g;
    const char *call;
    uint32_t count, *sizes;
    WNNStringView *said_by; /* without data: the list of sizes */
    uint32_t inline_sizes[NAMES_INLINE];
    WNNStringView inline_said_by[NAMES_INLINE];
};

static const char *name_text(const struct sizes *s, uint32_t name, char *buf, size_t size)
{
    size_t length;
    const char *text = dims_name_at(s->g, name, &length);

    return escape_text(buf, size, text, length);
}

/* Begins in s, which the results point into. */
static bool sizes_begin(struct sizes *s, WNNGraph graph, const char *call, struct error *e)
{
    const struct graph *g = graph->variants->graph;

    *s = (struct sizes){.graph = graph, .g = g, .call = call, .count = dims_name_count(g)};
    s->sizes = s->inline_sizes;
    s->said_by = s->inline_said_by;
    if (s->count <= NAMES_INLINE)
        return true;
    s->said_by = calloc(s->count, sizeof *s->said_by + sizeof *s->sizes);
    s->sizes = (uint32_t *)(s->said_by + s->count);
    return s->said_by || error_out_of_memory(e);
}

static void sizes_free(struct sizes *s)
{
    if (s->said_by != s->inline_said_by)
        free(s->said_by);
}

enum { SAID_LENGTH = 80 };

static const char *said_text(WNNStringView input, char buf[SAID_LENGTH])
{
    char shown[64];

    snprintf(buf, SAID_LENGTH, input.data ? "input \"%s\"" : "the sizes", view_quote(shown, sizeof shown, input));
    return buf;
}

static bool set_size(struct sizes *s, uint32_t name, uint32_t size, WNNStringView said_by, struct error *e)
{
    char text[SAID_LENGTH], other[SAID_LENGTH], shown[96];
    uint32_t least, most;

    dims_name_range(s->g, name, &least, &most);
    if (size < least || size > most)
        return error_set(e, WNNStatus_TypeError, "%s: dimension \"%s\" is %u in %s, allowed are %u to %u", s->call,
                         name_text(s, name, shown, sizeof shown), size, said_text(said_by, text), least, most);
    if (s->sizes[name] && s->sizes[name] != size)
        return error_set(e, WNNStatus_TypeError, "%s: dimension \"%s\" is %u in %s, but %u in %s", s->call,
                         name_text(s, name, shown, sizeof shown), s->sizes[name], said_text(s->said_by[name], other), size,
                         said_text(said_by, text));
    s->sizes[name] = size;
    s->said_by[name] = said_by;
    return true;
}

static const struct value *input_of(const struct sizes *s, WNNStringView name)
{
    const WNNGraph g = s->graph;
    const uint32_t i = name.data ? graph_find_binding(g->inputs, g->inputs_by_name, g->input_count, name, 0) : g->input_count;

    return i < g->input_count ? s->g->inputs[g->inputs[i].slot] : NULL;
}

static bool refuse_shape(const struct sizes *s, const struct value *v, WNNStringView name, uint32_t rank, const uint32_t *shape,
                         struct error *e)
{
    struct tensor_type given = {v->type.type, rank < RANK_MAX ? rank : RANK_MAX, {0}};
    char text[160], said[SAID_LENGTH], wanted[320] = "", dim[128];

    memcpy(given.dims, shape, given.rank * sizeof *shape);
    for (uint32_t i = 0; i < v->type.rank; i++) {
        dim_print(s->g, v->type.dims[i], dim, sizeof dim);
        strncat(wanted, i ? ", " : "", sizeof wanted - strlen(wanted) - 1);
        strncat(wanted, dim, sizeof wanted - strlen(wanted) - 1);
    }
    return error_set(e, WNNStatus_TypeError, "%s: %s is %s, the graph has [%s]", s->call, said_text(name, said),
                     type_print(text, sizeof text, &given), wanted);
}

/* Takes sizes from the shape of an input.  Names that are not inputs of the graph are left to the checks of names. */
static bool take_shape(struct sizes *s, WNNStringView name, uint32_t rank, const uint32_t *shape, struct error *e)
{
    const struct value *v = input_of(s, name);

    for (uint32_t i = 0; v && i < v->type.rank; i++) {
        const uint32_t dim = v->type.dims[i], open = dims_name_of(s->g, dim);

        if (rank != v->type.rank || (open == DIM_NONE && shape[i] != dim))
            return refuse_shape(s, v, name, rank, shape, e);
        if (open != DIM_NONE && !set_size(s, open, shape[i], name, e))
            return false;
    }
    return !v || rank == v->type.rank || refuse_shape(s, v, name, rank, shape, e);
}

/* Takes the size of an input's only unknown name from the bytes of its buffer. */
static bool take_length(struct sizes *s, const WNNNamedBuffer *b, bool *changed, struct error *e)
{
    const struct value *v = input_of(s, b->name);
    uint64_t bytes = v ? dtype_size(v->type.type) : 0;
    uint32_t unknown = DIM_NONE, power = 0;

    for (uint32_t i = 0; v && i < v->type.rank; i++) {
        const uint32_t name = dims_name_of(s->g, v->type.dims[i]);
        const uint64_t size = name == DIM_NONE ? v->type.dims[i] : s->sizes[name] ? s->sizes[name] : 1;

        if (name != DIM_NONE && !s->sizes[name]) {
            if (unknown != DIM_NONE && unknown != name)
                return true;
            unknown = name;
            power++;
        }
        if (bytes > b->byteLength / size)
            return true; /* too long for this buffer, which the checks of lengths say */
        bytes *= size;
    }
    if (power == 1 && b->byteLength % bytes)
        return error_set(e, WNNStatus_TypeError, "%s: %s has %zu bytes, not a multiple of %zu", s->call,
                         said_text(b->name, (char[SAID_LENGTH]){0}), b->byteLength, (size_t)bytes);
    if (power != 1 || b->byteLength / bytes > ELEMENT_COUNT_MAX)
        return true;
    *changed = true;
    return set_size(s, unknown, (uint32_t)(b->byteLength / bytes), b->name, e);
}

/* Refuses a call that does not say all sizes. */
static bool sizes_are_known(const struct sizes *s, struct error *e)
{
    char shown[96], inputs[300] = "";

    for (uint32_t name = 0; name < s->count; name++) {
        if (s->sizes[name])
            continue;
        for (uint32_t i = 0; i < s->g->input_count; i++) {
            const struct value *v = s->g->inputs[i];
            bool has = false;

            for (uint32_t k = 0; k < v->type.rank; k++)
                has |= dims_name_of(s->g, v->type.dims[k]) == name;
            if (has)
                text_list_add(inputs, sizeof inputs, '"', v->name, v->name_length);
        }
        if (*inputs)
            return error_set(e, WNNStatus_TypeError, "%s: the size of dimension \"%s\" is not known; it is one of input %s",
                             s->call, name_text(s, name, shown, sizeof shown), inputs);
        s->sizes[name] = 1; /* of inputs that no output needs */
    }
    return true;
}

/* ---- variants ---- */

/* Says for whom a variant is built. */
struct building {
    WNNContext context;
    struct variants *variants;
    struct error *e;
};

/* The program's progress callback, and whether it cancelled the build of a plan: then nothing else is built. */
struct asked {
    WNNBuildProgressCallbackInfo program;
    bool cancelled;
};

static bool ask_program(WNNBuildStage stage, uint32_t done, uint32_t total, void *user, void *unused)
{
    struct asked *a = user;

    (void)unused;
    if (!a->program.callback(stage, done, total, a->program.userdata1, a->program.userdata2))
        a->cancelled = true;
    return !a->cancelled;
}

/* Builds what a plan gives for these sizes.  Returns NULL if none does, with an error in *b->e if the program has cancelled the
 * build. */
static WNNGraph build_planned(const struct building *b, const uint32_t *sizes)
{
    struct graph *planned = b->context->debug.flags & DEBUG_VERIFY ? NULL : plans_take(b->variants->plans, sizes);
    struct asked asked = {b->variants->graph->progress, false};
    struct error why = {0};
    WNNGraph variant = NULL;

    if (!planned)
        return NULL;
    if (asked.program.callback) {
        planned->progress.callback = ask_program;
        planned->progress.userdata1 = &asked;
    }
    variant = graph_build(b->context, planned, &why);
    plans_give_back(b->variants->plans);
    if (!variant && asked.cancelled)
        *b->e = why;
    return variant;
}

static void *build_variant(void *user, const void *sizes)
{
    struct building *b = user;
    WNNGraph variant = build_planned(b, sizes);
    struct graph *g = variant || b->e->status ? NULL : graph_at_sizes(b->variants->graph, sizes, NULL, b->e);

    if (g) {
        g->origin.plans = b->variants->plans;
        variant = graph_build(b->context, g, b->e);
    }
    if (!variant)
        return NULL;
    atomic_fetch_add(&b->variants->built, 1);
    wnnContextAddRef(b->context); /* it may be given out, and outlive the graph */
    variant->holds_context = true;
    return variant;
}

/* Ends the sizes of a call.  Returns their variant if ok, all are known and the graph can compute. */
static WNNGraph sizes_end(struct sizes *s, bool ok, struct error *e)
{
    struct building b = {s->graph->context, s->graph->variants, e};
    WNNGraph variant = NULL;

    if (ok && graph_try_pin(s->graph, s->call, e)) { /* it is not freed while a variant is built */
        if (sizes_are_known(s, e) && !(variant = kept_get(&b.variants->kept, s->sizes, build_variant, &b)) && !e->status)
            error_out_of_memory(e);
        graph_unpin(s->graph);
    }
    sizes_free(s);
    return variant;
}

static WNNGraph variant_of_tensors(WNNGraph graph, size_t count, WNNNamedTensor const *inputs, struct error *e)
{
    struct sizes s;
    bool ok = sizes_begin(&s, graph, "dispatch", e);

    for (size_t i = 0; ok && i < count && i < SLOT_COUNT_MAX; i++)
        ok = !inputs[i].tensor || take_shape(&s, inputs[i].name, (uint32_t)wnnTensorGetRank(inputs[i].tensor),
                                             wnnTensorGetShape(inputs[i].tensor), e);
    return sizes_end(&s, ok, e);
}

static bool take_sizes(struct sizes *s, size_t count, WNNNamedSize const *sizes, struct error *e)
{
    char shown[96];

    for (size_t i = 0; i < count; i++) {
        uint32_t name = 0;
        size_t length = 0;

        while (name < s->count && (dims_name_at(s->g, name, &length),
                                   length != view_length(sizes[i].name) ||
                                       memcmp(dims_name_at(s->g, name, &length), sizes[i].name.data, length) != 0))
            name++;
        if (name == s->count)
            return error_set(e, WNNStatus_TypeError, "%s: sizes[%zu] is of \"%s\", the graph has no such dimension", s->call, i,
                             view_quote(shown, sizeof shown, sizes[i].name));
        if (!set_size(s, name, sizes[i].size, (WNNStringView){NULL, 0}, e))
            return false;
    }
    return true;
}

static WNNGraph variant_of_buffers(WNNGraph graph, size_t size_count, WNNNamedSize const *sizes, size_t count,
                                   WNNNamedBuffer const *inputs, struct error *e)
{
    struct sizes s;
    bool ok = sizes_begin(&s, graph, "compute", e) && take_sizes(&s, size_count, sizes, e), changed = true;

    while (ok && changed) {
        changed = false;
        for (size_t i = 0; ok && i < count && i < SLOT_COUNT_MAX; i++)
            ok = take_length(&s, &inputs[i], &changed, e);
    }
    return sizes_end(&s, ok, e);
}

/* ---- what programs ask ---- */

WNNStatus variants_dispatch(WNNGraph graph, size_t input_count, WNNNamedTensor const *inputs, size_t output_count,
                            WNNNamedTensor const *outputs, WNNCancellation cancellation)
{
    struct error e = {0};

    WNNGraph variant = variant_of_tensors(graph, input_count, inputs, &e);
    const WNNStatus status = variant ? wnnContextDispatchCancellable(graph->context, variant, input_count, inputs, output_count,
                                                                     outputs, cancellation)
                                     : error_publish(&e);
    wnnGraphRelease(variant);
    return status;
}

WNNStatus wnnGraphComputeSized(WNNGraph graph, size_t sizeCount, WNNNamedSize const *sizes, size_t inputCount,
                               WNNNamedBuffer const *inputs, size_t outputCount, WNNNamedBuffer const *outputs,
                               WNNCancellation cancellation)
{
    struct error e = {0};

    if (!graph || (sizeCount && !sizes) || (inputCount && !inputs))
        return error_fail(&e, WNNStatus_TypeError, "compute: %s NULL",
                          !graph                ? "graph is"
                          : sizeCount && !sizes ? "sizes are"
                                                : "inputs are");
    if (!graph->variants && sizeCount)
        return error_fail(&e, WNNStatus_TypeError, "compute: %zu sizes are given, the graph has no named dimensions",
                          sizeCount);
    if (!graph->variants)
        return wnnGraphComputeCancellable(graph, inputCount, inputs, outputCount, outputs, cancellation);
    WNNGraph variant = variant_of_buffers(graph, sizeCount, sizes, inputCount, inputs, &e);
    const WNNStatus status = variant
                                 ? wnnGraphComputeCancellable(variant, inputCount, inputs, outputCount, outputs, cancellation)
                                 : error_publish(&e);
    wnnGraphRelease(variant);
    return status;
}

WNNStatus wnnGraphGetVariant(WNNGraph graph, size_t sizeCount, WNNNamedSize const *sizes, WNNGraph *variant)
{
    struct sizes s;
    struct error e;

    error_clear(&e);
    if (variant)
        *variant = NULL;
    if (!graph || !variant || (sizeCount && !sizes))
        return error_fail(&e, WNNStatus_TypeError, "getVariant: %s NULL",
                          !graph     ? "graph is"
                          : !variant ? "variant is"
                                     : "sizes are");
    if (!graph->variants && sizeCount)
        return error_fail(&e, WNNStatus_TypeError, "getVariant: %zu sizes are given, the graph has no named dimensions",
                          sizeCount);
    if (!graph->variants)
        wnnGraphAddRef(*variant = graph);
    else
        *variant = sizes_end(&s, sizes_begin(&s, graph, "getVariant", &e) && take_sizes(&s, sizeCount, sizes, &e), &e);
    return *variant ? WNNStatus_Success : error_publish(&e);
}

static bool fill_shapes(const struct sizes *s, size_t count, WNNNamedShape *outputs, struct error *e)
{
    struct graph *g = sizes_are_known(s, e) ? graph_at_sizes(s->g, s->sizes, NULL, e) : NULL;

    for (size_t i = 0; g && i < count; i++) {
        const struct tensor_type *t = &g->outputs[i].value->type;

        outputs[i] = (WNNNamedShape){{s->graph->outputs[i].name, s->graph->outputs[i].name_length}, t->rank, {0}};
        memcpy(outputs[i].shape, t->dims, t->rank * sizeof *t->dims);
    }
    graph_free(g);
    return g != NULL;
}

static bool compute_shapes(WNNGraph graph, size_t input_count, WNNNamedShape const *inputs, size_t output_count,
                           WNNNamedShape *outputs, struct error *e)
{
    struct sizes s;
    char shown[96];
    bool ok = sizes_begin(&s, graph, "computeShapes", e);

    for (size_t i = 0; ok && i < input_count; i++) {
        if (!input_of(&s, inputs[i].name))
            ok = error_set(e, WNNStatus_TypeError, "computeShapes: inputs[%zu] is named \"%s\", the graph has no such input", i,
                           view_quote(shown, sizeof shown, inputs[i].name));
        else
            ok = take_shape(&s, inputs[i].name, (uint32_t)(inputs[i].rank < UINT32_MAX ? inputs[i].rank : UINT32_MAX),
                            inputs[i].shape, e);
    }
    ok = ok && fill_shapes(&s, output_count, outputs, e);
    sizes_free(&s);
    return ok;
}

WNNStatus wnnGraphComputeShapes(WNNGraph graph, size_t inputCount, WNNNamedShape const *inputs, size_t outputCount,
                                WNNNamedShape *outputs)
{
    struct error e = {0};

    if (!graph || (inputCount && !inputs) || (outputCount && !outputs))
        return error_fail(&e, WNNStatus_TypeError, "computeShapes: %s NULL",
                          !graph     ? "graph is"
                          : !outputs ? "outputs are"
                                     : "inputs are");
    if (outputCount != graph->output_count)
        return error_fail(&e, WNNStatus_TypeError, "computeShapes: there is room for %zu outputs, the graph has %u",
                          outputCount, graph->output_count);
    if (!graph_try_pin(graph, "computeShapes", &e))
        return error_publish(&e);
    bool ok = true;
    for (size_t i = 0; !graph->variants && i < outputCount; i++) {
        const struct graph_binding *b = &graph->outputs[i];

        outputs[i] = (WNNNamedShape){{b->name, b->name_length}, b->type.rank, {0}};
        memcpy(outputs[i].shape, b->type.dims, b->type.rank * sizeof *b->type.dims);
    }
    if (graph->variants)
        ok = compute_shapes(graph, inputCount, inputs, outputCount, outputs, &e);
    graph_unpin(graph);
    return ok ? WNNStatus_Success : error_publish(&e);
}

void wnnGraphGetVariantCounts(WNNGraph graph, WNNGraphVariantCounts *counts)
{
    struct variants *v = graph ? graph->variants : NULL;
    const struct kept_counts kept = v ? kept_count(&v->kept) : (struct kept_counts){0};

    if (counts)
        *counts = (WNNGraphVariantCounts){v ? atomic_load(&v->built) : 0, kept.found, kept.evicted, kept.held};
}

void wnnGraphSetVariantLimit(WNNGraph graph, size_t limit)
{
    if (graph && graph->variants)
        kept_set_limit(&graph->variants->kept, limit ? limit : 1);
}
