/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes steps into serialized programs, and reads them.
 *
 * A step is written as the description that the library understands (struct dnn_problem), not the nodes that it came from: they
 * need no reading, no inference and no question to the library again, only its primitive.  In return everything in it is
 * checked here as if a stranger had written it: shapes are shapes, every layout stays inside the bytes that its operand has,
 * and packed weights are used only if this library's primitive wants exactly the layout that they were packed in.
 *
 *   problem, scales | inputs, in place, cost | source of each operand | scaling before the contraction
 */
#include "ir/support/text.h"
#include "runtime/engine/engine.h"
#include "runtime/program/serialized_stream.h"
#include "runtime/engine/onednn/onednn_step.h"

/* Says how an operand comes. */
enum form {
    FORM_INPUT,  /* one of the step's inputs */
    FORM_SCALED, /* one of them, scaled before the contraction */
    FORM_DATA,   /* bytes in the serialized program, as the problem's layout has them */
    FORM_PACKED  /* weights in the library's own layout, after a copy of its descriptor */
};

enum { NUMBER_MAX = INT32_MAX, MD_BYTES_MAX = 4096 };

/* ---- what both sides agree on ---- */

static const char *layout_flaw(const struct dnn_layout *l)
{
    int64_t elements = 1, last = 0;

    if (l->rank < 0 || l->rank > RANK_MAX || l->free < 0 || l->free > 1)
        return "a rank";
    for (int32_t i = 0; i < l->rank; i++) {
        if (l->dims[i] < 1 || l->dims[i] > ELEMENT_COUNT_MAX || l->strides[i] < 1 || l->strides[i] > ELEMENT_COUNT_MAX)
            return "a dimension";
        elements *= l->dims[i];                   /* both below 2^31 */
        last += (l->dims[i] - 1) * l->strides[i]; /* likewise */
        if (elements > ELEMENT_COUNT_MAX || last > ELEMENT_COUNT_MAX)
            return "a shape";
    }
    return NULL;
}

/** Returns the bytes from the first to the last element. */
static int64_t layout_bytes(const struct dnn_layout *l, int32_t type)
{
    int64_t last = 0;

    for (int32_t i = 0; i < l->rank; i++)
        last += (l->dims[i] - 1) * l->strides[i];
    return (last + 1) * dnn_type_size(type);
}

static bool is_type(int32_t type, bool with_float)
{
    return type == dnnl_s8 || type == dnnl_u8 || (with_float && type == dnnl_f32);
}

static bool spans(const struct dnn_layout *l, const struct dnn_layout *dst)
{
    bool ok = l->rank == dst->rank && !l->free;

    for (int32_t i = 0; ok && i < l->rank; i++)
        ok = l->dims[i] == 1 || l->dims[i] == dst->dims[i];
    return ok;
}

static bool in_range(const int64_t v[2], int64_t low, int64_t high)
{
    return v[0] >= low && v[1] >= low && v[0] <= high && v[1] <= high;
}

static const char *types_flaw(const struct dnn_problem *p)
{
    if (p->kind < DNN_CONVOLUTION || p->kind > DNN_MATMUL || p->post_count < 0 || p->post_count > DNN_POSTS_MAX)
        return "its kind";
    if (p->precision < WNNPrecision_Float32 || p->precision > WNNPrecision_Bf16)
        return "its precision";
    bool floats = p->src_type == dnnl_f32 && p->weights_type == dnnl_f32 &&
                  (p->dst_type == dnnl_f32 || p->dst_type == dnnl_bf16) && !p->scale_mask;
    if (dnn_stores_low_precision(p) && (!floats || p->precision != WNNPrecision_Bf16 ||
                                        (p->given_low_precision & ~(1 << DNN_SOURCE | (p->given_late ? 1 << DNN_WEIGHTS : 0)))))
        return "what of it is bfloat16";
    bool integers = is_type(p->src_type, false) && p->weights_type == dnnl_s8 && is_type(p->dst_type, true);
    if (p->src_zero && (!integers || p->src_zero < INT8_MIN || p->src_zero > UINT8_MAX))
        return "its zero point";
    if (p->src_zero_type && (!integers || !is_type(p->src_zero_type, false) || p->src_zero))
        return "its zero point";
    if (p->weights_zero && (!integers || p->kind != DNN_MATMUL || p->weights_zero < INT8_MIN || p->weights_zero > INT8_MAX))
        return "the zero point of its weights";
    if (p->weights_zero_type &&
        (!integers || p->kind != DNN_MATMUL || !is_type(p->weights_zero_type, false) || !p->given_late || p->weights_zero))
        return "the zero point of its weights";
    if (integers && p->given_late && (p->kind == DNN_TRANSPOSED_CONVOLUTION || p->weights.free != (p->kind == DNN_CONVOLUTION)))
        return "its weights";
    return floats || integers ? NULL : "its types";
}

