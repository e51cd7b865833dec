/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes steps: a primitive with everything it needs, on whatever machine the library is for.
 *
 * A resolved cluster becomes at most two primitive calls, the second the contraction itself, the first the reorder of weights
 * that are only known at run time; before them runs what the library has no words for (gemm's beta, and a c that is one number
 * per row).  A step is immutable; cpu/run.c and gpu/library_gpu.c have what belongs to a run.
 */
#include "runtime/engine/onednn/onednn_step.h"

#include "runtime/host/threads.h"

/* ---- scratch ---- */

int64_t dnn_reserve_scratch(struct library_step *s, int64_t bytes)
{
    int64_t offset = s->scratch_bytes;

    s->scratch_bytes += target_align(bytes);
    return offset;
}

/* ---- arguments ---- */

struct argument *dnn_add_argument(struct primitive_call *c, int id, dnn_md md)
{
    struct argument *a = &c->args[c->count];

    if (!md)
        return NULL;
    c->count++;
    *a = (struct argument){.id = id, .md = md};
    return a;
}

void dnn_argument_constant(struct argument *a, const void *data, size_t bytes)
{
    a->source = FROM_CONSTANT;
    a->data = data;
    a->bytes = bytes;
}

void dnn_argument_scratch(struct library_step *s, struct argument *a, int64_t bytes)
{
    a->source = FROM_SCRATCH;
    a->offset = dnn_reserve_scratch(s, bytes);
}

uint32_t dnn_input_index(struct library_step *s, const struct value *v)
{
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i] == v)
            return i;
    s->inputs[s->input_count] = v;
    return s->input_count++;
}

void dnn_hold_constant(struct library_step *s, struct constant *c)
{
    for (uint32_t i = 0; i < s->constant_count; i++)
        if (s->constants[i] == c)
            return;
    s->constants[s->constant_count++] = constant_retain(c);
}

static void argument_from_value(struct library_step *s, struct argument *a, const struct value *v)
{
    if (v->kind == VALUE_CONSTANT) {
        dnn_argument_constant(a, v->constant->data, v->constant->bytes);
        dnn_hold_constant(s, v->constant);
    } else {
        a->source = FROM_INPUT;
        a->input = dnn_input_index(s, v);
    }
}

void dnn_scale(const struct scaling *x, const float *in, float *out)
{
    for (int64_t i = 0; i < x->count; i++) {
        float v = x->scale * in[i];

        for (int64_t k = 0; k < x->repeat; k++)
            *out++ = v;
    }
}

/**
 * Lets an argument be an operand that may have to be scaled or repeated first: at once if it is constant, else in the scratch
 * of each run.
 */
static bool argument_from_operand(struct library_step *s, struct argument *a, const struct dnn_operand *x)
{
    struct scaling scaling = {.count = type_elements(&x->value->type), .repeat = x->repeat, .scale = x->scale};
    int64_t bytes = scaling.count * scaling.repeat * (int64_t)sizeof(float);

    if (x->scale == 1 && x->repeat == 1) {
        argument_from_value(s, a, x->value);
        return true;
    }
    if (x->value->kind == VALUE_CONSTANT) {
        s->scaled = dnn_aligned_bytes((size_t)bytes);
        if (!s->scaled)
            return false;
        dnn_scale(&scaling, x->value->constant->data, s->scaled);
        dnn_argument_constant(a, s->scaled, (size_t)bytes);
        s->packed_bytes += bytes;
        return true;
    }
    dnn_argument_scratch(s, a, bytes);
    scaling.offset = a->offset;
    scaling.input = dnn_input_index(s, x->value);
    s->scaling = scaling;
    return true;
}

static bool add_plain_argument(struct library_step *s, struct primitive_call *c, int id, const struct dnn_layout *l,
                               int32_t type, const struct dnn_operand *x)
{
    struct argument *a = dnn_add_argument(c, id, dnn_layout_md(l, type));

    return a && argument_from_operand(s, a, x);
}

bool dnn_add_late_zero(struct library_step *s, struct primitive_call *c, enum dnn_side side, uint32_t input)
{
    const int64_t one = 1;
    const int operand = side == DNN_SOURCE ? DNNL_ARG_SRC : DNNL_ARG_WEIGHTS;
    struct argument *a = dnn_add_argument(c, DNNL_ARG_ATTR_ZERO_POINTS | operand, dnn_md_create(1, &one, &one, dnnl_s32));

    if (!a)
        return false;
    dnn_argument_scratch(s, a, sizeof(int32_t));
    s->late_zeros[side] =
        (struct late_zero){side == DNN_SOURCE ? s->problem.src_zero_type : s->problem.weights_zero_type, input, a->offset};
    return true;
}

