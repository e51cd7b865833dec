/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A common interface to oneDNN 2.6 and 3.x.  No other file has conditions for versions, and only files of
 * runtime/engine/onednn include this one.
 *
 * The versions differ as follows.  Memory descriptors are plain structs in 2.x and handles in 3.x; here they
 * are always owned, made by dnn_md_... and freed by dnn_md_free.  Primitive descriptors need an operation descriptor first
 * in 2.x.  An eltwise post-op has a scale in 2.x, a sum a zero point and a type in 3.x.  Scales and zero points of integers are
 * attributes in 2.x and arguments in 3.x.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/guard.h"
#include "runtime/engine/onednn/onednn_functions.h"

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t dnn_md;
typedef const_dnnl_memory_desc_t dnn_const_md;
#else
typedef dnnl_memory_desc_t *dnn_md; /* is on the heap, so that ownership is as in 3.x */
typedef const dnnl_memory_desc_t *dnn_const_md;
#endif

/*
 * The library is written in C++, and its C functions may throw, mostly for lack of memory.  Functions that allocate are called
 * through here: an exception becomes a status.  2.6 also uses null pointers from failed allocations, which is not caught.
 */
struct dnn_protected {
    dnnl_status_t (*call)(void *user);
    void *user;
    dnnl_status_t status;
};

static inline void dnn_protected_run(void *user)
{
    struct dnn_protected *p = user;

    p->status = p->call(p->user);
}

/** Calls call(user) and returns its status, or that of the exception which it threw. */
static inline dnnl_status_t dnn_protect(dnnl_status_t (*call)(void *user), void *user)
{
    struct dnn_protected p = {call, user, dnnl_runtime_error};
    char ignored[8];

    return guard_run(dnn_protected_run, &p, ignored, sizeof ignored) == GUARD_OUT_OF_MEMORY ? dnnl_out_of_memory : p.status;
}

/*
 * The most memory of a new object of the library, apart from what the caller allocates itself.  It is requested before an
 * object is created.
 */
enum { DNN_ROOM_BYTES = 4 << 20 };

/**
 * Returns a descriptor with these strides, or with a layout of the library's choice if strides is NULL.  Returns NULL if that
 * is not possible.
 */
static inline dnn_md dnn_md_create(int rank, const int64_t *dims, const int64_t *strides, dnnl_data_type_t type)
{
    dnnl_dims_t d = {0}, s = {0}; /* whole arrays, as the prototypes say */
    dnn_md md = NULL;
    dnnl_status_t status;

    if (rank > DNNL_MAX_NDIMS)
        return NULL;
    memcpy(d, dims, (size_t)rank * sizeof *dims);
    if (strides)
        memcpy(s, strides, (size_t)rank * sizeof *strides);
#if DNNL_VERSION_MAJOR >= 3
    status = strides ? onednn.memory_desc_create_with_strides(&md, rank, d, type, s)
                     : onednn.memory_desc_create_with_tag(&md, rank, d, type, dnnl_format_tag_any);
    return status == dnnl_success ? md : NULL;
#else
    md = calloc(1, sizeof *md);
    if (!md)
        return NULL;
    status = strides ? onednn.memory_desc_init_by_strides(md, rank, d, type, s)
                     : onednn.memory_desc_init_by_tag(md, rank, d, type, dnnl_format_tag_any);
    if (status != dnnl_success) {
        free(md);
        return NULL;
    }
    return md;
#endif
}

/** Frees a descriptor, which may be NULL. */
static inline void dnn_md_free(dnn_md md)
{
#if DNNL_VERSION_MAJOR >= 3
    if (md)
        onednn.memory_desc_destroy(md);
#else
    free(md);
#endif
}

/** Returns a copy that outlives its primitive descriptor. */
static inline dnn_md dnn_md_copy(dnn_const_md md)
{
#if DNNL_VERSION_MAJOR >= 3
    dnn_md copy = NULL;

    return onednn.memory_desc_clone(&copy, md) == dnnl_success ? copy : NULL;
#else
    dnn_md copy = malloc(sizeof *copy);

    if (copy)
        *copy = *md;
    return copy;
#endif
}