static const char *posts_flaw(const struct dnn_problem *p)
{
    for (int32_t i = 0; i < p->post_count; i++) {
        const struct dnn_post *post = &p->posts[i];

        if (post->kind < DNN_POST_ELTWISE || post->kind > DNN_POST_SUM)
            return "a post-op";
        if (post->kind == DNN_POST_SUM && p->dst_type != dnnl_f32)
            return "a sum of integers";
        if (post->kind == DNN_POST_BINARY && (layout_flaw(&post->operand) || !spans(&post->operand, &p->dst)))
            return "an operand of a post-op";
    }
    return NULL;
}

/**
 * Returns the flaw of a problem, or NULL if there is none.  A writer refuses what has a flaw, as the loader does: what can
 * be saved can be loaded.
 */
static const char *problem_flaw(const struct dnn_problem *p)
{
    const struct dnn_layout *layouts[] = {&p->src, &p->weights, &p->bias, &p->dst};
    const char *flaw = types_flaw(p);

    for (size_t i = 0; !flaw && i < sizeof layouts / sizeof *layouts; i++)
        flaw = layout_flaw(layouts[i]);
    if (flaw)
        return flaw;
    int32_t rank = p->kind == DNN_MATMUL ? p->dst.rank : 4;
    if (p->dst.rank < 2 || p->dst.rank != rank || p->src.rank != rank || p->src.free || p->dst.free || p->bias.free ||
        (p->weights.rank != rank && (p->kind == DNN_MATMUL || p->weights.rank != 5)))
        return "its ranks";
    if (!in_range(p->strides, p->kind != DNN_MATMUL, NUMBER_MAX) || !in_range(p->dilations, 0, NUMBER_MAX) ||
        !in_range(p->low, 0, NUMBER_MAX) || !in_range(p->high, -NUMBER_MAX, NUMBER_MAX))
        return "its strides or padding";
    if (p->kind != DNN_MATMUL && p->weights.rank == 5 && p->src.dims[1] % p->weights.dims[0])
        return "its groups";
    if (p->scale_mask && p->scale_mask != (int64_t)1 << dnn_channel(p))
        return "its scales";
    return posts_flaw(p);
}

/* ---- numbers: the same code writes and reads them ---- */

/** One of the two is NULL. */
struct transfer {
    struct stream_writer *out;
    struct stream_reader *in;
};

static void pass(const struct transfer *t, void *data, size_t bytes)
{
    if (t->out)
        out_bytes(t->out, data, bytes);
    else
        in_bytes(t->in, data, bytes);
}

/** Transfers as much as there can be, and returns its flaw; whether the rest is right is problem_flaw's to
 * say. */
static const char *pass_layout(const struct transfer *t, struct dnn_layout *l)
{
    pass(t, &l->rank, sizeof l->rank);
    pass(t, &l->free, sizeof l->free);
    if (l->rank < 0 || l->rank > RANK_MAX)
        return "a rank";
    pass(t, l->dims, (size_t)l->rank * sizeof *l->dims);
    pass(t, l->strides, (size_t)l->rank * sizeof *l->strides);
    return NULL;
}

