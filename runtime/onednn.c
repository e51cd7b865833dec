/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The library itself: its engine, the cap on its instruction set, and the questions that passes ask.
 *
 * In: nodes and would-be clusters.  Out: yes or no, each verified by creating the primitive descriptor (but not the primitive):
 * what ends in a reference implementation, a hundred times slower, is answered with no.  Answers are remembered by problem.
 */
#include "runtime/onednn.h"

#include <stddef.h>

#include "runtime/threads.h"

/* ---- creation ---- */

/** The library's masks grow with the instruction set: every bit of a lesser one is set in a better one. */
static bool isa_mask(const char *isa, dnnl_cpu_isa_t *out)
{
    static const struct {
        const char *name;
        dnnl_cpu_isa_t mask;
    } rows[] = {
        {"baseline", dnnl_cpu_isa_sse41}, /* the least the library knows */
        {"avx2", dnnl_cpu_isa_avx2},
        {"avx512", dnnl_cpu_isa_avx512_core_bf16},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(isa, rows[i].name)) {
            *out = rows[i].mask;
            return true;
        }
    return false;
}

struct library *library_create(const char *isa, uint32_t thread_count, struct error *e)
{
    struct library *l = calloc(1, sizeof *l);
    dnnl_cpu_isa_t cap;

    if (!l || pthread_mutex_init(&l->mutex, NULL)) {
        free(l);
        error_out_of_memory(e);
        return NULL;
    }
    l->threads = thread_count ? thread_count : 1;
    if (isa && isa_mask(isa, &cap)) {
        /* Fails when the process is fixed already, then the effective set tells whether it happens to be within the cap. */
        (void)dnnl_set_max_cpu_isa(cap);
        l->refuses = ((unsigned)dnnl_get_effective_cpu_isa() & ~(unsigned)cap) != 0;
    }
    if (dnnl_engine_create(&l->engine, dnnl_cpu, 0) != dnnl_success) {
        error_set(e, WNNStatus_UnknownError, "oneDNN has no CPU engine");
        library_free(l);
        return NULL;
    }
    /* Without VNNI sums of two u8 * s8 products saturate to 16 bits: wrong results. */
    unsigned has = (unsigned)dnnl_get_effective_cpu_isa();
    l->bfloat16 = l->refuses ? 0 : dnn_bfloat16_rate();
    l->exact = (has & dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni ||
               (has & dnnl_cpu_isa_avx2_vnni) == dnnl_cpu_isa_avx2_vnni;
    return l;
}

/* ---- batches ---- */

/** Puts a dimension of one matrix before all others. */
static void layout_split(struct dnn_layout *l)
{
    if (!l->rank)
        return;
    memmove(l->dims + 1, l->dims, (size_t)l->rank * sizeof *l->dims);
    memmove(l->strides + 1, l->strides, (size_t)l->rank * sizeof *l->strides);
    l->rank++;
    l->dims[0] = 1;
    l->strides[0] = dnn_elements(l);
}

/**
 * Heads of an attention lie side by side in the rows of one matrix.  The library has fast code for that only where products
 * have two dimensions of batches.
 */
static void split_batch(struct dnn_problem *p)
{
    if (p->kind != DNN_MATMUL || p->dst.rank != 3)
        return;
    layout_split(&p->src);
    layout_split(&p->weights);
    layout_split(&p->bias);
    layout_split(&p->dst);
    for (int32_t i = 0; i < p->post_count; i++)
        layout_split(&p->posts[i].operand);
}

/* ---- answers ---- */

/** The outcome for one problem.  The problem's unused post-ops are not stored. */
struct dnn_answer {
    uint64_t hash;
    bool taken;
    bool pack; /* weights are reordered */
    bool by_gemm;
    bool split; /* of one dimension of batches became two */
    int32_t parts;
    uint32_t size;
    struct dnn_problem problem;
};

enum { ANSWERS_MAX = 1024 }; /* then they are forgotten: a bound on memory, not on work */

static void forget_answers(struct library *l)
{
    for (uint32_t i = 0; i < l->answer_capacity; i++)
        free(l->answers[i]);
    free(l->answers);
    l->answers = NULL;
    l->answer_count = l->answer_capacity = 0;
}

void library_free(struct library *l)
{
    if (!l)
        return;
    forget_answers(l);
    if (l->engine)
        dnnl_engine_destroy(l->engine);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}

static uint32_t problem_size(const struct dnn_problem *p)
{
    return (uint32_t)(offsetof(struct dnn_problem, posts) + (uint32_t)p->post_count * sizeof *p->posts);
}

static uint64_t hash_bytes(const void *data, uint32_t size)
{
    uint64_t h = 0x9E3779B97F4A7C15u, w;

    for (uint32_t i = 0; i + 8 <= size; i += 8) { /* problems are whole words */
        memcpy(&w, (const char *)data + i, 8);
        h = (h ^ w) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h;
}

_Static_assert(sizeof(struct dnn_problem) % 8 == 0 && sizeof(struct dnn_post) % 8 == 0, "hash_bytes reads words");

/** The slot of a problem: its answer, or the empty one where it belongs.  Capacity is not 0 and a slot is free. */
static struct dnn_answer **answer_slot(struct library *l, uint64_t hash, const struct dnn_problem *p, uint32_t size)
{
    uint32_t mask = l->answer_capacity - 1;

    for (uint32_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
        struct dnn_answer *a = l->answers[i];

        if (!a || (a->hash == hash && a->size == size && !memcmp(&a->problem, p, size)))
            return &l->answers[i];
    }
}

/** Completes a problem by the answer to it that is known. */
static bool answer_find(struct library *l, uint64_t hash, struct dnn_problem *p, bool *taken)
{
    struct dnn_answer *a = NULL;

    pthread_mutex_lock(&l->mutex);
    if (l->answer_capacity)
        a = *answer_slot(l, hash, p, problem_size(p));
    if (a) {
        *taken = a->taken;
        p->weights.free = a->pack;
        p->by_gemm = a->by_gemm;
        p->parts = a->parts;
        if (a->split)
            split_batch(p);
    }
    pthread_mutex_unlock(&l->mutex);
    return a != NULL;
}

/** Failing to remember costs time only. */
static void answer_remember(struct library *l, uint64_t hash, const struct dnn_problem *p, bool taken,
                            const struct dnn_problem *way)
{
    uint32_t size = problem_size(p);
    struct dnn_answer *a = malloc(offsetof(struct dnn_answer, problem) + size), **slot;

    if (!a)
        return;
    a->hash = hash;
    a->size = size;
    a->taken = taken;
    a->pack = way->weights.free;
    a->by_gemm = way->by_gemm;
    a->parts = way->parts;
    a->split = way->dst.rank != p->dst.rank;
    memcpy(&a->problem, p, size);
    pthread_mutex_lock(&l->mutex);
    if (l->answer_count == ANSWERS_MAX)
        forget_answers(l);
    if (!l->answer_capacity) {
        l->answers = calloc(ANSWERS_MAX * 2, sizeof(struct dnn_answer *));
        l->answer_capacity = l->answers ? ANSWERS_MAX * 2 : 0;
    }
    slot = l->answer_capacity ? answer_slot(l, hash, p, size) : NULL;
    if (slot && !*slot) {
        *slot = a;
        l->answer_count++;
        a = NULL;
    }
    pthread_mutex_unlock(&l->mutex);
    free(a);
}

/* ---- primitive descriptors ---- */

dnnl_primitive_attr_t dnn_create_attributes(void)
{
    dnnl_primitive_attr_t a = NULL;

    if (dnnl_primitive_attr_create(&a) != dnnl_success)
        return NULL;
    /* The library's own scratchpad would tie a primitive to one thread at a time. */
    if (dnnl_primitive_attr_set_scratchpad_mode(a, dnnl_scratchpad_mode_user) != dnnl_success) {
        dnnl_primitive_attr_destroy(a);
        return NULL;
    }
    return a;
}

static dnn_md layout_md(const struct dnn_layout *l, int32_t type)
{
    return dnn_md_create(l->rank, l->dims, l->free ? NULL : l->strides, (dnnl_data_type_t)type);
}

/** Of source or weights as the primitive sees them. */
static dnn_md operand_md(const struct dnn_problem *p, enum dnn_side side)
{
    if (p->parts) {
        const struct dnn_layout l = dnn_parts_layout(p, side);

        return layout_md(&l, dnnl_bf16);
    }
    return side == DNN_SOURCE ? layout_md(&p->src, p->src_type) : layout_md(&p->weights, p->weights_type);
}

static bool append_posts(const struct dnn_problem *p, dnnl_primitive_attr_t attributes)
{
    dnnl_post_ops_t posts;
    dnnl_status_t status = dnnl_success;

    if (!p->post_count)
        return true;
    if (dnnl_post_ops_create(&posts) != dnnl_success)
        return false;
    for (int32_t i = 0; i < p->post_count && status == dnnl_success; i++) {
        const struct dnn_post *x = &p->posts[i];

        switch ((enum dnn_post_kind)x->kind) {
        case DNN_POST_ELTWISE:
            status = dnn_append_eltwise(posts, (dnnl_alg_kind_t)x->algorithm, x->alpha, x->beta);
            break;
        case DNN_POST_SUM:
            status = dnn_append_sum(posts);
            break;
        case DNN_POST_BINARY: {
            dnn_md md = layout_md(&x->operand, dnnl_f32);

            status = md ? dnnl_post_ops_append_binary(posts, (dnnl_alg_kind_t)x->algorithm, md) : dnnl_out_of_memory;
            dnn_md_free(md);
            break;
        }
        }
    }
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_post_ops(attributes, posts);
    dnnl_post_ops_destroy(posts);
    return status == dnnl_success;
}

/** Whether some operand has more than one number per channel. */
static bool is_full(const struct dnn_problem *p, const struct dnn_layout *operand)
{
    return dnn_elements(&p->dst) != p->dst.dims[dnn_channel(p)] && !memcmp(operand, &p->dst, sizeof p->dst);
}

/**
 * What oneDNN 2.6's convolution by gemm does wrongly behind the product: with channels last it reads binary post-ops of full
 * shape (of narrow types, of any shape) at wrong places, and its abs makes -0 of +0.
 */
static bool posts_misread(const struct dnn_problem *p, const char *implementation)
{
    bool narrow = p->src_type != dnnl_f32 || p->parts, last = p->dst.strides[1] == 1;

    if (!strstr(implementation, "gemm"))
        return false;
    for (int32_t i = 0; i < p->post_count; i++) {
        const struct dnn_post *x = &p->posts[i];

        if (last && x->kind == DNN_POST_BINARY && (narrow || is_full(p, &x->operand)))
            return true;
        if (x->kind == DNN_POST_ELTWISE && x->algorithm == dnnl_eltwise_abs)
            return true;
    }
    return false;
}

/**
 * What oneDNN 2.6 does wrongly in tiles of AMX (bfloat16 and int8), found by trying thousands of sizes: convolutions with
 * strides call code that is not there where a row of results sees nothing but padding below the image; products that sum two
 * tiles' rows less one to three bytes are computed with another product's tiles, or with none, from 33 rows on.
 */
static bool tiles_fail(const struct dnn_problem *p, const char *implementation)
{
    if (!strstr(implementation, "amx"))
        return false;
    if (p->kind == DNN_CONVOLUTION)
        return strstr(implementation, "brgconv") && (p->dst.dims[2] - 1) * p->strides[0] - p->low[0] >= p->src.dims[2];

    const int64_t summed = p->src.dims[p->src.rank - 1], bytes = p->parts ? 2 * summed * p->parts : summed;

    return p->kind == DNN_MATMUL && bytes > 124 && bytes < 128;
}

/** Whether an implementation is one to be taken: what the library would choose first may compute the problem wrongly. */
static bool is_acceptable(const char *implementation, const void *problem)
{
    const struct dnn_problem *p = problem;

    if (p->kind == DNN_MATMUL && p->by_gemm && !strstr(implementation, "gemm"))
        return false;
    return !tiles_fail(p, implementation) && !(p->kind == DNN_CONVOLUTION && posts_misread(p, implementation));
}

dnnl_primitive_desc_t dnn_create_pd(struct library *l, const struct dnn_problem *p, const float *scales)
{
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_attr_t attributes = dnn_create_attributes();
    dnn_md src = operand_md(p, DNN_SOURCE), weights = operand_md(p, DNN_WEIGHTS);
    dnn_md dst = layout_md(&p->dst, p->dst_type), bias = p->bias.rank ? layout_md(&p->bias, dnnl_f32) : NULL;
    dnnl_status_t status = dnnl_out_of_memory;

    if (attributes && src && weights && dst && (bias || !p->bias.rank) && append_posts(p, attributes) &&
        (!scales ||
         dnn_set_quantization(attributes, dnn_scale_count(p), (int)p->scale_mask, scales, p->src_zero) == dnnl_success)) {
        /* Which implementation fits, and how it divides its work, depends on the number of threads. */
        int saved = threads_enter(l->threads);

        status = p->kind == DNN_MATMUL
                     ? dnn_matmul(&pd, l->engine, src, weights, bias, dst, attributes, is_acceptable, p)
                     : dnn_convolution(&pd, l->engine, p->kind == DNN_TRANSPOSED_CONVOLUTION, src, weights, bias, dst,
                                       p->strides, p->dilations, p->low, p->high, attributes, is_acceptable, p);
        threads_leave(saved);
    }
    dnn_md_free(src);
    dnn_md_free(weights);
    dnn_md_free(dst);
    dnn_md_free(bias);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    return status == dnnl_success ? pd : NULL;
}

/**
 * Some int8 convolutions with post-ops have a descriptor but no primitive: their code outgrows the library's buffer.  The
 * primitive made here stays in the library's cache, where the step finds it.
 */
static bool primitive_exists(struct library *l, const struct dnn_problem *p, const_dnnl_primitive_desc_t pd)
{
    dnnl_primitive_t primitive = NULL;

    if (p->src_type == dnnl_f32)
        return true;

    int saved = threads_enter(l->threads);
    bool exists = dnnl_primitive_create(&primitive, pd) == dnnl_success;

    threads_leave(saved);
    if (exists)
        dnnl_primitive_destroy(primitive);
    return exists;
}

enum { NAME_MAX = 64 };

/** Whether there is an implementation worth using; name, if not NULL: the library's of it. */
static bool find_implementation(struct library *l, const struct dnn_problem *p, const float *scales, char name[NAME_MAX])
{
    dnnl_primitive_desc_t pd = dnn_create_pd(l, p, scales);
    bool good = pd && !strstr(dnn_pd_name(pd), "ref") && primitive_exists(l, p, pd);

    if (name)
        snprintf(name, NAME_MAX, "%s", good ? dnn_pd_name(pd) : "");
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    return good;
}

static bool try_problem(struct library *l, const struct dnn_problem *p, const float *scales)
{
    return find_implementation(l, p, scales, NULL);
}

/** A product of one row with one matrix reads each weight once: what counts is how fast, not how they are packed. */
static bool is_vector_product(const struct dnn_problem *p)
{
    return p->src_type == dnnl_f32 && !p->parts && p->kind == DNN_MATMUL && p->dst.rank == 2 && p->dst.dims[0] == 1;
}

/** The problem without what follows the product. */
static struct dnn_problem bare_product(const struct dnn_problem *p)
{
    struct dnn_problem bare = *p;

    bare.post_count = 0;
    bare.bias.rank = 0;
    bare.dst_type = dnnl_f32;
    return bare;
}

/**
 * Whether a product in bfloat16 is computed as well with what follows it as alone: the same implementation, or at least one
 * that has tiles if that one has.  What would take the tiles away becomes a kernel of its own, and so does a conversion of the
 * result that changes anything: it costs little by itself.
 */
bool dnn_keeps_speed(const struct dnn_problem *p, const char *alone, const char *now)
{
    return !strcmp(alone, now) || (p->dst_type == dnnl_f32 && !strstr(alone, "amx") == !strstr(now, "amx"));
}

static bool try_narrow(struct library *l, const struct dnn_problem *p)
{
    const struct dnn_problem bare = bare_product(p);
    char alone[NAME_MAX], now[NAME_MAX];

    return find_implementation(l, &bare, NULL, alone) && find_implementation(l, p, NULL, now) && dnn_keeps_speed(p, alone, now);
}

/** Lets a product read weights that are no constants as they lie, if it is not a gemm that does: no reordering before it. */
static bool narrow_late(struct library *l, struct dnn_problem *p)
{
    struct dnn_problem way = *p;
    char name[NAME_MAX];

    if (p->kind != DNN_MATMUL || !p->given_late)
        return false;
    way.weights.free = 0;
    split_batch(&way);
    const struct dnn_problem bare = bare_product(&way);
    if (!find_implementation(l, &bare, NULL, name) || strstr(name, "gemm"))
        return false;
    *p = way;
    return true;
}

/**
 * Lets a problem be one of bfloat16, if that is allowed, gains something, and exists.  What follows the product has no say in
 * it: an epilogue that only the float32 product could take must not turn the product into that.
 */
static bool narrow(struct library *l, struct dnn_problem *p)
{
    struct dnn_problem way = *p;

    way.parts = dnn_wanted_parts(l, p);
    way.by_gemm = 0;
    if (!way.parts)
        return false;
    if (!narrow_late(l, &way)) {
        const struct dnn_problem bare = bare_product(&way);

        if (!try_problem(l, &bare, NULL))
            return false;
    }
    *p = way;
    return true;
}

void dnn_resolve_parts(struct library *l, struct dnn_problem *p)
{
    p->parts = 0;
    if (!l->refuses)
        narrow(l, p);
}

bool dnn_resolve(struct library *l, struct dnn_cluster *c)
{
    c->problem.precision = c->quantization.weight_scale ? WNNPrecision_Float32 : (int32_t)l->precision;

    struct dnn_problem *p = &c->problem, way = *p;
    uint64_t hash = hash_bytes(p, problem_size(p));
    bool taken, integers = c->quantization.weight_scale;
    float *scales = NULL;

    if (l->refuses || (integers && !l->exact))
        return false;
    if (answer_find(l, hash, p, &taken))
        return taken;
    if (integers && !(scales = dnn_output_scales(c)))
        return false;
    if (narrow(l, &way) || dnn_stores_narrow(p)) {
        taken = way.parts && try_narrow(l, &way);
        answer_remember(l, hash, p, taken, &way);
        *p = way;
        return taken;
    }
    way.by_gemm = is_vector_product(p);
    way.weights.free = p->weights.free && !way.by_gemm;
    taken = try_problem(l, &way, scales);
    if (!taken && way.by_gemm) {
        way = *p;
        taken = try_problem(l, &way, scales);
    }
    if (!taken && !way.weights.free) { /* run-time weights that must be reordered first */
        way.weights.free = 1;
        taken = try_problem(l, &way, scales);
    }
    free(scales);
    answer_remember(l, hash, p, taken, &way);
    *p = way;
    return taken;
}

/* ---- questions ---- */

static bool takes(struct library *l, struct node *const *nodes, uint32_t count, const struct value *sum)
{
    struct dnn_cluster c;

    return dnn_describe(nodes, count, sum, &c) && dnn_resolve(l, &c);
}

bool library_takes_node(void *user, const struct node *n)
{
    struct node *nodes[] = {(struct node *)n};

    return takes(user, nodes, 1, NULL);
}

void library_allow(struct library *l, WNNPrecision precision, bool prefer)
{
    l->precision = precision;
    l->prefer_bfloat16 = prefer;
}

double library_bfloat16_rate(const struct library *l)
{
    return l->bfloat16;
}

void library_compare(struct library *l, const struct target *t)
{
    l->bfloat16 = t->bfloat16_rate;
    l->vector_bits = t->vector_bits;
    l->cache_bytes = t->cache_bytes;
    l->full_rate = t->full_rate;
}

bool library_wants_node(void *user, const struct node *n)
{
    struct library *l = user;
    struct node *nodes[] = {(struct node *)n};
    struct dnn_cluster c;

    return dnn_describe(nodes, 1, NULL, &c) && dnn_resolve(l, &c) &&
           (!l->vector_bits || dnn_is_faster(l, &c.problem, c.weights.value->kind == VALUE_CONSTANT));
}

bool library_narrows_input(void *user, const struct node *n, uint32_t slot)
{
    struct library *l = user;
    struct node *nodes[] = {(struct node *)n};
    struct dnn_cluster c;

    return l->precision == WNNPrecision_Bf16 && !l->keep_weights && dnn_describe(nodes, 1, NULL, &c) &&
           (slot == 0 || (slot == 1 && c.problem.given_late)) && dnn_resolve(l, &c) && c.problem.parts == 1;
}

bool library_narrows_node(void *user, const struct node *n)
{
    struct library *l = user;
    struct node *nodes[] = {(struct node *)n};
    struct dnn_cluster c;

    return l->precision != WNNPrecision_Float32 && dnn_describe(nodes, 1, NULL, &c) && dnn_resolve(l, &c) && c.problem.parts;
}

/** Whether the library computes a product of these nodes by its gemm. */
static bool is_by_gemm(struct library *l, struct node *const *nodes, uint32_t count)
{
    struct dnn_cluster c;
    dnnl_primitive_desc_t pd;
    bool gemm;

    if (!dnn_describe(nodes, count, NULL, &c) || c.problem.kind != DNN_MATMUL || !dnn_resolve(l, &c))
        return false;
    pd = dnn_create_pd(l, &c.problem, NULL);
    gemm = pd && strstr(dnn_pd_name(pd), "gemm");
    if (pd)
        dnnl_primitive_desc_destroy(pd);
    return gemm;
}

bool library_takes_operand(void *user, const struct node *n, uint32_t slot, struct node *const *movements, uint32_t count)
{
    struct node *nodes[DNN_NODES_MAX];
    struct library *l = user;

    if (!count || count >= DNN_NODES_MAX || slot > 1 || slot >= n->input_count ||
        n->inputs[slot].value != movements[count - 1]->results[0])
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (movements[i]->op != OP_TRANSPOSE && movements[i]->op != OP_CAST)
            return false;
    memcpy(nodes, movements, count * sizeof *movements);
    nodes[count] = (struct node *)n;
    /* Batches of products that are not dense fall to its gemm, which takes up to twice as long: more than the transpose. */
    if (l->full_rate && n->op == OP_MATMUL && movements[0]->op == OP_TRANSPOSE && n->results[0]->type.rank > 2 &&
        n->results[0]->type.type == WNNOperandDataType_Float32 && !is_by_gemm(l, nodes + 1, count) &&
        is_by_gemm(l, nodes, count + 1))
        return false;
    return takes(user, nodes, count + 1, NULL);
}

bool library_takes_epilogue(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried)
{
    struct node *all[DNN_NODES_MAX];

    if (!count || count >= DNN_NODES_MAX || carried >= next->input_count ||
        next->inputs[carried].value != nodes[count - 1]->results[0])
        return false;
    memcpy(all, nodes, count * sizeof *nodes);
    all[count] = (struct node *)next;
    return takes(user, all, count + 1, NULL);
}

bool library_has_exact_integers(const struct library *l)
{
    return l->exact && !l->refuses;
}

bool library_takes_quantized(void *user, struct node *const *nodes, uint32_t count)
{
    struct dnn_cluster c;

    return count <= DNN_NODES_MAX && dnn_describe(nodes, count, NULL, &c) && c.quantization.weight_scale &&
           dnn_resolve(user, &c);
}

void library_keep_weights(struct library *l)
{
    l->keep_weights = true;
}

struct library_facts library_get_facts(const struct library *l)
{
    const dnnl_version_t *v = dnnl_version();

    return (struct library_facts){.version = (uint32_t)(v->major << 16 | v->minor << 8 | v->patch),
                                  .isa = (uint32_t)dnnl_get_effective_cpu_isa(),
                                  .threads = l->threads,
                                  .refuses = l->refuses};
}

bool library_may_share(struct library *l, struct node *const *nodes, uint32_t count, const struct value *input)
{
    return input->kind != VALUE_CONSTANT && takes(l, nodes, count, input);
}
