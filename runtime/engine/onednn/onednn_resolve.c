/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides how the library computes a described problem: in which layouts, precision and implementation, or not at all.
 *
 * A description is given the choices made, verified by creating the primitive descriptor (but not the primitive): what ends in
 * a reference implementation, a hundred times slower, is answered with no.  Answers are remembered by problem.
 */
#include "runtime/engine/onednn/onednn.h"

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
 * Gives a matmul a second dimension of batches, of size 1.  Heads of an attention are next to each other in the rows of one
 * matrix, and the library has fast code for that only where matmuls have two dimensions of batches.
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

/** Holds the outcome for one problem.  The problem's unused post-ops are not stored. */
struct dnn_answer {
    bool taken;
    bool pack; /* weights are reordered */
    bool by_gemm;
    bool split; /* of one dimension of batches became two */
    int32_t parts;
    uint32_t size;
    struct dnn_problem problem;
};

enum { ANSWERS_MAX = 1024 }; /* then they are forgotten: a bound on memory, not on work */

void dnn_forget_answers(struct library *l)
{
    for (uint32_t i = 0; i < l->answers.capacity; i++)
        free((void *)l->answers.entries[i].item);
    free(l->answers.entries);
    l->answers = (struct table){0};
}

static uint32_t problem_size(const struct dnn_problem *p)
{
    return (uint32_t)(offsetof(struct dnn_problem, posts) + (uint32_t)p->post_count * sizeof *p->posts);
}

/** Returns the place of a problem's answer, or the free one where it belongs. */
static struct table_entry *answer_place(const struct library *l, uint64_t hash, const struct dnn_problem *p)
{
    const uint32_t size = problem_size(p);
    struct table_entry *place = NULL;
    const struct dnn_answer *a;

    do
        a = (place = table_next(&l->answers, hash, place))->item;
    while (a && (a->size != size || memcmp(&a->problem, p, size) != 0));
    return place;
}

