/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * oneDNN 2.6 and 3.x behind one set of calls: the only file with version conditions.  Included by runtime/onednn*.c only.
 *
 * What differs, for what we use of it: memory descriptors are plain structs in 2.x and handles in 3.x (here: always something
 * owned, made by dnn_md_... and given back by dnn_md_free); primitive descriptors need an operation descriptor first in
 * 2.x; an eltwise post-op has a scale in 2.x, a sum a zero point and a type in 3.x; the names of the newest ISAs.
 */
#ifndef WEBNN_RUNTIME_ONEDNN_COMPAT_H_
#define WEBNN_RUNTIME_ONEDNN_COMPAT_H_

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t dnn_md;
typedef const_dnnl_memory_desc_t dnn_const_md;
#else
typedef dnnl_memory_desc_t *dnn_md; /* on the heap, so that ownership is as in 3.x */
typedef const dnnl_memory_desc_t *dnn_const_md;
#endif

/** A descriptor with these strides, or with a layout of the library's choice (strides NULL).  NULL: not possible. */
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
    status = strides ? dnnl_memory_desc_create_with_strides(&md, rank, d, type, s)
                     : dnnl_memory_desc_create_with_tag(&md, rank, d, type, dnnl_format_tag_any);
    return status == dnnl_success ? md : NULL;
#else
    md = calloc(1, sizeof *md);
    if (!md)
        return NULL;
    status = strides ? dnnl_memory_desc_init_by_strides(md, rank, d, type, s)
                     : dnnl_memory_desc_init_by_tag(md, rank, d, type, dnnl_format_tag_any);
    if (status != dnnl_success) {
        free(md);
        return NULL;
    }
    return md;
#endif
}

static inline void dnn_md_free(dnn_md md)
{
#if DNNL_VERSION_MAJOR >= 3
    if (md)
        dnnl_memory_desc_destroy(md);
#else
    free(md);
#endif
}

/** A copy that outlives the primitive descriptor it was asked of. */
static inline dnn_md dnn_md_copy(dnn_const_md md)
{
#if DNNL_VERSION_MAJOR >= 3
    dnn_md copy = NULL;

    return dnnl_memory_desc_clone(&copy, md) == dnnl_success ? copy : NULL;
#else
    dnn_md copy = malloc(sizeof *copy);

    if (copy)
        *copy = *md;
    return copy;
#endif
}

/**
 * A descriptor as bytes that this very version of the library understands; returns how many, 0: no room.  3.x keeps descriptors to
 * itself: what can be asked of one (size, dimensions, inner blocks) stands for it.
 */
static inline size_t dnn_md_save(dnn_const_md md, void *out, size_t room)
{
#if DNNL_VERSION_MAJOR >= 3
    int64_t facts[4 + 4 * DNNL_MAX_NDIMS] = {0};
    int32_t rank = 0, blocks = 0;
    dnnl_dims_t *dims = NULL, *strides = NULL, *sizes = NULL, *indices = NULL;

    dnnl_memory_desc_query(md, dnnl_query_ndims_s32, &rank);
    dnnl_memory_desc_query(md, dnnl_query_dims, &dims);
    dnnl_memory_desc_query(md, dnnl_query_strides, &strides);
    dnnl_memory_desc_query(md, dnnl_query_inner_nblks_s32, &blocks);
    dnnl_memory_desc_query(md, dnnl_query_inner_blks, &sizes);
    dnnl_memory_desc_query(md, dnnl_query_inner_idxs, &indices);
    if (sizeof facts > room || !dims || !strides)
        return 0;
    facts[0] = rank;
    facts[1] = blocks;
    facts[2] = (int64_t)dnnl_memory_desc_get_size(md);
    for (int i = 0; i < rank; i++) {
        facts[4 + i] = (*dims)[i];
        facts[4 + DNNL_MAX_NDIMS + i] = (*strides)[i];
    }
    for (int i = 0; sizes && indices && i < blocks; i++) {
        facts[4 + 2 * DNNL_MAX_NDIMS + i] = (*sizes)[i];
        facts[4 + 3 * DNNL_MAX_NDIMS + i] = (*indices)[i];
    }
    memcpy(out, facts, sizeof facts);
    return sizeof facts;
#else
    if (sizeof *md > room)
        return 0;
    memcpy(out, md, sizeof *md);
    return sizeof *md;
#endif
}

/** Whether these bytes, which need not be aligned or a descriptor at all, are those of md. */
static inline bool dnn_md_is_saved(dnn_const_md md, const void *saved, size_t bytes)
{
#if DNNL_VERSION_MAJOR >= 3
    char now[4096];
    size_t size = dnn_md_save(md, now, sizeof now);

    return size && size == bytes && !memcmp(now, saved, bytes);
#else
    dnnl_memory_desc_t was; /* compared member by member, and only as many as md has */

    if (bytes != sizeof was)
        return false;
    memcpy(&was, saved, sizeof was);
    return dnnl_memory_desc_equal(md, &was);
#endif
}

static inline dnnl_status_t dnn_append_eltwise(dnnl_post_ops_t posts, dnnl_alg_kind_t kind, float alpha, float beta)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_post_ops_append_eltwise(posts, kind, alpha, beta);
#else
    return dnnl_post_ops_append_eltwise(posts, 1.0f, kind, alpha, beta);
#endif
}

static inline dnnl_status_t dnn_append_sum(dnnl_post_ops_t posts)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnnl_post_ops_append_sum(posts, 1.0f, 0, dnnl_data_type_undef);
#else
    return dnnl_post_ops_append_sum(posts, 1.0f);
#endif
}

