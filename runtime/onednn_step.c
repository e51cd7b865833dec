/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Steps: a primitive with everything it needs, and how it runs.
 *
 * In: a resolved cluster.  Out: at most two primitive calls, the second the product itself, the first the reorder of weights
 * that are only known at run time; before them what the library has no words for (gemm's beta, and a c that is one number per
 * row).
 *
 * A step is immutable.  The library's memory objects, which hold the pointers of one run, are in bindings, one set per
 * execution: then a run stores pointers and calls the primitive, and no two threads meet.
 */
#include "runtime/onednn_step.h"

#include "runtime/threads.h"

struct library_bindings {
    const struct library_step *step;
    dnnl_stream_t stream;
    uint32_t counts[CALLS_MAX];
    dnnl_exec_arg_t args[CALLS_MAX][ARGS_MAX];
};

/* ---- scratch ---- */

static int64_t align_up(int64_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/** Reserves scratch bytes; returns their offset. */
int64_t dnn_reserve_scratch(struct library_step *s, int64_t bytes)
{
    int64_t offset = s->scratch_bytes;

    s->scratch_bytes += align_up(bytes);
    return offset;
}

static void *aligned_bytes(size_t bytes)
{
    return aligned_alloc(ALIGNMENT, (size_t)align_up((int64_t)bytes + !bytes));
}

/* Reading weights of this size is worth moving them into large pages (constant_create). */
enum { LARGE_PAGE = 2 << 20 };

/* ---- arguments ---- */

/** Adds an argument; md is taken over.  NULL: out of memory. */
struct argument *dnn_add_argument(struct primitive_call *c, int id, dnn_md md)
{
    struct argument *a = &c->args[c->count];

    if (!md)
        return NULL;
    c->count++;
    *a = (struct argument){.id = id, .md = md};
    return a;
}

static uint32_t input_index(struct library_step *s, const struct value *v)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i] == v)
            return i;
    s->inputs[s->input_count] = v;
    return s->input_count++;
}

static void hold_constant(struct library_step *s, struct constant *c)
{
    for (uint32_t i = 0; i < s->constant_count; i++)
        if (s->constants[i] == c)
            return;
    s->constants[s->constant_count++] = constant_retain(c);
}

/** Lets an argument be the bytes of v as they are. */
static void argument_from_value(struct library_step *s, struct argument *a, const struct value *v)
{
    if (v->kind == VALUE_CONSTANT) {
        a->source = FROM_CONSTANT;
        a->data = v->constant->data;
        a->bytes = v->constant->bytes;
        hold_constant(s, v->constant);
    } else {
        a->source = FROM_INPUT;
        a->input = input_index(s, v);
    }
}

static void scale_elements(const struct scaling *x, const float *in, float *out)
{
    for (int64_t i = 0; i < x->count; i++) {
        float v = x->scale * in[i];

        for (int64_t k = 0; k < x->repeat; k++)
            *out++ = v;
    }
}

/** An operand that may have to be scaled or repeated first: at once if constant, else in the scratch of each run. */
static bool argument_from_operand(struct library_step *s, struct argument *a, const struct dnn_operand *x)
{
    struct scaling scaling = {.count = type_elements(&x->value->type), .repeat = x->repeat, .scale = x->scale};
    int64_t bytes = scaling.count * scaling.repeat * (int64_t)sizeof(float);

    if (x->scale == 1 && x->repeat == 1) {
        argument_from_value(s, a, x->value);
        return true;
    }
    if (x->value->kind == VALUE_CONSTANT) {
        s->scaled = aligned_bytes((size_t)bytes);
        if (!s->scaled)
            return false;
        scale_elements(&scaling, x->value->constant->data, s->scaled);
        a->source = FROM_CONSTANT;
        a->data = s->scaled;
        a->bytes = (size_t)bytes;
        s->packed_bytes += bytes;
        return true;
    }
    a->source = FROM_SCRATCH;
    a->offset = scaling.offset = dnn_reserve_scratch(s, bytes);
    scaling.input = input_index(s, x->value);
    s->scaling = scaling;
    return true;
}