/** Writes a descriptor as bytes for this version of the library.  Returns how many there are, or 0 if there
 * is no room. */
static inline size_t dnn_md_save(dnn_const_md md, void *out, size_t room)
{
#if DNNL_VERSION_MAJOR >= 3
    size_t size = 0;

    return onednn.memory_desc_get_blob(NULL, &size, md) == dnnl_success && size <= room &&
                   onednn.memory_desc_get_blob(out, &size, md) == dnnl_success
               ? size
               : 0;
#else
    if (sizeof *md > room)
        return 0;
    memcpy(out, md, sizeof *md);
    return sizeof *md;
#endif
}

/** Returns the descriptor of these bytes, whose numbers may be anything, or NULL if there are not as many as md has. */
static inline dnn_md dnn_md_load(dnn_const_md md, const void *saved, size_t bytes)
{
    dnn_md was = NULL;
#if DNNL_VERSION_MAJOR >= 3
    size_t size = 0;

    if (onednn.memory_desc_get_blob(NULL, &size, md) == dnnl_success && size == bytes)
        onednn.memory_desc_create_with_blob(&was, saved);
#else
    if (bytes == sizeof *md && (was = malloc(sizeof *was)))
        memcpy(was, saved, sizeof *was);
#endif
    return was;
}

/** The blocks of a descriptor. */
struct dnn_blocks {
    int rank, type, kind, count; /* of dimensions; dnnl_data_type_t, dnnl_format_kind_t; of inner blocks */
    int64_t offset;
    const int64_t *dims, *padded, *offsets, *strides, *sizes, *indices;
};

static inline struct dnn_blocks dnn_md_blocks(dnn_const_md md)
{
#if DNNL_VERSION_MAJOR >= 3
    struct dnn_blocks b = {0};
    dnnl_dims_t *dims[6] = {0};
    static const dnnl_query_t what[] = {dnnl_query_dims,    dnnl_query_padded_dims, dnnl_query_padded_offsets,
                                        dnnl_query_strides, dnnl_query_inner_blks,  dnnl_query_inner_idxs};
    const int64_t **to[] = {&b.dims, &b.padded, &b.offsets, &b.strides, &b.sizes, &b.indices};
    dnnl_data_type_t type = dnnl_data_type_undef;
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    int32_t rank = 0, count = 0;

    onednn.memory_desc_query(md, dnnl_query_ndims_s32, &rank);
    onednn.memory_desc_query(md, dnnl_query_data_type, &type);
    onednn.memory_desc_query(md, dnnl_query_format_kind, &kind);
    onednn.memory_desc_query(md, dnnl_query_inner_nblks_s32, &count);
    onednn.memory_desc_query(md, dnnl_query_submemory_offset_s64, &b.offset);
    for (int i = 0; i < 6; i++)
        if (onednn.memory_desc_query(md, what[i], &dims[i]) == dnnl_success && dims[i])
            *to[i] = *dims[i];
    b.rank = rank, b.type = (int)type, b.kind = (int)kind, b.count = count;
    return b;
#else
    const dnnl_blocking_desc_t *b = &md->format_desc.blocking;

    return (struct dnn_blocks){md->ndims,   (int)md->data_type, (int)md->format_kind, b->inner_nblks,
                               md->offset0, md->dims,           md->padded_dims,      md->padded_offsets,
                               b->strides,  b->inner_blks,      b->inner_idxs};
#endif
}

/**
 * Returns whether a loaded descriptor, whose numbers may be anything, has the elements of md in blocks, all of them in `bytes`
 * bytes and nothing else there.
 */
