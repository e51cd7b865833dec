/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Brings weights to the form that a primitive reads.
 *
 * Weights, constants or an input, become an argument of the step in the layout that its primitive descriptor wants: bytes that
 * stay where they are, bytes that are packed once (library_step_finish), or the result of a reorder that runs before the
 * contraction.  The processor packs for every engine; a device gets the bytes.
 */
#include "runtime/engine/onednn/onednn_step.h"

#include "ir/graph/constant_pool.h"
#include "runtime/host/threads.h"
#include "runtime/engine/onednn/cpu/library_cpu.h"

/* Reading weights of this size is worth moving them into large pages (constant_create). */
enum { LARGE_PAGE = TARGET_HUGE_PAGE_BYTES };

/* ---- reorders ---- */

struct reorder_creation {
    dnnl_engine_t engine;
    dnn_const_md from, to;
    dnnl_primitive_attr_t attributes;
    dnnl_primitive_desc_t pd;
};

static dnnl_status_t create_reorder_pd(void *user)
{
    struct reorder_creation *r = user;

    r->attributes = dnn_create_attributes();
    return r->attributes ? onednn.reorder_primitive_desc_create(&r->pd, r->from, r->engine, r->to, r->engine, r->attributes)
                         : dnnl_out_of_memory;
}

/**
 * Creates the call that reorders weights from how the graph has them to how the primitive wants them.  Its arguments are from,
 * to and the scratchpad.
 */
static bool create_reorder(const struct library *l, struct library_step *s, struct primitive_call *c, dnn_const_md from,
                           dnn_const_md to)
{
    struct reorder_creation r = {l->engine, from, to, NULL, NULL};
    struct threads_saved saved = threads_enter(l->threads, l->parallel);
    bool done = memory_has_room(DNN_ROOM_BYTES) && dnn_protect(create_reorder_pd, &r) == dnnl_success;

    threads_leave(saved);
    done = done && dnn_add_argument(c, DNNL_ARG_FROM, dnn_md_copy(from)) && dnn_add_argument(c, DNNL_ARG_TO, dnn_md_copy(to)) &&
           dnn_add_scratchpad(s, c, r.pd) && dnn_create_primitive(l, c, r.pd);
    if (r.pd)
        onednn.primitive_desc_destroy(r.pd);
    if (r.attributes)
        onednn.primitive_attr_destroy(r.attributes);
    return done;
}

/** Returns the library that packs: layouts are the same everywhere, and a device has reorders only where it has sub-groups. */
static const struct library *packer(const struct library *l)
{
    return l->host ? l->host : l;
}

static bool reorder_constant(const struct library *l, dnn_const_md from, dnn_const_md to, const void *data, void *packed)
{
    struct library_step once = {.library = l, .call_count = 1};
    struct library_bindings *b = NULL;
    void *scratch = NULL;
    struct error ignored = {0};
    bool done = false;

    if (create_reorder(l, &once, &once.calls[0], from, to)) {
        struct threads_saved saved = threads_enter(l->threads, l->parallel);

        once.calls[0].args[0].source = FROM_INPUT;
        once.calls[0].args[1].source = FROM_OUTPUT;
        scratch = dnn_aligned_bytes((size_t)once.scratch_bytes);
        b = library_bindings_create(&once, &ignored);
        done = scratch && b && library_step_run(&once, b, &data, packed, scratch);
        threads_leave(saved);
    }
    library_bindings_free(b);
    dnn_call_free(&once.calls[0]);
    free(scratch);
    return done;
}

/** Writes sums of the columns of a matrix, which is packed with so many. */
static void sum_columns(dnn_const_md from, const int8_t *data, const struct dnn_sums *which, int64_t packed_columns,
                        int32_t *sums)
{
    const struct dnn_blocks b = dnn_md_blocks(from);
    int32_t *last = sums + (which->of_signed && which->of_zero ? packed_columns : 0);

    for (int64_t k = 0; k < b.dims[0]; k++)
        for (int64_t n = 0; n < b.dims[1]; n++)
            last[n] -= data[k * b.strides[0] + n];
    for (int64_t n = 0; which->of_signed && n < b.dims[1]; n++)
        sums[n] = 128 * last[n];
}

/** Packs weights.  oneDNN 2.6 goes number by number where sums follow them, which are therefore added here. */
static bool pack_constant(const struct library *of, struct library_step *s, dnn_const_md from, dnn_const_md to,
                          const void *data)
{
    const size_t bytes = onednn.memory_desc_get_size(to);
    struct dnn_sums sums;
    dnn_md plain = dnn_md_without_sums(from, to, &sums);
    const size_t end = plain ? onednn.memory_desc_get_size(plain) : bytes;

    s->weights.packed = constant_create(NULL, bytes);
    char *packed = s->weights.packed ? (char *)(uintptr_t)s->weights.packed->data : NULL;
    const bool done = packed && reorder_constant(packer(of), from, plain ? plain : to, data, packed);
    if (done && plain) {
        memset(packed + end, 0, bytes - end);
        sum_columns(from, data, &sums, dnn_md_blocks(to).padded[1], (int32_t *)(packed + end));
    }
    s->packed_bytes += (int64_t)bytes;
    dnn_md_free(plain);
    return done;
}