static bool add_numbers(struct primitive_call *c, int id, dnnl_data_type_t type, const void *numbers, int64_t count)
{
    const int64_t one = 1;
    struct argument *a = dnn_add_argument(c, id, dnn_md_create(1, &count, &one, type));

    if (a)
        dnn_argument_constant(a, numbers, (size_t)count * sizeof(float));
    return a != NULL;
}

bool dnn_add_scaling(struct library_step *s, struct primitive_call *c)
{
    const struct dnn_problem *p = &s->problem;

    if (!DNN_NUMBERS_ARE_ARGUMENTS || !s->scales)
        return true;
    return add_numbers(c, DNN_ARG_SCALES, dnnl_f32, s->scales, dnn_scale_count(p)) &&
           (!p->src_zero || add_numbers(c, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, dnnl_s32, &p->src_zero, 1)) &&
           (!p->weights_zero || add_numbers(c, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_WEIGHTS, dnnl_s32, &p->weights_zero, 1));
}

bool dnn_add_scratchpad(struct library_step *s, struct primitive_call *c, const_dnnl_primitive_desc_t pd)
{
    dnn_const_md md = dnn_pd_md(pd, dnnl_query_scratchpad_md, 0);
    int64_t bytes = md ? (int64_t)onednn.memory_desc_get_size(md) : 0;

    if (!bytes)
        return true;
    struct argument *a = dnn_add_argument(c, DNNL_ARG_SCRATCHPAD, dnn_md_copy(md));
    if (a)
        dnn_argument_scratch(s, a, bytes);
    return a != NULL;
}

/* ---- creation ---- */

static bool library_failed(const struct dnn_cluster *c, struct error *e)
{
    return error_set(e, WNNStatus_OperationError, "%s [%s]: oneDNN could not create the primitive",
                     op_infos[c->anchor->op].name, c->anchor->label);
}

bool dnn_create_primitive(const struct library *l, struct primitive_call *c, const_dnnl_primitive_desc_t pd)
{
    struct threads_saved saved = threads_enter(l->threads, l->parallel);
    dnnl_status_t status = dnn_primitive_create(&c->primitive, pd);

    threads_leave(saved);
    return status == dnnl_success;
}

bool dnn_primitive_works(const struct library *l, const_dnnl_primitive_desc_t pd)
{
    struct primitive_call once = {0};
    const bool works = dnn_create_primitive(l, &once, pd);

    dnn_call_free(&once);
    return works;
}

dnnl_primitive_desc_t dnn_choose_pd(struct library *l, struct dnn_problem *p, const float *scales)
{
    dnnl_primitive_desc_t pd = dnn_create_pd(l, p, scales, 0);

    for (uint32_t after = 1; pd && l->machine.device && !(dnn_can_pack(l, p, pd) && dnn_primitive_works(l, pd)); after++) {
        onednn.primitive_desc_destroy(pd);
        pd = dnn_create_pd(l, p, scales, after);
    }
    if (pd || !l->machine.device || !p->weights.free)
        return pd;
    p->weights.free = 0; /* as they lie */
    return dnn_choose_pd(l, p, scales);
}

const struct argument *dnn_find_argument(const struct library_step *s, int id)
{
    const struct primitive_call *c = &s->calls[s->call_count - 1];

    for (uint32_t i = 0; i < c->count; i++)
        if (c->args[i].id == id)
            return &c->args[i];
    return NULL;
}

void dnn_call_free(struct primitive_call *c)
{
    if (c->primitive)
        onednn.primitive_destroy(c->primitive);
    for (uint32_t i = 0; i < c->count; i++)
        dnn_md_free(c->args[i].md);
    *c = (struct primitive_call){0};
}

/** Adds a bias as the primitive wants it: of integers, in units of its own. */
static bool add_bias(struct library_step *s, struct primitive_call *contraction, const struct dnn_cluster *c)
{
    const struct dnn_layout *l = &c->problem.bias;

    if (!c->quantization.weight_scale)
        return add_plain_argument(s, contraction, DNNL_ARG_BIAS, l, dnnl_f32, &c->bias);
    struct argument *a = dnn_add_argument(contraction, DNNL_ARG_BIAS, dnn_layout_md(l, dnnl_f32));
    s->bias = dnn_scaled_bias(c);
    if (!a || !s->bias)
        return false;
    dnn_argument_constant(a, s->bias, (size_t)dnn_elements(l) * sizeof(float));
    s->packed_bytes += dnn_elements(l) * (int64_t)sizeof(float);
    return true;
}

/** Adds the operand of post-op i: a value, or a number that the step holds. */
static bool add_post_operand(struct library_step *s, struct primitive_call *contraction, const struct dnn_cluster *c, int32_t i)
{
    const struct dnn_layout *l = &c->problem.posts[i].operand;
    int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1;

    if (c->posts[i].value)
        return add_plain_argument(s, contraction, id, l, dnnl_f32, &c->posts[i]);
    struct argument *a = dnn_add_argument(contraction, id, dnn_layout_md(l, dnnl_f32));
    if (!a)
        return false;
    s->numbers[i] = c->posts[i].scale;
    dnn_argument_constant(a, &s->numbers[i], sizeof s->numbers[i]);
    return true;
}