static const char *pass_problem(const struct transfer *t, struct dnn_problem *p)
{
    int32_t *const words[] = {
        &p->kind,          &p->src_type,     &p->weights_type,     &p->dst_type,   &p->src_zero,
        &p->by_gemm,       &p->post_count,   &p->precision,        &p->given_late, &p->given_low_precision,
        &p->src_zero_type, &p->weights_zero, &p->weights_zero_type};
    struct dnn_layout *const layouts[] = {&p->src, &p->weights, &p->bias, &p->dst};
    int64_t *const pairs[] = {p->strides, p->dilations, p->low, p->high};
    const char *flaw = NULL;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        pass(t, words[i], sizeof *words[i]);
    pass(t, &p->scale_mask, sizeof p->scale_mask);
    p->by_gemm = p->by_gemm != 0;
    p->given_late = p->given_late != 0;
    if (p->post_count < 0 || p->post_count > DNN_POSTS_MAX)
        return "its kind";
    for (size_t i = 0; !flaw && i < sizeof layouts / sizeof *layouts; i++)
        flaw = pass_layout(t, layouts[i]);
    for (size_t i = 0; !flaw && i < sizeof pairs / sizeof *pairs; i++)
        pass(t, pairs[i], 2 * sizeof *pairs[i]);
    for (int32_t i = 0; !flaw && i < p->post_count; i++) {
        struct dnn_post *post = &p->posts[i];

        pass(t, &post->kind, sizeof post->kind);
        pass(t, &post->algorithm, sizeof post->algorithm);
        pass(t, &post->alpha, sizeof post->alpha);
        pass(t, &post->beta, sizeof post->beta);
        if (post->kind == DNN_POST_BINARY)
            flaw = pass_layout(t, &post->operand);
    }
    return flaw;
}

/* ---- writing ---- */

static void save_data(const void *data, size_t bytes, struct stream_writer *o)
{
    out_u32(o, FORM_DATA);
    out_data(o, data, bytes);
}

static void save_operand(const struct library_step *s, int id, struct stream_writer *o)
{
    const struct argument *a = dnn_find_argument(s, id);
    const struct low_precision_operand *n = &s->low_precision_operands[DNN_SOURCE];

    if (id == DNNL_ARG_SRC && n->constant) {
        save_data(n->constant, (size_t)n->conversion.elements * sizeof(float), o);
        return;
    }
    if (id == DNNL_ARG_SRC && n->conversion.parts) {
        out_u32(o, FORM_INPUT);
        out_u32(o, n->input);
        return;
    }
    switch (a->source) {
    case FROM_CONSTANT:
        save_data(a->data, a->bytes, o);
        break;
    case FROM_SCRATCH:
        out_u32(o, FORM_SCALED);
        break;
    case FROM_INPUT:
    case FROM_OUTPUT:
        out_u32(o, FORM_INPUT);
        out_u32(o, a->input);
        break;
    }
}

static bool save_weights(const struct library_step *s, bool unpacked, struct stream_writer *o)
{
    const struct argument *a = dnn_find_argument(s, DNNL_ARG_WEIGHTS);

    if (a->source != FROM_CONSTANT) {
        out_u32(o, FORM_INPUT);
        out_u32(o, s->call_count == 2 ? s->calls[0].args[0].input : a->input);
        return true;
    }
    if (!s->weights.in_layout) {
        save_data(a->data, a->bytes, o);
        return true;
    }
    if (unpacked) {
        if (!s->weights.unpacked)
            return false;
        save_data(s->weights.unpacked, s->weights.unpacked_bytes, o);
        return true;
    }
    unsigned char md[MD_BYTES_MAX];
    size_t bytes = dnn_md_save(a->md, md, sizeof md);
    if (!bytes)
        return false;
    out_u32(o, FORM_PACKED);
    out_text(o, (const char *)md, bytes);
    out_text(o, s->implementation, strlen(s->implementation));
    out_data(o, a->data, a->bytes);
    return true;
}

static void save_scaling(const struct library_step *s, struct stream_writer *o)
{
    const struct scaling *x = &s->scaling;

    out_i64(o, x->count);
    out_i64(o, x->repeat);
    out_f32(o, x->scale);
    out_u32(o, x->offset < 0); /* to the output */
    out_u32(o, x->constant != NULL);
    if (x->constant)
        out_data(o, x->constant, (size_t)x->count * sizeof(float));
    else
        out_u32(o, x->input);
}

bool library_step_is_packed(const struct library_step *s)
{
    return s->weights.in_layout && !s->library->machine.device;
}