static inline bool dnn_md_is_blocked(dnn_const_md was, dnn_const_md md, size_t bytes)
{
    const struct dnn_blocks x = dnn_md_blocks(was), y = dnn_md_blocks(md);
    int64_t blocks[DNNL_MAX_NDIMS], size = (int64_t)onednn.data_type_size((dnnl_data_type_t)y.type), end = size, step;
    bool good = x.rank == y.rank && x.type == y.type && x.kind == (int)dnnl_blocked && !x.offset && x.count >= 0 &&
                x.count <= DNNL_MAX_NDIMS && x.dims && y.dims && x.padded && x.offsets && x.strides &&
                (!x.count || (x.sizes && x.indices));

    for (int i = 0; i < DNNL_MAX_NDIMS; i++)
        blocks[i] = 1;
    for (int i = 0; good && i < x.count; i++) {
        good = x.indices[i] >= 0 && x.indices[i] < x.rank && x.sizes[i] > 0 && !__builtin_mul_overflow(end, x.sizes[i], &end) &&
               end <= (int64_t)bytes;
        if (good)
            blocks[x.indices[i]] *= x.sizes[i];
    }
    for (int i = 0; good && i < x.rank; i++)
        good = x.dims[i] == y.dims[i] && x.padded[i] >= x.dims[i] && !x.offsets[i] && x.padded[i] % blocks[i] == 0 &&
               x.strides[i] > 0 && !__builtin_mul_overflow(x.padded[i] / blocks[i] - 1, x.strides[i], &step) &&
               !__builtin_mul_overflow(step, size, &step) && !__builtin_add_overflow(end, step, &end);
    return good && end == (int64_t)bytes && onednn.memory_desc_get_size(was) == bytes;
}

/** Describes which sums of a matrix's columns follow its elements: minus 128 times each, minus each. */
struct dnn_sums {
    bool of_signed, of_zero; /* for a source of s8, for one with a zero point */
};

/**
 * Returns a copy of `to` without the sums that follow it.  Returns NULL if it is not a matrix, which `from` has row by row, or
 * nothing or something else follows.
 */
static inline dnn_md dnn_md_without_sums(dnn_const_md from, dnn_const_md to, struct dnn_sums *sums)
{
#if DNNL_VERSION_MAJOR >= 3
    (void)from, (void)to, (void)sums;
    return NULL;
#else
    const struct dnn_blocks b = dnn_md_blocks(from);
    const uint64_t both =
        dnnl_memory_extra_flag_compensation_conv_s8s8 | dnnl_memory_extra_flag_compensation_conv_asymmetric_src;
    const dnnl_memory_extra_desc_t *x = &to->extra;
    dnn_md plain = NULL;

    *sums = (struct dnn_sums){(x->flags & dnnl_memory_extra_flag_compensation_conv_s8s8) != 0,
                              (x->flags & dnnl_memory_extra_flag_compensation_conv_asymmetric_src) != 0};
    if (x->flags && !(x->flags & ~both) && (!sums->of_signed || x->compensation_mask == 2) &&
        (!sums->of_zero || x->asymm_compensation_mask == 2) && b.rank == 2 && b.type == dnnl_s8 && !b.count &&
        b.strides[1] == 1 && (plain = dnn_md_copy(to)))
        memset(&plain->extra, 0, sizeof plain->extra);
    return plain;
#endif
}

/** Appends a post-op that applies an eltwise function with these parameters.  Returns the library's status. */
static inline dnnl_status_t dnn_append_eltwise(dnnl_post_ops_t posts, dnnl_alg_kind_t kind, float alpha, float beta)
{
#if DNNL_VERSION_MAJOR >= 3
    return onednn.post_ops_append_eltwise(posts, kind, alpha, beta);
#else
    return onednn.post_ops_append_eltwise(posts, 1.0f, kind, alpha, beta);
#endif
}

/** Appends a post-op that adds the destination's former contents.  Returns the library's status. */
static inline dnnl_status_t dnn_append_sum(dnnl_post_ops_t posts)
{
#if DNNL_VERSION_MAJOR >= 3
    return onednn.post_ops_append_sum(posts, 1.0f, 0, dnnl_data_type_undef);
#else
    return onednn.post_ops_append_sum(posts, 1.0f);
#endif
}