static bool add_plain_argument(struct library_step *s, struct primitive_call *c, int id, const struct dnn_layout *l,
                               int32_t type, const struct dnn_operand *x)
{
    struct argument *a = dnn_add_argument(c, id, dnn_md_create(l->rank, l->dims, l->strides, (dnnl_data_type_t)type));

    return a && argument_from_operand(s, a, x);
}

bool dnn_add_scratchpad(struct library_step *s, struct primitive_call *c, const_dnnl_primitive_desc_t pd)
{
    dnn_const_md md = dnn_pd_md(pd, dnnl_query_scratchpad_md, 0);
    int64_t bytes = md ? (int64_t)dnnl_memory_desc_get_size(md) : 0;
    struct argument *a;

    if (!bytes)
        return true;
    a = dnn_add_argument(c, DNNL_ARG_SCRATCHPAD, dnn_md_copy(md));
    if (!a)
        return false;
    a->source = FROM_SCRATCH;
    a->offset = dnn_reserve_scratch(s, bytes);
    return true;
}

/* ---- bindings ---- */

static bool bind_call(struct library_bindings *b, uint32_t index)
{
    const struct library_step *s = b->step;
    const struct primitive_call *c = &s->calls[index];

    for (uint32_t i = 0; i < c->count; i++) {
        const struct argument *a = &c->args[i];
        void *data = a->source == FROM_CONSTANT ? (void *)a->data : DNNL_MEMORY_NONE;

        b->args[index][i].arg = a->id;
        if (dnnl_memory_create(&b->args[index][i].memory, a->md, s->library->engine, data) != dnnl_success)
            return false;
        b->counts[index]++;
    }
    return true;
}

struct library_bindings *library_bindings_create(const struct library_step *s, struct error *e)
{
    struct library_bindings *b = calloc(1, sizeof *b);

    if (!b) {
        error_out_of_memory(e);
        return NULL;
    }
    b->step = s;
    if (dnnl_stream_create(&b->stream, s->library->engine, dnnl_stream_default_flags) != dnnl_success)
        goto failed;
    for (uint32_t i = 0; i < s->call_count; i++)
        if (!bind_call(b, i))
            goto failed;
    return b;
failed:
    error_out_of_memory(e);
    library_bindings_free(b);
    return NULL;
}

void library_bindings_free(struct library_bindings *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < CALLS_MAX; i++)
        for (uint32_t k = 0; k < b->counts[i]; k++)
            dnnl_memory_destroy(b->args[i][k].memory);
    if (b->stream)
        dnnl_stream_destroy(b->stream);
    free(b);
}

/* ---- running ---- */

bool library_step_run(const struct library_step *s, struct library_bindings *b, const void *const *inputs, void *output,
                      void *scratch)
{
    if (s->scaling.repeat)
        scale_elements(&s->scaling, s->scaling.constant ? s->scaling.constant : inputs[s->scaling.input],
                       s->scaling.offset < 0 ? output : (float *)((char *)scratch + s->scaling.offset));
    for (int i = 0; i < 2; i++) {
        const struct narrowing *n = &s->narrowings[i];

        if (n->conversion.parts)
            dnn_convert(s->library, &n->conversion, n->constant ? n->constant : inputs[n->input], (char *)scratch + n->offset);
    }
    for (uint32_t i = 0; i < s->call_count; i++) {
        const struct primitive_call *c = &s->calls[i];

        for (uint32_t k = 0; k < c->count; k++) {
            const struct argument *a = &c->args[k];
            void *data = NULL;

            switch (a->source) {
            case FROM_INPUT:
                data = (void *)inputs[a->input];
                break;
            case FROM_OUTPUT:
                data = output;
                break;
            case FROM_SCRATCH:
                data = (char *)scratch + a->offset;
                break;
            case FROM_CONSTANT:
                continue;
            }
            if (dnnl_memory_set_data_handle(b->args[i][k].memory, data) != dnnl_success)
                return false;
        }
        if (dnnl_primitive_execute(c->primitive, b->stream, (int)c->count, b->args[i]) != dnnl_success)
            return false;
    }
    return dnnl_stream_wait(b->stream) == dnnl_success;
}