bool library_step_save(const struct library_step *s, bool unpacked, struct stream_writer *o)
{
    struct dnn_problem copy = s->problem;
    const struct dnn_problem *p = &s->problem;
    int64_t scales = s->scales ? dnn_scale_count(p) : 0;

    if (problem_flaw(p))
        return false;
    pass_problem(&(struct transfer){.out = o}, &copy);
    out_i64(o, scales);
    out_bytes(o, s->scales, (size_t)scales * sizeof *s->scales);
    out_u32(o, (uint32_t)s->in_place);
    out_f64(o, s->flops);
    out_f64(o, s->bytes);
    save_operand(s, DNNL_ARG_SRC, o);
    if (!save_weights(s, unpacked || s->library->machine.device, o))
        return false;
    if (p->bias.rank)
        save_operand(s, DNNL_ARG_BIAS, o);
    for (int32_t i = 0; i < p->post_count; i++)
        if (p->posts[i].kind == DNN_POST_BINARY)
            save_operand(s, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1, o);
    for (int i = 0; i < 2; i++)
        if (s->late_zeros[i].type)
            out_u32(o, s->late_zeros[i].input);
    save_scaling(s, o);
    return true;
}

/* ---- reading: numbers ---- */

struct loader {
    struct library *l;
    struct stream_reader *in;
    struct library_step *s;
    uint32_t input_count;
    const struct location *locations; /* inputs, then the output */
    struct error *e;
    /* These are of operands that are scaled, at most one: their bytes, and where they will be. */
    int64_t scaled_bytes;
    struct argument *scaled;
};

static bool damaged(struct loader *x, const char *what)
{
    return error_set(x->e, WNNStatus_DataError, "a step of oneDNN is damaged: %s", what);
}

static bool load_problem(struct loader *x, struct dnn_problem *p)
{
    const char *flaw = pass_problem(&(struct transfer){.in = x->in}, p);

    if (!flaw)
        flaw = x->in->failed ? "it ends early" : problem_flaw(p);
    return !flaw || damaged(x, flaw);
}

static bool load_scales(struct loader *x)
{
    const struct dnn_problem *p = &x->s->problem;
    int64_t count = in_i64(x->in), wanted = p->src_type == dnnl_f32 ? 0 : dnn_scale_count(p);

    if (x->in->failed || count != wanted)
        return damaged(x, "its scales");
    if (!count)
        return true;
    const void *scales = in_take(x->in, (size_t)count * sizeof(float));
    if (!scales)
        return damaged(x, "its scales");
    x->s->scales = malloc((size_t)count * sizeof(float));
    if (!x->s->scales)
        return error_out_of_memory(x->e);
    memcpy(x->s->scales, scales, (size_t)count * sizeof(float));
    return true;
}

/* ---- reading: operands ---- */

/** Returns whether a location has these bytes of elements of a type, aligned. */
static bool holds(const struct location *location, int64_t needed, int32_t type)
{
    return location->bytes >= needed && location->offset % dnn_type_size(type) == 0;
}

static bool load_input(struct loader *x, int64_t needed, int32_t type, uint32_t *input)
{
    *input = in_u32(x->in);
    if (x->in->failed || *input >= x->input_count || !holds(&x->locations[*input], needed, type))
        return damaged(x, "an input is too small");
    return true;
}

static bool load_operand(struct loader *x, int id, const struct dnn_layout *l, int32_t type)
{
    struct argument *a = dnn_add_argument(&x->s->calls[1], id, dnn_layout_md(l, type));
    int64_t needed = layout_bytes(l, type);

    if (!a)
        return damaged(x, "an operand's layout");
    switch ((enum form)in_u32(x->in)) {
    case FORM_INPUT:
        a->source = FROM_INPUT;
        return load_input(x, needed, type, &a->input);
    case FORM_DATA:
        a->source = FROM_CONSTANT;
        a->data = in_data(x->in, &a->bytes);
        return (a->data && (int64_t)a->bytes >= needed) || damaged(x, "a constant operand is too small");
    case FORM_SCALED:
        if (x->scaled || type != dnnl_f32)
            break;
        a->source = FROM_SCRATCH;
        x->scaled = a;
        x->scaled_bytes = needed;
        return true;
    case FORM_PACKED:
        break;
    }
    return damaged(x, "where an operand comes from");
}

static bool packed_refused(struct loader *x, const char *implementation, size_t length, const char *now)
{
    char was[96];

    return error_set(x->e, WNNStatus_NotSupportedError,
                     "weights were packed for %s, oneDNN's %s on this machine, with %u threads, needs them in another layout: "
                     "compile the model again",
                     escape_text(was, sizeof was, implementation ? implementation : "", length), now, x->l->threads);
}