/**
 * Makes a product of integers give scales[..] * (sum of (src - src_zero) * weights + bias): mask says which dimensions of the
 * destination the scales go along.  3.x scales every operand by itself and not the bias: integers are for 2.x only.
 */
static inline dnnl_status_t dnn_set_quantization(dnnl_primitive_attr_t attributes, int64_t count, int mask, const float *scales,
                                                 int32_t src_zero)
{
#if DNNL_VERSION_MAJOR >= 3
    (void)attributes, (void)count, (void)mask, (void)scales, (void)src_zero;
    return dnnl_unimplemented;
#else
    dnnl_status_t status = dnnl_primitive_attr_set_output_scales(attributes, count, mask, scales);

    return status == dnnl_success && src_zero
               ? dnnl_primitive_attr_set_zero_points(attributes, DNNL_ARG_SRC, 1, 0, &src_zero)
               : status;
#endif
}

/** The implementation's name; "" if it has none. */
static inline const char *dnn_pd_name(const_dnnl_primitive_desc_t pd)
{
    const char *name = NULL;

    return dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name) == dnnl_success && name ? name : "";
}

/** Whether an implementation of this name is to be taken. */
typedef bool (*dnn_accept)(const char *implementation, const void *user);

#if DNNL_VERSION_MAJOR >= 3
/** Steps on to the first implementation that is accepted. */
static inline dnnl_status_t dnn_first_accepted(dnnl_primitive_desc_t *pd, dnnl_status_t status, dnn_accept accept,
                                               const void *user)
{
    while (status == dnnl_success && !accept(dnn_pd_name(*pd), user))
        status = dnnl_primitive_desc_next_impl(*pd);
    if (status != dnnl_success && *pd) {
        dnnl_primitive_desc_destroy(*pd);
        *pd = NULL;
    }
    return status;
}
#else
/** The first implementation of an operation that is accepted. */
static inline dnnl_status_t dnn_first_accepted(dnnl_primitive_desc_t *pd, const_dnnl_op_desc_t operation, dnnl_engine_t engine,
                                               const_dnnl_primitive_attr_t attributes, dnn_accept accept, const void *user)
{
    dnnl_primitive_desc_iterator_t i;
    dnnl_status_t status = dnnl_primitive_desc_iterator_create(&i, operation, attributes, engine, NULL);

    if (status != dnnl_success)
        return status;
    for (;;) {
        *pd = dnnl_primitive_desc_iterator_fetch(i);
        if (!*pd || accept(dnn_pd_name(*pd), user))
            break;
        dnnl_primitive_desc_destroy(*pd);
        *pd = NULL;
        if (dnnl_primitive_desc_iterator_next(i) != dnnl_success)
            break;
    }
    dnnl_primitive_desc_iterator_destroy(i);
    return *pd ? dnnl_success : dnnl_unimplemented;
}
#endif

/** A convolution, or the transposed one, for inference.  bias may be NULL.  dilations: 0 means dense. */
static inline dnnl_status_t dnn_convolution(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, bool transposed, dnn_const_md src,
                                            dnn_const_md weights, dnn_const_md bias, dnn_const_md dst, const int64_t strides[2],
                                            const int64_t dilations[2], const int64_t low[2], const int64_t high[2],
                                            const_dnnl_primitive_attr_t attributes, dnn_accept accept, const void *user)
{
    dnnl_dims_t s = {strides[0], strides[1]}, d = {dilations[0], dilations[1]}, l = {low[0], low[1]}, h = {high[0], high[1]};
#if DNNL_VERSION_MAJOR >= 3
    dnnl_status_t status =
        transposed
            ? dnnl_deconvolution_forward_primitive_desc_create(pd, engine, dnnl_forward_inference, dnnl_deconvolution_direct,
                                                               src, weights, bias, dst, s, d, l, h, attributes)
            : dnnl_convolution_forward_primitive_desc_create(pd, engine, dnnl_forward_inference, dnnl_convolution_direct, src,
                                                             weights, bias, dst, s, d, l, h, attributes);

    return dnn_first_accepted(pd, status, accept, user);
#else
    dnnl_convolution_desc_t c; /* the type of both */
    dnnl_status_t status =
        transposed ? dnnl_dilated_deconvolution_forward_desc_init(&c, dnnl_forward_inference, dnnl_deconvolution_direct, src,
                                                                  weights, bias, dst, s, d, l, h)
                   : dnnl_dilated_convolution_forward_desc_init(&c, dnnl_forward_inference, dnnl_convolution_direct, src,
                                                                weights, bias, dst, s, d, l, h);

    return status == dnnl_success ? dnn_first_accepted(pd, &c, engine, attributes, accept, user) : status;
#endif
}

/** A matrix product. */
static inline dnnl_status_t dnn_matmul(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnn_const_md src, dnn_const_md weights,
                                       dnn_const_md bias, dnn_const_md dst, const_dnnl_primitive_attr_t attributes,
                                       dnn_accept accept, const void *user)
{
#if DNNL_VERSION_MAJOR >= 3
    return dnn_first_accepted(pd, dnnl_matmul_primitive_desc_create(pd, engine, src, weights, bias, dst, attributes), accept,
                              user);
#else
    dnnl_matmul_desc_t m;
    dnnl_status_t status = dnnl_matmul_desc_init(&m, src, weights, bias, dst);

    return status == dnnl_success ? dnn_first_accepted(pd, &m, engine, attributes, accept, user) : status;
#endif
}

/** One of the descriptors of a primitive descriptor, which keeps it; NULL: it has none. */
static inline dnn_const_md dnn_pd_md(const_dnnl_primitive_desc_t pd, dnnl_query_t what, int index)
{
    return dnnl_primitive_desc_query_md(pd, what, index);
}

#endif