static bool add_output(struct library_step *s, struct primitive_call *contraction, const struct dnn_cluster *c)
{
    const struct dnn_layout *d = &c->problem.dst;
    struct argument *a = dnn_add_argument(contraction, DNNL_ARG_DST, dnn_layout_md(d, c->problem.dst_type));

    if (!a)
        return false;
    a->source = FROM_OUTPUT;
    if (c->fill.value) {
        const struct value *v = c->fill.value;

        s->scaling =
            (struct scaling){.count = type_elements(&v->type), .repeat = c->fill.repeat, .scale = c->fill.scale, .offset = -1};
        if (v->kind == VALUE_CONSTANT) {
            dnn_hold_constant(s, v->constant);
            s->scaling.constant = v->constant->data;
        } else {
            s->scaling.input = dnn_input_index(s, v);
        }
    }
    if (c->sum)
        s->in_place = (int32_t)dnn_input_index(s, c->sum);
    return true;
}

static bool add_arguments(struct library *l, struct library_step *s, const_dnnl_primitive_desc_t pd,
                          const struct dnn_cluster *c)
{
    const struct dnn_problem *p = &c->problem;
    struct primitive_call *contraction = &s->calls[1]; /* the first is for the reorder */

    if (!add_plain_argument(s, contraction, DNNL_ARG_SRC, &p->src, dnn_given_type(p, DNN_SOURCE), &c->src) ||
        !dnn_low_precision_argument(s, &contraction->args[0], DNN_SOURCE) || !dnn_add_weights(l, s, contraction, pd, c) ||
        (p->bias.rank && !add_bias(s, contraction, c)) || !dnn_add_scaling(s, contraction))
        return false;
    for (int i = 0; i < 2; i++)
        if (c->zeros[i] && !dnn_add_late_zero(s, contraction, (enum dnn_side)i, dnn_input_index(s, c->zeros[i])))
            return false;
    for (int32_t i = 0; i < p->post_count; i++)
        if (p->posts[i].kind == DNN_POST_BINARY && !add_post_operand(s, contraction, c, i))
            return false;
    return add_output(s, contraction, c) && dnn_add_scratchpad(s, contraction, pd) && dnn_create_primitive(l, contraction, pd);
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

/**
 * Returns a residual that storage assignment has put into the output's memory, or NULL if there is none.  A gemm's c counts as
 * one.
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
    s->thread_limit = dnn_thread_limit(s->implementation, &s->problem);
}

/** Moves unaligned lent bytes, but for the weights: those are moved while they are packed. */
static bool straighten_constants(struct node *const *nodes, uint32_t count, struct error *e)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < nodes[i]->input_count; k++) {
            struct value *v = nodes[i]->inputs[k].value;

            if (!v || v->kind != VALUE_CONSTANT || dtype_size(v->type.type) < sizeof(float) ||
                dnn_is_aligned(v->constant->data) || (op_infos[nodes[i]->op].flags & OPF_LIBRARY && k == 1))
                continue;
            struct constant *moved = constant_create(v->constant->data, v->constant->bytes);
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

    if (!s)
        return error_null_memory(e);
    if (!straighten_constants(nodes, count, e))
        goto failed;
    bool described = dnn_describe(&l->machine, nodes, count, sum, &c);
    struct dnn_problem asked = c.problem;
    if (!described || !dnn_resolve(l, &c)) {
        error_set(e, WNNStatus_UnknownError, "internal error: a cluster of %u nodes is not the library's", count);
        goto failed;
    }
    s->output = c.output;
    if (c.quantization.weight_scale && !(s->scales = dnn_output_scales(&c))) {
        error_out_of_memory(e);
        goto failed;
    }
    pd = dnn_choose_pd(l, &c.problem, s->scales);
    s->problem = c.problem;
    if (!pd && l->machine.device)
        dnn_refuse(l, &asked);
    if (!pd || !add_arguments(l, s, pd, &c)) {
        library_failed(&c, e);
        goto failed;
    }
    dnn_finish_step(s, pd);
    estimate_cost(s, &c);
    onednn.primitive_desc_destroy(pd);
    return s;
failed:
    if (pd)
        onednn.primitive_desc_destroy(pd);
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
                                      .constant_count = s->constant_count,
                                      .constants = s->constants,
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
        dnn_call_free(&s->calls[i]);
    for (uint32_t i = 0; i < s->constant_count; i++)
        constant_release(s->constants[i]);
    constant_release(s->weights.pending);
    dnn_md_free(s->weights.pending_layout);
    free(s->bias);
    constant_release(s->weights.packed);
    free(s->scaled);
    free(s->scales);
    free(s->weights.unpacked_integers);
    free(s);
}