static bool load_packed(struct loader *x, struct argument *a, dnn_const_md wanted, const char *now)
{
    size_t md_bytes, length;
    const char *md = in_text(x->in, MD_BYTES_MAX, &md_bytes);
    const char *implementation = in_text(x->in, sizeof x->s->implementation, &length);

    a->source = FROM_CONSTANT;
    a->data = in_data(x->in, &a->bytes);
    if (x->in->failed || !a->data)
        return damaged(x, "its packed weights");
    dnn_md was = dnn_md_load(wanted, md, md_bytes);
    const bool equal = was && onednn.memory_desc_equal(was, wanted); /* blocks may depend on the number of threads */
    const bool done =
        equal || (was && dnn_md_is_blocked(was, wanted, a->bytes) && dnn_repack(x->l, x->s, a, was, wanted, a->data));

    dnn_md_free(was);
    if (!done)
        return packed_refused(x, implementation, length, now);
    x->s->weights.in_layout = true;
    return a->bytes == onednn.memory_desc_get_size(wanted) || damaged(x, "the size of its packed weights");
}

static bool load_weights(struct loader *x, const_dnnl_primitive_desc_t pd)
{
    struct library_step *s = x->s;
    const struct dnn_problem *p = &s->problem;
    dnn_const_md wanted = dnn_pd_md(pd, dnnl_query_weights_md, 0);
    dnn_md given = dnn_given_weights(p);
    struct argument *a = wanted ? dnn_add_argument(&s->calls[1], DNNL_ARG_WEIGHTS, dnn_md_copy(wanted)) : NULL;
    const bool as_given = p->weights_type == dnnl_f32 || p->given_late; /* by the problem's strides, else contiguous */
    int64_t needed = as_given ? layout_bytes(&p->weights, p->weights_type) : dnn_elements(&p->weights);
    bool done = false;
    uint32_t input;
    int32_t type;
    const void *data;
    size_t bytes;

    if (!given || !a) {
        dnn_md_free(given);
        return damaged(x, "the layout of its weights");
    }
    switch ((enum form)in_u32(x->in)) {
    case FORM_INPUT:
        type = dnn_given_type(p, DNN_WEIGHTS);
        done = as_given && load_input(x, layout_bytes(&p->weights, type), type, &input) &&
               dnn_use_input_weights(x->l, s, a, given, wanted, input);
        break;
    case FORM_DATA:
        data = in_data(x->in, &bytes);
        done = data && (int64_t)bytes >= needed && dnn_use_constant_weights(x->l, s, a, given, wanted, data, bytes);
        break;
    case FORM_PACKED:
        done = load_packed(x, a, wanted, dnn_pd_name(pd));
        break;
    case FORM_SCALED:
        break;
    }
    dnn_md_free(given);
    return done || damaged(x, "its weights");
}

static bool load_scaling(struct loader *x)
{
    struct scaling *to = &x->s->scaling;
    int64_t target = x->scaled ? x->scaled_bytes : x->locations[x->input_count].bytes;

    to->count = in_i64(x->in);
    to->repeat = in_i64(x->in);
    to->scale = in_f32(x->in);
    bool to_output = in_u32(x->in) != 0, constant = in_u32(x->in) != 0;
    if (to->count < 0 || to->count > ELEMENT_COUNT_MAX || to->repeat < 0 || to->repeat > ELEMENT_COUNT_MAX ||
        ((x->scaled || to->repeat) && !x->l->machine.prepares_operands))
        return damaged(x, "a scaling");

    int64_t bytes = to->count * (int64_t)sizeof(float), written = to->count * to->repeat;
    if (written > ELEMENT_COUNT_MAX || (written *= (int64_t)sizeof(float)) > (to->repeat ? target : INT64_MAX) ||
        (x->scaled && (to_output || constant || written != x->scaled_bytes)) || (!x->scaled && to->repeat && !to_output))
        return damaged(x, "a scaling");
    to->offset = -1;
    if (x->scaled)
        to->offset = x->scaled->offset = dnn_reserve_scratch(x->s, x->scaled_bytes);
    if (constant) {
        size_t has;
        to->constant = in_data(x->in, &has);
        return (to->constant && (int64_t)has >= bytes) || damaged(x, "a scaling");
    }
    if (to->repeat)
        return load_input(x, bytes, dnnl_f32, &to->input);
    in_u32(x->in);
    return true;
}

static bool load_posts_operands(struct loader *x)
{
    const struct dnn_problem *p = &x->s->problem;

    for (int32_t i = 0; i < p->post_count; i++)
        if (p->posts[i].kind == DNN_POST_BINARY &&
            !load_operand(x, DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1, &p->posts[i].operand, dnnl_f32))
            return false;
    return true;
}