/*
 * A contraction of integers is the sum of (src - src_zero) * (weights - weights_zero), times a scale of its own for each output
 * channel, or one for all.  2.x has the numbers in the attributes, and adds a bias before it multiplies.  3.x takes them as
 * arguments of the call, and adds a bias afterwards.
 */
#if DNNL_VERSION_MAJOR >= 3
enum { DNN_NUMBERS_ARE_ARGUMENTS = true, DNN_ARG_SCALES = DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS };
#else
enum { DNN_NUMBERS_ARE_ARGUMENTS = false, DNN_ARG_SCALES = DNNL_ARG_ATTR_OUTPUT_SCALES };
#endif

/** Holds the scales and zero points of a contraction of integers. */
struct dnn_scaling {
    int64_t count; /* of scales */
    const float *scales;
    int dst_mask, weights_mask;     /* the dimensions of each operand that the scales go along */
    int32_t src_zero, weights_zero; /* DNNL_RUNTIME_S32_VAL stands for an argument of the call, one int32 number */
};

static inline dnnl_status_t dnn_set_zero(dnnl_primitive_attr_t attributes, int argument, int32_t zero)
{
    if (!zero)
        return dnnl_success;
#if DNNL_VERSION_MAJOR >= 3
    return onednn.primitive_attr_set_zero_points_mask(attributes, argument, 0);
#else
    return onednn.primitive_attr_set_zero_points(attributes, argument, 1, 0, &zero);
#endif
}

/** Makes a contraction one of integers. */
static inline dnnl_status_t dnn_set_scaling(dnnl_primitive_attr_t attributes, const struct dnn_scaling *x)
{
#if DNNL_VERSION_MAJOR >= 3
    dnnl_status_t status = onednn.primitive_attr_set_scales_mask(attributes, DNNL_ARG_WEIGHTS, x->weights_mask);
#else
    dnnl_status_t status = onednn.primitive_attr_set_output_scales(attributes, x->count, x->dst_mask, x->scales);
#endif

    if (status == dnnl_success)
        status = dnn_set_zero(attributes, DNNL_ARG_SRC, x->src_zero);
    return status == dnnl_success ? dnn_set_zero(attributes, DNNL_ARG_WEIGHTS, x->weights_zero) : status;
}

/** Returns the implementation's name; "" if it has none. */
static inline const char *dnn_pd_name(const_dnnl_primitive_desc_t pd)
{
    const char *name = NULL;

    return onednn.primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) == dnnl_success && name ? name : "";
}

/** Returns whether to take an implementation of this name. */
typedef bool (*dnn_accept)(const char *implementation, void *user);

#if DNNL_VERSION_MAJOR >= 3
/** Steps on to the first implementation that is accepted.  Fails, with *pd NULL, if there is none. */
static inline dnnl_status_t dnn_first_accepted(dnnl_primitive_desc_t *pd, dnnl_status_t status, dnn_accept accept, void *user)
{
    while (status == dnnl_success && !accept(dnn_pd_name(*pd), user))
        status = onednn.primitive_desc_next_impl(*pd);
    if (status != dnnl_success && *pd) {
        onednn.primitive_desc_destroy(*pd);
        *pd = NULL;
    }
    return status;
}
#else
/** Makes *pd the first implementation of an operation that is accepted.  Fails, with *pd NULL, if there is none. */
static inline dnnl_status_t dnn_first_accepted(dnnl_primitive_desc_t *pd, const_dnnl_op_desc_t operation, dnnl_engine_t engine,
                                               const_dnnl_primitive_attr_t attributes, dnn_accept accept, void *user)
{
    dnnl_primitive_desc_iterator_t i;
    dnnl_status_t status = onednn.primitive_desc_iterator_create(&i, operation, attributes, engine, NULL);

    if (status != dnnl_success)
        return status;
    for (;;) {
        *pd = onednn.primitive_desc_iterator_fetch(i);
        if (!*pd || accept(dnn_pd_name(*pd), user))
            break;
        onednn.primitive_desc_destroy(*pd);
        *pd = NULL;
        if (onednn.primitive_desc_iterator_next(i) != dnnl_success)
            break;
    }
    onednn.primitive_desc_iterator_destroy(i);
    return *pd ? dnnl_success : dnnl_unimplemented;
}
#endif