bool dnn_can_pack(const struct library *l, const struct dnn_problem *p, const_dnnl_primitive_desc_t pd)
{
    dnn_const_md wanted = dnn_pd_md(pd, dnnl_query_weights_md, 0);
    dnn_md given = dnn_given_weights(p);
    struct library_step once = {0};
    bool done = wanted && given &&
                (onednn.memory_desc_equal(given, wanted) ||
                 create_reorder(p->given_late ? l : packer(l), &once, &once.calls[0], given, wanted));

    dnn_call_free(&once.calls[0]);
    dnn_md_free(given);
    return done;
}

/* ---- constant weights in the form that the primitive reads ---- */

/**
 * Leaves an argument without its bytes until library_step_finish packs c into `layout`, or copies it if that is NULL.  Until
 * then nothing is there twice, and a step that is given up was cheap.
 */
static bool pack_later(struct library_step *s, struct argument *a, struct constant *c, dnn_const_md layout)
{
    if (layout && !(s->weights.pending_layout = dnn_md_copy(layout)))
        return false;
    dnn_argument_constant(a, NULL, layout ? onednn.memory_desc_get_size(a->md) : c->bytes);
    s->weights.pending = constant_retain(c);
    return true;
}

/**
 * Lets the contraction read weights that are in the layout that is wanted.  They stay where they are, but for large ones that
 * are read from memory in every run (large pages gain something there), and unaligned ones.
 */
static bool use_as_given(struct library_step *s, struct argument *a, struct constant *c, bool streamed)
{
    if ((streamed && c->bytes >= LARGE_PAGE) || !dnn_is_aligned(c->data))
        return pack_later(s, a, c, NULL);
    dnn_argument_constant(a, c->data, c->bytes);
    dnn_hold_constant(s, c);
    return true;
}

static bool copy_pending(struct library_step *s)
{
    s->weights.packed = constant_create(s->weights.pending->data, s->weights.pending->bytes);
    s->packed_bytes += (int64_t)s->weights.pending->bytes;
    return s->weights.packed != NULL;
}

static bool pack_parts(const struct library *l, struct library_step *s, dnn_const_md given, dnn_const_md wanted,
                       const void *data)
{
    const struct dnn_conversion c = dnn_conversion_of(&s->problem, DNN_WEIGHTS);
    struct constant *parts = constant_create(NULL, dnn_conversion_bytes(&c));
    struct threads_saved saved = threads_enter(l->threads, l->parallel);

    if (parts)
        dnn_convert(l, &c, data, (void *)parts->data);
    threads_leave(saved);
    if (parts && onednn.memory_desc_equal(given, wanted)) {
        s->weights.packed = parts;
        s->packed_bytes += (int64_t)dnn_conversion_bytes(&c);
        return true;
    }
    bool done = parts && pack_constant(l, s, given, wanted, parts->data);
    constant_release(parts);
    return done;
}

static bool pack_pending(struct library_step *s, dnn_const_md wanted)
{
    const struct constant *c = s->weights.pending;

    if (s->problem.parts)
        return s->weights.in_layout = pack_parts(s->library, s, s->weights.pending_layout, wanted, c->data);
    void *straight = dnn_is_aligned(c->data) ? NULL : dnn_aligned_bytes(c->bytes);
    bool done = straight || dnn_is_aligned(c->data);

    if (straight)
        memcpy(straight, c->data, c->bytes);
    done = done && pack_constant(s->library, s, s->weights.pending_layout, wanted, straight ? straight : c->data);
    free(straight);
    s->weights.in_layout = done;
    return done;
}

bool library_step_finish(struct library_step *s, struct error *e)
{
    struct primitive_call *contraction = &s->calls[s->call_count - 1];

    for (uint32_t i = 0; s->weights.pending && i < contraction->count; i++) {
        struct argument *a = &contraction->args[i];

        if (a->id != DNNL_ARG_WEIGHTS)
            continue;
        if (!(s->weights.pending_layout ? pack_pending(s, a->md) : copy_pending(s)))
            return error_out_of_memory(e);
        s->weights.packed = constant_pool_share(s->library->pool, s->weights.packed);
        a->data = s->weights.packed->data;
        constant_release(s->weights.pending);
        s->weights.pending = NULL;
    }
    return true;
}

dnn_md dnn_given_weights(const struct dnn_problem *p)
{
    const struct dnn_layout *w = &p->weights;
    int64_t strides[RANK_MAX], size = 1;

    if (p->parts) {
        const struct dnn_layout l = dnn_parts_layout(p, DNN_WEIGHTS);

        return dnn_md_create(l.rank, l.dims, l.strides, dnnl_bf16);
    }
    if (p->weights_type == dnnl_f32 || p->given_late)
        return dnn_md_create(w->rank, w->dims, w->strides, (dnnl_data_type_t)p->weights_type);
    for (int i = w->rank; i-- > 0; size *= w->dims[i])
        strides[i] = size;
    return dnn_md_create(w->rank, w->dims, strides, (dnnl_data_type_t)p->weights_type);
}