/* ---- creation ---- */

static bool library_failed(const struct dnn_cluster *c, struct error *e)
{
    return error_set(e, WNNStatus_OperationError, "%s [%s]: oneDNN could not create the primitive",
                     op_infos[c->anchor->op].name, c->anchor->label);
}

/** Creates a call's primitive; pd stays the caller's. */
bool dnn_create_primitive(const struct library *l, struct primitive_call *c, const_dnnl_primitive_desc_t pd)
{
    int saved = threads_enter(l->threads);
    dnnl_status_t status = dnnl_primitive_create(&c->primitive, pd);

    threads_leave(saved);
    return status == dnnl_success;
}

/** The call that reorders weights from how the graph has them to how the primitive wants them; arguments: from, to, scratchpad.
 */
static bool create_reorder(const struct library *l, struct library_step *s, struct primitive_call *c, dnn_const_md from,
                           dnn_const_md to)
{
    dnnl_primitive_attr_t attributes = dnn_create_attributes();
    dnnl_primitive_desc_t pd = NULL;
    int saved = threads_enter(l->threads);
    bool done =
        attributes && dnnl_reorder_primitive_desc_create(&pd, from, l->engine, to, l->engine, attributes) == dnnl_success;

    threads_leave(saved);
    done = done && dnn_add_argument(c, DNNL_ARG_FROM, dnn_md_copy(from)) && dnn_add_argument(c, DNNL_ARG_TO, dnn_md_copy(to)) &&
           dnn_add_scratchpad(s, c, pd) && dnn_create_primitive(l, c, pd);
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    return done;
}

static void call_free(struct primitive_call *c)
{
    if (c->primitive)
        dnnl_primitive_destroy(c->primitive);
    for (uint32_t i = 0; i < c->count; i++)
        dnn_md_free(c->args[i].md);
    *c = (struct primitive_call){0};
}

/** Reorders constant weights once, into memory of the step. */
static bool pack_constant(const struct library *l, struct library_step *s, dnn_const_md from, dnn_const_md to, const void *data)
{
    struct library_step once = {.library = l, .call_count = 1};
    struct library_bindings *b = NULL;
    void *scratch = NULL;
    size_t bytes = dnnl_memory_desc_get_size(to);
    struct error ignored = {0};
    bool done = false;

    s->packed = constant_create(NULL, bytes);
    if (s->packed && create_reorder(l, &once, &once.calls[0], from, to)) {
        int saved = threads_enter(l->threads);

        once.calls[0].args[0].source = FROM_INPUT;
        once.calls[0].args[1].source = FROM_OUTPUT;
        scratch = aligned_bytes((size_t)once.scratch_bytes);
        b = library_bindings_create(&once, &ignored);
        done = scratch && b && library_step_run(&once, b, &data, (void *)s->packed->data, scratch);
        threads_leave(saved);
    }
    s->packed_bytes += (int64_t)bytes;
    library_bindings_free(b);
    call_free(&once.calls[0]);
    free(scratch);
    return done;
}

/* ---- constant weights in the form that the primitive reads ---- */

/** Whether float32 elements may be read where the bytes are: those that are lent may lie anywhere. */
static bool is_aligned(const void *data)
{
    return (uintptr_t)data % sizeof(float) == 0;
}

/**
 * Leaves an argument without its bytes until library_step_finish packs c (layout; NULL: copies it).  Until then nothing is
 * there twice, and a step that is given up was cheap.
 */
static bool pack_later(struct library_step *s, struct argument *a, struct constant *c, dnn_const_md layout)
{
    if (layout && !(s->pending_layout = dnn_md_copy(layout)))
        return false;
    a->source = FROM_CONSTANT;
    a->data = NULL;
    a->bytes = layout ? dnnl_memory_desc_get_size(a->md) : c->bytes;
    s->pending = constant_retain(c);
    return true;
}

/** Weights in the layout that is wanted: they stay where they are, but for large ones that are read from memory in every run
 * (large pages gain something there), and those that lie askew. */