static bool load_late_zero(struct loader *x, enum dnn_side side)
{
    const int32_t type = side == DNN_SOURCE ? x->s->problem.src_zero_type : x->s->problem.weights_zero_type;
    uint32_t input;

    if (!type)
        return true;
    if (!x->l->machine.prepares_operands)
        return damaged(x, "a zero point");
    return load_input(x, dnn_type_size(type), type, &input) &&
           (dnn_add_late_zero(x->s, &x->s->calls[1], side, input) || error_out_of_memory(x->e));
}

static bool load_output(struct loader *x)
{
    const struct dnn_layout *d = &x->s->problem.dst;
    int32_t type = x->s->problem.dst_type;
    struct argument *a = dnn_add_argument(&x->s->calls[1], DNNL_ARG_DST, dnn_layout_md(d, type));

    if (!a || !holds(&x->locations[x->input_count], layout_bytes(d, type), type))
        return damaged(x, "its output is too small");
    a->source = FROM_OUTPUT;
    return true;
}

/* ---- reading: the whole ---- */

static bool load_arguments(struct loader *x, const_dnnl_primitive_desc_t pd)
{
    struct library_step *s = x->s;
    const struct dnn_problem *p = &s->problem;

    return load_operand(x, DNNL_ARG_SRC, &p->src, dnn_given_type(p, DNN_SOURCE)) &&
           (dnn_low_precision_argument(s, &s->calls[1].args[0], DNN_SOURCE) || error_out_of_memory(x->e)) &&
           load_weights(x, pd) && (!p->bias.rank || load_operand(x, DNNL_ARG_BIAS, &p->bias, dnnl_f32)) &&
           (dnn_add_scaling(s, &s->calls[1]) || error_out_of_memory(x->e)) && load_posts_operands(x) &&
           load_late_zero(x, DNN_SOURCE) && load_late_zero(x, DNN_WEIGHTS) && load_output(x) && load_scaling(x) &&
           (dnn_add_scratchpad(s, &s->calls[1], pd) || error_out_of_memory(x->e)) &&
           (dnn_create_primitive(x->l, &s->calls[1], pd) || damaged(x, "oneDNN does not make the primitive"));
}

static bool load(struct loader *x)
{
    struct library_step *s = x->s;

    if (!load_problem(x, &s->problem) || !load_scales(x))
        return false;
    s->in_place = (int32_t)in_u32(x->in);
    s->flops = in_f64(x->in);
    s->bytes = in_f64(x->in);
    s->input_count = x->input_count;
    if (x->in->failed || s->in_place < -1 || s->in_place >= (int32_t)x->input_count)
        return damaged(x, "it ends early");

    if (s->scales && !x->l->exact)
        return error_set(x->e, WNNStatus_NotSupportedError,
                         "this processor has no exact contractions of bytes, which the graph was compiled for");
    dnn_resolve_parts(x->l, &s->problem); /* this machine's choice, like the primitive */
    if (dnn_stores_low_precision(&s->problem) && s->problem.parts != 1)
        return error_set(x->e, WNNStatus_NotSupportedError,
                         "the graph was compiled for contractions in bfloat16, which gain nothing on this machine");
    dnnl_primitive_desc_t pd = dnn_choose_pd(x->l, &s->problem, s->scales);
    if (!pd)
        return error_set(x->e, WNNStatus_NotSupportedError,
                         "oneDNN on this machine does not take a step of the serialized program");
    bool ok = load_arguments(x, pd);

    if (ok)
        dnn_finish_step(s, pd);
    onednn.primitive_desc_destroy(pd);
    return ok && (!x->in->failed || damaged(x, "it ends early"));
}

struct library_step *library_step_load(struct library *l, struct stream_reader *in, uint32_t location_count,
                                       const struct location *locations, struct error *e)
{
    struct loader x = {.l = l, .in = in, .input_count = location_count - 1, .locations = locations, .e = e};

    if (location_count < 1 || location_count > INPUTS_MAX + 1) {
        damaged(&x, "the number of its locations");
        return NULL;
    }
    x.s = dnn_step_new(l);
    if (!x.s)
        return error_null_memory(e);
    if (load(&x))
        return x.s;
    library_step_free(x.s);
    return NULL;
}