static bool answer_find(struct library *l, uint64_t hash, struct dnn_problem *p, bool *taken)
{
    pthread_mutex_lock(&l->mutex);
    const struct dnn_answer *a = answer_place(l, hash, p)->item;
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

/** Remembers an answer.  Failing to do so costs time only. */
static void answer_remember(struct library *l, uint64_t hash, const struct dnn_problem *p, bool taken,
                            const struct dnn_problem *way)
{
    uint32_t size = problem_size(p);
    struct dnn_answer *a = malloc(offsetof(struct dnn_answer, problem) + size);

    if (!a)
        return;
    a->size = size;
    a->taken = taken;
    a->pack = way->weights.free;
    a->by_gemm = way->by_gemm;
    a->parts = way->parts;
    a->split = way->dst.rank != p->dst.rank;
    memcpy(&a->problem, p, size);
    pthread_mutex_lock(&l->mutex);
    if (l->answers.count == ANSWERS_MAX)
        dnn_forget_answers(l);
    const bool room = table_reserve(&l->answers, NULL, l->answers.count + 1);
    struct table_entry *place = answer_place(l, hash, p);
    if (place->item) {
        ((struct dnn_answer *)place->item)->taken &= taken; /* a refusal is the last word */
    } else if (room) {
        table_put(&l->answers, place, hash, a);
        a = NULL;
    }
    pthread_mutex_unlock(&l->mutex);
    free(a);
}

void dnn_refuse(struct library *l, const struct dnn_problem *p)
{
    answer_remember(l, hash_bytes(p, problem_size(p)), p, false, p);
}

/* ---- choices ---- */

enum { NAME_MAX = 64 };

/** Returns whether there is an implementation worth using; name, if not NULL: the library's of it. */
static bool find_implementation(struct library *l, const struct dnn_problem *p, const float *scales, char name[NAME_MAX])
{
    dnnl_primitive_desc_t pd = dnn_create_pd(l, p, scales, 0);
    bool good = pd && (l->machine.references || !dnn_is_reference(dnn_pd_name(pd))) && dnn_primitive_exists(l, p, pd);

    if (name)
        snprintf(name, NAME_MAX, "%s", good ? dnn_pd_name(pd) : "");
    if (pd)
        onednn.primitive_desc_destroy(pd);
    return good;
}

static bool try_problem(struct library *l, const struct dnn_problem *p, const float *scales)
{
    return find_implementation(l, p, scales, NULL);
}

/** A matmul of one row reads each weight once: what counts is how fast, not how they are packed. */
static bool is_vector_matmul(const struct dnn_problem *p)
{
    return p->src_type == dnnl_f32 && !p->parts && p->kind == DNN_MATMUL && p->dst.rank == 2 && p->dst.dims[0] == 1;
}

static struct dnn_problem bare_contraction(const struct dnn_problem *p)
{
    struct dnn_problem bare = *p;

    bare.post_count = 0;
    bare.bias.rank = 0;
    bare.dst_type = dnnl_f32;
    return bare;
}

/**
 * Returns whether a contraction in bfloat16 is computed as well with what follows it as alone: the same implementation, or at
 * least one that has tiles if that one has.  What would take the tiles away becomes a kernel of its own, and so does a
 * conversion of the result that changes anything: it costs little by itself.
 */
bool dnn_keeps_speed(const struct dnn_problem *p, const char *alone, const char *with_epilogue)
{
    return !strcmp(alone, with_epilogue) || (p->dst_type == dnnl_f32 && !strstr(alone, "amx") == !strstr(with_epilogue, "amx"));
}

static bool try_low_precision(struct library *l, const struct dnn_problem *p)
{
    const struct dnn_problem bare = bare_contraction(p);
    char alone[NAME_MAX], whole[NAME_MAX];

    return find_implementation(l, &bare, NULL, alone) && find_implementation(l, p, NULL, whole) &&
           dnn_keeps_speed(p, alone, whole);
}

/** Lets a contraction read weights that are not constants as they lie, if it is not a gemm that does: no reordering before it.
 */
static bool choose_late_weights(struct library *l, struct dnn_problem *p)
{
    struct dnn_problem way = *p;
    char name[NAME_MAX];

    if (p->kind != DNN_MATMUL || !p->given_late)
        return false;
    way.weights.free = 0;
    split_batch(&way);
    const struct dnn_problem bare = bare_contraction(&way);
    if (!find_implementation(l, &bare, NULL, name) || strstr(name, "gemm"))
        return false;
    *p = way;
    return true;
}

/**
 * Lets a problem be one of bfloat16, if that is allowed, gains something, and exists.  What follows the contraction has no say
 * in it: an epilogue that only the float32 contraction could take must not turn the contraction into that.
 */
static bool choose_low_precision(struct library *l, struct dnn_problem *p)
{
    struct dnn_problem way = *p;

    way.parts = dnn_wanted_parts(l, p);
    way.by_gemm = 0;
    if (!way.parts)
        return false;
    if (!choose_late_weights(l, &way)) {
        const struct dnn_problem bare = bare_contraction(&way);

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
        choose_low_precision(l, p);
}

bool dnn_resolve(struct library *l, struct dnn_cluster *c)
{
    c->problem.precision = c->quantization.weight_scale ? WNNPrecision_Float32 : (int32_t)l->precision;

    struct dnn_problem *p = &c->problem, way = *p;
    uint64_t hash = hash_bytes(p, problem_size(p));
    bool taken, integers = c->quantization.weight_scale;
    float *scales = NULL;

    if (l->refuses || (integers ? !l->exact : l->integers_only))
        return false;
    if (answer_find(l, hash, p, &taken))
        return taken;
    if (integers && !(scales = dnn_output_scales(c)))
        return false;
    if (choose_low_precision(l, &way) || dnn_stores_low_precision(p)) {
        taken = way.parts && try_low_precision(l, &way);
        answer_remember(l, hash, p, taken, &way);
        *p = way;
        return taken;
    }
    way.by_gemm = is_vector_matmul(p);
    way.weights.free = p->weights.free && !way.by_gemm;
    taken = try_problem(l, &way, scales);
    if (!taken && way.by_gemm) {
        way = *p;
        taken = try_problem(l, &way, scales);
    }
    if (!taken && !way.weights.free && !integers) { /* run-time weights that must be reordered first */
        way.weights.free = 1;
        taken = try_problem(l, &way, scales);
    }
    free(scales);
    answer_remember(l, hash, p, taken, &way);
    *p = way;
    return taken;
}