static bool use_as_given(struct library_step *s, struct argument *a, struct constant *c, bool streamed)
{
    if ((streamed && c->bytes >= LARGE_PAGE) || !is_aligned(c->data))
        return pack_later(s, a, c, NULL);
    a->source = FROM_CONSTANT;
    a->data = c->data;
    a->bytes = c->bytes;
    hold_constant(s, c);
    return true;
}

static bool copy_pending(struct library_step *s)
{
    s->packed = constant_create(s->pending->data, s->pending->bytes);
    s->packed_bytes += (int64_t)s->pending->bytes;
    return s->packed != NULL;
}

/** Constant weights in parts, packed. */
static bool pack_parts(const struct library *l, struct library_step *s, dnn_const_md given, dnn_const_md wanted,
                       const void *data)
{
    const struct dnn_conversion c = dnn_conversion_of(&s->problem, DNN_WEIGHTS);
    struct constant *parts = constant_create(NULL, dnn_conversion_bytes(&c));
    int saved = threads_enter(l->threads);

    if (parts)
        dnn_convert(l, &c, data, (void *)parts->data);
    threads_leave(saved);
    if (parts && dnnl_memory_desc_equal(given, wanted)) {
        s->packed = parts;
        s->packed_bytes += (int64_t)dnn_conversion_bytes(&c);
        return true;
    }
    bool done = parts && pack_constant(l, s, given, wanted, parts->data);
    constant_release(parts);
    return done;
}

static bool pack_pending(struct library_step *s, dnn_const_md wanted)
{
    const struct constant *c = s->pending;

    if (s->problem.parts)
        return s->weights_packed = pack_parts(s->library, s, s->pending_layout, wanted, c->data);
    void *straight = is_aligned(c->data) ? NULL : aligned_bytes(c->bytes);
    bool done = straight || is_aligned(c->data);

    if (straight)
        memcpy(straight, c->data, c->bytes);
    done = done && pack_constant(s->library, s, s->pending_layout, wanted, straight ? straight : c->data);
    free(straight);
    s->weights_packed = done;
    return done;
}

bool library_step_finish(struct library_step *s, struct error *e)
{
    struct primitive_call *product = &s->calls[s->call_count - 1];

    for (uint32_t i = 0; s->pending && i < product->count; i++) {
        struct argument *a = &product->args[i];

        if (a->id != DNNL_ARG_WEIGHTS)
            continue;
        if (!(s->pending_layout ? pack_pending(s, a->md) : copy_pending(s)))
            return error_out_of_memory(e);
        a->data = s->packed->data;
        constant_release(s->pending);
        s->pending = NULL;
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
    if (p->weights_type == dnnl_f32)
        return dnn_md_create(w->rank, w->dims, w->strides, dnnl_f32);
    for (int i = w->rank; i-- > 0; size *= w->dims[i])
        strides[i] = size;
    return dnn_md_create(w->rank, w->dims, strides, (dnnl_data_type_t)p->weights_type);
}

bool dnn_use_constant_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                              dnn_const_md wanted, const void *data, size_t bytes)
{
    a->source = FROM_CONSTANT;
    a->data = data;
    a->bytes = bytes;
    if (!s->problem.parts && dnnl_memory_desc_equal(given, wanted))
        return true;
    if (!(s->problem.parts ? pack_parts : pack_constant)(l, s, given, wanted, data))
        return false;
    a->data = s->packed->data;
    a->bytes = dnnl_memory_desc_get_size(wanted);
    s->weights_packed = true;
    return true;
}

bool dnn_use_input_weights(struct library *l, struct library_step *s, struct argument *a, dnn_const_md given,
                           dnn_const_md wanted, uint32_t input)
{
    struct primitive_call *reorder = &s->calls[0];

    a->source = FROM_INPUT;
    a->input = input;
    if (dnnl_memory_desc_equal(given, wanted))
        return dnn_narrow_argument(s, a, DNN_WEIGHTS);
    if (!create_reorder(l, s, reorder, given, wanted))
        return false;
    reorder->args[0].source = FROM_INPUT;
    reorder->args[0].input = input;
    if (!dnn_narrow_argument(s, &reorder->args[0], DNN_WEIGHTS))
        return false;
    a->source = reorder->args[1].source = FROM_SCRATCH;
    a->offset = reorder->args[1].offset = dnn_reserve_scratch(s, (int64_t)dnnl_memory_desc_get_size(wanted));
    return true;
}