/** Makes *pd a convolution, or the transposed one, for inference.  bias may be NULL.  A dilation of 0 means a dense filter. */
static inline dnnl_status_t dnn_convolution(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, bool transposed, dnn_const_md src,
                                            dnn_const_md weights, dnn_const_md bias, dnn_const_md dst, const int64_t strides[2],
                                            const int64_t dilations[2], const int64_t low[2], const int64_t high[2],
                                            const_dnnl_primitive_attr_t attributes, dnn_accept accept, void *user)
{
    dnnl_dims_t s = {strides[0], strides[1]}, d = {dilations[0], dilations[1]}, l = {low[0], low[1]}, h = {high[0], high[1]};
#if DNNL_VERSION_MAJOR >= 3
    dnnl_status_t status =
        transposed
            ? onednn.deconvolution_forward_primitive_desc_create(pd, engine, dnnl_forward_inference, dnnl_deconvolution_direct,
                                                                 src, weights, bias, dst, s, d, l, h, attributes)
            : onednn.convolution_forward_primitive_desc_create(pd, engine, dnnl_forward_inference, dnnl_convolution_direct, src,
                                                               weights, bias, dst, s, d, l, h, attributes);

    return dnn_first_accepted(pd, status, accept, user);
#else
    dnnl_convolution_desc_t c; /* the type of both */
    dnnl_status_t status =
        transposed ? onednn.dilated_deconvolution_forward_desc_init(&c, dnnl_forward_inference, dnnl_deconvolution_direct, src,
                                                                    weights, bias, dst, s, d, l, h)
                   : onednn.dilated_convolution_forward_desc_init(&c, dnnl_forward_inference, dnnl_convolution_direct, src,
                                                                  weights, bias, dst, s, d, l, h);

    return status == dnnl_success ? dnn_first_accepted(pd, &c, engine, attributes, accept, user) : status;
#endif
}

/** Makes *pd a matmul.  bias may be NULL. */
static inline dnnl_status_t dnn_matmul(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnn_const_md src, dnn_const_md weights,
                                       dnn_const_md bias, dnn_const_md dst, const_dnnl_primitive_attr_t attributes,
                                       dnn_accept accept, void *user)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnn_first_accepted(pd, onednn.matmul_primitive_desc_create(pd, engine, src, weights, bias, dst, attributes), accept,
                              user);
#else
    dnnl_matmul_desc_t m;
    dnnl_status_t status = onednn.matmul_desc_init(&m, src, weights, bias, dst);

    return status == dnnl_success ? dnn_first_accepted(pd, &m, engine, attributes, accept, user) : status;
#endif
}

struct dnn_creation {
    dnnl_primitive_t *primitive;
    const_dnnl_primitive_desc_t pd;
};

static inline dnnl_status_t dnn_primitive_create_protected(void *user)
{
    const struct dnn_creation *c = user;

    return onednn.primitive_create(c->primitive, c->pd);
}

/**
 * Creates the primitive of a descriptor.  Fails for lack of memory without calling the library if there is clearly too little.
 */
static inline dnnl_status_t dnn_primitive_create(dnnl_primitive_t *primitive, const_dnnl_primitive_desc_t pd)
{
    if (!memory_has_room(DNN_ROOM_BYTES))
        return dnnl_out_of_memory;
    return dnn_protect(dnn_primitive_create_protected, &(struct dnn_creation){primitive, pd});
}

/** Returns one of the descriptors of a primitive descriptor, which keeps it, or NULL if it has none. */
static inline dnn_const_md dnn_pd_md(const_dnnl_primitive_desc_t pd, dnnl_query_t what, int index)
{
    return onednn.primitive_desc_query_md(pd, what, index);
}