/** Shares what was packed, which the contraction reads in the layout that it wants. */
static void use_packed(const struct library *l, struct library_step *s, struct argument *a, dnn_const_md wanted)
{
    s->weights.packed = constant_pool_share(l->pool, s->weights.packed);
    s->weights.in_layout = true;
    dnn_argument_constant(a, s->weights.packed->data, onednn.memory_desc_get_size(wanted));
}

bool dnn_repack(const struct library *l, struct library_step *s, struct argument *a, dnn_const_md from, dnn_const_md to,
                const void *data)
{
    if (!pack_constant(l, s, from, to, data))
        return false;
    use_packed(l, s, a, to);
    return true;
}

bool dnn_use_constant_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                              dnn_const_md wanted, const void *data, size_t bytes)
{
    dnn_argument_constant(a, data, bytes);
    if (!s->problem.parts && onednn.memory_desc_equal(given, wanted))
        return true;
    if (l->keep_weights) {
        s->weights.unpacked = data;
        s->weights.unpacked_bytes = bytes;
    }
    if (!s->problem.parts)
        return dnn_repack(l, s, a, given, wanted, data);
    if (!pack_parts(l, s, given, wanted, data))
        return false;
    use_packed(l, s, a, wanted);
    return true;
}

bool dnn_use_input_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                           dnn_const_md wanted, uint32_t input)
{
    struct primitive_call *reorder = &s->calls[0];

    a->source = FROM_INPUT;
    a->input = input;
    if (onednn.memory_desc_equal(given, wanted))
        return dnn_low_precision_argument(s, a, DNN_WEIGHTS);
    if (!create_reorder(l, s, reorder, given, wanted))
        return false;
    reorder->args[0].source = FROM_INPUT;
    reorder->args[0].input = input;
    if (!dnn_low_precision_argument(s, &reorder->args[0], DNN_WEIGHTS))
        return false;
    dnn_argument_scratch(s, a, (int64_t)onednn.memory_desc_get_size(wanted));
    reorder->args[1].source = FROM_SCRATCH;
    reorder->args[1].offset = a->offset;
    return true;
}

/** Adds weights of floats, or of integers that are not constants. */
static bool add_weights(struct library *l, struct library_step *s, struct primitive_call *contraction,
                        const_dnnl_primitive_desc_t pd, const struct dnn_cluster *c)
{
    dnn_const_md wanted = dnn_pd_md(pd, dnnl_query_weights_md, 0);
    dnn_md given = dnn_given_weights(&c->problem);
    struct argument *a = wanted ? dnn_add_argument(contraction, DNNL_ARG_WEIGHTS, dnn_md_copy(wanted)) : NULL;
    struct constant *constant = c->weights.value->kind == VALUE_CONSTANT ? c->weights.value->constant : NULL;
    bool done = false;

    if (given && a && !constant) {
        done = dnn_use_input_weights(l, s, a, given, wanted, dnn_input_index(s, c->weights.value));
    } else if (given && a && !c->problem.parts && onednn.memory_desc_equal(given, wanted)) {
        done = use_as_given(s, a, constant, c->problem.by_gemm != 0);
    } else if (given && a) {
        done = pack_later(s, a, constant, given);
        if (l->keep_weights) {
            dnn_hold_constant(s, constant);
            s->weights.unpacked = constant->data;
            s->weights.unpacked_bytes = constant->bytes;
        }
    }
    dnn_md_free(given);
    return done;
}

/** Adds constant weights of integers, which are packed always: every implementation has its own layout. */
static bool add_integer_weights(struct library *l, struct library_step *s, struct primitive_call *contraction,
                                const_dnnl_primitive_desc_t pd, const struct dnn_cluster *c)
{
    dnn_const_md wanted = dnn_pd_md(pd, dnnl_query_weights_md, 0);
    int8_t *integers = dnn_integer_weights(c);
    struct argument *a = wanted ? dnn_add_argument(contraction, DNNL_ARG_WEIGHTS, dnn_md_copy(wanted)) : NULL;
    dnn_md given = dnn_given_weights(&c->problem);
    bool done = integers && a && given && pack_constant(l, s, given, wanted, integers);

    if (done)
        use_packed(l, s, a, wanted);
    dnn_md_free(given);
    if (done && l->keep_weights) {
        s->weights.unpacked = s->weights.unpacked_integers = integers;
        s->weights.unpacked_bytes = (size_t)dnn_elements(&c->problem.weights);
    } else {
        free(integers);
    }
    return done;
}

bool dnn_add_weights(struct library *l, struct library_step *s, struct primitive_call *contraction,
                     const_dnnl_primitive_desc_t pd, const struct dnn_cluster *c)
{
    return (c->quantization.weight_scale && !c->problem.given_late ? add_integer_weights : add_weights)(l, s, contraction, pd,
                                                                                                        c);
}