/** Adds the weights in the layout that the primitive wants. */
static bool add_weights(struct library *l, struct library_step *s, struct primitive_call *product,
                        const_dnnl_primitive_desc_t pd, const struct dnn_cluster *c)
{
    dnn_const_md wanted = dnn_pd_md(pd, dnnl_query_weights_md, 0);
    dnn_md given = dnn_given_weights(&c->problem);
    struct argument *a = wanted ? dnn_add_argument(product, DNNL_ARG_WEIGHTS, dnn_md_copy(wanted)) : NULL;
    struct constant *constant = c->weights.value->kind == VALUE_CONSTANT ? c->weights.value->constant : NULL;
    bool done = false;

    if (given && a && !constant) {
        done = dnn_use_input_weights(l, s, a, given, wanted, input_index(s, c->weights.value));
    } else if (given && a && !c->problem.parts && dnnl_memory_desc_equal(given, wanted)) {
        done = use_as_given(s, a, constant, c->problem.by_gemm != 0);
    } else if (given && a) {
        done = pack_later(s, a, constant, given);
        if (l->keep_weights) {
            hold_constant(s, constant);
            s->plain = constant->data;
            s->plain_bytes = constant->bytes;
        }
    }
    dnn_md_free(given);
    return done;
}

/** Adds weights of integers, which are packed always: every implementation has a layout of its own. */
static bool add_integer_weights(struct library *l, struct library_step *s, struct primitive_call *product,
                                const_dnnl_primitive_desc_t pd, const struct dnn_cluster *c)
{
    dnn_const_md wanted = dnn_pd_md(pd, dnnl_query_weights_md, 0);
    int8_t *integers = dnn_integer_weights(c);
    struct argument *a = wanted ? dnn_add_argument(product, DNNL_ARG_WEIGHTS, dnn_md_copy(wanted)) : NULL;
    dnn_md given = dnn_given_weights(&c->problem);
    bool done = integers && a && given && pack_constant(l, s, given, wanted, integers);

    if (done) {
        a->source = FROM_CONSTANT;
        a->data = s->packed->data;
        a->bytes = dnnl_memory_desc_get_size(wanted);
        s->weights_packed = true;
    }
    dnn_md_free(given);
    if (done && l->keep_weights) {
        s->plain = s->plain_integers = integers;
        s->plain_bytes = (size_t)dnn_elements(&c->problem.weights);
    } else {
        free(integers);
    }
    return done;
}

/** Adds a bias as the primitive wants it: of integers, in units of the sum. */
static bool add_bias(struct library_step *s, struct primitive_call *product, const struct dnn_cluster *c)
{
    const struct dnn_layout *l = &c->problem.bias;
    struct argument *a;

    if (!c->quantization.weight_scale)
        return add_plain_argument(s, product, DNNL_ARG_BIAS, l, dnnl_f32, &c->bias);
    a = dnn_add_argument(product, DNNL_ARG_BIAS, dnn_md_create(l->rank, l->dims, l->strides, dnnl_f32));
    s->bias = dnn_scaled_bias(c);
    if (!a || !s->bias)
        return false;
    a->source = FROM_CONSTANT;
    a->data = s->bias;
    a->bytes = (size_t)dnn_elements(l) * sizeof(float);
    s->packed_bytes += dnn_elements(l) * (int64_t)sizeof(float);
    return true;
}

/** Adds the operand of post-op i: a value, or a number that the step holds. */
static bool add_post_operand(struct library_step *s, struct primitive_call *product, const struct dnn_cluster *c, int32_t i)
{
    const struct dnn_layout *l = &c->problem.posts[i].operand;
    int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1;
    struct argument *a;

    if (c->posts[i].value)
        return add_plain_argument(s, product, id, l, dnnl_f32, &c->posts[i]);
    a = dnn_add_argument(product, id, dnn_md_create(l->rank, l->dims, l->strides, dnnl_f32));
    if (!a)
        return false;
    s->numbers[i] = c->posts[i].scale;
    a->source = FROM_CONSTANT;
    a->data = &s->numbers[i];
    a->bytes = sizeof s->numbers[i];
    return true;
}

static bool add_output(struct library_step *s, struct primitive_call *product, const struct dnn_cluster *c)
{
    const struct dnn_layout *d = &c->problem.dst;
    struct argument *a = dnn_add_argument(product, DNNL_ARG_DST,
                                          dnn_md_create(d->rank, d->dims, d->strides, (dnnl_data_type_t)c->problem.dst_type));

    if (!a)
        return false;
    a->source = FROM_OUTPUT;
    if (c->fill.value) {
        const struct value *v = c->fill.value;

        s->scaling =
            (struct scaling){.count = type_elements(&v->type), .repeat = c->fill.repeat, .scale = c->fill.scale, .offset = -1};
        if (v->kind == VALUE_CONSTANT) {
            hold_constant(s, v->constant);
            s->scaling.constant = v->constant->data;
        } else {
            s->scaling.input = input_index(s, v);
        }
    }
    if (c->sum)
        s->in_place = (int32_t)input_index(s, c->sum);
    return true;
}

static bool add_arguments(struct library *l, struct library_step *s, const_dnnl_primitive_desc_t pd,
                          const struct dnn_cluster *c)
{
    const struct dnn_problem *p = &c->problem;
    struct primitive_call *product = &s->calls[1]; /* the first is for the reorder */

    if (!add_plain_argument(s, product, DNNL_ARG_SRC, &p->src, dnn_given_type(p, DNN_SOURCE), &c->src) ||
        !dnn_narrow_argument(s, &product->args[0], DNN_SOURCE) ||
        !(c->quantization.weight_scale ? add_integer_weights : add_weights)(l, s, product, pd, c) ||
        (p->bias.rank && !add_bias(s, product, c)))
        return false;
    for (int32_t i = 0; i < p->post_count; i++)
        if (p->posts[i].kind == DNN_POST_BINARY && !add_post_operand(s, product, c, i))
            return false;
    return add_output(s, product, c) && dnn_add_scratchpad(s, product, pd) && dnn_create_primitive(l, product, pd);
}

static void estimate_cost(struct library_step *s, const struct dnn_cluster *c)
{
    const struct dnn_problem *p = &c->problem;
    double weights = (double)dnn_elements(&p->weights), src = (double)dnn_elements(&p->src),
           dst = (double)dnn_elements(&p->dst);
    double elements = p->bias.rank ? (double)dnn_elements(&p->bias) : 0; /* float32 */

    s->flops = dnn_flops(p);
    for (int32_t i = 0; i < p->post_count; i++)
        elements += p->posts[i].kind == DNN_POST_BINARY ? (double)dnn_elements(&p->posts[i].operand)
                    : p->posts[i].kind == DNN_POST_SUM  ? dst
                                                        : 0;
    s->bytes = elements * sizeof(float) + src * (double)dnn_type_size(dnn_given_type(p, DNN_SOURCE)) +
               weights * (p->parts ? 2.0 * p->parts : (double)dnn_type_size(p->weights_type)) +
               dst * (double)dnn_type_size(p->dst_type);
}

/** A residual that planning has put into the output's memory, NULL: none.  nodes[first..] are the epilogue; a gemm's c counts.
 */
static const struct value *shared_residual(struct node *const *nodes, uint32_t count,
                                           bool (*shares_output)(void *user, const struct value *v), void *user)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < nodes[i]->input_count; k++) {
            const struct value *v = nodes[i]->inputs[k].value;
            bool inside = false;

            for (uint32_t j = 0; v && j < count; j++)
                inside |= v->producer == nodes[j];
            if (v && !inside && v->kind != VALUE_CONSTANT && shares_output(user, v))
                return v;
        }
    return NULL;
}

struct library_step *dnn_step_new(struct library *l)
{
    struct library_step *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->library = l;
    s->in_place = -1;
    return s;
}

void dnn_finish_step(struct library_step *s, const_dnnl_primitive_desc_t pd)
{
    if (s->calls[0].primitive) {
        s->call_count = 2;
    } else {
        s->calls[0] = s->calls[1];
        s->calls[1] = (struct primitive_call){0};
        s->call_count = 1;
    }
    strncpy(s->implementation, dnn_pd_name(pd), sizeof s->implementation - 1);
}

/** Moves lent bytes that lie askew, but for the weights: those are moved while they are packed. */
static bool straighten_constants(struct node *const *nodes, uint32_t count, struct error *e)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < nodes[i]->input_count; k++) {
            struct value *v = nodes[i]->inputs[k].value;
            struct constant *moved;

            if (!v || v->kind != VALUE_CONSTANT || dtype_size(v->type.type) < sizeof(float) || is_aligned(v->constant->data) ||
                (op_infos[nodes[i]->op].flags & OPF_LIBRARY && k == 1))
                continue;
            moved = constant_create(v->constant->data, v->constant->bytes);
            if (!moved)
                return error_out_of_memory(e);
            constant_release(v->constant);
            v->constant = moved;
        }
    return true;
}

struct library_step *library_step_prepare(struct library *l, struct node *const *nodes, uint32_t count,
                                          bool (*shares_output)(void *user, const struct value *v), void *user, struct error *e)
{
    struct library_step *s = dnn_step_new(l);
    const struct value *sum = shared_residual(nodes, count, shares_output, user);
    dnnl_primitive_desc_t pd = NULL;
    struct dnn_cluster c;

    if (!s) {
        error_out_of_memory(e);
        return NULL;
    }
    if (!straighten_constants(nodes, count, e))
        goto failed;
    if (!dnn_describe(nodes, count, sum, &c) || !dnn_resolve(l, &c)) {
        error_set(e, WNNStatus_UnknownError, "internal error: a cluster of %u nodes is not the library's", count);
        goto failed;
    }
    s->output = c.output;
    s->problem = c.problem;
    if (c.quantization.weight_scale && !(s->scales = dnn_output_scales(&c))) {
        error_out_of_memory(e);
        goto failed;
    }
    pd = dnn_create_pd(l, &c.problem, s->scales);
    if (!pd || !add_arguments(l, s, pd, &c)) {
        library_failed(&c, e);
        goto failed;
    }
    dnn_finish_step(s, pd);
    estimate_cost(s, &c);
    dnnl_primitive_desc_destroy(pd);
    return s;
failed:
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    library_step_free(s);
    return NULL;
}

struct library_step *library_step_create(struct library *l, struct node *const *nodes, uint32_t count,
                                         bool (*shares_output)(void *user, const struct value *v), void *user, struct error *e)
{
    struct library_step *s = library_step_prepare(l, nodes, count, shares_output, user, e);

    if (!s || library_step_finish(s, e))
        return s;
    library_step_free(s);
    return NULL;
}

void library_step_info(const struct library_step *s, struct library_step_info *out)
{
    *out = (struct library_step_info){.input_count = s->input_count,
                                      .inputs = s->inputs,
                                      .output = s->output,
                                      .in_place = s->in_place,
                                      .scratch_bytes = s->scratch_bytes,
                                      .packed_bytes = s->packed_bytes,
                                      .flops = s->flops,
                                      .bytes = s->bytes,
                                      .precision = s->problem.parts ? (WNNPrecision)s->problem.precision : WNNPrecision_Float32,
                                      .arithmetic = s->problem.parts                      ? ARITHMETIC_BFLOAT16
                                                    : s->problem.weights_type == dnnl_f32 ? ARITHMETIC_FLOAT32
                                                                                          : ARITHMETIC_INT8,
                                      .operations = s->flops * (s->problem.parts ? s->problem.parts : 1),
                                      .implementation = s->implementation};
}

void library_step_free(struct library_step *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < CALLS_MAX; i++)
        call_free(&s->calls[i]);
    for (uint32_t i = 0; i < s->constant_count; i++)
        constant_release(s->constants[i]);
    constant_release(s->pending);
    dnn_md_free(s->pending_layout);
    free(s->bias);
    constant_release(s->packed);
    free(s->scaled);
    free(s->scales);
    free(s->plain_integers);
    free(s);
}
